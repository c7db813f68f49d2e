//! Checks the arguments of a call, all of them before the tool runs.

use guided::state::{Given, Values};
use serde_json::{Map, Value};

/// The arguments of one call.
pub(super) struct Arguments {
    values: Map<String, Value>,
    faults: Vec<String>,
    known: Vec<&'static str>,
}

impl Arguments {
    pub(super) fn new(values: Map<String, Value>) -> Self {
        Self { values, faults: Vec::new(), known: Vec::new() }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        // Null and absent say the same.
        self.values.remove(name).filter(|value| !value.is_null())
    }

    fn fault(&mut self, name: &str, wanted: &str, value: &Value) {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.faults.push(format!("`{name}` must be {wanted}, and is {found}"));
    }

    /// A text that has to be there.
    pub(super) fn text(&mut self, name: &'static str) -> String {
        match self.take(name) {
            Some(Value::String(text)) => return text,
            Some(other) => self.fault(name, "a string", &other),
            None => self.faults.push(format!("`{name}` is missing")),
        }
        String::new()
    }

    /// A text that may be left out.
    pub(super) fn maybe_text(&mut self, name: &'static str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text),
            other => {
                self.fault(name, "a string", &other);
                None
            }
        }
    }

    /// A list of texts that may be left out.
    pub(super) fn maybe_texts(&mut self, name: &'static str) -> Option<Vec<String>> {
        let value = self.take(name)?;
        let texts = value.as_array().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        if texts.is_none() {
            self.fault(name, "a list of strings", &value);
        }
        texts
    }

    /// Values by name that may be left out.
    pub(super) fn maybe_values(&mut self, name: &'static str) -> Option<Values> {
        let value = self.take(name)?;
        let Value::Object(entries) = value else {
            self.fault(name, "an object of strings and lists of strings", &value);
            return None;
        };
        let mut values = Values::new();
        for (key, value) in entries {
            match serde_json::from_value::<Given>(value.clone()) {
                Ok(given) => {
                    values.insert(key, given);
                }
                Err(_) => self.fault(&format!("{name}.{key}"), "a string or a list of strings", &value),
            }
        }
        Some(values)
    }

    /// Values by name that have to be there.
    pub(super) fn values(&mut self, name: &'static str) -> Values {
        if self.values.get(name).is_none_or(Value::is_null) {
            let _ = self.take(name);
            self.faults.push(format!("`{name}` is missing"));
            return Values::new();
        }
        self.maybe_values(name).unwrap_or_default()
    }

    /// Says everything that is wrong, what is not known among it.
    pub(super) fn finish(self, tool: &str) -> Result<(), String> {
        let Self { values, mut faults, known } = self;
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        faults.extend(values.keys().map(|name| format!("`{name}` is no argument of it (those are {known})")));
        if faults.is_empty() {
            Ok(())
        } else {
            Err(format!("the arguments of `{tool}` do not fit: {}", faults.join("; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: Value) -> Arguments {
        Arguments::new(value.as_object().cloned().expect("an object"))
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let mut arguments = of(json!({ "goal": 7, "inputs": { "a": 5, "b": ["x", 1] }, "surplus": 1 }));
        arguments.text("goal");
        arguments.text("job_name");
        arguments.maybe_values("inputs");
        let message = arguments.finish("start_workflow").expect_err("refused");
        for part in
            ["start_workflow", "`goal` must be a string", "`job_name` is missing", "inputs.a", "inputs.b", "surplus"]
        {
            assert!(message.contains(part), "{part}: {message}");
        }
    }

    #[test]
    fn null_is_the_same_as_absent() {
        let mut arguments = of(json!({ "session_id": null, "files": null, "inputs": null }));
        assert_eq!(arguments.maybe_text("session_id"), None);
        assert_eq!(arguments.maybe_texts("files"), None);
        assert_eq!(arguments.maybe_values("inputs"), None);
        assert_eq!(arguments.finish("x"), Ok(()));
    }
}
