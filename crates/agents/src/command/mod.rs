//! Agent programs as children: one process for each, started from a preset's argument list.
//!
//! Here: [`Preset`], how a program is spoken to, as data; [`CommandProvider`], which does it; `reading`, what is taken
//! from its output. Processes are started by whoever owns the run, through [`Launch`].

mod preset;
mod reading;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::structured::{self, ASKED_AGAIN, Wanted};
use crate::{Capabilities, Child, ChildResult, Fault, Provider, Request, StartRefused, Starting, StopReason, Usage};

pub use preset::{Argument, Preset, PresetError, presets};
pub use reading::{Format, Reading};

/// How long a child may write nothing, unless the call says otherwise.
pub const SILENCE: Duration = Duration::from_secs(600);

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
        let mut options: Vec<String> = ["stallMs", "timeoutMs"].map(str::to_owned).into();
        options.extend(self.preset.options().map(str::to_owned));
        Capabilities { schema: true, options }
    }

    fn knows_agent_type(&self, name: &str, folder: &Path) -> bool {
        let preset = &self.preset;
        let in_files = |files: &String| folder.join(files).join(format!("{name}.md")).is_file();
        let plain = !name.contains(['/', '\\', '\0']);
        preset.options().any(|option| option == "agentType")
            && (preset.agent_types.iter().any(|known| known == name)
                || (plain && preset.agent_files.as_ref().is_some_and(in_files)))
    }

    fn knows_model(&self, name: &str) -> bool {
        self.preset.models.knows(name)
    }

    fn start(&self, request: Request, stop: CancellationToken) -> Starting {
        let provider = self.clone();
        Box::pin(async move {
            let wanted = Wanted::of(&request, provider.preset.takes_schemas());
            let line = provider.line(&request, &wanted.prompt, wanted.native.as_ref());
            let running = provider.launch.launch(line, stop.clone()).await?;
            Ok(Child {
                id: format!("{}-{}", provider.preset.name, request.seq),
                result: Box::pin(async move { provider.see_through(request, wanted, running, stop).await }),
            })
        })
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
        let mut usage = Usage::default();
        let mut stalled_before = false;
        let mut asked = 0;
        loop {
            let ran = running.await?;
            if stop.is_cancelled() {
                return Ok(ChildResult::stopped("aborted", None, usage));
            }
            if ran.stalled {
                if stalled_before {
                    let why = "it wrote nothing for too long, twice".to_owned();
                    return Ok(ChildResult::stopped("stalled", Some(why), usage));
                }
                stalled_before = true;
                running = self.again(&request, &wanted.prompt, &wanted, &stop).await?;
                continue;
            }
            let mut result = self.judge(&ran);
            usage = usage.plus(result.usage);
            result.usage = usage;
            if result.stop != StopReason::Completed {
                return Ok(result);
            }
            let complaint = match wanted.judge(result.structured.as_ref(), &result.text) {
                Ok(value) => {
                    result.structured = value;
                    return Ok(result);
                }
                Err(complaint) => complaint,
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
        let preset = &self.preset;
        let mut read = reading::read(preset.format, &preset.readings, &ran.stdout);
        let usage = read.usage;
        let failed = |why: String| ChildResult::stopped("error", Some(cut(&why)), usage);
        if ran.late {
            return failed("it took longer than `timeoutMs`".into());
        }
        if ran.code != Some(0) {
            let how = match ran.code {
                Some(code) => match preset.exits.get(&code.to_string()) {
                    Some(meaning) => format!("{meaning} (exit code {code})"),
                    None => format!("it ended with exit code {code}"),
                },
                None => "a signal ended it".into(),
            };
            if read.failure.is_none() && preset.format != Format::Text {
                // Some programs put the failure where their warnings go, in the form of their answers.
                read.failure = reading::failure(preset.format, &preset.readings, &ran.stderr);
            }
            let stderr = plain(&ran.stderr);
            let why = read.failure.or_else(|| (!stderr.is_empty()).then(|| cut(&stderr)));
            return failed(why.map_or_else(|| how.clone(), |why| format!("{how}: {why}")));
        }
        if let Some(failure) = read.failure {
            return failed(failure);
        }
        if ran.cut {
            return failed("it wrote more than is kept".into());
        }
        match read.text {
            Some(text) => {
                ChildResult { stop: StopReason::Completed, text, structured: read.structured, usage, diagnostic: None }
            }
            None => failed("its output has no result in the form that was agreed on".into()),
        }
    }
}

/// A text without the sequences by which terminals are told colours.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some(start) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let end = after.find(|sign: char| ('@'..='~').contains(&sign)).map_or(after.len(), |end| end + 1);
        rest = &after[end..];
    }
    plain.push_str(rest);
    plain
}

/// Keeps the end of a text that is too long to show.
fn cut(text: &str) -> String {
    let mut start = text.len().saturating_sub(DIAGNOSTIC_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}
