//! What a coding agent gets in a repository: the server's registration, hooks, commands and a skill.
//!
//! Files that are the user's are merged: a ledger says what is ours, so that taking it away takes nothing else.

use serde_json::{Map, Value, json};

use crate::board::Board;
use crate::doctor::{Issue, Severity};
use crate::error::{BoardError, Result, refuse};
use crate::files;
use crate::generated::{FileReport, Style, Template, VERSION};

/// The command that has to work on every machine that checks the repository out.
pub(crate) const COMMAND: &str = "workflow-code";
const MCP_FILE: &str = ".mcp.json";
const SETTINGS_FILE: &str = ".claude/settings.json";
const KEY: &str = "workfile";
/// What says that a folder is a plugin, and whose.
const MANIFEST: &str = ".claude-plugin/plugin.json";
const EVENTS: [(&str, &str, &str); 3] = [
    ("SessionStart", "*", "session-start"),
    ("PreToolUse", "Edit|Write|NotebookEdit", "pre-tool-use"),
    ("PostToolUse", "*", "post-tool-use"),
];

fn server() -> Value {
    json!({ "command": COMMAND, "args": ["board", "mcp"], "env": {} })
}

fn hook(event: &str) -> Value {
    let (_, matcher, _) = EVENTS.into_iter().find(|(name, _, _)| *name == event).unwrap_or(EVENTS[0]);
    let mut command =
        Map::from_iter([("type".to_owned(), json!("command")), ("command".to_owned(), json!(hook_command(event)))]);
    if event == "PostToolUse" {
        command.insert("async".into(), json!(true));
    }
    json!({ "matcher": matcher, "hooks": [command] })
}

/// The command that is run for an event.
fn hook_command(event: &str) -> String {
    let word = EVENTS.into_iter().find(|(name, _, _)| *name == event).map_or("", |(_, _, word)| word);
    format!("{COMMAND} board hook {word}")
}

/// What an earlier version or another program of this format ran, when a ledger names the event but no commands.
fn has_the_form_of_ours(command: &str) -> bool {
    [COMMAND, "workfile"].iter().any(|program| {
        let rest =
            command.strip_prefix(program).and_then(|rest| rest.trim_start().strip_prefix("board ").or(Some(rest)));
        rest.and_then(|rest| rest.trim_start().strip_prefix("hook "))
            .is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
    })
}

/// What was installed before, as the ledger says.
#[derive(Debug, Default)]
struct Ledger {
    /// `parent.child` in the registration's file.
    mcp: Vec<String>,
    /// `parent.child` in the settings.
    hooks: Vec<String>,
    /// The commands that were written there; older ledgers do not say.
    commands: Option<Vec<String>>,
}

impl Ledger {
    fn keys(&self, path: &str) -> &[String] {
        if path == MCP_FILE { &self.mcp } else { &self.hooks }
    }

    /// Exactly what is generated now, or what was written before.
    fn is_ours(&self, event: &str, command: &str) -> bool {
        command == hook_command(event)
            || match &self.commands {
                Some(commands) => commands.iter().any(|one| one == command),
                None => {
                    self.hooks.iter().any(|key| key.strip_prefix("hooks.") == Some(event))
                        && has_the_form_of_ours(command)
                }
            }
    }
}

/// What is generated now.
fn generated_keys(path: &str) -> Vec<String> {
    if path == MCP_FILE {
        vec![format!("mcpServers.{KEY}")]
    } else {
        EVENTS.iter().map(|(event, _, _)| format!("hooks.{event}")).collect()
    }
}

/// Takes commands out of an event's groups. A group that held nothing else goes; one that holds more keeps the rest.
fn take_out(groups: &mut Vec<Value>, is_ours: &dyn Fn(&str) -> bool) -> bool {
    let mut taken = false;
    groups.retain_mut(|group| {
        let Some(Value::Array(hooks)) = group.get_mut("hooks") else { return true };
        let before = hooks.len();
        hooks.retain(|hook| !hook.get("command").and_then(Value::as_str).is_some_and(is_ours));
        taken |= hooks.len() < before;
        hooks.len() == before || !hooks.is_empty()
    });
    taken
}

/// A file that is the user's, with what of it is ours put right or taken away.
struct Merged {
    map: Map<String, Value>,
    /// Keys that differ from what they should be.
    keys: Vec<String>,
    /// A key that holds something that nothing can be put into.
    conflict: Option<String>,
}

impl Merged {
    fn new(map: Map<String, Value>) -> Self {
        Self { map, keys: Vec::new(), conflict: None }
    }

    /// Puts what is generated into its place.
    fn put(&mut self, path: &str, ledger: &Ledger) {
        let parent = if path == MCP_FILE { "mcpServers" } else { "hooks" };
        let Value::Object(inner) = self.map.entry(parent).or_insert_with(|| json!({})) else {
            self.conflict = Some(parent.to_owned());
            return;
        };
        if path == MCP_FILE {
            if inner.get(KEY) != Some(&server()) {
                inner.insert(KEY.into(), server());
                self.keys.push(format!("{parent}.{KEY}"));
            }
            return;
        }
        for (event, _, _) in EVENTS {
            let (key, generated) = (format!("{parent}.{event}"), hook(event));
            let Value::Array(groups) = inner.entry(event).or_insert_with(|| json!([])) else {
                self.conflict = Some(key);
                return;
            };
            let is_ours = |command: &str| ledger.is_ours(event, command);
            let mut without = groups.clone();
            let own = groups.iter().filter(|group| **group == generated).count();
            without.retain(|group| *group != generated);
            // Once, and nowhere else.
            if own != 1 || take_out(&mut without, &is_ours) {
                take_out(groups, &is_ours);
                groups.push(generated);
                self.keys.push(key);
            }
        }
    }

    /// Takes away what a ledger names, or what is exactly what would be written.
    fn take(&mut self, key: &str, ledger: &Ledger) {
        let Some((parent, child)) = key.split_once('.') else { return };
        let Some(Value::Object(inner)) = self.map.get_mut(parent) else { return };
        let is_named =
            ledger.keys(if parent == "hooks" { SETTINGS_FILE } else { MCP_FILE }).iter().any(|one| one == key);
        let taken = match inner.get_mut(child) {
            None => return,
            Some(Value::Array(groups)) if parent == "hooks" => {
                let taken = take_out(groups, &|command| ledger.is_ours(child, command));
                if taken && groups.is_empty() {
                    inner.remove(child);
                }
                taken
            }
            Some(value) => {
                let taken = is_named || key == format!("mcpServers.{KEY}") && *value == server();
                if taken {
                    inner.remove(child);
                }
                taken
            }
        };
        if taken {
            if inner.is_empty() {
                self.map.remove(parent);
            }
            self.keys.push(key.to_owned());
        }
    }
}

fn commands() -> Vec<(&'static str, String)> {
    let make = |description: &str, tools: &str, body: &str| {
        format!("---\ndescription: {description}\nallowed-tools: {tools}\n---\n\n{body}\n")
    };
    vec![
        (
            "next",
            make(
                "Cards that can be started now",
                "Bash(workflow-code board next *)",
                "Run `workflow-code board next --json` and say which card to start, and why. Do not claim it yet.",
            ),
        ),
        (
            "claim",
            make(
                "Claim a card with the paths you will touch",
                "Bash(workflow-code board card claim *)",
                "Claim card $ARGUMENTS with `workflow-code board card claim`, and pass `--scope` with the paths you will really touch. Report every overlap.",
            ),
        ),
        (
            "done",
            make(
                "Prove a card and close it",
                "Bash(workflow-code board card transition *)",
                "Prove every acceptance criterion of $ARGUMENTS, tick it, then run `workflow-code board card transition $ARGUMENTS done`.",
            ),
        ),
        (
            "card-context",
            make(
                "What belongs to a card",
                "Bash(workflow-code board agents context *)",
                "Run `workflow-code board agents context --card $ARGUMENTS` and keep to the rules it names.",
            ),
        ),
    ]
}

impl Board {
    fn surface_templates(&self) -> Vec<Template> {
        let mut found: Vec<Template> = commands()
            .into_iter()
            .map(|(name, content)| Template {
                path: format!(".claude/commands/{name}.md"),
                kind: "command",
                style: Style::Header,
                content,
            })
            .collect();
        let skill = format!(
            "---\nname: workfile\ndescription: How to work with the cards, documents, changes and memory of this repository\n---\n\n{}",
            self.protocol_text()
        );
        found.push(Template {
            path: ".claude/skills/workfile/SKILL.md".into(),
            kind: "skill",
            style: Style::Header,
            content: skill,
        });
        found
    }

    fn ledger_path(&self) -> String {
        format!("{}/generated/claude-code.json", self.config().storage_root)
    }

    /// Reads a JSON file that is somebody's: `None` when it is missing, an error in the report when it is no object.
    fn settings(&self, path: &str) -> std::result::Result<Option<Map<String, Value>>, FileReport> {
        match files::read(&self.workspace().at(path), 4 * 1024 * 1024) {
            Ok((text, _)) if text.trim().is_empty() => Ok(None),
            Ok((text, _)) => match serde_json::from_str(&text) {
                Ok(Value::Object(map)) => Ok(Some(map)),
                _ => Err(FileReport { reason: Some("not-json"), ..FileReport::new(path, "conflict") }),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(_) => Err(FileReport { reason: Some("unreadable"), ..FileReport::new(path, "conflict") }),
        }
    }

    fn ledger(&self) -> Ledger {
        let text = files::read(&self.workspace().at(&self.ledger_path()), 4 * 1024 * 1024).map(|(text, _)| text);
        let found: Value = text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let list = |value: &Value| -> Option<Vec<String>> {
            Some(value.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        };
        Ledger {
            mcp: list(&found["keys"]["mcp"]).unwrap_or_default(),
            hooks: list(&found["keys"]["hooks"]).unwrap_or_default(),
            commands: list(&found["commands"]),
        }
    }

    /// A merged file as it should be: what is generated put in, what the ledger has and nobody generates any more taken
    /// out.
    fn merged(path: &str, now: Option<Map<String, Value>>, ledger: &Ledger) -> std::result::Result<Merged, FileReport> {
        let mut merged = Merged::new(now.unwrap_or_default());
        merged.put(path, ledger);
        if let Some(key) = merged.conflict {
            return Err(FileReport { keys: vec![key], reason: Some("shape"), ..FileReport::new(path, "conflict") });
        }
        let generated = generated_keys(path);
        for key in ledger.keys(path).iter().filter(|key| !generated.contains(key)) {
            merged.take(key, ledger);
        }
        Ok(merged)
    }

    /// Writes the surface.
    ///
    /// # Errors
    ///
    /// `GENERATED_FILE_UNMANAGED`, or when a file cannot be written. A settings file that is no JSON, or that nothing can be
    /// put into, is left alone and reported as `conflict`.
    pub fn install_surface(&self, force: bool, dry: bool) -> Result<Vec<FileReport>> {
        if !dry {
            self.workspace().writable()?;
        }
        let mut reports = Vec::new();
        let before = self.ledger();
        let mut keys = Map::new();
        for (path, name) in [(MCP_FILE, "mcp"), (SETTINGS_FILE, "hooks")] {
            match self.settings(path).and_then(|now| Self::merged(path, now, &before)) {
                Err(conflict) => {
                    keys.insert(name.into(), json!(before.keys(path)));
                    reports.push(conflict);
                }
                Ok(merged) => {
                    keys.insert(name.into(), json!(generated_keys(path)));
                    if merged.keys.is_empty() {
                        reports.push(FileReport::new(path, "current"));
                        continue;
                    }
                    if !dry {
                        self.write_json(path, &merged.map)?;
                    }
                    reports.push(FileReport { keys: merged.keys, ..FileReport::new(path, "written") });
                }
            }
        }
        for template in self.surface_templates() {
            reports.push(template.sync(self, force, dry)?);
        }
        // The command had a name that hid the client's own.
        let old = Template {
            path: ".claude/commands/context.md".into(),
            kind: "command",
            style: Style::Header,
            content: String::new(),
        };
        if !dry {
            reports.extend(old.remove(self)?);
            let commands = EVENTS.map(|(event, _, _)| hook_command(event));
            let ledger = json!({ "keys": keys, "commands": commands, "version": VERSION });
            self.write_json(&self.ledger_path(), ledger.as_object().unwrap_or(&Map::new()))?;
        }
        Ok(reports)
    }

    fn write_json(&self, path: &str, map: &Map<String, Value>) -> Result<()> {
        let text = serde_json::to_string_pretty(map).unwrap_or_default();
        files::write(&self.workspace().at(path), &format!("{text}\n"))
    }

    /// Says how the surface stands.
    #[must_use]
    pub fn check_surface(&self) -> Vec<FileReport> {
        let ledger = self.ledger();
        let mut reports = Vec::new();
        for path in [MCP_FILE, SETTINGS_FILE] {
            reports.push(match self.settings(path) {
                Err(conflict) => conflict,
                Ok(None) => FileReport::new(path, "missing"),
                Ok(now) => Self::merged(path, now, &ledger).map_or_else(
                    |conflict| conflict,
                    |merged| {
                        let status = if merged.keys.is_empty() { "current" } else { "stale" };
                        FileReport { keys: merged.keys, ..FileReport::new(path, status) }
                    },
                ),
            });
        }
        reports.extend(self.surface_templates().iter().map(|template| template.check(self)));
        reports
    }

    /// What is wrong with the surface, as the doctor says it; `runs` is whether the hooks' command can be run here.
    #[must_use]
    pub fn surface_issues(&self, reports: &[FileReport], runs: bool) -> Vec<Value> {
        let mut found: Vec<Issue> = reports
            .iter()
            .filter_map(|report| {
                let (severity, code) = match report.status {
                    "missing" => (Severity::Info, "claude-surface-missing"),
                    "stale" => (Severity::Warning, "claude-surface-stale"),
                    "unmanaged" | "conflict" => (Severity::Warning, "claude-surface-unmanaged"),
                    _ => return None,
                };
                let issue = Issue::new(severity, "claude", code, format!("This file is {}.", report.status));
                let issue = issue.at(&report.path);
                Some(match (&report.reason, report.keys.is_empty()) {
                    (None, true) => issue,
                    (reason, _) => issue.with(json!({ "reason": reason, "keys": report.keys })),
                })
            })
            .collect();
        if !runs {
            let message = format!("The hooks run `{COMMAND}`, and there is no such program here.");
            let issue = Issue::new(Severity::Warning, "claude", "claude-hook-unreachable", message);
            found.push(issue.at(SETTINGS_FILE).with(json!({ "command": COMMAND })));
        }
        found.iter().map(Issue::to_json).collect()
    }

    /// Takes away exactly what was installed: what the ledger names, and what is to the letter what is generated.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn uninstall_surface(&self) -> Result<Vec<FileReport>> {
        self.workspace().writable()?;
        let ledger = self.ledger();
        let mut reports = Vec::new();
        for path in [MCP_FILE, SETTINGS_FILE] {
            let mut merged = match self.settings(path) {
                Ok(Some(map)) => Merged::new(map),
                Ok(None) => continue,
                Err(conflict) => {
                    reports.push(conflict);
                    continue;
                }
            };
            let mut keys = generated_keys(path);
            keys.extend(ledger.keys(path).iter().filter(|key| !generated_keys(path).contains(key)).cloned());
            for key in &keys {
                merged.take(key, &ledger);
            }
            if merged.keys.is_empty() {
                continue;
            }
            let at = self.workspace().at(path);
            if merged.map.is_empty() {
                std::fs::remove_file(&at).map_err(|error| BoardError::io("removed", &at, error))?;
            } else {
                self.write_json(path, &merged.map)?;
            }
            reports.push(FileReport { keys: merged.keys, ..FileReport::new(path, "removed") });
        }
        for template in self.surface_templates() {
            reports.extend(template.remove(self)?);
        }
        let _ = std::fs::remove_file(self.workspace().at(&self.ledger_path()));
        for folder in [".claude/skills/workfile", ".claude/commands"] {
            files::remove_empty(self.root(), folder, "");
        }
        Ok(reports)
    }

    /// Writes the plugin form into a folder. What is there and is no plugin of ours is not overwritten, unless by `force`;
    /// nothing is written then.
    ///
    /// # Errors
    ///
    /// `GENERATED_FILE_UNMANAGED`, `CLI_ARGUMENT_INVALID` when the folder cannot be written.
    pub fn write_plugin(&self, into: &std::path::Path, force: bool) -> Result<Vec<String>> {
        let found = self.plugin_files();
        let text = |path: &str| files::read(&into.join(path), 4 * 1024 * 1024).map(|(text, _)| text);
        let manifest: Value = text(MANIFEST).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let is_ours = manifest.get("name") == Some(&json!(KEY));
        let foreign: Vec<&str> = found
            .iter()
            .filter(|(path, content)| match text(path) {
                Ok(now) => now != *content && !is_ours,
                Err(error) => error.kind() != std::io::ErrorKind::NotFound && into.join(path).exists(),
            })
            .map(|(path, _)| path.as_str())
            .collect();
        if !foreign.is_empty() && !force {
            return Err(refuse!(
                "GENERATED_FILE_UNMANAGED",
                "these files were not generated; --force overwrites them: {}",
                foreign.join(", ")
            )
            .with(json!({ "paths": foreign })));
        }
        for (path, content) in &found {
            files::write(&into.join(path), content)
                .map_err(|error| BoardError { code: "CLI_ARGUMENT_INVALID", ..error })?;
        }
        Ok(found.into_iter().map(|(path, _)| path).collect())
    }

    /// The files of the plugin form, made from the same source: path and content.
    fn plugin_files(&self) -> Vec<(String, String)> {
        let pretty = |value: Value| format!("{}\n", serde_json::to_string_pretty(&value).unwrap_or_default());
        let server = json!({ "mcpServers": { KEY: { "command": COMMAND, "args": ["board", "mcp", "--root", "${CLAUDE_PROJECT_DIR}"] } } });
        let hooks: Map<String, Value> =
            EVENTS.iter().map(|(event, _, _)| ((*event).to_owned(), json!([hook(event)]))).collect();
        let mut found = vec![
            (
                MANIFEST.to_owned(),
                pretty(
                    json!({ "name": "workfile", "version": VERSION, "description": "Work records of a repository for people and agents" }),
                ),
            ),
            (".mcp.json".to_owned(), pretty(server)),
            ("hooks/hooks.json".to_owned(), pretty(json!({ "hooks": hooks }))),
        ];
        for template in self.surface_templates() {
            let path = template.path.trim_start_matches(".claude/").to_owned();
            found.push((path, template.content));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;
    use std::fs;

    fn board() -> (tempfile::TempDir, Board) {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join("project.config.mjs"), "export default {};").expect("written");
        let board = Board::new(Workspace::open(None, root.path(), false).expect("a workspace"));
        (root, board)
    }

    #[test]
    fn what_is_installed_is_current_and_goes_again_without_a_trace() {
        let (root, board) = board();
        let settings = root.path().join(SETTINGS_FILE);
        fs::create_dir_all(root.path().join(".claude")).expect("made");
        let own = json!({ "model": "x", "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine" }] }] } });
        fs::write(&settings, own.to_string()).expect("written");
        fs::create_dir_all(root.path().join(".claude/commands")).expect("made");
        fs::write(
            root.path().join(".claude/commands/context.md"),
            "---\n# workfile kind=command version=0 digest=x\n---\n",
        )
        .expect("written");
        board.install_surface(false, false).expect("installed");
        assert!(board.check_surface().iter().all(FileReport::is_current));
        assert!(!root.path().join(".claude/commands/context.md").exists());
        let text = fs::read_to_string(root.path().join(MCP_FILE)).expect("registered");
        let mcp: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(mcp["mcpServers"]["workfile"]["command"], "workflow-code");
        assert!(board.install_surface(false, false).expect("again").iter().all(|report| report.status == "current"));
        board.uninstall_surface().expect("removed");
        let left: Value = serde_json::from_str(&fs::read_to_string(&settings).expect("kept")).expect("JSON");
        assert_eq!(left, own);
        assert!(!root.path().join(MCP_FILE).exists() && !root.path().join(".claude/commands").exists());
    }

    /// Reads a settings file, installs or checks, and gives it back.
    fn written(root: &tempfile::TempDir, path: &str, value: &Value) {
        let at = root.path().join(path);
        fs::create_dir_all(at.parent().expect("a folder")).expect("made");
        fs::write(at, value.to_string()).expect("written");
    }

    fn read(root: &tempfile::TempDir, path: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(root.path().join(path)).expect("there")).expect("JSON")
    }

    #[test]
    fn a_hook_of_the_users_stays_whatever_it_is_called() {
        let (root, board) = board();
        let command = |text: &str| json!({ "type": "command", "command": text });
        let theirs = json!({ "matcher": "*", "hooks": [command("my-dashboard board hook start")] });
        let mixed =
            json!({ "matcher": "Edit", "hooks": [command("workflow-code board hook pre-tool-use"), command("mine")] });
        let kept = json!({ "matcher": "Edit", "hooks": [command("mine")] });
        written(&root, SETTINGS_FILE, &json!({ "hooks": { "SessionStart": [theirs], "PreToolUse": [mixed] } }));
        board.install_surface(false, false).expect("installed");
        let hooks = read(&root, SETTINGS_FILE)["hooks"].clone();
        assert_eq!(hooks["SessionStart"], json!([theirs, hook("SessionStart")]));
        assert_eq!(hooks["PreToolUse"], json!([kept, hook("PreToolUse")]));
        assert!(board.check_surface().iter().all(FileReport::is_current));
        board.uninstall_surface().expect("removed");
        assert_eq!(read(&root, SETTINGS_FILE), json!({ "hooks": { "SessionStart": [theirs], "PreToolUse": [kept] } }));
    }

    #[test]
    fn what_the_ledger_has_and_nobody_generates_any_more_goes_and_nothing_else() {
        let (root, board) = board();
        board.install_surface(false, false).expect("installed");
        let mut mcp = read(&root, MCP_FILE);
        mcp["mcpServers"]["old"] = json!({ "command": "x" });
        mcp["mcpServers"]["mine"] = json!({ "command": "y" });
        mcp["gone"] = json!({ "a": 1 });
        written(&root, MCP_FILE, &mcp);
        let mut settings = read(&root, SETTINGS_FILE);
        let stop = |text: &str| json!({ "type": "command", "command": text });
        settings["hooks"]["Stop"] = json!([{ "hooks": [stop("workflow-code board hook stop"), stop("theirs")] }]);
        written(&root, SETTINGS_FILE, &settings);
        let mut ledger =
            json!({ "keys": { "mcp": ["mcpServers.workfile", "mcpServers.old", "gone.a"], "hooks": ["hooks.Stop"] } });
        written(&root, &board.ledger_path(), &ledger);
        let check = board.check_surface();
        assert_eq!((check[0].status, &check[0].keys), ("stale", &vec!["mcpServers.old".to_owned(), "gone.a".into()]));
        assert_eq!((check[1].status, &check[1].keys), ("stale", &vec!["hooks.Stop".to_owned()]));
        board.install_surface(false, false).expect("installed");
        let mcp = read(&root, MCP_FILE);
        assert!(mcp["mcpServers"]["old"].is_null() && mcp.get("gone").is_none());
        assert_eq!(read(&root, SETTINGS_FILE)["hooks"]["Stop"], json!([{ "hooks": [stop("theirs")] }]));
        // What a ledger says goes also when somebody changed it since; what none says stays.
        ledger["keys"]["mcp"] = json!(["mcpServers.mine"]);
        written(&root, &board.ledger_path(), &ledger);
        let mut mcp = mcp;
        mcp["mcpServers"]["workfile"]["args"] = json!(["theirs"]);
        written(&root, MCP_FILE, &mcp);
        board.uninstall_surface().expect("removed");
        assert_eq!(read(&root, MCP_FILE), json!({ "mcpServers": { "workfile": mcp["mcpServers"]["workfile"] } }));
    }

    #[test]
    fn what_was_never_installed_is_not_uninstalled() {
        let (root, board) = board();
        let own = json!({ "mcpServers": { "workfile": { "command": "npx" } } });
        written(&root, MCP_FILE, &own);
        written(&root, SETTINGS_FILE, &json!({ "hooks": { "Stop": [] } }));
        assert!(board.uninstall_surface().expect("nothing").is_empty());
        assert_eq!(read(&root, MCP_FILE), own);
    }

    #[rstest::rstest]
    #[case(MCP_FILE, json!({ "mcpServers": [] }))]
    #[case(MCP_FILE, json!({ "mcpServers": null }))]
    #[case(SETTINGS_FILE, json!({ "hooks": "x" }))]
    #[case(SETTINGS_FILE, json!({ "hooks": { "PreToolUse": {} } }))]
    fn what_nothing_can_be_put_into_is_a_conflict(#[case] path: &str, #[case] own: Value) {
        let (root, board) = board();
        written(&root, path, &own);
        let is_conflict =
            |reports: &[FileReport]| reports.iter().any(|one| one.path == path && one.status == "conflict");
        assert!(is_conflict(&board.check_surface()));
        assert!(is_conflict(&board.install_surface(false, false).expect("the rest")));
        assert_eq!(read(&root, path), own);
    }

    #[test]
    fn a_plugin_overwrites_nothing_of_somebodys() {
        let (root, board) = board();
        let into = root.path().join("plugin");
        board.write_plugin(&into, false).expect("written");
        fs::write(into.join(".mcp.json"), "{}").expect("an older one");
        board.write_plugin(&into, false).expect("written again");
        assert_ne!(fs::read_to_string(into.join(".mcp.json")).expect("there"), "{}");
        let other = root.path().join("other");
        written(&root, "other/.mcp.json", &json!({ "mcpServers": { "mine": {} } }));
        let error = board.write_plugin(&other, false).expect_err("refused");
        assert_eq!((error.code, error.details), ("GENERATED_FILE_UNMANAGED", Some(json!({ "paths": [".mcp.json"] }))));
        assert!(!other.join(MANIFEST).exists());
        board.write_plugin(&other, true).expect("forced");
        written(&root, "file", &json!(1));
        assert_eq!(
            board.write_plugin(&root.path().join("file"), false).expect_err("no folder").code,
            "CLI_ARGUMENT_INVALID"
        );
    }

    #[test]
    fn settings_that_are_no_json_are_left_alone() {
        let (root, board) = board();
        fs::write(root.path().join(MCP_FILE), "{ broken").expect("written");
        let reports = board.install_surface(false, false).expect("the rest");
        assert_eq!(reports[0].status, "conflict");
        assert_eq!(fs::read_to_string(root.path().join(MCP_FILE)).expect("kept"), "{ broken");
    }
}
