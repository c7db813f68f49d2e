//! Whether the clock is believed where something is given up or deleted because it is old.
//!
//! A clock may jump ahead by months: an empty battery, a machine that wakes from a snapshot, a slip of the hand. Everything
//! that waits for an answer would be given up then, and what is kept for a time deleted, though the clock is put right
//! soon. So a time more than a day after the one believed last counts only when the clock still says so an hour later.
//!
//! Not here: what is done with it (`interactions`, `retention`).

use model::TimestampMs;
use rusqlite::Connection;

use crate::database::Outcome;
use crate::{Durability, Result, Store};

const HOUR: TimestampMs = 3_600_000;
/// Steps that are believed at once.
const STEP: TimestampMs = 24 * HOUR;
/// How long a farther step must hold.
const HOLDS: TimestampMs = HOUR;
/// How old what is noted may become.
const NOTED: TimestampMs = HOUR;

/// What a look at the clock has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    /// Whether the clock is believed.
    is_believed: bool,
    /// What is to be noted: up to when it was believed, since when it is doubted.
    note: Option<(TimestampMs, Option<TimestampMs>)>,
}

impl Look {
    /// Looks at the clock beside what was noted last.
    fn at(connection: &Connection, now: TimestampMs) -> Outcome<Self> {
        let noted = connection
            .prepare_cached("SELECT believed_at, doubted_at FROM meta WHERE one = 1")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self::of(noted, now))
    }

    fn of((believed, doubted): (Option<TimestampMs>, Option<TimestampMs>), now: TimestampMs) -> Self {
        let yes = Self { is_believed: true, note: Some((now, None)) };
        let Some(before) = believed else { return yes };
        let step = now.saturating_sub(before);
        if (0..NOTED).contains(&step) && doubted.is_none() {
            return Self { is_believed: true, note: None };
        }
        // A clock that was set back is believed: it only makes things wait longer.
        if step <= STEP {
            return yes;
        }
        match doubted.map(|since| now.saturating_sub(since)) {
            Some(held) if held >= HOLDS => yes,
            Some(held) if held >= 0 => Self { is_believed: false, note: None },
            _ => Self { is_believed: false, note: Some((before, Some(now))) },
        }
    }

    /// Notes what was seen.
    fn note(&self, connection: &Connection) -> Outcome<()> {
        if let Some(note) = self.note {
            connection
                .prepare_cached("UPDATE meta SET believed_at = ?1, doubted_at = ?2 WHERE one = 1")?
                .execute(note)?;
        }
        Ok(())
    }
}

impl Store {
    /// Does `work` where something is due by the clock and the clock is believed; `None`: it was not done. Writes nothing,
    /// and waits for no writer, where there is neither anything to do nor anything to note.
    pub(crate) fn when_due<T: Send + 'static>(
        &self,
        now: TimestampMs,
        is_due: impl Fn(&Connection) -> Outcome<bool> + Send + 'static,
        work: impl Fn(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let look = |connection: &Connection| Ok((Look::at(connection, now)?, is_due(connection)?));
        let (seen, due) = self.database.read_together(look)?;
        if seen.note.is_none() && !(due && seen.is_believed) {
            return Ok(None);
        }
        self.database.write(Durability::Process, move |connection| {
            // Another process may have been here meanwhile.
            let seen = Look::at(connection, now)?;
            seen.note(connection)?;
            if seen.is_believed && is_due(connection)? { work(connection).map(Some) } else { Ok(None) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks in turn, as processes one after the other do; which of them believed the clock.
    fn looks(times: &[TimestampMs]) -> Vec<bool> {
        let mut noted = (None, None);
        let mut look = |now: &TimestampMs| {
            let look = Look::of(noted, *now);
            if let Some((believed, doubted)) = look.note {
                noted = (Some(believed), doubted);
            }
            look.is_believed
        };
        times.iter().map(&mut look).collect()
    }

    #[test]
    fn a_far_step_counts_when_it_holds() {
        const MONTH: TimestampMs = 30 * STEP;
        assert_eq!(looks(&[0, STEP, 2 * STEP, 3 * STEP]), [true; 4], "day by day");
        assert_eq!(looks(&[0, MONTH, MONTH + HOUR - 1, MONTH + HOUR]), [true, false, false, true]);
        assert_eq!(looks(&[0, MONTH, 2 * MONTH, 2 * MONTH + 1]), [true, false, true, true], "used once a month");
        assert_eq!(
            looks(&[0, MONTH, 5, MONTH + HOUR, MONTH + 2 * HOUR]),
            [true, false, true, false, true],
            "put right"
        );
        assert_eq!(looks(&[MONTH, 0, 1, STEP]), [true; 4], "set back");
        assert_eq!(looks(&[0, 2 * MONTH, MONTH, MONTH + HOUR]), [true, false, false, true], "doubted anew");
        assert_eq!(looks(&[TimestampMs::MIN, TimestampMs::MAX, 0]), [true, false, false]);
    }
}
