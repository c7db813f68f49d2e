//! Questions on the terminal: one field after the other, asked again until the answer fits.

use std::io::{self, BufRead, IsTerminal};
use std::sync::{Mutex, PoisonError};

use model::{AnswerAction, Form, InteractionKind, Limits, Param, ParamOption, ParamType};
use project::ManagedFiles;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use serde_json::{Map, Value};
use store::NewAnswer;

use crate::out;

/// Tells whether somebody can be asked.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks; `None` when the input ends or no answer fits after five rounds.
pub(crate) fn ask(form: &Form, kind: InteractionKind, files: &ManagedFiles) -> Option<NewAnswer> {
    forget_typed();
    out::note(&format!("\n{}", out::one_line(&form.title)));
    for line in form.message.iter().flat_map(|message| message.lines()) {
        out::note(&out::one_line(line));
    }
    for _ in 0..Limits::ANSWER_ROUNDS {
        let mut content = Map::new();
        for field in &form.fields {
            if let Some(value) = one(field)? {
                content.insert(field.name.clone(), value);
            }
        }
        match check(form, Value::Object(content), files) {
            Ok(content) => {
                let approved = kind != InteractionKind::Approval || content.get("approve") == Some(&Value::Bool(true));
                let action = if approved { AnswerAction::Accept } else { AnswerAction::Decline };
                return Some(NewAnswer { action, content, by: "cli".into() });
            }
            Err(faults) => {
                forget_typed();
                out::note(&format!("that does not fit: {faults}"));
            }
        }
    }
    None
}

/// Throws away what was typed before the question stood there: it cannot be meant for it, and a `y` among it would give
/// leave unread.
fn forget_typed() {
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Checks an answer and imports its files.
pub(crate) fn check(form: &Form, content: Value, files: &ManagedFiles) -> Result<Value, project::Faults> {
    let mut content = project::check_answer(form, &content)?;
    files.import_all(&form.fields, &mut content)?;
    Ok(Value::Object(content))
}

/// Asks for one field. The outer `None` is the end of input, the inner one no answer.
fn one(field: &Param) -> Option<Option<Value>> {
    let title = field.title.as_deref().unwrap_or(&field.name);
    let mut hint = Vec::new();
    if !field.options.is_empty() {
        hint.push(options(field));
    } else if field.kind == ParamType::Boolean {
        hint.push("yes/no".into());
    }
    if field.multiple {
        hint.push("several, separated by commas".into());
    }
    if let Some(default) = &field.default {
        hint.push(format!("default {}", shown(default)));
    } else if !field.required {
        hint.push("optional".into());
    }
    if let Some(description) = &field.description {
        out::note(&format!("  {}", out::one_line(description)));
    }
    let hint = if hint.is_empty() { String::new() } else { format!(" [{}]", hint.join("; ")) };
    out::prompt(&format!("  {title}{hint}: "));
    let line = read_line(field.kind == ParamType::Secret)?;
    let line = line.trim();
    if line.is_empty() {
        return Some(None);
    }
    if field.multiple {
        return Some(Some(line.split(',').map(|part| value(field, part.trim())).collect()));
    }
    Some(Some(value(field, line)))
}

/// What may be chosen: the values, which are what is typed, with the titles that explain them.
fn options(field: &Param) -> String {
    let of = |option: &ParamOption| {
        let value = shown(&option.value);
        match option.title.as_deref().filter(|title| *title != value) {
            Some(title) => format!("{value} ({title})"),
            None => value,
        }
    };
    let all: Vec<String> = field.options.iter().map(of).collect();
    // A slash may stand in a title.
    let between = if field.options.iter().any(|option| option.title.is_some()) { ", " } else { "/" };
    all.join(between)
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads a typed text as the field's type; what does not fit stays a text, for the check to name.
fn value(field: &Param, text: &str) -> Value {
    let typed = match field.kind {
        ParamType::Number | ParamType::Integer => serde_json::from_str::<Value>(text).ok().filter(Value::is_number),
        ParamType::Boolean => match text.to_lowercase().as_str() {
            "y" | "yes" | "true" | "1" => Some(Value::Bool(true)),
            "n" | "no" | "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        ParamType::Json => serde_json::from_str(text).ok(),
        ParamType::String
        | ParamType::Positional
        | ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Date
        | ParamType::DateTime
        | ParamType::Time
        | ParamType::File
        | ParamType::Secret => None,
    };
    typed.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Asks for one line; `None` at the end of input. What is typed is not shown where it is a secret.
pub(crate) fn prompt(title: &str, secret: bool) -> Option<String> {
    out::prompt(&format!("{title}: "));
    read_line(secret)
}

/// Reads a line; a secret is not shown while it is typed.
fn read_line(secret: bool) -> Option<String> {
    let _hidden = secret.then(Hidden::start).flatten();
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).unwrap_or(0);
    if secret {
        out::note("");
    }
    (read > 0).then_some(line)
}

/// What the terminal was like while typed letters are not shown.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Keeps typed letters from being shown, until it is dropped.
struct Hidden;

impl Hidden {
    fn start() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).ok()?;
        Some(Self)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        leave();
    }
}

/// Shows typed letters again. Whoever gives up a question that is still read calls it as well.
pub(crate) fn leave() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(options: Value) -> Param {
        let declared = json!({ "name": "colour", "type": "select", "options": options });
        serde_json::from_value(declared).expect("a field")
    }

    #[test]
    fn options_are_shown_as_they_are_typed_with_what_they_mean() {
        assert_eq!(options(&field(json!([{ "value": "r" }, { "value": "g" }]))), "r/g");
        let titled =
            json!([{ "value": "r" }, { "value": "g", "title": "Green / lime" }, { "value": "b", "title": "b" }]);
        assert_eq!(options(&field(titled)), "r, g (Green / lime), b");
    }
}
