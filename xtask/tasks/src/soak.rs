//! `cargo xtask soak`: processes killed at random moments, for as long as one likes.

use std::time::Duration;

use workflow_code_tests::SoakOptions;

use xtask::shell::Outcome;

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
    if outcome.failed.is_empty() { Ok(()) } else { Err("the product did not hold what it promises".into()) }
}
