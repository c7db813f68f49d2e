//! `workflow-code guided …`, and the same commands under the program name `deepwork`.

use std::ffi::OsStr;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use guided::Guided as Workflows;
use guided::hooks;
use guided::reviews::{ReviewAnswer, Scope, Sources};

use super::server::{GuidedServer, Root};
use crate::cli::ServeOptions;
use crate::env_vars;
use crate::failure::{Exit, Failure};
use crate::{out, serve};

/// What is read of a list of files on standard input: 16 MiB.
const LIST_BYTES: u64 = 16 * 1024 * 1024;

/// The program name under which these are the only commands.
pub(super) const OWN_NAME: &str = "deepwork";

#[derive(Debug, Parser)]
#[command(name = OWN_NAME, version, about = "Guided workflows", disable_help_subcommand = true)]
struct Deepwork {
    #[command(subcommand)]
    command: Guided,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Guided {
    /// Serve guided workflows over standard input and output, or over HTTP on this machine
    Serve(Serve),
    /// Write what reviewers read, and print the review tasks that are due
    Review(Review),
    /// Where sessions stand
    #[command(subcommand)]
    Jobs(Jobs),
    /// Answer a hook: one JSON object on standard input, one on standard output
    Hook(Hook),
    /// Have Claude Code start the server, call its tools without asking, and ask its hooks
    Setup(Setup),
    /// Nothing has to be installed any more
    #[command(hide = true)]
    Install,
    /// Nothing has to be copied any more
    #[command(hide = true)]
    Sync,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Standard input and output
    Stdio,
    /// Streamable HTTP at http://127.0.0.1:PORT/mcp
    StreamableHttp,
    /// HTTP with server-sent events at http://127.0.0.1:PORT/sse, for older clients
    Sse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Runner {
    Claude,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reader {
    /// Claude Code
    Claude,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The project's root [default: the client's first root, else the current folder]
    #[arg(long, value_name = "DIR", value_parser = folder)]
    path: Option<PathBuf>,
    /// How clients connect
    #[arg(long, value_name = "TYPE", default_value = "stdio")]
    transport: Transport,
    /// The platform the agent runs on, as `claude` or `gemini`
    #[arg(long, value_name = "NAME", value_parser = platform)]
    platform: Option<String>,
    /// Do not run commands that review rules and schemas name
    #[arg(long)]
    no_commands: bool,
    /// The port of the HTTP transports; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 8000)]
    port: u16,
    /// Holds what HTTP clients send as `Authorization: Bearer`; made when it is missing
    /// [default: ~/.workflow-code/http-token]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Has no effect; taken for older configurations
    #[arg(long, hide = true)]
    no_quality_gate: bool,
    /// Has no effect; taken for older configurations
    #[arg(long, hide = true)]
    external_runner: Option<Runner>,
    #[command(flatten)]
    serve: ServeOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Review {
    /// Whom the tasks are written for
    #[arg(long, value_name = "PLATFORM")]
    instructions_for: Reader,
    /// Count changes from here instead of the default branch
    #[arg(long, value_name = "REF")]
    base_ref: Option<String>,
    /// The project's root [default: the current folder]
    #[arg(long, value_name = "DIR", value_parser = folder)]
    path: Option<PathBuf>,
    /// Review this file; repeatable. Without it: the lines of standard input, else what git says changed
    #[arg(long, value_name = "FILE")]
    files: Vec<String>,
    /// Do not run commands that review rules name
    #[arg(long)]
    no_commands: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Jobs {
    /// Print the running workflows of all sessions as JSON, the newest first
    GetStack {
        /// The project's root [default: the current folder]
        #[arg(long, value_name = "DIR", value_parser = folder)]
        path: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// Replace a server `deepwork` that is there and was not written by this command
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The hook
    name: String,
}

fn folder(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text).canonicalize().map_err(|error| error.to_string())?;
    if path.is_dir() { Ok(path) } else { Err("it is not a folder".into()) }
}

/// A platform's name is a folder's as well.
fn platform(text: &str) -> Result<String, String> {
    guided::names::check("platform", text).map(str::to_owned).map_err(|error| error.to_string())
}

/// Tells whether the program was started under the name of these commands.
pub(crate) fn is_own_name(program: Option<&OsStr>) -> bool {
    program.is_some_and(|program| Path::new(program).file_stem() == Some(OsStr::new(OWN_NAME)))
}

/// Runs what was asked for under the name `deepwork`.
pub(crate) fn run_as_deepwork() -> Result<u8, Failure> {
    run(&Deepwork::parse().command)
}

pub(crate) fn run(command: &Guided) -> Result<u8, Failure> {
    match command {
        Guided::Serve(options) => serve_guided(options),
        Guided::Review(options) => review(options),
        Guided::Jobs(Jobs::GetStack { path }) => {
            let root = root_or_here(path.as_deref())?;
            let workflows = workflows(None, true);
            let project = workflows.project(&root).map_err(environment)?;
            out::json(&project.active_sessions());
            Ok(0)
        }
        Guided::Hook(hook) => answer_hook(&hook.name),
        Guided::Setup(options) => super::setup::run(options.force),
        Guided::Install | Guided::Sync => {
            out::note("nothing is done by this command any more: jobs are read from `.deepwork/jobs` at every call");
            Ok(0)
        }
    }
}

fn workflows(platform: Option<String>, commands: bool) -> Workflows {
    Workflows::new(super::settings(platform, commands))
}

fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| Failure::environment(format!("the current folder cannot be used: {error}")))
}

fn root_or_here(path: Option<&Path>) -> Result<PathBuf, Failure> {
    path.map_or_else(here, |path| Ok(path.to_owned()))
}

fn environment(error: guided::GuidedError) -> Failure {
    Failure::from_error(Exit::Environment, &error)
}

fn serve_guided(options: &Serve) -> Result<u8, Failure> {
    let root = match &options.path {
        Some(path) => Root::Fixed(path.clone()),
        None => Root::Client(here()?),
    };
    let platform = options.platform.clone();
    let commands = !options.no_commands;
    let open = || GuidedServer::new(workflows(platform, commands), root, None);
    let transport = match options.transport {
        Transport::Stdio => return Ok(serve::family(&options.serve, open)),
        Transport::StreamableHttp => mcp::http::Transport::Streamable,
        Transport::Sse => mcp::http::Transport::Sse,
    };
    let place = serve::HttpPlace { transport, port: options.port, token_file: options.token_file.as_deref() };
    serve::family_over_http(&options.serve, &place, open)
}

fn review(options: &Review) -> Result<u8, Failure> {
    let Reader::Claude = options.instructions_for;
    let root = root_or_here(options.path.as_deref())?;
    let scope = if !options.files.is_empty() {
        Scope::Listed(options.files.clone())
    } else {
        match listed_on_input()? {
            Some(files) => Scope::Listed(files),
            None => Scope::Changed(options.base_ref.clone()),
        }
    };
    let workflows = workflows(Some("claude".into()), !options.no_commands);
    let project = workflows.project(&root).map_err(environment)?;
    let reviewed = project.review(scope, Sources::RuleFiles);
    for error in &reviewed.errors {
        out::note(&format!("warning: {error}"));
    }
    match reviewed.answer {
        ReviewAnswer::Text(text) => {
            out::line(&text);
            Ok(0)
        }
        ReviewAnswer::Failed(reason) => Err(Failure { exit: Exit::Failed, message: reason, hint: None }),
    }
}

/// Reads a list of files, one a line, when somebody pipes one in.
fn listed_on_input() -> Result<Option<Vec<String>>, Failure> {
    let input = std::io::stdin();
    if input.is_terminal() {
        return Ok(None);
    }
    let mut text = String::new();
    input
        .lock()
        .take(LIST_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| Failure::usage(format!("the list of files on standard input cannot be read: {error}")))?;
    let files: Vec<String> = text
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned)
        .collect();
    Ok((!files.is_empty()).then_some(files))
}

fn answer_hook(name: &str) -> Result<u8, Failure> {
    if !hooks::NAMES.contains(&name) {
        let message = format!("there is no hook `{name}`; the hooks are {}", hooks::NAMES.join(", "));
        return Err(Failure { exit: Exit::Failed, message, hint: None });
    }
    let mut input = Vec::new();
    // What cannot be read says nothing, and a hook is never in the way.
    let _ = std::io::stdin().lock().take(hooks::INPUT_BYTES).read_to_end(&mut input);
    let platform = hooks::Platform::from_name(env_vars::get(env_vars::HOOK_PLATFORM).as_deref());
    let folder = here()?;
    let workflows = workflows(None, true);
    let answer = hooks::answer(&workflows, name, platform, &input, &folder).unwrap_or_else(|| serde_json::json!({}));
    out::json_line(&answer);
    Ok(0)
}
