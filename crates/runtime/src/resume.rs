//! Taking a run up again: what it was started with, and what it had done.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use model::{Entrypoint, LaunchOptions, ParamType, RunId};
use script::{CallKind, HostError, JournalRow};
use serde_json::{Map, Value};
use store::{JournalKind, Lease, NewAnswer, Question, RunRecord, Store, StoreError};

use crate::context::Project;
use crate::executor::RunRequest;
use crate::host_calls::HostContext;
use crate::run::Past;

/// Why a run cannot be taken up again.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// Somebody else has it, it has ended, or it cannot be read.
    #[error("the run cannot be continued")]
    Store(#[from] StoreError),
    /// What it was started with is not recorded: it was made by a version that could not continue runs.
    #[error("the run does not say what it was started with, so it cannot be continued; start it again")]
    NothingKept,
    /// A row of its journal is not what this version writes.
    #[error("row {row} of the run's journal cannot be read, so it cannot be continued; start it again")]
    Journal {
        /// The row.
        row: u64,
    },
}

/// Reads everything that a run needs to go on.
pub(crate) fn take_up(
    store: &Store,
    lease: &Lease,
    project: Arc<Project>,
) -> Result<(RunRequest, HostContext, Past), ResumeError> {
    let (raw_input, cli_args, launch) = store.resume_facts(lease)?;
    let (entrypoint, input, begun) = started_with(launch)?;
    echo_children(store, lease)?;
    let record = store.show(lease.run())?;
    let host = HostContext::new(&project, begun.0, begun.1);
    mask_answers(store, lease, &record, &host)?;
    let Read { rows, children, unfinished, leave_used, talked } = journal(store, lease, &host)?;
    if talked && let Err(why) = host.connection() {
        tracing::warn!(run = %lease.run(), "the connection's key cannot be had, and so not be masked: {why}");
    }
    let sources = store.sources(lease.run())?;
    let past = Past {
        journal: rows,
        sources: (!sources.is_empty()).then(|| sources.into_iter().map(|source| (source.path, source.text)).collect()),
        children,
        unfinished,
        leave_used,
        questions: record.questions.clone(),
        nodes: record.report.nodes.clone(),
        files: record.files.clone(),
        spent: Duration::from_millis(store.spent(lease.run())?),
        resumed: true,
    };
    let ancestry = vec![format!("{}/{}", project.manifest.uuid, entrypoint.id)];
    let request = RunRequest {
        project,
        entrypoint,
        raw_input,
        input,
        cli_args,
        origin: record.summary.origin,
        client: record.client.clone(),
        parent: record.summary.parent.clone(),
        ancestry,
    };
    Ok((request, host, past))
}

/// Has the secrets that people gave in answers masked again, before the run can say any of them.
fn mask_answers(store: &Store, lease: &Lease, record: &RunRecord, host: &HostContext) -> Result<(), StoreError> {
    let secret = |question: &&Question| question.form.fields.iter().any(|field| field.kind == ParamType::Secret);
    for question in record.questions.iter().filter(secret) {
        if let Some((_, content)) = store.answer_content(lease, question.number)? {
            host.add_answered_secrets(&question.form, &content);
        }
    }
    Ok(())
}

/// Questions of related runs that were answered under those runs' own ids are answered here with them.
fn echo_children(store: &Store, lease: &Lease) -> Result<(), StoreError> {
    let mut seen: HashMap<RunId, usize> = HashMap::new();
    for question in store.questions(lease.run())? {
        let Some(child) = &question.child else { continue };
        let place = seen.entry(child.clone()).or_default();
        let theirs = store.questions(child)?.into_iter().nth(*place).and_then(|theirs| theirs.answer);
        *place += 1;
        if let (None, Some(answer)) = (&question.answer, theirs) {
            let echo = NewAnswer { action: answer.action, content: answer.content, by: answer.by };
            match store.answer(lease.run(), question.number, &echo) {
                Ok(()) | Err(StoreError::AlreadyAnswered { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Entrypoint, prepared input, and where chance and clock began.
type Beginning = (Entrypoint, Map<String, Value>, (u128, i64));

fn started_with(launch: LaunchOptions) -> Result<Beginning, ResumeError> {
    let entrypoint = launch.entrypoint.ok_or(ResumeError::NothingKept)?;
    let Value::Object(input) = launch.prepared_input else { return Err(ResumeError::NothingKept) };
    let seed = u128::from_str_radix(&launch.seed, 16).map_err(|_| ResumeError::NothingKept)?;
    Ok((entrypoint, input, (seed, launch.clock)))
}

/// What is in a journal.
struct Read {
    rows: Vec<JournalRow>,
    /// Related runs, by the calls that started them.
    children: HashMap<u64, RunId>,
    /// Calls that were begun and never done.
    unfinished: HashSet<u64>,
    /// Questions whose leave was used.
    leave_used: HashSet<u64>,
    /// Whether the run has talked to a server, and so may repeat what it was told with its key.
    talked: bool,
}

/// Reads the journal as the engine replays it. Calls that were made and never answered are left out: the script makes
/// them again, and they are done then.
fn journal(store: &Store, lease: &Lease, host: &HostContext) -> Result<Read, ResumeError> {
    let mut rows = Vec::new();
    let mut children = HashMap::new();
    let mut unfinished = HashSet::new();
    let mut leave_used = HashSet::new();
    let mut talked = false;
    let mut secrets: HashMap<u64, String> = HashMap::new();
    for row in store.journal(lease.run())?.rows {
        let broken = || ResumeError::Journal { row: row.n };
        let payload = row.payload.as_ref();
        match row.kind {
            JournalKind::Issue => {
                let seq = row.seq.ok_or_else(broken)?;
                let kind =
                    payload.and_then(|payload| payload.get("kind")).and_then(Value::as_str).ok_or_else(broken)?;
                let kind = CallKind::parse(kind).ok_or_else(broken)?;
                let fingerprint = row.fingerprint.clone().ok_or_else(broken)?;
                if let Some(name) = payload.and_then(|payload| payload.pointer("/args/name")).and_then(Value::as_str)
                    && kind == CallKind::Secret
                {
                    secrets.insert(seq, name.to_owned());
                }
                unfinished.insert(seq);
                talked |= matches!(kind, CallKind::Http | CallKind::Agent);
                rows.push(JournalRow::Issue { seq, kind: kind.as_str().to_owned(), fingerprint });
            }
            JournalKind::Done => {
                let seq = row.seq.ok_or_else(broken)?;
                let payload = payload.ok_or_else(broken)?;
                let at = payload.get("at").and_then(Value::as_i64).ok_or_else(broken)?;
                let outcome = match (payload.get("ok"), payload.get("err"), secrets.get(&seq)) {
                    (Some(value), None, _) => Ok(value.clone()),
                    (None, Some(error), _) => {
                        Err(serde_json::from_value::<HostError>(error.clone()).map_err(|_| broken())?)
                    }
                    // Secrets are not in the journal: they are asked for again.
                    (None, None, Some(name)) => secret_again(name, host),
                    _ => return Err(broken()),
                };
                unfinished.remove(&seq);
                rows.push(JournalRow::Done { seq, at, outcome });
            }
            JournalKind::Child => {
                let child = payload.and_then(|payload| payload.get("runId")).and_then(Value::as_str);
                let child: RunId = child.and_then(|child| child.parse().ok()).ok_or_else(broken)?;
                children.insert(row.seq.ok_or_else(broken)?, child);
            }
            JournalKind::Wait => {
                leave_used.extend(payload.and_then(|payload| payload.get("question")).and_then(Value::as_u64));
            }
            JournalKind::Cancel | JournalKind::End => {}
        }
    }
    Ok(Read { rows, children, unfinished, leave_used, talked })
}

/// Gives the value of a secret as it is now. One that is gone fails the call, and the run with it if it cannot do
/// without.
fn secret_again(name: &str, host: &HostContext) -> Result<Value, HostError> {
    host.secret(name).map(Value::String).ok_or_else(|| HostError {
        code: "secret_missing".into(),
        message: format!("there is no secret `{name}` any more: add it to the project's .env"),
        data: None,
        fatal: false,
    })
}
