//! Which entrypoints a project has: those that package.json declares, or else the workflow files that lie in it.
//! Files are found here, not read; what one declares about itself is a worker's question, joined in [`mod@crate::merge`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use model::{EntrypointId, Limits, StructureError};
use serde_json::{Map, Value};

use crate::json::short;
use crate::package::{Declaration, Manifest};
use crate::words::clean;
use disk::inside::resolve_inside;

/// The endings of files that are entrypoints without being declared.
pub const WORKFLOW_ENDINGS: [&str; 3] = [".workflow.ts", ".workflow.js", ".workflow.mjs"];
/// The endings that a declared script may have.
const SCRIPT_ENDINGS: [&str; 4] = [".ts", ".mts", ".js", ".mjs"];
/// The folder of orchestration scripts that are served when `workflow.claudeWorkflows` is true.
pub const CLAUDE_FOLDER: &str = ".claude/workflows";
/// The most entries of a folder that are looked at, and the most entrypoints of a project.
const MOST_ENTRIES: usize = 10_000;
const MOST_ENTRYPOINTS: usize = 1_000;

/// How a candidate is run, as far as is known without reading its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateSource {
    /// A script file of the project (relative to its root, `/` between parts, links resolved). Whether it is a module or
    /// an orchestration script is seen by reading it.
    File {
        /// The file.
        file: String,
    },
    /// A program with its arguments.
    Command {
        /// The argument list, never empty.
        argv: Vec<String>,
    },
    /// Takes a script with each call.
    Dynamic,
}

/// Where a candidate's id comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// package.json says it.
    Declared,
    /// The file's name says it.
    File,
    /// `meta.name` in the file says it; until it is read, the id is the file's stem.
    Meta,
}

/// An entrypoint that may be offered once its source has been looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its id; for [`Naming::Meta`] a stand-in that [`mod@crate::merge`] replaces.
    pub id: EntrypointId,
    /// Where the id comes from.
    pub naming: Naming,
    /// How it is run.
    pub source: CandidateSource,
    /// What package.json says of it, without `script`, `command` and `dynamic`.
    pub settings: Map<String, Value>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Discovery {
    /// The candidates: in package.json's order, or sorted by id.
    pub candidates: Vec<Candidate>,
    /// What cannot be offered.
    pub errors: Vec<StructureError>,
    /// What works but will trouble somebody.
    pub warnings: Vec<String>,
}

/// Finds a project's entrypoints. One that is broken never hides another.
#[must_use]
pub fn discover(manifest: &Manifest) -> Discovery {
    let mut found = Discovery { errors: manifest.errors.clone(), ..Discovery::default() };
    match &manifest.entrypoints {
        Some(declared) => found.declared(&manifest.root, declared),
        None => found.undeclared(&manifest.root),
    }
    if manifest.claude_workflows {
        found.claude(&manifest.root);
    }
    found.drop_duplicates();
    found.warn_of_ids();
    found
}

/// Reads an id, or says how to mend it.
///
/// # Errors
///
/// The sentence for the structure report.
pub(crate) fn read_id(written: &str) -> Result<EntrypointId, String> {
    written.parse().map_err(|_| {
        let mended = mended_id(written);
        let rule = "an entrypoint's id is 1 to 64 of `A-Z a-z 0-9 _ -`";
        match mended.parse::<EntrypointId>() {
            Ok(mended) => format!("{rule}; call it `{mended}`, say"),
            Err(_) => format!("{rule}; give it such a name"),
        }
    })
}

/// Turns every run of other characters into one hyphen, and cuts at 64.
pub(crate) fn mended_id(written: &str) -> String {
    let mut mended = String::new();
    for letter in written.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' {
            mended.push(letter);
        } else if !mended.ends_with('-') {
            mended.push('-');
        }
        if mended.len() == 64 {
            break;
        }
    }
    mended.trim_matches('-').to_owned()
}

fn shown(text: &str) -> String {
    let safe = clean(text);
    match safe.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &safe[..end]),
        None => safe,
    }
}

impl Discovery {
    fn error(&mut self, entrypoint: &str, file: Option<&str>, message: impl Into<String>) {
        self.errors.push(StructureError {
            entrypoint: shown(entrypoint),
            message: message.into(),
            file: file.map(shown),
            line: None,
        });
    }

    fn declared(&mut self, root: &Path, declared: &[Declaration]) {
        if declared.len() > MOST_ENTRYPOINTS {
            let message =
                format!("`workflow.entrypoints` has {}; the first {MOST_ENTRYPOINTS} are served", declared.len());
            self.error("workflow.entrypoints", Some("package.json"), message);
        }
        for declaration in declared.iter().take(MOST_ENTRYPOINTS) {
            if declaration.duplicate {
                let message = "package.json declares this id twice; rename one of the two";
                self.error(&declaration.id, Some("package.json"), message);
                continue;
            }
            match declared_candidate(root, declaration) {
                Ok(candidate) => self.candidates.push(candidate),
                Err((file, message)) => {
                    self.error(&declaration.id, Some(file.as_deref().unwrap_or("package.json")), message);
                }
            }
        }
    }

    fn undeclared(&mut self, root: &Path) {
        let mut files: Vec<(String, String)> = Vec::new();
        for folder in ["", "workflows"] {
            for name in self.entries(root, folder) {
                let stem = WORKFLOW_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
                if let Some(stem) = stem {
                    let file = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
                    files.push((stem.to_owned(), file));
                }
            }
        }
        files.sort();
        if files.len() > MOST_ENTRYPOINTS {
            let message = format!("{} workflow files lie here; the first {MOST_ENTRYPOINTS} are served", files.len());
            self.error("workflow.entrypoints", None, message);
            files.truncate(MOST_ENTRYPOINTS);
        }
        for (stem, file) in files {
            self.file_candidate(root, &stem, &file, Naming::File);
        }
    }

    fn claude(&mut self, root: &Path) {
        let mut names = self.entries(root, CLAUDE_FOLDER);
        names.sort();
        for name in names.into_iter().take(MOST_ENTRYPOINTS) {
            let Some(stem) = SCRIPT_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)) else { continue };
            // Tests and type declarations share the folder and are no workflows.
            if stem.ends_with(".test") || stem.ends_with(".spec") || stem.ends_with(".d") {
                continue;
            }
            let file = format!("{CLAUDE_FOLDER}/{name}");
            let stand_in = mended_id(stem);
            self.file_candidate(root, if stand_in.is_empty() { "workflow" } else { &stand_in }, &file, Naming::Meta);
        }
    }

    fn file_candidate(&mut self, root: &Path, stem: &str, file: &str, naming: Naming) {
        let id = match read_id(stem) {
            Ok(id) => id,
            Err(message) => {
                let name = if stem.is_empty() { file } else { stem };
                return self.error(name, Some(file), format!("the file's name gives no id: {message}"));
            }
        };
        match resolve_inside(root, file) {
            Ok(_) => self.candidates.push(Candidate {
                id,
                naming,
                // The name that was found, not where a link leads: that is what its author sees.
                source: CandidateSource::File { file: file.to_owned() },
                settings: Map::new(),
            }),
            Err(error) => {
                let message = format!("{}; put the file itself into the project", error.sentence());
                self.error(id.as_str(), Some(file), message);
            }
        }
    }

    /// The names of a folder's entries that are text; a folder that is not there has none.
    fn entries(&mut self, root: &Path, folder: &str) -> Vec<String> {
        let path = root.join(folder);
        let read = match std::fs::read_dir(&path) {
            Ok(read) => read,
            Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                return Vec::new();
            }
            Err(error) => {
                let folder = if folder.is_empty() { "." } else { folder };
                self.warnings.push(format!("the folder `{folder}` cannot be read: {error}"));
                return Vec::new();
            }
        };
        let mut names = Vec::new();
        for (index, entry) in read.enumerate() {
            if index == MOST_ENTRIES {
                let folder = if folder.is_empty() { "." } else { folder };
                self.warnings.push(format!(
                    "the folder `{folder}` has over {MOST_ENTRIES} entries; declare `workflow.entrypoints` in package.json"
                ));
                break;
            }
            let Ok(entry) = entry else { continue };
            match entry.file_name().into_string() {
                Ok(name) => names.push(name),
                Err(name) => {
                    let name = name.to_string_lossy().into_owned();
                    if WORKFLOW_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                        self.error(&name, Some(&name), "the file's name is not UTF-8; rename it");
                    }
                }
            }
        }
        names
    }

    /// An id that two sources claim belongs to neither: which of them a client would get must not be chance.
    fn drop_duplicates(&mut self) {
        let mut places: HashMap<EntrypointId, Vec<String>> = HashMap::new();
        for candidate in self.candidates.iter().filter(|candidate| candidate.naming != Naming::Meta) {
            places.entry(candidate.id.clone()).or_default().push(candidate.place().to_owned());
        }
        places.retain(|_, places| places.len() > 1);
        self.candidates.retain(|candidate| candidate.naming == Naming::Meta || !places.contains_key(&candidate.id));
        let mut doubled: Vec<_> = places.into_iter().collect();
        doubled.sort();
        for (id, places) in doubled {
            let all = places.iter().map(|place| format!("`{place}`")).collect::<Vec<_>>().join(" and ");
            let message =
                format!("{all} both have this id; rename one, or declare `workflow.entrypoints` in package.json");
            self.error(id.as_str(), places.get(1).map(String::as_str), message);
        }
    }

    fn warn_of_ids(&mut self) {
        let ids: Vec<&EntrypointId> =
            self.candidates.iter().filter(|one| one.naming != Naming::Meta).map(|one| &one.id).collect();
        self.warnings.extend(id_warnings(&ids));
    }
}

/// Warns of ids that some client will drop or confuse.
pub(crate) fn id_warnings(ids: &[&EntrypointId]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut by_lower: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for id in ids.iter().filter(|id| seen.insert(id.as_str())) {
        by_lower.entry(id.as_str().to_ascii_lowercase()).or_default().push(id.as_str());
        let length = id.as_str().len();
        if length > Limits::LONG_ENTRYPOINT_ID {
            warnings.push(format!(
                "the id `{id}` has {length} characters; over {} the tool is dropped or renamed by Cursor, Codex, Gemini CLI and \
                 others, which count the server's name too",
                Limits::LONG_ENTRYPOINT_ID
            ));
        }
    }
    for alike in by_lower.values().filter(|alike| alike.len() > 1) {
        let all = alike.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        warnings.push(format!("the ids {all} differ in case only; some clients and file systems take them for one"));
    }
    warnings
}

impl Candidate {
    /// Where it is declared or lies, for messages.
    #[must_use]
    pub fn place(&self) -> &str {
        match &self.source {
            CandidateSource::File { file } => file,
            CandidateSource::Command { .. } | CandidateSource::Dynamic => "package.json",
        }
    }
}

/// Reads one declaration; the error has the file it is about, if that is not package.json, and the message.
fn declared_candidate(root: &Path, declaration: &Declaration) -> Result<Candidate, (Option<String>, String)> {
    let here = |message: String| (None, message);
    let id = read_id(&declaration.id).map_err(here)?;
    let (source, settings) = match &declaration.body {
        Value::String(path) => (script_source(root, path)?, Map::new()),
        Value::Object(members) => {
            let mut settings = members.clone();
            let script = settings.shift_remove("script").filter(|value| !value.is_null());
            let command = settings.shift_remove("command").filter(|value| !value.is_null());
            let dynamic = match settings.shift_remove("dynamic") {
                None | Some(Value::Null | Value::Bool(false)) => false,
                Some(Value::Bool(true)) => true,
                Some(other) => return Err(here(format!("`dynamic` is {}; it must be true or false", short(&other)))),
            };
            let source = match (script, command, dynamic) {
                (Some(Value::String(path)), None, false) => script_source(root, &path)?,
                (Some(other), None, false) => {
                    return Err(here(format!("`script` is {}; write a path: `\"./main.workflow.ts\"`", short(&other))));
                }
                (None, Some(command), false) => CandidateSource::Command { argv: argv(&command).map_err(here)? },
                (None, None, true) => CandidateSource::Dynamic,
                (None, None, false) => {
                    return Err(here("it has neither `script` nor `command`; add one of them".into()));
                }
                (Some(_), Some(_), _) | (Some(_), None, true) | (None, Some(_), true) => {
                    return Err(here("`script`, `command` and `dynamic` exclude each other; keep one of them".into()));
                }
            };
            (source, settings)
        }
        other => {
            let shown = short(other);
            return Err(here(format!("it is {shown}; write a path, or an object with `script` or `command`")));
        }
    };
    Ok(Candidate { id, naming: Naming::Declared, source, settings })
}

fn script_source(root: &Path, written: &str) -> Result<CandidateSource, (Option<String>, String)> {
    let found = resolve_inside(root, written).map_err(|error| {
        use disk::inside::SafePathError as E;
        let mend = match &error {
            E::Absolute { .. } | E::NotAPath { .. } => "write it like `./main.workflow.ts`",
            E::Outside { .. } | E::LinkOutside { .. } => {
                "move the file into the project, or serve it from a related project"
            }
            E::Unreadable { .. } => "mend the path in package.json, or add the file",
        };
        (Some(shown(written)), format!("{}; {mend}", error.sentence()))
    })?;
    let name = found.relative.to_ascii_lowercase();
    if !SCRIPT_ENDINGS.iter().any(|ending| name.ends_with(ending)) || name.ends_with(".d.ts") {
        let message = format!(
            "`{}` is no script; a script's name ends with .ts, .js or .mjs, and a program is started by `command`",
            shown(written)
        );
        return Err((Some(shown(written)), message));
    }
    Ok(CandidateSource::File { file: found.relative })
}

fn argv(command: &Value) -> Result<Vec<String>, String> {
    const MOST: usize = 1_000;
    let example = "write it as a list: `[\"python3\", \"convert.py\"]`";
    let items = match command {
        Value::Array(items) => items,
        Value::String(_) => return Err(format!("`command` is a text, and no shell reads it; {example}")),
        other => return Err(format!("`command` is {}; {example}", short(other))),
    };
    if items.len() > MOST {
        return Err(format!("`command` has {} elements; {MOST} is the most", items.len()));
    }
    let mut argv = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match item.as_str() {
            Some(text) if text.contains('\0') => {
                return Err(format!("element {} of `command` has a NUL character; remove it", index + 1));
            }
            Some(text) => argv.push(text.to_owned()),
            None => return Err(format!("element {} of `command` is {}; {example}", index + 1, short(item))),
        }
    }
    match argv.first() {
        Some(program) if !program.trim().is_empty() => Ok(argv),
        Some(_) | None => Err(format!("`command` names no program; {example}")),
    }
}

#[cfg(test)]
mod tests;
