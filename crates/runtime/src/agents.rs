//! The agents of a run: its provider at work, and how its programs are started below the run's own worker.
//!
//! Below the worker, so that they end with it, whatever ends it. Which provider a run has is decided in `providers`.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agents::canned::{Canned, CannedProvider};
use agents::command::{CommandLine, CommandProvider, Launch, Launching, Ran};
use agents::http::HttpProvider;
use agents::{Desk, Fault, MemberEvent, Provider, Request, StartRefused};
use project::EnvFile;
use script::{HostCall, HostError, Note, Tally};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::agent_types;
use crate::chat::{self, Endpoint};
use crate::context::Project;
use crate::host_calls::HostContext;
use crate::protocol::{ExecJob, Executed, ToWorker};
use crate::providers::{self, Choice};
use crate::run::Results;
use crate::worktree::{self, Isolating, Kept};

/// The option that is settled here where the provider cannot.
const AGENT_TYPE: &str = "agentType";

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

/// What an agent was asked with, as far as a person sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The node that stands for it.
    pub(crate) node: Option<u64>,
    /// The provider.
    pub(crate) provider: String,
    /// The model, if the call names one.
    pub(crate) model: Option<String>,
}

/// What happens to agents beside their results.
pub(crate) enum CrewNews {
    /// A program is to be started.
    Program(ToWorker),
    /// There is something to show of a child.
    Shown(Shown),
}

/// What is shown of a child, and what it was asked with.
pub(crate) enum Shown {
    /// It came to be, or ended.
    Member(MemberEvent, Asked),
    /// It changed files in a worktree of its own.
    Worktree(Kept, Asked),
}

/// The agents of one run.
pub(crate) struct Crew {
    desk: Result<Desk, String>,
    provider: String,
    strict: bool,
    asked: HashMap<u64, Asked>,
    members: mpsc::UnboundedReceiver<MemberEvent>,
    worktrees: mpsc::UnboundedReceiver<Kept>,
    environment: Arc<BTreeMap<String, String>>,
    wanted: mpsc::UnboundedReceiver<Wanted>,
    waiting: HashMap<u64, oneshot::Sender<Result<Executed, String>>>,
    /// What the run's agents came to, once it is over.
    pub(crate) tally: Tally,
    /// The first of those that failed, with the reasons.
    pub(crate) failures: Vec<String>,
}

impl Crew {
    /// Finds the run's provider. That there is none is told when an agent is asked for.
    pub(crate) fn new(project: &Project, host: &Arc<HostContext>, strict: bool) -> Self {
        let (sender, wanted) = mpsc::unbounded_channel();
        let (told, members) = mpsc::unbounded_channel();
        let (kept, worktrees) = mpsc::unbounded_channel();
        let environment = Arc::new(environment(project, &host.env_file));
        let trees = project.folders.data.join("worktrees");
        let launch = Arc::new(BelowWorker {
            environment: Arc::clone(&environment),
            process: project.environment.clone(),
            sender,
            next: AtomicU64::new(FIRST_NUMBER),
        });
        let mut name = String::new();
        let desk = provider(project, host, launch).map(|provider| {
            tracing::debug!(provider = provider.name(), "the run's agents");
            provider.name().clone_into(&mut name);
            let provider = Arc::new(Isolating::new(provider, trees, Arc::clone(&environment), kept));
            Desk::new(provider, 0, GRACE, move |event| {
                // Nobody listens any more once the run is over.
                let _ = told.send(event);
            })
        });
        Self {
            desk,
            provider: name,
            strict,
            asked: HashMap::new(),
            members,
            worktrees,
            environment,
            wanted,
            waiting: HashMap::new(),
            tally: Tally::default(),
            failures: Vec::new(),
        }
    }

    /// The options of `agent()` that are honoured, when there is a provider.
    pub(crate) fn options(&self) -> Option<Vec<String>> {
        // Settled here where the provider cannot.
        Some(self.desk.as_ref().ok()?.capabilities().honouring(AGENT_TYPE).options)
    }

    /// Takes a script's call in; its place in the line is taken at once. Returns what is to be noted.
    pub(crate) fn call(&mut self, run: &str, project: &Project, call: HostCall, results: &Results) -> Vec<Note> {
        let results = results.clone();
        let failed =
            |code: &str, message: String, fatal: bool| HostError { code: code.into(), message, data: None, fatal };
        let desk = match &self.desk {
            Ok(desk) => desk,
            Err(why) => {
                // One error before the first agent, and not a `null` a hundred times.
                let error = match self.strict {
                    true => failed("AGENT_START", format!("agent() could not start a child: {why}"), false),
                    false => HostError {
                        data: Some(serde_json::json!({ "code": "AGENT_START" })),
                        ..failed("AGENT_START", why.clone(), true)
                    },
                };
                let _ = results.send((call, Err(error)));
                return Vec::new();
            }
        };
        let mut request = match Request::read(run, call.seq, &call.args, project.manifest.root.clone()) {
            Ok(request) => request,
            Err(error) => {
                let error = failed("INVALID_ARGUMENT", error.to_string(), false);
                let _ = results.send((call, Err(error)));
                return Vec::new();
            }
        };
        if let Some(error) = request.schema.as_ref().and_then(|schema| agents::Schema::new(schema).err()) {
            // Before its place in the line: nobody is asked for what cannot be judged.
            let _ = results.send((call, Err(failed("UNSUPPORTED_SCHEMA", error.to_string(), false))));
            return Vec::new();
        }
        let mut notes: Vec<Note> = agent_types::settle(&mut request, desk).into_iter().collect();
        notes.extend(settle_model(&mut request, desk));
        notes.extend(settle_isolation(&mut request, &self.environment));
        let strict = self.strict;
        let model = request.option("model").map(str::to_owned);
        self.asked.insert(call.seq, Asked { node: call.own_node, provider: self.provider.clone(), model });
        let end = desk.submit(request);
        tokio::spawn(async move {
            let outcome = end.await.answer(strict).map_err(|(code, message)| failed(code, message, false));
            // The run may have ended meanwhile.
            let _ = results.send((call, outcome));
        });
        notes
    }

    /// Waits for what happens next. May be dropped while waiting.
    pub(crate) async fn next(&mut self) -> Option<CrewNews> {
        tokio::select! {
            biased;
            // Before its agent's answer, after which nobody knows whose it was.
            Some(kept) = self.worktrees.recv() => Some(CrewNews::Shown(self.worktree(kept))),
            Some(event) = self.members.recv() => Some(CrewNews::Shown(self.member(event))),
            Some((job, ended)) = self.wanted.recv() => {
                self.waiting.insert(job.seq, ended);
                Some(CrewNews::Program(ToWorker::Exec(job)))
            }
            else => None,
        }
    }

    /// Forgets a call that has its answer: no child will be started for it any more.
    pub(crate) fn forget(&mut self, seq: u64) {
        self.asked.remove(&seq);
    }

    /// Gives what there is to show and was not waited for.
    pub(crate) fn next_shown(&mut self) -> Option<Shown> {
        if let Ok(kept) = self.worktrees.try_recv() {
            return Some(self.worktree(kept));
        }
        self.members.try_recv().ok().map(|event| self.member(event))
    }

    fn worktree(&self, kept: Kept) -> Shown {
        let asked = self.asked_with(kept.seq);
        Shown::Worktree(kept, asked)
    }

    fn member(&self, event: MemberEvent) -> Shown {
        let (MemberEvent::Started(member) | MemberEvent::Ended(member, _)) = &event;
        let asked = self.asked_with(member.seq);
        Shown::Member(event, asked)
    }

    fn asked_with(&self, seq: u64) -> Asked {
        self.asked.get(&seq).cloned().unwrap_or_default()
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

/// Leaves a model out that the provider does not know.
fn settle_model(request: &mut Request, desk: &Desk) -> Option<Note> {
    let name = request.option("model")?.to_owned();
    if desk.knows_model(&name) {
        return None;
    }
    request.options.shift_remove("model");
    Some(Note {
        code: "model-unknown".into(),
        text: format!("the provider knows no model `{name}`, so its usual one does the work"),
        subject: Some(name),
    })
}

/// Leaves out a kind of isolation that there is not, and says when there is no repository for it.
fn settle_isolation(request: &mut Request, environment: &BTreeMap<String, String>) -> Option<Note> {
    let wanted = request.options.get(worktree::OPTION)?.clone();
    if !worktree::is_wanted(request) {
        request.options.shift_remove(worktree::OPTION);
        return Some(Note {
            code: "option-ignored".into(),
            text: format!("the only `isolation` there is is `worktree`, not {wanted}"),
            subject: Some(worktree::OPTION.into()),
        });
    }
    (!worktree::is_available(&request.folder, environment)).then(|| Note {
        code: "worktree-unavailable".into(),
        text: "the project is in no git repository, so agents with `isolation` work in its folder, one at a time"
            .into(),
        subject: None,
    })
}

/// What agents' programs get: what commands do, without the connection.
fn environment(project: &Project, env_file: &EnvFile) -> BTreeMap<String, String> {
    project.program_environment(env_file, &[])
}

/// The provider that was chosen, if it can be used: what cannot is one error before the first agent, and not a `null` a
/// hundred times.
fn provider(project: &Project, host: &Arc<HostContext>, launch: Arc<BelowWorker>) -> Result<Arc<dyn Provider>, String> {
    match providers::choose(project)? {
        Choice::Command(preset) => {
            let program = preset.program().unwrap_or_default();
            if !launch.finds(program, &project.manifest.root) {
                let setup = if preset.setup.is_empty() { String::new() } else { format!(". {}", preset.setup) };
                return Err(format!(
                    "the provider `{}` cannot be used: there is no program `{program}`{setup}",
                    preset.name
                ));
            }
            Ok(Arc::new(CommandProvider::new(*preset, launch)))
        }
        Choice::Http(settings) => {
            if !providers::is_connected(project) {
                return Err(chat::no_connection());
            }
            Ok(Arc::new(HttpProvider::new(*settings, Arc::new(Endpoint::new(Arc::clone(host))))))
        }
        Choice::Canned(None) => Ok(Arc::new(CannedProvider(Canned::new(Value::Null)))),
        Choice::Canned(Some(file)) => {
            let path = project.manifest.root.join(&file);
            let text = disk::read_text(&path, model::Limits::PROJECT_FILE_BYTES)
                .map_err(|error| format!("the replies of the provider `canned`: {}", error.sentence()))?;
            let list = serde_json::from_str(&text).map_err(|error| format!("the replies in `{file}`: {error}"))?;
            Ok(Arc::new(CannedProvider(Canned::new(list))))
        }
    }
}

/// Has programs started by the run's worker.
struct BelowWorker {
    environment: Arc<BTreeMap<String, String>>,
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
    /// Tells whether there is a program: a path counts from `folder`, a name is looked for where programs are.
    fn finds(&self, program: &str, folder: &Path) -> bool {
        if program.contains('/') {
            return folder.join(program).is_file();
        }
        let path = self.environment.get("PATH").map(String::as_str).unwrap_or_default();
        std::env::split_paths(path).any(|folder| folder.join(program).is_file())
    }

    fn job(&self, line: CommandLine) -> Option<ExecJob> {
        let mut environment = BTreeMap::clone(&self.environment);
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
        let there = job.as_ref().is_some_and(|job| self.finds(&job.program, Path::new(&job.folder)));
        let sender = self.sender.clone();
        Box::pin(async move {
            let job = job.ok_or_else(|| StartRefused("the agent command is empty".into()))?;
            if job.arguments.iter().any(|argument| argument.contains('\0')) {
                return Err(StartRefused("an argument of a program holds no NUL".into()));
            }
            if !there {
                return Err(StartRefused(format!("there is no program `{}`", job.program)));
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
