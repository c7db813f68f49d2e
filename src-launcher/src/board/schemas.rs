//! What the tools declare. The data lies beside, in the form the protocol sends it.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// One tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Whether it only reads.
    pub(crate) reads: bool,
    declared: Value,
}

impl Tool {
    /// As `tools/list` sends it.
    pub(crate) fn to_json(&self) -> Value {
        self.declared.clone()
    }

    pub(crate) fn annotations(&self) -> Value {
        self.declared.get("annotations").cloned().unwrap_or_else(|| json!({}))
    }
}

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let declared: Vec<Value> = serde_json::from_str(include_str!("tools.json")).unwrap_or_default();
    declared
        .into_iter()
        .map(|declared| {
            let text = |key: &str| declared.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
            Tool {
                name: text("name"),
                title: text("title"),
                reads: declared["annotations"]["readOnlyHint"].as_bool().unwrap_or(false),
                declared,
            }
        })
        .collect()
});

/// The tools by name; without those that write when nothing may be written.
pub(crate) fn tools(read_only: bool) -> Vec<&'static Tool> {
    TOOLS.iter().filter(|tool| tool.reads || !read_only).collect()
}

/// Finds one.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn every_tool_declares_its_whole_contract() {
        assert_eq!((tools(false).len(), tools(true).len()), (32, 11));
        let names: Vec<&str> = tools(false).iter().map(|tool| tool.name.as_str()).collect();
        assert!(names.is_sorted());
        for tool in tools(false) {
            let declared = tool.to_json();
            assert!(!tool.title.is_empty() && declared["description"].is_string(), "{}", tool.name);
            for (name, property) in declared["inputSchema"]["properties"].as_object().expect("properties") {
                assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{}.{name}", tool.name);
            }
            let output = &declared["outputSchema"];
            assert!(
                output["properties"]["resultTruncated"].is_object() && output["additionalProperties"].is_null(),
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn an_input_says_what_it_is_itself_and_the_same_everywhere() {
        // Inputs that mean something else in another tool, with how many things they mean.
        const SEVERAL: [(&str, usize); 13] = [
            ("actor", 2),
            ("area", 2),
            ("collection", 2),
            ("id", 2),
            ("kind", 2),
            ("parent", 2),
            ("priority", 2),
            ("scope", 3),
            ("source", 2),
            ("status", 7),
            ("tags", 2),
            ("type", 3),
            ("visibility", 4),
        ];
        let mut meanings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for tool in tools(false) {
            let declared = tool.to_json();
            for (name, property) in declared["inputSchema"]["properties"].as_object().expect("properties") {
                let text = property["description"].as_str().expect("a description").to_owned();
                meanings.entry(name.clone()).or_default().insert(text.clone());
                names.entry(text).or_default().insert(name.clone());
            }
        }
        for (text, names) in names {
            // A learning graduates to the same, by the tool for it and by its field.
            let twice = names.iter().eq(["graduated_to", "targets"]);
            assert!(names.len() == 1 || twice, "`{text}` is said of {names:?}");
        }
        for (name, texts) in meanings {
            let most = SEVERAL.iter().find(|(listed, _)| *listed == name).map_or(1, |(_, count)| *count);
            assert_eq!(texts.len(), most, "{name}: {texts:?}");
        }
    }

    #[test]
    fn what_cannot_be_asked_for_is_not_offered() {
        let property = |tool: &str, name: &str| {
            find(tool).expect("a tool").to_json()["inputSchema"]["properties"][name]["enum"].clone()
        };
        assert!(!property("project_card_release", "status").as_array().expect("an enum").contains(&json!("doing")));
        assert_eq!(property("project_card_transition", "method"), json!(["local", "ci", "manual"]));
        assert!(
            find("project_card_transition").expect("a tool").to_json()["inputSchema"]["properties"]
                .get("force")
                .is_none()
        );
    }
}
