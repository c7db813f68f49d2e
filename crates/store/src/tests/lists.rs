//! Lists and searches, and the way SQLite goes through them.

use ::model::{EntrypointId, Origin, RunStatus};
use rusqlite::types::Value as Sql;
use serde_json::json;

use super::runs::ends;
use super::{Fixture, START, new_run, run};
use crate::interactions::{EXPIRED, open_sql};
use crate::runs::{SEEK, WALK, list_sql, search_sql};
use crate::schema::DATA;
use crate::{LogStream, NewRun, RunFilter, Seeding, Store, data, registry, retention, seed_runs};

fn every_filter() -> Vec<RunFilter> {
    let mut filters = vec![RunFilter::default()];
    let with = |filters: &mut Vec<RunFilter>, set: &dyn Fn(&mut RunFilter)| {
        for mut filter in filters.clone() {
            set(&mut filter);
            filters.push(filter);
        }
    };
    with(&mut filters, &|filter| filter.project = Some("seed0001".into()));
    with(&mut filters, &|filter| filter.status = Some(RunStatus::Failed));
    with(&mut filters, &|filter| filter.entrypoint = Some("main".parse::<EntrypointId>().unwrap()));
    with(&mut filters, &|filter| filter.origin = Some(Origin::Mcp));
    with(&mut filters, &|filter| filter.client = Some("cursor".into()));
    with(&mut filters, &|filter| filter.parent = "20260101-abcd".parse().ok());
    with(&mut filters, &|filter| filter.since = Some(START - 500_000));
    with(&mut filters, &|filter| filter.until = Some(START - 100_000));
    filters
}

fn plan(store: &Store, sql: &str, values: &[Sql]) -> Vec<String> {
    store
        .database
        .read(|connection| {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            let mut plan = Vec::new();
            while let Some(row) = rows.next()? {
                plan.push(row.get::<_, String>(3)?);
            }
            Ok(plan)
        })
        .unwrap()
}

/// Every step follows an index, and nothing is sorted.
fn check(store: &Store, sql: &str, values: &[Sql]) {
    let plan = plan(store, sql, values);
    assert!(!plan.is_empty());
    for step in &plan {
        let walks = step.starts_with("SEARCH ")
            || step.contains("VIRTUAL TABLE INDEX")
            || step.contains("SUBQUERY")
            // A whole index, in its order, until the page is full.
            || step == "SCAN runs USING INDEX runs_by_time"
            || step == "SCAN projects USING INDEX projects_listed";
        assert!(walks && !step.contains("TEMP B-TREE"), "{sql}\n{plan:#?}");
    }
}

#[test]
fn every_list_goes_along_an_index() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let text = |text: &str| Sql::Text(text.into());
    let number = Sql::Integer;
    for filter in every_filter() {
        for after in [None, Some((START, 5))] {
            let (sql, values) = list_sql(&filter, after, 50);
            check(store, &sql, &values);
            let (sql, values) = search_sql("\"invoice\"", &filter, after.map(|(_, key)| key));
            check(store, &sql, &values);
        }
    }
    check(store, SEEK, &[text("invoice"), number(9), number(4)]);
    check(store, WALK, &[text("inv*"), number(9)]);
    check(store, registry::LIST, &[]);
    check(store, registry::RELATIONS, &[text("a")]);
    check(store, registry::RUNNING, &[text("a"), number(1)]);
    check(store, retention::OLDEST, &[text("a"), number(0), number(0), number(9)]);
    check(store, crate::runs::UNFINISHED, &[]);
    check(store, &open_sql(), &[number(1)]);
    check(store, EXPIRED, &[number(1), number(1)]);

    let values = Store::with_schema(fixture.folder.path().join("data.db"), DATA, fixture.options.clone());
    check(&values, data::KV_LIST, &[text("a")]);
    check(&values, data::KNOWLEDGE_LIST, &[text("a"), number(1)]);
    check(&values, data::KNOWLEDGE_SEARCH, &[text("a"), text("b")]);
}

#[test]
fn pages_hold_what_a_filter_says_and_meet() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    seed_runs(store, Seeding { runs: 1_000, projects: 5, until: START }).unwrap();
    let all = store.list_runs(&RunFilter::default(), None, 10_000).unwrap();
    assert_eq!(all.len(), 1_000);
    assert!(all.is_sorted_by(|newer, older| newer.created_at > older.created_at));
    let mut some = 0;
    for filter in every_filter() {
        let expected: Vec<_> = all
            .iter()
            .filter(|run| filter.project.as_ref().is_none_or(|project| *project == run.project))
            .filter(|run| filter.status.is_none_or(|status| status == run.status))
            .filter(|run| filter.entrypoint.as_ref().is_none_or(|id| *id == run.entrypoint_id))
            .filter(|run| filter.origin.is_none_or(|origin| origin == run.origin))
            .filter(|run| filter.client.is_none() || filter.client == run.client)
            .filter(|run| filter.parent.is_none() || filter.parent == run.parent)
            .filter(|run| filter.since.is_none_or(|since| run.created_at >= since))
            .filter(|run| filter.until.is_none_or(|until| run.created_at < until))
            .map(|run| run.run_id.clone())
            .collect();
        let mut listed = Vec::new();
        loop {
            let page = store.list_runs(&filter, listed.last(), 37).unwrap();
            if page.is_empty() {
                break;
            }
            listed.extend(page.into_iter().map(|run| run.run_id));
        }
        assert_eq!(listed, expected, "{filter:?}");
        some += usize::from(!expected.is_empty());
    }
    assert!(some > 50, "the filters find something");
}

#[test]
fn runs_of_the_same_moment_are_not_lost_between_pages() {
    let fixture = Fixture::new();
    let made: Vec<_> = (0..10).map(|_| fixture.store.create_run(&run()).unwrap().run().clone()).collect();
    let mut listed = Vec::new();
    while let Some(page) =
        Some(fixture.store.list_runs(&RunFilter::default(), listed.last(), 3).unwrap()).filter(|page| !page.is_empty())
    {
        listed.extend(page.into_iter().map(|run| run.run_id));
    }
    listed.reverse();
    assert_eq!(listed, made);
}

#[test]
fn a_search_finds_ids_input_output_logs_and_cjk() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&new_run(super::alive(), json!({ "text": "如何运行项目", "n": "Müller" }))).unwrap();
    let mut log = store.log_writer(&lease);
    log.push(LogStream::Stderr, START, "warning: flugz");
    log.push(LogStream::Stderr, START, "eug landed\n");
    log.finish().unwrap();
    let other = store.create_run(&run()).unwrap();
    store.finish(&lease, ends(RunStatus::Success, Some(json!({ "said": "antwort" })))).unwrap();

    let search = |text: &str| -> Vec<String> {
        let found = store.search_runs(text, &RunFilter::default(), None, 10).unwrap();
        found.into_iter().map(|run| run.run_id.to_string()).collect()
    };
    let (id, other_id) = (lease.run().to_string(), other.run().to_string());
    for text in [
        id.as_str(),
        &id[9..],
        "运行",
        "运",
        "muller",
        "MÜLLER",
        "flugzeug",
        "flugz",
        "antwort",
        "antwort 运行 flugzeug",
        "flugzeug antwort 运",
        "antwort flug",
        "\"antwort\" - *",
    ] {
        assert_eq!(search(text), std::slice::from_ref(&id), "{text}");
    }
    for text in [
        "行运",
        "antwort nothing",
        "flug nothing",
        "nothing flugzeug",
        "",
        "\"",
        "* OR",
        "text:antwort",
        "NEAR(",
        "a\0b",
    ] {
        assert_eq!(search(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(search("main"), [other_id.clone(), id.clone()]);
    for text in ["main", "main weekly", "mai", "main weekl"] {
        let page = store.search_runs(text, &RunFilter::default(), Some(other.run()), 10).unwrap();
        assert_eq!(
            page.iter().map(|run| run.run_id.to_string()).collect::<Vec<_>>(),
            std::slice::from_ref(&id),
            "{text}"
        );
    }
    let filter = RunFilter { status: Some(RunStatus::Running), ..RunFilter::default() };
    for text in ["main", "main weekly", "mai", "main weekl"] {
        let filtered = store.search_runs(text, &filter, None, 10).unwrap();
        assert_eq!(
            filtered.iter().map(|run| run.run_id.to_string()).collect::<Vec<_>>(),
            std::slice::from_ref(&other_id),
            "{text}"
        );
    }
}

#[test]
fn several_words_find_what_each_of_them_finds() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    seed_runs(store, Seeding { runs: 3_000, projects: 5, until: START }).unwrap();
    let all = RunFilter::default();
    let search = |text: &str| -> Vec<String> {
        let found = store.search_runs(text, &all, None, 10_000).unwrap();
        found.into_iter().map(|run| run.run_id.to_string()).collect()
    };
    for (text, others) in [
        ("invoice weekly", ["invoice", "weekly", "weekly"]),
        ("运行 报告 codex", ["运行", "报告", "codex"]),
        ("contract 99 ledger", ["contract", "99", "ledger"]),
        ("review customer shipment", ["review", "customer", "shipment"]),
        ("invoice quali", ["invoice", "quality", "quality"]),
        ("naïve меню arch", ["naïve", "меню", "archive"]),
    ] {
        let mut expected = search(others[0]);
        for other in &others[1..] {
            let these: std::collections::HashSet<String> = search(other).into_iter().collect();
            expected.retain(|run| these.contains(run));
        }
        assert_eq!(search(text), expected, "{text}");
        let mut paged: Vec<String> = Vec::new();
        loop {
            let before = paged.last().map(|run| run.parse().unwrap());
            let page = store.search_runs(text, &all, before.as_ref(), 7).unwrap();
            if page.is_empty() {
                break;
            }
            paged.extend(page.into_iter().map(|run| run.run_id.to_string()));
        }
        assert_eq!(paged, expected, "{text}, by pages");
    }
    assert!(search("review customer shipment").len() > 20);
}

#[test]
fn children_are_listed_by_their_parent() {
    let fixture = Fixture::new();
    let parent = fixture.store.create_run(&run()).unwrap();
    let child = fixture
        .store
        .create_run(&NewRun { parent: Some(parent.run().clone()), origin: Origin::Related, ..run() })
        .unwrap();
    assert_eq!(fixture.store.show(parent.run()).unwrap().children, [child.run().clone()]);
    let filter = RunFilter { parent: Some(parent.run().clone()), ..RunFilter::default() };
    assert_eq!(fixture.store.list_runs(&filter, None, 9).unwrap().len(), 1);
}

#[test]
fn runs_of_a_plain_folder_are_listed_by_uuid() {
    let fixture = Fixture::new();
    let mut new = run();
    new.project.id = None;
    let lease = fixture.store.create_run(&new).unwrap();
    let filter = RunFilter { project: new.project.uuid.clone(), ..RunFilter::default() };
    let listed = fixture.store.list_runs(&filter, None, 9).unwrap();
    assert_eq!((listed.len(), listed[0].registered), (1, false));
    assert_eq!(listed[0].run_id, *lease.run());
}
