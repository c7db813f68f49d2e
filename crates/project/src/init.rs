//! `workflow-code init`: a small working project in an empty folder, and what is missing in any other. What is there is
//! never overwritten, but for the `id` when a new one is asked for; package.json keeps its order and layout.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use model::IdSource;
use serde_json::{Value, json};

use crate::discovery::discover;
use crate::file_name::numbered;
use crate::package::{Manifest, PackageError, PackageFile, WORKFLOW_TYPE, parse_uuid};
use disk::read::read_bounded;

/// The kinds of projects that can be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Template {
    /// A TypeScript module, run by the embedded engine.
    #[default]
    Script,
    /// A program that is started for each call.
    Command,
}

impl Template {
    /// Returns the template of that name: `script` or `command`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "script" => Some(Self::Script),
            "command" => Some(Self::Command),
            _ => None,
        }
    }
}

/// Whether a project keeps its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRule {
    /// It does, and gets one if it has none.
    Keep,
    /// It gets a new one: it is a copy of another project.
    Renew,
}

/// Why a folder cannot be made a project.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// package.json stands in the way; what to do is in [`PackageError::next_step`].
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A part of package.json that has to be extended is of another shape.
    #[error("`{key}` in `{path}` is no object and cannot be extended", path = file.display())]
    Shape {
        /// The file.
        file: PathBuf,
        /// The key.
        key: &'static str,
    },
    /// A file changed between the plan and its execution.
    #[error("`{path}` has changed meanwhile; nothing was written to it", path = path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Something cannot be read or written.
    #[error("`{path}` cannot be written", path = path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// One file that is created or extended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path from the project's folder.
    pub path: String,
    /// Its text before; `None`: it is new.
    pub old: Option<String>,
    /// Its text after.
    pub new: String,
}

impl FileChange {
    /// Returns the change as a unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        let old = self.old.as_deref().unwrap_or_default();
        let before = if self.old.is_some() { format!("a/{}", self.path) } else { "/dev/null".into() };
        let after = format!("b/{}", self.path);
        similar::TextDiff::from_lines(old, self.new.as_str())
            .unified_diff()
            .context_radius(2)
            .header(&before, &after)
            .to_string()
    }
}

/// What `init` is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitPlan {
    /// The project's folder.
    pub folder: PathBuf,
    /// Its id, old or new.
    pub uuid: String,
    /// The files, package.json last; empty: nothing is missing.
    pub changes: Vec<FileChange>,
}

/// The templates' files: the name, the text.
const SCRIPT: (&str, &str) = ("main.workflow.ts", include_str!("../../../assets/templates/script/main.workflow.ts"));
const COMMAND: (&str, &str) = ("main.py", include_str!("../../../assets/templates/command/main.py"));
/// Secrets live in `.env`, and a project is often shared.
const IGNORE: (&str, &str) = (".gitignore", ".env\n");

/// Finds out what a folder lacks to be a working project. Nothing is written.
///
/// # Errors
///
/// A package.json of another project type, that is broken, or whose `id` is malformed and not to be renewed.
pub fn plan_init(
    folder: &Path,
    template: Template,
    id_rule: IdRule,
    ids: &dyn IdSource,
) -> Result<InitPlan, InitError> {
    let fresh = || {
        let mut bytes = [0; 16];
        ids.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().hyphenated().to_string()
    };
    let package = match PackageFile::read(folder) {
        Ok(package) => Some(package),
        Err(PackageError::NoFolder { .. } | PackageError::NoPackage { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut changes = Vec::new();
    if let Some(ignore) = missing_file(&root, IGNORE.0, IGNORE.1) {
        changes.push(ignore);
    }
    let (uuid, old, new) = match package {
        Some(package) => {
            let old_id = check_package(&package, id_rule)?;
            let uuid = old_id.unwrap_or_else(fresh);
            let entry = if has_entrypoints(&package, &uuid) { None } else { Some(entry_file(&root, template)) };
            let old = read_text(&package.file)?;
            let new = extend(&package, &old, &uuid, entry.as_ref().map(|file| declaration(template, &file.path)))?;
            changes.extend(entry);
            (uuid, Some(old), new)
        }
        None => {
            let uuid = fresh();
            let found = has_workflow_files(&root, &uuid);
            let entry = if found { None } else { Some(entry_file(&root, template)) };
            let new = new_package(&root, &uuid, entry.as_ref().map(|file| declaration(template, &file.path)));
            changes.extend(entry);
            (uuid, None, new)
        }
    };
    if old.as_ref() != Some(&new) {
        changes.push(FileChange { path: "package.json".into(), old, new });
    }
    Ok(InitPlan { folder: root, uuid, changes })
}

impl InitPlan {
    /// Writes the changes: new files where nothing is, package.json last and at once, so that a project which is only
    /// half written is none.
    ///
    /// # Errors
    ///
    /// [`InitError::Changed`] when somebody else was faster, or what cannot be written.
    pub fn apply(&self) -> Result<(), InitError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| InitError::Io { path, source }
        };
        std::fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        for change in &self.changes {
            let path = self.folder.join(&change.path);
            match &change.old {
                None => {
                    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(|source| {
                        if source.kind() == io::ErrorKind::AlreadyExists {
                            InitError::Changed { path: path.clone() }
                        } else {
                            InitError::Io { path: path.clone(), source }
                        }
                    })?;
                    file.write_all(change.new.as_bytes()).map_err(failed(&path))?;
                }
                Some(old) => {
                    if read_text(&path)? != *old {
                        return Err(InitError::Changed { path });
                    }
                    // A link stays a link: what it leads to is replaced.
                    let target = path.canonicalize().map_err(failed(&path))?;
                    let beside = target.parent().unwrap_or(&self.folder);
                    let mut file =
                        tempfile::Builder::new().prefix(".package-").tempfile_in(beside).map_err(failed(&path))?;
                    file.write_all(change.new.as_bytes()).map_err(failed(&path))?;
                    let permissions = std::fs::metadata(&target).map_err(failed(&path))?.permissions();
                    file.as_file().set_permissions(permissions).map_err(failed(&path))?;
                    file.as_file().sync_data().map_err(failed(&path))?;
                    file.persist(&target).map_err(|error| failed(&path)(error.error))?;
                }
            }
        }
        Ok(())
    }

    /// Returns all changes as one unified diff.
    #[must_use]
    pub fn diff(&self) -> String {
        self.changes.iter().map(FileChange::diff).collect()
    }
}

/// Finds out and writes in one go; see [`plan_init`] and [`InitPlan::apply`].
///
/// # Errors
///
/// Those of both.
pub fn init(folder: &Path, template: Template, id_rule: IdRule, ids: &dyn IdSource) -> Result<InitPlan, InitError> {
    let plan = plan_init(folder, template, id_rule, ids)?;
    plan.apply()?;
    Ok(plan)
}

fn read_text(path: &Path) -> Result<String, InitError> {
    let bytes = read_bounded(path, model::Limits::PROJECT_FILE_BYTES)
        .map_err(|source| InitError::Package(PackageError::Unreadable { source }))?;
    String::from_utf8(bytes).map_err(|_| InitError::Changed { path: path.to_owned() })
}

/// Checks what may not be changed, and gives the id that is kept.
fn check_package(package: &PackageFile, id_rule: IdRule) -> Result<Option<String>, InitError> {
    match package.members.get("projectType") {
        None | Some(Value::Null) => {}
        Some(Value::String(kind)) if kind == WORKFLOW_TYPE => {}
        Some(other) => {
            let found = other.as_str().map_or_else(|| crate::json::short(other), crate::words::clean);
            return Err(PackageError::OtherType { file: package.file.clone(), found: Some(found) }.into());
        }
    }
    match (id_rule, package.members.get("id")) {
        (IdRule::Renew, _) | (IdRule::Keep, None | Some(Value::Null)) => Ok(None),
        (IdRule::Keep, Some(id)) => match id.as_str().and_then(parse_uuid) {
            Some(uuid) => Ok(Some(uuid)),
            None => Err(PackageError::BadId { file: package.file.clone(), found: crate::json::short(id) }.into()),
        },
    }
}

/// Tells whether the project has entrypoints already, whole or broken: then none is added.
fn has_entrypoints(package: &PackageFile, uuid: &str) -> bool {
    let declared = package.members.get("workflow").and_then(|workflow| workflow.get("entrypoints"));
    match declared {
        None | Some(Value::Null) => has_workflow_files(&package.root, uuid),
        // An empty object is what somebody left who meant to fill it.
        Some(Value::Object(entrypoints)) => !entrypoints.is_empty(),
        Some(_) => true,
    }
}

fn has_workflow_files(root: &Path, uuid: &str) -> bool {
    let found = discover(&Manifest::undeclared(root, uuid));
    !found.candidates.is_empty() || !found.errors.is_empty()
}

fn missing_file(root: &Path, name: &str, text: &str) -> Option<FileChange> {
    let there = std::fs::symlink_metadata(root.join(name)).is_ok();
    (!there).then(|| FileChange { path: name.into(), old: None, new: text.into() })
}

/// The template's file, under a name that is free.
fn entry_file(root: &Path, template: Template) -> FileChange {
    let (name, text) = match template {
        Template::Script => SCRIPT,
        Template::Command => COMMAND,
    };
    let free = (2..100).map(|number| numbered(name, number).replace(" (", "-").replace(')', ""));
    let mut names = std::iter::once(name.to_owned()).chain(free);
    names.find_map(|name| missing_file(root, &name, text)).unwrap_or_else(|| FileChange {
        path: name.into(),
        old: None,
        new: text.into(),
    })
}

fn declaration(template: Template, file: &str) -> Value {
    match template {
        Template::Script => json!({ "main": format!("./{file}") }),
        Template::Command => json!({
            "main": {
                "command": ["python3", file],
                "title": "Main",
                "description": "Greets somebody. Say here what your workflow does.",
                "params": {
                    "name": { "type": "string", "required": true, "description": "Who to greet" },
                    "times": { "type": "integer", "default": 1, "minimum": 1, "maximum": 10, "description": "How often" }
                }
            }
        }),
    }
}

fn new_package(root: &Path, uuid: &str, entrypoints: Option<Value>) -> String {
    let folder = root.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    // Package names are lower case and without blanks.
    let name: String = folder
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.') { letter } else { '-' })
        .collect();
    let name = name.trim_matches(['-', '.', '_']);
    let mut package = json!({
        "name": if name.is_empty() { "workflow" } else { name },
        "private": true,
        "id": uuid,
        "projectType": WORKFLOW_TYPE,
    });
    if let (Some(entrypoints), Some(members)) = (entrypoints, package.as_object_mut()) {
        members.insert("workflow".into(), json!({ "entrypoints": entrypoints }));
    }
    format!("{package:#}\n")
}

fn extend(package: &PackageFile, old: &str, uuid: &str, entrypoints: Option<Value>) -> Result<String, InitError> {
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let shape = |key| InitError::Shape { file: package.file.clone(), key };
    let (mark, text) = match old.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", old),
    };
    // It was read as JSON before; a text that only this reader refuses is not touched.
    let root = CstRootNode::parse(text, &strict).map_err(|_| shape("package.json"))?;
    let object = root.object_value().ok_or_else(|| shape("package.json"))?;
    let said = |key: &str| package.members.get(key).filter(|value| !value.is_null());
    if said("id").and_then(Value::as_str).is_none_or(|id| parse_uuid(id).as_deref() != Some(uuid)) {
        set(&object, "id", uuid.into());
    }
    if said("projectType").is_none() {
        set(&object, "projectType", WORKFLOW_TYPE.into());
    }
    if let Some(entrypoints) = entrypoints {
        if said("workflow").is_none() {
            set(&object, "workflow", input_value(&json!({ "entrypoints": entrypoints })));
        } else {
            let workflow = object.object_value("workflow").ok_or_else(|| shape("workflow"))?;
            set(&workflow, "entrypoints", input_value(&entrypoints));
        }
    }
    Ok(format!("{mark}{root}"))
}

/// Sets a key, wherever and however often it stands, or appends it.
fn set(object: &CstObject, key: &str, value: CstInputValue) {
    let mut known = object.properties().into_iter().filter(|property| property.decoded_name().as_deref() == Some(key));
    match known.next() {
        Some(property) => {
            for again in known {
                again.remove();
            }
            property.set_value(value);
        }
        None => {
            object.append(key, value);
        }
    }
}

fn input_value(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input_value).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input_value(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests;
