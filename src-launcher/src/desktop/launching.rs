//! What clients start, and the sample project.

use std::fs;
use std::path::{Path, PathBuf};

use api::{Answer, ApiError, ApiErrorCode};
use clients::Launch;
use model::IdSource;
use project::init::{IdRule, InitError, Template, plan_init};
use serde_json::Value;
use store::Project;

use super::error;
use crate::{env_vars, open, profile};

/// The sample project's files.
const SAMPLE: [(&str, &str); 4] = [
    ("package.json", include_str!("../../../assets/sample/package.json")),
    ("tour.workflow.ts", include_str!("../../../assets/sample/tour.workflow.ts")),
    ("greet.workflow.ts", include_str!("../../../assets/sample/greet.workflow.ts")),
    ("count_words.py", include_str!("../../../assets/sample/count_words.py")),
];

/// Where it is written, below the home folder.
const SAMPLE_FOLDER: &str = "workflow-code-sample";

/// The path that clients keep: of an image that is mounted elsewhere at each start, the image itself.
pub(super) fn executable(front_door: &Path) -> PathBuf {
    env_vars::get("APPIMAGE").map_or_else(|| front_door.to_owned(), PathBuf::from)
}

/// What clients start for a project: by the id that it has in the registry.
pub(super) fn launch(project: &Project, executable: &Path, profile: &str) -> Answer<Launch> {
    let executable = executable.to_str().ok_or_else(|| {
        ApiError::new(
            ApiErrorCode::Unsupported,
            format!("the path of the executable `{}` is no text", executable.display()),
        )
        .hinted("clients' files hold text only: move the executable")
    })?;
    if executable.contains("/AppTranslocation/") || executable.starts_with("/Volumes/") {
        return Err(ApiError::new(
            ApiErrorCode::Unsupported,
            "the app runs from a place that is gone after this start",
        )
        .hinted("move the app to Applications first"));
    }
    let (key, args) = open::launch_of(project, profile);
    Ok(Launch::new(key, executable, args)?)
}

/// Makes a folder a workflow project, as `init` does.
pub(super) fn make_project(folder: &Path, ids: &dyn IdSource) -> Answer<()> {
    let failed = |failure: InitError| match &failure {
        InitError::Io { path, source } => ApiError::io(&format!("`{}` cannot be written", path.display()), source),
        InitError::Changed { .. } => ApiError::new(ApiErrorCode::Conflict, failure.to_string()),
        InitError::Package(_) | InitError::Shape { .. } => {
            ApiError::new(ApiErrorCode::ProjectBroken, model::with_causes(&failure))
        }
    };
    if !folder.is_dir() {
        return Err(ApiError::not_found(format!("`{}` is no folder", folder.display())));
    }
    plan_init(folder, Template::Script, IdRule::Keep, ids).and_then(|plan| plan.apply()).map_err(failed)
}

/// Where the sample project is, or will be.
pub(super) fn sample_folder() -> Answer<PathBuf> {
    let home = profile::workflow_home().map_err(|failure| error(failure, ApiErrorCode::Internal))?;
    Ok(home.parent().unwrap_or(&home).join(SAMPLE_FOLDER))
}

/// Writes the sample project with an id of its own, if it is not there.
pub(super) fn sample(ids: &dyn IdSource) -> Answer<PathBuf> {
    let folder = sample_folder()?;
    if folder.join("package.json").is_file() {
        return Ok(folder);
    }
    let failed = |path: &Path| {
        let what = format!("`{}` could not be written", path.display());
        move |error: std::io::Error| ApiError::io(&what, &error)
    };
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    // package.json last: a folder without it is written again.
    for (name, text) in SAMPLE.iter().rev() {
        let path = folder.join(name);
        let text = if *name == "package.json" { with_own_id(text, ids)? } else { (*text).to_owned() };
        fs::write(&path, text).map_err(failed(&path))?;
    }
    Ok(folder)
}

/// Two people's samples, or two profiles', are two projects.
fn with_own_id(package: &str, ids: &dyn IdSource) -> Answer<String> {
    let mut value: Value =
        serde_json::from_str(package).map_err(|error| ApiError::internal(format!("the sample: {error}")))?;
    let mut bytes = [0; 16];
    ids.fill(&mut bytes);
    value["id"] = Value::from(uuid::Builder::from_random_bytes(bytes).into_uuid().hyphenated().to_string());
    Ok(format!("{value:#}\n"))
}
