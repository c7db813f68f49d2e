//! `cargo xtask test`: what CI runs, on a machine that has nothing but a Rust toolchain and Node.js.

use crate::prepare::{self, Prepared};
use crate::shell::{self, Outcome};
use crate::{page, product};

/// Which tests.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Only this test, by a part of its name
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Only the page: lint, types, and its tests in a browser
    #[arg(long, conflicts_with = "only")]
    ui: bool,
    /// Only the real window, on a screen of its own
    #[arg(long, conflicts_with_all = ["only", "ui"])]
    window: bool,
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

/// Runs the tests that the options ask for; without any, all that CI does.
///
/// # Errors
///
/// When one fails, or what was asked for cannot be tested here.
pub fn run(options: &Options) -> Outcome {
    if options.clients {
        return product::run("clients", if options.record { &["--record"] } else { &[] });
    }
    if options.conformance {
        return product::run::<&str>("conformance", &[]);
    }
    if let Some(part) = &options.only {
        product::build()?;
        return cargo(&["test", "--release"], &["--", part]);
    }
    let prepared = prepare::prepare()?;
    if options.ui || options.window {
        if prepared == Prepared::NoWindow {
            return Err("what was asked for cannot be tested here".into());
        }
        return if options.ui { ui() } else { window() };
    }
    shell::run("cargo", &["fmt", "--all", "--check"])?;
    let with_window = prepared == Prepared::Everything;
    if with_window {
        page::lint()?;
        // The window takes the page in when it is built.
        page::build()?;
    }
    // The executables and the tests in one go, so that what they depend on is built once, with one set of features.
    cargo(&["build", "--release"], &["--bins", "--tests"])?;
    // Tests with a process census run one after the other within their binary; cargo runs the binaries in turn.
    cargo(&["test", "--release"], &[])?;
    if with_window {
        real_window()?;
        page::test()?;
    }
    cargo(&["clippy", "--release"], &["--all-targets", "--", "-D", "warnings"])
}

/// The page alone. Its tests also talk to the real backend, which is why that is built.
fn ui() -> Outcome {
    page::lint()?;
    product::build()?;
    page::test()
}

/// The real window alone.
fn window() -> Outcome {
    product::build()?;
    real_window()
}

fn real_window() -> Outcome {
    cargo(&["test", "--release"], &["--test", "window", "--", "--test-threads", "1"])
}

/// Runs cargo for all packages that can be built here: always the same ones, since another set has other features and
/// would build everything again.
pub(crate) fn cargo(task: &[&str], rest: &[&str]) -> Outcome {
    shell::run("cargo", &[task, product::packages(), rest].concat())
}
