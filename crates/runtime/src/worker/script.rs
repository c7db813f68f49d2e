//! Runs a script entrypoint: the engine on one thread, its host at the other end of the pipe.

use std::sync::{Arc, PoisonError};

use script::{Control, Host, HostCall, Job, ModuleSource, Narration, Tally};

use super::link::{Delivery, Ending, Link};
use crate::protocol::{FromWorker, Outcome};

/// Addresses that a worker may have beside twice its engine's memory: its code, its stacks, and what the host sends it.
const FENCE_ROOM: u64 = 1024 * 1024 * 1024;

/// Runs the script and tells what became of it.
pub(super) fn run(job: &Job, link: &Link) {
    process::memory::fence(job.memory_bytes.saturating_mul(2).saturating_add(FENCE_ROOM));
    let control = Arc::new(Control::new());
    let stop = Arc::clone(&control);
    link.when_ending(move |ending| match ending {
        Ending::Cancelled => stop.cancel("cancelled"),
        Ending::TimedOut => stop.set_deadline(Some(std::time::Instant::now())),
    });
    if let Some(reason) = &job.cancelled {
        control.cancel(reason.clone());
    }
    let outcome = match script::run(job, &mut Remote { link }, &control) {
        script::Outcome::Success(output) => Outcome::Success { output },
        script::Outcome::Failed(error) => Outcome::Failed { error },
        script::Outcome::Cancelled { .. } => Outcome::Cancelled,
        script::Outcome::TimedOut => Outcome::TimedOut,
        script::Outcome::Suspended => Outcome::Suspended,
    };
    link.say(&FromWorker::Done(outcome));
}

/// The host, as far as the engine sees it.
struct Remote<'a> {
    link: &'a Link,
}

impl Host for Remote<'_> {
    fn loaded(&mut self, modules: &[ModuleSource]) {
        self.link.say(&FromWorker::Loaded { modules: modules.to_vec() });
    }

    fn issue(&mut self, call: HostCall) {
        self.link.say(&FromWorker::Call(call));
    }

    fn abandon(&mut self, seq: u64) {
        self.link.say(&FromWorker::Abandon { seq });
    }

    fn tally(&mut self, tally: Tally) {
        self.link.say(&FromWorker::Tally { tally });
    }

    fn narrate(&mut self, event: Narration) {
        self.link.say(&FromWorker::Narrate(event));
    }

    fn next_delivery(&mut self) -> script::Delivery {
        let deliveries = self.link.deliveries.lock().unwrap_or_else(PoisonError::into_inner);
        match deliveries.recv() {
            Ok(Delivery::Call(call)) => script::Delivery::Done { seq: call.seq, at: call.at, outcome: call.outcome },
            Ok(Delivery::Suspend) => script::Delivery::Suspend,
            Ok(Delivery::TimedOut) => script::Delivery::TimedOut,
            // A closed channel: the supervisor is gone, and the reading thread ends the process.
            Ok(Delivery::Cancelled) | Err(_) => script::Delivery::Cancelled { reason: "cancelled".into() },
        }
    }
}
