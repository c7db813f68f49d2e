//! A supervisor in small for one case.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use agents::canned::{Canned, CannedProvider};
use agents::{AgentEnd, Desk, MemberEvent, Provider as _, Request};
use process::{Environment, Input, Spec};
use runtime::protocol::{Delivered, FromWorker, Outcome, StructureJob, ToWorker};
use script::{CallKind, HostCall, HostError, Job, JobKind, Narration, Sources, Tally};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// No case takes longer than this.
const LONGEST: Duration = Duration::from_secs(60);

/// What happened.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) start_error: Option<(String, String)>,
    pub(super) stop_reason: String,
    pub(super) value: Value,
    pub(super) error: String,
    pub(super) agents_started: u64,
    pub(super) agents_failed: u64,
    pub(super) peak: usize,
    pub(super) meta: Value,
    pub(super) requests: Vec<Value>,
    pub(super) events: Vec<Value>,
    pub(super) notes: Vec<Value>,
}

/// Runs a case.
pub(super) fn run(executable: &Path, name: &str, case: &Value) -> Result<Seen, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("the runtime cannot be started: {error}"))?;
    runtime.block_on(async {
        tokio::time::timeout(LONGEST, supervise(executable, name, case))
            .await
            .map_err(|_| format!("{name} took longer than {} s", LONGEST.as_secs()))?
    })
}

/// What is to be run, with the checks that come before it.
struct Plan {
    job: Job,
    folder: tempfile::TempDir,
    strict: bool,
    at_once: usize,
    grace: Duration,
}

fn plan(name: &str, case: &Value) -> Result<Result<Plan, (String, String)>, String> {
    let limits = &case["limits"];
    let number = |value: &Value, default: u64| value.as_u64().unwrap_or(default);
    let cap = number(&limits["maxTotalAgents"], Job::MAX_AGENTS);
    let request = &case["request"];
    let checked = match request.get("subagentProvider").and_then(Value::as_str) {
        Some(provider) => agents::check_provider(provider, &["stub"]),
        None => Ok(()),
    };
    let max_agents = match checked.and_then(|()| match request.get("maxTotalAgents") {
        Some(wanted) => agents::check_cap(wanted, cap),
        None => Ok(cap),
    }) {
        Ok(max_agents) => max_agents,
        Err(error) => return Ok(Err((error.code().into(), error.to_string()))),
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let root = std::fs::canonicalize(folder.path()).map_err(|error| error.to_string())?;
    let mut job = match case.get("file").and_then(Value::as_str) {
        Some(text) => {
            let file = case["fileName"].as_str().map_or_else(|| format!("{name}.js"), str::to_owned);
            std::fs::write(root.join(&file), text).map_err(|error| error.to_string())?;
            Job::new(JobKind::Script, root.clone(), file)
        }
        None => {
            let file = format!("workflow:{}", case["meta"]["name"].as_str().unwrap_or("script"));
            let mut job = Job::new(JobKind::Body, root.clone(), file.clone());
            let text = case["script"].as_str().unwrap_or_default().to_owned();
            job.sources = Sources::Kept(BTreeMap::from([(file, text)]));
            job.meta = Some(case["meta"].clone());
            job
        }
    };
    for (name, text) in case["workflows"].as_object().into_iter().flatten() {
        let file = format!("{name}.js");
        std::fs::write(root.join(&file), text.as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
        job.workflows.insert(name.clone(), file);
    }
    job.input = case.get("args").cloned();
    job.started_at = now();
    job.max_agents = max_agents;
    job.max_tokens = request["budget"].as_u64();
    job.max_items = number(&limits["maxItemsPerCall"], Job::MAX_ITEMS);
    job.first_slice_ms = Some(number(&limits["syncTimeoutMs"], Job::FIRST_SLICE_MS));
    if case["signalAborted"] == true {
        job.cancelled = Some("workflow start signal already aborted".into());
    }
    Ok(Ok(Plan {
        strict: job.kind == JobKind::Body,
        job,
        folder,
        at_once: usize::try_from(number(&limits["maxConcurrentAgents"], 8)).unwrap_or(8),
        grace: Duration::from_millis(number(&limits["disposeGraceMs"], 400)),
    }))
}

fn now() -> i64 {
    model::Clock::now(&model::SystemClock)
}

/// A worker process.
struct Worker {
    child: Child,
    input: ChildStdin,
    output: Option<ChildStdout>,
}

impl Worker {
    fn start(executable: &Path, folder: &Path) -> Result<Self, String> {
        let environment: Environment =
            [("TZ", "UTC"), ("LC_ALL", "C")].map(|(name, value)| (name.into(), value.into())).into();
        let spec = Spec::new(executable)
            .arguments([runtime::WORKER_ARGUMENT])
            .folder(folder)
            .environment(environment)
            .input(Input::Pipe);
        let mut child = spec.spawn().map_err(|error| format!("{error}: {}", error.source))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the worker has no pipes".into());
        };
        Ok(Self { child, input, output: Some(output) })
    }

    async fn say(&mut self, message: &ToWorker) {
        if let Ok(mut line) = serde_json::to_vec(message) {
            line.push(b'\n');
            // A worker that is gone is noticed by its silence.
            let _ = self.input.write_all(&line).await;
        }
    }

    async fn end(mut self) {
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
    }
}

/// Reads messages on a task of their own, since half a line must not be lost.
fn listen(output: Option<ChildStdout>) -> mpsc::UnboundedReceiver<FromWorker> {
    let (sender, messages) = mpsc::unbounded_channel();
    let Some(output) = output else { return messages };
    let mut output = BufReader::new(output);
    tokio::spawn(async move {
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).await.is_ok_and(|count| count > 0) {
            let Ok(message) = serde_json::from_slice(&line) else { break };
            line.clear();
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    messages
}

/// What a case says about cancelling.
struct Canceller<'a> {
    event: Option<&'a str>,
    left: u64,
    at: Option<Instant>,
    reason: String,
}

struct Watch<'a> {
    seen: Seen,
    canceller: Canceller<'a>,
    due: bool,
    cancelled: bool,
}

impl Watch<'_> {
    fn tell(&mut self, event: Value) {
        if self.canceller.event.is_some_and(|name| event["event"] == name) && self.canceller.left > 0 {
            self.canceller.left -= 1;
            self.due |= self.canceller.left == 0;
        }
        self.seen.events.push(event);
    }

    fn member(&mut self, event: MemberEvent) {
        let (name, member, outcome) = match event {
            MemberEvent::Started(member) => ("agent-start", member, None),
            MemberEvent::Ended(member, outcome) => ("agent-end", member, Some(outcome)),
        };
        let mut told = json!({"event": name, "seq": member.seq, "label": member.label, "childId": member.child});
        if let Some(phase) = member.phase {
            told["phase"] = phase.into();
        }
        if let Some(outcome) = outcome {
            told["outcome"] = outcome.as_str().into();
        }
        self.tell(told);
    }

    /// Takes in what the script tells. Nothing is told after it was cancelled.
    fn narrate(&mut self, narration: Narration) {
        match narration {
            Narration::Note(note) => {
                let mut told = json!({"code": note.code});
                if let Some(subject) = note.subject {
                    told["subject"] = subject.into();
                }
                self.seen.notes.push(told);
            }
            Narration::Phase { title, .. } if !self.cancelled => self.tell(json!({"event": "phase", "title": title})),
            Narration::Log { text, .. } if !self.cancelled => self.tell(json!({"event": "log", "message": text})),
            Narration::Phase { .. }
            | Narration::Log { .. }
            | Narration::Progress { .. }
            | Narration::NodeStarted { .. }
            | Narration::NodeEnded { .. } => {}
        }
    }
}

async fn supervise(executable: &Path, name: &str, case: &Value) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let mut plan = match plan(name, case)? {
        Ok(plan) => plan,
        Err(refused) => {
            seen.start_error = Some(refused);
            return Ok(seen);
        }
    };
    let canned = Canned::new(case.get("provider").cloned().unwrap_or(Value::Null));
    let provider = CannedProvider(std::sync::Arc::clone(&canned));
    if !plan.strict {
        plan.job.agent_options = Some(provider.capabilities().options);
    }
    let (member_sender, mut members) = mpsc::unbounded_channel();
    let desk = Desk::new(std::sync::Arc::new(provider), plan.at_once, plan.grace, move |event| {
        let _ = member_sender.send(event);
    });
    if case["expect"].get("meta").is_some() {
        seen.meta = lifted_meta(executable, &plan).await?;
    }
    let mut worker = Worker::start(executable, plan.folder.path())?;
    let mut messages = listen(worker.output.take());
    worker.say(&ToWorker::Script(Box::new(plan.job.clone()))).await;
    let on = &case["cancelOn"];
    let at = case["cancelAtMs"].as_u64().map(|at| Instant::now() + Duration::from_millis(at));
    let mut watch = Watch {
        seen,
        canceller: Canceller {
            event: on["event"].as_str(),
            left: if on.is_null() { 0 } else { on["count"].as_u64().unwrap_or(1) },
            at,
            reason: case["cancelReason"].as_str().unwrap_or("workflow cancelled").to_owned(),
        },
        due: false,
        cancelled: plan.job.cancelled.is_some(),
    };
    if let Some(reason) = &plan.job.cancelled {
        watch.canceller.reason.clone_from(reason);
    }
    let far = Instant::now() + LONGEST * 2;
    let mut calls: JoinSet<(HostCall, Result<Value, HostError>)> = JoinSet::new();
    let mut tally: Option<Tally> = None;
    let mut kill_at: Option<Instant> = None;
    let outcome = loop {
        if watch.due && !watch.cancelled {
            // In a turn of its own, as whoever hears of an event would.
            tokio::task::yield_now().await;
            watch.cancelled = true;
            worker.say(&ToWorker::Cancel).await;
            desk.cancel();
            kill_at = Some(Instant::now() + plan.grace);
        }
        tokio::select! {
            biased;
            Some(event) = members.recv() => watch.member(event),
            message = messages.recv() => match message {
                Some(FromWorker::Loaded { .. }) => {
                    if watch.seen.events.is_empty() {
                        watch.tell(json!({"event": "start"}));
                    }
                }
                Some(FromWorker::Narrate(narration)) => watch.narrate(narration),
                Some(FromWorker::Call(call)) => start_call(call, &plan, &desk, &mut calls),
                Some(FromWorker::Tally { tally: told }) => tally = Some(told),
                Some(FromWorker::Done(outcome)) => break Some(outcome),
                Some(_) => {}
                None => break None,
            },
            Some(done) = calls.join_next() => {
                if let Ok((call, outcome)) = done
                    && !watch.cancelled
                {
                    // Its end was told before its result is handed over.
                    while let Ok(event) = members.try_recv() {
                        watch.member(event);
                    }
                    worker.say(&ToWorker::Deliver(Delivered { seq: call.seq, at: now(), outcome })).await;
                }
            }
            () = tokio::time::sleep_until(watch.canceller.at.unwrap_or(far)), if watch.canceller.at.is_some() => {
                watch.canceller.at = None;
                watch.due = true;
            }
            () = tokio::time::sleep_until(kill_at.unwrap_or(far)), if kill_at.is_some() => break None,
        }
    };
    worker.end().await;
    // Children that nobody awaited end with the run, before its end is told.
    desk.cancel();
    let quiet = async { while calls.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(plan.grace, quiet).await;
    drop(calls);
    let accepted = desk.accepted();
    while let Ok(event) = members.try_recv() {
        watch.member(event);
    }
    let tally = tally.unwrap_or(Tally { agents_started: accepted, ..Tally::default() });
    Ok(finish(watch, outcome, tally, &canned))
}

fn start_call(call: HostCall, plan: &Plan, desk: &Desk, calls: &mut JoinSet<(HostCall, Result<Value, HostError>)>) {
    let error = |code: &str, message: String| HostError { code: code.into(), message, data: None, fatal: false };
    match call.kind {
        CallKind::Agent => {
            let seq = desk.accepted() + 1;
            match Request::read("case", seq, &call.args, plan.folder.path().to_owned()) {
                Ok(request) => {
                    let end = desk.submit(request);
                    let strict = plan.strict;
                    calls.spawn(async move {
                        let end: AgentEnd = end.await;
                        (call, end.answer(strict).map_err(|(code, message)| error(code, message)))
                    });
                }
                Err(refused) => {
                    calls.spawn(async move { (call, Err(error("INVALID_ARGUMENT", refused.to_string()))) });
                }
            }
        }
        CallKind::Sleep => {
            let wait = Duration::from_millis(call.args["ms"].as_u64().unwrap_or(0));
            calls.spawn(async move {
                tokio::time::sleep(wait).await;
                (call, Ok(Value::Null))
            });
        }
        kind => {
            let message = format!("cases know no `{}`", kind.as_str());
            calls.spawn(async move { (call, Err(error("unavailable", message))) });
        }
    }
}

/// The meta block as it is lifted from the file, by a worker of its own.
async fn lifted_meta(executable: &Path, plan: &Plan) -> Result<Value, String> {
    let mut worker = Worker::start(executable, plan.folder.path())?;
    let mut messages = listen(worker.output.take());
    let root = plan.job.root.to_string_lossy().into_owned();
    worker.say(&ToWorker::Structure(StructureJob { root, files: vec![plan.job.file.clone()] })).await;
    let mut meta = Value::Null;
    while let Some(message) = messages.recv().await {
        if let FromWorker::Analysed(analysed) = message {
            if let Ok(declared) = analysed.found {
                meta = declared.declaration;
            }
            break;
        }
    }
    worker.end().await;
    Ok(meta)
}

fn finish(mut watch: Watch<'_>, outcome: Option<Outcome>, tally: Tally, canned: &Canned) -> Seen {
    let full = |error: model::RunError| match error.cause {
        Some(cause) => format!("{}\n{cause}", error.message),
        None => error.message,
    };
    let cancelled = format!("workflow run cancelled: {}", watch.canceller.reason);
    let (stop, value, text) = match outcome {
        Some(Outcome::Failed { error }) if watch.seen.events.is_empty() => {
            let code = error.data.as_ref().and_then(|data| data["code"].as_str()).unwrap_or("?").to_owned();
            watch.seen.start_error = Some((code, full(error)));
            return watch.seen;
        }
        _ if watch.cancelled => ("cancelled", Value::Null, cancelled),
        Some(Outcome::Success { output }) => ("completed", output, String::new()),
        Some(Outcome::Failed { error }) => ("error", Value::Null, full(error)),
        Some(Outcome::Cancelled) => ("cancelled", Value::Null, cancelled),
        Some(Outcome::TimedOut) => ("error", Value::Null, "timed out".into()),
        Some(Outcome::Pending { .. } | Outcome::Suspended) | None => {
            ("error", Value::Null, "the worker process ended unexpectedly".into())
        }
    };
    watch.tell(json!({"event": "end", "stopReason": stop, "agentsStarted": tally.agents_started}));
    let mut seen = watch.seen;
    seen.stop_reason = stop.into();
    seen.value = value;
    seen.error = text;
    seen.agents_started = tally.agents_started;
    seen.agents_failed = tally.agents_failed;
    seen.peak = canned.peak();
    seen.requests = canned
        .requests()
        .into_iter()
        .map(|request| {
            let mut told = json!({"prompt": request.prompt});
            if let Some(schema) = request.schema {
                told["schema"] = schema;
            }
            if !request.options.is_empty() {
                told["options"] = Value::Object(request.options);
            }
            told
        })
        .collect();
    seen
}
