//! The Dock: what clients need, what they have, and changing their files with a preview and a way back.

use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use clients::{Asks, Change, Client, ClientPaths, DiffSign, Existing, Language, Launch, NameEffect, Scope, State};
use model::SystemClock;
use serde_json::json;
use store::{Project, ProjectKind};

use crate::wire::Nothing;
use crate::wire::dock::{
    Ask, Dock, DockClient, DockClientState, DockPlan, DockPlanAction, DockPlanRequest, DockRequest, DockState,
    DockUndo, DockWrite, DockWritten, Form, Line, NameLossRow, Snippet, SnippetLanguage, WireScope,
};
use crate::{Answer, Api, ApiError, ApiErrorCode};

/// Changes that can be taken back while the window is open.
const REMEMBERED: usize = 100;

impl From<WireScope> for Scope {
    fn from(scope: WireScope) -> Self {
        match scope {
            WireScope::User => Self::User,
            WireScope::Project => Self::Project,
        }
    }
}

/// Returns what clients start, and where their files are, for a project.
pub(super) fn launch(api: &Api, project: &Project, key: Option<&str>) -> Answer<(Launch, ClientPaths)> {
    let mut launch = api.host.launch(project)?;
    if let Some(key) = key {
        launch = launch.with_key(key)?;
    }
    Ok((launch, api.host.client_paths()?.with_project(project.path.clone())))
}

/// What each client knows of the project's first server that can be served.
pub(super) fn states(api: &Api, project: &Project) -> Answer<Vec<DockClientState>> {
    if api.host.why_not_served(project.kind).is_some() {
        return Ok(Vec::new());
    }
    let (launch, paths) = launch(api, project, None)?;
    Ok(clients::clients().iter().map(|client| state(client, &launch, &paths)).collect())
}

fn state(client: &Client, launch: &Launch, paths: &ClientPaths) -> DockClientState {
    let found = client.is_present(paths);
    let file = client.file(Scope::User, paths);
    let (state, detail) = match clients::inspect(client, Scope::User, launch, paths) {
        Ok(State::InStep) => (DockState::InStep, None),
        Ok(State::Differs) => (DockState::Differs, Some(format!("it has another entry under `{}`", launch.key()))),
        // A project's own file may have it.
        Ok(State::NotAdded) => match clients::inspect(client, Scope::Project, launch, paths) {
            Ok(State::InStep) => (DockState::InStep, Some("in the project's own file".to_owned())),
            Ok(State::Differs) => (DockState::Differs, Some("in the project's own file".to_owned())),
            Ok(State::NotAdded) | Err(_) if !found => (DockState::Absent, None),
            Ok(State::NotAdded) | Err(_) => (DockState::NotAdded, None),
        },
        Err(error) => (DockState::Differs, Some(model::with_causes(&error))),
    };
    DockClientState {
        id: client.id.to_owned(),
        name: client.name.to_owned(),
        tile: client.tile.to_owned(),
        found,
        state,
        file: file.map(|file| file.to_string_lossy().into_owned()),
        detail,
    }
}

/// The names of a project's tools, as far as they can be had.
fn tools(api: &Api, project: &Project) -> Vec<String> {
    let of_report = |report: model::StructureReport| {
        report.entrypoints.into_iter().filter(|one| !one.draft).map(|one| one.id.to_string()).collect()
    };
    match project.kind {
        ProjectKind::Workflow => api.host.structure(project).map(of_report).unwrap_or_default(),
        _ => Vec::new(),
    }
}

pub(super) fn dock(api: &Api, request: DockRequest) -> Answer<Dock> {
    let project = api.project(&request.server)?;
    let servers = api.servers(&project)?;
    let key_of_folder = servers.first().unwrap_or(&project).id.to_string();
    if let Some(why_not) = api.host.why_not_served(project.kind) {
        return Ok(Dock {
            server: project.id.to_string(),
            project: key_of_folder,
            key: String::new(),
            short_key: String::new(),
            command: String::new(),
            args: Vec::new(),
            config: String::new(),
            clients: Vec::new(),
            why_not: Some(why_not),
        });
    }
    let (launch, paths) = launch(api, &project, request.key.as_deref())?;
    let tools = tools(api, &project);
    let config = json!({
        "mcpServers": { launch.key(): { "command": launch.command(), "args": launch.args() } },
    });
    Ok(Dock {
        server: project.id.to_string(),
        project: key_of_folder,
        key: launch.key().to_owned(),
        short_key: clients::short_key(&project.title, &[]),
        command: launch.command().to_owned(),
        args: launch.args().to_vec(),
        config: format!("{config:#}\n"),
        clients: clients::clients().iter().map(|one| client(one, &launch, &paths, &tools)).collect(),
        why_not: None,
    })
}

fn client(client: &Client, launch: &Launch, paths: &ClientPaths, tools: &[String]) -> DockClient {
    let DockClientState { id, name, tile, found, state, file, detail } = state(client, launch, paths);
    let snippet = clients::render(client, Scope::User, launch, paths);
    let scopes = if client.by_hand.is_some() {
        Vec::new()
    } else {
        [WireScope::User, WireScope::Project]
            .into_iter()
            .filter(|scope| client.file((*scope).into(), paths).is_some())
            .collect()
    };
    let mut forms = Vec::new();
    forms.extend(snippet.command_line.as_ref().map(|_| Form::Command));
    forms.extend(snippet.link.as_ref().map(|_| Form::Link));
    forms.push(Form::Snippet);
    let with_comments = file.as_deref().is_some_and(|file| file.ends_with(".jsonc")) || client.id == "zed";
    let language = match snippet.language {
        Language::Json if with_comments => SnippetLanguage::Jsonc,
        Language::Json => SnippetLanguage::Json,
        Language::Toml => SnippetLanguage::Toml,
        Language::Yaml => SnippetLanguage::Yaml,
    };
    let mut limits: Vec<String> = Vec::new();
    limits.extend(client.start_limit.map(str::to_owned));
    limits.extend(client.call_limit.map(str::to_owned));
    limits.extend(client.notes.iter().map(|&note| note.to_owned()));
    limits.extend(client.by_hand.map(str::to_owned));
    limits.extend(snippet.warnings.iter().cloned());
    DockClient {
        id,
        name,
        tile,
        found,
        state,
        file,
        detail,
        scopes,
        forms,
        command: snippet.command_line,
        link: snippet.link,
        snippet: Snippet { language, text: snippet.text },
        asks: match client.asks {
            Asks::Yes => Ask::Yes,
            Asks::Perhaps => Ask::Perhaps,
            Asks::No => Ask::No,
        },
        name_losses: clients::name_losses(client, launch.key(), tools.iter().map(String::as_str))
            .into_iter()
            .map(|loss| NameLossRow {
                tool: loss.tool,
                effect: match loss.effect {
                    NameEffect::Dropped => "dropped",
                    NameEffect::Cut => "cut",
                    NameEffect::Hashed => "hashed",
                }
                .to_owned(),
            })
            .collect(),
        limits: (!limits.is_empty()).then(|| limits.join("; ")),
    }
}

/// What a change is asked for by.
struct Wanted<'a> {
    server: &'a str,
    client: &'a str,
    scope: Option<WireScope>,
    key: Option<&'a str>,
    remove: Option<bool>,
}

fn plan(api: &Api, wanted: &Wanted<'_>) -> Answer<(Change, bool)> {
    let project = api.project(wanted.server)?;
    let client = clients::client(wanted.client)
        .ok_or_else(|| ApiError::not_found(format!("there is no client `{}`", wanted.client)))?;
    let (launch, paths) = launch(api, &project, wanted.key)?;
    let scope = wanted.scope.unwrap_or(WireScope::User).into();
    let change = if wanted.remove == Some(true) {
        clients::plan_removal(client, scope, launch.key(), &paths, &api.host.ledger()?)?
    } else {
        clients::plan(client, scope, &launch, &paths)?
    };
    Ok((change, wanted.remove == Some(true)))
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

pub(super) fn dock_plan(api: &Api, request: DockPlanRequest) -> Answer<DockPlan> {
    let wanted = Wanted {
        server: &request.server,
        client: &request.client,
        scope: request.scope,
        key: request.key.as_deref(),
        remove: request.remove,
    };
    let (change, remove) = plan(api, &wanted)?;
    let action = match (&change.before, change.existing) {
        _ if remove => DockPlanAction::Remove,
        (_, Existing::Same) => DockPlanAction::Nothing,
        (None, _) => DockPlanAction::Create,
        (Some(_), Existing::Absent) => DockPlanAction::Add,
        (Some(_), Existing::Different) => DockPlanAction::Replace,
    };
    let lines = change.difference.groups.iter().flatten().map(|line| Line {
        sign: match line.sign {
            DiffSign::Same => " ",
            DiffSign::Added => "+",
            DiffSign::Removed => "-",
        }
        .to_owned(),
        text: line.text.clone(),
        old_line: line.old_line,
        new_line: line.new_line,
    });
    Ok(DockPlan {
        client: change.client.to_owned(),
        file: shown(&change.target),
        // Its name has the moment of writing in it; that it will lie beside the file is what can be said before.
        backup: change
            .before
            .as_ref()
            .filter(|_| action != DockPlanAction::Nothing)
            .and_then(|_| change.file.parent().map(shown)),
        action,
        diff: lines.collect(),
        fingerprint: change.fingerprint(),
    })
}

pub(super) fn dock_write(api: &Api, request: DockWrite) -> Answer<DockWritten> {
    let wanted = Wanted {
        server: &request.server,
        client: &request.client,
        scope: request.scope,
        key: request.key.as_deref(),
        remove: request.remove,
    };
    let (change, _) = plan(api, &wanted)?;
    if change.fingerprint() != request.fingerprint {
        return Err(ApiError::new(
            ApiErrorCode::Conflict,
            format!("`{}` has changed since the preview", change.file.display()),
        )
        .hinted("look at the new change, and write again"));
    }
    let written = clients::apply(&change, &api.host.ledger()?, &SystemClock)?;
    let id = format!("w{}", api.next_written.fetch_add(1, Ordering::SeqCst));
    let answer =
        DockWritten { id: id.clone(), file: shown(&written.target), backup: written.backup.as_deref().map(shown) };
    let mut remembered = api.written.lock().unwrap_or_else(PoisonError::into_inner);
    if remembered.len() >= REMEMBERED {
        // Nobody takes back what was written so long ago.
        let oldest =
            remembered.keys().min_by_key(|id| id.get(1..).and_then(|number| number.parse::<u64>().ok())).cloned();
        oldest.and_then(|oldest| remembered.remove(&oldest));
    }
    remembered.insert(id, written);
    Ok(answer)
}

pub(super) fn dock_undo(api: &Api, request: DockUndo) -> Answer<Nothing> {
    let mut remembered = api.written.lock().unwrap_or_else(PoisonError::into_inner);
    let written = remembered
        .get(&request.id)
        .ok_or_else(|| ApiError::not_found(format!("there is no change `{}` to take back", request.id)))?;
    clients::undo(written, &api.host.ledger()?)?;
    remembered.remove(&request.id);
    Ok(Nothing {})
}
