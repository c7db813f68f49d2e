//! What the window begins with, and what has changed.

use model::{Clock, RunId, RunStatus, SystemClock};
use store::{Question, RunFilter, StoreError};

use crate::rows::{call_open_until, question, rows};
use crate::wire::Nothing;
use crate::wire::home::{AppInfo, Home, StoreChanged, Today, WaitingRow};
use crate::wire::run::QuestionRow;
use crate::wire::settings::Since;
use crate::{Answer, Api, coalesce};

/// Rows of each part.
const WAITING: usize = 100;
const RUNNING: usize = 50;
const RECENT: usize = 20;
/// Ended runs of today of whose durations the middle is taken, and interrupted ones that are counted.
const MEDIAN_OF: usize = 500;
const MOST_INTERRUPTED: usize = 500;
/// Changes that are read at once; of more, everything may have changed.
const CHANGES: usize = 10_000;

pub(super) fn app_info(api: &Api, _: Nothing) -> Answer<AppInfo> {
    let facts = api.host.facts();
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    Ok(AppInfo {
        version: facts.version,
        profile: facts.profile,
        data_dir: path(&facts.data_dir),
        database: path(api.store.path()),
        platform: std::env::consts::OS.to_owned(),
        locale: facts.locale,
        executable: path(&facts.executable),
        settings: api.settings()?,
        profiles: facts.profiles,
        seq: seq(api)?,
    })
}

/// The end of the change feed; 0 where nothing was ever recorded.
fn seq(api: &Api) -> Answer<i64> {
    match api.store.last_change() {
        Err(StoreError::Missing { .. }) => Ok(0),
        last => Ok(last?),
    }
}

/// The middle one; `None` of none.
fn median(mut took: Vec<i64>) -> Option<i64> {
    took.sort_unstable();
    took.get(took.len() / 2).copied()
}

/// Characters of a command's arguments that a list shows.
const COMMAND: usize = 1_000;

/// A question as a list of many shows it: this is told anew with every change, and a form may be a megabyte.
fn headline(asked: &Question) -> QuestionRow {
    let mut row = question(asked);
    row.form.fields.clear();
    row.form.message = None;
    if let Some(approval) = &mut row.approval {
        let mut left = COMMAND;
        approval.args.retain_mut(|argument| {
            let shown: String = argument.chars().take(left).collect();
            let is_shown = left > 0;
            left -= shown.chars().count();
            *argument = shown;
            is_shown
        });
    }
    row
}

pub(super) fn home(api: &Api, _: Nothing) -> Answer<Home> {
    // First, so that what changes meanwhile is read again.
    let seq = seq(api)?;
    let store = &api.store;
    let now = SystemClock.now();
    let mut open = store.open_questions(WAITING)?;
    // A run with several questions is one row, with the first.
    open.dedup_by(|later, first| later.run.run_id == first.run.run_id);
    let ids: Vec<RunId> = open.iter().map(|open| open.run.run_id.clone()).collect();
    let mut waiting = Vec::new();
    for row in rows(store, &store.entries(&ids)?)? {
        if let Some(open) = open.iter().find(|open| open.run.run_id.as_str() == row.run_id) {
            let call_open_until = store.show(&open.run.run_id).ok().and_then(|run| call_open_until(&run, now));
            waiting.push(WaitingRow { run: row, question: headline(&open.question), call_open_until });
        }
    }
    let list = |any_status: &[RunStatus], limit| {
        let filter = RunFilter { any_status: any_status.to_vec(), ..RunFilter::default() };
        rows(store, &store.page_runs(&filter, None, limit)?.rows)
    };
    let unended = store.unended()?;
    let count = |states: &[RunStatus]| unended.iter().filter(|(_, status)| states.contains(status)).count() as u64;
    let (since, until) = super::runs::today();
    let today = store.count_between(&RunFilter::default(), &[since, until])?.first().copied().unwrap_or_default();
    let of_today = RunFilter { since: Some(since), until: Some(until), ..RunFilter::default() };
    let interrupted = RunFilter { any_status: vec![RunStatus::Interrupted], ..of_today.clone() };
    let interrupted = store.page_runs(&interrupted, None, MOST_INTERRUPTED)?.rows.len() as u64;
    let ended = RunFilter {
        any_status: vec![RunStatus::Success, RunStatus::Failed, RunStatus::Timeout, RunStatus::Cancelled],
        ..of_today
    };
    let took =
        store.page_runs(&ended, None, MEDIAN_OF)?.rows.iter().filter_map(|run| run.summary.duration_ms()).collect();
    Ok(Home {
        waiting,
        running: list(&[RunStatus::Running, RunStatus::Queued], RUNNING)?,
        recent: list(
            &[RunStatus::Success, RunStatus::Failed, RunStatus::Timeout, RunStatus::Cancelled, RunStatus::Interrupted],
            RECENT,
        )?,
        today: Today {
            runs: today.runs,
            failed: today.failed,
            waiting: count(&[RunStatus::WaitingForInput]),
            running: count(&[RunStatus::Running, RunStatus::Queued]),
            interrupted,
            median_ms: median(took),
        },
        total: store.count_runs(&RunFilter::default())?,
        projects: super::projects::folders(store)?.len() as u64,
        seq,
    })
}

pub(super) fn changes_since(api: &Api, since: Since) -> Answer<StoreChanged> {
    let last = seq(api)?;
    // Never read before, or the database is another one.
    if since.seq <= 0 && last > 0 || since.seq > last {
        return Ok(StoreChanged { seq: last, all: true, ..StoreChanged::default() });
    }
    let changes = match api.store.changes_since(since.seq, CHANGES) {
        Err(StoreError::Missing { .. }) => return Ok(StoreChanged::default()),
        changes => changes?,
    };
    if changes.items.len() >= CHANGES {
        return Ok(StoreChanged { seq: last, all: true, ..StoreChanged::default() });
    }
    Ok(coalesce(&changes))
}
