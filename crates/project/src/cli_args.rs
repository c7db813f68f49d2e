//! A checked input as the arguments of a program.
//!
//! Options stand in declared order and positionals last, behind `--` when one of them begins with `-`; a value that
//! begins with `-` is written `--name=value`, so that no value is ever read as an option.

use model::{Param, ParamType};
use serde_json::{Map, Value};

use crate::fault::{Fault, Faults};

/// Converts a checked input. Files must have been replaced by the paths of their imported copies before
/// ([`crate::files::ManagedFiles::with_paths`]).
///
/// # Errors
///
/// Values that no argument can carry: a NUL character, a nested value where a plain one belongs.
pub fn cli_args(params: &[Param], input: &Map<String, Value>) -> Result<Vec<String>, Faults> {
    let mut options = Vec::new();
    let mut positionals = Vec::new();
    let mut faults = Vec::new();
    for param in params {
        let Some(value) = input.get(&param.name) else { continue };
        let values = match value {
            Value::Array(items) if param.multiple => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        for value in values {
            let text = match (param.kind, value) {
                (ParamType::Boolean, Value::Bool(true)) => {
                    options.push(format!("--{}", param.name));
                    continue;
                }
                (ParamType::Boolean, Value::Bool(false)) => {
                    options.push(format!("--no-{}", param.name));
                    continue;
                }
                (_, Value::String(text)) if text.contains('\0') => {
                    faults.push(Fault::new(&param.name, "has a NUL character, which no program takes as an argument"));
                    continue;
                }
                (_, Value::String(text)) => text.clone(),
                (_, Value::Number(number)) => number.to_string(),
                // `args` of a script: its JSON.
                (ParamType::Json, other) => other.to_string(),
                (_, other) => {
                    let came = crate::json::short(other);
                    faults.push(Fault::must_be(&param.name, "a plain value to become an argument", came));
                    continue;
                }
            };
            if param.kind == ParamType::Positional {
                positionals.push(text);
            } else if text.starts_with('-') {
                options.push(format!("--{}={text}", param.name));
            } else {
                options.extend([format!("--{}", param.name), text]);
            }
        }
    }
    if positionals.iter().any(|text| text.starts_with('-')) {
        options.push("--".into());
    }
    options.extend(positionals);
    Faults::unless_any(faults, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli_parse::parse_cli;
    use crate::params::{Purpose, read_params};
    use proptest::prelude::*;
    use serde_json::json;
    use std::path::Path;

    fn params(declarations: &Value) -> Vec<Param> {
        read_params(declarations, Purpose::Entrypoint).unwrap()
    }

    fn args(declarations: &Value, input: &Value) -> Vec<String> {
        cli_args(&params(declarations), input.as_object().unwrap()).unwrap()
    }

    #[test]
    fn options_come_in_declared_order_and_positionals_last() {
        let declarations = json!({"text": {"type": "positional"}, "times": {"type": "integer"}, "loud": {"type": "boolean"},
            "quiet": {"type": "boolean"}, "tag": {"type": "string", "multiple": true}});
        let input = json!({"text": "a b; $(x)", "times": 2, "loud": true, "quiet": false, "tag": ["p", "q"]});
        assert_eq!(
            args(&declarations, &input),
            ["--times", "2", "--loud", "--no-quiet", "--tag", "p", "--tag", "q", "a b; $(x)"]
        );
    }

    #[test]
    fn nothing_that_begins_with_a_hyphen_is_taken_for_an_option() {
        let declarations =
            json!({"n": {"type": "number"}, "s": {"type": "string"}, "f": {"type": "positional", "multiple": true}});
        assert_eq!(
            args(&declarations, &json!({"n": -1.5, "s": "--exec", "f": ["a", "-rf"]})),
            ["--n=-1.5", "--s=--exec", "--", "a", "-rf"]
        );
        assert_eq!(args(&declarations, &json!({"f": ["a", ""]})), ["a", ""]);
    }

    #[test]
    fn what_no_argument_can_carry_is_a_fault() {
        let params = params(&json!({"s": {"type": "string"}, "f": {"type": "file"}}));
        let input = json!({"s": "a\u{0}", "f": {"file": "x"}});
        let message = cli_args(&params, input.as_object().unwrap()).unwrap_err().to_string();
        assert!(message.contains("`s` has a NUL") && message.contains("`f` must be a plain value"), "{message}");
    }

    /// An independent reader in the manner of argparse: options by name, `--` ends them, the rest is positional.
    fn argparse(args: &[String], flags: &[&str]) -> (Vec<(String, Option<String>)>, Vec<String>) {
        let (mut options, mut rest, mut index, mut ended) = (Vec::new(), Vec::new(), 0, false);
        while index < args.len() {
            let arg = &args[index];
            index += 1;
            if ended || !arg.starts_with('-') {
                rest.push(arg.clone());
            } else if arg == "--" {
                ended = true;
            } else if let Some((name, value)) = arg.split_once('=') {
                options.push((name[2..].to_owned(), Some(value.to_owned())));
            } else if flags.contains(&&arg[2..]) {
                options.push((arg[2..].to_owned(), None));
            } else {
                assert!(!args[index].starts_with('-'), "a value that looks like an option: {args:?}");
                options.push((arg[2..].to_owned(), Some(args[index].clone())));
                index += 1;
            }
        }
        (options, rest)
    }

    proptest! {
        #[test]
        fn every_input_comes_through(
            text in "[^\0]*", list in proptest::collection::vec("[^\0]*", 0..4), number in any::<i32>(), real in -1e9_f64..1e9,
            flag in any::<bool>(), first in "[^\0]*", more in proptest::collection::vec("[^\0]*", 0..4),
        ) {
            let params = params(&json!({"text": {"type": "string"}, "first": {"type": "positional"}, "list": {"type": "string", "multiple": true},
                "number": {"type": "integer"}, "real": {"type": "number"}, "flag": {"type": "boolean"},
                "more": {"type": "positional", "multiple": true}}));
            let mut input = json!({"text": text, "first": first, "number": number, "real": real, "flag": flag});
            if !list.is_empty() { input["list"] = json!(list); }
            if !more.is_empty() { input["more"] = json!(more); }
            let args = cli_args(&params, input.as_object().unwrap()).unwrap();

            let (options, rest) = argparse(&args, &["flag", "no-flag"]);
            let values = |name: &str| -> Vec<&str> {
                options.iter().filter(|(known, _)| known == name).filter_map(|(_, value)| value.as_deref()).collect()
            };
            prop_assert_eq!(values("text"), [text.as_str()]);
            prop_assert_eq!(values("list"), list);
            let written = (if flag { "flag" } else { "no-flag" }.to_owned(), None);
            prop_assert!(options.contains(&written));
            prop_assert_eq!(&rest[0], &first);
            prop_assert_eq!(&rest[1..], &more[..]);

            // Our own reader gives the same input back.
            let read = parse_cli(&params, &args, Path::new("/")).unwrap();
            let checked = crate::check::check_input(&params, &read.into()).unwrap();
            prop_assert_eq!(&Value::from(crate::check::check_input(&params, &input).unwrap()), &Value::from(checked));
        }
    }
}
