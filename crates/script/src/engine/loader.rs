//! Gives the engine its modules: those found before the run, and those an `import()` asks for while it goes on.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Module};

use super::shared::{Shared, ToHost};
use crate::modules::{Graph, Shelf};
use crate::source::{LineMap, WRAP_LINES, compile_script};
use crate::{Job, ModuleSource, Narration, Note, SourceErrorCode};

/// A name as it is written where it is an id: every run of other characters is one `-`.
fn as_id(name: &str) -> String {
    let mut id = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            id.push(letter);
        } else if !id.ends_with('-') {
            id.push('-');
        }
    }
    id.trim_matches('-').to_owned()
}

/// Why a script cannot be run inside another: a code and a sentence.
pub(super) type Refused = (&'static str, String);

/// A script that `workflow()` found.
pub(super) struct Nested {
    pub code: String,
    pub file: String,
    pub source: ModuleSource,
    /// Whether it was not kept with the run and is the project's copy of today.
    pub late: bool,
}

/// What is noted of a file that a continued run uses and that was not kept with it: nothing of it ran before.
pub(super) fn source_late(file: &str) -> Note {
    let text = format!("`{file}` was not kept with the run when it began, so the project's copy of today is used");
    crate::meta::note("source-late", Some(file), text)
}

/// The modules of one run, compiled, and where further ones are read.
pub(super) struct Library {
    job: Job,
    graph: Graph,
    /// The maps of scripts' bodies, which are no modules: the entrypoint's, then those it ran with `workflow()`.
    scripts: Vec<(String, Option<LineMap>)>,
}

impl Library {
    pub(super) fn new(job: &Job, graph: Graph, script: Option<Option<LineMap>>) -> Self {
        // What the journal holds is of no use here, and may be large.
        let job = Job { journal: Vec::new(), input: None, ..job.clone() };
        let scripts = script.map(|map| (job.file.clone(), map)).into_iter().collect();
        Self { job, graph, scripts }
    }

    /// Reads and wraps a script for `workflow()`, or gives a code and a sentence.
    pub(super) fn nested(&mut self, by_path: bool, wanted: &str) -> Result<Nested, Refused> {
        let file = if by_path {
            let root = self.job.root.to_string_lossy().into_owned();
            wanted.strip_prefix(&format!("{root}/")).unwrap_or(wanted).trim_start_matches("./").to_owned()
        } else {
            match self.job.workflows.get(wanted).or_else(|| self.job.workflows.get(&as_id(wanted))) {
                Some(file) => file.clone(),
                None => {
                    let known: Vec<&str> = self.job.workflows.keys().map(String::as_str).collect();
                    let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
                    return Err((
                        "WORKFLOW_UNKNOWN",
                        format!("there is no workflow `{wanted}` in this project ({known})"),
                    ));
                }
            }
        };
        let shelf = Shelf::late(&self.job.root, &self.job.sources);
        let text = shelf.read(&file).map_err(|error| ("WORKFLOW_UNKNOWN", error.to_string()))?;
        let late = shelf.lacks(&file);
        let compiled = compile_script(&file, &text).map_err(|error| {
            let code = if error.code == SourceErrorCode::Meta { "META_INVALID" } else { "SCRIPT_PARSE" };
            (code, error.to_string())
        })?;
        let code = compiled.wrapped_within();
        if !self.scripts.iter().any(|(known, _)| *known == file) {
            self.scripts.push((file.clone(), compiled.map));
        }
        let source = ModuleSource::new(&file, text);
        Ok(Nested { code, file, source, late })
    }

    /// Finds where a place of what the engine ran was written.
    pub(super) fn place(&self, file: &str, line: u32, column: u32) -> Option<(u32, u32)> {
        if let Some((_, map)) = self.scripts.iter().find(|(name, _)| name == file) {
            let line = line.saturating_sub(WRAP_LINES).max(1);
            return map.as_ref().map_or(Some((line, column)), |map| map.find(line, column));
        }
        self.graph.modules.get(file)?.map.as_ref()?.find(line, column)
    }

    /// Returns the code of a module that was found.
    pub(super) fn code(&self, path: &str) -> Option<String> {
        self.graph.modules.get(path).map(|module| module.code.clone())
    }
}

/// The engine's two questions about modules, answered from the library.
#[derive(Clone)]
pub(super) struct Access {
    pub library: Rc<RefCell<Library>>,
    pub shared: Rc<Shared>,
}

impl Resolver for Access {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        let library = self.library.borrow();
        if !library.scripts.is_empty() {
            return Err(Exception::throw_type(
                ctx,
                &format!("a script cannot import `{name}`: it has no modules, and agents do such work"),
            ));
        }
        let job = &library.job;
        Shelf::late(&job.root, &job.sources)
            .resolve(base, name)
            .map_err(|(_, message)| Exception::throw_type(ctx, &message))
    }
}

impl Loader for Access {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        let found = self.library.borrow().code(name);
        let code = match found {
            Some(code) => code,
            None => {
                let library = &mut *self.library.borrow_mut();
                let shelf = Shelf::late(&library.job.root, &library.job.sources);
                let new = library
                    .graph
                    .load_late(&shelf, name)
                    .map_err(|error| Exception::throw_type(ctx, &format!("cannot import: {error}")))?;
                for module in new.iter().filter(|module| shelf.lacks(&module.path)) {
                    self.shared.narrate(Narration::Note(source_late(&module.path)));
                }
                // Kept with the run before any of it is executed.
                self.shared.send(ToHost::Loaded(new));
                library.code(name).unwrap_or_default()
            }
        };
        // The library is free again: compiling asks for the imports of this module.
        Module::declare(ctx.clone(), name, code)
    }
}
