//! Placeholder until crates/api is merged.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::problem::Refusal;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiError {
    code: &'static str,
    message: String,
}

impl ApiError {
    pub(crate) fn internal(message: String) -> Self {
        Self { code: "internal", message }
    }
    pub(crate) fn invalid(message: String) -> Self {
        Self { code: "invalid_input", message }
    }
    pub(crate) fn unsupported(message: String) -> Self {
        Self { code: "unsupported", message }
    }
    pub(crate) fn not_found(message: String) -> Self {
        Self { code: "not_found", message }
    }
}

pub(crate) struct Backend {
    data_dir: PathBuf,
}

impl Backend {
    pub(crate) fn open(_arguments: &[String]) -> Result<Self, Refusal> {
        let data_dir = PathBuf::from("/tmp/window-stub");
        std::fs::create_dir_all(&data_dir).map_err(|error| Refusal::of("x", &error))?;
        Ok(Self { data_dir })
    }
    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }
    pub(crate) fn profile(&self) -> &str {
        "default"
    }
    pub(crate) fn at_work(&self) -> usize {
        0
    }
    pub(crate) fn call(&self, name: &str, _request: Value) -> Result<Value, ApiError> {
        Err(ApiError::unsupported(name.to_owned()))
    }
    pub(crate) fn watch(&self) -> Result<(), String> {
        Ok(())
    }
    pub(crate) fn changes(&self, _watch: &mut ()) -> Result<Option<Value>, String> {
        Ok(None)
    }
}
