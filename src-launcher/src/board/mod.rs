//! `workflow-code board`: work records over the command line, the protocol and hooks.
//!
//! Here: what was asked for, and how the answer looks. What a record may be, and every gate, lies in crate `board`.

mod arguments;
mod cli;
mod commands;
mod fitting;
mod history;
mod options;
mod prompts;
mod schemas;
pub(crate) mod server;
mod tools;

use std::io::Read as _;
use std::path::Path;

use ::board::{BoardError, ErrorKind, Surroundings, Workspace};

use crate::env_vars;

pub(crate) use cli::run;

/// The most a hook reads.
const HOOK_INPUT: u64 = 16 * 1024 * 1024;

/// Names this executable can be called by, to be the board alone.
pub(crate) fn by_name(program: &str) -> Option<Vec<String>> {
    match Path::new(program).file_name()?.to_str()? {
        "workfile" | "wf" => Some(Vec::new()),
        "workfile-mcp" => Some(vec!["mcp".to_owned(), "serve".to_owned()]),
        _ => None,
    }
}

/// Who is at work, as the environment says.
fn surroundings() -> Surroundings {
    let first = |names: &[&str]| names.iter().find_map(|name| env_vars::get(name));
    Surroundings {
        configured: env_vars::get(env_vars::BOARD_ACTOR),
        user: first(&env_vars::USER_NAMES),
        host: first(&env_vars::HOST_NAMES),
        session: first(&env_vars::BOARD_SESSIONS),
        client: None,
    }
}

/// The exit code of what was refused, or could not be printed.
pub(crate) const REFUSED: u8 = 1;

/// Exit codes: 1 refused or not found, 2 configuration, 3 conflict.
fn exit_of(error: &BoardError) -> u8 {
    match error.kind() {
        ErrorKind::Configuration => 2,
        ErrorKind::Conflict => 3,
        ErrorKind::NotFound | ErrorKind::Validation => REFUSED,
    }
}

/// Runs a hook.
fn hook(word: &str) -> u8 {
    let mut bytes = Vec::new();
    // What cannot be read counts as nothing: a hook never fails the session it is called from.
    let _ = std::io::stdin().lock().take(HOOK_INPUT).read_to_end(&mut bytes);
    let input = String::from_utf8_lossy(&bytes);
    let current = std::env::current_dir().unwrap_or_default();
    let folder = env_vars::get(env_vars::CLAUDE_PROJECT_DIR);
    let outcome = ::board::hooks::run(word, &input, folder.as_deref(), &current, &surroundings());
    if let Some(print) = outcome.print {
        crate::out::json_line(&print);
    }
    outcome.exit
}

/// Opens a registered board, with its changes recorded in the history.
pub(crate) fn registered(found: &store::Project, store: store::Store) -> Result<server::BoardServer, BoardError> {
    let workspace = Workspace::open(Some(&found.path), &found.path, false)?;
    if !workspace.config().mcp.enabled {
        return Err(BoardError::new("MCP_DISABLED", "this workspace switches its server off"));
    }
    let root = workspace.root().to_owned();
    let recorder = history::Recorder { store, project: found.id.clone(), title: found.title.clone(), root };
    Ok(server::BoardServer::new(workspace, false, surroundings()).recorded(recorder))
}

/// Serves a workspace over the standard streams.
fn serve(workspace: Workspace, read_only: bool) -> u8 {
    if !workspace.config().mcp.enabled {
        crate::out::note("MCP_DISABLED: this workspace switches its server off");
        return 1;
    }
    let streams = match process::standard_streams::take() {
        Ok(streams) => streams,
        Err(error) => {
            crate::out::note(&format!("MCP_START_FAILED: the standard streams cannot be used: {error}"));
            return 1;
        }
    };
    let family = server::BoardServer::new(workspace, read_only, surroundings());
    match crate::serve::board(family, streams) {
        Ok(()) => 0,
        Err(error) => {
            crate::out::note(&format!("MCP_START_FAILED: the input cannot be read: {error}"));
            1
        }
    }
}
