//! The handle that a window, or the dev server, calls commands on.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use model::RunId;
use serde_json::Value;
use store::{Project, Store, StoreError};

use crate::commands::Tests;
use crate::host::Host;
use crate::wire::AppSettings;
use crate::{Answer, ApiError, ApiErrorCode};

/// The window's commands over one profile.
#[derive(Clone)]
pub struct Api {
    pub(crate) store: Store,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) written: Arc<Mutex<HashMap<String, clients::Written>>>,
    pub(crate) next_written: Arc<AtomicU64>,
    pub(crate) tests: Arc<Mutex<Tests>>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Api").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Api {
    /// Makes the handle. Nothing is opened before the first command.
    #[must_use]
    pub fn new(store: Store, host: Arc<dyn Host>) -> Self {
        Self { store, host, written: Arc::default(), next_written: Arc::default(), tests: Arc::default() }
    }

    /// The store that the commands read.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Calls a command by its name. Blocks, a few of them for seconds.
    ///
    /// # Errors
    ///
    /// What the command says; [`ApiErrorCode::NotFound`] for a name that is no command, and
    /// [`ApiErrorCode::InvalidInput`] for a request of another shape.
    pub fn call(&self, name: &str, request: Value) -> Answer<Value> {
        crate::commands::dispatch(self, name, request)
    }

    /// Returns the settings of the window.
    pub(crate) fn settings(&self) -> Answer<AppSettings> {
        let settings = match self.store.app_settings() {
            Err(StoreError::Missing { .. }) => serde_json::Map::new(),
            settings => settings?,
        };
        // What a later version wrote, or nobody, counts as not set.
        let mut known = serde_json::to_value(AppSettings::default()).unwrap_or_default();
        for (name, value) in settings {
            let before = known.get(&name).cloned();
            if let Some(object) = known.as_object_mut() {
                object.insert(name.clone(), value);
            }
            if serde_json::from_value::<AppSettings>(known.clone()).is_err()
                && let (Some(object), Some(before)) = (known.as_object_mut(), before)
            {
                object.insert(name, before);
            }
        }
        let settings: AppSettings = serde_json::from_value(known).unwrap_or_default();
        // The terminal chooses it as well: it has a file of its own.
        Ok(AppSettings { provider: self.host.default_provider(), ..settings })
    }

    /// Finds a registered project by the id of any server, or its UUID.
    pub(crate) fn project(&self, id: &str) -> Answer<Project> {
        let project = self.store.project(id)?;
        if project.removed {
            return Err(ApiError::not_found(format!("project {id} was taken out of the registry"))
                .hinted("add its folder again; its history comes back with it"));
        }
        Ok(project)
    }

    /// Finds all that is registered of a project's folder, the workflow first.
    pub(crate) fn servers(&self, project: &Project) -> Answer<Vec<Project>> {
        let mut servers = self.store.projects_at(&project.path)?;
        servers.retain(|server| !server.removed);
        servers.sort_by_key(|server| server.kind);
        Ok(servers)
    }
}

/// Reads a run's id.
pub(crate) fn run_id(text: &str) -> Answer<RunId> {
    text.parse().map_err(|error: model::IdError| ApiError::new(ApiErrorCode::InvalidInput, error.to_string()))
}
