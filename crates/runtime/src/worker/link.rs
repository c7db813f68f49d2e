//! The worker's two pipes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use process::standard_streams::ProtocolStreams;

use crate::protocol::{DeliveredCall, FromWorker, LINE_BYTES, ToWorker};

/// The worker's end of the conversation.
pub(super) struct Link {
    output: Arc<Mutex<File>>,
    /// Results of host calls, in the order they are to be handed over; closed when the job is to end.
    pub(super) deliveries: Mutex<Receiver<Delivery>>,
    cancelled: Arc<AtomicBool>,
    /// Runs once, on the reading thread, when the supervisor asks for the end.
    on_cancel: Arc<Mutex<Vec<Box<dyn FnOnce() + Send>>>>,
}

/// What a script waits for.
pub(super) enum Delivery {
    Call(DeliveredCall),
    Cancelled,
}

/// Reads the first message and starts the thread that reads the others.
pub(super) fn open(streams: ProtocolStreams) -> io::Result<(Link, Option<ToWorker>)> {
    let mut input = BufReader::with_capacity(64 * 1024, streams.input);
    let first = next(&mut input);
    let (sender, deliveries) = channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let on_cancel: Arc<Mutex<Vec<Box<dyn FnOnce() + Send>>>> = Arc::default();
    let link = Link {
        output: Arc::new(Mutex::new(streams.output)),
        deliveries: Mutex::new(deliveries),
        cancelled: Arc::clone(&cancelled),
        on_cancel: Arc::clone(&on_cancel),
    };
    std::thread::Builder::new().name("supervisor".into()).spawn(move || {
        listen(&mut input, &sender, &cancelled, &on_cancel);
    })?;
    Ok((link, first))
}

fn listen(
    input: &mut BufReader<File>,
    sender: &Sender<Delivery>,
    cancelled: &AtomicBool,
    on_cancel: &Mutex<Vec<Box<dyn FnOnce() + Send>>>,
) {
    while let Some(message) = next(input) {
        match message {
            ToWorker::Deliver(call) => {
                let _ = sender.send(Delivery::Call(call));
            }
            ToWorker::Cancel => {
                cancelled.store(true, Ordering::SeqCst);
                let _ = sender.send(Delivery::Cancelled);
                let actions = std::mem::take(&mut *on_cancel.lock().unwrap_or_else(PoisonError::into_inner));
                for action in actions {
                    action();
                }
            }
            ToWorker::Structure(_) | ToWorker::Script(_) | ToWorker::Command(_) => {}
        }
    }
    // The supervisor is gone. Nothing that was started here may outlive it, whatever the main thread is stuck in.
    process::tree::kill_descendants(std::process::id());
    #[expect(clippy::exit, reason = "the main thread may be in a loop of the project's, and there is nobody to report to")]
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

    /// Tells whether the supervisor has asked for the end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Has `action` run when the supervisor asks for the end, or at once if it has.
    pub(super) fn when_cancelled(&self, action: impl FnOnce() + Send + 'static) {
        let mut actions = self.on_cancel.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            drop(actions);
            action();
        } else {
            actions.push(Box::new(action));
        }
    }

    /// Ends the conversation. What was said is in the pipe.
    pub(super) fn close(&self) {
        let _ = self.output.lock().unwrap_or_else(PoisonError::into_inner).flush();
    }
}
