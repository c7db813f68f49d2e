//! Review rules: what `.deepreview` files hold, and which files a rule is about.

use std::path::{Path, PathBuf};

use crate::check::{self, Check, Need, Place, Violation, WORD, is_word};
use crate::files::{self, FileError};
use crate::globs::Glob;
use crate::review_block::{Agents, Context, Strategy, read_agents, read_context};
use crate::walk;
use crate::yaml::{self, YamlError};

/// The name of rule files.
pub const RULE_FILE: &str = ".deepreview";

/// A rule file's size, and that of an instruction file it names: 1 MiB.
const RULE_BYTES: u64 = 1024 * 1024;

/// A review that files may be due for.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name; not unique.
    pub name: String,
    /// One line.
    pub description: String,
    /// Which files it is about.
    pub matcher: Matcher,
    /// How they are handed out.
    pub strategy: Strategy,
    /// What to look for.
    pub instructions: String,
    /// What the pass of a review depends on beside the files; a change of it asks for the review again.
    pub identity: String,
    /// Who does it.
    pub agents: Agents,
    /// What else is told.
    pub context: Context,
    /// The folder it sees, absolute.
    pub folder: PathBuf,
    /// The file it stands in, absolute.
    pub source: PathBuf,
    /// The line of its name, from 1; 0 when it was made of something else.
    pub line: usize,
    /// A command whose output is told, as it was written.
    pub command: Option<String>,
    /// Files that are told with their content.
    pub references: Vec<Reference>,
}

/// A file that a reviewer is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// How it is headed.
    pub shown: String,
    /// What it is.
    pub description: Option<String>,
}

/// Which files a rule is about.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// By patterns, relative to the rule's folder.
    Globs {
        /// Any of these.
        include: Vec<Glob>,
        /// And none of these.
        exclude: Vec<Glob>,
    },
    /// Exactly these, as they were named.
    Exact(Vec<String>),
}

impl Rule {
    /// Tells whether it takes every file.
    #[must_use]
    pub fn is_catch_all(&self) -> bool {
        match &self.matcher {
            Matcher::Globs { include, .. } => include.iter().all(Glob::is_catch_all),
            Matcher::Exact(_) => false,
        }
    }

    /// Tells whether it is about a file, named relative to the root.
    #[must_use]
    pub fn matches(&self, root: &Path, file: &str) -> bool {
        match &self.matcher {
            Matcher::Exact(files) => files.iter().any(|exact| exact == file),
            Matcher::Globs { include, exclude } => {
                let Some(inner) = self.inner(root, file) else { return false };
                include.iter().any(|glob| glob.matches(inner)) && !exclude.iter().any(|glob| glob.matches(inner))
            }
        }
    }

    /// A file's name as seen from the rule's folder.
    fn inner<'a>(&self, root: &Path, file: &'a str) -> Option<&'a str> {
        let scope = self.folder.strip_prefix(root).ok()?.to_str()?;
        if scope.is_empty() {
            return Some(file);
        }
        file.strip_prefix(scope)?.strip_prefix('/')
    }
}

/// A rule file that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is no YAML.
    #[error("`{}` is no valid YAML: {source}", path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its position.
        source: YamlError,
    },
    /// It breaks the rules of the format.
    #[error("`{}` does not follow the format of review rules:\n{}", path.display(), check::listed(violations))]
    Format {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong.
        violations: Vec<Violation>,
    },
}

/// All rules of a project's rule files.
#[derive(Debug, Default)]
pub struct RuleFiles {
    /// From the deepest file to the root's, then by path, in file order.
    pub rules: Vec<Rule>,
    /// Files that could not be used, absolute, with the reason.
    pub errors: Vec<(PathBuf, RuleError)>,
}

/// Sorts rule files found by a walk as they count: the deepest first, then by path.
pub(crate) fn sort(files: &mut [PathBuf]) {
    files.sort_by(|one, other| other.components().count().cmp(&one.components().count()).then_with(|| one.cmp(other)));
}

/// Finds and reads every rule file below a root.
#[must_use]
pub fn find(root: &Path) -> RuleFiles {
    let mut files = Vec::new();
    walk::files(root, |name| name == RULE_FILE, |path| files.push(path));
    read_all(files)
}

/// Reads rule files that were found.
pub(crate) fn read_all(mut files: Vec<PathBuf>) -> RuleFiles {
    sort(&mut files);
    let mut all = RuleFiles::default();
    for path in files {
        match read(&path) {
            Ok(rules) => all.rules.extend(rules),
            Err(error) => all.errors.push((path, error)),
        }
    }
    all
}

/// Reads one rule file. One bad rule refuses them all, so that nobody believes in a review that does not run.
///
/// # Errors
///
/// Says everything that is wrong.
pub fn read(path: &Path) -> Result<Vec<Rule>, RuleError> {
    parse(&files::read_text(path, RULE_BYTES)?, path)
}

/// Reads the text of a rule file at `path`.
///
/// # Errors
///
/// As [`read`].
pub fn parse(text: &str, path: &Path) -> Result<Vec<Rule>, RuleError> {
    let root = yaml::parse(text).map_err(|source| RuleError::Yaml { path: path.to_owned(), source })?;
    let Some(root) = root else { return Ok(Vec::new()) };
    let mut check = Check::default();
    let mut rules = Vec::new();
    let folder = path.parent().unwrap_or(Path::new("/"));
    for (key, place) in check.entries(&Place::root(&root), is_word, WORD) {
        rules.extend(read_rule(&mut check, &key.text, key.line, &place, folder, path));
    }
    if check.violations.is_empty() {
        Ok(rules)
    } else {
        Err(RuleError::Format { path: path.to_owned(), violations: check.violations })
    }
}

fn read_rule(check: &mut Check, name: &str, line: usize, at: &Place<'_>, folder: &Path, source: &Path) -> Option<Rule> {
    use Need::{Optional, Required};
    let fields = check.fields(at, &[("description", Required), ("match", Required), ("review", Required)], &[])?;
    let description = fields.get("description").and_then(|at| check.short_text(&at, 0, 256));
    let matcher = fields.get("match").and_then(|at| {
        let fields = check.fields(&at, &[("include", Required), ("exclude", Optional)], &[])?;
        let include = fields.get("include").map(|at| read_globs(check, &at)).unwrap_or_default();
        if include.is_empty() {
            check.fault(&at, "`include` needs at least one pattern");
        }
        let exclude = fields.get("exclude").map(|at| read_globs(check, &at)).unwrap_or_default();
        Some(Matcher::Globs { include, exclude })
    });
    let review = fields.get("review")?;
    let fields = check.fields(
        &review,
        &[
            ("strategy", Required),
            ("instructions", Required),
            ("agent", Optional),
            ("precomputed_info_for_reviewer_bash_command", Optional),
            ("reference_files", Optional),
            ("additional_context", Optional),
        ],
        &[],
    )?;
    let strategy = fields.get("strategy").and_then(|at| match check.text(&at)?.as_str() {
        "individual" => Some(Strategy::Individual),
        "matches_together" => Some(Strategy::MatchesTogether),
        "all_changed_files" => Some(Strategy::AllChangedFiles),
        other => {
            check.fault(
                &at,
                format!("`{other}` is no strategy: use `individual`, `matches_together` or `all_changed_files`"),
            );
            None
        }
    });
    let instructions = fields.get("instructions").and_then(|at| read_instructions(check, &at, folder));
    let agents = fields.get("agent").map(|at| read_agents(check, &at)).unwrap_or_default();
    let command = fields.get("precomputed_info_for_reviewer_bash_command").and_then(|at| check.full_text(&at));
    let references = fields.get("reference_files").map(|at| read_references(check, &at, folder)).unwrap_or_default();
    let context = fields.get("additional_context").map(|at| read_context(check, &at)).unwrap_or_default();
    let instructions = instructions?;
    Some(Rule {
        name: name.to_owned(),
        description: description?,
        matcher: matcher?,
        strategy: strategy?,
        identity: instructions.clone(),
        instructions,
        agents,
        context,
        folder: folder.to_owned(),
        source: source.to_owned(),
        line,
        command,
        references,
    })
}

fn read_globs(check: &mut Check, at: &Place<'_>) -> Vec<Glob> {
    let items = check.items(at);
    items.iter().filter_map(|item| check.text(item).map(|text| Glob::new(&text))).collect()
}

fn read_instructions(check: &mut Check, at: &Place<'_>, folder: &Path) -> Option<String> {
    if at.node.as_mapping().is_none() {
        return check.full_text(at);
    }
    let fields = check.fields(at, &[("file", Need::Required)], &[])?;
    let file = check.full_text(&fields.get("file")?)?;
    match files::read_text(&folder.join(&file), RULE_BYTES) {
        Ok(text) => Some(text),
        Err(error) => {
            check.fault(at, format!("the instruction file cannot be used: {}", model::with_causes(&error)));
            None
        }
    }
}

fn read_references(check: &mut Check, at: &Place<'_>, folder: &Path) -> Vec<Reference> {
    let items = check.items(at);
    let mut references = Vec::new();
    for item in &items {
        let keys = [("path", Need::Required), ("description", Need::Optional)];
        let Some(fields) = check.fields(item, &keys, &[]) else { continue };
        let path = fields.get("path").and_then(|at| check.full_text(&at));
        let description = fields.get("description").and_then(|at| check.text(&at));
        if let Some(path) = path {
            references.push(Reference { path: folder.join(&path), shown: path, description });
        }
    }
    references
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
