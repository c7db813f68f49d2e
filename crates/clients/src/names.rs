//! Names that fit: short keys, and tools whose full name a client would lose.

use serde::Serialize;

use crate::Client;

/// The longest short key. With it `mcp__<key>__<tool>` leaves 37 of 64 characters for the tool.
const SHORT_KEY: usize = 20;

/// What a client does with a tool whose full name is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NameEffect {
    /// It leaves the tool out.
    Dropped,
    /// It cuts the name, so that two tools may become one.
    Cut,
    /// It replaces the name's end by a hash (older versions leave the tool out).
    Hashed,
}

/// How a client names tools for its model, and how long such a name may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameRule {
    pub(crate) full: fn(&str, &str) -> String,
    pub(crate) limit: usize,
    pub(crate) effect: NameEffect,
}

/// A tool that a client would not show under its full name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NameLoss {
    /// The tool's own name.
    pub tool: String,
    /// The name the client would give it.
    pub full_name: String,
    /// The client's limit, in characters.
    pub limit: usize,
    /// What happens to it.
    pub effect: NameEffect,
}

/// Returns the tools that `client` would lose or rename under `key`.
#[must_use]
pub fn name_losses<'a>(client: &Client, key: &str, tools: impl IntoIterator<Item = &'a str>) -> Vec<NameLoss> {
    let Some(rule) = client.names else { return Vec::new() };
    tools
        .into_iter()
        .filter_map(|tool| {
            let full_name = (rule.full)(key, tool);
            (full_name.chars().count() > rule.limit).then(|| NameLoss {
                tool: tool.to_owned(),
                full_name,
                limit: rule.limit,
                effect: rule.effect,
            })
        })
        .collect()
}

/// Returns `wf-<slug>` of a project's name: at most 20 of `a-z 0-9 -`, and none of `taken`.
///
/// Letters beyond ASCII are left out, since several clients refuse them in a server's name; a name with nothing else
/// becomes `wf-project`.
#[must_use]
pub fn short_key(name: &str, taken: &[&str]) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    if slug.trim_matches('-').is_empty() {
        slug = String::from("project");
    }
    let base = format!("wf-{slug}");
    let mut number = 1_u64;
    loop {
        let tail = if number == 1 { String::new() } else { format!("-{number}") };
        let head: String = base.chars().take(SHORT_KEY.saturating_sub(tail.len())).collect();
        let key = format!("{}{tail}", head.trim_end_matches('-'));
        if !taken.contains(&key.as_str()) {
            return key;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{client, default_key};
    use proptest::prelude::*;

    const UUID: &str = "11111111-1111-4111-8111-111111111111";

    #[test]
    fn the_default_key_costs_tools_and_the_short_one_does_not() {
        let tools = ["main", "convert", "a-rather-long-entrypoint"];
        let lost = |id: &str, key: &str| -> Vec<String> {
            name_losses(client(id).unwrap(), key, tools).into_iter().map(|loss| loss.tool).collect()
        };
        let long = default_key(UUID);
        assert_eq!(lost("codex", &long), ["a-rather-long-entrypoint"]);
        assert_eq!(lost("gemini", &long), ["a-rather-long-entrypoint"]);
        assert_eq!(lost("cursor", &long), ["a-rather-long-entrypoint"]);
        assert!(lost("claude-code", &long).is_empty());
        assert!(lost("vscode", &long).is_empty());
        let short = short_key("Weekly report", &[]);
        assert_eq!(short, "wf-weekly-report");
        assert!(["codex", "gemini", "cursor"].iter().all(|id| lost(id, &short).is_empty()));
    }

    #[test]
    fn the_limit_itself_fits() {
        // `mcp__` + 45 + `__` leave 12 characters.
        let key = default_key(UUID);
        let codex = client("codex").unwrap();
        assert!(name_losses(codex, &key, ["twelve-chars"]).is_empty());
        assert_eq!(name_losses(codex, &key, ["thirteen-char"])[0].full_name.len(), 65);
    }

    #[test]
    fn short_keys_are_unique_and_readable() {
        assert_eq!(short_key("Weekly report", &["wf-weekly-report"]), "wf-weekly-report-2");
        assert_eq!(short_key("An extraordinarily long name", &[]), "wf-an-extraordinaril");
        assert_eq!(
            short_key("An extraordinarily long name", &["wf-an-extraordinaril", "wf-an-extraordinar-2"]),
            "wf-an-extraordinar-3"
        );
        assert_eq!(short_key("每周报告", &[]), "wf-project");
        assert_eq!(short_key("--", &[]), "wf-project");
        assert_eq!(short_key("Ä-b_c", &[]), "wf-b-c");
    }

    proptest! {
        #[test]
        fn short_keys_keep_to_their_letters(name in any::<String>(), again in 0usize..30) {
            let mut taken: Vec<String> = Vec::new();
            for _ in 0..=again {
                let known: Vec<&str> = taken.iter().map(String::as_str).collect();
                let key = short_key(&name, &known);
                prop_assert!(key.len() <= SHORT_KEY && key.starts_with("wf-") && key.len() > 3, "{}", key);
                prop_assert!(key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
                prop_assert!(!key.ends_with('-') && !taken.contains(&key));
                prop_assert!(crate::launch::check_key(&key).is_ok());
                taken.push(key);
            }
        }
    }
}
