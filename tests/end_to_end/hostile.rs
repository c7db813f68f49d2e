//! Runs that wait, under attack: forged and replayed states, people who race each other, processes that die in between.

use std::time::{Duration, Instant};

use process::proc_info;
use process::tree::{self, Signal};
use serde_json::{Value, json};
use store::{NewAnswer, RunFilter, Store, StoreOptions};
use workflow_code_tests::{Client, ClientOptions, Environment, Finished, Opening, executable};

use crate::fixtures::{self, LEGACY, MODERN};

/// Asks, leaves a trace outside once it is answered, and gives the answer back.
const ASKS: &str = "export default async (input, flow) => {\n\
     const { word } = await flow.form({ title: 'T', fields: { word: { type: 'string', required: true } } });\n\
     await flow.exec('/bin/sh', ['-c', 'echo once >> effect']);\n\
     return word;\n};\nexport const entrypoint = { params: { n: { type: 'integer' } } };\n";

fn project(environment: &Environment) -> String {
    let entrypoints = json!({ "main": "./main.workflow.ts", "other": "./main.workflow.ts" });
    let path = fixtures::project(environment, entrypoints, &[("main.workflow.ts", ASKS)]);
    path.to_string_lossy().into_owned()
}

fn client(environment: &Environment, project: &str, opening: Opening, answers: Vec<Value>) -> Client {
    let arguments = ["mcp", project, "--allow-exec", "*"];
    let options = ClientOptions { opening, capabilities: json!({ "elicitation": { "form": {} } }), answers };
    Client::start(environment, &arguments, options)
}

fn store(environment: &Environment) -> Store {
    Store::new(environment.home().join(".workflow-code/history.db"), StoreOptions::default())
}

fn only_run(environment: &Environment) -> store::RunRecord {
    let store = store(environment);
    let all = store.list_runs(&RunFilter::default(), None, 10).unwrap();
    assert_eq!(all.len(), 1, "{all:?}");
    store.show(&all[0].run_id).unwrap()
}

fn effects(project: &str) -> usize {
    std::fs::read_to_string(format!("{project}/effect")).map_or(0, |text| text.lines().count())
}

fn resume(environment: &Environment, run: &str, options: &[&str]) -> Finished {
    let data = environment.home().join(".workflow-code").to_string_lossy().into_owned();
    let arguments: Vec<&str> =
        ["runs", "resume", run, "--data-dir", &data].into_iter().chain(options.iter().copied()).collect();
    environment.run(&arguments).unwrap()
}

/// The call that answers a question.
fn retry(result: &Value, word: &str) -> Value {
    let key = result["inputRequests"].as_object().and_then(|asks| asks.keys().next()).expect("a question").clone();
    let response = json!({ "action": "accept", "content": { "word": word } });
    json!({
        "name": "main", "arguments": { "n": 1 }, "requestState": result["requestState"],
        "inputResponses": { key: response },
    })
}

#[test]
fn a_forged_state_is_refused_and_changes_nothing() {
    let environment = fixtures::environment();
    let folder = project(&environment);
    let mut asking = client(&environment, &folder, MODERN, Vec::new());
    let asked = asking.call("main", json!({ "n": 1 })).result();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let honest = retry(&asked, "honest");
    let state = asked["requestState"].as_str().unwrap().to_owned();
    let mut forged: Vec<Value> = Vec::new();
    let mut with = |state: String| {
        let mut call = honest.clone();
        call["requestState"] = state.into();
        forged.push(call);
    };
    // Each part of it, and its ends.
    for place in (0..state.len()).step_by(7).chain([state.len() - 1]) {
        let mut bytes = state.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        with(String::from_utf8(bytes).unwrap());
    }
    with(state[..state.len() / 2].to_owned());
    with(format!("{state}{state}"));
    with(String::new());
    with("e30".into());
    let mut other_arguments = honest.clone();
    other_arguments["arguments"] = json!({ "n": 2 });
    forged.push(other_arguments);
    let mut other_tool = honest.clone();
    other_tool["name"] = json!("other");
    forged.push(other_tool);
    // Sealed by another installation, for the same project and the same call.
    let elsewhere = fixtures::environment();
    let their_folder = project(&elsewhere);
    let mut theirs = client(&elsewhere, &their_folder, MODERN, Vec::new());
    let their_state = theirs.call("main", json!({ "n": 1 })).result()["requestState"].clone();
    let mut stranger = honest.clone();
    stranger["requestState"] = their_state;
    forged.push(stranger);
    theirs.finish();
    for call in forged {
        let error = asking.request("tools/call", call.clone()).error();
        assert_eq!(error["code"], -32602, "{call}: {error}");
        let record = only_run(&environment);
        assert!(record.pending().is_some() && record.summary.epoch <= 2, "{call}: {record:?}");
    }
    assert_eq!(effects(&folder), 0);
    let done = asking.request("tools/call", honest).result();
    assert_eq!(done["structuredContent"]["output"], "honest", "{done}");
    asking.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_state_that_is_used_again_gives_the_same_result_and_no_second_run() {
    let environment = fixtures::environment();
    let folder = project(&environment);
    let mut first = client(&environment, &folder, MODERN, Vec::new());
    let asked = first.call("main", json!({ "n": 1 })).result();
    first.finish();
    // Several new launchers are given it at the same moment, with different answers.
    let mut clients: Vec<Client> = (0..3).map(|_| client(&environment, &folder, MODERN, Vec::new())).collect();
    let calls: Vec<Value> = clients
        .iter_mut()
        .enumerate()
        .map(|(number, client)| client.ask("tools/call", retry(&asked, &format!("word{number}"))))
        .collect();
    let mut outputs: Vec<Value> = clients
        .iter_mut()
        .zip(&calls)
        .map(|(client, call)| client.wait(call).result()["structuredContent"].clone())
        .collect();
    // And later once more.
    let later = clients[0].request("tools/call", retry(&asked, "late")).result();
    outputs.push(later["structuredContent"].clone());
    let record = only_run(&environment);
    let said = record.questions[0].answer.as_ref().unwrap().content["word"].clone();
    for output in &outputs {
        assert_eq!((&output["status"], &output["output"]), (&json!("success"), &said), "{outputs:?}");
        assert_eq!(output["runId"], record.summary.run_id.as_str());
    }
    assert_eq!(effects(&folder), 1, "{outputs:?}");
    for client in clients {
        client.finish();
    }
    environment.assert_nothing_left();
}

#[test]
fn an_answer_that_races_another_one_is_used_or_refused_and_both_hear_the_end() {
    for delay in [0, 15, 40, 90] {
        let environment = fixtures::environment();
        let folder = project(&environment);
        let mut waiting = client(&environment, &folder, LEGACY, vec![Value::Null]);
        let call = waiting.ask("tools/call", json!({ "name": "main", "arguments": { "n": 1 } }));
        assert!(waiting.until(Duration::from_secs(30), |client| !client.elicited.is_empty()));
        let run = only_run(&environment).summary.run_id.to_string();
        // The client's answer and the one in the terminal, which withdraws the form, are under way together.
        let (client_result, terminal) = std::thread::scope(|scope| {
            let terminal = scope.spawn(|| resume(&environment, &run, &["--answer-json", r#"{"word": "terminal"}"#]));
            let store = store(&environment);
            let id = run.parse().unwrap();
            // As late as can be: the terminal is about to answer, or just has.
            let deadline = Instant::now() + Duration::from_millis(delay);
            while store.questions(&id).unwrap()[0].answer.is_none() && Instant::now() < deadline {}
            waiting.answer_form(&json!({ "action": "accept", "content": { "word": "client" } }));
            (waiting.wait(&call).result()["structuredContent"].clone(), terminal.join().unwrap())
        });
        let record = only_run(&environment);
        let said = record.questions[0].answer.as_ref().unwrap().content["word"].clone();
        assert_eq!((&client_result["status"], &client_result["output"]), (&json!("success"), &said), "{client_result}");
        // Had the client been first, the terminal hears of that, whether the run has ended or not.
        let late = terminal.code == 2 && terminal.stderr.contains("was answered by client at ");
        assert!(late || terminal.json()["output"] == said, "{}{}", terminal.stdout, terminal.stderr);
        assert_eq!(effects(&folder), 1);
        waiting.finish();
        environment.assert_nothing_left();
    }
}

#[test]
fn whoever_answers_and_dies_at_once_leaves_a_run_that_one_of_two_takes_up() {
    let environment = fixtures::environment();
    let folder = project(&environment);
    let begun = environment.run(&["run", &folder, "main", "--allow-exec", "*", "--n", "1"]).unwrap().json();
    let run = begun["runId"].as_str().unwrap();
    // What a process does that is killed between its answer and taking the run up.
    let answer =
        NewAnswer { action: model::AnswerAction::Accept, content: json!({ "word": "left" }), by: "cli".into() };
    store(&environment).answer(&run.parse().unwrap(), 0, &answer).unwrap();
    let both: Vec<Finished> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..2).map(|_| scope.spawn(|| resume(&environment, run, &[]))).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for finished in &both {
        assert_eq!(finished.json()["output"], "left", "{}{}", finished.stdout, finished.stderr);
    }
    assert_eq!(effects(&folder), 1);
    environment.assert_nothing_left();
}

#[test]
fn a_terminal_killed_at_any_moment_of_its_answer_loses_neither_run_nor_answer() {
    for delay in [0, 5, 10, 20, 40, 80, 120] {
        let environment = fixtures::environment();
        let folder = project(&environment);
        let begun = environment.run(&["run", &folder, "main", "--allow-exec", "*", "--n", "1"]).unwrap().json();
        let run = begun["runId"].as_str().unwrap();
        let data = environment.home().join(".workflow-code").to_string_lossy().into_owned();
        let arguments = ["runs", "resume", run, "--answer-json", r#"{"word": "one"}"#, "--data-dir", &data];
        let mut child = environment.start(executable(), &arguments).unwrap();
        std::thread::park_timeout(Duration::from_millis(delay));
        if let Some(facts) = proc_info::facts(child.id()) {
            tree::signal(facts, Signal::Kill);
        }
        child.wait().unwrap();
        environment.assert_nothing_left();
        let record = only_run(&environment);
        let options: &[&str] = match record.pending() {
            Some(question) if question.kind == model::InteractionKind::Approval => &["--deny"],
            Some(_) => &["--answer-json", r#"{"word": "two"}"#],
            None => &[],
        };
        let mut done = resume(&environment, run, options);
        if done.json()["status"] == "interaction_required" || done.json()["status"] == "waiting_for_input" {
            // The program may have run: that is asked, and once is enough.
            done = resume(&environment, run, &["--deny"]);
        }
        let record = only_run(&environment);
        let said = record.questions[0].answer.as_ref().unwrap().content["word"].clone();
        let ended = done.json();
        let denied = ended["error"]["code"] == "approval_denied";
        assert!(denied || ended["output"] == said, "after {delay} ms: {}{}", done.stdout, done.stderr);
        assert!(effects(&folder) <= 1, "after {delay} ms");
        environment.assert_nothing_left();
    }
}

#[test]
fn a_client_that_comes_back_after_its_server_was_ended_gets_its_run_to_the_end() {
    let environment = fixtures::environment();
    let source = ASKS.replace(
        "return word",
        "while (!(await flow.kv.get('go'))) await new Promise((done) => setTimeout(done, 20)); return word",
    );
    let path =
        fixtures::project(&environment, json!({ "main": "./main.workflow.ts" }), &[("main.workflow.ts", &source)]);
    let folder = path.to_string_lossy().into_owned();
    let mut first = client(&environment, &folder, MODERN, Vec::new());
    let asked = first.call("main", json!({ "n": 1 })).result();
    let answer = retry(&asked, "back");
    first.ask("tools/call", answer.clone());
    // The program is done, and that is recorded: the run asks for its key again and again.
    let deadline = Instant::now() + Duration::from_secs(30);
    let asks_for_its_key = || {
        let rows = store(&environment).journal(&only_run(&environment).summary.run_id).unwrap().rows;
        rows.iter().any(|row| row.payload.as_ref().is_some_and(|payload| payload["kind"] == "kv.get"))
    };
    while !asks_for_its_key() {
        assert!(Instant::now() < deadline, "it does not go on");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    // The client closes the connection in the middle of the run, starts the server anew and says the same again.
    first.finish();
    assert_eq!(only_run(&environment).cancel_reason(), Some(model::CancelReason::ClientGone));
    let uuid = only_run(&environment).project_uuid.unwrap();
    let kv = store::DataStore::new(&environment.home().join(".workflow-code/kv").join(uuid), StoreOptions::default());
    kv.kv_set("go", &json!(true)).unwrap();
    let mut second = client(&environment, &folder, MODERN, Vec::new());
    let result = second.request("tools/call", answer).result();
    assert_eq!(result["structuredContent"]["output"], "back", "{result}");
    assert_eq!(effects(&folder), 1);
    second.finish();
    environment.assert_nothing_left();
}
