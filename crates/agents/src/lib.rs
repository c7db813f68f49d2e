//! Agents: what `agent()` of an orchestration script starts, and how what comes of it is judged.
//!
//! Here: [`Provider`], who starts children; [`Desk`], one run's queue of them with a cap and exact pairs of events;
//! [`Schema`], the check of structured results; the providers [`canned`], [`command`] with its presets, and [`http`].
//!
//! Not here: processes and connections (whoever owns the run passes in [`command::Launch`] and [`http::Post`]), the
//! journal, SQL, scripts.

pub mod canned;
pub mod command;
mod desk;
pub mod http;
mod provider;
mod queue;
mod schema;
mod start;
mod structured;

pub use desk::{AgentEnd, Desk, Member, MemberEvent, MemberOutcome};
pub use provider::{
    Capabilities, Child, ChildResult, Fault, Models, OPTIONS, Provider, RETRIES, Request, RequestError, StartRefused,
    Starting, StopReason, Usage,
};
pub use schema::{Schema, SchemaError};
pub use start::{StartError, check_cap, check_provider};
