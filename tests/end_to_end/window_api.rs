//! The window's commands over a real store, with real launchers that write beside them. The dev server stands where the
//! window would.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, DevServer, Environment};

use crate::fixtures::{LEGACY, MODERN, UUID, command, environment, project_at, usual_project, wait_for_file, write};

/// Asks a person, then says what they said; runs a program when told to.
const ASK: &str = r#"export default async function (input, flow) {
  flow.phase("Asking");
  const { word } = await flow.form({ title: "Word", message: "Say one", fields: { word: { type: "string", required: true } } });
  return { said: word };
}
"#;
const TOUCH: &str = r#"export default async function (input, flow) {
  await flow.exec("/usr/bin/touch", ["made by exec"]);
  return "touched";
}
"#;
const TOUCH_WITH: &str = r#"export default async function (input, flow) {
  await flow.exec("/usr/bin/touch", ["made by exec"], { env: { MODE: "test" }, stdin: "read me" });
  return "touched";
}
"#;
const LONG: &str = r#"export default async function (input, flow) {
  for (let n = 0; n < 3000; n++) console.log(`line ${n} of a long log`);
  const file = await flow.files.create("notes.txt", "what was noted");
  return { rows: Array.from({ length: 10 }, (_, n) => ({ n, word: "Äpfel" })) };
}
"#;

/// A home with the usual project and more entrypoints, registered; returns the server's id.
fn registered(environment: &Environment) -> String {
    usual_project(environment);
    let package = json!({
        "name": "fixture", "id": UUID, "projectType": "workflow", "description": "For tests",
        "workflow": {
            "entrypoints": {
                "hello": "./hello.workflow.ts",
                "sleep": { "command": ["python3", "sleep.py"], "title": "Sleep" },
                "fail": { "command": ["python3", "-c", "import sys; sys.exit('no luck today')"] },
                "ask": "./ask.workflow.ts",
                "touch": "./touch.workflow.ts",
                "long": "./long.workflow.ts",
                "broken": "./gone.workflow.ts",
            },
        },
    });
    write(environment, "project/package.json", &package.to_string());
    write(environment, "project/ask.workflow.ts", ASK);
    write(environment, "project/touch.workflow.ts", TOUCH);
    write(environment, "project/long.workflow.ts", LONG);
    let added = command(environment, &["projects", "add", "project", "--json"]);
    added[0]["projectId"].as_str().expect("an id").to_owned()
}

fn start(environment: &Environment) -> DevServer {
    DevServer::start(environment, &[]).expect("the dev server starts")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no text `{name}` in {value}"))
}

/// Starts a run through the window's commands and waits for a state.
fn run_to(server: &DevServer, project: &str, entrypoint: &str, input: Value, status: &str) -> Value {
    let started = server.ok("start_run", json!({ "project": project, "entrypoint": entrypoint, "input": input }));
    server.wait_for("run", &json!({ "run": started["run"] }), |run| {
        run["run"]["status"] == status && run["ownerAlive"] == false
    })
}

/// Tests a server as the page does; returns the result, and how many answers came.
fn dock_test(server: &DevServer, id: &str) -> (Value, usize) {
    let test = server.ok("dock_test", json!({ "server": id }));
    let mut seen = 0;
    for answers in 1.. {
        let tested = server.ok("dock_tested", json!({ "test": test["test"], "seen": seen }));
        if tested["over"] == true {
            return (tested["soFar"].clone(), answers);
        }
        let stages = tested["soFar"]["stages"].as_array().map_or(0, Vec::len);
        assert!(stages > seen, "an answer without news: {tested}");
        seen = stages;
    }
    unreachable!("a test ends");
}

#[test]
fn the_window_begins_with_nothing_and_sees_what_a_terminal_registers() {
    let environment = environment();
    let server = start(&environment);
    let info = server.ok("app_info", json!({}));
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&info["profile"], &info["settings"]["theme"]), (&json!("default"), &json!("system")));
    assert!(text(&info, "executable").ends_with("/workflow-code"));
    let home = server.ok("home", json!({}));
    assert_eq!((&home["waiting"], &home["recent"], &home["projects"]), (&json!([]), &json!([]), &json!(0)));
    assert_eq!(server.ok("projects", json!({})), json!([]));
    let events = server.events();
    let id = registered(&environment);
    let (_, change) = events.wait(|change| change["projects"].as_array().is_some_and(|all| all.contains(&json!(id))));
    assert!(change["seq"].as_i64() > info["seq"].as_i64());
    let projects = server.ok("projects", json!({}));
    assert_eq!(projects[0]["key"], json!(id));
    assert_eq!(projects[0]["servers"][0]["served"], true);
    let place = server.ok("project_sample", json!({}));
    assert_eq!((text(&place, "path").ends_with("/workflow-code-sample"), place.get("project")), (true, None));
    let sample = server.ok("project_add_sample", json!({}));
    assert_eq!(server.ok("project_sample", json!({})), json!({ "path": place["path"], "project": sample["project"] }));
    assert_eq!(server.ok("project_add_sample", json!({})), sample, "a second time it is the same one");
    assert_eq!(server.ok("projects", json!({})).as_array().map(Vec::len), Some(2));
    let since = server.ok("changes_since", json!({ "seq": info["seq"] }));
    assert_eq!(since["all"], true, "a window that never read reads everything");
    let now = server.ok("changes_since", json!({ "seq": since["seq"] }));
    assert_eq!((&now["runs"], &now["all"]), (&json!([]), &json!(false)));
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn what_a_client_s_launcher_writes_is_told_at_once() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    server.ok("home", json!({}));
    let events = server.events();
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], ClientOptions::default());
    let result = client.call("hello", json!({ "name": "Ada" })).result();
    let run = result["structuredContent"]["runId"].clone();
    let page = server.ok("runs", json!({ "query": {} }));
    let row = &page["rows"][0];
    assert_eq!((&row["runId"], &row["status"], &row["origin"]), (&run, &json!("success"), &json!("mcp")));
    assert_eq!(row["projectTitle"], "fixture");
    let stages: Vec<&str> = row["stages"].as_array().unwrap().iter().map(|stage| text(stage, "status")).collect();
    assert_eq!(stages.last(), Some(&"success"));
    events.wait(|change| change["runs"].as_array().is_some_and(|runs| runs.contains(&run)));
    // What is measured is the way from a commit in another process to a listener: a pin is one commit.
    let mut slowest = Duration::ZERO;
    for word in ["pin", "unpin", "pin"] {
        let mut shown = environment
            .start(workflow_code_tests::executable(), &["runs", word, run.as_str().unwrap_or_default()])
            .expect("it starts");
        shown.wait().expect("it ends");
        let written = std::time::Instant::now();
        let (heard, _) = events.wait(|change| change["runs"].as_array().is_some_and(|runs| runs.contains(&run)));
        slowest = slowest.max(heard.saturating_duration_since(written));
    }
    // On a machine that does nothing else it is below 150 ms; here it shares two cores with all the other tests.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    assert_eq!(server.ok("run_row", json!({ "runs": [run, "20200101-zzzzz"] })).as_array().map(Vec::len), Some(1));
    client.finish();
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_project_is_shown_whole() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    run_to(&server, &id, "hello", json!({ "name": "Ada" }), "success");
    run_to(&server, &id, "fail", json!({}), "failed");
    write(&environment, "project/.env", "API_TOKEN=hush\nPLAIN=1\n");
    fs::set_permissions(environment.home().join("project/.env"), fs::Permissions::from_mode(0o644)).unwrap();
    let overview = server.ok("project_overview", json!({ "project": UUID }));
    assert_eq!(overview["description"], "For tests");
    let entrypoints = overview["entrypoints"].as_array().unwrap();
    let named = |name: &str| entrypoints.iter().find(|one| one["id"] == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(named("hello")["params"][0]["type"], "string");
    assert_eq!(named("hello")["recent"][0]["status"], "success");
    assert_eq!((text(named("fail"), "source"), text(named("ask"), "source")), ("command", "script"));
    assert_eq!(entrypoints.last().unwrap()["id"], "broken", "what is broken comes last");
    assert!(text(&entrypoints.last().unwrap()["error"], "message").contains("gone.workflow.ts"));
    assert_eq!(overview["recent"].as_array().map(Vec::len), Some(2));
    assert!(
        overview["recent"][0]["error"].as_str().is_some_and(|error| !error.is_empty()),
        "{}",
        overview["recent"][0]
    );
    // The `.env` with a secret is open to others, and can be mended here.
    let findings = overview["findings"].as_array().unwrap();
    let open = findings.iter().find(|one| text(one, "id").starts_with("env-permissions-")).expect("the finding");
    assert!(!open["mend"].is_null());
    let mended = server.ok("mend_finding", json!({ "project": id, "finding": open["id"] }));
    assert!(!mended["findings"].to_string().contains("env-permissions"));
    let mode = fs::metadata(environment.home().join("project/.env")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let broken = findings.iter().find(|one| text(one, "id").starts_with("entrypoint-broken-")).expect("the finding");
    assert_eq!(server.code("mend_finding", json!({ "project": id, "finding": broken["id"] })), "unsupported");
    assert_eq!(server.code("mend_finding", json!({ "project": id, "finding": "nothing" })), "not_found");
    // Settings, and no values of variables.
    let settings = server.ok("project_settings", json!({ "project": id }));
    assert_eq!(settings["retention"], json!({ "megabytes": 2048 }));
    assert!(!settings.to_string().contains("hush"));
    let token = settings["environment"].as_array().unwrap().iter().find(|one| one["name"] == "API_TOKEN").unwrap();
    assert_eq!((&token["set"], &token["source"]), (&json!(true), &json!(".env")));
    let changed = server.ok(
        "set_project_settings",
        json!({ "project": id, "retention": { "days": 30 }, "allowExec": ["git status*"], "provider": "codex", "notifications": false }),
    );
    assert_eq!(changed["retention"], json!({ "days": 30 }));
    assert_eq!((&changed["allowExec"], &changed["provider"]), (&json!(["git status*"]), &json!("codex")));
    let changed = server.ok("set_project_settings", json!({ "project": id, "provider": null, "notifications": true }));
    assert_eq!((changed.get("provider"), &changed["notifications"]), (None, &json!(true)));
    assert_eq!(changed["allowExec"], json!(["git status*"]), "what is absent stays");
    for wrong in
        [json!({ "retention": { "days": 0 } }), json!({ "retention": { "weeks": 1 } }), json!({ "allowExec": [" "] })]
    {
        let mut request = wrong;
        request["project"] = json!(id);
        assert_eq!(server.code("set_project_settings", request), "invalid_input");
    }
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn runs_are_found_filtered_counted_and_shown() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    let hello = run_to(&server, &id, "hello", json!({ "name": "Zimtstern" }), "success");
    let failed = run_to(&server, &id, "fail", json!({}), "failed");
    let long = run_to(&server, &id, "long", json!({}), "success");
    let ids = |query: Value| -> Vec<String> {
        let page = server.ok("runs", json!({ "query": query }));
        page["rows"].as_array().unwrap().iter().map(|row| text(row, "runId").to_owned()).collect()
    };
    let of = |run: &Value| text(&run["run"], "runId").to_owned();
    assert_eq!(ids(json!({})), [of(&long), of(&failed), of(&hello)]);
    assert_eq!(ids(json!({ "status": ["failed", "timeout"] })), [of(&failed)]);
    assert_eq!(ids(json!({ "status": ["success", "failed"], "entrypoint": "hello" })), [of(&hello)]);
    assert_eq!(ids(json!({ "origin": "desktop", "project": id, "tookLessMs": 600_000 })).len(), 3);
    assert_eq!(ids(json!({ "origin": "mcp" })), Vec::<String>::new());
    assert_eq!(ids(json!({ "tookMoreMs": 600_000 })), Vec::<String>::new());
    server.ok("pin_run", json!({ "run": of(&hello), "pinned": true }));
    assert_eq!(ids(json!({ "pinned": true })), [of(&hello)]);
    // By pages.
    let first = server.ok("runs", json!({ "query": { "status": ["success", "failed"] }, "limit": 2 }));
    assert_eq!((first["rows"].as_array().map(Vec::len), &first["total"]), (Some(2), &json!(3)));
    let second =
        server.ok("runs", json!({ "query": { "status": ["success", "failed"] }, "limit": 2, "after": first["next"] }));
    assert_eq!(text(&second["rows"][0], "runId"), of(&hello));
    assert_eq!((second.get("next"), &second["complete"]), (None, &json!(true)));
    // Words, and where they stand.
    for (word, run, part) in [
        ("zimtstern", &hello, "input"),
        ("luck", &failed, "error"),
        ("äpfel", &long, "output"),
        ("2999", &long, "log"),
        (&of(&failed)[9..], &failed, "id"),
    ] {
        let page = server.ok("runs", json!({ "query": { "text": word } }));
        let row = &page["rows"][0];
        assert_eq!((text(row, "runId"), text(&row["found"], "part")), (of(run).as_str(), part), "{word}: {page}");
        let shown: Vec<u16> = text(&row["found"], "text").encode_utf16().collect();
        let start = usize::try_from(row["found"]["start"].as_u64().unwrap()).unwrap();
        let length = usize::try_from(row["found"]["length"].as_u64().unwrap()).unwrap();
        let hit = String::from_utf16(&shown[start..start + length]).unwrap();
        assert_eq!(hit.to_lowercase(), word, "{row}");
        assert!(start <= 24);
    }
    let days = server.ok("runs_per_day", json!({ "query": { "project": id }, "days": 3 }));
    let days = days.as_array().unwrap();
    assert_eq!(days.len(), 3);
    // Midnight may pass while this test runs.
    let sum = |name: &str| days.iter().map(|day| day[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("runs"), sum("failed")), (3, 1));
    let home = server.ok("home", json!({}));
    assert_eq!((&home["total"], &home["today"]["interrupted"]), (&json!(3), &json!(0)));
    assert!(home["today"]["medianMs"].as_i64().is_some_and(|took| took > 0), "{}", home["today"]);
    // One run, whole.
    let request = json!({ "run": of(&long) });
    let shown = server.ok("run", request.clone());
    assert_eq!(
        (&shown["logLines"], &shown["canContinue"], &shown["run"]["origin"]),
        (&json!(3000), &json!(false), &json!("desktop"))
    );
    assert_eq!(shown["files"][0]["name"], "notes.txt");
    let output = server.ok("run_output", request.clone());
    assert_eq!((&output["output"]["rows"][3]["n"], &output["truncated"]), (&json!(3), &json!(false)));
    assert_eq!(output["bytes"], shown["outputBytes"]);
    assert_eq!(server.ok("run_output", json!({ "run": of(&long), "path": "/rows/4/word" }))["output"], "Äpfel");
    assert_eq!(server.code("run_output", json!({ "run": of(&long), "path": "/none" })), "not_found");
    let logs = server.ok("run_logs", json!({ "run": of(&long), "from": 2990, "limit": 100 }));
    assert_eq!((logs["lines"].as_array().map(Vec::len), &logs["end"]), (Some(10), &json!(3000)));
    assert_eq!(text(&logs["lines"][9], "text"), "line 2999 of a long log");
    let hits = server.ok("run_log_search", json!({ "run": of(&long), "text": "LINE 299", "limit": 3 }));
    assert_eq!((&hits["positions"], &hits["total"]), (&json!([299, 2990, 2991]), &json!(11)));
    let file = server.ok("run_file", json!({ "run": of(&long), "name": "notes.txt" }));
    assert_eq!((&file["kind"], &file["text"]), (&json!("text"), &json!("what was noted")));
    assert_eq!(server.code("run_file", json!({ "run": of(&long), "name": "../notes.txt" })), "not_found");
    assert!(server.ok("run_nodes", request).as_array().is_some());
    // What it can be made into.
    let to = environment.home().join("exported.json");
    // By case, and by pattern.
    let find = |text: &str, case: bool, regex: bool| {
        let search = json!({ "run": of(&long), "text": text, "case": case, "regex": regex });
        server.call("run_log_search", search).map(|hits| hits["total"].clone())
    };
    assert_eq!(find("LINE 299", true, false), Ok(json!(0)));
    assert_eq!(find("^line 29+ of", true, true), Ok(json!(3)));
    assert_eq!(find("(", false, true).unwrap_err()["code"], "invalid_input");
    // Saved where a person wants it; what is there is replaced only when that was asked about.
    let place = |name: &str| environment.home().join(name).to_string_lossy().into_owned();
    let save = |part: &str, more: Value, to: &str| {
        let mut request = json!({ "run": of(&long), "part": part, "to": place(to) });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.call("save_as", request).map(|saved| fs::read_to_string(text(&saved, "path")).unwrap())
    };
    let log = save("log", json!({}), "run.log").unwrap();
    assert_eq!((log.lines().count(), log.lines().last()), (3000, Some("line 2999 of a long log")));
    assert_eq!(save("log", json!({}), "run.log").unwrap_err()["code"], "conflict");
    assert_eq!(save("output", json!({ "name": "/rows/4/word", "replace": true }), "run.log").unwrap(), "Äpfel");
    let whole: Value = serde_json::from_str(&save("output", json!({}), "out.json").unwrap()).unwrap();
    assert_eq!(whole["rows"].as_array().map(Vec::len), Some(10));
    assert_eq!(save("file", json!({ "name": "notes.txt" }), "copy.txt").unwrap(), "what was noted");
    assert_eq!(save("file", json!({ "name": "../notes.txt" }), "other.txt").unwrap_err()["code"], "not_found");
    let run: Value = serde_json::from_str(&save("run", json!({}), "run.json").unwrap()).unwrap();
    assert_eq!(run["run"]["runId"], json!(of(&long)));
    assert_eq!(
        server.code("save_as", json!({ "run": of(&long), "part": "log", "to": "relative.log" })),
        "invalid_input"
    );
    let exported = server.ok("export_run", json!({ "run": of(&hello), "to": to }));
    let value: Value = serde_json::from_str(&fs::read_to_string(text(&exported, "path")).unwrap()).unwrap();
    assert_eq!((&value["format"], &value["run"]["runId"]), (&json!("workflow-code-run"), &json!(of(&hello))));
    assert_eq!(server.code("export_run", json!({ "run": of(&hello), "to": to })), "conflict");
    let copied = server.ok("copy_as", json!({ "run": of(&hello), "form": "mcp" }));
    let call: Value = serde_json::from_str(text(&copied, "text")).unwrap();
    assert_eq!(call["params"], json!({ "name": "hello", "arguments": { "name": "Zimtstern" } }));
    let copied = server.ok("copy_as", json!({ "run": of(&hello), "form": "command" }));
    let again = environment.run_program("/bin/sh", &["-c", text(&copied, "text")], b"").unwrap();
    assert_eq!(
        (again.code, &again.json()["output"]),
        (0, &json!({ "greeting": "Hello, Zimtstern" })),
        "{}",
        again.stderr
    );
    // Keeping and deleting.
    let storage = server.ok("storage", json!({}));
    assert_eq!((&storage["rows"][0]["project"], &storage["rows"][0]["runs"]), (&json!(id), &json!(4)));
    assert!(storage["bytes"].as_u64() > Some(10_000));
    server.ok("set_project_settings", json!({ "project": id, "retention": { "runs": 2 } }));
    let storage = server.ok("storage", json!({}));
    assert_eq!(storage["rows"][0]["prunable"]["runs"], 2, "the pinned one stays, two others go");
    assert_eq!(server.ok("prune", json!({ "project": id }))["runs"], 2);
    assert_eq!(ids(json!({})).len(), 2);
    assert!(ids(json!({})).contains(&of(&hello)));
    server.ok("delete_run", json!({ "run": of(&hello) }));
    assert_eq!(server.code("run", json!({ "run": of(&hello) })), "not_found");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_run_of_the_window_asks_is_answered_and_goes_on() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    assert_eq!(
        server.ok("check_input", json!({ "project": id, "entrypoint": "hello", "input": { "nme": 1 } }))["faults"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert_eq!(server.code("start_run", json!({ "project": id, "entrypoint": "hello", "input": {} })), "invalid_input");
    let waiting = run_to(&server, &id, "ask", json!({}), "waiting_for_input");
    let run = text(&waiting["run"], "runId").to_owned();
    let home = server.ok("home", json!({}));
    assert_eq!(home["waiting"][0]["run"]["runId"], json!(run));
    assert_eq!(home["waiting"][0]["question"]["form"]["fields"], json!([]), "the whole form is asked for by its run");
    assert_eq!(home["today"]["waiting"], 1);
    assert_eq!(home["waiting"][0]["run"]["phase"], "Asking");
    assert_eq!(server.ok("projects", json!({}))[0]["waiting"], 1);
    let answer = |content: Value| json!({ "run": run, "question": 0, "action": "accept", "content": content });
    assert_eq!(server.code("answer", answer(json!({}))), "invalid_input", "nothing changes when it does not fit");
    assert_eq!(server.code("answer", json!({ "run": run, "question": 0, "action": "cancel" })), "unsupported");
    assert_eq!(server.code("answer", json!({ "run": run, "question": 7, "action": "accept" })), "not_found");
    assert_eq!(server.code("continue_run", json!({ "run": run })), "conflict", "it waits for an answer");
    server.ok("answer", answer(json!({ "word": "yes" })));
    assert_eq!(server.code("answer", answer(json!({ "word": "no" }))), "already_answered");
    let done = server.wait_for("run", &json!({ "run": run }), |run| run["run"]["status"] == "success");
    assert_eq!(done["questions"][0]["answer"]["by"], "desktop");
    assert_eq!(server.ok("run_output", json!({ "run": run }))["output"], json!({ "said": "yes" }));
    assert_eq!(server.code("cancel_run", json!({ "run": run })), "conflict", "it has ended");
    // Declined: whoever asks is told, and this one does not care.
    let waiting = run_to(&server, &id, "ask", json!({}), "waiting_for_input");
    assert_eq!(waiting["questions"][0]["canDecline"], true);
    let expires = waiting["questions"][0]["expiresAt"].as_i64().unwrap();
    assert_eq!(expires - waiting["questions"][0]["askedAt"].as_i64().unwrap(), 30 * 86_400_000);
    let run = waiting["run"]["runId"].clone();
    server.ok("answer", json!({ "run": run, "question": 0, "action": "decline" }));
    let failed = server.wait_for("run", &json!({ "run": run }), |run| run["run"]["status"] == "failed");
    assert!(text(&failed["error"], "message").contains("declined"), "{}", failed["error"]);
    assert_eq!(failed["questions"][0]["answer"]["action"], "decline");
    server.ok("set_settings", json!({ "settings": { "waitDays": 2 } }));
    // One that is cancelled while it waits takes no answer any more.
    let waiting = run_to(&server, &id, "ask", json!({}), "waiting_for_input");
    let question = &waiting["questions"][0];
    let waits = question["expiresAt"].as_i64().unwrap() - question["askedAt"].as_i64().unwrap();
    assert_eq!(waits, 2 * 86_400_000, "as the settings say by now");
    let run = text(&waiting["run"], "runId").to_owned();
    server.ok("cancel_run", json!({ "run": run }));
    let late = json!({ "run": run, "question": 0, "action": "accept", "content": { "word": "late" } });
    assert_eq!(server.code("answer", late), "not_waiting");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn an_answer_of_the_window_continues_the_run_of_a_client() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    // A client that cannot ask: its run is put down, and goes on here.
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], ClientOptions::default());
    let asked = client.call("ask", json!({})).result();
    assert_eq!(asked["structuredContent"]["status"], "interaction_required");
    let run = text(&asked["structuredContent"], "runId").to_owned();
    let shown = server.ok("run", json!({ "run": run }));
    assert_eq!((&shown["clientAnswer"], shown.get("callOpenUntil")), (&json!("cannot_ask"), None));
    assert!(shown["callEndedAt"].as_i64() >= shown["questions"][0]["askedAt"].as_i64());
    let answer = json!({ "run": run, "question": 0, "action": "accept", "content": { "word": "window" } });
    server.ok("answer", answer);
    let done = server.wait_for("run", &json!({ "run": run }), |run| run["run"]["status"] == "success");
    assert_eq!((&done["run"]["origin"], done.get("clientAnswer")), (&json!("mcp"), None));
    client.finish();
    // A client of the newer protocol is asked by the result of its call, whatever it does with it.
    let options = ClientOptions {
        opening: MODERN,
        capabilities: json!({ "elicitation": { "form": {} } }),
        ..ClientOptions::default()
    };
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], options);
    let asked = client.call("ask", json!({})).result();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let page = server.ok("runs", json!({ "query": { "status": ["waiting_for_input"] } }));
    let shown = server.ok("run", json!({ "run": page["rows"][0]["runId"] }));
    assert_eq!((shown.get("clientAnswer"), shown["callEndedAt"].is_i64()), (None, true), "it was asked: {shown}");
    server.ok("cancel_run", json!({ "run": shown["run"]["runId"] }));
    client.finish();
    // A client that declines, perhaps without having shown anything.
    let options = ClientOptions {
        opening: LEGACY,
        capabilities: json!({ "elicitation": { "form": {} } }),
        answers: vec![json!({ "action": "decline" })],
    };
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], options);
    let declined = client.call("ask", json!({})).result();
    let shown = server.ok("run", json!({ "run": declined["structuredContent"]["runId"] }));
    assert_eq!((&shown["clientAnswer"], &shown["run"]["status"]), (&json!("declined"), &json!("waiting_for_input")));
    server.ok("cancel_run", json!({ "run": shown["run"]["runId"] }));
    client.finish();
    // A client whose form is open: its launcher sees the answer, and the call is answered with it.
    let options = ClientOptions {
        opening: LEGACY,
        capabilities: json!({ "elicitation": { "form": {} } }),
        answers: vec![Value::Null],
    };
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], options);
    let call = client.ask("tools/call", json!({ "name": "ask", "arguments": {} }));
    let page = server.wait_for("runs", &json!({ "query": { "status": ["waiting_for_input"] } }), |page| {
        page["rows"].as_array().is_some_and(|rows| rows.len() == 1)
    });
    let run = page["rows"][0]["runId"].clone();
    let shown = server.ok("run", json!({ "run": run }));
    assert_eq!(shown["ownerAlive"], true);
    assert!(shown["callOpenUntil"].as_i64().is_some());
    assert_eq!(server.code("delete_run", json!({ "run": run })), "running");
    server.ok("answer", json!({ "run": run, "question": 0, "action": "accept", "content": { "word": "both" } }));
    let answered = client.wait(&call).result();
    assert_eq!(answered["structuredContent"]["output"], json!({ "said": "both" }));
    client.finish();
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn the_sample_begins_with_a_tour_that_needs_no_input_and_asks_one_question() {
    let environment = environment();
    let server = start(&environment);
    let sample = server.ok("project_add_sample", json!({}))["project"].clone();
    let overview = server.ok("project_overview", json!({ "project": sample }));
    let first = &overview["entrypoints"][0];
    assert_eq!((&first["id"], &first["runnable"], &first["params"]), (&json!("tour"), &json!(true), &json!([])));
    let waiting = run_to(&server, sample.as_str().unwrap(), "tour", json!({}), "waiting_for_input");
    assert_eq!((&waiting["run"]["phase"], waiting["run"].get("step")), (&json!("Say hello"), None));
    let form = &waiting["questions"][0]["form"]["fields"];
    assert_eq!((form.as_array().map(Vec::len), &form[0]["name"]), (Some(1), &json!("tone")));
    let run = waiting["run"]["runId"].clone();
    server.ok("answer", json!({ "run": run, "question": 0, "action": "accept", "content": { "tone": "warm" } }));
    server.wait_for("run", &json!({ "run": run }), |run| run["run"]["status"] == "success");
    let output = server.ok("run_output", json!({ "run": run }))["output"].clone();
    assert!(text(&output, "greeting").starts_with("How lovely to see you"), "{output}");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn an_ordinary_folder_is_refused_with_a_code_of_its_own_and_can_be_made_a_project() {
    let environment = environment();
    let server = start(&environment);
    let kept = environment.write("plain/notes.txt", "mine").unwrap();
    let folder = kept.parent().unwrap().canonicalize().unwrap();
    let refused = server.call("project_add", json!({ "path": folder })).unwrap_err();
    assert_eq!((&refused["code"], &refused["detail"]["path"]), (&json!("no_project"), &json!(folder)), "{refused}");
    assert!(!folder.join("package.json").exists(), "looking makes nothing");
    assert_eq!(server.code("project_make", json!({ "path": "plain" })), "invalid_input");
    assert_eq!(server.code("project_make", json!({ "path": folder.join("gone") })), "not_found");
    let made = server.ok("project_make", json!({ "path": folder }));
    let overview = server.ok("project_overview", json!({ "project": made["projects"][0]["key"] }));
    assert_eq!((&overview["entrypoints"][0]["id"], overview["entrypoints"][0].get("error")), (&json!("main"), None));
    assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
    // What is broken says so, and is not written over.
    let broken = environment.write("broken/package.json", "{").unwrap();
    let folder = broken.parent().unwrap().canonicalize().unwrap();
    assert_eq!(server.code("project_add", json!({ "path": folder })), "project_broken");
    assert_eq!(server.code("project_make", json!({ "path": folder })), "project_broken");
    assert_eq!(fs::read_to_string(broken).unwrap(), "{");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn what_only_a_client_starts_is_not_runnable_and_a_board_is_no_entrypoint() {
    let environment = environment();
    let job = "name: solo\nsummary: s\nstep_arguments: [{name: answer, description: d, type: string}]\nworkflows:\n  main:\n    summary: s\n    steps:\n      - {name: think, instructions: Think., outputs: {answer: {}}}\n";
    environment.write("many/.deepwork/jobs/solo/job.yml", job).unwrap();
    let folder = environment.home().join("many");
    let made = environment.run(&["board", "init", "--root", folder.to_str().unwrap()]).unwrap();
    assert_eq!(made.code, 0, "{made:?}");
    let server = start(&environment);
    let added = server.ok("project_add", json!({ "path": folder }));
    let key = added["projects"][0]["key"].clone();
    let overview = server.ok("project_overview", json!({ "project": key }));
    // The jobs that come with the program are there as well.
    let rows = overview["entrypoints"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["id"] == "solo/main"), "{overview}");
    assert!(rows.iter().all(|row| row["source"] == "guided" && row["runnable"] == false), "{overview}");
    // A fresh board lacks the files that are generated, and they can be written from here.
    let before = overview["boardFindings"].as_u64().unwrap();
    assert!(before > 0);
    let board = server.ok("board_view", json!({ "project": key }));
    let code = "agent-instructions-missing";
    assert!(board["mendable"].as_array().unwrap().contains(&json!(code)));
    environment.write("many/AGENTS.md", "somebody else's").unwrap();
    assert_eq!(server.ok("board_mend", json!({ "project": key, "code": code })), json!({ "left": 0 }));
    let kept = fs::read_to_string(folder.join("AGENTS.md")).unwrap();
    assert!(kept.starts_with("somebody else's\n"), "ours is a part of its own: {kept}");
    let overview = server.ok("project_overview", json!({ "project": key }));
    assert!(overview["boardFindings"].as_u64() < Some(before));
    assert_eq!(server.code("board_mend", json!({ "project": key, "code": "invalid-id" })), "unsupported");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn leave_given_from_now_on_holds_for_exactly_that_command() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    let waiting = run_to(&server, &id, "touch", json!({}), "waiting_for_input");
    let question = &waiting["questions"][0];
    assert_eq!((text(question, "kind"), text(&question["approval"], "program")), ("approval", "/usr/bin/touch"));
    assert_eq!(question["approval"]["args"], json!(["made by exec"]));
    assert_eq!((&question["approval"]["env"], &question["approval"]["mayHaveHappened"]), (&json!([]), &json!(false)));
    let run = text(&waiting["run"], "runId").to_owned();
    server.ok("answer", json!({ "run": run, "question": 0, "action": "accept", "always": true }));
    server.wait_for("run", &json!({ "run": run }), |run| run["run"]["status"] == "success");
    assert!(environment.home().join("project/made by exec").is_file());
    let settings = server.ok("project_settings", json!({ "project": id }));
    assert_eq!(settings["allowExec"], json!([r#"["/usr/bin/touch","made by exec"]"#]));
    // From now on nobody is asked: not here, and not by a server that ran before.
    run_to(&server, &id, "touch", json!({}), "success");
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], ClientOptions::default());
    assert_eq!(client.call("touch", json!({})).result()["structuredContent"]["status"], "success");
    server.ok("set_project_settings", json!({ "project": id, "allowExec": [] }));
    let asked = client.call("touch", json!({})).result();
    assert_eq!(asked["structuredContent"]["status"], "interaction_required", "taken back while it runs");
    client.finish();
    // Denied: the run goes on without.
    let run = text(&asked["structuredContent"], "runId").to_owned();
    server.ok("answer", json!({ "run": run, "question": 0, "action": "decline" }));
    let ended = server.wait_for("run", &json!({ "run": run }), |run| run["run"]["status"] == "failed");
    assert_eq!(ended["error"]["code"], "approval_denied");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn leave_for_what_a_call_sets_itself_is_given_once() {
    let environment = environment();
    write(&environment, "project/with.workflow.ts", TOUCH_WITH);
    let id = registered(&environment);
    let package = std::fs::read_to_string(environment.home().join("project/package.json")).unwrap();
    let package = package.replace(r#""long":"#, r#""with":"./with.workflow.ts","long":"#);
    write(&environment, "project/package.json", &package);
    let server = start(&environment);
    let waiting = run_to(&server, &id, "with", json!({}), "waiting_for_input");
    let question = &waiting["questions"][0];
    let approval = &question["approval"];
    assert_eq!((&approval["env"], &approval["stdinBytes"]), (&json!(["MODE"]), &json!(7)), "{question}");
    assert!(question["form"]["message"].as_str().is_some_and(|text| text.contains("MODE=\"test\"")), "{question}");
    let run = text(&waiting["run"], "runId").to_owned();
    let given = json!({ "run": run, "question": 0, "action": "accept", "always": true });
    assert_eq!(server.code("answer", given), "unsupported");
    server.ok("answer", json!({ "run": run, "question": 0, "action": "accept" }));
    server.wait_for("run", &json!({ "run": run }), |run| run["run"]["status"] == "success");
    // The command itself is allowed by now; with an environment of its own it is asked about all the same.
    let allowed = json!([r#"["/usr/bin/touch","made by exec"]"#]);
    server.ok("set_project_settings", json!({ "project": id, "allowExec": allowed }));
    run_to(&server, &id, "touch", json!({}), "success");
    run_to(&server, &id, "with", json!({}), "waiting_for_input");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn runs_are_cancelled_continued_and_guarded_while_they_run() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    let started = server.ok("start_run", json!({ "project": id, "entrypoint": "sleep", "input": {} }));
    let request = json!({ "run": started["run"] });
    wait_for_file(&environment, "sleeping");
    assert_eq!(server.code("continue_run", request.clone()), "running");
    assert_eq!(server.code("continue_preview", request.clone()), "running");
    assert_eq!(server.code("delete_run", request.clone()), "running");
    assert_eq!(server.code("project_remove", json!({ "project": id })), "running");
    server.ok("cancel_run", request.clone());
    let ended = server.wait_for("run", &request, |run| run["run"]["status"] == "cancelled");
    assert_eq!(ended["run"]["cancelReason"], "person");
    assert_eq!(server.code("continue_run", request), "conflict", "what a person cancelled stays so");
    // A client's launcher that is killed: its run is interrupted, and goes on here.
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], ClientOptions::default());
    client.ask("tools/call", json!({ "name": "sleep", "arguments": {} }));
    let page = server.wait_for("runs", &json!({ "query": { "status": ["running"] } }), |page| {
        page["rows"].as_array().is_some_and(|rows| rows.len() == 1)
    });
    let request = json!({ "run": page["rows"][0]["runId"] });
    crate::fixtures::signal(client.pid(), rustix::process::Signal::KILL);
    // Whoever opens the history marks it.
    crate::fixtures::wait_until("the launcher to be gone", || {
        command(&environment, &["runs", "list", "--status", "interrupted", "--json"])
            .as_array()
            .is_some_and(|runs| runs.len() == 1)
    });
    let shown = server.ok("run", request.clone());
    assert_eq!((&shown["canContinue"], &shown["ownerAlive"]), (&json!(true), &json!(false)));
    let preview = server.ok("continue_preview", request.clone());
    assert_eq!((&preview["kept"], preview["note"].is_string()), (&json!(0), true), "{preview}");
    server.ok("continue_run", request.clone());
    server.wait_for("run", &request, |run| run["run"]["status"] == "running" && run["ownerAlive"] == true);
    // The window goes: what runs in it is cancelled, and nothing is left behind.
    server.finish();
    environment.assert_nothing_left();
    let listed = command(&environment, &["runs", "list", "--status", "cancelled", "--json"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
}

#[test]
fn the_dock_writes_takes_back_and_tests_the_very_command() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    write(&environment, ".cursor/mcp.json", "{\n  \"mcpServers\": { \"other\": { \"command\": \"x\" } }\n}\n");
    let dock = server.ok("dock", json!({ "server": id }));
    assert_eq!((&dock["args"], dock.get("whyNot")), (&json!(["--workflow-mcp", id]), None));
    let config: Value = serde_json::from_str(text(&dock, "config")).unwrap();
    assert_eq!(config["mcpServers"][text(&dock, "key")]["command"], dock["command"]);
    let cursor = |dock: &Value| {
        let clients = dock["clients"].as_array().unwrap().clone();
        clients.into_iter().find(|client| client["id"] == "cursor").expect("Cursor is known")
    };
    assert_eq!((&cursor(&dock)["found"], &cursor(&dock)["state"]), (&json!(true), &json!("not_added")));
    // Look, write, look again.
    let before = fs::read_to_string(environment.home().join(".cursor/mcp.json")).unwrap();
    let wanted = json!({ "server": id, "client": "cursor" });
    let plan = server.ok("dock_plan", wanted.clone());
    assert_eq!(plan["action"], "add");
    assert!(plan["diff"].as_array().unwrap().iter().any(|line| line["sign"] == "+"));
    let write_it = |fingerprint: &Value| json!({ "server": id, "client": "cursor", "fingerprint": fingerprint });
    assert_eq!(server.code("dock_write", write_it(&json!("another"))), "conflict");
    let written = server.ok("dock_write", write_it(&plan["fingerprint"]));
    assert_eq!(fs::read_to_string(text(&written, "backup")).unwrap(), before);
    assert_eq!(cursor(&server.ok("dock", json!({ "server": id })))["state"], "in_step");
    assert_eq!(server.ok("dock_plan", wanted.clone())["action"], "nothing");
    server.ok("dock_undo", json!({ "id": written["id"] }));
    assert_eq!(fs::read_to_string(environment.home().join(".cursor/mcp.json")).unwrap(), before);
    assert_eq!(server.code("dock_undo", json!({ "id": written["id"] })), "not_found");
    // Write and remove.
    let plan = server.ok("dock_plan", wanted.clone());
    server.ok("dock_write", write_it(&plan["fingerprint"]));
    let remove = json!({ "server": id, "client": "cursor", "remove": true });
    let plan = server.ok("dock_plan", remove.clone());
    assert_eq!(plan["action"], "remove");
    let mut request = remove;
    request["fingerprint"] = plan["fingerprint"].clone();
    server.ok("dock_write", request.clone());
    assert_eq!(server.code("dock_plan", json!({ "server": id, "client": "cursor", "remove": true })), "not_found");
    write(&environment, ".cursor/mcp.json", "{ not json");
    assert_eq!(server.code("dock_plan", wanted), "client_file");
    assert_eq!(cursor(&server.ok("dock", json!({ "server": id })))["state"], "differs");
    assert_eq!(server.code("dock_plan", json!({ "server": id, "client": "nobody" })), "not_found");
    assert_eq!(server.code("dock", json!({ "server": id, "key": "no key!" })), "invalid_input");
    // The test starts what the Dock shows.
    let (test, told) = dock_test(&server, &id);
    assert_eq!(test["ok"], true, "{test}");
    assert!(told > 1, "the stages come one by one");
    let stages: Vec<&str> = test["stages"].as_array().unwrap().iter().map(|stage| text(stage, "name")).collect();
    assert_eq!(stages, ["start", "initialize", "tools"]);
    let hello = test["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "hello").expect("the tool");
    assert_eq!(hello["params"], json!(["name"]));
    assert!(text(&test, "command").starts_with(text(&dock, "command")));
    // A project that has nothing to serve says so, with what was written.
    fs::remove_file(environment.home().join("project/package.json")).unwrap();
    let (test, _) = dock_test(&server, &id);
    assert_eq!(test["ok"], false);
    assert_eq!(server.code("dock_tested", json!({ "test": "99", "seen": 0 })), "not_found");
    assert!(test["stderr"].as_str().is_some_and(|errors| errors.contains("package.json")), "{test}");
    assert_eq!(
        server.code("start_run", json!({ "project": id, "entrypoint": "hello", "input": {} })),
        "project_broken"
    );
    fs::remove_dir_all(environment.home().join("project")).unwrap();
    assert_eq!(server.code("dock_test", json!({ "server": id })), "project_missing");
    assert_eq!(
        server.code("start_run", json!({ "project": id, "entrypoint": "hello", "input": {} })),
        "project_missing"
    );
    assert_eq!(server.ok("projects", json!({}))[0]["missing"], true);
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn projects_are_added_related_and_removed() {
    let environment = environment();
    let id = registered(&environment);
    let other = "22222222-2222-4222-8222-222222222222";
    project_at(&environment, "other", other, json!({ "hello": "./hello.workflow.ts" }), &[("hello.workflow.ts", ASK)]);
    let declare = |folder: &str, uuid: &str, alias: &str, theirs: &str| {
        let package = json!({
            "name": folder, "id": uuid, "projectType": "workflow",
            "workflow": { "entrypoints": {}, "relatedProjects": { alias: { "id": theirs } } },
        });
        write(&environment, &format!("{folder}/package.json"), &package.to_string());
    };
    declare("project", UUID, "style", other);
    declare("other", other, "back", UUID);
    let server = start(&environment);
    assert_eq!(server.code("project_add", json!({ "path": "other" })), "invalid_input");
    assert_eq!(server.code("project_add", json!({ "path": "/nowhere/at/all" })), "not_found");
    let empty = environment.home().join("empty");
    fs::create_dir(&empty).unwrap();
    assert_eq!(server.code("project_add", json!({ "path": empty })), "no_project");
    let added = server.ok("project_add", json!({ "path": environment.home().join("other") }));
    let theirs = added["added"][0].clone();
    assert_eq!(added["projects"][0]["key"], theirs);
    let relations = |id: &str| server.ok("project_overview", json!({ "project": id }))["relations"].clone();
    assert_eq!(relations(&id)[0]["here"], false);
    assert_eq!(relations(&id)[0]["otherTitle"], "other");
    assert_eq!(server.code("relate", json!({ "project": id, "alias": "none", "other": theirs })), "invalid_input");
    server.ok("relate", json!({ "project": id, "alias": "style", "other": theirs }));
    assert_eq!((&relations(&id)[0]["here"], &relations(&id)[0]["there"]), (&json!(true), &json!(true)));
    server.ok("unrelate", json!({ "project": id, "alias": "style" }));
    assert_eq!((&relations(&id)[0]["here"], &relations(&id)[0]["there"]), (&json!(false), &json!(true)));
    assert_eq!(server.code("unrelate", json!({ "project": id, "alias": "style" })), "not_found");
    // A copy is no second project.
    crate::fixtures::copy_folder(&environment.home().join("other"), &environment.home().join("copy")).unwrap();
    assert_eq!(server.code("project_add", json!({ "path": environment.home().join("copy") })), "conflict");
    // Kinds that are not served say why.
    let plain = server.ok("project_add", json!({ "path": empty, "kind": "folder" }));
    assert_eq!(plain["projects"][0]["servers"][0]["served"], false);
    let dock = server.ok("dock", json!({ "server": plain["added"][0] }));
    assert!(dock["whyNot"].as_str().is_some_and(|why| why.contains("folder")));
    assert_eq!(server.code("dock_test", json!({ "server": plain["added"][0] })), "unsupported");
    assert_eq!(
        server.code("start_run", json!({ "project": plain["added"][0], "entrypoint": "x", "input": {} })),
        "unsupported"
    );
    server.ok("project_remove", json!({ "project": theirs }));
    assert_eq!(server.code("project_overview", json!({ "project": theirs })), "not_found");
    server.ok("project_remove", json!({ "project": theirs, "purge": true }));
    assert_eq!(server.code("project_remove", json!({ "project": theirs })), "not_found");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn settings_the_connection_and_providers_are_kept_and_checked() {
    let environment = environment();
    let server = start(&environment);
    let set = |settings: Value| json!({ "settings": settings });
    let settings =
        server.ok("set_settings", set(json!({ "theme": "dark", "textSize": 125, "retention": { "days": 9 } })));
    assert_eq!(
        (&settings["theme"], &settings["textSize"], &settings["language"]),
        (&json!("dark"), &json!(125), &json!("system"))
    );
    assert_eq!(server.ok("app_info", json!({}))["settings"], settings);
    for wrong in [json!({ "theme": "pink" }), json!({ "textSize": 5 }), json!({ "colour": 1 }), json!({ "notify": 1 })]
    {
        assert_eq!(server.code("set_settings", set(wrong)), "invalid_input");
    }
    assert_eq!(server.ok("app_info", json!({}))["settings"], settings, "what is refused changes nothing");
    let settings = server.ok("set_settings", set(json!({ "theme": null, "notify": { "finished": true } })));
    assert_eq!((&settings["theme"], &settings["notify"]["waits"]), (&json!("system"), &json!(true)));
    // Nobody is logged in, and there is no keyring in a test.
    assert_eq!(server.ok("connection", json!({}))["state"], "signed_out");
    let login = |url: &str, store: &str| json!({ "url": url, "key": "key-1", "store": store });
    assert_eq!(server.code("connection_login", login("no address", "file")), "invalid_input");
    assert_eq!(server.code("connection_login", login("http://127.0.0.1:9", "keyring")), "secret_service");
    let status = server.ok("connection_login", login("http://127.0.0.1:9", "file"));
    assert_eq!((&status["source"], &status["state"]), (&json!("file"), &json!("failed")), "nobody answers there");
    let kept = environment.home().join(".workflow-code/workflow-auth.json");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(server.ok("connection_logout", json!({}))["state"], "signed_out");
    assert!(!kept.exists());
    let providers = server.ok("providers", json!({}));
    assert!(providers.as_array().unwrap().iter().any(|one| one["name"] == "claude-code"));
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn what_does_not_fit_and_what_is_broken_has_its_code() {
    let environment = environment();
    let id = registered(&environment);
    let server = start(&environment);
    assert_eq!(server.code("no_such_command", json!({})), "not_found");
    assert_eq!(server.code("run", json!({})), "invalid_input");
    assert_eq!(server.code("run", json!({ "run": "not an id" })), "invalid_input");
    assert_eq!(server.code("run", json!({ "run": "20200101-zzzzz" })), "not_found");
    assert_eq!(server.code("runs", json!({ "query": { "colour": 1 } })), "invalid_input");
    assert_eq!(server.code("runs", json!({ "query": {}, "after": "x" })), "invalid_input");
    assert_eq!(server.code("runs", json!({ "query": { "text": "x".repeat(2_000) } })), "invalid_input");
    assert_eq!(server.code("project_overview", json!({ "project": "nobody" })), "not_found");
    assert_eq!(server.code("start_run", json!({ "project": id, "entrypoint": "none", "input": {} })), "not_found");
    assert_eq!(
        server.code("start_run", json!({ "project": id, "entrypoint": "broken", "input": {} })),
        "project_broken"
    );
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(
        server.code("start_run", json!({ "project": id, "entrypoint": "hello", "input": deep })),
        "invalid_input"
    );
    assert_eq!(server.code("export_run", json!({ "run": "20200101-zzzzz", "to": "relative.json" })), "invalid_input");
    let done = run_to(&server, &id, "hello", json!({ "name": "x" }), "success");
    let run = &done["run"]["runId"];
    // A folder that may not be written.
    let closed = environment.home().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    if rustix::process::geteuid().is_root() {
        // Nothing is closed to root but what the system itself keeps.
        assert_eq!(server.code("export_run", json!({ "run": run, "to": "/proc/x.json" })), "not_found");
    } else {
        assert_eq!(server.code("export_run", json!({ "run": run, "to": closed.join("x.json") })), "permission");
    }
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_database_that_cannot_be_used_is_said_to_be_so() {
    let environment = environment();
    registered(&environment);
    let profile: Value =
        serde_json::from_str(&fs::read_to_string(environment.home().join(".workflow-code/desktop.json")).unwrap())
            .unwrap();
    let database = std::path::Path::new(text(&profile["profiles"]["default"], "dataDir")).join("desktop.db");
    fs::write(&database, "this is no database, and was none").unwrap();
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", database.display()));
    }
    let server = start(&environment);
    assert_eq!(server.code("home", json!({})), "store_unavailable");
    server.finish();
    environment.assert_nothing_left();
}

#[test]
fn only_our_own_page_can_call() {
    let environment = environment();
    write(&environment, "page/index.html", "<p>The page</p>");
    let server = DevServer::start(&environment, &["--ui", "page"]).expect("the dev server starts");
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let body = json!({ "name": "app_info", "request": {} }).to_string();
    let rpc = format!("{}/rpc", server.address());
    let token = format!("Bearer {}", server.token());
    let send = |headers: &[(&str, &str)]| {
        let usual = [("content-type", "application/json"), ("authorization", token.as_str())];
        let usual = usual.iter().filter(|(name, _)| headers.iter().all(|(other, _)| other != name));
        let request =
            usual.chain(headers).fold(agent.post(&rpc), |request, (name, value)| request.header(*name, *value));
        request.send(&body).unwrap().status().as_u16()
    };
    assert_eq!(send(&[]), 200);
    assert_eq!(
        send(&[("authorization", ""), ("cookie", &format!("a=b; workflow-code-token={}", server.token()))]),
        200
    );
    for wrong in [
        ("origin", "http://evil.example"),
        ("content-type", "text/plain"),
        ("host", "evil.example"),
        ("authorization", ""),
        ("authorization", "Bearer 0123456789abcdef0123456789abcdef"),
    ] {
        assert_eq!(send(&[wrong]), 403, "{wrong:?}");
    }
    assert_eq!(agent.get(format!("{}/events", server.address())).call().unwrap().status().as_u16(), 403);
    // Only who opens the page with the token is let in by it.
    let cookie = |address: String| agent.get(address).call().unwrap().headers().contains_key("set-cookie");
    assert!(!cookie(server.address().to_owned()) && !cookie(format!("{}/?token=0", server.address())));
    assert!(cookie(format!("{}/?token={}", server.address(), server.token())));
    let mut page = agent.get(format!("{}/../../etc/passwd", server.address())).call().unwrap();
    assert!(!page.body_mut().read_to_string().unwrap().contains("root:"));
    server.finish();
    environment.assert_nothing_left();
}
