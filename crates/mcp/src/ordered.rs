//! A server that answers strictly in order, one line after the other, without asking anything back.
//!
//! For families whose every call is short and touches files only: no runtime, no tasks, and a start that costs nothing.
//! Both eras are served on one connection: a request is modern when its metadata says so, and stands alone then; the
//! others need `initialize` first.

use std::fs::File;
use std::io::{self, BufReader, Write as _};

use serde_json::{Map, Value, json};

use crate::lines::{Line, next_line};
use crate::message;

/// The newest revision, whose requests stand alone.
pub const MODERN: &str = "2026-07-28";
/// The newest revision with an opening.
pub const LEGACY: &str = "2025-11-25";
/// All revisions, newest first.
pub const REVISIONS: [&str; 5] = [MODERN, LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"];

const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// How deep a message may nest.
const MAX_DEPTH: usize = 128;

/// A protocol error.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The JSON-RPC code.
    pub code: i32,
    /// What is wrong.
    pub message: String,
    /// The same for programs.
    pub data: Option<Value>,
}

impl Refusal {
    /// -32602 with `data: {code, message, details?}`.
    #[must_use]
    pub fn invalid(code: &str, message: impl Into<String>, details: Option<Value>) -> Self {
        let message = message.into();
        let mut data = Map::from_iter([("code".to_owned(), json!(code)), ("message".to_owned(), json!(message))]);
        if let Some(details) = details {
            data.insert("details".into(), details);
        }
        Self { code: -32602, message, data: Some(Value::Object(data)) }
    }

    fn plain(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// Who the server is.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// `serverInfo.name`.
    pub name: String,
    /// `serverInfo.title`.
    pub title: String,
    /// `serverInfo.version`.
    pub version: String,
    /// `serverInfo.description`, in the opening only.
    pub description: String,
    /// What a client's model should know.
    pub instructions: String,
}

/// A family whose calls are answered in order.
pub trait OrderedFamily {
    /// Who the server is.
    fn info(&self) -> ServerInfo;

    /// The longest line that is read, in bytes.
    fn line_limit(&self) -> usize;

    /// Answers a request other than `initialize`, `ping` and `server/discover`; `None` for a method it does not know.
    /// `client` is the name the client gives itself.
    ///
    /// # Errors
    ///
    /// What is wrong with the request. What goes wrong in a tool is a result.
    fn request(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        client: Option<&str>,
    ) -> Result<Option<Value>, Refusal>;
}

/// The state of one connection.
#[derive(Debug)]
pub struct Connection<F> {
    family: F,
    /// The client's name, once it has opened.
    opened: Option<Option<String>>,
}

/// Serves until the input ends or nobody reads the output.
///
/// # Errors
///
/// When the input cannot be read.
pub fn serve<F: OrderedFamily>(family: F, input: File, mut output: File) -> io::Result<()> {
    let limit = family.line_limit();
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut connection = Connection::new(family);
    while let Some(line) = next_line(&mut input, limit)? {
        if let Some(answer) = connection.line(&line) {
            let mut bytes = serde_json::to_vec(&answer).unwrap_or_default();
            bytes.push(b'\n');
            if output.write_all(&bytes).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn error(id: Value, refusal: Refusal) -> Value {
    let mut error =
        Map::from_iter([("code".to_owned(), json!(refusal.code)), ("message".to_owned(), json!(refusal.message))]);
    if let Some(data) = refusal.data {
        error.insert("data".into(), data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// Tells whether a text nests deeper than is read; brackets in texts do not count.
fn too_deep(line: &[u8]) -> bool {
    let (mut depth, mut text, mut escaped) = (0usize, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'{' | b'[' if !text => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Which era a request is of.
enum Era {
    Legacy,
    Modern(Option<String>),
}

impl<F: OrderedFamily> Connection<F> {
    /// Starts a connection.
    pub fn new(family: F) -> Self {
        Self { family, opened: None }
    }

    /// Answers one line; `None` when nothing is answered.
    pub fn line(&mut self, line: &Line) -> Option<Value> {
        let bytes = match line {
            Line::TooLong(_) => {
                let limit = self.family.line_limit();
                return Some(error(
                    Value::Null,
                    Refusal::plain(-32600, format!("a message has at most {limit} bytes")),
                ));
            }
            Line::Whole(bytes) => bytes,
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        if too_deep(bytes) {
            return Some(error(Value::Null, Refusal::plain(-32600, "the message is nested too deep")));
        }
        let message: Value = match serde_json::from_slice(bytes) {
            Ok(message) => message,
            Err(problem) => {
                let id = message::id_of_unreadable(bytes);
                return Some(error(id, Refusal::plain(-32700, format!("this is no JSON: {problem}"))));
            }
        };
        let Value::Object(mut message) = message else {
            return Some(error(Value::Null, Refusal::plain(-32600, "a message is one object; batches are not served")));
        };
        let id = message.remove("id");
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let (Some("2.0"), Some(method)) = (message.get("jsonrpc").and_then(Value::as_str), method) else {
            // An answer to a question of ours; we ask none.
            if id.is_some() && (message.contains_key("result") || message.contains_key("error")) {
                return None;
            }
            return Some(error(
                id.unwrap_or(Value::Null),
                Refusal::plain(-32600, "`jsonrpc` must be \"2.0\" and `method` a text"),
            ));
        };
        let id = id?;
        Some(match self.request(&method, message.remove("params")) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(refusal) => error(id, refusal),
        })
    }

    fn request(&mut self, method: &str, params: Option<Value>) -> Result<Value, Refusal> {
        let params = match params {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                return Err(Refusal::invalid(
                    "MCP_ARGUMENT_INVALID",
                    "`params` must be an object",
                    Some(json!({ "argument": "params" })),
                ));
            }
        };
        let era = era(&params)?;
        let info = self.family.info();
        match (method, &era) {
            ("ping", Era::Modern(_)) => return Ok(json!({ "resultType": "complete" })),
            ("ping", Era::Legacy) => return Ok(json!({})),
            ("initialize", Era::Legacy) => return self.open(&params, &info),
            ("server/discover", Era::Legacy) => {
                return Err(Refusal::invalid(
                    "MCP_REQUEST_METADATA_REQUIRED",
                    "`server/discover` needs the metadata of its revision",
                    None,
                ));
            }
            ("server/discover", Era::Modern(_)) => {
                return Ok(json!({
                    "resultType": "complete",
                    "supportedVersions": REVISIONS,
                    "capabilities": capabilities(),
                    "_meta": { META_SERVER: { "name": info.name, "title": info.title, "version": info.version } },
                    "instructions": info.instructions,
                    "ttlMs": 30_000,
                    "cacheScope": "private",
                }));
            }
            _ => {}
        }
        let client = match (&era, &self.opened) {
            (Era::Modern(client), _) => client.clone(),
            (Era::Legacy, Some(client)) => client.clone(),
            (Era::Legacy, None) => {
                return Err(Refusal::invalid("MCP_NOT_INITIALIZED", "`initialize` comes first", None));
            }
        };
        let Some(mut result) = self.family.request(method, &params, client.as_deref())? else {
            let message = format!("there is no method `{method}`");
            let data = json!({ "code": "MCP_METHOD_NOT_FOUND", "message": message });
            return Err(Refusal { code: -32601, message, data: Some(data) });
        };
        if let (Era::Modern(_), Value::Object(result)) = (&era, &mut result) {
            result.insert("resultType".into(), json!("complete"));
            let lifetime = match method {
                "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => Some(30_000),
                "resources/read" => Some(1000),
                _ => None,
            };
            if let Some(lifetime) = lifetime {
                result.insert("ttlMs".into(), json!(lifetime));
                result.insert("cacheScope".into(), json!("private"));
            }
        }
        Ok(result)
    }

    fn open(&mut self, params: &Map<String, Value>, info: &ServerInfo) -> Result<Value, Refusal> {
        let Some(asked) =
            params.get("protocolVersion").and_then(Value::as_str).filter(|asked| !asked.trim().is_empty())
        else {
            return Err(Refusal::invalid(
                "MCP_ARGUMENT_REQUIRED",
                "`initialize` needs `protocolVersion`",
                Some(json!({ "argument": "protocolVersion" })),
            ));
        };
        let revision = REVISIONS.iter().find(|one| **one == asked && **one != MODERN).unwrap_or(&LEGACY);
        // Opened again without a name, it is still the same client.
        let before = self.opened.take().flatten();
        self.opened = Some(client_name(params.get("clientInfo")).or(before));
        Ok(json!({
            "protocolVersion": revision,
            "capabilities": capabilities(),
            "serverInfo": { "name": info.name, "title": info.title, "version": info.version, "description": info.description },
            "instructions": info.instructions,
        }))
    }
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {}, "prompts": {} })
}

fn client_name(info: Option<&Value>) -> Option<String> {
    let name = info?.get("name")?.as_str()?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn era(params: &Map<String, Value>) -> Result<Era, Refusal> {
    let meta = match params.get("_meta") {
        None | Some(Value::Null) => return Ok(Era::Legacy),
        Some(Value::Object(meta)) => meta,
        Some(_) => {
            return Err(Refusal::invalid(
                "MCP_ARGUMENT_INVALID",
                "`_meta` must be an object",
                Some(json!({ "argument": "params._meta" })),
            ));
        }
    };
    let Some(revision) = meta.get(META_REVISION) else { return Ok(Era::Legacy) };
    if !revision.as_str().is_some_and(|revision| REVISIONS.contains(&revision)) {
        return Err(Refusal {
            code: -32022,
            message: "this protocol revision is not supported".into(),
            data: Some(json!({ "supported": REVISIONS, "requested": revision })),
        });
    }
    if revision != MODERN {
        return Ok(Era::Legacy);
    }
    let client = meta.get(META_CLIENT).filter(|info| info.is_object());
    let Some(client) = client else {
        return Err(Refusal::invalid("MCP_CLIENT_INFO_REQUIRED", "the request does not say who the client is", None));
    };
    if !meta.get(META_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(Refusal::invalid(
            "MCP_CLIENT_CAPABILITIES_REQUIRED",
            "the request does not say what the client can do",
            None,
        ));
    }
    Ok(Era::Modern(client_name(Some(client))))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo;

    impl OrderedFamily for Echo {
        fn info(&self) -> ServerInfo {
            let text = || "echo".to_owned();
            ServerInfo { name: text(), title: text(), version: text(), description: text(), instructions: text() }
        }

        fn line_limit(&self) -> usize {
            64
        }

        fn request(
            &mut self,
            method: &str,
            _: &Map<String, Value>,
            client: Option<&str>,
        ) -> Result<Option<Value>, Refusal> {
            Ok((method == "tools/list").then(|| json!({ "client": client })))
        }
    }

    fn answers(lines: &[&str]) -> Vec<Option<Value>> {
        let mut connection = Connection::new(Echo);
        lines.iter().map(|line| connection.line(&Line::Whole(line.as_bytes().to_vec()))).collect()
    }

    fn code(answer: &Option<Value>) -> Option<i64> {
        answer.as_ref()?.get("error")?.get("code")?.as_i64()
    }

    #[test]
    fn bad_lines_have_their_codes() {
        let found = answers(&[
            "{not json",
            "[]",
            "42",
            "{\"id\":7,\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":9}",
            "   ",
            "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
        ]);
        assert_eq!(
            found.iter().map(code).collect::<Vec<_>>(),
            [Some(-32700), Some(-32600), Some(-32600), Some(-32600), Some(-32600), None, None, Some(-32602)]
        );
        assert_eq!(found[3].as_ref().and_then(|answer| answer["id"].as_i64()), Some(7));
        assert!(found[5].is_none() && found[6].is_none());
        let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}", "[".repeat(100_000));
        assert_eq!(code(&answers(&[&deep])[0]), Some(-32600));
        let mut connection = Connection::new(Echo);
        assert_eq!(code(&connection.line(&Line::TooLong(Vec::new()))), Some(-32600));
    }

    #[test]
    fn both_eras_are_served_on_one_connection() {
        let meta = json!({ META_REVISION: MODERN, META_CLIENT: { "name": "m" }, META_CAPABILITIES: {} });
        let modern =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string();
        let legacy = "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}";
        let open = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"1999-01-01\",\"clientInfo\":{\"name\":\"l\"}}}";
        let unknown = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nope\"}";
        let found: Vec<Value> = answers(&[legacy, &modern, open, legacy, unknown]).into_iter().flatten().collect();
        assert_eq!(found[0]["error"]["data"]["code"], "MCP_NOT_INITIALIZED");
        assert_eq!(
            found[1]["result"],
            json!({ "client": "m", "resultType": "complete", "ttlMs": 30_000, "cacheScope": "private" })
        );
        assert_eq!(found[2]["result"]["protocolVersion"], LEGACY);
        assert_eq!((&found[3]["result"], &found[3]["id"]), (&json!({ "client": "l" }), &Value::Null));
        assert_eq!(found[4]["error"]["code"], -32601);
    }

    #[test]
    fn a_revision_nobody_knows_is_refused_with_the_list() {
        let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "_meta": { META_REVISION: "2099-01-01" } } }).to_string();
        let answer = answers(&[&line]).remove(0).expect("an answer");
        assert_eq!(
            (answer["error"]["code"].as_i64(), &answer["error"]["data"]["requested"]),
            (Some(-32022), &json!("2099-01-01"))
        );
    }

    #[test]
    fn the_opening_may_be_sent_again_and_a_ping_before_it() {
        let open = |name: &str| {
            let info = if name.is_empty() { json!(null) } else { json!({ "name": name }) };
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "clientInfo": info } }).to_string()
        };
        let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        let list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
        let found: Vec<Value> =
            answers(&[ping, &open("a"), &open(""), list, &open("b"), list]).into_iter().flatten().collect();
        assert_eq!(
            (&found[0]["result"], found[2]["result"]["protocolVersion"].as_str()),
            (&json!({}), Some("2025-06-18"))
        );
        assert_eq!((&found[3]["result"]["client"], &found[5]["result"]["client"]), (&json!("a"), &json!("b")));
    }

    #[test]
    fn a_modern_request_says_who_asks() {
        let ask = |meta: Value| {
            let line =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string();
            answers(&[&line]).remove(0).expect("an answer")
        };
        assert_eq!(ask(json!({ META_REVISION: MODERN }))["error"]["data"]["code"], "MCP_CLIENT_INFO_REQUIRED");
        assert_eq!(
            ask(json!({ META_REVISION: MODERN, META_CLIENT: { "name": "x" } }))["error"]["data"]["code"],
            "MCP_CLIENT_CAPABILITIES_REQUIRED"
        );
        assert!(
            ask(json!({ META_REVISION: MODERN, META_CLIENT: { "name": "x" }, META_CAPABILITIES: {} }))["result"]
                .is_object()
        );
        assert_eq!(ask(json!([]))["error"]["data"]["details"]["argument"], "params._meta");
    }

    #[test]
    fn letters_that_lie_across_two_reads_are_whole() {
        let source = "{\"jsonrpc\":\"2.0\",\"id\":\"é汉😀\",\"method\":\"ping\"}\n";
        // One byte at a time.
        let mut input = std::io::BufReader::with_capacity(1, source.as_bytes());
        let line = crate::lines::next_line(&mut input, 1000).expect("read").expect("a line");
        let answer = Connection::new(Echo).line(&line).expect("an answer");
        assert_eq!(answer["id"], "é汉😀");
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_one_is_served() {
        use std::io::{Read as _, Seek as _};
        let mut input = tempfile::tempfile().expect("a file");
        let output = tempfile::tempfile().expect("a file");
        write!(input, "{}\n{{\"jsonrpc\":\"2.0\",\"id\":\"é\",\"method\":\"ping\"}}\n", "x".repeat(100_000))
            .expect("written");
        input.rewind().expect("at its start");
        serve(Echo, input, output.try_clone().expect("again")).expect("served");
        let mut output = output;
        output.rewind().expect("at its start");
        let mut text = String::new();
        output.read_to_string(&mut text).expect("read");
        let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!((found[0]["error"]["code"].as_i64(), found[1]["id"].as_str()), (Some(-32600), Some("é")));
    }
}
