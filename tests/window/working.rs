//! A person's ways through the window, over a real history that other processes write meanwhile.

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Opening, Session, desktop_executable, executable, wait_until};

use crate::{desktop, picture, project};

/// A client that could show forms, and leaves the one it gets to whoever else answers.
fn client_that_leaves_forms() -> ClientOptions {
    ClientOptions {
        opening: Opening::Legacy("2025-11-25"),
        capabilities: json!({ "elicitation": { "form": {} } }),
        answers: vec![Value::Null],
    }
}

/// A run in a list of runs.
fn row(run: &str) -> String {
    format!("main a[href^='#/run/{run}']")
}

/// Home, when it is there.
const HOME: &str = "main section";

/// Waits until the view of a run shows this state.
#[track_caller]
fn see_state(session: &Session, run: &str, word: &str) {
    wait_until(&format!("{run} to be shown as {word}"), || {
        let here = session.script("return location.hash;", &json!([]));
        let shown = session.text("header:has(h1)");
        (here.as_str().is_some_and(|hash| hash.contains(run)) && shown.contains(word)).then_some(())
    });
}

#[test]
fn a_run_is_found_opened_and_read_in_every_tab() {
    let mut desktop = desktop();
    let (id, _) = project::register(&desktop.environment);
    let run = project::report(&desktop.environment, &id, "2026-11-30");
    let mut session = Session::start(&mut desktop, &desktop_executable(), &[]);
    let listed = session.find(&row(&run));
    picture(&desktop, "home");
    session.click(&listed);
    see_state(&session, &run, "Success");
    for (tab, shown) in [
        ("Output", "Tuesday"),
        ("Diagram", "Write"),
        ("Timeline", "Read"),
        ("Logs", "two notes of"),
        ("Input and answers", "2026-11-30"),
    ] {
        session.click(&session.named("tab", tab));
        wait_until(&format!("{shown} in {tab}"), || {
            session.text("[role='tabpanel']:not([hidden])").contains(shown).then_some(())
        });
        picture(&desktop, &format!("run-{}", tab.to_lowercase().replace(' ', "-")));
        session.assert_quiet();
    }
    // What a run prints is text, whatever it looks like.
    session.click(&session.named("tab", "Logs"));
    session.see("<img src=x onerror=alert(1)>");
    session.go("/runs");
    session.see(&run);
    session.see("Weekly report");
    picture(&desktop, "runs");
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn a_question_of_a_real_client_s_run_is_answered_in_the_window() {
    let mut desktop = desktop();
    let (id, _) = project::register(&desktop.environment);
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find(HOME);
    let mut client = Client::start(&desktop.environment, &["--workflow-mcp", &id], client_that_leaves_forms());
    let call = client.ask("tools/call", json!({ "name": "ask", "arguments": {} }));
    // Nothing was touched in the window: it heard of the run by itself.
    let waiting = session.find("section[aria-labelledby='home-waiting'] a[href^='#/run/']");
    session.see("Who is it for?");
    picture(&desktop, "waiting");
    session.click(&waiting);
    let run = session.script("return location.hash.split('/')[2];", &json!([])).as_str().unwrap().to_owned();
    see_state(&session, &run, "Waiting");
    let field = session.find("section[aria-label='Who is it for?'] input");
    session.keys(&field, "Ada");
    picture(&desktop, "question");
    session.click(&session.named("button", "Answer and continue"));
    see_state(&session, &run, "Success");
    let answered = client.wait(&call).result();
    assert_eq!(answered["structuredContent"]["output"], json!({ "greeting": "Hello, Ada" }), "{answered}");
    assert_eq!(answered["structuredContent"]["runId"], json!(run));
    picture(&desktop, "answered");
    client.finish();
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn what_the_dock_copies_connects() {
    let mut desktop = desktop();
    let (id, _) = project::register(&desktop.environment);
    let address = format!("project/{id}/dock");
    let session = Session::start(&mut desktop, &desktop_executable(), &["--show", &address]);
    session.click(&session.named("radio", "Snippet"));
    let snippet = session.find("section pre[aria-label='Snippet']");
    let shown = session.script("return arguments[0].textContent;", &json!([snippet.to_json()]));
    picture(&desktop, "dock");
    session.click(&session.named("button", "Copy"));
    let copied = wait_until("the clipboard to hold the configuration", || {
        let pasted = desktop.environment.run_program("xclip", &["-selection", "clipboard", "-out"], b"").unwrap();
        pasted.stdout.contains("--workflow-mcp").then_some(pasted.stdout)
    });
    assert_eq!(copied.trim(), shown.as_str().unwrap().trim());
    let config: Value = serde_json::from_str(&copied).unwrap_or_else(|error| panic!("{error}: {copied}"));
    let servers = config["mcpServers"].as_object().unwrap_or_else(|| panic!("{config}"));
    let server = servers.values().next().unwrap();
    let arguments: Vec<_> = server["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().into()).collect();
    let command = server["command"].as_str().unwrap();
    assert_eq!(command, executable().to_string_lossy(), "the front door is what clients start");
    let mut client = Client::start_program(&desktop.environment, command.into(), &arguments, ClientOptions::default());
    let tools = client.request("tools/list", json!({})).result();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 3, "{tools}");
    client.finish();
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn what_others_write_is_on_screen_at_once() {
    let mut desktop = desktop();
    let (id, _) = project::register(&desktop.environment);
    let earlier = project::report(&desktop.environment, &id, "2026-11-23");
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find(&row(&earlier));
    let body = "window.rowTimes = {};\n\
        new MutationObserver(() => {\n\
          for (const row of document.querySelectorAll(\"main a[href^='#/run/']\")) {\n\
            window.rowTimes[row.getAttribute('href').split('/')[2]] ??= Date.now();\n\
          }\n\
        }).observe(document.body, { childList: true, subtree: true, attributes: true });";
    session.script(body, &json!([]));
    let run = project::report(&desktop.environment, &id, "2026-11-30");
    let seen = wait_until("the new run's row", || {
        session.script("return window.rowTimes[arguments[0]] ?? null;", &json!([run])).as_i64()
    });
    let shown = desktop.environment.run(&["runs", "show", &run, "--json"]).unwrap().json();
    let created = shown["createdAt"].as_i64().unwrap_or_else(|| panic!("{shown}"));
    // The machine may be busy with other tests; the figure itself is a row of `cargo xtask bench`.
    assert!(seen - created < 2_000, "{} ms", seen - created);
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn a_second_start_finds_the_first_one() {
    let mut desktop = desktop();
    let (id, _) = project::register(&desktop.environment);
    let run = project::report(&desktop.environment, &id, "2026-11-30");
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find(HOME);
    let second = desktop.environment.run(&["--show", &format!("run/{run}")]).unwrap();
    assert_eq!((second.code, second.stdout.as_str()), (0, ""), "{}", second.stderr);
    see_state(&session, &run, "Success");
    assert_eq!(desktop.titles().unwrap().len(), 1, "{:?}", desktop.titles());
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn without_a_bus_a_second_window_is_refused() {
    let mut desktop = desktop();
    desktop.environment.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find("main");
    let second = desktop.environment.run(&[""; 0]).unwrap();
    assert_eq!((second.code, second.stdout.as_str()), (3, ""), "{}", second.stderr);
    assert!(second.stderr.contains("is open already (process "), "{}", second.stderr);
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn a_window_that_is_closed_lets_its_runs_end() {
    let mut desktop = desktop();
    let (id, folder) = project::register(&desktop.environment);
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find(HOME);
    let body = "return await window.__TAURI_INTERNALS__.invoke('rpc', { name: 'start_run', request: arguments[0] });";
    let started = session.script_async(body, &json!([{ "project": id, "entrypoint": "slow", "input": {} }]));
    let run = started["value"]["run"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
    wait_until("the run to work", || folder.join("started").exists().then_some(()));
    // As a person does: the window manager asks it to go.
    desktop.close_windows().unwrap();
    wait_until("the window to be gone", || desktop.titles().unwrap().is_empty().then_some(()));
    let status = || {
        let shown = desktop.environment.run(&["runs", "show", &run, "--json"]).unwrap().json();
        shown["status"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(status(), "running");
    std::fs::write(folder.join("go"), "").unwrap();
    wait_until("the run to end well", || (status() == "success").then_some(()));
    wait_until("the window's process to end", || {
        desktop.environment.census().iter().all(|one| !one.contains("workflow-code-desktop")).then_some(())
    });
    drop(session);
    desktop.environment.assert_nothing_left();
}
