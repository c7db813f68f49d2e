//! Runs cases of orchestration scripts through the real engine in its real worker process, with canned agents.
//!
//! The format is described in the README files of `cases/script` and `cases/dialect`. Here is a supervisor in small: it
//! starts a worker, speaks the worker's protocol, and has the agents' desk do the rest.

mod expect;
mod supervise;

use std::path::Path;

use serde_json::Value;

/// What came of a case.
#[derive(Debug, Clone)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// What was not as expected; empty when it passed.
    pub problems: Vec<String>,
}

/// Runs every case of a folder, or those whose names hold `only`, in the order of their names.
///
/// # Errors
///
/// When the folder or a file cannot be read, or is no case.
pub fn run_folder(executable: &Path, folder: &Path, only: Option<&str>) -> Result<Vec<Report>, String> {
    let shown = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .map_err(shown)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    let mut reports = Vec::new();
    for file in files {
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if only.is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut case: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        read_files(folder, &name, &mut case)?;
        let seen = supervise::run(executable, &name, &case)?;
        reports.push(Report { name, problems: expect::problems(&case["expect"], &seen) });
    }
    Ok(reports)
}

/// Puts texts that lie beside a case into it: its script, and the other scripts of its project.
fn read_files(folder: &Path, name: &str, case: &mut Value) -> Result<(), String> {
    let read = |file: &str| {
        let path = folder.join(file);
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    if case.get("file").is_none() && case.get("script").is_none() {
        let file =
            if folder.join(format!("{name}.ts")).is_file() { format!("{name}.ts") } else { format!("{name}.js") };
        case["file"] = read(&file)?.into();
        case["fileName"] = file.into();
    }
    let others = case["workflowFiles"].as_object().cloned().unwrap_or_default();
    for (name, file) in others {
        case["workflows"][name] = read(file.as_str().unwrap_or_default())?.into();
    }
    Ok(())
}
