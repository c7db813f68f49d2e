//! What a step says of itself: its inputs, its outputs, its instructions.

use std::path::Path;

use crate::answers::{ActiveStepInfo, ExpectedOutput, StepInputInfo};
use crate::files;
use crate::job::{Argument, ArgumentKind, Job, Step, Task, Workflow};
use crate::state::{Given, Run, Values};

/// A step with everything around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepPlace<'a> {
    pub(crate) root: &'a Path,
    pub(crate) job_folder: &'a Path,
    pub(crate) job: &'a Job,
    pub(crate) workflow: &'a Workflow,
    pub(crate) step: &'a Step,
}

/// Finds the values that a step begins with: what the run was started with when its first step begins for the first
/// time, else the newest output of that name.
pub(crate) fn resolve_inputs(workflow: &Workflow, index: usize, run: &Run) -> Values {
    let mut values = Values::new();
    let Some(step) = workflow.steps.get(index) else { return values };
    for name in step.inputs.keys() {
        let begins = index == 0 && run.step_history.is_empty();
        let given = begins.then(|| run.start_inputs.get(name)).flatten();
        let value = given.or_else(|| {
            workflow
                .steps
                .iter()
                .rev()
                .filter_map(|step| run.step_progress.get(&step.name))
                .filter(|progress| progress.completed_at.is_some())
                .find_map(|progress| progress.outputs.get(name))
        });
        if let Some(value) = value {
            values.insert(name.clone(), value.clone());
        }
    }
    values
}

impl StepPlace<'_> {
    fn kind(&self, name: &str) -> ArgumentKind {
        self.job.argument(name).map_or(ArgumentKind::Text, |argument| argument.kind)
    }

    fn described(&self, name: &str) -> String {
        self.job.argument(name).map(|argument| argument.description.clone()).unwrap_or_default()
    }

    /// Describes the step as it begins in a run.
    pub(crate) fn begin(&self, run: &Run, inputs: &Values) -> ActiveStepInfo {
        ActiveStepInfo {
            session_id: run.session_id.clone(),
            step_id: self.step.name.clone(),
            project_root: files::display(self.root),
            job_dir: files::display(self.job_folder),
            step_expected_outputs: self.expected_outputs(),
            step_inputs: self.inputs(inputs),
            step_instructions: self.instructions(run, inputs),
            common_job_info: self.workflow.common_info.clone().unwrap_or_default(),
        }
    }

    fn expected_outputs(&self) -> Vec<ExpectedOutput> {
        self.step
            .outputs
            .iter()
            .map(|(name, output)| {
                let kind = self.kind(name);
                ExpectedOutput {
                    name: name.clone(),
                    kind: kind.as_str(),
                    description: self.described(name),
                    required: output.required,
                    syntax_for_finished_step_tool: match kind {
                        ArgumentKind::FilePath => "filepath or list of filepaths",
                        ArgumentKind::Text => "string value",
                    },
                }
            })
            .collect()
    }

    fn inputs(&self, values: &Values) -> Vec<StepInputInfo> {
        self.step
            .inputs
            .iter()
            .map(|(name, required)| StepInputInfo {
                name: name.clone(),
                kind: self.kind(name).as_str(),
                description: self.described(name),
                value: values.get(name).cloned(),
                required: *required,
            })
            .collect()
    }

    fn instructions(&self, run: &Run, values: &Values) -> String {
        let mut text = String::new();
        if !self.step.inputs.is_empty() {
            text.push_str("## Inputs\n\n");
            for (name, required) in &self.step.inputs {
                let label = if *required { "required" } else { "optional" };
                let value = match values.get(name) {
                    Some(value) => shown(value, self.kind(name)),
                    None => format!("{} (not available yet{})", self.described(name), self.started_with(run, name)),
                };
                text.push_str(&format!("- **{name}** ({label}): {value}\n"));
            }
            text.push('\n');
        }
        match &self.step.task {
            Task::Instructions(instructions) => text.push_str(instructions),
            Task::SubWorkflow { job, workflow } => {
                let job = job.as_deref().unwrap_or(&run.job_name);
                text.push_str(&format!(
                    "This step is done by another workflow. Call `start_workflow` with job_name `{job}` and \
                     workflow_name `{workflow}`, hand it as inputs what it needs, and follow it to its end. Then call \
                     `finished_step` for this step with the outputs it expects."
                ));
            }
        }
        text
    }

    /// After going back to the first step its values have to be given anew; what they were at the start is told.
    fn started_with(&self, run: &Run, name: &str) -> String {
        let is_first = self.workflow.steps.first().is_some_and(|first| first.name == self.step.name);
        match run.start_inputs.get(name).filter(|_| is_first) {
            Some(value) => format!("; the workflow was started with {}", shown(value, self.kind(name))),
            None => String::new(),
        }
    }

    /// What reviewers are told before the review's own text: the common text and what the step began with.
    pub(crate) fn review_preamble(&self, inputs: &Values) -> String {
        let mut text = String::new();
        if let Some(common) = &self.workflow.common_info {
            text.push_str(&format!("## Job context\n\n{}\n\n", common.trim()));
        }
        if !self.step.inputs.is_empty() {
            text.push_str("## Inputs of the step\n\n");
            for name in self.step.inputs.keys() {
                let value = match (inputs.get(name), self.kind(name)) {
                    (Some(value), ArgumentKind::FilePath) => {
                        value.texts().iter().map(|path| format!("@{path}")).collect::<Vec<_>>().join(", ")
                    }
                    (Some(value), ArgumentKind::Text) => value.texts().join(", "),
                    (None, _) => "not available".to_owned(),
                };
                text.push_str(&format!("- **{name}**: {value}\n"));
            }
            text.push('\n');
        }
        text
    }

    /// The declaration of an output.
    pub(crate) fn argument(&self, name: &str) -> Option<&Argument> {
        self.job.argument(name)
    }
}

fn shown(value: &Given, kind: ArgumentKind) -> String {
    let texts = value.texts().iter();
    match kind {
        ArgumentKind::FilePath => texts.map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", "),
        ArgumentKind::Text => texts.cloned().collect::<Vec<_>>().join(", "),
    }
}
