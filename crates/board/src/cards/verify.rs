//! Commands a card declares to prove its criteria, and running them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use process::{Environment, Spec};
use serde_json::{Value, json};

use crate::board::Board;
use crate::config::Config;
use crate::error::{BoardError, Result, refuse};
use crate::front_matter::is_empty;
use crate::markdown::{acceptance, normalised, sha256, tick};
use crate::record::{Kind, Whole};

/// Output kept of each stream, from its end, in bytes.
const KEPT: usize = 64 * 1024;
/// How long a command may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// One declared command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) run: Vec<String>,
    /// Digests of the criteria it proves.
    pub(crate) criteria: Vec<String>,
}

/// How a run of a card's commands ended.
#[derive(Debug, Clone)]
pub struct VerifyRun {
    /// Whether every command passed.
    pub ok: bool,
    /// `{id, ok, entries, acceptance, timeoutSeconds}`.
    pub answer: Value,
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// Reads a `verify` block.
pub(crate) fn read(value: &Value) -> Result<Vec<Entry>> {
    let wrong = || BoardError::new("CARD_VERIFY_INVALID", "`verify` is a list of `{id, run, criteria}`");
    let mut entries: Vec<Entry> = Vec::new();
    for item in value.as_array().ok_or_else(wrong)? {
        let map = item.as_object().ok_or_else(wrong)?;
        let unknown: Vec<&String> =
            map.keys().filter(|key| !matches!(key.as_str(), "id" | "run" | "criteria")).collect();
        if !unknown.is_empty() {
            return Err(refuse!("CARD_VERIFY_KEY_UNKNOWN", "an entry has `id`, `run` and `criteria` only")
                .with(json!({ "keys": unknown })));
        }
        let id = map.get("id").and_then(Value::as_str).unwrap_or("").to_owned();
        let valid = id.starts_with(|one: char| one.is_ascii_lowercase() || one.is_ascii_digit())
            && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !valid {
            return Err(refuse!("CARD_VERIFY_ID_INVALID", "an entry's id is lower-case letters, digits and `-`")
                .with(json!({ "id": map.get("id") })));
        }
        if entries.iter().any(|entry| entry.id == id) {
            return Err(refuse!("CARD_VERIFY_ID_DUPLICATE", "`{id}` names two entries").with(json!({ "id": id })));
        }
        let run = match map.get("run") {
            None | Some(Value::Null) => {
                return Err(refuse!("CARD_VERIFY_RUN_REQUIRED", "`{id}` needs a command").with(json!({ "id": id })));
            }
            Some(Value::Array(words)) if words.is_empty() => {
                return Err(refuse!("CARD_VERIFY_RUN_REQUIRED", "`{id}` needs a command").with(json!({ "id": id })));
            }
            Some(Value::Array(words)) => words
                .iter()
                .map(|word| {
                    word.as_str()
                        .filter(|word| !word.is_empty() && !word.chars().any(char::is_control))
                        .map(str::to_owned)
                })
                .collect::<Option<Vec<String>>>(),
            Some(_) => None,
        };
        let run = run.ok_or_else(|| {
            refuse!("CARD_VERIFY_RUN_INVALID", "the command of `{id}` is a list of words")
                .with(json!({ "id": id, "run": map.get("run") }))
        })?;
        let mut criteria = Vec::new();
        if let Some(list) = map.get("criteria").filter(|value| !is_empty(value)) {
            let list = list.as_array().ok_or_else(|| {
                refuse!("CARD_VERIFY_CRITERIA_INVALID", "the criteria of `{id}` are a list of digests")
                    .with(json!({ "id": id }))
            })?;
            for digest in list {
                let text = digest.as_str().unwrap_or("");
                if !is_digest(text) {
                    return Err(refuse!("CARD_VERIFY_DIGEST_INVALID", "a criterion is named by its `sha256:` digest")
                        .with(json!({ "id": id, "digest": digest })));
                }
                criteria.push(text.to_owned());
            }
        }
        entries.push(Entry { id, run, criteria });
    }
    Ok(entries)
}

/// Refuses commands that the project does not declare. A command may add words to a declared one.
pub(crate) fn allowed(config: &Config, entries: &[Entry]) -> Result<()> {
    let declared = &config.cards.commands;
    match entries.iter().find(|entry| !declared.iter().any(|command| entry.run.starts_with(command))) {
        None => Ok(()),
        Some(entry) => {
            Err(refuse!("CARD_VERIFY_COMMAND_NOT_ALLOWED", "this project does not allow `{}`", entry.run.join(" "))
                .with(json!({ "id": entry.id, "run": entry.run, "declared": declared })))
        }
    }
}

/// Bindings to criteria that the body does not have.
pub(crate) fn unbound(entries: &[Entry], body: &str) -> Vec<Value> {
    let present: Vec<String> =
        acceptance(body).items.iter().map(|item| sha256(normalised(&item.text).as_bytes())).collect();
    entries
        .iter()
        .flat_map(|entry| entry.criteria.iter().map(move |digest| (entry, digest)))
        .filter(|(_, digest)| !present.contains(digest))
        .map(|(entry, digest)| json!({ "entry": entry.id, "digest": digest }))
        .collect()
}

pub(crate) fn bound(entries: &[Entry], body: &str) -> Result<()> {
    let unbound = unbound(entries, body);
    if unbound.is_empty() {
        return Ok(());
    }
    Err(refuse!("CARD_VERIFY_CRITERION_UNKNOWN", "no criterion has the text that is bound")
        .with(json!({ "bindings": unbound })))
}

/// The digest of what a close proved: criteria and commands, whatever their order.
pub(crate) fn digest(record: &Whole) -> String {
    let mut criteria: Vec<String> = acceptance(&record.body).items.iter().map(|item| normalised(&item.text)).collect();
    // By code unit, as the format orders.
    criteria.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
    let mut entries = record.fields.get("verify").and_then(|value| read(&value).ok()).unwrap_or_default();
    entries.sort_by(|one, other| one.id.cmp(&other.id));
    let verify: Vec<Value> = entries
        .into_iter()
        .map(|mut entry| {
            entry.criteria.sort();
            json!({ "id": entry.id, "run": entry.run, "criteria": entry.criteria })
        })
        .collect();
    sha256(json!({ "v": 1, "criteria": criteria, "verify": verify }).to_string().as_bytes())
}

struct Outcome {
    outcome: &'static str,
    code: Option<i32>,
    signal: Option<i32>,
    duration: Duration,
    reason: Option<String>,
    stdout: String,
    stderr: String,
    truncated: bool,
}

/// The end of a stream, read by a thread of its own.
struct Kept {
    text: Arc<Mutex<(Vec<u8>, bool)>>,
    thread: std::thread::JoinHandle<()>,
}

impl Kept {
    fn new(mut stream: impl std::io::Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new((Vec::new(), false)));
        let shared = Arc::clone(&text);
        let thread = std::thread::spawn(move || {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(count) = stream.read(&mut buffer) {
                if count == 0 {
                    break;
                }
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.0.extend_from_slice(&buffer[..count]);
                if kept.0.len() > KEPT {
                    let surplus = kept.0.len() - KEPT;
                    kept.0.drain(..surplus);
                    kept.1 = true;
                }
            }
        });
        Self { text, thread }
    }

    /// What was read. A process that was left behind may hold the stream open, and is not waited for.
    fn end(self) -> (String, bool) {
        let started = Instant::now();
        while !self.thread.is_finished() && started.elapsed() < GRACE {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        let kept = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        (String::from_utf8_lossy(&kept.0).into_owned(), kept.1)
    }
}

impl Board {
    /// Runs a card's declared commands one after the other, and ticks what they prove.
    ///
    /// # Errors
    ///
    /// `CARD_VERIFY_NONE_DECLARED`, `CARD_VERIFY_ENTRY_UNKNOWN`, `CARD_VERIFY_COMMAND_NOT_ALLOWED`, and those of every write.
    pub fn verify_card(&self, id: &str, only: &[String], actor: &str) -> Result<VerifyRun> {
        self.workspace().writable()?;
        let index = self.index();
        let card = index.get(id).filter(|record| record.kind == Kind::Card);
        let card = card.ok_or_else(|| refuse!("CARD_NOT_FOUND", "there is no `{id}`"))?;
        let entries = match card.fields.get("verify") {
            Some(value) if !is_empty(&value) => read(&value)?,
            _ => Vec::new(),
        };
        if entries.is_empty() {
            return Err(refuse!("CARD_VERIFY_NONE_DECLARED", "`{id}` declares no commands").with(json!({ "id": id })));
        }
        let unknown: Vec<&String> =
            only.iter().filter(|name| !entries.iter().any(|entry| entry.id == **name)).collect();
        if !unknown.is_empty() {
            let declared: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
            return Err(refuse!("CARD_VERIFY_ENTRY_UNKNOWN", "`{id}` declares no such entry")
                .with(json!({ "id": id, "unknown": unknown, "declared": declared })));
        }
        // All of them before the first one starts.
        allowed(self.config(), &entries)?;
        let chosen: Vec<&Entry> = entries.iter().filter(|entry| only.is_empty() || only.contains(&entry.id)).collect();
        let outcomes: Vec<(&Entry, Outcome)> = chosen.into_iter().map(|entry| (entry, self.run(&entry.run))).collect();

        let mut held = self.hold_card(id, None)?;
        let mut body = held.text.body().to_owned();
        let mut answers = Vec::new();
        for (entry, outcome) in &outcomes {
            let read = acceptance(&body);
            let own: Vec<&crate::markdown::Item> = read
                .items
                .iter()
                .filter(|item| entry.criteria.contains(&sha256(normalised(&item.text).as_bytes())))
                .collect();
            let numbers: Vec<usize> = own.iter().map(|item| item.index).collect();
            let to = match outcome.outcome {
                "passed" => Some(true),
                "failed" => Some(false),
                _ => None,
            };
            let mut moved = Vec::new();
            if let Some(to) = to {
                for item in own.iter().filter(|item| item.checked != to) {
                    body = tick(&body, item.line, to);
                    moved.push(item.index);
                }
            }
            let (checked, unchecked) = if to == Some(true) { (moved, Vec::new()) } else { (Vec::new(), moved) };
            answers.push(json!({
                "id": entry.id, "run": entry.run, "outcome": outcome.outcome, "code": outcome.code, "signal": outcome.signal,
                "durationMs": u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX), "reason": outcome.reason,
                "stdout": outcome.stdout, "stderr": outcome.stderr, "truncated": outcome.truncated,
                "criteria": numbers, "checked": checked, "unchecked": unchecked, "writeError": null,
            }));
            let hashes =
                |numbers: &[usize]| numbers.iter().map(|number| format!("#{number}")).collect::<Vec<_>>().join(", ");
            let mut parts = Vec::new();
            if !checked.is_empty() {
                parts.push(format!("checked {}", hashes(&checked)));
            }
            if !unchecked.is_empty() {
                parts.push(format!("unchecked {}", hashes(&unchecked)));
            }
            if !parts.is_empty() {
                held.text.set_body(&body);
                self.trail(
                    &mut held,
                    actor,
                    &format!("verify {}: {}, {}", entry.id, outcome.outcome, parts.join("; ")),
                );
                body = held.text.body().to_owned();
            }
        }
        let record = if body == held.record.body { held.record } else { self.finish_card(held, None)? };
        let ok = outcomes.iter().all(|(_, outcome)| outcome.outcome == "passed");
        let answer = json!({
            "id": record.id, "ok": ok, "entries": answers, "acceptance": acceptance(&record.body).to_json(),
            "timeoutSeconds": self.config().cards.timeout_seconds,
        });
        Ok(VerifyRun { ok, answer })
    }

    /// Verifies every open card whose scope covers what differs from `base`: `{base, resolved, touched, cards, ok}`.
    ///
    /// # Errors
    ///
    /// `CARD_VERIFY_NO_BASE` when git does not know it.
    pub fn verify_changed(&self, base: &str, actor: &str) -> Result<Value> {
        let (resolved, touched) = crate::git::changed_since(self.root(), base).ok_or_else(|| {
            refuse!("CARD_VERIFY_NO_BASE", "git knows no commit `{base}` here").with(json!({ "base": base }))
        })?;
        let index = self.index();
        let mut cards = Vec::new();
        let mut ok = true;
        for card in index.of(Kind::Card) {
            let declares = card.fields.get("verify").is_some_and(|value| !is_empty(&value));
            let scope = card.list("scope");
            let covered = touched.iter().any(|path| scope.iter().any(|entry| crate::paths::covers(entry, path)));
            if card.archived || !declares || !covered {
                continue;
            }
            let run = self.verify_card(&card.id, &[], actor)?;
            ok &= run.ok;
            cards.push(run.answer);
        }
        Ok(json!({ "base": base, "resolved": resolved, "touched": touched, "cards": cards, "ok": ok }))
    }

    /// Runs one command: no shell, from the root, with nothing to read.
    fn run(&self, words: &[String]) -> Outcome {
        let started = Instant::now();
        let failed = |reason: String| Outcome {
            outcome: "errored",
            code: None,
            signal: None,
            duration: started.elapsed(),
            reason: Some(reason),
            stdout: String::new(),
            stderr: String::new(),
            truncated: false,
        };
        let Some((program, arguments)) = words.split_first() else { return failed("there is no command".into()) };
        let environment: Environment = std::env::vars_os().collect();
        let spec = Spec::new(program).arguments(arguments).folder(self.root()).environment(environment);
        let mut child = match spec.spawn_blocking() {
            Ok(child) => child,
            Err(error) => return failed(format!("{error}: {}", error.source)),
        };
        let stdout = child.stdout.take().map(Kept::new);
        let stderr = child.stderr.take().map(Kept::new);
        let limit = Duration::from_secs(self.config().cards.timeout_seconds);
        let mut asked: Option<Instant> = None;
        let mut timed_out = false;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) => {}
                Err(error) => return failed(error.to_string()),
            }
            match asked {
                None if started.elapsed() >= limit => {
                    timed_out = true;
                    process::tree::terminate_descendants(child.id());
                    if let Some(facts) = process::proc_info::facts(child.id()) {
                        process::tree::signal(facts, process::tree::Signal::Terminate);
                    }
                    asked = Some(Instant::now());
                }
                Some(at) if at.elapsed() >= GRACE => {
                    process::tree::kill_descendants(child.id());
                    process::tree::kill(child.id());
                }
                _ => {}
            }
            std::thread::park_timeout(Duration::from_millis(10));
        };
        let read = |kept: Option<Kept>| kept.map(Kept::end).unwrap_or_default();
        let ((stdout, cut_out), (stderr, cut_err)) = (read(stdout), read(stderr));
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Outcome {
            outcome: if timed_out {
                "timed-out"
            } else if status.success() {
                "passed"
            } else {
                "failed"
            },
            code: status.code(),
            signal,
            duration: started.elapsed(),
            reason: timed_out.then(|| format!("it ran longer than {} seconds", limit.as_secs())),
            stdout,
            stderr,
            truncated: cut_out || cut_err,
        }
    }
}
