//! The headless server: descriptors, signals, and what is left to do when the client is gone.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp::ordered::{OrderedFamily, Refusal, ServerInfo};
use model::{Limits, StructureReport};
use process::standard_streams::ProtocolStreams;
use runtime::{Executor, Project, WorkerImage};
use serde_json::{Map, Value};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::board::server::BoardServer;
use crate::cli::ServeOptions;
use crate::failure::{Exit, Failure, with_causes};
use crate::guided::server::GuidedServer;
use crate::open::{Opened, Registered};
use crate::workflow_server::{ServerSettings, WorkflowServer, nothing_to_serve, serves_nothing};
use crate::{http_token, logging, retention};

/// How often we look whether our parent is still there: a client that is killed may leave our input open in another
/// process of its own.
const PARENT_WATCH: Duration = Duration::from_secs(2);

/// How long a thread that waits for work is kept: between the calls of one conversation there is none to do.
const IDLE_THREADS: Duration = Duration::from_secs(1);

/// How long a board's last call may take when its client is gone.
const LAST_CALL: Duration = Duration::from_secs(10);

/// What every server begins with: its log, the standard streams, and the runtime it waits in. What fails is logged.
fn set_up(options: &ServeOptions) -> Option<(ProtocolStreams, Runtime)> {
    logging::start(options.log_format.unwrap_or_default());
    let streams = process::standard_streams::take()
        .inspect_err(|error| tracing::error!(%error, "the standard streams cannot be used"))
        .ok()?;
    process::orphans::inherit();
    let runtime = runtime().inspect_err(|error| tracing::error!(%error, "the server cannot be started")).ok()?;
    Some((streams, runtime))
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().thread_keep_alive(IDLE_THREADS).build()
}

/// The exit code of a server that has ended, or could not begin.
fn ended(result: std::io::Result<()>) -> u8 {
    match result {
        Ok(()) => 0,
        Err(error) => {
            tracing::error!(%error, "the server cannot be started");
            Exit::Environment as u8
        }
    }
}

/// Serves a family that needs nothing but itself until its client is gone. Returns the exit code.
pub(crate) fn family<F: mcp::Family>(options: &ServeOptions, open: impl FnOnce() -> F) -> u8 {
    let Some((streams, runtime)) = set_up(options) else { return Exit::Environment as u8 };
    let code = runtime.block_on(serve_family(Arc::new(open()), streams));
    // A read of standard input cannot be cancelled, so nobody waits for its thread.
    runtime.shutdown_background();
    code
}

/// Where and how a server is reached over HTTP.
pub(crate) struct HttpPlace<'a> {
    pub(crate) transport: mcp::http::Transport,
    pub(crate) port: u16,
    pub(crate) token_file: Option<&'a Path>,
}

/// Serves a family over HTTP, on this machine only, until a signal ends it. Returns the exit code.
pub(crate) fn family_over_http<F: mcp::Family>(
    options: &ServeOptions,
    place: &HttpPlace<'_>,
    open: impl FnOnce() -> F,
) -> Result<u8, Failure> {
    logging::start(options.log_format.unwrap_or_default());
    let (token, file) = http_token::get(place.token_file)?;
    process::orphans::inherit();
    let failed = |error| Failure::environment(format!("the server cannot be started: {error}"));
    let runtime = runtime().map_err(failed)?;
    runtime.block_on(async {
        let listener = mcp::http::listen(place.port).await.map_err(|error| {
            Failure::environment(format!("port {} cannot be opened: {error}", place.port))
                .hinted("`--port N` names another one, `--port 0` takes one that is free")
        })?;
        let port = listener.local_addr().map_err(failed)?.port();
        let gone = CancellationToken::new();
        // Not with a parent: whoever starts it may leave it running.
        end_on_signals(&gone, &[SignalKind::terminate(), SignalKind::interrupt()]);
        tokio::spawn(rest_at_times());
        let server = Arc::new(open());
        tracing::info!(
            "serves http://127.0.0.1:{port}{}, process {}; clients send `Authorization: Bearer` with the text of `{}`",
            place.transport.path(),
            std::process::id(),
            file.display(),
        );
        mcp::http::serve(server, listener, place.transport, token, gone).await.map_err(failed)
    })?;
    runtime.shutdown_background();
    Ok(0)
}

async fn serve_family<F: mcp::Family>(family: Arc<F>, streams: ProtocolStreams) -> u8 {
    let gone = CancellationToken::new();
    end_with_the_client(&gone);
    ended(mcp::serve(family, streams, gone).await)
}

/// Serves what `open` finds, or says why it cannot. Returns the exit code.
pub(crate) fn project(options: &ServeOptions, open: impl FnOnce() -> Result<Registered, Failure>) -> u8 {
    let on_terminal = std::io::stdin().is_terminal();
    let Some((streams, runtime)) = set_up(options) else { return Exit::Environment as u8 };
    let code = match open() {
        Ok(Registered::Guided(found, store)) => {
            runtime.block_on(serve_family(Arc::new(GuidedServer::registered(&found, store)), streams))
        }
        Ok(Registered::Board(server)) => ended(runtime.block_on(serve_board(*server, streams))),
        Ok(Registered::Workflow(opened)) => {
            tracing::info!(
                "workflow-code {} serves `{}` ({}), process {}",
                env!("CARGO_PKG_VERSION"),
                opened.project.title,
                opened.project.id.as_ref().map_or(opened.project.manifest.uuid.as_str(), model::ProjectId::as_str),
                std::process::id(),
            );
            runtime.block_on(serve(options, *opened, streams, on_terminal))
        }
        Err(failure) => {
            tracing::error!("{failure}");
            if failure.exit == Exit::Usage || on_terminal {
                failure.exit as u8
            } else {
                runtime.block_on(refuse(streams, &failure))
            }
        }
    };
    // A read of standard input cannot be cancelled, so nobody waits for its thread.
    runtime.shutdown_background();
    code
}

/// Serves a board that needs nothing but its folder.
///
/// # Errors
///
/// When the input cannot be read.
pub(crate) fn board(server: BoardServer, streams: ProtocolStreams) -> std::io::Result<()> {
    let runtime = runtime()?;
    let served = runtime.block_on(serve_board(server, streams));
    runtime.shutdown_background();
    served
}

/// Serves a board, whose calls are answered in their order on one thread, until the input ends or the client is gone.
async fn serve_board(server: BoardServer, streams: ProtocolStreams) -> std::io::Result<()> {
    let gone = CancellationToken::new();
    end_with_the_client(&gone);
    let busy = Arc::new(Mutex::new(()));
    let family = InTurn { family: server, busy: Arc::clone(&busy) };
    let served = tokio::task::spawn_blocking(move || mcp::ordered::serve(family, streams.input, streams.output));
    tokio::select! {
        served = served => served.unwrap_or_else(|panic| Err(std::io::Error::other(panic))),
        () = gone.cancelled() => {
            // What is being written is written to its end, and nothing is begun any more.
            let last = tokio::task::spawn_blocking(move || std::mem::forget(busy.lock()));
            let _ = tokio::time::timeout(LAST_CALL, last).await;
            Ok(())
        }
    }
}

/// A family of which somebody else can tell whether it is answering.
struct InTurn<F> {
    family: F,
    busy: Arc<Mutex<()>>,
}

impl<F: OrderedFamily> OrderedFamily for InTurn<F> {
    fn info(&self) -> ServerInfo {
        self.family.info()
    }

    fn line_limit(&self) -> usize {
        self.family.line_limit()
    }

    fn request(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        client: Option<&str>,
    ) -> Result<Option<Value>, Refusal> {
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        self.family.request(method, params, client)
    }
}

/// Answers every request with the reason why nothing is served.
async fn refuse(streams: ProtocolStreams, failure: &Failure) -> u8 {
    let gone = CancellationToken::new();
    let lines = mcp::lines::read(streams.input, Limits::LINE_BYTES, gone.clone());
    let output = mcp::lines::write(streams.output, gone.clone());
    if let (Ok(lines), Ok((output, thread))) = (lines, output) {
        let reason = failure.to_string();
        end_with_the_client(&gone);
        tokio::select! {
            () = mcp::refusal::serve(lines, output, &reason, Limits::LINE_BYTES, Limits::JSON_DEPTH) => {}
            () = gone.cancelled() => {}
        }
        thread.finish(Duration::from_millis(500));
    }
    Exit::Environment as u8
}

async fn serve(options: &ServeOptions, opened: Opened, streams: ProtocolStreams, on_terminal: bool) -> u8 {
    let Opened { project, store, installation } = opened;
    let gone = CancellationToken::new();
    end_with_the_client(&gone);
    let places = options.max_concurrent.map_or_else(Executor::default_places, |most| most as usize);
    let executor = Executor::new(store, WorkerImage::own(), places);
    let history = executor.store().clone();
    tokio::task::spawn_blocking(move || {
        if let Err(error) = retention::tend(&history) {
            tracing::warn!("the history: {}", with_causes(&error));
        }
    });
    let (sender, report) = watch::channel(None);
    // To somebody at a terminal the reason is said, and nobody asks again.
    let useless = on_terminal.then(|| gone.clone());
    tokio::spawn(find_structure(Arc::clone(&project), executor.clone(), sender, useless));
    let settings = ServerSettings {
        max_result_bytes: options.max_result_bytes,
        elicitation: options.elicitation_timeout.map(Duration::from_secs),
        installation,
    };
    let server = WorkflowServer::new(project, executor.clone(), report.clone(), settings, gone.clone());
    if let Err(error) = mcp::serve(Arc::new(server), streams, gone.clone()).await {
        tracing::error!(%error, "the server cannot be started");
        return Exit::Environment as u8;
    }
    gone.cancel();
    executor.end().await;
    let history = executor.store().clone();
    let _ = tokio::task::spawn_blocking(move || retention::at_exit(&history)).await;
    let empty = report.borrow().as_ref().is_some_and(|report| serves_nothing(report));
    if empty { Exit::Environment as u8 } else { 0 }
}

/// Finds out what the project offers, and tells what is wrong with it.
async fn find_structure(
    project: Arc<Project>,
    executor: Executor,
    sender: watch::Sender<Option<Arc<StructureReport>>>,
    useless: Option<CancellationToken>,
) {
    let report = executor.analyse_cached(&project.manifest, project.folders.data.join("cache")).await;
    for error in &report.errors {
        tracing::error!("entrypoint `{}` is not served: {}", error.entrypoint, error.message);
    }
    for warning in &report.warnings {
        tracing::warn!("{warning}");
    }
    let empty = serves_nothing(&report);
    if empty {
        tracing::error!("{}", nothing_to_serve(&report, &project.manifest.root));
    }
    let _ = sender.send(Some(Arc::new(report)));
    if let Some(useless) = useless.filter(|_| empty) {
        useless.cancel();
    }
}

/// Raises `gone` on the signals by which clients end servers, and when our parent is gone.
fn end_with_the_client(gone: &CancellationToken) {
    end_on_signals(gone, &[SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()]);
    let parent = rustix::process::getppid();
    let gone = gone.clone();
    tokio::spawn(async move {
        // The one timer of a server that has nothing to do.
        let mut rest = process::memory::Rest::default();
        loop {
            tokio::time::sleep(PARENT_WATCH).await;
            rest.look();
            if rustix::process::getppid() != parent {
                tracing::info!("the client is gone");
                gone.cancel();
                return;
            }
        }
    });
}

/// Gives memory back while there is nothing to do, for servers that do not watch a parent.
async fn rest_at_times() {
    let mut rest = process::memory::Rest::default();
    loop {
        tokio::time::sleep(PARENT_WATCH).await;
        rest.look();
    }
}

fn end_on_signals(gone: &CancellationToken, kinds: &[SignalKind]) {
    for kind in kinds {
        let gone = gone.clone();
        match signal(*kind) {
            Ok(mut signals) => {
                tokio::spawn(async move {
                    signals.recv().await;
                    gone.cancel();
                });
            }
            Err(error) => tracing::warn!(%error, "a signal cannot be watched"),
        }
    }
}
