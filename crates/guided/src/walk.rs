//! Walks a project's folders for rule files, schema files, or everything.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that one walk enters: far over what a project has, and a stop for a link to the whole disk.
const MOST_FOLDERS: usize = 100_000;

/// Files that one walk reports.
const MOST_FILES: usize = 500_000;

/// Folders below each other.
const MOST_DEPTH: usize = 64;

/// Folders that hold no files of the project's own.
const SKIPPED: [&str; 10] = [
    ".git",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".eggs",
];

fn is_skipped(name: &str) -> bool {
    SKIPPED.contains(&name) || name.ends_with(".egg-info")
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(path).ok()?;
    facts.is_dir().then(|| (facts.dev(), facts.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_dir())
}

/// Calls `found` with the path of each file below `root` whose name `wanted` takes. Each folder is entered once: real
/// ones first, then those that links lead to. Unreadable folders are left out. Tells whether a limit was reached.
pub(crate) fn files(root: &Path, wanted: impl Fn(&str) -> bool, mut found: impl FnMut(PathBuf)) -> bool {
    let mut entered = HashSet::new();
    let (mut open, mut links) = (vec![(root.to_owned(), 0)], Vec::new());
    let (mut folders, mut reported) = (0, 0);
    loop {
        // Links wait until all real folders are done, so that a file is reported under its own path.
        let Some((folder, depth)) = open.pop().or_else(|| links.pop()) else { return false };
        if !identity(&folder).is_some_and(|identity| entered.insert(identity)) {
            continue;
        }
        folders += 1;
        if folders > MOST_FOLDERS || depth > MOST_DEPTH {
            return true;
        }
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if kind.is_file() {
                if wanted(name) {
                    reported += 1;
                    if reported > MOST_FILES {
                        return true;
                    }
                    found(entry.path());
                }
            } else if kind.is_dir() && !is_skipped(name) {
                open.push((entry.path(), depth + 1));
            } else if kind.is_symlink() && !is_skipped(name) {
                let path = entry.path();
                match fs::metadata(&path) {
                    Ok(facts) if facts.is_dir() => links.push((path, depth + 1)),
                    Ok(facts) if facts.is_file() && wanted(name) => {
                        reported += 1;
                        found(path);
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
}

/// Lists the files below `folder`, relative to `root`, sorted.
pub(crate) fn all(folder: &Path, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    files(
        folder,
        |_| true,
        |path| {
            if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
                found.push(name.to_owned());
            }
        },
    );
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            crate::files::write(&folder.path().join(file), b"x").expect("written");
        }
        folder
    }

    #[test]
    fn skipped_folders_are_not_entered_and_hidden_ones_are() {
        let folder =
            ground(&["a", ".hidden/b", "node_modules/c", "x/.git/d", "y.egg-info/e", "venv/f", ".github/workflows/g"]);
        assert_eq!(all(folder.path(), folder.path()), [".github/workflows/g", ".hidden/b", "a"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once_and_loops_end() {
        let folder = ground(&["real/a"]);
        let outside = ground(&["far"]);
        let link = |to: &Path, at: &str| std::os::unix::fs::symlink(to, folder.path().join(at)).expect("linked");
        link(folder.path(), "real/loop");
        link(&folder.path().join("real"), "again");
        link(outside.path(), "outside");
        link(Path::new("/nonexistent"), "dangling");
        assert_eq!(all(folder.path(), folder.path()), ["outside/far", "real/a"]);
    }
}
