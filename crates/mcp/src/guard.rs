//! The guard in front of the protocol library.
//!
//! rmcp 3.11 drops, misreads or exits on some of what clients do. The guard sees every line first and answers those
//! itself; what it passes on is a well-formed message with an id that is not in use.
//!
//! | what comes | what the library does | what happens here |
//! | --- | --- | --- |
//! | end of input with calls in flight | waits 5 s for them | raises `gone` at once |
//! | a notification or response first | ends the process | dropped |
//! | a line over the limit | dropped silently, the caller hangs | -32600 with its id |
//! | no JSON, a batch, an unusable id | ignored, or answered without id | -32700 or -32600 |
//! | an id that is in flight already | the first answer is lost | the second is refused with -32600 |
//! | a request before any opening | an error that names one way in | -32602 naming both |
//! | requests of a client that does not read | taken in without end | wait in the client's pipe |
//! | a method that 2026-07-28 has not, in a request of that revision | served as before | -32601 |
//! | an unknown log level in a request of that revision | served without log messages | -32602 |
//! | `initialize` whose parameters do not fit | an error about `_meta` | -32602 |
//! | a request, when there turned out to be nothing to serve | | -32603 with the reason |

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, InitializeRequestParams, JsonRpcMessage, LoggingLevel, ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::lines::{Line, Output, OutputClosed};
use crate::message::{self, BadLine, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Kind, METHOD_NOT_FOUND, Message};
use crate::refusal::Verdict;

/// `_meta` key under which a request of 2026-07-28 names its protocol revision.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// `_meta` key under which such a request says which log messages it wants.
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// How long an opening waits until it is known whether there is anything to serve.
const OPENING: Duration = Duration::from_secs(1);

/// The transport the protocol library reads and writes through.
#[derive(Debug)]
pub struct Guard {
    lines: mpsc::Receiver<Line>,
    output: Output,
    gone: CancellationToken,
    opened: bool,
    in_flight: HashSet<String>,
    line_limit: usize,
    max_depth: usize,
    verdict: Option<Verdict>,
}

impl Guard {
    /// Sets the guard between `lines` and `output`. `gone` is raised at the end of input.
    #[must_use]
    pub fn new(
        lines: mpsc::Receiver<Line>,
        output: Output,
        gone: CancellationToken,
        line_limit: usize,
        max_depth: usize,
    ) -> Self {
        Self { lines, output, gone, opened: false, in_flight: HashSet::new(), line_limit, max_depth, verdict: None }
    }

    /// Answers every request with the reason, once it is known that there is nothing to serve.
    pub(crate) fn heeding(self, verdict: Verdict) -> Self {
        Self { verdict: Some(verdict), ..self }
    }

    /// Returns what a request is answered with when there is nothing to serve. An opening waits a moment for that to be
    /// known; a connection that is open then learns of it by its next request.
    async fn refused(&mut self, message: &Message) -> Option<BadLine> {
        if message.kind != Kind::Request {
            return None;
        }
        let verdict = self.verdict.as_mut()?;
        if matches!(message.method(), "initialize" | "server/discover") {
            tokio::select! {
                () = verdict.known() => {}
                () = tokio::time::sleep(OPENING) => {}
                () = self.gone.cancelled() => {}
            }
        }
        let reason = verdict.reason()?;
        verdict.answered();
        Some(BadLine { id: message.id(), code: INTERNAL_ERROR, message: reason.to_string() })
    }

    async fn answer(&self, bad: &BadLine) {
        // A peer that does not read any more has raised `gone` already.
        let _ = self.output.send(message::error_line(bad)).await;
    }

    /// Takes a message that is well-formed JSON-RPC: passes it on, drops it, or says what to answer.
    fn admit(&mut self, message: Message) -> Result<Option<ClientJsonRpcMessage>, BadLine> {
        match message.kind {
            Kind::Notification | Kind::Response if !self.opened => {
                tracing::debug!(method = message.method(), "dropped, since it came before the first request");
                return Ok(None);
            }
            Kind::Response => {}
            Kind::Notification => {
                if message.method() == "notifications/cancelled"
                    && let Some(id) = message.value.pointer("/params/requestId")
                {
                    // Its answer is suppressed, so the id is free again.
                    self.in_flight.remove(&id.to_string());
                }
            }
            Kind::Request => {
                self.check_opening(&message)?;
                if !self.in_flight.insert(message.id().to_string()) {
                    return Err(BadLine {
                        id: message.id(),
                        code: INVALID_REQUEST,
                        message: format!("Invalid request: id {} is in flight already", message.id()),
                    });
                }
            }
        }
        let (kind, id) = (message.kind, message.id());
        let odd_params = message.value.get("params").is_some_and(|params| !params.is_object());
        let method = message.method().to_owned();
        match serde_json::from_value(message.value) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(error) if kind == Kind::Request => {
                self.in_flight.remove(&id.to_string());
                if odd_params {
                    let message = format!("the parameters of `{method}` must be an object");
                    return Err(BadLine { id, code: INVALID_PARAMS, message });
                }
                Err(BadLine { id, code: INVALID_REQUEST, message: format!("Invalid request: {error}") })
            }
            Err(error) => {
                tracing::debug!(%error, "a message that fits nothing was dropped");
                Ok(None)
            }
        }
    }

    fn check_opening(&mut self, message: &Message) -> Result<(), BadLine> {
        let method = message.method();
        let modern = message.meta(META_VERSION).is_some();
        check_request(message)?;
        if !self.opened && !modern && !matches!(method, "initialize" | "ping" | "server/discover") {
            return Err(BadLine {
                id: message.id(),
                code: INVALID_PARAMS,
                message: format!(
                    "`{method}` came before the connection was opened: send `initialize` first (2025-11-25 and older), \
                     or put `{META_VERSION}` and the other required keys into `params._meta` of every request (2026-07-28)"
                ),
            });
        }
        // A probe by `server/discover` or `ping` leaves both ways open.
        if method == "initialize" || (modern && method != "server/discover") {
            self.opened = true;
        }
        Ok(())
    }
}

impl Transport<RoleServer> for Guard {
    type Error = OutputClosed;

    fn name() -> Cow<'static, str> {
        "guard".into()
    }

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = Result<(), OutputClosed>> + Send + 'static {
        let id = match &item {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = id.and_then(|id| serde_json::to_string(id).ok()) {
            self.in_flight.remove(&id);
        }
        let line = serde_json::to_vec(&item);
        let output = self.output.clone();
        async move {
            match line {
                Ok(line) => output.send(line).await,
                Err(error) => {
                    tracing::error!(%error, "a message could not be written as JSON");
                    Ok(())
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Not to be taken in: what could not be answered. A closed output has raised `gone` already.
            let _ = self.output.room().await;
            let Some(line) = self.lines.recv().await else {
                self.gone.cancel();
                return None;
            };
            let read = match line {
                Line::TooLong(beginning) => Err(message::too_long(&beginning, self.line_limit)),
                Line::Whole(line) => message::read(&line, self.max_depth),
            };
            let admitted = match read {
                Ok(None) => continue,
                Ok(Some(message)) => match self.refused(&message).await {
                    Some(bad) => Err(bad),
                    None => self.admit(message),
                },
                Err(bad) => Err(bad),
            };
            match admitted {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(bad) => self.answer(&bad).await,
            }
        }
    }

    async fn close(&mut self) -> Result<(), OutputClosed> {
        self.lines.close();
        Ok(())
    }
}

/// Tells whether a method is one that some revision of the protocol has. The library hands requests whose parameters
/// do not fit to the handler of unknown methods.
pub(crate) fn is_known_method(method: &str) -> bool {
    matches!(
        method,
        "initialize"
            | "server/discover"
            | "ping"
            | "tools/list"
            | "tools/call"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "logging/setLevel"
    )
}

/// Refuses what the library would take, or would refuse for another reason than the true one.
pub(crate) fn check_request(message: &Message) -> Result<(), BadLine> {
    check_revision(message)?;
    let invalid = |text: String| Err(BadLine { id: message.id(), code: INVALID_PARAMS, message: text });
    let level = message.meta(META_LOG_LEVEL).filter(|_| message.meta(META_VERSION).is_some());
    if let Some(level) = level
        && serde_json::from_value::<LoggingLevel>(level.clone()).is_err()
    {
        return invalid(format!(
            "`{META_LOG_LEVEL}` must be one of debug, info, notice, warning, error, critical, alert, emergency, not {}",
            message::in_passing(&level.to_string())
        ));
    }
    if message.method() == "initialize" {
        let params = message.value.get("params").cloned().unwrap_or_default();
        if let Err(error) = serde_json::from_value::<InitializeRequestParams>(params) {
            return invalid(format!(
                "the parameters of `initialize` do not have the form that the protocol gives them: {error}"
            ));
        }
    }
    Ok(())
}

/// Refuses a method that the revision which the request names does not have any more.
fn check_revision(message: &Message) -> Result<(), BadLine> {
    let method = message.method();
    let newest = message.meta(META_VERSION).is_some_and(|version| version == ProtocolVersion::V_2026_07_28.as_str());
    if newest && is_removed_method(method) {
        return Err(BadLine {
            id: message.id(),
            code: METHOD_NOT_FOUND,
            message: format!("there is no method `{method}` in the revision that this request names"),
        });
    }
    Ok(())
}

/// Tells whether a method went with the revision 2026-07-28 (its changelog, "Removed").
fn is_removed_method(method: &str) -> bool {
    matches!(method, "initialize" | "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe")
}

/// Reads `params` of a request by hand, for what the library's types do not carry.
pub(crate) fn value_of<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;

    use serde_json::json;

    use super::*;
    use crate::lines;

    /// Sends lines through a guard; returns the methods it passed on and what it answered itself.
    async fn guarded(said: &[Value]) -> (Vec<String>, Vec<Value>) {
        let (input, mut client) = std::io::pipe().expect("a pipe");
        let (mut answers, output) = std::io::pipe().expect("a pipe");
        for message in said {
            client.write_all(format!("{message}\n").as_bytes()).expect("writes");
        }
        drop(client);
        let gone = CancellationToken::new();
        let lines = lines::read(File::from(OwnedFd::from(input)), 1024, CancellationToken::new()).expect("a thread");
        let (output, thread) = lines::write(File::from(OwnedFd::from(output)), gone.clone()).expect("a thread");
        let mut guard = Guard::new(lines, output, gone, 1024, 100);
        let mut passed = Vec::new();
        while let Some(message) = guard.receive().await {
            let message = serde_json::to_value(&message).expect("JSON");
            passed.push(message["method"].as_str().unwrap_or_default().to_owned());
        }
        drop(guard);
        thread.finish(Duration::from_secs(5));
        let mut text = String::new();
        answers.read_to_string(&mut text).expect("reads");
        (passed, text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
    }

    #[tokio::test]
    async fn parameters_that_do_not_fit_are_named_for_what_they_are() {
        let meta = |level: &str| {
            json!({ META_VERSION: "2026-07-28", META_LOG_LEVEL: level,
            "io.modelcontextprotocol/clientCapabilities": {} })
        };
        let list = |id: u32, level: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": { "_meta": meta(level) } });
        let said = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 7 } }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize" }),
            list(3, "loud"),
            list(4, "warning"),
        ];
        let (passed, answers) = guarded(&said).await;
        assert_eq!(passed, ["tools/list"]);
        let codes: Vec<_> = answers.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
        let (one, two, three, code) = (json!(1), json!(2), json!(3), json!(INVALID_PARAMS));
        assert_eq!(codes, [(&one, &code), (&two, &code), (&three, &code)]);
        let text = |at: usize| answers[at]["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(text(0).contains("`initialize`") && !text(0).contains("_meta"), "{}", text(0));
        assert!(text(2).contains("\"loud\""), "{}", text(2));
    }

    #[tokio::test]
    async fn what_a_revision_removed_is_unknown_in_its_requests_and_known_in_others() {
        let modern = json!({ META_VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
        let removed = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];
        let said: Vec<Value> = removed
            .iter()
            .map(|method| json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": { "_meta": modern } }))
            .chain([json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })])
            .collect();
        let (passed, answers) = guarded(&said).await;
        assert_eq!(passed, ["ping"]);
        let answered: Vec<_> = answers.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
        let code = json!(METHOD_NOT_FOUND);
        let ids = removed.map(Value::from);
        assert_eq!(answered, ids.iter().map(|id| (id, &code)).collect::<Vec<_>>());
    }
}
