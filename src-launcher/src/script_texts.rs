//! What a model reads of an orchestration script's run, beside the result object.

use model::{Envelope, EnvelopeStatus, ErrorCode, Node, NodeKind, RunError};
use serde_json::Value;

/// Characters of a returned value that the text of a script's result holds.
const VALUE_CHARACTERS: usize = 50_000;

/// Failures that are named with their reasons.
const NAMED: usize = 5;

/// Characters of a failure's reason that are told.
const REASON: usize = 200;

/// The text of a call that brought its script along.
pub(crate) fn result_text(name: &str, envelope: &Envelope) -> String {
    let error = envelope.error.as_ref();
    let message = error.map_or("", |error| error.message.as_str());
    let whole = error.map_or(String::new(), whole_error);
    match envelope.status {
        EnvelopeStatus::Success => completed(name, envelope.output.as_ref().unwrap_or(&Value::Null)),
        EnvelopeStatus::Cancelled if message.is_empty() => "workflow run was cancelled".into(),
        EnvelopeStatus::Cancelled => format!("workflow run was cancelled (workflow run cancelled: {message})"),
        // A script that was not started is one that the caller can mend.
        EnvelopeStatus::Failed if error.and_then(|error| error.data.as_ref()).is_some_and(is_start_error) => whole,
        EnvelopeStatus::Failed | EnvelopeStatus::Timeout | EnvelopeStatus::InteractionRequired => {
            format!("workflow run failed: {}", if whole.is_empty() { "unknown error" } else { &whole })
        }
    }
}

/// An error as whoever wrote the script needs it: all of its text, and where it was thrown. Of what is not the script's own
/// doing there is the one line.
pub(crate) fn whole_error(error: &RunError) -> String {
    let is_its_own = match error.code {
        ErrorCode::ScriptError | ErrorCode::BusinessError | ErrorCode::AgentsFailed => true,
        ErrorCode::CommandFailed
        | ErrorCode::MemoryLimit
        | ErrorCode::WorkerDied
        | ErrorCode::Timeout
        | ErrorCode::Cancelled
        | ErrorCode::Busy
        | ErrorCode::ApprovalDenied
        | ErrorCode::ReplayDiverged
        | ErrorCode::InteractionRequired
        | ErrorCode::InteractionDeclined
        | ErrorCode::InteractionCancelled
        | ErrorCode::InteractionTimeout
        | ErrorCode::InteractionInvalid => false,
    };
    let text = error.cause.as_deref().filter(|cause| is_its_own && !cause.is_empty()).unwrap_or(&error.message);
    cut(text)
}

/// A text of bearable length, which says how much is missing.
fn cut(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARACTERS) {
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}\n… [truncated: {more} more characters]", &text[..end])
        }
        None => text.to_owned(),
    }
}

fn is_start_error(data: &Value) -> bool {
    matches!(data.get("code").and_then(Value::as_str), Some("META_INVALID" | "SCRIPT_PARSE"))
}

fn completed(name: &str, output: &Value) -> String {
    let agents = output.get("agentsStarted").and_then(Value::as_u64).unwrap_or(0);
    let plural = if agents == 1 { "" } else { "s" };
    // A value is plain JSON, which can always be written.
    let value = serde_json::to_string_pretty(output.get("result").unwrap_or(&Value::Null)).unwrap_or_default();
    let value = cut(&value);
    format!("workflow \"{name}\" completed ({agents} agent{plural}).\nReturn value:\n{value}")
}

/// What is to be said beside the result of a script file's run: agents that failed, and how much was noted. `None`: nothing.
pub(crate) fn remarks(nodes: &[Node], log: &str) -> Option<String> {
    let agents = nodes.iter().filter(|node| node.kind == NodeKind::Agent);
    let count = agents.clone().count();
    let failed: Vec<(&str, &str)> = agents
        .filter_map(|node| {
            let reason = node.detail.as_ref()?.get("reason")?.as_str()?;
            Some((node.title.as_str(), reason))
        })
        .collect();
    let mut parts = Vec::new();
    if !failed.is_empty() {
        let named: Vec<String> = failed
            .iter()
            .take(NAMED)
            .map(|(label, reason)| {
                let first: String = reason.lines().next().unwrap_or_default().chars().take(REASON).collect();
                format!("{label} – {first}")
            })
            .collect();
        let more = failed.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        parts.push(format!("{} of {count} agents failed: {}{more}", failed.len(), named.join("; ")));
    }
    match log.lines().filter(|line| line.starts_with("note: ")).count() {
        0 => {}
        1 => parts.push("1 note".into()),
        notes => parts.push(format!("{notes} notes")),
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use model::NodeStatus;
    use serde_json::json;

    use super::*;

    fn envelope(status: EnvelopeStatus, output: Option<Value>, error: Option<RunError>) -> Envelope {
        Envelope {
            run_id: None,
            status,
            entrypoint_id: "workflow".parse().unwrap_or_else(|error| panic!("{error}")),
            entrypoint_title: "W".into(),
            output,
            error,
            pending: None,
            files: Vec::new(),
        }
    }

    fn done(agents: u64, result: &Value) -> String {
        let output = json!({"agentsStarted": agents, "result": result});
        result_text("tidy-up", &envelope(EnvelopeStatus::Success, Some(output), None))
    }

    #[test]
    fn a_completed_run_tells_its_agents_and_its_value() {
        insta::assert_snapshot!(done(1, &json!({"a": [1]})), @r#"
        workflow "tidy-up" completed (1 agent).
        Return value:
        {
          "a": [
            1
          ]
        }
        "#);
        assert!(done(0, &Value::Null).ends_with("(0 agents).\nReturn value:\nnull"));
        assert!(done(2, &json!("x")).contains("(2 agents)"));
    }

    #[test]
    fn a_long_value_is_cut_and_says_how_much_is_missing() {
        let text = done(0, &json!("é".repeat(60_000)));
        assert!(text.ends_with("é\n… [truncated: 10002 more characters]"), "{}", &text[text.len() - 60..]);
        let whole = done(0, &json!("é".repeat(49_998)));
        assert!(!whole.contains("truncated"));
    }

    #[test]
    fn other_ends_have_their_sentences() {
        let ends = |status, error| result_text("n", &envelope(status, None, error));
        let error = |message: &str| Some(RunError::new(ErrorCode::ScriptError, message));
        assert_eq!(ends(EnvelopeStatus::Cancelled, None), "workflow run was cancelled");
        let cancelled = ends(EnvelopeStatus::Cancelled, error("a person cancelled the run"));
        assert_eq!(cancelled, "workflow run was cancelled (workflow run cancelled: a person cancelled the run)");
        assert_eq!(ends(EnvelopeStatus::Failed, error("late")), "workflow run failed: late");
        assert_eq!(ends(EnvelopeStatus::Failed, None), "workflow run failed: unknown error");
        let thrown =
            RunError::new(ErrorCode::ScriptError, "Error: first").with_cause("Error: first\nsecond\n    at a:1:2");
        let told = ends(EnvelopeStatus::Failed, Some(thrown));
        assert_eq!(told, "workflow run failed: Error: first\nsecond\n    at a:1:2");
        let died = RunError::new(ErrorCode::WorkerDied, "it died").with_cause("/a/path");
        assert_eq!(ends(EnvelopeStatus::Failed, Some(died)), "workflow run failed: it died");
        let mut refused = RunError::new(ErrorCode::ScriptError, "invalid meta: meta.name is missing");
        refused.data = Some(json!({"code": "META_INVALID"}));
        assert_eq!(ends(EnvelopeStatus::Failed, Some(refused)), "invalid meta: meta.name is missing");
    }

    #[test]
    fn failures_and_notes_are_remarked() {
        let node = |id, reason: Option<&str>| Node {
            id,
            parent: None,
            kind: NodeKind::Agent,
            title: format!("look {id}"),
            status: NodeStatus::Failed,
            started_at: None,
            finished_at: None,
            detail: Some(reason.map_or_else(|| json!({}), |reason| json!({"reason": reason}))),
        };
        assert_eq!(remarks(&[node(1, None)], "hello\n"), None);
        let said = remarks(&[node(1, None), node(2, Some("error: no\nmore"))], "note: a: b\nx\nnote: c: d\n");
        assert_eq!(said.as_deref(), Some("1 of 2 agents failed: look 2 – error: no\n2 notes"));
    }
}
