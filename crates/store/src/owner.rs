//! The process that has a run in hand, and whether it still lives.

use std::fs;
use std::path::Path;

/// A process, told apart from a later one with the same number by its start time, and from those before a restart of
/// the machine by the boot id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The process id.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did; 0 where the system does not tell.
    pub start: u64,
    /// The boot id; empty where the system does not tell.
    pub boot: String,
}

/// Where the process file system is mounted.
pub(crate) const PROC: &str = "/proc";

impl Owner {
    /// Returns this process.
    #[must_use]
    pub fn current() -> Self {
        Self::of(std::process::id())
    }

    /// Returns the process with that id, which need not be alive.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        let proc = Path::new(PROC);
        Self { pid, start: read_start(proc, pid).unwrap_or(0), boot: read_boot(proc).unwrap_or_default() }
    }

    /// Tells whether the process still lives.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let proc = Path::new(PROC);
        // A sandbox may hide the process file system, also from a process about itself.
        if read_start(proc, std::process::id()).is_some() { self.is_alive_in(proc) } else { self.answers() }
    }

    /// Tells whether the process still lives, by a process file system mounted elsewhere (or a copy of one).
    #[must_use]
    pub fn is_alive_in(&self, proc: &Path) -> bool {
        read_boot(proc).is_none_or(|boot| boot == self.boot || self.boot.is_empty())
            && read_start(proc, self.pid).is_some_and(|start| start == self.start || self.start == 0)
    }

    /// Asks the system whether there is such a process; its start is not known then.
    #[cfg(unix)]
    fn answers(&self) -> bool {
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};
        i32::try_from(self.pid)
            .ok()
            .and_then(Pid::from_raw)
            .is_some_and(|pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM)))
    }

    /// Not known here: taken for alive, since a living owner must never lose its run.
    #[cfg(not(unix))]
    fn answers(&self) -> bool {
        true
    }
}

fn read_boot(proc: &Path) -> Option<String> {
    let text = fs::read_to_string(proc.join("sys/kernel/random/boot_id")).ok()?;
    Some(text.trim().to_owned()).filter(|boot| !boot.is_empty())
}

/// Reads field 22 of `/proc/PID/stat` (`proc_pid_stat(5)`). `None`: no such process, or one that has ended and only
/// waits to be collected.
fn read_start(proc: &Path, pid: u32) -> Option<u64> {
    let stat = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    // The name, in parentheses, may hold anything, also parentheses and spaces.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = String::from_utf8_lossy(stat.get(after_name..)?);
    let mut fields = text.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_lives_and_a_later_one_with_its_number_is_another() {
        let me = Owner::current();
        assert!(me.start > 0 && !me.boot.is_empty() && me.is_alive());
        assert!(!Owner { start: me.start + 1, ..me.clone() }.is_alive());
        assert!(!Owner { boot: "another boot".into(), ..me.clone() }.is_alive());
        assert!(!Owner { pid: u32::MAX - 1, ..me }.is_alive());
    }

    #[test]
    fn names_with_parentheses_and_dead_processes_are_read() {
        let proc = tempfile::tempdir().unwrap();
        let stat = |pid: u32, text: &str| {
            fs::create_dir_all(proc.path().join(pid.to_string())).unwrap();
            fs::write(proc.path().join(pid.to_string()).join("stat"), text).unwrap();
        };
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        stat(5, &format!("5 (a) Z (b) S {rest}"));
        stat(6, &format!("6 (a) Z {rest}"));
        stat(7, "7 (cut");
        let owner = |pid| Owner { pid, start: 4711, boot: String::new() };
        assert!(owner(5).is_alive_in(proc.path()));
        assert!(!owner(6).is_alive_in(proc.path()));
        assert!(!owner(7).is_alive_in(proc.path()));
        assert!(!Owner { start: 4712, ..owner(5) }.is_alive_in(proc.path()));
    }
}
