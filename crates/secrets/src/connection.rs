//! Which server a run talks to, and with which key.
//!
//! The order: process environment, the project's `.env`, the desktop's saved login, the terminal's saved login. Address and
//! key are always one pair from one source: a project's file could otherwise point a saved key at a stranger's server.

use crate::{Result, SavedKey, SavedLogin, Secret, SecretStore, ServerUrl};

/// Address and key as an environment gives them. An empty text counts as not given.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The value of the variable for the server's address.
    pub url: Option<String>,
    /// The value of the variable for its key.
    pub key: Option<Secret>,
}

/// Everything a connection can come from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The process environment.
    pub environment: Given,
    /// The project's `.env`, as the file has it.
    pub dot_env: Given,
    /// The desktop's saved login.
    pub desktop: Option<SavedLogin>,
    /// The login saved by `auth login`.
    pub saved: Option<SavedLogin>,
}

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The process environment.
    Environment,
    /// The project's `.env`.
    DotEnv,
    /// The desktop's saved login.
    Desktop,
    /// The login saved by `auth login`.
    Saved,
}

impl Source {
    /// Returns the source in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "the environment",
            Self::DotEnv => "the project's .env",
            Self::Desktop => "the desktop's login",
            Self::Saved => "the saved login",
        }
    }
}

/// Where a connection's key is.
#[derive(Debug, Clone)]
pub enum KeyPlace {
    /// The source gives none.
    None,
    /// Here.
    Here(Secret),
    /// In the keyring, which is asked on first use.
    Keyring,
}

/// A server, and where its key is.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The server.
    pub url: ServerUrl,
    /// Its key's place.
    pub key: KeyPlace,
    /// The one source of both.
    pub source: Source,
}

/// A server and its key.
#[derive(Debug, Clone)]
pub struct Connection {
    /// The server.
    pub url: ServerUrl,
    /// Its key, to be sent to this server's origin only; `None` for a server without.
    pub key: Option<Secret>,
    /// The one source of both.
    pub source: Source,
}

/// The outcome of [`resolve`].
#[derive(Debug, Clone, Default)]
pub struct Resolution {
    /// The connection, if any source gives one.
    pub resolved: Option<Resolved>,
    /// What a person should know, one sentence each: halves of pairs that are not used, keys in the open.
    pub notes: Vec<String>,
}

impl Resolved {
    /// Fetches the key where it lies in the keyring, and nothing else.
    ///
    /// # Errors
    /// Those of the keyring. A keyring without the key gives a connection without one.
    pub fn connect(&self, keyring: &dyn SecretStore) -> Result<Connection> {
        let key = match &self.key {
            KeyPlace::None => None,
            KeyPlace::Here(key) => Some(key.clone()),
            KeyPlace::Keyring => keyring.get(&self.url)?,
        };
        Ok(Connection { url: self.url.clone(), key, source: self.source })
    }
}

/// Decides which source holds. Reads nothing and asks no keyring.
///
/// The first source with an address wins, with its own key or none. A key without an address is no connection, and goes to
/// no other source's server. `.env` never overrides what the environment sets: with a key there, its own key is not used.
#[must_use]
pub fn resolve(sources: &Sources) -> Resolution {
    let mut notes = Vec::new();
    let environment_key = given_key(&sources.environment).is_some();
    let resolved = from_environment(&sources.environment, Source::Environment, false, &mut notes)
        .or_else(|| from_environment(&sources.dot_env, Source::DotEnv, environment_key, &mut notes))
        .or_else(|| from_login(sources.desktop.as_ref(), Source::Desktop))
        .or_else(|| from_login(sources.saved.as_ref(), Source::Saved));
    if let Some(resolved) = &resolved
        && resolved.url.is_exposed()
        && !matches!(resolved.key, KeyPlace::None)
    {
        notes.push(format!("the key for {} crosses the network unencrypted; use https", resolved.url));
    }
    Resolution { resolved, notes }
}

fn given_key(given: &Given) -> Option<&Secret> {
    given.key.as_ref().filter(|key| !key.is_empty())
}

fn from_environment(
    given: &Given,
    source: Source,
    key_is_overridden: bool,
    notes: &mut Vec<String>,
) -> Option<Resolved> {
    let name = source.as_str();
    let key = given_key(given);
    let Some(text) = given.url.as_deref().filter(|text| !text.trim().is_empty()) else {
        if key.is_some() {
            notes.push(format!("{name} has a key without a server address; it is not used"));
        }
        return None;
    };
    let url = match ServerUrl::parse(text) {
        Ok(url) => url,
        Err(error) => {
            notes.push(format!("the server address of {name} is not used: {error}"));
            return None;
        }
    };
    let key = match key {
        Some(_) if key_is_overridden => {
            notes.push(format!(
                "{name} has an address whose key the environment replaces by one without address; none is used"
            ));
            KeyPlace::None
        }
        Some(key) if crate::store::check_key(key).is_err() => {
            notes.push(format!("the key of {name} cannot be sent and is not used"));
            KeyPlace::None
        }
        Some(key) => KeyPlace::Here(key.clone()),
        None => {
            notes.push(format!("{name} has a server address without a key; a saved key is never added"));
            KeyPlace::None
        }
    };
    Some(Resolved { url, key, source })
}

fn from_login(login: Option<&SavedLogin>, source: Source) -> Option<Resolved> {
    let login = login?;
    let key = match &login.key {
        SavedKey::Keyring => KeyPlace::Keyring,
        SavedKey::File(key) => KeyPlace::Here(key.clone()),
    };
    Some(Resolved { url: login.url.clone(), key, source })
}

#[cfg(test)]
mod tests;
