//! Cards and their gates.

use board::{Claim, Forced, Proof};
use serde_json::json;

use crate::place::{PLAIN, Place, UNPROVED, code, fields_of};

const OPEN: &str = "## Acceptance criteria\n\n- [x] a\n- [ ] b\n";
const MET: &str = "## Acceptance criteria\n\n- [x] a\n";

#[test]
fn a_card_of_a_title_has_the_defaults() {
    let place = Place::new(json!({}));
    let card = place.card(json!({ "title": "  Padded  " }), "");
    let found = ["title", "status", "type", "priority", "area"].map(|key| card.text(key).to_owned());
    assert_eq!(found, ["Padded", "backlog", "task", "medium", "api"]);
}

#[test]
fn what_a_card_may_not_be() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "Base" }), "");
    for (fields, code) in [
        (json!({ "title": "x".repeat(81) }), "CARD_TITLE_TOO_LONG"),
        (json!({ "title": " " }), "CARD_TITLE_REQUIRED"),
        (json!({ "title": "a", "status": "doing" }), "CARD_CLAIM_REQUIRED"),
        (json!({ "title": "a", "area": "moon" }), "CARD_ENUM_INVALID"),
        (json!({ "title": "a", "start": "2026-02-02", "due": "2026-02-01" }), "CARD_DATE_RANGE_INVALID"),
        (json!({ "title": "a", "start": "01/02/2026" }), "CARD_DATE_INVALID"),
        (json!({ "title": "a", "parent": "T-0404" }), "CARD_PARENT_NOT_FOUND"),
        (json!({ "title": "a", "depends": ["T-0404"] }), "CARD_DEPENDENCY_NOT_FOUND"),
        (json!({ "title": "a", "axes": { "counter": "x" } }), "CARD_AXIS_UNKNOWN"),
        (json!({ "title": "a", "raised": "found" }), "CARD_RAISED_INVALID"),
    ] {
        assert_eq!(place.refused(fields), code);
    }
    let error = place.board.create_card(fields_of(json!({ "title": "a", "area": "moon" })), "").expect_err("refused");
    assert_eq!(error.details.expect("details")["allowed"], json!(["api", "web", "docs"]));
    assert_eq!(place.card(json!({ "title": "a", "origin": ["T-0404"] }), "").list("origin"), ["T-0404"]);
    assert!(place.codes().contains(&"missing-origin".to_owned()));
}

#[test]
fn hierarchies_have_a_depth_and_no_circles() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "1" }), "");
    place.card(json!({ "title": "2", "parent": "T-0001" }), "");
    place.card(json!({ "title": "3", "parent": "T-0002" }), "");
    assert_eq!(place.refused(json!({ "title": "4", "parent": "T-0003" })), "CARD_HIERARCHY_TOO_DEEP");
    place.card(json!({ "title": "top" }), "");
    assert_eq!(
        code(place.patch("T-0001", json!({ "parent": "T-0004" }))),
        "CARD_HIERARCHY_TOO_DEEP",
        "with what lies below"
    );
    assert_eq!(code(place.patch("T-0001", json!({ "parent": "T-0003" }))), "CARD_PARENT_CYCLE");
    assert_eq!(code(place.patch("T-0001", json!({ "parent": "T-0001" }))), "CARD_SELF_PARENT");
    assert_eq!(code(place.patch("T-0001", json!({ "depends": ["T-0001"] }))), "CARD_SELF_DEPENDENCY");
    assert_eq!(code(place.patch("T-0001", json!({ "origin": ["T-0001"] }))), "CARD_SELF_ORIGIN");
}

#[test]
fn axes_are_declared_and_may_be_given_flat() {
    let place = Place::new(json!({ "axes": { "shift": ["day", "night"] } }));
    place.card(json!({ "title": "A", "axes": { "shift": "day" } }), "");
    assert_eq!(place.patch("T-0001", json!({ "shift": "night" })).expect("flat").text("shift"), "night");
    assert_eq!(code(place.patch("T-0001", json!({ "shift": "noon" }))), "CARD_AXIS_VALUE_INVALID");
    assert_eq!(place.patch("T-0001", json!({ "axes": { "shift": "" } })).expect("removed").text("shift"), "");
    place.write(
        ".project/cards/T-0002-b.md",
        "---\nid: T-0002\ntitle: b\nstatus: next\ntype: task\npriority: low\narea: api\nmood: grim\n---\n",
    );
    assert_eq!(place.patch("T-0002", json!({ "priority": "high" })).expect("kept").text("mood"), "grim");
}

#[test]
fn what_may_be_patched() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    for field in ["id", "body", "verified", "created"] {
        assert_eq!(code(place.patch("T-0001", json!({ field: "x" }))), "CARD_FIELD_NOT_PATCHABLE", "{field}");
    }
    assert_eq!(code(place.patch("T-0001", json!({}))), "CARD_CHANGES_EMPTY");
    assert_eq!(code(place.patch("T-0001", json!({ "title": { "a": 1 } }))), "CARD_CHANGES_INVALID");
    assert_eq!(place.patch("T-0001", json!({ "tags": "a, b" })).expect("split").list("tags"), ["a", "b"]);
    assert_eq!(code(place.patch("T-0001", json!({ "status": "doing" }))), "CARD_CLAIM_REQUIRED");
    assert_eq!(code(place.patch("T-0001", json!({ "claimed_by": "me" }))), "CARD_CLAIM_PARTIAL");
    assert_eq!(
        code(place.patch("T-0001", json!({ "claimed_by": "me", "claimed_at": "2026-01-01T00:00:00Z" }))),
        "CARD_CLAIM_STATUS_INVALID"
    );
    assert_eq!(code(place.patch("T-0404", json!({ "title": "x" }))), "CARD_NOT_FOUND");
}

#[test]
fn claims_are_one_holders() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    place.claim("T-0001", "alice").expect("claimed");
    let again = place.claim("T-0001", "alice").expect("refreshed");
    assert_eq!(again.body.matches("claimed").count(), 1, "no second trail line");
    assert_eq!(code(place.claim("T-0001", "bob")), "CARD_ALREADY_CLAIMED");
    let take = |reason| Claim { actor: "bob", force: true, reason, scope: None };
    assert_eq!(code(place.board.claim_card("T-0001", &take(None), None)), "CARD_CLAIM_BREAK_REASON_REQUIRED");
    let (taken, _) = place.board.claim_card("T-0001", &take(Some("handed over")), None).expect("taken");
    assert!(taken.body.contains("bob replaced alice's claim: handed over"), "{}", taken.body);
    assert_eq!(
        place.patch("T-0001", json!({ "priority": "low" })).expect("other fields stay writable").text("priority"),
        "low"
    );
    assert_eq!(code(place.patch("T-0001", json!({ "status": "next" }))), "CARD_CLAIM_OWNER_MISMATCH");
    let release = |actor: &str| place.board.release_card("T-0001", None, actor, &UNPROVED, &PLAIN, None);
    assert_eq!(code(release("stranger")), "CARD_CLAIM_OWNER_MISMATCH");
    assert_eq!(release("bob").expect("released").text("status"), "next");
}

#[test]
fn a_stale_claim_still_needs_a_reason() {
    let place = Place::new(json!({}));
    place.write(
        ".project/cards/T-0001-a.md",
        "---\nid: T-0001\ntitle: a\nstatus: doing\ntype: task\npriority: low\narea: api\nclaimed_by: alice\nclaimed_at: 2026-01-07T09:00:00.000Z\n---\n",
    );
    assert_eq!(code(place.claim("T-0001", "bob")), "CARD_CLAIM_BREAK_REASON_REQUIRED");
    let claim = Claim { actor: "bob", reason: Some("alice is away"), ..Claim::default() };
    assert!(place.board.claim_card("T-0001", &claim, None).is_ok());
    assert!(place.codes().iter().all(|code| code != "card-claim-stale"));
}

#[test]
fn scopes_that_overlap_are_warned_of() {
    let place = Place::new(json!({}));
    for title in ["1", "2", "3"] {
        place.card(json!({ "title": title }), "");
    }
    let claim = |id: &str, actor: &str, scope: &[&str]| {
        let scope: Vec<String> = scope.iter().map(|one| (*one).to_owned()).collect();
        place.board.claim_card(id, &Claim { actor, scope: Some(&scope), ..Claim::default() }, None).expect("claimed").1
    };
    assert!(claim("T-0001", "a", &["src/web/"]).is_empty());
    assert_eq!(
        claim("T-0002", "b", &["./src/web/page.html"])[0]["paths"],
        json!([["./src/web/page.html", "src/web/"]])
    );
    assert!(claim("T-0003", "c", &["src/webby"]).is_empty());
    assert!(claim("T-0003", "c", &[]).is_empty());
    assert!(!place.read(".project/cards/T-0003-3.md").contains("scope"));
}

#[test]
fn moves_and_their_trail() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A", "scope": ["src"] }), "");
    let doing = place
        .board
        .transition_card("T-0001", "doing", "me", Some(&["lib".to_owned()]), &UNPROVED, &PLAIN, None)
        .expect("claimed");
    assert_eq!((doing.text("claimed_by"), doing.list("scope")), ("me", vec!["lib"]));
    let review = place.to("T-0001", "review").expect("moved");
    assert_eq!((review.text("claimed_by"), review.list("scope")), ("", vec!["lib"]));
    let same = place.to("T-0001", "review").expect("stays");
    assert_eq!(same.body, review.body);
    assert_eq!(code(place.to("T-0001", "finished")), "CARD_ENUM_INVALID");
    let release = |to| place.board.release_card("T-0001", to, "me", &UNPROVED, &Forced { force: true, ..PLAIN }, None);
    assert_eq!(code(release(Some("doing"))), "CARD_RELEASE_STATUS_INVALID");
    assert_eq!(release(None).expect("an unclaimed one").text("status"), "review");
    let done = place.to("T-0001", "done").expect("closed");
    assert!(done.fields.contains_key("verified"));
    assert_eq!(release(None).expect("stays done").text("status"), "done");
    assert!(!place.claim("T-0001", "me").expect("claimed again").fields.contains_key("verified"));
}

#[test]
fn every_way_into_done_meets_the_same_gate() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), OPEN);
    assert_eq!(code(place.to("T-0001", "done")), "CARD_ACCEPTANCE_UNMET");
    assert_eq!(code(place.patch("T-0001", json!({ "status": "done" }))), "CARD_ACCEPTANCE_UNMET");
    assert_eq!(
        code(place.board.release_card("T-0001", Some("done"), "me", &UNPROVED, &PLAIN, None)),
        "CARD_ACCEPTANCE_UNMET"
    );
    let created =
        place.board.create_card(fields_of(json!({ "title": "B", "status": "done" })), OPEN).expect_err("refused");
    assert_eq!(
        (created.code, created.details),
        ("CARD_ACCEPTANCE_UNMET", Some(json!({ "unchecked": [{ "index": 2, "text": "b" }] })))
    );
    assert!(!place.exists(".project/cards/T-0002-b.md"));
    let forced = |reason, may_close| Forced { force: true, reason, may_close };
    let by = |forced: Forced<'_>| place.board.transition_card("T-0001", "done", "me", None, &UNPROVED, &forced, None);
    assert_eq!(code(by(forced(None, true))), "CARD_FORCE_REASON_REQUIRED");
    assert_eq!(code(by(forced(Some("gone"), false))), "CARD_ACCEPTANCE_UNMET", "a surface that may not force a close");
    let done = by(forced(Some("gone"), true)).expect("forced");
    assert_eq!(done.fields.get("verified").expect("proved")["method"], "forced");
    assert!(done.body.contains("backlog → done (forced past 1 unproven criterion: gone)"), "{}", done.body);
    let met = place.card(json!({ "title": "C", "status": "done" }), MET);
    assert_eq!(met.fields.get("verified").expect("proved")["method"], "local");
    let place = Place::new(json!({ "verification": { "methods": { "web": ["ci"] } } }));
    assert_eq!(
        place.refused(json!({ "title": "D", "area": "web", "status": "done" })),
        "CARD_VERIFICATION_METHOD_REFUSED"
    );
}

#[test]
fn what_counts_as_criteria() {
    for (body, wanted) in [
        ("## Definition of done\n\n* [ ] a\n", "CARD_ACCEPTANCE_UNMET"),
        ("## Acceptance\n\n### Part\n\n- [ ] a\n", "CARD_ACCEPTANCE_UNMET"),
        ("## Steps\n\n- [ ] a\n", "CARD_ACCEPTANCE_UNREADABLE"),
        ("## Acceptance criteria\n\n```\n- [ ] a\n```\n", "accepted"),
        ("## Notes\n\n- [ ] a\n", "accepted"),
        ("Text.", "accepted"),
    ] {
        let place = Place::new(json!({}));
        place.card(json!({ "title": "A" }), body);
        assert_eq!(code(place.to("T-0001", "done")), wanted, "{body}");
    }
}

#[test]
fn how_a_close_was_proved() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), MET);
    let close =
        |to: &str, proof: Proof<'_>| place.board.transition_card("T-0001", to, "me", None, &proof, &PLAIN, None);
    let by = |method| Proof { method: Some(method), ..UNPROVED };
    assert_eq!(code(close("done", by("ci"))), "CARD_VERIFICATION_RUN_REQUIRED");
    assert_eq!(code(close("done", by("manual"))), "CARD_VERIFICATION_EVIDENCE_REQUIRED");
    assert_eq!(code(close("done", by("forced"))), "CARD_VERIFICATION_METHOD_CONFLICT");
    assert_eq!(code(close("done", by("magic"))), "CARD_VERIFICATION_METHOD_INVALID");
    assert_eq!(code(close("review", by("local"))), "CARD_VERIFICATION_NOT_APPLICABLE");
    let ci = Proof { method: Some("ci"), run: Some("https://ci.example/1"), evidence: Some("all\n  green") };
    let done = close("done", ci).expect("closed");
    assert!(done.body.contains("me — ci verification: all green"), "{}", done.body);
    assert!(done.fields.get("verified").expect("proved").get("commit").is_none(), "outside a repository");
    assert_eq!(code(close("done", by("local"))), "CARD_VERIFICATION_NOT_APPLICABLE", "it is done already");
    let archived = place.board.archive_card("T-0001", "me", None).expect("archived");
    assert_eq!(archived["verified"]["method"], "ci", "archiving keeps it");
    let open = place.board.reopen_card("T-0001", None, "me", None).expect("reopened");
    assert!(!open.fields.contains_key("verified"));
}

#[test]
fn a_policy_says_which_methods_an_area_accepts() {
    let place = Place::new(json!({ "verification": { "methods": { "api": ["ci"], "*": ["manual"] } } }));
    place.card(json!({ "title": "A", "area": "api" }), MET);
    let error = place.to("T-0001", "done").expect_err("refused");
    assert_eq!(
        (error.code, error.details.expect("details")["accepted"].clone()),
        ("CARD_VERIFICATION_METHOD_REFUSED", json!(["ci"]))
    );
    let proof = Proof { method: Some("manual"), evidence: Some("seen"), run: None };
    let changes = fields_of(json!({ "status": "done", "area": "docs" }));
    assert!(place.board.patch_card("T-0001", &changes, "me", &proof, &PLAIN, None).is_ok(), "judged by its new area");
}

#[test]
fn a_policy_that_became_tighter_reopens_nothing() {
    let place = Place::new(json!({ "verification": { "methods": { "api": ["ci"] } } }));
    let digest = "sha256:".to_owned() + &"0".repeat(64);
    place.write(
        ".project/cards/T-0001-a.md",
        &format!("---\nid: T-0001\ntitle: a\nstatus: done\ntype: task\npriority: low\narea: api\ncreated: 2026-01-01\nupdated: 2026-01-01\nverified:\n  at: \"2026-01-01T00:00:00Z\"\n  method: local\n  digest: \"{digest}\"\n---\n"),
    );
    let codes = place.codes();
    assert!(
        codes.contains(&"verification-method-unaccepted".to_owned())
            && codes.contains(&"verified-criteria-changed".to_owned()),
        "{codes:?}"
    );
    assert_eq!(place.patch("T-0001", json!({ "priority": "high" })).expect("still writable").text("status"), "done");
}

#[test]
fn criteria_may_be_reordered_and_not_reworded() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A", "raised": "derived" }), "## Acceptance criteria\n\n- [x] a b\n- [x] c\n");
    place.to("T-0001", "done").expect("closed");
    place.board.write_card("T-0001", "## Acceptance criteria\n\n- [x] c\n- [x] a   b\n", None).expect("written");
    assert!(!place.codes().contains(&"verified-criteria-changed".to_owned()));
    place.board.write_card("T-0001", "## Acceptance criteria\n\n- [x] other\n", None).expect("written");
    assert!(place.codes().contains(&"verified-criteria-changed".to_owned()));
}

/// The digest of a criterion `a`.
const A: &str = "sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";

#[test]
fn declared_commands_prove_their_criteria() {
    let place = Place::new(
        json!({ "verification": { "timeoutSeconds": 1, "commands": [["true"], ["false"], ["no-such-command-here"], ["sleep"]] } }),
    );
    place.card(json!({ "title": "A" }), "## Acceptance criteria\n\n- [ ] a\n- [ ] b\n");
    let verify = |run: serde_json::Value| {
        place.patch("T-0001", json!({ "verify": [{ "id": "x", "run": run, "criteria": [A] }] }))
    };
    let unknown = json!([{ "id": "x", "run": ["true"], "criteria": [format!("sha256:{}", "0".repeat(64))] }]);
    assert_eq!(code(place.patch("T-0001", json!({ "verify": unknown }))), "CARD_VERIFY_CRITERION_UNKNOWN");
    assert_eq!(code(verify(json!("make test"))), "CARD_VERIFY_RUN_INVALID");
    assert_eq!(code(verify(json!(["rm", "-rf"]))), "CARD_VERIFY_COMMAND_NOT_ALLOWED");
    verify(json!(["true", "more", "words"])).expect("a declared one with more words");
    let run = place.board.verify_card("T-0001", &[], "me").expect("ran");
    assert!(run.ok);
    assert_eq!(run.answer["entries"][0]["checked"], json!([1]));
    assert_eq!(code(place.board.tick_criteria("T-0001", &[], &[1], None)), "CARD_ACCEPTANCE_MACHINE_OWNED");
    assert_eq!(code(place.board.tick_criteria("T-0001", &[9], &[], None)), "CARD_ACCEPTANCE_INDEX_UNKNOWN");
    assert_eq!(code(place.board.tick_criteria("T-0001", &[], &[], None)), "CARD_ACCEPTANCE_EMPTY");
    verify(json!(["false"])).expect("another command");
    let run = place.board.verify_card("T-0001", &[], "me").expect("ran");
    assert_eq!((run.ok, &run.answer["entries"][0]["unchecked"]), (false, &json!([1])));
    for (command, outcome) in [(json!(["no-such-command-here"]), "errored"), (json!(["sleep", "60"]), "timed-out")] {
        verify(command).expect("another command");
        let run = place.board.verify_card("T-0001", &[], "me").expect("ran");
        let entry = &run.answer["entries"][0];
        assert_eq!((run.ok, &entry["outcome"], &entry["unchecked"]), (false, &json!(outcome), &json!([])));
    }
    let body = place.board.get("T-0001").expect("read")["body"].as_str().expect("text").to_owned();
    assert_eq!(body.matches("verify x:").count(), 2, "one trail line for each run that changed a box: {body}");
    place.write(".project/cards/T-0002-b.md", "---\nid: T-0002\ntitle: b\nstatus: next\ntype: task\npriority: low\narea: api\nverify:\n  - id: x\n    run: [rm, x]\n---\n");
    assert!(place.codes().contains(&"verify-command-not-allowed".to_owned()));
    assert_eq!(code(place.patch("T-0002", json!({ "priority": "high" }))), "CARD_VERIFY_COMMAND_NOT_ALLOWED");
    assert!(place.patch("T-0002", json!({ "verify": null })).is_ok(), "a write that clears it");
}

#[test]
fn a_body_write_keeps_the_trail_and_the_notes() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "Old.");
    place.to("T-0001", "next").expect("moved");
    place.board.note_card("T-0001", "seen", None, "me").expect("noted");
    let (card, ignored) = place.board.write_card("T-0001", "New.\n\n## Notes\n\n- mine\n", None).expect("written");
    assert_eq!(ignored, ["## Notes"]);
    assert!(
        card.body.starts_with("New.\n\n## Notes\n\n- ")
            && card.body.contains("me — seen")
            && !card.body.contains("mine")
    );
    assert!(card.body.contains("## Activity") && card.body.contains("backlog → next"));
    place.card(json!({ "title": "B" }), "");
    let (card, ignored) = place
        .board
        .write_card("T-0002", "A\n\n## Activity\n\n- made up\n\n```\n## Notes\n```\n", None)
        .expect("written");
    assert_eq!((card.body.as_str(), ignored.len()), ("A", 1));
    let (card, ignored) = place.board.write_card("T-0002", "```\n## Notes\n```", None).expect("written");
    assert_eq!((card.body.as_str(), ignored.len()), ("```\n## Notes\n```", 0));
}

#[test]
fn notes_stay_one_item() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    let card = place.board.note_card("T-0001", "two\nlines\n\n## Activity", Some("Findings"), "me").expect("noted");
    assert!(
        card.body.starts_with("## Findings\n\n- ") && card.body.contains("two\n  lines\n  \n  ## Activity"),
        "{}",
        card.body
    );
    assert_eq!(code(place.board.note_card("T-0001", " ", None, "me")), "CARD_NOTE_REQUIRED");
    // A heading in a note is the note's own: it parts nothing, closes nothing, and no body write cuts it off.
    place
        .board
        .note_card("T-0001", "Found it.\n# Root cause\n## Definition of done\n- [ ] later", None, "me")
        .expect("noted");
    let card = place.board.note_card("T-0001", "second", None, "me").expect("noted");
    assert!(card.body.trim_end().ends_with("second") && card.body.matches("## Notes").count() == 1, "{}", card.body);
    let (written, ignored) = place.board.write_card("T-0001", "New.\n\n## Plan\n\nText.", None).expect("written");
    assert!(written.body.contains("  # Root cause\n  ## Definition of done\n  - [ ] later\n- "), "{}", written.body);
    assert!(ignored.is_empty());
    let card = place.board.note_card("T-0001", "last", Some("New heading"), "me").expect("noted");
    let (before, after) = card.body.split_once("\n\n## New heading\n\n- ").expect("made");
    assert!(before.contains("## Notes") && after.ends_with("me — last"), "at the end: {}", card.body);
    place.to("T-0001", "done").expect("nothing is unproven");
}

#[test]
fn attached_files_go_with_their_card() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    place.card(json!({ "title": "B" }), "");
    place.write(".project/assets/T-0002/secret.png", "x");
    place.write(".project/assets/T-0009/other.png", "y");
    assert_eq!(code(place.board.renumber("T-0002", Some("T-0009"), "me")), "RECORD_ID_TAKEN");
    assert!(place.exists(".project/cards/T-0002-b.md") && !place.exists(".project/cards/T-0009-b.md"));
    place.board.renumber("T-0002", Some("T-0000"), "me").expect("renumbered");
    assert_eq!(place.read(".project/assets/T-0000/secret.png"), "x");
    assert_eq!(place.card(json!({ "title": "Stranger" }), "").id, "T-0002");
    assert_eq!(place.board.get("T-0002").expect("read")["assets"], json!([]));
    // Of an id that two cards share nobody knows whose the files are.
    place.write(".project/assets/T-0002/more.png", "z");
    place.write(".project/cards/T-0002-copy.md", &place.read(".project/cards/T-0002-stranger.md"));
    place.board.renumber("T-0002-copy.md", Some("T-0044"), "me").expect("renumbered");
    assert!(place.exists(".project/assets/T-0002/more.png") && !place.exists(".project/assets/T-0044"));
}

#[test]
fn the_archive() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    assert_eq!(code(place.board.archive_card("T-0001", "me", None)), "CARD_ARCHIVE_STATUS_INVALID");
    place.to("T-0001", "discarded").expect("moved");
    let archived = place.board.archive_card("T-0001", "me", None).expect("archived");
    assert_eq!(archived["path"], ".project/cards/archive/T-0001-a.md");
    let again = place.board.archive_card("T-0001", "me", Some("stale")).expect("nothing changes");
    assert_eq!(again["revision"], archived["revision"]);
    assert!(place.board.note_card("T-0001", "archived too", None, "me").expect("noted").archived);
    assert_eq!(code(place.board.reopen_card("T-0001", Some("done"), "me", None)), "CARD_REOPEN_STATUS_INVALID");
    let claimed = place.claim("T-0001", "me").expect("claimed");
    assert_eq!(
        (claimed.path.as_str(), claimed.archived),
        (".project/cards/T-0001-a.md", false),
        "a card in work leaves the archive"
    );
    assert!(!place.exists(".project/cards/archive/T-0001-a.md"));
    place.to("T-0001", "done").expect("closed");
    place.board.archive_card("T-0001", "me", None).expect("archived");
    assert_eq!(place.board.reopen_card("T-0001", Some("doing"), "me", None).expect("claimed").text("claimed_by"), "me");
    assert_eq!(place.to("T-0001", "next").expect("moved out").path, ".project/cards/T-0001-a.md");
    assert_eq!(
        place.board.reopen_card("T-0001", Some("blocked"), "me", None).expect("a live one").text("status"),
        "blocked"
    );
}

#[test]
fn without_a_trail_everything_else_is_the_same() {
    let place = Place::new(json!({ "activityTrail": false }));
    place.card(json!({ "title": "A" }), "");
    place.claim("T-0001", "me").expect("claimed");
    let done = place.to("T-0001", "done").expect("closed");
    assert_eq!((done.body.as_str(), done.text("status")), ("", "done"));
}

#[test]
fn an_id_of_two_files_is_not_written() {
    let place = Place::new(json!({}));
    for (name, day) in [("b-copy", "2026-01-01"), ("a-copy", "2026-01-02")] {
        place.write(&format!(".project/cards/T-0001-{name}.md"), &format!("---\nid: T-0001\ntitle: {name}\nstatus: next\ntype: task\npriority: low\narea: api\ncreated: {day}\nupdated: {day}\n---\n"));
    }
    let error = place.patch("T-0001", json!({ "priority": "high" })).expect_err("refused");
    assert_eq!(
        (error.code, error.details.expect("details")["files"].clone()),
        ("CARD_ID_AMBIGUOUS", json!(["T-0001-a-copy.md", "T-0001-b-copy.md"]))
    );
    let fixed = place.board.fix("fixer").expect("mended");
    assert_eq!(
        (&fixed["moves"][0]["to"], &fixed["moves"][0]["file"]),
        (&json!("T-0002"), &json!("T-0002-a-copy.md")),
        "the older one keeps its id"
    );
    assert!(place.board.doctor(board::Checks::default()).ok());
}
