//! What a line is, before the protocol library sees it.

use std::borrow::Cow;

use serde_json::Value;

/// An error to answer a line with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BadLine {
    /// The request's id when it could be read.
    pub(crate) id: Value,
    /// JSON-RPC 2.0, section 5.1.
    pub(crate) code: i32,
    /// What is wrong.
    pub(crate) message: String,
}

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;

/// Writes an error response as a line.
pub(crate) fn error_line(bad: &BadLine) -> Vec<u8> {
    serde_json::json!({"jsonrpc": "2.0", "id": bad.id, "error": {"code": bad.code, "message": bad.message}})
        .to_string()
        .into_bytes()
}

/// What kind of message a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Request,
    Notification,
    Response,
}

/// A line that is one JSON-RPC message.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    pub(crate) value: Value,
}

impl Message {
    pub(crate) fn method(&self) -> &str {
        self.value.get("method").and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn id(&self) -> Value {
        self.value.get("id").cloned().unwrap_or(Value::Null)
    }

    /// Returns `params._meta`, where a request of 2026-07-28 says who sends it.
    pub(crate) fn meta(&self, key: &str) -> Option<&Value> {
        self.value.get("params")?.get("_meta")?.get(key)
    }
}

/// Reads a line. `None`: nothing in it, which is tolerated.
pub(crate) fn read(line: &[u8], max_depth: usize) -> Result<Option<Message>, BadLine> {
    // A byte order mark and a carriage return come from Windows tools; neither is worth ending a session for.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if !model::within_depth(line, max_depth) {
        return Err(BadLine {
            id: find_id(line),
            code: INVALID_REQUEST,
            message: format!("Invalid request: nested over {max_depth} levels"),
        });
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        tracing::warn!(%error, "a line that cannot be read came in");
        BadLine { id: id_of_unreadable(line), code: PARSE_ERROR, message: format!("Parse error: {error}") }
    })?;
    classify(value).map(Some)
}

fn classify(value: Value) -> Result<Message, BadLine> {
    let invalid = |id: Value, message: &str| BadLine {
        id,
        code: INVALID_REQUEST,
        message: format!("Invalid request: {message}"),
    };
    let Some(object) = value.as_object() else {
        let message = if value.is_array() { "batches are not supported" } else { "a message is a JSON object" };
        return Err(invalid(Value::Null, message));
    };
    let id = object.get("id").cloned();
    let usable = id.as_ref().is_none_or(|id| id.is_string() || id.is_i64());
    let shown = if usable { id.clone().unwrap_or(Value::Null) } else { Value::Null };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(shown, "`jsonrpc` must be \"2.0\""));
    }
    let kind = match object.get("method") {
        Some(Value::String(_)) if id.is_some() => Kind::Request,
        Some(Value::String(_)) => Kind::Notification,
        Some(_) => return Err(invalid(shown, "`method` must be a string")),
        None if object.contains_key("result") || object.contains_key("error") => Kind::Response,
        None => return Err(invalid(shown, "`method` is missing")),
    };
    if !usable && kind == Kind::Request {
        return Err(invalid(Value::Null, "`id` must be a string or an integer"));
    }
    Ok(Message { kind, value })
}

/// Finds the id of a line that could not be read. One that is JSON all the same has it: half of a pair of surrogates, or a
/// number beyond all numbers, can be written in JSON and not be held here.
pub(crate) fn id_of_unreadable(line: &[u8]) -> Value {
    match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
        Ok(_) => find_id(line),
        Err(_) => Value::Null,
    }
}

/// The most bytes of a text that is told in passing: a log line, or a word on progress.
const TOLD_BYTES: usize = 4 * 1024;

/// What stands where a text was cut.
const CUT: &str = "…";

/// Cuts a text that is told in passing to 4 KiB; what was recorded of it is whole.
pub(crate) fn in_passing(text: &str) -> Cow<'_, str> {
    if text.len() <= TOLD_BYTES {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(TOLD_BYTES - CUT.len());
    Cow::Owned(format!("{}{CUT}", &text[..end]))
}

/// Answers a line that is too long to be parsed.
pub(crate) fn too_long(beginning: &[u8], limit: usize) -> BadLine {
    BadLine {
        id: find_id(beginning),
        code: INVALID_REQUEST,
        message: format!(
            "Invalid request: a message may have {limit} bytes at most; pass large content as a file parameter"
        ),
    }
}

/// A step of the scanner: what stands at this position.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

enum Token<'a> {
    Open,
    Close,
    Text(&'a [u8]),
    Other,
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'{' | b'[' => Token::Open,
            b'}' | b']' => Token::Close,
            b'"' => {
                let start = self.at;
                while let Some(byte) = self.bytes.get(self.at) {
                    match byte {
                        b'\\' => self.at += 2,
                        b'"' => break,
                        _ => self.at += 1,
                    }
                }
                let end = self.at.min(self.bytes.len());
                self.at = end + 1;
                Token::Text(&self.bytes[start..end])
            }
            _ => Token::Other,
        })
    }
}

/// Finds the `id` of the outermost object in a text that may be cut off anywhere; null when it is not there.
fn find_id(bytes: &[u8]) -> Value {
    let mut scanner = Scanner { bytes, at: 0 };
    let mut depth = 0_usize;
    while let Some(token) = scanner.next() {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            Token::Text(b"id") if depth == 1 => {
                let rest = bytes.get(scanner.at..).unwrap_or_default().trim_ascii_start();
                let Some(rest) = rest.strip_prefix(b":") else { continue };
                let rest = rest.trim_ascii_start();
                let end = rest.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(rest.len());
                let id: Value = serde_json::from_slice(&rest[..end]).unwrap_or_default();
                return if id.is_string() || id.is_i64() { id } else { Value::Null };
            }
            Token::Text(_) | Token::Other => {}
        }
    }
    Value::Null
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bad(line: &str) -> (Value, i32) {
        match read(line.as_bytes(), 100) {
            Err(bad) => (bad.id, bad.code),
            Ok(message) => panic!("{line} was taken: {message:?}"),
        }
    }

    #[test]
    fn odd_lines_get_their_code_and_id() {
        assert_eq!(bad("this is not json"), (Value::Null, PARSE_ERROR));
        assert_eq!(bad("[]"), (Value::Null, INVALID_REQUEST));
        assert_eq!(bad("7"), (Value::Null, INVALID_REQUEST));
        assert_eq!(bad(r#"{"id":3,"method":"ping"}"#), (json!(3), INVALID_REQUEST));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), (Value::Null, INVALID_REQUEST));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#), (Value::Null, INVALID_REQUEST));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":"a","method":7}"#), (json!("a"), INVALID_REQUEST));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":"a"}"#), (json!("a"), INVALID_REQUEST));
    }

    #[test]
    fn what_is_json_and_cannot_be_held_has_its_id() {
        let surrogate = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud800"}}"#;
        assert_eq!(bad(surrogate), (json!(7), PARSE_ERROR));
        let huge = r#"{"jsonrpc":"2.0","params":{"id":1,"n":1e999},"id":"x","method":"m"}"#;
        assert_eq!(bad(huge), (json!("x"), PARSE_ERROR));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":7,"method":"#), (Value::Null, PARSE_ERROR));
        assert_eq!(bad(r#"{"jsonrpc":"2.0","id":7,"method":"m"} x"#), (Value::Null, PARSE_ERROR));
    }

    #[test]
    fn a_text_told_in_passing_is_cut_between_its_letters() {
        assert_eq!(in_passing("short"), "short");
        let exact = "e".repeat(TOLD_BYTES);
        assert_eq!(in_passing(&exact), exact.as_str());
        for long in ["e".repeat(20_000), "运".repeat(5_000), format!("a{}", "运".repeat(5_000))] {
            let cut = in_passing(&long);
            assert!(cut.len() <= TOLD_BYTES && cut.len() > TOLD_BYTES - 8, "{}", cut.len());
            assert!(long.starts_with(cut.strip_suffix(CUT).expect("it says that it was cut")));
        }
    }

    #[test]
    fn a_mark_a_carriage_return_and_an_empty_line_are_tolerated() {
        assert!(read(b"", 100).expect("taken").is_none());
        assert!(read(b" \r", 100).expect("taken").is_none());
        let line = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\r";
        let message = read(line.as_bytes(), 100).expect("taken").expect("a message");
        assert_eq!((message.kind, message.id()), (Kind::Request, json!(0)));
    }

    #[test]
    fn a_line_nested_too_deep_is_refused_before_it_is_parsed() {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":9,"method":"x","params":{}{}}}"#, "[".repeat(100), "]".repeat(100));
        assert_eq!(bad(&line), (json!(9), INVALID_REQUEST));
        // Deep enough to overflow a recursive parser.
        assert_eq!(bad(&"[".repeat(1_000_000)), (Value::Null, INVALID_REQUEST));
    }

    #[test]
    fn the_id_of_a_cut_line_is_found_at_the_outermost_level_only() {
        assert_eq!(find_id(br#"{"jsonrpc":"2.0","params":{"id":1},"id" : "x\"y","met"#), json!("x\"y"));
        assert_eq!(find_id(br#"{"params":{"id":1,"text":"aaaa"#), Value::Null);
        assert_eq!(find_id(br#"{"id":17,"params":{"text":"aaaa"#), json!(17));
        assert_eq!(find_id(br#"{"id":{"#), Value::Null);
        assert_eq!(find_id(br#"{"id"#), Value::Null);
    }
}
