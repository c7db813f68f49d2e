//! The Dock's test: the very command that clients start, in an environment as poor as theirs, opened and asked for its
//! tools.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use api::wire::dock::{DockTest, StageName, TestStage, TestedTool};
use clients::Launch;
use process::{BlockingChild, Environment, Input, Spec};
use serde_json::{Value, json};

use crate::{env_vars, invocation};

/// How long each stage may take.
const PATIENCE: Duration = Duration::from_secs(7);
/// How long the server may take to end once nobody writes to it.
const LAST_STEPS: Duration = Duration::from_secs(2);
/// What is read of an answer, and of what it says to standard error.
const LINE: u64 = 4 * 1024 * 1024;
const ERRORS: u64 = 64 * 1024;
/// Lines of standard error that are shown.
const SHOWN: usize = 20;
/// Pages of tools that are asked for.
const PAGES: usize = 20;

/// The variables that common clients pass on, and no more.
const PASSED_ON: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// A server that was started.
struct Server {
    child: BlockingChild,
    lines: Receiver<String>,
    errors: Receiver<String>,
    next: u64,
}

impl Server {
    fn start(launch: &Launch) -> Result<Self, String> {
        let mut environment: Environment =
            PASSED_ON.iter().filter_map(|name| Some(((*name).into(), env_vars::get(name)?.into()))).collect();
        environment.extend(launch.env().iter().map(|(name, value)| (name.into(), value.into())));
        // Clients start servers anywhere; the home folder is a place that always is.
        let folder = env_vars::home().unwrap_or_else(|| PathBuf::from("/"));
        let mut child = Spec::new(launch.command())
            .arguments(launch.args())
            .folder(folder)
            .environment(environment)
            .input(Input::Pipe)
            .spawn_blocking()
            .map_err(|error| model::with_causes(&error))?;
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                loop {
                    let mut line = String::new();
                    match (&mut stdout).take(LINE).read_line(&mut line) {
                        Ok(0) | Err(_) => return,
                        Ok(_) => {
                            if sender.send(line).is_err() {
                                return;
                            }
                        }
                    }
                }
            });
        }
        let (sender, errors) = channel();
        if let Some(stderr) = child.stderr.take() {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let mut stderr = stderr;
                let _ = (&mut stderr).take(ERRORS).read_to_end(&mut text);
                let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
                // What comes after is read and forgotten, so that the server is not held up by it.
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            });
        }
        Ok(Self { child, lines, errors, next: 1 })
    }

    fn write(&mut self, message: &Value) -> Result<(), String> {
        let stdin = self.child.stdin.as_mut().ok_or("its input is closed")?;
        writeln!(stdin, "{message}").and_then(|()| stdin.flush()).map_err(|error| format!("it ended early: {error}"))
    }

    /// Asks, and waits for the answer to exactly this.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let id = self.next;
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let until = Instant::now() + PATIENCE;
        loop {
            let line = match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("no answer to `{method}` after {} s", PATIENCE.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err("it ended early".to_owned()),
            };
            let answer: Value = serde_json::from_str(&line).map_err(|_| {
                format!("it wrote a line that is no JSON: {}", line.chars().take(200).collect::<String>())
            })?;
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                return Err(error
                    .get("message")
                    .and_then(Value::as_str)
                    .unwrap_or("an error without words")
                    .to_owned());
            }
            return Ok(answer.get("result").cloned().unwrap_or_default());
        }
    }

    /// Ends it as a client does, and returns the last of what it said.
    fn end(mut self) -> Option<String> {
        self.child.stdin = None;
        let until = Instant::now() + LAST_STEPS;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > until {
                process::tree::kill(self.child.id());
                let _ = self.child.wait();
                break;
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
        let text = self.errors.recv_timeout(LAST_STEPS).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.get(lines.len().saturating_sub(SHOWN)..).unwrap_or_default().join("\n");
        (!last.is_empty()).then_some(last)
    }
}

/// Starts the command, opens the connection, lists the tools.
pub(super) fn test(launch: &Launch, told: &mut dyn FnMut(&DockTest)) -> DockTest {
    let words = std::iter::once(launch.command()).chain(launch.args().iter().map(String::as_str));
    let command = words.collect::<Vec<_>>().join(" ");
    let began = Instant::now();
    let mut test =
        DockTest { ok: false, stages: Vec::new(), tools: Vec::new(), total_ms: 0.0, stderr: None, hint: None, command };
    let mut server = match Server::start(launch) {
        Ok(server) => {
            stage(&mut test, StageName::Start, began, Ok(None));
            told(&test);
            server
        }
        Err(why) => {
            stage(&mut test, StageName::Start, began, Err(why));
            test.hint = Some("see that the executable is where the command says, and may be run".into());
            test.total_ms = milliseconds(began);
            return test;
        }
    };
    test.ok = stages(&mut server, &mut test, told);
    test.total_ms = milliseconds(began);
    test.stderr = server.end();
    if !test.ok {
        let doctor = invocation::command(&["doctor"]);
        test.hint = Some(format!("what the server wrote says more; `{doctor}` examines the project"));
    }
    test
}

fn stages(server: &mut Server, test: &mut DockTest, told: &mut dyn FnMut(&DockTest)) -> bool {
    let began = Instant::now();
    let opening = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "workflow-code-test", "version": env!("CARGO_PKG_VERSION") },
    });
    let opened = server.ask("initialize", &opening).and_then(|opened| {
        server.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).map(|()| opened)
    });
    let went = opened.map(|opened| {
        let name = opened.pointer("/serverInfo/name").and_then(Value::as_str).unwrap_or_default();
        let version = opened.pointer("/serverInfo/version").and_then(Value::as_str).unwrap_or_default();
        Some(format!("{name} {version}").trim().to_owned())
    });
    if !stage(test, StageName::Initialize, began, went) {
        return false;
    }
    told(test);
    let began = Instant::now();
    let listed = tools(server);
    let went = match &listed {
        Ok(tools) if tools.is_empty() => Err("it offers no tools".to_owned()),
        Ok(tools) => Ok(Some(format!("{} tools", tools.len()))),
        Err(why) => Err(why.clone()),
    };
    test.tools = listed.unwrap_or_default();
    let ok = stage(test, StageName::Tools, began, went);
    // What follows is only its end.
    told(test);
    ok
}

fn tools(server: &mut Server) -> Result<Vec<TestedTool>, String> {
    let mut tools = Vec::new();
    let mut params = json!({});
    for _ in 0..PAGES {
        let page = server.ask("tools/list", &params)?;
        for tool in page.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default() {
            let text = |name: &str| tool.get(name).and_then(Value::as_str).map(str::to_owned);
            let takes = tool.pointer("/inputSchema/properties").and_then(Value::as_object);
            tools.push(TestedTool {
                name: text("name").unwrap_or_default(),
                title: text("title"),
                description: text("description"),
                params: takes.map(|takes| takes.keys().cloned().collect()).unwrap_or_default(),
            });
        }
        match page.get("nextCursor") {
            Some(cursor) if !cursor.is_null() => params = json!({ "cursor": cursor }),
            Some(_) | None => break,
        }
    }
    Ok(tools)
}

/// Notes how a stage went.
fn stage(test: &mut DockTest, name: StageName, began: Instant, went: Result<Option<String>, String>) -> bool {
    let ok = went.is_ok();
    let detail = match went {
        Ok(detail) => detail,
        Err(why) => Some(why),
    };
    test.stages.push(TestStage { name, ms: Some(milliseconds(began)), ok, detail });
    ok
}

fn milliseconds(began: Instant) -> f64 {
    (began.elapsed().as_secs_f64() * 10_000.0).round() / 10.0
}
