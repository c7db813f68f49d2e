//! The presets over what the real programs printed: an answer, a refused key, nobody signed in. Answers come from a
//! stand-in for the service, everything else is the program's own.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use workflow_agents::command::{CommandLine, CommandProvider, Launch, Launching, Preset, Ran, Running, presets};
use workflow_agents::{AgentEnd, Desk, Request, Usage};

/// Gives one output, whatever is started.
#[derive(Debug)]
struct Recorded(Ran);

impl Launch for Recorded {
    fn launch(&self, _line: CommandLine, _stop: CancellationToken) -> Launching {
        let ran = self.0.clone();
        let running: Running = Box::pin(std::future::ready(Ok(ran)));
        Box::pin(std::future::ready(Ok(running)))
    }
}

fn recording(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn preset_of(recording: &Value) -> Preset {
    let name = recording["preset"].as_str().expect("a name");
    presets().into_iter().find(|preset| preset.name == name).unwrap_or_else(|| panic!("no preset {name}"))
}

async fn ends(name: &str, args: Value) -> AgentEnd {
    let recording = recording(name);
    let text = |key: &str| recording[key].as_str().unwrap_or_default().to_owned();
    let code = recording["code"].as_i64().map(|code| i32::try_from(code).expect("an exit code"));
    let ran = Ran { code, stdout: text("stdout"), stderr: text("stderr"), ..Ran::default() };
    let provider = Arc::new(CommandProvider::new(preset_of(&recording), Arc::new(Recorded(ran))));
    let desk = Desk::new(provider, 1, Duration::from_millis(10), |_| {});
    desk.submit(Request::read("run", 1, &args, "/project".into()).expect("a request")).await
}

async fn fails(name: &str) -> String {
    match ends(name, json!({"prompt": "p"})).await {
        AgentEnd::Failed { reason, .. } => reason,
        other => panic!("{name}: {other:?}"),
    }
}

fn completed(value: Value, input: u64, output: u64) -> AgentEnd {
    AgentEnd::Completed { value, usage: Usage { input_tokens: Some(input), output_tokens: Some(output) } }
}

#[tokio::test]
async fn answers_and_tokens_are_found() {
    let text = json!("The shelf is in order.");
    for (name, input, output) in
        [("claude-ok", 12, 7), ("codex-ok", 20, 5), ("gemini-ok", 20, 5), ("opencode-ok", 20, 5)]
    {
        assert_eq!(ends(name, json!({"prompt": "p"})).await, completed(text.clone(), input, output), "{name}");
    }
    let schema = json!({"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]});
    let args = json!({"prompt": "p", "schema": schema});
    assert_eq!(ends("claude-schema", args).await, completed(json!({"yes": true}), 12, 7));
}

#[tokio::test]
async fn failures_are_told_in_the_programs_words() {
    insta::assert_snapshot!(fails("claude-signed-out").await, @"error: it ended with exit code 1: Not logged in · Please run /login");
    insta::assert_snapshot!(fails("claude-agent-unknown").await, @"error: it ended with exit code 1: --agent 'nonsense' not found. Available agents: claude, Explore, general-purpose, Plan, statusline-setup");
    insta::assert_snapshot!(fails("codex-401").await, @"error: it ended with exit code 1: unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:8080/v1/responses");
    insta::assert_snapshot!(fails("gemini-signed-out").await, @"error: it is not signed in (exit code 41): Please set an Auth method in your /home/ada/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA");
    insta::assert_snapshot!(fails("gemini-untrusted").await, @"error: it does not trust this folder: start it here once and say so (exit code 55): Gemini CLI is not running in a trusted directory. To proceed, either use `--skip-trust`, set the `GEMINI_CLI_TRUST_WORKSPACE=true` environment variable, or trust this directory in interactive mode. For more details, see https://geminicli.com/docs/cli/trusted-folders/#headless-and-automated-environments");
    let refused = fails("gemini-401").await;
    assert!(
        refused.starts_with("error: it ended with exit code 145: ") && refused.contains("invalid x-api-key"),
        "{refused}"
    );
    insta::assert_snapshot!(fails("opencode-401").await, @"error: it ended with exit code 1: invalid x-api-key");
    insta::assert_snapshot!(fails("opencode-unknown-model").await, @"error: it ended with exit code 1: Unexpected server error. Check server logs for details.");
    // Ended from outside, since it waits for a network for ever: the reason is what it wrote to standard error.
    let waiting = fails("codex-signed-out").await;
    assert!(waiting.starts_with("error: a signal ended it: "), "{waiting}");
}

/// The argument lists that were recorded are those of the presets, but for what only the recording needed.
#[test]
fn the_argument_lists_are_the_presets_own() {
    for name in ["claude-ok", "claude-signed-out", "codex-ok", "codex-401", "gemini-signed-out", "opencode-ok"] {
        let recording = recording(name);
        let mut argv: Vec<&str> =
            recording["argv"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        let model = argv.iter().position(|part| *part == "--model").map(|at| {
            let model = argv[at + 1].to_owned();
            argv.drain(at..at + 2);
            model
        });
        let mut args = json!({"prompt": "p"});
        if let Some(model) = model {
            args["model"] = model.into();
        }
        let request = Request::read("run", 1, &args, "/".into()).expect("a request");
        let mut ours = preset_of(&recording).argv(&request, "p", None);
        if let Some(at) = ours.iter().position(|part| part == "--model") {
            ours.drain(at..at + 2);
        }
        assert_eq!(ours, argv, "{name}");
    }
}
