//! What a session remembers: the stack of running workflows, as it lies on disk.
//!
//! The layout is that of DeepWork 2.3 (docs/guided.md, "State"), so that a session begun there goes on here. Fields of
//! our own are written only when they hold something, and fields that we do not know are kept. Reading is lenient, since
//! others write these files too: null says the same as nothing, also among a step's values.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// A value of a step: text, a path, or several paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Given {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Given {
    /// Lists the texts.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }
}

/// Values by name, in the order in which they were given.
pub type Values = IndexMap<String, Given>;

/// Null stands for nothing.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Values, of which those that are null are not known.
fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Values, D::Error> {
    let values: IndexMap<String, Option<Given>> = or_default(from)?;
    Ok(values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// A step's place is found by its name; the number only helps where that is gone.
fn place<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    Ok(Value::deserialize(from)?.as_u64().and_then(|place| usize::try_from(place).ok()).unwrap_or(0))
}

/// A word that we do not know is not an end, and which list a run is in says the rest.
fn standing<'de, D: Deserializer<'de>>(from: D) -> Result<RunStatus, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).unwrap_or_default())
}

/// The stack of a session, or of one agent in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Running workflows, the outermost first.
    #[serde(default, deserialize_with = "or_default")]
    pub workflow_stack: Vec<Run>,
    /// Ended ones, the oldest first.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub completed_workflows: Vec<Run>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// On a stack.
    #[default]
    Active,
    /// Its last step was finished.
    Completed,
    /// Given up.
    Aborted,
}

/// One run of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The session it belongs to.
    pub session_id: String,
    /// Its own id: 32 hexadecimal digits.
    pub workflow_instance_id: String,
    /// The job's folder name.
    pub job_name: String,
    /// The workflow.
    pub workflow_name: String,
    /// What the user wants.
    #[serde(default, deserialize_with = "or_default")]
    pub goal: String,
    /// The step that is worked on.
    pub current_step_id: String,
    /// Its place in the workflow, from 0.
    #[serde(default, deserialize_with = "place")]
    pub current_step_index: usize,
    /// By step name, in the order of beginning.
    #[serde(default, deserialize_with = "or_default")]
    pub step_progress: IndexMap<String, Progress>,
    /// Every beginning of a step.
    #[serde(default, deserialize_with = "or_default")]
    pub step_history: Vec<History>,
    /// When it began.
    #[serde(default, deserialize_with = "or_default")]
    pub started_at: String,
    /// When it ended.
    #[serde(default)]
    pub completed_at: Option<String>,
    /// Where it stands.
    #[serde(default, deserialize_with = "standing")]
    pub status: RunStatus,
    /// Why it was given up.
    #[serde(default)]
    pub abort_reason: Option<String>,
    /// What it was started with; ours.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Values::is_empty")]
    pub start_inputs: Values,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// What is known of a step since it last began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The step.
    pub step_id: String,
    /// When it began.
    #[serde(default)]
    pub started_at: Option<String>,
    /// When it was finished.
    #[serde(default)]
    pub completed_at: Option<String>,
    /// What was handed in.
    #[serde(default, deserialize_with = "known")]
    pub outputs: Values,
    /// What was said of the work.
    #[serde(default)]
    pub work_summary: Option<String>,
    /// What it began with.
    #[serde(default, deserialize_with = "known")]
    pub input_values: Values,
    /// How often the gate wanted more work.
    #[serde(default, deserialize_with = "or_default")]
    pub quality_attempts: u64,
    /// Runs that were started during it.
    #[serde(default, deserialize_with = "or_default")]
    pub sub_workflow_instance_ids: Vec<String>,
    /// Why the reviews were skipped; ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_review_override_reason: Option<String>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// One beginning of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The step.
    pub step_id: String,
    /// When it began.
    #[serde(default)]
    pub started_at: Option<String>,
    /// When it was finished.
    #[serde(default)]
    pub finished_at: Option<String>,
    /// Runs that were started during it.
    #[serde(default, deserialize_with = "or_default")]
    pub sub_workflow_instance_ids: Vec<String>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// What a run begins with.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The session it belongs to.
    pub session_id: String,
    /// Its id.
    pub instance_id: String,
    /// The job's folder name.
    pub job_name: String,
    /// The workflow.
    pub workflow_name: String,
    /// What the user wants.
    pub goal: String,
    /// What the first step was given.
    pub start_inputs: Values,
}

impl Stack {
    /// Drops what the oldest ended runs were given and handed in, one run after the other, until `bytes` have been
    /// saved; that they ran, and how they ended, stays.
    pub fn forget_values(&mut self, mut bytes: usize) {
        for run in &mut self.completed_workflows {
            if bytes == 0 {
                break;
            }
            let mut saved = size(&std::mem::take(&mut run.start_inputs));
            for progress in run.step_progress.values_mut() {
                saved += size(&std::mem::take(&mut progress.outputs));
                saved += size(&std::mem::take(&mut progress.input_values));
            }
            bytes = bytes.saturating_sub(saved);
        }
    }
}

/// What values have at least in a file.
fn size(values: &Values) -> usize {
    values.values().flat_map(Given::texts).map(String::len).sum()
}

impl Run {
    /// Makes a run that has not begun any step.
    #[must_use]
    pub fn new(beginning: Beginning, now: &str) -> Self {
        Self {
            session_id: beginning.session_id,
            workflow_instance_id: beginning.instance_id,
            job_name: beginning.job_name,
            workflow_name: beginning.workflow_name,
            goal: beginning.goal,
            current_step_id: String::new(),
            current_step_index: 0,
            step_progress: IndexMap::new(),
            step_history: Vec::new(),
            started_at: now.to_owned(),
            completed_at: None,
            status: RunStatus::Active,
            abort_reason: None,
            start_inputs: beginning.start_inputs,
            other: Map::new(),
        }
    }

    /// `job/workflow`.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}/{}", self.job_name, self.workflow_name)
    }

    /// Begins a step with these values.
    pub fn begin_step(&mut self, name: &str, index: usize, inputs: Values, now: &str) {
        name.clone_into(&mut self.current_step_id);
        self.current_step_index = index;
        let progress = self.step_progress.entry(name.to_owned()).or_default();
        name.clone_into(&mut progress.step_id);
        progress.started_at = Some(now.to_owned());
        progress.input_values = inputs;
        self.step_history.push(History {
            step_id: name.to_owned(),
            started_at: Some(now.to_owned()),
            ..History::default()
        });
    }

    /// Records what the current step hands in.
    pub fn finish_step(&mut self, outputs: Values, summary: Option<String>, skipped: Option<String>, now: &str) {
        let progress = self.step_progress.entry(self.current_step_id.clone()).or_default();
        progress.step_id.clone_from(&self.current_step_id);
        progress.completed_at = Some(now.to_owned());
        progress.outputs = outputs;
        progress.work_summary = summary;
        progress.quality_review_override_reason = skipped;
        if let Some(last) = self.step_history.last_mut().filter(|last| last.step_id == self.current_step_id) {
            last.finished_at = Some(now.to_owned());
        }
    }

    /// Counts an attempt that the gate did not let pass.
    pub fn count_attempt(&mut self) {
        let progress = self.step_progress.entry(self.current_step_id.clone()).or_default();
        progress.step_id.clone_from(&self.current_step_id);
        progress.quality_attempts = progress.quality_attempts.saturating_add(1);
    }

    /// Notes that another run was started during the current step.
    pub fn note_sub_run(&mut self, id: &str) {
        if let Some(progress) = self.step_progress.get_mut(&self.current_step_id) {
            progress.sub_workflow_instance_ids.push(id.to_owned());
        }
        if let Some(last) = self.step_history.last_mut() {
            last.sub_workflow_instance_ids.push(id.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn state_of_another_server_is_read_and_its_unknown_fields_are_kept() {
        let state = json!({
            "workflow_stack": [{
                "session_id": "s", "workflow_instance_id": "0", "job_name": "j", "workflow_name": "w", "goal": "g",
                "current_step_id": "a", "current_step_index": 0,
                "step_progress": {"a": {"step_id": "a", "started_at": null, "outputs": {"x": ["1", "2"], "y": "3"}, "new": 1}},
                "step_history": [], "started_at": "2026-11-30T10:00:00+00:00", "status": "active", "extra": {"a": 1}
            }],
            "more": true
        });
        let stack: Stack = serde_json::from_value(state).expect("it is a stack");
        let run = &stack.workflow_stack[0];
        assert_eq!(run.step_progress["a"].outputs["x"].texts().len(), 2);
        let written = serde_json::to_value(&stack).expect("written");
        assert_eq!(written["more"], json!(true));
        assert_eq!(written["workflow_stack"][0]["extra"], json!({"a": 1}));
        assert_eq!(written["workflow_stack"][0]["step_progress"]["a"]["new"], json!(1));
        assert_eq!(written["workflow_stack"][0]["abort_reason"], Value::Null);
        assert!(written["workflow_stack"][0].get("start_inputs").is_none());
    }

    #[test]
    fn null_says_the_same_as_nothing_and_odd_words_do_no_harm() {
        let plain = json!({
            "session_id": "s", "workflow_instance_id": "0", "job_name": "j", "workflow_name": "w", "goal": "g",
            "current_step_id": "a", "current_step_index": 0, "started_at": "t", "status": "active",
            "step_progress": {"a": {"step_id": "a", "input_values": {"x": "1", "y": null}, "outputs": {"z": null}}},
        });
        let odd: [(&str, Value); 7] = [
            ("goal", Value::Null),
            ("step_history", Value::Null),
            ("step_progress", Value::Null),
            ("start_inputs", json!({"x": null})),
            ("current_step_index", json!(-1)),
            ("started_at", Value::Null),
            ("status", json!("paused")),
        ];
        for (key, value) in odd {
            let mut run = plain.clone();
            run[key] = value;
            let stack: Stack = serde_json::from_value(json!({ "workflow_stack": [run], "completed_workflows": null }))
                .unwrap_or_else(|error| panic!("{key}: {error}"));
            assert_eq!((stack.workflow_stack.len(), stack.workflow_stack[0].status), (1, RunStatus::Active), "{key}");
        }
        let run: Run = serde_json::from_value(plain).expect("a run");
        assert_eq!(run.step_progress["a"].input_values.keys().collect::<Vec<_>>(), ["x"]);
        assert!(run.step_progress["a"].outputs.is_empty());
    }

    #[test]
    fn an_empty_object_is_a_session_without_runs() {
        assert_eq!(serde_json::from_str::<Stack>("{}").expect("a stack"), Stack::default());
    }
}
