//! The real window, on a screen of its own, driven as a person would: what only WebKit, GTK and the desktop can show.
//!
//! Few tests, since each starts a desktop: what a page does is tested in `ui`, what a command answers in `api`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "all of this is test code, also what lies outside the test functions"
)]

mod guarded;
mod notifying;
mod project;
mod starting;
mod working;

use workflow_code_tests::Desktop;

/// A desktop with room for the whole window.
fn desktop() -> Desktop {
    Desktop::start(1400, 900).unwrap_or_else(|error| panic!("the desktop does not start: {error}"))
}

/// Keeps a picture of the screen beside the build's other output, for whoever wants to look.
fn picture(desktop: &Desktop, name: &str) {
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.ancestors().find(|folder| folder.ends_with("release")).unwrap_or(&own).join("window-pictures");
    desktop.picture(&folder.join(format!("{name}.png"))).unwrap();
}
