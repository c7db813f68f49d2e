//! The recorded cases of guided workflows (`cases/guided`), each with a server of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use guided::globs::Glob;
use regex::Regex;
use serde_json::{Map, Value, json};
use workflow_code_tests::{Answer, Client, ClientOptions, Environment, Opening};

use crate::fixtures::{copy_folder, environment};

/// Cases whose outcome differs on purpose. Each says why in its `case.json`; `cases/guided/README.md` has the whole.
const DEVIATIONS: [&str; 3] = ["dir_name_differs", "list_bad_shadows_good", "review_platform_other"];

/// How many there are.
const CASES: usize = 52;

#[test]
fn every_case_leads_to_what_was_recorded_but_for_the_known_deviations() {
    let mut cases: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the cases are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("calls.json").is_file())
        .collect();
    cases.sort();
    assert_eq!(cases.len(), CASES);
    let mut wrong = String::new();
    for case in cases {
        let name = case.file_name().expect("a name").to_string_lossy().into_owned();
        let differences = Case::run(&case);
        let expected = DEVIATIONS.contains(&name.as_str());
        if expected {
            assert!(read(&case, "case.json")["deviation"].is_string(), "`{name}` has no reason to differ");
        }
        if differences.is_empty() == expected {
            wrong.push_str(&format!("{name} (deviation: {expected}): {differences:#?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Names, types and required lists; types that may be null are written as a list of alternatives there.
#[test]
fn the_tools_take_the_arguments_that_were_recorded() {
    let home = environment();
    fs::create_dir(home.home().join("p")).expect("made");
    let mut client = Client::start(&home, &["guided", "serve", "--path", "p"], ClientOptions::default());
    let listed = client.request("tools/list", json!({})).result();
    client.kill();
    let recorded = read(&folder(), "tools.json");
    let (listed, recorded) = (listed["tools"].as_array().expect("a list"), recorded.as_array().expect("a list"));
    assert_eq!(listed.len(), recorded.len());
    for recorded in recorded {
        let tool = listed.iter().find(|tool| tool["name"] == recorded["name"]).expect("it is there");
        let (own, theirs) = (&tool["inputSchema"]["properties"], &recorded["properties"]);
        let names = |properties: &Value| -> Vec<String> {
            properties.as_object().map(|entries| entries.keys().cloned().collect()).unwrap_or_default()
        };
        let (mut own_names, mut their_names) = (names(own), names(theirs));
        own_names.sort();
        their_names.sort();
        assert_eq!(own_names, their_names, "{}", tool["name"]);
        for name in own_names {
            assert_eq!(kinds(&own[&name]), kinds(&theirs[&name]), "{} {name}", tool["name"]);
        }
        // Where the interface requires `session_id`, the recorded server only says so when it is missing.
        let required = |tool: &Value| -> Vec<Value> { tool.as_array().cloned().unwrap_or_default() };
        for name in required(&recorded["required"]) {
            assert!(required(&tool["inputSchema"]["required"]).contains(&name), "{} {name}", tool["name"]);
        }
    }
}

/// The types a value may have, but for null.
fn kinds(schema: &Value) -> Vec<String> {
    let alternatives = schema["anyOf"].as_array().cloned().unwrap_or_else(|| vec![schema.clone()]);
    let mut kinds: Vec<String> = alternatives
        .iter()
        .flat_map(|one| match &one["type"] {
            Value::Array(several) => several.clone(),
            one => vec![one.clone()],
        })
        .filter_map(|kind| kind.as_str().map(str::to_owned))
        .filter(|kind| kind != "null")
        .collect();
    kinds.sort();
    kinds
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/guided")
}

fn read(folder: &Path, file: &str) -> Value {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|_| "{}".into());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}/{file}: {error}", folder.display()))
}

/// A case that is being run.
struct Case {
    home: Environment,
    root: PathBuf,
    platform: Option<String>,
    known: BTreeMap<String, String>,
    client: Option<Client>,
}

impl Case {
    /// Runs a case; returns what is not as it was recorded.
    fn run(folder: &Path) -> Vec<String> {
        let about = read(folder, "case.json");
        let mut home = environment();
        let root = home.home().join("project");
        fs::create_dir(&root).expect("made");
        if folder.join("project").is_dir() {
            copy_folder(&folder.join("project"), &root).expect("copied");
        }
        let root = root.canonicalize().expect("it is there");
        let mut known = BTreeMap::new();
        known.insert("project_root".to_owned(), root.display().to_string());
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ] {
            home.set(name, value);
        }
        home.set("GIT_CEILING_DIRECTORIES", home.home());
        for (name, value) in about["env"].as_object().into_iter().flatten() {
            home.set(name, fill(value, &known).as_str().unwrap_or_default());
        }
        let platform = about["platform"].as_str().map(str::to_owned);
        let mut case = Self { home, root, platform, known, client: None };
        if folder.join("setup.sh").is_file() {
            case.shell(&format!(". '{}'", folder.join("setup.sh").display()));
        }
        let (calls, expected) = (read(folder, "calls.json"), read(folder, "expect.json"));
        let (calls, expected) = (calls.as_array().expect("a list"), expected.as_array().expect("a list"));
        assert_eq!(calls.len(), expected.len(), "{}", folder.display());
        let mut differences = Vec::new();
        for (number, (call, expected)) in (1..).zip(calls.iter().zip(expected)) {
            let outcome = case.step(&fill(call, &case.known));
            if !expected.is_null() {
                let place = format!("call {number} ({})", call["tool"].as_str().unwrap_or("file"));
                let seen = normal(&outcome, &case.root.display().to_string(), &calls.clone().into());
                compare(expected, &seen, &place, &mut differences);
            }
        }
        case.close();
        case.home.assert_nothing_left();
        differences
    }

    fn shell(&self, command: &str) {
        let script = format!("cd '{}'\n{command}", self.root.display());
        let done = self.home.run_program("bash", &["-ec", &script], b"").expect("it runs");
        assert_eq!(done.code, 0, "{command}: {done:?}");
    }

    fn client(&mut self) -> &mut Client {
        self.client.get_or_insert_with(|| {
            let mut arguments = vec!["guided".to_owned(), "serve".into(), "--path".into()];
            arguments.push(self.root.display().to_string());
            arguments.extend(self.platform.iter().flat_map(|name| ["--platform".to_owned(), name.clone()]));
            let options = ClientOptions { opening: Opening::Legacy("2025-06-18"), ..ClientOptions::default() };
            Client::start(&self.home, &arguments, options)
        })
    }

    fn close(&mut self) {
        if let Some(client) = self.client.take() {
            assert_eq!(client.finish().0, 0);
        }
    }

    fn step(&mut self, entry: &Value) -> Value {
        // The first server starts before the first command, since servers note what is wrong at their start.
        self.client();
        if entry["restart"] == true {
            self.close();
            self.client();
            return Value::Null;
        }
        let text = |key: &str| entry[key].as_str();
        if let Some(command) = text("shell") {
            self.shell(command);
            return Value::Null;
        }
        if let Some(path) = text("read_json").or(text("read_text")) {
            let Ok(content) = fs::read_to_string(self.root.join(path)) else { return json!({ "exists": false }) };
            let result = if text("read_json").is_some() {
                serde_json::from_str(&content).unwrap_or_else(|error| panic!("{path}: {error}"))
            } else {
                Value::from(content)
            };
            return json!({ "exists": true, "result": result });
        }
        if let Some(pattern) = text("glob") {
            return json!({ "result": entries(&self.root, &Glob::new(pattern)) });
        }
        let arguments = entry.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let answer = self.client().call(text("tool").expect("a tool"), arguments);
        let (is_error, payload) = payload(answer);
        self.learn(&payload);
        json!({ "isError": is_error, "result": payload })
    }

    /// Notes the ids that later calls name.
    fn learn(&mut self, payload: &Value) {
        if let Some(id) = payload.pointer("/begin_step/session_id").and_then(Value::as_str) {
            self.known.insert("session_id".into(), id.into());
        }
        let mut texts = Vec::new();
        gather(payload, &mut texts);
        if let Some(found) = texts.iter().map(|text| tasks(text)).find(|found| !found.is_empty()) {
            for (number, task) in (1..).zip(found) {
                self.known.insert(format!("review_id_{number}"), task["review_id"].as_str().unwrap_or_default().into());
            }
        }
    }
}

/// Whether it is an error, and what was answered, in whatever form it came.
fn payload(answer: Answer) -> (bool, Value) {
    let result = match answer {
        Answer::Result(result) => result,
        Answer::Error(error) => return (true, error["message"].clone()),
    };
    let is_error = result["isError"] == true;
    if let (false, Some(structured)) = (is_error, result["structuredContent"].as_object()) {
        let wrapped = structured.len() == 1 && structured.contains_key("result");
        return (false, if wrapped { structured["result"].clone() } else { structured.clone().into() });
    }
    let texts: Vec<Value> = result["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str())
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| text.into()))
        .collect();
    match <[Value; 1]>::try_from(texts) {
        Ok([only]) => (is_error, only),
        Err(texts) => (is_error, texts.into()),
    }
}

fn each(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.iter().map(|item| each(item, change)).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(key, item)| (key.clone(), each(item, change))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn fill(value: &Value, known: &BTreeMap<String, String>) -> Value {
    each(value, &|text| {
        known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
    })
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(entries) => entries.values().for_each(|item| gather(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

static TIME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?"));
static ID: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"));
static HASH: LazyLock<Regex> = LazyLock::new(|| pattern(r"--[0-9a-f]{8,64}\b"));
static AGENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"subagent_type\W+([\w:./-]+)"));
static TASK: LazyLock<Regex> = LazyLock::new(|| pattern("review_instructions/([^\n\"'`]+)\\.md"));

/// What changes from run to run is replaced; ids that the case itself gives stay.
fn normal(value: &Value, root: &str, given: &Value) -> Value {
    let mut texts = Vec::new();
    gather(given, &mut texts);
    each(value, &|text| {
        let text = text.replace(root, "<project_root>");
        let text = TIME.replace_all(&text, "<timestamp>");
        let text = ID.replace_all(&text, |found: &regex::Captures<'_>| {
            let id = found[0].to_owned();
            if texts.contains(&id) { id } else { "<session_id>".into() }
        });
        HASH.replace_all(&text, "--<hash>").into_owned()
    })
}

/// The review tasks that a text lists.
fn tasks(text: &str) -> Vec<Value> {
    let (mut found, mut agent) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(named) = AGENT.captures(line) {
            agent = named[1].to_owned();
        }
        if let Some(task) = TASK.captures(line) {
            let id = &task[1];
            let parts: Vec<&str> = id.split("--").collect();
            let paths = if parts.len() > 2 { parts[1..parts.len() - 1].join("--") } else { String::new() };
            found.push(json!({ "review_id": id, "rule": parts[0], "paths": paths, "subagent_type": agent }));
            agent = String::new();
        }
    }
    found
}

/// Everything below a folder that a pattern matches, sorted.
fn entries(root: &Path, glob: &Glob) -> Vec<String> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let path = entry.path();
            let name = path.strip_prefix(root).expect("below it").to_string_lossy().into_owned();
            if glob.matches(&name) {
                found.push(name);
            }
            if entry.file_type().expect("a type").is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(200).collect()
}

/// Notes what is not as expected; fields that are not named may be anything.
fn compare(expected: &Value, seen: &Value, at: &str, wrong: &mut Vec<String>) {
    let mut note = |text: String| wrong.push(format!("{at}: {text}"));
    match expected {
        Value::String(text) if text == "<prose>" => {
            if seen.as_str().is_none_or(|seen| seen.trim().is_empty()) {
                note(format!("wanted some text, found {}", short(seen)));
            }
        }
        Value::String(text) if text.starts_with("<session_id>") => {
            if seen.as_str().is_none_or(str::is_empty) {
                note(format!("wanted an id, found {}", short(seen)));
            }
        }
        Value::Object(parts) if parts.keys().any(|key| key.starts_with('$')) => compare_parts(parts, seen, at, wrong),
        Value::Object(fields) => {
            if !seen.is_object() {
                return note(format!("wanted an object, found {}", short(seen)));
            }
            for (name, expected) in fields {
                compare(expected, &seen[name], &format!("{at}.{name}"), wrong);
            }
        }
        Value::Array(items) => match seen.as_array() {
            Some(found) if found.len() == items.len() => {
                for (number, (expected, seen)) in items.iter().zip(found).enumerate() {
                    compare(expected, seen, &format!("{at}[{number}]"), wrong);
                }
            }
            _ => note(format!("wanted {} items, found {}", items.len(), short(seen))),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            if expected != seen {
                note(format!("wanted {}, found {}", short(expected), short(seen)));
            }
        }
    }
}

fn compare_parts(parts: &Map<String, Value>, seen: &Value, at: &str, wrong: &mut Vec<String>) {
    let list = |key: &str| parts.get(key).and_then(Value::as_array).cloned();
    if let Some(texts) = list("$text") {
        for part in &texts {
            if !seen.as_str().is_some_and(|seen| seen.contains(part.as_str().unwrap_or_default())) {
                wrong.push(format!("{at}: lacks {part}: {}", short(seen)));
            }
        }
    }
    if let Some(items) = list("$contains") {
        let found = seen.as_array().cloned().unwrap_or_default();
        let mut rest = found.iter();
        for item in &items {
            if !rest.any(|one| fits(item, one)) {
                wrong.push(format!("{at}: lacks {}: {}", short(item), short(seen)));
            }
        }
        let absent = list("$absent").unwrap_or_default();
        let names = found.iter().map(|item| if item.is_object() { &item["name"] } else { item });
        wrong.extend(names.filter(|name| absent.contains(name)).map(|name| format!("{at}: lists {name}")));
    }
    if let Some(wanted) = list("$review_tasks") {
        let mut left = tasks(seen.as_str().unwrap_or_default());
        if left.len() != wanted.len() {
            wrong.push(format!("{at}: wanted {} tasks, found {left:?}", wanted.len()));
        }
        for task in &wanted {
            match left.iter().position(|one| fits(task, one)) {
                Some(place) => drop(left.remove(place)),
                None => wrong.push(format!("{at}: no task is {task}: {left:?}")),
            }
        }
    }
}

fn fits(expected: &Value, seen: &Value) -> bool {
    let mut wrong = Vec::new();
    compare(expected, seen, "", &mut wrong);
    wrong.is_empty()
}

#[test]
fn a_comparison_can_fail() {
    let seen = json!({ "a": "some text", "list": [{ "name": "x" }, { "name": "y" }], "n": null });
    for (expected, good) in [
        (json!({ "a": "<prose>", "n": null, "absent": null }), true),
        (json!({ "a": { "$text": ["some", "text"] } }), true),
        (json!({ "list": { "$contains": [{ "name": "y" }] } }), true),
        (json!({ "a": { "$text": ["other"] } }), false),
        (json!({ "a": null }), false),
        (json!({ "n": "<prose>" }), false),
        (json!({ "list": [{ "name": "x" }] }), false),
        (json!({ "list": { "$contains": [{ "name": "y" }, { "name": "x" }] } }), false),
        (json!({ "list": { "$contains": [], "$absent": ["x"] } }), false),
        (json!({ "a": { "$review_tasks": [{ "rule": "r" }] } }), false),
    ] {
        assert_eq!(fits(&expected, &seen), good, "{expected}");
    }
}
