//! Reads mappings of a file against what they may hold, and gathers every violation with its place.
//!
//! Not here: which keys there are (`job`, `rules`, `schemas`).

use std::fmt;
use std::rc::Rc;

use crate::yaml::{Content, Key, Node};
use crate::yaml_scalar::Scalar;

/// Violations that are listed; a file with more has one cause.
const MOST_LISTED: usize = 20;

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Keys and positions from the top, joined by ` -> `; `root` for the top itself.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to write instead where that is known.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}: {}", self.line, self.path, self.message)
    }
}

/// Writes violations one to a line.
#[must_use]
pub fn listed(violations: &[Violation]) -> String {
    first_of(violations.iter().map(Violation::to_string), MOST_LISTED).join("\n")
}

/// Gives the first lines, and how many more there are.
pub(crate) fn first_of(mut all: impl ExactSizeIterator<Item = String>, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = all.by_ref().take(most).collect();
    if all.len() > 0 {
        lines.push(format!("and {} more", all.len()));
    }
    lines
}

/// Gathers violations.
#[derive(Debug, Default)]
pub struct Check {
    /// What was found, in the order of reading.
    pub violations: Vec<Violation>,
}

/// A value with its place.
#[derive(Debug, Clone)]
pub struct Place<'a> {
    /// The value.
    pub node: &'a Node,
    /// The way to it, put into words only when there is something to say.
    way: Option<Rc<Step<'a>>>,
}

/// The last step of a way, and those before it.
#[derive(Debug)]
struct Step<'a> {
    before: Option<Rc<Step<'a>>>,
    part: Part<'a>,
}

#[derive(Debug)]
enum Part<'a> {
    Key(&'a str),
    Item(usize),
}

impl<'a> Place<'a> {
    /// Stands at the top of a document.
    #[must_use]
    pub fn root(node: &'a Node) -> Self {
        Self { node, way: None }
    }

    fn inner(&self, node: &'a Node, part: Part<'a>) -> Self {
        Self { node, way: Some(Rc::new(Step { before: self.way.clone(), part })) }
    }

    fn shown(&self) -> String {
        let mut parts = Vec::new();
        let mut step = self.way.as_deref();
        while let Some(Step { before, part }) = step {
            parts.push(match part {
                Part::Key(key) => (*key).to_owned(),
                Part::Item(index) => index.to_string(),
            });
            step = before.as_deref();
        }
        if parts.is_empty() {
            return "root".into();
        }
        parts.reverse();
        parts.join(" -> ")
    }
}

/// The entries of a mapping whose keys were checked.
#[derive(Debug)]
pub struct Fields<'a> {
    at: Place<'a>,
    entries: &'a [(Key, Node)],
}

/// What a key may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It has to be there.
    Required,
    /// It may be left out.
    Optional,
}

impl Check {
    /// Notes a violation.
    pub fn fault(&mut self, at: &Place<'_>, message: impl Into<String>) {
        self.violations.push(Violation { path: at.shown(), line: at.node.line, message: message.into() });
    }

    /// Reads a mapping with these keys and no others. `older` says what became of keys of older formats.
    pub fn fields<'a>(&mut self, at: &Place<'a>, keys: &[(&str, Need)], older: &[(&str, &str)]) -> Option<Fields<'a>> {
        let entries = self.mapping(at)?;
        for (key, node) in entries {
            if key.is_string && keys.iter().any(|(known, _)| *known == key.text) {
                continue;
            }
            let hint = older.iter().find(|(old, _)| *old == key.text).map_or_else(
                || {
                    let known: Vec<String> = keys.iter().map(|(key, _)| format!("`{key}`")).collect();
                    format!("known keys: {}", known.join(", "))
                },
                |(_, hint)| (*hint).to_owned(),
            );
            self.violations.push(Violation {
                path: at.inner(node, Part::Key(&key.text)).shown(),
                line: key.line,
                message: format!("the key `{}` is not known; {hint}", key.text),
            });
        }
        for (key, need) in keys {
            if *need == Need::Required && !entries.iter().any(|(entry, _)| entry.text == *key) {
                self.fault(at, format!("the key `{key}` is missing"));
            }
        }
        Some(Fields { at: at.clone(), entries })
    }

    /// Reads a mapping with free keys.
    pub fn mapping<'a>(&mut self, at: &Place<'a>) -> Option<&'a [(Key, Node)]> {
        let entries = at.node.as_mapping();
        if entries.is_none() {
            let hint = if at.node.type_name() == "null" { "; write `{}` for an empty one" } else { "" };
            self.fault(at, format!("expected a mapping, found {}{hint}", at.node.type_name()));
        }
        entries
    }

    /// Reads the entries of a mapping whose keys follow a rule.
    pub fn entries<'a>(&mut self, at: &Place<'a>, fits: fn(&str) -> bool, rule: &str) -> Vec<(&'a Key, Place<'a>)> {
        let mut found = Vec::new();
        for (key, node) in self.mapping(at).unwrap_or_default() {
            let place = at.inner(node, Part::Key(&key.text));
            if key.is_string && fits(&key.text) {
                found.push((key, place));
            } else {
                self.violations.push(Violation {
                    path: place.shown(),
                    line: key.line,
                    message: format!("`{}` is no valid name: {rule}", key.text),
                });
            }
        }
        found
    }

    /// Reads a list.
    pub fn items<'a>(&mut self, at: &Place<'a>) -> Vec<Place<'a>> {
        match at.node.as_sequence() {
            Some(items) => items.iter().enumerate().map(|(index, item)| at.inner(item, Part::Item(index))).collect(),
            None => {
                self.fault(at, format!("expected a list, found {}", at.node.type_name()));
                Vec::new()
            }
        }
    }

    /// Reads a string of any length.
    pub fn text(&mut self, at: &Place<'_>) -> Option<String> {
        let text = at.node.as_str().map(str::to_owned);
        if text.is_none() {
            let hint = if at.node.type_name() == "date" { "; put it in quotes" } else { "" };
            self.fault(at, format!("expected a string, found {}{hint}", at.node.type_name()));
        }
        text
    }

    /// Reads a string that is not empty.
    pub fn full_text(&mut self, at: &Place<'_>) -> Option<String> {
        let text = self.text(at)?;
        if text.is_empty() {
            self.fault(at, "must not be empty");
            return None;
        }
        Some(text)
    }

    /// Reads a string of 1 to `most` characters.
    pub fn short_text(&mut self, at: &Place<'_>, least: usize, most: usize) -> Option<String> {
        let text = self.text(at)?;
        let length = text.chars().count();
        if length < least || length > most {
            self.fault(at, format!("must have {least} to {most} characters, has {length}"));
            return None;
        }
        Some(text)
    }

    /// Reads a string that follows a rule.
    pub fn named(&mut self, at: &Place<'_>, fits: fn(&str) -> bool, rule: &str) -> Option<String> {
        let text = self.text(at)?;
        if !fits(&text) {
            self.fault(at, format!("`{}` does not fit: {rule}", text.chars().take(80).collect::<String>()));
            return None;
        }
        Some(text)
    }

    /// Reads a truth value.
    pub fn truth(&mut self, at: &Place<'_>) -> Option<bool> {
        match at.node.content {
            Content::Scalar(Scalar::Bool(value)) => Some(value),
            Content::Scalar(_) | Content::Sequence(_) | Content::Mapping(_) => {
                self.fault(at, format!("expected true or false, found {}", at.node.type_name()));
                None
            }
        }
    }
}

impl<'a> Fields<'a> {
    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Place<'a>> {
        let (key, node) = self.entries.iter().find(|(entry, _)| entry.text == key)?;
        Some(self.at.inner(node, Part::Key(&key.text)))
    }
}

/// `^[a-z][a-z0-9_]*$`: jobs, workflows, steps.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The rule of [`is_identifier`] in words.
pub const IDENTIFIER: &str = "a lower-case letter, then lower-case letters, digits and `_`";

/// `^[a-zA-Z0-9_-]+$`: rules, requirements.
#[must_use]
pub fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The rule of [`is_word`] in words.
pub const WORD: &str = "letters, digits, `_` and `-`";
