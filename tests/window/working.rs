//! A person's ways through the window, over a real history that other processes write meanwhile.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Opening, desktop_executable, executable};

use crate::webdriver::{Session, wait_until};
use crate::{desktop, picture, project};

/// A client that could show forms, and leaves the one it gets to whoever else answers.
fn client_that_leaves_forms() -> ClientOptions {
    ClientOptions {
        opening: Opening::Legacy("2025-11-25"),
        capabilities: json!({ "elicitation": { "form": {} } }),
        answers: vec![Value::Null],
    }
}

fn row(run: &str) -> String {
    format!("[data-testid='run-row'][data-run='{run}']")
}

fn header(run: &str, status: &str) -> String {
    format!("[data-testid='run-header'][data-run='{run}'][data-status='{status}']")
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
    session.find(&header(&run, "success"));
    for (tab, shown) in [
        ("output", "Tuesday"),
        ("diagram", "Write"),
        ("timeline", "Read"),
        ("logs", "read two notes"),
        ("input", "2026-11-30"),
    ] {
        session.click(&session.test_id(&format!("tab-{tab}")));
        session.see(shown);
        picture(&desktop, &format!("run-{tab}"));
        session.assert_quiet();
    }
    // What a run prints is text, whatever it looks like.
    session.click(&session.test_id("tab-logs"));
    session.see("<img src=x onerror=alert(1)>");
    session.go("/runs");
    session.find(&format!("[data-testid='runs-list'] {}", row(&run)));
    picture(&desktop, "runs");
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn a_question_of_a_real_client_s_run_is_answered_in_the_window() {
    let mut desktop = desktop();
    let (id, _) = project::register(&desktop.environment);
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.test_id("home");
    let mut client = Client::start(&desktop.environment, &["--workflow-mcp", &id], client_that_leaves_forms());
    let call = client.ask("tools/call", json!({ "name": "ask", "arguments": {} }));
    // Nothing was touched in the window: it heard of the run by itself.
    let card = session.test_id("waiting-card");
    picture(&desktop, "waiting");
    let run = session.script("return document.querySelector(\"[data-testid='waiting-card']\").dataset.run;", json!([]));
    let run = run.as_str().unwrap().to_owned();
    session.go(&format!("/run/{run}"));
    drop(card);
    session.find(&header(&run, "waiting_for_input"));
    let field = session.find("[data-testid='question-form'] [name='name']");
    session.keys(&field, "Ada");
    picture(&desktop, "question");
    session.click(&session.test_id("answer-submit"));
    session.find(&header(&run, "success"));
    let answered = client.wait(&call).result();
    assert_eq!(answered["structuredContent"]["output"], json!({ "greeting": "Hello, Ada" }), "{answered}");
    assert_eq!(answered["structuredContent"]["runId"], json!(run));
    client.finish();
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn what_the_dock_copies_connects() {
    let mut desktop = desktop();
    let (id, _) = project::register(&desktop.environment);
    let session = Session::start(&mut desktop, &desktop_executable(), &["--show", &format!("dock/{id}")]);
    session.find("[data-testid='dock-config']");
    let shown =
        session.script("return document.querySelector(\"[data-testid='dock-config']\").textContent;", json!([]));
    picture(&desktop, "dock");
    session.click(&session.test_id("dock-copy"));
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
    project::report(&desktop.environment, &id, "2026-11-23");
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.find("[data-testid='run-row']");
    let body = "window.rowTimes = {};\n\
        new MutationObserver(() => {\n\
          for (const row of document.querySelectorAll(\"[data-testid='run-row']\")) {\n\
            window.rowTimes[row.dataset.run] ??= Date.now();\n\
          }\n\
        }).observe(document.body, { childList: true, subtree: true, attributes: true });";
    session.script(body, json!([]));
    let run = project::report(&desktop.environment, &id, "2026-11-30");
    let seen = wait_until("the new run's row", || {
        session.script("return window.rowTimes[arguments[0]] ?? null;", json!([run])).as_i64()
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
    session.test_id("home");
    let started = Instant::now();
    let second = desktop.environment.run(&["--show", &format!("run/{run}")]).unwrap();
    assert_eq!((second.code, second.stdout.as_str()), (0, ""), "{}", second.stderr);
    assert!(started.elapsed() < Duration::from_secs(20));
    session.find(&header(&run, "success"));
    assert_eq!(desktop.titles().unwrap().len(), 1, "{:?}", desktop.titles());
    session.close();
    desktop.environment.assert_nothing_left();
}

#[test]
fn a_window_that_is_closed_lets_its_runs_end() {
    let mut desktop = desktop();
    let (id, folder) = project::register(&desktop.environment);
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    session.test_id("home");
    let body = "return await window.__TAURI_INTERNALS__.invoke('rpc', { name: 'start_run', request: arguments[0] });";
    let started = session.script_async(body, json!([{ "project": id, "entrypoint": "slow", "input": {} }]));
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
