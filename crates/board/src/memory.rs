//! What is remembered: learnings, decisions, incidents, conventions, context.

use serde_json::{Map, Value, json};

use crate::allocate::Ids;
use crate::board::{Board, Family, Fields};
use crate::error::{BoardError, Result, refuse};
use crate::form::{Form, New};
use crate::front_matter::is_empty;
use crate::record::{Kind, Record, Whole};
use crate::vocabulary::Collection;
use crate::{files, moment, paths};

const FAMILY: Family = Family {
    module: "memory",
    not_found: "MEMORY_NOT_FOUND",
    ambiguous: "MEMORY_ID_AMBIGUOUS",
    conflict: "MEMORY_WRITE_CONFLICT",
};

const FORM: Form = Form {
    order: &[
        "title",
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
        "graduated_to",
        "corrective_actions",
        "scope",
        "owners",
        "tags",
    ],
    lists: &[
        "deciders",
        "related",
        "supersedes",
        "superseded_by",
        "graduated_to",
        "corrective_actions",
        "scope",
        "owners",
        "tags",
    ],
};

/// What a field of a collection may be.
fn check(collection: Collection, fields: &Fields, whole: &Fields) -> Result<()> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if fields.get("title").is_some_and(is_empty) {
        return Err(BoardError::new("MEMORY_TITLE_REQUIRED", "a record needs a title"));
    }
    if let Some(status) = fields.get("status") {
        let status = status.as_str().unwrap_or("");
        if !collection.statuses().contains(&status) {
            return Err(refuse!(
                "MEMORY_STATUS_INVALID",
                "`{status}` is no status of {}: {}",
                collection.name(),
                collection.statuses().join(", ")
            )
            .with(json!({ "field": "status", "value": status, "allowed": collection.statuses() })));
        }
    }
    if let Some(value) = text("confidence").filter(|value| !["low", "medium", "high"].contains(value)) {
        return Err(refuse!("LEARNING_CONFIDENCE_INVALID", "`{value}` is no confidence: low, medium, high"));
    }
    if let Some(value) = text("occurrences").filter(|value| !value.parse::<i64>().is_ok_and(|count| count >= 1)) {
        return Err(refuse!("LEARNING_OCCURRENCES_INVALID", "`{value}` is no count from 1"));
    }
    if let Some(value) = text("severity").filter(|value| !["critical", "high", "medium", "low"].contains(value)) {
        return Err(refuse!("INCIDENT_SEVERITY_INVALID", "`{value}` is no severity: critical, high, medium, low"));
    }
    for field in ["started_at", "resolved_at"] {
        if let Some(value) = text(field).filter(|value| moment::parse(value).is_none()) {
            return Err(refuse!("INCIDENT_TIMESTAMP_INVALID", "`{field}` must be a moment, and `{value}` is none"));
        }
    }
    let moment_of = |key: &str| whole.get(key).and_then(Value::as_str).and_then(moment::parse);
    if let (Some(started), Some(resolved)) = (moment_of("started_at"), moment_of("resolved_at"))
        && (fields.contains_key("started_at") || fields.contains_key("resolved_at"))
        && resolved < started
    {
        return Err(BoardError::new("INCIDENT_TIMESTAMP_RANGE_INVALID", "`resolved_at` lies before `started_at`"));
    }
    for field in ["expires", "review_after"] {
        if let Some(value) = text(field).filter(|value| !moment::is_day(value)) {
            return Err(refuse!("MEMORY_DATE_INVALID", "`{field}` must be a day, as 2026-01-31, and not `{value}`"));
        }
    }
    Ok(())
}

impl Board {
    fn collection(&self, name: &str) -> Result<Collection> {
        let config = &self.config().memory;
        Collection::named(name)
            .filter(|one| config.enabled && config.collections.contains(one))
            .ok_or_else(|| refuse!("MEMORY_COLLECTION_DISABLED", "`{name}` is no collection of this workspace"))
    }

    /// Adds something to a collection.
    ///
    /// # Errors
    ///
    /// `MEMORY_COLLECTION_DISABLED` and what a field may not be.
    pub fn add_memory(&self, collection: &str, mut fields: Fields, body: &str) -> Result<Whole> {
        self.workspace().writable()?;
        let collection = self.collection(collection)?;
        let status = collection.statuses().first().copied();
        let default = |key: &str| status.filter(|_| key == "status").map(str::to_owned);
        let header = FORM.header(&mut fields, &Map::new(), &default);
        if !header.contains_key("title") {
            return Err(BoardError::new("MEMORY_TITLE_REQUIRED", "a record needs a title"));
        }
        check(collection, &header, &header)?;
        let folder = paths::join(&self.config().memory.path, collection.name());
        self.create(New {
            ids: Ids {
                prefix: collection.prefix(),
                folders: &[&folder],
                tries: 64,
                failed: "MEMORY_ID_ALLOCATION_FAILED",
            },
            folder: &folder,
            name: file_name,
            header,
            body,
            taken: "MEMORY_ID_TAKEN",
            check: |_, _| Ok(()),
        })
    }

    /// Changes fields and body.
    ///
    /// # Errors
    ///
    /// `MEMORY_FIELD_NOT_PATCHABLE`, `MEMORY_NOT_FOUND`, and those of adding.
    pub fn patch_memory(&self, id: &str, changes: &Fields, expected: Option<&str>) -> Result<Whole> {
        let wanted = FORM.changes(changes, "MEMORY_FIELD_NOT_PATCHABLE")?;
        let held = self.hold(id, expected, &FAMILY, &|record| record.kind == Kind::Memory)?;
        let mut whole = held.record.fields.to_map();
        whole.extend(wanted.clone());
        if let Some(collection) = held.record.collection {
            check(collection, &wanted, &whole)?;
        }
        self.change(held, &wanted, changes.get("body"))
    }

    /// Marks a learning as having become something else.
    ///
    /// # Errors
    ///
    /// `MEMORY_GRADUATION_INVALID`, `MEMORY_GRADUATION_TARGET_REQUIRED`, `MEMORY_GRADUATION_TARGET_NOT_FOUND`.
    pub fn graduate(&self, id: &str, targets: &[String], expected: Option<&str>) -> Result<Whole> {
        let index = self.index();
        if let Some(record) = index.get(id)
            && record.kind == Kind::Memory
            && record.collection != Some(Collection::Learnings)
        {
            return Err(refuse!("MEMORY_GRADUATION_INVALID", "only a learning graduates, and `{id}` is none"));
        }
        if targets.is_empty() {
            return Err(BoardError::new(
                "MEMORY_GRADUATION_TARGET_REQUIRED",
                "what did it become? Name at least one record",
            ));
        }
        let mut held = self.hold(id, expected, &FAMILY, &|record| record.kind == Kind::Memory)?;
        let missing: Vec<&String> =
            targets.iter().filter(|target| index.get(target).is_none() || **target == id).collect();
        if !missing.is_empty() {
            return Err(refuse!("MEMORY_GRADUATION_TARGET_INVALID", "there is no such record to become")
                .with(json!({ "targets": missing })));
        }
        held.text.set("status", &json!("graduated"))?;
        held.text.set("graduated_to", &json!(targets))?;
        held.text.set("updated", &json!(self.today()))?;
        self.put(&held, None)
    }

    /// Puts one record in the place of another; both are written, or neither.
    ///
    /// # Errors
    ///
    /// `MEMORY_SUPERSESSION_SELF`, `MEMORY_SUPERSESSION_UNSUPPORTED`, `MEMORY_NOT_FOUND`, `MEMORY_WRITE_CONFLICT`.
    pub fn supersede(&self, id: &str, by: &str, expected: Option<&str>) -> Result<(Whole, Whole)> {
        if id == by {
            return Err(BoardError::new("MEMORY_SUPERSESSION_SELF", "a record cannot supersede itself"));
        }
        let index = self.index();
        if let Some(collection) = index.get(id).and_then(|record| record.collection)
            && !collection.statuses().contains(&"superseded")
        {
            return Err(refuse!("MEMORY_SUPERSESSION_UNSUPPORTED", "{} are not superseded", collection.name()));
        }
        // Both exist before either is locked, and the locks are taken in one order whoever asks.
        let is_memory = |record: &Record| record.kind == Kind::Memory;
        let (mut old, mut new) = if paths::compare_ids(id, by).is_lt() {
            let old = self.hold(id, expected, &FAMILY, &is_memory)?;
            (old, self.hold(by, None, &FAMILY, &is_memory)?)
        } else {
            let new = self.hold(by, None, &FAMILY, &is_memory)?;
            (self.hold(id, expected, &FAMILY, &is_memory)?, new)
        };
        let before = old.text.render();
        old.text.set("status", &json!("superseded"))?;
        old.text.set("superseded_by", &json!([by]))?;
        old.text.set("updated", &json!(self.today()))?;
        let mut supersedes = new.record.list("supersedes").into_iter().map(str::to_owned).collect::<Vec<_>>();
        if !supersedes.iter().any(|one| one == id) {
            supersedes.push(id.to_owned());
        }
        new.text.set("supersedes", &json!(supersedes))?;
        new.text.set("updated", &json!(self.today()))?;
        let record = self.put(&old, None)?;
        match self.put(&new, None) {
            Ok(replacement) => Ok((record, replacement)),
            Err(error) => {
                let _ = files::write(&self.workspace().at(&old.place.path), &before);
                self.touched(&old.place.path);
                Err(error)
            }
        }
    }
}

/// A record's file name.
pub(crate) fn file_name(id: &str, title: &str) -> String {
    format!("{id}-{}.md", paths::slug(title, 70, "memory"))
}
