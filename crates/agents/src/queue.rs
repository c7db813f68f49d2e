//! Who may run: a number of slots, and a line in which whoever asked first is served first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// The slots of one run.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    free: usize,
    line: VecDeque<oneshot::Sender<Slot>>,
}

/// A place in the line, taken when it was asked for.
#[derive(Debug)]
pub(crate) struct Ticket {
    called: oneshot::Receiver<Slot>,
}

/// A slot; whoever is next has it when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    state: Option<Arc<Mutex<State>>>,
}

impl Queue {
    pub(crate) fn new(slots: usize) -> Self {
        Self { state: Arc::new(Mutex::new(State { free: slots.max(1), line: VecDeque::new() })) }
    }

    /// Takes a place in the line.
    pub(crate) fn ask(&self) -> Ticket {
        let (sender, called) = oneshot::channel();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.line.push_back(sender);
        }
        serve(&self.state);
        Ticket { called }
    }
}

/// Hands free slots to whoever still waits.
fn serve(state: &Arc<Mutex<State>>) {
    loop {
        let sender = {
            let mut held = state.lock().unwrap_or_else(PoisonError::into_inner);
            if held.free == 0 {
                return;
            }
            let Some(sender) = held.line.pop_front() else { return };
            held.free -= 1;
            sender
        };
        if let Err(mut refused) = sender.send(Slot { state: Some(Arc::clone(state)) }) {
            // Whoever waited is gone. Given back by hand, since dropping it would serve from within.
            refused.state = None;
            state.lock().unwrap_or_else(PoisonError::into_inner).free += 1;
        }
    }
}

impl Ticket {
    /// Waits for the slot; `None` never happens while the queue lives.
    pub(crate) async fn slot(self) -> Option<Slot> {
        self.called.await.ok()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            state.lock().unwrap_or_else(PoisonError::into_inner).free += 1;
            serve(&state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn first_come_first_served_and_the_gone_are_skipped() {
        let queue = Queue::new(1);
        let first = queue.ask().slot().await.expect("a slot");
        let second = queue.ask();
        let third = queue.ask();
        let fourth = queue.ask();
        drop(third);
        drop(first);
        let second = second.slot().await.expect("a slot");
        let mut fourth = fourth;
        assert!(fourth.called.try_recv().is_err(), "one at a time");
        drop(second);
        assert!(fourth.slot().await.is_some());
    }

    #[tokio::test]
    async fn a_slot_that_nobody_fetched_is_not_lost() {
        let queue = Queue::new(1);
        drop(queue.ask());
        assert!(queue.ask().slot().await.is_some());
    }
}
