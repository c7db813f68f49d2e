//! What the engine's callbacks share: how the run stands, its clock and chance, and the way to the host.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use model::{ErrorCode, NodeKind, NodeStatus, RunError, TimestampMs};
use serde_json::Value;

use super::memory::Gauge;
use super::random::Random;
use super::replay::{Diverged, Replay};
use crate::control::Stop;
use crate::{Control, HostCall, Job, ModuleSource, Narration, Outcome, Tally};

/// What goes to the thread that owns the host.
pub(super) enum ToHost {
    Loaded(Vec<ModuleSource>),
    Issue(HostCall),
    Abandon(u64),
    Narrate(Narration),
    /// Nothing is left to do: a delivery is wanted.
    Next,
    /// The run is over.
    End(Outcome, Tally),
}

/// What a script computes at a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slice {
    /// Before its first `await`.
    First,
    /// From one delivery to the next time that it waits for something.
    Later,
}

/// How long this thread has computed.
fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed()
    }
}

/// How a run ends that went another way than before.
pub(super) fn divergence(diverged: Diverged) -> Outcome {
    Outcome::Failed(RunError::new(
        ErrorCode::ReplayDiverged,
        format!("the run cannot be continued, since the script takes another way than before: {}", diverged.0),
    ))
}

/// The state of one run.
pub(super) struct Shared {
    control: Arc<Control>,
    /// The engine's memory.
    pub gauge: Rc<Gauge>,
    memory_bytes: u64,
    /// How the run ends, once that is certain.
    ending: RefCell<Option<Outcome>>,
    /// What the script returned, before it is checked.
    pub finished: RefCell<Option<Value>>,
    pub replay: RefCell<Replay>,
    to_host: SyncSender<ToHost>,
    clock: Cell<TimestampMs>,
    random: RefCell<Random>,
    /// Narrations that were recorded already; none: not told while replaying.
    narrated: Cell<Option<u64>>,
    /// Nodes that were started and have not ended.
    open_nodes: RefCell<BTreeMap<u64, NodeKind>>,
    /// The slice of an orchestration script that executes now, and the processor time at which it is over.
    slice: Cell<Option<(Slice, Duration)>>,
    first_slice_ms: Option<u64>,
    later_slice_ms: Option<u64>,
    /// What the run's agents came to.
    pub tally: Cell<Tally>,
}

impl Shared {
    pub(super) fn new(job: &Job, control: Arc<Control>, to_host: SyncSender<ToHost>) -> Self {
        Self {
            control,
            gauge: Rc::new(Gauge::default()),
            memory_bytes: job.memory_bytes,
            ending: RefCell::new(None),
            finished: RefCell::new(None),
            replay: RefCell::new(Replay::new(&job.journal)),
            to_host,
            clock: Cell::new(job.started_at),
            random: RefCell::new(Random::new(job.seed)),
            narrated: Cell::new(job.narrated),
            open_nodes: RefCell::new(BTreeMap::new()),
            slice: Cell::new(None),
            // What was fast enough once is not judged again while it is replayed.
            first_slice_ms: if job.journal.is_empty() { job.first_slice_ms } else { job.later_slice_ms },
            later_slice_ms: job.later_slice_ms,
            tally: Cell::new(Tally::default()),
        }
    }

    /// Tells whether the script must stop; cheap, since the engine asks while it executes.
    pub(super) fn must_stop(&self) -> bool {
        self.gauge.refused.get()
            || self.ending.borrow().is_some()
            || self.control.stop().is_some()
            || self.slice_is_over()
    }

    /// Times a slice of an orchestration script, which `body` executes. What counts is the engine's own work, however
    /// busy the machine is and however long the host takes to listen.
    pub(super) fn in_slice<T>(&self, slice: Slice, body: impl FnOnce() -> T) -> T {
        let limit = self.slice_ms(slice).and_then(|limit| processor_time().checked_add(Duration::from_millis(limit)));
        self.slice.set(limit.map(|limit| (slice, limit)));
        let value = body();
        if self.slice_is_over() {
            // Noted before the limit is taken away.
            self.ending();
        }
        self.slice.set(None);
        value
    }

    fn slice_ms(&self, slice: Slice) -> Option<u64> {
        match slice {
            Slice::First => self.first_slice_ms,
            Slice::Later => self.later_slice_ms,
        }
    }

    fn slice_is_over(&self) -> bool {
        self.slice.get().is_some_and(|(_, limit)| processor_time() >= limit)
    }

    /// Returns how the run ends, if it must end now. What came first is kept.
    pub(super) fn ending(&self) -> Option<Outcome> {
        if self.ending.borrow().is_none() {
            if self.gauge.refused.get() {
                self.end(Outcome::Failed(RunError::new(
                    ErrorCode::MemoryLimit,
                    format!(
                        "the script needs more memory than its limit of {} MB (`memoryMb`)",
                        self.memory_bytes / (1024 * 1024)
                    ),
                )));
            } else if let Some(stop) = self.control.stop() {
                self.end(match stop {
                    Stop::Cancelled(reason) => Outcome::Cancelled { reason },
                    Stop::TimedOut => Outcome::TimedOut,
                });
            } else if self.slice_is_over()
                && let Some((slice, _)) = self.slice.get()
            {
                let place = match slice {
                    Slice::First => "before its first `await`",
                    Slice::Later => "without waiting for anything",
                };
                let limit = self.slice_ms(slice).unwrap_or_default();
                let message = format!("the script timed out: it computed for over {limit} ms {place}");
                self.end(Outcome::Failed(RunError::new(ErrorCode::ScriptError, message)));
            }
        }
        self.ending.borrow().clone()
    }

    /// Decides how the run ends, unless that is decided.
    pub(super) fn end(&self, outcome: Outcome) {
        self.ending.borrow_mut().get_or_insert(outcome);
    }

    /// Ends the run since it went another way than before.
    pub(super) fn diverge(&self, diverged: Diverged) {
        self.end(divergence(diverged));
    }

    /// Sends to the host's thread. If that is gone nobody is left to run for.
    pub(super) fn send(&self, message: ToHost) {
        if self.to_host.send(message).is_err() {
            self.end(Outcome::Cancelled { reason: "the host is gone".into() });
        }
    }

    /// Tells something, unless it was told before a resume.
    pub(super) fn narrate(&self, event: Narration) {
        // Nodes have numbers, so a host that knows one already loses nothing; one that was gone before it could record
        // it would otherwise never hear of it again.
        let is_node = matches!(event, Narration::NodeStarted { .. } | Narration::NodeEnded { .. });
        match self.narrated.get() {
            _ if is_node => {}
            Some(0) => {}
            Some(left) => return self.narrated.set(Some(left - 1)),
            None if !self.replay.borrow().is_live() => return,
            None => {}
        }
        self.send(ToHost::Narrate(event));
    }

    pub(super) fn start_node(&self, id: u64, parent: Option<u64>, kind: NodeKind, title: String) {
        self.open_nodes.borrow_mut().insert(id, kind);
        self.narrate(Narration::NodeStarted { id, parent, kind, title });
    }

    pub(super) fn end_node(&self, id: u64, status: NodeStatus) {
        if self.open_nodes.borrow_mut().remove(&id).is_some() {
            self.narrate(Narration::NodeEnded { id, status });
        }
    }

    /// Ends what is still open when the run ends, innermost first.
    pub(super) fn end_nodes(&self, outcome: &Outcome) {
        let open = std::mem::take(&mut *self.open_nodes.borrow_mut());
        for (id, kind) in open.into_iter().rev() {
            let group = match kind {
                NodeKind::Phase | NodeKind::Step => true,
                NodeKind::Agent | NodeKind::Form | NodeKind::Command | NodeKind::Related => false,
            };
            let status = match outcome {
                Outcome::Success(_) if kind == NodeKind::Phase => NodeStatus::Success,
                Outcome::Failed(_) if group => NodeStatus::Failed,
                // Calls that nobody waited for end with the run.
                Outcome::Success(_) | Outcome::Failed(_) | Outcome::Cancelled { .. } | Outcome::TimedOut => {
                    NodeStatus::Cancelled
                }
                // It goes on later.
                Outcome::Suspended => return,
            };
            self.narrate(Narration::NodeEnded { id, status });
        }
    }

    /// Returns what the script's clock shows.
    pub(super) fn clock(&self) -> TimestampMs {
        self.clock.get()
    }

    /// Moves the clock to a delivery; never back.
    pub(super) fn advance_clock(&self, at: TimestampMs) {
        self.clock.set(self.clock.get().max(at));
    }

    /// Returns the next number of the run's chance, in [0, 1).
    pub(super) fn random(&self) -> f64 {
        self.random.borrow_mut().next()
    }
}
