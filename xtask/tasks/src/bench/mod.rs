//! `cargo xtask bench`: how long a client and a person wait, beside a bare server and an empty process in the same run.
//!
//! Never a test: figures depend on the machine and on what else it does. Read the ratios first.

mod agents;
mod board;
mod guided;
mod history;
mod peer;
mod real_window;
mod samples;
mod servers;
mod waiting;
mod window;

use std::path::PathBuf;

use crate::bench::samples::{Figure, print_json, print_table};
use crate::bench::servers::Programs;
use xtask::shell::{self, Outcome};
use xtask::{prepare, product};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only the servers: starts, calls, memory
    #[arg(long)]
    servers: bool,
    /// Only orchestration: what agents cost beside themselves
    #[arg(long)]
    agents: bool,
    /// Only boards of 500 and of 10,000 records
    #[arg(long)]
    board: bool,
    /// Only guided workflows: starts and calls with a hundred jobs, changes in a large repository
    #[arg(long)]
    guided: bool,
    /// Only runs that wait, and launchers that write at once
    #[arg(long)]
    waiting: bool,
    /// Only the history and the registry
    #[arg(long)]
    history: bool,
    /// Only the window: its commands over the large history, start, memory, sizes
    #[arg(long)]
    window: bool,
    /// Runs in the history
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    runs: u64,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let without_window =
        options.servers || options.agents || options.guided || options.board || options.waiting || options.history;
    let only = without_window || options.window;
    let mut figures = Vec::new();
    if !only || without_window {
        figures.extend(measure_without_window(options, only)?);
    }
    if options.window || !only {
        figures.extend(window(options)?);
    }
    if options.json {
        print_json(&figures);
    } else {
        print_table(&figures);
    }
    Ok(())
}

/// Servers, agents, guided workflows, boards, runs that wait, the history.
fn measure_without_window(options: &Options, only: bool) -> Outcome<Vec<Figure>> {
    if options.servers || options.guided || options.board || !only {
        // What they are measured beside.
        product::examples(&["rmcp_hello", "empty"])?;
    }
    let release = shell::target().join("release");
    let programs = Programs {
        launcher: shell::executable("workflow-code"),
        hello: release.join("examples").join("rmcp_hello"),
        empty: release.join("examples").join("empty"),
    };
    let mut figures = Vec::new();
    if options.servers || !only {
        figures.extend(servers::measure(&programs)?);
    }
    if options.agents || !only {
        figures.extend(agents::measure(&programs.launcher)?);
    }
    if options.guided || !only {
        figures.extend(guided::measure(&programs)?);
    }
    if options.board || !only {
        figures.extend(board::measure(&programs)?);
    }
    if options.waiting || !only {
        figures.extend(waiting::measure(&programs)?);
    }
    if options.history || !only {
        figures.extend(history::measure(&programs, &folder(), options.runs)?);
    }
    Ok(figures)
}

/// The window's commands, and the window itself where it can be built.
fn window(options: &Options) -> Outcome<Vec<Figure>> {
    let large = history::folder(&folder(), options.runs)?;
    let mut figures = window::measure(&large)?;
    if prepare::is_prepared() {
        figures.extend(real_window::measure(&large)?);
    } else {
        // Standard output is the table's, or JSON's.
        eprintln!("SKIPPED the real window: `cargo xtask prepare` installs what it needs");
    }
    Ok(figures)
}

/// Where the large history is kept.
fn folder() -> PathBuf {
    shell::target().join("bench")
}
