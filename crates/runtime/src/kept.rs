//! Results that are kept when one agent of a run is asked again.
//!
//! What comes after that agent in the journal may come in another order now, or not at all, so it is no longer replayed.
//! A call that comes up again as it was made before has its result from here, and is not made a second time.

use std::collections::{HashMap, VecDeque};

use script::HostError;
use serde_json::Value;

/// What a call had come to.
type Outcome = Result<Value, HostError>;

/// Results by the fingerprints of their calls.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    results: HashMap<String, VecDeque<(u64, Outcome)>>,
}

impl Kept {
    /// Keeps a result.
    pub(crate) fn put(&mut self, seq: u64, fingerprint: &str, outcome: Outcome) {
        let same = self.results.entry(fingerprint.to_owned()).or_default();
        let place = same.partition_point(|(other, _)| *other < seq);
        same.insert(place, (seq, outcome));
    }

    /// Takes the result for a call: that of the call with the same number, else the first of one just like it.
    pub(crate) fn take(&mut self, seq: u64, fingerprint: &str) -> Option<Outcome> {
        let same = self.results.get_mut(fingerprint)?;
        let place = same.iter().position(|(other, _)| *other == seq).unwrap_or(0);
        let (_, outcome) = same.remove(place)?;
        Some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_its_own_result_or_that_of_its_like_and_each_once() {
        let mut kept = Kept::default();
        for seq in [5, 3, 4] {
            kept.put(seq, "vote", Ok(Value::from(seq)));
        }
        assert_eq!(kept.take(4, "vote"), Some(Ok(Value::from(4))));
        assert_eq!(kept.take(9, "vote"), Some(Ok(Value::from(3))));
        assert_eq!(kept.take(5, "another"), None);
        assert_eq!(kept.take(9, "vote"), Some(Ok(Value::from(5))));
        assert_eq!(kept.take(9, "vote"), None);
    }
}
