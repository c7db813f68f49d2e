//! What crosses the border: plain data, camelCase, moments in milliseconds since 1970.
//!
//! Absent and `null` mean the same in what comes in; what goes out leaves absent fields out. The page's declarations are
//! made from these types (see [`crate::bindings`]).

pub mod board;
pub mod dock;
pub mod home;
pub mod project;
pub mod run;
pub mod settings;

pub use dock::{DockClientState, DockTest};
pub use home::{AppInfo, Home, StoreChanged, Today, WaitingRow};
pub use project::{Finding, Findings, Keep, ProjectOverview, ProjectRow, ProjectSettings};
pub use run::{LogPage, QuestionRow, RunDetail, RunQuery, RunRow, RunsPage};
pub use settings::{AppSettings, ConnectionStatus, ProviderRow, Storage};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A request or an answer that says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct Nothing {}
