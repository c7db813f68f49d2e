//! Changing a card's fields.

use serde_json::{Map, Value, json};

use super::gates::{Forced, Moving, Proof};
use super::{LISTS, rules, verify};
use crate::board::{Board, Fields, as_list, as_text};
use crate::error::{BoardError, Result, refuse};
use crate::front_matter::is_empty;
use crate::record::Whole;

/// Fields that may be changed.
const PATCHABLE: [&str; 20] = [
    "title",
    "status",
    "type",
    "priority",
    "area",
    "parent",
    "depends",
    "milestone",
    "source",
    "tags",
    "effort",
    "scope",
    "claimed_by",
    "claimed_at",
    "start",
    "due",
    "related",
    "origin",
    "raised",
    "verify",
];

impl Board {
    /// Reads what is to be changed into the header's own form.
    fn changes(&self, changes: &Fields) -> Result<Fields> {
        let mut wanted = Map::new();
        let mut unknown = Vec::new();
        for (key, value) in changes {
            if key == "axes" {
                wanted.extend(rules::axes(self.config(), Some(value))?);
            } else if self.config().axis(key).is_some() {
                wanted.insert(key.clone(), as_text(value));
            } else if !PATCHABLE.contains(&key.as_str()) {
                unknown.push(key.as_str());
            } else if LISTS.contains(&key.as_str()) {
                wanted.insert(key.clone(), as_list(value));
            } else if key == "verify" {
                wanted.insert(key.clone(), value.clone());
            } else {
                wanted.insert(key.clone(), as_text(value));
            }
        }
        if !unknown.is_empty() {
            return Err(refuse!(
                "CARD_FIELD_NOT_PATCHABLE",
                "these fields are not changed this way: {}",
                unknown.join(", ")
            )
            .with(json!({ "fields": unknown })));
        }
        if wanted.is_empty() {
            return Err(BoardError::new("CARD_CHANGES_EMPTY", "there is nothing to change"));
        }
        for (key, value) in &wanted {
            let fits = match value {
                Value::String(_) | Value::Null => true,
                Value::Array(items) => LISTS.contains(&key.as_str()) && items.iter().all(Value::is_string),
                _ => false,
            };
            if !fits && key != "verify" {
                return Err(
                    refuse!("CARD_CHANGES_INVALID", "`{key}` cannot be set to that").with(json!({ "field": key }))
                );
            }
        }
        Ok(wanted)
    }

    /// Changes a card's fields; null, `""` or an empty list removes one.
    ///
    /// # Errors
    ///
    /// `CARD_FIELD_NOT_PATCHABLE`, `CARD_CHANGES_EMPTY`, those of creation, and those of the gates.
    pub fn patch_card(
        &self,
        id: &str,
        changes: &Fields,
        actor: &str,
        proof: &Proof<'_>,
        forced: &Forced<'_>,
        expected: Option<&str>,
    ) -> Result<Whole> {
        let mut wanted = self.changes(changes)?;
        let mut held = self.hold_card(id, expected)?;
        let id = held.record.id.clone();
        let from = held.record.text("status").to_owned();
        let to = wanted.get("status").map_or(from.as_str(), |value| value.as_str().unwrap_or("")).to_owned();
        if wanted.contains_key("status") && to != "doing" {
            // Leaving `doing` ends the claim, as by every other way.
            for key in ["claimed_by", "claimed_at"] {
                if held.record.fields.contains_key(key) && !wanted.contains_key(key) {
                    wanted.insert(key.into(), Value::Null);
                }
            }
        }
        let mut card = held.record.fields.to_map();
        for (key, value) in &wanted {
            if is_empty(value) {
                card.remove(key);
            } else {
                card.insert(key.clone(), value.clone());
            }
        }
        let text = |key: &str| card.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let owned = ["status", "claimed_by", "claimed_at"].iter().any(|key| changes.contains_key(*key));
        let area = text("area");
        let moves = wanted.contains_key("status") && !to.is_empty();
        let target = if moves { to.as_str() } else { from.as_str() };
        let moving = Moving { record: &held.record, to: target, area: &area, actor, owned, owner_first: true, moves };
        let passed = self.pass(&moving, proof, forced)?;
        if wanted.contains_key("title") {
            rules::check_title(&text("title"))?;
        }
        rules::check(self.config(), &self.index(), Some(&id), &card, Some(&wanted))?;
        match wanted.get("verify") {
            Some(value) if !is_empty(value) => {
                let entries = verify::read(value)?;
                verify::allowed(self.config(), &entries)?;
                verify::bound(&entries, held.text.body())?;
            }
            Some(_) => {}
            None => rules::check_verify(self.config(), &held.record)?,
        }
        for (key, value) in &wanted {
            held.text.set(key, value)?;
        }
        let entered = from != text("status");
        if entered {
            self.trail(&mut held, actor, &format!("{from} → {}{}", text("status"), passed.waived));
        }
        let claim_before = held.record.text("claimed_by").to_owned();
        let claim_after = text("claimed_by");
        if claim_before != claim_after && changes.contains_key("claimed_by") {
            let event = if claim_after.is_empty() { "released" } else { "claimed" };
            let waived = if entered { "" } else { passed.waived.as_str() };
            self.trail(&mut held, actor, &format!("{event}{waived}"));
        }
        if wanted.contains_key("status") {
            self.record_proof(&mut held, &text("status"), &passed, actor)?;
        }
        let folder = if entered { self.leaving(&held, &text("status")) } else { None };
        self.finish_card(held, folder.as_deref())
    }
}
