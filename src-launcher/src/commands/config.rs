//! `workflow-code config`: what an AI client needs to start us.

use std::path::{Path, PathBuf};

use clients::{Change, Client, ClientPaths, Existing, Launch, Ledger, NameEffect, Platform, Scope};
use model::SystemClock;
use project::Manifest;
use serde_json::json;
use store::ProjectKind;

use crate::cli::Config;
use crate::failure::{Exit, Failure};
use crate::profile::{self, Missing};
use crate::{env_vars, invocation, open, out};

pub(crate) fn run(options: &Config, profile: Option<&str>) -> Result<u8, Failure> {
    let client = clients::client(&options.client).ok_or_else(|| {
        let all: Vec<&str> = clients::clients().iter().map(|client| client.id).collect();
        Failure::usage(format!("`--client {}` is not known; it is one of {}", options.client, all.join(", ")))
    })?;
    let Server { launch, folder, manifest } = server(options, profile)?;
    let paths = paths()?.with_project(folder);
    let ledger = Ledger::at(profile::workflow_home()?.join("clients.json"));
    if options.remove {
        let change = clients::plan_removal(client, Scope::User, launch.key(), &paths, &ledger).map_err(failure)?;
        return write(&change, &ledger, options.json);
    }
    let losses = manifest.and_then(|manifest| losses(client, &launch, &manifest, &options.target));
    if options.write || options.preview {
        if let Some(why) = client.by_hand {
            let copy = invocation::command(&["config", &options.target, "--client", client.id]);
            return Err(Failure::usage(format!("the configuration of {} is not written by us: {why}", client.name))
                .hinted(format!("copy it: `{copy}`")));
        }
        let mut change = clients::plan(client, Scope::User, &launch, &paths).map_err(failure)?;
        change.notes.extend(losses);
        if options.preview {
            return preview(&change, options.json);
        }
        return write(&change, &ledger, options.json);
    }
    print(client, &launch, &paths, losses, options.json);
    Ok(0)
}

/// A server as clients are told of it.
struct Server {
    launch: Launch,
    folder: PathBuf,
    /// Of a workflow, whose tools are its entrypoints.
    manifest: Option<Manifest>,
}

/// What the client starts: a registered project by its id, a folder by its path.
fn server(options: &Config, profile: Option<&str>) -> Result<Server, Failure> {
    let folder = Path::new(&options.target);
    let (key, args, folder, manifest) = if folder.is_dir() {
        let manifest = open::manifest(folder)?;
        let args = vec!["mcp".to_owned(), manifest.root.to_string_lossy().into_owned()];
        (clients::default_key(&manifest.uuid), args, manifest.root.clone(), Some(manifest))
    } else {
        let profile = profile::open(profile, Missing::Refuse)?;
        let (found, _) = open::find(&options.target, &profile)?;
        if !open::is_served(found.kind) {
            return Err(open::not_of_use(&options.target, found.kind, "which has no tools to serve"));
        }
        let manifest = (found.kind == ProjectKind::Workflow).then(|| open::manifest(&found.path)).transpose()?;
        let (key, args) = open::launch_of(&found, &profile.name);
        (key, args, found.path, manifest)
    };
    let launch = Launch::new(options.key.clone().unwrap_or(key), executable()?, args)
        .map_err(|error| Failure::from_error(Exit::Usage, &error))?;
    Ok(Server { launch, folder, manifest })
}

/// Says which tools the client would lose under this key, and the short one that keeps them. A project that cannot be
/// read loses none by its names.
fn losses(client: &Client, launch: &Launch, manifest: &Manifest, target: &str) -> Option<String> {
    let report = super::structure::report(manifest).ok()?;
    let tools: Vec<&str> =
        report.entrypoints.iter().filter(|entrypoint| !entrypoint.draft).map(|one| one.id.as_str()).collect();
    let short = clients::short_key(&manifest.name, &[]);
    let said = lost_tools(client, launch.key(), &tools)?;
    if short == launch.key() {
        return Some(format!("{said}: shorten their ids"));
    }
    let config = invocation::command(&["config", target, "--client", client.id, "--key", &short]);
    let rest = lost_tools(client, &short, &tools)
        .map_or_else(String::new, |rest| format!("; even then, {rest}: shorten their ids as well"));
    Some(format!("{said}: a shorter key keeps them, `{config}`{rest}"))
}

/// What a client does to tools whose names become too long under a key; `None` when it takes them all.
pub(crate) fn lost_tools(client: &Client, key: &str, tools: &[&str]) -> Option<String> {
    let losses = clients::name_losses(client, key, tools.iter().copied());
    let first = losses.first()?;
    let does = match first.effect {
        NameEffect::Dropped => "leaves out",
        NameEffect::Cut => "cuts the names of",
        NameEffect::Hashed => "replaces the ends of the names of",
    };
    let names: Vec<String> = losses.iter().map(|loss| format!("`{}`", loss.tool)).collect();
    Some(format!(
        "under the key `{key}` {} {does} {}, since it takes {} characters with the key",
        client.name,
        names.join(", "),
        first.limit
    ))
}

/// The path that survives an update: this executable as it was started, links to it left as they are.
pub(crate) fn executable() -> Result<String, Failure> {
    // An AppImage is mounted somewhere else at each start; its own file is what stays.
    if let Some(image) = env_vars::get("APPIMAGE") {
        return Ok(image);
    }
    let path = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("this executable's own place is unknown: {error}")))?;
    path.into_os_string().into_string().map_err(|path| {
        Failure::environment(format!("this executable's path is no Unicode text: {}", path.to_string_lossy()))
            .hinted("clients' files hold text only: move the executable")
    })
}

pub(crate) fn paths() -> Result<ClientPaths, Failure> {
    let home = env_vars::home().ok_or_else(|| Failure::environment("`HOME` is not set to an absolute path"))?;
    let folder = |name| env_vars::get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let mut paths = ClientPaths::new(Platform::current(), home);
    paths.config_home = folder(env_vars::XDG_CONFIG_HOME);
    paths.codex_home = folder(env_vars::CODEX_HOME);
    paths.claude_config_dir = folder("CLAUDE_CONFIG_DIR");
    Ok(paths)
}

fn failure(error: clients::Error) -> Failure {
    Failure::from_error(Exit::Environment, &error)
}

fn print(client: &Client, launch: &Launch, paths: &ClientPaths, losses: Option<String>, json: bool) {
    let mut snippet = clients::render(client, Scope::User, launch, paths);
    snippet.warnings.extend(losses);
    if json {
        out::json(&json!({
            "client": client.id,
            "key": launch.key(),
            "text": snippet.text,
            "language": snippet.language,
            "file": snippet.file,
            "commandLine": snippet.command_line,
            "link": snippet.link,
            "warnings": snippet.warnings,
        }));
        return;
    }
    out::written(&snippet.text);
    if !snippet.text.ends_with('\n') {
        out::print("\n");
    }
    if let Some(file) = &snippet.file {
        out::note(&format!("file: {file}"));
    }
    if let Some(command) = &snippet.command_line {
        out::note(&format!("or: {command}"));
    }
    if let Some(link) = &snippet.link {
        out::note(&format!("or open: {link}"));
    }
    for warning in &snippet.warnings {
        out::note(&format!("warning: {warning}"));
    }
}

fn preview(change: &Change, json: bool) -> Result<u8, Failure> {
    if json {
        out::json(&json!({
            "client": change.client, "key": change.key, "file": change.target, "existing": change.existing,
            "difference": change.difference.to_text(), "notes": change.notes,
        }));
    } else {
        out::print(&change.difference.to_text());
        for note in &change.notes {
            out::note(&format!("note: {note}"));
        }
    }
    Ok(0)
}

fn write(change: &Change, ledger: &Ledger, json: bool) -> Result<u8, Failure> {
    let written = clients::apply(change, ledger, &SystemClock).map_err(failure)?;
    if json {
        out::json(&json!({
            "client": written.client, "key": written.key, "file": written.target, "backup": written.backup,
            "created": written.created, "changed": written.changed, "notes": change.notes,
        }));
        return Ok(0);
    }
    if !written.changed {
        let same = change.existing == Existing::Same;
        out::note(&format!(
            "`{}` {}",
            written.target.display(),
            if same { "has it already" } else { "needs no change" }
        ));
        return Ok(0);
    }
    out::print(&change.difference.to_text());
    out::note(&format!("written: `{}`", written.target.display()));
    if let Some(backup) = &written.backup {
        out::note(&format!("backup:  `{}`", backup.display()));
    }
    for note in &change.notes {
        out::note(&format!("note: {note}"));
    }
    Ok(0)
}
