//! `cargo xtask bench`: how long a client and a person wait, beside a bare server and an empty process in the same run.
//!
//! Never a test: figures depend on the machine and on what else it does. Read the ratios first.

mod history;
mod peer;
mod samples;
mod servers;
mod window;

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
    /// Only the window: start, memory, sizes
    #[arg(long, conflicts_with = "servers")]
    window: bool,
    /// Runs in the history
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    runs: u64,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let mut figures = if options.window { Vec::new() } else { without_window(options)? };
    if !options.servers {
        figures.extend(window()?);
    }
    if options.json {
        print_json(&figures);
    } else {
        print_table(&figures);
    }
    Ok(())
}

fn window() -> Outcome<Vec<Figure>> {
    // What is installed and built is told on the way; with `--json` nothing but JSON may be on standard output.
    if !prepare::is_prepared() {
        return Err("`cargo xtask prepare` comes first, or `--servers` for all but the window".into());
    }
    shell::run_quietly("cargo", &["build", "--release", "--workspace", "--bins"])?;
    window::measure()
}

fn without_window(options: &Options) -> Outcome<Vec<Figure>> {
    shell::run_quietly("cargo", &["build", "--release", "--package", "workflow-code"])?;
    shell::run_quietly("cargo", &["build", "--release", "--package", "xtask", "--examples"])?;
    let release = shell::target().join("release");
    let programs = Programs {
        launcher: shell::executable(),
        hello: release.join("examples").join("rmcp_hello"),
        empty: release.join("examples").join("empty"),
    };
    let mut figures = servers::measure(&programs)?;
    if !options.servers {
        figures.extend(history::measure(&programs, &shell::target().join("bench"), options.runs)?);
    }
    Ok(figures)
}
