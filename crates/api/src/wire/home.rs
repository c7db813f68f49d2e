//! What the window begins with.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{AppSettings, QuestionRow, RunRow};

/// The installation and the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppInfo {
    /// The version of this build.
    pub version: String,
    /// The profile.
    pub profile: String,
    /// Where the profile's data is.
    pub data_dir: String,
    /// The database of registry and history.
    pub database: String,
    /// The operating system.
    #[ts(type = "\"linux\" | \"macos\" | \"windows\"")]
    pub platform: String,
    /// The person's language, a BCP 47 tag.
    pub locale: String,
    /// The executable that clients start.
    pub executable: String,
    /// The settings.
    pub settings: AppSettings,
    /// Every profile of this person.
    pub profiles: Vec<String>,
    /// The place in the change feed that this answer is of.
    pub seq: i64,
}

/// A run that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct WaitingRow {
    /// The run.
    pub run: RunRow,
    /// Its first open question: the heading alone, without fields, of a command the beginning.
    pub question: QuestionRow,
    /// Until when the client's call may still be open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_open_until: Option<i64>,
}

/// Today's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Today {
    /// Runs recorded today.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Runs that wait now.
    pub waiting: u64,
    /// Runs that run now, or are queued.
    pub running: u64,
    /// Runs of today that were interrupted, and are still.
    pub interrupted: u64,
    /// Half of today's runs that have ended, the last 500 at most, took less than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<i64>,
}

/// What the first view shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Home {
    /// Runs that wait for a person, the oldest first, at most 100.
    pub waiting: Vec<WaitingRow>,
    /// Runs at work, the newest first, at most 50.
    pub running: Vec<RunRow>,
    /// Runs that ended last, at most 20.
    pub recent: Vec<RunRow>,
    /// Today's numbers.
    pub today: Today,
    /// How many runs are kept, when counting them costs little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// How many folders are registered.
    pub projects: u64,
    /// The place in the change feed that this answer is of.
    pub seq: i64,
}

/// What has changed since a place in the change feed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct StoreChanged {
    /// The place in the feed now.
    pub seq: i64,
    /// Runs with changes.
    pub runs: Vec<String>,
    /// Projects with changes, of their own or of their runs' states.
    pub projects: Vec<String>,
    /// Everything may have changed.
    pub all: bool,
}
