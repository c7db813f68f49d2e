//! A run moves between its states, and from one owner to the next.

use model::{CancelReason, CreatedFile, ErrorCode, Report, RunError, RunId, RunStatus, TimestampMs};
use rusqlite::Connection;
use serde_json::json;

use crate::body::Stored;
use crate::database::Outcome;
use crate::nodes::NodeRow;
use crate::runs::create::{ERROR, FILES, OUTPUT, SEALED};
use crate::runs::{Lease, PART_RESULT, SaidProgress, State, find, grow, held, index, note, searchable};
use crate::store::Kept;
use crate::{Durability, Owner, Result, Store, StoreError, StoreOptions, body, family, logs, nodes};

/// How a run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Finish {
    /// The final state, or [`RunStatus::Interrupted`].
    pub status: RunStatus,
    /// Output, error and nodes.
    pub report: Report,
    /// Why it is cancelled, if it is.
    pub cancel_reason: Option<CancelReason>,
    /// The files it created.
    pub files: Vec<CreatedFile>,
}

/// A run that another process has in hand now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The right to write it.
    pub lease: Lease,
    /// Where it stood before. It stands there still, but for a run whose owner died: that one is `interrupted` now.
    pub was: RunStatus,
}

/// What became of a wish to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// The run is cancelled.
    Done,
    /// Its owner lives and was told (see [`Store::signals`]).
    Requested,
    /// It had ended before.
    Ended(RunStatus),
}

/// What others want of a run's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signals {
    /// Where the run stands.
    pub status: RunStatus,
    /// The present epoch; another one than the owner's means that it has lost the run.
    pub epoch: u64,
    /// Somebody wants the run cancelled.
    pub cancel: Option<CancelReason>,
}

/// How much a run has told so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Told {
    /// Narrations other than nodes that are recorded, if they were counted.
    pub narrated: Option<u64>,
    /// How far it said it had come.
    pub said: Option<SaidProgress>,
}

/// One change of state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) to: RunStatus,
    pub(crate) reason: Option<CancelReason>,
    pub(crate) at: TimestampMs,
}

/// Makes a step of a run's life.
pub(crate) fn step(connection: &Connection, state: &State, step: Step) -> Outcome<()> {
    state
        .status
        .check_transition(step.to, state.cancel_reason)
        .map_err(|source| StoreError::Transition { run: state.run.clone(), source })?;
    set(connection, state, step)
}

/// Cancels a run that no process has in hand, and says why as its own process would have.
pub(crate) fn cancel_now(connection: &Connection, state: &State, reason: CancelReason, at: TimestampMs) -> Outcome<()> {
    step(connection, state, Step { to: RunStatus::Cancelled, reason: Some(reason), at })?;
    let error = json!(RunError::new(ErrorCode::Cancelled, reason.sentence())).to_string();
    let bytes = body::put(connection, state.key, ERROR, &Stored::new(error.as_bytes()))?;
    grow(connection, state, bytes)
}

/// Cancels one run from outside, or tells the living process that has it.
pub(crate) fn cancel(
    connection: &Connection,
    state: &State,
    reason: CancelReason,
    outside: &StoreOptions,
) -> Outcome<CancelOutcome> {
    if state.status == RunStatus::Cancelled && state.cancel_reason == Some(CancelReason::ClientGone) {
        // The person's word is final: from now on nobody resumes it.
        connection
            .prepare_cached("UPDATE runs SET cancel_reason = ?2 WHERE key = ?1")?
            .execute((state.key, reason.as_str()))?;
        if reason != CancelReason::ClientGone {
            forget_sealed(connection, state)?;
            family::settle_above(connection, state, outside.clock.now())?;
        }
        note(connection, state, "status")?;
        return Ok(CancelOutcome::Done);
    }
    if state.status.is_final() {
        return Ok(CancelOutcome::Ended(state.status));
    }
    let alive = state.owner.as_ref().is_some_and(|owner| (outside.is_alive)(owner));
    if state.status.needs_owner() && alive {
        connection
            .prepare_cached("UPDATE runs SET cancel_requested = ?2 WHERE key = ?1")?
            .execute((state.key, reason.as_str()))?;
        note(connection, state, "cancel")?;
        return Ok(CancelOutcome::Requested);
    }
    cancel_now(connection, state, reason, outside.clock.now())?;
    hand_over(connection, state, None)?;
    Ok(CancelOutcome::Done)
}

/// Sets a status that was checked: row, stage and change feed. The only place where a run's status changes.
fn set(connection: &Connection, state: &State, step: Step) -> Outcome<()> {
    let started = if step.to == RunStatus::Running { Some(step.at) } else { None };
    let finished = if step.to.is_final() { Some(step.at) } else { None };
    let reason = if step.to == RunStatus::Cancelled { step.reason.map(CancelReason::as_str) } else { None };
    connection
        .prepare_cached(
            "UPDATE runs SET status = ?2, started_at = coalesce(started_at, ?3), finished_at = ?4, \
             cancel_reason = ?5, cancel_requested = NULL WHERE key = ?1",
        )?
        .execute((state.key, step.to.as_str(), started, finished, reason))?;
    connection
        .prepare_cached(
            "INSERT INTO stages (run, n, status, at) \
             SELECT ?1, coalesce(max(n) + 1, 0), ?2, ?3 FROM stages WHERE run = ?1",
        )?
        .execute((state.key, step.to.as_str(), step.at))?;
    if step.to == RunStatus::Running && (state.status.is_final() || state.status == RunStatus::Interrupted) {
        // It goes on: how it ended before is no longer how it ended.
        let mut bytes = 0;
        for kind in [OUTPUT, ERROR, FILES] {
            bytes += body::delete(connection, state.key, kind)?;
        }
        grow(connection, state, -bytes)?;
    }
    if step.to.is_final() {
        nodes::close(connection, state.key, step.to, step.at)?;
        if reason != Some(CancelReason::ClientGone.as_str()) {
            forget_sealed(connection, state)?;
            family::settle_above(connection, state, step.at)?;
        }
    }
    note(connection, state, "status")
}

/// Deletes what was kept sealed for resuming: the run will never go on.
fn forget_sealed(connection: &Connection, state: &State) -> Outcome<()> {
    if !state.sealed {
        return Ok(());
    }
    for kind in SEALED {
        connection.prepare_cached("DELETE FROM bodies WHERE run = ?1 AND kind = ?2")?.execute((state.key, kind))?;
    }
    connection
        .prepare_cached("UPDATE interactions SET sealed = NULL, sealed_form = NULL WHERE run = ?1")?
        .execute([state.key])?;
    connection
        .prepare_cached("UPDATE journal SET payload = NULL WHERE run = ?1 AND encoding >= 2")?
        .execute([state.key])?;
    connection.prepare_cached("UPDATE runs SET sealed = 0 WHERE key = ?1")?.execute([state.key])?;
    family::forget_outputs(connection, state)
}

/// Sets who has the run in hand, with a new epoch. Returns it.
pub(crate) fn hand_over(connection: &Connection, state: &State, owner: Option<&Owner>) -> Outcome<i64> {
    let epoch = state.epoch + 1;
    connection
        .prepare_cached("UPDATE runs SET epoch = ?2, owner_pid = ?3, owner_start = ?4, owner_boot = ?5 WHERE key = ?1")?
        .execute((
            state.key,
            epoch,
            owner.map(|owner| owner.pid),
            owner.map(|owner| i64::try_from(owner.start).unwrap_or(0)),
            owner.map(|owner| owner.boot.as_str()),
        ))?;
    note(connection, state, "owner")?;
    Ok(epoch)
}

/// How the call ended that left a run waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEnd {
    /// It was answered with this. `interaction_required`: its client could not be asked.
    With(ErrorCode),
    /// Its client was asked, or may have been, and is not asking any more.
    Left,
}

impl CallEnd {
    const LEFT: &str = "left";

    fn as_str(self) -> &'static str {
        match self {
            Self::With(code) => code.as_str(),
            Self::Left => Self::LEFT,
        }
    }

    /// What is recorded by another version says nothing about asking.
    fn of(text: &str) -> Self {
        ErrorCode::parse(text).map_or(Self::Left, Self::With)
    }
}

impl Store {
    /// Moves a run to another state. A waiting state is safe against a loss of power.
    ///
    /// To end a run use [`Store::finish`].
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`], or [`StoreError::Transition`] when the run cannot make that step.
    pub fn transition(&self, lease: &Lease, to: RunStatus) -> Result<()> {
        let durability = match to {
            RunStatus::WaitingForInput => Durability::Power,
            RunStatus::Queued
            | RunStatus::Running
            | RunStatus::Interrupted
            | RunStatus::Success
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::Timeout => Durability::Process,
        };
        let (lease, outside) = (lease.clone(), self.outside());
        self.database.write(durability, move |connection| {
            let state = held(connection, &lease)?;
            step(connection, &state, Step { to, reason: None, at: outside.clock.now() })
        })
    }

    /// Ends a run: state, output, error, nodes and files in one commit.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`], or [`StoreError::Transition`] when the run has ended before (a cancel that came
    /// after the end, say).
    pub fn finish(&self, lease: &Lease, finish: Finish) -> Result<()> {
        let Finish { status, report, cancel_reason, files } = finish;
        let mut bodies: Vec<(&'static str, Kept)> = Vec::new();
        let mut handed_up = None;
        if let Some(output) = &report.output {
            let kept = self.keep(output);
            handed_up = kept.sealed.is_some().then(|| self.seal_output(output)).flatten();
            bodies.push((OUTPUT, kept));
        }
        if let Some(error) = &report.error {
            bodies.push((ERROR, self.keep(&json!(error))));
        }
        if !files.is_empty() {
            bodies.push((FILES, self.keep(&json!(files))));
        }
        let nodes: Vec<NodeRow> = nodes::rows(&report.nodes, self.masker());
        let mut texts: Vec<&str> = bodies.iter().map(|(_, kept)| kept.text.as_str()).collect();
        texts.extend(nodes.iter().map(NodeRow::title));
        let text = searchable(&texts);
        let nothing_to_find = texts.is_empty();
        let (lease, outside) = (lease.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            step(connection, &state, Step { to: status, reason: cancel_reason, at: outside.clock.now() })?;
            let mut bytes = 0;
            for (kind, kept) in &bodies {
                bytes += body::put(connection, state.key, kind, &kept.stored)?;
            }
            if let Some(sealed) = &handed_up {
                bytes += family::keep_output(connection, &state, sealed)?;
            }
            if !nodes.is_empty() {
                nodes::replace(connection, state.key, &nodes)?;
            }
            if !nothing_to_find {
                index(connection, state.key, PART_RESULT, &text)?;
            }
            logs::index_end(connection, state.key)?;
            grow(connection, &state, bytes)
        })
    }

    /// Takes a run into the hands of another process, under a new epoch: only if it waits, was interrupted, was
    /// cancelled because its client went away, or its owner is gone. The old owner can write no more.
    ///
    /// `seen` is the epoch the caller has looked at, if it has: of several callers who have seen the same one only the
    /// first gets the run.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFree`], or [`StoreError::StaleEpoch`] when somebody else was faster.
    pub fn take_over(&self, run: &RunId, owner: &Owner, seen: Option<u64>) -> Result<Taken> {
        let (run, owner, outside) = (run.clone(), owner.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            let mut state = find(connection, &run)?;
            let current = u64::try_from(state.epoch).unwrap_or(0);
            if let Some(epoch) = seen.filter(|seen| *seen != current) {
                return Err(StoreError::StaleEpoch { run: run.clone(), epoch, current }.into());
            }
            let alive = state.owner.as_ref().filter(|owner| (outside.is_alive)(owner));
            let free = match state.status {
                RunStatus::WaitingForInput | RunStatus::Interrupted => true,
                RunStatus::Cancelled => state.cancel_reason == Some(CancelReason::ClientGone),
                RunStatus::Queued | RunStatus::Running => alive.is_none(),
                RunStatus::Success | RunStatus::Failed | RunStatus::Timeout => false,
            };
            if !free {
                let owner = alive.map(|owner| owner.pid);
                return Err(StoreError::NotFree { run: run.clone(), status: state.status, owner }.into());
            }
            let was = state.status;
            if was.needs_owner() {
                step(connection, &state, Step { to: RunStatus::Interrupted, reason: None, at: outside.clock.now() })?;
                state.status = RunStatus::Interrupted;
            }
            let epoch = hand_over(connection, &state, Some(&owner))?;
            Ok(Taken { lease: Lease { run: run.clone(), key: state.key, epoch }, was })
        })
    }

    /// Takes the right to write a run whose state lies elsewhere and is guarded there (a guided workflow's session): whoever
    /// may change that state records it, whether or not the process lives that recorded it last. The run goes on with it.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFree`] when it has ended.
    pub fn attend(&self, run: &RunId, owner: &Owner) -> Result<Lease> {
        let (run, owner, outside) = (run.clone(), owner.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            let state = find(connection, &run)?;
            if state.status.is_final() {
                let owner = state.owner.as_ref().map(|owner| owner.pid);
                return Err(StoreError::NotFree { run: run.clone(), status: state.status, owner }.into());
            }
            let is_ours = state.owner.as_ref() == Some(&owner);
            if state.status != RunStatus::Running {
                step(connection, &state, Step { to: RunStatus::Running, reason: None, at: outside.clock.now() })?;
            } else if is_ours {
                return Ok(Lease { run: run.clone(), key: state.key, epoch: state.epoch });
            }
            let epoch = hand_over(connection, &state, Some(&owner))?;
            Ok(Lease { run: run.clone(), key: state.key, epoch })
        })
    }

    /// Has a run that has ended run again in the hands of this process, since one of its agents is to be asked again.
    ///
    /// # Errors
    ///
    /// [`StoreError::Transition`] when it has not ended, or [`StoreError::StaleEpoch`] when somebody else was faster.
    pub fn reopen(&self, run: &RunId, owner: &Owner, seen: u64) -> Result<Lease> {
        let (run, owner, outside) = (run.clone(), owner.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            let state = find(connection, &run)?;
            let current = u64::try_from(state.epoch).unwrap_or(0);
            if seen != current {
                return Err(StoreError::StaleEpoch { run: run.clone(), epoch: seen, current }.into());
            }
            let refused = |source| StoreError::Transition { run: run.clone(), source };
            state.status.check_retry().map_err(refused)?;
            set(connection, &state, Step { to: RunStatus::Running, reason: None, at: outside.clock.now() })?;
            // From the agent on it may tell something else than before.
            connection.prepare_cached("UPDATE runs SET narrated = NULL WHERE key = ?1")?.execute([state.key])?;
            let epoch = hand_over(connection, &state, Some(&owner))?;
            Ok(Lease { run: run.clone(), key: state.key, epoch })
        })
    }

    /// Lets go of a waiting run while its process lives on: whoever answers takes it over at once.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`] when the run is in other hands already.
    pub fn release(&self, lease: &Lease) -> Result<()> {
        let lease = lease.clone();
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            hand_over(connection, &state, None).map(drop)
        })
    }

    /// As [`Store::release`], for a run whose call has ended meanwhile; `how` says in which way.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`] when the run is in other hands already.
    pub fn park(&self, lease: &Lease, how: CallEnd) -> Result<()> {
        let (lease, at) = (lease.clone(), self.now());
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            connection.prepare_cached("UPDATE runs SET parked = ?2, parked_at = ?3 WHERE key = ?1")?.execute((
                state.key,
                how.as_str(),
                at,
            ))?;
            hand_over(connection, &state, None).map(drop)
        })
    }

    /// Returns how and when the call ended that had left a run waiting, if one has.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`].
    pub fn parked(&self, run: &RunId) -> Result<Option<(CallEnd, TimestampMs)>> {
        self.database.read(|connection| {
            let key = find(connection, run)?.key;
            let parked: (Option<String>, Option<TimestampMs>) = connection
                .prepare_cached("SELECT parked, parked_at FROM runs WHERE key = ?1")?
                .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(parked.0.map(|how| CallEnd::of(&how)).zip(parked.1))
        })
    }

    /// Writes down how far a run says it has come.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`] when the run is in other hands.
    pub fn come_so_far(&self, lease: &Lease, progress: SaidProgress) -> Result<()> {
        let (lease, text) = (lease.clone(), json!(progress).to_string());
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            connection.prepare_cached("UPDATE runs SET progress = ?2 WHERE key = ?1")?.execute((state.key, &text))?;
            note(connection, &state, "nodes")
        })
    }

    /// Returns how much a run has told so far, for whoever takes it up.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`].
    pub fn told(&self, run: &RunId) -> Result<Told> {
        self.database.read(|connection| {
            let key = find(connection, run)?.key;
            let (narrated, progress): (Option<i64>, Option<String>) = connection
                .prepare_cached("SELECT narrated, progress FROM runs WHERE key = ?1")?
                .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let said = progress.map(|text| body::parse(&text, "a run's progress")).transpose()?;
            Ok(Told { narrated: narrated.and_then(|count| u64::try_from(count).ok()), said })
        })
    }

    /// Marks runs as interrupted whose owner is gone. Never one whose owner lives, however long it was silent.
    /// Returns them.
    ///
    /// # Errors
    ///
    /// The database could not be read or written.
    pub fn mark_interrupted(&self) -> Result<Vec<RunId>> {
        let suspects = self.database.read(|connection| {
            let mut statement = connection.prepare_cached(UNFINISHED)?;
            let mut rows = statement.query([])?;
            let mut suspects = Vec::new();
            while let Some(row) = rows.next()? {
                suspects.push(super::run_id(row.get(0)?)?);
            }
            Ok(suspects)
        })?;
        if suspects.is_empty() {
            return Ok(suspects);
        }
        let gone = |outside: &StoreOptions, state: &State| {
            state.status.needs_owner() && state.owner.as_ref().is_none_or(|owner| !(outside.is_alive)(owner))
        };
        // Ordinarily all of them live: then nothing is written.
        let mut dead = Vec::new();
        for run in suspects {
            if self.database.read(|connection| Ok(gone(&self.options, &find(connection, &run)?)))? {
                dead.push(run);
            }
        }
        if dead.is_empty() {
            return Ok(dead);
        }
        let outside = self.outside();
        self.database.write(Durability::Process, move |connection| {
            let mut marked = Vec::new();
            for run in &dead {
                let state = find(connection, run)?;
                if gone(&outside, &state) {
                    step(
                        connection,
                        &state,
                        Step { to: RunStatus::Interrupted, reason: None, at: outside.clock.now() },
                    )?;
                    hand_over(connection, &state, None)?;
                    marked.push(run.clone());
                }
            }
            Ok(marked)
        })
    }

    /// Cancels a run from outside. One that a living process has in hand is cancelled by that process, which sees the
    /// wish in [`Store::signals`]; a waiting, interrupted or abandoned one is cancelled here, and the related runs that it
    /// has started with it. A run that waited for it, and that no process has in hand, can be continued from then on.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`].
    pub fn request_cancel(&self, run: &RunId, reason: CancelReason) -> Result<CancelOutcome> {
        let (run, outside) = (run.clone(), self.outside());
        self.database.write(Durability::Process, move |connection| {
            let state = find(connection, &run)?;
            let outcome = cancel(connection, &state, reason, &outside)?;
            if outcome == CancelOutcome::Done {
                family::cancel_around(connection, &state, reason, &outside)?;
            }
            Ok(outcome)
        })
    }

    /// Returns what others want of a run's owner.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`].
    pub fn signals(&self, run: &RunId) -> Result<Signals> {
        self.database.read(|connection| {
            let state = find(connection, run)?;
            Ok(Signals {
                status: state.status,
                epoch: u64::try_from(state.epoch).unwrap_or(0),
                cancel: state.cancel_requested,
            })
        })
    }

    /// Writes down how long a run has worked so far, in milliseconds and without the time it waited for people. Never
    /// less than before.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`] when the run is in other hands.
    pub fn spend(&self, lease: &Lease, milliseconds: u64) -> Result<()> {
        let (lease, spent) = (lease.clone(), i64::try_from(milliseconds).unwrap_or(i64::MAX));
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            connection
                .prepare_cached("UPDATE runs SET spent_ms = max(spent_ms, ?2) WHERE key = ?1")?
                .execute((state.key, spent))?;
            Ok(())
        })
    }

    /// Returns how long a run had worked when that was last written down, in milliseconds.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`].
    pub fn spent(&self, run: &RunId) -> Result<u64> {
        self.database.read(|connection| {
            let key = find(connection, run)?.key;
            let spent: i64 = connection
                .prepare_cached("SELECT spent_ms FROM runs WHERE key = ?1")?
                .query_row([key], |row| row.get(0))?;
            Ok(u64::try_from(spent).unwrap_or(0))
        })
    }

    /// Keeps a run whatever retention says, or no longer.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`].
    pub fn pin(&self, run: &RunId, pinned: bool) -> Result<()> {
        let run = run.clone();
        self.database.write(Durability::Process, move |connection| {
            let state = find(connection, &run)?;
            connection.prepare_cached("UPDATE runs SET pinned = ?2 WHERE key = ?1")?.execute((state.key, pinned))?;
            note(connection, &state, "pin")
        })
    }
}

/// Runs that need an owner.
pub(crate) const UNFINISHED: &str = "SELECT run_id FROM runs INDEXED BY runs_by_status \
     WHERE status IN ('queued', 'running')";
