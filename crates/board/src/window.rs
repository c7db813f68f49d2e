//! What a window shows of a board beside lists and records: what happened to a card, who holds it and whether they are
//! still there, how far it is, and whether anything changed on disk.

use std::collections::HashMap;

use model::TimestampMs;

use crate::board::Board;
use crate::error::{Result, refuse};
use crate::markdown::{ACTIVITY, acceptance, items, sha256};
use crate::record::{Kind, Record, Whole};
use crate::{activity, moment};

/// Something that happened to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happened {
    /// When, as the record has it: `2026-11-30 12:34Z`.
    pub at: Option<String>,
    /// Who did it.
    pub who: Option<String>,
    /// What.
    pub text: String,
}

/// Who holds a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Their name.
    pub by: String,
    /// `live`, `held`, `stale` or `orphaned`.
    pub state: &'static str,
    /// Since when.
    pub since: Option<TimestampMs>,
}

impl Board {
    /// Reads a card's trail, the last event first.
    ///
    /// # Errors
    ///
    /// `CARD_NOT_FOUND`.
    pub fn trail_of(&self, id: &str) -> Result<Vec<Happened>> {
        let index = self.index();
        let card = index.get(id.trim()).filter(|record| record.kind == Kind::Card);
        let card = card.ok_or_else(|| refuse!("CARD_NOT_FOUND", "there is no card `{id}`"))?;
        Ok(items(&self.read(card).body, ACTIVITY).into_iter().rev().map(happened).collect())
    }

    /// Tells who holds which card, as their sessions signal.
    #[must_use]
    pub fn holders(&self) -> HashMap<String, Holder> {
        let sessions = activity::sessions(self.workspace(), false);
        let index = self.index();
        let holder = |card: &Record| {
            let by = card.text("claimed_by").to_owned();
            let since = moment::parse(card.text("claimed_at"));
            let state = activity::state(self.workspace(), card, &sessions).map_or("held", |state| state.state);
            (!by.is_empty()).then(|| (card.id.clone(), Holder { by, state, since }))
        };
        index.records().iter().filter(|record| record.kind == Kind::Card).filter_map(|card| holder(card)).collect()
    }

    /// A text that is another one when any record, or what is known of a claim, has changed.
    #[must_use]
    pub fn mark(&self) -> String {
        let _ = self.index();
        let mut seen = vec![format!("{:x}", self.looking().mark())];
        seen.extend(self.holders().into_iter().map(|(id, holder)| format!("{id} {}", holder.state)));
        seen.sort_unstable();
        sha256(seen.join("\n").as_bytes())
    }
}

impl Whole {
    /// The acceptance criteria: number, text, and whether it is ticked.
    #[must_use]
    pub fn criteria_list(&self) -> Vec<(usize, String, bool)> {
        acceptance(&self.body).items.into_iter().map(|item| (item.index, item.text, item.checked)).collect()
    }
}

/// Reads `2026-11-30 12:34Z who · what`; what has another form is all text.
fn happened(item: &str) -> Happened {
    let parts = item.split_once(" · ").and_then(|(head, text)| {
        let at = head.get(..17).filter(|at| at.ends_with('Z') && crate::moment::is_day(at.get(..10).unwrap_or("")))?;
        Some(Happened {
            at: Some(at.to_owned()),
            who: Some(head[17..].trim().to_owned()).filter(|who| !who.is_empty()),
            text: text.to_owned(),
        })
    });
    parts.unwrap_or_else(|| Happened { at: None, who: None, text: item.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;
    use crate::{Claim, Fields};
    use serde_json::json;

    #[test]
    fn a_trail_is_read_as_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("project.config.mjs"), "export default {};").unwrap();
        let board = Board::new(Workspace::open(Some(folder.path()), folder.path(), false).unwrap());
        let fields: Fields = json!({ "title": "A card" }).as_object().unwrap().clone();
        let id = board.create_card(fields, "## Acceptance criteria\n\n- [x] one\n- [ ] two\n").unwrap().id.clone();
        let before = board.mark();
        assert_eq!(board.mark(), before);
        board.claim_card(&id, &Claim { actor: "Ada#1", ..Claim::default() }, None).unwrap();
        assert_ne!(board.mark(), before);
        let trail = board.trail_of(&id).unwrap();
        assert_eq!((trail[0].who.as_deref(), trail[0].text.as_str()), (Some("Ada#1"), "claimed"));
        assert!(trail[0].at.as_ref().is_some_and(|at| at.len() == 17), "{trail:?}");
        let holders = board.holders();
        assert_eq!((holders[&id].by.as_str(), holders[&id].state), ("Ada#1", "held"));
        let card = board.index().get(&id).cloned().unwrap();
        assert_eq!(card.criteria(), Some((1, 2)));
        assert_eq!(board.read(&card).criteria_list()[1], (2, "two".to_owned(), false));
    }

    #[test]
    fn what_has_another_form_is_text() {
        for item in ["é", "2026-11-30 12:34Z", "x · y", "2026-99-99 12:34Z a · b", "……………… · b"] {
            assert_eq!(happened(item), Happened { at: None, who: None, text: item.to_owned() }, "{item}");
        }
    }
}
