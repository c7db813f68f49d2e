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
    pub(super) fn interrupted(run: &RunId, error: RunError) -> Self {
        let message = format!("{}; `workflow-code runs resume {run}` continues it once that is mended", error.message);
        Self { status: RunStatus::Interrupted, output: None, error: Some(RunError { message, ..error }), reason: None }
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
    let place = match (&project.id, project.profile.as_deref()) {
        (None, _) => format!(" --data-dir '{}'", project.folders.data.display()),
        (Some(_), Some(profile)) if profile != "default" => format!(" --profile {profile}"),
        (Some(_), _) => String::new(),
    };
    let answer = match kind {
        InteractionKind::Approval => "--approve (or --deny)".to_owned(),
        InteractionKind::Form => {
            let fields: Vec<String> = form.fields.iter().map(|field| format!("\"{}\": …", field.name)).collect();
            format!("--answer-json '{{{}}}'", fields.join(", "))
        }
    };
    RunError::new(
        code,
        format!(
            "the run waits for an answer to \"{}\": {why}. A person answers in the window or with `workflow-code runs \
             resume {run} {answer}{place}`; the result is then given by `workflow-code runs wait {run}{place}`",
            model::beginning(&form.title, 300)
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
