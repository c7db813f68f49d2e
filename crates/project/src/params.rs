//! Declarations of parameters and form fields, read from JSON with every fault named.

use std::collections::BTreeSet;

use model::{Form, Limits, Param, ParamOption, ParamType};
use serde_json::{Map, Value};

use crate::check::check_default;
use crate::fault::{Fault, Faults};
use crate::json::{short, within_depth};
use crate::value::{compile_pattern, equal, whole_number};
use crate::words::{clean, nearest};

/// Whose declarations are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// An entrypoint's parameters: names must suit model APIs and command lines, secrets are not taken.
    Entrypoint,
    /// A form's fields: any short name, and `secret`.
    Form,
}

/// The most parameters of one entrypoint, or fields of one form.
pub const MOST_PARAMS: usize = 256;
/// The most options of one parameter.
pub const MOST_OPTIONS: usize = 1_000;
/// The longest text of a declaration (title, description, pattern, an option), in characters.
const MOST_TEXT: usize = 8_192;

/// The types as projects write them; `json` belongs to the product alone.
const TYPES: [ParamType; 12] = [
    ParamType::String,
    ParamType::Positional,
    ParamType::Select,
    ParamType::Number,
    ParamType::Integer,
    ParamType::Boolean,
    ParamType::Checkboxes,
    ParamType::Date,
    ParamType::DateTime,
    ParamType::Time,
    ParamType::File,
    ParamType::Secret,
];

/// Reads `{name: declaration, …}`; a form's fields may also be a list of declarations with a `name` each.
///
/// # Errors
///
/// Every fault of every declaration.
pub fn read_params(declarations: &Value, purpose: Purpose) -> Result<Vec<Param>, Faults> {
    let one = |message: String| Err(Faults { faults: vec![Fault::new("", message)] });
    let what = if purpose == Purpose::Form { "fields" } else { "params" };
    if !within_depth(declarations, Limits::JSON_DEPTH) {
        return one(format!("`{what}` is nested more than {} levels", Limits::JSON_DEPTH));
    }
    let declared: Vec<(String, &Value)> = match declarations {
        Value::Null => return Ok(Vec::new()),
        Value::Object(members) => members.iter().map(|(name, body)| (name.clone(), body)).collect(),
        Value::Array(items) if purpose == Purpose::Form => {
            let name = |item: &Value| item.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            items.iter().map(|item| (name(item), item)).collect()
        }
        other => return one(format!("`{what}` must be an object `{{name: {{type: …}}}}`, not {}", short(other))),
    };
    if declared.len() > MOST_PARAMS {
        return one(format!("`{what}` has {} entries; {MOST_PARAMS} is the most", declared.len()));
    }
    let mut faults = Vec::new();
    let mut params: Vec<Param> = Vec::new();
    for (name, body) in declared {
        let before = faults.len();
        let mut reader = Reader { name: &name, faults: &mut faults };
        reader.check_name(purpose);
        let param = reader.read(body, purpose);
        if params.iter().any(|known| known.name == name) {
            faults.push(Fault::new(&name, "is declared twice"));
        }
        if let Some(param) = param
            && faults.len() == before
        {
            params.push(param);
        }
    }
    if purpose == Purpose::Entrypoint {
        check_flags(&params, &mut faults);
    }
    Faults::unless_any(faults, params)
}

/// Reads a form: `{title, message?, fields}`.
///
/// # Errors
///
/// Every fault of the form.
pub fn read_form(form: &Value) -> Result<Form, Faults> {
    let Some(members) = form.as_object() else {
        let message = format!("a form must be an object `{{title, message?, fields}}`, not {}", short(form));
        return Err(Faults { faults: vec![Fault::new("", message)] });
    };
    let mut faults = Vec::new();
    let title = match members.get("title") {
        Some(Value::String(title)) if !title.trim().is_empty() => limited(title),
        other => {
            let came = other.map_or_else(|| "missing".into(), short);
            faults.push(Fault::must_be("title", "a text", came));
            String::new()
        }
    };
    let message = match members.get("message") {
        None | Some(Value::Null) => None,
        Some(Value::String(message)) => Some(limited(message)),
        Some(other) => {
            faults.push(Fault::must_be("message", "a text", short(other)));
            None
        }
    };
    let fields = match read_params(members.get("fields").unwrap_or(&Value::Null), Purpose::Form) {
        Ok(fields) => fields,
        Err(found) => {
            faults.extend(found.faults);
            Vec::new()
        }
    };
    Faults::unless_any(faults, Form { title, message, fields, approval: None })
}

/// A boolean `x` takes the flag `--no-x` too.
fn check_flags(params: &[Param], faults: &mut Vec<Fault>) {
    let names: BTreeSet<&str> = params.iter().map(|param| param.name.as_str()).collect();
    for param in params.iter().filter(|param| param.kind == ParamType::Boolean) {
        let negated = format!("no-{}", param.name);
        if names.contains(negated.as_str()) {
            let message = format!("cannot stand beside the boolean `{}`, whose flag is `--{negated}`", param.name);
            faults.push(Fault::new(negated, message));
        }
    }
}

fn limited(text: &str) -> String {
    clean(text).chars().take(MOST_TEXT).collect()
}

struct Reader<'a> {
    name: &'a str,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, message: impl Into<String>) {
        self.faults.push(Fault::new(self.name, message));
    }

    fn check_name(&mut self, purpose: Purpose) {
        let name = self.name;
        let length = name.chars().count();
        let fits = match purpose {
            // What model APIs take as a property's name; a leading hyphen would make `---x` of it on a command line.
            Purpose::Entrypoint => {
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
                    && !name.starts_with('-')
            }
            Purpose::Form => !name.chars().any(|letter| letter.is_control() || crate::words::is_unsafe(letter)),
        };
        if !fits || !(1..=64).contains(&length) || name == "__proto__" {
            self.fault(match purpose {
                Purpose::Entrypoint => "is no name for a parameter: take 1 to 64 of `A-Z a-z 0-9 _ - .`, no `-` first",
                Purpose::Form => "is no name for a field: take 1 to 64 visible characters",
            });
        }
    }

    fn read(&mut self, body: &Value, purpose: Purpose) -> Option<Param> {
        let members = match body {
            Value::Object(members) => members,
            // `name: "string"` is short for `{type: "string"}`.
            Value::String(_) => return self.read(&serde_json::json!({ "type": body }), purpose),
            other => {
                self.fault(format!("must be declared by an object `{{type: …}}`, not {}", short(other)));
                return None;
            }
        };
        let mut kind = self.kind(members, purpose)?;
        let mut format = self.text(members, "format");
        if kind == ParamType::String {
            let normal = match format.as_deref() {
                Some("date") => Some(ParamType::Date),
                Some("date-time" | "datetime") => Some(ParamType::DateTime),
                Some("time") => Some(ParamType::Time),
                Some(_) | None => None,
            };
            if let Some(normal) = normal {
                kind = normal;
                format = None;
            }
        } else if let Some(declared) = format.take()
            // `{type: "date", format: "date"}` says one thing twice.
            && !(matches!(kind, ParamType::Date | ParamType::Time) && declared == kind.as_str())
            && !(kind == ParamType::DateTime && matches!(declared.as_str(), "date-time" | "datetime"))
        {
            self.fault(format!("has a `format`, which only `string` takes, not `{}`", kind.as_str()));
        }
        let multiple = self.flag(members, "multiple") || kind == ParamType::Checkboxes;
        if multiple && kind == ParamType::Secret {
            self.fault("cannot be both `secret` and `multiple`");
        }
        let mut param = Param {
            name: self.name.to_owned(),
            kind,
            required: self.flag(members, "required"),
            multiple,
            default: None,
            title: self.text(members, "title").or_else(|| self.text(members, "label")),
            description: self.text(members, "description"),
            options: self.options(members, kind),
            minimum: self.bound(members, "minimum", "min", kind),
            maximum: self.bound(members, "maximum", "max", kind),
            min_length: self.length(members, "minLength", kind),
            max_length: self.length(members, "maxLength", kind),
            pattern: self.pattern(members, kind),
            format,
        };
        if let (Some(least), Some(most)) = (param.minimum, param.maximum)
            && least > most
        {
            self.fault(format!("has `minimum` {least} above `maximum` {most}"));
        }
        if let (Some(least), Some(most)) = (param.min_length, param.max_length)
            && least > most
        {
            self.fault(format!("has `minLength` {least} above `maxLength` {most}"));
        }
        self.check_options(&param);
        self.default(members, &mut param);
        Some(param)
    }

    fn kind(&mut self, members: &Map<String, Value>, purpose: Purpose) -> Option<ParamType> {
        let known = || TYPES.into_iter().filter(|kind| purpose == Purpose::Form || *kind != ParamType::Secret);
        let all = || known().map(|kind| format!("`{}`", kind.as_str())).collect::<Vec<_>>().join(", ");
        let declared = match members.get("type") {
            // What has options and no type is a choice; what has neither says too little.
            None if members.contains_key("options") => return Some(ParamType::Select),
            None => {
                self.fault(format!("has no `type`: take one of {}", all()));
                return None;
            }
            Some(Value::String(declared)) => declared.as_str(),
            Some(other) => {
                self.fault(format!("has the type {}: take one of {}", short(other), all()));
                return None;
            }
        };
        if declared == "date-time" {
            return Some(ParamType::DateTime);
        }
        if let Some(kind) = known().find(|kind| kind.as_str() == declared) {
            return Some(kind);
        }
        let shown = short(&Value::from(declared));
        if declared == ParamType::Secret.as_str() {
            self.fault("cannot be `secret`: a call's input is recorded; ask in a form, or read `flow.secret(name)`");
        } else if let Some(near) = nearest(declared, known().map(ParamType::as_str)) {
            self.fault(format!("has the unknown type {shown}; did you mean `{near}`?"));
        } else {
            self.fault(format!("has the unknown type {shown}: take one of {}", all()));
        }
        None
    }

    fn text(&mut self, members: &Map<String, Value>, key: &str) -> Option<String> {
        match members.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.trim().is_empty() => None,
            Some(Value::String(text)) => Some(limited(text)),
            Some(other) => {
                self.fault(format!("has {} as its `{key}`, which must be a text", short(other)));
                None
            }
        }
    }

    fn flag(&mut self, members: &Map<String, Value>, key: &str) -> bool {
        match members.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(value)) => *value,
            Some(other) => {
                self.fault(format!("has {} as its `{key}`, which must be true or false", short(other)));
                false
            }
        }
    }

    fn bound(&mut self, members: &Map<String, Value>, key: &str, alias: &str, kind: ParamType) -> Option<f64> {
        let value = members.get(key).or_else(|| members.get(alias)).filter(|value| !value.is_null())?;
        if !matches!(kind, ParamType::Number | ParamType::Integer) {
            self.fault(format!("has a `{key}`, which only numbers take, not `{}`", kind.as_str()));
            return None;
        }
        let bound = value.as_f64().filter(|bound| bound.is_finite());
        if bound.is_none() {
            self.fault(format!("has {} as its `{key}`, which must be a number", short(value)));
        }
        bound
    }

    fn length(&mut self, members: &Map<String, Value>, key: &str, kind: ParamType) -> Option<u64> {
        let value = members.get(key).filter(|value| !value.is_null())?;
        if !takes_text_rules(kind) {
            self.fault(format!("has a `{key}`, which only texts take, not `{}`", kind.as_str()));
            return None;
        }
        let length = whole_number(value).and_then(|length| u64::try_from(length).ok());
        if length.is_none() {
            self.fault(format!("has {} as its `{key}`, which must be a whole number from 0", short(value)));
        }
        length
    }

    fn pattern(&mut self, members: &Map<String, Value>, kind: ParamType) -> Option<String> {
        let pattern = match members.get("pattern") {
            None | Some(Value::Null) => return None,
            Some(Value::String(pattern)) => pattern,
            Some(other) => {
                self.fault(format!("has {} as its `pattern`, which must be a text", short(other)));
                return None;
            }
        };
        if !takes_text_rules(kind) {
            self.fault(format!("has a `pattern`, which only texts take, not `{}`", kind.as_str()));
            return None;
        }
        if pattern.chars().count() > MOST_TEXT {
            self.fault(format!("has a `pattern` of more than {MOST_TEXT} characters"));
            return None;
        }
        if let Err(error) = compile_pattern(pattern) {
            // The last line of the library's message is the reason; the lines above draw the place.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let shown = short(&Value::from(pattern.as_str()));
            self.fault(format!("has the `pattern` {shown}, which cannot be used: {reason}"));
            return None;
        }
        Some(pattern.clone())
    }

    fn options(&mut self, members: &Map<String, Value>, kind: ParamType) -> Vec<ParamOption> {
        let declared = match members.get("options").or_else(|| members.get("enum")) {
            None | Some(Value::Null) => {
                if kind == ParamType::Select {
                    self.fault("is a `select` without `options`: list its values, or make it a `string`");
                }
                return Vec::new();
            }
            Some(Value::Array(options)) => options,
            Some(other) => {
                self.fault(format!("has {} as its `options`, which must be a list", short(other)));
                return Vec::new();
            }
        };
        if matches!(kind, ParamType::Boolean | ParamType::File | ParamType::Secret) {
            self.fault(format!("has `options`, which a `{}` does not take", kind.as_str()));
            return Vec::new();
        }
        if declared.is_empty() {
            self.fault("has empty `options`: list the values, or leave the key out");
        }
        if declared.len() > MOST_OPTIONS {
            self.fault(format!("has {} `options`; {MOST_OPTIONS} is the most", declared.len()));
            return Vec::new();
        }
        let mut options: Vec<ParamOption> = Vec::new();
        for (index, option) in declared.iter().enumerate() {
            let (value, title, description) = match option {
                Value::Object(members) => {
                    let title = match members.get("title").or_else(|| members.get("label")) {
                        None | Some(Value::Null) => None,
                        Some(Value::String(title)) => Some(limited(title)),
                        Some(other) => {
                            self.fault(format!("has {} as the title of option {}", short(other), index + 1));
                            None
                        }
                    };
                    let description = match members.get("description") {
                        None | Some(Value::Null) => None,
                        Some(Value::String(description)) => Some(limited(description)),
                        Some(other) => {
                            self.fault(format!("has {} as the description of option {}", short(other), index + 1));
                            None
                        }
                    };
                    (members.get("value").cloned().unwrap_or(Value::Null), title, description)
                }
                other => (other.clone(), None, None),
            };
            if options.iter().any(|known| equal(&known.value, &value)) {
                self.fault(format!("has the option {} twice", short(&value)));
                continue;
            }
            options.push(ParamOption { value, title, description });
        }
        options
    }

    /// Every option must itself fit the type and its bounds: nobody could choose it otherwise.
    fn check_options(&mut self, param: &Param) {
        let open = Param { options: Vec::new(), ..param.clone() };
        for (index, option) in param.options.iter().enumerate() {
            if let Err(fault) = crate::value::check_value(&open, self.name, &option.value) {
                self.fault(format!("has an option that does not fit it: option {} {}", index + 1, fault.message));
            }
            if option.value.as_str().is_some_and(|text| text.chars().count() > MOST_TEXT) {
                self.fault(format!("has an option of more than {MOST_TEXT} characters"));
            }
        }
    }

    fn default(&mut self, members: &Map<String, Value>, param: &mut Param) {
        let Some(default) = members.get("default").filter(|default| !default.is_null()) else { return };
        match param.kind {
            ParamType::File => return self.fault("cannot have a `default`: a path holds on one machine only"),
            ParamType::Secret => {
                return self.fault("cannot have a `default`: it would stand in the source for all to read");
            }
            ParamType::String
            | ParamType::Positional
            | ParamType::Select
            | ParamType::Number
            | ParamType::Integer
            | ParamType::Boolean
            | ParamType::Checkboxes
            | ParamType::Date
            | ParamType::DateTime
            | ParamType::Time
            | ParamType::Json => {}
        }
        match check_default(param, default) {
            Ok(default) => param.default = Some(default),
            Err(found) => {
                for fault in found {
                    self.fault(format!("has a `default` that does not fit it: `{}` {}", fault.name, fault.message));
                }
            }
        }
    }
}

fn takes_text_rules(kind: ParamType) -> bool {
    match kind {
        ParamType::String | ParamType::Positional | ParamType::Secret => true,
        // The options of these say it all, or their form does.
        ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Number
        | ParamType::Integer
        | ParamType::Boolean
        | ParamType::Date
        | ParamType::DateTime
        | ParamType::Time
        | ParamType::File
        | ParamType::Json => false,
    }
}

#[cfg(test)]
mod tests;
