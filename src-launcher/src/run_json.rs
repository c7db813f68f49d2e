//! Runs in their machine-readable shapes, which are stable: camelCase, times as RFC 3339.

use model::{Envelope, EnvelopeStatus, Pending, RunStatus, format_timestamp};
use serde_json::{Value, json};
use store::{RunRecord, RunSummary};

/// What lists show.
pub(crate) fn summary(run: &RunSummary) -> Value {
    json!({
        "runId": run.run_id,
        "projectId": run.project,
        "entrypointId": run.entrypoint_id,
        "entrypointTitle": run.entrypoint_title,
        "status": run.status,
        "origin": run.origin,
        "client": run.client,
        "startedAt": format_timestamp(run.started_at.unwrap_or(run.created_at)),
        "finishedAt": run.finished_at.map(format_timestamp),
        "durationMs": run.duration_ms(),
        "parentRunId": run.parent,
    })
}

/// Everything that was recorded. `stdout` and `stderr` are given apart, since they may be long.
pub(crate) fn record(run: &RunRecord, stdout: &str, stderr: &str) -> Value {
    let mut value = summary(&run.summary);
    let stages: Vec<Value> =
        run.stages.iter().map(|stage| json!({ "status": stage.status, "at": format_timestamp(stage.at) })).collect();
    let interactions: Vec<_> = run.questions.iter().map(store::Question::to_interaction).collect();
    let more = json!({
        "projectTitle": run.project_title,
        "projectPath": run.project_path,
        "client": run.client,
        "input": run.input,
        "cliArgs": run.cli_args,
        "stages": stages,
        "interactions": interactions,
        "pending": run.pending().map(|question| Pending::from(&question.form)),
        "report": run.report.to_json(),
        "output": run.report.output,
        "error": run.report.error,
        "cancelReason": run.cancel_reason(),
        "pinned": run.summary.pinned,
        "files": run.files,
        "childRunIds": run.children,
        "stdout": stdout,
        "stderr": stderr,
    });
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

/// The result object of a run, or where it stands when it has not ended.
pub(crate) fn result(run: &RunRecord, max_output_bytes: usize) -> Value {
    let status = match run.summary.status {
        RunStatus::Success => EnvelopeStatus::Success,
        RunStatus::Failed => EnvelopeStatus::Failed,
        RunStatus::Cancelled => EnvelopeStatus::Cancelled,
        RunStatus::Timeout => EnvelopeStatus::Timeout,
        RunStatus::WaitingForInput | RunStatus::Interrupted => EnvelopeStatus::InteractionRequired,
        RunStatus::Queued | RunStatus::Running => {
            return json!({
                "runId": run.summary.run_id,
                "status": run.summary.status,
                "entrypointId": run.summary.entrypoint_id,
                "entrypointTitle": run.summary.entrypoint_title,
            });
        }
    };
    let envelope = Envelope {
        run_id: Some(run.summary.run_id.clone()),
        status,
        entrypoint_id: run.summary.entrypoint_id.clone(),
        entrypoint_title: run.summary.entrypoint_title.clone(),
        output: run.report.output.clone(),
        error: run.report.error.clone(),
        pending: run.pending().map(|question| Pending::from(&question.form)),
        files: run.files.clone(),
    };
    let mut value = envelope.to_json(max_output_bytes);
    if status == EnvelopeStatus::InteractionRequired {
        // The run's own state says which of the two it is.
        value["status"] = json!(run.summary.status);
    }
    value
}
