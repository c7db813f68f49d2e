//! What a client waits for: the launcher's start, its first answers, a call; and the memory it keeps meanwhile.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use workflow_code_tests::Environment;

use crate::bench::peer::Peer;
use crate::bench::samples::Figure;
use xtask::shell::Outcome;

/// Starts of each program.
const STARTS: usize = 40;
/// Calls of each server.
const CALLS: usize = 200;
/// Calls before the first one that counts.
const WARM_UP: usize = 10;
/// How long a server is left alone before its memory is looked at. Not a condition to wait for: idling is measured.
/// Long enough for the launcher to have noticed that it rests (it looks every two seconds).
const IDLE: Duration = Duration::from_secs(6);

/// The three programs.
pub(crate) struct Programs {
    pub(crate) launcher: PathBuf,
    pub(crate) hello: PathBuf,
    pub(crate) empty: PathBuf,
}

#[derive(Default)]
struct Samples {
    initialize: Vec<Duration>,
    tools: Vec<Duration>,
    end: Vec<Duration>,
    calls: Vec<Duration>,
    resident: Vec<u64>,
    own: Vec<u64>,
}

pub(crate) fn measure(programs: &Programs) -> Outcome<Vec<Figure>> {
    let environment = Environment::new().map_err(|error| error.to_string())?;
    let id = project(&environment)?;
    let arguments: Vec<OsString> = vec!["--workflow-mcp".into(), id.into()];
    let (mut launcher, mut hello, mut empty) = (Samples::default(), Samples::default(), Vec::new());
    // In turn, so that whatever else this machine does falls on all of them.
    for _ in 0..STARTS {
        start(&environment, &programs.launcher, &arguments, &mut launcher)?;
        start(&environment, &programs.hello, &[], &mut hello)?;
        let started = Instant::now();
        environment.run_program(&programs.empty, &[] as &[&str], &[]).map_err(|error| error.to_string())?;
        empty.push(started.elapsed());
    }
    calls(&environment, &programs.launcher, &arguments, &mut launcher)?;
    calls(&environment, &programs.hello, &[], &mut hello)?;
    environment.assert_nothing_left();
    Ok(figures(&launcher, &hello, &empty))
}

fn figures(launcher: &Samples, hello: &Samples, empty: &[Duration]) -> Vec<Figure> {
    let empty = Figure::times("empty process: start to end", empty);
    let mut figures = Vec::new();
    let bare = [
        Figure::times("bare server: start → initialize", &hello.initialize),
        Figure::times("bare server: start → tools/list", &hello.tools),
        Figure::times("bare server: call", &hello.calls),
        Figure::bytes("bare server: idle, resident", &hello.resident),
        Figure::bytes("bare server: idle, its own", &hello.own),
        Figure::times("bare server: end of input → end", &hello.end),
    ];
    let ours = [
        Figure::times("launcher: start → initialize", &launcher.initialize).aim(10.0),
        Figure::times("launcher: start → tools/list", &launcher.tools).aim(15.0),
        Figure::times("launcher: call, recorded", &launcher.calls).aim(12.0),
        Figure::bytes("launcher: idle, resident", &launcher.resident).aim(10.0),
        Figure::bytes("launcher: idle, its own", &launcher.own),
        Figure::times("launcher: end of input → end", &launcher.end).aim(200.0),
    ];
    figures.extend(ours.into_iter().zip(&bare).map(|(ours, bare)| ours.beside("bare server", bare)));
    let [initialize, tools, others @ ..] = bare;
    figures.push(initialize.beside("empty process", &empty));
    figures.push(tools.beside("empty process", &empty));
    figures.extend(others);
    figures.push(empty);
    figures
}

/// Registers a project with one entrypoint that does nothing, and starts it once so that its structure is known.
fn project(environment: &Environment) -> Outcome<String> {
    let failed = |error: std::io::Error| error.to_string();
    write_project(environment, "project", "0b8d7a70-1f6b-4b1e-9a55-0f6f6a3b7c11").map_err(failed)?;
    let added = environment.run(&["projects", "add", "project", "--json"]).map_err(failed)?;
    let id = added.json()[0]["projectId"].as_str().ok_or(added.stderr)?.to_owned();
    Ok(id)
}

/// Writes a project with one entrypoint that does nothing.
pub(crate) fn write_project(environment: &Environment, folder: &str, uuid: &str) -> std::io::Result<PathBuf> {
    let package = json!({ "name": "bench", "id": uuid, "projectType": "workflow" });
    environment.write(format!("{folder}/package.json"), package.to_string())?;
    environment.write(
        format!("{folder}/nothing.workflow.ts"),
        "export const entrypoint = { title: \"Nothing\", description: \"Does nothing.\" };\n\
         export default async function () {\n  return null;\n}\n",
    )?;
    fs::canonicalize(environment.home().join(folder))
}

fn start(environment: &Environment, program: &Path, arguments: &[OsString], samples: &mut Samples) -> Outcome {
    let mut peer = Peer::start(environment, program, arguments)?;
    let opened = peer.open()?;
    samples.initialize.push(opened.initialize);
    samples.tools.push(opened.tools);
    samples.end.push(peer.finish()?);
    Ok(())
}

fn calls(environment: &Environment, program: &Path, arguments: &[OsString], samples: &mut Samples) -> Outcome {
    let mut peer = Peer::start(environment, program, arguments)?;
    peer.open()?;
    for n in 0..WARM_UP + CALLS {
        let took = peer.call("nothing", &json!({}))?;
        if n >= WARM_UP {
            samples.calls.push(took);
        }
    }
    std::thread::sleep(IDLE);
    samples.resident.push(process::proc_info::resident_bytes(peer.pid()).ok_or("the server's memory cannot be seen")?);
    samples.own.push(own_bytes(peer.pid()).ok_or("the server's memory cannot be seen")?);
    peer.finish()?;
    Ok(())
}

/// Memory that is the process's own: what one more launcher costs, since all of them share the executable's pages.
pub(crate) fn own_bytes(pid: u32) -> Option<u64> {
    kibibytes(pid, "smaps_rollup", "Anonymous:")
}

/// The most memory that a process has had so far.
pub(crate) fn peak_bytes(pid: u32) -> Option<u64> {
    kibibytes(pid, "status", "VmHWM:")
}

/// A line of what the system tells of a process, in bytes.
fn kibibytes(pid: u32, file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}
