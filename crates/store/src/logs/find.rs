//! Looking for a text in one run's log.

use model::RunId;

use crate::database::Outcome;
use crate::logs::LogStream;
use crate::logs::chunk::entries;
use crate::runs::find;
use crate::{Result, Store, StoreError};

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

impl Store {
    /// Finds the entries of a run's log that hold `text`, whatever the case of its letters. Positions are those of the
    /// first `limit`; all are counted.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`]; [`StoreError::TooLarge`] for a text over 1,000 bytes.
    pub fn find_in_log(&self, run: &RunId, text: &str, stream: Option<LogStream>, limit: usize) -> Result<LogHits> {
        if text.len() > TEXT {
            return Err(StoreError::TooLarge { what: "the text to look for", size: text.len(), most: TEXT });
        }
        let pattern = regex::RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
        let Ok(pattern) = pattern else {
            // An escaped text of this length always is a pattern.
            return Ok(LogHits::default());
        };
        if text.is_empty() {
            return Ok(LogHits::default());
        }
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
