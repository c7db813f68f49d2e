//! What a project offers: its entrypoints, and the report that lists them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EntrypointId, Param};

/// How an entrypoint is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum EntrypointSource {
    /// A module with a default export, in a file of the project (relative path, `/` between parts).
    Module {
        /// The file.
        file: String,
    },
    /// An orchestration script: `export const meta` and a body with top-level `await` and `return`.
    Script {
        /// The file.
        file: String,
    },
    /// A program with its arguments, started in the project's folder without a shell.
    Command {
        /// The argument list; its first element is the program.
        argv: Vec<String>,
    },
    /// Takes a script with each call.
    Dynamic,
}

/// What an entrypoint says of its effects, for MCP annotations. Absent: not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read_only: Option<bool>,
    /// It may destroy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub destructive: Option<bool>,
    /// Calling it twice does no more than calling it once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub idempotent: Option<bool>,
    /// It reaches the world outside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub open_world: Option<bool>,
}

/// One tool of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entrypoint {
    /// Its id, which is the tool's name.
    pub id: EntrypointId,
    /// What a person sees; the id with a capital letter when nothing is declared.
    pub title: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Whether it is kept out of MCP.
    #[serde(default)]
    pub draft: bool,
    /// What it takes, in declared order.
    #[serde(default)]
    pub params: Vec<Param>,
    /// How it is run.
    pub source: EntrypointSource,
    /// Its time limit in seconds, 0 for none; absent: the default of its kind.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_seconds: Option<u64>,
    /// Memory of its script worker in MiB; absent: [`crate::Limits::MEMORY_MB`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory_mb: Option<u64>,
    /// Bytes of `output` in a result; absent: [`crate::Limits::RESULT_BYTES`] or the option.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_result_bytes: Option<usize>,
    /// What it says of its effects.
    #[serde(default)]
    pub annotations: Annotations,
    /// Whether a script's `args` reach it as written instead of checked.
    #[serde(default)]
    pub args_verbatim: bool,
    /// `meta.phases` of a script, as declared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phases: Option<Value>,
}

/// An entrypoint that cannot be offered, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StructureError {
    /// The id as declared, or as it would be.
    pub entrypoint: String,
    /// What is wrong and how to mend it.
    pub message: String,
    /// The file it lies in, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
}

/// What a project offers, as found when a server starts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StructureReport {
    /// The entrypoints, those of package.json in its order, discovered ones sorted by id.
    pub entrypoints: Vec<Entrypoint>,
    /// What is broken.
    pub errors: Vec<StructureError>,
    /// What works but will trouble somebody (an id over 40 characters, say).
    #[serde(default)]
    pub warnings: Vec<String>,
}
