//! The Dock: what AI clients need to start a server, and what became of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a client knows of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DockState {
    /// The client is not installed here.
    Absent,
    /// It has the server as we would write it now.
    InStep,
    /// It has something else under that key, or its file cannot be read.
    Differs,
    /// It has no such server.
    NotAdded,
}

/// A client and what it knows of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DockClientState {
    /// The client's stable short name.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Two letters for its tile.
    pub tile: String,
    /// Whether it seems to be installed.
    pub found: bool,
    /// What it knows.
    pub state: DockState,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What is wrong with the file, or differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// For whom a client's file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(rename = "DockScope")]
pub enum WireScope {
    /// The person.
    User,
    /// The project.
    Project,
}

/// A way to give a client the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(rename = "DockForm")]
pub enum Form {
    /// A command of the client.
    Command,
    /// A link that opens the client.
    Link,
    /// A piece of its file.
    Snippet,
}

/// The notation of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SnippetLanguage {
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// JSON with comments.
    Jsonc,
    /// YAML.
    Yaml,
}

/// A piece of a client's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Snippet {
    /// Its notation.
    pub language: SnippetLanguage,
    /// The text.
    pub text: String,
}

/// Whether a client can put a question before the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// It can.
    Yes,
    /// It says so, but may answer by itself.
    Perhaps,
    /// It cannot.
    No,
}

/// A tool that a client would lose or rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(rename = "NameLoss")]
pub struct NameLossRow {
    /// The tool.
    pub tool: String,
    /// What happens to it: `dropped`, `cut`, `hashed`.
    pub effect: String,
}

/// A client with all that the Dock says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct DockClient {
    /// The client's stable short name.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Two letters for its tile.
    pub tile: String,
    /// Whether it seems to be installed.
    pub found: bool,
    /// What it knows.
    pub state: DockState,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What is wrong with the file, or differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Whose files it has that we write; none when it is configured by hand.
    pub scopes: Vec<WireScope>,
    /// The ways to give it the server.
    pub forms: Vec<Form>,
    /// The client's own command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The link that opens the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The piece of its file.
    pub snippet: Snippet,
    /// Whether it can ask the person.
    pub asks: Ask,
    /// Tools that it would lose or rename under this key.
    pub name_losses: Vec<NameLossRow>,
    /// Its limits and habits, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<String>,
}

/// Asks for a server's Dock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DockRequest {
    /// The server's id.
    pub server: String,
    /// Another key than the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// A server's Dock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "DockView", optional_fields)]
pub struct Dock {
    /// The server's id.
    pub server: String,
    /// The project's key.
    pub project: String,
    /// The key under which clients keep the server.
    pub key: String,
    /// A shorter one, for clients with a limit on names.
    pub short_key: String,
    /// The executable.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The general configuration, JSON.
    pub config: String,
    /// Every client.
    pub clients: Vec<DockClient>,
    /// Why it cannot be served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// Asks what writing or removing a server would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DockPlanRequest {
    /// The server's id.
    pub server: String,
    /// The client.
    pub client: String,
    /// Whose file; the person's unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<WireScope>,
    /// Another key than the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether the server is taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<bool>,
}

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "DiffLine", optional_fields)]
pub struct Line {
    /// What becomes of it.
    #[ts(type = "\" \" | \"+\" | \"-\"")]
    pub sign: String,
    /// The line.
    pub text: String,
    /// Its number before, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_line: Option<usize>,
    /// Its number after, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_line: Option<usize>,
}

/// What a change does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum DockPlanAction {
    /// Makes the file.
    Create,
    /// Adds the server.
    Add,
    /// Sets it right.
    Replace,
    /// Takes it out.
    Remove,
    /// Nothing: it is there already.
    Nothing,
}

/// A change before it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DockPlan {
    /// The client.
    pub client: String,
    /// The file that is written.
    pub file: String,
    /// Where the copy of the text before will lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// What is done.
    pub action: DockPlanAction,
    /// The difference.
    pub diff: Vec<Line>,
    /// Names exactly this change.
    pub fingerprint: String,
}

/// Makes a change that was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DockWrite {
    /// The server's id.
    pub server: String,
    /// The client.
    pub client: String,
    /// Whose file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<WireScope>,
    /// Another key than the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether the server is taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<bool>,
    /// The change that was shown; another one is refused.
    pub fingerprint: String,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct DockWritten {
    /// Names it, for taking it back while this window is open.
    pub id: String,
    /// The file.
    pub file: String,
    /// The copy of the text before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
}

/// Takes a change back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DockUndo {
    /// Which one.
    pub id: String,
}

/// Asks for a test of the very command that clients start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DockTestRequest {
    /// The server's id.
    pub server: String,
}

/// A test that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DockTesting {
    /// Its id.
    pub test: String,
}

/// Asks how a test goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DockTestedRequest {
    /// Its id.
    pub test: String,
    /// How many stages are known: the answer comes when there are more, or when it is over.
    pub seen: u32,
}

/// How far a test has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DockTested {
    /// Whether it is over.
    pub over: bool,
    /// What came of it until now.
    pub so_far: DockTest,
}

/// A stage of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum StageName {
    /// The process starts.
    Start,
    /// It answers the opening.
    Initialize,
    /// It lists its tools.
    Tools,
}

/// How a stage went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct TestStage {
    /// Which one.
    pub name: StageName,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Whether it went well.
    pub ok: bool,
    /// What came, or what was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A tool that the tested server offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct TestedTool {
    /// Its name.
    pub name: String,
    /// What a person sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    pub params: Vec<String>,
}

/// How a test went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct DockTest {
    /// Whether all went well.
    pub ok: bool,
    /// The stages that were reached.
    pub stages: Vec<TestStage>,
    /// The tools.
    pub tools: Vec<TestedTool>,
    /// How long it took in all.
    pub total_ms: f64,
    /// The last of what it wrote to standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The command that was started.
    pub command: String,
}
