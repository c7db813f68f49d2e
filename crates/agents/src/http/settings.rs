//! What a project or a person says of the endpoint.

use serde::Deserialize;
use serde_json::Value;

use crate::Models;

/// How the endpoint takes schemas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SchemaSupport {
    /// As `response_format`.
    #[default]
    Native,
    /// In words, in the prompt.
    Prompted,
    /// Not at all: agents that want a structured result are not started.
    None,
}

/// How the endpoint takes `effort`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Effort {
    /// As `reasoning_effort`.
    Native,
    /// Not at all.
    #[default]
    None,
}

/// An endpoint as a provider. Where it is and what opens it is the saved connection's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpSettings {
    /// The provider's name.
    #[serde(default = "HttpSettings::usual_name")]
    pub name: String,
    /// The model of agents that name none; absent: the server's own choice.
    #[serde(default)]
    pub model: Option<String>,
    /// Names of models.
    #[serde(default)]
    pub models: Models,
    /// How it takes schemas.
    #[serde(default)]
    pub schema: SchemaSupport,
    /// How it takes `effort`.
    #[serde(default)]
    pub effort: Effort,
    /// What every agent is told before its prompt.
    #[serde(default)]
    pub system: Option<String>,
    /// Tokens that one answer may have; absent: the server's own limit.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
}

/// Settings that are none.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// They have another shape.
    #[error("the settings of the provider `http` cannot be read: {0}")]
    Shape(#[from] serde_json::Error),
    /// They are no object.
    #[error("the settings of the provider `http` are no object")]
    NoObject,
}

impl HttpSettings {
    /// The name unless the settings say otherwise.
    pub const NAME: &str = "http";

    fn usual_name() -> String {
        Self::NAME.to_owned()
    }

    /// Reads settings: the object under `http`, which may be empty.
    ///
    /// # Errors
    ///
    /// When a field is unknown or of another type.
    pub fn read(value: &Value) -> Result<Self, SettingsError> {
        // An empty list would be read as settings that say nothing.
        if !value.is_object() {
            return Err(SettingsError::NoObject);
        }
        Ok(serde_json::from_value(value.clone())?)
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            name: Self::usual_name(),
            model: None,
            models: Models::default(),
            schema: SchemaSupport::default(),
            effort: Effort::default(),
            system: None,
            max_output_tokens: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_and_typing_errors_told() {
        assert_eq!(HttpSettings::read(&json!({})).expect("settings"), HttpSettings::default());
        let read =
            HttpSettings::read(&json!({"model": "m", "schema": "prompted", "effort": "native"})).expect("settings");
        assert_eq!((read.schema, read.effort), (SchemaSupport::Prompted, Effort::Native));
        for wrong in [json!({"modle": "m"}), json!({"schema": "json"}), json!([]), json!({"maxOutputTokens": -1})] {
            assert!(HttpSettings::read(&wrong).is_err(), "{wrong}");
        }
    }
}
