//! A record's header and what its body points to, kept small: one text and places in it.
//!
//! A workspace may have tens of thousands of records, and a server keeps all their headers. Texts and lists of texts are
//! read without copying; what is nested deeper is kept as JSON and read when it is asked for.

use serde_json::{Map, Value};

/// What an entry's text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    /// `length` entries that follow are its items.
    List,
    Item,
    Json,
}

impl Form {
    fn number(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::List => 1,
            Self::Item => 2,
            Self::Json => 3,
        }
    }

    fn of(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Text,
            1 => Self::List,
            2 => Self::Item,
            3 => Self::Json,
            _ => return None,
        })
    }
}

/// A key and its value: the key stands before the value.
#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    key: u32,
    length: u32,
    form: Form,
}

/// How a body points to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pointer {
    /// `[[ID]]`.
    Wikilink,
    /// A bare id.
    Mention,
    /// The target of `[text](target)`.
    Link,
}

impl Pointer {
    fn number(self) -> u8 {
        match self {
            Self::Wikilink => 0,
            Self::Mention => 1,
            Self::Link => 2,
        }
    }

    fn of(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Wikilink,
            1 => Self::Mention,
            2 => Self::Link,
            _ => return None,
        })
    }
}

/// A header's values by key, in their order, and a body's pointers.
#[derive(Debug, Clone, Default)]
pub struct Header {
    text: Box<str>,
    entries: Box<[Entry]>,
    pointers: Box<[(Pointer, u32, u32)]>,
}

/// A place in a text; no text here is as long as 4 GiB.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn cut(text: &str, start: u32, length: u32) -> &str {
    let start = start as usize;
    text.get(start..start + length as usize).unwrap_or("")
}

impl Header {
    /// Takes a header's values, and what the body points to.
    pub(crate) fn new<'a>(fields: &Map<String, Value>, pointers: impl Iterator<Item = (Pointer, &'a str)>) -> Self {
        let mut text = String::new();
        let mut entries = Vec::new();
        for (key, value) in fields {
            let start = place(text.len());
            text.push_str(key);
            let mut entry = Entry { start, key: place(key.len()), length: 0, form: Form::Text };
            match value {
                Value::String(value) => {
                    text.push_str(value);
                    entry.length = place(value.len());
                    entries.push(entry);
                }
                Value::Array(items) if items.iter().all(Value::is_string) => {
                    entries.push(Entry { form: Form::List, length: place(items.len()), ..entry });
                    for item in items.iter().filter_map(Value::as_str) {
                        let start = place(text.len());
                        text.push_str(item);
                        entries.push(Entry { start, key: 0, length: place(item.len()), form: Form::Item });
                    }
                }
                other => {
                    let json = other.to_string();
                    text.push_str(&json);
                    entries.push(Entry { form: Form::Json, length: place(json.len()), ..entry });
                }
            }
        }
        let pointers = pointers
            .map(|(pointer, target)| {
                let start = place(text.len());
                text.push_str(target);
                (pointer, start, place(target.len()))
            })
            .collect();
        Self { text: text.into_boxed_str(), entries: entries.into_boxed_slice(), pointers }
    }

    fn key(&self, entry: &Entry) -> &str {
        cut(&self.text, entry.start, entry.key)
    }

    fn value(&self, entry: &Entry) -> &str {
        cut(&self.text, entry.start.saturating_add(entry.key), entry.length)
    }

    fn find(&self, key: &str) -> Option<usize> {
        let length = place(key.len());
        self.entries.iter().position(|entry| entry.form != Form::Item && entry.key == length && self.key(entry) == key)
    }

    fn items(&self, at: usize) -> impl Iterator<Item = &str> {
        let items = self.entries.get(at + 1..).unwrap_or_default();
        items.iter().take_while(|entry| entry.form == Form::Item).map(|entry| self.value(entry))
    }

    fn json(&self, at: usize) -> Value {
        let entry = &self.entries[at];
        match entry.form {
            Form::Text | Form::Item => Value::String(self.value(entry).to_owned()),
            Form::List => self.items(at).map(|item| Value::String(item.to_owned())).collect(),
            Form::Json => serde_json::from_str(self.value(entry)).unwrap_or_default(),
        }
    }

    /// Returns a value.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        self.find(key).map(|at| self.json(at))
    }

    /// Tells whether there is a value.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Returns a text, `""` when there is none.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.find(key)
            .map(|at| &self.entries[at])
            .filter(|entry| entry.form == Form::Text)
            .map_or("", |entry| self.value(entry))
    }

    /// Returns a list; a single text is split at its commas.
    #[must_use]
    pub fn list(&self, key: &str) -> Vec<&str> {
        match self.find(key) {
            Some(at) if self.entries[at].form == Form::List => self.items(at).collect(),
            Some(at) if self.entries[at].form == Form::Text => {
                self.value(&self.entries[at]).split(',').map(str::trim).filter(|one| !one.is_empty()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All values by key, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        let keys = self.entries.iter().enumerate().filter(|(_, entry)| entry.form != Form::Item);
        keys.map(|(at, entry)| (self.key(entry), self.json(at)))
    }

    /// All values by key, in their order.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        self.iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// Calls `see` for every text of a value, however deep; the key's case does not count.
    pub(crate) fn any_text(&self, key: &str, see: &mut dyn FnMut(&str) -> bool) -> bool {
        let is_it = |entry: &Entry| {
            let name = self.key(entry);
            if name.is_ascii() { name.eq_ignore_ascii_case(key) } else { name.to_lowercase() == key }
        };
        let found = self.entries.iter().position(|entry| entry.form != Form::Item && is_it(entry));
        let Some(at) = found else { return false };
        let entry = &self.entries[at];
        match entry.form {
            Form::Text | Form::Item => see(self.value(entry)),
            Form::List => self.items(at).any(see),
            Form::Json => any_text_of(&self.json(at), see),
        }
    }

    /// What the body points to, of one form.
    pub(crate) fn pointers(&self, wanted: Pointer) -> impl Iterator<Item = &str> {
        let found = self.pointers.iter().filter(move |(pointer, _, _)| *pointer == wanted);
        found.map(|(_, start, length)| cut(&self.text, *start, *length))
    }

    /// Writes it in a form that [`Self::read`] reads.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        write_text(bytes, &self.text);
        write_number(bytes, self.entries.len());
        for entry in &self.entries {
            bytes.push(entry.form.number());
            for number in [entry.start, entry.key, entry.length] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        write_number(bytes, self.pointers.len());
        for (pointer, start, length) in &self.pointers {
            bytes.push(pointer.number());
            bytes.extend_from_slice(&start.to_le_bytes());
            bytes.extend_from_slice(&length.to_le_bytes());
        }
    }

    /// Reads what [`Self::write`] wrote.
    pub(crate) fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let text = bytes.text()?.to_owned().into_boxed_str();
        let entries = bytes.count(13)?;
        let entries = (0..entries)
            .map(|_| {
                let form = Form::of(bytes.byte()?)?;
                Some(Entry { form, start: bytes.number()?, key: bytes.number()?, length: bytes.number()? })
            })
            .collect::<Option<_>>()?;
        let pointers = bytes.count(9)?;
        let pointers = (0..pointers)
            .map(|_| Some((Pointer::of(bytes.byte()?)?, bytes.number()?, bytes.number()?)))
            .collect::<Option<_>>()?;
        Some(Self { text, entries, pointers })
    }
}

fn any_text_of(value: &Value, see: &mut dyn FnMut(&str) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| any_text_of(item, see)),
        Value::Object(map) => map.values().any(|item| any_text_of(item, see)),
        Value::String(text) => see(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

pub(crate) fn write_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&place(number).to_le_bytes());
}

pub(crate) fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write_number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

/// Bytes that are read from their beginning; whatever they hold, nothing is read past their end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|taken| taken[0])
    }

    pub(crate) fn number(&mut self) -> Option<u32> {
        self.take(4).and_then(|taken| taken.try_into().ok()).map(u32::from_le_bytes)
    }

    pub(crate) fn long(&mut self) -> Option<u64> {
        self.take(8).and_then(|taken| taken.try_into().ok()).map(u64::from_le_bytes)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.number()? as usize;
        std::str::from_utf8(self.take(length)?).ok()
    }

    /// How many things follow, each of at least `size` bytes: never more than there is room for.
    pub(crate) fn count(&mut self, size: usize) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.0.len() / size).then_some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn header() -> Header {
        let fields = json!({
            "id": "T-0001", "tags": ["one", "two, three"], "empty": [], "scope": "a, b", "verified": { "method": "ci", "n": ["é"] },
            "mixed": ["x", { "y": "z" }], "blank": "",
        });
        let pointers = [(Pointer::Wikilink, "T-0002"), (Pointer::Link, "../x.md")];
        Header::new(fields.as_object().expect("an object"), pointers.into_iter())
    }

    #[test]
    fn what_was_taken_is_given_back() {
        let header = header();
        assert_eq!((header.text("id"), header.text("tags"), header.text("none")), ("T-0001", "", ""));
        assert_eq!(header.list("tags"), ["one", "two, three"]);
        assert_eq!(header.list("scope"), ["a", "b"]);
        assert!(header.list("empty").is_empty() && header.list("verified").is_empty());
        assert_eq!(header.get("empty"), Some(json!([])));
        assert_eq!(header.get("verified"), Some(json!({ "method": "ci", "n": ["é"] })));
        assert_eq!(header.get("mixed"), Some(json!(["x", { "y": "z" }])));
        assert!(header.contains_key("blank") && !header.contains_key("two, three"));
        let keys: Vec<String> = header.to_map().keys().cloned().collect();
        assert_eq!(keys, ["id", "tags", "empty", "scope", "verified", "mixed", "blank"]);
        assert!(header.any_text("verified", &mut |text| text == "é"));
        assert!(!header.any_text("nothing", &mut |_| true));
        assert_eq!(header.pointers(Pointer::Link).collect::<Vec<_>>(), ["../x.md"]);
        assert_eq!(header.pointers(Pointer::Mention).count(), 0);
    }

    #[test]
    fn what_was_written_is_read() {
        let header = header();
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        let read = Header::read(&mut Bytes(&bytes)).expect("read");
        assert_eq!(read.to_map(), header.to_map());
        assert_eq!(read.pointers(Pointer::Wikilink).collect::<Vec<_>>(), ["T-0002"]);
        for length in 0..bytes.len() {
            assert!(Header::read(&mut Bytes(&bytes[..length])).is_none(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..400, with in any::<u8>()) {
            let _ = Header::read(&mut Bytes(&bytes));
            bytes.clear();
            header().write(&mut bytes);
            let at = at % bytes.len();
            bytes[at] = with;
            if let Some(read) = Header::read(&mut Bytes(&bytes)) {
                let _ = (read.to_map(), read.list("tags"), read.pointers(Pointer::Link).count());
            }
        }
    }
}
