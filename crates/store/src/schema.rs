//! Migrations: numbered files that only add, applied in one transaction by whoever opens first.
//!
//! `PRAGMA user_version` says which files were applied, `PRAGMA application_id` that the file is ours, and the row in
//! `meta` who may still write. A build meets newer databases in ordinary life, since a client keeps an old launcher
//! running across an update: it uses them, unless `min_writer` says no.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::files;
use crate::{Result, StoreError};

/// The files of one kind of database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    /// Marks the database as ours (`PRAGMA application_id`).
    pub(crate) application_id: i64,
    /// The files in order; their number is the schema number.
    pub(crate) files: &'static [&'static str],
    /// The lowest schema number that may write once all files are applied.
    pub(crate) min_writer: i64,
}

/// `desktop.db` and `history.db`.
pub(crate) const HISTORY: Schema = Schema {
    application_id: 0x5746_4331, // "WFC1"
    files: &[
        include_str!("../../../migrations/history/0001_first.sql"),
        include_str!("../../../migrations/history/0002_window.sql"),
        include_str!("../../../migrations/history/0003_spent.sql"),
        include_str!("../../../migrations/history/0004_terms.sql"),
        include_str!("../../../migrations/history/0005_standing.sql"),
        include_str!("../../../migrations/history/0006_clock.sql"),
        include_str!("../../../migrations/history/0007_sealed_form.sql"),
        include_str!("../../../migrations/history/0008_family.sql"),
    ],
    min_writer: 1,
};

/// Key-value pairs, PersistentValues and knowledge.
pub(crate) const DATA: Schema = Schema {
    application_id: 0x5746_4344, // "WFCD"
    files: &[
        include_str!("../../../migrations/data/0001_first.sql"),
        include_str!("../../../migrations/data/0002_calls.sql"),
    ],
    min_writer: 1,
};

/// How long opening waits for another process that migrates, which includes its backup.
const MIGRATION_WAIT: Duration = Duration::from_secs(60);
/// Backups kept beside the database.
const BACKUPS: usize = 2;

impl Schema {
    /// The number this build knows.
    pub(crate) fn number(&self) -> i64 {
        i64::try_from(self.files.len()).unwrap_or(i64::MAX)
    }

    /// Brings the database to this schema, or says why that must not be.
    pub(crate) fn ensure(&self, connection: &mut Connection, path: &Path) -> Result<()> {
        let sql = |error| StoreError::sql(path, error);
        // Until the file is known to be ours it stays as it is: closing must not move a write-ahead log into it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sql)?;
        match self.state(connection, path)? {
            State::Current => {}
            State::Older(_) => self.migrate(connection, path)?,
        }
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(sql)?;
        Ok(())
    }

    fn state(&self, connection: &Connection, path: &Path) -> Result<State> {
        let sql = |error| StoreError::sql(path, error);
        let read = |name| pragma(connection, name).map_err(sql);
        if read("user_version")? == self.number() && read("application_id")? == self.application_id {
            return Ok(State::Current);
        }
        // Of one moment: while another process makes the tables, half of what is seen would be from before and half from
        // after, which is how the file of another program looks.
        let _moment =
            connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose().map_err(sql)?;
        let (version, application) = (read("user_version")?, read("application_id")?);
        if application != self.application_id {
            let tables: i64 =
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(sql)?;
            return if application == 0 && version == 0 && tables == 0 {
                Ok(State::Older(0))
            } else {
                Err(StoreError::Foreign { path: path.to_owned() })
            };
        }
        if version > self.number() {
            self.check_writer(connection, path)?;
            return Ok(State::Current);
        }
        Ok(State::Older(version))
    }

    /// Refuses when the database wants writers that know more than this build.
    pub(crate) fn check_writer(&self, connection: &Connection, path: &Path) -> Result<()> {
        let sql = |error| StoreError::sql(path, error);
        let min_writer: i64 = connection
            .prepare_cached("SELECT min_writer FROM meta WHERE one = 1")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(sql)?;
        if min_writer > self.number() {
            return Err(StoreError::TooNew { path: path.to_owned(), min_writer, schema: self.number() });
        }
        Ok(())
    }

    fn migrate(&self, connection: &mut Connection, path: &Path) -> Result<()> {
        let sql = |error| StoreError::sql(path, error);
        let deadline = Instant::now() + MIGRATION_WAIT;
        // Two processes that switch a new file to WAL at once: the busy handler is not asked there.
        patiently(deadline, || connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)))
            .map_err(sql)?;
        connection.execute_batch("PRAGMA synchronous = FULL").map_err(sql)?;
        patiently(deadline, || connection.execute_batch("BEGIN IMMEDIATE")).map_err(sql)?;
        let applied = match self.state(connection, path) {
            // Another process did it while this one waited.
            Ok(State::Current) => Ok(()),
            Ok(State::Older(version)) => self.apply(connection, path, version),
            Err(error) => Err(error),
        };
        match applied {
            Ok(()) => connection.execute_batch("COMMIT").map_err(sql)?,
            Err(error) => {
                // The first error is the one to report; a rollback that fails too is made up by closing.
                drop(connection.execute_batch("ROLLBACK"));
                return Err(error);
            }
        }
        connection.execute_batch("PRAGMA synchronous = NORMAL").map_err(sql)
    }

    fn apply(&self, connection: &Connection, path: &Path, version: i64) -> Result<()> {
        let sql = |error| StoreError::sql(path, error);
        if version > 0 {
            // This connection holds the write lock, so what another one reads now is the last state of the old schema.
            back_up(path, version)?;
        }
        for file in self.files.iter().skip(usize::try_from(version).unwrap_or(0)) {
            connection.execute_batch(file).map_err(sql)?;
        }
        connection
            .execute(
                "INSERT INTO meta (one, schema, min_writer) VALUES (1, ?1, ?2) \
                 ON CONFLICT (one) DO UPDATE SET schema = ?1, min_writer = max(min_writer, ?2)",
                [self.number(), self.min_writer],
            )
            .map_err(sql)?;
        connection
            .execute_batch(&format!(
                "PRAGMA application_id = {}; PRAGMA user_version = {}",
                self.application_id,
                self.number()
            ))
            .map_err(sql)
    }
}

enum State {
    Current,
    /// The number of files that were applied.
    Older(i64),
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
}

/// Repeats `attempt` while the database is busy, until `deadline`.
fn patiently<T>(deadline: Instant, mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
}

/// Tells whether another connection is in the way.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

/// Writes a copy of the database as it is beside it, and keeps the newest few.
fn back_up(path: &Path, version: i64) -> Result<()> {
    let sql = |error| StoreError::sql(path, error);
    let copy = files::beside(path, &format!(".schema-{version}.backup"));
    let unfinished = files::beside(path, &format!(".schema-{version}.unfinished"));
    if let Err(error) = fs::remove_file(&unfinished)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(StoreError::file("replace", &unfinished)(error));
    }
    // An empty file is what VACUUM INTO accepts, and ours is owner-only.
    files::prepare(&unfinished)?;
    let reader = crate::connection::connect(path, crate::connection::BUSY_WAIT)?;
    reader.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()]).map_err(sql)?;
    fs::File::open(&unfinished)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, &copy))
        .map_err(StoreError::file("write the backup", &copy))?;
    for old in backups(path).into_iter().skip(BACKUPS) {
        if let Err(error) = fs::remove_file(&old) {
            tracing::warn!(path = %old.display(), %error, "an old backup stays");
        }
    }
    Ok(())
}

/// Returns the backups of the database at `path`, those of the newest schema first.
pub(crate) fn backups(path: &Path) -> Vec<PathBuf> {
    let Some((folder, name)) = path.parent().zip(path.file_name()) else { return Vec::new() };
    let prefix = format!("{}.schema-", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(i64, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_string_lossy().strip_prefix(&prefix)?.strip_suffix(".backup")?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}
