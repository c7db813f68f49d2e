//! A registry of 10,000 projects and a history of 1,000,000 runs, made once below the build folder.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{RunId, RunStatus};
use serde_json::json;
use store::{NewProject, ProjectKind, RunFilter, Seeding, Store, StoreOptions};
use workflow_code_tests::Environment;

use crate::bench::peer::Peer;
use crate::bench::samples::Figure;
use crate::bench::servers::{Programs, write_project};
use xtask::shell::Outcome;

/// Projects in the registry.
const PROJECTS: usize = 10_000;
/// Queries of each kind.
const QUERIES: usize = 200;
/// Commands of each kind.
const COMMANDS: usize = 20;
/// Rows of a page, as the terminal and the window ask for them.
const PAGE: usize = 50;
/// The newest seeded run's moment; fixed, so that the same database comes out each time.
const UNTIL: i64 = 1_790_000_000_000;

/// Returns the folder of the large history; makes it when it is not there.
pub(crate) fn folder(folder: &Path, runs: u64) -> Outcome<PathBuf> {
    let folder = folder.join(format!("history-{runs}"));
    seeded(&folder, runs).map(|_| folder)
}

pub(crate) fn measure(programs: &Programs, folder: &Path, runs: u64) -> Outcome<Vec<Figure>> {
    let folder = folder.join(format!("history-{runs}"));
    let store = seeded(&folder, runs)?;
    let mut figures = queries(&store)?;
    // The commands open the database on their own.
    drop(store);
    figures.extend(commands(programs, &folder)?);
    Ok(figures)
}

/// Opens the seeded database; makes it first when it is not there.
fn seeded(folder: &Path, runs: u64) -> Outcome<Store> {
    let (database, done) = (folder.join("desktop.db"), folder.join("seeded"));
    if !done.is_file() {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
        let started = Instant::now();
        eprintln!("seeding {PROJECTS} projects and {runs} runs into {} (once)", folder.display());
        let store = Store::new(&database, StoreOptions::default());
        for n in 0..PROJECTS {
            let project = NewProject {
                kind: ProjectKind::Workflow,
                uuid: Some(format!("00000000-0000-4000-8000-{n:012}")),
                path: PathBuf::from(format!("/seed/project-{n}")),
                title: format!("Project {n}"),
            };
            store.add_project(&project, |_| true).map_err(|error| error.to_string())?;
        }
        store::seed_runs(&store, Seeding { runs, projects: 500, until: UNTIL }).map_err(|error| error.to_string())?;
        fs::write(&done, "").map_err(|error| error.to_string())?;
        eprintln!("  {:.0} s", started.elapsed().as_secs_f64());
    }
    Ok(Store::new(database, StoreOptions::default()))
}

fn queries(store: &Store) -> Outcome<Vec<Figure>> {
    let list =
        |filter: &RunFilter, before: Option<&RunId>| store.list_runs(filter, before, PAGE).map(|page| page.len());
    let everything = RunFilter::default();
    let deep = store
        .list_runs(&RunFilter { until: Some(UNTIL - 500_000_000), ..RunFilter::default() }, None, 1)
        .map_err(|error| error.to_string())?
        .pop()
        .map(|run| run.run_id)
        .ok_or("the history is too short for a deep page")?;
    let first = store.list_runs(&everything, None, 1).map_err(|error| error.to_string())?.remove(0);
    let of_project = RunFilter { project: Some(first.project.clone()), ..RunFilter::default() };
    let failed_of_project = RunFilter { status: Some(RunStatus::Failed), ..of_project.clone() };
    let of_status = RunFilter { status: Some(RunStatus::Timeout), ..RunFilter::default() };
    let of_client = RunFilter { client: Some("cursor".into()), ..RunFilter::default() };
    let some = store.projects().map_err(|error| error.to_string())?.remove(PROJECTS / 2);
    let bad = RunFilter {
        any_status: vec![RunStatus::Failed, RunStatus::Timeout, RunStatus::Interrupted],
        ..RunFilter::default()
    };
    let rows = |filter: &RunFilter| {
        let page = store.page_runs(filter, None, PAGE)?;
        store.row_details(&page.rows).map(|rows| rows.len())
    };
    Ok(vec![
        timed("history: first page with rows", QUERIES, || rows(&everything))?.aim(1.0),
        timed("history: first page of three states", QUERIES, || rows(&bad))?.aim(2.0),
        timed("history: first page", QUERIES, || list(&everything, None))?.aim(1.0),
        timed("history: deep page", QUERIES, || list(&everything, Some(&deep)))?.aim(1.0),
        timed("history: one project", QUERIES, || list(&of_project, None))?.aim(1.0),
        timed("history: one project's failures", QUERIES, || list(&failed_of_project, None))?.aim(1.0),
        timed("history: one status", QUERIES, || list(&of_status, None))?.aim(1.0),
        timed("history: one client", QUERIES, || list(&of_client, None))?.aim(1.0),
        timed("history: a run by id", QUERIES, || store.show(&deep))?.aim(1.0),
        searches(store, &everything)?.aim_p99(8.0),
        timed("registry: a project by id", QUERIES, || store.project(some.id.as_str()))?.aim(1.0),
        timed("registry: all 10,000 projects", QUERIES / 10, || store.projects().map(|all| all.len()))?,
    ])
}

/// What people look for: frequent words and rare ones, several, Chinese ones, beginnings, ids, and what is nowhere.
const SEARCHES: [&str; 12] = [
    "invoice",
    "invoice quality",
    "报告",
    "运行",
    "报告 forecast archive",
    "invo",
    "invoice led",
    "forecast report",
    "invoice 995",
    "nowhere",
    "invoice nowhere",
    "archive quality invoice",
];

/// Each of them many times, in all runs and in those that failed.
fn searches(store: &Store, everything: &RunFilter) -> Outcome<Figure> {
    let failed = RunFilter { status: Some(RunStatus::Failed), ..RunFilter::default() };
    let mut samples = Vec::new();
    for (number, text) in SEARCHES.iter().cycle().take(SEARCHES.len() * QUERIES / 4).enumerate() {
        let filter = if (number / SEARCHES.len()).is_multiple_of(2) { everything } else { &failed };
        let started = Instant::now();
        store.search_runs(text, filter, None, PAGE).map_err(|error| format!("search for `{text}`: {error}"))?;
        samples.push(started.elapsed());
    }
    Ok(Figure::times("history: search, of many kinds", &samples))
}

fn timed<T>(name: &str, times: usize, mut work: impl FnMut() -> store::Result<T>) -> Outcome<Figure> {
    let mut samples = Vec::with_capacity(times);
    for _ in 0..times {
        let started = Instant::now();
        work().map_err(|error| format!("{name}: {error}"))?;
        samples.push(started.elapsed());
    }
    Ok(Figure::times(name, &samples))
}

/// The same from outside: a terminal's commands, and a server of one project among all of them.
fn commands(programs: &Programs, folder: &Path) -> Outcome<Vec<Figure>> {
    let environment = Environment::new().map_err(|error| error.to_string())?;
    let registry = json!({ "profiles": { "default": { "dataDir": folder } } });
    let failed = |error: std::io::Error| error.to_string();
    environment.write(".workflow-code/desktop.json", registry.to_string()).map_err(failed)?;
    let uuid = "0b8d7a70-1f6b-4b1e-9a55-0f6f6a3b7c12";
    write_project(&environment, "project", uuid).map_err(failed)?;
    let added = environment.run(&["projects", "add", "project", "--json"]).map_err(failed)?;
    if added.code != 0 {
        return Err(added.stderr);
    }
    let mut figures = Vec::new();
    for (name, arguments) in [
        ("command: runs list", &["runs", "list", "--json"][..]),
        ("command: runs list --status timeout", &["runs", "list", "--status", "timeout", "--json"][..]),
        ("command: projects list", &["projects", "list", "--json"][..]),
        ("command: --version", &["--version"][..]),
    ] {
        let mut samples = Vec::new();
        for _ in 0..COMMANDS {
            let started = Instant::now();
            let finished = environment.run_program(&programs.launcher, arguments, &[]).map_err(failed)?;
            samples.push(started.elapsed());
            if finished.code != 0 {
                return Err(format!("{name}: {}", finished.stderr));
            }
        }
        figures.push(Figure::times(name, &samples));
    }
    let arguments: Vec<OsString> = vec!["--workflow-mcp".into(), uuid.into()];
    let (mut initialize, mut calls): (Vec<Duration>, Vec<Duration>) = (Vec::new(), Vec::new());
    for _ in 0..COMMANDS {
        let mut peer = Peer::start(&environment, &programs.launcher, &arguments)?;
        initialize.push(peer.open()?.initialize);
        for _ in 0..5 {
            calls.push(peer.call("nothing", &json!({}))?);
        }
        peer.finish()?;
    }
    figures.push(Figure::times("launcher beside them: start → initialize", &initialize).aim(10.0));
    figures.push(Figure::times("launcher beside them: call, recorded", &calls).aim(12.0));
    // The folder is kept for the next time, and this project's home is not.
    let removed = environment.run(&["projects", "remove", uuid, "--purge"]).map_err(failed)?;
    if removed.code != 0 {
        return Err(removed.stderr);
    }
    environment.assert_nothing_left();
    Ok(figures)
}
