//! The board's mutations in the history: each that changed something is one run, with who did it, what was asked for, and
//! the revisions before and after. What only reads, and what was refused, is not recorded.
//!
//! The files are what counts: a change that cannot be recorded is logged, and fails no call.

use std::path::PathBuf;

use model::{ClientInfo, EntrypointId, LaunchOptions, Origin, ProjectId, Report, RunStatus};
use serde_json::{Map, Value, json};
use store::{Finish, FirstStatus, NewRun, Owner, RunProject, Store, StoreError};

use crate::failure::with_causes;

/// Records the changes to one registered board.
pub(crate) struct Recorder {
    pub(crate) store: Store,
    pub(crate) project: ProjectId,
    pub(crate) title: String,
    pub(crate) root: PathBuf,
}

/// A change that was made.
pub(super) struct Change<'a> {
    pub(super) tool: &'a str,
    pub(super) title: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    pub(super) actor: &'a str,
    pub(super) origin: Origin,
    pub(super) client: Option<&'a str>,
    /// The record's revision before, when it was there.
    pub(super) before: Option<String>,
    pub(super) answer: &'a Value,
}

impl Recorder {
    pub(super) fn record(&self, change: &Change<'_>) {
        if let Err(error) = self.try_record(change) {
            tracing::warn!(tool = change.tool, "a change to the board was not recorded: {}", with_causes(&error));
        }
    }

    fn try_record(&self, change: &Change<'_>) -> Result<(), StoreError> {
        let entrypoint_id =
            change.tool.parse::<EntrypointId>().map_err(|error| StoreError::Unstorable { what: error.to_string() })?;
        let lease = self.store.create_run(&NewRun {
            project: RunProject {
                id: Some(self.project.clone()),
                uuid: None,
                title: self.title.clone(),
                path: self.root.clone(),
            },
            entrypoint_id,
            entrypoint_title: change.title.to_owned(),
            origin: change.origin,
            client: change.client.map(|name| ClientInfo {
                name: name.to_owned(),
                version: String::new(),
                protocol: String::new(),
            }),
            input: json!({ "actor": change.actor, "arguments": change.arguments }),
            cli_args: Vec::new(),
            parent: None,
            owner: Owner::current(),
            launch: LaunchOptions { project_dir: self.root.to_string_lossy().into_owned(), ..LaunchOptions::default() },
            status: FirstStatus::Running,
        })?;
        let record = &change.answer["record"];
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        let output = json!({
            "id": text("id"),
            "path": text("path"),
            "before": change.before,
            "after": text("revision"),
            "result": change.answer,
        });
        let report = Report { output: Some(output), error: None, nodes: Vec::new() };
        self.store.finish(&lease, Finish { status: RunStatus::Success, report, cancel_reason: None, files: Vec::new() })
    }
}
