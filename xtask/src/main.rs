//! The tasks of this repository. `cargo xtask --help` lists them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tasks speak to whoever runs them")]

mod bench;
mod clients;
mod conformance;
mod generate;
mod install;
mod package;
mod page;
mod prepare;
mod record;
mod run;
mod screenshots;
mod script_cases;
mod shell;
mod soak;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The tasks of this repository.
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
    /// Kill processes at random moments, and look whether anything was lost or done twice
    Soak(soak::Options),
    /// Format, lints and every test; what CI runs
    Test(test::Options),
    /// Install what the window and its tests need of the system, and the page's npm packages
    Prepare,
    /// Build the window's page into `ui/dist`
    Page,
    /// Take pictures of every view of the page
    Screenshots {
        /// What the script takes; `--help` lists it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Make installable bundles, and start both executables from one in a clean root
    Package(package::Options),
    /// Write what is made from the source: the page's declarations of the window's commands
    Gen,
    /// Measure starts, calls, memory and queries, beside a bare server and an empty process
    Bench(bench::Options),
    /// Run every case of a folder through the script engine in its real worker process
    ScriptCases(script_cases::Options),
    /// Stand between a client and its server, and keep what the client says
    #[command(hide = true)]
    Record(record::Options),
}

fn main() -> ExitCode {
    let outcome = match Tasks::parse().task {
        Task::Run => run::run(),
        Task::Soak(options) => soak::run(&options),
        Task::Test(options) => test::run(&options),
        Task::Prepare => prepare::run(),
        Task::Page => prepare::prepare().and_then(|_| page::build()),
        Task::Screenshots { arguments } => prepare::prepare().and_then(|_| screenshots::run(&arguments)),
        Task::Package(options) => package::run(&options),
        Task::Gen => generate::run(),
        Task::Bench(options) => bench::run(&options),
        Task::ScriptCases(options) => script_cases::run(&options),
        Task::Record(options) => record::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
