//! The input schema of an MCP tool: the part of JSON Schema that every client and model API takes. It is a hint; the
//! rules are enforced in [`mod@crate::check`].
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
    let own = entrypoint.description.as_deref().map(clean);
    let whole = match (&entrypoint.source, own) {
        // Nobody can write a script without knowing what is in it.
        (EntrypointSource::Dynamic, Some(own)) => format!("{own}\n{}", crate::dynamic::CONTRACT),
        (EntrypointSource::Dynamic, None) => crate::dynamic::CONTRACT.to_owned(),
        (_, own) => own?,
    };
    Some(cut_at_sentence(&whole, DESCRIPTION_BYTES))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Purpose, read_params};
    use proptest::prelude::*;

    fn schema(declarations: &Value) -> Value {
        params_schema(&read_params(declarations, Purpose::Entrypoint).unwrap())
    }

    #[test]
    fn a_described_text_is_that_and_nothing_more() {
        assert_eq!(
            schema(&json!({"name": {"type": "string", "required": true, "description": "Who to greet"}})).to_string(),
            r#"{"type":"object","properties":{"name":{"type":"string","description":"Who to greet"}},"required":["name"],"additionalProperties":false}"#
        );
        assert_eq!(schema(&json!({})), empty_schema());
    }

    #[test]
    fn every_type_has_its_schema() {
        let schema = schema(&json!({
            "topic": {"type": "positional", "required": true},
            "count": {"type": "number", "default": 3, "minimum": 1, "maximum": 9},
            "whole": {"type": "integer", "minimum": 0},
            "deep": {"type": "boolean", "default": false},
            "tags": {"type": "string", "multiple": true, "minLength": 1, "default": ["a"]},
            "parts": {"type": "checkboxes", "options": ["intro", {"value": "body", "title": "The body"}]},
            "tone": {"type": "string", "options": ["plain", "warm"], "default": "plain", "title": "Tone"},
            "day": {"type": "string", "format": "date", "description": "Any day of it"},
            "at": {"type": "datetime"},
            "clock": {"type": "time"},
            "doc": {"type": "file", "description": "The document."},
            "docs": {"type": "file", "multiple": true},
            "scores": {"type": "number", "multiple": true},
            "mail": {"type": "string", "format": "email", "pattern": "@"},
        }));
        assert_eq!(
            schema["properties"],
            json!({
                "topic": {"type": "string", "description": "Topic"},
                "count": {"type": "number", "description": "Count", "minimum": 1, "maximum": 9, "default": 3},
                "whole": {"type": "integer", "description": "Whole", "minimum": 0},
                "deep": {"type": "boolean", "description": "Deep", "default": false},
                "tags": {"type": "array", "description": "Default: \"a\"", "items": {"type": "string", "minLength": 1}},
                "parts": {"type": "array", "description": "Options: body = The body", "items": {"type": "string", "enum": ["intro", "body"]}},
                "tone": {"type": "string", "title": "Tone", "description": "Tone", "enum": ["plain", "warm"], "default": "plain"},
                "day": {"type": "string", "description": "Any day of it. A date, YYYY-MM-DD", "format": "date"},
                "at": {"type": "string", "description": "A date and time, YYYY-MM-DDTHH:MM:SS, with or without an offset", "format": "date-time"},
                "clock": {"type": "string", "description": "A time of day, HH:MM or HH:MM:SS"},
                "doc": {"type": "string", "description": "The document. Absolute path of a file on this machine, at most 50 MB"},
                "docs": {"type": "array", "description": "Absolute paths of files on this machine, each at most 50 MB", "items": {"type": "string"}},
                "scores": {"type": "array", "description": "Scores", "items": {"type": "number"}},
                "mail": {"type": "string", "description": "Format: email", "pattern": "@"}
            })
        );
        let keys: Vec<_> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "topic", "count", "whole", "deep", "tags", "parts", "tone", "day", "at", "clock", "doc", "docs",
                "scores", "mail"
            ]
        );
        assert_eq!(schema["required"], json!(["topic"]));
    }

    #[test]
    fn args_of_a_script_have_no_type() {
        let schema = params_schema(&[crate::merge::args_param()]);
        let keys: Vec<_> = schema["properties"]["args"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["description"]);
        assert_eq!(schema.get("required"), None);
    }

    /// What strict clients and model APIs refuse, looked for at every level.
    fn lint(schema: &Value, root: bool) {
        let object = schema.as_object().unwrap();
        for key in object.keys() {
            assert!(!["$schema", "$ref", "oneOf", "anyOf", "allOf", "not", "const"].contains(&key.as_str()), "{key}");
        }
        if let Some(kind) = object.get("type") {
            assert!(kind.is_string(), "{kind}");
            assert_eq!(kind == "array", object.contains_key("items"));
        }
        if let Some(items) = object.get("items") {
            assert!(!object.contains_key("enum") && !object.contains_key("default"));
            lint(items, false);
        }
        assert!(object.get("format").is_none_or(|format| format == "date" || format == "date-time"));
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            for property in properties.values() {
                assert!(
                    property["description"]
                        .as_str()
                        .is_some_and(|text| !text.is_empty() && text.len() <= DESCRIPTION_BYTES)
                );
                lint(property, false);
            }
        }
        if root {
            assert_eq!(object["type"], "object");
            assert_eq!(object["additionalProperties"], false);
        }
    }

    #[test]
    fn the_dynamic_schema_is_as_portable() {
        lint(&crate::dynamic::schema(), true);
    }

    fn declaration() -> impl Strategy<Value = Value> {
        let kinds =
            ["string", "positional", "number", "integer", "boolean", "checkboxes", "date", "datetime", "time", "file"];
        (proptest::sample::select(kinds.to_vec()), any::<[bool; 3]>(), "\\PC{0,20}").prop_map(
            |(kind, [multiple, required, options], text)| {
                let mut declaration =
                    json!({"type": kind, "multiple": multiple, "required": required, "description": text});
                if options && matches!(kind, "string" | "positional" | "checkboxes") {
                    declaration["options"] = json!([{"value": "one", "title": text}, "two"]);
                }
                declaration
            },
        )
    }

    proptest! {
        #[test]
        fn every_schema_is_portable_and_admits_what_the_check_admits(
            declared in proptest::collection::vec(declaration(), 0..6), chosen in any::<[u8; 6]>(),
        ) {
            let declarations: Value =
                declared.iter().enumerate().map(|(index, one)| (format!("p{index}"), one.clone())).collect::<Map<_, _>>().into();
            let params = read_params(&declarations, Purpose::Entrypoint).unwrap();
            let schema = params_schema(&params);
            lint(&schema, true);
            let validator = jsonschema::validator_for(&schema).unwrap();
            let candidates = [json!("one"), json!("2026-01-31"), json!("2026-01-31T10:00:00Z"), json!("10:30"), json!(3), json!(true)];
            let mut input = Map::new();
            for (param, choice) in params.iter().zip(chosen) {
                let value = candidates[usize::from(choice) % candidates.len()].clone();
                input.insert(param.name.clone(), if param.multiple { json!([value]) } else { value });
            }
            let input = Value::from(input);
            if crate::check::check_input(&params, &input).is_ok() {
                prop_assert!(validator.is_valid(&input), "{} {}", schema, input);
            }
        }
    }
}
