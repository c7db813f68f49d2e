//! Guided workflows over HTTP: who is let in, whole workflows through both transports and both eras, and a clean end.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};
use workflow_code_tests::{Environment, HttpServer, Response, Stream};

use crate::fixtures::{SOON, environment, signal};

const JOB: &str = "name: solo\nsummary: s\nstep_arguments: [{name: answer, description: d, type: string}]\nworkflows:\n  main:\n    summary: s\n    steps:\n      - {name: think, instructions: Think., outputs: {answer: {}}}\n      - {name: tell, instructions: Tell., inputs: {answer: {}}, outputs: {}}\n";

fn project(home: &Environment) -> PathBuf {
    let job = home.write("p/.deepwork/jobs/solo/job.yml", JOB).expect("written");
    job.ancestors().nth(4).expect("a folder").canonicalize().expect("it is there")
}

fn serve(home: &Environment, transport: &str) -> HttpServer {
    let root = project(home).display().to_string();
    HttpServer::start(home, &["guided", "serve", "--path", &root, "--transport", transport])
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": "open", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } })
}

fn call(id: i64, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

fn start(session: &str) -> Value {
    json!({ "goal": "g", "job_name": "solo", "workflow_name": "main", "session_id": session })
}

/// The calls of a whole workflow, and the state that each leads to.
fn workflow(session: &str) -> [(&'static str, Value, &'static str, &'static str); 3] {
    [
        ("start_workflow", start(session), "/begin_step/step_id", "think"),
        ("finished_step", json!({ "outputs": { "answer": session }, "session_id": session }), "/status", "next_step"),
        ("finished_step", json!({ "outputs": {}, "session_id": session }), "/status", "workflow_complete"),
    ]
}

/// A client of Streamable HTTP as it was before 2026-07-28.
struct Session<'a> {
    server: &'a HttpServer,
    headers: Vec<(String, String)>,
}

impl<'a> Session<'a> {
    fn open(server: &'a HttpServer) -> Self {
        let mut headers = server.headers();
        let opened = server.send("POST", "/mcp", &headers, &initialize().to_string());
        assert_eq!(opened.status, 200, "{opened:?}");
        assert_eq!(opened.messages().last().expect("an answer")["result"]["serverInfo"]["name"], "deepwork");
        headers.push(("Mcp-Session-Id".into(), opened.header("mcp-session-id").expect("a session").to_owned()));
        headers.push(("MCP-Protocol-Version".into(), "2025-06-18".into()));
        let session = Self { server, headers };
        let told = session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(told.status, 202, "{told:?}");
        session
    }

    fn post(&self, message: &Value) -> Response {
        self.server.send("POST", "/mcp", &self.headers, &message.to_string())
    }

    fn result(&self, message: &Value) -> Value {
        let answer = self.post(message);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.messages().pop().expect("an answer")["result"].clone()
    }
}

#[test]
fn a_workflow_runs_over_streamable_http_with_a_session() {
    let home = environment();
    let mut server = serve(&home, "streamable-http");
    assert!(server.said.contains("/mcp") && !server.said.contains(&server.token), "{}", server.said);
    let session = Session::open(&server);
    let tools = session.result(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    assert_eq!(tools["tools"].as_array().map(Vec::len), Some(11));
    for (id, (tool, arguments, place, wanted)) in (2..).zip(workflow("one")) {
        let result = session.result(&call(id, tool, arguments));
        assert_eq!(result["structuredContent"].pointer(place), Some(&json!(wanted)), "{result}");
    }
    let ended = server.send("DELETE", "/mcp", &session.headers, "");
    assert!((200..300).contains(&ended.status), "{ended:?}");
    assert_eq!(session.post(&call(9, "get_workflows", json!({}))).status, 404);
    signal(server.pid(), Signal::TERM);
    assert_eq!(server.ends_within(SOON), 0);
    home.assert_nothing_left();
}

#[test]
fn a_workflow_runs_over_streamable_http_without_a_session() {
    let home = environment();
    let server = serve(&home, "streamable-http");
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" } });
    let post = |mut message: Value, name: Option<&str>| {
        message["params"]["_meta"] = meta.clone();
        let mut headers = server.headers();
        headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
        headers.push(("Mcp-Method".into(), message["method"].as_str().expect("a method").into()));
        headers.extend(name.map(|name| ("Mcp-Name".into(), name.into())));
        server.send("POST", "/mcp", &headers, &message.to_string())
    };
    let found = post(json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {} }), None);
    let answer = found.messages().pop().expect("an answer");
    assert!(answer["result"]["instructions"].as_str().is_some_and(|text| text.contains("solo")), "{answer}");
    for (id, (tool, arguments, place, wanted)) in (2..).zip(workflow("modern")) {
        let answer = post(call(id, tool, arguments), Some(tool)).messages().pop().expect("an answer");
        assert_eq!(answer["result"]["structuredContent"].pointer(place), Some(&json!(wanted)), "{answer}");
        assert_eq!(answer["result"]["resultType"], "complete");
    }
    // A header that says another thing than the body, a method that went with this revision.
    let mismatch = post(call(7, "get_workflows", json!({})), Some("start_workflow"));
    assert_eq!((mismatch.status, &mismatch.messages()[0]["error"]["code"]), (400, &json!(-32020)), "{mismatch:?}");
    let removed = post(json!({ "jsonrpc": "2.0", "id": 8, "method": "ping", "params": {} }), None);
    assert_eq!((removed.status, &removed.messages()[0]["error"]["code"]), (404, &json!(-32601)), "{removed:?}");
}

/// Opens a stream; returns it with the path that its messages are posted to.
fn open_stream(server: &HttpServer) -> (Stream, String) {
    let stream = server.stream("/sse", &server.headers());
    assert_eq!(stream.status, 200);
    assert!(stream.headers.contains(&("content-type".into(), "text/event-stream".into())));
    let (kind, path) = stream.next().expect("the first event");
    assert_eq!(kind, "endpoint");
    let id = path.strip_prefix("/messages/?session_id=").expect("the known path");
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{path}");
    (stream, path)
}

#[test]
fn a_workflow_runs_over_sse_in_both_eras() {
    let home = environment();
    let mut server = serve(&home, "sse");
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    for modern in [false, true] {
        let (stream, path) = open_stream(&server);
        let post = |message: &Value| {
            let posted = server.send("POST", &path, &server.headers(), &message.to_string());
            assert_eq!(posted.status, 202, "{posted:?}");
        };
        if !modern {
            post(&initialize());
            assert_eq!(stream.answer(&json!("open"))["result"]["protocolVersion"], "2025-06-18");
            post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        let session = if modern { "modern" } else { "legacy" };
        for (id, (tool, arguments, place, wanted)) in (1..).zip(workflow(session)) {
            let mut message = call(id, tool, arguments);
            if modern {
                message["params"]["_meta"] = meta.clone();
            }
            post(&message);
            let answer = stream.answer(&json!(id));
            assert_eq!(answer["result"]["structuredContent"].pointer(place), Some(&json!(wanted)), "{answer}");
        }
        stream.close();
    }
    let (open, _) = open_stream(&server);
    signal(server.pid(), Signal::TERM);
    assert_eq!(server.ends_within(SOON), 0);
    assert_eq!(open.next(), None);
    home.assert_nothing_left();
}

#[test]
fn a_stream_that_ended_takes_no_more_messages() {
    let home = environment();
    let server = serve(&home, "sse");
    let (stream, path) = open_stream(&server);
    stream.close();
    let deadline = std::time::Instant::now() + SOON;
    let message = initialize().to_string();
    while server.send("POST", &path, &server.headers(), &message).status != 404 {
        assert!(std::time::Instant::now() < deadline, "the stream is still known");
    }
    for (path, status) in [("/messages/?session_id=0", 404), ("/messages/", 400), ("/mcp", 404)] {
        assert_eq!(server.send("POST", path, &server.headers(), &message).status, status, "{path}");
    }
    assert_eq!(server.send("GET", "/messages/?session_id=0", &server.headers(), "").status, 405);
    assert_eq!(server.send("POST", "/sse", &server.headers(), &message).status, 405);
}

#[test]
fn only_clients_of_this_machine_with_the_token_are_let_in() {
    let home = environment();
    for (transport, method, path) in [("streamable-http", "POST", "/mcp"), ("sse", "GET", "/sse")] {
        let server = serve(&home, transport);
        let body = if method == "POST" { initialize().to_string() } else { String::new() };
        let with = |name: &str, value: Option<&str>| {
            let mut headers = server.headers();
            headers.retain(|(known, _)| known != name);
            headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
            server.send(method, path, &headers, &body).status
        };
        let port = server.port;
        for wrong in [None, Some("Bearer wrong-0123456789"), Some("Basic eDp5"), Some(server.token.as_str())] {
            assert_eq!(with("Authorization", wrong), 401, "{transport} {wrong:?}");
        }
        let rebound = format!("evil.example:{port}");
        for wrong in [None, Some("evil.example"), Some(rebound.as_str()), Some("127.0.0.1"), Some("0.0.0.0")] {
            let status = with("Host", wrong);
            assert!(matches!(status, 400 | 403), "{transport} {wrong:?}: {status}");
        }
        for wrong in ["http://evil.example", "null", "http://localhost:1"] {
            assert_eq!(with("Origin", Some(wrong)), 403, "{transport} {wrong}");
        }
        if method == "POST" {
            assert_eq!(with("Origin", Some(&format!("http://127.0.0.1:{port}"))), 200);
            assert_eq!(with("Host", Some(&format!("localhost:{port}"))), 200);
        }
        // Whoever has no token learns nothing of what is here, but that there is no way to sign in.
        assert_eq!(server.send("GET", "/.well-known/oauth-protected-resource", &server.headers()[..1], "").status, 404);
    }
}

#[test]
fn what_is_no_message_is_refused_where_it_is_posted_over_sse() {
    let home = environment();
    let server = serve(&home, "sse");
    let (stream, path) = open_stream(&server);
    for (body, code) in [("{", -32700), ("[]", -32600), ("5", -32600), ("", -32600), ("{\"a\":1}", -32600)] {
        let refused = server.send("POST", &path, &server.headers(), body);
        assert_eq!(refused.status, 400, "{body}: {refused:?}");
        assert_eq!(refused.messages()[0]["error"]["code"], code, "{body}: {refused:?}");
    }
    assert_eq!(server.send("POST", &path, &server.headers(), &initialize().to_string()).status, 202);
    assert_eq!(stream.answer(&json!("open"))["result"]["serverInfo"]["name"], "deepwork");
}

#[test]
fn what_is_no_message_is_refused_and_the_server_goes_on() {
    let home = environment();
    let server = serve(&home, "streamable-http");
    let session = Session::open(&server);
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}", "[".repeat(100_000));
    for (body, code) in [("{", -32700), ("[]", -32600), ("", -32600), ("{\"id\":1}", -32600), (deep.as_str(), -32600)] {
        let refused = server.send("POST", "/mcp", &session.headers, body);
        assert_eq!(refused.status, 400, "{refused:?}");
        assert_eq!(refused.messages()[0]["error"]["code"], code, "{refused:?}");
    }
    // One that says that it is too large is not read.
    let mut headers = session.headers.clone();
    headers.push(("Content-Length".into(), (17 * 1024 * 1024).to_string()));
    assert_eq!(server.send("POST", "/mcp", &headers, "").status, 413);
    assert_eq!(server.send("PUT", "/mcp", &session.headers, "").status, 405);
    let listed = session.result(&call(5, "get_workflows", json!({})));
    assert_eq!(listed["structuredContent"]["errors"], json!([]));
}

#[test]
fn two_clients_work_side_by_side() {
    let home = environment();
    let server = serve(&home, "streamable-http");
    std::thread::scope(|scope| {
        for client in ["a", "b"] {
            let server = &server;
            scope.spawn(move || {
                let session = Session::open(server);
                for round in 0..5 {
                    let name = format!("{client}{round}");
                    for (id, (tool, arguments, place, wanted)) in (1..).zip(workflow(&name)) {
                        let result = session.result(&call(id, tool, arguments));
                        assert_eq!(result["structuredContent"].pointer(place), Some(&json!(wanted)), "{result}");
                        if wanted == "workflow_complete" {
                            assert_eq!(result["structuredContent"]["all_outputs"]["answer"], json!(name));
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn a_token_of_ones_own_and_a_port_that_is_taken() {
    let home = environment();
    let root = project(&home).display().to_string();
    let token = home.write("token", "my-own-token-0123456789\n").expect("written");
    let arguments = ["guided", "serve", "--path", &root, "--transport", "sse", "--token-file", "token"];
    // Others could read it.
    let refused = home.run(&arguments).expect("it runs");
    assert!(refused.code == 3 && refused.stderr.contains("chmod 600"), "{refused:?}");
    std::fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("set");
    let mut server = HttpServer::start(&home, &arguments);
    assert!(!home.home().join(".workflow-code/http-token").exists());
    server.token = "my-own-token-0123456789".into();
    let (stream, _) = open_stream(&server);
    let port = server.port.to_string();
    let taken: Vec<&str> = arguments.iter().copied().chain(["--port", &port]).collect();
    let refused = home.run(&taken).expect("it runs");
    assert!(refused.code == 3 && refused.stderr.contains(&port), "{refused:?}");
    stream.close();
}
