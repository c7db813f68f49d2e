//! What a family of tools has to say, and what it gets to work with.

use std::collections::BTreeMap;
use std::time::Duration;

use model::ClientInfo;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, LoggingLevel, LoggingMessageNotificationParam, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::guard::value_of;
use crate::message::in_passing;
use crate::progress::Update;

/// Who the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `serverInfo.name`.
    pub name: String,
    /// `serverInfo.title`.
    pub title: Option<String>,
    /// `serverInfo.version`.
    pub version: String,
}

/// One tool. Tools are fixed for the life of a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// What it is called by.
    pub name: String,
    /// What a person sees.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// What it takes: a JSON Schema whose root is an object.
    pub input_schema: Map<String, Value>,
    /// What every result of it satisfies.
    pub output_schema: Option<Map<String, Value>>,
    /// What it says of its effects.
    pub annotations: model::Annotations,
}

/// A kind of resource, named by a URI template (RFC 6570).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The template.
    pub uri_template: String,
    /// Its programmatic name.
    pub name: String,
    /// What it gives.
    pub description: String,
    /// The media type of what is read.
    pub mime_type: String,
}

/// What was read from a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its URI as it was asked for.
    pub uri: String,
    /// Its media type.
    pub mime_type: String,
    /// Its text.
    pub text: String,
}

/// Which of the protocol's two ways a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Opened by `initialize`; the server may send requests of its own.
    Legacy,
    /// 2026-07-28: every request stands alone, and questions are results.
    Modern,
}

/// Who calls, as the request or the opening said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Name, version, and the protocol revision in use.
    pub client: ClientInfo,
    /// The era of this request.
    pub era: Era,
    /// Whether it says that it can put a form before a person.
    pub elicitation: bool,
    /// Whether it says that it has roots. Only a legacy client can be asked for them.
    pub roots: bool,
}

/// A call of a tool.
#[derive(Debug)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// Its arguments, not checked yet.
    pub arguments: Map<String, Value>,
    /// Answers to the questions of an earlier result, when this is a retry.
    pub input_responses: Option<BTreeMap<String, Value>>,
    /// The state of an earlier result as the client gave it back. Untrusted.
    pub request_state: Option<String>,
    /// Who calls.
    pub caller: Caller,
    /// The way back while the call runs.
    pub channel: Channel,
}

/// One question in a result of 2026-07-28.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequest {
    /// The key its answer comes back under.
    pub key: String,
    /// What is asked.
    pub ask: Ask,
}

/// A form as the protocol has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What the person should know.
    pub message: String,
    /// A flat object schema of what is asked.
    pub schema: Value,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// With a result.
    Complete {
        /// What goes into `structuredContent`, and as JSON text into `content`.
        value: Value,
        /// Whether it is an error that the model should see.
        is_error: bool,
    },
    /// With texts of the family's own, for families whose results are not always one JSON object.
    Plain {
        /// One block of `content` each.
        texts: Vec<String>,
        /// What goes into `structuredContent`, if anything does.
        structured: Option<Value>,
        /// Whether it is an error that the model should see.
        is_error: bool,
    },
    /// With questions; the client calls again with the answers. Modern requests only.
    InputRequired {
        /// The questions.
        requests: Vec<InputRequest>,
        /// What the client has to give back.
        state: String,
    },
}

/// A protocol error.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// -32602: the request is wrong, and the caller can mend it.
    InvalidParams {
        /// What is wrong, naming every place.
        message: String,
        /// The same for programs.
        data: Option<Value>,
    },
    /// A resource that does not exist: -32002, or -32602 in the modern era.
    NotFound(String),
    /// -32603: our own failure.
    Internal(String),
}

impl Fault {
    /// Makes an invalid-parameters fault.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::InvalidParams { message: message.into(), data: None }
    }
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited {
    /// Answered with these values, not checked yet.
    Accept(Value),
    /// Declined; the client may not have shown it to anybody.
    Decline,
    /// Dismissed.
    Cancel,
    /// The client does not know the method after all, or answered with an error.
    Unsupported(String),
    /// No answer in time; the question was withdrawn.
    Timeout,
    /// Answered elsewhere; the question was withdrawn.
    Withdrawn,
}

/// The way back to the client while a call runs.
#[derive(Debug, Clone)]
pub struct Channel {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) progress: Option<mpsc::Sender<Update>>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) log_level: Option<LoggingLevel>,
}

impl Channel {
    /// Is raised when the client cancels the call. Nobody waits for its result then.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Tells how far the call is. News that comes faster than it may be sent overtakes what waits.
    pub fn progress(&self, update: Update) {
        if let Some(progress) = &self.progress {
            // Full: the pacer is behind, and would drop all but the newest anyway.
            let _ = progress.try_send(update);
        }
    }

    /// Puts a form before the client's person (legacy era), until it is answered, `deadline` is over or `withdraw` is
    /// raised. In the last two cases, and when the call is cancelled, the client is told to take the form away.
    pub async fn elicit(&self, ask: &Ask, deadline: Duration, withdraw: &CancellationToken) -> Elicited {
        let params = serde_json::json!({ "mode": "form", "message": ask.message, "requestedSchema": ask.schema });
        let params: ElicitRequestParams = match serde_json::from_value(params) {
            Ok(params) => params,
            Err(error) => return Elicited::Unsupported(format!("the form has no protocol form: {error}")),
        };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let handle = match self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await {
            Ok(handle) => handle,
            Err(error) => return Elicited::Unsupported(error.to_string()),
        };
        let mut handle = handle;
        let withdrawn = tokio::select! {
            answer = &mut handle.rx => {
                return match answer {
                    Ok(answer) => read_answer(answer),
                    Err(_) => Elicited::Unsupported("the connection closed".into()),
                };
            }
            () = tokio::time::sleep(deadline) => Elicited::Timeout,
            () = withdraw.cancelled() => Elicited::Withdrawn,
            () = self.cancelled.cancelled() => Elicited::Withdrawn,
        };
        let reason = match &withdrawn {
            Elicited::Timeout => "no answer in time",
            _ => "answered elsewhere, or not needed any more",
        };
        if let Err(error) = handle.cancel(Some(reason.into())).await {
            tracing::debug!(%error, "a form could not be withdrawn");
        }
        withdrawn
    }

    /// Asks a legacy client for its roots, as URIs. `None`: it did not say in time, or cannot.
    pub async fn roots(&self, deadline: Duration) -> Option<Vec<String>> {
        match tokio::time::timeout(deadline, self.peer.list_roots()).await {
            Ok(Ok(answer)) => Some(answer.roots.into_iter().map(|root| root.uri).collect()),
            Ok(Err(error)) => {
                tracing::debug!(%error, "the client did not tell its roots");
                None
            }
            Err(_) => {
                tracing::debug!("the client did not tell its roots in time");
                None
            }
        }
    }

    /// Passes a warning or error line on to a client that asked for log messages, 4 KiB of it at most.
    pub async fn log(&self, level: LogLevel, text: &str) {
        let level = match level {
            LogLevel::Warning => LoggingLevel::Warning,
            LogLevel::Error => LoggingLevel::Error,
        };
        if self.log_level.is_none_or(|least| rank(level) < rank(least)) {
            return;
        }
        let parameters = LoggingMessageNotificationParam::new(level, Value::String(in_passing(text).into_owned()));
        if let Err(error) = self.peer.notify_logging_message(parameters).await {
            tracing::debug!(%error, "a log message could not be sent");
        }
    }
}

/// How bad a log line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Something to look at.
    Warning,
    /// Something that failed.
    Error,
}

/// The severities of RFC 5424 in their order.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

fn read_answer(answer: Result<ClientResult, ServiceError>) -> Elicited {
    let answer = match answer {
        Ok(answer) => value_of(&answer),
        Err(ServiceError::McpError(error)) => return Elicited::Unsupported(error.message.into_owned()),
        Err(error) => return Elicited::Unsupported(error.to_string()),
    };
    Elicited::from_result(&answer)
}

impl Elicited {
    /// Reads the result of an elicitation, `{action, content?}`.
    #[must_use]
    pub fn from_result(result: &Value) -> Self {
        match result.get("action").and_then(Value::as_str) {
            Some("accept") => Self::Accept(result.get("content").cloned().unwrap_or_else(|| Value::Object(Map::new()))),
            Some("decline") => Self::Decline,
            Some("cancel") => Self::Cancel,
            Some(_) | None => Self::Unsupported("the answer has no known `action`".into()),
        }
    }
}

/// A family of tools.
pub trait Family: Send + Sync + 'static {
    /// Who the server is. Known at once.
    fn identity(&self) -> &Identity;

    /// Says, once it is known, why there is nothing to serve; `None` when there is. Openings wait for it, a second at
    /// most, and from then on every request is answered so.
    fn refusal(&self) -> impl Future<Output = Option<String>> + Send {
        std::future::ready(None)
    }

    /// What a client's model should know, at most 2,048 characters.
    fn instructions(&self) -> impl Future<Output = Option<String>> + Send;

    /// The tools, in a fixed order.
    ///
    /// # Errors
    ///
    /// When it turns out that there is nothing to serve: every request is answered so from then on.
    fn tools(&self) -> impl Future<Output = Result<Vec<Tool>, Fault>> + Send;

    /// Calls a tool. Runs in a task of its own; when the client cancels, `call.channel` says so.
    ///
    /// # Errors
    ///
    /// Only for what is wrong with the request, or with us. What goes wrong in the tool is a reply.
    fn call(&self, call: Call) -> impl Future<Output = Result<Reply, Fault>> + Send;

    /// What to answer for a call of `tool` whose handling ended in a panic.
    fn crashed(&self, tool: &str) -> Reply;

    /// Whether clients are told that there may be prompts; the list is empty.
    fn offers_prompts(&self) -> bool {
        false
    }

    /// The kinds of resources there are.
    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// [`Fault::NotFound`] for one that does not exist.
    fn read_resource(&self, uri: String) -> impl Future<Output = Result<Resource, Fault>> + Send {
        std::future::ready(Err(Fault::NotFound(format!("there is no resource `{uri}`"))))
    }
}
