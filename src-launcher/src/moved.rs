//! Where the project of a recorded run is now: folders are moved while runs wait.

use std::path::{Path, PathBuf};

use model::EntrypointSource;
use project::Manifest;
use store::{Create, RunRecord, Store};

use crate::failure::Failure;
use crate::invocation;
use crate::open;
use crate::profile::{self, Missing};

/// Finds a run's project: in the folder that the command line names, else where it was, where the registry says that it
/// is, or in the folder that the command is run in. Only a project with the run's own UUID will do.
pub(crate) fn manifest_of(record: &RunRecord, store: &Store, named: Option<&Path>) -> Result<Manifest, Failure> {
    if let Some(folder) = named {
        let manifest = read(record, folder)?;
        return if is_its(record, &manifest) { Ok(manifest) } else { Err(another(record, folder, &manifest)) };
    }
    let mut why = None;
    for folder in places(record, store) {
        match read(record, &folder) {
            Ok(manifest) if is_its(record, &manifest) => return Ok(manifest),
            Ok(manifest) => why = why.or_else(|| Some(another(record, &folder, &manifest))),
            Err(failure) => why = why.or(Some(failure)),
        }
    }
    let why = why.unwrap_or_else(|| Failure::environment("the run does not say where its project is"));
    let run = &record.summary.run_id;
    let hint = format!(
        "if the project was moved, name its folder with `{}`, or register it there with `{}`",
        invocation::command(&["runs", "resume", run.as_str(), "--project-dir", "DIR"]),
        invocation::command(&["projects", "add", "DIR"])
    );
    Err(Failure { hint: Some(hint), ..why })
}

fn is_its(record: &RunRecord, manifest: &Manifest) -> bool {
    record.project_uuid.as_ref().is_none_or(|uuid| uuid.eq_ignore_ascii_case(&manifest.uuid))
}

fn another(record: &RunRecord, folder: &Path, manifest: &Manifest) -> Failure {
    Failure::environment(format!(
        "`{}` holds the project `{}`, and run {} belongs to `{}`",
        folder.display(),
        manifest.uuid,
        record.summary.run_id,
        record.project_uuid.as_deref().unwrap_or_default()
    ))
}

/// Where to look, the likeliest first.
fn places(record: &RunRecord, store: &Store) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if record.summary.registered
        && let Ok(project) = store.project(&record.summary.project)
    {
        places.push(project.path);
    }
    places.push(record.project_path.clone());
    if let Some(uuid) = &record.project_uuid {
        places.extend(store.project(uuid).map(|project| project.path));
        if let Ok(profile) = profile::open(record.launch.profile.as_deref(), Missing::Refuse) {
            places.extend(open::registry(&profile, Create::Never).project(uuid).map(|project| project.path));
        }
    }
    places.extend(std::env::current_dir().iter().flat_map(|folder| folder.ancestors().map(Path::to_owned)));
    places
}

/// Reads the project in a folder. The run of a script file that belongs to none has that file as its project, wherever it
/// lies now: its code is kept with the run.
fn read(record: &RunRecord, folder: &Path) -> Result<Manifest, Failure> {
    let source = record.launch.entrypoint.as_ref().map(|entrypoint| &entrypoint.source);
    if let Some(EntrypointSource::Module { file } | EntrypointSource::Script { file }) = source
        && let Some(uuid) = &record.project_uuid
        && Manifest::of_script(&record.project_path.join(file)).is_some_and(|loose| loose.uuid == *uuid)
        && folder.join(file).is_file()
        && let Some(mut loose) = Manifest::of_script(&folder.join(file))
    {
        loose.uuid.clone_from(uuid);
        return Ok(loose);
    }
    open::manifest(folder)
}
