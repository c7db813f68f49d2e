//! Writing whole files: beside, then in the place, so that a reader and a power cut find the old one or the new one.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

/// Puts `bytes` in the place of whatever is at `path`; a link there is replaced, not followed. The file is `mode`'s
/// (Unix; elsewhere the folder's list holds), its content is on the disk before it gets its name.
///
/// # Errors
///
/// The folder is missing or cannot be written to, or the disk is full; what was there before is there still.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    put(path, bytes, mode, true)
}

/// Puts `bytes` in place as [`replace`] does, but does not wait for the disk: for what is of no use after its process.
///
/// # Errors
///
/// As [`replace`].
pub fn replace_unsynced(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    put(path, bytes, mode, false)
}

fn put(path: &Path, bytes: &[u8], mode: u32, is_synced: bool) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".workflow-code-");
    #[cfg(unix)]
    let permissions = <Permissions as std::os::unix::fs::PermissionsExt>::from_mode(mode);
    #[cfg(unix)]
    builder.permissions(permissions);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    if is_synced {
        file.as_file().sync_all()?;
    }
    file.persist(path).map_err(|error| error.error)?;
    if is_synced {
        sync_folder(folder);
    }
    Ok(())
}

/// Makes a folder, with those above it, that only its owner can look into. One that is there stays as it is.
///
/// # Errors
///
/// What the operating system says.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes a rename durable where the system can; a failure only means that it may be lost with the power.
pub fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_link_and_a_pipe_are_replaced_and_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let [outside, link, pipe] = ["outside", "link", "pipe"].map(|name| folder.path().join(name));
        std::fs::write(&outside, "theirs").unwrap();
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        for path in [&link, &pipe] {
            replace(path, b"ours", 0o600).unwrap();
            let facts = std::fs::symlink_metadata(path).unwrap();
            assert!(facts.is_file() && facts.permissions().mode() & 0o777 == 0o600, "{facts:?}");
            assert_eq!(std::fs::read(path).unwrap(), b"ours");
        }
        assert_eq!(std::fs::read(&outside).unwrap(), b"theirs");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn what_cannot_be_replaced_stays_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a folder");
        std::fs::create_dir(&path).unwrap();
        assert!(replace(&path, b"x", 0o600).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
