//! Guided workflows: what an agent waits for with a hundred jobs, and finding changes in a large repository.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use workflow_code_tests::{Environment, wait_until};

use crate::bench::peer::Peer;
use crate::bench::samples::Figure;
use crate::bench::servers::{Programs, own_bytes, peak_bytes};
use xtask::shell::Outcome;

/// Jobs of the project.
const JOBS: usize = 100;
/// Lines of each.
const LINES: usize = 300;
/// Starts of each program.
const STARTS: usize = 30;
/// Calls of each kind, and those before the first one that counts.
const CALLS: usize = 200;
const WARM_UP: usize = 5;
/// Files of the repository, in so many folders, and how many of them change.
const FILES: usize = 20_000;
const FOLDERS: usize = 400;
const CHANGED: usize = 50;
/// Looks at the repository.
const LOOKS: usize = 15;
/// Starts with nothing kept.
const FIRST_STARTS: usize = 10;
/// After this time a file counts as one that is left alone.
const SETTLED: Duration = Duration::from_secs(3);
/// How long a server is left alone before its memory is looked at.
const IDLE: Duration = Duration::from_secs(6);

pub(crate) fn measure(programs: &Programs) -> Outcome<Vec<Figure>> {
    let mut environment = Environment::new().map_err(|error| error.to_string())?;
    let root = jobs(&environment).map_err(|error| error.to_string())?;
    // What a server keeps of jobs for the next one; those that have just changed it does not.
    let kept = root.join(".deepwork/tmp/outlines.json");
    std::thread::sleep(SETTLED);
    let mut first = Vec::new();
    for _ in 0..FIRST_STARTS {
        match fs::remove_file(&kept) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.to_string()),
            _ => {}
        }
        let mut peer = Peer::start(&environment, &programs.launcher, &serve(&root))?;
        first.push(peer.open()?.tools);
        wait_until("the outlines are kept", || kept.is_file().then_some(()));
        peer.finish()?;
    }
    let (mut initialize, mut tools, mut processor, mut empty) = (Vec::new(), Vec::new(), 0, Vec::new());
    for _ in 0..STARTS {
        let mut peer = Peer::start(&environment, &programs.launcher, &serve(&root))?;
        let opened = peer.open()?;
        processor += ticks(peer.pid()).ok_or("the server's time cannot be seen")?;
        peer.finish()?;
        initialize.push(opened.initialize);
        tools.push(opened.tools);
        let started = Instant::now();
        environment.run_program(&programs.empty, &[] as &[&str], &[]).map_err(|error| error.to_string())?;
        empty.push(started.elapsed());
    }
    let empty = Figure::times("empty process: start to end", &empty);
    let processor = Duration::from_millis(processor * 10 / STARTS as u64);
    let mut figures = vec![
        Figure::times(format!("guided, {JOBS} jobs: first start of all → tools/list"), &first)
            .beside("empty process", &empty),
        Figure::times(format!("guided, {JOBS} jobs: start → initialize"), &initialize).beside("empty process", &empty),
        Figure::times(format!("guided, {JOBS} jobs: start → tools/list"), &tools)
            .aim(20.0)
            .beside("empty process", &empty),
        Figure::times("guided: processor time until then, mean", &[processor]),
    ];
    figures.extend(calls(&environment, programs, &root)?);
    figures.extend(changes(&mut environment, programs)?);
    figures.push(empty);
    environment.assert_nothing_left();
    Ok(figures)
}

fn serve(root: &Path) -> Vec<OsString> {
    vec!["guided".into(), "serve".into(), "--path".into(), root.into()]
}

/// Calls on a server that has seen its jobs, and its memory.
fn calls(environment: &Environment, programs: &Programs, root: &Path) -> Outcome<Vec<Figure>> {
    let mut peer = Peer::start(environment, &programs.launcher, &serve(root))?;
    peer.open()?;
    let (mut lists, mut cycles) = (Vec::new(), Vec::new());
    for n in 0..WARM_UP + CALLS {
        let listed = peer.call("get_workflows", &json!({}))?;
        let session = format!("s{n}");
        let begun = peer.call(
            "start_workflow",
            &json!({ "goal": "g", "job_name": "job_050", "workflow_name": "flow_1", "session_id": session }),
        )?;
        let ended = peer.call("finished_step", &json!({ "outputs": { "text_0": "done" }, "session_id": session }))?;
        if n >= WARM_UP {
            lists.push(listed);
            cycles.push(begun + ended);
        }
    }
    let peak = peak_bytes(peer.pid()).ok_or("the server's memory cannot be seen")?;
    std::thread::sleep(IDLE);
    let resident = process::proc_info::resident_bytes(peer.pid()).ok_or("the server's memory cannot be seen")?;
    let own = own_bytes(peer.pid()).ok_or("the server's memory cannot be seen")?;
    peer.finish()?;
    Ok(vec![
        Figure::times("guided: get_workflows", &lists).aim(3.0),
        Figure::times("guided: start_workflow + finished_step", &cycles).aim(6.0),
        Figure::bytes("guided: most resident at work", &[peak]).aim(20.0),
        Figure::bytes("guided: idle, resident", &[resident]).aim(20.0),
        Figure::bytes("guided: idle, its own", &[own]),
    ])
}

/// The tasks for what changed in a large repository, beside what git itself needs to say what changed.
fn changes(environment: &mut Environment, programs: &Programs) -> Outcome<Vec<Figure>> {
    let root = repository(environment)?;
    let mut peer = Peer::start(environment, &programs.launcher, &serve(&root))?;
    peer.open()?;
    let (mut looks, mut status) = (Vec::new(), Vec::new());
    for n in 0..=LOOKS {
        let look = peer.call("get_review_instructions", &json!({}))?;
        let git = git(environment, &root, &["status", "--porcelain", "--untracked-files=all"])?;
        if n > 0 {
            looks.push(look);
            status.push(git);
        }
    }
    peer.finish()?;
    let status = Figure::times(format!("git status, {FILES} files"), &status);
    let looks = Figure::times(format!("guided: {CHANGED} changes among {FILES} files → tasks"), &looks);
    Ok(vec![looks.beside("git status", &status), status])
}

fn repository(environment: &mut Environment) -> Outcome<PathBuf> {
    let failed = |error: std::io::Error| error.to_string();
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "bench"),
        ("GIT_AUTHOR_EMAIL", "bench@example.com"),
        ("GIT_COMMITTER_NAME", "bench"),
        ("GIT_COMMITTER_EMAIL", "bench@example.com"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ] {
        environment.set(name, value);
    }
    let root = environment.home().join("repository");
    for folder in 0..FOLDERS {
        let folder = root.join(format!("part_{:02}/folder_{:02}", folder / 20, folder % 20));
        fs::create_dir_all(&folder).map_err(failed)?;
        for file in 0..FILES / FOLDERS {
            fs::write(folder.join(format!("file_{file:02}.md")), format!("# File {file}\n")).map_err(failed)?;
        }
    }
    let rule = "texts:\n  description: Texts\n  match: {include: ['**/*.md']}\n  review: {strategy: matches_together, \
                instructions: Read them.}\n";
    environment.write("repository/.deepreview", rule).map_err(failed)?;
    environment.write("repository/.gitignore", ".deepwork/\n").map_err(failed)?;
    for arguments in
        [&["init", "--quiet", "-b", "main"][..], &["add", "--all"], &["commit", "--quiet", "--message", "all"]]
    {
        git(environment, &root, arguments)?;
    }
    for change in 0..CHANGED {
        let name = format!("repository/part_{:02}/folder_{:02}/file_00.md", change % 20, change / 20);
        environment.write(name, "# Changed\n").map_err(failed)?;
    }
    root.canonicalize().map_err(failed)
}

fn git(environment: &Environment, root: &Path, arguments: &[&str]) -> Outcome<Duration> {
    let root = root.to_string_lossy();
    let all: Vec<&str> = ["-C", root.as_ref()].into_iter().chain(arguments.iter().copied()).collect();
    let started = Instant::now();
    let finished = environment.run_program("git", &all, &[]).map_err(|error| error.to_string())?;
    if finished.code == 0 { Ok(started.elapsed()) } else { Err(format!("git {arguments:?}: {}", finished.stderr)) }
}

fn jobs(environment: &Environment) -> std::io::Result<PathBuf> {
    for number in 0..JOBS {
        let text = job(number);
        environment.write(format!("jobs/.deepwork/jobs/job_{number:03}/job.yml"), text)?;
    }
    environment.home().join("jobs").canonicalize()
}

/// A job as people write them: mostly texts of several lines, some reviews, one schema.
fn job(number: usize) -> String {
    let mut text = format!("name: job_{number:03}\nsummary: \"Makes report {number} of the week\"\nstep_arguments:\n");
    for argument in 0..8 {
        let (name, kind) = if argument < 2 { ("text", "string") } else { ("file", "file_path") };
        let _ = write!(
            text,
            "  - name: {name}_{argument}\n    description: \"What step {argument} hands on, in one paragraph\"\n    type: {kind}\n"
        );
        if argument == 7 {
            text.push_str("    json_schema:\n      type: object\n      required: [title]\n      properties:\n        title: {type: string}\n");
        }
    }
    text.push_str("workflows:\n");
    let mut flow = 0;
    while text.lines().count() < LINES - 75 {
        flow += 1;
        let _ = write!(
            text,
            "  flow_{flow}:\n    summary: Way {flow} of doing it\n    common_job_info_provided_to_all_steps_at_runtime: |\n      \
             The report is for readers who have five minutes.\n      Numbers are rounded to full units.\n    steps:\n"
        );
        for step in 0..4 {
            let _ = write!(
                text,
                "      - name: step_{step}\n        instructions: |\n          # Step {step}\n\n          Read what is there, \
                 and write down what is new in it.\n          - Name the source of every number, with its date.\n          \
                 - Leave out what was in the last report.\n          - Ask when two sources contradict each other.\n\n          \
                 ```\n          title: what it is about\n          ```\n        outputs:\n          "
            );
            if step == 0 {
                text.push_str("text_0:\n            required: true\n");
            } else {
                let _ = write!(
                    text,
                    "file_{step}:\n            required: false\n            review:\n              strategy: individual\n              \
                     instructions: \"Every number has a source: the name, the date, and where it stands.\"\n",
                    step = step + 1
                );
            }
        }
    }
    while text.lines().count() < LINES {
        text.push_str("# A comment at the end.\n");
    }
    text
}

/// Processor time of a process in hundredths of a second, its ended threads among it (proc(5)).
fn ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(number(11)? + number(12)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_the_lines_that_it_should() {
        assert_eq!(job(7).lines().count(), LINES);
        assert!(job(7).contains("flow_1:") && job(7).contains("file_4:"));
    }
}
