//! The eleven tools: names, texts and schemas. Names and types are those of the DeepWork interface, version 2.3.

use mcp::Tool;
use model::Annotations;
use serde_json::{Map, Value, json};

/// What a tool answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    Object,
    Wrapped(&'static str),
}

/// Lists the tools in their order.
pub(super) fn tools() -> Vec<Tool> {
    let session = || {
        json!({
            "type": "string",
            "description": "The session: `begin_step.session_id` of the answer of start_workflow.",
        })
    };
    let agent = || {
        maybe_text(
            "Only for sub-agents: the agent's id (CLAUDE_CODE_AGENT_ID in the startup context). Each agent has a stack of its own.",
        )
    };
    vec![
        tool(
            "get_workflows",
            "Lists the jobs of this project with their workflows and how to start each. Call it first.",
            &[],
            &[],
            Answers::Object,
            READ,
        ),
        tool(
            "start_workflow",
            "Starts a workflow and returns its first step. While another one runs, the new one goes on top of it.",
            &[
                ("goal", text("What the user wants to get done.")),
                ("job_name", text("The job.")),
                ("workflow_name", text("The workflow in the job; where a job has only one, that one is taken.")),
                (
                    "session_id",
                    maybe_text(
                        "The session. With Claude Code: CLAUDE_CODE_SESSION_ID of the startup context. Elsewhere leave it \
                         out, and use `begin_step.session_id` of the answer in all later calls.",
                    ),
                ),
                (
                    "inputs",
                    maybe(values("Values for the inputs of the first step, by name: texts, or paths of files.")),
                ),
                ("agent_id", agent()),
            ],
            &["goal", "job_name", "workflow_name"],
            Answers::Object,
            WRITE,
        ),
        tool(
            "finished_step",
            "Hands in a finished step. The outputs are checked and reviews that are due are listed; the answer says \
             whether more work is needed, which step is next, or that the workflow is complete.",
            &[
                (
                    "outputs",
                    values(
                        "The outputs by name, as `step_expected_outputs` lists them: a path or a list of paths for \
                         `file_path`, a text for `string`.",
                    ),
                ),
                (
                    "work_summary",
                    maybe_text(
                        "What was done and how, with decisions and departures. Process requirements are judged by it.",
                    ),
                ),
                (
                    "quality_review_override_reason",
                    maybe_text("Skips all reviews of this step; says why that is right. Use it sparingly."),
                ),
                ("session_id", session()),
                ("agent_id", agent()),
            ],
            &["outputs", "session_id"],
            Answers::Object,
            WRITE,
        ),
        tool(
            "abort_workflow",
            "Gives up the workflow on top, and returns to the one below it.",
            &[("explanation", text("Why it is given up.")), ("session_id", session()), ("agent_id", agent())],
            &["explanation", "session_id"],
            Answers::Object,
            DROP,
        ),
        tool(
            "go_to_step",
            "Goes back to an earlier step, or begins the current one again. What was handed in from there on is \
             forgotten and has to be done again; files stay.",
            &[("step_id", text("The step.")), ("session_id", session()), ("agent_id", agent())],
            &["step_id", "session_id"],
            Answers::Object,
            DROP,
        ),
        tool(
            "get_review_instructions",
            "Finds the reviews that are due for changed files, writes what reviewers read, and returns the list of review \
             tasks, to be started in parallel. Works at any time, with or without a workflow.",
            &[(
                "files",
                maybe(texts(
                    "Paths relative to the project root. Left out: what git says changed since the default branch, new \
                     files among it.",
                )),
            )],
            &[],
            Answers::Wrapped("string"),
            WRITE,
        ),
        tool(
            "get_configured_reviews",
            "Lists the review rules of this project, from .deepreview files and schemas.",
            &[(
                "only_rules_matching_files",
                maybe(texts("Paths relative to the project root: only rules that match one of them are listed.")),
            )],
            &[],
            Answers::Wrapped("array"),
            READ,
        ),
        tool(
            "mark_review_as_passed",
            "Marks a review as passed, so that it does not come back while what it is about stays the same. Call it when \
             nothing was found, everything found is corrected, or the user decided that the rest may stay.",
            &[("review_id", text("The id at the end of the instruction file."))],
            &["review_id"],
            Answers::Wrapped("string"),
            WRITE,
        ),
        tool(
            "get_named_schemas",
            "Lists the named schemas for files, with the patterns of the files they are for.",
            &[],
            &[],
            Answers::Wrapped("array"),
            READ,
        ),
        tool(
            "register_session_job",
            "Keeps a job for this session only; start_workflow finds it there. Registering again replaces it.",
            &[
                ("job_name", text("A lower-case letter, then lower-case letters, digits and `_`.")),
                ("job_definition_yaml", text("The whole text of a job.yml.")),
                ("session_id", session()),
            ],
            &["job_name", "job_definition_yaml", "session_id"],
            Answers::Object,
            WRITE,
        ),
        tool(
            "get_session_job",
            "Returns the text of a job that was registered for this session.",
            &[("job_name", text("The job.")), ("session_id", session())],
            &["job_name", "session_id"],
            Answers::Object,
            READ,
        ),
    ]
}

const READ: Annotations =
    Annotations { read_only: Some(true), destructive: None, idempotent: Some(true), open_world: Some(false) };
const WRITE: Annotations =
    Annotations { read_only: Some(false), destructive: Some(false), idempotent: None, open_world: Some(false) };
const DROP: Annotations =
    Annotations { read_only: Some(false), destructive: Some(true), idempotent: None, open_world: Some(false) };

fn tool(
    name: &str,
    description: &str,
    properties: &[(&str, Value)],
    required: &[&str],
    answers: Answers,
    annotations: Annotations,
) -> Tool {
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let mut input_schema = Map::new();
    input_schema.insert("type".into(), json!("object"));
    input_schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        input_schema.insert("required".into(), json!(required));
    }
    input_schema.insert("additionalProperties".into(), json!(false));
    let mut output_schema = Map::new();
    output_schema.insert("type".into(), json!("object"));
    match answers {
        Answers::Object => {
            output_schema.insert("additionalProperties".into(), json!(true));
        }
        Answers::Wrapped(kind) => {
            output_schema.insert("properties".into(), json!({ "result": { "type": kind } }));
            output_schema.insert("required".into(), json!(["result"]));
        }
    }
    Tool {
        name: name.to_owned(),
        title: None,
        description: Some(description.to_owned()),
        input_schema,
        output_schema: Some(output_schema),
        annotations,
    }
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

fn values(description: &str) -> Value {
    json!({
        "type": "object",
        "additionalProperties": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] },
        "description": description,
    })
}

fn maybe_text(description: &str) -> Value {
    maybe(text(description))
}

/// A value that may be null or left out.
fn maybe(mut schema: Value) -> Value {
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
    json!({ "anyOf": [schema, { "type": "null" }], "default": null, "description": description })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clients were written against these names; none may change.
    #[test]
    fn names_and_required_arguments_are_those_of_the_interface() {
        let seen: Vec<String> = tools()
            .iter()
            .map(|tool| {
                let properties = tool.input_schema["properties"]
                    .as_object()
                    .map(|map| map.keys().cloned().collect::<Vec<_>>().join(" "));
                let required = tool.input_schema.get("required").map(ToString::to_string).unwrap_or_default();
                format!("{}: {} {required}", tool.name, properties.unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!(seen.join("\n"), @r#"
        get_workflows:  
        start_workflow: goal job_name workflow_name session_id inputs agent_id ["goal","job_name","workflow_name"]
        finished_step: outputs work_summary quality_review_override_reason session_id agent_id ["outputs","session_id"]
        abort_workflow: explanation session_id agent_id ["explanation","session_id"]
        go_to_step: step_id session_id agent_id ["step_id","session_id"]
        get_review_instructions: files 
        get_configured_reviews: only_rules_matching_files 
        mark_review_as_passed: review_id ["review_id"]
        get_named_schemas:  
        register_session_job: job_name job_definition_yaml session_id ["job_name","job_definition_yaml","session_id"]
        get_session_job: job_name session_id ["job_name","session_id"]
        "#);
    }
}
