//! The embedded script engine: project modules and orchestration scripts, in JavaScript or TypeScript.
//!
//! [`analyze()`] tells what a file offers. [`run`] executes a [`Job`] for a [`Host`], which starts what the script asks
//! for and hands over the outcomes one at a time; a run that is continued is executed again from the top against the
//! journal of its calls. [`Control`] stops it from outside.
//!
//! Not here: processes, SQL, MCP, files other than a project's sources. A host brings all of that. The crate is meant
//! for a worker process: sources are parsed and scripts executed on a thread of its own, limits are kept, and still a
//! hostile source may cost the process it is in.

mod analyze;
mod arguments;
mod control;
mod engine;
mod error;
mod host;
mod job;
mod json;
mod meta;
mod modules;
mod schema_subset;
mod source;
mod thread;

pub use analyze::{Analysis, analyze};
pub use control::Control;
pub use engine::run;
pub use error::{SourceError, SourceErrorCode};
pub use host::{CallKind, Delivery, Host, HostCall, HostError, Narration, Stream};
pub use job::{Job, JobKind, JournalRow, Outcome, Tally};
pub use json::fingerprint;
pub use meta::Note;
pub use modules::{ModuleSource, Sources};
pub use schema_subset::faults as schema_faults;

/// The description of `flow` that authors get.
pub const FLOW_TYPES: &str = include_str!("../assets/flow.d.ts");
