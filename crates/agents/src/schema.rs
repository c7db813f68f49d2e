//! The check of structured results.

use serde_json::{Value, json};

/// How many violations are told at most.
const VIOLATIONS: usize = 10;

/// A schema that values are checked against.
#[derive(Debug)]
pub struct Schema {
    validator: jsonschema::Validator,
}

/// A schema that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the schema cannot be used: {0}")]
pub struct SchemaError(String);

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
            .map_err(|error| SchemaError(error.to_string()))
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
        assert!(Schema::new(&json!({"$ref": "https://example.org/schema.json"})).is_err());
        assert!(Schema::new(&json!({"type": 7})).is_err());
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
