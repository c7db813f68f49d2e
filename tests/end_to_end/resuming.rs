//! Runs that are taken up again when something went wrong: owners that die, people who answer at once, folders that move.

use std::path::Path;
use std::time::{Duration, Instant};

use process::proc_info;
use process::tree::{self, Signal};
use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Finished, executable};

use crate::fixtures::{self, history, run, script};

/// Takes a run up with these options.
fn resume(environment: &Environment, run_id: &str, options: &[&str]) -> Finished {
    let data = history(environment);
    let arguments: Vec<&str> =
        ["runs", "resume", run_id, "--data-dir", &data].into_iter().chain(options.iter().copied()).collect();
    run(environment, &arguments)
}

fn newest(environment: &Environment) -> String {
    let listed = run(environment, &["runs", "list", "--json", "--data-dir", &history(environment)]).json();
    listed[0]["runId"].as_str().unwrap().to_owned()
}

fn effects(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Starts a command, waits for its program's next effect, and kills it without a word.
fn killed_after_an_effect(environment: &Environment, arguments: &[&str], effect: &Path) {
    let before = effects(effect);
    let mut child = environment.start(executable(), arguments).unwrap();
    until("the program has begun", || effects(effect) > before);
    tree::signal(proc_info::facts(child.id()).unwrap(), Signal::Kill);
    child.wait().unwrap();
    environment.assert_nothing_left();
}

/// A program that does its work and then goes on for as long as there is a file `block`.
const PROGRAM: &str = "export default async (input, flow) => {\n\
     try { await flow.exec('/bin/sh', ['-c', 'echo done >> effect; while [ -e block ]; do sleep 0.02; done']); }\n\
     catch (error) { return error.code; }\n\
     return 'ran';\n};\n";

#[test]
fn a_program_that_may_have_run_is_run_again_only_with_leave_for_this_very_time() {
    let environment = fixtures::environment();
    let folder = script(&environment, PROGRAM);
    let (effect, block) = (Path::new(&folder).join("effect"), Path::new(&folder).join("block"));
    for leave in ["--deny", "--approve"] {
        std::fs::write(&block, "").unwrap();
        killed_after_an_effect(&environment, &["run", "--allow-exec", "*", &folder, "main"], &effect);
        let id = newest(&environment);
        let done = effects(&effect);
        let asked = resume(&environment, &id, &[]).json();
        assert_eq!(asked["status"], "interaction_required", "{asked}");
        assert_eq!(effects(&effect), done, "not run again unasked");
        if leave == "--deny" {
            std::fs::remove_file(&block).unwrap();
            let refused = resume(&environment, &id, &[leave]);
            assert_eq!(refused.json()["output"], "approval_denied", "{}{}", refused.stdout, refused.stderr);
            assert_eq!(effects(&effect), done);
            continue;
        }
        // Leave was given and used, and the program may have run again: that leave does not hold a third time.
        let data = history(&environment);
        killed_after_an_effect(&environment, &["runs", "resume", &id, "--data-dir", &data, leave], &effect);
        std::fs::remove_file(&block).unwrap();
        let again = resume(&environment, &id, &[]).json();
        assert_eq!((&again["status"], effects(&effect)), (&json!("interaction_required"), done + 1), "{again}");
        let ran = resume(&environment, &id, &[leave]);
        assert_eq!((&ran.json()["output"], effects(&effect)), (&json!("ran"), done + 2), "{}", ran.stderr);
    }
    environment.assert_nothing_left();
}

const TWO_FORMS: &str = "export default async (input, flow) => {\n\
     const ask = (title, type) => flow.form({ title, fields: { it: { type, required: true } } });\n\
     const first = await ask('First', 'secret');\n\
     const second = await ask('Second', 'string');\n\
     console.log('it was ' + first.it);\n\
     return first.it + ' ' + second.it;\n};\n";

#[test]
fn a_secret_answer_stays_masked_however_often_the_run_is_taken_up() {
    let environment = fixtures::environment();
    let folder = script(&environment, TWO_FORMS);
    let begun = run(&environment, &["run", &folder, "main"]).json();
    let id = begun["runId"].as_str().unwrap();
    let second = resume(&environment, id, &["--answer-json", r#"{"it": "hush-hush-5678"}"#]).json();
    assert_eq!(second["pending"]["title"], "Second", "{second}");
    let done = resume(&environment, id, &["--answer-json", r#"{"it": "end"}"#]);
    assert_eq!(done.json()["output"], "••• end", "{}", done.stderr);
    let data = history(&environment);
    let shown = run(&environment, &["runs", "show", id, "--json", "--data-dir", &data]);
    assert_eq!(shown.json()["stdout"], "it was •••\n");
    let found = environment.run_program("grep", &["-rlF", "hush-hush-5678", &data], b"").unwrap();
    assert_eq!(found.stdout, "", "nothing of it is kept once the run has ended");
    environment.assert_nothing_left();
}

#[test]
fn of_two_who_answer_at_once_one_is_heard_and_none_hangs() {
    let environment = fixtures::environment();
    let folder = script(&environment, TWO_FORMS);
    let begun = run(&environment, &["run", &folder, "main"]).json();
    let id = begun["runId"].as_str().unwrap();
    let answers = [r#"{"it": "answer-of-one"}"#, r#"{"it": "answer-of-two"}"#];
    let both: Vec<Finished> = std::thread::scope(|scope| {
        let started: Vec<_> =
            answers.iter().map(|answer| scope.spawn(|| resume(&environment, id, &["--answer-json", answer]))).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut came_on = 0;
    for finished in &both {
        let result = finished.json();
        let second = result["pending"]["title"] == "Second";
        // On a busy machine one of them may begin so late that the next question is asked already.
        let late = finished.code == 2 && finished.stderr.contains("question 0 (\"First\")");
        assert!(second || late || result["status"] == "success", "{}{}", finished.stdout, finished.stderr);
        came_on += usize::from(second);
    }
    assert!(came_on > 0, "{both:?}");
    let data = history(&environment);
    let shown = run(&environment, &["runs", "show", id, "--json", "--data-dir", &data]).json();
    assert_eq!(shown["interactions"].as_array().unwrap().len(), 2, "one first question, and one second: {shown}");
    environment.assert_nothing_left();
}

const TWO_APPROVALS: &str = "export default async (input, flow) => {\n\
     const first = await flow.approve({ tool: 'one', title: 'First', args: {} });\n\
     const second = await flow.approve({ tool: 'two', title: 'Second', args: {} });\n\
     return [first, second];\n};\n";

#[test]
fn of_three_who_approve_at_once_one_approves_one_question_once() {
    let environment = fixtures::environment();
    let folder = script(&environment, TWO_APPROVALS);
    let begun = run(&environment, &["run", &folder, "main"]).json();
    let id = begun["runId"].as_str().unwrap();
    let options = ["--approve", "--question", "0"];
    let all: Vec<Finished> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..3).map(|_| scope.spawn(|| resume(&environment, id, &options))).collect();
        started.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let (won, lost): (Vec<&Finished>, Vec<&Finished>) = all.iter().partition(|one| one.code == 1);
    assert_eq!((won.len(), lost.len()), (1, 2), "{all:?}");
    assert_eq!(won[0].json()["pending"]["title"], "Second", "{}{}", won[0].stdout, won[0].stderr);
    for said in ["question 0: First\n", "\nquestion 0 is approved\n"] {
        assert!(won[0].stderr.contains(said), "{}", won[0].stderr);
    }
    for loser in lost {
        assert_eq!(loser.code, 2, "{}", loser.stderr);
        assert!(loser.stderr.contains("question 0 (\"First\")"), "{}", loser.stderr);
        assert!(loser.stderr.contains("was answered by cli at "), "{}", loser.stderr);
    }
    // However late somebody comes, the message is the same one.
    let late = resume(&environment, id, &options);
    assert_eq!((late.code, late.stdout.as_str()), (2, ""), "{}", late.stderr);
    assert!(late.stderr.contains("was answered by cli at "), "{}", late.stderr);
    assert!(late.stderr.contains("question 1 (\"Second\") is open now"), "{}", late.stderr);
    let done = resume(&environment, id, &["--deny", "--question", "1"]);
    assert_eq!(done.json()["output"], json!([true, false]), "{}{}", done.stdout, done.stderr);
    let ended = resume(&environment, id, &["--approve"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("question 1 (\"Second\")"), "{}", ended.stderr);
    assert!(ended.stderr.contains("The run is `success` now"), "{}", ended.stderr);
    environment.assert_nothing_left();
}

#[test]
fn an_answer_to_a_run_whose_launcher_has_just_died_is_used() {
    let environment = fixtures::environment();
    let folder = script(&environment, TWO_FORMS.replace("'secret'", "'string'").as_str());
    let options = ClientOptions {
        capabilities: json!({ "elicitation": {} }),
        answers: vec![Value::Null],
        ..ClientOptions::default()
    };
    let mut client = Client::start(&environment, &["mcp", &folder], options);
    client.ask("tools/call", json!({ "name": "main", "arguments": {} }));
    assert!(client.until(Duration::from_secs(30), |client| !client.elicited.is_empty()));
    let id = newest(&environment);
    client.kill();
    let second = resume(&environment, &id, &["--answer-json", r#"{"it": "one"}"#]).json();
    assert_eq!(second["pending"]["title"], "Second", "{second}");
    let done = resume(&environment, &id, &["--answer-json", r#"{"it": "two"}"#]).json();
    assert_eq!((&done["runId"], &done["output"]), (&json!(id), &json!("one two")), "{done}");
    environment.assert_nothing_left();
}

#[test]
fn a_run_goes_on_after_its_project_has_moved() {
    let environment = fixtures::environment();
    let folder = script(&environment, TWO_FORMS.replace("'secret'", "'string'").as_str());
    let added = run(&environment, &["projects", "add", &folder, "--json"]).json();
    let project = added[0]["projectId"].as_str().unwrap();
    let begun = run(&environment, &["run", project, "main"]).json();
    let id = begun["runId"].as_str().unwrap();
    let moved = environment.home().join("elsewhere");
    std::fs::rename(&folder, &moved).unwrap();
    let moved = moved.to_string_lossy().into_owned();
    let lost = run(&environment, &["runs", "resume", id, "--answer-json", r#"{"it": "one"}"#]);
    assert_eq!(lost.code, 3, "{}{}", lost.stdout, lost.stderr);
    run(&environment, &["projects", "add", &moved]);
    let second = run(&environment, &["runs", "resume", id, "--answer-json", r#"{"it": "one"}"#]).json();
    assert_eq!(second["pending"]["title"], "Second", "{second}");
    let done = run(&environment, &["runs", "resume", id, "--answer-json", r#"{"it": "two"}"#]).json();
    assert_eq!(done["output"], "one two", "{done}");
    environment.assert_nothing_left();
}

#[test]
fn a_run_of_a_folder_that_nobody_registered_goes_on_after_that_was_moved() {
    let environment = fixtures::environment();
    let folder = script(&environment, TWO_FORMS.replace("'secret'", "'string'").as_str());
    let begun = run(&environment, &["run", &folder, "main"]).json();
    let id = begun["runId"].as_str().unwrap();
    let moved = environment.home().join("else where");
    std::fs::rename(&folder, &moved).unwrap();
    let moved = moved.to_string_lossy().into_owned();
    let one = r#"{"it": "one"}"#;
    let lost = resume(&environment, id, &["--answer-json", one]);
    assert_eq!(lost.code, 3, "{}{}", lost.stdout, lost.stderr);
    assert!(lost.stderr.contains(&format!("runs resume {id} --project-dir DIR")), "{}", lost.stderr);
    // Another project stands in its place now: the run is not handed to it.
    let uuid = "33333333-3333-4333-8333-333333333333";
    fixtures::project_at(
        &environment,
        "project",
        uuid,
        json!({ "main": "./main.workflow.ts" }),
        &[("main.workflow.ts", PROGRAM)],
    );
    let strange = resume(&environment, id, &["--answer-json", one]);
    assert_eq!(strange.code, 3, "{}{}", strange.stdout, strange.stderr);
    assert!(strange.stderr.contains(uuid), "{}", strange.stderr);
    let wrong = resume(&environment, id, &["--answer-json", one, "--project-dir", &folder]);
    assert!(wrong.code == 3 && wrong.stderr.contains(uuid), "{}{}", wrong.stdout, wrong.stderr);
    let second = resume(&environment, id, &["--answer-json", one, "--project-dir", &moved]).json();
    assert_eq!(second["pending"]["title"], "Second", "nothing was answered before: {second}");
    // Whoever stands in the folder need not name it.
    let data = history(&environment);
    let script = "cd \"$1\" && exec \"$2\" runs resume \"$3\" --answer-json '{\"it\": \"two\"}' --data-dir \"$4\"";
    let program = executable().to_string_lossy().into_owned();
    let done = environment.run_program("/bin/sh", &["-c", script, "sh", &moved, &program, id, &data], b"").unwrap();
    assert_eq!(done.json()["output"], "one two", "{}{}", done.stdout, done.stderr);
    environment.assert_nothing_left();
}

#[test]
fn a_run_of_a_loose_file_is_taken_up_again() {
    let environment = fixtures::environment();
    let source = TWO_FORMS.replace("'secret'", "'string'");
    let file = environment.write("loose/ask.ts", source).unwrap().to_string_lossy().into_owned();
    let begun = run(&environment, &["run", &file]).json();
    assert_eq!(begun["status"], "interaction_required", "{begun}");
    let id = begun["runId"].as_str().unwrap();
    let second = resume(&environment, id, &["--answer-json", r#"{"it": "one"}"#]);
    assert_eq!(second.json()["pending"]["title"], "Second", "{}{}", second.stdout, second.stderr);
    let moved = environment.home().join("moved");
    std::fs::rename(environment.home().join("loose"), &moved).unwrap();
    let moved = moved.to_string_lossy().into_owned();
    let done = resume(&environment, id, &["--answer-json", r#"{"it": "two"}"#, "--project-dir", &moved]);
    assert_eq!(done.json()["output"], "one two", "{}{}", done.stdout, done.stderr);
    environment.assert_nothing_left();
}
