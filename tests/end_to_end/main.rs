//! End-to-end tests over the release executable, one module a theme.
//!
//! They run side by side and on a busy machine: each has a home of its own, waits for conditions and not for times, and
//! ends with a census of what it started.

mod agents;
mod bad_input;
mod cases;
mod commands;
mod doctor;
mod fixtures;
mod patterns;
mod recorded_clients;
mod script_cases;
mod snapshots;
mod traps;
mod wire;
