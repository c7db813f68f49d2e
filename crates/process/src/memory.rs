//! What this process keeps in memory: how the system's allocator behaves, and what is given back at rest. Only for
//! programs of ours.

use std::time::Duration;

/// Has all threads allocate from one arena, and memory above a quarter of a mebibyte that is free at its end given back.
///
/// The allocator otherwise makes an arena for each thread, and keeps what was free in them: a server whose threads come
/// and go grows with every one of them. Our threads allocate little at the same time, so that one arena is enough; and
/// a script's thread grows it in larger steps than an arena of its own.
pub fn one_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const FREE_AT_THE_END: libc::c_int = 256 * 1024;
        #[expect(unsafe_code, reason = "mallopt sets numbers in the allocator and takes no pointers (mallopt(3))")]
        // SAFETY: called with documented parameters; a value that is not taken changes nothing.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
            libc::mallopt(libc::M_TRIM_THRESHOLD, FREE_AT_THE_END);
        }
    }
}

/// Bounds the addresses this process can have, in bytes: a fence behind whatever bounds its memory from inside. An
/// allocation beyond it fails, which ends the process. Programs that it starts are bounded as well; some reserve far
/// more than they use, so that a process that starts programs has no use for it.
///
/// A limit that stands already and is lower stays. A system without such limits has no fence.
pub fn fence(bytes: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let standing = getrlimit(Resource::As);
    let lower = |limit: Option<u64>| Some(limit.map_or(bytes, |limit| limit.min(bytes)));
    let _ = setrlimit(Resource::As, Rlimit { current: lower(standing.current), maximum: lower(standing.maximum) });
}

/// Processor time between two looks that still counts as resting: what timers of ours use is far less.
const RESTING: Duration = Duration::from_millis(2);

/// Notices that the process rests, and gives back what it needs only at work.
///
/// A server waits for hours between two conversations. What it keeps then is mostly its own code, mapped in when the
/// first calls ran it; a handful of pages is enough to wait. Clean pages stay in the system's page cache, so that the
/// next call finds them there: about a tenth of a millisecond for all of them.
#[derive(Debug, Default)]
pub struct Rest {
    used: Option<Duration>,
    given_back: bool,
}

impl Rest {
    /// Looks whether the process has rested since the last look, and gives back what it can if so; once for each rest.
    /// To be called every few seconds by a timer that is there anyway. Does nothing where the system cannot.
    pub fn look(&mut self) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let used = Duration::try_from(now).unwrap_or_default();
        let rested = self.used.is_some_and(|before| used.saturating_sub(before) < RESTING);
        self.used = Some(used);
        if !rested {
            self.given_back = false;
        } else if !self.given_back {
            self.given_back = true;
            give_back();
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back() {
    #[expect(unsafe_code, reason = "malloc_trim takes no pointers (malloc_trim(3))")]
    // SAFETY: it may be called at any time by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (start, length) in maps.lines().filter_map(code_of_a_file) {
        #[expect(unsafe_code, reason = "the kernel is told about pages that nobody can have written to")]
        // SAFETY: the range is a mapping of this process that is executable, private, read from a file and not
        // writable, so that every page can be read from the file again (madvise(2), MADV_DONTNEED).
        unsafe {
            libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back() {}

/// Start and length of the mapping in a line of `/proc/PID/maps`, if it is code from a file that is still there.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn code_of_a_file(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let code = fields.next()? == "r-xp";
    let path = fields.nth(3)?;
    // A file that was replaced by an update is marked `(deleted)` and still serves its pages.
    if !code || !path.starts_with('/') {
        return None;
    }
    let start = usize::from_str_radix(start, 16).ok()?;
    Some((start, usize::from_str_radix(end, 16).ok()?.checked_sub(start)?))
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// The test's other half is this same test in a process of its own, which has the fence.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test of what a whole process can have")]
    fn behind_the_fence_an_allocation_fails() {
        const INSIDE: &str = "WORKFLOW_CODE_TEST_FENCE";
        const MEBIBYTE: usize = 1024 * 1024;
        if std::env::var_os(INSIDE).is_some() {
            fence(1024 * 1024 * 1024);
            fence(u64::MAX);
            assert!(Vec::<u8>::new().try_reserve_exact(64 * MEBIBYTE).is_ok());
            assert!(Vec::<u8>::new().try_reserve_exact(1024 * MEBIBYTE).is_err());
            return;
        }
        let program = std::env::current_exe().expect("this test");
        let name = "memory::tests::behind_the_fence_an_allocation_fails";
        let output =
            std::process::Command::new(program).args([name, "--exact"]).env(INSIDE, "1").output().expect("starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    fn only_code_that_comes_from_a_file_is_given_back() {
        let text = "55e0a0000000-55e0a1a00000 r-xp 00835000 fe:00 1184 /opt/workflow code/bin";
        assert_eq!(code_of_a_file(text), Some((0x55e0_a000_0000, 0x1a0_0000)));
        for other in [
            "55e0a1a00000-55e0a1b00000 r--p 0220f000 fe:00 1184 /opt/workflow-code",
            "55e0a1b00000-55e0a1c00000 rw-p 0220f000 fe:00 1184 /opt/workflow-code",
            "7f0000000000-7f0000001000 r-xs 00000000 00:01 7 /memfd:shared",
            "7f0000000000-7f0000001000 r-xp 00000000 00:00 0",
            "7ffd5b1f0000-7ffd5b1f2000 r-xp 00000000 00:00 0 [vdso]",
            "7ffd5b1f0000 r-xp",
            "",
        ] {
            assert_eq!(code_of_a_file(other), None, "{other}");
        }
    }

    #[test]
    fn what_was_given_back_is_there_when_it_is_needed() {
        give_back();
        let text: String = (0..1_000).map(|n| format!("{n:x}")).collect();
        assert_eq!(text.len(), 16 + 240 * 2 + 744 * 3);
        let mut rest = Rest::default();
        rest.look();
        assert!(!rest.given_back, "the process has just begun");
        while !rest.given_back {
            std::thread::sleep(Duration::from_millis(1));
            rest.look();
        }
    }

    /// Runs in a process of its own (`cargo nextest`) or beside other tests, which it does not disturb.
    #[test]
    fn memory_that_many_threads_had_is_given_back() {
        one_arena();
        let before = crate::proc_info::resident_bytes(std::process::id()).expect("our own memory");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                std::thread::spawn(|| {
                    let blocks: Vec<Vec<u8>> = (0..2_000).map(|_| vec![1; 1_000]).collect();
                    blocks.iter().map(Vec::len).sum::<usize>()
                })
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().expect("ends"), 2_000_000);
        }
        let after = crate::proc_info::resident_bytes(std::process::id()).expect("our own memory");
        assert!(after < before + 8 * 1024 * 1024, "{before} bytes became {after}, of 16 MB that were used");
    }
}
