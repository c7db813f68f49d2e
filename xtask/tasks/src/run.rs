//! `cargo xtask run`: from nothing to a recorded call, with the real executable in the user's own registry.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, Environment, executable};

use xtask::prepare::{self, Prepared};
use xtask::product;
use xtask::shell::{self, Outcome};

pub(crate) fn run() -> Outcome {
    let environment = Environment::of_this_user().map_err(|error| error.to_string())?;
    let sample = shell::root().join("assets").join("sample");
    println!("\n1. The sample project is registered ({}).", sample.display());
    let added = command(&environment, &["projects", "add", &text(&sample), "--json"])?;
    let id = added[0]["projectId"].as_str().ok_or("the sample was not registered")?.to_owned();
    println!("   project {id}\n\n2. A client starts the server and calls a tool.");
    let mut client = Client::start(&environment, &["--workflow-mcp", &id], ClientOptions::default());
    let tools = client.request("tools/list", json!({})).result();
    for tool in tools["tools"].as_array().map(Vec::as_slice).unwrap_or_default() {
        println!("   tool `{}`: {}", tool["name"].as_str().unwrap_or("?"), tool["description"].as_str().unwrap_or(""));
    }
    let result = client.call("greet", json!({ "name": "Ada", "tone": "warm" })).result();
    println!("   greet answered {}", result["structuredContent"]);
    client.finish();
    let run = result["structuredContent"]["runId"].as_str().ok_or("the call was not recorded")?.to_owned();
    println!("\n3. The call is in the history.");
    let shown = environment.run(&["runs", "show", &run]).map_err(|error| error.to_string())?;
    print_indented(&shown.stdout);
    println!("\n4. What an AI client needs (`workflow-code config {id} --client NAME` has other shapes):\n");
    let config = environment.run(&["config", &id]).map_err(|error| error.to_string())?;
    print_indented(&config.stdout);
    println!("\nThe executable is {}; `--help` says what else it does.", executable().display());
    window()
}

/// Opens the window with what was just recorded, where there is a screen.
fn window() -> Outcome {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| shell::variable(name).is_some());
    if !has_screen {
        println!("There is no screen here, so the window stays closed; on a desktop this opens it.");
        return Ok(());
    }
    println!("\n5. The window.");
    if prepare::prepare()? == Prepared::NoWindow {
        return Ok(());
    }
    product::build()?;
    println!("   close it to end; `workflow-code` without arguments opens it again");
    shell::run::<&str>(&shell::executable("workflow-code").to_string_lossy(), &[])
}

fn command(environment: &Environment, arguments: &[&str]) -> Outcome<Value> {
    let finished = environment.run(arguments).map_err(|error| error.to_string())?;
    if finished.code != 0 {
        return Err(format!(
            "`workflow-code {}` ended with {}: {}",
            arguments.join(" "),
            finished.code,
            finished.stderr
        ));
    }
    Ok(finished.json())
}

fn print_indented(text: &str) {
    for line in text.lines() {
        println!("   {line}");
    }
}

fn text(path: &Path) -> String {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
