//! Every environment variable we read, in one place.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The profile to use when `--profile` is not given.
pub(crate) const PROFILE: &str = "WORKFLOW_CODE_PROFILE";

/// The connection's server, together with [`SERVER_ADMIN_KEY`].
pub(crate) const SERVER_URL: &str = runtime::URL_VARIABLE;

/// The connection's key, together with [`SERVER_URL`].
pub(crate) const SERVER_ADMIN_KEY: &str = runtime::KEY_VARIABLE;

/// Which log lines are written, in the notation of `tracing-subscriber`.
pub(crate) const LOG: &str = "RUST_LOG";

/// When set, nothing is coloured (<https://no-color.org>).
pub(crate) const NO_COLOR: &str = "NO_COLOR";

/// What the terminal is.
pub(crate) const TERM: &str = "TERM";

/// Who acts on work records, whatever else is known.
pub(crate) const BOARD_ACTOR: &str = "WORKFILE_ACTOR";

/// The session that acts on work records, in the order they are looked at.
pub(crate) const BOARD_SESSIONS: [&str; 3] = ["WORKFILE_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"];

/// The project folder of a hook's client.
pub(crate) const CLAUDE_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";

/// The user's name, on every system.
pub(crate) const USER_NAMES: [&str; 3] = ["USER", "USERNAME", "LOGNAME"];

/// The machine's name.
pub(crate) const HOST_NAMES: [&str; 2] = ["HOSTNAME", "COMPUTERNAME"];

/// Whose names for events and tools a hook's input uses: `claude` or `gemini`.
pub(crate) const HOOK_PLATFORM: &str = "DEEPWORK_HOOK_PLATFORM";

/// When set, no command that review rules and schemas name is run, whatever part of guided workflows would run it.
pub(crate) const NO_HOOK_COMMANDS: &str = "WORKFLOW_CODE_NO_HOOK_COMMANDS";

/// Where the user's files are.
const HOME: &str = "HOME";

/// Where Codex keeps its configuration, when not in the home folder.
pub(crate) const CODEX_HOME: &str = "CODEX_HOME";

/// Where programs keep their configuration, when not in `~/.config`.
pub(crate) const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// Reads a variable; one that is empty or no Unicode counts as absent.
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub(crate) fn get(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the user's home folder, when it is known and absolute.
#[expect(clippy::disallowed_methods, reason = "this is the place")]
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Returns the whole environment, names and values that are Unicode.
pub(crate) fn all() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Returns the whole environment as it is, for programs that we start in the user's name.
pub(crate) fn whole() -> process::Environment {
    std::env::vars_os().collect()
}
