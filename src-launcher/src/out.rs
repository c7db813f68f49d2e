//! The one place that prints: results to standard output, everything else to standard error.
//!
//! Not for servers: those write through the protocol's own writer.

use std::io::{self, Write};

use crate::failure::Failure;

/// Prints a result.
pub(crate) fn print(text: &str) {
    let mut out = io::stdout().lock();
    // A reader that went away (`| head`) is no error of ours.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Prints a result as one line.
pub(crate) fn line(text: &str) {
    print(&format!("{text}\n"));
}

/// Prints a machine-readable result.
pub(crate) fn json(value: &serde_json::Value) {
    line(&serde_json::to_string_pretty(value).unwrap_or_default());
}

/// Tells a person something that is no result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Reports why a command failed.
pub(crate) fn failure(failure: &Failure) {
    note(&format!("error: {}", failure.message));
    if let Some(hint) = &failure.hint {
        note(&format!("hint: {hint}"));
    }
}
