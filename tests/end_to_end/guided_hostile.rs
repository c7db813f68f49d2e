//! Hostile files and ids: each leads to a clear error, in bounded time and memory, and what is good goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment};

use crate::fixtures::environment;

const JOB: &str = "name: solo\nsummary: s\nstep_arguments: [{name: answer, description: d, type: string}]\nworkflows:\n  main:\n    summary: s\n    steps:\n      - {name: think, instructions: Think., outputs: {answer: {}}}\n";

/// Far over what any of it takes on a busy machine, and far below what it would take without limits.
const BOUNDED: Duration = Duration::from_secs(20);

/// The most that a server may ever have had: two files of the largest size at once, with their trees.
const MOST_KIB: u64 = 400 * 1024;

fn serve(home: &Environment) -> Client {
    let root = home.home().join("p").display().to_string();
    Client::start(home, &["guided", "serve", "--path", &root], ClientOptions::default())
}

/// Ten lines that stand for 10^10 values.
fn bomb(link: impl Fn(&str) -> String) -> String {
    let mut text = String::from("a0: &a0 {k: x}\n");
    for level in 1..=10 {
        let inner = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} {}\n", link(&inner)));
    }
    text
}

fn peak_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells it");
    line.split_ascii_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn hostile_files_cost_only_themselves() {
    let home = environment();
    let large = "# a comment that goes on and on\n".repeat(320_000);
    let jobs = [
        ("alias_bomb", bomb(|inner| format!("[{inner}]")), "aliases"),
        // What is merged again replaces itself, so that nothing grows.
        ("merge_bomb", bomb(|inner| format!("{{<<: [{inner}]}}")), "not known"),
        ("large", large.clone(), "larger"),
        ("deep", "[".repeat(200_000), "recursion limit"),
        ("deep_lines", (0..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect(), "nested"),
        ("many_faults", format!("{JOB}x: 1\n{}", (0..5_000).map(|n| format!("k{n}: 1\n")).collect::<String>()), "more"),
    ];
    for (name, text, _) in &jobs {
        home.write(format!("p/.deepwork/jobs/{name}/job.yml"), text).expect("written");
    }
    home.write("p/.deepwork/jobs/solo/job.yml", JOB).expect("written");
    home.write("p/a.md", "x").expect("written");
    home.write("p/large/.deepreview", &large).expect("written");
    home.write("p/bomb/.deepreview", &jobs[0].1).expect("written");
    // Every schema is everybody's parent.
    let all: Vec<String> = (0..150).map(|n| format!("s{n}")).collect();
    for name in &all {
        let text =
            format!("matchers: ['**']\nrequirements: {{{name}: x}}\nparent_deep_schemas: [{}]\n", all.join(", "));
        home.write(format!("p/.deepwork/schemas/{name}/deepschema.yml"), text).expect("written");
    }
    // A chain in which everything is reached in 2^40 ways.
    for n in 0..40 {
        let text =
            format!("requirements: {{r{n}: x}}\nmatchers: ['**.md']\nparent_deep_schemas: [c{}, d{}]\n", n + 1, n + 1);
        for kind in ["c", "d"] {
            home.write(format!("p/.deepwork/schemas/{kind}{n}/deepschema.yml"), &text).expect("written");
        }
    }
    for kind in ["c", "d"] {
        home.write(format!("p/.deepwork/schemas/{kind}40/deepschema.yml"), "requirements: {end: x}\n")
            .expect("written");
    }
    let root = home.home().join("p");
    std::os::unix::fs::symlink(&root, root.join("loop")).expect("linked");
    let made = home.run_program("mkfifo", &[root.join(".deepschema.pipe.yml")], b"").expect("it runs");
    assert_eq!(made.code, 0);

    let began = Instant::now();
    let mut client = serve(&home);
    let listed = client.call("get_workflows", json!({})).result()["structuredContent"].clone();
    let errors = listed["errors"].as_array().expect("a list");
    assert_eq!(errors.len(), jobs.len());
    for (name, _, word) in &jobs {
        let error = errors.iter().find(|error| error["job_name"] == *name).expect("it is told");
        let text = error["error"].as_str().expect("a text");
        assert!(text.contains(word) && text.len() < 8_000, "{name}: {text}");
    }
    assert!(listed["jobs"].as_array().expect("a list").iter().any(|job| job["name"] == "solo"));
    let reviews = client.call("get_review_instructions", json!({ "files": ["a.md"] })).result();
    let text = reviews["structuredContent"]["result"].as_str().expect("a text").to_owned();
    for part in ["leads back to it", "large/.deepreview", "bomb/.deepreview", "c0 DeepSchema"] {
        assert!(text.contains(part), "{part}: {}", text.chars().take(3_000).collect::<String>());
    }
    client.call("get_configured_reviews", json!({})).result();
    client.call("get_named_schemas", json!({})).result();
    let start = json!({ "goal": "g", "job_name": "solo", "workflow_name": "main", "session_id": "s" });
    assert_ne!(client.call("start_workflow", start).result()["isError"], true);
    assert!(began.elapsed() < BOUNDED, "{:?}", began.elapsed());
    assert!(peak_kib(client.pid()) < MOST_KIB, "{} KiB", peak_kib(client.pid()));
    assert_eq!(client.finish().0, 0);
    home.assert_nothing_left();
}

/// Everything in a folder: paths, and what files hold.
fn everything(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let path = entry.path();
            let is_folder = entry.file_type().expect("a type").is_dir();
            let content = if is_folder { Vec::new() } else { fs::read(&path).unwrap_or_default() };
            found.insert(path.display().to_string(), content);
            if is_folder {
                open.push(path);
            }
        }
    }
    found
}

#[test]
fn no_id_leads_out_of_its_folder() {
    let home = environment();
    home.write("p/.deepwork/jobs/solo/job.yml", JOB).expect("written");
    home.write("outside/job.yml", JOB).expect("written");
    home.write("outside/state.json", "{}").expect("written");
    let mut client = serve(&home);
    // Its own folder is there, so that what is made in it is no change outside.
    client
        .call("start_workflow", json!({ "goal": "g", "job_name": "solo", "workflow_name": "main", "session_id": "s" }))
        .result();
    let outside = |home: &Environment| -> BTreeMap<String, Vec<u8>> {
        everything(&home.home()).into_iter().filter(|(path, _)| !path.contains("/p/.deepwork/tmp")).collect()
    };
    let before = outside(&home);
    let long = "x".repeat(100_000);
    let absolute = home.home().join("outside").display().to_string();
    let ids = [
        "..",
        "../outside",
        "../../../../outside",
        "a/../../b",
        "/etc/passwd",
        &absolute,
        "a/b",
        "a\\b",
        "..\\x",
        ".hidden",
        "a\u{0}b",
        "a\nb",
        "\u{202e}/x",
        "..%2f..%2fx",
        &long,
    ];
    let mut refused = 0;
    for id in ids {
        let with_session = |tool: &str, more: Value| {
            let mut arguments = more;
            arguments["session_id"] = id.into();
            (tool.to_owned(), arguments)
        };
        let calls = [
            with_session("start_workflow", json!({ "goal": "g", "job_name": "solo", "workflow_name": "main" })),
            with_session("finished_step", json!({ "outputs": { "answer": "x" } })),
            with_session("abort_workflow", json!({ "explanation": "e" })),
            with_session("go_to_step", json!({ "step_id": "think" })),
            with_session("register_session_job", json!({ "job_name": "solo", "job_definition_yaml": JOB })),
            with_session("get_session_job", json!({ "job_name": "solo" })),
            (
                "start_workflow".into(),
                json!({ "goal": "g", "job_name": "solo", "workflow_name": "main", "session_id": "s", "agent_id": id }),
            ),
            ("finished_step".into(), json!({ "outputs": {}, "session_id": "s", "agent_id": id })),
            ("abort_workflow".into(), json!({ "explanation": "e", "session_id": "s", "agent_id": id })),
            ("go_to_step".into(), json!({ "step_id": "think", "session_id": "s", "agent_id": id })),
            (
                "start_workflow".into(),
                json!({ "goal": "g", "job_name": id, "workflow_name": "main", "session_id": "s" }),
            ),
            ("go_to_step".into(), json!({ "step_id": id, "session_id": "s" })),
            ("register_session_job".into(), json!({ "job_name": id, "job_definition_yaml": JOB, "session_id": "s" })),
            ("get_session_job".into(), json!({ "job_name": id, "session_id": "s" })),
            ("mark_review_as_passed".into(), json!({ "review_id": id })),
        ];
        for (tool, arguments) in calls {
            let answer = client.call(&tool, arguments.clone()).result();
            let content = &answer["structuredContent"];
            let is_refused = answer["isError"] == true
                || content["error"].is_string()
                || content["result"].as_str().is_some_and(|text| text.starts_with("Validation error:"));
            // Names without a folder in them are odd, and harmless.
            let harmless = ["\u{202e}/x", "..%2f..%2fx"].contains(&id) || id == ".hidden";
            assert!(is_refused || harmless, "{tool} {:.300}: {:.600}", arguments.to_string(), answer.to_string());
            assert!(
                answer.to_string().len() < 4_000,
                "{tool}: an answer repeats {} characters",
                answer.to_string().len()
            );
            refused += usize::from(is_refused);
        }
        client.call("get_review_instructions", json!({ "files": [id] })).result();
        client.call("get_configured_reviews", json!({ "only_rules_matching_files": [id] })).result();
    }
    assert!(refused > 150, "{refused}");
    assert_eq!(outside(&home), before);
    // What was running still is.
    let end = client.call("finished_step", json!({ "outputs": { "answer": "x" }, "session_id": "s" })).result();
    assert_eq!(end["structuredContent"]["status"], "workflow_complete");
    assert_eq!(client.finish().0, 0);
}
