//! How a run ends, and how its caller hears of it.

use std::time::Duration;

use model::{AnswerAction, CancelReason, EnvelopeStatus, ErrorCode, Form, InteractionKind, RunError, RunId, RunStatus};
use serde_json::Value;

use crate::context::Project;

/// Why a run is being ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Timeout,
    Cancelled(CancelReason),
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) status: RunStatus,
    pub(super) output: Option<Value>,
    pub(super) error: Option<RunError>,
    pub(super) reason: Option<CancelReason>,
}

impl End {
    pub(super) fn success(output: Value) -> Self {
        Self { status: RunStatus::Success, output: Some(output), error: None, reason: None }
    }

    pub(super) fn failed(error: RunError) -> Self {
        let status = if error.code == ErrorCode::Timeout { RunStatus::Timeout } else { RunStatus::Failed };
        Self { status, output: None, error: Some(error), reason: None }
    }

    /// It stops without having come to its end, and can be taken up again.
    pub(super) fn interrupted(error: RunError) -> Self {
        Self { status: RunStatus::Interrupted, output: None, error: Some(error), reason: None }
    }

    /// Adds the command that takes the run up again, where one does.
    pub(super) fn leading_on(mut self, run: &RunId, project: &Project) -> Self {
        let when = match (self.status, self.reason) {
            (RunStatus::Interrupted, _) => " once that is mended",
            (RunStatus::Cancelled, Some(CancelReason::ClientGone)) => "",
            _ => return self,
        };
        if let Some(error) = &mut self.error {
            error.message = format!("{}; {}{when}", error.message, continued_by(run, project));
        }
        self
    }

    pub(super) fn from_outside(ending: Ending, limit: Option<Duration>) -> Self {
        match ending {
            Ending::Timeout => {
                let seconds = limit.map_or(0, |limit| limit.as_secs());
                Self::failed(RunError::new(
                    ErrorCode::Timeout,
                    format!("the run took longer than {seconds} s, its `timeoutSeconds`"),
                ))
            }
            Ending::Cancelled(reason) => Self::cancelled(reason),
        }
    }

    pub(super) fn cancelled(reason: CancelReason) -> Self {
        Self {
            status: RunStatus::Cancelled,
            output: None,
            error: Some(RunError::new(ErrorCode::Cancelled, reason.sentence())),
            reason: Some(reason),
        }
    }
}

/// How a run's state is called in a result.
pub fn envelope_status(status: RunStatus) -> EnvelopeStatus {
    match status {
        RunStatus::Success => EnvelopeStatus::Success,
        RunStatus::Failed => EnvelopeStatus::Failed,
        RunStatus::Cancelled => EnvelopeStatus::Cancelled,
        RunStatus::Timeout => EnvelopeStatus::Timeout,
        RunStatus::Queued | RunStatus::Running | RunStatus::WaitingForInput | RunStatus::Interrupted => {
            EnvelopeStatus::InteractionRequired
        }
    }
}

/// Names the command that continues a run.
fn continued_by(run: &RunId, project: &Project) -> String {
    format!("`{}` continues the run", project.history_place().command(&["runs", "resume", run.as_str()]))
}

/// Tells whoever made a call that a person has to answer, and how.
pub(super) fn waiting_error(
    code: ErrorCode,
    run: &RunId,
    form: &Form,
    kind: InteractionKind,
    project: &Project,
) -> RunError {
    let why = match code {
        ErrorCode::InteractionDeclined => "the client answered `decline` (it may not have shown the form)",
        ErrorCode::InteractionCancelled => "the client answered `cancel`",
        ErrorCode::InteractionTimeout => "the client did not answer in time",
        ErrorCode::InteractionInvalid => "the client's answers did not fit the form",
        _ => "a person has to answer, and that could not be done within this call",
    };
    let place = project.history_place();
    let resume = |answer: &[&str]| place.command(&[&["runs", "resume", run.as_str()], answer].concat());
    let answer = match kind {
        InteractionKind::Approval => {
            format!("`{}` (to refuse it, with `{}`)", resume(&["--approve"]), resume(&["--deny"]))
        }
        InteractionKind::Form => {
            let fields: Vec<String> =
                form.fields.iter().map(|field| format!("{}: …", Value::from(field.name.as_str()))).collect();
            format!("`{}`", resume(&["--answer-json", &format!("{{{}}}", fields.join(", "))]))
        }
    };
    RunError::new(
        code,
        format!(
            "the run waits for an answer to \"{}\": {why}. A person answers in the window or with {answer}; the result \
             is then given by `{}`",
            model::beginning(&form.title, 300),
            place.command(&["runs", "wait", run.as_str()])
        ),
    )
}

/// What an answer is to the script that asked.
pub(super) fn answer_value(kind: InteractionKind, action: AnswerAction, content: Value) -> Value {
    match kind {
        InteractionKind::Form => content,
        InteractionKind::Approval => {
            Value::Bool(action == AnswerAction::Accept && content.get("approve") == Some(&Value::Bool(true)))
        }
    }
}
