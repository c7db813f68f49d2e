//! The journal of a run, seen from inside: which calls were made, which outcomes come next, and whether the script
//! still takes the way it took before.
//!
//! Calls are numbered in the order the script makes them. As long as recorded outcomes are left nothing is started;
//! they are handed over in the order in which they were recorded, one at a time. When they are used up the run is live:
//! calls without an outcome are started then, and new ones at once.

use std::collections::{BTreeMap, HashMap, VecDeque};

use model::TimestampMs;
use serde_json::Value;

use crate::{HostCall, HostError, JournalRow};

/// A recorded outcome.
pub(super) struct Recorded {
    pub seq: u64,
    pub at: TimestampMs,
    pub outcome: Result<Value, HostError>,
}

/// What the driver has to do when the script can do nothing else.
pub(super) enum Next {
    /// Hand over a recorded outcome.
    Recorded(Recorded),
    /// Start these calls, then wait for the host.
    Live(Vec<HostCall>),
}

/// What went differently.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Diverged(pub String);

/// The journal while it is followed.
pub(super) struct Replay {
    /// Recorded calls: kind and fingerprint.
    recorded: HashMap<u64, (String, String)>,
    /// The highest of their numbers.
    last_recorded: u64,
    outcomes: VecDeque<Recorded>,
    live: bool,
    made: u64,
    /// Calls without an outcome; those that are not started yet are held here.
    open: BTreeMap<u64, Option<HostCall>>,
}

impl Replay {
    pub(super) fn new(journal: &[JournalRow]) -> Self {
        let mut recorded = HashMap::new();
        let mut outcomes = VecDeque::new();
        for row in journal {
            match row {
                JournalRow::Issue { seq, kind, fingerprint } => {
                    recorded.insert(*seq, (kind.clone(), fingerprint.clone()));
                }
                JournalRow::Done { seq, at, outcome } => {
                    outcomes.push_back(Recorded { seq: *seq, at: *at, outcome: outcome.clone() });
                }
            }
        }
        let last_recorded = recorded.keys().copied().max().unwrap_or(0);
        let live = journal.is_empty();
        Self { recorded, last_recorded, outcomes, live, made: 0, open: BTreeMap::new() }
    }

    /// Tells whether the run is past its record.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Returns the number of the next call.
    pub(super) fn next_seq(&self) -> u64 {
        self.made + 1
    }

    /// Takes a call that the script makes; gives it back if it is to be started at once.
    pub(super) fn issue(&mut self, call: HostCall) -> Result<Option<HostCall>, Diverged> {
        self.made = call.seq;
        if let Some((kind, fingerprint)) = self.recorded.get(&call.seq) {
            if *kind != call.kind.as_str() {
                return Err(Diverged(format!("call {} was `{kind}` and is now `{}`", call.seq, call.kind.as_str())));
            }
            if *fingerprint != call.fingerprint {
                return Err(Diverged(format!("call {} (`{kind}`) has other arguments than before", call.seq)));
            }
        }
        let seq = call.seq;
        if self.live {
            self.open.insert(seq, None);
            Ok(Some(call))
        } else {
            self.open.insert(seq, Some(call));
            Ok(None)
        }
    }

    /// Forgets a call that nobody waits for; tells whether the host knows of it.
    pub(super) fn abandon(&mut self, seq: u64) -> bool {
        matches!(self.open.remove(&seq), Some(None))
    }

    /// Decides what comes next.
    pub(super) fn next(&mut self) -> Result<Next, Diverged> {
        while let Some(recorded) = self.outcomes.pop_front() {
            if recorded.seq > self.made {
                return Err(self.missing(recorded.seq));
            }
            // Outcomes of calls that were abandoned meanwhile mean nothing, now as then.
            if self.open.remove(&recorded.seq).is_some() {
                return Ok(Next::Recorded(recorded));
            }
        }
        let mut start = Vec::new();
        if !self.live {
            self.check_complete()?;
            self.live = true;
            start.extend(self.open.values_mut().filter_map(Option::take));
        }
        Ok(Next::Live(start))
    }

    /// Checks that everything that was recorded has happened again; asked when the script ends as well.
    pub(super) fn check_complete(&self) -> Result<(), Diverged> {
        if self.made < self.last_recorded { Err(self.missing(self.made + 1)) } else { Ok(()) }
    }

    fn missing(&self, seq: u64) -> Diverged {
        let kind = self.recorded.get(&seq).map_or("?", |(kind, _)| kind.as_str());
        Diverged(format!("call {seq} (`{kind}`) was made before and is not made now"))
    }

    /// Takes note that a call has ended; tells whether anybody waited for it.
    pub(super) fn done(&mut self, seq: u64) -> bool {
        self.open.remove(&seq).is_some()
    }

    /// Tells whether anything may still come from the host.
    pub(super) fn waits(&self) -> bool {
        !self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::CallKind;

    fn call(seq: u64, kind: CallKind, fingerprint: &str) -> HostCall {
        HostCall { seq, kind, args: json!({}), node: None, own_node: None, fingerprint: fingerprint.into() }
    }

    fn issue(seq: u64, kind: &str, fingerprint: &str) -> JournalRow {
        JournalRow::Issue { seq, kind: kind.into(), fingerprint: fingerprint.into() }
    }

    fn done(seq: u64) -> JournalRow {
        JournalRow::Done { seq, at: 0, outcome: Ok(Value::Null) }
    }

    #[test]
    fn a_run_without_a_journal_starts_calls_at_once() {
        let mut replay = Replay::new(&[]);
        assert!(replay.issue(call(1, CallKind::Env, "a")).expect("no divergence").is_some());
        assert!(matches!(replay.next(), Ok(Next::Live(start)) if start.is_empty()));
        assert!(replay.waits());
        assert!(replay.done(1));
        assert!(!replay.done(1), "an outcome is handed over once");
        assert!(!replay.waits());
    }

    #[test]
    fn recorded_outcomes_come_first_and_open_calls_start_after_them() {
        let mut replay =
            Replay::new(&[issue(1, "env", "a"), issue(2, "form", "b"), issue(3, "env", "c"), done(3), done(1)]);
        for (seq, kind, fingerprint) in [(1, CallKind::Env, "a"), (2, CallKind::Form, "b"), (3, CallKind::Env, "c")] {
            assert!(replay.issue(call(seq, kind, fingerprint)).expect("no divergence").is_none());
        }
        assert!(matches!(replay.next(), Ok(Next::Recorded(recorded)) if recorded.seq == 3));
        assert!(matches!(replay.next(), Ok(Next::Recorded(recorded)) if recorded.seq == 1));
        // A call beyond the record, made before the run is live, waits its turn.
        assert!(replay.issue(call(4, CallKind::Env, "d")).expect("no divergence").is_none());
        assert!(!replay.is_live());
        let Ok(Next::Live(start)) = replay.next() else { panic!("live") };
        assert_eq!(start.iter().map(|call| call.seq).collect::<Vec<_>>(), [2, 4]);
        assert!(replay.is_live());
    }

    #[test]
    fn another_way_is_divergence() {
        let rows = [issue(1, "env", "a"), issue(2, "form", "b"), done(1)];
        let said = |found: Result<Option<HostCall>, Diverged>| found.expect_err("a divergence").0;
        insta::assert_snapshot!(said(Replay::new(&rows).issue(call(1, CallKind::Form, "a"))), @"call 1 was `env` and is now `form`");
        insta::assert_snapshot!(said(Replay::new(&rows).issue(call(1, CallKind::Env, "x"))), @"call 1 (`env`) has other arguments than before");
        let mut replay = Replay::new(&rows);
        replay.issue(call(1, CallKind::Env, "a")).expect("no divergence");
        assert!(matches!(replay.next(), Ok(Next::Recorded(_))));
        let Err(Diverged(text)) = replay.next() else { panic!("a divergence") };
        insta::assert_snapshot!(text, @"call 2 (`form`) was made before and is not made now");
        let Err(Diverged(text)) = Replay::new(&rows).next() else { panic!("a divergence") };
        insta::assert_snapshot!(text, @"call 1 (`env`) was made before and is not made now");
    }

    #[test]
    fn an_abandoned_call_is_neither_started_nor_delivered() {
        let mut replay = Replay::new(&[issue(1, "sleep", "a"), issue(2, "env", "b"), done(1), done(2)]);
        replay.issue(call(1, CallKind::Sleep, "a")).expect("no divergence");
        replay.issue(call(2, CallKind::Env, "b")).expect("no divergence");
        assert!(!replay.abandon(1), "the host was never told");
        assert!(matches!(replay.next(), Ok(Next::Recorded(recorded)) if recorded.seq == 2));
        assert!(matches!(replay.next(), Ok(Next::Live(start)) if start.is_empty()));
    }
}
