//! Analyses sources: what they declare and what they import. Nothing of them is called.

use std::path::Path;

use super::link::Link;
use crate::protocol::{Analysed, Broken, Declared, FromWorker, StructureJob};

/// Analyses one source after the other. A source that brings this process down costs itself: the supervisor sees
/// which one was next and starts over behind it.
pub(super) fn run(job: &StructureJob, link: &Link) {
    for (index, file) in job.files.iter().enumerate() {
        let found = match script::analyze(Path::new(&job.root), file) {
            Ok(analysis) => Ok(Declared {
                script: analysis.kind == script::JobKind::Script,
                declaration: analysis.declaration,
                modules: analysis.modules.into_iter().map(|module| module.path).collect(),
            }),
            Err(error) => Err(Broken {
                undeclared: error.code == script::SourceErrorCode::Undeclared,
                message: error.message,
                file: Some(error.file),
                line: error.line,
            }),
        };
        link.say(&FromWorker::Analysed(Analysed { index, found }));
    }
}
