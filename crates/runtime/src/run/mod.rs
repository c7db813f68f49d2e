//! One run, from its worker's start to its recorded end.
//!
//! Whatever happens is handled here in one place, one thing at a time: what the worker says, the results of its host
//! calls, answers, the clock, a wish to cancel. A state is recorded before anyone is told of it.
//!
//! Here: the life of a run in one or several legs (a leg is one worker process); `running`, what of it is in hand;
//! `questions`, `nodes` and `end`, its parts.

mod clock;
mod end;
mod exec;
mod nodes;
mod questions;
mod running;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{
    CancelReason, CreatedFile, EntrypointSource, Envelope, ErrorCode, InteractionKind, Limits, Node, Pending, Report,
    RunCaps, RunError, RunId, RunStatus,
};
use script::{CallKind, HostCall, HostError, Job, JobKind, JournalRow, Sources};
use serde_json::Value;
use store::{Finish, Lease, Masker, Question, RunRecord, Store, Told};
use tokio::sync::{Notify, OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

use crate::agents::{Crew, CrewNews};
use crate::connection::Connection;
use crate::executor::{CancelSwitch, Commands, Executor, Parking, RunRequest, Shared, blocking};
use crate::host_calls::HostContext;
use crate::kept::Kept;
use crate::protocol::{CommandJob, FromWorker, Outcome, ToWorker};
use crate::related::{ChildControl, ChildNews};
use crate::supervisor::Worker;

use clock::RunClock;
pub use end::envelope_status;
use end::{End, Ending, waiting_error};
use nodes::Nodes;
pub use questions::Asked;
use questions::{Asker, Open};
pub(crate) use running::Results;
use running::{Moved, Running, Stop, Surroundings};

/// Events that may wait for a listener; more of them overtake each other.
pub(crate) const WAITING_EVENTS: usize = 256;

/// After a polite word, how long a worker may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// The same when the client is gone.
const GRACE_GONE: Duration = Duration::from_millis(150);

/// Bytes of output after which it is recorded at once.
const LOG_BATCH: usize = 64 * 1024;

/// Results of host calls that are committed together at most.
const TOGETHER: usize = 64;

/// How often what a run wrote and the state of its nodes are recorded while it runs.
const RECORD: Duration = Duration::from_millis(100);

/// How long whoever answered a run may take to take it up.
const TAKEN_UP: Duration = Duration::from_secs(5);

/// How often an open question is looked at, since anybody may answer it.
const LOOK: Duration = Duration::from_millis(50);

/// What happens in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// A part begins, or something was said about how far it is.
    Progress {
        /// What is done; absent when only the message is news.
        done: Option<f64>,
        /// What there is to do.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// The project wrote something, masked.
    Output {
        /// To standard error rather than standard output.
        error: bool,
        /// What it wrote, without the last line end.
        text: String,
    },
    /// A person has to answer. Whoever listens answers, or parks the run.
    Question(Asked),
    /// A question was answered, by whomever.
    Answered {
        /// The question.
        number: u64,
    },
}

/// What a run had done when it is taken up again.
#[derive(Debug, Default)]
pub(crate) struct Past {
    pub(crate) journal: Vec<JournalRow>,
    pub(crate) sources: Option<BTreeMap<String, String>>,
    pub(crate) questions: Vec<Question>,
    /// Related runs, by the calls that started them.
    pub(crate) children: HashMap<u64, RunId>,
    /// Calls that were begun and never done.
    pub(crate) unfinished: HashSet<u64>,
    /// Questions whose leave was used.
    pub(crate) leave_used: HashSet<u64>,
    pub(crate) nodes: Vec<Node>,
    /// How agents ended, by their nodes.
    pub(crate) members: HashMap<u64, Value>,
    /// Set when one agent of the run is asked again.
    pub(crate) retry: Option<Retry>,
    pub(crate) files: Vec<CreatedFile>,
    /// How long it had worked.
    pub(crate) spent: Duration,
    /// How much it had told.
    pub(crate) told: Told,
    pub(crate) resumed: bool,
}

impl Past {
    /// The past of a run that begins.
    pub(crate) fn none() -> Self {
        Self { told: Told { narrated: Some(0), said: None }, ..Self::default() }
    }
}

/// One agent is asked again, and other results are kept for calls that come up again.
#[derive(Debug, Default)]
pub(crate) struct Retry {
    /// The agent's call; it is made again whatever is kept.
    pub(crate) seq: u64,
    /// Its node.
    pub(crate) node: Option<u64>,
    /// What other calls had come to.
    pub(crate) kept: Kept,
}

/// How one worker's part in a run ended.
enum LegEnd {
    /// The run is over.
    Over(End),
    /// The run waits for a person, and nobody here can answer.
    Parked(Parking, Open),
    /// A command was answered, and is started again.
    Again(Value),
    /// Another process has the run.
    Lost,
}

/// A run with all it needs.
#[derive(Debug)]
pub(crate) struct Drive {
    shared: Arc<Shared>,
    request: RunRequest,
    host: Arc<HostContext>,
    past: Past,
}

impl Drive {
    pub(crate) fn new(shared: Arc<Shared>, request: RunRequest, host: HostContext, past: Past) -> Self {
        Self { shared, request, host: Arc::new(host), past }
    }

    /// The store, with this run's secrets masked.
    pub(crate) fn store(&self) -> Store {
        self.shared.store.masked(self.host.masker())
    }

    /// Ends a run that was cancelled before it had a place.
    pub(crate) async fn cancelled_in_queue(self, lease: Lease, switch: CancelSwitch) -> Envelope {
        let reason = tokio::select! {
            biased;
            reason = switch.cancelled() => reason,
            () = self.shared.ending.cancelled() => CancelReason::ClientGone,
        };
        self.record_end(&self.store(), &lease, End::cancelled(reason), Vec::new(), Vec::new()).await
    }

    /// Runs it until it has ended, waits for a person where nobody answers, or is somebody else's.
    pub(crate) async fn run(
        mut self,
        lease: Lease,
        place: OwnedSemaphorePermit,
        events: mpsc::Sender<RunEvent>,
        switch: CancelSwitch,
        mut commands: Commands,
    ) -> Envelope {
        let mut past = std::mem::take(&mut self.past);
        let again = past.retry.as_ref().map(|retry| retry.seq);
        let kept = past.retry.as_mut().map(|retry| std::mem::take(&mut retry.kept)).unwrap_or_default();
        let (news, mut family) = mpsc::unbounded_channel();
        // Counted before the masker is made: what comes between is masked later, and never not at all.
        let masked = self.host.known_secrets();
        let store = self.store();
        let mut running = Running {
            store: store.clone(),
            lease: lease.clone(),
            host: Arc::clone(&self.host),
            events,
            nodes: match &past.retry {
                Some(retry) => Nodes::retried(past.nodes.clone(), past.members.clone(), retry.node),
                None => Nodes::resumed(past.nodes.clone(), past.members.clone()),
            },
            logs: store.log_writer(&lease),
            unrecorded: false,
            said: past.told.said,
            unsaid: false,
            narrated: past.told.narrated,
            files: past.files.clone(),
            open: Vec::new(),
            asked_before: past.questions.clone(),
            masked,
            in_flight: 0,
            waiting: false,
            outbox: Vec::new(),
            begun: past.unfinished.clone(),
            leave_used: past.leave_used.clone(),
            programs: HashMap::new(),
            children: HashMap::new(),
            children_before: past.children.clone(),
            news,
            crew: Crew::new(&self.request.project, &self.host, self.is_strict()),
            noted: HashSet::new(),
            again,
            kept,
            context: Surroundings {
                executor: Executor::of(&self.shared),
                project: Arc::clone(&self.request.project),
                ancestry: self.request.ancestry.clone(),
            },
        };
        let mut clock = RunClock::new(self.time_limit(), past.spent);
        let mut answer: Option<Value> = None;
        let mut end = match self.begin(&mut running).await {
            Ok(()) => None,
            Err(stop) => Some(stopped(stop)),
        };
        if end.is_none() && past.resumed {
            // A command that asked before goes on with its answer, or asks again.
            end = self.take_up_command(&mut running, &past, &mut answer, &switch, &mut commands).await;
        }
        let end = loop {
            let leg = match end.take() {
                Some(end) => end,
                None => {
                    clock.go_on();
                    let leg = self
                        .leg(&mut running, &past, answer.take(), &mut clock, &switch, &mut commands, &mut family)
                        .await;
                    clock.pause();
                    leg
                }
            };
            match leg {
                LegEnd::Again(next) => answer = Some(next),
                end => break end,
            }
        };
        running.crew.cancel();
        if let LegEnd::Over(End { reason: Some(CancelReason::ClientGone), .. }) = &end {
            // It may be taken up again.
            running.spend(&mut clock).await;
        }
        if let LegEnd::Over(end) = &end {
            // Those of a run that can be taken up again can be so as well.
            let resumable = end.status == RunStatus::Interrupted;
            let reason = if resumable { CancelReason::ClientGone } else { CancelReason::Client };
            running.tell_children(ChildControl::Cancel(end.reason.unwrap_or(reason)));
        }
        running.finish_logs().await;
        drop(place);
        match end {
            LegEnd::Over(end) => {
                if end.status == RunStatus::Success {
                    // What it asked and did not wait for is asked no more.
                    running.open.clear();
                }
                // What cannot be recorded here shows when the end is.
                let _ = running.run_again().await;
                running.show_the_rest();
                running.nodes.close(end.status, running.now());
                let nodes = std::mem::take(&mut running.nodes.list);
                let files = std::mem::take(&mut running.files);
                let folder = self.folder(&lease);
                let envelope = self.record_end(&running.store.clone(), &lease, end, nodes, files).await;
                // Nothing in it is needed once the run has ended.
                let _ = blocking(move || std::fs::remove_dir_all(folder)).await;
                envelope
            }
            LegEnd::Parked(why, open) => self.park(&running, why, &open).await,
            LegEnd::Lost | LegEnd::Again(_) => self.follow_elsewhere(&lease).await,
        }
    }

    /// A run that had to queue, or was interrupted, is `running` from now on; one that waits does so until it comes to
    /// its question again.
    async fn begin(&self, running: &mut Running) -> Result<(), Stop> {
        let (store, lease) = (running.store.clone(), running.lease.clone());
        running.waiting = blocking(move || match store.signals(lease.run())?.status {
            RunStatus::WaitingForInput => Ok(true),
            RunStatus::Running => Ok(false),
            RunStatus::Queued
            | RunStatus::Interrupted
            | RunStatus::Success
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::Timeout => store.transition(&lease, RunStatus::Running).map(|()| false),
        })
        .await?;
        Ok(())
    }

    async fn take_up_command(
        &self,
        running: &mut Running,
        past: &Past,
        answer: &mut Option<Value>,
        switch: &CancelSwitch,
        commands: &mut Commands,
    ) -> Option<LegEnd> {
        let last = past.questions.iter().rev().find(|question| question.seq.is_none())?;
        running
            .wait_for(Open { number: last.number, asker: Asker::Command, form: last.form.clone(), kind: last.kind })
            .await;
        match self.await_answer(running, switch, commands).await {
            LegEnd::Again(value) => {
                *answer = Some(value);
                None
            }
            end => Some(end),
        }
    }

    /// Waits for the answer to a question that no worker waits for.
    async fn await_answer(&self, running: &mut Running, switch: &CancelSwitch, commands: &mut Commands) -> LegEnd {
        // A command makes no calls, so nothing comes back on this.
        let (results, _none) = mpsc::unbounded_channel();
        loop {
            match running.answered(&results).await {
                Ok(Moved::Command(value)) => return LegEnd::Again(value),
                Ok(Moved::Nothing | Moved::On) => {}
                Err(stop) => return stopped(stop),
            }
            tokio::select! {
                biased;
                reason = switch.cancelled() => return LegEnd::Over(End::cancelled(reason)),
                () = self.shared.ending.cancelled() => return parked(running, Parking::Left),
                Some(why) = commands.park.recv() => return parked(running, why),
                () = commands.answered.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// One worker's part in the run.
    #[expect(clippy::too_many_arguments, reason = "everything that can happen to a run comes together here")]
    async fn leg(
        &self,
        running: &mut Running,
        past: &Past,
        answer: Option<Value>,
        clock: &mut RunClock,
        switch: &CancelSwitch,
        commands: &mut Commands,
        family: &mut mpsc::UnboundedReceiver<ChildNews>,
    ) -> LegEnd {
        if switch.is_thrown() {
            return LegEnd::Over(End::cancelled(switch.cancelled().await));
        }
        if let EntrypointSource::Command { .. } = self.request.entrypoint.source {
            self.connect(running).await;
        }
        let first = match self.first_message(running, past, answer).await {
            Ok(first) => first,
            Err(error) => return LegEnd::Over(End::failed(*error)),
        };
        let root = &self.request.project.manifest.root;
        let mut worker = match Worker::start(&self.shared.image, root, &self.shared.workers) {
            Ok(worker) => worker,
            Err(error) => {
                let message = match project::Manifest::read(root) {
                    // A worker starts in the folder, and a folder may go while its server lives.
                    Err(problem) if !root.is_dir() => problem.sentence(),
                    _ => "no worker process could be started".to_owned(),
                };
                let cause = format!("{error}: {}", error.source);
                return LegEnd::Over(End::failed(RunError::new(ErrorCode::WorkerDied, message).with_cause(cause)));
            }
        };
        worker.say(&first);
        let limit = clock.limit();
        let (results, mut done) = mpsc::unbounded_channel::<(HostCall, Result<Value, HostError>)>();
        let mut ending: Option<Ending> = None;
        let mut kill_at: Option<Instant> = None;
        let mut record_at: Option<Instant> = None;
        let mut parking: Option<Parking> = None;
        let mut suspending = false;
        let answered = Arc::clone(&commands.answered);
        let mut calls: HashMap<u64, HostCall> = HashMap::new();
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let far = Instant::now() + Duration::from_secs(10 * 365 * 24 * 3600);
        let end = loop {
            for message in running.outbox.drain(..) {
                worker.say(&message);
            }
            if !suspending && parking.is_some() && !running.open.is_empty() && running.in_flight == 0 {
                // From now on answers are for whoever takes the run up.
                suspending = true;
                worker.say(&ToWorker::Suspend);
            }
            tokio::select! {
                biased;
                reason = switch.cancelled(), if ending.is_none() => {
                    ending = Some(Ending::Cancelled(reason));
                    worker.say(&ToWorker::Cancel);
                    kill_at = Some(Instant::now() + GRACE);
                }
                () = self.shared.ending.cancelled(), if kill_at.is_none_or(|at| at > Instant::now() + GRACE_GONE) => {
                    if ending.is_none() && !running.open.is_empty() {
                        // It waits for a person, and that outlives us.
                        break parked(running, Parking::Left);
                    }
                    ending.get_or_insert(Ending::Cancelled(CancelReason::ClientGone));
                    worker.say(&ToWorker::Cancel);
                    kill_at = Some(Instant::now() + GRACE_GONE);
                }
                () = tokio::time::sleep_until(clock.deadline().unwrap_or(far)), if ending.is_none() && clock.deadline().is_some() => {
                    ending = Some(Ending::Timeout);
                    worker.say(&ToWorker::TimeOut);
                    kill_at = Some(Instant::now() + GRACE);
                }
                () = tokio::time::sleep_until(kill_at.unwrap_or(far)), if kill_at.is_some() => {
                    break LegEnd::Over(End::from_outside(ending.unwrap_or(Ending::Timeout), limit));
                }
                () = tokio::time::sleep_until(clock.due().unwrap_or(far)), if clock.due().is_some() => {
                    running.spend(clock).await;
                }
                () = tokio::time::sleep_until(record_at.unwrap_or(far)), if record_at.is_some() => {
                    running.flush().await;
                    record_at = None;
                }
                Some(why) = commands.park.recv() => {
                    parking = Some(why);
                    // Those that ask a person wait under their own ids as well.
                    running.tell_children(ChildControl::Park(why));
                }
                () = answer_due(&answered, &mut look), if !running.open.is_empty() && ending.is_none() && !suspending => {
                    match running.answered(&results).await {
                        Ok(Moved::On) => {
                            parking = None;
                            if running.open.is_empty() {
                                clock.go_on();
                            }
                        }
                        Ok(Moved::Nothing | Moved::Command(_)) => {}
                        Err(stop) => break stopped(stop),
                    }
                }
                // Whatever a worker says without end, nothing above waits for it.
                message = worker.next() => match message {
                    Some(FromWorker::Done(Outcome::Suspended)) if ending.is_none() => {
                        break parked(running, parking.unwrap_or(Parking::Left));
                    }
                    Some(FromWorker::Done(Outcome::Pending { form })) if ending.is_none() => {
                        worker.finish().await;
                        clock.pause();
                        running.spend(clock).await;
                        return self.pend(running, &form, switch, commands).await;
                    }
                    Some(FromWorker::Done(outcome)) => {
                        break LegEnd::Over(self.with_agents(judge(outcome, ending, limit), &running.crew));
                    }
                    Some(message) => {
                        if let FromWorker::Call(call) = &message
                            && call.kind == CallKind::Related
                        {
                            calls.insert(call.seq, call.clone());
                        }
                        if let Err(stop) = running.hear(message, &results).await {
                            break stopped(stop);
                        }
                        running.stop_clock(clock).await;
                        if running.unrecorded && record_at.is_none() {
                            record_at = Some(Instant::now() + RECORD);
                        }
                    }
                    // It only waited, and what it waited with is in the journal: another worker takes the run up.
                    None if ending.is_none() && !running.open.is_empty() && running.in_flight == 0 => {
                        break parked(running, Parking::Left);
                    }
                    None => {
                        let how = worker.kill().await;
                        return LegEnd::Over(match ending {
                            Some(ending) => End::from_outside(ending, limit),
                            None => End::failed(
                                RunError::new(ErrorCode::WorkerDied, format!("the worker process ended unexpectedly ({how})")),
                            ),
                        });
                    }
                },
                Some(told) = running.crew.next() => match told {
                    CrewNews::Program(program) => worker.say(&program),
                    CrewNews::Shown(shown) => {
                        running.show(&shown);
                        record_at.get_or_insert_with(|| Instant::now() + RECORD);
                    }
                },
                Some(told) = family.recv() => {
                    if let ChildNews::Answered = told {
                        look.reset_immediately();
                    }
                    if let Err(stop) = running.hear_child(told, &calls).await {
                        break stopped(stop);
                    }
                    running.stop_clock(clock).await;
                }
                Some(first) = done.recv() => {
                    // Those that are there already are committed together.
                    let mut ready = vec![first];
                    while ready.len() < TOGETHER && let Ok(next) = done.try_recv() {
                        ready.push(next);
                    }
                    running.in_flight = running.in_flight.saturating_sub(ready.len());
                    for (call, _) in &ready {
                        running.children.remove(&call.seq);
                    }
                    match running.deliver_all(ready).await {
                        Ok(all) => all.into_iter().for_each(|delivered| worker.say(&ToWorker::Deliver(delivered))),
                        Err(stop) => break stopped(stop),
                    }
                }
            }
        };
        match &end {
            LegEnd::Over(over) if over.error.is_none() || kill_at.is_none() => {
                worker.finish().await;
            }
            LegEnd::Over(_) | LegEnd::Parked(..) | LegEnd::Again(_) | LegEnd::Lost => {
                worker.kill().await;
            }
        }
        end
    }

    /// A command asks a person: the run waits without any process of its own.
    async fn pend(
        &self,
        running: &mut Running,
        form: &Value,
        switch: &CancelSwitch,
        commands: &mut Commands,
    ) -> LegEnd {
        let form = match project::read_form(form) {
            Ok(form) => form,
            Err(faults) => {
                let error = RunError::new(ErrorCode::CommandFailed, "`pending` in its report is no form");
                return LegEnd::Over(End::failed(error.with_cause(faults.to_string())));
            }
        };
        let number = match running.record_question(None, &form, InteractionKind::Form, None).await {
            Ok(number) => number,
            Err(stop) => return stopped(stop),
        };
        running.wait_for(Open { number, asker: Asker::Command, form, kind: InteractionKind::Form }).await;
        self.await_answer(running, switch, commands).await
    }

    /// Finds the connection that a command is given. One that cannot be had is told in the run's log, and the command goes
    /// without: it may not need it.
    async fn connect(&self, running: &mut Running) {
        let host = Arc::clone(&self.host);
        let failed = blocking(move || host.connection().err().map(str::to_owned)).await;
        running.refresh_masker().await;
        if let Some(why) = failed {
            running.warn(&format!("the connection is left out: {why}"));
        }
    }

    /// Where a command's input, report and state lie.
    fn folder(&self, lease: &Lease) -> PathBuf {
        self.request.project.folders.data.join("runs").join(lease.run().as_str())
    }

    async fn first_message(
        &self,
        running: &Running,
        past: &Past,
        answer: Option<Value>,
    ) -> Result<ToWorker, Box<RunError>> {
        match &self.request.entrypoint.source {
            EntrypointSource::Module { file } => {
                Ok(ToWorker::Script(Box::new(self.job(JobKind::Module, file, past, running))))
            }
            EntrypointSource::Script { file } => {
                let mut job = self.job(JobKind::Script, file, past, running);
                job.workflows = self.workflows(file, past).await;
                Ok(ToWorker::Script(Box::new(job)))
            }
            EntrypointSource::Command { argv } => self.command(running, argv, answer),
            EntrypointSource::Dynamic => Ok(ToWorker::Script(Box::new(self.body(past, running)))),
        }
    }

    /// Whether hooks follow the strict contract.
    fn is_strict(&self) -> bool {
        self.request.entrypoint.source == EntrypointSource::Dynamic
    }

    /// What a run's agents came to changes how it ended: a script that returned though every agent failed has done
    /// nothing, and the result of a script that came with the call says how many there were.
    fn with_agents(&self, mut end: End, crew: &Crew) -> End {
        let tally = crew.tally;
        if end.status == RunStatus::Failed
            && !crew.failures.is_empty()
            && let Some(error) = &mut end.error
        {
            // What a script throws seldom says that an agent's failure was behind it.
            let cause = error.cause.take().unwrap_or_else(|| error.message.clone());
            error.cause = Some(format!("{cause}\nagents that failed:\n{}", crew.failures.join("\n")));
        }
        if end.status != RunStatus::Success {
            return end;
        }
        match self.request.entrypoint.source {
            EntrypointSource::Dynamic => {
                let result = end.output.take().unwrap_or(Value::Null);
                end.output = Some(serde_json::json!({ "agentsStarted": tally.agents_started, "result": result }));
            }
            EntrypointSource::Script { .. }
                if tally.agents_started > 0 && tally.agents_failed == tally.agents_started =>
            {
                let first = crew.failures.first().map(|failure| format!(": {failure}")).unwrap_or_default();
                let message =
                    format!("{} of {} agents of the run failed{first}", tally.agents_failed, tally.agents_started);
                end.status = RunStatus::Failed;
                let error = RunError::new(ErrorCode::AgentsFailed, message.chars().take(300).collect::<String>());
                end.error = Some(error.with_cause(crew.failures.join("\n")));
            }
            EntrypointSource::Script { .. } | EntrypointSource::Module { .. } | EntrypointSource::Command { .. } => {}
        }
        end
    }

    /// The job of a script that came with the call.
    fn body(&self, past: &Past, running: &Running) -> Job {
        let input = &self.request.input;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let meta = input.get("meta").cloned().unwrap_or(Value::Null);
        let name = text(meta.get("name"));
        let name = if name.is_empty() { "script" } else { &name };
        let file = format!("workflow:{name}");
        let mut job = self.job(JobKind::Body, &file, past, running);
        job.meta = Some(meta);
        job.sources = Sources::Kept(BTreeMap::from([(file, text(input.get("script")))]));
        job
    }

    /// What `workflow()` may run: the project's scripts by their ids and the names of their files. Looked for only
    /// where the text speaks of it at all.
    async fn workflows(&self, file: &str, past: &Past) -> BTreeMap<String, String> {
        let manifest = &self.request.project.manifest;
        let kept = past.sources.as_ref().and_then(|sources| sources.get(file).cloned());
        let read = || disk::read_inside(&manifest.root, file, model::Limits::SOURCE_BYTES).ok();
        let text = kept.or_else(read).unwrap_or_default();
        let mut workflows = BTreeMap::new();
        if !text.contains("workflow(") {
            return workflows;
        }
        let report = Executor::of(&self.shared).analyse(manifest).await;
        for entrypoint in report.entrypoints {
            if let EntrypointSource::Script { file } = entrypoint.source {
                let stem = std::path::Path::new(&file).file_name().map(|name| name.to_string_lossy().into_owned());
                if let Some(stem) = stem.as_deref().and_then(|name| name.split('.').next()) {
                    workflows.entry(stem.to_owned()).or_insert_with(|| file.clone());
                }
                workflows.insert(entrypoint.id.to_string(), file);
            }
        }
        workflows
    }

    fn command(&self, running: &Running, argv: &[String], answer: Option<Value>) -> Result<ToWorker, Box<RunError>> {
        let project = &self.request.project;
        let folder = self.folder(&running.lease);
        let failed = |error: std::io::Error| {
            Box::new(
                RunError::new(ErrorCode::WorkerDied, "the run's folder could not be written")
                    .with_cause(error.to_string()),
            )
        };
        disk::private_folder(&folder.join("state")).map_err(failed)?;
        // A command sees its files as paths.
        let input = project
            .managed_files()
            .with_paths(&self.request.entrypoint.params, &self.request.input)
            .map_err(|faults| Box::new(RunError::new(ErrorCode::CommandFailed, faults.to_string())))?;
        let input = Value::Object(input).to_string();
        let input_file = folder.join("input.json");
        write_private(&input_file, &input).map_err(failed)?;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let report = folder.join("report.json");
        // A report of the leg before would be taken for this one's.
        let _ = std::fs::remove_file(&report);
        // Found before, and told where it could not be.
        let connection = self.host.connection().ok().flatten().map(Connection::variables).unwrap_or_default();
        let mut environment = project.program_environment(&self.host.env_file, &connection);
        let report = text(report);
        for (name, value) in [
            ("WORKFLOW_RUN_ID", running.lease.run().to_string()),
            ("WORKFLOW_ENTRYPOINT", self.request.entrypoint.id.to_string()),
            ("WORKFLOW_INPUT", text(input_file)),
            ("WORKFLOW_OUTPUT", report.clone()),
            ("WORKFLOW_STATE", text(folder.join("state"))),
        ] {
            environment.insert(name.into(), value);
        }
        if let Some(answer) = answer {
            let file = folder.join("answer.json");
            write_private(&file, &answer.to_string()).map_err(failed)?;
            environment.insert("WORKFLOW_ANSWER".into(), text(file));
        }
        let mut argv = argv.to_vec();
        argv.extend(self.request.cli_args.iter().cloned());
        Ok(ToWorker::Command(CommandJob {
            argv,
            folder: text(project.manifest.root.clone()),
            environment,
            input,
            report,
        }))
    }

    fn job(&self, kind: JobKind, file: &str, past: &Past, running: &Running) -> Job {
        let manifest = &self.request.project.manifest;
        let mut job = Job::new(kind, manifest.root.clone(), file);
        job.input = match kind {
            JobKind::Module => Some(Value::Object(self.request.input.clone())),
            JobKind::Script => script_args(&self.request),
            JobKind::Body => self.request.input.get("args").cloned(),
        };
        if kind != JobKind::Module {
            job.first_slice_ms = Some(Job::FIRST_SLICE_MS);
            job.later_slice_ms = Some(Job::LATER_SLICE_MS);
        }
        job.agent_options = running.crew.options();
        job.args_verbatim = self.request.entrypoint.args_verbatim;
        job.seed = self.host.seed;
        job.started_at = self.host.started_at;
        job.memory_bytes = self.request.entrypoint.memory_mb.unwrap_or(Limits::MEMORY_MB) * 1024 * 1024;
        let caps = self.request.caps;
        if let Some(most) = RunCaps::lower(caps.max_agents, manifest.max_agents) {
            job.max_agents = most;
        }
        job.max_tokens = RunCaps::lower(caps.max_tokens, manifest.max_tokens);
        if let Some(sources) = &past.sources {
            job.sources = Sources::Kept(sources.clone());
        }
        job.journal.clone_from(&past.journal);
        job.narrated = past.told.narrated;
        job
    }

    /// How long the run may take. Measured by a clock that stands still while the machine sleeps.
    fn time_limit(&self) -> Option<Duration> {
        let default = match self.request.entrypoint.source {
            EntrypointSource::Module { .. } | EntrypointSource::Command { .. } => Limits::TIMEOUT_SECONDS,
            EntrypointSource::Script { .. } | EntrypointSource::Dynamic => 0,
        };
        match self.request.entrypoint.timeout_seconds.unwrap_or(default) {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        }
    }

    /// Lets go of a run that waits for a person, so that whoever answers has it at once.
    async fn park(&self, running: &Running, why: Parking, open: &Open) -> Envelope {
        let (store, lease) = (running.store.clone(), running.lease.clone());
        if let Err(error) = blocking(move || store.park(&lease, why.end())).await {
            tracing::debug!(run = %running.lease.run(), %error, "the waiting run is in other hands already");
        }
        let form = self.store().shown_form(&open.form);
        let error = waiting_error(why.code(), running.lease.run(), &form, open.kind, &self.request.project);
        Envelope {
            run_id: Some(running.lease.run().clone()),
            status: model::EnvelopeStatus::InteractionRequired,
            entrypoint_id: self.request.entrypoint.id.clone(),
            entrypoint_title: self.request.entrypoint.title.clone(),
            output: None,
            error: Some(error),
            pending: Some(Pending { child_run_id: open.asker.child().cloned(), ..Pending::from(&form) }),
            files: masked_files(&self.host.masker(), running.files.clone()),
        }
    }

    /// Waits until a run that another process has taken over has ended or waits again, and tells of it.
    async fn follow_elsewhere(&self, lease: &Lease) -> Envelope {
        let began = Instant::now();
        loop {
            let (store, run) = (self.store(), lease.run().clone());
            match blocking(move || store.show(&run)).await {
                // Whoever answered it takes it up within moments, or the result says that it can be.
                Ok(record) if is_between(&record) && began.elapsed() < TAKEN_UP => {}
                Ok(record) if !record.summary.status.needs_owner() => {
                    return envelope_of(&record, &self.request.project);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(run = %lease.run(), %error, "a run that went on elsewhere cannot be read");
                    let error =
                        RunError::new(ErrorCode::WorkerDied, "the run went on in another process and cannot be read");
                    return self.envelope(lease, End::failed(error), Vec::new());
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.shared.ending.cancelled() => {
                    let end = End::cancelled(CancelReason::ClientGone).leading_on(lease.run(), &self.request.project);
                    return self.envelope(lease, end, Vec::new());
                }
            }
        }
    }

    fn envelope(&self, lease: &Lease, end: End, files: Vec<CreatedFile>) -> Envelope {
        let masker = self.host.masker();
        Envelope {
            run_id: Some(lease.run().clone()),
            status: envelope_status(end.status),
            entrypoint_id: self.request.entrypoint.id.clone(),
            entrypoint_title: self.request.entrypoint.title.clone(),
            output: end.output.map(|output| masker.mask_json(&output)),
            error: end.error.map(|error| RunError {
                message: masker.mask(&error.message).into_owned(),
                cause: error.cause.map(|cause| masker.mask(&cause).into_owned()),
                data: error.data.map(|data| masker.mask_json(&data)),
                ..error
            }),
            pending: None,
            files: masked_files(&masker, files),
        }
    }

    /// Records the end, and only then tells of it.
    async fn record_end(
        &self,
        store: &Store,
        lease: &Lease,
        end: End,
        nodes: Vec<Node>,
        files: Vec<CreatedFile>,
    ) -> Envelope {
        let end = end.leading_on(lease.run(), &self.request.project);
        let report = Report { output: end.output.clone(), error: end.error.clone(), nodes };
        let finish = Finish { status: end.status, report, cancel_reason: end.reason, files: files.clone() };
        let recorded = {
            let (store, lease) = (store.clone(), lease.clone());
            blocking(move || store.finish(&lease, finish)).await
        };
        match recorded {
            Ok(()) => self.envelope(lease, end, files),
            // Somebody cancelled it, or took it over, while it ended.
            Err(store::StoreError::StaleEpoch { .. } | store::StoreError::Transition { .. }) => {
                self.follow_elsewhere(lease).await
            }
            Err(error) => {
                tracing::error!(run = %lease.run(), %error, "the end of a run could not be recorded");
                let why = self.host.without_folders(&model::with_causes(&error));
                let message = format!("the end of the run could not be recorded: {why}");
                self.envelope(lease, End::failed(RunError::new(ErrorCode::WorkerDied, message)), files)
            }
        }
    }
}

/// A file may be named by a secret, as everything else.
fn masked_files(masker: &Masker, mut files: Vec<CreatedFile>) -> Vec<CreatedFile> {
    for file in &mut files {
        file.name = masker.mask(&file.name).into_owned();
        file.path = masker.mask(&file.path).into_owned();
    }
    files
}

/// Waits until an open question may have been answered.
async fn answer_due(answered: &Notify, look: &mut tokio::time::Interval) {
    tokio::select! {
        () = answered.notified() => {}
        _ = look.tick() => {}
    }
}

fn parked(running: &mut Running, why: Parking) -> LegEnd {
    match running.open.first().cloned() {
        Some(open) => LegEnd::Parked(why, open),
        None => LegEnd::Over(End::failed(RunError::new(ErrorCode::WorkerDied, "the run stopped without a question"))),
    }
}

fn stopped(stop: Stop) -> LegEnd {
    match stop {
        Stop::Failed(error) => LegEnd::Over(End::failed(error)),
        Stop::Unrecorded(error) => LegEnd::Over(End::interrupted(error)),
        Stop::Lost => LegEnd::Lost,
    }
}

/// Turns what a worker reports into the run's end. What was asked from outside wins over what came of it.
fn judge(outcome: Outcome, ending: Option<Ending>, limit: Option<Duration>) -> End {
    if let Some(ending) = ending {
        return End::from_outside(ending, limit);
    }
    match outcome {
        Outcome::Success { output } => End::success(output),
        Outcome::Failed { error } => End::failed(error),
        Outcome::TimedOut => End::from_outside(Ending::Timeout, limit),
        Outcome::Cancelled => End::cancelled(CancelReason::ClientGone),
        Outcome::Pending { .. } | Outcome::Suspended => {
            End::failed(RunError::new(ErrorCode::WorkerDied, "the worker stopped without being asked to"))
        }
    }
}

/// `args` of an orchestration script: the one parameter, or all declared ones as an object.
fn script_args(request: &RunRequest) -> Option<Value> {
    let params = &request.entrypoint.params;
    if params.len() == 1 && params[0].name == "args" && params[0].kind == model::ParamType::Json {
        return request.input.get("args").cloned();
    }
    Some(Value::Object(request.input.clone()))
}

/// Writes a file that its owner alone can read. What a command left there instead, a link or a pipe, goes.
fn write_private(file: &Path, text: &str) -> std::io::Result<()> {
    disk::replace_unsynced(file, text.as_bytes(), 0o600)
}

/// Whether a run was answered and nobody has taken it up yet.
fn is_between(record: &RunRecord) -> bool {
    record.summary.status == RunStatus::WaitingForInput && record.pending().is_none()
}

/// What is to be said of a run that asks nothing; nothing when it has succeeded. `command` writes a command that leads to
/// the run's history.
#[must_use]
pub fn standing_error(record: &RunRecord, command: &dyn Fn(&[&str]) -> String) -> Option<RunError> {
    let run = record.summary.run_id.as_str();
    let said = record.report.error.clone();
    let otherwise = |message: String| Some(RunError::new(ErrorCode::InteractionRequired, message));
    let goes_on = || format!("`{}` continues the run", command(&["runs", "resume", run]));
    match record.summary.status {
        RunStatus::Interrupted => {
            said.or_else(|| otherwise(format!("the process that had the run is gone; {}", goes_on())))
        }
        // No result is bare: whoever gets it is to know what comes next.
        RunStatus::WaitingForInput => otherwise(format!("the run was answered and waits to go on; {}", goes_on())),
        RunStatus::Queued | RunStatus::Running => otherwise(format!(
            "another process has the run; its result is then given by `{}`",
            command(&["runs", "wait", run])
        )),
        RunStatus::Success | RunStatus::Failed | RunStatus::Cancelled | RunStatus::Timeout => said,
    }
}

/// Makes the result of a recorded run.
#[must_use]
pub fn envelope_of(record: &RunRecord, project: &crate::Project) -> Envelope {
    waiting_envelope(record, project, ErrorCode::InteractionRequired)
}

/// Makes the result of a recorded run; `code` is why it is still waiting, if it is.
#[must_use]
pub fn waiting_envelope(record: &RunRecord, project: &crate::Project, code: ErrorCode) -> Envelope {
    let pending = record.pending();
    let error = match pending {
        Some(question) => Some(waiting_error(code, &record.summary.run_id, &question.form, question.kind, project)),
        None => standing_error(record, &|words| project.history_place().command(words)),
    };
    Envelope {
        run_id: Some(record.summary.run_id.clone()),
        status: envelope_status(record.summary.status),
        entrypoint_id: record.summary.entrypoint_id.clone(),
        entrypoint_title: record.summary.entrypoint_title.clone(),
        output: record.report.output.clone(),
        error,
        pending: record.pending_summary(),
        files: record.files.clone(),
    }
}
