//! Files for other programs: which jobs there are, and where each session stands. Written as YAML in blocks.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, Listing};
use crate::files::{self, FileError};
use crate::job::Job;
use crate::names::display;
use crate::outline::{Outline, WorkflowOutline};
use crate::paths::Places;
use crate::session::Session;
use crate::state::Run;

/// What is compared before a file is written again: 16 MiB.
const STATUS_BYTES: u64 = 16 * 1024 * 1024;

/// Writes the list of jobs.
///
/// # Errors
///
/// When the file cannot be written.
pub fn write_manifest(places: &Places, catalog: &Catalog, listing: &Listing) -> Result<(), FileError> {
    let path = places.status().join("job_manifest.yml");
    // Listing jobs is what callers wait for; they seldom change.
    if !catalog.is_news(&path, listing) {
        return Ok(());
    }
    let mut jobs: Vec<&Arc<Outline>> = listing.jobs.iter().map(|listed| &listed.outline).collect();
    jobs.sort_by(|one, other| one.name.cmp(&other.name));
    let jobs: Vec<Value> = jobs
        .into_iter()
        .map(|job| {
            let mut workflows: Vec<(&String, &WorkflowOutline)> = job.workflows.iter().collect();
            workflows.sort_by(|one, other| one.0.cmp(other.0));
            let workflows: Vec<Value> =
                workflows.into_iter().map(|(name, workflow)| workflow_status(name, Some(workflow))).collect();
            json!({
                "name": job.name, "display_name": display(&job.name), "summary": job.summary, "workflows": workflows,
            })
        })
        .collect();
    let text = to_yaml(&json!({ "jobs": jobs }));
    // A server that was started again finds what it would write.
    if !files::read(&path, STATUS_BYTES).is_ok_and(|old| old == text.as_bytes()) {
        places.write(&path, text.as_bytes())?;
    }
    catalog.told(&path, listing);
    Ok(())
}

fn workflow_status(name: &str, workflow: Option<&WorkflowOutline>) -> Value {
    let mut status = Map::new();
    status.insert("name".into(), json!(name));
    status.insert("display_name".into(), json!(display(name)));
    if let Some(workflow) = workflow {
        status.insert("summary".into(), json!(workflow.summary));
        let steps: Vec<Value> =
            workflow.steps.iter().map(|step| json!({ "name": step, "display_name": display(step) })).collect();
        status.insert("steps".into(), Value::Array(steps));
    }
    Value::Object(status)
}

/// Writes where a session stands.
///
/// # Errors
///
/// When the file cannot be written. A stack that cannot be read is left out.
pub fn write_session(
    places: &Places,
    session: &Session,
    id: &str,
    now: &str,
    job_of: impl Fn(&Run) -> Option<Arc<Job>>,
) -> Result<(), FileError> {
    let main = session.stack(None).unwrap_or_default();
    let active = main.workflow_stack.last().map(|run| run.workflow_instance_id.clone());
    let agents = session.agents();
    let (mut running, mut ended) = (Vec::new(), Vec::new());
    for agent in std::iter::once(None).chain(agents.iter().map(|agent| Some(agent.as_str()))) {
        let stack = session.stack(agent).unwrap_or_default();
        running.extend(stack.workflow_stack.iter().map(|run| run_status(run, agent, &job_of)));
        ended.extend(stack.completed_workflows.iter().map(|run| run_status(run, agent, &job_of)));
    }
    running.append(&mut ended);
    let text = to_yaml(&json!({
        "session_id": id, "last_updated_at": now, "active_workflow": active, "workflows": running,
    }));
    places.write(&places.status().join("sessions").join(format!("{id}.yml")), text.as_bytes())
}

fn run_status(run: &Run, agent: Option<&str>, job_of: &impl Fn(&Run) -> Option<Arc<Job>>) -> Value {
    let job = job_of(run);
    let workflow = job.as_ref().and_then(|job| job.workflows.get(&run.workflow_name)).map(WorkflowOutline::from);
    let steps: Vec<Value> = run
        .step_history
        .iter()
        .map(|entry| {
            json!({
                "step_name": entry.step_id, "started_at": entry.started_at, "finished_at": entry.finished_at,
                "sub_workflow_instance_ids": entry.sub_workflow_instance_ids,
            })
        })
        .collect();
    json!({
        "workflow_instance_id": run.workflow_instance_id, "job_name": run.job_name, "status": run.status,
        "workflow": workflow_status(&run.workflow_name, workflow.as_ref()), "agent_id": agent, "steps": steps,
    })
}

/// Writes a value as YAML: collections as blocks, texts in double quotes, which say the same in YAML and JSON.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

fn block(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                out.push_str(&format!("{indent}{}:", scalar(&Value::String(key.clone()))));
                inner(value, depth, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("{indent}-"));
                inner(item, depth, out);
            }
        }
        other => out.push_str(&format!("{indent}{}\n", scalar(other))),
    }
}

fn inner(value: &Value, depth: usize, out: &mut String) {
    let is_block = match value {
        Value::Object(entries) => !entries.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if is_block {
        out.push('\n');
        block(value, depth + 1, out);
    } else {
        out.push_str(&format!(" {}\n", scalar(value)));
    }
}

/// A plain word where it can only be read as itself, else JSON.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text)
            if text.starts_with(|one: char| one.is_ascii_alphabetic())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && matches!(crate::yaml_scalar::resolve(text), crate::yaml_scalar::Scalar::Text(_)) =>
        {
            text.clone()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_is_read_back() {
        let value = json!({
            "a": [], "b": {}, "c": [1, "yes", null, true, {"x y": ["z", {"deep": "2026-11-30"}]}], "no": "- a: b\n#é\u{1}",
        });
        let text = to_yaml(&value);
        assert_eq!(crate::yaml::parse(&text).expect("YAML").expect("content").to_json(), value, "{text}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text in any::<String>()) {
            prop_assume!(!text.contains('\0'));
            let value = json!({ "key": [text] });
            let written = to_yaml(&value);
            prop_assert_eq!(crate::yaml::parse(&written).expect("YAML").expect("content").to_json(), value);
        }
    }
}
