//! Opening and reading files of which nothing is known: a name may stand for a pipe, a device or a huge file, and may
//! be exchanged between the look and the opening.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing is there.
    #[error("`{path}` does not exist", path = path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// Something else than a regular file is there.
    #[error("`{path}` is {kind}, not a regular file", path = path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// What it is, with its article: `a folder`, `a named pipe`.
        kind: &'static str,
    },
    /// The file is larger than what is read.
    #[error("`{path}` is larger than {limit} bytes", path = path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The bytes are no UTF-8.
    #[error("`{path}` is no UTF-8 text", path = path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// The file under the path was exchanged between the look and the opening.
    #[error("`{path}` was exchanged while it was opened", path = path.display())]
    Exchanged {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("`{path}` cannot be read", path = path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl ReadError {
    /// Names what an operation on a path failed with.
    #[must_use]
    pub fn io(path: &Path, source: io::Error) -> Self {
        // `ENOTDIR` (a file where a folder should be) means the same to whoever wrote the path.
        if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
            Self::NotFound { path: path.to_owned() }
        } else {
            Self::Io { path: path.to_owned(), source }
        }
    }

    /// Says all of it in one sentence, the cause included.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("{self}: {source}"),
            other => other.to_string(),
        }
    }

    /// The same as an error of the operating system, for callers that have errors of their own with a path in them.
    #[must_use]
    pub fn into_io(self) -> io::Error {
        match self {
            Self::Io { source, .. } => source,
            Self::NotFound { .. } => io::ErrorKind::NotFound.into(),
            Self::NotRegular { kind, .. } => io::Error::other(format!("it is {kind}, not a regular file")),
            Self::TooLarge { limit, .. } => {
                io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))
            }
            Self::NotText { .. } => io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"),
            Self::Exchanged { .. } => io::Error::other("it was exchanged while it was opened"),
        }
    }

    /// Tells whether nothing was there to read.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::NotFound { .. })
    }
}

/// Names what a path that is no regular file is, with its article.
#[must_use]
pub fn kind_of(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_dir() {
        return "a folder";
    }
    if kind.is_symlink() {
        return "a link";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    "no ordinary file"
}

/// Tells whether two looks saw the same file.
#[cfg(unix)]
#[must_use]
pub fn same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.dev() == other.dev() && one.ino() == other.ino()
}

/// Tells whether two looks saw the same file. Without inode numbers, size and times have to do.
#[cfg(not(unix))]
#[must_use]
pub fn same_file(one: &Metadata, other: &Metadata) -> bool {
    one.len() == other.len() && one.modified().ok() == other.modified().ok()
}

/// Opens a regular file without ever blocking and without following a link at its end. A device is never opened:
/// the opening alone can do something.
///
/// # Errors
///
/// Nothing is there, something else is there, or it was exchanged meanwhile.
pub fn open_regular(path: &Path) -> Result<(File, Metadata), ReadError> {
    let seen = std::fs::symlink_metadata(path).map_err(|source| ReadError::io(path, source))?;
    if !seen.is_file() {
        return Err(ReadError::NotRegular { path: path.to_owned(), kind: kind_of(&seen) });
    }
    // Something else may have taken the file's place since.
    let (file, opened) = open(path, Links::Refused)?;
    if !same_file(&seen, &opened) {
        return Err(ReadError::Exchanged { path: path.to_owned() });
    }
    Ok((file, opened))
}

/// Opens a regular file as [`open_regular`] does, but follows links, and with one call less: for the many files of a folder
/// that was just listed. A device is opened before it is refused.
///
/// # Errors
///
/// Nothing is there, or something else.
pub fn open_following(path: &Path) -> Result<(File, Metadata), ReadError> {
    open(path, Links::Followed)
}

/// What becomes of a link at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

/// Opens without waiting: a pipe opens at once, and the look at the descriptor refuses it.
fn open(path: &Path, links: Links) -> Result<(File, Metadata), ReadError> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, links == Links::Refused);
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    }
    #[cfg(not(unix))]
    let _ = links;
    let file = options.open(path).map_err(|source| match std::fs::metadata(path) {
        // A socket cannot be opened at all, and a folder not everywhere.
        Ok(there) if !there.is_file() => ReadError::NotRegular { path: path.to_owned(), kind: kind_of(&there) },
        _ => ReadError::io(path, source),
    })?;
    let opened = file.metadata().map_err(|source| ReadError::io(path, source))?;
    if opened.is_file() {
        Ok((file, opened))
    } else {
        Err(ReadError::NotRegular { path: path.to_owned(), kind: kind_of(&opened) })
    }
}

/// Reads a whole regular file of at most `limit` bytes. Links are followed; what they lead to must be a regular file.
///
/// # Errors
///
/// Nothing is there, something else or more is there, or the system refuses. The error names `path`.
pub fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let resolved = path.canonicalize().map_err(|source| ReadError::io(path, source))?;
    // The path in an error is the one that was asked for, since that is the one a person knows.
    let named = |error: ReadError| match error {
        ReadError::NotFound { .. } => ReadError::NotFound { path: path.to_owned() },
        ReadError::NotRegular { kind, .. } => ReadError::NotRegular { path: path.to_owned(), kind },
        ReadError::TooLarge { limit, .. } => ReadError::TooLarge { path: path.to_owned(), limit },
        ReadError::NotText { .. } => ReadError::NotText { path: path.to_owned() },
        ReadError::Exchanged { .. } => ReadError::Exchanged { path: path.to_owned() },
        ReadError::Io { source, .. } => ReadError::Io { path: path.to_owned(), source },
    };
    let (file, _) = open_regular(&resolved).map_err(named)?;
    read_open(file, path, limit)
}

/// Reads an open file of at most `limit` bytes; a file that grows meanwhile does not get past the limit.
///
/// # Errors
///
/// More than `limit` is there, or the system refuses. The error names `path`.
pub fn read_open(file: File, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let length = file.metadata().map_or(0, |facts| facts.len()).min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|source| ReadError::io(path, source))?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Reads a text as [`read_bounded`] does.
///
/// # Errors
///
/// As [`read_bounded`], and when the bytes are no UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    text_of(read_bounded(path, limit)?, path)
}

/// Takes what was read of a file for its text.
pub(crate) fn text_of(bytes: Vec<u8>, path: &Path) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|_| ReadError::NotText { path: path.to_owned() })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let both = [read_bounded(&path, 10).unwrap_err(), open_following(&path).unwrap_err()];
        assert!(
            both.iter().all(|error| matches!(error, ReadError::NotRegular { kind: "a named pipe", .. })),
            "{both:?}"
        );
    }

    #[test]
    fn the_limit_is_exact() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read_bounded(&path, 5).unwrap(), b"12345");
        assert!(matches!(read_bounded(&path, 4).unwrap_err(), ReadError::TooLarge { limit: 4, .. }));
    }

    #[test]
    fn an_endless_device_is_no_file() {
        let error = read_bounded(Path::new("/dev/zero"), 10).unwrap_err();
        assert!(matches!(error, ReadError::NotRegular { kind: "a device", .. }), "{error:?}");
    }

    #[test]
    fn a_missing_file_is_said_to_be_missing_under_its_own_name() {
        let error = read_bounded(Path::new("/nowhere/at/all"), 10).unwrap_err();
        assert!(error.is_not_found());
        assert_eq!(error.to_string(), "`/nowhere/at/all` does not exist");
    }
}
