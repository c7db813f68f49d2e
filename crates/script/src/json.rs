//! JSON as it crosses the border of the engine: bounded depth both ways, a canonical form for fingerprints.

use std::fmt::Write as _;

use model::Limits;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Bytes of one JSON value that leaves a script: 16 MiB, and for the arguments of a host call (a file that is created)
/// [`CALL_BYTES`].
pub(crate) const OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a host call's arguments: enough for the largest file as Base64.
pub(crate) const CALL_BYTES: usize = 72 * 1024 * 1024;

/// A text that is no JSON value we take.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseError {
    /// It is no JSON.
    #[error("not valid JSON: {0}")]
    Syntax(serde_json::Error),
    /// It is nested too deeply.
    #[error("nested more than {} levels deep", Limits::JSON_DEPTH)]
    TooDeep,
}

/// Parses JSON whose nesting is bounded.
pub(crate) fn parse(text: &str) -> Result<Value, ParseError> {
    if text_depth(text) > Limits::JSON_DEPTH {
        return Err(ParseError::TooDeep);
    }
    serde_json::from_str(text).map_err(ParseError::Syntax)
}

/// Counts how deeply a JSON text is nested.
fn text_depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if string => escaped = true,
            b'"' => string = !string,
            b'[' | b'{' if !string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Tells whether a value is nested within [`Limits::JSON_DEPTH`] levels.
pub(crate) fn fits(value: &Value) -> bool {
    fn within(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left > 0 && items.iter().all(|item| within(item, left - 1)),
            Value::Object(map) => left > 0 && map.values().all(|item| within(item, left - 1)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    }
    within(value, Limits::JSON_DEPTH)
}

/// Replaces the escapes of lone surrogates, which JSON writes and no UTF-8 holds, by that of U+FFFD.
pub(crate) fn without_lone_surrogates(mut text: String) -> String {
    // JSON.stringify writes whole pairs as they are, so that an escape from this range always stands alone.
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        let start = at + found;
        let escape = text.as_bytes().get(start..start + 6);
        if escape.is_some_and(|escape| {
            escape[1] == b'u' && escape[2] == b'd' && matches!(escape[3], b'8'..=b'9' | b'a'..=b'f')
        }) {
            text.replace_range(start..start + 6, "\\ufffd");
            at = start + 6;
        } else {
            at = (start + 2).min(text.len());
            while !text.is_char_boundary(at) {
                at += 1;
            }
        }
    }
    text
}

/// Returns the fingerprint of a host call: SHA-256, in hexadecimal, of its kind and its arguments with sorted keys.
///
/// What only names or places an agent (`label`, `phase`, `effort`, `stallMs`) is left out, so that renaming one does
/// not ask for it again.
#[must_use]
pub fn fingerprint(kind: &str, args: &Value) -> String {
    let mut canonical = String::from(kind);
    canonical.push('\n');
    match args {
        Value::Object(map) if kind == "agent" => {
            let kept: serde_json::Map<String, Value> = map
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "label" | "phase" | "effort" | "stallMs"))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            write_canonical(&Value::Object(kept), &mut canonical);
        }
        _ => write_canonical(args, &mut canonical),
    }
    hex(&Sha256::digest(canonical.as_bytes()))
}

/// Returns the SHA-256 of a text in hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(&map[key], out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_all_else_does() {
        let one = fingerprint("exec", &json!({"a": 1, "b": [{"x": 1, "y": 2}]}));
        assert_eq!(one, fingerprint("exec", &json!({"b": [{"y": 2, "x": 1}], "a": 1})));
        assert_ne!(one, fingerprint("http", &json!({"a": 1, "b": [{"x": 1, "y": 2}]})));
        assert_ne!(one, fingerprint("exec", &json!({"a": 1, "b": [{"x": 1, "y": 3}]})));
    }

    #[test]
    fn an_agents_label_is_no_part_of_its_fingerprint() {
        let one = fingerprint("agent", &json!({"prompt": "p", "label": "a", "effort": "high"}));
        assert_eq!(one, fingerprint("agent", &json!({"prompt": "p", "label": "b"})));
        assert_ne!(one, fingerprint("agent", &json!({"prompt": "p", "model": "m"})));
    }

    #[test]
    fn a_hundred_levels_pass_and_one_more_does_not() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&nested(100)).is_ok_and(|value| fits(&value)));
        assert!(matches!(parse(&nested(101)), Err(ParseError::TooDeep)));
        assert!(matches!(parse(&nested(100_000)), Err(ParseError::TooDeep)));
        assert!(parse(&format!("\"{}\"", "[".repeat(1_000))).is_ok(), "brackets in text are no levels");
        let mut deep = json!(1);
        for _ in 0..101 {
            deep = json!([deep]);
        }
        assert!(!fits(&deep));
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        assert_eq!(without_lone_surrogates(r#""a\ud83d\\ud83d\udc00é\n""#.into()), r#""a\ufffd\\ud83d\ufffdé\n""#);
        assert_eq!(without_lone_surrogates("\"\u{1F600}\"".into()), "\"\u{1F600}\"");
        assert_eq!(without_lone_surrogates("\\".into()), "\\");
        assert_eq!(without_lone_surrogates("\\é".into()), "\\é");
    }
}
