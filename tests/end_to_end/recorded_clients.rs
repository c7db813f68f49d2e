//! What real clients said, said again: `tests/clients/*.jsonl`, recorded by `cargo xtask test --clients --record`.
//!
//! A client waits for an answer before it asks on, so each request is answered before the next line is sent.

use std::path::PathBuf;
use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use workflow_code_tests::{Answer, Client, ClientOptions, Environment, Opening};

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

#[rstest]
fn every_request_of_a_recorded_client_is_answered(#[files("clients/*.jsonl")] recording: PathBuf) {
    let said = std::fs::read_to_string(&recording).expect("the recording can be read");
    let asks = recording.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("-form"));
    for (number, connection) in said.split("\n\n").enumerate() {
        let environment = Environment::new().expect("a home");
        let project = if asks { "tests/conformance/project" } else { "assets/sample" };
        let project = std::fs::canonicalize(repository(project)).expect("the project");
        let arguments = ["mcp".into(), project.into_os_string()];
        let capabilities = if asks { json!({ "elicitation": {} }) } else { json!({}) };
        // What it answers is in the recording.
        let options = ClientOptions { opening: Opening::None, capabilities, answers: vec![Value::Null; 10] };
        let mut client = Client::start(&environment, &arguments, options);
        let lines: Vec<Value> =
            connection.lines().map(|line| serde_json::from_str(line).expect("a client says JSON")).collect();
        let mut answered = 0;
        // What the client has to carry back.
        let mut carried = Value::Null;
        for (place, line) in lines.iter().enumerate() {
            if line.get("method").is_none() {
                // An answer to a form, which was given while its request was waited for.
                continue;
            }
            let message = with_carried(line.clone(), &carried);
            client.send_raw(message.to_string().as_bytes());
            let Some(id) = message.get("id") else { continue };
            if let Some(answer) = lines.get(place + 1).filter(|next| next.get("method").is_none()) {
                let asked = client.until(Duration::from_secs(30), |client| !client.elicited.is_empty());
                assert!(asked, "connection {number}: nothing was asked after {line}");
                client.answer_form(&answer["result"]);
            }
            let result = match client.wait(id) {
                Answer::Result(result) => result,
                Answer::Error(error) => panic!("connection {number}: {message} was answered with {error}"),
            };
            check(&message, &result);
            carried = result;
            answered += 1;
        }
        assert!(answered > 0, "connection {number} asks nothing");
        let (code, took) = client.finish();
        assert_eq!(code, 0);
        assert!(took < Duration::from_secs(5), "it took {took:?} to end");
        environment.assert_nothing_left();
    }
}

/// Puts what the server gave into a request that carries it back.
fn with_carried(mut message: Value, carried: &Value) -> Value {
    if let Some(state) = message.pointer_mut("/params/requestState") {
        *state = carried["requestState"].clone();
        let asked = carried["inputRequests"].as_object().expect("the server asked before");
        let answers = message["params"]["inputResponses"].as_object().expect("the client answers");
        let both: serde_json::Map<String, Value> = asked.keys().cloned().zip(answers.values().cloned()).collect();
        message["params"]["inputResponses"] = both.into();
    }
    message
}

/// What the client goes by is in the result.
fn check(request: &Value, result: &Value) {
    match request["method"].as_str() {
        Some("initialize") => assert_eq!(result["protocolVersion"], request["params"]["protocolVersion"]),
        Some("server/discover") => {
            let wanted = &request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
            let supported = result["supportedVersions"].as_array().expect("a list of versions");
            assert!(supported.contains(wanted), "{supported:?}");
        }
        Some("tools/list") => {
            let tools = result["tools"].as_array().expect("a list of tools");
            let known = |tool: &Value| tool["name"] == "greet" || tool["name"] == "test_elicitation";
            assert!(tools.iter().any(known), "{tools:?}");
        }
        Some("tools/call") if result["resultType"] == "input_required" => {
            assert_eq!(result["inputRequests"].as_object().map(serde_json::Map::len), Some(1));
            return;
        }
        Some("tools/call") => {
            let output = &result["structuredContent"]["output"];
            let filled_in = json!({ "username": "ada", "email": "ada@localhost" });
            assert!(output["greeting"] == "Hello, Ada" || *output == filled_in, "{result}");
            assert_ne!(result["isError"], true);
        }
        Some("ping" | "logging/setLevel") => {}
        Some("resources/list") => assert_eq!(result["resources"], json!([])),
        Some("resources/templates/list") => assert_eq!(result["resourceTemplates"].as_array().map(Vec::len), Some(1)),
        other => panic!("a client asks what this test does not know: {other:?}"),
    }
    if request["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some() {
        assert_eq!(result["resultType"], "complete");
    }
}
