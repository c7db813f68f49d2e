//! What can be started now.

use serde_json::{Value, json};

use crate::board::{Board, Fields};
use crate::record::{Kind, Record};
use crate::vocabulary::{CLOSED, PRIORITIES};

impl Board {
    /// Cards that can be started or gone on with by `actor`: `{records, total}`. Rows, or whole records.
    #[must_use]
    pub fn next(&self, actor: &str, areas: &[String], limit: usize, full: bool) -> Value {
        let index = self.index();
        let met = |card: &Record| {
            card.list("depends").iter().all(|id| {
                index.get(id).is_none_or(|other| other.kind != Kind::Card || CLOSED.contains(&other.text("status")))
            })
        };
        let mut found: Vec<usize> = (0..index.records.len())
            .filter(|at| {
                let card = &index.records[*at];
                card.kind == Kind::Card
                    && ["next", "backlog", "doing"].contains(&card.text("status"))
                    && card.text("type") != "epic"
                    && (areas.is_empty() || areas.iter().any(|area| area == card.text("area")))
                    && (card.text("claimed_by").is_empty() || card.text("claimed_by") == actor)
                    && met(card)
            })
            .collect();
        found.sort_by_key(|at| {
            let card = &index.records[*at];
            let priority = PRIORITIES.iter().position(|one| *one == card.text("priority")).unwrap_or(PRIORITIES.len());
            (
                card.text("claimed_by") != actor,
                card.text("status") != "doing",
                priority,
                card.text("updated").to_owned(),
            )
        });
        let records: Vec<Fields> = found
            .iter()
            .take(limit)
            .map(|at| {
                let card = &index.records[*at];
                let mut row = if full { self.full(&index, *at) } else { index.row(*at, self.config()) };
                row.insert("reason".into(), json!(reason(card, actor)));
                row
            })
            .collect();
        json!({ "records": records, "total": found.len() })
    }
}

fn reason(card: &Record, actor: &str) -> String {
    let mut parts = Vec::new();
    if !actor.is_empty() && card.text("claimed_by") == actor {
        parts.push("claimed by you".to_owned());
    }
    match card.text("status") {
        "doing" => parts.push("in progress".into()),
        "next" => parts.push("queued next".into()),
        _ => {}
    }
    if !card.list("depends").is_empty() {
        parts.push("dependencies met".into());
    }
    parts.push(format!("{} priority", card.text("priority")));
    parts.join(", ")
}
