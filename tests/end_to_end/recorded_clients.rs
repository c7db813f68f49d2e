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
    for (number, connection) in said.split("\n\n").enumerate() {
        let environment = Environment::new().expect("a home");
        let sample = std::fs::canonicalize(repository("assets/sample")).expect("the sample project");
        let arguments = ["mcp".into(), sample.into_os_string()];
        let options = ClientOptions { opening: Opening::None, ..ClientOptions::default() };
        let mut client = Client::start(&environment, &arguments, options);
        let mut answered = 0;
        for line in connection.lines() {
            let message: Value = serde_json::from_str(line).expect("a client says JSON");
            client.send_raw(line.as_bytes());
            let Some(id) = message.get("id") else { continue };
            let result = match client.wait(id) {
                Answer::Result(result) => result,
                Answer::Error(error) => panic!("connection {number}: {line} was answered with {error}"),
            };
            check(&message, &result);
            answered += 1;
        }
        assert!(answered > 0, "connection {number} asks nothing");
        let (code, took) = client.finish();
        assert_eq!(code, 0);
        assert!(took < Duration::from_secs(5), "it took {took:?} to end");
        environment.assert_nothing_left();
    }
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
        Some("tools/list") => assert_eq!(result["tools"][0]["name"], "greet"),
        Some("tools/call") => {
            assert_eq!(result["structuredContent"]["output"]["greeting"], "Hello, Ada");
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
