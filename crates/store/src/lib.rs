//! The one crate that knows SQL.
//!
//! Here: the registry of projects and the history of runs ([`Store`]: rows, bodies, stages, logs, nodes, journal,
//! questions and answers, code kept for resuming, change feed, retention, the window's settings), and what workflows keep between runs
//! ([`DataStore`]: key-value pairs, PersistentValues, knowledge). Whatever is recorded is masked here, at the door.
//!
//! Not here: what a project is (`project`), starting and watching processes (`process`, `runtime`), where databases lie
//! and who opens them (the launcher), keys (`secrets`; a [`Sealer`] is handed in).
//!
//! Everything is synchronous. A [`Store`] is cheap to clone and shared by threads: one thread writes, in short
//! `BEGIN IMMEDIATE` transactions, and queries have connections of their own. Nothing is opened and no thread started
//! before it is needed.

mod belief;
mod body;
mod changes;
mod connection;
mod data;
mod database;
mod error;
mod family;
mod files;
mod interactions;
mod journal;
mod lock_holder;
mod logs;
mod mask;
mod masked_form;
mod nodes;
mod owner;
mod registry;
mod retention;
mod runs;
mod schema;
mod seed;
mod settings;
mod sources;
mod standing;
mod store;
#[cfg(test)]
mod tests;
mod text;
mod writer;

pub use body::Sealer;
pub use changes::{Change, ChangeWatch, Changes};
pub use data::{DataStore, Knowledge, KnowledgeHit, KvEntry, NewKnowledge, Versioned};
pub use database::Create;
pub use error::{Result, StoreError};
pub use family::TrueOutput;
pub use interactions::{Answered, NewAnswer, NewQuestion, OpenQuestion, Question};
pub use journal::{Journal, JournalHeader, JournalKind, JournalRow, NewJournalRow};
pub use logs::{LeftOut, LogEntry, LogHits, LogPage, LogPattern, LogStream, LogWriter};
pub use mask::{MASK, MaskStream, Masker};
pub use masked_form::holds_mask;
pub use owner::Owner;
pub use registry::{ALLOW_EXEC, Added, AddedHow, NewProject, Project, ProjectKind, Relation};
pub use retention::{Pruned, Retention};
pub use runs::{
    CallEnd, CancelOutcome, Counted, Finish, FirstStatus, Found, FoundPart, INSTANCE_FIELD, Lease, NewRun, NoPlace,
    RowDetails, RunEntry, RunFilter, RunPage, RunPlace, RunProject, RunRecord, RunSizes, RunSummary, SaidProgress,
    Signals, Stage, Taken, Told,
};
pub use seed::{Seeding, seed_runs};
pub use settings::WAIT_DAYS;
pub use sources::SourceFile;
pub use standing::Standing;
pub use store::{Durability, Store, StoreOptions};
