//! Managed documents.

use serde_json::{Map, Value, json};

use crate::allocate::Ids;
use crate::board::{Board, Family, Fields, Held, conflict, given};
use crate::cards::heading;
use crate::error::{BoardError, Result, refuse};
use crate::form::{Form, New};
use crate::markdown::append;
use crate::record::{Kind, Whole};
use crate::{files, moment, paths};

const FAMILY: Family = Family {
    module: "docs",
    not_found: "DOC_NOT_FOUND",
    ambiguous: "DOC_ID_AMBIGUOUS",
    conflict: "DOC_WRITE_CONFLICT",
};

/// The longest title, in characters.
const MAX_TITLE: usize = 120;

const LISTS: [&str; 5] = ["owners", "related", "supersedes", "scope", "tags"];
/// A new document's header.
const NEW: Form = Form {
    order: &["title", "kind", "status", "owners", "related", "supersedes", "scope", "tags", "source", "review_after"],
    lists: &LISTS,
};
/// What is changed of a document.
const PATCH: Form = Form {
    order: &[
        "title",
        "kind",
        "status",
        "owners",
        "related",
        "supersedes",
        "scope",
        "tags",
        "reviewed",
        "review_interval_days",
        "source",
        "review_after",
    ],
    lists: &LISTS,
};

/// A document to create.
#[derive(Debug, Clone, Default)]
pub struct NewDoc<'a> {
    /// Its header's fields.
    pub fields: Fields,
    /// Its folder below the managed ones; the kind's own when not given.
    pub folder: Option<&'a str>,
    /// Its body.
    pub body: &'a str,
}

/// The longest folder, in bytes, so that a file's whole path still fits where systems end them.
const MAX_FOLDER: usize = 1024;

/// What every file system takes as a name, and a walk does not pass over.
fn is_folder_name(part: &str) -> bool {
    part.is_empty() || !part.starts_with('.') && part.len() <= 255 && !part.chars().any(char::is_control)
}

fn folder(text: &str) -> Result<String> {
    paths::inside(text.trim())
        .filter(|clean| clean.len() <= MAX_FOLDER && clean.split('/').all(is_folder_name))
        .ok_or_else(|| {
            refuse!("DOC_FOLDER_INVALID", "`{text}` does not lie inside the documents").with(json!({ "folder": text }))
        })
}

impl Board {
    fn hold_doc(&self, id: &str, expected: Option<&str>) -> Result<Held> {
        self.hold(id, expected, &FAMILY, &|record| record.kind == Kind::Doc && record.managed)
    }

    fn check_doc(&self, fields: &Fields) -> Result<()> {
        let config = &self.config().docs;
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        if let Some(title) = text("title") {
            match title.chars().count() {
                0 => return Err(BoardError::new("DOC_TITLE_REQUIRED", "a document needs a title")),
                length if length > MAX_TITLE => {
                    return Err(refuse!(
                        "DOC_TITLE_TOO_LONG",
                        "a title has at most {MAX_TITLE} characters, and this one {length}"
                    ));
                }
                _ => {}
            }
        }
        for (field, allowed, code) in
            [("kind", &config.kinds, "DOC_KIND_INVALID"), ("status", &config.statuses, "DOC_STATUS_INVALID")]
        {
            if let Some(value) = text(field).filter(|value| !allowed.iter().any(|one| one == value)) {
                return Err(BoardError::new(code, format!("`{value}` is no {field}: {}", allowed.join(", ")))
                    .with(json!({ "field": field, "value": value, "allowed": allowed })));
            }
        }
        for field in ["reviewed", "review_after"] {
            if let Some(value) = text(field).filter(|value| !value.is_empty() && !moment::is_day(value)) {
                return Err(refuse!("DOC_DATE_INVALID", "`{field}` must be a day, as 2026-01-31")
                    .with(json!({ "field": field, "value": value })));
            }
        }
        if let Some(value) = text("review_interval_days").filter(|value| !value.is_empty())
            && !value.parse::<i64>().is_ok_and(|days| days >= 0)
        {
            return Err(refuse!("DOC_REVIEW_INTERVAL_INVALID", "`review_interval_days` must be a whole number from 0"));
        }
        Ok(())
    }

    /// Creates a managed document. A document it supersedes is marked so.
    ///
    /// # Errors
    ///
    /// `DOC_…` for what a field may not be.
    pub fn create_doc(&self, new: NewDoc<'_>) -> Result<Whole> {
        self.workspace().writable()?;
        let config = self.config();
        self.module_enabled(config.docs.enabled, "docs")?;
        let NewDoc { mut fields, folder: wanted, body } = new;
        let default = |key: &str| match key {
            "kind" => Some(config.docs.default_kind.clone()),
            "status" => Some(config.docs.default_status.clone()),
            _ => None,
        };
        let header = NEW.header(&mut fields, &Map::new(), &default);
        if !header.contains_key("title") {
            return Err(BoardError::new("DOC_TITLE_REQUIRED", "a document needs a title"));
        }
        self.check_doc(&header)?;
        let kind = header.get("kind").and_then(Value::as_str).unwrap_or("").to_owned();
        let below = match wanted {
            Some(wanted) => folder(wanted)?,
            None if config.docs.by_kind => folder(&kind)?,
            None => String::new(),
        };
        let place = paths::join(&config.docs.managed_path, &below);
        let place = place.trim_end_matches('/');
        let superseded: Vec<String> = header
            .get("supersedes")
            .and_then(Value::as_array)
            .map(|items| items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            .unwrap_or_default();
        let made = self.create(New {
            ids: Ids {
                prefix: &config.docs.id_prefix,
                folders: &[&config.docs.managed_path],
                tries: 32,
                failed: "DOC_ID_ALLOCATION_FAILED",
            },
            folder: place,
            name: file_name,
            header,
            body,
            taken: "DOC_ID_TAKEN",
            check: |_, _| Ok(()),
        })?;
        if config.docs.statuses.iter().any(|status| status == "superseded") {
            for id in superseded {
                let changes = Map::from_iter([("status".to_owned(), json!("superseded"))]);
                // The new document stands either way; the doctor names one that does not exist.
                let _ = self.patch_doc(&id, &changes, None);
            }
        }
        Ok(made)
    }

    fn finish_doc(&self, mut held: Held) -> Result<Whole> {
        held.text.set("updated", &json!(self.today()))?;
        self.put(&held, None)
    }

    /// Changes fields and body of a managed document.
    ///
    /// # Errors
    ///
    /// `DOC_FIELD_NOT_PATCHABLE`, `DOC_NOT_FOUND`, and those of creation.
    pub fn patch_doc(&self, id: &str, changes: &Fields, expected: Option<&str>) -> Result<Whole> {
        let wanted = PATCH.changes(changes, "DOC_FIELD_NOT_PATCHABLE")?;
        let held = self.hold_doc(id, expected)?;
        self.check_doc(&wanted)?;
        self.change(held, &wanted, changes.get("body"))
    }

    /// Replaces the body of a managed document.
    ///
    /// # Errors
    ///
    /// `DOC_NOT_FOUND`, `DOC_ID_AMBIGUOUS`, `DOC_WRITE_CONFLICT`.
    pub fn write_doc(&self, id: &str, body: &str, expected: Option<&str>) -> Result<Whole> {
        let mut held = self.hold_doc(id, expected)?;
        held.text.set_body(body);
        self.finish_doc(held)
    }

    /// Adds one stamped line to a section of a managed document, `Notes` by default.
    ///
    /// # Errors
    ///
    /// `DOC_NOTE_REQUIRED`, `DOC_NOT_FOUND`, `DOC_ID_AMBIGUOUS`.
    pub fn note_doc(&self, id: &str, text: &str, section: Option<&str>, actor: &str) -> Result<Whole> {
        let text = given(Some(text)).ok_or_else(|| BoardError::new("DOC_NOTE_REQUIRED", "a note needs text"))?;
        let mut held = self.hold_doc(id, None)?;
        let line = self.note_line(actor, text, held.text.newline());
        let body = append(held.text.body(), &heading(section), &line, held.text.newline());
        held.text.set_body(&body);
        self.finish_doc(held)
    }

    /// Moves a managed document to another folder; its id and its text stay.
    ///
    /// # Errors
    ///
    /// `DOC_FOLDER_INVALID`, `DOC_MOVE_TARGET_EXISTS`, `DOC_NOT_FOUND`, `DOC_WRITE_CONFLICT`.
    pub fn move_doc(&self, id: &str, to: &str, expected: Option<&str>) -> Result<Whole> {
        let to = folder(to)?;
        // A conflict here says nothing about the record: its text is not what moves.
        let held = self.hold_doc(id, None)?;
        if let Some(expected) = given(expected).filter(|expected| *expected != held.record.revision) {
            return Err(conflict(FAMILY.conflict, &held.record, expected, None));
        }
        let managed = &self.config().docs.managed_path;
        let old = held.place.path.clone();
        let new = paths::join(paths::join(managed, &to).trim_end_matches('/'), paths::name(&old));
        if new != old {
            if !files::move_new(&self.workspace().at(&old), &self.workspace().at(&new))? {
                return Err(
                    refuse!("DOC_MOVE_TARGET_EXISTS", "there is a file `{new}` already").with(json!({ "path": new }))
                );
            }
            self.touched(&old);
            self.touched(&new);
            files::remove_empty(self.root(), paths::parent(&old), managed);
        }
        self.parse(&new, &held.text.render())
    }
}

/// A document's file name.
pub(crate) fn file_name(id: &str, title: &str) -> String {
    format!("{id}-{}.md", paths::slug(title, 60, "document"))
}
