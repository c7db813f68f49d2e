//! `workflow-code config`: what an AI client needs to start us.

use std::path::{Path, PathBuf};

use clients::{Change, Client, ClientPaths, Existing, Launch, Ledger, Platform, Scope};
use model::SystemClock;
use serde_json::json;

use crate::cli::Config;
use crate::failure::{Exit, Failure};
use crate::profile::{self, Missing};
use crate::{env_vars, open, out};

pub(crate) fn run(options: &Config, profile: Option<&str>) -> Result<u8, Failure> {
    let client = clients::client(&options.client).ok_or_else(|| {
        let all: Vec<&str> = clients::clients().iter().map(|client| client.id).collect();
        Failure::usage(format!("`--client {}` is not known; it is one of {}", options.client, all.join(", ")))
    })?;
    let (launch, folder) = launch(options, profile)?;
    let paths = paths()?.with_project(folder);
    let ledger = Ledger::at(profile::workflow_home()?.join("clients.json"));
    if options.remove {
        let change = clients::plan_removal(client, Scope::User, launch.key(), &paths, &ledger).map_err(failure)?;
        return write(&change, &ledger, options.json);
    }
    if options.write || options.preview {
        if let Some(why) = client.by_hand {
            return Err(Failure::usage(format!("the configuration of {} is not written by us: {why}", client.name))
                .hinted(format!("copy it: `workflow-code config {} --client {}`", options.target, client.id)));
        }
        let change = clients::plan(client, Scope::User, &launch, &paths).map_err(failure)?;
        if options.preview {
            return preview(&change, options.json);
        }
        return write(&change, &ledger, options.json);
    }
    print(client, &launch, &paths, options.json);
    Ok(0)
}

/// What the client is to start: by id for a registered project, the generic form of a folder otherwise.
fn launch(options: &Config, profile: Option<&str>) -> Result<(Launch, PathBuf), Failure> {
    let folder = Path::new(&options.target);
    let registered = if folder.is_dir() { None } else { Some(()) };
    let (key, args, root) = match registered {
        Some(()) => {
            let profile = profile::open(profile, Missing::Refuse)?;
            let opened = open::registered(&options.target, &profile)?;
            let id = opened.project.id.as_ref().map_or_else(|| options.target.clone(), ToString::to_string);
            let mut args = vec!["--workflow-mcp".to_owned(), id];
            if profile.name != "default" {
                args.extend(["--profile".to_owned(), profile.name]);
            }
            (clients::default_key(&opened.project.manifest.uuid), args, opened.project.manifest.root.clone())
        }
        None => {
            let manifest = open::manifest(folder)?;
            let args = vec!["mcp".to_owned(), manifest.root.to_string_lossy().into_owned()];
            (clients::default_key(&manifest.uuid), args, manifest.root)
        }
    };
    let launch = Launch::new(options.key.clone().unwrap_or(key), executable()?, args)
        .map_err(|error| Failure::from_error(Exit::Usage, &error))?;
    Ok((launch, root))
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

fn print(client: &Client, launch: &Launch, paths: &ClientPaths, json: bool) {
    let snippet = clients::render(client, Scope::User, launch, paths);
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
