//! A host in the test's own process, and projects in temporary folders.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use workflow_script::{
    CallKind, Control, Delivery, Host, HostCall, HostError, Job, JobKind, JournalRow, ModuleSource, Narration, Outcome,
    Sources, Stream,
};

/// What a scripted host does with a call.
pub(crate) enum Reply {
    /// Hands over a value.
    Value(Value),
    /// Hands over an error.
    Error(&'static str, &'static str),
    /// Hands over an error that ends the run.
    Fatal(&'static str, &'static str),
    /// Hands over nothing, for ever.
    Never,
}

type Answer = Box<dyn FnMut(&HostCall) -> Reply>;

/// A host that answers from a closure, first come first served, and writes a journal as a real one would.
pub(crate) struct TestHost {
    answer: Answer,
    pub(crate) calls: Vec<HostCall>,
    pub(crate) narrations: Vec<Narration>,
    pub(crate) loaded: Vec<ModuleSource>,
    pub(crate) abandoned: Vec<u64>,
    pub(crate) journal: Vec<JournalRow>,
    queue: VecDeque<(u64, Result<Value, HostError>)>,
    /// The clock, which each delivery moves by a second.
    pub(crate) now: i64,
    /// Deliveries after which the host breaks off, as a process that dies does.
    pub(crate) dies_after: Option<usize>,
    delivered: usize,
    /// Handed over when nothing is left to deliver.
    pub(crate) idle: Delivery,
    /// Hands over the newest outcome first.
    pub(crate) newest_first: bool,
}

impl TestHost {
    pub(crate) fn new(answer: impl FnMut(&HostCall) -> Reply + 'static) -> Self {
        Self {
            answer: Box::new(answer),
            calls: Vec::new(),
            narrations: Vec::new(),
            loaded: Vec::new(),
            abandoned: Vec::new(),
            journal: Vec::new(),
            queue: VecDeque::new(),
            now: 1_000_000,
            dies_after: None,
            delivered: 0,
            idle: Delivery::Suspend,
            newest_first: false,
        }
    }

    /// Answers every call with `null`.
    pub(crate) fn silent() -> Self {
        Self::new(|_| Reply::Value(Value::Null))
    }

    pub(crate) fn lines(&self, wanted: Stream) -> Vec<String> {
        self.narrations
            .iter()
            .filter_map(|event| match event {
                Narration::Log { stream, text, .. } if *stream == wanted => Some(text.clone()),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn notes(&self) -> Vec<(String, Option<String>)> {
        self.narrations
            .iter()
            .filter_map(|event| match event {
                Narration::Note(note) => Some((note.code.clone(), note.subject.clone())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn kinds(&self) -> Vec<CallKind> {
        self.calls.iter().map(|call| call.kind).collect()
    }
}

impl Host for TestHost {
    fn loaded(&mut self, modules: &[ModuleSource]) {
        self.loaded.extend_from_slice(modules);
    }

    fn issue(&mut self, call: HostCall) {
        let known = self.journal.iter().any(|row| matches!(row, JournalRow::Issue { seq, .. } if *seq == call.seq));
        if !known {
            self.journal.push(JournalRow::Issue {
                seq: call.seq,
                kind: call.kind.as_str().into(),
                fingerprint: call.fingerprint.clone(),
            });
        }
        let error = |code: &str, message: &str, fatal| HostError {
            code: code.into(),
            message: message.into(),
            data: None,
            fatal,
        };
        match (self.answer)(&call) {
            Reply::Value(value) => self.queue.push_back((call.seq, Ok(value))),
            Reply::Error(code, message) => self.queue.push_back((call.seq, Err(error(code, message, false)))),
            Reply::Fatal(code, message) => self.queue.push_back((call.seq, Err(error(code, message, true)))),
            Reply::Never => {}
        }
        self.calls.push(call);
    }

    fn abandon(&mut self, seq: u64) {
        self.abandoned.push(seq);
        self.queue.retain(|(queued, _)| *queued != seq);
    }

    fn narrate(&mut self, event: Narration) {
        self.narrations.push(event);
    }

    fn next_delivery(&mut self) -> Delivery {
        if self.dies_after.is_some_and(|limit| self.delivered >= limit) {
            return Delivery::Cancelled { reason: "the process died".into() };
        }
        let next = if self.newest_first { self.queue.pop_back() } else { self.queue.pop_front() };
        match next {
            Some((seq, outcome)) => {
                self.delivered += 1;
                self.now += 1_000;
                self.journal.push(JournalRow::Done { seq, at: self.now, outcome: outcome.clone() });
                Delivery::Done { seq, at: self.now, outcome }
            }
            None => self.idle.clone(),
        }
    }
}

/// A project in a temporary folder.
pub(crate) struct Project {
    pub(crate) folder: TempDir,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        Self { folder }
    }

    pub(crate) fn job(&self, file: &str) -> Job {
        let mut job = Job::new(JobKind::Module, self.folder.path(), file);
        job.started_at = 1_000_000;
        job
    }
}

/// Makes a job of one source that needs no folder.
pub(crate) fn job_of(kind: JobKind, file: &str, source: &str) -> Job {
    let mut job = Job::new(kind, "/nowhere", file);
    job.sources = Sources::Kept(BTreeMap::from([(file.to_owned(), source.to_owned())]));
    job.started_at = 1_000_000;
    job
}

/// Makes a job of a module whose default export has this body, with `input` and `flow`.
pub(crate) fn job_with_body(body: &str) -> Job {
    job_of(
        JobKind::Module,
        "main.ts",
        &format!("export default async function (input: any, flow: any) {{\n{body}\n}}\n"),
    )
}

pub(crate) fn run(job: &Job, host: &mut TestHost) -> Outcome {
    workflow_script::run(job, host, &Arc::new(Control::new()))
}

/// Runs a module's body with a host that answers everything with `null`.
pub(crate) fn run_body(body: &str) -> Outcome {
    run(&job_with_body(body), &mut TestHost::silent())
}

/// Runs a module's body and returns its output.
#[track_caller]
pub(crate) fn output_of(body: &str) -> Value {
    match run_body(body) {
        Outcome::Success(value) => value,
        other => panic!("{other:?}"),
    }
}

/// Writes an outcome as one line, for snapshots.
pub(crate) fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Success(value) => format!("success: {value}"),
        Outcome::Failed(error) => format!("{}: {}", error.code.as_str(), error.message),
        other => format!("{other:?}"),
    }
}

/// Runs a body and writes its outcome as one line.
pub(crate) fn shown_of(body: &str) -> String {
    shown(&run_body(body))
}
