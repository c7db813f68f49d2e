//! `cargo xtask screenshots`: pictures of every view, over invented data or, with `--host http`, over a real history that is
//! made for it: runs that ended well and badly, that wait, that run, and one whose process is gone.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use workflow_code_tests::{Client, ClientOptions, DevServer, Environment, wait_until};

use xtask::prepare::page_folder;
use xtask::shell::{self, Outcome};

/// Takes the pictures. The arguments are the script's own; `--help` lists them.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let has = |name: &str| arguments.iter().any(|one| one == name);
    let over_http = arguments.windows(2).any(|pair| pair == ["--host", "http"]) || has("--host=http");
    if !over_http || has("--url") || has("--help") || has("--list") {
        return take(arguments);
    }
    let environment = Environment::new().map_err(|error| error.to_string())?;
    let home = Home::fill(&environment)?;
    let url = ["--url".to_owned(), format!("{}/?token={}", home.server.address(), home.server.token())];
    let taken = take(&[arguments, &url].concat());
    home.end();
    environment.assert_nothing_left();
    taken
}

fn take(arguments: &[String]) -> Outcome {
    let script = page_folder().join("scripts").join("screenshots.mjs");
    let arguments = [&[script.to_string_lossy().into_owned()], arguments].concat();
    shell::run("node", &arguments)
}

/// A dev server over a home with a history.
struct Home {
    server: DevServer,
    client: Client,
}

impl Home {
    fn fill(environment: &Environment) -> Outcome<Self> {
        let folder = environment.home().join("reports");
        copy(&shell::root().join("tests").join("projects").join("reports"), &folder)?;
        let folder = folder.to_string_lossy().into_owned();
        command(environment, &["board", "init", "--root", &folder])?;
        let added = command(environment, &["projects", "add", &folder, "--json"])?;
        let added: Value = serde_json::from_str(&added).map_err(|error| error.to_string())?;
        let project = added.as_array().into_iter().flatten().find(|one| one["kind"] == "workflow");
        let project = project.and_then(|one| one["projectId"].as_str()).ok_or("the project was not added")?.to_owned();
        let server = DevServer::start(environment, &["--ui", &page_folder().join("dist").to_string_lossy()])
            .map_err(|error| error.to_string())?;
        let mut client = Client::start(environment, &["--workflow-mcp", &project], ClientOptions::default());
        for week in ["2026-11-09", "2026-11-16", "2026-11-23", "2026-11-30"] {
            client.call("page", json!({ "week": week, "tone": "warm" })).result();
        }
        client.call("ledger", json!({})).result();
        interrupt(environment, &project, &server)?;
        for entrypoint in ["ask", "publish"] {
            let started = server.ok("start_run", json!({ "project": project, "entrypoint": entrypoint, "input": {} }));
            server.wait_for("run", &json!({ "run": started["run"] }), |run| {
                run["run"]["status"] == "waiting_for_input" && run["ownerAlive"] == false
            });
        }
        // It runs for as long as the pictures take.
        client.ask("tools/call", json!({ "name": "gate", "arguments": { "file": "never" } }));
        server.wait_for("home", &json!({}), |home| home["running"].as_array().is_some_and(|all| all.len() == 1));
        Ok(Self { server, client })
    }

    fn end(self) {
        self.client.finish();
        self.server.finish();
    }
}

/// Leaves a run behind whose process is gone.
fn interrupt(environment: &Environment, project: &str, server: &DevServer) -> Outcome {
    let arguments = ["run", project, "gate", "--file", "never"];
    let mut child =
        environment.start(workflow_code_tests::executable(), &arguments).map_err(|error| error.to_string())?;
    server.wait_for("home", &json!({}), |home| home["running"][0]["status"] == "running");
    process::tree::kill(child.id());
    child.wait().map_err(|error| error.to_string())?;
    wait_until("the run to be marked", || {
        let listed = command(environment, &["runs", "list", "--status", "interrupted", "--json"]).ok()?;
        listed.contains("gate").then_some(())
    });
    Ok(())
}

fn command(environment: &Environment, arguments: &[&str]) -> Outcome<String> {
    let done = environment.run(arguments).map_err(|error| error.to_string())?;
    if done.code == 0 { Ok(done.stdout) } else { Err(format!("{}: {}", arguments.join(" "), done.stderr)) }
}

fn copy(from: &Path, to: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("`{}`: {error}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        fs::copy(entry.path(), to.join(entry.file_name())).map_err(failed)?;
    }
    Ok(())
}
