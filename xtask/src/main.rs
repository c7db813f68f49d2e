//! The tasks of this repository. `cargo xtask --help` lists them.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xtask::{generate, page, prepare, product, shell, test};

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
    #[command(disable_help_flag = true)]
    Run(Arguments),
    /// Kill processes at random moments, and look whether anything was lost or done twice; or `--fuzz`
    #[command(disable_help_flag = true)]
    Soak(Arguments),
    /// Format, lints and every test; what CI runs
    Test(test::Options),
    /// Install what the window and its tests need of the system, and the page's npm packages
    Prepare,
    /// Build the window's page into `ui/dist`
    Page,
    /// Take pictures of every view of the page
    #[command(disable_help_flag = true)]
    Screenshots(Arguments),
    /// Make installable bundles, and start both executables from one in a clean root
    #[command(disable_help_flag = true)]
    Package(Arguments),
    /// Write what is made from the source: the page's declarations of the window's commands
    Gen,
    /// Measure starts, calls, memory and queries, beside a bare server and an empty process
    #[command(disable_help_flag = true)]
    Bench(Arguments),
    /// Run every case of a folder through the script engine in its real worker process
    #[command(disable_help_flag = true)]
    ScriptCases(Arguments),
}

/// For the task itself, which knows `--help` too.
#[derive(Debug, clap::Args)]
struct Arguments {
    /// What the task takes; `--help` after its name lists it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    shell::exit_code(match Tasks::parse().task {
        Task::Run(all) => product::run("run", &all.arguments),
        Task::Soak(all) => product::run("soak", &all.arguments),
        Task::Test(options) => test::run(&options),
        Task::Prepare => prepare::run(),
        Task::Page => prepare::prepare().and_then(|_| page::build()),
        Task::Screenshots(all) => prepare::prepare().and_then(|_| product::run("screenshots", &all.arguments)),
        Task::Package(all) => packaging().and_then(|()| product::run("package", &all.arguments)),
        Task::Gen => generate::run(),
        Task::Bench(all) => product::run("bench", &all.arguments),
        Task::ScriptCases(all) => product::run("script-cases", &all.arguments),
    })
}

/// A bundle has the window in it.
fn packaging() -> Result<(), String> {
    match prepare::prepare()? {
        prepare::Prepared::Everything => prepare::install(&prepare::PACKAGING),
        prepare::Prepared::NoWindow => Err("a bundle has the window in it, which cannot be built here".into()),
    }
}
