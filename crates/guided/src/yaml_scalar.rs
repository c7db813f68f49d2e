//! What a plain word means in YAML 1.1 (yaml.org/type): truth values, numbers, dates, nothing, or text.

use serde_json::{Number, Value, json};

/// A single value.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Not a finite number: `.inf`, `-.inf`, `.nan`.
    NotFinite(String),
    /// A day or a moment, as it was written.
    Date(String),
    /// Text.
    Text(String),
}

impl Scalar {
    /// Names the type as messages do.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) | Self::NotFinite(_) => "number",
            Self::Date(_) => "date",
            Self::Text(_) => "string",
        }
    }

    /// Returns the value as JSON; see [`crate::yaml::Node::to_json`] for dates.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => Value::Number(number.clone()),
            Self::NotFinite(text) => json!({ "number that JSON does not have": text }),
            Self::Date(text) => json!({ "date (quote it to make it a string)": text }),
            Self::Text(text) => Value::String(text.clone()),
        }
    }

    /// Returns the text that stands for the value, for use as a key.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::NotFinite(text) | Self::Date(text) | Self::Text(text) => text,
        }
    }
}

/// Says what an untagged plain word means.
#[must_use]
pub fn resolve(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        _ => {}
    }
    if let Some(value) = truth(text) {
        return Scalar::Bool(value);
    }
    let begins_like_a_number = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    if !begins_like_a_number {
        return Scalar::Text(text.to_owned());
    }
    if let Some(number) = integer(text) {
        return Scalar::Number(number);
    }
    if let Some(number) = float(text) {
        return number;
    }
    if is_date(text) {
        return Scalar::Date(text.to_owned());
    }
    Scalar::Text(text.to_owned())
}

/// Reads a word under an explicit tag of the YAML repository. `None`: it does not fit, or the tag is unknown.
#[must_use]
pub fn resolve_as(tag: &str, text: &str) -> Option<Scalar> {
    match tag {
        "str" => Some(Scalar::Text(text.to_owned())),
        "null" => Some(Scalar::Null),
        "bool" => truth(text).map(Scalar::Bool),
        "int" => integer(text).map(Scalar::Number),
        "float" => float(text).or_else(|| integer(text).map(Scalar::Number)),
        "timestamp" => is_date(text).then(|| Scalar::Date(text.to_owned())),
        _ => None,
    }
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = sign(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) || digits.len() > 400 {
        return None;
    }
    let bare: String = digits.chars().filter(|digit| *digit != '_').collect();
    let magnitude = if let Some(hex) = bare.strip_prefix("0x") {
        parse_radix(hex, 16)?
    } else if let Some(binary) = bare.strip_prefix("0b") {
        parse_radix(binary, 2)?
    } else if bare.contains(':') {
        sexagesimal(&bare)?
    } else if bare.len() > 1 && bare.starts_with('0') {
        parse_radix(&bare[1..], 8)?
    } else {
        parse_radix(&bare, 10)?
    };
    match magnitude {
        Magnitude::Exact(value) if negative => {
            i64::try_from(-i128::from(value)).ok().map(Number::from).or_else(|| Number::from_f64(-(value as f64)))
        }
        Magnitude::Exact(value) => Some(Number::from(value)),
        Magnitude::Huge(value) => Number::from_f64(if negative { -value } else { value }),
    }
}

enum Magnitude {
    Exact(u64),
    Huge(f64),
}

fn parse_radix(digits: &str, radix: u32) -> Option<Magnitude> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    Some(match u64::from_str_radix(digits, radix) {
        Ok(value) => Magnitude::Exact(value),
        Err(_) => Magnitude::Huge(
            digits
                .chars()
                .filter_map(|digit| digit.to_digit(radix))
                .fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit)),
        ),
    })
}

/// `1:30` is 90: numbers to the base 60 (yaml.org/type/int).
fn sexagesimal(text: &str) -> Option<Magnitude> {
    let mut parts = text.split(':');
    let first = parts.next().filter(|first| first.starts_with(|digit: char| ('1'..='9').contains(&digit)))?;
    let mut sum: u64 = first.parse().ok()?;
    for part in parts {
        if part.is_empty() || part.len() > 2 || !part.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let part: u64 = part.parse().ok().filter(|part| *part < 60)?;
        sum = sum.checked_mul(60)?.checked_add(part)?;
    }
    Some(Magnitude::Exact(sum))
}

fn float(text: &str) -> Option<Scalar> {
    let (negative, rest) = sign(text);
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(Scalar::NotFinite(text.to_owned())),
        ".nan" | ".NaN" | ".NAN" if rest == text => return Some(Scalar::NotFinite(text.to_owned())),
        _ => {}
    }
    // A point is needed, and an exponent has a sign: `1e5` is text (yaml.org/type/float).
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let (whole, fraction) = mantissa.split_once('.')?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let has_digit = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        exponent.len() > 1
            && exponent.starts_with(['+', '-'])
            && exponent[1..].bytes().all(|byte| byte.is_ascii_digit())
    });
    if !digits(whole) || !digits(fraction) || !(has_digit(whole) || has_digit(fraction)) || !exponent_fits {
        return None;
    }
    let bare: String = rest.chars().filter(|digit| *digit != '_').collect();
    let value: f64 = bare.parse().ok()?;
    let value = if negative { -value } else { value };
    Some(Number::from_f64(value).map_or_else(|| Scalar::NotFinite(text.to_owned()), Scalar::Number))
}

/// `2026-11-30`, or with a time of day after it (yaml.org/type/timestamp).
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    if !text.is_ascii() || bytes.len() < 8 || !digits(0..4) || bytes[4] != b'-' {
        return false;
    }
    if bytes.len() == 10 {
        return digits(5..7) && bytes[7] == b'-' && digits(8..10);
    }
    let Some((date, time)) = text.split_once(['T', 't', ' ', '\t']) else { return false };
    let mut parts = date.split('-').skip(1);
    let short = |part: Option<&str>| {
        part.is_some_and(|part| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if !(short(parts.next()) && short(parts.next()) && parts.next().is_none()) {
        return false;
    }
    let time = time.trim_start();
    let clock: Vec<&str> = time.splitn(3, ':').collect();
    clock.len() == 3
        && short(clock.first().copied())
        && clock.get(1).is_some_and(|minute| minute.len() == 2 && minute.bytes().all(|byte| byte.is_ascii_digit()))
        && clock.get(2).is_some_and(|rest| {
            rest.len() >= 2
                && rest.as_bytes()[..2].iter().all(u8::is_ascii_digit)
                && rest[2..].chars().all(|one| one.is_ascii_digit() || ".:+-Z \t".contains(one))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_look_like_numbers_and_are_none_stay_text() {
        for text in ["1e5", "-", "+", ".", "1.2.3", "0x", "09", "1:99", "12:ab", "--5", "2026-1", "0b2", "1_", "_1"] {
            if text == "1_" {
                assert_eq!(resolve(text), Scalar::Number(1.into()));
                continue;
            }
            assert_eq!(resolve(text), Scalar::Text(text.into()), "{text}");
        }
    }

    #[test]
    fn numbers_and_dates_are_told_apart() {
        assert_eq!(resolve("-0x10"), Scalar::Number((-16).into()));
        assert_eq!(resolve("0b101"), Scalar::Number(5.into()));
        assert_eq!(resolve("1.5e+3").to_json(), json!(1500.0));
        assert_eq!(resolve("99999999999999999999").type_name(), "number");
        assert_eq!(resolve("-9223372036854775808").to_json(), json!(i64::MIN));
        for text in ["2026-11-30", "2026-11-30T10:00:00Z", "2026-11-30 10:00:00.5 +02:00", "2026-1-3 1:02:03"] {
            assert_eq!(resolve(text).type_name(), "date", "{text}");
        }
        assert_eq!(resolve(".inf").type_name(), "number");
    }

    #[test]
    fn a_tag_decides() {
        assert_eq!(resolve_as("str", "yes"), Some(Scalar::Text("yes".into())));
        assert_eq!(resolve_as("int", "x"), None);
        assert_eq!(resolve_as("binary", "aGk="), None);
    }
}
