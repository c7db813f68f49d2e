//! Profiles: which folder the registry and the history are in.
//!
//! `~/.workflow-code/desktop.json` is the only source, since clients start the launcher with a poor environment in
//! which nothing else could be relied on. Whoever needs it first creates it, except a launch by project id: such a
//! launch finds a registry or says that there is none.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use disk::ReadError;
use serde_json::{Value, json};

use crate::env_vars;
use crate::failure::{Exit, Failure};
use crate::invocation;

/// What is read of `desktop.json` at most.
const MOST_BYTES: u64 = model::Limits::PROJECT_FILE_BYTES;

/// A profile and where its data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) name: String,
    /// Holds `desktop.db`.
    pub(crate) data_dir: PathBuf,
}

/// Whether a profile that does not exist yet is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Create,
    Refuse,
}

impl Profile {
    /// The registry and history of this profile.
    pub(crate) fn database(&self) -> PathBuf {
        self.data_dir.join("desktop.db")
    }
}

/// Builds with debug assertions are development builds and keep away from a user's own data.
fn default_name() -> &'static str {
    if cfg!(debug_assertions) { "dev" } else { "default" }
}

/// Returns `~/.workflow-code`, the root of local workflow data.
pub(crate) fn workflow_home() -> Result<PathBuf, Failure> {
    let home = env_vars::home().ok_or_else(|| {
        Failure::environment("the home folder is unknown, since `HOME` is not set to an absolute path")
    })?;
    // It is written into files that hold text, and given to programs as text.
    if home.to_str().is_none() {
        return Err(Failure::environment(format!("the path of the home folder `{}` is no text", home.display()))
            .hinted("set `HOME` to a path in UTF-8"));
    }
    Ok(home.join(".workflow-code"))
}

/// Chooses the profile: the option, then the environment, then the build's default.
pub(crate) fn name(option: Option<&str>) -> Result<String, Failure> {
    let name = option
        .map(str::to_owned)
        .or_else(|| env_vars::get(env_vars::PROFILE))
        .unwrap_or_else(|| default_name().to_owned());
    let plain = (1..=32).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if plain {
        Ok(name)
    } else {
        Err(Failure::usage(format!("`--profile {name}`: a profile's name is 1 to 32 of `A-Z a-z 0-9 _ -`")))
    }
}

/// Finds a profile; `None` where nothing was ever registered in it.
pub(crate) fn existing(option: Option<&str>) -> Result<Option<Profile>, Failure> {
    find(&workflow_home()?.join("desktop.json"), &name(option)?)
}

/// Returns the names of all profiles, `own` among them, sorted.
pub(crate) fn all(own: &str) -> Vec<String> {
    let text = workflow_home().ok().and_then(|home| disk::read_text(&home.join("desktop.json"), MOST_BYTES).ok());
    let value: Value = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let mut names: Vec<String> =
        value["profiles"].as_object().map(|profiles| profiles.keys().cloned().collect()).unwrap_or_default();
    if !names.iter().any(|name| name == own) {
        names.push(own.to_owned());
    }
    names.sort();
    names
}

/// Finds a profile, or makes it.
pub(crate) fn open(option: Option<&str>, missing: Missing) -> Result<Profile, Failure> {
    let name = name(option)?;
    let home = workflow_home()?;
    let file = home.join("desktop.json");
    if let Some(profile) = find(&file, &name)? {
        return Ok(profile);
    }
    match missing {
        Missing::Refuse => Err(Failure::environment(format!(
            "no project is registered in profile `{name}`: `{}` does not name it",
            file.display()
        ))
        .hinted(format!(
            "register a folder with `{}`, or open the desktop window",
            invocation::command(&["projects", "add", "DIR"])
        ))),
        Missing::Create => create(&home, &file, &name).map_err(|error| {
            Failure::environment(format!("`{}` could not be written: {error}", file.display()))
                .hinted("check that the home folder is writable and not full")
        })?,
    }
}

fn find(file: &Path, name: &str) -> Result<Option<Profile>, Failure> {
    let broken = |why: String| {
        Failure { exit: Exit::Environment, message: format!("`{}` {why}", file.display()), hint: None }
            .hinted("mend or remove the file; it is written anew when the window or `projects add` needs it")
    };
    let text = match disk::read_text(file, MOST_BYTES) {
        Ok(text) => text,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(ReadError::Io { source, .. }) => return Err(broken(format!("cannot be read: {source}"))),
        Err(error) => return Err(broken(format!("cannot be used: {error}"))),
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| broken(format!("is no JSON: {error}")))?;
    let Some(data_dir) = value.pointer(&format!("/profiles/{name}/dataDir")) else { return Ok(None) };
    match data_dir.as_str().map(PathBuf::from) {
        Some(data_dir) if data_dir.is_absolute() => Ok(Some(Profile { name: name.to_owned(), data_dir })),
        Some(_) | None => Err(broken(format!("names no absolute `dataDir` for profile `{name}`"))),
    }
}

fn create(home: &Path, file: &Path, name: &str) -> io::Result<Result<Profile, Failure>> {
    disk::private_folder(home)?;
    let lock =
        fs::File::options().create(true).truncate(false).write(true).mode(0o600).open(home.join("desktop.lock"))?;
    // Two that come first at once: the second one waits, and finds what the first one wrote.
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
    match find(file, name) {
        Ok(None) => {}
        Ok(Some(profile)) => return Ok(Ok(profile)),
        Err(failure) => return Ok(Err(failure)),
    }
    let Some(dirs) = directories::ProjectDirs::from("dev", "", "workflow-code") else {
        return Ok(Err(Failure::environment("the folder for application data is unknown on this system")));
    };
    let profile = Profile { name: name.to_owned(), data_dir: dirs.data_local_dir().join(name) };
    disk::private_folder(&profile.data_dir)?;
    let mut value: Value = disk::read_text(file, MOST_BYTES)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_else(|| json!({}));
    if !value["profiles"].is_object() {
        value["profiles"] = json!({});
    }
    value["profiles"][name] = json!({ "dataDir": profile.data_dir });
    disk::replace(file, format!("{value:#}\n").as_bytes(), 0o600)?;
    Ok(Ok(profile))
}
