//! All records of a workspace, kept in memory, with who refers to whom.
//!
//! A file is read again when its time, size or inode has changed; one bad file never breaks the rest. The whole tree is
//! looked through at most every 250 ms; what this process wrote itself is read again at once.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::files::{self, Stamp};
use crate::paths;
use crate::record::{Kind, Place, Record, Unreadable};

/// How long what was seen counts as seen.
const FRESH: Duration = Duration::from_millis(250);

/// Back-links that are listed.
pub(crate) const MAX_INCOMING: usize = 20;

/// Bodies of list rows are cut here, in characters.
const EXCERPT: usize = 200;

/// One reference to another record.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) id: String,
    /// The record, when there is one.
    pub(crate) target: Option<usize>,
    /// All relations, the strongest first.
    pub(crate) relations: Vec<&'static str>,
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

/// A view of all records at one moment.
#[derive(Debug, Default)]
pub struct Index {
    /// In id order.
    pub(crate) records: Vec<Arc<Record>>,
    pub(crate) unreadable: Vec<Unreadable>,
    by_id: HashMap<String, usize>,
    pub(crate) outgoing: Vec<Vec<Link>>,
    /// Who refers, by which relations; in the order of the modules.
    pub(crate) incoming: Vec<Vec<(usize, Vec<&'static str>)>>,
}

impl Index {
    fn new(records: Vec<Arc<Record>>, mut unreadable: Vec<Unreadable>) -> Self {
        // Numbers are read once for each id, and not for each comparison.
        let mut keyed: Vec<((usize, u64), Arc<Record>)> =
            records.into_iter().map(|record| (paths::id_parts(&record.id), record)).collect();
        keyed.sort_by(|(one, left), (other, right)| {
            (&left.id[..one.0], one.1, &left.id, &left.path).cmp(&(
                &right.id[..other.0],
                other.1,
                &right.id,
                &right.path,
            ))
        });
        let records: Vec<Arc<Record>> = keyed.into_iter().map(|(_, record)| record).collect();
        unreadable.sort_by(|one, other| one.path.cmp(&other.path));
        let mut by_id = HashMap::with_capacity(records.len());
        let mut by_path = HashMap::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            by_id.entry(record.id.clone()).or_insert(at);
            by_path.insert(record.path.as_str(), at);
        }
        let outgoing: Vec<Vec<Link>> = records.iter().map(|record| links(record, &by_id, &by_path, &records)).collect();
        let mut order: Vec<usize> = (0..records.len()).collect();
        order.sort_by_key(|at| (records[*at].kind, *at));
        let mut incoming: Vec<Vec<(usize, Vec<&'static str>)>> = vec![Vec::new(); records.len()];
        for source in order {
            for link in &outgoing[source] {
                if let Some(target) = link.target {
                    incoming[target].push((source, link.relations.clone()));
                }
            }
        }
        Self { records, unreadable, by_id, outgoing, incoming }
    }

    /// Makes an index of records that lie nowhere.
    #[cfg(test)]
    pub(crate) fn of_records(records: Vec<Arc<Record>>) -> Self {
        Self::new(records, Vec::new())
    }

    /// Finds a record; of several with one id, the first.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Record>> {
        self.position(id).map(|at| &self.records[at])
    }

    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
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

    /// The back-links that are listed: all, or the strongest.
    pub(crate) fn shown_incoming(&self, at: usize) -> Vec<&(usize, Vec<&'static str>)> {
        let mut shown: Vec<&(usize, Vec<&'static str>)> = self.incoming[at].iter().collect();
        if shown.len() > MAX_INCOMING {
            shown.sort_by_key(|(_, relations)| relations.first().map_or(9, |relation| rank(relation)));
            shown.truncate(MAX_INCOMING);
        }
        shown
    }

    /// The whole record.
    pub(crate) fn full(&self, at: usize, root: &Path, config: &Config) -> Map<String, Value> {
        let record = &self.records[at];
        let mut map = record.to_json(config);
        if record.kind == Kind::Card {
            map.insert("assets".into(), json!(assets(root, config, &record.id)));
        }
        if record.kind == Kind::Change {
            let releases: Vec<&str> = self.incoming[at]
                .iter()
                .filter(|(source, relations)| {
                    self.records[*source].kind == Kind::Release && relations.contains(&"fragments")
                })
                .map(|(source, _)| self.records[*source].id.as_str())
                .collect();
            if !releases.is_empty() {
                map.insert("releaseIds".into(), json!(releases));
            }
        }
        map.insert("outgoing".into(), self.outgoing[at].iter().map(|link| self.link_json(link)).collect());
        map.insert("incomingTotal".into(), json!(self.incoming[at].len()));
        let incoming: Vec<Value> = self
            .shown_incoming(at)
            .into_iter()
            .map(|(source, relations)| {
                let source = &self.records[*source];
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
        let field = |key: &str| record.fields.get(key).cloned().unwrap_or(Value::Null);
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
        put("incomingTotal", json!(self.incoming[at].len()));
        let axes = record.axes(config);
        for axis in &axes {
            put(axis, field(axis));
        }
        put("axes", json!(axes));
        put("bodyBytes", json!(record.body.len()));
        map
    }

    /// A search result: a row with its revision, an excerpt and its links.
    pub(crate) fn summary(
        &self,
        at: usize,
        config: &Config,
        score: Option<Value>,
        excerpt: Option<String>,
    ) -> Map<String, Value> {
        let record = &self.records[at];
        let mut map = self.row(at, config);
        map.insert("file".into(), json!(record.file));
        map.insert("revision".into(), json!(record.revision));
        if let Some(score) = score {
            map.insert("searchScore".into(), score);
        }
        map.insert("excerpt".into(), json!(excerpt.unwrap_or_else(|| self::excerpt(&record.body))));
        let outgoing: Vec<Value> = self.outgoing[at]
            .iter()
            .map(|link| json!({ "id": link.id, "relation": link.relations.first(), "exists": link.target.is_some() }))
            .collect();
        map.insert("outgoing".into(), Value::Array(outgoing));
        let incoming: Vec<Value> = self
            .shown_incoming(at)
            .into_iter()
            .map(|(source, relations)| json!({ "id": self.records[*source].id, "relation": relations.first() }))
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

fn links(
    record: &Record,
    by_id: &HashMap<String, usize>,
    by_path: &HashMap<&str, usize>,
    records: &[Arc<Record>],
) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut add = |id: &str, relation: &'static str, only_existing: bool| {
        let target = by_id.get(id).copied();
        if id == record.id || (only_existing && target.is_none()) {
            return;
        }
        let key = target.map(|at| records[at].id.as_str());
        let place = match key {
            Some(key) => places.get(key).copied(),
            None => found.iter().position(|link| link.id == id),
        };
        match place {
            Some(place) if !found[place].relations.contains(&relation) => found[place].relations.push(relation),
            Some(_) => {}
            None => {
                if let Some(key) = key {
                    places.insert(key, found.len());
                }
                found.push(Link { id: id.to_owned(), target, relations: vec![relation] });
            }
        }
    };
    for (relation, id) in record.field_references() {
        add(id, relation, false);
    }
    for id in &record.pointers.wikilinks {
        add(id, "wikilink", false);
    }
    for id in &record.pointers.mentions {
        // Many words look like an id; only a real one is a reference.
        add(id, "mention", true);
    }
    if record.kind == Kind::Card
        && let Some(at) = paths::inside(record.text("source")).and_then(|path| by_path.get(path.as_str()).copied())
    {
        add(&records[at].id, "source", true);
    }
    for link in &record.pointers.links {
        let path = link.split(['#', '?']).next().unwrap_or("");
        if path.is_empty() || path.contains("://") {
            continue;
        }
        let path = if path.starts_with('/') {
            path.trim_start_matches('/').to_owned()
        } else {
            format!("{}/{path}", paths::parent(&record.path))
        };
        if let Some(at) =
            paths::inside(path.trim_start_matches('/')).and_then(|path| by_path.get(path.as_str()).copied())
        {
            add(&records[at].id, "markdown", true);
        }
    }
    for link in &mut found {
        link.relations.sort_by_key(|relation| (rank(relation), *relation));
    }
    found
}

/// What is known of the files, between two looks.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    files: HashMap<String, (Stamp, Result<Arc<Record>, Unreadable>)>,
    index: Option<Arc<Index>>,
    looked: Option<Instant>,
    /// Written by this process since.
    touched: HashSet<String>,
}

impl Cache {
    /// Remembers that a file was written, moved or removed by this process.
    pub(crate) fn touch(&mut self, path: &str) {
        self.touched.insert(path.to_owned());
    }

    /// What is known of each file, in no order.
    pub(crate) fn stamps(&self) -> Vec<String> {
        let shown = |(path, (stamp, _)): (&String, &(Stamp, _))| {
            format!("{path} {} {} {}", stamp.modified_ns, stamp.size, stamp.inode)
        };
        self.files.iter().map(shown).collect()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the records as they are now.
    pub(crate) fn index(&mut self, root: &Path, config: &Config) -> Arc<Index> {
        let fresh = self.looked.is_some_and(|looked| looked.elapsed() < FRESH);
        if fresh
            && self.touched.is_empty()
            && let Some(index) = &self.index
        {
            return Arc::clone(index);
        }
        let changed = if fresh { self.read_touched(root, config) } else { self.read_all(root, config) };
        self.touched.clear();
        if !changed && let Some(index) = &self.index {
            return Arc::clone(index);
        }
        let mut records = Vec::with_capacity(self.files.len());
        let mut unreadable = Vec::new();
        for (_, read) in self.files.values() {
            match read {
                Ok(record) => records.push(Arc::clone(record)),
                Err(bad) => unreadable.push(bad.clone()),
            }
        }
        let index = Arc::new(Index::new(records, unreadable));
        self.index = Some(Arc::clone(&index));
        index
    }

    fn read_touched(&mut self, root: &Path, config: &Config) -> bool {
        let touched: Vec<String> = self.touched.iter().cloned().collect();
        for path in touched {
            self.files.remove(&path);
            if let Some(place) = place_of(&path, config) {
                self.read_one(root, config, place);
            }
        }
        true
    }

    fn read_all(&mut self, root: &Path, config: &Config) -> bool {
        let places = places(root, config);
        let mut changed = false;
        let mut present = HashSet::with_capacity(places.len());
        for place in places {
            present.insert(place.path.clone());
            let seen = std::fs::symlink_metadata(root.join(&place.path)).map(|meta| Stamp::of(&meta)).ok();
            let known = self.files.get(&place.path).map(|(stamp, _)| *stamp);
            if seen.is_some() && seen == known && !self.touched.contains(&place.path) {
                continue;
            }
            self.read_one(root, config, place);
            changed = true;
        }
        let before = self.files.len();
        self.files.retain(|path, _| present.contains(path));
        self.looked = Some(Instant::now());
        changed || before != self.files.len()
    }

    fn read_one(&mut self, root: &Path, config: &Config, place: Place) {
        let path = root.join(&place.path);
        let limit = if place.kind == Kind::Doc { config.docs.max_file_bytes } else { u64::MAX };
        match files::read(&path, limit) {
            Ok((text, stamp)) => {
                let read = place.read(&text, stamp).map(Arc::new);
                self.files.insert(place.path, (stamp, read));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let stamp = std::fs::symlink_metadata(&path).map(|meta| Stamp::of(&meta)).unwrap_or_default();
                let bad = Unreadable {
                    kind: place.kind,
                    path: place.path.clone(),
                    archived: place.archived,
                    reason: error.to_string(),
                };
                self.files.insert(place.path, (stamp, Err(bad)));
            }
        }
    }
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

/// Everything that may be a record, once each.
fn places(root: &Path, config: &Config) -> Vec<Place> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |path: String| {
        if let Some(place) = place_of(&path, config)
            && seen.insert(path)
        {
            found.push(place);
        }
    };
    let tree = |folder: &str| files::markdown(root, folder, &[]);
    if config.cards.enabled {
        tree(&config.cards.path).into_iter().for_each(&mut add);
        tree(&config.cards.archive_path).into_iter().for_each(&mut add);
    }
    if config.changelog.enabled {
        tree(&config.changelog.fragments_path).into_iter().for_each(&mut add);
        tree(&config.changelog.releases_path).into_iter().for_each(&mut add);
    }
    if config.memory.enabled {
        for collection in &config.memory.collections {
            tree(&paths::join(&config.memory.path, collection.name())).into_iter().for_each(&mut add);
        }
    }
    if config.docs.enabled {
        tree(&config.docs.managed_path).into_iter().for_each(&mut add);
        for source in &config.docs.sources {
            let source = source.trim_start_matches("./");
            // Only the part before the first wildcard has to be walked.
            let fixed: Vec<&str> = source.split('/').take_while(|part| !part.contains(['*', '?'])).collect();
            if fixed.len() == source.split('/').count() {
                if std::fs::symlink_metadata(root.join(source)).is_ok_and(|meta| meta.is_file()) {
                    add(source.to_owned());
                }
                continue;
            }
            // A folder that is excluded as a whole is not entered.
            let skip: Vec<&str> = config
                .docs
                .exclude
                .iter()
                .filter_map(|pattern| pattern.strip_suffix("/**"))
                .filter(|folder| !folder.contains('*'))
                .collect();
            files::walk(root, &fixed.join("/"), &skip, 0, &mut |path| add(path.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Arc::new(place_of(path, &config).expect("a record").read(text, Stamp::default()).expect("read"))
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
        let links: Vec<_> = index.outgoing[at].iter().map(|link| (link.id.as_str(), link.relations.clone())).collect();
        assert_eq!(links, [("T-0002", vec!["wikilink", "mention"]), ("DOC-0001", vec!["markdown"])]);
        let at = index.position("T-0002").expect("there");
        assert_eq!(index.outgoing[at][0].relations, ["depends", "mention"]);
        assert!(index.outgoing[at][1].target.is_none());
        assert_eq!(index.incoming[at].len(), 1);
    }
}
