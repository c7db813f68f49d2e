//! The supervisor's end of a worker: starting it, talking to it, ending it with everything below it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process::{Environment, Input, SpawnError, Spec};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::mpsc;

use crate::protocol::{FromWorker, LINE_BYTES, ToWorker};
use crate::worker;

/// Messages from a worker that may wait to be handled; past it the worker waits.
const WAITING: usize = 256;

/// How long a worker that has said its last word may take to end.
const LAST_STEPS: Duration = Duration::from_secs(2);

/// The workers of this process, so that a child that is none of them is known for an orphan.
#[derive(Debug, Clone, Default)]
pub struct Workers {
    pids: Arc<Mutex<Vec<u32>>>,
    /// Whether this process has other children, which are nobody's orphans.
    others: Arc<AtomicBool>,
}

/// Which executable workers are started from.
#[derive(Debug, Clone)]
pub struct WorkerImage {
    /// The executable.
    pub program: PathBuf,
}

impl WorkerImage {
    /// This process's own image: it stays the same when the file is replaced by an update meanwhile.
    #[must_use]
    pub fn own() -> Self {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().unwrap_or_else(|_| PathBuf::from("workflow-code"))
        };
        Self { program }
    }

    /// The executable at a path, for a process that is not itself one of ours.
    #[must_use]
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }
}

/// A worker process.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    pid: u32,
    workers: Workers,
    outbox: mpsc::UnboundedSender<Vec<u8>>,
    inbox: mpsc::Receiver<FromWorker>,
}

impl Worker {
    /// Starts a worker in `folder`.
    pub(crate) fn start(image: &WorkerImage, folder: &Path, workers: &Workers) -> Result<Self, SpawnError> {
        // Only what makes programs behave the same everywhere; a project's environment travels in the job.
        let environment: Environment =
            [("TZ", "UTC"), ("LC_ALL", "C")].map(|(name, value)| (name.into(), value.into())).into();
        let spec = Spec::new(&image.program)
            .arguments([worker::ARGUMENT])
            .folder(folder)
            .environment(environment)
            .input(Input::Pipe)
            .only_group();
        // Held while starting: whoever looks for orphans must not see a worker that is not known yet.
        let mut pids = workers.pids.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = spec.spawn()?;
        let pid = child.id().unwrap_or_default();
        pids.push(pid);
        drop(pids);
        let (outbox, letters) = mpsc::unbounded_channel();
        let (sender, inbox) = mpsc::channel(WAITING);
        if let Some(stdin) = child.stdin.take() {
            tokio::spawn(write(stdin, letters));
        }
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(read(stdout, sender));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(report(stderr, pid));
        }
        Ok(Self { child, pid, workers: workers.clone(), outbox, inbox })
    }

    /// Says something. A worker that is gone shows when the next message is waited for.
    ///
    /// What may wait to be written is bounded by what the worker has asked for.
    pub(crate) fn say(&self, message: &ToWorker) {
        match serde_json::to_vec(message) {
            Ok(mut line) => {
                line.push(b'\n');
                let _ = self.outbox.send(line);
            }
            Err(error) => tracing::error!(%error, "a message to a worker could not be written"),
        }
    }

    /// Waits for the next message; `None` when the worker is gone. May be dropped while waiting.
    pub(crate) async fn next(&mut self) -> Option<FromWorker> {
        self.inbox.recv().await
    }

    /// Ends the worker with everything below it, at once, and returns how it ended.
    pub(crate) async fn kill(mut self) -> String {
        let pid = self.pid;
        // A walk over `/proc` and the waiting in it are not for the protocol's thread.
        let _ = tokio::task::spawn_blocking(move || process::tree::kill(pid)).await;
        self.reap().await
    }

    /// Waits for the end of a worker that has said its last word, or makes it.
    pub(crate) async fn finish(mut self) -> String {
        match tokio::time::timeout(LAST_STEPS, self.child.wait()).await {
            Ok(_) => self.reap().await,
            Err(_) => self.kill().await,
        }
    }

    async fn reap(&mut self) -> String {
        let ended = match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let workers = self.workers.clone();
        let pid = self.pid;
        let _ = tokio::task::spawn_blocking(move || {
            let mut pids = workers.pids.lock().unwrap_or_else(PoisonError::into_inner);
            pids.retain(|known| *known != pid);
            if !workers.others.load(Ordering::Relaxed) {
                process::orphans::end_strangers(&pids);
            }
        })
        .await;
        ended
    }
}

impl Workers {
    /// Ends every worker of this process at once, for a process that is about to end itself.
    pub fn kill_all(&self) {
        if self.others.load(Ordering::Relaxed) {
            let pids = self.pids.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for pid in pids {
                process::tree::kill(pid);
            }
            return;
        }
        process::tree::kill_descendants(std::process::id());
        drop(self.pids.lock());
    }

    /// Leaves children alone that are no workers.
    pub(crate) fn spare_others(&self) {
        self.others.store(true, Ordering::Relaxed);
    }
}

async fn write(mut stdin: ChildStdin, mut letters: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(line) = letters.recv().await {
        if stdin.write_all(&line).await.is_err() {
            break;
        }
    }
}

async fn read(stdout: ChildStdout, sender: mpsc::Sender<FromWorker>) {
    let mut stdout = BufReader::with_capacity(64 * 1024, stdout);
    let mut line = Vec::new();
    let most = u64::try_from(LINE_BYTES).unwrap_or(u64::MAX);
    loop {
        line.clear();
        match (&mut stdout).take(most).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        match serde_json::from_slice(&line) {
            Ok(message) => {
                if sender.send(message).await.is_err() {
                    break;
                }
            }
            Err(error) => {
                // Only a damaged worker writes such a line, and nothing after it can be trusted.
                tracing::error!(%error, bytes = line.len(), "a worker wrote an unreadable line");
                break;
            }
        }
        if line.capacity() > 1024 * 1024 {
            line = Vec::new();
        }
    }
}

/// Passes a worker's own diagnostics on to our log.
async fn report(stderr: ChildStderr, pid: u32) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut stderr).take(16 * 1024).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => break,
            Ok(_) => tracing::warn!(worker = pid, "{}", String::from_utf8_lossy(line.trim_ascii_end())),
        }
    }
}
