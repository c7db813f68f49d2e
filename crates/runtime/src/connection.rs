//! The server that runs may talk to, found when a run first needs it.
//!
//! A keyring may show a prompt and take seconds, so it is asked only for a run that is given the key, on a thread where
//! that harms nobody. Where logins are kept, and which source holds, is decided by whoever implements
//! [`ConnectionSource`].

use std::fmt;

use project::EnvFile;

/// The variable by which a command is told the server's address.
pub const URL_VARIABLE: &str = "WORKFLOW_SERVER_URL";

/// The variable by which a command is given the server's key.
pub const KEY_VARIABLE: &str = "WORKFLOW_SERVER_ADMIN_KEY";

/// A server and its key: one pair from one source.
#[derive(Clone, PartialEq, Eq)]
pub struct Connection {
    /// The server's base address, without a slash at its end.
    pub url: String,
    /// Scheme, host and port: the key goes to this origin only.
    pub origin: String,
    /// The key; absent for a server that wants none.
    pub key: Option<String>,
}

impl Connection {
    /// Returns the pair as environment variables for a command.
    #[must_use]
    pub fn variables(&self) -> Vec<(String, String)> {
        let url = (URL_VARIABLE.to_owned(), self.url.clone());
        let key = self.key.iter().map(|key| (KEY_VARIABLE.to_owned(), key.clone()));
        std::iter::once(url).chain(key).collect()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key.as_ref().map(|_| "•••");
        formatter.debug_struct("Connection").field("url", &self.url).field("key", &key).finish_non_exhaustive()
    }
}

/// Finds the connection of a project's runs. All calls block, the last one for seconds where a person is asked.
pub trait ConnectionSource: fmt::Debug + Send + Sync {
    /// Returns every key that can be had without asking anybody, used or not: they are masked from a run's beginning.
    fn keys_at_hand(&self, env_file: &EnvFile) -> Vec<String>;

    /// Returns the origin of the server that holds, without asking anybody for its key.
    fn origin(&self, env_file: &EnvFile) -> Option<String>;

    /// Finds the connection; `None` where nobody has named a server.
    ///
    /// # Errors
    ///
    /// A sentence: why the key cannot be had, and what to do. No part of a key is in it.
    fn find(&self, env_file: &EnvFile) -> Result<Option<Connection>, String>;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::context::{Folders, ProcessEnvironment, Project};
    use crate::host_calls::HostContext;

    #[test]
    fn a_key_is_given_and_never_shown() {
        let connection = Connection {
            url: "https://one.example/v1".into(),
            origin: "https://one.example".into(),
            key: Some("hunter2".into()),
        };
        assert!(!format!("{connection:?} {connection:#?}").contains("hunter2"));
        let variables = connection.variables();
        assert_eq!(variables[0], (URL_VARIABLE.into(), "https://one.example/v1".into()));
        assert_eq!(variables[1], (KEY_VARIABLE.into(), "hunter2".into()));
        let bare = Connection { key: None, ..connection };
        assert_eq!(bare.variables().len(), 1, "a server without a key");
    }

    /// A login whose key is in a keyring that counts how often it is asked.
    #[derive(Debug, Default)]
    struct InKeyring(AtomicUsize);

    impl ConnectionSource for InKeyring {
        fn keys_at_hand(&self, _: &EnvFile) -> Vec<String> {
            Vec::new()
        }

        fn origin(&self, _: &EnvFile) -> Option<String> {
            Some("https://one.example".into())
        }

        fn find(&self, _: &EnvFile) -> Result<Option<Connection>, String> {
            self.0.fetch_add(1, Ordering::SeqCst);
            let url = "https://one.example".to_owned();
            Ok(Some(Connection { origin: url.clone(), url, key: Some("hunter2".into()) }))
        }
    }

    #[test]
    fn the_key_is_asked_for_once_and_masked_from_then_on() {
        let folder = tempfile::tempdir().unwrap();
        let package = r#"{"name": "p", "id": "65a465a4-65a4-465a-8465-a465a465a465", "projectType": "workflow"}"#;
        std::fs::write(folder.path().join("package.json"), package).unwrap();
        let source = Arc::new(InKeyring::default());
        let data = folder.path().to_owned();
        let project = Project {
            manifest: project::Manifest::read(folder.path()).unwrap(),
            id: None,
            title: "p".into(),
            folders: Folders {
                files: data.clone(),
                kv: data.clone(),
                values: data.clone(),
                created: data.clone(),
                data,
            },
            environment: ProcessEnvironment::new(),
            connection: Some(source.clone()),
            desktop_config_dir: None,
            auth_dir: None,
            allow_exec: Vec::new(),
            related: Vec::new(),
            provider: None,
            agents_file: None,
            profile: None,
        };
        let host = HostContext::new(&project, 7, 0);
        assert!(host.is_connection("https://one.example") && !host.is_connection("https://two.example"));
        let (known, asked) = (host.known_secrets(), source.0.load(Ordering::SeqCst));
        assert_eq!((known, asked, host.masker().finds("hunter2")), (0, 0, false));
        for _ in 0..2 {
            let found = host.connection().unwrap().unwrap();
            assert_eq!(found.key.as_deref(), Some("hunter2"));
        }
        let (known, asked) = (host.known_secrets(), source.0.load(Ordering::SeqCst));
        assert_eq!(
            (known, asked, host.masker().finds("hunter2")),
            (1, 1, true),
            "whoever masks sees that there is more"
        );
    }
}
