//! Lists and searches, and the way SQLite goes through them.

use ::model::{EntrypointId, Origin, RunStatus};
use rusqlite::types::Value as Sql;
use serde_json::json;

use super::runs::ends;
use super::{Fixture, START, new_run, run};
use crate::interactions::{EXPIRED, open_sql};
use crate::runs::{
    AT_NODE, HITS, NEWEST, PART_OF, SEEK, TERM, UNENDED, WALK, between_sql, count_sql, list_sql, page_sql, search,
    search_sql,
};
use crate::schema::DATA;
use crate::text::words;
use crate::{LogStream, NewRun, RunFilter, RunPlace, Seeding, Store, data, registry, retention, seed_runs};

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

/// The same, each with what only pages know.
fn every_page() -> Vec<RunFilter> {
    let mut filters = every_filter();
    for filter in every_filter() {
        filters.push(RunFilter { longer_than: Some(20_000), shorter_than: Some(40_000), ..filter.clone() });
        filters.push(RunFilter { pinned: Some(true), ..filter.clone() });
        filters.push(RunFilter { pinned: Some(false), ..filter });
    }
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
            || step == "SCAN runs USING INDEX runs_by_pinned"
            || step == "SCAN runs USING COVERING INDEX runs_by_pinned"
            // What a counting query counts, a bounded number of entries of an index.
            || step.starts_with("CO-ROUTINE")
            || step.starts_with("SCAN (subquery")
            || step == "SCAN runs USING COVERING INDEX runs_by_time"
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
    for filter in every_page() {
        for after in [None, Some(RunPlace { at: START, key: 5 })] {
            let (sql, values) = page_sql(&filter, after);
            check(store, &sql, &values);
        }
        if filter.is_covered() {
            let (sql, values) = count_sql(&filter);
            check(store, &sql, &values);
        }
        for failed in [false, true] {
            let (sql, values) = between_sql(&RunFilter { since: Some(START), ..filter.clone() }, failed);
            check(store, &sql, &values);
        }
    }
    check(store, UNENDED, &[]);
    check(store, AT_NODE, &[number(1), number(0)]);
    check(store, PART_OF, &[text("invoice"), number(9), number(10)]);
    check(store, SEEK, &[text("invoice"), number(9), number(4)]);
    check(store, WALK, &[text("inv*"), number(9)]);
    check(store, NEWEST, &[]);
    check(store, TERM, &[text("inv")]);
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
fn a_page_of_several_states_holds_what_one_look_at_all_would() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    seed_runs(store, Seeding { runs: 2_000, projects: 5, until: START }).unwrap();
    let all = store.list_runs(&RunFilter::default(), None, 10_000).unwrap();
    for run in all.iter().step_by(97) {
        store.pin(&run.run_id, true).unwrap();
    }
    let all = store.list_runs(&RunFilter::default(), None, 10_000).unwrap();
    let states = [RunStatus::Failed, RunStatus::Timeout, RunStatus::Interrupted];
    let mut found = 0;
    for base in every_page().into_iter().filter(|filter| filter.status.is_none() && filter.parent.is_none()) {
        let filter = RunFilter { any_status: states.to_vec(), ..base };
        let expected: Vec<_> = all
            .iter()
            .filter(|run| states.contains(&run.status))
            .filter(|run| filter.project.as_ref().is_none_or(|project| *project == run.project))
            .filter(|run| filter.entrypoint.as_ref().is_none_or(|id| *id == run.entrypoint_id))
            .filter(|run| filter.origin.is_none_or(|origin| origin == run.origin))
            .filter(|run| filter.client.is_none() || filter.client == run.client)
            .filter(|run| filter.since.is_none_or(|since| run.created_at >= since))
            .filter(|run| filter.until.is_none_or(|until| run.created_at < until))
            .filter(|run| filter.longer_than.is_none_or(|most| run.duration_ms().is_some_and(|took| took > most)))
            .filter(|run| filter.shorter_than.is_none_or(|most| run.duration_ms().is_some_and(|took| took < most)))
            .filter(|run| filter.pinned.is_none_or(|pinned| pinned == run.pinned))
            .map(|run| run.run_id.clone())
            .collect();
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = store.page_runs(&filter, after, 7).unwrap();
            assert!(page.complete && page.rows.len() <= 7);
            paged.extend(page.rows.iter().map(|row| row.summary.run_id.clone()));
            let Some(next) = page.next else { break };
            assert_eq!(next.to_string().parse(), Ok(next));
            after = Some(next);
        }
        assert_eq!(paged, expected, "{filter:?}");
        if let Some(count) = store.count_runs(&filter).unwrap() {
            assert_eq!(count, expected.len() as u64, "{filter:?}");
        }
        found += usize::from(!expected.is_empty());
    }
    assert!(found > 30, "the filters find something");
    assert_eq!(store.count_runs(&RunFilter::default()).unwrap(), Some(2_000));
    assert_eq!("x.y".parse::<RunPlace>(), Err(crate::NoPlace));
}

#[test]
fn a_page_gives_up_in_time_and_goes_on_from_there() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    seed_runs(store, Seeding { runs: 45_000, projects: 5, until: START }).unwrap();
    // Only the oldest run took so long.
    let oldest = store.list_runs(&RunFilter::default(), None, 10_000).unwrap();
    assert_eq!(oldest.len(), 10_000);
    fixture.raw().execute("UPDATE runs SET finished_at = created_at + 9000000 WHERE key = 1", []).unwrap();
    let filter = RunFilter { longer_than: Some(8_000_000), ..RunFilter::default() };
    let (mut pages, mut after, mut rows) = (0, None, 0);
    loop {
        let page = store.page_runs(&filter, after, 50).unwrap();
        pages += 1;
        rows += page.rows.len();
        assert_eq!(page.complete, page.next.is_none());
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!((pages, rows), (3, 1));
}

#[test]
fn days_are_counted_with_and_without_an_index_for_all_of_it() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    seed_runs(store, Seeding { runs: 3_000, projects: 5, until: START }).unwrap();
    let moments = [START - 3_000_000, START - 2_000_000, START - 1_000_000, START];
    let all = store.list_runs(&RunFilter::default(), None, 10_000).unwrap();
    for filter in every_page().into_iter().filter(|filter| filter.parent.is_none()) {
        let counted = store.count_between(&filter, &moments).unwrap();
        let mut expected = [(0, 0); 3];
        let mut after = None;
        loop {
            let page = store.page_runs(&filter, after, 1_000).unwrap();
            for run in page.rows.iter().map(|row| &row.summary) {
                let day = moments.partition_point(|moment| *moment <= run.created_at);
                if let Some(day) = day.checked_sub(1).and_then(|day| expected.get_mut(day)) {
                    day.0 += 1;
                    day.1 += u64::from(matches!(run.status, RunStatus::Failed | RunStatus::Timeout));
                }
            }
            let Some(next) = page.next else { break };
            after = Some(next);
        }
        let counted: Vec<(u64, u64)> = counted.iter().map(|one| (one.runs, one.failed)).collect();
        assert_eq!(counted, expected, "{filter:?}");
    }
    assert_eq!(all.len(), 3_000);
}

#[test]
fn a_search_by_pages_says_where_the_words_are() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let lease = store.create_run(&new_run(super::alive(), json!({ "text": "如何运行项目" }))).unwrap();
    let mut log = store.log_writer(&lease);
    for n in 0..5_000 {
        log.push(LogStream::Stdout, START, &format!("line {n} with some more words to fill the chunk\n"));
    }
    log.push(LogStream::Stderr, START, "at last the Flugzeug landed\n");
    log.finish().unwrap();
    store.finish(&lease, ends(RunStatus::Success, Some(json!({ "said": "antwort" })))).unwrap();
    for (text, part, shown) in [
        ("运行", crate::FoundPart::Input, "运行"),
        ("antwort", crate::FoundPart::Output, "antwort"),
        ("flugzeug", crate::FoundPart::Log, "Flugzeug"),
        ("flugz", crate::FoundPart::Log, "Flugz"),
        ("4999", crate::FoundPart::Log, "4999"),
        ("main", crate::FoundPart::Entrypoint, "Main"),
        (&lease.run().as_str()[9..], crate::FoundPart::Id, &lease.run().as_str()[9..]),
    ] {
        let page = store.page_search(text, &RunFilter::default(), None, 10).unwrap();
        assert_eq!((page.rows.len(), page.complete, page.next), (1, true, None), "{text}");
        let found = store.where_found(&page.rows, text).unwrap().remove(0).unwrap();
        let units: Vec<u16> = found.text.encode_utf16().collect();
        let hit = String::from_utf16(&units[found.start..found.start + found.length]).unwrap();
        assert_eq!((found.part, hit.as_str()), (part, shown), "{text}");
    }
    let find = |text: &str, case: bool, regex: bool, stream: Option<LogStream>| {
        let pattern = crate::LogPattern::new(text, case, regex).unwrap();
        let hits = store.find_in_log(lease.run(), &pattern, stream, 3).unwrap();
        (hits.positions, hits.total)
    };
    assert_eq!(find("LINE 499", false, false, None), (vec![499, 4990, 4991], 11));
    assert_eq!(find("LINE 499", true, false, None), (vec![], 0), "case counts");
    assert_eq!(find("^line 4[0-9]{2} with.*chunk$", true, true, None).1, 100, "an end of a line is one");
    assert_eq!(find("flugzeug (", false, false, Some(LogStream::Stderr)).1, 0, "no pattern, a text");
    assert_eq!(find("FLUGZEUG", false, false, Some(LogStream::Stdout)).1, 0);
    assert_eq!(find("", false, true, None).1, 0, "nothing finds nothing");
    assert!(crate::LogPattern::new("flugzeug (", false, true).is_err_and(|why| why.contains("unclosed group")));
    assert!(crate::LogPattern::new(&"x".repeat(1_001), false, false).is_err());
    let sizes = store.run_sizes(lease.run()).unwrap();
    assert_eq!((sizes.log_entries, sizes.output_bytes), (5_001, r#"{"said":"antwort"}"#.len() as u64));
}

#[test]
fn rows_have_their_stages_what_they_are_at_and_why_they_failed() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let failed = store.create_run(&run()).unwrap();
    let mut end = ends(RunStatus::Failed, None);
    end.report.error = Some(::model::RunError::new(::model::ErrorCode::ScriptError, "first line\nsecond"));
    store.finish(&failed, end).unwrap();
    let running = store.create_run(&run()).unwrap();
    let node = |id, kind, title: &str, status| ::model::Node {
        id,
        parent: None,
        kind,
        title: title.into(),
        status,
        started_at: Some(START),
        finished_at: None,
        detail: None,
    };
    use ::model::{NodeKind, NodeStatus};
    let nodes = [
        node(1, NodeKind::Step, "First", NodeStatus::Success),
        node(2, NodeKind::Phase, "Publish", NodeStatus::Running),
        node(3, NodeKind::Command, "printf published", NodeStatus::WaitingForInput),
        node(4, NodeKind::Form, "Run printf?", NodeStatus::WaitingForInput),
    ];
    store.upsert_nodes(&running, &nodes).unwrap();
    let ids = [failed.run().clone(), "20200101-zzzzz".parse().unwrap(), running.run().clone()];
    let entries = store.entries(&ids).unwrap();
    assert_eq!(entries.len(), 2);
    let details = store.row_details(&entries).unwrap();
    assert_eq!(details[0].error.as_deref(), Some("first line"));
    assert_eq!(details[0].stages.last().map(|stage| stage.status), Some(RunStatus::Failed));
    assert_eq!((details[1].at_phase.as_deref(), details[1].nodes), (Some("Publish"), (1, 4)));
    assert_eq!(details[1].at_step.as_deref(), Some("printf published"), "a program is no phase");
    assert_eq!(store.unended().unwrap(), [("proj1".to_owned(), RunStatus::Running)]);
}

#[test]
fn one_run_is_deleted_unless_somebody_has_it() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let running = store.create_run(&run()).unwrap();
    let ended = store.create_run(&run()).unwrap();
    store.finish(&ended, ends(RunStatus::Success, None)).unwrap();
    store.pin(ended.run(), true).unwrap();
    assert!(matches!(store.delete_run(running.run()), Err(crate::StoreError::Running { .. })));
    store.delete_run(ended.run()).unwrap();
    assert!(matches!(store.delete_run(ended.run()), Err(crate::StoreError::NoSuchRun { .. })));
    assert_eq!(store.usage_of_all().unwrap().first().map(|(_, runs, _)| *runs), Some(1));
}

#[test]
fn settings_of_the_window_are_kept_and_told_of() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let before = store.last_change().unwrap();
    let set = |name: &str, value| store.set_app_settings(&[(name.to_owned(), value)]).unwrap();
    set("theme", Some(json!("dark")));
    set("textSize", Some(json!(125)));
    let all = set("theme", None);
    assert_eq!(serde_json::Value::Object(all), json!({ "textSize": 125 }));
    assert_eq!(fixture.another().app_settings().unwrap().len(), 1);
    let told = store.changes_since(before, 10).unwrap();
    assert_eq!(told.items.iter().map(|change| change.what.as_str()).collect::<Vec<_>>(), ["settings"; 3]);
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
fn a_beginning_finds_every_word_that_it_may_become() {
    let fixture = Fixture::new();
    let store = &fixture.store;
    let made: Vec<_> = (0..600)
        .map(|n| {
            let text = format!("w{n:03} say-w{n:03} {}", if n % 2 == 0 { "even" } else { "odd" });
            store.create_run(&new_run(super::alive(), json!({ "text": text }))).unwrap().run().clone()
        })
        .collect();
    store.create_run(&new_run(super::alive(), json!({ "text": "wagon" }))).unwrap();
    let begins = |with: &str, step: usize| -> Vec<::model::RunId> {
        let some = (0..made.len()).rev().filter(|n| n % step == 0 && format!("w{n:03}").starts_with(with));
        some.map(|n| made[n].clone()).collect()
    };
    let search = |text: &str| -> Vec<::model::RunId> {
        let found = store.search_runs(text, &RunFilter::default(), None, 10_000).unwrap();
        found.into_iter().map(|run| run.run_id).collect()
    };
    // More words begin with the first than are looked up one by one.
    for (typed, with) in
        [("say-w", "w"), ("W01", "w01"), ("w12", "w12"), ("say_w5", "w5"), ("w599", "w599"), ("w6", "w6")]
    {
        assert_eq!(search(typed), begins(with, 1), "{typed}");
    }
    for (typed, with) in [("even say-w", "w"), ("even w01", "w01"), ("even w599", "w599x"), ("say even W3", "w3")] {
        assert_eq!(search(typed), begins(with, 2), "{typed}");
    }
    assert_eq!(search("w").len(), made.len() + 1);
    assert_eq!((search("wag").len(), search("say-wag").len(), search("wagons").len()), (1, 0, 0));
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
    seed_runs(store, Seeding { runs: 8_000, projects: 5, until: START }).unwrap();
    let failed = RunFilter { status: Some(RunStatus::Failed), ..RunFilter::default() };
    let of_project = RunFilter { project: Some("seed0001".to_owned()), ..RunFilter::default() };
    // Words of all runs, of every third, of every thousandth, of none; together those of a rare and a frequent one.
    for (text, others) in [
        ("invoice weekly", &["invoice", "weekly"][..]),
        ("运行 报告 codex", &["运行", "报告", "codex"]),
        ("contract 99 ledger", &["contract", "99", "ledger"]),
        ("done 995", &["done", "995"]),
        ("weekly 995 done 995", &["weekly", "995", "done"]),
        ("995 996", &["995", "996"]),
        ("7995 done", &["7995", "done"]),
        ("review customer shipment", &["review", "customer", "shipment"]),
        ("invoice quali", &["invoice", "quality"]),
        ("naïve меню arch", &["naïve", "меню", "archive"]),
        ("invoice nowhere", &["nowhere"]),
    ] {
        for filter in [&RunFilter::default(), &failed, &of_project] {
            let search = |text: &str| -> Vec<String> {
                let found = store.search_runs(text, filter, None, 10_000).unwrap();
                found.into_iter().map(|run| run.run_id.to_string()).collect()
            };
            let mut expected = search(others[0]);
            for other in &others[1..] {
                let these: std::collections::HashSet<String> = search(other).into_iter().collect();
                expected.retain(|run| these.contains(run));
            }
            assert_eq!(search(text), expected, "{text}, {filter:?}");
            assert_eq!(by_pages(store, text, filter, 7, HITS), expected, "{text}, by pages");
            assert_eq!(by_pages(store, text, filter, 7, 40), expected, "{text}, when little is looked at at once");
        }
    }
    let both = |text: &str| by_pages(store, text, &RunFilter::default(), 50, HITS).len();
    assert!(both("review customer shipment") > 20 && both("done 995") > 5 && both("7995 done") == 1);
}

/// The whole of a search, page by page.
fn by_pages(store: &Store, text: &str, filter: &RunFilter, limit: usize, patience: usize) -> Vec<String> {
    let words = words(text);
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let filter = filter.clone();
        let words = words.clone();
        let page = store
            .database
            .read_together(move |connection| search(connection, &words, &filter, before, limit, patience))
            .unwrap();
        found.extend(page.runs.into_iter().map(|(_, run)| run.run_id.to_string()));
        assert!(page.more.is_none_or(|more| before.is_none_or(|before| more < before)), "{text}: no step ahead");
        before = page.more;
        if before.is_none() {
            return found;
        }
    }
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
