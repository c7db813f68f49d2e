//! Counting runs: those that have not ended, and those of each day.

use model::{RunStatus, TimestampMs};
use rusqlite::Connection;
use rusqlite::types::Value as Sql;

use crate::database::{Fault, Outcome};
use crate::runs::RunFilter;
use crate::{Result, Store};

/// How many runs were recorded in a stretch of time, and how many of them failed or ran out of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// All.
    pub runs: u64,
    /// Those that failed.
    pub failed: u64,
}

/// Lists the runs that have not ended.
pub(crate) const UNENDED: &str = "SELECT project, status FROM runs INDEXED BY runs_by_status \
     WHERE status IN ('queued', 'running', 'waiting_for_input')";

/// Writes the query that counts a stretch. Counting needs no rows as long as an index has the project alone.
pub(crate) fn between_sql(filter: &RunFilter, failed: bool) -> (String, Vec<Sql>) {
    let (along, beside, values) = filter.along_and_beside();
    let index = match (failed, filter.index()) {
        (true, "runs_by_time") => "runs_by_status",
        (true, "runs_by_project") => "runs_by_project_status",
        (_, index) => index,
    };
    let states = if failed { " AND runs.status IN ('failed', 'timeout')" } else { "" };
    (format!("SELECT count(*) FROM runs INDEXED BY {index} WHERE true{along}{beside}{states}"), values)
}

fn between(connection: &Connection, filter: &RunFilter, failed: bool) -> Outcome<u64> {
    let (sql, values) = between_sql(filter, failed);
    let count: i64 =
        connection.prepare_cached(&sql)?.query_row(rusqlite::params_from_iter(values), |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

impl Store {
    /// Counts the runs that have not ended, by project and state.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn unended(&self) -> Result<Vec<(String, RunStatus)>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(UNENDED)?;
            let mut rows = statement.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let status = RunStatus::parse(row.get_ref(1)?.as_str().unwrap_or(""))
                    .ok_or_else(|| Fault::Damaged("a run has an unknown status".into()))?;
                found.push((row.get(0)?, status));
            }
            Ok(found)
        })
    }

    /// Counts the runs of a filter in each stretch between two neighbouring moments.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn count_between(&self, filter: &RunFilter, moments: &[TimestampMs]) -> Result<Vec<Counted>> {
        self.database.read(|connection| {
            moments
                .windows(2)
                .map(|pair| {
                    let (since, until) = (pair.first().copied(), pair.get(1).copied());
                    // What the filter says of time holds as well.
                    let filter = RunFilter {
                        since: filter.since.max(since),
                        until: match (filter.until, until) {
                            (Some(one), Some(other)) => Some(one.min(other)),
                            (one, other) => one.or(other),
                        },
                        ..filter.clone()
                    };
                    let runs = between(connection, &filter, false)?;
                    let failed = if runs == 0 { 0 } else { between(connection, &filter, true)? };
                    Ok(Counted { runs, failed })
                })
                .collect()
        })
    }
}
