//! What a reviewer reads: one file to each task, and the list that says who reads which.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::{Environment, Spec};

use crate::changes;
use crate::command::{self, RunError, Stop};
use crate::files::{self, FileError};
use crate::paths::Places;
use crate::rules::Reference;
use crate::tasks::{self, Task};

/// Files that are shown with their content in one task.
const MOST_REFERENCES: usize = 20;

/// Bytes of content that are shown in one task: 256 KiB.
const REFERENCE_BYTES: usize = 256 * 1024;

/// What is read of a file that is shown: 16 MiB, to be cut afterwards.
const READ_BYTES: u64 = 16 * 1024 * 1024;

/// Commands that run side by side.
const COMMANDS: usize = 8;

/// How long one command may take.
const COMMAND_TIME: Duration = Duration::from_secs(60);

/// What is kept of a command's output: 256 KiB.
const COMMAND_BYTES: usize = 256 * 1024;

/// What the files are written with.
#[derive(Debug)]
pub struct Writer<'a> {
    /// The project.
    pub places: &'a Places,
    /// What commands get.
    pub environment: &'a Environment,
    /// Whether commands of rules may run.
    pub commands: bool,
    /// The image that keeps them, if there is one.
    pub keeper: Option<&'a Path>,
    /// Ends them before their time.
    pub stop: &'a Stop,
}

impl Writer<'_> {
    /// Leaves out the tasks that were passed, writes a file for each of the rest, and returns these. When the call was
    /// cancelled meanwhile, nothing more is written.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write(&self, tasks: Vec<Task>) -> Result<Vec<Task>, FileError> {
        let mut due: Vec<Task> = tasks.into_iter().filter(|task| !tasks::is_passed(&task.id, self.places)).collect();
        let mut seen = std::collections::HashSet::new();
        due.retain(|task| seen.insert(task.id.clone()));
        let folder = self.places.reviews();
        self.places.make(&folder)?;
        let due_ids: std::collections::HashSet<&str> = due.iter().map(|task| task.id.as_str()).collect();
        remove_old(&folder, &due_ids);
        let outputs = self.run_commands(&due);
        if self.stop.is_raised() {
            return Ok(due);
        }
        for task in &due {
            let output = task.command.as_ref().and_then(|command| outputs.get(command)).map(String::as_str);
            self.places.write(&folder.join(format!("{}.md", task.id)), self.text(task, output).as_bytes())?;
        }
        Ok(due)
    }

    /// Writes the list of tasks for an agent that starts reviewers.
    #[must_use]
    pub fn list(&self, tasks: &[Task]) -> String {
        let mut text = String::from(
            "Start all of these reviews at once, each in an agent of its own.\nDo not read the files behind `@` \
             yourself: pass each prompt on as it stands.\n",
        );
        let folder = self.prompt_folder();
        for task in tasks {
            text.push_str(&format!(
                "\ndescription: {}\n\tname: {}\n\tsubagent_type: {}\n\tprompt: \"@{folder}/{}.md\"\n",
                one_line(&task.description),
                one_line(&task.rule),
                one_line(&task.agent),
                task.id
            ));
        }
        text
    }

    /// Prompts are read relative to where the agent program was started, which is the main tree for worktrees in it.
    fn prompt_folder(&self) -> String {
        let folder = self.places.reviews();
        let base = changes::main_tree(self.places.root()).unwrap_or_else(|| self.places.root().to_owned());
        files::display(folder.strip_prefix(&base).unwrap_or(&folder))
    }

    fn run_commands(&self, tasks: &[Task]) -> HashMap<(PathBuf, String), String> {
        let mut wanted: Vec<(PathBuf, String)> = tasks.iter().filter_map(|task| task.command.clone()).collect();
        wanted.sort();
        wanted.dedup();
        if !self.commands {
            let note = "The command of this rule was not run, since commands of rules are turned off.";
            return wanted.into_iter().map(|command| (command, note.to_owned())).collect();
        }
        let mut outputs = HashMap::new();
        for group in wanted.chunks(COMMANDS) {
            std::thread::scope(|scope| {
                let running: Vec<_> = group
                    .iter()
                    .map(|command| (command, scope.spawn(|| self.run_command(&command.0, &command.1))))
                    .collect();
                for (command, thread) in running {
                    let output = thread.join().unwrap_or_else(|_| "The command could not be run.".into());
                    outputs.insert(command.clone(), output);
                }
            });
        }
        outputs
    }

    /// The command is taken from the rule's folder, so `./tool.sh x` in it is found from the root as well.
    fn run_command(&self, folder: &Path, text: &str) -> String {
        let line = if text.starts_with('/') {
            text.to_owned()
        } else {
            format!("{}{text}", quote(&format!("{}/", files::display(folder))))
        };
        let spec =
            Spec::new("bash").arguments(["-c", &line]).folder(self.places.root()).environment(self.environment.clone());
        match command::run_kept(self.keeper, spec, COMMAND_TIME, COMMAND_BYTES, self.stop) {
            Err(RunError::Stopped) => "The command was ended: the call was cancelled.".to_owned(),
            Err(error) => format!("The command could not be started: {}", model::with_causes(&error)),
            Ok(finished) if finished.timed_out => {
                format!("The command `{text}` was ended: it took over {} seconds.", COMMAND_TIME.as_secs())
            }
            Ok(finished) if !finished.succeeded() => format!(
                "The command `{text}` failed with exit code {}: {}",
                finished.code.map_or_else(|| "none (killed)".to_owned(), |code| code.to_string()),
                finished.error_text()
            ),
            Ok(finished) => {
                let mut output = String::from_utf8_lossy(&finished.output).into_owned();
                if finished.cut {
                    output.push_str("\n(cut here)");
                }
                output
            }
        }
    }

    fn text(&self, task: &Task, output: Option<&str>) -> String {
        let scope = match (&task.inline, task.files.as_slice()) {
            (Some(_), _) => "inline content".to_owned(),
            (None, [one]) => one_line(one),
            (None, many) => format!("{} files", many.len()),
        };
        let root = files::display(self.places.root());
        let mut text = format!(
            "# Review: {} — {scope}\n\n## Project root\n\nAll paths here are relative to `{root}`. Build absolute paths \
             from it: your own working folder may be another tree of the same repository.\n\n## Review \
             instructions\n\n{}\n",
            one_line(&task.rule),
            task.instructions.trim_end()
        );
        if !task.references.is_empty() {
            text.push_str("\n## Contents of relevant files\n");
            text.push_str(&references(&task.references));
        }
        let list = |title: &str, files: &[String], mark: &str| {
            if files.is_empty() {
                return String::new();
            }
            let lines: String = files.iter().map(|file| format!("- {mark}{}\n", one_line(file))).collect();
            format!("\n## {title}\n\n{lines}")
        };
        text.push_str(&list("Files to review", &task.files, "@"));
        if let Some(inline) = &task.inline {
            text.push_str(&format!("\n## Content to review\n\n{}", block(inline, "text")));
        }
        text.push_str(&list("Matching files that did not change", &task.unchanged, "@"));
        text.push_str(&list("All changed files", &task.all_changed, ""));
        if let Some(output) = output {
            text.push_str(&format!("\n## Context computed beforehand\n\n{}\n", output.trim_end()));
        }
        text.push_str(&format!(
            "\n## After the review\n\nWhen nothing is left to be done, call `mark_review_as_passed` with this \
             review_id:\n\n{}\n\n---\n\nThis review is defined in `{}`.\n",
            task.id, task.source
        ));
        text
    }
}

fn references(list: &[Reference]) -> String {
    let mut text = String::new();
    let mut left = REFERENCE_BYTES;
    let mut only_named = Vec::new();
    let mut shown = 0;
    for reference in list {
        if shown >= MOST_REFERENCES || left == 0 {
            only_named.push(format!("`{}`", one_line(&reference.shown)));
            continue;
        }
        text.push_str(&format!("\n### {}\n", one_line(&reference.shown)));
        if let Some(description) = reference.description.as_deref().filter(|text| !text.trim().is_empty()) {
            text.push_str(&format!("\n{}\n", description.trim()));
        }
        match files::read_text(&reference.path, READ_BYTES) {
            Ok(content) => {
                shown += 1;
                let mut end = content.len().min(left);
                while !content.is_char_boundary(end) {
                    end -= 1;
                }
                let is_cut = end < content.len();
                text.push_str(&format!("\n{}", block(&content[..end], language(&reference.path))));
                if is_cut {
                    text.push_str("\n(cut here: the limit for shown content is reached)\n");
                    left = 0;
                } else {
                    left -= end;
                }
            }
            Err(error) => text.push_str(&format!("\n(cannot be shown: {})\n", model::with_causes(&error))),
        }
    }
    if !only_named.is_empty() {
        text.push_str(&format!("\nNot shown, read them yourself: {}\n", only_named.join(", ")));
    }
    text
}

/// A code block whose fence is longer than any run of backticks in it.
fn block(content: &str, language: &str) -> String {
    let longest = content.split(|one| one != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", content.trim_end_matches('\n'))
}

fn language(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("yml" | "yaml") => "yaml",
        Some("json") => "json",
        Some("md") => "markdown",
        Some("py") => "python",
        Some("sh") => "bash",
        Some("toml") => "toml",
        Some(_) | None => "text",
    }
}

/// A name that stands in one line, whatever it holds.
fn one_line(text: &str) -> String {
    text.chars().map(|one| if one.is_control() { '\u{fffd}' } else { one }).collect()
}

/// Quotes a text for the shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Files of earlier tasks that were not passed say nothing any more.
fn remove_old(folder: &Path, keep: &std::collections::HashSet<&str>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".md")) else { continue };
        // Only what has the form of an id is ours to remove.
        let is_id = id
            .rsplit_once("--")
            .is_some_and(|(_, hash)| hash.len() == 12 && hash.bytes().all(|one| one.is_ascii_hexdigit()));
        if is_id && !keep.contains(id) && !folder.join(format!("{id}.passed")).exists() {
            // Another call may have removed it already.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[path = "instructions_tests.rs"]
mod tests;
