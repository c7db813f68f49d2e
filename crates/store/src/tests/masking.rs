//! No secret lies readable in the file, wherever it came in.

use ::model::{CreatedFile, ErrorCode, Node, NodeKind, NodeStatus, ParamType, Report, RunError, RunStatus};
use serde_json::json;
use std::sync::Arc;

use super::interactions::{answer, question};
use super::{Fixture, Flip, START, new_run};
use crate::{Durability, Finish, JournalKind, LogStream, Masker, NewJournalRow, NewRun, RunFilter, SourceFile};

const SECRET: &str = "kennwort-4711";

/// Reads the database with its log as bytes and as text of all rows.
fn leaks(fixture: &Fixture) -> bool {
    let raw = fixture.raw();
    raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let bytes = std::fs::read(fixture.path()).unwrap();
    let needles = [SECRET, "a2VubndvcnQtNDcxM"];
    needles.iter().any(|needle| bytes.windows(needle.len()).any(|part| part == needle.as_bytes()))
}

#[test]
fn whatever_is_recorded_is_masked() {
    let fixture = Fixture::new();
    let store = fixture.store.masked(Masker::new([SECRET])).sealing(Arc::new(Flip));
    let mut new = new_run(super::alive(), json!({ "key": SECRET, SECRET: [1, SECRET] }));
    new.cli_args = vec!["--key".into(), SECRET.into()];
    new.entrypoint_title = format!("Title {SECRET}");
    new.launch.allow_exec = vec![format!("curl -u {SECRET}")];
    new.client.as_mut().unwrap().name = SECRET.into();
    let lease = store.create_run(&new).unwrap();

    let mut log = store.log_writer(&lease);
    for stream in [LogStream::Stdout, LogStream::Stderr] {
        // Cut in the middle, another stream and a flush in between.
        log.push(stream, START, "token=kennwo");
        log.push(LogStream::Stdout, START, if stream == LogStream::Stderr { "other\n" } else { "" });
        log.flush().unwrap();
        log.push(stream, START, "rt-4711\nAuthorization: Basic a2VubndvcnQtNDcxMQ==\n");
    }
    log.finish().unwrap();
    let node = Node {
        id: 1,
        parent: None,
        kind: NodeKind::Agent,
        title: format!("call {SECRET}"),
        status: NodeStatus::Running,
        started_at: None,
        finished_at: None,
        detail: Some(json!({ "prompt": SECRET })),
    };
    store.upsert_nodes(&lease, std::slice::from_ref(&node)).unwrap();
    let row =
        |payload| NewJournalRow { kind: JournalKind::Done, seq: Some(1), fingerprint: None, payload: Some(payload) };
    store.append_journal(&lease, &[row(json!({ "ok": SECRET }))], Durability::Process).unwrap();
    store.keep_sources(&lease, &[SourceFile { path: "a.ts".into(), text: SECRET.into() }]).unwrap();
    let mut form = question(ParamType::String);
    form.form.title = format!("Is {SECRET} right?");
    store.ask(&lease, &form).unwrap();
    store.answer(lease.run(), 0, &answer(json!({ "tone": SECRET }), SECRET)).unwrap();
    store.transition(&lease, RunStatus::Running).unwrap();
    assert!(!leaks(&fixture));

    // Whoever continues the run gets all of it as it was.
    let (input, cli_args, launch) = store.resume_facts(&lease).unwrap();
    assert_eq!((input, cli_args, launch), (new.input.clone(), new.cli_args.clone(), new.launch.clone()));
    assert_eq!(store.answer_content(&lease, 0).unwrap().unwrap().1, json!({ "tone": SECRET }));
    // Whoever looks at it does not.
    let shown = store.show(lease.run()).unwrap();
    assert_eq!(shown.input, json!({ "key": "•••", "•••": [1, "•••"] }));
    assert_eq!(shown.cli_args, ["--key", "•••"]);
    assert_eq!(shown.questions[0].answer.as_ref().unwrap().content, json!({ "tone": "•••" }));
    assert_eq!(store.log_text(lease.run(), LogStream::Stderr).unwrap(), "token=•••\nAuthorization: Basic •••\n");

    let error =
        RunError { data: Some(json!([SECRET])), ..RunError::new(ErrorCode::ScriptError, SECRET).with_cause(SECRET) };
    let files = vec![CreatedFile { name: SECRET.into(), path: format!("/tmp/{SECRET}"), bytes: 1 }];
    let report = Report { output: Some(json!({ "said": SECRET })), error: Some(error), nodes: vec![node] };
    store.finish(&lease, Finish { status: RunStatus::Failed, report, cancel_reason: None, files }).unwrap();
    assert!(!leaks(&fixture));
    assert_eq!(store.resume_facts(&lease).unwrap().0, shown.input, "what was sealed is gone");
    assert_eq!(store.search_runs("4711", &RunFilter::default(), None, 9).unwrap(), []);
    let sealed: i64 =
        fixture.raw().query_row("SELECT count(*) FROM bodies WHERE encoding >= 2", [], |row| row.get(0)).unwrap();
    assert_eq!(sealed, 0);
}

#[test]
fn without_a_sealer_nothing_is_kept_but_the_masked_form() {
    let fixture = Fixture::new();
    let store = fixture.store.masked(Masker::new([SECRET]));
    let lease = store.create_run(&new_run(super::alive(), json!({ "key": SECRET }))).unwrap();
    let row = NewJournalRow { kind: JournalKind::Done, seq: None, fingerprint: None, payload: Some(json!(SECRET)) };
    store.append_journal(&lease, &[row], Durability::Process).unwrap();
    assert!(!leaks(&fixture));
    assert_eq!(store.resume_facts(&lease).unwrap().0, json!({ "key": "•••" }));
    assert_eq!(store.journal(lease.run()).unwrap().rows[0].payload, Some(json!("•••")));
}

#[test]
fn a_run_without_secrets_has_nothing_sealed() {
    let fixture = Fixture::new();
    let store = fixture.store.masked(Masker::new([SECRET])).sealing(Arc::new(Flip));
    let new: NewRun = super::run();
    let lease = store.create_run(&new).unwrap();
    assert_eq!(store.resume_facts(&lease).unwrap().0, new.input);
    let bodies: i64 = fixture.raw().query_row("SELECT count(*) FROM bodies", [], |row| row.get(0)).unwrap();
    assert_eq!(bodies, 2);
}

fn choosing() -> crate::NewQuestion {
    let mut asked = question(ParamType::String);
    asked.form.fields = serde_json::from_value(json!([
        { "name": "pick", "type": "string", "options": [{ "value": "a" }, { "value": SECRET },
            { "value": format!("{SECRET}!") }, { "value": format!("x-{SECRET}") }, { "value": format!("x-{SECRET}") }],
            "pattern": "^.{1,40}$", "required": true },
        { "name": "key", "type": "string", "default": format!("Bearer {SECRET}") },
        { "name": "several", "type": "checkboxes", "multiple": true, "options": [{ "value": SECRET }, { "value": "b" }] },
    ]))
    .unwrap();
    asked
}

#[test]
fn what_a_form_shows_masked_stands_for_what_was_asked_with() {
    let fixture = Fixture::new();
    let store = fixture.store.masked(Masker::new([SECRET])).sealing(Arc::new(Flip));
    let lease = store.create_run(&super::run()).unwrap();
    store.ask(&lease, &choosing()).unwrap();
    assert!(!leaks(&fixture));
    let shown = store.questions(lease.run()).unwrap()[0].form.clone();
    assert_eq!(shown, store.shown_form(&choosing().form));
    let values: Vec<_> = shown.fields[0].options.iter().map(|option| option.value.clone()).collect();
    assert_eq!(values, ["a", "•••", "•••!", "x-•••", "x-••• 2"].map(|value| json!(value)));
    assert_eq!(shown.fields[1].default, Some(json!("Bearer •••")));
    // Whoever answers knows none of the secrets.
    let other = fixture.store.sealing(Arc::new(Flip));
    let given = json!({ "pick": "•••!", "key": "Bearer •••", "several": ["b", "•••"] });
    other.answer(lease.run(), 0, &answer(given.clone(), "cli")).unwrap();
    assert!(!leaks(&fixture));
    assert_eq!(
        store.answer_content(&lease, 0).unwrap().unwrap().1,
        json!({ "pick": format!("{SECRET}!"), "key": format!("Bearer {SECRET}"), "several": ["b", SECRET] })
    );
    assert_eq!(store.questions(lease.run()).unwrap()[0].answer.as_ref().unwrap().content, given);
    store.transition(&lease, RunStatus::Running).unwrap();
    let report = Report { output: None, error: None, nodes: Vec::new() };
    let end = Finish { status: RunStatus::Success, report, cancel_reason: None, files: Vec::new() };
    store.finish(&lease, end).unwrap();
    let kept: i64 = fixture
        .raw()
        .query_row("SELECT count(*) FROM interactions WHERE sealed_form IS NOT NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 0);
}

#[test]
fn a_mask_that_stands_for_nothing_known_is_not_handed_on() {
    let fixture = Fixture::new();
    let store = fixture.store.masked(Masker::new([SECRET])).sealing(Arc::new(Flip));
    let lease = store.create_run(&super::run()).unwrap();
    store.ask(&lease, &choosing()).unwrap();
    // As a build before this one left it.
    fixture.raw().execute("UPDATE interactions SET sealed_form = NULL", []).unwrap();
    assert_eq!(store.questions(lease.run()).unwrap()[0].form.fields[1].default, None);
    let chosen = store.answer(lease.run(), 0, &answer(json!({ "pick": "•••" }), "cli"));
    assert!(matches!(chosen, Err(crate::StoreError::Unstorable { .. })), "{chosen:?}");
    store.answer(lease.run(), 0, &answer(json!({ "pick": "a", "key": "Bearer •••" }), "cli")).unwrap();
    assert_eq!(store.answer_content(&lease, 0).unwrap().unwrap().1, json!({ "pick": "a" }));
    // Without a key it is not kept in the first place, and so not offered.
    let unsealed = fixture.store.masked(Masker::new([SECRET]));
    assert_eq!(unsealed.shown_form(&choosing().form).fields[1].default, None);
}
