//! The subset of JSON Schema that the strict contract takes for structured results, and what is outside it.
//!
//! A node is unconstrained, typed or a union; annotations go anywhere. Everything else is refused with its path, all
//! at once. Validating values is the host's.

use serde_json::{Map, Value};

/// The types of a typed node.
const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// Keywords that say something about a value.
const CONSTRAINTS: [&str; 6] = ["properties", "required", "additionalProperties", "items", "enum", "const"];

/// Names everything in a schema that is outside the subset, in walk order; empty when it is inside.
#[must_use]
pub fn faults(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    match schema {
        Value::Object(root) if root.contains_key("oneOf") && !root.contains_key("type") => {
            faults.push("schema must be object-rooted, and a union at the root is not".into());
        }
        Value::Object(root) if root.get("type").is_none_or(|kind| kind != "object") => {
            faults.push("schema.type must be \"object\"".into());
        }
        _ => {}
    }
    // A stack of its own, since the nesting of what is given is not ours to choose.
    let mut waiting = vec![("schema".to_owned(), schema)];
    while let Some((path, node)) = waiting.pop() {
        let mut inner = Vec::new();
        check(&path, node, &mut faults, &mut inner);
        waiting.extend(inner.into_iter().rev());
    }
    faults
}

fn check<'a>(path: &str, node: &'a Value, faults: &mut Vec<String>, inner: &mut Vec<(String, &'a Value)>) {
    let Value::Object(node) = node else { return faults.push(format!("{path} must be a schema object")) };
    let kind = read_type(path, node, faults);
    let union = node.contains_key("oneOf");
    if union && node.contains_key("type") {
        faults.push(format!("{path} cannot declare both type and oneOf"));
    }
    for (key, value) in node {
        match key.as_str() {
            "type" => {}
            "oneOf" => match value {
                Value::Array(branches) if branches.len() >= 2 => {
                    inner.extend(
                        branches.iter().enumerate().map(|(at, branch)| (format!("{path}.oneOf[{at}]"), branch)),
                    );
                }
                _ => faults.push(format!("{path}.oneOf must be an array of at least two schemas")),
            },
            "title" | "description" if !value.is_string() => faults.push(format!("{path}.{key} must be a string")),
            "title" | "description" | "default" | "examples" => {}
            word if CONSTRAINTS.contains(&word) => match kind {
                _ if union => faults.push(format!("{path}.{word} is not supported beside oneOf")),
                Kind::None => faults.push(format!("{path}.{word} requires type or oneOf")),
                Kind::Wrong => {}
                Kind::Is(kind) => constraint(path, kind, word, value, node, faults, inner),
            },
            word => faults.push(format!("{path}.{word} is not a supported keyword")),
        }
    }
}

/// What a node's `type` says.
#[derive(Clone, Copy)]
enum Kind<'a> {
    None,
    Wrong,
    Is(&'a str),
}

fn read_type<'a>(path: &str, node: &'a Map<String, Value>, faults: &mut Vec<String>) -> Kind<'a> {
    match node.get("type") {
        None => Kind::None,
        Some(Value::String(kind)) if TYPES.contains(&kind.as_str()) => Kind::Is(kind),
        Some(Value::String(_)) => {
            faults.push(format!("{path}.type must be one of {}", TYPES.join(", ")));
            Kind::Wrong
        }
        Some(_) => {
            faults.push(format!("{path}.type must be a single type string"));
            Kind::Wrong
        }
    }
}

fn constraint<'a>(
    path: &str,
    kind: &str,
    word: &str,
    value: &'a Value,
    node: &Map<String, Value>,
    faults: &mut Vec<String>,
    inner: &mut Vec<(String, &'a Value)>,
) {
    let fits = match word {
        "properties" | "required" | "additionalProperties" => kind == "object",
        "items" => kind == "array",
        _ => kind != "object" && kind != "array",
    };
    if !fits {
        return faults.push(format!("{path}.{word} is not supported on type \"{kind}\""));
    }
    match (word, value) {
        ("properties", Value::Object(properties)) => {
            inner.extend(properties.iter().map(|(name, part)| (format!("{path}.properties.{name}"), part)));
        }
        ("properties", _) => faults.push(format!("{path}.properties must be an object of schemas")),
        ("required", Value::Array(names)) if names.iter().all(Value::is_string) => {
            let declared = node.get("properties").and_then(Value::as_object);
            for name in names.iter().filter_map(Value::as_str) {
                if !declared.is_some_and(|declared| declared.contains_key(name)) {
                    faults.push(format!("{path}.required names \"{name}\" which is not in properties"));
                }
            }
        }
        ("required", _) => faults.push(format!("{path}.required must be an array of strings")),
        ("additionalProperties", Value::Bool(_)) => {}
        ("additionalProperties", _) => faults.push(format!("{path}.additionalProperties must be a boolean")),
        ("items", part) => inner.push((format!("{path}.items"), part)),
        ("enum", Value::Array(values)) if !values.is_empty() && values.iter().all(|value| is(value, kind)) => {}
        ("enum", _) => faults.push(format!("{path}.enum must be a non-empty array of {kind} values")),
        (_, constant) if !is(constant, kind) => faults.push(format!("{path}.const must be a {kind} value")),
        (_, constant) => {
            if let Some(Value::Array(values)) = node.get("enum")
                && !values.contains(constant)
            {
                faults.push(format!("{path}.const must be one of the values of enum"));
            }
        }
    }
}

/// Tells whether a value is of a scalar type.
fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => value.is_number(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_subset_holds_is_taken() {
        let schema = json!({"type": "object", "title": "T", "properties": {
            "any": {}, "n": {"type": "integer", "default": 3, "enum": [1, 2.0]}, "__proto__": {"type": "string"},
            "u": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "null"}}]}
        }, "required": ["n", "__proto__"], "additionalProperties": false});
        assert_eq!(faults(&schema), Vec::<String>::new());
    }

    #[test]
    fn every_violation_is_named_in_walk_order() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "text"}, "b": {"enum": ["x"]}, "c": {"type": "string", "enum": []},
            "d": {"type": ["string", "null"]}, "e": {"oneOf": [{}], "type": "string"}, "f": {"pattern": "a"}
        }, "required": "a"});
        insta::assert_snapshot!(faults(&schema).join("\n"), @r#"
        schema.required must be an array of strings
        schema.properties.a.type must be one of object, array, string, number, integer, boolean, null
        schema.properties.b.enum requires type or oneOf
        schema.properties.c.enum must be a non-empty array of string values
        schema.properties.d.type must be a single type string
        schema.properties.e cannot declare both type and oneOf
        schema.properties.e.oneOf must be an array of at least two schemas
        schema.properties.f.pattern is not a supported keyword
        "#);
        assert_eq!(faults(&json!(null)), ["schema must be a schema object"]);
    }

    #[test]
    fn nesting_costs_no_stack() {
        let mut schema = json!({"type": "string"});
        for _ in 0..10_000 {
            let mut outer = Map::from_iter([("type".to_owned(), json!("array"))]);
            outer.insert("items".into(), schema);
            schema = Value::Object(outer);
        }
        let properties = Map::from_iter([("deep".to_owned(), schema)]);
        let root = Value::Object(Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties)),
        ]));
        assert_eq!(faults(&root), Vec::<String>::new());
        // Taking such a value apart is the one thing that does.
        std::mem::forget(root);
    }
}
