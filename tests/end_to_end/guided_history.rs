//! Guided workflows in the history, whoever serves them: several servers at once, killed ones, a person that cancels.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment};

use crate::fixtures::environment;

const JOB: &str = "name: solo\nsummary: s\nstep_arguments: [{name: answer, description: d, type: string}]\nworkflows:\n  main:\n    summary: s\n    steps:\n      - {name: think, instructions: Think., outputs: {answer: {}}}\n      - {name: tell, instructions: Tell., outputs: {answer: {}}}\n";

/// A registered project with the job.
struct Ground {
    home: Environment,
    id: String,
}

impl Ground {
    fn new() -> Self {
        let home = environment();
        let job = home.write("p/.deepwork/jobs/solo/job.yml", JOB).expect("written");
        let root = job.ancestors().nth(4).expect("a folder").display().to_string();
        let added = home.run(&["projects", "add", &root, "--kind", "guided"]).expect("it runs");
        assert_eq!(added.code, 0, "{added:?}");
        let listed = home.run(&["projects", "list", "--json"]).expect("it runs").json().to_string();
        let id = listed.split("\"projectId\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id");
        Self { id: id.to_owned(), home }
    }

    fn serve(&self) -> Client {
        Client::start(&self.home, &["--workflow-mcp", &self.id], ClientOptions::default())
    }

    /// Ids with states, the newest first.
    fn runs(&self) -> Vec<(String, String)> {
        let text = self.home.run(&["runs", "list", "--json"]).expect("it runs").json().to_string();
        let value = |part: &str, name: &str| {
            let rest = part.split(&format!("\"{name}\":\"")).nth(1).expect("there");
            rest.split('"').next().expect("a value").to_owned()
        };
        text.split("\"runId\":\"")
            .skip(1)
            .map(|part| (part.split('"').next().expect("an id").to_owned(), value(part, "status")))
            .collect()
    }

    fn show(&self, run: &str) -> Value {
        self.home.run(&["runs", "show", run, "--json"]).expect("it runs").json()
    }
}

fn start(session: &str) -> Value {
    json!({ "goal": "g", "job_name": "solo", "workflow_name": "main", "session_id": session })
}

fn finish(client: &mut Client, session: &str) -> Value {
    let arguments = json!({ "outputs": { "answer": "x" }, "session_id": session });
    client.call("finished_step", arguments).result()["structuredContent"]["status"].clone()
}

fn states(runs: &[(String, String)]) -> Vec<&str> {
    runs.iter().map(|(_, state)| state.as_str()).collect()
}

#[test]
fn two_servers_on_one_folder_write_one_history() {
    let ground = Ground::new();
    let (mut one, mut other) = (ground.serve(), ground.serve());
    one.call("start_workflow", start("s")).result();
    assert_eq!(finish(&mut one, "s"), "next_step");
    other.call("go_to_step", json!({ "step_id": "think", "session_id": "s" })).result();
    assert_eq!(finish(&mut one, "s"), "next_step");
    assert_eq!(finish(&mut other, "s"), "workflow_complete");
    let runs = ground.runs();
    assert_eq!(states(&runs), ["success"]);
    // A living one goes on with what another began, and one that comes later with what both left.
    one.call("start_workflow", start("t")).result();
    one.kill();
    assert_eq!(finish(&mut other, "t"), "next_step");
    assert_eq!(states(&ground.runs()), ["running", "success"]);
    other.kill();
    let mut third = ground.serve();
    assert_eq!(finish(&mut third, "t"), "workflow_complete");
    assert_eq!(states(&ground.runs()), ["success", "success"]);
    assert_eq!(third.finish().0, 0);
    ground.home.assert_nothing_left();
}

#[test]
fn a_workflow_started_during_a_step_is_below_its_run() {
    let ground = Ground::new();
    let mut client = ground.serve();
    for _ in 0..2 {
        client.call("start_workflow", start("s")).result();
    }
    let mut agents = start("s");
    agents["agent_id"] = json!("a");
    client.call("start_workflow", agents).result();
    let runs = ground.runs();
    let parents: Vec<Value> = runs.iter().map(|(id, _)| ground.show(id)["parentRunId"].clone()).collect();
    assert_eq!(parents, [json!(runs[1].0), json!(runs[2].0), Value::Null]);
    assert_eq!(client.finish().0, 0);
    ground.home.assert_nothing_left();
}

#[test]
fn an_end_that_was_not_recorded_is_recorded_by_the_next_server() {
    let ground = Ground::new();
    let mut client = ground.serve();
    client.call("start_workflow", start("s")).result();
    client.kill();
    // What a server leaves that is killed after the session's state was written, and before the history was.
    let file = ground.home.home().join("p/.deepwork/tmp/sessions/claude/session-s/state.json");
    let mut state: Value = serde_json::from_slice(&std::fs::read(&file).expect("read")).expect("JSON");
    let mut run = state["workflow_stack"].as_array_mut().and_then(Vec::pop).expect("a run");
    (run["status"], run["abort_reason"]) = (json!("aborted"), json!("changed my mind"));
    state["completed_workflows"] = json!([run]);
    std::fs::write(&file, state.to_string()).expect("written");
    assert_eq!(states(&ground.runs()), ["interrupted"]);
    let client = ground.serve();
    let deadline = Instant::now() + Duration::from_secs(60);
    while states(&ground.runs()) != ["cancelled"] {
        assert!(Instant::now() < deadline, "{:?}", ground.runs());
    }
    assert!(ground.show(&ground.runs()[0].0).to_string().contains("changed my mind"));
    assert_eq!(client.finish().0, 0);
}

#[test]
fn a_person_cancels_a_workflow_in_its_session_and_in_the_history() {
    let ground = Ground::new();
    let mut client = ground.serve();
    client.call("start_workflow", start("s")).result();
    client.call("start_workflow", start("s")).result();
    let outer = ground.runs()[1].0.clone();
    let refused = |arguments: &[&str]| {
        let finished = ground.home.run(arguments).expect("it runs");
        assert_eq!(finished.code, 2, "{finished:?}");
        for part in ["guided workflow", "finished_step", "start_workflow", "`s`"] {
            assert!(finished.stderr.contains(part), "{part}: {finished:?}");
        }
    };
    refused(&["runs", "resume", &outer]);
    refused(&["runs", "resume", "--restart", &outer]);
    // While a server lives: what was on top goes with it, and the server sees it at its next call.
    let done = ground.home.run(&["runs", "cancel", &outer]).expect("it runs");
    assert!(done.code == 0 && done.stderr.contains("is cancelled"), "{done:?}");
    assert_eq!(states(&ground.runs()), ["cancelled", "cancelled"]);
    let gone = client.call("finished_step", json!({ "outputs": { "answer": "x" }, "session_id": "s" })).result();
    assert!(gone["isError"] == true && gone.to_string().contains("no workflow is active"), "{gone}");
    let again = ground.home.run(&["runs", "cancel", &outer]).expect("it runs");
    assert!(again.stderr.contains("has ended already"), "{again:?}");
    // While none lives.
    client.call("start_workflow", start("t")).result();
    assert_eq!(client.finish().0, 0);
    let last = ground.runs()[0].0.clone();
    assert_eq!(ground.home.run(&["runs", "cancel", &last]).expect("it runs").code, 0);
    let mut client = ground.serve();
    let gone = client.call("finished_step", json!({ "outputs": { "answer": "x" }, "session_id": "t" })).result();
    assert_eq!(gone["isError"], true, "{gone}");
    assert_eq!(states(&ground.runs()), ["cancelled"; 3]);
    assert_eq!(ground.show(&last)["cancelReason"], ground.show(&outer)["cancelReason"]);
    assert_eq!(client.finish().0, 0);
    ground.home.assert_nothing_left();
}

/// A repository may bring a file that names another run.
#[test]
fn a_file_that_names_a_foreign_run_is_not_believed() {
    let ground = Ground::new();
    let mut client = ground.serve();
    client.call("start_workflow", start("s")).result();
    client.call("start_workflow", start("t")).result();
    client.kill();
    let folder = ground.home.home().join("p/.deepwork/tmp/history");
    let marks: Vec<_> = std::fs::read_dir(&folder).expect("listed").map(|entry| entry.expect("one").path()).collect();
    let text = |path: &Path| std::fs::read_to_string(path).expect("read");
    let (one, other) = (text(&marks[0]), text(&marks[1]));
    std::fs::write(&marks[0], other).expect("written");
    std::fs::write(&marks[1], one).expect("written");
    let mut client = ground.serve();
    for session in ["s", "t"] {
        assert_eq!(finish(&mut client, session), "next_step");
    }
    // Each began a run of its own.
    assert_eq!(ground.runs().len(), 4);
    assert_eq!(client.finish().0, 0);
}
