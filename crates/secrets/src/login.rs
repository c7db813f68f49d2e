//! The saved login: `workflow-auth.json`, `{url, store: "keyring" | "file", key?}`.
//!
//! The file says which server and where its key is. With a keyring the key lies there under the server's address, so a
//! changed address in the file finds no key; only after `--store file` is the key in the file.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::files::{self, Put};
use crate::store::check_key;
use crate::{Error, Result, Secret, SecretStore, ServerUrl};

/// The file's name in its folder.
pub const AUTH_FILE: &str = "workflow-auth.json";

/// The largest file that is read.
const LIMIT: u64 = 64 * 1024;

/// Where a login keeps its key. Chosen by a person, never for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginStore {
    /// In the operating system's keyring.
    Keyring,
    /// In the file itself.
    File,
}

impl LoginStore {
    /// Returns the name as `--store` and the file have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keyring => "keyring",
            Self::File => "file",
        }
    }
}

/// The key of a saved login.
#[derive(Debug, Clone)]
pub enum SavedKey {
    /// It is in the keyring, under the login's address.
    Keyring,
    /// It was in the file.
    File(Secret),
}

/// A login as it was saved.
#[derive(Debug, Clone)]
pub struct SavedLogin {
    /// The server.
    pub url: ServerUrl,
    /// Its key.
    pub key: SavedKey,
    /// The file could be read by others until now; it has been set right, and the person should know.
    pub tightened: bool,
}

impl SavedLogin {
    /// Returns where the key is.
    #[must_use]
    pub fn store(&self) -> LoginStore {
        match self.key {
            SavedKey::Keyring => LoginStore::Keyring,
            SavedKey::File(_) => LoginStore::File,
        }
    }
}

/// Reads the saved login in `folder`, `None` when nobody has logged in. No keyring is touched.
///
/// # Errors
/// [`Error::Read`]; [`Error::Content`] for a link, somebody else's file, or one that is no login.
pub fn saved_login(folder: &Path) -> Result<Option<SavedLogin>> {
    read(&folder.join(AUTH_FILE))
}

/// Saves a login in `folder`: the key first, then the file that names it. A key that an older login has in the keyring for
/// another server is removed.
///
/// # Errors
/// [`Error::Value`]; those of the keyring, which is used only when it is chosen or was; [`Error::Write`].
pub fn login(folder: &Path, url: &ServerUrl, key: &Secret, store: LoginStore, keyring: &dyn SecretStore) -> Result<()> {
    check_key(key)?;
    // A damaged file is what a new login mends.
    let old = saved_login(folder).ok().flatten();
    let saved = match store {
        LoginStore::Keyring => {
            keyring.set(url, key)?;
            SavedKey::Keyring
        }
        LoginStore::File => SavedKey::File(key.clone()),
    };
    write(&folder.join(AUTH_FILE), url, &saved)?;
    if let Some(old) = old
        && matches!(old.key, SavedKey::Keyring)
        && (old.url != *url || store == LoginStore::File)
    {
        // The login is done; a key left behind in the keyring is its owner's still.
        let _ = keyring.delete(&old.url);
    }
    Ok(())
}

/// Removes the saved login in `folder` and its key, and returns whether there was one.
///
/// # Errors
/// Those of the keyring when the key is there: the file then stays, so that a second try finds it. [`Error::Write`].
pub fn logout(folder: &Path, keyring: &dyn SecretStore) -> Result<bool> {
    let file = folder.join(AUTH_FILE);
    // A damaged file has no address under which a key could be found; it goes.
    if let Ok(Some(login)) = read(&file)
        && matches!(login.key, SavedKey::Keyring)
    {
        keyring.delete(&login.url)?;
    }
    files::remove(&file)
}

/// Reads a login file.
pub(crate) fn read(path: &Path) -> Result<Option<SavedLogin>> {
    let Some(private) = files::read_private(path, LIMIT)? else { return Ok(None) };
    let unusable = |reason: &str| Error::Content { path: PathBuf::from(path), reason: reason.to_owned() };
    // Fields are taken one by one: a derived reader's messages would repeat values.
    let mut value: Value = serde_json::from_slice(&private.bytes)
        .map_err(|error| unusable(&format!("it is no JSON (line {})", error.line())))?;
    let mut take = |name: &str| match value.get_mut(name).map(Value::take) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let key = take("key").map(Secret::from);
    let url = take("url").ok_or_else(|| unusable("it has no `url`"))?;
    let url = ServerUrl::parse(&url).map_err(|error| unusable(&format!("in `url`, {error}")))?;
    let key = match (take("store").as_deref(), key) {
        (Some("keyring"), _) => SavedKey::Keyring,
        (Some("file"), Some(key)) => {
            check_key(&key)?;
            SavedKey::File(key)
        }
        (Some("file"), None) => return Err(unusable("its `store` is `file` and it has no `key`")),
        _ => return Err(unusable("its `store` is neither `keyring` nor `file`")),
    };
    Ok(Some(SavedLogin { url, key, tightened: private.tightened }))
}

/// Writes a login file.
pub(crate) fn write(path: &Path, url: &ServerUrl, key: &SavedKey) -> Result<()> {
    let mut map = Map::new();
    map.insert(String::from("url"), Value::from(url.as_str()));
    match key {
        SavedKey::Keyring => {
            map.insert(String::from("store"), Value::from("keyring"));
        }
        SavedKey::File(key) => {
            map.insert(String::from("store"), Value::from("file"));
            map.insert(String::from("key"), Value::from(key.expose()));
        }
    }
    let text = Zeroizing::new(format!("{:#}\n", Value::Object(map)));
    files::write_private(path, text.as_bytes(), Put::Replacing).map(|_| ())
}

#[cfg(test)]
mod tests;
