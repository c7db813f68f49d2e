//! `cargo xtask gen`: what is made from the source and kept beside it.

use crate::shell::Outcome;
use crate::test;

/// Writes the page's declarations of the window's commands.
pub fn run() -> Outcome {
    // A test writes them, so that the library that makes them is linked into no program.
    test::cargo(
        &["test", "--release"],
        &["--lib", "--", "--ignored", "--exact", "bindings::tests::write_the_page_s_file"],
    )
}
