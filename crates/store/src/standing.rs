//! Where a run stands for whoever would have it go on: the one answer to whether it may be taken up.
//!
//! What the record itself says is not here (`runs`), nor how a run is taken up (`Store::resume`), which checks again.

use std::time::Duration;

use model::RunStatus;

use crate::{RunRecord, Store};

/// Where a run stands, as whoever would have it go on sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has ended, and nobody goes on with it.
    Over,
    /// It asks, and was not answered: neither here nor under the id of a related run.
    Asks,
    /// A living process works on it, or will.
    Working,
    /// It was answered, and the living process that has it sees that within [`Standing::PATIENCE`], or never.
    Answered,
    /// Nobody has it: it may be taken up.
    Free,
}

impl Standing {
    /// How long the process that has a run may take to see an answer, before the run is taken over.
    pub const PATIENCE: Duration = Duration::from_secs(2);
}

impl Store {
    /// Says where a run stands.
    #[must_use]
    pub fn standing(&self, run: &RunRecord) -> Standing {
        let is_owned = || run.owner.as_ref().is_some_and(|owner| (self.outside().is_alive)(owner));
        let asks = || run.pending().is_some_and(|question| !self.is_answered_below(run, question));
        match run.summary.status {
            _ if run.summary.is_over() => Standing::Over,
            RunStatus::Queued | RunStatus::Running if is_owned() => Standing::Working,
            RunStatus::WaitingForInput if asks() => Standing::Asks,
            RunStatus::WaitingForInput if is_owned() => Standing::Answered,
            // Of those that have ended, one whose client was gone for a while is left here.
            RunStatus::Queued
            | RunStatus::Running
            | RunStatus::WaitingForInput
            | RunStatus::Interrupted
            | RunStatus::Success
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::Timeout => Standing::Free,
        }
    }
}
