//! The store by itself: every one of its writes fails once, in every way.

use std::path::Path;
use std::time::{Duration, Instant};

use model::{AnswerAction, Form, InteractionKind, Origin, Param, ParamType, Report, RunId, RunStatus};
use serde_json::json;
use store::{
    DataStore, Durability, Finish, FirstStatus, JournalKind, Lease, LogStream, NewAnswer, NewJournalRow, NewQuestion,
    NewRun, Owner, RunProject, SourceFile, Store, StoreError, StoreOptions,
};

use crate::vfs::{self, Failing, Fault};
use crate::{Scene, scene};

/// What was acknowledged.
#[derive(Debug, Default)]
struct Known {
    run: Option<RunId>,
    rows: usize,
    asked: Vec<u64>,
    answered: Vec<u64>,
    ended: bool,
    logged: bool,
}

fn new_run() -> NewRun {
    NewRun {
        project: RunProject { title: "Weekly".into(), path: "/home/me/weekly".into(), ..RunProject::default() },
        entrypoint_id: "main".parse().unwrap(),
        entrypoint_title: "Main".into(),
        origin: Origin::Mcp,
        client: None,
        input: json!({ "week": 35 }),
        cli_args: Vec::new(),
        parent: None,
        owner: Owner::current(),
        launch: model::LaunchOptions::default(),
        status: FirstStatus::Running,
    }
}

fn question() -> NewQuestion {
    let field = Param {
        name: "word".into(),
        kind: ParamType::String,
        required: true,
        multiple: false,
        default: None,
        title: None,
        description: None,
        options: Vec::new(),
        minimum: None,
        maximum: None,
        min_length: None,
        max_length: None,
        pattern: None,
        format: None,
    };
    let form = Form { title: "Word".into(), message: None, fields: vec![field], approval: None };
    NewQuestion { seq: Some(2), form, kind: InteractionKind::Form, child: None, patience: None }
}

fn row(kind: JournalKind) -> NewJournalRow {
    NewJournalRow {
        kind,
        seq: Some(1),
        fingerprint: Some("f".into()),
        payload: Some(json!({ "text": "x".repeat(300) })),
    }
}

/// Does one thing, twice if need be: a caller whose write failed may try again.
fn twice<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> Option<T> {
    work().or_else(|_| work()).ok()
}

/// What a run with two questions writes.
fn write(store: &Store, known: &mut Known) {
    let Some(lease) = twice(|| store.create_run(&new_run())) else { return };
    known.run = Some(lease.run().clone());
    let files = [SourceFile { path: "main.workflow.ts".into(), text: "export default 1;\n".repeat(400) }];
    let _ = twice(|| store.keep_sources(&lease, &files));
    let mut log = store.log_writer(&lease);
    log.push(LogStream::Stdout, 0, "a line\n");
    known.logged = log.finish().is_ok();
    for _ in 0..2 {
        if twice(|| store.append_journal(&lease, &[row(JournalKind::Issue), row(JournalKind::Done)], Durability::Power))
            .is_some()
        {
            known.rows += 2;
        }
        ask(store, &lease, known);
    }
    if twice(|| store.append_journal(&lease, &[row(JournalKind::Done)], Durability::Soon)).is_some() {
        known.rows += 1;
    }
    let report = Report { output: Some(json!("done")), ..Report::default() };
    let end = || Finish { status: RunStatus::Success, report: report.clone(), cancel_reason: None, files: Vec::new() };
    known.ended = twice(|| store.finish(&lease, end())).is_some();
}

fn ask(store: &Store, lease: &Lease, known: &mut Known) {
    let Some(number) = twice(|| store.ask(lease, &question())) else { return };
    known.asked.push(number);
    let answer = NewAnswer { action: AnswerAction::Accept, content: json!({ "word": "yes" }), by: "cli".into() };
    match store.answer(lease.run(), number, &answer).or_else(|_| store.answer(lease.run(), number, &answer)) {
        // An answer whose commit seemed to fail may be there.
        Ok(()) | Err(StoreError::AlreadyAnswered { .. }) => known.answered.push(number),
        Err(_) => {}
    }
    let _ = twice(|| store.transition(lease, RunStatus::Running));
}

/// Looks that everything acknowledged is in the database.
fn missing(folder: &Path, known: &Known) -> Vec<String> {
    let mut faults = Vec::new();
    let store = Scene::open(folder);
    match store.integrity() {
        Ok(damage) => faults.extend(damage),
        Err(error) => return vec![model::with_causes(&error)],
    }
    let Some(run) = &known.run else { return faults };
    let record = match store.show(run) {
        Ok(record) => record,
        Err(error) => return vec![model::with_causes(&error)],
    };
    let rows = store.journal(run).map_or(0, |journal| journal.rows.len());
    if rows < known.rows {
        faults.push(format!("{} rows of the journal were acknowledged, and there are {rows}", known.rows));
    }
    for number in &known.asked {
        if !record.questions.iter().any(|question| question.number == *number) {
            faults.push(format!("question {number} is lost"));
        }
    }
    for number in &known.answered {
        if !record.questions.iter().any(|question| question.number == *number && question.answer.is_some()) {
            faults.push(format!("the answer to question {number} is lost"));
        }
    }
    if known.ended && record.summary.status != RunStatus::Success {
        faults.push(format!("it had ended and is {:?}", record.summary.status));
    }
    if known.logged && store.log_text(run, LogStream::Stdout).unwrap() != "a line\n" {
        faults.push("its log is lost".into());
    }
    faults
}

#[test]
fn every_write_may_fail_once_or_for_good_and_nothing_acknowledged_is_lost() {
    let _alone = scene::alone();
    let mut faults = Vec::new();
    let mut tried = 0;
    for how in [Failing::Broken, Failing::Full, Failing::Short] {
        for many in [1, u64::MAX] {
            for first in 0.. {
                let folder = scene::folder();
                let data = std::fs::canonicalize(folder.path()).unwrap();
                vfs::begin(&data, Some(Fault { how, first, many }));
                let mut known = Known::default();
                let store = Store::new(data.join("history.db"), StoreOptions::default());
                write(&store, &mut known);
                let (_, failed) = vfs::mend();
                // The same process goes on once the disk works again.
                let after = store.create_run(&new_run());
                drop(store);
                vfs::end();
                let found = missing(&data, &known);
                faults.extend(found.into_iter().map(|fault| format!("{how:?}, write {first} ({many}): {fault}")));
                if let Err(error) = after {
                    faults.push(format!("{how:?}, write {first} ({many}): afterwards: {}", model::with_causes(&error)));
                }
                assert!(faults.len() < 20, "{faults:#?}");
                if failed == 0 {
                    break;
                }
                tried += 1;
            }
        }
    }
    println!("{tried} faults");
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(tried > 300, "{tried}");
}

/// How long it takes until what was acknowledged before the last word is on the disk.
fn until_safe(file: &str, begun: Instant) -> Duration {
    while !vfs::is_safe(Path::new(file)) {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never becomes safe");
        std::thread::park_timeout(Duration::from_millis(1));
    }
    begun.elapsed()
}

#[test]
fn what_may_wait_is_on_the_disk_within_a_tenth_of_a_second_and_the_rest_at_once() {
    let _alone = scene::alone();
    let folder = scene::folder();
    let data = std::fs::canonicalize(folder.path()).unwrap();
    vfs::begin(&data, None);
    let store = Store::new(data.join("history.db"), StoreOptions::default());
    let lease = store.create_run(&new_run()).unwrap();
    let pairs = DataStore::new(&data.join("kv"), StoreOptions::default());
    pairs.kv_set("first", &json!(0)).unwrap();
    let (log, pairs_log) = ("history.db-wal", "kv/data.db-wal");
    for durability in [Durability::Power, Durability::Soon] {
        let mut took = Vec::new();
        for number in 0..12_u64 {
            store.append_journal(&lease, &[row(JournalKind::Done)], durability).unwrap();
            vfs::told("acknowledged");
            let begun = Instant::now();
            if durability == Durability::Power {
                assert!(vfs::is_safe(Path::new(log)), "told before it was on the disk");
                continue;
            }
            if number % 3 == 2 {
                // Also while others write without a pause, which are in no hurry.
                for _ in 0..20 {
                    store.append_journal(&lease, &[row(JournalKind::Issue)], Durability::Process).unwrap();
                }
            }
            took.push(until_safe(log, begun));
            pairs.kv_set("key", &json!(number)).unwrap();
            vfs::told("acknowledged");
            took.push(until_safe(pairs_log, Instant::now()));
        }
        // A busy machine may keep a thread waiting; the product's own clock is what is tested.
        took.sort();
        if let Some(quickest) = took.first() {
            assert!(*quickest <= Duration::from_millis(100), "{took:?}");
        }
    }
    drop((store, pairs));
    vfs::end();
}
