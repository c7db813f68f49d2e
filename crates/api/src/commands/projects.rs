//! The registry: which folders are there, adding and removing them, and which of them belong together.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use model::RunStatus;
use project::Manifest;
use serde_json::json;
use store::{Project, ProjectKind, Store, StoreError};

use crate::host::Host;
use crate::wire::Nothing;
use crate::wire::project::{
    ProjectAdd, ProjectAdded, ProjectKey, ProjectMake, ProjectRemove, ProjectRow, Relate, SamplePlace, ServerRow,
    Unrelate,
};
use crate::{Answer, Api, ApiError, ApiErrorCode};

/// Returns what is registered of each folder, the last used first; of a folder the workflow first.
pub(super) fn folders(store: &Store) -> Answer<Vec<Vec<Project>>> {
    let projects = match store.projects() {
        Err(StoreError::Missing { .. }) => Vec::new(),
        projects => projects?,
    };
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    let mut folders: Vec<Vec<Project>> = Vec::new();
    for project in projects {
        let place = *places.entry(project.path.clone()).or_insert(folders.len());
        match folders.get_mut(place) {
            Some(folder) => folder.push(project),
            None => folders.push(vec![project]),
        }
    }
    for folder in &mut folders {
        folder.sort_by_key(|project| project.kind);
    }
    Ok(folders)
}

/// How many runs of each project have not ended.
pub(super) struct Unended {
    counts: HashMap<String, (u64, u64)>,
}

impl Unended {
    pub(super) fn read(store: &Store) -> Answer<Self> {
        let mut counts: HashMap<String, (u64, u64)> = HashMap::new();
        for (project, status) in store.unended()? {
            let (waiting, running) = counts.entry(project).or_default();
            match status {
                RunStatus::WaitingForInput => *waiting += 1,
                _ => *running += 1,
            }
        }
        Ok(Self { counts })
    }
}

/// Makes the row of a folder; `servers` is not empty.
pub(super) fn folder_row(host: &dyn Host, servers: &[Project], unended: &Unended) -> Answer<ProjectRow> {
    let first = servers.first().ok_or_else(|| ApiError::internal("a folder without a project"))?;
    let (mut waiting, mut running) = (0, 0);
    for server in servers {
        let (waits, runs) = unended.counts.get(server.id.as_str()).copied().unwrap_or_default();
        waiting += waits;
        running += runs;
    }
    let missing = !first.path.is_dir();
    let broken =
        servers.iter().any(|server| server.kind == ProjectKind::Workflow && !first.path.join("package.json").is_file());
    Ok(ProjectRow {
        key: first.id.to_string(),
        title: first.title.clone(),
        path: first.path.to_string_lossy().into_owned(),
        missing,
        servers: servers
            .iter()
            .map(|server| {
                let why_not = host.why_not_served(server.kind);
                ServerRow {
                    id: server.id.to_string(),
                    kind: server.kind.into(),
                    uuid: server.uuid.clone(),
                    served: why_not.is_none(),
                    why_not,
                }
            })
            .collect(),
        waiting,
        running,
        notice: missing || broken,
        added_at: servers.iter().map(|server| server.added_at).min().unwrap_or_default(),
        used_at: servers.iter().map(|server| server.used_at).max().unwrap_or_default(),
    })
}

pub(super) fn projects(api: &Api, _: Nothing) -> Answer<Vec<ProjectRow>> {
    let folders = folders(&api.store)?;
    if folders.is_empty() {
        return Ok(Vec::new());
    }
    let unended = Unended::read(&api.store)?;
    folders.iter().map(|servers| folder_row(api.host.as_ref(), servers, &unended)).collect()
}

pub(super) fn project_add(api: &Api, request: ProjectAdd) -> Answer<ProjectAdded> {
    let path = Path::new(&request.path);
    if !path.is_absolute() {
        return Err(ApiError::invalid(format!("`{}` is no absolute path", request.path)));
    }
    add(api, path, request.kind.map(ProjectKind::from))
}

/// Tells whether a project is still where it was registered.
fn still_there(known: &Project) -> bool {
    Manifest::read(&known.path).is_ok_and(|manifest| Some(&manifest.uuid) == known.uuid.as_ref())
}

fn add(api: &Api, path: &Path, only: Option<ProjectKind>) -> Answer<ProjectAdded> {
    let found = api.host.projects_in(path, only)?;
    if found.is_empty() {
        let path = path.to_string_lossy();
        return Err(ApiError::new(
            ApiErrorCode::NoProject,
            format!("`{path}` has no package.json with entrypoints, no .deepwork/ and no .project/"),
        )
        .detailed(json!({ "path": path }))
        .hinted("make it a project, or choose another folder"));
    }
    let mut added = Vec::new();
    let mut folder = None;
    for new in found {
        let known = api.store.add_project(&new, still_there)?.project;
        added.push(known.id.to_string());
        folder.get_or_insert(known);
    }
    let folder = folder.ok_or_else(|| ApiError::internal("nothing was registered"))?;
    let row = folder_row(api.host.as_ref(), &api.servers(&folder)?, &Unended::read(&api.store)?)?;
    Ok(ProjectAdded { projects: vec![row], added })
}

pub(super) fn project_make(api: &Api, request: ProjectMake) -> Answer<ProjectAdded> {
    let path = Path::new(&request.path);
    if !path.is_absolute() {
        return Err(ApiError::invalid(format!("`{}` is no absolute path", request.path)));
    }
    api.host.make_project(path)?;
    add(api, path, None)
}

pub(super) fn project_sample(api: &Api, _: Nothing) -> Answer<SamplePlace> {
    let path = api.host.sample_folder()?;
    // One whose folder is gone is made again.
    let known = match api.store.projects_at(&path) {
        Err(StoreError::Missing { .. }) => Vec::new(),
        known => known?,
    };
    let known = known.into_iter().find(|project| !project.removed && project.path.is_dir());
    Ok(SamplePlace { path: path.to_string_lossy().into_owned(), project: known.map(|project| project.id.to_string()) })
}

pub(super) fn project_add_sample(api: &Api, _: Nothing) -> Answer<ProjectKey> {
    let folder = api.host.sample()?;
    let added = add(api, &folder, None)?;
    let key = added.projects.first().map(|row| row.key.clone());
    Ok(ProjectKey { project: key.ok_or_else(|| ApiError::internal("the sample was not registered"))? })
}

pub(super) fn project_remove(api: &Api, request: ProjectRemove) -> Answer<Nothing> {
    let project = api.store.project(&request.project)?;
    let mut servers = api.store.projects_at(&project.path)?;
    // What was removed before can still be purged.
    servers.retain(|server| !server.removed || request.purge == Some(true));
    if servers.is_empty() {
        return Err(ApiError::not_found(format!("project {} was taken out of the registry before", request.project)));
    }
    for server in servers {
        if request.purge == Some(true) {
            api.store.purge_project(&server.id)?;
        } else {
            api.store.remove_project(&server.id)?;
        }
    }
    Ok(Nothing {})
}

/// Reads a project's package.json.
pub(super) fn manifest(project: &Project) -> Answer<Manifest> {
    Manifest::read(&project.path).map_err(|error| {
        let code = if project.path.is_dir() { ApiErrorCode::ProjectBroken } else { ApiErrorCode::ProjectMissing };
        ApiError::new(code, model::with_causes(&error)).hinted(error.next_step())
    })
}

/// Finds the workflow of a folder.
pub(super) fn workflow(api: &Api, id: &str) -> Answer<Project> {
    let project = api.project(id)?;
    if project.kind == ProjectKind::Workflow {
        return Ok(project);
    }
    let servers = api.servers(&project)?;
    servers.into_iter().find(|server| server.kind == ProjectKind::Workflow).ok_or_else(|| {
        ApiError::new(
            ApiErrorCode::Unsupported,
            format!("project {id} is of kind `{}`, and no workflow", project.kind.as_str()),
        )
    })
}

pub(super) fn relate(api: &Api, request: Relate) -> Answer<Nothing> {
    let ours = workflow(api, &request.project)?;
    let theirs = workflow(api, &request.other)?;
    let (here, there) = (manifest(&ours)?, manifest(&theirs)?);
    project::check_related(&here, &request.alias, &there)
        .map_err(|error| ApiError::invalid(error.to_string()).hinted(error.next_step()))?;
    api.store.relate(&ours.id, &request.alias, &theirs.id)?;
    // Both declare each other, and the same person looks at both.
    if let Some(back) = there.related_projects.iter().find(|related| related.uuid == here.uuid) {
        api.store.relate(&theirs.id, &back.alias, &ours.id)?;
    }
    Ok(Nothing {})
}

pub(super) fn unrelate(api: &Api, request: Unrelate) -> Answer<Nothing> {
    let project = workflow(api, &request.project)?;
    if api.store.unrelate(&project.id, &request.alias)? {
        return Ok(Nothing {});
    }
    Err(ApiError::not_found(format!("`{}` was not confirmed from this side", request.alias)))
}
