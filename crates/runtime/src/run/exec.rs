//! `flow.exec`: which programs start unasked, and what a person is asked otherwise.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use model::{Approval, Form, InteractionKind, visible_line};
use serde_json::Value;
use store::Masker;

use super::questions::leave;
use crate::protocol::ExecJob;

/// The longest a program may run when the call says nothing: half an hour.
const TIMEOUT_SECONDS: f64 = 1_800.0;

/// Characters of an environment variable's value that are shown to whoever gives leave.
const SHOWN_VALUE: usize = 500;

/// Bytes of all environment variables together.
const SHOWN_ENVIRONMENT: usize = 4_000;

/// Characters of what the program reads.
const SHOWN_INPUT: usize = 2_000;

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

/// Follows the links in a call's folder, so that the folder that is judged and shown is the one that it starts in. Returns
/// the project's folder, followed in the same way.
pub(super) fn settle_folder(job: &mut ExecJob, project_folder: &str) -> Result<String, String> {
    let real = |folder: &str| {
        std::fs::canonicalize(folder).and_then(|real| {
            real.into_os_string().into_string().map_err(|_| std::io::ErrorKind::InvalidFilename.into())
        })
    };
    let folder =
        real(&job.folder).map_err(|problem| format!("`cwd`: there is no folder `{}` ({problem})", job.folder))?;
    if !Path::new(&folder).is_dir() {
        return Err(format!("`cwd`: `{}` is no folder", job.folder));
    }
    job.folder = folder;
    real(project_folder).map_err(|problem| format!("the project's folder cannot be had: {problem}"))
}

/// What a call of `exec` sets beside the command itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Own {
    /// The environment variables that the call itself sets.
    pub(super) environment: BTreeMap<String, String>,
    /// The project's folder, which commands run in that may start unasked.
    pub(super) project_folder: String,
}

/// Tells whether a program may start unasked. The pattern `*` covers every call. Any other covers no call that sets
/// environment variables, writes to the program's standard input or runs outside the project's folder: those decide what
/// the program does (`PATH`, `LD_PRELOAD`, what `sh` reads), and the pattern does not speak of them. Nothing of a
/// project's `.env` reaches a program unless the call sets it, for the same reason: no list of names tells all that
/// steer a loader or an interpreter.
///
/// A pattern is compared with the program and its arguments joined by single spaces; `*` in it stands for anything. So
/// that nothing passes for what it is not, an argument that is empty or holds a space or a line break is never covered,
/// and a program that holds one, or a `/`, only by a pattern whose own first word is that program. A JSON list of texts
/// stands for exactly this program with exactly these arguments.
pub(super) fn is_allowed(job: &ExecJob, own: &Own, patterns: &[String]) -> bool {
    let is_plain_call =
        own.environment.is_empty() && job.input.is_empty() && is_within(&job.folder, &own.project_folder);
    // `./tool` is another program in every folder.
    let is_relative = job.program.contains('/') && !job.program.starts_with('/');
    let is_plain_call = is_plain_call && (!is_relative || is_same(&job.folder, &own.project_folder));
    let odd = job.arguments.iter().any(|one| one.is_empty() || one.contains(char::is_whitespace));
    let odd_program = job.program.contains(|letter: char| letter == '/' || letter.is_whitespace());
    let mut line = job.program.clone();
    for argument in &job.arguments {
        line.push(' ');
        line.push_str(argument);
    }
    patterns.iter().any(|pattern| match exact(pattern) {
        _ if pattern == "*" => true,
        _ if !is_plain_call => false,
        Some(words) => words.split_first().is_some_and(|(first, rest)| *first == job.program && *rest == job.arguments),
        None => {
            let is_named = !odd_program || pattern.split_whitespace().next() == Some(job.program.as_str());
            is_named && !odd && matches(pattern, &line)
        }
    })
}

/// Tells whether a folder, whose links were followed, is `outer` or below it: one that goes up anywhere is not.
fn is_within(folder: &str, outer: &str) -> bool {
    let folder = Path::new(folder);
    !folder.components().any(|part| part == Component::ParentDir) && folder.starts_with(outer)
}

fn is_same(folder: &str, other: &str) -> bool {
    // Components leave out `.` and doubled slashes.
    Path::new(folder).components().eq(Path::new(other).components())
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

/// The question that a program needs: the whole command, its folder, and what is to be known about it: what the call sets
/// of the environment, and what it has the program read. Masked before anything is cut, so that no part of a secret is
/// left over.
pub(super) fn question(job: &ExecJob, own: &Own, started_before: bool, masker: &Masker) -> (Form, InteractionKind) {
    let quoted = |text: &str| visible_line(&serde_json::json!(masker.mask(text)).to_string());
    let mut command = quoted(&job.program);
    for argument in &job.arguments {
        command.push(' ');
        command.push_str(&quoted(argument));
    }
    let mut message =
        format!("The workflow asks for leave to run:\n{command}\nin {}", visible_line(&masker.mask(&job.folder)));
    if !own.environment.is_empty() {
        message.push_str("\nwith these environment variables:");
        let mut shown = 0;
        for (name, value) in &own.environment {
            let line = format!("\n{}={}", visible_line(&masker.mask(name)), beginning(value, SHOWN_VALUE, masker));
            shown += line.len();
            message.push_str(if shown <= SHOWN_ENVIRONMENT { &line } else { "\n…" });
            if shown > SHOWN_ENVIRONMENT {
                // What is set counts for more than what it is set to.
                let rest: Vec<String> = own.environment.keys().map(|name| quoted(name)).collect();
                message.push_str(" in all: ");
                message.extend(rest.join(", ").chars().take(SHOWN_ENVIRONMENT));
                break;
            }
        }
    }
    if !job.input.is_empty() {
        let shown = beginning(&job.input, SHOWN_INPUT, masker);
        message.push_str(&format!("\nwith {} bytes to read on its standard input:\n{shown}", job.input.len()));
    }
    if started_before {
        message.push_str(
            "\nIt was started before, and nobody knows whether it did its work: the process that ran it is gone. \
             Approving runs it again.",
        );
    }
    let mut form = leave(format!("Run {}?", masker.mask(&job.program)), message);
    form.approval = Some(Approval {
        program: job.program.clone(),
        args: job.arguments.clone(),
        folder: job.folder.clone(),
        env: own.environment.keys().cloned().collect(),
        stdin_bytes: (!job.input.is_empty()).then(|| u32::try_from(job.input.len()).unwrap_or(u32::MAX)),
        may_have_happened: started_before,
    });
    (form, InteractionKind::Approval)
}

/// The beginning of a text as JSON writes it, and how long the whole is where that is not all.
fn beginning(text: &str, most: usize, masker: &Masker) -> String {
    let masked = masker.mask(text);
    let shown: String = masked.chars().take(most).collect();
    let quoted = visible_line(&serde_json::json!(shown).to_string());
    if shown.len() < masked.len() { format!("{quoted}… ({} bytes in all)", text.len()) } else { quoted }
}

/// The question that a request needs which was under way when its process died.
pub(super) fn request_question(args: &Value) -> (Form, InteractionKind) {
    let text = |key: &str| visible_line(args.get(key).and_then(Value::as_str).unwrap_or_default());
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

    fn own(environment: &[(&str, &str)]) -> Own {
        Own {
            environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            project_folder: "/project".into(),
        }
    }

    fn allowed(job: &ExecJob, pattern: &str) -> bool {
        is_allowed(job, &own(&[]), &[pattern.to_owned()])
    }

    #[test]
    fn patterns_cover_what_they_say_and_no_more() {
        assert!(allowed(&call("git", &["status", "-s"]), "git status*"));
        assert!(allowed(&call("git", &["status"]), "git status*"));
        assert!(allowed(&call("git", &["log", "-1"]), "git * -1"));
        assert!(!allowed(&call("git", &["push"]), "git status*"));
        assert!(!allowed(&call("git", &["status"]), "git"));
        assert!(!is_allowed(&call("git status", &[]), &own(&[]), &[]));
        // One argument that looks like several is not what the pattern's author saw.
        assert!(!allowed(&call("git", &["status --exec=rm x"]), "git status*"));
        assert!(allowed(&call("git", &["commit", "-m", "two words"]), "*"));
        // A list is one command, whatever its words hold.
        let exact = r#"["git","commit","-m","two * words"]"#;
        assert!(allowed(&call("git", &["commit", "-m", "two * words"]), exact));
        assert!(!allowed(&call("git", &["commit", "-m", "two more words"]), exact));
        assert!(!allowed(&call("git", &["commit"]), exact));
    }

    #[test]
    fn a_program_does_not_pass_for_another_with_arguments() {
        for program in ["git status/x", "git status", "git\tstatus", "git/status"] {
            assert!(!allowed(&call(program, &[]), "git status*"), "{program}");
            assert!(!allowed(&call(program, &[]), "git*"), "{program}");
            assert!(!allowed(&call(program, &["-s"]), "* -s"), "{program}");
            assert!(allowed(&call(program, &[]), "*"), "{program}");
        }
        assert!(allowed(&call("/usr/bin/git", &["status"]), "/usr/bin/git status*"));
        assert!(allowed(&call("./build.sh", &[]), "./build.sh"));
        assert!(!allowed(&call("/usr/bin/git", &["status"]), "/usr/bin/*"));
    }

    #[test]
    fn what_a_call_sets_itself_is_asked_about() {
        let exact = r#"["git","status"]"#;
        for pattern in ["git status*", exact] {
            let patterns = [pattern.to_owned()];
            let set = own(&[("PATH", "/evil")]);
            assert!(!is_allowed(&call("git", &["status"]), &set, &patterns), "{pattern}");
            let job = |args| job(1, &args, "/project").expect("a call");
            let reads = job(json!({ "program": "git", "args": ["status"], "stdin": "x" }));
            assert!(!allowed(&reads, pattern), "{pattern}");
            assert!(allowed(&reads, "*"));
            for folder in ["/evil", "../evil", "sub/../../evil", "/project-evil"] {
                let elsewhere = job(json!({ "program": "git", "args": ["status"], "cwd": folder }));
                assert!(!allowed(&elsewhere, pattern), "{pattern} in {folder}");
            }
            assert!(allowed(&job(json!({ "program": "git", "args": ["status"], "cwd": "sub" })), pattern));
        }
        assert!(is_allowed(&call("git", &["status"]), &own(&[("PATH", "/evil")]), &["*".to_owned()]));
        let other = job(1, &json!({ "program": "./build.sh", "cwd": "sub" }), "/project").expect("a call");
        assert!(!allowed(&other, "./build.sh"), "another program by the same name");
    }

    #[test]
    fn the_question_shows_every_argument_as_it_is() {
        let set = own(&[("MODE", "test")]);
        let (form, kind) = question(&call("rm", &["-r", "a b\n"]), &set, false, &Masker::default());
        assert_eq!(kind, InteractionKind::Approval);
        assert!(form.message.expect("a message").contains("\"rm\" \"-r\" \"a b\\n\"\nin /project"));
        let approval = form.approval.expect("the command as data");
        assert_eq!((approval.program.as_str(), approval.args.len(), approval.folder.as_str()), ("rm", 2, "/project"));
        assert_eq!((approval.env, approval.may_have_happened), (vec!["MODE".to_owned()], false));
    }

    #[test]
    fn the_question_shows_what_the_program_sees_and_reads() {
        let masker = Masker::new(["hunter2-token"]);
        let mut sh = call("sh", &[]);
        sh.input = format!("rm -rf x # hunter2-token\n{}", "y".repeat(5_000));
        let long = format!("{}hunter2-token", "z".repeat(SHOWN_VALUE - 5));
        let set = own(&[("LD_PRELOAD", "/evil.so"), ("LONG", &long), ("TOKEN", "hunter2-token")]);
        let (form, _) = question(&sh, &set, false, &masker);
        let message = form.message.expect("a message");
        for shown in [
            "\nLD_PRELOAD=\"/evil.so\"",
            "\nTOKEN=\"•••\"",
            "\nwith 5025 bytes to read on its standard input:\n\"rm -rf x # •••\\nyyy",
            "… (5025 bytes in all)",
        ] {
            assert!(message.contains(shown), "{shown} in {message}");
        }
        assert!(!message.contains("hunt"), "{message}");
        assert_eq!(form.approval.expect("the command as data").stdin_bytes, Some(5_025));
        // However much is set, what is set is told.
        let many: Vec<(String, String)> = (0..100).map(|n| (format!("N{n}"), "v".repeat(400))).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let message = question(&sh, &own(&many), false, &masker).0.message.expect("a message");
        assert!(message.contains("\"N99\"") && message.len() < 12_000, "{message}");
    }

    #[test]
    fn nothing_in_the_question_is_hidden() {
        let (form, _) = question(&call("r\u{202e}m", &["\u{2066}x\u{200b}"]), &own(&[]), false, &Masker::default());
        assert_eq!(form.title, "Run r\\u202em?");
        let message = form.message.expect("a message");
        assert!(message.contains("\"r\\u202em\" \"\\u2066x\\u200b\""), "{message}");
    }
}
