//! Questions to a person, and their answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Param;

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Form {
    /// Its heading.
    pub title: String,
    /// What the person should know.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub message: Option<String>,
    /// What is asked, in order.
    pub fields: Vec<Param>,
    /// The program that is asked about, for leave to run one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub approval: Option<Approval>,
}

/// A program that a run wants to start, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Approval {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The folder it is started in, absolute.
    pub folder: String,
    /// Names of the environment variables that the call sets.
    pub env: Vec<String>,
    /// How many bytes the call writes to the program's standard input, if it writes any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub stdin_bytes: Option<u32>,
    /// Whether it was started before by a process that is gone, and may have done its work.
    pub may_have_happened: bool,
}

impl Approval {
    /// Tells whether such a call is asked about each time, whatever commands may run unasked: its own environment and its
    /// standard input decide what the program does, and no pattern speaks of them.
    #[must_use]
    pub fn is_asked_each_time(&self) -> bool {
        !self.env.is_empty() || self.stdin_bytes.is_some()
    }
}

/// Whether a question asks for facts or for leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum InteractionKind {
    /// `flow.form`, or a command's `pending`.
    Form,
    /// `flow.approve`, `flow.exec` and the like: declining is an answer.
    Approval,
}

/// What was done with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum AnswerAction {
    /// Answered.
    Accept,
    /// Declined.
    Decline,
    /// Dismissed.
    Cancel,
}

impl AnswerAction {
    /// Returns the action's name as it is stored and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

/// An answer to a question, and who gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What was done.
    pub action: AnswerAction,
    /// The values, checked and with defaults filled in; `null` unless accepted.
    pub content: Value,
    /// Who answered: `client`, `cli`, `desktop`.
    pub by: String,
}

/// A question in a run's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interaction {
    /// What was asked.
    pub form: Form,
    /// Whether it asked for facts or for leave.
    pub kind: InteractionKind,
    /// What was answered.
    pub answer: Option<Value>,
    /// What was done with it.
    pub action: Option<AnswerAction>,
    /// Who answered.
    pub by: Option<String>,
    /// When it was asked, RFC 3339.
    pub asked_at: String,
    /// When it was answered, RFC 3339.
    pub answered_at: Option<String>,
}
