//! Children that reply from a list: for tests, and to try a script without paying for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Capabilities, Child, ChildResult, Fault, Provider, Request, StartRefused, Starting, StopReason, Usage};

/// What the list says: `{replies?, default?, outputSchema?, honours?}`.
///
/// `replies` is an object keyed by the exact prompt (a list is used one by one, its last entry again and again) or a
/// list in the order of starts. Without a match `default` applies, and without that the child answers `echo:` and the
/// prompt. A reply is a text, or an object of `text`, `structured`, `blocks`, `fail`, `faultError`, `startError`,
/// `never`, `delayMs`, `startDelayMs`, `usage.inputTokens`, `usage.outputTokens`.
#[derive(Debug)]
pub struct Canned {
    list: Value,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    started: usize,
    used: HashMap<String, usize>,
    requests: Vec<Request>,
    peak: usize,
    running: usize,
}

impl Canned {
    /// Takes a list.
    #[must_use]
    pub fn new(list: Value) -> Arc<Self> {
        Arc::new(Self { list, state: Mutex::default() })
    }

    /// What was asked for, in the order of starts.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// The most children that were there at once.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).peak
    }

    fn reply(&self, request: Request) -> Value {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let place = state.started;
        state.started += 1;
        let found = match self.list.get("replies") {
            Some(Value::Array(replies)) => replies.get(place),
            Some(Value::Object(replies)) => match replies.get(&request.prompt) {
                Some(Value::Array(several)) => {
                    let used = state.used.entry(request.prompt.clone()).or_default();
                    let reply = several.get(*used).or(several.last());
                    *used += 1;
                    reply
                }
                reply => reply,
            },
            _ => None,
        };
        let reply = found
            .or(self.list.get("default"))
            .cloned()
            .unwrap_or_else(|| Value::String(format!("echo:{}", request.prompt)));
        state.requests.push(request);
        reply
    }
}

/// Counts a child for as long as it is there.
struct Counted(Arc<dyn Fn(bool) + Send + Sync>);

impl Counted {
    fn new(count: Arc<dyn Fn(bool) + Send + Sync>) -> Self {
        count(true);
        Self(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.0)(false);
    }
}

fn delay(reply: &Value, name: &str) -> Duration {
    Duration::from_millis(reply.get(name).and_then(Value::as_u64).unwrap_or(0))
}

/// [`Canned`] as a provider.
#[derive(Debug, Clone)]
pub struct CannedProvider(pub Arc<Canned>);

impl Provider for CannedProvider {
    fn name(&self) -> &'static str {
        "canned"
    }

    fn capabilities(&self) -> Capabilities {
        let list = &self.0.list;
        let options = match list.get("honours").and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => vec!["provider".into(), "model".into()],
        };
        Capabilities { schema: list.get("outputSchema") != Some(&Value::Bool(false)), options }
    }

    fn start(&self, request: Request, stop: CancellationToken) -> Starting {
        let canned = Arc::clone(&self.0);
        Box::pin(async move {
            let id = format!("canned-{}", request.seq);
            let reply = canned.reply(request);
            let wait = delay(&reply, "startDelayMs");
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            if let Some(error) = reply.get("startError") {
                return Err(StartRefused(error.as_str().unwrap_or("refused").to_owned()));
            }
            let count: Arc<dyn Fn(bool) + Send + Sync> = Arc::new(move |more| {
                let mut state = canned.state.lock().unwrap_or_else(PoisonError::into_inner);
                if more {
                    state.running += 1;
                    state.peak = state.peak.max(state.running);
                } else {
                    state.running -= 1;
                }
            });
            let counted = Counted::new(count);
            Ok(Child {
                id,
                result: Box::pin(async move {
                    let _counted = counted;
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => Ok(stopped("aborted")),
                        result = settle(&reply) => result,
                    }
                }),
            })
        })
    }
}

async fn settle(reply: &Value) -> Result<ChildResult, Fault> {
    if reply.get("never") == Some(&Value::Bool(true)) {
        std::future::pending::<()>().await;
    }
    let wait = delay(reply, "delayMs");
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    if let Some(fault) = reply.get("faultError") {
        return Err(Fault(fault.as_str().unwrap_or("broken").to_owned()));
    }
    match reply.get("fail") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::String(word)) => return Ok(stopped(word)),
        Some(_) => return Ok(stopped("error")),
    }
    let text = match reply {
        Value::String(text) => text.clone(),
        reply => match reply.get("blocks").and_then(Value::as_array) {
            Some(blocks) => blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect(),
            None => reply.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        },
    };
    Ok(ChildResult {
        stop: StopReason::Completed,
        text,
        structured: reply.get("structured").cloned(),
        usage: Usage {
            input_tokens: reply.pointer("/usage/inputTokens").and_then(Value::as_u64),
            output_tokens: reply.pointer("/usage/outputTokens").and_then(Value::as_u64),
        },
        diagnostic: None,
    })
}

fn stopped(word: &str) -> ChildResult {
    ChildResult::stopped(word, None, Usage::default())
}
