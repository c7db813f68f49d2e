//! Ticking acceptance criteria by hand.

use serde_json::{Value, json};

use super::verify;
use crate::board::{Board, Fields};
use crate::error::{BoardError, Result, refuse};
use crate::front_matter::is_empty;
use crate::markdown::{acceptance, normalised, sha256, tick};

impl Board {
    /// Reads a card's criteria: `{present, items, unchecked, orphans}`.
    ///
    /// # Errors
    ///
    /// `CARD_NOT_FOUND`.
    pub fn card_acceptance(&self, id: &str) -> Result<Value> {
        let index = self.index();
        let card = index.get(id).filter(|record| record.kind == crate::record::Kind::Card);
        let card = card.ok_or_else(|| refuse!("CARD_NOT_FOUND", "there is no `{id}`"))?;
        Ok(acceptance(&self.read(card).body).to_json())
    }

    /// Ticks and unticks criteria by their numbers.
    ///
    /// # Errors
    ///
    /// `CARD_ACCEPTANCE_EMPTY`, `CARD_ACCEPTANCE_INDEX_UNKNOWN`, `CARD_ACCEPTANCE_MACHINE_OWNED`, and those of every write.
    pub fn tick_criteria(
        &self,
        id: &str,
        check: &[usize],
        uncheck: &[usize],
        expected: Option<&str>,
    ) -> Result<Fields> {
        if check.is_empty() && uncheck.is_empty() {
            return Err(BoardError::new("CARD_ACCEPTANCE_EMPTY", "there is no criterion to change"));
        }
        let mut held = self.hold_card(id, expected)?;
        let entries = match held.record.fields.get("verify") {
            Some(value) if !is_empty(&value) => verify::read(&value)?,
            _ => Vec::new(),
        };
        let mut body = held.text.body().to_owned();
        let read = acceptance(&body);
        let mut changed = Vec::new();
        for (number, to) in
            check.iter().map(|number| (number, true)).chain(uncheck.iter().map(|number| (number, false)))
        {
            let Some(item) = read.items.iter().find(|item| item.index == *number) else {
                return Err(refuse!("CARD_ACCEPTANCE_INDEX_UNKNOWN", "there is no criterion {number}")
                    .with(json!({ "index": number, "available": read.items.len() })));
            };
            let digest = sha256(normalised(&item.text).as_bytes());
            if let Some(owner) = entries.iter().find(|entry| entry.criteria.contains(&digest)) {
                return Err(refuse!(
                    "CARD_ACCEPTANCE_MACHINE_OWNED",
                    "criterion {number} is proved by `{}`, not by hand",
                    owner.id
                )
                .with(json!({ "index": number, "entry": owner.id })));
            }
            if item.checked != to {
                body = tick(&body, item.line, to);
                let line = item.line + held.text.lines_before_body();
                changed.push(json!({ "index": item.index, "text": item.text, "checked": to, "line": line }));
            }
        }
        held.text.set_body(&body);
        let record = self.finish_card(held, None)?;
        let card = record.to_json(self.config());
        let answer = json!({
            "id": record.id,
            "file": record.file(),
            "revision": record.revision,
            "path": self.workspace().at(&record.path),
            "changed": changed,
            "acceptance": acceptance(&record.body).to_json(),
            "card": card,
        });
        Ok(answer.as_object().cloned().unwrap_or_default())
    }
}
