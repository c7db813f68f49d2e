//! How host calls become rows of the journal, and how safe they are.

use model::RunId;
use script::{CallKind, HostCall};
use serde_json::{Value, json};
use store::{Durability, JournalKind, NewJournalRow};

use crate::protocol::Delivered;

/// The rows of a call that is done: what was asked, unless that was journalled when it began, and what came of it.
/// `more` is what is to be known beside the result: how the node of an agent stands, say.
pub(crate) fn rows(
    call: &HostCall,
    delivered: &Delivered,
    begun: bool,
    more: Option<(&'static str, Value)>,
) -> Vec<NewJournalRow> {
    let mut done = done(call, delivered);
    if let (Some(payload), Some((key, value))) = (done.payload.as_mut(), more) {
        payload[key] = value;
    }
    if begun { vec![done] } else { vec![issue(call), done] }
}

/// The row of a call that was made.
pub(crate) fn issue(call: &HostCall) -> NewJournalRow {
    NewJournalRow {
        kind: JournalKind::Issue,
        seq: Some(call.seq),
        fingerprint: Some(call.fingerprint.clone()),
        payload: Some(match call.own_node {
            Some(node) => json!({ "kind": call.kind, "args": call.args, "node": node }),
            None => json!({ "kind": call.kind, "args": call.args }),
        }),
    }
}

/// The row that says that an agent is asked again: from here on its result, and the order of those after it, no longer
/// count.
pub(crate) fn retry(seq: u64) -> NewJournalRow {
    NewJournalRow { kind: JournalKind::Retry, seq: Some(seq), fingerprint: None, payload: None }
}

/// The row that says that a person's leave for a call was used: after a crash it is asked for again.
pub(crate) fn leave_used(seq: u64, question: u64) -> NewJournalRow {
    NewJournalRow {
        kind: JournalKind::Wait,
        seq: Some(seq),
        fingerprint: None,
        payload: Some(json!({ "question": question })),
    }
}

/// The row that names the related run that works on a call.
pub(crate) fn child(seq: u64, child: &RunId) -> NewJournalRow {
    NewJournalRow {
        kind: JournalKind::Child,
        seq: Some(seq),
        fingerprint: None,
        payload: Some(json!({ "runId": child })),
    }
}

/// The row of a result that is handed over next.
pub(crate) fn done(call: &HostCall, delivered: &Delivered) -> NewJournalRow {
    let outcome = match (call.kind, &delivered.outcome) {
        // A secret is asked for again when the run is replayed; that it was had is all that is kept.
        (CallKind::Secret, Ok(_)) => json!({ "again": true }),
        (_, Ok(value)) => json!({ "ok": value }),
        (_, Err(error)) => json!({ "err": error }),
    };
    let mut payload = json!({ "at": delivered.at });
    if let (Some(payload), Value::Object(outcome)) = (payload.as_object_mut(), outcome) {
        payload.extend(outcome);
    }
    NewJournalRow {
        kind: JournalKind::Done,
        seq: Some(call.seq),
        fingerprint: Some(call.fingerprint.clone()),
        payload: Some(payload),
    }
}

/// What the result of a call must survive before the script has it.
pub(crate) fn durability(kind: CallKind) -> Durability {
    match kind {
        CallKind::Exec | CallKind::Http | CallKind::Related | CallKind::Form | CallKind::Approve => Durability::Power,
        CallKind::Agent
        | CallKind::Workflow
        | CallKind::KvSet
        | CallKind::KvDelete
        | CallKind::ValueSet
        | CallKind::ValueCas
        | CallKind::KnowledgeAdd
        | CallKind::KnowledgeRemove
        | CallKind::FilesCreate => Durability::Soon,
        CallKind::KvGet
        | CallKind::KvList
        | CallKind::ValueGet
        | CallKind::KnowledgeSearch
        | CallKind::KnowledgeList
        | CallKind::FilesInfo
        | CallKind::FilesReadText
        | CallKind::FilesReadBytes
        | CallKind::FilesList
        | CallKind::Env
        | CallKind::Secret
        | CallKind::Sleep => Durability::Process,
    }
}
