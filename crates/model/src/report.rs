//! What a run did, as a tree of nodes with its result on top.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{RunError, TimestampMs, format_timestamp};

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
    /// `{result: {data: {output}, errCode?, errMsg?}, nodes: […]}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut result = serde_json::Map::new();
        let data = self.output.as_ref().map_or_else(|| json!({}), |output| json!({ "output": output }));
        result.insert("data".into(), data);
        if let Some(error) = &self.error {
            result.insert("errCode".into(), json!(error.err_code.unwrap_or(1)));
            result.insert("errMsg".into(), json!(error.message));
        }
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
                shown
            })
            .collect();
        json!({ "result": result, "nodes": nodes })
    }
}
