//! Retention.

use ::model::RunStatus;
use serde_json::json;
use std::time::Duration;

use super::interactions::question;
use super::runs::ends;
use super::{Fixture, START, new_run, run};
use crate::{LogStream, Retention, RunFilter};

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn only_what_may_go_goes() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let finished = || {
        let lease = store.create_run(&run()).unwrap();
        let mut log = store.log_writer(&lease);
        log.push(LogStream::Stdout, START, "hello");
        log.finish().unwrap();
        store.finish(&lease, ends(RunStatus::Success, Some(json!("findable")))).unwrap();
        fixture.clock.advance(1_000);
        lease
    };
    let running = store.create_run(&run()).unwrap();
    let waiting = store.create_run(&run()).unwrap();
    store.ask(&waiting, &question(::model::ParamType::String)).unwrap();
    let pinned = finished();
    store.pin(pinned.run(), true).unwrap();
    let runs: Vec<_> = (0..60).map(|_| finished()).collect();
    assert_eq!(store.usage("proj1").unwrap().0, 63);

    let keep = Retention { not_before: Some(START + 41_000), ..Retention::default() };
    let none = store.prune(Some("proj1"), keep, Duration::ZERO).unwrap();
    assert_eq!((none.runs, none.complete), (0, false));
    let would = store.would_prune("proj1", keep).unwrap();
    assert_eq!((would.runs, store.usage("proj1").unwrap().0), (40, 63), "counted, and nothing deleted");
    let created = |run: &::model::RunId| store.path().parent().unwrap().join("created").join(run.as_str());
    for run in [runs[0].run(), runs[40].run(), runs[59].run()] {
        std::fs::create_dir_all(created(run)).unwrap();
        std::fs::write(created(run).join("page.html"), "made").unwrap();
    }
    let pruned = store.prune(Some("proj1"), keep, HOUR).unwrap();
    assert_eq!((pruned.runs, pruned.complete), (40, true));
    assert!(!created(runs[0].run()).exists() && created(runs[40].run()).join("page.html").exists());
    store.delete_run(runs[59].run()).unwrap();
    assert!(!created(runs[59].run()).exists());
    assert!(pruned.bytes > 0 && pruned.bytes == would.bytes);
    assert_eq!(store.would_prune("proj1", keep).unwrap().runs, 0);
    for kept in [&running, &waiting, &pinned, &runs[40]] {
        store.run(kept.run()).unwrap();
    }
    assert!(store.run(runs[39].run()).is_err());

    let keep = Retention { most_runs: Some(10), ..Retention::default() };
    assert_eq!(store.would_prune("proj1", keep).unwrap().runs, 12);
    assert_eq!(store.recorded_projects().unwrap(), ["proj1"]);
    assert_eq!(store.prune(None, keep, HOUR).unwrap().runs, 12);
    assert_eq!(store.usage("proj1").unwrap().0, 10);

    let size = store.usage("proj1").unwrap().1;
    let keep = Retention { most_bytes: Some(size - 1), ..Retention::default() };
    assert_eq!(store.prune(None, keep, HOUR).unwrap().runs, 1);
    let keep = Retention { most_bytes: Some(0), ..Retention::default() };
    store.prune(None, keep, HOUR).unwrap();
    assert_eq!(store.usage("proj1").unwrap().0, 3, "what may not go stays, whatever its size");

    // Nothing of the deleted is left anywhere.
    let raw = fixture.raw();
    for table in ["bodies", "stages", "log_chunks", "log_totals"] {
        let left: i64 = raw
            .query_row(&format!("SELECT count(*) FROM {table} WHERE run NOT IN (SELECT key FROM runs)"), [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(left, 0, "{table}");
    }
    let found = store.search_runs("findable", &RunFilter::default(), None, 99).unwrap();
    assert_eq!(found.len(), 1, "the pinned run");
    let texts: i64 = raw
        .query_row("SELECT count(*) FROM run_text WHERE run_text MATCH 'findable OR hello'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(texts, 2);
}

#[test]
fn usage_counts_what_is_stored() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&new_run(super::alive(), json!("x".repeat(500)))).unwrap();
    let (runs, bytes) = store.usage("proj1").unwrap();
    assert_eq!(runs, 1);
    assert!(bytes > 500);
    let mut log = store.log_writer(&lease);
    log.push(LogStream::Stdout, START, &"y".repeat(900));
    log.finish().unwrap();
    assert!(store.usage("proj1").unwrap().1 > bytes + 900);
    store.finish(&lease, ends(RunStatus::Success, None)).unwrap();
    assert_eq!(store.show(lease.run()).unwrap().bytes, store.usage("proj1").unwrap().1);
}

#[test]
fn one_process_prunes_a_day() {
    let fixture = Fixture::new();
    let day = 24 * HOUR;
    assert!(fixture.store.claim_pruning(day).unwrap());
    assert!(!fixture.another().claim_pruning(day).unwrap());
    fixture.clock.advance(86_400_000);
    assert!(fixture.another().claim_pruning(day).unwrap());
    // A clock that was wrong by years and was put right.
    fixture.clock.advance(86_400_000 * 400);
    assert!(!fixture.store.claim_pruning(day).unwrap());
    fixture.clock.advance(-86_400_000 * 400);
    assert!(!fixture.store.claim_pruning(day).unwrap(), "it is still the same day");
    fixture.clock.advance(-86_400_000 * 400);
    assert!(fixture.store.claim_pruning(day).unwrap());
}
