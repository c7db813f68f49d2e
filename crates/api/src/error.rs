//! How a command fails: a stable code of a closed set, one sentence, and a next step.

use clients::Error as ClientsError;
use model::with_causes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::StoreError;
use ts_rs::TS;

/// The codes. The page has a text for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApiErrorCode {
    /// There is no such project, run, question, file or command.
    NotFound,
    /// The request does not fit; `detail` may say where.
    InvalidInput,
    /// Somebody else changed it meanwhile, or it exists already.
    Conflict,
    /// A run is at work, and that is in the way.
    Running,
    /// The question was answered by somebody else.
    AlreadyAnswered,
    /// The run does not wait for an answer.
    NotWaiting,
    /// The project's folder is gone.
    ProjectMissing,
    /// The folder is no project of any kind; `detail.path` is the folder.
    NoProject,
    /// The project cannot be read, or this part of it is broken.
    ProjectBroken,
    /// The database cannot be used now.
    StoreUnavailable,
    /// The database is of a newer version.
    StoreTooNew,
    /// The disk is full.
    DiskFull,
    /// The system refuses access.
    Permission,
    /// The keyring cannot be used.
    SecretService,
    /// A client's file cannot be used.
    ClientFile,
    /// This is not possible for such a thing.
    Unsupported,
    /// A fault of ours.
    Internal,
}

impl ApiErrorCode {
    /// Every code.
    pub const ALL: [Self; 17] = [
        Self::NotFound,
        Self::InvalidInput,
        Self::Conflict,
        Self::Running,
        Self::AlreadyAnswered,
        Self::NotWaiting,
        Self::ProjectMissing,
        Self::NoProject,
        Self::ProjectBroken,
        Self::StoreUnavailable,
        Self::StoreTooNew,
        Self::DiskFull,
        Self::Permission,
        Self::SecretService,
        Self::ClientFile,
        Self::Unsupported,
        Self::Internal,
    ];
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{message}")]
#[ts(optional_fields)]
pub struct ApiError {
    /// Which kind of failure.
    pub code: ApiErrorCode,
    /// One sentence that names the thing and the reason.
    pub message: String,
    /// Facts for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "JsonValue")]
    pub detail: Option<Value>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What every command gives.
pub type Answer<T> = Result<T, ApiError>;

impl ApiError {
    /// Makes an error of a code and a sentence.
    #[must_use]
    pub fn new(code: ApiErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: None, hint: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds facts for programs.
    #[must_use]
    pub fn detailed(mut self, detail: Value) -> Self {
        self.detail = Some(detail);
        self
    }

    /// The request does not fit.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ApiErrorCode::InvalidInput, message)
    }

    /// There is no such thing.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ApiErrorCode::NotFound, message)
    }

    /// A fault of ours.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ApiErrorCode::Internal, message)
    }

    /// Makes an error of what the system says about a file.
    #[must_use]
    pub fn io(what: &str, error: &std::io::Error) -> Self {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => ApiErrorCode::NotFound,
            std::io::ErrorKind::AlreadyExists => ApiErrorCode::Conflict,
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => ApiErrorCode::DiskFull,
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => ApiErrorCode::Permission,
            _ => ApiErrorCode::Internal,
        };
        Self::new(code, format!("{what}: {error}"))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        use ApiErrorCode as Code;
        let message = with_causes(&error);
        let (code, hint, detail) = match &error {
            StoreError::NoSuchRun { .. } | StoreError::NoSuchProject { .. } | StoreError::NoSuchQuestion { .. } => {
                (Code::NotFound, None, None)
            }
            StoreError::Missing { .. } => (Code::NotFound, Some("register a folder first"), None),
            StoreError::AlreadyAnswered { by, at, .. } => {
                (Code::AlreadyAnswered, None, Some(json!({ "by": by, "at": at })))
            }
            StoreError::NotWaiting { status, .. } => (Code::NotWaiting, None, Some(json!({ "status": status }))),
            StoreError::Running { runs, .. } => (
                Code::Running,
                Some("wait for its runs, or cancel them"),
                Some(json!({ "runs": runs.iter().map(ToString::to_string).collect::<Vec<_>>() })),
            ),
            StoreError::NotFree { .. } => (Code::Running, None, None),
            StoreError::StaleEpoch { .. } | StoreError::Transition { .. } | StoreError::Conflict { .. } => {
                (Code::Conflict, None, None)
            }
            StoreError::Copy { project, registered, .. } => (
                Code::Conflict,
                Some("if it is a copy, give it an id of its own with `workflow-code init DIR --new-id`"),
                Some(json!({ "project": project, "path": registered })),
            ),
            StoreError::TooNew { .. } => (Code::StoreTooNew, Some("update Workflow Code"), None),
            StoreError::Full { .. } => (Code::DiskFull, Some("make room on that disk; what is recorded is kept"), None),
            StoreError::ReadOnly { .. } | StoreError::SymbolicLink { .. } => (Code::Permission, None, None),
            StoreError::File { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                (Code::Permission, None, None)
            }
            StoreError::TooLarge { .. } | StoreError::Unstorable { .. } => (Code::InvalidInput, None, None),
            _ => (Code::StoreUnavailable, Some("see `workflow-code doctor`"), None),
        };
        Self { code, message, detail, hint: hint.map(str::to_owned) }
    }
}

impl From<ClientsError> for ApiError {
    fn from(error: ClientsError) -> Self {
        use ApiErrorCode as Code;
        let message = with_causes(&error);
        let code = match &error {
            ClientsError::Key { .. } | ClientsError::Text { .. } | ClientsError::SecretName { .. } => {
                Code::InvalidInput
            }
            ClientsError::ByHand { .. } | ClientsError::NoFile { .. } => Code::Unsupported,
            ClientsError::Changed { .. } => Code::Conflict,
            ClientsError::NoEntry { .. } | ClientsError::NotOurs { .. } => Code::NotFound,
            ClientsError::Read { source, .. } | ClientsError::Write { source, .. } => match source.kind() {
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => Code::Permission,
                std::io::ErrorKind::StorageFull => Code::DiskFull,
                _ => Code::ClientFile,
            },
            ClientsError::NotRegular { .. }
            | ClientsError::TooLarge { .. }
            | ClientsError::Dangling { .. }
            | ClientsError::OutsideProject { .. }
            | ClientsError::NotText { .. }
            | ClientsError::Content { .. }
            | ClientsError::Unsafe { .. }
            | ClientsError::Ledger { .. } => Code::ClientFile,
        };
        let line = match &error {
            ClientsError::NotText { line, .. } | ClientsError::Content { line, .. } => Some(json!({ "line": line })),
            _ => None,
        };
        Self { code, message, detail: line, hint: None }
    }
}
