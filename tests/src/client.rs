//! A protocol client that speaks both eras, and sees everything that comes back.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use process::BlockingChild;
use serde_json::{Value, json};

use crate::environment::{Environment, executable};

/// How the connection is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// By `initialize`, with this protocol revision.
    Legacy(&'static str),
    /// Not at all: every request carries the `_meta` of 2026-07-28.
    Modern,
    /// Not at all, and no `_meta` either: for what must fail.
    None,
}

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// How it opens the connection.
    pub opening: Opening,
    /// The capabilities it claims.
    pub capabilities: Value,
    /// What it answers to forms, in order; `null` leaves a form unanswered.
    pub answers: Vec<Value>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { opening: Opening::Legacy("2025-11-25"), capabilities: json!({}), answers: Vec::new() }
    }
}

/// What a request was answered with.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Its result.
    Result(Value),
    /// Its error.
    Error(Value),
}

impl Answer {
    /// Returns the result.
    ///
    /// # Panics
    ///
    /// When it is an error.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn result(self) -> Value {
        match self {
            Self::Result(result) => result,
            Self::Error(error) => panic!("wanted a result, got the error {error}"),
        }
    }

    /// Returns the error.
    ///
    /// # Panics
    ///
    /// When it is a result.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn error(self) -> Value {
        match self {
            Self::Error(error) => error,
            Self::Result(result) => panic!("wanted an error, got the result {result}"),
        }
    }
}

/// A client with the server it started.
#[derive(Debug)]
pub struct Client {
    child: BlockingChild,
    stdin: Option<ChildStdin>,
    messages: Receiver<String>,
    stderr: Receiver<String>,
    options: ClientOptions,
    next_id: i64,
    answered: HashMap<String, Value>,
    /// Every notification that came, in order.
    pub notifications: Vec<Value>,
    /// Every form that was put before the client's person.
    pub elicited: Vec<Value>,
    elicited_ids: Vec<Value>,
    /// What the opening was answered with.
    pub opened: Value,
    /// What the server did that the protocol does not allow. [`Self::finish`] wants none.
    pub broken: Vec<String>,
    asked: HashSet<String>,
    cancelled: HashSet<String>,
    raw: bool,
    last_progress: HashMap<String, f64>,
}

/// How long a client waits for anything.
const PATIENCE: Duration = Duration::from_secs(30);

impl Client {
    /// Starts `workflow-code` with these arguments and opens the connection.
    ///
    /// # Panics
    ///
    /// When it cannot be started or opened.
    #[must_use]
    pub fn start<S: Into<OsString> + Clone>(
        environment: &Environment,
        arguments: &[S],
        options: ClientOptions,
    ) -> Self {
        let arguments: Vec<OsString> = arguments.iter().cloned().map(Into::into).collect();
        Self::start_program(environment, executable().into_os_string(), &arguments, options)
    }

    /// Starts a server program and opens the connection.
    ///
    /// # Panics
    ///
    /// When it cannot be started or opened.
    #[must_use]
    #[expect(clippy::panic, reason = "tests end here when there is no server")]
    pub fn start_program(
        environment: &Environment,
        program: OsString,
        arguments: &[OsString],
        options: ClientOptions,
    ) -> Self {
        let mut child = match environment.start(&program, arguments) {
            Ok(child) => child,
            Err(error) => panic!("{} cannot be started: {error}", program.display()),
        };
        let (messages, stderr) = (lines(child.stdout.take()), lines(child.stderr.take()));
        let stdin = child.stdin.take();
        let mut client = Self {
            child,
            stdin,
            messages,
            stderr,
            options,
            next_id: 1,
            answered: HashMap::new(),
            notifications: Vec::new(),
            elicited: Vec::new(),
            elicited_ids: Vec::new(),
            opened: Value::Null,
            broken: Vec::new(),
            asked: HashSet::new(),
            cancelled: HashSet::new(),
            raw: false,
            last_progress: HashMap::new(),
        };
        if let Opening::Legacy(version) = client.options.opening {
            let parameters = json!({
                "protocolVersion": version,
                "capabilities": client.options.capabilities,
                "clientInfo": { "name": "tests", "version": "1.0" },
            });
            client.opened = client.request("initialize", parameters).result();
            client.notify("notifications/initialized", json!({}));
        }
        client
    }

    /// The server's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line as it is. From then on an answer with any id is taken for the answer to such a line.
    pub fn send_raw(&mut self, line: &[u8]) {
        self.raw = true;
        self.write(line);
    }

    fn write(&mut self, line: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            // A server that is gone shows when an answer is waited for.
            let _ = stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush());
        }
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes());
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    /// Sends a request and returns its id, without waiting.
    pub fn ask(&mut self, method: &str, mut parameters: Value) -> Value {
        if self.options.opening == Opening::Modern {
            let mut meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1.0" },
                "io.modelcontextprotocol/clientCapabilities": self.options.capabilities,
            });
            if let (Some(meta), Some(own)) = (meta.as_object_mut(), parameters.get("_meta").and_then(Value::as_object))
            {
                meta.extend(own.clone());
            }
            parameters["_meta"] = meta;
        }
        let id = json!(self.next_id);
        self.next_id += 1;
        self.asked.insert(id.to_string());
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        id
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Panics
    ///
    /// When none comes in half a minute, or something comes that is no JSON-RPC message.
    pub fn request(&mut self, method: &str, parameters: Value) -> Answer {
        let id = self.ask(method, parameters);
        self.wait(&id)
    }

    /// Calls a tool and returns the result.
    ///
    /// # Panics
    ///
    /// As [`Self::request`].
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Waits for the answer to a request, and handles what comes before it.
    ///
    /// # Panics
    ///
    /// As [`Self::request`].
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn wait(&mut self, id: &Value) -> Answer {
        match self.wait_until(id, Instant::now() + PATIENCE) {
            Some(answer) => answer,
            None => panic!("no answer to {id}; standard error: {}", self.errors()),
        }
    }

    /// Waits for the answer to a request until `deadline`, and handles what comes before it.
    ///
    /// # Panics
    ///
    /// When something comes that is no JSON-RPC message.
    pub fn wait_until(&mut self, id: &Value, deadline: Instant) -> Option<Answer> {
        loop {
            if let Some(message) = self.answered.remove(&id.to_string()) {
                return Some(match message.get("error") {
                    Some(error) => Answer::Error(error.clone()),
                    None => Answer::Result(message["result"].clone()),
                });
            }
            let message = self.next_message(deadline)?;
            self.handle(message);
        }
    }

    /// Answers a form that was left unanswered, the newest first of [`Self::elicited`].
    ///
    /// # Panics
    ///
    /// When none was put before the client.
    #[expect(clippy::expect_used, reason = "this is an assertion")]
    pub fn answer_form(&mut self, answer: &Value) {
        let id = self.elicited_ids.pop().expect("a form is open");
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": answer }));
    }

    /// Takes a request back. From then on its answer would be a fault of the server.
    pub fn cancel(&mut self, id: &Value) {
        self.cancelled.insert(id.to_string());
        self.notify("notifications/cancelled", json!({ "requestId": id, "reason": "tests" }));
    }

    /// Returns the next message as it is; `None` when the server has closed its output or time is over.
    ///
    /// # Panics
    ///
    /// When a line comes that is no JSON-RPC message: standard output carries nothing else.
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn next_message(&mut self, deadline: Instant) -> Option<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = match self.messages.recv_timeout(left) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        match serde_json::from_str::<Value>(&line) {
            Ok(message) if message["jsonrpc"] == "2.0" => Some(message),
            _ => panic!("standard output carries what is no JSON-RPC: {line}"),
        }
    }

    fn handle(&mut self, message: Value) {
        let method = message.get("method").and_then(Value::as_str);
        match (method, message.get("id")) {
            (Some(method), Some(_)) if self.options.opening == Opening::Modern => {
                self.broken.push(format!("`{method}` was asked of a client of 2026-07-28"));
            }
            (Some("elicitation/create"), Some(id)) => {
                if self.options.capabilities.get("elicitation").is_none() {
                    self.broken.push("`elicitation/create` came though the client never offered it".into());
                }
                self.elicited.push(message["params"].clone());
                self.elicited_ids.push(id.clone());
                let answer = if self.options.answers.is_empty() {
                    json!({ "action": "cancel" })
                } else {
                    self.options.answers.remove(0)
                };
                if !answer.is_null() {
                    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": answer });
                    self.send(&answer);
                }
            }
            (Some(_), Some(id)) => {
                let refusal =
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "not offered" } });
                self.send(&refusal);
            }
            (Some(_), None) => {
                self.check_progress(&message);
                self.notifications.push(message);
            }
            (None, id) => {
                let id = id.cloned().unwrap_or_default().to_string();
                if !self.asked.remove(&id) && !self.raw {
                    self.broken.push(format!("an answer came that nobody waits for: {message}"));
                }
                if self.cancelled.contains(&id) {
                    self.broken.push(format!("the cancelled request {id} was answered: {message}"));
                }
                self.answered.insert(id, message);
            }
        }
    }

    fn check_progress(&mut self, message: &Value) {
        if message["method"] != "notifications/progress" {
            return;
        }
        let parameters = &message["params"];
        let token = parameters["progressToken"].to_string();
        let now = parameters["progress"].as_f64().unwrap_or(f64::NAN);
        let last = self.last_progress.insert(token, now);
        if now.is_nan() || last.is_some_and(|last| now <= last) {
            self.broken.push(format!("progress did not grow: {parameters}"));
        }
    }

    /// Takes in what comes until `done` says so or time is over; returns whether it did.
    ///
    /// # Panics
    ///
    /// When a line comes that is no JSON-RPC message.
    pub fn until(&mut self, most: Duration, mut done: impl FnMut(&Self) -> bool) -> bool {
        let deadline = Instant::now() + most;
        while !done(self) {
            match self.next_message(deadline) {
                Some(message) => self.handle(message),
                None => return done(self),
            }
        }
        true
    }

    /// Takes in what comes until the server closes its output or time is over.
    ///
    /// # Panics
    ///
    /// When a line comes that is no JSON-RPC message.
    pub fn drain(&mut self, most: Duration) {
        let deadline = Instant::now() + most;
        while let Some(message) = self.next_message(deadline) {
            self.handle(message);
        }
    }

    /// Tells whether a request was answered by now.
    #[must_use]
    pub fn is_answered(&self, id: &Value) -> bool {
        self.answered.contains_key(&id.to_string())
    }

    /// Closes the server's input.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Closes the server's input and waits for its end; returns its exit code and how long it took.
    ///
    /// # Panics
    ///
    /// When it has not ended after ten seconds, its output carried something else than JSON-RPC, or it did what the
    /// protocol does not allow.
    pub fn finish(mut self) -> (i32, Duration) {
        self.close_input();
        let started = Instant::now();
        let code = self.wait_for_exit();
        let took = started.elapsed();
        self.drain(Duration::from_secs(1));
        assert!(self.broken.is_empty(), "the protocol was broken: {:#?}", self.broken);
        (code, took)
    }

    /// Waits for the server's end.
    ///
    /// # Panics
    ///
    /// When it has not ended after ten seconds.
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn wait_for_exit(&mut self) -> i32 {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.code().unwrap_or(-1),
                Ok(None) if Instant::now() < deadline => std::thread::park_timeout(Duration::from_millis(1)),
                Ok(None) => {
                    process::tree::kill(self.child.id());
                    panic!("the server has not ended; standard error: {}", self.errors());
                }
                Err(error) => panic!("the server's end cannot be seen: {error}"),
            }
        }
    }

    /// Kills the server without a word.
    pub fn kill(mut self) {
        if let Some(facts) = process::proc_info::facts(self.child.id()) {
            process::tree::signal(facts, process::tree::Signal::Kill);
        }
        let _ = self.child.wait();
    }

    /// What the server has written to standard error by now.
    pub fn errors(&mut self) -> String {
        self.stderr.try_iter().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            process::tree::kill(self.child.id());
            let _ = self.child.wait();
        }
    }
}

fn lines(stream: Option<impl std::io::Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(stream) = stream else { return };
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            if !text.is_empty() && sender.send(text).is_err() {
                break;
            }
            line.clear();
        }
    });
    receiver
}
