//! The server skeleton with a family that does what no real one should: panics, asks without end, sleeps.
#![expect(clippy::panic, reason = "the family's own panic is what is tested")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use process::standard_streams::ProtocolStreams;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use workflow_mcp::{Ask, Call, Elicited, Family, Fault, Identity, Reply, Tool};

struct Odd {
    identity: Identity,
    /// Raised when a question was withdrawn.
    withdrawn: CancellationToken,
}

impl Family for Odd {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn instructions(&self) -> Option<String> {
        None
    }

    async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        let tool = |name: &str| Tool {
            name: name.into(),
            title: None,
            description: None,
            input_schema: json!({ "type": "object" }).as_object().cloned().unwrap_or_default(),
            output_schema: None,
            annotations: model::Annotations::default(),
        };
        Ok(["panic", "ask", "echo"].map(tool).into())
    }

    async fn call(&self, call: Call) -> Result<Reply, Fault> {
        match call.tool.as_str() {
            "panic" => panic!("a panic that nobody meant"),
            "ask" => {
                let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
                let ask = Ask { message: "Who?".into(), schema };
                let never = CancellationToken::new();
                if call.channel.elicit(&ask, Duration::from_secs(3_600), &never).await == Elicited::Withdrawn {
                    self.withdrawn.cancel();
                }
                Ok(Reply::Complete { value: json!({}), is_error: false })
            }
            _ => Ok(Reply::Complete { value: Value::Object(call.arguments), is_error: false }),
        }
    }

    fn crashed(&self, tool: &str) -> Reply {
        Reply::Complete { value: json!({ "crashed": tool }), is_error: true }
    }
}

/// A server in a thread of its own, and the client's ends of its pipes.
struct Server {
    input: Option<File>,
    output: BufReader<File>,
    withdrawn: CancellationToken,
    thread: std::thread::JoinHandle<std::io::Result<()>>,
}

fn pipe() -> (File, File) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    (File::from(OwnedFd::from(reader)), File::from(OwnedFd::from(writer)))
}

impl Server {
    fn start() -> Self {
        let ((server_input, input), (output, server_output)) = (pipe(), pipe());
        let streams = ProtocolStreams { input: server_input, output: server_output };
        let withdrawn = CancellationToken::new();
        let identity = Identity { name: "odd".into(), title: None, version: "1".into() };
        let family = Arc::new(Odd { identity, withdrawn: withdrawn.clone() });
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let served = runtime.block_on(workflow_mcp::serve(family, streams, CancellationToken::new()));
            runtime.shutdown_background();
            served
        });
        let mut server = Self { input: Some(input), output: BufReader::new(output), withdrawn, thread };
        let capabilities = json!({ "elicitation": {} });
        server.ask(
            0,
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "t", "version": "1" } }),
        );
        assert_eq!(server.next()["id"], 0);
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("it is open"), "{message}").expect("it is read");
    }

    fn ask(&mut self, id: i64, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
    }

    fn call(&mut self, id: i64, tool: &str, arguments: Map<String, Value>) {
        self.ask(id, "tools/call", json!({ "name": tool, "arguments": arguments }));
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it is written");
        serde_json::from_str(&line).expect("every line is JSON")
    }

    fn finish(mut self) {
        self.input = None;
        self.thread.join().expect("no panic gets out").expect("it served");
    }
}

/// T14: a call whose handling panics is answered, and the others go on.
#[test]
fn a_panic_ends_its_call_with_an_answer_and_nothing_else() {
    let mut server = Server::start();
    for id in [1, 2] {
        server.call(id, "panic", Map::new());
        let answer = server.next();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["structuredContent"], json!({ "crashed": "panic" }), "{answer}");
        assert_eq!(answer["result"]["isError"], true);
        assert!(!answer.to_string().contains("nobody meant"), "what a panic says is not for the client: {answer}");
    }
    let arguments = json!({ "still": "here" });
    server.call(3, "echo", arguments.as_object().cloned().unwrap_or_default());
    assert_eq!(server.next()["result"]["structuredContent"], arguments);
    server.finish();
}

/// T10: a cancelled call takes its open question away from the client's person.
#[test]
fn a_cancelled_call_withdraws_its_open_question() {
    let mut server = Server::start();
    server.call(7, "ask", Map::new());
    let question = server.next();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }));
    let withdrawal = server.next();
    assert_eq!(withdrawal["method"], "notifications/cancelled", "{withdrawal}");
    assert_eq!(withdrawal["params"]["requestId"], question["id"], "{withdrawal}");
    // The call itself is never answered: the next thing that comes is the answer to the next one.
    server.call(8, "echo", Map::new());
    assert_eq!(server.next()["id"], 8);
    assert!(server.withdrawn.is_cancelled());
    server.finish();
}

#[test]
fn the_end_of_input_ends_a_server_with_an_open_question() {
    let mut server = Server::start();
    server.call(7, "ask", Map::new());
    assert_eq!(server.next()["method"], "elicitation/create");
    server.finish();
}
