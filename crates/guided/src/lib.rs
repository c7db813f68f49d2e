//! Guided workflows: an agent is led through a job step by step, and what it hands in is checked.
//!
//! Here: [`job`] definitions in [`yaml`] and where they are found ([`catalog`], [`outline`]); the [`state`] of a [`session`] on disk;
//! [`guided`], what can be asked; [`gate`], what a step has to pass; [`rules`], [`schemas`], [`tasks`] and
//! [`instructions`], which reviews are due and what a reviewer reads; [`changes`], what version control says;
//! [`hooks`], what agent programs ask before and after their own tools; [`status`], files for other programs.
//!
//! Not here: the protocol that answers travel by, the command line, the record of runs. Nothing here runs a model.

pub mod answers;
pub mod builtin;
pub mod catalog;
pub mod changes;
pub mod check;
mod command;
pub mod error;
pub mod files;
#[doc(hidden)]
pub mod fuzz;
pub mod gate;
pub mod globs;
pub mod guided;
pub mod hooks;
pub mod instructions;
pub mod job;
pub mod json_check;
pub mod names;
pub mod outline;
mod outputs;
pub mod paths;
pub mod review_block;
pub mod reviews;
pub mod rules;
pub mod schemas;
pub mod session;
mod session_jobs;
pub mod stacks;
pub mod state;
pub mod status;
mod step_text;
pub mod tasks;
mod walk;
pub mod yaml;
pub mod yaml_scalar;

pub use command::Stop;
pub use error::GuidedError;
pub use guided::{Guided, Settings};
