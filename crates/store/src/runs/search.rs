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
use crate::text::words;
use crate::{Result, Store};

/// Hits in the index that a search of one word looks at: a run whose log says the word in every line must not hide
/// the others for long.
const HITS: usize = 200_000;
/// Runs that a search of several words looks at.
const CANDIDATES: usize = 20_000;

/// Writes the query of a search for one word. `before` is the key of the last run of the page before.
pub(crate) fn search_sql(query: &str, filter: &RunFilter, before: Option<i64>) -> (String, Vec<Sql>) {
    let mut values = vec![Sql::Text(query.to_owned())];
    let mut sql = format!(
        "SELECT {SUMMARY} FROM run_text CROSS JOIN runs ON runs.key = run_text.rowid / {PARTS} \
         WHERE run_text MATCH ?1"
    );
    if let Some(before) = before {
        sql.push_str(" AND run_text.rowid < ?2");
        values.push(Sql::Integer(before.saturating_mul(PARTS)));
    }
    let (conditions, more) = filter.conditions(values.len() + 1);
    sql.push_str(&conditions);
    values.extend(more);
    sql.push_str(" ORDER BY run_text.rowid DESC");
    (sql, values)
}

/// Finds the newest texts with a word among those before a row id.
pub(crate) const SEEK: &str =
    "SELECT rowid FROM run_text WHERE run_text MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3";
/// Goes through all texts with a word, the newest first.
pub(crate) const WALK: &str = "SELECT rowid FROM run_text WHERE run_text MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC";

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
) -> Outcome<Vec<RunSummary>> {
    let (sql, values) = search_sql(word, filter, before);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let (mut runs, mut last, mut hits) = (Vec::new(), None, 0);
    while runs.len() < limit
        && hits < HITS
        && let Some(row) = rows.next()?
    {
        hits += 1;
        let key: i64 = row.get(SUMMARY_KEY)?;
        // A run is found once for each of its texts, one after the other.
        if last != Some(key) {
            last = Some(key);
            runs.push(summary(row)?);
        }
    }
    Ok(runs)
}

/// Searches for `whole` words and, if given, one that begins with `begins`.
fn several_words(
    connection: &Connection,
    whole: &[String],
    begins: Option<&str>,
    filter: &RunFilter,
    before: Option<i64>,
    limit: usize,
) -> Outcome<Vec<RunSummary>> {
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
    let mut runs = Vec::new();
    for _ in 0..CANDIDATES {
        let Some(found) = seek_all(connection, &mut whole, key)? else { break };
        let met = match &mut walk {
            Some(walk) => walk.seek(found)?,
            None => Some(found),
        };
        let Some(met) = met else { break };
        if met < found {
            key = met;
            continue;
        }
        let all = std::iter::once(Sql::Integer(found)).chain(values.iter().cloned());
        let run = fetch.query_row(rusqlite::params_from_iter(all), |row| Ok(summary(row))).optional()?;
        runs.extend(run.transpose()?);
        if runs.len() >= limit {
            break;
        }
        key = found - 1;
    }
    Ok(runs)
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
        let Some((last, others)) = words.split_last() else { return Ok(Vec::new()) };
        let limit = limit.min(PAGE);
        self.database.read_together(|connection| {
            let before = before.map(|run| place(connection, run)).transpose()?.map(|(_, key)| key);
            let whole = Jump::new(last).seek(connection, i64::MAX / PARTS - 2)?.is_some();
            let begins = format!("{last}*");
            match (others, whole) {
                ([], true) => one_word(connection, last, filter, before, limit),
                ([], false) => one_word(connection, &begins, filter, before, limit),
                (_, true) => several_words(connection, &words, None, filter, before, limit),
                (_, false) => several_words(connection, others, Some(&begins), filter, before, limit),
            }
        })
    }
}
