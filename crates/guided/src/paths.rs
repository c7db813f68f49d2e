//! Where things lie under a project's root (docs/guided.md, "Files"), and the one way in which anything is written there.

use std::path::{Path, PathBuf};

use crate::files::{self, FileError};
use crate::names::{self, UnsafeName};

/// The folder that belongs to us.
pub const FOLDER: &str = ".deepwork";

/// The places of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    root: PathBuf,
    platform: String,
}

impl Places {
    /// Makes the places under an absolute root for one platform.
    ///
    /// # Errors
    ///
    /// When the platform's name cannot be a folder's.
    pub fn new(root: &Path, platform: &str) -> Result<Self, UnsafeName> {
        names::check("platform", platform)?;
        Ok(Self { root: root.to_owned(), platform: platform.to_owned() })
    }

    /// The project's root.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Our folder.
    #[must_use]
    pub fn own(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// The project's jobs.
    #[must_use]
    pub fn jobs(&self) -> PathBuf {
        self.own().join("jobs")
    }

    /// The project's named schemas.
    #[must_use]
    pub fn schemas(&self) -> PathBuf {
        self.own().join("schemas")
    }

    /// What may be deleted at any time.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.own().join("tmp")
    }

    /// All sessions of this platform.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.temporary().join("sessions").join(&self.platform)
    }

    /// One session.
    ///
    /// # Errors
    ///
    /// When the id cannot be part of a path.
    pub fn session(&self, session: &str) -> Result<PathBuf, UnsafeName> {
        Ok(self.sessions().join(format!("session-{}", names::check("session_id", session)?)))
    }

    /// What reviewers read, and the marks of passed reviews.
    #[must_use]
    pub fn reviews(&self) -> PathBuf {
        self.temporary().join("review_instructions")
    }

    /// Files for other programs.
    #[must_use]
    pub fn status(&self) -> PathBuf {
        self.temporary().join("status").join("v1")
    }

    /// What lists of jobs told, for the next start of a server.
    #[must_use]
    pub fn outlines(&self) -> PathBuf {
        self.temporary().join("outlines.json")
    }

    /// Where built-in jobs are laid out when one of them runs.
    #[must_use]
    pub fn built_in(&self) -> PathBuf {
        self.temporary().join("standard_jobs")
    }

    /// Makes one of our folders. What is below the folder that may be deleted is kept out of the repository.
    ///
    /// # Errors
    ///
    /// When the system refuses, and when a folder on the way is a link.
    pub fn make(&self, folder: &Path) -> Result<(), FileError> {
        files::make_inside(folder, &self.root)?;
        let temporary = self.temporary();
        if folder.starts_with(&temporary) {
            let ignore = temporary.join(".gitignore");
            if ignore.symlink_metadata().is_err()
                && let Err(error) = files::replace(&ignore, b"*\n!.gitignore\n")
            {
                tracing::warn!("{}", model::with_causes(&error));
            }
        }
        Ok(())
    }

    /// Replaces one of our files in one step, and makes its folder.
    ///
    /// # Errors
    ///
    /// As [`Places::make`]; the old content stays then.
    pub fn write(&self, path: &Path, content: &[u8]) -> Result<(), FileError> {
        self.make(path.parent().unwrap_or(&self.root))?;
        files::replace(path, content)
    }

    /// Removes one of our files, if it is there.
    ///
    /// # Errors
    ///
    /// As [`Places::make`].
    pub fn remove(&self, path: &Path) -> Result<(), FileError> {
        self.make(path.parent().unwrap_or(&self.root))?;
        match std::fs::remove_file(path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(FileError::io("removed", path, source)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes a path relative to the root, or absolute when it lies elsewhere.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        crate::files::display(path.strip_prefix(&self.root).unwrap_or(path))
    }
}
