//! A client's file as text: finding, setting and removing one server, with everything else kept.
//!
//! JSON and TOML are edited on their concrete syntax trees (`json_document`, `toml_document`). What both share is here:
//! byte order mark, line ends, depth, and the check afterwards that nothing but our entry differs.

use serde_json::{Map, Value};

use crate::shape::{Document, Shape};
use crate::{json_document, toml_document};

/// Where a text is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is wrong, without a full stop.
    pub(crate) reason: String,
}

impl Fault {
    pub(crate) fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }

    /// Makes a fault at a byte of `text`.
    pub(crate) fn at(text: &str, byte: usize, reason: impl Into<String>) -> Self {
        let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
        Self::new(before.iter().filter(|byte| **byte == b'\n').count() + 1, reason)
    }
}

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The text itself.
    Fault(Fault),
    /// The edited text failed the check.
    Unsafe,
}

impl From<Fault> for EditError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Brackets of a configuration deeper than this are refused before a parser sees them.
const DEPTH: usize = model::Limits::JSON_DEPTH;

/// Returns the entry of `key`, if there is one.
pub(crate) fn find(shape: &Shape, text: &str, key: &str) -> Result<Option<Value>, Fault> {
    let (_, text) = split_mark(text);
    let whole = parse(shape, text)?;
    let way = choose_way(shape, &whole);
    Ok(lookup(&whole, way).and_then(|servers| servers.get(key)).cloned())
}

/// Returns `text` with the properties of `entry` set in the server `key`; properties a person added stay.
pub(crate) fn set(shape: &Shape, text: &str, key: &str, entry: &Map<String, Value>) -> Result<String, EditError> {
    edit(shape, text, key, Some(entry))
}

/// Returns `text` without the server `key`, which must be there.
pub(crate) fn remove(shape: &Shape, text: &str, key: &str) -> Result<String, EditError> {
    edit(shape, text, key, None)
}

fn edit(shape: &Shape, text: &str, key: &str, entry: Option<&Map<String, Value>>) -> Result<String, EditError> {
    let (mark, body) = split_mark(text);
    // Blanks alone would become an odd indentation.
    let body = if body.trim().is_empty() { "" } else { body };
    let before = parse(shape, body)?;
    let way = choose_way(shape, &before);
    let after = match shape.document {
        Document::Json { .. } => match entry {
            Some(entry) => json_document::set(body, way, key, entry)?,
            None => json_document::remove(body, way, key)?,
        },
        Document::Toml { .. } => match entry {
            Some(entry) => toml_document::set(body, way, key, entry)?,
            None => toml_document::remove(body, way, key)?,
        },
        Document::Yaml { .. } => return Err(EditError::Unsafe),
    };
    let after = keep_line_ends(body, after);
    check(shape, way, key, before, &after, entry)?;
    Ok(format!("{mark}{after}"))
}

/// Compares the values before and after: apart from our entry they must be equal, and our entry must be complete.
fn check(
    shape: &Shape,
    way: &[&str],
    key: &str,
    mut before: Value,
    after: &str,
    entry: Option<&Map<String, Value>>,
) -> Result<(), EditError> {
    let mut after = parse(shape, after).map_err(|_| EditError::Unsafe)?;
    let old = take(&mut before, way, key);
    let new = take(&mut after, way, key);
    let complete = match (entry, &new) {
        (None, None) => true,
        (Some(entry), Some(Value::Object(new))) => {
            let ours = entry.iter().all(|(name, value)| new.get(name) == Some(value));
            // What a person added to our entry is still there.
            let theirs = old.as_ref().and_then(Value::as_object).is_none_or(|old| {
                old.iter().all(|(name, value)| entry.contains_key(name) || new.get(name) == Some(value))
            });
            ours && theirs
        }
        _ => false,
    };
    // Containers that we made on the way are empty now.
    prune(&mut before, way);
    prune(&mut after, way);
    if complete && before == after { Ok(()) } else { Err(EditError::Unsafe) }
}

fn take(whole: &mut Value, way: &[&str], key: &str) -> Option<Value> {
    let mut place = whole;
    for name in way {
        place = place.get_mut(*name)?;
    }
    place.as_object_mut()?.shift_remove(key)
}

/// Removes empty objects at the end of `way`.
fn prune(whole: &mut Value, way: &[&str]) {
    let Some((last, rest)) = way.split_last() else { return };
    let mut place = Some(&mut *whole);
    for name in rest {
        place = place.and_then(|value| value.get_mut(*name));
    }
    if let Some(object) = place.and_then(Value::as_object_mut)
        && object.get(*last).and_then(Value::as_object).is_some_and(Map::is_empty)
    {
        object.shift_remove(*last);
        prune(whole, rest);
    }
}

/// Returns the value of a text; an empty text is an empty object.
fn parse(shape: &Shape, text: &str) -> Result<Value, Fault> {
    limit_depth(shape, text)?;
    match shape.document {
        Document::Json { .. } => json_document::parse(text),
        Document::Toml { .. } => toml_document::parse(text),
        Document::Yaml { .. } => Err(Fault::new(1, "YAML is not read here")),
    }
}

/// Returns the last of the shape's ways that the file has, else the first.
fn choose_way(shape: &Shape, whole: &Value) -> &'static [&'static str] {
    let ways = shape.ways();
    let first = ways.first().copied().unwrap_or_default();
    ways.iter()
        .skip(1)
        .rev()
        .find(|way| {
            // A server that happens to be called like the last step is no container.
            lookup(whole, way)
                .is_some_and(|servers| servers.values().all(Value::is_object) && !servers.contains_key("command"))
        })
        .copied()
        .unwrap_or(first)
}

fn lookup<'a>(whole: &'a Value, way: &[&str]) -> Option<&'a Map<String, Value>> {
    way.iter().try_fold(whole, |place, name| place.get(*name))?.as_object()
}

fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest))
}

/// Gives added lines the line ends of a file that has `\r\n` throughout.
fn keep_line_ends(before: &str, after: String) -> String {
    let windows = before.matches("\r\n").count();
    if windows == 0 || before.matches('\n').count() != windows {
        return after;
    }
    after.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// Refuses a text whose brackets nest deeper than any configuration: parsers and trees here are recursive.
///
/// Brackets inside texts and comments do not count. Table names of TOML nest by dots, which its parser limits.
fn limit_depth(shape: &Shape, text: &str) -> Result<(), Fault> {
    let toml = matches!(shape.document, Document::Toml { .. });
    let bytes = text.as_bytes();
    let (mut depth, mut line, mut index) = (0_usize, 1, 0);
    while let Some(&byte) = bytes.get(index) {
        let next = bytes.get(index + 1).copied();
        match byte {
            b'\n' => line += 1,
            b'"' | b'\'' if toml || byte == b'"' => {
                let long = toml && next == Some(byte) && bytes.get(index + 2) == Some(&byte);
                let close = if long { 3 } else { 1 };
                index += close;
                while let Some(&inner) = bytes.get(index) {
                    let closes = bytes[index..].iter().take_while(|next| **next == byte).take(close).count() == close;
                    match inner {
                        b'\\' if byte == b'"' => index += 1,
                        _ if closes => break,
                        b'\n' => {
                            line += 1;
                            // A text left open ends here; the parser will name it.
                            if !long {
                                break;
                            }
                        }
                        _ => {}
                    }
                    index += 1;
                }
                index += close - 1;
            }
            b'#' if toml => index = end_of_line(bytes, index),
            b'/' if !toml && next == Some(b'/') => index = end_of_line(bytes, index),
            b'/' if !toml && next == Some(b'*') => {
                index += 2;
                while index < bytes.len() && !bytes[index..].starts_with(b"*/") {
                    line += usize::from(bytes[index] == b'\n');
                    index += 1;
                }
                index += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                if depth > DEPTH {
                    return Err(Fault::new(line, format!("brackets nest deeper than {DEPTH}")));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        index += 1;
    }
    Ok(())
}

/// Returns the index before the next line end.
fn end_of_line(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| from + length - 1)
}

#[cfg(test)]
mod tests;
