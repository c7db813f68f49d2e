//! Takes runs in: places, queue, and what all of them share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::{
    CancelReason, ClientInfo, Entrypoint, Envelope, ErrorCode, Limits, Origin, RunCaps, RunId, StructureReport,
};
use project::cache::StructureCache;
use project::{Faults, Manifest};
use serde_json::{Map, Value};
use store::{CallEnd, FirstStatus, Lease, NewAnswer, NewRun, Owner, RunProject, Store, StoreError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::context::Project;
use crate::host_calls::HostContext;
use crate::resume::{ResumeError, reopen, take_up};
use crate::run::{Drive, Past, RunEvent};
use crate::supervisor::{WorkerImage, Workers};

/// Related runs at a time. Their depth is limited, and each has a parent that holds a place.
const CHILDREN: usize = 1_000;

/// How often a process looks whether somebody outside wants one of its runs cancelled.
const WATCH: Duration = Duration::from_millis(100);

/// Starts runs and sees them to their end.
#[derive(Debug, Clone)]
pub struct Executor {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) image: WorkerImage,
    pub(crate) workers: Workers,
    pub(crate) owner: Owner,
    places: Arc<Semaphore>,
    /// For related runs, which use their parents' places.
    child_places: Arc<Semaphore>,
    queued: AtomicUsize,
    running: Mutex<HashMap<RunId, CancelSwitch>>,
    tasks: TaskTracker,
    /// Raised when this process is to end.
    pub(crate) ending: CancellationToken,
}

/// Asks one run to end; the first reason counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct CancelSwitch {
    reason: Arc<Mutex<Option<CancelReason>>>,
    token: CancellationToken,
}

impl CancelSwitch {
    pub(crate) fn cancel(&self, reason: CancelReason) {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.token.cancel();
    }

    /// Whether the run was asked to end.
    pub(crate) fn is_thrown(&self) -> bool {
        self.token.is_cancelled()
    }

    pub(crate) async fn cancelled(&self) -> CancelReason {
        self.token.cancelled().await;
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(CancelReason::ClientGone)
    }
}

/// Why nobody here can answer a run's question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parking {
    /// The call is answered with this. `interaction_required`: the question could not be put before anybody.
    With(ErrorCode),
    /// The question was put, or may have been, and the call ended without an answer.
    Left,
}

impl Parking {
    /// What the call is answered with.
    pub(crate) fn code(self) -> ErrorCode {
        match self {
            Self::With(code) => code,
            Self::Left => ErrorCode::InteractionRequired,
        }
    }

    /// What is recorded of it.
    pub(crate) fn end(self) -> CallEnd {
        match self {
            Self::With(code) => CallEnd::With(code),
            Self::Left => CallEnd::Left,
        }
    }
}

impl From<ErrorCode> for Parking {
    fn from(code: ErrorCode) -> Self {
        Self::With(code)
    }
}

/// What whoever listens to a run tells it.
#[derive(Debug)]
pub(crate) struct Commands {
    /// Nobody here can answer.
    pub(crate) park: mpsc::UnboundedReceiver<Parking>,
    /// Somebody here has answered: look at once.
    pub(crate) answered: Arc<Notify>,
}

/// A run to be started. Made by [`Executor::prepare`], which has checked the input.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The project.
    pub project: Arc<Project>,
    /// The entrypoint.
    pub entrypoint: Entrypoint,
    /// The input as it came.
    pub raw_input: Value,
    /// The input with defaults filled in and files imported.
    pub input: Map<String, Value>,
    /// The input as command line arguments.
    pub cli_args: Vec<String>,
    /// Where it is started.
    pub origin: Origin,
    /// The program that asks for it.
    pub client: Option<ClientInfo>,
    /// The run that starts it.
    pub parent: Option<RunId>,
    /// What it may use, below what its project allows.
    pub caps: RunCaps,
    /// Project and entrypoint of every run above it and of itself, as `UUID/entrypoint`.
    pub(crate) ancestry: Vec<String>,
}

/// A run that is recorded and has not begun.
#[derive(Debug)]
pub(crate) struct Recorded {
    drive: Drive,
    lease: Lease,
    place: Option<OwnedSemaphorePermit>,
}

impl Recorded {
    pub(crate) fn run(&self) -> &RunId {
        self.lease.run()
    }
}

/// A run that was taken in.
#[derive(Debug)]
pub struct RunHandle {
    /// Its id, once it is recorded; absent when it was refused.
    pub run_id: Option<RunId>,
    /// What happens, until it ends. Need not be listened to.
    pub events: mpsc::Receiver<RunEvent>,
    /// Its end.
    pub result: oneshot::Receiver<Envelope>,
    cancel: CancelSwitch,
    park: mpsc::UnboundedSender<Parking>,
    answered: Arc<Notify>,
    store: Store,
}

impl RunHandle {
    /// Answers a question of the run, if nobody has before.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyAnswered`] says who was first.
    pub async fn answer(&self, question: u64, answer: NewAnswer) -> Result<(), StoreError> {
        let Some(run) = self.run_id.clone() else { return Ok(()) };
        let store = self.store.clone();
        blocking(move || store.answer(&run, question, &answer)).await?;
        self.answered.notify_one();
        Ok(())
    }

    /// Says that nobody here can answer the open question, and why: the run stays waiting, for whoever answers it from
    /// anywhere, and its result is `interaction_required`.
    pub fn park(&self, why: impl Into<Parking>) {
        let _ = self.park.send(why.into());
    }

    /// Asks the run to end. Does nothing to one that has.
    pub fn cancel(&self, reason: CancelReason) {
        self.cancel.cancel(reason);
    }

    /// Returns what asks the run to end, for somebody else to hold.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        Canceller(self.cancel.clone())
    }
}

/// Asks one run to end.
#[derive(Debug, Clone)]
pub struct Canceller(CancelSwitch);

impl Canceller {
    /// Asks the run to end.
    pub fn cancel(&self, reason: CancelReason) {
        self.0.cancel(reason);
    }
}

/// Why a run was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The run could not be recorded, so it was not started.
    #[error("the call could not be recorded")]
    Store(#[from] StoreError),
    /// More calls than [`Limits::QUEUED_CALLS`] wait already.
    #[error("{} calls wait already; try again when some have ended", Limits::QUEUED_CALLS)]
    Busy,
}

impl Executor {
    /// Makes an executor that records in `store` and runs at most `most` workers side by side.
    #[must_use]
    pub fn new(store: Store, image: WorkerImage, most: usize) -> Self {
        Self::owned_by(Owner::current(), store, image, most)
    }

    /// The same in the name of another process, or of one before the machine was started again; for tests.
    #[must_use]
    pub fn owned_by(owner: Owner, store: Store, image: WorkerImage, most: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                image,
                workers: Workers::default(),
                owner,
                places: Arc::new(Semaphore::new(most.max(1))),
                child_places: Arc::new(Semaphore::new(CHILDREN)),
                queued: AtomicUsize::new(0),
                running: Mutex::default(),
                tasks: TaskTracker::new(),
                ending: CancellationToken::new(),
            }),
        }
    }

    /// For a process that has other children than workers, like a window with its page's processes: nothing but the
    /// workers and what is below them is ever ended. What a worker leaves behind that was killed from outside is then
    /// not found by this process.
    #[must_use]
    pub fn among_others(self) -> Self {
        self.shared.workers.spare_others();
        self
    }

    /// How many workers run side by side unless an option says otherwise: 4, or twice the processors.
    #[must_use]
    pub fn default_places() -> usize {
        std::thread::available_parallelism().map_or(4, |cores| (cores.get() * 2).max(4))
    }

    /// How many runs are at work here, those that wait for a place with them.
    #[must_use]
    pub fn at_work(&self) -> usize {
        self.shared.running.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The store that runs are recorded in.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Makes the structure report of a project.
    pub async fn analyse(&self, manifest: &Manifest) -> StructureReport {
        let discovery = project::discover(manifest);
        crate::structure::analyse(manifest, discovery, &self.shared.image, &self.shared.workers).await.report
    }

    /// Returns the structure report that was made before, if nothing has changed since, or makes it. Caches lie in
    /// `folder`; one that cannot be written is no error.
    pub async fn analyse_cached(&self, manifest: &Manifest, folder: PathBuf) -> StructureReport {
        let cache = StructureCache::new(folder, crate::protocol::BUILD);
        let discovery = project::discover(manifest);
        if let Some(report) = cache.load(&manifest.root, &discovery) {
            return report;
        }
        let begun_at = self.shared.store.now();
        let candidates = discovery.clone();
        let made = crate::structure::analyse(manifest, discovery, &self.shared.image, &self.shared.workers).await;
        if let Err(error) = cache.store(&manifest.root, &candidates, &made.modules, &made.report, begun_at) {
            tracing::debug!(%error, "the structure report could not be cached");
        }
        made.report
    }

    /// Checks an input and imports its files. Blocks for as long as the files take to copy.
    ///
    /// # Errors
    ///
    /// Every fault of the input. No run began.
    pub fn prepare(
        project: &Arc<Project>,
        entrypoint: &Entrypoint,
        raw_input: Value,
        origin: Origin,
    ) -> Result<RunRequest, Faults> {
        let mut input = project::check_call_with_files(entrypoint, &raw_input)?;
        let files = project.managed_files();
        files.import_all(&entrypoint.params, &mut input)?;
        let paths = files.with_paths(&entrypoint.params, &input)?;
        let cli_args = project::cli_args(&entrypoint.params, &paths)?;
        Ok(RunRequest {
            project: Arc::clone(project),
            entrypoint: entrypoint.clone(),
            raw_input,
            input,
            cli_args,
            origin,
            client: None,
            parent: None,
            caps: RunCaps::default(),
            ancestry: vec![format!("{}/{}", project.manifest.uuid, entrypoint.id)],
        })
    }

    /// Takes a run in: records it, and starts it when there is a place.
    ///
    /// # Errors
    ///
    /// [`StartError::Busy`] when too many wait, or that it could not be recorded.
    pub async fn start(&self, request: RunRequest) -> Result<RunHandle, StartError> {
        let place = Arc::clone(&self.shared.places).try_acquire_owned().ok();
        let recorded = self.record(request, place).await?;
        Ok(self.launch(recorded))
    }

    /// Records a related run, which does nothing before it is launched. It needs no place of its own, since its parent
    /// does nothing but wait for it.
    pub(crate) async fn record_child(&self, request: RunRequest) -> Result<Recorded, StartError> {
        let place = Arc::clone(&self.shared.child_places).try_acquire_owned().ok();
        self.record(request, place).await
    }

    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    async fn record(&self, request: RunRequest, place: Option<OwnedSemaphorePermit>) -> Result<Recorded, StartError> {
        let shared = &self.shared;
        if place.is_none() && shared.queued.fetch_add(1, Ordering::SeqCst) >= Limits::QUEUED_CALLS {
            shared.queued.fetch_sub(1, Ordering::SeqCst);
            return Err(StartError::Busy);
        }
        // `.env` and the saved logins are files.
        let (project, now) = (Arc::clone(&request.project), shared.store.now());
        let host = blocking(move || HostContext::begin(&project, now)).await;
        let mut launch = request.project.launch_options();
        launch.entrypoint = Some(request.entrypoint.clone());
        launch.prepared_input = Value::Object(request.input.clone());
        launch.caps = request.caps;
        launch.seed = format!("{:032x}", host.seed);
        launch.clock = host.started_at;
        let new = NewRun {
            project: run_project(&request.project),
            entrypoint_id: request.entrypoint.id.clone(),
            entrypoint_title: request.entrypoint.title.clone(),
            origin: request.origin,
            client: request.client.clone(),
            input: request.raw_input.clone(),
            cli_args: request.cli_args.clone(),
            parent: request.parent.clone(),
            owner: shared.owner.clone(),
            launch,
            status: if place.is_some() { FirstStatus::Running } else { FirstStatus::Queued },
        };
        let drive = Drive::new(Arc::clone(shared), request, host, Past::none());
        let store = drive.store();
        let created = blocking(move || store.create_run(&new)).await;
        let lease = match created {
            Ok(lease) => lease,
            Err(error) => {
                if place.is_none() {
                    shared.queued.fetch_sub(1, Ordering::SeqCst);
                }
                return Err(error.into());
            }
        };
        Ok(Recorded { drive, lease, place })
    }

    /// Takes a run up again that waits, was interrupted, or whose client went away, and sees it through from where it
    /// was: under the same id, with the code and the input it was started with.
    ///
    /// `seen` is the epoch the caller has looked at, so that of several callers only one gets the run.
    ///
    /// # Errors
    ///
    /// That another process has it, that it has ended, or that what it needs cannot be read.
    pub async fn resume(
        &self,
        run: &RunId,
        seen: Option<u64>,
        project: Arc<Project>,
    ) -> Result<RunHandle, ResumeError> {
        self.resume_in(&self.shared.places, run, seen, project).await
    }

    /// The same for a related run, which uses its parent's place.
    pub(crate) async fn resume_child(
        &self,
        run: &RunId,
        seen: Option<u64>,
        project: Arc<Project>,
    ) -> Result<RunHandle, ResumeError> {
        self.resume_in(&self.shared.child_places, run, seen, project).await
    }

    async fn resume_in(
        &self,
        places: &Arc<Semaphore>,
        run: &RunId,
        seen: Option<u64>,
        project: Arc<Project>,
    ) -> Result<RunHandle, ResumeError> {
        let shared = &self.shared;
        let (store, id, owner) = (shared.store.clone(), run.clone(), shared.owner.clone());
        let (lease, request, host, past) = blocking(move || {
            let taken = store.take_over(&id, &owner, seen)?;
            take_up(&store, &taken.lease, project).map(|(request, host, past)| (taken.lease, request, host, past))
        })
        .await?;
        let drive = Drive::new(Arc::clone(shared), request, host, past);
        let place = Arc::clone(places).try_acquire_owned().ok();
        if place.is_none() {
            shared.queued.fetch_add(1, Ordering::SeqCst);
        }
        Ok(self.launch(Recorded { drive, lease, place }))
    }

    /// Asks one agent of a run that has ended again, under the same id: `agent` is its number among the run's agents.
    /// What other agents answered stays, wherever the script asks for it again.
    ///
    /// # Errors
    ///
    /// That the run has not ended, that the agent has not failed, or that what it needs cannot be read.
    pub async fn retry(&self, run: &RunId, agent: u64, project: Arc<Project>) -> Result<RunHandle, ResumeError> {
        let shared = &self.shared;
        let (store, id, owner) = (shared.store.clone(), run.clone(), shared.owner.clone());
        let (lease, request, host, past) = blocking(move || {
            let lease = reopen(&store, &id, &owner, agent)?;
            take_up(&store, &lease, project).map(|(request, host, past)| (lease, request, host, past))
        })
        .await?;
        let drive = Drive::new(Arc::clone(shared), request, host, past);
        let place = Arc::clone(&shared.places).try_acquire_owned().ok();
        if place.is_none() {
            shared.queued.fetch_add(1, Ordering::SeqCst);
        }
        Ok(self.launch(Recorded { drive, lease, place }))
    }

    /// Has a recorded run driven by a task of its own.
    pub(crate) fn launch(&self, recorded: Recorded) -> RunHandle {
        let Recorded { drive, lease, place } = recorded;
        let shared = &self.shared;
        let run_id = lease.run().clone();
        let (events, receiver) = mpsc::channel(crate::run::WAITING_EVENTS);
        let (sender, result) = oneshot::channel();
        let cancel = CancelSwitch::default();
        let (park, parked) = mpsc::unbounded_channel();
        let answered = Arc::new(Notify::new());
        let commands = Commands { park: parked, answered: Arc::clone(&answered) };
        let store = drive.store();
        self.watch(&run_id, &cancel);
        let task = shared.clone();
        let switch = cancel.clone();
        let id = run_id.clone();
        shared.tasks.spawn(async move {
            let envelope = match place {
                Some(place) => drive.run(lease, place, events, switch, commands).await,
                None => {
                    let waited = tokio::select! {
                        place = Arc::clone(&task.places).acquire_owned() => place.ok(),
                        _ = switch.cancelled() => None,
                        () = task.ending.cancelled() => None,
                    };
                    task.queued.fetch_sub(1, Ordering::SeqCst);
                    match waited {
                        Some(place) => drive.run(lease, place, events, switch, commands).await,
                        None => drive.cancelled_in_queue(lease, switch).await,
                    }
                }
            };
            task.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            // Nobody may be listening any more.
            let _ = sender.send(envelope);
        });
        RunHandle { run_id: Some(run_id), events: receiver, result, cancel, park, answered, store }
    }

    /// Has a run's wish to be cancelled, uttered by another process, looked for. One task looks for all runs, and only
    /// while there are any.
    fn watch(&self, run: &RunId, cancel: &CancelSwitch) {
        let mut running = self.shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        let first = running.is_empty();
        running.insert(run.clone(), cancel.clone());
        drop(running);
        if first {
            let shared = Arc::clone(&self.shared);
            tokio::spawn(async move { shared.look_for_signals().await });
        }
    }

    /// Ends everything that runs, records it as `client_gone`, and returns when nothing of it is left.
    pub async fn end(&self) {
        self.shared.ending.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        let workers = self.shared.workers.clone();
        let _ = tokio::task::spawn_blocking(move || workers.kill_all()).await;
    }
}

impl Shared {
    async fn look_for_signals(self: Arc<Self>) {
        loop {
            tokio::time::sleep(WATCH).await;
            let runs: Vec<RunId> =
                self.running.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
            if runs.is_empty() {
                // The next run starts another look-out, under the same lock that saw it empty.
                return;
            }
            let store = self.store.clone();
            let wishes = blocking(move || {
                runs.into_iter()
                    .filter_map(|run| {
                        let signals = store.signals(&run).ok()?;
                        Some((run, signals.cancel?))
                    })
                    .collect::<Vec<_>>()
            })
            .await;
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            for (run, reason) in wishes {
                if let Some(switch) = running.get(&run) {
                    switch.cancel(reason);
                }
            }
        }
    }
}

fn run_project(project: &Project) -> RunProject {
    RunProject {
        id: project.id.clone(),
        uuid: Some(project.manifest.uuid.clone()),
        title: project.title.clone(),
        path: Path::new(&project.manifest.root).to_owned(),
    }
}

/// Runs what may wait for a disk on a thread where that harms nobody.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        // It panicked, or the runtime is going away under us.
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => std::future::pending().await,
        },
    }
}
