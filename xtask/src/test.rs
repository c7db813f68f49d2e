//! `cargo xtask test`: what CI runs, on a machine that has nothing but a Rust toolchain and Node.js.

use crate::prepare::{self, Prepared};
use crate::shell::{self, Outcome};
use crate::{clients, conformance, page};

/// Which tests.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
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

pub(crate) fn run(options: &Options) -> Outcome {
    if options.clients {
        return clients::run(options.record);
    }
    if options.conformance {
        return conformance::run();
    }
    if let Some(part) = &options.only {
        shell::build()?;
        return shell::run("cargo", &["test", "--release", "--", part]);
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
    let all = scope(with_window);
    cargo(&["build", "--release"], all, &["--bins", "--tests"])?;
    // Tests with a process census run one after the other within their binary; cargo runs the binaries in turn.
    cargo(&["test", "--release"], all, &[])?;
    if with_window {
        cargo(&["test", "--release"], all, &["--test", "window", "--", "--test-threads", "1"])?;
        page::test()?;
    }
    cargo(&["clippy", "--release"], all, &["--all-targets", "--", "-D", "warnings"])
}

/// The page alone. Its tests also talk to the real backend, which is why that is built.
fn ui() -> Outcome {
    page::lint()?;
    page::build()?;
    build_executables()?;
    page::test()
}

/// The real window alone.
fn window() -> Outcome {
    page::build()?;
    build_executables()?;
    cargo(&["test", "--release"], scope(true), &["--test", "window", "--", "--test-threads", "1"])
}

/// Builds every executable, the window with its page.
pub(crate) fn build_executables() -> Outcome {
    cargo(&["build", "--release"], scope(true), &["--bins"])
}

/// Which packages: always the same ones, since another set has other features and would build everything again.
fn scope(with_window: bool) -> &'static [&'static str] {
    if with_window { &["--workspace"] } else { &["--workspace", "--exclude", "workflow-code-desktop"] }
}

fn cargo(task: &[&str], scope: &[&str], rest: &[&str]) -> Outcome {
    shell::run("cargo", &[task, scope, rest].concat())
}
