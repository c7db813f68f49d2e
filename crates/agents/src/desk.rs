//! One run's agents: the queue, what became of each, and events in pairs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::queue::{Queue, Slot};
use crate::{Capabilities, Child, ChildResult, Fault, Provider, RETRIES, Request, Schema, StopReason, Usage};

/// The most children that `retries` may start after one that failed.
const MOST_RETRIES: u64 = 10;

/// What is told of a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The number of its call.
    pub seq: u64,
    /// What a person sees.
    pub label: String,
    /// The part of the run it is shown in.
    pub phase: Option<String>,
    /// Its name at the provider.
    pub child: String,
}

/// How a child ended, as far as watchers are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberOutcome {
    /// With a result.
    Completed,
    /// Without one.
    Failed,
    /// With the run.
    Cancelled,
}

impl MemberOutcome {
    /// Its word in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What watchers are told. Each start is followed by exactly one end with the same member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberEvent {
    /// A child exists.
    Started(Member),
    /// It has ended.
    Ended(Member, MemberOutcome),
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEnd {
    /// A result: text, or what fits the schema.
    Completed {
        /// The result.
        value: Value,
        /// Tokens the child used.
        usage: Usage,
    },
    /// No result.
    Failed {
        /// Why, in one sentence.
        reason: String,
        /// Tokens the child used.
        usage: Usage,
    },
    /// The run was cancelled meanwhile.
    Cancelled,
    /// The child could not be started.
    StartRefused(String),
    /// The provider broke after the start.
    Fault(String),
}

type Watcher = Arc<dyn Fn(MemberEvent) + Send + Sync>;

/// The agents of one run. Cheap to clone.
#[derive(Clone)]
pub struct Desk {
    provider: Arc<dyn Provider>,
    queue: Queue,
    stop: CancellationToken,
    watcher: Watcher,
    grace: Duration,
    accepted: Arc<AtomicU64>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Desk").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl Desk {
    /// Opens the desk of a run. `at_once` children run side by side; 0 means [`Desk::usual`]. A child has `grace` to
    /// end after the run was cancelled.
    pub fn new(
        provider: Arc<dyn Provider>,
        at_once: usize,
        grace: Duration,
        watcher: impl Fn(MemberEvent) + Send + Sync + 'static,
    ) -> Self {
        let slots = if at_once == 0 { Self::usual() } else { at_once };
        Self {
            provider,
            queue: Queue::new(slots),
            stop: CancellationToken::new(),
            watcher: Arc::new(watcher),
            grace,
            accepted: Arc::new(AtomicU64::new(0)),
        }
    }

    /// How many children run side by side unless a run says otherwise: one for each processor, 4 to 16.
    #[must_use]
    pub fn usual() -> usize {
        std::thread::available_parallelism().map_or(4, std::num::NonZero::get).clamp(4, 16)
    }

    /// What the run's provider can do, and the desk for it.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        self.provider.capabilities().honouring(RETRIES)
    }

    /// Tells whether the run's provider can use a model by this name.
    #[must_use]
    pub fn knows_model(&self, name: &str) -> bool {
        self.provider.knows_model(name)
    }

    /// Tells whether the run's provider knows a kind of agent by name, in a project's folder.
    #[must_use]
    pub fn knows_agent_type(&self, name: &str, folder: &Path) -> bool {
        self.provider.knows_agent_type(name, folder)
    }

    /// How many calls were accepted here.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Ends all children; none is started any more, and whoever waits in the line is told.
    pub fn cancel(&self) {
        self.stop.cancel();
    }

    /// Accepts a call. Its place in the line is taken at once; what it gives is to be awaited, and ends the child with
    /// it when it is dropped.
    pub fn submit(&self, request: Request) -> impl Future<Output = AgentEnd> + Send + 'static {
        self.accepted.fetch_add(1, Ordering::SeqCst);
        let ticket = self.queue.ask();
        let desk = self.clone();
        async move {
            let slot = tokio::select! {
                biased;
                () = desk.stop.cancelled() => return AgentEnd::Cancelled,
                slot = ticket.slot() => slot,
            };
            desk.serve(request, slot).await
        }
    }

    /// Sees one call through: one child, and others after it where the call asks for that and it failed. The slot covers
    /// their start, their work and their end.
    async fn serve(&self, mut request: Request, _slot: Option<Slot>) -> AgentEnd {
        let retries = request.options.shift_remove(RETRIES).and_then(|retries| retries.as_u64()).unwrap_or(0);
        let mut spent = Usage::default();
        for _ in 0..retries.min(MOST_RETRIES) {
            match self.serve_one(request.clone()).await {
                AgentEnd::Failed { usage, .. } => spent = spent.plus(usage),
                AgentEnd::Fault(_) => {}
                end => return end.after(spent),
            }
        }
        self.serve_one(request).await.after(spent)
    }

    /// Sees one child through.
    async fn serve_one(&self, request: Request) -> AgentEnd {
        let schema = match request.schema.as_ref().map(Schema::new).transpose() {
            Ok(schema) => schema,
            Err(error) => return AgentEnd::StartRefused(error.to_string()),
        };
        let capabilities = self.provider.capabilities();
        if schema.is_some() && !capabilities.schema {
            return AgentEnd::StartRefused(format!(
                "the provider `{}` gives no structured results",
                self.provider.name()
            ));
        }
        if let Some(option) = request.options.keys().find(|option| !capabilities.options.contains(option)) {
            return AgentEnd::StartRefused(format!("the provider `{}` has no option `{option}`", self.provider.name()));
        }
        let mut member = Member {
            seq: request.seq,
            label: request.label.clone(),
            phase: request.phase.clone(),
            child: String::new(),
        };
        let stop = self.stop.child_token();
        let started = tokio::select! {
            biased;
            () = self.stop.cancelled() => return AgentEnd::Cancelled,
            started = self.provider.start(request, stop) => started,
        };
        let Child { id, result } = match started {
            Ok(child) => child,
            Err(refused) => return AgentEnd::StartRefused(refused.0),
        };
        member.child = id;
        let mut pair = Pair::open(Arc::clone(&self.watcher), member);
        let mut result = result;
        let ended = tokio::select! {
            biased;
            () = self.stop.cancelled() => {
                // It has ended by itself within the grace, or ends with its future.
                let _ = tokio::time::timeout(self.grace, &mut result).await;
                return AgentEnd::Cancelled;
            }
            ended = &mut result => ended,
        };
        drop(result);
        let end = judge(ended, schema.as_ref());
        pair.outcome = match end {
            AgentEnd::Completed { .. } => MemberOutcome::Completed,
            AgentEnd::Cancelled => MemberOutcome::Cancelled,
            AgentEnd::Failed { .. } | AgentEnd::Fault(_) | AgentEnd::StartRefused(_) => MemberOutcome::Failed,
        };
        end
    }
}

/// Turns a child's result into what the call gives. What the provider says fits a schema is checked all the same.
fn judge(ended: Result<ChildResult, Fault>, schema: Option<&Schema>) -> AgentEnd {
    let result = match ended {
        Ok(result) => result,
        Err(fault) => return AgentEnd::Fault(fault.0),
    };
    let usage = result.usage;
    let failed = |reason: String| AgentEnd::Failed { reason, usage };
    if let StopReason::Other(word) = &result.stop {
        return failed(match &result.diagnostic {
            Some(diagnostic) => format!("{word}: {diagnostic}"),
            None => word.clone(),
        });
    }
    let Some(schema) = schema else {
        return AgentEnd::Completed { value: Value::String(result.text), usage };
    };
    let Some(value) = result.structured else {
        return failed(result.diagnostic.unwrap_or_else(|| "it gave no structured result".into()));
    };
    match schema.violations(&value).as_slice() {
        [] => AgentEnd::Completed { value, usage },
        violations => failed(format!("its result does not fit the schema: {}", violations.join("; "))),
    }
}

/// Tells the start at once, and the end whatever happens.
struct Pair {
    watcher: Watcher,
    member: Member,
    outcome: MemberOutcome,
}

impl Pair {
    fn open(watcher: Watcher, member: Member) -> Self {
        watcher(MemberEvent::Started(member.clone()));
        Self { watcher, member, outcome: MemberOutcome::Cancelled }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        (self.watcher)(MemberEvent::Ended(self.member.clone(), self.outcome));
    }
}

impl AgentEnd {
    /// Counts what earlier children of the same call used.
    fn after(self, spent: Usage) -> Self {
        match self {
            Self::Completed { value, usage } => Self::Completed { value, usage: spent.plus(usage) },
            Self::Failed { reason, usage } => Self::Failed { reason, usage: spent.plus(usage) },
            end => end,
        }
    }

    /// What the script's call gets: `{value, reason?, inputTokens?, outputTokens?}`, or a code and a sentence. By the
    /// strict contract a child that could not be started and a broken provider are errors; otherwise they are a `null`
    /// with its reason.
    ///
    /// # Errors
    ///
    /// A cancelled run's always.
    pub fn answer(self, strict: bool) -> Result<Value, (&'static str, String)> {
        let answer = |value: Value, reason: Option<String>, usage: Usage| {
            let mut answer = serde_json::Map::new();
            answer.insert("value".into(), value);
            if let Some(reason) = reason {
                answer.insert("reason".into(), reason.into());
            }
            if let Some(tokens) = usage.input_tokens {
                answer.insert("inputTokens".into(), tokens.into());
            }
            if let Some(tokens) = usage.output_tokens {
                answer.insert("outputTokens".into(), tokens.into());
            }
            Ok(Value::Object(answer))
        };
        let null = |reason: String| answer(Value::Null, Some(reason), Usage::default());
        match self {
            Self::Completed { value, usage } => answer(value, None, usage),
            Self::Failed { reason, usage } => answer(Value::Null, Some(reason), usage),
            Self::Cancelled => Err(("CANCELLED", "the run is cancelled".into())),
            Self::StartRefused(why) if strict => {
                Err(("AGENT_START", format!("agent() could not start a child: {why}")))
            }
            Self::Fault(why) if strict => Err(("AGENT_RESULT", format!("child agent run failed: {why}"))),
            Self::StartRefused(why) => null(format!("it could not be started: {why}")),
            Self::Fault(why) => null(format!("its provider broke: {why}")),
        }
    }
}
