//! Fills a database with runs and measures the lists on it: `seed PATH [RUNS]`.

use std::io::Write as _;
use std::time::{Duration, Instant};

use model::{LaunchOptions, Origin, Report, RunStatus};
use store::{
    Durability, Finish, FirstStatus, JournalKind, LogStream, NewJournalRow, NewRun, Owner, RunFilter, RunProject,
    Seeding, Store, StoreOptions, seed_runs,
};
use workflow_store as store;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: seed PATH [RUNS]")?;
    let runs: u64 = arguments.next().map_or(Ok(1_000_000), |runs| runs.parse())?;
    let store = Store::open(&path, StoreOptions::default())?;
    let mut out = std::io::stdout().lock();
    if store.list_runs(&RunFilter::default(), None, 1)?.is_empty() {
        let since = Instant::now();
        seed_runs(&store, Seeding { runs, projects: 40, until: 1_796_000_000_000 })?;
        writeln!(out, "seeded {runs} runs in {:?}", since.elapsed())?;
    }
    writes(&store, &mut out)?;
    let all = RunFilter::default();
    let first = store.list_runs(&all, None, 50)?;
    let deep_filter = RunFilter { until: Some(1_796_000_000_000 - i64::try_from(runs)? * 500), ..all.clone() };
    let deep = store.list_runs(&deep_filter, None, 1)?.first().map(|run| run.run_id.clone());
    let project = Some("seed0007".to_owned());
    let failed = Some(RunStatus::Failed);
    let filters = [
        ("project", RunFilter { project: project.clone(), ..all.clone() }),
        ("status", RunFilter { status: failed, ..all.clone() }),
        ("project and status", RunFilter { project: project.clone(), status: failed, ..all.clone() }),
        ("project and entrypoint", RunFilter { project, entrypoint: "review".parse().ok(), ..all.clone() }),
        ("client", RunFilter { client: Some("codex".into()), ..all.clone() }),
        ("client and status", RunFilter { client: Some("codex".into()), status: failed, ..all.clone() }),
        ("time range", deep_filter.clone()),
    ];
    let mut say = |what: &str, measured: (Duration, usize)| {
        writeln!(out, "{what:<40} {:>9.1?}   {} runs", measured.0, measured.1)
    };
    say("first page", median(|| Ok(store.list_runs(&all, None, 50)?.len()))?)?;
    say("page from the middle", median(|| Ok(store.list_runs(&all, deep.as_ref(), 50)?.len()))?)?;
    for (name, filter) in &filters {
        say(&format!("filter by {name}"), median(|| Ok(store.list_runs(filter, None, 50)?.len()))?)?;
    }
    if let Some(run) = &deep {
        say("by id", median(|| store.run(run).map(|_| 1))?)?;
        say("everything of a run", median(|| store.show(run).map(|_| 1))?)?;
        say("search: id", median(|| Ok(store.search_runs(run.as_str(), &all, None, 50)?.len()))?)?;
    }
    for text in
        ["invoice", "运行", "invo", "invoice 995", "报告 forecast archive", "invoice led", "nowhere", "invoice nowhere"]
    {
        say(&format!("search: {text}"), median(|| Ok(store.search_runs(text, &all, None, 50)?.len()))?)?;
        let filter = RunFilter { status: failed, ..all.clone() };
        say(&format!("search in failed: {text}"), median(|| Ok(store.search_runs(text, &filter, None, 50)?.len()))?)?;
    }
    writeln!(out, "newest: {}", first.first().map_or("none", |run| run.run_id.as_str()))?;
    Ok(())
}

/// Measures what a call of a tool costs: opening, and a run's way from its record to its end.
fn writes(store: &Store, out: &mut impl std::io::Write) -> Result<(), Box<dyn std::error::Error>> {
    let opening = median(|| Store::open(store.path(), StoreOptions::default()).map(|_| 0))?.0;
    let new = NewRun {
        project: RunProject { id: "seed0001".parse().ok(), ..RunProject::default() },
        entrypoint_id: "main".parse()?,
        entrypoint_title: "Main".into(),
        origin: Origin::Mcp,
        client: None,
        input: serde_json::json!({ "text": "a few words that are searched for, some 200 bytes of them. ".repeat(4) }),
        cli_args: Vec::new(),
        parent: None,
        owner: Owner::current(),
        launch: LaunchOptions::default(),
        status: FirstStatus::Running,
    };
    let (mut create, mut log, mut power, mut finish) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for n in 0..300 {
        let since = Instant::now();
        let lease = store.create_run(&new)?;
        create.push(since.elapsed());
        let since = Instant::now();
        let mut writer = store.log_writer(&lease);
        writer.push(LogStream::Stdout, 0, "a line of a log, and another one\n");
        writer.finish()?;
        log.push(since.elapsed());
        if n % 10 == 0 {
            let row = NewJournalRow { kind: JournalKind::Done, seq: Some(1), fingerprint: None, payload: None };
            let since = Instant::now();
            store.append_journal(&lease, &[row], Durability::Power)?;
            power.push(since.elapsed());
        }
        let report = Report { output: Some(new.input.clone()), ..Report::default() };
        let since = Instant::now();
        store.finish(&lease, Finish { status: RunStatus::Success, report, cancel_reason: None, files: Vec::new() })?;
        finish.push(since.elapsed());
    }
    writeln!(out, "{:<40} {opening:>9.1?}", "open a second time")?;
    for (what, mut times) in
        [("create a run", create), ("write a log", log), ("a journal row on the disk", power), ("finish a run", finish)]
    {
        times.sort();
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
        writeln!(out, "{what:<40} {:>9.1?}   (99 of 100: {:.1?})", at(50), at(99))?;
    }
    Ok(())
}

/// Returns the median time of some calls, and what the last one returned.
fn median(mut call: impl FnMut() -> store::Result<usize>) -> store::Result<(Duration, usize)> {
    let mut times = Vec::new();
    let mut count = call()?;
    for _ in 0..9 {
        let since = Instant::now();
        count = call()?;
        times.push(since.elapsed());
    }
    times.sort();
    Ok((times.get(4).copied().unwrap_or_default(), count))
}
