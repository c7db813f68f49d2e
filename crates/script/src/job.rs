//! What is to be run, and how it ended.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{Limits, RunError, TimestampMs};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{HostError, Sources};

/// What kind of file an entrypoint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// A module with a default export, called as `(input, flow)`.
    Module,
    /// An orchestration script: `export const meta` and a body, whose parameters are the global `args`.
    Script,
    /// The body of an orchestration script by the strict contract; its `meta` travels beside it ([`Job::meta`]).
    Body,
}

/// Everything that decides what a run does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// What kind of file it is.
    pub kind: JobKind,
    /// The project's folder, absolute.
    pub root: PathBuf,
    /// The file, relative to it, with `/` between the parts.
    pub file: String,
    /// Where the sources are read.
    pub sources: Sources,
    /// A module's `input` (absent: an empty object), or a script's `args` (absent: `undefined`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<Value>,
    /// Whether a script gets `args` that are the text of a JSON object or list as that text instead of its value.
    #[serde(default)]
    pub args_verbatim: bool,
    /// What `Math.random` follows from.
    #[serde(with = "hexadecimal")]
    pub seed: u128,
    /// What the clock shows first.
    pub started_at: TimestampMs,
    /// Memory of the engine in bytes.
    pub memory_bytes: u64,
    /// Stack of the engine in bytes; between 64 KiB and 16 MiB, whatever is asked for.
    pub stack_bytes: usize,
    /// Agents that the run may start.
    pub max_agents: u64,
    /// Output tokens that the run's agents may use, if there is a cap.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_tokens: Option<u64>,
    /// The `meta` of a [`JobKind::Body`], as it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub meta: Option<Value>,
    /// Items of one `parallel` or `pipeline` call.
    #[serde(default = "Job::default_items")]
    pub max_items: u64,
    /// Milliseconds that a script may compute before its first `await`; none: only the run's own time limits it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_slice_ms: Option<u64>,
    /// The same for every later stretch between two times that it waits for something.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub later_slice_ms: Option<u64>,
    /// Agent options, of those that a provider may honour or not, that this run's does; the others are noted and left
    /// out. None: all are passed on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent_options: Option<Vec<String>>,
    /// What `workflow(name)` may run: names to files of the project.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub workflows: BTreeMap<String, String>,
    /// Why the run was cancelled before it began: everything is checked, and nothing of it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cancelled: Option<String>,
    /// What was recorded of the run so far, in order. Empty for a run that begins.
    #[serde(default)]
    pub journal: Vec<JournalRow>,
    /// How many narrations but for nodes were recorded of the run so far; that many are not told again. Nodes always
    /// are, since a host that has them knows them by their numbers. Absent: nothing else is told while the journal is
    /// replayed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub narrated: Option<u64>,
}

impl Job {
    /// Stack of the engine unless a test says otherwise: 1 MB.
    pub const STACK_BYTES: usize = 1024 * 1024;
    /// Agents of a run unless the project says otherwise.
    pub const MAX_AGENTS: u64 = 1_000;
    /// Items of one `parallel` or `pipeline` call.
    pub const MAX_ITEMS: u64 = 4_096;
    /// Milliseconds of an orchestration script's first slice.
    pub const FIRST_SLICE_MS: u64 = 5_000;
    /// Milliseconds of each later one. Longer, since agents' answers may be much to work through.
    pub const LATER_SLICE_MS: u64 = 30_000;

    fn default_items() -> u64 {
        Self::MAX_ITEMS
    }

    /// Makes a job with the usual limits.
    #[must_use]
    pub fn new(kind: JobKind, root: impl Into<PathBuf>, file: impl Into<String>) -> Self {
        Self {
            kind,
            root: root.into(),
            file: file.into(),
            sources: Sources::Disk,
            input: None,
            args_verbatim: false,
            seed: 0,
            started_at: 0,
            memory_bytes: Limits::MEMORY_MB * 1024 * 1024,
            stack_bytes: Self::STACK_BYTES,
            max_agents: Self::MAX_AGENTS,
            max_tokens: None,
            meta: None,
            max_items: Self::MAX_ITEMS,
            first_slice_ms: None,
            later_slice_ms: None,
            agent_options: None,
            workflows: BTreeMap::new(),
            cancelled: None,
            journal: Vec::new(),
            narrated: None,
        }
    }
}

/// One row of a run's journal, as far as a replay needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JournalRow {
    /// The script asked for something.
    Issue {
        /// The call's number.
        seq: u64,
        /// Its kind's name.
        kind: String,
        /// Its fingerprint.
        fingerprint: String,
    },
    /// The outcome was handed to the script, in this place of the order.
    Done {
        /// The call's number.
        seq: u64,
        /// When.
        at: TimestampMs,
        /// What came of it.
        outcome: Result<Value, HostError>,
    },
}

/// What a run's agents came to, those of an earlier part of the run included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Accepted `agent()` calls.
    pub agents_started: u64,
    /// Those that ended without a result.
    pub agents_failed: u64,
    /// Output tokens, as far as they were told.
    pub output_tokens: u64,
}

/// How a run ended, or why it stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// With an output.
    Success(Value),
    /// With an error: `business_error`, `script_error`, `memory_limit`, `replay_diverged`, or the code of a host call's
    /// error that the script let through.
    Failed(RunError),
    /// Because it was cancelled.
    Cancelled {
        /// Why, in words.
        reason: String,
    },
    /// Because its time was over.
    TimedOut,
    /// It waits for a person and is to be replayed.
    Suspended,
}

mod hexadecimal {
    //! A seed as text, since JSON's numbers end at 2^53 for many readers.

    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(seed: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{seed:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_crosses_a_pipe_unchanged() {
        let mut job = Job::new(JobKind::Module, "/p", "main.ts");
        job.seed = u128::MAX - 5;
        job.journal = vec![
            JournalRow::Issue { seq: 1, kind: "form".into(), fingerprint: "f".into() },
            JournalRow::Done {
                seq: 1,
                at: 9,
                outcome: Err(HostError { code: "c".into(), message: "m".into(), data: None, fatal: false }),
            },
        ];
        let text = serde_json::to_string(&job).expect("JSON");
        assert_eq!(serde_json::from_str::<Job>(&text).expect("a job"), job);
    }
}
