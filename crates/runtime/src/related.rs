//! Runs of related projects: a run that another run has started, with a record of its own.
//!
//! A related run that asks a person waits under its own id, and its parent waits with it: the question stands in both
//! records, and answering either answers the child.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{CancelReason, EnvelopeStatus, Origin, RunId};
use project::Manifest;
use script::{HostCall, HostError};
use serde_json::{Value, json};
use store::{Standing, Store, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::context::{Folders, Project};
use crate::executor::{Executor, Parking, RunHandle, RunRequest, blocking};
use crate::host_calls::HostContext;
use crate::resume::ResumeError;
use crate::run::{Asked, Results, RunEvent};

/// How deep related runs may call each other.
const DEPTH: usize = 8;

/// How often a run that another process has is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What a related run tells the run that started it.
#[derive(Debug)]
pub(crate) enum ChildNews {
    /// It is recorded, and begins when the run that started it has noted that: whoever takes that run up again finds this
    /// one rather than starting another.
    Started { seq: u64, child: RunId, noted: oneshot::Sender<()> },
    /// It asks a person.
    Asked { seq: u64, child: RunId, asked: Asked },
    /// Its question was answered, and with it the one of the run that started it.
    Answered,
    /// It waits, and nobody here can answer.
    Parked { seq: u64 },
    /// It was interrupted, and goes on when the run that started it does.
    Interrupted { child: RunId },
}

/// What the run that started a related run tells it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChildControl {
    /// Nobody here can answer.
    Park(Parking),
    /// The parent has ended.
    Cancel(CancelReason),
}

/// A call of a related project, with what it needs to be made.
pub(crate) struct RelatedCall {
    pub(crate) executor: Executor,
    pub(crate) store: Store,
    /// The parent's: secrets in the child's output are masked in its records as well.
    pub(crate) host: Arc<HostContext>,
    pub(crate) project: Arc<Project>,
    /// Project and entrypoint of every run above, the parent's last.
    pub(crate) ancestry: Vec<String>,
    pub(crate) parent: RunId,
    pub(crate) call: HostCall,
    /// The child that was started for this call before the parent was taken up again.
    pub(crate) before: Option<RunId>,
}

fn error(code: &str, message: impl Into<String>) -> HostError {
    HostError { code: code.into(), message: message.into(), data: None, fatal: false }
}

fn storage(problem: &StoreError) -> HostError {
    error("storage", model::with_causes(problem))
}

impl RelatedCall {
    /// Makes the call and sends its result.
    pub(crate) async fn make(
        self,
        news: mpsc::UnboundedSender<ChildNews>,
        results: Results,
        control: mpsc::UnboundedReceiver<ChildControl>,
    ) {
        let call = self.call.clone();
        match self.run(&news, control).await {
            Ok(Ended::Output(output)) => drop(results.send((call, Ok(output)))),
            Ok(Ended::Waits) => drop(news.send(ChildNews::Parked { seq: call.seq })),
            Ok(Ended::Interrupted(child)) => drop(news.send(ChildNews::Interrupted { child })),
            Err(error) => drop(results.send((call, Err(error)))),
        }
    }

    async fn run(
        self,
        news: &mpsc::UnboundedSender<ChildNews>,
        mut control: mpsc::UnboundedReceiver<ChildControl>,
    ) -> Result<Ended, HostError> {
        let seq = self.call.seq;
        let begun = match &self.before {
            Some(before) => self.take_up(before, &mut control).await?,
            None => self.begin(news).await?,
        };
        let (mut handle, child) = match begun {
            Begun::Over(outcome) => return outcome.map(Ended::Output),
            Begun::Runs(handle, child) => (*handle, child),
        };
        loop {
            tokio::select! {
                biased;
                Some(event) = handle.events.recv() => match event {
                    RunEvent::Question(asked) => drop(news.send(ChildNews::Asked { seq, child: child.clone(), asked })),
                    RunEvent::Answered { .. } => drop(news.send(ChildNews::Answered)),
                    RunEvent::Progress { .. } | RunEvent::Output { .. } => {}
                },
                result = &mut handle.result => {
                    let envelope = result.map_err(|_| error("related", "the related run ended without a result"))?;
                    return match envelope.status {
                        EnvelopeStatus::Success => {
                            self.output(&child, envelope.output.unwrap_or(Value::Null)).await.map(Ended::Output)
                        }
                        EnvelopeStatus::InteractionRequired if envelope.pending.is_some() => Ok(Ended::Waits),
                        EnvelopeStatus::InteractionRequired => Ok(Ended::Interrupted(child)),
                        EnvelopeStatus::Failed | EnvelopeStatus::Cancelled | EnvelopeStatus::Timeout => {
                            Err(child_error(envelope.error, &child))
                        }
                    };
                }
                Some(word) = control.recv() => match word {
                    ChildControl::Park(why) => handle.park(why),
                    ChildControl::Cancel(reason) => handle.cancel(reason),
                },
            }
        }
    }

    /// Takes a child up that was started before, or sees it to its end where another process has it: whoever answered
    /// it under its own id, say. One run is never driven twice.
    async fn take_up(
        &self,
        before: &RunId,
        control: &mut mpsc::UnboundedReceiver<ChildControl>,
    ) -> Result<Begun, HostError> {
        let project = self.find_project().await?;
        let began = Instant::now();
        loop {
            let (store, id) = (self.store.clone(), before.clone());
            let looked = blocking(move || store.show(&id).map(|record| (store.standing(&record), record)));
            let (standing, record) = looked.await.map_err(|problem| storage(&problem))?;
            match standing {
                Standing::Over => {
                    return Ok(Begun::Over(match record.report.output {
                        Some(output) => self.output(before, output).await,
                        None => Err(child_error(record.report.error, before)),
                    }));
                }
                Standing::Working => {}
                Standing::Answered if began.elapsed() < Standing::PATIENCE => {}
                // One that was cancelled with the run that started it goes on with that run.
                Standing::Asks | Standing::Answered | Standing::Free => {
                    match self.executor.resume_child(before, Some(record.summary.epoch), Arc::clone(&project)).await {
                        Ok(handle) => return Ok(Begun::Runs(Box::new(handle), before.clone())),
                        // Somebody was faster: look again.
                        Err(ResumeError::Store(StoreError::StaleEpoch { .. } | StoreError::NotFree { .. })) => {}
                        Err(problem) => return Err(error("related", model::with_causes(&problem))),
                    }
                }
            }
            tokio::select! {
                // Nobody calls us when another process writes.
                () = tokio::time::sleep(LOOK) => {}
                Some(word) = control.recv() => self.pass_on(word, before).await?,
            }
        }
    }

    /// Tells a child that another process has what its parent says.
    async fn pass_on(&self, word: ChildControl, child: &RunId) -> Result<(), HostError> {
        match word {
            // It outlives this process.
            ChildControl::Park(_) | ChildControl::Cancel(CancelReason::ClientGone) => Ok(()),
            ChildControl::Cancel(reason) => {
                let (store, child) = (self.store.clone(), child.clone());
                blocking(move || store.request_cancel(&child, reason)).await.map_err(|problem| storage(&problem))?;
                Ok(())
            }
        }
    }

    /// What a child came to, as it was: a mask is no value. What is secret in it is masked from now on in what is
    /// recorded of the parent.
    async fn output(&self, child: &RunId, shown: Value) -> Result<Value, HostError> {
        let (store, id) = (self.store.clone(), child.clone());
        let whole = blocking(move || store.true_output(&id)).await.map_err(|problem| storage(&problem))?;
        match whole {
            Some(whole) => {
                whole.secrets.iter().for_each(|secret| self.host.add_handed_up(secret));
                Ok(whole.output)
            }
            None if store::holds_mask(&shown) => Err(error(
                "related",
                format!("the output of the related run {child} holds secrets, and they are kept nowhere"),
            )),
            None => Ok(shown),
        }
    }

    async fn begin(&self, news: &mpsc::UnboundedSender<ChildNews>) -> Result<Begun, HostError> {
        let project = self.find_project().await?;
        let request = self.request(project).await?;
        let recorded = self
            .executor
            .record_child(request)
            .await
            .map_err(|problem| error("related", model::with_causes(&problem)))?;
        let child = recorded.run().clone();
        let (noted, done) = oneshot::channel();
        let _ = news.send(ChildNews::Started { seq: self.call.seq, child: child.clone(), noted });
        let done = done.await;
        let handle = self.executor.launch(recorded);
        if done.is_err() {
            // The run that wanted it has ended meanwhile.
            handle.cancel(CancelReason::Client);
        }
        Ok(Begun::Runs(Box::new(handle), child))
    }

    async fn request(&self, project: Arc<Project>) -> Result<RunRequest, HostError> {
        let name = self.call.args.get("entrypoint").and_then(Value::as_str).unwrap_or_default();
        let report = self.executor.analyse_cached(&project.manifest, project.folders.data.join("cache")).await;
        let entrypoint = report
            .entrypoints
            .into_iter()
            .find(|entrypoint| entrypoint.id.as_str() == name)
            .ok_or_else(|| error("related", format!("project `{}` has no entrypoint `{name}`", project.title)))?;
        let step = format!("{}/{}", project.manifest.uuid, entrypoint.id);
        if self.ancestry.contains(&step) {
            return Err(error(
                "related_cycle",
                format!("`{}` of project `{}` is running above this call already", entrypoint.id, project.title),
            ));
        }
        if self.ancestry.len() >= DEPTH {
            return Err(error("related_depth", format!("related runs may be {DEPTH} deep")));
        }
        let raw = self.call.args.get("input").cloned().unwrap_or_else(|| json!({}));
        let parent = self.parent.clone();
        let mut ancestry = self.ancestry.clone();
        ancestry.push(step);
        blocking(move || {
            let mut input = project::check_related_call(&entrypoint, &raw)?;
            let files = project.managed_files();
            files.import_all(&entrypoint.params, &mut input)?;
            let cli_args = project::cli_args(&entrypoint.params, &files.with_paths(&entrypoint.params, &input)?)?;
            Ok(RunRequest {
                project,
                entrypoint,
                raw_input: raw,
                input,
                cli_args,
                origin: Origin::Related,
                client: None,
                parent: Some(parent),
                caps: model::RunCaps::default(),
                ancestry,
            })
        })
        .await
        .map_err(|faults: project::Faults| error("invalid_argument", faults.to_string()))
    }

    /// Finds the related project: bound on the command line, or confirmed from both sides in the registry.
    async fn find_project(&self) -> Result<Arc<Project>, HostError> {
        let alias = self.call.args.get("alias").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (project, store) = (Arc::clone(&self.project), self.store.clone());
        blocking(move || find_project(&project, &store, &alias)).await
    }
}

/// How a related run ended, as far as this call is concerned.
enum Ended {
    Output(Value),
    /// It waits for a person, and outlives this call.
    Waits,
    /// It stopped, and can be taken up again.
    Interrupted(RunId),
}

enum Begun {
    /// It had ended before.
    Over(Result<Value, HostError>),
    Runs(Box<RunHandle>, RunId),
}

fn child_error(problem: Option<model::RunError>, child: &RunId) -> HostError {
    match problem {
        Some(problem) => {
            let mut data = json!({ "runId": child, "errCode": problem.err_code });
            if let Some(own) = problem.data {
                data["data"] = own;
            }
            HostError {
                code: problem.code.as_str().to_owned(),
                message: problem.message,
                data: Some(data),
                fatal: false,
            }
        }
        None => error("related", format!("the related run {child} has no result")),
    }
}

fn find_project(ours: &Project, store: &Store, alias: &str) -> Result<Arc<Project>, HostError> {
    let bound = ours.related.iter().find_map(|bound| {
        let (name, dir) = bound.split_once('=')?;
        (name == alias).then(|| PathBuf::from(dir))
    });
    let (folder, id) = match (bound, &ours.id) {
        (Some(folder), _) => (folder, None),
        (None, Some(id)) => {
            let relations = store.relations(id).map_err(|problem| storage(&problem))?;
            let relation =
                relations.into_iter().find(|relation| relation.alias == alias && relation.both).ok_or_else(|| {
                    error(
                        "related",
                        format!(
                            "the related project `{alias}` is not confirmed from both sides: `{}`",
                            ours.history_place().command(&[
                                "projects",
                                "relate",
                                id.as_str(),
                                alias,
                                "OTHER",
                                "--both"
                            ])
                        ),
                    )
                })?;
            let other = store.project(relation.other.as_str()).map_err(|problem| storage(&problem))?;
            (other.path, Some(other.id))
        }
        (None, None) => {
            return Err(error(
                "related",
                format!("no folder is bound to `{alias}`: start with `--related-project {alias}=DIR`"),
            ));
        }
    };
    let manifest = read(&folder)?;
    project::check_related(&ours.manifest, alias, &manifest)
        .map_err(|problem| error("related", format!("{}; {}", model::with_causes(&problem), problem.next_step())))?;
    let folders = Folders { kv: ours.folders.data.join("kv").join(&manifest.uuid), ..ours.folders.clone() };
    Ok(Arc::new(Project { title: manifest.name.clone(), manifest, id, folders, related: Vec::new(), ..ours.clone() }))
}

fn read(folder: &Path) -> Result<Manifest, HostError> {
    Manifest::read(folder).map_err(|problem| error("related", problem.sentence()))
}
