//! Answers as they are compared: moments, digests and wording do not count.

use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

/// What stands for any text in a recorded answer.
const WILD: [&str; 5] = ["<prose>", "<revision>", "<sha256>", "<cursor>", "<path>"];

/// How values of one case are made comparable.
pub(super) struct Normal {
    root: String,
    patterns: Vec<(Regex, &'static str)>,
    place: Regex,
    commit: Regex,
}

impl Normal {
    pub(super) fn new(root: &Path) -> Self {
        let day = model::format_timestamp(model::Clock::now(&model::SystemClock)).get(..10).expect("a day").to_owned();
        let pattern = |text: &str| Regex::new(text).expect("a pattern");
        let patterns = vec![
            (pattern(&format!(r"{day}T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")), "<timestamp>"),
            (pattern(&format!(r"{day} \d\d:\d\dZ")), "<stamp>"),
            (pattern(&day), "<date>"),
            (pattern("sha256:[0-9a-f]{64}"), "<sha256>"),
            (pattern(r#"(?m)^(\s*commit: )"?[0-9a-f]{40}"?$"#), "${1}<commit>"),
            // Sentences inside a file: the payload after them stays.
            (pattern(r"[^\s—]+ replaced [^\s]+'s claim:"), "<prose>:"),
            (pattern(r"\(forced past [^:\n]*:"), "(<prose>:"),
            (pattern(r"moved \d+ trail entr(?:y|ies) into the trail"), "<prose>"),
            (pattern("(?m)(· verify [a-z0-9-]+: ).*$"), "${1}<prose>"),
        ];
        let root = root.to_string_lossy().into_owned();
        Self { root, patterns, place: pattern(r"^/[^/\s]+/\S+$"), commit: pattern("^[0-9a-f]{40}$") }
    }

    pub(super) fn text(&self, text: &str) -> String {
        let text = text.replace(&self.root, "<root>");
        self.patterns.iter().fold(text, |text, (pattern, with)| pattern.replace_all(&text, *with).into_owned())
    }

    /// A value under a key.
    pub(super) fn value(&self, value: &Value, key: &str) -> Value {
        match value {
            Value::Object(map) => {
                let inner = map.iter().map(|(key, value)| match (key.as_str(), value) {
                    ("nextCursor", Value::String(_)) => (key.clone(), json!("<cursor>")),
                    _ => (key.clone(), self.value(value, key)),
                });
                inner.collect()
            }
            Value::Array(items) => items.iter().map(|item| self.value(item, key)).collect(),
            Value::String(text) => json!(self.text_of(text, key)),
            Value::Number(_) if ["ageMs", "ageHours", "durationMs", "heldForMs", "pid", "bytes"].contains(&key) => {
                json!("<number>")
            }
            other => other.clone(),
        }
    }

    fn text_of(&self, text: &str, key: &str) -> String {
        let prose = ["message", "description", "instructions", "reasonText", "problems"].contains(&key);
        match key {
            "revision" | "expectedRevision" | "actualRevision" => "<revision>".into(),
            _ if prose || key == "reason" && text.contains(' ') => {
                if text.is_empty() {
                    String::new()
                } else {
                    "<prose>".into()
                }
            }
            "commit" if self.commit.is_match(text) => "<commit>".into(),
            "modifiedAt" => "<timestamp>".into(),
            _ => self.text(text),
        }
    }

    /// What a command printed.
    pub(super) fn printed(&self, text: &str) -> Value {
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return json!(if text.trim().is_empty() { "" } else { "<prose>" });
        };
        let mut value = self.without_places(&self.value(&value, ""));
        for key in ["additionalContext", "permissionDecisionReason"] {
            if let Some(said) = value.get_mut("hookSpecificOutput").and_then(|output| output.get_mut(key)) {
                *said = json!("<prose>");
            }
        }
        value
    }

    /// Paths outside of the case's folder say where a program is installed.
    fn without_places(&self, value: &Value) -> Value {
        match value {
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), self.without_places(value))).collect(),
            Value::Array(items) => items.iter().map(|item| self.without_places(item)).collect(),
            Value::String(text) if self.place.is_match(text) => json!("<path>"),
            other => other.clone(),
        }
    }

    /// A whole answer to a call.
    pub(super) fn answer(&self, call: &Value, got: &Value) -> Value {
        if let Some(error) = got.get("error") {
            return json!({ "error": self.value(error, "") });
        }
        let result = &got["result"];
        let called = call.get("method").is_none() && result.get("content").is_some();
        let method = if called { "tools/call" } else { call["method"].as_str().unwrap_or("") };
        let shown = match method {
            "tools/call" => self.tool_answer(call, result),
            "resources/read" => self.value(&with_json(result), ""),
            "prompts/get" => prompt(result),
            _ => named(method, self.value(result, "")),
        };
        json!({ "result": shown })
    }

    fn tool_answer(&self, call: &Value, result: &Value) -> Value {
        let mut structured = self.value(&result["structuredContent"], "");
        if structured["resultTruncated"].get("records").is_some() {
            // How many rows fit depends on every byte of a row.
            structured["resultTruncated"]["records"] = json!("<number>");
            structured["records"] = json!("<list>");
        }
        let name = call["tool"].as_str().or(call["params"]["name"].as_str()).unwrap_or("");
        if name == "project_agent_context" && structured.get("markdown").is_some() {
            structured["markdown"] = json!("<prose>");
        }
        if name == "project_next" {
            for row in structured["records"].as_array_mut().into_iter().flatten() {
                if row.get("reason").is_some() {
                    row["reason"] = json!("<prose>");
                }
            }
        }
        let content = result["content"].as_array().into_iter().flatten();
        let content: Vec<Value> = content.map(|part| json!({ "type": part["type"], "text": "<prose>" })).collect();
        let mut shown = json!({ "content": content, "structuredContent": structured });
        for key in ["isError", "resultType"] {
            if let Some(value) = result.get(key).filter(|value| **value != json!(false)) {
                shown[key] = value.clone();
            }
        }
        shown
    }
}

fn with_json(result: &Value) -> Value {
    let mut result = result.clone();
    for content in result["contents"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if content.get("mimeType") == Some(&json!("application/json"))
            && let Some(Ok(value)) = content.get("text").and_then(Value::as_str).map(serde_json::from_str)
        {
            content.remove("text");
            content.insert("json".into(), value);
        }
    }
    result
}

fn prompt(result: &Value) -> Value {
    let mut result = result.clone();
    result["description"] = json!("<prose>");
    for message in result["messages"].as_array_mut().into_iter().flatten() {
        message["content"]["text"] = json!("<prose>");
    }
    result
}

/// Names and titles that are each program's own.
fn named(method: &str, mut shown: Value) -> Value {
    let prose = |holder: &mut Value, keys: &[&str]| {
        for key in keys {
            if holder.get(key).is_some() {
                holder[*key] = json!("<prose>");
            }
        }
    };
    match method {
        "initialize" | "server/discover" => {
            let keys = ["name", "title", "version", "description"];
            if shown.get("serverInfo").is_some() {
                prose(&mut shown["serverInfo"], &keys);
            }
            if let Some(info) = shown.pointer_mut("/_meta/io.modelcontextprotocol~1serverInfo") {
                prose(info, &keys);
            }
        }
        "tools/list" => {
            let tools = shown["tools"].as_array().into_iter().flatten();
            shown["tools"] =
                tools.map(|tool| json!({ "name": tool["name"], "annotations": tool["annotations"] })).collect();
        }
        "prompts/list" => {
            shown["prompts"].as_array_mut().into_iter().flatten().for_each(|one| prose(one, &["title"]));
        }
        "resources/list" | "resources/templates/list" => {
            for list in ["resources", "resourceTemplates"] {
                let resources = shown.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
                for one in resources.filter(|one| !one["uri"].as_str().unwrap_or("").starts_with("project://record/")) {
                    one["title"] = json!("<prose>");
                    prose(one, &["name"]);
                }
            }
        }
        _ => {}
    }
    shown
}

/// Tells whether a path like `structuredContent.records.*.revision` leads anywhere.
pub(super) fn is_present(value: &Value, path: &str) -> bool {
    match path.split_once('.') {
        None => value.get(path).is_some(),
        Some(("*", rest)) => value.as_array().is_some_and(|items| items.iter().any(|item| is_present(item, rest))),
        Some((key, rest)) => value.get(key).is_some_and(|inner| is_present(inner, rest)),
    }
}

/// Tells whether a text is as recorded.
pub(super) fn matches(want: &str, got: &str) -> bool {
    if want == got || !WILD.iter().any(|wild| want.contains(wild)) {
        return want == got;
    }
    let mut pattern = regex::escape(want);
    for wild in WILD {
        let any = if want.trim() == wild { r"[\s\S]+" } else { r"[^\n]+?" };
        pattern = pattern.replace(&regex::escape(wild), any);
    }
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(got))
}

/// Compares what is present in `want`.
pub(super) fn compare(want: &Value, got: &Value, path: &str, found: &mut Vec<String>) {
    match want {
        Value::Object(map) => {
            for (key, value) in map {
                match got.get(key) {
                    None => found.push(format!("{path}.{key}: missing, want {value}")),
                    Some(got) => compare(value, got, &format!("{path}.{key}"), found),
                }
            }
        }
        Value::Array(items) => match got.as_array().filter(|got| got.len() == items.len()) {
            None => found.push(format!("{path}: want {} items, got {got}", items.len())),
            Some(got) => {
                items
                    .iter()
                    .zip(got)
                    .enumerate()
                    .for_each(|(at, (want, got))| compare(want, got, &format!("{path}[{at}]"), found));
            }
        },
        Value::String(want) => {
            let same = match want.as_str() {
                "<list>" => got.is_array() || got == "<list>",
                "<number>" => got.is_number() || got == "<number>",
                _ => got.as_str().is_some_and(|got| matches(want, got)),
            };
            if !same {
                found.push(format!("{path}: want {want:?}, got {got}"));
            }
        }
        _ if want != got => found.push(format!("{path}: want {want}, got {got}")),
        _ => {}
    }
}
