//! `cargo xtask test --clients`: the real programs that will start our server, each in a home of its own.
//!
//! None of them has an account, so none calls a model; they connect, list, and (where they can without one) call a tool.
//! What each one says is recorded; `--record` keeps it in `tests/clients`, where the ordinary tests replay it.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use workflow_code_tests::{Environment, Finished, executable};

use crate::install::{self, NodePackages};
use xtask::shell::{self, Outcome};

/// A home with the sample project in its registry, and a server that is recorded.
struct Home {
    environment: Environment,
    project: String,
    /// Stands where the executable would, and keeps what comes in.
    recorder: PathBuf,
    recording: PathBuf,
}

/// The project whose tools ask. Recordings of calls to it end with `-form`.
const FORMS: &str = "tests/conformance/project";

/// How many runs a client leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// It only looks: not one.
    None,
    /// It calls the tool once.
    One,
}

pub(crate) fn run(record: bool) -> Outcome {
    let node = install::node_packages()?;
    let pythons = [install::python_sdk("1")?, install::python_sdk("2")?];
    let failures = RefCell::new(Vec::new());
    let report = |name: &str, outcome: Outcome| match outcome {
        Ok(()) => println!("ok      {name}"),
        Err(why) => {
            println!("FAILED  {name}: {why}");
            failures.borrow_mut().push(name.to_owned());
        }
    };
    let check_in = |project: &str, name: &str, runs: Runs, client: &dyn Fn(&Home) -> Outcome| {
        let outcome = Home::new(&node, project).and_then(|home| {
            client(&home)?;
            home.left(runs)?;
            home.keep(name, record)
        });
        report(name, outcome);
    };
    let check = |name: &str, runs: Runs, client: &dyn Fn(&Home) -> Outcome| {
        check_in("assets/sample", name, runs, client);
    };
    check("claude-code", Runs::None, &|home| claude_code(home, &node));
    check("gemini-cli", Runs::None, &|home| gemini_cli(home, &node));
    check("codex", Runs::None, &|home| codex(home, &node));
    for era in ["modern", "legacy", "auto"] {
        check(&format!("inspector-{era}-list"), Runs::None, &|home| inspector_list(home, &node, era));
        check(&format!("inspector-{era}-call"), Runs::One, &|home| inspector_call(home, &node, era));
    }
    for (python, line) in pythons.iter().zip(["1", "2"]) {
        check(&format!("python-sdk-{line}"), Runs::One, &|home| greeted(&python_sdk(home, python, &greeting())?));
        check_in(FORMS, &format!("python-sdk-{line}-form"), Runs::One, &|home| {
            filled_in(&python_sdk(home, python, &form())?)
        });
    }
    for (package, line) in [("sdk", "1"), ("client", "2")] {
        let call = |home: &Home, call: &Value| typescript_sdk(home, &node, package, call);
        check(&format!("typescript-sdk-{line}"), Runs::One, &|home| greeted(&call(home, &greeting())?));
        let form = |home: &Home| filled_in(&call(home, &form())?);
        check_in(FORMS, &format!("typescript-sdk-{line}-form"), Runs::One, &form);
        let abort = Home::new(&node, FORMS).and_then(|home| {
            call(&home, &json!({ "tool": "test_tool_with_progress", "arguments": {}, "abort": true }))?;
            let runs = home.left(Runs::One)?;
            expect(&runs[0]["status"].to_string(), "cancelled")
        });
        report(&format!("typescript-sdk-{line}, a call given up"), abort);
    }
    let failures = failures.into_inner();
    if failures.is_empty() { Ok(()) } else { Err(format!("these clients failed: {}", failures.join(", "))) }
}

/// `claude mcp add-json` and `claude mcp list`, which connects to every server.
fn claude_code(home: &Home, node: &NodePackages) -> Outcome {
    let claude = node.file("@anthropic-ai/claude-code/cli-wrapper.cjs");
    let server = json!({ "type": "stdio", "command": home.recorder, "args": home.server_arguments() });
    let add = [
        text(&claude),
        "mcp".into(),
        "add-json".into(),
        "sample".into(),
        server.to_string(),
        "-s".into(),
        "user".into(),
    ];
    home.succeeds(&node.node, &add)?;
    let listed = home.succeeds(&node.node, &[text(&claude), "mcp".into(), "list".into()])?;
    expect(&listed.stdout, "Connected")
}

/// `gemini mcp list`, with the entry that our own `config --write` makes.
fn gemini_cli(home: &Home, node: &NodePackages) -> Outcome {
    home.configure("gemini", ".gemini/settings.json")?;
    let gemini = node.file("@google/gemini-cli/bundle/gemini.js");
    let listed = home.succeeds(&node.node, &[text(&gemini), "mcp".into(), "list".into()])?;
    // Some of its versions list on standard error.
    expect(&format!("{}{}", listed.stdout, listed.stderr), "Connected")
}

/// The Codex app server, which says what each of its servers offers; with the entry of our own `config --write`.
fn codex(home: &Home, node: &NodePackages) -> Outcome {
    home.configure("codex", ".codex/config.toml")?;
    let about = json!({ "clientInfo": { "name": "tests", "title": "tests", "version": "1" } });
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about }),
        json!({ "jsonrpc": "2.0", "method": "initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "mcpServerStatus/list", "params": {} }),
    ];
    let program = node.file("@openai/codex/bin/codex.js");
    let arguments = [text(&program), "app-server".into()];
    let answer = home.converse(&node.node, &arguments, &lines, 2)?;
    expect(&answer["result"]["data"][0]["tools"]["greet"]["name"].to_string(), "greet")
}

fn inspector(home: &Home, node: &NodePackages, era: &str, rest: &[&str]) -> Outcome<Finished> {
    let program = node.file("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mut arguments = vec![text(&program), "--cli".into(), "--protocol-era".into(), era.into()];
    arguments.extend(rest.iter().map(|argument| (*argument).to_owned()));
    arguments.extend(["--".into(), text(&home.recorder)]);
    arguments.extend(home.server_arguments());
    home.succeeds(&node.node, &arguments)
}

/// Lists the tools; `--strict` fails for a schema that some client does not take, and says nothing for one that all do.
fn inspector_list(home: &Home, node: &NodePackages, era: &str) -> Outcome {
    let listed = inspector(home, node, era, &["--strict", "--method", "tools/list"])?;
    if listed.stderr.to_lowercase().contains("schema") {
        return Err(format!("the inspector has remarks about a schema: {}", listed.stderr));
    }
    expect(&listed.json()["tools"].to_string(), "\"greet\"")
}

fn inspector_call(home: &Home, node: &NodePackages, era: &str) -> Outcome {
    let call = ["--method", "tools/call", "--tool-name", "greet", "--tool-arg", "name=Ada"];
    greeted(&inspector(home, node, era, &call)?.json()["structuredContent"])
}

fn python_sdk(home: &Home, python: &Path, call: &Value) -> Outcome<Value> {
    let mut arguments = vec![text(&install::locks().join("call_tool.py")), call.to_string(), text(&home.recorder)];
    arguments.extend(home.server_arguments());
    Ok(home.succeeds(python, &arguments)?.json()["result"].take())
}

fn typescript_sdk(home: &Home, node: &NodePackages, package: &str, call: &Value) -> Outcome<Value> {
    let script = install::locks().join("call_tool.mjs");
    let mut arguments = vec![text(&script), text(&node.folder), package.into(), call.to_string(), text(&home.recorder)];
    arguments.extend(home.server_arguments());
    Ok(home.succeeds(&node.node, &arguments)?.json()["result"].take())
}

/// The state that a client carries back is another one each time.
fn without_state(line: &str) -> String {
    let Ok(mut message) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    match message.pointer_mut("/params/requestState") {
        Some(state) => {
            *state = json!("as the server gave it");
            message.to_string()
        }
        None => line.to_owned(),
    }
}

fn greeting() -> Value {
    json!({ "tool": "greet", "arguments": { "name": "Ada" } })
}

/// A call that asks a person, and what the client's person answers.
fn form() -> Value {
    json!({ "tool": "test_elicitation", "arguments": {}, "answer": { "username": "ada", "email": "ada@localhost" } })
}

fn filled_in(result: &Value) -> Outcome {
    expect(&result["output"].to_string(), "ada@localhost")
}

fn greeted(result: &Value) -> Outcome {
    expect(&result["output"]["greeting"].to_string(), "Hello, Ada")
}

fn expect(text: &str, part: &str) -> Outcome {
    if text.contains(part) { Ok(()) } else { Err(format!("`{part}` is not in: {text}")) }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Home {
    fn new(node: &NodePackages, project: &str) -> Outcome<Self> {
        let failed = |error: std::io::Error| error.to_string();
        let mut environment = Environment::new().map_err(failed)?;
        let bin = node.node.parent().unwrap_or(Path::new("/"));
        environment.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        // It serves nothing in a folder that nobody has said to trust.
        environment.set("GEMINI_CLI_TRUST_WORKSPACE", "true");
        let folder = text(&shell::root().join(project));
        let added = environment.run(&["projects", "add", &folder, "--json"]).map_err(failed)?;
        let project = added.json()[0]["projectId"].as_str().ok_or(added.stderr)?.to_owned();
        let recording = environment.home().join("recording.jsonl");
        let own = std::env::current_exe().map_err(failed)?;
        let script = format!(
            "#!/bin/sh\nexec '{}' record '{}' '{}' \"$@\"\n",
            own.display(),
            recording.display(),
            executable().display(),
        );
        let recorder = environment.write("recorder", script).map_err(failed)?;
        fs::set_permissions(&recorder, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        Ok(Self { environment, project, recorder, recording })
    }

    fn server_arguments(&self) -> Vec<String> {
        vec!["--workflow-mcp".into(), self.project.clone()]
    }

    /// Has our own `config --write` make the client's file, and puts the recorder in the executable's place.
    fn configure(&self, client: &str, file: &str) -> Outcome {
        self.succeeds(&executable(), &["config", &self.project, "--client", client, "--write"].map(str::to_owned))?;
        let path = self.environment.home().join(file);
        let written = fs::read_to_string(&path).map_err(|error| format!("`{}`: {error}", path.display()))?;
        let own = text(&fs::canonicalize(executable()).map_err(|error| error.to_string())?);
        if !written.contains(&own) {
            return Err(format!("`{}` does not name the executable: {written}", path.display()));
        }
        fs::write(&path, written.replace(&own, &text(&self.recorder))).map_err(|error| error.to_string())
    }

    fn succeeds(&self, program: &Path, arguments: &[String]) -> Outcome<Finished> {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let finished = self.environment.run_program(program, &arguments, &[]).map_err(|error| error.to_string())?;
        if finished.code == 0 {
            return Ok(finished);
        }
        Err(format!("it ended with {}: {}{}", finished.code, finished.stdout, finished.stderr))
    }

    /// Says lines to a program that answers in lines, and returns the answer to the request `id`.
    fn converse(&self, program: &Path, arguments: &[String], lines: &[Value], id: u64) -> Outcome<Value> {
        use std::io::{BufRead, BufReader, Write};
        let mut child = self.environment.start(program, arguments).map_err(|error| error.to_string())?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err("it has no pipes".into()) };
        let said: String = lines.iter().map(|line| format!("{line}\n")).collect();
        stdin.write_all(said.as_bytes()).map_err(|error| error.to_string())?;
        let answer = BufReader::new(stdout)
            .lines()
            .map_while(Result::ok)
            .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
            .find(|message| message["id"] == id);
        drop(stdin);
        // It may keep its own servers for a while; nobody here needs them.
        process::tree::kill(child.id());
        child.wait().map_err(|error| error.to_string())?;
        answer.ok_or_else(|| "it ended without an answer".into())
    }

    /// Looks that nothing is left of the client's visit but the runs that it should leave, and returns those.
    fn left(&self, runs: Runs) -> Outcome<Value> {
        self.environment.assert_nothing_left();
        let listed = self.succeeds(&executable(), &["runs", "list", "--json"].map(str::to_owned))?;
        let found = listed.json();
        if found.as_array().map_or(0, Vec::len) == usize::from(runs == Runs::One) {
            return Ok(found);
        }
        Err(format!("other runs are recorded than {runs:?}: {}", listed.stdout))
    }

    /// Keeps what the client said, or tells that it says something else now.
    fn keep(&self, name: &str, record: bool) -> Outcome {
        let said = fs::read_to_string(&self.recording).map_err(|error| format!("nothing was recorded: {error}"))?;
        let said =
            said.replace(&text(&self.environment.home()), "/home/person").replace(&text(&shell::root()), "/repository");
        let said: String = said.lines().map(|line| format!("{}\n", without_state(line))).collect();
        let kept = install::locks().join(format!("{name}.jsonl"));
        if record {
            return fs::write(&kept, said).map_err(|error| format!("`{}`: {error}", kept.display()));
        }
        if fs::read_to_string(&kept).is_ok_and(|before| before == said) {
            return Ok(());
        }
        println!("        {name} says something else than in `{}`; keep it with --record", kept.display());
        Ok(())
    }
}
