//! Documents, changelog, memory.

use board::{Collection, NewDoc};
use serde_json::{Value, json};

use crate::place::{Place, code, fields_of};

fn doc(place: &Place, fields: Value, folder: Option<&str>) -> Result<board::Whole, board::BoardError> {
    place.board.create_doc(NewDoc { fields: fields_of(fields), folder, body: "" })
}

#[test]
fn documents_lie_in_folders_that_stay_inside() {
    let place = Place::new(json!({}));
    for (folder, path) in [
        (None, ".project/docs/reference/DOC-0001-a.md"),
        (Some(""), ".project/docs/DOC-0002-a.md"),
        (Some("."), ".project/docs/DOC-0003-a.md"),
        (Some("ops/night/"), ".project/docs/ops/night/DOC-0004-a.md"),
    ] {
        assert_eq!(doc(&place, json!({ "title": "A" }), folder).expect("created").path, path);
    }
    for folder in ["../out", &"x".repeat(300), "a\nb", &"ab/".repeat(400)] {
        assert_eq!(code(doc(&place, json!({ "title": "A" }), Some(folder))), "DOC_FOLDER_INVALID", "{folder}");
    }
    assert!(doc(&place, json!({ "title": "A" }), Some(&"/a".repeat(2)[1..])).is_ok());
    assert_eq!(code(doc(&place, json!({ "title": "A", "kind": "poem" }), None)), "DOC_KIND_INVALID");
    assert_eq!(code(doc(&place, json!({ "title": "x".repeat(121) }), None)), "DOC_TITLE_TOO_LONG");
}

#[test]
fn documents_move_and_leave_no_empty_folder() {
    let place = Place::new(json!({}));
    let created = doc(&place, json!({ "title": "A" }), Some("one/two")).expect("created");
    let moved = place.board.move_doc("DOC-0001", "three", None).expect("moved");
    assert_eq!((moved.path.as_str(), &moved.revision), (".project/docs/three/DOC-0001-a.md", &created.revision));
    assert!(!place.exists(".project/docs/one"));
    assert_eq!(place.board.move_doc("DOC-0001", "three/", None).expect("stays").path, moved.path);
    place.write(".project/docs/four/DOC-0001-a.md", "# in the way\n");
    assert_eq!(code(place.board.move_doc("DOC-0001", "four", None)), "DOC_MOVE_TARGET_EXISTS");
    assert_eq!(code(place.board.move_doc("DOC-0001", "../..", None)), "DOC_FOLDER_INVALID");
    let error = place.board.move_doc("DOC-0001", "x", Some("stale")).expect_err("conflict");
    assert!(error.code == "DOC_WRITE_CONFLICT" && error.details.expect("details").get("current").is_none());
}

#[test]
fn a_new_document_marks_what_it_supersedes_and_keeps_its_fields() {
    let place = Place::new(json!({}));
    doc(&place, json!({ "title": "Old", "status": "current" }), None).expect("created");
    let new = doc(
        &place,
        json!({ "title": "New", "supersedes": ["DOC-0001"], "source": "src/a.rs", "review_after": "2026-05-05" }),
        None,
    )
    .expect("created");
    assert_eq!((new.text("source"), new.text("review_after")), ("src/a.rs", "2026-05-05"));
    assert_eq!(place.board.get("DOC-0001").expect("read")["status"], "superseded");
    assert_eq!(
        code(place.board.patch_doc("DOC-0002", &fields_of(json!({ "review_interval_days": -1 })), None)),
        "DOC_REVIEW_INTERVAL_INVALID"
    );
}

#[test]
fn documents_are_written_and_noted() {
    let place = Place::new(json!({}));
    doc(&place, json!({ "title": "A" }), None).expect("created");
    assert_eq!(
        place.board.write_doc("DOC-0001", "Text.\n\n## Notes\n\n- mine\n", None).expect("written").body,
        "Text.\n\n## Notes\n\n- mine"
    );
    assert!(
        place
            .board
            .note_doc("DOC-0001", "seen", Some("Findings"), "me")
            .expect("noted")
            .body
            .contains("## Findings\n\n- ")
    );
    assert_eq!(code(place.board.write_doc("DOC-0001", "x", Some("stale"))), "DOC_WRITE_CONFLICT");
    assert_eq!(code(place.board.note_doc("DOC-0404", "x", None, "me")), "DOC_NOT_FOUND");
}

#[test]
fn indexed_documents_are_read_only() {
    let place = Place::new(json!({}));
    place.write("README.md", "---\nid: DOC-0001\ntitle: Read me\n---\n\n[a](gone.md) `[b](x.md)`\n\n```\n[c](y.md)\n");
    assert_eq!(code(place.board.patch_doc("DOC-0001", &fields_of(json!({ "title": "x" })), None)), "DOC_NOT_FOUND");
    place.write(
        ".project/docs/DOC-0001-shared.md",
        "---\nid: DOC-0001\ntitle: Shared\nkind: guide\nstatus: draft\ncreated: 2026-01-01\nupdated: 2026-01-01\n---\n",
    );
    place.settle();
    let report = place.board.doctor(board::Checks::default()).to_json();
    let of = |code: &str| {
        report["issues"]
            .as_array()
            .expect("issues")
            .iter()
            .filter(|issue| issue["code"] == code)
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(of("duplicate-record-id")[0]["details"]["reason"], "indexed-document");
    assert_eq!(of("doc-broken-local-link").len(), 1, "code is not checked");
    assert_eq!(of("doc-broken-local-link")[0]["severity"], "warning");
}

#[test]
fn a_document_that_is_too_large_is_named() {
    let place = Place::with(json!({ "docs": { "maxFileBytes": 1024 } }));
    place.write(".project/docs/DOC-0001-a.md", &format!("---\nid: DOC-0001\ntitle: a\n---\n\n{}", "x".repeat(2000)));
    assert_eq!(place.codes(), ["unreadable-document"]);
}

#[test]
fn links_of_a_route_root_resolve_as_routes() {
    let place = Place::with(json!({ "docs": { "sources": ["site/**/*.md"], "routeRoots": ["site"] } }));
    place.write("site/a/one.md", "[x](/b/two) [y](/b)\n");
    place.write("site/b/two.md", "x\n");
    place.write("site/b/index.md", "x\n");
    assert!(place.codes().is_empty(), "{:?}", place.codes());
}

fn change(place: &Place, fields: Value) -> Result<board::Whole, board::BoardError> {
    place.board.add_change(fields_of(fields), "")
}

#[test]
fn fragments_and_releases() {
    let place = Place::new(json!({}));
    assert_eq!(code(change(&place, json!({ "title": "a", "area": "moon" }))), "CHANGE_AREA_INVALID");
    change(&place, json!({ "title": "One" })).expect("added");
    assert_eq!(code(place.board.release("two", fields_of(json!({})), &[], "")), "RELEASE_VERSION_INVALID");
    let (release, consumed) = place.board.release("v1.0.0-rc.1+build", fields_of(json!({})), &[], "").expect("cut");
    assert_eq!(release.path, ".project/changelog/releases/v1-0-0-rc-1-build/REL-0001-v1-0-0-rc-1-build.md");
    assert_eq!(consumed[0]["released"], false);
    assert_eq!(
        code(place.board.release("v1.0.0-rc.1+build", fields_of(json!({})), &["CHG-0404".into()], "")),
        "RELEASE_VERSION_DUPLICATE"
    );
    assert_eq!(code(place.board.release("1.0.1", fields_of(json!({})), &[], "")), "RELEASE_FRAGMENTS_REQUIRED");
    let patch = |id: &str| place.board.patch_change(id, &fields_of(json!({ "title": "x" })), None);
    assert_eq!(code(patch("CHG-0001")), "CHANGE_FRAGMENT_RELEASED");
    assert_eq!(code(patch("REL-0001")), "CHANGE_RECORD_NOT_A_FRAGMENT");
    assert_eq!(code(patch("v1.0.0-rc.1+build")), "CHANGE_RECORD_NOT_A_FRAGMENT");
    assert_eq!(code(place.board.preview(&["CHG-0001".into()], None)), "CHANGE_FRAGMENT_NOT_FOUND");
    change(&place, json!({ "title": "Two" })).expect("added");
    place.board.release("1.0.0", fields_of(json!({})), &[], "").expect("cut");
    let (_, content) = place.board.render_changelog(None, false).expect("rendered");
    assert!(
        content.find("## 1.0.0 ").expect("newest") < content.find("## v1.0.0-rc.1").expect("older"),
        "two of one day: {content}"
    );
    assert_eq!(code(place.board.amend("REL-0001", &fields_of(json!({ "title": "x" })), None)), "RELEASE_NOT_AMENDABLE");
    assert_eq!(place.board.amend("1.0.0", &fields_of(json!({ "title": "x" })), None).expect("amended").title, "x");
    let filter = |released| board::ChangeFilter { released: Some(released), ..board::ChangeFilter::default() };
    change(&place, json!({ "title": "Three" })).expect("added");
    let total =
        |released| place.board.list_changes(&filter(released), board::Page { limit: 50, offset: 0 })["total"].clone();
    assert_eq!((total(true), total(false)), (json!(2), json!(1)));
}

#[test]
fn a_release_that_fails_half_way_leaves_the_fragments_where_they_were() {
    let place = Place::new(json!({}));
    change(&place, json!({ "title": "One" })).expect("added");
    change(&place, json!({ "title": "Two" })).expect("added");
    // A file lies where the folder of releases has to be.
    place.write(".project/changelog/releases", "x");
    assert!(place.board.release("1.0.0", fields_of(json!({})), &[], "").is_err());
    assert!(
        place.exists(".project/changelog/unreleased/CHG-0001-one.md")
            && place.exists(".project/changelog/unreleased/CHG-0002-two.md")
    );
    let staging = std::fs::read_dir(place.root().join(".project/.cache/release-staging")).map_or(0, Iterator::count);
    assert_eq!(staging, 0);
}

#[test]
fn what_a_killed_release_left_is_finished_or_undone() {
    let place = Place::new(json!({}));
    for title in ["One", "Two", "Three"] {
        change(&place, json!({ "title": title })).expect("added");
    }
    let unreleased = |name: &str| format!(".project/changelog/unreleased/{name}");
    let one = place.read(&unreleased("CHG-0001-one.md"));
    let three = place.read(&unreleased("CHG-0003-three.md"));
    // Another program moved the only copies away and was killed.
    let staging = ".project/.cache/release-staging/REL-0001-aaaa";
    place.write(&format!("{staging}/fragments/CHG-0003-three.md"), &three);
    place.write(&format!("{staging}/fragments/CHG-0001-one.md"), &one);
    std::fs::remove_file(place.root().join(unreleased("CHG-0003-three.md"))).expect("removed");
    assert_eq!(place.codes(), ["release-unfinished"]);
    let fixed = place.board.fix("me").expect("mended");
    assert_eq!(fixed["releases"][0]["restored"], json!([unreleased("CHG-0003-three.md")]), "{fixed}");
    assert_eq!(place.read(&unreleased("CHG-0003-three.md")), three);
    assert!(!place.exists(staging) && place.codes().is_empty());
    // This one was killed after the release had come into its place, before the originals were gone.
    place.board.release("1.0.0", fields_of(json!({})), &[], "").expect("cut");
    assert!(!place.exists(&unreleased("CHG-0001-one.md")), "the originals go");
    place.write(&unreleased("CHG-0001-one.md"), &one);
    assert!(place.codes().contains(&"release-unfinished".to_owned()));
    let fixed = place.board.fix("me").expect("mended");
    assert_eq!((&fixed["releases"][0]["released"], &fixed["moves"]), (&json!("CHG-0001"), &json!([])));
    assert!(!place.exists(&unreleased("CHG-0001-one.md")) && place.codes().is_empty());
    // Another text under that name is another change, and keeps what it says.
    place.write(&unreleased("CHG-0001-one.md"), &one.replace("One", "Another"));
    place.board.fix("me").expect("mended");
    assert!(place.read(&unreleased("CHG-0004-another.md")).contains("Another"));
    // A release that is being cut at this moment is no fault.
    place.write(&format!("{staging}/fragments/x.md"), "x");
    let lock = json!({ "pid": std::process::id(), "createdAt": "2026-01-01T00:00:00.000Z" });
    place.write(".project/.cache/locks/changelog/release.lock", &lock.to_string());
    assert!(place.codes().is_empty());
}

fn add(place: &Place, collection: &str, fields: Value) -> Result<board::Whole, board::BoardError> {
    place.board.add_memory(collection, fields_of(fields), "")
}

#[test]
fn memory_has_its_rules() {
    let place = Place::new(json!({}));
    assert_eq!(code(add(&place, "poems", json!({ "title": "x" }))), "MEMORY_COLLECTION_DISABLED");
    assert_eq!(
        code(add(&place, "learnings", json!({ "title": "x", "occurrences": 0 }))),
        "LEARNING_OCCURRENCES_INVALID"
    );
    let incident = json!({ "title": "x", "started_at": "2026-01-02T00:00:00Z", "resolved_at": "2026-01-01T00:00:00Z" });
    assert_eq!(code(add(&place, "incidents", incident)), "INCIDENT_TIMESTAMP_RANGE_INVALID");
    add(&place, "learnings", json!({ "title": "L" })).expect("added");
    add(&place, "decisions", json!({ "title": "D" })).expect("added");
    add(&place, "incidents", json!({ "title": "I" })).expect("added");
    let graduate = |id: &str, target: &str| place.board.graduate(id, &[target.to_owned()], None);
    assert_eq!(code(graduate("ADR-0001", "LRN-0001")), "MEMORY_GRADUATION_INVALID");
    assert_eq!(code(graduate("LRN-0001", "CONV-0404")), "MEMORY_GRADUATION_TARGET_INVALID");
    assert_eq!(graduate("LRN-0001", "ADR-0001").expect("graduated").text("status"), "graduated");
    assert_eq!(code(place.board.supersede("ADR-0001", "ADR-0001", None)), "MEMORY_SUPERSESSION_SELF");
    assert_eq!(code(place.board.supersede("INC-0001", "ADR-0001", None)), "MEMORY_SUPERSESSION_UNSUPPORTED");
    let disabled = Place::with(json!({ "memory": { "collections": ["learnings"] } }));
    assert_eq!(
        code(add(&disabled, Collection::Decisions.name(), json!({ "title": "x" }))),
        "MEMORY_COLLECTION_DISABLED"
    );
}

#[test]
fn a_supersession_is_written_on_both_sides_or_on_none() {
    let place = Place::new(json!({}));
    add(&place, "decisions", json!({ "title": "Old" })).expect("added");
    place.write(
        ".project/memory/decisions/ADR-0002-new.md",
        "---\nid: ADR-0002\ntitle: New\nstatus: proposed\nsupersedes:\n  a:\n    b: 1\n---\n",
    );
    let before = place.read(".project/memory/decisions/ADR-0001-old.md");
    assert_eq!(code(place.board.supersede("ADR-0001", "ADR-0002", None)), "RECORD_FRONTMATTER_OPAQUE");
    assert_eq!(place.read(".project/memory/decisions/ADR-0001-old.md"), before);
    add(&place, "decisions", json!({ "title": "Newer" })).expect("added");
    let (old, new) = place.board.supersede("ADR-0001", "ADR-0003", None).expect("superseded");
    assert_eq!((old.list("superseded_by"), new.list("supersedes")), (vec!["ADR-0003"], vec!["ADR-0001"]));
}

#[test]
fn a_module_that_is_off_is_not_written() {
    let place = Place::with(
        json!({ "changelog": { "enabled": false }, "docs": { "enabled": false }, "cards": { "enabled": false } }),
    );
    assert_eq!(code(change(&place, json!({ "title": "x" }))), "MODULE_DISABLED");
    assert_eq!(code(doc(&place, json!({ "title": "x" }), None)), "MODULE_DISABLED");
    assert_eq!(place.refused(json!({ "title": "x" })), "MODULE_DISABLED");
}
