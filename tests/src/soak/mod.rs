//! The crash harness: launchers, terminals and workers on one database, killed at random moments and started again.
//!
//! What was acknowledged must be there, once; what was finished must not be done twice; nothing may be left behind. The
//! effects of runs are counted in a file outside, which only their programs write.
//!
//! Here: rounds of killing, and their outcome. `place` is the home with its project; `crew` the processes; `checks`
//! what is looked at after each round.

mod checks;
mod crew;
mod place;

use std::time::{Duration, Instant};

use checks::Book;
use crew::Crew;
use place::Place;

/// Kills in one round, after which everything is killed and looked at.
const ROUND: u64 = 30;

/// How long nothing may happen when nobody kills any more and runs have still to come to their ends. A busy machine is
/// slow, and goes on all the same.
const LONGEST_STANDSTILL: Duration = Duration::from_secs(120);

/// How long a kill waits for somebody to get on, so that a busy machine sees work killed and not only starts.
const LONGEST_WAIT: Duration = Duration::from_millis(400);

/// What is done, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct SoakOptions {
    /// Where chance starts. The order in which processes work is the system's, so that a seed brings much the same and
    /// never quite the same.
    pub seed: u64,
    /// Kills after which it ends, however long they take.
    pub kills: u64,
    /// The time after which it ends before that.
    pub most: Option<Duration>,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct SoakOutcome {
    /// Where chance started.
    pub seed: u64,
    /// Rounds of killing.
    pub rounds: u64,
    /// Processes killed.
    pub kills: u64,
    /// Runs recorded.
    pub runs: u64,
    /// Of those, the ones that ended well.
    pub successes: u64,
    /// Runs that were taken up again at least once.
    pub resumed: u64,
    /// Lines in the file of effects.
    pub effects: u64,
    /// Checks that held.
    pub passed: u64,
    /// Checks that did not, each with what was found.
    pub failed: Vec<String>,
}

impl SoakOutcome {
    pub(crate) fn check(&mut self, name: &str, faults: &[String]) {
        if faults.is_empty() {
            self.passed += 1;
        } else {
            self.failed.push(format!("round {}: {name}: {}", self.rounds, faults.join("; ")));
        }
    }
}

impl std::fmt::Display for SoakOutcome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(formatter, "seed {}", self.seed)?;
        writeln!(formatter, "{} rounds, {} processes killed", self.rounds, self.kills)?;
        writeln!(
            formatter,
            "{} runs, {} of them taken up again, {} ended well; {} effects",
            self.runs, self.resumed, self.successes, self.effects
        )?;
        for fault in &self.failed {
            writeln!(formatter, "FAILED {fault}")?;
        }
        write!(formatter, "{} passed, {} failed", self.passed, self.failed.len())
    }
}

/// Chance from a seed (SplitMix64).
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns one of some things.
    pub(crate) fn one_of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        let place = usize::try_from(self.below(things.len() as u64)).ok()?;
        things.get(place)
    }
}

/// Kills and looks until there were enough kills or time is over; then lets every run come to its end, and looks again.
/// `tell` hears of each round.
///
/// # Errors
///
/// When the home cannot be made or a process cannot be started. What the product does wrong is in the outcome.
pub fn soak(options: SoakOptions, mut tell: impl FnMut(&SoakOutcome)) -> Result<SoakOutcome, String> {
    let begun = Instant::now();
    let is_over = || options.most.is_some_and(|most| begun.elapsed() >= most);
    let place = Place::new()?;
    let mut chance = Chance(options.seed);
    let mut book = Book::new(&place);
    let mut outcome = SoakOutcome { seed: options.seed, ..SoakOutcome::default() };
    while outcome.kills < options.kills && !is_over() {
        outcome.rounds += 1;
        let mut crew = Crew::new(&place);
        let enough = outcome.kills + ROUND.min(options.kills - outcome.kills);
        while outcome.kills < enough && !is_over() {
            crew.fill_up(&mut chance, &mut book)?;
            // Mostly somebody has got on, and now and then they have only just begun.
            if chance.below(5) > 0 {
                crew.work_until_news(LONGEST_WAIT, &mut book);
            }
            crew.work_for(Duration::from_millis(chance.below(40)), &mut book);
            for _ in 0..=chance.below(3) {
                outcome.kills += crew.kill_one(&mut chance);
            }
        }
        outcome.kills += crew.kill_all(&mut book);
        book.look(&place, &mut outcome);
        tell(&outcome);
    }
    outcome.rounds += 1;
    let unfinished = Crew::new(&place).finish(&mut book, LONGEST_STANDSTILL)?;
    outcome.check("every run comes to its end when nobody kills", &unfinished);
    book.look(&place, &mut outcome);
    book.settle(&place, &mut outcome);
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_brings_the_same() {
        let numbers = |seed| {
            let mut chance = Chance(seed);
            (0..5).map(|_| chance.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        assert_eq!(Chance(1).one_of::<u8>(&[]), None);
    }

    #[test]
    fn a_fault_is_counted_and_told() {
        let mut outcome = SoakOutcome { seed: 9, rounds: 2, ..SoakOutcome::default() };
        outcome.check("good", &[]);
        outcome.check("bad", &["this".into(), "that".into()]);
        let said = outcome.to_string();
        assert!(said.starts_with("seed 9\n") && said.contains("FAILED round 2: bad: this; that"), "{said}");
        assert!(said.ends_with("\n1 passed, 1 failed"), "{said}");
    }
}
