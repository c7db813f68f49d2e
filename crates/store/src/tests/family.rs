//! A run and the related runs below it.

use ::model::{
    CancelReason, CreatedFile, LaunchOptions, Node, NodeKind, NodeStatus, Param, ParamType, Report, RunId, RunStatus,
};
use serde_json::{Value, json};
use std::sync::Arc;

use super::interactions::{answer, question};
use super::runs::ends;
use super::{Fixture, Flip, START, alive, dead, new_run};
use crate::{CancelOutcome, Finish, Lease, LogStream, Masker, NewQuestion, NewRun, Owner, Standing, Store, StoreError};

/// A run, the one that it started, and the one below that, with the question of the last one in all records.
fn three(store: &Store, owner: &Owner) -> [Lease; 3] {
    let begin = |parent: Option<&Lease>| {
        let parent = parent.map(|parent| parent.run().clone());
        store.create_run(&NewRun { parent, ..new_run(owner.clone(), json!({})) }).unwrap()
    };
    let top = begin(None);
    let middle = begin(Some(&top));
    let bottom = begin(Some(&middle));
    store.ask(&bottom, &question(ParamType::String)).unwrap();
    ask_for(store, &middle, &bottom);
    ask_for(store, &top, &middle);
    [top, middle, bottom]
}

fn ask_for(store: &Store, above: &Lease, below: &Lease) -> u64 {
    store.ask(above, &NewQuestion { child: Some(below.run().clone()), ..question(ParamType::String) }).unwrap()
}

fn status(store: &Store, lease: &Lease) -> RunStatus {
    store.run(lease.run()).unwrap().status
}

fn given(store: &Store, run: &RunId) -> Vec<Option<(Value, String)>> {
    let questions = store.questions(run).unwrap();
    questions.into_iter().map(|one| one.answer.map(|answer| (answer.content, answer.by))).collect()
}

#[test]
fn a_question_is_answered_in_every_record_at_once() {
    for named in 0..3 {
        let fixture = Fixture::new();
        let store = &fixture.store;
        let family = three(store, &alive());
        store.answer(family[named].run(), 0, &answer(json!({"tone": "plain"}), "cli")).unwrap();
        for lease in &family {
            assert_eq!(given(store, lease.run()), [Some((json!({"tone": "plain"}), "cli".into()))], "{named}");
            let again = store.answer(lease.run(), 0, &answer(json!({"tone": "warm"}), "desktop"));
            assert!(matches!(again, Err(StoreError::AlreadyAnswered { by, .. }) if by == "cli"));
        }
        // The next question of the same run is the next one above.
        assert_eq!(store.ask(&family[2], &question(ParamType::String)).unwrap(), 1);
        ask_for(store, &family[1], &family[2]);
        ask_for(store, &family[0], &family[1]);
        store.answer(family[named].run(), 1, &answer(json!({"tone": "warm"}), "client")).unwrap();
        for lease in &family {
            assert_eq!(given(store, lease.run())[1], Some((json!({"tone": "warm"}), "client".into())), "{named}");
        }
    }
}

#[test]
fn a_secret_answer_lies_sealed_with_the_run_that_asks() {
    let fixture = Fixture::new();
    let store = fixture.store.clone().sealing(Arc::new(Flip));
    let parent = store.create_run(&new_run(alive(), json!({}))).unwrap();
    let child = NewRun { parent: Some(parent.run().clone()), ..new_run(alive(), json!({})) };
    let child = store.create_run(&child).unwrap();
    store.ask(&child, &question(ParamType::Secret)).unwrap();
    store.ask(&parent, &NewQuestion { child: Some(child.run().clone()), ..question(ParamType::Secret) }).unwrap();
    store.answer(parent.run(), 0, &answer(json!({"tone": "hush-hush"}), "cli")).unwrap();
    assert_eq!(store.answer_content(&child, 0).unwrap().unwrap().1, json!({"tone": "hush-hush"}));
    assert_eq!(store.answer_content(&parent, 0).unwrap().unwrap().1, json!({"tone": "•••"}));
}

#[test]
fn a_cancelled_run_takes_with_it_what_it_has_started() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let family = three(store, &dead());
    assert_eq!(store.request_cancel(family[0].run(), CancelReason::Person).unwrap(), CancelOutcome::Done);
    for lease in &family {
        let run = store.run(lease.run()).unwrap();
        assert_eq!((run.status, run.cancel_reason), (RunStatus::Cancelled, Some(CancelReason::Person)));
    }
    let late = store.answer(family[2].run(), 0, &answer(json!({"tone": "plain"}), "cli"));
    assert!(matches!(late, Err(StoreError::AlreadyAnswered { .. } | StoreError::NotWaiting { .. })), "{late:?}");
}

#[test]
fn a_run_whose_related_run_was_cancelled_can_be_continued() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let family = three(store, &dead());
    store.request_cancel(family[1].run(), CancelReason::Person).unwrap();
    assert_eq!(status(store, &family[2]), RunStatus::Cancelled);
    let above = store.show(family[0].run()).unwrap();
    assert_eq!((above.summary.status, above.pending()), (RunStatus::Interrupted, None));
    assert_eq!(above.questions[0].answer.as_ref().map(|answer| answer.by.as_str()), Some("related"));
    let said = above.report.error.expect("it says why").message;
    assert!(said.contains(family[1].run().as_str()) && said.contains("runs resume"), "{said}");
    store.take_over(family[0].run(), &alive(), None).unwrap();
}

#[test]
fn whoever_would_have_a_run_go_on_is_told_where_it_stands() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let stands = |lease: &Lease| store.standing(&store.show(lease.run()).unwrap());
    for (owner, working, answered) in
        [(alive(), Standing::Working, Standing::Answered), (dead(), Standing::Free, Standing::Free)]
    {
        let lease = store.create_run(&new_run(owner, json!({}))).unwrap();
        assert_eq!(stands(&lease), working);
        store.ask(&lease, &question(ParamType::String)).unwrap();
        assert_eq!(stands(&lease), Standing::Asks);
        store.answer(lease.run(), 0, &answer(json!({"tone": "plain"}), "cli")).unwrap();
        assert_eq!(stands(&lease), answered);
        store.transition(&lease, RunStatus::Running).unwrap();
        let gone = Finish { cancel_reason: Some(CancelReason::ClientGone), ..ends(RunStatus::Cancelled, None) };
        store.finish(&lease, gone).unwrap();
        assert_eq!(stands(&lease), Standing::Free, "whoever comes back has it go on");
        store.request_cancel(lease.run(), CancelReason::Person).unwrap();
        assert_eq!(stands(&lease), Standing::Over);
    }
}

#[test]
fn a_living_owner_is_left_to_see_that_its_related_run_is_over() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let family = three(store, &alive());
    store.request_cancel(family[2].run(), CancelReason::Person).unwrap();
    for above in [&family[0], &family[1]] {
        let record = store.show(above.run()).unwrap();
        assert_eq!((record.summary.status, record.pending()), (RunStatus::WaitingForInput, None));
    }
    assert_eq!(store.waiting_above(family[2].run()).unwrap(), None, "somebody has it");
}

#[test]
fn what_nobody_answers_ends_the_whole_family() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let parent = store.create_run(&new_run(dead(), json!({}))).unwrap();
    let child = NewRun { parent: Some(parent.run().clone()), ..new_run(dead(), json!({})) };
    let child = store.create_run(&child).unwrap();
    let patient = NewQuestion { patience: Some(1_000), ..question(ParamType::String) };
    store.ask(&child, &patient).unwrap();
    fixture.clock.advance(10);
    store.ask(&parent, &NewQuestion { child: Some(child.run().clone()), ..patient }).unwrap();
    fixture.clock.advance(995);
    store.expire_waiting().unwrap();
    for lease in [&parent, &child] {
        let run = store.run(lease.run()).unwrap();
        assert_eq!((run.status, run.cancel_reason), (RunStatus::Cancelled, Some(CancelReason::Expired)));
    }
}

#[test]
fn whoever_saw_a_run_to_its_end_finds_the_one_that_waited_for_it() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let [_, middle, bottom] = three(store, &dead());
    assert_eq!(store.waiting_above(bottom.run()).unwrap(), None, "it is not over");
    store.answer(bottom.run(), 0, &answer(json!({"tone": "plain"}), "cli")).unwrap();
    store.transition(&bottom, RunStatus::Running).unwrap();
    store.finish(&bottom, ends(RunStatus::Success, None)).unwrap();
    assert_eq!(store.waiting_above(bottom.run()).unwrap().as_ref(), Some(middle.run()));
    // Another question keeps it where it is.
    store.ask(&middle, &question(ParamType::String)).unwrap();
    assert_eq!(store.waiting_above(bottom.run()).unwrap(), None);
}

#[test]
fn a_question_that_was_answered_before_it_stands_above_is_not_open_there() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let parent = store.create_run(&new_run(alive(), json!({}))).unwrap();
    let child = NewRun { parent: Some(parent.run().clone()), ..new_run(alive(), json!({})) };
    let child = store.create_run(&child).unwrap();
    store.ask(&child, &question(ParamType::String)).unwrap();
    store.answer(child.run(), 0, &answer(json!({"tone": "plain"}), "cli")).unwrap();
    ask_for(store, &parent, &child);
    assert_eq!(given(store, parent.run()), [Some((json!({"tone": "plain"}), "cli".into()))]);
}

#[test]
fn a_record_of_an_earlier_version_is_settled_when_it_is_taken_up() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let [top, middle, bottom] = three(store, &dead());
    store.answer(bottom.run(), 0, &answer(json!({"tone": "plain"}), "cli")).unwrap();
    fixture
        .raw()
        .execute(
            "UPDATE interactions SET answered_at = NULL, action = NULL, content = NULL WHERE child IS NOT NULL",
            [],
        )
        .unwrap();
    let record = store.show(top.run()).unwrap();
    assert!(record.pending().is_some_and(|question| !store.is_answered_below(&record, question)));
    store.settle_related(top.run()).unwrap();
    for lease in [&top, &middle] {
        assert_eq!(given(store, lease.run()), [Some((json!({"tone": "plain"}), "cli".into()))]);
    }
}

#[test]
fn nothing_goes_on_in_a_run_that_was_cancelled_while_it_waited() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&new_run(dead(), json!({}))).unwrap();
    store.ask(&lease, &question(ParamType::String)).unwrap();
    let node = |id: u64, kind: NodeKind, status: NodeStatus, detail: Option<Value>| Node {
        id,
        parent: None,
        kind,
        title: format!("node {id}"),
        status,
        started_at: Some(START),
        finished_at: status.is_final().then_some(START),
        detail,
    };
    let nodes = [
        node(1, NodeKind::Step, NodeStatus::Success, None),
        node(2, NodeKind::Form, NodeStatus::WaitingForInput, None),
        node(3, NodeKind::Agent, NodeStatus::Running, Some(json!({"childId": "c-1"}))),
    ];
    store.upsert_nodes(&lease, &nodes).unwrap();
    fixture.clock.advance(70);
    store.request_cancel(lease.run(), CancelReason::Person).unwrap();
    let shown = store.show(lease.run()).unwrap().report.nodes;
    let stands: Vec<_> = shown.iter().map(|node| (node.status, node.finished_at)).collect();
    let cancelled = (NodeStatus::Cancelled, Some(START + 70));
    assert_eq!(stands, [(NodeStatus::Success, Some(START)), cancelled, cancelled]);
    assert_eq!(shown[2].detail, Some(json!({"childId": "c-1", "outcome": "cancelled"})));
}

#[test]
fn the_run_above_gets_what_was_secret_as_long_as_it_may_ask() {
    let fixture = Fixture::new();
    let masked = Masker::new(["hush-hush"]);
    let store = fixture.store.clone().sealing(Arc::new(Flip));
    let [top, middle, _] = three(&store, &alive());
    let output = json!({"key": "hush-hush", "n": 1});
    store.transition(&middle, RunStatus::Running).unwrap();
    store.masked(masked).finish(&middle, ends(RunStatus::Success, Some(output.clone()))).unwrap();
    assert_eq!(store.show(middle.run()).unwrap().report.output, Some(json!({"key": "•••", "n": 1})));
    let whole = store.true_output(middle.run()).unwrap().expect("it is kept");
    assert_eq!(whole.output, output);
    assert!(whole.secrets.contains(&"hush-hush".to_owned()));
    store.finish(&top, ends(RunStatus::Failed, None)).unwrap();
    assert_eq!(store.true_output(middle.run()).unwrap(), None);
}

#[test]
fn what_was_told_is_counted_with_the_log() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&new_run(alive(), json!({}))).unwrap();
    assert_eq!(store.told(lease.run()).unwrap().narrated, Some(0));
    let mut log = store.log_writer(&lease);
    log.push(LogStream::Stdout, START, "one\n");
    log.set_narrated(3);
    assert_eq!(store.told(lease.run()).unwrap().narrated, Some(0), "not before it is written");
    log.flush().unwrap();
    assert_eq!(store.told(lease.run()).unwrap().narrated, Some(3));
    // What has no text counts as well, and leaves nothing in the log.
    for count in [4, 5] {
        log.set_narrated(count);
        log.flush().unwrap();
        assert_eq!(store.told(lease.run()).unwrap().narrated, Some(count));
    }
    log.push(LogStream::Stdout, START, "two\n");
    log.flush().unwrap();
    assert_eq!(store.log_text(lease.run(), LogStream::Stdout).unwrap(), "one\ntwo\n");
}

#[test]
fn files_of_a_deleted_run_go_from_where_it_was_told_to_put_them() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let elsewhere = fixture.folder.path().join("elsewhere");
    let outside = fixture.folder.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("precious"), "mine").unwrap();
    let launch =
        LaunchOptions { file_create_store_dir: elsewhere.to_string_lossy().into_owned(), ..LaunchOptions::default() };
    let lease = store.create_run(&NewRun { launch, ..new_run(alive(), json!({})) }).unwrap();
    let own = elsewhere.join(lease.run().as_str());
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("page.html"), "made").unwrap();
    std::os::unix::fs::symlink(&outside, own.join("link")).unwrap();
    // A path that a record lists need not be one of the run's own.
    let listed = |path: std::path::PathBuf| CreatedFile {
        name: "precious".into(),
        path: path.to_string_lossy().into_owned(),
        bytes: 4,
    };
    let through = own.join("..").join("..").join("outside").join("precious");
    let files = vec![listed(outside.join("precious")), listed(through)];
    let end = Finish { status: RunStatus::Success, report: Report::default(), cancel_reason: None, files };
    store.finish(&lease, end).unwrap();
    store.delete_run(lease.run()).unwrap();
    assert!(!own.exists() && elsewhere.exists());
    assert_eq!(std::fs::read_to_string(outside.join("precious")).unwrap(), "mine");

    // A link in the place of the run's folder is none of ours.
    let launch =
        LaunchOptions { file_create_store_dir: elsewhere.to_string_lossy().into_owned(), ..LaunchOptions::default() };
    let lease = store.create_run(&NewRun { launch, ..new_run(alive(), json!({})) }).unwrap();
    store.finish(&lease, ends(RunStatus::Success, None)).unwrap();
    std::os::unix::fs::symlink(&outside, elsewhere.join(lease.run().as_str())).unwrap();
    store.delete_run(lease.run()).unwrap();
    assert_eq!(std::fs::read_to_string(outside.join("precious")).unwrap(), "mine");
}

#[test]
fn an_option_that_is_masked_above_means_what_was_asked_below() {
    let fixture = Fixture::new();
    let store = fixture.store.clone().sealing(Arc::new(Flip));
    let parent = store.create_run(&new_run(alive(), json!({}))).unwrap();
    let child = NewRun { parent: Some(parent.run().clone()), ..new_run(alive(), json!({})) };
    let child = store.create_run(&child).unwrap();
    let mut asked = question(ParamType::String);
    let field: Param = serde_json::from_value(json!({"name": "tone", "type": "string",
        "options": [{"value": "hush-hush"}, {"value": "loud"}]}))
    .unwrap();
    asked.form.fields = vec![field];
    store.ask(&child, &asked).unwrap();
    let above = store.masked(Masker::new(["hush-hush"]));
    above.ask(&parent, &NewQuestion { child: Some(child.run().clone()), ..asked }).unwrap();
    above.answer(parent.run(), 0, &answer(json!({"tone": "•••"}), "cli")).unwrap();
    assert_eq!(store.answer_content(&child, 0).unwrap().unwrap().1, json!({"tone": "hush-hush"}));
}
