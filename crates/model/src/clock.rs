//! The one clock and the one source of ids, both replaceable in tests.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch, UTC.
pub type TimestampMs = i64;

/// Tells the time of day.
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> TimestampMs;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> TimestampMs {
        // A clock set before 1970 reads as 0 rather than failing.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until it is moved; for tests.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock that shows `at`.
    #[must_use]
    pub fn new(at: TimestampMs) -> Self {
        Self(AtomicI64::new(at))
    }

    /// Moves the clock by `milliseconds`, which may be negative (clocks jump).
    pub fn advance(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> TimestampMs {
        self.0.load(Ordering::SeqCst)
    }
}

/// Gives random bytes for ids and seeds.
pub trait IdSource: Send + Sync {
    /// Fills `bytes`.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's random source.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl IdSource for SystemIds {
    fn fill(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            // No random source (a sandbox without the call and without /dev/urandom): ids stay unique
            // because every insert is checked for collision; secrets never come from here.
            let mut state = u64::try_from(SystemClock.now()).unwrap_or(1) ^ (u64::from(std::process::id()) << 32) | 1;
            for byte in bytes {
                *byte = next(&mut state);
            }
        }
    }
}

/// A repeatable source of ids; for tests.
#[derive(Debug)]
pub struct SeededIds(Mutex<u64>);

impl SeededIds {
    /// Creates a source whose bytes follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seed | 1))
    }
}

impl IdSource for SeededIds {
    fn fill(&self, bytes: &mut [u8]) {
        let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for byte in bytes {
            *byte = next(&mut state);
        }
    }
}

/// One step of xorshift64*, whose top byte is its best.
fn next(state: &mut u64) -> u8 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 56) as u8
}

/// Writes a timestamp as RFC 3339 in UTC with milliseconds, as every machine-readable output has it.
#[must_use]
pub fn format_timestamp(at: TimestampMs) -> String {
    jiff::Timestamp::from_millisecond(at).map_or_else(|_| String::from("-"), |time| format!("{time:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_rfc_3339_with_milliseconds() {
        assert_eq!(format_timestamp(1_796_000_000_007), "2026-11-30T00:53:20.007Z");
        assert_eq!(format_timestamp(i64::MAX), "-");
    }

    #[test]
    fn seeded_ids_repeat() {
        let (mut first, mut second) = ([0; 16], [0; 16]);
        SeededIds::new(7).fill(&mut first);
        SeededIds::new(7).fill(&mut second);
        assert_eq!(first, second);
        assert_ne!(first, [0; 16]);
    }
}
