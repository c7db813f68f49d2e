//! The executor: each run in a worker process of its own, from queue to result.
//!
//! Here: [`Executor`], which takes runs in and sees them through; `run`, one run from its worker's start to its recorded
//! end; `supervisor` and `worker`, the two ends of the pipe, and [`protocol`], what goes through it; `host_calls`, what a
//! script may ask for; `providers`, `agents` and `worktree`, who does the work of orchestration scripts and where; `structure`, the report of what a project offers.
//!
//! Not here: SQL (`store`), the engine itself (`script`), the protocol of clients (`mcp`), how processes are started and
//! ended (`process`).

mod agent_types;
mod agents;
mod chat;
mod connection;
mod context;
mod executor;
mod host_calls;
mod http;
mod journal;
mod kept;
pub mod protocol;
mod providers;
mod related;
mod resume;
mod run;
mod structure;
mod supervisor;
mod worker;
mod worktree;

pub use connection::{Connection, ConnectionSource, KEY_VARIABLE, URL_VARIABLE};
pub use context::{Folders, ProcessEnvironment, Project};
pub use executor::{Canceller, Executor, Parking, RunHandle, RunRequest, StartError};
pub use providers::{
    ProviderRow, providers, read_default as read_default_provider, write_default as write_default_provider,
};
pub use resume::ResumeError;
pub use run::{Asked, RunEvent, envelope_of, envelope_status, standing_error, waiting_envelope};
pub use supervisor::{WorkerImage, Workers};
pub use worker::{ARGUMENT as WORKER_ARGUMENT, main as worker_main};
