//! Small files that are their owner's alone: read without following links, written in one step.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use disk::ReadError;
use zeroize::Zeroizing;

use crate::{Error, Result};

/// A private file as it was found.
pub(crate) struct Private {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    /// Others could read it until now.
    pub(crate) tightened: bool,
}

/// Reads at most `limit` bytes of a private file; `None` when there is none.
///
/// A link, pipe, device or somebody else's file is refused: it could name another server for our key. A file that group
/// or others may read is set right, and the caller told so.
pub(crate) fn read_private(path: &Path, limit: u64) -> Result<Option<Private>> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let unusable = |reason: &str| Error::Content { path: path.to_owned(), reason: reason.to_owned() };
    let (mut file, metadata) = match disk::open_regular(path) {
        Ok(opened) => opened,
        Err(ReadError::NotFound { .. }) => return Ok(None),
        Err(ReadError::NotRegular { kind: "a link", .. }) => return Err(unusable("it is a link")),
        Err(ReadError::NotRegular { .. }) => return Err(unusable("it is no regular file")),
        Err(error) => return Err(failed(error.into_io())),
    };
    let tightened = tighten(&file, &metadata, path)?;
    let mut bytes = Zeroizing::new(Vec::new());
    io::Read::by_ref(&mut file).take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(unusable(&format!("it has more than {limit} bytes")));
    }
    Ok(Some(Private { bytes, tightened }))
}

#[cfg(unix)]
fn tighten(file: &File, metadata: &fs::Metadata, path: &Path) -> Result<bool> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let own = rustix::process::geteuid();
    if metadata.uid() != own.as_raw() && !own.is_root() {
        return Err(Error::Content { path: path.to_owned(), reason: String::from("it belongs to another user") });
    }
    if metadata.permissions().mode() & 0o077 == 0 {
        return Ok(false);
    }
    file.set_permissions(fs::Permissions::from_mode(0o600))
        .map_err(|source| Error::Write { path: path.to_owned(), source })?;
    Ok(true)
}

#[cfg(not(unix))]
fn tighten(_file: &File, _metadata: &fs::Metadata, _path: &Path) -> Result<bool> {
    // The access list of the person's own folder holds.
    Ok(false)
}

/// How a private file is put in its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Put {
    /// In the place of whatever is there.
    Replacing,
    /// Only if nothing is there.
    New,
}

/// Writes a private file in one step, making its folder if need be. Returns whether it was written: with [`Put::New`] not
/// when there is a file already.
pub(crate) fn write_private(path: &Path, bytes: &[u8], put: Put) -> Result<bool> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    disk::private_folder(folder).map_err(failed)?;
    // Temporary files are their owner's alone from the first moment.
    let mut file = tempfile::Builder::new().prefix(".workflow-code-").tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    match put {
        Put::Replacing => {
            file.persist(path).map_err(|error| failed(error.error))?;
        }
        Put::New => match file.persist_noclobber(path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(failed(error.error)),
        },
    }
    disk::sync_folder(folder);
    Ok(true)
}

/// Removes a file and returns whether there was one.
pub(crate) fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(Error::Write { path: path.to_owned(), source }),
    }
}
