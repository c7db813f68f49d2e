//! `workflow-code auth`: the saved connection, a server's address and its admin key.
//!
//! A key comes from a prompt or from standard input, never as an argument: arguments are seen by everybody on the machine
//! and kept by shells.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use project::EnvFile;
use secrets::{
    Error, KEY_BYTES, KeyPlace, LoginStore, SavedLogin, Secret, SecretStore, ServerUrl, Source, Sources, StoreKind,
};
use serde_json::{Value, json};

use crate::cli::{Auth, AuthFolders, LoginPlace};
use crate::connection::{self, Logins};
use crate::failure::{Exit, Failure, with_causes};
use crate::{invocation, open, out, profile, server_check, terminal};

/// How long the keyring may take at login: its prompt waits for a person.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(command: &Auth, profile: Option<&str>) -> Result<u8, Failure> {
    // The keyring's entries of one profile are not another's.
    let profile = profile::name(profile)?;
    match command {
        Auth::Login { server, store, folders, json } => login(&profile, server.as_deref(), *store, folders, *json),
        Auth::Status { project, folders, json } => status(&profile, project.as_deref(), folders, *json),
        Auth::Logout { folders, json } => logout(&profile, folders, *json),
    }
}

fn logins(folders: &AuthFolders) -> Result<Logins, Failure> {
    for (name, value) in [
        ("--data-dir", &folders.data_dir),
        ("--auth-dir", &folders.auth_dir),
        ("--desktop-config-dir", &folders.desktop_config_dir),
    ] {
        open::absolute(name, value.as_deref())?;
    }
    let data: PathBuf = match &folders.data_dir {
        Some(dir) => dir.clone(),
        None => profile::workflow_home()?,
    };
    Ok(Logins::new(folders.desktop_config_dir.as_deref(), folders.auth_dir.as_deref(), &data))
}

fn login(
    profile: &str,
    server: Option<&str>,
    store: LoginPlace,
    folders: &AuthFolders,
    json: bool,
) -> Result<u8, Failure> {
    let logins = logins(folders)?;
    let server = match server {
        Some(server) => server.to_owned(),
        None if terminal::is_there() => terminal::prompt("Server address", false).unwrap_or_default(),
        None => {
            return Err(Failure::usage(format!(
                "name the server: `{}`, with the key on standard input",
                invocation::command(&["auth", "login", "URL"])
            )));
        }
    };
    let server = ServerUrl::parse(&server).map_err(|error| Failure::usage(error.to_string()))?;
    let store = match store {
        LoginPlace::Keyring => LoginStore::Keyring,
        LoginPlace::File => LoginStore::File,
    };
    let keyring = connection::keyring(profile).with_patience(PATIENCE);
    if store == LoginStore::Keyring {
        // Before the person types a key that could not be kept.
        keyring.probe().map_err(|error| keyring_failure(&error, &server))?;
    }
    let key = key(&server)?;
    secrets::login(&logins.auth, &server, &key, store, &keyring).map_err(|error| match &error {
        Error::Value { .. } => Failure::from_error(Exit::Usage, &error),
        Error::Write { .. } | Error::Read { .. } | Error::Content { .. } => {
            Failure::from_error(Exit::Environment, &error).hinted("choose another folder with `--auth-dir DIR`")
        }
        error => keyring_failure(error, &server),
    })?;
    let checked = server_check::models(&server, &key);
    if let Err(why) = &checked {
        out::note(&format!("warning: {why}; the login is saved all the same"));
    }
    if server.is_exposed() {
        out::note(&format!("warning: the key for {server} crosses the network unencrypted; use https"));
    }
    if json {
        out::json(&json!({
            "url": server.as_str(),
            "store": store.as_str(),
            "models": checked.as_ref().ok(),
            "warning": checked.as_ref().err(),
        }));
    } else {
        let place = match store {
            LoginStore::Keyring => "the keyring".to_owned(),
            LoginStore::File => format!("`{}`", logins.auth.join(secrets::AUTH_FILE).display()),
        };
        out::note(&format!("logged in to {server}; the key is in {place}"));
        if let Ok(models) = checked {
            out::note(&format!("the server answers and offers {models} models"));
        }
    }
    Ok(0)
}

/// Reads the key: typed unseen, or one line of standard input.
fn key(server: &ServerUrl) -> Result<Secret, Failure> {
    let text = if terminal::is_there() {
        terminal::prompt(&format!("Admin key for {server} (not shown)"), true).unwrap_or_default()
    } else if std::io::stdin().is_terminal() {
        return Err(Failure::usage("the prompt cannot be shown, since standard error is no terminal"));
    } else {
        let mut text = String::new();
        let most = KEY_BYTES as u64 + 16;
        std::io::stdin()
            .lock()
            .take(most)
            .read_to_string(&mut text)
            .map_err(|_| Failure::usage("the key on standard input cannot be read as text"))?;
        text
    };
    let key = Secret::from(text);
    let line = Secret::from(key.expose().trim());
    if line.is_empty() {
        return Err(Failure::usage("no key was given").hinted(format!(
            "type it at the prompt, or give it on standard input: `{} < FILE`",
            invocation::command(&["auth", "login", server.as_str()])
        )));
    }
    Ok(line)
}

fn keyring_failure(error: &Error, server: &ServerUrl) -> Failure {
    let failure = Failure::from_error(Exit::Environment, error);
    let file = format!(
        "keep the key in a file that only you can read: `{}`",
        invocation::command(&["auth", "login", server.as_str(), "--store", "file"])
    );
    match error {
        Error::NoService { .. } => failure.hinted(file),
        Error::NoKeyring { .. } => failure.hinted(format!("log in graphically once, or {file}")),
        Error::Locked { .. } | Error::Denied { .. } => {
            failure.hinted(format!("unlock the keyring and try again, or {file}"))
        }
        _ => failure.hinted(file),
    }
}

/// What a keyring is for us now.
fn keyring_state(keyring: &dyn SecretStore) -> Value {
    debug_assert_eq!(keyring.kind(), StoreKind::Keyring);
    match keyring.probe() {
        Ok(()) => json!({ "available": true }),
        Err(error) => json!({ "available": false, "reason": with_causes(&error) }),
    }
}

fn shown(login: Option<&SavedLogin>) -> Value {
    login.map_or(Value::Null, |login| json!({ "url": login.url.as_str(), "store": login.store().as_str() }))
}

fn status(profile: &str, project: Option<&Path>, folders: &AuthFolders, json: bool) -> Result<u8, Failure> {
    let logins = logins(folders)?;
    let (desktop, saved, mut notes) = logins.read();
    let dot_env = match project {
        Some(dir) => EnvFile::read(dir).map(|file| connection::given_by_file(&file)).unwrap_or_default(),
        None => secrets::Given::default(),
    };
    let sources = Sources {
        environment: connection::given_by_environment(),
        dot_env,
        desktop: desktop.clone(),
        saved: saved.clone(),
    };
    let resolution = secrets::resolve(&sources);
    notes.extend(resolution.notes);
    let keyring = connection::keyring(profile);
    let state = keyring_state(&keyring);
    let mut holds = Value::Null;
    if let Some(found) = &resolution.resolved {
        let (store, key) = match &found.key {
            KeyPlace::None => (Value::Null, "none"),
            KeyPlace::Here(_) => {
                let file = matches!(found.source, Source::Desktop | Source::Saved);
                (if file { json!("file") } else { Value::Null }, "present")
            }
            KeyPlace::Keyring => match keyring.get(&found.url) {
                Ok(Some(_)) => (json!("keyring"), "present"),
                Ok(None) => (json!("keyring"), "missing"),
                Err(error) => {
                    notes.push(with_causes(&error));
                    (json!("keyring"), "unreachable")
                }
            },
        };
        holds = json!({ "url": found.url.as_str(), "source": source_name(found.source), "store": store, "key": key });
    }
    if json {
        out::json(&json!({
            "connection": holds,
            "desktop": shown(desktop.as_ref()),
            "saved": shown(saved.as_ref()),
            "keyring": state,
            "notes": notes,
        }));
        return Ok(0);
    }
    match &resolution.resolved {
        None => out::line(&format!("not logged in; log in with `{}`", invocation::command(&["auth", "login", "URL"]))),
        Some(found) => {
            let key = match holds["key"].as_str() {
                Some("present") => "with a key",
                Some("missing") => "the keyring has no key for it: log in again",
                Some("unreachable") => "whose key cannot be reached",
                _ => "without a key",
            };
            out::line(&format!("{} from {}, {key}", found.url, found.source.as_str()));
        }
    }
    match state["reason"].as_str() {
        None => out::line("keyring: available"),
        Some(reason) => out::line(&format!("keyring: {reason}")),
    }
    for note in notes {
        out::note(&format!("note: {note}"));
    }
    Ok(0)
}

/// The source's name in JSON.
fn source_name(source: Source) -> &'static str {
    match source {
        Source::Environment => "environment",
        Source::DotEnv => "dotEnv",
        Source::Desktop => "desktop",
        Source::Saved => "saved",
    }
}

fn logout(profile: &str, folders: &AuthFolders, json: bool) -> Result<u8, Failure> {
    let logins = logins(folders)?;
    let keyring = connection::keyring(profile).with_patience(PATIENCE);
    let removed = secrets::logout(&logins.auth, &keyring).map_err(|error| {
        Failure::from_error(Exit::Environment, &error)
            .hinted("the login is still saved; unlock the keyring and try again")
    })?;
    let (desktop, _, _) = logins.read();
    if json {
        out::json(&json!({ "removed": removed, "desktop": shown(desktop.as_ref()) }));
        return Ok(0);
    }
    out::note(if removed { "logged out; the key is removed" } else { "nobody was logged in here" });
    if let Some(desktop) = desktop {
        out::note(&format!("the window's login to {} stays; it is ended in the window", desktop.url));
    }
    Ok(0)
}
