//! The http provider with an endpoint that gives prepared answers.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use workflow_agents::http::{Answer, Awaited, Connecting, HttpProvider, HttpSettings, Post, Unanswered};
use workflow_agents::{AgentEnd, Desk, Request, StartRefused, Usage};

type Prepared = Result<Result<Answer, Unanswered>, StartRefused>;

/// Gives answers one after the other and keeps what was asked.
#[derive(Debug, Default)]
struct Endpoint {
    answers: Mutex<VecDeque<Prepared>>,
    bodies: Mutex<Vec<Value>>,
}

impl Post for Endpoint {
    fn post(&self, body: Value, _limit: Duration) -> Connecting {
        self.bodies.lock().expect("free").push(body);
        let prepared = self.answers.lock().expect("free").pop_front().expect("an answer");
        Box::pin(async move {
            let awaited: Awaited = Box::pin(std::future::ready(prepared?));
            Ok(awaited)
        })
    }
}

fn said(text: &str) -> Prepared {
    let body = json!({"choices": [{"finish_reason": "stop", "message": {"content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2}});
    Ok(Ok(Answer { status: 200, retry_after: None, body: body.to_string() }))
}

fn status(status: u16) -> Prepared {
    Ok(Ok(Answer { status, retry_after: None, body: r#"{"error": {"message": "later"}}"#.into() }))
}

async fn ask(settings: Value, answers: Vec<Prepared>, args: Value) -> (AgentEnd, Vec<Value>) {
    let endpoint = Arc::new(Endpoint { answers: Mutex::new(answers.into()), bodies: Mutex::default() });
    let settings = HttpSettings::read(&settings).expect("settings");
    let provider = HttpProvider::new(settings, Arc::clone(&endpoint) as Arc<dyn Post>);
    let desk = Desk::new(Arc::new(provider.with_pause(Duration::from_millis(1))), 1, Duration::from_millis(10), |_| {});
    let end = desk.submit(Request::read("run", 1, &args, "/".into()).expect("a request")).await;
    let bodies = endpoint.bodies.lock().expect("free").clone();
    (end, bodies)
}

fn usage(times: u64) -> Usage {
    Usage { input_tokens: Some(10 * times), output_tokens: Some(2 * times) }
}

#[tokio::test]
async fn a_prompt_becomes_a_conversation() {
    let settings = json!({"model": "small", "models": {"opus": "big"}, "system": "Be brief.", "effort": "native"});
    let args = json!({"prompt": "p", "model": "opus", "effort": "high"});
    let (end, bodies) = ask(settings.clone(), vec![said("done")], args).await;
    assert_eq!(end, AgentEnd::Completed { value: json!("done"), usage: usage(1) });
    let messages = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "p"}]);
    assert_eq!(bodies[0], json!({"model": "big", "messages": messages, "reasoning_effort": "high"}));
    let (_, bodies) = ask(settings, vec![said("done")], json!({"prompt": "p"})).await;
    assert_eq!(bodies[0]["model"], "small");
}

#[tokio::test]
async fn results_that_do_not_fit_are_asked_for_again_in_the_same_conversation() {
    let schema = json!({"type": "array", "items": {"type": "integer"}, "minItems": 1});
    let args = json!({"prompt": "p", "schema": schema});
    let answers = vec![said(r#"{"value": []}"#), said("no"), said(r#"{"value": [1]}"#)];
    let (end, bodies) = ask(json!({}), answers, args.clone()).await;
    assert_eq!(end, AgentEnd::Completed { value: json!([1]), usage: usage(3) });
    let format = &bodies[0]["response_format"]["json_schema"]["schema"];
    assert_eq!(format["properties"]["value"], schema, "other roots are wrapped");
    assert_eq!(bodies[2]["messages"].as_array().map(Vec::len), Some(5));
    assert_eq!(bodies[1]["messages"][1], json!({"role": "assistant", "content": "{\"value\": []}"}));
    let (end, bodies) = ask(json!({}), vec![said("a"), said("b"), said("c")], args.clone()).await;
    assert!(matches!(end, AgentEnd::Failed { reason, usage: used } if reason.contains("no valid") && used == usage(3)));
    assert_eq!(bodies.len(), 3);
    // In words, where the endpoint knows no schemas; and not at all, where it cannot.
    let (end, bodies) = ask(json!({"schema": "prompted"}), vec![said("so: [1]")], args.clone()).await;
    assert_eq!(end, AgentEnd::Completed { value: json!([1]), usage: usage(1) });
    assert!(bodies[0].get("response_format").is_none() && bodies[0].to_string().contains("JSON Schema"));
    let (end, bodies) = ask(json!({"schema": "none"}), Vec::new(), args).await;
    assert_eq!(end, AgentEnd::StartRefused("the provider `http` gives no structured results".into()));
    assert!(bodies.is_empty());
}

#[tokio::test]
async fn what_the_endpoint_cannot_is_refused() {
    let (end, bodies) = ask(json!({}), Vec::new(), json!({"prompt": "p", "effort": "high"})).await;
    assert_eq!(end, AgentEnd::StartRefused("the provider `http` has no option `effort`".into()));
    assert!(bodies.is_empty());
}

#[tokio::test]
async fn overload_is_waited_out_and_other_errors_are_not() {
    let broken = || Ok(Err(Unanswered::Broken("it broke".into())));
    let (end, bodies) =
        ask(json!({}), vec![status(429), status(503), broken(), said("ok")], json!({"prompt": "p"})).await;
    assert_eq!(end, AgentEnd::Completed { value: json!("ok"), usage: usage(1) });
    assert_eq!(bodies.len(), 4);
    let reason = |end: AgentEnd| match end {
        AgentEnd::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    let (end, bodies) = ask(json!({}), (0..5).map(|_| status(529)).collect(), json!({"prompt": "p"})).await;
    assert_eq!(reason(end), "error: the server answered 529: later, in 5 attempts");
    assert_eq!(bodies.len(), 5);
    let (end, bodies) = ask(json!({}), vec![status(400)], json!({"prompt": "p"})).await;
    assert_eq!((reason(end).as_str(), bodies.len()), ("error: the server answered 400: later", 1));
}

#[tokio::test]
async fn a_server_that_is_not_there_starts_no_agent() {
    let refused = Err(StartRefused("`http://localhost:1` cannot be reached".into()));
    let (end, _) = ask(json!({}), vec![refused], json!({"prompt": "p"})).await;
    assert_eq!(end, AgentEnd::StartRefused("`http://localhost:1` cannot be reached".into()));
}
