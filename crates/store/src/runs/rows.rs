//! What a window's lists show of a run beside its summary: the stretches of its life, what it is at, why it failed.

use model::RunStatus;
use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use crate::body::{get, parse};
use crate::database::Outcome;
use crate::runs::create::ERROR;
use crate::runs::show::stages;
use crate::runs::{RunEntry, Stage};
use crate::{Result, Store};

/// Characters of an error that a row shows.
const ERROR_CHARACTERS: usize = 300;

/// How far a run says it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidProgress {
    /// How much is done.
    pub done: u64,
    /// Of how much, if it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl SaidProgress {
    /// Makes whole numbers of what a run said: as they are, or else percent.
    #[must_use]
    pub fn of(done: f64, total: Option<f64>) -> Self {
        let whole = |number: f64| number.fract() == 0.0;
        let total = total.filter(|total| total.is_finite() && *total > 0.0);
        match total {
            Some(total) if !whole(done) || !whole(total) => {
                Self { done: round(done / total * 100.0).min(100), total: Some(100) }
            }
            total => Self { done: round(done), total: total.map(round) },
        }
    }
}

/// The nearest whole number that can be counted to.
fn round(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let whole = number.round().clamp(0.0, 1e15) as u64;
    whole
}

/// What a row shows beside the summary.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RowDetails {
    /// The states it was in.
    pub stages: Vec<Stage>,
    /// The title of the phase it is in, for a run that has not ended.
    pub at_phase: Option<String>,
    /// The title of what it does in there, for a run that has not ended: a step, a program, an agent, a related run.
    pub at_step: Option<String>,
    /// How many of its nodes are done, and how many there are by now. For a run that has not ended.
    pub nodes: (u64, u64),
    /// How far it says it has come. For a run that has not ended.
    pub said: Option<SaidProgress>,
    /// The first line of its error.
    pub error: Option<String>,
}

/// Finds what a run is at: the last phase that runs, or waits, or (`?2` false) the last of the rest. What it asks is shown
/// as its question.
pub(crate) const AT_NODE: &str = "SELECT title FROM nodes WHERE run = ?1 AND (kind = 'phase') = ?2 AND kind <> 'form' \
     AND status IN ('running', 'waiting_for_input') ORDER BY id DESC LIMIT 1";
const NODES: &str = "SELECT count(*), coalesce(sum(status IN ('success', 'failed', 'cancelled', 'skipped')), 0) FROM nodes WHERE run = ?1";
const SAID: &str = "SELECT progress FROM runs WHERE key = ?1";

fn details(connection: &Connection, entry: &RunEntry) -> Outcome<RowDetails> {
    let key = entry.place.key;
    let mut found = RowDetails { stages: stages(connection, key)?, ..RowDetails::default() };
    match entry.summary.status {
        RunStatus::Running | RunStatus::WaitingForInput | RunStatus::Interrupted => {
            let mut at = connection.prepare_cached(AT_NODE)?;
            let mut at = |phase: bool| at.query_row((key, phase), |row| row.get(0)).optional();
            (found.at_phase, found.at_step) = (at(true)?, at(false)?);
            let (all, done): (i64, i64) =
                connection.prepare_cached(NODES)?.query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))?;
            found.nodes = (u64::try_from(done).unwrap_or(0), u64::try_from(all).unwrap_or(0));
            let said: Option<String> = connection.prepare_cached(SAID)?.query_row([key], |row| row.get(0))?;
            found.said = said.map(|text| parse(&text, "a run's progress")).transpose()?;
        }
        RunStatus::Failed | RunStatus::Timeout => {
            if let Some(text) = get(connection, key, ERROR, None)? {
                let error: model::RunError = parse(&text, "error")?;
                let line = error.message.lines().next().unwrap_or_default();
                found.error = Some(line.chars().take(ERROR_CHARACTERS).collect());
            }
        }
        RunStatus::Queued | RunStatus::Success | RunStatus::Cancelled => {}
    }
    Ok(found)
}

impl Store {
    /// Returns what rows show of these runs, in their order. Runs that are gone by now have nothing.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn row_details(&self, entries: &[RunEntry]) -> Result<Vec<RowDetails>> {
        self.database.read_together(|connection| entries.iter().map(|entry| details(connection, entry)).collect())
    }
}
