//! The database as a file: owner-only, no links, and what lies beside it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Result, StoreError};

/// Returns `path` with `suffix` after its name, as SQLite names the files that belong to a database.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes sure that there is a file at `path` that only its owner can read, in a folder that only its owner can enter.
///
/// A folder that was there before keeps its permissions: it may be the person's own.
pub(crate) fn prepare(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_symlink() => {
            return Err(StoreError::SymbolicLink { path: path.to_owned() });
        }
        Ok(metadata) if metadata.is_dir() => {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(StoreError::file("open", path)(source));
        }
        Ok(metadata) => {
            tighten(path, &metadata);
            return Ok(());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(StoreError::file("read", path)(error)),
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        disk::private_folder(folder).map_err(StoreError::file("create the folder", folder))?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Err(StoreError::Full { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            Err(StoreError::ReadOnly { path: path.to_owned() })
        }
        Err(error) => Err(StoreError::file("create", path)(error)),
    }
}

/// Takes away what others may do with the file. Where that is not possible (another owner, a read-only drive) the
/// file is used as it is.
#[cfg(unix)]
fn tighten(path: &Path, metadata: &fs::Metadata) {
    use std::os::unix::fs::PermissionsExt;
    if metadata.permissions().mode() & 0o077 != 0 {
        for file in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
            if let Err(error) = fs::set_permissions(&file, fs::Permissions::from_mode(0o600))
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(path = %file.display(), %error, "others may read this file");
            }
        }
    }
}

#[cfg(not(unix))]
fn tighten(_path: &Path, _metadata: &fs::Metadata) {}

/// Tells whether the file system of `path` has no room left.
#[cfg(unix)]
pub(crate) fn is_full(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    // 64 KiB is what SQLite's shared-memory file may grow by at a time.
    rustix::fs::statvfs(folder).is_ok_and(|stat| stat.f_bavail.saturating_mul(stat.f_frsize) < 64 * 1024)
}

/// Tells whether the file system of `path` has no room left. Not known here.
#[cfg(not(unix))]
pub(crate) fn is_full(_path: &Path) -> bool {
    false
}

/// Tells whether this process may write the file at `path` and make files beside it.
#[cfg(unix)]
pub(crate) fn is_writable(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    let folder = path.parent().unwrap_or(path);
    access(path, Access::WRITE_OK).is_ok() && access(folder, Access::WRITE_OK).is_ok()
}

/// Tells whether this process may write the file at `path`.
#[cfg(not(unix))]
pub(crate) fn is_writable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.permissions().readonly())
}
