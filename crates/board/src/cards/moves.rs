//! Moving cards: claims, releases, transitions, the archive.

use serde_json::{Value, json};

use super::gates::{Forced, Moving, Passed, Proof};
use super::rules;
use crate::board::{Board, Fields, Held, given};
use crate::error::{BoardError, Result, refuse};
use crate::markdown::{NOTES, append};
use crate::record::{Kind, Record, Whole};
use crate::vocabulary::CLOSED;
use crate::{moment, paths};

/// A claim to make.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claim<'a> {
    /// Who claims.
    pub actor: &'a str,
    /// What is worked on; the card's own when not given.
    pub scope: Option<&'a [String]>,
    /// Take it from whoever holds it.
    pub force: bool,
    /// Why it is taken.
    pub reason: Option<&'a str>,
}

impl Board {
    /// Claims a card. Returns it, and a warning for every other card in work whose scope overlaps.
    ///
    /// # Errors
    ///
    /// `CARD_CLAIM_ACTOR_REQUIRED`, `CARD_ALREADY_CLAIMED`, `CARD_CLAIM_BREAK_REASON_REQUIRED`, and those of every write.
    pub fn claim_card(&self, id: &str, claim: &Claim<'_>, expected: Option<&str>) -> Result<(Whole, Vec<Value>)> {
        self.claim_in(id, claim, expected, true)
    }

    fn claim_in(
        &self,
        id: &str,
        claim: &Claim<'_>,
        expected: Option<&str>,
        leave_archive: bool,
    ) -> Result<(Whole, Vec<Value>)> {
        if claim.actor.trim().is_empty() {
            return Err(BoardError::new("CARD_CLAIM_ACTOR_REQUIRED", "a claim needs who makes it"));
        }
        let mut held = self.hold_card(id, expected)?;
        let (holder, at) = (held.record.text("claimed_by").to_owned(), held.record.text("claimed_at").to_owned());
        let now = self.workspace().now();
        let mut note = None;
        if !holder.is_empty() && holder != claim.actor {
            let stale = moment::parse(&at).is_some_and(|at| self.is_stale(now - at));
            if !stale && !claim.force {
                return Err(refuse!("CARD_ALREADY_CLAIMED", "`{id}` is claimed by {holder} since {at}")
                    .with(json!({ "claimedBy": holder, "claimedAt": at })));
            }
            let Some(reason) = given(claim.reason) else {
                return Err(refuse!("CARD_CLAIM_BREAK_REASON_REQUIRED", "taking the claim of {holder} needs a reason"));
            };
            let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
            note = Some(format!("- {} — {} replaced {holder}'s claim: {reason}", moment::day(now), claim.actor));
        }
        rules::check_verify(self.config(), &held.record)?;
        held.text.set("status", &json!("doing"))?;
        held.text.set("claimed_by", &json!(claim.actor))?;
        held.text.set("claimed_at", &json!(model::format_timestamp(now)))?;
        if let Some(scope) = claim.scope {
            held.text.set("scope", &json!(scope))?;
        }
        held.text.set("verified", &Value::Null)?;
        if holder != claim.actor || held.record.text("status") != "doing" {
            self.trail(&mut held, claim.actor, "claimed");
        }
        if let Some(note) = note {
            let body = append(held.text.body(), NOTES, &note, held.text.newline());
            held.text.set_body(&body);
        }
        let folder = self.leaving(&held, "doing").filter(|_| leave_archive);
        let record = self.finish_card(held, folder.as_deref())?;
        let warnings = self.overlaps(&record);
        Ok((record, warnings))
    }

    /// Tells whether a claim of this age, in milliseconds, is stale.
    pub(crate) fn is_stale(&self, age: i64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "hours of a claim")]
        let hours = age as f64 / 3_600_000.0;
        hours >= self.config().cards.lease_hours
    }

    fn overlaps(&self, card: &Record) -> Vec<Value> {
        let mine = card.list("scope");
        let index = self.index();
        let others = index.of(Kind::Card).filter(|other| {
            other.id != card.id
                && !other.archived
                && other.text("status") == "doing"
                && !other.text("claimed_by").is_empty()
        });
        others
            .filter_map(|other| {
                let theirs = other.list("scope");
                let paths: Vec<[&str; 2]> = mine
                    .iter()
                    .flat_map(|mine| theirs.iter().filter(|theirs| paths::overlap(mine, theirs)).map(|theirs| [*mine, *theirs]))
                    .collect();
                (!paths.is_empty()).then(|| {
                    json!({ "code": "CARD_SCOPE_OVERLAP", "cardId": other.id, "claimedBy": other.text("claimed_by"), "paths": paths })
                })
            })
            .collect()
    }

    /// The folder a card goes to when it leaves the archive.
    pub(super) fn leaving(&self, held: &Held, status: &str) -> Option<String> {
        (held.place.archived && !CLOSED.contains(&status)).then(|| self.config().cards.path.clone())
    }

    /// Writes down what a passed gate asks for.
    pub(super) fn record_proof(&self, held: &mut Held, to: &str, passed: &Passed, actor: &str) -> Result<()> {
        match &passed.verified {
            Some(verified) => held.text.set("verified", verified)?,
            None if to != "done" => held.text.set("verified", &Value::Null)?,
            None => {}
        }
        if let Some(evidence) = &passed.evidence {
            let line = self.note_line(actor, evidence, held.text.newline());
            let body = append(held.text.body(), NOTES, &line, held.text.newline());
            held.text.set_body(&body);
        }
        Ok(())
    }

    /// Moves a card to another status. To `doing` is a claim by `actor`.
    ///
    /// # Errors
    ///
    /// Those of a claim, `CARD_ENUM_INVALID`, `CARD_CLAIM_OWNER_MISMATCH`, and those of the gates into `done`.
    #[expect(clippy::too_many_arguments, reason = "what a move says; every surface gives all of it")]
    pub fn transition_card(
        &self,
        id: &str,
        to: &str,
        actor: &str,
        scope: Option<&[String]>,
        proof: &Proof<'_>,
        forced: &Forced<'_>,
        expected: Option<&str>,
    ) -> Result<Whole> {
        if to == "doing"
            && given(proof.method).is_none()
            && given(proof.run).is_none()
            && given(proof.evidence).is_none()
        {
            let claim = Claim { actor, scope, force: forced.force, reason: forced.reason };
            return self.claim_card(id, &claim, expected).map(|(record, _)| record);
        }
        let mut held = self.hold_card(id, expected)?;
        let area = held.record.text("area").to_owned();
        let moving =
            Moving { record: &held.record, to, area: &area, actor, owned: true, owner_first: false, moves: true };
        let passed = self.pass(&moving, proof, forced)?;
        rules::check_verify(self.config(), &held.record)?;
        let from = held.record.text("status").to_owned();
        held.text.set("status", &json!(to))?;
        held.text.set("claimed_by", &Value::Null)?;
        held.text.set("claimed_at", &Value::Null)?;
        let folder = self.leaving(&held, to);
        if from != to {
            self.trail(&mut held, actor, &format!("{from} → {to}{}", passed.waived));
        } else if folder.is_some() {
            self.trail(&mut held, actor, "unarchived");
        }
        self.record_proof(&mut held, to, &passed, actor)?;
        self.finish_card(held, folder.as_deref())
    }

    /// Gives a claim back. The status becomes `to`, else `next` when the card was in work, else stays.
    ///
    /// # Errors
    ///
    /// `CARD_RELEASE_STATUS_INVALID` for `doing`; otherwise those of a transition.
    pub fn release_card(
        &self,
        id: &str,
        to: Option<&str>,
        actor: &str,
        proof: &Proof<'_>,
        forced: &Forced<'_>,
        expected: Option<&str>,
    ) -> Result<Whole> {
        if to == Some("doing") {
            return Err(BoardError::new("CARD_RELEASE_STATUS_INVALID", "a released card cannot stay in `doing`"));
        }
        let mut held = self.hold_card(id, expected)?;
        let from = held.record.text("status").to_owned();
        let to = to.unwrap_or(if from == "doing" { "next" } else { &from }).to_owned();
        let area = held.record.text("area").to_owned();
        let moving =
            Moving { record: &held.record, to: &to, area: &area, actor, owned: true, owner_first: false, moves: true };
        let passed = self.pass(&moving, proof, forced)?;
        rules::check_verify(self.config(), &held.record)?;
        let was_claimed = !held.record.text("claimed_by").is_empty();
        held.text.set("status", &json!(to))?;
        held.text.set("claimed_by", &Value::Null)?;
        held.text.set("claimed_at", &Value::Null)?;
        if from != to || was_claimed {
            self.trail(&mut held, actor, &format!("released{}", passed.waived));
        }
        self.record_proof(&mut held, &to, &passed, actor)?;
        let folder = self.leaving(&held, &to);
        self.finish_card(held, folder.as_deref())
    }

    /// Puts a finished card into the archive. An archived one stays as it is.
    ///
    /// # Errors
    ///
    /// `CARD_ARCHIVE_STATUS_INVALID`, `CARD_CLAIM_OWNER_MISMATCH`, and those of every write.
    pub fn archive_card(&self, id: &str, actor: &str, expected: Option<&str>) -> Result<Fields> {
        self.workspace().writable()?;
        let index = self.index();
        if let Some(at) = index.position(id.trim()) {
            let record = &index.records[at];
            if record.kind == Kind::Card && record.archived {
                return Ok(self.full(&index, at));
            }
            check_closed(record)?;
        }
        let mut held = self.hold_card(id, expected)?;
        check_closed(&held.record)?;
        self.trail(&mut held, actor, "archived");
        let archive = self.config().cards.archive_path.clone();
        self.finish_card(held, Some(&archive)).map(|record| record.to_json(self.config()))
    }

    /// Opens a card again, taking it out of the archive.
    ///
    /// # Errors
    ///
    /// `CARD_REOPEN_STATUS_INVALID`, and those of a transition.
    pub fn reopen_card(&self, id: &str, to: Option<&str>, actor: &str, expected: Option<&str>) -> Result<Whole> {
        let to = to.unwrap_or("backlog");
        if CLOSED.contains(&to) {
            return Err(refuse!("CARD_REOPEN_STATUS_INVALID", "a card is not reopened to `{to}`"));
        }
        if to == "doing" {
            // Other programs of this format expect a card reopened into work where it lies; its next move takes it out.
            let claim = Claim { actor, ..Claim::default() };
            return self.claim_in(id, &claim, expected, false).map(|(record, _)| record);
        }
        self.transition_card(id, to, actor, None, &Proof::default(), &Forced::default(), expected)
    }

    /// Frees the claims older than `hours`, or than the lease; `dry` only names them.
    ///
    /// # Errors
    ///
    /// The first write that fails.
    pub fn reap(&self, hours: Option<f64>, actor: &str, dry: bool) -> Result<Vec<Whole>> {
        let now = self.workspace().now();
        let index = self.index();
        let mut found = Vec::new();
        for card in index.of(Kind::Card).filter(|card| !card.archived && card.text("status") == "doing") {
            let Some(at) = moment::parse(card.text("claimed_at")) else { continue };
            #[expect(clippy::cast_precision_loss, reason = "hours of a claim")]
            let age = (now - at) as f64 / 3_600_000.0;
            if age < hours.unwrap_or(self.config().cards.lease_hours) {
                continue;
            }
            if dry {
                found.push(self.hold_card(&card.id, None)?.record);
                continue;
            }
            let reason = format!("its claim is {age:.0} hours old");
            let forced = Forced { force: true, reason: Some(&reason), may_close: false };
            found.push(self.release_card(&card.id, None, actor, &Proof::default(), &forced, None)?);
        }
        Ok(found)
    }
}

fn check_closed(record: &Record) -> Result<()> {
    if record.kind == Kind::Card && !CLOSED.contains(&record.text("status")) {
        return Err(refuse!("CARD_ARCHIVE_STATUS_INVALID", "only a card that is done or discarded is archived"));
    }
    Ok(())
}
