//! Checks files against JSON Schemas.
//!
//! A schema is read by the newest draft unless it names another one; `format` is not enforced; nothing is fetched.

use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

use crate::files;
use crate::yaml;

/// A data file's size: 16 MiB.
const DATA_BYTES: u64 = 16 * 1024 * 1024;

/// Faults that are listed for one file.
const MOST_LISTED: usize = 10;

/// Makes a schema ready for use.
///
/// # Errors
///
/// Says why it is no schema.
pub fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options().should_validate_formats(false).build(schema).map_err(|error| error.to_string())
}

/// Reads a file as YAML, which JSON is a part of, as JSON where it is that.
///
/// # Errors
///
/// Says why it cannot be read.
pub fn read_data(path: &Path) -> Result<Value, String> {
    let text = files::read_text(path, DATA_BYTES).map_err(|error| model::with_causes(&error))?;
    // Plain JSON is the usual case, and much the faster reader's.
    if let Ok(value) = serde_json::from_str(&text) {
        return Ok(value);
    }
    match yaml::parse(&text) {
        Ok(node) => Ok(node.map_or(Value::Null, |node| node.to_json())),
        Err(error) => Err(format!("cannot be parsed: {error}")),
    }
}

/// Checks a file. `None`: it fits.
#[must_use]
pub fn check_file(path: &Path, validator: &Validator) -> Option<String> {
    let value = match read_data(path) {
        Ok(value) => value,
        Err(reason) => return Some(reason),
    };
    let mut reasons: Vec<String> = validator
        .iter_errors(&value)
        .take(MOST_LISTED + 1)
        .map(|error| {
            let at = error.instance_path().to_string();
            let message: String = error.to_string().chars().take(500).collect();
            if at.is_empty() { message } else { format!("at `{at}`: {message}") }
        })
        .collect();
    if reasons.is_empty() {
        return None;
    }
    if reasons.len() > MOST_LISTED {
        reasons.truncate(MOST_LISTED);
        reasons.push("and more".into());
    }
    Some(reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(content: &[u8], schema: &Value) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data.yml");
        std::fs::write(&path, content).expect("written");
        check_file(&path, &compile(schema).expect("a schema"))
    }

    #[test]
    fn dates_formats_and_encodings() {
        let text = json!({"type": "object", "properties": {"day": {"type": "string"}}});
        assert!(check(b"day: 2026-11-30", &text).is_some_and(|reason| reason.contains("quote")));
        assert_eq!(check(b"day: '2026-11-30'", &text), None);
        let format = json!({"properties": {"day": {"format": "date"}}});
        assert_eq!(check(br#"{"day": "not a day"}"#, &format), None);
        assert!(check(b"caf\xe9", &text).is_some_and(|reason| reason.contains("UTF-8")));
        assert!(check(b"{oops: [", &text).is_some_and(|reason| reason.contains("parsed")));
    }

    #[test]
    fn a_schema_that_is_none_is_refused_and_nothing_is_fetched() {
        assert!(compile(&json!({"type": 7})).is_err());
        assert!(compile(&json!({"$ref": "https://example.com/schema.json"})).is_err());
        assert!(compile(&json!({"$ref": "file:///etc/passwd"})).is_err());
    }
}
