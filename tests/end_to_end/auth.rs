//! The saved connection, from login to a command that is given it; what is kept of old runs.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, Finished, executable};

const KEY: &str = "sk-hush-4711";

/// A project whose command says which connection it was given.
fn project(environment: &Environment) {
    let package = json!({
        "name": "given", "id": "61a461a4-61a4-461a-8461-a461a461a461", "projectType": "workflow",
        "workflow": { "entrypoints": { "given": {
            "command": ["/bin/sh", "-c", "echo \"key $WORKFLOW_SERVER_ADMIN_KEY at $WORKFLOW_SERVER_URL\" | tee /dev/stderr"],
            "title": "Given", "description": "Says what it was given."
        } } }
    });
    environment.write("given/package.json", package.to_string()).unwrap();
}

fn login(environment: &Environment, arguments: &[&str], key: &str) -> Finished {
    let all: Vec<&str> = ["auth", "login"].iter().chain(arguments).copied().collect();
    environment.run_program(executable(), &all, key.as_bytes()).unwrap()
}

/// What the command was given, and everything that was recorded of it.
fn given(environment: &Environment, more: &[&str]) -> (Value, String) {
    let home = environment.home();
    let folder = home.join("given").to_string_lossy().into_owned();
    let arguments: Vec<&str> = ["run"].iter().chain(more).copied().chain([folder.as_str(), "given"]).collect();
    let finished = environment.run(&arguments).unwrap();
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    let result = finished.json();
    let data = home.join(".workflow-code").to_string_lossy().into_owned();
    let run = result["runId"].as_str().unwrap();
    let shown = environment.run(&["runs", "show", run, "--data-dir", &data, "--json"]).unwrap();
    (result, format!("{}{}{}", finished.stdout, finished.stderr, shown.stdout))
}

#[test]
fn a_login_in_a_file_reaches_commands_and_is_shown_nowhere() {
    let environment = Environment::new().unwrap();
    project(&environment);
    // Nobody listens there: the login is saved all the same, with a warning.
    let done = login(&environment, &["http://127.0.0.1:9/base/", "--store", "file", "--json"], &format!("{KEY}\n"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("warning: `http://127.0.0.1:9/base/v1/models` does not answer"), "{}", done.stderr);
    let said = done.json();
    assert_eq!((&said["url"], &said["store"]), (&json!("http://127.0.0.1:9/base"), &json!("file")));
    let file = environment.home().join(".workflow-code/workflow-auth.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let status = environment.run(&["auth", "status", "--json"]).unwrap();
    let connection = json!({ "url": "http://127.0.0.1:9/base", "source": "saved", "store": "file", "key": "present" });
    assert_eq!(status.json()["connection"], connection);
    assert_eq!(status.json()["keyring"]["available"], false, "there is no keyring here");

    let (result, all) = given(&environment, &[]);
    assert_eq!(result["output"], "key ••• at http://127.0.0.1:9/base\n");
    for text in [&all, &done.stdout, &done.stderr, &status.stdout, &status.stderr] {
        assert!(!text.contains(KEY), "{text}");
    }

    let out = environment.run(&["auth", "logout", "--json"]).unwrap();
    assert_eq!(out.json()["removed"], true);
    assert!(!file.exists());
    assert_eq!(given(&environment, &[]).0["output"], "key  at \n");
    environment.assert_nothing_left();
}

#[test]
fn one_pair_from_one_source_holds() {
    let mut environment = Environment::new().unwrap();
    project(&environment);
    let home = environment.home();
    let (desk, auth) = (home.join("desk"), home.join("auth"));
    let (desk, auth) = (desk.to_string_lossy().into_owned(), auth.to_string_lossy().into_owned());
    for (folder, server) in [(&desk, "http://127.0.0.1:9/desk"), (&auth, "http://127.0.0.1:9/auth")] {
        let done = login(&environment, &[server, "--store", "file", "--auth-dir", folder], "saved-key");
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let folders = ["--auth-dir", auth.as_str()];
    let both = ["--auth-dir", auth.as_str(), "--desktop-config-dir", desk.as_str()];
    let output = |environment: &Environment, more: &[&str]| given(environment, more).0["output"].clone();
    assert_eq!(output(&environment, &folders), "key ••• at http://127.0.0.1:9/auth\n");
    assert_eq!(output(&environment, &both), "key ••• at http://127.0.0.1:9/desk\n");
    // A project that names a server of its own never gets a saved key.
    environment.write("given/.env", "WORKFLOW_SERVER_URL=http://127.0.0.1:9/theirs\n").unwrap();
    assert_eq!(output(&environment, &both), "key  at http://127.0.0.1:9/theirs\n");
    environment.set("WORKFLOW_SERVER_URL", "http://127.0.0.1:9/process");
    environment.set("WORKFLOW_SERVER_ADMIN_KEY", "process-key");
    assert_eq!(output(&environment, &both), "key ••• at http://127.0.0.1:9/process\n");
    environment.assert_nothing_left();
}

#[test]
fn logins_that_cannot_be_kept_say_what_to_do() {
    let environment = Environment::new().unwrap();
    let no_keyring = login(&environment, &["https://one.example"], KEY);
    assert_eq!(no_keyring.code, 3, "{}", no_keyring.stderr);
    assert!(no_keyring.stderr.contains("auth login https://one.example --store file"), "{}", no_keyring.stderr);
    assert!(!environment.home().join(".workflow-code/workflow-auth.json").exists(), "never chosen silently");
    for (arguments, key, said) in [
        (&["https://user:hush@one.example", "--store", "file"][..], KEY, "names a user"),
        (&["https://one.example", "--store", "file"], "", "no key was given"),
        (&["https://one.example", "--store", "file"], "two words", "blanks"),
        (&["https://one.example", "--store", "file", "--auth-dir", "relative"], KEY, "--auth-dir"),
        (&["--store", "file"], KEY, "name the server"),
    ] {
        let refused = login(&environment, arguments, key);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert!(!refused.stderr.contains("hush"), "{}", refused.stderr);
    }
    environment.assert_nothing_left();
}

#[test]
fn runs_are_searched_pinned_and_pruned() {
    let environment = Environment::new().unwrap();
    environment
        .write(
            "echo/main.workflow.ts",
            "export const entrypoint = { title: \"Echo\", description: \"Gives it back.\", \
             params: { text: { type: \"string\", required: true } } };\n\
             export default async (input, flow) => { console.log(`heard ${input.text}`); return input.text; };\n",
        )
        .unwrap();
    let package = json!({ "name": "echo", "id": "62a462a4-62a4-462a-8462-a462a462a462", "projectType": "workflow" });
    environment.write("echo/package.json", package.to_string()).unwrap();
    let folder = environment.home().join("echo").to_string_lossy().into_owned();
    let added = environment.run(&["projects", "add", &folder, "--json"]).unwrap().json();
    let id = added[0]["projectId"].as_str().unwrap().to_owned();
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], ClientOptions::default());
    let mut runs = Vec::new();
    for text in ["alpha one", "beta one", "运行 gamma"] {
        let result = client.call("main", json!({ "text": text })).result();
        runs.push(result["structuredContent"]["runId"].as_str().unwrap().to_owned());
    }
    assert_eq!(client.finish().0, 0);
    let command = |arguments: &[&str]| {
        let finished = environment.run(arguments).unwrap();
        assert_eq!(finished.code, 0, "{arguments:?}: {}", finished.stderr);
        finished.json()
    };
    let found = |arguments: &[&str]| -> Vec<String> {
        let all: Vec<&str> = ["runs", "search", "--json"].iter().chain(arguments).copied().collect();
        let found = command(&all);
        found.as_array().unwrap().iter().map(|run| run["runId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found(&["one"]), [runs[1].clone(), runs[0].clone()]);
    assert_eq!(found(&["heard", "alpha"]), [runs[0].clone()]);
    assert_eq!(found(&["运行"]), [runs[2].clone()]);
    assert_eq!(found(&["one", "--status", "failed"]), Vec::<String>::new());
    assert_eq!(found(&["one", "--before", &runs[1]]), [runs[0].clone()]);

    let none = command(&["runs", "prune", "--json"]);
    assert_eq!(none["runs"], 0, "by itself, little is deleted");
    command(&["runs", "pin", &runs[0], "--json"]);
    let set = command(&["projects", "set", &id, "retention.runs", "1", "--json"]);
    assert_eq!(set["retention"], json!({ "days": null, "runs": 1, "megabytes": 2048 }));
    let would = command(&["runs", "prune", "--dry-run", "--json"]);
    assert_eq!((&would["runs"], &would["dryRun"]), (&json!(2), &json!(true)));
    assert_eq!(found(&["heard"]).len(), 3);
    assert_eq!(command(&["runs", "prune", "--project", &id, "--json"])["runs"], 2);
    assert_eq!(found(&["heard"]), [runs[0].clone()]);
    command(&["runs", "unpin", &runs[0], "--json"]);
    assert_eq!(command(&["runs", "prune", "--keep", "0", "--json"])["runs"], 1);
    let odd = environment.run(&["projects", "set", &id, "retention.weeks", "1"]).unwrap();
    assert_eq!(odd.code, 2, "{}", odd.stderr);
    environment.assert_nothing_left();
}

/// A server that gives back what it was asked with, as long as the test lives.
fn echoing() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let (mut asked, mut piece) = (Vec::new(), [0; 1024]);
            while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(read) if read > 0 => asked.extend_from_slice(&piece[..read]),
                    Ok(_) | Err(_) => break,
                }
            }
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", asked.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&asked));
        }
    });
    address
}

#[test]
fn a_server_that_repeats_the_key_does_not_get_it_into_the_records() {
    let environment = Environment::new().unwrap();
    let server = echoing();
    let source = format!(
        "export default async (input, flow) => {{\n\
         const {{ text }} = await flow.http({{ url: '{server}/echo' }});\n\
         console.log(text);\n\
         const {{ it }} = await flow.form({{ title: 'T', fields: {{ it: {{ type: 'string', required: true }} }} }});\n\
         return text + it;\n}};\n"
    );
    environment.write("given/main.workflow.ts", source).unwrap();
    let package = json!({ "name": "given", "id": "64a464a4-64a4-464a-8464-a464a464a464", "projectType": "workflow" });
    environment.write("given/package.json", package.to_string()).unwrap();
    assert_eq!(login(&environment, &[&server, "--store", "file"], KEY).code, 0);
    let home = environment.home();
    let (folder, data) = (home.join("given"), home.join(".workflow-code"));
    let (folder, data) = (folder.to_string_lossy().into_owned(), data.to_string_lossy().into_owned());
    let begun = environment.run(&["run", &folder, "main"]).unwrap();
    let id = begun.json()["runId"].as_str().unwrap().to_owned();
    let done =
        environment.run(&["runs", "resume", &id, "--answer-json", r#"{"it": "end"}"#, "--data-dir", &data]).unwrap();
    let output = done.json()["output"].as_str().unwrap_or_default().to_lowercase();
    assert!(output.contains("authorization: bearer •••\r\n") && output.ends_with("end"), "{}{output}", done.stderr);
    let shown = environment.run(&["runs", "show", &id, "--json", "--data-dir", &data]).unwrap();
    assert!(!shown.stdout.contains(KEY) && shown.stdout.contains("•••"), "{}", shown.stdout);
    let history = environment.run_program("grep", &["-lF", KEY, &format!("{data}/history.db")], b"").unwrap();
    assert_eq!(history.stdout, "");
    environment.assert_nothing_left();
}
