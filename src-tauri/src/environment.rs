//! What the window reads of its environment.

use std::ffi::OsString;

/// Tells whether there is a display to open a window on. Without one GTK cannot start, and would end the process with a
/// backtrace.
pub(crate) fn has_display() -> bool {
    cfg!(not(target_os = "linux")) || [DISPLAY, WAYLAND_DISPLAY].into_iter().any(|name| !get(name).is_empty())
}

/// Where X11's server is.
const DISPLAY: &str = "DISPLAY";
/// Where Wayland's compositor is.
const WAYLAND_DISPLAY: &str = "WAYLAND_DISPLAY";

#[expect(clippy::disallowed_methods, reason = "this is the window's one place that reads its environment")]
fn get(name: &str) -> OsString {
    std::env::var_os(name).unwrap_or_default()
}
