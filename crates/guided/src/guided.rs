//! What can be asked of guided workflows: listing, starting, finishing a step, going back, giving up.
//!
//! Nothing is kept between calls but readings of unchanged files: each call reads the session's state, changes it under
//! the session's lock, writes it and only then answers. Sessions do not wait for each other.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use model::{Clock, IdSource, SystemClock, SystemIds, format_timestamp};
use process::Environment;

use crate::answers::{
    Aborted, Done, FinishArguments, Finished, JobInfo, JobLoadErrorInfo, StackEntry, StartArguments, Started,
    StepStatus, WentTo, WorkflowInfo, WorkflowList,
};
use crate::builtin;
use crate::catalog::{Catalog, Found, Listed, Listing, folder_list};
use crate::changes::Git;
use crate::command::Stop;
use crate::error::GuidedError;
use crate::files;
use crate::gate::{self, Verdict};
use crate::instructions::Writer;
use crate::job::Workflow;
use crate::paths::Places;
use crate::session::{self, Session};
use crate::state::{Beginning, Given, Run, RunStatus, Stack, Values};
use crate::status;
use crate::step_text::{StepPlace, resolve_inputs};

/// The platform when none was named.
pub const DEFAULT_PLATFORM: &str = "claude";

/// Advice that goes with every start.
const IMPORTANT_NOTE: &str = "If it is not clear what the user wants, ask before you begin the first step: use the \
    question tool (AskUserQuestion) where there is one. A wrong guess costs a whole workflow.";

/// What the product decides for all projects.
#[derive(Clone)]
pub struct Settings {
    /// The platform as it was named, if it was.
    pub platform: Option<String>,
    /// What git and commands get, and where further folders are named.
    pub environment: Environment,
    /// Whether commands that rules and schemas name may run.
    pub commands: bool,
    /// The image of ours that keeps the commands of rules and schemas, so that they end with us (see
    /// [`process::keeper`]). Without one, what such a command leaves running may outlive us.
    pub keeper: Option<PathBuf>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn IdSource>,
}

impl Settings {
    /// Makes settings with this environment, the machine's clock and its random source.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self {
            platform: None,
            environment,
            commands: true,
            keeper: None,
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        formatter.debug_struct("Settings").field("platform", &self.platform).finish_non_exhaustive()
    }
}

/// Guided workflows, for any number of projects.
#[derive(Debug)]
pub struct Guided {
    settings: Settings,
    catalog: Catalog,
}

/// Guided workflows in one project.
#[derive(Debug)]
pub struct Project<'a> {
    guided: &'a Guided,
    places: Places,
    stop: Stop,
}

/// What a client is told at its opening.
#[derive(Debug, Clone, Default)]
pub struct Startup {
    /// Text for the client's model, at most [`INSTRUCTIONS`] characters.
    pub instructions: String,
    /// Text that goes with answers while something is wrong with jobs.
    pub issue: Option<String>,
}

/// What clients read of their instructions.
pub const INSTRUCTIONS: usize = 2_048;

impl Guided {
    /// Makes it ready; nothing is read yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self { settings, catalog: Catalog::default() }
    }

    /// Turns to a project by its root, which is made absolute with links resolved.
    ///
    /// # Errors
    ///
    /// When it is no folder, or the platform's name cannot be a folder's.
    pub fn project(&self, root: &Path) -> Result<Project<'_>, GuidedError> {
        let root =
            root.canonicalize().ok().filter(|root| root.is_dir()).ok_or_else(|| GuidedError::Root(root.to_owned()))?;
        let platform = self.settings.platform.as_deref().unwrap_or(DEFAULT_PLATFORM);
        Ok(Project { guided: self, places: Places::new(&root, platform)?, stop: Stop::default() })
    }
}

/// A job found for a run, with its workflow.
struct Loaded {
    found: Found,
    name: String,
}

impl Loaded {
    fn workflow(&self) -> Option<&Workflow> {
        self.found.job.workflows.get(&self.name)
    }
}

impl<'a> Project<'a> {
    /// Ends what is run for a call, and the call, when this is raised.
    #[must_use]
    pub fn until(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// The project's root.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.places.root()
    }

    /// Where things lie.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The platform in use.
    #[must_use]
    pub fn platform(&self) -> &str {
        self.guided.settings.platform.as_deref().unwrap_or(DEFAULT_PLATFORM)
    }

    pub(crate) fn environment(&self) -> &'a process::Environment {
        &self.guided.settings.environment
    }

    pub(crate) fn commands(&self) -> bool {
        self.guided.settings.commands
    }

    pub(crate) fn keeper(&self) -> Option<&'a Path> {
        self.guided.settings.keeper.as_deref()
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    pub(crate) fn git(&self) -> Git<'_> {
        Git::new(self.root(), self.environment()).until(&self.stop)
    }

    /// Whatever was found out for a call that was cancelled may be half of it, and decides nothing.
    pub(crate) fn wanted(&self) -> Result<(), GuidedError> {
        if self.stop.is_raised() { Err(GuidedError::Cancelled) } else { Ok(()) }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.guided.settings.environment.get(std::ffi::OsStr::new(name))?.to_str().map(str::to_owned)
    }

    pub(crate) fn catalog(&self) -> &'a Catalog {
        &self.guided.catalog
    }

    pub(crate) fn writer(&self) -> Writer<'_> {
        Writer {
            places: &self.places,
            environment: self.environment(),
            commands: self.commands(),
            keeper: self.keeper(),
            stop: &self.stop,
        }
    }

    pub(crate) fn now(&self) -> String {
        let time = format_timestamp(self.guided.settings.clock.now());
        // The reference writes an offset, and readers of its files may need one.
        time.strip_suffix('Z').map_or_else(|| time.clone(), |time| format!("{time}+00:00"))
    }

    fn new_id(&self) -> String {
        let mut bytes = [0; 16];
        self.guided.settings.ids.fill(&mut bytes);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn further_jobs(&self) -> Vec<PathBuf> {
        folder_list(self.variable("DEEPWORK_ADDITIONAL_JOBS_FOLDERS").as_deref(), self.root())
    }

    /// Looks at every job.
    #[must_use]
    pub fn listing(&self) -> Listing {
        self.catalog().recall(&self.places.outlines());
        self.catalog().list(&self.places.jobs(), &self.places.built_in(), &self.further_jobs())
    }

    /// Finds a job for a session: its own first.
    pub(crate) fn find_job(&self, name: &str, session: Option<&str>) -> Result<Found, GuidedError> {
        if let Some(session) = session
            && crate::names::check("job_name", name).is_ok()
        {
            let path = self.places.session(session)?.join("jobs").join(name);
            if path.join(crate::job::JOB_FILE).exists() {
                return match self.catalog().load(&path) {
                    Ok(job) => Ok(Found { folder: name.to_owned(), path, job, built_in: false }),
                    Err(error) => Err(GuidedError::BrokenJob(Box::new(crate::catalog::Broken {
                        folder: name.to_owned(),
                        path,
                        error,
                    }))),
                };
            }
        }
        let (project, built_in, further) = (self.places.jobs(), self.places.built_in(), self.further_jobs());
        match self.catalog().find(name, &project, &built_in, &further) {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(GuidedError::NoSuchJob {
                job: name.to_owned(),
                known: self.listing().jobs.into_iter().map(|found| found.folder).collect(),
            }),
            Err(broken) => Err(GuidedError::BrokenJob(Box::new(broken))),
        }
    }

    /// Prepares the project's folder for a server, and says what its clients should know.
    #[must_use]
    pub fn start_up(&self) -> Startup {
        self.tolerate(self.places.make(&self.places.temporary()));
        let schema = self.places.own().join("job.schema.json");
        if files::read_text(&schema, 1 << 20).ok().as_deref() != Some(builtin::JOB_SCHEMA) {
            self.tolerate(self.places.write(&schema, builtin::JOB_SCHEMA.as_bytes()));
        }
        let listing = self.listing();
        Startup { instructions: instructions(&listing), issue: issue(&listing) }
    }

    /// Writes the list of jobs for other programs and for the next start. Apart from [`Project::start_up`], since no client waits for it.
    pub fn tell_jobs(&self) {
        let listing = self.listing();
        // First what makes the next start quick, since a client may end this one at once.
        let now = self.guided.settings.clock.now();
        self.tolerate(self.catalog().keep(&self.places, now));
        self.tolerate(status::write_manifest(&self.places, self.catalog(), &listing));
    }

    /// What other programs read may fail to be written without failing a call.
    fn tolerate(&self, outcome: Result<(), files::FileError>) {
        if let Err(error) = outcome {
            tracing::warn!("{}", model::with_causes(&error));
        }
    }

    /// `get_workflows`: every job with its workflows, and every job that cannot be used.
    #[must_use]
    pub fn get_workflows(&self) -> WorkflowList {
        let listing = self.listing();
        self.tolerate(status::write_manifest(&self.places, self.catalog(), &listing));
        let jobs = listing.jobs.iter().map(job_info).collect();
        let errors = listing
            .broken
            .iter()
            .map(|broken| JobLoadErrorInfo {
                job_name: broken.folder.clone(),
                job_dir: files::display(&broken.path),
                error: format!("{}\n{}", model::with_causes(broken.error.as_ref()), broken.suggestion()),
            })
            .collect();
        WorkflowList { jobs, errors }
    }

    /// `start_workflow`: puts a run on the stack and begins its first step.
    ///
    /// # Errors
    ///
    /// For an unknown or broken job, an unknown workflow, a missing or unsafe id, and when the state cannot be written.
    pub fn start_workflow(&self, arguments: StartArguments) -> Result<Done<Started>, GuidedError> {
        let given = arguments.session_id.as_deref().filter(|id| !id.is_empty());
        let agent = checked(arguments.agent_id.as_deref())?;
        let found = self.find_job(&arguments.job_name, given)?;
        let name = choose_workflow(&found, &arguments.workflow_name)?;
        let session_id = match given {
            Some(id) => id.to_owned(),
            None if self.guided.settings.platform.as_deref() == Some(DEFAULT_PLATFORM) => {
                return Err(GuidedError::SessionRequired);
            }
            None => self.new_id(),
        };
        if found.built_in {
            self.tolerate(builtin::lay_out(&found.folder, &self.places));
        }
        let loaded = Loaded { found, name };
        let Some(workflow) = loaded.workflow() else { return Err(unknown_workflow(&loaded.found, &loaded.name)) };
        let now = self.now();
        let declared = workflow.steps.first().map(|step| &step.inputs);
        let start_inputs = arguments
            .inputs
            .into_iter()
            .filter(|(name, _)| declared.is_some_and(|declared| declared.contains_key(name)))
            .collect();
        let session = Session::open(&self.places, &session_id)?;
        let mut main = session.stack(None)?;
        let mut own = match agent {
            Some(agent) => session.stack(Some(agent))?,
            None => std::mem::take(&mut main),
        };
        let mut run = Run::new(
            Beginning {
                session_id: session_id.clone(),
                instance_id: self.new_id(),
                job_name: loaded.found.folder.clone(),
                workflow_name: loaded.name.clone(),
                goal: arguments.goal,
                start_inputs,
            },
            &now,
        );
        let (begin_step, _) = self.begin(&loaded, workflow, 0, &mut run, &now)?;
        let mut parent = None;
        if let Some(above) = own.workflow_stack.last_mut() {
            above.note_sub_run(&run.workflow_instance_id);
            parent = Some(above.workflow_instance_id.clone());
        } else if let (Some(_), Some(above)) = (agent, main.workflow_stack.last_mut()) {
            above.note_sub_run(&run.workflow_instance_id);
            parent = Some(above.workflow_instance_id.clone());
            session.write_stack(None, &main)?;
        }
        own.workflow_stack.push(run.clone());
        session.write_stack(agent, &own)?;
        self.tell(&session, &session_id);
        let stack = stack_entries(agent.is_some().then_some(&main), &own);
        Ok(Done { answer: Started { important_note: IMPORTANT_NOTE, begin_step, stack }, run, parent, session })
    }

    /// `finished_step`: checks what was handed in, puts it through the gate, and goes on to the next step or the end.
    ///
    /// # Errors
    ///
    /// When nothing runs, the job or its step is gone, or the outputs do not fit: then nothing is recorded.
    pub fn finished_step(&self, arguments: FinishArguments) -> Result<Done<Finished>, GuidedError> {
        let agent = checked(arguments.agent_id.as_deref())?;
        let (session, mut own) = self.active(&arguments.session_id, agent)?;
        let main = self.main_of(&session, agent)?;
        let parent = parent_of(main.as_ref(), &own);
        let Some(run) = own.workflow_stack.last_mut() else {
            return Err(nothing_active(&arguments.session_id, agent));
        };
        let loaded = self.load_run(run)?;
        let Some(workflow) = loaded.workflow() else { return Err(unknown_workflow(&loaded.found, &loaded.name)) };
        let Some(index) = workflow.position(&run.current_step_id) else {
            return Err(GuidedError::StepGone {
                step: run.current_step_id.clone(),
                workflow: run.title(),
                known: step_names(workflow),
            });
        };
        let place = self.place(&loaded, workflow, index)?;
        crate::outputs::check(self.root(), place.job, place.step, &arguments.outputs)?;
        let reason = arguments.override_reason.filter(|reason| !reason.is_empty());
        let mut not_checked = Vec::new();
        if reason.is_none() {
            let inputs =
                run.step_progress.get(&run.current_step_id).map(|step| step.input_values.clone()).unwrap_or_default();
            let summary = arguments.work_summary.as_deref();
            let verdict = gate::pass(self, &place, &inputs, &arguments.outputs, summary);
            self.wanted()?;
            match verdict? {
                Verdict::Passes { not_checked: notes } => not_checked = notes,
                Verdict::NeedsWork(feedback) => {
                    run.count_attempt();
                    let run = run.clone();
                    session.write_stack(agent, &own)?;
                    let answer = Finished {
                        feedback: Some(feedback),
                        ..finished(StepStatus::NeedsWork, stack_entries(main.as_ref(), &own))
                    };
                    return Ok(Done { answer, run, parent, session });
                }
            }
        }
        let now = self.now();
        run.finish_step(arguments.outputs, arguments.work_summary, reason, &now);
        let (mut answer, ended) = if index + 1 < workflow.steps.len() {
            let (begin_step, _) = self.begin(&loaded, workflow, index + 1, run, &now)?;
            (Finished { begin_step: Some(begin_step), ..finished(StepStatus::NextStep, Vec::new()) }, false)
        } else {
            run.status = RunStatus::Completed;
            run.completed_at = Some(now);
            let answer = Finished {
                summary: Some(format!("The workflow `{}` is complete: all its steps are finished.", run.title())),
                all_outputs: Some(all_outputs(workflow, run)),
                post_workflow_instructions: workflow.afterwards.clone(),
                ..finished(StepStatus::WorkflowComplete, Vec::new())
            };
            (answer, true)
        };
        let run = run.clone();
        if ended {
            end_top(&mut own);
        }
        session.write_stack(agent, &own)?;
        self.tell(&session, &arguments.session_id);
        answer.not_checked = not_checked;
        answer.stack = stack_entries(main.as_ref(), &own);
        Ok(Done { answer, run, parent, session })
    }

    /// `abort_workflow`: gives up the run on top.
    ///
    /// # Errors
    ///
    /// When nothing runs, and when the state cannot be written.
    pub fn abort_workflow(
        &self,
        explanation: String,
        session_id: &str,
        agent_id: Option<&str>,
    ) -> Result<Done<Aborted>, GuidedError> {
        let agent = checked(agent_id)?;
        let (session, mut own) = self.active(session_id, agent)?;
        let main = self.main_of(&session, agent)?;
        let parent = parent_of(main.as_ref(), &own);
        let Some(run) = abort_top(&mut own, &explanation, &self.now()) else {
            return Err(nothing_active(session_id, agent));
        };
        session.write_stack(agent, &own)?;
        self.tell(&session, session_id);
        let resumed = own.workflow_stack.last();
        let answer = Aborted {
            aborted_workflow: run.title(),
            aborted_step: run.current_step_id.clone(),
            explanation,
            resumed_workflow: resumed.map(Run::title),
            resumed_step: resumed.map(|run| run.current_step_id.clone()),
            stack: stack_entries(main.as_ref(), &own),
        };
        Ok(Done { answer, run, parent, session })
    }

    /// Gives up a run wherever it is, and what was started on top of it: for whoever stands outside of its session. Waits
    /// for a call of that session. Returns the runs that were given up, the topmost first, with the session, which stays
    /// locked; `None` when it is on no stack.
    ///
    /// # Errors
    ///
    /// When the state cannot be read or written.
    pub fn cancel(&self, instance: &str, explanation: &str) -> Result<Option<(Vec<Run>, Session)>, GuidedError> {
        let is_it = |run: &Run| run.workflow_instance_id == instance;
        for (places, listed) in self.all_sessions() {
            let look = Session::look(&places, listed.folder.clone());
            let holds = |session: &Session, agent: Option<&str>| {
                session.stack(agent).is_ok_and(|stack| stack.workflow_stack.iter().any(is_it))
            };
            let agents: Vec<Option<String>> =
                std::iter::once(None).chain(look.agents().into_iter().map(Some)).collect();
            let Some(agent) = agents.iter().map(Option::as_deref).find(|agent| holds(&look, *agent)) else { continue };
            let session = Session::open(&places, &listed.id)?;
            // It may have ended since the look.
            let mut stack = session.stack(agent)?;
            let Some(place) = stack.workflow_stack.iter().position(is_it) else { return Ok(None) };
            let mut given_up = Vec::new();
            while stack.workflow_stack.len() > place {
                given_up.extend(abort_top(&mut stack, explanation, &self.now()));
            }
            session.write_stack(agent, &stack)?;
            let elsewhere = Project { guided: self.guided, places, stop: self.stop.clone() };
            elsewhere.tell(&session, &listed.id);
            return Ok(Some((given_up, session)));
        }
        Ok(None)
    }

    /// Finds the ended runs among these instances, with their sessions' places; nothing is locked.
    #[must_use]
    pub fn ended(&self, instances: &std::collections::HashSet<String>) -> Vec<Run> {
        let mut found = Vec::new();
        for (places, listed) in self.all_sessions() {
            let session = Session::look(&places, listed.folder);
            let agents = session.agents();
            for agent in std::iter::once(None).chain(agents.iter().map(|agent| Some(agent.as_str()))) {
                let ended = session.stack(agent).unwrap_or_default().completed_workflows;
                found.extend(ended.into_iter().filter(|run| instances.contains(&run.workflow_instance_id)));
            }
        }
        found
    }

    /// Every session of every platform.
    pub(crate) fn all_sessions(&self) -> Vec<(Places, session::Listed)> {
        let all = self.places.temporary().join("sessions");
        let mut found = Vec::new();
        for platform in crate::catalog::subfolders(&all) {
            let Ok(places) = Places::new(self.root(), &platform) else { continue };
            let sessions = session::list(&places, &places.sessions());
            found.extend(sessions.into_iter().map(|listed| (places.clone(), listed)));
        }
        found
    }

    /// `go_to_step`: goes back to a step, or begins the current one again; progress from there on is dropped.
    ///
    /// # Errors
    ///
    /// When nothing runs, or the step is unknown or comes later.
    pub fn go_to_step(
        &self,
        step: &str,
        session_id: &str,
        agent_id: Option<&str>,
    ) -> Result<Done<WentTo>, GuidedError> {
        let agent = checked(agent_id)?;
        let (session, mut own) = self.active(session_id, agent)?;
        let main = self.main_of(&session, agent)?;
        let parent = parent_of(main.as_ref(), &own);
        let Some(run) = own.workflow_stack.last_mut() else { return Err(nothing_active(session_id, agent)) };
        let loaded = self.load_run(run)?;
        let Some(workflow) = loaded.workflow() else { return Err(unknown_workflow(&loaded.found, &loaded.name)) };
        let names = step_names(workflow);
        let Some(target) = workflow.position(step) else {
            return Err(GuidedError::NoSuchStep { step: step.to_owned(), workflow: run.title(), known: names });
        };
        // A current step that was renamed meanwhile still has its place.
        let current = workflow
            .position(&run.current_step_id)
            .unwrap_or_else(|| run.current_step_index.min(names.len().saturating_sub(1)));
        if target > current {
            return Err(GuidedError::Forward {
                step: step.to_owned(),
                current: run.current_step_id.clone(),
                known: names.into_iter().take(current + 1).collect(),
            });
        }
        let invalidated: Vec<String> = names.get(target..).unwrap_or_default().to_vec();
        run.step_progress.retain(|name, _| !invalidated.contains(name));
        let now = self.now();
        let (begin_step, _) = self.begin(&loaded, workflow, target, run, &now)?;
        let run = run.clone();
        session.write_stack(agent, &own)?;
        self.tell(&session, session_id);
        let answer = WentTo { begin_step, invalidated_steps: invalidated, stack: stack_entries(main.as_ref(), &own) };
        Ok(Done { answer, run, parent, session })
    }

    fn active(&self, session_id: &str, agent: Option<&str>) -> Result<(Session, Stack), GuidedError> {
        let Some(session) = Session::open_existing(&self.places, session_id)? else {
            return Err(nothing_active(session_id, agent));
        };
        let stack = session.stack(agent)?;
        if stack.workflow_stack.is_empty() {
            return Err(nothing_active(session_id, agent));
        }
        Ok((session, stack))
    }

    /// The main stack, when the call is about an agent's.
    fn main_of(&self, session: &Session, agent: Option<&str>) -> Result<Option<Stack>, GuidedError> {
        Ok(match agent {
            Some(_) => Some(session.stack(None)?),
            None => None,
        })
    }

    /// Lists the steps of a run's workflow as its job has them now; none when it cannot be read any more.
    #[must_use]
    pub fn steps_of(&self, run: &Run) -> Vec<String> {
        self.load_run(run).ok().and_then(|loaded| loaded.workflow().map(step_names)).unwrap_or_default()
    }

    fn load_run(&self, run: &Run) -> Result<Loaded, GuidedError> {
        let found = self.find_job(&run.job_name, Some(&run.session_id))?;
        Ok(Loaded { found, name: run.workflow_name.clone() })
    }

    fn place<'b>(
        &'b self,
        loaded: &'b Loaded,
        workflow: &'b Workflow,
        index: usize,
    ) -> Result<StepPlace<'b>, GuidedError> {
        let step = workflow.steps.get(index).ok_or_else(|| GuidedError::NoSuchStep {
            step: format!("number {}", index + 1),
            workflow: loaded.name.clone(),
            known: step_names(workflow),
        })?;
        Ok(StepPlace { root: self.root(), job_folder: &loaded.found.path, job: &loaded.found.job, workflow, step })
    }

    fn begin(
        &self,
        loaded: &Loaded,
        workflow: &Workflow,
        index: usize,
        run: &mut Run,
        now: &str,
    ) -> Result<(crate::answers::ActiveStepInfo, Values), GuidedError> {
        let place = self.place(loaded, workflow, index)?;
        let inputs = resolve_inputs(workflow, index, run);
        run.begin_step(&place.step.name, index, inputs.clone(), now);
        Ok((place.begin(run, &inputs), inputs))
    }

    /// Writes the session's status for other programs.
    fn tell(&self, session: &Session, session_id: &str) {
        let job_of = |run: &Run| self.find_job(&run.job_name, Some(session_id)).ok().map(|found| found.job);
        self.tolerate(status::write_session(&self.places, session, session_id, &self.now(), job_of));
    }
}

fn finished(status: StepStatus, stack: Vec<StackEntry>) -> Finished {
    Finished {
        status,
        feedback: None,
        begin_step: None,
        summary: None,
        all_outputs: None,
        post_workflow_instructions: None,
        not_checked: Vec::new(),
        stack,
    }
}

fn end_top(stack: &mut Stack) {
    if let Some(run) = stack.workflow_stack.pop() {
        stack.completed_workflows.push(run);
    }
}

/// Takes the run on top down as given up.
fn abort_top(stack: &mut Stack, why: &str, now: &str) -> Option<Run> {
    let run = stack.workflow_stack.last_mut()?;
    run.status = RunStatus::Aborted;
    run.completed_at = Some(now.to_owned());
    run.abort_reason = Some(why.to_owned());
    let run = run.clone();
    end_top(stack);
    Some(run)
}

/// Finds during whose step the run on top was started: what is below it, or one of the main stack that noted it.
fn parent_of(main: Option<&Stack>, own: &Stack) -> Option<String> {
    let top = own.workflow_stack.last()?;
    let noted = |run: &&Run| {
        run.step_history.iter().any(|step| step.sub_workflow_instance_ids.contains(&top.workflow_instance_id))
    };
    let all =
        main.into_iter().chain([own]).flat_map(|stack| stack.workflow_stack.iter().chain(&stack.completed_workflows));
    all.into_iter().find(noted).map(|run| run.workflow_instance_id.clone())
}

/// An agent's id, which selects a stack: an empty one is a mistake, and must not select another's.
fn checked(agent: Option<&str>) -> Result<Option<&str>, GuidedError> {
    Ok(agent.map(|agent| crate::names::check("agent_id", agent)).transpose()?)
}

fn nothing_active(session: &str, agent: Option<&str>) -> GuidedError {
    GuidedError::NothingActive { session: session.to_owned(), agent: agent.map(str::to_owned) }
}

fn step_names(workflow: &Workflow) -> Vec<String> {
    workflow.steps.iter().map(|step| step.name.clone()).collect()
}

fn unknown_workflow(found: &Found, wanted: &str) -> GuidedError {
    GuidedError::NoSuchWorkflow {
        job: found.folder.clone(),
        workflow: wanted.to_owned(),
        known: found.job.workflows.keys().cloned().collect(),
    }
}

/// By its name; or the only one there is, whatever was said.
fn choose_workflow(found: &Found, wanted: &str) -> Result<String, GuidedError> {
    let workflows = &found.job.workflows;
    if workflows.contains_key(wanted) {
        return Ok(wanted.to_owned());
    }
    match workflows.keys().next() {
        Some(only) if workflows.len() == 1 => Ok(only.clone()),
        Some(_) | None => Err(unknown_workflow(found, wanted)),
    }
}

fn stack_entries(main: Option<&Stack>, own: &Stack) -> Vec<StackEntry> {
    main.into_iter().chain([own]).flat_map(|stack| &stack.workflow_stack).map(StackEntry::from).collect()
}

/// Of two steps that give a value of one name, the later step's counts.
fn all_outputs(workflow: &Workflow, run: &Run) -> IndexMap<String, Given> {
    let mut all = IndexMap::new();
    let gone = run.step_progress.iter().filter(|(name, _)| workflow.position(name).is_none()).map(|(_, step)| step);
    let present = workflow.steps.iter().filter_map(|step| run.step_progress.get(&step.name));
    for progress in gone.chain(present) {
        for (name, value) in &progress.outputs {
            all.insert(name.clone(), value.clone());
        }
    }
    all
}

fn job_info(listed: &Listed) -> JobInfo {
    let job = &listed.outline;
    JobInfo {
        name: job.name.clone(),
        summary: job.summary.clone(),
        workflows: job
            .workflows
            .iter()
            .map(|(name, workflow)| WorkflowInfo {
                name: name.clone(),
                summary: workflow.summary.clone(),
                how_to_invoke: how_to_invoke(&job.name, name, workflow.agent.as_deref()),
            })
            .collect(),
    }
}

fn how_to_invoke(job: &str, workflow: &str, agent: Option<&str>) -> String {
    let call = format!("`start_workflow` with job_name `{job}` and workflow_name `{workflow}`");
    match agent {
        None => format!("Call {call}, then follow the instructions of each step."),
        Some(agent) => format!(
            "Start a sub-agent of the type `{agent}`, give it everything it has to know, and have it call {call} and \
             follow the steps. If you cannot start agents, call it yourself."
        ),
    }
}

const LIFE_CYCLE: &str = "Guided workflows lead you through a job step by step. How it goes:\n\
    1. `get_workflows` tells what there is.\n\
    2. `start_workflow` begins; its answer holds the first step's instructions.\n\
    3. Do the step, then call `finished_step` with its outputs. `needs_work`: correct what the feedback says and call \
    again. `next_step`: go on with the instructions given.\n\
    4. `workflow_complete` ends it. `go_to_step` goes back, `abort_workflow` gives up.\n\
    Pass the session_id of the first answer (`begin_step.session_id`) in every later call; where your startup context \
    holds CLAUDE_CODE_SESSION_ID, start with that one. A sub-agent also passes its agent_id.";

fn issue_lines(listing: &Listing) -> Vec<String> {
    listing
        .broken
        .iter()
        .map(|broken| {
            let error = model::with_causes(broken.error.as_ref()).replace('\n', " ");
            format!("- {}: {error} {}", broken.folder, broken.suggestion())
        })
        .collect()
}

/// The text that goes with answers while jobs are broken.
fn issue(listing: &Listing) -> Option<String> {
    if listing.broken.is_empty() {
        return None;
    }
    Some(format!(
        "# Some jobs cannot be used\n\nOffer the user at once to repair them.\n\n{}",
        issue_lines(listing).join("\n")
    ))
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// What changes comes first, so that it is what survives in a client that cuts.
fn instructions(listing: &Listing) -> String {
    let room = INSTRUCTIONS - LIFE_CYCLE.chars().count() - 2;
    if !listing.broken.is_empty() {
        let text = format!(
            "# Warning: some jobs cannot be used\nOffer the user to repair them.\n{}",
            issue_lines(listing).join("\n")
        );
        return format!("{}\n\n{LIFE_CYCLE}", shorten(&text, room));
    }
    if listing.jobs.is_empty() {
        return LIFE_CYCLE.to_owned();
    }
    let jobs: Vec<String> = listing
        .jobs
        .iter()
        .map(|Listed { outline, .. }| {
            let workflows: Vec<&str> = outline.workflows.keys().map(String::as_str).collect();
            format!("- {} [{}]: {}", outline.name, workflows.join(", "), outline.summary)
        })
        .collect();
    let text = format!("Jobs here:\n{}", jobs.join("\n"));
    let text = if text.chars().count() > room {
        format!("There are {} jobs here: call `get_workflows` to see them.", listing.jobs.len())
    } else {
        text
    };
    format!("{text}\n\n{LIFE_CYCLE}")
}

#[cfg(test)]
#[path = "guided_tests.rs"]
mod tests;
