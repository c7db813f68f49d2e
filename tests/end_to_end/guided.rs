//! Guided workflows through the executable: the wire, the roots, the command line, the hooks.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Opening, executable};

use crate::fixtures::{LEGACY, MODERN, environment};

const JOB: &str = "name: solo\nsummary: s\nstep_arguments: [{name: answer, description: d, type: string}]\nworkflows:\n  main:\n    summary: s\n    steps:\n      - {name: think, instructions: Think., outputs: {answer: {}}}\n";

const RULE: &str =
    "md_rule:\n  description: d\n  match: {include: ['*.md']}\n  review: {strategy: individual, instructions: i}\n";

fn project(home: &Environment, name: &str) -> PathBuf {
    let job = home.write(format!("{name}/.deepwork/jobs/solo/job.yml"), JOB).expect("written");
    job.ancestors().nth(4).expect("a folder").canonicalize().expect("it is there")
}

fn serve(home: &Environment, root: &Path, opening: Opening) -> Client {
    let arguments = ["guided", "serve", "--path"].map(String::from).into_iter();
    let arguments: Vec<String> = arguments.chain([root.display().to_string()]).collect();
    Client::start(home, &arguments, ClientOptions { opening, ..ClientOptions::default() })
}

fn start() -> Value {
    json!({ "goal": "g", "job_name": "solo", "workflow_name": "main", "session_id": "s" })
}

#[test]
fn a_workflow_runs_to_its_end_in_both_eras() {
    for opening in [LEGACY, MODERN] {
        let home = environment();
        let root = project(&home, "p");
        let mut client = serve(&home, &root, opening);
        let tools = client.request("tools/list", json!({})).result();
        assert_eq!(tools["tools"].as_array().map(Vec::len), Some(11));
        let begun = client.call("start_workflow", start()).result();
        let step = &begun["structuredContent"]["begin_step"];
        assert_eq!((&step["step_id"], &step["project_root"]), (&json!("think"), &json!(root)));
        let text: Value = serde_json::from_str(begun["content"][0]["text"].as_str().expect("text")).expect("JSON");
        assert_eq!(text, begun["structuredContent"]);
        let end = client.call("finished_step", json!({ "outputs": { "answer": "x" }, "session_id": "s" })).result();
        assert_eq!(end["structuredContent"]["status"], "workflow_complete");
        assert_eq!(client.finish().0, 0);
        home.assert_nothing_left();
    }
}

#[test]
fn failures_keep_their_three_shapes() {
    let home = environment();
    let root = project(&home, "p");
    let mut client = serve(&home, &root, LEGACY);
    assert!(client.opened["instructions"].as_str().is_some_and(|text| text.contains("solo")));
    assert_eq!(client.opened["capabilities"]["prompts"], json!({}));
    let tool_error = client.call("finished_step", json!({ "outputs": {}, "session_id": "never" })).result();
    assert_eq!(tool_error["isError"], true);
    assert_eq!(tool_error["content"].as_array().map(Vec::len), Some(1));
    assert!(tool_error.get("structuredContent").is_none());
    for arguments in [json!({ "outputs": {} }), json!({ "outputs": {}, "session_id": "" })] {
        let object = client.call("finished_step", arguments).result();
        assert_ne!(object["isError"], true);
        assert!(object["structuredContent"]["error"].as_str().is_some_and(|text| text.contains("session_id")));
    }
    let text = client.call("mark_review_as_passed", json!({ "review_id": "../x" })).result();
    assert_ne!(text["isError"], true);
    assert!(text["structuredContent"]["result"].as_str().is_some_and(|text| text.starts_with("Validation error:")));
    let list = client.call("get_configured_reviews", json!({})).result();
    assert_eq!((&list["content"], &list["structuredContent"]), (&json!([]), &json!({ "result": [] })));
    assert_eq!(client.call("no_such_tool", json!({})).result()["isError"], true);
    for method in ["prompts/list", "resources/list"] {
        assert!(client.request(method, json!({})).result().is_object(), "{method}");
    }
    assert_eq!(client.finish().0, 0);
    home.assert_nothing_left();
}

#[test]
fn a_broken_job_is_told_at_the_opening_and_with_object_answers() {
    let home = environment();
    let root = project(&home, "p");
    home.write("p/.deepwork/jobs/bad/job.yml", "name: [").expect("written");
    let mut client = serve(&home, &root, LEGACY);
    let opened = client.opened["instructions"].as_str().unwrap_or_default().to_owned();
    assert!(opened.starts_with("# Warning") && opened.contains("bad"), "{opened}");
    let listed = client.call("get_workflows", json!({})).result();
    assert!(listed["structuredContent"]["issue_detected"].as_str().is_some_and(|text| text.contains("bad")));
    let error = client.call("finished_step", json!({ "outputs": {} })).result();
    assert!(error["structuredContent"].get("issue_detected").is_none());
    // Mended, it can be used at once; what was found at the start is said until the next one.
    home.write("p/.deepwork/jobs/bad/job.yml", JOB).expect("written");
    let listed = client.call("get_workflows", json!({})).result();
    assert_eq!(listed["structuredContent"]["errors"], json!([]));
    assert!(listed["structuredContent"].get("issue_detected").is_some());
    assert_eq!(client.finish().0, 0);
}

/// Calls a tool and answers the server's question for roots meanwhile; none when `roots` is an error.
fn call_with_roots(client: &mut Client, id: i64, roots: &Value) -> (Value, bool) {
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "start_workflow", "arguments": start() } });
    client.send_raw(call.to_string().as_bytes());
    let mut asked = false;
    loop {
        let message = client.next_message(Instant::now() + Duration::from_secs(30)).expect("an answer");
        if message["method"] == "roots/list" {
            asked = true;
            let mut answer = json!({ "jsonrpc": "2.0", "id": message["id"] });
            match roots.as_array() {
                Some(roots) => answer["result"] = json!({ "roots": roots }),
                None => answer["error"] = json!({ "code": -32601, "message": "no roots" }),
            }
            client.send(&answer);
        } else if message["id"] == id {
            return (message["result"]["structuredContent"]["begin_step"]["project_root"].clone(), asked);
        }
    }
}

#[test]
fn the_root_is_the_clients_unless_a_path_was_given() {
    let home = environment();
    let (one, other) = (project(&home, "a b"), project(&home, "other"));
    let uri = |root: &Path| json!({ "uri": format!("file://{}", root.display()).replace(' ', "%20") });
    let options = || ClientOptions { capabilities: json!({ "roots": {} }), ..ClientOptions::default() };
    let mut client = Client::start(&home, &["guided", "serve"], options());
    let http = json!({ "uri": "http://example.com/" });
    assert_eq!(call_with_roots(&mut client, 100, &json!([http, uri(&one)])), (json!(one), true));
    assert_eq!(call_with_roots(&mut client, 101, &json!([uri(&other)])), (json!(other), true));
    // No roots, or no answer: where the server was started, which has no such job.
    assert_eq!(call_with_roots(&mut client, 102, &json!([])), (Value::Null, true));
    assert_eq!(call_with_roots(&mut client, 103, &Value::Null), (Value::Null, true));
    client.kill();
    let arguments = ["guided".to_owned(), "serve".into(), "--path".into(), one.display().to_string()];
    let mut client = Client::start(&home, &arguments, options());
    assert_eq!(call_with_roots(&mut client, 100, &json!([uri(&other)])), (json!(one), false));
    client.kill();
}

#[test]
fn a_bad_command_line_ends_with_2() {
    let home = environment();
    for arguments in [
        vec!["guided", "serve", "--path", "/no/such/folder"],
        vec!["guided", "serve", "--external-runner", "other"],
        vec!["guided", "serve", "--transport", "pigeon"],
        vec!["guided", "review"],
        vec!["guided", "serve", "--platform", "../x"],
        vec!["guided", "serve", "--platform", ""],
    ] {
        assert_eq!(home.run(&arguments).expect("it runs").code, 2, "{arguments:?}");
    }
    assert_eq!(home.run(&["guided", "hook", "no_such_hook"]).expect("it runs").code, 1);
}

#[test]
fn reviews_from_the_command_line() {
    let home = environment();
    let root = project(&home, "p").display().to_string();
    home.write("p/.deepreview", RULE).expect("written");
    home.write("p/bad/.deepreview", "x: 1").expect("written");
    home.write("p/a.md", "x").expect("written");
    let review = |more: &[&str]| {
        let mut arguments = vec!["guided", "review", "--instructions-for", "claude", "--path", &root];
        arguments.extend(more);
        home.run(&arguments).expect("it runs")
    };
    let listed = review(&["--files", "a.md"]);
    assert_eq!(listed.code, 0);
    assert!(listed.stdout.contains("md_rule--a.md--"), "{listed:?}");
    // What is wrong is told once, and not among the tasks.
    assert!(!listed.stdout.contains("bad/.deepreview"), "{listed:?}");
    assert_eq!(listed.stderr.matches("bad/.deepreview").count(), 1, "{listed:?}");
    // Not in a repository, and so nothing can be said of changes.
    let failed = review(&["--base-ref", "no-such"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    for arguments in ["init -q -b main", "add -A", "-c user.name=a -c user.email=a@example.com commit -qm x"] {
        let arguments: Vec<&str> = ["-C", &root].into_iter().chain(arguments.split(' ')).collect();
        let done = home.run_program("git", &arguments, b"").expect("it runs");
        assert_eq!(done.code, 0, "{done:?}");
    }
    let failed = review(&["--base-ref", "no-such"]);
    assert!(failed.code == 1 && failed.stderr.contains("`no-such` is no commit"), "{failed:?}");
    assert_eq!(review(&["--base-ref", "HEAD"]).code, 0);
}

#[test]
fn stacks_and_the_program_name_deepwork() {
    let home = environment();
    let root = project(&home, "p");
    let path = root.display().to_string();
    let mut client = serve(&home, &root, LEGACY);
    client.call("start_workflow", start()).result();
    assert_eq!(client.finish().0, 0);
    let program = root.join("deepwork");
    std::os::unix::fs::symlink(executable(), &program).expect("linked");
    for (program, mut arguments) in
        [(program, vec!["jobs", "get-stack"]), (executable(), vec!["guided", "jobs", "get-stack"])]
    {
        arguments.extend(["--path", &path]);
        let finished = home.run_program(&program, &arguments, b"").expect("it runs");
        assert_eq!(finished.code, 0, "{finished:?}");
        assert_eq!(finished.json()["active_sessions"][0]["current_step_id"], "think");
    }
}

#[test]
fn a_hook_answers_one_object_and_is_never_in_the_way() {
    let home = environment();
    let root = project(&home, "p");
    home.write("p/.deepschema.x.md.yml", "requirements: {a: x}").expect("written");
    home.write("p/x.md", "x").expect("written");
    let input = json!({ "hook_event_name": "PostToolUse", "tool_name": "Write", "cwd": root, "tool_input": { "file_path": "x.md" } });
    for (input, wanted) in [(input.to_string(), "x.md"), ("no json".into(), "{}")] {
        let arguments = ["guided", "hook", "deepschema_write"];
        let finished = home.run_program(executable(), &arguments, input.as_bytes()).expect("it runs");
        assert_eq!(finished.code, 0, "{finished:?}");
        let answer = finished.stdout;
        assert!(
            answer.contains(wanted) && serde_json::from_str::<Value>(&answer).is_ok_and(|value| value.is_object()),
            "{answer}"
        );
    }
}

#[test]
fn what_cannot_be_written_is_a_warning_in_the_log_only() {
    let home = environment();
    let root = project(&home, "p");
    for folder in [".deepwork/job.schema.json/x", ".deepwork/tmp/status/v1/job_manifest.yml/x"] {
        std::fs::create_dir_all(root.join(folder)).expect("made");
    }
    let mut client = serve(&home, &root, LEGACY);
    let listed = client.call("get_workflows", json!({})).result();
    assert!(listed["isError"] != true && listed["structuredContent"].get("issue_detected").is_none(), "{listed}");
    assert!(listed.to_string().contains("solo"));
    let mut log = String::new();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !(log.contains("job.schema.json") && log.contains("job_manifest.yml")) {
        assert!(Instant::now() < deadline, "{log}");
        log.push_str(&client.errors());
        std::thread::park_timeout(Duration::from_millis(20));
    }
    assert!(log.contains("WARN"), "{log}");
    assert_eq!(client.finish().0, 0);
}

/// A registered project's workflow is one run, also when the server is started again in the middle of it.
#[test]
fn a_workflow_of_a_registered_project_is_one_run_in_the_history() {
    let home = environment();
    let job = JOB.replace(
        "outputs: {answer: {}}}\n",
        "outputs: {answer: {}}}\n      - {name: tell, instructions: Tell., inputs: {answer: {}}, outputs: {answer: {}}}\n",
    );
    let root = project(&home, "p");
    home.write("p/.deepwork/jobs/solo/job.yml", &job).expect("written");
    let path = root.display().to_string();
    let added = home.run(&["projects", "add", &path, "--kind", "guided", "--json"]).expect("it runs");
    assert_eq!(added.code, 0, "{added:?}");
    let listed = home.run(&["projects", "list", "--json"]).expect("it runs").json();
    let id = listed
        .to_string()
        .split("\"projectId\":\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("an id")
        .to_owned();
    let runs = |home: &Environment| {
        let list = home.run(&["runs", "list", "--json"]).expect("it runs").json();
        let text = list.to_string();
        let ids: Vec<String> =
            text.split("\"runId\":\"").skip(1).filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect();
        (ids, text)
    };
    let serve = |home: &Environment| Client::start(home, &["--workflow-mcp", &id], ClientOptions::default());
    let mut client = serve(&home);
    client.call("start_workflow", start()).result();
    let (ids, text) = runs(&home);
    assert_eq!(ids.len(), 1, "{text}");
    assert!(text.contains("running") && text.contains("solo/main"), "{text}");
    assert_eq!(client.finish().0, 0);
    let mut client = serve(&home);
    let arguments = json!({ "outputs": { "answer": "forty-two" }, "session_id": "s", "work_summary": "thought",
        "quality_review_override_reason": "nothing to review" });
    client.call("finished_step", arguments).result();
    client.call("finished_step", json!({ "outputs": { "answer": "told" }, "session_id": "s" })).result();
    assert_eq!(runs(&home).0, ids);
    client.call("start_workflow", start()).result();
    client.call("abort_workflow", json!({ "explanation": "changed my mind", "session_id": "s" })).result();
    assert_eq!(client.finish().0, 0);
    let shown = home.run(&["runs", "show", &ids[0], "--json"]).expect("it runs").stdout;
    for part in ["success", "think", "tell", "forty-two", "thought", "nothing to review", "told"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (all, text) = runs(&home);
    assert_eq!(all.len(), 2);
    assert!(text.contains("cancelled"), "{text}");
    home.assert_nothing_left();
}

#[test]
fn setup_registers_the_server_and_its_hooks_for_claude_code_once() {
    let home = environment();
    let setup = || {
        let done = home.run(&["guided", "setup"]).expect("it runs");
        assert_eq!(done.code, 0, "{done:?}");
        let read = |file: &str| -> Value {
            let text = std::fs::read_to_string(home.home().join(file)).expect("written");
            serde_json::from_str(&text).expect("JSON")
        };
        (read(".claude.json"), read(".claude/settings.json"), done.stderr)
    };
    let (servers, settings, _) = setup();
    let server = &servers["mcpServers"]["deepwork"];
    assert_eq!(server["args"], json!(["guided", "serve", "--platform", "claude"]));
    assert_eq!(server["command"], json!(executable().canonicalize().expect("there")));
    assert_eq!(settings["permissions"]["allow"], json!(["mcp__deepwork"]));
    // What Claude Code would give to a shell.
    let command = settings["hooks"]["PostToolUse"][0]["hooks"][0]["command"].as_str().expect("a command");
    let asked = home.run_program("sh", &["-c", command], b"{}").expect("it runs");
    assert_eq!((asked.code, asked.stdout.trim()), (0, "{}"), "{asked:?}");
    let (again, same, said) = setup();
    assert_eq!((again, same), (servers, settings));
    assert_eq!(said.matches("has it already").count(), 2, "{said}");
}

#[test]
fn setup_leaves_a_server_of_the_same_name_that_somebody_else_wrote() {
    let home = environment();
    let theirs = r#"{"mcpServers": {"deepwork": {"command": "uvx", "args": ["deepwork", "serve"]}}}"#;
    let file = home.home().join(".claude.json");
    std::fs::write(&file, theirs).expect("written");
    let refused = home.run(&["guided", "setup"]).expect("it runs");
    assert!(refused.code != 0 && refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("read"), theirs);
    assert!(!home.home().join(".claude/settings.json").exists());
    assert_eq!(home.run(&["guided", "setup", "--force"]).expect("it runs").code, 0);
    let read = || std::fs::read_to_string(&file).expect("read");
    assert!(read().contains("--platform") && !read().contains("uvx"));
    // One of an earlier setup is followed to where this executable lies, also without what was noted of it.
    let moved = read().replace(&executable().canonicalize().expect("there").display().to_string(), "/opt/elsewhere");
    std::fs::write(&file, moved).expect("written");
    let _ = std::fs::remove_file(home.home().join(".workflow-code/clients.json"));
    assert_eq!(home.run(&["guided", "setup"]).expect("it runs").code, 0);
    assert!(!read().contains("/opt/elsewhere"));
}
