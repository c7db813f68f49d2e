//! The agents of a run: which provider it has, and how its programs are started below the run's own worker.
//!
//! Below the worker, so that they end with it, whatever ends it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agents::canned::{Canned, CannedProvider};
use agents::command::{CommandLine, CommandProvider, Launch, Launching, Preset, Ran, presets};
use agents::{Desk, Fault, Provider, Request, StartRefused};
use project::EnvFile;
use script::{HostCall, HostError, Tally};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::context::Project;
use crate::protocol::{ExecJob, Executed, ToWorker};
use crate::run::Results;

/// Numbers of agents' programs begin here, far above those of host calls.
const FIRST_NUMBER: u64 = 1 << 52;

/// How long a child has after the run was cancelled.
const GRACE: Duration = Duration::from_secs(2);

/// How long a program may run when nothing limits it.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// How many failures are kept with their reasons.
const FAILURES: usize = 10;

/// A program that is to be started, and where its end is awaited.
type Wanted = (ExecJob, oneshot::Sender<Result<Executed, String>>);

/// The agents of one run.
pub(crate) struct Crew {
    desk: Result<Desk, String>,
    strict: bool,
    wanted: mpsc::UnboundedReceiver<Wanted>,
    waiting: HashMap<u64, oneshot::Sender<Result<Executed, String>>>,
    /// What the run's agents came to, once it is over.
    pub(crate) tally: Tally,
    /// The first of those that failed, with the reasons.
    pub(crate) failures: Vec<String>,
}

impl Crew {
    /// Finds the run's provider. That there is none is told when an agent is asked for.
    pub(crate) fn new(project: &Project, env_file: &EnvFile, strict: bool) -> Self {
        let (sender, wanted) = mpsc::unbounded_channel();
        let launch = Arc::new(BelowWorker {
            environment: environment(project, env_file),
            process: project.environment.clone(),
            sender,
            next: AtomicU64::new(FIRST_NUMBER),
        });
        let desk = provider(project, launch).map(|provider| {
            tracing::debug!(provider = provider.name(), "the run's agents");
            Desk::new(provider, 0, GRACE, |event| tracing::debug!(?event, "agent"))
        });
        Self { desk, strict, wanted, waiting: HashMap::new(), tally: Tally::default(), failures: Vec::new() }
    }

    /// The options of `agent()` that are honoured, when there is a provider.
    pub(crate) fn options(&self) -> Option<Vec<String>> {
        self.desk.as_ref().ok().map(|desk| desk.capabilities().options)
    }

    /// Takes a script's call in; its place in the line is taken at once.
    pub(crate) fn call(&self, run: &str, project: &Project, call: HostCall, results: &Results) {
        let results = results.clone();
        let failed =
            |code: &str, message: String, fatal: bool| HostError { code: code.into(), message, data: None, fatal };
        let desk = match &self.desk {
            Ok(desk) => desk,
            Err(why) => {
                // One error before the first agent, and not a `null` a hundred times.
                let error = failed("AGENT_START", why.clone(), !self.strict);
                let _ = results.send((call, Err(error)));
                return;
            }
        };
        let request = match Request::read(run, call.seq, &call.args, project.manifest.root.clone()) {
            Ok(request) => request,
            Err(error) => {
                let error = failed("INVALID_ARGUMENT", error.to_string(), false);
                let _ = results.send((call, Err(error)));
                return;
            }
        };
        let strict = self.strict;
        let end = desk.submit(request);
        tokio::spawn(async move {
            let outcome = end.await.answer(strict).map_err(|(code, message)| failed(code, message, false));
            // The run may have ended meanwhile.
            let _ = results.send((call, outcome));
        });
    }

    /// Waits for a program that is to be started.
    pub(crate) async fn next(&mut self) -> Option<ToWorker> {
        let (job, ended) = self.wanted.recv().await?;
        self.waiting.insert(job.seq, ended);
        Some(ToWorker::Exec(job))
    }

    /// Takes in how a program ended, if it was an agent's.
    pub(crate) fn ended(&mut self, seq: u64, outcome: Result<Executed, String>) -> Option<Result<Executed, String>> {
        if seq < FIRST_NUMBER {
            return Some(outcome);
        }
        if let Some(ended) = self.waiting.remove(&seq) {
            let _ = ended.send(outcome);
        }
        None
    }

    /// Keeps why an agent failed, for whoever wonders about the run.
    pub(crate) fn failed(&mut self, label: &str, reason: &str) {
        if self.failures.len() < FAILURES {
            self.failures.push(format!("{label} – {reason}"));
        }
    }

    /// Ends all of it.
    pub(crate) fn cancel(&self) {
        if let Ok(desk) = &self.desk {
            desk.cancel();
        }
    }
}

/// What agents' programs get: what commands do, without the connection.
fn environment(project: &Project, env_file: &EnvFile) -> BTreeMap<String, String> {
    project::command_environment(&project.environment, env_file, &[])
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// The provider: the one asked for, else the project's, else the first known program that is installed.
fn provider(project: &Project, launch: Arc<BelowWorker>) -> Result<Arc<dyn Provider>, String> {
    let command = |preset: Preset| -> Arc<dyn Provider> { Arc::new(CommandProvider::new(preset, launch.clone())) };
    let path = project.environment.get(std::ffi::OsStr::new("PATH")).cloned().unwrap_or_default();
    let setting = project.manifest.provider.as_ref();
    match (&project.provider, setting) {
        (Some(name), _) => named(name, setting, &command),
        (None, Some(Value::String(name))) => named(name, None, &command),
        (None, Some(value)) => Preset::read("command", value).map(command).map_err(|error| error.to_string()),
        (None, None) => {
            presets().into_iter().find(|preset| preset.is_installed(&path)).map(command).ok_or_else(none_installed)
        }
    }
}

/// A program that is known to start agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProvider {
    /// Its name, as `--provider` takes it.
    pub name: String,
    /// How to get and set it up, one sentence.
    pub setup: String,
    /// Whether it is on the path.
    pub installed: bool,
}

/// Lists the programs that are known to start agents, in the order they are looked for.
#[must_use]
pub fn known_providers(path: &std::ffi::OsStr) -> Vec<KnownProvider> {
    presets()
        .into_iter()
        .map(|preset| KnownProvider { installed: preset.is_installed(path), name: preset.name, setup: preset.setup })
        .collect()
}

fn none_installed() -> String {
    let known: Vec<String> =
        presets().iter().map(|preset| format!("`{}` ({})", preset.name, preset.setup.trim_end_matches('.'))).collect();
    format!(
        "no agent provider: name one with `--provider NAME` or `\"provider\"` under `workflow` in package.json. Known: {}",
        known.join("; ")
    )
}

fn named(
    name: &str,
    setting: Option<&Value>,
    command: &dyn Fn(Preset) -> Arc<dyn Provider>,
) -> Result<Arc<dyn Provider>, String> {
    if let Some(file) = name.strip_prefix("canned:") {
        let text = std::fs::read_to_string(file).map_err(|error| format!("the replies in `{file}`: {error}"))?;
        let list = serde_json::from_str(&text).map_err(|error| format!("the replies in `{file}`: {error}"))?;
        return Ok(Arc::new(CannedProvider(Canned::new(list))));
    }
    if name == "canned" {
        return Ok(Arc::new(CannedProvider(Canned::new(Value::Null))));
    }
    if let Some(value @ (Value::Object(_) | Value::Array(_))) = setting
        && let Ok(preset) = Preset::read("command", value)
        && preset.name == name
    {
        return Ok(command(preset));
    }
    let all = presets();
    if let Some(preset) = all.iter().find(|preset| preset.name == name) {
        return Ok(command(preset.clone()));
    }
    let mut known: Vec<&str> = all.iter().map(|preset| preset.name.as_str()).collect();
    known.push("canned");
    agents::check_provider(name, &known).map_err(|error| error.to_string())?;
    Err(none_installed())
}

/// Has programs started by the run's worker.
struct BelowWorker {
    environment: BTreeMap<String, String>,
    process: crate::context::ProcessEnvironment,
    sender: mpsc::UnboundedSender<Wanted>,
    next: AtomicU64,
}

impl std::fmt::Debug for BelowWorker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment holds secrets.
        formatter.debug_struct("BelowWorker").finish_non_exhaustive()
    }
}

impl BelowWorker {
    fn job(&self, line: CommandLine) -> Option<ExecJob> {
        let mut environment = self.environment.clone();
        for (name, value) in &self.process {
            let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
            let wanted = line.variables.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == pattern,
            });
            if wanted {
                environment.insert(name.to_owned(), value.to_owned());
            }
        }
        let mut argv = line.argv.into_iter();
        Some(ExecJob {
            seq: self.next.fetch_add(1, Ordering::SeqCst),
            program: argv.next()?,
            arguments: argv.collect(),
            folder: line.folder.to_string_lossy().into_owned(),
            environment,
            input: line.input,
            timeout_ms: u64::try_from(line.limit.unwrap_or(LONGEST).as_millis()).unwrap_or(u64::MAX),
            silence_ms: Some(u64::try_from(line.silence.as_millis()).unwrap_or(u64::MAX)),
        })
    }
}

impl Launch for BelowWorker {
    fn launch(&self, line: CommandLine, stop: CancellationToken) -> Launching {
        let job = self.job(line);
        let path = self.environment.get("PATH").cloned().unwrap_or_default();
        let sender = self.sender.clone();
        Box::pin(async move {
            let job = job.ok_or_else(|| StartRefused("the agent command is empty".into()))?;
            if job.arguments.iter().any(|argument| argument.contains('\0')) {
                return Err(StartRefused("an argument of a program holds no NUL".into()));
            }
            let there = if job.program.contains('/') {
                std::path::Path::new(&job.folder).join(&job.program).is_file()
            } else {
                std::env::split_paths(&path).any(|folder| folder.join(&job.program).is_file())
            };
            if !there {
                return Err(StartRefused(format!("there is no program `{}` on the PATH", job.program)));
            }
            let (ended, end) = oneshot::channel();
            sender.send((job, ended)).map_err(|_| StartRefused("the run is over".into()))?;
            let running: agents::command::Running = Box::pin(async move {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => Err(Fault("the run is over".into())),
                    end = end => match end {
                        Ok(Ok(executed)) => Ok(Ran {
                            code: (executed.exit_code >= 0).then_some(executed.exit_code),
                            stdout: executed.stdout,
                            cut: executed.truncated,
                            stderr: executed.stderr,
                            stalled: executed.stalled,
                            late: false,
                        }),
                        Ok(Err(message)) => Err(Fault(message)),
                        Err(_) => Err(Fault("the run is over".into())),
                    },
                }
            });
            Ok(running)
        })
    }
}
