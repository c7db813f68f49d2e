//! Feeds one target for a while, and keeps every input that it fails on.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Target;
use crate::mutate::{Chance, mutated};

/// Processor time that a target may take for one input; the clock on the wall runs also while others work.
const SLOW: Duration = Duration::from_secs(2);

/// Failures of one target after which it is left alone.
const MOST_FAILURES: usize = 20;

/// When to stop, and where chance begins.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Where chance begins.
    pub seed: u64,
    /// Inputs made of the corpus, beside the corpus itself.
    pub most: u64,
    /// Time after which no new input is made.
    pub time: Duration,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Inputs that were tried, the corpus among them.
    pub executions: u64,
    /// Inputs that it failed on: where each is kept, and what went wrong.
    pub failures: Vec<(PathBuf, String)>,
}

/// Feeds `target` with `corpus` and then with what chance makes of it. Inputs that it fails on are kept in `folder`, and
/// so is the one that was tried last: what ends the whole process (an abort, a stack that overflows) is found there.
///
/// # Errors
///
/// When `folder` cannot be written.
pub fn run(target: &Target, corpus: &[Vec<u8>], folder: &Path, options: Options) -> io::Result<Outcome> {
    fs::create_dir_all(folder)?;
    let last = folder.join(format!("{}.last", target.name));
    let mut current = File::create(&last)?;
    let mut outcome = Outcome::default();
    let mut chance = Chance::new(options.seed);
    let began = Instant::now();
    let mut made = 0;
    for input in corpus {
        attempt(target, input, folder, &mut current, &mut outcome)?;
    }
    while made < options.most && began.elapsed() < options.time && outcome.failures.len() < MOST_FAILURES {
        let input = mutated(corpus, &mut chance);
        attempt(target, &input, folder, &mut current, &mut outcome)?;
        made += 1;
    }
    fs::remove_file(last)?;
    Ok(outcome)
}

fn attempt(target: &Target, input: &[u8], folder: &Path, current: &mut File, outcome: &mut Outcome) -> io::Result<()> {
    current.set_len(0)?;
    current.rewind()?;
    current.write_all(input)?;
    let began = used();
    let ended = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let took = used().saturating_sub(began);
    outcome.executions += 1;
    let problem = match ended {
        Err(panic) => message(panic.as_ref()),
        Ok(()) if took > SLOW => format!("took {} ms", took.as_millis()),
        Ok(()) => return Ok(()),
    };
    let path = folder.join(format!("{}-{}", target.name, outcome.failures.len()));
    fs::write(&path, input)?;
    outcome.failures.push((path, problem));
    Ok(())
}

/// Processor time of this thread so far.
fn used() -> Duration {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_is_found_and_its_input_kept() {
        fn picky(bytes: &[u8]) {
            assert!(!bytes.contains(&b'{'), "a brace came");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let target = Target { name: "picky", run: picky };
        let options = Options { seed: 1, most: 5_000, time: Duration::from_secs(60) };
        let outcome = run(&target, &[b"plain".to_vec()], folder.path(), options).expect("it runs");
        let (path, problem) = outcome.failures.first().expect("found");
        assert!(problem.contains("a brace came"), "{problem}");
        assert!(fs::read(path).expect("kept").contains(&b'{'));
        assert!(!folder.path().join("picky.last").exists());
    }
}
