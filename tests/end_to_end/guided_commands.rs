//! Commands that rules and schemas name: they end with the call that wanted them and with the server, and can be turned
//! off everywhere at once.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;
use workflow_code_tests::{Client, ClientOptions, Environment, executable};

use crate::fixtures::environment;

const RULE: &str = "r:\n  description: d\n  match: {include: ['*.md']}\n  review: {strategy: individual, instructions: i, precomputed_info_for_reviewer_bash_command: './long.sh'}\n";

/// A project whose rule starts a program that starts another one, says so, and goes on for long.
fn project(home: &Environment) -> String {
    let script = "#!/bin/sh\nsetsid sleep 600 &\nsleep 600 &\ntouch running\nwait\n";
    let script = home.write("p/long.sh", script).expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("set");
    home.write("p/.deepreview", RULE).expect("written");
    home.write("p/a.md", "x").expect("written");
    script.parent().expect("a folder").display().to_string()
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn sleepers(home: &Environment) -> usize {
    home.census().iter().filter(|process| process.contains("sleep 600")).count()
}

/// A server with a call whose command runs.
fn busy(home: &Environment) -> (Client, serde_json::Value) {
    let root = project(home);
    let mut client = Client::start(home, &["guided", "serve", "--path", &root], ClientOptions::default());
    let call = json!({ "name": "get_review_instructions", "arguments": { "files": ["a.md"] } });
    let id = client.ask("tools/call", call);
    wait_for("the command runs", || home.home().join("p/running").exists() && sleepers(home) >= 2);
    (client, id)
}

#[test]
fn a_command_ends_with_its_call() {
    let home = environment();
    let (mut client, id) = busy(&home);
    client.cancel(&id);
    wait_for("all of it ends", || sleepers(&home) == 0);
    // The server goes on.
    let listed = client.call("get_configured_reviews", json!({})).result();
    assert!(listed.to_string().contains("\"r\""), "{listed}");
    assert_eq!(client.finish().0, 0);
    home.assert_nothing_left();
}

#[test]
fn a_command_ends_with_its_server_however_that_ends() {
    for end in ["input", "terminate", "kill"] {
        let home = environment();
        let (mut client, _) = busy(&home);
        match end {
            "input" => client.close_input(),
            "terminate" => {
                let facts = process::proc_info::facts(client.pid()).expect("it runs");
                assert!(process::tree::signal(facts, process::tree::Signal::Terminate));
            }
            _ => {
                client.kill();
                home.assert_nothing_left();
                continue;
            }
        }
        client.wait_for_exit();
        home.assert_nothing_left();
    }
}

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    let home = environment();
    let root = project(&home);
    let script =
        home.write("p/long.sh", "#!/bin/sh\nsetsid sleep 600 >/dev/null 2>&1 &\necho told\nexit 0\n").expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("set");
    let arguments = ["guided", "review", "--instructions-for", "claude", "--path", &root, "--files", "a.md"];
    assert_eq!(home.run(&arguments).expect("it runs").code, 0);
    assert!(written(&home).contains("told"));
    home.assert_nothing_left();
}

fn written(home: &Environment) -> String {
    let folder = home.home().join("p/.deepwork/tmp/review_instructions");
    let texts = std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("one").path());
    texts.map(|path| std::fs::read_to_string(path).expect("read")).collect()
}

#[test]
fn commands_are_turned_off_for_every_way_in() {
    let mut home = environment();
    let root = project(&home);
    let script = home.write("p/long.sh", "#!/bin/sh\ntouch ran\n").expect("written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("set");
    home.write("p/.deepwork/jobs/.keep", "").expect("written");
    home.write("p/.deepschema.a.md.yml", "verification_bash_command: ['touch ran']").expect("written");
    let added = home.run(&["projects", "add", &root, "--kind", "guided"]).expect("it runs");
    assert_eq!(added.code, 0, "{added:?}");
    let listed = home.run(&["projects", "list", "--json"]).expect("it runs").json().to_string();
    let id = listed.split("\"projectId\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id").to_owned();
    home.set("WORKFLOW_CODE_NO_HOOK_COMMANDS", "1");
    for arguments in [vec!["--workflow-mcp", &id], vec!["guided", "serve", "--path", &root]] {
        let mut client = Client::start(&home, &arguments, ClientOptions::default());
        client.call("get_review_instructions", json!({ "files": ["a.md"] })).result();
        assert!(written(&home).contains("turned off"));
        assert_eq!(client.finish().0, 0);
    }
    let arguments = ["guided", "review", "--instructions-for", "claude", "--path", &root, "--files", "a.md"];
    assert_eq!(home.run(&arguments).expect("it runs").code, 0);
    let input = json!({ "hook_event_name": "PostToolUse", "tool_name": "Write", "cwd": root, "tool_input": { "file_path": "a.md" } });
    let hook = home.run_program(executable(), &["guided", "hook", "deepschema_write"], input.to_string().as_bytes());
    let said = hook.expect("it runs").stdout;
    assert!(said.contains("Not checked") && !said.contains("CRITICAL"), "{said}");
    assert!(!home.home().join("p/ran").exists());
}
