//! Runs that wait for a person: what the recorded cases do not show.

use std::path::Path;

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Finished, executable};

use crate::fixtures::{LEGACY, MODERN, UUID as PARENT, environment, history, run, script, write};

const CHILD: &str = "22222222-2222-4222-8222-222222222222";

/// A client that can show forms, and what it answers.
fn with_forms(opening: workflow_code_tests::Opening, answers: Vec<Value>) -> ClientOptions {
    ClientOptions { opening, capabilities: json!({ "elicitation": { "form": {} } }), answers }
}

/// Two projects that declare each other; the other one's `ask` asks for a word.
fn family(environment: &Environment, source: &str) -> (String, String) {
    let main = script(environment, source);
    let declared = json!({
        "name": "parent", "id": PARENT, "projectType": "workflow",
        "workflow": {
            "entrypoints": { "main": "./main.workflow.ts" },
            "relatedProjects": { "style": { "id": CHILD } },
        },
    });
    write(environment, "project/package.json", &declared.to_string());
    let other = json!({
        "name": "child", "id": CHILD, "projectType": "workflow",
        "workflow": {
            "entrypoints": { "ask": "./ask.workflow.ts" },
            "relatedProjects": { "parent": { "id": PARENT } },
        },
    });
    write(environment, "child/package.json", &other.to_string());
    let ask = "export default async (input, flow) => {\n\
        const { word } = await flow.form({ title: 'Child', fields: { word: { type: 'string', required: true } } });\n\
        return word + '!';\n};\n";
    write(environment, "child/ask.workflow.ts", ask);
    (main, environment.home().join("child").to_string_lossy().into_owned())
}

/// The newest run of an entrypoint.
fn newest(environment: &Environment, entrypoint: &str) -> Value {
    let listed = run(environment, &["runs", "list", "--json", "--data-dir", &history(environment)]).json();
    let all = listed.as_array().expect("a list").clone();
    all.into_iter().find(|one| one["entrypointId"] == entrypoint).expect("it was recorded")
}

fn id(run: &Value) -> &str {
    run["runId"].as_str().expect("an id")
}

fn effects(path: &Path) -> usize {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn a_related_run_that_asks_is_answered_through_its_parent() {
    let environment = environment();
    let (main, child) = family(
        &environment,
        "export default async (input, flow) => ({ said: await flow.related('style').run('ask', {}) });",
    );
    let bound = format!("style={child}");
    let begun = run(&environment, &["run", &main, "main", "--related-project", &bound]);
    assert_eq!(begun.code, 1, "{}", begun.stderr);
    let begun = begun.json();
    let asking = newest(&environment, "ask");
    assert_eq!(begun["pending"]["childRunId"], asking["runId"]);
    assert_eq!(asking["status"], "waiting_for_input");
    assert_eq!(asking["parentRunId"], begun["runId"]);
    let data = history(&environment);
    let done =
        run(&environment, &["runs", "resume", id(&begun), "--answer-json", r#"{"word": "yes"}"#, "--data-dir", &data]);
    assert_eq!(done.json()["output"], json!({ "said": "yes!" }), "{}{}", done.stdout, done.stderr);
    assert_eq!(newest(&environment, "ask")["status"], "success");
    environment.assert_nothing_left();
}

#[test]
fn a_related_run_that_is_answered_itself_lets_its_parent_go_on() {
    let environment = environment();
    let (main, child) = family(
        &environment,
        "export default async (input, flow) => ({ said: await flow.related('style').run('ask', {}) });",
    );
    let bound = format!("style={child}");
    let begun = run(&environment, &["run", &main, "main", "--related-project", &bound]).json();
    let data = history(&environment);
    let asking = newest(&environment, "ask");
    let own =
        run(&environment, &["runs", "resume", id(&asking), "--answer-json", r#"{"word": "own"}"#, "--data-dir", &data]);
    assert_eq!(own.json()["output"], "own!", "{}", own.stderr);
    assert!(own.stderr.contains(id(&begun)), "it says what goes on: {}", own.stderr);
    assert_eq!(newest(&environment, "main")["status"], "success", "{}", own.stderr);
    let done = run(&environment, &["runs", "resume", id(&begun), "--data-dir", &data]);
    assert_eq!(done.json()["output"], json!({ "said": "own!" }), "{}{}", done.stdout, done.stderr);
    environment.assert_nothing_left();
}

const FOR_A_WORD: &str =
    "export default async (input, flow) => ({ said: await flow.related('style').run('ask', {}) });";

#[test]
fn a_call_whose_related_run_is_answered_itself_gets_its_result() {
    let environment = environment();
    let (main, child) = family(&environment, FOR_A_WORD);
    let arguments = ["mcp".to_owned(), main, "--related-project".to_owned(), format!("style={child}")];
    let unanswered = vec![Value::Null; 8];
    let mut client = Client::start(&environment, &arguments, with_forms(LEGACY, unanswered));
    let data = history(&environment);
    for round in 1..=8 {
        let call = client.ask("tools/call", json!({ "name": "main", "arguments": {} }));
        assert!(client.until(std::time::Duration::from_secs(20), |client| client.elicited.len() == round));
        let asking = newest(&environment, "ask");
        let answer = ["runs", "resume", id(&asking), "--answer-json", r#"{"word": "own"}"#, "--data-dir", &data];
        assert_eq!(run(&environment, &answer).json()["output"], "own!");
        let result = client.wait(&call).result();
        assert_eq!(result["structuredContent"]["output"], json!({ "said": "own!" }), "{result}");
    }
    client.finish();
    environment.assert_nothing_left();
}

#[test]
fn neither_half_of_a_waiting_pair_stays_behind_when_the_other_is_cancelled() {
    let environment = environment();
    let (main, child) = family(&environment, FOR_A_WORD);
    let bound = format!("style={child}");
    let data = history(&environment);
    let parent = run(&environment, &["run", &main, "main", "--related-project", &bound]).json();
    assert_eq!(run(&environment, &["runs", "cancel", id(&parent), "--data-dir", &data]).code, 0);
    assert_eq!(newest(&environment, "ask")["status"], "cancelled");

    let parent = run(&environment, &["run", &main, "main", "--related-project", &bound]).json();
    let asking = newest(&environment, "ask");
    assert_eq!(run(&environment, &["runs", "cancel", id(&asking), "--data-dir", &data]).code, 0);
    let stands = run(&environment, &["runs", "wait", id(&parent), "--data-dir", &data]).json();
    assert_eq!(stands["status"], "interrupted", "{stands}");
    let why = stands["error"]["message"].as_str().expect("it says why");
    assert!(why.contains(id(&asking)), "{why}");
    let done = run(&environment, &["runs", "resume", id(&parent), "--data-dir", &data]).json();
    assert_eq!(done["error"]["code"], "script_error", "the script sees that its related run was cancelled: {done}");
    environment.assert_nothing_left();
}

#[test]
fn a_related_run_hands_up_its_output_and_records_keep_it_masked() {
    let environment = environment();
    let (main, child) = family(
        &environment,
        "export default async (input, flow) => {\n\
            const key = await flow.related('style').run('ask', {});\n\
            await flow.form({ title: 'Own', fields: {} });\n\
            console.log(key);\n\
            return { length: key.length, key };\n};",
    );
    write(&environment, "child/.env", "KEY=hush-hush-12\n");
    let ask = "export default async (input, flow) => {\n\
        await flow.form({ title: 'Child', fields: {} });\n\
        return await flow.secret('KEY');\n};\n";
    write(&environment, "child/ask.workflow.ts", ask);
    let data = history(&environment);
    let bound = format!("style={child}");
    let parent = run(&environment, &["run", &main, "main", "--related-project", &bound]).json();
    let asking = newest(&environment, "ask");
    let resume =
        |run_id: &str| run(&environment, &["runs", "resume", run_id, "--answer-json", "{}", "--data-dir", &data]);
    assert_eq!(resume(id(&asking)).json()["output"], "•••");
    let done = resume(id(&parent)).json();
    assert_eq!(done["output"], json!({ "length": 12, "key": "•••" }), "{done}");
    let shown = run(&environment, &["runs", "show", id(&parent), "--json", "--data-dir", &data]).stdout;
    assert!(!shown.contains("hush-hush-12") && shown.contains("•••"), "{shown}");
    environment.assert_nothing_left();
}

#[test]
fn what_was_told_before_the_first_question_is_told_once() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => {\n\
            console.log('first');\n\
            await flow.form({ title: 'A', fields: {} });\n\
            console.log('second');\n\
            await flow.form({ title: 'B', fields: {} });\n\
            console.log('third');\n\
            return 1;\n};",
    );
    let data = history(&environment);
    let begun = run(&environment, &["run", &main, "main"]).json();
    for _ in 0..2 {
        run(&environment, &["runs", "resume", id(&begun), "--answer-json", "{}", "--data-dir", &data]);
    }
    let shown = run(&environment, &["runs", "show", id(&begun), "--json", "--data-dir", &data]).json();
    assert_eq!((&shown["status"], &shown["stdout"]), (&json!("success"), &json!("first\nsecond\nthird\n")));
    environment.assert_nothing_left();
}

#[test]
fn a_script_need_not_wait_for_what_it_asks() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => {\n\
            flow.form({ title: 'T', fields: {} }).catch(() => {});\n\
            await new Promise((done) => setTimeout(done, 300));\n\
            return 'done';\n};",
    );
    let mut client = Client::start(&environment, &["mcp".to_owned(), main], with_forms(LEGACY, vec![Value::Null]));
    let result = client.call("main", json!({})).result();
    assert_eq!(result["structuredContent"]["output"], "done", "{result}");
    client.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_related_run_s_form_reaches_the_client_of_the_parent() {
    let environment = environment();
    let (main, child) = family(
        &environment,
        "export default async (input, flow) => ({ said: await flow.related('style').run('ask', {}) });",
    );
    let arguments = ["mcp".to_owned(), main, "--related-project".to_owned(), format!("style={child}")];
    let answers = vec![json!({ "action": "accept", "content": { "word": "client" } })];
    let mut client = Client::start(&environment, &arguments, with_forms(LEGACY, answers));
    let result = client.call("main", json!({})).result();
    assert_eq!(result["structuredContent"]["output"], json!({ "said": "client!" }), "{result}");
    assert_eq!(client.elicited.len(), 1);
    client.finish();
    environment.assert_nothing_left();
}

const EXEC: &str = "export default async (input, flow) => {\n\
    const done = await flow.exec('sh', ['-c', 'echo once >> effect; echo said']);\n\
    return { code: done.exitCode, out: done.stdout };\n};\n";

#[test]
fn a_program_runs_when_a_person_gives_leave_and_only_then() {
    let environment = environment();
    let main = script(&environment, EXEC);
    let effect = Path::new(&main).join("effect");
    let answers = vec![json!({ "action": "accept", "content": { "approve": true } }), json!({ "action": "decline" })];
    let mut client = Client::start(&environment, &["mcp".to_owned(), main], with_forms(LEGACY, answers));
    let allowed = client.call("main", json!({})).result();
    assert_eq!(allowed["structuredContent"]["output"], json!({ "code": 0, "out": "said\n" }), "{allowed}");
    let message = client.elicited[0]["message"].as_str().expect("a message");
    assert!(message.contains(r#""sh" "-c" "echo once >> effect; echo said""#), "{message}");
    let refused = client.call("main", json!({})).result();
    assert_eq!(refused["structuredContent"]["error"]["code"], "approval_denied", "{refused}");
    assert_eq!(effects(&effect), 1);
    client.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_program_that_the_command_line_allows_is_not_asked_about() {
    let environment = environment();
    let main = script(&environment, EXEC);
    let done = run(&environment, &["run", &main, "main", "--allow-exec", "*"]);
    assert_eq!(done.json()["output"]["code"], 0, "{}{}", done.stdout, done.stderr);
    let other = run(&environment, &["run", &main, "main", "--allow-exec", "git *"]);
    assert_eq!(other.json()["status"], "interaction_required");
    environment.assert_nothing_left();
}

#[test]
fn what_a_call_sets_itself_is_shown_and_asked_about() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => {\n\
         const done = await flow.exec('sh', ['-s', 'a\\u202eb'], { env: { PATH: '/evil:/usr/bin:/bin' }, stdin: 'echo read' });\n\
         return done.stdout;\n};\n",
    );
    let arguments = ["mcp".to_owned(), main, "--allow-exec".to_owned(), "sh *".to_owned()];
    let answers = vec![json!({ "action": "accept", "content": { "approve": true } })];
    let mut client = Client::start(&environment, &arguments, with_forms(LEGACY, answers));
    let allowed = client.call("main", json!({})).result();
    assert_eq!(allowed["structuredContent"]["output"], "read\n", "{allowed}");
    let message = client.elicited[0]["message"].as_str().expect("a message");
    for shown in ["PATH=\"/evil:/usr/bin:/bin\"", "\"echo read\"", "\"a\\u202eb\""] {
        assert!(message.contains(shown), "{shown} in {message}");
    }
    client.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_secret_in_a_question_is_masked_and_still_chosen() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => {\n\
         const key = await flow.secret('KEY');\n\
         flow.phase('Phase ' + key);\n\
         flow.progress(1, 2, 'with ' + key);\n\
         const { pick, more } = await flow.form({ title: 'Use ' + key, message: 'It is ' + key, fields: {\n\
         pick: { type: 'string', options: ['a-' + key, 'b-' + key], required: true },\n\
         more: { type: 'string', default: 'more ' + key } } });\n\
         await flow.files.create(key + '.txt', 'x');\n\
         return { pick: pick === 'b-' + key, more: more === 'more ' + key };\n};\n",
    );
    let package = json!({
        "name": "parent", "id": PARENT, "projectType": "workflow",
        "workflow": { "entrypoints": { "main": "./main.workflow.ts" }, "secrets": ["KEY"] },
    });
    write(&environment, "project/package.json", &package.to_string());
    let secret = "hush-hush-5678";
    write(&environment, "project/.env", &format!("KEY={secret}\n"));
    let answers = vec![json!({ "action": "accept", "content": { "pick": "b-•••" } })];
    let mut client = Client::start(&environment, &["mcp".to_owned(), main.clone()], with_forms(LEGACY, answers));
    let done = client.call("main", json!({})).result();
    assert!(!client.elicited[0].to_string().contains(secret), "{}", client.elicited[0]);
    assert_eq!(done["structuredContent"]["output"], json!({ "pick": true, "more": true }), "{done}");
    assert!(!done.to_string().contains(secret), "{done}");
    assert!(!client.notifications.iter().any(|one| one.to_string().contains(secret)));
    client.finish();
    // The same where nobody can be asked: in the result, and in what the terminal shows.
    let begun = run(&environment, &["run", &main, "main"]);
    assert!(!begun.stdout.contains(secret) && !begun.stderr.contains(secret), "{}{}", begun.stdout, begun.stderr);
    let begun = begun.json();
    let data = history(&environment);
    let answer = r#"{"pick": "b-•••"}"#;
    let done = run(&environment, &["runs", "resume", id(&begun), "--answer-json", answer, "--data-dir", &data]);
    assert_eq!(done.json()["output"], json!({ "pick": true, "more": true }), "{}", done.stderr);
    environment.assert_nothing_left();
}

#[test]
fn an_edited_project_does_not_change_a_run_that_waits() {
    let environment = environment();
    let source = |word: &str| {
        format!(
            "export default async (input, flow) => {{\n\
             const {{ name }} = await flow.form({{ title: 'T', fields: {{ name: {{ type: 'string', required: true }} }} }});\n\
             return '{word} ' + name;\n}};\n"
        )
    };
    let main = script(&environment, &source("before"));
    let begun = run(&environment, &["run", &main, "main"]).json();
    write(&environment, "project/main.workflow.ts", &source("after"));
    let data = history(&environment);
    let answered =
        run(&environment, &["runs", "resume", id(&begun), "--answer-json", r#"{"name": "Ada"}"#, "--data-dir", &data]);
    assert_eq!(answered.json()["output"], "before Ada", "{}", answered.stderr);
    let again = run(&environment, &["runs", "resume", id(&begun), "--restart", "--data-dir", &data]).json();
    assert_eq!(again["status"], "interaction_required");
    assert_ne!(again["runId"], begun["runId"]);
    environment.assert_nothing_left();
}

#[test]
fn a_secret_answer_is_used_and_kept_nowhere() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => {\n\
         const { key } = await flow.form({ title: 'Key', fields: { key: { type: 'secret', required: true } } });\n\
         console.log('it is ' + key);\n\
         return { length: key.length, leak: key };\n};\n",
    );
    let begun = run(&environment, &["run", &main, "main"]).json();
    let data = history(&environment);
    let done = run(
        &environment,
        &["runs", "resume", id(&begun), "--answer-json", r#"{"key": "hush-hush-5678"}"#, "--data-dir", &data],
    );
    assert_eq!(done.json()["output"], json!({ "length": 14, "leak": "•••" }), "{}", done.stderr);
    let shown = run(&environment, &["runs", "show", id(&begun), "--json", "--data-dir", &data]).json();
    assert_eq!(shown["interactions"][0]["answer"], json!({ "key": "•••" }));
    assert_eq!(shown["stdout"], "it is •••\n");
    let found = environment.run_program("grep", &["-rlF", "hush-hush-5678", &data], b"").expect("grep runs");
    assert_eq!(found.stdout, "");
    environment.assert_nothing_left();
}

#[test]
fn an_answer_that_never_fits_ends_the_asking_and_keeps_the_run() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => (await flow.form({ title: 'T', fields: { n: { type: 'integer', minimum: 1, required: true } } })).n;",
    );
    for opening in [LEGACY, MODERN] {
        let wrong = vec![json!({ "action": "accept", "content": { "n": 0 } }); 5];
        let mut client =
            Client::start(&environment, &["mcp".to_owned(), main.clone()], with_forms(opening, wrong.clone()));
        let mut result = client.call("main", json!({})).result();
        let mut rounds = 0;
        while result["resultType"] == "input_required" {
            rounds += 1;
            assert!(rounds <= 5, "{result}");
            let key =
                result["inputRequests"].as_object().and_then(|asks| asks.keys().next()).expect("a question").clone();
            let retry = json!({
                "name": "main", "arguments": {}, "requestState": result["requestState"],
                "inputResponses": { key: wrong[0].clone() },
            });
            result = client.request("tools/call", retry).result();
        }
        let content = &result["structuredContent"];
        assert_eq!(content["error"]["code"], "interaction_invalid", "{result}");
        assert_eq!(content["status"], "interaction_required");
        client.finish();
        let data = history(&environment);
        let done =
            run(&environment, &["runs", "resume", id(content), "--answer-json", r#"{"n": 3}"#, "--data-dir", &data]);
        assert_eq!(done.json()["output"], 3, "{}", done.stderr);
    }
    environment.assert_nothing_left();
}

#[test]
fn an_answer_from_the_terminal_reaches_the_call_that_waits() {
    let environment = environment();
    let main = script(
        &environment,
        "export default async (input, flow) => (await flow.form({ title: 'T', fields: { word: { type: 'string', required: true } } })).word;",
    );
    // The client shows the form and never answers it.
    let mut client = Client::start(&environment, &["mcp".to_owned(), main], with_forms(LEGACY, vec![Value::Null]));
    let call = client.ask("tools/call", json!({ "name": "main", "arguments": {} }));
    assert!(client.until(std::time::Duration::from_secs(20), |client| !client.elicited.is_empty()));
    let waiting = newest(&environment, "main");
    assert_eq!(waiting["status"], "waiting_for_input");
    let data = history(&environment);
    let done = run(
        &environment,
        &["runs", "resume", id(&waiting), "--answer-json", r#"{"word": "there"}"#, "--data-dir", &data],
    );
    assert_eq!(done.json()["output"], "there", "{}", done.stderr);
    let result = client.wait(&call).result();
    assert_eq!(result["structuredContent"]["output"], "there");
    assert_eq!(result["structuredContent"]["runId"], waiting["runId"]);
    let withdrawn = |client: &Client| client.notifications.iter().any(|one| one["method"] == "notifications/cancelled");
    assert!(client.until(std::time::Duration::from_secs(5), withdrawn), "the form stays open");
    client.finish();
    environment.assert_nothing_left();
}

/// A script that asks for a word.
const ASKS: &str = "export default async (input, flow) => (await flow.form({ title: 'T', fields: { word: { type: 'string', required: true } } })).word;";

#[test]
fn cancelled_from_elsewhere_a_call_says_why_and_its_form_is_taken_away() {
    let environment = environment();
    let main = script(&environment, ASKS);
    let mut client = Client::start(&environment, &["mcp".to_owned(), main], with_forms(LEGACY, vec![Value::Null]));
    let call = client.ask("tools/call", json!({ "name": "main", "arguments": {} }));
    assert!(client.until(std::time::Duration::from_secs(20), |client| !client.elicited.is_empty()));
    let data = history(&environment);
    let waiting = newest(&environment, "main");
    assert_eq!(run(&environment, &["runs", "cancel", id(&waiting), "--data-dir", &data]).code, 0);
    let result = client.wait(&call).result();
    let error = &result["structuredContent"]["error"];
    assert_eq!(error["code"], "cancelled", "{result}");
    assert_eq!(error["message"], "a person cancelled the run");
    let withdrawn = |client: &Client| client.notifications.iter().any(|one| one["method"] == "notifications/cancelled");
    assert!(client.until(std::time::Duration::from_secs(5), withdrawn), "the form stays open");
    client.finish();
    let shown = run(&environment, &["runs", "show", id(&waiting), "--json", "--data-dir", &data]).json();
    assert_eq!(shown["error"]["code"], "cancelled", "{shown}");
    environment.assert_nothing_left();
}

#[test]
fn an_answer_that_cannot_be_read_is_asked_for_again() {
    let environment = environment();
    let main = script(&environment, ASKS);
    let mut client = Client::start(&environment, &["mcp".to_owned(), main], with_forms(MODERN, Vec::new()));
    let mut result = client.call("main", json!({})).result();
    for odd in
        [json!({}), json!(5), json!({ "action": "weird" }), json!({ "action": "accept", "content": { "word": "x" } })]
    {
        assert_eq!(result["resultType"], "input_required", "{result}");
        let key = result["inputRequests"].as_object().and_then(|asks| asks.keys().next()).expect("a question").clone();
        let retry = json!({
            "name": "main", "arguments": {}, "requestState": result["requestState"], "inputResponses": { key: odd },
        });
        result = client.request("tools/call", retry).result();
    }
    assert_eq!(result["structuredContent"]["output"], "x", "{result}");
    client.finish();
    environment.assert_nothing_left();
}

#[test]
fn a_run_whose_worker_is_killed_while_it_waits_waits_on() {
    let environment = environment();
    let main = script(&environment, ASKS);
    let mut client = Client::start(&environment, &["mcp".to_owned(), main], with_forms(LEGACY, vec![Value::Null]));
    let call = client.ask("tools/call", json!({ "name": "main", "arguments": {} }));
    assert!(client.until(std::time::Duration::from_secs(20), |client| !client.elicited.is_empty()));
    let workers = process::tree::descendants(client.pid());
    assert!(!workers.is_empty());
    for worker in workers {
        process::tree::signal(worker, process::tree::Signal::Kill);
    }
    let result = client.wait(&call).result();
    assert_eq!(result["structuredContent"]["status"], "interaction_required", "{result}");
    let waiting = newest(&environment, "main");
    assert_eq!(waiting["status"], "waiting_for_input");
    client.finish();
    let data = history(&environment);
    let done =
        run(&environment, &["runs", "resume", id(&waiting), "--answer-json", r#"{"word": "on"}"#, "--data-dir", &data]);
    assert_eq!(done.json()["output"], "on", "{}", done.stderr);
    environment.assert_nothing_left();
}

/// Answers every request on a port of this machine, `/elsewhere` with a redirect to another host.
fn server() -> (u16, std::sync::mpsc::Receiver<String>) {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            for line in lines.by_ref() {
                if line.is_ok_and(|line| line.is_empty()) {
                    break;
                }
            }
            let answer = if first.contains("/elsewhere") {
                "HTTP/1.1 302 Found\r\nlocation: http://example.invalid/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
            } else {
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\nconnection: close\r\n\r\n{\"a\": 1}".to_owned()
            };
            let _ = stream.write_all(answer.as_bytes());
            if sender.send(first).is_err() {
                return;
            }
        }
    });
    (port, asked)
}

#[test]
fn requests_go_to_the_hosts_of_the_project_and_nowhere_else() {
    let environment = environment();
    let (port, asked) = server();
    let source = format!(
        "export default async (input, flow) => {{\n\
         const tried = async (url) => {{ try {{ return (await flow.http({{ url }})).json; }} catch (error) {{ return error.code; }} }};\n\
         return [await tried('http://127.0.0.1:{port}/x'), await tried('http://127.0.0.1:{port}/elsewhere'),\n\
         await tried('http://localhost:{port}/x'), await tried('file:///etc/passwd')];\n}};\n"
    );
    let main = script(&environment, &source);
    let package = json!({
        "name": "hosts", "id": PARENT, "projectType": "workflow",
        "workflow": { "entrypoints": { "main": "./main.workflow.ts" }, "httpHosts": [format!("127.0.0.1:{port}")] },
    });
    write(&environment, "project/package.json", &package.to_string());
    let done = run(&environment, &["run", &main, "main"]);
    assert_eq!(
        done.json()["output"],
        json!([{ "a": 1 }, "http_host", "http_host", "invalid_argument"]),
        "{}{}",
        done.stdout,
        done.stderr
    );
    assert_eq!(asked.try_iter().count(), 2);
    environment.assert_nothing_left();
}

const SECRET: &str = "export const entrypoint = { title: 'S', params: { key: { type: 'string', required: true } } };\n\
    export default async (input, flow) => {\n\
    await flow.form({ title: 'Go on', fields: { ok: { type: 'boolean' } } });\n\
    return input.key.length;\n};\n";

#[test]
fn a_run_that_starts_over_has_the_true_secret_or_none() {
    let environment = environment();
    let main = script(&environment, SECRET);
    // A call's input is recorded, and the connection's key masked in it.
    let connection = "WORKFLOW_SERVER_URL=https://one.example\nWORKFLOW_SERVER_ADMIN_KEY=hush-hush-5678\n";
    write(&environment, "project/.env", connection);
    let data = history(&environment);
    let begun = run(&environment, &["run", &main, "main", "--key", "hush-hush-5678"]);
    assert_eq!(begun.json()["status"], "interaction_required", "{}{}", begun.stdout, begun.stderr);
    let first = id(&begun.json()).to_owned();
    let second = run(&environment, &["runs", "resume", &first, "--restart", "--data-dir", &data]).json();
    assert_ne!(id(&second), first);
    for one in [id(&second), &first] {
        let done = run(&environment, &["runs", "resume", one, "--answer-json", "{}", "--data-dir", &data]);
        assert_eq!(done.json()["output"], 14, "{}{}", done.stdout, done.stderr);
    }
    let refused = run(&environment, &["runs", "resume", &first, "--restart", "--data-dir", &data]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    for word in ["`key`", "--input-json", " main --NAME VALUE"] {
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
    let listed = run(&environment, &["runs", "list", "--json", "--data-dir", &data]).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "nothing was started with the mask: {listed}");
    environment.assert_nothing_left();
}

/// Runs `main` on a terminal on which `y` was typed before anything was asked, and types `then` once it is.
fn typed_ahead(environment: &Environment, main: &str, then: &str) -> Finished {
    let program = executable().to_string_lossy().into_owned();
    let script = format!(
        "import os, pty, sys\n\
         pid, terminal = pty.fork()\n\
         if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n\
         os.write(terminal, b'y\\n')\n\
         seen, told = b'', False\n\
         while True:\n    \
             try: data = os.read(terminal, 65536)\n    \
             except OSError: break\n    \
             if not data: break\n    \
             seen += data\n    \
             if not told and b'yes/no' in seen and seen.endswith(b': '):\n        \
                 told = True; os.write(terminal, {then})\n\
         os.write(1, seen)\n\
         sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    );
    environment.run_program("python3", &["-c", &script, &program, "run", main, "main"], b"").expect("python3 runs")
}

#[test]
fn what_was_typed_before_a_question_stood_there_gives_no_leave() {
    let environment = environment();
    let source = "export default async (input, flow) => ({ leave: await flow.approve({ tool: 't', title: 'Now?', args: {} }) });";
    let main = script(&environment, source);
    let done = typed_ahead(&environment, &main, r"b'n\n'");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stdout.contains("\"leave\": false"), "{done:?}");
    // And whoever is asked can end the run instead.
    let ended = typed_ahead(&environment, &main, r"b'\x03'");
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_eq!(newest(&environment, "main")["status"], "cancelled");
    environment.assert_nothing_left();
}
