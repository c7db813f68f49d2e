//! Reading and replacing a file of someone else, so that nothing is lost.
//!
//! A replacement is written beside the file, flushed, and swapped in one step. Where the system can exchange two names
//! (Linux), what comes out of the swap is compared with what was expected, and swapped back if another program wrote in
//! between; elsewhere the comparison is made just before the rename.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The largest configuration that is read: some clients keep their history in it.
pub(crate) const LIMIT: u64 = 32 * 1024 * 1024;

/// A file as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where the file really lies: the end of all links.
    pub(crate) target: PathBuf,
    /// Whether the path itself is a link.
    pub(crate) linked: bool,
    /// Its text; `None` when there is no file.
    pub(crate) text: Option<String>,
    /// Whether the file has further names (hard links), which a replacement leaves behind.
    pub(crate) many_names: bool,
}

/// Reads a file that may be missing, through a link if the path is one.
pub(crate) fn read(path: &Path) -> Result<Found> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let linked = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type().is_symlink(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Found { target: path.to_owned(), linked: false, text: None, many_names: false });
        }
        Err(error) => return Err(failed(error)),
    };
    let target = if linked {
        match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Dangling { path: path.to_owned() });
            }
            Err(error) => return Err(failed(error)),
        }
    } else {
        path.to_owned()
    };
    let (bytes, metadata) = read_regular(&target, LIMIT)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::NotText { path: target.clone(), line }
    })?;
    Ok(Found { target, linked, text: Some(text), many_names: names(&metadata) > 1 })
}

/// Reads at most `limit` bytes of a regular file. A pipe or device is refused without waiting for it.
pub(crate) fn read_regular(path: &Path, limit: u64) -> Result<(Vec<u8>, fs::Metadata)> {
    let failed = |error| match error {
        disk::ReadError::NotRegular { .. } => Error::NotRegular { path: path.to_owned() },
        disk::ReadError::TooLarge { limit, .. } => Error::TooLarge { path: path.to_owned(), limit },
        other => Error::Read { path: path.to_owned(), source: other.into_io() },
    };
    let (file, metadata) = disk::open_following(path).map_err(failed)?;
    let bytes = disk::read::read_open(file, path, limit).map_err(failed)?;
    Ok((bytes, metadata))
}

/// Puts `after` in the place of `before` at `target`; [`Error::Changed`] when something else is there.
///
/// Permissions and owner of a file that exists stay. A new file is the owner's alone, or readable for all when `shared`.
pub(crate) fn replace(target: &Path, before: Option<&str>, after: &str, shared: bool) -> Result<()> {
    let failed = |source| Error::Write { path: target.to_owned(), source };
    let folder = target.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut new = tempfile::Builder::new().prefix(".workflow-code-").tempfile_in(folder).map_err(failed)?;
    new.write_all(after.as_bytes()).map_err(failed)?;
    match before {
        Some(before) => {
            let (bytes, metadata) = read_regular(target, LIMIT)?;
            if bytes != before.as_bytes() {
                return Err(Error::Changed { path: target.to_owned() });
            }
            take_over(new.as_file(), &metadata).map_err(failed)?;
            new.as_file().sync_all().map_err(failed)?;
            let new = new.into_temp_path();
            swap(new, target, before, after)?;
        }
        None => {
            set_mode(new.as_file(), if shared { 0o644 } else { 0o600 }).map_err(failed)?;
            new.as_file().sync_all().map_err(failed)?;
            new.persist_noclobber(target).map_err(|error| {
                if error.error.kind() == io::ErrorKind::AlreadyExists {
                    Error::Changed { path: target.to_owned() }
                } else {
                    failed(error.error)
                }
            })?;
        }
    }
    disk::sync_folder(folder);
    Ok(())
}

/// Removes the file at `target` if its text is still `expected`.
pub(crate) fn remove_if(target: &Path, expected: impl Fn(&[u8]) -> bool) -> Result<()> {
    let (bytes, _) = read_regular(target, LIMIT)?;
    if !expected(&bytes) {
        return Err(Error::Changed { path: target.to_owned() });
    }
    fs::remove_file(target).map_err(|source| Error::Write { path: target.to_owned(), source })?;
    if let Some(folder) = target.parent() {
        disk::sync_folder(folder);
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn swap(new: tempfile::TempPath, target: &Path, before: &str, after: &str) -> Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    let exchange = || renameat_with(CWD, &*new, CWD, target, RenameFlags::EXCHANGE);
    match exchange() {
        Ok(()) => {}
        // Some network file systems cannot exchange.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => return rename(new, target, before),
        Err(error) => return Err(Error::Write { path: target.to_owned(), source: error.into() }),
    }
    // What was at the target has our temporary name now, and goes with it if it is what we expected.
    let out = |expected: &str| read_regular(&new, LIMIT).is_ok_and(|(bytes, _)| bytes == expected.as_bytes());
    if out(before) {
        return Ok(());
    }
    if let Err(error) = exchange() {
        // Never delete the other program's text: it stays under the temporary name.
        let _ = new.keep();
        return Err(Error::Write { path: target.to_owned(), source: error.into() });
    }
    // Its text is back. If what came out this time is not ours, it wrote once more in between: the later text stays.
    if !out(after) && exchange().is_err() {
        let _ = new.keep();
    }
    Err(Error::Changed { path: target.to_owned() })
}

#[cfg(not(target_os = "linux"))]
fn swap(new: tempfile::TempPath, target: &Path, before: &str, _after: &str) -> Result<()> {
    rename(new, target, before)
}

/// Compares once more and renames.
fn rename(new: tempfile::TempPath, target: &Path, before: &str) -> Result<()> {
    let (bytes, _) = read_regular(target, LIMIT)?;
    if bytes != before.as_bytes() {
        return Err(Error::Changed { path: target.to_owned() });
    }
    new.persist(target).map_err(|error| Error::Write { path: target.to_owned(), source: error.error })
}

/// Keeps `text` in a new file beside `file`, for the owner's eyes only, and returns its path.
pub(crate) fn back_up(file: &Path, text: &str, stamp: &str) -> Result<PathBuf> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let base = format!("{name}{BACKUP}{stamp}");
    for number in 1..=100_u32 {
        let backup = file.with_file_name(if number == 1 { base.clone() } else { format!("{base}-{number}") });
        let failed = |source| Error::Write { path: backup.clone(), source };
        match create_private(&backup) {
            Ok(mut created) => {
                created.write_all(text.as_bytes()).and_then(|()| created.sync_all()).map_err(failed)?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(Error::Write { path: file.with_file_name(base), source: io::ErrorKind::AlreadyExists.into() })
}

/// Between the file's name and the moment in the name of a backup.
const BACKUP: &str = ".workflow-code-backup-";
/// Backups of one file that are kept.
const BACKUPS: usize = 10;

/// Removes all but the ten newest of our backups of `file`. A failure is no reason to fail the write before it.
pub(crate) fn prune_backups(file: &Path) {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return };
    let prefix = format!("{}{BACKUP}", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut backups: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        })
        .collect();
    backups.sort_unstable();
    let surplus = backups.len().saturating_sub(BACKUPS);
    for name in &backups[..surplus] {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// Creates a file that must not exist, for the owner only.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// Returns the end of all links of `path`, of which the last parts may not exist yet.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => Ok(real_path(parent)?.join(name)),
            _ => Err(error),
        },
        other => other,
    }
}

#[cfg(unix)]
fn take_over(new: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let own = new.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        fchown(new, Some(old.uid()), Some(old.gid()))?;
    }
    new.set_permissions(fs::Permissions::from_mode(old.permissions().mode() & 0o7777))
}

#[cfg(not(unix))]
fn take_over(new: &File, old: &fs::Metadata) -> io::Result<()> {
    new.set_permissions(old.permissions())
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    // The folder's access list holds.
    Ok(())
}

#[cfg(unix)]
fn names(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.nlink()
}

#[cfg(not(unix))]
fn names(_metadata: &fs::Metadata) -> u64 {
    1
}
