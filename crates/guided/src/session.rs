//! A session's folder: its stacks, read and written under a lock that other processes see as well.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::files::{self, FileError};
use crate::names::{self, UnsafeName};
use crate::paths::Places;
use crate::state::Stack;

/// A state file's size: 64 MiB, far over what thousands of steps need.
const STATE_BYTES: u64 = 64 * 1024 * 1024;

/// The main stack's file.
const MAIN: &str = "state.json";

/// A session's folder, locked until this is dropped.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    _lock: Option<File>,
}

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Its id, or an agent's, cannot be part of a path.
    #[error(transparent)]
    Name(#[from] UnsafeName),
    /// Its files cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Session {
    /// Opens a session for writing, and waits until nobody else has it.
    ///
    /// # Errors
    ///
    /// When the id is unsafe or the folder cannot be made or locked.
    pub fn open(places: &Places, id: &str) -> Result<Self, SessionError> {
        let folder = places.session(id)?;
        files::make_own_folder(&folder, places.root())?;
        let path = folder.join(".lock");
        let failed = |source| FileError::io("locked", &path, source);
        let lock = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Self { folder, _lock: Some(lock) })
    }

    /// Opens a session that exists. `None`: there is none of that id.
    ///
    /// # Errors
    ///
    /// As [`Session::open`].
    pub fn open_existing(places: &Places, id: &str) -> Result<Option<Self>, SessionError> {
        if places.session(id)?.is_dir() { Self::open(places, id).map(Some) } else { Ok(None) }
    }

    /// Looks at a session's folder without locking it: files are replaced whole.
    #[must_use]
    pub fn look(folder: PathBuf) -> Self {
        Self { folder, _lock: None }
    }

    /// The session's jobs.
    #[must_use]
    pub fn jobs(&self) -> PathBuf {
        self.folder.join("jobs")
    }

    /// Reads the main stack, or an agent's. One that is missing or damaged is empty.
    ///
    /// # Errors
    ///
    /// When the agent's id is unsafe, or the file is there and cannot be read.
    pub fn stack(&self, agent: Option<&str>) -> Result<Stack, SessionError> {
        let path = self.file(agent)?;
        match files::read(&path, STATE_BYTES) {
            Ok(bytes) => Ok(read_stack(&path, &bytes)),
            Err(error) if error.is_not_found() => Ok(Stack::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a stack in one step.
    ///
    /// # Errors
    ///
    /// When the agent's id is unsafe or the file cannot be written; the old content stays then.
    pub fn write_stack(&self, agent: Option<&str>, stack: &Stack) -> Result<(), SessionError> {
        let path = self.file(agent)?;
        let mut text = serde_json::to_vec_pretty(stack)
            .map_err(|error| FileError::io("written", &path, std::io::Error::other(error)))?;
        text.push(b'\n');
        Ok(files::write(&path, &text)?)
    }

    /// Lists the agents with a stack of their own, by name.
    #[must_use]
    pub fn agents(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Vec::new() };
        let mut agents: Vec<String> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let agent = name.strip_prefix("agent_")?.strip_suffix(".json")?;
                names::check("agent_id", agent).ok().map(str::to_owned)
            })
            .collect();
        agents.sort_unstable();
        agents
    }

    fn file(&self, agent: Option<&str>) -> Result<PathBuf, UnsafeName> {
        Ok(match agent {
            Some(agent) => self.folder.join(format!("agent_{}.json", names::check("agent_id", agent)?)),
            None => self.folder.join(MAIN),
        })
    }
}

fn read_stack(path: &Path, bytes: &[u8]) -> Stack {
    // A text nested without end would overflow a recursive reader; serde_json stops at 128 levels.
    match serde_json::from_slice(bytes) {
        Ok(stack) => stack,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "a damaged state file counts as no session");
            Stack::default()
        }
    }
}

/// Lists the ids of the sessions in a platform's folder with when they were last written, newest first.
#[must_use]
pub fn list(sessions: &Path) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(std::time::SystemTime, String, PathBuf)> = crate::catalog::subfolders(sessions)
        .into_iter()
        .filter_map(|name| {
            let id = name.strip_prefix("session-")?.to_owned();
            let folder = sessions.join(&name);
            let written = fs::metadata(folder.join(MAIN)).and_then(|facts| facts.modified()).ok()?;
            Some((written, id, folder))
        })
        .collect();
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    found.into_iter().map(|(_, id, folder)| (id, folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Beginning, Run, Values};

    fn places() -> (tempfile::TempDir, Places) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let places = Places::new(&root, "claude").expect("places");
        (folder, places)
    }

    fn run(id: &str) -> Run {
        let beginning = Beginning {
            session_id: "s".into(),
            instance_id: id.into(),
            job_name: "j".into(),
            workflow_name: "w".into(),
            goal: "g".into(),
            start_inputs: Values::new(),
        };
        Run::new(beginning, "2026-11-30T10:00:00+00:00")
    }

    #[test]
    fn ids_that_leave_the_folder_are_refused() {
        let (_folder, places) = places();
        for id in ["../x", "", ".", "a/b", "a\0"] {
            assert!(Session::open(&places, id).is_err(), "{id:?}");
        }
        let session = Session::open(&places, "s").expect("opened");
        assert!(session.stack(Some("../../x")).is_err());
        assert!(session.write_stack(Some(""), &Stack::default()).is_err());
    }

    #[test]
    fn damaged_files_count_as_none_and_other_names_are_left_alone() {
        let (_folder, places) = places();
        let session = Session::open(&places, "s").expect("opened");
        let folder = places.session("s").expect("a path");
        fs::write(folder.join("state.json"), "{oops").expect("written");
        fs::write(folder.join("agent_a.json"), [0xff, 0xfe]).expect("written");
        fs::write(folder.join("other.json"), "{}").expect("written");
        assert_eq!(session.stack(None).expect("read"), Stack::default());
        assert_eq!(session.stack(Some("a")).expect("read"), Stack::default());
        assert_eq!(session.agents(), ["a"]);
        fs::write(folder.join("state.json"), "[".repeat(200_000)).expect("written");
        assert_eq!(session.stack(None).expect("read"), Stack::default());
    }

    /// Two openings of one session, as two processes have them, never lose each other's writing.
    #[test]
    fn writers_wait_for_each_other() {
        let (_folder, places) = places();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let places = &places;
                scope.spawn(move || {
                    for turn in 0..25 {
                        let session = Session::open(places, "s").expect("opened");
                        let mut stack = session.stack(None).expect("read");
                        stack.workflow_stack.push(run(&format!("{writer}-{turn}")));
                        session.write_stack(None, &stack).expect("written");
                    }
                });
            }
        });
        let session = Session::open(&places, "s").expect("opened");
        assert_eq!(session.stack(None).expect("read").workflow_stack.len(), 100);
    }
}
