//! Patterns by which the recorded cases say what an answer must look like.
//!
//! An object must match on the keys it names; `"!key"` means that the key is absent. An array matches element by
//! element, unless its last element is `"..."`. Strings may be `<any>`, `<prose>`, `<not-true>`, `<runId>`, `<uuid>`,
//! `<int>`, `<absent>`, `<re:EXPRESSION>`, or stand for themselves. `{"<has>": […]}` is an array that contains each;
//! `{"<keys>": […]}` an object with exactly these keys in this order.

use serde_json::{Map, Value};

/// Returns where `got` does not match `pattern`, and how; `None` when it does.
pub(crate) fn mismatch(pattern: &Value, got: &Value) -> Option<String> {
    at("$", pattern, got)
}

fn at(place: &str, pattern: &Value, got: &Value) -> Option<String> {
    let wanted = |what: &str| Some(format!("{place}: wanted {what}, got {got}"));
    match pattern {
        Value::String(text) => string(place, text, got),
        Value::Object(object) => match (object.get("<has>").and_then(Value::as_array), got) {
            (Some(wants), Value::Array(items)) => wants
                .iter()
                .find(|want| !items.iter().any(|item| at(place, want, item).is_none()))
                .and_then(|want| wanted(&format!("an element that matches {want}"))),
            (Some(_), _) => wanted("a list"),
            (None, Value::Object(fields)) => keys(place, object, fields),
            (None, _) => wanted("an object"),
        },
        Value::Array(wants) => {
            let Value::Array(items) = got else { return wanted("a list") };
            let open = wants.last().is_some_and(|last| last == "...");
            let wants = if open { &wants[..wants.len() - 1] } else { wants.as_slice() };
            if items.len() < wants.len() || (!open && items.len() != wants.len()) {
                return wanted(&format!("{} elements", wants.len()));
            }
            let pairs = wants.iter().zip(items).enumerate();
            pairs.into_iter().find_map(|(index, (want, item))| at(&format!("{place}[{index}]"), want, item))
        }
        Value::Number(number) if number.as_f64() == got.as_f64() && got.is_number() => None,
        Value::Null | Value::Bool(_) | Value::Number(_) if pattern == got => None,
        Value::Null | Value::Bool(_) | Value::Number(_) => wanted(&pattern.to_string()),
    }
}

fn keys(place: &str, wants: &Map<String, Value>, got: &Map<String, Value>) -> Option<String> {
    for (key, want) in wants {
        let below = format!("{place}.{key}");
        let found = got.get(key);
        let fault = if key == "<keys>" {
            let names: Vec<Value> = got.keys().map(|name| Value::String(name.clone())).collect();
            (Value::Array(names.clone()) != *want).then(|| format!("{place}: has the keys {names:?}, wanted {want}"))
        } else if let Some(absent) = key.strip_prefix('!') {
            got.get(absent).map(|value| format!("{place}.{absent}: must be absent, is {value}"))
        } else if want == "<not-true>" {
            found
                .filter(|value| !matches!(value, Value::Null | Value::Bool(false)))
                .map(|_| format!("{below}: must not be true"))
        } else if want == "<absent>" {
            found.map(|value| format!("{below}: must be absent, is {value}"))
        } else {
            match found {
                Some(found) => at(&below, want, found),
                None => Some(format!("{below}: missing; there are {:?}", got.keys().collect::<Vec<_>>())),
            }
        };
        if fault.is_some() {
            return fault;
        }
    }
    None
}

fn string(place: &str, pattern: &str, got: &Value) -> Option<String> {
    let fits = match (pattern, got) {
        ("<any>", _) => true,
        ("<int>", got) => got.is_i64() || got.is_u64(),
        ("<prose>", Value::String(text)) => !text.trim().is_empty(),
        ("<runId>", Value::String(text)) => matches(r"^\d{8}-[a-z0-9]{4,}$", text),
        ("<uuid>", Value::String(text)) => matches("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", text),
        (_, Value::String(text)) => match pattern.strip_prefix("<re:").and_then(|rest| rest.strip_suffix('>')) {
            Some(expression) => matches(expression, text),
            None => pattern == text,
        },
        _ => false,
    };
    (!fits).then(|| format!("{place}: wanted {pattern:?}, got {got}"))
}

/// Tells whether `expression` is found in `text`. Leading `(?=.*…)` are taken as "also contains", since the engine has
/// no look-ahead.
fn matches(expression: &str, text: &str) -> bool {
    let mut rest = expression;
    while let Some((ahead, after)) = rest.strip_prefix("(?=.*").and_then(|rest| rest.split_once(')')) {
        if !matches(ahead, text) {
            return false;
        }
        rest = after;
    }
    regex::RegexBuilder::new(rest)
        .dot_matches_new_line(true)
        // A case counts tens of thousands of letters.
        .size_limit(64 * 1024 * 1024)
        .build()
        .expect("the case's expression is valid")
        .is_match(text)
}

#[test]
fn patterns_match_what_they_say_and_nothing_else() {
    let cases = serde_json::json!([
        // pattern, matches, does not match
        [{ "a": 1 }, { "a": 1.0, "b": 2 }, { "b": 2 }],
        [{ "!a": true }, {}, { "a": null }],
        [{ "a": "<absent>" }, {}, { "a": 1 }],
        [{ "a": "<not-true>" }, { "a": false }, { "a": true }],
        [{ "<keys>": ["a", "b"] }, { "a": 1, "b": 2 }, { "b": 2, "a": 1 }],
        [{ "<has>": [2, "x"] }, ["x", 1, 2], ["x", 1]],
        [[1, "..."], [1, 2], [2]],
        [[1], [1], [1, 2]],
        [true, true, 1],
        [null, null, 0],
        ["<int>", 4, 4.5],
        ["<prose>", "words", " "],
        ["<runId>", "20261130-ab3d", "20261130-AB"],
        ["<uuid>", "11111111-1111-4111-8111-111111111111", "1"],
        ["<re:^a.c$>", "a\nc", "abd"],
        ["<re:(?=.*one)(?=.*two)>", "two one", "one"],
        ["<any>", null, "…"],
        ["plain", "plain", "plainer"],
    ]);
    for case in cases.as_array().expect("a list") {
        let (pattern, good, bad) = (&case[0], &case[1], &case[2]);
        assert_eq!(mismatch(pattern, good), None, "{pattern}");
        if pattern != "<any>" {
            assert!(mismatch(pattern, bad).is_some(), "{pattern} matches {bad}");
        }
    }
}
