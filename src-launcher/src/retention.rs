//! How long runs are kept: a project's settings, and the pruning that launchers do on their way out.

use std::time::{Duration, Instant};

use model::{Clock, SystemClock, TimestampMs};
use serde_json::{Map, Value, json};
use store::{Pruned, Retention, Store, StoreError};

use crate::failure::Failure;

/// Where a project's settings have it.
pub(crate) const SETTING: &str = "retention";

/// What a project may keep unless its settings say otherwise: 2 GiB. Neither age nor number is limited by itself.
const DEFAULT_MEGABYTES: u64 = 2_048;

/// A launcher prunes for this long at its end.
const AT_EXIT: Duration = Duration::from_millis(20);

/// How often anybody prunes at all.
const EVERY: Duration = Duration::from_secs(24 * 3600);

/// How long one go of `runs prune` works before it lets others write.
const GO: Duration = Duration::from_millis(10);

/// How long it then waits.
const PAUSE: Duration = Duration::from_millis(5);

const DAY: TimestampMs = 24 * 3600 * 1000;
const MEGABYTE: u64 = 1024 * 1024;

/// Limits as people give them; what is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Keep {
    pub(crate) days: Option<u64>,
    pub(crate) runs: Option<u64>,
    pub(crate) megabytes: Option<u64>,
}

impl Keep {
    /// Reads a project's settings.
    pub(crate) fn of_settings(settings: &Map<String, Value>) -> Self {
        Self::of_settings_or(settings, Self { days: None, runs: None, megabytes: Some(DEFAULT_MEGABYTES) })
    }

    /// Reads a project's settings, where `default` holds for what they do not say. `null` is no limit.
    pub(crate) fn of_settings_or(settings: &Map<String, Value>, default: Self) -> Self {
        let set = settings.get(SETTING).and_then(Value::as_object);
        let number = |name: &str, default: Option<u64>| match set.and_then(|set| set.get(name)) {
            None => default,
            Some(Value::Null) => None,
            Some(value) => value.as_u64().or(default),
        };
        Self {
            days: number("days", default.days),
            runs: number("runs", default.runs),
            megabytes: number("megabytes", default.megabytes),
        }
    }

    /// What the window's settings say for all projects.
    fn of_window(store: &Store) -> Self {
        let plain = Self { days: None, runs: None, megabytes: Some(DEFAULT_MEGABYTES) };
        match store.app_settings() {
            Ok(settings) if settings.contains_key(SETTING) => Self::of_settings_or(&settings, Self::default()),
            Ok(_) | Err(_) => plain,
        }
    }

    pub(crate) fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn to_json(self) -> Value {
        json!({ "days": self.days, "runs": self.runs, "megabytes": self.megabytes })
    }

    fn retention(self, now: TimestampMs) -> Retention {
        let age = |days: u64| TimestampMs::try_from(days).unwrap_or(TimestampMs::MAX).saturating_mul(DAY);
        Retention {
            not_before: self.days.map(|days| now.saturating_sub(age(days))),
            most_runs: self.runs,
            most_bytes: self.megabytes.map(|megabytes| megabytes.saturating_mul(MEGABYTE)),
        }
    }
}

/// Sets one of a project's limits in its settings: a number, `none` for no limit, `default` for what holds otherwise.
pub(crate) fn set(settings: &Map<String, Value>, name: &str, text: &str) -> Result<Value, Failure> {
    let mut retention = settings.get(SETTING).and_then(Value::as_object).cloned().unwrap_or_default();
    if !["days", "runs", "megabytes"].contains(&name) {
        return Err(Failure::usage(format!(
            "there is no setting `{SETTING}.{name}`; there is `{SETTING}.days`, `{SETTING}.runs`, `{SETTING}.megabytes`"
        )));
    }
    match text {
        "default" => {
            retention.shift_remove(name);
        }
        "none" => {
            retention.insert(name.to_owned(), Value::Null);
        }
        text => {
            let number = text.parse::<u32>().ok().filter(|number| *number > 0).ok_or_else(|| {
                Failure::usage(format!(
                    "`{SETTING}.{name}` is a whole number from 1, `none` or `default`, not `{text}`"
                ))
            })?;
            retention.insert(name.to_owned(), number.into());
        }
    }
    Ok(Value::Object(retention))
}

/// What holds for each project that has runs: `given`, or else its own settings.
pub(crate) fn plans(store: &Store, only: Option<&str>, given: Option<Keep>) -> Result<Vec<(String, Keep)>, StoreError> {
    let registered = store.projects()?;
    let recorded = match only {
        Some(project) => vec![project.to_owned()],
        None => store.recorded_projects()?,
    };
    let default = Keep::of_window(store);
    let plan = |project: String| {
        let keep = given.unwrap_or_else(|| {
            let settings = registered.iter().find(|known| known.id.as_str() == project).map(|known| &known.settings);
            Keep::of_settings_or(settings.unwrap_or(&Map::new()), default)
        });
        (project, keep)
    };
    Ok(recorded.into_iter().map(plan).collect())
}

/// Deletes all that need not be kept, in small batches with room for others between them.
pub(crate) fn prune(store: &Store, plans: &[(String, Keep)]) -> Result<Pruned, StoreError> {
    let now = SystemClock.now();
    let mut all = Pruned { complete: true, ..Pruned::default() };
    for (project, keep) in plans.iter().filter(|(_, keep)| !keep.is_unlimited()) {
        loop {
            let pruned = store.prune(Some(project), keep.retention(now), GO)?;
            all.runs += pruned.runs;
            all.bytes += pruned.bytes;
            if pruned.complete {
                break;
            }
            std::thread::sleep(PAUSE);
        }
    }
    Ok(all)
}

/// Counts what [`prune`] would delete.
pub(crate) fn would_prune(store: &Store, plans: &[(String, Keep)]) -> Result<Pruned, StoreError> {
    let now = SystemClock.now();
    let mut all = Pruned { complete: true, ..Pruned::default() };
    for (project, keep) in plans.iter().filter(|(_, keep)| !keep.is_unlimited()) {
        let pruned = store.would_prune(project, keep.retention(now))?;
        all.runs += pruned.runs;
        all.bytes += pruned.bytes;
    }
    Ok(all)
}

/// A launcher's part, on its way out: once a day somebody prunes a little.
pub(crate) fn at_exit(store: &Store) {
    if !store.path().exists() {
        return;
    }
    let until = Instant::now() + AT_EXIT;
    let work = || -> Result<(), StoreError> {
        if !store.claim_pruning(EVERY)? {
            return Ok(());
        }
        let now = SystemClock.now();
        for (project, keep) in plans(store, None, None)? {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            store.prune(Some(&project), keep.retention(now), left)?;
        }
        Ok(())
    };
    if let Err(error) = work() {
        tracing::debug!(%error, "old runs could not be pruned");
    }
}

/// What whoever opens a history does first: runs whose process is gone are marked, and questions that nobody answered in
/// time are closed. A history that is not there yet is not made.
pub(crate) fn tend(store: &Store) -> Result<(), StoreError> {
    if !store.path().exists() {
        return Ok(());
    }
    match store.mark_interrupted().and_then(|_| store.expire_waiting()) {
        // A history that can only be read can still be read.
        Ok(_) | Err(StoreError::Missing { .. } | StoreError::ReadOnly { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(retention: Value) -> Map<String, Value> {
        Map::from_iter([(SETTING.to_owned(), retention)])
    }

    #[test]
    fn a_setting_is_set_lifted_and_taken_back() {
        let mut now = Map::new();
        assert_eq!(Keep::of_settings(&now), Keep { days: None, runs: None, megabytes: Some(DEFAULT_MEGABYTES) });
        for (name, text, keep) in [
            ("days", "30", Keep { days: Some(30), runs: None, megabytes: Some(2_048) }),
            ("megabytes", "none", Keep { days: Some(30), runs: None, megabytes: None }),
            ("runs", "7", Keep { days: Some(30), runs: Some(7), megabytes: None }),
            ("megabytes", "default", Keep { days: Some(30), runs: Some(7), megabytes: Some(2_048) }),
            ("days", "none", Keep { days: None, runs: Some(7), megabytes: Some(2_048) }),
        ] {
            now = settings(set(&now, name, text).unwrap());
            assert_eq!(Keep::of_settings(&now), keep, "{name} {text}");
        }
        for (name, text) in [("days", "0"), ("days", "-1"), ("days", "1.5"), ("days", ""), ("weeks", "1")] {
            assert!(set(&now, name, text).is_err(), "{name} {text}");
        }
    }

    #[test]
    fn settings_of_another_shape_are_no_limits() {
        for odd in [json!(7), json!([]), json!({ "days": "x", "runs": -1, "megabytes": 1.5 })] {
            let keep = Keep::of_settings(&settings(odd));
            assert_eq!(keep, Keep { days: None, runs: None, megabytes: Some(DEFAULT_MEGABYTES) });
        }
    }

    #[test]
    fn ages_beyond_all_time_are_no_fault() {
        let keep = Keep { days: Some(u64::MAX), runs: None, megabytes: Some(u64::MAX) };
        let retention = keep.retention(1_000);
        assert!(retention.not_before.is_some_and(|moment| moment < 0));
        assert_eq!(retention.most_bytes, Some(u64::MAX));
    }
}
