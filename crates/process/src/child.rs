//! Starting a [`Spec`], for callers with and without an async runtime.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};

use crate::spec::{Input, Spec};

/// A program that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("`{program}` could not be started")]
pub struct SpawnError {
    /// The program as it was named.
    pub program: String,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

/// A started program whose streams are read and written by plain threads.
#[derive(Debug)]
pub struct BlockingChild {
    child: Child,
    /// Its standard input, when it is a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output.
    pub stdout: Option<ChildStdout>,
    /// Its standard error.
    pub stderr: Option<ChildStderr>,
}

impl BlockingChild {
    /// Returns its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// What the system says, which does not happen for a child that nobody else reaps.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// Looks whether it has ended.
    ///
    /// # Errors
    ///
    /// As [`Self::wait`].
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }
}

impl Spec {
    fn command(&self) -> std::process::Command {
        #[expect(clippy::disallowed_methods, reason = "this is the crate that spawns")]
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments).env_clear().envs(&self.environment);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(match self.input {
            Input::Null => Stdio::null(),
            Input::Pipe => Stdio::piped(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.only_group {
            own_group(&mut command);
        } else {
            own_session(&mut command, self.dies_with_parent);
        }
        command
    }

    /// Starts the program with our own environment, folder, output and complaints, and nothing to read.
    pub(crate) fn spawn_as_we_are(&self) -> Result<Child, SpawnError> {
        #[expect(clippy::disallowed_methods, reason = "this is the crate that spawns")]
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        own_session(&mut command, false);
        command.spawn().map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> SpawnError {
        SpawnError { program: self.program.to_string_lossy().into_owned(), source }
    }

    /// Starts the program for a caller without an async runtime.
    ///
    /// # Errors
    ///
    /// When it does not exist, may not be run, or the system has no room.
    pub fn spawn_blocking(&self) -> Result<BlockingChild, SpawnError> {
        let mut child = self.command().spawn().map_err(|source| self.error(source))?;
        Ok(BlockingChild { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take(), child })
    }

    /// Starts the program for a caller inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// As [`Self::spawn_blocking`].
    pub fn spawn(&self) -> Result<tokio::process::Child, SpawnError> {
        tokio::process::Command::from(self.command()).spawn().map_err(|source| self.error(source))
    }
}

/// Gives the child a process group of its own. The standard library sees to the signals that programs expect.
#[cfg(unix)]
fn own_group(command: &mut std::process::Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut std::process::Command) {}

/// Gives the child a session of its own and the signal state that programs expect.
#[cfg(unix)]
#[expect(unsafe_code, reason = "code between fork and exec is unsafe by nature; only async-signal-safe calls are made")]
fn own_session(command: &mut std::process::Command, dies_with_parent: bool) {
    use std::os::unix::process::CommandExt;
    // SAFETY: setsid, prctl, signal and getppid are async-signal-safe and touch no memory of ours.
    unsafe {
        command.pre_exec(move || {
            if libc::setsid() == -1 {
                return Err(io::Error::last_os_error());
            }
            // Rust programs ignore SIGPIPE, and an ignored signal stays ignored across exec.
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            #[cfg(target_os = "linux")]
            if dies_with_parent {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            }
            #[cfg(not(target_os = "linux"))]
            let _ = dies_with_parent;
            Ok(())
        });
    }
}

#[cfg(not(unix))]
fn own_session(_command: &mut std::process::Command, _dies_with_parent: bool) {}
