//! What of a run is in hand while it runs: what its worker says comes in here, and what it asked for goes out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use model::{AnswerAction, CreatedFile, ErrorCode, InteractionKind, NodeKind, RunError, RunId, RunStatus, TimestampMs};
use script::{CallKind, HostCall, HostError, Narration, Stream};
use serde_json::Value;
use store::{
    Durability, Lease, LogStream, LogWriter, NewAnswer, NewJournalRow, NewQuestion, Question, SaidProgress, Store,
    StoreError,
};
use tokio::sync::mpsc;

use super::clock::RunClock;
use super::end::answer_value;
use super::exec::Own;
use super::nodes::Nodes;
use super::questions::{Asked, Asker, Open, form_of};
use super::{LOG_BATCH, RunEvent, exec};
use agents::MemberEvent;

use crate::agents::{Crew, Shown};
use crate::context::Project;
use crate::executor::{Executor, blocking};
use crate::host_calls::{self, HostContext};
use crate::kept::Kept;
use crate::protocol::{BUILD, Delivered, ExecJob, Executed, FromWorker, ToWorker};
use crate::related::{ChildControl, ChildNews, RelatedCall};

/// Milliseconds of a day.
const DAY: TimestampMs = 24 * 3600 * 1000;

/// The result of a host call on its way back.
pub(crate) type Results = mpsc::UnboundedSender<(HostCall, Result<Value, HostError>)>;

pub(super) struct Running {
    pub(super) store: Store,
    pub(super) lease: Lease,
    pub(super) host: Arc<HostContext>,
    pub(super) events: mpsc::Sender<RunEvent>,
    pub(super) nodes: Nodes,
    pub(super) logs: LogWriter,
    pub(super) unrecorded: bool,
    /// How far the run says it has come.
    pub(super) said: Option<SaidProgress>,
    /// Whether that is not recorded yet.
    pub(super) unsaid: bool,
    /// How much it has told but for nodes, where that was counted from the beginning.
    pub(super) narrated: Option<u64>,
    pub(super) files: Vec<CreatedFile>,
    pub(super) open: Vec<Open>,
    /// Questions that the run had asked before it was taken up again.
    pub(super) asked_before: Vec<Question>,
    /// How many secrets the store masks.
    pub(super) masked: usize,
    /// Host calls that somebody works on.
    pub(super) in_flight: usize,
    /// Whether the run is recorded as waiting for a person.
    pub(super) waiting: bool,
    /// What is to be said to the worker next.
    pub(super) outbox: Vec<ToWorker>,
    /// Calls that were journalled when they began.
    pub(super) begun: HashSet<u64>,
    /// Questions whose leave was used before the run was taken up again: it does not hold a second time.
    pub(super) leave_used: HashSet<u64>,
    /// Programs that run for the script.
    pub(super) programs: HashMap<u64, HostCall>,
    /// Related runs, by the calls that started them.
    pub(super) children: HashMap<u64, mpsc::UnboundedSender<ChildControl>>,
    /// Related runs that were started before the run was taken up again.
    pub(super) children_before: HashMap<u64, RunId>,
    /// Where related runs tell what happens to them.
    pub(super) news: mpsc::UnboundedSender<ChildNews>,
    pub(super) context: Surroundings,
    pub(super) crew: Crew,
    /// What was noted here, each once.
    pub(super) noted: HashSet<(String, Option<String>)>,
    /// The call that is made again whatever is kept.
    pub(super) again: Option<u64>,
    /// Results from before a retry, for calls that come up again.
    pub(super) kept: Kept,
}

/// What host calls need beside the run itself.
#[derive(Clone)]
pub(super) struct Surroundings {
    pub(super) executor: Executor,
    pub(super) project: Arc<Project>,
    pub(super) ancestry: Vec<String>,
}

/// A call that is done, before that is journalled.
struct Done {
    delivered: Delivered,
    rows: Vec<NewJournalRow>,
    durability: Durability,
}

/// What came of looking for answers.
#[derive(Debug)]
pub(super) enum Moved {
    /// Nothing was answered.
    Nothing,
    /// A question was answered, and the run goes on.
    On,
    /// A command's question was answered: it is started again with this.
    Command(Value),
}

/// Why a run cannot go on here.
#[derive(Debug)]
pub(super) enum Stop {
    /// It has failed.
    Failed(RunError),
    /// It can record nothing more: it is left as it is recorded, for somebody to take up when that can be done again.
    Unrecorded(RunError),
    /// Another process has it.
    Lost,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::StaleEpoch { .. } => Self::Lost,
            error => Self::Unrecorded(
                RunError::new(ErrorCode::WorkerDied, "the run could not be recorded, so it was stopped")
                    .with_cause(model::with_causes(&error)),
            ),
        }
    }
}

impl Running {
    pub(super) fn now(&self) -> TimestampMs {
        self.store.now()
    }

    /// Takes in what the worker says.
    pub(super) async fn hear(&mut self, message: FromWorker, results: &Results) -> Result<(), Stop> {
        match message {
            FromWorker::Ready { build } if build != BUILD => Err(Stop::Failed(RunError::new(
                ErrorCode::WorkerDied,
                "Workflow Code was updated while this server ran: reconnect",
            ))),
            FromWorker::Executed { seq, outcome } => match self.crew.ended(seq, outcome) {
                Some(outcome) => self.executed(seq, outcome).await,
                None => Ok(()),
            },
            FromWorker::Tally { tally } => {
                self.crew.tally = tally;
                Ok(())
            }
            FromWorker::Ready { .. } | FromWorker::Analysed(_) | FromWorker::Abandon { .. } | FromWorker::Done(_) => {
                Ok(())
            }
            FromWorker::Loaded { modules } => {
                let (store, lease) = (self.store.clone(), self.lease.clone());
                let files: Vec<store::SourceFile> = modules
                    .into_iter()
                    .map(|module| store::SourceFile { path: module.path, text: module.text })
                    .collect();
                match blocking(move || store.keep_sources(&lease, &files)).await {
                    Ok(()) => Ok(()),
                    // A secret in the code and no key to seal it with: the run goes on, and cannot be resumed.
                    Err(error @ StoreError::Unstorable { .. }) => {
                        tracing::warn!(run = %self.lease.run(), %error, "the run's code is not kept");
                        Ok(())
                    }
                    Err(error) => Err(error.into()),
                }
            }
            FromWorker::Narrate(narration) => {
                self.narrate(narration).await;
                Ok(())
            }
            FromWorker::Call(call) if self.give_kept(&call, results) => Ok(()),
            FromWorker::Call(call) => match call.kind {
                CallKind::Form | CallKind::Approve => self.ask(call, results).await,
                CallKind::Exec => self.exec(call, results).await,
                CallKind::Agent => {
                    self.in_flight += 1;
                    for note in self.crew.call(self.lease.run().as_str(), &self.context.project, call, results) {
                        if self.noted.insert((note.code.clone(), note.subject.clone())) {
                            // Ours, and none of what the script tells.
                            self.take_narration(Narration::Note(note)).await;
                        }
                    }
                    Ok(())
                }
                CallKind::Http => self.request(call, results).await,
                CallKind::Related => {
                    self.related(call, results);
                    Ok(())
                }
                _ => {
                    self.call(call, results);
                    Ok(())
                }
            },
        }
    }

    /// Answers a call with what it had come to before a retry, if that is kept.
    fn give_kept(&mut self, call: &HostCall, results: &Results) -> bool {
        if self.again == Some(call.seq) {
            return false;
        }
        let Some(outcome) = self.kept.take(call.seq, &call.fingerprint) else { return false };
        self.in_flight += 1;
        let _ = results.send((call.clone(), outcome));
        true
    }

    /// Shows what happens to an agent, and where its changes are.
    pub(super) fn show(&mut self, shown: &Shown) {
        match shown {
            Shown::Member(MemberEvent::Started(member), asked) => {
                self.nodes.member_started(member, asked, self.store.now());
            }
            Shown::Member(MemberEvent::Ended(_, outcome), asked) => self.nodes.member_ended(*outcome, asked),
            Shown::Worktree(kept, asked) => {
                self.nodes.worktree_kept(&kept.path.to_string_lossy(), &kept.branch, asked);
            }
        }
        self.unrecorded = true;
    }

    /// Takes in what happened to agents at the end of the run.
    pub(super) fn show_the_rest(&mut self) {
        while let Some(shown) = self.crew.next_shown() {
            self.show(&shown);
        }
    }

    fn call(&mut self, call: HostCall, results: &Results) {
        let host = Arc::clone(&self.host);
        let results = results.clone();
        let run = self.lease.run().clone();
        let store = self.store.clone();
        self.in_flight += 1;
        tokio::spawn(async move {
            let outcome = match call.kind {
                CallKind::Sleep => {
                    let milliseconds = call.args.get("ms").and_then(Value::as_f64).unwrap_or(0.0).clamp(0.0, 1e12);
                    tokio::time::sleep(Duration::from_secs_f64(milliseconds / 1000.0)).await;
                    Ok(Value::Null)
                }
                _ => {
                    let made = call.clone();
                    blocking(move || host_calls::perform(&host, &store, &run, &made)).await
                }
            };
            // The run may have ended meanwhile.
            let _ = results.send((call, outcome));
        });
    }

    /// Puts a question of a script before whoever may answer it. The run waits, durably, before anyone is told.
    async fn ask(&mut self, call: HostCall, results: &Results) -> Result<(), Stop> {
        let (form, kind) = match form_of(&call) {
            Ok(read) => read,
            Err(message) => {
                self.in_flight += 1;
                let error = HostError { code: "invalid_form".into(), message, data: None, fatal: false };
                let _ = results.send((call, Err(error)));
                return Ok(());
            }
        };
        let before = self.asked_before.iter().find(|question| question.seq == Some(call.seq));
        let number = match before {
            Some(question) => {
                let number = question.number;
                self.wait_again().await?;
                number
            }
            None => self.record_question(Some(call.seq), &form, kind, None).await?,
        };
        self.nodes.waits(call.own_node, true);
        self.unrecorded = true;
        self.wait_for(Open { number, asker: Asker::Script(call), form, kind }).await;
        Ok(())
    }

    /// Records a question that is asked for the first time.
    pub(super) async fn record_question(
        &mut self,
        seq: Option<u64>,
        form: &model::Form,
        kind: InteractionKind,
        child: Option<RunId>,
    ) -> Result<u64, Stop> {
        let new = NewQuestion { seq, form: form.clone(), kind, child, patience: None };
        let (store, lease) = (self.store.clone(), self.lease.clone());
        let number = blocking(move || {
            let patience = Some(store.wait_days()? * DAY);
            store.ask(&lease, &NewQuestion { patience, ..new })
        })
        .await?;
        self.waiting = true;
        Ok(number)
    }

    /// A run that was taken up again comes to a question that it had asked before.
    async fn wait_again(&mut self) -> Result<(), Stop> {
        if !std::mem::replace(&mut self.waiting, true) {
            let (store, lease) = (self.store.clone(), self.lease.clone());
            blocking(move || store.transition(&lease, RunStatus::WaitingForInput)).await?;
        }
        Ok(())
    }

    /// A run that was taken up again, and finds that nothing is left to wait for, runs.
    pub(super) async fn run_again(&mut self) -> Result<(), Stop> {
        if self.open.is_empty() && std::mem::take(&mut self.waiting) {
            let (store, lease) = (self.store.clone(), self.lease.clone());
            blocking(move || store.transition(&lease, RunStatus::Running)).await?;
        }
        Ok(())
    }

    /// Tells of an open question.
    pub(super) async fn wait_for(&mut self, open: Open) {
        // Whoever answers sees no secret; what they choose by its mask is known where the answer is recorded.
        let asked = Asked { number: open.number, form: self.store.shown_form(&open.form), kind: open.kind };
        // One that was answered while nobody had the run is asked no more: whoever listens might say that nobody can
        // answer, and the run would be left waiting with its answer.
        let answered = self.asked_before.iter().any(|before| before.number == open.number && before.answer.is_some());
        self.open.push(open);
        if answered {
            return;
        }
        // Whoever listens must hear of it: unlike progress, it is not overtaken by anything.
        let _ = self.events.send(RunEvent::Question(asked)).await;
    }

    /// Looks whether an open question was answered, by whomever. Returns the answered one with its answer.
    pub(super) async fn answered(&mut self, results: &Results) -> Result<Moved, Stop> {
        for place in 0..self.open.len() {
            let number = self.open[place].number;
            let (store, lease) = (self.store.clone(), self.lease.clone());
            let Some((action, content)) = blocking(move || store.answer_content(&lease, number)).await? else {
                continue;
            };
            let open = self.open.remove(place);
            self.host.add_answered_secrets(&open.form, &content);
            self.refresh_masker().await;
            if self.open.is_empty() && std::mem::take(&mut self.waiting) {
                let (store, lease) = (self.store.clone(), self.lease.clone());
                blocking(move || store.transition(&lease, RunStatus::Running)).await?;
            }
            self.nodes.waits(open.asker.call().and_then(|call| call.own_node), false);
            self.unrecorded = true;
            let _ = self.events.send(RunEvent::Answered { number }).await;
            return self.go_on(open, action, content, results).await;
        }
        Ok(Moved::Nothing)
    }

    /// Hands an answer to whoever asked.
    async fn go_on(
        &mut self,
        open: Open,
        action: AnswerAction,
        content: Value,
        results: &Results,
    ) -> Result<Moved, Stop> {
        let value = answer_value(open.kind, action, content.clone());
        let is_refusal = open.kind == InteractionKind::Form && action != AnswerAction::Accept;
        match open.asker {
            Asker::Script(call) if is_refusal => {
                let message = format!("{} declined to answer", self.who_answered(open.number).await?);
                self.fail(call, "interaction_declined", message, results);
            }
            Asker::Command => return Ok(Moved::Command(value)),
            Asker::Script(call) => {
                let delivered = self.deliver(&call, Ok(value)).await?;
                self.outbox.push(ToWorker::Deliver(delivered));
            }
            Asker::Program(call, job) if value == Value::Bool(true) => {
                self.start_program(call, *job, Some(open.number)).await?;
            }
            Asker::Program(call, job) => {
                let message = format!("{} refused to run `{}`", self.who_answered(open.number).await?, job.program);
                self.fail(call, "approval_denied", message, results);
            }
            Asker::Request(call) if value == Value::Bool(true) => {
                self.begin_call(&call, Some(open.number)).await?;
                self.call(call, results);
            }
            Asker::Request(call) => {
                let who = self.who_answered(open.number).await?;
                self.fail(call, "approval_denied", format!("{who} refused to make the request again"), results);
            }
            Asker::Child { child, number, .. } => {
                let answer = NewAnswer { action, content, by: "parent".into() };
                let store = self.store.clone();
                match blocking(move || store.answer(&child, number, &answer)).await {
                    // It was answered there with this one; only a version before this one has left that to do.
                    Ok(()) | Err(StoreError::AlreadyAnswered { .. } | StoreError::NotWaiting { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(Moved::On)
    }

    /// Says who answered a question: what a client says is its own word, since it may have shown nothing to anybody.
    async fn who_answered(&self, number: u64) -> Result<&'static str, Stop> {
        let (store, run) = (self.store.clone(), self.lease.run().clone());
        let questions = blocking(move || store.questions(&run)).await?;
        let answer = questions.into_iter().find(|question| question.number == number).and_then(|one| one.answer);
        Ok(match answer.as_ref().map(|answer| answer.by.as_str()) {
            Some("client") => "the client (which may not have shown the question)",
            _ => "a person",
        })
    }

    /// Has a call fail, in the order of all results.
    fn fail(&mut self, call: HostCall, code: &str, message: String, results: &Results) {
        self.in_flight += 1;
        let error = HostError { code: code.into(), message, data: None, fatal: false };
        let _ = results.send((call, Err(error)));
    }

    /// A script wants to run a program: at once when that is allowed, else when a person gives leave.
    async fn exec(&mut self, call: HostCall, results: &Results) -> Result<(), Stop> {
        let project = Arc::clone(&self.context.project);
        let mut job = match exec::job(call.seq, &call.args, &project.manifest.root.to_string_lossy()) {
            Ok(job) => job,
            Err(message) => {
                self.fail(call, "invalid_argument", message, results);
                return Ok(());
            }
        };
        let project_folder = match exec::settle_folder(&mut job, &project.manifest.root.to_string_lossy()) {
            Ok(folder) => folder,
            Err(message) => {
                self.fail(call, "invalid_argument", message, results);
                return Ok(());
            }
        };
        // Nothing of the project's `.env`: see `exec::is_allowed`.
        let mut environment = project.program_environment(&project::EnvFile::default(), &[]);
        let own = Own { environment: job.environment.clone(), project_folder };
        environment.append(&mut job.environment);
        job.environment = environment;
        let idempotent = call.args.get("idempotent") == Some(&Value::Bool(true));
        let started_before = self.begun.contains(&call.seq) && !idempotent;
        if !started_before && (self.begun.contains(&call.seq) || self.is_allowed(&job, &own).await) {
            return self.start_program(call, job, None).await;
        }
        let (form, kind) = exec::question(&job, &own, started_before, self.store.masker());
        let number = self.ask_leave(call.seq, &form, kind).await?;
        self.nodes.waits(call.own_node, true);
        self.unrecorded = true;
        self.wait_for(Open { number, asker: Asker::Program(call, Box::new(job)), form, kind }).await;
        Ok(())
    }

    /// Tells whether a program may start unasked: by the command line, or by the project's settings as they are now, so
    /// that what a person allows from now on holds for servers that run already.
    async fn is_allowed(&self, job: &ExecJob, own: &Own) -> bool {
        let project = &self.context.project;
        if exec::is_allowed(job, own, &project.allow_exec) {
            return true;
        }
        let Some(id) = project.id.clone() else { return false };
        let store = self.store.clone();
        let patterns = blocking(move || store.project(id.as_str()).map(|known| known.allow_exec())).await;
        patterns.is_ok_and(|patterns| exec::is_allowed(job, own, &patterns))
    }

    /// A request that changes something is in the journal before it is made: after a crash it is not made again unasked.
    async fn request(&mut self, call: HostCall, results: &Results) -> Result<(), Stop> {
        if crate::http::only_asks(&call.args) || call.args.get("idempotent") == Some(&Value::Bool(true)) {
            self.call(call, results);
            return Ok(());
        }
        if !self.begun.contains(&call.seq) {
            self.begin_call(&call, None).await?;
            self.call(call, results);
            return Ok(());
        }
        let (form, kind) = exec::request_question(&call.args);
        let number = self.ask_leave(call.seq, &form, kind).await?;
        self.nodes.waits(call.own_node, true);
        self.unrecorded = true;
        self.wait_for(Open { number, asker: Asker::Request(call), form, kind }).await;
        Ok(())
    }

    /// Asks for leave, or comes to the question that was asked before: also one that was answered while no process had
    /// the run. Only a leave that was used is asked for again.
    async fn ask_leave(&mut self, seq: u64, form: &model::Form, kind: InteractionKind) -> Result<u64, Stop> {
        let mut asked = self.asked_before.iter().rev().filter(|question| question.seq == Some(seq));
        match asked.find(|question| !self.leave_used.contains(&question.number)).map(|question| question.number) {
            Some(number) => {
                self.wait_again().await?;
                Ok(number)
            }
            None => self.record_question(Some(seq), form, kind, None).await,
        }
    }

    /// Journals that a call begins, and which question's leave it uses for that, before it has any effect.
    async fn begin_call(&mut self, call: &HostCall, leave: Option<u64>) -> Result<(), Stop> {
        let mut rows = Vec::new();
        if self.begun.insert(call.seq) {
            rows.push(crate::journal::issue(call));
        }
        if let Some(question) = leave {
            self.leave_used.insert(question);
            rows.push(crate::journal::leave_used(call.seq, question));
        }
        if !rows.is_empty() {
            let (store, lease) = (self.store.clone(), self.lease.clone());
            blocking(move || store.append_journal(&lease, &rows, Durability::Power)).await?;
        }
        Ok(())
    }

    /// Has a program started. That it was is in the journal first: after a crash it is not run again unasked.
    async fn start_program(&mut self, call: HostCall, job: ExecJob, leave: Option<u64>) -> Result<(), Stop> {
        self.begin_call(&call, leave).await?;
        self.in_flight += 1;
        self.programs.insert(call.seq, call);
        self.outbox.push(ToWorker::Exec(job));
        Ok(())
    }

    async fn executed(&mut self, seq: u64, outcome: Result<Executed, String>) -> Result<(), Stop> {
        let Some(call) = self.programs.remove(&seq) else { return Ok(()) };
        self.in_flight = self.in_flight.saturating_sub(1);
        let outcome = match outcome {
            Ok(executed) => Ok(serde_json::json!(executed)),
            Err(message) => Err(HostError { code: "exec".into(), message, data: None, fatal: false }),
        };
        let delivered = self.deliver(&call, outcome).await?;
        self.outbox.push(ToWorker::Deliver(delivered));
        Ok(())
    }

    fn related(&mut self, call: HostCall, results: &Results) {
        let (control, words) = mpsc::unbounded_channel();
        self.children.insert(call.seq, control);
        self.in_flight += 1;
        let related = RelatedCall {
            executor: self.context.executor.clone(),
            store: self.store.clone(),
            host: Arc::clone(&self.host),
            project: Arc::clone(&self.context.project),
            ancestry: self.context.ancestry.clone(),
            parent: self.lease.run().clone(),
            before: self.children_before.get(&call.seq).cloned(),
            call,
        };
        tokio::spawn(related.make(self.news.clone(), results.clone(), words));
    }

    /// Takes in what a related run tells.
    pub(super) async fn hear_child(&mut self, news: ChildNews, calls: &HashMap<u64, HostCall>) -> Result<(), Stop> {
        match news {
            ChildNews::Started { seq, child, noted } => {
                let Some(call) = calls.get(&seq) else { return Ok(()) };
                let mut rows = Vec::new();
                if self.begun.insert(seq) {
                    rows.push(crate::journal::issue(call));
                    rows.push(crate::journal::child(seq, &child));
                }
                let (store, lease) = (self.store.clone(), self.lease.clone());
                blocking(move || store.append_journal(&lease, &rows, Durability::Power)).await?;
                let _ = noted.send(());
            }
            ChildNews::Asked { seq, child, asked } => {
                let Some(call) = calls.get(&seq).cloned() else { return Ok(()) };
                // The same question as before, answered meanwhile or not, is the one at the same place.
                let place = usize::try_from(asked.number).unwrap_or(usize::MAX);
                let before = self
                    .asked_before
                    .iter()
                    .filter(|question| question.child.as_ref() == Some(&child))
                    .nth(place)
                    .map(|question| question.number);
                let number = match before {
                    Some(number) => {
                        self.wait_again().await?;
                        number
                    }
                    None => self.record_question(Some(seq), &asked.form, asked.kind, Some(child.clone())).await?,
                };
                self.nodes.waits(call.own_node, true);
                self.unrecorded = true;
                let asker = Asker::Child { call, child, number: asked.number };
                self.wait_for(Open { number, asker, form: asked.form, kind: asked.kind }).await;
            }
            ChildNews::Interrupted { child } => {
                let message = format!("the related run {child} was interrupted");
                return Err(Stop::Unrecorded(RunError::new(ErrorCode::WorkerDied, message)));
            }
            // Its question here was answered with it, and is looked at next.
            ChildNews::Answered => {}
            ChildNews::Parked { seq } => {
                self.children.remove(&seq);
                self.in_flight = self.in_flight.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// A related run is over: nothing of what it asked is open here any more, whether it was answered or not, and whether
    /// that was seen yet or not. (Its record and this one are answered together.)
    async fn close_questions_of(&mut self, call: &HostCall) {
        let is_of = |open: &Open| matches!(&open.asker, Asker::Child { call: asking, .. } if asking.seq == call.seq);
        let (over, open): (Vec<Open>, Vec<Open>) = self.open.drain(..).partition(is_of);
        self.open = open;
        for question in over {
            self.nodes.waits(call.own_node, false);
            self.unrecorded = true;
            let _ = self.events.send(RunEvent::Answered { number: question.number }).await;
        }
    }

    /// Related runs do not outlive the run that started them, unless both wait for a person.
    pub(super) fn tell_children(&self, word: ChildControl) {
        for child in self.children.values() {
            let _ = child.send(word);
        }
    }

    /// Journals the result of a host call, and only then lets the script have it.
    pub(super) async fn deliver(
        &mut self,
        call: &HostCall,
        outcome: Result<Value, HostError>,
    ) -> Result<Delivered, Stop> {
        let at = self.now();
        let rows = self.take_in(call, outcome, at).await?;
        let Done { delivered, rows, durability } = rows;
        let (store, lease) = (self.store.clone(), self.lease.clone());
        blocking(move || store.append_journal(&lease, &rows, durability)).await?;
        Ok(delivered)
    }

    /// The same for several that are there at once: one commit for all of them, in their order.
    pub(super) async fn deliver_all(
        &mut self,
        ready: Vec<(HostCall, Result<Value, HostError>)>,
    ) -> Result<Vec<Delivered>, Stop> {
        let mut all = Vec::with_capacity(ready.len());
        let mut rows = Vec::with_capacity(ready.len() * 2);
        let mut durability = Durability::Process;
        for (call, outcome) in ready {
            let done = self.take_in(&call, outcome, self.now()).await?;
            durability = durability.max(done.durability);
            rows.extend(done.rows);
            all.push(done.delivered);
        }
        let (store, lease) = (self.store.clone(), self.lease.clone());
        blocking(move || store.append_journal(&lease, &rows, durability)).await?;
        Ok(all)
    }

    /// Takes note of what came of a call, and makes its rows.
    async fn take_in(
        &mut self,
        call: &HostCall,
        outcome: Result<Value, HostError>,
        at: TimestampMs,
    ) -> Result<Done, Stop> {
        if call.kind == CallKind::Related {
            self.close_questions_of(call).await;
        }
        self.run_again().await?;
        if self.host.known_secrets() != self.masked {
            // The call has brought one, as its result or with the connection: from now on it is masked in all that is
            // recorded.
            self.refresh_masker().await;
        }
        if let (CallKind::FilesCreate, Ok(value)) = (call.kind, &outcome)
            && let Some(created) = self.host.created_file(value)
        {
            self.files.retain(|file| file.path != created.path);
            self.files.push(created);
        }
        let mut more = None;
        if call.kind == CallKind::Agent {
            match &outcome {
                Ok(answer) => self.nodes.answered(call.own_node, answer),
                Err(error) => self.nodes.answered(call.own_node, &serde_json::json!({ "reason": error.message })),
            }
            more = self.nodes.member(call.own_node, at).map(|member| ("member", member));
            self.crew.forget(call.seq);
            self.unrecorded = true;
        }
        if call.kind == CallKind::Related {
            let secrets = self.host.handed_up();
            // What is in the row is sealed with them.
            more = (outcome.is_ok() && !secrets.is_empty()).then(|| ("secrets", serde_json::json!(secrets)));
        }
        let outcome =
            outcome.map_err(|error| HostError { message: self.host.without_folders(&error.message), ..error });
        let delivered = Delivered { seq: call.seq, at, outcome };
        let rows = crate::journal::rows(call, &delivered, self.begun.contains(&call.seq), more);
        Ok(Done { delivered, rows, durability: crate::journal::durability(call.kind) })
    }

    /// A run that waits for a person does not use up its time.
    pub(super) async fn stop_clock(&self, clock: &mut RunClock) {
        if !self.open.is_empty() && clock.due().is_some() {
            clock.pause();
            self.spend(clock).await;
        } else if !self.open.is_empty() {
            clock.pause();
        }
    }

    /// Writes down how much of its time the run has used. What fails here is told when the run's end is recorded.
    pub(super) async fn spend(&self, clock: &mut RunClock) {
        clock.written();
        let (store, lease) = (self.store.clone(), self.lease.clone());
        let used = u64::try_from(clock.used().as_millis()).unwrap_or(u64::MAX);
        if let Err(error) = blocking(move || store.spend(&lease, used)).await {
            tracing::debug!(run = %self.lease.run(), %error, "the time that a run has used could not be written down");
        }
    }

    /// Writes a line of ours into the run's log.
    pub(super) fn warn(&mut self, text: &str) {
        tracing::warn!(run = %self.lease.run(), "{text}");
        self.logs.push(LogStream::Stderr, self.now(), &format!("{text}\n"));
        self.unrecorded = true;
    }

    /// Masks what is known to be secret by now.
    pub(super) async fn refresh_masker(&mut self) {
        self.finish_logs().await;
        self.masked = self.host.known_secrets();
        self.store = self.store.masked(self.host.masker());
        self.logs = self.store.log_writer(&self.lease);
    }

    /// Takes in what a script or command tells.
    async fn narrate(&mut self, narration: Narration) {
        let is_node = matches!(narration, Narration::NodeStarted { .. } | Narration::NodeEnded { .. });
        self.take_narration(narration).await;
        if let Some(narrated) = self.narrated.as_mut().filter(|_| !is_node) {
            *narrated += 1;
            self.logs.set_narrated(*narrated);
            self.unrecorded = true;
        }
    }

    async fn take_narration(&mut self, narration: Narration) {
        let at = self.now();
        match narration {
            Narration::Phase { title, .. } => self.progress(None, None, Some(title)),
            Narration::Log { stream, text, data, goes_on } => {
                let text = match data {
                    Some(data) => format!("{text} {data}"),
                    None => text,
                };
                let error = stream == Stream::Stderr;
                let masked = self.store.masker().mask(&text).into_owned();
                if stream == Stream::Log {
                    self.progress(None, None, Some(masked.clone()));
                }
                let _ = self.events.try_send(RunEvent::Output { error, text: masked });
                let stream = if error { LogStream::Stderr } else { LogStream::Stdout };
                let end = if goes_on { "" } else { "\n" };
                self.logs.push(stream, at, &format!("{text}{end}"));
                self.unrecorded = true;
                if self.logs.buffered() >= LOG_BATCH {
                    self.flush().await;
                }
            }
            Narration::Progress { done, total, message } => {
                let said = SaidProgress::of(done, total);
                if self.said != Some(said) {
                    self.said = Some(said);
                    self.unsaid = true;
                    self.unrecorded = true;
                }
                self.progress(Some(done), total, message);
            }
            Narration::NodeStarted { id, parent, kind, title } => {
                let title = self.store.masker().mask(&title).into_owned();
                // What came up before the run was taken up again is no news.
                let is_new = self.nodes.start(id, parent, kind, title.clone(), at);
                if is_new && kind != NodeKind::Phase {
                    self.progress(None, None, Some(title));
                }
                self.unrecorded = true;
            }
            Narration::NodeEnded { id, status } => {
                if !self.nodes.end(id, status, at) {
                    return;
                }
                self.unrecorded = true;
                if self.said.is_some() {
                    // Whoever says how far it has come counts for itself.
                    return;
                }
                let finished = f64::from(u32::try_from(self.nodes.finished).unwrap_or(u32::MAX));
                self.progress(Some(finished), None, None);
            }
            Narration::Note(note) => {
                if note.code == "agent-failed" {
                    self.crew.failed(note.subject.as_deref().unwrap_or_default(), &note.text);
                }
                let subject = note.subject.map(|subject| format!(" {subject}")).unwrap_or_default();
                let text = format!("note: {}{subject}: {}", note.code, note.text);
                let masked = self.store.masker().mask(&text).into_owned();
                let _ = self.events.try_send(RunEvent::Output { error: true, text: masked });
                self.logs.push(LogStream::Stderr, at, &format!("{text}\n"));
                self.unrecorded = true;
            }
        }
    }

    /// Tells how far the run is. What says so comes from the project, and goes to clients and terminals: it is masked.
    fn progress(&self, done: Option<f64>, total: Option<f64>, message: Option<String>) {
        let message = message.map(|message| self.store.masker().mask(&message).into_owned());
        let _ = self.events.try_send(RunEvent::Progress { done, total, message });
    }

    /// Records everything that was written, also what was held back because a secret might have begun in it.
    pub(super) async fn finish_logs(&mut self) {
        self.flush().await;
        let mut logs = std::mem::replace(&mut self.logs, self.store.log_writer(&self.lease));
        if let Err(error) = blocking(move || logs.finish()).await {
            let why = model::with_causes(&error);
            tracing::error!(run = %self.lease.run(), "what a run wrote could not be recorded: {why}");
        }
    }

    /// Records what was written and how the nodes stand. What fails here is told when the run's end is recorded.
    pub(super) async fn flush(&mut self) {
        if !std::mem::take(&mut self.unrecorded) {
            return;
        }
        let (store, lease) = (self.store.clone(), self.lease.clone());
        let nodes = self.nodes.take_changed();
        let said = self.said.filter(|_| std::mem::take(&mut self.unsaid));
        let mut logs = std::mem::replace(&mut self.logs, store.log_writer(&lease));
        let (logs, outcome) = blocking(move || {
            let outcome = logs.flush().and_then(|()| store.upsert_nodes(&lease, &nodes));
            let outcome = outcome.and_then(|()| said.map_or(Ok(()), |said| store.come_so_far(&lease, said)));
            (logs, outcome)
        })
        .await;
        self.logs = logs;
        if let Err(error) = outcome {
            let why = model::with_causes(&error);
            tracing::error!(run = %self.lease.run(), "what a run wrote could not be recorded: {why}");
        }
    }
}
