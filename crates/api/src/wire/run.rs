//! Runs: rows, a run whole, its texts, and what is done with it.

use model::{AnswerAction, Form, InteractionKind, NodeKind, NodeStatus, Origin, RunStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// One stretch of a run's life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "Stage", optional_fields)]
pub struct StageRow {
    /// Where the run stood.
    pub status: RunStatus,
    /// Since when.
    pub at: i64,
    /// Until when; absent: still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Progress {
    /// How many of its parts are done.
    pub done: u64,
    /// Of how many, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// Which part of a run a search found its words in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FoundIn {
    /// What it wrote.
    Log,
    /// Why it failed.
    Error,
    /// What it was given.
    Input,
    /// What came out.
    Output,
    /// What a person answered.
    Answer,
    /// A node's title.
    Node,
    /// Its id.
    Id,
    /// Its entrypoint.
    Entrypoint,
}

/// Where a search found its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FoundAt {
    /// The part.
    pub part: FoundIn,
    /// A line of its text.
    pub text: String,
    /// Where the word begins in it, in UTF-16 code units.
    pub start: usize,
    /// How long it is there.
    pub length: usize,
}

/// A run as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RunRow {
    /// Its id.
    pub run_id: String,
    /// The project's id, or its UUID where there is no registry.
    pub project: String,
    /// The project's title.
    pub project_title: String,
    /// Whether the project is registered now.
    pub registered: bool,
    /// The entrypoint.
    pub entrypoint_id: String,
    /// Its title, as it was.
    pub entrypoint_title: String,
    /// Where it stands.
    pub status: RunStatus,
    /// Where it was started.
    pub origin: Origin,
    /// The client's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The run that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The title of that run's entrypoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_title: Option<String>,
    /// When it was recorded.
    pub created_at: i64,
    /// When it first ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<i64>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Why it was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_reason: Option<String>,
    /// Whether it is kept whatever is pruned.
    pub pinned: bool,
    /// The stretches of its life.
    pub stages: Vec<StageRow>,
    /// What it is at, for a run that has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The last step, program, agent or related run that it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// How far it has come, for a run that has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Why it failed, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where a search found its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundAt>,
}

/// What was answered to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Answered {
    /// What was done with it.
    pub action: AnswerAction,
    /// The values, secrets masked.
    #[ts(type = "JsonValue")]
    pub content: Value,
    /// Who answered: `client`, `cli`, `desktop`.
    pub by: String,
    /// When.
    pub at: i64,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "Question", optional_fields)]
pub struct QuestionRow {
    /// Its number in the run.
    pub number: u64,
    /// Whether it asks for facts or for leave.
    pub kind: InteractionKind,
    /// What is asked.
    pub form: Form,
    /// The related run that really asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<String>,
    /// When it was asked.
    pub asked_at: i64,
    /// When the run is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// What was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answered>,
    /// Whether a person can decline to answer: whoever asks is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_decline: Option<bool>,
    /// The program that is asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<model::Approval>,
}

/// Which runs are wanted. Everything that is set must hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[ts(optional_fields)]
pub struct RunQuery {
    /// Words that must stand in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Any of these states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Vec<RunStatus>>,
    /// A project's id, or any server's of its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// An entrypoint's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// A client's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Where they were started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Recorded at this moment or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<i64>,
    /// Recorded before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
    /// Took longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_more_ms: Option<i64>,
    /// Took less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_less_ms: Option<i64>,
    /// Whether they are pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
}

/// Asks for a page of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RunsRequest {
    /// Which runs.
    pub query: RunQuery,
    /// Where the page begins: `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Rows of the page, 50 unless said, 500 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RunsPage {
    /// The runs, newest first.
    pub rows: Vec<RunRow>,
    /// Where the next page begins, if there may be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How many there are in all, when counting them costs little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// `false`: enough was looked at before the page was full; go on from `next`.
    pub complete: bool,
}

/// Asks how many runs there were a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunsPerDay {
    /// Which runs.
    pub query: RunQuery,
    /// How many days until today, 366 at most.
    pub days: u32,
}

/// How many runs there were on a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DayCount {
    /// The day, `YYYY-MM-DD`, of this machine's time zone.
    pub day: String,
    /// All.
    pub runs: u64,
    /// Those that failed or ran out of time.
    pub failed: u64,
}

/// Names a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OfRun {
    /// Its id.
    pub run: String,
}

/// Names some runs, 500 at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OfRuns {
    /// Their ids.
    pub runs: Vec<String>,
}

/// Why a run did not succeed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RunErrorRow {
    /// The stable code.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// The project's own number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub err_code: Option<i64>,
    /// What lies behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What the project gave beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "JsonValue")]
    pub data: Option<Value>,
}

/// A file that a run created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunFileRow {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// A run, whole but for its output, nodes and log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RunDetail {
    /// What lists show of it.
    pub run: RunRow,
    /// The project's folder, as it was.
    pub project_path: String,
    /// The project's UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_uuid: Option<String>,
    /// The client's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// The protocol revision the client spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The input as it came.
    #[ts(type = "JsonValue")]
    pub input: Value,
    /// The input as command line arguments.
    pub cli_args: Vec<String>,
    /// What it asked, and what was answered.
    pub questions: Vec<QuestionRow>,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunErrorRow>,
    /// What it created.
    pub files: Vec<RunFileRow>,
    /// The runs it started, newest first.
    pub children: Vec<String>,
    /// Bytes of its records as they are stored.
    pub bytes: u64,
    /// Entries of its log.
    pub log_lines: u64,
    /// How many nodes it has.
    pub nodes: u64,
    /// Bytes of its output.
    pub output_bytes: u64,
    /// Whether it can be continued here and now.
    pub can_continue: bool,
    /// Whether a living process has it in hand.
    pub owner_alive: bool,
    /// Until when the client's call may still be open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_open_until: Option<i64>,
    /// When the client's call ended and left the run waiting, for one that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_ended_at: Option<i64>,
    /// Why it ended, where the client said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_answer: Option<ClientAnswer>,
}

/// What a client made of a question that it was to put before its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ClientAnswer {
    /// It declined, perhaps without having shown it.
    Declined,
    /// It cannot ask, or not this: it was never asked.
    CannotAsk,
}

/// Asks for a run's output, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RunOutput {
    /// The run.
    pub run: String,
    /// A JSON pointer (RFC 6901) to a part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A run's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RunOutputContent {
    /// The output; of one over 4 MiB its beginning, as text.
    #[ts(type = "JsonValue")]
    pub output: Value,
    /// Its size as compact JSON.
    pub bytes: u64,
    /// Whether it is only the beginning.
    pub truncated: bool,
}

/// A node of a run's report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "RunNode", optional_fields)]
pub struct NodeRow {
    /// Unique in the run.
    pub id: u64,
    /// The node it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// What it stands for.
    pub kind: NodeKind,
    /// What a person sees.
    pub title: String,
    /// Where it stands.
    pub status: NodeStatus,
    /// When it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<i64>,
    /// Further facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "JsonValue")]
    pub detail: Option<Value>,
}

/// Where a line of a log was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum LogStreamName {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The workflow's own words.
    Flow,
}

/// Asks for a page of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RunLogs {
    /// The run.
    pub run: String,
    /// The first position wanted.
    pub from: u64,
    /// How many lines, 5,000 at most.
    pub limit: u32,
    /// Only this stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<LogStreamName>,
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LogLine {
    /// Its place in the log.
    pub position: u64,
    /// Where it was written to.
    pub stream: LogStreamName,
    /// When.
    pub at: i64,
    /// The text, without its line end.
    pub text: String,
}

/// What is missing in the middle of a long log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LeftOutLog {
    /// The first missing position.
    pub position: u64,
    /// How many are missing.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A page of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct LogPage {
    /// The lines.
    pub lines: Vec<LogLine>,
    /// Where to go on.
    pub next: u64,
    /// Where the log ends now.
    pub end: u64,
    /// What is missing, anywhere in the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutLog>,
}

/// Asks where a text stands in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct LogSearch {
    /// The run.
    pub run: String,
    /// The text.
    pub text: String,
    /// Whether capital letters are others than small ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<bool>,
    /// Whether the text is a regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<bool>,
    /// Only this stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<LogStreamName>,
    /// How many positions, 1,000 unless said, 100,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Where a text stands in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunLogHits {
    /// The first positions.
    pub positions: Vec<u64>,
    /// How many lines have it.
    pub total: u64,
}

/// Which part of a run is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SavePart {
    /// The run whole, as JSON.
    Run,
    /// Its output, or a part of that: a text as it is, anything else as JSON.
    Output,
    /// Its log, as it was written.
    Log,
    /// A file that it created.
    File,
}

/// Saves a part of a run where a person has chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct SaveAs {
    /// The run.
    pub run: String,
    /// Which part of it.
    pub part: SavePart,
    /// A place in the output (JSON Pointer), or the name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Only this stream of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<LogStreamName>,
    /// Where, absolute.
    pub to: String,
    /// Whether a file that is there is replaced. The window says so, for what its own dialog has asked about; the page
    /// cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<bool>,
}

/// Asks for a file that a run created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RunFile {
    /// The run.
    pub run: String,
    /// The file's name, as the run lists it.
    pub name: String,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// UTF-8 text.
    Text,
    /// A picture.
    Image,
    /// Something else.
    Other,
}

/// A file that a run created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RunFileContent {
    /// What it is.
    pub kind: FileKind,
    /// Its text, the first MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A picture of at most 8 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// A picture's type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Whether it is only the beginning.
    pub truncated: bool,
}

/// Asks what is wrong with an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CheckInput {
    /// The project.
    pub project: String,
    /// The entrypoint.
    pub entrypoint: String,
    /// The input, an object.
    #[ts(type = "JsonValue")]
    pub input: Value,
}

/// One fault of an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(rename = "Fault")]
pub struct FaultRow {
    /// The parameter, with the place inside it; empty: the input as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// What is wrong with an input; nothing when it fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CheckedInput {
    /// All faults at once.
    pub faults: Vec<FaultRow>,
}

/// Starts a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct StartRun {
    /// The project.
    pub project: String,
    /// The entrypoint.
    pub entrypoint: String,
    /// The input, an object.
    #[ts(type = "JsonValue")]
    pub input: Value,
}

/// A run that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct StartedRun {
    /// Its id.
    pub run: String,
}

/// Answers a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct AnswerRequest {
    /// The run.
    pub run: String,
    /// The question's number.
    pub question: u64,
    /// What is done with it.
    pub action: AnswerAction,
    /// The values, for `accept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "JsonValue")]
    pub content: Option<Value>,
    /// For leave to run a program: never ask again for exactly this command in this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<bool>,
}

/// What continuing a run means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ContinuePreview {
    /// How many results are kept, and not made again.
    pub kept: u64,
    /// What they are, the first 20.
    pub kept_titles: Vec<String>,
    /// What a person is asked first, since it may have happened.
    pub asks: Vec<String>,
    /// What is done again, since it was not done.
    pub again: Vec<String>,
    /// What nothing finished means, when nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<ContinueNote>,
}

/// What continuing a run means of which nothing is finished; the page has a text for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ContinueNote {
    /// The program starts again, with the answers that were given.
    WithAnswers,
    /// It starts again from the beginning.
    FromTheBeginning,
}

/// Pins or unpins a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PinRun {
    /// The run.
    pub run: String,
    /// Whether it is kept whatever is pruned.
    pub pinned: bool,
}

/// Writes a run into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct ExportRun {
    /// The run.
    pub run: String,
    /// An absolute path; the downloads folder unless said. Nothing is overwritten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A run that was written into a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Exported {
    /// The file.
    pub path: String,
}

/// What a run is copied as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum CopyForm {
    /// A command for a terminal.
    Command,
    /// A request of the protocol.
    Mcp,
}

/// Asks for a run as text that starts another like it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CopyAs {
    /// The run.
    pub run: String,
    /// As what.
    pub form: CopyForm,
}

/// A text to copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CopiedText {
    /// The text.
    pub text: String,
}
