//! Runs a program for a script, below the script's own worker, so that it ends with it.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use process::{Environment, Input, Spec};

use super::link::Link;
use crate::protocol::{ExecJob, Executed, FromWorker};

/// What is kept of each stream: 8 MiB.
const STREAM_BYTES: usize = 8 * 1024 * 1024;

/// Starts the program on a thread of its own and tells what became of it.
pub(super) fn start(job: ExecJob, link: &Arc<Link>) {
    let seq = job.seq;
    let teller = Arc::clone(link);
    let started = std::thread::Builder::new().name("exec".into()).spawn(move || {
        let outcome = run(&job);
        teller.say(&FromWorker::Executed { seq: job.seq, outcome });
    });
    if let Err(error) = started {
        link.say(&FromWorker::Executed { seq, outcome: Err(format!("no thread could be started: {error}")) });
    }
}

fn run(job: &ExecJob) -> Result<Executed, String> {
    let environment: Environment = job.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let spec = Spec::new(&job.program)
        .arguments(&job.arguments)
        .folder(&job.folder)
        .environment(environment)
        .input(Input::Pipe);
    let mut child = spec.spawn_blocking().map_err(|error| format!("{error}: {}", error.source))?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = job.input.clone();
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let pid = child.id();
    // Milliseconds after `began` when it wrote last.
    let (began, spoke) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let listen = |stream: Box<dyn Read + Send>| {
        let heard = Heard { stream, began, spoke: Arc::clone(&spoke) };
        std::thread::spawn(move || collect(heard))
    };
    let stdout = child.stdout.take().map(|stream| listen(Box::new(stream)));
    let stderr = child.stderr.take().map(|stream| listen(Box::new(stream)));
    let done = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&done);
    let until = Instant::now() + Duration::from_millis(job.timeout_ms);
    // A century of silence is none.
    let silence = job.silence_ms.map(|silence| silence.min(3_155_760_000_000));
    // A plain wait cannot be given a limit, so somebody else keeps the time.
    let watch = std::thread::spawn(move || {
        while !watched.load(Ordering::Acquire) {
            let now = Instant::now();
            let quiet_until = silence.map(|silence| {
                began + Duration::from_millis(spoke.load(Ordering::Relaxed)) + Duration::from_millis(silence)
            });
            if now >= until {
                process::tree::kill(pid);
                return Some(Ended::Late);
            }
            if quiet_until.is_some_and(|quiet_until| now >= quiet_until) {
                process::tree::kill(pid);
                return Some(Ended::Stalled);
            }
            let next = quiet_until.map_or(until, |quiet_until| quiet_until.min(until));
            std::thread::park_timeout((next - now).min(Duration::from_secs(3600)));
        }
        None
    });
    let status = child.wait();
    done.store(true, Ordering::Release);
    watch.thread().unpark();
    let ended = watch.join().unwrap_or_default();
    let (stdout, cut) = stdout.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let (stderr, also_cut) = stderr.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if ended == Some(Ended::Late) {
        // 0.8, and 90 without a point.
        let seconds = std::time::Duration::from_millis(job.timeout_ms).as_secs_f64();
        return Err(format!("`{}` took longer than {seconds} s", job.program));
    }
    let status = status.map_err(|error| error.to_string())?;
    Ok(Executed {
        exit_code: status.code().unwrap_or(-1),
        stdout,
        stderr,
        truncated: cut || also_cut,
        stalled: ended == Some(Ended::Stalled),
    })
}

/// Why a program was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Late,
    Stalled,
}

/// A stream that notes when something came.
struct Heard {
    stream: Box<dyn Read + Send>,
    began: Instant,
    spoke: Arc<AtomicU64>,
}

impl Read for Heard {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.stream.read(buffer)?;
        let at = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.spoke.fetch_max(at, Ordering::Relaxed);
        Ok(count)
    }
}

/// Reads a stream to its end and keeps its beginning.
fn collect(mut stream: impl Read) -> (String, bool) {
    let mut kept = Vec::new();
    let _ = (&mut stream).take(STREAM_BYTES as u64).read_to_end(&mut kept);
    let cut = std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or(0) > 0;
    (String::from_utf8_lossy(&kept).into_owned(), cut)
}
