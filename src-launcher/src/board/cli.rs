//! Which command was asked for, and how its answer or refusal is printed.

use ::board::{Board, BoardError, Workspace};
use serde_json::{Value, json};

use super::options::Options;
use super::{commands, exit_of, serve, server, surroundings};
use crate::out;

/// What a command ends with.
pub(crate) struct Done {
    /// What is printed with `--json`.
    pub(crate) answer: Value,
    /// What is printed otherwise.
    pub(crate) text: String,
    /// The exit code: 1 for findings.
    pub(crate) exit: u8,
}

impl Done {
    pub(crate) fn new(answer: Value, text: impl Into<String>) -> Self {
        Self { answer, text: text.into(), exit: 0 }
    }

    /// Findings make it exit with 1.
    pub(crate) fn failing(mut self, failing: bool) -> Self {
        self.exit = u8::from(failing);
        self
    }
}

const HELP: &str = "Work records of a repository: cards, documents, changelog and memory.

Usage: workflow-code board COMMAND [OPTIONS]

  init                       make this folder a workspace
  schema                     the vocabularies of this workspace
  next                       what can be started now
  search QUERY               find records
  doctor                     look for what is wrong; --fix mends, --accept-baseline, --new
  card                       list show create patch claim release transition archive reopen note write ac verify reap renumber
  doc                        list show create patch move write note
  changelog                  list show add patch preview release render verify
  memory                     list show add patch graduate supersede verify
  agents                     sync check context whoami
  ci                         sync check
  claude                     install check uninstall plugin
  mcp                        serve inspect config
  hook                       session-start pre-tool-use post-tool-use
  ui                         open the window
  upgrade, version, help

Options everywhere: --root PATH --json --dry-run --allow-new --verbose --help
Lists are written with commas. Exit codes: 0 done, 1 refused or findings, 2 configuration, 3 conflict.
";

/// Runs `board` with its arguments; returns the exit code.
pub(crate) fn run(arguments: &[String]) -> u8 {
    // Before everything else: a hook is on the way of every edit.
    if arguments.first().is_some_and(|word| word == "hook") {
        return super::hook(arguments.get(1).map_or("", String::as_str));
    }
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(error) => return refuse(&error, as_json),
    };
    match dispatch(&options) {
        Ok(None) => 0,
        Ok(Some(done)) => {
            if as_json {
                out::json(&done.answer);
            } else if !done.text.is_empty() {
                out::line(done.text.trim_end());
            }
            done.exit
        }
        Err(Stop::Exit(code)) => code,
        Err(Stop::Refused(error)) => refuse(&error, as_json),
    }
}

fn refuse(error: &BoardError, as_json: bool) -> u8 {
    if as_json {
        out::json_note(&json!({ "error": error.to_json() }));
    } else {
        out::note(&format!("{}: {}", error.code, error.message));
    }
    exit_of(error)
}

/// Why there is nothing to print.
pub(crate) enum Stop {
    /// Everything was said already.
    Exit(u8),
    /// It was refused.
    Refused(BoardError),
}

impl From<BoardError> for Stop {
    fn from(error: BoardError) -> Self {
        Self::Refused(error)
    }
}

fn open(options: &Options) -> Result<Workspace, BoardError> {
    let current = std::env::current_dir()
        .map_err(|error| BoardError::new("WORKSPACE_NOT_FOUND", format!("there is no current folder: {error}")))?;
    Workspace::open(options.get("root").map(std::path::Path::new), &current, options.flag("allow-new"))
}

fn dispatch(options: &Options) -> Result<Option<Done>, Stop> {
    let word = options.words.first().map(String::as_str);
    if options.flag("help") || word == Some("help") {
        out::print(HELP);
        return Ok(None);
    }
    let group = match word {
        None | Some("ui" | "serve") => {
            options.allow("ui", &[], false)?;
            // Its exit codes are the launcher's own, and mean other things here.
            return match crate::commands::window::open(None, None) {
                Ok(code) => Err(Stop::Exit(code)),
                Err(failure) => Err(BoardError::new("UI_START_FAILED", failure.message).into()),
            };
        }
        Some("docs") => "doc",
        Some("history") => "changelog",
        Some(other) => other,
    };
    let second = options.words.get(1).map(String::as_str);
    match group {
        "version" => {
            options.allow("version", &[], false)?;
            Ok(Some(Done::new(json!({ "version": env!("CARGO_PKG_VERSION") }), env!("CARGO_PKG_VERSION"))))
        }
        "init" => commands::init(options).map(Some).map_err(Stop::from),
        "mcp" => mcp(options, second.unwrap_or("serve")),
        "card" | "doc" | "changelog" | "memory" | "agents" | "ci" | "claude" | "schema" | "next" | "search"
        | "doctor" | "upgrade" => {
            let board = Board::new(open(options)?);
            let call = commands::Command { board: &board, options, around: surroundings() };
            let done = match group {
                "card" => super::commands::card(&call, second),
                "schema" => call.schema(),
                "next" => call.next(),
                "search" => call.search(),
                "doctor" => call.doctor(),
                "upgrade" => call.upgrade(),
                other => super::commands::others(&call, other, second),
            };
            done.map(Some).map_err(Stop::from)
        }
        other => {
            let as_json = options.flag("json");
            if !as_json {
                out::print(HELP);
            }
            refuse(&BoardError::new("CLI_COMMAND_UNKNOWN", format!("there is no command `{other}`")), as_json);
            Err(Stop::Exit(2))
        }
    }
}

fn mcp(options: &Options, word: &str) -> Result<Option<Done>, Stop> {
    let read_only = options.flag("read-only");
    options.allow(&format!("mcp {word}"), &["read-only"], false)?;
    match word {
        "serve" | "stdio" => {
            // The protocol is not up yet: what is wrong is one line, and the client sees the end.
            let workspace = open(options).map_err(|error| {
                out::note(&format!("{}: {}", error.code, error.message));
                Stop::Exit(1)
            })?;
            Err(Stop::Exit(serve(workspace, read_only)))
        }
        "inspect" => {
            let inventory = server::BoardServer::new(open(options)?, read_only, surroundings()).inventory();
            let names: Vec<&str> =
                inventory["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
            let text = names.join("\n");
            Ok(Some(Done::new(inventory, text)))
        }
        "config" => {
            let workspace = open(options)?;
            let own = std::env::current_exe().map_err(|error| {
                BoardError::new("MCP_START_FAILED", format!("this program's own place is unknown: {error}"))
            })?;
            let mut arguments =
                vec!["workfile-mcp".to_owned(), "--root".into(), workspace.root().display().to_string()];
            if read_only {
                arguments.push("--read-only".into());
            }
            let answer = json!({
                "command": own, "args": arguments, "env": {}, "transport": "stdio", "protocolVersion": mcp::ordered::MODERN,
            });
            let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
            Ok(Some(Done::new(answer, text)))
        }
        other => Err(BoardError::new("CLI_COMMAND_UNKNOWN", format!("there is no command `mcp {other}`")).into()),
    }
}
