//! What a run did, as a tree of nodes with its result on top.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{RunError, RunStatus, TimestampMs, format_timestamp};

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum NodeKind {
    /// A part of the run, by `phase`.
    Phase,
    /// A named step.
    Step,
    /// An agent.
    Agent,
    /// A question to a person.
    Form,
    /// A program, by `exec` or a command entrypoint's `::node`.
    Command,
    /// A run of a related project.
    Related,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum NodeStatus {
    /// Waiting for its turn.
    Queued,
    /// At work.
    Running,
    /// Waiting for a person.
    WaitingForInput,
    /// Done.
    Success,
    /// Ended with an error.
    Failed,
    /// Stopped.
    Cancelled,
    /// Never started.
    Skipped,
}

impl NodeStatus {
    /// Tells whether the node has ended.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Success | Self::Failed | Self::Cancelled | Self::Skipped => true,
            Self::Queued | Self::Running | Self::WaitingForInput => false,
        }
    }

    /// How a node ends that was open still when its run came to this state.
    #[must_use]
    pub fn of_ended(run: RunStatus) -> Self {
        match run {
            RunStatus::Success => Self::Success,
            RunStatus::Failed | RunStatus::Timeout => Self::Failed,
            RunStatus::Queued
            | RunStatus::Running
            | RunStatus::WaitingForInput
            | RunStatus::Interrupted
            | RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

/// One node of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Unique in the run, and the same when the run is replayed.
    pub id: u64,
    /// The node it lies in.
    pub parent: Option<u64>,
    /// What it stands for.
    pub kind: NodeKind,
    /// What a person sees.
    pub title: String,
    /// Where it stands.
    pub status: NodeStatus,
    /// When it started.
    pub started_at: Option<TimestampMs>,
    /// When it ended.
    pub finished_at: Option<TimestampMs>,
    /// Further facts (tokens, model, label).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<Value>,
}

/// What the agents below a node, or of a whole run, came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentUsage {
    /// How many there are, those that wait included.
    pub agents: u64,
    /// Those that ended without a result.
    pub failed: u64,
    /// Tokens they read, as far as it was told.
    pub input_tokens: u64,
    /// Tokens they wrote, as far as it was told.
    pub output_tokens: u64,
}

impl AgentUsage {
    fn of(node: &Node) -> Self {
        let tokens = |key: &str| node.detail.as_ref().and_then(|detail| detail.get(key)).and_then(Value::as_u64);
        Self {
            agents: 1,
            failed: u64::from(node.status == NodeStatus::Failed),
            input_tokens: tokens("inputTokens").unwrap_or(0),
            output_tokens: tokens("outputTokens").unwrap_or(0),
        }
    }

    fn add(&mut self, more: Self) {
        self.agents += more.agents;
        self.failed += more.failed;
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
    }

    /// Sums up a run's agents: all of them, and for each node those below it. A node without any is not in the map.
    #[must_use]
    pub fn sum(nodes: &[Node]) -> (Self, HashMap<u64, Self>) {
        let parents: HashMap<u64, Option<u64>> = nodes.iter().map(|node| (node.id, node.parent)).collect();
        let mut all = Self::default();
        let mut below: HashMap<u64, Self> = HashMap::new();
        for node in nodes.iter().filter(|node| node.kind == NodeKind::Agent) {
            let own = Self::of(node);
            all.add(own);
            let mut at = node.parent;
            // A tree is no deeper than it has nodes; a damaged one may go in circles.
            for _ in 0..nodes.len() {
                let Some(id) = at else { break };
                below.entry(id).or_default().add(own);
                at = parents.get(&id).copied().flatten();
            }
        }
        (all, below)
    }
}

/// The full report of a run, kept in its record.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// What came out, on success.
    pub output: Option<Value>,
    /// What went wrong, otherwise.
    pub error: Option<RunError>,
    /// The tree, in the order the nodes came up.
    pub nodes: Vec<Node>,
}

impl Report {
    /// Writes the report in its stored and shown shape:
    /// `{result: {data: {output}, errCode?, errMsg?}, agents?, nodes: […]}`. `agents` sums up what the run's agents came
    /// to, and so does the `agents` of every node that has some below it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut result = serde_json::Map::new();
        let data = self.output.as_ref().map_or_else(|| json!({}), |output| json!({ "output": output }));
        result.insert("data".into(), data);
        if let Some(error) = &self.error {
            result.insert("errCode".into(), json!(error.err_code.unwrap_or(1)));
            result.insert("errMsg".into(), json!(error.message));
        }
        let (all, below) = AgentUsage::sum(&self.nodes);
        let nodes: Vec<Value> = self
            .nodes
            .iter()
            .map(|node| {
                let mut shown = json!({
                    "id": node.id.to_string(),
                    "parent": node.parent.map(|parent| parent.to_string()),
                    "kind": node.kind,
                    "title": node.title,
                    "status": node.status,
                    "startedAt": node.started_at.map(format_timestamp),
                    "finishedAt": node.finished_at.map(format_timestamp),
                });
                if let (Some(detail), Some(object)) = (&node.detail, shown.as_object_mut()) {
                    object.insert("detail".into(), detail.clone());
                }
                if let (Some(usage), Some(object)) = (below.get(&node.id), shown.as_object_mut()) {
                    object.insert("agents".into(), json!(usage));
                }
                shown
            })
            .collect();
        if all.agents == 0 {
            return json!({ "result": result, "nodes": nodes });
        }
        json!({ "result": result, "agents": all, "nodes": nodes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u64, parent: Option<u64>, kind: NodeKind, status: NodeStatus, detail: Value) -> Node {
        let detail = (!detail.is_null()).then_some(detail);
        Node { id, parent, kind, title: id.to_string(), status, started_at: None, finished_at: None, detail }
    }

    #[test]
    fn tokens_are_summed_up_the_tree() {
        let agent = |id, parent, status, detail| node(id, parent, NodeKind::Agent, status, detail);
        let nodes = vec![
            node(1, None, NodeKind::Related, NodeStatus::Success, Value::Null),
            node(2, Some(1), NodeKind::Phase, NodeStatus::Success, Value::Null),
            agent(3, Some(2), NodeStatus::Success, json!({"inputTokens": 5, "outputTokens": 2})),
            agent(4, Some(2), NodeStatus::Failed, json!({"outputTokens": 1})),
            agent(5, None, NodeStatus::Queued, Value::Null),
        ];
        let (all, below) = AgentUsage::sum(&nodes);
        assert_eq!(all, AgentUsage { agents: 3, failed: 1, input_tokens: 5, output_tokens: 3 });
        let part = AgentUsage { agents: 2, failed: 1, input_tokens: 5, output_tokens: 3 };
        assert_eq!((below[&1], below[&2], below.len()), (part, part, 2));
        let shown = Report { nodes, ..Report::default() }.to_json();
        assert_eq!(shown["agents"], json!({"agents": 3, "failed": 1, "inputTokens": 5, "outputTokens": 3}));
        assert_eq!(shown["nodes"][1]["agents"]["agents"], 2);
        assert_eq!(Report::default().to_json().get("agents"), None);
    }

    #[test]
    fn a_damaged_tree_is_summed_up_all_the_same() {
        let nodes = vec![
            node(1, Some(2), NodeKind::Phase, NodeStatus::Success, Value::Null),
            node(2, Some(1), NodeKind::Phase, NodeStatus::Success, Value::Null),
            node(3, Some(1), NodeKind::Agent, NodeStatus::Success, Value::Null),
        ];
        assert_eq!(AgentUsage::sum(&nodes).0.agents, 1);
    }
}
