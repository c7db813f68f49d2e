//! PersistentValues: named values that a project's runs share, changed by compare-and-set.

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;

use crate::body::json;
use crate::data::{DataStore, KEY_BYTES, VALUE_BYTES, checked};
use crate::database::Outcome;
use crate::{Durability, Result, StoreError};

/// A value with its version.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Versioned {
    /// How often it was written; 0 when it is not there.
    pub version: u64,
    /// The value.
    pub value: Option<Value>,
}

fn version(connection: &Connection, project: &str, name: &str) -> Outcome<i64> {
    Ok(connection
        .prepare_cached("SELECT version FROM persistent_values WHERE project = ?1 AND name = ?2")?
        .query_row((project, name), |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}

/// How many calls' answers are kept. One is needed for as long as a run may be taken up between a write and the line of its
/// journal that says so.
const CALLS: i64 = 100_000;

/// The version that a call has written, if it was made before.
fn answered(connection: &Connection, call: &str) -> Outcome<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT version FROM calls WHERE call = ?1")?
        .query_row([call], |row| row.get(0))
        .optional()?)
}

fn note_call(connection: &Connection, call: &str, version: i64) -> Outcome<()> {
    connection.prepare_cached("INSERT INTO calls (call, version) VALUES (?1, ?2)")?.execute((call, version))?;
    let newest = connection.last_insert_rowid();
    connection.prepare_cached("DELETE FROM calls WHERE key <= ?1")?.execute([newest - CALLS])?;
    Ok(())
}

impl DataStore {
    /// Returns a value of a project, which is named by its UUID.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn value(&self, project: &str, name: &str) -> Result<Versioned> {
        self.database.read(|connection| {
            let found: Option<(i64, String)> = connection
                .prepare_cached("SELECT version, value FROM persistent_values WHERE project = ?1 AND name = ?2")?
                .query_row((project, name), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            match found {
                None => Ok(Versioned::default()),
                Some((version, text)) => {
                    Ok(Versioned { version: u64::try_from(version).unwrap_or(0), value: Some(json(&text, "a value")?) })
                }
            }
        })
    }

    /// Sets a value; only if nobody has written it since the version `seen`, if that is given. Returns its version.
    /// Safe against a loss of power within 100 ms. `call` names who asks: the same one asking again, since it never heard
    /// that it was done, gets its first answer, and nothing is written.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] when somebody has; [`StoreError::TooLarge`] for a name over 1 KiB or a value over
    /// 16 MiB.
    pub fn set_value(
        &self,
        project: &str,
        name: &str,
        value: &Value,
        seen: Option<u64>,
        call: Option<&str>,
    ) -> Result<u64> {
        let text = value.to_string();
        checked("a name", name, KEY_BYTES)?;
        checked("a value", &text, VALUE_BYTES)?;
        let (project, name, call) = (project.to_owned(), name.to_owned(), call.map(str::to_owned));
        self.database.write(Durability::Power, move |connection| {
            if let Some(version) = call.as_deref().map(|call| answered(connection, call)).transpose()?.flatten() {
                return Ok(u64::try_from(version).unwrap_or(0));
            }
            let current = version(connection, &project, &name)?;
            let shown = u64::try_from(current).unwrap_or(0);
            if let Some(seen) = seen.filter(|seen| *seen != shown) {
                return Err(StoreError::Conflict { name: name.clone(), seen, current: shown }.into());
            }
            connection
                .prepare_cached(
                    "INSERT INTO persistent_values (project, name, version, value) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT (project, name) DO UPDATE SET version = ?3, value = ?4",
                )?
                .execute((&project, &name, current + 1, &text))?;
            if let Some(call) = &call {
                note_call(connection, call, current + 1)?;
            }
            Ok(shown + 1)
        })
    }
}
