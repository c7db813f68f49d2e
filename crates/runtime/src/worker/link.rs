//! The worker's two pipes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use process::standard_streams::ProtocolStreams;

use crate::protocol::{Delivered, FromWorker, LINE_BYTES, ToWorker};

/// The worker's end of the conversation.
pub(super) struct Link {
    output: Arc<Mutex<File>>,
    /// Results of host calls, in the order they are to be handed over; closed when the job is to end.
    pub(super) deliveries: Mutex<Receiver<Delivery>>,
    ending: Arc<Endings>,
}

/// What is to be done once the supervisor asks for the end.
type Action = Box<dyn FnOnce(Ending) + Send>;

/// What the reading thread knows of the end, and what is to be done then.
#[derive(Default)]
struct Endings {
    ending: Mutex<Option<Ending>>,
    actions: Mutex<Vec<Action>>,
}

/// What a script waits for.
pub(super) enum Delivery {
    Call(Delivered),
    Suspend,
    TimedOut,
    Cancelled,
}

/// Why a job is to end, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    TimedOut,
    Cancelled,
}

/// Reads the first message and starts the thread that reads the others.
pub(super) fn open(streams: ProtocolStreams) -> io::Result<(Arc<Link>, Option<ToWorker>)> {
    let mut input = BufReader::with_capacity(64 * 1024, streams.input);
    let first = next(&mut input);
    let (sender, deliveries) = channel();
    let ending: Arc<Endings> = Arc::default();
    let link = Arc::new(Link {
        output: Arc::new(Mutex::new(streams.output)),
        deliveries: Mutex::new(deliveries),
        ending: Arc::clone(&ending),
    });
    let listener = Arc::clone(&link);
    std::thread::Builder::new()
        .name("supervisor".into())
        .spawn(move || listen(&mut input, &sender, &ending, &listener))?;
    Ok((link, first))
}

fn listen(input: &mut BufReader<File>, sender: &Sender<Delivery>, endings: &Endings, link: &Arc<Link>) {
    while let Some(message) = next(input) {
        let (delivery, ending) = match message {
            ToWorker::Deliver(call) => (Delivery::Call(call), None),
            ToWorker::Exec(job) => {
                super::exec::start(job, link);
                continue;
            }
            ToWorker::Suspend => (Delivery::Suspend, None),
            ToWorker::TimeOut => (Delivery::TimedOut, Some(Ending::TimedOut)),
            ToWorker::Cancel => (Delivery::Cancelled, Some(Ending::Cancelled)),
            ToWorker::Structure(_) | ToWorker::Script(_) | ToWorker::Command(_) => continue,
        };
        // A job that has ended takes nothing more.
        let _ = sender.send(delivery);
        if let Some(ending) = ending {
            endings.set(ending);
        }
    }
    // The supervisor is gone. Nothing that was started here may outlive it, whatever the main thread is stuck in.
    process::tree::kill_descendants(std::process::id());
    #[expect(
        clippy::exit,
        reason = "the main thread may be in a loop of the project's, and there is nobody to report to"
    )]
    std::process::exit(0);
}

fn next(input: &mut BufReader<File>) -> Option<ToWorker> {
    let mut line = Vec::new();
    let most = u64::try_from(LINE_BYTES).unwrap_or(u64::MAX);
    match input.take(most).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => serde_json::from_slice(&line).map_err(|error| tracing::error!(%error, "an unreadable message")).ok(),
    }
}

impl Link {
    /// Sends a message. A supervisor that is gone is noticed by the reading thread.
    pub(super) fn say(&self, message: &FromWorker) {
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        let _ = self.output.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
    }

    /// Tells whether the supervisor has asked for the end, and why.
    pub(super) fn ending(&self) -> Option<Ending> {
        *self.ending.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `action` run when the supervisor asks for the end, or at once if it has.
    pub(super) fn when_ending(&self, action: impl FnOnce(Ending) + Send + 'static) {
        // Held while looking, so that an ending in between cannot miss the action.
        let mut actions = self.ending.actions.lock().unwrap_or_else(PoisonError::into_inner);
        match self.ending() {
            Some(ending) => {
                drop(actions);
                action(ending);
            }
            None => actions.push(Box::new(action)),
        }
    }

    /// Ends the conversation. What was said is in the pipe.
    pub(super) fn close(&self) {
        let _ = self.output.lock().unwrap_or_else(PoisonError::into_inner).flush();
    }
}

impl Endings {
    fn set(&self, ending: Ending) {
        let actions = {
            let mut actions = self.actions.lock().unwrap_or_else(PoisonError::into_inner);
            self.ending.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(ending);
            std::mem::take(&mut *actions)
        };
        for action in actions {
            action(ending);
        }
    }
}
