//! Searching runs by their texts: id, entrypoint, input, output, error, node titles, logs.
//!
//! A run has several texts in the index, and each word may stand in another one. The index is read backwards, the newest
//! run first; with several words the one that comes latest jumps ahead to where the others are.

use model::RunId;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _, Rows};

use crate::database::Outcome;
use crate::runs::list::{PAGE, RunFilter, place};
use crate::runs::{PARTS, RunSummary, SUMMARY, SUMMARY_KEY, summary};
use crate::text::{last_token, words};
use crate::{Result, Store};

/// Hits in the index that a search of one word looks at: a run whose log says the word in every line must not hide
/// the others for long.
pub(crate) const HITS: usize = 200_000;
/// Runs that a search of several words looks at, as a share of the hits: each costs more.
const HITS_PER_CANDIDATE: usize = 10;

/// What a search found, and where it stopped.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    /// The runs with their keys, newest first.
    pub(crate) runs: Vec<(i64, RunSummary)>,
    /// The key before which there may be more.
    pub(crate) more: Option<i64>,
    /// Whether it stopped because enough was looked at, not because enough was found.
    pub(crate) tired: bool,
}

/// Writes the query of a search for one word; its last column tells whether the run is one that the filter wants.
/// `before` is the key of the last run of the page before.
pub(crate) fn search_sql(query: &str, filter: &RunFilter, before: Option<i64>) -> (String, Vec<Sql>) {
    let mut values = vec![Sql::Text(query.to_owned())];
    let mut place = "";
    if let Some(before) = before {
        place = " AND run_text.rowid < ?2";
        values.push(Sql::Integer(before.saturating_mul(PARTS)));
    }
    let (conditions, more) = filter.conditions(values.len() + 1);
    values.extend(more);
    let sql = format!(
        "SELECT {SUMMARY}, true{conditions} FROM run_text CROSS JOIN runs ON runs.key = run_text.rowid / {PARTS} \
         WHERE run_text MATCH ?1{place} ORDER BY run_text.rowid DESC"
    );
    (sql, values)
}

/// Finds the newest texts with a word among those before a row id.
pub(crate) const SEEK: &str =
    "SELECT rowid FROM run_text WHERE run_text MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3";
/// Goes through all texts with a word, the newest first.
pub(crate) const WALK: &str = "SELECT rowid FROM run_text WHERE run_text MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC";

/// Finds the first of the index's words that is not before a text. Of a word's many places only the first is looked at.
pub(crate) const TERM: &str = "SELECT term FROM run_terms WHERE term >= ?1 LIMIT 1";
/// Words that one with only its beginning known may stand for, to be looked up each on its own. Above that the index
/// gathers their places itself, all of them before the first is known.
const TERMS: usize = 256;

/// Writes a query for a word of which only the beginning is known: for each of the words it may stand for, since the
/// places of whole words are read one by one. `None`: that would be too many, or they cannot be told.
fn spelled_out(connection: &Connection, word: &str) -> Outcome<Option<String>> {
    let Some((before, begins)) = last_token(word) else { return Ok(None) };
    let mut next = connection.prepare_cached(TERM)?;
    let mut from = begins.clone();
    let mut query = String::new();
    for _ in 0..TERMS {
        let term: Option<String> = next.query_row([&from], |row| row.get(0)).optional()?;
        let Some(term) = term.filter(|term| term.starts_with(&begins)) else {
            // A word that nothing is like is looked for as it was typed, and found nowhere.
            return Ok(Some(if query.is_empty() { word.to_owned() } else { query }));
        };
        if !query.is_empty() {
            query.push_str(" OR ");
        }
        query.push_str(&format!("\"{before}{term}\""));
        // The text that comes next in the index's order.
        from = term + "\0";
    }
    Ok(None)
}

/// The runs with a word, by jumping: some at a time, more of them where they are all looked at.
struct Jump<'a> {
    word: &'a str,
    /// Runs with the word, the newest last.
    found: Vec<i64>,
    /// How many texts to find at once.
    many: i64,
    /// How often the texts found last were asked for.
    asked: i64,
    /// Whether there are no older ones than those found.
    end: bool,
}

impl<'a> Jump<'a> {
    fn new(word: &'a str) -> Self {
        Self { word, found: Vec::new(), many: 4, asked: 4, end: false }
    }

    /// Returns the newest run that is not newer than `key`. Must be asked for older and older ones.
    fn seek(&mut self, connection: &Connection, key: i64) -> Outcome<Option<i64>> {
        while self.found.last().is_some_and(|newest| *newest > key) {
            self.found.pop();
        }
        if self.found.is_empty() && !self.end {
            // Where the other words are as frequent, most are looked at; where they are rare, most are passed over.
            self.many = if self.asked * 4 >= self.many { self.many * 4 } else { self.many / 4 }.clamp(1, 1_024);
            self.asked = 0;
            let mut statement = connection.prepare_cached(SEEK)?;
            let limit = (key + 1).saturating_mul(PARTS);
            let rowids = statement.query_map((self.word, limit, self.many), |row| row.get::<_, i64>(0))?;
            let mut texts = 0;
            for rowid in rowids {
                texts += 1;
                self.found.push(rowid? / PARTS);
            }
            self.end = texts < self.many;
            self.found.dedup();
            self.found.reverse();
        }
        self.asked += 1;
        Ok(self.found.last().copied())
    }
}

/// Returns the newest run with all words that is not newer than `key`.
fn seek_all(connection: &Connection, words: &mut [Jump<'_>], mut key: i64) -> Outcome<Option<i64>> {
    loop {
        let before = key;
        for word in words.iter_mut() {
            match word.seek(connection, key)? {
                Some(found) => key = found,
                None => return Ok(None),
            }
        }
        if key == before || words.len() < 2 {
            return Ok(Some(key));
        }
    }
}

/// The runs with a word, by walking: for a word of which only the beginning is known, where jumping would gather
/// everything anew each time.
struct Walk<'a> {
    rows: Rows<'a>,
    key: Option<i64>,
}

impl Walk<'_> {
    /// Returns the newest run that is not newer than `key`. Must be asked for older and older ones.
    fn seek(&mut self, key: i64) -> Outcome<Option<i64>> {
        while self.key.is_none_or(|here| here > key) {
            match self.rows.next()? {
                Some(row) => self.key = Some(row.get::<_, i64>(0)? / PARTS),
                None => return Ok(None),
            }
        }
        Ok(self.key)
    }
}

fn one_word(
    connection: &Connection,
    word: &str,
    filter: &RunFilter,
    before: Option<i64>,
    limit: usize,
    patience: usize,
) -> Outcome<Hits> {
    let (sql, values) = search_sql(word, filter, before);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let (mut found, mut last, mut hits) = (Hits::default(), None, 0);
    while found.runs.len() < limit {
        if hits == patience {
            found.tired = true;
            break;
        }
        let Some(row) = rows.next()? else { return Ok(found) };
        hits += 1;
        let key: i64 = row.get(SUMMARY_KEY)?;
        // A run is found once for each of its texts, one after the other.
        if last != Some(key) {
            last = Some(key);
            if row.get::<_, Option<bool>>(SUMMARY_KEY + 1)? == Some(true) {
                found.runs.push((key, summary(row)?));
            }
        }
    }
    found.more = last;
    Ok(found)
}

/// Searches for `whole` words and, if given, one that begins with `begins`.
fn several_words(
    connection: &Connection,
    whole: &[String],
    begins: Option<&str>,
    filter: &RunFilter,
    before: Option<i64>,
    limit: usize,
    patience: usize,
) -> Outcome<Hits> {
    // The largest key whose row ids can be counted.
    let mut key = before.map_or(i64::MAX / PARTS - 2, |before| before - 1);
    let mut walk_statement = connection.prepare_cached(WALK)?;
    let mut walk = match begins {
        Some(begins) => {
            let rows = walk_statement.query((begins, (key + 1).saturating_mul(PARTS)))?;
            Some(Walk { rows, key: None })
        }
        None => None,
    };
    let (conditions, values) = filter.conditions(2);
    let mut fetch =
        connection.prepare_cached(&format!("SELECT {SUMMARY} FROM runs WHERE runs.key = ?1{conditions}"))?;
    let mut whole: Vec<Jump<'_>> = whole.iter().map(|word| Jump::new(word)).collect();
    let mut hits = Hits::default();
    for _ in 0..(patience / HITS_PER_CANDIDATE).max(1) {
        let Some(found) = seek_all(connection, &mut whole, key)? else { return Ok(hits) };
        let met = match &mut walk {
            Some(walk) => walk.seek(found)?,
            None => Some(found),
        };
        let Some(met) = met else { return Ok(hits) };
        if met < found {
            key = met;
            continue;
        }
        let all = std::iter::once(Sql::Integer(found)).chain(values.iter().cloned());
        let run = fetch.query_row(rusqlite::params_from_iter(all), |row| Ok(summary(row))).optional()?;
        hits.runs.extend(run.transpose()?.map(|run| (found, run)));
        if hits.runs.len() >= limit {
            hits.more = Some(found);
            return Ok(hits);
        }
        key = found - 1;
    }
    hits.more = Some(key + 1);
    hits.tired = true;
    Ok(hits)
}

/// Searches for texts with all words, the last of which may be a beginning.
pub(crate) fn search(
    connection: &Connection,
    words: &[String],
    filter: &RunFilter,
    before: Option<i64>,
    limit: usize,
    patience: usize,
) -> Outcome<Hits> {
    let Some((last, others)) = words.split_last() else { return Ok(Hits::default()) };
    let whole = Jump::new(last).seek(connection, i64::MAX / PARTS - 2)?.is_some();
    let known = if whole { Some(last.clone()) } else { spelled_out(connection, last)? };
    let begins = format!("{last}*");
    match (others, known) {
        ([], Some(known)) => one_word(connection, &known, filter, before, limit, patience),
        ([], None) => one_word(connection, &begins, filter, before, limit, patience),
        (others, Some(known)) => {
            let words: Vec<String> = others.iter().cloned().chain([known]).collect();
            several_words(connection, &words, None, filter, before, limit, patience)
        }
        (_, None) => several_words(connection, others, Some(&begins), filter, before, limit, patience),
    }
}

impl Store {
    /// Returns at most `limit` runs in whose id, entrypoint, input, output, error, node titles or logs every word of
    /// `text` stands, newest first. When the last word stands nowhere as a whole, words that begin with it count.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`] when there is no run `before`.
    pub fn search_runs(
        &self,
        text: &str,
        filter: &RunFilter,
        before: Option<&RunId>,
        limit: usize,
    ) -> Result<Vec<RunSummary>> {
        let words = words(text);
        let limit = limit.min(PAGE);
        self.database.read_together(|connection| {
            let before = before.map(|run| place(connection, run)).transpose()?.map(|(_, key)| key);
            let hits = search(connection, &words, filter, before, limit, HITS)?;
            Ok(hits.runs.into_iter().map(|(_, run)| run).collect())
        })
    }
}
