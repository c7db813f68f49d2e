//! Reads YAML as job files mean it: version 1.1, one document, each value with its line.
//!
//! Here: composing the parser's events into a tree, anchors and merge keys, and the limits that make a hostile file
//! cheap. What a plain word means is in [`crate::yaml_scalar`]. Not here: what the keys mean.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Value};

use crate::yaml_scalar::{self, Scalar};

/// Nesting of collections. Job files have about ten levels.
const MOST_DEPTH: usize = 100;

/// Values that stand in a document.
const MOST_VALUES: usize = 500_000;
/// Values that its aliases repeat, so that a file of a few lines cannot become gigabytes or take seconds.
const MOST_REPEATED: usize = 20_000;

/// Why a text is no YAML that we take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct YamlError {
    /// What is wrong.
    pub message: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub content: Content,
    /// The line it begins on, from 1.
    pub line: usize,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A single value.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys in file order; of two equal keys the later value stands at the place of the first.
    Mapping(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its text, as it would be written.
    pub text: String,
    /// Whether it is a string, and not a number, truth value, date or nothing.
    pub is_string: bool,
    /// Its line, from 1.
    pub line: usize,
}

impl Node {
    /// Names the type as messages do.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match &self.content {
            Content::Scalar(scalar) => scalar.type_name(),
            Content::Sequence(_) => "list",
            Content::Mapping(_) => "mapping",
        }
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Scalar::Text(text)) => Some(text),
            Content::Scalar(_) | Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    /// Returns the items of a list.
    #[must_use]
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.content {
            Content::Sequence(items) => Some(items),
            Content::Scalar(_) | Content::Mapping(_) => None,
        }
    }

    /// Returns the entries of a mapping.
    #[must_use]
    pub fn as_mapping(&self) -> Option<&[(Key, Node)]> {
        match &self.content {
            Content::Mapping(entries) => Some(entries),
            Content::Scalar(_) | Content::Sequence(_) => None,
        }
    }

    /// Returns the value as JSON. A date becomes an object that says so, since it is no string in YAML 1.1 and has no
    /// counterpart in JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match &self.content {
            Content::Scalar(scalar) => scalar.to_json(),
            Content::Sequence(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Content::Mapping(entries) => {
                let entries: Map<String, Value> =
                    entries.iter().map(|(key, value)| (key.text.clone(), value.to_json())).collect();
                Value::Object(entries)
            }
        }
    }

    fn size(&self) -> usize {
        match &self.content {
            Content::Scalar(_) => 1,
            Content::Sequence(items) => 1 + items.iter().map(Node::size).sum::<usize>(),
            Content::Mapping(entries) => 1 + entries.iter().map(|(_, value)| 1 + value.size()).sum::<usize>(),
        }
    }
}

/// A collection that is still open.
enum Open {
    Sequence { items: Vec<Node>, line: usize, anchor: usize },
    Mapping { entries: Entries, key: Option<PendingKey>, line: usize, anchor: usize },
}

enum PendingKey {
    Plain(Key),
    Merge,
}

/// Keys up to which a mapping is searched from its beginning. Nearly all are shorter than that.
const SEARCHED: usize = 24;

#[derive(Default)]
struct Entries {
    list: Vec<(Key, Node)>,
    /// Where each key is, of mappings that are too long to be searched.
    places: HashMap<(String, bool), usize>,
    merged: Vec<(Key, Node)>,
}

impl Entries {
    fn place(&mut self, key: &Key) -> Option<usize> {
        if self.list.len() <= SEARCHED {
            return self.list.iter().position(|(known, _)| known.text == key.text && known.is_string == key.is_string);
        }
        if self.places.is_empty() {
            let known = self.list.iter().enumerate();
            self.places = known.map(|(place, (key, _))| ((key.text.clone(), key.is_string), place)).collect();
        }
        self.places.get(&(key.text.clone(), key.is_string)).copied()
    }

    fn insert(&mut self, key: Key, value: Node) {
        match self.place(&key).and_then(|place| self.list.get_mut(place)) {
            Some(entry) => entry.1 = value,
            None => {
                if !self.places.is_empty() {
                    self.places.insert((key.text.clone(), key.is_string), self.list.len());
                }
                self.list.push((key, value));
            }
        }
    }

    /// What is merged in comes first and yields to what is written.
    fn finish(mut self) -> Vec<(Key, Node)> {
        if self.merged.is_empty() {
            return self.list;
        }
        let mut all = Self::default();
        for (key, value) in std::mem::take(&mut self.merged).into_iter().chain(self.list) {
            all.insert(key, value);
        }
        all.list
    }
}

/// Reads a text that holds one document. `None`: nothing but comments.
///
/// # Errors
///
/// When it is no YAML, holds more than one document, a tag or a key that we do not know, or goes over a limit.
pub fn parse(text: &str) -> Result<Option<Node>, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some((line, _)) = text.lines().enumerate().find(|(_, line)| line.contains('\0')) {
        return Err(YamlError { message: "a NUL character is not allowed".into(), line: line + 1, column: 1 });
    }
    let mut composer = Composer::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| YamlError {
            message: error.info().to_owned(),
            line: error.marker().line().max(1),
            column: error.marker().col() + 1,
        })?;
        composer.take(event, span)?;
    }
    // A document without content is written as a plain nothing.
    Ok(composer.root.filter(|root| !(composer.implicit_null && root.content == Content::Scalar(Scalar::Null))))
}

#[derive(Default)]
struct Composer {
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    root: Option<Node>,
    implicit_null: bool,
    documents: usize,
    values: usize,
    repeated: usize,
}

fn fault(span: Span, message: impl Into<String>) -> YamlError {
    YamlError { message: message.into(), line: span.start.line().max(1), column: span.start.col() + 1 }
}

impl Composer {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let line = span.start.line().max(1);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(fault(span, "only one document is allowed in a file"));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(span)?;
                if self.open.is_empty() {
                    self.implicit_null = style == ScalarStyle::Plain && text.is_empty() && tag.is_none();
                }
                let is_merge = style == ScalarStyle::Plain && text == "<<" && tag.is_none();
                let scalar = resolve(&text, style, tag.as_deref(), span)?;
                let node = Node { content: Content::Scalar(scalar), line };
                if anchor > 0 {
                    self.anchors.insert(anchor, (node.clone(), 1));
                }
                self.add(node, is_merge, span)
            }
            Event::Alias(anchor) => {
                let Some((_, size)) = self.anchors.get(&anchor) else {
                    return Err(fault(span, "an alias stands inside what it names"));
                };
                let size = *size;
                self.repeated = self.repeated.saturating_add(size);
                if self.repeated > MOST_REPEATED {
                    return Err(fault(span, format!("aliases repeat over {MOST_REPEATED} values")));
                }
                let node = self.anchors.get(&anchor).map(|(node, _)| node.clone());
                match node {
                    Some(node) => self.add(node, false, span),
                    None => Ok(()),
                }
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin(span, tag.as_deref(), "seq")?;
                self.open.push(Open::Sequence { items: Vec::new(), line, anchor });
                Ok(())
            }
            Event::MappingStart(anchor, tag) => {
                self.begin(span, tag.as_deref(), "map")?;
                self.open.push(Open::Mapping { entries: Entries::default(), key: None, line, anchor });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (node, anchor) = match self.open.pop() {
                    Some(Open::Sequence { items, line, anchor }) => {
                        (Node { content: Content::Sequence(items), line }, anchor)
                    }
                    Some(Open::Mapping { entries, line, anchor, .. }) => {
                        (Node { content: Content::Mapping(entries.finish()), line }, anchor)
                    }
                    None => return Err(fault(span, "a collection ends that did not begin")),
                };
                if anchor > 0 {
                    let size = node.size();
                    self.anchors.insert(anchor, (node.clone(), size));
                }
                self.add(node, false, span)
            }
        }
    }

    fn begin(&mut self, span: Span, tag: Option<&Tag>, own: &str) -> Result<(), YamlError> {
        self.count(span)?;
        if self.open.len() >= MOST_DEPTH {
            return Err(fault(span, format!("nested over {MOST_DEPTH} levels")));
        }
        match tag {
            Some(tag) if is_plain_tag(tag) || (tag.is_yaml_core_schema() && tag.suffix == own) => Ok(()),
            Some(tag) => Err(fault(span, format!("the tag `{tag}` is not known"))),
            None => Ok(()),
        }
    }

    fn count(&mut self, span: Span) -> Result<(), YamlError> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(fault(span, format!("over {MOST_VALUES} values")));
        }
        Ok(())
    }

    fn add(&mut self, node: Node, is_merge: bool, span: Span) -> Result<(), YamlError> {
        match self.open.last_mut() {
            None => {
                self.root = Some(node);
                Ok(())
            }
            Some(Open::Sequence { items, .. }) => {
                items.push(node);
                Ok(())
            }
            Some(Open::Mapping { entries, key, .. }) => match key.take() {
                None => {
                    *key = Some(match node.content {
                        Content::Scalar(_) if is_merge => PendingKey::Merge,
                        Content::Scalar(scalar) => PendingKey::Plain(Key {
                            is_string: matches!(scalar, Scalar::Text(_)),
                            text: scalar.into_text(),
                            line: span.start.line().max(1),
                        }),
                        Content::Sequence(_) | Content::Mapping(_) => {
                            return Err(fault(span, "a list or a mapping cannot be a key"));
                        }
                    });
                    Ok(())
                }
                Some(PendingKey::Plain(key)) => {
                    entries.insert(key, node);
                    Ok(())
                }
                Some(PendingKey::Merge) => merge(entries, node, span),
            },
        }
    }
}

/// Of several merged mappings the earlier wins; so later ones are put in first.
fn merge(entries: &mut Entries, node: Node, span: Span) -> Result<(), YamlError> {
    let sources = match node.content {
        Content::Mapping(_) => vec![node],
        Content::Sequence(items) => items.into_iter().rev().collect(),
        Content::Scalar(_) => return Err(fault(span, "`<<` takes a mapping or a list of mappings")),
    };
    for source in sources {
        match source.content {
            Content::Mapping(list) => entries.merged.extend(list),
            Content::Scalar(_) | Content::Sequence(_) => {
                return Err(fault(span, "`<<` takes a mapping or a list of mappings"));
            }
        }
    }
    Ok(())
}

/// The tag `!` only says that nothing is to be guessed.
fn is_plain_tag(tag: &Tag) -> bool {
    tag.suffix.is_empty() || (tag.handle.is_empty() && tag.suffix == "!")
}

fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Scalar, YamlError> {
    match tag {
        None if style == ScalarStyle::Plain => Ok(yaml_scalar::resolve(text)),
        None => Ok(Scalar::Text(text.to_owned())),
        Some(tag) if is_plain_tag(tag) => Ok(Scalar::Text(text.to_owned())),
        Some(tag) if tag.is_yaml_core_schema() => yaml_scalar::resolve_as(&tag.suffix, text)
            .ok_or_else(|| fault(span, format!("`{}` is no value of the tag `{tag}`", shorten(text)))),
        Some(tag) => Err(fault(span, format!("the tag `{tag}` is not known"))),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Value {
        parse(text).expect("it is YAML").map_or(Value::Null, |node| node.to_json())
    }

    fn wrong(text: &str) -> YamlError {
        parse(text).expect_err("it is refused")
    }

    #[test]
    fn words_are_read_as_version_1_1() {
        assert_eq!(
            read("a: yes\nb: Off\nc: 'yes'\nd: 010\ne: 0x1F\nf: 1_000\ng: 1e5\nh: 1.5\ni: ~\nj: 1:30"),
            json!({"a": true, "b": false, "c": "yes", "d": 8, "e": 31, "f": 1000, "g": "1e5", "h": 1.5, "i": null, "j": 90})
        );
    }

    #[test]
    fn an_unquoted_date_is_no_string() {
        let date = parse("day: 2026-11-30").expect("it is YAML").expect("content");
        assert_eq!(date.as_mapping().map(|entries| entries[0].1.type_name()), Some("date"));
        assert!(!read("day: 2026-11-30")["day"].is_string());
        assert_eq!(read("day: '2026-11-30'"), json!({"day": "2026-11-30"}));
    }

    #[test]
    fn of_two_equal_keys_the_later_value_stands_at_the_first_place() {
        assert_eq!(read("a: 1\nb: 2\na: 3").to_string(), r#"{"a":3,"b":2}"#);
        // The same in a mapping that is too long to be searched.
        let many: String = (0..SEARCHED * 3).map(|n| format!("k{n}: 1\n")).collect();
        let read = read(&format!("{many}k0: 2\nk{SEARCHED}: 3\nk40: 4\n"));
        assert_eq!(read.as_object().map(serde_json::Map::len), Some(SEARCHED * 3));
        assert_eq!((&read["k0"], &read[format!("k{SEARCHED}")], &read["k40"]), (&json!(2), &json!(3), &json!(4)));
    }

    #[test]
    fn anchors_and_merge_keys_work() {
        assert_eq!(
            read("base: &b {x: 1, y: 2}\nmore: &m {y: 9, z: 9}\nown:\n  <<: [*b, *m]\n  x: 5"),
            json!({"base": {"x": 1, "y": 2}, "more": {"y": 9, "z": 9}, "own": {"x": 5, "y": 2, "z": 9}})
        );
    }

    #[test]
    fn faults_have_their_place() {
        let error = wrong("name: x\nlist: [1, 2\nother: 1\n");
        assert!(error.line >= 2, "{error}");
        assert_eq!(wrong("a: 1\n---\nb: 2").message, "only one document is allowed in a file");
        assert!(wrong("a: !!python/object:os.system x").message.contains("tag"));
        assert!(wrong("a: !made_up x").message.contains("made_up"));
        assert!(wrong("? [1]\n: 2").message.contains("key"));
        assert!(wrong("a: \0").message.contains("NUL"));
    }

    #[test]
    fn nothing_is_told_from_an_explicit_null() {
        assert_eq!(parse("# only a comment\n"), Ok(None));
        assert_eq!(parse(""), Ok(None));
        assert!(parse("null").expect("it is YAML").is_some());
    }

    #[test]
    fn lines_are_those_of_the_file() {
        let root = parse("# one\nfirst: 1\n\nsecond:\n  deep: 2\n").expect("it is YAML").expect("content");
        let lines: Vec<usize> = root.as_mapping().expect("a mapping").iter().map(|(key, _)| key.line).collect();
        assert_eq!(lines, [2, 4]);
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let inner = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{inner}]\n"));
        }
        assert!(wrong(&bomb).message.contains("aliases"), "{bomb}");
        assert!(wrong("a: &a [*a]").message.contains("alias"));
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(wrong(&"[".repeat(100_000)).message.contains("nested") || parse(&"[".repeat(100_000)).is_err());
        assert!(parse(&format!("{}{}", "[".repeat(90), "]".repeat(90))).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\-\\[\\]{}:,&*!|>'\"#%@ \n\ta-z0-9<?]{0,200}") {
            let _ = parse(&text);
        }
    }
}
