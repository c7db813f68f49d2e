//! Guided workflows as a family of tools.
//!
//! Three kinds of failure stay apart: a tool error, an object `{"error"}`, and a text that begins with a fixed word.
//! Calls run side by side, each on a thread of its own; those of one session wait for each other on its lock.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use guided::answers::{Done, FinishArguments, StartArguments};
use guided::guided::{Project, Startup};
use guided::reviews::{Scope, Sources};
use guided::{Guided, GuidedError, Stop};
use mcp::{Call, Era, Family, Fault, Identity, Reply, Tool};
use model::ClientInfo;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::history::{Event, Recorder};
use super::tools;
use crate::failure::with_causes;

/// How long a client may take to tell its roots.
const ROOTS: Duration = Duration::from_secs(5);

/// Where the project is.
#[derive(Debug, Clone)]
pub(super) enum Root {
    /// Here, always.
    Fixed(PathBuf),
    /// Where the client says, else here.
    Client(PathBuf),
}

impl Root {
    fn fallback(&self) -> &Path {
        match self {
            Self::Fixed(path) | Self::Client(path) => path,
        }
    }
}

/// Who calls, from where, and whether they still wait.
struct Caller {
    root: PathBuf,
    client: ClientInfo,
    stop: Stop,
}

/// Stops what runs for a call when nobody waits for it any more, however that came.
struct StopsAtEnd(Stop);

impl Drop for StopsAtEnd {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// The server.
pub(crate) struct GuidedServer {
    identity: Identity,
    root: Root,
    inner: Arc<Inner>,
}

struct Inner {
    guided: Guided,
    recorder: Option<Recorder>,
    fallback: PathBuf,
    startup: OnceLock<Startup>,
}

impl GuidedServer {
    /// Serves a project, or whatever project the client names. What happens is recorded when there is a recorder.
    pub(super) fn new(guided: Guided, root: Root, recorder: Option<Recorder>) -> Self {
        let identity = Identity {
            name: "deepwork".into(),
            title: Some("Guided workflows".into()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let fallback = root.fallback().to_owned();
        let inner = Arc::new(Inner { guided, recorder, fallback, startup: OnceLock::new() });
        // The look at all jobs goes on while the client opens the connection.
        let early = Arc::clone(&inner);
        let look = std::thread::Builder::new().name("first-look".into()).spawn(move || {
            early.startup();
            if let Ok(project) = early.guided.project(&early.fallback) {
                project.tell_jobs();
                if let Some(recorder) = &early.recorder {
                    recorder.catch_up(&project);
                }
            }
        });
        if let Err(error) = look {
            tracing::warn!(%error, "the jobs are looked at when somebody asks");
        }
        Self { identity, root, inner }
    }

    /// Serves a registered project and records what happens in its history.
    pub(crate) fn registered(found: &store::Project, store: store::Store) -> Self {
        let root = found.path.canonicalize().unwrap_or_else(|_| found.path.clone());
        let recorder = Recorder::new(store, found.id.clone(), found.title.clone(), root.clone());
        Self::new(Guided::new(super::settings(None, true)), Root::Fixed(root), Some(recorder))
    }

    async fn root_of(&self, call: &Call) -> PathBuf {
        match &self.root {
            Root::Fixed(path) => path.clone(),
            Root::Client(path) if call.caller.roots && call.caller.era == Era::Legacy => {
                let roots = call.channel.roots(ROOTS).await.unwrap_or_default();
                roots.iter().find_map(|uri| file_root(uri)).unwrap_or_else(|| path.clone())
            }
            Root::Client(path) => path.clone(),
        }
    }
}

/// Reads a `file://` URI; only folders of this machine count.
fn file_root(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
    let path = PathBuf::from(percent_decode_str(path).decode_utf8().ok()?.into_owned());
    (path.is_absolute() && path.is_dir()).then_some(path)
}

impl Inner {
    /// Looks at the project once, at the first question.
    fn startup(&self) -> &Startup {
        self.startup.get_or_init(|| match self.guided.project(&self.fallback) {
            Ok(project) => project.start_up(),
            Err(error) => {
                tracing::error!("{}", with_causes(&error));
                Startup::default()
            }
        })
    }

    fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Outcome {
        self.startup();
        let mut arguments = Arguments::new(arguments);
        match tool {
            "get_workflows" => {
                arguments.finish(tool)?;
                self.object(self.project(caller)?.get_workflows())
            }
            "start_workflow" => {
                let start = StartArguments {
                    goal: arguments.text("goal"),
                    job_name: arguments.text("job_name"),
                    workflow_name: arguments.text("workflow_name"),
                    session_id: arguments.maybe_text("session_id"),
                    inputs: arguments.maybe_values("inputs").unwrap_or_default(),
                    agent_id: arguments.maybe_text("agent_id"),
                };
                arguments.finish(tool)?;
                let project = self.project(caller)?;
                let done = project.start_workflow(start)?;
                self.record(&project, &done, None, caller);
                self.object(done.answer)
            }
            "finished_step" => {
                let mut finish = FinishArguments {
                    outputs: arguments.values("outputs"),
                    work_summary: arguments.maybe_text("work_summary"),
                    override_reason: arguments.maybe_text("quality_review_override_reason"),
                    session_id: String::new(),
                    agent_id: arguments.maybe_text("agent_id"),
                };
                let session = arguments.maybe_text("session_id");
                arguments.finish(tool)?;
                finish.session_id = session_given(session)?;
                let project = self.project(caller)?;
                let done = project.finished_step(finish)?;
                self.record(&project, &done, done.answer.feedback.as_deref(), caller);
                self.object(done.answer)
            }
            "abort_workflow" => {
                let explanation = arguments.text("explanation");
                let session = arguments.maybe_text("session_id");
                let agent = arguments.maybe_text("agent_id");
                arguments.finish(tool)?;
                let session = session_given(session)?;
                let project = self.project(caller)?;
                let done = project.abort_workflow(explanation, &session, agent.as_deref())?;
                self.record(&project, &done, None, caller);
                self.object(done.answer)
            }
            "go_to_step" => {
                let step = arguments.text("step_id");
                let session = arguments.maybe_text("session_id");
                let agent = arguments.maybe_text("agent_id");
                arguments.finish(tool)?;
                let session = session_given(session)?;
                let project = self.project(caller)?;
                let done = project.go_to_step(&step, &session, agent.as_deref())?;
                self.record(&project, &done, None, caller);
                self.object(done.answer)
            }
            "register_session_job" => {
                let name = arguments.text("job_name");
                let text = arguments.text("job_definition_yaml");
                let session = arguments.maybe_text("session_id");
                arguments.finish(tool)?;
                let session = session_given(session)?;
                self.session_job(self.project(caller)?.register_session_job(&name, &text, &session))
            }
            "get_session_job" => {
                let name = arguments.text("job_name");
                let session = arguments.maybe_text("session_id");
                arguments.finish(tool)?;
                let session = session_given(session)?;
                self.session_job(self.project(caller)?.get_session_job(&name, &session))
            }
            "get_review_instructions" => {
                let files = arguments.maybe_texts("files");
                arguments.finish(tool)?;
                let scope = files.map_or(Scope::Changed(None), Scope::Named);
                text(self.project(caller)?.review(scope, Sources::All).into_text())
            }
            "get_configured_reviews" => {
                let only = arguments.maybe_texts("only_rules_matching_files");
                arguments.finish(tool)?;
                list(self.project(caller)?.configured_reviews(only.as_deref()))
            }
            "mark_review_as_passed" => {
                let id = arguments.text("review_id");
                arguments.finish(tool)?;
                text(self.project(caller)?.mark_passed(&id))
            }
            "get_named_schemas" => {
                arguments.finish(tool)?;
                list(self.project(caller)?.schema_list())
            }
            other => {
                let names: Vec<String> = tools::tools().iter().map(|tool| format!("`{}`", tool.name)).collect();
                Err(NoAnswer::ToolError(format!("there is no tool `{other}`; the tools are {}", names.join(", "))))
            }
        }
    }

    /// Keeps the history, while the session is locked.
    fn record<T>(&self, project: &Project<'_>, done: &Done<T>, feedback: Option<&str>, caller: &Caller) {
        if let Some(recorder) = &self.recorder {
            let event = Event { run: &done.run, parent: done.parent.as_deref(), feedback, client: &caller.client };
            recorder.record(project, &event);
        }
    }

    fn project(&self, caller: &Caller) -> Result<Project<'_>, GuidedError> {
        Ok(self.guided.project(&caller.root)?.until(caller.stop.clone()))
    }

    /// An answer that is an object, with what was wrong at the start.
    fn object(&self, answer: impl Serialize) -> Outcome {
        let mut value = serde_json::to_value(answer).map_err(|error| NoAnswer::ToolError(error.to_string()))?;
        if let (Some(issue), Some(object)) = (&self.startup().issue, value.as_object_mut()) {
            object.insert("issue_detected".into(), json!(issue));
        }
        Ok(Reply::Complete { value, is_error: false })
    }

    fn session_job(&self, outcome: Result<impl Serialize, String>) -> Outcome {
        match outcome {
            Ok(answer) => self.object(answer),
            Err(error) => self.object(json!({ "error": error })),
        }
    }
}

type Outcome = Result<Reply, NoAnswer>;

/// Why a call has no answer of its tool.
enum NoAnswer {
    /// The caller made a mistake that its model can mend.
    ToolError(String),
    /// No session was named: an answer of its own kind, and never with `issue_detected`.
    NoSession,
}

impl From<GuidedError> for NoAnswer {
    fn from(error: GuidedError) -> Self {
        Self::ToolError(with_causes(&error))
    }
}

impl From<String> for NoAnswer {
    fn from(message: String) -> Self {
        Self::ToolError(message)
    }
}

fn session_given(session: Option<String>) -> Result<String, NoAnswer> {
    session.filter(|id| !id.is_empty()).ok_or(NoAnswer::NoSession)
}

fn text(text: String) -> Outcome {
    Ok(Reply::Plain { structured: Some(json!({ "result": text })), texts: vec![text], is_error: false })
}

fn list(items: Vec<impl Serialize>) -> Outcome {
    let value = serde_json::to_value(&items).map_err(|error| NoAnswer::ToolError(error.to_string()))?;
    let texts = if items.is_empty() { Vec::new() } else { vec![value.to_string()] };
    Ok(Reply::Plain { texts, structured: Some(json!({ "result": value })), is_error: false })
}

fn reply(outcome: Outcome) -> Reply {
    match outcome {
        Ok(reply) => reply,
        Err(NoAnswer::ToolError(message)) => Reply::Plain { texts: vec![message], structured: None, is_error: true },
        Err(NoAnswer::NoSession) => {
            let error = "session_id is required: pass `begin_step.session_id` of the answer of start_workflow, or \
                         CLAUDE_CODE_SESSION_ID of your startup context";
            Reply::Complete { value: json!({ "error": error }), is_error: false }
        }
    }
}

impl Family for GuidedServer {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    async fn instructions(&self) -> Option<String> {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || inner.startup().instructions.clone()).await.ok()
    }

    async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        Ok(tools::tools())
    }

    async fn call(&self, call: Call) -> Result<Reply, Fault> {
        let root = self.root_of(&call).await;
        let inner = Arc::clone(&self.inner);
        let cancelled = call.channel.cancelled().clone();
        let Call { tool, arguments, caller, .. } = call;
        let stop = Stop::default();
        let ends = StopsAtEnd(stop.clone());
        let caller = Caller { root, client: caller.client, stop };
        let mut work = tokio::task::spawn_blocking(move || reply(inner.call(&tool, arguments, &caller)));
        let done = tokio::select! {
            done = &mut work => done,
            () = cancelled.cancelled() => {
                drop(ends);
                work.await
            }
        };
        done.map_err(|error| Fault::Internal(format!("the call could not be handled: {error}")))
    }

    fn crashed(&self, tool: &str) -> Reply {
        reply(Err(NoAnswer::ToolError(format!("the server failed while it handled `{tool}`"))))
    }

    fn offers_prompts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_this_machine_are_roots() {
        let folder = tempfile::tempdir().expect("a folder");
        let blank = folder.path().join("a b");
        std::fs::create_dir(&blank).expect("made");
        let uri = format!("file://{}", blank.display()).replace(' ', "%20");
        assert_eq!(file_root(&uri), Some(blank.clone()));
        assert_eq!(file_root(&uri.replace("file://", "file://localhost")), Some(blank));
        for other in
            ["http://example.com/", "file://host/tmp", "file:///no/such/folder", "file://relative", "file://%ff"]
        {
            assert_eq!(file_root(other), None, "{other}");
        }
    }
}
