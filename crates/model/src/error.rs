//! How a run can fail: a stable code, one short sentence, and for business errors the project's own number.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The stable code of a run's error, as clients see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The project ended the run with `fail`, or a report with a non-zero `errCode`.
    BusinessError,
    /// The script threw, or could not be loaded.
    ScriptError,
    /// A command entrypoint could not be started or ended with another exit code than 0.
    CommandFailed,
    /// The script reached its memory limit.
    MemoryLimit,
    /// The worker process ended without a result.
    WorkerDied,
    /// The run's time was over.
    Timeout,
    /// Somebody cancelled the run.
    Cancelled,
    /// Too many calls are queued.
    Busy,
    /// A person or a policy refused a tool.
    ApprovalDenied,
    /// A continued run did not take the way it had taken before.
    ReplayDiverged,
    /// A person has to answer, and that could not be done within the call.
    InteractionRequired,
    /// The client answered `decline`.
    InteractionDeclined,
    /// The client answered `cancel`.
    InteractionCancelled,
    /// The client did not answer in time.
    InteractionTimeout,
    /// The client's answers did not fit the form, five times.
    InteractionInvalid,
    /// Agents failed, and the run with them.
    AgentsFailed,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [Self; 16] = [
        Self::BusinessError,
        Self::ScriptError,
        Self::CommandFailed,
        Self::MemoryLimit,
        Self::WorkerDied,
        Self::Timeout,
        Self::Cancelled,
        Self::Busy,
        Self::ApprovalDenied,
        Self::ReplayDiverged,
        Self::InteractionRequired,
        Self::InteractionDeclined,
        Self::InteractionCancelled,
        Self::InteractionTimeout,
        Self::InteractionInvalid,
        Self::AgentsFailed,
    ];

    /// Returns the code as it is stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BusinessError => "business_error",
            Self::ScriptError => "script_error",
            Self::CommandFailed => "command_failed",
            Self::MemoryLimit => "memory_limit",
            Self::WorkerDied => "worker_died",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Busy => "busy",
            Self::ApprovalDenied => "approval_denied",
            Self::ReplayDiverged => "replay_diverged",
            Self::InteractionRequired => "interaction_required",
            Self::InteractionDeclined => "interaction_declined",
            Self::InteractionCancelled => "interaction_cancelled",
            Self::InteractionTimeout => "interaction_timeout",
            Self::InteractionInvalid => "interaction_invalid",
            Self::AgentsFailed => "agents_failed",
        }
    }

    /// Returns the code of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }
}

/// Why a run did not succeed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunError {
    /// The stable code.
    pub code: ErrorCode,
    /// One short sentence for whoever made the call.
    pub message: String,
    /// The project's own error number, when it gave one that is not zero.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub err_code: Option<i64>,
    /// What lies behind it (a stack, a program's last lines). Recorded, and never part of a result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
    /// What the project gave beside its own error. Recorded, and never part of a result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<Value>,
}

impl RunError {
    /// Makes an error of a code and a sentence.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), err_code: None, cause: None, data: None }
    }

    /// Adds what lies behind the error.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }
}

/// Writes an error and its causes as one sentence, each part once.
#[must_use]
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_ones_serde_writes() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).ok(), Some(Value::from(code.as_str())));
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
        }
    }
}
