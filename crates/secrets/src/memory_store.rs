//! A store that lives as long as the process; for tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::store::check_key;
use crate::{Result, Secret, SecretStore, ServerUrl, StoreKind};

/// Keys in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<String, Secret>>);

impl MemoryStore {
    /// Makes an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl SecretStore for MemoryStore {
    fn kind(&self) -> StoreKind {
        StoreKind::Memory
    }

    fn get(&self, server: &ServerUrl) -> Result<Option<Secret>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(server.as_str()).cloned())
    }

    fn set(&self, server: &ServerUrl, key: &Secret) -> Result<()> {
        check_key(key)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(server.as_str().to_owned(), key.clone());
        Ok(())
    }

    fn delete(&self, server: &ServerUrl) -> Result<bool> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(server.as_str()).is_some())
    }

    fn probe(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn tells_the_story() {
        crate::store::story::run(&super::MemoryStore::new());
    }
}
