//! The operating system's keyring.
//!
//! Each call runs in a thread of its own with a limit: a locked keyring shows a prompt that nobody may answer, and blocking
//! D-Bus calls must not run on an async worker. On free Unix systems each call makes its own connection, so a service that
//! appears later is found. Nothing is connected before the first call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::store::check_key;
use crate::{Error, Result, Secret, SecretStore, ServerUrl, StoreKind};

/// How long a launcher waits for the keyring.
const PATIENCE: Duration = Duration::from_secs(3);
/// Calls left hanging before a prompt, after which further ones are refused without trying.
const HANGING: usize = 4;
/// The entry that [`SecretStore::probe`] writes; no server's address looks like it.
const PROBE: &str = "probe";

/// Returns the keyring's service name for a profile: `dev.workflow-code`, with the profile's name unless it is `default`.
#[must_use]
pub fn keyring_service(profile: &str) -> String {
    if profile == "default" { String::from("dev.workflow-code") } else { format!("dev.workflow-code/{profile}") }
}

/// Keys in the operating system's keyring.
#[derive(Debug, Clone)]
pub struct KeyringStore {
    service: String,
    patience: Duration,
    hanging: Arc<AtomicUsize>,
}

impl KeyringStore {
    /// Names the service; nothing is connected yet. Calls wait three seconds at most.
    #[must_use]
    pub fn new(service: impl Into<String>) -> Self {
        Self { service: service.into(), patience: PATIENCE, hanging: Arc::default() }
    }

    /// Sets how long a call waits; longer where a person sits before the prompt.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs `job` in a thread and waits for it as long as patience goes.
    fn ask<T: Send + 'static>(&self, job: impl FnOnce(&str) -> Result<T> + Send + 'static) -> Result<T> {
        let locked = || Error::Locked { seconds: self.patience.as_secs() };
        if self.hanging.load(Ordering::SeqCst) >= HANGING {
            return Err(locked());
        }
        let call = Arc::new(AtomicBool::new(false));
        let end = End { left_alone: Arc::clone(&call), hanging: Arc::clone(&self.hanging) };
        let service = self.service.clone();
        let (sender, receiver) = mpsc::sync_channel(1);
        let started = thread::Builder::new().name(String::from("keyring")).spawn(move || {
            let _end = end;
            // Nobody listens any more when patience has ended.
            let _ = sender.send(job(&service));
        });
        started.map_err(|source| Error::Keyring { source: Box::new(source) })?;
        match receiver.recv_timeout(self.patience) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => {
                self.hanging.fetch_add(1, Ordering::SeqCst);
                if call.swap(true, Ordering::SeqCst) {
                    // It ended at this very moment.
                    self.hanging.fetch_sub(1, Ordering::SeqCst);
                }
                Err(locked())
            }
            // The job panicked: a fault of a library, which must not become ours.
            Err(RecvTimeoutError::Disconnected) => {
                Err(Error::Keyring { source: "the keyring's library failed".into() })
            }
        }
    }
}

/// The end of a call's thread, however it comes: a call that was left alone counts as hanging until then.
struct End {
    left_alone: Arc<AtomicBool>,
    hanging: Arc<AtomicUsize>,
}

impl Drop for End {
    fn drop(&mut self) {
        if self.left_alone.swap(true, Ordering::SeqCst) {
            self.hanging.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl SecretStore for KeyringStore {
    fn kind(&self) -> StoreKind {
        StoreKind::Keyring
    }

    fn get(&self, server: &ServerUrl) -> Result<Option<Secret>> {
        let user = server.as_str().to_owned();
        self.ask(move |service| read(&platform::Entry::new(service, &user)?))
    }

    fn set(&self, server: &ServerUrl, key: &Secret) -> Result<()> {
        check_key(key)?;
        let (user, key) = (server.as_str().to_owned(), key.clone());
        self.ask(move |service| platform::Entry::new(service, &user)?.set(key.expose().as_bytes()))
    }

    fn delete(&self, server: &ServerUrl) -> Result<bool> {
        let user = server.as_str().to_owned();
        self.ask(move |service| platform::Entry::new(service, &user)?.delete())
    }

    fn probe(&self) -> Result<()> {
        self.ask(|service| {
            // Two processes may probe at once: each has its own entry.
            let user = format!("{PROBE}-{}", std::process::id());
            let entry = platform::Entry::new(service, &user)?;
            entry.set(b"probe")?;
            let found = read(&entry);
            entry.delete()?;
            match found? {
                Some(value) if value.expose() == "probe" => Ok(()),
                _ => Err(Error::Unreliable),
            }
        })
    }
}

fn read(entry: &platform::Entry) -> Result<Option<Secret>> {
    let Some(bytes) = entry.get()?.map(Zeroizing::new) else { return Ok(None) };
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Some(Secret::from(text))),
        // Somebody else's entry under our name.
        Err(_) => Err(Error::Unreliable),
    }
}

/// The Secret Service over D-Bus.
#[cfg(all(unix, not(any(target_os = "macos", target_os = "ios", target_os = "android"))))]
mod platform {
    use std::sync::Arc;

    use keyring_core::Error as CoreError;
    use keyring_core::api::CredentialStoreApi as _;
    use zbus_secret_service_keyring_store::Store;

    use crate::{Error, Result};

    /// An entry and the connection it lives on.
    pub(super) struct Entry {
        entry: keyring_core::Entry,
        _store: Arc<Store>,
    }

    impl Entry {
        pub(super) fn new(service: &str, user: &str) -> Result<Self> {
            let store = Store::new().map_err(|source| Error::NoService { source: Box::new(source) })?;
            let entry = store.build(service, user, None).map_err(translate)?;
            Ok(Self { entry, _store: store })
        }

        pub(super) fn get(&self) -> Result<Option<Vec<u8>>> {
            match self.entry.get_secret() {
                Ok(bytes) => Ok(Some(bytes)),
                Err(CoreError::NoEntry) => Ok(None),
                Err(error) => Err(translate(error)),
            }
        }

        pub(super) fn set(&self, bytes: &[u8]) -> Result<()> {
            self.entry.set_secret(bytes).map_err(translate)
        }

        pub(super) fn delete(&self) -> Result<bool> {
            match self.entry.delete_credential() {
                Ok(()) => Ok(true),
                Err(CoreError::NoEntry) => Ok(false),
                Err(error) => Err(translate(error)),
            }
        }
    }

    fn translate(error: CoreError) -> Error {
        let reason = match &error {
            CoreError::NoStorageAccess(cause) => cause.downcast_ref::<secret_service::Error>(),
            _ => None,
        };
        match (reason, &error) {
            (Some(secret_service::Error::NoResult), _) => Error::NoKeyring { source: Box::new(error) },
            (Some(secret_service::Error::Locked), _) => Error::Locked { seconds: 0 },
            (_, CoreError::NoStorageAccess(_)) => Error::Denied { source: Box::new(error) },
            (_, CoreError::NoDefaultStore) => Error::NoService { source: Box::new(error) },
            _ => Error::Keyring { source: Box::new(error) },
        }
    }
}

/// The keychain of macOS and the Credential Manager of Windows.
#[cfg(not(all(unix, not(any(target_os = "macos", target_os = "ios", target_os = "android")))))]
mod platform {
    use keyring::Error as CoreError;

    use crate::{Error, Result};

    /// An entry.
    pub(super) struct Entry(keyring::Entry);

    impl Entry {
        pub(super) fn new(service: &str, user: &str) -> Result<Self> {
            keyring::Entry::new(service, user).map(Self).map_err(translate)
        }

        pub(super) fn get(&self) -> Result<Option<Vec<u8>>> {
            match self.0.get_secret() {
                Ok(bytes) => Ok(Some(bytes)),
                Err(CoreError::NoEntry) => Ok(None),
                Err(error) => Err(translate(error)),
            }
        }

        pub(super) fn set(&self, bytes: &[u8]) -> Result<()> {
            self.0.set_secret(bytes).map_err(translate)
        }

        pub(super) fn delete(&self) -> Result<bool> {
            match self.0.delete_credential() {
                Ok(()) => Ok(true),
                Err(CoreError::NoEntry) => Ok(false),
                Err(error) => Err(translate(error)),
            }
        }
    }

    fn translate(error: CoreError) -> Error {
        match error {
            CoreError::NoDefaultStore => Error::NoService { source: Box::new(error) },
            CoreError::NoStorageAccess(_) => Error::Denied { source: Box::new(error) },
            other => Error::Keyring { source: Box::new(other) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::Receiver;
    use std::time::Instant;

    #[test]
    fn profiles_have_services_of_their_own() {
        assert_eq!(keyring_service("default"), "dev.workflow-code");
        assert_eq!(keyring_service("dev"), "dev.workflow-code/dev");
    }

    #[test]
    fn prompts_that_nobody_answers_do_not_pile_up() {
        let store = KeyringStore::new("x").with_patience(Duration::from_millis(20));
        let (release, wait) = mpsc::channel::<()>();
        let wait: Arc<Mutex<Receiver<()>>> = Arc::new(Mutex::new(wait));
        let hang = || {
            let wait = Arc::clone(&wait);
            store.ask(move |_| {
                // Ends when the sender goes.
                let _ = wait.lock().map(|wait| wait.recv());
                Ok(())
            })
        };
        for _ in 0..10 {
            assert!(matches!(hang(), Err(Error::Locked { .. })));
        }
        assert_eq!(store.hanging.load(Ordering::SeqCst), HANGING);
        assert!(matches!(store.ask(|_| Ok(())), Err(Error::Locked { .. })));
        drop(release);
        let start = Instant::now();
        while store.hanging.load(Ordering::SeqCst) > 0 {
            assert!(start.elapsed() < Duration::from_secs(10), "the threads end");
            thread::yield_now();
        }
        assert!(store.with_patience(Duration::from_secs(10)).ask(|_| Ok(())).is_ok());
    }

    #[test]
    fn a_library_that_panics_is_an_error() {
        let store = KeyringStore::new("x");
        let failed = store.ask(|_| -> Result<()> { panic!("not ours") });
        assert!(matches!(failed, Err(Error::Keyring { .. })));
        assert_eq!(store.hanging.load(Ordering::SeqCst), 0);
    }
}
