//! `flow.exec`: which programs start unasked, and what a person is asked otherwise.

use model::{Approval, Form, InteractionKind};
use serde_json::Value;

use super::questions::leave;
use crate::protocol::ExecJob;

/// The longest a program may run when the call says nothing: half an hour.
const TIMEOUT_SECONDS: f64 = 1_800.0;

/// Reads a call of `exec`.
pub(super) fn job(seq: u64, args: &Value, project_folder: &str) -> Result<ExecJob, String> {
    let text = |key: &str| args.get(key).and_then(Value::as_str).map(str::to_owned);
    let program = text("program").filter(|program| !program.is_empty()).ok_or("`program` must be a text")?;
    let arguments = args.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let arguments: Option<Vec<String>> = arguments.iter().map(|one| one.as_str().map(str::to_owned)).collect();
    let folder = match text("cwd") {
        None => project_folder.to_owned(),
        Some(folder) if folder.starts_with('/') => folder,
        Some(folder) => format!("{project_folder}/{folder}"),
    };
    let mut environment = std::collections::BTreeMap::new();
    if let Some(Value::Object(given)) = args.get("env") {
        for (name, value) in given {
            let value = value.as_str().ok_or_else(|| format!("`env.{name}` must be a text"))?;
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(format!("`env.{name}` is no environment variable"));
            }
            environment.insert(name.clone(), value.to_owned());
        }
    }
    let seconds = args.get("timeoutSeconds").and_then(Value::as_f64).unwrap_or(TIMEOUT_SECONDS);
    let arguments = arguments.ok_or("`args` must be a list of texts")?;
    if program.contains('\0') || arguments.iter().any(|one| one.contains('\0')) {
        return Err("a program and its arguments hold no NUL".into());
    }
    Ok(ExecJob {
        seq,
        program,
        arguments,
        folder,
        environment,
        input: text("stdin").unwrap_or_default(),
        timeout_ms: (seconds.clamp(0.001, 366.0 * 24.0 * 3600.0) * 1000.0) as u64,
        silence_ms: None,
    })
}

/// Tells whether a program may start unasked. A pattern is compared with the program and its arguments joined by
/// single spaces; `*` stands for anything. An argument that itself holds a space or a line break is never covered by
/// `*` standing for something else: such a call is asked about unless the pattern is `*`, or a JSON list of texts, which
/// stands for exactly this program with exactly these arguments.
pub(super) fn is_allowed(job: &ExecJob, patterns: &[String]) -> bool {
    let odd = job.arguments.iter().any(|one| one.is_empty() || one.contains(char::is_whitespace));
    let mut line = job.program.clone();
    for argument in &job.arguments {
        line.push(' ');
        line.push_str(argument);
    }
    patterns.iter().any(|pattern| match exact(pattern) {
        Some(words) => words.split_first().is_some_and(|(first, rest)| *first == job.program && *rest == job.arguments),
        None => pattern == "*" || (!odd && matches(pattern, &line)),
    })
}

/// Reads a pattern that is a JSON list of texts: one command, word by word.
fn exact(pattern: &str) -> Option<Vec<String>> {
    if !pattern.starts_with("[\"") {
        return None;
    }
    serde_json::from_str(pattern).ok()
}

fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The question that a program needs: the whole command, its folder, and what is to be known about it. `set` names the
/// environment variables that the call itself sets.
pub(super) fn question(job: &ExecJob, set: &[String], started_before: bool) -> (Form, InteractionKind) {
    let mut command = serde_json::json!(job.program).to_string();
    for argument in &job.arguments {
        command.push(' ');
        command.push_str(&serde_json::json!(argument).to_string());
    }
    let mut message = format!("The workflow asks for leave to run:\n{command}\nin {}", job.folder);
    if started_before {
        message.push_str(
            "\nIt was started before, and nobody knows whether it did its work: the process that ran it is gone. \
             Approving runs it again.",
        );
    }
    let mut form = leave(format!("Run {}?", job.program), message);
    form.approval = Some(Approval {
        program: job.program.clone(),
        args: job.arguments.clone(),
        folder: job.folder.clone(),
        env: set.to_vec(),
        may_have_happened: started_before,
    });
    (form, InteractionKind::Approval)
}

/// The question that a request needs which was under way when its process died.
pub(super) fn request_question(args: &Value) -> (Form, InteractionKind) {
    let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let message = format!(
        "The request {} {} was under way, and nobody knows whether it did its work: the process that made it is gone. \
         Approving makes it again.",
        text("method"),
        text("url")
    );
    (leave("Make the request again?".into(), message), InteractionKind::Approval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(program: &str, arguments: &[&str]) -> ExecJob {
        job(1, &json!({ "program": program, "args": arguments }), "/project").expect("a call")
    }

    #[test]
    fn patterns_cover_what_they_say_and_no_more() {
        let patterns = |pattern: &str| vec![pattern.to_owned()];
        assert!(is_allowed(&call("git", &["status", "-s"]), &patterns("git status*")));
        assert!(is_allowed(&call("git", &["status"]), &patterns("git status*")));
        assert!(is_allowed(&call("git", &["log", "-1"]), &patterns("git * -1")));
        assert!(!is_allowed(&call("git", &["push"]), &patterns("git status*")));
        assert!(!is_allowed(&call("git", &["status"]), &patterns("git")));
        assert!(!is_allowed(&call("git status", &[]), &[]));
        // One argument that looks like several is not what the pattern's author saw.
        assert!(!is_allowed(&call("git", &["status --exec=rm x"]), &patterns("git status*")));
        assert!(is_allowed(&call("git", &["commit", "-m", "two words"]), &patterns("*")));
        // A list is one command, whatever its words hold.
        let exact = patterns(r#"["git","commit","-m","two * words"]"#);
        assert!(is_allowed(&call("git", &["commit", "-m", "two * words"]), &exact));
        assert!(!is_allowed(&call("git", &["commit", "-m", "two more words"]), &exact));
        assert!(!is_allowed(&call("git", &["commit"]), &exact));
    }

    #[test]
    fn the_question_shows_every_argument_as_it_is() {
        let (form, kind) = question(&call("rm", &["-r", "a b\n"]), &["MODE".into()], false);
        assert_eq!(kind, InteractionKind::Approval);
        assert!(form.message.expect("a message").contains("\"rm\" \"-r\" \"a b\\n\"\nin /project"));
        let approval = form.approval.expect("the command as data");
        assert_eq!((approval.program.as_str(), approval.args.len(), approval.folder.as_str()), ("rm", 2, "/project"));
        assert_eq!((approval.env, approval.may_have_happened), (vec!["MODE".to_owned()], false));
    }
}
