//! A dev server with its own home, and calling it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use process::BlockingChild;
use serde_json::{Value, json};

use crate::environment::{Environment, executable};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A dev server that was started in a test's home.
#[derive(Debug)]
pub struct DevServer {
    child: BlockingChild,
    address: String,
    token: String,
    agent: ureq::Agent,
}

/// What the dev server says has changed, as it comes.
#[derive(Debug)]
pub struct Events {
    messages: Receiver<(Instant, Value)>,
}

impl DevServer {
    /// Starts the dev server that lies beside the executable.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn start(environment: &Environment, arguments: &[&str]) -> std::io::Result<Self> {
        let program = executable().with_file_name("dev-server");
        let mut all: Vec<&OsStr> = vec![OsStr::new("--until-eof")];
        all.extend(arguments.iter().map(OsStr::new));
        let mut child = environment.start(program, &all)?;
        let stdout = child.stdout.take().ok_or_else(|| std::io::Error::other("no output"))?;
        let mut line = String::new();
        let mut stdout = BufReader::new(stdout);
        stdout.read_line(&mut line)?;
        let (address, token) = line
            .trim()
            .split_once("/?token=")
            .filter(|(address, _)| address.starts_with("http://127.0.0.1:"))
            .ok_or_else(|| std::io::Error::other(format!("it did not begin to serve: {line}")))?;
        let (address, token) = (address.to_owned(), token.to_owned());
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).timeout_global(None).build().into();
        Ok(Self { child, address, token, agent })
    }

    /// Its address, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What its address needs for a page to be let in, and a request: `Bearer` with this.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Calls a command. `Err` is the error as it crossed the border.
    ///
    /// # Panics
    ///
    /// When the server does not answer as it should.
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn call(&self, name: &str, request: Value) -> Result<Value, Value> {
        let body = json!({ "name": name, "request": request }).to_string();
        let answer = self
            .agent
            .post(format!("{}/rpc", self.address))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {}", self.token))
            .send(body)
            .and_then(|mut answer| answer.body_mut().with_config().limit(64 * 1024 * 1024).read_to_string());
        let text = answer.unwrap_or_else(|error| panic!("`{name}`: {error}"));
        let mut answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("`{name}`: {error}: {text}"));
        match answer.get_mut("ok").map(Value::take) {
            Some(value) => Ok(value),
            None => Err(answer["error"].take()),
        }
    }

    /// Calls a command that must go well.
    ///
    /// # Panics
    ///
    /// When it does not.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn ok(&self, name: &str, request: Value) -> Value {
        self.call(name, request).unwrap_or_else(|error| panic!("`{name}` failed: {error}"))
    }

    /// Calls a command that must fail, and returns the code.
    ///
    /// # Panics
    ///
    /// When it goes well.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn code(&self, name: &str, request: Value) -> String {
        match self.call(name, request) {
            Ok(value) => panic!("`{name}` went well: {value}"),
            Err(error) => error["code"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Begins to listen for changes; returns when nothing is missed from then on.
    ///
    /// # Panics
    ///
    /// When the server does not let us.
    #[must_use]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn events(&self) -> Events {
        let answer = self
            .agent
            .get(format!("{}/events", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .call();
        let answer = answer.unwrap_or_else(|error| panic!("the events: {error}"));
        let mut lines = BufReader::new(answer.into_body().into_reader());
        let mut first = String::new();
        assert!(lines.read_line(&mut first).is_ok_and(|read| read > 0), "the events ended at once");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in lines.lines() {
                let Ok(line) = line else { return };
                let Some(text) = line.strip_prefix("data: ") else { continue };
                let message = serde_json::from_str(text).unwrap_or_default();
                if sender.send((Instant::now(), message)).is_err() {
                    return;
                }
            }
        });
        Events { messages }
    }

    /// Waits until `done` says so of a command's answer.
    ///
    /// # Panics
    ///
    /// When it has not after half a minute.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn wait_for(&self, name: &str, request: &Value, done: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.call(name, request.clone());
            if let Ok(answer) = &answer
                && done(answer)
            {
                return answer.clone();
            }
            if Instant::now() > until {
                panic!("`{name}` did not come to what was waited for: {answer:?}");
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    /// Ends it, and waits for that.
    ///
    /// # Panics
    ///
    /// When it does not end.
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn finish(mut self) {
        self.child.stdin = None;
        let until = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > until {
                process::tree::kill(self.child.id());
                panic!("the dev server did not end");
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

impl Events {
    /// Waits for a message of which `wanted` says so, and returns when it came.
    ///
    /// # Panics
    ///
    /// When none comes.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn wait(&self, wanted: impl Fn(&Value) -> bool) -> (Instant, Value) {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((at, message)) if wanted(&message) => return (at, message),
                Ok(_) => {}
                Err(error) => panic!("the change did not come: {error}"),
            }
        }
    }
}
