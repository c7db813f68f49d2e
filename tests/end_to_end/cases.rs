//! Recorded cases as data: `tests/cases/launcher/NAME/case.json` with the project it is about.
//!
//! A case has `server` (argument list; default `mcp {project} --data-dir {tmp}/data`), `env`, `before` (commands that
//! must succeed), `client` (`era`, `protocolVersion`, `capabilities`, `answers`, `initialize`), `initialized` (pattern
//! of what the opening is answered with) and `steps`. A step is a request (`method`, `params`), a call (`tool`,
//! `arguments`), a `raw` line, a command (`run`), `kill`, `gone` (a file with a process id that must end), or `await`;
//! it says with `expect`, `error`, `progress`, `elicited`, `stdout` or `stderr` what must come of it, in the patterns of
//! [`crate::patterns`], and with `save` what later steps need, as `${name}`.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::{Value, json};
use workflow_code_tests::{Answer, Client, ClientOptions, Environment, Finished, Opening, executable};

use crate::fixtures::copy_folder;
use crate::patterns::mismatch;

/// Cases about what is still to come. The list is exact: a case in it that passes is a failure.
const NOT_YET: &[&str] = &[];

#[rstest]
fn case(#[files("cases/launcher/*/case.json")] path: PathBuf) {
    let folder = path.parent().expect("a case has a folder");
    let name = folder.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let played = catch_unwind(AssertUnwindSafe(|| play(folder))).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        Err(said.unwrap_or_else(|| "a check of the client failed".into()))
    });
    match (played, NOT_YET.contains(&name.as_str())) {
        (Ok(()), false) | (Err(_), true) => {}
        (Err(reason), false) => panic!("{name}: {reason}"),
        (Ok(()), true) => panic!("{name} passes now: take it out of the list of those that do not yet"),
    }
}

#[test]
fn every_name_in_the_list_is_a_case() {
    for name in NOT_YET {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/launcher").join(name).join("case.json");
        assert!(file.is_file(), "there is no case `{name}`");
    }
}

/// What `{…}` and `${…}` in a case stand for.
type Names = HashMap<String, Value>;

struct Player {
    environment: Environment,
    names: Names,
    case: Value,
    client: Option<Client>,
    pending: HashMap<String, Value>,
    answers: Vec<Value>,
}

fn play(folder: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join("case.json")).map_err(|error| error.to_string())?;
    let case: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut environment = Environment::new().map_err(|error| error.to_string())?;
    let (home, project) = (environment.home(), environment.home().join("project"));
    std::fs::create_dir_all(&project).map_err(|error| error.to_string())?;
    if folder.join("project").is_dir() {
        copy_folder(&folder.join("project"), &project).map_err(|error| error.to_string())?;
    }
    let names: Names = [("{exe}", executable()), ("{project}", project.clone()), ("{tmp}", home)]
        .into_iter()
        .map(|(name, path)| (name.to_owned(), Value::String(path.to_string_lossy().into_owned())))
        .collect();
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        environment.set(name, fill(value, &names).as_str().unwrap_or_default());
    }
    if folder.join("setup.sh").is_file() {
        let script = format!("cd project && . '{}'", folder.join("setup.sh").display());
        let done = environment.run_program("bash", &["-euc", &script], &[]).map_err(|error| error.to_string())?;
        if done.code != 0 {
            return Err(format!("setup.sh: {}", done.stderr));
        }
    }
    let answers = fill(&case["client"]["answers"], &names).as_array().cloned().unwrap_or_default();
    let mut player = Player { environment, names, case, client: None, pending: HashMap::new(), answers };
    for arguments in player.case["before"].as_array().cloned().unwrap_or_default() {
        let done = player.command(&arguments)?;
        if done.code != 0 {
            return Err(format!("{arguments}: exit {}: {}", done.code, done.stderr));
        }
    }
    for (number, step) in player.case["steps"].as_array().cloned().unwrap_or_default().iter().enumerate() {
        player.step(number + 1, step).map_err(|reason| format!("step {}: {reason}", number + 1))?;
    }
    if let Some(client) = player.client.take() {
        client.finish();
    }
    player.environment.assert_nothing_left();
    Ok(())
}

impl Player {
    fn step(&mut self, number: usize, step: &Value) -> Result<(), String> {
        if let Some(arguments) = step.get("run") {
            return self.run(arguments, step);
        }
        if step.get("kill").is_some() {
            self.client.take().ok_or("there is no server to kill")?.kill();
            return Ok(());
        }
        if let Some(file) = step.get("gone") {
            return self.gone(file, millis(step, "withinMs", 4_000));
        }
        if let Some(label) = step.get("await") {
            let id = self.pending.remove(label.as_str().unwrap_or_default()).ok_or("nothing waits under this label")?;
            let answer = self.client()?.wait(&id);
            return self.check(step, answer);
        }
        if let Some(line) = step.get("raw") {
            let line = fill(line, &self.names);
            let client = self.client()?;
            client.send_raw(line.as_str().unwrap_or_default().as_bytes());
            let message = client.next_message(Instant::now() + patience(step)).ok_or("the line was not answered")?;
            let answer = message
                .get("error")
                .map_or_else(|| Answer::Result(message["result"].clone()), |error| Answer::Error(error.clone()));
            return self.check(step, answer);
        }
        self.request(number, step)
    }

    fn request(&mut self, number: usize, step: &Value) -> Result<(), String> {
        let (method, parameters) = match step.get("tool") {
            Some(tool) => {
                let mut parameters =
                    json!({ "name": tool, "arguments": step.get("arguments").cloned().unwrap_or(json!({})) });
                if step.get("progress").is_some() {
                    parameters["_meta"] = json!({ "progressToken": format!("p{number}") });
                }
                if let (Some(all), Some(more)) = (parameters.as_object_mut(), step["params"].as_object()) {
                    all.extend(more.clone());
                }
                if let Some(reply) = step.get("reply") {
                    let reply = fill(reply, &self.names);
                    let asks = reply["asks"].as_object().cloned().unwrap_or_default();
                    parameters["inputResponses"] = asks
                        .keys()
                        .map(|key| (key.clone(), reply["answer"].clone()))
                        .collect::<serde_json::Map<_, _>>()
                        .into();
                    parameters["requestState"] = reply["state"].clone();
                }
                ("tools/call", parameters)
            }
            None => {
                let method = step["method"].as_str().ok_or("a step of a kind that is not known")?;
                (method, step.get("params").cloned().unwrap_or(json!({})))
            }
        };
        let parameters = fill(&parameters, &self.names);
        let client = self.client()?;
        client.notifications.clear();
        client.elicited.clear();
        let id = client.ask(method, parameters.clone());
        if step["background"] == true {
            self.pending.insert(step["label"].as_str().unwrap_or_default().to_owned(), id);
            return Ok(());
        }
        if step.get("cancelAfterMs").is_some() {
            if let Some(answer) = client.wait_until(&id, Instant::now() + millis(step, "cancelAfterMs", 0)) {
                return Err(format!("answered before the cancel: {answer:?}"));
            }
            client.cancel(&id);
            return Ok(());
        }
        let mut answer = client.wait_until(&id, Instant::now() + patience(step)).ok_or("no answer in time")?;
        while let Some(again) = self.retry(step, &parameters, &answer)? {
            let client = self.client()?;
            let id = client.ask(method, again);
            answer = client.wait_until(&id, Instant::now() + patience(step)).ok_or("no answer in time")?;
        }
        self.check(step, answer)?;
        let client = self.client()?;
        let progress = client.notifications.iter().filter(|message| message["method"] == "notifications/progress");
        let progress: Value = progress.map(|message| message["params"].clone()).collect();
        let elicited = Value::Array(client.elicited.clone());
        for (what, got) in [("progress", progress), ("elicited", elicited)] {
            if let Some(bad) = step.get(what).and_then(|pattern| mismatch(&fill(pattern, &self.names), &got)) {
                return Err(format!("{what}{bad}"));
            }
        }
        Ok(())
    }

    /// Makes the next call when a result of 2026-07-28 asks for something.
    fn retry(&mut self, step: &Value, parameters: &Value, answer: &Answer) -> Result<Option<Value>, String> {
        let Answer::Result(result) = answer else { return Ok(None) };
        let modern = self.case["client"]["era"] == "modern";
        if !modern || step["retry"] == false || result["resultType"] != "input_required" {
            return Ok(None);
        }
        let mut responses = serde_json::Map::new();
        for (key, wanted) in result["inputRequests"].as_object().into_iter().flatten() {
            self.client()?.elicited.push(wanted["params"].clone());
            let answer = if self.answers.is_empty() { json!({ "action": "cancel" }) } else { self.answers.remove(0) };
            responses.insert(key.clone(), answer);
        }
        let mut again = parameters.clone();
        again["inputResponses"] = responses.into();
        if let Some(state) = result.get("requestState") {
            again["requestState"] = state.clone();
        }
        Ok(Some(again))
    }

    fn check(&mut self, step: &Value, answer: Answer) -> Result<(), String> {
        let (pattern, got) = match (step.get("error"), answer) {
            (Some(pattern), Answer::Error(error)) => (pattern.clone(), error),
            (Some(_), Answer::Result(result)) => return Err(format!("wanted an error, got {result}")),
            (None, Answer::Result(result)) => (step.get("expect").cloned().unwrap_or(json!({})), result),
            (None, Answer::Error(error)) => return Err(format!("wanted a result, got the error {error}")),
        };
        self.save(step, &got)?;
        match mismatch(&fill(&pattern, &self.names), &got) {
            Some(bad) => Err(format!("{bad}; the answer is {got}")),
            None => Ok(()),
        }
    }

    fn save(&mut self, step: &Value, from: &Value) -> Result<(), String> {
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let pointer = format!("/{}", path.as_str().unwrap_or_default().replace('.', "/"));
            let value = from.pointer(&pointer).ok_or_else(|| format!("there is no {path} in {from}"))?;
            self.names.insert(format!("${{{name}}}"), value.clone());
        }
        Ok(())
    }

    fn client(&mut self) -> Result<&mut Client, String> {
        if self.client.is_none() {
            let wish = &self.case["client"];
            let opening = match (wish["era"] == "modern", wish["initialize"] == false) {
                (true, _) => Opening::Modern,
                (false, true) => Opening::None,
                // The revisions that the cases ask for, as the client's type wants them.
                (false, false) => match wish["protocolVersion"].as_str() {
                    None | Some("2025-11-25") => Opening::Legacy("2025-11-25"),
                    Some("2025-06-18") => Opening::Legacy("2025-06-18"),
                    Some("2025-03-26") => Opening::Legacy("2025-03-26"),
                    Some("2024-11-05") => Opening::Legacy("2024-11-05"),
                    Some(other) => return Err(format!("revision {other} is not known here")),
                },
            };
            let options = ClientOptions {
                opening,
                capabilities: wish.get("capabilities").cloned().unwrap_or(json!({})),
                answers: self
                    .answers
                    .iter()
                    .map(|answer| if answer == "silent" { Value::Null } else { answer.clone() })
                    .collect(),
            };
            let server = self.case.get("server").cloned();
            let server = server.unwrap_or_else(|| json!(["{exe}", "mcp", "{project}", "--data-dir", "{tmp}/data"]));
            let arguments = strings(&fill(&server, &self.names));
            let (program, arguments) = arguments.split_first().ok_or("`server` is empty")?;
            let arguments: Vec<_> = arguments.iter().map(Into::into).collect();
            let client = Client::start_program(&self.environment, program.into(), &arguments, options);
            if let Some(bad) = self.case.get("initialized").and_then(|pattern| mismatch(pattern, &client.opened)) {
                return Err(format!("initialize: {bad}"));
            }
            self.client = Some(client);
        }
        self.client.as_mut().ok_or_else(|| "there is no server".into())
    }

    fn command(&self, arguments: &Value) -> Result<Finished, String> {
        let arguments = strings(&fill(arguments, &self.names));
        let (program, rest) = arguments.split_first().ok_or("an empty command")?;
        self.environment.run_program(program, rest, &[]).map_err(|error| error.to_string())
    }

    /// Runs a command, again and again until it fits or the time is over.
    fn run(&mut self, arguments: &Value, step: &Value) -> Result<(), String> {
        let until = Instant::now() + millis(step, "withinMs", 0);
        loop {
            let done = self.command(arguments)?;
            match self.check_command(step, &done) {
                Ok(()) => return Ok(()),
                Err(reason) if Instant::now() > until => return Err(format!("{arguments}: {reason}")),
                Err(_) => std::thread::park_timeout(Duration::from_millis(50)),
            }
        }
    }

    fn check_command(&mut self, step: &Value, done: &Finished) -> Result<(), String> {
        if i64::from(done.code) != step["exit"].as_i64().unwrap_or(0) {
            return Err(format!("exit {}; {}{}", done.code, done.stderr, done.stdout));
        }
        for (stream, text) in [("stdout", &done.stdout), ("stderr", &done.stderr)] {
            let Some(pattern) = step.get(stream) else { continue };
            let got = match pattern {
                Value::String(_) => Value::String(text.clone()),
                _ => serde_json::from_str(text).map_err(|error| format!("{stream} is no JSON ({error}): {text}"))?,
            };
            if let Some(bad) = mismatch(&fill(pattern, &self.names), &got) {
                return Err(format!("{stream}{bad}"));
            }
        }
        if step.get("save").is_some() {
            self.save(step, &done.json())?;
        }
        Ok(())
    }

    /// Waits until the process whose id is in a file has ended.
    fn gone(&self, file: &Value, within: Duration) -> Result<(), String> {
        let file = fill(file, &self.names);
        let file = file.as_str().unwrap_or_default();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let pid: u32 = text.trim().parse().map_err(|_| format!("{file} holds no process id"))?;
        let until = Instant::now() + within;
        while process::proc_info::facts(pid).is_some_and(|facts| !facts.zombie) {
            if Instant::now() > until {
                return Err(format!("process {pid} still runs"));
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
        Ok(())
    }
}

fn millis(step: &Value, key: &str, default: u64) -> Duration {
    Duration::from_millis(step[key].as_u64().unwrap_or(default))
}

fn patience(step: &Value) -> Duration {
    millis(step, "timeoutMs", 30_000)
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
}

/// Puts the names' values into every text of a value; a text that is one name becomes the value as it is.
fn fill(value: &Value, names: &Names) -> Value {
    match value {
        Value::String(text) => names.get(text).filter(|_| text.starts_with("${")).cloned().unwrap_or_else(|| {
            Value::String(names.iter().fold(text.clone(), |text, (name, value)| {
                let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                text.replace(name.as_str(), &shown)
            }))
        }),
        Value::Array(items) => items.iter().map(|item| fill(item, names)).collect(),
        Value::Object(object) => {
            Value::Object(object.iter().map(|(key, value)| (key.clone(), fill(value, names))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
