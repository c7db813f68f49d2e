//! The command provider with a launcher that gives prepared outputs, in the forms that the known programs document.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use workflow_agents::command::{CommandLine, CommandProvider, Launch, Launching, Preset, Ran, Running, presets};
use workflow_agents::{AgentEnd, Desk, MemberEvent, Request, Usage};

/// Gives outputs one after the other and keeps what was started.
#[derive(Debug, Default)]
struct Prepared {
    outputs: Mutex<VecDeque<Ran>>,
    lines: Mutex<Vec<CommandLine>>,
}

impl Launch for Prepared {
    fn launch(&self, line: CommandLine, _stop: CancellationToken) -> Launching {
        self.lines.lock().expect("free").push(line);
        let ran = self.outputs.lock().expect("free").pop_front();
        let running: Running = match ran {
            Some(ran) => Box::pin(std::future::ready(Ok(ran))),
            None => Box::pin(std::future::pending()),
        };
        Box::pin(std::future::ready(Ok(running)))
    }
}

fn ran(stdout: &str) -> Ran {
    Ran { code: Some(0), stdout: stdout.to_owned(), ..Ran::default() }
}

fn preset(name: &str) -> Preset {
    presets().into_iter().find(|preset| preset.name == name).unwrap_or_else(|| panic!("no preset {name}"))
}

async fn ask(preset: Preset, outputs: Vec<Ran>, args: Value) -> (AgentEnd, Vec<CommandLine>) {
    let prepared = Arc::new(Prepared { outputs: Mutex::new(outputs.into()), lines: Mutex::default() });
    let provider = Arc::new(CommandProvider::new(preset, Arc::clone(&prepared) as Arc<dyn Launch>));
    let desk = Desk::new(provider, 1, Duration::from_millis(10), |_| {});
    let request = Request::read("run", 1, &args, "/project".into()).expect("a request");
    let end = desk.submit(request).await;
    let lines = prepared.lines.lock().expect("free").clone();
    (end, lines)
}

#[tokio::test]
async fn claude_code_takes_schemas_itself() {
    let output = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","structured_output":{"value":[1]},"usage":{"input_tokens":9,"output_tokens":7}}"#;
    let args = json!({"prompt": "list", "model": "opus", "schema": {"type": "array", "items": {"type": "integer"}}});
    let (end, lines) = ask(preset("claude-code"), vec![ran(output)], args).await;
    assert_eq!(
        end,
        AgentEnd::Completed { value: json!([1]), usage: Usage { input_tokens: Some(9), output_tokens: Some(7) } }
    );
    assert_eq!(lines[0].argv[..6], ["claude", "--print", "--output-format", "json", "--model", "opus"]);
    assert_eq!(lines[0].argv[6], "--json-schema");
    assert_eq!(lines[0].input, "list");
    let broken =
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"result":"Credit balance is too low"}"#;
    let (end, _) = ask(preset("claude-code"), vec![ran(broken)], json!({"prompt": "x"})).await;
    assert!(matches!(end, AgentEnd::Failed { reason, .. } if reason.contains("Credit balance")));
}

#[tokio::test]
async fn codex_writes_events() {
    let output = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n\
        {\"type\":\"item.completed\",\"item\":{\"id\":\"0\",\"type\":\"reasoning\",\"text\":\"hm\"}}\n\
        {\"type\":\"item.completed\",\"item\":{\"id\":\"1\",\"type\":\"agent_message\",\"text\":\"done\"}}\n\
        {\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":20,\"output_tokens\":5}}\n";
    let (end, lines) = ask(preset("codex"), vec![ran(output)], json!({"prompt": "p", "effort": "high"})).await;
    assert_eq!(
        end,
        AgentEnd::Completed { value: json!("done"), usage: Usage { input_tokens: Some(20), output_tokens: Some(5) } }
    );
    assert!(lines[0].argv.contains(&"model_reasoning_effort=high".to_owned()), "{:?}", lines[0].argv);
    assert_eq!(lines[0].argv.last().map(String::as_str), Some("-"));
}

#[tokio::test]
async fn gemini_and_opencode_are_read() {
    let output = r#"Loaded cached credentials.
        {"response":"hello","stats":{"models":{"a":{"tokens":{"candidates":3}},"b":{"tokens":{"candidates":4}}}}}"#;
    let (end, _) = ask(preset("gemini-cli"), vec![ran(output)], json!({"prompt": "p"})).await;
    assert_eq!(end, AgentEnd::Completed { value: json!("hello"), usage: Usage::written(7) });
    let output = "{\"type\":\"step_start\",\"part\":{}}\n{\"type\":\"text\",\"part\":{\"text\":\"one \"}}\n\
        {\"type\":\"text\",\"part\":{\"text\":\"two\"}}\n{\"type\":\"step_finish\",\"part\":{\"tokens\":{\"output\":2}}}\n";
    let (end, _) = ask(preset("opencode"), vec![ran(output)], json!({"prompt": "p"})).await;
    assert_eq!(end, AgentEnd::Completed { value: json!("one two"), usage: Usage::written(2) });
}

#[tokio::test]
async fn wrong_json_is_asked_for_again_at_most_twice() {
    let mine = || Preset::read("mine", &json!(["agent"])).expect("a preset");
    let args = json!({"prompt": "vote", "schema": {"type": "object", "required": ["yes"]}});
    let (end, lines) = ask(mine(), vec![ran("{}"), ran("so: {\"yes\": 1}")], args.clone()).await;
    assert_eq!(end, AgentEnd::Completed { value: json!({"yes": 1}), usage: Usage::default() });
    assert!(lines[1].input.contains("cannot be used") && lines[1].input.contains("\"yes\""));
    let (end, lines) = ask(mine(), vec![ran("no"), ran("no"), ran("no"), ran("no")], args).await;
    assert!(matches!(end, AgentEnd::Failed { .. }), "{end:?}");
    assert_eq!(lines.len(), 3);
}

#[tokio::test]
async fn failures_say_why() {
    let mine = || Preset::read("mine", &json!(["agent"])).expect("a preset");
    let reason = |end: AgentEnd| match end {
        AgentEnd::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    let exit = Ran { code: Some(2), stderr: "not signed in\n".into(), ..Ran::default() };
    let (end, _) = ask(mine(), vec![exit], json!({"prompt": "p"})).await;
    assert_eq!(reason(end), "error: it ended with exit code 2: not signed in");
    let (end, _) = ask(mine(), vec![Ran::default()], json!({"prompt": "p"})).await;
    assert_eq!(reason(end), "error: a signal ended it");
    let stalled = || Ran { stalled: true, ..Ran::default() };
    let (end, lines) = ask(mine(), vec![stalled(), stalled()], json!({"prompt": "p", "stallMs": 250})).await;
    assert!(reason(end).starts_with("stalled"));
    assert_eq!((lines.len(), lines[0].silence), (2, Duration::from_millis(250)));
    let (end, _) = ask(preset("codex"), vec![ran("garbage")], json!({"prompt": "p"})).await;
    assert!(reason(end).contains("no result"));
}

#[tokio::test]
async fn a_cancelled_run_ends_every_child_once_and_starts_no_more() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let provider = Arc::new(CommandProvider::new(
        Preset::read("mine", &json!(["agent"])).expect("a preset"),
        Arc::new(Prepared::default()) as Arc<dyn Launch>,
    ));
    let desk = Desk::new(provider, 2, Duration::from_millis(10), move |event| sink.lock().expect("free").push(event));
    let request = |seq| Request::read("run", seq, &json!({"prompt": "p"}), "/".into()).expect("a request");
    let mut ends: Vec<_> = (1..=3).map(|seq| tokio::spawn(desk.submit(request(seq)))).collect();
    // Two are there before the run is cancelled, and the third waits in the line.
    while told.lock().expect("free").len() < 2 {
        tokio::task::yield_now().await;
    }
    desk.cancel();
    for end in ends.drain(..) {
        assert_eq!(end.await.expect("no panic"), AgentEnd::Cancelled);
    }
    let told = told.lock().expect("free");
    let started = told.iter().filter(|event| matches!(event, MemberEvent::Started(_))).count();
    assert_eq!((started, told.len()), (2, 4), "{told:?}");
    assert_eq!(desk.accepted(), 3);
}
