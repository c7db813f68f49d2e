//! Who starts agents: the saved connection's server, an agent program that was found, the choice of a person.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::{ChatServer, Client, ClientOptions, Environment};

const KEY: &str = "key-of-a-test";

fn with_server() -> (Environment, ChatServer) {
    let server = ChatServer::start().expect("a server");
    let mut environment = Environment::new().expect("a home");
    environment.set("WORKFLOW_SERVER_URL", &server.url);
    environment.set("WORKFLOW_SERVER_ADMIN_KEY", KEY);
    (environment, server)
}

fn script(environment: &Environment, body: &str) -> String {
    let text = format!("export const meta = {{ name: 'asks', description: 'd' }}\n{body}\n");
    environment.write("asks.js", text).expect("a file").to_string_lossy().into_owned()
}

#[test]
fn the_saved_connection_answers() {
    let (environment, server) = with_server();
    let file = script(
        &environment,
        "const S = { type: 'object', required: ['yes'], properties: { yes: { type: 'boolean' } } }\n\
         const plain = await parallel(['tidy up', 'busy day', 'broken lamp'].map((p) => () => agent(p, { model: 'm1' })))\n\
         const vote = await agent('vote now', { schema: S })\n\
         const holes = await parallel(['long tale', 'refuse it', 'denied', 'odd one', 'down'].map((p) => () => agent(p)))\n\
         return { plain, vote, holes, spent: budget.spent() }",
    );
    let ran = environment.run(&["run", &file, "--provider", "http"]).expect("a run");
    let envelope = ran.json();
    let output = json!({
        "plain": ["did tidy", "did busy", "did broken"], "vote": {"yes": true}, "holes": [null, null, null, null, null],
        "spent": 21
    });
    assert_eq!(envelope["output"], output, "{} {}", ran.stdout, ran.stderr);
    for asked in server.asked() {
        assert_eq!(asked.line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(asked.headers.get("authorization"), Some(&format!("Bearer {KEY}")));
    }
    let count = |word: &str| {
        let first = |body: &Value| body["messages"][0]["content"].as_str().is_some_and(|text| text.starts_with(word));
        server.asked().iter().filter(|asked| first(&asked.body)).count()
    };
    assert_eq!((count("busy"), count("broken"), count("down"), count("denied"), count("vote")), (2, 2, 5, 1, 2));
    assert_eq!(server.asked()[0].body["model"], "m1");
    // The record says what each came to, and never the key.
    let run = envelope["runId"].as_str().expect("an id");
    let data = environment.home().join(".workflow-code").to_string_lossy().into_owned();
    let shown = environment.run(&["runs", "show", run, "--data-dir", &data, "--json"]).expect("a record");
    let report = &shown.json()["report"];
    assert_eq!(report["agents"], json!({"agents": 9, "failed": 5, "inputTokens": 70, "outputTokens": 21}));
    let reasons: Vec<&str> = report["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter_map(|node| node["detail"]["reason"].as_str())
        .collect();
    insta::assert_debug_snapshot!(reasons, @r#"
    [
        "max-tokens: the answer reached the limit of its tokens",
        "refusal: the server's filter held the answer back",
        "error: the server answered 401: no such key; sign in with `workflow-code auth login`",
        "error: the server's answer holds no choice",
        "error: the server answered 503: come back later, in 5 attempts",
    ]
    "#);
    assert!(!shown.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    environment.assert_nothing_left();
}

#[test]
fn a_server_that_cannot_be_reached_and_none_at_all() {
    let mut environment = Environment::new().expect("a home");
    let file = script(&environment, "return await agent('hello')");
    let ran = environment.run(&["run", &file, "--provider", "http"]).expect("a run");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("needs a connection") && ran.stdout.contains("auth login"), "{}", ran.stdout);
    // Nobody listens on a port that was given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("a port").port();
    environment.set("WORKFLOW_SERVER_URL", format!("http://127.0.0.1:{port}"));
    environment.set("WORKFLOW_SERVER_ADMIN_KEY", KEY);
    let ran = environment.run(&["run", &file, "--provider", "http"]).expect("a run");
    assert_eq!(ran.json()["error"]["code"], "agents_failed", "{}", ran.stdout);
    assert!(ran.stdout.contains("it could not be started") && ran.stdout.contains(&port.to_string()), "{}", ran.stdout);
    environment.assert_nothing_left();
}

#[test]
fn cancelling_closes_the_connection() {
    let (environment, server) = with_server();
    let package = json!({
        "name": "http", "id": "6f1d1d0e-2222-4a5b-8c6d-000000000002", "projectType": "workflow",
        "workflow": {"provider": {"http": {"model": "m"}}, "entrypoints": {"workflow": {"dynamic": true}}}
    });
    environment.write("p/package.json", package.to_string()).expect("a file");
    let project = environment.home().join("p").to_string_lossy().into_owned();
    let mut client = Client::start(&environment, &["mcp".to_owned(), project], ClientOptions::default());
    let meta = json!({"name": "ask", "description": "asks"});
    // By the strict contract what the provider cannot do is refused, and nothing is asked.
    let schema = "{ type: 'object', properties: { a: { type: 'string' } } }";
    let script = format!("return await agent('tidy', {{ schema: {schema}, provider: 'other' }})");
    let answer = client.call("workflow", json!({"script": script, "meta": meta})).result();
    assert!(answer.to_string().contains("has no option `provider`"), "{answer}");
    assert!(server.asked().is_empty());
    let id = client.ask(
        "tools/call",
        json!({"name": "workflow",
        "arguments": {"script": "return await agent('hang on')", "meta": meta}}),
    );
    let deadline = Instant::now() + Duration::from_secs(60);
    while server.asked().is_empty() {
        assert!(Instant::now() < deadline, "nothing was asked");
        client.drain(Duration::from_millis(20));
    }
    client.cancel(&id);
    while server.gone() == 0 {
        assert!(Instant::now() < deadline, "the connection stays open");
        client.drain(Duration::from_millis(20));
    }
    client.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_program_that_is_found_works_only_for_whom_it_was_chosen() {
    let mut environment = Environment::new().expect("a home");
    let program = environment
        .write(
            "bin/codex",
            "#!/bin/sh\nprompt=$(cat)\necho started >> \"$HOME/starts\"\n\
             printf '{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"did %s\"}}\\n' \"$prompt\"\n",
        )
        .expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let path = format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display());
    environment.set("PATH", path);
    let file = script(&environment, "return await agent('tidy')");
    let starts = || std::fs::read_to_string(environment.home().join("starts")).unwrap_or_default().lines().count();
    // Found, told of, and not started.
    let ran = environment.run(&["run", &file]).expect("a run");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("found here: `codex`"), "{}", ran.stdout);
    assert!(ran.stdout.contains("workflow-code agents use codex"), "{}", ran.stdout);
    assert_eq!(starts(), 0);
    let run = ran.json()["runId"].as_str().expect("an id").to_owned();
    let data = environment.home().join(".workflow-code").to_string_lossy().into_owned();
    let shown = environment.run(&["runs", "show", &run, "--data-dir", &data, "--json"]).expect("a record").json();
    assert_eq!(shown["error"]["data"]["code"], "AGENT_START");
    let listed = environment.run(&["agents", "list", "--json"]).expect("a list").json();
    assert_eq!(listed["chosen"], Value::Null);
    let row = listed["providers"].as_array().and_then(|rows| rows.iter().find(|row| row["name"] == "codex")).cloned();
    assert_eq!(row.map(|row| (row["installed"].clone(), row["isDefault"].clone())), Some((json!(true), json!(false))));
    // Chosen, and started.
    let chosen = environment.run(&["agents", "use", "codex"]).expect("a choice");
    assert_eq!(chosen.code, 0, "{}", chosen.stderr);
    let ran = environment.run(&["run", &file]).expect("a run");
    assert_eq!((ran.json()["output"].clone(), starts()), (json!("did tidy"), 1), "{}", ran.stderr);
    // The run's own comes first; what is not installed is one error and not a hole.
    let ran = environment.run(&["run", &file, "--provider", "canned"]).expect("a run");
    assert_eq!((ran.json()["output"].clone(), starts()), (json!("echo:tidy"), 1));
    let ran = environment.run(&["run", &file, "--provider", "gemini-cli"]).expect("a run");
    assert!(ran.stdout.contains("there is no program `gemini`"), "{}", ran.stdout);
    let refused = environment.run(&["agents", "use", "nobody"]).expect("an answer");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert_eq!(environment.run(&["agents", "forget"]).expect("an answer").code, 0);
    assert_eq!(environment.run(&["run", &file]).expect("a run").code, 1);
    environment.assert_nothing_left();
}
