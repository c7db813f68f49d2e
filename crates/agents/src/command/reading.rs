//! What is taken from a program's output.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::Usage;

/// Lines with a bracket at their beginning that may come before the value of an output.
const GREETINGS: usize = 20;

/// The form of a program's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// The result itself.
    #[default]
    Text,
    /// One JSON value.
    Json,
    /// JSON values, one a line; other lines mean nothing.
    Lines,
}

/// What is taken from one JSON value of the output. Paths are JSON pointers; a part `*` stands for every key.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reading {
    /// Only from values that have these at these places.
    #[serde(default)]
    pub when: BTreeMap<String, Value>,
    /// The result's text; the last one found counts.
    #[serde(default)]
    pub text: Option<String>,
    /// A piece of the result's text, which follows those before.
    #[serde(default)]
    pub piece: Option<String>,
    /// The structured result.
    #[serde(default)]
    pub structured: Option<String>,
    /// Why it failed, if it did.
    #[serde(default)]
    pub failure: Option<String>,
    /// Tokens it read; those of several values are added.
    #[serde(default)]
    pub input_tokens: Option<String>,
    /// Tokens it wrote, in the same way.
    #[serde(default)]
    pub output_tokens: Option<String>,
}

/// What was found in an output.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) text: Option<String>,
    pub(super) structured: Option<Value>,
    pub(super) failure: Option<String>,
    pub(super) usage: Usage,
}

/// Reads an output.
pub(super) fn read(format: Format, readings: &[Reading], output: &str) -> Found {
    let mut found = Found::default();
    match format {
        Format::Text => found.text = Some(output.trim_end_matches(['\n', '\r']).to_owned()),
        Format::Json => {
            // Some programs greet before they answer, and not all greetings are free of brackets.
            let value = json_of(output);
            take(readings, value, &mut found);
        }
        Format::Lines => {
            for line in output.lines() {
                take(readings, line, &mut found);
            }
        }
    }
    found
}

/// Finds a failure in an output that is not the place for results: standard error.
pub(super) fn failure(format: Format, readings: &[Reading], output: &str) -> Option<String> {
    read(format, readings, output).failure
}

/// The part of an output that is its JSON value: from a line that begins with a bracket.
fn json_of(output: &str) -> &str {
    let mut start = 0;
    let mut tried = 0;
    for line in output.split_inclusive('\n') {
        if line.trim_start().starts_with(['{', '[']) && tried < GREETINGS {
            tried += 1;
            let rest = &output[start..];
            if model::within_depth(rest.as_bytes(), model::Limits::JSON_DEPTH)
                && serde_json::from_str::<serde::de::IgnoredAny>(rest.trim()).is_ok()
            {
                return rest;
            }
        }
        start += line.len();
    }
    output
}

fn take(readings: &[Reading], text: &str, found: &mut Found) {
    if !model::within_depth(text.as_bytes(), model::Limits::JSON_DEPTH) {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(text.trim()) else { return };
    for reading in readings {
        if !reading.when.iter().all(|(path, wanted)| value.pointer(path) == Some(wanted)) {
            continue;
        }
        let at = |path: &Option<String>| path.as_deref().and_then(|path| value.pointer(path));
        if let Some(text) = at(&reading.text).and_then(Value::as_str) {
            found.text = Some(text.to_owned());
        }
        if let Some(piece) = at(&reading.piece).and_then(Value::as_str) {
            found.text.get_or_insert_default().push_str(piece);
        }
        if let Some(structured) = at(&reading.structured).filter(|value| !value.is_null()) {
            found.structured = Some(structured.clone());
            found.text.get_or_insert_default();
        }
        if let Some(failure) = at(&reading.failure) {
            found.failure = Some(failure.as_str().map_or_else(|| failure.to_string(), str::to_owned));
        }
        let tokens = |path: &Option<String>| {
            let parts: Vec<&str> = path.as_deref()?.split('/').skip(1).collect();
            sum(&value, &parts)
        };
        found.usage = found
            .usage
            .plus(Usage { input_tokens: tokens(&reading.input_tokens), output_tokens: tokens(&reading.output_tokens) });
    }
}

/// Adds up the whole numbers at a path.
fn sum(value: &Value, parts: &[&str]) -> Option<u64> {
    match parts.split_first() {
        None => value.as_u64(),
        Some((&"*", rest)) => {
            let each: Vec<&Value> = match value {
                Value::Object(map) => map.values().collect(),
                Value::Array(items) => items.iter().collect(),
                _ => Vec::new(),
            };
            each.into_iter().filter_map(|part| sum(part, rest)).reduce(u64::saturating_add)
        }
        Some((part, rest)) => sum(value.get(part)?, rest),
    }
}
