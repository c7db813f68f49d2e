//! One server in a JSON file with comments and trailing commas.

use jsonc_parser::ParseOptions;
use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use crate::document::Fault;

/// What clients that allow more than JSON allow: comments and trailing commas. Anything looser is a mistake that the
/// client itself would refuse.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Returns the value of a text; a text without a value is an empty object.
pub(crate) fn parse(text: &str) -> Result<Value, Fault> {
    let value = jsonc_parser::parse_to_serde_value::<Option<Value>>(text, &options())
        .map_err(|error| Fault::new(error.line_display(), error.kind().to_string()))?;
    match value {
        None => Ok(Value::Object(Map::new())),
        Some(object @ Value::Object(_)) => Ok(object),
        Some(other) => Err(Fault::new(line_of(text, &[]), format!("an object is expected, not {}", kind(&other)))),
    }
}

/// Sets the properties of `entry` in the server `key`, making what is missing on the way.
pub(crate) fn set(text: &str, way: &[&str], key: &str, entry: &Map<String, Value>) -> Result<String, Fault> {
    let root = tree(text)?;
    let mut place = match root.value() {
        None => root.object_value_or_set(),
        Some(_) => root.object_value().ok_or_else(|| Fault::new(line_of(text, &[]), "an object is expected"))?,
    };
    for (depth, name) in way.iter().enumerate() {
        place = match single(&place, name, text, &way[..depth])? {
            None => append_object(&place, name).ok_or_else(|| lost(text, way, depth))?,
            Some(property) => property.object_value().ok_or_else(|| not_an_object(text, &way[..=depth], &property))?,
        };
    }
    match single(&place, key, text, way)? {
        None => {
            place.append(key, input(&Value::Object(entry.clone())));
        }
        Some(property) => match property.object_value() {
            Some(server) => {
                for (name, value) in entry {
                    let mut inner: Vec<&str> = way.to_vec();
                    inner.push(key);
                    match single(&server, name, text, &inner)? {
                        Some(known) if known.value().and_then(|node| serde_value(&node)).as_ref() == Some(value) => {}
                        Some(known) => known.set_value(input(value)),
                        None => {
                            server.append(name, input(value));
                        }
                    }
                }
            }
            None => property.set_value(input(&Value::Object(entry.clone()))),
        },
    }
    Ok(end_with_newline(text, root.to_string()))
}

/// Removes the server `key`, which must be there.
pub(crate) fn remove(text: &str, way: &[&str], key: &str) -> Result<String, Fault> {
    let root = tree(text)?;
    let missing = || Fault::new(line_of(text, way), format!("there is no server `{key}`"));
    let mut place = root.object_value().ok_or_else(missing)?;
    for (depth, name) in way.iter().enumerate() {
        place = single(&place, name, text, &way[..depth])?
            .and_then(|property| property.object_value())
            .ok_or_else(missing)?;
    }
    single(&place, key, text, way)?.ok_or_else(missing)?.remove();
    Ok(root.to_string())
}

fn tree(text: &str) -> Result<CstRootNode, Fault> {
    CstRootNode::parse(text, &options()).map_err(|error| Fault::new(error.line_display(), error.kind().to_string()))
}

/// Returns the property of that name. Two of them are refused: clients differ in which one they take.
fn single(object: &CstObject, name: &str, text: &str, way: &[&str]) -> Result<Option<CstObjectProp>, Fault> {
    let mut found = object.properties().into_iter().filter(|property| property.decoded_name().as_deref() == Some(name));
    let first = found.next();
    if found.next().is_some() {
        return Err(Fault::new(line_of(text, way), format!("`{name}` stands here twice")));
    }
    Ok(first)
}

fn append_object(place: &CstObject, name: &str) -> Option<CstObject> {
    place.append(name, CstInputValue::Object(Vec::new())).object_value()
}

fn lost(text: &str, way: &[&str], depth: usize) -> Fault {
    Fault::new(line_of(text, &way[..depth]), "a property could not be added here")
}

fn not_an_object(text: &str, way: &[&str], property: &CstObjectProp) -> Fault {
    let found = property.value().and_then(|node| serde_value(&node));
    let name = way.last().copied().unwrap_or_default();
    let found = found.as_ref().map_or("something else", kind);
    Fault::new(line_of(text, way), format!("`{name}` should be an object and is {found}"))
}

fn serde_value(node: &CstNode) -> Option<Value> {
    node.to_serde_value()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "`null`",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Returns the line on which the value at `way` begins, or the last one of the way that exists.
fn line_of(text: &str, way: &[&str]) -> usize {
    let Ok(result) = jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &options()) else {
        return 1;
    };
    let Some(mut place) = result.value.as_ref() else { return 1 };
    let mut start = place.start();
    for name in way {
        let ast::Value::Object(object) = place else { break };
        let Some(property) = object.properties.iter().find(|property| property.name.as_str() == *name) else { break };
        start = property.start();
        place = &property.value;
    }
    Fault::at(text, start, "").line
}

/// A file that was empty, or ended with a line end, ends with one.
fn end_with_newline(before: &str, mut after: String) -> String {
    if (before.trim().is_empty() || before.ends_with('\n')) && !after.ends_with('\n') {
        after.push('\n');
    }
    after
}
