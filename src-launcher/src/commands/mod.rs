//! What each command does, one module each.

pub(crate) mod agents;
pub(crate) mod auth;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod init;
pub(crate) mod projects;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod structure;
pub(crate) mod window;
