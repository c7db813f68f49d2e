//! From what a person or a client names to a project that can be run: its folder, its data folders, its store.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::HistoryPlace;
use project::{Manifest, PackageError};
use runtime::{ConnectionSource, Folders, Project};
use store::{Create, ProjectKind, Store, StoreError, StoreOptions};

use crate::cli::FolderOptions;
use crate::connection::{self, Logins, SavedConnection};
use crate::env_vars;
use crate::failure::{Exit, Failure, with_causes};
use crate::installation::Installation;
use crate::invocation;
use crate::profile::{self, Missing, Profile};

/// A project with the store that its runs are recorded in.
pub(crate) struct Opened {
    pub(crate) project: Arc<Project>,
    pub(crate) store: Store,
    /// Seals what is kept for resuming, and what clients carry. Absent where there is no place to keep a key.
    pub(crate) installation: Option<Installation>,
}

impl Opened {
    fn new(project: Project, store: Store) -> Self {
        let installation = Installation::load()
            .inspect_err(|failure| {
                tracing::warn!("nothing can be sealed here, so secrets in runs are masked only: {failure}");
            })
            .ok();
        let store = match &installation {
            Some(installation) => store.sealing(Arc::new(installation.clone())),
            None => store,
        };
        Self { project: Arc::new(project), store, installation }
    }
}

/// Opens a folder for a server, which says at its start what would fail with each call.
pub(crate) fn served_folder(dir: &Path, options: &FolderOptions) -> Result<Registered, Failure> {
    let opened = folder(dir, options)?;
    can_record(&opened.store)?;
    Ok(Registered::Workflow(Box::new(opened)))
}

/// Refuses a history that a later build has closed to this one: no call could be recorded. Whatever else is wrong with a
/// history may be mended while a server runs.
fn can_record(store: &Store) -> Result<(), Failure> {
    match store.path().exists().then(|| store.check_writable()) {
        Some(Err(error @ StoreError::TooNew { .. })) => Err(store_failure(&error)),
        _ => Ok(()),
    }
}

/// Opens a folder, without the registry. Its runs are recorded in `<data-dir>/history.db`.
pub(crate) fn folder(dir: &Path, options: &FolderOptions) -> Result<Opened, Failure> {
    let manifest = manifest(dir)?;
    let folders = folders(options, &manifest.uuid)?;
    check_related(&manifest, options)?;
    let store = history(&folders.data);
    let project = Project {
        title: manifest.name.clone(),
        manifest,
        id: None,
        environment: environment(),
        connection: Some(connection(options, &folders.data, &profile::name(None)?)),
        desktop_config_dir: options.desktop_config_dir.clone(),
        auth_dir: options.auth_dir.clone(),
        folders,
        allow_exec: options.allow_exec.clone(),
        related: options.related_projects.clone(),
        provider: provider(options)?,
        agents_file: Some(agents_file()?),
        profile: None,
    };
    Ok(Opened::new(project, store))
}

/// Checks what `--related-project` binds: a name that the project declares, a project in that folder, and its consent.
fn check_related(ours: &Manifest, options: &FolderOptions) -> Result<(), Failure> {
    for bound in &options.related_projects {
        let Some((alias, dir)) = bound.split_once('=') else { continue };
        let failed = |message: &str, next: String| {
            Failure::environment(format!("`--related-project {bound}`: {message}")).hinted(next)
        };
        project::check_alias(ours, alias).map_err(|error| failed(&with_causes(&error), error.next_step()))?;
        let theirs = Manifest::read(Path::new(dir)).map_err(|error| failed(&with_causes(&error), error.next_step()))?;
        project::check_related(ours, alias, &theirs)
            .map_err(|error| failed(&with_causes(&error), error.next_step()))?;
    }
    Ok(())
}

/// A registered project of a kind that can be served.
pub(crate) enum Registered {
    /// Entrypoints as tools.
    Workflow(Box<Opened>),
    /// Guided workflows.
    Guided(Box<store::Project>, Store),
    /// Work records.
    Board(Box<crate::board::server::BoardServer>),
}

/// Opens a registered project by its id or UUID, of whatever kind it is.
pub(crate) fn served(id: &str, profile: &Profile) -> Result<Registered, Failure> {
    let (found, store) = find(id, profile)?;
    can_record(&store)?;
    if found.kind == ProjectKind::Guided {
        return Ok(Registered::Guided(Box::new(found), store));
    }
    if found.kind == ProjectKind::Board {
        let served = crate::board::registered(&found, store).map_err(|error| board_failure(&found, &error))?;
        return Ok(Registered::Board(Box::new(served)));
    }
    workflow(id, found, store, profile).map(|opened| Registered::Workflow(Box::new(opened)))
}

fn board_failure(found: &store::Project, error: &::board::BoardError) -> Failure {
    Failure::environment(format!("the board in `{}` cannot be served: {}: {error}", found.path.display(), error.code))
        .hinted(format!("see `{}`", invocation::command(&["board", "doctor", "--root", &found.path.to_string_lossy()])))
}

/// Tells whether a project of this kind is a server for clients.
pub(crate) fn is_served(kind: ProjectKind) -> bool {
    match kind {
        ProjectKind::Workflow | ProjectKind::Guided | ProjectKind::Board => true,
        ProjectKind::Conversation | ProjectKind::Kanban | ProjectKind::Folder => false,
    }
}

/// What stands in a client's configuration for a registered project: its usual key, and the arguments that serve it.
pub(crate) fn launch_of(project: &store::Project, profile: &str) -> (String, Vec<String>) {
    let mut arguments = vec!["--workflow-mcp".to_owned(), project.id.to_string()];
    if profile != HistoryPlace::USUAL_PROFILE {
        arguments.extend(["--profile".to_owned(), profile.to_owned()]);
    }
    let key = match &project.uuid {
        Some(uuid) => clients::default_key(uuid),
        None => format!("{}-{}", project.kind.as_str(), project.id),
    };
    (key, arguments)
}

/// Opens a registered workflow project by its id or UUID.
pub(crate) fn registered(id: &str, profile: &Profile) -> Result<Opened, Failure> {
    let (found, store) = find(id, profile)?;
    workflow(id, found, store, profile)
}

pub(crate) fn find(id: &str, profile: &Profile) -> Result<(store::Project, Store), Failure> {
    let store = registry(profile, Create::Never);
    let found = store.project(id).map_err(|error| match error {
        StoreError::NoSuchProject { .. } | StoreError::Missing { .. } => {
            Failure::environment(format!("no project `{id}` is registered in profile `{}`", profile.name)).hinted(
                format!(
                    "see `{}`, or register it with `{}`",
                    invocation::command(&["projects", "list"]),
                    invocation::command(&["projects", "add", "DIR"])
                ),
            )
        }
        error => store_failure(&error),
    })?;
    if found.removed {
        return Err(Failure::environment(format!("project `{id}` was taken out of the registry")).hinted(format!(
            "bring it back with `{}`",
            invocation::command(&["projects", "add", &found.path.to_string_lossy()])
        )));
    }
    Ok((found, store))
}

fn workflow(id: &str, found: store::Project, store: Store, profile: &Profile) -> Result<Opened, Failure> {
    project_in(id, found, profile).map(|project| Opened::new(project, store))
}

/// Opens a registered workflow project as it is served, without a store of its own.
pub(crate) fn registered_in(found: store::Project, profile: &Profile) -> Result<Project, Failure> {
    let id = found.id.to_string();
    project_in(&id, found, profile)
}

pub(crate) fn not_of_use(id: &str, kind: ProjectKind, why: &str) -> Failure {
    Failure::environment(format!("project `{id}` is of kind `{}`, {why}", kind.as_str()))
}

fn project_in(id: &str, found: store::Project, profile: &Profile) -> Result<Project, Failure> {
    if found.kind != ProjectKind::Workflow {
        return Err(not_of_use(id, found.kind, "which is no workflow and has no entrypoints"));
    }
    let manifest = manifest(&found.path)?;
    let folders = folders(&FolderOptions::default(), &manifest.uuid)?;
    Ok(Project {
        title: manifest.name.clone(),
        manifest,
        id: Some(found.id.clone()),
        environment: environment(),
        connection: Some(connection(&FolderOptions::default(), &folders.data, &profile.name)),
        desktop_config_dir: None,
        auth_dir: None,
        folders,
        allow_exec: Vec::new(),
        related: Vec::new(),
        provider: found.settings.get("provider").and_then(serde_json::Value::as_str).map(str::to_owned),
        agents_file: Some(agents_file()?),
        profile: Some(profile.name.clone()),
    })
}

/// Opens what `run` and `config` take: a folder, or the id of a registered project.
pub(crate) fn target(target: &str, profile: Option<&str>, options: &FolderOptions) -> Result<Opened, Failure> {
    let path = Path::new(target);
    if path.is_dir() {
        // A registered folder's runs belong into the registry's history.
        if let Ok(profile) = profile::open(profile, Missing::Refuse)
            && let Ok(manifest) = Manifest::read(path)
            && let Ok(found) = registry(&profile, Create::Never).project(&manifest.uuid)
            && found.path == manifest.root
            && !found.removed
            && options.data_dir.is_none()
        {
            return with_options(registered(found.id.as_str(), &profile)?, options);
        }
        return folder(path, options);
    }
    if path.is_file() {
        return loose(path, options);
    }
    if target.contains('/') || target.starts_with('.') {
        return Err(Failure::environment(format!("there is no folder `{target}`"))
            .hinted("name a folder with a package.json, or the id of a registered project"));
    }
    with_options(registered(target, &profile::open(profile, Missing::Refuse)?)?, options)
}

/// A registered project with what the command line says of this run: the provider, related projects, and what may be
/// started unasked. Its data folders are its own.
fn with_options(mut opened: Opened, options: &FolderOptions) -> Result<Opened, Failure> {
    let uuid = opened.project.manifest.uuid.clone();
    folders(options, &uuid)?;
    check_related(&opened.project.manifest, options)?;
    let provider = provider(options)?;
    let project = Arc::make_mut(&mut opened.project);
    project.provider = provider.or(project.provider.take());
    project.related.extend_from_slice(&options.related_projects);
    project.allow_exec.extend_from_slice(&options.allow_exec);
    Ok(opened)
}

/// The provider that the command line names. A file of replies counts from where the command was typed.
fn provider(options: &FolderOptions) -> Result<Option<String>, Failure> {
    let Some(name) = &options.provider else { return Ok(None) };
    let Some(file) = name.strip_prefix("canned:") else { return Ok(Some(name.clone())) };
    let file = std::path::absolute(file)
        .map_err(|error| Failure::usage(format!("`--provider {name}`: the file cannot be found: {error}")))?;
    Ok(Some(format!("canned:{}", file.display())))
}

/// Where a person's choice of a provider is kept.
pub(crate) fn agents_file() -> Result<PathBuf, Failure> {
    Ok(profile::workflow_home()?.join("agents.json"))
}

/// Opens one script file that belongs to no project. Its folder counts as one for as long as it runs.
pub(crate) fn loose(file: &Path, options: &FolderOptions) -> Result<Opened, Failure> {
    let file = std::fs::canonicalize(file)
        .map_err(|error| Failure::environment(format!("`{}` cannot be opened: {error}", file.display())))?;
    let manifest = Manifest::of_script(&file).ok_or_else(|| {
        Failure::usage(format!("`{}` is no script: its name ends in `.js`, `.mjs` or `.ts`", file.display()))
    })?;
    let folders = folders(options, &manifest.uuid)?;
    let store = history(&folders.data);
    let project = Project {
        title: manifest.name.clone(),
        manifest,
        id: None,
        environment: environment(),
        connection: Some(connection(options, &folders.data, &profile::name(None)?)),
        desktop_config_dir: None,
        auth_dir: None,
        folders,
        allow_exec: options.allow_exec.clone(),
        related: Vec::new(),
        provider: provider(options)?,
        agents_file: Some(agents_file()?),
        profile: None,
    };
    Ok(Opened::new(project, store))
}

/// The store of a profile's registry and history.
pub(crate) fn registry(profile: &Profile, create: Create) -> Store {
    Store::new(profile.database(), StoreOptions { create, ..StoreOptions::default() })
}

/// The store of a plain data folder.
pub(crate) fn history(data_dir: &Path) -> Store {
    Store::new(data_dir.join("history.db"), StoreOptions::default())
}

/// Reads package.json.
pub(crate) fn manifest(dir: &Path) -> Result<Manifest, Failure> {
    Manifest::read(dir).map_err(|error| package_failure(&error))
}

pub(crate) fn package_failure(error: &PackageError) -> Failure {
    Failure { exit: Exit::Environment, message: with_causes(error), hint: Some(error.next_step()) }
}

pub(crate) fn store_failure(error: &store::StoreError) -> Failure {
    let failure = Failure::from_error(Exit::Environment, error);
    match next_step(error) {
        Some(step) => failure.hinted(step),
        None => failure,
    }
}

/// What a person can do about a database that cannot be used.
fn next_step(error: &StoreError) -> Option<String> {
    Some(match error {
        StoreError::Missing { .. } => {
            format!("register a folder with `{}`", invocation::command(&["projects", "add", "DIR"]))
        }
        StoreError::TooNew { .. } => "update this executable, or use the newer one that wrote the database".into(),
        StoreError::NotADatabase { path } | StoreError::Foreign { path } => {
            format!("move `{}` away, or put a backup in its place", path.display())
        }
        StoreError::Corrupt { path, .. } => format!(
            "put a backup in place of `{}` (migrations keep one beside it), or recover it with `{}`",
            path.display(),
            model::command_line(["sqlite3", &path.to_string_lossy(), ".recover"])
        ),
        StoreError::SymbolicLink { path } => format!("put the database itself in the place of `{}`", path.display()),
        StoreError::Locked { .. } => "end the program that holds it, or wait for it".into(),
        StoreError::Full { .. } => "make room on that disk; nothing that was recorded is lost".into(),
        StoreError::ReadOnly { path } | StoreError::File { path, .. } | StoreError::Unreadable { path, .. } => {
            format!("make `{}` and its folder readable and writable for you", path.display())
        }
        StoreError::NoSuchProject { .. } => format!("see `{}`", invocation::command(&["projects", "list"])),
        StoreError::NoSuchRun { .. } => format!("see `{}`", invocation::command(&["runs", "list"])),
        _ => return None,
    })
}

/// Turns the folder options into folders, and names the option that is no absolute path.
pub(crate) fn folders(options: &FolderOptions, uuid: &str) -> Result<Folders, Failure> {
    for (name, value) in [
        ("--data-dir", &options.data_dir),
        ("--file-store-dir", &options.file_store_dir),
        ("--kv-store-dir", &options.kv_store_dir),
        ("--persistent-value-store-dir", &options.persistent_value_store_dir),
        ("--file-create-store-dir", &options.file_create_store_dir),
        ("--desktop-config-dir", &options.desktop_config_dir),
        ("--auth-dir", &options.auth_dir),
    ] {
        absolute(name, value.as_deref())?;
    }
    for related in &options.related_projects {
        let Some((alias, dir)) = related.split_once('=') else {
            return Err(Failure::usage(format!("`--related-project {related}`: write it as ALIAS=DIR")));
        };
        absolute(&format!("--related-project {alias}=DIR"), Some(Path::new(dir)))?;
    }
    let data = match &options.data_dir {
        Some(dir) => dir.clone(),
        None => profile::workflow_home()?,
    };
    let or = |given: &Option<PathBuf>, default: PathBuf| given.clone().unwrap_or(default);
    Ok(Folders {
        files: or(&options.file_store_dir, data.join("files")),
        kv: or(&options.kv_store_dir, data.join("kv").join(uuid)),
        values: or(&options.persistent_value_store_dir, data.join("values")),
        created: or(&options.file_create_store_dir, data.join("created")),
        data,
    })
}

/// Refuses an option's folder that is relative.
pub(crate) fn absolute(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    match path {
        Some(path) if !path.is_absolute() => {
            Err(Failure::usage(format!("`{option}` must be an absolute path, not `{}`", path.display())))
        }
        // Commands are told their folders in environment variables and JSON, which are text.
        Some(path) if path.to_str().is_none() => {
            Err(Failure::usage(format!("`{option}` must be a path in UTF-8, not `{}`", path.display())))
        }
        Some(_) | None => Ok(()),
    }
}

/// Finds the connection of runs with these options, when one needs it.
pub(crate) fn connection(options: &FolderOptions, data: &Path, profile: &str) -> Arc<dyn ConnectionSource> {
    let logins = Logins::new(options.desktop_config_dir.as_deref(), options.auth_dir.as_deref(), data);
    Arc::new(SavedConnection::new(connection::given_by_environment(), logins, connection::keyring(profile)))
}

pub(crate) fn environment() -> runtime::ProcessEnvironment {
    env_vars::all().into_iter().map(|(name, value)| (name.into(), value.into())).collect::<HashMap<_, _>>()
}
