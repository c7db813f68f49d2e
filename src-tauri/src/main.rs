//! `workflow-code-desktop`: the window over the same registry, history and executor as the command line.
//!
//! Here: starting and ending the window, the one command through which its page asks (`rpc`), what only a window can do
//! for a page (`host`), and telling it what changed (`feed`). What a request means is in `api`; the page is in `ui`.

mod address;
mod environment;
mod feed;
mod host;
mod lock;
mod notify;
mod offered;
mod problem;
mod rpc;
mod start;
mod window;

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything of the window: what an AI client starts needs no display and must be there at once.
    if let Some(code) = launcher::run_if_requested() {
        return code;
    }
    match start::run() {
        Ok(code) => code,
        Err(refusal) => refusal.tell(),
    }
}
