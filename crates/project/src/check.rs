//! Whole inputs and form answers against their parameters: every fault at once, defaults filled in, declared order.

use std::collections::HashSet;

use model::{Entrypoint, EntrypointSource, Form, Limits, Param, ParamType};
use serde_json::{Map, Value};

use crate::fault::{Fault, Faults};
use crate::json::{short, within_depth};
use crate::value::{allowed, check_value};
use crate::words::nearest;

/// The most elements of one list.
pub const MOST_ELEMENTS: usize = 10_000;
const MOST_FAULTS_OF_A_LIST: usize = 20;

/// Checks the input of a call and fills in defaults. The result has the parameters in declared order; an optional one
/// that was not given and has no default is an absent key.
///
/// # Errors
///
/// Every fault: each wrong parameter, then each unknown name with the nearest known one.
pub fn check_input(params: &[Param], input: &Value) -> Result<Map<String, Value>, Faults> {
    check_named(params, input, "parameter", FileValues::Paths)
}

/// What stands for a file in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileValues {
    /// An absolute path.
    Paths,
    /// An absolute path, or the handle of a managed file.
    PathsOrHandles,
}

/// Checks the input of a call that comes from another run, as [`check_call`] does; its files may be handles of that run.
///
/// # Errors
///
/// Every fault.
pub fn check_related_call(entrypoint: &Entrypoint, input: &Value) -> Result<Map<String, Value>, Faults> {
    check_call_named(entrypoint, input, FileValues::PathsOrHandles)
}

/// Checks the input of a call of `entrypoint`, as [`check_input`] does, with what its kind asks for besides: the dynamic
/// entrypoint's own shape, and no NUL character where the values become a program's arguments.
///
/// # Errors
///
/// Every fault.
pub fn check_call(entrypoint: &Entrypoint, input: &Value) -> Result<Map<String, Value>, Faults> {
    check_call_named(entrypoint, input, FileValues::Paths)
}

fn check_call_named(entrypoint: &Entrypoint, input: &Value, files: FileValues) -> Result<Map<String, Value>, Faults> {
    let check = |params: &[Param]| check_named(params, input, "parameter", files);
    match &entrypoint.source {
        EntrypointSource::Dynamic => {
            let checked = check(&crate::dynamic::params()).map_err(crate::dynamic::in_own_words)?;
            crate::dynamic::check_shapes(checked)
        }
        EntrypointSource::Command { .. } => {
            let checked = check(&entrypoint.params)?;
            let mut faults = Vec::new();
            for (name, value) in &checked {
                let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                if texts.iter().filter_map(Value::as_str).any(|text| text.contains('\0')) {
                    faults.push(Fault::new(name, "must not have a NUL character: no program takes one as an argument"));
                }
            }
            Faults::unless_any(faults, checked)
        }
        EntrypointSource::Module { .. } | EntrypointSource::Script { .. } => check(&entrypoint.params),
    }
}

/// Checks as [`check_call`] does and looks at every file that is named as well, so that a caller learns of all faults in
/// one answer. Nothing is imported yet.
///
/// # Errors
///
/// Every fault.
pub fn check_call_with_files(entrypoint: &Entrypoint, input: &Value) -> Result<Map<String, Value>, Faults> {
    and_files(&entrypoint.params, input, check_call(entrypoint, input))
}

fn and_files(
    params: &[Param],
    input: &Value,
    checked: Result<Map<String, Value>, Faults>,
) -> Result<Map<String, Value>, Faults> {
    let of_files = crate::files::probe_all(params, input);
    match checked {
        Ok(checked) => Faults::unless_any(of_files, checked),
        Err(mut found) => {
            let named = |fault: &Fault| found.faults.iter().any(|other| other.name == fault.name);
            let more: Vec<Fault> = of_files.into_iter().filter(|fault| !named(fault)).collect();
            found.faults.extend(more);
            found.faults.sort_by_key(|fault| place(params, &fault.name));
            Err(found)
        }
    }
}

/// Where a fault stands among the others: the input as a whole first, then as declared and element by element, unknown
/// names last.
fn place(params: &[Param], name: &str) -> (usize, usize) {
    let (declared, element) = name.split_once('[').unwrap_or((name, ""));
    let element = element.trim_end_matches(']').parse().unwrap_or(0);
    match params.iter().position(|param| param.name == declared) {
        _ if name.is_empty() => (0, 0),
        Some(position) => (position + 1, element),
        None => (usize::MAX, 0),
    }
}

/// Checks the answer to a form and fills in defaults, as [`check_input`] does.
///
/// # Errors
///
/// Every fault.
pub fn check_answer(form: &Form, answer: &Value) -> Result<Map<String, Value>, Faults> {
    check_named(&form.fields, answer, "field", FileValues::Paths)
}

fn check_named(params: &[Param], input: &Value, noun: &str, files: FileValues) -> Result<Map<String, Value>, Faults> {
    let whole = |message: String| Err(Faults { faults: vec![Fault::new("", message)] });
    let Some(given) = input.as_object() else {
        return whole(format!("the {noun}s must be an object, not {}", short(input)));
    };
    if !within_depth(input, Limits::JSON_DEPTH) {
        return whole(format!("the {noun}s are nested more than {} levels", Limits::JSON_DEPTH));
    }
    let mut faults = Vec::new();
    let mut checked = Map::new();
    for param in params {
        // What is the default already is taken as if it were left out: it was checked where it was declared, and one that
        // is shown masked need not fit what is asked for.
        match given.get(&param.name).filter(|value| param.default.as_ref() != Some(*value)) {
            Some(value) => match check_param(param, value, files) {
                Ok(value) => {
                    checked.insert(param.name.clone(), value);
                }
                Err(found) => faults.extend(found),
            },
            None => match &param.default {
                Some(default) => {
                    checked.insert(param.name.clone(), default.clone());
                }
                None if param.required => {
                    let allowed = in_words(param);
                    faults.push(Fault {
                        message: format!("is required and missing; it must be {allowed}"),
                        came: Some("nothing".into()),
                        allowed: Some(allowed),
                        ..Fault::new(&param.name, "")
                    });
                }
                None => {}
            },
        }
    }
    let known: HashSet<&str> = params.iter().map(|param| param.name.as_str()).collect();
    // One look-up of the nearest name is cheap, a hundred thousand of them are not.
    let mut suggestions = 20;
    for name in given.keys().filter(|name| !known.contains(name.as_str())) {
        let near = if suggestions > 0 { nearest(name, params.iter().map(|param| param.name.as_str())) } else { None };
        suggestions = i32::max(suggestions - 1, 0);
        let message = match near {
            Some(near) => format!("is no {noun}; did you mean `{near}`?"),
            None if params.is_empty() => format!("is no {noun}; none is taken"),
            None => format!("is no {noun}; there are {}", names_in_words(params)),
        };
        faults.push(Fault::new(name, message));
    }
    Faults::unless_any(faults, checked)
}

fn names_in_words(params: &[Param]) -> String {
    const MOST: usize = 20;
    let names: Vec<String> = params.iter().take(MOST).map(|param| format!("`{}`", param.name)).collect();
    let more = if params.len() > MOST { format!(" and {} more", params.len() - MOST) } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// Says what a parameter's whole value must be.
#[must_use]
pub fn in_words(param: &Param) -> String {
    if param.multiple { format!("a list whose elements are each {}", allowed(param)) } else { allowed(param) }
}

/// Checks one parameter's value, list or single.
fn check_param(param: &Param, value: &Value, files: FileValues) -> Result<Value, Vec<Fault>> {
    if value.is_null() && param.kind != ParamType::Json {
        let fault = Fault::must_be(&param.name, in_words(param), "null");
        // Clients that fill every key of a schema write `null` for "nothing"; say what to write instead.
        let hint = if param.required { "" } else { "; leave it out instead" };
        return Err(vec![Fault { message: format!("{}{hint}", fault.message), ..fault }]);
    }
    if !param.multiple {
        return check_one(param, &param.name, value, files).map_err(|fault| vec![fault]);
    }
    let Some(items) = value.as_array() else {
        let came = if param.kind == ParamType::Secret { "what came".into() } else { short(value) };
        return Err(vec![Fault::must_be(&param.name, in_words(param), came)]);
    };
    if items.len() > MOST_ELEMENTS {
        let came = format!("{} elements", items.len());
        return Err(vec![Fault::must_be(&param.name, format!("a list of at most {MOST_ELEMENTS}"), came)]);
    }
    let mut faults = Vec::new();
    let mut checked = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match check_one(param, &format!("{}[{index}]", param.name), item, files) {
            Ok(item) => checked.push(item),
            // The first few say it all.
            Err(fault) if faults.len() < MOST_FAULTS_OF_A_LIST => faults.push(fault),
            Err(_) => {}
        }
    }
    // Ticking a box twice is a slip of whoever wrote the answer.
    if param.kind == ParamType::Checkboxes && faults.is_empty() {
        let mut seen = HashSet::new();
        if let Some(twice) = checked.iter().find(|item| !seen.insert(item.as_str())) {
            faults.push(Fault::new(&param.name, format!("has {} twice", short(twice))));
        }
    }
    if faults.is_empty() { Ok(Value::Array(checked)) } else { Err(faults) }
}

/// Checks one value; a handle is taken as it is, since the import looks behind it.
fn check_one(param: &Param, name: &str, value: &Value, files: FileValues) -> Result<Value, Fault> {
    let handle = files == FileValues::PathsOrHandles
        && param.kind == ParamType::File
        && crate::files::known_ref(value).is_some();
    if handle { Ok(value.clone()) } else { check_value(param, name, value) }
}

/// Checks a declared default.
pub(crate) fn check_default(param: &Param, default: &Value) -> Result<Value, Vec<Fault>> {
    check_param(param, default, FileValues::Paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Purpose, read_params};
    use rstest::rstest;
    use serde_json::json;

    fn params(declarations: &Value) -> Vec<Param> {
        read_params(declarations, Purpose::Entrypoint).unwrap()
    }

    fn usual() -> Vec<Param> {
        params(&json!({"name": {"type": "string", "required": true}, "count": {"type": "integer", "minimum": 1},
            "tone": {"type": "string", "options": ["plain", "warm"]}, "day": {"type": "date"}}))
    }

    #[test]
    fn a_default_that_is_given_is_the_default() {
        let mut form = params(&json!({"key": {"type": "string", "pattern": "^key-", "default": "key-1"}}));
        form[0].default = Some(json!("•••"));
        let form = Form { title: "T".into(), message: None, fields: form, approval: None };
        assert_eq!(Value::Object(check_answer(&form, &json!({"key": "•••"})).unwrap()), json!({"key": "•••"}));
        assert!(check_answer(&form, &json!({"key": "other"})).is_err());
    }

    #[test]
    fn every_fault_is_named_with_what_came_and_what_is_allowed() {
        let faults =
            check_input(&usual(), &json!({"count": "three", "tone": "loud", "extra": 1, "cuont": 2})).unwrap_err();
        assert_eq!(
            faults.to_string(),
            "`name` is required and missing; it must be a string; `count` must be a whole number of at least 1, not \"three\"; \
             `tone` must be one of \"plain\", \"warm\", not \"loud\"; \
             `extra` is no parameter; there are `name`, `count`, `tone`, `day`; \
             `cuont` is no parameter; did you mean `count`?"
        );
        assert_eq!(
            faults.to_json()[1],
            json!({"name": "count", "message": "must be a whole number of at least 1, not \"three\"",
                "came": "\"three\"", "allowed": "a whole number of at least 1"})
        );
    }

    #[rstest]
    #[case(json!({"name": "a", "count": 1.5}), "`count`")]
    #[case(json!({"name": "a", "count": 0}), "`count` must be a whole number of at least 1, not 0")]
    #[case(json!({"name": "a", "day": "2026-02-30"}), "`day` must be a date that exists")]
    #[case(json!({"name": null}), "`name` must be a string, not null")]
    #[case(json!({"name": "a", "day": null}), "leave it out")]
    #[case(json!({"name": 5}), "`name` must be a string, not 5")]
    #[case(json!({"name": ["a"]}), "not a list of 1")]
    #[case(json!("a"), "the parameters must be an object, not \"a\"")]
    #[case(json!(null), "the parameters must be an object, not null")]
    fn refused(#[case] input: Value, #[case] words: &str) {
        let message = check_input(&usual(), &input).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }

    #[test]
    fn defaults_are_filled_in_and_order_is_the_declared_one() {
        let params = params(
            &json!({"topic": {"type": "positional", "required": true}, "count": {"type": "number", "default": 3},
            "deep": {"type": "boolean", "default": false}, "tags": {"type": "string", "multiple": true},
            "must": {"type": "string", "required": true, "default": "d"}}),
        );
        let checked = check_input(&params, &json!({"tags": ["b"], "topic": "x"})).unwrap();
        assert_eq!(Value::from(checked).to_string(), r#"{"topic":"x","count":3,"deep":false,"tags":["b"],"must":"d"}"#);
    }

    #[test]
    fn lists_name_the_element() {
        let params = params(
            &json!({"n": {"type": "integer", "multiple": true}, "c": {"type": "checkboxes", "options": ["x", "y"]}}),
        );
        let message = check_input(&params, &json!({"n": [1, "b", 2, null], "c": ["x", "z"]})).unwrap_err().to_string();
        assert!(message.contains("`n[1]` must be") && message.contains("`n[3]` must be"), "{message}");
        assert!(message.contains("`c[1]` must be one of \"x\", \"y\", not \"z\""), "{message}");
        let message = check_input(&params, &json!({"n": 1, "c": ["x", "x"]})).unwrap_err().to_string();
        assert!(message.contains("`n` must be a list") && message.contains("`c` has \"x\" twice"), "{message}");
        assert_eq!(check_input(&params, &json!({"n": [1.0]})).unwrap()["n"].to_string(), "[1]");
    }

    #[test]
    fn lengths_count_characters_and_patterns_are_named() {
        let params = params(
            &json!({"a": {"type": "string", "minLength": 2, "maxLength": 2}, "b": {"type": "string", "pattern": "^[a-z]+$"}}),
        );
        assert!(check_input(&params, &json!({"a": "日本"})).is_ok());
        assert!(check_input(&params, &json!({"a": "😀😀"})).is_ok());
        let message = check_input(&params, &json!({"a": "x", "b": "A"})).unwrap_err().to_string();
        assert_eq!(
            message,
            "`a` must be at least 2 characters long, not 1 character; `b` must be a text that matches `^[a-z]+$`, not \"A\""
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_named_with_the_other_faults_in_the_declared_order() {
        let params = params(
            &json!({"first": {"type": "file"}, "count": {"type": "integer"}, "more": {"type": "file", "multiple": true}}),
        );
        let input = json!({"count": "x", "first": "/nowhere/at/all", "more": ["relative", 7], "other": 1});
        let faults = and_files(&params, &input, check_input(&params, &input)).unwrap_err();
        let names: Vec<&str> = faults.faults.iter().map(|fault| fault.name.as_str()).collect();
        assert_eq!(names, ["first", "count", "more[0]", "more[1]", "other"], "{faults}");
        let alone = json!({"first": "/nowhere/at/all"});
        assert!(
            and_files(&params, &alone, check_input(&params, &alone))
                .unwrap_err()
                .to_string()
                .contains("/nowhere/at/all")
        );
    }

    #[test]
    fn args_take_any_json_but_not_any_depth() {
        let params = vec![crate::merge::args_param()];
        for args in [json!([1, 2]), json!(null), json!("text"), json!({"a": 1})] {
            assert_eq!(check_input(&params, &json!({ "args": args })).unwrap()["args"], args);
        }
        assert!(check_input(&params, &json!({})).unwrap().is_empty());
        let mut deep = json!(1);
        for _ in 0..100 {
            deep = json!([deep]);
        }
        let message = check_input(&params, &json!({ "args": deep })).unwrap_err().to_string();
        assert!(message.contains("nested more than 100 levels"), "{message}");
    }

    #[test]
    fn a_secret_is_never_in_a_message() {
        let form = crate::params::read_form(&json!({"title": "T", "fields": {"s": {"type": "secret", "pattern": "^x",
            "maxLength": 9}}}))
        .unwrap();
        for answer in [json!({"s": "hush-hush"}), json!({"s": ["hush-hush"]}), json!({"s": {"hush-hush": 1}})] {
            let faults = check_answer(&form, &answer).unwrap_err();
            assert!(!format!("{faults} {}", faults.to_json()).contains("hush"), "{faults}");
        }
    }

    #[test]
    fn a_flood_of_faults_makes_a_short_message() {
        let input: Map<String, Value> = (0..100_000).map(|index| (format!("unknown{index}"), Value::Null)).collect();
        let message = check_input(&usual(), &input.into()).unwrap_err().to_string();
        assert!(message.len() < 10_000, "{}", message.len());
        assert!(message.ends_with("more"), "{message}");
    }

    #[test]
    fn handles_come_from_runs_only() {
        let mut entrypoint = crate::merge::tests::module();
        entrypoint.params = params(&json!({"doc": {"type": "file"}, "more": {"type": "file", "multiple": true}}));
        let handle = json!({"file": "created/20260828-abcd/a", "name": "a", "size": 1, "mediaType": "text/plain"});
        let input = json!({"doc": handle, "more": [handle, "/a"]});
        assert_eq!(Value::from(check_related_call(&entrypoint, &input).unwrap()), input);
        assert_eq!(check_call(&entrypoint, &input).unwrap_err().faults.len(), 2);
        assert!(check_related_call(&entrypoint, &json!({"doc": {"file": 1}})).is_err());
    }

    #[test]
    fn a_program_gets_no_nul_and_the_dynamic_entrypoint_objects() {
        let mut entrypoint = crate::merge::tests::module();
        entrypoint.params = params(&json!({"a": {"type": "string", "multiple": true}}));
        entrypoint.source = EntrypointSource::Command { argv: vec!["x".into()] };
        let message = check_call(&entrypoint, &json!({"a": ["b\u{0}"]})).unwrap_err().to_string();
        assert!(message.contains("NUL"), "{message}");
        entrypoint.source = EntrypointSource::Dynamic;
        assert!(check_call(&entrypoint, &json!({"script": "return 1", "meta": {}, "args": {}})).is_ok());
        let message =
            check_call(&entrypoint, &json!({"script": "x", "meta": "m", "args": [1]})).unwrap_err().to_string();
        assert!(message.contains("`meta` must be an object, not \"m\"; `args` must be an object"), "{message}");
        let faults = check_call(&entrypoint, &json!({"script": "x"})).unwrap_err();
        assert_eq!(faults.to_string(), "`meta` is required and missing; it must be an object");
        assert_eq!(faults.faults[0].allowed.as_deref(), Some("an object"));
    }
}
