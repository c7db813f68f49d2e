//! The command line, end to end: templates, runs, projects, configuration.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Finished, executable};

use crate::fixtures::{
    LEGACY, UUID, command, environment, project, project_at, runs, serve, signal, usual_project, wait_for_file, write,
};

fn text(path: std::path::PathBuf) -> String {
    path.to_string_lossy().into_owned()
}

fn in_data(home: &Environment, arguments: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
    all.extend(["--data-dir".to_owned(), text(home.home().join("data"))]);
    all
}

// init

#[rstest]
fn a_template_runs_is_served_and_is_registered(#[values("script", "command")] template: &str) {
    let home = environment();
    let folder = text(home.home().join("new"));
    let made = command(&home, &["init", &folder, "--template", template, "--json"]);
    assert!(made["files"].as_array().is_some_and(|files| files.len() >= 2), "{made}");
    let report = command(&home, &["structure", &folder]);
    assert_eq!((&report["errors"], &report["entrypoints"][0]["id"]), (&json!([]), &json!("main")), "{report:#}");
    let done = home.run(&["run", &folder, "main", "--name", "Ada", "--times", "2"]).expect("it ends");
    assert_eq!((done.code, &done.json()["output"]), (0, &json!({ "greeting": "Hello, Ada! Hello, Ada!" })), "{done:?}");
    let added = command(&home, &["projects", "add", &folder, "--json"]);
    let id = added[0]["projectId"].as_str().expect("an id").to_owned();
    assert_eq!(added[0]["uuid"], made["uuid"]);
    let mut client = Client::start(&home, &["--workflow-mcp", &id], ClientOptions::default());
    let result = client.call("main", json!({ "name": "Ada" })).result();
    assert_eq!(result["structuredContent"]["output"]["greeting"], "Hello, Ada!", "{result}");
    client.finish();
    // A second time nothing is missing, and nothing is touched.
    let again = command(&home, &["init", &folder, "--template", template, "--json"]);
    assert_eq!((&again["files"], &again["uuid"]), (&json!([]), &made["uuid"]));
    home.assert_nothing_left();
}

#[test]
fn init_adds_only_what_is_missing_and_a_copy_gets_an_id_of_its_own() {
    let home = environment();
    write(&home, "mine/package.json", "{\n  \"name\": \"mine\",\n  \"scripts\": { \"a\": \"b\" }\n}\n");
    write(&home, "mine/main.workflow.ts", "export default async () => 7;\n");
    let folder = text(home.home().join("mine"));
    let done = home.run(&["init", &folder]).expect("it ends");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stdout.contains("+  \"projectType\": \"workflow\""), "the difference is shown: {}", done.stdout);
    assert_eq!(
        fs::read_to_string(home.home().join("mine/main.workflow.ts")).expect("kept"),
        "export default async () => 7;\n"
    );
    let package: Value =
        serde_json::from_str(&fs::read_to_string(home.home().join("mine/package.json")).expect("kept")).expect("JSON");
    assert_eq!((&package["name"], &package["scripts"]["a"]), (&json!("mine"), &json!("b")));
    command(&home, &["projects", "add", &folder, "--json"]);
    // A copy is refused by its id, and has a way out.
    crate::fixtures::copy_folder(&home.home().join("mine"), &home.home().join("copy")).expect("it can be copied");
    let copy = text(home.home().join("copy"));
    let refused = home.run(&["projects", "add", &copy]).expect("it ends");
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("--new-id"), "{refused:?}");
    command(&home, &["init", &copy, "--new-id", "--json"]);
    let added = command(&home, &["projects", "add", &copy, "--json"]);
    assert_ne!(added[0]["uuid"], package["id"]);
    home.assert_nothing_left();
}

// run

#[test]
fn run_takes_parameters_a_file_or_standard_input() {
    let home = environment();
    project(
        &home,
        json!({ "echo": { "description": "Echoes.", "command": ["python3", "-c", "import sys; print(sys.stdin.read())"],
            "params": {
                "text": { "type": "string" }, "count": { "type": "integer", "default": 3 },
                "flag": { "type": "boolean" }, "tags": { "type": "string", "multiple": true },
                "rest": { "type": "positional" } } } }),
        &[],
    );
    let folder = text(home.home().join("project"));
    let output = |arguments: &[&str], input: &str| {
        let mut all = vec!["run", &folder];
        all.extend(arguments);
        let done = home.run_program(executable(), &all, input.as_bytes()).expect("it ends");
        assert_eq!(done.code, 0, "{done:?}");
        done.json()["output"].clone()
    };
    assert_eq!(output(&["echo"], ""), json!({ "count": 3 }));
    assert_eq!(
        output(&["echo", "--text", "a b", "--count=-4", "--flag", "--tags", "x", "--tags", "y", "last"], ""),
        json!({ "text": "a b", "count": -4, "flag": true, "tags": ["x", "y"], "rest": "last" })
    );
    assert_eq!(
        output(&["echo", "--no-flag", "--text=--odd"], ""),
        json!({ "text": "--odd", "count": 3, "flag": false })
    );
    let file = text(write(&home, "input.json", r#"{"text":"from a file"}"#));
    assert_eq!(output(&["--input-json", &file, "echo"], ""), json!({ "text": "from a file", "count": 3 }));
    assert_eq!(output(&["--input-json", "-", "echo"], r#"{"count":9}"#), json!({ "count": 9 }));
    home.assert_nothing_left();
}

#[test]
fn run_tells_progress_on_standard_error_and_ends_with_the_runs_code() {
    let home = environment();
    let folder = text(usual_project(&home));
    let done = home.run(&["run", &folder, "hello", "--name", "Ada"]).expect("it ends");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains("a line for standard output") && done.stderr.contains("a line for standard error"));
    assert_eq!(done.json()["output"]["greeting"], "Hello, Ada", "standard output is the result and nothing else");
    let failed = home.run(&["run", &folder, "fail"]).expect("it ends");
    assert_eq!((failed.code, &failed.json()["error"]["code"]), (1, &json!("command_failed")), "{failed:?}");
    home.assert_nothing_left();
}

#[test]
fn an_interrupted_run_ends_with_130_and_leaves_nothing() {
    let home = environment();
    let folder = text(usual_project(&home));
    let mut child = home.start(executable(), &["run", &folder, "sleep"]).expect("it starts");
    wait_for_file(&home, "sleeping");
    crate::fixtures::signal(child.id(), rustix::process::Signal::INT);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    home.assert_nothing_left();
}

// runs

#[test]
fn runs_are_listed_filtered_paged_shown_and_exported() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    for name in ["A", "B", "C"] {
        client.call("hello", json!({ "name": name })).result();
    }
    client.call("fail", json!({})).result();
    client.finish();
    let all = runs(&home);
    let titles: Vec<&str> = all.iter().filter_map(|run| run["entrypointTitle"].as_str()).collect();
    assert_eq!(titles, ["Fail", "Hello", "Hello", "Hello"], "newest first");
    let list = |more: &[&str]| {
        let mut arguments = vec!["runs", "list", "--json"];
        arguments.extend(more);
        let arguments = in_data(&home, &arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        command(&home, &arguments).as_array().cloned().expect("a list")
    };
    assert_eq!(list(&["--status", "failed"]).len(), 1);
    assert_eq!(list(&["--status", "cancelled"]).len(), 0);
    let page = list(&["--limit", "2"]);
    let rest = list(&["--before", page[1]["runId"].as_str().expect("an id")]);
    assert_eq!([page, rest].concat(), all, "pages join without a gap");

    let run = all[1]["runId"].as_str().expect("an id");
    let show = home.run(&in_data(&home, &["runs", "show", run])).expect("it ends");
    assert!(show.stdout.contains(run) && show.stdout.contains("Hello, C"), "{}", show.stdout);
    let logs = |more: &[&str]| {
        let mut arguments = vec!["runs", "logs", run];
        arguments.extend(more);
        home.run(&in_data(&home, &arguments)).expect("it ends").stdout
    };
    assert_eq!(logs(&["--stream", "stdout"]), "a line for standard output\n");
    assert_eq!(logs(&["--stream", "stderr"]), "a line for standard error\n");
    assert_eq!(logs(&["--follow"]).lines().count(), 2, "following an ended run ends");
    let wait = home.run(&in_data(&home, &["runs", "wait", run])).expect("it ends");
    assert_eq!((wait.code, &wait.json()["output"]["greeting"]), (0, &json!("Hello, C")));
    let failed = all[0]["runId"].as_str().expect("an id");
    assert_eq!(home.run(&in_data(&home, &["runs", "wait", failed])).expect("it ends").code, 1);

    let file = text(home.home().join("run.json"));
    assert_eq!(home.run(&in_data(&home, &["runs", "export", run, "--output", &file])).expect("it ends").code, 0);
    let exported: Value = serde_json::from_str(&fs::read_to_string(&file).expect("it was written")).expect("JSON");
    assert_eq!((&exported["format"], &exported["run"]["runId"]), (&json!("workflow-code-run"), &json!(run)));
    let again = home.run(&in_data(&home, &["runs", "export", run, "--output", &file])).expect("it ends");
    assert_eq!(again.code, 3, "an existing file is never overwritten: {again:?}");
    home.assert_nothing_left();
}

#[test]
fn a_run_elsewhere_is_waited_for_and_cancelled() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    let id = client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    let run = runs(&home)[0]["runId"].as_str().expect("an id").to_owned();
    let waited = home.run(&in_data(&home, &["runs", "wait", &run, "--timeout", "1"])).expect("it ends");
    assert_eq!(waited.code, 1, "{waited:?}");
    assert!(waited.stderr.contains("running"), "{waited:?}");
    let arguments = in_data(&home, &["runs", "cancel", &run]);
    assert_eq!(home.run(&arguments).expect("it ends").code, 0);
    let result = client.wait(&id).result();
    assert_eq!(result["structuredContent"]["status"], "cancelled", "whoever called is told: {result}");
    let waited = home.run(&in_data(&home, &["runs", "wait", &run])).expect("it ends");
    assert_eq!((waited.code, &waited.json()["status"]), (1, &json!("cancelled")), "{waited:?}");
    assert_eq!(home.run(&arguments).expect("it ends").code, 0, "cancelling what has ended says so");
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn a_running_run_is_followed_to_its_end() {
    let home = environment();
    project(
        &home,
        json!({ "talk": { "description": "Talks.", "command": ["sh", "-c",
            "echo first; touch here; until [ -e go ]; do sleep 0.02; done; echo last"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let id = client.ask("tools/call", json!({ "name": "talk", "arguments": {} }));
    wait_for_file(&home, "here");
    let run = runs(&home)[0]["runId"].as_str().expect("an id").to_owned();
    let mut follower =
        home.start(executable(), &in_data(&home, &["runs", "logs", &run, "--follow"])).expect("it starts");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(follower.stdout.take().expect("a pipe")));
    assert_eq!(lines.next().expect("a line").expect("text"), "first");
    write(&home, "project/go", "");
    assert_eq!(lines.next().expect("a line").expect("text"), "last");
    assert!(lines.next().is_none());
    assert!(follower.wait().expect("it ends").success());
    client.wait(&id).result();
    client.finish();
    home.assert_nothing_left();
}

// projects

#[test]
fn projects_are_added_shown_moved_removed_and_brought_back() {
    let home = environment();
    let folder = usual_project(&home);
    let path = text(folder.clone());
    let id = command(&home, &["projects", "add", &path, "--json"])[0]["projectId"].as_str().expect("an id").to_owned();
    assert_eq!(
        command(&home, &["projects", "add", &path, "--json"])[0]["projectId"],
        id.as_str(),
        "adding again is no second"
    );
    assert_eq!(
        command(&home, &["projects", "show", UUID, "--json"])["projectId"],
        id.as_str(),
        "a UUID names it as well"
    );
    let done = home.run(&["run", &id, "hello", "--name", "Ada"]).expect("it ends");
    assert_eq!(done.code, 0, "{done:?}");
    // Moved: the same project at a new place, with its history.
    fs::rename(&folder, home.home().join("moved")).expect("it can be moved");
    let moved = text(home.home().join("moved"));
    let added = command(&home, &["projects", "add", &moved, "--json"]);
    assert_eq!((&added[0]["projectId"], &added[0]["path"]), (&json!(id), &json!(moved)));
    let count = || command(&home, &["runs", "list", "--json", "--project", &id]).as_array().map(Vec::len);
    assert_eq!(count(), Some(1));
    // Removed and brought back.
    command(&home, &["projects", "remove", &id, "--json"]);
    assert_eq!(command(&home, &["projects", "list", "--json"]), json!([]));
    assert_eq!(command(&home, &["projects", "add", &moved, "--json"])[0]["projectId"], id.as_str());
    assert_eq!(count(), Some(1));
    // Purged.
    command(&home, &["projects", "remove", &id, "--purge", "--json"]);
    assert_eq!(command(&home, &["runs", "list", "--json"]), json!([]));
    home.assert_nothing_left();
}

#[test]
fn a_running_project_is_not_removed() {
    let home = environment();
    let path = text(usual_project(&home));
    let id = command(&home, &["projects", "add", &path, "--json"])[0]["projectId"].as_str().expect("an id").to_owned();
    let mut client = Client::start(&home, &["--workflow-mcp", &id], ClientOptions::default());
    client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    for more in [None, Some("--purge")] {
        let mut arguments = vec!["projects", "remove", id.as_str()];
        arguments.extend(more);
        let refused = home.run(&arguments).expect("it ends");
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.stderr.contains("runs cancel"), "{refused:?}");
    }
    client.finish();
    assert_eq!(home.run(&["projects", "remove", &id]).expect("it ends").code, 0);
    home.assert_nothing_left();
}

#[test]
fn related_projects_are_confirmed_from_both_sides() {
    let home = environment();
    let other = "22222222-2222-4222-8222-222222222222";
    let ok = json!({ "ok": { "command": ["true"], "description": "One." } });
    for (folder, id, alias, to) in [("a", UUID, "b", other), ("b", other, "a", UUID)] {
        project_at(&home, folder, id, ok.clone(), &[]);
        let package = json!({ "name": folder, "id": id, "projectType": "workflow",
            "workflow": { "entrypoints": ok, "relatedProjects": { alias: { "id": to } } } });
        write(&home, &format!("{folder}/package.json"), &package.to_string());
        command(&home, &["projects", "add", &text(home.home().join(folder)), "--json"]);
    }
    let relate = |words: &[&str]| {
        let mut arguments = vec!["projects", "relate"];
        arguments.extend(words);
        arguments.push("--json");
        command(&home, &arguments)["confirmed"].clone()
    };
    assert_eq!(relate(&[UUID, "b", other]), false);
    assert_eq!(relate(&[other, "a", UUID]), true);
    let wrong = home.run(&["projects", "relate", UUID, "nobody", other]).expect("it ends");
    assert_eq!(wrong.code, 2, "{wrong:?}");
    home.assert_nothing_left();
}

#[test]
fn profiles_keep_apart() {
    let home = environment();
    let path = text(usual_project(&home));
    command(&home, &["projects", "add", &path, "--json"]);
    assert_eq!(command(&home, &["projects", "list", "--json", "--profile", "work"]), json!([]));
    command(&home, &["projects", "add", &path, "--json", "--profile", "work"]);
    assert_eq!(command(&home, &["projects", "list", "--json", "--profile", "work"]).as_array().map(Vec::len), Some(1));
    assert_eq!(
        command(&home, &["--profile", "other", "projects", "list", "--json"]),
        json!([]),
        "before the command as well"
    );
    // What only a server has does not go before a command.
    for words in [["--workflow-mcp", "x"], ["--max-concurrent", "1"]] {
        let refused = home.run(&[words[0], words[1], "projects", "list"]).expect("it ends");
        assert_eq!(refused.code, 2, "{refused:?}");
    }
    home.assert_nothing_left();
}

/// Whoever comes first makes the profile; many may come first at once.
#[test]
fn many_may_make_the_profile_at_once() {
    let home = environment();
    for number in 0..8 {
        project_at(&home, &format!("p{number}"), &format!("11111111-1111-4111-8111-{number:012}"), json!({}), &[]);
    }
    let mut children: Vec<_> = (0..8)
        .map(|number| {
            let path = text(home.home().join(format!("p{number}")));
            home.start(executable(), &["projects", "add", &path]).expect("it starts")
        })
        .collect();
    for child in &mut children {
        assert!(child.wait().expect("it ends").success());
    }
    assert_eq!(command(&home, &["projects", "list", "--json"]).as_array().map(Vec::len), Some(8));
    home.assert_nothing_left();
}

// config

#[rstest]
#[case(
    "cursor",
    ".cursor/mcp.json",
    "{\n  // mine\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } }, \"keep\": 1\n}\n",
    "// mine"
)]
#[case("claude-code", ".claude.json", "{\"numStartups\": 7, \"mcpServers\": {}}\n", "\"numStartups\": 7")]
#[case("codex", ".codex/config.toml", "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"x\"\n", "# mine")]
#[case("gemini", ".gemini/settings.json", "{ \"theme\": \"dark\" }\n", "\"theme\": \"dark\"")]
fn config_merges_with_a_backup_and_keeps_what_is_there(
    #[case] client: &str,
    #[case] file: &str,
    #[case] before: &str,
    #[case] kept: &str,
) {
    let home = environment();
    let path = text(usual_project(&home));
    let id = command(&home, &["projects", "add", &path, "--json"])[0]["projectId"].as_str().expect("an id").to_owned();
    let target = write(&home, file, before);
    let preview = home.run(&["config", &id, "--client", client, "--preview"]).expect("it ends");
    assert_eq!(preview.code, 0, "{preview:?}");
    assert_eq!(fs::read_to_string(&target).expect("it is there"), before, "a preview changes nothing");
    let written = command(&home, &["config", &id, "--client", client, "--write", "--json"]);
    assert_eq!((&written["changed"], &written["created"]), (&json!(true), &json!(false)), "{written}");
    let after = fs::read_to_string(&target).expect("it is there");
    for word in [kept, "--workflow-mcp", &id, &format!("workflow-{UUID}")] {
        assert!(after.contains(word), "`{word}` is not in {after}");
    }
    assert!(!before.contains("other") || after.contains("other"), "{after}");
    let backup = written["backup"].as_str().expect("a backup");
    assert_eq!(fs::read_to_string(backup).expect("it was made"), before);
    let again = command(&home, &["config", &id, "--client", client, "--write", "--json"]);
    assert_eq!(again["changed"], false, "{again}");
    command(&home, &["config", &id, "--client", client, "--remove", "--json"]);
    let removed = fs::read_to_string(&target).expect("it is there");
    assert!(removed.contains(kept) && !removed.contains("--workflow-mcp"), "{removed}");
    home.assert_nothing_left();
}

/// What is printed is what works: the command of the snippet is started, and serves.
#[test]
fn the_configuration_that_is_printed_starts_a_server() {
    let home = environment();
    let path = text(usual_project(&home));
    let id = command(&home, &["projects", "add", &path, "--json"])[0]["projectId"].as_str().expect("an id").to_owned();
    for target in [id.as_str(), path.as_str()] {
        let snippet = command(&home, &["config", target]);
        let entry = &snippet["mcpServers"][format!("workflow-{UUID}")];
        let words: Vec<_> =
            entry["args"].as_array().into_iter().flatten().filter_map(|one| one.as_str().map(Into::into)).collect();
        let program = entry["command"].as_str().expect("a command").into();
        let mut client = Client::start_program(&home, program, &words, ClientOptions::default());
        assert_eq!(client.request("tools/list", json!({})).result()["tools"].as_array().map(Vec::len), Some(3));
        client.finish();
    }
    home.assert_nothing_left();
}

#[test]
fn projects_of_every_served_kind_have_a_configuration() {
    let home = environment();
    fs::create_dir_all(home.home().join("both/.deepwork/jobs")).expect("a folder");
    let folder = text(home.home().join("both"));
    command(&home, &["board", "init", "--root", &folder, "--json"]);
    let added = command(&home, &["projects", "add", &folder, "--json"]);
    assert_eq!(added.as_array().map(Vec::len), Some(2), "{added}");
    for project in added.as_array().into_iter().flatten() {
        let (id, kind) = (project["projectId"].as_str().expect("an id"), project["kind"].as_str().expect("a kind"));
        let snippet = command(&home, &["config", id]);
        let entry = &snippet["mcpServers"][format!("{kind}-{id}")];
        let words: Vec<_> =
            entry["args"].as_array().into_iter().flatten().filter_map(|one| one.as_str().map(Into::into)).collect();
        let program = entry["command"].as_str().expect("a command").into();
        let mut client = Client::start_program(&home, program, &words, ClientOptions::default());
        assert!(client.request("tools/list", json!({})).result()["tools"].is_array());
        client.finish();
    }
    // A folder that is only listed is no server, and nobody is sent to configure it.
    let only = home.run(&["projects", "add", &folder, "--kind", "folder"]).expect("it ends");
    assert!(!only.stderr.contains("next:"), "{only:?}");
    let listed = command(&home, &["projects", "list", "--json"]);
    let id = listed.as_array().into_iter().flatten().find(|one| one["kind"] == "folder").expect("it is listed");
    let refused = home.run(&["config", id["projectId"].as_str().expect("an id")]).expect("it ends");
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.stderr.contains("`folder`"), "{refused:?}");
    home.assert_nothing_left();
}

#[test]
fn config_says_which_tools_a_client_drops_and_which_key_keeps_them() {
    let home = environment();
    let long = "l".repeat(30);
    project(&home, json!({ &long: { "command": ["true"], "description": "One." } }), &[]);
    let path = text(home.home().join("project"));
    let id = command(&home, &["projects", "add", &path, "--json"])[0]["projectId"].as_str().expect("an id").to_owned();
    for target in [&id, &path] {
        let warnings = command(&home, &["config", target, "--client", "cursor", "--json"])["warnings"].to_string();
        assert!(warnings.contains(&long) && warnings.contains("--key wf-fixture"), "{warnings}");
        let short = command(&home, &["config", target, "--client", "cursor", "--json", "--key", "wf-fixture"]);
        assert!(!short["warnings"].to_string().contains(&long), "{short}");
    }
    let notes = command(&home, &["config", &id, "--client", "cursor", "--write", "--json"])["notes"].to_string();
    assert!(notes.contains(&long), "{notes}");
    home.assert_nothing_left();
}

/// The commands that stand between backticks.
fn shown_commands(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).filter(|text| text.starts_with("workflow-code ")).map(str::to_owned).collect()
}

/// Does what somebody does who pastes a command into a shell.
fn paste(home: &Environment, command: &str) -> Finished {
    let folder = executable().parent().map(Path::to_owned).expect("a folder");
    let script = "PATH=\"$1:$PATH\"; eval \"$2\"";
    let words = ["-c", script, "sh", &folder.to_string_lossy(), command].map(OsString::from);
    home.run_program("sh", &words, &[]).expect("it ends")
}

#[test]
fn commands_that_are_shown_can_be_pasted() {
    let home = environment();
    let ask = "export default async (input, flow) => await flow.approve({ tool: \"rm\", title: \"May it?\" });\n";
    project_at(
        &home,
        "it's a \"project\" 运行",
        UUID,
        json!({ "ask": "./ask.workflow.ts" }),
        &[("ask.workflow.ts", ask)],
    );
    let path = text(home.home().join("it's a \"project\" 运行"));
    let data = text(home.home().join("d d's"));
    // In a folder whose name a shell would take apart, and in the registry of another profile.
    command(&home, &["projects", "add", &path, "--profile", "work", "--json"]);
    let id = command(&home, &["projects", "list", "--profile", "work", "--json"])[0]["projectId"].clone();
    let id = id.as_str().expect("an id").to_owned();
    for begin in [vec!["run", &path, "--data-dir", &data], vec!["run", &id, "--profile", "work"]] {
        for (nth, output) in [(0, true), (1, false)] {
            let asked = home.run(&begin).expect("it ends").json();
            let shown = shown_commands(asked["error"]["message"].as_str().expect("a message"));
            assert_eq!(shown.len(), 3, "{shown:?}");
            let answered = paste(&home, &shown[nth]);
            assert_eq!(answered.json()["output"], output, "{shown:?}: {answered:?}");
            let waited = paste(&home, &shown[2]);
            assert_eq!(waited.json()["output"], output, "{shown:?}: {waited:?}");
        }
    }
    let shown = home.run(&["projects", "remove", &id, "--profile", "work"]).expect("it ends").stderr;
    let again = shown_commands(&shown);
    assert_eq!(paste(&home, &again[0]).code, 0, "{shown}");
    let shown = home.run(&["init", &text(home.home().join("a new one"))]).expect("it ends").stderr;
    for command in shown_commands(&shown) {
        assert_eq!(paste(&home, &command).code, 0, "{shown}");
    }
    home.assert_nothing_left();
}

#[test]
fn parameters_may_stand_right_behind_what_is_run() {
    let home = environment();
    let code = "export const entrypoint = { description: \"Doubles.\", params: { n: { type: \"number\", required: true },\n\
        file: { type: \"positional\" } } };\nexport default (input) => ({ n: input.n * 2, file: input.file });\n";
    project(&home, json!({ "main": "./main.workflow.ts" }), &[("main.workflow.ts", code)]);
    let folder = text(home.home().join("project"));
    let script = text(write(&home, "loose.ts", code));
    for target in [&folder, &script] {
        for words in [vec!["--n", "4"], vec!["--n=4"], vec!["--n", "4", "a.csv"], vec!["--", "--n", "4"]] {
            let mut all = vec!["run", target.as_str()];
            all.extend(words);
            let done = home.run(&all).expect("it ends");
            assert_eq!(done.json()["output"]["n"], 8, "{all:?}: {done:?}");
        }
    }
    let named = home.run(&["run", &folder, "main", "--n", "4", "a.csv"]).expect("it ends");
    assert_eq!(named.json()["output"]["file"], "a.csv", "{named:?}");
    let unknown = home.run(&["run", &folder, "a.csv", "--n", "4"]).expect("it ends");
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.stderr.contains("`a.csv`") && unknown.stderr.contains("`main`"), "{unknown:?}");
    let missing = home.run(&["run", &script]).expect("it ends");
    assert_eq!(missing.code, 2, "{missing:?}");
    assert!(missing.stderr.contains("loose.ts") && !missing.stderr.contains("structure"), "{missing:?}");
    home.assert_nothing_left();
}

#[test]
fn every_command_tells_the_version_of_the_one_program() {
    let home = environment();
    let own = home.run(&["--version"]).expect("it ends").stdout;
    for words in [vec!["runs", "--version"], vec!["runs", "list", "--version"], vec!["doctor", "--version"]] {
        assert_eq!(home.run(&words).expect("it ends").stdout, own, "{words:?}");
    }
    home.assert_nothing_left();
}

// The first run of `run` in a registered folder is recorded in the registry's history, elsewhere beside the data.
#[test]
fn runs_of_a_registered_folder_are_in_the_registrys_history() {
    let home = environment();
    let path = text(usual_project(&home));
    assert_eq!(home.run(&["run", &path, "hello", "--name", "Ada"]).expect("it ends").code, 0);
    assert_eq!(command(&home, &["runs", "list", "--json"]), json!([]));
    command(&home, &["projects", "add", &path, "--json"]);
    assert_eq!(home.run(&["run", &path, "hello", "--name", "Ada"]).expect("it ends").code, 0);
    let recorded = command(&home, &["runs", "list", "--json"]);
    assert_eq!((&recorded[0]["origin"], recorded.as_array().map(Vec::len)), (&json!("cli"), Some(1)));
    home.assert_nothing_left();
}

#[test]
fn a_run_is_cancelled_by_the_signals_that_end_programs() {
    // What these tests were started deaf to (`nohup`), so is what they start.
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask").trim();
    let ignored = u64::from_str_radix(ignored, 16).expect("a number");
    for (ending, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        if ending == Signal::HUP && ignored & 1 == 1 {
            continue;
        }
        let home = environment();
        let polite = "trap 'touch ended; exit 1' TERM; touch begun; while :; do sleep 0.02; done";
        let folder =
            text(project(&home, json!({ "wait": { "command": ["sh", "-c", polite], "description": "Waits." } }), &[]));
        let mut child = home.start(executable(), &["run", &folder, "wait"]).expect("it starts");
        wait_for_file(&home, "begun");
        signal(child.id(), ending);
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code), "{ending:?}");
        wait_for_file(&home, "ended");
        let data = text(home.home().join(".workflow-code"));
        let listed = command(&home, &["runs", "list", "--json", "--data-dir", &data]);
        assert_eq!(listed[0]["status"], "cancelled", "{listed}");
        home.assert_nothing_left();
    }
}

#[test]
fn what_nobody_knows_is_no_empty_list() {
    let home = environment();
    let folder = text(usual_project(&home));
    let unknown = ["runs", "list", "--json", "--project", "nope"];
    assert_eq!(home.run(&unknown).expect("it ends").code, 3);
    let id =
        command(&home, &["projects", "add", &folder, "--json"])[0]["projectId"].as_str().expect("an id").to_owned();
    let refused = home.run(&unknown).expect("it ends");
    assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("there is no project `nope`"), "{}", refused.stderr);
    assert_eq!(command(&home, &["runs", "list", "--json", "--project", &id]), json!([]));
    let done = home.run(&["run", &id, "hello", "--name", "Ada"]).expect("it ends");
    assert_eq!(done.code, 0, "{done:?}");
    command(&home, &["projects", "remove", &id, "--json"]);
    let kept = command(&home, &["runs", "list", "--json", "--project", &id]);
    assert_eq!(kept.as_array().map(Vec::len), Some(1), "the runs of a removed project are still there");
    // What was recorded is the owner's, also as a file of its own.
    let run = kept[0]["runId"].as_str().expect("an id");
    command(&home, &["runs", "export", run, "--json", "--output", "one.json"]);
    let mode = fs::metadata(home.home().join("one.json")).expect("it is written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    write(&home, "b/project.config.mjs", "export default {};");
    write(&home, "b/.project/cards/.gitkeep", "");
    for option in ["--status", "--type", "--priority"] {
        let refused = home.run(&["board", "card", "list", option, "nope", "--root", "b"]).expect("it ends");
        assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{option}: {}", refused.stderr);
        assert!(refused.stderr.contains("CARD_ENUM_INVALID"), "{option}: {}", refused.stderr);
    }
    home.assert_nothing_left();
}
