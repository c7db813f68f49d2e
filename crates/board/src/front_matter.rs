//! The text of a record: a header between two `---` lines at byte 0, then a body.
//!
//! The header is a small subset of YAML. What is not understood is kept byte for byte, and a change rewrites only the
//! lines of the keys it touches, in the style they were found in. Parsing and writing are exact inverses.

use serde_json::{Map, Value};

use crate::error::{BoardError, Result, refuse};

/// How a value was written, so that it is written so again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Inline,
    BlockList,
    Nested,
    /// Deeper than we read: kept, never changed.
    Opaque,
    /// No key at all: a comment, or a line we cannot read.
    Raw,
}

#[derive(Debug, Clone)]
struct Entry {
    key: String,
    /// Its lines with their ends.
    raw: String,
    value: Value,
    style: Style,
}

/// A record's text, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    newline: &'static str,
    entries: Vec<Entry>,
    /// The closing line with its end, if it has one.
    close: String,
    /// Everything after the closing line.
    body: String,
}

/// A text at its header's edges.
struct Parts<'a> {
    newline: &'static str,
    lines: Vec<&'a str>,
    close: &'a str,
    body: &'a str,
}

/// Splits a text; `None`: it has no header.
fn split(text: &str) -> Option<Parts<'_>> {
    let (newline, rest) = match text.strip_prefix("---\n") {
        Some(rest) => ("\n", rest),
        None => ("\r\n", text.strip_prefix("---\r\n")?),
    };
    let mut lines = Vec::new();
    let mut position = 0;
    while position < rest.len() {
        let end = rest[position..].find('\n').map_or(rest.len(), |at| position + at + 1);
        let line = &rest[position..end];
        position = end;
        if line.trim_end() == "---" && line.starts_with("---") {
            return Some(Parts { newline, lines, close: line, body: &rest[position..] });
        }
        lines.push(line);
    }
    None
}

/// The body of a text as [`Text::body`] gives it; a text without a header is all body.
pub(crate) fn body_of(text: &str) -> &str {
    trimmed(split(text).map_or(text, |parts| parts.body))
}

impl Text {
    /// Makes a new record's text. Empty values are left out.
    pub(crate) fn new(fields: &Map<String, Value>, body: &str) -> Result<Self> {
        let mut text = Self { newline: "\n", entries: Vec::new(), close: "---\n".into(), body: String::new() };
        for (key, value) in fields {
            text.set(key, value)?;
        }
        let body = trimmed(body);
        // An empty body is two blank lines, as every tool of this format writes it.
        text.body = if body.is_empty() { "\n\n".into() } else { format!("\n{}\n", body.replace("\r\n", "\n")) };
        Ok(text)
    }

    /// Takes `text` apart; `lists` are the keys whose `[a, b]` is a list. `None` without a header.
    pub(crate) fn parse(text: &str, lists: &[&str]) -> Option<Self> {
        let parts = split(text)?;
        Some(Self {
            newline: parts.newline,
            entries: entries(&parts.lines, lists),
            close: parts.close.to_owned(),
            body: parts.body.to_owned(),
        })
    }

    /// Returns all values in the order of the header; of a key that stands twice, the first.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let mut map = Map::new();
        for entry in self.entries.iter().filter(|entry| entry.style != Style::Raw) {
            if !map.contains_key(&entry.key) {
                map.insert(entry.key.clone(), entry.value.clone());
            }
        }
        map
    }

    /// Sets `key`; null, an empty text, list or object removes it.
    pub(crate) fn set(&mut self, key: &str, value: &Value) -> Result<()> {
        let at = self.entries.iter().position(|entry| entry.style != Style::Raw && entry.key == key);
        if let Some(at) = at
            && self.entries[at].style == Style::Opaque
        {
            return Err(refuse!(
                "RECORD_FRONTMATTER_OPAQUE",
                "`{key}` is nested deeper than is understood here, and is not changed; edit it by hand"
            )
            .with(serde_json::json!({ "field": key })));
        }
        if is_empty(value) {
            if let Some(at) = at {
                self.entries.remove(at);
            }
            return Ok(());
        }
        let value = plain(value);
        match at {
            Some(at) if self.entries[at].value == value => Ok(()),
            Some(at) => {
                let style = self.entries[at].style;
                let (raw, style) = render(key, &value, style, self.newline)?;
                self.entries[at] = Entry { key: key.to_owned(), raw, value, style };
                Ok(())
            }
            None => {
                let (raw, style) = render(key, &value, Style::Inline, self.newline)?;
                self.entries.push(Entry { key: key.to_owned(), raw, value, style });
                Ok(())
            }
        }
    }

    /// Returns the body without the empty lines around it.
    pub(crate) fn body(&self) -> &str {
        trimmed(&self.body)
    }

    /// Counts the line ends before [`Self::body`] begins.
    pub(crate) fn lines_before_body(&self) -> usize {
        let start = self.body.len() - trim_start(&self.body).len();
        self.body[..start].matches('\n').count()
    }

    /// Replaces the body: one empty line under the header, and one line end after it.
    pub(crate) fn set_body(&mut self, body: &str) {
        if !self.close.ends_with('\n') {
            self.close.push_str(self.newline);
        }
        let body = trimmed(body).replace("\r\n", "\n");
        self.body = if body.is_empty() { String::new() } else { format!("\n{body}\n") };
        if self.newline == "\r\n" {
            self.body = self.body.replace('\n', "\r\n");
        }
    }

    /// The line end of this file.
    pub(crate) fn newline(&self) -> &'static str {
        self.newline
    }

    /// Puts it together again.
    pub(crate) fn render(&self) -> String {
        let mut text = format!("---{}", self.newline);
        for entry in &self.entries {
            text.push_str(&entry.raw);
        }
        text.push_str(&self.close);
        text.push_str(&self.body);
        text
    }
}

/// Removes empty lines before, and white space after.
pub(crate) fn trimmed(text: &str) -> &str {
    trim_start(text).trim_end()
}

fn trim_start(text: &str) -> &str {
    let mut rest = text;
    loop {
        let Some(end) = rest.find('\n') else {
            return if rest.trim().is_empty() { "" } else { rest };
        };
        if !rest[..end].trim().is_empty() {
            return rest;
        }
        rest = &rest[end + 1..];
    }
}

/// Tells what counts as "not there".
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A value as it will be read back: numbers and booleans are text in a header.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Bool(yes) => Value::String(yes.to_string()),
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        Value::Object(map) => map
            .iter()
            .filter(|(_, value)| !is_empty(value))
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Null | Value::String(_) => value.clone(),
    }
}

fn key_of(line: &str) -> Option<(&str, &str)> {
    let colon = line.find(':')?;
    let key = &line[..colon];
    let mut characters = key.chars();
    let first = characters.next()?;
    let valid = (first.is_ascii_alphabetic() || first == '_')
        && characters.all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '.' | '-'));
    let rest = &line[colon + 1..];
    let spaced = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
    (valid && spaced).then(|| (key, rest.trim()))
}

fn entries(lines: &[&str], lists: &[&str]) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let start = at;
        at += 1;
        let Some((key, inline)) = key_of(line) else {
            found.push(Entry { key: String::new(), raw: line.to_owned(), value: Value::Null, style: Style::Raw });
            continue;
        };
        while at < lines.len() && belongs(lines[at], inline.is_empty()) {
            at += 1;
        }
        // Empty lines at the end stay lines of their own.
        while at > start + 1 && lines[at - 1].trim().is_empty() {
            at -= 1;
        }
        let (value, style) = read(inline, &lines[start + 1..at], lists.contains(&key));
        found.push(Entry { key: key.to_owned(), raw: lines[start..at].concat(), value, style });
    }
    found
}

fn belongs(line: &str, open: bool) -> bool {
    line.starts_with([' ', '\t'])
        || line.trim().is_empty()
        || (open && (line.starts_with("- ") || line.trim_end() == "-"))
}

fn read(inline: &str, below: &[&str], list: bool) -> (Value, Style) {
    if matches!(inline, "|" | ">" | "|-" | ">-" | "|+" | ">+") {
        let indent = below.iter().filter(|line| !line.trim().is_empty()).map(|line| indent_of(line)).min().unwrap_or(0);
        let lines: Vec<&str> = below
            .iter()
            .map(|line| line.trim_end_matches(['\r', '\n']))
            .map(|line| line.get(indent..).unwrap_or(""))
            .collect();
        let text = lines.join(if inline.starts_with('|') { "\n" } else { " " });
        return (Value::String(text.trim_end().to_owned()), Style::Nested);
    }
    if !inline.is_empty() {
        if !below.is_empty() {
            return (opaque(inline, below), Style::Opaque);
        }
        return (inline_value(inline, list), Style::Inline);
    }
    if below.is_empty() {
        return (Value::String(String::new()), Style::Inline);
    }
    if let Some(items) = block_list(below) {
        return (Value::Array(items), Style::BlockList);
    }
    if let Some(items) = list_of_mappings(below) {
        return (Value::Array(items), Style::Nested);
    }
    if let Some(map) = mapping(below) {
        return (Value::Object(map), Style::Nested);
    }
    (opaque("", below), Style::Opaque)
}

fn opaque(inline: &str, below: &[&str]) -> Value {
    let text = below.concat();
    let text = text.trim_end_matches(['\r', '\n']);
    Value::String(if inline.is_empty() { text.to_owned() } else { format!("{inline}\n{text}") })
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn inline_value(text: &str, list: bool) -> Value {
    if list && let Some(items) = inline_list(text) {
        return Value::Array(items);
    }
    Value::String(scalar(text))
}

fn scalar(text: &str) -> String {
    let text = text.trim();
    if text.len() >= 2
        && text.starts_with('"')
        && text.ends_with('"')
        && let Ok(Value::String(inner)) = serde_json::from_str(text)
    {
        return inner;
    }
    if text.len() >= 2 && text.starts_with('\'') && text.ends_with('\'') && !text[1..text.len() - 1].contains('\'') {
        return text[1..text.len() - 1].to_owned();
    }
    text.to_owned()
}

fn inline_list(text: &str) -> Option<Vec<Value>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut items = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut escaped = false;
    for (at, one) in inner.char_indices() {
        match quote {
            Some('"') if escaped => escaped = false,
            Some('"') if one == '\\' => escaped = true,
            Some(open) if one == open => quote = None,
            Some(_) => {}
            None if matches!(one, '"' | '\'') && inner[start..at].trim().is_empty() => quote = Some(one),
            None if one == ',' => {
                items.push(&inner[start..at]);
                start = at + 1;
            }
            None => {}
        }
    }
    items.push(&inner[start..]);
    Some(
        items
            .into_iter()
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| Value::String(scalar(item)))
            .collect(),
    )
}

fn block_list(below: &[&str]) -> Option<Vec<Value>> {
    let mut items = Vec::new();
    let mut indent = None;
    for line in below.iter().filter(|line| !line.trim().is_empty()) {
        let trimmed = line.trim();
        if *indent.get_or_insert(indent_of(line)) != indent_of(line) {
            return None;
        }
        let item = if trimmed == "-" { "" } else { trimmed.strip_prefix("- ")?.trim() };
        if key_of(item).is_some() || item.starts_with("- ") {
            return None;
        }
        items.push(Value::String(scalar(item)));
    }
    Some(items)
}

fn pair(text: &str) -> Option<(String, Value)> {
    let (key, inline) = key_of(text)?;
    if inline.is_empty() || matches!(inline, "|" | ">" | "|-" | ">-") {
        return None;
    }
    Some((key.to_owned(), inline_value(inline, true)))
}

fn mapping(below: &[&str]) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    let mut indent = None;
    for line in below.iter().filter(|line| !line.trim().is_empty()) {
        if *indent.get_or_insert(indent_of(line)) != indent_of(line) || indent == Some(0) {
            return None;
        }
        let (key, value) = pair(line.trim())?;
        map.insert(key, value);
    }
    Some(map)
}

fn list_of_mappings(below: &[&str]) -> Option<Vec<Value>> {
    let mut items: Vec<Map<String, Value>> = Vec::new();
    let mut indents: Option<(usize, usize)> = None;
    for line in below.iter().filter(|line| !line.trim().is_empty()) {
        let indent = indent_of(line);
        let text = line.trim();
        if let Some(rest) = text.strip_prefix("- ") {
            let inner = indent + 2 + (rest.len() - rest.trim_start().len());
            if *indents.get_or_insert((indent, inner)) != (indent, inner) {
                return None;
            }
            let (key, value) = pair(rest.trim())?;
            items.push(Map::from_iter([(key, value)]));
        } else {
            let (_, inner) = indents?;
            if indent != inner {
                return None;
            }
            let (key, value) = pair(text)?;
            items.last_mut()?.insert(key, value);
        }
    }
    Some(items.into_iter().map(Value::Object).collect())
}

fn unrepresentable(key: &str) -> BoardError {
    refuse!("RECORD_FRONTMATTER_UNREPRESENTABLE", "the value of `{key}` cannot be written into a header")
        .with(serde_json::json!({ "field": key }))
}

fn render(key: &str, value: &Value, style: Style, newline: &str) -> Result<(String, Style)> {
    if key_of(&format!("{key}:")).is_none() {
        return Err(unrepresentable(key));
    }
    match value {
        Value::String(text) => Ok((format!("{key}: {}{newline}", quoted(text, false)), Style::Inline)),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            if style == Style::BlockList {
                let mut raw = format!("{key}:{newline}");
                for item in items.iter().filter_map(Value::as_str) {
                    raw.push_str(&format!("  - {}{newline}", quoted(item, false)));
                }
                return Ok((raw, Style::BlockList));
            }
            Ok((format!("{key}: {}{newline}", list_text(items)), Style::Inline))
        }
        Value::Array(items) => {
            let mut raw = format!("{key}:{newline}");
            for item in items {
                let Value::Object(map) = item else { return Err(unrepresentable(key)) };
                let mut lead = "  - ";
                for (name, value) in map {
                    raw.push_str(&format!("{lead}{name}: {}{newline}", nested(key, name, value)?));
                    lead = "    ";
                }
            }
            Ok((raw, Style::Nested))
        }
        Value::Object(map) => {
            let mut raw = format!("{key}:{newline}");
            for (name, value) in map {
                raw.push_str(&format!("  {name}: {}{newline}", nested(key, name, value)?));
            }
            Ok((raw, Style::Nested))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Err(unrepresentable(key)),
    }
}

fn nested(key: &str, name: &str, value: &Value) -> Result<String> {
    if key_of(&format!("{name}:")).is_none() {
        return Err(unrepresentable(key));
    }
    match value {
        Value::String(text) => Ok(quoted(text, false)),
        Value::Array(items) if items.iter().all(Value::is_string) => Ok(list_text(items)),
        _ => Err(unrepresentable(key)),
    }
}

fn list_text(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().filter_map(Value::as_str).map(|item| quoted(item, true)).collect();
    format!("[{}]", items.join(", "))
}

fn quoted(text: &str, in_list: bool) -> String {
    let needed = text.is_empty()
        || text.starts_with(['"', '\'', '|', '>'])
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || text.contains([':', '#', '[', ']', '{', '}'])
        || text.chars().any(char::is_control)
        || (in_list && text.contains(','));
    if needed { Value::String(text.to_owned()).to_string() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const LISTS: [&str; 3] = ["tags", "depends", "scope"];

    fn parse(text: &str) -> Text {
        Text::parse(text, &LISTS).expect("a header")
    }

    #[test]
    fn no_header_is_none() {
        for text in ["", "just text\n", "---\nid: a\n", "--- \nid: a\n---\n", " ---\n---\n"] {
            assert!(Text::parse(text, &LISTS).is_none(), "{text:?}");
        }
        assert!(parse("---\n---").fields().is_empty());
    }

    #[test]
    fn every_shape_is_read() {
        let text = parse(
            "---\na: \"x: y\"\nb: 'q'\ntags: [one, \"a, b\", 'c']\nother: [a, b]\nlist:\n  - one\n  - \"two: x\"\nzero:\n- x\n\
             block: |\n  l1\n   l2\nfold: >\n  a\n  b\nmap:\n  k: v\n  l: [x, y]\nmany:\n  - id: g\n    run: [a, b]\n  - id: h\n\
             deep:\n  a:\n    b: 1\nempty:\n# note\n---\nbody\n",
        );
        assert_eq!(
            Value::Object(text.fields()),
            json!({
                "a": "x: y", "b": "q", "tags": ["one", "a, b", "c"], "other": "[a, b]", "list": ["one", "two: x"],
                "zero": ["x"], "block": "l1\n l2", "fold": "a b", "map": {"k": "v", "l": ["x", "y"]},
                "many": [{"id": "g", "run": ["a", "b"]}, {"id": "h"}], "deep": "  a:\n    b: 1", "empty": "",
            })
        );
    }

    #[test]
    fn a_change_touches_its_own_lines_only() {
        let source = "---\r\nid: T-1\r\ntags:\r\n  - a\r\nnested:\r\n    a:\r\n      b: 1\r\nz: 1\r\n# keep\r\n---\r\n\r\nBody.\r\n";
        let mut text = parse(source);
        assert_eq!(text.render(), source);
        text.set("tags", &json!(["a", "b, c"])).expect("set");
        text.set("new", &json!("x: y")).expect("set");
        text.set("z", &Value::Null).expect("set");
        assert_eq!(
            text.render(),
            "---\r\nid: T-1\r\ntags:\r\n  - a\r\n  - b, c\r\nnested:\r\n    a:\r\n      b: 1\r\n# keep\r\nnew: \"x: y\"\r\n---\r\n\r\nBody.\r\n"
        );
        assert_eq!(text.set("nested", &json!("x")).expect_err("opaque").code, "RECORD_FRONTMATTER_OPAQUE");
        assert_eq!(
            text.set("deep", &json!({"a": {"b": 1}})).expect_err("deep").code,
            "RECORD_FRONTMATTER_UNREPRESENTABLE"
        );
        text.set_body("One.\nTwo.\n\n");
        assert!(text.render().ends_with("---\r\n\r\nOne.\r\nTwo.\r\n"));
        text.set_body(" \n");
        assert!(text.render().ends_with("---\r\n"));
    }

    proptest! {
        #[test]
        fn nothing_panics_and_rendering_is_the_inverse(text in "(---\n)?([a-z:# \\[\\],\"'|>\n\r-]|ü){0,120}(---\n)?[a-z\n]{0,20}") {
            if let Some(parsed) = Text::parse(&text, &LISTS) {
                prop_assert_eq!(parsed.render(), text);
            }
        }

        #[test]
        fn what_is_written_is_read_back(value in "[ -~äß\n]{1,40}", items in prop::collection::vec("[ -~\n]{1,12}", 1..4)) {
            let mut fields = Map::new();
            fields.insert("id".into(), json!("T-1"));
            fields.insert("text".into(), json!(value));
            fields.insert("tags".into(), json!(items));
            fields.insert("map".into(), json!({"k": value, "l": items}));
            fields.insert("many".into(), json!([{"k": value, "l": items}, {"k": value}]));
            let text = Text::new(&fields, "b").expect("plain data").render();
            let read = parse(&text);
            prop_assert_eq!(Value::Object(read.fields()), Value::Object(fields));
            prop_assert_eq!(read.render(), text);
        }
    }
}
