//! `guided setup`: makes Claude Code of this user start the server, call its tools without asking, and ask its hooks.
//!
//! The server is written into Claude Code's own file as `config` does it; leave and hooks into its `settings.json`. What
//! is there already stays, also a server of the same name that somebody else wrote, unless `--force` says otherwise; a second
//! setup changes nothing, or only where this executable lies.

use std::path::{Path, PathBuf};

use clients::{ClientPaths, Existing, Launch, Ledger, Scope};
use guided::files;
use guided::hooks;
use model::SystemClock;
use serde_json::{Map, Value, json};

use super::cli::OWN_NAME;
use crate::commands::config;
use crate::failure::{Exit, Failure};
use crate::{out, profile};

/// What is read of the settings.
const SETTINGS_BYTES: u64 = 4 * 1024 * 1024;

/// Claude Code's word for all tools of our server.
const LEAVE: &str = "mcp__deepwork";

/// What the server is started with.
const ARGUMENTS: [&str; 4] = ["guided", "serve", "--platform", "claude"];

/// After which of its tools Claude Code asks which hook.
const HOOKS: [(&str, &str); 2] = [("Write|Edit", hooks::WRITE), ("Bash", hooks::COMMIT)];

pub(crate) fn run(force: bool) -> Result<u8, Failure> {
    let paths = config::paths()?;
    let program = config::executable()?;
    server(&paths, &program, force)?;
    let file = settings_file(&paths);
    if write_settings(&file, &program)? {
        out::note(&format!("written: `{}`", file.display()));
    } else {
        out::note(&format!("`{}` has it already", file.display()));
    }
    out::note("Claude Code sees it when it is started the next time; `/mcp` there lists `deepwork`");
    Ok(0)
}

/// Registers the server.
fn server(paths: &ClientPaths, program: &str, force: bool) -> Result<(), Failure> {
    let failed = |error: clients::Error| Failure::from_error(Exit::Environment, &error);
    let Some(client) = clients::client("claude-code") else { return Ok(()) };
    let launch = Launch::new(OWN_NAME, program, ARGUMENTS).map_err(failed)?;
    let change = clients::plan(client, Scope::User, &launch, paths).map_err(failed)?;
    let ledger = Ledger::at(profile::workflow_home()?.join("clients.json"));
    let is_ours = ledger.find(change.client, &change.file, &change.key).map_err(failed)?.is_some()
        || change.before.as_deref().is_some_and(starts_us);
    if change.existing == Existing::Different && !is_ours && !force {
        return Err(Failure::environment(format!(
            "`{}` has a server `{OWN_NAME}` already, which was not written by this command; nothing was changed",
            change.target.display()
        ))
        .hinted("`--force` replaces it; or remove it there first"));
    }
    let written = clients::apply(&change, &ledger, &SystemClock).map_err(failed)?;
    let file = written.target.display();
    out::note(&if written.changed { format!("written: `{file}`") } else { format!("`{file}` has it already") });
    Ok(())
}

/// Tells whether the entry that is there starts this server, from wherever: an earlier setup wrote it.
fn starts_us(text: &str) -> bool {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    file["mcpServers"][OWN_NAME]["args"] == json!(ARGUMENTS)
}

fn settings_file(paths: &ClientPaths) -> PathBuf {
    let folder = paths.claude_config_dir.clone().unwrap_or_else(|| paths.home.join(".claude"));
    folder.join("settings.json")
}

/// Adds leave and hooks to the settings; tells whether anything had to be written.
fn write_settings(file: &Path, program: &str) -> Result<bool, Failure> {
    let failed = |error: files::FileError| Failure::from_error(Exit::Environment, &error);
    // The settings may be a link into a folder that is kept elsewhere; that one is written.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let before = match files::read_text(&target, SETTINGS_BYTES) {
        Ok(text) => text,
        Err(error) if error.is_not_found() => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let text = if before.trim().is_empty() { "{}" } else { &before };
    let refused = |why: &str| {
        Failure::environment(format!("`{}` {why}, and was left as it is", file.display()))
            .hinted("mend it and try again")
    };
    let old: Value = serde_json::from_str(text).map_err(|error| refused(&format!("is no JSON ({error})")))?;
    let mut settings = old.clone();
    let object = settings.as_object_mut().ok_or_else(|| refused("holds no object"))?;
    add(object, program).ok_or_else(|| refused("holds `permissions` or `hooks` of an unknown form"))?;
    if settings == old {
        return Ok(false);
    }
    if !before.is_empty() {
        let backup = target.with_extension("json.before-setup");
        files::write(&backup, before.as_bytes()).map_err(failed)?;
    }
    files::write(&target, format!("{settings:#}\n").as_bytes()).map_err(failed)?;
    Ok(true)
}

/// `None`: something there has another form than Claude Code gives it.
fn add(settings: &mut Map<String, Value>, program: &str) -> Option<()> {
    let permissions = settings.entry("permissions").or_insert_with(|| json!({})).as_object_mut()?;
    let allowed = permissions.entry("allow").or_insert_with(|| json!([])).as_array_mut()?;
    if !allowed.iter().any(|rule| rule == LEAVE) {
        allowed.push(LEAVE.into());
    }
    let hooks = settings.entry("hooks").or_insert_with(|| json!({})).as_object_mut()?;
    let entries = hooks.entry("PostToolUse").or_insert_with(|| json!([])).as_array_mut()?;
    for (matcher, name) in HOOKS {
        let command = format!("{} guided hook {name}", quoted(program));
        let ending = format!(" guided hook {name}");
        // One of an earlier setup, whose executable may have lain elsewhere.
        let known = entries
            .iter_mut()
            .filter_map(|entry| entry.get_mut("hooks")?.as_array_mut())
            .flatten()
            .filter_map(|hook| hook.get_mut("command"))
            .find(|known| known.as_str().is_some_and(|known| known.ends_with(&ending)));
        match known {
            Some(known) => *known = command.into(),
            None => {
                entries.push(json!({ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] }));
            }
        }
    }
    Some(())
}

/// Claude Code gives a hook's command to a shell.
fn quoted(path: &str) -> String {
    let plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte));
    if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &Path) -> Value {
        serde_json::from_str(&std::fs::read_to_string(file).expect("readable")).expect("JSON")
    }

    #[test]
    fn what_is_there_stays_and_a_second_setup_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("settings.json");
        let own = json!({ "model": "x", "permissions": { "deny": ["Read(.env)"], "allow": ["Bash(ls)"] },
            "hooks": { "PostToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine" }] }] } });
        std::fs::write(&file, own.to_string()).expect("written");
        assert!(write_settings(&file, "/opt/workflow code/it's").expect("written"));
        let first = read(&file);
        assert_eq!(first["permissions"], json!({ "deny": ["Read(.env)"], "allow": ["Bash(ls)", LEAVE] }));
        assert_eq!(first["hooks"]["PostToolUse"].as_array().map(Vec::len), Some(3));
        assert_eq!(first["hooks"]["PostToolUse"][0], own["hooks"]["PostToolUse"][0]);
        assert_eq!(
            first["hooks"]["PostToolUse"][1]["hooks"][0]["command"],
            r"'/opt/workflow code/it'\''s' guided hook deepschema_write"
        );
        assert!(!write_settings(&file, "/opt/workflow code/it's").expect("read"));
        // Moved: its hooks follow, and stay two.
        assert!(write_settings(&file, "/usr/bin/workflow-code").expect("written"));
        let moved = read(&file);
        assert_eq!(moved["hooks"]["PostToolUse"].as_array().map(Vec::len), Some(3));
        assert_eq!(
            moved["hooks"]["PostToolUse"][2]["hooks"][0]["command"],
            "/usr/bin/workflow-code guided hook post_commit_reminder"
        );
    }

    #[test]
    fn settings_that_cannot_be_read_are_left_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("settings.json");
        assert!(write_settings(&file, "x").expect("made"));
        for text in ["{oops", "[]", "{\"permissions\": []}", "{\"hooks\": {\"PostToolUse\": {}}}"] {
            std::fs::write(&file, text).expect("written");
            assert!(write_settings(&file, "x").is_err(), "{text}");
            assert_eq!(std::fs::read_to_string(&file).expect("readable"), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, real) = (folder.path().join("settings.json"), folder.path().join("real.json"));
        std::fs::write(&real, "{}").expect("written");
        std::os::unix::fs::symlink(&real, &file).expect("linked");
        assert!(write_settings(&file, "x").expect("written"));
        assert!(file.is_symlink() && read(&real)["hooks"].is_object());
    }
}
