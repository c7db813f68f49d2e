//! The table of clients: one row each, data only.
//!
//! Files, shapes and limits are those of the clients' own documentation; the rows of Claude Code (2.1.197),
//! Codex (0.171), Gemini CLI (0.61), Qwen Code (0.15.10) and Copilot CLI (1.0.102) were compared with what their own
//! `mcp add` writes, given the command lines rendered here.

use std::path::PathBuf;

use model::Limits;

use crate::names::{NameEffect, NameRule};
use crate::paths::{Base, ClientPaths, Place, Platform, Scope};
use crate::shape::{Document, Fixed, Program, Shape};

/// How long a client is told to wait for a call: as long as a run may take by default.
const CALL_SECONDS: u64 = Limits::TIMEOUT_SECONDS;
/// The same in milliseconds.
const CALL_MS: u64 = CALL_SECONDS * 1_000;
/// How long a client is told to wait for the server's start, in seconds.
const START_SECONDS: u64 = 30;

/// Whether a client can put a form of ours before the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Asks {
    /// It shows forms.
    Yes,
    /// It says so, but may answer by itself.
    Perhaps,
    /// It cannot; questions are answered in the window or the terminal.
    No,
}

/// The client's own command for adding a server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AddCommand {
    /// `claude mcp add-json KEY JSON -s SCOPE`.
    ClaudeJson,
    /// `code --add-mcp JSON`.
    CodeJson,
    /// `PROGRAM mcp add KEY [--env NAME=VALUE…] -- COMMAND ARGS…`.
    Dashes(&'static str, &'static [&'static str]),
    /// `PROGRAM mcp add -s SCOPE --timeout MS [-e NAME=VALUE…] KEY COMMAND ARGS…`.
    Timeout(&'static str),
}

/// A link that opens the client with the server filled in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Link {
    /// A name and an entry as Base64 of JSON, after this prefix.
    NameAndConfig(&'static str),
    /// One JSON object with the name in it, percent-encoded, after this prefix.
    WholeJson(&'static str),
}

/// An AI client that starts MCP servers.
#[derive(Debug)]
pub struct Client {
    /// Stable short name, as `config --client` takes it.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Two letters that stand for it.
    pub tile: &'static str,
    /// Whether it can ask the person.
    pub asks: Asks,
    /// Whether it must be restarted before it sees a change.
    pub restart: bool,
    /// Its limit for starting a server, in words, if known.
    pub start_limit: Option<&'static str>,
    /// Its limit for one call, in words, if known; where a configuration can raise it, ours does.
    pub call_limit: Option<&'static str>,
    /// Further facts worth knowing, one sentence each.
    pub notes: &'static [&'static str],
    /// Why its file is not written by us; `None` when it is.
    pub by_hand: Option<&'static str>,
    pub(crate) shape: Shape,
    pub(crate) user: &'static [Place],
    pub(crate) project: &'static [Place],
    /// Folders or files whose existence shows that the client is here; none: the folder of its user file.
    pub(crate) marks: &'static [Place],
    pub(crate) add: Option<AddCommand>,
    pub(crate) link: Option<Link>,
    pub(crate) names: Option<NameRule>,
    /// What starts a variable in its configuration, which a path must not contain by chance.
    pub(crate) expands: Option<&'static str>,
}

impl Client {
    /// Returns its file for `scope`: the first of its places that exists, else the first. `None` when it has none on
    /// this platform, or no project is given.
    #[must_use]
    pub fn file(&self, scope: Scope, paths: &ClientPaths) -> Option<PathBuf> {
        let places = match scope {
            Scope::User => self.user,
            Scope::Project => self.project,
        };
        let files: Vec<PathBuf> = places.iter().filter_map(|place| paths.locate(place)).collect();
        files.iter().find(|file| file.exists()).or_else(|| files.first()).cloned()
    }

    /// Returns whether the client seems to be installed for this person: its folder or file exists.
    #[must_use]
    pub fn is_present(&self, paths: &ClientPaths) -> bool {
        let exists = |place: &Place| paths.locate(place).is_some_and(|path| path.exists());
        if !self.marks.is_empty() {
            return self.marks.iter().any(exists);
        }
        self.user.iter().any(|place| {
            paths.locate(place).is_some_and(|file| match file.parent() {
                Some(folder) if folder != paths.home => folder.is_dir(),
                _ => file.exists(),
            })
        })
    }
}

/// Returns every client, in the order they are offered.
#[must_use]
pub fn clients() -> &'static [Client] {
    CLIENTS
}

/// Returns the client of that id.
#[must_use]
pub fn client(id: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.id == id)
}

const fn any(base: Base, path: &'static [&'static str]) -> Place {
    Place { on: None, base, path }
}

const fn linux(path: &'static [&'static str]) -> Place {
    Place { on: Some(Platform::Linux), base: Base::Config, path }
}

const fn mac(path: &'static [&'static str]) -> Place {
    Place { on: Some(Platform::MacOs), base: Base::MacSupport, path }
}

const fn windows(path: &'static [&'static str]) -> Place {
    Place { on: Some(Platform::Windows), base: Base::AppData, path }
}

const fn json(ways: &'static [&'static [&'static str]]) -> Shape {
    Shape { document: Document::Json { ways }, lead: &[], program: Program::Named("command"), env: "env", tail: &[] }
}

/// `mcpServers` with program and arguments: what most clients read.
const PLAIN: Shape = json(&[&["mcpServers"]]);

/// A row with nothing known; rows say only what differs.
const ROW: Client = Client {
    id: "",
    name: "",
    tile: "",
    asks: Asks::No,
    restart: false,
    start_limit: None,
    call_limit: None,
    notes: &[],
    by_hand: None,
    shape: PLAIN,
    user: &[],
    project: &[],
    marks: &[],
    add: None,
    link: None,
    names: None,
    expands: None,
};

/// `mcp__<server>__<tool>`.
const DOUBLE: fn(&str, &str) -> String = |server, tool| format!("mcp__{server}__{tool}");
/// `mcp_<server>_<tool>`.
const SINGLE: fn(&str, &str) -> String = |server, tool| format!("mcp_{server}_{tool}");
/// Server and tool alone.
const PAIR: fn(&str, &str) -> String = |server, tool| format!("{server}-{tool}");

const CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        name: "Claude Code",
        tile: "CC",
        asks: Asks::Yes,
        start_limit: Some("30 s (`MCP_TIMEOUT`)"),
        call_limit: Some("`timeout` of the entry, in milliseconds"),
        notes: &["The project's file needs the person's approval in Claude Code", "It starts three servers at a time"],
        shape: Shape { lead: &[("type", Fixed::Text("stdio"))], tail: &[("timeout", Fixed::Number(CALL_MS))], ..PLAIN },
        user: &[any(Base::Claude, &[".claude.json"])],
        project: &[any(Base::Project, &[".mcp.json"])],
        marks: &[any(Base::Claude, &[".claude.json"]), any(Base::Home, &[".claude"])],
        add: Some(AddCommand::ClaudeJson),
        names: Some(NameRule { full: DOUBLE, limit: 128, effect: NameEffect::Dropped }),
        expands: Some("${"),
        ..ROW
    },
    Client {
        id: "claude-desktop",
        name: "Claude Desktop",
        tile: "Cl",
        restart: true,
        start_limit: Some("60 s"),
        call_limit: Some("60 s, fixed"),
        notes: &["It runs servers in `/` (Windows: System32)"],
        user: &[
            mac(&["Claude", "claude_desktop_config.json"]),
            windows(&["Claude", "claude_desktop_config.json"]),
            linux(&["Claude", "claude_desktop_config.json"]),
        ],
        ..ROW
    },
    Client {
        id: "vscode",
        name: "VS Code",
        tile: "VS",
        asks: Asks::Yes,
        notes: &["It keeps tool lists: after a change run `MCP: Reset Cached Tools`"],
        shape: Shape { lead: &[("type", Fixed::Text("stdio"))], ..json(&[&["servers"]]) },
        user: &[
            mac(&["Code", "User", "mcp.json"]),
            windows(&["Code", "User", "mcp.json"]),
            linux(&["Code", "User", "mcp.json"]),
        ],
        project: &[any(Base::Project, &[".vscode", "mcp.json"])],
        add: Some(AddCommand::CodeJson),
        link: Some(Link::WholeJson("vscode:mcp/install?")),
        expands: Some("${"),
        ..ROW
    },
    Client {
        id: "copilot-cli",
        name: "Copilot CLI",
        tile: "Co",
        shape: Shape { lead: &[("type", Fixed::Text("local"))], tail: &[("tools", Fixed::List(&["*"]))], ..PLAIN },
        user: &[any(Base::Home, &[".copilot", "mcp-config.json"])],
        project: &[any(Base::Project, &[".mcp.json"])],
        add: Some(AddCommand::Dashes("copilot", &[])),
        names: Some(NameRule { full: PAIR, limit: 128, effect: NameEffect::Dropped }),
        expands: Some("${"),
        ..ROW
    },
    Client {
        id: "cursor",
        name: "Cursor",
        tile: "Cu",
        asks: Asks::Yes,
        restart: true,
        notes: &["It takes about 40 tools of all servers together"],
        user: &[any(Base::Home, &[".cursor", "mcp.json"])],
        project: &[any(Base::Project, &[".cursor", "mcp.json"])],
        link: Some(Link::NameAndConfig("cursor://anysphere.cursor-deeplink/mcp/install")),
        names: Some(NameRule { full: PAIR, limit: 60, effect: NameEffect::Dropped }),
        expands: Some("${"),
        ..ROW
    },
    Client {
        id: "codex",
        name: "Codex",
        tile: "Cx",
        asks: Asks::Perhaps,
        start_limit: Some("10 s unless told otherwise"),
        call_limit: Some("60 s unless told otherwise"),
        notes: &[
            "The command line cannot set the two limits; the snippet does",
            "Its project file counts only in a trusted folder",
        ],
        shape: Shape {
            document: Document::Toml { ways: &[&["mcp_servers"]] },
            // Defaults differ between versions, and the documented ones end long runs: both are always written.
            tail: &[
                ("startup_timeout_sec", Fixed::Number(START_SECONDS)),
                ("tool_timeout_sec", Fixed::Number(CALL_SECONDS)),
            ],
            ..PLAIN
        },
        user: &[any(Base::Codex, &["config.toml"])],
        project: &[any(Base::Project, &[".codex", "config.toml"])],
        add: Some(AddCommand::Dashes("codex", &[])),
        names: Some(NameRule { full: DOUBLE, limit: 64, effect: NameEffect::Hashed }),
        ..ROW
    },
    Client {
        id: "gemini",
        name: "Gemini CLI",
        tile: "Ge",
        call_limit: Some("`timeout` of the entry, in milliseconds; 10 min by default"),
        notes: &["Its policies split a tool's name at the first `_`, so the key should have none"],
        shape: Shape { tail: &[("timeout", Fixed::Number(CALL_MS))], ..PLAIN },
        user: &[any(Base::Home, &[".gemini", "settings.json"])],
        project: &[any(Base::Project, &[".gemini", "settings.json"])],
        add: Some(AddCommand::Timeout("gemini")),
        names: Some(NameRule { full: SINGLE, limit: 63, effect: NameEffect::Cut }),
        expands: Some("$"),
        ..ROW
    },
    Client {
        id: "zed",
        name: "Zed",
        tile: "Ze",
        shape: Shape { lead: &[("source", Fixed::Text("custom"))], ..json(&[&["context_servers"]]) },
        user: &[
            Place { on: Some(Platform::MacOs), base: Base::Config, path: &["zed", "settings.json"] },
            windows(&["Zed", "settings.json"]),
            linux(&["zed", "settings.json"]),
        ],
        project: &[any(Base::Project, &[".zed", "settings.json"])],
        ..ROW
    },
    Client {
        id: "windsurf",
        name: "Windsurf",
        tile: "Wi",
        restart: true,
        user: &[
            any(Base::Home, &[".codeium", "windsurf", "mcp_config.json"]),
            any(Base::Home, &[".codeium", "mcp_config.json"]),
        ],
        expands: Some("${"),
        ..ROW
    },
    Client {
        id: "opencode",
        name: "OpenCode",
        tile: "OC",
        call_limit: Some("60 s without progress"),
        notes: &["Files of version 2 have the servers under `mcp.servers`; such a file keeps that form"],
        shape: Shape {
            lead: &[("type", Fixed::Text("local"))],
            program: Program::List,
            env: "environment",
            ..json(&[&["mcp"], &["mcp", "servers"]])
        },
        user: &[any(Base::Config, &["opencode", "opencode.json"]), any(Base::Config, &["opencode", "opencode.jsonc"])],
        project: &[any(Base::Project, &["opencode.json"]), any(Base::Project, &["opencode.jsonc"])],
        expands: Some("{env:"),
        ..ROW
    },
    Client {
        id: "cline",
        name: "Cline",
        tile: "Ci",
        call_limit: Some("`timeout` of the entry, in seconds; 60 s by default"),
        shape: Shape { tail: &[("timeout", Fixed::Number(CALL_SECONDS))], ..PLAIN },
        user: &[mac(CLINE), windows(CLINE), linux(CLINE)],
        ..ROW
    },
    Client {
        id: "cline-cli",
        name: "Cline CLI",
        tile: "CI",
        call_limit: Some("`timeout` of the entry, in seconds; 60 s by default"),
        shape: Shape { tail: &[("timeout", Fixed::Number(CALL_SECONDS))], ..PLAIN },
        user: &[any(Base::Home, &[".cline", "mcp.json"])],
        ..ROW
    },
    Client {
        id: "roo-code",
        name: "Roo Code",
        tile: "Ro",
        call_limit: Some("`timeout` of the entry, in seconds; 60 s by default"),
        shape: Shape { tail: &[("timeout", Fixed::Number(CALL_SECONDS))], ..PLAIN },
        user: &[mac(ROO), windows(ROO), linux(ROO)],
        project: &[any(Base::Project, &[".roo", "mcp.json"])],
        expands: Some("${"),
        ..ROW
    },
    Client {
        id: "qwen",
        name: "Qwen Code",
        tile: "Qw",
        start_limit: Some("30 s to list the tools"),
        call_limit: Some("`timeout` of the entry, in milliseconds; 10 min by default"),
        notes: &["It may start a second copy of the server to find its protocol version"],
        shape: Shape { tail: &[("timeout", Fixed::Number(CALL_MS))], ..PLAIN },
        user: &[any(Base::Home, &[".qwen", "settings.json"])],
        project: &[any(Base::Project, &[".qwen", "settings.json"])],
        add: Some(AddCommand::Timeout("qwen")),
        names: Some(NameRule { full: DOUBLE, limit: 63, effect: NameEffect::Cut }),
        expands: Some("$"),
        ..ROW
    },
    Client {
        id: "kimi",
        name: "Kimi CLI",
        tile: "Km",
        notes: &["`kimi mcp test` tries the server"],
        user: &[any(Base::Home, &[".kimi", "mcp.json"])],
        add: Some(AddCommand::Dashes("kimi", &["--transport", "stdio"])),
        ..ROW
    },
    Client {
        id: "kiro",
        name: "Kiro",
        tile: "Kr",
        user: &[any(Base::Home, &[".kiro", "settings", "mcp.json"])],
        project: &[any(Base::Project, &[".kiro", "settings", "mcp.json"])],
        marks: &[any(Base::Home, &[".kiro"])],
        expands: Some("${"),
        ..ROW
    },
    Client {
        id: "junie",
        name: "Junie",
        tile: "Ju",
        user: &[any(Base::Home, &[".junie", "mcp", "mcp.json"])],
        project: &[any(Base::Project, &[".junie", "mcp", "mcp.json"])],
        marks: &[any(Base::Home, &[".junie"])],
        ..ROW
    },
    Client {
        id: "kilo",
        name: "Kilo Code",
        tile: "Kl",
        shape: Shape {
            lead: &[("type", Fixed::Text("local"))],
            program: Program::List,
            env: "environment",
            tail: &[("enabled", Fixed::Flag(true))],
            ..json(&[&["mcp"]])
        },
        user: &[any(Base::Config, &["kilo", "kilo.jsonc"]), any(Base::Config, &["kilo", "kilo.json"])],
        project: &[
            any(Base::Project, &["kilo.jsonc"]),
            any(Base::Project, &["kilo.json"]),
            any(Base::Project, &[".kilo", "kilo.jsonc"]),
        ],
        expands: Some("{env:"),
        ..ROW
    },
    Client {
        id: "antigravity",
        name: "Antigravity",
        tile: "An",
        user: &[any(Base::Home, &[".gemini", "config", "mcp_config.json"])],
        project: &[any(Base::Project, &[".agents", "mcp_config.json"])],
        ..ROW
    },
    Client {
        id: "continue",
        name: "Continue",
        tile: "Cn",
        notes: &["Its servers work in agent mode only"],
        user: &[any(Base::Home, &[".continue", "mcpServers", "workflow-code.json"])],
        project: &[any(Base::Project, &[".continue", "mcpServers", "workflow-code.json"])],
        marks: &[any(Base::Home, &[".continue"])],
        expands: Some("${{"),
        ..ROW
    },
    Client {
        id: "goose",
        name: "Goose",
        tile: "Go",
        call_limit: Some("`timeout` of the entry, in seconds"),
        notes: &["It advises at most 5 extensions and 50 tools"],
        by_hand: Some("its file is YAML, which cannot be changed without losing comments"),
        shape: Shape {
            document: Document::Yaml { ways: &[&["extensions"]] },
            lead: &[("type", Fixed::Text("stdio")), ("name", Fixed::Key)],
            program: Program::Named("cmd"),
            env: "envs",
            tail: &[("timeout", Fixed::Number(CALL_SECONDS)), ("enabled", Fixed::Flag(true))],
        },
        user: &[
            Place { on: Some(Platform::MacOs), base: Base::Config, path: &["goose", "config.yaml"] },
            windows(&["Block", "goose", "config", "config.yaml"]),
            linux(&["goose", "config.yaml"]),
        ],
        ..ROW
    },
    Client {
        id: "lm-studio",
        name: "LM Studio",
        tile: "LM",
        notes: &["Local models do better with few tools"],
        by_hand: Some("its file is edited in the application, or filled by the link"),
        marks: &[any(Base::Home, &[".lmstudio"])],
        link: Some(Link::NameAndConfig("lmstudio://add_mcp")),
        ..ROW
    },
    Client {
        id: "jetbrains",
        name: "JetBrains AI Assistant",
        tile: "JB",
        by_hand: Some("the snippet is pasted on its settings page"),
        ..ROW
    },
    Client {
        id: "amp",
        name: "Amp",
        tile: "Am",
        notes: &["The name of the setting differs between versions"],
        by_hand: Some("where the setting lies depends on the version"),
        shape: json(&[&["amp.mcpServers"]]),
        marks: &[any(Base::Config, &["amp"]), any(Base::Home, &[".amp"])],
        ..ROW
    },
    Client {
        id: "crush",
        name: "Crush",
        tile: "Cr",
        notes: &["Later versions are configured by a shell script and still read this form"],
        by_hand: Some("its form of configuration depends on the version"),
        shape: Shape { lead: &[("type", Fixed::Text("stdio"))], ..json(&[&["mcp"]]) },
        marks: &[any(Base::Config, &["crush"])],
        ..ROW
    },
    Client {
        id: "json",
        name: "Another client",
        tile: "{}",
        by_hand: Some("where its file lies is for you to know"),
        ..ROW
    },
];

const CLINE: &[&str] =
    &["Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"];
const ROO: &[&str] = &["Code", "User", "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_every_row_can_be_used() {
        let tiles: BTreeSet<_> = clients().iter().map(|client| client.tile).collect();
        assert_eq!(tiles.len(), clients().len(), "a tile tells clients apart");
        assert!(clients().iter().all(|client| client.tile.chars().count() == 2));
        let ids: BTreeSet<_> = clients().iter().map(|client| client.id).collect();
        assert_eq!(ids.len(), clients().len());
        for row in clients() {
            assert!(client(row.id).is_some_and(|found| found.name == row.name));
            assert!(!row.shape.ways().is_empty(), "{}", row.id);
            assert_eq!(row.by_hand.is_none(), {
                let paths = ClientPaths::new(Platform::Linux, "/h").with_project("/p");
                row.file(Scope::User, &paths).is_some() && !matches!(row.shape.document, Document::Yaml { .. })
            });
        }
        assert!(client("../x").is_none());
    }

    #[test]
    fn every_client_with_a_file_has_one_on_each_platform() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            let paths = ClientPaths::new(platform, "/h").with_project("/p");
            for row in clients().iter().filter(|row| row.by_hand.is_none()) {
                assert!(row.file(Scope::User, &paths).is_some(), "{} on {platform:?}", row.id);
            }
        }
    }

    #[test]
    fn a_client_is_present_when_its_folder_is() {
        let home = tempfile::tempdir().unwrap();
        let paths = ClientPaths::new(Platform::Linux, home.path());
        assert!(clients().iter().all(|row| !row.is_present(&paths)));
        std::fs::create_dir_all(home.path().join(".cursor")).unwrap();
        std::fs::create_dir_all(home.path().join(".config/Code/User")).unwrap();
        std::fs::write(home.path().join(".claude.json"), "{}").unwrap();
        let found: Vec<_> = clients().iter().filter(|row| row.is_present(&paths)).map(|row| row.id).collect();
        assert_eq!(found, ["claude-code", "vscode", "cursor"]);
    }

    #[test]
    fn a_file_that_exists_comes_before_the_usual_one() {
        let home = tempfile::tempdir().unwrap();
        let paths = ClientPaths::new(Platform::Linux, home.path());
        let newer = home.path().join(".codeium/mcp_config.json");
        std::fs::create_dir_all(newer.parent().unwrap()).unwrap();
        std::fs::write(&newer, "{}").unwrap();
        assert_eq!(client("windsurf").unwrap().file(Scope::User, &paths), Some(newer));
    }
}
