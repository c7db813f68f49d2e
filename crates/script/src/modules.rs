//! Where modules come from: names to files inside the project, reading them safely, and everything an entrypoint
//! imports, found before anything runs.
//!
//! A module's identity is its path relative to the project with `/` between the parts, as its importers name it;
//! links are followed for reading only, so that a kept copy of the sources needs no disk to resolve the same names.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use disk::{ReadError, SafePathError};
use model::Limits;
use serde::{Deserialize, Serialize};

use crate::source::{Compiled, Import, compile_module, error_at};
use crate::{SourceError, SourceErrorCode};

/// How many modules one entrypoint may have. A bound for generated import graphs; people stay far below.
const MODULE_COUNT: usize = 2_000;

/// Where sources are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Sources {
    /// The project's folder, as it is now.
    Disk,
    /// Copies kept with the run: path in the project → text.
    Kept(BTreeMap<String, String>),
}

/// A module as it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleSource {
    /// Its path, relative to the project, with `/` between the parts.
    pub path: String,
    /// SHA-256 of its text, in hexadecimal.
    pub sha256: String,
    /// Its text.
    pub text: String,
}

impl ModuleSource {
    pub(crate) fn new(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), sha256: crate::json::sha256(&text), text }
    }
}

/// Reads modules of one project.
#[derive(Debug)]
pub(crate) struct Shelf<'a> {
    root: &'a Path,
    sources: &'a Sources,
    /// Whether what was not kept with the run is looked for in the project.
    late: bool,
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(root: &'a Path, sources: &'a Sources) -> Self {
        Self { root, sources, late: false }
    }

    /// A shelf for what a run asks for while it goes on. What was not kept with it was never loaded before, so that the
    /// project's copy of today is as good as any.
    pub(crate) fn late(root: &'a Path, sources: &'a Sources) -> Self {
        Self { root, sources, late: true }
    }

    /// Tells whether a file is not among those kept with a run that is continued.
    pub(crate) fn lacks(&self, path: &str) -> bool {
        matches!(self.sources, Sources::Kept(texts) if !texts.contains_key(path))
    }

    /// Reads the text of a module.
    pub(crate) fn read(&self, path: &str) -> Result<String, SourceError> {
        match self.sources {
            Sources::Kept(texts) => match texts.get(path) {
                Some(text) => Ok(text.clone()),
                None if self.late => read_inside(self.root, path),
                None => {
                    let why = "not among the sources kept with the run";
                    Err(SourceError::of_file(SourceErrorCode::Unreadable, path, why))
                }
            },
            Sources::Disk => read_inside(self.root, path),
        }
    }

    /// Tells whether there is such a file; says nothing of its being readable.
    fn exists(&self, path: &str) -> bool {
        match self.sources {
            Sources::Kept(texts) => texts.contains_key(path),
            Sources::Disk => self.root.join(path).is_file(),
        }
    }

    /// Turns an import of `from` into the path of a module, or says why it cannot be one.
    pub(crate) fn resolve(&self, from: &str, specifier: &str) -> Result<String, (SourceErrorCode, String)> {
        if !(specifier.starts_with("./") || specifier.starts_with("../")) {
            return Err((
                SourceErrorCode::Import,
                format!(
                    "cannot import `{}`: only files of the project can be imported, by a path that begins with ./ or ../",
                    shortened(specifier)
                ),
            ));
        }
        if specifier.contains(['\0', '\\', '?', '#']) {
            return Err((
                SourceErrorCode::Import,
                format!("cannot import `{}`: not a plain path", shortened(specifier)),
            ));
        }
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for part in specifier.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err((
                            SourceErrorCode::Outside,
                            format!("cannot import `{}`: it lies outside the project", shortened(specifier)),
                        ));
                    }
                }
                other => parts.push(other),
            }
        }
        let path = parts.join("/");
        // What is kept goes before what came to the project since.
        let found = self.complete(&path).or_else(|| match (self.late, self.sources) {
            (true, Sources::Kept(_)) => Shelf::new(self.root, &Sources::Disk).complete(&path),
            (true | false, _) => None,
        });
        found.ok_or_else(|| {
            let reason = match Path::new(&path).extension().and_then(|extension| extension.to_str()) {
                Some("ts" | "js" | "mjs" | "json") | None => "there is no such file in the project",
                Some(_) => "only .ts, .js, .mjs and .json files can be imported",
            };
            (SourceErrorCode::Import, format!("cannot import `{}`: {reason}", shortened(specifier)))
        })
    }

    /// Finds the file meant by a path: itself, `x.ts` for `x.js` as TypeScript people write it, or with an extension.
    fn complete(&self, path: &str) -> Option<String> {
        let known = crate::source::Language::of(path).is_some();
        if known && self.exists(path) {
            return Some(path.to_owned());
        }
        if let Some(stem) = path.strip_suffix(".js") {
            let typed = format!("{stem}.ts");
            return self.exists(&typed).then_some(typed);
        }
        if known {
            return None;
        }
        ["ts", "js", "mjs"].into_iter().map(|extension| format!("{path}.{extension}")).find(|path| self.exists(path))
    }
}

/// An entrypoint with all it imports, compiled.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// The modules by path.
    pub modules: HashMap<String, Compiled>,
    /// Their sources, in the order they were found; the entrypoint first.
    pub sources: Vec<ModuleSource>,
}

impl Graph {
    /// Loads what `file` imports, and what that imports, beginning with `file` itself, already read and compiled.
    pub(crate) fn load(shelf: &Shelf<'_>, file: &str, text: String, compiled: Compiled) -> Result<Self, SourceError> {
        let mut graph = Self::default();
        graph.add(shelf, file, text, compiled)?;
        graph.check_names(shelf)?;
        Ok(graph)
    }

    /// Checks that what is imported by name is exported by that name. The engine would find out as well, but only when
    /// the modules run.
    fn check_names(&self, shelf: &Shelf<'_>) -> Result<(), SourceError> {
        for source in &self.sources {
            let Some(module) = self.modules.get(&source.path) else { continue };
            for import in module.imports.iter().filter(|import| !import.names.is_empty()) {
                let Ok(path) = shelf.resolve(&source.path, &import.specifier) else { continue };
                let Some(exports) = self.modules.get(&path).and_then(|module| module.exports.as_ref()) else {
                    continue;
                };
                if let Some((name, offset)) = import.names.iter().find(|(name, _)| !exports.contains(name)) {
                    let message = format!("`{}` does not export `{name}`", shortened(&import.specifier));
                    return Err(error_at(SourceErrorCode::Import, &source.path, &source.text, *offset, message));
                }
            }
        }
        Ok(())
    }

    /// Loads a module that is asked for while a run goes on; gives what is new.
    pub(crate) fn load_late(&mut self, shelf: &Shelf<'_>, path: &str) -> Result<Vec<ModuleSource>, SourceError> {
        let before = self.sources.len();
        if !self.modules.contains_key(path) {
            let text = shelf.read(path)?;
            let compiled = compile_module(path, &text, false)?;
            self.add(shelf, path, text, compiled)?;
        }
        Ok(self.sources[before..].to_vec())
    }

    fn add(&mut self, shelf: &Shelf<'_>, file: &str, text: String, compiled: Compiled) -> Result<(), SourceError> {
        // A list instead of recursion: import chains may be long.
        let mut open = vec![(file.to_owned(), compiled.imports.clone(), text.clone())];
        self.insert(file, text, compiled);
        while let Some((importer, imports, importer_text)) = open.pop() {
            for import in imports {
                let Some((path, text, compiled)) = self.follow(shelf, &importer, &importer_text, &import)? else {
                    continue;
                };
                if self.modules.len() >= MODULE_COUNT {
                    return Err(error_at(
                        SourceErrorCode::Import,
                        &importer,
                        &importer_text,
                        import.offset,
                        format!("more than {MODULE_COUNT} modules"),
                    ));
                }
                open.push((path.clone(), compiled.imports.clone(), text.clone()));
                self.insert(&path, text, compiled);
            }
        }
        Ok(())
    }

    fn insert(&mut self, path: &str, text: String, compiled: Compiled) {
        self.sources.push(ModuleSource::new(path, text));
        self.modules.insert(path.to_owned(), compiled);
    }

    /// Reads and compiles the module of one import; none if it is there already, or may be missing until it is used.
    fn follow(
        &self,
        shelf: &Shelf<'_>,
        importer: &str,
        importer_text: &str,
        import: &Import,
    ) -> Result<Option<(String, String, Compiled)>, SourceError> {
        let at_import = |code, message: String| error_at(code, importer, importer_text, import.offset, message);
        let path = match shelf.resolve(importer, &import.specifier) {
            Ok(path) => path,
            // `import(…)` fails where it stands, and only if it is reached.
            Err(_) if import.dynamic => return Ok(None),
            Err((code, message)) => return Err(at_import(code, message)),
        };
        if self.modules.contains_key(&path) {
            return Ok(None);
        }
        let read = shelf.read(&path).and_then(|text| {
            let compiled = compile_module(&path, &text, false)?;
            Ok((text, compiled))
        });
        match read {
            Ok((text, compiled)) => Ok(Some((path, text, compiled))),
            Err(_) if import.dynamic => Ok(None),
            // A fault inside the imported file points there; one of the file itself belongs to the import.
            Err(error) if error.line.is_some() => Err(error),
            Err(error) => Err(at_import(
                error.code,
                format!("cannot import `{}`: {}", shortened(&import.specifier), error.message),
            )),
        }
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(120).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Reads a file that must lie inside `root` when all links are followed.
fn read_inside(root: &Path, path: &str) -> Result<String, SourceError> {
    disk::read_inside(root, path, Limits::SOURCE_BYTES).map_err(|error| {
        let (code, message) = in_words(error);
        SourceError::of_file(code, path, message)
    })
}

fn in_words(error: SafePathError) -> (SourceErrorCode, String) {
    use SourceErrorCode::{Outside, TooLarge, Unreadable};
    let source = match error {
        SafePathError::Outside { .. } | SafePathError::Absolute { .. } | SafePathError::LinkOutside { .. } => {
            return (Outside, "the file lies outside the project".into());
        }
        SafePathError::NotAPath { .. } => return (Unreadable, format!("the file cannot be read: {error}")),
        SafePathError::Unreadable { source, .. } => source,
    };
    match source {
        ReadError::NotFound { .. } => (Unreadable, "the file does not exist".into()),
        ReadError::NotRegular { .. } => (Unreadable, "the file cannot be read: it is not a regular file".into()),
        ReadError::TooLarge { limit, .. } => {
            (TooLarge, format!("the file is larger than {} MiB", limit / (1024 * 1024)))
        }
        ReadError::NotText { .. } => (Unreadable, "the file is not UTF-8 text".into()),
        ReadError::Exchanged { .. } => (Unreadable, "the file changed while it was read: try again".into()),
        ReadError::Io { source, .. } => (Unreadable, format!("the file cannot be read: {source}")),
    }
}
