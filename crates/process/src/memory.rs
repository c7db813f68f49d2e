//! How the system's allocator behaves in this process. Only for programs of ours, at the start of their main.

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

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

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
