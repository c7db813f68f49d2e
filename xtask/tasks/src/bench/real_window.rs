//! What a person waits for who opens the window, and what it takes up.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Clock, LaunchOptions, Origin, Report, RunStatus, SystemClock};
use serde_json::{Value, json};
use store::{Finish, FirstStatus, NewRun, Owner, RunProject, Store, StoreOptions};
use workflow_code_tests::{Desktop, Session, desktop_executable, executable, wait_until};

use crate::bench::samples::Figure;
use crate::bench::servers::own_bytes;
use xtask::prepare::page_folder;
use xtask::shell::Outcome;

/// Starts of each way.
const STARTS: usize = 7;
/// Writes whose way to the screen is measured.
const WRITES: usize = 200;
/// What is typed into the search, each with other rows than the one before.
const SEARCHES: [&str; 6] = ["invoice", "invoice qual", "ledger", "", "weekly", "archive"];
/// How long a window is left alone before its memory is looked at. Not a condition to wait for: idling is measured.
const IDLE: Duration = Duration::from_secs(2);

/// Measures; `history` is the folder of the large one.
pub(crate) fn measure(history: &Path) -> Outcome<Vec<Figure>> {
    let problem = |error: std::io::Error| error.to_string();
    let mut desktop = Desktop::start(1400, 900).map_err(problem)?;
    desktop.environment.set("RUST_LOG", "workflow_code_desktop=info");
    let (mut front_door, mut direct) = (Vec::new(), Vec::new());
    let (mut resident, mut own) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        for (program, samples) in [(executable(), &mut front_door), (desktop_executable(), &mut direct)] {
            let started = Instant::now();
            let window = desktop.part(program, &[""; 0]).map_err(problem)?;
            window.wait_for(|line| line.contains("first paint").then_some(())).map_err(problem)?;
            samples.push(started.elapsed());
            std::thread::sleep(IDLE);
            let mut pids = vec![window.pid()];
            pids.extend(process::tree::descendants(window.pid()).into_iter().map(|one| one.pid));
            resident.push(pids.iter().filter_map(|pid| process::proc_info::resident_bytes(*pid)).sum());
            own.push(pids.iter().filter_map(|pid| own_bytes(*pid)).sum());
        }
    }
    let pixel = write_to_pixel(&mut desktop)?;
    let (page, search) = over_history(history)?;
    Ok(vec![
        Figure::times("window, large history: Runs asked for → first page painted", &page).aim(300.0),
        Figure::times("window, large history: last key of a search → rows painted", &search).aim(300.0),
        Figure::times("window: commit elsewhere → painted, one core busy", &pixel).aim(150.0),
        Figure::times("window: start → first paint", &direct).aim(1500.0),
        Figure::times("window by the front door: start → first paint", &front_door).aim(1500.0),
        Figure::bytes("window, idle at home: resident, with WebKit's processes", &resident),
        Figure::bytes("window, idle at home: its own", &own),
        Figure::bytes("window: executable", &[size(&desktop_executable())?]),
        Figure::bytes("front door: executable", &[size(&executable())?]),
        Figure::bytes("page: all files", &[folder_size(&page_folder().join("dist"))?]),
    ])
}

/// Notes in the page when the link to each run was first painted, by the run's id.
const WATCH: &str = "window.painted = {};\n\
    const look = () => {\n\
      for (const link of document.querySelectorAll('a[href^=\"#/run/\"]')) {\n\
        const id = link.hash.split('/')[2];\n\
        if (id in window.painted) continue;\n\
        window.painted[id] = null;\n\
        requestAnimationFrame(() => setTimeout(() => { window.painted[id] = Date.now(); }));\n\
      }\n\
    };\n\
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true });";

/// From the commit of a run's beginning in this process to the frame of Home that shows it, while one core has something
/// else to do.
fn write_to_pixel(desktop: &mut Desktop) -> Outcome<Vec<Duration>> {
    let project = one_project(desktop)?;
    let database = desktop.environment.home().join(".local/share/workflow-code/default/desktop.db");
    let store = Store::new(database, StoreOptions::default());
    let failed = |error: store::StoreError| error.to_string();
    let new = one_run(&project)?;
    let session = Session::start(desktop, &desktop_executable(), &[]);
    let _ = session.find("main section");
    session.script(WATCH, &json!([]));
    let busy = Arc::new(AtomicBool::new(true));
    let spinning = Arc::clone(&busy);
    let spinner = std::thread::spawn(move || {
        while spinning.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let mut samples = Vec::with_capacity(WRITES);
    for n in 0..WRITES {
        let lease = store.create_run(&new).map_err(failed)?;
        let written = SystemClock.now();
        let id = json!([lease.run()]);
        let painted = wait_until("the new run to be on screen", || {
            session.script("return window.painted[arguments[0]] ?? null;", &id).as_i64()
        });
        samples.push(Duration::from_millis(u64::try_from(painted - written).unwrap_or(0)));
        let end =
            Finish { status: RunStatus::Success, report: Report::default(), cancel_reason: None, files: Vec::new() };
        store.finish(&lease, end).map_err(failed)?;
        // Not in step with the looks at the store.
        std::thread::park_timeout(Duration::from_millis(u64::try_from(n).unwrap_or(0) * 7 % 101));
    }
    busy.store(false, Ordering::Relaxed);
    spinner.join().map_err(|_| "the busy thread has failed")?;
    session.close();
    Ok(samples)
}

/// What Runs shows, in the page: `await show(change)` makes a change and returns how long it took, in milliseconds, until
/// other rows than before were painted.
const SHOW: &str = "const rows = () => [...document.querySelectorAll('[role=grid] a[href^=\"#/run/\"]')].map((one) => one.hash).join();\n\
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));\n\
    const show = async (change) => {\n\
      const before = rows();\n\
      const began = performance.now();\n\
      change();\n\
      await new Promise((done) => {\n\
        const look = () => {\n\
          if (rows() === before || rows() === '') return;\n\
          observer.disconnect();\n\
          done();\n\
        };\n\
        const observer = new MutationObserver(look);\n\
        observer.observe(document.body, { childList: true, subtree: true, attributes: true });\n\
      });\n\
      await painted();\n\
      return performance.now() - began;\n\
    };\n\
    const box = document.querySelector('[role=search] input');\n\
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;\n\
    const type = (text) => {\n\
      set.call(box, text);\n\
      box.dispatchEvent(new Event('input', { bubbles: true }));\n\
    };\n";

/// The first page of a large history, and rows for what is typed.
fn over_history(history: &Path) -> Outcome<(Vec<Duration>, Vec<Duration>)> {
    let mut desktop = Desktop::start(1400, 900).map_err(|error| error.to_string())?;
    let registry = json!({ "profiles": { "default": { "dataDir": history } } });
    desktop
        .environment
        .write(".workflow-code/desktop.json", registry.to_string())
        .map_err(|error| error.to_string())?;
    let took = |session: &Session, script: &str, arguments: Value| -> Outcome<Duration> {
        let answer = session.script_async(&format!("{SHOW}{script}"), &arguments);
        let milliseconds = answer["value"].as_f64().ok_or_else(|| format!("the page did not answer: {answer}"))?;
        Ok(Duration::from_secs_f64(milliseconds / 1000.0))
    };
    let (mut page, mut search) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let session = Session::start(&mut desktop, &desktop_executable(), &[]);
        let _ = session.find("main section");
        // Ten thousand registered folders are looked at meanwhile.
        let _ = session.find("nav a[href^='#/project/']");
        page.push(took(&session, "return await show(() => { location.hash = '#/runs'; });", json!([]))?);
        for words in SEARCHES {
            search.push(took(&session, "return await show(() => type(arguments[0]));", json!([words]))?);
        }
        session.close();
    }
    desktop.assert_nothing_left();
    Ok((page, search))
}

/// Makes a project, and returns its id.
fn one_project(desktop: &Desktop) -> Outcome<String> {
    let run = |arguments: &[&str]| {
        let done = desktop.environment.run(arguments).map_err(|error| error.to_string())?;
        if done.code == 0 { Ok(done) } else { Err(format!("{arguments:?}: {}", done.stderr)) }
    };
    run(&["init", "hello"])?;
    let added = run(&["projects", "add", "hello", "--json"])?.json();
    Ok(added[0]["projectId"].as_str().ok_or("the project was not added")?.to_owned())
}

/// A run of the project as a launcher begins one.
fn one_run(project: &str) -> Outcome<NewRun> {
    Ok(NewRun {
        project: RunProject {
            id: Some(project.parse().map_err(|error| format!("`{project}`: {error}"))?),
            ..RunProject::default()
        },
        entrypoint_id: "main".parse().map_err(|error| format!("`main`: {error}"))?,
        entrypoint_title: "Main".to_owned(),
        origin: Origin::Mcp,
        client: None,
        input: json!({ "name": "Ada" }),
        cli_args: Vec::new(),
        parent: None,
        owner: Owner::current(),
        launch: LaunchOptions::default(),
        status: FirstStatus::Running,
    })
}

fn size(path: &Path) -> Outcome<u64> {
    fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| format!("`{}`: {error}", path.display()))
}

fn folder_size(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(|error| format!("`{}`: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        bytes += if path.is_dir() { folder_size(&path)? } else { size(&path)? };
    }
    Ok(bytes)
}
