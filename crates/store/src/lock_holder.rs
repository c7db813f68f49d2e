//! Finds the process that holds a database's write lock, for the error that says so.

use std::path::Path;

/// Byte of the shared-memory file that a writer locks (SQLite, "WAL-mode File Format", 2.3.1 "WAL Locks").
const WRITE_LOCK_BYTE: &str = "120";

/// Returns the process that holds the write lock of the database at `path`, where Linux tells.
pub(crate) fn of(path: &Path) -> Option<u32> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    holder(&locks, inode(&crate::files::beside(path, "-shm"))?)
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|metadata| metadata.ino())
}

#[cfg(not(unix))]
fn inode(_path: &Path) -> Option<u64> {
    None
}

/// Reads lines such as `7: POSIX  ADVISORY  WRITE 4711 fe:00:13107 120 120` (`proc_locks(5)`).
fn holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(3);
        let (mode, process, file, first) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let same = file.rsplit(':').next()?.parse() == Ok(inode);
        if mode == "WRITE" && same && first == WRITE_LOCK_BYTE { process.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_the_process_with_the_write_lock_on_that_file() {
        let locks = "1: POSIX  ADVISORY  READ 11 fe:00:77 124 124\n\
                     2: POSIX  ADVISORY  WRITE 12 fe:00:78 120 120\n\
                     3: POSIX  ADVISORY  WRITE 13 fe:00:77 120 120\n4: nonsense\n";
        assert_eq!(holder(locks, 77), Some(13));
        assert_eq!(holder(locks, 79), None);
    }
}
