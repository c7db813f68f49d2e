//! `cargo xtask soak`: processes killed at random moments, for as long as one likes.

use std::time::Duration;

use workflow_code_tests::{BoardSoakOptions, BoardSoakOutcome, SoakOptions};

use crate::shell::{self, Outcome};

/// For how long, and with which chance.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How long it kills
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: u64,
    /// Where chance starts
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(options: &Options) -> Outcome {
    shell::build()?;
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
