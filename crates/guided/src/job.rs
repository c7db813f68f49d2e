//! A job definition, `job.yml`: what it holds, and reading it with every check.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;

use crate::check::{self, Check, Fields, IDENTIFIER, Need, Place, Violation, is_identifier};
use crate::files::{self, FileError};
use crate::review_block::{ReviewBlock, read_block};
use crate::yaml::{self, YamlError};

/// A job file's size: 4 MiB. Real ones have a few hundred lines.
pub const JOB_BYTES: u64 = 4 * 1024 * 1024;

/// The name of a job's file in its folder.
pub const JOB_FILE: &str = "job.yml";

/// A job: named workflows over named values.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The name inside the file, which need not be the folder's.
    pub name: String,
    /// One line on what it is for.
    pub summary: String,
    /// The values that steps take and give; of two with one name the first counts.
    pub arguments: Vec<Argument>,
    /// In file order.
    pub workflows: IndexMap<String, Workflow>,
}

/// A value that steps take or give.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// How it is passed.
    pub kind: ArgumentKind,
    /// A review that is due whenever it is an output.
    pub review: Option<ReviewBlock>,
    /// What files of it have to satisfy.
    pub json_schema: Option<Value>,
}

/// How a value is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// The value itself.
    Text,
    /// A path, or several.
    FilePath,
}

impl ArgumentKind {
    /// The word in files and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::FilePath => "file_path",
        }
    }
}

/// Steps in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// One line on what it does.
    pub summary: String,
    /// The type of agent that callers should hand it to.
    pub agent: Option<String>,
    /// Said with every step.
    pub common_info: Option<String>,
    /// At least one.
    pub steps: Vec<Step>,
    /// Said at the end.
    pub afterwards: Option<String>,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its name, unique in its workflow.
    pub name: String,
    /// What to do.
    pub task: Task,
    /// Names of arguments and whether each is required.
    pub inputs: IndexMap<String, bool>,
    /// In file order.
    pub outputs: IndexMap<String, Output>,
    /// What the work itself has to satisfy, by name.
    pub process_requirements: IndexMap<String, String>,
}

/// What a step asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// This.
    Instructions(String),
    /// Another workflow, to be started by the caller.
    SubWorkflow {
        /// Its job; the step's own when there is none.
        job: Option<String>,
        /// Its name.
        workflow: String,
    },
}

/// What a step hands in.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Whether it may be left out.
    pub required: bool,
    /// A review of its own, beside the argument's.
    pub review: Option<ReviewBlock>,
}

impl Job {
    /// Finds the declaration of a value.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}

impl Workflow {
    /// Finds a step's place.
    #[must_use]
    pub fn position(&self, step: &str) -> Option<usize> {
        self.steps.iter().position(|candidate| candidate.name == step)
    }
}

/// Why a job cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The folder is missing.
    #[error("the job folder `{}` does not exist", .0.display())]
    NoFolder(PathBuf),
    /// The path is something else.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder's name cannot be said in a call.
    #[error(transparent)]
    Name(#[from] crate::names::UnsafeName),
    /// The folder holds no job.
    #[error("`{}` holds no {JOB_FILE}", .0.display())]
    NoFile(PathBuf),
    /// Unreadable, too large, or no text.
    #[error(transparent)]
    File(#[from] FileError),
    /// No YAML.
    #[error("`{}` is no valid YAML: {source}", path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its position.
        source: YamlError,
    },
    /// Nothing in it.
    #[error("`{}` is empty", .0.display())]
    Empty(PathBuf),
    /// A list or a single value.
    #[error("`{}` must hold a mapping at the top, found {found}", path.display())]
    NotAMapping {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: &'static str,
    },
    /// Against the rules of the format.
    #[error("`{}` does not follow the job format:\n{}", path.display(), check::listed(violations))]
    Format {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong.
        violations: Vec<Violation>,
    },
}

/// Reads the job in a folder.
///
/// # Errors
///
/// Says what is wrong with the folder, the file or its content.
pub fn load(folder: &Path) -> Result<Job, LoadError> {
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LoadError::NoFolder(folder.to_owned()));
        }
        Err(error) => return Err(FileError::io("read", folder, error).into()),
        Ok(facts) if !facts.is_dir() => return Err(LoadError::NotAFolder(folder.to_owned())),
        Ok(_) => {}
    }
    let path = folder.join(JOB_FILE);
    match files::read_text(&path, JOB_BYTES) {
        Ok(text) => parse(&text, &path),
        Err(error) if error.is_not_found() => Err(LoadError::NoFile(folder.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Reads the text of a job file; `path` is only for messages.
///
/// # Errors
///
/// As [`load`].
pub fn parse(text: &str, path: &Path) -> Result<Job, LoadError> {
    let root = yaml::parse(text)
        .map_err(|source| LoadError::Yaml { path: path.to_owned(), source })?
        .ok_or_else(|| LoadError::Empty(path.to_owned()))?;
    if root.as_mapping().is_none() {
        return Err(LoadError::NotAMapping { path: path.to_owned(), found: root.type_name() });
    }
    let mut check = Check::default();
    let job = read_job(&mut check, &Place::root(&root));
    // What names something else is looked at only when every name could be read.
    if check.violations.is_empty()
        && let Some(job) = &job
    {
        check_references(&mut check, &Place::root(&root), job);
    }
    match job {
        Some(job) if check.violations.is_empty() => Ok(job),
        Some(_) | None => Err(LoadError::Format { path: path.to_owned(), violations: check.violations }),
    }
}

/// Keys of older formats and what took their place.
const OLDER_TOP: &[(&str, &str)] = &[
    ("version", "the format has no version any more: remove it"),
    ("steps", "steps stand inside a workflow now: `workflows: {NAME: {summary: …, steps: […]}}`"),
    ("description", "use `summary` here and `common_job_info_provided_to_all_steps_at_runtime` in a workflow"),
    ("common_job_info_provided_to_all_steps_at_runtime", "it stands inside each workflow now"),
];

const OLDER_STEP: &[(&str, &str)] = &[
    ("id", "a step is named by `name`"),
    ("description", "say it in `instructions`"),
    ("instructions_file", "write the text into `instructions`; files under `steps/` are not read any more"),
    ("dependencies", "steps run in the order they stand in"),
    ("quality_criteria", "use a `review` on an output, or `process_requirements`"),
    ("reviews", "use a `review` on an output, or `process_requirements`"),
    ("doc_specs", "use `json_schema` on the argument, or a file schema with `requirements`"),
    ("from_step", "inputs are found by their argument's name: remove it"),
];

const OLDER_INPUT: &[(&str, &str)] = &[
    ("from_step", "inputs are found by their argument's name: remove it"),
    ("file", "inputs are named by their argument: `NAME: {}`"),
    ("description", "it stands with the argument under `step_arguments`"),
];

const OLDER_OUTPUT: &[(&str, &str)] = &[
    ("type", "it stands with the argument under `step_arguments`"),
    ("description", "it stands with the argument under `step_arguments`"),
    ("doc_spec", "use `json_schema` on the argument, or a file schema with `requirements`"),
];

fn read_job(check: &mut Check, root: &Place<'_>) -> Option<Job> {
    use Need::Required;
    let fields = check.fields(
        root,
        &[("name", Required), ("summary", Required), ("step_arguments", Required), ("workflows", Required)],
        OLDER_TOP,
    )?;
    let name = fields.get("name").and_then(|at| check.named(&at, is_identifier, IDENTIFIER));
    let summary = fields.get("summary").and_then(|at| check.short_text(&at, 1, 200));
    let mut arguments = Vec::new();
    if let Some(at) = fields.get("step_arguments") {
        for item in check.items(&at) {
            arguments.extend(read_argument(check, &item));
        }
    }
    let mut workflows = IndexMap::new();
    if let Some(at) = fields.get("workflows") {
        if at.node.as_mapping().is_some_and(<[_]>::is_empty) {
            check.fault(&at, "at least one workflow is needed");
        }
        for (key, place) in check.entries(&at, is_identifier, IDENTIFIER) {
            if let Some(workflow) = read_workflow(check, &place) {
                workflows.insert(key.text.clone(), workflow);
            }
        }
    }
    Some(Job { name: name?, summary: summary?, arguments, workflows })
}

/// `^[a-zA-Z][a-zA-Z0-9_./-]*$`
fn is_argument_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte))
}

fn read_argument(check: &mut Check, at: &Place<'_>) -> Option<Argument> {
    use Need::{Optional, Required};
    let fields = check.fields(
        at,
        &[
            ("name", Required),
            ("description", Required),
            ("type", Required),
            ("review", Optional),
            ("json_schema", Optional),
        ],
        &[],
    )?;
    let rule = "a letter, then letters, digits, `_`, `.`, `/` and `-`";
    let name = fields.get("name").and_then(|at| check.named(&at, is_argument_name, rule));
    let description = fields.get("description").and_then(|at| check.full_text(&at));
    let kind = fields.get("type").and_then(|at| match check.text(&at)?.as_str() {
        "string" => Some(ArgumentKind::Text),
        "file_path" => Some(ArgumentKind::FilePath),
        other => {
            check.fault(&at, format!("`{other}` is no type: use `string` or `file_path`"));
            None
        }
    });
    let review = fields.get("review").and_then(|at| read_block(check, &at));
    let json_schema = fields.get("json_schema").and_then(|at| {
        check.mapping(&at)?;
        let schema = at.node.to_json();
        if let Err(reason) = crate::json_check::compile(&schema) {
            check.fault(&at, format!("is no valid JSON Schema: {reason}"));
        }
        Some(schema)
    });
    Some(Argument { name: name?, description: description?, kind: kind?, review, json_schema })
}

fn read_workflow(check: &mut Check, at: &Place<'_>) -> Option<Workflow> {
    use Need::{Optional, Required};
    let fields = check.fields(
        at,
        &[
            ("summary", Required),
            ("agent", Optional),
            ("common_job_info_provided_to_all_steps_at_runtime", Optional),
            ("steps", Required),
            ("post_workflow_instructions", Optional),
        ],
        &[],
    )?;
    let summary = fields.get("summary").and_then(|at| check.short_text(&at, 1, 200));
    let agent = fields.get("agent").and_then(|at| check.full_text(&at));
    let common_info =
        fields.get("common_job_info_provided_to_all_steps_at_runtime").and_then(|at| check.full_text(&at));
    let afterwards = fields.get("post_workflow_instructions").and_then(|at| check.text(&at));
    let mut steps = Vec::new();
    if let Some(at) = fields.get("steps") {
        if at.node.as_sequence().is_some_and(<[_]>::is_empty) {
            check.fault(&at, "at least one step is needed");
        }
        for item in check.items(&at) {
            steps.extend(read_step(check, &item));
        }
    }
    Some(Workflow { summary: summary?, agent, common_info, steps, afterwards })
}

fn read_step(check: &mut Check, at: &Place<'_>) -> Option<Step> {
    use Need::{Optional, Required};
    let fields = check.fields(
        at,
        &[
            ("name", Required),
            ("instructions", Optional),
            ("sub_workflow", Optional),
            ("inputs", Optional),
            ("outputs", Optional),
            ("process_requirements", Optional),
        ],
        OLDER_STEP,
    )?;
    let name = fields.get("name").and_then(|at| check.named(&at, is_identifier, IDENTIFIER));
    let inputs = read_inputs(check, &fields);
    let outputs = read_outputs(check, &fields);
    let mut process_requirements = IndexMap::new();
    if let Some(at) = fields.get("process_requirements") {
        if at.node.as_mapping().is_some_and(<[_]>::is_empty) {
            check.fault(&at, "at least one requirement is needed, or leave the key out");
        }
        for (key, place) in check.entries(&at, |_| true, "a string") {
            if let Some(text) = check.full_text(&place) {
                process_requirements.insert(key.text.clone(), text);
            }
        }
    }
    let instructions = fields.get("instructions").map(|at| check.full_text(&at));
    let sub_workflow = fields.get("sub_workflow").map(|at| read_sub_workflow(check, &at));
    let place = name.as_deref().map_or_else(String::new, |name| format!("step `{name}` "));
    let task = match (instructions, sub_workflow) {
        (Some(text), None) => text.map(Task::Instructions),
        (None, Some(task)) => task,
        (Some(_), Some(_)) => {
            check.fault(at, format!("{place}has both `instructions` and `sub_workflow`; it takes exactly one"));
            None
        }
        (None, None) => {
            check.fault(at, format!("{place}has neither `instructions` nor `sub_workflow`; it takes exactly one"));
            None
        }
    };
    Some(Step { name: name?, task: task?, inputs, outputs, process_requirements })
}

fn read_sub_workflow(check: &mut Check, at: &Place<'_>) -> Option<Task> {
    let fields = check.fields(at, &[("workflow_name", Need::Required), ("workflow_job", Need::Optional)], &[])?;
    let workflow = fields.get("workflow_name").and_then(|at| check.named(&at, is_identifier, IDENTIFIER));
    let job = match fields.get("workflow_job") {
        Some(at) => Some(check.named(&at, is_identifier, IDENTIFIER)?),
        None => None,
    };
    Some(Task::SubWorkflow { job, workflow: workflow? })
}

fn read_inputs(check: &mut Check, step: &Fields<'_>) -> IndexMap<String, bool> {
    let mut inputs = IndexMap::new();
    let Some(at) = step.get("inputs") else { return inputs };
    for (key, place) in check.entries(&at, |_| true, "a string") {
        if let Some(fields) = check.fields(&place, &[("required", Need::Optional)], OLDER_INPUT) {
            let required = fields.get("required").is_none_or(|at| check.truth(&at).unwrap_or(true));
            inputs.insert(key.text.clone(), required);
        }
    }
    inputs
}

fn read_outputs(check: &mut Check, step: &Fields<'_>) -> IndexMap<String, Output> {
    let mut outputs = IndexMap::new();
    let Some(at) = step.get("outputs") else { return outputs };
    for (key, place) in check.entries(&at, |_| true, "a string") {
        let keys = [("required", Need::Optional), ("review", Need::Optional)];
        if let Some(fields) = check.fields(&place, &keys, OLDER_OUTPUT) {
            let required = fields.get("required").is_none_or(|at| check.truth(&at).unwrap_or(true));
            let review = fields.get("review").and_then(|at| read_block(check, &at));
            outputs.insert(key.text.clone(), Output { required, review });
        }
    }
    outputs
}

/// What the names in a job refer to. Each message names workflow, step and what is missing.
fn check_references(check: &mut Check, root: &Place<'_>, job: &Job) {
    let declared: Vec<String> = job.arguments.iter().map(|argument| format!("`{}`", argument.name)).collect();
    let declared = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
    for (name, workflow) in &job.workflows {
        for (index, step) in workflow.steps.iter().enumerate() {
            let mut fault = |message: String| check.fault(&step_place(root, name, index), message);
            let place = format!("workflow `{name}`, step `{}`", step.name);
            if workflow.position(&step.name) != Some(index) {
                fault(format!("{place}: the name is used twice in this workflow"));
            }
            let inputs = step.inputs.keys().map(|input| ("inputs", input));
            let outputs = step.outputs.keys().map(|output| ("outputs", output));
            for (part, argument) in inputs.chain(outputs) {
                if job.argument(argument).is_none() {
                    fault(format!(
                        "{place}: `{argument}` under {part} is not declared in step_arguments (declared: {declared})"
                    ));
                }
            }
            if let Task::SubWorkflow { job: None, workflow: wanted } = &step.task
                && !job.workflows.contains_key(wanted)
            {
                let known: Vec<String> = job.workflows.keys().map(|known| format!("`{known}`")).collect();
                fault(format!("{place}: this job has no workflow `{wanted}` (it has {})", known.join(", ")));
            }
        }
    }
}

fn step_place<'a>(root: &Place<'a>, workflow: &str, index: usize) -> Place<'a> {
    let mut quiet = Check::default();
    let found = (|| {
        let workflows = quiet.fields(root, &[("workflows", Need::Optional)], &[])?.get("workflows")?;
        let workflow = quiet.fields(&workflows, &[], &[])?.get(workflow)?;
        let steps = quiet.fields(&workflow, &[], &[])?.get("steps")?;
        quiet.items(&steps).into_iter().nth(index)
    })();
    found.unwrap_or_else(|| root.clone())
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
