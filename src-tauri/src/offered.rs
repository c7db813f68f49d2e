//! Which paths the page may have shown in the file manager: those that a command of ours named before; and where it may
//! have something saved, or a project made: where a person has chosen.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use api::ApiError;
use serde_json::Value;

/// Commands that name paths, and where in their responses; `*` stands for every item of a list.
const NAMED: [(&str, &[&str]); 12] = [
    ("app_info", &["dataDir", "database", "executable"]),
    ("projects", &["*.path"]),
    ("project_overview", &["project.path"]),
    ("project_add", &["projects.*.path"]),
    ("project_make", &["projects.*.path"]),
    ("run", &["projectPath", "files.*.path"]),
    ("export_run", &["path"]),
    ("save_as", &["path"]),
    ("storage", &["file"]),
    ("dock", &["clients.*.file"]),
    ("dock_plan", &["file", "backup"]),
    ("dock_write", &["file", "backup"]),
];

/// The paths named last; older ones have to be named again.
const MOST: usize = 10_000;

/// The paths that were named.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    paths: Mutex<BTreeSet<PathBuf>>,
}

impl Offered {
    /// Keeps what a response names.
    pub(crate) fn note(&self, command: &str, response: &Value) {
        let Some((_, places)) = NAMED.iter().find(|(name, _)| *name == command) else { return };
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.len() > MOST {
            paths.clear();
        }
        for place in *places {
            collect(response, place, &mut paths);
        }
    }

    /// Tells whether a path was named, or lies in a folder that was.
    pub(crate) fn allows(&self, path: &Path) -> bool {
        let plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        let paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        plain && path.ancestors().any(|folder| paths.contains(folder))
    }
}

/// Where a person has chosen to save something, each good for one time; and the folders they have chosen or dropped.
#[derive(Debug, Default)]
pub(crate) struct Picked {
    paths: Mutex<BTreeSet<PathBuf>>,
    folders: Mutex<BTreeSet<PathBuf>>,
}

impl Picked {
    pub(crate) fn note(&self, path: &Path) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    pub(crate) fn note_folder(&self, path: &Path) {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.len() > MOST {
            folders.clear();
        }
        folders.insert(path.to_owned());
    }

    /// Lets a project be made in a folder that was chosen or dropped, and in no other.
    pub(crate) fn check_folder(&self, request: &Value) -> Result<(), ApiError> {
        let path = request.get("path").and_then(Value::as_str).unwrap_or_default();
        if self.folders.lock().unwrap_or_else(PoisonError::into_inner).contains(Path::new(path)) {
            return Ok(());
        }
        Err(ApiError::invalid(format!("nobody has chosen `{path}`")))
    }

    /// Lets a request to save go to a place that was chosen, and to no other.
    pub(crate) fn check(&self, mut request: Value) -> Result<Value, ApiError> {
        let to = request.get("to").and_then(Value::as_str).unwrap_or_default();
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if !paths.remove(Path::new(to)) {
            return Err(ApiError::invalid(format!("nobody has chosen `{to}`")));
        }
        if let Some(request) = request.as_object_mut() {
            request.insert("replace".into(), Value::Bool(true));
        }
        Ok(request)
    }
}

fn collect(value: &Value, place: &str, paths: &mut BTreeSet<PathBuf>) {
    let (first, rest) = place.split_once('.').unwrap_or((place, ""));
    if first.is_empty() {
        if let Some(path) = value.as_str().map(Path::new).filter(|path| path.is_absolute()) {
            paths.insert(path.to_owned());
        }
    } else if first == "*" {
        for item in value.as_array().into_iter().flatten() {
            collect(item, rest, paths);
        }
    } else if let Some(inner) = value.get(first) {
        collect(inner, rest, paths);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_where_a_person_has_chosen_is_anything_saved_and_once() {
        let picked = Picked::default();
        let request = json!({ "run": "20261130-zz1c", "part": "log", "to": "/home/ada/run.log" });
        assert!(picked.check(request.clone()).is_err());
        picked.note(Path::new("/home/ada/run.log"));
        assert!(picked.check(json!({ "to": "/home/ada/other.log", "replace": true })).is_err());
        assert_eq!(picked.check(request.clone()).unwrap()["replace"], true);
        assert!(picked.check(request).is_err());
    }

    #[test]
    fn only_in_a_folder_that_a_person_has_chosen_is_a_project_made() {
        let picked = Picked::default();
        let request = json!({ "path": "/home/ada/empty" });
        assert!(picked.check_folder(&request).is_err());
        picked.note(Path::new("/home/ada/empty"));
        assert!(picked.check_folder(&request).is_err(), "a place to save is no folder");
        picked.note_folder(Path::new("/home/ada/empty"));
        assert!(picked.check_folder(&request).is_ok());
        assert!(picked.check_folder(&json!({ "path": "/home/ada/empty/../other" })).is_err());
        assert!(picked.check(json!({ "to": "/home/ada/empty" })).is_ok(), "chosen to save before");
        assert!(picked.check(json!({ "to": "/home/ada/empty" })).is_err(), "a folder is no place to save");
    }

    #[test]
    fn only_what_was_named_is_allowed() {
        let offered = Offered::default();
        assert!(!offered.allows(Path::new("/home/ada/reports")));
        offered.note("projects", &json!([{ "path": "/home/ada/reports", "title": "/etc" }]));
        offered.note("run", &json!({ "files": [{ "path": "/data/files/1/a.csv" }], "input": { "path": "/root" } }));
        offered.note("run_output", &json!({ "output": "/etc/passwd" }));
        assert!(offered.allows(Path::new("/home/ada/reports")));
        assert!(offered.allows(Path::new("/home/ada/reports/out/table.csv")));
        assert!(offered.allows(Path::new("/data/files/1/a.csv")));
        for bad in ["/home/ada", "/etc", "/etc/passwd", "/root", "/home/ada/reports/../secret", "reports"] {
            assert!(!offered.allows(Path::new(bad)), "{bad}");
        }
    }
}
