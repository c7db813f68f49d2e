//! The ledger: which entries in whose files are ours.
//!
//! One JSON file in our own configuration folder, changed under a lock and replaced in one step, so that window and
//! terminal never lose each other's lines. It holds no secret: client, file, key, and a fingerprint.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::change::hex;
use crate::files::read_regular;
use crate::{Error, Result, Scope};

/// The largest ledger that is read.
const LIMIT: u64 = 4 * 1024 * 1024;
/// The version of the file that this build writes.
const VERSION: u32 = 1;

/// An entry that we wrote into a client's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry {
    /// The client's id.
    pub client: String,
    /// For whom it was written.
    pub scope: Scope,
    /// The file, as the client names it.
    pub file: PathBuf,
    /// The server's key in it.
    pub key: String,
    /// What the launch serves: the executable's arguments. Entries of older builds do not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The names of the properties that we set; others belong to the person.
    pub properties: Vec<String>,
    /// A fingerprint of those properties.
    pub fingerprint: String,
    /// When it was written, RFC 3339.
    pub written_at: String,
}

impl LedgerEntry {
    /// Returns the fingerprint that an entry found in the file has now.
    pub(crate) fn fingerprint_of<'a>(
        names: impl IntoIterator<Item = &'a String>,
        entry: &Map<String, Value>,
    ) -> String {
        let mut names: Vec<&String> = names.into_iter().collect();
        names.sort_unstable();
        let mut hash = Sha256::new();
        for name in names {
            // One JSON text per property, a form without ambiguity.
            hash.update(Value::from(name.as_str()).to_string());
            hash.update(entry.get(name).map_or_else(|| String::from("-"), canonical));
        }
        hex(&hash.finalize())
    }

    fn is(&self, client: &str, file: &Path, key: &str) -> bool {
        self.client == client && self.file == file && self.key == key
    }
}

/// Returns a value's JSON with the names of objects in order.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<String> = map
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)))
                .collect();
            pairs.sort_unstable();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    entries: Vec<LedgerEntry>,
}

/// The ledger's file.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// Names the ledger's file; nothing is read or created yet.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns all entries, oldest first. No file means none.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Ledger`] when the file is damaged or of a later version.
    pub fn entries(&self) -> Result<Vec<LedgerEntry>> {
        let bytes = match read_regular(&self.path, LIMIT) {
            Ok((bytes, _)) => bytes,
            Err(Error::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let unusable = |reason: String| Error::Ledger { path: self.path.clone(), reason };
        // The version first: a later form may not have our fields.
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| unusable(error.to_string()))?;
        match value.get("version").and_then(Value::as_u64) {
            Some(version) if version <= u64::from(VERSION) => {}
            Some(version) => return Err(unusable(format!("its version {version} is later than {VERSION}"))),
            None => return Err(unusable(String::from("it has no version"))),
        }
        let content: Content = serde_json::from_value(value).map_err(|error| unusable(error.to_string()))?;
        Ok(content.entries)
    }

    /// Returns the entry of that client, file and key.
    ///
    /// # Errors
    /// Those of [`Ledger::entries`].
    pub fn find(&self, client: &str, file: &Path, key: &str) -> Result<Option<LedgerEntry>> {
        Ok(self.entries()?.into_iter().find(|entry| entry.is(client, file, key)))
    }

    /// Records an entry in the place of an older one of the same client, file and key, which is returned.
    pub(crate) fn record(&self, entry: LedgerEntry) -> Result<Option<LedgerEntry>> {
        self.update(|entries| {
            let old = take(entries, &entry.client, &entry.file, &entry.key);
            entries.push(entry);
            old
        })
    }

    /// Forgets an entry and returns it.
    ///
    /// For one that is missing from its file and will not come back; [`apply`](crate::apply) of a removal does it too.
    ///
    /// # Errors
    /// Those of [`Ledger::entries`], and [`Error::Write`].
    pub fn forget(&self, client: &str, file: &Path, key: &str) -> Result<Option<LedgerEntry>> {
        self.update(|entries| take(entries, client, file, key))
    }

    fn update<T>(&self, change: impl FnOnce(&mut Vec<LedgerEntry>) -> T) -> Result<T> {
        let _lock = self.lock()?;
        let mut entries = self.entries()?;
        let result = change(&mut entries);
        self.save(&Content { version: VERSION, entries })?;
        Ok(result)
    }

    /// Waits for the ledger's lock, which is held for one small write at a time.
    fn lock(&self) -> Result<File> {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);
        let failed = |source| Error::Write { path: path.clone(), source };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    fn save(&self, content: &Content) -> Result<()> {
        let failed = |source| Error::Write { path: self.path.clone(), source };
        let text = serde_json::to_string_pretty(content).map_err(|error| failed(error.into()))?;
        disk::replace(&self.path, text.as_bytes(), 0o600).map_err(failed)
    }
}

fn take(entries: &mut Vec<LedgerEntry>, client: &str, file: &Path, key: &str) -> Option<LedgerEntry> {
    let index = entries.iter().position(|entry| entry.is(client, file, key))?;
    Some(entries.remove(index))
}
