//! What a card's fields may be.

use serde_json::{Map, Value, json};

use crate::board::Fields;
use crate::config::Config;
use crate::error::{BoardError, Result, refuse};
use crate::front_matter::is_empty;
use crate::index::Index;
use crate::moment;
use crate::record::{Kind, Record};
use crate::vocabulary::{EFFORTS, PRIORITIES, RAISED, STATUSES, TYPES};

/// The longest title, in characters.
pub(crate) const MAX_TITLE: usize = 80;

pub(crate) fn check_title(title: &str) -> Result<()> {
    match title.trim().chars().count() {
        0 => Err(BoardError::new("CARD_TITLE_REQUIRED", "a card needs a title")),
        length if length > MAX_TITLE => {
            Err(refuse!("CARD_TITLE_TOO_LONG", "a title has at most {MAX_TITLE} characters, and this one {length}"))
        }
        _ => Ok(()),
    }
}

/// A value that is not in its vocabulary.
pub(crate) fn enum_invalid(field: &str, value: &str, allowed: &[impl AsRef<str>]) -> BoardError {
    let allowed: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
    refuse!("CARD_ENUM_INVALID", "`{value}` is no {field}: {}", allowed.join(", "))
        .with(json!({ "field": field, "value": value, "allowed": allowed }))
}

pub(crate) fn check_status(status: &str) -> Result<()> {
    if STATUSES.contains(&status) { Ok(()) } else { Err(enum_invalid("status", status, &STATUSES)) }
}

/// Reads `axes`: an object of declared axes.
pub(crate) fn axes(config: &Config, value: Option<&Value>) -> Result<Map<String, Value>> {
    let map = match value {
        None | Some(Value::Null) => return Ok(Map::new()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(BoardError::new("CARD_AXES_INVALID", "`axes` must be an object")),
    };
    let declared: Vec<&str> = config.cards.axes.iter().map(|(name, _)| name.as_str()).collect();
    let unknown: Vec<&String> = map.keys().filter(|name| !declared.contains(&name.as_str())).collect();
    if !unknown.is_empty() {
        return Err(refuse!("CARD_AXIS_UNKNOWN", "this project declares no such axis")
            .with(json!({ "axes": unknown, "declared": declared })));
    }
    Ok(map.iter().map(|(name, value)| (name.clone(), crate::board::as_text(value))).collect())
}

/// Checks a card's fields: all of them, or only those that `touched` names.
pub(crate) fn check(
    config: &Config,
    index: &Index,
    id: Option<&str>,
    card: &Fields,
    touched: Option<&Fields>,
) -> Result<()> {
    let looks = |key: &str| touched.is_none_or(|touched| touched.contains_key(key));
    let text = |key: &str| card.get(key).and_then(Value::as_str).unwrap_or("");
    for (field, allowed) in [("status", &STATUSES[..]), ("type", &TYPES), ("priority", &PRIORITIES)] {
        if looks(field) {
            if text(field).is_empty() {
                return Err(required(field));
            }
            if !allowed.contains(&text(field)) {
                return Err(enum_invalid(field, text(field), allowed));
            }
        }
    }
    if looks("area") {
        if text("area").is_empty() {
            return Err(required("area"));
        }
        if !config.cards.areas.iter().any(|area| area == text("area")) {
            return Err(enum_invalid("area", text("area"), &config.cards.areas));
        }
    }
    if looks("effort") && card.contains_key("effort") && !EFFORTS.contains(&text("effort")) {
        return Err(enum_invalid("effort", text("effort"), &EFFORTS));
    }
    for (axis, values) in &config.cards.axes {
        if looks(axis) && card.contains_key(axis) && !values.iter().any(|value| value == text(axis)) {
            return Err(refuse!("CARD_AXIS_VALUE_INVALID", "`{}` is no {axis}: {}", text(axis), values.join(", "))
                .with(json!({ "field": axis, "value": card.get(axis), "allowed": values })));
        }
    }
    if looks("raised") && card.contains_key("raised") && !RAISED.contains(&text("raised")) {
        return Err(refuse!("CARD_RAISED_INVALID", "`raised` is one of {}", RAISED.join(", ")));
    }
    for field in ["start", "due"] {
        if looks(field) && card.contains_key(field) && !moment::is_day(text(field)) {
            return Err(refuse!("CARD_DATE_INVALID", "`{field}` must be a day, as 2026-01-31")
                .with(json!({ "field": field, "value": card.get(field) })));
        }
    }
    if (looks("start") || looks("due"))
        && !text("start").is_empty()
        && !text("due").is_empty()
        && text("start") > text("due")
    {
        return Err(BoardError::new("CARD_DATE_RANGE_INVALID", "`due` lies before `start`"));
    }
    if let Some(id) = id {
        check_self(id, card)?;
    }
    if looks("parent") && !text("parent").is_empty() {
        check_parent(config, index, id, text("parent"))?;
    }
    if looks("depends") {
        for target in list(card, "depends") {
            if !is_card(index, target) {
                return Err(refuse!("CARD_DEPENDENCY_NOT_FOUND", "there is no card `{target}` to depend on")
                    .with(json!({ "id": target })));
            }
        }
    }
    if looks("status") || looks("claimed_by") || looks("claimed_at") {
        check_claim(card)?;
    }
    Ok(())
}

fn required(field: &str) -> BoardError {
    refuse!("CARD_REQUIRED_FIELD", "a card needs `{field}`").with(json!({ "field": field }))
}

fn list<'a>(card: &'a Fields, key: &str) -> Vec<&'a str> {
    card.get(key)
        .and_then(Value::as_array)
        .map(|items| items.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

fn is_card(index: &Index, id: &str) -> bool {
    index.get(id).is_some_and(|record| record.kind == Kind::Card)
}

/// A card that refers to itself.
pub(crate) fn check_self(id: &str, card: &Fields) -> Result<()> {
    if card.get("parent").and_then(Value::as_str) == Some(id) {
        return Err(BoardError::new("CARD_SELF_PARENT", "a card cannot be its own parent"));
    }
    if list(card, "depends").contains(&id) {
        return Err(BoardError::new("CARD_SELF_DEPENDENCY", "a card cannot depend on itself"));
    }
    if list(card, "origin").contains(&id) {
        return Err(BoardError::new("CARD_SELF_ORIGIN", "a card cannot come from itself"));
    }
    Ok(())
}

fn check_parent(config: &Config, index: &Index, id: Option<&str>, parent: &str) -> Result<()> {
    if !is_card(index, parent) {
        return Err(refuse!("CARD_PARENT_NOT_FOUND", "there is no card `{parent}` to be the parent"));
    }
    let ancestors = ancestors(index, parent);
    if let Some(id) = id
        && (parent == id || ancestors.iter().any(|one| one == id))
    {
        return Err(refuse!("CARD_PARENT_CYCLE", "`{parent}` lies below `{id}` already"));
    }
    let below = id.map_or(0, |id| height(index, id, 0));
    if 1 + ancestors.len() + below > config.cards.max_depth {
        return Err(refuse!("CARD_HIERARCHY_TOO_DEEP", "a card has at most {} cards above it", config.cards.max_depth));
    }
    Ok(())
}

/// The cards above a card, the nearest first; ends where it would go in a circle.
pub(crate) fn ancestors(index: &Index, id: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = id;
    while let Some(record) = index.get(at) {
        let parent = record.text("parent");
        if parent.is_empty() || parent == id || found.iter().any(|one| one == parent) {
            break;
        }
        found.push(parent.to_owned());
        at = parent;
    }
    found
}

fn height(index: &Index, id: &str, depth: usize) -> usize {
    if depth > 16 {
        return 0;
    }
    let children = index.of(Kind::Card).filter(|card| card.text("parent") == id && card.id != id);
    children.map(|child| 1 + height(index, &child.id, depth + 1)).max().unwrap_or(0)
}

/// `doing` and a claim belong together.
pub(crate) fn check_claim(card: &Fields) -> Result<()> {
    let text = |key: &str| card.get(key).and_then(Value::as_str).unwrap_or("");
    let (by, at) = (text("claimed_by"), text("claimed_at"));
    if by.is_empty() != at.is_empty() {
        return Err(BoardError::new("CARD_CLAIM_PARTIAL", "a claim is `claimed_by` and `claimed_at` together"));
    }
    if !at.is_empty() && moment::parse(at).is_none() {
        return Err(refuse!("CARD_CLAIM_TIMESTAMP_INVALID", "`claimed_at` must be a moment, as 2026-01-31T12:00:00Z")
            .with(json!({ "value": at })));
    }
    if by.is_empty() && text("status") == "doing" {
        return Err(BoardError::new(
            "CARD_CLAIM_REQUIRED",
            "a card in `doing` is claimed by somebody; claim it instead",
        ));
    }
    if !by.is_empty() && text("status") != "doing" {
        return Err(BoardError::new("CARD_CLAIM_STATUS_INVALID", "only a card in `doing` is claimed"));
    }
    Ok(())
}

/// The declared commands still allow what the card holds.
pub(crate) fn check_verify(config: &Config, record: &Record) -> Result<()> {
    match record.fields.get("verify") {
        Some(value) if !is_empty(&value) => super::verify::allowed(config, &super::verify::read(&value)?),
        _ => Ok(()),
    }
}
