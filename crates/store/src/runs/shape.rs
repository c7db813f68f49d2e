//! Runs as machine-readable output: the shapes that `runs list`, `runs search` and `runs show` print (camelCase, stable).

use model::{Pending, TimestampMs, format_timestamp};
use serde_json::{Map, Value, json};

use crate::runs::{RunRecord, RunSummary};

fn moment(at: Option<TimestampMs>) -> Value {
    at.map_or(Value::Null, |at| Value::from(format_timestamp(at)))
}

impl RunSummary {
    /// Writes what lists print of a run. `startedAt` of a run that never ran is when it was recorded.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "runId": self.run_id,
            "projectId": self.project,
            "entrypointId": self.entrypoint_id,
            "entrypointTitle": self.entrypoint_title,
            "status": self.status,
            "origin": self.origin,
            "client": self.client,
            "startedAt": format_timestamp(self.started_at.unwrap_or(self.created_at)),
            "finishedAt": moment(self.finished_at),
            "durationMs": self.duration_ms(),
            "parentRunId": self.parent,
        })
    }
}

impl RunRecord {
    /// Returns what the run waits for, if it waits for a person.
    #[must_use]
    pub fn pending_summary(&self) -> Option<Pending> {
        self.pending().map(|question| Pending { child_run_id: question.child.clone(), ..Pending::from(&question.form) })
    }

    /// Writes everything that is recorded of a run, with the texts of its two streams.
    #[must_use]
    pub fn to_json(&self, stdout: &str, stderr: &str) -> Value {
        let mut shown = match self.summary.to_json() {
            Value::Object(shown) => shown,
            // A summary is an object; anything else would be shown as nothing.
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
        };
        let stages: Vec<Value> = self
            .stages
            .iter()
            .map(|stage| json!({ "status": stage.status, "at": format_timestamp(stage.at) }))
            .collect();
        let interactions: Vec<_> = self.questions.iter().map(crate::Question::to_interaction).collect();
        let more = [
            ("client", json!(self.client)),
            ("cancelReason", json!(self.summary.cancel_reason)),
            ("pinned", json!(self.summary.pinned)),
            ("input", self.input.clone()),
            ("cliArgs", json!(self.cli_args)),
            ("stages", Value::Array(stages)),
            ("interactions", json!(interactions)),
            ("pending", json!(self.pending_summary())),
            ("report", self.report.to_json()),
            ("output", json!(self.report.output)),
            ("error", json!(self.report.error)),
            ("files", json!(self.files)),
            ("childRunIds", json!(self.children)),
            ("stdout", Value::from(stdout)),
            ("stderr", Value::from(stderr)),
        ];
        for (key, value) in more {
            shown.insert(key.to_owned(), value);
        }
        Value::Object(shown)
    }
}
