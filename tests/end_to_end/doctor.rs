//! `doctor`, by seeding faults and finding exactly those.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rstest::rstest;
use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Opening};

use crate::fixtures::{command, environment, project_at, write};

/// The faults that are found: check and project, in order.
fn findings(home: &Environment) -> Vec<(String, String)> {
    let done = home.run(&["doctor", "--json"]).expect("it ends");
    let found = done.json();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let mut all: Vec<(String, String)> = Vec::new();
    for finding in found["findings"].as_array().expect("a list of findings") {
        assert!(!text(finding, "message").is_empty() && !text(finding, "fix").is_empty(), "{finding}");
        all.push((text(finding, "check"), text(finding, "project")));
    }
    let errors = found["findings"].as_array().into_iter().flatten().any(|finding| finding["level"] == "error");
    assert_eq!(done.code, if errors { 3 } else { 0 }, "{done:?}");
    all.sort();
    all
}

/// Registers a project whose one entrypoint works, and returns its id.
fn healthy(home: &Environment, name: &str, number: u32) -> String {
    project_at(
        home,
        name,
        &uuid(number),
        json!({ "ok": { "command": ["python3", "-c", "1"], "description": "One." } }),
        &[],
    );
    let folder = home.home().join(name);
    let added = command(home, &["projects", "add", &folder.to_string_lossy(), "--json"]);
    added[0]["projectId"].as_str().expect("an id").to_owned()
}

fn uuid(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn open_up(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

fn data_folder(home: &Environment) -> PathBuf {
    let text = fs::read_to_string(home.home().join(".workflow-code/desktop.json")).expect("it was made");
    let profile: Value = serde_json::from_str(&text).expect("JSON");
    PathBuf::from(profile["profiles"]["default"]["dataDir"].as_str().expect("a folder"))
}

/// Writes a project's package.json anew, with this inside `workflow`.
fn rewrite(home: &Environment, name: &str, id: &str, workflow: &Value) {
    let package = json!({ "name": name, "id": id, "projectType": "workflow", "workflow": workflow });
    write(home, &format!("{name}/package.json"), &package.to_string());
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let home = environment();
    assert_eq!(findings(&home), []);
    healthy(&home, "one", 1);
    healthy(&home, "two", 2);
    assert_eq!(findings(&home), []);
    let id = healthy(&home, "three", 3);
    command(&home, &["config", &id, "--client", "cursor", "--write", "--json"]);
    assert_eq!(findings(&home), []);
    assert_eq!(home.run(&["doctor", &id]).expect("it ends").code, 0);
    assert_eq!(home.run(&["doctor", "--profile", "other"]).expect("it ends").code, 0, "an unused profile is no fault");
    home.assert_nothing_left();
}

/// A later build may close its history to older ones, which can still read it.
#[test]
fn a_history_that_this_build_may_not_write_is_found_and_not_served() {
    let home = environment();
    let id = healthy(&home, "one", 1);
    #[expect(clippy::disallowed_methods, reason = "what a later build does to its own history")]
    let database = rusqlite::Connection::open(data_folder(&home).join("desktop.db")).expect("it is there");
    database.execute("UPDATE meta SET min_writer = 4711", []).expect("it can be written");
    assert_eq!(findings(&home), [("database-too-new".to_owned(), String::new())]);
    let options = ClientOptions { opening: Opening::None, ..ClientOptions::default() };
    let mut client = Client::start(&home, &["--workflow-mcp", &id], options);
    let error = client.request("initialize", json!({})).error();
    assert_eq!(error["code"], -32603, "{error}");
    assert!(error["message"].as_str().unwrap_or_default().contains("4711"), "{error}");
    assert_eq!(client.finish().0, 3);
    home.assert_nothing_left();
}

/// What is to be typed to mend it names the project, and leads to the same data.
#[test]
fn a_lost_configuration_is_written_again_by_the_command_that_is_shown() {
    let home = environment();
    let folder = home.home().join("one");
    project_at(&home, "one", &uuid(1), json!({ "ok": { "command": ["true"], "description": "One." } }), &[]);
    let added = command(&home, &["projects", "add", &folder.to_string_lossy(), "--json", "--profile", "work"]);
    let id = added[0]["projectId"].as_str().expect("an id");
    command(&home, &["config", id, "--client", "cursor", "--write", "--key", "mine", "--json", "--profile", "work"]);
    write(&home, ".cursor/mcp.json", "{}");
    let found = home.run(&["doctor", "--json", "--profile", "work"]).expect("it ends").json();
    let fix = found["findings"][0]["fix"].as_str().expect("a fix");
    let shown = fix.split('`').nth(1).expect("a command");
    let words: Vec<&str> = shown.split(' ').skip(1).collect();
    assert_eq!(home.run(&words).expect("it ends").code, 0, "{shown}");
    let found = home.run(&["doctor", "--json", "--profile", "work"]).expect("it ends").json();
    assert_eq!(found["findings"], json!([]), "{shown}");
    home.assert_nothing_left();
}

/// Eighteen faults at once, each found under its name and its project, and nothing beside them.
#[test]
fn exactly_the_seeded_faults_are_found() {
    let home = environment();
    let mut expected: Vec<(String, String)> = Vec::new();
    let mut expect = |check: &str, project: &str| expected.push((check.to_owned(), project.to_owned()));
    healthy(&home, "healthy", 1);

    let id = healthy(&home, "gone", 2);
    fs::remove_dir_all(home.home().join("gone")).expect("it is ours");
    expect("project-folder-missing", &id);

    let id = healthy(&home, "unreadable", 3);
    write(&home, "unreadable/package.json", "{ this is no JSON");
    expect("project-manifest", &id);

    let id = healthy(&home, "renamed", 4);
    let works = json!({ "entrypoints": { "ok": { "command": ["python3"], "description": "One." } } });
    rewrite(&home, "renamed", &uuid(999), &works);
    expect("project-id-changed", &id);

    let id = healthy(&home, "syntax", 5);
    write(&home, "syntax/.env", "GOOD=1\nthis is no assignment\n");
    expect("env-syntax", &id);

    let id = healthy(&home, "exposed", 6);
    open_up(&write(&home, "exposed/.env", "API_KEY=abc\n"), 0o644);
    expect("env-permissions", &id);

    let id = healthy(&home, "folder-for-env", 7);
    fs::create_dir(home.home().join("folder-for-env/.env")).expect("a folder");
    expect("env-unreadable", &id);

    let id = healthy(&home, "broken", 8);
    let ok = json!({ "command": ["python3"], "description": "One." });
    rewrite(&home, "broken", &uuid(8), &json!({ "entrypoints": { "ok": ok, "bad": "./missing.workflow.ts" } }));
    expect("entrypoint-broken", &id);

    let id = healthy(&home, "drafts", 9);
    rewrite(&home, "drafts", &uuid(9), &json!({ "entrypoints": { "d": { "command": ["python3"], "draft": true } } }));
    expect("no-entrypoints", &id);

    let id = healthy(&home, "program", 10);
    rewrite(
        &home,
        "program",
        &uuid(10),
        &json!({ "entrypoints": { "p": { "command": ["no-such-program"], "description": "P." } } }),
    );
    expect("program-missing", &id);

    let id = healthy(&home, "lonely", 11);
    rewrite(
        &home,
        "lonely",
        &uuid(11),
        &json!({ "entrypoints": { "ok": ok },
        "relatedProjects": { "style": { "id": uuid(1) } } }),
    );
    expect("related-unconfirmed", &id);

    let id = healthy(&home, "long", 12);
    rewrite(&home, "long", &uuid(12), &json!({ "entrypoints": { "l".repeat(41): ok } }));
    expect("project-warning", &id);

    // Clients' files: one changed, one without our entry, one broken.
    let id = healthy(&home, "written", 13);
    for client in ["cursor", "gemini", "kiro"] {
        command(&home, &["config", &id, "--client", client, "--write", "--json"]);
    }
    let cursor = home.home().join(".cursor/mcp.json");
    let text = fs::read_to_string(&cursor).expect("it was written");
    fs::write(&cursor, text.replace("--workflow-mcp", "--something-else")).expect("it is ours");
    expect("client-changed", "");
    fs::write(home.home().join(".gemini/settings.json"), "{}").expect("it is ours");
    expect("client-missing", "");
    fs::write(home.home().join(".kiro/settings/mcp.json"), "{ broken").expect("it is ours");
    expect("client-unreadable", "");

    // The installation.
    open_up(&home.home().join(".workflow-code/desktop.json"), 0o644);
    expect("profile-permissions", "");
    open_up(&write(&home, ".workflow-code/workflow-auth.json", "{}"), 0o644);
    expect("auth-permissions", "");
    let data = data_folder(&home);
    open_up(&data, 0o755);
    expect("data-folder-permissions", "");

    expected.sort();
    assert_eq!(findings(&home), expected);
    // Looking changes nothing: the second look finds the same.
    assert_eq!(findings(&home), expected);
    home.assert_nothing_left();
}

/// Faults that hide what lies behind them, one at a time.
#[rstest]
#[case("database-missing")]
#[case("database-foreign")]
#[case("database-unusable")]
#[case("data-folder-missing")]
#[case("profile")]
#[case("client-ledger")]
fn one_fault_that_hides_the_others(#[case] check: &str) {
    let home = environment();
    healthy(&home, "one", 1);
    let data = data_folder(&home);
    let database = data.join("desktop.db");
    let remove = || {
        for name in ["desktop.db", "desktop.db-wal", "desktop.db-shm"] {
            let _ = fs::remove_file(data.join(name));
        }
    };
    let mut expected = vec![(check.to_owned(), String::new())];
    match check {
        "database-missing" => remove(),
        "database-foreign" => {
            remove();
            fs::write(&database, "somebody's notes ".repeat(100)).expect("a file");
        }
        "database-unusable" => {
            remove();
            fs::create_dir(&database).expect("a folder");
        }
        "data-folder-missing" => {
            fs::remove_dir_all(&data).expect("it is ours");
            expected.push(("database-missing".into(), String::new()));
        }
        "profile" => drop(write(&home, ".workflow-code/desktop.json", "{ broken")),
        _ => drop(write(&home, ".workflow-code/clients.json", "{ broken")),
    }
    if let Ok(facts) = fs::metadata(home.home().join(".workflow-code/desktop.json")) {
        assert_eq!(facts.permissions().mode() & 0o077, 0, "rewriting keeps it to its owner");
    }
    expected.sort();
    assert_eq!(findings(&home), expected);
    home.assert_nothing_left();
}

/// A run whose process was killed is marked when the doctor looks, and told of.
#[test]
fn the_text_for_people_says_the_same() {
    let home = environment();
    let id = healthy(&home, "gone", 1);
    fs::remove_dir_all(home.home().join("gone")).expect("it is ours");
    let done = home.run(&["doctor"]).expect("it ends");
    assert_eq!(done.code, 3);
    assert!(done.stdout.contains(&format!("error ({id}): ")) && done.stdout.contains("\n  fix: "), "{}", done.stdout);
    assert!(done.stdout.ends_with("1 finding\n"), "{}", done.stdout);
    assert_eq!(home.run(&["doctor", &id]).expect("it ends").code, 3);
    home.assert_nothing_left();
}
