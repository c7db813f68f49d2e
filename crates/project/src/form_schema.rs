//! A form as an MCP elicitation: the flat schema that clients render, and the way back from what they answer.
//!
//! The protocol's forms know texts, numbers, booleans and choices of texts. Whatever else a field is (a choice of
//! numbers, a list for a client too old for lists) is sent in those terms and folded back into the field's own.

use model::{Form, Param, ParamType};
use serde_json::{Map, Value};

use crate::schema::{hint, option_titles};
use crate::value::number;
use crate::words::{clean, cut_at_sentence, sentences, title_from_id};

/// What a peer's forms can show; it follows from the protocol version it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormEra {
    /// Before 2025-11-25: plain `enum`, no lists, defaults for booleans only.
    Plain,
    /// 2025-11-25 and later: options with titles, lists of options, defaults.
    Titled,
}

impl FormEra {
    /// Returns what a peer of this protocol version can show. Versions are dates and compare as text.
    #[must_use]
    pub fn of_version(version: &str) -> Self {
        if version >= "2025-11-25" { Self::Titled } else { Self::Plain }
    }
}

/// Options of one list that an older peer is asked as booleans; more would be no form any more.
pub const MOST_FOLDED: usize = 12;

/// Why a form cannot be asked through a client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the field `{field}` {reason}")]
pub struct NotElicitable {
    /// The first such field.
    pub field: String,
    /// Why, as the rest of the sentence.
    pub reason: &'static str,
}

/// A form in the terms of a peer.
#[derive(Debug, Clone, PartialEq)]
pub struct FormSchema {
    /// The `requestedSchema`: a flat object, its properties in declared order.
    pub schema: Value,
    folds: Vec<Fold>,
}

#[derive(Debug, Clone, PartialEq)]
enum Fold {
    /// A list that was asked as one boolean for each option: `(key, value)`.
    Booleans { field: String, options: Vec<(String, Value)> },
    /// A choice of numbers that was asked as texts.
    Numbers { field: String, options: Vec<(String, Value)> },
}

/// Tells whether a form can be asked through a client of this era at all.
///
/// # Errors
///
/// The first field that cannot: a file, a secret (the protocol forbids to ask for one), a list without fixed options, a
/// long list for an older peer.
pub fn check_elicitable(form: &Form, era: FormEra) -> Result<(), NotElicitable> {
    for field in &form.fields {
        let reason = match field.kind {
            ParamType::File => Some("is a file, which only the window or the terminal can give"),
            ParamType::Secret => Some("is a secret, which is never asked through a client"),
            ParamType::Json => Some("takes any JSON value, which no form can ask for"),
            ParamType::String
            | ParamType::Positional
            | ParamType::Select
            | ParamType::Number
            | ParamType::Integer
            | ParamType::Boolean
            | ParamType::Checkboxes
            | ParamType::Date
            | ParamType::DateTime
            | ParamType::Time => match field.multiple {
                true if field.options.is_empty() => Some("is a list without fixed options, which no form can ask for"),
                true if era == FormEra::Plain && field.options.len() > MOST_FOLDED => {
                    Some("is a list of more options than this client's forms can show")
                }
                true | false => None,
            },
        };
        if let Some(reason) = reason {
            return Err(NotElicitable { field: field.name.clone(), reason });
        }
    }
    Ok(())
}

/// Writes a form in the terms of a peer.
///
/// # Errors
///
/// As [`check_elicitable`].
pub fn form_schema(form: &Form, era: FormEra) -> Result<FormSchema, NotElicitable> {
    check_elicitable(form, era)?;
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut folds = Vec::new();
    for field in &form.fields {
        if field.multiple && era == FormEra::Plain {
            folds.push(fold_into_booleans(form, field, &mut properties));
            continue;
        }
        if field.options.iter().any(|option| option.value.is_number()) {
            let options = field.options.iter().map(|option| (option.value.to_string(), option.value.clone()));
            folds.push(Fold::Numbers { field: field.name.clone(), options: options.collect() });
        }
        properties.insert(field.name.clone(), property(field, era));
        if field.required {
            required.push(Value::from(field.name.as_str()));
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    Ok(FormSchema { schema: schema.into(), folds })
}

impl FormSchema {
    /// Turns what a client answered into the form's own terms, to be checked by [`crate::check::check_answer`]. What does
    /// not fit is left as it came, for the check to name.
    #[must_use]
    pub fn fold_back(&self, content: &Value) -> Value {
        let Some(given) = content.as_object() else { return content.clone() };
        let mut folded = given.clone();
        for fold in &self.folds {
            match fold {
                Fold::Booleans { field, options } => {
                    let answered = options.iter().any(|(key, _)| given.contains_key(key));
                    let booleans = options.iter().all(|(key, _)| given.get(key).is_none_or(Value::is_boolean));
                    if !answered || !booleans {
                        continue;
                    }
                    let mut chosen = Vec::new();
                    for (key, value) in options {
                        if folded.shift_remove(key) == Some(Value::Bool(true)) {
                            chosen.push(value.clone());
                        }
                    }
                    folded.insert(field.clone(), chosen.into());
                }
                Fold::Numbers { field, options } => {
                    let back = |value: &Value| {
                        let option = options.iter().find(|(text, _)| value.as_str() == Some(text));
                        option.map_or_else(|| value.clone(), |(_, number)| number.clone())
                    };
                    if let Some(value) = folded.get_mut(field) {
                        *value = match &*value {
                            Value::Array(items) => items.iter().map(back).collect(),
                            other => back(other),
                        };
                    }
                }
            }
        }
        folded.into()
    }
}

fn fold_into_booleans(form: &Form, field: &Param, properties: &mut Map<String, Value>) -> Fold {
    let heading = field.title.as_deref().map_or_else(|| title_from_id(&field.name), clean);
    let mut options = Vec::new();
    for (index, option) in field.options.iter().enumerate() {
        let mut key = format!("{}.{}", field.name, index + 1);
        while form.fields.iter().any(|other| other.name == key) || properties.contains_key(&key) {
            key.push('_');
        }
        let shown = option.title.as_deref().map_or_else(|| text_of(&option.value), clean);
        let mut property = Map::new();
        property.insert("type".into(), "boolean".into());
        property.insert("title".into(), format!("{heading}: {shown}").into());
        if let (0, Some(description)) = (index, &field.description) {
            property.insert("description".into(), clean(description).into());
        }
        let chosen = field.default.as_ref().and_then(Value::as_array).is_some_and(|all| all.contains(&option.value));
        property.insert("default".into(), chosen.into());
        properties.insert(key.clone(), property.into());
        options.push((key, option.value.clone()));
    }
    Fold::Booleans { field: field.name.clone(), options }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn property(field: &Param, era: FormEra) -> Value {
    let mut property = Map::new();
    let is_choice = !field.options.is_empty();
    let kind = match field.kind {
        _ if field.multiple => "array",
        _ if is_choice => "string",
        ParamType::Number => "number",
        ParamType::Integer => "integer",
        ParamType::Boolean => "boolean",
        ParamType::String
        | ParamType::Positional
        | ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Date
        | ParamType::DateTime
        | ParamType::Time
        | ParamType::File
        | ParamType::Secret
        | ParamType::Json => "string",
    };
    property.insert("type".into(), kind.into());
    if let Some(title) = &field.title {
        property.insert("title".into(), clean(title).into());
    }
    let titles_shown = era == FormEra::Titled && field.options.iter().any(|option| option.title.is_some());
    let description = describe(field, titles_shown);
    if !description.is_empty() {
        property.insert("description".into(), description.into());
    }
    if is_choice {
        let texts: Vec<Value> = field.options.iter().map(|option| text_of(&option.value).into()).collect();
        let titled: Vec<Value> = field
            .options
            .iter()
            .map(|option| {
                let text = text_of(&option.value);
                let title = option.title.as_deref().map_or_else(|| text.clone(), clean);
                serde_json::json!({ "const": text, "title": title })
            })
            .collect();
        match (field.multiple, titles_shown) {
            (true, true) => property.insert("items".into(), serde_json::json!({ "anyOf": titled })),
            (true, false) => property.insert("items".into(), serde_json::json!({ "type": "string", "enum": texts })),
            (false, true) => property.insert("oneOf".into(), titled.into()),
            (false, false) => property.insert("enum".into(), texts.into()),
        };
    } else {
        let format = match field.kind {
            ParamType::Date => Some("date"),
            ParamType::DateTime => Some("date-time"),
            // The only other formats that the protocol's forms have.
            ParamType::String => field.format.as_deref().filter(|format| matches!(*format, "email" | "uri")),
            ParamType::Positional
            | ParamType::Select
            | ParamType::Number
            | ParamType::Integer
            | ParamType::Boolean
            | ParamType::Checkboxes
            | ParamType::Time
            | ParamType::File
            | ParamType::Secret
            | ParamType::Json => None,
        };
        property.extend(format.map(|format| ("format".into(), format.into())));
        property.extend(field.minimum.map(|least| ("minimum".into(), number(least))));
        property.extend(field.maximum.map(|most| ("maximum".into(), number(most))));
        property.extend(field.min_length.map(|least| ("minLength".into(), least.into())));
        property.extend(field.max_length.map(|most| ("maxLength".into(), most.into())));
    }
    if let Some(default) = &field.default
        && (era == FormEra::Titled || default.is_boolean())
    {
        let default = match default {
            Value::Number(_) if is_choice => text_of(default).into(),
            Value::Array(items) => items.iter().map(|item| Value::from(text_of(item))).collect(),
            other => other.clone(),
        };
        property.insert("default".into(), default);
    }
    property.into()
}

fn describe(field: &Param, titles_shown: bool) -> String {
    let mut parts: Vec<String> = field.description.iter().map(|text| clean(text)).collect();
    parts.extend(hint(field));
    if !titles_shown {
        let titles = option_titles(field);
        if !titles.is_empty() {
            parts.push(format!("Options: {}", titles.join("; ")));
        }
    }
    // The protocol's forms have no pattern; a person should still know it before an answer is refused.
    if let Some(pattern) = &field.pattern {
        parts.push(format!("Must match `{}`", clean(pattern)));
    }
    cut_at_sentence(&sentences(&parts), crate::schema::DESCRIPTION_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check_answer;
    use crate::params::read_form;
    use rstest::rstest;
    use serde_json::json;

    fn form(fields: &Value) -> Form {
        read_form(&json!({"title": "T", "fields": fields})).unwrap()
    }

    #[test]
    fn plain_fields_are_sent_as_they_are_in_their_order() {
        let form = form(&json!({"name": {"type": "string", "required": true, "description": "A name"},
            "loud": {"type": "boolean", "default": false}, "n": {"type": "integer", "minimum": 1, "maximum": 5},
            "day": {"type": "date"}, "mail": {"type": "string", "format": "email"}, "tone": {"type": "select", "options": ["a", "b"]}}));
        for era in [FormEra::Plain, FormEra::Titled] {
            let schema = form_schema(&form, era).unwrap().schema;
            assert_eq!(
                schema.to_string(),
                json!({"type": "object", "properties": {
                    "name": {"type": "string", "description": "A name"},
                    "loud": {"type": "boolean", "default": false},
                    "n": {"type": "integer", "minimum": 1, "maximum": 5},
                    "day": {"type": "string", "description": "A date, YYYY-MM-DD", "format": "date"},
                    "mail": {"type": "string", "format": "email"},
                    "tone": {"type": "string", "enum": ["a", "b"]}},
                    "required": ["name"]})
                .to_string()
            );
        }
    }

    #[test]
    fn titles_of_options_go_where_the_peer_shows_them() {
        let form =
            form(&json!({"one": {"type": "select", "options": [{"value": "a", "title": "Anna"}, "b"], "default": "b"},
            "many": {"type": "checkboxes", "options": [{"value": "a", "title": "Anna"}, "b"], "default": ["a"]},
            "bare": {"type": "checkboxes", "options": ["x"]}}));
        let schema = form_schema(&form, FormEra::Titled).unwrap().schema;
        let titled = json!([{"const": "a", "title": "Anna"}, {"const": "b", "title": "b"}]);
        assert_eq!(
            schema["properties"],
            json!({"one": {"type": "string", "oneOf": titled, "default": "b"},
                "many": {"type": "array", "items": {"anyOf": titled}, "default": ["a"]},
                "bare": {"type": "array", "items": {"type": "string", "enum": ["x"]}}})
        );
        let schema = form_schema(&form, FormEra::Plain).unwrap().schema;
        assert_eq!(
            schema["properties"],
            json!({"one": {"type": "string", "description": "Options: a = Anna", "enum": ["a", "b"]},
                "many.1": {"type": "boolean", "title": "Many: Anna", "default": true},
                "many.2": {"type": "boolean", "title": "Many: b", "default": false},
                "bare.1": {"type": "boolean", "title": "Bare: x", "default": false}})
        );
    }

    #[test]
    fn booleans_are_folded_back_into_the_list() {
        let form = form(
            &json!({"parts": {"type": "checkboxes", "options": ["x", "y", "z"], "required": true, "description": "Which"},
            "parts.1": {"type": "string"}}),
        );
        let schema = form_schema(&form, FormEra::Plain).unwrap();
        let keys: Vec<_> = schema.schema["properties"].as_object().unwrap().keys().cloned().collect();
        // A field that has that name already keeps it.
        assert_eq!(keys, ["parts.1_", "parts.2", "parts.3", "parts.1"]);
        let folded = schema.fold_back(&json!({"parts.1_": true, "parts.2": false, "parts.3": true, "parts.1": "t"}));
        assert_eq!(folded, json!({"parts.1": "t", "parts": ["x", "z"]}));
        assert!(check_answer(&form, &folded).is_ok());
        assert_eq!(schema.fold_back(&json!({"parts.2": false}))["parts"], json!([]));
        // Nothing answered, or nonsense: left for the check to name.
        assert_eq!(schema.fold_back(&json!({})), json!({}));
        assert_eq!(schema.fold_back(&json!({"parts.2": "yes"})), json!({"parts.2": "yes"}));
        assert_eq!(schema.fold_back(&json!("text")), json!("text"));
    }

    #[test]
    fn choices_of_numbers_travel_as_texts() {
        let form = form(&json!({"n": {"type": "integer", "options": [1, {"value": 2, "title": "Two"}], "default": 1},
            "m": {"type": "number", "options": [0.5, 1], "multiple": true}}));
        let schema = form_schema(&form, FormEra::Titled).unwrap();
        assert_eq!(schema.schema["properties"]["n"]["oneOf"][1], json!({"const": "2", "title": "Two"}));
        assert_eq!(schema.schema["properties"]["n"]["default"], "1");
        assert_eq!(schema.schema["properties"]["m"]["items"], json!({"type": "string", "enum": ["0.5", "1"]}));
        let folded = schema.fold_back(&json!({"n": "2", "m": ["0.5", "1"]}));
        assert_eq!(folded, json!({"n": 2, "m": [0.5, 1]}));
        assert!(check_answer(&form, &folded).is_ok());
        let plain = form_schema(&form, FormEra::Plain).unwrap();
        assert_eq!(plain.fold_back(&json!({"n": "1", "m.1": true, "m.2": false})), json!({"n": 1, "m": [0.5]}));
    }

    #[rstest]
    #[case(json!({"type": "file"}), FormEra::Titled, "is a file")]
    #[case(json!({"type": "secret"}), FormEra::Titled, "is a secret")]
    #[case(json!({"type": "string", "multiple": true}), FormEra::Titled, "without fixed options")]
    #[case(json!({"type": "checkboxes"}), FormEra::Titled, "without fixed options")]
    #[case(json!({"type": "checkboxes", "options": (0..13).map(|n| n.to_string()).collect::<Vec<_>>()}), FormEra::Plain, "more options")]
    fn some_forms_are_never_asked_through_a_client(#[case] field: Value, #[case] era: FormEra, #[case] words: &str) {
        let error = form_schema(&form(&json!({"ok": "string", "x": field})), era).unwrap_err();
        assert!(error.to_string().contains(words) && error.field == "x", "{error}");
    }

    #[test]
    fn twelve_options_are_folded_and_any_number_listed() {
        let options = |count: usize| json!({"x": {"type": "checkboxes", "options": (0..count).map(|n| n.to_string()).collect::<Vec<_>>()}});
        assert!(form_schema(&form(&options(12)), FormEra::Plain).is_ok());
        assert!(form_schema(&form(&options(200)), FormEra::Titled).is_ok());
    }

    #[rstest]
    #[case("2024-11-05", FormEra::Plain)]
    #[case("2025-06-18", FormEra::Plain)]
    #[case("2025-11-25", FormEra::Titled)]
    #[case("2026-07-28", FormEra::Titled)]
    fn eras(#[case] version: &str, #[case] era: FormEra) {
        assert_eq!(FormEra::of_version(version), era);
    }
}
