//! What a person does: starting, answering, continuing, cancelling, keeping, deleting.

use model::{AnswerAction, CancelReason, InteractionKind, RunId, RunStatus};
use serde_json::{Value, json};
use store::{CancelOutcome, JournalKind, JournalRow, NewAnswer, Question, RunRecord};

use super::projects::workflow;
use super::run::{can_continue, done_titles, in_hand};
use crate::api::run_id;
use crate::rows::can_decline;
use crate::wire::Nothing;
use crate::wire::run::{
    AnswerRequest, CheckInput, CheckedInput, ContinueNote, ContinuePreview, OfRun, PinRun, StartRun, StartedRun,
};
use crate::{Answer, Api, ApiError, ApiErrorCode};

/// Titles that a preview names.
const TITLES: usize = 20;
/// How many runs can lie above one another.
const DEPTH: usize = 100;
/// Who answers here.
const BY: &str = "desktop";

/// Refuses an input that is nested beyond all use.
fn check_depth(input: &Value) -> Answer<()> {
    if model::within_depth(input.to_string().as_bytes(), model::Limits::JSON_DEPTH) {
        return Ok(());
    }
    Err(ApiError::invalid(format!("the input is nested over {} levels", model::Limits::JSON_DEPTH)))
}

pub(super) fn check_input(api: &Api, request: CheckInput) -> Answer<CheckedInput> {
    check_depth(&request.input)?;
    let project = workflow(api, &request.project)?;
    Ok(CheckedInput { faults: api.host.check_input(&project, &request.entrypoint, &request.input)? })
}

pub(super) fn start_run(api: &Api, request: StartRun) -> Answer<StartedRun> {
    check_depth(&request.input)?;
    let project = workflow(api, &request.project)?;
    let run = api.host.start(&project, &request.entrypoint, request.input)?;
    api.store.touch_project(&project.id)?;
    Ok(StartedRun { run: run.to_string() })
}

pub(super) fn answer(api: &Api, request: AnswerRequest) -> Answer<Nothing> {
    let id = run_id(&request.run)?;
    let record = api.store.show(&id)?;
    let question = record
        .questions
        .iter()
        .find(|question| question.number == request.question)
        .ok_or_else(|| ApiError::not_found(format!("run {id} has no question {}", request.question)))?;
    let given = given(api, &record, question, &request)?;
    api.store.answer(&id, question.number, &given)?;
    if request.always == Some(true)
        && request.action == AnswerAction::Accept
        && let Some(approval) = &question.form.approval
    {
        super::project::allow_command(api, &record.summary.project, approval)?;
    }
    api.host.go_on(&to_take_up(api, &record))?;
    Ok(Nothing {})
}

/// Which run is taken up when this one is answered: a related run goes on below those that were put down with it.
fn to_take_up(api: &Api, record: &RunRecord) -> RunId {
    let mut top = record.summary.run_id.clone();
    let mut parent = record.summary.parent.clone();
    for _ in 0..DEPTH {
        let Some(above) = parent.and_then(|parent| api.store.show(&parent).ok()) else { break };
        if in_hand(&above) || !matches!(above.summary.status, RunStatus::WaitingForInput | RunStatus::Interrupted) {
            break;
        }
        top = above.summary.run_id;
        parent = above.summary.parent;
    }
    top
}

fn given(api: &Api, record: &RunRecord, question: &Question, request: &AnswerRequest) -> Answer<NewAnswer> {
    let by = BY.to_owned();
    if request.always == Some(true) && question.form.approval.is_none() {
        return Err(ApiError::new(ApiErrorCode::Unsupported, "only leave to run a program can be given from now on"));
    }
    if request.always == Some(true) && question.form.approval.as_ref().is_some_and(model::Approval::is_asked_each_time)
    {
        let message = "a call that sets environment variables or writes to standard input is asked about each time";
        return Err(ApiError::new(ApiErrorCode::Unsupported, message));
    }
    match (question.kind, request.action) {
        (InteractionKind::Approval, action) => {
            let yes = action == AnswerAction::Accept;
            let action = if yes { AnswerAction::Accept } else { AnswerAction::Decline };
            Ok(NewAnswer { action, content: json!({ "approve": yes }), by })
        }
        (InteractionKind::Form, AnswerAction::Accept) => {
            let content = request.content.clone().unwrap_or_else(|| json!({}));
            check_depth(&content)?;
            let content = api.host.check_answer(record, question, &content)?;
            Ok(NewAnswer { action: AnswerAction::Accept, content, by })
        }
        // A script is told of it, and decides.
        (InteractionKind::Form, AnswerAction::Decline) if can_decline(question) => {
            Ok(NewAnswer { action: AnswerAction::Decline, content: Value::Null, by })
        }
        (InteractionKind::Form, AnswerAction::Decline | AnswerAction::Cancel) => Err(ApiError::new(
            ApiErrorCode::Unsupported,
            "this form cannot be declined: leave the run waiting, or cancel it",
        )),
    }
}

/// Refuses to continue what cannot be, and says why.
fn check_continuable(api: &Api, record: &RunRecord) -> Answer<()> {
    if can_continue(&api.store, record) {
        return Ok(());
    }
    let run = &record.summary.run_id;
    if in_hand(record) {
        return Err(ApiError::new(ApiErrorCode::Running, format!("run {run} is in the hands of a living process")));
    }
    let status = record.summary.status;
    if record.workflow_instance().is_some() && !status.is_final() {
        return Err(ApiError::new(ApiErrorCode::Unsupported, format!("run {run} is a guided workflow"))
            .hinted("it goes on with the agent's next call of finished_step in its session"));
    }
    if status == RunStatus::WaitingForInput {
        return Err(ApiError::new(ApiErrorCode::Conflict, format!("run {run} waits for an answer"))
            .hinted("answer its question, and it goes on"));
    }
    Err(ApiError::new(ApiErrorCode::Conflict, format!("run {run} has ended: {}", status.as_str())))
}

pub(super) fn continue_run(api: &Api, request: OfRun) -> Answer<Nothing> {
    let id = run_id(&request.run)?;
    check_continuable(api, &api.store.show(&id)?)?;
    api.host.go_on(&id)?;
    Ok(Nothing {})
}

/// What a call of the journal was.
fn called(row: &JournalRow) -> (String, Value) {
    let payload = row.payload.clone().unwrap_or_default();
    let kind = payload.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    (kind, payload.get("args").cloned().unwrap_or_default())
}

/// A call in a few words.
fn words(kind: &str, args: &Value) -> String {
    let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
    match kind {
        "exec" => {
            let list = args.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let words: Vec<&str> =
                std::iter::once(text("program")).chain(list.iter().filter_map(Value::as_str)).collect();
            words.join(" ")
        }
        "http" => format!("{} {}", text("method"), text("url")),
        "agent" => {
            let label = text("label");
            if label.is_empty() { "agent".to_owned() } else { label.to_owned() }
        }
        "related" => format!("{} {}", text("alias"), text("entrypoint")).trim().to_owned(),
        other => other.to_owned(),
    }
}

pub(super) fn continue_preview(api: &Api, request: OfRun) -> Answer<ContinuePreview> {
    let id = run_id(&request.run)?;
    let record = api.store.show(&id)?;
    check_continuable(api, &record)?;
    let journal = api.store.journal(&id)?;
    let mut open: Vec<&JournalRow> = Vec::new();
    let mut done: Vec<Option<u64>> = Vec::new();
    for row in &journal.rows {
        match row.kind {
            JournalKind::Issue => open.push(row),
            JournalKind::Done => {
                done.push(row.seq);
                open.retain(|issue| issue.seq != row.seq);
            }
            // What the agent had answered no longer counts.
            JournalKind::Retry => done.retain(|seq| *seq != row.seq),
            JournalKind::Wait | JournalKind::Child | JournalKind::Cancel | JournalKind::End => {}
        }
    }
    let mut preview = ContinuePreview {
        kept: u64::try_from(done.len()).unwrap_or(u64::MAX),
        kept_titles: done_titles(&record).into_iter().take(TITLES).collect(),
        asks: Vec::new(),
        again: Vec::new(),
        note: None,
    };
    for row in open {
        let (kind, args) = called(row);
        let idempotent = args.get("idempotent") == Some(&Value::Bool(true));
        match kind.as_str() {
            // It may have done its work: a person decides.
            "exec" | "http" if !idempotent => preview.asks.push(words(&kind, &args)),
            // Questions are asked as they were, or are answered by now.
            "form" | "approve" => {}
            _ => preview.again.push(words(&kind, &args)),
        }
    }
    if journal.rows.is_empty() {
        let asked = record.questions.iter().any(|question| question.answer.is_some());
        preview.note = Some(if asked { ContinueNote::WithAnswers } else { ContinueNote::FromTheBeginning });
    }
    Ok(preview)
}

pub(super) fn cancel_run(api: &Api, request: OfRun) -> Answer<Nothing> {
    let id = run_id(&request.run)?;
    let record = api.store.show(&id)?;
    let outcome = match api.host.cancel_guided(&record)? {
        Some(outcome) => outcome,
        None => api.store.request_cancel(&id, CancelReason::Person)?,
    };
    match outcome {
        CancelOutcome::Done | CancelOutcome::Requested => Ok(Nothing {}),
        CancelOutcome::Ended(status) => {
            Err(ApiError::new(ApiErrorCode::Conflict, format!("run {id} has ended already: {}", status.as_str())))
        }
    }
}

pub(super) fn pin_run(api: &Api, request: PinRun) -> Answer<Nothing> {
    api.store.pin(&run_id(&request.run)?, request.pinned)?;
    Ok(Nothing {})
}

pub(super) fn delete_run(api: &Api, request: OfRun) -> Answer<Nothing> {
    api.store.delete_run(&run_id(&request.run)?)?;
    Ok(Nothing {})
}
