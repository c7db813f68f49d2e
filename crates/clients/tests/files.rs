//! Clients' files in real folders: merge, backup, links, races, drift, undo, removal.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail loudly, too")]

use std::fs;
use std::path::{Path, PathBuf};

use model::ManualClock;
use rstest::{fixture, rstest};
use workflow_clients as clients;
use workflow_clients::{
    Action, Change, ClientPaths, Drift, Error, Existing, Launch, Ledger, Platform, Scope, State, apply, client, drift,
    inspect, plan, plan_removal, undo,
};

struct Home {
    folder: tempfile::TempDir,
    paths: ClientPaths,
    ledger: Ledger,
    clock: ManualClock,
}

impl Home {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.file(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    fn plan(&self, id: &str) -> clients::Result<Change> {
        plan(client(id).unwrap(), Scope::User, &launch("/usr/bin/workflow-code"), &self.paths)
    }

    fn apply(&self, change: &Change) -> clients::Result<clients::Written> {
        apply(change, &self.ledger, &self.clock)
    }

    fn state(&self, id: &str) -> State {
        inspect(client(id).unwrap(), Scope::User, &launch("/usr/bin/workflow-code"), &self.paths).unwrap()
    }

    /// Names of all files under the home but our own.
    fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.file(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[fixture]
fn home() -> Home {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("h");
    fs::create_dir(&home).unwrap();
    Home {
        paths: ClientPaths::new(Platform::Linux, &home),
        ledger: Ledger::at(folder.path().join("own/clients.json")),
        clock: ManualClock::new(1_796_000_000_007),
        folder,
    }
}

fn launch(command: &str) -> Launch {
    Launch::new("wf-report", command, ["--workflow-mcp", "wk7r2"]).unwrap()
}

const CLAUDE: &str = r#"{
  "numStartups": 12,
  "mcpServers": {
    "docs": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "docs"],
      "env": { "DOCS_TOKEN": "hunter2" }
    }
  },
  "projects": { "/home/zoë/x": { "allowedTools": [] } }
}
"#;

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[rstest]
fn a_write_keeps_all_else_backs_up_and_is_recorded(home: Home) {
    let file = home.write("h/.claude.json", CLAUDE);
    #[cfg(unix)]
    chmod(&file, 0o640);
    assert_eq!(home.state("claude-code"), State::NotAdded);
    let change = home.plan("claude-code").unwrap();
    assert_eq!((change.existing, change.action), (Existing::Absent, Action::Set));
    assert_eq!(change.before.as_deref(), Some(CLAUDE));
    assert_eq!(change.difference.to_text(), shown_change());
    assert_eq!(fs::read_to_string(&file).unwrap(), CLAUDE, "a plan writes nothing");

    let written = home.apply(&change).unwrap();
    assert!(written.changed && !written.created);
    assert_eq!(fs::read_to_string(&file).unwrap(), change.after);
    let backup = written.backup.clone().unwrap();
    assert_eq!(backup, home.file("h/.claude.json.workflow-code-backup-20261130T005320007Z"));
    assert_eq!(fs::read_to_string(&backup).unwrap(), CLAUDE);
    #[cfg(unix)]
    assert_eq!((mode(&file), mode(&backup), mode(&home.file("own/clients.json"))), (0o640, 0o600, 0o600));
    assert_eq!(home.state("claude-code"), State::InStep);
    let entries = home.ledger.entries().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].client.as_str(), entries[0].key.as_str()), ("claude-code", "wf-report"));
    assert!(!fs::read_to_string(home.file("own/clients.json")).unwrap().contains("hunter2"));
    assert!(matches!(drift(&entries[0]), Drift::Same));
    assert_eq!(home.names("h").len(), 2, "no temporary file stays: {:?}", home.names("h"));

    // Again: nothing to write, no second backup.
    let again = home.plan("claude-code").unwrap();
    assert_eq!(again.existing, Existing::Same);
    assert!(again.difference.is_empty());
    assert!(!home.apply(&again).unwrap().changed);
    assert_eq!(home.names("h").len(), 2);
}

fn shown_change() -> String {
    String::from(
        r#"        "command": "npx",
        "args": ["-y", "docs"],
        "env": { "DOCS_TOKEN": "hunter2" }
+     },
+     "wf-report": {
+       "type": "stdio",
+       "command": "/usr/bin/workflow-code",
+       "args": ["--workflow-mcp", "wk7r2"],
+       "timeout": 1800000
      }
    },
    "projects": { "/home/zoë/x": { "allowedTools": [] } }
"#,
    )
}

#[rstest]
fn debug_output_of_a_change_has_no_text_of_the_file(home: Home) {
    home.write("h/.claude.json", CLAUDE);
    assert!(!format!("{:?}", home.plan("claude-code").unwrap()).contains("hunter2"));
}

#[rstest]
fn a_missing_file_is_created_for_its_owner_and_undone(home: Home) {
    let change = home.plan("cursor").unwrap();
    assert_eq!(change.before, None);
    assert!(change.notes.iter().any(|note| note.contains("Restart Cursor")));
    let written = home.apply(&change).unwrap();
    assert!(written.created && written.backup.is_none());
    let file = home.file("h/.cursor/mcp.json");
    #[cfg(unix)]
    assert_eq!(mode(&file), 0o600);
    assert_eq!(home.state("cursor"), State::InStep);
    undo(&written, &home.ledger).unwrap();
    assert!(!file.exists());
    assert!(home.ledger.entries().unwrap().is_empty());
}

#[rstest]
fn a_project_file_can_be_read_by_the_team(home: Home) {
    fs::create_dir(home.file("p")).unwrap();
    let paths = home.paths.clone().with_project(home.file("p"));
    let change = plan(client("vscode").unwrap(), Scope::Project, &launch("/x"), &paths).unwrap();
    home.apply(&change).unwrap();
    #[cfg(unix)]
    assert_eq!(mode(&home.file("p/.vscode/mcp.json")), 0o644);
}

#[rstest]
fn a_write_between_preview_and_apply_is_not_lost(home: Home) {
    let file = home.write("h/.claude.json", CLAUDE);
    let change = home.plan("claude-code").unwrap();
    let theirs = CLAUDE.replace("12", "13");
    fs::write(&file, &theirs).unwrap();
    assert!(matches!(home.apply(&change), Err(Error::Changed { .. })));
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    assert!(home.ledger.entries().unwrap().is_empty());
    assert_eq!(home.names("h"), [".claude.json"], "no backup of a write that did not happen");

    // The same for a file that appears, and for one that goes.
    let change = home.plan("cursor").unwrap();
    let other = home.write("h/.cursor/mcp.json", "{}");
    assert!(matches!(home.apply(&change), Err(Error::Changed { .. })));
    let change = home.plan("cursor").unwrap();
    fs::remove_file(other).unwrap();
    assert!(matches!(home.apply(&change), Err(Error::Changed { .. })));
    assert_eq!(home.names("h/.cursor"), Vec::<String>::new());
}

#[rstest]
fn two_that_write_at_once_never_lose_a_text(home: Home) {
    let file = home.write("h/.cursor/mcp.json", "{}\n");
    // Another program replaces the file again and again, each time with one more server of its own.
    let other = std::thread::spawn({
        let file = file.clone();
        move || {
            for number in 0..300 {
                let text = fs::read_to_string(&file).unwrap();
                let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
                value["n"] = serde_json::json!(number);
                let next = file.with_extension("next");
                fs::write(&next, serde_json::to_string_pretty(&value).unwrap()).unwrap();
                fs::rename(&next, &file).unwrap();
            }
        }
    });
    let mut tries = 0;
    while !other.is_finished() {
        let change = home.plan("cursor").unwrap();
        match home.apply(&change) {
            Ok(_) | Err(Error::Changed { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        tries += 1;
    }
    other.join().unwrap();
    assert!(tries > 0);
    // Whoever was last, the file is whole, and the other program's last number is in it.
    let value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(value["n"], 299);
}

#[rstest]
fn undo_gives_back_the_text_unless_somebody_wrote_since(home: Home) {
    let file = home.write("h/.claude.json", CLAUDE);
    let written = home.apply(&home.plan("claude-code").unwrap()).unwrap();
    undo(&written, &home.ledger).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), CLAUDE);
    assert!(home.ledger.entries().unwrap().is_empty());

    let written = home.apply(&home.plan("claude-code").unwrap()).unwrap();
    let theirs = fs::read_to_string(&file).unwrap().replace("12", "14");
    fs::write(&file, &theirs).unwrap();
    assert!(matches!(undo(&written, &home.ledger), Err(Error::Changed { .. })));
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    assert_eq!(home.ledger.entries().unwrap().len(), 1);
}

#[rstest]
fn a_repair_undone_leaves_the_older_entry_ours(home: Home) {
    home.apply(&home.plan("cursor").unwrap()).unwrap();
    let old = home.ledger.entries().unwrap();
    let change = plan(client("cursor").unwrap(), Scope::User, &launch("/new/workflow-code"), &home.paths).unwrap();
    assert_eq!(change.existing, Existing::Different);
    let written = home.apply(&change).unwrap();
    assert_ne!(home.ledger.entries().unwrap(), old);
    undo(&written, &home.ledger).unwrap();
    assert_eq!(home.ledger.entries().unwrap(), old);
    assert!(matches!(drift(&old[0]), Drift::Same));
}

#[rstest]
fn drift_tells_what_happened(home: Home) {
    home.apply(&home.plan("claude-code").unwrap()).unwrap();
    let file = home.file("h/.claude.json");
    let entry = home.ledger.entries().unwrap().remove(0);
    let text = fs::read_to_string(&file).unwrap();
    // What a person adds to our entry, and another order, is no drift.
    fs::write(&file, text.replace("\"type\"", "\"alwaysAllow\": [], \"type\"")).unwrap();
    assert!(matches!(drift(&entry), Drift::Same));
    fs::write(&file, text.replace("/usr/bin", "/tmp/.mount_x")).unwrap();
    assert!(matches!(drift(&entry), Drift::Changed));
    assert_eq!(home.state("claude-code"), State::Differs);
    fs::write(&file, text.replace("wf-report", "other")).unwrap();
    assert!(matches!(drift(&entry), Drift::Missing));
    fs::write(&file, "{").unwrap();
    assert!(matches!(drift(&entry), Drift::Unreadable(Error::Content { line: 1, .. })));
    fs::remove_file(&file).unwrap();
    assert!(matches!(drift(&entry), Drift::Missing));
    let mut foreign = entry;
    foreign.client = String::from("a-client-of-next-year");
    assert!(matches!(drift(&foreign), Drift::Unreadable(Error::Ledger { .. })));
}

#[rstest]
#[case("claude-code", ".claude.json", CLAUDE)]
#[case("codex", ".codex/config.toml", "# mine\nmodel = \"x\"\n\n[mcp_servers.docs]\ncommand = \"npx\" # keep\n")]
fn removal_takes_only_our_key(home: Home, #[case] id: &str, #[case] name: &str, #[case] text: &str) {
    let file = home.write(&format!("h/{name}"), text);
    let row = client(id).unwrap();
    let remove = |key: &str| plan_removal(row, Scope::User, key, &home.paths, &home.ledger);
    assert!(matches!(remove("docs"), Err(Error::NotOurs { .. })));
    assert!(matches!(remove("nobody"), Err(Error::NoEntry { .. })), "nothing is there to be removed by hand");
    home.apply(&home.plan(id).unwrap()).unwrap();
    assert!(matches!(remove("docs"), Err(Error::NotOurs { .. })));
    let change = remove("wf-report").unwrap();
    let written = home.apply(&change).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert!(home.ledger.entries().unwrap().is_empty());
    // And the removal can be taken back.
    undo(&written, &home.ledger).unwrap();
    assert_eq!(home.state(id), State::InStep);
    assert_eq!(home.ledger.entries().unwrap().len(), 1);
    // Gone behind our back: said so, and forgotten by hand.
    fs::write(&file, text).unwrap();
    assert!(matches!(remove("wf-report"), Err(Error::NoEntry { .. })));
    assert!(home.ledger.forget(id, &file, "wf-report").unwrap().is_some());
}

#[cfg(unix)]
#[rstest]
fn a_linked_dotfile_stays_a_link_and_its_target_is_written(home: Home) {
    let real = home.write("dotfiles/cursor.json", "{\n  \"mcpServers\": {}\n}\n");
    let link = home.file("h/.cursor/mcp.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("../../dotfiles/cursor.json", &link).unwrap();
    let change = home.plan("cursor").unwrap();
    assert_eq!(change.target, real.canonicalize().unwrap());
    assert!(change.notes.iter().any(|note| note.contains("is a link")), "{:?}", change.notes);
    home.apply(&change).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("wf-report"));
    assert_eq!(home.names("dotfiles"), ["cursor.json"], "the backup lies beside the link");

    // Turned elsewhere after the preview.
    let change = plan(client("cursor").unwrap(), Scope::User, &launch("/new"), &home.paths).unwrap();
    let other = home.write("dotfiles/other.json", fs::read(&real).unwrap());
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    assert!(matches!(home.apply(&change), Err(Error::Changed { .. })));
}

#[cfg(unix)]
#[rstest]
fn links_to_nowhere_and_in_circles_are_refused(home: Home) {
    let link = home.file("h/.cursor/mcp.json");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    assert!(matches!(home.plan("cursor"), Err(Error::Dangling { .. })));
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("mcp.json", &link).unwrap();
    assert!(matches!(home.plan("cursor"), Err(Error::Read { .. })));
}

#[cfg(unix)]
#[rstest]
#[case::file(".mcp.json", false)]
#[case::folder(".mcp.json", true)]
fn a_project_cannot_lead_a_write_out_of_itself(home: Home, #[case] name: &str, #[case] folder: bool) {
    home.write("outside/mcp.json", "{}");
    fs::create_dir(home.file("p")).unwrap();
    let id = if folder {
        // `.cursor` itself leads away, and the file does not exist there yet or does.
        std::os::unix::fs::symlink("../outside", home.file("p/.cursor")).unwrap();
        "cursor"
    } else {
        std::os::unix::fs::symlink("../outside/mcp.json", home.file("p").join(name)).unwrap();
        "claude-code"
    };
    let paths = home.paths.clone().with_project(home.file("p"));
    let refused = plan(client(id).unwrap(), Scope::Project, &launch("/x"), &paths);
    assert!(matches!(refused, Err(Error::OutsideProject { .. })), "{refused:?}");
    assert_eq!(fs::read_to_string(home.file("outside/mcp.json")).unwrap(), "{}");
}

#[cfg(unix)]
#[rstest]
fn a_folder_swapped_for_a_link_after_the_preview_is_refused(home: Home) {
    fs::create_dir_all(home.file("p/.cursor")).unwrap();
    fs::create_dir(home.file("outside")).unwrap();
    let paths = home.paths.clone().with_project(home.file("p"));
    let change = plan(client("cursor").unwrap(), Scope::Project, &launch("/x"), &paths).unwrap();
    fs::remove_dir(home.file("p/.cursor")).unwrap();
    std::os::unix::fs::symlink("../outside", home.file("p/.cursor")).unwrap();
    assert!(matches!(home.apply(&change), Err(Error::OutsideProject { .. })));
    assert_eq!(home.names("outside"), Vec::<String>::new());
}

#[cfg(unix)]
#[rstest]
fn pipes_folders_and_huge_files_are_refused_at_once(home: Home) {
    let file = home.file("h/.cursor/mcp.json");
    fs::create_dir_all(&file).unwrap();
    assert!(matches!(home.plan("cursor"), Err(Error::NotRegular { .. })));
    fs::remove_dir(&file).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(matches!(home.plan("cursor"), Err(Error::NotRegular { .. })));
    fs::remove_file(&file).unwrap();
    // A hole, so that the disk is not filled.
    fs::File::create(&file).unwrap().set_len(40 * 1024 * 1024).unwrap();
    assert!(matches!(home.plan("cursor"), Err(Error::TooLarge { .. })));
}

#[rstest]
fn broken_files_are_refused_and_left_alone(home: Home) {
    for (text, line) in [
        (&b"{\n  \"mcpServers\": {\n    \"a\": nonsense\n  }\n}"[..], 3),
        (b"{\n\n\"a\": \"\xff\"}", 3),
        (b"\xff\xfe{\0}\0", 1),
        (b"{\"mcpServers\": []}", 1),
    ] {
        let file = home.write("h/.cursor/mcp.json", text);
        match home.plan("cursor") {
            Err(Error::Content { line: found, .. } | Error::NotText { line: found, .. }) => assert_eq!(found, line),
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&file).unwrap(), text);
    }
}

#[rstest]
fn clients_without_a_file_say_why(home: Home) {
    assert!(matches!(home.plan("goose"), Err(Error::ByHand { .. })));
    assert!(matches!(home.plan("json"), Err(Error::ByHand { .. })));
    let kimi = plan(client("kimi").unwrap(), Scope::Project, &launch("/x"), &home.paths);
    assert!(matches!(kimi, Err(Error::NoFile { scope: "project", .. })));
    assert_eq!(home.state("goose"), State::NotAdded);
}

#[cfg(unix)]
#[rstest]
fn a_folder_that_cannot_be_written_changes_nothing(home: Home) {
    if rustix::process::geteuid().is_root() {
        // Root writes everywhere; a full device stands in for a refusal.
        if !Path::new("/dev/full").exists() {
            return;
        }
        fs::create_dir_all(home.file("own")).unwrap();
        std::os::unix::fs::symlink("/dev/full", home.file("own/clients.json")).unwrap();
        let change = home.plan("cursor").unwrap();
        assert!(home.apply(&change).is_err());
    } else {
        fs::create_dir_all(home.file("h/.cursor")).unwrap();
        chmod(&home.file("h/.cursor"), 0o500);
        let change = home.plan("cursor").unwrap();
        assert!(matches!(home.apply(&change), Err(Error::Write { .. })));
        assert!(home.ledger.entries().unwrap().is_empty());
        chmod(&home.file("h/.cursor"), 0o700);
    }
    assert!(!home.file("h/.cursor/mcp.json").exists());
}

#[rstest]
fn a_damaged_or_later_ledger_stops_the_write(home: Home) {
    for text in ["", "{", "[]", "{\"version\":2,\"entries\":[]}", "{\"version\":1,\"entries\":[{}]}"] {
        home.write("own/clients.json", text);
        let change = home.plan("cursor").unwrap();
        assert!(matches!(home.apply(&change), Err(Error::Ledger { .. })), "{text}");
        assert!(!home.file("h/.cursor/mcp.json").exists());
        assert_eq!(fs::read_to_string(home.file("own/clients.json")).unwrap(), text);
    }
}

#[rstest]
fn many_writers_share_one_ledger(home: Home) {
    std::thread::scope(|scope| {
        for id in ["cursor", "codex", "gemini", "zed", "kimi", "qwen", "kiro", "windsurf"] {
            let home = &home;
            scope.spawn(move || home.apply(&home.plan(id).unwrap()).unwrap());
        }
    });
    assert_eq!(home.ledger.entries().unwrap().len(), 8);
    assert!(home.ledger.entries().unwrap().iter().all(|entry| matches!(drift(entry), Drift::Same)));
}

#[rstest]
fn backups_do_not_pile_up(home: Home) {
    home.write("h/.cursor/mcp.json", "{}\n");
    home.write("h/.cursor/mcp.json.workflow-code-backup-mine", "a person's");
    for number in 0..15 {
        let launch = launch(&format!("/v{number}/workflow-code"));
        let change = plan(client("cursor").unwrap(), Scope::User, &launch, &home.paths).unwrap();
        home.clock.advance(1_000);
        home.apply(&change).unwrap();
    }
    let names = home.names("h/.cursor");
    assert_eq!(names.len(), 12, "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("-mine")));
    assert!(names[1].ends_with("20261130T005326007Z"), "{names:?}");
}

#[rstest]
fn a_plan_made_twice_has_one_fingerprint(home: Home) {
    home.write("h/.cursor/mcp.json", "{}\n");
    let first = home.plan("cursor").unwrap();
    assert_eq!(first.fingerprint(), home.plan("cursor").unwrap().fingerprint());
    home.write("h/.cursor/mcp.json", "{ }\n");
    assert_ne!(first.fingerprint(), home.plan("cursor").unwrap().fingerprint());
}

#[rstest]
fn a_large_file_with_years_of_history_is_edited(home: Home) {
    let history: Vec<String> = (0..60_000)
        .map(|number| format!("    {{ \"display\": \"prompt number {number} with some words\", \"pasted\": {{}} }}"))
        .collect();
    let text = format!("{{\n  \"history\": [\n{}\n  ],\n  \"mcpServers\": {{}}\n}}\n", history.join(",\n"));
    home.write("h/.claude.json", &text);
    let change = home.plan("claude-code").unwrap();
    assert!(change.difference.added >= 6 && change.difference.removed <= 2);
    home.apply(&change).unwrap();
    assert_eq!(home.state("claude-code"), State::InStep);
}
