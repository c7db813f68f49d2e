//! JSON from outside: a byte-order mark is tolerated, nesting is bounded, and a key given twice is noticed.
//!
//! Of two equal keys the last one counts, as everywhere else in JSON, but the reader tells where it happened, since an
//! entrypoint that silently vanishes is the kind of fault nobody finds.

use std::cell::RefCell;
use std::fmt;

use model::Limits;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A text that is no JSON we take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct JsonError {
    /// What is wrong, without the place.
    pub message: String,
    /// The line, counted from 1; 0 when no place is known.
    pub line: usize,
    /// The column in bytes, counted from 1.
    pub column: usize,
}

/// A JSON value and the keys that stood twice in one object of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadJson {
    /// The value; of equal keys the last one.
    pub value: Value,
    /// The path of each key that was given again, outermost first.
    pub duplicates: Vec<Vec<String>>,
}

/// The most duplicates that are told; a hostile file may have a million.
const MOST_DUPLICATES: usize = 100;

/// Reads one JSON value nested at most [`Limits::JSON_DEPTH`] levels.
///
/// # Errors
///
/// What is no JSON (with line and column), is nested deeper, or is no UTF-8.
pub fn parse(bytes: &[u8]) -> Result<ReadJson, JsonError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        JsonError { message: "the text is not UTF-8".into(), line, column }
    })?;
    let reader = Reader { path: RefCell::default(), duplicates: RefCell::default() };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Seed { reader: &reader, depth: 0 }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| {
            let place = format!(" at line {} column {}", error.line(), error.column());
            let message = error.to_string();
            JsonError {
                message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
                line: error.line(),
                column: error.column(),
            }
        })?;
    Ok(ReadJson { value, duplicates: reader.duplicates.into_inner() })
}

/// Tells whether a value is nested at most `most` levels (a plain value is nested 0 levels). Never recurses.
#[must_use]
pub fn within_depth(value: &Value, most: usize) -> bool {
    let mut open = vec![(value, 0_usize)];
    while let Some((value, depth)) = open.pop() {
        let depth = if matches!(value, Value::Array(_) | Value::Object(_)) { depth + 1 } else { depth };
        if depth > most {
            return false;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

/// Writes a value for an error message: compact JSON, at most 60 characters of it, no control characters.
#[must_use]
pub fn short(value: &Value) -> String {
    // Only as much is written as will be shown: the value may be megabytes.
    let text = match value {
        Value::String(text) => {
            let head: String = text.chars().take(61).collect();
            Value::String(head).to_string()
        }
        Value::Array(items) => return format!("a list of {}", items.len()),
        Value::Object(members) => return format!("an object with {} keys", members.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    let safe = crate::words::clean(&text);
    match safe.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &safe[..end]),
        None => safe,
    }
}

struct Reader {
    path: RefCell<Vec<String>>,
    duplicates: RefCell<Vec<Vec<String>>>,
}

#[derive(Clone, Copy)]
struct Seed<'a> {
    reader: &'a Reader,
    depth: usize,
}

impl Seed<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > Limits::JSON_DEPTH {
            return Err(E::custom(format_args!("nested more than {} levels", Limits::JSON_DEPTH)));
        }
        Ok(Self { depth, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(seed)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut members = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            self.reader.path.borrow_mut().push(key.clone());
            let value = access.next_value_seed(seed)?;
            if members.insert(key, value).is_some() {
                let mut duplicates = self.reader.duplicates.borrow_mut();
                if duplicates.len() < MOST_DUPLICATES {
                    duplicates.push(self.reader.path.borrow().clone());
                }
            }
            self.reader.path.borrow_mut().pop();
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn nesting_ends_at_the_limit() {
        assert!(parse(nested(100).as_bytes()).is_ok());
        let error = parse(nested(101).as_bytes()).unwrap_err();
        assert_eq!(error.message, "nested more than 100 levels");
        // Far beyond any stack.
        assert!(parse("[".repeat(500_000).as_bytes()).is_err());
    }

    #[test]
    fn depth_of_values_is_counted_the_same() {
        let value = parse(nested(100).as_bytes()).unwrap().value;
        assert!(within_depth(&value, 100));
        assert!(!within_depth(&value, 99));
        assert!(within_depth(&Value::from(1), 0));
    }

    #[test]
    fn keys_given_twice_are_told_with_their_path() {
        let read = parse(br#"{"a": {"x": 1, "y": 2, "x": 3}, "b": [{"k": 1, "k": 2}], "a": 4}"#).unwrap();
        assert_eq!(read.value["a"], 4);
        assert_eq!(read.duplicates, [vec!["a".to_owned(), "x".into()], vec!["b".into(), "k".into()], vec!["a".into()]]);
    }

    #[rstest]
    #[case::comma(b"{\n  \"a\": 1,\n}", 3, 1)]
    #[case::two_values(b"{} {}", 1, 4)]
    #[case::latin(b"{\n\"a\": \"\xe9\"}", 2, 7)]
    #[case::empty(b"", 1, 0)]
    fn faults_have_a_place(#[case] text: &[u8], #[case] line: usize, #[case] column: usize) {
        let error = parse(text).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{error}");
        assert!(!error.message.contains("line "), "{error}");
    }

    #[test]
    fn a_byte_order_mark_is_skipped_and_order_is_kept() {
        let read = parse(b"\xEF\xBB\xBF{\"b\": 1, \"a\": 2.5, \"c\": -3}").unwrap();
        assert_eq!(read.value.to_string(), r#"{"b":1,"a":2.5,"c":-3}"#);
    }

    #[test]
    fn values_are_shown_short_and_harmless() {
        assert_eq!(short(&Value::from("x".repeat(100))).chars().count(), 61);
        assert_eq!(short(&Value::from("a\u{202e}b\u{7}")), "\"ab\\u0007\"");
        assert_eq!(short(&serde_json::json!([1, 2])), "a list of 2");
        assert_eq!(short(&Value::Null), "null");
    }
}
