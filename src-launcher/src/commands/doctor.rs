//! `workflow-code doctor`: looks at the installation and the registered projects, and says how to mend what is wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clients::{Drift, Ledger, LedgerEntry};
use model::{EntrypointSource, HistoryPlace, StructureReport};
use project::{EnvFile, Manifest};
use serde_json::json;
use store::{Create, Project, ProjectKind, Store, StoreError};

use crate::cli::Doctor;
use crate::failure::{Exit, Failure, with_causes};
use crate::profile::{self, Missing, Profile};
use crate::{env_vars, invocation, open, out};

/// Less room than this on the disk of the history is worth a word: 200 MB.
const ROOM: u64 = 200 * 1024 * 1024;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Something does not work.
    Error,
    /// Something will trouble somebody.
    Warning,
}

/// Something that is wrong, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Finding {
    /// Stable name of the check.
    pub(crate) check: &'static str,
    pub(crate) level: Level,
    /// The project it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    pub(crate) message: String,
    pub(crate) fix: String,
}

/// What was looked at, and what was found.
#[derive(Default)]
struct Examination {
    looked_at: Vec<String>,
    findings: Vec<Finding>,
    project: Option<String>,
}

impl Examination {
    fn find(&mut self, check: &'static str, level: Level, message: impl Into<String>, fix: impl Into<String>) {
        let project = self.project.clone();
        self.findings.push(Finding { check, level, project, message: message.into(), fix: fix.into() });
    }

    fn error(&mut self, check: &'static str, message: impl Into<String>, fix: impl Into<String>) {
        self.find(check, Level::Error, message, fix);
    }

    fn warning(&mut self, check: &'static str, message: impl Into<String>, fix: impl Into<String>) {
        self.find(check, Level::Warning, message, fix);
    }

    fn looked(&mut self, what: impl Into<String>) {
        self.looked_at.push(what.into());
    }
}

/// Makes a structure report.
pub(crate) type Report<'a> = &'a dyn Fn(&Manifest) -> Result<StructureReport, Failure>;

/// Examines one project, and what all projects of its profile stand on.
pub(crate) fn examine(
    profile: &Profile,
    store: &Store,
    project: &Project,
    report: Report<'_>,
) -> Result<Vec<Finding>, Failure> {
    let mut examination = Examination::default();
    home(&mut examination)?;
    data_folder(&mut examination, profile);
    if open_to_others(&profile.database()) {
        database_is_open(&mut examination, profile);
    }
    one_project(&mut examination, store, project, report)?;
    Ok(examination.findings)
}

pub(crate) fn run(options: &Doctor, profile: Option<&str>) -> Result<u8, Failure> {
    let mut examination = Examination::default();
    examination.looked(format!("workflow-code {}, {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS));
    let name = profile::name(profile)?;
    let opened = match profile::existing(profile) {
        // A project that is asked for must be somewhere.
        _ if options.project.is_some() => Some(profile::open(profile, Missing::Refuse)?),
        Ok(None) => {
            examination.looked(format!("profile `{name}`: nothing is registered yet"));
            None
        }
        Ok(Some(profile)) => Some(profile),
        Err(failure) => {
            examination.error("profile", failure.message, failure.hint.unwrap_or_default());
            None
        }
    };
    home(&mut examination)?;
    clients_of(&mut examination)?;
    if let Some(profile) = opened {
        examination.looked(format!("profile `{}`: `{}`", profile.name, profile.data_dir.display()));
        data_folder(&mut examination, &profile);
        let store = open::registry(&profile, Create::Never);
        if database(&mut examination, &profile, &store) {
            projects(&mut examination, &store, options.project.as_deref())?;
        }
    }
    report(&examination, options.json);
    let broken = examination.findings.iter().any(|finding| finding.level == Level::Error);
    Ok(if broken { Exit::Environment as u8 } else { 0 })
}

fn report(examination: &Examination, json: bool) {
    if json {
        out::json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "lookedAt": examination.looked_at,
            "findings": examination.findings,
        }));
        return;
    }
    for what in &examination.looked_at {
        out::line(&format!("· {what}"));
    }
    for finding in &examination.findings {
        let level = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        let of = finding.project.as_ref().map(|project| format!(" ({project})")).unwrap_or_default();
        out::line(&format!("{level}{of}: {}\n  fix: {}", finding.message, finding.fix));
    }
    match examination.findings.len() {
        0 => out::line("nothing is wrong"),
        1 => out::line("1 finding"),
        many => out::line(&format!("{many} findings")),
    }
}

/// The folder of local workflow data.
fn home(examination: &mut Examination) -> Result<(), Failure> {
    let home = profile::workflow_home()?;
    if !home.exists() {
        return Ok(());
    }
    if !writable(&home) {
        examination.error(
            "home-read-only",
            format!("`{}` cannot be written, so calls cannot be recorded", home.display()),
            "make it writable for you: `chmod u+rwx` and, if it is not yours, `chown`",
        );
    }
    let file = home.join("desktop.json");
    if open_to_others(&file) {
        examination.warning(
            "profile-permissions",
            format!("`{}` can be read by others", file.display()),
            chmod("600", &file),
        );
    }
    let auth = home.join("workflow-auth.json");
    if open_to_others(&auth) {
        examination.error(
            "auth-permissions",
            format!("`{}` can be read by others and may hold a key", auth.display()),
            format!("{}, and change the key if others have been on this machine", chmod("600", &auth)),
        );
    }
    Ok(())
}

/// The command that closes a file or folder to others.
fn chmod(mode: &str, path: &Path) -> String {
    format!("`{}`", model::command_line(["chmod", mode, &path.to_string_lossy()]))
}

fn open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.permissions().mode() & 0o077 != 0)
}

/// Tries it: permissions alone do not tell (read-only drives, quotas).
fn writable(folder: &Path) -> bool {
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let written = fs::File::options().write(true).create_new(true).open(&probe).is_ok();
    let _ = fs::remove_file(&probe);
    written
}

/// What we wrote into clients' files.
fn clients_of(examination: &mut Examination) -> Result<(), Failure> {
    let path = profile::workflow_home()?.join("clients.json");
    let entries = match Ledger::at(&path).entries() {
        Ok(entries) => entries,
        Err(error) => {
            examination.warning(
                "client-ledger",
                with_causes(&error),
                format!("remove `{}`; what clients' files hold is not touched by that", path.display()),
            );
            return Ok(());
        }
    };
    for entry in entries {
        let place = format!("`{}` in `{}` ({})", entry.key, entry.file.display(), entry.client);
        match clients::drift(&entry) {
            Drift::Same => examination.looked(format!("configuration {place}")),
            Drift::Changed => examination.warning(
                "client-changed",
                format!("the configuration {place} is not what was written"),
                format!("{} writes it again", writing(&entry)),
            ),
            Drift::Missing => examination.warning(
                "client-missing",
                format!("the configuration {place} is gone"),
                format!("{} writes it again", writing(&entry)),
            ),
            Drift::Unreadable(error) => examination.error(
                "client-unreadable",
                format!("the configuration {place} cannot be read: {}", with_causes(&error)),
                "mend the file by hand, or put its backup back",
            ),
        }
    }
    Ok(())
}

/// The command that writes an entry of a client's file again, for the server that it was written for.
fn writing(entry: &LedgerEntry) -> String {
    let args: Vec<&str> = entry.args.iter().map(String::as_str).collect();
    let (target, profile) = match args.as_slice() {
        ["--workflow-mcp", id, "--profile", profile] => (*id, *profile),
        ["--workflow-mcp", id] => (*id, HistoryPlace::USUAL_PROFILE),
        ["mcp", folder] => (*folder, HistoryPlace::USUAL_PROFILE),
        // An older build did not keep it. The usual key has the project's id in it.
        _ => (entry.key.strip_prefix("workflow-").unwrap_or("PROJECT_ID"), HistoryPlace::USUAL_PROFILE),
    };
    let place = HistoryPlace::Profile(profile.to_owned());
    let words = ["config", target, "--client", &entry.client, "--key", &entry.key, "--write"];
    format!("`{}`", place.command(&words))
}

fn data_folder(examination: &mut Examination, profile: &Profile) {
    let folder = &profile.data_dir;
    if !folder.is_dir() {
        examination.error(
            "data-folder-missing",
            format!("the data folder `{}` does not exist", folder.display()),
            format!(
                "put it back from a backup, or make it; `{}` begins a new registry in it",
                invocation::command(&["projects", "add", "DIR"])
            ),
        );
        return;
    }
    if !writable(folder) {
        examination.error(
            "data-folder-read-only",
            format!("the data folder `{}` cannot be written", folder.display()),
            "make it writable for you: `chmod u+rwx` and, if it is not yours, `chown`",
        );
    }
    if open_to_others(folder) {
        examination.warning(
            "data-folder-permissions",
            format!("the data folder `{}` can be looked into by others", folder.display()),
            chmod("700", folder),
        );
    }
    if let Ok(room) = rustix::fs::statvfs(folder)
        && room.f_bavail.saturating_mul(room.f_frsize) < ROOM
    {
        examination.warning(
            "disk-space",
            format!("less than {} MB are free where the history is", ROOM / 1024 / 1024),
            "make room; calls cannot be recorded on a full disk",
        );
    }
}

/// Looks at the database; tells whether the projects in it can be looked at.
fn database(examination: &mut Examination, profile: &Profile, store: &Store) -> bool {
    // Also as whoever records: a database may be readable, and closed to what this build would write.
    match store.check().and_then(|()| store.check_writable()) {
        Ok(()) => {}
        Err(StoreError::Missing { .. }) => {
            examination.error(
                "database-missing",
                format!("there is no database `{}`", profile.database().display()),
                format!(
                    "put it back from a backup; `{}` begins a new one",
                    invocation::command(&["projects", "add", "DIR"])
                ),
            );
            return false;
        }
        Err(error) => {
            let check = match &error {
                StoreError::TooNew { .. } => "database-too-new",
                StoreError::NotADatabase { .. } | StoreError::Foreign { .. } => "database-foreign",
                StoreError::Corrupt { .. } | StoreError::Damaged { .. } => "database-damaged",
                StoreError::Locked { .. } => "database-locked",
                _ => "database-unusable",
            };
            let failure = open::store_failure(&error);
            examination.error(check, failure.message, failure.hint.unwrap_or_default());
            return false;
        }
    }
    if open_to_others(&profile.database()) {
        database_is_open(examination, profile);
    }
    match store.mark_interrupted() {
        Ok(interrupted) if interrupted.is_empty() => {}
        Ok(interrupted) => examination
            .looked(format!("{} runs had lost their process and are marked as interrupted", interrupted.len())),
        Err(error) => {
            let failure = open::store_failure(&error);
            examination.error("database-unusable", failure.message, failure.hint.unwrap_or_default());
        }
    }
    true
}

fn database_is_open(examination: &mut Examination, profile: &Profile) {
    examination.warning(
        "database-permissions",
        format!("`{}` can be read by others", profile.database().display()),
        chmod("600", &profile.database()),
    );
}

fn projects(examination: &mut Examination, store: &Store, only: Option<&str>) -> Result<(), Failure> {
    let all = match only {
        Some(id) => vec![store.project(id).map_err(|error| open::store_failure(&error))?],
        None => store.projects().map_err(|error| open::store_failure(&error))?,
    };
    for project in all {
        examination.project = Some(project.id.to_string());
        examination.looked(format!("project {} `{}` ({})", project.id, project.title, project.kind.as_str()));
        one_project(examination, store, &project, &super::structure::report)?;
    }
    examination.project = None;
    Ok(())
}

fn one_project(
    examination: &mut Examination,
    store: &Store,
    project: &Project,
    report: Report<'_>,
) -> Result<(), Failure> {
    let path = &project.path;
    if !path.is_dir() {
        examination.error(
            "project-folder-missing",
            format!("the folder `{}` is gone", path.display()),
            format!(
                "if it was moved, register its new place: `{}`; else `{}`",
                invocation::command(&["projects", "add", "DIR"]),
                invocation::command(&["projects", "remove", project.id.as_str()])
            ),
        );
        return Ok(());
    }
    if project.kind == ProjectKind::Board
        && let Err(error) = ::board::Workspace::open(Some(path), path, false)
    {
        examination.error(
            "project-board",
            format!("{}: {error}", error.code),
            format!("see `{}`", invocation::command(&["board", "doctor", "--root", &path.to_string_lossy()])),
        );
    }
    if project.kind != ProjectKind::Workflow {
        return Ok(());
    }
    let manifest = match Manifest::read(path) {
        Ok(manifest) => manifest,
        Err(error) => {
            examination.error("project-manifest", with_causes(&error), error.next_step());
            return Ok(());
        }
    };
    if project.uuid.as_ref() != Some(&manifest.uuid) {
        examination.error(
            "project-id-changed",
            format!(
                "`id` in package.json is {}, and the registry knows {}",
                manifest.uuid,
                project.uuid.as_deref().unwrap_or("none")
            ),
            "an id never changes: put the old one back, or remove and add the project",
        );
    }
    environment_file(examination, path);
    let report = report(&manifest)?;
    structure(examination, &manifest, &report);
    related(examination, store, project, &manifest);
    Ok(())
}

fn environment_file(examination: &mut Examination, root: &Path) {
    let path = root.join(".env");
    match EnvFile::read(root) {
        Ok(file) => {
            for warning in file.warnings() {
                examination.warning(
                    "env-syntax",
                    format!("`{}`: {warning}", path.display()),
                    "mend the line, as NAME=VALUE",
                );
            }
            let secret = file.names().any(project::is_secret_looking);
            if secret && open_to_others(&path) {
                examination.warning(
                    "env-permissions",
                    format!("`{}` holds secrets and can be read by others", path.display()),
                    chmod("600", &path),
                );
            }
        }
        Err(error) if error.is_not_found() => {}
        Err(error) => {
            examination.error("env-unreadable", with_causes(&error), "make it a readable text file, or remove it");
        }
    }
}

fn structure(examination: &mut Examination, manifest: &Manifest, report: &StructureReport) {
    for error in &report.errors {
        let place = match (&error.file, error.line) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            (Some(file), None) => format!(" ({file})"),
            (None, _) => String::new(),
        };
        examination.error(
            "entrypoint-broken",
            format!("entrypoint `{}`{place}: {}", error.entrypoint, error.message),
            "mend it, and reconnect the clients; the other entrypoints are served meanwhile",
        );
    }
    for warning in &report.warnings {
        examination.warning("project-warning", warning.clone(), "mend it in the project's files");
    }
    let served: Vec<_> = report.entrypoints.iter().filter(|entrypoint| !entrypoint.draft).collect();
    if served.is_empty() {
        examination.error(
            "no-entrypoints",
            crate::workflow_server::nothing_to_serve(report, &manifest.root),
            format!("mend one in `{}`, or add one", manifest.root.display()),
        );
    }
    let names: Vec<&str> = served.iter().map(|entrypoint| entrypoint.id.as_str()).collect();
    examination.looked(format!("tools: {}", if names.is_empty() { "none".to_owned() } else { names.join(", ") }));
    let (key, short) = (clients::default_key(&manifest.uuid), clients::short_key(&manifest.name, &[]));
    for client in clients::clients() {
        if let Some(lost) = super::config::lost_tools(client, &key, &names) {
            examination.looked(format!("{lost}: use `config --key {short}`"));
        }
    }
    for entrypoint in &report.entrypoints {
        if let EntrypointSource::Command { argv } = &entrypoint.source
            && let Some(program) = argv.first()
            && find_program(program, &manifest.root).is_none()
        {
            examination.error(
                "program-missing",
                format!("entrypoint `{}` starts `{program}`, {}", entrypoint.id, not_found(program)),
                how_to_find(program),
            );
        }
    }
}

/// Why a program is not found. One that is named with a folder is looked for there and nowhere else.
fn not_found(program: &str) -> &'static str {
    if program.contains('/') { "which is no file that may be run" } else { "which is not on the PATH" }
}

fn how_to_find(program: &str) -> &'static str {
    if program.contains('/') {
        "put it there and make it executable; a relative path counts from the project's folder"
    } else {
        "install it, or write its absolute path into `command`; clients may start us with a shorter PATH"
    }
}

/// Looks a program up as the system does when it is started.
fn find_program(program: &str, root: &Path) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(root.join(program)).filter(runs);
    }
    let path = env_vars::get("PATH").unwrap_or_default();
    path.split(':').map(|folder| Path::new(folder).join(program)).find(runs)
}

fn related(examination: &mut Examination, store: &Store, project: &Project, manifest: &Manifest) {
    let relations = store.relations(&project.id).unwrap_or_default();
    for declared in &manifest.related_projects {
        let confirmed = relations.iter().any(|relation| relation.alias == declared.alias && relation.both);
        if !confirmed {
            examination.warning(
                "related-unconfirmed",
                format!("the related project `{}` is not confirmed on both sides", declared.alias),
                format!(
                    "`{}`",
                    invocation::command(&[
                        "projects",
                        "relate",
                        project.id.as_str(),
                        &declared.alias,
                        "OTHER",
                        "--both"
                    ])
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_the_same_for_programs() {
        let mut examination = Examination::default();
        examination.warning("disk-space", "little room", "make room");
        let value = serde_json::to_value(&examination.findings).expect("JSON");
        assert_eq!(
            value,
            json!([{ "check": "disk-space", "level": "warning", "message": "little room", "fix": "make room" }])
        );
    }
}
