//! What a file offers, found without a host: its kind, its declaration, and all it imports.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::{ErrorCode, RunError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::{Purpose, run_for};
use crate::modules::{Graph, Shelf};
use crate::source::{Compiled, Declared, compile_module, compile_script};
use crate::{
    Control, Delivery, Host, HostCall, Job, JobKind, ModuleSource, Narration, Note, Outcome, SourceError,
    SourceErrorCode, Sources, thread,
};

/// Time that reading a declaration may take when the module must be executed for it.
const DECLARATION_TIME: Duration = Duration::from_secs(1);

/// Memory for the same, in MiB.
const DECLARATION_MEGABYTES: u64 = 128;

/// What a file offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Analysis {
    /// What kind of file it is.
    pub kind: JobKind,
    /// A module's `entrypoint` (`null` if it has none), or a script's `meta`, an object.
    pub declaration: Value,
    /// The file and everything it imports, the file first.
    pub modules: Vec<ModuleSource>,
    /// What is ignored in it, for the log.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<Note>,
}

/// Reads what `file` (relative to `root`, `/` between the parts) offers.
///
/// A file with a default export is a module, one with `export const meta` a script. A literal `entrypoint` is read from
/// the syntax tree; otherwise the module's top level is executed, without host calls and for a second at most.
/// Sources are parsed here, so a hostile one may, past all guards, still take the process down: call it where that
/// costs nothing else.
///
/// # Errors
///
/// What is wrong with the file or with one it imports, and where.
pub fn analyze(root: &Path, file: &str) -> Result<Analysis, SourceError> {
    let sources = Sources::Disk;
    let read = thread::with_stack(|| read(root, file, &sources));
    let Read { analysis, computed } = read
        .unwrap_or_else(|| Err(SourceError::of_file(SourceErrorCode::Syntax, file, "the source cannot be parsed")))?;
    // The texts that were read are the ones to look at, whatever happens on the disk meanwhile.
    let kept = analysis.modules.iter().map(|module| (module.path.clone(), module.text.clone())).collect();
    let mut job = Job::new(analysis.kind, root, file);
    job.sources = Sources::Kept(kept);
    job.memory_bytes = DECLARATION_MEGABYTES * 1024 * 1024;
    let control = Arc::new(Control::new());
    control.time_out_after(DECLARATION_TIME);
    let purpose = if computed { Purpose::Declaration } else { Purpose::Compile };
    let mut host = Closed { asked: None };
    let outcome = run_for(purpose, &job, &mut host, &control);
    match outcome {
        Outcome::Success(declaration) if computed => match declaration {
            Value::Object(_) => Ok(Analysis { declaration, ..analysis }),
            _ => Err(declaration_error(file, "`entrypoint` must be an object".into(), None)),
        },
        Outcome::Success(_) => Ok(analysis),
        Outcome::Failed(error) if computed => {
            let reason = match error.code {
                ErrorCode::MemoryLimit => format!("loading the module takes more than {DECLARATION_MEGABYTES} MB"),
                _ => error.message.clone(),
            };
            Err(declaration_error(file, format!("`entrypoint` cannot be read: {reason}"), Some(&error)))
        }
        Outcome::Failed(error) => Err(located(SourceErrorCode::Syntax, file, error.message.clone(), Some(&error))),
        Outcome::Cancelled { .. } | Outcome::Suspended => {
            let asked = host.asked.map_or("something", |call| call.kind.as_str());
            Err(declaration_error(
                file,
                format!("`entrypoint` cannot be read: the module asks its host for `{asked}` while it is loaded"),
                None,
            ))
        }
        Outcome::TimedOut => Err(declaration_error(
            file,
            format!(
                "`entrypoint` cannot be read: loading the module takes longer than {} s",
                DECLARATION_TIME.as_secs()
            ),
            None,
        )),
    }
}

/// Where people keep orchestration scripts.
const SCRIPTS_FOLDER: &str = ".claude/workflows/";

/// What the sources alone say.
struct Read {
    analysis: Analysis,
    /// Whether the declaration must be executed.
    computed: bool,
}

fn read(root: &Path, file: &str, sources: &Sources) -> Result<Read, SourceError> {
    let shelf = Shelf::new(root, sources);
    let text = shelf.read(file)?;
    let first = compile_module(file, &text, true)?;
    // Among scripts a file with `meta` is one, whatever else it exports.
    if first.has_meta && (!first.has_default || file.starts_with(SCRIPTS_FOLDER)) {
        let script = compile_script(file, &text)?;
        let analysis = Analysis {
            kind: JobKind::Script,
            declaration: script.meta.value,
            modules: vec![ModuleSource::new(file, text)],
            notes: script.meta.notes,
        };
        return Ok(Read { analysis, computed: false });
    }
    if !first.has_default {
        return Err(SourceError::of_file(
            SourceErrorCode::Undeclared,
            file,
            "there is no default export: add `export default async function (input, flow) { … }`",
        ));
    }
    // Again, as a module is: `return` belongs into functions.
    let compiled: Compiled = compile_module(file, &text, false)?;
    let (declaration, computed) = match &compiled.entrypoint {
        Declared::Absent => (Value::Null, false),
        Declared::Literal(value @ Value::Object(_)) => (value.clone(), false),
        Declared::Literal(_) => {
            return Err(declaration_error(file, "`entrypoint` must be an object".into(), None));
        }
        Declared::Computed(_) => (Value::Null, true),
    };
    let graph = Graph::load(&shelf, file, text, compiled)?;
    let analysis = Analysis { kind: JobKind::Module, declaration, modules: graph.sources, notes: Vec::new() };
    Ok(Read { analysis, computed })
}

fn declaration_error(file: &str, message: String, error: Option<&RunError>) -> SourceError {
    located(SourceErrorCode::Entrypoint, file, message, error)
}

/// Makes an error that points to where a stack begins.
fn located(code: SourceErrorCode, file: &str, message: String, error: Option<&RunError>) -> SourceError {
    let place = error.and_then(|error| error.cause.as_deref()).and_then(first_place);
    match place {
        Some((file, line, column)) => SourceError { code, message, file, line: Some(line), column: Some(column) },
        None => SourceError::of_file(code, file, message),
    }
}

/// Finds the first `file:line:column` of a stack.
fn first_place(cause: &str) -> Option<(String, u32, u32)> {
    cause.lines().find_map(|line| {
        let frame = line.trim_start().strip_prefix("at ")?;
        let place =
            frame.strip_suffix(')').map_or(frame, |inner| inner.rsplit_once(" (").map_or(inner, |(_, place)| place));
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?, column.parse().ok()?))
    })
}

/// A host that gives nothing.
struct Closed {
    asked: Option<HostCall>,
}

impl Host for Closed {
    fn loaded(&mut self, _modules: &[ModuleSource]) {}

    fn issue(&mut self, call: HostCall) {
        self.asked.get_or_insert(call);
    }

    fn narrate(&mut self, _event: Narration) {}

    fn next_delivery(&mut self) -> Delivery {
        Delivery::Cancelled { reason: "nothing can be asked for here".into() }
    }
}
