//! `workflow-code`: the command line, the headless server, the worker's main, and what the window needs of them.
//!
//! Here: which command was asked for, opening what it needs, and how it reads to a person; [`desktop`], the same rooms
//! for the window. What a command does lies in the crates: projects in `project`, runs in `runtime`, history in `store`,
//! the protocol in `mcp`.
//!
//! Two executables stand in front: `workflow-code` calls [`main`], and the window [`run_if_requested`] before it touches
//! any window library, so that a configuration may name either.

mod asking;
mod board;
mod cli;
mod commands;
mod connection;
mod declared;
pub mod desktop;
mod env_vars;
mod failure;
mod guided;
mod http_token;
mod installation;
mod invocation;
mod logging;
mod moved;
mod open;
mod option_order;
mod out;
mod profile;
mod retention;
mod run_json;
mod script_texts;
mod serve;
mod server_check;
mod terminal;
mod workflow_server;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::cli::{Cli, Command};
use crate::failure::{Exit, Failure};
use crate::profile::Missing;

/// Does what the command line says; without arguments, becomes the window.
#[must_use]
pub fn main() -> ExitCode {
    process::memory::one_arena();
    let code = match early() {
        Some(code) => code,
        None => match command_line() {
            Ok(cli) => run(&cli).unwrap_or_else(|failure| failed(&failure)),
            Err(code) => code,
        },
    };
    ExitCode::from(out::exit_code(code, Exit::Environment as u8))
}

/// Does what this process's arguments ask for, if they ask for anything but the window. For the window's executable, as
/// the first thing in its `main`.
///
/// `None`: the window is wanted, in the profile that [`wanted_profile`] tells.
#[must_use]
pub fn run_if_requested() -> Option<ExitCode> {
    // Nothing to read: the way of nearly every start of the window.
    std::env::args_os().nth(1)?;
    if let Some(code) = early() {
        return Some(ExitCode::from(out::exit_code(code, Exit::Environment as u8)));
    }
    let cli = match command_line() {
        Ok(cli) => cli,
        Err(code) => return Some(ExitCode::from(code)),
    };
    if cli.wants_window() {
        return None;
    }
    process::memory::one_arena();
    let code = run(&cli).unwrap_or_else(|failure| failed(&failure));
    Some(ExitCode::from(out::exit_code(code, Exit::Environment as u8)))
}

/// Returns what `--profile` says on this process's command line.
#[must_use]
pub fn wanted_profile() -> Option<String> {
    parsed(std::env::args_os()).ok()?.profile
}

/// What is decided before the command line is read as a whole.
fn early() -> Option<u8> {
    // Before anything slow: a worker's start is on every call's way.
    if std::env::args_os().nth(1).is_some_and(|first| first == runtime::WORKER_ARGUMENT) {
        return Some(match runtime::worker_main() {
            Ok(()) => 0,
            Err(error) => {
                out::note(&format!("the worker cannot be started: {error}"));
                Exit::Environment as u8
            }
        });
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == process::keeper::ARGUMENT) {
        return Some(process::keeper::main(std::env::args_os().skip(2)));
    }
    if let Some(code) = board_alone() {
        return Some(code);
    }
    if guided::cli::is_own_name(std::env::args_os().next().as_deref()) {
        return Some(guided::cli::run_as_deepwork().unwrap_or_else(|failure| failed(&failure)));
    }
    None
}

/// Reads the command line. What it refuses is repeated to a person, and may have come from anywhere.
fn command_line() -> Result<Cli, u8> {
    parsed(option_order::in_order(std::env::args_os())).map_err(|error| {
        let text = error.render().to_string();
        if out::neutral(&text) == text {
            error.exit();
        }
        out::note(text.trim_end());
        Exit::Usage as u8
    })
}

fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = cli::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn failed(failure: &Failure) -> u8 {
    out::failure(failure);
    failure.exit as u8
}

/// Runs the board without reading any other option: by one of its own names, or as the first word. Its hooks are on the
/// way of every edit of an agent.
fn board_alone() -> Option<u8> {
    let mut given = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let program = given.next()?;
    let rest: Vec<String> = given.collect();
    let first = rest.first().map_or("", String::as_str);
    let (mut arguments, skipped) = match board::by_name(&program) {
        Some(words) => (words, 0),
        None if first == "board" => (Vec::new(), 1),
        None => (board::by_name(first).filter(|_| first == "workfile-mcp")?, 1),
    };
    arguments.extend_from_slice(rest.get(skipped..)?);
    Some(out::exit_code(board::run(&arguments), board::REFUSED))
}

fn run(cli: &Cli) -> Result<u8, Failure> {
    invocation::remember(cli);
    let profile = cli.profile.as_deref();
    // `--profile` may stand before a command; what only a server has may not.
    if cli.command.is_some() && cli.show.is_some() {
        return Err(Failure::usage("`--show` opens the window, and does not go with a command"));
    }
    if cli.command.is_some() && (cli.workflow_mcp.is_some() || cli.serve != cli::ServeOptions::default()) {
        return Err(Failure::usage("`--workflow-mcp` and the options of a server do not go before a command")
            .hinted("`workflow-code --workflow-mcp PROJECT_ID` stands alone; `mcp DIR` takes its options after it"));
    }
    if let Some(id) = &cli.workflow_mcp {
        return Ok(serve::project(&cli.serve, || {
            let profile = profile::open(profile, Missing::Refuse)
                .map_err(|failure| Failure { message: format!("project `{id}`: {}", failure.message), ..failure })?;
            open::served(id, &profile)
        }));
    }
    match &cli.command {
        None => commands::window::open(profile, cli.show.as_deref()),
        Some(Command::Mcp(mcp)) => {
            // A relative folder option is bad usage, whatever else is wrong.
            open::folders(&mcp.folders, "")?;
            Ok(serve::project(&mcp.serve, || open::served_folder(&mcp.workflow_dir, &mcp.folders)))
        }
        Some(Command::Run(run)) => commands::run::run(run, profile),
        Some(Command::Structure(structure)) => commands::structure::run(structure),
        Some(Command::Init(init)) => commands::init::run(init),
        Some(Command::Projects(projects)) => commands::projects::run(projects, profile),
        Some(Command::Config(config)) => commands::config::run(config, profile),
        Some(Command::Runs(runs)) => commands::runs::run(runs, profile),
        Some(Command::Board { arguments }) => Ok(out::exit_code(board::run(arguments), board::REFUSED)),
        Some(Command::Agents(agents)) => commands::agents::run(agents, profile),
        Some(Command::Auth(auth)) => commands::auth::run(auth, profile),
        Some(Command::Doctor(doctor)) => commands::doctor::run(doctor, profile),
        Some(Command::Guided(guided)) => guided::cli::run(guided),
    }
}
