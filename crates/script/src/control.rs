//! Stops a script from outside: a flag and a deadline that the engine looks at while it executes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a script is stopped from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Somebody asked for it.
    Cancelled(String),
    /// Its time is over.
    TimedOut,
}

/// The means to stop one run, from any thread. Cancelling wins over the deadline; the first reason is kept.
#[derive(Debug)]
pub struct Control {
    /// What the deadline counts from.
    base: Instant,
    /// Nanoseconds after `base` when the time is over; [`NEVER`] for no deadline.
    deadline: AtomicU64,
    cancelled: Mutex<Option<String>>,
    /// Whether `cancelled` holds a reason, to spare the lock.
    flag: std::sync::atomic::AtomicBool,
}

const NEVER: u64 = u64::MAX;

impl Default for Control {
    fn default() -> Self {
        Self {
            base: Instant::now(),
            deadline: AtomicU64::new(NEVER),
            cancelled: Mutex::new(None),
            flag: std::sync::atomic::AtomicBool::new(false),
        }
    }
}

impl Control {
    /// Makes a control without a deadline.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the run. A script that executes is stopped at once; one that waits must be woken by
    /// [`crate::Delivery::Cancelled`] as well.
    pub fn cancel(&self, reason: impl Into<String>) {
        let mut cancelled = self.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        cancelled.get_or_insert_with(|| reason.into());
        self.flag.store(true, Ordering::SeqCst);
    }

    /// Sets the moment when the run's time is over; `None` for no limit. May be moved at any time, since waiting for a
    /// person does not count.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        let nanoseconds = deadline
            .map_or(NEVER, |at| u64::try_from(at.saturating_duration_since(self.base).as_nanos()).unwrap_or(NEVER));
        self.deadline.store(nanoseconds, Ordering::SeqCst);
    }

    /// Sets the deadline that far from now.
    pub fn time_out_after(&self, duration: Duration) {
        self.set_deadline(Instant::now().checked_add(duration));
    }

    /// Tells whether the run must stop, and why.
    pub(crate) fn stop(&self) -> Option<Stop> {
        if self.flag.load(Ordering::Relaxed) {
            let cancelled = self.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
            return Some(Stop::Cancelled(cancelled.clone().unwrap_or_default()));
        }
        let deadline = self.deadline.load(Ordering::Relaxed);
        (deadline != NEVER && self.base.elapsed().as_nanos() >= u128::from(deadline)).then_some(Stop::TimedOut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_wins_and_the_first_reason_stays() {
        let control = Control::new();
        assert_eq!(control.stop(), None);
        control.set_deadline(Some(Instant::now()));
        assert_eq!(control.stop(), Some(Stop::TimedOut));
        control.set_deadline(None);
        assert_eq!(control.stop(), None);
        control.cancel("one");
        control.cancel("two");
        control.set_deadline(Some(Instant::now()));
        assert_eq!(control.stop(), Some(Stop::Cancelled("one".into())));
    }
}
