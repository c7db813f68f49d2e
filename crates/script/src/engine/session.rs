//! One run on the engine's thread: load, start, then drain and deliver until it ends.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use model::{ErrorCode, RunError};
use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Module, Object, Persistent, Runtime, Value};

use super::Purpose;
use super::bridge;
use super::failure::Thrown;
use super::loader::{Access, Library};
use super::memory::Bounded;
use super::replay::Next;
use super::shared::{Shared, Slice, ToHost};
use crate::modules::{Graph, Shelf};
use crate::source::{LineMap, compile_body, compile_module, compile_script};
use crate::{
    Control, Delivery, HostError, Job, JobKind, ModuleSource, Narration, Outcome, SourceError, SourceErrorCode,
    Sources, Stream,
};

/// Rejections that may lie unhandled at a time; a script with more has lost count itself.
const REJECTIONS: usize = 1_000;

/// Bytes of scripts for `workflow()` that are kept with a run from its beginning.
const SIBLING_BYTES: usize = 8 * 1024 * 1024;

/// Rejected promises that nobody handles yet, with the reasons.
type Rejections = Rc<RefCell<Vec<(Persistent<Value<'static>>, Persistent<Value<'static>>)>>>;

/// Runs the job and says how it ended as the last message.
pub(super) fn run(
    purpose: Purpose,
    job: &Job,
    control: Arc<Control>,
    to_host: SyncSender<ToHost>,
    deliveries: Receiver<Delivery>,
) {
    let shared = Rc::new(Shared::new(job, control, to_host));
    let outcome = match load(job) {
        Ok(loaded) => start(purpose, job, &shared, loaded, &deliveries),
        Err(error) => Outcome::Failed(source_error(job.kind, &error)),
    };
    shared.end_nodes(&outcome);
    shared.send(ToHost::End(outcome, shared.tally.get()));
}

/// A source that is refused. `data.code` tells whether it was its `meta` or its text.
fn source_error(kind: JobKind, error: &SourceError) -> RunError {
    let text = match kind {
        JobKind::Module | JobKind::Script => error.to_string(),
        JobKind::Body => error.message.clone(),
    };
    let message = super::failure::one_line(&text);
    let mut refused = RunError::new(ErrorCode::ScriptError, message.clone());
    if message != text {
        refused = refused.with_cause(text);
    }
    match (kind, error.code) {
        (JobKind::Module, _) => {}
        (JobKind::Script | JobKind::Body, SourceErrorCode::Meta) => {
            refused.data = Some(serde_json::json!({ "code": "META_INVALID" }));
        }
        (JobKind::Script | JobKind::Body, _) => {
            refused.data = Some(serde_json::json!({ "code": "SCRIPT_PARSE" }));
        }
    }
    refused
}

/// What is to be executed.
struct Loaded {
    library: Library,
    /// A script's code; a module's is in the library.
    script: Option<String>,
    sources: Vec<ModuleSource>,
    notes: Vec<crate::Note>,
}

fn load(job: &Job) -> Result<Loaded, SourceError> {
    let shelf = Shelf::new(&job.root, &job.sources);
    let text = shelf.read(&job.file)?;
    match job.kind {
        JobKind::Module => {
            let compiled = compile_module(&job.file, &text, false)?;
            let graph = Graph::load(&shelf, &job.file, text, compiled)?;
            let sources = graph.sources.clone();
            Ok(Loaded { library: Library::new(job, graph, None), script: None, sources, notes: Vec::new() })
        }
        JobKind::Script => {
            let compiled = compile_script(&job.file, &text)?;
            let map: Option<LineMap> = compiled.map.clone();
            Ok(Loaded {
                library: Library::new(job, Graph::default(), Some(map)),
                script: Some(compiled.wrapped()),
                sources: vec![ModuleSource::new(&job.file, text)],
                notes: compiled.meta.notes,
            })
        }
        JobKind::Body => {
            crate::meta::read_strict(job.meta.as_ref().unwrap_or(&serde_json::Value::Null)).map_err(|message| {
                SourceError { code: SourceErrorCode::Meta, message, file: job.file.clone(), line: None, column: None }
            })?;
            let compiled = compile_body(&job.file, &text)?;
            Ok(Loaded {
                library: Library::new(job, Graph::default(), Some(compiled.map.clone())),
                script: Some(compiled.wrapped()),
                sources: vec![ModuleSource::new(&job.file, text)],
                notes: Vec::new(),
            })
        }
    }
}

/// The scripts that `workflow()` may run, as they are when a run begins: what it comes to later, perhaps after a resume,
/// is then what its author saw. What cannot be read, or is too much, is read when it is asked for.
fn siblings(job: &Job) -> Vec<ModuleSource> {
    if job.sources != Sources::Disk {
        return Vec::new();
    }
    let shelf = Shelf::new(&job.root, &job.sources);
    let files: BTreeSet<&String> = job.workflows.values().filter(|file| **file != job.file).collect();
    let mut room = SIBLING_BYTES;
    files
        .into_iter()
        .filter_map(|file| Some(ModuleSource::new(file, shelf.read(file).ok()?)))
        .take_while(|source| {
            let fits = source.text.len() <= room;
            room = room.saturating_sub(source.text.len());
            fits
        })
        .collect()
}

/// Makes the engine and executes what was loaded.
fn start(purpose: Purpose, job: &Job, shared: &Rc<Shared>, loaded: Loaded, deliveries: &Receiver<Delivery>) -> Outcome {
    shared.send(ToHost::Loaded(loaded.sources));
    let siblings = siblings(job);
    if !siblings.is_empty() {
        // By themselves: what keeps one of them from being kept is nothing to the run's own code.
        shared.send(ToHost::Loaded(siblings));
    }
    for note in loaded.notes {
        shared.narrate(Narration::Note(note));
    }
    let access = Access { library: Rc::new(RefCell::new(loaded.library)), shared: Rc::clone(shared) };
    let made = Runtime::new_with_alloc(Bounded::new(Rc::clone(&shared.gauge)))
        .and_then(|runtime| Ok((prepare(&runtime, job, &access), Context::full(&runtime)?, runtime)));
    let Ok((rejections, context, runtime)) = made else {
        return shared.ending().unwrap_or_else(|| fault("it could not be started"));
    };
    let outcome = context.with(|ctx| {
        let outcome = match Session::open(&ctx, job, &access, Rc::clone(&rejections)) {
            Ok(session) => {
                shared.gauge.limit.set(usize::try_from(job.memory_bytes).unwrap_or(usize::MAX));
                session.run(purpose, loaded.script.as_deref(), deliveries)
            }
            Err(_) => shared.ending().unwrap_or_else(|| fault("its prelude could not be executed")),
        };
        // Handles must not outlive the engine.
        rejections.borrow_mut().clear();
        outcome
    });
    // A run's process ends with it, so nothing is gained by taking a heap of any size apart, and after an interrupt or
    // a lack of memory it is not in a state to rely on.
    std::mem::forget((context, runtime));
    outcome
}

fn fault(what: &str) -> Outcome {
    Outcome::Failed(RunError::new(ErrorCode::ScriptError, format!("the script engine failed: {what}")))
}

/// Sets limits and callbacks, before any script byte.
fn prepare(runtime: &Runtime, job: &Job, access: &Access) -> Rejections {
    // None at all would mean no bound, and the thread has one.
    runtime.set_max_stack_size(job.stack_bytes.clamp(64 * 1024, crate::thread::STACK_BYTES / 4));
    let shared = Rc::clone(&access.shared);
    runtime.set_interrupt_handler(Some(Box::new(move || shared.must_stop())));
    runtime.set_loader(access.clone(), access.clone());
    let rejections = Rejections::default();
    let kept = Rc::clone(&rejections);
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
        let promise = Persistent::save(&ctx, promise);
        // A list is enough: it is empty nearly always, and bounded.
        let mut rejections = kept.borrow_mut();
        if handled {
            rejections.retain(|(known, _)| *known != promise);
        } else if rejections.len() < REJECTIONS {
            rejections.push((promise, Persistent::save(&ctx, reason)));
        }
    })));
    rejections
}

/// A run that is going on.
struct Session<'js, 'a> {
    ctx: Ctx<'js>,
    job: &'a Job,
    access: Access,
    rejections: Rejections,
    /// Hands a delivery to the script.
    deliver: Function<'js>,
    describe: Function<'js>,
    is_ours: Function<'js>,
    /// What the prelude gave.
    prelude: Object<'js>,
}

impl<'js, 'a> Session<'js, 'a> {
    fn open(ctx: &Ctx<'js>, job: &'a Job, access: &Access, rejections: Rejections) -> rquickjs::Result<Self> {
        let settings = Object::new(ctx.clone())?;
        settings.set(
            "kind",
            match job.kind {
                JobKind::Module => "module",
                JobKind::Script => "script",
                JobKind::Body => "body",
            },
        )?;
        if let Some(options) = &job.agent_options {
            settings.set("agentOptions", options.clone())?;
        }
        settings.set("file", job.file.as_str())?;
        settings.set("root", job.root.to_string_lossy().as_ref())?;
        settings.set("argsVerbatim", job.args_verbatim)?;
        #[expect(clippy::cast_precision_loss, reason = "caps that matter are far below 2^53")]
        {
            settings.set("maxAgents", job.max_agents as f64)?;
            settings.set("maxItems", job.max_items as f64)?;
            settings.set("maxTokens", job.max_tokens.map(|tokens| tokens as f64))?;
        }
        if let Some(input) = &job.input {
            settings.set("input", input.to_string())?;
        }
        let native = bridge::primitives(ctx, access)?;
        let prelude: Object<'js> = super::prelude::load(ctx)?.call((native, settings))?;
        Ok(Self {
            ctx: ctx.clone(),
            job,
            access: access.clone(),
            rejections,
            deliver: prelude.get("deliver")?,
            describe: prelude.get("describe")?,
            is_ours: prelude.get("isOurs")?,
            prelude,
        })
    }

    fn shared(&self) -> &Shared {
        &self.access.shared
    }

    fn run(&self, purpose: Purpose, script: Option<&str>, deliveries: &Receiver<Delivery>) -> Outcome {
        if self.job.input.as_ref().is_some_and(|input| !crate::json::fits(input)) {
            return failed("the input is nested too deeply".into());
        }
        if let Some(outcome) = self.shared().ending() {
            // Stopped before it began: nothing of it runs.
            return outcome;
        }
        let started = match script {
            None => self.start_module(purpose),
            Some(code) => self.shared().in_slice(Slice::First, || self.start_script(purpose, code)),
        };
        if let Err(error) = started.catch(&self.ctx) {
            self.fail_with(error);
        } else if purpose == Purpose::Compile {
            return self.shared().ending().unwrap_or(Outcome::Success(serde_json::Value::Null));
        }
        loop {
            self.shared().in_slice(Slice::Later, || self.drain());
            if let Some(outcome) = self.settled() {
                return outcome;
            }
            if let Some(outcome) = self.deliver_next(deliveries) {
                // What the run was stopped for from outside wins over what follows from it.
                return self.shared().ending().unwrap_or(outcome);
            }
        }
    }

    fn start_module(&self, purpose: Purpose) -> rquickjs::Result<()> {
        let file = self.job.file.as_str();
        let code = self.access.library.borrow().code(file).unwrap_or_default();
        let declared = Module::declare(self.ctx.clone(), file, code)?;
        let begin = match purpose {
            Purpose::Compile => return Ok(()),
            Purpose::Run => "module",
            Purpose::Declaration => "declaration",
        };
        let (module, loaded) = declared.eval()?;
        self.prelude.get::<_, Function<'js>>(begin)?.call::<_, Value<'js>>((loaded, module.namespace()?)).map(drop)
    }

    fn start_script(&self, purpose: Purpose, code: &str) -> rquickjs::Result<()> {
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(self.job.file.clone());
        let body: Function<'js> = self.ctx.eval_with_options(code, options)?;
        match purpose {
            // A script declares itself by its literal `meta` alone.
            Purpose::Compile | Purpose::Declaration => Ok(()),
            Purpose::Run => self.prelude.get::<_, Function<'js>>("script")?.call::<_, Value<'js>>((body,)).map(drop),
        }
    }

    /// Ends the run with an exception that came out of the engine itself.
    fn fail_with(&self, error: CaughtError<'js>) {
        let thrown = match error {
            CaughtError::Exception(exception) => self.describe(exception.into_value()),
            CaughtError::Value(value) => self.describe(value),
            CaughtError::Error(error) => Thrown { message: error.to_string(), ..Thrown::default() },
        };
        // An interrupt or a lack of memory throws as well, and is what counts then.
        if self.shared().ending().is_none() {
            self.shared().end(Outcome::Failed(thrown.into_error()));
        }
    }

    fn describe(&self, value: Value<'js>) -> Thrown {
        Thrown::of(&self.ctx, &self.describe, value)
    }

    /// Executes what is queued until nothing is, or the run must stop.
    fn drain(&self) {
        // Chains of `await` never leave the queue empty, and an interrupted job leaves no trace: so look each time.
        while !self.shared().must_stop() && self.shared().finished.borrow().is_none() {
            if !self.ctx.execute_pending_job() {
                break;
            }
        }
    }

    /// Returns how the run ended, if it has.
    fn settled(&self) -> Option<Outcome> {
        let finished = self.shared().finished.borrow_mut().take();
        if let Some(outcome) = self.shared().ending() {
            return Some(self.checked(outcome));
        }
        if let Some(fault) = self.judge_rejections(finished.is_some()) {
            return Some(self.checked(fault));
        }
        finished.map(|value| self.checked(Outcome::Success(value)))
    }

    /// Lets an outcome of the script's own stand only if all that was recorded has happened again.
    fn checked(&self, outcome: Outcome) -> Outcome {
        match &outcome {
            Outcome::Success(_) | Outcome::Failed(_) => {}
            Outcome::Cancelled { .. } | Outcome::TimedOut | Outcome::Suspended => return outcome,
        }
        let diverged = match &outcome {
            Outcome::Failed(error) if error.code == ErrorCode::MemoryLimit => Ok(()),
            _ => self.shared().replay.borrow().check_complete(),
        };
        match diverged {
            Ok(()) => outcome,
            Err(diverged) => {
                let shared = self.shared();
                match shared.ending() {
                    Some(Outcome::Failed(error)) if error.code == ErrorCode::ReplayDiverged => outcome,
                    _ => super::shared::divergence(diverged),
                }
            }
        }
    }

    /// Looks at rejections that nobody has handled, now that the queue is empty.
    ///
    /// A module's own end the run. Those of host calls may still be awaited later, and are told when the run ends; so
    /// are all of a script's, where dropped promises are common.
    fn judge_rejections(&self, finished: bool) -> Option<Outcome> {
        if self.rejections.borrow().is_empty() {
            return None;
        }
        let kept = std::mem::take(&mut *self.rejections.borrow_mut());
        let mut later = Vec::new();
        let mut told = BTreeSet::new();
        for (promise, reason) in kept {
            let Ok(value) = reason.clone().restore(&self.ctx) else { continue };
            let ours = self.is_ours.call::<_, bool>((value.clone(),)).unwrap_or(false);
            if self.job.kind != JobKind::Script && !ours {
                let mut error = self.describe(value).into_error();
                error.message = super::failure::one_line(&format!("unhandled rejection: {}", error.message));
                return Some(Outcome::Failed(error));
            }
            if finished && self.job.kind == JobKind::Script {
                let message = self.describe(value).into_error().message;
                if told.insert(message.clone()) {
                    let text = format!("nobody awaited what failed: {message}");
                    let note = crate::meta::note("unhandled-rejection", Some(&message), text);
                    self.shared().narrate(Narration::Note(note));
                }
            } else if finished {
                let error = self.describe(value).into_error();
                self.shared().narrate(Narration::Log {
                    stream: Stream::Stderr,
                    text: format!("nobody awaited what failed: {}", error.message),
                    data: None,
                    goes_on: false,
                });
            } else {
                later.push((promise, reason));
            }
        }
        self.rejections.borrow_mut().extend(later);
        None
    }

    /// Hands over what comes next; gives how the run ends, if it does.
    fn deliver_next(&self, deliveries: &Receiver<Delivery>) -> Option<Outcome> {
        let shared = self.shared();
        let next = shared.replay.borrow_mut().next();
        match next {
            Err(diverged) => Some(super::shared::divergence(diverged)),
            Ok(Next::Recorded(recorded)) => {
                shared.advance_clock(recorded.at);
                self.hand_over(recorded.seq, recorded.outcome)
            }
            Ok(Next::Live(start)) => {
                for call in start {
                    shared.send(ToHost::Issue(call));
                }
                // By the strict contract a script may wait for ever: only cancelling ends it.
                if self.job.kind != JobKind::Body && !shared.replay.borrow().waits() {
                    return Some(failed(
                        "the script waits for a promise that nothing will settle: no call of it is open any more"
                            .into(),
                    ));
                }
                shared.send(ToHost::Next);
                match deliveries.recv() {
                    Ok(Delivery::Done { seq, at, outcome }) => {
                        // A number that nobody waits for (a cleared timer, a reply sent twice) means nothing.
                        if shared.replay.borrow_mut().done(seq) {
                            shared.advance_clock(at);
                            return self.hand_over(seq, outcome);
                        }
                        None
                    }
                    Ok(Delivery::Cancelled { reason }) => Some(Outcome::Cancelled { reason }),
                    Ok(Delivery::TimedOut) => Some(Outcome::TimedOut),
                    Ok(Delivery::Suspend) => Some(Outcome::Suspended),
                    Err(_) => Some(Outcome::Cancelled { reason: "the host is gone".into() }),
                }
            }
        }
    }

    fn hand_over(&self, seq: u64, outcome: Result<serde_json::Value, HostError>) -> Option<Outcome> {
        #[expect(clippy::cast_precision_loss, reason = "no run makes 2^53 calls")]
        let number = seq as f64;
        let delivered = match outcome {
            Ok(value) if crate::json::fits(&value) => {
                self.deliver.call::<_, ()>((number, true, value.to_string(), "", ""))
            }
            Ok(_) => self.deliver.call::<_, ()>((
                number,
                false,
                None::<String>,
                "RESULT_UNSERIALIZABLE",
                "the result of the call is nested too deeply",
            )),
            Err(error) if error.fatal => {
                let mut failure = Thrown { message: error.message, code: error.code, ..Thrown::default() }.into_error();
                failure.data = error.data;
                return Some(Outcome::Failed(failure));
            }
            Err(error) => {
                let data = error.data.filter(crate::json::fits).map(|data| data.to_string());
                self.deliver.call::<_, ()>((number, false, data, error.code, error.message))
            }
        };
        if let Err(error) = delivered.catch(&self.ctx) {
            self.fail_with(error);
        }
        None
    }
}

fn failed(message: String) -> Outcome {
    Outcome::Failed(RunError::new(ErrorCode::ScriptError, message))
}
