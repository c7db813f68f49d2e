//! One record of any kind: what an index keeps of it, and the whole of it as its file has it.

use std::ops::Deref;

use serde_json::{Map, Value, json};

use crate::board::one_line;
use crate::config::Config;
use crate::files::Stamp;
use crate::front_matter::Text;
use crate::header::{Bytes, Header, Pointer, write_number, write_text};
use crate::markdown::{acceptance, lines, pointers, sha256};
use crate::repair::stray_trail;
use crate::vocabulary::Collection;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A piece of work.
    Card,
    /// A document, managed or indexed.
    Doc,
    /// A change fragment.
    Change,
    /// A release.
    Release,
    /// Something remembered.
    Memory,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Card, Self::Doc, Self::Change, Self::Release, Self::Memory];

    /// Its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Doc => "doc",
            Self::Change => "change",
            Self::Release => "release",
            Self::Memory => "memory",
        }
    }

    /// Its number in what is written for machines.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Card => 0,
            Self::Doc => 1,
            Self::Change => 2,
            Self::Release => 3,
            Self::Memory => 4,
        }
    }

    /// The kind of a number.
    pub(crate) fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Keys whose `[a, b]` is a list.
    pub(crate) fn lists(self) -> &'static [&'static str] {
        match self {
            Self::Card => &["tags", "depends", "scope", "related", "origin"],
            Self::Doc => &[
                "tags",
                "depends",
                "scope",
                "related",
                "owners",
                "paths",
                "cards",
                "decisions",
                "actions",
                "supersedes",
            ],
            Self::Change | Self::Release => &[
                "tags",
                "depends",
                "scope",
                "related",
                "owners",
                "paths",
                "cards",
                "decisions",
                "actions",
                "issues",
                "fragments",
            ],
            Self::Memory => &[
                "tags",
                "depends",
                "scope",
                "related",
                "owners",
                "paths",
                "cards",
                "decisions",
                "actions",
                "supersedes",
                "superseded_by",
                "graduated_to",
                "deciders",
                "corrective_actions",
            ],
        }
    }

    /// Fields that refer to other records, the strongest first.
    fn references(self) -> &'static [&'static str] {
        match self {
            Self::Card => &["parent", "depends", "origin", "related"],
            Self::Doc => &["supersedes", "related"],
            Self::Change => &["cards", "decisions", "related"],
            Self::Release => &["fragments"],
            Self::Memory => &["supersedes", "superseded_by", "graduated_to", "corrective_actions", "related"],
        }
    }
}

/// What is known of a record without its text.
#[derive(Debug, Clone)]
pub struct Record {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its file, relative to the workspace.
    pub path: String,
    /// Where in the path the part begins that answers name the file by.
    file_at: u32,
    /// A card in the archive.
    pub archived: bool,
    /// A document of ours, and not an indexed one.
    pub managed: bool,
    /// A fragment that a release took.
    pub released: bool,
    /// The collection of something remembered.
    pub collection: Option<Collection>,
    /// The header.
    pub fields: Header,
    /// How many bytes the body has, without the empty lines around it.
    pub(crate) body_bytes: u32,
    /// Acceptance criteria: how many are ticked, and how many there are.
    criteria: (u32, u32),
    /// Whether a card's body has anything that may be wrong with it: open boxes, stray lines.
    pub(crate) is_questionable: bool,
    /// `sha256:` of the file's text.
    pub revision: String,
    pub(crate) stamp: Stamp,
}

/// A whole record, as its file has it.
#[derive(Debug, Clone)]
pub struct Whole {
    record: Record,
    /// The body without the empty lines around it.
    pub body: String,
}

impl Deref for Whole {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.record
    }
}

/// A file that is no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// What it should be.
    pub kind: Kind,
    /// Its path, relative to the workspace.
    pub path: String,
    /// In the archive.
    pub archived: bool,
    /// What is wrong.
    pub reason: String,
}

impl Record {
    /// Returns a field's text, `""` when it has none.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        self.fields.text(key)
    }

    /// Returns a field's list; a single text is split at its commas.
    #[must_use]
    pub fn list(&self, key: &str) -> Vec<&str> {
        self.fields.list(key)
    }

    /// Its file as answers name it: relative to the folder of its family.
    #[must_use]
    pub fn file(&self) -> &str {
        self.path.get(self.file_at as usize..).unwrap_or(&self.path)
    }

    /// How many acceptance criteria are ticked, and how many there are; `None` for a card without any.
    #[must_use]
    pub fn criteria(&self) -> Option<(usize, usize)> {
        let (done, total) = self.criteria;
        (total > 0).then_some((done as usize, total as usize))
    }

    /// The same record with another text.
    pub(crate) fn with_body(self, body: String) -> Whole {
        Whole { record: self, body }
    }

    /// The status, with the default of an indexed document.
    #[must_use]
    pub fn status(&self) -> &str {
        match self.text("status") {
            "" if self.kind == Kind::Doc && !self.managed => "current",
            status => status,
        }
    }

    /// A document's kind.
    #[must_use]
    pub fn document_kind(&self) -> &str {
        match self.text("kind") {
            "" => "reference",
            kind => kind,
        }
    }

    /// The kind's own word: a card's type, a document's kind, a fragment's type, a collection.
    #[must_use]
    pub fn record_type(&self) -> &str {
        match self.kind {
            Kind::Card | Kind::Change => self.text("type"),
            Kind::Doc => self.document_kind(),
            Kind::Release => "release",
            Kind::Memory => self.collection.map_or("", Collection::name),
        }
    }

    /// The day of its last change.
    #[must_use]
    pub fn updated(&self) -> &str {
        if self.kind == Kind::Release { self.text("date") } else { self.text("updated") }
    }

    /// The names of the declared axes it has.
    pub(crate) fn axes(&self, config: &Config) -> Vec<String> {
        if self.kind != Kind::Card {
            return Vec::new();
        }
        config
            .cards
            .axes
            .iter()
            .filter(|(name, _)| self.fields.contains_key(name))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Writes it, without its stamp, in a form that [`Self::read`] reads.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        let flags = [self.archived, self.managed, self.released, self.is_questionable];
        bytes.push(self.kind.number());
        bytes.push(flags.iter().rev().fold(0, |all, flag| all << 1 | u8::from(*flag)));
        let collection = self.collection.and_then(|one| Collection::ALL.iter().position(|other| *other == one));
        bytes.push(collection.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX));
        for text in [&self.id, &self.title, &self.path, &self.revision] {
            write_text(bytes, text);
        }
        for number in [self.file_at, self.body_bytes, self.criteria.0, self.criteria.1] {
            write_number(bytes, number as usize);
        }
        self.fields.write(bytes);
    }

    /// Reads what [`Self::write`] wrote.
    pub(crate) fn read(bytes: &mut Bytes<'_>, stamp: Stamp) -> Option<Self> {
        let kind = Kind::of(bytes.byte()?)?;
        let flags = bytes.byte()?;
        let collection = Collection::ALL.get(usize::from(bytes.byte()?)).copied();
        let mut text = || bytes.text().map(str::to_owned);
        let (id, title, path, revision) = (text()?, text()?, text()?, text()?);
        Some(Self {
            kind,
            id,
            title,
            path,
            archived: flags & 1 != 0,
            managed: flags & 2 != 0,
            released: flags & 4 != 0,
            is_questionable: flags & 8 != 0,
            collection,
            file_at: bytes.number()?,
            body_bytes: bytes.number()?,
            criteria: (bytes.number()?, bytes.number()?),
            revision,
            fields: Header::read(bytes)?,
            stamp,
        })
    }

    /// Field references: relation and target, in order.
    pub(crate) fn field_references(&self) -> Vec<(&'static str, &str)> {
        let mut found = Vec::new();
        for field in self.kind.references() {
            found.extend(self.list(field).into_iter().map(|target| (*field, target)));
        }
        found
    }
}

impl Whole {
    /// The record without its text.
    pub(crate) fn into_record(self) -> Record {
        self.record
    }

    /// The record as answers have it, without what only an index knows.
    #[must_use]
    pub fn to_json(&self, config: &Config) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            map.insert(key.to_owned(), value);
        };
        let field = |key: &str| self.fields.get(key);
        if self.kind == Kind::Card {
            put("file", json!(self.file()));
            put("archived", json!(self.archived));
            put("body", json!(self.body));
            for (key, value) in self.fields.iter() {
                // A header may use our words for itself; ours win.
                if !matches!(key, "file" | "archived" | "body" | "revision" | "kind" | "recordType" | "path") {
                    put(key, value);
                }
            }
            put("id", json!(self.id));
            put("revision", json!(self.revision));
            put("kind", json!("card"));
            put("recordType", json!(self.record_type()));
            put("path", json!(self.path));
            let axes = self.axes(config);
            if !axes.is_empty() {
                put("axes", json!(axes));
            }
            return map;
        }
        put("id", json!(self.id));
        put("kind", json!(self.kind.name()));
        put("recordType", json!(self.record_type()));
        if let Some(collection) = self.collection {
            put("collection", json!(collection.name()));
        }
        put("title", json!(self.title));
        put("path", json!(self.path));
        put("file", json!(self.file()));
        put("body", json!(self.body));
        let keys: &[&str] = match self.kind {
            Kind::Doc => {
                put("managed", json!(self.managed));
                put("documentKind", json!(self.document_kind()));
                if !self.status().is_empty() {
                    put("status", json!(self.status()));
                }
                &[
                    "owners",
                    "related",
                    "supersedes",
                    "scope",
                    "tags",
                    "source",
                    "review_after",
                    "created",
                    "updated",
                    "reviewed",
                    "review_interval_days",
                ]
            }
            Kind::Change => {
                put("type", field("type").unwrap_or(Value::Null));
                put("area", field("area").unwrap_or(Value::Null));
                put("visibility", field("visibility").unwrap_or(Value::Null));
                put("released", json!(self.released));
                &["cards", "issues", "decisions", "related", "tags", "created", "updated"]
            }
            Kind::Release => &["version", "date", "fragments", "commit", "tags"],
            Kind::Memory | Kind::Card => &[
                "status",
                "category",
                "confidence",
                "occurrences",
                "severity",
                "started_at",
                "resolved_at",
                "expires",
                "review_after",
                "deciders",
                "related",
                "supersedes",
                "superseded_by",
                "graduated_to",
                "corrective_actions",
                "scope",
                "owners",
                "tags",
                "created",
                "updated",
            ],
        };
        for key in keys {
            let Some(value) = field(key) else { continue };
            let value = match *key {
                // Counts are numbers in answers, text in headers.
                "occurrences" | "review_interval_days" => {
                    value.as_str().and_then(|text| text.parse::<i64>().ok()).map_or(value, Value::from)
                }
                _ => value,
            };
            put(if *key == "issues" { "externalIssues" } else { key }, value);
        }
        match self.kind {
            Kind::Release => {
                put("created", json!(self.text("date")));
                put("updated", json!(self.text("date")));
            }
            Kind::Doc => {
                put("modifiedAt", json!(model::format_timestamp(self.stamp.modified_ms())));
                put("sizeBytes", json!(self.stamp.size));
            }
            Kind::Card | Kind::Change | Kind::Memory => {}
        }
        put("revision", json!(self.revision));
        put("metadata", Value::Object(self.fields.to_map()));
        map
    }
}

/// Where a file lies decides what it is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    pub(crate) path: String,
    pub(crate) file: String,
    pub(crate) archived: bool,
    pub(crate) managed: bool,
    pub(crate) released: bool,
    pub(crate) collection: Option<Collection>,
}

impl Place {
    pub(crate) fn new(kind: Kind, path: &str, file: &str) -> Self {
        Self {
            kind,
            path: path.to_owned(),
            file: file.to_owned(),
            archived: false,
            managed: false,
            released: false,
            collection: None,
        }
    }

    fn unreadable(&self, reason: &str) -> Unreadable {
        Unreadable { kind: self.kind, path: self.path.clone(), archived: self.archived, reason: reason.to_owned() }
    }

    /// Reads a record's text.
    pub(crate) fn read(&self, text: &str, stamp: Stamp) -> Result<Whole, Unreadable> {
        let parsed = Text::parse(text, self.kind.lists());
        let mut kind = self.kind;
        let (fields, body) = match &parsed {
            Some(parsed) => (parsed.fields(), parsed.body().to_owned()),
            None if kind == Kind::Doc => (Map::new(), crate::front_matter::trimmed(text).to_owned()),
            None => return Err(self.unreadable("it has no header")),
        };
        if matches!(kind, Kind::Change | Kind::Release) {
            kind = if fields.contains_key("version") && fields.contains_key("fragments") {
                Kind::Release
            } else {
                Kind::Change
            };
        }
        let own = fields.get("id").and_then(Value::as_str).map_or("", str::trim).to_owned();
        let id = match own.as_str() {
            "" if kind == Kind::Doc => path_id(&self.path),
            "" => return Err(self.unreadable("it has no id")),
            _ => own,
        };
        let title = match fields.get("title").and_then(Value::as_str).map(str::trim) {
            Some(title) if !title.is_empty() => one_line(title),
            _ if kind == Kind::Doc => first_heading(&body).unwrap_or_else(|| spoken(&self.path)),
            _ => String::new(),
        };
        let found = pointers(&body);
        let found =
            [(Pointer::Wikilink, &found.wikilinks), (Pointer::Mention, &found.mentions), (Pointer::Link, &found.links)];
        let found = found.iter().flat_map(|(pointer, list)| list.iter().map(move |target| (*pointer, target.as_str())));
        let (mut criteria, mut is_questionable) = ((0, 0), false);
        if kind == Kind::Card && body.contains('[') {
            let read = acceptance(&body);
            criteria = (small(read.items.iter().filter(|item| item.checked).count()), small(read.items.len()));
            is_questionable = criteria.0 != criteria.1 || !read.unreadable().is_empty();
        }
        is_questionable |= kind == Kind::Card && stray_trail(&body).1 > 0;
        let record = Record {
            kind,
            id,
            title,
            path: self.path.clone(),
            file_at: small(self.path.len() - self.file.len()),
            archived: self.archived,
            managed: self.managed,
            released: self.released && kind == Kind::Change,
            collection: self.collection,
            fields: Header::new(&fields, found),
            body_bytes: small(body.len()),
            criteria,
            is_questionable,
            revision: sha256(text.as_bytes()),
            stamp,
        };
        Ok(record.with_body(body))
    }
}

/// A count as an index keeps it; a record has at most 16 MiB.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The id of a document that has none of its own.
fn path_id(path: &str) -> String {
    let digest = sha256(path.as_bytes());
    format!("PATH-{}", digest.get(7..19).unwrap_or("").to_uppercase())
}

fn first_heading(body: &str) -> Option<String> {
    lines(body)
        .iter()
        .find_map(|line| line.heading().filter(|(level, _)| *level == 1))
        .map(|(_, title)| title.to_owned())
        .filter(|title| !title.is_empty())
}

fn spoken(path: &str) -> String {
    crate::paths::name(path).trim_end_matches(".md").replace(['-', '_'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_id_is_no_record_but_a_document_gets_one() {
        let card = Place::new(Kind::Card, ".project/cards/a.md", "a.md");
        for text in ["just text\n", "---\ntitle: x\n---\n", "---\nid: \" \"\n---\n"] {
            assert!(card.read(text, Stamp::default()).is_err(), "{text}");
        }
        let doc = Place::new(Kind::Doc, "README.md", "README.md")
            .read("# Corner shop\n\nText.\n", Stamp::default())
            .expect("a document");
        assert_eq!(
            (doc.id.as_str(), doc.title.as_str(), doc.status()),
            ("PATH-B33563055168", "Corner shop", "current")
        );
        let named = Place::new(Kind::Doc, "a/my-file_name.md", "x").read("", Stamp::default()).expect("a document");
        assert_eq!(named.title, "my file name");
    }

    #[test]
    fn a_release_is_known_by_its_header() {
        let place = Place { released: true, ..Place::new(Kind::Change, "x/REL-0001-x.md", "REL-0001-x.md") };
        let text = "---\nid: REL-0001\nversion: 1\nfragments: [CHG-0001]\n---\n";
        let release = place.read(text, Stamp::default()).expect("a release");
        assert_eq!(
            (release.kind, release.released, release.list("fragments")),
            (Kind::Release, false, vec!["CHG-0001"])
        );
    }
}
