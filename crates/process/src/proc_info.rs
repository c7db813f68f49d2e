//! What `/proc` says of a process: parent, state, start time; and the boot this machine is in.

use std::fs;

/// The facts of one process that we decide by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessFacts {
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// Whether it has ended and only waits to be reaped.
    pub zombie: bool,
    /// When it started, in clock ticks since boot. With the id and the boot it names a process for good.
    pub start_time: u64,
}

/// Reads the facts of process `pid`; `None` when there is no such process.
#[must_use]
pub fn facts(pid: u32) -> Option<ProcessFacts> {
    parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `/proc/PID/stat`. The program's name stands in parentheses and may itself hold any character, so the fields
/// are counted from the last `)`.
fn parse_stat(pid: u32, stat: &str) -> Option<ProcessFacts> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // Field 22 of proc(5); `state` is field 3 and `parent` field 4.
    let start_time = fields.nth(17)?.parse().ok()?;
    Some(ProcessFacts { pid, parent, zombie: matches!(state, "Z" | "X"), start_time })
}

/// Lists all processes that can be seen.
#[must_use]
pub fn all() -> Vec<ProcessFacts> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| facts(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

/// Returns the id of the boot this machine is in, empty where the system has none.
#[must_use]
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

/// Returns the resident memory of process `pid` in bytes.
#[must_use]
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) R 1 (b) S 42 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9876 1 1 1";
        assert_eq!(parse_stat(7, stat), Some(ProcessFacts { pid: 7, parent: 42, zombie: false, start_time: 9876 }));
        assert_eq!(parse_stat(7, "7 (a"), None);
        assert_eq!(parse_stat(7, "7 (a) Z 1"), None);
    }

    #[test]
    fn this_process_is_seen() {
        let own = facts(std::process::id()).expect("own facts");
        assert!(!own.zombie);
        assert!(all().contains(&own));
        assert_eq!(boot_id().len(), 36);
        assert!(resident_bytes(own.pid) > Some(100_000));
    }
}
