//! What a script may ask for, done on its behalf: keys and values, knowledge, files, environment.
//!
//! Every call blocks its own thread and nobody else's. Errors are ordinary ones that a script may catch.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use model::{CreatedFile, Form, IdSource, Limits, ParamType, RunId, SystemIds, TimestampMs};
use project::{EnvFile, FileError, FileRef, ManagedFiles};
use script::{CallKind, HostCall, HostError};
use serde_json::{Value, json};
use store::{DataStore, MASK, Masker, NewKnowledge, Store, StoreError, StoreOptions};

use crate::connection::{Connection, ConnectionSource};
use crate::context::Project;

/// Keys that `kv.list` gives at most.
const MOST_KEYS: usize = 10_000;

/// Related runs that may lie between a run and the one that a person started; there cannot be as many.
const MOST_RELATED: usize = 64;

/// Hits that `knowledge.search` gives unless it is asked for more.
const HITS: usize = 10;

/// What a run's host calls work with.
pub(crate) struct HostContext {
    project_uuid: String,
    /// Opened by the first call that needs it, and closed with the run.
    kv: OnceLock<DataStore>,
    kv_folder: PathBuf,
    /// The data folders, as they stand in messages; the longest first.
    folders: Vec<String>,
    values: OnceLock<DataStore>,
    values_folder: PathBuf,
    files: ManagedFiles,
    pub(crate) http_hosts: Vec<String>,
    environment: crate::context::ProcessEnvironment,
    pub(crate) env_file: EnvFile,
    secrets: Mutex<BTreeSet<String>>,
    /// Those of them that came with the outputs of related runs.
    handed_up: Mutex<BTreeSet<String>>,
    source: Option<Arc<dyn ConnectionSource>>,
    connection: OnceLock<Result<Option<Connection>, String>>,
    pub(crate) seed: u128,
    pub(crate) started_at: TimestampMs,
}

impl std::fmt::Debug for HostContext {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment holds secrets.
        formatter.debug_struct("HostContext").field("project", &self.project_uuid).finish_non_exhaustive()
    }
}

impl HostContext {
    /// Makes the context of a run that begins now.
    pub(crate) fn begin(project: &Project, now: TimestampMs) -> Self {
        let mut seed = [0; 16];
        SystemIds.fill(&mut seed);
        Self::new(project, u128::from_le_bytes(seed), now)
    }

    /// Makes the context of a run whose chance and clock began here.
    pub(crate) fn new(project: &Project, seed: u128, started_at: TimestampMs) -> Self {
        let env_file = project.env_file();
        let all = &project.folders;
        let mut folders: Vec<String> = [&all.data, &all.files, &all.kv, &all.values, &all.created]
            .into_iter()
            .filter(|folder| folder.parent().is_some_and(|above| above.parent().is_some()))
            .map(|folder| folder.to_string_lossy().into_owned())
            .collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        let context = Self {
            folders,
            project_uuid: project.manifest.uuid.clone(),
            kv: OnceLock::new(),
            kv_folder: project.folders.kv.clone(),
            values: OnceLock::new(),
            values_folder: project.folders.values.clone(),
            files: project.managed_files(),
            http_hosts: project.manifest.http_hosts.clone(),
            environment: project.environment.clone(),
            env_file,
            secrets: Mutex::default(),
            handed_up: Mutex::default(),
            source: project.connection.clone(),
            connection: OnceLock::new(),
            seed,
            started_at,
        };
        {
            let mut secrets = context.secrets.lock().unwrap_or_else(PoisonError::into_inner);
            secrets.extend(project.manifest.secrets.iter().filter_map(|name| context.variable(name)));
            if let Some(source) = &context.source {
                secrets.extend(source.keys_at_hand(&context.env_file));
            }
        }
        context
    }

    /// What is to be masked in everything recorded, as far as it is known by now.
    pub(crate) fn masker(&self) -> Masker {
        Masker::new(self.secrets.lock().unwrap_or_else(PoisonError::into_inner).iter())
    }

    /// Has a value masked from now on.
    pub(crate) fn add_secret(&self, value: &str) {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).insert(value.to_owned());
    }

    /// Takes the paths of the data folders out of what is said of a failure: it may come to be a call's result.
    pub(crate) fn without_folders(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for folder in &self.folders {
            text = text.replace(folder.as_str(), "…");
        }
        text
    }

    /// Has a secret masked from now on that is in the output of a related run.
    pub(crate) fn add_handed_up(&self, value: &str) {
        self.add_secret(value);
        self.handed_up.lock().unwrap_or_else(PoisonError::into_inner).insert(value.to_owned());
    }

    /// The secrets that came with the outputs of related runs, and are to be known again when the run is taken up.
    pub(crate) fn handed_up(&self) -> Vec<String> {
        self.handed_up.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Has the values of an answer's secret fields masked from now on.
    pub(crate) fn add_answered_secrets(&self, form: &Form, content: &Value) {
        for field in form.fields.iter().filter(|field| field.kind == ParamType::Secret) {
            let given = content.get(&field.name).and_then(Value::as_str);
            // A run that only passes the question on is given the mask.
            if let Some(secret) = given.filter(|secret| *secret != MASK) {
                self.add_secret(secret);
            }
        }
    }

    /// Gives a secret again to a run that is replayed, and has it masked.
    pub(crate) fn secret(&self, name: &str) -> Option<String> {
        let value = self.variable(name)?;
        self.add_secret(&value);
        Some(value)
    }

    /// How many secrets are known: more than when a masker was made, and that masker is out of date.
    pub(crate) fn known_secrets(&self) -> usize {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Tells whether an origin is that of the connection, whose key is not asked for.
    pub(crate) fn is_connection(&self, origin: &str) -> bool {
        self.source.as_ref().and_then(|source| source.origin(&self.env_file)).is_some_and(|ours| ours == origin)
    }

    /// The server that this run may talk to. Asked for once in a run, which may take seconds; its key is masked from then
    /// on.
    pub(crate) fn connection(&self) -> Result<Option<&Connection>, &str> {
        let found = self.connection.get_or_init(|| match &self.source {
            Some(source) => source.find(&self.env_file),
            None => Ok(None),
        });
        let connection = found.as_ref().map_err(String::as_str)?.as_ref();
        if let Some(key) = connection.and_then(|connection| connection.key.as_deref()) {
            self.add_secret(key);
        }
        Ok(connection)
    }

    /// A name of the project's `.env`; the process environment wins.
    fn variable(&self, name: &str) -> Option<String> {
        let file = self.env_file.get(name)?;
        let process = self.environment.get(std::ffi::OsStr::new(name)).and_then(|value| value.to_str());
        Some(process.unwrap_or(file).to_owned())
    }

    fn kv(&self) -> &DataStore {
        self.kv.get_or_init(|| DataStore::new(&self.kv_folder, StoreOptions::default()))
    }

    fn values(&self) -> &DataStore {
        self.values.get_or_init(|| DataStore::new(&self.values_folder, StoreOptions::default()))
    }

    /// Reads back what `files.create` gave, for the list of created files.
    pub(crate) fn created_file(&self, value: &Value) -> Option<CreatedFile> {
        let file: FileRef = serde_json::from_value(value.clone()).ok()?;
        let path = self.files.resolve(&file.file).ok()?;
        Some(CreatedFile { name: file.name, path: path.to_string_lossy().into_owned(), bytes: file.size })
    }
}

fn error(code: &str, message: impl Into<String>) -> HostError {
    HostError { code: code.into(), message: message.into(), data: None, fatal: false }
}

fn store_error(problem: &StoreError) -> HostError {
    match problem {
        // What the script gave, or who was first: nothing of where things lie.
        StoreError::TooLarge { .. } | StoreError::Conflict { .. } => error("storage", model::with_causes(problem)),
        problem => {
            tracing::error!("what workflows keep cannot be used: {}", model::with_causes(problem));
            error("storage", "what workflows keep cannot be used; the log of Workflow Code says why")
        }
    }
}

fn file_error(problem: &FileError) -> HostError {
    error("file", model::with_causes(problem))
}

fn text<'a>(args: &'a Value, key: &str) -> Result<&'a str, HostError> {
    args.get(key).and_then(Value::as_str).ok_or_else(|| error("invalid_argument", format!("`{key}` must be a text")))
}

/// Does what a script asks for.
pub(crate) fn perform(context: &HostContext, store: &Store, run: &RunId, call: &HostCall) -> Result<Value, HostError> {
    let (kind, args) = (call.kind, &call.args);
    // A run that is taken up makes a call again whose end it never heard of; one of another kind by the same number, after
    // an agent was asked again, is another call.
    let name = format!("{run}:{}:{}", call.seq, call.fingerprint);
    match kind {
        CallKind::Env => {
            let name = text(args, "name")?;
            Ok(context.variable(name).map_or(Value::Null, Value::String))
        }
        CallKind::Secret => {
            let name = text(args, "name")?;
            let value = context.secret(name).ok_or_else(|| {
                error("secret_missing", format!("there is no secret `{name}`: add it to the project's .env"))
            })?;
            Ok(Value::String(value))
        }
        CallKind::KvGet => {
            let value = context.kv().kv_get(text(args, "key")?).map_err(|error| store_error(&error))?;
            Ok(value.unwrap_or(Value::Null))
        }
        CallKind::KvSet => {
            let value = args.get("value").cloned().unwrap_or(Value::Null);
            context.kv().kv_set(text(args, "key")?, &value).map_err(|error| store_error(&error))?;
            Ok(Value::Null)
        }
        CallKind::KvDelete => {
            context.kv().kv_delete(text(args, "key")?).map(Value::Bool).map_err(|error| store_error(&error))
        }
        CallKind::KvList => {
            let prefix = args.get("prefix").and_then(Value::as_str).unwrap_or_default();
            let entries = context.kv().kv_list(prefix, None, MOST_KEYS).map_err(|error| store_error(&error))?;
            Ok(entries.into_iter().map(|entry| Value::String(entry.key)).collect())
        }
        CallKind::ValueGet => {
            let found = context
                .values()
                .value(&context.project_uuid, text(args, "name")?)
                .map_err(|error| store_error(&error))?;
            Ok(json!({ "value": found.value, "revision": found.version }))
        }
        CallKind::ValueSet => {
            let value = args.get("value").cloned().unwrap_or(Value::Null);
            context
                .values()
                .set_value(&context.project_uuid, text(args, "name")?, &value, None, Some(&name))
                .map_err(|error| store_error(&error))?;
            Ok(Value::Null)
        }
        CallKind::ValueCas => {
            let value = args.get("value").cloned().unwrap_or(Value::Null);
            let seen = args.get("revision").and_then(Value::as_u64).unwrap_or(0);
            match context.values().set_value(
                &context.project_uuid,
                text(args, "name")?,
                &value,
                Some(seen),
                Some(&name),
            ) {
                Ok(_) => Ok(Value::Bool(true)),
                Err(StoreError::Conflict { .. }) => Ok(Value::Bool(false)),
                Err(error) => Err(store_error(&error)),
            }
        }
        CallKind::KnowledgeAdd | CallKind::KnowledgeSearch | CallKind::KnowledgeRemove | CallKind::KnowledgeList => {
            knowledge(context, run, call)
        }
        CallKind::FilesInfo | CallKind::FilesReadText | CallKind::FilesReadBytes => {
            may_read(store, run, args)?;
            files(context, run, kind, args)
        }
        CallKind::FilesCreate | CallKind::FilesList => files(context, run, kind, args),
        CallKind::Http => crate::http::perform(context, args),
        CallKind::Agent | CallKind::Workflow | CallKind::Exec | CallKind::Related => {
            Err(error("unavailable", format!("`{}` is not part of this version", kind.as_str())))
        }
        // Answered where the run is driven: they wait for the clock or for a person.
        CallKind::Sleep | CallKind::Form | CallKind::Approve => Err(error("unavailable", "it is not answered here")),
    }
}

fn tags(args: &Value) -> Vec<String> {
    let tags = args.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn knowledge(context: &HostContext, run: &RunId, call: &HostCall) -> Result<Value, HostError> {
    let args = &call.args;
    let base = context.values();
    let project = &context.project_uuid;
    let shown =
        |one: &store::Knowledge| json!({ "id": one.id, "text": one.text, "title": one.title, "tags": one.tags });
    let done = match call.kind {
        CallKind::KnowledgeAdd => {
            let own = |key: &str| args.get(key).and_then(Value::as_str).map(str::to_owned);
            let new = NewKnowledge {
                // Of the call, so that one that is made again keeps nothing twice.
                id: own("id").or_else(|| Some(format!("{run}-{}", call.seq))),
                text: text(args, "text")?.to_owned(),
                title: own("title"),
                tags: tags(args),
            };
            base.add_knowledge(project, &new).map(Value::String)
        }
        CallKind::KnowledgeSearch => {
            let limit = args.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
            base.search_knowledge(project, text(args, "query")?, limit.unwrap_or(HITS), &tags(args)).map(|hits| {
                hits.iter()
                    .map(|hit| {
                        let mut one = shown(&hit.knowledge);
                        one["score"] = json!(hit.score);
                        one
                    })
                    .collect()
            })
        }
        CallKind::KnowledgeRemove => base.remove_knowledge(project, text(args, "id")?).map(Value::Bool),
        _ => base.list_knowledge(project, MOST_KEYS).map(|all| all.iter().map(shown).collect()),
    };
    done.map_err(|error| store_error(&error))
}

/// Says whether a run may read the file behind a handle. One that a run created is for runs of the same project, and for
/// those that the same call has brought about, which hand their files to each other; names of files are easily guessed.
fn may_read(store: &Store, run: &RunId, args: &Value) -> Result<(), HostError> {
    let handle = handle(args)?;
    let mut parts = handle.split('/');
    let (Some("created"), Some(maker)) = (parts.next(), parts.next()) else { return Ok(()) };
    let Ok(maker) = maker.parse::<RunId>() else { return Ok(()) };
    let project = |run: &RunId| store.run(run).ok().map(|run| run.project);
    let is_shared = |one: Option<String>, other: Option<String>| one.is_some() && one == other;
    let first = |run: &RunId| first_of(store, run).map(|first| first.to_string());
    if maker == *run || is_shared(project(run), project(&maker)) || is_shared(first(run), first(&maker)) {
        return Ok(());
    }
    Err(file_error(&FileError::UnknownHandle { handle: handle.chars().take(200).collect() }))
}

/// The run that a chain of related runs began with.
fn first_of(store: &Store, run: &RunId) -> Option<RunId> {
    let mut first = run.clone();
    for _ in 0..MOST_RELATED {
        match store.run(&first).ok()?.parent {
            Some(parent) => first = parent,
            None => return Some(first),
        }
    }
    None
}

/// A handle: a reference as the run got it, or the text in it.
fn handle(args: &Value) -> Result<&str, HostError> {
    let file = args.get("file").unwrap_or(&Value::Null);
    file.as_str()
        .or_else(|| file.get("file").and_then(Value::as_str))
        .ok_or_else(|| error("invalid_argument", "a file reference is wanted"))
}

fn files(context: &HostContext, run: &RunId, kind: CallKind, args: &Value) -> Result<Value, HostError> {
    let files = &context.files;
    match kind {
        CallKind::FilesInfo => files.info(handle(args)?).map(|file| json!(file)).map_err(|error| file_error(&error)),
        CallKind::FilesReadText => {
            let bytes = files.read(handle(args)?).map_err(|error| file_error(&error))?;
            String::from_utf8(bytes)
                .map(Value::String)
                .map_err(|_| error("file", "the file is no UTF-8 text: read it with `files.readBytes`"))
        }
        CallKind::FilesReadBytes => {
            let bytes = files.read(handle(args)?).map_err(|error| file_error(&error))?;
            Ok(json!({ "base64": BASE64.encode(&bytes) }))
        }
        CallKind::FilesCreate => {
            let bytes = match args.get("text").and_then(Value::as_str) {
                Some(text) => text.as_bytes().to_vec(),
                None => BASE64
                    .decode(text(args, "base64")?)
                    .map_err(|_| error("invalid_argument", "`base64` is no Base64"))?,
            };
            if bytes.len() as u64 > Limits::FILE_BYTES {
                return Err(error("file", format!("a file may have {} bytes at most", Limits::FILE_BYTES)));
            }
            files.create(run, text(args, "name")?, &bytes).map(|file| json!(file)).map_err(|error| file_error(&error))
        }
        _ => files.list_created(run).map(|all| json!(all)).map_err(|error| file_error(&error)),
    }
}
