//! Inheriting the descendants that outlive their parents, so that none of them gets away.

use crate::{proc_info, tree};

/// Makes this process inherit orphaned descendants (Linux: child subreaper, prctl(2)), so that a program that forks
/// twice or starts its own session stays in our tree. Elsewhere: does nothing.
pub fn inherit() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::debug!(%error, "orphaned descendants cannot be inherited");
    }
}

/// Looks that are taken for strangers: one that forks as fast as it is killed is met again, and again.
const LOOKS: usize = 64;

/// Kills and reaps every child of this process that is not in `known`, with its descendants: such children were
/// orphaned by one of ours that died. What they leave behind while they are killed becomes our child in turn, so it looks
/// until there is none. Returns how many were found.
pub fn end_strangers(known: &[u32]) -> usize {
    let mut found = 0;
    for _ in 0..LOOKS {
        match end_those_there(known) {
            0 => break,
            more => found += more,
        }
    }
    found
}

fn end_those_there(known: &[u32]) -> usize {
    let me = std::process::id();
    if tree::is_childless() {
        return 0;
    }
    if tree::children(me).is_some_and(|children| children.iter().all(|child| known.contains(child))) {
        return 0;
    }
    let strangers: Vec<_> =
        proc_info::all().into_iter().filter(|one| one.parent == me && !known.contains(&one.pid)).collect();
    for stranger in &strangers {
        if !stranger.zombie {
            tree::kill_descendants(stranger.pid);
            tree::signal(*stranger, tree::Signal::Kill);
        }
        reap(stranger.pid);
    }
    strangers.len()
}

/// Collects the exit status of a child that nobody waits for.
#[cfg(unix)]
fn reap(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return };
    // A killed child ends within moments, and `waitpid` without NOHANG returns then.
    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
}

#[cfg(not(unix))]
fn reap(_pid: u32) {}
