//! A workflow project as a family of tools: each entrypoint is one.

use std::collections::VecDeque;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp::family::LogLevel;
use mcp::progress::Update;
use mcp::{Ask, Call, Elicited, Era, Family, Fault, Identity, InputRequest, Reply, Resource, ResourceTemplate, Tool};
use model::{
    CancelReason, Entrypoint, EntrypointSource, Envelope, EnvelopeStatus, ErrorCode, Limits, Origin, RunError, RunId,
    StructureReport,
};
use runtime::{Asked, Executor, Parking, Project, ResumeError, RunEvent, RunHandle, StartError};
use serde_json::{Map, Value, json};
use store::{NewAnswer, RunRecord, Standing, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::asking::{self, Carried, Judged, Outcome};
use crate::declared::Declared;
use crate::failure::with_causes;
use crate::installation::Installation;
use crate::{invocation, run_json, script_texts};

/// How long a client's form may stay open unless an option says otherwise.
const ELICITATION: Duration = Duration::from_secs(300);

/// How often a run that another process has is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Characters of what a client is told of a run's progress at a time.
const PROGRESS_CHARACTERS: usize = 500;

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
    declared: Declared,
    max_result_bytes: usize,
    elicitation: Duration,
    installation: Option<Installation>,
    gone: CancellationToken,
}

/// What a server is told beside its project.
pub(crate) struct ServerSettings {
    /// Bytes of a result's `output`, unless an entrypoint says otherwise.
    pub(crate) max_result_bytes: Option<u64>,
    /// How long a client's form may stay open.
    pub(crate) elicitation: Option<Duration>,
    /// Seals what clients carry for us. Without it the modern era cannot ask.
    pub(crate) installation: Option<Installation>,
}

impl WorkflowServer {
    /// Makes the server. `report` is filled in when the structure report is there.
    pub(crate) fn new(
        project: Arc<Project>,
        executor: Executor,
        report: watch::Receiver<Option<Arc<StructureReport>>>,
        settings: ServerSettings,
        gone: CancellationToken,
    ) -> Self {
        let identity = Identity {
            name: format!("workflow-{}", project.manifest.uuid),
            title: Some(project.title.clone()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let max_result_bytes =
            settings.max_result_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(Limits::RESULT_BYTES);
        let elicitation = settings.elicitation.unwrap_or(ELICITATION);
        let installation = settings.installation;
        let declared = Declared::new(executor.clone(), Arc::clone(&project));
        Self { identity, project, executor, report, declared, max_result_bytes, elicitation, installation, gone }
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

    /// The reply of a run that has ended. Models read of a script what its contract says.
    async fn final_reply(&self, entrypoint: &Entrypoint, envelope: &Envelope, call: &Call) -> Reply {
        let value = envelope.to_json(entrypoint.max_result_bytes.unwrap_or(self.max_result_bytes));
        let texts = match &entrypoint.source {
            EntrypointSource::Dynamic => {
                let name = call.arguments.get("meta").and_then(|meta| meta.get("name")).and_then(Value::as_str);
                vec![script_texts::result_text(name.unwrap_or("script"), envelope)]
            }
            EntrypointSource::Script { .. } => match self.remarks(envelope).await {
                Some(remarks) => vec![value.to_string(), remarks],
                None => return self.reply(entrypoint, envelope),
            },
            EntrypointSource::Module { .. } | EntrypointSource::Command { .. } => {
                return self.reply(entrypoint, envelope);
            }
        };
        Reply::Plain { texts, structured: Some(value), is_error: envelope.is_error() }
    }

    /// What is to be said beside a script file's result.
    async fn remarks(&self, envelope: &Envelope) -> Option<String> {
        let run = envelope.run_id.clone()?;
        let store = self.executor.store().clone();
        let recorded = blocking(move || -> Result<_, StoreError> {
            Ok((store.nodes(&run)?, store.log_text(&run, store::LogStream::Stderr)?))
        });
        match recorded.await {
            Ok(Ok((nodes, log))) => script_texts::remarks(&nodes, &log),
            Ok(Err(error)) => {
                tracing::warn!("what a run's agents came to cannot be read: {}", with_causes(&error));
                None
            }
            Err(_) => None,
        }
    }

    /// Sees a run through to its result, and puts its questions before the client's person where that can be done.
    async fn follow(&self, mut run: RunHandle, entrypoint: &Entrypoint, call: &Call) -> Result<Reply, Fault> {
        let mut cancelled = false;
        // The question that a modern client is to answer by calling again.
        let mut carried: Option<Asked> = None;
        let mut waiting: VecDeque<Asked> = VecDeque::new();
        let mut asking: Option<Asking> = None;
        let mut room = PASSED_ON;
        loop {
            if asking.is_none()
                && let Some(asked) = waiting.pop_front()
            {
                asking = self.ask(asked, call, &run, &mut carried);
            }
            tokio::select! {
                biased;
                Some(event) = run.events.recv() => match event {
                    RunEvent::Question(asked) => waiting.push_back(asked),
                    RunEvent::Answered { number } => {
                        waiting.retain(|asked| asked.number != number);
                        if let Some(asking) = asking.as_ref().filter(|asking| asking.number == number) {
                            asking.withdraw.cancel();
                        }
                    }
                    event => pass_on(event, call, &mut room).await,
                },
                result = &mut run.result => {
                    if let Some(mut asking) = asking.take() {
                        // Nobody waits for that answer any more: the client takes the form away.
                        asking.withdraw.cancel();
                        let _ = (&mut asking.outcome).await;
                    }
                    let envelope = result.map_err(|_| Fault::Internal("the run ended without a result".into()))?;
                    return Ok(match carried {
                        Some(asked) if envelope.pending.is_some() => self.input_required(entrypoint, &envelope, &asked, call, 0, None),
                        Some(_) | None => self.final_reply(entrypoint, &envelope, call).await,
                    });
                }
                outcome = outcome_of(&mut asking), if asking.is_some() => {
                    let number = asking.take().map_or(0, |asking| asking.number);
                    match outcome {
                        Outcome::Answer(answer) => self.answer(&run, number, answer).await,
                        Outcome::Park(code) => run.park(code),
                        Outcome::Withdrawn => {}
                    }
                }
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

    /// Decides how a question is put: as an elicitation, as a result to be answered by a retry, or not at all.
    fn ask(&self, asked: Asked, call: &Call, run: &RunHandle, carried: &mut Option<Asked>) -> Option<Asking> {
        let protocol = &call.caller.client.protocol;
        let schema = call.caller.elicitation.then(|| asking::schema(&asked.form, protocol)).flatten();
        match (schema, call.caller.era) {
            (Some(schema), Era::Legacy) => {
                let withdraw = CancellationToken::new();
                let number = asked.number;
                let outcome = asking::elicit(call.channel.clone(), asked, schema, self.elicitation, withdraw.clone());
                Some(Asking { number, withdraw, outcome: Box::pin(outcome) })
            }
            (Some(_), Era::Modern) if self.installation.is_some() => {
                *carried = Some(asked);
                // The result asks, so that the person may see the question; when there is none, the call has ended.
                run.park(Parking::Left);
                None
            }
            (Some(_) | None, _) => {
                run.park(ErrorCode::InteractionRequired);
                None
            }
        }
    }

    async fn answer(&self, run: &RunHandle, number: u64, answer: NewAnswer) {
        match run.answer(number, answer).await {
            // Somebody was faster, and the run goes on with their answer.
            Ok(()) | Err(StoreError::AlreadyAnswered { .. }) => {}
            Err(error) => {
                tracing::error!("an answer could not be recorded: {}", with_causes(&error));
                run.park(Parking::Left);
            }
        }
    }

    /// The result by which a modern client is asked.
    fn input_required(
        &self,
        entrypoint: &Entrypoint,
        envelope: &Envelope,
        asked: &Asked,
        call: &Call,
        round: u32,
        fault: Option<&str>,
    ) -> Reply {
        let schema = asking::schema(&asked.form, &call.caller.client.protocol);
        let (Some(installation), Some(run), Some(schema)) = (&self.installation, &envelope.run_id, schema) else {
            return self.reply(entrypoint, envelope);
        };
        let carried =
            Carried { run: run.to_string(), question: asked.number, arguments: digest(&call.arguments), round };
        let ask = Ask { message: asking::message(&asked.form, fault), schema: schema.schema };
        Reply::InputRequired {
            requests: vec![InputRequest { key: carried.key(), ask }],
            state: installation.seal_state(&carried.to_text(), &call.tool),
        }
    }

    /// A modern client calls again with the answer to a question.
    async fn retry(&self, state: &str, entrypoint: &Entrypoint, call: &Call) -> Result<Reply, Fault> {
        let forged =
            || Fault::invalid("`requestState` is not one of ours, too old, or of another call: call again without it");
        let installation = self.installation.as_ref().ok_or_else(forged)?;
        let text = installation.open_state(state, &call.tool).ok_or_else(forged)?;
        let carried: Carried = serde_json::from_str(&text).map_err(|_| forged())?;
        if carried.arguments != digest(&call.arguments) {
            return Err(Fault::invalid("the arguments are not those that the question was asked for"));
        }
        let run: RunId = carried.run.parse().map_err(|_| forged())?;
        let record = self.record(&run).await?.ok_or_else(forged)?;
        let question =
            record.questions.iter().find(|question| question.number == carried.question).ok_or_else(forged)?;
        if question.answer.is_none() && !record.summary.status.is_final() {
            let asked = Asked { number: question.number, form: question.form.clone(), kind: question.kind };
            let schema = asking::schema(&asked.form, &call.caller.client.protocol).ok_or_else(forged)?;
            let response = call.input_responses.as_ref().and_then(|responses| responses.get(&carried.key()));
            let judged = match response {
                Some(response) => match Elicited::from_result(response) {
                    Elicited::Unsupported(why) => Judged::Again(format!("the answer could not be read: {why}")),
                    answer => asking::judge(&asked.form, asked.kind, &schema, answer),
                },
                None => Judged::Again("no answer came with the call".into()),
            };
            match judged {
                Judged::Answer(answer) => {
                    let (store, id, number) = (self.executor.store().clone(), run.clone(), asked.number);
                    let answered = blocking(move || store.answer(&id, number, &answer)).await?;
                    match answered {
                        Ok(()) | Err(StoreError::AlreadyAnswered { .. } | StoreError::NotWaiting { .. }) => {}
                        Err(error) => return Err(Fault::Internal(with_causes(&error))),
                    }
                }
                Judged::Again(why) if carried.round + 1 < Limits::ANSWER_ROUNDS => {
                    let envelope = runtime::envelope_of(&record, &self.project);
                    return Ok(self.input_required(entrypoint, &envelope, &asked, call, carried.round + 1, Some(&why)));
                }
                Judged::Again(_) => {
                    let envelope = runtime::waiting_envelope(&record, &self.project, ErrorCode::InteractionInvalid);
                    return Ok(self.reply(entrypoint, &envelope));
                }
                Judged::Park(code) => {
                    return Ok(self.reply(entrypoint, &runtime::waiting_envelope(&record, &self.project, code)));
                }
            }
        }
        self.go_on(&run, entrypoint, call).await
    }

    /// Continues a run whose question was answered, or tells where it stands when another process has it.
    async fn go_on(&self, run: &RunId, entrypoint: &Entrypoint, call: &Call) -> Result<Reply, Fault> {
        loop {
            let record = self.record(run).await?.ok_or_else(|| Fault::Internal(format!("run {run} is gone")))?;
            let (store, looked) = (self.executor.store().clone(), record.clone());
            match (blocking(move || store.standing(&looked)).await?, record.pending()) {
                (Standing::Over, _) => {
                    let envelope = runtime::envelope_of(&record, &self.project);
                    return Ok(self.final_reply(entrypoint, &envelope, call).await);
                }
                // Another question: whoever asks here gets it next.
                (Standing::Asks, Some(question)) => {
                    let asked = Asked { number: question.number, form: question.form.clone(), kind: question.kind };
                    let envelope = runtime::envelope_of(&record, &self.project);
                    return Ok(self.input_required(entrypoint, &envelope, &asked, call, 0, None));
                }
                (Standing::Free, _) => {
                    match self.executor.resume(run, Some(record.summary.epoch), Arc::clone(&self.project)).await {
                        Ok(handle) => return self.follow(handle, entrypoint, call).await,
                        // Somebody was faster: look again.
                        Err(ResumeError::Store(StoreError::StaleEpoch { .. } | StoreError::NotFree { .. })) => {}
                        Err(error) => return Err(Fault::Internal(with_causes(&error))),
                    }
                }
                (Standing::Asks | Standing::Working | Standing::Answered, _) => {}
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = call.channel.cancelled().cancelled() => return Err(Fault::Internal("cancelled".into())),
            }
        }
    }

    /// Reads a run of this project.
    async fn record(&self, run: &RunId) -> Result<Option<RunRecord>, Fault> {
        let (store, id) = (self.executor.store().clone(), run.clone());
        match blocking(move || store.show(&id)).await? {
            // Another project's runs are none of this client's business.
            Ok(record) if record.project_uuid.as_deref() == Some(self.project.manifest.uuid.as_str()) => {
                Ok(Some(record))
            }
            Ok(_) | Err(StoreError::NoSuchRun { .. } | StoreError::Missing { .. }) => Ok(None),
            Err(error) => Err(Fault::Internal(with_causes(&error))),
        }
    }
}

/// Bytes of a call's output that our own log and the client's are given: some clients keep those in a file.
const PASSED_ON: usize = 4 * 1024 * 1024;

/// A question that is before the client's person.
struct Asking {
    number: u64,
    withdraw: CancellationToken,
    outcome: Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

async fn outcome_of(asking: &mut Option<Asking>) -> Outcome {
    match asking {
        Some(asking) => asking.outcome.as_mut().await,
        None => std::future::pending().await,
    }
}

/// Names the arguments of a call, whatever order their keys came in.
fn digest(arguments: &Map<String, Value>) -> String {
    script::fingerprint("arguments", &Value::Object(arguments.clone()))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Fault::Internal(error.to_string()))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Passes what happens in a run on to the client and to our log; of its output at most `room` more bytes.
async fn pass_on(event: RunEvent, call: &Call, room: &mut usize) {
    match event {
        RunEvent::Progress { done, total, message } => {
            let message = message.map(|message| model::beginning(&message, PROGRESS_CHARACTERS));
            call.channel.progress(Update { done, total, message });
        }
        RunEvent::Output { .. } if *room == 0 => {}
        RunEvent::Output { error, text } => {
            *room = room.saturating_sub(text.len());
            for line in text.lines() {
                if error {
                    tracing::warn!(entrypoint = call.tool, "{line}");
                    call.channel.log(LogLevel::Warning, line).await;
                } else {
                    tracing::info!(entrypoint = call.tool, "{line}");
                }
            }
            if *room == 0 {
                tracing::warn!(entrypoint = call.tool, "its further output is in the history alone");
            }
        }
        // Handled where the run is followed.
        RunEvent::Question(_) | RunEvent::Answered { .. } => {}
    }
}

impl Family for WorkflowServer {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn refusal(&self) -> Option<String> {
        let report = self.report().await.ok()?;
        serves_nothing(&report).then(|| nothing_to_serve(&report, &self.project.manifest.root))
    }

    async fn instructions(&self) -> Option<String> {
        // The opening has waited for it as long as it may.
        let errors = self.report.borrow().as_ref().map(|report| report.errors.clone()).unwrap_or_default();
        let mut text = format!(
            "Tools of the workflow project \"{}\". A call is recorded; its result names the run. When a result says \
             `interaction_required`, a person has to answer: pass the command in its message on to them.",
            self.project.title
        );
        for warning in &self.project.manifest.warnings {
            text.push_str(&format!(" Warning: {warning}."));
        }
        if !errors.is_empty() {
            text.push_str(" Not served, because they are broken:");
            for error in &errors {
                text.push_str(&format!(" `{}` ({});", error.entrypoint, error.message));
            }
        }
        Some(project::words::cut_at_sentence(&text, INSTRUCTIONS))
    }

    async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        let report = self.report().await?;
        if serves_nothing(&report) {
            return Err(Fault::Internal(nothing_to_serve(&report, &self.project.manifest.root)));
        }
        Ok(report.entrypoints.iter().filter(|entrypoint| !entrypoint.draft).map(tool).collect())
    }

    async fn call(&self, call: Call) -> Result<Reply, Fault> {
        let entrypoint = self.entrypoint(&call.tool).await?;
        self.declared.compare(&entrypoint);
        if let Some(state) = &call.request_state {
            return self.retry(state, &entrypoint, &call).await;
        }
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
                let doctor = invocation::command(&["doctor"]);
                return Err(Fault::Internal(format!("{}; run `{doctor}`", with_causes(&error))));
            }
        };
        self.follow(run, &entrypoint, &call).await
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
        let record = self.record(&run).await?.ok_or_else(missing)?;
        let text = run_json::result(&record, usize::MAX).to_string();
        Ok(Resource { uri, mime_type: "application/json".into(), text })
    }
}

/// The most broken entrypoints that are named where nothing is left.
const NAMED: usize = 10;

/// Tells whether a project has no entrypoint left for clients.
pub(crate) fn serves_nothing(report: &StructureReport) -> bool {
    report.entrypoints.iter().all(|entrypoint| entrypoint.draft)
}

/// Says why there is nothing to serve, and how to mend it.
pub(crate) fn nothing_to_serve(report: &StructureReport, root: &Path) -> String {
    if report.errors.is_empty() && report.entrypoints.is_empty() {
        return "this project has no entrypoint: add a `*.workflow.ts` file, or name one in `workflow.entrypoints` of \
                package.json"
            .into();
    }
    if report.errors.is_empty() {
        return "every entrypoint of this project is a draft: take `\"draft\": true` out of one".into();
    }
    let named = report.errors.iter().take(NAMED);
    let mut broken: Vec<String> = named.map(|error| format!("`{}` ({})", error.entrypoint, error.message)).collect();
    if report.errors.len() > NAMED {
        broken.push(format!("and {} more", report.errors.len() - NAMED));
    }
    format!(
        "no entrypoint of this project can be served, because they are broken: {}; mend one, see `{}`, and reconnect",
        broken.join(", "),
        invocation::command(&["structure", &root.to_string_lossy()])
    )
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
