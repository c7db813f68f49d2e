//! Looking for a text in one run's log.

use model::RunId;

use crate::database::Outcome;
use crate::logs::LogStream;
use crate::logs::chunk::entries;
use crate::runs::find;
use crate::{Result, Store};

/// Where a text stands in a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogHits {
    /// Positions of the first entries that have it.
    pub positions: Vec<u64>,
    /// How many entries have it.
    pub total: u64,
}

/// Bytes of a text that is looked for.
const TEXT: usize = 1_000;
/// Bytes of a regular expression once it is ready for use.
const COMPILED: usize = 1024 * 1024;

/// What is looked for in a log.
#[derive(Debug, Clone)]
pub struct LogPattern(Option<regex::Regex>);

impl LogPattern {
    /// Makes a pattern of what a person typed: a text as it stands, or with `regex` a regular expression. `case`: capital
    /// letters are others than small ones. Nothing typed finds nothing.
    ///
    /// # Errors
    ///
    /// One sentence: it is over 1,000 bytes, or no regular expression.
    pub fn new(text: &str, case: bool, regex: bool) -> std::result::Result<Self, String> {
        if text.len() > TEXT {
            return Err(format!("the text to look for has {} bytes; {TEXT} is the most", text.len()));
        }
        if text.is_empty() {
            return Ok(Self(None));
        }
        let source = if regex { text.to_owned() } else { regex::escape(text) };
        // An entry ends with its line break, and may be several lines: `^` and `$` are those of each.
        let built =
            regex::RegexBuilder::new(&source).case_insensitive(!case).multi_line(true).size_limit(COMPILED).build();
        built.map(|pattern| Self(Some(pattern))).map_err(|error| {
            // Its last line says what is wrong; those before draw where.
            let text = error.to_string();
            text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })
    }
}

impl Store {
    /// Finds the entries of a run's log that a pattern is in. Positions are those of the first `limit`; all are counted.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`](crate::StoreError::NoSuchRun).
    pub fn find_in_log(
        &self,
        run: &RunId,
        pattern: &LogPattern,
        stream: Option<LogStream>,
        limit: usize,
    ) -> Result<LogHits> {
        let Some(pattern) = &pattern.0 else { return Ok(LogHits::default()) };
        self.database.read_together(|connection| {
            let key = find(connection, run)?.key;
            let wanted = stream.map_or(3, LogStream::bit);
            let mut hits = LogHits::default();
            let mut statement = connection.prepare_cached(
                "SELECT first, streams, encoding, data FROM log_chunks WHERE run = ?1 ORDER BY first",
            )?;
            let mut rows = statement.query([key])?;
            while let Some(row) = rows.next()? {
                if row.get::<_, i64>(1)? & wanted == 0 {
                    continue;
                }
                entries(row.get(0)?, row.get(2)?, row.get(3)?, |entry| {
                    if stream.is_none_or(|stream| stream == entry.stream) && pattern.is_match(&entry.text) {
                        hits.total += 1;
                        if hits.positions.len() < limit {
                            hits.positions.push(entry.position);
                        }
                    }
                    true
                })?;
            }
            Ok(hits)
        })
    }
}

/// Returns the texts, one of each stream, of the chunk that is behind a part of the index, and of the last chunks.
pub(crate) fn texts_of_part(connection: &rusqlite::Connection, run: i64, part: i64) -> Outcome<Vec<String>> {
    // Chunks are indexed in their order; those of a long log's end, in another, come after.
    let mut statement = connection.prepare_cached(
        "SELECT first, encoding, data FROM log_chunks WHERE run = ?1 ORDER BY first LIMIT 1 OFFSET ?2",
    )?;
    let mut rows = statement.query((run, part))?;
    let mut texts = Vec::new();
    if let Some(row) = rows.next()? {
        texts.extend(streams(row)?);
    }
    drop(rows);
    let mut statement = connection
        .prepare_cached("SELECT first, encoding, data FROM log_chunks WHERE run = ?1 ORDER BY first DESC LIMIT ?2")?;
    let mut rows = statement.query((run, super::INDEXED_END))?;
    while let Some(row) = rows.next()? {
        texts.extend(streams(row)?);
    }
    Ok(texts)
}

fn streams(row: &rusqlite::Row<'_>) -> Outcome<[String; 2]> {
    let mut texts = [String::new(), String::new()];
    entries(row.get(0)?, row.get(1)?, row.get(2)?, |entry| {
        let [stdout, stderr] = &mut texts;
        match entry.stream {
            LogStream::Stdout => stdout.push_str(&entry.text),
            LogStream::Stderr => stderr.push_str(&entry.text),
        }
        true
    })?;
    Ok(texts)
}
