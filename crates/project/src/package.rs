//! `package.json`: whose project this is and what it declares. Only the file itself is read here; whether the
//! declared files exist is [`crate::discovery`]'s question, what an entrypoint's declaration means [`mod@crate::merge`]'s.

use std::path::{Path, PathBuf};

use model::{Limits, StructureError};
use serde_json::{Map, Value};

use crate::json::{self, JsonError};
use crate::words::clean;
use disk::read::{ReadError, read_bounded};

/// The one project type that is served.
pub const WORKFLOW_TYPE: &str = "workflow";

/// The keys of `workflow`.
const KNOWN: [&str; 9] = [
    "entrypoints",
    "relatedProjects",
    "secrets",
    "httpHosts",
    "language",
    "claudeWorkflows",
    "provider",
    "maxAgents",
    "maxTokens",
];

/// How many unknown keys are told.
const UNKNOWN: usize = 20;

/// Says why the names of the secrets cannot be known, if that is so. Nothing may run then: what is not masked is recorded.
fn unreadable_secrets(workflow: &Map<String, Value>) -> Option<String> {
    let misspelt = workflow.keys().find(|key| *key != "secrets" && key.to_lowercase().trim().starts_with("secret"));
    if let Some(key) = misspelt {
        let shown: String = clean(key).chars().take(60).collect();
        return Some(format!("`workflow.{shown}` is not known, and `secrets` is probably meant"));
    }
    match workflow.get("secrets") {
        None | Some(Value::Null) => None,
        Some(Value::Array(names)) => {
            let odd = names.iter().find(|name| name.as_str().is_none_or(|name| name.trim().is_empty()))?;
            Some(format!("`workflow.secrets` has {}, which is no name", json::short(odd)))
        }
        Some(other) => Some(format!("`workflow.secrets` is {} instead of a list of names", json::short(other))),
    }
}

/// Why a folder is no workflow project.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The folder does not exist.
    #[error("`{path}` does not exist", path = folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The path names something else than a folder.
    #[error("`{path}` is not a folder", path = folder.display())]
    NotAFolder {
        /// The path.
        folder: PathBuf,
    },
    /// The folder's path is no Unicode text, and could be given to no client, worker or program as it is.
    #[error("the path of the folder `{path}` is no text", path = folder.display())]
    NotText {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder has no package.json.
    #[error("`{path}` has no package.json", path = folder.display())]
    NoPackage {
        /// The folder.
        folder: PathBuf,
    },
    /// package.json cannot be read, is no regular file, or is too large.
    #[error("package.json cannot be read")]
    Unreadable {
        /// The cause, which names the path.
        source: ReadError,
    },
    /// package.json is no JSON.
    #[error("`{path}` is no valid JSON", path = file.display())]
    NotJson {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        source: JsonError,
    },
    /// package.json is JSON, but not an object.
    #[error("`{path}` holds {found} instead of an object", path = file.display())]
    NotAnObject {
        /// The file.
        file: PathBuf,
        /// What it holds.
        found: String,
    },
    /// The project is of another type, or of none.
    #[error("{}", other_type(file, found.as_deref()))]
    OtherType {
        /// The file.
        file: PathBuf,
        /// The type found.
        found: Option<String>,
    },
    /// `id` is missing.
    #[error("`{path}` has no `id`", path = file.display())]
    NoId {
        /// The file.
        file: PathBuf,
    },
    /// `id` is no UUID.
    #[error("the `id` in `{path}` is no UUID: {found}", path = file.display())]
    BadId {
        /// The file.
        file: PathBuf,
        /// What it is, in short.
        found: String,
    },
    /// `workflow.secrets` cannot be read, or is misspelt: its values would be recorded as they are.
    #[error("`{path}`: {why}, so the project's secrets would not be masked", path = file.display())]
    Secrets {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
}

fn other_type(file: &Path, found: Option<&str>) -> String {
    let path = file.display();
    match found {
        Some(found) => format!("`{path}` declares the project type `{found}`; only `workflow` projects are served"),
        None => format!("`{path}` declares no `projectType`; only `workflow` projects are served"),
    }
}

/// The command that makes a folder a project.
fn init_command(folder: &Path, options: &[&str]) -> String {
    let folder = folder.to_string_lossy();
    model::command_line(["workflow-code", "init", &folder].iter().chain(options).copied())
}

impl PackageError {
    /// Says what to do next, in one sentence.
    #[must_use]
    pub fn next_step(&self) -> String {
        match self {
            Self::NoFolder { .. } => "check the path; a moved project is registered again from its new place".into(),
            Self::NotAFolder { .. } => "name the folder that holds package.json".into(),
            Self::NotText { .. } => "rename the folder, or the one above it, to a name in UTF-8".into(),
            Self::NoPackage { folder } => {
                format!("run `{}` to make it a workflow project", init_command(folder, &[]))
            }
            Self::Unreadable { source: ReadError::TooLarge { .. } } => {
                "package.json may have 1 MiB; move data out of it".into()
            }
            Self::Unreadable { .. } => "make package.json a regular file that you may read".into(),
            Self::NotJson { .. } => "mend the file at that place".into(),
            Self::NotAnObject { .. } => "package.json must be one JSON object".into(),
            Self::OtherType { found: Some(_), .. } => {
                "open it with the program it was made for, or set `\"projectType\": \"workflow\"`".into()
            }
            Self::OtherType { file, found: None } => format!(
                "run `{}`, or add `\"projectType\": \"workflow\"`",
                init_command(file.parent().unwrap_or(Path::new(".")), &[])
            ),
            Self::Secrets { .. } => "write it as `\"secrets\": [\"NAME\"]`, the names in `.env`".into(),
            Self::NoId { file } | Self::BadId { file, .. } => format!(
                "run `{}`, or set `\"id\"` to a fresh UUID (`uuidgen` prints one)",
                init_command(
                    file.parent().unwrap_or(Path::new(".")),
                    if matches!(self, Self::BadId { .. }) { &["--new-id"] } else { &[] }
                )
            ),
        }
    }

    /// Says what is wrong, where, and what to do next.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut text = self.to_string();
        match self {
            Self::Unreadable { source } => text = format!("{text}: {}", source.sentence()),
            Self::NotJson { source, .. } => text = format!("{text}: {source}"),
            Self::NoFolder { .. }
            | Self::NotAFolder { .. }
            | Self::NotText { .. }
            | Self::NoPackage { .. }
            | Self::NotAnObject { .. }
            | Self::OtherType { .. }
            | Self::NoId { .. }
            | Self::BadId { .. }
            | Self::Secrets { .. } => {}
        }
        format!("{text}. {}", self.next_step())
    }
}

/// One declared entrypoint, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// Its id as written; nothing is known about it yet.
    pub id: String,
    /// A path, or an object.
    pub body: Value,
    /// Whether package.json has this id twice.
    pub duplicate: bool,
}

/// A related project that this one declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedDeclaration {
    /// What this project calls it.
    pub alias: String,
    /// Its UUID, lower case.
    pub uuid: String,
}

/// What package.json says.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// The project's folder, absolute, links resolved.
    pub root: PathBuf,
    /// `name`, else the folder's name.
    pub name: String,
    /// `id`, lower case with hyphens.
    pub uuid: String,
    /// `workflow.entrypoints` in its order; `None`: not declared, so the files are looked for.
    pub entrypoints: Option<Vec<Declaration>>,
    /// `workflow.relatedProjects` in its order.
    pub related_projects: Vec<RelatedDeclaration>,
    /// `workflow.secrets`: names whose values are masked in everything recorded.
    pub secrets: Vec<String>,
    /// `workflow.httpHosts`, lower case: where `flow.http` may go, each a host or `host:port`.
    pub http_hosts: Vec<String>,
    /// `workflow.language`: of texts that are put before a person (`en`, `zh`, …).
    pub language: Option<String>,
    /// `workflow.claudeWorkflows`: whether the scripts in `.claude/workflows` are served too.
    pub claude_workflows: bool,
    /// `workflow.provider`: who starts the agents of its runs, a name or `{command, …}`.
    pub provider: Option<Value>,
    /// `workflow.maxAgents`: the most agents of one run.
    pub max_agents: Option<u64>,
    /// `workflow.maxTokens`: the most tokens of one run.
    pub max_tokens: Option<u64>,
    /// Parts of `workflow` that could not be read, as errors of the structure report.
    pub errors: Vec<StructureError>,
    /// What works but will trouble somebody.
    pub warnings: Vec<String>,
}

impl Manifest {
    /// Reads the package.json of a workflow project.
    ///
    /// A fault in one part of `workflow` does not hide the rest: it lands in [`Manifest::errors`] or
    /// [`Manifest::warnings`]. Keys that are not known are left alone.
    ///
    /// # Errors
    ///
    /// When the folder is no workflow project at all: see [`PackageError`].
    pub fn read(folder: &Path) -> Result<Self, PackageError> {
        let PackageFile { root, file, members, duplicates } = PackageFile::read(folder)?;
        match members.get("projectType") {
            Some(Value::String(kind)) if kind == WORKFLOW_TYPE => {}
            Some(Value::Null) | None => return Err(PackageError::OtherType { file, found: None }),
            Some(other) => return Err(PackageError::OtherType { file, found: Some(type_name(other)) }),
        }
        let uuid = match members.get("id") {
            None | Some(Value::Null) => return Err(PackageError::NoId { file }),
            Some(id) => match id.as_str().and_then(parse_uuid) {
                Some(uuid) => uuid,
                None => return Err(PackageError::BadId { file, found: json::short(id) }),
            },
        };
        let folder_name =
            || root.file_name().map_or_else(|| "workflow".into(), |name| name.to_string_lossy().into_owned());
        let name = members.get("name").and_then(Value::as_str).map(clean).filter(|name| !name.trim().is_empty());
        let mut manifest = Self::undeclared(&root, &uuid);
        manifest.name = name.unwrap_or_else(folder_name);
        match members.get("workflow") {
            None | Some(Value::Null) => {}
            Some(Value::Object(workflow)) => {
                if let Some(why) = unreadable_secrets(workflow) {
                    return Err(PackageError::Secrets { file, why });
                }
                manifest.read_workflow(workflow, &duplicates);
            }
            Some(other) => {
                manifest.fault("workflow", format!("`workflow` is {}; make it an object", json::short(other)));
            }
        }
        for path in &duplicates {
            if path.len() != 3 || path[0] != "workflow" || path[1] != "entrypoints" {
                let path = clean(&path.join("."));
                let shown: String = path.chars().take(200).collect();
                manifest.warnings.push(format!("package.json gives `{shown}` twice; the last one counts"));
            }
        }
        Ok(manifest)
    }

    /// A project made of one script file, for as long as it runs: `file` must be absolute. `None` when its name is not
    /// that of a script. Its id follows from its path.
    #[must_use]
    pub fn of_script(file: &Path) -> Option<Self> {
        use sha2::Digest as _;
        let name = file.file_name()?.to_str()?;
        let stem = [".js", ".mjs", ".ts", ".mts"].into_iter().find_map(|ending| name.strip_suffix(ending))?;
        let digest = sha2::Sha256::digest(file.as_os_str().as_encoded_bytes());
        let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        // Version 8: made by a rule of our own.
        let uuid = format!("{}-{}-8{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32]);
        let mut manifest = Self::undeclared(file.parent()?, &uuid);
        manifest.name = clean(stem);
        let id: String = stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
        let id = id.trim_matches('-');
        let id = if id.is_empty() { "script" } else { id };
        manifest.entrypoints =
            Some(vec![Declaration { id: id.into(), body: Value::from(format!("./{name}")), duplicate: false }]);
        Some(manifest)
    }

    /// A manifest that declares nothing.
    pub(crate) fn undeclared(root: &Path, uuid: &str) -> Self {
        Self {
            name: String::new(),
            root: root.to_owned(),
            uuid: uuid.to_owned(),
            entrypoints: None,
            related_projects: Vec::new(),
            secrets: Vec::new(),
            http_hosts: Vec::new(),
            language: None,
            claude_workflows: false,
            provider: None,
            max_agents: None,
            max_tokens: None,
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn fault(&mut self, entrypoint: &str, message: String) {
        self.errors.push(StructureError {
            entrypoint: entrypoint.into(),
            message,
            file: Some("package.json".into()),
            line: None,
        });
    }

    fn read_workflow(&mut self, workflow: &Map<String, Value>, duplicates: &[Vec<String>]) {
        match workflow.get("entrypoints") {
            None | Some(Value::Null) => {}
            Some(Value::Object(entrypoints)) => {
                let twice = |id: &str| {
                    duplicates.iter().any(|path| {
                        matches!(path.as_slice(), [workflow, entrypoints, name]
                        if workflow == "workflow" && entrypoints == "entrypoints" && name == id)
                    })
                };
                let declared = entrypoints.iter().map(|(id, body)| Declaration {
                    id: id.clone(),
                    body: body.clone(),
                    duplicate: twice(id),
                });
                self.entrypoints = Some(declared.collect());
            }
            Some(other) => {
                let message = format!(
                    "`workflow.entrypoints` is {}; make it an object: `{{\"main\": \"./main.workflow.ts\"}}`",
                    json::short(other)
                );
                self.entrypoints = Some(Vec::new());
                self.fault("workflow.entrypoints", message);
            }
        }
        self.warn_of_unknown(workflow);
        self.read_related(workflow.get("relatedProjects"));
        self.secrets = self.texts(workflow, "secrets");
        self.http_hosts = self.texts(workflow, "httpHosts").into_iter().map(|host| host.to_lowercase()).collect();
        self.language = match workflow.get("language") {
            None | Some(Value::Null) => None,
            Some(Value::String(language)) if (1..=35).contains(&language.len()) => Some(clean(language)),
            Some(other) => {
                self.warnings.push(format!("`workflow.language` is {}; write it as `\"en\"`", json::short(other)));
                None
            }
        };
        self.claude_workflows = match workflow.get("claudeWorkflows") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(value)) => *value,
            Some(other) => {
                let shown = json::short(other);
                self.warnings.push(format!("`workflow.claudeWorkflows` is {shown}; it must be true or false"));
                false
            }
        };
        self.provider = match workflow.get("provider") {
            None | Some(Value::Null) => None,
            Some(value @ (Value::String(_) | Value::Object(_) | Value::Array(_))) => Some(value.clone()),
            Some(other) => {
                let shown = json::short(other);
                self.warnings.push(format!("`workflow.provider` is {shown}; write a name or `{{\"command\": [...]}}`"));
                None
            }
        };
        self.max_agents = self.count(workflow, "maxAgents");
        self.max_tokens = self.count(workflow, "maxTokens");
    }

    /// Warns of what is left alone since nobody knows it: most often a slip of the pen.
    fn warn_of_unknown(&mut self, workflow: &Map<String, Value>) {
        for key in workflow.keys().filter(|key| !KNOWN.contains(&key.as_str())).take(UNKNOWN) {
            let shown: String = clean(key).chars().take(60).collect();
            let hint = crate::words::nearest(key, KNOWN.iter().copied())
                .map_or_else(|| format!("the keys are {}", KNOWN.join(", ")), |near| format!("did you mean `{near}`?"));
            self.warnings.push(format!("`workflow.{shown}` is not known and does nothing; {hint}"));
        }
    }

    fn read_related(&mut self, related: Option<&Value>) {
        let related = match related {
            None | Some(Value::Null) => return,
            Some(Value::Object(related)) => related,
            Some(other) => {
                let shown = json::short(other);
                self.warnings.push(format!(
                    "`workflow.relatedProjects` is {shown}; make it an object: `{{\"alias\": {{\"id\": \"UUID\"}}}}`"
                ));
                return;
            }
        };
        for (alias, body) in related {
            let shown_alias = clean(alias);
            if !(1..=64).contains(&alias.len()) || alias.contains('=') || alias.chars().any(char::is_control) {
                let short: String = shown_alias.chars().take(64).collect();
                self.warnings
                    .push(format!("the related project `{short}` needs an alias of 1 to 64 letters without `=`"));
                continue;
            }
            // The short form, the UUID alone, is taken as well.
            let id = body.get("id").unwrap_or(body);
            match id.as_str().and_then(parse_uuid) {
                Some(uuid) => self.related_projects.push(RelatedDeclaration { alias: alias.clone(), uuid }),
                None => self
                    .warnings
                    .push(format!("the related project `{shown_alias}` has no UUID as its `id`: {}", json::short(id))),
            }
        }
    }

    fn texts(&mut self, workflow: &Map<String, Value>, key: &str) -> Vec<String> {
        match workflow.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                let mut texts = Vec::new();
                for item in items {
                    match item.as_str().map(str::trim) {
                        Some(text) if !text.is_empty() => texts.push(text.to_owned()),
                        Some(_) | None => {
                            self.warnings.push(format!("`workflow.{key}` has {}, which is no text", json::short(item)));
                        }
                    }
                }
                texts
            }
            Some(other) => {
                self.warnings.push(format!("`workflow.{key}` is {}; make it a list of texts", json::short(other)));
                Vec::new()
            }
        }
    }

    fn count(&mut self, workflow: &Map<String, Value>, key: &str) -> Option<u64> {
        match workflow.get(key) {
            None | Some(Value::Null) => None,
            Some(value) => {
                let count = value.as_u64().filter(|count| *count > 0);
                if count.is_none() {
                    let shown = json::short(value);
                    self.warnings.push(format!("`workflow.{key}` is {shown}; it must be a whole number above 0"));
                }
                count
            }
        }
    }
}

/// Reads which type of project a folder is, for the registry: `Ok(None)` when package.json names none, or there is no
/// package.json.
///
/// # Errors
///
/// When the folder or its package.json cannot be read.
pub fn read_project_type(folder: &Path) -> Result<Option<String>, PackageError> {
    match PackageFile::read(folder) {
        Ok(package) => Ok(match package.members.get("projectType") {
            None | Some(Value::Null) => None,
            Some(other) => Some(type_name(other)),
        }),
        Err(PackageError::NoPackage { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn type_name(value: &Value) -> String {
    match value.as_str() {
        Some(text) => clean(text).chars().take(60).collect(),
        None => json::short(value),
    }
}

/// Reads a UUID in its usual form with hyphens, in any case.
#[must_use]
pub fn parse_uuid(text: &str) -> Option<String> {
    // The hyphened form only: the id becomes part of names that people compare by eye.
    (text.len() == 36).then(|| uuid::Uuid::try_parse(text).ok()).flatten().map(|uuid| uuid.hyphenated().to_string())
}

pub(crate) struct PackageFile {
    pub(crate) root: PathBuf,
    pub(crate) file: PathBuf,
    pub(crate) members: Map<String, Value>,
    pub(crate) duplicates: Vec<Vec<String>>,
}

impl PackageFile {
    pub(crate) fn read(folder: &Path) -> Result<Self, PackageError> {
        let root = folder.canonicalize().map_err(|source| match ReadError::io(folder, source) {
            ReadError::NotFound { .. } => PackageError::NoFolder { folder: folder.to_owned() },
            source => PackageError::Unreadable { source },
        })?;
        if !root.is_dir() {
            return Err(PackageError::NotAFolder { folder: root });
        }
        if root.to_str().is_none() {
            return Err(PackageError::NotText { folder: root });
        }
        let file = root.join("package.json");
        let bytes = read_bounded(&file, Limits::PROJECT_FILE_BYTES).map_err(|source| {
            if source.is_not_found() {
                PackageError::NoPackage { folder: root.clone() }
            } else {
                PackageError::Unreadable { source }
            }
        })?;
        let read = json::parse(&bytes).map_err(|source| PackageError::NotJson { file: file.clone(), source })?;
        match read.value {
            Value::Object(members) => Ok(Self { root, file, members, duplicates: read.duplicates }),
            other => Err(PackageError::NotAnObject { file, found: json::short(&other) }),
        }
    }
}

#[cfg(test)]
mod tests;
