//! Runs a program for a script, below the script's own worker, so that it ends with it.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    let stdout = child.stdout.take().map(|stream| std::thread::spawn(move || collect(stream)));
    let stderr = child.stderr.take().map(|stream| std::thread::spawn(move || collect(stream)));
    let done = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&done);
    let until = Instant::now() + Duration::from_millis(job.timeout_ms);
    // A plain wait cannot be given a limit, so somebody else keeps the time.
    let watch = std::thread::spawn(move || {
        while !watched.load(Ordering::Acquire) {
            let now = Instant::now();
            if now >= until {
                process::tree::kill(pid);
                return true;
            }
            std::thread::park_timeout((until - now).min(Duration::from_secs(3600)));
        }
        false
    });
    let status = child.wait();
    done.store(true, Ordering::Release);
    watch.thread().unpark();
    let timed_out = watch.join().unwrap_or(false);
    let (stdout, cut) = stdout.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let (stderr, also_cut) = stderr.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if timed_out {
        return Err(format!("`{}` took longer than {} s", job.program, job.timeout_ms / 1000));
    }
    let status = status.map_err(|error| error.to_string())?;
    Ok(Executed { exit_code: status.code().unwrap_or(-1), stdout, stderr, truncated: cut || also_cut })
}

/// Reads a stream to its end and keeps its beginning.
fn collect(mut stream: impl Read) -> (String, bool) {
    let mut kept = Vec::new();
    let _ = (&mut stream).take(STREAM_BYTES as u64).read_to_end(&mut kept);
    let cut = std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or(0) > 0;
    (String::from_utf8_lossy(&kept).into_owned(), cut)
}
