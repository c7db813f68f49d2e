//! The fifteen traps of the protocol library (rmcp 3.11), one named test each: what the library does by itself, and what
//! our clients see instead. T10 and T14 need a family that misbehaves and lie in `crates/mcp/tests/skeleton.rs`; here
//! they are shown as far as the real server can show them.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use workflow_code_tests::{Client, Opening};

use crate::fixtures::{
    LEGACY, MODERN, SOON, environment, project, runs, serve, serve_with, shown, signal, usual_project, wait_for_file,
};

fn opening() -> Value {
    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } })
}

fn next(client: &mut Client) -> Value {
    client.next_message(Instant::now() + Duration::from_secs(30)).expect("an answer")
}

/// The library waits five seconds for calls in flight; clients kill after two.
#[test]
fn t1_the_end_of_input_does_not_wait_for_calls_in_flight() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    let (code, took) = client.finish();
    assert!(took < SOON, "it took {took:?}");
    assert_eq!(code, 0);
    home.assert_nothing_left();
}

/// The library handles no signal, and workers would be orphaned.
#[test]
fn t2_a_signal_ends_workers_and_finishes_their_records() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    signal(client.pid(), Signal::TERM);
    assert_eq!(client.wait_for_exit(), 0);
    home.assert_nothing_left();
    let run = shown(&home, runs(&home)[0]["runId"].as_str().expect("an id"));
    assert_eq!((&run["status"], &run["cancelReason"]), (&json!("cancelled"), &json!("client_gone")), "{run}");
}

/// The library exits when a notification or a response comes first, such as the late cancel of a probe.
#[test]
fn t3_notifications_and_responses_before_the_opening_are_dropped() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, Opening::None);
    client.notify("notifications/cancelled", json!({ "requestId": 1 }));
    client.notify("notifications/initialized", json!({}));
    client.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    let opened = client.request("initialize", opening()).result();
    assert_eq!(opened["protocolVersion"], "2025-11-25");
    client.finish();
    home.assert_nothing_left();
}

/// The library drops a line over 16 MiB without a word, and the caller hangs.
#[test]
fn t4_a_line_of_seventeen_mebibytes_is_refused_with_its_id() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    let text = "x".repeat(17 * 1024 * 1024);
    let first = format!(
        r#"{{"jsonrpc":"2.0","id":"large","method":"tools/call","params":{{"name":"hello","arguments":{{"name":"{text}"}}}}}}"#
    );
    let last = format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"{text}"}},"id":"large"}}"#);
    for (line, id) in [(first, json!("large")), (last, Value::Null)] {
        client.send_raw(line.as_bytes());
        let answer = next(&mut client);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)), "{answer}");
    }
    let result = client.call("hello", json!({ "name": "Ada" })).result();
    assert_eq!(result["structuredContent"]["status"], "success");
    client.finish();
    home.assert_nothing_left();
}

/// The library takes a call with odd parameters for an unknown method.
#[test]
fn t5_a_call_whose_parameters_have_no_form_is_a_bad_request_and_no_unknown_method() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    for parameters in [
        r#"{"name":"hello","arguments":[1,2]}"#,
        r#"{"name":"hello","arguments":"text"}"#,
        r#"{"name":7,"arguments":{}}"#,
        r#"{"arguments":{}}"#,
        "{}",
        "[]",
    ] {
        client.send_raw(
            format!(r#"{{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{parameters}}}"#).as_bytes(),
        );
        let answer = next(&mut client);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(900), &json!(-32602)), "{parameters}: {answer}");
    }
    client.send_raw(br#"{"jsonrpc":"2.0","id":901,"method":"tools/call"}"#);
    let answer = next(&mut client);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(901), &json!(-32602)), "{answer}");
    client.finish();
    assert!(!home.home().join("data/history.db").exists(), "no run began");
    home.assert_nothing_left();
}

/// These have no usable id, so their refusal has none either.
#[test]
fn t6_a_batch_a_null_id_and_a_missing_version_are_refused() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    for line in [
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
        r#"{"id":null,"method":"tools/list"}"#,
    ] {
        client.send_raw(line.as_bytes());
        let answer = next(&mut client);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)), "{line}: {answer}");
    }
    assert!(client.request("tools/list", json!({})).result()["tools"].is_array());
    client.finish();
    home.assert_nothing_left();
}

/// The library answers only the second of two requests with one id.
#[test]
fn t7_a_second_request_with_an_id_in_flight_is_refused_and_the_first_is_answered() {
    let home = environment();
    project(
        &home,
        json!({ "wait": { "description": "Waits for a file.", "command": ["sh", "-c", "touch here; until [ -e go ]; do sleep 0.02; done; echo 1"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    let call = br#"{"jsonrpc":"2.0","id":"twice","method":"tools/call","params":{"name":"wait","arguments":{}}}"#;
    client.send_raw(call);
    wait_for_file(&home, "here");
    client.send_raw(call);
    let refused = next(&mut client);
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("twice"), &json!(-32600)), "{refused}");
    home.write("project/go", "").expect("a file");
    let answer = next(&mut client);
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["status"]), (&json!("twice"), &json!("success")));
    // Answered, so the id is free again.
    client.send_raw(call);
    assert_eq!(next(&mut client)["result"]["structuredContent"]["status"], "success");
    client.finish();
    home.assert_nothing_left();
}

/// The library starts a task for each of any number of calls.
#[test]
fn t8_a_flood_of_calls_is_queued_up_to_a_limit_and_then_refused_as_busy() {
    let home = environment();
    usual_project(&home);
    let mut client = serve_with(&home, LEGACY, &["--max-concurrent", "1"]);
    let first = client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    let ids: Vec<Value> = (0..600)
        .map(|_| client.ask("tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } })))
        .collect();
    // The place is taken and 256 wait; everybody else hears so at once.
    let refused = |client: &Client| ids.iter().filter(|id| client.is_answered(id)).count();
    assert!(client.until(Duration::from_secs(30), |client| refused(client) == 600 - 256), "{}", refused(&client));
    let mut waiting = HashSet::new();
    for id in &ids {
        if !client.is_answered(id) {
            waiting.insert(id.to_string());
            continue;
        }
        let result = client.wait(id).result();
        let envelope = &result["structuredContent"];
        assert_eq!((&envelope["status"], &envelope["error"]["code"]), (&json!("failed"), &json!("busy")), "{result}");
        assert_eq!((&result["isError"], envelope.get("runId")), (&json!(true), None));
    }
    assert_eq!(waiting.len(), 256);
    assert!(!client.is_answered(&first));
    let memory = process::proc_info::resident_bytes(client.pid()).expect("it runs");
    assert!(memory < 64 * 1024 * 1024, "{memory} bytes");
    let (_, took) = client.finish();
    assert!(took < 2 * SOON, "it took {took:?} with 256 calls queued");
    home.assert_nothing_left();
    let recorded = runs(&home);
    assert_eq!(recorded.len(), 257, "a refused call is no run");
    assert!(recorded.iter().all(|run| run["status"] == "cancelled"));
}

/// The library checks neither tool nor arguments nor cursor.
#[test]
fn t9_tools_arguments_and_cursors_are_checked() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    assert_eq!(client.call("nobody", json!({})).error()["code"], -32602);
    let error = client.call("hello", json!({ "name": 7, "extra": true })).error();
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("name") && message.contains("extra"), "all faults at once: {message}");
    assert!(error["data"].is_object() || error["data"].is_array(), "the same for programs: {error}");
    assert_eq!(client.request("tools/list", json!({ "cursor": "x" })).error()["code"], -32602);
    client.finish();
    assert!(!home.home().join("data/history.db").exists(), "no run began");
    home.assert_nothing_left();
}

/// The library leaves the dialog of a cancelled call open. The question itself is tested with the skeleton; here, that
/// a cancelled call leaves nothing behind that could still ask.
#[test]
fn t10_a_cancelled_call_has_nothing_left_to_ask() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    let id = client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    client.cancel(&id);
    let inner = &home;
    crate::fixtures::wait_until("the run to end", || runs(inner)[0]["status"] == "cancelled");
    client.request("tools/list", json!({})).result();
    assert!(client.elicited.is_empty());
    client.finish();
    home.assert_nothing_left();
}

/// The library names the server in `discover` only.
#[test]
fn t11_every_result_of_the_newer_era_names_the_server() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, MODERN);
    let results = [
        client.request("server/discover", json!({})).result(),
        client.request("tools/list", json!({})).result(),
        client.request("resources/list", json!({})).result(),
        client.request("resources/templates/list", json!({})).result(),
        client.call("hello", json!({ "name": "Ada" })).result(),
        client.call("fail", json!({})).result(),
    ];
    for result in results {
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert!(info["name"].as_str().is_some_and(|name| name.starts_with("workflow-")), "{result}");
        assert!(info["version"].is_string(), "{result}");
    }
    client.finish();
    home.assert_nothing_left();
}

/// No client does this, and the library's way is good enough: it stays so.
#[test]
fn t12_after_a_modern_request_an_initialize_does_not_bring_the_older_era_back() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, Opening::None);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    assert!(client.request("tools/list", json!({ "_meta": meta })).result()["tools"].is_array());
    assert_eq!(client.request("initialize", opening()).result()["protocolVersion"], "2025-11-25");
    client.notify("notifications/initialized", json!({}));
    assert_eq!(client.request("tools/list", json!({})).error()["code"], -32602);
    assert!(client.request("tools/list", json!({ "_meta": meta })).result()["tools"].is_array());
    client.finish();
    home.assert_nothing_left();
}

/// JSON objects are sorted by default, and a form's fields would come out by the alphabet.
#[test]
fn t13_fields_come_in_the_order_of_their_declaration() {
    let home = environment();
    project(
        &home,
        json!({ "z": { "command": ["true"], "description": "Z.", "params": {
            "zeta": { "type": "string" }, "alpha": { "type": "integer" }, "mid": { "type": "boolean" } } },
            "a": { "command": ["true"], "description": "A." } }),
        &[],
    );
    for opening in [LEGACY, MODERN] {
        let mut client = serve(&home, opening);
        let list = client.request("tools/list", json!({})).result();
        let names: Vec<&str> =
            list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["z", "a"]);
        let fields: Vec<&String> =
            list["tools"][0]["inputSchema"]["properties"].as_object().into_iter().flat_map(|all| all.keys()).collect();
        assert_eq!(fields, ["zeta", "alpha", "mid"]);
        client.finish();
    }
    home.assert_nothing_left();
}

/// The library never answers a call whose handler panicked. A worker that dies is the nearest that a project can do.
#[test]
fn t14_a_worker_that_dies_is_an_answer() {
    let home = environment();
    project(
        &home,
        json!({ "die": { "description": "Kills its worker.", "command": ["python3", "-c",
            "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"] } }),
        &[],
    );
    let mut client = serve(&home, LEGACY);
    for _ in 0..2 {
        let result = client.call("die", json!({})).result();
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["error"]["code"], "worker_died", "{result}");
    }
    client.finish();
    home.assert_nothing_left();
}

/// A read of standard input cannot be cancelled, and the runtime would wait for it.
#[test]
fn t15_an_open_input_does_not_keep_the_server() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    client.call("hello", json!({ "name": "Ada" })).result();
    let started = Instant::now();
    signal(client.pid(), Signal::TERM);
    assert_eq!(client.wait_for_exit(), 0);
    assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
    home.assert_nothing_left();
}
