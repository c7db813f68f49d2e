//! Pages of runs for a window: any of several states, further conditions, and a bound on what one page looks at.
//!
//! A page along an index costs what it shows. Conditions that no index knows (how long runs took, say) are looked at row
//! by row, and a page gives up after some thousand: it then tells where to go on, and is not complete.

use std::fmt;
use std::str::FromStr;

use model::{RunId, RunStatus, TimestampMs};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension as _};

use crate::database::Outcome;
use crate::runs::list::PAGE;
use crate::runs::search::search;
use crate::runs::{RunFilter, RunSummary, SUMMARY, SUMMARY_KEY, summary};
use crate::text::words;
use crate::{Result, Store};

/// Rows that one page looks at.
const LOOKED_AT: usize = 20_000;
/// Hits of a search that one page looks at.
const HITS: usize = 50_000;
/// Runs that are counted; of more only that they are many is known.
const COUNTED: usize = 10_000;

/// A run's place in lists: they are ordered by moment and key, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunPlace {
    pub(crate) at: TimestampMs,
    pub(crate) key: i64,
}

impl fmt::Display for RunPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.at, self.key)
    }
}

/// The text is none that a page gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no place that a page gave")]
pub struct NoPlace;

impl FromStr for RunPlace {
    type Err = NoPlace;

    fn from_str(text: &str) -> std::result::Result<Self, NoPlace> {
        let (at, key) = text.split_once('.').ok_or(NoPlace)?;
        Ok(Self { at: at.parse().map_err(|_| NoPlace)?, key: key.parse().map_err(|_| NoPlace)? })
    }
}

/// A run with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEntry {
    /// The run.
    pub summary: RunSummary,
    /// Where it stands.
    pub place: RunPlace,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunPage {
    /// The runs, newest first.
    pub rows: Vec<RunEntry>,
    /// Where the next page begins, if there may be one.
    pub next: Option<RunPlace>,
    /// Whether the page is full, or there is nothing more; `false` when it stopped because it had looked at enough.
    pub complete: bool,
}

/// How far an arm has looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    End,
    At(RunPlace),
}

struct Arm {
    rows: Vec<RunEntry>,
    reached: Reached,
    tired: bool,
}

/// Writes the query of one arm of a page; its last column tells whether the filter wants the row.
pub(crate) fn page_sql(filter: &RunFilter, after: Option<RunPlace>) -> (String, Vec<Sql>) {
    let (along, beside, mut values) = filter.along_and_beside();
    let mut place = String::new();
    if let Some(after) = after {
        place = format!(" AND (runs.created_at, runs.key) < (?{}, ?{})", values.len() + 1, values.len() + 2);
        values.extend([Sql::Integer(after.at), Sql::Integer(after.key)]);
    }
    let sql = format!(
        "SELECT {SUMMARY}, true{beside} FROM runs INDEXED BY {} WHERE true{along}{place} \
         ORDER BY runs.created_at DESC, runs.key DESC",
        filter.index()
    );
    (sql, values)
}

fn arm(
    connection: &Connection,
    filter: &RunFilter,
    after: Option<RunPlace>,
    limit: usize,
    patience: usize,
) -> Outcome<Arm> {
    let (sql, values) = page_sql(filter, after);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let mut arm = Arm { rows: Vec::new(), reached: Reached::End, tired: false };
    let mut looked_at = 0;
    while let Some(row) = rows.next()? {
        // Place first: most rows of a rare kind are read no further.
        let place = RunPlace { at: row.get(9)?, key: row.get(SUMMARY_KEY)? };
        if row.get::<_, Option<bool>>(SUMMARY_KEY + 1)? == Some(true) {
            arm.rows.push(RunEntry { summary: summary(row)?, place });
        }
        looked_at += 1;
        if arm.rows.len() == limit || looked_at == patience {
            arm.reached = Reached::At(place);
            arm.tired = arm.rows.len() < limit;
            break;
        }
    }
    Ok(arm)
}

/// Splits a filter of several states into one for each, since an index is walked for one at a time.
fn arms(filter: &RunFilter) -> Vec<RunFilter> {
    let mut states: Vec<RunStatus> = filter.any_status.clone();
    states.dedup();
    if states.is_empty() {
        return vec![filter.clone()];
    }
    let one = |status| RunFilter { status: Some(status), any_status: Vec::new(), ..filter.clone() };
    states.into_iter().map(one).collect()
}

fn page(connection: &Connection, filter: &RunFilter, after: Option<RunPlace>, limit: usize) -> Outcome<RunPage> {
    let filters = arms(filter);
    let patience = (LOOKED_AT / filters.len()).max(limit);
    let mut page = RunPage { complete: true, ..RunPage::default() };
    let mut cut: Option<RunPlace> = None;
    let mut tired = false;
    for filter in &filters {
        let arm = arm(connection, filter, after, limit, patience)?;
        page.rows.extend(arm.rows);
        if let Reached::At(place) = arm.reached {
            cut = cut.max(Some(place));
            tired |= arm.tired;
        }
    }
    page.rows.sort_by_key(|row| std::cmp::Reverse(row.place));
    // Below where one of them stopped, others of its rows may lie.
    page.rows.retain(|row| cut.is_none_or(|cut| row.place >= cut));
    if page.rows.len() > limit {
        page.rows.truncate(limit);
    }
    page.next = match (page.rows.len() == limit, cut) {
        (true, _) => page.rows.last().map(|row| row.place),
        (false, cut) => cut,
    };
    page.complete = page.rows.len() == limit || !tired;
    Ok(page)
}

/// Writes the query that counts one arm, up to a limit.
pub(crate) fn count_sql(filter: &RunFilter) -> (String, Vec<Sql>) {
    let (along, _, mut values) = filter.along_and_beside();
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM runs INDEXED BY {} WHERE true{along} LIMIT ?{})",
        filter.index(),
        values.len() + 1
    );
    values.push(Sql::Integer(i64::try_from(COUNTED).unwrap_or(i64::MAX)));
    (sql, values)
}

impl Store {
    /// Returns a page of at most `limit` runs (and never more than 10,000), newest first.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn page_runs(&self, filter: &RunFilter, after: Option<RunPlace>, limit: usize) -> Result<RunPage> {
        let limit = limit.clamp(1, PAGE);
        self.database.read_together(|connection| page(connection, filter, after, limit))
    }

    /// Returns a page of at most `limit` runs with every word of `text` (see [`Store::search_runs`]).
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn page_search(
        &self,
        text: &str,
        filter: &RunFilter,
        after: Option<RunPlace>,
        limit: usize,
    ) -> Result<RunPage> {
        let words = words(text);
        let limit = limit.clamp(1, PAGE);
        self.database.read_together(|connection| {
            let hits = search(connection, &words, filter, after.map(|after| after.key), limit, HITS)?;
            let rows = hits
                .runs
                .into_iter()
                .map(|(key, summary)| RunEntry { place: RunPlace { at: summary.created_at, key }, summary })
                .collect();
            Ok(RunPage { rows, next: hits.more.map(|key| RunPlace { at: 0, key }), complete: !hits.tired })
        })
    }

    /// Counts the runs of a filter, when that costs little: `None` when it would mean looking at many rows, or there
    /// are 10,000 and more.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn count_runs(&self, filter: &RunFilter) -> Result<Option<u64>> {
        if *filter == RunFilter::default() {
            return self.usage_of_all().map(|all| Some(all.iter().map(|(_, runs, _)| runs).sum()));
        }
        let filters = arms(filter);
        if !filters.iter().all(RunFilter::is_covered) {
            return Ok(None);
        }
        self.database.read_together(|connection| {
            let mut sum = 0_u64;
            for filter in &filters {
                let (sql, values) = count_sql(filter);
                let count: i64 =
                    connection.prepare_cached(&sql)?.query_row(rusqlite::params_from_iter(values), |row| row.get(0))?;
                let count = u64::try_from(count).unwrap_or(0);
                if count >= COUNTED as u64 {
                    return Ok(None);
                }
                sum += count;
            }
            Ok(Some(sum))
        })
    }

    /// Returns those of some runs that there are, in the order they were asked for.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn entries(&self, runs: &[RunId]) -> Result<Vec<RunEntry>> {
        self.database.read_together(|connection| {
            let sql = format!("SELECT {SUMMARY} FROM runs WHERE run_id = ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut entries = Vec::with_capacity(runs.len());
            for run in runs {
                let found = statement
                    .query_row([run.as_str()], |row| Ok((summary(row), row.get::<_, i64>(SUMMARY_KEY)?)))
                    .optional()?;
                if let Some((found, key)) = found {
                    let summary = found?;
                    entries.push(RunEntry { place: RunPlace { at: summary.created_at, key }, summary });
                }
            }
            Ok(entries)
        })
    }
}
