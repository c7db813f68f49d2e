//! What workflows keep between runs: key-value pairs, PersistentValues, knowledge. One database in each folder.
//!
//! Nothing is masked here: this is the workflows' own data, which they must get back as they gave it.

mod knowledge;
mod kv;
mod values;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::database::Database;
use crate::schema::DATA;
use crate::{Result, StoreError, StoreOptions};

pub use knowledge::{Knowledge, KnowledgeHit, NewKnowledge};
#[cfg(test)]
pub(crate) use knowledge::{LIST as KNOWLEDGE_LIST, SEARCH as KNOWLEDGE_SEARCH};
pub use kv::KvEntry;
#[cfg(test)]
pub(crate) use kv::LIST as KV_LIST;
pub use values::Versioned;

/// Bytes of one value as JSON.
const VALUE_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of a key or name.
const KEY_BYTES: usize = 1_024;

/// The database in one data folder. Cheap to clone; clones share connections. Nothing is opened before the first
/// request.
#[derive(Clone)]
pub struct DataStore {
    database: Arc<Database>,
    options: Arc<StoreOptions>,
}

impl fmt::Debug for DataStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DataStore").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl DataStore {
    /// Returns the store of a data folder; its database is `data.db` in it.
    #[must_use]
    pub fn new(folder: &Path, options: StoreOptions) -> Self {
        let database = Database::new(folder.join("data.db"), DATA, options.create, options.patience);
        Self { database: Arc::new(database), options: Arc::new(options) }
    }

    /// Returns where the database is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.database.path()
    }
}

fn checked(what: &'static str, text: &str, most: usize) -> Result<()> {
    if text.len() > most { Err(StoreError::TooLarge { what, size: text.len(), most }) } else { Ok(()) }
}
