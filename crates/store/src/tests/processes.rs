//! Several processes and threads on one database.

use ::model::RunStatus;
use serde_json::json;
use std::process::{Child, Stdio};

use super::runs::ends;
use super::{Fixture, START, new_run};
use crate::{Durability, JournalKind, LogStream, NewJournalRow, Owner, RunFilter, Store, StoreOptions};

/// Tells the child which database to write. Set only on the child.
const PLACE: &str = "STORE_TEST_DATABASE";
const RUNS: usize = 60;

fn write_runs(store: &Store, count: usize) {
    for n in 0..count {
        let lease = store.create_run(&new_run(Owner::current(), json!({ "n": n }))).unwrap();
        let mut log = store.log_writer(&lease);
        log.push(LogStream::Stdout, START, "a line\n");
        log.finish().unwrap();
        let row = NewJournalRow { kind: JournalKind::Done, seq: Some(0), fingerprint: None, payload: Some(json!(n)) };
        let durability = if n % 16 == 0 { Durability::Power } else { Durability::Soon };
        store.append_journal(&lease, &[row], durability).unwrap();
        store.finish(&lease, ends(RunStatus::Success, Some(json!(n)))).unwrap();
        // What was acknowledged is what a crash must keep.
        println!("done {}", lease.run());
    }
}

/// The body of the child process; does nothing when the tests are run as such.
#[test]
fn child_writer() {
    #[expect(clippy::disallowed_methods, reason = "the child is told by its environment")]
    let place = std::env::var(PLACE);
    if let Ok(path) = place {
        let count = if path.ends_with("endless.db") { usize::MAX } else { RUNS };
        write_runs(&Store::open(path, StoreOptions::default()).unwrap(), count);
    }
}

fn child(path: &std::path::Path) -> Child {
    #[expect(clippy::disallowed_methods, reason = "a test of several processes starts itself")]
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::processes::child_writer", "--nocapture", "--test-threads=1"])
        .env(PLACE, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn integrity(fixture: &Fixture) {
    let raw = fixture.raw();
    let said: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
    raw.execute_batch("INSERT INTO run_text (run_text) VALUES ('integrity-check')").unwrap();
    let (rows, counted): (i64, i64) = raw
        .query_row("SELECT (SELECT count(*) FROM runs), (SELECT sum(runs) FROM usage)", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(rows, counted);
    assert_eq!(fixture.store.integrity().unwrap(), Vec::<String>::new());
}

#[test]
fn processes_and_threads_write_at_once_and_nothing_is_lost() {
    let fixture = Fixture::new();
    let children: Vec<Child> = (0..3).map(|_| child(&fixture.path())).collect();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            // Threads of one process share a writer, and so commits.
            let store = fixture.store.clone();
            scope.spawn(move || write_runs(&store, RUNS));
        }
    });
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let runs = fixture.store.list_runs(&RunFilter::default(), None, 10_000).unwrap();
    assert_eq!(runs.len(), 6 * RUNS);
    assert!(runs.iter().all(|run| run.status == RunStatus::Success));
    for run in &runs {
        assert_eq!(fixture.store.log_text(&run.run_id, LogStream::Stdout).unwrap(), "a line\n");
        assert_eq!(fixture.store.journal(&run.run_id).unwrap().rows.len(), 1);
    }
    integrity(&fixture);
}

#[test]
fn a_killed_process_loses_nothing_that_was_acknowledged() {
    use std::io::{BufRead as _, BufReader};
    let mut fixture = Fixture::new();
    let path = fixture.folder.path().join("endless.db");
    fixture.options.is_alive = StoreOptions::default().is_alive;
    for lines in [1, 7, 40] {
        let mut child = child(&path);
        let mut acknowledged = Vec::new();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        while acknowledged.len() < lines
            && let Some(line) = out.next()
        {
            acknowledged.extend(line.unwrap().split("done ").nth(1).map(str::to_owned));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(acknowledged.len(), lines);

        let store = Store::open(&path, fixture.options.clone()).unwrap();
        for run in &acknowledged {
            let shown = store.show(&run.parse().unwrap()).unwrap();
            assert_eq!(shown.summary.status, RunStatus::Success);
            assert!(shown.report.output.is_some());
        }
        // At most one run was under way; it is told apart from those that have ended.
        assert!(store.mark_interrupted().unwrap().len() <= 1);
        for status in [RunStatus::Running, RunStatus::Queued] {
            let filter = RunFilter { status: Some(status), ..RunFilter::default() };
            assert_eq!(store.list_runs(&filter, None, 9).unwrap(), []);
        }
        fixture.store = store;
        integrity(&fixture);
    }
}

#[test]
fn many_threads_share_commits_and_fail_alone() {
    let fixture = Fixture::new();
    let stale = fixture.store.create_run(&new_run(super::dead(), json!({}))).unwrap();
    fixture.store.take_over(stale.run(), &super::alive(), None).unwrap();
    let mut watch = fixture.store.watch().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let (store, stale) = (fixture.store.clone(), &stale);
            scope.spawn(move || {
                for _ in 0..20 {
                    store.create_run(&super::run()).unwrap();
                    store.transition(stale, RunStatus::Running).unwrap_err();
                }
            });
        }
    });
    assert_eq!(fixture.store.list_runs(&RunFilter::default(), None, 10_000).unwrap().len(), 321);
    let changes = watch.poll().unwrap().unwrap();
    assert_eq!((changes.items.len(), changes.gap), (320, false));
    assert_eq!(watch.poll().unwrap(), None);
}
