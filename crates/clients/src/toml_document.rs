//! One server in a TOML file.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table, TableLike};

use crate::document::Fault;

/// Returns a whole text with one server in it.
pub(crate) fn render(way: &[&str], key: &str, entry: &Map<String, Value>) -> String {
    // An empty document has no shape that `set` could refuse.
    set("", way, key, entry).unwrap_or_default()
}

/// Returns the value of a text.
pub(crate) fn parse(text: &str) -> Result<Value, Fault> {
    Ok(table_value(read(text)?.as_table()))
}

/// Sets the properties of `entry` in the server `key`, making what is missing on the way.
pub(crate) fn set(text: &str, way: &[&str], key: &str, entry: &Map<String, Value>) -> Result<String, Fault> {
    let mut document = read(text)?;
    let mut place: &mut dyn TableLike = document.as_table_mut();
    let mut inline = false;
    for name in way {
        if !place.contains_key(name) {
            // No header of its own: `[a.b]` says enough.
            let mut table = Table::new();
            table.set_implicit(true);
            place.insert(name, if inline { Item::Value(table.into_inline_table().into()) } else { Item::Table(table) });
        }
        let line = line_of(text, place, name);
        let Some(item) = place.get_mut(name) else { return Err(Fault::new(line, "a table could not be added")) };
        inline = inline || item.is_inline_table();
        let kind = item.type_name();
        place = item
            .as_table_like_mut()
            .ok_or_else(|| Fault::new(line, format!("`{name}` should be a table and is {}", article(kind))))?;
    }
    let fresh = || {
        let mut table = Table::new();
        for (name, value) in entry {
            table.insert(name, Item::Value(toml_value(value)));
        }
        table
    };
    match place.get_mut(key) {
        Some(item) if item.is_table_like() => {
            if let Some(server) = item.as_table_like_mut() {
                for (name, value) in entry {
                    if server.get(name).map(item_value).as_ref() == Some(value) {
                        continue;
                    }
                    let mut new = toml_value(value);
                    // The comment behind the old value stays with the new one.
                    if let Some(old) = server.get(name).and_then(Item::as_value) {
                        *new.decor_mut() = old.decor().clone();
                    }
                    match server.get_mut(name) {
                        Some(known) => *known = Item::Value(new),
                        None => {
                            server.insert(name, Item::Value(new));
                        }
                    }
                }
            }
        }
        other => {
            let item = if inline { Item::Value(fresh().into_inline_table().into()) } else { Item::Table(fresh()) };
            match other {
                Some(known) => *known = item,
                None => {
                    place.insert(key, item);
                }
            }
        }
    }
    Ok(document.to_string())
}

/// Removes the server `key`, which must be there.
pub(crate) fn remove(text: &str, way: &[&str], key: &str) -> Result<String, Fault> {
    let mut document = read(text)?;
    let missing = || Fault::new(1, format!("there is no server `{key}`"));
    let mut place: &mut dyn TableLike = document.as_table_mut();
    for name in way {
        place = place.get_mut(name).and_then(Item::as_table_like_mut).ok_or_else(missing)?;
    }
    place.remove(key).ok_or_else(missing)?;
    Ok(document.to_string())
}

fn read(text: &str) -> Result<DocumentMut, Fault> {
    text.parse::<DocumentMut>().map_err(|error| {
        Fault::at(
            text,
            error.span().map_or(0, |span| span.start),
            error.message().lines().collect::<Vec<_>>().join(", "),
        )
    })
}

/// Returns the line of a key, as far as the document knows it.
fn line_of(text: &str, table: &dyn TableLike, name: &str) -> usize {
    let span = table.get(name).and_then(Item::span).or_else(|| table.key(name).and_then(toml_edit::Key::span));
    span.map_or_else(
        // A document that may be edited has no spans: the first line that begins with the name is the best guess.
        || text.lines().position(|line| line.trim_start().starts_with(name)).map_or(1, |index| index + 1),
        |span| Fault::at(text, span.start, "").line,
    )
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        // TOML has no null; nothing of ours is one.
        Value::Null => toml_edit::Value::from(""),
        Value::Bool(flag) => toml_edit::Value::from(*flag),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| toml_edit::Value::from(number.as_f64().unwrap_or_default()), toml_edit::Value::from),
        Value::String(text) => text_value(text),
        Value::Array(list) => list.iter().map(toml_value).collect::<toml_edit::Array>().into(),
        Value::Object(map) => {
            let mut table = toml_edit::InlineTable::new();
            for (name, value) in map {
                table.insert(name, toml_value(value));
            }
            table.into()
        }
    }
}

/// Writes a text with awkward quotes as a basic string: JSON's escapes are TOML's as well. Left to itself the library would
/// take a multi-line string, which is right and hard to read.
fn text_value(text: &str) -> toml_edit::Value {
    if (text.contains('"') || (text.contains('\'') && text.contains('\\')))
        && let Ok(value) = Value::from(text).to_string().parse::<toml_edit::Value>()
    {
        return value;
    }
    toml_edit::Value::from(text)
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(list) => Value::Array(list.iter().map(|table| table_value(table)).collect()),
    }
}

fn table_value(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(name, item)| (name.to_owned(), item_value(item))).collect())
}

fn json_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Value::from(*number.value()),
        toml_edit::Value::Float(number) => {
            let number = *number.value();
            // JSON has no infinity and no NaN; their text is as good for comparing.
            serde_json::Number::from_f64(number).map_or_else(|| Value::from(number.to_string()), Value::Number)
        }
        toml_edit::Value::Boolean(flag) => Value::from(*flag.value()),
        toml_edit::Value::Datetime(moment) => Value::from(moment.value().to_string()),
        toml_edit::Value::Array(list) => Value::Array(list.iter().map(json_value).collect()),
        toml_edit::Value::InlineTable(table) => table_value(table),
    }
}
