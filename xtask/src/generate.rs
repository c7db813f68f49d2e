//! `cargo xtask gen`: what is made from the source and kept beside it.

use crate::shell::{self, Outcome};

/// Writes the page's declarations of the window's commands.
pub(crate) fn run() -> Outcome {
    // A test writes them, so that the library that makes them is linked into no program.
    shell::run(
        "cargo",
        &[
            "test",
            "--release",
            "--package",
            "workflow-api",
            "--lib",
            "--",
            "--ignored",
            "--exact",
            "bindings::tests::write_the_page_s_file",
        ],
    )
}
