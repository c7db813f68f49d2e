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
}

/// Rows of one page at most.
pub(crate) const PAGE: usize = 10_000;

impl RunFilter {
    /// Returns the index to walk: the one that leaves the fewest rows to look at.
    fn index(&self) -> &'static str {
        match self {
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
        let text = |value: &str| Sql::Text(value.to_owned());
        let all = [
            ("project = ", self.project.as_deref().map(text)),
            ("status = ", self.status.map(|status| text(status.as_str()))),
            ("entrypoint = ", self.entrypoint.as_ref().map(|id| text(id.as_str()))),
            ("origin = ", self.origin.map(|origin| text(origin.as_str()))),
            ("client = ", self.client.as_deref().map(text)),
            ("parent = ", self.parent.as_ref().map(|run| text(run.as_str()))),
            ("created_at >= ", self.since.map(Sql::Integer)),
            ("created_at < ", self.until.map(Sql::Integer)),
        ];
        let (mut sql, mut values) = (String::new(), Vec::new());
        for (condition, value) in all {
            if let Some(value) = value {
                // Writing to a String cannot fail.
                let _ = write!(sql, " AND runs.{condition}?{}", first + values.len());
                values.push(value);
            }
        }
        (sql, values)
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
