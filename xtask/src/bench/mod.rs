//! `cargo xtask bench`: how long a client and a person wait, beside a bare server and an empty process in the same run.
//!
//! Never a test: figures depend on the machine and on what else it does. Read the ratios first.

mod agents;
mod history;
mod peer;
mod samples;
mod servers;
mod waiting;
mod window;

use crate::bench::samples::{print_json, print_table};
use crate::bench::servers::Programs;
use crate::shell::{self, Outcome};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only the servers: starts, calls, memory
    #[arg(long, conflicts_with_all = ["agents", "waiting"])]
    servers: bool,
    /// Only orchestration: what agents cost beside themselves
    #[arg(long, conflicts_with = "waiting")]
    agents: bool,
    /// Only runs that wait, and launchers that write at once
    #[arg(long)]
    waiting: bool,
    /// Only the window's commands over the large history
    #[arg(long, conflicts_with_all = ["servers", "agents", "waiting"])]
    window: bool,
    /// Runs in the history
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    runs: u64,
}

pub(crate) fn run(options: &Options) -> Outcome {
    shell::run_quietly("cargo", &["build", "--release", "--package", "workflow-code"])?;
    shell::run_quietly("cargo", &["build", "--release", "--package", "xtask", "--examples"])?;
    let release = shell::target().join("release");
    let programs = Programs {
        launcher: shell::executable(),
        hello: release.join("examples").join("rmcp_hello"),
        empty: release.join("examples").join("empty"),
    };
    let folder = shell::target().join("bench");
    let only = options.servers || options.agents || options.waiting || options.window;
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
    if !only {
        figures.extend(history::measure(&programs, &folder, options.runs)?);
    }
    if options.window || !only {
        shell::run_quietly("cargo", &["build", "--release", "--package", "workflow-code-tests", "--bins"])?;
        figures.extend(window::measure(&history::folder(&folder, options.runs)?)?);
    }
    if options.json {
        print_json(&figures);
    } else {
        print_table(&figures);
    }
    Ok(())
}
