//! A run comes to exist: before anything of it happens, its row is committed.

use std::path::PathBuf;

use model::{ClientInfo, EntrypointId, LaunchOptions, Origin, ProjectId, RunId, RunStatus};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::database::{Fault, Outcome};
use crate::runs::{Lease, PART_INPUT, index, searchable};
use crate::store::Kept;
use crate::{Durability, Owner, Result, Store, StoreOptions, body};

/// The project a run belongs to, as it is when the run is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunProject {
    /// Its id in the registry that lies in the same database; none in a plain data folder.
    pub id: Option<ProjectId>,
    /// Its UUID.
    pub uuid: Option<String>,
    /// Its title.
    pub title: String,
    /// Its folder.
    pub path: PathBuf,
}

/// The state a run begins in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstStatus {
    /// It waits for a free place.
    Queued,
    /// It runs at once. Both stages are recorded.
    Running,
}

/// A run to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// Its project.
    pub project: RunProject,
    /// Its entrypoint.
    pub entrypoint_id: EntrypointId,
    /// The entrypoint's title.
    pub entrypoint_title: String,
    /// Where it is started.
    pub origin: Origin,
    /// The program that asks for it.
    pub client: Option<ClientInfo>,
    /// The input as it came.
    pub input: Value,
    /// The input as command line arguments.
    pub cli_args: Vec<String>,
    /// The run that starts it.
    pub parent: Option<RunId>,
    /// The process that has it in hand.
    pub owner: Owner,
    /// What must be the same when another process continues it.
    pub launch: LaunchOptions,
    /// Whether it runs at once.
    pub status: FirstStatus,
}

/// What is kept of a run beside its row and never changes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Facts {
    pub(crate) uuid: Option<String>,
    pub(crate) title: String,
    pub(crate) path: String,
    pub(crate) client: Option<ClientInfo>,
    pub(crate) cli_args: Vec<String>,
    pub(crate) launch: LaunchOptions,
}

/// Suffix lengths that are tried one after the other. With four letters a day has a million ids.
const SUFFIXES: [usize; 8] = [4, 4, 5, 5, 6, 8, 12, 20];

impl Store {
    /// Records a run and returns the right to write it.
    ///
    /// # Errors
    ///
    /// The database could not be written; then there is no such run.
    pub fn create_run(&self, new: &NewRun) -> Result<Lease> {
        let facts = Facts {
            uuid: new.project.uuid.clone(),
            title: new.project.title.clone(),
            path: new.project.path.to_string_lossy().into_owned(),
            client: new.client.clone(),
            cli_args: new.cli_args.clone(),
            launch: new.launch.clone(),
        };
        let facts = serde_json::to_value(&facts)
            .map_err(|error| crate::StoreError::Unstorable { what: format!("the run's launch options ({error})") })?;
        let row = Row::new(self, new, &facts);
        let outside = self.outside();
        self.database.write(Durability::Process, move |connection| row.insert(connection, &outside))
    }
}

/// Everything of a new run, encoded before the writer thread takes it.
struct Row {
    project: String,
    registered: bool,
    entrypoint: String,
    title: String,
    origin: &'static str,
    client: Option<String>,
    parent: Option<String>,
    owner: Owner,
    status: FirstStatus,
    facts: Kept,
    input: Kept,
    text: String,
}

impl Row {
    fn new(store: &Store, new: &NewRun, facts: &Value) -> Self {
        let title = store.masker().mask(&new.entrypoint_title).into_owned();
        let input = store.keep(&new.input);
        let project = match (&new.project.id, &new.project.uuid) {
            (Some(id), _) => id.to_string(),
            (None, Some(uuid)) => uuid.clone(),
            (None, None) => new.project.path.to_string_lossy().into_owned(),
        };
        Self {
            project,
            registered: new.project.id.is_some(),
            entrypoint: new.entrypoint_id.to_string(),
            origin: new.origin.as_str(),
            client: new.client.as_ref().map(|client| store.masker().mask(&client.name).into_owned()),
            parent: new.parent.as_ref().map(ToString::to_string),
            owner: new.owner.clone(),
            status: new.status,
            text: searchable(&[new.entrypoint_id.as_str(), &title, &new.project.title, &input.text]),
            title,
            facts: store.keep(facts),
            input,
        }
    }

    fn insert(&self, connection: &Connection, outside: &StoreOptions) -> Outcome<Lease> {
        let now = outside.clock.now();
        let (status, started_at) = match self.status {
            FirstStatus::Queued => (RunStatus::Queued, None),
            FirstStatus::Running => (RunStatus::Running, Some(now)),
        };
        let sealed = self.facts.sealed.is_some() || self.input.sealed.is_some();
        let start = i64::try_from(self.owner.start).unwrap_or(0);
        let mut insert = connection.prepare_cached(
            "INSERT INTO runs (run_id, project, registered, entrypoint, entrypoint_title, status, origin, client, \
             parent, created_at, started_at, sealed, owner_pid, owner_start, owner_boot, narrated) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 0) \
             ON CONFLICT (run_id) DO NOTHING",
        )?;
        let mut taken = None;
        for length in SUFFIXES {
            let run = RunId::generate(now, length, outside.ids.as_ref());
            let inserted = insert.execute(rusqlite::params![
                run.as_str(),
                self.project,
                self.registered,
                self.entrypoint,
                self.title,
                status.as_str(),
                self.origin,
                self.client,
                self.parent,
                now,
                started_at,
                sealed,
                self.owner.pid,
                start,
                self.owner.boot,
            ])?;
            if inserted == 1 {
                taken = Some((run, connection.last_insert_rowid()));
                break;
            }
        }
        let (run, key) = taken.ok_or_else(|| Fault::Damaged("no free run id was found".into()))?;

        let mut bytes = 0;
        for (kind, kept) in [(FACTS, &self.facts), (INPUT, &self.input)] {
            bytes += body::put(connection, key, kind, &kept.stored)?;
            if let Some(sealed) = &kept.sealed {
                bytes += body::put(connection, key, &sealed_kind(kind), sealed)?;
            }
        }
        connection.prepare_cached("UPDATE runs SET bytes = ?2 WHERE key = ?1")?.execute((key, bytes))?;
        connection
            .prepare_cached(
                "INSERT INTO usage (project, runs, bytes) VALUES (?1, 1, ?2) \
                 ON CONFLICT (project) DO UPDATE SET runs = runs + 1, bytes = bytes + ?2",
            )?
            .execute((&self.project, bytes))?;
        let mut stage = connection.prepare_cached("INSERT INTO stages (run, n, status, at) VALUES (?1, ?2, ?3, ?4)")?;
        stage.execute((key, 0, RunStatus::Queued.as_str(), now))?;
        if status == RunStatus::Running {
            stage.execute((key, 1, status.as_str(), now))?;
        }
        index(connection, key, PART_INPUT, &format!("{run} {}", self.text))?;
        crate::changes::note(connection, Some(&run), Some(&self.project), "run")?;
        Ok(Lease { run, key, epoch: 1 })
    }
}

/// Kinds of bodies.
pub(crate) const FACTS: &str = "facts";
pub(crate) const INPUT: &str = "input";
pub(crate) const OUTPUT: &str = "output";
pub(crate) const ERROR: &str = "error";
pub(crate) const FILES: &str = "files";
pub(crate) const JOURNAL_HEADER: &str = "journal";

/// Returns the kind under which the sealed form of a body lies.
pub(crate) fn sealed_kind(kind: &str) -> String {
    format!("{kind}.sealed")
}

/// The kinds of sealed bodies, deleted when a run ends.
pub(crate) const SEALED: [&str; 2] = ["facts.sealed", "input.sealed"];
