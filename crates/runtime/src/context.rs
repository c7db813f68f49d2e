//! What a run works with: its project, the folders of its data, its environment.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use model::{HistoryPlace, LaunchOptions, ProjectId};
use project::{EnvFile, ManagedFiles, Manifest};

use crate::connection::ConnectionSource;

/// The environment of this process, as it was handed to us.
pub type ProcessEnvironment = HashMap<OsString, OsString>;

/// Where local workflow data is kept. All absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Root of it all.
    pub data: PathBuf,
    /// Managed files imported from file parameters.
    pub files: PathBuf,
    /// The project's key-value store.
    pub kv: PathBuf,
    /// `PersistentValue`s and the knowledge base.
    pub values: PathBuf,
    /// Files that runs create.
    pub created: PathBuf,
}

/// A project that runs are started for.
#[derive(Debug, Clone)]
pub struct Project {
    /// What its package.json says.
    pub manifest: Manifest,
    /// Its id in the registry, when it is run from there.
    pub id: Option<ProjectId>,
    /// What a person sees.
    pub title: String,
    /// Where its data is.
    pub folders: Folders,
    /// The environment of this process.
    pub environment: ProcessEnvironment,
    /// Finds the server that its runs may talk to.
    pub connection: Option<Arc<dyn ConnectionSource>>,
    /// Where the window keeps the connection's login, if an option said so.
    pub desktop_config_dir: Option<PathBuf>,
    /// Where `auth login` keeps it, if an option said so.
    pub auth_dir: Option<PathBuf>,
    /// Programs that `exec` may start unasked.
    pub allow_exec: Vec<String>,
    /// Related projects bound on the command line, `ALIAS=DIR`.
    pub related: Vec<String>,
    /// The provider of its runs' agents, if the caller named one.
    pub provider: Option<String>,
    /// Where the person's choice of a provider for all projects is kept.
    pub agents_file: Option<PathBuf>,
    /// The profile it is run in.
    pub profile: Option<String>,
}

impl Project {
    /// Where its runs are found again.
    #[must_use]
    pub fn history_place(&self) -> HistoryPlace {
        match (&self.id, &self.profile) {
            (None, _) => HistoryPlace::Folder(self.folders.data.clone()),
            (Some(_), Some(profile)) => HistoryPlace::Profile(profile.clone()),
            (Some(_), None) => HistoryPlace::Profile(HistoryPlace::USUAL_PROFILE.into()),
        }
    }

    /// The environment of programs that are started for it: the launcher's own as commands get it, then `env_file`, then
    /// `connection`. What is no Unicode cannot travel to a worker as text, and is left out.
    pub(crate) fn program_environment(
        &self,
        env_file: &EnvFile,
        connection: &[(String, String)],
    ) -> BTreeMap<String, String> {
        project::command_environment(&self.environment, env_file, connection)
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The files that its runs may see.
    #[must_use]
    pub fn managed_files(&self) -> ManagedFiles {
        ManagedFiles::new(self.folders.files.clone(), self.folders.created.clone())
    }

    /// What must be the same when another process continues one of its runs.
    #[must_use]
    pub fn launch_options(&self) -> LaunchOptions {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        LaunchOptions {
            project_dir: text(&self.manifest.root),
            data_dir: text(&self.folders.data),
            file_store_dir: text(&self.folders.files),
            kv_store_dir: text(&self.folders.kv),
            persistent_value_store_dir: text(&self.folders.values),
            file_create_store_dir: text(&self.folders.created),
            allow_exec: self.allow_exec.clone(),
            related_projects: self.related.clone(),
            profile: self.profile.clone(),
            provider: self.provider.clone(),
            desktop_config_dir: self.desktop_config_dir.as_ref().map(text),
            auth_dir: self.auth_dir.as_ref().map(text),
            ..LaunchOptions::default()
        }
    }

    /// Reads `.env` as it is now. What cannot be read is told and counts as empty.
    pub(crate) fn env_file(&self) -> EnvFile {
        match EnvFile::read(&self.manifest.root) {
            Ok(file) => {
                for warning in file.warnings() {
                    tracing::warn!(".env: {warning}");
                }
                file
            }
            Err(error) if error.is_not_found() => EnvFile::default(),
            Err(error) => {
                tracing::warn!(%error, ".env is left out");
                EnvFile::default()
            }
        }
    }
}
