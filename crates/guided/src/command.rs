//! Runs a program to its end, with a time limit and bounded output; it ends early with the call that wanted it, and with
//! this process.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use process::{SpawnError, Spec};

/// How long output may still arrive after a program ended: something it left behind may hold the pipe open.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Says that a call is not wanted any more: the programs that run for it are ended, and none is started.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Mutex<Stopping>>);

#[derive(Debug, Default)]
struct Stopping {
    raised: bool,
    next: u64,
    running: HashMap<u64, mpsc::Sender<Event>>,
}

impl Stop {
    fn locked(&self) -> MutexGuard<'_, Stopping> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops what runs.
    pub fn raise(&self) {
        let mut stopping = self.locked();
        stopping.raised = true;
        for (_, running) in stopping.running.drain() {
            // Whoever waits no longer needs to be told.
            let _ = running.send(Event::Stopped);
        }
    }

    /// Tells whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.locked().raised
    }

    /// Has it told to `events`. `None`: it was raised before.
    fn tell(&self, events: &mpsc::Sender<Event>) -> Option<Told> {
        let mut stopping = self.locked();
        if stopping.raised {
            return None;
        }
        let number = stopping.next;
        stopping.next += 1;
        stopping.running.insert(number, events.clone());
        Some(Told { stop: self.clone(), number })
    }
}

/// One that is told, until this is dropped.
struct Told {
    stop: Stop,
    number: u64,
}

impl Drop for Told {
    fn drop(&mut self) {
        self.stop.locked().running.remove(&self.number);
    }
}

#[derive(Debug)]
enum Event {
    Ended(std::io::Result<ExitStatus>),
    Stopped,
}

/// Why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// Nobody wants it any more.
    #[error("the call was cancelled")]
    Stopped,
}

/// How a program ended and what it wrote.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its exit code; none when it was killed.
    pub(crate) code: Option<i32>,
    /// Whether we ended it, since its time was over.
    pub(crate) timed_out: bool,
    /// What it wrote, up to the limit.
    pub(crate) output: Vec<u8>,
    /// What it complained, up to the limit.
    pub(crate) errors: Vec<u8>,
    /// Whether there was more than the limit.
    pub(crate) cut: bool,
}

impl Finished {
    /// Tells whether it ended with success.
    pub(crate) fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// Returns what it complained as text.
    pub(crate) fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.errors).trim().to_owned()
    }
}

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    cut: bool,
}

type Shared = Arc<Mutex<Kept>>;

fn keep(mut stream: impl Read + Send + 'static, limit: usize, done: mpsc::Sender<()>) -> Shared {
    let shared = Shared::default();
    let kept = Arc::clone(&shared);
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        // Read on past the limit, so that the program is not stopped by a full pipe.
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            let room = limit.saturating_sub(kept.bytes.len()).min(count);
            kept.bytes.extend_from_slice(&buffer[..room]);
            kept.cut |= room < count;
        }
        let _ = done.send(());
    });
    shared
}

fn take(shared: &Shared) -> Kept {
    std::mem::take(&mut *shared.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs a program of a project's. A keeper between us and it, where there is one, has everything that it starts end with
/// us, and with the program itself.
pub(crate) fn run_kept(
    keeper: Option<&Path>,
    spec: Spec,
    time: Duration,
    limit: usize,
    stop: &Stop,
) -> Result<Finished, RunError> {
    match keeper {
        Some(keeper) => run(spec.kept_by(keeper), time, limit, stop),
        None => run(spec, time, limit, stop),
    }
}

/// Runs a program. After `time`, or when `stop` is raised, it is killed with everything below it. It dies with us.
pub(crate) fn run(spec: Spec, time: Duration, limit: usize, stop: &Stop) -> Result<Finished, RunError> {
    let (sender, events) = mpsc::channel();
    let _told = stop.tell(&sender).ok_or(RunError::Stopped)?;
    // This thread waits for its end, so it lives as long as the program.
    let mut child = spec.dies_with_parent().spawn_blocking()?;
    let id = child.id();
    // A keeper hangs on it.
    let _thread = child.stdin.take();
    let (done, streams_done) = mpsc::channel();
    let output = child.stdout.take().map(|stream| keep(stream, limit, done.clone()));
    let errors = child.stderr.take().map(|stream| keep(stream, limit, done.clone()));
    drop(done);
    std::thread::spawn(move || {
        let _ = sender.send(Event::Ended(child.wait()));
    });
    let (status, timed_out) = match events.recv_timeout(time) {
        Ok(Event::Ended(status)) => (status.ok(), false),
        Ok(Event::Stopped) => {
            end(id, &events);
            return Err(RunError::Stopped);
        }
        Err(_) => {
            end(id, &events);
            (None, true)
        }
    };
    for _ in 0..2 {
        // An error means that both readers are done, or that the pipe is held open by a stranger.
        if streams_done.recv_timeout(LAST_OUTPUT).is_err() {
            break;
        }
    }
    let output = output.as_ref().map(take).unwrap_or_default();
    let errors = errors.as_ref().map(take).unwrap_or_default();
    Ok(Finished {
        code: status.and_then(|status| status.code()),
        timed_out,
        cut: output.cut || errors.cut,
        output: output.bytes,
        errors: errors.bytes,
    })
}

/// Kills a program with everything below it, and waits until it is gone.
fn end(id: u32, events: &mpsc::Receiver<Event>) {
    process::tree::kill(id);
    while matches!(events.recv(), Ok(Event::Stopped)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, time: Duration, limit: usize) -> Finished {
        let environment = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into();
        let spec = Spec::new("bash").arguments(["-c", text]).environment(environment);
        run(spec, time, limit, &Stop::default()).expect("it starts")
    }

    #[test]
    fn output_code_and_limit() {
        let long = Duration::from_secs(30);
        let finished = shell("echo out; echo err >&2; exit 3", long, 100);
        assert_eq!((finished.code, finished.output.as_slice()), (Some(3), &b"out\n"[..]));
        assert_eq!(finished.error_text(), "err");
        let finished = shell("head -c 1000000 /dev/zero", long, 10);
        assert!(finished.succeeded() && finished.cut);
        assert_eq!(finished.output.len(), 10);
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_with_what_it_started() {
        let started = std::time::Instant::now();
        let finished = shell("sleep 600 & sleep 600", Duration::from_millis(200), 10);
        assert!(finished.timed_out && finished.code.is_none());
        assert!(started.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_program_ends_with_the_call_that_wanted_it_and_none_is_started_after() {
        let folder = tempfile::tempdir().expect("a folder");
        let ready = folder.path().join("ready");
        let text = format!("sleep 600 & echo $! > '{0}.part'; mv '{0}.part' '{0}'; sleep 600", ready.display());
        let stop = Stop::default();
        let environment: process::Environment = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into();
        let spec = Spec::new("bash").arguments(["-c", &text]).environment(environment);
        let long = Duration::from_secs(600);
        let inner = std::thread::scope(|scope| {
            let running = scope.spawn(|| run(spec.clone(), long, 10, &stop));
            while !ready.exists() {
                std::thread::yield_now();
            }
            stop.raise();
            assert!(matches!(running.join().expect("no panic"), Err(RunError::Stopped)));
            std::fs::read_to_string(&ready).expect("read").trim().parse::<u32>().expect("a number")
        });
        assert!(process::proc_info::facts(inner).is_none_or(|facts| facts.zombie));
        std::fs::remove_file(&ready).expect("removed");
        assert!(matches!(run(spec, long, 10, &stop), Err(RunError::Stopped)));
        assert!(!ready.exists());
    }
}
