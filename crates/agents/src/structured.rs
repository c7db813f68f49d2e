//! How a child is asked for a structured result, and how that is found in its answer and judged.
//!
//! What takes schemas itself gets it; anything else is asked for JSON in words. Either is asked again, at most
//! [`ASKED_AGAIN`] times, with what was wrong.

use serde_json::Value;

use crate::{Request, Schema};

/// How often a child that answered with something else than asked for is asked again.
pub(crate) const ASKED_AGAIN: usize = 2;

/// How a request is put to a child.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// What it is told first.
    pub(crate) prompt: String,
    /// The schema, for one that takes schemas itself.
    pub(crate) native: Option<Value>,
    /// Whether results come wrapped in an object.
    wrapped: bool,
    schema: Option<Schema>,
}

impl Wanted {
    /// Decides how to ask; `takes_schemas` tells whether the schema can be handed over as such.
    pub(crate) fn of(request: &Request, takes_schemas: bool) -> Self {
        let prompt = request.prompt.clone();
        let Some(schema) = &request.schema else { return Self { prompt, native: None, wrapped: false, schema: None } };
        let checked = Schema::new(schema).ok();
        if takes_schemas {
            let (native, wrapped) = Schema::for_objects(schema);
            return Self { prompt, native: Some(native), wrapped, schema: checked };
        }
        Self { prompt: ask(&prompt, schema), native: None, wrapped: false, schema: checked }
    }

    /// Judges an answer: its structured result, none where none was asked for, or what is wrong with it.
    pub(crate) fn judge(&self, structured: Option<&Value>, text: &str) -> Result<Option<Value>, String> {
        let Some(schema) = &self.schema else { return Ok(None) };
        let missing = || "there is no JSON value in the answer".to_owned();
        let value = structured.cloned().or_else(|| find(text)).ok_or_else(missing)?;
        let value = if self.wrapped { value.get("value").cloned().ok_or_else(missing)? } else { value };
        match schema.violations(&value).as_slice() {
            [] => Ok(Some(value)),
            violations => Err(violations.join("\n")),
        }
    }
}

/// The prompt with the wish for a structured answer.
fn ask(prompt: &str, schema: &Value) -> String {
    format!(
        "{prompt}\n\nEnd with your final answer as one JSON value in a ```json block, and nothing after it. It must be \
         valid by this JSON Schema:\n{schema}\n"
    )
}

/// The prompt for another attempt.
pub(crate) fn ask_again(prompt: &str, answer: &str, complaint: &str) -> String {
    let shown: String = answer.chars().take(20_000).collect();
    format!(
        "{prompt}\n\nThis was answered before:\n{shown}\n\nThat answer cannot be used:\n{complaint}\n\nAnswer again, \
         with the JSON value put right.\n"
    )
}

/// What a child in a conversation is told when its answer cannot be used.
pub(crate) fn complain(complaint: &str) -> String {
    format!("That answer cannot be used:\n{complaint}\n\nAnswer again, with the JSON value put right.")
}

/// Finds the JSON value of an answer: the whole of it, the last fenced block that is one, or the last object or list
/// that ends the text.
fn find(text: &str) -> Option<Value> {
    let parse = |text: &str| -> Option<Value> {
        let text = text.trim();
        if !model::within_depth(text.as_bytes(), model::Limits::JSON_DEPTH) {
            return None;
        }
        serde_json::from_str(text).ok()
    };
    if let Some(value) = parse(text) {
        return Some(value);
    }
    let fenced: Vec<&str> = text.split("```").collect();
    for block in fenced.iter().skip(1).step_by(2).rev() {
        let inner = block.strip_prefix("json").or(block.strip_prefix("JSON")).unwrap_or(block);
        if let Some(value) = parse(inner) {
            return Some(value);
        }
    }
    let last = text.rfind(['}', ']'])?;
    let ended = &text[..=last];
    // The outermost beginning first; each is tried, and a text has few lines that begin so.
    ended
        .match_indices(['{', '['])
        .filter(|(at, _)| *at == 0 || ended[..*at].ends_with(['\n', ' ', ':']))
        .take(100)
        .find_map(|(at, _)| parse(&ended[at..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_where_programs_put_them() {
        assert_eq!(find(" {\"a\": 1}\n"), Some(json!({"a": 1})));
        assert_eq!(find("[1]"), Some(json!([1])));
        assert_eq!(find("Here:\n```json\n{\"a\": 1}\n```\nand\n```json\n{\"a\": 2}\n```\n"), Some(json!({"a": 2})));
        assert_eq!(find("I {really} think: {\"a\": {\"b\": []}} done"), Some(json!({"a": {"b": []}})));
        assert_eq!(find("no value {here"), None);
        assert_eq!(find(&"[".repeat(100_000)), None);
    }
}
