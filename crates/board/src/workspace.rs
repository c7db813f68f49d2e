//! A folder with records: where it is, how it is configured, whether it may be written.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use model::{Clock, SystemClock, TimestampMs};
use serde_json::{Value, json};

use crate::config::{Config, from_toml};
use crate::error::{BoardError, Result, refuse};
use crate::{files, literal, locks};

/// Files a configuration may stand in, in the order they are looked for.
const CONFIG_FILES: [&str; 3] = ["project.config.mjs", "project.config.toml", "project.config.json"];

/// Where the version of a workspace's schema stands.
const VERSION_FILE: &str = ".project/VERSION";

/// The largest configuration that is read.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// An opened workspace.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    config: Config,
    version: Option<Value>,
    read_only: bool,
}

impl Workspace {
    /// Opens the workspace at `root`, or the nearest one from `start` upwards.
    ///
    /// # Errors
    ///
    /// `WORKSPACE_NOT_FOUND`, `CONFIG_…`, `WORKSPACE_VERSION_UNREADABLE`.
    pub fn open(root: Option<&Path>, start: &Path, allow_new: bool) -> Result<Self> {
        let root = match root {
            Some(root) => {
                let root =
                    std::path::absolute(start.join(root)).map_err(|error| BoardError::io("found", root, error))?;
                if !(is_workspace(&root) || allow_new && root.is_dir()) {
                    return Err(refuse!("WORKSPACE_NOT_FOUND", "`{}` is no workspace", root.display())
                        .with(json!({ "root": root })));
                }
                root
            }
            None => match start.ancestors().find(|folder| is_workspace(folder)) {
                Some(found) => found.to_owned(),
                None if allow_new => start.to_owned(),
                None => {
                    return Err(refuse!(
                        "WORKSPACE_NOT_FOUND",
                        "there is no workspace here or above `{}`",
                        start.display()
                    )
                    .with(json!({ "root": start })));
                }
            },
        };
        let config = read_config(&root)?;
        let version = read_version(&root)?;
        Ok(Self { root, config, version, read_only: false })
    }

    /// A workspace that is about to be made.
    pub(crate) fn planned(root: &Path, config: Config) -> Self {
        Self { root: root.to_owned(), config, version: None, read_only: false }
    }

    /// When each file that a workspace's configuration can stand in was last written: another answer, and the workspace has
    /// to be opened again.
    #[must_use]
    pub fn config_times(root: &Path) -> Vec<Option<SystemTime>> {
        let written = |name: &&str| fs::metadata(root.join(name)).and_then(|meta| meta.modified()).ok();
        CONFIG_FILES.iter().chain([&VERSION_FILE]).map(written).collect()
    }

    /// The same workspace, refusing every write.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Its folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What `VERSION` holds.
    #[must_use]
    pub fn version(&self) -> Option<&Value> {
        self.version.as_ref()
    }

    /// Whether every write is refused.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// `{name, root, version, schema, readOnly}`.
    #[must_use]
    pub fn describe(&self, read_only: bool) -> Value {
        json!({
            "name": self.config.name,
            "root": self.root,
            "version": self.version,
            "schema": self.config.schema(),
            "readOnly": read_only || self.read_only,
        })
    }

    /// A path inside, as the system needs it.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The moment.
    pub(crate) fn now(&self) -> TimestampMs {
        SystemClock.now()
    }

    /// Refuses when nothing may be written.
    pub(crate) fn writable(&self) -> Result<()> {
        if self.read_only {
            return Err(BoardError::new("WORKSPACE_READ_ONLY", "this workspace is open for reading only"));
        }
        Ok(())
    }

    /// Locks one record, or one of a module's other things.
    pub(crate) fn lock(&self, module: &str, id: &str) -> Result<locks::Lock> {
        self.writable()?;
        locks::take(&self.lock_path(module, id), module, id)
    }

    /// Where such a lock lies.
    pub(crate) fn lock_path(&self, module: &str, id: &str) -> PathBuf {
        self.at(&format!("{}/locks/{module}/{}.lock", self.config.cache, file_name(id)))
    }

    /// Locks the claim board.
    pub(crate) fn board_lock(&self) -> Result<locks::Lock> {
        locks::take(&self.at(&format!("{}/locks/board.lock", self.config.cache)), "activity", "board")
    }
}

/// A text as part of a file name.
pub(crate) fn file_name(id: &str) -> String {
    let name: String = id
        .chars()
        .map(|one| if one.is_ascii_alphanumeric() || matches!(one, '-' | '.' | '_') { one } else { '_' })
        .take(120)
        .collect();
    // No name of the folder itself.
    if name.trim_matches('.').is_empty() { format!("_{name}") } else { name }
}

fn is_workspace(folder: &Path) -> bool {
    CONFIG_FILES.iter().any(|name| folder.join(name).is_file()) || folder.join(VERSION_FILE).is_file()
}

fn read_config(root: &Path) -> Result<Config> {
    for name in CONFIG_FILES {
        let path = root.join(name);
        let text = match files::read(&path, MAX_CONFIG_BYTES) {
            Ok((text, _)) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(BoardError { code: "CONFIG_UNREADABLE", ..BoardError::io("read", &path, error) });
            }
        };
        let value = if name.ends_with(".mjs") {
            literal::exported(&text)
        } else if name.ends_with(".toml") {
            from_toml(&text)
        } else {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        };
        let value = value.map_err(|problem| {
            refuse!("CONFIG_UNREADABLE", "`{name}` is not read as data: {problem}").with(json!({ "file": name }))
        })?;
        return Config::from_value(value);
    }
    Ok(Config::default())
}

fn read_version(root: &Path) -> Result<Option<Value>> {
    let path = root.join(VERSION_FILE);
    let text = match files::read(&path, 64 * 1024) {
        Ok((text, _)) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(BoardError { code: "WORKSPACE_VERSION_UNREADABLE", ..BoardError::io("read", &path, error) });
        }
    };
    let version: Value = serde_json::from_str(&text)
        .map_err(|error| refuse!("WORKSPACE_VERSION_UNREADABLE", "`.project/VERSION` is no JSON: {error}"))?;
    match version.get("schemaVersion").and_then(Value::as_i64) {
        Some(2) => Ok(Some(version)),
        other => Err(refuse!(
            "CONFIG_SCHEMA_MISMATCH",
            "`.project/VERSION` and the configuration differ in their schema version"
        )
        .with(json!({ "configSchemaVersion": 2, "versionSchemaVersion": other }))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_workspace_is_found_upwards_and_checked() {
        let root = tempfile::tempdir().expect("a folder");
        let deep = root.path().join("a/b");
        fs::create_dir_all(&deep).expect("made");
        assert_eq!(Workspace::open(Some(root.path()), &deep, false).expect_err("none").code, "WORKSPACE_NOT_FOUND");
        assert!(Workspace::open(Some(root.path()), &deep, true).is_ok());
        fs::write(root.path().join("project.config.toml"), "name = 'x'").expect("written");
        let found = Workspace::open(None, &deep, false).expect("found");
        assert_eq!((found.root(), found.config().name.as_str(), found.version()), (root.path(), "x", None));
        fs::create_dir_all(root.path().join(".project")).expect("made");
        fs::write(root.path().join(".project/VERSION"), "{\"schemaVersion\": 3}").expect("written");
        assert_eq!(Workspace::open(None, &deep, false).expect_err("differs").code, "CONFIG_SCHEMA_MISMATCH");
        fs::write(root.path().join(".project/VERSION"), "{").expect("written");
        assert_eq!(Workspace::open(None, &deep, false).expect_err("broken").code, "WORKSPACE_VERSION_UNREADABLE");
        fs::remove_file(root.path().join(".project/VERSION")).expect("removed");
        fs::write(root.path().join("project.config.mjs"), "export default { name: process.env.NAME }")
            .expect("written");
        assert_eq!(Workspace::open(None, &deep, false).expect_err("code").code, "CONFIG_UNREADABLE");
    }

    #[test]
    fn ids_are_safe_file_names() {
        assert_eq!(file_name("T-0001"), "T-0001");
        assert_eq!(file_name("../../x"), ".._.._x");
        assert_eq!(file_name(".."), "_..");
    }
}
