//! Lists of runs: pages, searches, counts.

use jiff::{ToSpan, ZonedDateTime};
use model::{EntrypointId, RunId, TimestampMs};
use store::{RunFilter, RunPlace, StoreError};

use crate::rows::{found, rows};
use crate::wire::run::{DayCount, OfRuns, RunQuery, RunRow, RunsPage, RunsPerDay, RunsRequest};
use crate::{Answer, Api, ApiError};

/// Rows of a page unless the request says otherwise, and at most.
const PAGE: u32 = 50;
const MOST: u32 = 500;
/// Days that are counted at most.
const DAYS: u32 = 366;
/// Bytes of a text that is searched for.
const TEXT: usize = 1_000;
/// Runs that are counted by day when words are searched for.
const SEARCHED: usize = 5_000;

/// Turns the page's query into the store's, and the words apart.
fn filter(api: &Api, query: &RunQuery) -> Answer<(RunFilter, Option<String>)> {
    let entrypoint = query
        .entrypoint
        .as_deref()
        .map(|id| id.parse::<EntrypointId>().map_err(|error| ApiError::invalid(error.to_string())))
        .transpose()?;
    // A UUID is as good as an id; what is not registered has its runs under its own name.
    let project = query.project.as_deref().map(|name| match api.store.project(name) {
        Ok(project) => Ok(project.id.to_string()),
        Err(StoreError::NoSuchProject { .. }) => Ok(name.to_owned()),
        Err(error) => Err(ApiError::from(error)),
    });
    let text = query.text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    if let Some(text) = text.as_ref().filter(|text| text.len() > TEXT) {
        return Err(ApiError::invalid(format!(
            "the text has {} bytes, and at most {TEXT} are searched for",
            text.len()
        )));
    }
    let filter = RunFilter {
        project: project.transpose()?,
        entrypoint,
        client: query.client.clone(),
        origin: query.origin,
        since: query.after,
        until: query.before,
        any_status: query.status.clone().unwrap_or_default(),
        longer_than: query.took_more_ms,
        shorter_than: query.took_less_ms,
        pinned: query.pinned,
        ..RunFilter::default()
    };
    Ok((filter, text))
}

pub(super) fn runs(api: &Api, request: RunsRequest) -> Answer<RunsPage> {
    let limit = request.limit.unwrap_or(PAGE).clamp(1, MOST) as usize;
    let after = request
        .after
        .as_deref()
        .map(|after| after.parse::<RunPlace>().map_err(|error| ApiError::invalid(format!("`after`: {error}"))))
        .transpose()?;
    let (filter, text) = filter(api, &request.query)?;
    let store = &api.store;
    let page = match &text {
        Some(text) => store.page_search(text, &filter, after, limit)?,
        None => store.page_runs(&filter, after, limit)?,
    };
    let mut shown = rows(store, &page.rows)?;
    let mut total = None;
    match &text {
        Some(text) => {
            for (row, at) in shown.iter_mut().zip(store.where_found(&page.rows, text)?) {
                row.found = at.map(found);
            }
        }
        None if after.is_none() => total = store.count_runs(&filter)?,
        None => {}
    }
    if after.is_none() && page.next.is_none() {
        total = Some(shown.len() as u64);
    }
    Ok(RunsPage { rows: shown, next: page.next.map(|next| next.to_string()), total, complete: page.complete })
}

pub(super) fn run_row(api: &Api, request: OfRuns) -> Answer<Vec<RunRow>> {
    if request.runs.len() > MOST as usize {
        return Err(ApiError::invalid(format!("at most {MOST} runs at once, not {}", request.runs.len())));
    }
    let ids = request.runs.iter().map(|run| crate::api::run_id(run)).collect::<Answer<Vec<RunId>>>()?;
    rows(&api.store, &api.store.entries(&ids)?)
}

/// The moments at which days begin, the last one to come; days are those of this machine's time zone.
fn days(now: &ZonedDateTime, count: u32) -> Vec<(String, TimestampMs)> {
    let tomorrow = now.date().tomorrow().unwrap_or(now.date());
    (0..=i64::from(count))
        .rev()
        .filter_map(|back| {
            let day = tomorrow.checked_sub(back.days()).ok()?;
            let begins = day.to_zoned_datetime(now.time_zone().clone()).ok()?;
            Some((day.to_string(), begins.timestamp().as_millisecond()))
        })
        .collect()
}

/// When today began, and when tomorrow does.
pub(super) fn today() -> (TimestampMs, TimestampMs) {
    let days = days(&ZonedDateTime::now(), 1);
    let moment = |place: usize| days.get(place).map_or(0, |(_, at)| *at);
    (moment(0), moment(1))
}

pub(super) fn runs_per_day(api: &Api, request: RunsPerDay) -> Answer<Vec<DayCount>> {
    let days = days(&ZonedDateTime::now(), request.days.clamp(1, DAYS));
    let moments: Vec<TimestampMs> = days.iter().map(|(_, at)| *at).collect();
    let (filter, text) = filter(api, &request.query)?;
    let counted = match text {
        None => api.store.count_between(&filter, &moments)?,
        Some(text) => by_search(api, &filter, &text, &moments)?,
    };
    Ok(days
        .into_iter()
        .zip(counted)
        .map(|((day, _), counted)| DayCount { day, runs: counted.runs, failed: counted.failed })
        .collect())
}

/// Counts what a search finds, the newest 5,000.
fn by_search(api: &Api, filter: &RunFilter, text: &str, moments: &[TimestampMs]) -> Answer<Vec<store::Counted>> {
    let mut counted = vec![store::Counted::default(); moments.len().saturating_sub(1)];
    let filter = RunFilter { since: filter.since.max(moments.first().copied()), ..filter.clone() };
    let page = api.store.page_search(text, &filter, None, SEARCHED)?;
    for run in page.rows.iter().map(|entry| &entry.summary) {
        let day = moments.partition_point(|begins| *begins <= run.created_at).checked_sub(1);
        if let Some(day) = day.and_then(|day| counted.get_mut(day)) {
            day.runs += 1;
            day.failed += u64::from(matches!(run.status, model::RunStatus::Failed | model::RunStatus::Timeout));
        }
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_time_zone_also_when_clocks_change() {
        let now: ZonedDateTime = "2026-03-30T10:00:00[Europe/Berlin]".parse().unwrap();
        let days = days(&now, 2);
        assert_eq!(
            days.iter().map(|(day, _)| day.as_str()).collect::<Vec<_>>(),
            ["2026-03-29", "2026-03-30", "2026-03-31"]
        );
        // The 29th had 23 hours.
        assert_eq!(days[1].1 - days[0].1, 23 * 3_600_000);
        assert_eq!(days[2].1 - days[1].1, 24 * 3_600_000);
    }
}
