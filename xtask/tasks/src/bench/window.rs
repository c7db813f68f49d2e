//! What a person at the window waits for: the window's commands over the large history, through the dev server.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::{RunFilter, Store, StoreOptions};
use workflow_code_tests::{DevServer, Environment};

use crate::bench::samples::Figure;
use xtask::shell::Outcome;

/// Times of each command.
const TIMES: usize = 60;
/// Changes whose way to the page is measured.
const CHANGES: usize = 30;

/// Measures over the history in `folder`.
pub(crate) fn measure(folder: &Path) -> Outcome<Vec<Figure>> {
    let environment = Environment::new().map_err(|error| error.to_string())?;
    let registry = json!({ "profiles": { "default": { "dataDir": folder } } });
    environment.write(".workflow-code/desktop.json", registry.to_string()).map_err(|error| error.to_string())?;
    let server = DevServer::start(&environment, &[]).map_err(|error| error.to_string())?;
    let mut figures = Vec::new();
    for (name, command, request, aim) in [
        ("window: nothing but the way", "changes_since", json!({ "seq": i64::MAX }), None),
        ("window: first page of all runs", "runs", json!({ "query": {} }), Some(2.0)),
        (
            "window: first page of three states",
            "runs",
            json!({ "query": { "status": ["failed", "timeout", "interrupted"] } }),
            Some(5.0),
        ),
        ("window: a word, with where it stands", "runs", json!({ "query": { "text": "invoice" } }), Some(50.0)),
        ("window: two words, the last begun", "runs", json!({ "query": { "text": "invoice qual" } }), Some(50.0)),
        ("window: runs of 30 days", "runs_per_day", json!({ "query": {}, "days": 30 }), Some(100.0)),
        ("window: home", "home", json!({}), Some(50.0)),
    ] {
        let mut samples = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            let started = Instant::now();
            server.call(command, request.clone()).map_err(|error| format!("{name}: {error}"))?;
            samples.push(started.elapsed());
        }
        let figure = Figure::times(name, &samples);
        figures.push(match aim {
            Some(aim) => figure.aim(aim),
            None => figure,
        });
    }
    figures.push(Figure::times("window: commit elsewhere → told", &told(&server, folder)?).aim(150.0));
    server.finish();
    environment.assert_nothing_left();
    Ok(figures)
}

/// From a commit in this process to the message of the other one.
fn told(server: &DevServer, folder: &Path) -> Outcome<Vec<Duration>> {
    let failed = |error: store::StoreError| error.to_string();
    let store = Store::new(folder.join("desktop.db"), StoreOptions::default());
    let run = store.list_runs(&RunFilter::default(), None, 1).map_err(failed)?.remove(0).run_id;
    let events = server.events();
    let mut samples = Vec::with_capacity(CHANGES);
    for n in 0..CHANGES {
        store.pin(&run, n % 2 == 0).map_err(failed)?;
        let written = Instant::now();
        let wanted = Value::from(run.as_str());
        let (heard, _) = events.wait(|change| change["runs"].as_array().is_some_and(|runs| runs.contains(&wanted)));
        samples.push(heard.saturating_duration_since(written));
        // Not in step with the looks.
        std::thread::park_timeout(Duration::from_millis(u64::try_from(n).unwrap_or(0) * 7 % 101));
    }
    Ok(samples)
}
