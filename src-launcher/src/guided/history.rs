//! Guided workflows in the history: each started workflow is one run, its steps are nodes, and later calls, also those
//! of another server, go on under the same run id.
//!
//! Which run belongs to which workflow stands in small files beside the project's other state. The state itself is what
//! counts: what cannot be recorded is logged, and fails no call. No process has such a run for itself: whoever holds the
//! session's lock writes it, so two servers on one folder are one history, and what a server that was killed had not
//! recorded yet is recorded by the next.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use guided::guided::Project;
use guided::paths::Places;
use guided::state::{Given, Progress, Run, RunStatus as Standing};
use guided::{Guided, GuidedError};
use model::{
    CancelReason, ClientInfo, EntrypointId, ErrorCode, LaunchOptions, Node, NodeKind, NodeStatus, Origin, ProjectId,
    Report, RunError, RunId, RunStatus,
};
use serde_json::{Map, Value, json};
use store::{CancelOutcome, Finish, FirstStatus, Lease, NewRun, Owner, RunProject, RunRecord, Store, StoreError};

use crate::failure::with_causes;

/// What the file that names a workflow's run may have.
const NAME_BYTES: u64 = 256;

/// Files that name workflows' runs; past it the oldest by name are looked at.
const MOST_MARKS: usize = 10_000;

/// Records the workflows of one registered project.
pub(super) struct Recorder {
    store: Store,
    project: ProjectId,
    title: String,
    root: PathBuf,
    /// The runs of workflows that this server has recorded, for when their files cannot be written.
    known: Mutex<HashMap<String, RunId>>,
}

/// What a call did to a workflow.
pub(super) struct Event<'a> {
    /// The workflow as it is now.
    pub(super) run: &'a Run,
    /// The workflow during whose step it was started.
    pub(super) parent: Option<&'a str>,
    /// What the gate wants done, when it let the step not pass.
    pub(super) feedback: Option<&'a str>,
    /// Who called.
    pub(super) client: &'a ClientInfo,
}

impl Recorder {
    pub(super) fn new(store: Store, project: ProjectId, title: String, root: PathBuf) -> Self {
        Self { store, project, title, root, known: Mutex::default() }
    }

    /// Records what became of a workflow. The caller holds the session's lock.
    pub(super) fn record(&self, project: &Project<'_>, event: &Event<'_>) {
        // A client may turn to another folder; only the registered one's workflows belong here.
        if project.root() != self.root {
            return;
        }
        if let Err(error) = self.try_record(project, event) {
            tracing::warn!(workflow = event.run.title(), "not recorded: {}", with_causes(&error));
        }
    }

    fn try_record(&self, project: &Project<'_>, event: &Event<'_>) -> Result<(), StoreError> {
        let run = event.run;
        let places = project.places();
        let known = self.find(places, &run.workflow_instance_id)?;
        let lease = match known.map(|id| self.store.attend(&id, &Owner::current())) {
            Some(Ok(lease)) => lease,
            // A person cancelled it, or another server has recorded its end.
            Some(Err(StoreError::NotFree { .. })) => {
                self.forget(places, &run.workflow_instance_id);
                return Ok(());
            }
            // Not yet, or pruned meanwhile.
            None | Some(Err(StoreError::NoSuchRun { .. })) => self.begin(places, event)?,
            Some(Err(error)) => return Err(error),
        };
        let nodes = nodes(&project.steps_of(run), run, event.feedback);
        if run.status == Standing::Active {
            return self.store.upsert_nodes(&lease, &nodes);
        }
        self.store.finish(&lease, ended(run, nodes, CancelReason::Client))?;
        self.forget(places, &run.workflow_instance_id);
        Ok(())
    }

    /// Finds the run of a workflow.
    fn find(&self, places: &Places, instance: &str) -> Result<Option<RunId>, StoreError> {
        if let Some(id) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(instance).cloned() {
            return Ok(Some(id));
        }
        let found = named(&self.store, places, instance, self.project.as_str())?;
        if let Some(id) = &found {
            self.remember(instance, id);
        }
        Ok(found)
    }

    fn remember(&self, instance: &str, id: &RunId) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(instance.to_owned(), id.clone());
    }

    /// The run has ended; nobody asks for it again.
    fn forget(&self, places: &Places, instance: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(instance);
        forget(places, instance);
    }

    fn begin(&self, places: &Places, event: &Event<'_>) -> Result<Lease, StoreError> {
        let run = event.run;
        let entrypoint = run.job_name.parse::<EntrypointId>().or_else(|_| "guided".parse::<EntrypointId>());
        let entrypoint_id = entrypoint.map_err(|error| StoreError::Unstorable { what: error.to_string() })?;
        let parent = match event.parent {
            Some(parent) => self.find(places, parent)?,
            None => None,
        };
        let lease = self.store.create_run(&NewRun {
            project: RunProject {
                id: Some(self.project.clone()),
                uuid: None,
                title: self.title.clone(),
                path: self.root.clone(),
            },
            entrypoint_id,
            entrypoint_title: run.title(),
            origin: Origin::Mcp,
            client: Some(event.client.clone()),
            input: json!({
                "goal": run.goal,
                "inputs": run.start_inputs,
                "sessionId": run.session_id,
                store::INSTANCE_FIELD: run.workflow_instance_id,
            }),
            cli_args: Vec::new(),
            parent,
            owner: Owner::current(),
            launch: LaunchOptions { project_dir: self.root.to_string_lossy().into_owned(), ..LaunchOptions::default() },
            status: FirstStatus::Running,
        })?;
        self.remember(&run.workflow_instance_id, lease.run());
        let mark = mark(places, &run.workflow_instance_id);
        if let Err(error) = places.write(&mark, lease.run().as_str().as_bytes()) {
            tracing::warn!("a server that is started again cannot go on with this run: {}", with_causes(&error));
        }
        Ok(lease)
    }

    /// Records the ends that a server had written down in the session, and was killed before it recorded them.
    pub(super) fn catch_up(&self, project: &Project<'_>) {
        if project.root() != self.root {
            return;
        }
        let Ok(entries) = std::fs::read_dir(marks(project.places())) else { return };
        let open: HashSet<String> =
            entries.flatten().take(MOST_MARKS).filter_map(|entry| entry.file_name().into_string().ok()).collect();
        if open.is_empty() {
            return;
        }
        // Not under the session's lock: an end is the last that happens to a workflow.
        for run in project.ended(&open) {
            let outcome = self.find(project.places(), &run.workflow_instance_id).and_then(|id| {
                let Some(id) = id else { return Ok(()) };
                let nodes = nodes(&project.steps_of(&run), &run, None);
                write_end(&self.store, &id, ended(&run, nodes, CancelReason::Client))
            });
            match outcome {
                Ok(()) => self.forget(project.places(), &run.workflow_instance_id),
                Err(error) => tracing::warn!(workflow = run.title(), "not recorded: {}", with_causes(&error)),
            }
        }
    }
}

/// Why a workflow could not be cancelled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CancelError {
    /// Its session could not be used.
    #[error(transparent)]
    Guided(#[from] GuidedError),
    /// Its record could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Cancels a guided workflow for a person: in its session first, so that no server goes on with it, then in the history.
/// What was started on top of it is cancelled with it. `None`: the run is of another kind.
pub(crate) fn cancel(store: &Store, record: &RunRecord) -> Result<Option<CancelOutcome>, CancelError> {
    let Some(instance) = record.workflow_instance() else { return Ok(None) };
    let summary = &record.summary;
    if summary.status.is_final() {
        return Ok(Some(CancelOutcome::Ended(summary.status)));
    }
    let registered = summary.registered.then(|| store.project(&summary.project).ok()).flatten();
    let root = registered.map_or_else(|| record.project_path.clone(), |project| project.path);
    let guided = Guided::new(super::settings(None, false));
    // A folder that is gone has no session that could go on.
    if let Ok(project) = guided.project(&root)
        && let Some(outcome) = cancel_in(store, &project, record, instance)?
    {
        return Ok(Some(outcome));
    }
    let error = RunError::new(ErrorCode::Cancelled, CancelReason::Person.sentence());
    let report = Report { output: None, error: Some(error), nodes: Vec::new() };
    write_end(store, &summary.run_id, cancelled(report, CancelReason::Person))?;
    Ok(Some(CancelOutcome::Done))
}

/// Cancels a workflow in its session, and records it. `None`: its session is gone.
fn cancel_in(
    store: &Store,
    project: &Project<'_>,
    record: &RunRecord,
    instance: &str,
) -> Result<Option<CancelOutcome>, CancelError> {
    let (places, id) = (project.places(), &record.summary.run_id);
    let steps = |run: &Run| nodes(&project.steps_of(run), run, None);
    let Some((runs, session)) = project.cancel(instance, CancelReason::Person.sentence())? else {
        let Some(run) = project.ended(&HashSet::from([instance.to_owned()])).pop() else { return Ok(None) };
        // A server was killed before it could record the end.
        let finish = ended(&run, steps(&run), CancelReason::Client);
        let status = finish.status;
        write_end(store, id, finish)?;
        forget(places, instance);
        return Ok(Some(CancelOutcome::Ended(status)));
    };
    for run in &runs {
        let known = if run.workflow_instance_id == instance {
            Some(id.clone())
        } else {
            named(store, places, &run.workflow_instance_id, &record.summary.project)?
        };
        if let Some(known) = known {
            write_end(store, &known, ended(run, steps(run), CancelReason::Person))?;
        }
        forget(places, &run.workflow_instance_id);
    }
    // Until here nobody else could go on with the session.
    drop(session);
    Ok(Some(CancelOutcome::Done))
}

fn write_end(store: &Store, id: &RunId, finish: Finish) -> Result<(), StoreError> {
    match store.attend(id, &Owner::current()) {
        Ok(lease) => store.finish(&lease, finish),
        // Somebody else was faster.
        Err(StoreError::NotFree { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// How a workflow that has ended is recorded.
fn ended(run: &Run, nodes: Vec<Node>, who: CancelReason) -> Finish {
    if run.status == Standing::Aborted {
        let why = run.abort_reason.clone().unwrap_or_default();
        let error = Some(RunError::new(ErrorCode::Cancelled, why));
        return cancelled(Report { output: None, error, nodes }, who);
    }
    let report = Report { output: Some(outputs(run)), error: None, nodes };
    Finish { status: RunStatus::Success, report, cancel_reason: None, files: Vec::new() }
}

fn cancelled(report: Report, who: CancelReason) -> Finish {
    Finish { status: RunStatus::Cancelled, report, cancel_reason: Some(who), files: Vec::new() }
}

fn marks(places: &Places) -> PathBuf {
    places.temporary().join("history")
}

/// The file that names a workflow's run.
fn mark(places: &Places, instance: &str) -> PathBuf {
    let plain: String = instance.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    marks(places).join(plain)
}

/// Finds the run that a workflow's file names. The file may have come with the repository, so the run has to say the same.
fn named(store: &Store, places: &Places, instance: &str, project: &str) -> Result<Option<RunId>, StoreError> {
    let text = guided::files::read_text(&mark(places, instance), NAME_BYTES).ok();
    let Some(id) = text.and_then(|id| id.trim().parse::<RunId>().ok()) else { return Ok(None) };
    match store.show(&id) {
        Ok(record) => {
            let is_its = record.workflow_instance() == Some(instance) && record.summary.project == project;
            Ok(is_its.then_some(id))
        }
        // Pruned meanwhile: it begins again.
        Err(StoreError::NoSuchRun { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn forget(places: &Places, instance: &str) {
    if let Err(error) = places.remove(&mark(places, instance)) {
        tracing::debug!("{}", with_causes(&error));
    }
}

fn outputs(run: &Run) -> Value {
    let mut all: Map<String, Value> = Map::new();
    for progress in run.step_progress.values() {
        for (name, value) in &progress.outputs {
            all.insert(name.clone(), given(value));
        }
    }
    Value::Object(all)
}

fn given(value: &Given) -> Value {
    match value {
        Given::One(text) => json!(text),
        Given::Many(texts) => json!(texts),
    }
}

/// One node to each step, those that have not begun among them.
fn nodes(steps: &[String], run: &Run, feedback: Option<&str>) -> Vec<Node> {
    let gone = run.step_progress.keys().filter(|name| !steps.contains(name));
    steps
        .iter()
        .chain(gone)
        .zip(1..)
        .map(|(name, id)| {
            let progress = run.step_progress.get(name);
            let is_current = *name == run.current_step_id;
            let status = match (progress, run.status) {
                (Some(progress), _) if progress.completed_at.is_some() => NodeStatus::Success,
                (Some(_), Standing::Aborted) => NodeStatus::Cancelled,
                (None, Standing::Aborted) => NodeStatus::Skipped,
                (Some(_), Standing::Active | Standing::Completed) => NodeStatus::Running,
                (None, Standing::Active | Standing::Completed) => NodeStatus::Queued,
            };
            Node {
                id,
                parent: None,
                kind: NodeKind::Step,
                title: name.clone(),
                status,
                started_at: time(progress.and_then(|progress| progress.started_at.as_ref())),
                finished_at: time(progress.and_then(|progress| progress.completed_at.as_ref())),
                detail: Some(match progress {
                    Some(progress) => detail(progress, feedback.filter(|_| is_current)),
                    None => json!({ "guided": { "id": name } }),
                }),
            }
        })
        .collect()
}

fn detail(progress: &Progress, feedback: Option<&str>) -> Value {
    let mut detail = Map::new();
    detail.insert("inputs".into(), json!(progress.input_values));
    detail.insert("outputs".into(), json!(progress.outputs));
    detail.insert("qualityAttempts".into(), json!(progress.quality_attempts));
    let texts = [
        ("workSummary", progress.work_summary.as_deref()),
        ("overrideReason", progress.quality_review_override_reason.as_deref()),
        ("feedback", feedback),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            detail.insert(name.into(), json!(text));
        }
    }
    detail.insert("guided".into(), step(progress, feedback));
    Value::Object(detail)
}

fn time(text: Option<&String>) -> Option<i64> {
    text.and_then(|text| text.parse::<jiff::Timestamp>().ok()).map(jiff::Timestamp::as_millisecond)
}

/// A step as a thread of steps shows it: what it handed in, how often the gate wanted more, and why it was passed over.
fn step(progress: &Progress, feedback: Option<&str>) -> Value {
    let is_done = progress.completed_at.is_some();
    let reason = progress.quality_review_override_reason.as_deref();
    let outputs: Vec<Value> = progress
        .outputs
        .iter()
        .map(|(name, value)| match value {
            Given::One(text) => json!({ "name": name, "value": text }),
            Given::Many(texts) => json!({ "name": name, "value": texts.join("\n") }),
        })
        .collect();
    let mut tries: Vec<Value> = (1..=progress.quality_attempts.min(MOST_TRIES))
        .map(|number| json!({ "number": number, "status": "failed" }))
        .collect();
    if let (Some(last), Some(feedback)) = (tries.last_mut(), feedback) {
        last["note"] = json!(feedback);
    }
    if is_done {
        let status = if reason.is_some() { "overridden" } else { "success" };
        tries.push(json!({ "number": tries.len() + 1, "status": status }));
    }
    let mut step = json!({ "id": progress.step_id, "outputs": outputs, "tries": tries });
    if let Some(reason) = reason {
        step["override"] = json!({ "reason": reason, "at": time(progress.completed_at.as_ref()) });
    }
    step
}

/// Tries of a step that are listed; the gate gives up long before.
const MOST_TRIES: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_tells_its_tries_and_why_it_was_passed_over() {
        let progress: Progress = serde_json::from_value(json!({
            "step_id": "think", "completed_at": "2026-11-30T12:00:00Z", "quality_attempts": 2,
            "outputs": { "answer": "x", "files": ["a.md", "b.md"] }, "quality_review_override_reason": "no reviewer here",
        }))
        .expect("a step");
        let shown = step(&progress, Some("name the files"));
        assert_eq!(
            shown["tries"],
            json!([{ "number": 1, "status": "failed" }, { "number": 2, "status": "failed", "note": "name the files" },
                { "number": 3, "status": "overridden" }])
        );
        assert_eq!(shown["override"], json!({ "reason": "no reviewer here", "at": 1_796_040_000_000_i64 }));
        assert_eq!(shown["outputs"][1], json!({ "name": "files", "value": "a.md\nb.md" }));
        let begun: Progress = serde_json::from_value(json!({ "step_id": "think" })).expect("a step");
        assert_eq!(step(&begun, None), json!({ "id": "think", "outputs": [], "tries": [] }));
    }
}
