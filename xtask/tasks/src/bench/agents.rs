//! What orchestration costs beside the agents themselves: canned ones by the thousand, the way to the first one, and how
//! soon a script that computes for ever is stopped.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::Environment;

use crate::bench::samples::Figure;
use crate::bench::servers::peak_bytes;
use xtask::shell::Outcome;

/// Runs of each script.
const RUNS: usize = 7;
/// Agents that are fanned out.
const AGENTS: u32 = 1_000;
/// Items of the pipeline, and its stages.
const ITEMS: u32 = 4_000;
const STAGES: u32 = 3;
/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(2);

const META: &str = "export const meta = { name: 'bench', description: 'Measures' }\n";

/// A run as it was recorded, and the memory of its processes at their largest.
struct Ran {
    took: Duration,
    first_agent: Option<Duration>,
    launcher: u64,
    worker: u64,
}

pub(crate) fn measure(launcher: &Path) -> Outcome<Vec<Figure>> {
    let environment = Environment::new().map_err(|error| error.to_string())?;
    let script = |name: &str, body: String| {
        environment
            .write(name, format!("{META}{body}\n"))
            .map(|path| path.to_string_lossy().into_owned())
            .map_err(|error| error.to_string())
    };
    let one = script("one.js", "return (await agent('one')).length".into())?;
    let fan = format!(
        "return (await parallel(Array.from({{ length: {AGENTS} }}, (_, at) => () => agent('job ' + at)))).length"
    );
    let fan = script("fan.js", fan)?;
    let stages = vec!["(value, item, at) => agent(`stage of ${item} after ${String(value).length}`)"; STAGES as usize]
        .join(", ");
    let pipe =
        format!("return (await pipeline(Array.from({{ length: {ITEMS} }}, (_, at) => 'item ' + at), {stages})).length");
    let pipe = script("pipe.js", pipe)?;
    let (mut alone, mut fanned, mut piped) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        alone.push(run(&environment, launcher, &one, &json!(8))?);
        fanned.push(run(&environment, launcher, &fan, &json!(AGENTS))?);
    }
    for _ in 0..RUNS.div_ceil(3) {
        piped.push(run(&environment, launcher, &pipe, &json!(ITEMS))?);
    }
    let spent = |runs: &[Ran], agents: u32| -> Vec<Duration> {
        let base = Figure::times("", &alone.iter().map(|one| one.took).collect::<Vec<_>>()).median();
        let base = Duration::from_secs_f64(base / 1000.0);
        runs.iter().map(|ran| ran.took.saturating_sub(base) / agents).collect()
    };
    let first: Vec<Duration> = alone.iter().filter_map(|ran| ran.first_agent).collect();
    let launchers = |runs: &[Ran]| runs.iter().map(|ran| ran.launcher).collect::<Vec<_>>();
    let workers = |runs: &[Ran]| runs.iter().map(|ran| ran.worker).collect::<Vec<_>>();
    let figures = vec![
        Figure::times("script: call → first agent", &first),
        Figure::microseconds(format!("script: {AGENTS} agents at once, each"), &spent(&fanned, AGENTS)).aim(100.0),
        Figure::bytes(format!("script: {AGENTS} agents at once, launcher's peak"), &launchers(&fanned)),
        Figure::bytes(format!("script: {AGENTS} agents at once, worker's peak"), &workers(&fanned)),
        Figure::microseconds(
            format!("script: {ITEMS} items in {STAGES} stages, each agent"),
            &spent(&piped, ITEMS * STAGES),
        ),
        Figure::bytes(format!("script: {ITEMS} items in {STAGES} stages, launcher's peak"), &launchers(&piped)),
        Figure::bytes(format!("script: {ITEMS} items in {STAGES} stages, worker's peak"), &workers(&piped)),
        Figure::times("script: endless loop, deadline → end", &stopped(&environment)?).aim(250.0),
    ];
    environment.assert_nothing_left();
    Ok(figures)
}

fn run(environment: &Environment, launcher: &Path, script: &str, output: &Value) -> Outcome<Ran> {
    let arguments = ["run", script, "--provider", "canned", "--max-agents", "100000"];
    let mut child = environment.start(launcher, &arguments).map_err(|error| error.to_string())?;
    drop(child.stdin.take());
    // A pipe that nobody reads fills up.
    let mut stderr = child.stderr.take();
    let drain = std::thread::spawn(move || stderr.as_mut().map(|stderr| std::io::copy(stderr, &mut std::io::sink())));
    let mut stdout = child.stdout.take();
    let answer = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stdout.as_mut().map(|stdout| std::io::Read::read_to_string(stdout, &mut text));
        text
    });
    let pid = child.id();
    let (mut own, mut worker) = (0, 0);
    while !answer.is_finished() {
        own = own.max(peak_bytes(pid).unwrap_or(0));
        worker = worker.max(children(pid).into_iter().filter_map(peak_bytes).max().unwrap_or(0));
        std::thread::sleep(LOOK);
    }
    child.wait().map_err(|error| error.to_string())?;
    let _ = drain.join();
    let text = answer.join().unwrap_or_default();
    let envelope: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
    if envelope["output"] != *output {
        return Err(format!("the run gave {envelope}"));
    }
    let data = environment.home().join(".workflow-code").to_string_lossy().into_owned();
    let run = envelope["runId"].as_str().unwrap_or_default();
    let shown =
        environment.run(&["runs", "show", run, "--data-dir", &data, "--json"]).map_err(|error| error.to_string())?;
    let record = shown.json();
    let moment = |value: &Value| value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let began = moment(&record["startedAt"]);
    let nodes = record["report"]["nodes"].as_array().cloned().unwrap_or_default();
    let first = nodes.iter().filter_map(|node| moment(&node["startedAt"])).min();
    let first_agent = began.zip(first).and_then(|(began, first)| Duration::try_from(first.duration_since(began)).ok());
    let took = Duration::from_millis(record["durationMs"].as_u64().ok_or("the run has no end")?);
    Ok(Ran { took, first_agent, launcher: own, worker })
}

/// How long after its deadline a script is stopped that computes for ever, after its first `await`.
fn stopped(environment: &Environment) -> Outcome<Vec<Duration>> {
    let text = format!("{META}await agent('one')\nfor (let n = 0; ; n++) {{ try {{ n.toString() }} catch {{ }} }}\n");
    let file = environment.write("hot.js", text).map_err(|error| error.to_string())?;
    let file = file.to_string_lossy().into_owned();
    let mut late = Vec::new();
    for _ in 0..RUNS.div_ceil(2) {
        let began = Instant::now();
        let ran = environment
            .run(&["run", &file, "--provider", "canned", "--max-seconds", "1"])
            .map_err(|error| error.to_string())?;
        let took = began.elapsed();
        if ran.json()["status"] != "timeout" {
            return Err(format!("it ended otherwise: {}", ran.stdout));
        }
        // The launcher's start and end are in it as well.
        late.push(took.saturating_sub(Duration::from_secs(1)));
    }
    Ok(late)
}

fn children(pid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}
