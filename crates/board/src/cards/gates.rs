//! The gates into `done`. Every way into it comes through here.

use serde_json::{Value, json};

use crate::board::{Board, given};
use crate::error::{BoardError, Result, refuse};
use crate::markdown::acceptance;
use crate::record::{Record, Whole};

/// Methods a close may name.
const METHODS: [&str; 3] = ["local", "ci", "manual"];

/// How a close was proved.
#[derive(Debug, Clone, Copy, Default)]
pub struct Proof<'a> {
    /// `local`, `ci` or `manual`; `local` when not given.
    pub method: Option<&'a str>,
    /// Where a CI run can be seen.
    pub run: Option<&'a str>,
    /// What was seen.
    pub evidence: Option<&'a str>,
}

/// Going past gates on purpose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Forced<'a> {
    /// Whether gates are waived.
    pub force: bool,
    /// Why; needed exactly when one was.
    pub reason: Option<&'a str>,
    /// Whether the gates into `done` may be waived at all on this surface.
    pub may_close: bool,
}

/// What a close writes down.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    /// The `verified` block of a card that enters `done`.
    pub(crate) verified: Option<Value>,
    /// A line under Notes, without its stamp.
    pub(crate) evidence: Option<String>,
    /// What to add to the trail line of a forced move.
    pub(crate) waived: String,
}

pub(super) struct Gate {
    pub(super) error: BoardError,
    /// What was waived, in words; without a colon, which ends them in the trail.
    waived: String,
    /// A gate into `done`.
    closes: bool,
}

/// One move of a card, as the gates see it.
pub(crate) struct Moving<'a> {
    pub(crate) record: &'a Whole,
    pub(crate) to: &'a str,
    /// The area it will have.
    pub(crate) area: &'a str,
    pub(crate) actor: &'a str,
    /// Whether the move is the holder's alone.
    pub(crate) owned: bool,
    /// A patch asks for the owner first.
    pub(crate) owner_first: bool,
    /// Whether a status was asked for at all.
    pub(crate) moves: bool,
}

pub(super) fn acceptance_gate(record: &Whole) -> Option<Gate> {
    let read = acceptance(&record.body);
    let unchecked: Vec<Value> =
        read.unchecked().map(|item| json!({ "index": item.index, "text": item.text })).collect();
    if !unchecked.is_empty() {
        let count = unchecked.len();
        let noun = if count == 1 { "criterion" } else { "criteria" };
        return Some(Gate {
            error: refuse!("CARD_ACCEPTANCE_UNMET", "`{}` has {count} unproven {noun}", record.id)
                .with(json!({ "id": record.id, "unchecked": unchecked })),
            waived: format!("{count} unproven {noun}"),
            closes: true,
        });
    }
    let unreadable: Vec<Value> = read.unreadable().iter().map(|item| json!({ "text": item.text })).collect();
    if unreadable.is_empty() {
        return None;
    }
    let count = unreadable.len();
    let noun = if count == 1 { "item" } else { "items" };
    Some(Gate {
        error: refuse!(
            "CARD_ACCEPTANCE_UNREADABLE",
            "`{}` has {count} unchecked {noun} under no heading of criteria; put them under `## Acceptance criteria`",
            record.id
        )
        .with(json!({ "id": record.id, "unreadable": unreadable })),
        waived: format!("{count} unreadable checklist {noun}"),
        closes: true,
    })
}

impl Board {
    fn method_gate(&self, record: &Record, area: &str, method: &str) -> Option<Gate> {
        let accepted = self.config().methods(area)?;
        if accepted.iter().any(|one| one == method) {
            return None;
        }
        Some(Gate {
            error: refuse!(
                "CARD_VERIFICATION_METHOD_REFUSED",
                "a card of `{area}` is not closed by `{method}`: {}",
                accepted.join(", ")
            )
            .with(json!({ "id": record.id, "area": area, "method": method, "accepted": accepted })),
            waived: "the method this area asks for".into(),
            closes: true,
        })
    }

    /// Takes a move through the gates; nothing is written yet.
    pub(crate) fn pass(&self, moving: &Moving<'_>, proof: &Proof<'_>, forced: &Forced<'_>) -> Result<Passed> {
        let Moving { record, to, area, actor, owned, owner_first, moves } = *moving;
        let entering = to == "done" && record.text("status") != "done";
        let owner = owned.then(|| owner_gate(record, actor)).flatten();
        let mut closing = Vec::new();
        if moves && to == "done" {
            closing.extend(acceptance_gate(record));
        }
        if entering {
            closing.extend(self.method_gate(record, area, given(proof.method).unwrap_or("local")));
        }
        let mut gates: Vec<Gate> = Vec::new();
        if owner_first {
            gates.extend(owner);
            gates.append(&mut closing);
        } else {
            gates.append(&mut closing);
            gates.extend(owner);
        }
        if !forced.force && !gates.is_empty() {
            return Err(gates.swap_remove(0).error);
        }
        if moves {
            super::rules::check_status(to)?;
        }
        let supplied: Vec<&str> = [("method", proof.method), ("run", proof.run), ("evidence", proof.evidence)]
            .into_iter()
            .filter(|(_, value)| given(*value).is_some())
            .map(|(name, _)| name)
            .collect();
        if !entering && !supplied.is_empty() {
            return Err(refuse!("CARD_VERIFICATION_NOT_APPLICABLE", "only a move into `done` says how it was proved")
                .with(json!({ "id": record.id, "supplied": supplied })));
        }
        let waived: Vec<&str> = gates.iter().map(|gate| gate.waived.as_str()).collect();
        let waived = waived.join(", ");
        let reason = given(forced.reason).map(|reason| reason.split_whitespace().collect::<Vec<_>>().join(" "));
        if !gates.is_empty() && reason.is_none() {
            return Err(refuse!("CARD_FORCE_REASON_REQUIRED", "going past {waived} needs a reason"));
        }
        let close_waived = gates.iter().any(|gate| gate.closes);
        if close_waived && let Some(method) = given(proof.method) {
            return Err(refuse!("CARD_VERIFICATION_METHOD_CONFLICT", "a forced close is proved by no method")
                .with(json!({ "id": record.id, "method": method, "waived": waived })));
        }
        if close_waived
            && !forced.may_close
            && let Some(at) = gates.iter().position(|gate| gate.closes)
        {
            return Err(gates.swap_remove(at).error);
        }
        let mut passed = Passed::default();
        if let (false, Some(reason)) = (gates.is_empty(), &reason) {
            passed.waived = format!(" (forced past {waived}: {reason})");
        }
        if entering {
            let method = self.method(record, actor, proof, close_waived)?;
            let mut verified = serde_json::Map::new();
            verified.insert("at".into(), json!(model::format_timestamp(self.workspace().now())));
            verified.insert("method".into(), json!(method));
            if let Some(commit) = crate::git::head(self.root()) {
                verified.insert("commit".into(), json!(commit));
            }
            if let Some(run) = given(proof.run) {
                verified.insert("run".into(), json!(run));
            }
            verified.insert("digest".into(), json!(super::verify::digest(record)));
            passed.verified = Some(Value::Object(verified));
            passed.evidence = given(proof.evidence).map(|evidence| {
                format!("{method} verification: {}", evidence.split_whitespace().collect::<Vec<_>>().join(" "))
            });
        }
        Ok(passed)
    }

    fn method(&self, record: &Record, actor: &str, proof: &Proof<'_>, forced: bool) -> Result<&'static str> {
        let id = &record.id;
        if forced {
            return Ok("forced");
        }
        match given(proof.method).unwrap_or("local") {
            "local" => Ok("local"),
            "ci" if given(proof.run).is_none() => {
                Err(refuse!("CARD_VERIFICATION_RUN_REQUIRED", "`ci` needs the run").with(json!({ "id": id })))
            }
            "ci" => Ok("ci"),
            "manual" if given(proof.evidence).is_none() => {
                Err(refuse!("CARD_VERIFICATION_EVIDENCE_REQUIRED", "`manual` needs what was seen")
                    .with(json!({ "id": id })))
            }
            "manual" if actor.is_empty() => {
                Err(refuse!("CARD_VERIFICATION_ACTOR_REQUIRED", "`manual` needs who saw it").with(json!({ "id": id })))
            }
            "manual" => Ok("manual"),
            "forced" => Err(refuse!(
                "CARD_VERIFICATION_METHOD_CONFLICT",
                "`forced` follows from what was waived, and is not asked for"
            )
            .with(json!({ "id": id, "method": "forced" }))),
            other => Err(refuse!("CARD_VERIFICATION_METHOD_INVALID", "`{other}` is no method: {}", METHODS.join(", "))
                .with(json!({ "id": id, "value": other, "allowed": METHODS }))),
        }
    }
}

pub(super) fn owner_gate(record: &Record, actor: &str) -> Option<Gate> {
    let holder = record.text("claimed_by");
    if holder.is_empty() || holder == actor {
        return None;
    }
    Some(Gate {
        error: refuse!("CARD_CLAIM_OWNER_MISMATCH", "`{}` is claimed by {holder}", record.id)
            .with(json!({ "id": record.id, "claimedBy": holder })),
        waived: "the claim of somebody else".into(),
        closes: false,
    })
}
