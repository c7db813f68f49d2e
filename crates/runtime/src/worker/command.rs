//! Runs a command entrypoint: starts it, passes its output on, reads its report.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};

use disk::read::ReadError;
use model::{ErrorCode, Limits, NodeKind, NodeStatus, RunError};
use process::{Environment, Input, Spec};
use serde_json::Value;

use script::{Narration, Stream};

use super::link::{Ending, Link};
use crate::protocol::{CommandJob, FromWorker, Outcome};

/// Output that becomes `output` when there is no report, and the largest report: 64 MiB each.
const OUTPUT_BYTES: usize = 64 * 1024 * 1024;

/// A line longer than this is passed on in pieces.
const PIECE_BYTES: usize = 64 * 1024;

/// Lines are passed on together up to this size while more of them are there.
const BATCH_BYTES: usize = 64 * 1024;

/// Lines of standard error that become the recorded cause of a failure.
const CAUSE_LINES: usize = 20;

/// Runs the command and tells what became of it.
pub(super) fn run(job: &CommandJob, link: &Link) {
    let outcome = start(job, link);
    link.say(&FromWorker::Done(outcome));
}

fn failed(message: impl Into<String>) -> Outcome {
    Outcome::Failed { error: RunError::new(ErrorCode::CommandFailed, message) }
}

fn start(job: &CommandJob, link: &Link) -> Outcome {
    let Some((program, arguments)) = job.argv.split_first() else {
        return failed("the entrypoint's `command` is empty");
    };
    let environment: Environment = job.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let spec = Spec::new(program)
        .arguments(arguments)
        .folder(&job.folder)
        .environment(environment)
        .input(Input::Pipe)
        .dies_with_parent();
    let mut child = match spec.spawn_blocking() {
        Ok(child) => child,
        Err(error) => {
            let why = match error.source.kind() {
                // One that is named with a folder is looked for there and nowhere else.
                ErrorKind::NotFound if program.contains('/') => {
                    "there is no such file, or no interpreter for it".to_owned()
                }
                ErrorKind::NotFound => "there is no such program on the PATH".to_owned(),
                ErrorKind::PermissionDenied => "it may not be run".to_owned(),
                _ => error.source.to_string(),
            };
            return failed(format!("{error}: {why}"));
        }
    };
    link.when_ending(|_| process::tree::terminate_descendants(std::process::id()));
    if let Some(mut stdin) = child.stdin.take() {
        let input = job.input.clone();
        // A command that does not read its input must not hold anything up.
        std::thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
    }
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let texts = Mutex::new((Collected::default(), Collected::default()));
    let status = std::thread::scope(|scope| {
        if let Some(stdout) = stdout {
            scope.spawn(|| {
                let mut commands = Commands::new(link);
                let collected = pass_on(stdout, Stream::Stdout, link, &mut |line| commands.take(line));
                texts.lock().unwrap_or_else(PoisonError::into_inner).0 = collected;
            });
        }
        if let Some(stderr) = stderr {
            scope.spawn(|| {
                let collected = pass_on(stderr, Stream::Stderr, link, &mut |_| false);
                texts.lock().unwrap_or_else(PoisonError::into_inner).1 = collected;
            });
        }
        let status = child.wait();
        // What it left in the background would keep the streams open, and dies with the call anyway.
        process::tree::kill_descendants(std::process::id());
        status
    });
    let (stdout, stderr) = texts.into_inner().unwrap_or_else(PoisonError::into_inner);
    match link.ending() {
        Some(Ending::Cancelled) => return Outcome::Cancelled,
        Some(Ending::TimedOut) => return Outcome::TimedOut,
        None => {}
    }
    match status {
        Ok(status) if status.success() => finish(job, stdout),
        Ok(status) => {
            let name = program.rsplit('/').next().unwrap_or(program);
            let error = RunError::new(ErrorCode::CommandFailed, format!("`{name}` {}", describe(status)));
            Outcome::Failed { error: error.with_cause(stderr.last_lines()) }
        }
        Err(error) => failed(format!("the end of `{program}` could not be seen: {error}")),
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended without an exit code".into(),
    }
}

/// Reads the report, or takes standard output for the output.
fn finish(job: &CommandJob, stdout: Collected) -> Outcome {
    match read_report(&job.report) {
        Ok(Some(report)) => match judge(&report) {
            Ok(outcome) => outcome,
            Err(message) => failed(message),
        },
        Ok(None) => {
            if stdout.cut {
                return failed(format!(
                    "it wrote over {} MiB without a report: write the result to the file in `WORKFLOW_OUTPUT`",
                    OUTPUT_BYTES / 1024 / 1024
                ));
            }
            let text = String::from_utf8_lossy(&stdout.bytes);
            let output = if model::within_depth(text.as_bytes(), Limits::JSON_DEPTH) {
                serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned()))
            } else {
                Value::String(text.into_owned())
            };
            Outcome::Success { output }
        }
        Err(error) => Outcome::Failed { error },
    }
}

/// The error of a report that cannot be taken. Where it lies is for the record: that folder is nobody's business who made
/// the call.
fn unusable(message: impl Into<String>, cause: Option<String>) -> RunError {
    let error = RunError::new(ErrorCode::CommandFailed, message);
    match cause {
        Some(cause) => error.with_cause(cause),
        None => error,
    }
}

fn read_report(path: &str) -> Result<Option<Value>, RunError> {
    // The command may have put anything there: a link to a file that it could not read, a pipe that never ends.
    let file = match disk::read::open_regular(Path::new(path)) {
        Ok((file, _)) => file,
        Err(ReadError::NotFound { .. }) => return Ok(None),
        Err(ReadError::NotRegular { path, kind }) => {
            let message = format!("its report is {kind}, not a regular file");
            return Err(unusable(message, Some(path.display().to_string())));
        }
        Err(error) => return Err(unusable("its report cannot be read", Some(model::with_causes(&error)))),
    };
    let mut bytes = Vec::new();
    let most = u64::try_from(OUTPUT_BYTES).unwrap_or(u64::MAX);
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unusable(format!("its report cannot be read: {error}"), None))?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() > OUTPUT_BYTES {
        return Err(unusable(format!("its report is over {} MiB", OUTPUT_BYTES / 1024 / 1024), None));
    }
    if !model::within_depth(&bytes, Limits::JSON_DEPTH) {
        return Err(unusable(format!("its report is nested over {} levels", Limits::JSON_DEPTH), None));
    }
    serde_json::from_slice(&bytes).map(Some).map_err(|error| unusable(format!("its report is no JSON: {error}"), None))
}

/// Reads `{"output"}`, `{"errCode", "errMsg"}` or `{"pending"}`.
fn judge(report: &Value) -> Result<Outcome, String> {
    let known = |report: &&serde_json::Map<String, Value>| {
        ["output", "errCode", "pending"].iter().any(|key| report.contains_key(*key))
    };
    let Some(report) = report.as_object().filter(known) else {
        return Err("its report is no JSON object with `output`, `errCode` or `pending`".into());
    };
    if let Some(form) = report.get("pending").filter(|form| !form.is_null()) {
        return Ok(Outcome::Pending { form: form.clone() });
    }
    let number = match report.get("errCode") {
        None | Some(Value::Null) => 0,
        Some(number) => number.as_i64().ok_or("`errCode` in its report is no whole number")?,
    };
    if number != 0 {
        let message = report.get("errMsg").and_then(Value::as_str).unwrap_or("the workflow reported an error");
        let mut error = RunError::new(ErrorCode::BusinessError, message);
        error.err_code = Some(number);
        error.data = report.get("data").cloned();
        return Ok(Outcome::Failed { error });
    }
    Ok(Outcome::Success { output: report.get("output").cloned().unwrap_or(Value::Null) })
}

/// The bytes of a stream, up to a limit.
#[derive(Default)]
struct Collected {
    bytes: Vec<u8>,
    cut: bool,
}

impl Collected {
    fn add(&mut self, bytes: &[u8]) {
        let room = OUTPUT_BYTES.saturating_sub(self.bytes.len());
        self.cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn last_lines(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes[self.bytes.len().saturating_sub(8 * 1024)..]);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(CAUSE_LINES)..].join("\n")
    }
}

/// Passes a stream on, and collects what `is_command` did not take.
fn pass_on(stream: impl Read, name: Stream, link: &Link, is_command: &mut dyn FnMut(&str) -> bool) -> Collected {
    let tell = |text: &str, goes_on: bool| {
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        link.say(&FromWorker::Narrate(Narration::Log { stream: name, text, data: None, goes_on }));
    };
    let mut stream = BufReader::with_capacity(64 * 1024, stream);
    let mut collected = Collected::default();
    let mut batch = String::new();
    let mut rest = Vec::new();
    let mut goes_on = false;
    loop {
        let begins = !goes_on;
        let mut piece = std::mem::take(&mut rest);
        let most = u64::try_from(PIECE_BYTES).unwrap_or(u64::MAX);
        let read = (&mut stream).take(most).read_until(b'\n', &mut piece).unwrap_or(0);
        goes_on = read == PIECE_BYTES && piece.last() != Some(&b'\n');
        if goes_on {
            rest = piece.split_off(piece.len() - begun_character(&piece));
        }
        if !piece.is_empty() {
            let text = String::from_utf8_lossy(&piece);
            let is_line = begins && !goes_on;
            if !(is_line && is_command(text.trim_end_matches(['\n', '\r']))) {
                collected.add(&piece);
                batch.push_str(&text);
            }
        }
        // Nothing more is there yet: what came is shown now.
        let idle = stream.buffer().is_empty();
        if !batch.is_empty() && (read == 0 || idle || goes_on || batch.len() >= BATCH_BYTES) {
            tell(&batch, goes_on);
            batch.clear();
        } else if read == 0 && !begins {
            // The long line has its end.
            tell("", false);
        }
        if read == 0 {
            return collected;
        }
    }
}

/// How many bytes at the end are the beginning of a character whose other bytes are still to come.
fn begun_character(bytes: &[u8]) -> usize {
    let begun = |count: usize| {
        let first = bytes.len().checked_sub(count).and_then(|at| bytes.get(at));
        let length = match first {
            Some(0xc2..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(0xf0..=0xf4) => 4,
            _ => 0,
        };
        length > count
    };
    (1..=3).find(|count| begun(*count)).unwrap_or(0)
}

/// The lines that say something about the run: `::progress`, `::phase`, `::node`.
struct Commands<'a> {
    link: &'a Link,
    phase: Option<u64>,
    next: u64,
    known: HashMap<String, u64>,
}

impl<'a> Commands<'a> {
    fn new(link: &'a Link) -> Self {
        Self { link, phase: None, next: 1, known: HashMap::new() }
    }

    fn take(&mut self, line: &str) -> bool {
        let Some(line) = line.strip_prefix("::") else { return false };
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "phase" if !rest.trim().is_empty() => {
                let (node, title) = (self.number(), rest.trim().to_owned());
                if let Some(before) = self.phase.replace(node) {
                    self.tell(Narration::NodeEnded { id: before, status: NodeStatus::Success });
                }
                self.tell(Narration::NodeStarted {
                    id: node,
                    parent: None,
                    kind: NodeKind::Phase,
                    title: title.clone(),
                });
                self.tell(Narration::Phase { node, title });
                true
            }
            "progress" => {
                let Some(value) = json_object(rest) else { return false };
                let Some(done) = value.get("done").and_then(Value::as_f64) else { return false };
                self.tell(Narration::Progress {
                    done,
                    total: value.get("total").and_then(Value::as_f64),
                    message: value.get("message").and_then(Value::as_str).map(str::to_owned),
                });
                true
            }
            "node" => {
                let Some(value) = json_object(rest) else { return false };
                self.node(&value);
                true
            }
            _ => false,
        }
    }

    fn tell(&self, narration: Narration) {
        self.link.say(&FromWorker::Narrate(narration));
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// `{id, title, status?, parent?}`: the id is the command's own name for the node.
    fn node(&mut self, value: &Value) {
        let name = |key: &str| match value.get(key) {
            Some(Value::String(name)) => Some(name.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) | None => None,
        };
        let Some(own) = name("id") else { return };
        let status = value
            .get("status")
            .and_then(|status| serde_json::from_value(status.clone()).ok())
            .unwrap_or(NodeStatus::Running);
        let id = match self.known.get(&own) {
            Some(id) => *id,
            None => {
                let id = self.number();
                let parent = name("parent").and_then(|parent| self.known.get(&parent).copied()).or(self.phase);
                let title = value.get("title").and_then(Value::as_str).unwrap_or(&own).to_owned();
                self.known.insert(own, id);
                self.tell(Narration::NodeStarted { id, parent, kind: NodeKind::Command, title });
                id
            }
        };
        if status.is_final() {
            self.tell(Narration::NodeEnded { id, status });
        }
    }
}

fn json_object(text: &str) -> Option<Value> {
    if !model::within_depth(text.as_bytes(), Limits::JSON_DEPTH) {
        return None;
    }
    serde_json::from_str::<Value>(text).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_character_is_not_cut() {
        let whole = "a\u{e9}\u{6f22}\u{1f600}";
        for (end, begun) in [(1, 0), (2, 1), (3, 0), (4, 1), (5, 2), (6, 0), (7, 1), (8, 2), (9, 3), (10, 0)] {
            assert_eq!(begun_character(&whole.as_bytes()[..end]), begun, "{end}");
        }
        assert_eq!(begun_character(b"\xff\x80\x80\x80"), 0);
        assert_eq!(begun_character(b""), 0);
    }

    #[test]
    fn a_report_is_an_output_an_error_or_a_question() {
        assert_eq!(judge(&json!({"output": 1})), Ok(Outcome::Success { output: json!(1) }));
        assert_eq!(judge(&json!({"output": null})), Ok(Outcome::Success { output: Value::Null }));
        assert_eq!(judge(&json!({"pending": {"title": "T"}})), Ok(Outcome::Pending { form: json!({"title": "T"}) }));
        let Ok(Outcome::Failed { error }) = judge(&json!({"errCode": 7, "errMsg": "no"})) else { panic!("no error") };
        assert_eq!((error.code, error.err_code, error.message.as_str()), (ErrorCode::BusinessError, Some(7), "no"));
        assert!(judge(&json!({"errCode": "x"})).is_err());
        for report in [json!([]), json!({}), json!({"outptu": 1})] {
            assert!(judge(&report).is_err(), "{report}");
        }
    }

    #[test]
    fn the_cause_is_the_end_of_standard_error() {
        let mut collected = Collected::default();
        for line in 0..5_000 {
            collected.add(format!("line {line}\n").as_bytes());
        }
        let cause = collected.last_lines();
        assert_eq!(cause.lines().count(), CAUSE_LINES);
        assert!(cause.ends_with("line 4999"), "{cause}");
    }
}
