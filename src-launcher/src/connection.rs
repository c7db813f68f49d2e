//! Where the connection comes from: the environment, a project's `.env`, the window's login, the terminal's login.
//!
//! Which of them holds is decided in `secrets`. Here: where the logins are, and asking the keyring only when a run is
//! given the key.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use project::EnvFile;
use runtime::{Connection, ConnectionSource};
use secrets::{Given, KeyPlace, KeyringStore, SavedKey, SavedLogin, Secret, SecretStore, ServerUrl, Source, Sources};

use crate::env_vars;
use crate::failure::with_causes;
use crate::invocation;

/// Finds the connection of one project's runs.
pub(crate) struct SavedConnection {
    environment: Given,
    logins: Logins,
    keyring: Box<dyn SecretStore>,
    /// The keyring's last answer: it holds until the login's file changes.
    fetched: Mutex<Option<Fetched>>,
}

struct Fetched {
    url: ServerUrl,
    changed: Option<SystemTime>,
    key: Secret,
}

/// The folders that logins are saved in.
#[derive(Debug, Clone)]
pub(crate) struct Logins {
    /// The window's.
    pub(crate) desktop: Option<PathBuf>,
    /// That of `auth login`.
    pub(crate) auth: PathBuf,
}

impl Logins {
    /// Puts the defaults in place of what no option says.
    pub(crate) fn new(desktop: Option<&Path>, auth: Option<&Path>, data: &Path) -> Self {
        let desktop = desktop.map(Path::to_owned).or_else(|| {
            directories::ProjectDirs::from("dev", "", "workflow-code").map(|dirs| dirs.config_dir().to_owned())
        });
        Self { desktop, auth: auth.unwrap_or(data).to_owned() }
    }

    /// Reads both. One that cannot be used counts as none, and is told of.
    pub(crate) fn read(&self) -> (Option<SavedLogin>, Option<SavedLogin>, Vec<String>) {
        let mut notes = Vec::new();
        let mut read = |folder: Option<&Path>| match folder.map(secrets::saved_login) {
            Some(Ok(login)) => {
                if login.as_ref().is_some_and(|login| login.tightened) {
                    notes.push("the saved login's file could be read by others, and was closed to them".into());
                }
                login
            }
            Some(Err(error)) => {
                notes.push(format!("a saved login is not used: {}", with_causes(&error)));
                None
            }
            None => None,
        };
        let (desktop, auth) = (read(self.desktop.as_deref()), read(Some(&self.auth)));
        (desktop, auth, notes)
    }
}

/// The pair of the process environment.
pub(crate) fn given_by_environment() -> Given {
    Given { url: env_vars::get(env_vars::SERVER_URL), key: env_vars::get(env_vars::SERVER_ADMIN_KEY).map(Secret::from) }
}

/// The pair of a project's `.env`.
pub(crate) fn given_by_file(file: &EnvFile) -> Given {
    Given {
        url: file.get(env_vars::SERVER_URL).map(str::to_owned),
        key: file.get(env_vars::SERVER_ADMIN_KEY).map(Secret::from),
    }
}

/// The keyring as servers and commands use it.
pub(crate) fn keyring(profile: &str) -> KeyringStore {
    KeyringStore::new(secrets::keyring_service(profile))
}

impl SavedConnection {
    /// Names the places; nothing is read, and no keyring asked.
    pub(crate) fn new(environment: Given, logins: Logins, keyring: impl SecretStore + 'static) -> Self {
        Self { environment, logins, keyring: Box::new(keyring), fetched: Mutex::default() }
    }

    fn sources(&self, env_file: &EnvFile) -> (Sources, Vec<String>) {
        let (desktop, saved, notes) = self.logins.read();
        let sources =
            Sources { environment: self.environment.clone(), dot_env: given_by_file(env_file), desktop, saved };
        (sources, notes)
    }

    /// When the login of this source was saved.
    fn changed(&self, source: Source) -> Option<SystemTime> {
        let folder = match source {
            Source::Desktop => self.logins.desktop.as_deref()?,
            Source::Saved => &self.logins.auth,
            Source::Environment | Source::DotEnv => return None,
        };
        std::fs::metadata(folder.join(secrets::AUTH_FILE)).ok()?.modified().ok()
    }

    /// Takes the key from the keyring, or from its last answer.
    fn fetch(&self, url: &ServerUrl, source: Source) -> Result<Option<Secret>, String> {
        let changed = self.changed(source);
        // Held while the keyring is asked: calls that come together show one prompt.
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = fetched.as_ref().filter(|last| last.url == *url && last.changed == changed) {
            return Ok(Some(last.key.clone()));
        }
        let key = self.keyring.get(url).map_err(|error| {
            format!("{}; unlock it, or see `{}`", with_causes(&error), invocation::command(&["auth", "status"]))
        })?;
        *fetched = key.clone().map(|key| Fetched { url: url.clone(), changed, key });
        Ok(key)
    }
}

impl std::fmt::Debug for SavedConnection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SavedConnection").field("logins", &self.logins).finish_non_exhaustive()
    }
}

impl ConnectionSource for SavedConnection {
    fn keys_at_hand(&self, env_file: &EnvFile) -> Vec<String> {
        let (sources, _) = self.sources(env_file);
        let saved = [sources.desktop, sources.saved].into_iter().flatten().filter_map(|login| match login.key {
            SavedKey::File(key) => Some(key),
            SavedKey::Keyring => None,
        });
        let given = [sources.environment.key, sources.dot_env.key].into_iter().flatten();
        given.chain(saved).filter(|key| !key.is_empty()).map(|key| key.expose().to_owned()).collect()
    }

    fn origin(&self, env_file: &EnvFile) -> Option<String> {
        let (sources, _) = self.sources(env_file);
        secrets::resolve(&sources).resolved.map(|found| found.url.origin().to_owned())
    }

    fn find(&self, env_file: &EnvFile) -> Result<Option<Connection>, String> {
        let (sources, mut notes) = self.sources(env_file);
        let resolution = secrets::resolve(&sources);
        notes.extend(resolution.notes);
        for note in notes {
            tracing::warn!("connection: {note}");
        }
        let Some(found) = resolution.resolved else { return Ok(None) };
        let key = match &found.key {
            KeyPlace::None => None,
            KeyPlace::Here(key) => Some(key.clone()),
            KeyPlace::Keyring => Some(self.fetch(&found.url, found.source)?.ok_or_else(|| {
                format!(
                    "the keyring has no key for {}; log in again with `{}`",
                    found.url,
                    invocation::command(&["auth", "login", found.url.as_str()])
                )
            })?),
        };
        Ok(Some(Connection {
            url: found.url.as_str().to_owned(),
            origin: found.url.origin().to_owned(),
            key: key.map(|key| key.expose().to_owned()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use secrets::{LoginStore, MemoryStore, StoreKind};

    use super::*;

    /// A keyring that counts how often it is asked.
    #[derive(Default)]
    struct Counting {
        inner: MemoryStore,
        asked: Arc<AtomicUsize>,
    }

    impl SecretStore for Counting {
        fn kind(&self) -> StoreKind {
            StoreKind::Memory
        }

        fn get(&self, server: &ServerUrl) -> secrets::Result<Option<Secret>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.inner.get(server)
        }

        fn set(&self, server: &ServerUrl, key: &Secret) -> secrets::Result<()> {
            self.inner.set(server, key)
        }

        fn delete(&self, server: &ServerUrl) -> secrets::Result<bool> {
            self.inner.delete(server)
        }

        fn probe(&self) -> secrets::Result<()> {
            self.inner.probe()
        }
    }

    fn url(text: &str) -> ServerUrl {
        ServerUrl::parse(text).unwrap()
    }

    #[test]
    fn the_keyring_is_asked_by_the_first_run_that_needs_it_and_after_a_new_login() {
        let folder = tempfile::tempdir().unwrap();
        let keyring = Counting::default();
        let asked = Arc::clone(&keyring.asked);
        let server = url("https://one.example");
        secrets::login(folder.path(), &server, &Secret::from("key-1"), LoginStore::Keyring, &keyring).unwrap();
        let logins = Logins { desktop: None, auth: folder.path().to_owned() };
        let source = SavedConnection::new(Given::default(), logins, keyring);
        let file = EnvFile::default();
        assert_eq!(source.keys_at_hand(&file), Vec::<String>::new());
        assert_eq!(source.origin(&file).as_deref(), Some("https://one.example"));
        assert_eq!(asked.load(Ordering::SeqCst), 0);
        for _ in 0..3 {
            let found = source.find(&file).unwrap().unwrap();
            assert_eq!((found.url.as_str(), found.key.as_deref()), ("https://one.example", Some("key-1")));
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        source.keyring.set(&server, &Secret::from("key-2")).unwrap();
        std::fs::File::options()
            .write(true)
            .open(folder.path().join(secrets::AUTH_FILE))
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        assert_eq!(source.find(&file).unwrap().unwrap().key.as_deref(), Some("key-2"));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn every_key_at_hand_is_masked_and_one_pair_is_used() {
        let (desktop, auth) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let keyring = MemoryStore::default();
        let file = LoginStore::File;
        secrets::login(desktop.path(), &url("https://d.example"), &Secret::from("desk"), file, &keyring).unwrap();
        secrets::login(auth.path(), &url("https://a.example"), &Secret::from("auth"), file, &keyring).unwrap();
        let logins = Logins { desktop: Some(desktop.path().to_owned()), auth: auth.path().to_owned() };
        let source = SavedConnection::new(Given::default(), logins.clone(), keyring);
        let env = EnvFile::parse(b"WORKFLOW_SERVER_URL=http://evil.example\nWORKFLOW_SERVER_ADMIN_KEY=\n");
        let found = source.find(&env).unwrap().unwrap();
        assert_eq!((found.origin.as_str(), found.key), ("http://evil.example", None), "no saved key for a stranger");
        let env = EnvFile::parse(b"WORKFLOW_SERVER_URL=https://e.example\nWORKFLOW_SERVER_ADMIN_KEY=dotenv\n");
        assert_eq!(source.keys_at_hand(&env), ["dotenv", "desk", "auth"]);
        assert_eq!(source.find(&env).unwrap().unwrap().key.as_deref(), Some("dotenv"));
        assert_eq!(source.find(&EnvFile::default()).unwrap().unwrap().key.as_deref(), Some("desk"));
        let given = Given { url: Some("https://p.example/".into()), key: Some(Secret::from("process")) };
        let source = SavedConnection::new(given, logins, MemoryStore::default());
        assert_eq!(source.find(&env).unwrap().unwrap().key.as_deref(), Some("process"));
        std::fs::write(auth.path().join(secrets::AUTH_FILE), "{").unwrap();
        assert_eq!(source.keys_at_hand(&env), ["process", "dotenv", "desk"], "a damaged login counts as none");
    }

    #[test]
    fn a_keyring_without_the_key_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let server = url("https://one.example");
        let other = MemoryStore::default();
        secrets::login(folder.path(), &server, &Secret::from("key-1"), LoginStore::Keyring, &other).unwrap();
        let logins = Logins { desktop: None, auth: folder.path().to_owned() };
        let source = SavedConnection::new(Given::default(), logins, MemoryStore::default());
        let why = source.find(&EnvFile::default()).unwrap_err();
        assert!(why.contains("auth login https://one.example"), "{why}");
    }
}
