//! The product as the tasks need it: every executable in one build, and the tasks that use them.
//!
//! Those are a program of their own (`xtask/tasks`), since what `cargo xtask` itself depends on is built apart from the
//! product, with other features.

use std::ffi::OsStr;

use crate::page;
use crate::prepare;
use crate::shell::{self, Outcome};

/// The program with the tasks that use the product.
const TASKS: &str = "workflow-code-tasks";

/// Which packages cargo works on: without the window where what it needs of the system is missing.
pub(crate) fn packages() -> &'static [&'static str] {
    if prepare::is_prepared() { &["--workspace"] } else { &["--workspace", "--exclude", "workflow-code-desktop"] }
}

/// Builds every executable, the window with its page where that is possible. Prints nothing to standard output, which
/// may be what the task is for.
///
/// # Errors
///
/// When a build fails.
pub fn build() -> Outcome {
    if prepare::is_prepared() {
        // The window takes the page in when it is built.
        page::build()?;
    }
    shell::run_quietly("cargo", &[&["build", "--release"], packages(), &["--bins"]].concat())
}

/// Builds everything and runs a task that uses it.
///
/// # Errors
///
/// When the build or the task fails.
pub fn run<S: AsRef<OsStr>>(task: &str, arguments: &[S]) -> Outcome {
    build()?;
    let mut all = vec![OsStr::new(task)];
    all.extend(arguments.iter().map(AsRef::as_ref));
    shell::run_quietly(&shell::executable(TASKS).to_string_lossy(), &all)
}

/// Builds examples.
///
/// # Errors
///
/// When the build fails.
pub fn examples(names: &[&str]) -> Outcome {
    let examples: Vec<&str> = names.iter().flat_map(|name| ["--example", name]).collect();
    shell::run_quietly("cargo", &[&["build", "--release"], packages(), &examples[..]].concat())
}
