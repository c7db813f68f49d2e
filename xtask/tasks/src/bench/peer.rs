//! A client with nothing between its clock and the pipes.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use process::BlockingChild;
use serde_json::{Value, json};
use workflow_code_tests::Environment;

use xtask::shell::Outcome;

/// A server that was started to be measured.
pub(crate) struct Peer {
    child: BlockingChild,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    started: Instant,
    next_id: u64,
}

/// When the first answers came, counted from the start of the process.
pub(crate) struct Opened {
    pub(crate) initialize: Duration,
    pub(crate) tools: Duration,
}

impl Peer {
    pub(crate) fn start(environment: &Environment, program: &Path, arguments: &[OsString]) -> Outcome<Self> {
        let started = Instant::now();
        let mut child = environment
            .start(program, arguments)
            .map_err(|error| format!("`{}` could not be started: {error}", program.display()))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().map(BufReader::new).ok_or("no standard output")?;
        if let Some(mut stderr) = child.stderr.take() {
            // A full pipe would be measured as well.
            std::thread::spawn(move || {
                let mut words = Vec::new();
                let _ = stderr.read_to_end(&mut words);
            });
        }
        Ok(Self { child, stdin, stdout, started, next_id: 0 })
    }

    /// Opens the connection as clients of 2025-11-25 do, and asks for the tools.
    pub(crate) fn open(&mut self) -> Outcome<Opened> {
        self.open_with(&json!({}))
    }

    /// The same as a client that can do more.
    pub(crate) fn open_with(&mut self, capabilities: &Value) -> Outcome<Opened> {
        self.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "bench", "version": "1" },
            }),
        )?;
        let initialize = self.started.elapsed();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        self.request("tools/list", &json!({}))?;
        Ok(Opened { initialize, tools: self.started.elapsed() })
    }

    /// Calls a tool and returns how long that took.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Outcome<Duration> {
        let started = Instant::now();
        let result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let took = started.elapsed();
        if result["isError"] == true { Err(format!("`{tool}` failed: {result}")) } else { Ok(took) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, message: &Value) -> Outcome {
        let line = format!("{message}\n");
        let stdin = self.stdin.as_mut().ok_or("the input is closed")?;
        stdin.write_all(line.as_bytes()).map_err(|error| format!("the server does not read: {error}"))
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Outcome<Value> {
        let id = self.ask(method, parameters)?;
        self.wait(id)
    }

    /// Sends a request and returns its number.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Outcome<u64> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        Ok(id)
    }

    /// Waits for the result of a request.
    pub(crate) fn wait(&mut self, id: u64) -> Outcome<Value> {
        let message = self.until(|message| message["id"] == id && message.get("method").is_none())?;
        message.get("result").cloned().ok_or(format!("request {id} was refused: {message}"))
    }

    /// Waits until the server asks for something.
    pub(crate) fn wait_for(&mut self, method: &str) -> Outcome {
        self.until(|message| message["method"] == method).map(drop)
    }

    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Outcome<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            match self.stdout.read_line(&mut line) {
                Ok(read) if read > 0 => {}
                _ => return Err("the server ended before it answered".into()),
            }
            let message: Value = serde_json::from_str(&line).map_err(|error| format!("`{line}`: {error}"))?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    /// Closes its input, waits for its end and returns how long that took.
    pub(crate) fn finish(mut self) -> Outcome<Duration> {
        let closed = Instant::now();
        self.stdin = None;
        self.child.wait().map_err(|error| error.to_string())?;
        Ok(closed.elapsed())
    }
}
