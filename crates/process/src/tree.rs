//! Ending a process with everything it started.
//!
//! A process that is its descendants' subreaper (see [`crate::orphans`]) keeps them all below itself, however they
//! detach; so a walk over parents finds them. The walk is repeated until nothing is left, since a tree may grow while
//! it is being cut. Each signal goes through a descriptor of the process, taken before its facts are read again: a
//! process id that was given to somebody else in between is never hit.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::proc_info::{self, ProcessFacts};

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Please end (SIGTERM).
    Terminate,
    /// End (SIGKILL).
    Kill,
}

/// How long a killed tree is walked again before we give up: a tree that forks faster than it can be killed.
const LONGEST_WALK: Duration = Duration::from_secs(2);

/// Lists the living descendants of `root`, children before grandchildren.
#[must_use]
pub fn descendants(root: u32) -> Vec<ProcessFacts> {
    if root == std::process::id() && is_childless() || children(root).is_some_and(|children| children.is_empty()) {
        return Vec::new();
    }
    let mut children: HashMap<u32, Vec<ProcessFacts>> = HashMap::new();
    for process in proc_info::all() {
        children.entry(process.parent).or_default().push(process);
    }
    let (mut found, mut next) = (Vec::new(), vec![root]);
    while let Some(parent) = next.pop() {
        // Taken out of the map: a tree that changed while it was read can never become a circle.
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child.pid);
            found.push(child);
        }
    }
    found.retain(|process| !process.zombie);
    found
}

/// Tells whether this process certainly has no child, not even one to be reaped. Asks the system once and leaves
/// `/proc` alone: what is read there of a process that ends soon is in the way of whoever reaps it.
#[cfg(unix)]
pub(crate) fn is_childless() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, look).is_err_and(|error| error == rustix::io::Errno::CHILD)
}

#[cfg(not(unix))]
pub(crate) fn is_childless() -> bool {
    false
}

/// Lists the children of a process from a few small files instead of all of `/proc`; `None` where the kernel does not
/// offer them.
pub(crate) fn children(parent: u32) -> Option<Vec<u32>> {
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).ok()?;
    let mut found = Vec::new();
    for thread in threads.flatten() {
        let children = std::fs::read_to_string(thread.path().join("children")).ok()?;
        found.extend(children.split_ascii_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    Some(found)
}

/// Sends a signal to a process that was seen, if it is still the same one.
pub fn signal(seen: ProcessFacts, signal: Signal) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, PidfdFlags, Signal as System, pidfd_open, pidfd_send_signal};
        let Some(pid) = i32::try_from(seen.pid).ok().and_then(Pid::from_raw) else { return false };
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
        if proc_info::facts(seen.pid).is_none_or(|now| now.start_time != seen.start_time) {
            return false;
        }
        let system = match signal {
            Signal::Terminate => System::TERM,
            Signal::Kill => System::KILL,
        };
        pidfd_send_signal(&descriptor, system).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (seen, signal);
        false
    }
}

/// Asks every descendant of `root` to end.
pub fn terminate_descendants(root: u32) {
    for process in descendants(root) {
        signal(process, Signal::Terminate);
    }
}

/// Kills every descendant of `root`, also those that appear meanwhile. Returns false when some are left after two
/// seconds of trying.
pub fn kill_descendants(root: u32) -> bool {
    let started = Instant::now();
    loop {
        let left = descendants(root);
        if left.is_empty() {
            return true;
        }
        if started.elapsed() > LONGEST_WALK {
            tracing::warn!(root, left = left.len(), "descendants are left after two seconds of killing");
            return false;
        }
        for process in left {
            signal(process, Signal::Kill);
        }
        std::thread::yield_now();
    }
}

/// Kills `root` with all its descendants: they go first, while `root` still holds them together.
pub fn kill(root: u32) {
    let Some(facts) = proc_info::facts(root) else { return };
    kill_descendants(root);
    signal(facts, Signal::Kill);
    // What came up between the last look and the kill is an orphan now, and `orphans::end_strangers` finds it.
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::Spec;
    use std::io::Read;

    /// Some of these end every stranger below this process, so only one may have children at a time.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

    fn alone() -> std::sync::MutexGuard<'static, ()> {
        ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn python(code: &str) -> crate::BlockingChild {
        let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin")].map(|(name, value)| (name.into(), value.into()));
        Spec::new("python3")
            .arguments(["-c", code])
            .environment(environment.into())
            .spawn_blocking()
            .expect("python3 starts")
    }

    fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed() < Duration::from_secs(10), "{what} did not come");
            std::thread::yield_now();
        }
    }

    /// Deaf, in its own session, forked twice: all of them end, and nothing else does.
    #[test]
    fn no_descendant_gets_away() {
        let _alone = alone();
        crate::orphans::inherit();
        let mut child = python(
            "import os,signal,sys,time\n\
             signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
             for i in range(3):\n\
             \x20 if os.fork()==0:\n\
             \x20   os.setsid()\n\
             \x20   if os.fork()==0:\n\
             \x20     print(os.getpid(), flush=True); time.sleep(600)\n\
             \x20   os._exit(0)\n\
             print('ready', flush=True); time.sleep(600)",
        );
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut text = String::new();
        let mut byte = [0];
        while text.lines().count() < 4 || !text.ends_with('\n') {
            assert_eq!(stdout.read(&mut byte).expect("reads"), 1, "ended early: {text}");
            text.push(char::from(byte[0]));
        }
        let orphans: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        assert_eq!(orphans.len(), 3);
        kill(child.id());
        child.wait().expect("reaped");
        crate::orphans::end_strangers(&[]);
        for pid in orphans {
            wait_until("the end of an orphan", || proc_info::facts(pid).is_none_or(|facts| facts.zombie));
        }
        assert!(proc_info::facts(std::process::id()).is_some());
    }

    /// It forks and ends, again and again, each in a session of its own: whoever looks finds another one.
    #[test]
    fn one_that_never_stands_still_does_not_get_away() {
        let _alone = alone();
        crate::orphans::inherit();
        let mut child = python(
            "import os,signal,time\n\
             signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
             if os.fork()==0:\n\
             \x20 print('ready', flush=True)\n\
             \x20 until=time.time()+30\n\
             \x20 while time.time()<until:\n\
             \x20   if os.fork()>0: os._exit(0)\n\
             \x20   os.setsid()\n\
             time.sleep(600)",
        );
        let mut ready = [0; 6];
        child.stdout.take().expect("a pipe").read_exact(&mut ready).expect("reads");
        let root = proc_info::facts(child.id()).expect("it runs");
        signal(root, Signal::Kill);
        child.wait().expect("reaped");
        assert!(crate::orphans::end_strangers(&[]) > 0);
        assert!(is_childless(), "somebody is left");
    }

    #[test]
    fn a_child_counts_until_it_is_reaped() {
        let _alone = alone();
        assert!(is_childless());
        let mut child = python("pass");
        wait_until("its end", || proc_info::facts(child.id()).is_some_and(|facts| facts.zombie));
        assert!(!is_childless());
        child.wait().expect("reaped");
        assert!(is_childless());
    }

    #[test]
    fn a_group_of_its_own_can_be_had_without_a_session() {
        let _alone = alone();
        let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin")].map(|(name, value)| (name.into(), value.into()));
        let mut child = Spec::new("python3")
            .arguments(["-c", "import os; print(os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid())"])
            .environment(environment.into())
            .only_group()
            .spawn_blocking()
            .expect("python3 starts");
        let mut text = String::new();
        child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("reads");
        child.wait().expect("reaped");
        assert_eq!(text.trim(), "True False");
    }

    #[test]
    fn a_process_that_is_another_by_now_is_not_signalled() {
        let _alone = alone();
        let mut child = python("import time; time.sleep(600)");
        let facts = proc_info::facts(child.id()).expect("it runs");
        assert!(!signal(ProcessFacts { start_time: facts.start_time + 1, ..facts }, Signal::Kill));
        assert!(child.try_wait().expect("asks").is_none());
        kill(child.id());
        assert!(!child.wait().expect("ends").success());
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let error = Spec::new("no-such-program-anywhere").spawn_blocking().expect_err("it cannot start");
        assert!(error.to_string().contains("no-such-program-anywhere"));
    }
}
