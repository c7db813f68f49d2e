//! `workflow-code runs`: the history from the terminal.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{CancelReason, Clock as _, RunId, RunStatus, SystemClock, format_timestamp};
use serde_json::{Value, json};
use store::{CancelOutcome, Create, LogStream, RunFilter, RunRecord, RunSummary, Store, StoreError, StoreOptions};

use super::resume::{Answer, resume, retry};
use crate::cli::{History, Runs};
use crate::failure::{Exit, Failure, with_causes};
use crate::installation::Installation;
use crate::profile;
use crate::retention::{self, Keep};
use crate::{invocation, open, out, run_json};

/// How often a run that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// How many log entries are read at once.
const LOG_PAGE: usize = 10_000;

pub(crate) fn run(command: &Runs, profile: Option<&str>) -> Result<u8, Failure> {
    match command {
        Runs::List { project, status, limit, before, history } => {
            let page = Page { text: None, project, status, limit: *limit, before };
            list(history, profile, &page)
        }
        Runs::Search { text, project, status, limit, before, history } => {
            let page = Page { text: Some(text.join(" ")), project, status, limit: *limit, before };
            list(history, profile, &page)
        }
        Runs::Prune { older_than, keep, max_size, project, dry_run, history } => {
            let given = Keep { days: *older_than, runs: *keep, megabytes: *max_size };
            prune(history, profile, project.as_deref(), given, *dry_run)
        }
        Runs::Pin { run, history } => pin(history, profile, run, true),
        Runs::Unpin { run, history } => pin(history, profile, run, false),
        Runs::Show { run, history } => show(history, profile, run),
        Runs::Logs { run, stream, follow, history } => logs(history, profile, run, stream.as_deref(), *follow),
        Runs::Wait { run, timeout, history } => wait(history, profile, run, *timeout),
        Runs::Cancel { run, history } => cancel(history, profile, run),
        Runs::Resume { run, answer_json, approve, deny, question, restart, project_dir, history } => {
            let began = SystemClock.now();
            let (store, run) = find(history, profile, run)?;
            let answer = Answer {
                json: answer_json.as_deref(),
                approve: *approve,
                deny: *deny,
                restart: *restart,
                question: *question,
                began,
                project_dir: project_dir.as_deref(),
            };
            resume(sealing(store)?, &run, &answer)
        }
        Runs::Retry { run, agent, history } => {
            let (store, run) = find(history, profile, run)?;
            retry(sealing(store)?, &run, *agent)
        }
        Runs::Export { run, output, history } => export(history, profile, run, output.as_deref()),
    }
}

/// Opens the history that was asked for, and marks runs whose process is gone. `None`: there is none yet.
fn open_history(history: &History, profile: Option<&str>) -> Result<Option<Store>, Failure> {
    let store = match &history.data_dir {
        Some(dir) if !dir.is_absolute() => {
            return Err(Failure::usage(format!("`--data-dir` must be an absolute path, not `{}`", dir.display())));
        }
        Some(dir) => {
            Store::new(dir.join("history.db"), StoreOptions { create: Create::Never, ..StoreOptions::default() })
        }
        // Nothing was ever registered, so nothing was recorded.
        None => match profile::existing(profile)? {
            Some(profile) => open::registry(&profile, Create::Never),
            None => return Ok(None),
        },
    };
    if !store.path().exists() {
        return Ok(None);
    }
    retention::tend(&store).map_err(|error| open::store_failure(&error))?;
    Ok(Some(store))
}

/// Finds one run.
fn find(history: &History, profile: Option<&str>, run: &str) -> Result<(Store, RunId), Failure> {
    let id: RunId = run.parse().map_err(|error: model::IdError| Failure::usage(error.to_string()))?;
    let store = open_history(history, profile)?.ok_or_else(|| no_such_run(&id))?;
    Ok((store, id))
}

pub(crate) fn no_such_run(run: &RunId) -> Failure {
    Failure::environment(format!("there is no run {run} in this history")).hinted(found_with(&["runs", "list"]))
}

/// Where what was not found may be.
fn found_with(list: &[&str]) -> String {
    format!("see `{}`; runs of `mcp DIR` and `run DIR` are found with `--data-dir DIR`", invocation::command(list))
}

pub(crate) fn record(store: &Store, run: &RunId) -> Result<RunRecord, Failure> {
    store.show(run).map_err(|error| match error {
        StoreError::NoSuchRun { .. } => no_such_run(run),
        error => open::store_failure(&error),
    })
}

/// Which runs are listed.
struct Page<'a> {
    /// Words that must stand in them.
    text: Option<String>,
    project: &'a Option<String>,
    status: &'a Option<String>,
    limit: u32,
    before: &'a Option<String>,
}

/// A project may be named by its UUID as well; one that is not registered any more has its runs under the name given, and
/// without any it is not known.
fn project_of(store: &Store, name: &str) -> Result<String, Failure> {
    match store.project(name) {
        Ok(found) => Ok(found.id.to_string()),
        Err(StoreError::NoSuchProject { .. }) => {
            let filter = RunFilter { project: Some(name.to_owned()), ..RunFilter::default() };
            match store.list_runs(&filter, None, 1).map_err(|error| open::store_failure(&error))?.is_empty() {
                true => Err(no_such_project(name)),
                false => Ok(name.to_owned()),
            }
        }
        Err(error) => Err(open::store_failure(&error)),
    }
}

fn no_such_project(name: &str) -> Failure {
    Failure::environment(format!("there is no project `{name}`, and no run of one"))
        .hinted(found_with(&["projects", "list"]))
}

fn list(history: &History, profile: Option<&str>, page: &Page<'_>) -> Result<u8, Failure> {
    let status = page
        .status
        .as_deref()
        .map(|status| {
            RunStatus::parse(status).ok_or_else(|| {
                let all: Vec<&str> = RunStatus::ALL.iter().map(|status| status.as_str()).collect();
                Failure::usage(format!("`--status {status}`: it is one of {}", all.join(", ")))
            })
        })
        .transpose()?;
    let before: Option<RunId> = page
        .before
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|error: model::IdError| Failure::usage(error.to_string()))?;
    let runs = match (open_history(history, profile)?, page.project) {
        (None, None) => Vec::new(),
        (None, Some(name)) => return Err(no_such_project(name)),
        (Some(store), _) => {
            let project = page.project.as_deref().map(|name| project_of(&store, name)).transpose()?;
            let filter = RunFilter { project, status, ..RunFilter::default() };
            let limit = page.limit as usize;
            let found = match &page.text {
                Some(text) => store.search_runs(text, &filter, before.as_ref(), limit),
                None => store.list_runs(&filter, before.as_ref(), limit),
            };
            found.map_err(|error| match error {
                StoreError::NoSuchRun { run } => no_such_run(&run),
                error => open::store_failure(&error),
            })?
        }
    };
    if history.json {
        out::json(&Value::Array(runs.iter().map(RunSummary::to_json).collect()));
    } else if runs.is_empty() {
        out::note("no runs");
    } else {
        for run in &runs {
            out::line(&row(run));
        }
    }
    Ok(0)
}

fn prune(
    history: &History,
    profile: Option<&str>,
    project: Option<&str>,
    given: Keep,
    dry_run: bool,
) -> Result<u8, Failure> {
    let mut pruned = store::Pruned { complete: true, ..store::Pruned::default() };
    if let Some(store) = open_history(history, profile)? {
        let failed = |error: StoreError| open::store_failure(&error);
        let project = project.map(|name| project_of(&store, name)).transpose()?;
        let given = (!given.is_unlimited()).then_some(given);
        let plans = retention::plans(&store, project.as_deref(), given).map_err(failed)?;
        pruned = match dry_run {
            true => retention::would_prune(&store, &plans).map_err(failed)?,
            false => retention::prune(&store, &plans).map_err(failed)?,
        };
    }
    if history.json {
        out::json(&json!({ "runs": pruned.runs, "bytes": pruned.bytes, "dryRun": dry_run }));
    } else {
        let said = if dry_run { "would be deleted" } else { "deleted" };
        out::note(&format!("{} runs with {} KiB {said}", pruned.runs, pruned.bytes.div_ceil(1024)));
    }
    Ok(0)
}

fn pin(history: &History, profile: Option<&str>, run: &str, pinned: bool) -> Result<u8, Failure> {
    let (store, run) = find(history, profile, run)?;
    store.pin(&run, pinned).map_err(|error| match error {
        StoreError::NoSuchRun { .. } => no_such_run(&run),
        error => open::store_failure(&error),
    })?;
    if history.json {
        out::json(&json!({ "runId": run, "pinned": pinned }));
    } else {
        out::note(&format!("run {run} is {}", if pinned { "kept, whatever is pruned" } else { "no longer pinned" }));
    }
    Ok(0)
}

fn row(run: &RunSummary) -> String {
    let took = run.duration_ms().map_or_else(|| "-".to_owned(), duration);
    format!(
        "{}  {:<17}  {:>8}  {}  {}",
        run.run_id,
        run.status.as_str(),
        took,
        format_timestamp(run.started_at.unwrap_or(run.created_at)),
        out::one_line(&run.entrypoint_title)
    )
}

fn duration(milliseconds: i64) -> String {
    match milliseconds {
        0..=9_999 => format!("{milliseconds} ms"),
        10_000..=599_999 => format!("{} s", milliseconds / 1_000),
        _ => format!("{} min", milliseconds / 60_000),
    }
}

fn texts(store: &Store, run: &RunId) -> Result<(String, String), Failure> {
    let text = |stream| store.log_text(run, stream).map_err(|error| open::store_failure(&error));
    Ok((text(LogStream::Stdout)?, text(LogStream::Stderr)?))
}

fn show(history: &History, profile: Option<&str>, run: &str) -> Result<u8, Failure> {
    let (store, run) = find(history, profile, run)?;
    let record = record(&store, &run)?;
    let (stdout, stderr) = texts(&store, &run)?;
    let value = record.to_json(&stdout, &stderr);
    if history.json {
        out::json(&value);
        return Ok(0);
    }
    out::line(&row(&record.summary));
    out::line(&format!("project     {} ({})", out::one_line(&record.project_title), record.project_path.display()));
    out::line(&format!("origin      {}", record.summary.origin.as_str()));
    if let Some(client) = &record.client {
        out::line(&format!("client      {} {} ({})", client.name, client.version, client.protocol));
    }
    out::line(&format!("input       {}", record.input));
    for node in &record.report.nodes {
        let status = serde_json::to_value(node.status).unwrap_or_default();
        let agent =
            node.detail.as_ref().filter(|_| node.kind == model::NodeKind::Agent).map(agent_line).unwrap_or_default();
        out::line(&format!("· {:<9} {}{agent}", status.as_str().unwrap_or_default(), out::one_line(&node.title)));
    }
    for question in &record.questions {
        let state = match &question.answer {
            Some(answer) => format!("{} by {}", answer.action.as_str(), answer.by),
            None if record.summary.status.is_final() => "not answered".to_owned(),
            None => "open".to_owned(),
        };
        out::line(&format!("question {:<2} {} ({state})", question.number, out::one_line(&question.form.title)));
    }
    let (agents, _) = model::AgentUsage::sum(&record.report.nodes);
    if agents.agents > 0 {
        out::line(&format!(
            "agents      {}, {} failed; {} tokens read, {} written",
            agents.agents, agents.failed, agents.input_tokens, agents.output_tokens
        ));
    }
    if let Some(output) = &record.report.output {
        out::line(&format!("output      {output:#}"));
    }
    if let Some(error) = &record.report.error {
        out::line(&format!("error       {}: {}", error.code.as_str(), error.message));
        if let Some(cause) = &error.cause {
            out::line(cause);
        }
    }
    for (name, text) in [("stdout", stdout), ("stderr", stderr)] {
        if !text.is_empty() {
            out::line(&format!(
                "{name}, {} lines: `{}`",
                text.lines().count(),
                invocation::command(&["runs", "logs", run.as_str(), "--stream", name])
            ));
        }
    }
    Ok(0)
}

/// What a line says of an agent beside its label: its number, who it was, and why it failed.
fn agent_line(detail: &Value) -> String {
    let text = |key: &str| detail.get(key).and_then(Value::as_str);
    let mut line = String::from("  [");
    line.push_str(&detail.get("seq").map_or_else(|| "?".to_owned(), Value::to_string));
    for part in [text("provider"), text("model")].into_iter().flatten() {
        line.push_str(", ");
        line.push_str(part);
    }
    if let Some(tokens) = detail.get("outputTokens") {
        line.push_str(&format!(", {tokens} tokens"));
    }
    line.push(']');
    if let Some(reason) = text("reason").and_then(|reason| reason.lines().next()) {
        line.push_str(&format!(" {reason}"));
    }
    line
}

fn logs(
    history: &History,
    profile: Option<&str>,
    run: &str,
    stream: Option<&str>,
    follow: bool,
) -> Result<u8, Failure> {
    let stream = match stream {
        None => None,
        Some("stdout") => Some(LogStream::Stdout),
        Some("stderr") => Some(LogStream::Stderr),
        Some(other) => return Err(Failure::usage(format!("`--stream {other}`: it is `stdout` or `stderr`"))),
    };
    let (store, run) = find(history, profile, run)?;
    let mut from = 0;
    loop {
        // Looked at before the lines: what is written until the end is read in the next round.
        let ended = record(&store, &run)?.summary.status;
        let page = store.log_page(&run, from, LOG_PAGE, stream).map_err(|error| open::store_failure(&error))?;
        for entry in &page.entries {
            if history.json {
                out::json_line(
                    &json!({ "at": format_timestamp(entry.at), "stream": stream_name(entry.stream), "text": entry.text }),
                );
            } else {
                out::written(&entry.text);
            }
        }
        if out::is_over() {
            return Ok(0);
        }
        from = page.next;
        if from < page.end {
            continue;
        }
        if !follow || ended.is_final() || ended == RunStatus::Interrupted {
            return Ok(0);
        }
        std::thread::sleep(LOOK);
    }
}

fn stream_name(stream: LogStream) -> &'static str {
    match stream {
        LogStream::Stdout => "stdout",
        LogStream::Stderr => "stderr",
    }
}

fn wait(history: &History, profile: Option<&str>, run: &str, timeout: Option<u64>) -> Result<u8, Failure> {
    let (store, run) = find(history, profile, run)?;
    wait_for(&store, &run, timeout)
}

/// Opens what was sealed for resuming.
fn sealing(store: Store) -> Result<Store, Failure> {
    Ok(store.sealing(std::sync::Arc::new(Installation::load()?)))
}

/// Waits until a run has ended or lost its process, and prints its result.
pub(crate) fn wait_for(store: &Store, run: &RunId, timeout: Option<u64>) -> Result<u8, Failure> {
    let until = timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    loop {
        let status = store.run(run).map_err(|error| match error {
            StoreError::NoSuchRun { .. } => no_such_run(run),
            error => open::store_failure(&error),
        })?;
        if status.status.is_final() || status.status == RunStatus::Interrupted {
            let record = record(store, run)?;
            out::json(&run_json::result(&record, usize::MAX));
            return Ok(if record.summary.status == RunStatus::Success { 0 } else { Exit::Failed as u8 });
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Err(Failure {
                exit: Exit::Failed,
                message: format!(
                    "run {run} has not ended after {} s; it is `{}`",
                    timeout.unwrap_or(0),
                    status.status.as_str()
                ),
                hint: None,
            });
        }
        // Nobody calls us when another process writes; a look costs a fraction of a millisecond.
        std::thread::sleep(LOOK);
        if let Err(error) = store.mark_interrupted() {
            return Err(open::store_failure(&error));
        }
    }
}

fn cancel(history: &History, profile: Option<&str>, run: &str) -> Result<u8, Failure> {
    let (store, run) = find(history, profile, run)?;
    let found = record(&store, &run)?;
    let guided = crate::guided::history::cancel(&store, &found)
        .map_err(|error| Failure::environment(format!("run {run} was not cancelled: {}", with_causes(&error))))?;
    let outcome = match guided {
        Some(outcome) => outcome,
        None => store.request_cancel(&run, CancelReason::Person).map_err(|error| match error {
            StoreError::NoSuchRun { .. } => no_such_run(&run),
            error => open::store_failure(&error),
        })?,
    };
    let said = match outcome {
        CancelOutcome::Done => "cancelled",
        CancelOutcome::Requested => "requested",
        CancelOutcome::Ended(_) => "ended",
    };
    if history.json {
        out::json(&json!({ "runId": run, "cancel": said }));
    } else {
        match outcome {
            CancelOutcome::Done => out::note(&format!("run {run} is cancelled")),
            CancelOutcome::Requested => {
                let wait = invocation::command(&["runs", "wait", run.as_str()]);
                out::note(&format!("run {run} was told to end; see it with `{wait}`"));
            }
            CancelOutcome::Ended(status) => out::note(&format!("run {run} has ended already: {}", status.as_str())),
        }
    }
    Ok(0)
}

fn export(history: &History, profile: Option<&str>, run: &str, output: Option<&Path>) -> Result<u8, Failure> {
    let (store, run) = find(history, profile, run)?;
    let value = store.export(&run).map_err(|error| match error {
        StoreError::NoSuchRun { .. } => no_such_run(&run),
        error => open::store_failure(&error),
    })?;
    let text = format!("{value:#}\n");
    match output {
        Some(path) if path == Path::new("-") => out::json_text(&text),
        path => {
            let default = format!("{run}.json");
            let path = path.unwrap_or(Path::new(&default));
            let written = std::fs::File::options()
                .write(true)
                .create_new(true)
                // It holds what was recorded, and is nobody else's business either.
                .mode(0o600)
                .open(path)
                .and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| {
                Failure::environment(format!("`{}` could not be written: {error}", path.display()))
                    .hinted("name another file with `--output FILE`; an existing file is never overwritten")
            })?;
            if history.json {
                out::json(&json!({ "runId": run, "file": path.display().to_string(), "bytes": text.len() }));
            } else {
                out::note(&format!("run {run} is in `{}`", path.display()));
            }
        }
    }
    Ok(0)
}
