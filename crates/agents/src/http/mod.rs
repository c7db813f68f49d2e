//! Children at a chat-completions endpoint: one conversation for each.
//!
//! Here: [`HttpProvider`], which asks, waits out overload and asks again for results that do not fit; `exchange`, what a
//! request and its answer look like. Requests are made by whoever owns the run, through [`Post`]: addresses and keys are
//! not known here.

mod exchange;
mod settings;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::structured::{self, ASKED_AGAIN, Wanted};
use crate::{Capabilities, Child, ChildResult, Fault, Provider, Request, StartRefused, Starting, StopReason, Usage};

use exchange::{Said, conversation};
pub use settings::{Effort, HttpSettings, SchemaSupport, SettingsError};

/// How long one answer may take, unless the call says otherwise.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// How often a request is made that meets overload or a broken connection.
const ATTEMPTS: u32 = 5;

/// The first pause after overload; each one is twice the one before.
const PAUSE: Duration = Duration::from_millis(500);

/// The longest pause, also when the server wants a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// An answer as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// How long the server wants us to wait, if it says.
    pub retry_after: Option<Duration>,
    /// The body.
    pub body: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The connection broke, or took too long, and it is not known what the server did.
    Broken(String),
    /// It cannot be read, and asking again will not help.
    Unusable(String),
}

/// An answer that is awaited. Dropping it closes the connection.
pub type Awaited = Pin<Box<dyn Future<Output = Result<Answer, Unanswered>> + Send>>;

/// A connection that is being made.
pub type Connecting = Pin<Box<dyn Future<Output = Result<Awaited, StartRefused>> + Send>>;

/// Makes requests to the endpoint for the provider.
pub trait Post: Send + Sync + std::fmt::Debug {
    /// Posts a JSON body. Done once the connection stands; what it gives is the answer, which may take `limit`.
    fn post(&self, body: Value, limit: Duration) -> Connecting;
}

/// Has a conversation with an endpoint for each child.
#[derive(Debug, Clone)]
pub struct HttpProvider {
    settings: Arc<HttpSettings>,
    post: Arc<dyn Post>,
    pause: Duration,
}

impl HttpProvider {
    /// Takes settings and the means to make requests.
    pub fn new(settings: HttpSettings, post: Arc<dyn Post>) -> Self {
        Self { settings: Arc::new(settings), post, pause: PAUSE }
    }

    /// The same with another first pause, for tests.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn capabilities(&self) -> Capabilities {
        let mut options: Vec<String> = ["model", "timeoutMs"].map(str::to_owned).into();
        if self.settings.effort != Effort::None {
            options.push("effort".into());
        }
        Capabilities { schema: self.settings.schema != SchemaSupport::None, options }
    }

    fn knows_model(&self, name: &str) -> bool {
        self.settings.models.knows(name)
    }

    fn start(&self, request: Request, stop: CancellationToken) -> Starting {
        let provider = self.clone();
        Box::pin(async move {
            let mut talk = Talk::new(provider, request);
            // Whoever drops the child drops the connection with it.
            let answer = tokio::select! {
                biased;
                () = stop.cancelled() => return Err(StartRefused("the run is over".into())),
                answer = talk.provider.post.post(talk.body(), talk.limit) => answer?,
            };
            Ok(Child {
                id: format!("{}-{}", talk.provider.settings.name, talk.request.seq),
                result: Box::pin(async move {
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => Ok(ChildResult::stopped("aborted", None, Usage::default())),
                        result = talk.see_through(answer) => result,
                    }
                }),
            })
        })
    }
}

/// One child's conversation.
struct Talk {
    provider: HttpProvider,
    request: Request,
    wanted: Wanted,
    /// What was answered and what was said to it, oldest first.
    more: Vec<(String, String)>,
    limit: Duration,
}

impl Talk {
    fn new(provider: HttpProvider, request: Request) -> Self {
        let wanted = Wanted::of(&request, provider.settings.schema == SchemaSupport::Native);
        let limit = request
            .options
            .get("timeoutMs")
            .and_then(Value::as_f64)
            .filter(|limit| *limit > 0.0)
            .map_or(PATIENCE, |limit| Duration::from_secs_f64((limit / 1000.0).min(7.0 * 24.0 * 3600.0)));
        Self { provider, request, wanted, more: Vec::new(), limit }
    }

    fn body(&self) -> Value {
        conversation(&self.provider.settings, &self.request, &self.wanted, &self.more)
    }

    /// Waits for the answer, and asks again where it cannot be used.
    async fn see_through(&mut self, first: Awaited) -> Result<ChildResult, Fault> {
        let mut usage = Usage::default();
        let mut first = Some(first);
        let mut asked = 0;
        loop {
            let said = match self.answer(first.take()).await {
                Ok(said) => said,
                Err(why) => return Ok(ChildResult::stopped("error", Some(why), usage)),
            };
            usage = usage.plus(said.usage);
            let mut result =
                ChildResult { stop: said.stop, text: said.text, structured: None, usage, diagnostic: said.diagnostic };
            if result.stop != StopReason::Completed {
                return Ok(result);
            }
            match self.wanted.judge(None, &result.text) {
                Ok(value) => {
                    result.structured = value;
                    return Ok(result);
                }
                Err(complaint) if asked == ASKED_AGAIN => {
                    result.diagnostic = Some(format!("no valid structured result: {complaint}"));
                    return Ok(result);
                }
                Err(complaint) => {
                    asked += 1;
                    self.more.push((result.text, structured::complain(&complaint)));
                }
            }
        }
    }

    /// Gets one usable answer. Overload and broken connections are waited out, with the slot kept.
    async fn answer(&self, first: Option<Awaited>) -> Result<Said, String> {
        let mut next = first;
        let mut pause = self.provider.pause;
        let mut attempt = 1;
        loop {
            let answered = match next.take() {
                Some(awaited) => awaited.await,
                None => match self.provider.post.post(self.body(), self.limit).await {
                    Ok(awaited) => awaited.await,
                    Err(refused) => Err(Unanswered::Broken(refused.0)),
                },
            };
            let (why, wanted_pause) = match answered {
                Ok(answer) => match exchange::read(&answer) {
                    Ok(said) => return Ok(said),
                    Err(why) if exchange::is_passing(answer.status) => (why, answer.retry_after),
                    Err(why) => return Err(why),
                },
                Err(Unanswered::Broken(why)) => (why, None),
                Err(Unanswered::Unusable(why)) => return Err(why),
            };
            if attempt == ATTEMPTS {
                return Err(format!("{why}, in {ATTEMPTS} attempts"));
            }
            attempt += 1;
            tokio::time::sleep(wanted_pause.unwrap_or(pause).min(LONGEST_PAUSE)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
