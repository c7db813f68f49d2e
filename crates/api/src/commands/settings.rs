//! The window's settings, the connection, agent providers, and what is kept.

use serde_json::Value;

use super::project::keep_json;
use crate::rows::Titles;
use crate::wire::Nothing;
use crate::wire::settings::{
    AppSettings, ConnectionLogin, ConnectionStatus, ProviderRow, Prune, Pruned, SetSettings, Storage, StorageRow,
};
use crate::{Answer, Api, ApiError};

/// The sizes of text that the page can show, in percent.
const TEXT_SIZES: std::ops::RangeInclusive<u32> = 50..=300;
/// Notices that are remembered as closed.
const DISMISSED: usize = 10_000;

pub(super) fn set_settings(api: &Api, request: SetSettings) -> Answer<AppSettings> {
    let now = api.settings()?;
    let mut wanted = serde_json::to_value(&now).unwrap_or_default();
    let mut changes: Vec<(String, Option<Value>)> = Vec::new();
    let known =
        ["theme", "language", "textSize", "singleKeys", "notify", "provider", "retention", "waitDays", "dismissed"];
    for (name, value) in request.settings {
        if !known.contains(&name.as_str()) {
            return Err(ApiError::invalid(format!("there is no setting `{name}`")));
        }
        let value = (!value.is_null()).then_some(value);
        if let Some(object) = wanted.as_object_mut() {
            match &value {
                Some(value) => object.insert(name.clone(), value.clone()),
                None => object.shift_remove(&name),
            };
        }
        changes.push((name, value));
    }
    let wanted: AppSettings = serde_json::from_value(wanted)
        .map_err(|error| ApiError::invalid(format!("a setting has another shape: {error}")))?;
    check(&wanted)?;
    if let Some(at) = changes.iter().position(|(name, _)| name == "provider") {
        let (_, chosen) = changes.swap_remove(at);
        api.host.choose_provider(chosen.as_ref().and_then(Value::as_str).filter(|name| !name.is_empty()))?;
    }
    api.store.set_app_settings(&changes)?;
    api.settings()
}

fn check(settings: &AppSettings) -> Answer<()> {
    if !["system", "light", "dark"].contains(&settings.theme.as_str()) {
        return Err(ApiError::invalid(format!("`theme` is `system`, `light` or `dark`, not `{}`", settings.theme)));
    }
    if !["system", "en", "zh-CN"].contains(&settings.language.as_str()) {
        return Err(ApiError::invalid(format!("`language` is `system`, `en` or `zh-CN`, not `{}`", settings.language)));
    }
    if !TEXT_SIZES.contains(&settings.text_size) {
        return Err(ApiError::invalid(format!("`textSize` is 50 to 300 percent, not {}", settings.text_size)));
    }
    if !store::WAIT_DAYS.contains(&i64::from(settings.wait_days)) {
        return Err(ApiError::invalid(format!("`waitDays` is 1 to 3,650 days, not {}", settings.wait_days)));
    }
    if settings.dismissed.len() > DISMISSED {
        return Err(ApiError::invalid(format!("at most {DISMISSED} notices can be remembered as closed")));
    }
    keep_json(settings.retention).map(|_| ())
}

pub(super) fn connection(api: &Api, _: Nothing) -> Answer<ConnectionStatus> {
    api.host.connection()
}

pub(super) fn connection_login(api: &Api, login: ConnectionLogin) -> Answer<ConnectionStatus> {
    api.host.login(&login)
}

pub(super) fn connection_logout(api: &Api, _: Nothing) -> Answer<ConnectionStatus> {
    api.host.logout()
}

pub(super) fn providers(api: &Api, _: Nothing) -> Answer<Vec<ProviderRow>> {
    let chosen = api.settings()?.provider;
    Ok(api.host.providers(chosen.as_deref()))
}

/// Bytes of the database and its log on the disk.
fn size(path: &std::path::Path) -> u64 {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        std::fs::metadata(name).map_or(0, |facts| facts.len())
    };
    beside("") + beside("-wal")
}

pub(super) fn storage(api: &Api, _: Nothing) -> Answer<Storage> {
    let default = api.settings()?.retention;
    let mut titles = Titles::new(&api.store);
    let mut rows = Vec::new();
    for (project, runs, bytes) in api.store.usage_of_all()? {
        if runs == 0 {
            continue;
        }
        let known = api.store.project(&project).ok();
        let keep = api.host.keep(known.as_ref(), default);
        let prunable = api.host.prunable(&project, keep)?;
        // A folder is one project to a person, whatever it is registered as.
        let place = known.map(|known| known.path);
        if let Some((_, row)) = rows.iter_mut().find(|(other, _)| place.is_some() && *other == place) {
            let row: &mut StorageRow = row;
            row.runs += runs;
            row.bytes += bytes;
            row.prunable.runs += prunable.runs;
            row.prunable.bytes += prunable.bytes;
            continue;
        }
        rows.push((place, StorageRow { title: titles.of(&project).0, prunable, project, runs, bytes }));
    }
    let mut rows: Vec<StorageRow> = rows.into_iter().map(|(_, row)| row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    Ok(Storage { file: api.store.path().to_string_lossy().into_owned(), bytes: size(api.store.path()), rows })
}

pub(super) fn prune(api: &Api, request: Prune) -> Answer<Pruned> {
    let default = api.settings()?.retention;
    let projects = match request.project {
        // All of its folder.
        Some(name) => match api.store.project(&name) {
            Ok(known) => {
                api.store.projects_at(&known.path)?.into_iter().map(|project| project.id.to_string()).collect()
            }
            Err(_) => vec![name],
        },
        None => api.store.recorded_projects()?,
    };
    let mut all = Pruned::default();
    for project in projects {
        let known = api.store.project(&project).ok();
        let pruned = api.host.prune(&project, api.host.keep(known.as_ref(), default))?;
        all.runs += pruned.runs;
        all.bytes += pruned.bytes;
    }
    Ok(all)
}
