//! From rules to review tasks: which files go to which reviewer, under which id, and which have been passed already.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files;
use crate::paths::Places;
use crate::review_block::Strategy;
use crate::rules::{Matcher, Reference, Rule};
use crate::walk;

/// The part of a review id that names paths.
const PATHS_CHARACTERS: usize = 100;

/// The part of a review id that names the rule. With the other parts it stays below what a file's name may have.
const RULE_BYTES: usize = 100;

/// What is read of a file for its review's id: 64 MiB.
const HASHED_BYTES: u64 = 64 * 1024 * 1024;

/// A review that is due.
#[derive(Debug, Clone)]
pub struct Task {
    /// The rule's name.
    pub rule: String,
    /// Names the rule, the files and their content.
    pub id: String,
    /// One line, with the rule's folder.
    pub description: String,
    /// Who does it.
    pub agent: String,
    /// What to look for.
    pub instructions: String,
    /// The files to look at, relative to the root.
    pub files: Vec<String>,
    /// A text to look at instead of files.
    pub inline: Option<String>,
    /// Files that match and did not change.
    pub unchanged: Vec<String>,
    /// All changed files.
    pub all_changed: Vec<String>,
    /// Files to show with their content.
    pub references: Vec<Reference>,
    /// A command whose output to show, with the folder it is relative to.
    pub command: Option<(PathBuf, String)>,
    /// Where the rule stands: path and line.
    pub source: String,
}

/// Makes the tasks of a rule for changed files, which are sorted.
#[must_use]
pub fn of_rule(rule: &Rule, changed: &[String], places: &Places, platform: &str) -> Vec<Task> {
    let root = places.root();
    let matched: Vec<String> = changed.iter().filter(|file| rule.matches(root, file)).cloned().collect();
    if matched.is_empty() {
        return Vec::new();
    }
    let all_changed = if rule.context.all_changed_filenames { changed.to_vec() } else { Vec::new() };
    let make = |files: Vec<String>, unchanged: Vec<String>| {
        let mut references = Vec::new();
        if rule.strategy == Strategy::Individual {
            references.extend(files.iter().map(|file| Reference {
                path: root.join(file),
                shown: file.clone(),
                description: Some("The file under review".into()),
            }));
        }
        references.extend(rule.references.iter().cloned());
        Task {
            rule: rule.name.clone(),
            id: review_id(rule, &files, None, root),
            description: description(rule, root),
            agent: rule.agents.choose(platform).to_owned(),
            instructions: rule.instructions.clone(),
            files,
            inline: None,
            unchanged,
            all_changed: all_changed.clone(),
            references,
            command: rule.command.clone().map(|command| (rule.folder.clone(), command)),
            source: source(rule, places),
        }
    };
    match rule.strategy {
        Strategy::Individual => matched.into_iter().map(|file| make(vec![file], Vec::new())).collect(),
        Strategy::MatchesTogether => {
            let may_match_more = matches!(rule.matcher, Matcher::Globs { .. });
            let unchanged = if rule.context.unchanged_matching_files && may_match_more {
                let changed: BTreeSet<&String> = changed.iter().collect();
                let mut all = walk::all(&rule.folder, root);
                all.retain(|file| !changed.contains(file) && rule.matches(root, file));
                all
            } else {
                Vec::new()
            };
            vec![make(matched, unchanged)]
        }
        Strategy::AllChangedFiles => vec![make(changed.to_vec(), Vec::new())],
    }
}

/// Makes the task of a rule for a text.
#[must_use]
pub fn of_text(rule: &Rule, text: &str, places: &Places, platform: &str) -> Task {
    Task {
        rule: rule.name.clone(),
        id: review_id(rule, &[], Some(text), places.root()),
        description: description(rule, places.root()),
        agent: rule.agents.choose(platform).to_owned(),
        instructions: rule.instructions.clone(),
        files: Vec::new(),
        inline: Some(text.to_owned()),
        unchanged: Vec::new(),
        all_changed: Vec::new(),
        references: rule.references.clone(),
        command: None,
        source: source(rule, places),
    }
}

fn description(rule: &Rule, root: &Path) -> String {
    let folder = rule.source.parent().filter(|folder| *folder != root).and_then(Path::file_name);
    match folder {
        Some(folder) => format!("Review {}/{}", folder.to_string_lossy(), rule.name),
        None => format!("Review {}", rule.name),
    }
}

/// Where a rule stands, as answers say it.
#[must_use]
pub fn source(rule: &Rule, places: &Places) -> String {
    format!("{}:{}", places.shown(&rule.source), rule.line)
}

/// Makes the id of a review: rule, paths, and a hash of everything that a pass depends on. The same name in another
/// folder, another text of the rule, or one changed byte of a file gives another id.
fn review_id(rule: &Rule, files: &[String], inline: Option<&str>, root: &Path) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(rule.folder.strip_prefix(root).unwrap_or(&rule.folder).to_string_lossy().as_bytes());
    part(rule.identity.as_bytes());
    let mut sorted: Vec<&String> = files.iter().collect();
    sorted.sort_unstable();
    for file in &sorted {
        part(file.as_bytes());
        match files::read(&root.join(file), HASHED_BYTES) {
            Ok(bytes) => part(&bytes),
            Err(_) => part(b"MISSING"),
        }
    }
    if let Some(text) = inline {
        part(b"INLINE");
        part(text.as_bytes());
    }
    let digest: String = hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let paths = match (inline, sorted.len()) {
        (Some(_), _) | (None, 0) => "inline".to_owned(),
        (None, count) => {
            let joined = sorted.iter().map(|file| in_name(file)).collect::<Vec<_>>().join("_AND_");
            let long = joined.chars().count() > PATHS_CHARACTERS || joined.len() > PATHS_CHARACTERS;
            if long { format!("{count}_files") } else { joined }
        }
    };
    let mut name: String = rule
        .name
        .chars()
        .map(|one| if one.is_ascii_alphanumeric() || "_.-".contains(one) { one } else { '-' })
        .collect();
    name.truncate(RULE_BYTES);
    without_dots(&format!("{name}--{paths}--{digest}"))
}

/// A path as part of a file's name. What could end a name, a quotation or a line is turned to a hyphen.
fn in_name(path: &str) -> String {
    path.chars().map(|one| if matches!(one, '/' | '\\' | '"' | '`') || one.is_control() { '-' } else { one }).collect()
}

/// An id with `..` is refused when a pass is marked; so none is made.
fn without_dots(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for (at, one) in id.chars().enumerate() {
        let unsafe_dot = one == '.' && (at == 0 || out.ends_with('.'));
        out.push(if unsafe_dot { '-' } else { one });
    }
    out
}

/// Tells whether a review was passed.
#[must_use]
pub fn is_passed(id: &str, places: &Places) -> bool {
    places.reviews().join(format!("{id}.passed")).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    fn ground(files: &[(&str, &str)]) -> (tempfile::TempDir, Places) {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            files::write(&folder.path().join(name), text.as_bytes()).expect("written");
        }
        let root = folder.path().canonicalize().expect("it is there");
        let places = Places::new(&root, "claude").expect("places");
        (folder, places)
    }

    fn rule(places: &Places, folder: &str, strategy: &str, more: &str) -> Rule {
        let text = format!(
            "r:\n  description: d\n  match: {{include: ['**/*.md'], exclude: ['skip.md']}}\n  review:\n    strategy: \
             {strategy}\n    instructions: i\n{more}"
        );
        let path = places.root().join(folder).join(".deepreview");
        rules::parse(&text, &path).expect("rules").remove(0)
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_strategy_hands_files_out_its_own_way() {
        let (_folder, places) = ground(&[("a.md", "a"), ("b.md", "b"), ("c.txt", "c")]);
        let changed = names(&["a.md", "b.md", "c.txt"]);
        let files = |strategy| -> Vec<Vec<String>> {
            of_rule(&rule(&places, "", strategy, ""), &changed, &places, "claude")
                .into_iter()
                .map(|task| task.files)
                .collect()
        };
        assert_eq!(files("individual"), [names(&["a.md"]), names(&["b.md"])]);
        assert_eq!(files("matches_together"), [names(&["a.md", "b.md"])]);
        assert_eq!(files("all_changed_files"), std::slice::from_ref(&changed));
        let rule = rule(&places, "", "all_changed_files", "");
        assert!(of_rule(&rule, &names(&["c.txt"]), &places, "claude").is_empty());
    }

    #[test]
    fn unchanged_files_that_match_are_listed() {
        let (_folder, places) =
            ground(&[("d/a.md", ""), ("d/b.md", ""), ("d/skip.md", ""), ("b.md", ""), ("d/node_modules/x.md", "")]);
        let rule = rule(&places, "d", "matches_together", "    additional_context: {unchanged_matching_files: true}\n");
        let tasks = of_rule(&rule, &names(&["d/b.md"]), &places, "claude");
        assert_eq!(tasks[0].unchanged, ["d/a.md"]);
        assert_eq!(tasks[0].description, "Review d/r");
    }

    #[test]
    fn an_id_changes_with_content_rule_and_folder_and_nothing_else() {
        let (folder, places) = ground(&[("d/a.md", "one")]);
        let id = |rule: &Rule| of_rule(rule, &names(&["d/a.md"]), &places, "claude")[0].id.clone();
        let (top, inner) = (rule(&places, "", "individual", ""), rule(&places, "d", "individual", ""));
        let first = id(&top);
        assert!(first.starts_with("r--d-a.md--"), "{first}");
        assert_eq!(first, id(&top));
        assert_ne!(first, id(&inner));
        assert_ne!(first, id(&Rule { identity: "other".into(), ..top.clone() }));
        std::fs::write(folder.path().join("d/a.md"), [0xff]).expect("written");
        let binary = id(&top);
        std::fs::write(folder.path().join("d/a.md"), [0xfe]).expect("written");
        assert_ne!(binary, id(&top));
        std::fs::remove_file(folder.path().join("d/a.md")).expect("removed");
        assert_ne!(binary, id(&top));
    }

    #[test]
    fn an_id_can_be_a_files_name_whatever_the_paths_are() {
        let (_folder, places) = ground(&[]);
        let long = "é".repeat(60) + ".md";
        for (files, part) in [
            (vec!["a b.md"], "a b.md"),
            (vec!["x\n\"`y.md"], "x---y.md"),
            (vec!["a..b.md"], "a.-b.md"),
            (vec![long.as_str()], "1_files"),
            (vec!["a.md", "b/c.md"], "a.md_AND_b-c.md"),
        ] {
            let rule = rule(&places, "", "matches_together", "");
            let id = of_rule(&rule, &names(&files), &places, "claude")[0].id.clone();
            assert!(id.contains(part) && id.len() < 240 && !id.contains("..") && !id.contains('/'), "{id}");
        }
        let rule = Rule { name: "n".repeat(300), ..rule(&places, "", "individual", "") };
        let id = of_text(&rule, "text", &places, "claude").id;
        assert!(id.len() < 240 && id.contains("--inline--"), "{id}");
    }
}
