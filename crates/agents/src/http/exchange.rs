//! What a request and its answer look like at a chat-completions endpoint.

use serde_json::{Map, Value, json};

use super::{Answer, Effort, HttpSettings};
use crate::structured::Wanted;
use crate::{Request, StopReason, Usage};

/// Characters of a server's own words that are told.
const WORDS: usize = 600;

/// What a model said.
#[derive(Debug, PartialEq)]
pub(super) struct Said {
    pub(super) stop: StopReason,
    pub(super) text: String,
    pub(super) usage: Usage,
    pub(super) diagnostic: Option<String>,
}

/// The body of a request. `more` are answers that could not be used, each with what was said to it.
pub(super) fn conversation(
    settings: &HttpSettings,
    request: &Request,
    wanted: &Wanted,
    more: &[(String, String)],
) -> Value {
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let mut messages: Vec<Value> = settings.system.iter().map(|text| message("system", text)).collect();
    messages.push(message("user", &wanted.prompt));
    for (answer, complaint) in more {
        messages.push(message("assistant", answer));
        messages.push(message("user", complaint));
    }
    let mut body = Map::new();
    let model = request.option("model").map(|name| settings.models.named(name));
    if let Some(model) = model.or(settings.model.as_deref()) {
        body.insert("model".into(), model.into());
    }
    body.insert("messages".into(), messages.into());
    if let Some(schema) = &wanted.native {
        let format = json!({ "type": "json_schema", "json_schema": { "name": "result", "schema": schema } });
        body.insert("response_format".into(), format);
    }
    if let (Effort::Native, Some(effort)) = (settings.effort, request.option("effort")) {
        body.insert("reasoning_effort".into(), effort.into());
    }
    if let Some(most) = settings.max_output_tokens {
        body.insert("max_completion_tokens".into(), most.into());
    }
    Value::Object(body)
}

/// Tells whether a status is one that passes by itself: overload, or a fault of the server.
pub(super) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// Reads an answer; an error is one sentence.
pub(super) fn read(answer: &Answer) -> Result<Said, String> {
    let shallow = model::within_depth(answer.body.as_bytes(), model::Limits::JSON_DEPTH);
    let value: Option<Value> = if shallow { serde_json::from_str(&answer.body).ok() } else { None };
    if !(200..300).contains(&answer.status) {
        let words = value.as_ref().and_then(complaint).unwrap_or(&answer.body);
        let words: String = words.trim().chars().take(WORDS).collect();
        let hint = match answer.status {
            401 | 403 => "; sign in with `workflow-code auth login`",
            404 => "; the address of the connection may be wrong, or the model unknown",
            _ => "",
        };
        let colon = if words.is_empty() { "" } else { ": " };
        return Err(format!("the server answered {}{colon}{words}{hint}", answer.status));
    }
    let value = value.ok_or("the server's answer is no JSON")?;
    if let Some(words) = complaint(&value) {
        return Err(format!("the server answered: {}", words.chars().take(WORDS).collect::<String>()));
    }
    let choice = value.pointer("/choices/0").ok_or("the server's answer holds no choice")?;
    let usage = Usage {
        input_tokens: value.pointer("/usage/prompt_tokens").and_then(Value::as_u64),
        output_tokens: value.pointer("/usage/completion_tokens").and_then(Value::as_u64),
    };
    let text = text(choice.pointer("/message/content"));
    let refusal = choice.pointer("/message/refusal").and_then(Value::as_str).filter(|words| !words.is_empty());
    let stopped =
        |word: &str, why: &str| (StopReason::Other(word.to_owned()), Some(why.chars().take(WORDS).collect::<String>()));
    let (stop, diagnostic) = match (refusal, choice.get("finish_reason").and_then(Value::as_str)) {
        (Some(words), _) => stopped("refusal", words),
        (None, Some("length")) => stopped("max-tokens", "the answer reached the limit of its tokens"),
        (None, Some("content_filter")) => stopped("refusal", "the server's filter held the answer back"),
        (None, Some("tool_calls" | "function_call")) => {
            stopped("error", "the model asked for a tool, and none was offered")
        }
        // Some servers leave it out.
        (None, None | Some("stop")) => (StopReason::Completed, None),
        (None, Some(other)) => stopped(other, "the server ended the answer for a reason of its own"),
    };
    Ok(Said { stop, text, usage, diagnostic })
}

/// What a server says of an error, in the forms that are seen.
fn complaint(value: &Value) -> Option<&str> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    error.as_str().or_else(|| error.get("message").and_then(Value::as_str)).or(Some("an error without words"))
}

/// A message's text: a text, or text parts.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &Value) -> Answer {
        Answer { status, retry_after: None, body: body.to_string() }
    }

    fn choice(finish: &str, message: Value) -> Value {
        json!({"choices": [{"finish_reason": finish, "message": message}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 5}})
    }

    #[test]
    fn ways_to_stop_are_told_apart() {
        let said = |finish: &str, message: Value| read(&answer(200, &choice(finish, message))).expect("an answer");
        let good = said("stop", json!({"content": "yes"}));
        assert_eq!((good.stop, good.text.as_str()), (StopReason::Completed, "yes"));
        assert_eq!(good.usage, Usage { input_tokens: Some(3), output_tokens: Some(5) });
        let word = |finish: &str, message: Value| match said(finish, message).stop {
            StopReason::Other(word) => word,
            StopReason::Completed => "completed".into(),
        };
        assert_eq!(word("length", json!({"content": "ye"})), "max-tokens");
        assert_eq!(word("content_filter", json!({"content": null})), "refusal");
        assert_eq!(word("stop", json!({"content": null, "refusal": "no"})), "refusal");
        assert_eq!(word("tool_calls", json!({"content": null})), "error");
        assert_eq!(word("odd", json!({"content": ""})), "odd");
        assert_eq!(said("stop", json!({"content": [{"type": "text", "text": "a"}, {"text": "b"}]})).text, "ab");
    }

    #[test]
    fn errors_are_told_in_the_servers_words() {
        let why = |status, body: Value| read(&answer(status, &body)).expect_err("no answer");
        let denied = why(401, json!({"error": {"message": "bad key"}}));
        assert_eq!(denied, "the server answered 401: bad key; sign in with `workflow-code auth login`");
        assert_eq!(why(500, json!({"error": "down"})), "the server answered 500: down");
        assert_eq!(why(200, json!({"error": {"message": "no model"}})), "the server answered: no model");
        assert_eq!(why(200, json!({"choices": []})), "the server's answer holds no choice");
        let odd = Answer { status: 200, retry_after: None, body: "<html>".into() };
        assert_eq!(read(&odd).expect_err("no answer"), "the server's answer is no JSON");
        assert!(is_passing(429) && is_passing(503) && !is_passing(400) && !is_passing(401));
    }
}
