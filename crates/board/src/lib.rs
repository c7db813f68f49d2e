//! Work records that live in a repository as text files, for people and agents.
//!
//! Here: [`Workspace`], a folder and its configuration read as data; [`Board`], every operation on cards, documents,
//! changelog and memory; the index with references and search; the doctor; hooks and the claim board; generated files.
//!
//! Not here: the protocol (`mcp`), the command line, and anything that is not a file of the workspace.

mod activity;
mod actor;
mod allocate;
mod baseline;
mod board;
mod cards;
mod changelog;
mod config;
mod context;
mod docs;
mod doctor;
mod error;
mod files;
mod form;
mod front_matter;
#[doc(hidden)]
pub mod fuzz;
mod generated;
mod git;
mod graph;
mod header;
pub mod hooks;
mod index;
mod init;
mod lexicon;
mod list;
mod literal;
mod locks;
mod looking;
mod markdown;
mod memory;
mod moment;
mod next;
mod paths;
mod record;
mod repair;
mod search;
mod shelf;
mod staging;
mod surface;
mod terms;
pub mod vocabulary;
mod window;
mod workspace;

pub use actor::{Actor, Surroundings, short_session};
pub use board::{Board, Fields};
pub use cards::{Claim, Forced, Proof, Refusal, VerifyRun};
pub use config::Config;
pub use context::Bundle;
pub use docs::NewDoc;
pub use doctor::{Checks, Report};
pub use error::{BoardError, ErrorKind, Result};
pub use generated::FileReport;
pub use header::Header;
pub use index::Index;
pub use init::{InitOptions, init};
pub use list::{CardFilter, ChangeFilter, DocFilter, MemoryFilter, Page, SearchQuery};
pub use record::{Kind, Record, Unreadable, Whole};
pub use repair::Mending;
pub use vocabulary::Collection;
pub use window::{Happened, Holder};
pub use workspace::Workspace;
