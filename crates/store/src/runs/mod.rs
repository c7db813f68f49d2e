//! Runs: making them, moving them between their states, finding and showing them.

mod count;
pub(crate) mod create;
mod found;
mod list;
mod page;
mod rows;
mod search;
mod shape;
mod show;
mod state;

use model::{CancelReason, EntrypointId, Origin, RunId, RunStatus, TimestampMs};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::database::{Fault, Outcome};
use crate::{Owner, StoreError};

pub use count::Counted;
#[cfg(test)]
pub(crate) use count::{UNENDED, between_sql};
pub(crate) use create::{ERROR, FACTS, FILES};
pub use create::{FirstStatus, NewRun, RunProject};
#[cfg(test)]
pub(crate) use found::PART_OF;
pub use found::{Found, FoundPart};
pub use list::RunFilter;
#[cfg(test)]
pub(crate) use list::list_sql;
pub use page::{NoPlace, RunEntry, RunPage, RunPlace};
#[cfg(test)]
pub(crate) use page::{count_sql, page_sql};
#[cfg(test)]
pub(crate) use rows::AT_NODE;
pub use rows::{RowDetails, SaidProgress};
#[cfg(test)]
pub(crate) use search::{HITS, NEWEST, SEEK, TERM, WALK, search, search_sql};
pub use show::{INSTANCE_FIELD, RunRecord, RunSizes, Stage};
#[cfg(test)]
pub(crate) use state::UNFINISHED;
pub use state::{CallEnd, CancelOutcome, Finish, Signals, Taken, Told};
pub(crate) use state::{Step, cancel, cancel_now, hand_over, step};

/// The right to write a run's records: held by its owner until another process takes the run over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub(crate) run: RunId,
    pub(crate) key: i64,
    pub(crate) epoch: i64,
}

impl Lease {
    /// Returns the run.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the epoch: it grows with each owner.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        u64::try_from(self.epoch).unwrap_or(0)
    }
}

/// What lists show of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// The run.
    pub run_id: RunId,
    /// What it is listed under: the registry's id, or the project's UUID where there is no registry.
    pub project: String,
    /// Whether `project` is an id of the registry.
    pub registered: bool,
    /// The entrypoint.
    pub entrypoint_id: EntrypointId,
    /// Its title as it was.
    pub entrypoint_title: String,
    /// Where the run stands.
    pub status: RunStatus,
    /// Where it was started.
    pub origin: Origin,
    /// The client's name, if a client started it.
    pub client: Option<String>,
    /// The run that started it, if one did.
    pub parent: Option<RunId>,
    /// When it was recorded.
    pub created_at: TimestampMs,
    /// When it first ran.
    pub started_at: Option<TimestampMs>,
    /// When it ended.
    pub finished_at: Option<TimestampMs>,
    /// Why it was cancelled, if it was.
    pub cancel_reason: Option<CancelReason>,
    /// Whether it is kept whatever retention says.
    pub pinned: bool,
    /// The present epoch.
    pub epoch: u64,
}

impl RunSummary {
    /// Tells whether nobody goes on with the run any more: it has ended, and not since its client went away.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.status.is_over(self.cancel_reason)
    }

    /// Returns how long the run took, from its start (or its record, if it never started) to its end.
    #[must_use]
    pub fn duration_ms(&self) -> Option<i64> {
        Some(self.finished_at?.saturating_sub(self.started_at.unwrap_or(self.created_at)).max(0))
    }
}

/// The columns of a [`RunSummary`], in the order [`summary`] reads them.
pub(crate) const SUMMARY: &str = "runs.run_id, runs.project, runs.registered, runs.entrypoint, \
     runs.entrypoint_title, runs.status, runs.origin, runs.client, runs.parent, runs.created_at, runs.started_at, \
     runs.finished_at, runs.cancel_reason, runs.pinned, runs.epoch, runs.key";
/// Where the key stands in them.
pub(crate) const SUMMARY_KEY: usize = 15;

/// Reads the columns of [`SUMMARY`].
pub(crate) fn summary(row: &Row<'_>) -> Outcome<RunSummary> {
    let run_id = run_id(row.get(0)?)?;
    let damaged = |what: &str| Fault::Damaged(format!("run {run_id} has an unknown {what}"));
    Ok(RunSummary {
        project: row.get(1)?,
        registered: row.get(2)?,
        entrypoint_id: row.get::<_, String>(3)?.parse().map_err(|_| damaged("entrypoint"))?,
        entrypoint_title: row.get(4)?,
        status: RunStatus::parse(row.get_ref(5)?.as_str().unwrap_or("")).ok_or_else(|| damaged("status"))?,
        origin: Origin::parse(row.get_ref(6)?.as_str().unwrap_or("")).ok_or_else(|| damaged("origin"))?,
        client: row.get(7)?,
        parent: row.get::<_, Option<String>>(8)?.map(self::run_id).transpose()?,
        created_at: row.get(9)?,
        started_at: row.get(10)?,
        finished_at: row.get(11)?,
        cancel_reason: reason(row.get(12)?)?,
        pinned: row.get(13)?,
        epoch: u64::try_from(row.get::<_, i64>(14)?).unwrap_or(0),
        run_id,
    })
}

pub(crate) fn run_id(text: String) -> Outcome<RunId> {
    RunId::try_from(text).map_err(|error| Fault::Damaged(error.to_string()))
}

fn reason(text: Option<String>) -> Outcome<Option<CancelReason>> {
    text.map(|text| {
        CancelReason::parse(&text).ok_or_else(|| Fault::Damaged(format!("`{text}` is no reason to cancel a run")))
    })
    .transpose()
}

/// What a write needs to know of a run before it changes it.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) key: i64,
    pub(crate) run: RunId,
    pub(crate) project: String,
    pub(crate) status: RunStatus,
    pub(crate) epoch: i64,
    pub(crate) cancel_reason: Option<CancelReason>,
    pub(crate) cancel_requested: Option<CancelReason>,
    pub(crate) sealed: bool,
    pub(crate) owner: Option<Owner>,
    /// The run that started it, if one did.
    pub(crate) parent: Option<RunId>,
}

const FIND: &str = "SELECT key, run_id, project, status, epoch, cancel_reason, cancel_requested, sealed, owner_pid, \
     owner_start, owner_boot, parent FROM runs WHERE run_id = ?1";

fn state(row: &Row<'_>) -> Outcome<State> {
    let run = run_id(row.get(1)?)?;
    let status = RunStatus::parse(row.get_ref(3)?.as_str().unwrap_or(""))
        .ok_or_else(|| Fault::Damaged(format!("run {run} has an unknown status")))?;
    let owner = row.get::<_, Option<u32>>(8)?.map(|pid| -> rusqlite::Result<Owner> {
        let start = u64::try_from(row.get::<_, Option<i64>>(9)?.unwrap_or(0)).unwrap_or(0);
        Ok(Owner { pid, start, boot: row.get::<_, Option<String>>(10)?.unwrap_or_default() })
    });
    Ok(State {
        key: row.get(0)?,
        run,
        project: row.get(2)?,
        status,
        epoch: row.get(4)?,
        cancel_reason: reason(row.get(5)?)?,
        cancel_requested: reason(row.get(6)?)?,
        sealed: row.get(7)?,
        owner: owner.transpose()?,
        parent: row.get::<_, Option<String>>(11)?.map(run_id).transpose()?,
    })
}

/// Finds a run by its id.
pub(crate) fn find(connection: &Connection, run: &RunId) -> Outcome<State> {
    find_recorded(connection, run)?.ok_or_else(|| StoreError::NoSuchRun { run: run.clone() }.into())
}

/// Finds a run by its id, if it is recorded still: related runs may have been deleted.
pub(crate) fn find_recorded(connection: &Connection, run: &RunId) -> Outcome<Option<State>> {
    connection.prepare_cached(FIND)?.query_row([run.as_str()], |row| Ok(state(row))).optional()?.transpose()
}

/// Finds the run of a lease, and checks that nobody has taken it over.
pub(crate) fn held(connection: &Connection, lease: &Lease) -> Outcome<State> {
    let state = find(connection, &lease.run)?;
    if state.epoch != lease.epoch || state.key != lease.key {
        return Err(StoreError::StaleEpoch {
            run: lease.run.clone(),
            epoch: lease.epoch(),
            current: u64::try_from(state.epoch).unwrap_or(0),
        }
        .into());
    }
    Ok(state)
}

/// Tells watchers that something of a run has changed.
pub(crate) fn note(connection: &Connection, state: &State, what: &str) -> Outcome<()> {
    crate::changes::note(connection, Some(&state.run), Some(&state.project), what)
}

/// Counts bytes that a run's records grew by.
pub(crate) fn grow(connection: &Connection, state: &State, bytes: i64) -> Outcome<()> {
    if bytes == 0 {
        return Ok(());
    }
    connection.prepare_cached("UPDATE runs SET bytes = bytes + ?2 WHERE key = ?1")?.execute((state.key, bytes))?;
    connection
        .prepare_cached("UPDATE usage SET bytes = bytes + ?2 WHERE project = ?1")?
        .execute((&state.project, bytes))?;
    Ok(())
}

/// Bytes of one text that are searchable; of a longer one its beginning.
const INDEXED_BYTES: usize = 256 * 1024;
/// Parts that a run's text may have in the index; the row id is `run * PARTS + part`.
pub(crate) const PARTS: i64 = 65_536;
/// Ids, title and input.
pub(crate) const PART_INPUT: i64 = 0;
/// Output, error and node titles.
pub(crate) const PART_RESULT: i64 = 1;
/// The first part of the logs.
pub(crate) const PART_LOGS: i64 = 2;

/// Prepares texts for the index.
pub(crate) fn searchable(texts: &[&str]) -> String {
    let mut out = String::new();
    for text in texts {
        let room = INDEXED_BYTES.saturating_sub(out.len());
        out.push_str(&crate::text::segmented(head(text, room)));
        out.push('\n');
    }
    out
}

/// Returns at most `most` bytes of the beginning of a text.
pub(crate) fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Puts a part of a run's text into the index.
pub(crate) fn index(connection: &Connection, key: i64, part: i64, text: &str) -> Outcome<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO run_text (rowid, text) VALUES (?1, ?2)")?
        .execute((key * PARTS + part, text))?;
    Ok(())
}
