//! Files read with a bound and written whole or not at all.

use std::fs;
use std::io::{self, Write};
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
    /// Not below the project's root.
    #[error("`{}` leads out of the project `{}`, and nothing is written there", path.display(), root.display())]
    Outside {
        /// Where.
        path: PathBuf,
        /// The project's root.
        root: PathBuf,
    },
    /// A link where one of our folders should be.
    #[error("`{}` is a link, and nothing is written through one", .0.display())]
    Link(PathBuf),
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
    let read = disk::open_following(path).and_then(|(file, _)| disk::read::read_open(file, path, limit));
    read.map_err(|error| match error {
        disk::ReadError::TooLarge { limit, .. } => FileError::TooLarge { path: path.to_owned(), limit },
        other => FileError::io("read", path, other.into_io()),
    })
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

/// Makes a folder below a root, and makes sure that it lies there: a repository may hold a link of its name. What we keep
/// in a project is written through [`crate::paths::Places`], which asks this first.
///
/// # Errors
///
/// When the system refuses, and when any folder on the way is a link.
pub(crate) fn make_inside(path: &Path, root: &Path) -> Result<(), FileError> {
    let outside = || FileError::Outside { path: path.to_owned(), root: root.to_owned() };
    let mut here = root.to_owned();
    for part in path.strip_prefix(root).map_err(|_| outside())?.components() {
        let std::path::Component::Normal(part) = part else { return Err(outside()) };
        here.push(part);
        match fs::create_dir(&here) {
            Ok(()) => continue,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // One that is there on a file system that is read only says this first.
            Err(_) if here.symlink_metadata().is_ok() => {}
            Err(source) => return Err(FileError::io("made", &here, source)),
        }
        let facts = here.symlink_metadata().map_err(|source| FileError::io("used", &here, source))?;
        if facts.is_symlink() {
            return Err(FileError::Link(here));
        }
        if !facts.is_dir() {
            return Err(FileError::io("used", &here, io::ErrorKind::NotADirectory.into()));
        }
    }
    Ok(())
}

/// Replaces a file in one step; the old content stays whole when anything fails. The folder is made when it is missing.
/// Not for what we keep in a project: see [`crate::paths::Places::write`].
///
/// # Errors
///
/// When the system refuses.
pub fn write(path: &Path, content: &[u8]) -> Result<(), FileError> {
    make_folder(path.parent().unwrap_or(Path::new(".")))?;
    replace(path, content)
}

/// Replaces a file in a folder that is there. A link of its name is replaced, and not followed.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
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
    fn no_folder_on_the_way_may_be_a_link() {
        let (inside, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let root = inside.path().canonicalize().expect("it is there");
        std::os::unix::fs::symlink(outside.path(), root.join("link")).expect("linked");
        std::os::unix::fs::symlink("/nonexistent/x", root.join("dangling")).expect("linked");
        assert!(make_inside(&root.join("a/b"), &root).is_ok());
        std::os::unix::fs::symlink("a", root.join("within")).expect("linked");
        for path in ["link/deep", "link", "dangling/x", "within/x"] {
            assert!(matches!(make_inside(&root.join(path), &root), Err(FileError::Link(_))), "{path}");
        }
        fs::write(root.join("file"), "x").expect("written");
        assert!(make_inside(&root.join("file/x"), &root).is_err());
        for path in [root.join("../x"), outside.path().join("x")] {
            assert!(matches!(make_inside(&path, &root), Err(FileError::Outside { .. })), "{}", path.display());
        }
        assert_eq!(fs::read_dir(outside.path()).expect("listed").count(), 0);
        assert_eq!(fs::read_dir(root.join("a")).expect("listed").count(), 1);
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
