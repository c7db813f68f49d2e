//! Files, ids, revisions.

use board::{Board, Claim};
use serde_json::json;

use crate::place::{Place, code, fields_of};

const CARDS: &str = ".project/cards";

fn text(id: &str, more: &str) -> String {
    format!(
        "---\nid: {id}\ntitle: T\nstatus: next\ntype: task\npriority: low\narea: api\n{more}created: 2026-01-05\nupdated: 2026-01-05\n---\n\nBody.\n"
    )
}

#[test]
fn files_that_are_no_records_are_left_out_and_named() {
    let place = Place::new(json!({}));
    place.write(".project/cards/T-0001-a.md", "just text\n");
    place.write(".project/cards/T-0002-b.md", "---\nid: \" \"\ntitle: b\n---\n");
    place.write(".project/cards/T-0004-d.md", "---\ntitle: d\nstatus: next\n---\n\nNo id.\n");
    place.write(".project/changelog/unreleased/x.md", "---\ntitle: x\n---\n");
    place.write(".project/memory/learnings/y.md", "---\ntitle: y\n---\n");
    place.write(".project/docs/z.md", "# No id\n");
    place.write(".project/cards/T-0003-c.md", &text("T-0003", ""));
    let codes = place.codes();
    for (wanted, count) in [("unreadable-card", 3), ("unreadable-changelog-record", 1), ("unreadable-memory-record", 1)]
    {
        assert_eq!(codes.iter().filter(|code| *code == wanted).count(), count, "{wanted}");
    }
    let index = place.board.index();
    let ids: Vec<&str> = index.records().iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids[0].starts_with("PATH-") && ids[1] == "T-0003");
}

#[test]
fn a_patch_keeps_every_other_byte() {
    let place = Place::new(json!({}));
    let odd = "---\r\nid: T-0001\r\ntitle: \"Odd: header\"\r\nstatus: next\r\ntype: task\r\npriority: low\r\narea: api\r\ntags:\r\n  - one\r\nsummary: |\r\n  a\r\n  b\r\n\
               deep:\r\n  a:\r\n    b: 1\r\nx-team: [a, b]\r\ncreated: 2026-01-05\r\nupdated: 2026-01-05\r\n---\r\n\r\nBody.\r\n";
    place.write(&format!("{CARDS}/T-0001-odd.md"), odd);
    let card = place.patch("T-0001", json!({ "tags": ["one", "a, b"] })).expect("patched");
    assert_eq!(card.fields.get("x-team").expect("kept"), "[a, b]");
    let now = place.read(&format!("{CARDS}/T-0001-odd.md"));
    let today = card.text("updated");
    assert_eq!(
        now,
        odd.replace("  - one\r\n", "  - one\r\n  - a, b\r\n")
            .replace("updated: 2026-01-05", &format!("updated: {today}"))
    );
    place.patch("T-0001", json!({ "tags": [] })).expect("cleared");
    let without = place.read(&format!("{CARDS}/T-0001-odd.md"));
    let expected = odd.replace("tags:\r\n  - one\r\n", "").replace("updated: 2026-01-05", &format!("updated: {today}"));
    assert_eq!(without, expected, "the key goes with its items");
    place.board.note_card("T-0001", "kept", None, "me").expect("noted");
    let now = place.read(&format!("{CARDS}/T-0001-odd.md"));
    assert_eq!(now.matches('\n').count(), now.matches("\r\n").count(), "one kind of line end");
    place.write(&format!("{CARDS}/T-0002-v.md"), &text("T-0002", "verify:\n  a:\n    b: 1\n"));
    assert_eq!(code(place.patch("T-0002", json!({ "verify": null }))), "RECORD_FRONTMATTER_OPAQUE");
}

#[test]
fn the_same_record_saved_twice_differs_in_nothing() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A: b # c", "tags": ["x, y"] }), "Text.");
    let path = format!("{CARDS}/T-0001-a-b-c.md");
    let before = place.read(&path);
    place.patch("T-0001", json!({ "title": "A: b # c" })).expect("saved");
    place.patch("T-0001", json!({ "tags": ["x, y"] })).expect("saved");
    assert_eq!(place.read(&path), before);
}

#[test]
fn bodies_have_one_empty_line_under_the_header() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    place.board.write_card("T-0001", "\n\n\nText.\n\n\n", None).expect("written");
    assert!(place.read(".project/cards/T-0001-a.md").ends_with("---\n\nText.\n"));
    place.board.write_card("T-0001", "", None).expect("written");
    assert!(place.read(".project/cards/T-0001-a.md").ends_with("---\n"));
}

#[test]
fn what_stands_in_one_line_is_one_line() {
    let place = Place::new(json!({}));
    let card = place.card(json!({ "title": "a\nid: T-7777\n\tb  c", "tags": ["x\ny"], "scope": "src\n, lib" }), "");
    assert_eq!(
        (card.title.as_str(), card.list("tags"), card.list("scope")),
        ("a id: T-7777 b c", vec!["x y"], vec!["src", "lib"])
    );
    assert_eq!(
        place.patch("T-0001", json!({ "title": "two  spaces\u{2028}x" })).expect("patched").title,
        "two spaces x"
    );
    assert_eq!(place.patch("T-0001", json!({ "title": "two  spaces" })).expect("patched").title, "two  spaces");
    // What another program wrote is folded where it is shown.
    place.write(&format!("{CARDS}/T-0002-b.md"), &text("T-0002", "").replace("title: T", "title: |\n  one\n  two"));
    assert_eq!(place.board.index().get("T-0002").expect("there").title, "one two");
}

#[test]
fn folders_links_and_hidden_files() {
    let place = Place::new(json!({}));
    place.write(".project/cards/later/T-0012-nested.md", &text("T-0012", ""));
    place.write(".project/cards/.hidden/T-0090-h.md", &text("T-0090", ""));
    std::os::unix::fs::symlink(
        place.root().join(".project/cards/later/T-0012-nested.md"),
        place.root().join(".project/cards/T-0099-link.md"),
    )
    .expect("linked");
    place.settle();
    assert_eq!(
        place.patch("T-0012", json!({ "priority": "high" })).expect("patched in place").path,
        ".project/cards/later/T-0012-nested.md"
    );
    assert_eq!(code(place.board.get("T-0090")), "RECORD_NOT_FOUND");
    assert_eq!(place.card(json!({ "title": "Next" }), "").id, "T-0013");
    assert!(place.codes().is_empty() || !place.codes().contains(&"duplicate-id".to_owned()));
}

#[test]
fn edits_from_outside_are_seen_and_count_for_ids() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    let revision = place.board.get("T-0001").expect("read")["revision"].clone();
    place.write(".project/cards/T-0001-a.md", &text("T-0001", ""));
    place.write(".project/cards/T-0050-dropped-in.md", &text("T-0050", ""));
    assert_eq!(place.board.get("T-0001").expect("read")["title"], "T");
    let changes = fields_of(json!({ "priority": "high" }));
    let stale = place.board.patch_card(
        "T-0001",
        &changes,
        "me",
        &crate::place::UNPROVED,
        &crate::place::PLAIN,
        revision.as_str(),
    );
    let error = stale.expect_err("conflict");
    assert_eq!(
        (error.code, &error.details.expect("details")["current"]["title"]),
        ("CARD_WRITE_CONFLICT", &json!("T"))
    );
    assert_eq!(place.card(json!({ "title": "B" }), "").id, "T-0051");
    // A file may declare another id than its name begins with.
    place.write(".project/cards/T-0003-c.md", &text("T-0052", ""));
    assert_eq!(place.card(json!({ "title": "C" }), "").id, "T-0053");
}

#[test]
fn ids_grow_past_four_digits_and_are_not_used_up_by_refusals() {
    let place = Place::new(json!({}));
    place.write(".project/cards/archive/T-9999-last.md", &text("T-9999", "").replace("next", "done"));
    assert_eq!(place.refused(json!({ "title": "x", "area": "moon" })), "CARD_ENUM_INVALID");
    assert_eq!(place.card(json!({ "title": "???" }), "").path, ".project/cards/T-10000-card.md");
    assert_eq!(
        place
            .card(json!({ "title": "Ünïcode & Über-title that is much longer than fifty characters wide" }), "")
            .file(),
        "T-10001-unicode-uber-title-that-is-much-longer-than-fifty-.md"
    );
}

#[test]
fn a_reservation_that_was_left_behind_is_passed_over() {
    let place = Place::new(json!({}));
    place.write(".project/.cache/locks/ids/T-0001.lock", "{\"pid\": 2000000000}");
    assert_eq!(place.card(json!({ "title": "A" }), "").id, "T-0002");
}

#[test]
fn the_lock_of_a_dead_process_is_reported_and_broken() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    place.write(".project/.cache/locks/cards/T-0001.lock", "{\"pid\": 2000000000}");
    assert!(place.codes().contains(&"stale-write-lock".to_owned()));
    place.claim("T-0001", "me").expect("the lock is broken");
    assert!(!place.exists(".project/.cache/locks/cards/T-0001.lock"));
}

#[test]
fn a_stale_revision_wins_over_every_other_fault_and_a_blank_one_is_none() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "## Acceptance criteria\n\n- [ ] a\n");
    let stale = |board: &Board| {
        board.transition_card(
            "T-0001",
            "done",
            "me",
            None,
            &crate::place::UNPROVED,
            &crate::place::PLAIN,
            Some("stale"),
        )
    };
    assert_eq!(code(stale(&place.board)), "CARD_WRITE_CONFLICT");
    let claim = Claim { actor: "me", ..Claim::default() };
    assert!(place.board.claim_card("T-0001", &claim, Some("  ")).is_ok());
}

#[test]
fn a_read_only_workspace_refuses_every_write() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "A" }), "");
    let workspace = board::Workspace::open(Some(place.root()), place.root(), false).expect("a workspace").read_only();
    let reader = Board::new(workspace);
    assert_eq!(code(reader.note_card("T-0001", "x", None, "me")), "WORKSPACE_READ_ONLY");
    assert_eq!(code(reader.create_card(fields_of(json!({ "title": "B" })), "")), "WORKSPACE_READ_ONLY");
    assert_eq!(code(reader.archive_card("T-0001", "me", None)), "WORKSPACE_READ_ONLY");
}
