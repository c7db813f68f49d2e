//! Files that are made from templates: instructions for agents, workflows, CI. Only our own part of a file is touched.

use serde_json::{Value, json};

use crate::board::Board;
use crate::doctor::{Issue, Severity};
use crate::error::{BoardError, Result, refuse};
use crate::files;
use crate::markdown::{lines, sha256};

/// The version of the templates.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What became of a generated file, or what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Its path, relative to the workspace.
    pub path: String,
    /// `current`, `missing`, `stale`, `unmanaged`, `conflict`, `written` or `removed`.
    pub status: &'static str,
    /// Why it is stale.
    pub reason: Option<&'static str>,
    /// Which keys differ.
    pub keys: Vec<String>,
}

impl FileReport {
    pub(crate) fn new(path: &str, status: &'static str) -> Self {
        Self { path: path.to_owned(), status, reason: None, keys: Vec::new() }
    }

    /// `{path, status, reason?, keys?}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut map = serde_json::Map::from_iter([
            ("path".to_owned(), json!(self.path)),
            ("status".to_owned(), json!(self.status)),
        ]);
        if let Some(reason) = self.reason {
            map.insert("reason".into(), json!(reason));
        }
        if !self.keys.is_empty() {
            map.insert("keys".into(), json!(self.keys));
        }
        Value::Object(map)
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_current(&self) -> bool {
        matches!(self.status, "current" | "written" | "removed")
    }
}

/// How our part of a file is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A block between two comments, in a file of somebody's.
    Block,
    /// The whole file between two comments.
    Whole,
    /// A file with a header at byte 0; one comment line after it opens.
    Header,
    /// A file of `#` comments; its first line marks it, or the one after `#!`.
    Script,
}

/// One file to generate.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    pub(crate) style: Style,
    pub(crate) content: String,
}

const BEGIN: &str = "<!-- workfile:begin ";
const END: &str = "<!-- workfile:end -->";

impl Template {
    fn mark(&self) -> String {
        format!("kind={} version={VERSION} digest={}", self.kind, sha256(self.content.trim().as_bytes()))
    }

    fn block(&self) -> String {
        format!("{BEGIN}{} -->\n{}\n{END}\n", self.mark(), self.content.trim())
    }

    fn whole(&self) -> String {
        match self.style {
            Style::Block | Style::Whole => self.block(),
            Style::Header => {
                let content = self.content.trim();
                let rest = content.strip_prefix("---\n").unwrap_or(content);
                format!("---\n# workfile {}\n{rest}\n", self.mark())
            }
            Style::Script => {
                let content = self.content.trim();
                match content.split_once('\n').filter(|(first, _)| first.starts_with("#!")) {
                    Some((first, rest)) => format!("{first}\n# workfile {}\n{rest}\n", self.mark()),
                    None => format!("# workfile {}\n{content}\n", self.mark()),
                }
            }
        }
    }

    fn is_ours(&self, text: &str) -> bool {
        match self.style {
            Style::Block => block_of(text).is_some(),
            Style::Whole => text.contains(BEGIN),
            Style::Header => text.lines().nth(1).is_some_and(|line| line.starts_with("# workfile ")),
            // Before there was a first line for the system, the mark was it.
            Style::Script => text.lines().take(2).any(|line| line.starts_with("# workfile ")),
        }
    }

    /// What the file should hold, given what it holds; `None` when it is not ours to write.
    fn wanted(&self, now: Option<&str>, force: bool) -> Option<String> {
        let Some(now) = now else { return Some(self.whole()) };
        if self.style == Style::Block {
            return Some(with_block(now, &self.block()));
        }
        (self.is_ours(now) || force || now.trim().is_empty()).then(|| self.whole())
    }

    /// Whether it is run by its name.
    fn is_program(&self) -> bool {
        self.content.starts_with("#!")
    }

    /// Whether the system would run it, if that is what it is for.
    fn runs(&self, board: &Board) -> bool {
        !self.is_program() || files::is_runnable(&board.workspace().at(&self.path))
    }

    pub(crate) fn check(&self, board: &Board) -> FileReport {
        let now = files::read(&board.workspace().at(&self.path), 4 * 1024 * 1024).ok().map(|(text, _)| text);
        let Some(now) = now else { return FileReport::new(&self.path, "missing") };
        if !self.is_ours(&now) {
            return FileReport::new(&self.path, if self.style == Style::Block { "missing" } else { "unmanaged" });
        }
        match self.wanted(Some(&now), false) {
            Some(wanted) if wanted == now && self.runs(board) => FileReport::new(&self.path, "current"),
            Some(wanted) if wanted == now => {
                FileReport { reason: Some("mode"), ..FileReport::new(&self.path, "stale") }
            }
            Some(wanted) => {
                let reason = if wanted.trim_end() == now.trim_end() {
                    "trailing-newline"
                } else if !now.contains(&format!("digest={}", sha256(self.content.trim().as_bytes()))) {
                    "digest"
                } else {
                    "body"
                };
                FileReport { reason: Some(reason), ..FileReport::new(&self.path, "stale") }
            }
            None => FileReport::new(&self.path, "unmanaged"),
        }
    }

    pub(crate) fn sync(&self, board: &Board, force: bool, dry: bool) -> Result<FileReport> {
        let path = board.workspace().at(&self.path);
        let now = match files::read(&path, 4 * 1024 * 1024) {
            Ok((text, _)) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(BoardError::io("read", &path, error)),
        };
        let Some(wanted) = self.wanted(now.as_deref(), force) else {
            return Err(refuse!(
                "GENERATED_FILE_UNMANAGED",
                "`{}` was not generated; --force overwrites it",
                self.path
            )
            .with(json!({ "path": self.path })));
        };
        let same = now.as_deref() == Some(wanted.as_str());
        if same && self.runs(board) {
            return Ok(FileReport::new(&self.path, "current"));
        }
        if !dry {
            board.workspace().writable()?;
            if !same {
                files::write(&path, &wanted)?;
            }
            if self.is_program() {
                files::make_runnable(&path)?;
            }
            board.touched(&self.path);
        }
        Ok(FileReport::new(&self.path, "written"))
    }

    pub(crate) fn remove(&self, board: &Board) -> Result<Option<FileReport>> {
        let path = board.workspace().at(&self.path);
        let Ok((now, _)) = files::read(&path, 4 * 1024 * 1024) else { return Ok(None) };
        if !self.is_ours(&now) {
            return Ok(None);
        }
        let left = if self.style == Style::Block { without_block(&now) } else { String::new() };
        if left.trim().is_empty() {
            std::fs::remove_file(&path).map_err(|error| BoardError::io("removed", &path, error))?;
        } else {
            files::write(&path, &left)?;
        }
        Ok(Some(FileReport::new(&self.path, "removed")))
    }
}

/// Where our block lies, in whole lines; markers in code are somebody's example. In a file that never closes its last
/// fence all that follows is code, and so is what we appended.
fn block_of(now: &str) -> Option<std::ops::Range<usize>> {
    let is_open = now.contains(BEGIN) && lines(&format!("{now}\nx")).last().is_some_and(|line| line.code);
    block_in(now, false).or_else(|| is_open.then(|| block_in(now, true)).flatten())
}

fn block_in(now: &str, in_code: bool) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    let mut begin = None;
    for line in lines(now) {
        let start = at;
        at += line.text.len();
        if line.code == in_code && line.text.starts_with(BEGIN) && begin.is_none() {
            begin = Some(start);
        } else if line.code == in_code
            && line.text.trim_end() == END
            && let Some(begin) = begin
        {
            return Some(begin..at);
        }
    }
    None
}

/// The line end that a file has.
fn line_end(now: &str) -> &'static str {
    match now.find('\n') {
        Some(at) if now[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Replaces our block, or appends it; markers without their partner go, and the file ends with a line end. Every other
/// byte stays.
fn with_block(now: &str, block: &str) -> String {
    let end = line_end(now);
    let block = block.replace('\n', end);
    let mut text = match block_of(now) {
        Some(place) => format!("{}{block}{}", without_markers(&now[..place.start]), without_markers(&now[place.end..])),
        None => {
            let before = without_markers(now);
            let gap = match before.trim().is_empty() {
                true => return block,
                false if before.ends_with(&format!("{end}{end}")) => "",
                false if before.ends_with('\n') => end,
                false => &format!("{end}{end}"),
            };
            format!("{before}{gap}{block}")
        }
    };
    if !text.ends_with('\n') {
        text.push_str(end);
    }
    text
}

/// The file without our block, and without the empty line that came with it.
fn without_block(now: &str) -> String {
    let Some(place) = block_of(now) else { return now.to_owned() };
    let (before, after) = (&now[..place.start], &now[place.end..]);
    let end = line_end(now);
    let before = if after.trim().is_empty() { before.strip_suffix(end).unwrap_or(before) } else { before };
    // One of the two empty lines around it.
    let after = if before.ends_with(&format!("{end}{end}")) { after.strip_prefix(end).unwrap_or(after) } else { after };
    format!("{before}{after}")
}

fn without_markers(text: &str) -> String {
    let is_marker = |line: &str| line.starts_with(BEGIN) || line.trim_end() == END;
    lines(text).iter().filter(|line| line.code || !is_marker(line.text)).map(|line| line.text).collect()
}

fn protocol(board: &Board) -> String {
    let config = board.config();
    format!(
        "# Work records of {}\n\n\
         Cards, documents, changes and memory of this project are Markdown files below `{}`. Change them with the `project_…`\n\
         tools or with `workflow-code board`, never by editing the files: that passes by locks, revisions and checks.\n\n\
         1. Look before you start: `project_next` says what can be started, `project_agent_context` what belongs to a card.\n\
         2. Claim a card with the paths you will touch (`project_card_claim`, `scope`). Somebody else's claim is theirs.\n\
         3. Write to what you read: pass `expectedRevision`, and read again after a conflict.\n\
         4. Note what others need to know (`project_card_note`), and tick a criterion only when it is proved.\n\
         5. Close a card with `project_card_transition` to `done`; the acceptance criteria and this project's methods decide.\n\
         6. Say what changed (`project_changelog_add`) and what was learned (`project_memory_add`).\n\n\
         Areas: {}. Cards begin with `{}-`.\n",
        config.name,
        config.storage_root,
        config.cards.areas.join(", "),
        config.cards.id_prefix,
    )
}

const WORKFLOWS: [(&str, &str); 4] = [
    (
        "start-work.md",
        "# Starting work\n\n1. `project_next` with your actor.\n2. `project_agent_context` for the card; read its rules first.\n\
         3. `project_card_claim` with an honest scope. A warning names whose scope overlaps: speak to them.\n",
    ),
    (
        "finish-work.md",
        "# Finishing work\n\n1. Prove every acceptance criterion, and tick it.\n2. `project_card_transition` to `done`, with `method`, `run` or\n\
         `evidence` as the area asks.\n3. `project_changelog_add` for what users notice.\n",
    ),
    (
        "record-knowledge.md",
        "# Recording knowledge\n\nA learning is what you would have liked to know; a decision is what was chosen and why; an incident is what\n\
         went wrong; a convention is what everybody keeps to; context holds for a while and says until when.\n",
    ),
    (
        "release.md",
        "# Releasing\n\n1. `project_changelog_preview`.\n2. `project_changelog_release` with the version.\n3. `workflow-code board changelog render --write`.\n",
    ),
];

fn short(board: &Board) -> String {
    format!(
        "## Work records\n\nThis project keeps cards, documents, changes and memory as records. Read `{}` before you work on it, and\n\
         change records with the `project_…` tools or `workflow-code board` only.\n",
        board.config().agents.canonical
    )
}

impl Board {
    /// The files for agents; `targets` replaces the configured ones.
    fn agent_templates(&self, targets: &[String]) -> Result<Vec<Template>> {
        let config = &self.config().agents;
        let targets = if targets.is_empty() { config.targets.clone() } else { targets.to_vec() };
        let mut found = vec![Template {
            path: config.canonical.clone(),
            kind: "protocol",
            style: Style::Whole,
            content: protocol(self),
        }];
        for (name, content) in WORKFLOWS {
            found.push(Template {
                path: format!("{}/{name}", config.workflows_path),
                kind: "workflow",
                style: Style::Whole,
                content: content.to_owned(),
            });
        }
        for target in targets {
            let (path, style, content) = match target.as_str() {
                "agents-md" => ("AGENTS.md", Style::Block, short(self)),
                "claude" => ("CLAUDE.md", Style::Block, short(self)),
                "copilot" => (".github/copilot-instructions.md", Style::Block, short(self)),
                "cursor" => (
                    ".cursor/rules/workfile.mdc",
                    Style::Header,
                    format!(
                        "---\ndescription: Work records of this project\nalwaysApply: true\n---\n\n{}",
                        short(self)
                    ),
                ),
                other => {
                    return Err(refuse!(
                        "AGENT_TARGET_UNSUPPORTED",
                        "`{other}` is no target: agents-md, claude, cursor, copilot"
                    ));
                }
            };
            found.push(Template { path: path.to_owned(), kind: "instructions", style, content });
        }
        if found.iter().any(|template| crate::paths::inside(&template.path).is_none()) {
            return Err(BoardError::new("CONFIG_AGENT_PATH_INVALID", "instructions must lie inside the workspace"));
        }
        Ok(found)
    }

    fn ci_templates(&self, targets: &[String]) -> Result<Vec<Template>> {
        const CHECK: &str = "workflow-code board doctor --severity error";
        let config = &self.config().ci;
        let targets = if targets.is_empty() { config.targets.clone() } else { targets.to_vec() };
        // What a shell line is in YAML: quoted, so that nothing of it is read as anything else.
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let install = config.install.as_deref();
        let needs_node = install.is_some_and(|line| line.starts_with("npm ") || line.starts_with("npx "));
        let mut found = Vec::new();
        for target in targets {
            let (path, content) = match target.as_str() {
                "github" => (".github/workflows/work-records.yml", {
                    let mut text = "name: work records\non: [push, pull_request]\njobs:\n  doctor:\n    runs-on: ubuntu-latest\n    \
                                    steps:\n      - uses: actions/checkout@v4\n        with:\n          fetch-depth: 0\n"
                        .to_owned();
                    if needs_node {
                        let version = quoted(&config.node_version);
                        text.push_str(&format!(
                            "      - uses: actions/setup-node@v4\n        with:\n          node-version: {version}\n"
                        ));
                    }
                    for line in install.into_iter().map(quoted).chain([CHECK.to_owned()]) {
                        text.push_str(&format!("      - run: {line}\n"));
                    }
                    text
                }),
                "gitlab" => (".gitlab/work-records.yml", {
                    let mut text = "work-records:\n  stage: test\n".to_owned();
                    if needs_node {
                        text.push_str(&format!("  image: {}\n", quoted(&format!("node:{}", config.node_version))));
                    }
                    text.push_str("  script:\n");
                    for line in install.into_iter().map(quoted).chain([CHECK.to_owned()]) {
                        text.push_str(&format!("    - {line}\n"));
                    }
                    text
                }),
                "generic" => ("scripts/check-work-records.sh", {
                    let install = install.map_or(String::new(), |line| format!("{line}\n"));
                    format!("#!/bin/sh\nset -eu\n{install}{CHECK}\n")
                }),
                other => {
                    return Err(refuse!("CI_TARGET_UNSUPPORTED", "`{other}` is no target: github, gitlab, generic"));
                }
            };
            found.push(Template { path: path.to_owned(), kind: "ci", style: Style::Script, content });
        }
        Ok(found)
    }

    /// Writes the files for agents (`agents`) or for CI (`ci`).
    ///
    /// # Errors
    ///
    /// `GENERATED_FILE_UNMANAGED`, `AGENT_TARGET_UNSUPPORTED`, `CI_TARGET_UNSUPPORTED`.
    pub fn sync_generated(&self, what: &str, targets: &[String], force: bool, dry: bool) -> Result<Vec<FileReport>> {
        let templates = if what == "ci" { self.ci_templates(targets)? } else { self.agent_templates(targets)? };
        templates.iter().map(|template| template.sync(self, force, dry)).collect()
    }

    /// Writes the files for agents (`agents`) or for CI (`ci`) that are missing or stale; one that somebody else wrote
    /// stays as it is.
    pub(crate) fn write_generated(&self, what: &str) -> Result<()> {
        self.workspace().writable()?;
        let templates = if what == "ci" { self.ci_templates(&[])? } else { self.agent_templates(&[])? };
        for template in templates {
            if template.check(self).status != "unmanaged" {
                template.sync(self, false, false)?;
            }
        }
        Ok(())
    }

    /// Says how the files for agents (`agents`) or for CI (`ci`) stand.
    ///
    /// # Errors
    ///
    /// `AGENT_TARGET_UNSUPPORTED`, `CI_TARGET_UNSUPPORTED`.
    pub fn check_generated(&self, what: &str, targets: &[String]) -> Result<Vec<FileReport>> {
        let templates = if what == "ci" { self.ci_templates(targets)? } else { self.agent_templates(targets)? };
        Ok(templates.iter().map(|template| template.check(self)).collect())
    }

    /// The protocol as it is generated, for the skill.
    pub(crate) fn protocol_text(&self) -> String {
        protocol(self)
    }
}

/// What the doctor says about generated files.
pub(crate) fn issues(board: &Board) -> Vec<Issue> {
    let mut found = Vec::new();
    let modules = [("agents", board.config().agents.enabled), ("ci", board.config().ci.enabled)];
    for (what, _) in modules.into_iter().filter(|(_, enabled)| *enabled) {
        for report in board.check_generated(what, &[]).unwrap_or_default() {
            let code = match (what, report.status) {
                (_, "current") => continue,
                ("ci", "missing") => "ci-template-missing",
                ("ci", "unmanaged") => "ci-template-unmanaged",
                ("ci", _) => "ci-template-stale",
                (_, "missing") => "agent-instructions-missing",
                (_, "unmanaged") => "agent-instructions-unmanaged",
                _ => "agent-instructions-stale",
            };
            found.push(
                Issue::new(Severity::Warning, what, code, format!("This generated file is {}.", report.status))
                    .at(&report.path),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_block_is_replaced() {
        let template =
            Template { path: "AGENTS.md".into(), kind: "instructions", style: Style::Block, content: "new".into() };
        let first = template.wanted(Some("# Mine\n"), false).expect("ours");
        assert!(first.starts_with("# Mine\n\n<!-- workfile:begin kind=instructions version="));
        assert_eq!(template.wanted(Some(&first), false).as_deref(), Some(first.as_str()));
        let around = format!("{first}\nAfter.\n").replace("new", "old");
        let again = template.wanted(Some(&around), false).expect("ours");
        assert!(again.ends_with("<!-- workfile:end -->\n\nAfter.\n") && !again.contains("old"));
        let orphan = format!("# Mine\n{END}\n");
        assert_eq!(template.wanted(Some(&orphan), false), Some(first.clone()));
        assert_eq!(without_block(&first), "# Mine\n");
    }

    #[test]
    fn nothing_outside_the_block_is_another_byte_after() {
        let template = Template {
            path: "AGENTS.md".into(),
            kind: "instructions",
            style: Style::Block,
            content: "new\nlines".into(),
        };
        let dos = "# Top\r\nmine\r\n";
        let written = template.wanted(Some(dos), false).expect("ours");
        assert!(written.starts_with(dos) && written.matches('\n').count() == written.matches("\r\n").count());
        assert_eq!(template.wanted(Some(&written), false).as_deref(), Some(written.as_str()));
        assert_eq!(without_block(&written), dos);
        let example = format!("# Doc\n\n```\n{BEGIN}kind=x -->\nexample\n{END}\n```\n\n\ntail  \n");
        let written = template.wanted(Some(&example), false).expect("ours");
        assert!(written.starts_with(&example), "{written}");
        assert!(!template.is_ours(&example) && template.is_ours(&written));
        assert_eq!(without_block(&written), example);
        let unclosed = template.wanted(Some("```\nnever closed\n"), false).expect("ours");
        assert_eq!(template.wanted(Some(&unclosed), false).as_deref(), Some(unclosed.as_str()));
        let around = format!("a\n\n\n{}\n\n  b\n\n", template.block()).replace("new", "old");
        let again = template.wanted(Some(&around), false).expect("ours");
        assert_eq!(again, around.replace("old\nlines", "new\nlines").replace(&digest_in(&around), &digest_in(&again)));
    }

    fn digest_in(text: &str) -> String {
        let at = text.find("digest=").expect("a digest");
        text[at..].split(' ').next().unwrap_or("").to_owned()
    }

    #[test]
    fn generated_checks_can_be_run_where_they_are() {
        let root = tempfile::tempdir().expect("a folder");
        let config = r#"export default { ci: { targets: ["github", "gitlab", "generic"], install: "npm install --global 'x: y'", nodeVersion: "24" } };"#;
        std::fs::write(root.path().join("project.config.mjs"), config).expect("written");
        let board = Board::new(crate::Workspace::open(None, root.path(), false).expect("a workspace"));
        board.sync_generated("ci", &[], false, false).expect("written");
        let read = |path: &str| std::fs::read_to_string(root.path().join(path)).expect("there");
        let (github, gitlab) = (read(".github/workflows/work-records.yml"), read(".gitlab/work-records.yml"));
        assert!(github.contains(
            "node-version: \"24\"\n      - run: \"npm install --global 'x: y'\"\n      - run: workflow-code"
        ));
        assert!(gitlab.contains("image: \"node:24\"") && gitlab.contains("    - \"npm install"));
        let script = root.path().join("scripts/check-work-records.sh");
        assert!(read("scripts/check-work-records.sh").starts_with("#!/bin/sh\n# workfile kind=ci "));
        assert!(files::is_runnable(&script));
        assert!(board.check_generated("ci", &[]).expect("checked").iter().all(FileReport::is_current));
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("set");
        let stale = board.check_generated("ci", &[]).expect("checked");
        assert_eq!((stale[2].status, stale[2].reason), ("stale", Some("mode")));
        board.sync_generated("ci", &[], false, false).expect("mended");
        assert!(files::is_runnable(&script));
        // What an earlier version wrote is known again.
        std::fs::write(&script, "# workfile kind=ci version=0 digest=x\nset -eu\n").expect("written");
        board.sync_generated("ci", &[], false, false).expect("written anew");
        assert!(read("scripts/check-work-records.sh").starts_with("#!/bin/sh\n"));
    }

    #[test]
    fn a_file_of_somebody_is_not_overwritten() {
        let template = Template { path: "x".into(), kind: "ci", style: Style::Script, content: "a".into() };
        assert_eq!(template.wanted(Some("theirs"), false), None);
        assert!(template.wanted(Some("theirs"), true).is_some());
        let header =
            Template { path: "x".into(), kind: "i", style: Style::Header, content: "---\na: 1\n---\nb".into() };
        assert!(header.whole().starts_with("---\n# workfile kind=i version="));
    }

    #[test]
    fn a_lost_line_end_is_stale_and_repaired() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("project.config.mjs"), "export default { ci: { enabled: false } };")
            .expect("written");
        let board = Board::new(crate::Workspace::open(None, root.path(), false).expect("a workspace"));
        board.sync_generated("agents", &[], false, false).expect("written");
        assert!(board.check_generated("agents", &[]).expect("checked").iter().all(FileReport::is_current));
        let path = root.path().join("AGENTS.md");
        let text = std::fs::read_to_string(&path).expect("read");
        std::fs::write(&path, text.trim_end()).expect("written");
        let stale: Vec<FileReport> = board
            .check_generated("agents", &[])
            .expect("checked")
            .into_iter()
            .filter(|report| !report.is_current())
            .collect();
        assert_eq!((stale.len(), stale[0].status, stale[0].reason), (1, "stale", Some("trailing-newline")));
        board.sync_generated("agents", &[], false, false).expect("repaired");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), text);
    }
}
