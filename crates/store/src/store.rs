//! The handle that everyone holds.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{Clock, IdSource, SystemClock, SystemIds, TimestampMs};
use serde_json::Value;

use crate::body::{Sealer, Stored};
use crate::connection::BUSY_WAIT;
use crate::database::{Create, Database, Outcome};
use crate::schema::{HISTORY, Schema};
use crate::{Masker, Owner, Result};

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The end of any process, however sudden.
    Process,
    /// The end of any process, and after 100 ms a loss of power.
    Soon,
    /// A loss of power, from the moment it is acknowledged. Costs a wait for the disk.
    Power,
}

/// How a store is opened, and what it takes from outside.
#[derive(Clone)]
pub struct StoreOptions {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn IdSource>,
    /// Whether to make a database where there is none.
    pub create: Create,
    /// How long a statement waits for other processes; 10 s unless a test needs it shorter.
    pub patience: Duration,
    /// Tells whether an owner lives; [`Owner::is_alive`] unless a test pretends.
    pub is_alive: Arc<dyn Fn(&Owner) -> bool + Send + Sync>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            create: Create::IfMissing,
            patience: BUSY_WAIT,
            is_alive: Arc::new(Owner::is_alive),
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreOptions")
            .field("create", &self.create)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// The registry and history in one database. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct Store {
    pub(crate) database: Arc<Database>,
    pub(crate) options: Arc<StoreOptions>,
    masker: Masker,
    sealer: Option<Arc<dyn Sealer>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl Store {
    /// Returns a store on the database at `path`. Nothing is opened before the first request, which then reports what
    /// [`Store::check`] would.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, options: StoreOptions) -> Self {
        Self::with_schema(path.into(), HISTORY, options)
    }

    pub(crate) fn with_schema(path: PathBuf, schema: Schema, options: StoreOptions) -> Self {
        Self {
            database: Arc::new(Database::new(path, schema, options.create, options.patience)),
            options: Arc::new(options),
            masker: Masker::default(),
            sealer: None,
        }
    }

    /// Opens the database at `path`: creates or migrates it if need be.
    ///
    /// # Errors
    ///
    /// Says why the database cannot be used; a database that is refused is left untouched.
    pub fn open(path: impl Into<PathBuf>, options: StoreOptions) -> Result<Self> {
        let store = Self::new(path, options);
        store.check()?;
        Ok(store)
    }

    /// Opens the database if it is not open yet.
    ///
    /// # Errors
    ///
    /// Says why the database cannot be used.
    pub fn check(&self) -> Result<()> {
        self.database.read(|_| Ok(()))
    }

    /// Opens the database as whoever records does, and changes nothing in it: tells whether this build may write.
    ///
    /// # Errors
    ///
    /// Says why nothing can be recorded: [`StoreError::TooNew`] when later builds want writers that know more,
    /// [`StoreError::ReadOnly`], and those of [`Store::check`].
    pub fn check_writable(&self) -> Result<()> {
        self.database.check_writable()
    }

    /// Reads the whole database and returns what is damaged in it, one sentence each. Takes seconds for a large one.
    ///
    /// # Errors
    ///
    /// The database could not be read at all.
    pub fn integrity(&self) -> Result<Vec<String>> {
        // A connection of its own: the full-text index is looked at as the connection remembers it, and one that is older
        // than somebody else's last merge remembers parts that are gone.
        let connection = self.database.reader()?;
        damage(&connection).map_err(|fault| fault.at(self.path()))
    }

    /// Returns a handle that takes these secrets out of everything it records. It shares all else with this one.
    #[must_use]
    pub fn masked(&self, masker: Masker) -> Self {
        Self { masker, ..self.clone() }
    }

    /// Returns a handle that seals what must be kept for resuming and holds a secret (input, journal, answers, code).
    /// Without a sealer such things are kept masked only.
    #[must_use]
    pub fn sealing(&self, sealer: Arc<dyn Sealer>) -> Self {
        Self { sealer: Some(sealer), ..self.clone() }
    }

    /// Returns what masks for this handle, for results that are shown without being recorded.
    #[must_use]
    pub fn masker(&self) -> &Masker {
        &self.masker
    }

    /// Returns where the database is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// Returns the schema number of this build.
    #[must_use]
    pub fn schema_number(&self) -> i64 {
        self.database.place.schema.number()
    }

    /// Returns the present moment by this store's clock, by which everything in it is dated.
    #[must_use]
    pub fn now(&self) -> TimestampMs {
        self.options.clock.now()
    }

    /// Returns clock, ids and what tells the living from the dead, for the writer thread. A job must not hold the store
    /// itself: it could be the last to do so, and the writer cannot wait for its own end.
    pub(crate) fn outside(&self) -> Arc<StoreOptions> {
        Arc::clone(&self.options)
    }

    pub(crate) fn sealer(&self) -> Option<&dyn Sealer> {
        self.sealer.as_deref()
    }

    /// Encodes a value for showing, and a second time sealed when masking has changed it.
    pub(crate) fn keep(&self, value: &Value) -> Kept {
        let masked = self.masker.mask_json(value);
        let text = masked.to_string();
        let sealed = match &self.sealer {
            Some(sealer) if !self.masker.is_empty() && masked != *value => {
                Some(Stored::sealed(value.to_string().as_bytes(), sealer.as_ref()))
            }
            Some(_) | None => None,
        };
        Kept { stored: Stored::new(text.as_bytes()), text, sealed }
    }

    /// Encodes a text that a resumed run must get back as it was: as it is when it holds no secret, else sealed, or
    /// masked where there is no sealer.
    pub(crate) fn keep_whole(&self, text: &str) -> Stored {
        match (self.masker.mask(text), &self.sealer) {
            (std::borrow::Cow::Borrowed(_), _) => Stored::new(text.as_bytes()),
            (std::borrow::Cow::Owned(_), Some(sealer)) => Stored::sealed(text.as_bytes(), sealer.as_ref()),
            (std::borrow::Cow::Owned(masked), None) => Stored::new(masked.as_bytes()),
        }
    }
}

/// Says what is damaged.
fn damage(connection: &rusqlite::Connection) -> Outcome<Vec<String>> {
    let mut said: Vec<String> = connection
        .prepare("PRAGMA integrity_check(20)")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    said.retain(|line| line != "ok");
    let strangers: Vec<String> = connection
        .prepare("PRAGMA foreign_key_check")?
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<_>>()?;
    said.extend(strangers.into_iter().take(20).map(|table| format!("a row of `{table}` belongs to nothing")));
    Ok(said)
}

/// A value as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// The masked JSON text.
    pub(crate) text: String,
    /// The same, encoded.
    pub(crate) stored: Stored,
    /// The value as it was, when it held a secret and can be sealed.
    pub(crate) sealed: Option<Stored>,
}
