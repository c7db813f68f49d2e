//! What a coding agent gets in a repository: the server's registration, hooks, commands and a skill.
//!
//! Files that are the user's are merged: a ledger says what is ours, so that taking it away takes nothing else.

use serde_json::{Map, Value, json};

use crate::board::Board;
use crate::error::{BoardError, Result};
use crate::files;
use crate::generated::{FileReport, Style, Template, VERSION};

/// The command that has to work on every machine that checks the repository out.
pub(crate) const COMMAND: &str = "workflow-code";
const MCP_FILE: &str = ".mcp.json";
const SETTINGS_FILE: &str = ".claude/settings.json";
const KEY: &str = "workfile";
const EVENTS: [(&str, &str, &str); 3] = [
    ("SessionStart", "*", "session-start"),
    ("PreToolUse", "Edit|Write|NotebookEdit", "pre-tool-use"),
    ("PostToolUse", "*", "post-tool-use"),
];

fn server() -> Value {
    json!({ "command": COMMAND, "args": ["board", "mcp"], "env": {} })
}

fn hook(event: &str) -> Value {
    let (_, matcher, word) = EVENTS.into_iter().find(|(name, _, _)| *name == event).unwrap_or(EVENTS[0]);
    let mut command = Map::from_iter([
        ("type".to_owned(), json!("command")),
        ("command".to_owned(), json!(format!("{COMMAND} board hook {word}"))),
    ]);
    if event == "PostToolUse" {
        command.insert("async".into(), json!(true));
    }
    json!({ "matcher": matcher, "hooks": [command] })
}

fn is_our_hook(entry: &Value) -> bool {
    entry.get("hooks").and_then(Value::as_array).is_some_and(|hooks| {
        hooks.iter().any(|hook| {
            hook.get("command").and_then(Value::as_str).is_some_and(|command| command.contains("board hook "))
        })
    })
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

    /// The two merged files as they should be, with what differs.
    fn merged(&self, path: &str, now: Option<&Map<String, Value>>) -> (Map<String, Value>, Vec<String>) {
        let mut map = now.cloned().unwrap_or_default();
        let mut differing = Vec::new();
        if path == MCP_FILE {
            let servers = map.entry("mcpServers").or_insert_with(|| json!({}));
            if let Value::Object(servers) = servers
                && servers.get(KEY) != Some(&server())
            {
                servers.insert(KEY.into(), server());
                differing.push(format!("mcpServers.{KEY}"));
            }
            return (map, differing);
        }
        let hooks = map.entry("hooks").or_insert_with(|| json!({}));
        if let Value::Object(hooks) = hooks {
            for (event, _, _) in EVENTS {
                let list = hooks.entry(event).or_insert_with(|| json!([]));
                let Value::Array(entries) = list else { continue };
                let own: Vec<&Value> = entries.iter().filter(|entry| is_our_hook(entry)).collect();
                if own != [&hook(event)] {
                    // What the user added beside stays where it is.
                    entries.retain(|entry| !is_our_hook(entry));
                    entries.push(hook(event));
                    differing.push(format!("hooks.{event}"));
                }
            }
        }
        (map, differing)
    }

    /// Writes the surface.
    ///
    /// # Errors
    ///
    /// `GENERATED_FILE_UNMANAGED`, or when a file cannot be written. A settings file that is no JSON is left alone and
    /// reported as `conflict`.
    pub fn install_surface(&self, force: bool, dry: bool) -> Result<Vec<FileReport>> {
        let mut reports = Vec::new();
        for path in [MCP_FILE, SETTINGS_FILE] {
            match self.settings(path) {
                Err(conflict) => reports.push(conflict),
                Ok(now) => {
                    let (map, keys) = self.merged(path, now.as_ref());
                    if keys.is_empty() {
                        reports.push(FileReport::new(path, "current"));
                        continue;
                    }
                    if !dry {
                        self.workspace().writable()?;
                        self.write_json(path, &map)?;
                    }
                    reports.push(FileReport { keys, ..FileReport::new(path, "written") });
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
            let keys = json!({ "mcp": [format!("mcpServers.{KEY}")], "hooks": EVENTS.map(|(event, _, _)| format!("hooks.{event}")) });
            let ledger = json!({ "keys": keys, "version": VERSION });
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
        let mut reports = Vec::new();
        for path in [MCP_FILE, SETTINGS_FILE] {
            reports.push(match self.settings(path) {
                Err(conflict) => conflict,
                Ok(None) => FileReport::new(path, "missing"),
                Ok(Some(now)) => {
                    let (_, keys) = self.merged(path, Some(&now));
                    let status = if keys.is_empty() { "current" } else { "stale" };
                    FileReport { keys, ..FileReport::new(path, status) }
                }
            });
        }
        reports.extend(self.surface_templates().iter().map(|template| template.check(self)));
        reports
    }

    /// Takes away exactly what was installed.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn uninstall_surface(&self) -> Result<Vec<FileReport>> {
        self.workspace().writable()?;
        let mut reports = Vec::new();
        for path in [MCP_FILE, SETTINGS_FILE] {
            let mut map = match self.settings(path) {
                Ok(Some(map)) => map,
                Ok(None) => continue,
                Err(conflict) => {
                    reports.push(conflict);
                    continue;
                }
            };
            let before = map.clone();
            let parent = if path == MCP_FILE { "mcpServers" } else { "hooks" };
            if let Some(Value::Object(inner)) = map.get_mut(parent) {
                if path == MCP_FILE {
                    inner.remove(KEY);
                } else {
                    for (event, _, _) in EVENTS {
                        if let Some(Value::Array(entries)) = inner.get_mut(event) {
                            entries.retain(|entry| !is_our_hook(entry));
                            if entries.is_empty() {
                                inner.remove(event);
                            }
                        }
                    }
                }
                if inner.is_empty() {
                    map.remove(parent);
                }
            }
            if map == before {
                continue;
            }
            let at = self.workspace().at(path);
            if map.is_empty() {
                std::fs::remove_file(&at).map_err(|error| BoardError::io("removed", &at, error))?;
            } else {
                self.write_json(path, &map)?;
            }
            reports.push(FileReport::new(path, "removed"));
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

    /// The files of the plugin form, made from the same source: path and content.
    #[must_use]
    pub fn plugin_files(&self) -> Vec<(String, String)> {
        let pretty = |value: Value| format!("{}\n", serde_json::to_string_pretty(&value).unwrap_or_default());
        let server = json!({ "mcpServers": { KEY: { "command": COMMAND, "args": ["board", "mcp", "--root", "${CLAUDE_PROJECT_DIR}"] } } });
        let hooks: Map<String, Value> =
            EVENTS.iter().map(|(event, _, _)| ((*event).to_owned(), json!([hook(event)]))).collect();
        let mut found = vec![
            (
                ".claude-plugin/plugin.json".to_owned(),
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

    #[test]
    fn settings_that_are_no_json_are_left_alone() {
        let (root, board) = board();
        fs::write(root.path().join(MCP_FILE), "{ broken").expect("written");
        let reports = board.install_surface(false, false).expect("the rest");
        assert_eq!(reports[0].status, "conflict");
        assert_eq!(fs::read_to_string(root.path().join(MCP_FILE)).expect("kept"), "{ broken");
    }
}
