//! One run, from its worker's start to its recorded end.
//!
//! Whatever happens is handled here in one place, one thing at a time: what the worker says, the results of its host
//! calls, the clock, a wish to cancel. A state is recorded before anyone is told of it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use model::{
    CancelReason, CreatedFile, EntrypointSource, Envelope, EnvelopeStatus, ErrorCode, Limits, Node, NodeKind,
    NodeStatus, Report, RunError, RunStatus, TimestampMs,
};
use script::{CallKind, HostCall, HostError, Job, JobKind, Narration, Stream};
use serde_json::Value;
use store::{Finish, Lease, LogStream, LogWriter, Masker, Store};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use crate::executor::{CancelSwitch, RunRequest, Shared, blocking};
use crate::host_calls::{self, HostContext};
use crate::protocol::{BUILD, CommandJob, Delivered, FromWorker, Outcome, ToWorker};
use crate::supervisor::Worker;

/// Events that may wait for a listener; more of them overtake each other.
pub(crate) const WAITING_EVENTS: usize = 256;

/// After a polite word, how long a worker may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// The same when the client is gone.
const GRACE_GONE: Duration = Duration::from_millis(150);

/// Bytes of output after which it is recorded at once.
const LOG_BATCH: usize = 64 * 1024;

/// How often what a run wrote and the state of its nodes are recorded while it runs.
const RECORD: Duration = Duration::from_millis(100);

/// What happens in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// A part begins, or something was said about how far it is.
    Progress {
        /// What is done; absent when only the message is news.
        done: Option<f64>,
        /// What there is to do.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// The project wrote something, masked.
    Output {
        /// To standard error rather than standard output.
        error: bool,
        /// What it wrote, without the last line end.
        text: String,
    },
}

/// Why a run is being ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Timeout,
    Cancelled(CancelReason),
}

/// A run with all it needs.
#[derive(Debug)]
pub(crate) struct Drive {
    shared: Arc<Shared>,
    request: RunRequest,
    host: Arc<HostContext>,
}

impl Drive {
    pub(crate) fn new(shared: Arc<Shared>, request: RunRequest) -> Self {
        let host = Arc::new(HostContext::new(&request.project));
        Self { shared, request, host }
    }

    /// The store, with this run's secrets masked.
    pub(crate) fn store(&self) -> Store {
        self.shared.store.masked(self.host.masker())
    }

    /// Ends a run that was cancelled before it had a place.
    pub(crate) async fn cancelled_in_queue(self, lease: Lease, switch: CancelSwitch) -> Envelope {
        let reason = tokio::select! {
            biased;
            reason = switch.cancelled() => reason,
            () = self.shared.ending.cancelled() => CancelReason::ClientGone,
        };
        let end = End {
            status: RunStatus::Cancelled,
            output: None,
            error: Some(cancelled_error(reason)),
            reason: Some(reason),
        };
        let store = self.store();
        self.record_end(&store, &lease, end, Vec::new(), Vec::new()).await
    }

    /// Runs it.
    pub(crate) async fn run(
        self,
        lease: Lease,
        place: OwnedSemaphorePermit,
        events: mpsc::Sender<RunEvent>,
        switch: CancelSwitch,
    ) -> Envelope {
        let store = self.store();
        let mut running = Running {
            store: store.clone(),
            lease: lease.clone(),
            host: Arc::clone(&self.host),
            events,
            nodes: Nodes::default(),
            logs: store.log_writer(&lease),
            unrecorded: false,
            files: Vec::new(),
        };
        // A run that had to queue is `running` only now.
        let status = {
            let (store, lease) = (store.clone(), lease.clone());
            blocking(move || {
                if store.signals(lease.run())?.status == RunStatus::Queued {
                    store.transition(&lease, RunStatus::Running)?;
                }
                Ok::<(), store::StoreError>(())
            })
            .await
        };
        let end = match status {
            Ok(()) => self.supervise(&mut running, &switch).await,
            Err(error) => End::failed(RunError::new(ErrorCode::WorkerDied, "the run could not be recorded").with_cause(error.to_string())),
        };
        running.finish_logs().await;
        running.nodes.close(end.status);
        drop(place);
        let nodes = std::mem::take(&mut running.nodes.list);
        let files = std::mem::take(&mut running.files);
        self.record_end(&running.store.clone(), &lease, end, nodes, files).await
    }

    async fn supervise(&self, running: &mut Running, switch: &CancelSwitch) -> End {
        let root = &self.request.project.manifest.root;
        let folder = match self.prepare_folder(&running.lease) {
            Ok(folder) => folder,
            Err(error) => {
                return End::failed(RunError::new(ErrorCode::WorkerDied, "the run's folder could not be made").with_cause(error.to_string()));
            }
        };
        let first = match self.first_message(running, &folder) {
            Ok(first) => first,
            Err(error) => return End::failed(*error),
        };
        let mut worker = match Worker::start(&self.shared.image, root, &self.shared.workers) {
            Ok(worker) => worker,
            Err(error) => {
                let message = format!("{error}: {}", error.source);
                return End::failed(RunError::new(ErrorCode::WorkerDied, "no worker process could be started").with_cause(message));
            }
        };
        worker.say(&first);
        let limit = self.time_limit();
        let deadline = limit.map(|limit| Instant::now() + limit);
        let (results, mut done) = mpsc::unbounded_channel::<(HostCall, Result<Value, HostError>)>();
        let mut ending: Option<Ending> = None;
        let mut kill_at: Option<Instant> = None;
        let mut record_at: Option<Instant> = None;
        let never = Instant::now() + Duration::from_secs(10 * 365 * 24 * 3600);
        let end = loop {
            tokio::select! {
                biased;
                reason = switch.cancelled(), if ending.is_none() => {
                    ending = Some(Ending::Cancelled(reason));
                    worker.say(&ToWorker::Cancel);
                    kill_at = Some(Instant::now() + GRACE);
                }
                () = self.shared.ending.cancelled(), if kill_at.is_none_or(|at| at > Instant::now() + GRACE_GONE) => {
                    ending.get_or_insert(Ending::Cancelled(CancelReason::ClientGone));
                    worker.say(&ToWorker::Cancel);
                    kill_at = Some(Instant::now() + GRACE_GONE);
                }
                message = worker.next() => match message {
                    Some(FromWorker::Done(outcome)) => {
                        worker.finish().await;
                        break self.judge(outcome, ending, limit);
                    }
                    Some(message) => {
                        if let Err(error) = running.hear(message, &results).await {
                            worker.kill().await;
                            break End::failed(error);
                        }
                        if running.unrecorded && record_at.is_none() {
                            record_at = Some(Instant::now() + RECORD);
                        }
                    }
                    None => {
                        let how = worker.kill().await;
                        break match ending {
                            Some(ending) => End::from_outside(ending, limit),
                            None => End::failed(
                                RunError::new(ErrorCode::WorkerDied, format!("the worker process ended unexpectedly ({how})")),
                            ),
                        };
                    }
                },
                Some((call, outcome)) = done.recv() => match running.deliver(call, outcome).await {
                    Ok(delivered) => worker.say(&ToWorker::Deliver(delivered)),
                    Err(error) => {
                        worker.kill().await;
                        break End::failed(error);
                    }
                },
                () = tokio::time::sleep_until(deadline.unwrap_or(never)), if deadline.is_some() && ending.is_none() => {
                    ending = Some(Ending::Timeout);
                    worker.say(&ToWorker::TimeOut);
                    kill_at = Some(Instant::now() + GRACE);
                }
                () = tokio::time::sleep_until(kill_at.unwrap_or(never)), if kill_at.is_some() => {
                    worker.kill().await;
                    break End::from_outside(ending.unwrap_or(Ending::Timeout), limit);
                }
                () = tokio::time::sleep_until(record_at.unwrap_or(never)), if record_at.is_some() => {
                    running.flush().await;
                    record_at = None;
                }
            }
        };
        // Nothing in it is needed once the run has ended.
        let _ = blocking(move || std::fs::remove_dir_all(folder)).await;
        end
    }

    /// Makes the folder that a command's input, report and state lie in.
    fn prepare_folder(&self, lease: &Lease) -> std::io::Result<PathBuf> {
        use std::os::unix::fs::DirBuilderExt;
        let folder = self.request.project.folders.data.join("runs").join(lease.run().as_str());
        if matches!(self.request.entrypoint.source, EntrypointSource::Command { .. }) {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder.join("state"))?;
        }
        Ok(folder)
    }

    fn first_message(&self, running: &Running, folder: &std::path::Path) -> Result<ToWorker, Box<RunError>> {
        let entrypoint = &self.request.entrypoint;
        let project = &self.request.project;
        match &entrypoint.source {
            EntrypointSource::Module { file } => Ok(ToWorker::Script(Box::new(self.job(JobKind::Module, file, running)))),
            EntrypointSource::Script { file } => Ok(ToWorker::Script(Box::new(self.job(JobKind::Script, file, running)))),
            EntrypointSource::Command { argv } => {
                let input = Value::Object(self.command_input()?).to_string();
                let input_file = folder.join("input.json");
                std::fs::write(&input_file, &input).map_err(|error| {
                    Box::new(RunError::new(ErrorCode::WorkerDied, "the run's input could not be written").with_cause(error.to_string()))
                })?;
                let text = |path: PathBuf| path.to_string_lossy().into_owned();
                let report = text(folder.join("report.json"));
                let mut environment: std::collections::BTreeMap<String, String> =
                    project::command_environment(&project.environment, &self.host.env_file, &project.connection)
                        .into_iter()
                        // A value that is no Unicode cannot travel to the worker as text.
                        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                        .collect();
                for (name, value) in [
                    ("WORKFLOW_RUN_ID", running.lease.run().to_string()),
                    ("WORKFLOW_ENTRYPOINT", entrypoint.id.to_string()),
                    ("WORKFLOW_INPUT", text(input_file)),
                    ("WORKFLOW_OUTPUT", report.clone()),
                    ("WORKFLOW_STATE", text(folder.join("state"))),
                ] {
                    environment.insert(name.into(), value);
                }
                let mut argv = argv.clone();
                argv.extend(self.request.cli_args.iter().cloned());
                Ok(ToWorker::Command(CommandJob { argv, folder: text(project.manifest.root.clone()), environment, input, report }))
            }
            EntrypointSource::Dynamic => Err(Box::new(RunError::new(
                ErrorCode::ScriptError,
                "entrypoints that take a script with each call are not served by this version",
            ))),
        }
    }

    /// A command sees its files as paths.
    fn command_input(&self) -> Result<serde_json::Map<String, Value>, Box<RunError>> {
        let files = self.request.project.managed_files();
        files
            .with_paths(&self.request.entrypoint.params, &self.request.input)
            .map_err(|faults| Box::new(RunError::new(ErrorCode::CommandFailed, faults.to_string())))
    }

    fn job(&self, kind: JobKind, file: &str, running: &Running) -> Job {
        let project = &self.request.project;
        let mut job = Job::new(kind, project.manifest.root.clone(), file);
        job.input = match kind {
            JobKind::Module => Some(Value::Object(self.request.input.clone())),
            JobKind::Script => script_args(&self.request),
        };
        job.args_verbatim = self.request.entrypoint.args_verbatim;
        job.seed = running.host.seed;
        job.started_at = running.host.started_at;
        job.memory_bytes = self.request.entrypoint.memory_mb.unwrap_or(Limits::MEMORY_MB) * 1024 * 1024;
        if let Some(most) = project.manifest.max_agents {
            job.max_agents = most;
        }
        job.max_tokens = project.manifest.max_tokens;
        job
    }

    /// How long the run may take. Measured by a clock that stands still while the machine sleeps.
    fn time_limit(&self) -> Option<Duration> {
        let default = match self.request.entrypoint.source {
            EntrypointSource::Module { .. } | EntrypointSource::Command { .. } => Limits::TIMEOUT_SECONDS,
            EntrypointSource::Script { .. } | EntrypointSource::Dynamic => 0,
        };
        match self.request.entrypoint.timeout_seconds.unwrap_or(default) {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        }
    }

    /// Turns what a worker reports into the run's end. What was asked from outside wins over what came of it.
    fn judge(&self, outcome: Outcome, ending: Option<Ending>, limit: Option<Duration>) -> End {
        if let Some(ending) = ending {
            return End::from_outside(ending, limit);
        }
        match outcome {
            Outcome::Success { output } => {
                End { status: RunStatus::Success, output: Some(output), error: None, reason: None }
            }
            Outcome::Failed { error } => End::failed(error),
            Outcome::TimedOut => End::from_outside(Ending::Timeout, limit),
            Outcome::Cancelled => End::from_outside(Ending::Cancelled(CancelReason::ClientGone), limit),
            Outcome::Pending { .. } | Outcome::Suspended => End::failed(RunError::new(
                ErrorCode::InteractionRequired,
                "the run asks a person, which this version cannot do",
            )),
        }
    }

    /// Records the end, and only then tells of it.
    async fn record_end(&self, store: &Store, lease: &Lease, end: End, nodes: Vec<Node>, files: Vec<CreatedFile>) -> Envelope {
        let masker = store.masker().clone();
        let report = Report { output: end.output.clone(), error: end.error.clone(), nodes };
        let finish = Finish { status: end.status, report, cancel_reason: end.reason, files: files.clone() };
        let recorded = {
            let (store, lease) = (store.clone(), lease.clone());
            blocking(move || store.finish(&lease, finish)).await
        };
        let mut envelope = Envelope {
            run_id: Some(lease.run().clone()),
            status: envelope_status(end.status),
            entrypoint_id: self.request.entrypoint.id.clone(),
            entrypoint_title: self.request.entrypoint.title.clone(),
            output: end.output.map(|output| masker.mask_json(&output)),
            error: end.error.map(|error| RunError { message: masker.mask(&error.message).into_owned(), ..error }),
            pending: None,
            files,
        };
        if let Err(error) = recorded {
            tracing::error!(run = %lease.run(), %error, "the end of a run could not be recorded");
            let message = format!("the end of the run could not be recorded: {error}");
            envelope.status = EnvelopeStatus::Failed;
            envelope.output = None;
            envelope.error = Some(RunError::new(ErrorCode::WorkerDied, message));
        }
        envelope
    }
}

/// `args` of an orchestration script: the one parameter, or all declared ones as an object.
fn script_args(request: &RunRequest) -> Option<Value> {
    let params = &request.entrypoint.params;
    if params.len() == 1 && params[0].name == "args" && params[0].kind == model::ParamType::Json {
        return request.input.get("args").cloned();
    }
    Some(Value::Object(request.input.clone()))
}

fn envelope_status(status: RunStatus) -> EnvelopeStatus {
    match status {
        RunStatus::Success => EnvelopeStatus::Success,
        RunStatus::Failed => EnvelopeStatus::Failed,
        RunStatus::Cancelled => EnvelopeStatus::Cancelled,
        RunStatus::Timeout => EnvelopeStatus::Timeout,
        RunStatus::Queued | RunStatus::Running | RunStatus::WaitingForInput | RunStatus::Interrupted => {
            EnvelopeStatus::InteractionRequired
        }
    }
}

fn cancelled_error(reason: CancelReason) -> RunError {
    let why = match reason {
        CancelReason::Person => "a person cancelled the run",
        CancelReason::Client => "the client cancelled the call",
        CancelReason::ClientGone => "the client went away; `workflow-code runs resume` continues the run",
        CancelReason::Expired => "nobody answered in time",
    };
    RunError::new(ErrorCode::Cancelled, why)
}

/// How a run ends.
#[derive(Debug)]
struct End {
    status: RunStatus,
    output: Option<Value>,
    error: Option<RunError>,
    reason: Option<CancelReason>,
}

impl End {
    fn failed(error: RunError) -> Self {
        let status = match error.code {
            ErrorCode::Timeout => RunStatus::Timeout,
            _ => RunStatus::Failed,
        };
        Self { status, output: None, error: Some(error), reason: None }
    }

    fn from_outside(ending: Ending, limit: Option<Duration>) -> Self {
        match ending {
            Ending::Timeout => {
                let seconds = limit.map_or(0, |limit| limit.as_secs());
                Self::failed(RunError::new(
                    ErrorCode::Timeout,
                    format!("the run took longer than {seconds} s, its `timeoutSeconds`"),
                ))
            }
            Ending::Cancelled(reason) => Self {
                status: RunStatus::Cancelled,
                output: None,
                error: Some(cancelled_error(reason)),
                reason: Some(reason),
            },
        }
    }
}

/// The nodes of a run as they are now.
#[derive(Debug, Default)]
struct Nodes {
    list: Vec<Node>,
    places: HashMap<u64, usize>,
    changed: Vec<usize>,
    finished: u64,
}

impl Nodes {
    fn start(&mut self, id: u64, parent: Option<u64>, kind: NodeKind, title: String, at: TimestampMs) {
        let place = self.list.len();
        if self.places.insert(id, place).is_some() {
            return;
        }
        let status = NodeStatus::Running;
        self.list.push(Node { id, parent, kind, title, status, started_at: Some(at), finished_at: None, detail: None });
        self.changed.push(place);
    }

    fn end(&mut self, id: u64, status: NodeStatus, at: TimestampMs) {
        let Some(place) = self.places.get(&id).copied() else { return };
        let node = &mut self.list[place];
        if !node.status.is_final() {
            node.status = status;
            node.finished_at = Some(at);
            self.finished += 1;
            self.changed.push(place);
        }
    }

    /// Nothing goes on in a run that has ended.
    fn close(&mut self, run: RunStatus) {
        let left = match run {
            RunStatus::Success => NodeStatus::Success,
            RunStatus::Failed | RunStatus::Timeout => NodeStatus::Failed,
            _ => NodeStatus::Cancelled,
        };
        let at = now();
        for node in &mut self.list {
            if !node.status.is_final() {
                node.status = left;
                node.finished_at = Some(at);
            }
        }
    }

    fn take_changed(&mut self) -> Vec<Node> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        changed.into_iter().filter_map(|place| self.list.get(place).cloned()).collect()
    }
}

fn now() -> TimestampMs {
    model::Clock::now(&model::SystemClock)
}

/// What of a run is in hand while it runs.
struct Running {
    store: Store,
    lease: Lease,
    host: Arc<HostContext>,
    events: mpsc::Sender<RunEvent>,
    nodes: Nodes,
    logs: LogWriter,
    unrecorded: bool,
    files: Vec<CreatedFile>,
}

impl Running {
    /// Takes in what the worker says.
    async fn hear(
        &mut self,
        message: FromWorker,
        results: &mpsc::UnboundedSender<(HostCall, Result<Value, HostError>)>,
    ) -> Result<(), RunError> {
        match message {
            FromWorker::Ready { build } if build != BUILD => Err(RunError::new(
                ErrorCode::WorkerDied,
                "Workflow Code was updated while this server ran: reconnect",
            )),
            FromWorker::Ready { .. } | FromWorker::Analysed(_) | FromWorker::Abandon { .. } | FromWorker::Done(_) => Ok(()),
            FromWorker::Loaded { modules } => {
                let (store, lease) = (self.store.clone(), self.lease.clone());
                let files: Vec<store::SourceFile> = modules
                    .into_iter()
                    .map(|module| store::SourceFile { path: module.path, text: module.text })
                    .collect();
                match blocking(move || store.keep_sources(&lease, &files)).await {
                    Ok(()) => Ok(()),
                    // A secret in the code and no key to seal it with: the run goes on, and cannot be resumed.
                    Err(error @ store::StoreError::Unstorable { .. }) => {
                        tracing::warn!(run = %self.lease.run(), %error, "the run's code is not kept");
                        Ok(())
                    }
                    Err(error) => Err(not_recorded(error)),
                }
            }
            FromWorker::Narrate(narration) => {
                self.narrate(narration).await;
                Ok(())
            }
            FromWorker::Call(call) => {
                self.call(call, results);
                Ok(())
            }
        }
    }

    fn call(&mut self, call: HostCall, results: &mpsc::UnboundedSender<(HostCall, Result<Value, HostError>)>) {
        let host = Arc::clone(&self.host);
        let results = results.clone();
        let run = self.lease.run().clone();
        tokio::spawn(async move {
            let outcome = match call.kind {
                CallKind::Sleep => {
                    let milliseconds = call.args.get("ms").and_then(Value::as_f64).unwrap_or(0.0).clamp(0.0, 1e12);
                    tokio::time::sleep(Duration::from_secs_f64(milliseconds / 1000.0)).await;
                    Ok(Value::Null)
                }
                kind => {
                    let args = call.args.clone();
                    blocking(move || host_calls::perform(&host, &run, kind, &args)).await
                }
            };
            // The run may have ended meanwhile.
            let _ = results.send((call, outcome));
        });
    }

    /// Journals the result of a host call, and only then lets the script have it.
    async fn deliver(&mut self, call: HostCall, outcome: Result<Value, HostError>) -> Result<Delivered, RunError> {
        let at = now();
        if call.kind == CallKind::Secret {
            // From now on its value is masked in all that is recorded.
            let masker: Masker = self.host.masker();
            self.finish_logs().await;
            self.store = self.store.masked(masker);
            self.logs = self.store.log_writer(&self.lease);
        }
        if let (CallKind::FilesCreate, Ok(value)) = (call.kind, &outcome)
            && let Some(created) = self.host.created_file(value)
        {
            self.files.retain(|file| file.path != created.path);
            self.files.push(created);
        }
        let delivered = Delivered { seq: call.seq, at, outcome };
        let rows = crate::journal::rows(&call, &delivered);
        let durability = crate::journal::durability(call.kind);
        let (store, lease) = (self.store.clone(), self.lease.clone());
        blocking(move || store.append_journal(&lease, &rows, durability)).await.map_err(not_recorded)?;
        Ok(delivered)
    }

    async fn narrate(&mut self, narration: Narration) {
        let at = now();
        match narration {
            Narration::Phase { title, .. } => self.progress(None, None, Some(title)),
            Narration::Log { stream, text, data } => {
                let text = match data {
                    Some(data) => format!("{text} {data}"),
                    None => text,
                };
                let error = stream == Stream::Stderr;
                let masked = self.store.masker().mask(&text).into_owned();
                if stream == Stream::Log {
                    self.progress(None, None, Some(masked.clone()));
                }
                let _ = self.events.try_send(RunEvent::Output { error, text: masked });
                let stream = if error { LogStream::Stderr } else { LogStream::Stdout };
                self.logs.push(stream, at, &format!("{text}\n"));
                self.unrecorded = true;
                if self.logs.buffered() >= LOG_BATCH {
                    self.flush().await;
                }
            }
            Narration::Progress { done, total, message } => self.progress(Some(done), total, message),
            Narration::NodeStarted { id, parent, kind, title } => {
                let title = self.store.masker().mask(&title).into_owned();
                if kind != NodeKind::Phase {
                    self.progress(None, None, Some(title.clone()));
                }
                self.nodes.start(id, parent, kind, title, at);
                self.unrecorded = true;
            }
            Narration::NodeEnded { id, status } => {
                self.nodes.end(id, status, at);
                self.unrecorded = true;
                // What was finished counts until `progress()` says something of its own.
                let finished = f64::from(u32::try_from(self.nodes.finished).unwrap_or(u32::MAX));
                self.progress(Some(finished), None, None);
            }
            Narration::Note(note) => {
                let text = serde_json::to_string(&note).unwrap_or_default();
                tracing::info!(run = %self.lease.run(), "{text}");
            }
        }
    }

    fn progress(&self, done: Option<f64>, total: Option<f64>, message: Option<String>) {
        let _ = self.events.try_send(RunEvent::Progress { done, total, message });
    }

    /// Records everything that was written, also what was held back because a secret might have begun in it.
    async fn finish_logs(&mut self) {
        self.flush().await;
        let mut logs = std::mem::replace(&mut self.logs, self.store.log_writer(&self.lease));
        if let Err(error) = blocking(move || logs.finish()).await {
            tracing::error!(run = %self.lease.run(), %error, "what a run wrote could not be recorded");
        }
    }

    /// Records what was written and how the nodes stand. What fails here is told when the run's end is recorded.
    async fn flush(&mut self) {
        if !std::mem::take(&mut self.unrecorded) {
            return;
        }
        let (store, lease) = (self.store.clone(), self.lease.clone());
        let nodes = self.nodes.take_changed();
        let mut logs = std::mem::replace(&mut self.logs, store.log_writer(&lease));
        let (logs, outcome) = blocking(move || {
            let outcome = logs.flush().and_then(|()| store.upsert_nodes(&lease, &nodes));
            (logs, outcome)
        })
        .await;
        self.logs = logs;
        if let Err(error) = outcome {
            tracing::error!(run = %self.lease.run(), %error, "what a run wrote could not be recorded");
        }
    }
}

fn not_recorded(error: store::StoreError) -> RunError {
    RunError::new(ErrorCode::WorkerDied, "the run could not be recorded, so it was stopped").with_cause(error.to_string())
}
