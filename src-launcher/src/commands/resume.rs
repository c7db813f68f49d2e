//! `workflow-code runs resume` and `runs retry`: an answer, a run that was interrupted, or one of its agents asked
//! again, from anywhere.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{AnswerAction, Envelope, InteractionKind, Limits, Origin, RunId, TimestampMs};
use runtime::{Executor, Folders, Project, ResumeError, StartError, WorkerImage};
use serde_json::{Value, json};
use store::{NewAnswer, Question, RunRecord, Standing, Store, StoreError};

use super::run::{endings, follow, runtime, see_through};
use super::runs::{no_such_run, record, wait_for};
use crate::cli::FolderOptions;
use crate::failure::{Exit, Failure, with_causes};
use crate::{invocation, moved, open, out, profile, terminal};

/// Exit codes from here on tell of a signal: whoever sent it wants nothing more to be done.
const SIGNALLED: u8 = 128;

/// How often a run that another process has is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What was said on the command line.
pub(crate) struct Answer<'a> {
    pub(crate) json: Option<&'a str>,
    pub(crate) approve: bool,
    pub(crate) deny: bool,
    pub(crate) restart: bool,
    /// The question that it is for.
    pub(crate) question: Option<u64>,
    /// When the command began: a question that came up later was seen by nobody who answers with it.
    pub(crate) began: TimestampMs,
    /// Where the project is, when it was moved.
    pub(crate) project_dir: Option<&'a Path>,
}

impl Answer<'_> {
    /// Tells whether the answer is on the command line.
    fn is_given(&self) -> bool {
        self.json.is_some() || self.approve || self.deny
    }

    /// Tells whether the answer may be for this question. A question that replaced another one while the command
    /// started was not read by whoever answers, unless they name it.
    fn may_be_for(&self, question: &Question) -> bool {
        match self.question {
            Some(number) => number == question.number,
            None => !self.is_given() || question.number == 0 || question.asked_at < self.began,
        }
    }
}

/// Continues a run in this process, or hands the answer to the one that has it.
pub(crate) fn resume(store: Store, run: &RunId, answer: &Answer<'_>) -> Result<u8, Failure> {
    let found = record(&store, run)?;
    let project = Arc::new(project_of(&found, &store, answer.project_dir)?);
    if answer.restart {
        return restart(store, &found, &project);
    }
    let open = found.pending().filter(|question| !store.is_answered_below(&found, question));
    match open.filter(|question| answer.may_be_for(question)) {
        Some(question) => {
            if answer.is_given() {
                announce(question);
            }
            let given = given(question, answer, &project)?;
            let said = match (question.kind, given.action) {
                (InteractionKind::Approval, AnswerAction::Accept) => "approved",
                (InteractionKind::Approval, _) => "denied",
                (InteractionKind::Form, _) => "answered",
            };
            match store.answer(run, question.number, &given) {
                Ok(()) => out::note(&format!("question {} is {said}", question.number)),
                Err(StoreError::AlreadyAnswered { .. } | StoreError::NotWaiting { .. }) => {
                    return Err(not_used(&store, run, Some(question.number)));
                }
                Err(error) => return Err(open::store_failure(&error)),
            }
        }
        None if answer.is_given() || answer.question.is_some() => {
            return Err(not_used(&store, run, answer.question));
        }
        None => {}
    }
    let code = go_on(store.clone(), run, project)?;
    if code < SIGNALLED {
        go_on_above(&store, run)?;
    }
    Ok(code)
}

/// Takes up what waited for a run that is over, as its own process would have: whoever answered sees all of it through.
/// Only the result of the run that was named is printed.
fn go_on_above(store: &Store, run: &RunId) -> Result<(), Failure> {
    let mut below = run.clone();
    while let Some(above) = store.waiting_above(&below).map_err(|error| open::store_failure(&error))? {
        out::note(&format!("run {above} has waited for run {below}, and goes on"));
        let found = record(store, &above)?;
        let project = project_of(&found, store, None)
            .map_err(|failure| Failure { hint: Some(continued_with(&above)), ..failure })?;
        let Some(envelope) = drive_above(store, &above, found.summary.epoch, Arc::new(project))? else {
            // Somebody else has it in hand, and sees to what is above it.
            return Ok(());
        };
        let said = envelope.error.as_ref().map(|error| format!(": {}", out::one_line(&error.message)));
        let status = json!(envelope.status);
        out::note(&format!("run {above}: {}{}", status.as_str().unwrap_or_default(), said.unwrap_or_default()));
        below = above;
    }
    Ok(())
}

/// How a run is continued later.
fn continued_with(run: &RunId) -> String {
    format!("continue it with `{}`", invocation::command(&["runs", "resume", run.as_str()]))
}

/// Has a run go on here that waited for another; `None` when somebody else was faster, or it did not end here.
fn drive_above(store: &Store, run: &RunId, epoch: u64, project: Arc<Project>) -> Result<Option<Envelope>, Failure> {
    in_executor(store, |executor| async move {
        let files = project.managed_files();
        let endings = endings();
        match executor.resume(run, Some(epoch), project).await {
            Ok(handle) => Ok(see_through(handle, &files, endings).await.0),
            Err(ResumeError::Store(StoreError::StaleEpoch { .. } | StoreError::NotFree { .. })) => Ok(None),
            Err(error) => Err(Failure::environment(with_causes(&error))),
        }
    })
}

/// Drives one run in an executor of its own, and ends that.
fn in_executor<T, F: Future<Output = Result<T, Failure>>>(
    store: &Store,
    work: impl FnOnce(Executor) -> F,
) -> Result<T, Failure> {
    process::orphans::inherit();
    let runtime = runtime()?;
    let executor = Executor::new(store.clone(), WorkerImage::own(), 1);
    let outcome = runtime.block_on(async {
        let outcome = work(executor.clone()).await;
        executor.end().await;
        outcome
    });
    runtime.shutdown_background();
    outcome
}

/// Says what is about to be answered, as it would be asked.
fn announce(question: &Question) {
    out::note(&format!("question {}: {}", question.number, out::one_line(&question.form.title)));
    for line in question.form.message.iter().flat_map(|message| message.lines()) {
        out::note(&format!("  {}", out::one_line(line)));
    }
}

/// Why an answer is not used: the one way in which whoever comes too late hears of it, however late that is. Without a
/// number, it is the question that was answered last.
fn not_used(store: &Store, run: &RunId, number: Option<u64>) -> Failure {
    let found = match record(store, run) {
        Ok(found) => found,
        Err(failure) => return failure,
    };
    let answered_at = |question: &&Question| question.answer.as_ref().map(|answer| answer.at);
    let question = match number {
        Some(number) => found.questions.iter().find(|question| question.number == number),
        None => found.questions.iter().filter(|one| one.answer.is_some()).max_by_key(answered_at),
    };
    let why = match (question, number) {
        (Some(Question { number, form, answer: Some(answer), .. }), _) => format!(
            "question {number} (\"{}\") of run {run} was answered by {} at {} already; this answer is not used",
            form.title,
            answer.by,
            model::format_timestamp(answer.at)
        ),
        (Some(Question { number, form, .. }), _) => {
            format!("question {number} (\"{}\") of run {run} waits for no answer", form.title)
        }
        (None, Some(number)) => format!("run {run} has not asked a question {number}"),
        (None, None) => format!("run {run} does not wait for an answer"),
    };
    let open = found.pending().filter(|question| !store.is_answered_below(&found, question));
    let (next, hint) = match open {
        Some(open) => (
            format!("; question {} (\"{}\") is open now", open.number, open.form.title),
            format!(
                "name the question that is answered: `{} …`",
                invocation::command(&["runs", "resume", run.as_str(), "--question", &open.number.to_string()])
            ),
        ),
        None => (
            String::new(),
            format!("see what was answered with `{}`", invocation::command(&["runs", "show", run.as_str()])),
        ),
    };
    Failure::usage(format!("{why}. The run is `{}` now{next}", found.summary.status.as_str())).hinted(hint)
}

/// Checks the answer against the form; nothing changes when it does not fit.
fn given(question: &Question, answer: &Answer<'_>, project: &Project) -> Result<NewAnswer, Failure> {
    let by = "cli".to_owned();
    let files = project.managed_files();
    if question.kind == InteractionKind::Approval {
        let yes = match (answer.approve, answer.deny, answer.json) {
            (true, ..) => true,
            (_, true, _) => false,
            (false, false, Some(text)) => {
                let value: Value = serde_json::from_str(text)
                    .map_err(|error| Failure::usage(format!("`--answer-json` is no JSON: {error}")))?;
                value.get("approve").and_then(Value::as_bool).ok_or_else(|| {
                    Failure::usage("`--answer-json` of an approval is `{\"approve\": true}` or `{\"approve\": false}`")
                })?
            }
            (false, false, None) => {
                return on_terminal(question, &files, "--approve or --deny");
            }
        };
        let action = if yes { AnswerAction::Accept } else { AnswerAction::Decline };
        return Ok(NewAnswer { action, content: json!({ "approve": yes }), by });
    }
    if answer.approve || answer.deny {
        return Err(
            Failure::usage("the question is a form, not an approval").hinted("answer it with `--answer-json JSON`")
        );
    }
    let Some(text) = answer.json else { return on_terminal(question, &files, "--answer-json JSON") };
    if !model::within_depth(text.as_bytes(), Limits::JSON_DEPTH) {
        return Err(Failure::usage(format!("`--answer-json` is nested over {} levels", Limits::JSON_DEPTH)));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| Failure::usage(format!("`--answer-json` is no JSON: {error}")))?;
    let content =
        terminal::check(&question.form, value, &files).map_err(|faults| Failure::usage(faults.to_string()))?;
    Ok(NewAnswer { action: AnswerAction::Accept, content, by })
}

fn on_terminal(question: &Question, files: &project::ManagedFiles, option: &str) -> Result<NewAnswer, Failure> {
    if !terminal::is_there() {
        let fields: Vec<String> = question
            .form
            .fields
            .iter()
            .map(|field| format!("`{}` must be {}", field.name, project::check::in_words(field)))
            .collect();
        return Err(Failure::usage(format!(
            "the run waits for an answer to \"{}\": {}",
            question.form.title,
            fields.join("; ")
        ))
        .hinted(format!("answer it with `{option} --question {}`", question.number)));
    }
    terminal::ask(&question.form, question.kind, files).ok_or_else(|| Failure::usage("no answer was given"))
}

/// Why a guided workflow is not continued from here, and how it is.
fn guided_workflow(record: &RunRecord) -> Failure {
    let run = &record.summary.run_id;
    let failure = Failure::usage(format!("run {run} is a guided workflow, which goes on by calls of its tools only"));
    let session = record.input.get("sessionId").and_then(Value::as_str).unwrap_or_default();
    failure.hinted(if record.summary.status.is_final() {
        format!("it has ended; an agent starts it again with `start_workflow` (`{}`)", record.summary.entrypoint_title)
    } else {
        format!(
            "an agent goes on with `finished_step` and the session_id `{session}`, or begins anew with `start_workflow`"
        )
    })
}

/// Where a run's project is now, with the data folders it was started with.
pub(crate) fn project_of(record: &RunRecord, store: &Store, named: Option<&Path>) -> Result<Project, Failure> {
    if record.workflow_instance().is_some() {
        return Err(guided_workflow(record));
    }
    let registered = record.summary.registered.then(|| store.project(&record.summary.project).ok()).flatten();
    let manifest = moved::manifest_of(record, store, named)?;
    let launch = &record.launch;
    let folder = |text: &str| Path::new(text).to_owned();
    let options = FolderOptions {
        desktop_config_dir: launch.desktop_config_dir.as_deref().map(folder),
        auth_dir: launch.auth_dir.as_deref().map(folder),
        ..FolderOptions::default()
    };
    let profile = profile::name(launch.profile.as_deref())?;
    Ok(Project {
        title: manifest.name.clone(),
        manifest,
        id: registered.map(|project| project.id),
        folders: Folders {
            data: folder(&launch.data_dir),
            files: folder(&launch.file_store_dir),
            kv: folder(&launch.kv_store_dir),
            values: folder(&launch.persistent_value_store_dir),
            created: folder(&launch.file_create_store_dir),
        },
        environment: open::environment(),
        connection: Some(open::connection(&options, Path::new(&launch.data_dir), &profile)),
        desktop_config_dir: options.desktop_config_dir,
        auth_dir: options.auth_dir,
        allow_exec: launch.allow_exec.clone(),
        related: launch.related_projects.clone(),
        provider: launch.provider.clone(),
        agents_file: Some(open::agents_file()?),
        profile: launch.profile.clone(),
    })
}

/// Sees the run to where it ends or asks again, here or in the process that has it.
fn go_on(store: Store, run: &RunId, project: Arc<Project>) -> Result<u8, Failure> {
    let began = Instant::now();
    loop {
        let found = record(&store, run)?;
        match store.standing(&found) {
            Standing::Over => return wait_for(&store, run, None),
            Standing::Asks => return wait_for_answer(&found),
            // When they are gone before it has ended, it is taken up here.
            Standing::Working => std::thread::sleep(LOOK),
            Standing::Answered if began.elapsed() < Standing::PATIENCE => std::thread::sleep(LOOK),
            Standing::Answered | Standing::Free => {
                if let Some(code) = drive(&store, run, found.summary.epoch, Arc::clone(&project))? {
                    return Ok(code);
                }
                // Somebody took it up between the look and the taking, and may come to another question.
                std::thread::sleep(LOOK);
            }
        }
    }
}

/// It asks again already: this is where the run stands.
fn wait_for_answer(found: &RunRecord) -> Result<u8, Failure> {
    out::json(&crate::run_json::result(found, usize::MAX));
    Ok(Exit::Failed as u8)
}

/// Has the run go on here; `None` when somebody else was faster.
fn drive(store: &Store, run: &RunId, epoch: u64, project: Arc<Project>) -> Result<Option<u8>, Failure> {
    in_executor(store, |executor| async move {
        let files = project.managed_files();
        let endings = endings();
        match executor.resume(run, Some(epoch), project).await {
            Ok(handle) => Ok(Some(follow(handle, &files, endings).await)),
            Err(ResumeError::Store(StoreError::StaleEpoch { .. } | StoreError::NotFree { .. })) => Ok(None),
            Err(ResumeError::Store(StoreError::NoSuchRun { .. })) => Err(no_such_run(run)),
            Err(error) => Err(Failure::environment(with_causes(&error))),
        }
    })
}

/// Asks an agent of a run that has ended again, in this process.
pub(crate) fn retry(store: Store, run: &RunId, agent: u64) -> Result<u8, Failure> {
    let found = record(&store, run)?;
    let project = Arc::new(project_of(&found, &store, None)?);
    in_executor(&store, |executor| async move {
        let files = project.managed_files();
        let endings = endings();
        let handle = executor.retry(run, agent, project).await.map_err(|error| match error {
            ResumeError::NoSuchAgent { .. } | ResumeError::NotFailed { .. } => Failure::usage(error.to_string())
                .hinted(format!(
                    "see which agents failed with `{}`",
                    invocation::command(&["runs", "show", run.as_str()])
                )),
            ResumeError::Store(StoreError::Transition { .. }) => {
                Failure::environment(format!("run {run} has not ended; it is `{}`", found.summary.status.as_str()))
                    .hinted(continued_with(run))
            }
            error => Failure::environment(with_causes(&error)),
        })?;
        Ok(follow(handle, &files, endings).await)
    })
}

/// The input that a run was started with. It is kept whole until the run ends; after that, what was secret is gone.
fn whole_input(store: &Store, found: &RunRecord, target: &str) -> Result<Value, Failure> {
    let run = &found.summary.run_id;
    if let Some(input) = store.sealed_input(run).map_err(|error| open::store_failure(&error))? {
        return Ok(input);
    }
    let masked: Vec<String> = match &found.input {
        Value::Object(members) => {
            members.iter().filter(|(_, value)| store::holds_mask(value)).map(|(name, _)| format!("`{name}`")).collect()
        }
        other if store::holds_mask(other) => vec!["the input".to_owned()],
        _ => Vec::new(),
    };
    if masked.is_empty() {
        return Ok(found.input.clone());
    }
    let entrypoint = &found.summary.entrypoint_id;
    Err(Failure::usage(format!(
        "run {run} has ended, and what was secret of its input is kept nowhere: {}",
        masked.join(", ")
    ))
    .hinted(format!(
        "give it anew: `{} --NAME VALUE …`, or the whole input with `--input-json FILE`",
        invocation::command(&["run", target, entrypoint.as_str()])
    )))
}

/// Starts over with today's code, under a new id.
fn restart(store: Store, found: &RunRecord, project: &Arc<Project>) -> Result<u8, Failure> {
    let target = project.id.as_ref().map_or_else(|| project.manifest.root.display().to_string(), ToString::to_string);
    let input = whole_input(&store, found, &target)?;
    in_executor(&store, |executor| async move {
        let report = executor.analyse(&project.manifest).await;
        let entrypoint =
            report.entrypoints.into_iter().find(|entrypoint| entrypoint.id == found.summary.entrypoint_id).ok_or_else(
                || Failure::environment(format!("there is no entrypoint `{}` any more", found.summary.entrypoint_id)),
            )?;
        let request = Executor::prepare(project, &entrypoint, input, Origin::Cli)
            .map_err(|faults| Failure::usage(faults.to_string()))?;
        let endings = endings();
        let handle = executor.start(request).await.map_err(|error| match error {
            StartError::Store(error) => open::store_failure(&error),
            StartError::Busy => Failure::environment(StartError::Busy.to_string()),
        })?;
        Ok(follow(handle, &project.managed_files(), endings).await)
    })
}
