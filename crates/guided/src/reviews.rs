//! Reviews outside workflows: which rules there are, which files are due, and marking a review as passed.

use std::path::PathBuf;

use crate::answers::{ReviewInfo, SchemaInfo};
use crate::catalog::folder_list;
use crate::check::first_of;
use crate::files;
use crate::guided::Project;
use crate::rules::{self, RULE_FILE, Rule, RuleError};
use crate::schemas::{self, Schemas};
use crate::tasks;
use crate::walk;

/// Every review rule of a project.
#[derive(Debug, Default)]
pub struct Configured {
    /// From rule files, then from schemas.
    pub rules: Vec<Rule>,
    /// Rule files that could not be used, absolute.
    pub broken: Vec<(PathBuf, RuleError)>,
    /// What is wrong with schemas.
    pub schema_errors: Vec<String>,
}

impl Configured {
    /// Everything that is wrong, one sentence each.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        let broken = self.broken.iter().map(|(_, error)| model::with_causes(error));
        broken.chain(self.schema_errors.iter().cloned()).collect()
    }
}

/// Which rules a review takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sources {
    /// Rule files and schemas.
    All,
    /// Rule files only.
    RuleFiles,
}

/// What a review is about.
#[derive(Debug, Clone)]
pub enum Scope {
    /// These files; rules that take every file are left out.
    Named(Vec<String>),
    /// These files, with every rule.
    Listed(Vec<String>),
    /// What changed since the default branch, or since this.
    Changed(Option<String>),
}

/// What came of asking for reviews, and what is wrong with rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// The answer.
    pub answer: ReviewAnswer,
    /// Rules that could not be used, one sentence each.
    pub errors: Vec<String>,
}

impl Reviewed {
    /// The text as the tool answers it, with what is wrong before it.
    #[must_use]
    pub fn into_text(self) -> String {
        match self.answer {
            ReviewAnswer::Text(text) => with_warning(text, &self.errors),
            ReviewAnswer::Failed(reason) => format!("Review error: {reason}"),
        }
    }
}

/// What came of asking for reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewAnswer {
    /// A list of tasks or a message.
    Text(String),
    /// It could not be done.
    Failed(String),
}

impl Project<'_> {
    /// Reads every schema.
    #[must_use]
    pub fn schemas(&self) -> Schemas {
        let mut files = Vec::new();
        walk::files(self.root(), |name| schemas::anonymous_target(name).is_some(), |path| files.push(path));
        Schemas { named: self.named_schemas(), anonymous: schemas::anonymous(self.root(), files) }
    }

    fn named_schemas(&self) -> Vec<schemas::Located> {
        let mut folders = vec![self.places().schemas()];
        folders.extend(folder_list(self.variable("DEEPWORK_ADDITIONAL_SCHEMAS_FOLDERS").as_deref(), self.root()));
        schemas::named(&folders)
    }

    /// Reads every review rule, in one walk over the project.
    #[must_use]
    pub fn configured(&self, sources: Sources) -> Configured {
        let (mut rule_files, mut schema_files) = (Vec::new(), Vec::new());
        let wanted =
            |name: &str| name == RULE_FILE || (sources == Sources::All && schemas::anonymous_target(name).is_some());
        walk::files(self.root(), wanted, |path| {
            if path.file_name().is_some_and(|name| name == RULE_FILE) {
                rule_files.push(path);
            } else {
                schema_files.push(path);
            }
        });
        let from_files = rules::read_all(rule_files);
        let mut configured =
            Configured { rules: from_files.rules, broken: from_files.errors, schema_errors: Vec::new() };
        if sources == Sources::All {
            let schemas =
                Schemas { named: self.named_schemas(), anonymous: schemas::anonymous(self.root(), schema_files) };
            let (rules, errors) = schemas.rules(self.root());
            configured.rules.extend(rules);
            configured.schema_errors = errors;
        }
        configured
    }

    /// `get_review_instructions`: writes what reviewers read, and lists the reviews that are due.
    #[must_use]
    pub fn review(&self, scope: Scope, sources: Sources) -> Reviewed {
        let configured = self.configured(sources);
        let errors = configured.errors();
        Reviewed { answer: self.review_by(&configured, scope), errors }
    }

    fn review_by(&self, configured: &Configured, scope: Scope) -> ReviewAnswer {
        let said = |text: &str| ReviewAnswer::Text(text.into());
        if configured.rules.is_empty() {
            return said(if configured.broken.is_empty() && configured.schema_errors.is_empty() {
                "No reviews are configured: there is no .deepreview file with rules in this project, and no schema with \
                 requirements."
            } else {
                "There are no valid review rules."
            });
        }
        let catch_all = !matches!(scope, Scope::Named(_));
        let mut files = match scope {
            Scope::Named(files) | Scope::Listed(files) => files,
            Scope::Changed(base) => match self.git().changed(base.as_deref()) {
                Ok(files) => files,
                Err(error) => return ReviewAnswer::Failed(format!("Git error: {error}")),
            },
        };
        files.sort_unstable();
        files.dedup();
        if files.is_empty() {
            return said("No changed files were found.");
        }
        let due: Vec<tasks::Task> = configured
            .rules
            .iter()
            .filter(|rule| catch_all || !rule.is_catch_all())
            .flat_map(|rule| tasks::of_rule(rule, &files, self.places(), self.platform()))
            .collect();
        if due.is_empty() {
            return said("No review rule matches the changed files.");
        }
        let writer = self.writer();
        let written = writer.write(due);
        if let Err(error) = self.wanted() {
            return ReviewAnswer::Failed(error.to_string());
        }
        match written {
            Ok(due) if due.is_empty() => {
                said("No review tasks to do: every matching review was passed for these files as they are.")
            }
            Ok(due) => ReviewAnswer::Text(writer.list(&due)),
            Err(error) => ReviewAnswer::Failed(model::with_causes(&error)),
        }
    }

    /// `get_configured_reviews`: lists the rules, all or those that match any of these files.
    #[must_use]
    pub fn configured_reviews(&self, only: Option<&[String]>) -> Vec<ReviewInfo> {
        let configured = self.configured(Sources::All);
        let matches = |rule: &Rule| match only {
            None => true,
            Some(files) => !rule.is_catch_all() && files.iter().any(|file| rule.matches(self.root(), file)),
        };
        let mut list: Vec<ReviewInfo> = configured
            .rules
            .iter()
            .filter(|rule| matches(rule))
            .map(|rule| ReviewInfo {
                name: rule.name.clone(),
                description: rule.description.clone(),
                defining_file: tasks::source(rule, self.places()),
            })
            .collect();
        list.extend(configured.broken.iter().map(|(path, error)| ReviewInfo {
            name: format!("PARSE_ERROR:{}", files::display(path)),
            description: model::with_causes(error),
            defining_file: files::display(path),
        }));
        list
    }

    /// `mark_review_as_passed`: the review does not come back while what it is about stays the same.
    #[must_use]
    pub fn mark_passed(&self, id: &str) -> String {
        if let Err(reason) = check_review_id(id) {
            return format!("Validation error: {reason}");
        }
        match self.places().write(&self.places().reviews().join(format!("{id}.passed")), b"") {
            Ok(()) => format!("Review '{id}' is marked as passed. It comes back when what it is about changes."),
            Err(error) => format!("Validation error: the mark cannot be written: {}", model::with_causes(&error)),
        }
    }

    /// `get_named_schemas`: lists the named schemas.
    #[must_use]
    pub fn schema_list(&self) -> Vec<SchemaInfo> {
        self.named_schemas()
            .into_iter()
            .map(|located| match located.schema {
                Ok(schema) => SchemaInfo {
                    name: located.name,
                    summary: schema.summary.unwrap_or_default(),
                    matchers: schema.matchers,
                },
                Err(error) => SchemaInfo {
                    name: located.name,
                    summary: format!("(cannot be used: {})", model::with_causes(&error)),
                    matchers: Vec::new(),
                },
            })
            .collect()
    }

    /// Tells whether every rule that matches these files, except those that take everything, was passed for them. It says
    /// nothing of rules that could not be read.
    #[must_use]
    pub fn all_passed(&self, configured: &Configured, files: &[String]) -> bool {
        configured
            .rules
            .iter()
            .filter(|rule| !rule.is_catch_all())
            .flat_map(|rule| tasks::of_rule(rule, files, self.places(), self.platform()))
            .all(|task| tasks::is_passed(&task.id, self.places()))
    }
}

/// A review id becomes a file's name.
pub(crate) fn check_review_id(id: &str) -> Result<(), String> {
    if id.trim().is_empty() {
        return Err("review_id must not be empty".into());
    }
    let unsafe_part = id.contains("..") || id.chars().any(|one| matches!(one, '/' | '\\') || one.is_control());
    // With its ending it has to be a file's name.
    if unsafe_part || id.len() > 240 {
        return Err(format!(
            "`{}` is no review id: use the one that stands at the end of the instruction file, without `..` or `/`",
            id.chars().take(80).collect::<String>().escape_debug()
        ));
    }
    Ok(())
}

/// Faults that an answer tells; a reader mends the first ones and asks again.
const MOST_WARNINGS: usize = 50;

pub(crate) fn with_warning(text: String, errors: &[String]) -> String {
    if errors.is_empty() {
        return text;
    }
    let lines = first_of(errors.iter().map(|error| error.replace('\n', "\n  ")), MOST_WARNINGS);
    format!("Warning: some review rules could not be used.\n- {}\n\n{text}", lines.join("\n- "))
}
