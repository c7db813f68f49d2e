//! The change of a client's file before it is made.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::document::{self, EditError, Fault};
use crate::files::{self, Found};
use crate::ledger::Ledger;
use crate::{Client, ClientPaths, Difference, Error, Launch, Result, Scope, render};

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Adds or repairs the server.
    Set,
    /// Removes it.
    Remove,
}

/// What the file has under the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Existing {
    /// Nothing.
    Absent,
    /// The very entry; nothing will be written.
    Same,
    /// Another entry. What it has beside our properties stays.
    Different,
}

/// A planned change: what the file is, what it becomes, and what to know before it is written.
///
/// Texts of the file may hold other servers' secrets, so `Debug` leaves them out.
#[derive(Clone)]
pub struct Change {
    /// The client's id.
    pub client: &'static str,
    /// For whom.
    pub scope: Scope,
    /// What it does.
    pub action: Action,
    /// The server's key.
    pub key: String,
    /// The file as the client names it.
    pub file: PathBuf,
    /// The file that is really written: another one when `file` is a symbolic link.
    pub target: PathBuf,
    /// The file's text; `None` when it does not exist and will be created.
    pub before: Option<String>,
    /// The text it becomes.
    pub after: String,
    /// The difference of the two.
    pub difference: Difference,
    /// What the file has under the key.
    pub existing: Existing,
    /// What a person should know, one sentence each: links, odd paths, restart.
    pub notes: Vec<String>,
    /// The properties of the entry that are ours; empty for a removal.
    pub(crate) entry: Map<String, Value>,
    /// The arguments of the launch; empty for a removal.
    pub(crate) args: Vec<String>,
    pub(crate) project: Option<PathBuf>,
}

impl Change {
    /// Returns a fingerprint of file, old and new text. A preview and a later plan with the same fingerprint are the
    /// same change, so a window needs to hold nothing but this.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let target = self.target.to_string_lossy();
        for part in [Some(target.as_ref()), self.before.as_deref(), Some(self.after.as_str())] {
            // The length before each part keeps them apart; a missing file is no empty one.
            hash.update(part.map_or(u64::MAX, |part| part.len() as u64).to_be_bytes());
            hash.update(part.unwrap_or_default());
        }
        hex(&hash.finalize())
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Change")
            .field("client", &self.client)
            .field("action", &self.action)
            .field("key", &self.key)
            .field("file", &self.file)
            .field("target", &self.target)
            .field("existing", &self.existing)
            .finish_non_exhaustive()
    }
}

/// Plans to add `launch` to the client's file, or to bring its entry there in step.
///
/// # Errors
/// The client has no such file or it is written by hand; the file cannot be read, does not parse (with the line), has
/// another shape, or lies behind a link that leads nowhere or out of the project.
pub fn plan(client: &Client, scope: Scope, launch: &Launch, paths: &ClientPaths) -> Result<Change> {
    let entry = client.shape.entry(launch);
    let (file, found, project) = locate(client, scope, paths)?;
    let text = found.text.as_deref().unwrap_or_default();
    let known = document::find(&client.shape, text, launch.key()).map_err(|fault| content(&found.target, fault))?;
    let existing = match &known {
        None => Existing::Absent,
        Some(known) if in_step(known, &entry) => Existing::Same,
        Some(_) => Existing::Different,
    };
    let after = if existing == Existing::Same {
        text.to_owned()
    } else {
        document::set(&client.shape, text, launch.key(), &entry)
            .map_err(|error| edit_error(&found.target, launch.key(), error))?
    };
    let mut notes = render::warnings(client, launch);
    if client.restart {
        notes.push(format!("Restart {} after the change", client.name));
    }
    let place = (file, found, project);
    let planned = change(client, scope, Action::Set, launch.key(), place, after, existing, notes, entry);
    Ok(Change { args: launch.args().to_vec(), ..planned })
}

/// Plans to remove the server `key`, which the ledger must know as ours.
///
/// # Errors
/// [`Error::NotOurs`], [`Error::NoEntry`], and those of [`plan`].
pub fn plan_removal(client: &Client, scope: Scope, key: &str, paths: &ClientPaths, ledger: &Ledger) -> Result<Change> {
    let (file, found, project) = locate(client, scope, paths)?;
    let text = found.text.as_deref().unwrap_or_default();
    let known = document::find(&client.shape, text, key).map_err(|fault| content(&found.target, fault))?;
    let key_shown = || key.chars().take(80).collect();
    // What is not there was written by nobody, and there is nothing to remove by hand.
    if known.is_none() {
        return Err(Error::NoEntry { path: file, key: key_shown() });
    }
    if ledger.find(client.id, &file, key)?.is_none() {
        return Err(Error::NotOurs { path: file, key: key_shown() });
    }
    let after = document::remove(&client.shape, text, key).map_err(|error| edit_error(&found.target, key, error))?;
    let notes = if client.restart { vec![format!("Restart {} after the change", client.name)] } else { Vec::new() };
    let place = (file, found, project);
    Ok(change(client, scope, Action::Remove, key, place, after, Existing::Different, notes, Map::new()))
}

type Place = (PathBuf, Found, Option<PathBuf>);

#[expect(clippy::too_many_arguments, reason = "it gathers the fields of one struct for its two makers")]
fn change(
    client: &Client,
    scope: Scope,
    action: Action,
    key: &str,
    (file, found, project): Place,
    after: String,
    existing: Existing,
    mut notes: Vec<String>,
    entry: Map<String, Value>,
) -> Change {
    if found.linked {
        notes.push(format!(
            "`{}` is a link; the file it leads to is changed: `{}`",
            file.display(),
            found.target.display()
        ));
    }
    if found.many_names {
        notes.push(format!("`{}` has further names (hard links), which keep the old text", found.target.display()));
    }
    Change {
        client: client.id,
        scope,
        action,
        key: key.to_owned(),
        difference: Difference::new(found.text.as_deref().unwrap_or_default(), &after),
        file,
        target: found.target,
        before: found.text,
        after,
        existing,
        notes,
        entry,
        args: Vec::new(),
        project,
    }
}

/// Finds and reads the client's file.
fn locate(client: &Client, scope: Scope, paths: &ClientPaths) -> Result<Place> {
    if let Some(reason) = client.by_hand {
        return Err(Error::ByHand { client: client.name, reason });
    }
    let file = client.file(scope, paths).ok_or(Error::NoFile { client: client.name, scope: scope.as_str() })?;
    let project = match scope {
        Scope::User => None,
        Scope::Project => paths.project.clone(),
    };
    let found = files::read(&file)?;
    if let Some(project) = &project {
        confine(project, &file)?;
    }
    Ok((file, found, project))
}

/// Refuses a project's file that leads out of the project: the folder may come from a stranger.
pub(crate) fn confine(project: &Path, file: &Path) -> Result<()> {
    let real = |path: &Path| files::real_path(path).map_err(|source| Error::Read { path: path.to_owned(), source });
    let target = real(file)?;
    if target.starts_with(real(project)?) {
        Ok(())
    } else {
        Err(Error::OutsideProject { path: file.to_owned(), target })
    }
}

/// Returns whether an entry has all our properties with our values.
pub(crate) fn in_step(known: &Value, entry: &Map<String, Value>) -> bool {
    known.as_object().is_some_and(|known| entry.iter().all(|(name, value)| known.get(name) == Some(value)))
}

pub(crate) fn content(path: &Path, fault: Fault) -> Error {
    Error::Content { path: path.to_owned(), line: fault.line, reason: fault.reason }
}

fn edit_error(path: &Path, key: &str, error: EditError) -> Error {
    match error {
        EditError::Fault(fault) => content(path, fault),
        EditError::Unsafe => Error::Unsafe { path: path.to_owned(), key: key.to_owned() },
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
