//! MCP configuration of AI clients: what to paste, what to write into their files, and what became of it.
//!
//! Here: the table of clients ([`clients`]), the snippet for each ([`render()`]), a change of a client's file as a
//! preview ([`plan`], [`plan_removal`]), writing it ([`apply`]) and taking it back ([`undo`]), the [`Ledger`] of
//! entries that are ours, their [`drift()`], and names that fit ([`short_key`], [`name_losses`]).
//!
//! Not here: which executable a launch names and which project it serves (the caller builds the [`Launch`]), starting
//! the launched command to test it, and any window or command line. Home folder, platform and configuration folders
//! come in as [`ClientPaths`]; nothing reads the process environment.

mod change;
mod difference;
mod document;
mod drift;
mod error;
mod files;
mod json_document;
mod launch;
mod ledger;
mod names;
mod paths;
mod render;
mod shape;
mod table;
mod toml_document;
mod write;

pub use change::{Action, Change, Existing, plan, plan_removal};
pub use difference::{DiffLine, DiffSign, Difference};
pub use drift::{Drift, State, drift, inspect};
pub use error::Error;
pub use launch::{Launch, default_key};
pub use ledger::{Ledger, LedgerEntry};
pub use names::{NameEffect, NameLoss, name_losses, short_key};
pub use paths::{ClientPaths, Platform, Scope};
pub use render::{Language, Snippet, render};
pub use table::{Asks, Client, client, clients};
pub use write::{Written, apply, undo};

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;
