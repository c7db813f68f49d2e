//! Search, next, context, doctor.

use board::{Page, SearchQuery};
use serde_json::{Value, json};

use crate::place::{Place, code, fields_of};

fn found(place: &Place, query: &str, kinds: &[String]) -> Value {
    place.board.search(&SearchQuery { query, kinds, full: false, page: Page { limit: 20, offset: 0 } }).expect("valid")
}

fn ids(answer: &Value) -> Vec<String> {
    answer["records"]
        .as_array()
        .expect("records")
        .iter()
        .map(|row| row["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn searches_by_filters_kinds_and_pages() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "Paper", "tags": ["launch"] }), "one");
    place.card(json!({ "title": "Other" }), "paper");
    let answer = found(&place, "paper", &[]);
    assert_eq!(
        (ids(&answer), answer["mode"].as_str(), &answer["provider"]),
        (vec!["T-0001".into(), "T-0002".into()], Some("lexical"), &Value::Null)
    );
    assert_eq!(ids(&found(&place, "tag:launch", &[])), ["T-0001"]);
    assert_eq!(found(&place, "tag:launch", &[])["records"][0]["searchScore"], 0);
    assert!(ids(&found(&place, "paper", &["nothing".into()])).is_empty());
    assert_eq!(ids(&found(&place, "a /slash/ paper", &[])).len(), 2, "plain words");
    let page = place.board.list_cards(&board::CardFilter::default(), Page { limit: 10, offset: 100 });
    assert_eq!((page["total"].as_u64(), ids(&page).len()), (Some(2), 0));
    for wrong in ["2026-1-8", "yesterday", ""] {
        assert_eq!(code(board::Board::filter_day(wrong)), "MCP_ARGUMENT_INVALID", "{wrong}");
    }
}

#[test]
fn what_can_be_started() {
    let place = Place::new(json!({}));
    for (title, more) in [
        ("base", json!({ "status": "discarded" })),
        ("after", json!({ "depends": ["T-0001"], "status": "next", "priority": "high" })),
        ("waits", json!({ "depends": ["T-0002"], "priority": "critical" })),
        ("epic", json!({ "type": "epic", "priority": "critical" })),
        ("theirs", json!({ "priority": "critical" })),
    ] {
        let mut fields = json!({ "title": title });
        fields.as_object_mut().expect("an object").extend(fields_of(more));
        place.card(fields, "");
    }
    place.claim("T-0005", "alice").expect("claimed");
    place.write(
        ".project/cards/T-0006-lost.md",
        "---\nid: T-0006\ntitle: lost\nstatus: next\ntype: task\npriority: low\narea: api\ndepends: [T-0404]\n---\n",
    );
    assert_eq!(
        ids(&place.board.next("me", &[], 5, false)),
        ["T-0002", "T-0006"],
        "a dependency that is gone counts as met"
    );
    let mine = place.board.next("alice", &[], 1, false);
    assert_eq!((ids(&mine), mine["total"].as_u64()), (vec!["T-0005".into()], Some(3)));
    assert!(mine["records"][0]["reason"].as_str().expect("a reason").starts_with("claimed by you, in progress"));
}

#[test]
fn a_bundle_never_drops_a_rule() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "Card", "scope": [] }), "");
    for at in 0..50 {
        let fields = json!({ "title": format!("Rule {at}"), "status": "accepted", "scope": ["src"] });
        place.board.add_memory("decisions", fields_of(fields), "").expect("added");
    }
    let bundle = place.board.context(Some("T-0001"), 20).expect("a bundle").answer;
    assert_eq!(
        (bundle["records"].as_array().map(Vec::len), bundle["digest"].as_array().map(Vec::len)),
        (Some(20), Some(31))
    );
    assert_eq!((bundle["truncated"].as_bool(), bundle["totalAvailable"].as_u64()), (Some(true), Some(51)));
    let doc = board::NewDoc { fields: fields_of(json!({ "title": "A document" })), folder: None, body: "" };
    place.board.create_doc(doc).expect("created");
    for id in ["ADR-0001", "DOC-0001"] {
        assert_eq!(code(place.board.context(Some(id), 20)), "AGENT_CONTEXT_CARD_NOT_FOUND", "{id}");
    }
}

#[test]
fn memory_outside_its_collections_is_named() {
    let place = Place::new(json!({}));
    let learning =
        |id: &str| format!("---\nid: {id}\ntitle: x\nstatus: active\ncreated: 2026-01-01\nupdated: 2026-01-01\n---\n");
    place.write(".project/memory/zzz/LRN-0009-x.md", &learning("LRN-0009"));
    place.write(".project/memory/zzz/README.md", "# No record\n");
    place.write(".project/memory/decisions/LRN-0010-x.md", &learning("LRN-0010").replace("active", "accepted"));
    assert_eq!(place.codes(), ["memory-invalid-collection", "memory-invalid-collection"]);
}

#[test]
fn back_links_are_bounded_and_counted() {
    let place = Place::new(json!({}));
    place.card(json!({ "title": "Target" }), "");
    for at in 0..30 {
        place.card(json!({ "title": format!("From {at}") }), if at % 2 == 0 { "[[T-0001]]" } else { "T-0001" });
    }
    let record = place.board.get("T-0001").expect("read");
    assert_eq!((record["incoming"].as_array().map(Vec::len), record["incomingTotal"].as_u64()), (Some(20), Some(30)));
    let relations: Vec<&str> =
        record["incoming"].as_array().expect("links").iter().filter_map(|link| link["relation"].as_str()).collect();
    assert_eq!((relations[0], relations.iter().filter(|relation| **relation == "wikilink").count()), ("wikilink", 15));
}

#[test]
fn findings_that_must_not_be_made() {
    let place = Place::with(
        json!({ "cards": { "axes": { "shift": ["day"] }, "verification": { "methods": { "gone": ["ci"] } } } }),
    );
    place.write(".project/cards/T-0001-a.md", "---\nid: T-0001\ntitle: a\nstatus: done\ntype: task\npriority: low\narea: general\ncreated: 2026-01-01\nupdated: 2026-01-01\n---\n");
    assert_eq!(place.codes(), ["verification-policy-area-unknown"], "a closed card needs no axis and no proof");
}

#[test]
fn supersessions_that_go_in_a_circle_are_reported_once() {
    let place = Place::new(json!({}));
    let decision = |id: &str, by: &str| {
        format!("---\nid: {id}\ntitle: t\nstatus: superseded\n{by}created: 2026-01-01\nupdated: 2026-01-01\n---\n")
    };
    place.write(".project/memory/decisions/ADR-0001-t.md", &decision("ADR-0001", "superseded_by: [ADR-0002]\n"));
    place.write(".project/memory/decisions/ADR-0002-t.md", &decision("ADR-0002", "superseded_by: [ADR-0001]\n"));
    place.write(".project/memory/decisions/ADR-0003-t.md", &decision("ADR-0003", ""));
    assert_eq!(place.codes(), ["memory-supersession-cycle", "memory-supersession-target-missing"]);
}

#[test]
fn accepted_findings_stay_accepted_whatever_their_wording() {
    let place = Place::new(json!({}));
    place.write(".project/cards/T-0001-a.md", "---\nid: T-0001\ntitle: a\n---\n");
    assert_eq!(
        code(place.board.only_new(&mut place.board.doctor(board::Checks::default()))),
        "DOCTOR_BASELINE_MISSING"
    );
    place.board.accept_baseline(&place.board.doctor(board::Checks::default())).expect("accepted");
    place.write(".project/cards/T-0002-b.md", "---\nid: T-0002\ntitle: b\n---\n");
    let mut report = place.board.doctor(board::Checks::default());
    assert_eq!(place.board.only_new(&mut report).expect("a baseline"), (1, 0));
    assert_eq!(report.lines().len(), 1);
}

#[test]
fn a_commit_that_left_the_history_is_named_and_an_unknown_one_is_not() {
    let place = Place::new(json!({}));
    let git = |arguments: &[&str]| {
        let mut all = vec!["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
        all.extend(arguments);
        let environment = std::env::vars_os().filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_")).collect();
        let spec = process::Spec::new("git").arguments(all).folder(place.root()).environment(environment);
        let mut child = spec.spawn_blocking().expect("git is there");
        drop((child.stdout.take(), child.stderr.take()));
        assert!(child.wait().expect("ended").success(), "{arguments:?}");
    };
    git(&["init", "-q", "."]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "one"]);
    place.card(json!({ "title": "A", "raised": "derived" }), "");
    git(&["commit", "-qm", "two", "--allow-empty"]);
    let done = place.to("T-0001", "done").expect("closed");
    assert_eq!(
        done.fields.get("verified").expect("proved")["commit"].as_str().map(str::len),
        Some(40),
        "HEAD is recorded"
    );
    assert!(place.codes().is_empty());
    // A clone that holds the newest commit only knows nothing of the ones before.
    git(&["add", "-A"]);
    git(&["commit", "-qm", "three"]);
    let shallow = tempfile::tempdir().expect("a folder");
    let origin = format!("file://{}", place.root().display());
    git(&["clone", "-q", "--depth", "1", &origin, shallow.path().to_str().expect("a path")]);
    let clone = board::Board::new(board::Workspace::open(None, shallow.path(), false).expect("a workspace"));
    let found = clone.doctor(board::Checks::default()).to_json();
    assert_eq!((&found["cards"], &found["issues"]), (&json!(1), &json!([])));
    git(&["reset", "-q", "--soft", "HEAD~1"]);
    assert!(place.codes().is_empty(), "that commit is still there");
    git(&["reset", "-q", "--soft", "HEAD~1"]);
    assert_eq!(place.codes(), ["verified-commit-unreachable"]);
    let path = ".project/cards/T-0001-a.md";
    let verified = done.fields.get("verified").expect("proved");
    let commit = verified["commit"].as_str().expect("a commit");
    place.write(path, &place.read(path).replace(commit, &"a".repeat(40)));
    assert!(place.codes().is_empty(), "git does not know it");
}
