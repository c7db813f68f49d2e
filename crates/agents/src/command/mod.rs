//! Agent programs as children: one process for each, started from a preset's argument list.
//!
//! Here: [`Preset`], how a program is spoken to, as data; [`CommandProvider`], which does it; `reading`, what is taken
//! from its output; `structured`, how a program that knows no schemas is asked for JSON. Processes are started by
//! whoever owns the run, through [`Launch`].

mod preset;
mod reading;
mod structured;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Capabilities, Child, ChildResult, Fault, Provider, Request, Schema, StartRefused, Starting, StopReason};

pub use preset::{Argument, Preset, PresetError, presets};
pub use reading::{Format, Reading};

/// How long a child may write nothing, unless the call says otherwise.
pub const SILENCE: Duration = Duration::from_secs(600);

/// How often a program that answered with something else than asked for is asked again.
const ASKED_AGAIN: usize = 2;

/// Bytes of standard error that explain a failure.
const DIAGNOSTIC_BYTES: usize = 4096;

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// What it reads on standard input.
    pub input: String,
    /// Variables of our own environment that it gets beside the usual ones; a `*` at the end stands for any rest.
    pub variables: Vec<String>,
    /// How long it may write nothing.
    pub silence: Duration,
    /// How long it may take.
    pub limit: Option<Duration>,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ran {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// Whether that was cut.
    pub cut: bool,
    /// The end of what it wrote to standard error.
    pub stderr: String,
    /// Whether it was ended since it wrote nothing for too long.
    pub stalled: bool,
    /// Whether it was ended since it took too long.
    pub late: bool,
}

/// A process that runs. Dropping it ends the process with everything below it.
pub type Running = Pin<Box<dyn Future<Output = Result<Ran, Fault>> + Send>>;

/// A process that is being started.
pub type Launching = Pin<Box<dyn Future<Output = Result<Running, StartRefused>> + Send>>;

/// Starts processes for the provider.
pub trait Launch: Send + Sync + std::fmt::Debug {
    /// Starts one. It ends with its whole tree once `stop` fires.
    fn launch(&self, line: CommandLine, stop: CancellationToken) -> Launching;
}

/// Runs an agent program for each child.
#[derive(Debug, Clone)]
pub struct CommandProvider {
    preset: Arc<Preset>,
    launch: Arc<dyn Launch>,
}

impl CommandProvider {
    /// Takes a preset and the means to start processes.
    pub fn new(preset: Preset, launch: Arc<dyn Launch>) -> Self {
        Self { preset: Arc::new(preset), launch }
    }

    fn line(&self, request: &Request, prompt: &str, schema: Option<&Value>) -> CommandLine {
        let milliseconds = |name: &str| {
            request
                .options
                .get(name)
                .and_then(Value::as_f64)
                .filter(|value| *value > 0.0)
                .map(|value| Duration::from_secs_f64((value / 1000.0).min(7.0 * 24.0 * 3600.0)))
        };
        CommandLine {
            argv: self.preset.argv(request, prompt, schema),
            folder: request.folder.clone(),
            input: self.preset.input(prompt),
            variables: self.preset.environment.clone(),
            silence: milliseconds("stallMs").unwrap_or(SILENCE),
            limit: milliseconds("timeoutMs"),
        }
    }
}

impl Provider for CommandProvider {
    fn name(&self) -> &str {
        &self.preset.name
    }

    fn capabilities(&self) -> Capabilities {
        let mut options: Vec<String> = ["provider", "stallMs", "timeoutMs"].map(str::to_owned).into();
        options.extend(self.preset.options().map(str::to_owned));
        Capabilities { schema: true, options }
    }

    fn start(&self, request: Request, stop: CancellationToken) -> Starting {
        let provider = self.clone();
        Box::pin(async move {
            let wanted = Wanted::of(&provider.preset, &request);
            let line = provider.line(&request, &wanted.prompt, wanted.native.as_ref());
            let running = provider.launch.launch(line, stop.clone()).await?;
            Ok(Child {
                id: format!("{}-{}", provider.preset.name, request.seq),
                result: Box::pin(async move { provider.see_through(request, wanted, running, stop).await }),
            })
        })
    }
}

/// How a request is put to the program.
struct Wanted {
    prompt: String,
    /// The schema, for a program that takes one.
    native: Option<Value>,
    /// Whether results are wrapped in an object.
    wrapped: bool,
    schema: Option<Schema>,
}

impl Wanted {
    fn of(preset: &Preset, request: &Request) -> Self {
        let Some(schema) = &request.schema else {
            return Self { prompt: request.prompt.clone(), native: None, wrapped: false, schema: None };
        };
        let checked = Schema::new(schema).ok();
        if preset.takes_schemas() {
            let (native, wrapped) = Schema::for_objects(schema);
            return Self { prompt: request.prompt.clone(), native: Some(native), wrapped, schema: checked };
        }
        Self { prompt: structured::ask(&request.prompt, schema), native: None, wrapped: false, schema: checked }
    }
}

impl CommandProvider {
    /// Waits for the process, and starts others where it stalled or answered with something else than asked for.
    async fn see_through(
        &self,
        request: Request,
        wanted: Wanted,
        running: Running,
        stop: CancellationToken,
    ) -> Result<ChildResult, Fault> {
        let mut running = running;
        let mut tokens: Option<u64> = None;
        let mut stalled_before = false;
        let mut asked = 0;
        loop {
            let ran = running.await?;
            if stop.is_cancelled() {
                return Ok(failed("aborted", None, tokens));
            }
            if ran.stalled {
                if stalled_before {
                    return Ok(failed("stalled", Some("it wrote nothing for too long, twice".into()), tokens));
                }
                stalled_before = true;
                running = self.again(&request, &wanted.prompt, &wanted, &stop).await?;
                continue;
            }
            let mut result = self.judge(&ran);
            if let Some(more) = result.output_tokens {
                tokens = Some(tokens.unwrap_or(0).saturating_add(more));
            }
            result.output_tokens = tokens;
            let (Some(schema), StopReason::Completed) = (&wanted.schema, &result.stop) else { return Ok(result) };
            let complaint = match self.structured(&result, &wanted) {
                Some(value) => {
                    let violations = schema.violations(&value);
                    if violations.is_empty() {
                        result.structured = Some(value);
                        return Ok(result);
                    }
                    violations.join("\n")
                }
                None => "there is no JSON value in the answer".to_owned(),
            };
            if asked == ASKED_AGAIN {
                result.structured = None;
                result.diagnostic = Some(cut(&format!("no valid structured result: {complaint}")));
                return Ok(result);
            }
            asked += 1;
            let prompt = structured::ask_again(&wanted.prompt, &result.text, &complaint);
            running = self.again(&request, &prompt, &wanted, &stop).await?;
        }
    }

    fn structured(&self, result: &ChildResult, wanted: &Wanted) -> Option<Value> {
        let value = result.structured.clone().or_else(|| structured::find(&result.text))?;
        if wanted.wrapped { value.get("value").cloned() } else { Some(value) }
    }

    async fn again(
        &self,
        request: &Request,
        prompt: &str,
        wanted: &Wanted,
        stop: &CancellationToken,
    ) -> Result<Running, Fault> {
        let line = self.line(request, prompt, wanted.native.as_ref());
        self.launch.launch(line, stop.clone()).await.map_err(|refused| Fault(refused.0))
    }

    /// Reads what a process left.
    fn judge(&self, ran: &Ran) -> ChildResult {
        let read = reading::read(self.preset.format, &self.preset.readings, &ran.stdout);
        let stderr = cut(ran.stderr.trim());
        if ran.late {
            return failed("error", Some("it took longer than `timeoutMs`".into()), read.output_tokens);
        }
        if ran.code != Some(0) {
            let how = match ran.code {
                Some(code) => format!("it ended with exit code {code}"),
                None => "a signal ended it".into(),
            };
            let why = read.failure.or((!stderr.is_empty()).then_some(stderr));
            let diagnostic = why.map_or_else(|| how.clone(), |why| format!("{how}: {why}"));
            return failed("error", Some(cut(&diagnostic)), read.output_tokens);
        }
        if let Some(failure) = read.failure {
            return failed("error", Some(cut(&failure)), read.output_tokens);
        }
        if ran.cut {
            return failed("error", Some("it wrote more than is kept".into()), read.output_tokens);
        }
        match read.text {
            Some(text) => ChildResult {
                stop: StopReason::Completed,
                text,
                structured: read.structured,
                output_tokens: read.output_tokens,
                diagnostic: None,
            },
            None => failed("error", Some("its output has no result in the form that was agreed on".into()), None),
        }
    }
}

fn failed(word: &str, diagnostic: Option<String>, output_tokens: Option<u64>) -> ChildResult {
    ChildResult {
        stop: StopReason::Other(word.to_owned()),
        text: String::new(),
        structured: None,
        output_tokens,
        diagnostic,
    }
}

/// Keeps the end of a text that is too long to show.
fn cut(text: &str) -> String {
    let mut start = text.len().saturating_sub(DIAGNOSTIC_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}
