//! `workflow-code projects`: the registry from the terminal.

use std::path::Path;

use model::format_timestamp;
use project::Manifest;
use serde_json::{Value, json};
use store::{AddedHow, Create, NewProject, Project, ProjectKind, Store, StoreError};

use crate::cli::Projects;
use crate::failure::{Exit, Failure};
use crate::profile::{self, Missing};
use crate::retention::{self, Keep};
use crate::{invocation, open, out};

pub(crate) fn run(command: &Projects, profile: Option<&str>) -> Result<u8, Failure> {
    match command {
        Projects::Add { dir, kind, json } => add(profile, dir, kind.as_deref(), *json),
        Projects::List { json } => list(profile, *json),
        Projects::Show { project, json } => show(profile, project, *json),
        Projects::Remove { project, purge, json } => remove(profile, project, *purge, *json),
        Projects::Set { project, setting, value, json } => set(profile, project, setting, value, *json),
        Projects::Relate { project, alias, other, both, json } => relate(profile, project, alias, other, *both, *json),
    }
}

/// Opens a registry that must exist.
fn existing(profile: Option<&str>) -> Result<Store, Failure> {
    Ok(open::registry(&profile::open(profile, Missing::Refuse)?, Create::Never))
}

fn shape(project: &Project) -> Value {
    json!({
        "projectId": project.id,
        "uuid": project.uuid,
        "kind": project.kind.as_str(),
        "title": project.title,
        "path": project.path,
    })
}

const CHECK: &str = "name a folder on this machine, such as the one that holds package.json";

/// Looks at a folder that is to be registered: every kind of project that is in it, one at least.
fn kinds(dir: &Path, only: Option<ProjectKind>) -> Result<Vec<NewProject>, Failure> {
    let found = found(dir, only)?;
    if found.is_empty() {
        return Err(Failure::environment(format!("nothing that can be registered was found in `{}`", dir.display()))
            .hinted(format!(
                "make it a workflow project with `{}`, or name a kind with `--kind`",
                invocation::command(&["init", &dir.to_string_lossy()])
            )));
    }
    Ok(found)
}

/// Looks at a folder: every kind of project that is in it; none in an ordinary one.
pub(crate) fn found(dir: &Path, only: Option<ProjectKind>) -> Result<Vec<NewProject>, Failure> {
    let path = std::fs::canonicalize(dir)
        .map_err(|error| Failure::environment(format!("`{}` cannot be used: {error}", dir.display())).hinted(CHECK))?;
    if !path.is_dir() {
        return Err(Failure::environment(format!("`{}` is no folder", dir.display())).hinted(CHECK));
    }
    let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
    let mut found = Vec::new();
    let mut push = |kind: ProjectKind, uuid: Option<String>, title: &str| {
        found.push(NewProject { kind, uuid, path: path.clone(), title: title.to_owned() });
    };
    let mut broken = None;
    match project::read_project_type(&path) {
        Ok(Some(kind)) if kind == "workflow" => match Manifest::read(&path) {
            Ok(manifest) => push(ProjectKind::Workflow, Some(manifest.uuid.clone()), &manifest.name),
            Err(error) => broken = Some(error),
        },
        Ok(Some(kind)) if kind == "conversation" => push(ProjectKind::Conversation, None, &name),
        Ok(Some(kind)) if kind == "kanban" => push(ProjectKind::Kanban, None, &name),
        Ok(_) => {}
        // A folder without a package.json may be another kind of project.
        Err(error) => {
            if path.join("package.json").exists() {
                broken = Some(error);
            }
        }
    }
    if path.join(".deepwork").is_dir() {
        push(ProjectKind::Guided, None, &name);
    }
    if path.join(".project").is_dir() {
        push(ProjectKind::Board, None, &name);
    }
    if only == Some(ProjectKind::Folder) {
        push(ProjectKind::Folder, None, &name);
    }
    if let Some(only) = only {
        found.retain(|project| project.kind == only);
    }
    match broken {
        Some(error) if found.is_empty() => Err(open::package_failure(&error)),
        _ => Ok(found),
    }
}

fn add(profile: Option<&str>, dir: &Path, kind: Option<&str>, json: bool) -> Result<u8, Failure> {
    let only = kind
        .map(|kind| {
            ProjectKind::parse(kind).ok_or_else(|| {
                Failure::usage(format!(
                    "`--kind {kind}`: it is one of workflow, guided, board, conversation, kanban, folder"
                ))
            })
        })
        .transpose()?;
    let found = kinds(dir, only)?;
    let store = open::registry(&profile::open(profile, Missing::Create)?, Create::IfMissing);
    let mut added = Vec::new();
    for new in found {
        added.push(store.add_project(&new, still_there).map_err(|error| match error {
            StoreError::Copy { .. } => Failure::from_error(Exit::Usage, &error).hinted(format!(
                "if it is a copy, give it an id of its own: `{}`",
                invocation::command(&["init", &dir.to_string_lossy(), "--new-id"])
            )),
            error => open::store_failure(&error),
        })?);
    }
    if json {
        out::json(&Value::Array(added.iter().map(|added| shape(&added.project)).collect()));
        return Ok(0);
    }
    for added in &added {
        let how = match added.how {
            AddedHow::New => "registered",
            AddedHow::Known => "was registered before",
            AddedHow::Moved => "was moved here, with its history",
            AddedHow::Restored => "is registered again, with its history",
        };
        out::line(&format!("{}  {}  {}", added.project.id, added.project.kind.as_str(), added.project.title));
        out::note(&format!("`{}` {how}", added.project.path.display()));
    }
    // A folder of another kind is no server, and has nothing to be configured.
    for added in added.iter().filter(|added| open::is_served(added.project.kind)) {
        let config = invocation::command(&["config", added.project.id.as_str(), "--client", "NAME"]);
        out::note(&format!("next: `{config}`"));
    }
    Ok(0)
}

/// Tells whether a project is still where it was registered: a folder whose package.json has its id.
fn still_there(known: &Project) -> bool {
    Manifest::read(&known.path).is_ok_and(|manifest| Some(&manifest.uuid) == known.uuid.as_ref())
}

fn list(profile: Option<&str>, json: bool) -> Result<u8, Failure> {
    let projects = match profile::existing(profile)? {
        None => Vec::new(),
        Some(profile) => match open::registry(&profile, Create::Never).projects() {
            Ok(projects) => projects,
            Err(StoreError::Missing { .. }) => Vec::new(),
            Err(error) => return Err(open::store_failure(&error)),
        },
    };
    if json {
        out::json(&Value::Array(projects.iter().map(shape).collect()));
    } else if projects.is_empty() {
        let add = invocation::command(&["projects", "add", "DIR"]);
        out::note(&format!("no projects; register one with `{add}`"));
    } else {
        for project in &projects {
            out::line(&format!(
                "{}  {:<8}  {}  {}",
                project.id,
                project.kind.as_str(),
                out::one_line(&project.title),
                project.path.display()
            ));
        }
    }
    Ok(0)
}

fn show(profile: Option<&str>, id: &str, json: bool) -> Result<u8, Failure> {
    let store = existing(profile)?;
    let project = store.project(id).map_err(|error| open::store_failure(&error))?;
    let relations = store.relations(&project.id).map_err(|error| open::store_failure(&error))?;
    let mut value = shape(&project);
    value["addedAt"] = json!(format_timestamp(project.added_at));
    value["usedAt"] = json!(format_timestamp(project.used_at));
    value["removed"] = json!(project.removed);
    value["settings"] = Value::Object(project.settings.clone());
    value["related"] = relations
        .iter()
        .map(|relation| json!({ "alias": relation.alias, "projectId": relation.other, "confirmed": relation.both }))
        .collect();
    if json {
        out::json(&value);
        return Ok(0);
    }
    out::line(&format!("{}  {}  {}", project.id, project.kind.as_str(), project.title));
    out::line(&format!("path     {}", project.path.display()));
    out::line(&format!("uuid     {}", project.uuid.as_deref().unwrap_or("-")));
    out::line(&format!("added    {}", format_timestamp(project.added_at)));
    for relation in &relations {
        let state = if relation.both { "confirmed on both sides" } else { "waits for the other side" };
        out::line(&format!("related  {} → {} ({state})", relation.alias, relation.other));
    }
    Ok(0)
}

fn remove(profile: Option<&str>, id: &str, purge: bool, json: bool) -> Result<u8, Failure> {
    let store = existing(profile)?;
    let project = store.project(id).map_err(|error| open::store_failure(&error))?;
    let removed = if purge { store.purge_project(&project.id) } else { store.remove_project(&project.id) };
    removed.map_err(|error| match error {
        StoreError::Running { .. } => Failure::from_error(Exit::Environment, &error).hinted(format!(
            "wait for its runs, or cancel them with `{}`",
            invocation::command(&["runs", "cancel", "RUN_ID"])
        )),
        error => open::store_failure(&error),
    })?;
    if json {
        out::json(&json!({ "projectId": project.id, "removed": true, "purged": purge }));
    } else if purge {
        out::note(&format!("project {} and its history are gone; its files are untouched", project.id));
    } else {
        out::note(&format!(
            "project {} is out of the registry; `{}` brings it back with its history",
            project.id,
            invocation::command(&["projects", "add", &project.path.to_string_lossy()])
        ));
    }
    Ok(0)
}

fn set(profile: Option<&str>, id: &str, setting: &str, value: &str, json: bool) -> Result<u8, Failure> {
    let store = existing(profile)?;
    let project = store.project(id).map_err(|error| open::store_failure(&error))?;
    let Some(name) = setting.strip_prefix("retention.") else {
        return Err(Failure::usage(format!("there is no setting `{setting}`"))
            .hinted("see the settings with `workflow-code projects set --help`"));
    };
    let retention = retention::set(&project.settings, name, value)?;
    let settings = store
        .set_settings(&project.id, &[(retention::SETTING.to_owned(), Some(retention))])
        .map_err(|error| open::store_failure(&error))?;
    let keep = Keep::of_settings(&settings);
    if json {
        out::json(&json!({ "projectId": project.id, "settings": settings, "retention": keep.to_json() }));
    } else {
        out::note(&format!("`{setting}` of project {} is {value}", project.id));
    }
    Ok(0)
}

fn relate(profile: Option<&str>, id: &str, alias: &str, other: &str, both: bool, json: bool) -> Result<u8, Failure> {
    let store = existing(profile)?;
    let failure = |error: StoreError| open::store_failure(&error);
    let project = store.project(id).map_err(failure)?;
    let other = store.project(other).map_err(failure)?;
    let manifest = open::manifest(&project.path)?;
    let there = open::manifest(&other.path)?;
    let declared = manifest.related_projects.iter().find(|related| related.alias == alias);
    match declared {
        Some(related) if related.uuid == there.uuid => {}
        Some(related) => {
            return Err(Failure::usage(format!(
                "`{alias}` of project {} is the project {}, not {}",
                project.id, related.uuid, there.uuid
            )));
        }
        None => {
            return Err(Failure::usage(format!("project {} declares no related project `{alias}`", project.id))
                .hinted("name it in `workflow.relatedProjects` of its package.json"));
        }
    }
    store.relate(&project.id, alias, &other.id).map_err(failure)?;
    if both {
        let back = there.related_projects.iter().find(|related| related.uuid == manifest.uuid).ok_or_else(|| {
            Failure::usage(format!("project {} does not declare project {} in turn", other.id, project.id))
                .hinted("a relation needs both sides: name the other project in `workflow.relatedProjects` there")
        })?;
        store.relate(&other.id, &back.alias, &project.id).map_err(failure)?;
    }
    let relations = store.relations(&project.id).map_err(failure)?;
    let confirmed = relations.iter().any(|relation| relation.alias == alias && relation.both);
    if json {
        out::json(&json!({ "projectId": project.id, "alias": alias, "other": other.id, "confirmed": confirmed }));
    } else if confirmed {
        out::note(&format!("`{alias}` is confirmed on both sides"));
    } else {
        out::note(&format!("`{alias}` is confirmed from this side; the other side is still to be confirmed"));
    }
    Ok(0)
}
