//! End-to-end tests over the release executable, one module a theme.
//!
//! They run side by side and on a busy machine: each has a home of its own, waits for conditions and not for times, and
//! ends with a census of what it started.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "all of this is test code, also what lies outside the test functions"
)]

mod agent_providers;
mod agent_runs;
mod agents;
mod auth;
mod bad_input;
mod board;
mod board_cases;
mod cases;
mod commands;
mod crash;
mod doctor;
mod fixtures;
mod guided;
mod guided_cases;
mod guided_commands;
mod guided_history;
mod guided_hostile;
mod guided_http;
mod hostile;
mod house;
mod keyring;
mod patterns;
mod printing;
mod recorded_clients;
mod resuming;
mod script_cases;
mod script_host;
mod snapshots;
mod traps;
mod waiting;
mod window_api;
mod wire;
