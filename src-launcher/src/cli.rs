//! The command line as data. What each command does is in `commands`.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::logging::LogFormat;

/// Turns a folder of workflows into tools for AI clients, and records every call.
#[derive(Debug, Parser)]
#[command(
    name = "workflow-code",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Without arguments, opens the window.\n\n\
        Examples:\n  \
        workflow-code init hello && cd hello          make a small working project\n  \
        workflow-code run . main --name Ada           run one entrypoint here\n  \
        workflow-code projects add .                  register the folder\n  \
        workflow-code config PROJECT_ID --client codex  print what a client needs\n  \
        workflow-code runs list                       see what was called\n\n\
        Exit codes: 0 success, 1 the run failed or waits for a person, 2 bad usage, 3 environment, 128+N ended by signal N."
)]
pub(crate) struct Cli {
    /// Profile whose registry and history are used
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// Serve a registered project over standard input and output, recording every call
    #[arg(long, value_name = "PROJECT_ID")]
    pub(crate) workflow_mcp: Option<String>,

    /// Open the window at a view: `run/RUN_ID`, `runs`, `project/PROJECT_ID`, `settings`
    #[arg(long, value_name = "VIEW", conflicts_with = "workflow_mcp")]
    pub(crate) show: Option<String>,

    #[command(flatten)]
    pub(crate) serve: ServeOptions,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The command line's description. Every command answers `--version` with the program's own name.
pub(crate) fn command() -> clap::Command {
    fn named(command: clap::Command) -> clap::Command {
        command.display_name("workflow-code").mut_subcommands(named)
    }
    named(Cli::command())
}

impl Cli {
    /// Tells whether nothing but the window is asked for.
    pub(crate) fn wants_window(&self) -> bool {
        self.command.is_none() && self.workflow_mcp.is_none() && self.serve == ServeOptions::default()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a folder as an MCP server, without the registry
    #[command(after_help = "Example:\n  workflow-code mcp ~/reports --related-project style=/home/me/style")]
    Mcp(Mcp),
    /// Run one entrypoint here: progress on standard error, the result on standard output
    #[command(
        override_usage = "workflow-code run [OPTIONS] <TARGET> [ENTRYPOINT] [PARAMETERS]...",
        after_help = "Examples:\n  \
        workflow-code run ~/reports main --week 2026-11-30\n  \
        workflow-code run ~/reports main --input-json input.json\n  \
        echo '{\"name\": \"Ada\"}' | workflow-code run . main --input-json -"
    )]
    Run(Run),
    /// Print what a folder offers, as JSON
    #[command(after_help = "Example:\n  workflow-code structure ~/reports")]
    Structure(Structure),
    /// Write a small working project
    #[command(after_help = "Examples:\n  \
        workflow-code init hello\n  \
        workflow-code init tables --template command\n  \
        workflow-code init copy-of-hello --new-id")]
    Init(Init),
    /// The registry of projects
    #[command(subcommand)]
    Projects(Projects),
    /// Print or write the configuration that an AI client needs
    #[command(after_help = "Examples:\n  \
        workflow-code config PROJECT_ID --client claude-code\n  \
        workflow-code config PROJECT_ID --client codex --write\n  \
        workflow-code config ~/reports                the generic form, for an unregistered folder")]
    Config(Config),
    /// What was run
    #[command(subcommand)]
    Runs(Runs),
    /// Work records of a repository: cards, documents, changelog and memory
    #[command(disable_help_flag = true)]
    Board {
        /// What to do; `workflow-code board help` lists it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<String>,
    },
    /// Who starts the agents of orchestration scripts
    #[command(
        subcommand,
        after_help = "Examples:\n  \
        workflow-code agents list\n  \
        workflow-code agents use claude-code"
    )]
    Agents(Agents),
    /// The saved connection: a server's address and its admin key
    #[command(subcommand)]
    Auth(Auth),
    /// Check the installation and the registered projects
    #[command(after_help = "Examples:\n  workflow-code doctor\n  workflow-code doctor PROJECT_ID --json")]
    Doctor(Doctor),
    /// Guided workflows: serve them, list due reviews, answer hooks
    #[command(
        subcommand,
        after_help = "Examples:\n  \
        workflow-code guided serve --path ~/reports --platform claude\n  \
        workflow-code guided review --instructions-for claude"
    )]
    Guided(crate::guided::cli::Guided),
}

/// Options of every server.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct ServeOptions {
    /// Calls that run side by side; the rest queue [default: 4, or twice the processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) max_concurrent: Option<u32>,

    /// Bytes of a result's `output`; longer ones are cut and kept whole in the record [default: 32768]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(256..=16_777_216))]
    pub(crate) max_result_bytes: Option<u64>,

    /// Seconds a client's form may stay open [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) elicitation_timeout: Option<u64>,

    /// How log lines on standard error look
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
}

/// Where local workflow data is kept. Every folder must be absolute.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FolderOptions {
    /// Root of local workflow data [default: ~/.workflow-code]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Managed files imported from file parameters [default: <data-dir>/files]
    #[arg(long, value_name = "DIR")]
    pub(crate) file_store_dir: Option<PathBuf>,

    /// The project's key-value store [default: <data-dir>/kv/<project uuid>]
    #[arg(long, value_name = "DIR")]
    pub(crate) kv_store_dir: Option<PathBuf>,

    /// `PersistentValue`s and the local knowledge base [default: <data-dir>/values]
    #[arg(long, value_name = "DIR")]
    pub(crate) persistent_value_store_dir: Option<PathBuf>,

    /// Files that runs create [default: <data-dir>/created]
    #[arg(long, value_name = "DIR")]
    pub(crate) file_create_store_dir: Option<PathBuf>,

    /// Where the window keeps the connection's auth
    #[arg(long, value_name = "DIR")]
    pub(crate) desktop_config_dir: Option<PathBuf>,

    /// Holds `workflow-auth.json` [default: <data-dir>]
    #[arg(long, value_name = "DIR")]
    pub(crate) auth_dir: Option<PathBuf>,

    /// Bind a related project that both sides declare; repeatable
    #[arg(long = "related-project", value_name = "ALIAS=DIR")]
    pub(crate) related_projects: Vec<String>,

    /// Programs with arguments that `exec` may start unasked, as `'git status*'`; repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(crate) allow_exec: Vec<String>,

    /// Who starts the agents of orchestration scripts: `claude-code`, `codex`, `gemini-cli`, `opencode`, `http`, or
    /// `canned:FILE` [default: the project's, else the one chosen with `workflow-code agents use`]
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Agents {
    /// List the providers there are, and which is chosen
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Choose a provider for all projects that name none
    Use {
        /// `claude-code`, `codex`, `gemini-cli`, `opencode`, `http`, `canned` or `canned:FILE`
        #[arg(value_name = "NAME")]
        provider: String,
    },
    /// Take the choice back
    Forget,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Folder of the workflow project
    pub(crate) workflow_dir: PathBuf,
    #[command(flatten)]
    pub(crate) folders: FolderOptions,
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// A folder, a script file, or the id of a registered project
    pub(crate) target: String,
    /// Read the whole input from a JSON file, or from standard input (`-`)
    #[arg(long, value_name = "FILE")]
    pub(crate) input_json: Option<String>,
    /// An orchestration script's `args`, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    #[command(flatten)]
    pub(crate) caps: Caps,
    #[command(flatten)]
    pub(crate) folders: FolderOptions,
    /// The entrypoint, which may be left out when there is only one, then its own parameters: `--name value`, `--flag`,
    /// `--no-flag`, or bare values; behind `--` also those that have the name of an option
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PARAMETERS")]
    words: Vec<String>,
}

impl Run {
    /// The entrypoint, if one is named: the first word behind the target, unless it is an option or `--`.
    pub(crate) fn entrypoint(&self) -> Option<&str> {
        self.words.first().map(String::as_str).filter(|word| !word.starts_with('-'))
    }

    /// The words that are the entrypoint's parameters.
    pub(crate) fn parameters(&self) -> &[String] {
        let words = self.words.get(usize::from(self.entrypoint().is_some())..).unwrap_or_default();
        // The first `--` ends our own options, and says nothing about the parameters.
        words.strip_prefix(&["--".to_owned()]).unwrap_or(words)
    }
}

/// What one run may use, below what its project allows.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Caps {
    /// Agents that this run may start [default: the project's `maxAgents`, else 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) max_agents: Option<u64>,
    /// Output tokens after which this run starts no more agents [default: the project's `maxTokens`, else no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// Seconds that this run may take [default: the entrypoint's `timeoutSeconds`]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) max_seconds: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Structure {
    /// Folder of the workflow project
    pub(crate) workflow_dir: PathBuf,
}

/// What `init` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Template {
    /// A TypeScript entrypoint; nothing to install
    #[default]
    Script,
    /// A command entrypoint in Python
    Command,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folder to write into; what is there already stays
    pub(crate) dir: PathBuf,
    /// What to write
    #[arg(long, value_name = "TEMPLATE", default_value = "script")]
    pub(crate) template: Template,
    /// Give the project in this folder an id of its own, for a copy of another one
    #[arg(long)]
    pub(crate) new_id: bool,
    /// Print what was done as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Projects {
    /// Register a folder, once for every kind of project found there
    #[command(after_help = "Example:\n  workflow-code projects add ~/reports")]
    Add {
        /// The folder
        dir: PathBuf,
        /// Only this kind
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List what is registered
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one project
    Show {
        /// Its id or UUID
        project: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a project out of the registry; its files and its history stay
    Remove {
        /// Its id or UUID
        project: String,
        /// Delete its history as well
        #[arg(long)]
        purge: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change a setting of a project: how long its runs are kept
    #[command(after_help = "Settings, each a number, `none` or `default`:\n  \
        retention.days       runs older than this many days are deleted [default: none]\n  \
        retention.runs       of more runs than this, the oldest are deleted [default: none]\n  \
        retention.megabytes  of more than this, the oldest are deleted [default: 2048]\n\n\
        Example:\n  workflow-code projects set PROJECT_ID retention.days 30")]
    Set {
        /// Its id or UUID
        project: String,
        /// The setting
        setting: String,
        /// Its value
        value: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Confirm a related project from one side
    #[command(after_help = "Example:\n  workflow-code projects relate REPORTS style STYLE --both")]
    Relate {
        /// The project that declares the relation
        project: String,
        /// The name it uses for the other one
        alias: String,
        /// The other project
        other: String,
        /// Confirm both sides
        #[arg(long)]
        both: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Config {
    /// The id of a registered project, or a folder
    pub(crate) target: String,
    /// The client: claude-code, claude-desktop, cursor, vscode, codex, gemini, zed, …; an unknown one lists them all
    #[arg(long, value_name = "NAME", default_value = "json")]
    pub(crate) client: String,
    /// The key in the client's file [default: workflow-<uuid>]
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Merge it into the client's file, with a backup
    #[arg(long)]
    pub(crate) write: bool,
    /// Show what `--write` would change, and change nothing
    #[arg(long, conflicts_with = "write")]
    pub(crate) preview: bool,
    /// Take our entry out of the client's file again
    #[arg(long, conflicts_with_all = ["write", "preview"])]
    pub(crate) remove: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where `runs` looks.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct History {
    /// Read `<DIR>/history.db`, where `mcp DIR` and `run DIR` record, instead of the registry's history
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first
    #[command(after_help = "Examples:\n  \
        workflow-code runs list --status failed\n  \
        workflow-code runs list --project PROJECT_ID --limit 20 --json")]
    List {
        /// Only this project's
        #[arg(long, value_name = "PROJECT_ID")]
        project: Option<String>,
        /// Only with this status
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Only those before this one, for the next page
        #[arg(long, value_name = "RUN_ID")]
        before: Option<String>,
        #[command(flatten)]
        history: History,
    },
    /// Search runs by what was said in them: input, output, error, logs, ids
    #[command(after_help = "Examples:\n  \
        workflow-code runs search quarterly report\n  \
        workflow-code runs search 运行 --status failed --json")]
    Search {
        /// Words that must all stand in a run; of the last one its beginning is enough
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// Only this project's
        #[arg(long, value_name = "PROJECT_ID")]
        project: Option<String>,
        /// Only with this status
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Only those before this one, for the next page
        #[arg(long, value_name = "RUN_ID")]
        before: Option<String>,
        #[command(flatten)]
        history: History,
    },
    /// Show one run with everything that was recorded
    Show {
        /// The run
        run: String,
        #[command(flatten)]
        history: History,
    },
    /// Print what a run wrote
    #[command(after_help = "A file or a pipe gets it as it was written, a terminal without what would steer it.")]
    Logs {
        /// The run
        run: String,
        /// Only one stream
        #[arg(long, value_name = "stdout|stderr")]
        stream: Option<String>,
        /// Go on while the run does
        #[arg(long)]
        follow: bool,
        #[command(flatten)]
        history: History,
    },
    /// Wait until a run has ended, and print its result
    Wait {
        /// The run
        run: String,
        /// Give up after this many seconds, with exit code 1
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
        #[command(flatten)]
        history: History,
    },
    /// Cancel a run, wherever it runs
    Cancel {
        /// The run
        run: String,
        #[command(flatten)]
        history: History,
    },
    /// Answer a waiting run, or continue an interrupted one, under its id
    #[command(after_help = "Examples:\n  \
        workflow-code runs resume RUN_ID --answer-json '{\"name\": \"Ada\"}'\n  \
        workflow-code runs resume RUN_ID --approve --question 0")]
    Resume {
        /// The run
        run: String,
        /// The answer to its form
        #[arg(long, value_name = "JSON", conflicts_with_all = ["approve", "deny"])]
        answer_json: Option<String>,
        /// Give leave
        #[arg(long, conflicts_with = "deny")]
        approve: bool,
        /// Refuse leave
        #[arg(long)]
        deny: bool,
        /// The question that the answer is for, counted from 0 as `runs show` does; any other is left alone
        #[arg(long, value_name = "N")]
        question: Option<u64>,
        /// Start over with today's code, under a new run id
        #[arg(long, conflicts_with_all = ["answer_json", "approve", "deny", "question"])]
        restart: bool,
        /// Where its project is now, if it was moved
        #[arg(long, value_name = "DIR")]
        project_dir: Option<PathBuf>,
        #[command(flatten)]
        history: History,
    },
    /// Ask one failed agent of an ended run again, under the run's id; what others answered is kept
    #[command(after_help = "Examples:\n  \
        workflow-code runs retry RUN_ID --agent 7")]
    Retry {
        /// The run
        run: String,
        /// The agent: its number among the run's agents, as `runs show` prints it
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        agent: u64,
        #[command(flatten)]
        history: History,
    },
    /// Delete old runs, as the projects' settings say or as is said here; pinned and unfinished ones stay
    #[command(after_help = "Examples:\n  \
        workflow-code runs prune --dry-run\n  \
        workflow-code runs prune --project PROJECT_ID --older-than 30 --keep 1000")]
    Prune {
        /// Delete those older than this many days
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..))]
        older_than: Option<u64>,
        /// Keep at most this many of each project
        #[arg(long, value_name = "N")]
        keep: Option<u64>,
        /// Keep at most this many megabytes of each project
        #[arg(long, value_name = "MB")]
        max_size: Option<u64>,
        /// Only this project's
        #[arg(long, value_name = "PROJECT_ID")]
        project: Option<String>,
        /// Only say what would be deleted
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        history: History,
    },
    /// Keep a run, whatever is pruned
    Pin {
        /// The run
        run: String,
        #[command(flatten)]
        history: History,
    },
    /// Let a pinned run be pruned again
    Unpin {
        /// The run
        run: String,
        #[command(flatten)]
        history: History,
    },
    /// Write one run with everything that was recorded into a single file
    Export {
        /// The run
        run: String,
        /// The file [default: RUN_ID.json]; `-` for standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        history: History,
    },
}

impl Runs {
    /// Where it looks.
    pub(crate) fn history(&self) -> &History {
        match self {
            Self::List { history, .. }
            | Self::Search { history, .. }
            | Self::Show { history, .. }
            | Self::Logs { history, .. }
            | Self::Wait { history, .. }
            | Self::Cancel { history, .. }
            | Self::Resume { history, .. }
            | Self::Retry { history, .. }
            | Self::Prune { history, .. }
            | Self::Pin { history, .. }
            | Self::Unpin { history, .. }
            | Self::Export { history, .. } => history,
        }
    }
}

/// Where a login's key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LoginPlace {
    /// The operating system's keyring
    #[default]
    Keyring,
    /// A file that only you can read, for machines without a keyring
    File,
}

/// Where logins are saved. Every folder must be absolute.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AuthFolders {
    /// Holds `workflow-auth.json` [default: <data-dir>]
    #[arg(long, value_name = "DIR")]
    pub(crate) auth_dir: Option<PathBuf>,
    /// Root of local workflow data [default: ~/.workflow-code]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where the window keeps the connection's auth
    #[arg(long, value_name = "DIR")]
    pub(crate) desktop_config_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Auth {
    /// Save a server and its admin key; the key is asked for, or read from standard input
    #[command(after_help = "Examples:\n  \
        workflow-code auth login https://models.example.com\n  \
        workflow-code auth login http://localhost:8080 --store file < key.txt\n\n\
        `WORKFLOW_SERVER_URL` with `WORKFLOW_SERVER_ADMIN_KEY`, from the environment or a project's .env, win over it.")]
    Login {
        /// The server's base address
        #[arg(value_name = "URL")]
        server: Option<String>,
        /// Where the key is kept
        #[arg(long, value_name = "STORE", default_value = "keyring")]
        store: LoginPlace,
        #[command(flatten)]
        folders: AuthFolders,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which connection holds, and whether its key can be had
    Status {
        /// Look at this project's .env as well
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
        #[command(flatten)]
        folders: AuthFolders,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the saved login and its key
    Logout {
        #[command(flatten)]
        folders: AuthFolders,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Only this project
    pub(crate) project: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
