//! Who starts children, and what a child is asked for and gives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// The options of `agent()` that go to the provider, which may honour them or not.
pub const OPTIONS: [&str; 8] =
    ["provider", "model", "effort", "agentType", "isolation", "stallMs", "timeoutMs", "retries"];

/// The option of those that the desk honours itself, whatever the provider.
pub const RETRIES: &str = "retries";

/// Names of models as scripts have them, and as the provider does. Others are passed on as they are; of these, names of
/// letters only (`opus`) are unknown when there is such a table: a model's own name has a version or a vendor in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Models(Option<BTreeMap<String, String>>);

impl Models {
    /// The provider's name of a model.
    #[must_use]
    pub fn named<'a>(&'a self, model: &'a str) -> &'a str {
        self.0.as_ref().and_then(|models| models.get(model)).map_or(model, String::as_str)
    }

    /// Tells whether the provider can use a model by this name, as far as the table says.
    #[must_use]
    pub fn knows(&self, model: &str) -> bool {
        let is_alias = !model.is_empty() && model.bytes().all(|byte| byte.is_ascii_alphabetic());
        !is_alias || self.0.as_ref().is_none_or(|models| models.contains_key(model))
    }
}

/// What one child is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The run it belongs to.
    pub run: String,
    /// The number of the call in the run: 1, 2, 3 … as accepted.
    pub seq: u64,
    /// What it is told.
    pub prompt: String,
    /// What a person sees.
    pub label: String,
    /// The part of the run it is shown in; absent and empty are two different things.
    pub phase: Option<String>,
    /// What its result must be like, as the script wrote it.
    pub schema: Option<Value>,
    /// Of [`OPTIONS`], those given.
    pub options: Map<String, Value>,
    /// The folder it works in.
    pub folder: PathBuf,
}

/// A request that is none.
#[derive(Debug, thiserror::Error)]
#[error("the call of an agent has no prompt")]
pub struct RequestError;

impl Request {
    /// Reads the arguments of a script's call: `{prompt, label, phase?, schema?, …}`.
    ///
    /// # Errors
    ///
    /// When there is no prompt, which no script of ours sends.
    pub fn read(run: &str, seq: u64, args: &Value, folder: PathBuf) -> Result<Self, RequestError> {
        let text = |key: &str| args.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut options = Map::new();
        for name in OPTIONS {
            if let Some(value) = args.get(name) {
                options.insert(name.into(), value.clone());
            }
        }
        Ok(Self {
            run: run.to_owned(),
            seq,
            prompt: text("prompt").ok_or(RequestError)?,
            label: text("label").unwrap_or_default(),
            phase: text("phase"),
            schema: args.get("schema").cloned(),
            options,
            folder,
        })
    }

    /// Returns a text option.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).and_then(Value::as_str)
    }
}

/// What a provider can do. What it cannot is refused or noted, never left out silently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether a child can give a structured result.
    pub schema: bool,
    /// Of [`OPTIONS`], those it honours.
    pub options: Vec<String>,
}

impl Capabilities {
    /// The same, with an option that somebody in front of the provider honours.
    #[must_use]
    pub fn honouring(mut self, option: &str) -> Self {
        if !self.options.iter().any(|known| known == option) {
            self.options.push(option.to_owned());
        }
        self
    }
}

/// Why a child stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It finished.
    Completed,
    /// It did not, and this is the word for it: `error`, `refusal`, `max-tokens`, `stalled`, `aborted`, or another.
    Other(String),
}

/// Tokens that a child used, as far as its provider tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Those it read.
    pub input_tokens: Option<u64>,
    /// Those it wrote.
    pub output_tokens: Option<u64>,
}

impl Usage {
    /// Those it wrote, and nothing known of the others.
    #[must_use]
    pub fn written(output_tokens: u64) -> Self {
        Self { input_tokens: None, output_tokens: Some(output_tokens) }
    }

    /// Both together; what neither tells stays unknown.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Self {
            input_tokens: sum(self.input_tokens, more.input_tokens),
            output_tokens: sum(self.output_tokens, more.output_tokens),
        }
    }
}

/// What came of a child.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildResult {
    /// Why it stopped.
    pub stop: StopReason,
    /// Its final text.
    pub text: String,
    /// Its structured result, if it gave one.
    pub structured: Option<Value>,
    /// Tokens it used, in all its attempts.
    pub usage: Usage,
    /// What helps a person to understand a failure; one to a few lines.
    pub diagnostic: Option<String>,
}

impl ChildResult {
    /// A child that stopped without a result, for the reason that `word` names.
    #[must_use]
    pub fn stopped(word: &str, diagnostic: Option<String>, usage: Usage) -> Self {
        Self { stop: StopReason::Other(word.to_owned()), text: String::new(), structured: None, usage, diagnostic }
    }
}

/// A child could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StartRefused(pub String);

/// The provider broke after a child was started, in a way that no result can express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

/// A child that exists.
pub struct Child {
    /// Its name, unique in the run and not empty.
    pub id: String,
    /// What will come of it. Ends soon once the request's stop token fires, and takes everything with it when dropped.
    pub result: Pin<Box<dyn Future<Output = Result<ChildResult, Fault>> + Send>>,
}

impl std::fmt::Debug for Child {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Child").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A child that is being started.
pub type Starting = Pin<Box<dyn Future<Output = Result<Child, StartRefused>> + Send>>;

/// Starts children. Starts may overlap and do not affect each other.
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// Its name, as a person gives it.
    fn name(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// Tells whether it knows a kind of agent by name, in a project's folder.
    fn knows_agent_type(&self, _name: &str, _folder: &Path) -> bool {
        false
    }

    /// Tells whether it can use a model by this name. What it cannot is left out of its requests and noted.
    fn knows_model(&self, _name: &str) -> bool {
        true
    }

    /// Starts a child. Whoever drops the future before it ends leaves nothing behind.
    fn start(&self, request: Request, stop: CancellationToken) -> Starting;
}
