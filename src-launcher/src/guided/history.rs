//! Guided workflows in the history: each started workflow is one run, its steps are nodes, and later calls, also those
//! of a server that was started again, go on under the same run id.
//!
//! Which run belongs to which workflow stands in small files beside the project's other state. The state itself is what
//! counts: what cannot be recorded is logged, and fails no call.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use guided::guided::Project;
use guided::state::{Given, Progress, Run, RunStatus as Standing};
use model::{
    CancelReason, ClientInfo, EntrypointId, ErrorCode, LaunchOptions, Node, NodeKind, NodeStatus, Origin, ProjectId,
    Report, RunError, RunId, RunStatus,
};
use serde_json::{Map, Value, json};
use store::{Finish, FirstStatus, Lease, NewRun, Owner, RunProject, Store, StoreError};

use crate::failure::with_causes;

/// What the file that names a workflow's run may have.
const NAME_BYTES: u64 = 256;

/// Records the workflows of one registered project.
pub(super) struct Recorder {
    store: Store,
    project: ProjectId,
    title: String,
    root: PathBuf,
    leases: Mutex<HashMap<String, Lease>>,
}

/// What a call did to a workflow.
pub(super) struct Event<'a> {
    /// The workflow as it is now.
    pub(super) run: &'a Run,
    /// What the gate wants done, when it let the step not pass.
    pub(super) feedback: Option<&'a str>,
    /// Who called.
    pub(super) client: &'a ClientInfo,
}

impl Recorder {
    pub(super) fn new(store: Store, project: ProjectId, title: String, root: PathBuf) -> Self {
        Self { store, project, title, root, leases: Mutex::default() }
    }

    /// Records what became of a workflow.
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
        // Calls of different sessions record one after the other; each takes a millisecond.
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        let name = name_file(project, &run.workflow_instance_id);
        let lease = match leases.get(&run.workflow_instance_id) {
            Some(lease) => lease.clone(),
            None => self.lease(&name, event)?,
        };
        let nodes = nodes(&project.steps_of(run), run, event.feedback);
        match run.status {
            Standing::Active => {
                self.store.upsert_nodes(&lease, &nodes)?;
                leases.insert(run.workflow_instance_id.clone(), lease);
            }
            Standing::Completed => {
                leases.remove(&run.workflow_instance_id);
                let report = Report { output: Some(outputs(run)), error: None, nodes };
                let finish = Finish { status: RunStatus::Success, report, cancel_reason: None, files: Vec::new() };
                self.store.finish(&lease, finish)?;
                forget(&name);
            }
            Standing::Aborted => {
                leases.remove(&run.workflow_instance_id);
                let why = run.abort_reason.clone().unwrap_or_default();
                let report = Report { output: None, error: Some(RunError::new(ErrorCode::Cancelled, why)), nodes };
                let finish = Finish {
                    status: RunStatus::Cancelled,
                    report,
                    cancel_reason: Some(CancelReason::Client),
                    files: Vec::new(),
                };
                self.store.finish(&lease, finish)?;
                forget(&name);
            }
        }
        Ok(())
    }

    /// Finds the run of a workflow that an earlier server recorded, or begins one.
    fn lease(&self, name: &Path, event: &Event<'_>) -> Result<Lease, StoreError> {
        let known = guided::files::read_text(name, NAME_BYTES).ok().and_then(|id| id.trim().parse::<RunId>().ok());
        if let Some(known) = known {
            match self.store.take_over(&known, &Owner::current(), None) {
                Ok(taken) => {
                    self.store.transition(&taken.lease, RunStatus::Running)?;
                    return Ok(taken.lease);
                }
                // Pruned meanwhile: it begins again.
                Err(StoreError::NoSuchRun { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let lease = self.begin(event)?;
        if let Err(error) = guided::files::write(name, lease.run().as_str().as_bytes()) {
            tracing::warn!("a server that is started again cannot go on with this run: {}", with_causes(&error));
        }
        Ok(lease)
    }

    fn begin(&self, event: &Event<'_>) -> Result<Lease, StoreError> {
        let run = event.run;
        let entrypoint = run.job_name.parse::<EntrypointId>().or_else(|_| "guided".parse::<EntrypointId>());
        let entrypoint_id = entrypoint.map_err(|error| StoreError::Unstorable { what: error.to_string() })?;
        self.store.create_run(&NewRun {
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
                "workflowInstanceId": run.workflow_instance_id,
            }),
            cli_args: Vec::new(),
            parent: None,
            owner: Owner::current(),
            launch: LaunchOptions { project_dir: self.root.to_string_lossy().into_owned(), ..LaunchOptions::default() },
            status: FirstStatus::Running,
        })
    }
}

fn name_file(project: &Project<'_>, instance: &str) -> PathBuf {
    let plain: String = instance.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    project.places().temporary().join("history").join(plain)
}

fn forget(name: &Path) {
    // The run has ended; nobody asks for it again.
    let _ = std::fs::remove_file(name);
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
