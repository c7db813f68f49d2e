//! A run's agents as the four kinds of records of the orchestration contract, made from the report's nodes; and the rules
//! that a sequence of such records keeps.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Node, NodeKind, RunId, RunStatus};

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum MemberRecord {
    /// The run began.
    #[serde(rename = "tool-workflow/run-start")]
    RunStart {
        /// The run.
        run_id: String,
        /// Its name.
        name: String,
    },
    /// An agent exists.
    #[serde(rename = "tool-workflow/agent-start")]
    AgentStart {
        /// The run.
        run_id: String,
        /// Its number in the run.
        seq: u64,
        /// What a person sees.
        label: String,
        /// The part of the run it is shown in; absent and empty are two different things.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        phase: Option<String>,
        /// Its name at its provider.
        child_id: String,
    },
    /// An agent has ended.
    #[serde(rename = "tool-workflow/agent-end")]
    AgentEnd {
        /// The run.
        run_id: String,
        /// Its number in the run.
        seq: u64,
        /// `completed`, `failed` or `cancelled`.
        outcome: String,
    },
    /// The run has ended.
    #[serde(rename = "tool-workflow/run-end")]
    RunEnd {
        /// The run.
        run_id: String,
        /// `completed`, `cancelled` or `error`.
        stop_reason: String,
    },
}

/// Makes the records of a run from its nodes. Agents that were never started have none; of a run that was interrupted the
/// ends are missing. A run without agents has only its own two.
#[must_use]
pub fn member_records(run: &RunId, name: &str, status: RunStatus, nodes: &[Node]) -> Vec<MemberRecord> {
    let run_id = run.to_string();
    let text = |node: &Node, key: &str| node.detail.as_ref()?.get(key)?.as_str().map(str::to_owned);
    let mut told: Vec<(i64, u8, u64, MemberRecord)> = Vec::new();
    for node in nodes.iter().filter(|node| node.kind == NodeKind::Agent) {
        let seq = node.detail.as_ref().and_then(|detail| detail.get("seq")).and_then(Value::as_u64);
        let (Some(seq), Some(child_id)) = (seq, text(node, "childId")) else { continue };
        let began = node.started_at.unwrap_or(0);
        let (label, phase) = (node.title.clone(), text(node, "phase"));
        told.push((began, 0, seq, MemberRecord::AgentStart { run_id: run_id.clone(), seq, label, phase, child_id }));
        if let (Some(outcome), true) = (text(node, "outcome"), node.status.is_final()) {
            let ended = node.finished_at.unwrap_or(began).max(began);
            told.push((ended, 1, seq, MemberRecord::AgentEnd { run_id: run_id.clone(), seq, outcome }));
        }
    }
    told.sort_by_key(|(at, kind, seq, _)| (*at, *kind, *seq));
    let mut records = vec![MemberRecord::RunStart { run_id: run_id.clone(), name: name.to_owned() }];
    records.extend(told.into_iter().map(|(.., record)| record));
    let stop_reason = match status {
        RunStatus::Success => "completed",
        RunStatus::Cancelled => "cancelled",
        RunStatus::Failed | RunStatus::Timeout => "error",
        RunStatus::Queued | RunStatus::Running | RunStatus::WaitingForInput | RunStatus::Interrupted => return records,
    };
    records.push(MemberRecord::RunEnd { run_id, stop_reason: stop_reason.into() });
    records
}

/// What is known of runs from the records so far. A record that breaks a rule is refused and changes nothing.
#[derive(Debug, Default)]
pub struct MemberLedger {
    runs: HashMap<String, Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Agents, and whether they have ended.
    agents: BTreeMap<u64, bool>,
    ended: bool,
}

/// The largest number that every reader of JSON keeps.
const SAFE: u64 = (1 << 53) - 1;

impl MemberLedger {
    /// Takes a record in.
    ///
    /// # Errors
    ///
    /// Which rule it breaks, in one sentence.
    pub fn append(&mut self, record: &Value) -> Result<(), String> {
        let record: MemberRecord =
            serde_json::from_value(record.clone()).map_err(|error| format!("this is no record: {error}"))?;
        let (MemberRecord::RunStart { run_id, .. }
        | MemberRecord::AgentStart { run_id, .. }
        | MemberRecord::AgentEnd { run_id, .. }
        | MemberRecord::RunEnd { run_id, .. }) = &record;
        if run_id.is_empty() {
            return Err("`runId` is empty".into());
        }
        if let MemberRecord::RunStart { run_id, name } = &record {
            if name.is_empty() {
                return Err("`name` is empty".into());
            }
            if self.runs.contains_key(run_id) {
                return Err(format!("run {run_id} has started before"));
            }
            self.runs.insert(run_id.clone(), Known::default());
            return Ok(());
        }
        let known = self.runs.get_mut(run_id).ok_or_else(|| format!("run {run_id} has not started"))?;
        if known.ended {
            return Err(format!("run {run_id} has ended"));
        }
        match record {
            MemberRecord::RunStart { .. } => {}
            MemberRecord::AgentStart { seq, child_id, .. } => {
                if !(1..=SAFE).contains(&seq) {
                    return Err(format!("`seq` is {seq}"));
                }
                if child_id.is_empty() {
                    return Err("`childId` is empty".into());
                }
                if known.agents.contains_key(&seq) {
                    return Err(format!("agent {seq} has started before"));
                }
                known.agents.insert(seq, false);
            }
            MemberRecord::AgentEnd { seq, outcome, .. } => {
                if !matches!(outcome.as_str(), "completed" | "failed" | "cancelled") {
                    return Err(format!("`outcome` is `{outcome}`"));
                }
                match known.agents.get_mut(&seq) {
                    Some(ended @ false) => *ended = true,
                    Some(true) => return Err(format!("agent {seq} has ended before")),
                    None => return Err(format!("agent {seq} has not started")),
                }
            }
            MemberRecord::RunEnd { stop_reason, .. } => {
                if !matches!(stop_reason.as_str(), "completed" | "cancelled" | "error") {
                    return Err(format!("`stopReason` is `{stop_reason}`"));
                }
                let open: Vec<String> =
                    known.agents.iter().filter(|(_, ended)| !**ended).map(|(seq, _)| seq.to_string()).collect();
                if !open.is_empty() {
                    return Err(format!("agents {} have not ended", open.join(", ")));
                }
                known.ended = true;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::NodeStatus;

    fn run_start(run: &str) -> Value {
        json!({"kind": "tool-workflow/run-start", "runId": run, "name": "n"})
    }

    fn agent_start(run: &str, seq: Value) -> Value {
        json!({"kind": "tool-workflow/agent-start", "runId": run, "seq": seq, "label": "", "childId": "c"})
    }

    fn agent_end(run: &str, seq: u64, outcome: &str) -> Value {
        json!({"kind": "tool-workflow/agent-end", "runId": run, "seq": seq, "outcome": outcome})
    }

    fn run_end(run: &str) -> Value {
        json!({"kind": "tool-workflow/run-end", "runId": run, "stopReason": "completed"})
    }

    #[test]
    fn runs_may_interleave_and_ends_may_be_missing() {
        let mut ledger = MemberLedger::default();
        for record in [
            run_start("a"),
            run_start("b"),
            agent_start("a", json!(1)),
            agent_start("b", json!(1)),
            agent_end("b", 1, "failed"),
            run_end("b"),
        ] {
            ledger.append(&record).expect("a record in its place");
        }
    }

    #[test]
    fn what_breaks_a_rule_is_refused_and_changes_nothing() {
        let mut ledger = MemberLedger::default();
        ledger.append(&run_start("a")).expect("a start");
        ledger.append(&agent_start("a", json!(1))).expect("an agent");
        let mut empty_child = agent_start("a", json!(2));
        empty_child["childId"] = "".into();
        let mut phase_number = agent_start("a", json!(2));
        phase_number["phase"] = 7.into();
        for wrong in [
            json!([]),
            json!({"kind": "tool-workflow/other", "runId": "a"}),
            run_start(""),
            run_start("a"),
            json!({"kind": "tool-workflow/run-start", "runId": "c", "name": ""}),
            agent_start("b", json!(1)),
            agent_start("a", json!(0)),
            agent_start("a", json!(1.5)),
            agent_start("a", json!("1")),
            agent_start("a", json!(1)),
            empty_child,
            phase_number,
            agent_end("a", 2, "completed"),
            agent_end("a", 1, "done"),
            run_end("a"),
            run_end("b"),
        ] {
            assert!(ledger.append(&wrong).is_err(), "{wrong}");
        }
        assert!(ledger.append(&run_end("a")).expect_err("open").contains("agents 1 have"));
        ledger.append(&agent_end("a", 1, "completed")).expect("the state is as before");
        assert!(ledger.append(&agent_end("a", 1, "completed")).is_err());
        ledger.append(&run_end("a")).expect("its end");
        for late in [run_end("a"), agent_start("a", json!(3)), run_start("a")] {
            assert!(ledger.append(&late).is_err(), "{late}");
        }
    }

    #[test]
    fn a_runs_nodes_become_records_that_keep_the_rules() {
        let run: RunId = "20260828-abcd".parse().unwrap_or_else(|error| panic!("{error}"));
        let agent = |id: u64, status, started: i64, ended: Option<i64>, detail: Value| Node {
            id,
            parent: None,
            kind: NodeKind::Agent,
            title: format!("agent {id}"),
            status,
            started_at: Some(started),
            finished_at: ended,
            detail: Some(detail),
        };
        let nodes = [
            agent(
                1,
                NodeStatus::Success,
                1,
                Some(9),
                json!({"seq": 1, "childId": "c-1", "outcome": "completed", "phase": ""}),
            ),
            agent(2, NodeStatus::Failed, 2, Some(3), json!({"seq": 2, "childId": "c-2", "outcome": "failed"})),
            agent(3, NodeStatus::Cancelled, 0, Some(9), json!({"seq": 3})),
        ];
        let records = member_records(&run, "tidy", RunStatus::Success, &nodes);
        let mut ledger = MemberLedger::default();
        let written: Vec<Value> = records.iter().map(|record| json!(record)).collect();
        for record in &written {
            ledger.append(record).expect("a record in its place");
        }
        let kinds: Vec<&str> = written.iter().filter_map(|record| record["kind"].as_str()?.split('/').nth(1)).collect();
        assert_eq!(kinds, ["run-start", "agent-start", "agent-start", "agent-end", "agent-end", "run-end"]);
        assert_eq!((&written[1]["phase"], written[2].get("phase")), (&json!(""), None));
        assert_eq!(member_records(&run, "tidy", RunStatus::Running, &[]).len(), 1);
    }
}
