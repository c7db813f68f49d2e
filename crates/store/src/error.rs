//! What can go wrong with a database, as types: a sentence with the path, the cause as `source`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{InvalidTransition, RunId, RunStatus, TimestampMs};
use rusqlite::ffi::{self, ErrorCode};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why the store could not do what it was asked.
///
/// Cheap to clone, since several callers may share one failed commit.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// A file or folder could not be created, read or given its permissions.
    #[error("could not {doing} {}", path.display())]
    File {
        /// What was tried, as an infinitive.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: Arc<io::Error>,
    },
    /// The database is a symbolic link, which may lead anywhere.
    #[error("{} is a symbolic link, which is not followed", path.display())]
    SymbolicLink {
        /// The link.
        path: PathBuf,
    },
    /// There is no database, and none was to be created.
    #[error("there is no database at {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file exists but cannot be opened.
    #[error("the database {} cannot be opened", path.display())]
    Unreadable {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: Arc<rusqlite::Error>,
    },
    /// The file is no SQLite database.
    #[error("{} is not a database", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    #[error("{} is a database of another program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error("the database {} is damaged", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: Arc<rusqlite::Error>,
    },
    /// A row has content that no version of this program writes.
    #[error("a record in {} is damaged: {what}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// Which record, and what is wrong with it.
        what: String,
    },
    /// A newer version has changed the database so that this one must not write to it.
    #[error(
        "the database {} needs a program that knows schema {min_writer}; this one knows schema {schema}",
        path.display()
    )]
    TooNew {
        /// The database.
        path: PathBuf,
        /// The lowest schema number that may write.
        min_writer: i64,
        /// The number this build knows.
        schema: i64,
    },
    /// Another process holds the database for longer than the store waits.
    #[error("the database {} is locked{}", path.display(), by(*holder))]
    Locked {
        /// The database.
        path: PathBuf,
        /// The process that holds it, where the operating system tells.
        holder: Option<u32>,
    },
    /// There is no room left.
    #[error("the disk is full: {} cannot grow", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The database or its folder may not be written.
    #[error("the database {} is read-only", path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// Memory cannot be shared between processes there, as on most network drives.
    #[error("the database {} lies on a file system without shared memory (a network drive?)", path.display())]
    NoSharedMemory {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: Arc<rusqlite::Error>,
    },
    /// The linked SQLite can lose commits when several processes share a database.
    #[error("SQLite {found} is linked, and 3.51.3 or later is needed")]
    OldSqlite {
        /// The linked version.
        found: &'static str,
    },
    /// SQLite refused a statement for another reason.
    #[error("the database {} could not be used", path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: Arc<rusqlite::Error>,
    },
    /// The writer thread could not be started, or has ended.
    #[error("the database {} cannot be written by this process any more", path.display())]
    NoWriter {
        /// The database.
        path: PathBuf,
    },
    /// No run has that id.
    #[error("there is no run {run}")]
    NoSuchRun {
        /// The id.
        run: RunId,
    },
    /// No project has that id or UUID.
    #[error("there is no project {project}")]
    NoSuchProject {
        /// What was looked for.
        project: String,
    },
    /// The run has no such question.
    #[error("run {run} has no question {question}")]
    NoSuchQuestion {
        /// The run.
        run: RunId,
        /// The question's number.
        question: u64,
    },
    /// Another process has taken the run over; nothing was written.
    #[error("run {run} was taken over by another process (epoch {current}, not {epoch})")]
    StaleEpoch {
        /// The run.
        run: RunId,
        /// The epoch of the caller.
        epoch: u64,
        /// The epoch of the run.
        current: u64,
    },
    /// The run cannot make that step.
    #[error("run {run} cannot change that way")]
    Transition {
        /// The run.
        run: RunId,
        /// Which step.
        source: InvalidTransition,
    },
    /// The run is not one that can be taken over.
    #[error("run {run} is `{}`{} and cannot be taken over", status.as_str(), by(*owner))]
    NotFree {
        /// The run.
        run: RunId,
        /// Where it stands.
        status: RunStatus,
        /// The process that owns it, if one does.
        owner: Option<u32>,
    },
    /// Somebody else was first.
    #[error("question {question} of run {run} was answered by {by} before")]
    AlreadyAnswered {
        /// The run.
        run: RunId,
        /// The question's number.
        question: u64,
        /// Who answered.
        by: String,
        /// When.
        at: TimestampMs,
    },
    /// The run has ended, or has not begun.
    #[error("run {run} is `{}` and waits for no answer", status.as_str())]
    NotWaiting {
        /// The run.
        run: RunId,
        /// Where it stands.
        status: RunStatus,
    },
    /// The project's UUID is registered for another folder that still has it.
    #[error("{} is a copy of {}, which is registered as {project}", path.display(), registered.display())]
    Copy {
        /// The folder that was to be added.
        path: PathBuf,
        /// The folder that is registered.
        registered: PathBuf,
        /// The registered project's id.
        project: String,
    },
    /// The project has runs that are queued or running.
    #[error("project {project} has {} unfinished run{}, the first is {}", runs.len(), if runs.len() == 1 { "" } else { "s" }, runs.first().map_or("", RunId::as_str))]
    Running {
        /// The project.
        project: String,
        /// Its queued and running runs, at most 100.
        runs: Vec<RunId>,
    },
    /// Somebody else wrote the value in between.
    #[error("the value `{name}` has changed in between (version {current}, not {seen})")]
    Conflict {
        /// The value's name.
        name: String,
        /// The version the caller had seen.
        seen: u64,
        /// The version there is.
        current: u64,
    },
    /// Something is longer than the store takes.
    #[error("{what} is too large: {size} bytes, and at most {most} are kept")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        most: usize,
    },
    /// A value cannot be written as JSON or cannot be kept for another reason.
    #[error("{what} cannot be stored")]
    Unstorable {
        /// What it is and why.
        what: String,
    },
}

fn by(process: Option<u32>) -> String {
    process.map_or_else(String::new, |process| format!(" by process {process}"))
}

impl StoreError {
    /// Makes a file error.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source: Arc::new(source) }
    }

    /// Tells whether the same request may succeed a little later.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Locked { .. })
    }

    /// Gives SQLite's error its meaning for the database at `path`.
    pub(crate) fn sql(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let (code, extended) = match &error {
            rusqlite::Error::SqliteFailure(failure, _) => (Some(failure.code), failure.extended_code),
            rusqlite::Error::SqlInputError { error: failure, .. } => (Some(failure.code), failure.extended_code),
            // A column of the wrong type or a value out of range: nothing we have written.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => {
                return Self::Damaged { path, what: error.to_string() };
            }
            _ => (None, 0),
        };
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                let holder = crate::lock_holder::of(&path);
                Self::Locked { path, holder }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Corrupt { path, source: Arc::new(error) },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Unreadable { path, source: Arc::new(error) }
            }
            Some(ErrorCode::FileLockingProtocolFailed) => Self::NoSharedMemory { path, source: Arc::new(error) },
            Some(ErrorCode::SystemIoFailure)
                if matches!(
                    extended,
                    ffi::SQLITE_IOERR_SHMOPEN
                        | ffi::SQLITE_IOERR_SHMMAP
                        | ffi::SQLITE_IOERR_SHMLOCK
                        | ffi::SQLITE_IOERR_SHMSIZE
                ) =>
            {
                // Growing the shared memory file fails on a full disk as well, which is the likelier cause then.
                if crate::files::is_full(&path) {
                    Self::Full { path }
                } else {
                    Self::NoSharedMemory { path, source: Arc::new(error) }
                }
            }
            _ => Self::Sql { path, source: Arc::new(error) },
        }
    }
}
