//! Paths that a project names: resolved under its root and never out of it, neither by `..` nor through a link.
//!
//! Comparison is by components, never by text: `/a/project-two` does not lie in `/a/project`.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::read::{ReadError, kind_of, read_open, text_of};

/// Why a path of a project is not taken.
#[derive(Debug, thiserror::Error)]
pub enum SafePathError {
    /// It is empty or has a NUL character.
    #[error("`{path}` is no path")]
    NotAPath {
        /// The path as written, at most 200 characters of it.
        path: String,
    },
    /// It is absolute.
    #[error("`{path}` is an absolute path; write it relative to the project's folder")]
    Absolute {
        /// The path as written.
        path: String,
    },
    /// It leads out of the project by `..`.
    #[error("`{path}` leads out of the project")]
    Outside {
        /// The path as written.
        path: String,
    },
    /// It leads out of the project through a link.
    #[error("`{path}` leads out of the project through a link, to `{target}`", target = target.display())]
    LinkOutside {
        /// The path as written.
        path: String,
        /// Where the link leads.
        target: PathBuf,
    },
    /// Nothing readable, or no regular file, is there.
    #[error("`{path}` cannot be used")]
    Unreadable {
        /// The path as written.
        path: String,
        /// The cause.
        source: ReadError,
    },
}

impl SafePathError {
    /// Says all of it in one sentence, the cause included.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Self::Unreadable { path, source: ReadError::NotFound { .. } } => format!("`{path}` does not exist"),
            Self::Unreadable { path, source: ReadError::NotRegular { kind, .. } } => {
                format!("`{path}` is {kind}, not a regular file")
            }
            Self::Unreadable { path, source: ReadError::TooLarge { limit, .. } } => {
                format!("`{path}` is larger than {limit} bytes")
            }
            Self::Unreadable { path, source: ReadError::NotText { .. } } => format!("`{path}` is no UTF-8 text"),
            Self::Unreadable { path, source: ReadError::Io { source, .. } } => {
                format!("`{path}` cannot be read: {source}")
            }
            other => other.to_string(),
        }
    }
}

/// A regular file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsideFile {
    /// Its path from the root, resolved, `/` between its parts.
    pub relative: String,
    /// Its absolute path, resolved.
    pub absolute: PathBuf,
}

/// Resolves `written` (`/` between its parts) under `root` to a regular file that lies in `root` after every link was
/// followed.
///
/// # Errors
///
/// See [`SafePathError`].
pub fn resolve_inside(root: &Path, written: &str) -> Result<InsideFile, SafePathError> {
    let shown = || written.chars().take(200).collect::<String>();
    if written.is_empty() || written.contains('\0') {
        return Err(SafePathError::NotAPath { path: shown() });
    }
    let mut depth = 0_usize;
    for component in Path::new(written).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => {
                // Also a way out that comes back in again is refused: it names what lies outside.
                depth = depth.checked_sub(1).ok_or_else(|| SafePathError::Outside { path: shown() })?;
            }
            Component::RootDir | Component::Prefix(_) => return Err(SafePathError::Absolute { path: shown() }),
        }
    }
    let unreadable = |path: &Path, source: io::Error| SafePathError::Unreadable {
        path: shown(),
        source: ReadError::io(path, source),
    };
    let root = root.canonicalize().map_err(|source| unreadable(root, source))?;
    let joined = root.join(written);
    let absolute = joined.canonicalize().map_err(|source| unreadable(&joined, source))?;
    let Ok(relative) = absolute.strip_prefix(&root) else {
        return Err(SafePathError::LinkOutside { path: shown(), target: absolute });
    };
    let metadata = std::fs::symlink_metadata(&absolute).map_err(|source| unreadable(&absolute, source))?;
    if !metadata.is_file() {
        let source = ReadError::NotRegular { path: absolute, kind: kind_of(&metadata) };
        return Err(SafePathError::Unreadable { path: shown(), source });
    }
    let mut parts = Vec::new();
    for component in relative.components() {
        let Some(part) = component.as_os_str().to_str() else {
            return Err(SafePathError::NotAPath { path: shown() });
        };
        parts.push(part);
    }
    Ok(InsideFile { relative: parts.join("/"), absolute })
}

/// Resolves as [`resolve_inside`] does and opens what it found, so that nothing exchanged between the two (a folder
/// for a link, a file for a pipe) is followed or waited for.
///
/// # Errors
///
/// See [`SafePathError`].
pub fn open_inside(root: &Path, written: &str) -> Result<(File, InsideFile), SafePathError> {
    let found = resolve_inside(root, written)?;
    let file = open_resolved(root, &found)
        .map_err(|source| SafePathError::Unreadable { path: written.chars().take(200).collect(), source })?;
    Ok((file, found))
}

/// Reads a text of at most `limit` bytes that lies under `root`, as [`open_inside`] finds it.
///
/// # Errors
///
/// See [`SafePathError`]; too many bytes and bytes that are no UTF-8 are [`SafePathError::Unreadable`].
pub fn read_inside(root: &Path, written: &str, limit: u64) -> Result<String, SafePathError> {
    let (file, found) = open_inside(root, written)?;
    read_open(file, &found.absolute, limit)
        .and_then(|bytes| text_of(bytes, &found.absolute))
        .map_err(|source| SafePathError::Unreadable { path: written.chars().take(200).collect(), source })
}

#[cfg(target_os = "linux")]
fn open_resolved(root: &Path, found: &InsideFile) -> Result<File, ReadError> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};

    let failed = |error: rustix::io::Errno| ReadError::io(&found.absolute, error.into());
    let root = root.canonicalize().map_err(|source| ReadError::io(root, source))?;
    let folder =
        openat(CWD, &root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&folder, found.relative.as_str(), flags, Mode::empty(), resolve) {
        Ok(descriptor) => {
            let file = File::from(descriptor);
            let metadata = file.metadata().map_err(|source| ReadError::io(&found.absolute, source))?;
            if metadata.is_file() {
                Ok(file)
            } else {
                Err(ReadError::NotRegular { path: found.absolute.clone(), kind: kind_of(&metadata) })
            }
        }
        // Kernels before 5.6, and containers that filter the call.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            crate::read::open_regular(&found.absolute).map(|(file, _)| file)
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_resolved(_root: &Path, found: &InsideFile) -> Result<File, ReadError> {
    crate::read::open_regular(&found.absolute).map(|(file, _)| file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_what_lies_inside_and_fits_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(folder.path().join("secret"), "s").unwrap();
        std::fs::write(root.join("own"), "own").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("link")).unwrap();
        std::os::unix::fs::symlink("own", root.join("alias")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        for refused in ["link", "../secret", "pipe", "nothing"] {
            read_inside(&root, refused, 9).unwrap_err();
        }
        assert_eq!(read_inside(&root, "own", 3).unwrap(), "own");
        assert_eq!(read_inside(&root, "alias", 3).unwrap(), "own");
        assert_eq!(read_inside(&root, "own", 2).unwrap_err().sentence(), "`own` is larger than 2 bytes");
    }
    use rstest::rstest;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir_all(folder.path().join("project-two")).unwrap();
        std::fs::write(root.join("main.ts"), "1").unwrap();
        std::fs::write(folder.path().join("secret.ts"), "2").unwrap();
        std::fs::write(folder.path().join("project-two/main.ts"), "3").unwrap();
        symlink("../../secret.ts", root.join("sub/out.ts")).unwrap();
        symlink("../main.ts", root.join("sub/in.ts")).unwrap();
        symlink("../project-two", root.join("two")).unwrap();
        folder
    }

    #[rstest]
    #[case("main.ts")]
    #[case("./main.ts")]
    #[case("sub/../main.ts")]
    #[case("sub/in.ts")]
    fn inside(#[case] written: &str) {
        let folder = project();
        let (mut file, found) = open_inside(&folder.path().join("project"), written).unwrap();
        assert_eq!(found.relative, "main.ts");
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "1");
    }

    #[rstest]
    #[case::up("../secret.ts", "leads out of the project")]
    #[case::up_and_in("../project/main.ts", "leads out of the project")]
    #[case::absolute("/etc/passwd", "is an absolute path")]
    #[case::link("sub/out.ts", "through a link")]
    #[case::same_beginning("two/main.ts", "through a link")]
    #[case::nothing("none.ts", "does not exist")]
    #[case::folder("sub", "is a folder, not a regular file")]
    #[case::file_as_folder("main.ts/x", "does not exist")]
    #[case::nul("a\0b", "is no path")]
    #[case::empty("", "is no path")]
    fn refused(#[case] written: &str, #[case] words: &str) {
        let folder = project();
        let error = resolve_inside(&folder.path().join("project"), written).unwrap_err();
        assert!(error.sentence().contains(words), "{}", error.sentence());
    }

    #[test]
    fn a_folder_exchanged_for_a_link_after_the_look_is_not_followed() {
        let folder = project();
        let root = folder.path().join("project");
        std::fs::write(root.join("sub/main.ts"), "4").unwrap();
        let found = resolve_inside(&root, "sub/main.ts").unwrap();
        std::fs::rename(root.join("sub"), root.join("old")).unwrap();
        symlink("../project-two", root.join("sub")).unwrap();
        assert!(open_resolved(&root, &found).is_err());
    }
}
