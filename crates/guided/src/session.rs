//! A session's folder: its stacks, read and written under a lock that other processes see as well.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files::{self, FileError};
use crate::names::{self, UnsafeName};
use crate::paths::Places;
use crate::state::Stack;

/// A state file's size: 64 MiB, far over what thousands of steps need.
const STATE_BYTES: u64 = 64 * 1024 * 1024;

/// Past this size the values of the oldest ended runs are dropped when a state file is written: each call reads the whole
/// file, and the history has them as well. 16 MiB.
const KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The main stack's file.
const MAIN: &str = "state.json";

/// A session's folder, locked until this is dropped.
#[derive(Debug)]
pub struct Session {
    places: Places,
    folder: PathBuf,
    _lock: Option<File>,
    /// Files that were read and not understood; they are set aside before they would be replaced.
    damaged: Mutex<Vec<PathBuf>>,
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
        places.make(&folder)?;
        let path = folder.join(".lock");
        let failed = |source| FileError::io("locked", &path, source);
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // Neither made where a link leads, nor waited for as a pipe.
            let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
            options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
        }
        let lock = options.open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Self { _lock: Some(lock), ..Self::look(places, folder) })
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
    pub fn look(places: &Places, folder: PathBuf) -> Self {
        Self { places: places.clone(), folder, _lock: None, damaged: Mutex::default() }
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
            // A text nested without end would overflow a recursive reader; serde_json stops at 128 levels.
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_else(|error| {
                tracing::warn!(path = %path.display(), %error, "a damaged state file counts as no session");
                self.damaged.lock().unwrap_or_else(PoisonError::into_inner).push(path);
                Stack::default()
            })),
            Err(error) if error.is_not_found() => Ok(Stack::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a stack in one step. One that would grow too large loses the values of its oldest ended runs.
    ///
    /// # Errors
    ///
    /// When the agent's id is unsafe, the file cannot be written, or could not be read again for its size; the old content
    /// stays then.
    pub fn write_stack(&self, agent: Option<&str>, stack: &Stack) -> Result<(), SessionError> {
        let path = self.file(agent)?;
        let mut text = as_text(&path, stack)?;
        if text.len() > KEPT_BYTES {
            let mut shorter = stack.clone();
            shorter.forget_values(text.len() - KEPT_BYTES);
            text = as_text(&path, &shorter)?;
        }
        if text.len() as u64 > STATE_BYTES {
            return Err(FileError::TooLarge { path, limit: STATE_BYTES }.into());
        }
        self.set_aside(&path)?;
        Ok(self.places.write(&path, &text)?)
    }

    /// Gives a file that was not understood another name, which says when it was last written: somebody may mend it.
    fn set_aside(&self, path: &Path) -> Result<(), FileError> {
        let mut damaged = self.damaged.lock().unwrap_or_else(PoisonError::into_inner);
        if !damaged.iter().any(|one| one == path) {
            return Ok(());
        }
        let failed = |source| FileError::io("set aside", path, source);
        let written = fs::symlink_metadata(path).and_then(|facts| facts.modified()).map_err(failed)?;
        let time = written.duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_millis());
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{time}"));
        fs::rename(path, &name).map_err(failed)?;
        damaged.retain(|one| one != path);
        Ok(())
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

fn as_text(path: &Path, stack: &Stack) -> Result<Vec<u8>, FileError> {
    let mut text = serde_json::to_vec_pretty(stack)
        .map_err(|error| FileError::io("written", path, std::io::Error::other(error)))?;
    text.push(b'\n');
    Ok(text)
}

/// A session in a platform's folder.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Where it lies.
    pub folder: PathBuf,
    /// When one of its stacks was last written.
    pub written: std::time::SystemTime,
}

/// Lists the sessions in a platform's folder that have a stack, be it an agent's, the one written last first.
#[must_use]
pub fn list(places: &Places, sessions: &Path) -> Vec<Listed> {
    let mut found: Vec<Listed> = crate::catalog::subfolders(sessions)
        .into_iter()
        .filter_map(|name| {
            let id = name.strip_prefix("session-")?.to_owned();
            let session = Session::look(places, sessions.join(&name));
            let agents = session.agents();
            let stacks = std::iter::once(None).chain(agents.iter().map(|agent| Some(agent.as_str())));
            let written = stacks
                .filter_map(|agent| fs::metadata(session.file(agent).ok()?).and_then(|facts| facts.modified()).ok())
                .max()?;
            Some(Listed { id, folder: session.folder, written })
        })
        .collect();
    found.sort_by(|one, other| other.written.cmp(&one.written).then_with(|| one.id.cmp(&other.id)));
    found
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

    fn entries(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("listed")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_not_understood_is_set_aside_and_never_lost() {
        let (_folder, places) = places();
        let session = Session::open(&places, "s").expect("opened");
        let folder = places.session("s").expect("a path");
        let text = r#"{"workflow_stack": [{"goal": "precious"}]}"#;
        for (file, agent) in [("state.json", None), ("agent_a.json", Some("a"))] {
            fs::write(folder.join(file), text).expect("written");
            let mut stack = session.stack(agent).expect("read");
            assert_eq!(stack, Stack::default());
            stack.workflow_stack.push(run("new"));
            session.write_stack(agent, &stack).expect("written");
            session.write_stack(agent, &stack).expect("written again");
            let aside: Vec<String> =
                entries(&folder).into_iter().filter(|name| name.starts_with(&format!("{file}.damaged-"))).collect();
            assert_eq!(aside.len(), 1);
            assert_eq!(fs::read_to_string(folder.join(&aside[0])).expect("read"), text);
        }
        assert_eq!(session.agents(), ["a"]);
    }

    #[test]
    fn a_file_that_grows_loses_old_values_and_is_never_too_large_to_be_read() {
        let (_folder, places) = places();
        let session = Session::open(&places, "s").expect("opened");
        let with = |id: &str, bytes: usize| {
            let mut run = run(id);
            run.begin_step("a", 0, Values::new(), "t");
            let value = crate::state::Given::One("z".repeat(bytes));
            run.finish_step([("out".to_owned(), value)].into_iter().collect(), None, None, "t");
            run
        };
        let mut stack = Stack::default();
        for number in 0..4 {
            stack.completed_workflows.push(with(&number.to_string(), 6 << 20));
        }
        session.write_stack(None, &stack).expect("written");
        let read = session.stack(None).expect("read");
        let kept: Vec<bool> =
            read.completed_workflows.iter().map(|run| !run.step_progress["a"].outputs.is_empty()).collect();
        assert_eq!(kept, [false, false, true, true]);
        let before = fs::read(places.session("s").expect("a path").join(MAIN)).expect("read");
        stack.workflow_stack.push(with("huge", 65 << 20));
        let refused = session.write_stack(None, &stack).expect_err("too large");
        assert!(matches!(refused, SessionError::File(FileError::TooLarge { .. })), "{refused}");
        assert!(fs::read(places.session("s").expect("a path").join(MAIN)).expect("read") == before);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_is_not_made_where_a_link_leads() {
        let (_folder, places) = places();
        let outside = tempfile::tempdir().expect("a folder");
        let folder = places.session("s").expect("a path");
        places.make(&folder).expect("made");
        std::os::unix::fs::symlink(outside.path().join("made"), folder.join(".lock")).expect("linked");
        assert!(Session::open(&places, "s").is_err());
        assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 0);
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
