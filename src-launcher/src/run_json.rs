//! The result object of a recorded run. What lists and `show` print is `store`'s own shape.

use model::{Envelope, EnvelopeStatus, RunStatus};
use serde_json::{Value, json};
use store::RunRecord;

use crate::invocation;

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
        error: if run.pending().is_some() {
            run.report.error.clone()
        } else {
            runtime::standing_error(run, &invocation::command)
        },
        pending: run.pending_summary(),
        files: run.files.clone(),
    };
    let mut value = envelope.to_json(max_output_bytes);
    if status == EnvelopeStatus::InteractionRequired {
        // The run's own state says which of the two it is.
        value["status"] = json!(run.summary.status);
    }
    value
}
