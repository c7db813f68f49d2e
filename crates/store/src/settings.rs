//! Settings of the window: names with JSON values.

use rusqlite::Connection;
use serde_json::{Map, Value};

use crate::body::json;
use crate::database::Outcome;
use crate::{Durability, Result, Store, StoreError, changes};

/// Bytes of one setting.
const SETTING_BYTES: usize = 1024 * 1024;

fn read(connection: &Connection) -> Outcome<Map<String, Value>> {
    let mut statement = connection.prepare_cached("SELECT name, value FROM settings ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut settings = Map::new();
    while let Some(row) = rows.next()? {
        settings.insert(row.get(0)?, json(&row.get::<_, String>(1)?, "a setting")?);
    }
    Ok(settings)
}

/// How many days a run may wait for an answer.
pub const WAIT_DAYS: std::ops::RangeInclusive<i64> = 1..=3_650;
/// How many it waits where nobody says.
const WAITS: i64 = 30;

impl Store {
    /// Returns for how many days a run waits for an answer: as the settings say.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn wait_days(&self) -> Result<i64> {
        let said = self.app_settings()?.get("waitDays").and_then(Value::as_i64);
        Ok(said.filter(|days| WAIT_DAYS.contains(days)).unwrap_or(WAITS))
    }

    /// Returns the window's settings.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn app_settings(&self) -> Result<Map<String, Value>> {
        self.database.read(read)
    }

    /// Sets some of the window's settings; `None` takes one away. Returns all.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooLarge`] over 1 MiB; the database could not be written.
    pub fn set_app_settings(&self, settings: &[(String, Option<Value>)]) -> Result<Map<String, Value>> {
        let settings: Vec<(String, Option<String>)> =
            settings.iter().map(|(name, value)| (name.clone(), value.as_ref().map(Value::to_string))).collect();
        if let Some(text) =
            settings.iter().filter_map(|(_, text)| text.as_ref()).find(|text| text.len() > SETTING_BYTES)
        {
            return Err(StoreError::TooLarge { what: "a setting", size: text.len(), most: SETTING_BYTES });
        }
        self.database.write(Durability::Process, move |connection| {
            for (name, value) in &settings {
                match value {
                    Some(value) => connection
                        .prepare_cached("INSERT OR REPLACE INTO settings (name, value) VALUES (?1, ?2)")?
                        .execute((name, value))?,
                    None => connection.prepare_cached("DELETE FROM settings WHERE name = ?1")?.execute([name])?,
                };
            }
            changes::note(connection, None, None, "settings")?;
            read(connection)
        })
    }
}
