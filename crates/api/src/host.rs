//! What the commands need of whoever can start runs and processes: the launcher's rooms.

use std::path::{Path, PathBuf};

use clients::{ClientPaths, Launch, Ledger};
use model::{RunId, StructureReport};
use serde_json::Value;
use store::{CancelOutcome, NewProject, Project, ProjectKind, Question, RunRecord};

use crate::Answer;
use crate::wire::dock::DockTest;
use crate::wire::project::{EntrypointRow, Finding, Keep};
use crate::wire::run::FaultRow;
use crate::wire::settings::{ConnectionLogin, ConnectionStatus, ProviderRow, Pruned};

/// What is known of the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The version of this build.
    pub version: String,
    /// The profile.
    pub profile: String,
    /// Every profile of this person.
    pub profiles: Vec<String>,
    /// Where the profile's data is.
    pub data_dir: PathBuf,
    /// The executable that clients start.
    pub executable: PathBuf,
    /// The person's language, a BCP 47 tag.
    pub locale: String,
    /// Where files for the person go.
    pub downloads: PathBuf,
}

/// An opened board, with whoever acts on it here.
pub type BoardRoom = std::sync::Arc<dyn BoardDesk>;

/// A board as a person at the window uses it: every change is recorded, and told in the change feed at once.
pub trait BoardDesk: Send + Sync {
    /// The board itself, to read.
    fn board(&self) -> &board::Board;

    /// Who acts here.
    fn actor(&self) -> String;

    /// Whether nothing may be written.
    fn is_read_only(&self) -> bool;

    /// Calls one of the board's tools.
    ///
    /// # Errors
    ///
    /// What the tool refuses, with the board's own code in the detail.
    fn call(&self, tool: &str, arguments: &serde_json::Map<String, Value>) -> Answer<Value>;

    /// Mends findings of the board's doctor.
    ///
    /// # Errors
    ///
    /// Nothing may be written, or a file cannot be.
    fn mend(&self, mending: board::Mending) -> Answer<()>;

    /// Ticks and unticks criteria: `{id, check, uncheck, expectedRevision}`.
    ///
    /// # Errors
    ///
    /// Those of [`board::Board::tick_criteria`].
    fn tick(&self, arguments: &serde_json::Map<String, Value>) -> Answer<Value>;
}

/// The launcher, as the commands need it. Every method may block for as long as it says.
pub trait Host: Send + Sync {
    /// Returns what is known of the installation.
    fn facts(&self) -> Facts;

    /// Makes a workflow project's structure report; seconds, when its sources have changed.
    ///
    /// # Errors
    ///
    /// The project cannot be read.
    fn structure(&self, project: &Project) -> Answer<StructureReport>;

    /// Lists what a guided project offers to clients.
    ///
    /// # Errors
    ///
    /// The project cannot be read.
    fn other_entrypoints(&self, project: &Project) -> Answer<Vec<EntrypointRow>>;

    /// Examines a project.
    ///
    /// # Errors
    ///
    /// It could not be looked at.
    fn findings(&self, project: &Project) -> Answer<Vec<Finding>>;

    /// Mends a finding.
    ///
    /// # Errors
    ///
    /// There is no such finding, we cannot mend it, or the system refuses.
    fn mend(&self, project: &Project, finding: &str) -> Answer<()>;

    /// Looks which kinds of project a folder is; none of what an ordinary folder is.
    ///
    /// # Errors
    ///
    /// It is no folder, or what it is is broken.
    fn projects_in(&self, folder: &Path, only: Option<ProjectKind>) -> Answer<Vec<NewProject>>;

    /// Makes a folder a workflow project; what is in it stays as it is.
    ///
    /// # Errors
    ///
    /// It could not be written, or what is there cannot be extended.
    fn make_project(&self, folder: &Path) -> Answer<()>;

    /// Returns where the sample project is, or will be.
    ///
    /// # Errors
    ///
    /// The home folder is unknown.
    fn sample_folder(&self) -> Answer<PathBuf>;

    /// Writes the sample project, if it is not there, and returns its folder.
    ///
    /// # Errors
    ///
    /// It could not be written.
    fn sample(&self) -> Answer<PathBuf>;

    /// Says what is wrong with an input. No run begins.
    ///
    /// # Errors
    ///
    /// There is no such entrypoint.
    fn check_input(&self, project: &Project, entrypoint: &str, input: &Value) -> Answer<Vec<FaultRow>>;

    /// Starts a run and returns when it is recorded.
    ///
    /// # Errors
    ///
    /// The input does not fit, or it could not be recorded.
    fn start(&self, project: &Project, entrypoint: &str, input: Value) -> Answer<RunId>;

    /// Checks an answer against its form and imports its files.
    ///
    /// # Errors
    ///
    /// Every fault of the answer.
    fn check_answer(&self, run: &RunRecord, question: &Question, content: &Value) -> Answer<Value>;

    /// Has a run go on that was answered or interrupted: here, unless a living process has it. Returns at once.
    ///
    /// # Errors
    ///
    /// Its project cannot be opened.
    fn go_on(&self, run: &RunId) -> Answer<()>;

    /// Cancels a guided workflow in its session and in the history. `None`: the run is of another kind.
    ///
    /// # Errors
    ///
    /// Its session cannot be used.
    fn cancel_guided(&self, run: &RunRecord) -> Answer<Option<CancelOutcome>>;

    /// Returns what clients start for a project.
    ///
    /// # Errors
    ///
    /// It is of a kind that is not served.
    fn launch(&self, project: &Project) -> Answer<Launch>;

    /// Says why a project of this kind is not served; `None`: it is.
    fn why_not_served(&self, kind: ProjectKind) -> Option<String>;

    /// Returns where clients keep their files.
    ///
    /// # Errors
    ///
    /// The home folder is unknown.
    fn client_paths(&self) -> Answer<ClientPaths>;

    /// Returns the record of what we wrote into clients' files.
    ///
    /// # Errors
    ///
    /// The home folder is unknown.
    fn ledger(&self) -> Answer<Ledger>;

    /// Starts what clients start, in an environment as poor as theirs, and lists its tools. `told` hears of each stage
    /// when it was reached. Takes 15 s at most.
    fn test(&self, launch: &Launch, told: &mut dyn FnMut(&DockTest)) -> DockTest;

    /// Looks how the connection is.
    ///
    /// # Errors
    ///
    /// The logins' places are unknown.
    fn connection(&self) -> Answer<ConnectionStatus>;

    /// Logs in; asks the keyring, and so perhaps a person.
    ///
    /// # Errors
    ///
    /// The address or the key does not fit, or the keyring cannot be used.
    fn login(&self, login: &ConnectionLogin) -> Answer<ConnectionStatus>;

    /// Logs out.
    ///
    /// # Errors
    ///
    /// The keyring cannot be used.
    fn logout(&self) -> Answer<ConnectionStatus>;

    /// Lists who can start agents.
    fn providers(&self, chosen: Option<&str>) -> Vec<ProviderRow>;

    /// Returns who starts agents where neither a project nor a run says: the person's choice.
    fn default_provider(&self) -> Option<String>;

    /// Writes that choice; `None` takes it back.
    ///
    /// # Errors
    ///
    /// There is no such provider, or the file could not be written.
    fn choose_provider(&self, name: Option<&str>) -> Answer<()>;

    /// Returns how long a project's runs are kept, given what the window's settings say for all.
    fn keep(&self, project: Option<&Project>, default: Keep) -> Keep;

    /// Counts what pruning would delete of a project.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    fn prunable(&self, project: &str, keep: Keep) -> Answer<Pruned>;

    /// Deletes what need not be kept of a project.
    ///
    /// # Errors
    ///
    /// The database could not be written.
    fn prune(&self, project: &str, keep: Keep) -> Answer<Pruned>;

    /// Opens a project's board. From then on, what changes in its files is told in the change feed for a while.
    ///
    /// # Errors
    ///
    /// Its configuration cannot be used.
    fn board(&self, project: &Project) -> Answer<BoardRoom>;

    /// Tells which of some variables the environment of this process has.
    fn has_variable(&self, name: &str) -> bool;
}
