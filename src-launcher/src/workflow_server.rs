//! A workflow project as a family of tools: each entrypoint is one.

use std::sync::Arc;
use std::time::Duration;

use mcp::family::LogLevel;
use mcp::progress::Update;
use mcp::{Call, Family, Fault, Identity, Reply, Resource, ResourceTemplate, Tool};
use model::{
    CancelReason, Entrypoint, Envelope, EnvelopeStatus, ErrorCode, Limits, Origin, RunError, RunId, StructureReport,
};
use runtime::{Executor, Project, RunEvent, RunHandle, StartError};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::failure::with_causes;
use crate::run_json;

/// How long an opening waits for the list of broken entrypoints before it goes without.
const OPENING: Duration = Duration::from_secs(1);

/// What clients read of `instructions`.
const INSTRUCTIONS: usize = 2_048;

/// The scheme under which results can be fetched.
const RUN_URI: &str = "workflow-run://";

/// A served project.
pub(crate) struct WorkflowServer {
    identity: Identity,
    project: Arc<Project>,
    executor: Executor,
    report: watch::Receiver<Option<Arc<StructureReport>>>,
    max_result_bytes: usize,
    gone: CancellationToken,
}

impl WorkflowServer {
    /// Makes the server. `report` is filled in when the structure report is there.
    pub(crate) fn new(
        project: Arc<Project>,
        executor: Executor,
        report: watch::Receiver<Option<Arc<StructureReport>>>,
        max_result_bytes: Option<u64>,
        gone: CancellationToken,
    ) -> Self {
        let identity = Identity {
            name: format!("workflow-{}", project.manifest.uuid),
            title: Some(project.title.clone()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let max_result_bytes =
            max_result_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(Limits::RESULT_BYTES);
        Self { identity, project, executor, report, max_result_bytes, gone }
    }

    async fn report(&self) -> Result<Arc<StructureReport>, Fault> {
        let mut report = self.report.clone();
        let report = report
            .wait_for(Option::is_some)
            .await
            .map_err(|_| Fault::Internal("the structure report could not be made".into()))?;
        report.clone().ok_or_else(|| Fault::Internal("the structure report could not be made".into()))
    }

    async fn entrypoint(&self, id: &str) -> Result<Entrypoint, Fault> {
        let report = self.report().await?;
        let served = || report.entrypoints.iter().filter(|entrypoint| !entrypoint.draft);
        if let Some(found) = served().find(|entrypoint| entrypoint.id.as_str() == id) {
            return Ok(found.clone());
        }
        let names: Vec<&str> = served().map(|entrypoint| entrypoint.id.as_str()).collect();
        let hint = project::words::nearest(id, names.iter().copied())
            .map_or_else(|| format!("the tools are {}", quoted(&names)), |near| format!("did you mean `{near}`?"));
        Err(Fault::invalid(format!("there is no tool `{id}`; {hint}")))
    }

    fn reply(&self, entrypoint: &Entrypoint, envelope: &Envelope) -> Reply {
        let most = entrypoint.max_result_bytes.unwrap_or(self.max_result_bytes);
        Reply::Complete { value: envelope.to_json(most), is_error: envelope.is_error() }
    }

    /// Sees a run through to its result.
    async fn follow(&self, mut run: RunHandle, call: &Call) -> Option<Envelope> {
        let mut cancelled = false;
        loop {
            tokio::select! {
                biased;
                Some(event) = run.events.recv() => pass_on(event, call).await,
                result = &mut run.result => return result.ok(),
                () = call.channel.cancelled().cancelled(), if !cancelled => {
                    cancelled = true;
                    // When the client is gone, the executor ends all runs with a reason that lets them be resumed.
                    if !self.gone.is_cancelled() {
                        run.cancel(CancelReason::Client);
                    }
                }
            }
        }
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Passes what happens in a run on to the client and to our log.
async fn pass_on(event: RunEvent, call: &Call) {
    match event {
        RunEvent::Progress { done, total, message } => call.channel.progress(Update { done, total, message }),
        RunEvent::Output { error: false, text } => {
            for line in text.lines() {
                tracing::info!(entrypoint = call.tool, "{line}");
            }
        }
        RunEvent::Output { error: true, text } => {
            for line in text.lines() {
                tracing::warn!(entrypoint = call.tool, "{line}");
                call.channel.log(LogLevel::Warning, line).await;
            }
        }
    }
}

impl Family for WorkflowServer {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn instructions(&self) -> Option<String> {
        let report = tokio::time::timeout(OPENING, self.report()).await.ok()?.ok()?;
        let mut text = format!(
            "Tools of the workflow project \"{}\". A call is recorded; its result names the run. When a result says \
             `interaction_required`, a person has to answer: pass the command in its message on to them.",
            self.project.title
        );
        if !report.errors.is_empty() {
            text.push_str(" Not served, because they are broken:");
            for error in &report.errors {
                text.push_str(&format!(" `{}` ({});", error.entrypoint, error.message));
            }
        }
        Some(project::words::cut_at_sentence(&text, INSTRUCTIONS))
    }

    async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        let report = self.report().await?;
        let tools: Vec<Tool> = report.entrypoints.iter().filter(|entrypoint| !entrypoint.draft).map(tool).collect();
        if tools.is_empty() {
            return Err(Fault::Internal(nothing_to_serve(&report)));
        }
        Ok(tools)
    }

    async fn call(&self, call: Call) -> Result<Reply, Fault> {
        let entrypoint = self.entrypoint(&call.tool).await?;
        let arguments = Value::Object(call.arguments.clone());
        let (project, checked) = (Arc::clone(&self.project), entrypoint.clone());
        let prepared =
            tokio::task::spawn_blocking(move || Executor::prepare(&project, &checked, arguments, Origin::Mcp)).await;
        let mut request = match prepared {
            Ok(Ok(request)) => request,
            Ok(Err(faults)) => {
                return Err(Fault::InvalidParams { message: faults.to_string(), data: Some(faults.to_json()) });
            }
            Err(error) => return Err(Fault::Internal(format!("the arguments could not be checked: {error}"))),
        };
        request.client = Some(call.caller.client.clone());
        let run = match self.executor.start(request).await {
            Ok(run) => run,
            Err(StartError::Busy) => {
                let error = RunError::new(ErrorCode::Busy, StartError::Busy.to_string());
                return Ok(self.reply(&entrypoint, &refused(&entrypoint, error)));
            }
            Err(error) => {
                return Err(Fault::Internal(format!("{}; run `workflow-code doctor`", with_causes(&error))));
            }
        };
        match self.follow(run, &call).await {
            Some(envelope) => Ok(self.reply(&entrypoint, &envelope)),
            None => Err(Fault::Internal("the run ended without a result".into())),
        }
    }

    fn crashed(&self, tool: &str) -> Reply {
        let value = json!({
            "status": "failed",
            "entrypointId": tool,
            "error": { "code": ErrorCode::WorkerDied, "message": "the launcher failed while it handled this call" },
        });
        Reply::Complete { value, is_error: true }
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: format!("{RUN_URI}{{runId}}"),
            name: "run".into(),
            description: "The result of a run of this project, whole, or where the run stands".into(),
            mime_type: "application/json".into(),
        }]
    }

    async fn read_resource(&self, uri: String) -> Result<Resource, Fault> {
        let missing = || Fault::NotFound(format!("there is no run of this project under `{uri}`"));
        let run: RunId = uri.strip_prefix(RUN_URI).and_then(|id| id.parse().ok()).ok_or_else(missing)?;
        let store = self.executor.store().clone();
        let record = tokio::task::spawn_blocking(move || store.show(&run))
            .await
            .map_err(|error| Fault::Internal(error.to_string()))?
            .map_err(|error| match error {
                store::StoreError::NoSuchRun { .. } | store::StoreError::Missing { .. } => missing(),
                error => Fault::Internal(with_causes(&error)),
            })?;
        // Another project's runs are none of this client's business.
        if record.project_uuid.as_deref() != Some(self.project.manifest.uuid.as_str()) {
            return Err(missing());
        }
        let text = run_json::result(&record, usize::MAX).to_string();
        Ok(Resource { uri, mime_type: "application/json".into(), text })
    }
}

/// Says why there is nothing to serve, and how to mend it.
pub(crate) fn nothing_to_serve(report: &StructureReport) -> String {
    match report.errors.first() {
        Some(error) => format!(
            "no entrypoint of this project can be served; the first error is in `{}`: {}; see `workflow-code structure DIR`",
            error.entrypoint, error.message
        ),
        None if report.entrypoints.is_empty() => {
            "this project has no entrypoint: add a `*.workflow.ts` file, or name one in `workflow.entrypoints` of \
             package.json"
                .into()
        }
        None => "every entrypoint of this project is a draft: take `\"draft\": true` out of one".into(),
    }
}

fn tool(entrypoint: &Entrypoint) -> Tool {
    Tool {
        name: entrypoint.id.to_string(),
        title: Some(entrypoint.title.clone()),
        description: project::tool_description(entrypoint),
        input_schema: object(project::input_schema(entrypoint)),
        output_schema: Some(object(Envelope::schema())),
        annotations: entrypoint.annotations,
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// The answer to a call that was not taken in: no run began.
fn refused(entrypoint: &Entrypoint, error: RunError) -> Envelope {
    Envelope {
        run_id: None,
        status: EnvelopeStatus::Failed,
        entrypoint_id: entrypoint.id.clone(),
        entrypoint_title: entrypoint.title.clone(),
        output: None,
        error: Some(error),
        pending: None,
        files: Vec::new(),
    }
}
