//! Files read with a bound and written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A file or folder that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("`{}` could not be {what}", path.display())]
    Io {
        /// What was tried, as a participle.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Larger than we read.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// Where.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// Led out of the project by a link.
    #[error("`{}` leads out of the project `{}`, and nothing is written there", path.display(), root.display())]
    Outside {
        /// Where.
        path: PathBuf,
        /// The project's root.
        root: PathBuf,
    },
    /// Not text.
    #[error("`{}` is not UTF-8 text (byte {at})", path.display())]
    NotText {
        /// Where.
        path: PathBuf,
        /// The first byte that is none, from 0.
        at: usize,
    },
}

impl FileError {
    /// Makes an error of what the system said.
    #[must_use]
    pub fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source }
    }

    /// Tells whether the reason is that nothing is there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Reads a regular file of at most `limit` bytes. A pipe or a device is refused, since reading it may never end.
///
/// # Errors
///
/// When it is not there, no regular file, unreadable or larger.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let facts = fs::metadata(path).map_err(|source| FileError::io("read", path, source))?;
    if !facts.is_file() {
        return Err(FileError::io("read", path, io::Error::other("not a regular file")));
    }
    let file = File::open(path).map_err(|source| FileError::io("read", path, source))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|source| FileError::io("read", path, source))?;
    if bytes.len() as u64 > limit {
        return Err(FileError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Reads a text file of at most `limit` bytes.
///
/// # Errors
///
/// As [`read`], and when it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, FileError> {
    String::from_utf8(read(path, limit)?)
        .map_err(|error| FileError::NotText { path: path.to_owned(), at: error.utf8_error().valid_up_to() })
}

/// Makes a folder with those above it.
///
/// # Errors
///
/// When the system refuses.
pub fn make_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(|source| FileError::io("made", path, source))
}

/// Makes one of our folders in a project, and makes sure that it lies there: a repository may hold a link of its name.
///
/// # Errors
///
/// When the system refuses, and when a link leads out of the root.
pub fn make_own_folder(path: &Path, root: &Path) -> Result<(), FileError> {
    // Looked at before anything is made, so that nothing is made elsewhere.
    let existing = path.ancestors().find(|folder| folder.symlink_metadata().is_ok()).unwrap_or(root);
    let real = existing.canonicalize().map_err(|source| FileError::io("used", existing, source))?;
    if !real.starts_with(root) {
        return Err(FileError::Outside { path: path.to_owned(), root: root.to_owned() });
    }
    make_folder(path)
}

/// Replaces a file in one step; the old content stays whole when anything fails. The folder is made when it is missing.
///
/// # Errors
///
/// When the system refuses.
pub fn write(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    let failed = |source| FileError::io("written", path, source);
    // Removes itself when dropped before it is renamed.
    let mut file = tempfile::Builder::new().prefix(".write-").tempfile_in(folder).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What a plain `open` would give; the temporary file is closed to everybody else.
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644)).map_err(failed)?;
    }
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes a path as text with `/`; bytes that are no Unicode are replaced.
#[must_use]
pub fn display(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_content_and_no_temporary_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        write(&path, b"old").expect("written");
        // A folder of that name cannot be replaced by a file.
        let blocked = folder.path().join("blocked");
        fs::create_dir_all(blocked.join("inner")).expect("made");
        assert!(write(&blocked, b"new").is_err());
        assert_eq!(fs::read(&path).expect("read"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_not_followed() {
        let (inside, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let root = inside.path().canonicalize().expect("it is there");
        std::os::unix::fs::symlink(outside.path(), root.join("link")).expect("linked");
        std::os::unix::fs::symlink("/nonexistent/x", root.join("dangling")).expect("linked");
        assert!(matches!(make_own_folder(&root.join("link/deep"), &root), Err(FileError::Outside { .. })));
        assert!(make_own_folder(&root.join("link"), &root).is_err());
        assert!(make_own_folder(&root.join("dangling/x"), &root).is_err());
        assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 0);
        assert!(make_own_folder(&root.join("a/b"), &root).is_ok());
    }

    #[test]
    fn large_files_pipes_and_other_encodings_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        write(&path, &[b'a'; 11]).expect("written");
        assert!(matches!(read(&path, 10), Err(FileError::TooLarge { .. })));
        write(&path, b"caf\xe9").expect("written");
        assert!(matches!(read_text(&path, 10), Err(FileError::NotText { at: 3, .. })));
        assert!(read(folder.path(), 10).is_err());
        assert!(read(&folder.path().join("none"), 10).is_err_and(|error| error.is_not_found()));
    }
}
