//! Cards: what may be written, by whom, and through which gates.

mod criteria;
mod gates;
mod moves;
mod patch;
mod refusals;
mod rules;
mod verify;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::allocate::Ids;
use crate::board::{Board, Family, Fields, Held, given};
use crate::error::{BoardError, Result, refuse};
use crate::files::Stamp;
use crate::form::{Form, New};
use crate::front_matter::{Text, is_empty};
use crate::markdown::{ACTIVITY, append, replace_body};
use crate::record::{Kind, Place, Whole};
use crate::{activity, moment, paths};

use gates::Moving;
pub use gates::{Forced, Proof};
pub use moves::Claim;
pub use refusals::Refusal;
pub use verify::VerifyRun;

pub(crate) use rules::enum_invalid;
pub(crate) use verify::{
    Entry as VerifyEntry, allowed as verify_allowed, digest as verified_digest, read as read_verify,
};

pub(crate) const FAMILY: Family = Family {
    module: "cards",
    not_found: "CARD_NOT_FOUND",
    ambiguous: "CARD_ID_AMBIGUOUS",
    conflict: "CARD_WRITE_CONFLICT",
};

/// Fields that are lists.
pub(crate) const LISTS: [&str; 5] = ["tags", "depends", "scope", "related", "origin"];

/// A new card's header.
const FORM: Form = Form {
    order: &[
        "title",
        "status",
        "type",
        "priority",
        "area",
        "",
        "parent",
        "depends",
        "milestone",
        "source",
        "tags",
        "effort",
        "scope",
        "related",
        "origin",
        "raised",
        "start",
        "due",
    ],
    lists: &LISTS,
};

impl Board {
    /// Opens a card for writing.
    pub(crate) fn hold_card(&self, id: &str, expected: Option<&str>) -> Result<Held> {
        self.hold(id, expected, &FAMILY, &|record| record.kind == Kind::Card)
    }

    /// Creates a card from its fields and `axes`.
    ///
    /// # Errors
    ///
    /// `CARD_…` for what a field may not be; nothing is written then and no id is used.
    pub fn create_card(&self, mut fields: Fields, body: &str) -> Result<Whole> {
        self.workspace().writable()?;
        let config = self.config();
        self.module_enabled(config.cards.enabled, "cards")?;
        let axes = rules::axes(config, fields.remove("axes").as_ref())?;
        let default = |key: &str| match key {
            "status" => Some("backlog".to_owned()),
            "type" => Some("task".to_owned()),
            "priority" => Some("medium".to_owned()),
            "area" => config.cards.areas.first().cloned(),
            _ => None,
        };
        let mut card = FORM.header(&mut fields, &axes, &default);
        rules::check_title(card.get("title").and_then(Value::as_str).unwrap_or(""))?;
        // Only what refers to other cards needs to know them.
        let refers = ["parent", "depends", "related", "origin"].iter().any(|key| card.contains_key(*key));
        let index = if refers { self.index() } else { Arc::default() };
        rules::check(config, &index, None, &card, None)?;
        drop(index);
        if let Some(verify) = fields.remove("verify").filter(|value| !is_empty(value)) {
            let entries = verify::read(&verify)?;
            verify::allowed(config, &entries)?;
            verify::bound(&entries, body)?;
            card.insert("verify".into(), verify);
        }
        if card.get("status").and_then(Value::as_str) == Some("done") {
            let verified = self.close_new(&card, body)?;
            card.insert("verified".into(), verified);
        }
        self.create(New {
            ids: Ids {
                prefix: &config.cards.id_prefix,
                folders: &[&config.cards.path, &config.cards.archive_path],
                tries: 32,
                failed: "CARD_ID_ALLOCATION_FAILED",
            },
            folder: &config.cards.path,
            name: file_name,
            header: card,
            body,
            taken: "CARD_ID_TAKEN",
            check: rules::check_self,
        })
    }

    /// Takes a card that is created as `done` through the gates of every other way there. Returns how it was proved.
    fn close_new(&self, card: &Fields, body: &str) -> Result<Value> {
        let mut header = Fields::from_iter([("id".to_owned(), json!("the new card"))]);
        header.extend(card.clone());
        header.insert("status".into(), json!("backlog"));
        let source = Text::new(&header, body)?.render();
        let record = Place::new(Kind::Card, "", "")
            .read(&source, Stamp::default())
            .map_err(|bad| refuse!("INTERNAL_ERROR", "the new card cannot be read: {}", bad.reason))?;
        let moving = Moving {
            record: &record,
            to: "done",
            area: record.text("area"),
            actor: "",
            owned: false,
            owner_first: false,
            moves: true,
        };
        let passed = self.pass(&moving, &Proof::default(), &Forced::default()).map_err(|mut error| {
            // It has no id yet.
            if let Some(Value::Object(details)) = &mut error.details {
                details.remove("id");
            }
            error
        })?;
        Ok(passed.verified.unwrap_or_default())
    }

    /// Replaces a card's body; what the protocol's sections hold stays. Returns the card and the headings whose sent
    /// text was not taken.
    ///
    /// # Errors
    ///
    /// `CARD_NOT_FOUND`, `CARD_ID_AMBIGUOUS`, `CARD_WRITE_CONFLICT`.
    pub fn write_card(&self, id: &str, body: &str, expected: Option<&str>) -> Result<(Whole, Vec<String>)> {
        let mut held = self.hold_card(id, expected)?;
        let (body, ignored) = replace_body(held.text.body(), body, held.text.newline());
        held.text.set_body(&body);
        self.finish_card(held, None).map(|record| (record, ignored))
    }

    /// Adds one stamped line to a section of a card, `Notes` by default.
    ///
    /// # Errors
    ///
    /// `CARD_NOTE_REQUIRED`, `CARD_NOT_FOUND`, `CARD_ID_AMBIGUOUS`.
    pub fn note_card(&self, id: &str, text: &str, section: Option<&str>, actor: &str) -> Result<Whole> {
        if text.trim().is_empty() {
            return Err(BoardError::new("CARD_NOTE_REQUIRED", "a note needs text"));
        }
        let mut held = self.hold_card(id, None)?;
        let line = self.note_line(actor, text, held.text.newline());
        let heading = heading(section);
        let body = append(held.text.body(), &heading, &line, held.text.newline());
        held.text.set_body(&body);
        self.finish_card(held, None)
    }

    /// `- <stamp> <actor> — <text>`; further lines are indented, so that they stay in the item.
    pub(crate) fn note_line(&self, actor: &str, text: &str, newline: &str) -> String {
        let text: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
        format!("- {} {actor} — {}", moment::stamp(self.workspace().now()), text.join(&format!("{newline}  ")))
    }

    /// Adds a line to the trail, unless the project keeps none.
    fn trail(&self, held: &mut Held, actor: &str, event: &str) {
        if self.config().cards.activity_trail {
            let actor = if actor.is_empty() { "unknown" } else { actor };
            let line = format!("- {} {actor} · {event}", moment::stamp(self.workspace().now()));
            let body = append(held.text.body(), ACTIVITY, &line, held.text.newline());
            held.text.set_body(&body);
        }
    }

    /// Writes a card back, with today's date; to another folder when it moves.
    fn finish_card(&self, mut held: Held, folder: Option<&str>) -> Result<Whole> {
        held.text.set("updated", &json!(self.today()))?;
        let path = folder.map(|folder| paths::join(folder, paths::name(&held.place.path)));
        let record = self.put(&held, path.as_deref())?;
        let shown = ["status", "title", "claimed_by", "claimed_at", "scope"];
        if shown.iter().any(|key| held.record.fields.get(key) != record.fields.get(key)) {
            activity::update(self.workspace(), &record);
        }
        Ok(record)
    }

    /// Refuses to write into a module that is switched off.
    pub(crate) fn module_enabled(&self, enabled: bool, module: &str) -> Result<()> {
        if enabled {
            return Ok(());
        }
        Err(refuse!("MODULE_DISABLED", "`{module}` is switched off in this workspace")
            .with(json!({ "module": module })))
    }
}

/// The heading of a section, `## Notes` by default.
pub(crate) fn heading(section: Option<&str>) -> String {
    let name = given(section).unwrap_or("Notes");
    let name = name.trim_start_matches('#').split_whitespace().collect::<Vec<_>>().join(" ");
    format!("## {}", if name.is_empty() { "Notes" } else { &name })
}

/// A card's file name.
pub(crate) fn file_name(id: &str, title: &str) -> String {
    format!("{id}-{}.md", paths::slug(title, 50, "card"))
}
