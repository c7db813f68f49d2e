//! Projects and servers that the tests share.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Finished, Opening};

/// The `id` of every project made here.
pub(crate) const UUID: &str = "11111111-1111-4111-8111-111111111111";

/// A revision of the older era, and the newer one.
pub(crate) const LEGACY: Opening = Opening::Legacy("2025-11-25");
pub(crate) const MODERN: Opening = Opening::Modern;

/// How long something may take that takes no time on an idle machine. Far below the five seconds for which the protocol
/// library would wait by itself.
pub(crate) const SOON: Duration = Duration::from_millis(3_500);

/// Says hello; prints on both streams on its way.
const HELLO: &str = r#"export const entrypoint = {
  title: "Hello", description: "Says hello.",
  params: { name: { type: "string", required: true, description: "Who to greet" } },
};
export default async function (input, flow) {
  console.log("a line for standard output");
  console.warn("a line for standard error");
  return { greeting: `Hello, ${input.name}` };
}
"#;

/// Starts a deaf process that would sleep for an hour, says who it is, and waits for it.
const SLEEP: &str = r#"import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
with open("sleeping.new", "w") as file:
    file.write(str(os.getpid()))
os.rename("sleeping.new", "sleeping")
time.sleep(3600)
"#;

/// An empty home.
pub(crate) fn environment() -> Environment {
    Environment::new().expect("there is room for a home")
}

/// Writes a project with these entrypoints and files into `project` below the home.
pub(crate) fn project(environment: &Environment, entrypoints: Value, files: &[(&str, &str)]) -> PathBuf {
    project_at(environment, "project", UUID, entrypoints, files)
}

/// Writes a project whose `main` is this source; returns its folder.
pub(crate) fn script(environment: &Environment, source: &str) -> String {
    let path = project(environment, json!({ "main": "./main.workflow.ts" }), &[("main.workflow.ts", source)]);
    path.to_string_lossy().into_owned()
}

/// Runs the executable to its end, whatever its exit code.
pub(crate) fn run(environment: &Environment, arguments: &[&str]) -> Finished {
    environment.run(arguments).expect("the command ends")
}

/// Where runs of folders that are not registered are recorded.
pub(crate) fn history(environment: &Environment) -> String {
    environment.home().join(".workflow-code").to_string_lossy().into_owned()
}

/// Writes a project into a folder below the home.
pub(crate) fn project_at(
    environment: &Environment,
    folder: &str,
    uuid: &str,
    entrypoints: Value,
    files: &[(&str, &str)],
) -> PathBuf {
    let package = json!({
        "name": "fixture", "id": uuid, "projectType": "workflow", "workflow": { "entrypoints": entrypoints },
    });
    write(environment, &format!("{folder}/package.json"), &format!("{package:#}"));
    for (name, text) in files {
        write(environment, &format!("{folder}/{name}"), text);
    }
    environment.home().join(folder)
}

/// Writes a file below the home.
pub(crate) fn write(environment: &Environment, path: &str, text: &str) -> PathBuf {
    environment.write(path, text).expect("a file in the home can be written")
}

/// The project that most tests use: `hello`, `sleep` (deaf, an hour long) and `fail`.
pub(crate) fn usual_project(environment: &Environment) -> PathBuf {
    project(
        environment,
        json!({
            "hello": "./hello.workflow.ts",
            "sleep": { "command": ["python3", "sleep.py"], "title": "Sleep", "description": "Never ends by itself." },
            "fail": { "command": ["python3", "-c", "import sys; sys.exit('no luck today')"], "description": "Fails." },
        }),
        &[("hello.workflow.ts", HELLO), ("sleep.py", SLEEP)],
    )
}

/// Arguments that serve a folder, with its history in `data` below the home.
pub(crate) fn arguments(environment: &Environment, more: &[&str]) -> Vec<String> {
    let home = environment.home();
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut arguments =
        vec!["mcp".to_owned(), text(home.join("project")), "--data-dir".to_owned(), text(home.join("data"))];
    arguments.extend(more.iter().map(|&one| one.to_owned()));
    arguments
}

/// Serves the project in this home.
pub(crate) fn serve(environment: &Environment, opening: Opening) -> Client {
    serve_with(environment, opening, &[])
}

/// The same with more options.
pub(crate) fn serve_with(environment: &Environment, opening: Opening, more: &[&str]) -> Client {
    let options = ClientOptions { opening, ..ClientOptions::default() };
    Client::start(environment, &arguments(environment, more), options)
}

/// Runs `workflow-code` and returns what it printed as JSON; it must succeed.
pub(crate) fn command(environment: &Environment, arguments: &[&str]) -> Value {
    let done = environment.run(arguments).expect("the command ends");
    assert_eq!(done.code, 0, "{arguments:?}: {}{}", done.stderr, done.stdout);
    done.json()
}

/// The runs in `data` of this home, newest first.
pub(crate) fn runs(environment: &Environment) -> Vec<Value> {
    let data = environment.home().join("data");
    let listed =
        command(environment, &["runs", "list", "--json", "--limit", "1000", "--data-dir", &data.to_string_lossy()]);
    listed.as_array().cloned().expect("a list of runs")
}

/// Everything recorded of a run in `data` of this home.
pub(crate) fn shown(environment: &Environment, run: &str) -> Value {
    let data = environment.home().join("data");
    command(environment, &["runs", "show", run, "--json", "--data-dir", &data.to_string_lossy()])
}

/// Waits until a file in the project is there, and returns what it holds.
pub(crate) fn wait_for_file(environment: &Environment, name: &str) -> String {
    let path = environment.home().join("project").join(name);
    wait_until(&format!("{name} to be written"), || path.exists());
    fs::read_to_string(path).expect("a file that is there")
}

/// Waits for a condition, half a minute at most.
pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a process id")).expect("a process id");
    rustix::process::kill_process(pid, signal).expect("the process is there");
}

/// Copies a folder with what is in it; links stay links.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
