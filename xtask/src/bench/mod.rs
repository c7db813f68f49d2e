//! `cargo xtask bench`: how long a client and a person wait, beside a bare server and an empty process in the same run.
//!
//! Never a test: figures depend on the machine and on what else it does. Read the ratios first.

mod agents;
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
use crate::prepare;
use crate::shell::{self, Outcome};

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
    let only = options.servers || options.agents || options.waiting || options.history || options.window;
    let mut figures = Vec::new();
    if !only || options.servers || options.agents || options.waiting || options.history {
        figures.extend(without_window(options, only)?);
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

/// Servers, agents, runs that wait, the history.
fn without_window(options: &Options, only: bool) -> Outcome<Vec<Figure>> {
    shell::run_quietly("cargo", &["build", "--release", "--package", "workflow-code"])?;
    shell::run_quietly("cargo", &["build", "--release", "--package", "xtask", "--examples"])?;
    let release = shell::target().join("release");
    let programs = Programs {
        launcher: shell::executable(),
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
    shell::run_quietly("cargo", &["build", "--release", "--package", "workflow-code-tests", "--bins"])?;
    let large = history::folder(&folder(), options.runs)?;
    let mut figures = window::measure(&large)?;
    if prepare::is_prepared() {
        shell::run_quietly("cargo", &["build", "--release", "--workspace", "--bins"])?;
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
