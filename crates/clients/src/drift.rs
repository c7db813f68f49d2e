//! Whether a client's file still says what we wrote, or what we would write now.

use serde::Serialize;
use serde_json::Value;

use crate::change::{content, in_step};
use crate::ledger::LedgerEntry;
use crate::{Client, ClientPaths, Error, Launch, Result, Scope, client, document, files};

/// What became of an entry of the ledger.
#[derive(Debug)]
pub enum Drift {
    /// Our properties are as we wrote them.
    Same,
    /// Somebody changed them.
    Changed,
    /// The entry or the whole file is gone.
    Missing,
    /// The file cannot be read.
    Unreadable(Error),
}

/// Compares an entry of the ledger with the file it names.
#[must_use]
pub fn drift(entry: &LedgerEntry) -> Drift {
    // A ledger of another build may name clients that this one does not have.
    let Some(client) = client(&entry.client) else {
        let reason = format!("it names an unknown client, `{}`", entry.client);
        return Drift::Unreadable(Error::Ledger { path: entry.file.clone(), reason });
    };
    match found(client, &entry.file, &entry.key) {
        Err(error) => Drift::Unreadable(error),
        Ok(None) => Drift::Missing,
        Ok(Some(Value::Object(now))) if LedgerEntry::fingerprint_of(&entry.properties, &now) == entry.fingerprint => {
            Drift::Same
        }
        Ok(Some(_)) => Drift::Changed,
    }
}

/// What a client knows of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// It has no server of that key.
    NotAdded,
    /// It has the launch as we would write it now.
    InStep,
    /// It has something else under that key.
    Differs,
}

/// Compares a client's file with a launch.
///
/// # Errors
/// Those of [`plan`](crate::plan), except that a client without a file of this scope is `NotAdded`.
pub fn inspect(client: &Client, scope: Scope, launch: &Launch, paths: &ClientPaths) -> Result<State> {
    if client.by_hand.is_some() {
        return Ok(State::NotAdded);
    }
    let Some(file) = client.file(scope, paths) else { return Ok(State::NotAdded) };
    Ok(match found(client, &file, launch.key())? {
        None => State::NotAdded,
        Some(known) if in_step(&known, &client.shape.entry(launch)) => State::InStep,
        Some(_) => State::Differs,
    })
}

fn found(client: &Client, file: &std::path::Path, key: &str) -> Result<Option<Value>> {
    let read = files::read(file)?;
    let Some(text) = read.text else { return Ok(None) };
    document::find(&client.shape, &text, key).map_err(|fault| content(&read.target, fault))
}
