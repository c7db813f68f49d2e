//! What fuzzing feeds with bytes: lines of a client, of any length and content. Fails when a promise is broken.
//!
//! Not part of the interface. Not here: making the bytes.

use std::io::BufReader;

use serde_json::{Map, Value, json};

use crate::lines::{Line, next_line};
use crate::ordered::{Connection, OrderedFamily, Refusal, ServerInfo};

/// The longest line of this client.
const LIMIT: usize = 512;

struct Echo;

impl OrderedFamily for Echo {
    fn info(&self) -> ServerInfo {
        let text = || "echo".to_owned();
        ServerInfo { name: text(), title: text(), version: text(), description: text(), instructions: text() }
    }

    fn line_limit(&self) -> usize {
        LIMIT
    }

    fn request(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        _: Option<&str>,
    ) -> Result<Option<Value>, Refusal> {
        Ok((method == "tools/call").then(|| json!({ "params": params })))
    }
}

/// JSON-RPC lines: each is answered once or not at all, with its id, by a result or an error; whatever a line was, the next
/// one is served.
pub fn json_rpc_lines(bytes: &[u8]) {
    let mut input = BufReader::with_capacity(64, bytes);
    let mut connection = Connection::new(Echo);
    let mut lines = 0;
    while let Ok(Some(line)) = next_line(&mut input, LIMIT) {
        lines += 1;
        assert!(lines <= bytes.len() + 1, "reading comes to an end");
        let answer = connection.line(&line);
        let Some(answer) = answer else { continue };
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
        if let Some(error) = answer.get("error") {
            assert!(error["code"].as_i64().is_some_and(|code| code < 0) && error["message"].is_string(), "{answer}");
        }
        if let Line::Whole(bytes) = &line
            && let Ok(Value::Object(message)) = serde_json::from_slice(bytes)
            && answer["error"]["code"] != -32600
        {
            assert_eq!(Some(&answer["id"]), message.get("id"), "an answer has its question's id");
        }
    }
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}".to_vec();
    let answer = connection.line(&Line::Whole(ping)).expect("it is still there");
    assert_eq!((&answer["id"], &answer["result"]), (&json!(7), &json!({})));
}
