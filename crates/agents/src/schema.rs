//! The check of structured results.

use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};

/// How many violations are told at most.
const VIOLATIONS: usize = 10;

/// A schema that values are checked against.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
}

/// A schema that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SchemaError {
    /// It refers to another document. Nothing is fetched.
    #[error("the schema cannot be used: `{0}` leads outside of it, and nothing is fetched")]
    Elsewhere(String),
    /// It refers to a place of its own that there is not.
    #[error("the schema cannot be used: a reference in it leads nowhere")]
    Nowhere,
    /// A part of it is not what JSON Schema 2020-12 has there.
    #[error("the schema cannot be used: {value} at `schema{path}` is not what JSON Schema has there")]
    Invalid {
        /// Where, as a JSON pointer.
        path: String,
        /// What stands there, as JSON, cut.
        value: String,
    },
}

impl SchemaError {
    fn of(error: &jsonschema::ValidationError<'_>) -> Self {
        if matches!(error.kind(), ValidationErrorKind::Referencing(_)) {
            return Self::Nowhere;
        }
        let text = error.instance().to_string();
        let mut value: String = text.chars().take(VALUE_CHARACTERS).collect();
        if value.len() < text.len() {
            value.push('…');
        }
        Self::Invalid { path: error.instance_path().to_string(), value }
    }
}

/// Characters of a part of a schema that an error shows.
const VALUE_CHARACTERS: usize = 60;

/// Finds a reference that leads to another document; those in values that are only compared are none.
fn leads_elsewhere(schema: &Value) -> Option<&str> {
    // A list instead of recursion: a schema may be as deep as JSON may.
    let mut open = vec![schema];
    while let Some(part) = open.pop() {
        match part {
            Value::Object(object) => {
                for (name, value) in object {
                    match (name.as_str(), value) {
                        ("$ref" | "$dynamicRef", Value::String(target)) if !target.starts_with('#') => {
                            return Some(target);
                        }
                        ("const" | "enum" | "default" | "examples", _) => {}
                        (_, value) => open.push(value),
                    }
                }
            }
            Value::Array(list) => open.extend(list),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

impl Schema {
    /// Takes a schema of JSON Schema 2020-12 with references inside itself only, whatever `$schema` says.
    ///
    /// # Errors
    ///
    /// When it is none, or refers to something outside itself.
    pub fn new(schema: &Value) -> Result<Self, SchemaError> {
        let mut schema = schema.clone();
        if let Some(object) = schema.as_object_mut() {
            object.remove("$schema");
        }
        jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .build(&schema)
            .map(|validator| Self { validator })
            .map_err(|error| match leads_elsewhere(&schema) {
                Some(target) => SchemaError::Elsewhere(target.chars().take(VALUE_CHARACTERS).collect()),
                None => SchemaError::of(&error),
            })
    }

    /// Returns what is wrong with a value, a line each; empty when it fits.
    #[must_use]
    pub fn violations(&self, value: &Value) -> Vec<String> {
        self.validator
            .iter_errors(value)
            .take(VIOLATIONS)
            .map(|error| {
                let place = error.instance_path().to_string();
                let mut text: String = error.to_string().chars().take(300).collect();
                if !place.is_empty() {
                    text = format!("{place}: {text}");
                }
                text
            })
            .collect()
    }

    /// The schema as a provider that only knows objects gets it, and whether the value is wrapped as `{"value": …}`.
    #[must_use]
    pub fn for_objects(schema: &Value) -> (Value, bool) {
        let is_object = schema.get("type").is_some_and(|kind| kind == "object") || schema.get("properties").is_some();
        if is_object {
            return (schema.clone(), false);
        }
        let mut wrapped = json!({
            "type": "object", "properties": {"value": schema}, "required": ["value"], "additionalProperties": false
        });
        // References count from the root of the document.
        if let (Some(wrapped), Some(definitions)) = (wrapped.as_object_mut(), schema.get("$defs")) {
            wrapped.insert("$defs".into(), definitions.clone());
        }
        (wrapped, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_keywords_are_checked() {
        let schema = Schema::new(&json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "required": ["tags"], "properties": {"tags": {"type": "array", "maxItems": 1, "items": {"enum": ["a", "b"]}}}}))
        .expect("a schema");
        assert_eq!(schema.violations(&json!({"tags": ["b"], "more": 1})), Vec::<String>::new());
        assert_eq!(schema.violations(&json!({"tags": ["a", "b"]})).len(), 1);
        assert!(schema.violations(&json!({"tags": ["z"]}))[0].starts_with("/tags/0: "));
        assert_eq!(schema.violations(&json!([])).len(), 1);
    }

    #[test]
    fn whole_numbers_may_be_written_as_fractions() {
        let schema = Schema::new(&json!({"type": "integer"})).expect("a schema");
        assert!(schema.violations(&json!(2.0)).is_empty());
        assert!(!schema.violations(&json!(1.5)).is_empty());
    }

    #[test]
    fn nothing_is_fetched() {
        let told = |schema: Value| Schema::new(&schema).map_err(|error| error.to_string()).err().unwrap_or_default();
        let elsewhere = told(json!({"properties": {"a": {"$ref": "https://example.org/schema.json"}}}));
        assert!(elsewhere.contains("`https://example.org/schema.json` leads outside"), "{elsewhere}");
        assert!(told(json!({"$ref": "#/$defs/none"})).ends_with("leads nowhere"));
        let odd = told(json!({"properties": {"a": {"type": 7}}}));
        assert!(odd.contains("7 at `schema/properties/a/type`"), "{odd}");
        assert!(Schema::new(&json!({"const": {"$ref": "https://example.org/"}})).is_ok());
        assert!(Schema::new(&json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}})).is_ok());
    }

    #[test]
    fn other_roots_are_wrapped() {
        let (wrapped, is_wrapped) = Schema::for_objects(&json!({"type": "array"}));
        assert!(is_wrapped);
        assert_eq!(wrapped["properties"]["value"], json!({"type": "array"}));
        assert!(!Schema::for_objects(&json!({"type": "object"})).1);
    }
}
