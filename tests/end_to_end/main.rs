//! End-to-end tests over the release executable.

mod auth;
mod crash;
