//! `cargo xtask soak`: processes killed at random moments, or functions fed with whatever chance makes, for as long as one
//! likes.

use std::path::Path;
use std::time::Duration;

use workflow_code_tests::{BoardSoakOptions, BoardSoakOutcome, SoakOptions};
use workflow_fuzz::{TARGETS, Target, corpus, corpus_folder, soak as fuzz};

use xtask::shell::{self, Outcome};

/// For how long, and with which chance.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How long it kills
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: u64,
    /// Where chance starts
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Instead, feed each function that takes bytes from outside for this long
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    fuzz: Option<u64>,
    /// Only functions whose names hold this
    #[arg(long, value_name = "NAME", requires = "fuzz")]
    only: Option<String>,
    /// Feed without coverage also where `cargo fuzz` is installed
    #[arg(long, requires = "fuzz")]
    stable: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    match options.fuzz {
        Some(seconds) => feed(options, seconds),
        None => kill(options),
    }
}

/// Feeds every target in turn; all are fed, also after one has failed.
fn feed(options: &Options, seconds: u64) -> Outcome {
    let wanted = |target: &&Target| options.only.as_deref().is_none_or(|only| target.name.contains(only));
    let with_coverage = !options.stable && has_cargo_fuzz();
    if with_coverage {
        println!("with coverage, by cargo-fuzz: {seconds} s each, seed {}", options.seed);
    } else {
        println!("without coverage, since a nightly toolchain with cargo-fuzz is not there or not wanted");
    }
    let mut failed = Vec::new();
    for target in TARGETS.iter().filter(wanted) {
        let good = if with_coverage {
            feed_with_coverage(target, seconds, options.seed)
        } else {
            feed_by_chance(target, seconds, options.seed)?
        };
        if !good {
            failed.push(target.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("promises were broken: {}", failed.join(", "))) }
}

fn has_cargo_fuzz() -> bool {
    shell::answer("rustup", &["run", "nightly", "cargo", "fuzz", "--version"]).is_some()
}

/// New inputs go to a folder outside the repository's corpus; what is worth keeping is put there by hand.
fn feed_with_coverage(target: &Target, seconds: u64, seed: u64) -> bool {
    let found = shell::target().join("fuzz").join(target.name);
    if std::fs::create_dir_all(&found).is_err() {
        return false;
    }
    let (found, known) = (found.display().to_string(), corpus_folder(target.name).display().to_string());
    let (time, seed) = (format!("-max_total_time={seconds}"), format!("-seed={seed}"));
    let arguments = [
        "run",
        "nightly",
        "cargo",
        "fuzz",
        "run",
        target.name,
        &found,
        &known,
        "--",
        &time,
        &seed,
        "-timeout=5",
        "-rss_limit_mb=1024",
        "-print_final_stats=1",
    ];
    shell::run("rustup", &arguments).is_ok()
}

fn feed_by_chance(target: &Target, seconds: u64, seed: u64) -> Outcome<bool> {
    let known = corpus(target.name).map_err(|error| format!("the corpus of `{}`: {error}", target.name))?;
    let inputs: Vec<Vec<u8>> = known.into_iter().map(|(_, input)| input).collect();
    let folder = shell::target().join("fuzz").join("failed");
    let options = fuzz::Options { seed, most: u64::MAX, time: Duration::from_secs(seconds) };
    let outcome = quietly(|| fuzz::run(target, &inputs, &folder, options)).map_err(|error| error.to_string())?;
    println!(
        "{}: seed {seed}, {seconds} s, {} inputs of {} known ones, {} failed",
        target.name,
        outcome.executions,
        inputs.len(),
        outcome.failures.len()
    );
    for (path, problem) in &outcome.failures {
        println!("  {}: {problem}", shown(path));
    }
    Ok(outcome.failures.is_empty())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Each failure is told once, with its input; the panics themselves would be told as well.
fn quietly<T>(act: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = act();
    std::panic::set_hook(hook);
    outcome
}

/// Kills processes of the product.
fn kill(options: &Options) -> Outcome {
    let time = Duration::from_secs(options.minutes * 60);
    println!("seed {}, {} min", options.seed, options.minutes);
    let options = SoakOptions { seed: options.seed, kills: u64::MAX, most: Some(time) };
    let outcome = workflow_code_tests::soak(options, |so_far| {
        println!(
            "round {}: {} killed, {} runs, {} effects, {} checks failed",
            so_far.rounds,
            so_far.kills,
            so_far.runs,
            so_far.effects,
            so_far.failed.len()
        );
    })?;
    println!("{outcome}");
    let board = board(options.seed, time / 5)?;
    println!("{} passed, {} failed", outcome.passed + board.passed, outcome.failed.len() + board.failed.len());
    if outcome.failed.is_empty() && board.failed.is_empty() {
        Ok(())
    } else {
        Err("the product did not hold what it promises".into())
    }
}

/// Agents on one board, for a while.
fn board(seed: u64, most: Duration) -> Outcome<BoardSoakOutcome> {
    let options = BoardSoakOptions { seed, each: 30, kills: true, most };
    let outcome = workflow_code_tests::board_soak(options, |so_far| {
        println!(
            "board round {}: {} cards, {} claims, {} notes, {} killed, {} checks failed",
            so_far.rounds,
            so_far.cards,
            so_far.claims,
            so_far.notes,
            so_far.kills,
            so_far.failed.len()
        );
    })?;
    println!("{outcome}");
    Ok(outcome)
}
