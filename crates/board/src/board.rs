//! A workspace with its records: what every operation starts from.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::error::{BoardError, Result, refuse};
use crate::files::{self, Stamp};
use crate::front_matter::{Text, body_of};
use crate::index::{Index, place_of};
use crate::lexicon::Lexicon;
use crate::looking::Looking;
use crate::record::{Kind, Place, Record, Whole};
use crate::workspace::Workspace;
use crate::{locks, moment};

/// Fields of a record by name.
pub type Fields = Map<String, Value>;

/// A workspace with its records.
#[derive(Debug)]
pub struct Board {
    workspace: Workspace,
    looking: Mutex<Looking>,
}

/// A record's file, read while its lock is held.
pub(crate) struct Held {
    pub(crate) place: Place,
    pub(crate) text: Text,
    pub(crate) record: Whole,
    _lock: locks::Lock,
}

/// The words of one family's refusals.
pub(crate) struct Family {
    pub(crate) module: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) ambiguous: &'static str,
    pub(crate) conflict: &'static str,
}

impl Board {
    /// Takes an opened workspace.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        let looking = Looking::new(workspace.root(), workspace.config(), !workspace.is_read_only());
        Self { workspace, looking: Mutex::new(looking) }
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.workspace.config()
    }

    /// Its folder.
    pub(crate) fn root(&self) -> &Path {
        self.workspace.root()
    }

    pub(crate) fn looking(&self) -> MutexGuard<'_, Looking> {
        self.looking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All records as they are now.
    #[must_use]
    pub fn index(&self) -> Arc<Index> {
        self.looking().index(self.root(), self.config())
    }

    /// All records as they are now, with what a search needs.
    pub(crate) fn searchable(&self) -> (Arc<Index>, Arc<Lexicon>) {
        self.looking().searchable(self.root(), self.config())
    }

    /// All records, looking at every file again.
    pub(crate) fn index_anew(&self) -> Arc<Index> {
        let mut looking = self.looking();
        looking.look_again();
        looking.index(self.root(), self.config())
    }

    /// Reads and tells other processes that a file was written, moved or removed.
    pub(crate) fn touched(&self, path: &str) {
        self.looking().touch(self.root(), self.config(), path);
    }

    /// Reads a record's file. Of one that is gone or broken since, what was known, without a body.
    #[must_use]
    pub fn read(&self, record: &Record) -> Whole {
        let read = place_of(&record.path, self.config()).and_then(|place| {
            let (text, stamp) = files::read(&self.workspace.at(&record.path), u64::MAX).ok()?;
            place.read(&text, stamp).ok()
        });
        read.filter(|whole| whole.id == record.id).unwrap_or_else(|| record.clone().with_body(String::new()))
    }

    /// A record's body from its file. Of a file that is as it was nothing else is read again.
    pub(crate) fn body(&self, record: &Record) -> String {
        match files::read(&self.workspace.at(&record.path), u64::MAX) {
            Ok((text, stamp)) if stamp == record.stamp => body_of(&text).to_owned(),
            _ => self.read(record).body,
        }
    }

    /// A whole record with its references, as answers have it.
    pub(crate) fn full(&self, index: &Index, at: usize) -> Fields {
        index.full(at, &self.read(&index.records[at]), self.root(), self.config())
    }

    /// Today, UTC.
    pub(crate) fn today(&self) -> String {
        moment::day(self.workspace.now())
    }

    /// Returns a whole record with its references.
    ///
    /// # Errors
    ///
    /// `RECORD_NOT_FOUND`.
    pub fn get(&self, id: &str) -> Result<Fields> {
        let index = self.index();
        let at = index.position(id.trim()).ok_or_else(|| refuse!("RECORD_NOT_FOUND", "there is no record `{id}`"))?;
        Ok(self.full(&index, at))
    }

    /// Opens a record for writing: under its lock, as its file is now, at the revision that was expected.
    pub(crate) fn hold(
        &self,
        id: &str,
        expected: Option<&str>,
        family: &Family,
        is_one: &dyn Fn(&Record) -> bool,
    ) -> Result<Held> {
        self.workspace.writable()?;
        let id = id.trim();
        // Before the lock, so that no lock file is made for what does not exist.
        self.locate(id, family, is_one)?;
        let lock = self.workspace.lock(family.module, id)?;
        let held = match self.read_held(&self.locate(id, family, is_one)?, id) {
            Some(found) => found,
            None => {
                // It was moved or replaced since the index looked.
                self.index_anew();
                let path = self.locate(id, family, is_one)?;
                self.read_held(&path, id).ok_or_else(|| refuse_not_found(family, id))?
            }
        };
        let (place, text, record) = held;
        if let Some(expected) = expected.map(str::trim).filter(|expected| !expected.is_empty())
            && expected != record.revision
        {
            return Err(conflict(family.conflict, &record, expected, Some(record.to_json(self.config()))));
        }
        Ok(Held { place, text, record, _lock: lock })
    }

    fn locate(&self, id: &str, family: &Family, is_one: &dyn Fn(&Record) -> bool) -> Result<String> {
        let of = |index: &Index| -> Vec<(String, String)> {
            index
                .records
                .iter()
                .filter(|record| record.id == id && is_one(record))
                .map(|record| (record.path.clone(), record.file().to_owned()))
                .collect()
        };
        let mut found = of(&self.index());
        if found.is_empty() {
            // Somebody else may have made it a moment ago.
            found = of(&self.index_anew());
        }
        match found.as_slice() {
            [] => Err(refuse_not_found(family, id)),
            [(path, _)] => Ok(path.clone()),
            many => {
                let files: Vec<&str> = many.iter().map(|(_, file)| file.as_str()).collect();
                Err(BoardError::new(family.ambiguous, format!("`{id}` is the id of {} files", many.len()))
                    .with(json!({ "files": files })))
            }
        }
    }

    fn read_held(&self, path: &str, id: &str) -> Option<(Place, Text, Whole)> {
        let place = place_of(path, self.config())?;
        let (source, stamp) = files::read(&self.workspace.at(path), u64::MAX).ok()?;
        let text = Text::parse(&source, place.kind.lists())?;
        let record = place.read(&source, stamp).ok()?;
        (record.id == id).then_some((place, text, record))
    }

    /// Writes a held record back, to `path` when it moves, and returns it as it is then.
    pub(crate) fn put(&self, held: &Held, path: Option<&str>) -> Result<Whole> {
        let source = held.text.render();
        let old = held.place.path.as_str();
        let new = path.unwrap_or(old);
        if new == old {
            files::write(&self.workspace.at(old), &source)?;
        } else {
            if !files::create(&self.workspace.at(new), &source)? {
                return Err(refuse!("RECORD_ID_TAKEN", "there is a file `{new}` already").with(json!({ "path": new })));
            }
            std::fs::remove_file(self.workspace.at(old))
                .map_err(|error| BoardError::io("removed", &self.workspace.at(old), error))?;
            self.touched(old);
        }
        self.touched(new);
        self.parse(new, &source)
    }

    /// Reads what was just written to `path`.
    pub(crate) fn parse(&self, path: &str, source: &str) -> Result<Whole> {
        let place = place_of(path, self.config()).unwrap_or_else(|| Place::new(Kind::Doc, path, path));
        let stamp = std::fs::symlink_metadata(self.workspace.at(path)).map(|meta| Stamp::of(&meta)).unwrap_or_default();
        place
            .read(source, stamp)
            .map_err(|bad| refuse!("INTERNAL_ERROR", "`{path}` was written and cannot be read: {}", bad.reason))
    }
}

fn refuse_not_found(family: &Family, id: &str) -> BoardError {
    BoardError::new(family.not_found, format!("there is no `{id}`"))
}

/// A revision that is not the expected one.
pub(crate) fn conflict(code: &'static str, record: &Record, expected: &str, current: Option<Fields>) -> BoardError {
    let mut details = json!({ "id": record.id, "expectedRevision": expected, "actualRevision": record.revision });
    if let (Some(current), Value::Object(map)) = (current, &mut details) {
        map.insert("current".into(), Value::Object(current));
    }
    BoardError::new(code, format!("`{}` has changed since it was read; read it again", record.id)).with(details)
}

/// Tells whether a text is blank or missing.
pub(crate) fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// A field given as text where a list belongs is split at commas.
pub(crate) fn as_list(value: &Value) -> Value {
    match value {
        Value::String(text) => text.split(',').map(one_line).filter(|item| !item.is_empty()).collect(),
        Value::Array(items) => {
            let mut seen: Vec<Value> = Vec::new();
            for item in items {
                let item = match item {
                    Value::String(text) => json!(one_line(text)),
                    Value::Number(number) => json!(number.to_string()),
                    other => other.clone(),
                };
                if !crate::front_matter::is_empty(&item) && !seen.contains(&item) {
                    seen.push(item);
                }
            }
            Value::Array(seen)
        }
        other => other.clone(),
    }
}

/// A text in one line: what breaks lines or steers a terminal is a space. What holds nothing of it stays as it is.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.trim();
    let breaks = |one: char| one.is_control() || matches!(one, '\u{2028}' | '\u{2029}');
    if !text.contains(breaks) {
        return text.to_owned();
    }
    text.split(|one: char| breaks(one) || one == ' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A field that is one text: trimmed, and in one line.
pub(crate) fn as_text(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(one_line(text)),
        Value::Number(number) => json!(number.to_string()),
        Value::Bool(yes) => json!(yes.to_string()),
        other => other.clone(),
    }
}
