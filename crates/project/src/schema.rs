//! The input schema of an MCP tool: the part of JSON Schema that every client and model API takes. It is a hint; the
//! rules are enforced in [`crate::check`].
//!
//! The root is `{type, properties, required?, additionalProperties}` and nothing else: one `oneOf` or `$schema` there
//! and some model APIs refuse the whole request. Options are an `enum` (on the elements of a list), their titles stand
//! in the description. `format` is `date` or `date-time`, and said in words too, since clients strip it.

use model::{Entrypoint, EntrypointSource, Limits, Param, ParamType};
use serde_json::{Map, Value, json};

use crate::value::number;
use crate::words::{clean, cut_at_sentence, sentences, title_from_id};

/// The longest description that reaches every client whole, in bytes.
pub const DESCRIPTION_BYTES: usize = 2_000;

/// Returns the input schema of an entrypoint's tool.
#[must_use]
pub fn input_schema(entrypoint: &Entrypoint) -> Value {
    match entrypoint.source {
        EntrypointSource::Dynamic => crate::dynamic::schema(),
        EntrypointSource::Module { .. } | EntrypointSource::Script { .. } | EntrypointSource::Command { .. } => {
            params_schema(&entrypoint.params)
        }
    }
}

/// Returns an entrypoint's description as clients get it: at most [`DESCRIPTION_BYTES`], cut at a sentence's end.
#[must_use]
pub fn tool_description(entrypoint: &Entrypoint) -> Option<String> {
    entrypoint.description.as_deref().map(|text| cut_at_sentence(&clean(text), DESCRIPTION_BYTES))
}

/// Returns the schema of an input with these parameters.
#[must_use]
pub fn params_schema(params: &[Param]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for param in params {
        properties.insert(param.name.clone(), property(param));
        if param.required {
            required.push(Value::from(param.name.as_str()));
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    schema.into()
}

fn property(param: &Param) -> Value {
    let element = element(param);
    let mut property = Map::new();
    if param.multiple {
        property.insert("type".into(), "array".into());
    } else if let Some(kind) = element.get("type") {
        property.insert("type".into(), kind.clone());
    }
    if let Some(title) = &param.title {
        property.insert("title".into(), clean(title).into());
    }
    property.insert("description".into(), describe(param).into());
    if param.multiple {
        property.insert("items".into(), element.into());
    } else {
        property.extend(element.into_iter().filter(|(key, _)| key != "type"));
        property.extend(param.default.clone().map(|default| ("default".into(), default)));
    }
    property.into()
}

/// The schema of one value: its type and rules, without words.
fn element(param: &Param) -> Map<String, Value> {
    let mut element = Map::new();
    let kind = match param.kind {
        ParamType::String
        | ParamType::Positional
        | ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Secret
        | ParamType::Date
        | ParamType::DateTime
        | ParamType::Time
        | ParamType::File => "string",
        ParamType::Number => "number",
        ParamType::Integer => "integer",
        ParamType::Boolean => "boolean",
        // Any JSON value: no type is the only honest one.
        ParamType::Json => return element,
    };
    element.insert("type".into(), kind.into());
    match param.kind {
        ParamType::Date => {
            element.insert("format".into(), "date".into());
        }
        ParamType::DateTime => {
            element.insert("format".into(), "date-time".into());
        }
        ParamType::String
        | ParamType::Positional
        | ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Secret
        | ParamType::Time
        | ParamType::File
        | ParamType::Number
        | ParamType::Integer
        | ParamType::Boolean
        | ParamType::Json => {}
    }
    if !param.options.is_empty() {
        let values: Vec<Value> = param.options.iter().map(|option| option.value.clone()).collect();
        element.insert("enum".into(), values.into());
    }
    element.extend(param.minimum.map(|least| ("minimum".into(), number(least))));
    element.extend(param.maximum.map(|most| ("maximum".into(), number(most))));
    element.extend(param.min_length.map(|least| ("minLength".into(), least.into())));
    element.extend(param.max_length.map(|most| ("maxLength".into(), most.into())));
    element.extend(param.pattern.clone().map(|pattern| ("pattern".into(), pattern.into())));
    element
}

/// What a parameter is for, and what its schema cannot say or clients will not read.
fn describe(param: &Param) -> String {
    let mut parts: Vec<String> = param.description.iter().map(|text| clean(text)).collect();
    parts.extend(hint(param));
    let titled: Vec<String> = option_titles(param);
    if !titled.is_empty() {
        parts.push(format!("Options: {}", titled.join("; ")));
    }
    if let Some(format) = &param.format {
        parts.push(format!("Format: {}", clean(format)));
    }
    if let (true, Some(Value::Array(default))) = (param.multiple, &param.default) {
        let values: Vec<String> = default.iter().take(30).map(crate::json::short).collect();
        parts.push(format!("Default: {}", if values.is_empty() { "an empty list".into() } else { values.join(", ") }));
    }
    if parts.is_empty() {
        // A description is never missing: strict clients warn of a property without one.
        parts.push(param.title.as_deref().map_or_else(|| title_from_id(&param.name), clean));
    }
    cut_at_sentence(&sentences(&parts), DESCRIPTION_BYTES)
}

/// What kind of value is meant, in words, where a type alone does not say it.
pub(crate) fn hint(param: &Param) -> Option<String> {
    let hint = match (param.kind, param.multiple) {
        (ParamType::Date, false) => "A date, YYYY-MM-DD".into(),
        (ParamType::Date, true) => "Dates, each YYYY-MM-DD".into(),
        (ParamType::DateTime, false) => "A date and time, YYYY-MM-DDTHH:MM:SS, with or without an offset".into(),
        (ParamType::DateTime, true) => "Dates with times, each YYYY-MM-DDTHH:MM:SS, with or without an offset".into(),
        (ParamType::Time, false) => "A time of day, HH:MM or HH:MM:SS".into(),
        (ParamType::Time, true) => "Times of day, each HH:MM or HH:MM:SS".into(),
        (ParamType::File, false) => format!("Absolute path of a file on this machine, at most {}", megabytes()),
        (ParamType::File, true) => format!("Absolute paths of files on this machine, each at most {}", megabytes()),
        (
            ParamType::String
            | ParamType::Positional
            | ParamType::Select
            | ParamType::Checkboxes
            | ParamType::Secret
            | ParamType::Number
            | ParamType::Integer
            | ParamType::Boolean
            | ParamType::Json,
            _,
        ) => return None,
    };
    Some(hint)
}

fn megabytes() -> String {
    format!("{} MB", Limits::FILE_BYTES / 1024 / 1024)
}

/// The options that have a title of their own, `value = title` each.
pub(crate) fn option_titles(param: &Param) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    param
        .options
        .iter()
        .filter_map(|option| option.title.as_ref().map(|title| format!("{} = {}", text(&option.value), clean(title))))
        .collect()
}

/// Returns the schema of a tool without parameters.
#[must_use]
pub fn empty_schema() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}
