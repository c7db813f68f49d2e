//! What an entrypoint takes and what a form asks, as data. Reading, checking and schemas: crate `project`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of a parameter or form field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ParamType {
    /// A text.
    String,
    /// A text that a command line gets without a name, after all options.
    Positional,
    /// One of the options.
    Select,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// Any of the options.
    Checkboxes,
    /// A day, `YYYY-MM-DD`.
    Date,
    /// A moment, RFC 3339, the offset optional.
    DateTime,
    /// A time of day, `HH:MM[:SS]`.
    Time,
    /// A file: an absolute path in a call, a handle inside the run.
    File,
    /// A text that is masked wherever it is shown. Forms only.
    Secret,
    /// Any JSON value. Only `args` of an orchestration script.
    Json,
}

impl ParamType {
    /// Returns the type's name as project files write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Positional => "positional",
            Self::Select => "select",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Checkboxes => "checkboxes",
            Self::Date => "date",
            Self::DateTime => "datetime",
            Self::Time => "time",
            Self::File => "file",
            Self::Secret => "secret",
            Self::Json => "json",
        }
    }
}

/// One of the values a parameter may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ParamOption {
    /// The value itself: a text, or a number for number types.
    #[cfg_attr(feature = "typescript", ts(type = "JsonValue"))]
    pub value: Value,
    /// What a person sees instead of the value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub title: Option<String>,
    /// What a person should know who chooses it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub description: Option<String>,
}

/// A parameter of an entrypoint, or a field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Param {
    /// The key in the input.
    pub name: String,
    /// Its type. `date`, `datetime` and `time` also stand for `string` with that `format`.
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Whether the caller must give it.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub required: bool,
    /// Whether it is a list of that type. Always true for `checkboxes`.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub multiple: bool,
    /// What is taken when nothing is given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional, type = "JsonValue"))]
    pub default: Option<Value>,
    /// A short name for a person.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub title: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub description: Option<String>,
    /// The allowed values, if they are fixed. Empty: anything of the type.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<ParamOption>>"))]
    pub options: Vec<ParamOption>,
    /// The smallest number allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub minimum: Option<f64>,
    /// The largest number allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub maximum: Option<f64>,
    /// The fewest characters allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub min_length: Option<u64>,
    /// The most characters allowed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub max_length: Option<u64>,
    /// A regular expression that must match somewhere in the text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub pattern: Option<String>,
    /// A further format of a `string` that is passed on as declared (`email`, `uri`); checked only where we say so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub format: Option<String>,
}
