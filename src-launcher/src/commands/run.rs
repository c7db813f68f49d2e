//! `workflow-code run`: one entrypoint in the terminal. Progress on standard error, the result on standard output.

use std::io::Read;
use std::path::Path;

use model::{
    CancelReason, Entrypoint, Envelope, EnvelopeStatus, ErrorCode, Limits, Origin, RunCaps, RunError, StructureReport,
};
use project::{ManagedFiles, Manifest};
use runtime::{Asked, Executor, RunEvent, RunHandle, StartError, WorkerImage};
use serde_json::Value;
use store::StoreError;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::cli::Run;
use crate::failure::{Exit, Failure, with_causes};
use crate::open::{self, Opened};
use crate::{invocation, out, retention, script_texts, terminal};

/// The signals that end a run politely, each with the exit code that tells of it (128 and the signal's number).
const ENDINGS: [(SignalKind, u8); 3] =
    [(SignalKind::interrupt(), 130), (SignalKind::terminate(), 143), (SignalKind::hangup(), 129)];

/// Tells whether this process was started deaf to the end of its terminal.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // A mask in which the first bit is SIGHUP, the first signal.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Watches for what ends a run. From now on such a signal no longer ends this process by itself.
pub(crate) fn endings() -> UnboundedReceiver<u8> {
    let (tell, told) = mpsc::unbounded_channel();
    for (kind, code) in ENDINGS {
        // Whoever starts it with `nohup` wants it to outlive the terminal.
        if kind == SignalKind::hangup() && hangup_is_ignored() {
            continue;
        }
        match signal(kind) {
            Ok(mut signals) => {
                let tell = tell.clone();
                tokio::spawn(async move { while signals.recv().await.is_some() && tell.send(code).is_ok() {} });
            }
            Err(error) => tracing::warn!(%error, "a signal cannot be watched"),
        }
    }
    told
}

/// Makes the runtime that commands wait in.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::environment(format!("the runtime cannot be started: {error}")))
}

pub(crate) fn run(options: &Run, profile: Option<&str>) -> Result<u8, Failure> {
    let Opened { project, store, .. } = open::target(&options.target, profile, &options.folders)?;
    if let Err(error) = retention::tend(&store) {
        tracing::warn!("the history: {}", with_causes(&error));
    }
    process::orphans::inherit();
    let runtime = runtime()?;
    let executor = Executor::new(store, WorkerImage::own(), 1);
    let report = runtime.block_on(executor.analyse(&project.manifest));
    let mut entrypoint = choose(&report, options.entrypoint())?;
    if let Some(seconds) = options.caps.max_seconds {
        // None and 0 both mean that nothing else limits it.
        let own = entrypoint.timeout_seconds.filter(|own| *own > 0);
        entrypoint.timeout_seconds = Some(own.map_or(seconds, |own| own.min(seconds)));
    }
    let input = input(options, &entrypoint)?;
    let mut request = Executor::prepare(&project, &entrypoint, input, Origin::Cli).map_err(|faults| {
        Failure::usage(faults.to_string()).hinted(where_parameters_are(options, &project.manifest))
    })?;
    request.caps = RunCaps { max_agents: options.caps.max_agents, max_tokens: options.caps.max_tokens };
    let code = runtime.block_on(async {
        let endings = endings();
        let run = executor.start(request).await.map_err(|error| match error {
            StartError::Store(error) => open::store_failure(&error),
            StartError::Busy => Failure::environment(StartError::Busy.to_string()),
        })?;
        let code = follow(run, &project.managed_files(), endings).await;
        executor.end().await;
        Ok::<u8, Failure>(code)
    });
    runtime.shutdown_background();
    drop(project);
    code
}

/// Where the parameters of what is run can be seen. A script file belongs to no project that could be shown.
fn where_parameters_are(options: &Run, manifest: &Manifest) -> String {
    if Path::new(&options.target).is_file() {
        return format!("its parameters are declared in `{}`", options.target);
    }
    let structure = invocation::command(&["structure", &manifest.root.to_string_lossy()]);
    format!("see the parameters with `{structure}`")
}

/// Finds the entrypoint by its id; drafts count here.
fn choose(report: &StructureReport, id: Option<&str>) -> Result<Entrypoint, Failure> {
    let names: Vec<String> = report.entrypoints.iter().map(|entrypoint| format!("`{}`", entrypoint.id)).collect();
    let all = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    match id {
        Some(id) => {
            if let Some(found) = report.entrypoints.iter().find(|entrypoint| entrypoint.id.as_str() == id) {
                return Ok(found.clone());
            }
            if let Some(error) = report.errors.iter().find(|error| error.entrypoint == id) {
                let place = match (&error.file, error.line) {
                    (Some(file), Some(line)) => format!(" ({file}:{line})"),
                    (Some(file), None) => format!(" ({file})"),
                    (None, _) => String::new(),
                };
                return Err(Failure::environment(format!("entrypoint `{id}` is broken{place}: {}", error.message)));
            }
            let failure = Failure::usage(format!("there is no entrypoint `{id}`; there is {all}"));
            Err(match report.entrypoints.as_slice() {
                [only] => failure.hinted(format!(
                    "a value for `{}` stands behind its name, or behind `--` where no name is given",
                    only.id
                )),
                _ => failure,
            })
        }
        None => match report.entrypoints.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err(Failure::usage(format!("name an entrypoint; there is {all}"))),
        },
    }
}

/// Gathers the input: a JSON file, an orchestration script's `args`, or parameters by name.
fn input(options: &Run, entrypoint: &Entrypoint) -> Result<Value, Failure> {
    let json = |text: &[u8], from: &str| {
        if !model::within_depth(text, Limits::JSON_DEPTH) {
            return Err(Failure::usage(format!("{from} is nested over {} levels", Limits::JSON_DEPTH)));
        }
        serde_json::from_slice::<Value>(text).map_err(|error| Failure::usage(format!("{from} is no JSON: {error}")))
    };
    if let Some(file) = &options.input_json {
        if !options.parameters().is_empty() {
            return Err(Failure::usage("`--input-json` is the whole input: leave the parameters out"));
        }
        let mut text = Vec::new();
        let read = match file.as_str() {
            "-" => std::io::stdin().lock().take(Limits::LINE_BYTES as u64).read_to_end(&mut text),
            path => {
                std::fs::File::open(path).and_then(|file| file.take(Limits::LINE_BYTES as u64).read_to_end(&mut text))
            }
        };
        read.map_err(|error| Failure::usage(format!("`--input-json {file}` cannot be read: {error}")))?;
        return json(&text, &format!("`--input-json {file}`"));
    }
    let folder = std::env::current_dir().unwrap_or_else(|_| Path::new("/").to_owned());
    let mut parsed = project::parse_cli(&entrypoint.params, options.parameters(), &folder)
        .map_err(|faults| Failure::usage(faults.to_string()))?;
    if let Some(args) = &options.args {
        // What is no JSON is text: that is what people write.
        let value = match json(args.as_bytes(), "`--args`") {
            Ok(value) => value,
            Err(_) => Value::String(args.clone()),
        };
        parsed.insert("args".into(), value);
    }
    Ok(Value::Object(parsed))
}

/// Shows what happens, asks on the terminal when there is one, and prints the result.
pub(crate) async fn follow(run: RunHandle, files: &ManagedFiles, endings: UnboundedReceiver<u8>) -> u8 {
    let (envelope, interrupted) = see_through(run, files, endings).await;
    let Some(envelope) = envelope else {
        out::note("error: the run ended without a result");
        return Exit::Failed as u8;
    };
    if let Some(error) = &envelope.error {
        tell_whole(error);
    }
    out::json(&envelope.to_json(usize::MAX));
    match (envelope.status, interrupted) {
        (EnvelopeStatus::Success, _) => 0,
        (EnvelopeStatus::Cancelled, Some(code)) => code,
        _ => Exit::Failed as u8,
    }
}

/// The same without the last word. Returns the result, and the exit code of a signal that has ended it.
pub(crate) async fn see_through(
    mut run: RunHandle,
    files: &ManagedFiles,
    mut endings: UnboundedReceiver<u8>,
) -> (Option<Envelope>, Option<u8>) {
    let mut interrupted = None;
    if let Some(id) = &run.run_id {
        out::note(&format!("run {id}"));
    }
    loop {
        tokio::select! {
            biased;
            Some(event) = run.events.recv() => match event {
                RunEvent::Question(asked) if interrupted.is_none() => {
                    // Whoever is asked can end the run instead.
                    let code = tokio::select! {
                        () = answer(&run, asked, files) => None,
                        code = endings.recv() => code,
                    };
                    if code.is_some() {
                        terminal::leave();
                        interrupted = code;
                        cancel(&run);
                    }
                }
                event => show(event),
            },
            result = &mut run.result => return (result.ok(), interrupted),
            Some(code) = endings.recv(), if interrupted.is_none() => {
                interrupted = Some(code);
                cancel(&run);
            }
        }
    }
}

/// Shows what of an error the one line in the result leaves out.
fn tell_whole(error: &RunError) {
    let whole = script_texts::whole_error(error);
    if whole != error.message {
        out::note("error:");
        for line in whole.lines() {
            out::note(&out::one_line(line));
        }
    }
}

fn cancel(run: &RunHandle) {
    out::note("cancelling; the run has two seconds to end");
    run.cancel(CancelReason::Person);
}

/// Asks on the terminal, or leaves the run waiting when nobody is there.
async fn answer(run: &RunHandle, asked: Asked, files: &ManagedFiles) {
    if !terminal::is_there() {
        run.park(ErrorCode::InteractionRequired);
        return;
    }
    let (form, kind, files) = (asked.form.clone(), asked.kind, files.clone());
    // Reading a terminal blocks, and the run's events can wait meanwhile.
    let given = tokio::task::spawn_blocking(move || terminal::ask(&form, kind, &files)).await.ok().flatten();
    match given {
        Some(given) => match run.answer(asked.number, given).await {
            Ok(()) => {}
            Err(StoreError::AlreadyAnswered { by, .. }) => out::note(&format!("it was answered by {by} meanwhile")),
            Err(error) => {
                out::note(&format!("the answer could not be recorded: {}", with_causes(&error)));
                run.park(ErrorCode::InteractionRequired);
            }
        },
        None => run.park(ErrorCode::InteractionCancelled),
    }
}

/// Characters of one line that a terminal shows while a run goes on; the history has it whole.
const LINE_CHARACTERS: usize = 2_000;

fn show(event: RunEvent) {
    match event {
        RunEvent::Progress { done, total, message } => {
            let counted = match (done, total) {
                (Some(done), Some(total)) => format!("[{done}/{total}] "),
                _ => String::new(),
            };
            // A count without words is for bars, and there is none here.
            if let Some(message) = message {
                out::note(&format!("· {counted}{}", out::one_line(&model::beginning(&message, LINE_CHARACTERS))));
            } else if !counted.is_empty() {
                out::note(&format!("· {}", counted.trim_end()));
            }
        }
        RunEvent::Output { text, .. } => {
            for line in text.lines() {
                out::note(&out::one_line(&model::beginning(line, LINE_CHARACTERS)));
            }
        }
        RunEvent::Question(_) | RunEvent::Answered { .. } => {}
    }
}
