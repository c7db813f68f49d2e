//! Reading a tool's arguments: the rules are the same for all of them.

use ::board::{BoardError, Fields};
use serde_json::{Map, Value, json};

type Result<T> = std::result::Result<T, BoardError>;

/// Arguments of one call.
pub(crate) struct Arguments<'a>(pub(crate) &'a Map<String, Value>);

pub(crate) fn required(name: &str) -> BoardError {
    BoardError::new("MCP_ARGUMENT_REQUIRED", format!("`{name}` is needed, and must not be blank"))
        .with(json!({ "argument": name }))
}

pub(crate) fn invalid(name: &str, what: &str) -> BoardError {
    BoardError::new("MCP_ARGUMENT_INVALID", format!("`{name}` {what}")).with(json!({ "argument": name }))
}

impl<'a> Arguments<'a> {
    /// A text that must be there, trimmed.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str> {
        self.optional(name).ok_or_else(|| required(name))
    }

    /// A text, trimmed; blank or no text counts as absent.
    pub(crate) fn optional(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
    }

    /// A text as it was sent; no text counts as empty.
    pub(crate) fn body(&self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// A list of texts, trimmed and distinct.
    pub(crate) fn list(&self, name: &str) -> Result<Option<Vec<String>>> {
        let items = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(invalid(name, "must be a list")),
        };
        let mut texts: Vec<String> = Vec::new();
        for item in items {
            let text = item.as_str().map(str::trim).filter(|text| !text.is_empty()).ok_or_else(|| required(name))?;
            if !texts.iter().any(|one| one == text) {
                texts.push(text.to_owned());
            }
        }
        Ok(Some(texts))
    }

    /// A list, empty when absent.
    pub(crate) fn filter(&self, name: &str) -> Result<Vec<String>> {
        Ok(self.list(name)?.unwrap_or_default())
    }

    /// A whole number in a range; numeric text counts.
    pub(crate) fn integer(&self, name: &str, least: i64, most: i64, default: i64) -> Result<i64> {
        let Some(value) = self.0.get(name).filter(|value| !value.is_null()) else { return Ok(default) };
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| {
                number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15).map(|number| {
                    #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
                    let whole = number as i64;
                    whole
                })
            }),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            BoardError::new("MCP_ARGUMENT_INVALID", format!("`{name}` must be a whole number from {least} to {most}"))
                .with(json!({ "argument": name, "value": value }))
        })
    }

    /// As [`Self::integer`], for counts.
    pub(crate) fn count(&self, name: &str, least: i64, most: i64, default: i64) -> Result<usize> {
        self.integer(name, least, most, default).map(|number| usize::try_from(number).unwrap_or(0))
    }

    /// A flag; what is none counts as absent.
    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// An object.
    pub(crate) fn object(&self, name: &str) -> Result<Option<&'a Fields>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => Err(invalid(name, "must be an object")),
        }
    }

    /// Fields of a new record: texts by their names, then lists.
    pub(crate) fn fields(&self, texts: &[&str], lists: &[&str]) -> Result<Fields> {
        let mut fields = Map::new();
        for name in texts {
            if let Some(text) = self.optional(name) {
                fields.insert((*name).to_owned(), json!(text));
            }
        }
        for name in lists {
            if let Some(list) = self.list(name)? {
                fields.insert((*name).to_owned(), json!(list));
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code<T>(result: Result<T>) -> &'static str {
        result.map_or_else(|error| error.code, |_| "accepted")
    }

    #[test]
    fn texts_must_be_there() {
        let map = json!({ "blank": "  ", "number": 5, "text": " x " });
        let arguments = Arguments(map.as_object().expect("an object"));
        for name in ["blank", "number", "missing"] {
            assert_eq!(code(arguments.text(name)), "MCP_ARGUMENT_REQUIRED", "{name}");
        }
        assert_eq!(arguments.text("text").expect("there"), "x");
    }

    #[test]
    fn lists_are_lists() {
        let map = json!({ "text": "card", "blank": ["a", ""], "twice": [" a ", "a", "b"] });
        let arguments = Arguments(map.as_object().expect("an object"));
        assert_eq!(code(arguments.list("text")), "MCP_ARGUMENT_INVALID");
        assert_eq!(code(arguments.list("blank")), "MCP_ARGUMENT_REQUIRED");
        assert_eq!(arguments.filter("twice").expect("a list"), ["a", "b"]);
        assert!(arguments.filter("missing").expect("empty").is_empty());
    }

    #[test]
    fn numbers_may_be_text_and_have_bounds() {
        let map =
            json!({ "text": "3", "half": 1.5, "none": 0, "over": 201, "whole": 2.0, "word": "abc", "huge": 1e300 });
        let arguments = Arguments(map.as_object().expect("an object"));
        assert_eq!(arguments.count("text", 1, 200, 50).expect("a number"), 3);
        assert_eq!(arguments.count("whole", 1, 200, 50).expect("a number"), 2);
        assert_eq!(arguments.count("missing", 1, 200, 50).expect("the default"), 50);
        for name in ["half", "none", "over", "word", "huge"] {
            assert_eq!(code(arguments.count(name, 1, 200, 50)), "MCP_ARGUMENT_INVALID", "{name}");
        }
    }
}
