//! Lists of runs: newest first, a page at a time, every one of them along an index.

use std::fmt::Write as _;

use model::{EntrypointId, Origin, RunId, RunStatus, TimestampMs};
use rusqlite::Connection;
use rusqlite::types::Value as Sql;

use crate::database::Outcome;
use crate::runs::{RunSummary, SUMMARY, find, summary};
use crate::{Result, Store};

/// Which runs a list shows. Everything that is set must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// The project's id, or its UUID where there is no registry.
    pub project: Option<String>,
    /// Where the runs stand.
    pub status: Option<RunStatus>,
    /// The entrypoint.
    pub entrypoint: Option<EntrypointId>,
    /// Where they were started.
    pub origin: Option<Origin>,
    /// The client's name.
    pub client: Option<String>,
    /// The run that started them.
    pub parent: Option<RunId>,
    /// Recorded at this moment or later.
    pub since: Option<TimestampMs>,
    /// Recorded before this moment.
    pub until: Option<TimestampMs>,
    /// Where the runs stand: any of these; empty for all. Lists of more than one state are pages
    /// ([`Store::page_runs`]).
    pub any_status: Vec<RunStatus>,
    /// Took longer than this, in milliseconds. Runs that have not ended took no time yet.
    pub longer_than: Option<i64>,
    /// Took less than this, in milliseconds.
    pub shorter_than: Option<i64>,
    /// Whether they are pinned.
    pub pinned: Option<bool>,
}

/// Rows of one page at most.
pub(crate) const PAGE: usize = 10_000;

impl RunFilter {
    /// Returns the index to walk: the one that leaves the fewest rows to look at.
    pub(crate) fn index(&self) -> &'static str {
        match self {
            Self { pinned: Some(true), .. } => "runs_by_pinned",
            Self { parent: Some(_), .. } => "runs_by_parent",
            Self { project: Some(_), status: Some(_), .. } => "runs_by_project_status",
            Self { project: Some(_), entrypoint: Some(_), .. } => "runs_by_project_entrypoint",
            Self { project: Some(_), .. } => "runs_by_project",
            Self { status: Some(_), .. } => "runs_by_status",
            Self { entrypoint: Some(_), .. } => "runs_by_entrypoint",
            Self { client: Some(_), .. } => "runs_by_client",
            Self { origin: Some(_), .. } => "runs_by_origin",
            Self { .. } => "runs_by_time",
        }
    }

    /// Returns the conditions with their values, numbered from `first` on.
    pub(crate) fn conditions(&self, first: usize) -> (String, Vec<Sql>) {
        let (mut sql, mut values) = (String::new(), Vec::new());
        for (_, condition, value) in self.parts() {
            sql.push_str(" AND ");
            push(&mut sql, &condition, value, first, &mut values);
        }
        (sql, values)
    }

    /// The same apart: what the index walks along, and what each row is looked at for. Both are numbered from 1 on.
    pub(crate) fn along_and_beside(&self) -> (String, String, Vec<Sql>) {
        let columns = match self.index() {
            "runs_by_pinned" => &["pinned"][..],
            "runs_by_parent" => &["parent"],
            "runs_by_project_status" => &["project", "status"],
            "runs_by_project_entrypoint" => &["project", "entrypoint"],
            "runs_by_project" => &["project"],
            "runs_by_status" => &["status"],
            "runs_by_entrypoint" => &["entrypoint"],
            "runs_by_client" => &["client"],
            "runs_by_origin" => &["origin"],
            _ => &[],
        };
        let (mut along, mut beside, mut values) = (String::new(), String::new(), Vec::new());
        for (column, condition, value) in self.parts() {
            let place = if column == "created_at" || columns.contains(&column) { &mut along } else { &mut beside };
            place.push_str(" AND ");
            push(place, &condition, value, 1, &mut values);
        }
        (along, beside, values)
    }

    /// Tells whether the index answers all of it, so that counting looks at no rows.
    pub(crate) fn is_covered(&self) -> bool {
        self.along_and_beside().1.is_empty()
    }

    /// Each condition with its column; `?` stands for its value, if it has one.
    fn parts(&self) -> Vec<(&'static str, String, Option<Sql>)> {
        const TOOK: &str = "runs.finished_at - coalesce(runs.started_at, runs.created_at)";
        let text = |value: &str| Sql::Text(value.to_owned());
        let mut parts = Vec::new();
        let mut add = |column, condition: &str, value: Option<Sql>| {
            if value.is_some() {
                parts.push((column, condition.to_owned(), value));
            }
        };
        add("project", "runs.project = ?", self.project.as_deref().map(text));
        add("status", "runs.status = ?", self.status.map(|status| text(status.as_str())));
        add("entrypoint", "runs.entrypoint = ?", self.entrypoint.as_ref().map(|id| text(id.as_str())));
        add("origin", "runs.origin = ?", self.origin.map(|origin| text(origin.as_str())));
        add("client", "runs.client = ?", self.client.as_deref().map(text));
        add("parent", "runs.parent = ?", self.parent.as_ref().map(|run| text(run.as_str())));
        add("created_at", "runs.created_at >= ?", self.since.map(Sql::Integer));
        add("created_at", "runs.created_at < ?", self.until.map(Sql::Integer));
        add("took", &format!("{TOOK} > ?"), self.longer_than.map(Sql::Integer));
        add("took", &format!("{TOOK} < ?"), self.shorter_than.map(Sql::Integer));
        if let Some(pinned) = self.pinned {
            // Written out: the index of pinned runs is used only for what is known to be one.
            parts.push(("pinned", format!("runs.pinned = {}", i64::from(pinned)), None));
        }
        if !self.any_status.is_empty() {
            // Names of states are ours.
            let names: Vec<String> = self.any_status.iter().map(|status| format!("'{}'", status.as_str())).collect();
            parts.push(("any_status", format!("runs.status IN ({})", names.join(", ")), None));
        }
        parts
    }
}

/// Appends a condition and numbers its value.
fn push(sql: &mut String, condition: &str, value: Option<Sql>, first: usize, values: &mut Vec<Sql>) {
    match value {
        Some(value) => {
            sql.push_str(&condition.replace('?', &format!("?{}", first + values.len())));
            values.push(value);
        }
        None => sql.push_str(condition),
    }
}

/// Writes the query of a list. `after` is the moment and key of the last run of the page before.
pub(crate) fn list_sql(filter: &RunFilter, after: Option<(TimestampMs, i64)>, limit: usize) -> (String, Vec<Sql>) {
    let (conditions, mut values) = filter.conditions(1);
    let mut sql = format!("SELECT {SUMMARY} FROM runs INDEXED BY {} WHERE true{conditions}", filter.index());
    if let Some((at, key)) = after {
        let n = values.len();
        let _ = write!(sql, " AND (runs.created_at, runs.key) < (?{}, ?{})", n + 1, n + 2);
        values.extend([Sql::Integer(at), Sql::Integer(key)]);
    }
    let _ = write!(sql, " ORDER BY runs.created_at DESC, runs.key DESC LIMIT ?{}", values.len() + 1);
    values.push(integer(limit.min(PAGE)));
    (sql, values)
}

fn integer(number: usize) -> Sql {
    Sql::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) fn place(connection: &Connection, run: &RunId) -> Outcome<(TimestampMs, i64)> {
    let key = find(connection, run)?.key;
    let at =
        connection.prepare_cached("SELECT created_at FROM runs WHERE key = ?1")?.query_row([key], |row| row.get(0))?;
    Ok((at, key))
}

impl Store {
    /// Returns a run as lists show it.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`].
    pub fn run(&self, run: &RunId) -> Result<RunSummary> {
        self.database.read(|connection| {
            let key = find(connection, run)?.key;
            summary_of(connection, key)
        })
    }

    /// Returns at most `limit` runs (and never more than 10,000), newest first, older than `before` if that is given.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`] when there is no run `before`.
    pub fn list_runs(&self, filter: &RunFilter, before: Option<&RunId>, limit: usize) -> Result<Vec<RunSummary>> {
        self.database.read_together(|connection| {
            let after = before.map(|run| place(connection, run)).transpose()?;
            let (sql, values) = list_sql(filter, after, limit);
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            let mut runs = Vec::new();
            while let Some(row) = rows.next()? {
                runs.push(summary(row)?);
            }
            Ok(runs)
        })
    }
}

/// Reads the summary of the run with that key.
pub(crate) fn summary_of(connection: &Connection, key: i64) -> Outcome<RunSummary> {
    let sql = format!("SELECT {SUMMARY} FROM runs WHERE key = ?1");
    connection.prepare_cached(&sql)?.query_row([key], |row| Ok(summary(row)))?
}
