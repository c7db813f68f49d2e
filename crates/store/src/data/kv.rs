//! The key-value store of a project.

use rusqlite::OptionalExtension as _;
use serde_json::Value;

use crate::body::json;
use crate::data::{DataStore, KEY_BYTES, VALUE_BYTES, checked};
use crate::{Durability, Result};

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct KvEntry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
}

pub(crate) const LIST: &str = "SELECT key, value FROM kv WHERE key >= ?1 ORDER BY key";

impl DataStore {
    /// Returns the value of a key.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn kv_get(&self, key: &str) -> Result<Option<Value>> {
        self.database.read(|connection| {
            let text: Option<String> = connection
                .prepare_cached("SELECT value FROM kv WHERE key = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()?;
            text.map(|text| json(&text, "a value")).transpose()
        })
    }

    /// Sets the value of a key. Safe against a loss of power within 100 ms.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::TooLarge`] for a key over 1 KiB or a value over 16 MiB.
    pub fn kv_set(&self, key: &str, value: &Value) -> Result<()> {
        let text = value.to_string();
        checked("a key", key, KEY_BYTES)?;
        checked("a value", &text, VALUE_BYTES)?;
        let key = key.to_owned();
        self.database.write(Durability::Power, move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO kv (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
                )?
                .execute((&key, &text))?;
            Ok(())
        })
    }

    /// Deletes a key. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// The database could not be written.
    pub fn kv_delete(&self, key: &str) -> Result<bool> {
        let key = key.to_owned();
        self.database.write(Durability::Power, move |connection| {
            Ok(connection.prepare_cached("DELETE FROM kv WHERE key = ?1")?.execute([&key])? == 1)
        })
    }

    /// Returns at most `limit` entries whose keys begin with `prefix`, in the order of their keys; after the key
    /// `after`, if that is given.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn kv_list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<KvEntry>> {
        self.database.read(|connection| {
            let from = after.filter(|after| *after > prefix).unwrap_or(prefix);
            let mut statement = connection.prepare_cached(LIST)?;
            let mut rows = statement.query([from])?;
            let mut entries = Vec::new();
            while entries.len() < limit
                && let Some(row) = rows.next()?
            {
                let key: String = row.get(0)?;
                if !key.starts_with(prefix) {
                    break;
                }
                if after == Some(key.as_str()) {
                    continue;
                }
                entries.push(KvEntry { key, value: json(&row.get::<_, String>(1)?, "a value")? });
            }
            Ok(entries)
        })
    }
}
