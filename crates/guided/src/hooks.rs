//! Hooks: what an agent program asks us after its own tools ran. One JSON object in, one out; never in the way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use process::Spec;
use serde_json::{Value, json};

use crate::command;
use crate::files;
use crate::guided::{Guided, Project};
use crate::json_check;
use crate::reviews::{Sources, with_warning};
use crate::schemas::{Located, Schemas};

/// What is read of a hook's input: 16 MiB, since it may hold a written file.
pub const INPUT_BYTES: u64 = 16 * 1024 * 1024;

/// How long one verification command may take.
const COMMAND_TIME: Duration = Duration::from_secs(30);

/// What is kept of its output.
const COMMAND_BYTES: usize = 32 * 1024;

/// The hooks there are.
pub const NAMES: [&str; 2] = [WRITE, COMMIT];

/// The hook for after a file was written.
pub const WRITE: &str = "deepschema_write";

/// The hook for after a shell command, which may have been a commit.
pub const COMMIT: &str = "post_commit_reminder";

/// An agent program's names for events and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Claude Code.
    Claude,
    /// Gemini CLI.
    Gemini,
}

impl Platform {
    /// Reads `DEEPWORK_HOOK_PLATFORM`; what is not known counts as Claude Code.
    #[must_use]
    pub fn from_name(name: Option<&str>) -> Self {
        match name {
            Some("gemini") => Self::Gemini,
            Some(_) | None => Self::Claude,
        }
    }

    fn is_after_tool(self, event: &str) -> bool {
        event
            == match self {
                Self::Claude => "PostToolUse",
                Self::Gemini => "AfterTool",
            }
    }

    fn writes(self, tool: &str) -> bool {
        match self {
            Self::Claude => matches!(tool, "Write" | "Edit"),
            Self::Gemini => matches!(tool, "write_file" | "replace" | "edit_file"),
        }
    }

    fn is_shell(self, tool: &str) -> bool {
        match self {
            Self::Claude => tool == "Bash",
            Self::Gemini => matches!(tool, "run_shell_command" | "shell" | "bash"),
        }
    }
}

/// Answers a hook. `None`: there is no hook of this name.
#[must_use]
pub fn answer(guided: &Guided, name: &str, platform: Platform, input: &[u8], folder: &Path) -> Option<Value> {
    // What is no JSON object says nothing, and is answered with nothing.
    let input: Value = serde_json::from_slice(input).unwrap_or_default();
    let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
    let event = text("hook_event_name");
    let root = Some(text("cwd")).filter(|cwd| !cwd.is_empty()).map_or_else(|| folder.to_owned(), PathBuf::from);
    let note = match name {
        WRITE => {
            if platform.is_after_tool(event) && platform.writes(text("tool_name")) {
                let file = input.pointer("/tool_input/file_path").and_then(Value::as_str);
                guided.project(&root).ok().zip(file).and_then(|(project, file)| after_write(&project, file))
            } else {
                None
            }
        }
        COMMIT => {
            let command = input.pointer("/tool_input/command").and_then(Value::as_str).unwrap_or_default();
            if platform.is_after_tool(event) && platform.is_shell(text("tool_name")) && command.contains("git commit") {
                guided.project(&root).ok().map(|project| after_commit(&project))
            } else {
                None
            }
        }
        _ => return None,
    };
    Some(match note {
        Some(note) => json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": note } }),
        None => json!({}),
    })
}

fn after_commit(project: &Project<'_>) -> String {
    let configured = project.configured(Sources::All);
    let errors = configured.errors();
    let passed = project.git().last_commit().is_ok_and(|files| project.all_passed(&configured, &files));
    let text = if !passed {
        "The commit holds files that were not reviewed as they are now. Offer the user a review of the changes: \
         `get_review_instructions` lists what is due."
    } else if errors.is_empty() {
        "No new review is needed: every rule that matches the files of this commit was passed for them."
    } else {
        "Whether the commit has to be reviewed is not known. Every rule that could be read and matches its files was \
         passed for them; offer the user to mend the others."
    };
    with_warning(text.into(), &errors)
}

/// Checks a file that was just written against every schema that is for it.
fn after_write(project: &Project<'_>, file: &str) -> Option<String> {
    // Resolved through its folder, so that a link does not lead out of the project.
    let path = project.root().join(file);
    let path = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    let relative = path.strip_prefix(project.root()).ok()?.to_str()?.to_owned();
    let schemas = project.schemas();
    let applying: Vec<&Located> = schemas.applying(&relative).collect();
    if applying.is_empty() {
        return None;
    }
    let mut text = String::new();
    let mut found = Findings::default();
    for located in applying {
        text.push_str(&format!(
            "`{relative}` must follow the schema `{}` (`{}`).\n",
            located.name,
            project.places().shown(&located.path)
        ));
        match &located.schema {
            Ok(schema) => check(project, &schemas, located, schema, &path, &mut found),
            Err(error) => found.faults.push(model::with_causes(error)),
        }
    }
    let lines = |items: &[String]| items.iter().map(|item| format!("- {item}\n")).collect::<String>();
    if !found.faults.is_empty() {
        text.push_str(&format!(
            "\nCRITICAL: `{relative}` does not follow its schema. Correct it now:\n{}",
            lines(&found.faults)
        ));
    }
    if !found.not_checked.is_empty() {
        text.push_str(&format!("\nNot checked:\n{}", lines(&found.not_checked)));
    }
    Some(text)
}

/// What came of checking a file.
#[derive(Debug, Default)]
struct Findings {
    /// What is wrong with it.
    faults: Vec<String>,
    /// Checks that did not run, which says nothing about the file.
    not_checked: Vec<String>,
}

fn check(
    project: &Project<'_>,
    schemas: &Schemas,
    located: &Located,
    schema: &crate::schemas::Schema,
    path: &Path,
    found: &mut Findings,
) {
    let resolved = match schemas.resolve(&located.name, schema) {
        Ok(resolved) => resolved,
        Err(error) => {
            found.faults.push(error.to_string());
            return;
        }
    };
    if let Some(file) = &resolved.json_schema {
        match json_schema(file) {
            Ok(validator) => found.faults.extend(json_check::check_file(path, &validator)),
            Err(reason) => found.faults.push(format!("the JSON Schema `{}` {reason}", project.places().shown(file))),
        }
    }
    for text in &resolved.commands {
        if !project.commands() {
            found.not_checked.push(format!("the check `{text}`, since commands of schemas are turned off"));
            continue;
        }
        found.faults.extend(run(project, text, path));
    }
}

fn json_schema(file: &Path) -> Result<jsonschema::Validator, String> {
    let schema = json_check::read_data(file).map_err(|reason| format!("cannot be used: {reason}"))?;
    if !schema.is_object() && !schema.is_boolean() {
        return Err("is no JSON Schema: it must hold a mapping or a truth value".into());
    }
    json_check::compile(&schema).map_err(|reason| format!("is no valid JSON Schema: {reason}"))
}

/// The file is the command's first argument, and never a part of its text.
fn run(project: &Project<'_>, text: &str, path: &Path) -> Option<String> {
    let spec = Spec::new("bash")
        .arguments(["-c", text, "bash", &files::display(path)])
        .folder(project.root())
        .environment(project.environment().clone());
    match command::run_kept(project.keeper(), spec, COMMAND_TIME, COMMAND_BYTES, project.stop()) {
        Ok(finished) if finished.succeeded() => None,
        Ok(finished) if finished.timed_out => {
            Some(format!("the check `{text}` was ended: it took over {} seconds", COMMAND_TIME.as_secs()))
        }
        Ok(finished) => Some(format!(
            "the check `{text}` failed with exit code {}: {}{}",
            finished.code.map_or_else(|| "none (killed)".to_owned(), |code| code.to_string()),
            String::from_utf8_lossy(&finished.output),
            finished.error_text()
        )),
        Err(error) => Some(format!("the check `{text}` could not be started: {}", model::with_causes(&error))),
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
