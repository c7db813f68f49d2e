//! What of a run is in hand while it runs: what its worker says comes in here, and what it asked for goes out.

use std::sync::Arc;
use std::time::Duration;

use model::{CreatedFile, ErrorCode, InteractionKind, NodeKind, ParamType, RunError, RunStatus, TimestampMs};
use script::{CallKind, HostCall, HostError, Narration, Stream};
use serde_json::Value;
use store::{Lease, LogStream, LogWriter, NewQuestion, Question, Store, StoreError};
use tokio::sync::mpsc;

use super::end::answer_value;
use super::nodes::Nodes;
use super::questions::{Asked, Open, form_of};
use super::{LOG_BATCH, RunEvent};
use crate::executor::blocking;
use crate::host_calls::{self, HostContext};
use crate::protocol::{BUILD, Delivered, FromWorker};

/// A waiting run is given up after this long.
const EXPIRES: TimestampMs = 30 * 24 * 3600 * 1000;

/// The result of a host call on its way back.
pub(super) type Results = mpsc::UnboundedSender<(HostCall, Result<Value, HostError>)>;

pub(super) struct Running {
    pub(super) store: Store,
    pub(super) lease: Lease,
    pub(super) host: Arc<HostContext>,
    pub(super) events: mpsc::Sender<RunEvent>,
    pub(super) nodes: Nodes,
    pub(super) logs: LogWriter,
    pub(super) unrecorded: bool,
    pub(super) files: Vec<CreatedFile>,
    pub(super) open: Vec<Open>,
    /// Questions that the run had asked before it was taken up again.
    pub(super) asked_before: Vec<Question>,
    /// Host calls that somebody works on.
    pub(super) in_flight: usize,
    /// Whether the run is recorded as waiting for a person.
    pub(super) waiting: bool,
}

/// Why a run cannot go on here.
#[derive(Debug)]
pub(super) enum Stop {
    /// It has failed.
    Failed(RunError),
    /// Another process has it.
    Lost,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::StaleEpoch { .. } => Self::Lost,
            error => Self::Failed(
                RunError::new(ErrorCode::WorkerDied, "the run could not be recorded, so it was stopped")
                    .with_cause(model::with_causes(&error)),
            ),
        }
    }
}

pub(super) fn now() -> TimestampMs {
    model::Clock::now(&model::SystemClock)
}

impl Running {
    /// Takes in what the worker says.
    pub(super) async fn hear(&mut self, message: FromWorker, results: &Results) -> Result<(), Stop> {
        match message {
            FromWorker::Ready { build } if build != BUILD => Err(Stop::Failed(RunError::new(
                ErrorCode::WorkerDied,
                "Workflow Code was updated while this server ran: reconnect",
            ))),
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
            FromWorker::Call(call) => match call.kind {
                CallKind::Form | CallKind::Approve => self.ask(call, results).await,
                _ => {
                    self.call(call, results);
                    Ok(())
                }
            },
        }
    }

    fn call(&mut self, call: HostCall, results: &Results) {
        let host = Arc::clone(&self.host);
        let results = results.clone();
        let run = self.lease.run().clone();
        self.in_flight += 1;
        tokio::spawn(async move {
            let outcome = match call.kind {
                CallKind::Sleep => {
                    let milliseconds = call.args.get("ms").and_then(Value::as_f64).unwrap_or(0.0).clamp(0.0, 1e12);
                    tokio::time::sleep(Duration::from_secs_f64(milliseconds / 1000.0)).await;
                    Ok(Value::Null)
                }
                kind => {
                    let args = call.args.clone();
                    blocking(move || host_calls::perform(&host, &run, kind, &args)).await
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
            None => self.record_question(Some(call.seq), &form, kind).await?,
        };
        self.nodes.waits(call.own_node, true);
        self.unrecorded = true;
        self.wait_for(Open { number, call: Some(call), form, kind }).await;
        Ok(())
    }

    /// Records a question that is asked for the first time.
    pub(super) async fn record_question(
        &mut self,
        seq: Option<u64>,
        form: &model::Form,
        kind: InteractionKind,
    ) -> Result<u64, Stop> {
        let new = NewQuestion { seq, form: form.clone(), kind, child: None, expires_at: Some(now() + EXPIRES) };
        let (store, lease) = (self.store.clone(), self.lease.clone());
        let number = blocking(move || store.ask(&lease, &new)).await?;
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

    /// Tells of an open question.
    pub(super) async fn wait_for(&mut self, open: Open) {
        let asked = Asked { number: open.number, form: open.form.clone(), kind: open.kind };
        self.open.push(open);
        // Whoever listens must hear of it: unlike progress, it is not overtaken by anything.
        let _ = self.events.send(RunEvent::Question(asked)).await;
    }

    /// Looks whether an open question was answered, by whomever. Returns the answered one with its answer.
    pub(super) async fn answered(&mut self) -> Result<Option<(Open, Value)>, Stop> {
        for place in 0..self.open.len() {
            let number = self.open[place].number;
            let (store, lease) = (self.store.clone(), self.lease.clone());
            let Some((action, content)) = blocking(move || store.answer_content(&lease, number)).await? else {
                continue;
            };
            let open = self.open.remove(place);
            for field in open.form.fields.iter().filter(|field| field.kind == ParamType::Secret) {
                if let Some(secret) = content.get(&field.name).and_then(Value::as_str) {
                    self.host.add_secret(secret);
                }
            }
            self.refresh_masker().await;
            if self.open.is_empty() && std::mem::take(&mut self.waiting) {
                let (store, lease) = (self.store.clone(), self.lease.clone());
                blocking(move || store.transition(&lease, RunStatus::Running)).await?;
            }
            self.nodes.waits(open.call.as_ref().and_then(|call| call.own_node), false);
            self.unrecorded = true;
            let _ = self.events.send(RunEvent::Answered { number }).await;
            let value = answer_value(open.kind, action, content);
            return Ok(Some((open, value)));
        }
        Ok(None)
    }

    /// Journals the result of a host call, and only then lets the script have it.
    pub(super) async fn deliver(
        &mut self,
        call: &HostCall,
        outcome: Result<Value, HostError>,
    ) -> Result<Delivered, Stop> {
        let at = now();
        if call.kind == CallKind::Secret {
            // From now on its value is masked in all that is recorded.
            self.refresh_masker().await;
        }
        if let (CallKind::FilesCreate, Ok(value)) = (call.kind, &outcome)
            && let Some(created) = self.host.created_file(value)
        {
            self.files.retain(|file| file.path != created.path);
            self.files.push(created);
        }
        let delivered = Delivered { seq: call.seq, at, outcome };
        let rows = crate::journal::rows(call, &delivered);
        let durability = crate::journal::durability(call.kind);
        let (store, lease) = (self.store.clone(), self.lease.clone());
        blocking(move || store.append_journal(&lease, &rows, durability)).await?;
        Ok(delivered)
    }

    /// Writes a line of ours into the run's log.
    pub(super) fn warn(&mut self, text: &str) {
        tracing::warn!(run = %self.lease.run(), "{text}");
        self.logs.push(LogStream::Stderr, now(), &format!("{text}\n"));
        self.unrecorded = true;
    }

    /// Masks what is known to be secret by now.
    pub(super) async fn refresh_masker(&mut self) {
        self.finish_logs().await;
        self.store = self.store.masked(self.host.masker());
        self.logs = self.store.log_writer(&self.lease);
    }

    async fn narrate(&mut self, narration: Narration) {
        let at = now();
        match narration {
            Narration::Phase { title, .. } => self.progress(None, None, Some(title)),
            Narration::Log { stream, text, data } => {
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
                self.logs.push(stream, at, &format!("{text}\n"));
                self.unrecorded = true;
                if self.logs.buffered() >= LOG_BATCH {
                    self.flush().await;
                }
            }
            Narration::Progress { done, total, message } => self.progress(Some(done), total, message),
            Narration::NodeStarted { id, parent, kind, title } => {
                let title = self.store.masker().mask(&title).into_owned();
                if kind != NodeKind::Phase {
                    self.progress(None, None, Some(title.clone()));
                }
                self.nodes.start(id, parent, kind, title, at);
                self.unrecorded = true;
            }
            Narration::NodeEnded { id, status } => {
                self.nodes.end(id, status, at);
                self.unrecorded = true;
                // What was finished counts until `progress()` says something of its own.
                let finished = f64::from(u32::try_from(self.nodes.finished).unwrap_or(u32::MAX));
                self.progress(Some(finished), None, None);
            }
            Narration::Note(note) => {
                let text = serde_json::to_string(&note).unwrap_or_default();
                tracing::info!(run = %self.lease.run(), "{text}");
            }
        }
    }

    fn progress(&self, done: Option<f64>, total: Option<f64>, message: Option<String>) {
        let _ = self.events.try_send(RunEvent::Progress { done, total, message });
    }

    /// Records everything that was written, also what was held back because a secret might have begun in it.
    pub(super) async fn finish_logs(&mut self) {
        self.flush().await;
        let mut logs = std::mem::replace(&mut self.logs, self.store.log_writer(&self.lease));
        if let Err(error) = blocking(move || logs.finish()).await {
            tracing::error!(run = %self.lease.run(), %error, "what a run wrote could not be recorded");
        }
    }

    /// Records what was written and how the nodes stand. What fails here is told when the run's end is recorded.
    pub(super) async fn flush(&mut self) {
        if !std::mem::take(&mut self.unrecorded) {
            return;
        }
        let (store, lease) = (self.store.clone(), self.lease.clone());
        let nodes = self.nodes.take_changed();
        let mut logs = std::mem::replace(&mut self.logs, store.log_writer(&lease));
        let (logs, outcome) = blocking(move || {
            let outcome = logs.flush().and_then(|()| store.upsert_nodes(&lease, &nodes));
            (logs, outcome)
        })
        .await;
        self.logs = logs;
        if let Err(error) = outcome {
            tracing::error!(run = %self.lease.run(), %error, "what a run wrote could not be recorded");
        }
    }
}
