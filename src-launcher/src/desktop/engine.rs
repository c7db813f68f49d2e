//! Runs that are started, answered or continued from the window: in this process, on threads of their own.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use api::wire::run::FaultRow;
use api::{Answer, ApiError, ApiErrorCode};
use model::{Entrypoint, ErrorCode, Origin, RunId, StructureReport};
use project::Faults;
use runtime::{Executor, Project, ResumeError, RunEvent, RunHandle, StartError, WorkerImage};
use serde_json::Value;
use store::{Standing, Store, StoreError};

use crate::failure::{Failure, with_causes};
use crate::retention;

/// After this an answered run is left to the process that has it, or to whoever continues it later.
const GIVEN_UP: Duration = Duration::from_secs(60);

/// How often a run that somebody has is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Threads that drive runs: nearly all of it is waiting.
const THREADS: usize = 2;

/// How long the end of all runs may take.
const LAST_STEPS: Duration = Duration::from_secs(5);

/// Drives runs.
#[derive(Debug, Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    executor: Executor,
    /// Taken when it ends.
    runtime: Mutex<Option<tokio::runtime::Runtime>>,
    handle: tokio::runtime::Handle,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // A runtime must not be waited for where it is dropped, which may be one of its own threads.
        if let Some(runtime) = self.runtime.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            runtime.shutdown_background();
        }
    }
}

impl Engine {
    /// Starts the threads, and marks runs whose process is gone.
    pub(super) fn start(store: Store, front_door: &Path) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("runs")
            .enable_all()
            .build()
            .map_err(|error| Failure::environment(format!("the threads for runs cannot be started: {error}")))?;
        let image = WorkerImage { program: front_door.to_owned() };
        let executor = Executor::new(store.clone(), image, Executor::default_places()).among_others();
        let handle = runtime.handle().clone();
        handle.spawn_blocking(move || {
            if let Err(error) = retention::tend(&store) {
                tracing::warn!("the history: {}", with_causes(&error));
            }
        });
        Ok(Self { shared: Arc::new(Shared { executor, runtime: Mutex::new(Some(runtime)), handle }) })
    }

    /// Waits for something that is done on the runs' threads.
    fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Answer<T> {
        let (done, answer) = std::sync::mpsc::sync_channel(1);
        self.shared.handle.spawn(async move {
            // Whoever asked may have gone.
            let _ = done.send(work.await);
        });
        answer.recv().map_err(|_| ApiError::internal("the threads for runs have ended"))
    }

    /// Makes a project's structure report, or takes the cached one.
    pub(super) fn structure(&self, project: &Arc<Project>) -> Answer<StructureReport> {
        let (executor, project) = (self.shared.executor.clone(), Arc::clone(project));
        self.wait(async move { executor.analyse_cached(&project.manifest, project.folders.data.join("cache")).await })
    }

    /// Makes the structure report of a folder, without a cache.
    pub(super) fn report(&self, manifest: project::Manifest) -> Answer<StructureReport> {
        let executor = self.shared.executor.clone();
        self.wait(async move { executor.analyse(&manifest).await })
    }

    /// Finds an entrypoint; drafts count here.
    pub(super) fn entrypoint(&self, project: &Arc<Project>, id: &str) -> Answer<Entrypoint> {
        let report = self.structure(project)?;
        if let Some(found) = report.entrypoints.iter().find(|entrypoint| entrypoint.id.as_str() == id) {
            return Ok(found.clone());
        }
        if let Some(error) = report.errors.iter().find(|error| error.entrypoint == id) {
            let detail = serde_json::json!({ "file": error.file, "line": error.line });
            return Err(ApiError::new(
                ApiErrorCode::ProjectBroken,
                format!("entrypoint `{id}` is broken: {}", error.message),
            )
            .detailed(detail));
        }
        Err(ApiError::not_found(format!("project `{}` has no entrypoint `{id}`", project.title)))
    }

    /// Starts a run, and returns when it is recorded.
    pub(super) fn run(&self, project: &Arc<Project>, entrypoint: &str, input: Value) -> Answer<RunId> {
        let entrypoint = self.entrypoint(project, entrypoint)?;
        let request =
            Executor::prepare(project, &entrypoint, input, Origin::Desktop).map_err(|faults| refused(&faults))?;
        let executor = self.shared.executor.clone();
        let started = self.wait(async move {
            let run = executor.start(request).await?;
            let id = run.run_id.clone();
            tokio::spawn(see_through(run));
            Ok::<_, StartError>(id)
        })?;
        match started {
            Ok(Some(run)) => Ok(run),
            Ok(None) => Err(ApiError::internal("the run was not recorded")),
            Err(StartError::Store(error)) => Err(error.into()),
            Err(StartError::Busy) => Err(ApiError::new(ApiErrorCode::Conflict, StartError::Busy.to_string())),
        }
    }

    /// Has a run go on, unless somebody else has it in hand.
    pub(super) fn go_on(&self, run: &RunId, project: Arc<Project>) {
        let (executor, run) = (self.shared.executor.clone(), run.clone());
        self.shared.handle.spawn(async move {
            match go_on(&executor, &run, project).await {
                Ok(()) => go_on_above(&executor, run).await,
                Err(error) => tracing::error!(%run, "the run cannot be continued: {error}"),
            }
        });
    }

    /// How many runs are at work here.
    pub(super) fn at_work(&self) -> usize {
        self.shared.executor.at_work()
    }

    /// Ends what runs here. A second call does nothing.
    pub(super) fn end(&self) {
        let runtime = self.shared.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(runtime) = runtime else { return };
        let executor = self.shared.executor.clone();
        let (done, ended) = std::sync::mpsc::sync_channel(1);
        runtime.spawn(async move {
            executor.end().await;
            let _ = done.send(());
        });
        if ended.recv_timeout(LAST_STEPS).is_err() {
            tracing::warn!("runs have not ended in time");
        }
        runtime.shutdown_background();
    }
}

/// Writes faults as the page shows them.
pub(super) fn faults(faults: &Faults) -> Vec<FaultRow> {
    faults.faults.iter().map(|fault| FaultRow { path: fault.name.clone(), message: fault.message.clone() }).collect()
}

/// Makes the error of an input or an answer that does not fit.
pub(super) fn refused(list: &Faults) -> ApiError {
    let detail = serde_json::json!({ "faults": faults(list) });
    ApiError::new(ApiErrorCode::InvalidInput, list.to_string()).detailed(detail)
}

/// Sees a run to where it ends or asks a person: then it is put down, and whoever answers takes it up again.
async fn see_through(mut run: RunHandle) {
    loop {
        tokio::select! {
            biased;
            Some(event) = run.events.recv() => {
                if let RunEvent::Question(_) = event {
                    run.park(ErrorCode::InteractionRequired);
                }
            }
            _ = &mut run.result => return,
        }
    }
}

/// Takes up what waited for a run that is over: whoever answered sees all of it through.
async fn go_on_above(executor: &Executor, run: RunId) {
    let mut below = run;
    loop {
        let (store, id) = (executor.store().clone(), below.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let Some(above) = store.waiting_above(&id).map_err(|error| with_causes(&error))? else { return Ok(None) };
            let record = store.show(&above).map_err(|error| with_causes(&error))?;
            let project =
                crate::commands::resume::project_of(&record, &store, None).map_err(|failure| failure.message)?;
            Ok::<_, String>(Some((above, Arc::new(project))))
        });
        let above = match looked.await.map_err(|error| error.to_string()).flatten() {
            Ok(Some((above, project))) => go_on(executor, &above, project).await.map(|()| above),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        match above {
            Ok(above) => below = above,
            Err(error) => {
                tracing::error!(run = %below, "the run that waited for this one cannot be continued: {error}");
                return;
            }
        }
    }
}

async fn go_on(executor: &Executor, run: &RunId, project: Arc<Project>) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let (store, id) = (executor.store().clone(), run.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let record = store.show(&id)?;
            Ok::<_, StoreError>((store.standing(&record), record.summary.epoch))
        });
        let (standing, epoch) =
            looked.await.map_err(|error| error.to_string())?.map_err(|error| with_causes(&error))?;
        if began.elapsed() > GIVEN_UP {
            return Err("the process that has it does not see the answer".into());
        }
        match standing {
            // It has ended, asks again, or somebody has it and goes on.
            Standing::Over | Standing::Asks | Standing::Working => return Ok(()),
            Standing::Answered if began.elapsed() < Standing::PATIENCE => {}
            Standing::Answered | Standing::Free => {
                match executor.resume(run, Some(epoch), Arc::clone(&project)).await {
                    Ok(handle) => {
                        see_through(handle).await;
                        return Ok(());
                    }
                    // Somebody was faster: look again.
                    Err(ResumeError::Store(StoreError::StaleEpoch { .. } | StoreError::NotFree { .. })) => {}
                    Err(error) => return Err(with_causes(&error)),
                }
            }
        }
        // Nobody calls us when another process writes.
        tokio::time::sleep(LOOK).await;
    }
}
