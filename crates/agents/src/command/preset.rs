//! How an agent program is spoken to, as data.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::reading::{Format, Reading};
use crate::{Models, Request};

/// An agent program: its arguments, where the prompt goes, what its output means.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Preset {
    /// The provider's name.
    pub name: String,
    /// What a person calls it.
    #[serde(default)]
    pub title: String,
    /// Argument list: the program, then its arguments.
    pub command: Vec<Argument>,
    /// Names of models.
    #[serde(default)]
    pub models: Models,
    /// Variables of our environment that it gets beside the usual ones, such as its keys.
    #[serde(default)]
    pub environment: Vec<String>,
    /// The form of its output.
    #[serde(default)]
    pub format: Format,
    /// What is taken from its output.
    #[serde(default)]
    pub readings: Vec<Reading>,
    /// Kinds of agents that it has by itself, for `agentType`.
    #[serde(default)]
    pub agent_types: Vec<String>,
    /// The project's folder in which it looks for others, a Markdown file each.
    #[serde(default)]
    pub agent_files: Option<String>,
    /// What exit codes other than 0 mean, where the program says so.
    #[serde(default)]
    pub exits: BTreeMap<String, String>,
    /// How a person gets it, in one sentence.
    #[serde(default)]
    pub setup: String,
}

/// A part of an argument list. `{prompt}`, `{model}`, `{effort}`, `{provider}`, `{agentType}` and `{schema}` stand for what they say;
/// where `{prompt}` is nowhere, the prompt goes to standard input.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Argument {
    /// Always there.
    Always(String),
    /// There when an option is given (or, for `schema`, a structured result is asked for).
    When {
        /// The option.
        when: String,
        /// The arguments.
        arguments: Vec<String>,
    },
}

/// A preset that is none.
#[derive(Debug, thiserror::Error)]
pub enum PresetError {
    /// It has another shape.
    #[error("the agent command cannot be read: {0}")]
    Shape(#[from] serde_json::Error),
    /// It names no program.
    #[error("the agent command `{0}` names no program")]
    NoProgram(String),
}

/// The presets that come with the program.
const FILES: [&str; 4] = [
    include_str!("../../presets/claude-code.json"),
    include_str!("../../presets/codex.json"),
    include_str!("../../presets/gemini-cli.json"),
    include_str!("../../presets/opencode.json"),
];

/// Returns the presets that come with the program.
#[must_use]
pub fn presets() -> Vec<Preset> {
    FILES.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
}

impl Preset {
    /// Reads a preset from a settings value: `{command, …}`, or only the argument list.
    ///
    /// # Errors
    ///
    /// When it has another shape or names no program.
    pub fn read(name: &str, value: &Value) -> Result<Self, PresetError> {
        let mut object = match value {
            Value::Array(_) => serde_json::json!({ "command": value }),
            value => value.clone(),
        };
        if let Some(object) = object.as_object_mut() {
            object.entry("name").or_insert_with(|| name.into());
        }
        let preset: Self = serde_json::from_value(object)?;
        if preset.program().is_none_or(str::is_empty) {
            return Err(PresetError::NoProgram(preset.name));
        }
        Ok(preset)
    }

    /// The program's name or path.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self.command.first() {
            Some(Argument::Always(program)) => Some(program),
            Some(Argument::When { .. }) | None => None,
        }
    }

    /// Tells whether its program is in one of the folders of a `PATH`, or is a path that exists.
    #[must_use]
    pub fn is_installed(&self, path: &std::ffi::OsStr) -> bool {
        let Some(program) = self.program() else { return false };
        if program.contains('/') {
            return Path::new(program).is_file();
        }
        std::env::split_paths(path).any(|folder| folder.join(program).is_file())
    }

    /// Tells whether it takes schemas itself.
    #[must_use]
    pub fn takes_schemas(&self) -> bool {
        self.options().any(|option| option == "schema")
    }

    /// The options that change its arguments.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.command.iter().filter_map(|argument| match argument {
            Argument::When { when, .. } => Some(when.as_str()),
            Argument::Always(_) => None,
        })
    }

    /// The argument list for a request.
    #[must_use]
    pub fn argv(&self, request: &Request, prompt: &str, schema: Option<&Value>) -> Vec<String> {
        let model = request.option("model").map(|model| self.models.named(model));
        let schema = schema.map(Value::to_string);
        let value = |name: &str| match name {
            "prompt" => Some(prompt),
            "model" => model,
            "schema" => schema.as_deref(),
            other => request.option(other),
        };
        let mut argv = Vec::new();
        for argument in &self.command {
            match argument {
                Argument::Always(text) => argv.push(fill(text, &value)),
                Argument::When { when, arguments } if value(when).is_some() => {
                    argv.extend(arguments.iter().map(|text| fill(text, &value)));
                }
                Argument::When { .. } => {}
            }
        }
        argv
    }

    /// What it reads: the prompt, unless that is an argument.
    pub(super) fn input(&self, prompt: &str) -> String {
        let in_argument = self.command.iter().any(|argument| match argument {
            Argument::Always(text) => text.contains("{prompt}"),
            Argument::When { arguments, .. } => arguments.iter().any(|text| text.contains("{prompt}")),
        });
        if in_argument { String::new() } else { prompt.to_owned() }
    }
}

/// Puts values in place of their names, once: what a value holds is never looked at again.
fn fill<'a>(text: &str, value: &impl Fn(&str) -> Option<&'a str>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let known = from.find('}').and_then(|end| Some((value(&from[1..end])?, end)));
        match known {
            Some((value, end)) => {
                filled.push_str(value);
                rest = &from[end + 1..];
            }
            None => {
                filled.push('{');
                rest = &from[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(options: Value) -> Request {
        let mut args = options;
        args["prompt"] = json!("{model} do it");
        Request::read("run", 1, &args, "/".into()).expect("a request")
    }

    #[test]
    fn all_files_are_presets() {
        let names: Vec<String> = presets().into_iter().map(|preset| preset.name).collect();
        assert_eq!(names, ["claude-code", "codex", "gemini-cli", "opencode"]);
        for preset in presets() {
            assert!(preset.program().is_some() && !preset.setup.is_empty() && !preset.readings.is_empty());
        }
    }

    #[test]
    fn options_become_arguments() {
        let preset = Preset::read(
            "mine",
            &json!({"command": ["agent", "--ask={prompt}", {"when": "model", "arguments": ["-m", "{model}"]}],
                "models": {"opus": "big-1"}}),
        )
        .expect("a preset");
        let argv = preset.argv(&request(json!({"model": "opus"})), "{model} {x}", None);
        assert_eq!(argv, ["agent", "--ask={model} {x}", "-m", "big-1"]);
        let known = ["opus", "haiku", "big-1", "vendor/any"].map(|model| preset.models.knows(model));
        assert_eq!(known, [true, false, true, true]);
        assert!(Preset::read("mine", &json!(["cat"])).expect("a preset").models.knows("haiku"), "without a table");
        assert_eq!(preset.argv(&request(json!({})), "p", None), ["agent", "--ask=p"]);
        assert_eq!(preset.input("p"), "");
        assert_eq!(Preset::read("mine", &json!(["cat"])).expect("a preset").input("p"), "p");
    }

    #[test]
    fn what_names_no_program_is_refused() {
        assert!(Preset::read("mine", &json!([])).is_err());
        assert!(Preset::read("mine", &json!({"command": ["x"], "colour": 1})).is_err());
        assert!(Preset::read("mine", &json!("claude")).is_err());
    }
}
