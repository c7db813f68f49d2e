//! What a supervisor and its worker say to each other: one JSON value a line, over two pipes.
//!
//! Both ends are the same executable (a worker is started from the launcher's own image), so there are no versions
//! here; the build id in [`ToWorker`]'s first message guards the systems where that cannot be had.

use std::collections::BTreeMap;

use model::{NodeKind, NodeStatus, RunError, TimestampMs};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest line either side takes: an output of the largest allowed size, with room.
pub const LINE_BYTES: usize = 128 * 1024 * 1024;

/// Names the build that a worker must be of.
pub const BUILD: &str = env!("CARGO_PKG_VERSION");

/// What a supervisor says. The first message tells the worker what it is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "m", rename_all = "camelCase")]
pub enum ToWorker {
    /// Analyse sources, one after the other.
    Structure(StructureJob),
    /// Run a script.
    Script(Box<ScriptJob>),
    /// Run a command.
    Command(CommandJob),
    /// The result of a host call.
    Deliver(DeliveredCall),
    /// End politely.
    Cancel,
}

/// Sources to analyse.
#[derive(Debug, Serialize, Deserialize)]
pub struct StructureJob {
    /// The project's folder.
    pub root: String,
    /// The files, relative to it, in the order they are to be taken.
    pub files: Vec<String>,
}

/// A script to run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptJob {
    /// The project's folder.
    pub root: String,
    /// The file, relative to it.
    pub file: String,
    /// The run's own code, when it was kept with the run: text by relative path. Absent: read from the folder.
    pub sources: Option<BTreeMap<String, String>>,
    /// What the script gets, files as handles.
    pub input: Value,
    /// Where chance starts.
    pub seed: String,
    /// Where the run's clock starts.
    pub started_at: TimestampMs,
    /// The script's memory.
    pub memory_bytes: u64,
    /// What the run did before, in order.
    pub journal: Vec<Value>,
}

/// A command to run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandJob {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The folder it starts in.
    pub folder: String,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// What it reads on standard input.
    pub input: String,
    /// Where it may write its report.
    pub report: String,
}

/// The result of a host call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeliveredCall {
    /// The call.
    pub seq: u64,
    /// When it was done, which is what the run's clock shows from then on.
    pub at: TimestampMs,
    /// What came out, when it succeeded.
    pub ok: Option<Value>,
    /// What went wrong, otherwise.
    pub err: Option<CallError>,
}

/// Why a host call failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallError {
    /// A stable code that scripts can look at.
    pub code: String,
    /// What went wrong.
    pub message: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<Value>,
}

impl CallError {
    /// Makes an error of a code and a sentence.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), data: None }
    }
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "m", rename_all = "camelCase")]
pub enum FromWorker {
    /// It runs, and of which build it is.
    Ready {
        /// See [`BUILD`].
        build: String,
    },
    /// A source was analysed.
    Analysed(Analysed),
    /// The modules a script is made of, before any of it runs.
    Loaded {
        /// The modules.
        modules: Vec<LoadedModule>,
    },
    /// A host call.
    Call(IssuedCall),
    /// Output of the project.
    Log {
        /// Where it was written.
        stream: Stream,
        /// What was written: whole lines, or the rest at the end.
        text: String,
    },
    /// A part of the run begins.
    Phase {
        /// Its node.
        node: u64,
        /// Its title.
        title: String,
    },
    /// How far the run is.
    Progress {
        /// What is done.
        done: Option<f64>,
        /// What there is to do.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// A node began or changed.
    Node(NodeNews),
    /// It is over. The last message.
    Done(Outcome),
}

/// A source and what it declares.
#[derive(Debug, Serialize, Deserialize)]
pub struct Analysed {
    /// Which of the files it is.
    pub index: usize,
    /// What was found.
    pub found: Result<Declared, Broken>,
}

/// What a source declares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// Whether it is an orchestration script.
    pub script: bool,
    /// `entrypoint` or `meta` as written; null when it says nothing.
    pub declaration: Value,
    /// The modules it is made of, relative paths.
    pub modules: Vec<String>,
}

/// Why a source cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// What is wrong.
    pub message: String,
    /// Where, relative to the project.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<u32>,
}

/// A module of a script.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoadedModule {
    /// Relative to the project.
    pub path: String,
    /// Of its text.
    pub sha256: String,
    /// As it was read.
    pub text: String,
}

/// A host call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IssuedCall {
    /// Counts the script's calls.
    pub seq: u64,
    /// What is called.
    pub kind: String,
    /// With what.
    pub args: Value,
    /// The node it belongs to.
    pub node: Option<u64>,
    /// Of kind and arguments, to compare on replay.
    pub fingerprint: String,
}

/// One of the two output streams of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A node that began or changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodeNews {
    /// Its id.
    pub id: u64,
    /// The node it lies in.
    pub parent: Option<u64>,
    /// What it stands for.
    pub kind: NodeKind,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub status: NodeStatus,
}

/// How a worker's job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "o", rename_all = "camelCase")]
pub enum Outcome {
    /// With an output.
    Success {
        /// What came out.
        output: Value,
    },
    /// With an error.
    Failed {
        /// What went wrong.
        error: RunError,
    },
    /// A command asks a person, and is started again with the answer.
    Pending {
        /// The form as declared.
        form: Value,
    },
    /// Stopped as asked.
    Cancelled,
}
