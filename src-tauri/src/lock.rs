//! One window to a data folder, also where there is no session bus over which a second one would find the first.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::problem::Refusal;

/// Held for as long as the window's process lives.
#[derive(Debug)]
pub(crate) struct WindowLock {
    _file: File,
}

/// Takes the lock, or says whose it is.
pub(crate) fn take(folder: &Path) -> Result<WindowLock, Refusal> {
    let path = folder.join("window.lock");
    let at = |error: std::io::Error| Refusal::of(&format!("`{}` cannot be opened", path.display()), &error);
    disk::private_folder(folder).map_err(at)?;
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(&path).map_err(at)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let mut owner = String::new();
        let _ = file.take(16).read_to_string(&mut owner);
        let owner = owner.trim().parse::<u32>().map(|pid| format!(" (process {pid})")).unwrap_or_default();
        return Err(Refusal::AlreadyOpen { folder: folder.display().to_string(), owner });
    }
    // Only told to people: what counts is the lock, which the system takes back when the process ends.
    file.rewind().and_then(|()| file.set_len(0)).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(at)?;
    Ok(WindowLock { _file: file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_window_is_told_whose_the_first_is() {
        let folder = tempfile::tempdir().unwrap();
        let first = take(folder.path()).unwrap();
        let refused = take(folder.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("(process {})", std::process::id())), "{refused}");
        drop(first);
        take(folder.path()).unwrap();
    }
}
