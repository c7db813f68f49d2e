//! What fuzzing feeds with bytes. Each function takes anything, and fails when the room breaks a promise.
//!
//! Not part of the interface; `crates/fuzz` lists the functions. Not here: making the bytes.

use std::path::Path;

use crate::globs::Glob;
use crate::job::{self, Task};
use crate::names;
use crate::paths::Places;
use crate::review_block::{Agents, Context, Strategy};
use crate::reviews::check_review_id;
use crate::rules::{self, Matcher, Rule};
use crate::schemas;
use crate::tasks;
use crate::yaml::{self, Content, Node};

/// A folder that is not there, so that nothing is read or written.
const NOWHERE: &str = "/nonexistent/fuzz";

/// YAML: values have their lines, and what was read can be told as JSON.
pub fn fuzz_yaml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() + 1;
    match yaml::parse(&text) {
        Ok(None) => {}
        Ok(Some(node)) => {
            check_lines(&node, lines);
            assert!(!node.to_json().to_string().is_empty());
        }
        Err(error) => assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty(), "{error:?}"),
    }
}

fn check_lines(node: &Node, most: usize) {
    assert!((1..=most).contains(&node.line), "line {} of {most}", node.line);
    match &node.content {
        Content::Scalar(_) => {}
        Content::Sequence(items) => items.iter().for_each(|item| check_lines(item, most)),
        Content::Mapping(entries) => entries.iter().for_each(|(_, value)| check_lines(value, most)),
    }
}

/// Job files: one that is taken refers to nothing that it does not hold; one that is not says why.
pub fn fuzz_job(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let job = match job::parse(&text, Path::new("job.yml")) {
        Ok(job) => job,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(!job.workflows.is_empty());
    for workflow in job.workflows.values() {
        assert!(!workflow.steps.is_empty());
        for (at, step) in workflow.steps.iter().enumerate() {
            assert_eq!(workflow.position(&step.name), Some(at));
            let mut named = step.inputs.keys().chain(step.outputs.keys());
            assert!(named.all(|name| job.argument(name).is_some()));
            if let Task::SubWorkflow { job: None, workflow } = &step.task {
                assert!(job.workflows.contains_key(workflow));
            }
        }
    }
    for argument in &job.arguments {
        assert!(argument.json_schema.as_ref().is_none_or(|schema| crate::json_check::compile(schema).is_ok()));
    }
}

/// `.deepreview` files: rules that are taken have patterns and can be put to any path.
pub fn fuzz_rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match rules::parse(&text, &Path::new(NOWHERE).join(rules::RULE_FILE)) {
        Ok(rules) => {
            for rule in rules {
                assert!(matches!(&rule.matcher, Matcher::Globs { include, .. } if !include.is_empty()));
                assert!(rule.line >= 1 && rule.description.chars().count() <= 256);
                assert!(!rule.is_catch_all() || rule.name.is_ascii());
                assert!(!rule.matches(Path::new("/elsewhere"), "a.md"));
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Schemas for files, named and beside their file, with each as the parent of the other.
pub fn fuzz_schema(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Path::new(NOWHERE).join("a").join(schemas::SCHEMA_FILE);
    let located = |name: &str| schemas::Located {
        name: name.into(),
        path: path.clone(),
        target: None,
        schema: schemas::parse(&text, &path, true),
    };
    let all = schemas::Schemas { named: vec![located("a"), located("b")], anonymous: Vec::new() };
    let (rules, errors) = all.rules(Path::new(NOWHERE));
    assert!(rules.len() <= 2 && errors.iter().all(|error| !error.is_empty()));
    if let Err(error) = schemas::parse(&text, &path, false) {
        assert!(!error.to_string().is_empty());
    }
}

/// Review ids: what is made is taken when the pass is marked, and what is taken stays in its folder. The first line is
/// a rule's name, the others are paths.
pub fn fuzz_review_id(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for id in [text.as_ref(), text.lines().next().unwrap_or_default()] {
        if check_review_id(id).is_ok() {
            let file = Path::new(NOWHERE).join(format!("{id}.passed"));
            assert_eq!(file.parent(), Some(Path::new(NOWHERE)), "{id:?}");
            assert!(file.file_name().is_some_and(|name| name.len() <= 255), "{id:?}");
        }
        if names::check("session_id", id).is_ok() {
            assert_eq!(Path::new(NOWHERE).join(id).parent(), Some(Path::new(NOWHERE)), "{id:?}");
        }
    }
    let Ok(places) = Places::new(Path::new(NOWHERE), "claude") else { return };
    let mut lines = text.split('\n').map(str::to_owned);
    let rule = rule(lines.next().unwrap_or_default());
    // Paths from git or a client have no NUL.
    let files: Vec<String> = lines.filter(|line| !line.is_empty() && !line.contains('\0')).take(50).collect();
    let of_files = tasks::of_rule(&rule, &files, &places, "claude");
    let of_text = tasks::of_text(&rule, &text, &places, "claude");
    for task in of_files.iter().chain([&of_text]) {
        assert_eq!(check_review_id(&task.id), Ok(()), "{:?}", task.id);
    }
}

fn rule(name: String) -> Rule {
    Rule {
        name,
        description: String::new(),
        matcher: Matcher::Globs { include: vec![Glob::new("**")], exclude: Vec::new() },
        strategy: Strategy::MatchesTogether,
        instructions: String::new(),
        identity: String::new(),
        agents: Agents::default(),
        context: Context::default(),
        folder: NOWHERE.into(),
        source: Path::new(NOWHERE).join(rules::RULE_FILE),
        line: 1,
        command: None,
        references: Vec::new(),
    }
}

/// Patterns: the answer is that of a matcher that tries everything. The first line is the pattern, the rest the path.
pub fn fuzz_glob(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (pattern, path) = text.split_once('\n').unwrap_or((&text, ""));
    // Long ones have to end in time; for short ones the answer is known.
    let glob = Glob::new(pattern.get(..pattern.floor_char_boundary(500)).unwrap_or_default());
    let path = path.get(..path.floor_char_boundary(500)).unwrap_or_default();
    let found = glob.matches(path);
    if glob.as_str().len() <= 12 && path.len() <= 12 {
        assert_eq!(found, tries_everything(glob.as_str(), path), "{:?} {path:?}", glob.as_str());
    }
}

/// The table of `globs` as it reads, in exponential time.
fn tries_everything(pattern: &str, path: &str) -> bool {
    let rests = || path.char_indices().map(|(at, _)| &path[at..]).chain([""]);
    if let Some(rest) = pattern.strip_prefix("**/") {
        let below = || path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        return tries_everything(rest, path) || below().any(|inner| tries_everything(rest, inner));
    }
    if let Some(rest) = pattern.strip_prefix("**") {
        return rests().any(|inner| tries_everything(rest, inner));
    }
    let Some(first) = pattern.chars().next() else { return path.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    if first == '*' {
        let run = path.find('/').unwrap_or(path.len());
        return rests().filter(|inner| path.len() - inner.len() <= run).any(|inner| tries_everything(rest, inner));
    }
    match path.chars().next() {
        Some(here) if here == first || (first == '?' && here != '/') => {
            tries_everything(rest, &path[here.len_utf8()..])
        }
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_matcher_reads_the_table_as_well() {
        for (pattern, path, matches) in [
            ("**/*.md", "a/b.md", true),
            ("docs/**", "docs", false),
            ("a/**/z", "a/z", true),
            ("f?.x", "f/.x", false),
            ("?", "?", true),
            ("", "", true),
        ] {
            assert_eq!(tries_everything(pattern, path), matches, "{pattern} {path}");
            fuzz_glob(format!("{pattern}\n{path}").as_bytes());
        }
    }
}
