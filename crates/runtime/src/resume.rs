//! Taking a run up again: what it was started with, and what it had done; and asking one of its agents again.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use model::{Entrypoint, LaunchOptions, NodeKind, NodeStatus, ParamType, RunId, TimestampMs};
use script::{CallKind, HostError, JournalRow};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use store::{Durability, JournalKind, Lease, Owner, Question, RunRecord, Store, StoreError};

use crate::context::Project;
use crate::executor::RunRequest;
use crate::host_calls::HostContext;
use crate::kept::Kept;
use crate::run::{Past, Retry};

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
    /// The run has no agent of that number.
    #[error("the run has no agent {agent}: it has {agents}")]
    NoSuchAgent {
        /// The number that was asked for.
        agent: u64,
        /// How many it has.
        agents: u64,
    },
    /// Only an agent that failed is asked again.
    #[error("agent {agent} (`{label}`) has not failed")]
    NotFailed {
        /// Its number.
        agent: u64,
        /// What a person sees.
        label: String,
    },
    /// What it was given held secrets, which are not kept of a run that has ended.
    #[error("what the run's agents were given held secrets, which are forgotten when a run ends; start it again")]
    Forgotten,
}

/// Has a run that has ended run again, with one agent asked again. `agent` is its number among the run's agents.
pub(crate) fn reopen(store: &Store, run: &RunId, owner: &Owner, agent: u64) -> Result<Lease, ResumeError> {
    let record = store.show(run)?;
    let mut agents: Vec<_> = record.report.nodes.iter().filter(|node| node.kind == NodeKind::Agent).collect();
    agents.sort_by_key(|node| node.id);
    let count = agents.len() as u64;
    let node = usize::try_from(agent)
        .ok()
        .and_then(|agent| agents.get(agent.checked_sub(1)?))
        .ok_or(ResumeError::NoSuchAgent { agent, agents: count })?;
    let reason = node.detail.as_ref().and_then(|detail| detail.get("reason"));
    if node.status != NodeStatus::Failed && reason.is_none() {
        return Err(ResumeError::NotFailed { agent, label: node.title.clone() });
    }
    let mut seq = None;
    for row in store.journal(run)?.rows {
        if matches!(row.kind, JournalKind::Issue | JournalKind::Done) && row.payload.is_none() {
            return Err(ResumeError::Forgotten);
        }
        let of = row.payload.as_ref().and_then(|payload| payload.get("node")).and_then(Value::as_u64);
        if row.kind == JournalKind::Issue && of == Some(node.id) {
            seq = row.seq;
        }
    }
    let seq = seq.ok_or(ResumeError::NothingKept)?;
    let lease = store.reopen(run, owner, record.summary.epoch)?;
    store.append_journal(&lease, &[crate::journal::retry(seq)], Durability::Soon)?;
    Ok(lease)
}

/// Reads everything that a run needs to go on.
pub(crate) fn take_up(
    store: &Store,
    lease: &Lease,
    project: Arc<Project>,
) -> Result<(RunRequest, HostContext, Past), ResumeError> {
    let (raw_input, cli_args, launch) = store.resume_facts(lease)?;
    let caps = launch.caps;
    let (entrypoint, input, begun) = started_with(launch)?;
    store.settle_related(lease.run())?;
    let record = store.show(lease.run())?;
    let host = HostContext::new(&project, begun.0, begun.1);
    mask_answers(store, lease, &record, &host)?;
    let Read { rows, children, unfinished, leave_used, talked, members, retry, dropped } =
        journal(store, lease, &host)?;
    if talked && let Err(why) = host.connection() {
        tracing::warn!(run = %lease.run(), "the connection's key cannot be had, and so not be masked: {why}");
    }
    let sources = store.sources(lease.run())?;
    let is_retry = retry.is_some();
    let past = Past {
        journal: rows,
        sources: (!sources.is_empty()).then(|| sources.into_iter().map(|source| (source.path, source.text)).collect()),
        children,
        unfinished,
        leave_used,
        questions: record
            .questions
            .iter()
            .filter(|question| question.seq.is_none_or(|seq| !dropped.contains(&seq)))
            .cloned()
            .collect(),
        members,
        retry,
        nodes: record.report.nodes.clone(),
        files: record.files.clone(),
        // Whoever has an agent asked again gives the run its time anew.
        spent: if is_retry { Duration::ZERO } else { Duration::from_millis(store.spent(lease.run())?) },
        told: store.told(lease.run())?,
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
        caps,
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

/// Entrypoint, prepared input, and where chance and clock began.
type Beginning = (Entrypoint, Map<String, Value>, (u128, i64));

fn started_with(launch: LaunchOptions) -> Result<Beginning, ResumeError> {
    let entrypoint = launch.entrypoint.ok_or(ResumeError::NothingKept)?;
    let Value::Object(input) = launch.prepared_input else { return Err(ResumeError::NothingKept) };
    let seed = u128::from_str_radix(&launch.seed, 16).map_err(|_| ResumeError::NothingKept)?;
    Ok((entrypoint, input, (seed, launch.clock)))
}

/// What a replay needs of a row's payload. Arguments, which may be long, are passed over.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Payload {
    kind: Option<String>,
    args: Name,
    node: Option<u64>,
    at: Option<TimestampMs>,
    #[serde(deserialize_with = "there")]
    ok: Option<Value>,
    err: Option<HostError>,
    member: Option<Value>,
    secrets: Vec<String>,
    run_id: Option<String>,
    question: Option<u64>,
}

/// A value that is there, also when it is null.
fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The `name` among a call's arguments, if they have one.
#[derive(Default)]
struct Name(Option<String>);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Arguments;
        impl<'de> Visitor<'de> for Arguments {
            type Value = Name;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("arguments")
            }

            fn visit_unit<E>(self) -> Result<Name, E> {
                Ok(Name::default())
            }

            fn visit_bool<E>(self, _: bool) -> Result<Name, E> {
                Ok(Name::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<Name, E> {
                Ok(Name::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<Name, E> {
                Ok(Name::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<Name, E> {
                Ok(Name::default())
            }

            fn visit_str<E>(self, _: &str) -> Result<Name, E> {
                Ok(Name::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Name, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Name::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut arguments: A) -> Result<Name, A::Error> {
                let mut name = Name::default();
                while let Some(key) = arguments.next_key::<String>()? {
                    if key == "name" {
                        name.0 = arguments.next_value::<Value>()?.as_str().map(str::to_owned);
                    } else {
                        arguments.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(name)
            }
        }
        deserializer.deserialize_any(Arguments)
    }
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
    /// How agents ended, by their nodes.
    members: HashMap<u64, Value>,
    /// Set when an agent was asked again.
    retry: Option<Retry>,
    /// Calls whose rows no longer count since an agent was asked again.
    dropped: HashSet<u64>,
}

/// What becomes of a journal's rows when agents are asked again.
#[derive(Default)]
struct Again {
    /// Fingerprints and nodes of calls.
    calls: HashMap<u64, (String, Option<u64>)>,
    kept: Vec<(u64, String, Result<Value, HostError>)>,
    dropped: HashSet<u64>,
    /// The agent that was asked again last.
    seq: Option<u64>,
}

impl Again {
    /// Cuts the rows before the agent's result. Results after it are kept for calls that come up again.
    fn cut(&mut self, seq: u64, rows: &mut Vec<JournalRow>, members: &mut HashMap<u64, Value>) -> Option<()> {
        let is_result = |row: &JournalRow| matches!(row, JournalRow::Done { seq: done, .. } if *done == seq);
        let tail = rows.split_off(rows.iter().position(is_result)?);
        rows.retain(|row| !matches!(row, JournalRow::Issue { seq: issued, .. } if *issued == seq));
        for row in tail {
            let JournalRow::Done { seq: done, outcome, .. } = row else { continue };
            let (fingerprint, node) = self.calls.get(&done).cloned().unwrap_or_default();
            if let Some(node) = node {
                members.remove(&node);
            }
            if done != seq {
                self.dropped.insert(done);
                self.kept.push((done, fingerprint, outcome));
            }
        }
        self.seq = Some(seq);
        Some(())
    }

    /// Takes note that a call has its result: one that was kept for it is used up.
    fn done(&mut self, seq: u64) {
        let Some((fingerprint, _)) = self.calls.get(&seq) else { return };
        let own = self.kept.iter().position(|(kept, same, _)| *kept == seq && same == fingerprint);
        let like = || {
            let same = self.kept.iter().enumerate().filter(|(_, (_, same, _))| same == fingerprint);
            same.min_by_key(|(_, (kept, ..))| *kept).map(|(place, _)| place)
        };
        if let Some(place) = own.or_else(like) {
            drop(self.kept.remove(place));
        }
    }

    fn finish(self, rows: &[JournalRow]) -> (Option<Retry>, HashSet<u64>) {
        let Some(seq) = self.seq else { return (None, self.dropped) };
        let answered = rows.iter().any(|row| matches!(row, JournalRow::Done { seq: done, .. } if *done == seq));
        let node = self.calls.get(&seq).and_then(|(_, node)| *node).filter(|_| !answered);
        let mut kept = Kept::default();
        for (seq, fingerprint, outcome) in self.kept {
            kept.put(seq, &fingerprint, outcome);
        }
        (Some(Retry { seq, node, kept }), self.dropped)
    }
}

/// Reads the journal as the engine replays it. Calls that were made and never answered are left out: the script makes
/// them again, and they are done then.
fn journal(store: &Store, lease: &Lease, host: &HostContext) -> Result<Read, ResumeError> {
    let mut rows = Vec::new();
    let mut children = HashMap::new();
    let mut unfinished = HashSet::new();
    let mut leave_used = HashSet::new();
    let mut talked = false;
    let mut members = HashMap::new();
    let mut again = Again::default();
    let mut secrets: HashMap<u64, String> = HashMap::new();
    for row in store.journal_as::<Payload>(lease.run())?.rows {
        let broken = || ResumeError::Journal { row: row.n };
        let payload = row.payload.unwrap_or_default();
        match row.kind {
            JournalKind::Issue => {
                let seq = row.seq.ok_or_else(broken)?;
                let kind = payload.kind.as_deref().and_then(CallKind::parse).ok_or_else(broken)?;
                let fingerprint = row.fingerprint.ok_or_else(broken)?;
                if let (Some(name), CallKind::Secret) = (payload.args.0, kind) {
                    secrets.insert(seq, name);
                }
                unfinished.insert(seq);
                talked |= matches!(kind, CallKind::Http | CallKind::Agent);
                let node = payload.node.filter(|_| kind == CallKind::Agent);
                again.calls.insert(seq, (fingerprint.clone(), node));
                rows.push(JournalRow::Issue { seq, kind: kind.as_str().to_owned(), fingerprint });
            }
            JournalKind::Done => {
                let seq = row.seq.ok_or_else(broken)?;
                let at = payload.at.ok_or_else(broken)?;
                let outcome = match (payload.ok, payload.err, secrets.get(&seq)) {
                    (Some(value), None, _) => Ok(value),
                    (None, Some(error), _) => Err(error),
                    // Secrets are not in the journal: they are asked for again.
                    (None, None, Some(name)) => secret_again(name, host),
                    _ => return Err(broken()),
                };
                payload.secrets.iter().for_each(|secret| host.add_handed_up(secret));
                unfinished.remove(&seq);
                again.done(seq);
                if let (Some((_, Some(node))), Some(member)) = (again.calls.get(&seq), payload.member) {
                    members.insert(*node, member);
                }
                rows.push(JournalRow::Done { seq, at, outcome });
            }
            JournalKind::Child => {
                let child: RunId = payload.run_id.and_then(|child| child.parse().ok()).ok_or_else(broken)?;
                children.insert(row.seq.ok_or_else(broken)?, child);
            }
            JournalKind::Wait => leave_used.extend(payload.question),
            JournalKind::Retry => {
                let seq = row.seq.ok_or_else(broken)?;
                again.cut(seq, &mut rows, &mut members).ok_or_else(broken)?;
                children.retain(|call, _| !again.dropped.contains(call));
            }
            JournalKind::Cancel | JournalKind::End => {}
        }
    }
    let (retry, dropped) = again.finish(&rows);
    Ok(Read { rows, children, unfinished, leave_used, talked, members, retry, dropped })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_payload_only_what_counts_is_read() {
        let read = |text: &str| serde_json::from_str::<Payload>(text).expect("a payload");
        let asked = read(r#"{"kind":"secret","args":{"long":[{"name":"x"}],"name":"KEY"},"node":4}"#);
        assert_eq!(
            (asked.kind.as_deref(), asked.args.0.as_deref(), asked.node),
            (Some("secret"), Some("KEY"), Some(4))
        );
        for args in ["null", "true", "-1", "1", "1.5", "\"name\"", "[\"name\", 1]", "{}", "{\"name\": 5}"] {
            assert_eq!(read(&format!(r#"{{"args":{args}}}"#)).args.0, None, "{args}");
        }
        assert_eq!(read(r#"{"at":1,"ok":null}"#).ok, Some(Value::Null));
        assert_eq!(read(r#"{"at":1}"#).ok, None);
    }
}
