//! Writing a planned change, and taking it back.

use std::path::PathBuf;

use model::{Clock, format_timestamp};
use sha2::{Digest as _, Sha256};

use crate::change::{Action, Change, confine};
use crate::files;
use crate::ledger::{Ledger, LedgerEntry};
use crate::{Error, Result};

/// What was written, and what is needed to take it back.
#[derive(Debug, Clone)]
pub struct Written {
    /// The client's id.
    pub client: &'static str,
    /// The server's key.
    pub key: String,
    /// The file as the client names it.
    pub file: PathBuf,
    /// The file that was really written.
    pub target: PathBuf,
    /// The copy of the text before; `None` when the file was created or nothing had to be written.
    pub backup: Option<PathBuf>,
    /// Whether the file was created.
    pub created: bool,
    /// Whether the file was written at all.
    pub changed: bool,
    after: [u8; 32],
    ledger_before: Option<LedgerEntry>,
}

/// Writes a change if its file is still what the preview showed.
///
/// The ledger is written first: after a crash in between it names an entry that [`drift()`](crate::drift()) then reports as
/// missing, and never the other way round. The backup beside the file is for the owner's eyes only; the ten newest stay.
///
/// # Errors
/// [`Error::Changed`] when the file differs from the preview, [`Error::Write`], [`Error::Ledger`]. Nothing is changed then.
pub fn apply(change: &Change, ledger: &Ledger, clock: &dyn Clock) -> Result<Written> {
    if let Some(project) = &change.project {
        confine(project, &change.file)?;
    }
    let found = files::read(&change.file)?;
    if found.target != change.target || found.text != change.before {
        return Err(Error::Changed { path: change.file.clone() });
    }
    let now = format_timestamp(clock.now());
    let changed = change.before.as_deref() != Some(change.after.as_str());
    let backup = match &change.before {
        Some(before) if changed => {
            let stamp: String = now.chars().filter(|character| !"-:.".contains(*character)).collect();
            Some(files::back_up(&change.file, before, &stamp)?)
        }
        _ => None,
    };
    let written = swap_in(change, ledger, now, changed);
    match (&written, &backup) {
        // A copy of what is still there helps nobody.
        (Err(_), Some(backup)) => {
            let _ = std::fs::remove_file(backup);
        }
        (Ok(_), Some(_)) => files::prune_backups(&change.file),
        _ => {}
    }
    Ok(Written {
        client: change.client,
        key: change.key.clone(),
        file: change.file.clone(),
        target: change.target.clone(),
        created: changed && change.before.is_none(),
        backup,
        changed,
        after: Sha256::digest(&change.after).into(),
        ledger_before: written?,
    })
}

/// Writes ledger and file, and sets the ledger back when the file fails. Returns the ledger's entry before.
fn swap_in(change: &Change, ledger: &Ledger, now: String, changed: bool) -> Result<Option<LedgerEntry>> {
    let old = match change.action {
        Action::Set => ledger.record(LedgerEntry {
            client: change.client.to_owned(),
            scope: change.scope,
            file: change.file.clone(),
            key: change.key.clone(),
            fingerprint: LedgerEntry::fingerprint_of(change.entry.keys(), &change.entry),
            args: change.args.clone(),
            properties: change.entry.keys().cloned().collect(),
            written_at: now,
        })?,
        Action::Remove => ledger.forget(change.client, &change.file, &change.key)?,
    };
    if changed {
        let shared = change.project.is_some();
        if let Err(error) = files::replace(&change.target, change.before.as_deref(), &change.after, shared) {
            restore(ledger, change.client, &change.file, &change.key, old)?;
            return Err(error);
        }
    }
    Ok(old)
}

/// Takes a write back, if the file is still what it made of it: the backup's text, or no file at all.
///
/// # Errors
/// [`Error::Changed`] when somebody has written since, [`Error::Read`] when the backup is gone, [`Error::Write`].
pub fn undo(written: &Written, ledger: &Ledger) -> Result<()> {
    let ours = |bytes: &[u8]| <[u8; 32]>::from(Sha256::digest(bytes)) == written.after;
    if written.created {
        files::remove_if(&written.target, ours)?;
    } else if let Some(backup) = &written.backup {
        let before = files::read(backup)?
            .text
            .ok_or_else(|| Error::Read { path: backup.clone(), source: std::io::ErrorKind::NotFound.into() })?;
        let now = files::read(&written.target)?.text.filter(|text| ours(text.as_bytes()));
        let Some(now) = now else { return Err(Error::Changed { path: written.target.clone() }) };
        files::replace(&written.target, Some(&now), &before, false)?;
    }
    restore(ledger, written.client, &written.file, &written.key, written.ledger_before.clone())
}

/// Puts the ledger's entry back as it was.
fn restore(ledger: &Ledger, client: &str, file: &std::path::Path, key: &str, old: Option<LedgerEntry>) -> Result<()> {
    match old {
        Some(old) => ledger.record(old).map(|_| ()),
        None => ledger.forget(client, file, key).map(|_| ()),
    }
}
