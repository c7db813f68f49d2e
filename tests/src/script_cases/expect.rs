//! Compares what happened with what a case expects.

use serde_json::Value;

use super::supervise::Seen;

/// Names everything that is not as expected.
pub(super) fn problems(expect: &Value, seen: &Seen) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(start) = expect.get("startError") {
        match &seen.start_error {
            None => problems.push(format!("it started and ended: {:?}", seen.events)),
            Some((code, message)) => {
                if start["code"] != code.as_str() {
                    problems.push(format!("start error {code}, expected {}: {message}", start["code"]));
                }
                contains("start error", message, start.get("messageContains"), &mut problems);
            }
        }
        if !seen.events.is_empty() {
            problems.push(format!("something was told: {:?}", seen.events));
        }
        return problems;
    }
    if let Some((code, message)) = &seen.start_error {
        return vec![format!("it did not start: {code}: {message}")];
    }
    compare("stopReason", expect.get("stopReason"), &Value::from(seen.stop_reason.as_str()), &mut problems);
    compare("value", expect.get("value"), &seen.value, &mut problems);
    contains("error", &seen.error, expect.get("errorContains"), &mut problems);
    compare("agentsStarted", expect.get("agentsStarted"), &Value::from(seen.agents_started), &mut problems);
    compare("agentsFailed", expect.get("agentsFailed"), &Value::from(seen.agents_failed), &mut problems);
    compare("peak", expect.get("peak"), &Value::from(seen.peak), &mut problems);
    compare("meta", expect.get("meta"), &seen.meta, &mut problems);
    if seen.stop_reason == "completed" && !seen.error.is_empty() {
        problems.push(format!("a completed run with an error: {}", seen.error));
    }
    if let Some(wanted) = expect.get("requests").and_then(Value::as_array) {
        list("requests", wanted, &seen.requests, false, &mut problems);
    }
    if let Some(wanted) = expect.get("events").and_then(Value::as_array) {
        list("events", wanted, &seen.events, expect.get("eventsOrder").is_some(), &mut problems);
    }
    if let Some(wanted) = expect.get("notes").and_then(Value::as_array) {
        list("notes", wanted, &seen.notes, true, &mut problems);
    }
    pairs(&seen.events, &mut problems);
    problems
}

/// What holds for every case: one start, first; each agent that starts ends once, with the same facts.
fn pairs(events: &[Value], problems: &mut Vec<String>) {
    let is = |event: &Value, name: &str| event["event"] == name;
    if events.first().is_none_or(|event| !is(event, "start"))
        || events.iter().filter(|event| is(event, "start")).count() != 1
    {
        problems.push("there is not one start, first".into());
    }
    if events.last().is_none_or(|event| !is(event, "end"))
        || events.iter().filter(|event| is(event, "end")).count() != 1
    {
        problems.push("there is not one end, last".into());
    }
    for start in events.iter().filter(|event| is(event, "agent-start")) {
        let ends = events.iter().filter(|event| is(event, "agent-end") && event["seq"] == start["seq"]).count();
        if ends != 1 {
            problems.push(format!("agent {} has {ends} ends", start["seq"]));
        }
    }
}

fn compare(what: &str, wanted: Option<&Value>, found: &Value, problems: &mut Vec<String>) {
    if let Some(wanted) = wanted
        && !same(wanted, found)
    {
        problems.push(format!("{what} is {found}, expected {wanted}"));
    }
}

fn contains(what: &str, text: &str, wanted: Option<&Value>, problems: &mut Vec<String>) {
    let all: Vec<&str> = match wanted {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one],
        _ => return,
    };
    for part in all {
        if !text.contains(part) {
            problems.push(format!("{what} has no {part:?}: {text}"));
        }
    }
}

/// Compares entries by the fields that the expected ones have; in order, or as a multiset.
fn list(what: &str, wanted: &[Value], found: &[Value], any_order: bool, problems: &mut Vec<String>) {
    let fits = |wanted: &Value, found: &Value| match wanted {
        // An agent that is expected without a phase has none.
        Value::Object(fields) => {
            fields.iter().all(|(key, value)| found.get(key).is_some_and(|found| same(value, found)))
                && !(fields.get("event").is_some_and(|event| event == "agent-start")
                    && fields.contains_key("phase") != found.get("phase").is_some())
        }
        wanted => same(wanted, found),
    };
    let mut left: Vec<&Value> = found.iter().collect();
    let mut missing = Vec::new();
    for (at, wanted) in wanted.iter().enumerate() {
        let place = if any_order {
            left.iter().position(|found| fits(wanted, found))
        } else {
            found.get(at).is_some_and(|found| fits(wanted, found)).then_some(0)
        };
        match place {
            Some(place) => drop(left.remove(place)),
            None => missing.push(wanted),
        }
    }
    if !missing.is_empty() || wanted.len() != found.len() {
        problems.push(format!("{what} are {}, expected {}", Value::from(found.to_vec()), Value::from(wanted.to_vec())));
    }
}

/// Deep equality in which numbers are numbers, however they are written.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        (one, other) => one == other,
    }
}
