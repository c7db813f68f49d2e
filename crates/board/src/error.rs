//! What can go wrong, with a stable code for programs and a sentence for people.

use serde_json::Value;

/// How a refusal is to be taken; decides exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The workspace or its configuration cannot be used: exit 2.
    Configuration,
    /// Somebody else was first, or a gate is closed: exit 3.
    Conflict,
    /// There is no such record: exit 1.
    NotFound,
    /// The request is wrong: exit 1.
    Validation,
}

/// A refusal. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct BoardError {
    /// The stable code, as `CARD_NOT_FOUND`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The same for programs; depends on the code.
    pub details: Option<Value>,
    /// What the system said, when it was the system.
    #[source]
    pub source: Option<std::io::Error>,
}

/// What this crate's operations return.
pub type Result<T> = std::result::Result<T, BoardError>;

impl BoardError {
    /// Makes a refusal.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None, source: None }
    }

    /// Adds details for programs.
    #[must_use]
    pub fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Makes one of what the system said about `path`.
    pub fn io(what: &str, path: &std::path::Path, source: std::io::Error) -> Self {
        Self {
            code: "INTERNAL_ERROR",
            message: format!("{} cannot be {what}: {source}", path.display()),
            details: None,
            source: Some(source),
        }
    }

    /// Says how it is to be taken.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        kind_of(self.code)
    }

    /// Returns `{code, message, details?}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut map = serde_json::Map::new();
        map.insert("code".into(), self.code.into());
        map.insert("message".into(), self.message.clone().into());
        if let Some(details) = &self.details {
            map.insert("details".into(), details.clone());
        }
        Value::Object(map)
    }
}

fn kind_of(code: &str) -> ErrorKind {
    const CONFLICTS: [&str; 14] = [
        "CARD_ALREADY_CLAIMED",
        "CARD_CLAIM_OWNER_MISMATCH",
        "CARD_ACCEPTANCE_UNMET",
        "CARD_ACCEPTANCE_UNREADABLE",
        "CARD_VERIFICATION_METHOD_REFUSED",
        "DOC_MOVE_TARGET_EXISTS",
        "RELEASE_VERSION_DUPLICATE",
        "RELEASE_DIRECTORY_EXISTS",
        "WRITE_LOCK_TIMEOUT",
        "WORKSPACE_READ_ONLY",
        "MCP_SERVER_READ_ONLY",
        "GENERATED_FILE_UNMANAGED",
        "INIT_FILE_CONFLICT",
        "MIGRATION_FILE_CONFLICT",
    ];
    const CONFLICT_ENDINGS: [&str; 5] =
        ["_WRITE_CONFLICT", "_ID_AMBIGUOUS", "_ID_DUPLICATE", "_ID_TAKEN", "_ALLOCATION_FAILED"];
    if code.starts_with("CONFIG_") || code.starts_with("WORKSPACE_") && code != "WORKSPACE_READ_ONLY" {
        return ErrorKind::Configuration;
    }
    if code == "INTERNAL_ERROR" {
        return ErrorKind::Configuration;
    }
    if CONFLICTS.contains(&code) || CONFLICT_ENDINGS.iter().any(|ending| code.ends_with(ending)) {
        // The id of an entry on a card is no record's id.
        return if code == "CARD_VERIFY_ID_DUPLICATE" { ErrorKind::Validation } else { ErrorKind::Conflict };
    }
    if code.ends_with("_NOT_FOUND") && !code.starts_with("CARD_PARENT") && !code.starts_with("CARD_DEPENDENCY") {
        return ErrorKind::NotFound;
    }
    ErrorKind::Validation
}

/// Makes a refusal with a formatted sentence.
macro_rules! refuse {
    ($code:literal, $($arg:tt)+) => {
        $crate::error::BoardError::new($code, format!($($arg)+))
    };
}
pub(crate) use refuse;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_kind() {
        assert_eq!(kind_of("CONFIG_LIST_EMPTY"), ErrorKind::Configuration);
        assert_eq!(kind_of("WORKSPACE_NOT_FOUND"), ErrorKind::Configuration);
        assert_eq!(kind_of("WORKSPACE_READ_ONLY"), ErrorKind::Conflict);
        assert_eq!(kind_of("DOC_WRITE_CONFLICT"), ErrorKind::Conflict);
        assert_eq!(kind_of("CARD_NOT_FOUND"), ErrorKind::NotFound);
        assert_eq!(kind_of("CARD_TITLE_TOO_LONG"), ErrorKind::Validation);
        assert_eq!(kind_of("CARD_VERIFY_ID_DUPLICATE"), ErrorKind::Validation);
    }
}
