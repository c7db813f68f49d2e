//! The change feed: what a window or an owner has to read again.

use model::RunId;
use rusqlite::Connection;

use crate::database::Outcome;
use crate::runs;
use crate::{Result, Store, StoreError};

/// Changes kept; who was away for longer reads everything again.
const KEPT: i64 = 10_000;
/// Changes between two trims.
const TRIM_EVERY: i64 = 256;

/// Something that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its place in the feed.
    pub id: i64,
    /// The run, if it is of a run.
    pub run: Option<RunId>,
    /// The project's id (or UUID where there is no registry), if it is of a project or its run.
    pub project: Option<String>,
    /// What has changed: `run`, `status`, `nodes`, `log`, `question`, `answer`, `cancel`, `owner`, `pin`, `project`,
    /// `relation`, `deleted`, `settings`.
    pub what: String,
}

/// What has changed since a place in the feed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// The changes, oldest first.
    pub items: Vec<Change>,
    /// The place to go on from.
    pub cursor: i64,
    /// Whether some were trimmed before they were read: then everything may have changed.
    pub gap: bool,
}

/// Adds a change to the feed.
pub(crate) fn note(connection: &Connection, run: Option<&RunId>, project: Option<&str>, what: &str) -> Outcome<()> {
    connection.prepare_cached("INSERT INTO changes (run, project, what) VALUES (?1, ?2, ?3)")?.execute((
        run.map(RunId::as_str),
        project,
        what,
    ))?;
    let id = connection.last_insert_rowid();
    if id % TRIM_EVERY == 0 {
        connection.prepare_cached("DELETE FROM changes WHERE id <= ?1")?.execute([id - KEPT])?;
    }
    Ok(())
}

fn since(connection: &Connection, cursor: i64, limit: usize) -> Outcome<Changes> {
    let mut statement =
        connection.prepare_cached("SELECT id, run, project, what FROM changes WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let mut rows = statement.query((cursor, i64::try_from(limit).unwrap_or(i64::MAX)))?;
    let mut changes = Changes { items: Vec::new(), cursor, gap: false };
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        changes.gap |= changes.items.is_empty() && id > cursor + 1;
        changes.cursor = id;
        changes.items.push(Change {
            id,
            run: row.get::<_, Option<String>>(1)?.map(runs::run_id).transpose()?,
            project: row.get(2)?,
            what: row.get(3)?,
        });
    }
    Ok(changes)
}

fn last(connection: &Connection) -> Outcome<i64> {
    Ok(connection.query_row("SELECT coalesce(max(id), 0) FROM changes", [], |row| row.get(0))?)
}

impl Store {
    /// Returns the end of the change feed.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn last_change(&self) -> Result<i64> {
        self.database.read(last)
    }

    /// Returns at most `limit` changes after `cursor`.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn changes_since(&self, cursor: i64, limit: usize) -> Result<Changes> {
        self.database.read(|connection| since(connection, cursor, limit))
    }

    /// Begins to watch: the first [`ChangeWatch::poll`] tells what changed from now on.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn watch(&self) -> Result<ChangeWatch> {
        let connection = self.database.reader()?;
        let at = |fault: crate::database::Fault| fault.at(self.path());
        // In this order, so that a change in between is told rather than missed.
        let version = data_version(&connection).map_err(at)?;
        let cursor = last(&connection).map_err(at)?;
        Ok(ChangeWatch { connection, path: self.path().to_owned(), version, cursor })
    }
}

fn data_version(connection: &Connection) -> Outcome<i64> {
    Ok(connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
}

/// Watches the database with a connection of its own, since SQLite's counter of foreign commits is one per connection.
#[derive(Debug)]
pub struct ChangeWatch {
    connection: Connection,
    path: std::path::PathBuf,
    version: i64,
    cursor: i64,
}

impl ChangeWatch {
    /// Returns what has changed since the last call. Costs some 5 µs when nothing was committed in between.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn poll(&mut self) -> Result<Option<Changes>> {
        let at = |fault: crate::database::Fault| -> StoreError { fault.at(&self.path) };
        let version = data_version(&self.connection).map_err(at)?;
        if version == self.version {
            return Ok(None);
        }
        let limit = usize::try_from(KEPT).unwrap_or(usize::MAX);
        let changes = since(&self.connection, self.cursor, limit).map_err(at)?;
        self.version = version;
        self.cursor = changes.cursor;
        Ok(if changes.items.is_empty() { None } else { Some(changes) })
    }

    /// Returns the place in the feed up to which changes were told.
    #[must_use]
    pub fn cursor(&self) -> i64 {
        self.cursor
    }
}
