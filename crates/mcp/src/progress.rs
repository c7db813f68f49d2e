//! How often a client hears of a call: the first word at once, at most four a second, a sign of life every five.

use std::time::Duration;

use tokio::time::Instant;

/// At most one word in this time.
const PACE: Duration = Duration::from_millis(250);

/// A sign of life after this much silence, so that a client's timeout does not fire while the run lives.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// By how much a value grows that would not grow by itself; the protocol wants every value above the last.
const SMALLEST_STEP: f64 = 0.001;

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Update {
    /// How much is done; absent when only the message is news.
    pub done: Option<f64>,
    /// How much there is to do, when it is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// Decides what is sent when. Plain state: the caller brings the time and does the sending.
#[derive(Debug)]
pub struct Pacer {
    waiting: Option<Update>,
    last_sent: Option<Instant>,
    last: Update,
    value: f64,
}

impl Pacer {
    /// Starts with a sign of life that is due at `HEARTBEAT` from now.
    #[must_use]
    pub fn new() -> Self {
        Self { waiting: None, last_sent: None, last: Update::default(), value: 0.0 }
    }

    /// Takes news in. What was waiting is overtaken by it.
    pub fn push(&mut self, update: Update) {
        let waiting = self.waiting.get_or_insert_with(|| self.last.clone());
        if update.done.is_some_and(f64::is_finite) {
            waiting.done = update.done;
        }
        if update.total.is_some_and(f64::is_finite) {
            waiting.total = update.total;
        }
        if update.message.is_some() {
            waiting.message = update.message;
        }
    }

    /// Says when there is something to send next, counted from `started` while nothing was sent yet.
    #[must_use]
    pub fn due(&self, started: Instant) -> Instant {
        match (&self.waiting, self.last_sent) {
            (Some(_), None) => started,
            (Some(_), Some(last)) => last + PACE,
            (None, last) => last.unwrap_or(started) + HEARTBEAT,
        }
    }

    /// Returns what is to be sent at `now`: the news, or a sign of life.
    pub fn take(&mut self, now: Instant) -> Update {
        let update = self.waiting.take().unwrap_or_else(|| Update { done: None, ..self.last.clone() });
        let first = self.last_sent.is_none();
        self.value = match update.done {
            Some(done) if first || done > self.value => done,
            Some(_) | None => self.value + SMALLEST_STEP,
        };
        self.last_sent = Some(now);
        self.last = Update { done: update.done.or(self.last.done), ..update };
        Update { done: Some(self.value), total: self.last.total, message: self.last.message.clone() }
    }

    /// Returns the last word before the answer, when there is news that was held back.
    pub fn flush(&mut self, now: Instant) -> Option<Update> {
        self.waiting.is_some().then(|| self.take(now))
    }
}

impl Default for Pacer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(done: f64) -> Update {
        Update { done: Some(done), ..Update::default() }
    }

    #[test]
    fn the_first_word_is_due_at_once_and_the_next_after_a_quarter_of_a_second() {
        let start = Instant::now();
        let mut pacer = Pacer::new();
        assert_eq!(pacer.due(start), start + HEARTBEAT);
        pacer.push(done(1.0));
        assert_eq!(pacer.due(start), start);
        assert_eq!(pacer.take(start).done, Some(1.0));
        pacer.push(done(2.0));
        pacer.push(done(3.0));
        assert_eq!(pacer.due(start), start + PACE);
        assert_eq!(pacer.take(start + PACE).done, Some(3.0));
        assert_eq!(pacer.flush(start + PACE), None);
    }

    #[test]
    fn values_always_grow() {
        let now = Instant::now();
        let mut pacer = Pacer::new();
        let mut last = f64::NEG_INFINITY;
        for update in [done(-3.0), done(5.0), done(2.0), Update::default(), done(f64::NAN), done(5.0), done(9.0)] {
            pacer.push(update);
            let value = pacer.take(now).done.expect("a value");
            assert!(value > last, "{value} after {last}");
            last = value;
        }
        assert!((last - 9.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_heartbeat_keeps_the_message() {
        let now = Instant::now();
        let mut pacer = Pacer::new();
        pacer.push(Update { done: Some(1.0), total: Some(4.0), message: Some("reading".into()) });
        pacer.take(now);
        let beat = pacer.take(now + HEARTBEAT);
        assert_eq!(beat, Update { done: Some(1.001), total: Some(4.0), message: Some("reading".into()) });
    }
}
