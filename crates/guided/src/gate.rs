//! The quality gate: what a step has to pass before the next one begins.
//!
//! JSON Schemas first; then every review that the job, the rule files and the schemas ask for and that was not passed
//! yet. Nothing is judged here: a review is passed by whoever did it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::GuidedError;
use crate::files;
use crate::guided::Project;
use crate::job::{ArgumentKind, JOB_FILE};
use crate::json_check;
use crate::review_block::{Agents, Context, ReviewBlock, Strategy};
use crate::reviews::Sources;
use crate::rules::{Matcher, Rule};
use crate::schemas::JUDGING;
use crate::state::{Given, Values};
use crate::step_text::StepPlace;
use crate::tasks::{self, Task};

/// What the gate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The step may end; configured checks that did not run are named.
    Passes {
        /// One sentence each.
        not_checked: Vec<String>,
    },
    /// There is something to do first.
    NeedsWork(String),
}

/// Puts what a step hands in through the gate.
pub(crate) fn pass(
    project: &Project<'_>,
    place: &StepPlace<'_>,
    inputs: &Values,
    outputs: &Values,
    work_summary: Option<&str>,
) -> Result<Verdict, GuidedError> {
    if let Some(feedback) = check_schemas(project, place, outputs)? {
        return Ok(Verdict::NeedsWork(feedback));
    }
    let submitted = submitted_files(place, outputs);
    let mut not_checked = Vec::new();
    let mut due = step_reviews(project, place, inputs, outputs, &submitted);
    due.extend(process_review(project, place, inputs, outputs, work_summary, &submitted, &mut not_checked));
    due.extend(text_reviews(project, place, inputs, outputs));
    due.extend(configured_reviews(project, &submitted, &mut not_checked));
    if due.is_empty() {
        return Ok(Verdict::Passes { not_checked });
    }
    let writer = project.writer();
    let due = writer.write(due)?;
    if due.is_empty() {
        return Ok(Verdict::Passes { not_checked });
    }
    let mut feedback = format!(
        "Reviews are needed before the step `{}` can end.\n\n{}\nStart one agent for each of them in parallel; each \
         reads its instruction file and reports what it finds. Then:\n- where a finding is not valid, or nothing is \
         left to do, call `mark_review_as_passed` with the id at the end of the instruction file;\n- else correct \
         what was found.\nThen call `finished_step` again with the same outputs.",
        place.step.name,
        writer.list(&due)
    );
    for note in &not_checked {
        feedback.push_str(&format!("\n\nNote: {note}"));
    }
    Ok(Verdict::NeedsWork(feedback))
}

/// All files that were handed in, sorted.
fn submitted_files(place: &StepPlace<'_>, outputs: &Values) -> Vec<String> {
    let files: BTreeSet<&String> =
        outputs.iter().filter(|(name, _)| is_file(place, name)).flat_map(|(_, value)| value.texts()).collect();
    files.into_iter().cloned().collect()
}

fn is_file(place: &StepPlace<'_>, name: &str) -> bool {
    place.argument(name).is_some_and(|argument| argument.kind == ArgumentKind::FilePath)
}

fn check_schemas(
    project: &Project<'_>,
    place: &StepPlace<'_>,
    outputs: &Values,
) -> Result<Option<String>, GuidedError> {
    let mut faults = Vec::new();
    for (name, value) in outputs {
        let Some(schema) = place.argument(name).and_then(|argument| argument.json_schema.as_ref()) else { continue };
        if !is_file(place, name) {
            continue;
        }
        let validator = json_check::compile(schema).map_err(|reason| {
            GuidedError::Outputs(format!("the json_schema of the argument `{name}` is no valid JSON Schema: {reason}"))
        })?;
        for file in value.texts() {
            if let Some(reason) = json_check::check_file(&project.root().join(file), &validator) {
                faults.push(format!("- output `{name}`, file `{file}`: {reason}"));
            }
        }
    }
    if faults.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!(
        "Some files do not satisfy the JSON Schema of their output:\n{}\n\nCorrect them, then call `finished_step` \
         again.",
        faults.join("\n")
    )))
}

/// What all rules made of a step have in common.
fn step_rule(project: &Project<'_>, place: &StepPlace<'_>, name: String, block: &ReviewBlock, preamble: &str) -> Rule {
    Rule {
        name,
        description: format!("A review of the step `{}`", place.step.name),
        matcher: Matcher::Exact(Vec::new()),
        strategy: block.strategy,
        instructions: format!("{preamble}{}", block.instructions),
        // What the step began with is told, but a pass does not hang on it.
        identity: block.instructions.clone(),
        agents: block.agents.clone(),
        context: block.context,
        folder: project.root().to_owned(),
        source: job_file(place),
        line: 0,
        command: None,
        references: Vec::new(),
    }
}

fn job_file(place: &StepPlace<'_>) -> PathBuf {
    place.job_folder.join(JOB_FILE)
}

/// The review blocks of an output: its own first, then its argument's.
fn blocks<'a>(place: &'a StepPlace<'_>, output: &str) -> Vec<(String, &'a ReviewBlock)> {
    let own = place.step.outputs.get(output).and_then(|output| output.review.as_ref());
    let argument = place.argument(output).and_then(|argument| argument.review.as_ref());
    let name = format!("step_{}_output_{output}", place.step.name);
    match (own, argument) {
        (Some(own), Some(argument)) => vec![(name.clone(), own), (format!("{name}_arg"), argument)],
        (Some(block), None) | (None, Some(block)) => vec![(name, block)],
        (None, None) => Vec::new(),
    }
}

/// Outputs in the order of the file, with their values.
fn in_order<'a>(place: &'a StepPlace<'_>, outputs: &'a Values) -> impl Iterator<Item = (&'a String, &'a Given)> {
    place.step.outputs.keys().filter_map(|name| Some((name, outputs.get(name)?)))
}

fn step_reviews(
    project: &Project<'_>,
    place: &StepPlace<'_>,
    inputs: &Values,
    outputs: &Values,
    submitted: &[String],
) -> Vec<Task> {
    let preamble = place.review_preamble(inputs);
    let mut due = Vec::new();
    for (name, value) in in_order(place, outputs).filter(|(name, _)| is_file(place, name)) {
        for (rule_name, block) in blocks(place, name) {
            let mut rule = step_rule(project, place, rule_name, block, &preamble);
            // The paths themselves, and not as patterns: a name may hold `*`.
            rule.matcher = Matcher::Exact(value.texts().to_vec());
            due.extend(tasks::of_rule(&rule, submitted, project.places(), project.platform()));
        }
    }
    due
}

fn text_reviews(project: &Project<'_>, place: &StepPlace<'_>, inputs: &Values, outputs: &Values) -> Vec<Task> {
    let preamble = place.review_preamble(inputs);
    let mut due = Vec::new();
    for (name, value) in in_order(place, outputs).filter(|(name, _)| !is_file(place, name)) {
        let Given::One(text) = value else { continue };
        for (rule_name, block) in blocks(place, name) {
            let rule = step_rule(project, place, rule_name, block, &preamble);
            due.push(tasks::of_text(&rule, text, project.places(), project.platform()));
        }
    }
    due
}

fn process_review(
    project: &Project<'_>,
    place: &StepPlace<'_>,
    inputs: &Values,
    outputs: &Values,
    work_summary: Option<&str>,
    submitted: &[String],
    not_checked: &mut Vec<String>,
) -> Vec<Task> {
    if place.step.process_requirements.is_empty() {
        return Vec::new();
    }
    let step = &place.step.name;
    let Some(summary) = work_summary else {
        not_checked.push(format!(
            "the process requirements of the step `{step}` were not checked, since no work_summary was given"
        ));
        return Vec::new();
    };
    if submitted.is_empty() {
        not_checked.push(format!(
            "the process requirements of the step `{step}` were not checked, since it hands in no files"
        ));
        return Vec::new();
    }
    let requirements: String =
        place.step.process_requirements.iter().map(|(name, text)| format!("- **{name}**: {}\n", text.trim())).collect();
    let handed_in: String = in_order(place, outputs)
        .map(|(name, value)| {
            let shown = if is_file(place, name) {
                value.texts().iter().map(|path| format!("@{path}")).collect::<Vec<_>>().join(", ")
            } else {
                value.texts().join(", ")
            };
            format!("- **{name}**: {shown}\n")
        })
        .collect();
    let block = ReviewBlock {
        strategy: Strategy::MatchesTogether,
        instructions: format!("{JUDGING}\n\n## Requirements on the work\n\n{requirements}"),
        agents: Agents::default(),
        context: Context::default(),
    };
    let name = format!("step_{step}_process_quality");
    let mut rule = step_rule(project, place, name, &block, &place.review_preamble(inputs));
    rule.instructions = format!(
        "{}\nJudge how the work was done, by what its author says of it.\n\n## Work summary\n\n{summary}\n\n## \
         Outputs\n\n{handed_in}",
        rule.instructions
    );
    rule.matcher = Matcher::Exact(submitted.to_vec());
    tasks::of_rule(&rule, submitted, project.places(), project.platform())
}

/// Rules of files and schemas are for what changed among what was handed in.
fn configured_reviews(project: &Project<'_>, submitted: &[String], not_checked: &mut Vec<String>) -> Vec<Task> {
    if submitted.is_empty() {
        return Vec::new();
    }
    let configured = project.configured(Sources::All);
    for error in configured.errors() {
        not_checked.push(format!("a review rule could not be used: {error}"));
    }
    if configured.rules.is_empty() {
        return Vec::new();
    }
    let handed_in = HandedIn::new(project.root(), submitted);
    for path in &handed_in.outside {
        not_checked.push(format!("review rules were not applied to `{path}`, since it lies outside the project"));
    }
    // Git is asked only when a rule could match.
    let could_match =
        configured.rules.iter().any(|rule| handed_in.files.iter().any(|file| rule.matches(project.root(), file)));
    if !could_match && handed_in.folders.is_empty() {
        return Vec::new();
    }
    let changed = match project.git().changed(None) {
        Ok(changed) => changed,
        Err(error) => {
            not_checked.push(format!("review rules were not applied, since git cannot tell what changed: {error}"));
            return Vec::new();
        }
    };
    let changed: Vec<String> = changed.into_iter().filter(|file| handed_in.holds(file)).collect();
    configured
        .rules
        .iter()
        .flat_map(|rule| tasks::of_rule(rule, &changed, project.places(), project.platform()))
        .collect()
}

/// What was handed in, as git names it. One file has many spellings (absolute, through links, with `..`), and a rule is
/// for the file.
#[derive(Debug, Default)]
struct HandedIn {
    /// Relative to the root, with `/`.
    files: BTreeSet<String>,
    /// Folders, likewise; each stands for what is below it. The root itself is empty.
    folders: Vec<String>,
    /// What git cannot tell anything of, as it was handed in.
    outside: Vec<String>,
}

impl HandedIn {
    fn new(root: &Path, submitted: &[String]) -> Self {
        let mut handed_in = Self::default();
        for path in submitted {
            if !handed_in.add(root, path) {
                handed_in.outside.push(path.clone());
            }
        }
        handed_in
    }

    /// Tells whether all that a path stands for lies in the project.
    fn add(&mut self, root: &Path, submitted: &str) -> bool {
        let path = root.join(submitted);
        let Ok(real) = path.canonicalize() else { return false };
        // A link is a file of its own as well, which git knows by its own name.
        let own = path.file_name().zip(path.parent().and_then(|folder| folder.canonicalize().ok()));
        if let Some((name, folder)) = own
            && let Some(own) = relative(root, &folder.join(name))
        {
            self.files.insert(own);
        }
        let Some(target) = relative(root, &real) else { return false };
        if real.is_dir() {
            self.folders.push(target);
        } else {
            self.files.insert(target);
        }
        true
    }

    fn holds(&self, changed: &str) -> bool {
        let below = |folder: &String| {
            folder.is_empty() || changed.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        self.files.contains(changed) || self.folders.iter().any(below)
    }
}

/// A real path as git names it.
fn relative(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok().map(files::display)
}
