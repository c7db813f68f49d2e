//! The window's settings, the connection, agent providers, storage.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Keep;

/// What may notify the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct NotifySettings {
    /// A run waits for a person.
    pub waits: bool,
    /// A run failed.
    pub failed: bool,
    /// A run lost its process.
    pub interrupted: bool,
    /// A run ended well.
    pub finished: bool,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self { waits: true, failed: true, interrupted: true, finished: false }
    }
}

/// The window's settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields)]
pub struct AppSettings {
    /// Colours.
    #[ts(type = "\"system\" | \"light\" | \"dark\"")]
    pub theme: String,
    /// Language.
    #[ts(type = "\"system\" | \"en\" | \"zh-CN\"")]
    pub language: String,
    /// Size of the text, in percent.
    pub text_size: u32,
    /// Whether single keys are short cuts.
    pub single_keys: bool,
    /// What may notify the person.
    pub notify: NotifySettings,
    /// Who starts agents, where a project says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// How long runs are kept, where a project says nothing.
    pub retention: Keep,
    /// How many days a run waits for an answer before it is given up, counted from each question.
    pub wait_days: u32,
    /// Notices that were closed for good.
    pub dismissed: Vec<String>,
}

impl Default for AppSettings {
    fn default() -> Self {
        Self {
            theme: "system".into(),
            language: "system".into(),
            text_size: 100,
            single_keys: true,
            notify: NotifySettings::default(),
            provider: None,
            retention: Keep { days: None, runs: None, megabytes: Some(2_048) },
            wait_days: 30,
            dismissed: Vec::new(),
        }
    }
}

/// Changes some settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SetSettings {
    /// Those that change; what is absent stays.
    #[ts(type = "Partial<AppSettings>")]
    pub settings: serde_json::Map<String, serde_json::Value>,
}

/// Where a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionSource {
    /// The environment of this process.
    Environment,
    /// A login with its key in the keyring.
    Keyring,
    /// A login with its key in a file.
    File,
    /// Nobody is logged in.
    None,
}

/// How a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    /// The key is at hand.
    Works,
    /// The keyring is locked.
    Locked,
    /// There is no keyring on this machine.
    NoService,
    /// Nobody is logged in.
    SignedOut,
    /// Something else is wrong.
    Failed,
}

/// The connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ConnectionStatus {
    /// The server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where it comes from.
    pub source: ConnectionSource,
    /// How it is.
    pub state: ConnectionState,
    /// What is wrong, or what to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Where a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum KeyStore {
    /// The system's keyring.
    Keyring,
    /// A file that only the person can read.
    File,
}

/// Logs in.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct ConnectionLogin {
    /// The server.
    pub url: String,
    /// Its admin key.
    pub key: String,
    /// Where the key is kept.
    pub store: KeyStore,
}

impl std::fmt::Debug for ConnectionLogin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key is nobody's to see.
        formatter.debug_struct("ConnectionLogin").field("url", &self.url).finish_non_exhaustive()
    }
}

/// How a provider starts agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// A program.
    Command,
    /// A server.
    Http,
    /// Recorded replies.
    Canned,
}

/// Who can start agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ProviderRow {
    /// Its name.
    pub name: String,
    /// How it starts them.
    pub kind: ProviderKind,
    /// Whether it is installed.
    pub installed: bool,
    /// What it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whether it is taken where nothing is said.
    pub is_default: bool,
}

/// Runs and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[ts(rename = "RunsAndBytes")]
pub struct Pruned {
    /// How many runs.
    pub runs: u64,
    /// Bytes of their records.
    pub bytes: u64,
}

/// What a project keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StorageRow {
    /// The project's id, or its UUID where it is not registered.
    pub project: String,
    /// Its title.
    pub title: String,
    /// How many runs.
    pub runs: u64,
    /// Bytes of their records.
    pub bytes: u64,
    /// What its settings would let go.
    pub prunable: Pruned,
}

/// What is kept in all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Storage {
    /// The database.
    pub file: String,
    /// Its size on the disk, with its log.
    pub bytes: u64,
    /// By project.
    pub rows: Vec<StorageRow>,
}

/// Deletes what need not be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Prune {
    /// Only of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// Asks what has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Since {
    /// The place in the change feed from which on.
    pub seq: i64,
}
