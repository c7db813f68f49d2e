//! The window's commands over HTTP: `POST /rpc`, `GET /events`, and the page's files. For development and tests only.
//!
//! The address is this machine's. A page of somebody else cannot call it: a request must be JSON by its type, which
//! browsers do not send to another origin unasked, and name this address as its host. Nor can another user of the machine:
//! a token, new at each start and part of the address that is printed, comes with each request, from a page as a cookie.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use api::wire::StoreChanged;
use api::{ApiError, Feed};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use launcher::desktop::{self, Desktop};
use serde_json::{Value, json};
use tokio::sync::{broadcast, oneshot};

/// Bytes of a request.
const REQUEST: usize = 16 * 1024 * 1024;
/// Messages that a slow listener may be behind.
const BEHIND: usize = 256;

struct Served {
    desktop: Desktop,
    changes: broadcast::Sender<StoreChanged>,
    ui: PathBuf,
    host: String,
    token: String,
}

/// The cookie that a page gets when it is opened with the token.
const COOKIE: &str = "workflow-code-token";

/// Serves until standard input ends, or for ever. `ready` is called with the address, and the token,
/// once it can be reached.
///
/// # Errors
///
/// What cannot be opened or started, one sentence.
pub fn serve(
    profile: Option<&str>,
    ui: &Path,
    port: u16,
    until_eof: bool,
    ready: impl FnOnce(SocketAddr, &str),
) -> Result<(), String> {
    let token = token()?;
    let desktop = desktop::open(profile).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let (changes, _) = broadcast::channel(BEHIND);
    let told = changes.clone();
    let feed = Feed::start(desktop.api.store().clone(), move |change| {
        // Nobody need be listening.
        let _ = told.send(change);
    })
    .map_err(|error| error.to_string())?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let host = address.to_string();
        let state = Served { desktop: desktop.clone(), changes, ui: ui.to_owned(), host, token: token.clone() };
        let router = Router::new()
            .route("/rpc", post(rpc))
            .route("/events", get(events))
            .fallback(get(file))
            .layer(DefaultBodyLimit::max(REQUEST))
            .with_state(Arc::new(state));
        ready(address, &token);
        let end = end(until_eof);
        // Streams of events never end by themselves, so nothing is waited for.
        tokio::select! {
            served = async { axum::serve(listener, router).await } => served.map_err(|error| error.to_string()),
            () = end => Ok(()),
        }
    });
    drop(feed);
    desktop.end();
    runtime.shutdown_background();
    served
}

fn token() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Waits for the end of standard input, or for an interrupt.
async fn end(until_eof: bool) {
    let (sender, ended) = oneshot::channel();
    if until_eof {
        std::thread::spawn(move || {
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            let _ = sender.send(());
        });
        tokio::select! {
            _ = ended => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    } else {
        let _ = tokio::signal::ctrl_c().await;
    }
}

fn json_response(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], value.to_string())
        .into_response()
}

/// Tells whether a request is from our own page, or from a program that was given the token.
fn is_ours(served: &Served, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &axum::http::HeaderValue| value.to_str().ok());
    let own = format!("http://{}", served.host);
    let cookie = format!("{COOKIE}={}", served.token);
    let knows = text(header::AUTHORIZATION).and_then(|given| given.strip_prefix("Bearer ")) == Some(&served.token)
        || text(header::COOKIE).is_some_and(|all| all.split(';').any(|one| one.trim() == cookie));
    knows && text(header::HOST) == Some(served.host.as_str()) && text(header::ORIGIN).is_none_or(|origin| origin == own)
}

async fn rpc(State(served): State<Arc<Served>>, headers: HeaderMap, body: Bytes) -> Response {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !is_ours(&served, &headers) || !kind.starts_with("application/json") {
        return (StatusCode::FORBIDDEN, "only JSON from this address, with its token").into_response();
    }
    let api = served.desktop.api.clone();
    let answer = tokio::task::spawn_blocking(move || {
        let call: Value = serde_json::from_slice(&body)
            .map_err(|error| ApiError::invalid(format!("the request is no JSON: {error}")))?;
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        api.call(&name, call.get("request").cloned().unwrap_or_default())
    })
    .await
    .unwrap_or_else(|error| Err(ApiError::internal(error.to_string())));
    let answer = match answer {
        Ok(value) => json!({ "ok": value }),
        Err(error) => json!({ "error": error }),
    };
    json_response(StatusCode::OK, &answer)
}

async fn events(State(served): State<Arc<Served>>, headers: HeaderMap) -> Response {
    if !is_ours(&served, &headers) {
        return (StatusCode::FORBIDDEN, "only from this address, with its token").into_response();
    }
    let listener = served.changes.subscribe();
    let stream = futures_util::stream::unfold((listener, true), |(mut listener, first)| async move {
        // So that whoever listens knows that nothing is missed from now on.
        if first {
            return Some((Ok::<_, std::convert::Infallible>(Bytes::from(": listening\n\n")), (listener, false)));
        }
        let change = match listener.recv().await {
            Ok(change) => change,
            // Some were missed: everything is read again.
            Err(broadcast::error::RecvError::Lagged(_)) => StoreChanged { all: true, ..StoreChanged::default() },
            Err(broadcast::error::RecvError::Closed) => return None,
        };
        let text = serde_json::to_string(&change).unwrap_or_default();
        Some((Ok(Bytes::from(format!("data: {text}\n\n"))), (listener, false)))
    });
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")], Body::from_stream(stream))
        .into_response()
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("ico") => "image/x-icon",
        _ => "application/octet-stream",
    }
}

/// Serves a file of the page; every other address is the page itself.
async fn file(State(served): State<Arc<Served>>, uri: Uri) -> Response {
    let wanted = Path::new(uri.path().trim_start_matches('/'));
    let plain = wanted.components().all(|part| matches!(part, Component::Normal(_)));
    let mut path = served.ui.join(wanted);
    if !plain || !path.is_file() {
        path = served.ui.join("index.html");
    }
    let kind = media_type(&path);
    let opens = uri.query().is_some_and(|query| query.split('&').any(|part| part == format!("token={}", served.token)));
    // Of the same host, another port has the same cookies: whoever has the token may have it there as well.
    let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict", served.token);
    match tokio::task::spawn_blocking(move || std::fs::read(path)).await {
        Ok(Ok(content)) => {
            let mut response =
                ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], content).into_response();
            if opens && let Ok(cookie) = cookie.parse() {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Ok(Err(_)) | Err(_) => {
            (StatusCode::NOT_FOUND, "the page is not built: see `ui/` in the repository").into_response()
        }
    }
}
