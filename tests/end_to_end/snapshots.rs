//! What a client or a person reads, as it is: help, errors, the protocol's answers, the tables of the command line.
//!
//! A change of any of it shows as a difference of a file below `snapshots/`; accept it with `cargo insta accept`, or by
//! running these tests with `INSTA_UPDATE=always`, and look at the difference.

use std::fmt::Write as _;

use serde_json::{Value, json};
use workflow_code_tests::{Answer, Client, Environment, Opening, executable};

use crate::fixtures::{LEGACY, MODERN, UUID, command, environment, project, runs, serve, write};

/// Takes out what is another each time.
fn filters(home: &Environment) -> Vec<(String, &'static str)> {
    let escaped = |text: String| regex::escape(&text);
    let mut filters = vec![
        (escaped(executable().to_string_lossy().into_owned()), "[exe]"),
        (escaped(home.home().to_string_lossy().into_owned()), "[home]"),
        (r"\b\d{8}-[a-z0-9]{4,}\b".into(), "[run]"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z".into(), "[time]"),
        (r" +\d+ (ms|s)\b".into(), " [duration]"),
        (r#""durationMs": \d+"#.into(), "\"durationMs\": [duration]"),
        (regex::escape(env!("CARGO_PKG_VERSION")), "[version]"),
        (r"process \d+".into(), "process [pid]"),
    ];
    // Known once something is registered.
    let listed = home.run(&["projects", "list", "--json"]).map(|done| done.json()).unwrap_or_default();
    for project in listed.as_array().into_iter().flatten() {
        if let Some(id) = project["projectId"].as_str() {
            filters.push((format!(r"\b{}\b", regex::escape(id)), "[project]"));
        }
    }
    filters
}

fn check(home: &Environment, name: &str, text: &str) {
    let filters = filters(home);
    let filters: Vec<(&str, &str)> = filters.iter().map(|(pattern, word)| (pattern.as_str(), *word)).collect();
    insta::with_settings!({ filters => filters, omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

/// A project with an entrypoint of each kind, and one that is broken.
fn shown_project(home: &Environment) {
    project(
        home,
        json!({
            "report": "./report.workflow.ts",
            "convert": {
                "command": ["python3", "-c", "print(1)"], "title": "Convert", "description": "Converts one table.",
                "readOnly": true, "idempotent": true,
                "params": {
                    "table": { "type": "file", "required": true, "description": "What to convert" },
                    "kind": { "type": "select", "options": [{ "value": "a", "title": "The first" }, "b"], "default": "a" },
                    "day": { "type": "date" }, "at": { "type": "time" },
                    "count": { "type": "integer", "minimum": 1, "maximum": 5 },
                    "tags": { "type": "string", "multiple": true },
                    "loud": { "type": "boolean", "default": false },
                },
            },
            "fail": { "command": ["python3", "-c", "import sys; sys.exit('no luck today')"], "description": "Fails." },
            "broken": "./missing.workflow.ts",
            "draft": { "command": ["true"], "draft": true },
        }),
        &[(
            "report.workflow.ts",
            "export const entrypoint = {\n\
             \x20 title: \"Report\", description: \"Writes a report.\",\n\
             \x20 params: { name: { type: \"string\", required: true, maxLength: 20, description: \"Whose\" } },\n\
             };\n\
             export default async function (input, flow) {\n\
             \x20 flow.phase(\"Read\");\n\
             \x20 console.log(\"reading\");\n\
             \x20 await flow.step(\"Think\", async () => 1);\n\
             \x20 if (input.name === \"nobody\") flow.fail(\"there is nobody\", { errCode: 7 });\n\
             \x20 return { page: `A page for ${input.name}` };\n\
             }\n",
        )],
    );
}

fn project_path(home: &Environment) -> String {
    home.home().join("project").to_string_lossy().into_owned()
}

fn registered(home: &Environment) -> String {
    shown_project(home);
    let added = command(home, &["projects", "add", &project_path(home), "--json"]);
    added[0]["projectId"].as_str().expect("an id").to_owned()
}

#[test]
fn help() {
    let home = environment();
    for words in [
        "",
        "mcp",
        "run",
        "structure",
        "init",
        "projects",
        "projects add",
        "projects list",
        "projects show",
        "projects remove",
        "projects relate",
        "config",
        "runs",
        "runs list",
        "runs show",
        "runs logs",
        "runs wait",
        "runs cancel",
        "runs resume",
        "runs export",
        "doctor",
    ] {
        let mut arguments: Vec<&str> = words.split_whitespace().collect();
        arguments.push("--help");
        let done = home.run(&arguments).expect("it ends");
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{words}");
        let name = if words.is_empty() { "help".to_owned() } else { format!("help-{}", words.replace(' ', "-")) };
        check(&home, &name, &done.stdout);
    }
    home.assert_nothing_left();
}

#[test]
fn errors() {
    let home = environment();
    shown_project(&home);
    write(&home, "none/package.json", r#"{"name":"n"}"#);
    write(&home, "kanban/package.json", r#"{"name":"n","projectType":"kanban"}"#);
    write(&home, "noid/package.json", r#"{"name":"n","projectType":"workflow"}"#);
    write(&home, "badid/package.json", r#"{"name":"n","projectType":"workflow","id":"x"}"#);
    write(&home, "broken/package.json", "{ broken");
    let at = |name: &str| home.home().join(name).to_string_lossy().into_owned();
    let project = project_path(&home);
    let mut text = String::new();
    for arguments in [
        vec!["structure", "/no/such/folder"],
        vec!["structure", &at("none")],
        vec!["structure", &at("kanban")],
        vec!["structure", &at("noid")],
        vec!["structure", &at("badid")],
        vec!["structure", &at("broken")],
        vec!["projects", "add", "/no/such/folder"],
        vec!["projects", "show", "nobody"],
        vec!["projects", "add", &project, "--kind", "nobody"],
        vec!["run", &project],
        vec!["run", &project, "nobody"],
        vec!["run", &project, "broken"],
        vec!["run", &project, "report"],
        vec!["run", &project, "report", "--nmae", "x"],
        vec!["run", &project, "convert", "--table", "missing.csv", "--count", "9", "--kind", "c", "--day", "today"],
        vec!["runs", "show", "20260101-aaaa"],
        vec!["runs", "show", "nonsense"],
        vec!["runs", "list", "--status", "odd"],
        vec!["config", "nobody"],
        vec!["config", &project, "--client", "nobody"],
        vec!["mcp", &project, "--data-dir", "relative"],
        vec!["mcp"],
        vec!["nonsense"],
        vec!["--profile", "a/b", "projects", "list"],
    ] {
        let done = home.run(&arguments).expect("it ends");
        writeln!(text, "$ workflow-code {}\n[{}]\n{}{}", arguments.join(" "), done.code, done.stdout, done.stderr)
            .expect("memory");
    }
    check(&home, "errors", &text);
    home.assert_nothing_left();
}

fn shown(answer: Answer) -> Value {
    match answer {
        Answer::Result(result) => json!({ "result": result }),
        Answer::Error(error) => json!({ "error": error }),
    }
}

/// A whole conversation: what is asked, and what is answered.
fn conversation(home: &Environment, opening: Opening, name: &str) {
    let mut client: Client = serve(home, opening);
    let mut text = String::new();
    let mut note = |asked: &str, answer: Value| writeln!(text, "→ {asked}\n← {answer:#}\n").expect("memory");
    match opening {
        Opening::Modern => note("server/discover", shown(client.request("server/discover", json!({})))),
        Opening::Legacy(_) | Opening::None => note("initialize", json!({ "result": client.opened })),
    }
    for (method, parameters) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("tools/call", json!({ "name": "report", "arguments": { "name": "Ada" } })),
        ("tools/call", json!({ "name": "report", "arguments": { "name": "nobody" } })),
        ("tools/call", json!({ "name": "fail", "arguments": {} })),
        ("tools/call", json!({ "name": "report", "arguments": { "nmae": "Ada", "name": 7 } })),
        ("tools/call", json!({ "name": "reprt", "arguments": {} })),
        (
            "tools/call",
            json!({ "name": "convert", "arguments": { "table": "relative.csv", "kind": "c", "day": "today", "count": 9, "tags": "x", "loud": "yes" } }),
        ),
        ("tools/list", json!({ "cursor": "x" })),
        ("resources/read", json!({ "uri": "workflow-run://20260101-aaaa" })),
        ("prompts/list", json!({})),
    ] {
        let asked = format!("{method} {parameters}");
        note(&asked, shown(client.request(method, parameters)));
    }
    client.finish();
    check(home, name, &text);
}

#[test]
fn protocol() {
    let home = environment();
    shown_project(&home);
    conversation(&home, LEGACY, "protocol-2025-11-25");
    conversation(&home, MODERN, "protocol-2026-07-28");
    home.assert_nothing_left();
}

#[test]
fn structure_and_what_init_writes() {
    let home = environment();
    shown_project(&home);
    check(&home, "structure", &home.run(&["structure", &project_path(&home)]).expect("it ends").stdout);
    let folder = home.home().join("new").to_string_lossy().into_owned();
    let done = home.run(&["init", &folder, "--template", "command"]).expect("it ends");
    let id = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").expect("an expression");
    check(&home, "init", &id.replace_all(&format!("{}{}", done.stdout, done.stderr), "[uuid]"));
    home.assert_nothing_left();
}

#[test]
fn history_and_registry() {
    let home = environment();
    let id = registered(&home);
    let empty = home.run(&["runs", "list"]).expect("it ends");
    check(&home, "runs-list-empty", &format!("{}{}", empty.stdout, empty.stderr));
    for arguments in [vec!["run", &id, "report", "--name", "Ada"], vec!["run", &id, "fail"]] {
        home.run(&arguments).expect("it ends");
    }
    let listed = command(&home, &["runs", "list", "--json"]);
    let run = |index: usize| listed[index]["runId"].as_str().expect("an id").to_owned();
    for (name, arguments) in [
        ("runs-list", vec!["runs", "list"]),
        ("runs-list-json", vec!["runs", "list", "--json"]),
        ("runs-show", vec!["runs", "show", &run(1)]),
        ("runs-show-json", vec!["runs", "show", &run(1), "--json"]),
        ("runs-show-failed", vec!["runs", "show", &run(0)]),
        ("runs-logs", vec!["runs", "logs", &run(1)]),
        ("runs-logs-json", vec!["runs", "logs", &run(1), "--json"]),
        ("runs-wait", vec!["runs", "wait", &run(0)]),
        ("projects-list", vec!["projects", "list"]),
        ("projects-list-json", vec!["projects", "list", "--json"]),
        ("projects-show", vec!["projects", "show", UUID]),
        ("projects-show-json", vec!["projects", "show", UUID, "--json"]),
        ("doctor", vec!["doctor"]),
    ] {
        let done = home.run(&arguments).expect("it ends");
        check(&home, name, &format!("{}{}", done.stdout, done.stderr));
    }
    assert_eq!(runs_of_plain_data(&home), 0, "a registered project records in the registry's history");
    home.assert_nothing_left();
}

fn runs_of_plain_data(home: &Environment) -> usize {
    runs(home).len()
}

#[test]
fn configuration_of_each_client() {
    let home = environment();
    let id = registered(&home);
    let unknown = home.run(&["config", &id, "--client", "?"]).expect("it ends");
    let all = unknown.stderr.rsplit("one of ").next().unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    let mut text = String::new();
    for client in all.split(", ").map(str::trim) {
        let done = home.run(&["config", &id, "--client", client]).expect("it ends");
        assert_eq!(done.code, 0, "{client}: {done:?}");
        writeln!(text, "$ workflow-code config [project] --client {client}\n{}{}", done.stdout, done.stderr)
            .expect("memory");
    }
    // Encoded addresses hold the executable's path where no filter sees it.
    let links = regex::Regex::new(r"(?m)^or open: .*$").expect("an expression");
    check(&home, "config", &links.replace_all(&text, "or open: [link]"));
    home.assert_nothing_left();
}
