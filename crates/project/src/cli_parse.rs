//! The other way round: what a person typed behind `workflow-code run PROJECT ENTRYPOINT` as an input, to be checked by
//! [`mod@crate::check`]. Every form that [`mod@crate::cli_args`] writes is read back as what it was.

use std::iter::Peekable;
use std::path::Path;

use model::{Param, ParamType};
use serde_json::{Map, Value};

use crate::fault::{Fault, Faults};
use crate::words::nearest;

/// Reads `--name value`, `--name=value`, `--flag`, `--no-flag`, bare values for positionals in their order, and `--`
/// before values that begin with `-`. A list's parameter is repeated. `cwd` is what a relative file path starts from:
/// in a terminal that is what a person means.
///
/// Types are converted as far as the text allows; what does not convert stays a text, for the check to name. `args` of a
/// script takes JSON, and any other text as text.
///
/// # Errors
///
/// Unknown flags, flags without a value, single parameters given twice, values that belong to nothing.
pub fn parse_cli(params: &[Param], args: &[String], cwd: &Path) -> Result<Map<String, Value>, Faults> {
    let mut parser = Parser { params, cwd, input: Map::new(), faults: Vec::new(), positionals: 0 };
    let mut args = args.iter().peekable();
    let mut only_values = false;
    while let Some(arg) = args.next() {
        if only_values {
            parser.positional(arg);
        } else if arg == "--" {
            only_values = true;
        } else if let Some(flag) = arg.strip_prefix("--") {
            parser.option(flag, &mut args);
        } else if arg.starts_with('-') && arg.len() > 1 && arg.parse::<f64>().is_err() {
            let flag = arg.trim_start_matches('-');
            let near = parser.suggestion(flag);
            parser
                .faults
                .push(Fault::new(arg, format!("is no option{near}; a value that begins with `-` stands behind `--`")));
        } else {
            parser.positional(arg);
        }
    }
    Faults::unless_any(parser.faults, parser.input)
}

struct Parser<'a> {
    params: &'a [Param],
    cwd: &'a Path,
    input: Map<String, Value>,
    faults: Vec<Fault>,
    positionals: usize,
}

impl<'a> Parser<'a> {
    fn find(&self, name: &str) -> Option<&'a Param> {
        self.params.iter().find(|param| param.name == name)
    }

    fn suggestion(&self, flag: &str) -> String {
        let names = self.params.iter().map(|param| param.name.as_str());
        nearest(flag, names).map_or_else(String::new, |near| format!("; did you mean `--{near}`?"))
    }

    fn option(&mut self, flag: &str, rest: &mut Peekable<std::slice::Iter<'_, String>>) {
        let (name, given) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (flag, None),
        };
        if let Some(param) = self.find(name) {
            if param.kind == ParamType::Boolean {
                let value = match given {
                    None => Value::Bool(true),
                    Some(text) => convert(param, text, self.cwd),
                };
                return self.put(param, value);
            }
            let value = match given {
                Some(value) => value,
                // `--name --other` is a forgotten value far more often than a value.
                None => match rest.next_if(|next| !next.starts_with("--")) {
                    Some(value) => value,
                    None => {
                        let message = match rest.peek() {
                            Some(next) => {
                                let shown = crate::json::short(&Value::from(next.as_str()));
                                format!("has no value; write `--{name}=VALUE` if {shown} is meant")
                            }
                            None => "has no value".into(),
                        };
                        return self.faults.push(Fault::new(format!("--{name}"), message));
                    }
                },
            };
            let value = convert(param, value, self.cwd);
            return self.put(param, value);
        }
        let negated = name.strip_prefix("no-").and_then(|name| self.find(name));
        match (negated, given) {
            (Some(param), None) if param.kind == ParamType::Boolean => self.put(param, Value::Bool(false)),
            (Some(_) | None, _) => {
                let near = self.suggestion(name);
                let all: Vec<String> = self.params.iter().take(20).map(|param| format!("`--{}`", param.name)).collect();
                let near = match (near.is_empty(), all.is_empty()) {
                    (false, _) => near,
                    (true, true) => "; this entrypoint takes no parameters".into(),
                    (true, false) => format!("; there are {}", all.join(", ")),
                };
                self.faults.push(Fault::new(format!("--{name}"), format!("is no parameter{near}")));
            }
        }
    }

    fn positional(&mut self, text: &str) {
        let positional: Vec<&Param> = self.params.iter().filter(|param| param.kind == ParamType::Positional).collect();
        match positional.get(self.positionals) {
            Some(param) => {
                // A list takes all that is left.
                if !param.multiple {
                    self.positionals += 1;
                }
                self.put(param, convert(param, text, self.cwd));
            }
            None => {
                let message = match positional.len() {
                    0 => "belongs to no parameter; write `--name VALUE`".into(),
                    count => format!("is one value more than the {count} without a name"),
                };
                self.faults.push(Fault::new(text, message));
            }
        }
    }

    fn put(&mut self, param: &Param, value: Value) {
        if param.multiple {
            let list = self.input.entry(param.name.as_str()).or_insert_with(|| Value::Array(Vec::new()));
            if let Some(list) = list.as_array_mut() {
                list.push(value);
            }
        } else if self.input.insert(param.name.clone(), value).is_some() {
            self.faults.push(Fault::new(format!("--{}", param.name), "is given twice and takes one value"));
        }
    }
}

fn convert(param: &Param, text: &str, cwd: &Path) -> Value {
    let as_text = || Value::from(text);
    match param.kind {
        ParamType::Number | ParamType::Integer => {
            // JSON's numbers, and the usual `+5` and `.5` beside them.
            let whole = text.trim().parse::<i64>().map(Value::from).ok();
            let number = || text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number);
            whole.or_else(number).unwrap_or_else(as_text)
        }
        ParamType::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Value::Bool(true),
            "false" | "no" | "0" => Value::Bool(false),
            _ => as_text(),
        },
        ParamType::Json => crate::json::parse(text.as_bytes()).map_or_else(|_| as_text(), |read| read.value),
        // A URL is no relative path; the import names it.
        ParamType::File if !text.is_empty() && !text.contains("://") && !text.starts_with("data:") => {
            cwd.join(text).to_str().map_or_else(as_text, Value::from)
        }
        ParamType::File
        | ParamType::String
        | ParamType::Positional
        | ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Date
        | ParamType::DateTime
        | ParamType::Time
        | ParamType::Secret => as_text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Purpose, read_params};
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::json;

    fn params() -> Vec<Param> {
        let mut params = read_params(
            &json!({"topic": {"type": "positional"}, "count": {"type": "integer"}, "deep": {"type": "boolean"},
                "tags": {"type": "string", "multiple": true}, "doc": {"type": "file"}}),
            Purpose::Entrypoint,
        )
        .unwrap();
        params.push(crate::merge::args_param());
        params
    }

    fn parse(args: &[&str]) -> Result<Value, String> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        parse_cli(&params(), &args, Path::new("/home/ada")).map(Value::from).map_err(|faults| faults.to_string())
    }

    #[rstest]
    #[case(&["x", "--count", "3", "--deep"], json!({"topic": "x", "count": 3, "deep": true}))]
    #[case(&["--count=-3", "--no-deep", "--", "-x"], json!({"count": -3, "deep": false, "topic": "-x"}))]
    #[case(&["--count", "-3"], json!({"count": -3}))]
    #[case(&["--tags", "a", "--tags=b"], json!({"tags": ["a", "b"]}))]
    #[case(&["--doc", "a.txt"], json!({"doc": "/home/ada/a.txt"}))]
    #[case(&["--doc", "/a.txt"], json!({"doc": "/a.txt"}))]
    #[case(&["--doc", "https://a/b"], json!({"doc": "https://a/b"}))]
    #[case(&["--args", "[1, 2]"], json!({"args": [1, 2]}))]
    #[case(&["--args", "plain text"], json!({"args": "plain text"}))]
    #[case(&["--deep=no"], json!({"deep": false}))]
    #[case(&["--count", "many"], json!({"count": "many"}))]
    #[case(&["--count", "2.5"], json!({"count": 2.5}))]
    #[case(&["-5"], json!({"topic": "-5"}))]
    #[case(&["--tags="], json!({"tags": [""]}))]
    fn read(#[case] args: &[&str], #[case] wanted: Value) {
        assert_eq!(parse(args), Ok(wanted));
    }

    #[rstest]
    #[case(&["--cuont", "3"], "`--cuont` is no parameter; did you mean `--count`?")]
    #[case(&["--zzzzzzz"], "there are `--topic`, `--count`")]
    #[case(&["--count"], "`--count` has no value")]
    #[case(&["--count", "--deep"], "`--count` has no value; write `--count=VALUE` if \"--deep\" is meant")]
    #[case(&["--count", "1", "--count", "2"], "`--count` is given twice")]
    #[case(&["--no-count"], "`--no-count` is no parameter")]
    #[case(&["a", "b"], "`b` is one value more than the 1 without a name")]
    #[case(&["-x"], "is no option")]
    fn refused(#[case] args: &[&str], #[case] words: &str) {
        let message = parse(args).unwrap_err();
        assert!(message.contains(words), "{message}");
    }

    proptest! {
        #[test]
        fn no_arguments_panic(args in proptest::collection::vec(any::<String>(), 0..8)) {
            let _ = parse_cli(&params(), &args, Path::new("/"));
        }
    }
}
