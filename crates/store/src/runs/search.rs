//! Searching runs by their texts: id, entrypoint, input, output, error, node titles, logs.
//!
//! A run has several texts in the index, and each word may stand in another one. The index is read backwards, the newest
//! run first; with several words the one that comes latest jumps ahead to where the others are.

use std::cmp::Reverse;

use model::RunId;
use rusqlite::types::Value as Sql;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Rows};

use crate::database::Outcome;
use crate::runs::found::PART_OF;
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
/// Finds the newest run.
pub(crate) const NEWEST: &str = "SELECT max(key) FROM runs";
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

/// Runs with a frequent word that are passed over for each that is asked for: with more, each asked for is looked at alone.
/// The index goes through a word's places one by one to read backwards from one of them, which costs six times as much as
/// telling whether one run has the word.
const PASSED_OVER: i64 = 32;
/// Texts that are found at once, at first and at most.
const FEW: i64 = 16;
const MANY: i64 = 1_024;

/// The runs with a word, by jumping: some at a time, more of them where they are all looked at.
struct Jump<'a> {
    word: &'a str,
    /// Runs with the word, the newest last.
    found: Vec<i64>,
    /// How many texts to find at once.
    many: i64,
    /// Keys from one run with the word to the next, about.
    gap: i64,
    /// The key asked for last.
    last: i64,
    /// Whether there are no older ones than those found.
    end: bool,
}

/// Where a jump has ended.
enum Met {
    /// At the newest run with the word that is not newer than what was asked for.
    At(i64),
    /// The run asked for alone was looked at, and is out of the question.
    Not,
    /// There is none.
    Nowhere,
}

impl<'a> Jump<'a> {
    fn new(word: &'a str) -> Self {
        Self { word, found: Vec::new(), many: FEW, gap: 1, last: i64::MAX, end: false }
    }

    /// Looks for the newest run that is not newer than `key`. Must be asked for older and older ones.
    fn seek(&mut self, search: &mut Search<'_>, key: i64) -> Outcome<Met> {
        while self.found.last().is_some_and(|newest| *newest > key) {
            self.found.pop();
        }
        let step = self.last.saturating_sub(key);
        self.last = key;
        if self.found.is_empty() && !self.end {
            if step / PASSED_OVER > self.gap {
                self.many = FEW;
                return Ok(if search.wants(key)? && search.has(self.word, key)? { Met::At(key) } else { Met::Not });
            }
            self.read(search.connection, key)?;
        }
        Ok(self.found.last().map_or(Met::Nowhere, |key| Met::At(*key)))
    }

    fn read(&mut self, connection: &Connection, key: i64) -> Outcome<()> {
        let mut statement = connection.prepare_cached(SEEK)?;
        let limit = (key + 1).saturating_mul(PARTS);
        let rowids = statement.query_map((self.word, limit, self.many), |row| row.get::<_, i64>(0))?;
        let mut texts = 0;
        for rowid in rowids {
            texts += 1;
            self.found.push(rowid? / PARTS);
        }
        self.end = texts < self.many;
        self.many = (self.many * 4).min(MANY);
        self.found.dedup();
        self.found.reverse();
        if let Some(oldest) = self.found.first() {
            self.gap = (key - oldest) / i64::try_from(self.found.len()).unwrap_or(i64::MAX);
        }
        Ok(())
    }
}

/// A run's key, and behind it what a filter asks for.
fn with_key(key: i64, values: &[Sql]) -> impl Iterator<Item = Sql> {
    std::iter::once(Sql::Integer(key)).chain(values.iter().cloned())
}

/// What a search of several words asks of one run alone.
struct Search<'a> {
    connection: &'a Connection,
    /// Fetches a run that the filter wants.
    fetch: CachedStatement<'a>,
    /// What the filter asks for.
    values: Vec<Sql>,
    /// How much more may be looked at.
    patience: usize,
}

impl<'a> Search<'a> {
    fn new(connection: &'a Connection, filter: &RunFilter, patience: usize) -> Outcome<Self> {
        let (conditions, values) = filter.conditions(2);
        let fetch =
            connection.prepare_cached(&format!("SELECT {SUMMARY} FROM runs WHERE runs.key = ?1{conditions}"))?;
        Ok(Self { connection, fetch, values, patience })
    }

    /// Returns a run if the filter wants it.
    fn fetch(&mut self, key: i64) -> Outcome<Option<RunSummary>> {
        let all = with_key(key, &self.values);
        self.fetch.query_row(rusqlite::params_from_iter(all), |row| Ok(summary(row))).optional()?.transpose()
    }

    /// Tells whether the filter wants a run: cheaper than to look for a word.
    fn wants(&mut self, key: i64) -> Outcome<bool> {
        let all = with_key(key, &self.values);
        Ok(self.values.is_empty() || self.fetch.exists(rusqlite::params_from_iter(all))?)
    }

    fn has(&mut self, word: &str, key: i64) -> Outcome<bool> {
        self.patience = self.patience.saturating_sub(HITS_PER_CANDIDATE);
        let (from, to) = (key.saturating_mul(PARTS), (key + 1).saturating_mul(PARTS));
        Ok(self.connection.prepare_cached(PART_OF)?.exists((word, from, to))?)
    }

    /// Takes `key` to the newest run with all words that is not newer, the rarest of the words first; false: there is none.
    /// Runs that the filter does not want may be left out. Stops where it is when nothing more may be looked at.
    fn all(&mut self, words: &mut [Jump<'_>], key: &mut i64) -> Outcome<bool> {
        'key: while self.patience > 0 {
            for word in words.iter_mut() {
                self.patience = self.patience.saturating_sub(1);
                match word.seek(self, *key)? {
                    Met::At(met) if met == *key => {}
                    Met::At(met) => {
                        *key = met;
                        continue 'key;
                    }
                    Met::Not => {
                        *key -= 1;
                        continue 'key;
                    }
                    Met::Nowhere => return Ok(false),
                }
            }
            break;
        }
        Ok(true)
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
    let newest = || connection.query_row(NEWEST, [], |row| row.get::<_, Option<i64>>(0));
    let mut key = before.map_or_else(|| newest().map(Option::unwrap_or_default), |before| Ok(before - 1))?;
    let mut walk_statement = connection.prepare_cached(WALK)?;
    let mut walk = match begins {
        Some(begins) => {
            let rows = walk_statement.query((begins, (key + 1).saturating_mul(PARTS)))?;
            Some(Walk { rows, key: None })
        }
        None => None,
    };
    let mut search = Search::new(connection, filter, patience)?;
    let mut whole: Vec<Jump<'_>> = whole.iter().map(|word| Jump::new(word)).collect();
    for word in &mut whole {
        word.read(connection, key)?;
    }
    whole.sort_by_key(|word| Reverse(word.gap));
    let mut hits = Hits::default();
    while search.all(&mut whole, &mut key)? {
        if search.patience == 0 {
            hits.more = Some(key + 1);
            hits.tired = true;
            break;
        }
        search.patience = search.patience.saturating_sub(HITS_PER_CANDIDATE);
        let met = match &mut walk {
            Some(walk) => walk.seek(key)?,
            None => Some(key),
        };
        let Some(met) = met else { break };
        if met < key {
            key = met;
            continue;
        }
        hits.runs.extend(search.fetch(key)?.map(|run| (key, run)));
        if hits.runs.len() >= limit {
            hits.more = Some(key);
            break;
        }
        key -= 1;
    }
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
    let whole = connection.prepare_cached(PART_OF)?.exists((last, 0, i64::MAX))?;
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
