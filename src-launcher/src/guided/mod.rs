//! The *Guided* family: guided workflows as eleven tools, as commands, and as hooks.
//!
//! Here: what goes over the wire and the command line. What a tool does is in crate `guided`.

mod arguments;
pub(crate) mod cli;
mod history;
pub(crate) mod server;
mod setup;
mod tools;
