//! A run's states, and the one function that moves between them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a run stands. Everything that changes a run goes through [`RunStatus::check_transition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum RunStatus {
    /// Recorded, and waiting for a free place.
    Queued,
    /// A worker is at it.
    Running,
    /// A person has to answer before it goes on.
    WaitingForInput,
    /// Its owner is gone without having ended it; it can be continued.
    Interrupted,
    /// Ended with an output.
    Success,
    /// Ended with an error.
    Failed,
    /// Ended because somebody asked for it (see [`CancelReason`]).
    Cancelled,
    /// Ended because its time was over.
    Timeout,
}

/// A change of state that a run cannot make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run that is `{}` cannot become `{}`", from.as_str(), to.as_str())]
pub struct InvalidTransition {
    /// The state the run is in.
    pub from: RunStatus,
    /// The state that was asked for.
    pub to: RunStatus,
}

impl RunStatus {
    /// Every state, in the order of a run's life.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Running,
        Self::WaitingForInput,
        Self::Interrupted,
        Self::Success,
        Self::Failed,
        Self::Cancelled,
        Self::Timeout,
    ];

    /// Returns the state's name as it is stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::WaitingForInput => "waiting_for_input",
            Self::Interrupted => "interrupted",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Timeout => "timeout",
        }
    }

    /// Returns the state of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Tells whether the run has ended for good. `Interrupted` is not final, since it can be continued.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Success | Self::Failed | Self::Cancelled | Self::Timeout => true,
            Self::Queued | Self::Running | Self::WaitingForInput | Self::Interrupted => false,
        }
    }

    /// Tells whether nobody goes on with the run any more. `cancelled` is why it was cancelled, if it was: one whose client
    /// went away may be taken up again.
    #[must_use]
    pub fn is_over(self, cancelled: Option<CancelReason>) -> bool {
        self.is_final() && self.check_transition(Self::Running, cancelled).is_err()
    }

    /// Tells whether a process must be alive that owns the run.
    #[must_use]
    pub fn needs_owner(self) -> bool {
        match self {
            Self::Queued | Self::Running => true,
            Self::WaitingForInput
            | Self::Interrupted
            | Self::Success
            | Self::Failed
            | Self::Cancelled
            | Self::Timeout => false,
        }
    }

    /// Checks the step from this state to `to`.
    ///
    /// `cancelled` is why the run is cancelled now, if it is: a run whose client went away may be taken up again,
    /// one that a person or a client cancelled may not.
    ///
    /// # Errors
    ///
    /// Says which step was refused.
    pub fn check_transition(self, to: Self, cancelled: Option<CancelReason>) -> Result<(), InvalidTransition> {
        let allowed = match self {
            Self::Queued => {
                matches!(to, Self::Running | Self::Interrupted | Self::Failed | Self::Cancelled | Self::Timeout)
            }
            Self::Running => matches!(
                to,
                Self::WaitingForInput
                    | Self::Interrupted
                    | Self::Success
                    | Self::Failed
                    | Self::Cancelled
                    | Self::Timeout
            ),
            // A waiting run that is answered runs again; one that never is, fails, expires or is cancelled.
            Self::WaitingForInput => {
                matches!(to, Self::Running | Self::Interrupted | Self::Failed | Self::Cancelled | Self::Timeout)
            }
            Self::Interrupted => matches!(to, Self::Running | Self::WaitingForInput | Self::Failed | Self::Cancelled),
            Self::Cancelled => to == Self::Running && cancelled == Some(CancelReason::ClientGone),
            Self::Success | Self::Failed | Self::Timeout => false,
        };
        if allowed { Ok(()) } else { Err(InvalidTransition { from: self, to }) }
    }
}

impl RunStatus {
    /// Checks that a run may run again since one of its agents is to be asked again: only one that has ended.
    ///
    /// # Errors
    ///
    /// Says which step was refused.
    pub fn check_retry(self) -> Result<(), InvalidTransition> {
        if self.is_final() { Ok(()) } else { Err(InvalidTransition { from: self, to: Self::Running }) }
    }
}

/// Why a run was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// A person, in the window or the terminal. Final.
    Person,
    /// The client's `notifications/cancelled`. Final.
    Client,
    /// The client went away; `runs resume` may continue the run.
    ClientGone,
    /// It waited for a person longer than its limit. Final.
    Expired,
}

impl CancelReason {
    /// Returns the reason's name as it is stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Client => "client",
            Self::ClientGone => "client_gone",
            Self::Expired => "expired",
        }
    }

    /// Says it in words, as the error of a cancelled run does.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Person => "a person cancelled the run",
            Self::Client => "the client cancelled the call",
            Self::ClientGone => "the client went away",
            Self::Expired => "nobody answered in time",
        }
    }

    /// Returns the reason of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Person, Self::Client, Self::ClientGone, Self::Expired].into_iter().find(|reason| reason.as_str() == text)
    }
}

/// Where a run was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Origin {
    /// A call of an AI client.
    Mcp,
    /// The window.
    Desktop,
    /// The terminal.
    Cli,
    /// Another run, through `flow.related`.
    Related,
}

impl Origin {
    /// Returns the origin's name as it is stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Desktop => "desktop",
            Self::Cli => "cli",
            Self::Related => "related",
        }
    }

    /// Returns the origin of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Mcp, Self::Desktop, Self::Cli, Self::Related].into_iter().find(|origin| origin.as_str() == text)
    }
}

/// The program that asked for a run, as it names itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ClientInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The protocol revision it speaks, a date.
    pub protocol: String,
}

/// Caps of one run. What is absent is the project's, or the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunCaps {
    /// Agents it may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_agents: Option<u64>,
    /// Output tokens after which it starts no more agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

impl RunCaps {
    /// The lower of a run's own cap and its project's.
    #[must_use]
    pub fn lower(own: Option<u64>, project: Option<u64>) -> Option<u64> {
        match (own, project) {
            (Some(own), Some(project)) => Some(own.min(project)),
            (own, project) => own.or(project),
        }
    }
}

/// The options a run was started with that must be the same when another process continues it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LaunchOptions {
    /// The project's folder, absolute.
    pub project_dir: String,
    /// Root of local workflow data, absolute.
    pub data_dir: String,
    /// Managed files.
    pub file_store_dir: String,
    /// The project's key-value store.
    pub kv_store_dir: String,
    /// PersistentValues and knowledge.
    pub persistent_value_store_dir: String,
    /// Files that runs create.
    pub file_create_store_dir: String,
    /// Where the window keeps the connection's login, if an option said so.
    pub desktop_config_dir: Option<String>,
    /// Where `auth login` keeps the connection's login, if an option said so.
    pub auth_dir: Option<String>,
    /// Programs that `exec` may start unasked, from the command line.
    pub allow_exec: Vec<String>,
    /// Related projects bound on the command line, as `ALIAS=DIR`.
    pub related_projects: Vec<String>,
    /// The profile whose registry the run belongs to, if it does to one.
    pub profile: Option<String>,
    /// The provider of the run's agents, if the command line named one.
    pub provider: Option<String>,
    /// What the run may use, below what its project allows.
    pub caps: RunCaps,
    /// The entrypoint as it was declared when the run started.
    pub entrypoint: Option<crate::Entrypoint>,
    /// The input with defaults filled in and files imported.
    pub prepared_input: Value,
    /// Where chance starts, 128 bits in hexadecimal.
    pub seed: String,
    /// Where the run's clock starts.
    pub clock: crate::TimestampMs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_name_that_leads_back() {
        for status in RunStatus::ALL {
            assert_eq!(RunStatus::parse(status.as_str()), Some(status));
        }
    }

    #[test]
    fn a_final_state_is_left_only_by_a_run_whose_client_went_away() {
        for from in RunStatus::ALL.into_iter().filter(|status| status.is_final()) {
            for to in RunStatus::ALL {
                for reason in [
                    None,
                    Some(CancelReason::Person),
                    Some(CancelReason::Client),
                    Some(CancelReason::ClientGone),
                    Some(CancelReason::Expired),
                ] {
                    let open = from == RunStatus::Cancelled
                        && to == RunStatus::Running
                        && reason == Some(CancelReason::ClientGone);
                    assert_eq!(from.check_transition(to, reason).is_ok(), open, "{from:?} → {to:?} ({reason:?})");
                    let may_go_on = from == RunStatus::Cancelled && reason == Some(CancelReason::ClientGone);
                    assert_eq!(from.is_over(reason), !may_go_on, "{from:?} ({reason:?})");
                }
            }
        }
    }

    #[test]
    fn what_has_not_ended_is_not_over() {
        let unfinished = RunStatus::ALL.into_iter().filter(|status| !status.is_final());
        for status in unfinished {
            assert!(!status.is_over(None), "{status:?}");
        }
    }

    #[test]
    fn nothing_succeeds_without_having_run() {
        for from in RunStatus::ALL {
            assert_eq!(from.check_transition(RunStatus::Success, None).is_ok(), from == RunStatus::Running);
        }
    }
}
