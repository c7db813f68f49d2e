//! How a program that knows no schemas is asked for JSON, and how that is found in its answer.

use serde_json::Value;

/// The prompt with the wish for a structured answer.
pub(super) fn ask(prompt: &str, schema: &Value) -> String {
    format!(
        "{prompt}\n\nEnd with your final answer as one JSON value in a ```json block, and nothing after it. It must be \
         valid by this JSON Schema:\n{schema}\n"
    )
}

/// The prompt for another attempt.
pub(super) fn ask_again(prompt: &str, answer: &str, complaint: &str) -> String {
    let shown: String = answer.chars().take(20_000).collect();
    format!(
        "{prompt}\n\nThis was answered before:\n{shown}\n\nThat answer cannot be used:\n{complaint}\n\nAnswer again, \
         with the JSON value put right.\n"
    )
}

/// Finds the JSON value of an answer: the whole of it, the last fenced block that is one, or the last object or list
/// that ends the text.
pub(super) fn find(text: &str) -> Option<Value> {
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
