//! The nodes of a run as they are now.
//!
//! A node of an agent says in its `detail` what is recorded of a member of the run: `{seq, phase?, childId?, provider?,
//! model?, attempt?, outcome?, inputTokens?, outputTokens?, reason?}`, in which `seq` counts the run's agents from 1.

use std::collections::HashMap;

use agents::{Member, MemberOutcome};
use model::{Node, NodeKind, NodeStatus, RunStatus, TimestampMs};
use serde_json::{Map, Value, json};

use crate::agents::Asked;

/// Characters of a failure's reason that a node keeps.
const REASON: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    places: HashMap<u64, usize>,
    changed: Vec<usize>,
    pub(super) finished: u64,
    agents: u64,
    /// Nodes of the time before a retry: those that come up again are as they were.
    earlier: HashMap<u64, Node>,
    /// How agents ended before the run was taken up again, by their nodes (see [`Nodes::member`]).
    members: HashMap<u64, Value>,
}

impl Nodes {
    /// Takes up the nodes of a run that goes on. Some of them, and how agents ended, may not have been recorded before its
    /// process was gone: `members` come from the journal.
    pub(super) fn resumed(mut list: Vec<Node>, members: HashMap<u64, Value>) -> Self {
        for node in &mut list {
            if node.status == NodeStatus::Cancelled && node.kind != NodeKind::Agent {
                // It had ended with the run, which goes on. One that was over before comes to its end again.
                node.status = NodeStatus::Running;
                node.finished_at = None;
            }
        }
        let places = list.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
        let finished = list.iter().filter(|node| node.status.is_final()).count() as u64;
        let agents = list.iter().filter(|node| node.kind == NodeKind::Agent).count() as u64;
        let mut nodes = Self { list, places, finished, agents, ..Self::default() };
        for (id, member) in members {
            if nodes.places.contains_key(&id) {
                nodes.restore(id, &member);
            } else {
                nodes.members.insert(id, member);
            }
        }
        nodes
    }

    /// Takes up the nodes of a run in which the agent of node `again` is asked again.
    pub(super) fn retried(list: Vec<Node>, members: HashMap<u64, Value>, again: Option<u64>) -> Self {
        let before = Self::resumed(list, members);
        let mut nodes = Self { members: before.members, ..Self::default() };
        for mut node in before.list {
            if Some(node.id) == again {
                node.status = NodeStatus::Queued;
                node.finished_at = None;
                keep_only(&mut node, &["seq", "phase", "childId", "attempt"]);
            }
            nodes.earlier.insert(node.id, node);
        }
        nodes
    }

    /// How an agent ended, for the journal: enough to restore its node.
    pub(super) fn member(&self, id: Option<u64>, at: TimestampMs) -> Option<Value> {
        let node = self.at(id)?;
        Some(json!({ "detail": node.detail, "startedAt": node.started_at, "finishedAt": at }))
    }

    /// Makes a node what it was at its agent's end.
    fn restore(&mut self, id: u64, member: &Value) {
        self.change(Some(id), |node| {
            if let Some(detail) = member.get("detail").filter(|detail| detail.is_object()) {
                node.detail = Some(detail.clone());
            }
            node.started_at = member.get("startedAt").and_then(Value::as_i64).or(node.started_at);
            node.finished_at = member.get("finishedAt").and_then(Value::as_i64).or(node.finished_at);
            if !node.status.is_final() {
                let failed = node.detail.as_ref().is_some_and(|detail| detail.get("reason").is_some());
                node.status = if failed { NodeStatus::Failed } else { NodeStatus::Success };
            }
        });
    }

    /// A node comes up; tells whether it is new.
    pub(super) fn start(
        &mut self,
        id: u64,
        parent: Option<u64>,
        kind: NodeKind,
        title: String,
        at: TimestampMs,
    ) -> bool {
        let place = self.list.len();
        if self.places.contains_key(&id) {
            return false;
        }
        self.places.insert(id, place);
        self.changed.push(place);
        let is_agent = kind == NodeKind::Agent;
        self.agents += u64::from(is_agent);
        let same = |node: &Node| node.kind == kind && node.title == title && node.parent == parent;
        if let Some(node) = self.earlier.remove(&id).filter(same) {
            self.finished += u64::from(node.status.is_final());
            self.list.push(node);
            return false;
        }
        // An agent waits in the line first.
        let (status, started_at) = if is_agent { (NodeStatus::Queued, None) } else { (NodeStatus::Running, Some(at)) };
        let detail = is_agent.then(|| Value::Object(Map::from_iter([("seq".to_owned(), self.agents.into())])));
        self.list.push(Node { id, parent, kind, title, status, started_at, finished_at: None, detail });
        if let Some(member) = self.members.remove(&id) {
            self.restore(id, &member);
            self.finished += 1;
            return false;
        }
        true
    }

    /// A node is over; tells whether that is news.
    pub(super) fn end(&mut self, id: u64, status: NodeStatus, at: TimestampMs) -> bool {
        let Some(place) = self.places.get(&id).copied() else { return false };
        let node = &mut self.list[place];
        if node.status.is_final() {
            return false;
        }
        node.status = status;
        node.finished_at = Some(at);
        self.finished += 1;
        self.changed.push(place);
        true
    }

    /// Shows that a node waits for a person, or no longer does.
    pub(super) fn waits(&mut self, id: Option<u64>, waits: bool) {
        self.change(id, |node| {
            if !node.status.is_final() {
                node.status = if waits { NodeStatus::WaitingForInput } else { NodeStatus::Running };
            }
        });
    }

    /// An agent is at work.
    pub(super) fn member_started(&mut self, member: &Member, asked: &Asked, at: TimestampMs) {
        let was_final = self.at(asked.node).is_some_and(|node| node.status.is_final());
        self.finished = self.finished.saturating_sub(u64::from(was_final));
        self.change(asked.node, |node| {
            node.status = NodeStatus::Running;
            node.started_at = Some(at);
            node.finished_at = None;
            let before = node.detail.as_ref().filter(|detail| detail.get("childId").is_some());
            let attempt = before.map(|detail| detail.get("attempt").and_then(Value::as_u64).unwrap_or(1) + 1);
            keep_only(node, &["seq"]);
            put(node, "phase", member.phase.as_deref().map(Value::from));
            put(node, "childId", Some(member.child.as_str().into()));
            put(node, "provider", Some(asked.provider.as_str().into()));
            put(node, "model", asked.model.as_deref().map(Value::from));
            put(node, "attempt", attempt.map(Value::from));
        });
    }

    /// An agent has ended, as far as its provider is concerned.
    pub(super) fn member_ended(&mut self, outcome: MemberOutcome, asked: &Asked) {
        self.change(asked.node, |node| put(node, "outcome", Some(outcome.as_str().into())));
    }

    /// An agent changed files in a worktree, which is kept.
    pub(super) fn worktree_kept(&mut self, path: &str, branch: &str, asked: &Asked) {
        let worktree = serde_json::json!({ "path": path, "branch": branch });
        self.change(asked.node, |node| put(node, "worktree", Some(worktree)));
    }

    /// An agent's call has its answer: `{value, reason?, inputTokens?, outputTokens?}`.
    pub(super) fn answered(&mut self, id: Option<u64>, answer: &Value) {
        self.change(id, |node| {
            for key in ["inputTokens", "outputTokens"] {
                put(node, key, answer.get(key).filter(|tokens| tokens.is_u64()).cloned());
            }
            let reason = answer.get("reason").and_then(Value::as_str);
            put(node, "reason", reason.map(|reason| reason.chars().take(REASON).collect::<String>().into()));
            settle(node, if reason.is_some() { MemberOutcome::Failed } else { MemberOutcome::Completed });
        });
    }

    /// Nothing goes on in a run that has ended.
    pub(super) fn close(&mut self, run: RunStatus, at: TimestampMs) {
        let left = NodeStatus::of_ended(run);
        for node in &mut self.list {
            if node.kind == NodeKind::Agent {
                settle(node, MemberOutcome::Cancelled);
            }
            if !node.status.is_final() {
                // Whatever an agent was at, it did not come to a result.
                node.status = if node.kind == NodeKind::Agent { NodeStatus::Cancelled } else { left };
                node.finished_at = Some(at);
            }
        }
    }

    pub(super) fn take_changed(&mut self) -> Vec<Node> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        changed.into_iter().filter_map(|place| self.list.get(place).cloned()).collect()
    }

    fn at(&self, id: Option<u64>) -> Option<&Node> {
        self.list.get(*self.places.get(&id?)?)
    }

    fn change(&mut self, id: Option<u64>, change: impl FnOnce(&mut Node)) {
        let Some(place) = id.and_then(|id| self.places.get(&id).copied()) else { return };
        change(&mut self.list[place]);
        self.changed.push(place);
    }
}

/// Says how an agent ended that was started, unless that was told.
fn settle(node: &mut Node, outcome: MemberOutcome) {
    let has = |key: &str| node.detail.as_ref().is_some_and(|detail| detail.get(key).is_some());
    if has("childId") && !has("outcome") {
        put(node, "outcome", Some(outcome.as_str().into()));
    }
}

/// Sets a part of a node's detail, or takes it away.
fn put(node: &mut Node, key: &str, value: Option<Value>) {
    let detail = node.detail.get_or_insert_with(|| Value::Object(Map::new()));
    if let Some(detail) = detail.as_object_mut() {
        match value {
            Some(value) => drop(detail.insert(key.to_owned(), value)),
            None => drop(detail.shift_remove(key)),
        }
    }
}

fn keep_only(node: &mut Node, keys: &[&str]) {
    if let Some(detail) = node.detail.as_mut().and_then(Value::as_object_mut) {
        detail.retain(|key, _| keys.contains(&key.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(seq: u64) -> Member {
        Member { seq, label: "a".into(), phase: Some("Look".into()), child: format!("c-{seq}") }
    }

    fn asked(node: u64) -> Asked {
        Asked { node: Some(node), provider: "canned".into(), model: None }
    }

    #[test]
    fn an_agents_node_tells_its_way() {
        let mut nodes = Nodes::default();
        assert!(nodes.start(1, None, NodeKind::Phase, "Look".into(), 1));
        assert!(nodes.start(2, Some(1), NodeKind::Agent, "a".into(), 2));
        assert_eq!((nodes.list[1].status, nodes.list[1].started_at), (NodeStatus::Queued, None));
        nodes.member_started(&member(9), &asked(2), 5);
        assert_eq!((nodes.list[1].status, nodes.list[1].started_at), (NodeStatus::Running, Some(5)));
        nodes.member_ended(MemberOutcome::Failed, &asked(2));
        nodes.answered(Some(2), &json!({"value": null, "reason": "no", "outputTokens": 7}));
        assert!(nodes.end(2, NodeStatus::Failed, 8) && !nodes.end(2, NodeStatus::Failed, 9));
        let detail = json!({"seq": 1, "phase": "Look", "childId": "c-9", "provider": "canned", "outcome": "failed",
            "outputTokens": 7, "reason": "no"});
        assert_eq!(nodes.list[1].detail, Some(detail));
    }

    #[test]
    fn a_retry_keeps_what_comes_up_again_and_asks_one_agent_anew() {
        let mut before = Nodes::default();
        for (id, title) in [(1, "good"), (2, "bad"), (3, "later")] {
            before.start(id, None, NodeKind::Agent, title.into(), 1);
            before.member_started(&member(id), &asked(id), 2);
            before.end(id, NodeStatus::Success, 3);
        }
        let mut nodes = Nodes::retried(before.list, HashMap::new(), Some(2));
        for (id, title) in [(1, "good"), (2, "bad"), (3, "another")] {
            nodes.start(id, None, NodeKind::Agent, title.into(), 10);
        }
        let stands: Vec<_> = nodes.list.iter().map(|node| (node.status, node.started_at)).collect();
        let queued = NodeStatus::Queued;
        assert_eq!(stands, [(NodeStatus::Success, Some(2)), (queued, Some(2)), (queued, None)]);
        nodes.member_started(&member(2), &asked(2), 11);
        assert_eq!(nodes.list[1].detail.as_ref().map(|detail| detail["attempt"].clone()), Some(json!(2)));
    }

    #[test]
    fn what_was_not_recorded_comes_from_the_journal() {
        let mut before = Nodes::default();
        for id in [1, 2] {
            before.start(id, None, NodeKind::Agent, "a".into(), 1);
            before.member_started(&member(id), &asked(id), 2);
        }
        let lost = before.list[0].clone();
        before.answered(Some(1), &json!({"value": "x", "outputTokens": 3}));
        let members: HashMap<u64, Value> = before.member(Some(1), 9).map(|member| (1, member)).into_iter().collect();
        // Neither the node nor its end was recorded; then the node was, and its end was not.
        for list in [Vec::new(), vec![lost]] {
            let mut nodes = Nodes::resumed(list, members.clone());
            assert!(!nodes.start(1, None, NodeKind::Agent, "a".into(), 20), "it is no news");
            let node = &nodes.list[0];
            assert_eq!((node.status, node.started_at, node.finished_at), (NodeStatus::Success, Some(2), Some(9)));
            let detail = node.detail.as_ref().expect("a detail");
            assert_eq!((&detail["outputTokens"], &detail["outcome"]), (&json!(3), &json!("completed")));
        }
    }
}
