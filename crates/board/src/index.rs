//! All records of a workspace in id order, and what answers say of each: rows, summaries, whole records.
//!
//! Here is one moment; `looking` makes the next one of it.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::graph::{Graph, Link, path_key};
use crate::paths;
use crate::record::{Kind, Place, Record, Unreadable, Whole};

/// Back-links that are listed.
pub(crate) const MAX_INCOMING: usize = 20;

/// Bodies of list rows are cut here, in characters.
const EXCERPT: usize = 200;

/// The slot of nothing.
const NOWHERE: u32 = u32::MAX;

/// A view of all records at one moment.
#[derive(Debug, Default, Clone)]
pub struct Index {
    /// In id order.
    pub(crate) records: Vec<Arc<Record>>,
    /// By path.
    pub(crate) unreadable: Vec<Unreadable>,
    /// Each record's slot: a number that it keeps while others come and go.
    slots: Vec<u32>,
    /// Where the record of a slot is.
    places: Vec<u32>,
    by_path: HashMap<u64, u32>,
    /// What records are narrowed and ordered by, by slot: thousands are looked at for a page of them.
    marks: Vec<Mark>,
    statuses: HashMap<Box<str>, u32>,
    pub(crate) graph: Graph,
}

/// What is known of a record without going to it.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The number of its status.
    status: u32,
    /// The beginning of when it was updated.
    updated: u128,
    /// Whether that is not all of it.
    is_cut: bool,
}

/// The first bytes of a text as a number: numbers are in the order of the texts, but for those that begin alike.
fn beginning(text: &str) -> u128 {
    let mut bytes = [0; 16];
    for (byte, found) in bytes.iter_mut().zip(text.bytes()) {
        *byte = found;
    }
    u128::from_be_bytes(bytes)
}

/// Orders by id, so that `T-9999` comes before `T-10000`, and files of one id by path.
fn order(one: &Record, other: &Record) -> Ordering {
    paths::compare_ids(&one.id, &other.id).then_with(|| one.path.cmp(&other.path))
}

fn small(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NOWHERE)
}

impl Index {
    /// Makes an index of records.
    pub(crate) fn new(mut records: Vec<Arc<Record>>, mut unreadable: Vec<Unreadable>) -> Self {
        // Numbers are read once for each id, and not for each comparison.
        records.sort_by_cached_key(|record| {
            let (end, number) = paths::id_parts(&record.id);
            (record.id[..end].to_owned(), number, record.id.clone(), record.path.clone())
        });
        records.shrink_to_fit();
        unreadable.sort_by(|one, other| one.path.cmp(&other.path));
        let slots: Vec<u32> = (0..small(records.len())).collect();
        let mut index = Self {
            unreadable,
            places: slots.clone(),
            by_path: HashMap::with_capacity(records.len()),
            marks: Vec::with_capacity(records.len()),
            statuses: HashMap::new(),
            graph: Graph::default(),
            records: Vec::new(),
            slots,
        };
        for (slot, record) in (0..).zip(&records) {
            index.by_path.insert(path_key(&record.path), slot);
            index.graph.add(slot, record);
            index.mark(record);
        }
        index.records = records;
        index
    }

    /// Adds a record and returns its slot.
    pub(crate) fn insert(&mut self, record: Arc<Record>) -> u32 {
        let at = self.records.partition_point(|other| order(other, &record).is_lt());
        let slot = small(self.places.len());
        self.shift(at, 1);
        self.places.push(small(at));
        self.slots.insert(at, slot);
        self.by_path.insert(path_key(&record.path), slot);
        self.graph.add(slot, &record);
        self.mark(&record);
        self.records.insert(at, record);
        slot
    }

    /// Marks the record of the next slot.
    fn mark(&mut self, record: &Record) {
        let next = small(self.statuses.len());
        let status = match self.statuses.get(record.status()) {
            Some(known) => *known,
            None => *self.statuses.entry(record.status().into()).or_insert(next),
        };
        let updated = record.updated();
        let is_cut = updated.len() > 16 || updated.contains('\0');
        self.marks.push(Mark { status, updated: beginning(updated), is_cut });
    }

    /// Which records have a status that is wanted, by slot.
    pub(crate) fn of_status(&self, wanted: impl Fn(&str) -> bool) -> impl Fn(usize) -> bool {
        let mut is_wanted = vec![false; self.statuses.len()];
        for (status, number) in &self.statuses {
            is_wanted[*number as usize] = wanted(status);
        }
        move |slot| is_wanted[self.marks[slot].status as usize]
    }

    /// Compares when two records were updated.
    pub(crate) fn compare_updated(&self, one: usize, other: usize) -> Ordering {
        let (mark, other_mark) = (&self.marks[self.slot(one)], &self.marks[self.slot(other)]);
        mark.updated.cmp(&other_mark.updated).then_with(|| {
            let all_said = !mark.is_cut && !other_mark.is_cut;
            if all_said { Ordering::Equal } else { self.records[one].updated().cmp(self.records[other].updated()) }
        })
    }

    /// Removes the record of a file.
    pub(crate) fn remove(&mut self, path: &str) -> bool {
        self.unreadable.retain(|bad| bad.path != path);
        let Some(slot) = self.by_path.remove(&path_key(path)) else { return false };
        let Some(at) = self.place(slot as usize) else { return false };
        let record = self.records.remove(at);
        self.slots.remove(at);
        self.places[slot as usize] = NOWHERE;
        self.shift(at, -1);
        self.graph.remove(slot, &record);
        true
    }

    /// Adds a file that is no record.
    pub(crate) fn insert_unreadable(&mut self, bad: Unreadable) {
        let at = self.unreadable.partition_point(|other| other.path < bad.path);
        self.unreadable.insert(at, bad);
    }

    fn shift(&mut self, from: usize, by: i32) {
        let from = small(from);
        for place in self.places.iter_mut().filter(|place| **place != NOWHERE && **place >= from) {
            *place = place.saturating_add_signed(by);
        }
    }

    /// How many slots were given.
    pub(crate) fn slots(&self) -> usize {
        self.places.len()
    }

    /// The slot of a record.
    pub(crate) fn slot(&self, at: usize) -> usize {
        self.slots[at] as usize
    }

    /// Where the record of a slot is, if there still is one.
    pub(crate) fn place(&self, slot: usize) -> Option<usize> {
        self.places.get(slot).filter(|place| **place != NOWHERE).map(|place| *place as usize)
    }

    /// Finds a record; of several with one id, the first.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Record>> {
        self.position(id).map(|at| &self.records[at])
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        let at = self.records.partition_point(|record| paths::compare_ids(&record.id, id).is_lt());
        self.records.get(at).is_some_and(|record| record.id == id).then_some(at)
    }

    /// Finds the record of a file.
    pub(crate) fn at_path(&self, path: &str) -> Option<usize> {
        let slot = self.by_path.get(&path_key(path))?;
        self.place(*slot as usize)
    }

    /// All records in id order.
    #[must_use]
    pub fn records(&self) -> &[Arc<Record>] {
        &self.records
    }

    /// Records of one kind.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &Arc<Record>> {
        self.records.iter().filter(move |record| record.kind == kind)
    }

    fn link_json(&self, link: &Link) -> Value {
        let target = link.target.map(|at| &self.records[at]);
        let mut map = Map::new();
        map.insert("id".into(), json!(link.id));
        map.insert("relation".into(), json!(link.relations.first()));
        if link.relations.len() > 1 {
            map.insert("relations".into(), json!(link.relations));
        }
        map.insert("exists".into(), json!(target.is_some()));
        map.insert("kind".into(), json!(target.map(|record| record.kind.name())));
        map.insert("title".into(), json!(target.map(|record| &record.title)));
        map.insert("path".into(), json!(target.map(|record| &record.path)));
        Value::Object(map)
    }

    /// The whole record.
    pub(crate) fn full(&self, at: usize, whole: &Whole, root: &Path, config: &Config) -> Map<String, Value> {
        let record = &self.records[at];
        let mut map = whole.to_json(config);
        if record.kind == Kind::Card {
            map.insert("assets".into(), json!(assets(root, config, &record.id)));
        }
        if record.kind == Kind::Change {
            let releases: Vec<&str> = self
                .incoming(at, usize::MAX)
                .into_iter()
                .filter(|one| self.records[one.source].kind == Kind::Release)
                .filter(|one| self.relations(one.source, at).contains(&"fragments"))
                .map(|one| self.records[one.source].id.as_str())
                .collect();
            if !releases.is_empty() {
                map.insert("releaseIds".into(), json!(releases));
            }
        }
        map.insert("outgoing".into(), self.outgoing(at).iter().map(|link| self.link_json(link)).collect());
        map.insert("incomingTotal".into(), json!(self.incoming_total(at)));
        let incoming: Vec<Value> = self
            .incoming(at, MAX_INCOMING)
            .into_iter()
            .map(|one| {
                let (source, relations) = (&self.records[one.source], self.relations(one.source, at));
                let mut link = Map::new();
                link.insert("id".into(), json!(source.id));
                link.insert("relation".into(), json!(relations.first()));
                if relations.len() > 1 {
                    link.insert("relations".into(), json!(relations));
                }
                link.insert("kind".into(), json!(source.kind.name()));
                link.insert("title".into(), json!(source.title));
                Value::Object(link)
            })
            .collect();
        map.insert("incoming".into(), Value::Array(incoming));
        map.insert("issues".into(), json!([]));
        match record.kind {
            Kind::Doc => map.insert("freshness".into(), json!([])),
            Kind::Memory => map.insert("lifecycleIssues".into(), json!([])),
            Kind::Card | Kind::Change | Kind::Release => None,
        };
        map
    }

    /// A row of a list: what one chooses by, and no text.
    pub(crate) fn row(&self, at: usize, config: &Config) -> Map<String, Value> {
        let record = &self.records[at];
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| {
            if !crate::front_matter::is_empty(&value) {
                map.insert(key.to_owned(), value);
            }
        };
        put("id", json!(record.id));
        put("kind", json!(record.kind.name()));
        put("recordType", json!(record.record_type()));
        put("title", json!(record.title));
        put("path", json!(record.path));
        put("status", json!(record.status()));
        let field = |key: &str| record.fields.get(key).unwrap_or(Value::Null);
        if matches!(record.kind, Kind::Card | Kind::Change) {
            put("type", field("type"));
            put("priority", field("priority"));
            put("area", field("area"));
        }
        if record.kind == Kind::Card {
            put("archived", json!(record.archived));
            put("parent", field("parent"));
            put("depends", field("depends"));
            put("origin", field("origin"));
            put("milestone", field("milestone"));
            put("claimed_by", field("claimed_by"));
            put("claimed_at", field("claimed_at"));
        }
        put("related", field("related"));
        put("tags", field("tags"));
        match record.kind {
            Kind::Doc => {
                put("managed", json!(record.managed));
                put("documentKind", json!(record.document_kind()));
            }
            Kind::Change => {
                put("visibility", field("visibility"));
                put("released", json!(record.released));
            }
            Kind::Release => put("version", field("version")),
            Kind::Memory => put("collection", json!(record.record_type())),
            Kind::Card => {}
        }
        if record.kind == Kind::Release {
            put("created", field("date"));
            put("updated", field("date"));
        } else {
            put("created", field("created"));
            put("updated", field("updated"));
        }
        put("incomingTotal", json!(self.incoming_total(at)));
        let axes = record.axes(config);
        for axis in &axes {
            put(axis, field(axis));
        }
        put("axes", json!(axes));
        put("bodyBytes", json!(record.body_bytes));
        map
    }

    /// A search result: a row with its revision, an excerpt and its links.
    pub(crate) fn summary(
        &self,
        at: usize,
        config: &Config,
        score: Option<Value>,
        excerpt: &str,
    ) -> Map<String, Value> {
        let record = &self.records[at];
        let mut map = self.row(at, config);
        map.insert("file".into(), json!(record.file()));
        map.insert("revision".into(), json!(record.revision));
        if let Some(score) = score {
            map.insert("searchScore".into(), score);
        }
        map.insert("excerpt".into(), json!(excerpt));
        let outgoing: Vec<Value> = self
            .outgoing(at)
            .iter()
            .map(|link| json!({ "id": link.id, "relation": link.relations.first(), "exists": link.target.is_some() }))
            .collect();
        map.insert("outgoing".into(), Value::Array(outgoing));
        let incoming: Vec<Value> = self
            .incoming(at, MAX_INCOMING)
            .into_iter()
            .map(|one| json!({ "id": self.records[one.source].id, "relation": self.relations(one.source, at).first() }))
            .collect();
        map.insert("incoming".into(), Value::Array(incoming));
        map
    }
}

/// The beginning of a body in one line.
pub(crate) fn excerpt(body: &str) -> String {
    let mut text = String::new();
    let mut length = 0;
    for word in body.split_whitespace() {
        if length > 0 {
            text.push(' ');
            length += 1;
        }
        for one in word.chars() {
            if length == EXCERPT {
                text.push('…');
                return text;
            }
            text.push(one);
            length += 1;
        }
    }
    text
}

fn assets(root: &Path, config: &Config, id: &str) -> Vec<String> {
    if id.contains(['/', '\\']) || id.starts_with('.') {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(root.join(&config.cards.assets_path).join(id)) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Says what a path is, from where it lies. `None` for what is no record.
pub(crate) fn place_of(path: &str, config: &Config) -> Option<Place> {
    if !path.ends_with(".md") {
        return None;
    }
    let name = paths::name(path);
    if config.cards.enabled {
        if paths::lies_in(path, &config.cards.archive_path) {
            return Some(Place { archived: true, ..Place::new(Kind::Card, path, name) });
        }
        if paths::lies_in(path, &config.cards.path) {
            return Some(Place::new(Kind::Card, path, name));
        }
    }
    if config.changelog.enabled {
        if paths::lies_in(path, &config.changelog.releases_path) {
            return Some(Place { released: true, ..Place::new(Kind::Change, path, name) });
        }
        if paths::lies_in(path, &config.changelog.fragments_path) {
            return Some(Place::new(Kind::Change, path, name));
        }
    }
    if config.memory.enabled
        && let Some(rest) = path.strip_prefix(&config.memory.path).and_then(|rest| rest.strip_prefix('/'))
    {
        let folder = rest.split('/').next().unwrap_or("");
        let collection = config.memory.collections.iter().copied().find(|one| one.name() == folder)?;
        return Some(Place { collection: Some(collection), ..Place::new(Kind::Memory, path, name) });
    }
    if config.docs.enabled {
        if paths::lies_in(path, &config.docs.managed_path) {
            let file = path.get(config.docs.managed_path.len() + 1..).unwrap_or(name);
            return Some(Place { managed: true, ..Place::new(Kind::Doc, path, file) });
        }
        let matches =
            |patterns: &[String]| patterns.iter().any(|pattern| paths::glob(pattern.trim_start_matches("./"), path));
        if matches(&config.docs.sources) && !matches(&config.docs.exclude) {
            return Some(Place::new(Kind::Doc, path, name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Stamp;

    #[test]
    fn excerpts_are_one_line() {
        assert_eq!(excerpt("a\n\n  b "), "a b");
        let long = excerpt(&"x".repeat(500));
        assert_eq!((long.chars().count(), long.ends_with('…')), (201, true));
    }

    #[test]
    fn links_take_the_strongest_relation() {
        let read = |path: &str, text: &str| {
            let config = Config::default();
            Arc::new(
                place_of(path, &config).expect("a record").read(text, Stamp::default()).expect("read").into_record(),
            )
        };
        let index = Index::new(
            vec![
                read(
                    ".project/cards/T-0001-a.md",
                    "---\nid: T-0001\ntitle: A\n---\n\n[[T-0002]] T-0002 T-0001 ABC-9999 [d](../docs/guide.md)\n",
                ),
                read(
                    ".project/cards/T-0002-b.md",
                    "---\nid: T-0002\ntitle: B\ndepends: [T-0001, T-0404]\n---\n\nT-0001\n",
                ),
                read(".project/docs/guide.md", "---\nid: DOC-0001\ntitle: D\n---\n"),
            ],
            Vec::new(),
        );
        let at = index.position("T-0001").expect("there");
        let links = index.outgoing(at);
        let links: Vec<_> = links.iter().map(|link| (link.id.as_str(), link.relations.clone())).collect();
        assert_eq!(links, [("T-0002", vec!["wikilink", "mention"]), ("DOC-0001", vec!["markdown"])]);
        let at = index.position("T-0002").expect("there");
        assert_eq!(index.outgoing(at)[0].relations, ["depends", "mention"]);
        assert!(index.outgoing(at)[1].target.is_none());
        assert_eq!(index.incoming_total(at), 1);
    }
}
