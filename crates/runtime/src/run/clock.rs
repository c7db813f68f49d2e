//! How much of its `timeoutSeconds` a run has used.

use std::time::Duration;

use tokio::time::Instant;

/// The run's own time: it stands still while a person is waited for, and goes on where it was when the run is taken up
/// again or its command is started once more.
#[derive(Debug)]
pub(super) struct RunClock {
    limit: Option<Duration>,
    /// What was used up before `since`.
    used: Duration,
    since: Option<Instant>,
    /// When it is to be written down again.
    write_at: Instant,
}

/// How soon and how late the time that a run has used is written down; in between after a fiftieth of it.
const WRITE_SPENT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

impl RunClock {
    /// A clock that stands still.
    pub(super) fn new(limit: Option<Duration>, used: Duration) -> Self {
        Self { limit, used, since: None, write_at: Instant::now() + WRITE_SPENT.0 }
    }

    pub(super) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// What of its time the run has used.
    pub(super) fn used(&self) -> Duration {
        self.used + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn pause(&mut self) {
        self.used = self.used();
        self.since = None;
    }

    pub(super) fn go_on(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    /// When the run's time is over; never while the clock stands still.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.since?.checked_add(self.limit?.saturating_sub(self.used))
    }

    /// When the time is to be written down; never of a run without a limit.
    pub(super) fn due(&self) -> Option<Instant> {
        self.since.and(self.limit).map(|_| self.write_at)
    }

    pub(super) fn written(&mut self) {
        self.write_at = Instant::now() + (self.used() / 50).clamp(WRITE_SPENT.0, WRITE_SPENT.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(100);

    #[test]
    fn a_run_that_is_taken_up_again_has_the_rest_of_its_time() {
        let mut clock = RunClock::new(Some(LIMIT), Duration::from_secs(90));
        assert_eq!(clock.deadline(), None, "it stands still");
        clock.go_on();
        let left = clock.deadline().unwrap() - Instant::now();
        assert!(left <= Duration::from_secs(10) && clock.used() >= Duration::from_secs(90), "{left:?}");
        let mut late = RunClock::new(Some(LIMIT), LIMIT * 2);
        late.go_on();
        assert!(late.deadline().unwrap() <= Instant::now());
    }

    #[test]
    fn it_stands_still_while_a_person_is_waited_for() {
        let mut clock = RunClock::new(Some(LIMIT), Duration::ZERO);
        clock.go_on();
        clock.pause();
        let used = clock.used();
        std::thread::park_timeout(Duration::from_millis(20));
        clock.pause();
        assert_eq!((clock.used(), clock.deadline(), clock.due()), (used, None, None));
        clock.go_on();
        clock.go_on();
        assert!(clock.deadline().is_some());
    }

    #[test]
    fn it_is_written_down_while_it_goes_and_only_where_there_is_a_limit() {
        let mut clock = RunClock::new(Some(LIMIT), Duration::ZERO);
        clock.go_on();
        assert!(clock.due().unwrap() <= Instant::now() + WRITE_SPENT.0);
        let mut endless = RunClock::new(None, Duration::ZERO);
        endless.go_on();
        assert_eq!((endless.due(), endless.deadline()), (None, None));
        let mut long = RunClock::new(Some(LIMIT * 100), LIMIT * 50);
        long.written();
        long.go_on();
        assert!(long.due().unwrap() > Instant::now() + WRITE_SPENT.0, "a long run need not say it every second");
    }
}
