//! `workflow-code agents`: who may start the agents of orchestration scripts, and whom a person has chosen.

use runtime::ProviderRow;
use serde_json::{Value, json};

use crate::cli::{Agents, FolderOptions};
use crate::failure::Failure;
use crate::{invocation, open, out, profile};

pub(crate) fn run(command: &Agents, profile: Option<&str>) -> Result<u8, Failure> {
    match command {
        Agents::List { json } => list(profile, *json),
        Agents::Use { provider } => {
            choose(Some(provider))?;
            let row = rows(profile)?.into_iter().find(|row| row.name == *provider);
            match row.filter(|row| !row.installed) {
                Some(row) => {
                    out::note(&format!("agents are started by `{provider}`, which cannot be used yet. {}", row.setup));
                }
                None => {
                    out::note(&format!("agents are started by `{provider}`, unless a project or a run says otherwise"));
                }
            }
            Ok(0)
        }
        Agents::Forget => {
            choose(None)?;
            out::note("no provider is chosen any more");
            Ok(0)
        }
    }
}

fn rows(profile: Option<&str>) -> Result<Vec<ProviderRow>, Failure> {
    let connection = open::connection(&FolderOptions::default(), &profile::workflow_home()?, &profile::name(profile)?);
    let connected = connection.origin(&project::EnvFile::default()).is_some();
    Ok(runtime::providers(&open::environment(), connected))
}

fn list(profile: Option<&str>, json: bool) -> Result<u8, Failure> {
    let chosen = runtime::read_default_provider(&open::agents_file()?).map_err(Failure::environment)?;
    let is_chosen = |row: &ProviderRow| chosen.as_ref().and_then(Value::as_str) == Some(row.name.as_str());
    let rows = rows(profile)?;
    if json {
        let shown = |row: &ProviderRow| {
            json!({
                "name": row.name, "title": row.title, "kind": row.kind, "installed": row.installed,
                "isDefault": is_chosen(row), "setup": row.setup,
            })
        };
        out::json(&json!({ "chosen": chosen, "providers": rows.iter().map(shown).collect::<Vec<_>>() }));
        return Ok(0);
    }
    for row in &rows {
        let mark = if is_chosen(row) { "*" } else { " " };
        let state = match (row.kind, row.installed) {
            ("http", true) => "connected".to_owned(),
            ("command", true) => "installed".to_owned(),
            (_, true) => row.setup.clone(),
            (_, false) => format!("not there. {}", row.setup),
        };
        out::line(&format!("{mark} {:<12} {state}", row.name));
    }
    match &chosen {
        Some(Value::String(_)) => {}
        Some(own) => out::line(&format!("* {own}")),
        None => {
            let choose = invocation::command(&["agents", "use", "NAME"]);
            out::note(&format!("none is chosen; choose one with `{choose}`"));
        }
    }
    Ok(0)
}

/// Writes whom a person chooses for all projects; `None` takes the choice back.
pub(crate) fn choose(provider: Option<&str>) -> Result<(), Failure> {
    let value = provider.map(|provider| match provider.strip_prefix("canned:").map(std::path::absolute) {
        Some(Ok(file)) => Value::from(format!("canned:{}", file.display())),
        Some(Err(_)) | None => Value::from(provider),
    });
    let file = open::agents_file()?;
    if let Some(folder) = file.parent() {
        disk::private_folder(folder)
            .map_err(|error| Failure::environment(format!("`{}` could not be made: {error}", folder.display())))?;
    }
    runtime::write_default_provider(&file, value.as_ref()).map_err(Failure::usage)
}
