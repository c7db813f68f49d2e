//! Inheriting the descendants that outlive their parents, so that none of them gets away.

use std::time::{Duration, Instant};

use crate::{proc_info, tree};

/// Makes this process inherit orphaned descendants (Linux: child subreaper, prctl(2)), so that a program that forks
/// twice or starts its own session stays in our tree. Elsewhere: does nothing.
pub fn inherit() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::debug!(%error, "orphaned descendants cannot be inherited");
    }
}

/// How long strangers are killed that come as fast as they go.
const LONGEST: Duration = Duration::from_secs(2);

/// Kills and reaps every child of this process that is not in `known`, with its descendants: such children were
/// orphaned by one of ours that died. What they leave behind becomes our child in turn, so it looks until there is none,
/// or two seconds are over. Returns how many were found.
pub fn end_strangers(known: &[u32]) -> usize {
    if tree::is_childless() {
        return 0;
    }
    let me = std::process::id();
    let started = Instant::now();
    let mut found = 0;
    loop {
        // The quick way to see them: one that forks and ends at once is gone before all processes have been looked at.
        let strangers: Vec<u32> = match tree::children(me) {
            Some(children) => children,
            None => proc_info::all().into_iter().filter(|one| one.parent == me).map(|one| one.pid).collect(),
        };
        let strangers: Vec<u32> = strangers.into_iter().filter(|child| !known.contains(child)).collect();
        if strangers.is_empty() {
            return found;
        }
        if started.elapsed() > LONGEST {
            tracing::warn!(left = strangers.len(), "orphans are left after two seconds of killing");
            return found;
        }
        for stranger in strangers {
            end(stranger);
            found += 1;
        }
    }
}

/// Kills a child and collects its exit status: until then nobody else has its number.
#[cfg(unix)]
fn end(child: u32) {
    let Some(pid) = i32::try_from(child).ok().and_then(rustix::process::Pid::from_raw) else { return };
    // One that may not be killed, since it changed its user, must not be waited for.
    if rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok() {
        reap(child);
    }
}

#[cfg(not(unix))]
fn end(_child: u32) {}

/// Collects the exit status of a child that nobody waits for.
#[cfg(unix)]
fn reap(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return };
    // A killed child ends within moments, and `waitpid` without NOHANG returns then.
    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
}

#[cfg(not(unix))]
fn reap(_pid: u32) {}
