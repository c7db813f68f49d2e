//! A run and the related runs below it: one question that stands in several records, and one end.
//!
//! A related run that asks a person has its question in its own record, and once more in the record of every run above
//! it. The one at the bottom is answered, and those above with it, in the same transaction: an answer that one record
//! has and another has not would leave a run waiting for nothing. The question of a run that stands for the one with
//! number `n` below is its `n`-th (from 0) of those that name that child.

use model::{CancelReason, ErrorCode, RunError, RunId, RunStatus, TimestampMs};
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::{Value, json};

use crate::body::{self, Stored};
use crate::database::Outcome;
use crate::runs::{ERROR, State, Step, cancel_now, find, find_recorded, grow, hand_over, note, step};
use crate::{Durability, Result, Store, StoreOptions};

/// Runs above each other that are looked at; the executor allows far fewer.
const DEPTH: usize = 64;

/// Who has answered a question whose related run ended without an answer.
const BY_END: &str = "related";

/// The body with what a related run came to, for the run that started it.
const SEALED_OUTPUT: &str = "output.sealed";

/// Finds waiting, running or resumable runs that a run has started.
const UNFINISHED_BELOW: &str = "SELECT run_id FROM runs INDEXED BY runs_by_parent WHERE parent = ?1 \
     AND (status IN ('queued', 'running', 'waiting_for_input', 'interrupted') \
     OR (status = 'cancelled' AND cancel_reason = 'client_gone'))";

/// An answer as every record of its question shows it.
pub(crate) struct Shown<'a> {
    pub(crate) action: &'a str,
    pub(crate) content: &'a str,
    pub(crate) by: &'a str,
    pub(crate) at: TimestampMs,
}

impl Shown<'_> {
    /// What stands where a related run has ended without an answer.
    fn unanswered(at: TimestampMs) -> Self {
        Self { action: "cancel", content: "null", by: BY_END, at }
    }
}

/// A question of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) run: RunId,
    pub(crate) question: i64,
}

/// Follows a question down to the run that really asks. Returns the places from there up to the one that was named.
pub(crate) fn places(connection: &Connection, run: &RunId, question: i64) -> Outcome<Vec<Place>> {
    let mut places = vec![Place { run: run.clone(), question }];
    while places.len() < DEPTH
        && let Some(last) = places.last()
        && let Some(below) = below(connection, last)?
    {
        places.push(below);
    }
    places.reverse();
    Ok(places)
}

/// The question of a related run that a question stands for.
fn below(connection: &Connection, place: &Place) -> Outcome<Option<Place>> {
    let key = find(connection, &place.run)?.key;
    let child: Option<String> = connection
        .prepare_cached("SELECT child FROM interactions WHERE run = ?1 AND question = ?2")?
        .query_row((key, place.question), |row| row.get(0))
        .optional()?
        .flatten();
    let Some(child) = child else { return Ok(None) };
    let earlier: i64 = connection
        .prepare_cached("SELECT count(*) FROM interactions WHERE run = ?1 AND child = ?2 AND question < ?3")?
        .query_row((key, &child, place.question), |row| row.get(0))?;
    let child = crate::runs::run_id(child)?;
    let Some(state) = find_recorded(connection, &child)? else { return Ok(None) };
    let is_there: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM interactions WHERE run = ?1 AND question = ?2)")?
        .query_row((state.key, earlier), |row| row.get(0))?;
    Ok(is_there.then_some(Place { run: child, question: earlier }))
}

/// Answers the questions above that stand for this one.
pub(crate) fn answer_above(connection: &Connection, state: &State, question: i64, shown: &Shown<'_>) -> Outcome<()> {
    let (mut below, mut number) = (state.clone(), question);
    for _ in 0..DEPTH {
        let Some(above) = parent(connection, &below)? else { return Ok(()) };
        let standing: Option<i64> = connection
            .prepare_cached(
                "SELECT question FROM interactions WHERE run = ?1 AND child = ?2 ORDER BY question LIMIT 1 OFFSET ?3",
            )?
            .query_row((above.key, below.run.as_str(), number), |row| row.get(0))
            .optional()?;
        let Some(standing) = standing else { return Ok(()) };
        answer_here(connection, &above, standing, shown)?;
        (below, number) = (above, standing);
    }
    Ok(())
}

fn answer_here(connection: &Connection, state: &State, question: i64, shown: &Shown<'_>) -> Outcome<()> {
    let answered = connection
        .prepare_cached(
            "UPDATE interactions SET action = ?3, content = ?4, answered_by = ?5, answered_at = ?6 \
             WHERE run = ?1 AND question = ?2 AND answered_at IS NULL",
        )?
        .execute((state.key, question, shown.action, shown.content, shown.by, shown.at))?;
    if answered > 0 {
        note(connection, state, "answer")?;
        grow(connection, state, i64::try_from(shown.content.len()).unwrap_or(0))?;
    }
    Ok(())
}

fn parent(connection: &Connection, state: &State) -> Outcome<Option<State>> {
    state.parent.as_ref().map_or(Ok(None), |parent| find_recorded(connection, parent))
}

/// A run has ended: what it asked stands open in no run above any more.
pub(crate) fn settle_above(connection: &Connection, state: &State, at: TimestampMs) -> Outcome<()> {
    let Some(above) = parent(connection, state)? else { return Ok(()) };
    let shown = Shown::unanswered(at);
    let open: Vec<i64> = connection
        .prepare_cached("SELECT question FROM interactions WHERE run = ?1 AND child = ?2 AND answered_at IS NULL")?
        .query_map((above.key, state.run.as_str()), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for question in open {
        answer_here(connection, &above, question, &shown)?;
        answer_above(connection, &above, question, &shown)?;
    }
    Ok(())
}

/// Answers what stands open in a run although it was answered below, or will never be: versions before this one
/// answered one record at a time.
pub(crate) fn settle_below(connection: &Connection, state: &State, at: TimestampMs) -> Outcome<()> {
    type Answer = (Option<String>, Option<String>, Option<String>, Option<TimestampMs>);
    let open: Vec<i64> = connection
        .prepare_cached(
            "SELECT question FROM interactions WHERE run = ?1 AND child IS NOT NULL AND answered_at IS NULL",
        )?
        .query_map([state.key], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for question in open {
        let place = Place { run: state.run.clone(), question };
        let Some(theirs) = below(connection, &place)? else { continue };
        let child = find(connection, &theirs.run)?;
        settle_below(connection, &child, at)?;
        let answer: Answer = connection
            .prepare_cached(
                "SELECT action, content, answered_by, answered_at FROM interactions WHERE run = ?1 AND question = ?2",
            )?
            .query_row((child.key, theirs.question), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        let (action, content, by) =
            (answer.0.unwrap_or_default(), answer.1.unwrap_or_else(|| "null".into()), answer.2.unwrap_or_default());
        let shown = match answer.3 {
            Some(at) => Shown { action: &action, content: &content, by: &by, at },
            None if is_over(&child) => Shown::unanswered(at),
            None => continue,
        };
        answer_here(connection, state, question, &shown)?;
    }
    Ok(())
}

/// Whether a run will never go on: one whose client went away may.
fn is_over(state: &State) -> bool {
    state.status.is_over(state.cancel_reason)
}

/// Cancels what a cancelled run had started, and lets go of the runs that waited for it.
pub(crate) fn cancel_around(
    connection: &Connection,
    state: &State,
    reason: CancelReason,
    outside: &StoreOptions,
) -> Outcome<()> {
    cancel_below(connection, &state.run, reason, outside, DEPTH)?;
    let mut below = state.clone();
    for _ in 0..DEPTH {
        let Some(above) = parent(connection, &below)? else { return Ok(()) };
        if !let_go(connection, &above, &below.run, reason, outside)? {
            return Ok(());
        }
        below = above;
    }
    Ok(())
}

fn cancel_below(
    connection: &Connection,
    run: &RunId,
    reason: CancelReason,
    outside: &StoreOptions,
    depth: usize,
) -> Outcome<()> {
    let below: Vec<String> = connection
        .prepare_cached(UNFINISHED_BELOW)?
        .query_map([run.as_str()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for child in below {
        let child = find(connection, &crate::runs::run_id(child)?)?;
        crate::runs::cancel(connection, &child, reason, outside)?;
        if depth > 0 {
            cancel_below(connection, &child.run, reason, outside, depth - 1)?;
        }
    }
    Ok(())
}

/// A run waited for one that was cancelled, and no process has it in hand: it ends with it when nobody has answered in
/// time, since it asked the same; else it can be continued. Tells whether it was cancelled.
fn let_go(
    connection: &Connection,
    state: &State,
    child: &RunId,
    reason: CancelReason,
    outside: &StoreOptions,
) -> Outcome<bool> {
    let is_owned = state.owner.as_ref().is_some_and(|owner| (outside.is_alive)(owner));
    let asks: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM interactions WHERE run = ?1 AND answered_at IS NULL)")?
        .query_row([state.key], |row| row.get(0))?;
    if state.status != RunStatus::WaitingForInput || asks {
        return Ok(false);
    }
    let at = outside.clock.now();
    if reason == CancelReason::Expired {
        cancel_now(connection, state, reason, at)?;
        hand_over(connection, state, None)?;
        return Ok(true);
    }
    if !is_owned {
        step(connection, state, Step { to: RunStatus::Interrupted, reason: None, at })?;
        let message = format!(
            "the related run {child}, which this one waited for, was cancelled; `workflow-code runs resume {}` goes on \
             without it",
            state.run
        );
        let error = json!(RunError::new(ErrorCode::InteractionRequired, message)).to_string();
        let bytes = body::put(connection, state.key, ERROR, &Stored::new(error.as_bytes()))?;
        grow(connection, state, bytes)?;
        hand_over(connection, state, None)?;
    }
    Ok(false)
}

/// Keeps what a run came to, sealed, for the run that started it, as long as that one may ask for it.
pub(crate) fn keep_output(connection: &Connection, state: &State, sealed: &Stored) -> Outcome<i64> {
    let Some(above) = parent(connection, state)?.filter(|above| !is_over(above)) else { return Ok(0) };
    // The mark has it deleted when that run ends.
    connection.prepare_cached("UPDATE runs SET sealed = 1 WHERE key = ?1")?.execute([above.key])?;
    body::put(connection, state.key, SEALED_OUTPUT, sealed)
}

/// Deletes what was kept for a run that has ended.
pub(crate) fn forget_outputs(connection: &Connection, state: &State) -> Outcome<()> {
    connection
        .prepare_cached(
            "DELETE FROM bodies WHERE kind = ?2 \
             AND run IN (SELECT key FROM runs INDEXED BY runs_by_parent WHERE parent = ?1)",
        )?
        .execute((state.run.as_str(), SEALED_OUTPUT))?;
    Ok(())
}

/// What a related run came to, as it was.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TrueOutput {
    /// The output.
    pub output: Value,
    /// The secrets that are in it, to be masked in what is recorded of whoever gets it.
    pub secrets: Vec<String>,
}

impl Store {
    /// Seals an output that holds secrets; `None` without a key.
    pub(crate) fn seal_output(&self, output: &Value) -> Option<Stored> {
        let whole = TrueOutput { output: output.clone(), secrets: self.masker().found_in(output) };
        self.sealer().map(|sealer| Stored::sealed(json!(whole).to_string().as_bytes(), sealer))
    }

    /// Returns the output of a related run as it was, if secrets are in it, until the run ends that started it.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`]; [`crate::StoreError::Damaged`] when what was sealed cannot be opened with this
    /// installation's key.
    pub fn true_output(&self, run: &RunId) -> Result<Option<TrueOutput>> {
        self.database.read_together(|connection| {
            let key = find(connection, run)?.key;
            let text = body::get(connection, key, SEALED_OUTPUT, self.sealer())?;
            text.map(|text| body::parse(&text, "a sealed output")).transpose()
        })
    }

    /// Answers what stands open in a run although it was answered under the id of a related run, or never will be.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn settle_related(&self, run: &RunId) -> Result<()> {
        let (run, at) = (run.clone(), self.now());
        self.database.write(Durability::Power, move |connection| {
            let state = find(connection, &run)?;
            settle_below(connection, &state, at)
        })
    }

    /// Returns the run that has waited for this one, if this one is over, nobody has that one in hand, and nothing else
    /// is left for it to wait for: whoever saw this one to its end takes it up.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn waiting_above(&self, run: &RunId) -> Result<Option<RunId>> {
        let (run, outside) = (run.clone(), self.outside());
        let candidate = self.database.read_together(|connection| {
            let state = find(connection, &run)?;
            Ok(if is_over(&state) { parent(connection, &state)? } else { None })
        })?;
        let Some(above) = candidate.filter(|above| above.status == RunStatus::WaitingForInput) else { return Ok(None) };
        if above.owner.as_ref().is_some_and(|owner| (outside.is_alive)(owner)) {
            return Ok(None);
        }
        self.settle_related(&above.run)?;
        let asks = self.questions(&above.run)?.iter().any(|question| question.answer.is_none());
        Ok((!asks).then_some(above.run))
    }
}
