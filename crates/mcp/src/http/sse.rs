//! HTTP with server-sent events, the transport of revision 2024-11-05: the client opens a stream, is told there where to
//! post its messages, and gets every answer on the stream.
//!
//! A stream is a connection like that on standard input: the same guard stands in front of it, and it ends with the
//! client's end of the stream.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use model::{IdSource, Limits, SystemIds};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Answer, plain};
use crate::family::Family;
use crate::guard::Guard;
use crate::lines::{self, Line};
use crate::server::{self, Server};

/// Streams at once. Each keeps a connection, and its client needs a second one.
const MOST: usize = 32;

/// Messages of a stream that wait to be taken in; past it a client's post waits.
const WAITING: usize = 64;

/// How long a post may wait for the messages before it.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a quiet stream shows that it is still there: proxies and clients give up on silence.
const BEAT: Duration = Duration::from_secs(15);

/// All open streams.
pub(super) struct Streams<F: Family> {
    server: Server<F>,
    gone: CancellationToken,
    open: Arc<Mutex<HashMap<String, mpsc::Sender<Line>>>>,
}

impl<F: Family> Streams<F> {
    pub(super) fn new(server: Server<F>, gone: CancellationToken) -> Self {
        Self { server, gone, open: Arc::default() }
    }

    /// Opens a stream.
    pub(super) fn open(&self) -> Answer {
        let id = new_id();
        let (lines, incoming) = mpsc::channel(WAITING);
        {
            let mut open = locked(&self.open);
            if open.len() >= MOST {
                return plain(StatusCode::SERVICE_UNAVAILABLE, "too many streams are open");
            }
            open.insert(id.clone(), lines);
        }
        let (output, outgoing) = lines::in_memory();
        let ended = self.gone.child_token();
        let guard = Guard::new(incoming, output, ended.clone(), Limits::LINE_BYTES, Limits::JSON_DEPTH);
        let first = Bytes::from(format!("event: endpoint\ndata: /messages/?session_id={id}\n\n"));
        let (server, token, open) = (self.server.for_session(), ended.clone(), Arc::clone(&self.open));
        tokio::spawn(async move {
            server::converse(server, guard, token).await;
            locked(&open).remove(&id);
        });
        let stream = Events { first: Some(first), outgoing, beat: beat(), _end: ended.drop_guard() };
        let mut answer = Response::new(stream.boxed());
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }

    /// Takes a message for a stream.
    pub(super) async fn take(&self, session: &str, message: Vec<u8>) -> Answer {
        let lines = locked(&self.open).get(session).cloned();
        let Some(lines) = lines else {
            return plain(StatusCode::NOT_FOUND, "there is no such stream: open `/sse` again");
        };
        match lines.send_timeout(Line::Whole(message), PATIENCE).await {
            Ok(()) => plain(StatusCode::ACCEPTED, "Accepted"),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                plain(StatusCode::SERVICE_UNAVAILABLE, "the answers on the stream are not read")
            }
            Err(mpsc::error::SendTimeoutError::Closed(_)) => plain(StatusCode::NOT_FOUND, "the stream has ended"),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 32 hexadecimal digits that nobody can guess.
fn new_id() -> String {
    let mut bytes = [0; 16];
    SystemIds.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn beat() -> Interval {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is at once.
    beat.reset();
    beat
}

/// What goes down a stream. When the client drops it, the connection behind it ends.
struct Events {
    first: Option<Bytes>,
    outgoing: mpsc::Receiver<Vec<u8>>,
    beat: Interval,
    _end: DropGuard,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        match self.outgoing.poll_recv(context) {
            Poll::Ready(Some(line)) => {
                // A message is one line, and already ends with one end of line.
                let event = [b"event: message\ndata: ".as_slice(), &line, b"\n"].concat();
                return Poll::Ready(Some(Ok(Frame::data(event.into()))));
            }
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => {}
        }
        self.beat.poll_tick(context).map(|_| Some(Ok(Frame::data(Bytes::from_static(b": still here\n\n")))))
    }
}
