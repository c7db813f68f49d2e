//! Orchestration scripts with agents that are real programs, under a real launcher.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, executable};

/// An agent program in shell. It notes each start in `starts`, and does what its prompt says.
pub(crate) const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
word=${prompt%% *}
word=$(printf '%s' "$word" | head -n 1)
printf '%s\n' "$word" >> "$(dirname "$0")/starts"
case "$word" in
  fail) echo 'no such branch' >&2; exit 3 ;;
  die) kill -9 $$ ;;
  flood) head -c 20000000 /dev/zero | tr '\0' 'x'; echo ;;
  hang) sleep 600 ;;
  quiet) sleep 600 ;;
  vote) case "$prompt" in
      *'cannot be used'*) printf 'Well:\n```json\n{"yes": true}\n```\n' ;;
      *) printf '{"yes": "perhaps"}\n' ;;
    esac ;;
  never) echo 'no JSON here' ;;
  *) printf 'did %s\n' "$word" ;;
esac
"#;

pub(crate) fn project(environment: &Environment, scripts: &[(&str, &str)], more: &Value) -> PathBuf {
    let mut workflow = json!({"provider": {"name": "fake", "command": ["./agent.sh"]}});
    for (key, value) in more.as_object().into_iter().flatten() {
        workflow[key.as_str()] = value.clone();
    }
    let package = json!({
        "name": "agents", "id": "6f1d1d0e-1111-4a5b-8c6d-000000000001", "projectType": "workflow", "workflow": workflow
    });
    environment.write("p/package.json", package.to_string()).expect("a file");
    for (name, text) in scripts {
        environment.write(format!("p/{name}"), text).expect("a file");
    }
    let agent = environment.write("p/agent.sh", AGENT).expect("a file");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(agent, std::fs::Permissions::from_mode(0o755)).expect("a program");
    environment.home().join("p")
}

pub(crate) fn starts(project: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(project.join("starts")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn programs_of_every_kind_give_what_they_can() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'all', description: 'd' }\n\
        const S = { type: 'object', required: ['yes'], properties: { yes: { type: 'boolean' } } }\n\
        const plain = await parallel(['one', 'fail', 'die', 'flood', 'two'].map((p) => () => agent(p + ' please')))\n\
        const voted = await agent('vote now', { schema: S })\n\
        const never = await agent('never', { schema: S })\n\
        const quiet = await agent('quiet', { stallMs: 300 })\n\
        return { plain, voted, never, quiet }\n";
    let project = project(&environment, &[("all.workflow.js", script)], &json!({}));
    let ran = environment.run(&["run", &project.to_string_lossy()]).expect("a run");
    let envelope = ran.json();
    assert_eq!(
        envelope["output"],
        json!({"plain": ["did one", null, null, null, "did two"], "voted": {"yes": true}, "never": null, "quiet": null}),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    let count = |word: &str| starts(&project).iter().filter(|started| *started == word).count();
    // Asked again once for the vote and twice in vain; what stalled was tried twice.
    assert_eq!((count("vote"), count("never"), count("quiet"), count("one")), (2, 3, 2, 1));
    environment.assert_nothing_left();
}

#[test]
fn a_loose_script_runs_with_a_provider_that_is_named() {
    let environment = Environment::new().expect("a home");
    environment.write("replies.json", r#"{"replies": {"hi": "there"}}"#).expect("a file");
    let script = "export const meta = { name: 'loose', description: 'd' }\nreturn [args.who, await agent('hi')]\n";
    let file = environment.write("somewhere/loose.js", script).expect("a file");
    let file = file.to_string_lossy();
    let named = format!("canned:{}/replies.json", environment.home().display());
    let ran = environment.run(&["run", &file, "--provider", &named, "--args", r#"{"who": "me"}"#]).expect("a run");
    assert_eq!(ran.json()["output"], json!(["me", "there"]), "{} {}", ran.stdout, ran.stderr);
    // Without one, the error says how to get one.
    let mut bare = Environment::new().expect("a home");
    bare.set("PATH", "/nonexistent");
    let file = bare.write("loose.js", script).expect("a file");
    let ran = bare.run(&["run", &file.to_string_lossy(), "--args", "{}"]).expect("a run");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("no agent provider") && ran.stdout.contains("--provider"), "{}", ran.stdout);
    environment.assert_nothing_left();
    bare.assert_nothing_left();
}

#[test]
fn a_killed_run_pays_for_no_agent_twice() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'long', description: 'd' }\n\
        const first = await parallel(['a', 'b', 'c'].map((p) => () => agent(p)))\n\
        const gate = await agent(args.gate + ' now')\n\
        return [...first, gate]\n";
    let project = project(&environment, &[("long.workflow.js", script)], &json!({}));
    let target = project.to_string_lossy().into_owned();
    let mut child =
        environment.start(executable(), &["run", &target, "--args", r#"{"gate": "hang"}"#]).expect("a launcher");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !starts(&project).contains(&"hang".to_owned()) {
        assert!(Instant::now() < deadline, "the last agent never started");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    // Found while the launcher holds it, killed without a word, and nothing of it stays.
    let listed = environment.run(&["runs", "list", "--data-dir", &data_dir(&environment), "--json"]).expect("a list");
    let run = first_run(&listed.json()).unwrap_or_else(|| panic!("{} {}", listed.stdout, listed.stderr));
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid"),
        rustix::process::Signal::KILL,
    )
    .expect("killed");
    child.wait().expect("its end");
    environment.assert_nothing_left();
    // The agent that hung does its work this time.
    let agent = AGENT.replace("hang) sleep 600 ;;", "hang) echo 'came to' ;;");
    environment.write("p/agent.sh", agent).expect("a file");
    let resumed =
        environment.run(&["runs", "resume", &run, "--data-dir", &data_dir(&environment)]).expect("a resumed run");
    assert_eq!(resumed.json()["output"], json!(["did a", "did b", "did c", "came to"]), "{}", resumed.stderr);
    let mut all = starts(&project);
    all.sort();
    assert_eq!(all, ["a", "b", "c", "hang", "hang"]);
    environment.assert_nothing_left();
}

pub(crate) fn data_dir(environment: &Environment) -> String {
    environment.home().join(".workflow-code").to_string_lossy().into_owned()
}

/// The id of the newest run of a list.
pub(crate) fn first_run(list: &Value) -> Option<String> {
    let runs = list.as_array().or_else(|| list["runs"].as_array())?;
    Some(runs.first()?["runId"].as_str()?.to_owned())
}

#[test]
fn cancelling_ends_agents_and_the_dynamic_entrypoint_takes_scripts() {
    let environment = Environment::new().expect("a home");
    let project = project(&environment, &[], &json!({"entrypoints": {"workflow": {"dynamic": true}}}));
    let mut client = Client::start(
        &environment,
        &["mcp".to_owned(), project.to_string_lossy().into_owned()],
        ClientOptions::default(),
    );
    let meta = json!({"name": "ask", "description": "asks"});
    let script = "phase('Ask')\nconst a = await agent('one')\nreturn { a, n: args.n }";
    let answer = client.call("workflow", json!({"script": script, "meta": meta, "args": {"n": 2}})).result();
    let envelope = &answer["structuredContent"];
    assert_eq!(envelope["output"], json!({"agentsStarted": 1, "result": {"a": "did one", "n": 2}}), "{answer}");
    let said = |answer: &Value| answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let value = "{\n  \"a\": \"did one\",\n  \"n\": 2\n}";
    assert_eq!(said(&answer), format!("workflow \"ask\" completed (1 agent).\nReturn value:\n{value}"));
    let answer = client.call("workflow", json!({"script": "throw new Error('late')", "meta": meta})).result();
    assert_eq!(
        (said(&answer).as_str(), &answer["isError"]),
        ("workflow run failed: Error: late\n    at <anonymous> (workflow:ask:1:11)", &json!(true))
    );
    let answer = client.call("workflow", json!({"script": "return 1", "meta": {"name": "n"}})).result();
    assert!(said(&answer).starts_with("invalid meta: ") && answer["isError"] == true, "{answer}");
    let answer = client.call("workflow", json!({"script": "return (((", "meta": meta})).result();
    assert_eq!(answer["isError"], true);
    assert!(answer.to_string().contains("does not parse"), "{answer}");
    let id = client.ask(
        "tools/call",
        json!({"name": "workflow", "arguments": {"script": "return await agent('hang')", "meta": meta}}),
    );
    let deadline = Instant::now() + Duration::from_secs(60);
    while !starts(&project).contains(&"hang".to_owned()) {
        assert!(Instant::now() < deadline, "the agent never started");
        client.drain(Duration::from_millis(20));
    }
    client.cancel(&id);
    client.finish();
    environment.assert_nothing_left();
}
