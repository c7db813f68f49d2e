//! Runs a program to its end, with a time limit and bounded output.

use std::io::Read;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process::{SpawnError, Spec};

/// How long output may still arrive after a program ended: something it left behind may hold the pipe open.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

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

/// Runs a program. After `time` it is killed with everything below it.
pub(crate) fn run(spec: &Spec, time: Duration, limit: usize) -> Result<Finished, SpawnError> {
    let mut child = spec.spawn_blocking()?;
    let id = child.id();
    let (done, streams_done) = mpsc::channel();
    let output = child.stdout.take().map(|stream| keep(stream, limit, done.clone()));
    let errors = child.stderr.take().map(|stream| keep(stream, limit, done.clone()));
    drop(done);
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = ended.send(child.wait());
    });
    let (status, timed_out) = match end.recv_timeout(time) {
        Ok(status) => (status, false),
        Err(_) => {
            process::tree::kill(id);
            (end.recv().unwrap_or_else(|_| Err(std::io::Error::other("lost"))), true)
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
        code: if timed_out { None } else { status.ok().and_then(|status| status.code()) },
        timed_out,
        cut: output.cut || errors.cut,
        output: output.bytes,
        errors: errors.bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, time: Duration, limit: usize) -> Finished {
        let environment = [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())].into();
        run(&Spec::new("bash").arguments(["-c", text]).environment(environment), time, limit).expect("it starts")
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
}
