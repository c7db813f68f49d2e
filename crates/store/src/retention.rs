//! Retention: old runs go, in small batches, so that nobody waits long for the write lock.
//!
//! Never deleted by retention: pinned runs, and runs that wait, are queued or run. `purge` deletes those that are not
//! queued or running as well.

use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use model::{CreatedFile, RunId, TimestampMs};
use rusqlite::Connection;

use crate::database::Outcome;
use crate::runs::{FACTS, FILES, PARTS, find, run_id};
use crate::{Durability, Result, Store, StoreError, StoreOptions};
use crate::{body, changes};

/// What is kept. Everything that is set must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// Runs recorded before this moment go.
    pub not_before: Option<TimestampMs>,
    /// Runs kept of each project; the oldest above go.
    pub most_runs: Option<u64>,
    /// Bytes kept of each project, as stored; the oldest runs above go.
    pub most_bytes: Option<u64>,
}

/// What pruning has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Runs deleted.
    pub runs: u64,
    /// Bytes of their records.
    pub bytes: u64,
    /// Whether nothing is left to delete; `false` when the time was over first.
    pub complete: bool,
}

/// The folder beside the history with the files that runs have created, one folder a run (`runtime`'s `Folders`), where
/// a run does not say which it was.
const CREATED: &str = "created";
/// Runs deleted in one transaction.
const BATCH: usize = 20;
/// Runs looked at in one transaction: many may be pinned.
const LOOK: usize = 500;

/// Walks a project's runs, oldest first.
pub(crate) const OLDEST: &str = "SELECT key, run_id, created_at, bytes, pinned = 0 AND status IN \
     ('success', 'failed', 'cancelled', 'timeout', 'interrupted') \
     FROM runs INDEXED BY runs_by_project WHERE project = ?1 AND (created_at, key) > (?2, ?3) \
     ORDER BY created_at, key LIMIT ?4";

struct Old {
    key: i64,
    run: String,
    created_at: TimestampMs,
    bytes: i64,
    may_go: bool,
}

fn oldest(connection: &Connection, project: &str, after: (TimestampMs, i64), most: usize) -> Outcome<Vec<Old>> {
    let mut statement = connection.prepare_cached(OLDEST)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = statement.query_map((project, after.0, after.1, most), |row| {
        Ok(Old { key: row.get(0)?, run: row.get(1)?, created_at: row.get(2)?, bytes: row.get(3)?, may_go: row.get(4)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A run that was deleted, and where its files may lie.
#[derive(Debug, Clone)]
pub(crate) struct Deleted {
    pub(crate) run: RunId,
    /// Folders of that run alone, named by its id.
    folders: Vec<PathBuf>,
}

/// Finds where the files of a run lie: below the folder that it was started with, and where those lie that it lists.
/// Only folders that are named by the run are its own.
fn folders(connection: &Connection, key: i64, run: &RunId) -> Outcome<Vec<PathBuf>> {
    #[derive(serde::Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Launch {
        file_create_store_dir: PathBuf,
    }
    #[derive(serde::Deserialize, Default)]
    #[serde(default)]
    struct Facts {
        launch: Launch,
    }
    let text = |kind| body::get(connection, key, kind, None);
    // What cannot be read says nothing, and keeps no run from being deleted.
    let facts: Facts = text(FACTS)?.and_then(|facts| serde_json::from_str(&facts).ok()).unwrap_or_default();
    let files: Vec<CreatedFile> = text(FILES)?.and_then(|files| serde_json::from_str(&files).ok()).unwrap_or_default();
    let listed = files.iter().filter_map(|file| Path::new(&file.path).parent().map(Path::to_owned));
    let mut folders: Vec<PathBuf> =
        std::iter::once(facts.launch.file_create_store_dir.join(run.as_str())).chain(listed).collect();
    folders.retain(|folder| is_own(folder, run));
    folders.sort();
    folders.dedup();
    Ok(folders)
}

/// Whether a folder belongs to a run: it is named by it, and said in full.
fn is_own(folder: &Path, run: &RunId) -> bool {
    let is_plain = folder.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    folder.is_absolute() && is_plain && folder.file_name().is_some_and(|name| name == run.as_str())
}

/// Deletes a run with everything that belongs to it; its files go when that is committed.
fn delete(connection: &Connection, project: &str, old: &Old) -> Outcome<Deleted> {
    let run = run_id(old.run.clone())?;
    let folders = folders(connection, old.key, &run)?;
    connection
        .prepare_cached("DELETE FROM run_text WHERE rowid >= ?1 AND rowid < ?2")?
        .execute((old.key * PARTS, (old.key + 1) * PARTS))?;
    let digests: Vec<String> = connection
        .prepare_cached("SELECT sha256 FROM run_sources WHERE run = ?1")?
        .query_map([old.key], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    // The rest follows by its foreign keys.
    connection.prepare_cached("DELETE FROM runs WHERE key = ?1")?.execute([old.key])?;
    for digest in digests {
        connection
            .prepare_cached(
                "DELETE FROM sources WHERE sha256 = ?1 \
                 AND NOT EXISTS (SELECT 1 FROM run_sources WHERE run_sources.sha256 = ?1)",
            )?
            .execute([digest])?;
    }
    connection
        .prepare_cached("UPDATE usage SET runs = runs - 1, bytes = bytes - ?2 WHERE project = ?1")?
        .execute((project, old.bytes))?;
    changes::note(connection, Some(&run), Some(project), "deleted")?;
    Ok(Deleted { run, folders })
}

/// Deletes some runs of a project whatever they are, but for those that are queued or running. Returns them.
pub(crate) fn delete_any(connection: &Connection, project: &str) -> Outcome<Vec<Deleted>> {
    let mut deleted = Vec::new();
    let mut after = (TimestampMs::MIN, 0);
    while deleted.is_empty() {
        let found = oldest(connection, project, after, BATCH)?;
        let Some(last) = found.last() else { break };
        after = (last.created_at, last.key);
        for old in &found {
            let busy: bool = connection
                .prepare_cached("SELECT status IN ('queued', 'running') FROM runs WHERE key = ?1")?
                .query_row([old.key], |row| row.get(0))?;
            if !busy {
                deleted.push(delete(connection, project, old)?);
            }
        }
    }
    Ok(deleted)
}

/// Deletes one run whatever it is, but for one that a living process has in hand.
fn delete_one(connection: &Connection, run: &RunId, outside: &StoreOptions) -> Outcome<Deleted> {
    let state = find(connection, run)?;
    let owned = state.owner.as_ref().is_some_and(|owner| (outside.is_alive)(owner));
    if state.status.needs_owner() || (owned && !state.status.is_final()) {
        return Err(StoreError::Running { project: state.project, runs: vec![run.clone()] }.into());
    }
    let (created_at, bytes) = connection
        .prepare_cached("SELECT created_at, bytes FROM runs WHERE key = ?1")?
        .query_row([state.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let old = Old { key: state.key, run: run.to_string(), created_at, bytes, may_go: true };
    delete(connection, &state.project, &old)
}

/// Deletes a folder with all that is in it; what is there in its place is none of ours. Links in it are deleted as links.
fn remove_folder(folder: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(folder)?.is_dir() { std::fs::remove_dir_all(folder) } else { Ok(()) }
}

/// What a project keeps, while its oldest runs are counted off.
struct Tally {
    runs: i64,
    bytes: i64,
}

impl Tally {
    fn of(connection: &Connection, project: &str) -> Outcome<Self> {
        Ok(connection
            .prepare_cached("SELECT coalesce(max(runs), 0), coalesce(max(bytes), 0) FROM usage WHERE project = ?1")?
            .query_row([project], |row| Ok(Self { runs: row.get(0)?, bytes: row.get(1)? }))?)
    }

    fn goes(&self, old: &Old, keep: &Retention) -> bool {
        let over =
            |now: i64, most: Option<u64>| most.is_some_and(|most| i64::try_from(most).is_ok_and(|most| now > most));
        keep.not_before.is_some_and(|moment| old.created_at < moment)
            || over(self.runs, keep.most_runs)
            || over(self.bytes, keep.most_bytes)
    }

    fn count(&mut self, old: &Old) {
        self.runs -= 1;
        self.bytes -= old.bytes;
    }
}

/// What one transaction of pruning did.
#[derive(Debug, Clone)]
struct Batch {
    runs: Vec<Deleted>,
    bytes: i64,
    /// Where to go on, if there may be more.
    next: Option<(TimestampMs, i64)>,
}

fn prune(connection: &Connection, project: &str, keep: &Retention, after: (TimestampMs, i64)) -> Outcome<Batch> {
    let mut tally = Tally::of(connection, project)?;
    let mut batch = Batch { runs: Vec::new(), bytes: 0, next: None };
    let found = oldest(connection, project, after, LOOK)?;
    let all = found.len() < LOOK;
    for old in found {
        if !tally.goes(&old, keep) {
            return Ok(Batch { next: None, ..batch });
        }
        if batch.runs.len() >= BATCH {
            return Ok(batch);
        }
        if old.may_go {
            batch.runs.push(delete(connection, project, &old)?);
            tally.count(&old);
            batch.bytes += old.bytes;
        }
        batch.next = Some((old.created_at, old.key));
    }
    Ok(if all { Batch { next: None, ..batch } } else { batch })
}

impl Store {
    /// Deletes runs that need not be kept, of one project or of all, for `time` at most (a batch more).
    ///
    /// # Errors
    ///
    /// The database could not be written.
    pub fn prune(&self, project: Option<&str>, keep: Retention, time: Duration) -> Result<Pruned> {
        let deadline = Instant::now() + time;
        let projects = match project {
            Some(project) => vec![project.to_owned()],
            None => self.recorded_projects()?,
        };
        let mut pruned = Pruned { complete: true, ..Pruned::default() };
        for project in projects {
            let mut after = Some((TimestampMs::MIN, 0));
            while let Some(place) = after {
                if Instant::now() >= deadline {
                    pruned.complete = false;
                    return Ok(pruned);
                }
                let project = project.clone();
                let batch = self
                    .database
                    .write(Durability::Process, move |connection| prune(connection, &project, &keep, place))?;
                self.forget_created(&batch.runs);
                pruned.runs += batch.runs.len() as u64;
                pruned.bytes += u64::try_from(batch.bytes).unwrap_or(0);
                after = batch.next;
            }
        }
        Ok(pruned)
    }

    /// Deletes a run with everything that belongs to it, pinned or not.
    ///
    /// # Errors
    ///
    /// [`StoreError::Running`] while a process has it in hand; [`StoreError::NoSuchRun`].
    pub fn delete_run(&self, run: &RunId) -> Result<()> {
        let (run, outside) = (run.clone(), self.outside());
        let deleted =
            self.database.write(Durability::Process, move |connection| delete_one(connection, &run, &outside))?;
        self.forget_created(&[deleted]);
        Ok(())
    }

    /// Deletes the files that deleted runs had created.
    pub(crate) fn forget_created(&self, deleted: &[Deleted]) {
        for Deleted { run, folders } in deleted {
            // Rows of long ago do not say where.
            let beside = self.path().parent().map(|folder| folder.join(CREATED).join(run.as_str()));
            for folder in folders.iter().chain(&beside) {
                if let Err(error) = remove_folder(folder)
                    && error.kind() != std::io::ErrorKind::NotFound
                {
                    // The run is gone, and nobody asks for its files any more.
                    tracing::warn!(path = %folder.display(), %error, "files of a deleted run stay");
                }
            }
        }
    }

    /// Returns what each project keeps: its id (or UUID where it is not registered), runs and bytes.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn usage_of_all(&self) -> Result<Vec<(String, u64, u64)>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT project, runs, bytes FROM usage ORDER BY project")?;
            let count = |number: i64| u64::try_from(number).unwrap_or(0);
            let rows = statement.query_map([], |row| Ok((row.get(0)?, count(row.get(1)?), count(row.get(2)?))))?;
            Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
        })
    }

    /// Counts what [`Store::prune`] would delete, and deletes nothing.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn would_prune(&self, project: &str, keep: Retention) -> Result<Pruned> {
        let mut tally = self.tally(project)?;
        let mut pruned = Pruned { complete: true, ..Pruned::default() };
        let mut after = (TimestampMs::MIN, 0);
        loop {
            let found = self.database.read(|connection| oldest(connection, project, after, LOOK))?;
            let all = found.len() < LOOK;
            for old in found {
                if !tally.goes(&old, &keep) {
                    return Ok(pruned);
                }
                after = (old.created_at, old.key);
                if old.may_go {
                    tally.count(&old);
                    pruned.runs += 1;
                    pruned.bytes += u64::try_from(old.bytes).unwrap_or(0);
                }
            }
            if all {
                return Ok(pruned);
            }
        }
    }

    fn tally(&self, project: &str) -> Result<Tally> {
        self.database.read(|connection| Tally::of(connection, project))
    }

    /// Returns the projects that have runs, registered or not.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn recorded_projects(&self) -> Result<Vec<String>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT project FROM usage ORDER BY project")?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<Vec<String>>>()?)
        })
    }

    /// Claims the pruning of this day for this process: true for one caller, if the last one was `every` ago or more. Not
    /// while the clock has just jumped ahead by more than a day.
    ///
    /// # Errors
    ///
    /// The database could not be written.
    pub fn claim_pruning(&self, every: Duration) -> Result<bool> {
        let now = self.now();
        let every = i64::try_from(every.as_millis()).unwrap_or(i64::MAX);
        let due = move |connection: &Connection| -> Outcome<bool> {
            let last: i64 = connection.query_row("SELECT pruned_at FROM meta WHERE one = 1", [], |row| row.get(0))?;
            // A clock that was set back must not stop pruning for years.
            Ok(now.saturating_sub(last) >= every || last > now)
        };
        let claimed = self.when_due(now, due, move |connection| {
            connection.execute("UPDATE meta SET pruned_at = ?1 WHERE one = 1", [now])?;
            Ok(())
        })?;
        Ok(claimed.is_some())
    }

    /// Returns how many runs and bytes a project keeps.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn usage(&self, project: &str) -> Result<(u64, u64)> {
        let tally = self.tally(project)?;
        Ok((u64::try_from(tally.runs).unwrap_or(0), u64::try_from(tally.bytes).unwrap_or(0)))
    }
}
