//! The tasks that use the product; `cargo xtask` builds everything and starts them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tasks speak to whoever runs them")]

mod bench;
mod clients;
mod conformance;
mod install;
mod package;
mod record;
mod run;
mod screenshots;
mod script_cases;
mod soak;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::shell;

/// The tasks that use the product.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = true)]
struct Tasks {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build, register the sample project, make one real call and show what was recorded
    Run,
    /// Kill processes at random moments, and look whether anything was lost or done twice; or `--fuzz`
    Soak(soak::Options),
    /// Run real clients against the server; installs them from npm and PyPI below the build folder
    Clients {
        /// Keep what the clients say in `tests/clients`, where the ordinary tests replay it
        #[arg(long)]
        record: bool,
    },
    /// Run the protocol's conformance suite
    Conformance,
    /// Take pictures of every view of the page
    #[command(disable_help_flag = true)]
    Screenshots {
        /// What the script takes; `--help` lists it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Make installable bundles, and start both executables from one in a clean root
    Package(package::Options),
    /// Measure starts, calls, memory and queries, beside a bare server and an empty process
    Bench(bench::Options),
    /// Run every case of a folder through the script engine in its real worker process
    ScriptCases(script_cases::Options),
    /// Stand between a client and its server, and keep what the client says
    #[command(hide = true)]
    Record(record::Options),
}

fn main() -> ExitCode {
    shell::exit_code(match Tasks::parse().task {
        Task::Run => run::run(),
        Task::Soak(options) => soak::run(&options),
        Task::Clients { record } => clients::run(record),
        Task::Conformance => conformance::run(),
        Task::Screenshots { arguments } => screenshots::run(&arguments),
        Task::Package(options) => package::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::ScriptCases(options) => script_cases::run(&options),
        Task::Record(options) => record::run(&options),
    })
}
