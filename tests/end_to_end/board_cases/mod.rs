//! Recorded cases of the board as data: `tests/cases/board/NAME` with the workspace it is about, the calls, and what another
//! program of this format answered.
//!
//! Here: which cases differ on purpose, and playing one; `normal` makes answers comparable. A call that is marked `quirk`
//! is a fault of the recorded program, and is played without being compared.

mod normal;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use process::BlockingChild;
use rstest::rstest;
use serde_json::{Map, Value, json};
use workflow_code_tests::{Environment, executable};

use crate::fixtures::copy_folder;
use normal::Normal;

/// How long an edit from outside may take to be seen.
const SEEN: Duration = Duration::from_millis(300);

/// Cases that are answered in another way on purpose, with the calls that are, and why. The list is exact: a call in it
/// that is answered as recorded is a failure (docs/board.md, "What differs").
const DIFFERENT: &[(&str, &[usize], &str)] = &[
    ("changelog-add", &[7], "`released: false` lists what is not released; the recorded program ignores it"),
    ("era-legacy", &[4], "there are 32 tools; the recorded program had no project_doc_note and project_doc_write"),
    ("era-modern", &[1], "the same 32 tools"),
    ("era-modern-refusals", &[2], "the same 32 tools"),
];

#[rstest]
fn case(#[files("cases/board/*/calls.json")] path: PathBuf) {
    let folder = path.parent().expect("a case has a folder");
    let name = folder.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let (calls, files) = play(folder);
    let other: &[usize] = DIFFERENT.iter().find(|(other, ..)| *other == name).map_or(&[], |(_, calls, _)| calls);
    let wrong: Vec<&String> =
        calls.iter().filter(|(at, _)| !other.contains(at)).flat_map(|(_, all)| all).chain(&files).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    for at in other {
        assert!(calls.contains_key(at), "{name}: call {at} is answered as recorded now; take it out of the list");
    }
}

#[test]
fn every_case_that_differs_is_there() {
    for (name, ..) in DIFFERENT {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/board").join(name).join("calls.json");
        assert!(file.is_file(), "there is no case `{name}`");
    }
}

fn json_of(path: &Path) -> Value {
    fs::read_to_string(path).map_or(Value::Null, |text| serde_json::from_str(&text).expect("JSON"))
}

/// A server with its pipes.
struct Server {
    child: BlockingChild,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

struct Player<'a> {
    environment: Environment,
    root: PathBuf,
    options: &'a Value,
    server: Option<Server>,
    normal: Normal,
    /// What came, for later calls.
    raw: Vec<Value>,
}

/// Plays a case. Returns the differences of each call, and of the files.
fn play(folder: &Path) -> (BTreeMap<usize, Vec<String>>, Vec<String>) {
    let (spec, expected) = (json_of(&folder.join("calls.json")), json_of(&folder.join("expect.json")));
    let mut environment = Environment::new().expect("a home");
    let fixed = [("USER", "tester"), ("HOSTNAME", "bench"), ("TZ", "UTC"), ("LC_ALL", "C.UTF-8")];
    let own = spec["options"]["env"].as_object().cloned().unwrap_or_default();
    fixed.iter().for_each(|(name, value)| environment.set(name, value));
    own.iter().for_each(|(name, value)| environment.set(name, value.as_str().unwrap_or_default()));
    let root = environment.home().join("case").join(spec["options"]["folder"].as_str().unwrap_or("project"));
    fs::create_dir_all(&root).expect("made");
    let base = spec["options"]["base"].as_str().map(|base| folder.with_file_name("_base").join(base));
    for source in base.into_iter().chain([folder.join("project")]).filter(|source| source.is_dir()) {
        copy_folder(&source, &root).expect("copied");
    }
    if folder.join("setup.sh").is_file() {
        let script = format!("cd '{}' && . '{}'", root.display(), folder.join("setup.sh").display());
        let done = environment.run_program("bash", &["-euc", &script], &[]).expect("runs");
        assert_eq!(done.code, 0, "setup.sh: {}", done.stderr);
    }
    let before = snapshot(&root);
    let normal = Normal::new(&root);
    let mut player = Player { environment, root, options: &spec["options"], server: None, normal, raw: Vec::new() };
    let mut calls = BTreeMap::new();
    for (at, call) in spec["calls"].as_array().expect("calls").iter().enumerate() {
        let shown = player.call(&player.filled(call));
        if call.get("quirk").is_none() {
            let mut found = Vec::new();
            normal::compare(&expected[at], &shown, &format!("calls[{at}]"), &mut found);
            if !found.is_empty() {
                calls.insert(at, found);
            }
        }
    }
    player.stop();
    let files = player.files(&before, &json_of(&folder.join("expect_files.json")));
    player.environment.assert_nothing_left();
    (calls, files)
}

/// Every file but what can be made again.
fn snapshot(root: &Path) -> BTreeMap<String, String> {
    fn below(root: &Path, folder: &str, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(root.join(folder)).expect("listed").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() && path != ".git" && path != ".project/.cache" {
                below(root, &path, found);
            } else if kind.is_file() {
                let bytes = fs::read(entry.path()).expect("read");
                found.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    let mut found = BTreeMap::new();
    below(root, "", &mut found);
    found
}

impl Player<'_> {
    /// A call with what earlier ones gave.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), self.filled(value))).collect(),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::String(text) => self.filled_text(text),
            other => other.clone(),
        }
    }

    fn filled_text(&self, text: &str) -> Value {
        let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or("");
        if let Some((number, path)) = inner.strip_prefix("calls.").and_then(|rest| rest.split_once('.')) {
            let call = &self.raw[number.parse::<usize>().expect("a number")];
            let mut node = call.get("result").unwrap_or(call);
            for part in path.split('.') {
                node = part.parse::<usize>().ok().map_or(&node[part], |at| &node[at]);
            }
            return node.clone();
        }
        if let Some((times, part)) = inner.strip_prefix("repeat:").and_then(|rest| rest.split_once(':')) {
            return json!(part.repeat(times.parse().expect("a number")));
        }
        json!(text.replace("${root}", &self.root.to_string_lossy()))
    }

    fn call(&mut self, call: &Value) -> Value {
        if let Some(path) = call["write"].as_str() {
            self.write(path, call["content"].as_str());
            self.raw.push(json!({}));
            return json!({ "wrote": path });
        }
        if call.get("hook").is_some() || call.get("cli").is_some() {
            let shown = json!({ "result": self.run(call) });
            self.raw.push(shown.clone());
            return shown;
        }
        if self.server.is_none() || call.get("restart").is_some() {
            self.stop();
            self.server = Some(self.start());
        }
        if call.get("restart").is_some() {
            self.raw.push(json!({}));
            return json!({ "restarted": true });
        }
        let (got, shown) = self.ask(call);
        self.raw.push(got);
        shown
    }

    fn write(&self, path: &str, content: Option<&str>) {
        let path = self.root.join(path);
        match content {
            None => fs::remove_file(&path).expect("removed"),
            Some(content) => {
                fs::create_dir_all(path.parent().expect("a folder")).expect("made");
                fs::write(&path, content).expect("written");
            }
        }
        // What the format promises: an edit from outside is seen after this time. Earlier it may be, later it must be.
        let written = Instant::now();
        while written.elapsed() < SEEN {
            std::thread::park_timeout(SEEN - written.elapsed());
        }
    }

    /// Runs a hook or a command.
    fn run(&self, call: &Value) -> Value {
        let mut arguments = vec!["board".to_owned()];
        match call["hook"].as_str() {
            Some(word) => arguments.extend(["hook".to_owned(), word.to_owned()]),
            None => arguments
                .extend(call["cli"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)),
        }
        let input = call["stdin"]
            .as_str()
            .map_or_else(|| call.get("stdin").map_or_else(String::new, Value::to_string), str::to_owned);
        // In its folder, with its own variables.
        let mut command: Vec<String> = vec!["-C".into(), self.root.to_string_lossy().into_owned()];
        for (name, value) in call["env"].as_object().into_iter().flatten() {
            command.push(format!("{name}={}", value.as_str().unwrap_or_default()));
        }
        command.push(executable().to_string_lossy().into_owned());
        command.extend(arguments);
        let done = self.environment.run_program("env", &command, input.as_bytes()).expect("runs");
        let mut body = Map::from_iter([("exit".to_owned(), json!(done.code))]);
        body.insert("stdout".into(), self.normal.printed(&done.stdout));
        if let Ok(error) = serde_json::from_str::<Value>(&done.stderr) {
            body.insert("stderr".into(), self.normal.value(&error, ""));
        }
        if let Some(path) = call["read"].as_str() {
            let text = fs::read_to_string(self.root.join(path)).expect("read");
            let lines = text.lines().filter(|line| !line.is_empty());
            let lines = lines.map(|line| self.normal.value(&serde_json::from_str(line).expect("JSON"), ""));
            body.insert("read".into(), lines.collect());
        }
        Value::Object(body)
    }

    fn start(&self) -> Server {
        let mut arguments: Vec<String> =
            ["board", "mcp", "--root", &self.root.to_string_lossy()].into_iter().map(str::to_owned).collect();
        let more = self.options["serverArgs"].as_array().into_iter().flatten().filter_map(Value::as_str);
        arguments.extend(more.map(str::to_owned));
        let mut child = self.environment.start(executable(), &arguments).expect("started");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        if let Some(mut errors) = child.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        }
        let mut server = Server { child, input, output: BufReader::new(output), next: 0 };
        if self.options["era"].as_str().unwrap_or("legacy") == "legacy" {
            let revision = self.options["protocolVersion"].as_str().unwrap_or("2025-11-25");
            let client = json!({ "name": "golden", "version": "1.0.0" });
            let opening = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
            server.request("initialize", Some(opening));
            server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        server
    }

    fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            let Server { mut child, input, .. } = server;
            drop(input);
            assert!(child.wait().expect("ends").success());
        }
    }

    /// Sends what a call says, and returns what came, as it is and as it is compared.
    fn ask(&mut self, call: &Value) -> (Value, Value) {
        let modern = self.options["era"] == "modern" && call.get("bare").is_none();
        let server = self.server.as_mut().expect("it was started");
        if let Some(line) = call["raw"].as_str() {
            server.line(line);
            if call.get("silent").is_some() {
                // What is answered next is the answer to what is asked next.
                server.line("{\"jsonrpc\":\"2.0\",\"id\":\"after\",\"method\":\"ping\"}");
                let next = server.read();
                let silent = next["id"] == "after";
                return (next.clone(), if silent { json!({ "noResponse": true }) } else { next });
            }
            let got = server.read();
            let mut shown = self.normal.answer(&json!({}), &got);
            shown["id"] = got["id"].clone();
            return (got, shown);
        }
        if let Some(method) = call["notify"].as_str() {
            server.send(&json!({ "jsonrpc": "2.0", "method": method, "params": call["params"] }));
            return (json!({}), json!({ "notified": true }));
        }
        let (method, mut params) = match call["tool"].as_str() {
            Some(tool) => {
                let arguments = call.get("arguments").cloned().unwrap_or(json!({}));
                ("tools/call", Some(json!({ "name": tool, "arguments": arguments })))
            }
            None => (call["method"].as_str().expect("a method"), call.get("params").cloned()),
        };
        if modern {
            params = Some(with_metadata(params.unwrap_or(json!({}))));
        }
        let got = server.request(method, params);
        let mut shown = self.normal.answer(call, &got);
        for path in call["absent"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if shown.get("absent").is_none() {
                shown["absent"] = json!({});
            }
            shown["absent"][path] = json!(!normal::is_present(&got["result"], path));
        }
        (got, shown)
    }

    fn files(&self, before: &BTreeMap<String, String>, expected: &Value) -> Vec<String> {
        let after = snapshot(&self.root);
        let loose: Vec<&str> =
            self.options["quirkFiles"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let empty = Map::new();
        let expected = expected.as_object().unwrap_or(&empty);
        let mut found = Vec::new();
        let paths: std::collections::BTreeSet<&String> =
            before.keys().chain(after.keys()).chain(expected.keys()).collect();
        for path in paths.into_iter().filter(|path| !loose.iter().any(|mark| path.contains(mark))) {
            let changed = before.get(path) != after.get(path);
            match (expected.get(path), after.get(path)) {
                (None, _) if changed => found.push(format!("{path}: changed, and no change was expected")),
                (Some(_), _) if !changed => found.push(format!("{path}: a change was expected")),
                (Some(Value::Null), Some(_)) => found.push(format!("{path}: it should be gone")),
                (Some(Value::String(want)), now) => {
                    let now = now.map(|text| self.normal.text(text)).unwrap_or_default();
                    if !normal::matches(want, &now) {
                        found.push(format!("{path}: want {want:?}, got {now:?}"));
                    }
                }
                _ => {}
            }
        }
        found
    }
}

fn with_metadata(mut params: Value) -> Value {
    const META: &str = "io.modelcontextprotocol/";
    let defaults = [
        ("protocolVersion", json!("2026-07-28")),
        ("clientInfo", json!({ "name": "golden", "version": "1.0.0" })),
        ("clientCapabilities", json!({ "tools": {} })),
    ];
    if params.get("_meta").is_none() {
        params["_meta"] = json!({});
    }
    for (name, value) in defaults {
        let key = format!("{META}{name}");
        if params["_meta"].get(&key).is_none() {
            params["_meta"][key] = value;
        }
    }
    params
}

impl Server {
    fn line(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).expect("it reads");
    }

    fn send(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line:?}"))
    }

    fn request(&mut self, method: &str, params: Option<Value>) -> Value {
        self.next += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.send(&message);
        self.read()
    }
}
