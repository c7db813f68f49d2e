//! A home of its own for each test, and programs started in it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use process::{BlockingChild, Input, Spec, proc_info};

/// Where the release executable is: `WORKFLOW_CODE_EXE`, or beside the test binaries' folder.
#[must_use]
pub fn executable() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "the one variable that tests read")]
    if let Some(path) = std::env::var_os("WORKFLOW_CODE_EXE") {
        return PathBuf::from(path);
    }
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors()
        .skip(1)
        .map(|folder| folder.join("workflow-code"))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| PathBuf::from("workflow-code"))
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; -1 when a signal ended it.
    pub code: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Finished {
    /// Reads standard output as JSON; null when it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_default()
    }
}

/// A home of its own, removed at the end. Ends with a census: nothing that was started in it may be left.
#[derive(Debug)]
pub struct Environment {
    folder: tempfile::TempDir,
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Makes an empty home.
    ///
    /// # Errors
    ///
    /// When there is no room for it.
    pub fn new() -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("workflow-code-test-").tempdir()?;
        let path = fs::canonicalize(folder.path())?;
        let mut variables = BTreeMap::new();
        variables.insert("HOME".into(), path.into_os_string());
        variables.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        variables.insert("NO_COLOR".into(), "1".into());
        Ok(Self { folder, variables })
    }

    /// The user's own home and environment, for a first run that is to be kept. The census does not apply to it.
    ///
    /// # Errors
    ///
    /// When there is no room for a temporary folder.
    pub fn of_this_user() -> std::io::Result<Self> {
        let mut environment = Self::new()?;
        environment.variables = std::env::vars_os().collect();
        Ok(environment)
    }

    /// Its root, which is also `HOME`.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.variables.get(OsStr::new("HOME")).map_or_else(|| self.folder.path().to_owned(), PathBuf::from)
    }

    /// Sets a variable for everything started from now on.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Writes a file below the home, with the folders above it.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> std::io::Result<PathBuf> {
        let path = self.home().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Returns a program started here, with all its streams as pipes.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn start<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: &[S],
    ) -> std::io::Result<BlockingChild> {
        Spec::new(program)
            .arguments(arguments)
            .folder(self.home())
            .environment(self.variables.clone())
            .input(Input::Pipe)
            .spawn_blocking()
            .map_err(std::io::Error::other)
    }

    /// Runs `workflow-code` with these arguments to its end, with nothing on its input.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or has not ended after a minute.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> std::io::Result<Finished> {
        self.run_program(executable(), arguments, &[])
    }

    /// Runs a program to its end, with `input` on its input.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or has not ended after a minute.
    pub fn run_program<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: &[S],
        input: &[u8],
    ) -> std::io::Result<Finished> {
        self.run_program_within(program, arguments, input, Duration::from_secs(60))
    }

    /// As [`Self::run_program`], with another limit.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or has not ended after `most`.
    pub fn run_program_within<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: &[S],
        input: &[u8],
        most: Duration,
    ) -> std::io::Result<Finished> {
        let mut child = self.start(program, arguments)?;
        let mut stdin = child.stdin.take();
        let input = input.to_vec();
        std::thread::spawn(move || {
            if let Some(stdin) = &mut stdin {
                let _ = std::io::Write::write_all(stdin, &input);
            }
        });
        let stdout = read_all(child.stdout.take());
        let stderr = read_all(child.stderr.take());
        let deadline = Instant::now() + most;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            if Instant::now() > deadline {
                process::tree::kill(child.id());
                let _ = child.wait();
                return Err(std::io::Error::other(format!("it has not ended after {most:?}")));
            }
            std::thread::park_timeout(Duration::from_millis(2));
        };
        let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
            String::from_utf8_lossy(&thread.join().unwrap_or_default()).into_owned()
        };
        Ok(Finished { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) })
    }

    /// Lists the living processes that were started in this home.
    #[must_use]
    pub fn census(&self) -> Vec<String> {
        let home = self.home();
        let marker = [b"HOME=".as_slice(), home.as_os_str().as_encoded_bytes(), b"\0"].concat();
        proc_info::all()
            .into_iter()
            .filter(|process| !process.zombie)
            .filter(|process| {
                let folder = fs::read_link(format!("/proc/{}/cwd", process.pid));
                let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
                folder.is_ok_and(|folder| folder.starts_with(&home))
                    || environment.windows(marker.len()).any(|part| part == marker)
            })
            .map(|process| {
                let command = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
                format!("{} {}", process.pid, String::from_utf8_lossy(&command).replace('\0', " "))
            })
            .collect()
    }

    /// Waits until nothing started here is left.
    ///
    /// # Panics
    ///
    /// When something still is after five seconds: every test ends with this.
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn assert_nothing_left(&self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let left = self.census();
            if left.is_empty() {
                return;
            }
            if Instant::now() > deadline {
                panic!("processes are left: {left:#?}");
            }
            std::thread::park_timeout(Duration::from_millis(20));
        }
    }
}

fn read_all(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}
