//! Projects: rows, a project whole, its settings, and what is done with it.

use model::{Param, RunStatus};
use serde::{Deserialize, Serialize};
use store::ProjectKind;
use ts_rs::TS;

use super::{DockClientState, RunRow};

/// What a folder is registered as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(rename = "ProjectKind")]
pub enum WireKind {
    /// Workflows.
    Workflow,
    /// Guided jobs.
    Guided,
    /// A project board.
    Board,
    /// Conversations.
    Conversation,
    /// A kanban.
    Kanban,
    /// Any folder.
    Folder,
}

impl From<ProjectKind> for WireKind {
    fn from(kind: ProjectKind) -> Self {
        match kind {
            ProjectKind::Workflow => Self::Workflow,
            ProjectKind::Guided => Self::Guided,
            ProjectKind::Board => Self::Board,
            ProjectKind::Conversation => Self::Conversation,
            ProjectKind::Kanban => Self::Kanban,
            ProjectKind::Folder => Self::Folder,
        }
    }
}

impl From<WireKind> for ProjectKind {
    fn from(kind: WireKind) -> Self {
        match kind {
            WireKind::Workflow => Self::Workflow,
            WireKind::Guided => Self::Guided,
            WireKind::Board => Self::Board,
            WireKind::Conversation => Self::Conversation,
            WireKind::Kanban => Self::Kanban,
            WireKind::Folder => Self::Folder,
        }
    }
}

/// One server of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ServerRow {
    /// What `--workflow-mcp` takes.
    pub id: String,
    /// What it is.
    pub kind: WireKind,
    /// The project's own UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Whether clients can start it.
    pub served: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// A registered folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRow {
    /// The first server's id.
    pub key: String,
    /// What a person sees.
    pub title: String,
    /// The folder.
    pub path: String,
    /// Whether the folder is gone.
    pub missing: bool,
    /// Its servers.
    pub servers: Vec<ServerRow>,
    /// Runs that wait.
    pub waiting: u64,
    /// Runs that run, or are queued.
    pub running: u64,
    /// Whether something wants to be looked at.
    pub notice: bool,
    /// When it was added.
    pub added_at: i64,
    /// When it was last used.
    pub used_at: i64,
}

/// Names a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OfProject {
    /// The id of any server of its folder.
    pub project: String,
}

/// A project that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProjectKey {
    /// Its key.
    pub project: String,
}

/// How an entrypoint is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum EntrypointSourceKind {
    /// A module.
    Script,
    /// A program.
    Command,
    /// An orchestration script.
    Orchestration,
    /// A script with each call.
    Dynamic,
    /// A guided workflow.
    Guided,
}

/// A run in an entrypoint's strip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RecentRun {
    /// The run.
    pub run_id: String,
    /// Where it stands.
    pub status: RunStatus,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// When it was recorded.
    pub at: i64,
}

/// Why an entrypoint is not served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct EntrypointError {
    /// What is wrong and how to mend it.
    pub message: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// An entrypoint of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct EntrypointRow {
    /// Its id, which is the tool's name.
    pub id: String,
    /// What a person sees.
    pub title: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is kept from clients.
    pub draft: bool,
    /// What it takes.
    pub params: Vec<Param>,
    /// How it is run.
    pub source: EntrypointSourceKind,
    /// Whether the window can start it; what cannot be started here is started by an AI client.
    pub runnable: bool,
    /// The file it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// It reaches the world outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    /// Its last 20 runs, the oldest first.
    pub recent: Vec<RecentRun>,
    /// Why it is not served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<EntrypointError>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something does not work.
    Error,
    /// Something will trouble somebody.
    Warning,
    /// Something to know.
    Note,
}

/// What mending a finding is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MendLabel {
    /// What is done.
    pub label: String,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Finding {
    /// Names the finding, for [`MendFinding`].
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong.
    pub title: String,
    /// Further facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How to mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether we can mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mend: Option<MendLabel>,
}

/// What is wrong with a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Findings {
    /// All of it.
    pub findings: Vec<Finding>,
}

/// Mends a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MendFinding {
    /// The project.
    pub project: String,
    /// The finding's id.
    pub finding: String,
}

/// A related project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RelationRow {
    /// What this project calls it.
    pub alias: String,
    /// The other project, when it is registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_title: Option<String>,
    /// Its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it is confirmed here.
    pub here: bool,
    /// Whether it is confirmed there.
    pub there: bool,
}

/// A project, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ProjectOverview {
    /// Its row.
    pub project: ProjectRow,
    /// What it says of itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it offers, what is broken last.
    pub entrypoints: Vec<EntrypointRow>,
    /// What works but will trouble somebody.
    pub warnings: Vec<String>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// How many findings its board has, if it has one that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_findings: Option<usize>,
    /// Its related projects.
    pub relations: Vec<RelationRow>,
    /// What each client knows of it.
    pub clients: Vec<DockClientState>,
    /// Its last runs, the newest first.
    pub recent: Vec<RunRow>,
}

/// Registers a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ProjectAdd {
    /// The folder, absolute.
    pub path: String,
    /// Only this kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<WireKind>,
}

/// Makes a folder a workflow project, keeps what is in it, and registers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProjectMake {
    /// The folder, absolute.
    pub path: String,
}

/// The sample project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SamplePlace {
    /// Where it is, or will be written.
    pub path: String,
    /// Its key, once it is registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// What was registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ProjectAdded {
    /// The folder's row.
    pub projects: Vec<ProjectRow>,
    /// The ids of its servers that were found.
    pub added: Vec<String>,
}

/// Takes a folder out of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ProjectRemove {
    /// The project.
    pub project: String,
    /// Whether its history goes too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge: Option<bool>,
}

/// How long runs are kept; what is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(rename = "Retention", optional_fields)]
pub struct Keep {
    /// Days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// How many runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// Megabytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub megabytes: Option<u32>,
}

/// Where a variable's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum EnvironmentSource {
    /// The project's `.env`.
    #[serde(rename = ".env")]
    DotEnv,
    /// The environment of this process.
    #[serde(rename = "process")]
    Process,
    /// Nowhere.
    #[serde(rename = "missing")]
    Missing,
}

/// A variable that a project names. Values never cross the border.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EnvironmentRow {
    /// Its name.
    pub name: String,
    /// Whether it has a value.
    pub set: bool,
    /// Where from.
    pub source: EnvironmentSource,
}

/// A project's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ProjectSettings {
    /// How long its runs are kept.
    pub retention: Keep,
    /// Programs that its runs may start unasked.
    pub allow_exec: Vec<String>,
    /// Who starts its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Its variables.
    pub environment: Vec<EnvironmentRow>,
    /// Whether its runs may notify.
    pub notifications: bool,
}

/// Changes a project's settings; what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SetProjectSettings {
    /// The project.
    pub project: String,
    /// How long its runs are kept, all three limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Keep>,
    /// Programs that its runs may start unasked, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_exec: Option<Vec<String>>,
    /// Who starts its agents; `null` for the default.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "string | null")]
    pub provider: Option<Option<String>>,
    /// Whether its runs may notify.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notifications: Option<bool>,
}

/// Tells `null` from absent.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// Confirms a related project from this side, and from the other where it declares this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Relate {
    /// The project.
    pub project: String,
    /// What it calls the other.
    pub alias: String,
    /// The other.
    pub other: String,
}

/// Takes a confirmation back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Unrelate {
    /// The project.
    pub project: String,
    /// What it calls the other.
    pub alias: String,
}
