//! The same servers over HTTP, for clients that do not start them: on this machine only, and with a token.
//!
//! Here: connections, what is answered at which path, and how it all ends. [`door`] says who may come in. Streamable
//! HTTP is the protocol library's, with our [`sessions`] around it; [`sse`] is the older transport, which it no longer
//! has.
//!
//! | transport | paths | protocol |
//! | --- | --- | --- |
//! | Streamable HTTP | `/mcp` | both eras; sessions for clients up to 2025-11-25, none for 2026-07-28 |
//! | HTTP with SSE (2024-11-05) | `GET /sse`, `POST /messages/` | a stream is a session, as on standard input |

mod door;
mod sessions;
mod sse;

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use model::Limits;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::tower::StreamableHttpService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use door::{BadToken, Token};

use crate::family::Family;
use crate::guard;
use crate::http::door::Door;
use crate::http::sessions::Sessions;
use crate::http::sse::Streams;
use crate::message::{self, BadLine, INVALID_REQUEST, METHOD_NOT_FOUND, Message};
use crate::server::{LAST_WORDS, Server};

/// Connections that are open at once; more wait until one is closed.
const MOST_CONNECTIONS: usize = 128;

/// How long a client may take for a request's head, and a connection may lie idle.
const HEAD: Duration = Duration::from_secs(30);

/// How long a client may take for a request's body.
const BODY: Duration = Duration::from_secs(30);

/// What a connection keeps of a head.
const HEAD_BYTES: usize = 32 * 1024;

/// How long to wait when the system has no room for one more connection.
const CROWDED: Duration = Duration::from_millis(50);

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// How clients speak over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP, at `/mcp`.
    Streamable,
    /// HTTP with server-sent events (revision 2024-11-05), at `/sse`.
    Sse,
}

impl Transport {
    /// The path that clients are configured with.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Streamable => "/mcp",
            Self::Sse => "/sse",
        }
    }
}

/// Opens a port of the loopback interface; 0 takes a free one.
///
/// # Errors
///
/// When the port is taken, or the system has none.
pub async fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
}

/// Serves a family over HTTP until `gone` is raised, to clients that know the token.
///
/// # Errors
///
/// When the listener's port cannot be told.
pub async fn serve<F: Family>(
    family: Arc<F>,
    listener: TcpListener,
    transport: Transport,
    token: Token,
    gone: CancellationToken,
) -> io::Result<()> {
    let door = Door::new(listener.local_addr()?.port(), token);
    let server = Server::new(family, gone.clone());
    let house = Arc::new(House { door, rooms: Rooms::new(transport, server, &gone) });
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let connections = TaskTracker::new();
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, _)| (stream, place))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = gone.cancelled() => break,
        };
        match accepted {
            Ok((stream, place)) => {
                let (house, gone) = (Arc::clone(&house), gone.clone());
                connections.spawn(async move {
                    connection(stream, house, gone).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a connection could not be taken");
                tokio::time::sleep(CROWDED).await;
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(LAST_WORDS, connections.wait()).await.is_err() {
        tracing::debug!("a client did not take what was still to be said");
    }
    Ok(())
}

async fn connection<F: Family>(stream: TcpStream, house: Arc<House<F>>, gone: CancellationToken) {
    // Messages are small, and somebody waits for each.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let house = Arc::clone(&house);
        async move { Ok::<_, Infallible>(house.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = gone.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// What is behind the door.
enum Rooms<F: Family> {
    Streamable(Box<StreamableHttpService<Server<F>, Sessions>>),
    Sse(Arc<Streams<F>>),
}

impl<F: Family> Rooms<F> {
    fn new(transport: Transport, server: Server<F>, gone: &CancellationToken) -> Self {
        match transport {
            Transport::Sse => Self::Sse(Arc::new(Streams::new(server, gone.clone()))),
            Transport::Streamable => {
                // The door has looked at hosts and origins, and the body is here and bounded before the library has it.
                let config = StreamableHttpServerConfig::default()
                    .with_cancellation_token(gone.clone())
                    .with_max_request_body_bytes(Limits::LINE_BYTES);
                let make = move || Ok(server.for_session());
                Self::Streamable(Box::new(StreamableHttpService::new(make, Arc::new(Sessions::new()), config)))
            }
        }
    }
}

struct House<F: Family> {
    door: Door,
    rooms: Rooms<F>,
}

impl<F: Family> House<F> {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Err(refused) = self.door.check_address(&request) {
            return refused;
        }
        let path = request.uri().path();
        let (is_stream, is_post) = match &self.rooms {
            Rooms::Streamable(_) => (matches!(path, "/mcp" | "/mcp/"), true),
            Rooms::Sse(_) if matches!(path, "/sse" | "/sse/") => (true, false),
            Rooms::Sse(_) => (matches!(path, "/messages" | "/messages/"), true),
        };
        if !is_stream {
            // Said to everybody: clients that were refused look whether there is a way to sign in.
            return plain(StatusCode::NOT_FOUND, "there is nothing at this path");
        }
        if let Err(refused) = self.door.check_token(request.headers()) {
            return refused;
        }
        match &self.rooms {
            Rooms::Streamable(service) => streamable(service, request).await,
            Rooms::Sse(streams) if is_post => posted(streams, request).await,
            Rooms::Sse(streams) => {
                if request.method() == Method::GET {
                    streams.open()
                } else {
                    not_allowed("GET")
                }
            }
        }
    }
}

/// Streamable HTTP: the library answers what is a message.
async fn streamable<F: Family>(
    service: &StreamableHttpService<Server<F>, Sessions>,
    request: Request<Incoming>,
) -> Answer {
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        let ended = head.method == Method::DELETE;
        let mut answer = service.handle(Request::from_parts(head, body)).await;
        if ended && answer.status() == StatusCode::ACCEPTED {
            // It has ended by now, and a client of the Python SDK warns of anything but this.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        return answer;
    }
    let body = match whole(body).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    match message_in(&body).and_then(|message| guard::check_request(&message)) {
        Ok(()) => service.handle(Request::from_parts(head, Full::new(body))).await,
        Err(bad) => refusal(&bad),
    }
}

/// HTTP with SSE: a message for a stream; its answer comes there.
async fn posted<F: Family>(streams: &Streams<F>, request: Request<Incoming>) -> Answer {
    if request.method() != Method::POST {
        return not_allowed("POST");
    }
    let Some(session) = query(request.uri().query().unwrap_or_default(), "session_id") else {
        return plain(StatusCode::BAD_REQUEST, "`session_id` is missing: post to the path that the stream names first");
    };
    let session = session.to_owned();
    match whole(request.into_body()).await {
        // What is no message is refused where it came from: nobody waits on the stream for its answer.
        Ok(body) => match message_in(&body) {
            Ok(_) => streams.take(&session, body.into()).await,
            Err(bad) => refusal(&bad),
        },
        Err(refused) => refused,
    }
}

/// Reads the message that a body has to be.
fn message_in(body: &[u8]) -> Result<Message, BadLine> {
    message::read(body, Limits::JSON_DEPTH)?.ok_or_else(|| BadLine {
        id: serde_json::Value::Null,
        code: INVALID_REQUEST,
        message: "Invalid request: there is no message".into(),
    })
}

/// Finds a value in a query; ours have nothing to decode.
fn query<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// Reads a body that is not too large and comes in time.
async fn whole(body: Incoming) -> Result<Bytes, Answer> {
    let limit = Limits::LINE_BYTES;
    let too_large = || {
        let text = format!("a message may have {limit} bytes at most; pass large content as a file");
        plain(StatusCode::PAYLOAD_TOO_LARGE, &text)
    };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    match tokio::time::timeout(BODY, Limited::new(body, limit).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(plain(StatusCode::BAD_REQUEST, "the message broke off")),
        Err(_) => Err(plain(StatusCode::REQUEST_TIMEOUT, "the message did not come to its end in time")),
    }
}

/// An error of the protocol that is known before there is a session.
fn refusal(bad: &BadLine) -> Answer {
    let status = if bad.code == METHOD_NOT_FOUND { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
    body(status, "application/json", message::error_line(bad).into())
}

fn not_allowed(allowed: &'static str) -> Answer {
    let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "this path takes no such request");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}

fn plain(status: StatusCode, text: &str) -> Answer {
    body(status, "text/plain; charset=utf-8", Bytes::from(format!("{text}\n")))
}

fn body(status: StatusCode, kind: &'static str, content: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(content).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_by_whole_names() {
        assert_eq!(query("session_id=a1&x=2", "session_id"), Some("a1"));
        assert_eq!(query("x=2&session_id=a1", "session_id"), Some("a1"));
        assert_eq!(query("my_session_id=a1", "session_id"), None);
        assert_eq!(query("session_ids=a1", "session_id"), None);
        assert_eq!(query("", "session_id"), None);
    }
}
