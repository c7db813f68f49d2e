//! The `meta` block of an orchestration script: its rules, and what is noted instead of refused.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something worth saying once: it never changes what a run does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// A stable word for it: `meta-field-ignored`, `parallel-threw`.
    pub code: String,
    /// What it is about, if that is one of many.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<String>,
    /// One sentence.
    pub text: String,
}

/// Makes a note.
pub(crate) fn note(code: &str, subject: Option<&str>, text: impl Into<String>) -> Note {
    Note { code: code.to_owned(), subject: subject.map(str::to_owned), text: text.into() }
}

/// A meta block that holds to the rules.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meta {
    /// `name`, `description`, `whenToUse`, `phases` (objects with `title`), and of ours `title`, `params`,
    /// `timeoutSeconds`, `draft` as written.
    pub value: Value,
    /// What was ignored.
    pub notes: Vec<Note>,
}

/// Checks a lifted block; an error names every violation.
pub(crate) fn read(lifted: &Value) -> Result<Meta, String> {
    let Value::Object(lifted) = lifted else { return Err("invalid meta: meta must be an object".into()) };
    let mut faults = Vec::new();
    let mut notes = Vec::new();
    let mut value = Map::new();
    for key in ["name", "description"] {
        match lifted.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => {
                value.insert(key.into(), Value::from(text.as_str()));
            }
            Some(_) => faults.push(format!("meta.{key} must be a non-empty text")),
            None => faults.push(format!("meta.{key} is missing")),
        }
    }
    for (key, field) in lifted {
        match key.as_str() {
            "name" | "description" => {}
            "whenToUse" => match field {
                Value::String(_) => {
                    value.insert(key.clone(), field.clone());
                }
                _ => faults.push("meta.whenToUse must be a text".into()),
            },
            "phases" => match field {
                Value::Array(phases) => {
                    let phases = phases
                        .iter()
                        .enumerate()
                        .filter_map(|(index, phase)| read_phase(index, phase, &mut faults, &mut notes))
                        .collect();
                    value.insert(key.clone(), Value::Array(phases));
                }
                _ => faults.push("meta.phases must be a list".into()),
            },
            "title" | "params" | "timeoutSeconds" | "draft" => {
                value.insert(key.clone(), field.clone());
            }
            _ => notes.push(ignored(&format!("meta.{key}"))),
        }
    }
    if faults.is_empty() {
        Ok(Meta { value: Value::Object(value), notes })
    } else {
        Err(format!("invalid meta: {}", faults.join("; ")))
    }
}

/// Checks a block by the strict contract, which is closed; an error names every violation.
pub(crate) fn read_strict(given: &Value) -> Result<(), String> {
    let Value::Object(given) = given else { return Err("invalid meta: meta must be an object".into()) };
    let mut faults = Vec::new();
    for (key, field) in given {
        match key.as_str() {
            "name" | "description" | "phases" => {}
            "whenToUse" if field.is_string() => {}
            "whenToUse" => faults.push("meta.whenToUse must be a string".into()),
            _ => faults.push(format!("meta.{key} is not a recognized field")),
        }
    }
    for key in ["name", "description"] {
        if given.get(key).and_then(Value::as_str).is_none_or(str::is_empty) {
            faults.push(format!("meta.{key} must be a non-empty string"));
        }
    }
    match given.get("phases") {
        None => {}
        Some(Value::Array(phases)) => {
            for (index, phase) in phases.iter().enumerate() {
                strict_phase(&format!("meta.phases[{index}]"), phase, &mut faults);
            }
        }
        Some(_) => faults.push("meta.phases must be an array".into()),
    }
    if faults.is_empty() { Ok(()) } else { Err(format!("invalid meta: {}", faults.join("; "))) }
}

fn strict_phase(path: &str, phase: &Value, faults: &mut Vec<String>) {
    let Value::Object(phase) = phase else { return faults.push(format!("{path} must be an object")) };
    if phase.get("title").and_then(Value::as_str).is_none_or(str::is_empty) {
        faults.push(format!("{path}.title must be a non-empty string"));
    }
    for (key, field) in phase {
        match key.as_str() {
            "title" => {}
            "detail" | "provider" | "model" if field.is_string() => {}
            "detail" | "provider" | "model" => faults.push(format!("{path}.{key} must be a string")),
            _ => faults.push(format!("{path}.{key} is not a recognized field")),
        }
    }
}

fn read_phase(index: usize, phase: &Value, faults: &mut Vec<String>, notes: &mut Vec<Note>) -> Option<Value> {
    let mut read = Map::new();
    match phase {
        Value::String(title) if !title.trim().is_empty() => {
            read.insert("title".into(), Value::from(title.as_str()));
        }
        Value::Object(fields) => {
            match fields.get("title") {
                Some(Value::String(title)) if !title.trim().is_empty() => {
                    read.insert("title".into(), Value::from(title.as_str()));
                }
                _ => faults.push(format!("meta.phases[{index}].title must be a non-empty text")),
            }
            for (key, field) in fields {
                match (key.as_str(), field) {
                    ("title", _) => {}
                    ("detail" | "provider" | "model", Value::String(_)) => {
                        read.insert(key.clone(), field.clone());
                    }
                    ("detail" | "provider" | "model", _) => {
                        faults.push(format!("meta.phases[{index}].{key} must be a text"));
                    }
                    _ => notes.push(ignored(&format!("meta.phases[{index}].{key}"))),
                }
            }
        }
        _ => {
            faults.push(format!("meta.phases[{index}] must be a text or an object with a title"));
            return None;
        }
    }
    Some(Value::Object(read))
}

fn ignored(path: &str) -> Note {
    note("meta-field-ignored", Some(path), format!("`{path}` means nothing here and is ignored"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn phases_are_normalised_and_unknown_fields_noted() {
        let meta = read(&json!({
            "name": "n", "description": "d", "version": "2", "phases": ["Plan", {"title": "Build", "agents": 3}],
            "title": "T", "params": {}
        }))
        .expect("a valid block");
        assert_eq!(
            meta.value,
            json!({"name": "n", "description": "d", "phases": [{"title": "Plan"}, {"title": "Build"}],
                "title": "T", "params": {}})
        );
        let subjects: Vec<_> = meta.notes.iter().filter_map(|note| note.subject.as_deref()).collect();
        assert_eq!(subjects, ["meta.version", "meta.phases[1].agents"]);
    }

    #[test]
    fn every_violation_is_named() {
        let found = read(&json!({"name": "", "whenToUse": 1, "phases": [{}, 3, {"title": "t", "model": 1}]}));
        insta::assert_snapshot!(found.expect_err("a broken block"), @"invalid meta: meta.name must be a non-empty text; meta.description is missing; meta.whenToUse must be a text; meta.phases[0].title must be a non-empty text; meta.phases[1] must be a text or an object with a title; meta.phases[2].model must be a text");
        assert!(read(&json!([])).is_err());
    }
}
