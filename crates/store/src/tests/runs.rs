//! A run's life: states, owners, epochs.

use ::model::{
    CancelReason, CreatedFile, ErrorCode, IdSource, Node, NodeKind, NodeStatus, Report, RunError, RunStatus,
};
use serde_json::{Value, json};
use std::sync::Arc;

use super::{Fixture, START, alive, dead, new_run, run};
use crate::{CancelOutcome, Finish, FirstStatus, Lease, NewRun, Owner, Store, StoreError, StoreOptions};

pub(crate) fn ends(status: RunStatus, output: Option<Value>) -> Finish {
    Finish { status, report: Report { output, ..Report::default() }, cancel_reason: None, files: Vec::new() }
}

fn cancelled(reason: CancelReason) -> Finish {
    Finish { cancel_reason: Some(reason), ..ends(RunStatus::Cancelled, None) }
}

fn statuses(store: &Store, lease: &Lease) -> Vec<RunStatus> {
    store.show(lease.run()).unwrap().stages.iter().map(|stage| stage.status).collect()
}

#[test]
fn a_run_is_shown_as_it_was_recorded() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&NewRun { status: FirstStatus::Queued, ..run() }).unwrap();
    fixture.clock.advance(5);
    store.transition(&lease, RunStatus::Running).unwrap();
    fixture.clock.advance(100);
    let node = Node {
        id: 1,
        parent: None,
        kind: NodeKind::Step,
        title: "Read".into(),
        status: NodeStatus::Running,
        started_at: Some(START),
        finished_at: None,
        detail: None,
    };
    store.upsert_nodes(&lease, std::slice::from_ref(&node)).unwrap();
    assert_eq!(store.nodes(lease.run()).unwrap(), std::slice::from_ref(&node));
    let done =
        Node { status: NodeStatus::Success, finished_at: Some(START + 9), detail: Some(json!({"t": 1})), ..node };
    let first = Node { id: 7, parent: Some(1), ..done.clone() };
    let report = Report { output: Some(json!({"page": "x"})), error: None, nodes: vec![first, done] };
    let files = vec![CreatedFile { name: "a.txt".into(), path: "/c/a.txt".into(), bytes: 3 }];
    store
        .finish(
            &lease,
            Finish { status: RunStatus::Success, report: report.clone(), cancel_reason: None, files: files.clone() },
        )
        .unwrap();

    let shown = fixture.another().show(lease.run()).unwrap();
    assert_eq!(shown.summary.status, RunStatus::Success);
    assert_eq!((shown.summary.created_at, shown.summary.started_at), (START, Some(START + 5)));
    assert_eq!(shown.summary.duration_ms(), Some(100));
    assert_eq!(shown.summary.client.as_deref(), Some("cursor"));
    assert_eq!(shown.client, run().client);
    assert_eq!(shown.input, json!({"week": 35}));
    assert_eq!(shown.cli_args, ["--week", "35"]);
    assert_eq!(shown.launch, run().launch);
    assert_eq!((shown.project_title.as_str(), shown.project_uuid.is_some()), ("Weekly", true));
    assert_eq!(shown.report, report);
    assert_eq!(shown.files, files);
    assert!(shown.bytes > 0);
    assert_eq!(
        shown.stages.iter().map(|stage| (stage.status, stage.at)).collect::<Vec<_>>(),
        [(RunStatus::Queued, START), (RunStatus::Running, START + 5), (RunStatus::Success, START + 105)]
    );
}

#[test]
fn an_error_keeps_its_cause_in_the_record() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    let mut error = RunError::new(ErrorCode::BusinessError, "No stock").with_cause("at line 3");
    error.err_code = Some(42);
    let report = Report { error: Some(error.clone()), ..Report::default() };
    fixture.store.finish(&lease, Finish { report, ..ends(RunStatus::Failed, None) }).unwrap();
    assert_eq!(fixture.store.show(lease.run()).unwrap().report.error, Some(error));
}

#[test]
fn long_bodies_come_back_whole() {
    let fixture = Fixture::new();
    let text: String = (0..200_000).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
    let lease = fixture.store.create_run(&new_run(alive(), json!({ "text": text }))).unwrap();
    fixture.store.finish(&lease, ends(RunStatus::Success, Some(json!([text, text])))).unwrap();
    let shown = fixture.store.show(lease.run()).unwrap();
    assert_eq!(shown.input["text"], json!(text));
    assert_eq!(shown.report.output, Some(json!([text, text])));
    assert!(shown.bytes < 20_000, "{} bytes for 600,000", shown.bytes);
}

#[test]
fn impossible_steps_are_refused_and_change_nothing() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    fixture.store.finish(&lease, ends(RunStatus::Success, Some(json!(1)))).unwrap();
    let again = fixture.store.finish(&lease, ends(RunStatus::Failed, Some(json!(2))));
    assert!(matches!(again, Err(StoreError::Transition { .. })));
    assert!(matches!(fixture.store.transition(&lease, RunStatus::Running), Err(StoreError::Transition { .. })));
    assert_eq!(fixture.store.report(lease.run()).unwrap().output, Some(json!(1)));
    assert_eq!(statuses(&fixture.store, &lease), [RunStatus::Queued, RunStatus::Running, RunStatus::Success]);
}

#[test]
fn ids_grow_rather_than_collide() {
    /// Always the same letters.
    struct Same;
    impl IdSource for Same {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }
    let fixture = Fixture::new();
    let options = StoreOptions { ids: Arc::new(Same), ..fixture.options.clone() };
    let store = Store::open(fixture.path(), options).unwrap();
    let ids: Vec<String> = (0..4).map(|_| store.create_run(&run()).unwrap().run().to_string()).collect();
    assert_eq!(ids, ["20260828-aaaa", "20260828-aaaaa", "20260828-aaaaaa", "20260828-aaaaaaaa"]);
}

#[test]
fn only_the_present_owner_writes() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let old = store.create_run(&new_run(dead(), json!({}))).unwrap();
    let taken = store.take_over(old.run(), &alive(), Some(1)).unwrap();
    assert_eq!((taken.was, taken.lease.epoch()), (RunStatus::Running, 2));
    store.transition(&taken.lease, RunStatus::Running).unwrap();

    let stale = |outcome: crate::Result<()>| {
        assert!(matches!(outcome, Err(StoreError::StaleEpoch { epoch: 1, current: 2, .. })), "{outcome:?}");
    };
    stale(store.transition(&old, RunStatus::WaitingForInput));
    stale(store.finish(&old, ends(RunStatus::Success, Some(json!("stale")))));
    stale(store.upsert_nodes(&old, &[]).and_then(|()| store.release(&old)));
    stale(store.append_journal(&old, &[], crate::Durability::Process).map(drop));
    let mut log = store.log_writer(&old);
    log.push(crate::LogStream::Stdout, START, "stale");
    stale(log.flush());

    store.finish(&taken.lease, ends(RunStatus::Success, Some(json!("new")))).unwrap();
    assert_eq!(store.report(old.run()).unwrap().output, Some(json!("new")));
    assert_eq!(store.log_text(old.run(), crate::LogStream::Stdout).unwrap(), "");
    use RunStatus::{Interrupted, Queued, Running, Success};
    assert_eq!(statuses(store, &old), [Queued, Running, Interrupted, Running, Success]);
}

#[test]
fn a_run_is_taken_over_once_and_only_when_it_is_free() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    let busy = store.take_over(lease.run(), &alive(), None);
    assert!(matches!(busy, Err(StoreError::NotFree { status: RunStatus::Running, owner: Some(4712), .. })));

    store.transition(&lease, RunStatus::WaitingForInput).unwrap();
    let seen = store.run(lease.run()).unwrap().epoch;
    let first = store.take_over(lease.run(), &alive(), Some(seen)).unwrap();
    let second = store.take_over(lease.run(), &alive(), Some(seen));
    assert!(matches!(second, Err(StoreError::StaleEpoch { current: 2, .. })));

    store.transition(&first.lease, RunStatus::Running).unwrap();
    store.finish(&first.lease, cancelled(CancelReason::ClientGone)).unwrap();
    let third = store.take_over(lease.run(), &alive(), None).unwrap();
    assert_eq!(third.was, RunStatus::Cancelled);
    store.transition(&third.lease, RunStatus::Running).unwrap();
    assert_eq!(store.run(lease.run()).unwrap().cancel_reason, None);
    store.finish(&third.lease, cancelled(CancelReason::Client)).unwrap();
    let final_word = store.take_over(lease.run(), &alive(), None);
    assert!(matches!(final_word, Err(StoreError::NotFree { status: RunStatus::Cancelled, .. })));
}

#[test]
fn whoever_guards_the_state_records_it_whether_the_last_one_lives_or_not() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let input = json!({ crate::INSTANCE_FIELD: "abc" });
    assert_eq!(
        store.show(store.create_run(&new_run(alive(), input.clone())).unwrap().run()).unwrap().workflow_instance(),
        None
    );
    let mut new = new_run(alive(), input);
    new.project.uuid = None;
    let first = store.create_run(&new).unwrap();
    assert_eq!(store.show(first.run()).unwrap().workflow_instance(), Some("abc"));

    let other = Owner { pid: 4714, ..alive() };
    let second = store.attend(first.run(), &other).unwrap();
    assert_eq!((second.epoch(), store.attend(first.run(), &other).unwrap()), (2, second.clone()));
    assert!(matches!(store.release(&first), Err(StoreError::StaleEpoch { .. })));
    store.attend(first.run(), &dead()).unwrap();
    assert_eq!(store.mark_interrupted().unwrap(), [first.run().clone()]);
    let last = store.attend(first.run(), &alive()).unwrap();
    store.finish(&last, ends(RunStatus::Success, None)).unwrap();
    let late = store.attend(first.run(), &other);
    assert!(matches!(late, Err(StoreError::NotFree { status: RunStatus::Success, .. })), "{late:?}");
    use RunStatus::{Interrupted, Queued, Running, Success};
    assert_eq!(statuses(store, &first), [Queued, Running, Interrupted, Running, Success]);
}

#[test]
fn runs_of_dead_owners_are_interrupted_and_no_others() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let gone = store.create_run(&new_run(dead(), json!({}))).unwrap();
    let queued = store.create_run(&NewRun { status: FirstStatus::Queued, ..new_run(dead(), json!({})) }).unwrap();
    let waiting = store.create_run(&new_run(dead(), json!({}))).unwrap();
    store.transition(&waiting, RunStatus::WaitingForInput).unwrap();
    let living = store.create_run(&run()).unwrap();
    // However long it was silent.
    fixture.clock.advance(1_000 * 3_600 * 24 * 365);

    let mut marked = fixture.another().mark_interrupted().unwrap();
    marked.sort();
    let mut expected = vec![gone.run().clone(), queued.run().clone()];
    expected.sort();
    assert_eq!(marked, expected);
    let status = |lease: &Lease| store.run(lease.run()).unwrap().status;
    assert_eq!(status(&gone), RunStatus::Interrupted);
    assert_eq!(status(&waiting), RunStatus::WaitingForInput);
    assert_eq!(status(&living), RunStatus::Running);
    assert_eq!(store.mark_interrupted().unwrap(), []);
    assert!(matches!(store.finish(&gone, ends(RunStatus::Success, None)), Err(StoreError::StaleEpoch { .. })));
    store.take_over(gone.run(), &alive(), None).unwrap();
}

#[test]
fn a_cancel_reaches_the_owner_or_is_done_at_once() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let living = store.create_run(&run()).unwrap();
    let mut watch = fixture.another().watch().unwrap();
    assert_eq!(watch.poll().unwrap(), None);
    assert_eq!(store.request_cancel(living.run(), CancelReason::Person).unwrap(), CancelOutcome::Requested);
    let changes = watch.poll().unwrap().unwrap();
    assert_eq!(changes.items.iter().map(|change| change.what.as_str()).collect::<Vec<_>>(), ["cancel"]);
    assert_eq!(changes.items[0].run.as_ref(), Some(living.run()));
    assert_eq!(store.signals(living.run()).unwrap().cancel, Some(CancelReason::Person));
    store.finish(&living, cancelled(CancelReason::Person)).unwrap();
    assert_eq!(
        store.request_cancel(living.run(), CancelReason::Person).unwrap(),
        CancelOutcome::Ended(RunStatus::Cancelled)
    );

    let waiting = store.create_run(&run()).unwrap();
    store.transition(&waiting, RunStatus::WaitingForInput).unwrap();
    assert_eq!(store.request_cancel(waiting.run(), CancelReason::Person).unwrap(), CancelOutcome::Done);
    assert!(matches!(store.transition(&waiting, RunStatus::Running), Err(StoreError::StaleEpoch { .. })));

    // A person's word ends what could have been resumed.
    let left = store.create_run(&run()).unwrap();
    store.finish(&left, cancelled(CancelReason::ClientGone)).unwrap();
    assert_eq!(store.request_cancel(left.run(), CancelReason::Person).unwrap(), CancelOutcome::Done);
    assert!(matches!(store.take_over(left.run(), &alive(), None), Err(StoreError::NotFree { .. })));
}

#[test]
fn a_run_that_goes_on_forgets_how_it_had_ended() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    let error = RunError::new(ErrorCode::Cancelled, "gone with the wind");
    let report = Report { error: Some(error), ..Report::default() };
    store.finish(&lease, Finish { report, ..cancelled(CancelReason::ClientGone) }).unwrap();
    let found = |text: &str| store.search_runs(text, &crate::RunFilter::default(), None, 9).unwrap().len();
    assert_eq!(found("wind"), 1);
    let lease = store.take_over(lease.run(), &alive(), None).unwrap().lease;
    store.transition(&lease, RunStatus::Running).unwrap();
    assert_eq!(store.report(lease.run()).unwrap(), Report::default());
    store.finish(&lease, ends(RunStatus::Success, Some(json!("landed")))).unwrap();
    let shown = store.show(lease.run()).unwrap();
    assert_eq!((shown.report.output, shown.report.error), (Some(json!("landed")), None));
    assert_eq!((found("wind"), found("landed")), (0, 1));
    assert_eq!(shown.bytes, store.usage("proj1").unwrap().1);
}

#[test]
fn a_run_is_printed_in_the_stable_shape() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    store.ask(&lease, &super::interactions::question(::model::ParamType::String)).unwrap();
    let shown = store.show(lease.run()).unwrap().to_json("out", "err");
    let asked =
        json!({"title": "Tone", "fields": [{"name": "tone", "title": "Tone", "type": "string", "required": false}]});
    assert_eq!(
        shown,
        json!({
            "runId": lease.run(), "projectId": "proj1", "entrypointId": "main", "entrypointTitle": "Main",
            "status": "waiting_for_input", "origin": "mcp",
            "client": {"name": "cursor", "version": "1.2", "protocol": "2025-11-25"},
            "startedAt": "2026-08-28T06:53:20.000Z", "finishedAt": null, "durationMs": null, "parentRunId": null,
            "cancelReason": null, "pinned": false, "input": {"week": 35}, "cliArgs": ["--week", "35"],
            "stages": [
                {"status": "queued", "at": "2026-08-28T06:53:20.000Z"},
                {"status": "running", "at": "2026-08-28T06:53:20.000Z"},
                {"status": "waiting_for_input", "at": "2026-08-28T06:53:20.000Z"}
            ],
            "interactions": [{
                "form": {"title": "Tone", "fields": [
                    {"name": "tone", "type": "string", "required": false, "multiple": false}]},
                "kind": "form", "answer": null, "action": null, "by": null,
                "askedAt": "2026-08-28T06:53:20.000Z", "answeredAt": null
            }],
            "pending": asked, "report": {"result": {"data": {}}, "nodes": []}, "output": null, "error": null,
            "files": [], "childRunIds": [], "stdout": "out", "stderr": "err"
        })
    );
    let listed = store.list_runs(&crate::RunFilter::default(), None, 1).unwrap()[0].to_json();
    let keys: Vec<_> = listed.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "runId",
            "projectId",
            "entrypointId",
            "entrypointTitle",
            "status",
            "origin",
            "client",
            "startedAt",
            "finishedAt",
            "durationMs",
            "parentRunId"
        ]
    );
    assert_eq!(listed["client"], "cursor");
}

#[test]
fn unknown_runs_are_said_to_be_unknown() {
    let fixture = Fixture::new();
    let run = "20260101-zzzz".parse().unwrap();
    assert!(matches!(fixture.store.show(&run), Err(StoreError::NoSuchRun { .. })));
    assert!(matches!(
        fixture.store.list_runs(&crate::RunFilter::default(), Some(&run), 5),
        Err(StoreError::NoSuchRun { .. })
    ));
    assert!(matches!(fixture.store.request_cancel(&run, CancelReason::Person), Err(StoreError::NoSuchRun { .. })));
}

#[test]
fn the_change_feed_says_when_it_was_trimmed() {
    let fixture = Fixture::new();
    let lease = fixture.store.create_run(&run()).unwrap();
    let begin = fixture.store.last_change().unwrap();
    fixture.store.pin(lease.run(), true).unwrap();
    let changes = fixture.store.changes_since(begin, 10).unwrap();
    assert!(!changes.gap && changes.items.len() == 1 && changes.items[0].what == "pin", "{changes:?}");
    let raw = fixture.raw();
    raw.execute_batch(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 12000) \
         INSERT INTO changes (what) SELECT 'log' FROM n",
    )
    .unwrap();
    for _ in 0..300 {
        fixture.store.pin(lease.run(), true).unwrap();
    }
    let kept: i64 = raw.query_row("SELECT count(*) FROM changes", [], |row| row.get(0)).unwrap();
    assert!((10_000..10_300).contains(&kept), "{kept}");
    assert!(fixture.store.changes_since(begin, 10).unwrap().gap);
}

#[test]
fn a_run_that_has_ended_is_opened_again_by_one_and_forgets_how_it_had_ended() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&run()).unwrap();
    assert!(matches!(store.reopen(lease.run(), &alive(), 1), Err(StoreError::Transition { .. })), "it runs");
    store.finish(&lease, ends(RunStatus::Success, Some(json!(1)))).unwrap();
    let again = store.reopen(lease.run(), &alive(), 1).unwrap();
    assert!(matches!(store.reopen(lease.run(), &alive(), 1), Err(StoreError::StaleEpoch { .. })), "one was first");
    let shown = store.show(lease.run()).unwrap();
    assert_eq!((shown.summary.status, shown.report.output), (RunStatus::Running, None));
    assert!(store.finish(&lease, ends(RunStatus::Failed, None)).is_err(), "the first lease is over");
    store.finish(&again, ends(RunStatus::Success, Some(json!(2)))).unwrap();
    assert_eq!(store.show(lease.run()).unwrap().report.output, Some(json!(2)));
    let stages = statuses(store, &lease);
    let began = [RunStatus::Queued, RunStatus::Running, RunStatus::Success];
    assert_eq!(stages, [&began[..], &[RunStatus::Running, RunStatus::Success]].concat());
}
