//! The key in the login file itself, for machines without a keyring.

use std::path::{Path, PathBuf};

use crate::files;
use crate::login::{self, AUTH_FILE, SavedKey};
use crate::store::check_key;
use crate::{Error, Result, Secret, SecretStore, ServerUrl, StoreKind};

/// One server's key in `workflow-auth.json`, for its owner's eyes only.
///
/// Chosen by a person (`--store file`), never because something else failed. Saving a key for another server replaces it.
#[derive(Debug, Clone)]
pub struct FileStore {
    path: PathBuf,
}

impl FileStore {
    /// Names the folder of the file; nothing is read or created yet.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(AUTH_FILE) }
    }

    fn find(&self, server: &ServerUrl) -> Result<Option<Secret>> {
        Ok(login::read(&self.path)?.and_then(|login| match login.key {
            SavedKey::File(key) if login.url == *server => Some(key),
            SavedKey::File(_) | SavedKey::Keyring => None,
        }))
    }
}

impl SecretStore for FileStore {
    fn kind(&self) -> StoreKind {
        StoreKind::File
    }

    fn get(&self, server: &ServerUrl) -> Result<Option<Secret>> {
        self.find(server)
    }

    fn set(&self, server: &ServerUrl, key: &Secret) -> Result<()> {
        check_key(key)?;
        login::write(&self.path, server, &SavedKey::File(key.clone()))
    }

    fn delete(&self, server: &ServerUrl) -> Result<bool> {
        match self.find(server)? {
            Some(_) => files::remove(&self.path),
            None => Ok(false),
        }
    }

    fn probe(&self) -> Result<()> {
        // Beside the real file, which a probe must not touch.
        let probe = self.path.with_extension("probe");
        files::write_private(&probe, b"probe", files::Put::Replacing)?;
        let read = files::read_private(&probe, 16);
        files::remove(&probe)?;
        match read? {
            Some(private) if private.bytes.as_slice() == b"probe" => Ok(()),
            _ => Err(Error::Unreliable),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn tells_the_story() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("not/yet");
        crate::store::story::run(&super::FileStore::in_folder(&inner));
        assert_eq!(std::fs::read_dir(inner).unwrap().count(), 0, "nothing is left behind");
    }
}
