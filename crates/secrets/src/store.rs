//! One trait for all places a key can live.

use crate::{Error, Result, Secret, ServerUrl};

/// The longest key, in bytes: what the narrowest keyring (Windows) takes with room to spare.
pub const KEY_BYTES: usize = 2_048;

/// Which kind of store it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// The operating system's keyring.
    Keyring,
    /// A file for its owner only.
    File,
    /// Memory, gone with the process.
    Memory,
}

impl StoreKind {
    /// Returns `keyring`, `file` or `memory`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keyring => "keyring",
            Self::File => "file",
            Self::Memory => "memory",
        }
    }
}

/// A place for keys, each under the server it belongs to: a saved key can never be asked for with another server's address.
///
/// All calls block, the keyring's for seconds when a person is asked; never call one on an async worker.
pub trait SecretStore: Send + Sync {
    /// Returns which kind it is.
    fn kind(&self) -> StoreKind;

    /// Returns the key of a server, `None` when none is saved.
    ///
    /// # Errors
    /// The store cannot be reached or read; see [`Error`] for the cases that a person can mend.
    fn get(&self, server: &ServerUrl) -> Result<Option<Secret>>;

    /// Saves the key of a server in the place of an older one.
    ///
    /// # Errors
    /// [`Error::Value`] for a key that cannot be kept, else as [`SecretStore::get`].
    fn set(&self, server: &ServerUrl, key: &Secret) -> Result<()>;

    /// Removes the key of a server and returns whether there was one.
    ///
    /// # Errors
    /// As [`SecretStore::get`].
    fn delete(&self, server: &ServerUrl) -> Result<bool>;

    /// Tries the store with a write, a read and a delete of an entry of its own. A read alone proves nothing: a keyring
    /// without a collection answers it well.
    ///
    /// # Errors
    /// What would fail for a real key, and [`Error::Unreliable`].
    fn probe(&self) -> Result<()>;
}

/// Refuses keys that some store or an HTTP header could not hold.
pub(crate) fn check_key(key: &Secret) -> Result<()> {
    let text = key.expose();
    let reason = if text.is_empty() {
        "it is empty"
    } else if text.len() > KEY_BYTES {
        "it is longer than 2,048 bytes"
    } else if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        "it has blanks, control characters or letters beyond ASCII"
    } else {
        return Ok(());
    };
    Err(Error::Value { reason })
}

#[cfg(test)]
pub(crate) mod story {
    use super::*;

    /// What every store must do, in one story.
    pub(crate) fn run(store: &dyn SecretStore) {
        let one = ServerUrl::parse("https://one.example/v1").unwrap();
        let two = ServerUrl::parse("https://two.example").unwrap();
        assert!(store.get(&one).unwrap().is_none());
        assert!(!store.delete(&one).unwrap());
        store.probe().unwrap();
        assert!(store.get(&one).unwrap().is_none(), "a probe leaves nothing");
        store.set(&one, &Secret::from("key-1")).unwrap();
        assert_eq!(store.get(&one).unwrap().unwrap().expose(), "key-1");
        assert!(store.get(&two).unwrap().is_none(), "a key belongs to its server");
        assert!(!store.delete(&two).unwrap());
        store.set(&one, &Secret::from("key-2")).unwrap();
        assert_eq!(store.get(&one).unwrap().unwrap().expose(), "key-2");
        store.probe().unwrap();
        assert_eq!(store.get(&one).unwrap().unwrap().expose(), "key-2", "a probe changes nothing");
        let long = Secret::from("k".repeat(KEY_BYTES));
        store.set(&one, &long).unwrap();
        assert_eq!(store.get(&one).unwrap().unwrap().expose(), long.expose());
        for bad in ["", "a b", "a\nb: c", "ключ", &"k".repeat(KEY_BYTES + 1)] {
            assert!(matches!(store.set(&one, &Secret::from(bad)), Err(Error::Value { .. })));
        }
        assert!(store.delete(&one).unwrap());
        assert!(!store.delete(&one).unwrap());
        assert!(store.get(&one).unwrap().is_none());
    }
}
