//! A form with its secrets masked, and the way back from an answer to it.
//!
//! People and clients see and answer the masked form. What they choose there stands, by its place, for what the workflow
//! had asked with: the mask itself is never handed to it.

use std::collections::HashSet;

use model::{Form, Param};
use serde_json::{Map, Value, json};

use crate::{MASK, Masker};

/// Tells whether a value holds a mask: something in it was secret.
#[must_use]
pub fn holds_mask(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MASK),
        Value::Array(items) => items.iter().any(holds_mask),
        Value::Object(members) => members.iter().any(|(key, member)| key.contains(MASK) || holds_mask(member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Masks a form. Names and options that would be the same once masked are numbered, so that each still is one.
pub(crate) fn masked(masker: &Masker, form: &Form) -> Form {
    if masker.is_empty() {
        return form.clone();
    }
    let text = |text: &String| masker.mask(text).into_owned();
    let mut names = HashSet::new();
    let fields = form
        .fields
        .iter()
        .map(|field| Param { name: apart(text(&field.name), &field.name, &mut names), ..masked_field(masker, field) })
        .collect();
    // A command as data: of its texts alone.
    let approval = form.approval.as_ref().map(|approval| model::Approval {
        program: text(&approval.program),
        args: approval.args.iter().map(text).collect(),
        folder: text(&approval.folder),
        env: approval.env.iter().map(text).collect(),
        ..approval.clone()
    });
    Form { title: text(&form.title), message: form.message.as_ref().map(text), fields, approval }
}

fn masked_field(masker: &Masker, field: &Param) -> Param {
    let text = |text: &String| masker.mask(text).into_owned();
    let mut values = HashSet::new();
    let mut shown = field.clone();
    shown.title = field.title.as_ref().map(text);
    shown.description = field.description.as_ref().map(text);
    shown.pattern = field.pattern.as_ref().map(text);
    shown.format = field.format.as_ref().map(text);
    for option in &mut shown.options {
        option.title = option.title.as_ref().map(text);
        option.description = option.description.as_ref().map(text);
        let value = match masker.mask_json(&option.value) {
            Value::String(masked) => {
                let before = option.value.as_str().unwrap_or_default();
                Value::String(apart(masked, before, &mut values))
            }
            other => other,
        };
        option.value = value;
    }
    if shown.options != field.options || shown.pattern != field.pattern {
        // They hold for the values as they are, and a masked one need not fit.
        shown.pattern = None;
        shown.min_length = None;
        shown.max_length = None;
    }
    shown.default = field.default.as_ref().map(|default| match default {
        // A default that is an option is the option as it is shown.
        Value::Array(items) => items.iter().map(|item| shown_default(masker, item, field, &shown)).collect(),
        one => shown_default(masker, one, field, &shown),
    });
    shown
}

fn shown_default(masker: &Masker, value: &Value, field: &Param, shown: &Param) -> Value {
    let place = field.options.iter().position(|option| option.value == *value);
    match place.and_then(|place| shown.options.get(place)) {
        Some(option) => option.value.clone(),
        None => masker.mask_json(value),
    }
}

/// Numbers a masked text that is taken already.
fn apart(masked: String, before: &str, taken: &mut HashSet<String>) -> String {
    let mut text = masked.clone();
    let mut number = 1;
    while masked != before && taken.contains(&text) {
        number += 1;
        text = format!("{masked} {number}");
    }
    taken.insert(text.clone());
    text
}

/// Returns an answer to a form as it was shown as one to the form as it is. It may have been shown in several ways: with
/// what was known to be secret then, and now.
pub(crate) fn restored(content: &Value, form: &Form, shown: &[&Form]) -> Value {
    let Some(given) = content.as_object() else { return content.clone() };
    let mut rest = given.clone();
    let mut values = Map::new();
    for (place, field) in form.fields.iter().enumerate() {
        let ways: Vec<&Param> = shown.iter().filter_map(|form| form.fields.get(place)).collect();
        let mut names = ways.iter().map(|way| way.name.as_str()).chain([field.name.as_str()]);
        let Some(value) = names.find_map(|name| rest.remove(name)) else { continue };
        let value = ways.iter().find_map(|way| restored_value(&value, field, way)).unwrap_or(value);
        values.insert(field.name.clone(), value);
    }
    values.extend(rest);
    Value::Object(values)
}

/// What a value stands for; `None` when it stands for itself.
fn restored_value(value: &Value, field: &Param, shown: &Param) -> Option<Value> {
    if !holds_mask(value) {
        return None;
    }
    if field.default.is_some() && shown.default.as_ref() == Some(value) {
        return field.default.clone();
    }
    let option = |value: &Value| {
        let place = shown.options.iter().position(|option| option.value == *value)?;
        field.options.get(place).map(|option| option.value.clone())
    };
    match value {
        Value::Array(items) => {
            let found: Vec<Option<Value>> = items.iter().map(option).collect();
            let is_any = found.iter().any(Option::is_some);
            is_any
                .then(|| found.into_iter().zip(items).map(|(one, item)| one.unwrap_or_else(|| item.clone())).collect())
        }
        one => option(one),
    }
}

/// Returns an answer without what was filled in from a masked default, where nobody knows what that stood for. `None`:
/// it cannot do without, or it chose a masked option.
pub(crate) fn without_masked(content: &Value, shown: &Form) -> Option<Value> {
    let Some(given) = content.as_object() else { return Some(content.clone()) };
    let mut kept = given.clone();
    for field in &shown.fields {
        let Some(value) = given.get(&field.name).filter(|value| holds_mask(value)) else { continue };
        let one = [value.clone()];
        let chosen = value.as_array().map_or(one.as_slice(), Vec::as_slice);
        let is_masked = |value: &Value| holds_mask(value) && shown_has(field, value);
        if chosen.iter().any(is_masked) {
            return None;
        }
        if field.default.as_ref() == Some(value) {
            if field.required {
                return None;
            }
            kept.remove(&field.name);
        }
    }
    Some(json!(kept))
}

fn shown_has(field: &Param, value: &Value) -> bool {
    field.options.iter().any(|option| option.value == *value)
}
