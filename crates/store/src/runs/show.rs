//! Everything that is recorded of one run.

use std::path::PathBuf;

use model::{
    CancelReason, ClientInfo, CreatedFile, LaunchOptions, Node, Report, RunError, RunId, RunStatus, TimestampMs,
};
use rusqlite::Connection;
use serde_json::Value;

use crate::body::{get, json, parse};
use crate::database::{Fault, Outcome};
use crate::interactions::{self, Question};
use crate::logs::{self, LogStream};
use crate::runs::create::{ERROR, FACTS, FILES, Facts, INPUT, OUTPUT, sealed_kind};
use crate::runs::list::summary_of;
use crate::runs::{Lease, RunSummary, find, held};
use crate::{Owner, Result, Store, nodes};

/// A state the run was in, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// The state.
    pub status: RunStatus,
    /// When it was reached.
    pub at: TimestampMs,
}

/// Everything that is recorded of a run, secrets masked.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// What lists show.
    pub summary: RunSummary,
    /// The project's UUID.
    pub project_uuid: Option<String>,
    /// The project's title as it was.
    pub project_title: String,
    /// The project's folder as it was.
    pub project_path: PathBuf,
    /// The program that asked for the run.
    pub client: Option<ClientInfo>,
    /// The input as it came.
    pub input: Value,
    /// The input as command line arguments.
    pub cli_args: Vec<String>,
    /// What the run was started with.
    pub launch: LaunchOptions,
    /// The states it was in.
    pub stages: Vec<Stage>,
    /// The questions it asked, with their answers.
    pub questions: Vec<Question>,
    /// Output, error and nodes; `error.cause` and `error.data` are in it.
    pub report: Report,
    /// The files it created.
    pub files: Vec<CreatedFile>,
    /// The process that has it in hand, if it is in hand.
    pub owner: Option<Owner>,
    /// The runs it started, newest first, at most 1,000.
    pub children: Vec<RunId>,
    /// Bytes of its records as they are stored.
    pub bytes: u64,
}

/// The field of the input that says which guided workflow a run records.
pub const INSTANCE_FIELD: &str = "workflowInstanceId";

impl RunRecord {
    /// Returns the guided workflow that the run records, if it does: its state lies in a session in its project's folder,
    /// no process has it for itself, and it goes on by calls of its tools.
    #[must_use]
    pub fn workflow_instance(&self) -> Option<&str> {
        // A project of scripts has a UUID, and its runs may have any input.
        if self.project_uuid.is_some() { None } else { self.input.get(INSTANCE_FIELD)?.as_str() }
    }

    /// Returns the question that waits for an answer, if the run waits for one.
    #[must_use]
    pub fn pending(&self) -> Option<&Question> {
        if self.summary.status.is_final() {
            return None;
        }
        self.questions.iter().find(|question| question.answer.is_none())
    }

    /// Returns why the run was cancelled, if it was.
    #[must_use]
    pub fn cancel_reason(&self) -> Option<CancelReason> {
        self.summary.cancel_reason
    }
}

pub(crate) fn stages(connection: &Connection, key: i64) -> Outcome<Vec<Stage>> {
    let mut statement = connection.prepare_cached("SELECT status, at FROM stages WHERE run = ?1 ORDER BY n")?;
    let mut rows = statement.query([key])?;
    let mut stages = Vec::new();
    while let Some(row) = rows.next()? {
        let status = RunStatus::parse(row.get_ref(0)?.as_str().unwrap_or(""))
            .ok_or_else(|| Fault::Damaged("a stage has an unknown status".into()))?;
        stages.push(Stage { status, at: row.get(1)? });
    }
    Ok(stages)
}

fn facts(connection: &Connection, key: i64) -> Outcome<Facts> {
    match get(connection, key, FACTS, None)? {
        Some(text) => parse(&text, "a run's facts"),
        None => Ok(Facts::default()),
    }
}

fn report(connection: &Connection, key: i64) -> Outcome<Report> {
    let output = get(connection, key, OUTPUT, None)?.map(|text| json(&text, "output")).transpose()?;
    let error: Option<RunError> = get(connection, key, ERROR, None)?.map(|text| parse(&text, "error")).transpose()?;
    Ok(Report { output, error, nodes: nodes::read(connection, key)? })
}

fn files(connection: &Connection, key: i64) -> Outcome<Vec<CreatedFile>> {
    get(connection, key, FILES, None)?.map_or_else(|| Ok(Vec::new()), |text| parse(&text, "a run's files"))
}

fn children(connection: &Connection, run: &RunId) -> Outcome<Vec<RunId>> {
    let mut statement = connection.prepare_cached(
        "SELECT run_id FROM runs INDEXED BY runs_by_parent WHERE parent = ?1 ORDER BY created_at DESC LIMIT 1000",
    )?;
    let mut rows = statement.query([run.as_str()])?;
    let mut children = Vec::new();
    while let Some(row) = rows.next()? {
        children.push(super::run_id(row.get(0)?)?);
    }
    Ok(children)
}

/// How much of a run there is to show beside its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunSizes {
    /// Entries of its log.
    pub log_entries: u64,
    /// Bytes of its output as compact JSON.
    pub output_bytes: u64,
}

impl Store {
    /// Returns how much of a run there is to show.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn run_sizes(&self, run: &RunId) -> Result<RunSizes> {
        self.database.read_together(|connection| {
            let key = find(connection, run)?.key;
            let output = get(connection, key, OUTPUT, None)?;
            Ok(RunSizes {
                log_entries: logs::entries_of(connection, key)?,
                output_bytes: output.map_or(0, |text| text.len() as u64),
            })
        })
    }

    /// Returns a run with all its texts and its code, as it is exported.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn export(&self, run: &RunId) -> Result<Value> {
        let record = self.show(run)?;
        let (stdout, stderr) = (self.log_text(run, LogStream::Stdout)?, self.log_text(run, LogStream::Stderr)?);
        let sources: Vec<Value> = self
            .sources(run)?
            .into_iter()
            .map(|source| serde_json::json!({ "path": source.path, "text": source.text }))
            .collect();
        let mut value = serde_json::json!({
            "format": "workflow-code-run",
            "version": 1,
            "run": record.to_json(&stdout, &stderr),
            "sources": sources,
        });
        let (summary, nodes) = (&record.summary, &record.report.nodes);
        if nodes.iter().any(|node| node.kind == model::NodeKind::Agent) {
            let records = model::member_records(run, &summary.entrypoint_title, summary.status, nodes);
            value["agentRecords"] = serde_json::json!(records);
        }
        Ok(value)
    }

    /// Returns everything that is recorded of a run but its logs (see [`Store::log_text`] and [`Store::log_page`]).
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn show(&self, run: &RunId) -> Result<RunRecord> {
        self.database.read_together(|connection| {
            let state = find(connection, run)?;
            let key = state.key;
            let Facts { uuid, title, path, client, cli_args, launch } = facts(connection, key)?;
            let input = get(connection, key, INPUT, None)?.map(|text| json(&text, "input")).transpose()?;
            let bytes: i64 = connection
                .prepare_cached("SELECT bytes FROM runs WHERE key = ?1")?
                .query_row([key], |row| row.get(0))?;
            Ok(RunRecord {
                summary: summary_of(connection, key)?,
                project_uuid: uuid,
                project_title: title,
                project_path: path.into(),
                client,
                input: input.unwrap_or(Value::Null),
                cli_args,
                launch,
                stages: stages(connection, key)?,
                questions: interactions::of_run(connection, key)?,
                report: report(connection, key)?,
                files: files(connection, key)?,
                owner: state.owner,
                children: children(connection, run)?,
                bytes: u64::try_from(bytes).unwrap_or(0),
            })
        })
    }

    /// Returns all that a run has written to a stream, for showing. Of a run that wrote too much the middle is left
    /// out, with a line that says so.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn log_text(&self, run: &RunId, stream: LogStream) -> Result<String> {
        self.database.read_together(|connection| {
            let key = find(connection, run)?.key;
            logs::text(connection, key, stream)
        })
    }

    /// Returns a run's output, error and nodes.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn report(&self, run: &RunId) -> Result<Report> {
        self.database.read_together(|connection| report(connection, find(connection, run)?.key))
    }

    /// Returns a run's nodes as they are now.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn nodes(&self, run: &RunId) -> Result<Vec<Node>> {
        self.database.read_together(|connection| nodes::read(connection, find(connection, run)?.key))
    }

    /// Returns the files a run created.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn created_files(&self, run: &RunId) -> Result<Vec<CreatedFile>> {
        self.database.read_together(|connection| files(connection, find(connection, run)?.key))
    }

    /// Returns the input as it was, secrets and all, for whoever starts another run with it. `None`: it was sealed, and is
    /// no longer kept, or held no secret and is shown as it was.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`]; [`crate::StoreError::Damaged`] when what was sealed cannot be opened with this installation's key.
    pub fn sealed_input(&self, run: &RunId) -> Result<Option<Value>> {
        self.database.read_together(|connection| {
            let key = find(connection, run)?.key;
            let text = get(connection, key, &sealed_kind(INPUT), self.sealer())?;
            text.map(|text| json(&text, "input")).transpose()
        })
    }

    /// Returns input, arguments and launch options as they were, secrets and all, for whoever continues the run.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::StaleEpoch`] when the run is in other hands; [`crate::StoreError::Damaged`] when what was sealed cannot
    /// be opened with this installation's key.
    pub fn resume_facts(&self, lease: &Lease) -> Result<(Value, Vec<String>, LaunchOptions)> {
        self.database.read_together(|connection| {
            let key = held(connection, lease)?.key;
            let whole = |kind: &str| -> Outcome<Option<String>> {
                match get(connection, key, &sealed_kind(kind), self.sealer())? {
                    Some(text) => Ok(Some(text)),
                    None => get(connection, key, kind, None),
                }
            };
            let input = whole(INPUT)?.map(|text| json(&text, "input")).transpose()?.unwrap_or(Value::Null);
            let facts: Facts = match whole(FACTS)? {
                Some(text) => parse(&text, "a run's facts")?,
                None => Facts::default(),
            };
            Ok((input, facts.cli_args, facts.launch))
        })
    }
}
