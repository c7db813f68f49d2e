//! Requests of the `http` provider: to the chat-completions endpoint of the saved connection, with its key.
//!
//! Nothing is followed that redirects, so the key goes to the connection's own origin and nowhere else.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agents::StartRefused;
use agents::http::{Answer, Awaited, Connecting, Post, Unanswered};
use serde_json::Value;
use tokio::sync::oneshot;
use ureq::http::Request;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, Transport};

use crate::host_calls::HostContext;

/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(20);

/// What an answer may bring: 16 MiB.
const BODY_BYTES: u64 = 16 * 1024 * 1024;

/// The endpoint of a run's connection.
#[derive(Debug)]
pub(crate) struct Endpoint {
    host: Arc<HostContext>,
}

impl Endpoint {
    pub(crate) fn new(host: Arc<HostContext>) -> Self {
        Self { host }
    }
}

/// Why a request has no answer.
enum Failed {
    /// No connection came to stand.
    Unconnected(String),
    /// See [`Unanswered`].
    Unanswered(Unanswered),
}

impl From<Failed> for Unanswered {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Unconnected(why) => Self::Broken(why),
            Failed::Unanswered(why) => why,
        }
    }
}

/// Closes a request's connection when nobody waits for its answer any more.
struct Closer(Option<ureq::Agent>);

impl Drop for Closer {
    fn drop(&mut self) {
        if let Some(agent) = self.0.take() {
            agent.shutdown();
        }
    }
}

impl Post for Endpoint {
    fn post(&self, body: Value, limit: Duration) -> Connecting {
        let host = Arc::clone(&self.host);
        Box::pin(async move {
            let (connected, stands) = oneshot::channel();
            let agent = agent(limit, Stands(Mutex::new(Some(connected))));
            let closer = Closer(Some(agent.clone()));
            let (answered, mut answer) = oneshot::channel();
            tokio::task::spawn_blocking(move || {
                // Nobody may be waiting any more.
                let _ = answered.send(perform(&host, &agent, &body));
            });
            let early = tokio::select! {
                biased;
                Ok(()) = stands => None,
                early = &mut answer => Some(early),
            };
            let gone = || Unanswered::Broken("the request was given up".into());
            let awaited: Awaited = match early {
                None => Box::pin(async move {
                    let _closer = closer;
                    answer.await.map_err(|_| gone())?.map_err(Unanswered::from)
                }),
                Some(Ok(Err(Failed::Unconnected(why)))) => return Err(StartRefused(why)),
                Some(early) => {
                    let early = early.map_err(|_| gone()).and_then(|early| early.map_err(Unanswered::from));
                    Box::pin(std::future::ready(early))
                }
            };
            Ok(awaited)
        })
    }
}

/// Where a connection's chat-completions endpoint is.
fn address(url: &str) -> String {
    let version = if url.ends_with("/v1") { "" } else { "/v1" };
    format!("{url}{version}/chat/completions")
}

/// Each request has an agent of its own, since closing one closes all of its connections.
fn agent(limit: Duration, stands: Stands) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(limit))
        .timeout_connect(Some(CONNECT.min(limit)))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("workflow-code/", env!("CARGO_PKG_VERSION")))
        // The system's own roots: people have servers behind authorities of their own.
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .build();
    ureq::Agent::with_parts(config, DefaultConnector::new().chain(stands), DefaultResolver::default())
}

fn perform(host: &HostContext, agent: &ureq::Agent, body: &Value) -> Result<Answer, Failed> {
    let connection = host
        .connection()
        .map_err(|why| Failed::Unconnected(format!("the connection cannot be used: {why}")))?
        .ok_or_else(|| Failed::Unconnected(no_connection()))?;
    let address = address(&connection.url);
    let mut request = Request::post(&address).header("content-type", "application/json");
    if let Some(key) = &connection.key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let unusable = |why: String| Failed::Unanswered(Unanswered::Unusable(why));
    let request =
        request.body(body.to_string()).map_err(|error| unusable(format!("`{address}` cannot be asked: {error}")))?;
    let mut answer = agent.run(request).map_err(|error| failed(&connection.origin, &error))?;
    let retry_after = answer
        .headers()
        .get("retry-after")
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(Duration::from_secs);
    let bytes = answer.body_mut().with_config().limit(BODY_BYTES).read_to_vec().map_err(|error| match error {
        ureq::Error::BodyExceedsLimit(_) => unusable(format!("the answer has over {BODY_BYTES} bytes")),
        error => failed(&connection.origin, &error),
    })?;
    Ok(Answer { status: answer.status().as_u16(), retry_after, body: String::from_utf8_lossy(&bytes).into_owned() })
}

/// Tells what kept a connection from standing from what broke one.
fn failed(origin: &str, error: &ureq::Error) -> Failed {
    use std::io::ErrorKind;
    let why = format!("`{origin}`: {error}");
    let unconnected = match error {
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => true,
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::AddrNotAvailable
        ),
        _ => false,
    };
    if unconnected { Failed::Unconnected(why) } else { Failed::Unanswered(Unanswered::Broken(why)) }
}

/// Says that there is no connection, and how to have one.
pub(crate) fn no_connection() -> String {
    "the provider `http` needs a connection: save one with `workflow-code auth login URL`, or set WORKFLOW_SERVER_URL"
        .into()
}

/// Tells, as the last link of a chain of connectors, that a connection stands.
struct Stands(Mutex<Option<oneshot::Sender<()>>>);

impl std::fmt::Debug for Stands {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Stands")
    }
}

impl<In: Transport> Connector<In> for Stands {
    type Out = In;

    fn connect(&self, _details: &ConnectionDetails<'_>, chained: Option<In>) -> Result<Option<In>, ureq::Error> {
        if chained.is_some()
            && let Some(connected) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            let _ = connected.send(());
        }
        Ok(chained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_below_the_connection() {
        assert_eq!(address("https://h"), "https://h/v1/chat/completions");
        assert_eq!(address("https://h/v1"), "https://h/v1/chat/completions");
        assert_eq!(address("https://h/api"), "https://h/api/v1/chat/completions");
    }
}
