//! Standard output and error of a run, in order, as they come.
//!
//! Entries are kept in chunks of some 64 KiB, compressed. Of a run that writes more than 128 MiB the first and the last
//! half of that are kept; what was between is counted. A secret is masked also where two pieces of a stream meet in it.

mod chunk;
mod find;

use std::fmt::Write as _;

use model::{Limits, RunId, TimestampMs};
use rusqlite::{Connection, OptionalExtension as _};

use crate::database::Outcome;
use crate::runs::{Lease, PART_LOGS, State, find, grow, held, index, note, searchable};
use crate::{Durability, MaskStream, Result, Store};
use chunk::{Chunk, chunks, entries};

pub(crate) use find::texts_of_part;
pub use find::{LogHits, LogPattern};

/// One of a program's two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl LogStream {
    fn bit(self) -> i64 {
        match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
        }
    }
}

/// A piece of a run's log: not always a whole line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place among the entries of the run, from 0.
    pub position: u64,
    /// The stream it was written to.
    pub stream: LogStream,
    /// When it came.
    pub at: TimestampMs,
    /// The text, line ends included.
    pub text: String,
}

/// What is missing in the middle of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftOut {
    /// The position of the first missing entry.
    pub position: u64,
    /// How many are missing.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A page of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogPage {
    /// The entries, in order.
    pub entries: Vec<LogEntry>,
    /// The position to go on from.
    pub next: u64,
    /// The end of the log as it is now; `next` has reached it when they are equal.
    pub end: u64,
    /// What is missing, anywhere in the log.
    pub left_out: Option<LeftOut>,
}

/// Bytes of text in one chunk, and of one entry; a longer piece becomes several entries.
const CHUNK: usize = 64 * 1024;
/// Bytes of the beginning, and of the end, that are kept of a log.
const HALF: i64 = (Limits::LOG_BYTES / 2) as i64;
/// Bytes of the beginning of a log that are searchable. Its end is so as well, once the run has ended.
const INDEXED: i64 = 4 * 1024 * 1024;
/// Chunks of the end that are made searchable.
const INDEXED_END: i64 = 4;
/// Bytes of text that one page holds at most, however many entries were asked for.
const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes that wait in a [`LogWriter`] while the database cannot be written.
const WAITING: usize = 4 * 1024 * 1024;

/// Writes a run's log. Buffers until [`LogWriter::flush`], which is to be called every 250 ms or 64 KiB.
#[derive(Debug)]
pub struct LogWriter {
    store: Store,
    lease: Lease,
    masks: [MaskStream; 2],
    entries: Vec<(LogStream, TimestampMs, String)>,
    buffered: usize,
    lost: usize,
    /// How much the run has told, when that is news.
    narrated: Option<u64>,
}

impl LogWriter {
    /// Takes note of how much the run has told by now: what of it has text is in what was pushed.
    pub fn set_narrated(&mut self, narrated: u64) {
        self.narrated = Some(narrated);
    }

    fn mask(&mut self, stream: LogStream) -> &mut MaskStream {
        let [stdout, stderr] = &mut self.masks;
        match stream {
            LogStream::Stdout => stdout,
            LogStream::Stderr => stderr,
        }
    }

    /// Takes a piece of a stream.
    pub fn push(&mut self, stream: LogStream, at: TimestampMs, text: &str) {
        let masked = self.mask(stream).push(text).into_owned();
        self.buffer(stream, at, &masked);
    }

    fn buffer(&mut self, stream: LogStream, at: TimestampMs, mut text: &str) {
        while !text.is_empty() {
            let piece = crate::runs::head(text, CHUNK);
            self.buffered += piece.len();
            self.entries.push((stream, at, piece.to_owned()));
            text = text.get(piece.len()..).unwrap_or_default();
        }
        if self.buffered > WAITING {
            // Nobody flushes, or nothing can be written: memory must not grow for that.
            self.lost += self.buffered;
            self.buffered = 0;
            self.entries.clear();
        }
    }

    /// Returns how many bytes wait to be written.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.buffered
    }

    /// Returns how many bytes were given up because they could not be written.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Writes what has come, but for an end that may be the beginning of a secret.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::StaleEpoch`] when the run is in other hands. What was not written is kept for the next
    /// attempt, up to 4 MiB.
    pub fn flush(&mut self) -> Result<()> {
        if self.entries.is_empty() && self.narrated.is_none() {
            return Ok(());
        }
        let chunks: Vec<Chunk> = if self.entries.is_empty() { Vec::new() } else { chunks(&self.entries) };
        let (lease, narrated) = (self.lease.clone(), self.narrated.and_then(|count| i64::try_from(count).ok()));
        self.store.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            if let Some(narrated) = narrated {
                connection
                    .prepare_cached("UPDATE runs SET narrated = ?2 WHERE key = ?1")?
                    .execute((state.key, narrated))?;
            }
            if chunks.is_empty() {
                return Ok(());
            }
            append(connection, &state, &chunks)?;
            note(connection, &state, "log")
        })?;
        self.narrated = None;
        self.entries.clear();
        self.buffered = 0;
        Ok(())
    }

    /// Writes everything, after the last piece.
    ///
    /// # Errors
    ///
    /// As [`LogWriter::flush`].
    pub fn finish(&mut self) -> Result<()> {
        let at = self.store.now();
        for stream in [LogStream::Stdout, LogStream::Stderr] {
            let rest = self.mask(stream).finish();
            self.buffer(stream, at, &rest);
        }
        self.flush()
    }
}

#[derive(Debug, Clone, Default)]
struct Totals {
    entries: i64,
    head_bytes: i64,
    tail_bytes: i64,
    tail_first: Option<i64>,
    dropped_entries: i64,
    dropped_bytes: i64,
    indexed_bytes: i64,
    indexed_until: i64,
    parts: i64,
}

impl Totals {
    fn read(connection: &Connection, run: i64) -> Outcome<Self> {
        let found = connection
            .prepare_cached(
                "SELECT entries, head_bytes, tail_bytes, tail_first, dropped_entries, dropped_bytes, indexed_bytes, \
                 indexed_until, parts FROM log_totals WHERE run = ?1",
            )?
            .query_row([run], |row| {
                Ok(Self {
                    entries: row.get(0)?,
                    head_bytes: row.get(1)?,
                    tail_bytes: row.get(2)?,
                    tail_first: row.get(3)?,
                    dropped_entries: row.get(4)?,
                    dropped_bytes: row.get(5)?,
                    indexed_bytes: row.get(6)?,
                    indexed_until: row.get(7)?,
                    parts: row.get(8)?,
                })
            })
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    fn write(&self, connection: &Connection, run: i64) -> Outcome<()> {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO log_totals (run, entries, head_bytes, tail_bytes, tail_first, \
                 dropped_entries, dropped_bytes, indexed_bytes, indexed_until, parts) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute((
                run,
                self.entries,
                self.head_bytes,
                self.tail_bytes,
                self.tail_first,
                self.dropped_entries,
                self.dropped_bytes,
                self.indexed_bytes,
                self.indexed_until,
                self.parts,
            ))?;
        Ok(())
    }

    fn left_out(&self) -> Option<LeftOut> {
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let tail = self.tail_first.filter(|_| self.dropped_entries > 0)?;
        Some(LeftOut {
            position: count(tail - self.dropped_entries),
            entries: count(self.dropped_entries),
            bytes: count(self.dropped_bytes),
        })
    }
}

fn append(connection: &Connection, state: &State, chunks: &[Chunk]) -> Outcome<()> {
    append_within(connection, state, chunks, HALF)
}

/// Adds chunks, keeping `half` bytes of text of the beginning and as much of the end.
fn append_within(connection: &Connection, state: &State, chunks: &[Chunk], half: i64) -> Outcome<()> {
    let run = state.key;
    let mut totals = Totals::read(connection, run)?;
    let mut grown = 0;
    for chunk in chunks {
        if totals.tail_first.is_none() && totals.head_bytes + chunk.bytes <= half {
            totals.head_bytes += chunk.bytes;
        } else {
            let mut tail_first = totals.tail_first.unwrap_or(totals.entries);
            totals.tail_bytes += chunk.bytes;
            while totals.tail_bytes > half
                && let Some((first, count, bytes, stored)) = oldest_of_tail(connection, run, tail_first)?
            {
                connection
                    .prepare_cached("DELETE FROM log_chunks WHERE run = ?1 AND first = ?2")?
                    .execute((run, first))?;
                tail_first = first + count;
                totals.tail_bytes -= bytes;
                totals.dropped_entries += count;
                totals.dropped_bytes += bytes;
                grown -= stored;
            }
            totals.tail_first = Some(tail_first);
        }
        connection
            .prepare_cached(
                "INSERT INTO log_chunks (run, first, count, bytes, streams, encoding, data) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute((
                run,
                totals.entries,
                chunk.count,
                chunk.bytes,
                chunk.streams,
                chunk.stored.encoding,
                &chunk.stored.data,
            ))?;
        grown += chunk.stored.len();
        totals.entries += chunk.count;
        if totals.indexed_bytes < INDEXED {
            index(connection, run, PART_LOGS + totals.parts, &chunk.text)?;
            totals.parts += 1;
            totals.indexed_bytes += chunk.bytes;
            totals.indexed_until = totals.entries;
        }
    }
    totals.write(connection, run)?;
    grow(connection, state, grown)
}

/// Returns first entry, count, bytes of text and stored bytes of the oldest chunk from `first` on.
fn oldest_of_tail(connection: &Connection, run: i64, first: i64) -> Outcome<Option<(i64, i64, i64, i64)>> {
    Ok(connection
        .prepare_cached(
            "SELECT first, count, bytes, length(data) FROM log_chunks WHERE run = ?1 AND first >= ?2 \
             ORDER BY first LIMIT 1",
        )?
        .query_row((run, first), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?)
}

/// Makes the end of a long log searchable: that is where most say why they ended.
pub(crate) fn index_end(connection: &Connection, run: i64) -> Outcome<()> {
    let mut totals = Totals::read(connection, run)?;
    if totals.indexed_until >= totals.entries {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "SELECT first, encoding, data FROM log_chunks WHERE run = ?1 AND first >= ?2 ORDER BY first DESC LIMIT ?3",
    )?;
    let mut rows = statement.query((run, totals.indexed_until, INDEXED_END))?;
    while let Some(row) = rows.next()? {
        let mut texts = [String::new(), String::new()];
        entries(row.get(0)?, row.get(1)?, row.get(2)?, |entry| {
            let [stdout, stderr] = &mut texts;
            match entry.stream {
                LogStream::Stdout => stdout.push_str(&entry.text),
                LogStream::Stderr => stderr.push_str(&entry.text),
            }
            true
        })?;
        let [stdout, stderr] = &texts;
        index(connection, run, PART_LOGS + totals.parts, &searchable(&[stdout, stderr]))?;
        totals.parts += 1;
    }
    totals.indexed_until = totals.entries;
    totals.write(connection, run)
}

/// Returns how many entries a log has, those that were left out included.
pub(crate) fn entries_of(connection: &Connection, run: i64) -> Outcome<u64> {
    Ok(u64::try_from(Totals::read(connection, run)?.entries).unwrap_or(0))
}

/// Returns all text of a stream, with a line where some was left out.
pub(crate) fn text(connection: &Connection, run: i64, stream: LogStream) -> Outcome<String> {
    let mut left_out = Totals::read(connection, run)?.left_out();
    let mut out = String::new();
    let mut statement = connection
        .prepare_cached("SELECT first, streams, encoding, data FROM log_chunks WHERE run = ?1 ORDER BY first")?;
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let first: i64 = row.get(0)?;
        if let Some(gap) = left_out.take_if(|gap| u64::try_from(first).unwrap_or(0) >= gap.position) {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            // Writing to a String cannot fail.
            let _ = writeln!(out, "… {} bytes left out …", gap.bytes);
        }
        if row.get::<_, i64>(1)? & stream.bit() != 0 {
            entries(first, row.get(2)?, row.get(3)?, |entry| {
                if entry.stream == stream {
                    out.push_str(&entry.text);
                }
                true
            })?;
        }
    }
    Ok(out)
}

fn page(connection: &Connection, run: i64, from: u64, limit: usize, stream: Option<LogStream>) -> Outcome<LogPage> {
    let totals = Totals::read(connection, run)?;
    let end = u64::try_from(totals.entries).unwrap_or(0);
    let mut page = LogPage { next: from.min(end), end, left_out: totals.left_out(), entries: Vec::new() };
    let wanted = stream.map_or(3, LogStream::bit);
    // The chunk that holds `from` begins before it.
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    let begin: i64 = connection
        .prepare_cached("SELECT first FROM log_chunks WHERE run = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1")?
        .query_row((run, from), |row| row.get(0))
        .optional()?
        .unwrap_or(from);
    let mut statement = connection.prepare_cached(
        "SELECT first, count, streams, encoding, data FROM log_chunks WHERE run = ?1 AND first >= ?2 ORDER BY first",
    )?;
    let mut rows = statement.query((run, begin))?;
    let mut bytes = 0;
    while page.entries.len() < limit
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let (first, count): (i64, i64) = (row.get(0)?, row.get(1)?);
        let after = u64::try_from(first + count).unwrap_or(0);
        if after <= page.next {
            continue;
        }
        if row.get::<_, i64>(2)? & wanted != 0 {
            entries(first, row.get(3)?, row.get(4)?, |entry| {
                if page.entries.len() >= limit || bytes >= PAGE_BYTES {
                    return false;
                }
                if entry.position >= page.next {
                    page.next = entry.position + 1;
                    if stream.is_none_or(|stream| stream == entry.stream) {
                        bytes += entry.text.len();
                        page.entries.push(entry);
                    }
                }
                true
            })?;
        } else {
            page.next = after;
        }
    }
    Ok(page)
}

impl Store {
    /// Begins to write a run's log. There should be one writer for each run.
    #[must_use]
    pub fn log_writer(&self, lease: &Lease) -> LogWriter {
        LogWriter {
            store: self.clone(),
            lease: lease.clone(),
            masks: [self.masker().stream(), self.masker().stream()],
            entries: Vec::new(),
            buffered: 0,
            lost: 0,
            narrated: None,
        }
    }

    /// Returns at most `limit` entries of a run's log from the position `from` on, and never more than 4 MiB; of one
    /// stream, if that is wanted.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn log_page(&self, run: &RunId, from: u64, limit: usize, stream: Option<LogStream>) -> Result<LogPage> {
        self.database.read_together(|connection| page(connection, find(connection, run)?.key, from, limit, stream))
    }
}
