//! Where a card could go, before anybody moves it: the same gates, asked without a write.

use super::gates::{acceptance_gate, owner_gate};
use super::rules;
use crate::board::Board;
use crate::error::{Result, refuse};
use crate::moment;
use crate::record::{Kind, Whole};
use crate::vocabulary::STATUSES;

/// What stands between a card and one status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The status.
    pub status: &'static str,
    /// Why it is refused, one sentence each. Empty: nothing stands in the way.
    pub reasons: Vec<String>,
    /// The stable code of each reason, in the same order.
    pub codes: Vec<&'static str>,
    /// What the move must say: `reason`, `evidence` or `run`.
    pub needs: Vec<&'static str>,
}

impl Board {
    /// Tells for every status what would refuse the card if `actor` moved it there now.
    ///
    /// # Errors
    ///
    /// `CARD_NOT_FOUND`.
    pub fn refusals(&self, id: &str, actor: &str) -> Result<Vec<Refusal>> {
        let index = self.index();
        let card = index.get(id.trim()).filter(|record| record.kind == Kind::Card);
        let card = card.ok_or_else(|| refuse!("CARD_NOT_FOUND", "there is no card `{id}`"))?;
        let card = self.read(card);
        Ok(STATUSES.iter().map(|status| self.refusal(&card, status, actor)).collect())
    }

    fn refusal(&self, card: &Whole, status: &'static str, actor: &str) -> Refusal {
        let mut refusal = Refusal { status, reasons: Vec::new(), codes: Vec::new(), needs: Vec::new() };
        if card.text("status") == status {
            return refusal;
        }
        let mut refuse = |error: crate::BoardError| {
            refusal.codes.push(error.code);
            refusal.reasons.push(error.message);
        };
        if let Err(error) = rules::check_verify(self.config(), card) {
            refuse(error);
        }
        let owner = owner_gate(card, actor);
        if status == "doing" {
            // A claim: one that is stale may be taken, with a reason.
            let age = moment::parse(card.text("claimed_at")).map(|at| self.workspace().now() - at);
            match owner {
                Some(_) if age.is_some_and(|age| self.is_stale(age)) => refusal.needs.push("reason"),
                Some(gate) => refuse(gate.error),
                None => {}
            }
            return refusal;
        }
        if let Some(gate) = owner {
            refuse(gate.error);
        }
        if status == "done" {
            if let Some(gate) = acceptance_gate(card) {
                refuse(gate.error);
            }
            let accepted = self.config().methods(card.text("area")).unwrap_or_default();
            let takes = |method: &str| accepted.iter().any(|one| one == method);
            if !accepted.is_empty() && !takes("local") {
                refusal.needs.push(if takes("manual") { "evidence" } else { "run" });
            }
        }
        refusal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;
    use crate::{Claim, Fields, Forced, Proof};
    use serde_json::json;

    fn board(folder: &std::path::Path) -> Board {
        let config =
            r#"export default { cards: { areas: ["web", "ops"], verification: { methods: { ops: ["manual"] } } } };"#;
        std::fs::write(folder.join("project.config.mjs"), config).unwrap();
        Board::new(Workspace::open(Some(folder), folder, false).unwrap())
    }

    fn card(board: &Board, area: &str, body: &str) -> String {
        let fields: Fields = json!({ "title": "A card", "area": area }).as_object().unwrap().clone();
        board.create_card(fields, body).unwrap().id.clone()
    }

    fn of<'a>(refusals: &'a [Refusal], status: &str) -> &'a Refusal {
        refusals.iter().find(|one| one.status == status).unwrap()
    }

    #[test]
    fn what_is_foretold_is_what_happens() {
        let folder = tempfile::tempdir().unwrap();
        let board = board(folder.path());
        let open = card(&board, "web", "## Acceptance criteria\n\n- [ ] It works\n");
        let proved = card(&board, "web", "## Acceptance criteria\n\n- [x] It works\n");
        let held = card(&board, "web", "");
        let claim = Claim { actor: "somebody", ..Claim::default() };
        board.claim_card(&held, &claim, None).unwrap();
        for id in [&open, &proved, &held] {
            let foretold = board.refusals(id, "me").unwrap();
            assert_eq!(foretold.len(), STATUSES.len());
            for status in ["backlog", "next", "doing", "review", "blocked", "deferred", "done", "discarded"] {
                let before = board.index().get(id).unwrap().text("status").to_owned();
                if before == status {
                    assert!(of(&foretold, status).reasons.is_empty());
                    continue;
                }
                let moved = board.transition_card(id, status, "me", None, &Proof::default(), &Forced::default(), None);
                assert_eq!(moved.is_ok(), of(&foretold, status).reasons.is_empty(), "{id} to {status}: {moved:?}");
                if moved.is_ok() {
                    // Back to where it was, for the next try.
                    if status == "doing" {
                        board
                            .release_card(id, Some(&before), "me", &Proof::default(), &Forced::default(), None)
                            .unwrap();
                    } else {
                        board
                            .transition_card(id, &before, "me", None, &Proof::default(), &Forced::default(), None)
                            .unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn an_area_that_asks_for_proof_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let board = board(folder.path());
        let id = card(&board, "ops", "");
        let foretold = board.refusals(&id, "me").unwrap();
        let done = of(&foretold, "done");
        assert_eq!((done.reasons.len(), done.needs.as_slice()), (0, ["evidence"].as_slice()));
        assert_eq!(board.refusals("T-9999", "me").unwrap_err().code, "CARD_NOT_FOUND");
    }
}
