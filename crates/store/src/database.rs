//! One opened database: a lazily started writer, a few lazily opened readers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::connection;
use crate::files;
use crate::schema::Schema;
use crate::writer::Writer;
use crate::{Durability, Result, StoreError};

/// Reader connections kept for the next query.
const READERS: usize = 3;

/// What goes wrong inside a query: SQLite's word, or the store's own.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
    /// A record is damaged in this way.
    Damaged(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// Adds where it happened.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Sql(error) => StoreError::sql(path, error),
            Self::Store(error) => error,
            Self::Damaged(what) => StoreError::Damaged { path: path.to_owned(), what },
        }
    }
}

/// A result inside a query.
pub(crate) type Outcome<T> = std::result::Result<T, Fault>;

/// Whether a database is made when there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// Make the folder and the file.
    IfMissing,
    /// Report [`StoreError::Missing`].
    Never,
}

/// Where a database is and how it is opened.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) schema: Schema,
    pub(crate) patience: Duration,
    create: Create,
    /// Whether the file was found to be ours and up to date.
    checked: Mutex<bool>,
}

impl Place {
    /// Opens a connection, and sees to file and schema when it is the first one.
    pub(crate) fn connect(&self) -> Result<Connection> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if !*checked {
            if self.create == Create::Never && !self.path.exists() {
                return Err(StoreError::Missing { path: self.path.clone() });
            }
            files::prepare(&self.path)?;
        }
        let mut connection = connection::connect(&self.path, self.patience)?;
        if !*checked {
            self.schema.ensure(&mut connection, &self.path)?;
            *checked = true;
        }
        Ok(connection)
    }
}

impl Place {
    /// A file that cannot be opened for writing because of its drive or its permissions is said to be read-only.
    pub(crate) fn explained(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Unreadable { path, .. } if path.exists() && !files::is_writable(&path) => {
                StoreError::ReadOnly { path }
            }
            error => error,
        }
    }
}

/// One database.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) place: Arc<Place>,
    readers: Mutex<Vec<Connection>>,
    writer: Mutex<Option<Arc<Writer>>>,
}

impl Database {
    /// Remembers where the database is; nothing is opened yet.
    pub(crate) fn new(path: PathBuf, schema: Schema, create: Create, patience: Duration) -> Self {
        let place = Place { path, schema, patience, create, checked: Mutex::new(false) };
        Self { place: Arc::new(place), readers: Mutex::default(), writer: Mutex::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.place.path
    }

    /// Opens a connection that only reads.
    pub(crate) fn reader(&self) -> Result<Connection> {
        let connection = self.place.connect().or_else(|error| self.read_only(error))?;
        connection.execute_batch("PRAGMA query_only = ON").map_err(|error| StoreError::sql(self.path(), error))?;
        Ok(connection)
    }

    /// Tells whether this build may write here; changes nothing.
    pub(crate) fn check_writable(&self) -> Result<()> {
        let connection = self.place.connect().map_err(|error| self.place.explained(error))?;
        // A file that cannot be written is opened for reading without a word.
        if connection.is_readonly("main").map_err(|error| StoreError::sql(self.path(), error))? {
            return Err(StoreError::ReadOnly { path: self.path().to_owned() });
        }
        self.place.schema.check_writer(&connection, self.path())
    }

    /// A database on a drive that cannot be written has no memory to share with writers, and needs none.
    fn read_only(&self, error: StoreError) -> Result<Connection> {
        let path = self.path();
        let writable = files::is_writable(path);
        let log = std::fs::metadata(files::beside(path, "-wal")).map_or(0, |metadata| metadata.len());
        match error {
            StoreError::Unreadable { .. } | StoreError::ReadOnly { .. } if !writable && log == 0 => {
                let mut connection = connection::connect_immutable(path)?;
                self.place.schema.ensure(&mut connection, path)?;
                Ok(connection)
            }
            error => Err(error),
        }
    }

    /// Runs a query.
    pub(crate) fn read<T>(&self, query: impl FnOnce(&Connection) -> Outcome<T>) -> Result<T> {
        let pooled = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => self.reader()?,
        };
        let outcome = query(&connection).map_err(|fault| fault.at(self.path()));
        if connection.is_autocommit() {
            let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
            if readers.len() < READERS {
                readers.push(connection);
            }
        }
        outcome
    }

    /// Runs several queries that see one state of the database.
    pub(crate) fn read_together<T>(&self, query: impl FnOnce(&Connection) -> Outcome<T>) -> Result<T> {
        self.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let outcome = query(&transaction);
            transaction.finish()?;
            outcome
        })
    }

    /// Runs `work` in a transaction and returns once it is committed. `work` may run twice, so it must not change what
    /// it has captured.
    pub(crate) fn write<T, F>(&self, durability: Durability, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&Connection) -> Outcome<T> + Send + 'static,
    {
        let writer = {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            match &*writer {
                Some(writer) => Arc::clone(writer),
                None => Arc::clone(writer.insert(Arc::new(Writer::start(Arc::clone(&self.place))?))),
            }
        };
        let answer = writer.send(durability, work).and_then(|answer| answer.recv().ok());
        answer.unwrap_or_else(|| {
            // The thread is gone. The next write starts another.
            let mut current = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &writer)) {
                *current = None;
            }
            Err(StoreError::NoWriter { path: self.path().to_owned() })
        })
    }
}
