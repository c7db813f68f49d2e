//! End-to-end tests over the release executable.

mod recorded_clients;
