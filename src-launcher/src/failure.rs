//! How a command ends when it cannot do what it was asked: exit code, what is wrong, what to do next.

use std::fmt;

pub(crate) use model::with_causes;

/// Exit codes, as the documentation lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run failed, or ended in `interaction_required`.
    Failed = 1,
    /// Bad usage.
    Usage = 2,
    /// Not registered, unreadable, locked, no display.
    Environment = 3,
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), hint: None }
    }

    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self { exit: Exit::Environment, message: message.into(), hint: None }
    }

    /// Takes an error with all its causes.
    pub(crate) fn from_error(exit: Exit, error: &dyn std::error::Error) -> Self {
        Self { exit, message: with_causes(error), hint: None }
    }

    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, "; {hint}"),
            None => Ok(()),
        }
    }
}
