//! One value against one parameter: its type, options, bounds and pattern. Lists and whole inputs: [`mod@crate::check`].

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use model::{Param, ParamOption, ParamType};
use regex::{Regex, RegexBuilder};
use serde_json::{Number, Value};

use crate::fault::Fault;
use crate::json::short;
use crate::moment::{is_date, is_date_time, is_time};

/// The largest whole number that every script and client holds exactly: 2^53 − 1.
pub const LARGEST_INTEGER: i64 = 9_007_199_254_740_991;

/// Memory that one compiled pattern may take, in bytes. Matching is linear in the text whatever the pattern.
const PATTERN_BYTES: usize = 1024 * 1024;

/// Compiles a pattern of a parameter.
///
/// # Errors
///
/// What the pattern does that is not taken: look-around and back-references above all.
pub fn compile_pattern(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build()
}

/// A pattern is compiled once a process: a form may be asked, and a tool be called, a thousand times.
fn matches(pattern: &str, text: &str) -> Option<bool> {
    static COMPILED: OnceLock<Mutex<HashMap<String, Option<Regex>>>> = OnceLock::new();
    const MOST: usize = 256;
    let regex = {
        let mut compiled =
            COMPILED.get_or_init(Mutex::default).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if compiled.len() >= MOST && !compiled.contains_key(pattern) {
            compiled.clear();
        }
        compiled.entry(pattern.to_owned()).or_insert_with(|| compile_pattern(pattern).ok()).clone()
    };
    regex.map(|regex| regex.is_match(text))
}

/// Says what a single value of this parameter must be, in words.
#[must_use]
pub fn allowed(param: &Param) -> String {
    if !param.options.is_empty() {
        return options_in_words(&param.options);
    }
    match param.kind {
        ParamType::String | ParamType::Positional | ParamType::Secret => "a string".into(),
        ParamType::Select | ParamType::Checkboxes => "a string".into(),
        ParamType::Number => bounds("a number", param),
        ParamType::Integer => bounds("a whole number", param),
        ParamType::Boolean => "true or false".into(),
        ParamType::Date => "a date that exists, written YYYY-MM-DD".into(),
        ParamType::DateTime => {
            "a date and time, written YYYY-MM-DDTHH:MM:SS with an optional offset (Z or +HH:MM)".into()
        }
        ParamType::Time => "a time of day, written HH:MM or HH:MM:SS".into(),
        ParamType::File => "the absolute path of a file on this machine".into(),
        ParamType::Json => "a JSON value".into(),
    }
}

fn options_in_words(options: &[ParamOption]) -> String {
    const MOST: usize = 30;
    let shown: Vec<String> = options.iter().take(MOST).map(|option| short(&option.value)).collect();
    let more = if options.len() > MOST { format!(" and {} more", options.len() - MOST) } else { String::new() };
    if options.len() == 1 { shown.join("") } else { format!("one of {}{more}", shown.join(", ")) }
}

fn bounds(what: &str, param: &Param) -> String {
    match (param.minimum, param.maximum) {
        (Some(least), Some(most)) => format!("{what} from {least} to {most}"),
        (Some(least), None) => format!("{what} of at least {least}"),
        (None, Some(most)) => format!("{what} of at most {most}"),
        (None, None) => what.into(),
    }
}

/// Checks one value (of a list: one element) and gives it in its normal form: a whole number that came as `3.0` is `3`.
///
/// A file's value is only looked at here (a text that is not empty, or a handle inside a run); [`crate::files`] goes to
/// the file itself.
///
/// # Errors
///
/// The first rule the value breaks.
pub fn check_value(param: &Param, name: &str, value: &Value) -> Result<Value, Fault> {
    let wrong = || {
        let came = if param.kind == ParamType::Secret { "what came".into() } else { short(value) };
        Fault::must_be(name, allowed(param), came)
    };
    let normal = match param.kind {
        ParamType::Number => {
            let number = value.as_f64().filter(|number| number.is_finite()).ok_or_else(wrong)?;
            check_bounds(param, number).ok_or_else(wrong)?;
            value.clone()
        }
        ParamType::Integer => {
            let whole = whole_number(value).ok_or_else(wrong)?;
            #[expect(clippy::cast_precision_loss, reason = "within 2^53 nothing is lost")]
            check_bounds(param, whole as f64).ok_or_else(wrong)?;
            Value::from(whole)
        }
        ParamType::Boolean => Value::Bool(value.as_bool().ok_or_else(wrong)?),
        ParamType::Json => value.clone(),
        ParamType::File => {
            let path = value.as_str().filter(|path| !path.is_empty()).ok_or_else(wrong)?;
            Value::from(path)
        }
        ParamType::String
        | ParamType::Positional
        | ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Secret
        | ParamType::Date
        | ParamType::DateTime
        | ParamType::Time => {
            let text = value.as_str().ok_or_else(wrong)?;
            check_text(param, name, text, &wrong)?;
            value.clone()
        }
    };
    if !param.options.is_empty() && !param.options.iter().any(|option| equal(&option.value, &normal)) {
        return Err(wrong());
    }
    Ok(normal)
}

fn check_text(param: &Param, name: &str, text: &str, wrong: &dyn Fn() -> Fault) -> Result<(), Fault> {
    let fits = match param.kind {
        ParamType::Date => is_date(text),
        ParamType::DateTime => is_date_time(text),
        ParamType::Time => is_time(text),
        ParamType::String
        | ParamType::Positional
        | ParamType::Select
        | ParamType::Checkboxes
        | ParamType::Secret
        | ParamType::Number
        | ParamType::Integer
        | ParamType::Boolean
        | ParamType::File
        | ParamType::Json => true,
    };
    if !fits {
        return Err(wrong());
    }
    let length = || text.chars().count() as u64;
    let characters = |count: u64| if count == 1 { "1 character".to_owned() } else { format!("{count} characters") };
    if let Some(least) = param.min_length
        && length() < least
    {
        return Err(Fault::must_be(name, format!("at least {} long", characters(least)), characters(length())));
    }
    if let Some(most) = param.max_length
        && length() > most
    {
        return Err(Fault::must_be(name, format!("at most {} long", characters(most)), characters(length())));
    }
    // A pattern that does not compile was a fault of the declaration; here it cannot be met.
    if let Some(pattern) = &param.pattern
        && matches(pattern, text) != Some(true)
    {
        let came = if param.kind == ParamType::Secret { "what came".into() } else { short(&Value::from(text)) };
        return Err(Fault::must_be(name, format!("a text that matches `{pattern}`"), came));
    }
    Ok(())
}

fn check_bounds(param: &Param, number: f64) -> Option<()> {
    let fits = param.minimum.is_none_or(|least| number >= least) && param.maximum.is_none_or(|most| number <= most);
    fits.then_some(())
}

/// Returns a JSON number as a whole number that every script holds exactly; `3.0` is 3, as JSON Schema has it.
#[must_use]
pub fn whole_number(value: &Value) -> Option<i64> {
    let whole = match value.as_i64() {
        Some(whole) => whole,
        None => {
            let number = value.as_f64()?;
            #[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact")]
            if number.fract() != 0.0 || number.abs() > LARGEST_INTEGER as f64 {
                return None;
            }
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            let whole = number as i64;
            whole
        }
    };
    (whole.unsigned_abs() <= LARGEST_INTEGER.unsigned_abs()).then_some(whole)
}

/// Compares as JSON does: numbers by their value, everything else as it is.
#[must_use]
pub fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (one, other) => one == other,
    }
}

/// Writes a bound as JSON: a whole one without a fraction.
#[must_use]
pub fn number(value: f64) -> Value {
    let as_whole = Number::from_f64(value).map(Value::Number).and_then(|value| whole_number(&value));
    match as_whole {
        Some(whole) => whole.into(),
        None => Number::from_f64(value).map_or(Value::Null, Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!(3), Some(3))]
    #[case(json!(3.0), Some(3))]
    #[case(json!(-0.0), Some(0))]
    #[case(json!(1.5), None)]
    #[case(json!(9_007_199_254_740_991_i64), Some(LARGEST_INTEGER))]
    #[case(json!(9_007_199_254_740_992_i64), None)]
    #[case(json!(18_446_744_073_709_551_615_u64), None)]
    #[case(json!(1e30), None)]
    #[case(json!("3"), None)]
    #[case(json!(i64::MIN), None)]
    fn whole_numbers(#[case] value: Value, #[case] wanted: Option<i64>) {
        assert_eq!(whole_number(&value), wanted);
    }

    #[test]
    fn bounds_are_written_without_a_needless_fraction() {
        assert_eq!(number(1.0).to_string(), "1");
        assert_eq!(number(0.5).to_string(), "0.5");
    }

    #[test]
    fn a_pattern_that_would_take_gigabytes_is_refused() {
        assert!(compile_pattern(r"(\w{1000}){1000}").is_err());
        assert!(compile_pattern(r"(a+)+$").is_ok());
    }

    #[test]
    fn a_pattern_that_ruins_backtracking_engines_is_linear_here() {
        assert_eq!(matches("^(a+)+$", &format!("{}b", "a".repeat(100_000))), Some(false));
    }
}
