//! Questions of a run, put before a client's person: as elicitations of the legacy era, or as results of the modern one
//! that the client answers by calling again.

use std::time::Duration;

use mcp::{Ask, Channel, Elicited};
use model::{AnswerAction, ErrorCode, Form, InteractionKind, Limits};
use project::{FormEra, FormSchema};
use runtime::Asked;
use serde_json::{Value, json};
use store::NewAnswer;
use tokio_util::sync::CancellationToken;

/// What came of asking.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// An answer that fits.
    Answer(NewAnswer),
    /// None that the run could go on with, and why: it stays waiting.
    Park(ErrorCode),
    /// Somebody else has answered.
    Withdrawn,
}

/// What came of one answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Judged {
    /// It fits.
    Answer(NewAnswer),
    /// It is to be asked again, with this said.
    Again(String),
    /// The run stays waiting.
    Park(ErrorCode),
}

/// Writes a question as the protocol has it; `None` when it cannot be put into a client's form.
pub(crate) fn schema(form: &Form, protocol: &str) -> Option<FormSchema> {
    project::form_schema(form, FormEra::of_version(protocol)).ok()
}

/// What the person is told: the form's heading and message, and what was wrong with the answer before.
pub(crate) fn message(form: &Form, fault: Option<&str>) -> String {
    let mut text = form.title.clone();
    if let Some(message) = &form.message {
        text.push_str("\n\n");
        text.push_str(message);
    }
    if let Some(fault) = fault {
        text.push_str("\n\nThe answer did not fit: ");
        text.push_str(fault);
    }
    text
}

/// Looks at an answer of a client: what it says is the client's word, not yet a person's.
pub(crate) fn judge(form: &Form, kind: InteractionKind, schema: &FormSchema, answer: Elicited) -> Judged {
    let by = "client".to_owned();
    match answer {
        Elicited::Accept(content) => match project::check_answer(form, &schema.fold_back(&content)) {
            Ok(content) => {
                Judged::Answer(NewAnswer { action: AnswerAction::Accept, content: Value::Object(content), by })
            }
            Err(faults) => Judged::Again(faults.to_string()),
        },
        Elicited::Decline if kind == InteractionKind::Approval => {
            Judged::Answer(NewAnswer { action: AnswerAction::Decline, content: Value::Null, by })
        }
        Elicited::Decline => Judged::Park(ErrorCode::InteractionDeclined),
        Elicited::Cancel => Judged::Park(ErrorCode::InteractionCancelled),
        Elicited::Timeout => Judged::Park(ErrorCode::InteractionTimeout),
        Elicited::Unsupported(why) => {
            tracing::info!("the client cannot show the form after all: {why}");
            Judged::Park(ErrorCode::InteractionRequired)
        }
        Elicited::Withdrawn => Judged::Park(ErrorCode::InteractionCancelled),
    }
}

/// Asks by elicitation until an answer fits, five times at most.
pub(crate) async fn elicit(
    channel: Channel,
    asked: Asked,
    schema: FormSchema,
    deadline: Duration,
    withdraw: CancellationToken,
) -> Outcome {
    let mut fault: Option<String> = None;
    for _ in 0..Limits::ANSWER_ROUNDS {
        let ask = Ask { message: message(&asked.form, fault.as_deref()), schema: schema.schema.clone() };
        let answer = channel.elicit(&ask, deadline, &withdraw).await;
        if answer == Elicited::Withdrawn {
            return Outcome::Withdrawn;
        }
        match judge(&asked.form, asked.kind, &schema, answer) {
            Judged::Answer(answer) => return Outcome::Answer(answer),
            Judged::Again(why) => fault = Some(why),
            Judged::Park(code) => return Outcome::Park(code),
        }
    }
    Outcome::Park(ErrorCode::InteractionInvalid)
}

/// What a client carries between a question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Carried {
    #[serde(rename = "r")]
    pub(crate) run: String,
    #[serde(rename = "q")]
    pub(crate) question: u64,
    /// Digest of the call's arguments: the answer belongs to this very call.
    #[serde(rename = "a")]
    pub(crate) arguments: String,
    /// How often the question was asked.
    #[serde(rename = "n")]
    pub(crate) round: u32,
}

impl Carried {
    /// The key under which the answer comes back.
    pub(crate) fn key(&self) -> String {
        format!("q{}", self.question)
    }

    pub(crate) fn to_text(&self) -> String {
        json!(self).to_string()
    }
}
