//! Hooks of a coding agent: what a session learns at its start, what it is asked before an edit, and what is noticed after.
//!
//! A hook never fails the session it is called from: what cannot be read counts as nothing.

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::activity::{self, Held, Session};
use crate::actor::{Surroundings, short_session};
use crate::board::one_line;
use crate::files::{self, Stamp};
use crate::workspace::{Workspace, file_name};
use crate::{moment, paths};

/// Files and folders that are looked at after a command.
const MAX_LOOKED_AT: usize = 4000;
/// Files a session is remembered for.
const MAX_TOUCHED: usize = 50;
/// How much of the ledger's end is read.
const LEDGER_TAIL: u64 = 512 * 1024;
/// Folders that a look after a command never enters.
const NEVER: [&str; 3] = [".git", "node_modules", ".project"];

/// What a hook prints.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    /// The exit code: 2 for a word that is no hook, else 0.
    pub exit: u8,
    /// What goes to standard output.
    pub print: Option<Value>,
}

struct Call {
    workspace: Workspace,
    around: Surroundings,
    session: Option<String>,
    input: Value,
}

/// Runs a hook. `folder` is where the client says its project is.
#[must_use]
pub fn run(word: &str, input: &str, folder: Option<&str>, current: &Path, around: &Surroundings) -> Outcome {
    let hook: fn(&Call) -> Option<Value> = match word {
        "session-start" => session_start,
        "pre-tool-use" => pre_tool_use,
        "post-tool-use" => post_tool_use,
        _ => return Outcome { exit: 2, print: None },
    };
    let input: Value = serde_json::from_str(input).ok().filter(Value::is_object).unwrap_or_else(|| json!({}));
    let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let start = folder.or_else(|| text("cwd")).map_or_else(|| current.to_owned(), PathBuf::from);
    let Ok(workspace) = Workspace::open(None, &start, false) else { return Outcome::default() };
    let session = text("session_id").map(str::to_owned);
    let mut around = around.clone();
    if session.is_some() {
        around.session = session.clone();
    }
    let call = Call { workspace, around, session, input };
    Outcome { exit: 0, print: hook(&call) }
}

impl Call {
    fn tool(&self) -> &str {
        self.input.get("tool_name").and_then(Value::as_str).unwrap_or("")
    }

    /// The path a tool writes.
    fn target(&self) -> Option<PathBuf> {
        let tool = self.input.get("tool_input");
        let path = ["file_path", "notebook_path"]
            .into_iter()
            .find_map(|key| tool.and_then(|tool| tool.get(key)).and_then(Value::as_str))
            .filter(|path| !path.is_empty());
        path.map(|path| self.workspace.root().join(path.replace('\\', "/")))
    }

    /// That path relative to the workspace: as it is written, and as the file system has it when that is another. None when
    /// it lies outside.
    fn paths(&self) -> Vec<String> {
        let Some(path) = self.target() else { return Vec::new() };
        let root = plain(self.workspace.root());
        let (real_root, real) = (std::fs::canonicalize(&root).unwrap_or_else(|_| root.clone()), real(&path));
        let mut found: Vec<String> = Vec::new();
        for (path, root) in [(&plain(&path), &root), (&plain(&path), &real_root), (&real, &real_root)] {
            if let Ok(inner) = path.strip_prefix(root) {
                let text = inner.to_string_lossy().into_owned();
                if !found.contains(&text) {
                    found.push(text);
                }
            }
        }
        found
    }

    /// Claims in work that are somebody else's.
    fn foreign(&self) -> Vec<Held> {
        let claims = activity::read(&self.workspace).unwrap_or_else(|| activity::rebuild(&self.workspace));
        claims.into_iter().filter(|claim| claim.status == "doing" && self.is_separate(claim)).collect()
    }

    /// Sessions decide, and names only where there is none.
    fn is_separate(&self, claim: &Held) -> bool {
        let own = self.session.as_deref().map(short_session);
        match (&own, &claim.session) {
            (Some(own), Some(theirs)) => own != theirs,
            (Some(_), None) | (None, Some(_)) => true,
            (None, None) => self.around.actor(None).name != claim.by,
        }
    }

    fn session_path(&self) -> Option<PathBuf> {
        let id = self.session.as_deref()?;
        let folder = activity::folder(self.workspace.config());
        Some(self.workspace.at(&format!("{folder}/sessions/{}.json", file_name(id).replace('.', "_"))))
    }

    /// Says that this session is at work. Returns when it last said so.
    fn signal(&self, touched: Option<&str>) -> Option<i64> {
        let path = self.session_path()?;
        let id = self.session.as_deref()?;
        let before: Value = files::read(&path, 256 * 1024)
            .ok()
            .and_then(|(text, _)| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let now = model::format_timestamp(self.workspace.now());
        let actor = self.around.actor(None).name;
        let card = activity::read(&self.workspace).and_then(|claims| {
            claims
                .into_iter()
                .find(|claim| {
                    claim.status == "doing" && (claim.by == actor || claim.session == Some(short_session(id)))
                })
                .map(|claim| claim.id)
        });
        let mut files: Vec<Value> = before.get("filesTouched").and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(touched) = touched {
            files.retain(|file| file != touched);
            files.push(json!(touched));
            let surplus = files.len().saturating_sub(MAX_TOUCHED);
            files.drain(..surplus);
        }
        let started = before.get("startedAt").and_then(Value::as_str).unwrap_or(&now).to_owned();
        let content = json!({
            "sessionId": id, "actor": actor, "cardId": card, "pid": std::process::id(), "startedAt": started, "lastSignalAt": now,
            "filesTouched": files,
        });
        // A session that cannot be written is one that nobody sees; the tool call goes on.
        let _ = files::write(&path, &format!("{content}\n"));
        before.get("lastSignalAt").and_then(Value::as_str).and_then(moment::parse)
    }

    fn ledger(&self) -> PathBuf {
        self.workspace.at(&format!("{}/events.jsonl", activity::folder(self.workspace.config())))
    }

    fn record(&self, path: &str, collision: Option<Value>) {
        let mut event = Map::new();
        event.insert("at".into(), json!(model::format_timestamp(self.workspace.now())));
        event.insert("sessionId".into(), json!(self.session));
        event.insert("tool".into(), json!(self.tool()));
        event.insert("path".into(), json!(path));
        for (key, name) in [("agentId", "agent_id"), ("agentType", "agent_type")] {
            if let Some(value) = self.input.get(name).and_then(Value::as_str) {
                event.insert(key.into(), json!(value));
            }
        }
        if let Some(collision) = collision {
            event.insert("collision".into(), collision);
        }
        let ledger = self.ledger();
        if let Some(folder) = ledger.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        // One write for one line, so that lines of several processes do not mix.
        if let Ok(mut file) = std::fs::File::options().append(true).create(true).open(ledger) {
            let _ = file.write_all(format!("{}\n", Value::Object(event)).as_bytes());
        }
    }

    /// Paths that a typed edit since `since` explains.
    fn explained(&self, since: i64) -> Vec<String> {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let Ok((mut file, facts)) = disk::open_regular(&self.ledger()) else { return Vec::new() };
        let _ = file.seek(SeekFrom::Start(facts.len().saturating_sub(LEDGER_TAIL)));
        let mut text = Vec::new();
        let _ = file.take(LEDGER_TAIL).read_to_end(&mut text);
        String::from_utf8_lossy(&text)
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|event| event.get("collision").is_none())
            .filter(|event| {
                event.get("at").and_then(Value::as_str).and_then(moment::parse).is_some_and(|at| at >= since - 5000)
            })
            .filter_map(|event| event.get("path").and_then(Value::as_str).map(str::to_owned))
            .collect()
    }
}

/// A path without `.` and `..`, as it is written.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// A path as the file system has it: of what is there the real place, and the rest as it is written.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
    let Some((above, place)) = found else { return plain(path) };
    plain(&place.join(path.strip_prefix(above).unwrap_or(Path::new(""))))
}

fn answer(event: &str, more: &[(&str, String)]) -> Value {
    let mut inner = Map::from_iter([("hookEventName".to_owned(), json!(event))]);
    inner.extend(more.iter().map(|(key, text)| ((*key).to_owned(), json!(text))));
    json!({ "hookSpecificOutput": inner })
}

fn session_start(call: &Call) -> Option<Value> {
    activity::sessions(&call.workspace, true);
    let claims = activity::rebuild(&call.workspace);
    call.signal(None);
    let mut text = format!(
        "Work records of `{}` lie in `{}`.",
        call.workspace.config().name,
        call.workspace.config().storage_root
    );
    let doing: Vec<&Held> = claims.iter().filter(|claim| claim.status == "doing").collect();
    if doing.is_empty() {
        text.push_str(" No card is in work.");
    } else {
        text.push_str(" Cards in work:");
        for claim in doing {
            let scope = if claim.scope.is_empty() { "no scope".to_owned() } else { claim.scope.join(", ") };
            let own = if call.is_separate(claim) { "" } else { ", this session" };
            let line = format!("- {} — {} (held by {}{own}; {scope})", claim.id, claim.title, claim.by);
            text.push_str(&format!("\n{}", one_line(&line)));
        }
    }
    text.push_str(
        "\nChange records with the `project_…` tools or `workflow-code board`, never by editing their files.",
    );
    Some(answer("SessionStart", &[("additionalContext", text)]))
}

/// The tools that change the records below a folder.
fn tools_for(call: &Call, path: &str) -> &'static str {
    let config = call.workspace.config();
    if paths::lies_in(path, &config.cards.path) {
        "project_card_patch, project_card_write, project_card_note or project_card_transition"
    } else if paths::lies_in(path, &config.docs.managed_path) {
        "project_doc_patch, project_doc_write or project_doc_note"
    } else if paths::lies_in(path, paths::parent(&config.changelog.fragments_path)) {
        "project_changelog_add or project_changelog_patch"
    } else if paths::lies_in(path, &config.memory.path) {
        "project_memory_add or project_memory_patch"
    } else {
        "the project tools or `workflow-code board`"
    }
}

fn pre_tool_use(call: &Call) -> Option<Value> {
    let paths = call.paths();
    let ask = |reason: String| {
        Some(answer("PreToolUse", &[("permissionDecision", "ask".into()), ("permissionDecisionReason", reason)]))
    };
    let is_record =
        |path: &&String| path.ends_with(".md") && paths::lies_in(path, &call.workspace.config().storage_root);
    if let Some(path) = paths.iter().find(is_record) {
        return ask(format!(
            "`{path}` is a work record. Writing the file passes by its lock, its revision and its checks; use {} instead.",
            tools_for(call, path)
        ));
    }
    let claims = call.foreign();
    let (claim, path) = claims.iter().find_map(|claim| {
        let covers = |path: &&String| claim.scope.iter().any(|entry| paths::covers(entry, path));
        paths.iter().find(covers).map(|path| (claim, path))
    })?;
    let reason = format!("`{path}` lies in the scope of {} — {}, which {} holds.", claim.id, claim.title, claim.by);
    ask(one_line(&reason))
}

fn post_tool_use(call: &Call) -> Option<Value> {
    call.session.as_ref()?;
    let outside = || call.target().map(|path| plain(&path).to_string_lossy().into_owned());
    let path = call.paths().into_iter().next().or_else(outside);
    let before = call.signal(path.as_deref());
    if let Some(path) = &path {
        call.record(path, None);
    }
    if call.tool() != "Bash" {
        return None;
    }
    collisions(call, before?)
}

/// Files below a scope entry, with what was looked at so far.
fn changed_below(call: &Call, entry: &str, since: i64, looked: &mut usize, found: &mut Vec<String>) {
    let entry = paths::scope(entry);
    let fixed: Vec<&str> = entry.split('/').take_while(|part| !part.contains('*')).collect();
    let Some(start) = paths::inside(&fixed.join("/")) else { return };
    let mut waiting = vec![start];
    while let Some(path) = waiting.pop() {
        if *looked >= MAX_LOOKED_AT {
            return;
        }
        *looked += 1;
        if path.split('/').any(|part| NEVER.contains(&part)) {
            continue;
        }
        let at = call.workspace.at(&path);
        let Ok(meta) = std::fs::symlink_metadata(&at) else { continue };
        if meta.is_dir() {
            let Ok(entries) = std::fs::read_dir(&at) else { continue };
            // Never more than may be looked at, however large the folder.
            waiting.extend(
                entries
                    .flatten()
                    .take(MAX_LOOKED_AT)
                    .filter_map(|entry| entry.file_name().into_string().ok())
                    .map(|name| paths::join(&path, &name)),
            );
        } else if meta.is_file() && Stamp::of(&meta).modified_ms() > since && paths::covers(&entry, &path) {
            found.push(path);
        }
    }
}

fn collisions(call: &Call, since: i64) -> Option<Value> {
    let claims = call.foreign();
    if claims.is_empty() {
        return None;
    }
    let explained = call.explained(since);
    let sessions = activity::sessions(&call.workspace, false);
    let mut looked = 0;
    let mut lines = Vec::new();
    for claim in &claims {
        let mut found = Vec::new();
        for entry in &claim.scope {
            changed_below(call, entry, since, &mut looked, &mut found);
        }
        found.sort();
        found.dedup();
        found.retain(|path| !explained.contains(path));
        if found.is_empty() {
            continue;
        }
        let own: Vec<&Session> = sessions
            .iter()
            .filter(|one| one.actor == claim.by || claim.session.as_deref() == Some(&short_session(&one.id)))
            .collect();
        let known = !own.is_empty();
        let live = own.iter().any(|one| one.signalled >= since);
        for path in &found {
            call.record(
                path,
                Some(json!({ "card": claim.id, "claimedBy": claim.by, "holderKnown": known, "holderLive": live })),
            );
        }
        let about = if !known {
            "no session here signals as that name, so its silence says nothing"
        } else if live {
            "a session of that name was signalling at the time"
        } else {
            "no session of that name was signalling at the time"
        };
        lines.push(format!(
            "{} (in the scope of {} — {}, held by {}; {about})",
            found.join(", "),
            claim.id,
            claim.title,
            claim.by
        ));
    }
    if lines.is_empty() {
        return None;
    }
    let text = format!("These files changed while your command ran: {}. Look before you go on.", lines.join("; "));
    Some(answer("PostToolUse", &[("additionalContext", text)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn workspace(cards: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join("project.config.mjs"), "export default {};").expect("written");
        fs::create_dir_all(root.path().join(".project/cards")).expect("made");
        fs::create_dir_all(root.path().join("src/api")).expect("made");
        for (id, header) in cards {
            let text = format!("---\nid: {id}\ntitle: Held\nstatus: doing\n{header}\n---\n\n");
            fs::write(root.path().join(format!(".project/cards/{id}-held.md")), text).expect("written");
        }
        root
    }

    fn hook(root: &Path, word: &str, input: Value) -> Option<Value> {
        let outcome = run(
            word,
            &input.to_string(),
            None,
            root,
            &Surroundings { user: Some("me".into()), ..Surroundings::default() },
        );
        assert_eq!(outcome.exit, 0);
        outcome.print
    }

    const HELD: &str = "claimed_by: alice\nclaimed_at: 2026-01-07T09:00:00.000Z\nscope: [src/api]";

    #[test]
    fn a_hook_never_fails_a_session() {
        let root = tempfile::tempdir().expect("a folder");
        for input in ["", "not json", "[]", "{\"tool_input\": 3}", "{\"session_id\": 7}"] {
            for word in ["session-start", "pre-tool-use", "post-tool-use"] {
                assert_eq!(run(word, input, None, root.path(), &Surroundings::default()), Outcome::default());
            }
        }
        assert_eq!(run("unknown", "", None, root.path(), &Surroundings::default()).exit, 2);
    }

    #[test]
    fn a_command_that_changed_a_foreign_scope_is_reported_once_it_ran() {
        let root = workspace(&[("T-0001", HELD)]);
        let bash = json!({ "session_id": "s-1", "tool_name": "Bash", "tool_input": { "command": "sed" }, "agent_id": "a", "agent_type": "t" });
        // The first signal opens the window.
        assert_eq!(hook(root.path(), "post-tool-use", bash.clone()), None);
        assert_eq!(hook(root.path(), "post-tool-use", bash.clone()), None, "nothing changed");
        let since = moment::parse(&session(root.path())).expect("a signal");
        let file = root.path().join("src/api/till.rs");
        // A file system may count time more coarsely than the clock.
        while fs::metadata(&file).map_or(0, |meta| Stamp::of(&meta).modified_ms()) <= since {
            fs::write(&file, "x").expect("written");
        }
        let text = hook(root.path(), "post-tool-use", bash).expect("a report").to_string();
        assert!(
            text.contains("src/api/till.rs")
                && text.contains("T-0001")
                && text.contains("changed while your command ran"),
            "{text}"
        );
        let ledger = fs::read_to_string(root.path().join(".project/.cache/activity/events.jsonl")).expect("a ledger");
        let event: Value = serde_json::from_str(ledger.lines().last().expect("a line")).expect("JSON");
        assert_eq!(
            event["collision"],
            json!({ "card": "T-0001", "claimedBy": "alice", "holderKnown": false, "holderLive": false })
        );
        assert_eq!((event["agentId"].as_str(), event["agentType"].as_str()), (Some("a"), Some("t")));
    }

    fn session(root: &Path) -> String {
        let text = fs::read_to_string(root.join(".project/.cache/activity/sessions/s-1.json")).expect("a session");
        serde_json::from_str::<Value>(&text).expect("JSON")["lastSignalAt"].as_str().expect("text").to_owned()
    }

    #[test]
    fn a_typed_edit_explains_a_change() {
        let root = workspace(&[("T-0001", HELD)]);
        let bash = json!({ "session_id": "s-1", "tool_name": "Bash", "tool_input": {} });
        hook(root.path(), "post-tool-use", bash.clone());
        let since = moment::parse(&session(root.path())).expect("a signal");
        let file = root.path().join("src/api/till.rs");
        while fs::metadata(&file).map_or(0, |meta| Stamp::of(&meta).modified_ms()) <= since {
            fs::write(&file, "x").expect("written");
        }
        hook(
            root.path(),
            "post-tool-use",
            json!({ "session_id": "s-2", "tool_name": "Edit", "tool_input": { "file_path": "src/api/till.rs" } }),
        );
        assert_eq!(hook(root.path(), "post-tool-use", bash), None);
    }

    #[test]
    fn one_name_in_two_sessions_is_two() {
        let root = workspace(&[(
            "T-0001",
            "claimed_by: \"me#aaaa1111\"\nclaimed_at: 2026-01-07T09:00:00.000Z\nscope: [src/api]",
        )]);
        let edit = |session: &str| json!({ "session_id": session, "tool_input": { "file_path": "src/api/a.rs" } });
        assert_eq!(hook(root.path(), "pre-tool-use", edit("aaaa-1111")), None);
        assert!(hook(root.path(), "pre-tool-use", edit("bbbb-1111")).is_some());
    }

    #[test]
    fn edits_that_are_asked_about() {
        let root = workspace(&[(
            "T-0001",
            "claimed_by: alice\nclaimed_at: 2026-01-07T09:00:00.000Z\nscope: [src/api, lib/*.rs]",
        )]);
        let edit = |path: &str| {
            hook(root.path(), "pre-tool-use", json!({ "session_id": "s-1", "tool_input": { "file_path": path } }))
        };
        for path in ["src/api/a.rs", "lib/x.rs", ".project/cards/T-0001-held.md", ".project/specs/a.md"] {
            let answer = edit(path).unwrap_or_else(|| panic!("{path} is asked about"));
            assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "never denied");
        }
        for path in ["src/apiary.rs", "lib/deep/x.rs", ".project/VERSION", "docs/a.md"] {
            assert_eq!(edit(path), None, "{path}");
        }
    }

    #[test]
    fn a_path_is_the_same_however_it_is_written() {
        let root = workspace(&[("T-0001", "claimed_by: alice\nclaimed_at: 2026-01-07T09:00:00.000Z\nscope: [src]")]);
        fs::create_dir_all(root.path().join("src")).expect("made");
        let outside = tempfile::tempdir().expect("a folder");
        let link = outside.path().join("link");
        std::os::unix::fs::symlink(root.path(), &link).expect("linked");
        std::os::unix::fs::symlink(root.path().join("src"), root.path().join("inner")).expect("linked");
        let asks = |folder: &Path, path: &Path| {
            let input = json!({ "session_id": "s-1", "tool_input": { "file_path": path } });
            hook(folder, "pre-tool-use", input).is_some()
        };
        let name = root.path().file_name().expect("a name");
        let (own, other) = (root.path(), link.as_path());
        for folder in [own, other] {
            for base in [own, other] {
                for path in ["src/new/a.rs", "x/../src/a.rs", "./src//a.rs", "inner/a.rs", ".project/./cards/a.md"] {
                    assert!(asks(folder, &base.join(path)), "{} from {}", base.join(path).display(), folder.display());
                }
                assert!(!asks(folder, &base.join("lib/a.rs")));
            }
            assert!(asks(folder, &own.join("..").join(name).join("src/a.rs")));
        }
        let root = workspace(&[("T-0001", "claimed_by: alice\nclaimed_at: 2026-01-07T09:00:00.000Z\nscope: [.]")]);
        assert!(asks(root.path(), Path::new("README.md")), "the folder itself is all of it");
        assert!(!asks(root.path(), Path::new("/elsewhere/README.md")));
    }

    #[test]
    fn a_claim_made_after_the_start_is_seen() {
        let root = workspace(&[]);
        fs::write(root.path().join(".project/cards/T-0001-a.md"), "---\nid: T-0001\ntitle: a\nstatus: next\ntype: task\npriority: low\narea: general\nscope: [src/api]\n---\n").expect("written");
        hook(root.path(), "session-start", json!({ "session_id": "s-1" }));
        let edit = json!({ "session_id": "s-1", "tool_input": { "file_path": "src/api/a.rs" } });
        assert_eq!(hook(root.path(), "pre-tool-use", edit.clone()), None);
        let board = crate::Board::new(Workspace::open(None, root.path(), false).expect("a workspace"));
        board.claim_card("T-0001", &crate::Claim { actor: "alice", ..crate::Claim::default() }, None).expect("claimed");
        assert!(hook(root.path(), "pre-tool-use", edit).is_some());
    }
}
