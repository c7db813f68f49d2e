//! The nodes of a run as they are now.

use std::collections::HashMap;

use model::{Node, NodeKind, NodeStatus, RunStatus, TimestampMs};

#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    places: HashMap<u64, usize>,
    changed: Vec<usize>,
    pub(super) finished: u64,
}

impl Nodes {
    /// Takes up the nodes of a run that goes on.
    pub(super) fn resumed(list: Vec<Node>) -> Self {
        let places = list.iter().enumerate().map(|(place, node)| (node.id, place)).collect();
        let finished = list.iter().filter(|node| node.status.is_final()).count() as u64;
        Self { list, places, changed: Vec::new(), finished }
    }

    pub(super) fn start(&mut self, id: u64, parent: Option<u64>, kind: NodeKind, title: String, at: TimestampMs) {
        let place = self.list.len();
        if self.places.contains_key(&id) {
            return;
        }
        self.places.insert(id, place);
        let status = NodeStatus::Running;
        self.list.push(Node { id, parent, kind, title, status, started_at: Some(at), finished_at: None, detail: None });
        self.changed.push(place);
    }

    pub(super) fn end(&mut self, id: u64, status: NodeStatus, at: TimestampMs) {
        let Some(place) = self.places.get(&id).copied() else { return };
        let node = &mut self.list[place];
        if !node.status.is_final() {
            node.status = status;
            node.finished_at = Some(at);
            self.finished += 1;
            self.changed.push(place);
        }
    }

    /// Shows that a node waits for a person, or no longer does.
    pub(super) fn waits(&mut self, id: Option<u64>, waits: bool) {
        let Some(place) = id.and_then(|id| self.places.get(&id).copied()) else { return };
        let node = &mut self.list[place];
        if !node.status.is_final() {
            node.status = if waits { NodeStatus::WaitingForInput } else { NodeStatus::Running };
            self.changed.push(place);
        }
    }

    /// Nothing goes on in a run that has ended.
    pub(super) fn close(&mut self, run: RunStatus, at: TimestampMs) {
        let left = match run {
            RunStatus::Success => NodeStatus::Success,
            RunStatus::Failed | RunStatus::Timeout => NodeStatus::Failed,
            RunStatus::Queued
            | RunStatus::Running
            | RunStatus::WaitingForInput
            | RunStatus::Interrupted
            | RunStatus::Cancelled => NodeStatus::Cancelled,
        };
        for node in &mut self.list {
            if !node.status.is_final() {
                node.status = left;
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
}
