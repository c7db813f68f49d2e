//! The protocol on the wire, in both eras.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use rstest::rstest;
use rustix::process::Signal;
use serde_json::{Value, json};
use workflow_code_tests::{Answer, Client, ClientOptions, Opening, executable};

use crate::fixtures::{
    LEGACY, MODERN, SOON, UUID, arguments, command, environment, project, runs, serve, serve_with, shown, signal,
    usual_project, wait_for_file, wait_until, write,
};

const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Sends a line and returns the very next message, which must be its answer.
fn answer_to(client: &mut Client, line: &[u8]) -> Value {
    client.send_raw(line);
    client.next_message(Instant::now() + Duration::from_secs(30)).expect("every such line is answered")
}

fn assert_alive(client: &mut Client) {
    let result = client.call("hello", json!({ "name": "Ada" })).result();
    assert_eq!(result["structuredContent"]["output"]["greeting"], "Hello, Ada", "{result}");
}

// Opening

#[rstest]
#[case("2024-11-05", "2024-11-05")]
#[case("2025-03-26", "2025-03-26")]
#[case("2025-06-18", "2025-06-18")]
#[case("2025-11-25", "2025-11-25")]
#[case("2026-07-28", "2025-11-25")]
#[case("1999-01-01", "2025-11-25")]
fn initialize_negotiates_the_revision(#[case] asked: &'static str, #[case] given: &str) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, Opening::Legacy(asked));
    assert_eq!(client.opened["protocolVersion"], given);
    assert_eq!(client.opened["serverInfo"]["name"], format!("workflow-{UUID}"));
    assert_eq!(client.opened["capabilities"]["tools"], json!({}), "no change of the list is ever announced");
    assert_alive(&mut client);
    assert_eq!(client.finish().0, 0);
    home.assert_nothing_left();
}

#[test]
fn discover_says_what_is_spoken_and_who_answers() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, MODERN);
    let result = client.request("server/discover", json!({})).result();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["supportedVersions"],
        json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
    );
    assert!(result["ttlMs"].as_u64().is_some() && result["cacheScope"] == "private", "{result}");
    assert_eq!(result["_meta"][META_SERVER]["name"], format!("workflow-{UUID}"));
    client.finish();
    home.assert_nothing_left();
}

/// A client tries the newer era first, finds an answer it does not know what to do with, and opens the older way.
#[test]
fn a_probe_leaves_the_way_to_initialize_open() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, Opening::None);
    let probe = json!({
        "jsonrpc": "2.0", "id": "probe", "method": "server/discover",
        "params": { "_meta": { "io.modelcontextprotocol/protocolVersion": "2099-01-01",
            "io.modelcontextprotocol/clientCapabilities": {} } },
    });
    let refused = answer_to(&mut client, probe.to_string().as_bytes());
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("probe"), &json!(-32022)), "{refused}");
    assert_eq!(refused["error"]["data"]["requested"], "2099-01-01");
    let opened = client.request(
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
    );
    assert_eq!(opened.result()["protocolVersion"], "2025-06-18");
    client.notify("notifications/initialized", json!({}));
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn a_request_before_any_opening_names_both_ways_in_and_the_connection_lives() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, Opening::None);
    let error = client.request("tools/list", json!({})).error();
    assert_eq!(error["code"], -32602);
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("initialize") && message.contains("_meta"), "{message}");
    let opened = client.request(
        "initialize",
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
    );
    opened.result();
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn each_request_of_the_newer_era_must_carry_its_keys() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, MODERN);
    assert_alive(&mut client);
    let without = json!({ "jsonrpc": "2.0", "id": 900, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } });
    let answer = answer_to(&mut client, without.to_string().as_bytes());
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(900), &json!(-32602)), "{answer}");
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

// What each era's results look like

#[rstest]
fn results_have_the_shape_of_their_era(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, opening);
    let modern = opening == MODERN;
    for (method, parameters, is_list) in [
        ("tools/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } }), false),
    ] {
        let result = client.request(method, parameters).result();
        assert_eq!(result.get("resultType").is_some_and(|kind| kind == "complete"), modern, "{method}: {result}");
        assert_eq!(result["_meta"].get(META_SERVER).is_some(), modern, "{method}: {result}");
        let cached =
            result.get("ttlMs").is_some_and(Value::is_u64) && result.get("cacheScope").is_some_and(Value::is_string);
        assert_eq!(cached, modern && is_list, "{method}: {result}");
    }
    client.finish();
    home.assert_nothing_left();
}

#[rstest]
fn every_envelope_satisfies_the_advertised_schema_and_is_repeated_as_text(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    project(
        &home,
        json!({
            "good": { "command": ["python3", "-c", "print(1)"], "description": "Works." },
            "bad": { "command": ["python3", "-c", "import sys; sys.exit(3)"], "description": "Fails." },
            "slow": { "command": ["sleep", "600"], "description": "Takes too long.", "timeoutSeconds": 1 },
            "business": "./business.workflow.ts",
            "large": { "command": ["python3", "-c", "print('x' * 100000)"], "description": "Prints a lot." },
        }),
        &[(
            "business.workflow.ts",
            "export default async function (input, flow) { flow.fail('out of stock', { errCode: 7 }); }",
        )],
    );
    let mut client = serve(&home, opening);
    let tools = client.request("tools/list", json!({})).result();
    for (tool, status, code) in [
        ("good", "success", None),
        ("bad", "failed", Some("command_failed")),
        ("slow", "timeout", Some("timeout")),
        ("business", "failed", Some("business_error")),
        ("large", "success", None),
    ] {
        let schema = tools["tools"].as_array().and_then(|all| all.iter().find(|one| one["name"] == tool));
        let schema = &schema.expect("the tool is listed")["outputSchema"];
        let result = client.call(tool, json!({})).result();
        let envelope = &result["structuredContent"];
        assert_eq!(envelope["status"], status, "{envelope}");
        assert_eq!(result["isError"], json!(status != "success"));
        assert_eq!(envelope.pointer("/error/code").and_then(Value::as_str), code, "{envelope}");
        let validator = jsonschema::validator_for(schema).expect("a schema");
        let faults: Vec<String> = validator.iter_errors(envelope).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{tool}: {faults:?}");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(&serde_json::from_str::<Value>(text).expect("JSON"), envelope);
        assert!(text.len() < 33_000, "{tool}: {} bytes", text.len());
    }
    client.finish();
    home.assert_nothing_left();
}

#[rstest]
#[case(LEGACY, -32002)]
#[case(MODERN, -32602)]
fn a_resource_that_is_not_there_has_the_code_of_its_era(#[case] opening: Opening, #[case] code: i32) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, opening);
    for uri in ["workflow-run://20260101-aaaa", "workflow-run://../../etc/passwd", "file:///etc/passwd", ""] {
        let error = client.request("resources/read", json!({ "uri": uri })).error();
        assert_eq!(error["code"], code, "{uri}: {error}");
    }
    client.finish();
    home.assert_nothing_left();
}

// Errors

#[rstest]
fn wrong_requests_get_their_code_and_the_connection_lives(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, opening);
    for (method, parameters, code, says) in [
        ("no/such/method", json!({}), -32601, "no/such/method"),
        ("prompts/list", json!({}), -32601, "prompts/list"),
        ("completion/complete", json!({}), -32601, "completion/complete"),
        ("tools/call", json!({ "name": "helo", "arguments": {} }), -32602, "hello"),
        ("tools/call", json!({ "name": "hello", "arguments": { "nmae": 1 } }), -32602, "name"),
        ("tools/list", json!({ "cursor": "forged" }), -32602, "cursor"),
        ("resources/list", json!({ "cursor": "forged" }), -32602, "cursor"),
        ("resources/read", json!({ "uri": 7 }), -32602, "resources/read"),
    ] {
        let error = client.request(method, parameters).error();
        assert_eq!(error["code"], code, "{method}: {error}");
        assert!(error["message"].as_str().unwrap_or_default().contains(says), "{method}: {error}");
    }
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

#[rstest]
fn lines_that_are_no_request_get_their_code_and_the_connection_lives(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, opening);
    assert_alive(&mut client);
    for (line, id, code) in [
        ("this is no JSON", Value::Null, -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":", Value::Null, -32700),
        ("\u{0}", Value::Null, -32700),
        ("[]", Value::Null, -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":902,\"method\":\"ping\"}]", Value::Null, -32600),
        ("\"text\"", Value::Null, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", Value::Null, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", Value::Null, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":9.5,\"method\":\"ping\"}", Value::Null, -32600),
        ("{\"id\":903,\"method\":\"ping\"}", json!(903), -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":904,\"method\":\"ping\"}", json!(904), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"905\",\"method\":[]}", json!("905"), -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":906}", json!(906), -32600),
    ] {
        let answer = answer_to(&mut client, line.as_bytes());
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}: {answer}");
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    let not_utf8 = b"{\"jsonrpc\":\"2.0\",\"id\":907,\"method\":\"\xff\xfe\"}";
    assert_eq!(answer_to(&mut client, not_utf8)["error"]["code"], -32700);
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

#[rstest]
fn odd_but_tolerable_lines_are_tolerated(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, opening);
    assert_alive(&mut client);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let parameters = if opening == MODERN { json!({ "_meta": meta }) } else { json!({}) };
    for line in ["", "   ", "\r"] {
        client.send_raw(line.as_bytes());
    }
    client.notify("notifications/nobody/knows", json!({ "a": 1 }));
    client.notify("notifications/cancelled", json!({}));
    client.notify("notifications/cancelled", json!({ "requestId": 4711 }));
    client.notify("notifications/progress", json!({ "progressToken": "none", "progress": 1 }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 4712, "result": {} }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 4713, "error": { "code": 1, "message": "x" } }));
    for id in
        [json!(0), json!(-7), json!(9_007_199_254_740_993_i64), json!(""), json!("\u{1f600} \" \\ id"), json!("0")]
    {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": parameters, "more": true });
        let line = format!("\u{feff} {request} \r");
        let answer = answer_to(&mut client, line.as_bytes());
        assert_eq!(answer["id"], id, "an id comes back as it was sent");
        assert!(answer["result"]["tools"].is_array(), "{answer}");
    }
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn ping_belongs_to_the_older_era() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    assert_eq!(client.request("ping", json!({})).result(), json!({}));
    client.finish();
    let mut client = serve(&home, MODERN);
    assert_eq!(client.request("ping", json!({})).error()["code"], -32601);
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn an_unknown_log_level_is_said_to_be_one() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, MODERN);
    let meta = json!({ "io.modelcontextprotocol/logLevel": "loud" });
    let error = client.request("tools/list", json!({ "_meta": meta })).error();
    assert_eq!(error["code"], -32602, "{error}");
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn a_changed_declaration_is_logged_once_for_each_change() {
    let home = environment();
    let code = |title: &str| {
        format!(
            "export const entrypoint = {{ title: {title:?}, description: \"Says one.\" }};\nexport default () => 1;\n"
        )
    };
    let commands = |title: &str| json!({ "command": ["true"], "title": title, "description": "Does nothing." });
    project(&home, json!({ "one": "./one.workflow.ts", "two": commands("Two") }), &[("one.workflow.ts", &code("One"))]);
    let mut client = serve(&home, LEGACY);
    let mut log = String::new();
    let mut told = |client: &mut Client, tool: &str, times: usize| {
        wait_until("the log", || {
            assert_eq!(client.call(tool, json!({})).result()["structuredContent"]["status"], "success");
            log.push_str(&client.errors());
            log.matches(&format!("entrypoint `{tool}` is declared otherwise")).count() >= times
        });
        // A look is behind every call; one that finds nothing new says nothing.
        client.call(tool, json!({})).result();
        log.push_str(&client.errors());
        assert_eq!(log.matches(&format!("entrypoint `{tool}` ")).count(), times, "{log}");
    };
    told(&mut client, "one", 0);
    write(&home, "project/one.workflow.ts", &code("Another"));
    told(&mut client, "one", 1);
    write(&home, "project/one.workflow.ts", &code("A third"));
    told(&mut client, "one", 2);
    told(&mut client, "two", 0);
    project(&home, json!({ "one": "./one.workflow.ts", "two": commands("Other") }), &[]);
    told(&mut client, "two", 1);
    assert!(log.contains("reconnect"), "{log}");
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn log_messages_come_only_to_those_who_asked() {
    let home = environment();
    usual_project(&home);
    let count = |client: &Client| {
        client.notifications.iter().filter(|message| message["method"] == "notifications/message").count()
    };
    let mut client = serve(&home, LEGACY);
    assert_alive(&mut client);
    assert_eq!(count(&client), 0);
    assert_eq!(client.request("logging/setLevel", json!({ "level": "loud" })).error()["code"], -32602);
    client.request("logging/setLevel", json!({ "level": "warning" })).result();
    assert_alive(&mut client);
    assert_eq!(count(&client), 1, "the one warning, and not what went to standard output");
    client.request("logging/setLevel", json!({ "level": "error" })).result();
    assert_alive(&mut client);
    assert_eq!(count(&client), 1);
    client.finish();

    let mut client = serve(&home, MODERN);
    assert_eq!(client.request("logging/setLevel", json!({ "level": "debug" })).error()["code"], -32601);
    assert_alive(&mut client);
    assert_eq!(count(&client), 0);
    let parameters = json!({ "name": "hello", "arguments": { "name": "Ada" },
        "_meta": { "io.modelcontextprotocol/logLevel": "debug" } });
    client.request("tools/call", parameters).result();
    assert_eq!(count(&client), 1);
    client.finish();
    home.assert_nothing_left();
}

// Much at once, and large things

#[rstest]
fn two_hundred_pipelined_calls_are_all_answered(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, opening);
    let ids: Vec<Value> = (0..200)
        .map(|number| {
            client.ask("tools/call", json!({ "name": "hello", "arguments": { "name": format!("{number}") } }))
        })
        .collect();
    let mut seen = std::collections::HashSet::new();
    for (number, id) in ids.iter().enumerate() {
        let deadline = Instant::now() + Duration::from_secs(120);
        let result = client.wait_until(id, deadline).expect("every call is answered").result();
        let envelope = &result["structuredContent"];
        assert_eq!(envelope["output"]["greeting"], format!("Hello, {number}"), "{result}");
        assert!(seen.insert(envelope["runId"].to_string()), "a run id came twice");
    }
    client.finish();
    let recorded = runs(&home);
    assert_eq!(recorded.len(), 200);
    assert!(recorded.iter().all(|run| run["status"] == "success"));
    home.assert_nothing_left();
}

const LENGTH: &str = r#"export const entrypoint = { params: { text: { type: "string", required: true } } };
export default async function (input, flow) { return input.text.length; }
"#;

#[rstest]
fn an_argument_of_eight_mebibytes_arrives_whole(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    project(&home, json!({ "length": "./length.workflow.ts" }), &[("length.workflow.ts", LENGTH)]);
    let mut client = serve(&home, opening);
    let text = "x".repeat(8 * 1024 * 1024);
    let result = client.call("length", json!({ "text": text })).result();
    assert_eq!(result["structuredContent"]["output"], text.len(), "{result}");
    client.finish();
    home.assert_nothing_left();
}

/// Starts a server with nobody reading its output, and opens it.
fn unread(home: &workflow_code_tests::Environment, more: &[&str]) -> process::BlockingChild {
    let mut child = home.start(executable(), &arguments(home, more)).expect("it starts");
    let open = json!({ "jsonrpc": "2.0", "id": "open", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let stdin = child.stdin.as_mut().expect("a pipe");
    writeln!(stdin, "{open}").expect("the server reads");
    child
}

fn call_line(id: usize, tool: &str, arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } })
    .to_string()
}

/// Waits for a server's end and returns its exit code.
fn ends_soon(child: &mut process::BlockingChild) -> i32 {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("its end can be seen") {
            return status.code().unwrap_or(-1);
        }
        // Twice, since some of it is the wait for a client that may still read.
        if started.elapsed() > 2 * SOON {
            process::tree::kill(child.id());
            panic!("it has not ended after {:?}", started.elapsed());
        }
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// More than a pipe holds is waiting before the first byte is read: nothing is lost, and nothing deadlocks.
#[test]
fn a_client_that_reads_late_gets_everything() {
    let home = environment();
    project(
        &home,
        json!({ "large": { "command": ["python3", "-c", "print('x' * 30000)"], "description": "Prints a lot." } }),
        &[],
    );
    let mut child = unread(&home, &[]);
    let stdin = child.stdin.as_mut().expect("a pipe");
    for id in 0..20 {
        writeln!(stdin, "{}", call_line(id, "large", &json!({}))).expect("the server reads");
    }
    // All have ended, and most of their answers cannot be written yet.
    wait_until("all calls to end", || {
        home.home().join("data/history.db").exists()
            && runs(&home).iter().filter(|run| run["status"] == "success").count() == 20
    });
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut ids: Vec<Value> = (0..21)
        .map(|_| {
            let line = lines.next().expect("a line").expect("text");
            serde_json::from_str::<Value>(&line).expect("JSON")["id"].clone()
        })
        .collect();
    ids.retain(Value::is_number);
    ids.sort_by_key(Value::as_u64);
    assert_eq!(ids, (0..20).map(|id| json!(id)).collect::<Vec<_>>());
    child.stdin = None;
    assert_eq!(ends_soon(&mut child), 0);
    home.assert_nothing_left();
}

/// The pipe is full, more waits behind it, and the client goes without reading any of it: it must not keep us, nor have
/// us keep all that for it.
#[rstest]
fn a_client_that_never_reads_does_not_keep_the_server(
    #[values("{\"id\":1}", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"method\":\"tools/list\"}")] line: &str,
    #[values(true, false)] by_signal: bool,
) {
    let home = environment();
    usual_project(&home);
    let mut child = unread(&home, &[]);
    let mut stdin = child.stdin.take().expect("a pipe");
    let line = line.to_owned();
    // Each line makes an answer. The writer is a thread, since the server stops reading when nobody reads from it.
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let writer = std::thread::spawn(move || {
        let descriptor = rustix::io::ioctl_fionbio(&stdin, true);
        descriptor.expect("a pipe can be made non-blocking");
        let mut rest: Vec<u8> = Vec::new();
        for id in 0..usize::MAX {
            if rest.is_empty() {
                rest = format!("{}\n", line.replace("ID", &id.to_string())).into_bytes();
            }
            match stdin.write(&rest) {
                Ok(written) => drop(rest.drain(..written)),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if stopped.load(std::sync::atomic::Ordering::SeqCst) {
                        return id;
                    }
                    std::thread::park_timeout(Duration::from_millis(1));
                }
                Err(_) => return id,
            }
        }
        0
    });
    wait_until("both pipes to be full", || waits_in_write(child.id()) && input_is_full(child.id()));
    let memory = process::proc_info::resident_bytes(child.id()).expect("it runs");
    assert!(memory < 64 * 1024 * 1024, "{memory} bytes for a client that does not read");
    if by_signal {
        signal(child.id(), Signal::TERM);
    }
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    ends_soon(&mut child);
    assert!(writer.join().expect("the writer ends") < 50_000, "requests were taken in without end");
    home.assert_nothing_left();
}

/// Tells whether nothing fits into the pipe that a process reads its requests from.
fn input_is_full(pid: u32) -> bool {
    // Its standard input is moved away at its start; the first pipe among its descriptors is what it was.
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let mut pipes: Vec<u32> = descriptors
        .flatten()
        .filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy().starts_with("pipe:")))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    pipes.sort_unstable();
    let Some(input) = pipes.first() else { return false };
    let Ok(pipe) = std::fs::File::options().write(true).open(format!("/proc/{pid}/fd/{input}")) else { return false };
    let mut descriptors = [rustix::event::PollFd::new(&pipe, rustix::event::PollFlags::OUT)];
    let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(rustix::event::poll(&mut descriptors, Some(&at_once)), Ok(0))
}

/// Tells whether some thread of a process waits for room in a pipe.
fn waits_in_write(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.flatten().any(|thread| {
        std::fs::read_to_string(thread.path().join("wchan")).is_ok_and(|place| place.contains("pipe_write"))
            || std::fs::read_to_string(thread.path().join("syscall")).is_ok_and(|call| call.starts_with("1 "))
    })
}

#[test]
fn a_closed_output_ends_the_server_and_its_calls() {
    let home = environment();
    usual_project(&home);
    let mut child = unread(&home, &[]);
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut opened = String::new();
    output.read_line(&mut opened).expect("it is opened");
    let stdin = child.stdin.as_mut().expect("a pipe");
    writeln!(stdin, "{}", call_line(1, "sleep", &json!({}))).expect("the server reads");
    wait_for_file(&home, "sleeping");
    drop(output);
    // A test beside this one that is just starting a process holds a copy of the closed end for a moment, so that one
    // answer may still find room in the pipe.
    let until = Instant::now() + 2 * SOON;
    for id in 2.. {
        let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        if child.try_wait().expect("it can be asked").is_some() {
            break;
        }
        assert!(Instant::now() < until, "it has not ended");
        let _ = child.stdin.as_mut().map(|stdin| writeln!(stdin, "{ping}"));
        std::thread::park_timeout(Duration::from_millis(10));
    }
    home.assert_nothing_left();
}

#[rstest]
fn a_closed_or_full_standard_error_blocks_nothing(#[values(true, false)] closed: bool) {
    let home = environment();
    project(
        &home,
        json!({ "noisy": { "command": ["python3", "-c",
            "import sys\nfor i in range(20000): print('noise', i, file=sys.stderr)\nprint(7)"], "description": "Loud." } }),
        &[],
    );
    let mut child = home.start(executable(), &arguments(&home, &[])).expect("it starts");
    if closed {
        child.stderr = None;
    }
    let stdin = child.stdin.as_mut().expect("a pipe");
    let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    writeln!(stdin, "{open}\n{}", call_line(1, "noisy", &json!({}))).expect("the server reads");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("text");
    let answer: Value = serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON");
    assert_eq!(answer["result"]["structuredContent"]["output"], 7, "{answer}");
    child.stdin = None;
    assert_eq!(ends_soon(&mut child), 0);
    home.assert_nothing_left();
}

// Purity

#[rstest]
fn standard_output_stays_pure_whatever_writes_to_it(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    project(
        &home,
        json!({
            "script": "./loud.workflow.ts",
            "command": { "description": "Loud.", "command": ["python3", "-c",
                "import os, subprocess, sys\n\
                 os.write(1, b'bare bytes without a line end \\xff\\x00')\n\
                 subprocess.run(['sh', '-c', 'echo child; echo child >&2; echo {} > /dev/stdout'])\n\
                 print('{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}', flush=True)"] },
        }),
        &[(
            "loud.workflow.ts",
            "console.log('at load'); export default async function (input, flow) {\n\
            console.log('{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\\u001b[2J'); flow.log('x'); return 1; }",
        )],
    );
    let mut client = serve(&home, opening);
    for _ in 0..3 {
        for tool in ["script", "command"] {
            let result = client.call(tool, json!({})).result();
            assert_eq!(result["structuredContent"]["status"], "success", "{result}");
        }
    }
    // Whatever came that was no JSON-RPC, or was no answer to a request, has failed by now.
    client.finish();
    home.assert_nothing_left();
}

// The end

#[rstest]
fn the_end_of_input_ends_the_server_in_each_state(
    #[values("silent", "opening", "idle", "running", "queued", "starting", "refusing")] state: &str,
) {
    let home = environment();
    usual_project(&home);
    let mut client = match state {
        "silent" | "opening" => serve(&home, Opening::None),
        "refusing" => {
            let options = ClientOptions { opening: Opening::None, ..ClientOptions::default() };
            Client::start(&home, &["--workflow-mcp", "nobody"], options)
        }
        "starting" => {
            write(
                &home,
                "project/endless.workflow.ts",
                "for (;;) {}\nexport const entrypoint = { title: String(1) };\n",
            );
            write(
                &home,
                "project/package.json",
                &json!({ "name": "f", "id": UUID, "projectType": "workflow",
                    "workflow": { "entrypoints": { "endless": "./endless.workflow.ts" } } })
                .to_string(),
            );
            serve(&home, Opening::None)
        }
        "queued" => serve_with(&home, LEGACY, &["--max-concurrent", "1"]),
        _ => serve(&home, LEGACY),
    };
    match state {
        "opening" => {
            client.ask(
                "initialize",
                json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
            );
        }
        "running" | "queued" => {
            client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
            wait_for_file(&home, "sleeping");
            for _ in 0..3 {
                client.ask("tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } }));
            }
            if state == "queued" {
                wait_until("the calls to queue", || {
                    runs(&home).iter().filter(|run| run["status"] == "queued").count() == 3
                });
            }
        }
        "refusing" => assert_eq!(client.request("tools/list", json!({})).error()["code"], -32603),
        _ => {}
    }
    let (code, took) = client.finish();
    assert!(took < SOON, "{state}: it took {took:?}");
    // A project with nothing to serve is an environment that does not serve, once that is known.
    match state {
        "refusing" => assert_eq!(code, 3, "{state}"),
        "starting" => assert!(code == 3 || code == 0, "{state}: {code}"),
        _ => assert_eq!(code, 0, "{state}"),
    }
    home.assert_nothing_left();
    if matches!(state, "running" | "queued") {
        let recorded = runs(&home);
        assert!(!recorded.is_empty());
        for run in recorded {
            let run = shown(&home, run["runId"].as_str().expect("an id"));
            if run["status"] != "success" {
                assert_eq!(
                    (&run["status"], &run["cancelReason"]),
                    (&json!("cancelled"), &json!("client_gone")),
                    "{run}"
                );
            }
        }
    } else {
        assert!(!home.home().join("data/history.db").exists(), "{state}: a start leaves no history");
    }
}

#[rstest]
fn a_signal_ends_the_server_and_its_calls(
    #[values(Signal::INT, Signal::TERM, Signal::HUP)] kind: Signal,
    #[values(true, false)] running: bool,
) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    if running {
        client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
        wait_for_file(&home, "sleeping");
    }
    let started = Instant::now();
    signal(client.pid(), kind);
    // Standard input stays open: only the signal says that we are to go.
    client.wait_for_exit();
    assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
    home.assert_nothing_left();
    if running {
        let run = shown(&home, runs(&home)[0]["runId"].as_str().expect("an id"));
        assert_eq!((&run["status"], &run["cancelReason"]), (&json!("cancelled"), &json!("client_gone")), "{run}");
    }
}

/// Some clients send one signal after the other, a tenth of a second apart.
#[test]
fn a_second_signal_changes_nothing() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    signal(client.pid(), Signal::INT);
    for _ in 0..5 {
        if process::proc_info::facts(client.pid()).is_some_and(|facts| !facts.zombie) {
            signal(client.pid(), Signal::TERM);
        }
    }
    assert_eq!(client.wait_for_exit(), 0);
    home.assert_nothing_left();
    let run = shown(&home, runs(&home)[0]["runId"].as_str().expect("an id"));
    assert_eq!(run["status"], "cancelled", "{run}");
}

#[test]
fn a_killed_server_leaves_no_process_and_its_run_is_interrupted() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    client.kill();
    home.assert_nothing_left();
    let recorded = runs(&home);
    assert_eq!(recorded[0]["status"], "interrupted", "{recorded:?}");
}

/// The client is killed, and something else keeps our standard input open: only the parent's end tells.
#[test]
fn a_killed_client_is_noticed_though_input_stays_open() {
    let home = environment();
    usual_project(&home);
    let serve = arguments(&home, &[]).iter().map(|one| format!("'{one}'")).collect::<Vec<_>>().join(" ");
    let script = format!(
        "mkfifo pipe && exec 3<>pipe && '{}' {serve} <&3 >output 2>/dev/null & echo $! >server && wait",
        executable().display()
    );
    // The shell's child holds both ends of the pipe, so its input never ends.
    let mut shell = home.start("bash", &["-c", &script]).expect("it starts");
    let pipe = home.home().join("pipe");
    wait_until("the pipe", || pipe.exists());
    let mut input = std::fs::File::options().write(true).open(&pipe).expect("the pipe is read");
    let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    writeln!(input, "{open}\n{}", call_line(1, "sleep", &json!({}))).expect("the server reads");
    wait_for_file(&home, "sleeping");
    // A job in the background of a shell is its grandchild here: kill the shell that waits for it.
    for process in process::tree::descendants(shell.id()) {
        let command = std::fs::read(format!("/proc/{}/comm", process.pid)).unwrap_or_default();
        if command.starts_with(b"bash") {
            signal(process.pid, Signal::KILL);
        }
    }
    signal(shell.id(), Signal::KILL);
    shell.wait().expect("it has ended");
    wait_until("the server to notice", || home.census().is_empty());
    let run = shown(&home, runs(&home)[0]["runId"].as_str().expect("an id"));
    assert_eq!((&run["status"], &run["cancelReason"]), (&json!("cancelled"), &json!("client_gone")), "{run}");
}

// Cancel

#[rstest]
fn a_cancelled_call_is_never_answered_and_its_tree_is_gone(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, opening);
    // Id 0 is false in some languages, and a good id all the same.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    });
    let parameters = match opening {
        Opening::Modern => json!({ "name": "sleep", "arguments": {}, "_meta": meta }),
        Opening::Legacy(_) | Opening::None => json!({ "name": "sleep", "arguments": {} }),
    };
    client.send_raw(
        json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": parameters }).to_string().as_bytes(),
    );
    let pid: u32 = wait_for_file(&home, "sleeping").parse().expect("a process id");
    client.cancel(&json!(0));
    client.cancel(&json!(0));
    wait_until("the process to end", || process::proc_info::facts(pid).is_none_or(|facts| facts.zombie));
    let run = runs(&home)[0]["runId"].as_str().expect("an id").to_owned();
    wait_until("the run to be recorded", || shown(&home, &run)["status"] == "cancelled");
    assert_eq!(shown(&home, &run)["cancelReason"], "client");
    // Cancelling what has ended, or never was, changes nothing; and the id may be used again.
    client.cancel(&json!(0));
    client.notify("notifications/cancelled", json!({ "requestId": "nobody" }));
    assert_alive(&mut client);
    // An answer to id 0 would have come before this one, and `finish` would tell of it.
    client.finish();
    home.assert_nothing_left();
}

#[test]
fn a_queued_call_can_be_cancelled() {
    let home = environment();
    usual_project(&home);
    let mut client = serve_with(&home, LEGACY, &["--max-concurrent", "1"]);
    let first = client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    wait_for_file(&home, "sleeping");
    let second = client.ask("tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } }));
    wait_until("the second call to queue", || runs(&home).iter().any(|run| run["status"] == "queued"));
    client.cancel(&second);
    wait_until("the second call to end", || runs(&home).iter().any(|run| run["status"] == "cancelled"));
    assert!(!client.is_answered(&first));
    client.cancel(&first);
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

/// A cancel and an answer may cross. Whichever wins, the record has one end and the next call works.
#[test]
fn cancels_that_race_the_end_of_their_call_harm_nothing() {
    let home = environment();
    usual_project(&home);
    let mut client = serve(&home, LEGACY);
    let ids: Vec<Value> =
        (0..40).map(|_| client.ask("tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } }))).collect();
    let started = Instant::now();
    for (number, id) in ids.iter().enumerate() {
        let until = started + Duration::from_millis(4 * number as u64);
        // An answer that is on its way already may still come, so this is told by hand and not by `cancel`.
        if client.wait_until(id, until).is_none() {
            client.notify("notifications/cancelled", json!({ "requestId": id }));
        }
    }
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
    for run in runs(&home) {
        assert!(matches!(run["status"].as_str(), Some("success" | "cancelled")), "{run}");
    }
}

// Progress

#[rstest]
fn progress_comes_only_with_a_token_and_never_after_the_answer(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    project(
        &home,
        json!({ "steps": "./steps.workflow.ts" }),
        &[(
            "steps.workflow.ts",
            "export default async function (input, flow) {\n\
            for (let i = 1; i <= 500; i++) { flow.progress(i, 500, `step ${i}`); } flow.phase('end'); return 1; }",
        )],
    );
    let mut client = serve(&home, opening);
    client.call("steps", json!({})).result();
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
    for token in [json!("text"), json!(7)] {
        client.notifications.clear();
        let parameters = json!({ "name": "steps", "arguments": {}, "_meta": { "progressToken": token } });
        client.request("tools/call", parameters).result();
        let seen = client.notifications.clone();
        assert!((1..=6).contains(&seen.len()), "at most four a second: {seen:?}");
        assert!(seen.iter().all(|one| one["params"]["progressToken"] == token));
        assert_eq!(seen.last().map(|one| &one["params"]["total"]), Some(&json!(500.0)), "{seen:?}");
        client.request("tools/list", json!({})).result();
        assert_eq!(client.notifications.len(), seen.len(), "nothing comes after the answer");
    }
    client.finish();
    home.assert_nothing_left();
}

// Starting

#[test]
fn a_server_starts_in_any_folder_with_almost_no_environment() {
    let home = environment();
    usual_project(&home);
    let script = "cd / && exec env -i HOME=\"$HOME\" \"$@\"";
    let mut all =
        vec!["-c".to_owned(), script.to_owned(), "sh".to_owned(), executable().to_string_lossy().into_owned()];
    all.extend(arguments(&home, &[]));
    let all: Vec<_> = all.into_iter().map(Into::into).collect();
    let mut client = Client::start_program(&home, "sh".into(), &all, ClientOptions::default());
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

#[rstest]
fn the_list_of_tools_is_the_same_each_time(#[values(LEGACY, MODERN)] opening: Opening) {
    let home = environment();
    usual_project(&home);
    let list = || {
        let mut client = serve(&home, opening);
        let once = client.request("tools/list", json!({})).result();
        assert_eq!(client.request("tools/list", json!({})).result(), once);
        client.finish();
        once.to_string()
    };
    assert_eq!(list(), list());
    home.assert_nothing_left();
}

/// Health checks and probes start a server, ask a little, and are gone.
#[test]
fn a_probe_leaves_no_record_in_the_registry() {
    let home = environment();
    let folder = usual_project(&home);
    let added = command(&home, &["projects", "add", &folder.to_string_lossy(), "--json"]);
    let id = added[0]["projectId"].as_str().expect("an id").to_owned();
    for opening in [LEGACY, MODERN] {
        let options = ClientOptions { opening, ..ClientOptions::default() };
        let mut client = Client::start(&home, &["--workflow-mcp", &id], options);
        client.request("tools/list", json!({})).result();
        client.kill();
    }
    assert_eq!(command(&home, &["runs", "list", "--json"]), json!([]));
    home.assert_nothing_left();
}

#[test]
fn several_servers_share_one_history() {
    let home = environment();
    let folder = usual_project(&home);
    let added = command(&home, &["projects", "add", &folder.to_string_lossy(), "--json"]);
    let id = added[0]["projectId"].as_str().expect("an id").to_owned();
    let mut clients: Vec<Client> =
        (0..4).map(|_| Client::start(&home, &["--workflow-mcp", &id], ClientOptions::default())).collect();
    let asked: Vec<Vec<Value>> = clients
        .iter_mut()
        .map(|client| {
            (0..15)
                .map(|_| client.ask("tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } })))
                .collect()
        })
        .collect();
    for (client, ids) in clients.iter_mut().zip(&asked) {
        for id in ids {
            let result = client.wait(id).result();
            assert_eq!(result["structuredContent"]["status"], "success", "{result}");
        }
    }
    for client in clients {
        client.finish();
    }
    let recorded = command(&home, &["runs", "list", "--json", "--limit", "1000"]);
    let recorded = recorded.as_array().expect("a list");
    assert_eq!(recorded.len(), 60);
    assert!(recorded.iter().all(|run| run["status"] == "success"));
    home.assert_nothing_left();
}

/// Killed at many points: what was acknowledged is there, nothing is there twice, nothing runs without an owner, and
/// the database is sound.
#[test]
fn a_server_killed_at_any_moment_loses_nothing_it_acknowledged() {
    let home = environment();
    let folder = usual_project(&home);
    let added = command(&home, &["projects", "add", &folder.to_string_lossy(), "--json"]);
    let id = added[0]["projectId"].as_str().expect("an id").to_owned();
    let mut acknowledged = Vec::new();
    for round in 0..12_u64 {
        let mut client = Client::start(&home, &["--workflow-mcp", &id], ClientOptions::default());
        let ids: Vec<Value> = (0..8)
            .map(|_| client.ask("tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } })))
            .collect();
        let until = Instant::now() + Duration::from_millis(7 * round);
        for id in &ids {
            if let Some(Answer::Result(result)) = client.wait_until(id, until) {
                acknowledged.push(result["structuredContent"]["runId"].as_str().expect("an id").to_owned());
            }
        }
        client.kill();
        home.assert_nothing_left();
    }
    let recorded = command(&home, &["runs", "list", "--json", "--limit", "1000"]);
    let recorded = recorded.as_array().expect("a list");
    for run in &acknowledged {
        let found: Vec<&Value> = recorded.iter().filter(|one| one["runId"] == run.as_str()).collect();
        assert_eq!(found.len(), 1, "{run}");
        assert_eq!(found[0]["status"], "success", "{run}");
    }
    for run in recorded {
        assert!(matches!(run["status"].as_str(), Some("success" | "interrupted")), "{run}");
    }
    let examined = home.run(&["doctor", "--json"]).expect("it ends");
    assert_eq!((examined.code, &examined.json()["findings"]), (0, &json!([])), "{}", examined.stdout);
}

#[test]
fn the_executable_may_be_replaced_while_a_server_runs() {
    let home = environment();
    usual_project(&home);
    let copy = home.home().join("workflow-code");
    // By a program of its own: what this process has open for writing, a child that another test starts at that moment may
    // have as well, and a file that somebody writes cannot be started.
    let copied = home.run_program("cp", &[executable(), copy.clone()], b"").expect("it can be copied");
    assert_eq!(copied.code, 0, "{}", copied.stderr);
    let all: Vec<_> = arguments(&home, &[]).into_iter().map(Into::into).collect();
    let mut client = Client::start_program(&home, copy.clone().into_os_string(), &all, ClientOptions::default());
    assert_alive(&mut client);
    let other = home.home().join("new");
    std::fs::write(&other, "#!/bin/sh\nexit 9\n").expect("a file");
    std::fs::rename(&other, &copy).expect("it can be replaced");
    assert_alive(&mut client);
    std::fs::remove_file(&copy).expect("it can be removed");
    assert_alive(&mut client);
    client.finish();
    home.assert_nothing_left();
}

/// One line in, at once closed: what was asked before the end is still answered when it needs no run.
#[test]
fn a_piped_request_is_answered_before_the_end() {
    let home = environment();
    usual_project(&home);
    let open = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let done = home.run_program(executable(), &arguments(&home, &[]), format!("{open}\n").as_bytes()).expect("it ends");
    let answer: Value = serde_json::from_str(done.stdout.trim()).unwrap_or_default();
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{done:?}");
    home.assert_nothing_left();
}
