//! Locks between processes: files that only one can create.
//!
//! A lock file holds `{pid, createdAt, module, recordId}`, so that other programs of this format see who holds it. One
//! whose process is gone, or that is older than any write takes, is broken.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Clock as _, SystemClock, format_timestamp};
use serde_json::{Value, json};

use crate::error::{Result, refuse};
use crate::files;

/// How long a writer waits.
const WAIT: Duration = Duration::from_secs(5);
/// When a lock is nobody's any more, in milliseconds.
const STALE_MS: i64 = 50_000;

/// What is read of a lock's file at most.
const OWNER_BYTES: u64 = 64 * 1024;

/// A held lock; freed when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    text: String,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only our own: somebody may have broken it when this process stood still for too long.
        if files::read(&self.path, OWNER_BYTES).is_ok_and(|(text, _)| text == self.text) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn text(module: &str, id: &str) -> String {
    json!({
        "pid": std::process::id(),
        "createdAt": format_timestamp(SystemClock.now()),
        "module": module,
        "recordId": id,
        "nonce": files::random_name(),
    })
    .to_string()
}

/// Takes a lock at once, or not.
pub(crate) fn try_take(path: &Path, module: &str, id: &str) -> Result<Option<Lock>> {
    let text = text(module, id);
    Ok(files::create(path, &text)?.then(|| Lock { path: path.to_owned(), text }))
}

/// Takes a lock, waiting for whoever holds it.
///
/// # Errors
///
/// `WRITE_LOCK_TIMEOUT` after five seconds.
pub(crate) fn take(path: &Path, module: &str, id: &str) -> Result<Lock> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(lock) = try_take(path, module, id)? {
            return Ok(lock);
        }
        if is_stale(path) {
            break_stale(path)?;
            continue;
        }
        if started.elapsed() >= WAIT {
            let owner = owner_of(path);
            let held = age(path).unwrap_or(0);
            return Err(refuse!("WRITE_LOCK_TIMEOUT", "somebody else is writing `{id}`; try again").with(
                json!({ "lockPath": path, "owner": owner, "heldForMs": held, "lastError": "the lock is held" }),
            ));
        }
        std::thread::park_timeout(pause);
        pause = (pause * 2).min(Duration::from_millis(25));
    }
}

/// What a lock's file says of whoever holds it.
fn owner_of(path: &Path) -> Option<Value> {
    let (text, _) = files::read(path, OWNER_BYTES).ok()?;
    serde_json::from_str(&text).ok()
}

fn age(path: &Path) -> Option<i64> {
    let meta = fs::symlink_metadata(path).ok()?;
    Some(SystemClock.now() - files::Stamp::of(&meta).modified_ms())
}

/// Tells whether a lock's process is gone, or it is older than any write takes.
pub(crate) fn is_stale(path: &Path) -> bool {
    let Some(age) = age(path) else { return false };
    if age >= STALE_MS {
        return true;
    }
    let owner = owner_of(path);
    owner.and_then(|owner| owner.get("pid").and_then(Value::as_i64)).is_some_and(|pid| !is_alive(pid))
}

fn is_alive(pid: i64) -> bool {
    #[cfg(unix)]
    {
        let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
        // Not permitted to signal it: it is there.
        !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = pid;
        true
    }
}

/// Breaks a stale lock. Two that see it stale must not break each other's new one: one lock guards the breaking.
fn break_stale(path: &Path) -> Result<()> {
    let mut guard = path.as_os_str().to_owned();
    guard.push(".break");
    let guard = PathBuf::from(guard);
    match try_take(&guard, "locks", "break")? {
        Some(_held) => {
            if is_stale(path) {
                let _ = fs::remove_file(path);
            }
        }
        None if is_stale(&guard) => {
            let _ = fs::remove_file(&guard);
        }
        None => std::thread::park_timeout(Duration::from_millis(5)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_holds_at_a_time() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("locks/T-0001.lock");
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let lock = take(&path, "cards", "T-0001").expect("free in time");
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert!(!path.exists());
    }

    #[test]
    fn the_lock_of_a_dead_process_is_broken() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("T-0001.lock");
        // No process has this number: it is above the kernel's limit.
        fs::write(&path, json!({ "pid": 2_000_000_000 }).to_string()).expect("written");
        assert!(is_stale(&path));
        let held = take(&path, "cards", "T-0001").expect("broken and taken");
        assert!(!is_stale(&path));
        assert!(try_take(&path, "cards", "T-0001").expect("looked").is_none());
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn a_lock_that_was_broken_is_not_removed_by_its_first_holder() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("x.lock");
        let first = take(&path, "cards", "x").expect("taken");
        fs::remove_file(&path).expect("broken");
        let second = take(&path, "cards", "x").expect("taken");
        drop(first);
        assert!(path.exists());
        drop(second);
    }
}
