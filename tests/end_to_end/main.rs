//! End-to-end tests over the release executable.
