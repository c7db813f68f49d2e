//! `cargo xtask test`: what CI runs, on a machine that has nothing but a Rust toolchain.

use crate::shell::{self, Outcome};
use crate::{clients, conformance};

/// Which tests.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only this test, by a part of its name
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Run real clients against the server instead; installs them from npm and PyPI below the build folder
    #[arg(long)]
    clients: bool,
    /// Keep what the clients say in `tests/clients`, where the ordinary tests replay it
    #[arg(long, requires = "clients")]
    record: bool,
    /// Run the protocol's conformance suite instead; installs it as `--clients` does
    #[arg(long, conflicts_with = "clients")]
    conformance: bool,
}

pub(crate) fn run(options: &Options) -> Outcome {
    if options.clients {
        return clients::run(options.record);
    }
    if options.conformance {
        return conformance::run();
    }
    if let Some(part) = &options.only {
        shell::build()?;
        return shell::run("cargo", &["test", "--release", "--workspace", "--", part]);
    }
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    // The executable and the tests in one go, so that what both depend on is built once.
    shell::run("cargo", &["build", "--release", "--workspace", "--bins", "--tests"])?;
    // Tests with a process census run one after the other within their binary; cargo runs the binaries in turn.
    shell::run("cargo", &["test", "--release", "--workspace"])?;
    shell::run("cargo", &["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"])
}
