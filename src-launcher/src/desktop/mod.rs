//! The launcher's rooms for the window: its commands, over the profile's store, with runs started in this process.
//!
//! Here: [`open`], which gives the commands of `api` what they need: projects opened as servers open them, an executor,
//! the doctor, the Dock's test, the connection. Used by the window and by the tests' dev server.
//!
//! Workers are started from the front door beside this executable, and a run that asks a person is put down at once: its
//! answer takes it up again, so that no process waits for days. A window has children that are none of ours, so nothing
//! that is merely below it is ever ended; each worker sees to what it has started.

mod boards;
mod connection;
mod engine;
mod examine;
mod launching;
mod probe;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use api::wire::dock::DockTest;
use api::wire::project::{EntrypointRow, EntrypointSourceKind, Finding, Keep as WireKeep};
use api::wire::run::FaultRow;
use api::wire::settings::{ConnectionLogin, ConnectionStatus, ProviderKind, ProviderRow, Pruned};
use api::{Answer, Api, ApiError, ApiErrorCode, BoardRoom, Facts, Host};
use clients::{ClientPaths, Launch, Ledger};
use model::{RunId, StructureReport, SystemIds};
use serde_json::Value;
use store::{CancelOutcome, Create, NewProject, Project, ProjectKind, Question, RunRecord, Store};

use crate::cli::FolderOptions;
use crate::failure::Failure;
use crate::installation::Installation;
use crate::profile::{self, Missing, Profile};
use crate::retention::Keep;
use crate::{env_vars, invocation, open as rooms, retention};

pub use engine::Engine;

/// The front door, which lies beside the window's executable.
const FRONT_DOOR: &str = "workflow-code";

/// The window could not be given what it needs.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OpenError {
    /// What is wrong, one sentence.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl From<Failure> for OpenError {
    fn from(failure: Failure) -> Self {
        Self { message: failure.message, hint: failure.hint }
    }
}

/// The commands, and what drives the runs that they start.
#[derive(Debug, Clone)]
pub struct Desktop {
    /// The commands.
    pub api: Api,
    engine: Engine,
    profile: String,
}

impl Desktop {
    /// Ends what runs in this process, as servers do when their client is gone: runs at work are cancelled and can be
    /// continued, those that wait stay. Returns when nothing of it is left.
    pub fn end(&self) {
        self.engine.end();
    }

    /// How many runs are at work in this process: a window that is closed stays for them, without being seen.
    #[must_use]
    pub fn at_work(&self) -> usize {
        self.engine.at_work()
    }

    /// Returns the profile's name.
    #[must_use]
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// Returns the folder of the profile's data, for what a window keeps beside the database.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.api.store().path().parent().map(Path::to_owned).unwrap_or_default()
    }
}

/// Starts logging on standard error, as the servers do: what `RUST_LOG` asks for.
pub fn start_logging() {
    crate::logging::start(crate::logging::LogFormat::default());
}

/// Opens a profile, and makes it when it is not there. Nothing slow: the database is opened by the first command, and
/// runs whose process is gone are marked meanwhile.
///
/// # Errors
///
/// The home folder or the profile's file cannot be used.
pub fn open(profile: Option<&str>) -> Result<Desktop, OpenError> {
    let profile = profile::open(profile, Missing::Create)?;
    invocation::remember_profile(&profile.name);
    let store = rooms::registry(&profile, Create::IfMissing);
    let store = match Installation::load() {
        Ok(installation) => store.sealing(Arc::new(installation)),
        Err(failure) => {
            tracing::warn!("nothing can be sealed here, so secrets in runs are masked only: {failure}");
            store
        }
    };
    let front_door = front_door()?;
    let engine = Engine::start(store.clone(), &front_door)?;
    let boards = boards::Boards::new(store.clone());
    let name = profile.name.clone();
    let host = Launcher { profile, store: store.clone(), front_door, engine: engine.clone(), boards };
    Ok(Desktop { api: Api::new(store, Arc::new(host)), engine, profile: name })
}

/// Finds the executable that clients and workers are started from: the one beside this one, or this one itself.
fn front_door() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("this executable's own place is unknown: {error}")))?;
    // A test's executable lies one folder deeper.
    let beside = own.ancestors().skip(1).take(2).map(|folder| folder.join(FRONT_DOOR));
    beside.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        Failure::environment(format!("there is no `{FRONT_DOOR}` beside `{}`", own.display()))
            .hinted("install both executables into one folder")
    })
}

/// The launcher as the commands need it.
struct Launcher {
    profile: Profile,
    store: Store,
    front_door: PathBuf,
    engine: Engine,
    boards: boards::Boards,
}

/// Turns a command's failure into the border's error.
pub(crate) fn error(failure: Failure, code: ApiErrorCode) -> ApiError {
    ApiError { code, message: failure.message, detail: None, hint: failure.hint }
}

impl Launcher {
    /// Opens a registered workflow as its server would.
    fn workflow(&self, project: &Project) -> Answer<Arc<runtime::Project>> {
        if !project.path.is_dir() {
            return Err(ApiError::new(
                ApiErrorCode::ProjectMissing,
                format!("the folder `{}` is gone", project.path.display()),
            )
            .hinted("if it was moved, add it at its new place; else take it out of the registry"));
        }
        rooms::registered_in(project.clone(), &self.profile)
            .map(Arc::new)
            .map_err(|failure| error(failure, ApiErrorCode::ProjectBroken))
    }
}

impl Host for Launcher {
    fn facts(&self) -> Facts {
        let home = env_vars::home().unwrap_or_default();
        let downloads = home.join("Downloads");
        Facts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            profile: self.profile.name.clone(),
            profiles: profile::all(&self.profile.name),
            data_dir: self.profile.data_dir.clone(),
            executable: launching::executable(&self.front_door),
            locale: locale(),
            downloads: if downloads.is_dir() { downloads } else { home },
        }
    }

    fn structure(&self, project: &Project) -> Answer<StructureReport> {
        let opened = self.workflow(project)?;
        self.engine.structure(&opened)
    }

    fn other_entrypoints(&self, project: &Project) -> Answer<Vec<EntrypointRow>> {
        match project.kind {
            ProjectKind::Guided => Ok(guided_entrypoints(project)),
            ProjectKind::Workflow
            | ProjectKind::Board
            | ProjectKind::Conversation
            | ProjectKind::Kanban
            | ProjectKind::Folder => Ok(Vec::new()),
        }
    }

    fn findings(&self, project: &Project) -> Answer<Vec<Finding>> {
        examine::findings(self, project)
    }

    fn mend(&self, project: &Project, finding: &str) -> Answer<()> {
        examine::mend(self, project, finding)
    }

    fn projects_in(&self, folder: &Path, only: Option<ProjectKind>) -> Answer<Vec<NewProject>> {
        crate::commands::projects::found(folder, only).map_err(|failure| {
            let code = if folder.is_dir() { ApiErrorCode::ProjectBroken } else { ApiErrorCode::NotFound };
            error(failure, code)
        })
    }

    fn make_project(&self, folder: &Path) -> Answer<()> {
        launching::make_project(folder, &SystemIds)
    }

    fn sample_folder(&self) -> Answer<PathBuf> {
        launching::sample_folder()
    }

    fn sample(&self) -> Answer<PathBuf> {
        launching::sample(&SystemIds)
    }

    fn check_input(&self, project: &Project, entrypoint: &str, input: &Value) -> Answer<Vec<FaultRow>> {
        let opened = self.workflow(project)?;
        let entrypoint = self.engine.entrypoint(&opened, entrypoint)?;
        Ok(match project::check_call_with_files(&entrypoint, input) {
            Ok(_) => Vec::new(),
            Err(faults) => engine::faults(&faults),
        })
    }

    fn start(&self, project: &Project, entrypoint: &str, input: Value) -> Answer<RunId> {
        let opened = self.workflow(project)?;
        self.engine.run(&opened, entrypoint, input)
    }

    fn check_answer(&self, run: &RunRecord, question: &Question, content: &Value) -> Answer<Value> {
        let project = crate::commands::resume::project_of(run, &self.store, None)
            .map_err(|failure| error(failure, ApiErrorCode::ProjectBroken))?;
        crate::terminal::check(&question.form, content.clone(), &project.managed_files())
            .map_err(|faults| engine::refused(&faults))
    }

    fn go_on(&self, run: &RunId) -> Answer<()> {
        let record = self.store.show(run)?;
        let project = crate::commands::resume::project_of(&record, &self.store, None)
            .map_err(|failure| error(failure, ApiErrorCode::ProjectBroken))?;
        self.engine.go_on(run, Arc::new(project));
        Ok(())
    }

    fn cancel_guided(&self, run: &RunRecord) -> Answer<Option<CancelOutcome>> {
        crate::guided::history::cancel(&self.store, run)
            .map_err(|error| ApiError::new(ApiErrorCode::Internal, crate::failure::with_causes(&error)))
    }

    fn launch(&self, project: &Project) -> Answer<Launch> {
        launching::launch(project, &launching::executable(&self.front_door), &self.profile.name)
    }

    fn why_not_served(&self, kind: ProjectKind) -> Option<String> {
        (!rooms::is_served(kind)).then(|| format!("a project of kind `{}` has no tools to serve", kind.as_str()))
    }

    fn client_paths(&self) -> Answer<ClientPaths> {
        crate::commands::config::paths().map_err(|failure| error(failure, ApiErrorCode::Internal))
    }

    fn ledger(&self) -> Answer<Ledger> {
        let home = profile::workflow_home().map_err(|failure| error(failure, ApiErrorCode::Internal))?;
        Ok(Ledger::at(home.join("clients.json")))
    }

    fn test(&self, launch: &Launch, told: &mut dyn FnMut(&DockTest)) -> DockTest {
        probe::test(launch, told)
    }

    fn connection(&self) -> Answer<ConnectionStatus> {
        connection::status(&self.profile.name)
    }

    fn login(&self, login: &ConnectionLogin) -> Answer<ConnectionStatus> {
        connection::login(&self.profile.name, login)
    }

    fn logout(&self) -> Answer<ConnectionStatus> {
        connection::logout(&self.profile.name)
    }

    fn providers(&self, chosen: Option<&str>) -> Vec<ProviderRow> {
        providers(&self.profile.name, chosen)
    }

    fn default_provider(&self) -> Option<String> {
        let file = rooms::agents_file().ok()?;
        runtime::read_default_provider(&file).ok()??.as_str().map(str::to_owned)
    }

    fn choose_provider(&self, name: Option<&str>) -> Answer<()> {
        crate::commands::agents::choose(name).map_err(|failure| error(failure, ApiErrorCode::InvalidInput))
    }

    fn keep(&self, project: Option<&Project>, default: WireKeep) -> WireKeep {
        let wide = |number: Option<u32>| number.map(u64::from);
        let default = Keep { days: wide(default.days), runs: wide(default.runs), megabytes: wide(default.megabytes) };
        let keep = match project {
            Some(project) => Keep::of_settings_or(&project.settings, default),
            None => default,
        };
        let narrow = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        WireKeep { days: narrow(keep.days), runs: narrow(keep.runs), megabytes: narrow(keep.megabytes) }
    }

    fn prunable(&self, project: &str, keep: WireKeep) -> Answer<Pruned> {
        let pruned = retention::would_prune(&self.store, &[(project.to_owned(), of_wire(keep))])?;
        Ok(Pruned { runs: pruned.runs, bytes: pruned.bytes })
    }

    fn prune(&self, project: &str, keep: WireKeep) -> Answer<Pruned> {
        let pruned = retention::prune(&self.store, &[(project.to_owned(), of_wire(keep))])?;
        Ok(Pruned { runs: pruned.runs, bytes: pruned.bytes })
    }

    fn board(&self, project: &Project) -> Answer<BoardRoom> {
        self.boards.room(project)
    }

    fn has_variable(&self, name: &str) -> bool {
        env_vars::get(name).is_some()
    }
}

fn of_wire(keep: WireKeep) -> Keep {
    let wide = |number: Option<u32>| number.map(u64::from);
    Keep { days: wide(keep.days), runs: wide(keep.runs), megabytes: wide(keep.megabytes) }
}

/// The person's language, as the environment names it (`zh_CN.UTF-8` → `zh-CN`); English where it does not.
fn locale() -> String {
    let named = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| env_vars::get(name));
    let tag = named.as_deref().and_then(|text| text.split(['.', '@']).next()).unwrap_or_default().replace('_', "-");
    if tag.is_empty() || tag == "C" || tag == "POSIX" { "en".to_owned() } else { tag }
}

/// A guided workflow: its steps are an AI client's, so none is started here.
fn guided_row(id: &str, title: &str, description: Option<String>) -> EntrypointRow {
    EntrypointRow {
        id: id.to_owned(),
        title: title.to_owned(),
        description,
        draft: false,
        params: Vec::new(),
        source: EntrypointSourceKind::Guided,
        runnable: false,
        file: None,
        read_only: None,
        destructive: None,
        open_world: None,
        recent: Vec::new(),
        error: None,
    }
}

/// The workflows of a guided project's jobs, and those that are broken.
fn guided_entrypoints(project: &Project) -> Vec<EntrypointRow> {
    let guided = ::guided::Guided::new(::guided::Settings::new(env_vars::whole()));
    let Ok(opened) = guided.project(&project.path) else { return Vec::new() };
    let list = opened.get_workflows();
    let mut rows = Vec::new();
    for job in list.jobs {
        for workflow in job.workflows {
            let id = format!("{}/{}", job.name, workflow.name);
            let title = project::words::title_from_id(&workflow.name);
            rows.push(guided_row(&id, &title, Some(workflow.summary)));
        }
    }
    for broken in list.errors {
        let mut row = guided_row(&broken.job_name, &broken.job_name, None);
        row.error = Some(api::wire::project::EntrypointError { message: broken.error, file: None, line: None });
        rows.push(row);
    }
    rows
}

/// Who can start agents; the default is whom a person has chosen.
fn providers(profile: &str, chosen: Option<&str>) -> Vec<ProviderRow> {
    let workflow_home = profile::workflow_home().unwrap_or_default();
    let connected = rooms::connection(&FolderOptions::default(), &workflow_home, profile)
        .origin(&project::EnvFile::default())
        .is_some();
    runtime::providers(&rooms::environment(), connected)
        .into_iter()
        .map(|row| ProviderRow {
            kind: match row.kind {
                "http" => ProviderKind::Http,
                "canned" => ProviderKind::Canned,
                _ => ProviderKind::Command,
            },
            installed: row.installed,
            detail: Some(row.setup),
            is_default: chosen == Some(row.name.as_str()),
            name: row.name,
        })
        .collect()
}
