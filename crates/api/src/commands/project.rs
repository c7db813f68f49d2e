//! One project: what it offers, what is wrong with it, its settings.

use model::{Entrypoint, EntrypointSource, StructureReport};
use project::EnvFile;
use serde_json::{Value, json};
use store::{ALLOW_EXEC, Project, ProjectKind, RunFilter};

use super::projects::{Unended, folder_row, manifest, workflow};
use crate::rows::rows;
use crate::wire::project::{
    EntrypointError, EntrypointRow, EntrypointSourceKind, EnvironmentRow, EnvironmentSource, Finding, Findings, Keep,
    MendFinding, OfProject, ProjectOverview, ProjectSettings, RecentRun, RelationRow, SetProjectSettings, Severity,
};
use crate::{Answer, Api, ApiError};

/// Runs in an entrypoint's strip, and in the project's list.
const STRIP: usize = 20;
const RECENT: usize = 10;
/// Patterns of programs, and bytes of one.
const PATTERNS: usize = 1_000;
const PATTERN_BYTES: usize = 8 * 1024;

/// Where a project's settings have these.
const RETENTION: &str = "retention";
const PROVIDER: &str = "provider";
const NOTIFICATIONS: &str = "notifications";

pub(super) fn project_overview(api: &Api, request: OfProject) -> Answer<ProjectOverview> {
    let project = api.project(&request.project)?;
    let servers = api.servers(&project)?;
    let row = folder_row(api.host.as_ref(), &servers, &Unended::read(&api.store)?)?;
    let first = servers.first().unwrap_or(&project);
    let mut overview = ProjectOverview {
        description: None,
        entrypoints: Vec::new(),
        warnings: Vec::new(),
        findings: Vec::new(),
        board_findings: None,
        relations: Vec::new(),
        clients: Vec::new(),
        recent: Vec::new(),
        project: row,
    };
    let mut recent = Vec::new();
    for server in &servers {
        overview.findings.extend(api.host.findings(server)?);
        let filter = RunFilter { project: Some(server.id.to_string()), ..RunFilter::default() };
        recent.extend(api.store.page_runs(&filter, None, RECENT)?.rows);
        if overview.project.missing {
            continue;
        }
        match server.kind {
            ProjectKind::Workflow => match api.host.structure(server) {
                Ok(report) => of_report(api, server, report, &mut overview)?,
                // What is wrong is among the findings; the history is there all the same.
                Err(error) => overview.warnings.push(error.message),
            },
            ProjectKind::Board => overview.board_findings = super::board::count_findings(api, server),
            _ => match api.host.other_entrypoints(server) {
                Ok(mut entrypoints) => {
                    for entrypoint in &mut entrypoints {
                        entrypoint.recent = strip(api, server, &entrypoint.id)?;
                    }
                    overview.entrypoints.extend(entrypoints);
                }
                Err(error) => overview.warnings.push(error.message),
            },
        }
    }
    // What is broken comes last.
    overview.entrypoints.sort_by_key(|entrypoint| entrypoint.error.is_some());
    recent.sort_by_key(|entry| std::cmp::Reverse(entry.place));
    recent.truncate(RECENT);
    overview.recent = rows(&api.store, &recent)?;
    overview.description = description(first);
    if let Some(workflow) = servers.iter().find(|server| server.kind == ProjectKind::Workflow) {
        overview.relations = relations(api, workflow)?;
    }
    overview.clients = super::dock::states(api, first)?;
    Ok(overview)
}

/// What package.json says in `description`.
fn description(project: &Project) -> Option<String> {
    let text = disk::read_text(&project.path.join("package.json"), model::Limits::PROJECT_FILE_BYTES).ok()?;
    if !model::within_depth(text.as_bytes(), model::Limits::JSON_DEPTH) {
        return None;
    }
    let package: Value = serde_json::from_str(&text).ok()?;
    package.get("description")?.as_str().map(str::to_owned).filter(|text| !text.trim().is_empty())
}

fn strip(api: &Api, project: &Project, entrypoint: &str) -> Answer<Vec<RecentRun>> {
    let Ok(entrypoint) = entrypoint.parse() else { return Ok(Vec::new()) };
    let filter =
        RunFilter { project: Some(project.id.to_string()), entrypoint: Some(entrypoint), ..RunFilter::default() };
    let mut runs = api.store.page_runs(&filter, None, STRIP)?.rows;
    runs.reverse();
    Ok(runs
        .into_iter()
        .map(|entry| RecentRun {
            run_id: entry.summary.run_id.to_string(),
            status: entry.summary.status,
            duration_ms: entry.summary.duration_ms(),
            at: entry.summary.created_at,
        })
        .collect())
}

fn of_report(api: &Api, project: &Project, report: StructureReport, overview: &mut ProjectOverview) -> Answer<()> {
    for entrypoint in report.entrypoints {
        let recent = strip(api, project, entrypoint.id.as_str())?;
        overview.entrypoints.push(entrypoint_row(entrypoint, recent));
    }
    for error in report.errors {
        let recent = strip(api, project, &error.entrypoint)?;
        overview.entrypoints.push(EntrypointRow {
            title: project::words::title_from_id(&error.entrypoint),
            id: error.entrypoint,
            description: None,
            draft: false,
            params: Vec::new(),
            source: EntrypointSourceKind::Script,
            runnable: false,
            file: error.file.clone(),
            read_only: None,
            destructive: None,
            open_world: None,
            recent,
            error: Some(EntrypointError { message: error.message, file: error.file, line: error.line }),
        });
    }
    overview.warnings.extend(report.warnings);
    Ok(())
}

fn entrypoint_row(entrypoint: Entrypoint, recent: Vec<RecentRun>) -> EntrypointRow {
    let (source, file) = match entrypoint.source {
        EntrypointSource::Module { file } => (EntrypointSourceKind::Script, Some(file)),
        EntrypointSource::Script { file } => (EntrypointSourceKind::Orchestration, Some(file)),
        EntrypointSource::Command { .. } => (EntrypointSourceKind::Command, None),
        EntrypointSource::Dynamic => (EntrypointSourceKind::Dynamic, None),
    };
    EntrypointRow {
        id: entrypoint.id.to_string(),
        title: entrypoint.title,
        description: entrypoint.description,
        draft: entrypoint.draft,
        params: entrypoint.params,
        source,
        runnable: true,
        file,
        read_only: entrypoint.annotations.read_only,
        destructive: entrypoint.annotations.destructive,
        open_world: entrypoint.annotations.open_world,
        recent,
        error: None,
    }
}

fn relations(api: &Api, ours: &Project) -> Answer<Vec<RelationRow>> {
    let Ok(here) = manifest(ours) else { return Ok(Vec::new()) };
    let confirmed = api.store.relations(&ours.id)?;
    let mut found = Vec::new();
    for declared in &here.related_projects {
        let other = api.store.project(&declared.uuid).ok().filter(|other| !other.removed);
        let relation = confirmed.iter().find(|relation| relation.alias == declared.alias);
        let there = match &other {
            Some(other) => api.store.relations(&other.id)?.iter().any(|back| back.other == ours.id),
            None => false,
        };
        found.push(RelationRow {
            alias: declared.alias.clone(),
            other: other.as_ref().map(|other| other.id.to_string()),
            other_title: other.as_ref().map(|other| other.title.clone()),
            path: other.as_ref().map(|other| other.path.to_string_lossy().into_owned()),
            here: relation.is_some(),
            there,
        });
    }
    Ok(found)
}

pub(super) fn mend_finding(api: &Api, request: MendFinding) -> Answer<Findings> {
    let project = api.project(&request.project)?;
    let mut findings: Vec<Finding> = Vec::new();
    let servers = api.servers(&project)?;
    let owner = {
        let mut owner = None;
        for server in &servers {
            if api.host.findings(server)?.iter().any(|finding| finding.id == request.finding) {
                owner = Some(server);
                break;
            }
        }
        owner.ok_or_else(|| ApiError::not_found(format!("there is no finding `{}` any more", request.finding)))?
    };
    api.host.mend(owner, &request.finding)?;
    for server in &servers {
        findings.extend(api.host.findings(server)?);
    }
    findings.sort_by_key(|finding| match finding.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    });
    Ok(Findings { findings })
}

pub(super) fn project_settings(api: &Api, request: OfProject) -> Answer<ProjectSettings> {
    let project = api.project(&request.project)?;
    settings_of(api, &project)
}

fn settings_of(api: &Api, project: &Project) -> Answer<ProjectSettings> {
    let text = |name: &str| project.settings.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(ProjectSettings {
        retention: api.host.keep(Some(project), api.settings()?.retention),
        allow_exec: project.allow_exec(),
        provider: text(PROVIDER),
        environment: environment(api, project),
        notifications: project.settings.get(NOTIFICATIONS).and_then(Value::as_bool).unwrap_or(true),
    })
}

/// The variables that a project names: its secrets, and those of its `.env`. No values.
fn environment(api: &Api, project: &Project) -> Vec<EnvironmentRow> {
    let file = EnvFile::read(&project.path).unwrap_or_default();
    let mut names: Vec<String> = manifest(project).map(|manifest| manifest.secrets).unwrap_or_default();
    names.extend(file.names().map(str::to_owned));
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
        .into_iter()
        .map(|name| {
            let source = if api.host.has_variable(&name) {
                EnvironmentSource::Process
            } else if file.get(&name).is_some_and(|value| !value.is_empty()) {
                EnvironmentSource::DotEnv
            } else {
                EnvironmentSource::Missing
            };
            EnvironmentRow { name, set: source != EnvironmentSource::Missing, source }
        })
        .collect()
}

/// Writes limits so that what is absent is no limit, whatever the default is.
pub(super) fn keep_json(keep: Keep) -> Answer<Value> {
    for (name, value) in [("days", keep.days), ("runs", keep.runs), ("megabytes", keep.megabytes)] {
        if value == Some(0) {
            return Err(ApiError::invalid(format!("`retention.{name}` is a whole number from 1, or absent")));
        }
    }
    Ok(json!({ "days": keep.days, "runs": keep.runs, "megabytes": keep.megabytes }))
}

/// Refuses patterns that nobody can have meant.
pub(super) fn check_patterns(patterns: &[String]) -> Answer<()> {
    if patterns.len() > PATTERNS {
        return Err(ApiError::invalid(format!("at most {PATTERNS} programs can be allowed, not {}", patterns.len())));
    }
    match patterns.iter().find(|pattern| pattern.trim().is_empty() || pattern.len() > PATTERN_BYTES) {
        Some(_) => Err(ApiError::invalid(format!("a pattern has 1 to {PATTERN_BYTES} bytes, and not only blanks"))),
        None => Ok(()),
    }
}

pub(super) fn set_project_settings(api: &Api, request: SetProjectSettings) -> Answer<ProjectSettings> {
    let project = api.project(&request.project)?;
    let mut changes: Vec<(String, Option<Value>)> = Vec::new();
    if let Some(keep) = request.retention {
        changes.push((RETENTION.to_owned(), Some(keep_json(keep)?)));
    }
    if let Some(patterns) = request.allow_exec {
        check_patterns(&patterns)?;
        changes.push((ALLOW_EXEC.to_owned(), (!patterns.is_empty()).then(|| json!(patterns))));
    }
    if let Some(provider) = request.provider {
        changes.push((PROVIDER.to_owned(), provider.filter(|name| !name.is_empty()).map(Value::from)));
    }
    if let Some(notifications) = request.notifications {
        changes.push((NOTIFICATIONS.to_owned(), (!notifications).then_some(Value::Bool(false))));
    }
    // A folder's settings are one set, whatever it is registered as.
    for server in api.servers(&project)? {
        api.store.set_settings(&server.id, &changes)?;
    }
    settings_of(api, &api.project(&request.project)?)
}

/// Adds exactly one command to those that a project's runs may start unasked.
pub(super) fn allow_command(api: &Api, project: &str, approval: &model::Approval) -> Answer<()> {
    let project = workflow(api, project)?;
    let mut patterns = project.allow_exec();
    let pattern = exact_pattern(approval);
    if !patterns.contains(&pattern) {
        patterns.push(pattern);
        check_patterns(&patterns)?;
        api.store.set_settings(&project.id, &[(ALLOW_EXEC.to_owned(), Some(json!(patterns)))])?;
    }
    Ok(())
}

/// The pattern of one command and no other: its words with blanks between them, or, where that could mean more, a JSON
/// list.
pub(crate) fn exact_pattern(approval: &model::Approval) -> String {
    let mut words = vec![approval.program.clone()];
    words.extend(approval.args.iter().cloned());
    let plain = words.iter().all(|word| !word.is_empty() && !word.contains('*') && !word.contains(char::is_whitespace));
    if plain && !words.first().is_some_and(|first| first.starts_with('[')) {
        words.join(" ")
    } else {
        json!(words).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_for_one_command_only() {
        let approval = |program: &str, args: &[&str]| model::Approval {
            program: program.into(),
            args: args.iter().map(|&arg| arg.into()).collect(),
            folder: "/".into(),
            env: Vec::new(),
            stdin_bytes: None,
            may_have_happened: false,
        };
        assert_eq!(exact_pattern(&approval("git", &["status", "-s"])), "git status -s");
        assert_eq!(exact_pattern(&approval("git", &["add", "*"])), r#"["git","add","*"]"#);
        assert_eq!(
            exact_pattern(&approval("git", &["commit", "-m", "two words"])),
            r#"["git","commit","-m","two words"]"#
        );
        assert_eq!(exact_pattern(&approval("rm", &[""])), r#"["rm",""]"#);
    }
}
