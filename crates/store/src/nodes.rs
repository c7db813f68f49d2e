//! The nodes of a run's report, written while it runs so that a window can show them live.

use model::{Node, NodeKind, NodeStatus, RunStatus, TimestampMs};
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::body::json;
use crate::database::{Fault, Outcome};
use crate::runs::{Lease, held, note};
use crate::{Durability, Masker, Result, Store};

/// A node in its stored form.
#[derive(Debug, Clone)]
pub(crate) struct NodeRow {
    id: i64,
    parent: Option<i64>,
    kind: String,
    title: String,
    status: String,
    started_at: Option<TimestampMs>,
    finished_at: Option<TimestampMs>,
    detail: Option<String>,
}

impl NodeRow {
    pub(crate) fn title(&self) -> &str {
        &self.title
    }
}

/// Returns the name that serde gives a plain enum's variant.
fn name<T: serde::Serialize>(value: T) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn named<T: DeserializeOwned>(text: String, what: &str) -> Outcome<T> {
    serde_json::from_value(Value::String(text)).map_err(|error| Fault::Damaged(format!("a node's {what}: {error}")))
}

/// Encodes nodes, masked.
pub(crate) fn rows(nodes: &[Node], masker: &Masker) -> Vec<NodeRow> {
    // Ids beyond what SQLite counts cannot come up in one run; they would share a row.
    let id = |id: u64| i64::try_from(id).unwrap_or(i64::MAX);
    nodes
        .iter()
        .map(|node| NodeRow {
            id: id(node.id),
            parent: node.parent.map(id),
            kind: name(node.kind),
            title: masker.mask(&node.title).into_owned(),
            status: name(node.status),
            started_at: node.started_at,
            finished_at: node.finished_at,
            detail: node.detail.as_ref().map(|detail| masker.mask_json(detail).to_string()),
        })
        .collect()
}

const UPSERT: &str = "INSERT INTO nodes \
     (run, id, place, parent, kind, title, status, started_at, finished_at, detail) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
     ON CONFLICT (run, id) DO UPDATE SET parent = ?4, kind = ?5, title = ?6, status = ?7, started_at = ?8, \
     finished_at = ?9, detail = ?10";

fn upsert(connection: &Connection, run: i64, place: i64, row: &NodeRow) -> Outcome<()> {
    connection.prepare_cached(UPSERT)?.execute((
        run,
        row.id,
        place,
        row.parent,
        &row.kind,
        &row.title,
        &row.status,
        row.started_at,
        row.finished_at,
        &row.detail,
    ))?;
    Ok(())
}

/// Writes the final nodes of a run in place of those that were written while it ran.
pub(crate) fn replace(connection: &Connection, run: i64, rows: &[NodeRow]) -> Outcome<()> {
    connection.prepare_cached("DELETE FROM nodes WHERE run = ?1")?.execute([run])?;
    for (place, row) in (0..).zip(rows) {
        upsert(connection, run, place, row)?;
    }
    Ok(())
}

/// Ends what still goes on in a run that has ended.
pub(crate) fn close(connection: &Connection, run: i64, ended: RunStatus, at: TimestampMs) -> Outcome<()> {
    // Whatever an agent was at, it did not come to a result.
    connection
        .prepare_cached(
            "UPDATE nodes SET status = CASE kind WHEN ?4 THEN ?5 ELSE ?2 END, finished_at = ?3, \
             detail = CASE WHEN kind = ?4 AND json_extract(detail, '$.childId') IS NOT NULL \
             AND json_extract(detail, '$.outcome') IS NULL THEN json_set(detail, '$.outcome', 'cancelled') \
             ELSE detail END \
             WHERE run = ?1 AND status IN ('queued', 'running', 'waiting_for_input')",
        )?
        .execute((run, name(NodeStatus::of_ended(ended)), at, name(NodeKind::Agent), name(NodeStatus::Cancelled)))?;
    Ok(())
}

/// Reads the nodes of a run in the order they came up.
pub(crate) fn read(connection: &Connection, run: i64) -> Outcome<Vec<Node>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, parent, kind, title, status, started_at, finished_at, detail, place FROM nodes WHERE run = ?1",
    )?;
    let mut rows = statement.query([run])?;
    let mut nodes: Vec<(i64, Node)> = Vec::new();
    let id = |id: i64| u64::try_from(id).unwrap_or(0);
    while let Some(row) = rows.next()? {
        let node = Node {
            id: id(row.get(0)?),
            parent: row.get::<_, Option<i64>>(1)?.map(id),
            kind: named::<NodeKind>(row.get(2)?, "kind")?,
            title: row.get(3)?,
            status: named::<NodeStatus>(row.get(4)?, "status")?,
            started_at: row.get(5)?,
            finished_at: row.get(6)?,
            detail: row.get::<_, Option<String>>(7)?.map(|text| json(&text, "a node's detail")).transpose()?,
        };
        nodes.push((row.get(8)?, node));
    }
    nodes.sort_by_key(|(place, node)| (*place, node.id));
    Ok(nodes.into_iter().map(|(_, node)| node).collect())
}

impl Store {
    /// Writes nodes as they are now, new ones and known ones.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::StaleEpoch`] when the run is in other hands.
    pub fn upsert_nodes(&self, lease: &Lease, nodes: &[Node]) -> Result<()> {
        if nodes.is_empty() {
            return Ok(());
        }
        let (rows, lease) = (rows(nodes, self.masker()), lease.clone());
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            for row in &rows {
                // Ids grow in the order nodes come up; the final report settles the order.
                upsert(connection, state.key, row.id, row)?;
            }
            note(connection, &state, "nodes")
        })
    }
}
