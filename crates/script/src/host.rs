//! The border between a script and its host: what a script asks for, what it tells, what comes back.

use model::{NodeKind, NodeStatus, TimestampMs};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ModuleSource, Note};

/// What a script may ask of its host. The host answers a kind it does not know with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CallKind {
    /// `agent(prompt, options)`: `{prompt, label, phase?, schema?, model?, …}` →
    /// `{value, reason?, outputTokens?}`, where `value` is `null` when the agent failed and `reason` says why.
    #[serde(rename = "agent")]
    Agent,
    /// `workflow(name, args)`: `{name | scriptPath, args?}` → its value.
    #[serde(rename = "workflow")]
    Workflow,
    /// `form(form)`: `{title, message?, fields}` → the answers.
    #[serde(rename = "form")]
    Form,
    /// `approve({tool, title?, args})` → a boolean.
    #[serde(rename = "approve")]
    Approve,
    /// `exec(…)`: `{program, args, cwd?, env?, stdin?, timeoutSeconds?, idempotent?}` →
    /// `{exitCode, stdout, stderr, truncated}`.
    #[serde(rename = "exec")]
    Exec,
    /// `http({url, method?, headers?, body?})` → `{status, headers, text, json?}`.
    #[serde(rename = "http")]
    Http,
    /// `{key}` → the value or `null`.
    #[serde(rename = "kv.get")]
    KvGet,
    /// `{key, value}` → `null`.
    #[serde(rename = "kv.set")]
    KvSet,
    /// `{key}` → whether there was one.
    #[serde(rename = "kv.delete")]
    KvDelete,
    /// `{prefix}` → the keys.
    #[serde(rename = "kv.list")]
    KvList,
    /// `{name}` → `{value, revision}`; revision 0 and `null` when there is none.
    #[serde(rename = "value.get")]
    ValueGet,
    /// `{name, value}` → `null`.
    #[serde(rename = "value.set")]
    ValueSet,
    /// `{name, revision, value}` → whether the revision was still that one and the value is set.
    #[serde(rename = "value.cas")]
    ValueCas,
    /// `{id?, text, title?, tags?}` → the id.
    #[serde(rename = "knowledge.add")]
    KnowledgeAdd,
    /// `{query, limit?, tags?}` → `[{id, score, text, title, tags}]`.
    #[serde(rename = "knowledge.search")]
    KnowledgeSearch,
    /// `{id}` → whether there was one.
    #[serde(rename = "knowledge.remove")]
    KnowledgeRemove,
    /// `{}` → `[{id, title, tags}]`.
    #[serde(rename = "knowledge.list")]
    KnowledgeList,
    /// `{file}`, a file reference → `{name, size, mediaType}`.
    #[serde(rename = "files.info")]
    FilesInfo,
    /// `{file}` → the text.
    #[serde(rename = "files.readText")]
    FilesReadText,
    /// `{file}` → `{base64}`.
    #[serde(rename = "files.readBytes")]
    FilesReadBytes,
    /// `{name, text | base64}` → a file reference.
    #[serde(rename = "files.create")]
    FilesCreate,
    /// `{}` → the references of the run's files.
    #[serde(rename = "files.list")]
    FilesList,
    /// `related(alias).run(entrypoint, input)`: `{alias, entrypoint, input}` → its output.
    #[serde(rename = "related")]
    Related,
    /// `{name}` → the value or `null`.
    #[serde(rename = "env")]
    Env,
    /// `{name}` → the value.
    #[serde(rename = "secret")]
    Secret,
    /// A timer: `{ms}` → `null`, that much later.
    #[serde(rename = "sleep")]
    Sleep,
}

impl CallKind {
    /// Every kind.
    pub const ALL: [Self; 26] = [
        Self::Agent,
        Self::Workflow,
        Self::Form,
        Self::Approve,
        Self::Exec,
        Self::Http,
        Self::KvGet,
        Self::KvSet,
        Self::KvDelete,
        Self::KvList,
        Self::ValueGet,
        Self::ValueSet,
        Self::ValueCas,
        Self::KnowledgeAdd,
        Self::KnowledgeSearch,
        Self::KnowledgeRemove,
        Self::KnowledgeList,
        Self::FilesInfo,
        Self::FilesReadText,
        Self::FilesReadBytes,
        Self::FilesCreate,
        Self::FilesList,
        Self::Related,
        Self::Env,
        Self::Secret,
        Self::Sleep,
    ];

    /// Returns the kind's name as it is journalled and sent.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Workflow => "workflow",
            Self::Form => "form",
            Self::Approve => "approve",
            Self::Exec => "exec",
            Self::Http => "http",
            Self::KvGet => "kv.get",
            Self::KvSet => "kv.set",
            Self::KvDelete => "kv.delete",
            Self::KvList => "kv.list",
            Self::ValueGet => "value.get",
            Self::ValueSet => "value.set",
            Self::ValueCas => "value.cas",
            Self::KnowledgeAdd => "knowledge.add",
            Self::KnowledgeSearch => "knowledge.search",
            Self::KnowledgeRemove => "knowledge.remove",
            Self::KnowledgeList => "knowledge.list",
            Self::FilesInfo => "files.info",
            Self::FilesReadText => "files.readText",
            Self::FilesReadBytes => "files.readBytes",
            Self::FilesCreate => "files.create",
            Self::FilesList => "files.list",
            Self::Related => "related",
            Self::Env => "env",
            Self::Secret => "secret",
            Self::Sleep => "sleep",
        }
    }

    /// Returns the kind of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One thing that a script asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostCall {
    /// Its number: 1, 2, 3 … in the order the script asks; the same when the run is replayed.
    pub seq: u64,
    /// What is asked for.
    pub kind: CallKind,
    /// The arguments, an object.
    pub args: Value,
    /// The node the call belongs to: the enclosing phase or step.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<u64>,
    /// The node that stands for the call itself, if it is one that is shown (agent, form, command, related run). It was
    /// told with [`Narration::NodeStarted`] before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub own_node: Option<u64>,
    /// [`crate::fingerprint`] of kind and arguments.
    pub fingerprint: String,
}

/// Where a line of a script goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// The run's log: `log()`.
    Log,
    /// The run's standard output: `console.log`, `info`, `debug`.
    Stdout,
    /// The run's standard error: `console.warn`, `error`.
    Stderr,
}

/// What a script tells while it runs. Shown and recorded, and never answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "event")]
pub enum Narration {
    /// A part of the run begins. Its node was started just before.
    Phase {
        /// The part's title.
        title: String,
        /// Its node.
        node: u64,
    },
    /// A line, or several.
    Log {
        /// Where it goes.
        stream: Stream,
        /// The text, without a line end.
        text: String,
        /// What the script gave beside the text.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        data: Option<Value>,
        /// Whether the line goes on with the next text: it is too long for one.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        goes_on: bool,
    },
    /// How far the run is.
    Progress {
        /// What is done.
        done: f64,
        /// What there is to do, if it is known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        total: Option<f64>,
        /// What goes on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        message: Option<String>,
    },
    /// Something of the run's tree begins. The host knows the time, and may show it as queued or waiting.
    NodeStarted {
        /// Unique in the run, and the same when the run is replayed.
        id: u64,
        /// The node it lies in.
        parent: Option<u64>,
        /// What it stands for.
        kind: NodeKind,
        /// What a person sees.
        title: String,
    },
    /// Something of the run's tree is over.
    NodeEnded {
        /// The node.
        id: u64,
        /// How it ended: a final status.
        status: NodeStatus,
    },
    /// Something worth saying once.
    Note(Note),
}

/// Why a host call failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostError {
    /// A stable word, which scripts see as `error.code`. One of [`model::ErrorCode`] becomes the run's own code if the
    /// script lets the error through.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// Further facts, which scripts see as `error.data`; a number `errCode` in it also as `error.errCode`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<Value>,
    /// Whether it ends the run whatever the script does: misuse, a cap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fatal: bool,
}

/// What the host hands to a script, one at a time.
#[derive(Debug, Clone, PartialEq)]
pub enum Delivery {
    /// A host call has ended.
    Done {
        /// Which one.
        seq: u64,
        /// When, as journalled; the script's clock moves to it.
        at: TimestampMs,
        /// What came of it.
        outcome: Result<Value, HostError>,
    },
    /// The run is cancelled.
    Cancelled {
        /// Why, in words.
        reason: String,
    },
    /// The run's time is over.
    TimedOut,
    /// Only questions to a person are open, and nobody is there to answer: the run stops here and is replayed later.
    Suspend,
}

/// What a run needs from the process that owns it.
pub trait Host {
    /// Takes note of modules that were loaded; called before any of them runs, and again when `import()` brings more.
    fn loaded(&mut self, modules: &[ModuleSource]);

    /// Starts a host call and returns at once.
    fn issue(&mut self, call: HostCall);

    /// Takes note that nobody waits for a call any more (a timer that was cleared). It need not be delivered.
    fn abandon(&mut self, _seq: u64) {}

    /// Takes what the script tells.
    fn narrate(&mut self, event: Narration);

    /// Takes note of what the run's agents came to; called once, when the run is over.
    fn tally(&mut self, _tally: crate::Tally) {}

    /// Waits for what comes next. Called only when the script can do nothing else.
    fn next_delivery(&mut self) -> Delivery;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_ones_serde_writes() {
        for kind in CallKind::ALL {
            assert_eq!(serde_json::to_value(kind).expect("a name"), Value::from(kind.as_str()));
            assert_eq!(CallKind::parse(kind.as_str()), Some(kind));
        }
    }
}
