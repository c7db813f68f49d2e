//! Schemas for files: what a kind of file has to satisfy, written once, for reviews and for the moment of writing.
//!
//! A named schema is a folder with `deepschema.yml`; an anonymous one, `.deepschema.FILE.yml`, lies beside its file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::catalog::subfolders;
use crate::check::{self, Check, Need, Place, Violation, WORD, is_word};
use crate::files::{self, FileError};
use crate::globs::Glob;
use crate::review_block::{Agents, Context, Strategy};
use crate::rules::{Matcher, Reference, Rule};
use crate::yaml::{self, YamlError};

/// The file of a named schema.
pub const SCHEMA_FILE: &str = "deepschema.yml";

/// A schema file's size: 1 MiB.
const SCHEMA_BYTES: u64 = 1024 * 1024;

/// A schema as it was written.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    /// One line.
    pub summary: Option<String>,
    /// How such files are made.
    pub instructions: Option<String>,
    /// Which files it is for; named ones only.
    pub matchers: Vec<String>,
    /// By name.
    pub requirements: IndexMap<String, String>,
    /// Whose requirements and checks it takes over.
    pub parents: Vec<String>,
    /// A JSON Schema, absolute.
    pub json_schema: Option<PathBuf>,
    /// Commands that check a file.
    pub commands: Vec<String>,
    /// Files that are good ones: path and description.
    pub examples: Vec<(String, String)>,
    /// Files to look at: path and description.
    pub references: Vec<(String, String)>,
}

/// A schema with where it was found.
#[derive(Debug)]
pub struct Located {
    /// Its name: the folder's, or the file's that it lies beside.
    pub name: String,
    /// Its file, absolute.
    pub path: PathBuf,
    /// The one file it is for, relative to the root; anonymous ones only.
    pub target: Option<String>,
    /// What it holds, or why it cannot be used.
    pub schema: Result<Schema, SchemaError>,
}

/// Why a schema cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
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
    #[error("`{}` does not follow the format of schemas:\n{}", path.display(), check::listed(violations))]
    Format {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong.
        violations: Vec<Violation>,
    },
    /// A parent is missing or cannot be used itself.
    #[error("the schema `{schema}` is left out: its parent `{parent}` {reason}")]
    Parent {
        /// The schema.
        schema: String,
        /// The parent.
        parent: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// A schema with what it takes over from its parents.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    /// By name, later parents over earlier ones, its own over all.
    pub requirements: IndexMap<String, String>,
    /// Its parents' first.
    pub commands: Vec<String>,
    /// Its own, else the first parent's that has one.
    pub json_schema: Option<PathBuf>,
}

/// Every schema of a project.
#[derive(Debug, Default)]
pub struct Schemas {
    /// In the order of sources, then by name.
    pub named: Vec<Located>,
    /// By path.
    pub anonymous: Vec<Located>,
}

/// Tells which file an anonymous schema is for, by its own file's name.
#[must_use]
pub fn anonymous_target(name: &str) -> Option<&str> {
    name.strip_prefix(".deepschema.")?.strip_suffix(".yml").filter(|target| !target.is_empty())
}

/// Reads every named schema in these folders; the first of a name counts, also when it cannot be used.
#[must_use]
pub fn named(folders: &[PathBuf]) -> Vec<Located> {
    let mut taken = HashSet::new();
    let mut found = Vec::new();
    for folder in folders {
        for name in subfolders(folder) {
            let path = folder.join(&name).join(SCHEMA_FILE);
            if path.exists() && taken.insert(name.clone()) {
                found.push(Located { schema: read(&path, true), name, path, target: None });
            }
        }
    }
    found
}

/// Reads anonymous schemas that were found below `root`.
#[must_use]
pub fn anonymous(root: &Path, mut files: Vec<PathBuf>) -> Vec<Located> {
    files.sort();
    files
        .into_iter()
        .filter_map(|path| {
            let name = anonymous_target(path.file_name()?.to_str()?)?.to_owned();
            let folder = path.parent()?.strip_prefix(root).ok()?.to_str()?;
            let target = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            Some(Located { schema: read(&path, false), name, target: Some(target), path })
        })
        .collect()
}

fn read(path: &Path, is_named: bool) -> Result<Schema, SchemaError> {
    parse(&files::read_text(path, SCHEMA_BYTES)?, path, is_named)
}

/// Reads the text of a schema at `path`.
///
/// # Errors
///
/// Says everything that is wrong.
pub fn parse(text: &str, path: &Path, is_named: bool) -> Result<Schema, SchemaError> {
    use Need::Optional;
    let root = yaml::parse(text).map_err(|source| SchemaError::Yaml { path: path.to_owned(), source })?;
    let Some(root) = root else { return Ok(Schema::default()) };
    let mut check = Check::default();
    let keys = [
        ("summary", Optional),
        ("instructions", Optional),
        ("matchers", Optional),
        ("requirements", Optional),
        ("parent_deep_schemas", Optional),
        ("json_schema_path", Optional),
        ("verification_bash_command", Optional),
        ("examples", Optional),
        ("references", Optional),
    ];
    let mut schema = Schema::default();
    let at = Place::root(&root);
    if let Some(fields) = check.fields(&at, &keys, &[]) {
        let folder = path.parent().unwrap_or(Path::new("/"));
        schema.summary = fields.get("summary").and_then(|at| check.text(&at));
        schema.instructions = fields.get("instructions").and_then(|at| check.text(&at));
        schema.matchers = fields.get("matchers").map(|at| texts(&mut check, &at)).unwrap_or_default();
        schema.parents = fields.get("parent_deep_schemas").map(|at| texts(&mut check, &at)).unwrap_or_default();
        schema.commands = fields.get("verification_bash_command").map(|at| texts(&mut check, &at)).unwrap_or_default();
        schema.json_schema =
            fields.get("json_schema_path").and_then(|at| check.full_text(&at)).map(|file| folder.join(file));
        schema.examples = fields.get("examples").map(|at| pairs(&mut check, &at)).unwrap_or_default();
        schema.references = fields.get("references").map(|at| pairs(&mut check, &at)).unwrap_or_default();
        if let Some(at) = fields.get("requirements") {
            for (key, place) in check.entries(&at, is_word, WORD) {
                if let Some(text) = check.text(&place) {
                    schema.requirements.insert(key.text.clone(), text);
                }
            }
        }
        if !is_named && let Some(at) = fields.get("matchers") {
            check.fault(&at, "a schema beside its file is for that file: leave `matchers` out");
        }
    }
    if check.violations.is_empty() {
        Ok(schema)
    } else {
        Err(SchemaError::Format { path: path.to_owned(), violations: check.violations })
    }
}

fn texts(check: &mut Check, at: &Place<'_>) -> Vec<String> {
    let items = check.items(at);
    items.iter().filter_map(|item| check.text(item)).collect()
}

fn pairs(check: &mut Check, at: &Place<'_>) -> Vec<(String, String)> {
    let items = check.items(at);
    let mut found = Vec::new();
    for item in &items {
        let Some(fields) = check.fields(item, &[("path", Need::Required), ("description", Need::Required)], &[]) else {
            continue;
        };
        let path = fields.get("path").and_then(|at| check.full_text(&at));
        let description = fields.get("description").and_then(|at| check.text(&at));
        found.extend(path.zip(description));
    }
    found
}

impl Schemas {
    /// Works out what a schema asks for together with its parents, which are named ones.
    ///
    /// # Errors
    ///
    /// Names the parent that is missing, broken, or leads back to the schema.
    pub fn resolve(&self, name: &str, schema: &Schema) -> Result<Resolved, SchemaError> {
        self.resolve_inner(name, schema, &mut Vec::new(), &mut HashMap::new())
    }

    /// `done` keeps what was worked out, so that a family in which all are related costs no more than its members.
    fn resolve_inner(
        &self,
        name: &str,
        schema: &Schema,
        above: &mut Vec<String>,
        done: &mut HashMap<String, Resolved>,
    ) -> Result<Resolved, SchemaError> {
        let mut resolved = Resolved::default();
        let mut seen = HashSet::new();
        for parent in &schema.parents {
            let fault = |reason| SchemaError::Parent { schema: name.to_owned(), parent: parent.clone(), reason };
            if parent == name || above.contains(parent) || above.len() > 50 {
                return Err(fault("leads back to it"));
            }
            let located = self.named.iter().find(|one| one.name == *parent).ok_or_else(|| fault("does not exist"))?;
            let parent_schema = located.schema.as_ref().map_err(|_| fault("cannot be read"))?;
            let inherited = match done.get(parent) {
                Some(resolved) => resolved.clone(),
                None => {
                    above.push(name.to_owned());
                    let resolved = self.resolve_inner(parent, parent_schema, above, done)?;
                    above.pop();
                    done.insert(parent.clone(), resolved.clone());
                    resolved
                }
            };
            resolved.requirements.extend(inherited.requirements);
            // One that two parents share runs once.
            resolved.commands.extend(inherited.commands.into_iter().filter(|one| !seen.contains(one)));
            seen.extend(resolved.commands.iter().cloned());
            resolved.json_schema = resolved.json_schema.or(inherited.json_schema);
        }
        for (key, text) in &schema.requirements {
            resolved.requirements.insert(key.clone(), text.clone());
        }
        resolved.commands.extend(schema.commands.iter().cloned());
        resolved.json_schema = schema.json_schema.clone().or(resolved.json_schema);
        Ok(resolved)
    }

    /// Makes review rules of all schemas, and says what could not be used.
    #[must_use]
    pub fn rules(&self, root: &Path) -> (Vec<Rule>, Vec<String>) {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        for located in self.named.iter().chain(&self.anonymous) {
            let outcome = match &located.schema {
                Ok(schema) => self.resolve(&located.name, schema).map(|resolved| (schema, resolved)),
                Err(error) => {
                    errors.push(model::with_causes(error));
                    continue;
                }
            };
            match outcome {
                Ok((schema, resolved)) => rules.extend(rule(root, located, schema, &resolved, &mut errors)),
                Err(SchemaError::Parent { schema, .. }) if schema != located.name => {
                    // Its own fault is told where it is its turn.
                    errors.push(format!("the schema `{}` is left out, as its ancestor `{schema}` is", located.name));
                }
                Err(error) => errors.push(error.to_string()),
            }
        }
        (rules, errors)
    }

    /// Finds the schemas that are for a file, named relative to the root.
    pub fn applying<'a>(&'a self, file: &'a str) -> impl Iterator<Item = &'a Located> + 'a {
        self.named.iter().chain(&self.anonymous).filter(move |located| match &located.target {
            Some(target) => target == file,
            None => located
                .schema
                .as_ref()
                .is_ok_and(|schema| schema.matchers.iter().any(|matcher| Glob::new(matcher).matches(file))),
        })
    }
}

/// How a requirement's words are to be taken (RFC 2119).
pub(crate) const JUDGING: &str = "Judge by the words of RFC 2119. A MUST or SHALL that is not met fails the review. A \
    SHOULD or RECOMMENDED that is not met fails it when it could be met with little effort. For everything else, give \
    feedback and let it pass. Leave out what does not apply.";

fn rule(
    root: &Path,
    located: &Located,
    schema: &Schema,
    resolved: &Resolved,
    errors: &mut Vec<String>,
) -> Option<Rule> {
    if resolved.requirements.is_empty() || (located.target.is_none() && schema.matchers.is_empty()) {
        return None;
    }
    let name = &located.name;
    let mut text = match &located.target {
        None => format!("This file is an instance of the schema `{name}`."),
        Some(target) => format!("The file `{target}` has requirements of its own that it must follow."),
    };
    if located.target.is_none() {
        for part in [&schema.summary, &schema.instructions].into_iter().flatten() {
            text.push_str(&format!("\n\n{}", part.trim()));
        }
    }
    text.push_str(&format!("\n\n{JUDGING}\n"));
    for (key, requirement) in &resolved.requirements {
        text.push_str(&format!("\n- **{key}**: {}", requirement.trim()));
    }
    let folder = located.path.parent().unwrap_or(root);
    if !schema.examples.is_empty() {
        text.push_str("\n\nExamples of good files:\n");
        for (path, description) in &schema.examples {
            text.push_str(&format!("\n- `{}`: {}", shown(root, &folder.join(path)), description.trim()));
        }
    }
    let mut references = Vec::new();
    for (path, description) in &schema.references {
        if path.starts_with("http://") || path.starts_with("https://") {
            continue;
        }
        let file = folder.join(path);
        if file.exists() {
            references.push(Reference {
                shown: shown(root, &file),
                path: file,
                description: Some(description.clone()),
            });
        } else {
            errors.push(format!("the schema `{name}` names the reference `{path}`, which does not exist"));
        }
    }
    if let Some(file) = &resolved.json_schema {
        references.push(Reference {
            shown: shown(root, file),
            path: file.clone(),
            description: Some("The JSON Schema that the file has to satisfy".into()),
        });
    }
    let matcher = match &located.target {
        Some(target) => Matcher::Exact(vec![target.clone()]),
        None => Matcher::Globs {
            include: schema.matchers.iter().map(|matcher| Glob::new(matcher)).collect(),
            exclude: Vec::new(),
        },
    };
    Some(Rule {
        name: format!("{name} DeepSchema Compliance"),
        description: match &located.target {
            None => format!("Checks that files follow the schema `{name}`"),
            Some(target) => format!("Checks that `{target}` follows its own schema"),
        },
        matcher,
        strategy: Strategy::Individual,
        identity: text.clone(),
        instructions: text,
        agents: Agents::default(),
        context: Context::default(),
        folder: root.to_owned(),
        source: located.path.clone(),
        line: 0,
        command: None,
        references,
    })
}

fn shown(root: &Path, path: &Path) -> String {
    files::display(path.strip_prefix(root).unwrap_or(path))
}

#[cfg(test)]
#[path = "schemas_tests.rs"]
mod tests;
