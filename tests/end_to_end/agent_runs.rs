//! What is recorded of a run's agents, and what can be done with such a run from outside.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment};

use crate::agents::{AGENT, data_dir, first_run, project, starts};

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "{what} never came");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

fn shown(environment: &Environment, run: &str) -> Value {
    environment.run(&["runs", "show", run, "--data-dir", &data_dir(environment), "--json"]).expect("a record").json()
}

/// The agents of a record: label, status, and their details.
fn agents(record: &Value) -> Vec<(String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let nodes = record["report"]["nodes"].as_array().expect("nodes");
    nodes
        .iter()
        .filter(|node| node["kind"] == "agent")
        .map(|node| (text(&node["title"]), text(&node["status"]), node["detail"].clone()))
        .collect()
}

/// An agent that waits, before it answers `after`, until another one has failed.
fn patient_agent(project: &Path, work: &str) {
    let agent = AGENT
        .replace("fail) echo", "fail) touch \"$(dirname \"$0\")/failed\"; echo")
        .replace(
            "hang) sleep 600 ;;",
            &format!(
                "after) while [ ! -e \"$(dirname \"$0\")/failed\" ]; do sleep 0.05; done; sleep 0.5; echo 'did after' ;;\n  {work}\n  hang) sleep 600 ;;"
            ),
        );
    std::fs::write(project.join("agent.sh"), agent).expect("a program");
}

#[test]
fn one_failed_agent_is_asked_again_and_the_others_are_not() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'retried', description: 'd' }\n\
        phase('Ask')\n\
        const all = await parallel(['one', 'fail', 'after'].map((p) => () => agent(p + ' please')))\n\
        phase('Sum up')\n\
        const sum = await agent('sum ' + all.map((text) => text ?? 'nothing').join(' + '), { label: 'sum' })\n\
        const last = await agent('last', { label: 'last' })\n\
        return { all, sum, last }\n";
    let project = project(&environment, &[("retried.workflow.js", script)], &json!({}));
    patient_agent(&project, "");
    let ran = environment.run(&["run", &project.to_string_lossy()]).expect("a run");
    let output = json!({"all": ["did one", null, "did after"], "sum": "did sum", "last": "did last"});
    assert_eq!(ran.json()["output"], output, "{} {}", ran.stdout, ran.stderr);
    let run = ran.json()["runId"].as_str().expect("an id").to_owned();
    let before = shown(&environment, &run);
    let states: Vec<(String, String)> = agents(&before).into_iter().map(|(label, status, _)| (label, status)).collect();
    let state = |label: &str, status: &str| (label.to_owned(), status.to_owned());
    assert_eq!(
        states,
        [
            state("one please", "success"),
            state("fail please", "failed"),
            state("after please", "success"),
            state("sum", "success"),
            state("last", "success")
        ]
    );
    let failed = &agents(&before)[1].2;
    assert_eq!((&failed["seq"], &failed["outcome"], &failed["phase"]), (&json!(2), &json!("failed"), &json!("Ask")));
    assert!(failed["reason"].as_str().is_some_and(|reason| reason.contains("no such branch")), "{failed}");
    assert_eq!(before["report"]["agents"], json!({"agents": 5, "failed": 1, "inputTokens": 0, "outputTokens": 0}));
    // Only an agent that failed is asked again.
    let data = data_dir(&environment);
    let retry = |agent: &str| {
        environment.run(&["runs", "retry", &run, "--agent", agent, "--data-dir", &data]).expect("an answer")
    };
    assert_eq!((retry("1").code, retry("9").code), (2, 2));
    // This time it can, and so another sum is asked for; what does not depend on it is kept.
    let able =
        std::fs::read_to_string(project.join("agent.sh")).expect("a program").replace("fail) touch", "never) touch");
    std::fs::write(project.join("agent.sh"), able).expect("a program");
    let again = retry("2");
    let output = json!({"all": ["did one", "did fail", "did after"], "sum": "did sum", "last": "did last"});
    let answer = again.json();
    assert_eq!(answer["output"], output, "{} {}", again.stdout, again.stderr);
    assert_eq!(answer["runId"], run.as_str());
    let mut all = starts(&project);
    all.sort();
    assert_eq!(all, ["after", "fail", "fail", "last", "one", "sum", "sum"]);
    let after = shown(&environment, &run);
    let states: Vec<(String, Value)> = agents(&after)
        .into_iter()
        .map(|(label, status, detail)| (format!("{label} {status}"), detail["attempt"].clone()))
        .collect();
    let one = |text: &str, attempt: Value| (text.to_owned(), attempt);
    assert_eq!(
        states,
        [
            one("one please success", Value::Null),
            one("fail please success", json!(2)),
            one("after please success", Value::Null),
            one("sum success", json!(2)),
            one("last success", Value::Null)
        ]
    );
    // What was kept kept its times.
    let times = |record: &Value, at: usize| {
        let nodes = record["report"]["nodes"].as_array().expect("nodes");
        nodes.iter().filter(|node| node["kind"] == "agent").nth(at).map(|node| node["startedAt"].clone())
    };
    assert_eq!(times(&before, 0), times(&after, 0));
    assert_ne!(times(&before, 1), times(&after, 1));
    assert_eq!(after["status"], "success");
    assert_eq!(retry("2").code, 2, "it has not failed any more");
    environment.assert_nothing_left();
}

#[test]
fn a_retry_that_is_killed_goes_on() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'killed', description: 'd' }\n\
        const all = await parallel(['one', 'fail', 'after'].map((p) => () => agent(p + ' please')))\n\
        const there = all.filter(Boolean).length\n\
        const next = await agent('hang ' + there, there < 3 ? { stallMs: 300 } : {})\n\
        return [...all, next]\n";
    let project = project(&environment, &[("killed.workflow.js", script)], &json!({}));
    patient_agent(&project, "");
    let ran = environment.run(&["run", &project.to_string_lossy()]).expect("a run");
    assert_eq!(ran.json()["output"], json!(["did one", null, "did after", null]), "{}", ran.stderr);
    let run = ran.json()["runId"].as_str().expect("an id").to_owned();
    let able =
        std::fs::read_to_string(project.join("agent.sh")).expect("a program").replace("fail) touch", "never) touch");
    std::fs::write(project.join("agent.sh"), &able).expect("a program");
    let data = data_dir(&environment);
    // Asked again, it succeeds; then the next agent hangs, and everything is killed without a word.
    let long = able.replace("hang) sleep 600", "hang) touch \"$(dirname \"$0\")/hung\"; sleep 600");
    std::fs::write(project.join("agent.sh"), long).expect("a program");
    let hung = project.join("hung");
    let mut child = environment
        .start(workflow_code_tests::executable(), &["runs", "retry", &run, "--agent", "2", "--data-dir", &data])
        .expect("a launcher");
    wait_for("the hanging agent", || hung.exists());
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid"),
        rustix::process::Signal::KILL,
    )
    .expect("killed");
    child.wait().expect("its end");
    let answering = able.replace("hang) sleep 600", "hang) echo 'came to'");
    std::fs::write(project.join("agent.sh"), answering).expect("a program");
    let resumed = environment.run(&["runs", "resume", &run, "--data-dir", &data]).expect("a resumed run");
    assert_eq!(resumed.json()["output"], json!(["did one", "did fail", "did after", "came to"]), "{}", resumed.stderr);
    let count = |word: &str| starts(&project).iter().filter(|start| *start == word).count();
    assert_eq!((count("one"), count("after"), count("fail")), (1, 1, 2));
    environment.assert_nothing_left();
}

/// A run whose client cancels while one agent works and others wait.
#[test]
fn a_client_cancels_while_agents_work_and_wait() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'cancelled', description: 'd' }\n\
        const first = await agent('one')\n\
        const rest = await parallel(Array.from({ length: 40 }, (_, at) => () => agent('hang ' + at)))\n\
        return [first, ...rest]\n";
    let project = project(&environment, &[("cancelled.workflow.js", script)], &json!({}));
    let mut client = Client::start(
        &environment,
        &["mcp".to_owned(), project.to_string_lossy().into_owned()],
        ClientOptions::default(),
    );
    let id = client.ask("tools/call", json!({"name": "cancelled", "arguments": {}}));
    wait_for("an agent", || starts(&project).contains(&"hang".to_owned()));
    client.cancel(&id);
    let listed = || {
        let data = data_dir(&environment);
        environment.run(&["runs", "list", "--data-dir", &data, "--json"]).expect("a list").json()
    };
    wait_for("the end of the run", || listed()[0]["status"] == "cancelled");
    let record = shown(&environment, &first_run(&listed()).expect("a run"));
    let agents = agents(&record);
    assert_eq!(agents.len(), 41);
    assert_eq!((agents[0].1.as_str(), agents[0].2["outcome"].clone()), ("success", json!("completed")));
    assert!(agents[1..].iter().all(|(_, status, _)| status == "cancelled"), "{agents:?}");
    let (begun, waiting): (Vec<_>, Vec<_>) =
        agents[1..].iter().partition(|(.., detail)| detail.get("childId").is_some());
    assert!(begun.iter().all(|(.., detail)| detail["outcome"] == "cancelled"), "{begun:?}");
    assert!(!begun.is_empty() && !waiting.is_empty(), "{} {}", begun.len(), waiting.len());
    // The server serves on.
    let id = client.ask("tools/call", json!({"name": "cancelled", "arguments": {}}));
    wait_for("an agent", || starts(&project).iter().filter(|word| *word == "one").count() == 2);
    let run = first_run(&listed()).expect("a run");
    let told = environment.run(&["runs", "cancel", &run, "--data-dir", &data_dir(&environment)]).expect("a cancel");
    assert_eq!(told.code, 0, "{}", told.stderr);
    let answer = client.wait(&id).result();
    assert_eq!(answer["structuredContent"]["status"], "cancelled", "{answer}");
    client.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_killed_servers_run_goes_on_with_its_results() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'long', description: 'd' }\n\
        phase('Many')\n\
        const many = await parallel(Array.from({ length: 12 }, (_, at) => () => agent('job' + at)))\n\
        phase('One')\n\
        return [...many, await agent('hang')]\n";
    let project = project(&environment, &[("long.workflow.js", script)], &json!({}));
    let mut client = Client::start(
        &environment,
        &["mcp".to_owned(), project.to_string_lossy().into_owned()],
        ClientOptions::default(),
    );
    client.ask("tools/call", json!({"name": "long", "arguments": {}}));
    wait_for("the last agent", || starts(&project).contains(&"hang".to_owned()));
    let data = data_dir(&environment);
    let listed = environment.run(&["runs", "list", "--data-dir", &data, "--json"]).expect("a list").json();
    let run = first_run(&listed).expect("a run");
    wait_for("the last agent in the record", || agents(&shown(&environment, &run)).len() == 13);
    client.kill();
    environment.assert_nothing_left();
    std::fs::write(project.join("agent.sh"), AGENT.replace("hang) sleep 600", "hang) echo 'came to'"))
        .expect("a program");
    let resumed = environment.run(&["runs", "resume", &run, "--data-dir", &data]).expect("a resumed run");
    let mut output: Vec<String> = (0..12).map(|at| format!("did job{at}")).collect();
    output.push("came to".into());
    assert_eq!(resumed.json()["output"], json!(output), "{}", resumed.stderr);
    assert_eq!(starts(&project).len(), 14, "twelve, and the last one twice");
    let record = shown(&environment, &run);
    let agents = agents(&record);
    assert_eq!(agents.len(), 13);
    assert!(
        agents.iter().all(|(_, status, detail)| status == "success" && detail["childId"].is_string()),
        "{agents:?}"
    );
    assert_eq!(agents[12].2["attempt"], 2);
    let exported = environment.run(&["runs", "export", &run, "--output", "-", "--data-dir", &data]).expect("an export");
    let records = exported.json()["agentRecords"].as_array().cloned().expect("records");
    let mut ledger = model::MemberLedger::default();
    for record in &records {
        ledger.append(record).expect("a record in its place");
    }
    assert_eq!(records.len(), 2 + 2 * 13);
    environment.assert_nothing_left();
}

#[test]
fn a_run_keeps_to_its_caps() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'capped', description: 'd' }\n\
        const got = []\n\
        try { for (;;) got.push(await agent('job ' + got.length)) } catch (error) { return [got.length, error.code, budget.total] }\n";
    let project = project(&environment, &[("capped.workflow.js", script)], &json!({"maxAgents": 5}));
    let target = project.to_string_lossy().into_owned();
    let output = |arguments: &[&str]| {
        let mut all = vec!["run", target.as_str()];
        all.extend(arguments);
        let ran = environment.run(&all).expect("a run");
        (ran.json(), ran.stderr)
    };
    assert_eq!(output(&[]).0["output"], json!([5, "AGENT_CAP", null]));
    assert_eq!(output(&["--max-agents", "2"]).0["output"], json!([2, "AGENT_CAP", null]));
    assert_eq!(
        output(&["--max-agents", "9"]).0["output"],
        json!([5, "AGENT_CAP", null]),
        "the project's is the lower one"
    );
    let replies = json!({"default": {"text": "t", "usage": {"inputTokens": 50, "outputTokens": 40}}});
    let file = environment.write("replies.json", replies.to_string()).expect("a file");
    let canned = format!("canned:{}", file.display());
    let (envelope, stderr) = output(&["--max-tokens", "100", "--provider", &canned]);
    assert_eq!(envelope["output"], json!([3, "BUDGET_EXCEEDED", 100]), "{stderr}");
    let record = shown(&environment, envelope["runId"].as_str().expect("an id"));
    assert_eq!(record["report"]["agents"], json!({"agents": 3, "failed": 0, "inputTokens": 150, "outputTokens": 120}));
    let never = environment.write("never.json", r#"{"default": {"never": true}}"#).expect("a file");
    let (envelope, _) = output(&["--max-seconds", "1", "--provider", &format!("canned:{}", never.display())]);
    assert_eq!((&envelope["status"], &envelope["error"]["code"]), (&json!("timeout"), &json!("timeout")));
    environment.assert_nothing_left();
}

#[test]
fn a_projects_own_kinds_of_agents_are_used() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'kinds', description: 'd' }\n\
        return await parallel(['critic', 'nobody', 'nobody'].map((agentType) => () => agent('look closely', { agentType })))\n";
    let project = project(&environment, &[("kinds.workflow.js", script)], &json!({}));
    environment.write("p/.claude/agents/critic.md", "---\nname: critic\n---\ndoubt everything\n").expect("a file");
    let ran = environment.run(&["run", &project.to_string_lossy()]).expect("a run");
    assert_eq!(ran.json()["output"], json!(["did doubt", "did look", "did look"]), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("agent-type-unknown").count(), 1, "{}", ran.stderr);
    environment.assert_nothing_left();
}

/// What a client reads beside the result when agents failed.
#[test]
fn a_client_is_told_which_agents_failed() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'partly', description: 'd' }\n\
        return await parallel(['one', 'fail', 'two'].map((p) => () => agent(p, { label: 'do ' + p, effort: 'high' })))\n";
    let project = project(&environment, &[("partly.workflow.js", script)], &json!({}));
    let mut client = Client::start(
        &environment,
        &["mcp".to_owned(), project.to_string_lossy().into_owned()],
        ClientOptions::default(),
    );
    let answer = client.call("partly", json!({})).result();
    assert_eq!(answer["structuredContent"]["output"], json!(["did one", null, "did two"]), "{answer}");
    let first: Value = serde_json::from_str(answer["content"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(first, answer["structuredContent"]);
    let said = answer["content"][1]["text"].as_str().expect("a second text");
    assert!(
        said.starts_with("1 of 3 agents failed: do fail – error: it ended with exit code 3: no such branch\n"),
        "{said}"
    );
    assert!(said.ends_with("2 notes"), "{said}");
    client.finish();
    environment.assert_nothing_left();
}

/// An agent program that does its work in the folder it is started in: its prompt is a word and a name.
const FILES_AGENT: &str = r#"#!/bin/sh
read word name
root=$(dirname "$(readlink -f "$0")")
printf '%s %s\n' "$word" "$PWD" >> "$root/places"
case "$word" in
  write) printf 'made\n' > "$name" ;;
  commit) printf 'made\n' > "$name" && git add . && git -c user.name=a -c user.email=a@b commit -q -m made ;;
  turn) mkdir turn || exit 3; sleep 0.05; rmdir turn ;;
  flaky) [ -e "$root/tried" ] || { touch "$root/tried"; exit 4; } ;;
  model) name=$* ;;
esac
printf 'did %s\n' "$name"
"#;

fn git(environment: &Environment, folder: &Path, arguments: &[&str]) -> String {
    let folder = folder.to_string_lossy().into_owned();
    let mut all = vec!["-C", &folder, "-c", "user.name=a", "-c", "user.email=a@b"];
    all.extend(arguments);
    let ran = environment.run_program(Path::new("git"), &all, &[]).expect("git");
    assert_eq!(ran.code, 0, "git {arguments:?}: {}", ran.stderr);
    ran.stdout
}

#[test]
fn isolated_agents_work_in_worktrees_that_stay_only_when_something_was_made() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'apart', description: 'd' }\n\
        const work = (p) => () => agent(p, { isolation: 'worktree', label: p })\n\
        return await parallel(['look x', 'write note.txt', 'commit other.txt', 'look y'].map(work))\n";
    let project = project(&environment, &[("apart.workflow.js", script)], &json!({}));
    environment.write("p/agent.sh", FILES_AGENT).expect("a file");
    environment.write("p/.gitignore", "places\n").expect("a file");
    git(&environment, &project, &["init", "-q"]);
    // A repository's hooks are its own, and must not run here.
    environment.write("p/.git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n").expect("a file");
    let hook = project.join(".git/hooks/post-checkout");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a program");
    git(&environment, &project, &["add", "."]);
    git(&environment, &project, &["commit", "-q", "-m", "first"]);
    let ran = environment.run(&["run", &project.to_string_lossy()]).expect("a run");
    let envelope = ran.json();
    let all = json!(["did x", "did note.txt", "did other.txt", "did y"]);
    assert_eq!(envelope["output"], all, "{} {}", ran.stdout, ran.stderr);
    let record = shown(&environment, envelope["runId"].as_str().expect("an id"));
    let mut kept = Vec::new();
    for (label, _, detail) in agents(&record) {
        if let Some(path) = detail["worktree"]["path"].as_str() {
            let branch = detail["worktree"]["branch"].as_str().expect("a branch").to_owned();
            kept.push((label, std::path::PathBuf::from(path), branch));
        }
    }
    kept.sort();
    let labels: Vec<&str> = kept.iter().map(|(label, ..)| label.as_str()).collect();
    assert_eq!(labels, ["commit other.txt", "write note.txt"], "{record}");
    assert_eq!(std::fs::read_to_string(kept[1].1.join("note.txt")).expect("what was made"), "made\n");
    assert_eq!(git(&environment, &project, &["show", &format!("{}:other.txt", kept[0].2)]), "made\n");
    assert!(!project.join("note.txt").exists() && !project.join("other.txt").exists());
    assert!(!project.join("hooked").exists() && !kept[0].1.join("hooked").exists());
    // Nothing is left of the others.
    assert_eq!(git(&environment, &project, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 3);
    assert_eq!(git(&environment, &project, &["branch", "--list", "workflow-code/*"]).lines().count(), 2);
    environment.assert_nothing_left();
}

#[test]
fn without_a_repository_isolated_agents_take_turns_and_that_is_noted() {
    let environment = Environment::new().expect("a home");
    let script = "export const meta = { name: 'apart', description: 'd' }\n\
        const all = await parallel(['1', '2', '3'].map((n) => () => agent('turn ' + n, { isolation: 'worktree' })))\n\
        return [...all, await agent('flaky 4', { retries: 2, isolation: 'cloud' })]\n";
    let project = project(&environment, &[("apart.workflow.js", script)], &json!({}));
    environment.write("p/agent.sh", FILES_AGENT).expect("a file");
    let ran = environment.run(&["run", &project.to_string_lossy()]).expect("a run");
    let envelope = ran.json();
    assert_eq!(envelope["output"], json!(["did 1", "did 2", "did 3", "did 4"]), "{} {}", ran.stdout, ran.stderr);
    let record = shown(&environment, envelope["runId"].as_str().expect("an id"));
    assert_eq!(ran.stderr.matches("worktree-unavailable").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("the only `isolation` there is is `worktree`, not \"cloud\""), "{}", ran.stderr);
    let last = agents(&record).pop().expect("an agent");
    assert_eq!(last.2["attempt"], 2, "{record:#}");
    environment.assert_nothing_left();
}
