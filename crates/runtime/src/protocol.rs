//! What a supervisor and its worker say to each other: one JSON value a line, over two pipes.
//!
//! Both ends are the same executable (a worker is started from the launcher's own image), so there are no versions
//! here; the build in [`FromWorker::Ready`] guards the systems where that cannot be had.
//!
//! Each message is named by the key around it: a name among its fields would be looked for first, and everything kept
//! apart meanwhile, which for a long journal takes longer than all else.

use std::collections::BTreeMap;

use model::{RunError, TimestampMs};
use script::{HostCall, HostError, Job, ModuleSource, Narration, Tally};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest line either side takes: an output of the largest size, with room.
pub const LINE_BYTES: usize = 160 * 1024 * 1024;

/// Names the build that a worker must be of.
pub const BUILD: &str = env!("CARGO_PKG_VERSION");

/// What a supervisor says. The first message tells the worker what it is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToWorker {
    /// Analyse sources, one after the other.
    Structure(StructureJob),
    /// Run a script.
    Script(Box<Job>),
    /// Run a command.
    Command(CommandJob),
    /// The result of a host call.
    Deliver(Delivered),
    /// Run a program for the script.
    Exec(ExecJob),
    /// Only questions to a person are open, and nobody is there to answer: end, to be replayed later.
    Suspend,
    /// The run's time is over.
    TimeOut,
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

/// A program to run for a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecJob {
    /// The host call that asks for it.
    pub seq: u64,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The folder it starts in.
    pub folder: String,
    /// Its whole environment, once it is started.
    pub environment: BTreeMap<String, String>,
    /// What it reads.
    pub input: String,
    /// How long it may take.
    pub timeout_ms: u64,
    /// How long it may write nothing, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence_ms: Option<u64>,
}

/// What a program did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// Its exit code; -1 when a signal ended it.
    pub exit_code: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// Whether more was written than is kept.
    pub truncated: bool,
    /// Whether it was ended since it wrote nothing for too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stalled: bool,
}

/// The result of a host call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivered {
    /// The call.
    pub seq: u64,
    /// When it was done, which is what the run's clock shows from then on.
    pub at: TimestampMs,
    /// What came of it.
    pub outcome: Result<Value, HostError>,
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
        modules: Vec<ModuleSource>,
    },
    /// A host call.
    Call(HostCall),
    /// Nobody waits for a host call any more.
    Abandon {
        /// Which one.
        seq: u64,
    },
    /// A program for the script has ended, or could not be run.
    Executed {
        /// The host call that asked for it.
        seq: u64,
        /// What it did, or why not.
        outcome: Result<Executed, String>,
    },
    /// What the project tells.
    Narrate(Narration),
    /// What the run's agents came to.
    Tally {
        /// The sums.
        tally: Tally,
    },
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
    /// Whether it declares nothing that could be run: a helper of others, perhaps.
    #[serde(default)]
    pub undeclared: bool,
}

/// How a worker's job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// Stopped, to be replayed later.
    Suspended,
    /// Out of time.
    TimedOut,
    /// Stopped as asked.
    Cancelled,
}
