//! The worker's side: what runs inside the process that a run has for itself.
//!
//! A worker is started from the launcher's own image with one hidden argument. It reads [`ToWorker`] lines and writes
//! [`FromWorker`] lines on descriptors that nothing it runs can reach. It inherits the orphans of what it starts, and
//! when its supervisor goes away, for whatever reason, it ends itself with everything below it.

mod command;
mod exec;
mod link;
mod script;
mod structure;

use crate::protocol::{BUILD, FromWorker, ToWorker};

/// The hidden argument that makes the executable a worker.
pub const ARGUMENT: &str = "--worker";

/// Runs a worker to its end and returns the process's exit code.
///
/// # Errors
///
/// When its descriptors cannot be set up; there is nobody to tell but standard error then.
pub fn main() -> std::io::Result<()> {
    let streams = process::standard_streams::take()?;
    process::orphans::inherit();
    let (link, first) = link::open(streams)?;
    link.say(&FromWorker::Ready { build: BUILD.to_owned() });
    match first {
        Some(ToWorker::Structure(job)) => structure::run(&job, &link),
        Some(ToWorker::Script(job)) => script::run(&job, &link),
        Some(ToWorker::Command(job)) => command::run(&job, &link),
        Some(ToWorker::Exec(_) | ToWorker::Deliver(_) | ToWorker::Suspend | ToWorker::TimeOut | ToWorker::Cancel)
        | None => {}
    }
    // Whatever the job left running ends with it.
    process::tree::kill_descendants(std::process::id());
    link.close();
    Ok(())
}
