//! Why there is no window: one sentence and the exit code for what the machine lacks.

use std::process::ExitCode;

use launcher::desktop::OpenError;

/// A start that was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// No display, or none that answers.
    #[error("there is no display to open the window on; everything else works without one: see `workflow-code --help`")]
    NoDisplay,
    /// Another process has the window.
    #[error("the window on `{folder}` is open already{owner}; use that one, or another profile with `--profile NAME`")]
    AlreadyOpen {
        /// The data folder.
        folder: String,
        /// Whose it is, when that is known, as ` (process 123)`.
        owner: String,
    },
    /// What the window stands on could not be opened; the sentence is of whoever knows.
    #[error("{0}")]
    Other(String),
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        let hint = error.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        Self::Other(format!("{}{hint}", error.message))
    }
}

impl Refusal {
    /// Wraps an error of a library.
    pub(crate) fn of(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self::Other(format!("{what}: {error}"))
    }

    /// Tells it to whoever started the window.
    #[expect(clippy::print_stderr, reason = "there is no window to say it in")]
    pub(crate) fn tell(&self) -> ExitCode {
        eprintln!("error: {self}");
        ExitCode::from(ENVIRONMENT)
    }
}

/// The exit code for what the machine lacks, the same as the command line's.
const ENVIRONMENT: u8 = 3;
