//! What can be wrong with a source.

use serde::{Deserialize, Serialize};

/// The kind of a source's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceErrorCode {
    /// The file is missing or cannot be read.
    Unreadable,
    /// It lies outside the project, also through a link.
    Outside,
    /// It is larger than [`model::Limits::SOURCE_BYTES`].
    TooLarge,
    /// It is nested deeper than [`model::Limits::SOURCE_DEPTH`], or chains too many operators.
    TooDeep,
    /// It cannot be parsed, or is not what its kind allows.
    Syntax,
    /// It imports what it cannot have.
    Import,
    /// Its `meta` block breaks a rule.
    Meta,
    /// Its `entrypoint` declaration cannot be read.
    Entrypoint,
    /// It is neither a module with a default export nor a script with `meta`.
    Undeclared,
}

/// Why a source cannot be used, and where the fault lies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{}: {message}", position(file, *line, *column))]
pub struct SourceError {
    /// The kind of fault.
    pub code: SourceErrorCode,
    /// What is wrong, in one sentence, without the place.
    pub message: String,
    /// The file, relative to the project.
    pub file: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// The column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u32>,
}

fn position(file: &str, line: Option<u32>, column: Option<u32>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        (None, _) => file.to_owned(),
    }
}

impl SourceError {
    /// Makes an error about a whole file.
    pub(crate) fn of_file(code: SourceErrorCode, file: &str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), file: file.to_owned(), line: None, column: None }
    }
}
