//! Where every session of a project stands: what an agent is told again after it lost its context.

use std::path::Path;

use serde_json::{Value, json};

use crate::guided::Project;
use crate::job::Task;
use crate::session::{self, Session};
use crate::state::{Run, Stack};

impl Project<'_> {
    /// Lists the runs on top of all stacks, of all platforms, the session written last first; main stacks before those of
    /// agents. Files that cannot be read are left out.
    #[must_use]
    pub fn active_sessions(&self) -> Value {
        let mut found: Vec<session::Listed> = self.all_sessions().into_iter().map(|(_, listed)| listed).collect();
        found.sort_by(|one, other| other.written.cmp(&one.written).then_with(|| one.id.cmp(&other.id)));
        let mut entries = Vec::new();
        for session::Listed { id, folder, .. } in found {
            let session = Session::look(self.places(), folder.clone());
            let mut add = |agent: Option<&str>, stack: Stack| {
                if let Some(run) = stack.workflow_stack.last() {
                    entries.push(self.active_entry(&id, &folder, run, agent));
                }
            };
            if let Ok(stack) = session.stack(None) {
                add(None, stack);
            }
            for agent in session.agents() {
                if let Ok(stack) = session.stack(Some(&agent)) {
                    add(Some(&agent), stack);
                }
            }
        }
        json!({ "active_sessions": entries })
    }

    fn active_entry(&self, id: &str, folder: &Path, run: &Run, agent: Option<&str>) -> Value {
        let own = self.catalog().load(&folder.join("jobs").join(&run.job_name)).ok();
        let job = own.or_else(|| self.find_job(&run.job_name, None).ok().map(|found| found.job));
        let workflow = job.as_ref().and_then(|job| job.workflows.get(&run.workflow_name));
        let step = workflow.and_then(|workflow| workflow.position(&run.current_step_id));
        let instructions =
            workflow.zip(step).and_then(|(workflow, step)| workflow.steps.get(step)).map(|step| match &step.task {
                Task::Instructions(text) => text.clone(),
                Task::SubWorkflow { job, workflow } => format!(
                    "Call `start_workflow` with job_name `{}` and workflow_name `{workflow}`, then finish this step.",
                    job.as_deref().unwrap_or(&run.job_name)
                ),
            });
        let completed: Vec<&String> = run
            .step_progress
            .iter()
            .filter(|(_, progress)| progress.completed_at.is_some())
            .map(|(name, _)| name)
            .collect();
        let mut entry = json!({
            "session_id": id,
            "agent_id": agent,
            "job_name": run.job_name,
            "workflow_name": run.workflow_name,
            "goal": run.goal,
            "current_step_id": run.current_step_id,
            "completed_steps": completed,
            "common_job_info": workflow.map(|workflow| workflow.common_info.clone().unwrap_or_default()),
            "current_step_instructions": instructions,
        });
        if let (Some(workflow), Some(entry)) = (workflow, entry.as_object_mut()) {
            entry.insert("step_number".into(), json!(step.unwrap_or(run.current_step_index) + 1));
            entry.insert("total_steps".into(), json!(workflow.steps.len()));
        }
        entry
    }
}
