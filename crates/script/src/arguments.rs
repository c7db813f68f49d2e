//! What the arguments of each host call are: names and types, so that a misspelt name or a wrong type is told instead of
//! being left out.
//!
//! A value that is `null` counts as not given, except where any value may stand.

use serde_json::{Map, Value};

use crate::CallKind;

/// What an argument may be.
#[derive(Debug, Clone, Copy)]
enum Type {
    /// Any JSON value.
    Any,
    /// A text that is not empty.
    Name,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// An object of texts.
    TextsByName,
    /// An object.
    Object,
    /// True or false.
    Flag,
    /// A number above 0.
    Positive,
    /// A whole number, 1 or more.
    Count,
    /// A request method: a token of RFC 9110, 5.6.2.
    Method,
}

impl Type {
    fn is(self, value: &Value) -> bool {
        let is_text = |value: &Value| value.is_string();
        match self {
            Self::Any => true,
            Self::Name => value.as_str().is_some_and(|text| !text.is_empty()),
            Self::Text => is_text(value),
            Self::Texts => value.as_array().is_some_and(|list| list.iter().all(is_text)),
            Self::TextsByName => value.as_object().is_some_and(|object| object.values().all(is_text)),
            Self::Object => value.is_object(),
            Self::Flag => value.is_boolean(),
            Self::Positive => value.as_f64().is_some_and(|number| number > 0.0),
            Self::Count => value.as_f64().is_some_and(|number| number >= 1.0 && number.fract() == 0.0),
            Self::Method => value.as_str().is_some_and(|text| {
                !text.is_empty()
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
            }),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Name => "a text that is not empty",
            Self::Text => "a text",
            Self::Texts => "a list of texts",
            Self::TextsByName => "an object of texts",
            Self::Object => "an object",
            Self::Flag => "true or false",
            Self::Positive => "a number above 0",
            Self::Count => "a whole number, 1 or more",
            Self::Method => "the name of a request method",
        }
    }
}

/// The arguments of a kind of call. Those of agents are read where their options are: what is not understood there is
/// noted or refused by the dialect.
fn shape(kind: CallKind) -> Option<&'static [(&'static str, Type)]> {
    Some(match kind {
        CallKind::Agent | CallKind::Workflow | CallKind::Related | CallKind::Sleep => return None,
        CallKind::Form => &[("title", Type::Name), ("message", Type::Text), ("fields", Type::Object)],
        CallKind::Approve => &[("tool", Type::Name), ("title", Type::Text), ("args", Type::Any)],
        CallKind::Exec => &[
            ("program", Type::Name),
            ("args", Type::Texts),
            ("cwd", Type::Text),
            ("env", Type::TextsByName),
            ("stdin", Type::Text),
            ("timeoutSeconds", Type::Positive),
            ("idempotent", Type::Flag),
        ],
        CallKind::Http => &[
            ("url", Type::Name),
            ("method", Type::Method),
            ("headers", Type::TextsByName),
            ("body", Type::Text),
            ("idempotent", Type::Flag),
        ],
        CallKind::KvGet | CallKind::KvDelete => &[("key", Type::Name)],
        CallKind::KvSet => &[("key", Type::Name), ("value", Type::Any)],
        CallKind::KvList => &[("prefix", Type::Text)],
        CallKind::ValueGet => &[("name", Type::Name)],
        CallKind::ValueSet => &[("name", Type::Name), ("value", Type::Any)],
        CallKind::ValueCas => &[("name", Type::Name), ("revision", Type::Any), ("value", Type::Any)],
        CallKind::KnowledgeAdd => {
            &[("id", Type::Name), ("text", Type::Name), ("title", Type::Text), ("tags", Type::Texts)]
        }
        CallKind::KnowledgeSearch => &[("query", Type::Name), ("limit", Type::Count), ("tags", Type::Texts)],
        CallKind::KnowledgeRemove => &[("id", Type::Name)],
        CallKind::KnowledgeList | CallKind::FilesList => &[],
        CallKind::FilesInfo | CallKind::FilesReadText | CallKind::FilesReadBytes => &[("file", Type::Object)],
        CallKind::FilesCreate => &[("name", Type::Name), ("text", Type::Text), ("base64", Type::Text)],
        CallKind::Env | CallKind::Secret => &[("name", Type::Name)],
    })
}

/// Says what is wrong with the arguments of a call, all of it; none when nothing is.
pub(crate) fn fault(kind: CallKind, args: &Value) -> Option<String> {
    let shape = shape(kind)?;
    let none = Map::new();
    let given = args.as_object().unwrap_or(&none);
    let faults: Vec<String> = given
        .iter()
        .filter_map(|(name, value)| match shape.iter().find(|(known, _)| known == name) {
            None => {
                let known: Vec<&str> = shape.iter().map(|(known, _)| *known).collect();
                Some(format!("there is no `{}` (there are {})", shortened(name), known.join(", ")))
            }
            Some(_) if value.is_null() => None,
            Some((_, wanted)) if wanted.is(value) => None,
            Some((_, wanted)) => Some(format!("`{name}` must be {}", wanted.words())),
        })
        .collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

fn shortened(name: &str) -> String {
    name.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_given_is_understood_or_told() {
        let good = json!({ "program": "a", "args": ["b"], "cwd": null, "env": { "A": "1" }, "timeoutSeconds": 0.5 });
        assert_eq!(fault(CallKind::Exec, &good), None);
        let odd = json!({ "program": "a", "args": [1], "CWD": "/", "timeoutSeconds": "1", "env": { "A": 1 } });
        let told = fault(CallKind::Exec, &odd).expect("faults");
        for part in
            ["`args` must be a list", "no `CWD` (there are program", "`timeoutSeconds` must be", "`env` must be"]
        {
            assert!(told.contains(part), "{told}");
        }
        assert!(fault(CallKind::Http, &json!({ "url": "u", "method": "BO GUS" })).is_some());
        assert!(fault(CallKind::KnowledgeSearch, &json!({ "query": "q", "limit": 0 })).is_some());
        assert_eq!(fault(CallKind::KvSet, &json!({ "key": "k", "value": null })), None);
    }
}
