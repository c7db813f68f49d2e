//! The *Guided* family: guided workflows as eleven tools, as commands, and as hooks.
//!
//! Here: what goes over the wire and the command line. What a tool does is in crate `guided`.

mod arguments;
pub(crate) mod cli;
pub(crate) mod history;
pub(crate) mod server;
mod setup;
mod tools;

use crate::env_vars;

/// What all ways into guided workflows have in common. Commands of rules and schemas run when `commands` says so and the
/// environment does not forbid it; a process of this image keeps each of them.
fn settings(platform: Option<String>, commands: bool) -> guided::Settings {
    guided::Settings {
        platform,
        commands: commands && env_vars::get(env_vars::NO_HOOK_COMMANDS).is_none(),
        keeper: Some(runtime::WorkerImage::own().program),
        ..guided::Settings::new(env_vars::whole())
    }
}
