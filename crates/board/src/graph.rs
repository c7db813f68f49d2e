//! Who refers to whom: found by what is referred to, and changed record by record.
//!
//! A record is referred to by its id or by its path. What a record refers to is read from the record itself whenever it is
//! asked for; kept is only the other direction, in which nobody could look.

use std::collections::HashMap;
use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

use crate::header::Pointer;
use crate::index::Index;
use crate::paths;
use crate::record::{Kind, Record};

/// One reference to another record.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) id: String,
    /// The record, when there is one.
    pub(crate) target: Option<usize>,
    /// All relations, the strongest first.
    pub(crate) relations: Vec<&'static str>,
}

/// One reference from another record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Incoming {
    pub(crate) source: usize,
    /// How strong the strongest relation is; 0 is the strongest.
    rank: u8,
}

fn rank(relation: &str) -> u8 {
    match relation {
        "source" => 0,
        "related" => 2,
        "wikilink" => 3,
        "markdown" => 4,
        "mention" => 5,
        _ => 1,
    }
}

/// By what records are referred to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    /// The slots of those who refer to something, with the rank of their strongest relation.
    referring: HashMap<u64, Vec<(u32, u8)>>,
}

fn key(salt: u64, text: &str) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(salt, 1);
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// The key of an id.
fn id_key(id: &str) -> u64 {
    key(1, id)
}

/// The key of a path.
pub(crate) fn path_key(path: &str) -> u64 {
    key(2, path)
}

/// Where a Markdown link leads, when it leads to a file of the workspace.
fn linked_path(record: &Record, link: &str) -> Option<String> {
    let path = link.split(['#', '?']).next().unwrap_or("");
    if path.is_empty() || path.contains("://") {
        return None;
    }
    match path.strip_prefix('/') {
        Some(_) => paths::inside(path.trim_start_matches('/')),
        None => paths::inside(format!("{}/{path}", paths::parent(&record.path)).trim_start_matches('/')),
    }
}

/// Where a card's source leads, when it is a path.
fn source_path(record: &Record) -> Option<String> {
    if record.kind == Kind::Card { paths::inside(record.text("source")).filter(|path| !path.is_empty()) } else { None }
}

/// Everything a record refers to, with the rank of the strongest relation.
fn references(record: &Record) -> Vec<(u64, u8)> {
    let mut found: Vec<(u64, u8)> = Vec::new();
    let mut add = |key: u64, rank: u8| match found.iter_mut().find(|(other, _)| *other == key) {
        Some((_, known)) => *known = rank.min(*known),
        None => found.push((key, rank)),
    };
    for (relation, id) in record.field_references() {
        add(id_key(id), rank(relation));
    }
    record.fields.pointers(Pointer::Wikilink).for_each(|id| add(id_key(id), rank("wikilink")));
    record.fields.pointers(Pointer::Mention).for_each(|id| add(id_key(id), rank("mention")));
    if let Some(path) = source_path(record) {
        add(path_key(&path), rank("source"));
    }
    let linked = record.fields.pointers(Pointer::Link).filter_map(|link| linked_path(record, link));
    linked.for_each(|path| add(path_key(&path), rank("markdown")));
    found
}

impl Graph {
    /// Adds what a record refers to.
    pub(crate) fn add(&mut self, slot: u32, record: &Record) {
        for (key, rank) in references(record) {
            self.referring.entry(key).or_default().push((slot, rank));
        }
    }

    /// Takes away what a record refers to.
    pub(crate) fn remove(&mut self, slot: u32, record: &Record) {
        for (key, _) in references(record) {
            if let Some(referring) = self.referring.get_mut(&key) {
                referring.retain(|(other, _)| *other != slot);
                if referring.is_empty() {
                    self.referring.remove(&key);
                }
            }
        }
    }

    fn to(&self, key: u64) -> &[(u32, u8)] {
        self.referring.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The slots of those who refer to a record, by its id or the path of any file that has it: each once.
    fn sources(&self, id: &str, files: &[&str]) -> Vec<(u32, u8)> {
        let mut found = self.to(id_key(id)).to_vec();
        let by_id = found.len();
        files.iter().for_each(|path| found.extend_from_slice(self.to(path_key(path))));
        if found.len() > by_id {
            found.sort_unstable();
            found.dedup_by_key(|(slot, _)| *slot);
        }
        found
    }
}

impl Index {
    /// What a record refers to.
    pub(crate) fn outgoing(&self, at: usize) -> Vec<Link> {
        let record = &self.records[at];
        let mut found: Vec<Link> = Vec::new();
        let mut add = |id: &str, relation: &'static str, only_existing: bool| {
            if id == record.id {
                return;
            }
            let target = self.position(id);
            if only_existing && target.is_none() {
                return;
            }
            match found.iter_mut().find(|link| link.id == id) {
                Some(link) if !link.relations.contains(&relation) => link.relations.push(relation),
                Some(_) => {}
                None => found.push(Link { id: id.to_owned(), target, relations: vec![relation] }),
            }
        };
        for (relation, id) in record.field_references() {
            add(id, relation, false);
        }
        record.fields.pointers(Pointer::Wikilink).for_each(|id| add(id, "wikilink", false));
        // Many words look like an id; only a real one is a reference.
        record.fields.pointers(Pointer::Mention).for_each(|id| add(id, "mention", true));
        if let Some(to) = source_path(record).and_then(|path| self.at_path(&path)) {
            add(&self.records[to].id, "source", true);
        }
        for link in record.fields.pointers(Pointer::Link) {
            if let Some(to) = linked_path(record, link).and_then(|path| self.at_path(&path)) {
                add(&self.records[to].id, "markdown", true);
            }
        }
        for link in &mut found {
            link.relations.sort_by_key(|relation| (rank(relation), *relation));
        }
        found
    }

    /// Those who refer to a record, in no order.
    fn referring(&self, at: usize) -> impl Iterator<Item = (usize, u8)> {
        let id = self.records[at].id.as_str();
        // Of several files with one id the first is what the id means.
        let first = self.position(id) == Some(at);
        let files: Vec<&str> =
            self.records[at..].iter().take_while(|other| other.id == id).map(|other| other.path.as_str()).collect();
        let sources = if first { self.graph.sources(id, &files) } else { Vec::new() };
        sources
            .into_iter()
            .filter_map(|(slot, rank)| self.place(slot as usize).map(|source| (source, rank)))
            .filter(move |(source, _)| self.records[*source].id != id)
    }

    /// How many records refer to one.
    pub(crate) fn incoming_total(&self, at: usize) -> usize {
        self.referring(at).count()
    }

    /// Those who refer to a record: all in the order of the modules, or of very many the `most` strongest.
    pub(crate) fn incoming(&self, at: usize, most: usize) -> Vec<Incoming> {
        let mut found: Vec<Incoming> = self.referring(at).map(|(source, rank)| Incoming { source, rank }).collect();
        let order = |one: &Incoming| (self.records[one.source].kind, one.source);
        if found.len() > most {
            let strongest = |one: &Incoming| (one.rank, order(one));
            found.select_nth_unstable_by_key(most, strongest);
            found.truncate(most);
            found.sort_by_key(strongest);
        } else {
            found.sort_by_key(order);
        }
        found
    }

    /// The relations by which one record refers to another, the strongest first.
    pub(crate) fn relations(&self, source: usize, target: usize) -> Vec<&'static str> {
        let links = self.outgoing(source);
        links.into_iter().find(|link| link.target == Some(target)).map(|link| link.relations).unwrap_or_default()
    }
}
