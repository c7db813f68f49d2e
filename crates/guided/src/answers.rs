//! What callers are told, field by field as the interface names them.

use indexmap::IndexMap;
use serde::Serialize;

use crate::session::Session;
use crate::state::{Given, Run, Values};

/// A job as it is listed.
#[derive(Debug, Clone, Serialize)]
pub struct JobInfo {
    /// The name it is started by: the one inside the file.
    pub name: String,
    /// One line.
    pub summary: String,
    /// In file order.
    pub workflows: Vec<WorkflowInfo>,
}

/// A workflow as it is listed.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowInfo {
    /// Its name.
    pub name: String,
    /// One line.
    pub summary: String,
    /// What the caller should do to run it.
    pub how_to_invoke: String,
}

/// A job that cannot be used.
#[derive(Debug, Clone, Serialize)]
pub struct JobLoadErrorInfo {
    /// Its folder's name.
    pub job_name: String,
    /// Its folder, absolute.
    pub job_dir: String,
    /// What is wrong, and on a line of its own how to mend it.
    pub error: String,
}

/// The answer of `get_workflows`.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowList {
    /// Usable jobs.
    pub jobs: Vec<JobInfo>,
    /// The others.
    pub errors: Vec<JobLoadErrorInfo>,
}

/// A running workflow on the stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StackEntry {
    /// `job/workflow`.
    pub workflow: String,
    /// Its current step.
    pub step: String,
}

impl From<&Run> for StackEntry {
    fn from(run: &Run) -> Self {
        Self { workflow: run.title(), step: run.current_step_id.clone() }
    }
}

/// What a step has to hand in.
#[derive(Debug, Clone, Serialize)]
pub struct ExpectedOutput {
    /// The key in `outputs`.
    pub name: String,
    /// `string` or `file_path`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it is.
    pub description: String,
    /// Whether it may be left out.
    pub required: bool,
    /// How to pass it.
    pub syntax_for_finished_step_tool: &'static str,
}

/// What a step begins with.
#[derive(Debug, Clone, Serialize)]
pub struct StepInputInfo {
    /// The argument's name.
    pub name: String,
    /// `string` or `file_path`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it is.
    pub description: String,
    /// Null when it is not known.
    pub value: Option<Given>,
    /// Whether the step needs it.
    pub required: bool,
}

/// A step that begins.
#[derive(Debug, Clone, Serialize)]
pub struct ActiveStepInfo {
    /// For all later calls.
    pub session_id: String,
    /// The step's name.
    pub step_id: String,
    /// Absolute.
    pub project_root: String,
    /// Absolute.
    pub job_dir: String,
    /// In file order.
    pub step_expected_outputs: Vec<ExpectedOutput>,
    /// In file order.
    pub step_inputs: Vec<StepInputInfo>,
    /// What to do.
    pub step_instructions: String,
    /// The workflow's common text, or nothing.
    pub common_job_info: String,
}

/// The answer of `start_workflow`.
#[derive(Debug, Clone, Serialize)]
pub struct Started {
    /// Fixed advice.
    pub important_note: &'static str,
    /// The first step.
    pub begin_step: ActiveStepInfo,
    /// After starting.
    pub stack: Vec<StackEntry>,
}

/// What `finished_step` led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// The step stays.
    NeedsWork,
    /// The next one begins.
    NextStep,
    /// There was no further step.
    WorkflowComplete,
}

/// The answer of `finished_step`.
#[derive(Debug, Clone, Serialize)]
pub struct Finished {
    /// What it led to.
    pub status: StepStatus,
    /// With `needs_work`.
    pub feedback: Option<String>,
    /// With `next_step`.
    pub begin_step: Option<ActiveStepInfo>,
    /// With `workflow_complete`.
    pub summary: Option<String>,
    /// With `workflow_complete`.
    pub all_outputs: Option<IndexMap<String, Given>>,
    /// With `workflow_complete`.
    pub post_workflow_instructions: Option<String>,
    /// Checks that are configured and did not run; ours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_checked: Vec<String>,
    /// Afterwards.
    pub stack: Vec<StackEntry>,
}

/// The answer of `abort_workflow`.
#[derive(Debug, Clone, Serialize)]
pub struct Aborted {
    /// `job/workflow`.
    pub aborted_workflow: String,
    /// Its current step.
    pub aborted_step: String,
    /// As it was given.
    pub explanation: String,
    /// Afterwards.
    pub stack: Vec<StackEntry>,
    /// The run that is on top now.
    pub resumed_workflow: Option<String>,
    /// Its current step.
    pub resumed_step: Option<String>,
}

/// The answer of `go_to_step`.
#[derive(Debug, Clone, Serialize)]
pub struct WentTo {
    /// The step that begins again.
    pub begin_step: ActiveStepInfo,
    /// From it to the last one.
    pub invalidated_steps: Vec<String>,
    /// Afterwards.
    pub stack: Vec<StackEntry>,
}

/// The answer of `register_session_job`.
#[derive(Debug, Clone, Serialize)]
pub struct Registered {
    /// `registered`.
    pub status: &'static str,
    /// The job.
    pub job_name: String,
    /// Its folder, absolute.
    pub job_dir: String,
    /// What to do with it.
    pub message: String,
}

/// The answer of `get_session_job`.
#[derive(Debug, Clone, Serialize)]
pub struct SessionJob {
    /// The job.
    pub job_name: String,
    /// The text exactly as it was registered.
    pub job_definition_yaml: String,
}

/// A review rule as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReviewInfo {
    /// Its name.
    pub name: String,
    /// One line.
    pub description: String,
    /// Path and line.
    pub defining_file: String,
}

/// A named schema as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SchemaInfo {
    /// Its name.
    pub name: String,
    /// One line, or nothing.
    pub summary: String,
    /// Which files it is for.
    pub matchers: Vec<String>,
}

/// An answer together with the run that it is about, as it is now, for whoever keeps a history. The session stays locked
/// until this is dropped, so that histories are written in the order of what happened, whichever process did it.
#[derive(Debug)]
pub struct Done<T> {
    /// What the caller is told.
    pub answer: T,
    /// The run.
    pub run: Run,
    /// The instance during whose step the run was started, if one was active.
    pub parent: Option<String>,
    /// The lock.
    pub session: Session,
}

/// What `start_workflow` takes.
#[derive(Debug, Clone, Default)]
pub struct StartArguments {
    /// What the user wants.
    pub goal: String,
    /// The job.
    pub job_name: String,
    /// The workflow.
    pub workflow_name: String,
    /// The session; made when there is none, except where the platform gives one.
    pub session_id: Option<String>,
    /// For the first step.
    pub inputs: Values,
    /// The agent whose stack it goes on.
    pub agent_id: Option<String>,
}

/// What `finished_step` takes.
#[derive(Debug, Clone, Default)]
pub struct FinishArguments {
    /// By argument name.
    pub outputs: Values,
    /// What was done and how.
    pub work_summary: Option<String>,
    /// Why reviews are skipped.
    pub override_reason: Option<String>,
    /// The session.
    pub session_id: String,
    /// The agent whose stack it is about.
    pub agent_id: Option<String>,
}
