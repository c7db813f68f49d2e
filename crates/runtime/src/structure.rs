//! The structure report: what a project offers, found without parsing any of its code in this process.
//!
//! Sources are analysed in a worker, one after the other. A source that kills the worker, or holds it up, costs itself:
//! the next worker starts behind it.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use model::{StructureError, StructureReport};
use project::{Candidate, CandidateSource, Declared as DeclaredBy, Discovery, Manifest, Naming};

use crate::protocol::{Broken, Declared, FromWorker, Outcome, StructureJob, ToWorker};
use crate::supervisor::{Worker, WorkerImage, Workers};

/// How long one source may take. A module that is evaluated has one second; the rest is for reading and parsing.
const PATIENCE: Duration = Duration::from_secs(5);

/// A report, and the files it was made from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Structure {
    /// What the project offers.
    pub(crate) report: StructureReport,
    /// Every module that was read, relative to the project. A cached report holds while none of them has changed.
    pub(crate) modules: Vec<String>,
}

/// Makes the structure report of a project from what discovery found.
pub(crate) async fn analyse(
    manifest: &Manifest,
    discovery: Discovery,
    image: &WorkerImage,
    workers: &Workers,
) -> Structure {
    let Discovery { candidates, mut errors, mut warnings } = discovery;
    warnings.splice(0..0, manifest.warnings.iter().cloned());
    let files: Vec<String> = candidates
        .iter()
        .filter_map(|candidate| match &candidate.source {
            CandidateSource::File { file } => Some(file.clone()),
            CandidateSource::Command { .. } | CandidateSource::Dynamic => None,
        })
        .collect();
    let mut found = analyse_files(&manifest.root, &files, image, workers).await.into_iter();
    let mut entrypoints = Vec::new();
    let mut modules = BTreeSet::new();
    for candidate in &candidates {
        let merged = match &candidate.source {
            CandidateSource::File { file } => {
                modules.insert(file.clone());
                match found.next() {
                    // Helpers of the scripts that they lie beside.
                    Some(Err(broken)) if candidate.naming == Naming::Meta && broken.undeclared => continue,
                    Some(Ok(declared)) if candidate.naming == Naming::Meta && !declared.script => continue,
                    Some(Ok(declared)) => {
                        modules.extend(declared.modules.iter().cloned());
                        let by = match declared.script {
                            true => DeclaredBy::Script(&declared.declaration),
                            false => DeclaredBy::Module(&declared.declaration),
                        };
                        project::merge(candidate, by)
                    }
                    Some(Err(broken)) => Err(broken_entrypoint(candidate, broken)),
                    None => Err(broken_entrypoint(
                        candidate,
                        Broken { message: "it was not looked at".into(), file: None, line: None, undeclared: false },
                    )),
                }
            }
            CandidateSource::Command { .. } | CandidateSource::Dynamic => {
                project::merge(candidate, DeclaredBy::Nothing)
            }
        };
        match merged {
            Ok(merged) => {
                entrypoints.push(merged.entrypoint);
                warnings.extend(merged.warnings);
            }
            Err(error) => errors.push(error),
        }
    }
    let (entrypoints, clashes, more) = project::merge::settle_ids(entrypoints);
    errors.extend(clashes);
    for warning in more {
        // Looking for entrypoints has warned of their ids already.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    Structure { report: StructureReport { entrypoints, errors, warnings }, modules: modules.into_iter().collect() }
}

fn broken_entrypoint(candidate: &Candidate, broken: Broken) -> StructureError {
    StructureError {
        entrypoint: candidate.id.to_string(),
        message: broken.message,
        file: broken.file.or_else(|| Some(candidate.place().to_owned())),
        line: broken.line,
    }
}

/// Analyses files in order; the result has one entry for each.
async fn analyse_files(
    root: &Path,
    files: &[String],
    image: &WorkerImage,
    workers: &Workers,
) -> Vec<Result<Declared, Broken>> {
    let mut found: Vec<Result<Declared, Broken>> = Vec::with_capacity(files.len());
    while found.len() < files.len() {
        let rest = &files[found.len()..];
        match analyse_some(root, rest, image, workers, &mut found).await {
            Ok(()) => {}
            Err(message) => {
                let file = files.get(found.len()).cloned();
                found.push(Err(Broken { message, file, line: None, undeclared: false }));
            }
        }
    }
    found
}

/// Lets one worker analyse as many files as it survives. An error is about the file it was at.
async fn analyse_some(
    root: &Path,
    files: &[String],
    image: &WorkerImage,
    workers: &Workers,
    found: &mut Vec<Result<Declared, Broken>>,
) -> Result<(), String> {
    let mut worker =
        Worker::start(image, root, workers).map_err(|error| format!("no worker could be started: {error}"))?;
    let before = found.len();
    worker.say(&ToWorker::Structure(StructureJob { root: root.to_string_lossy().into_owned(), files: files.to_vec() }));
    while found.len() - before < files.len() {
        match tokio::time::timeout(PATIENCE, worker.next()).await {
            Ok(Some(FromWorker::Ready { .. })) => {}
            Ok(Some(FromWorker::Analysed(analysed))) if analysed.index == found.len() - before => {
                found.push(analysed.found);
            }
            Ok(None | Some(FromWorker::Done(Outcome::Cancelled))) => {
                let how = worker.kill().await;
                return Err(format!("reading it ended the worker process ({how}); simplify the source"));
            }
            Ok(Some(_)) => {
                worker.kill().await;
                return Err("the worker that read it said something unexpected".into());
            }
            Err(_) => {
                worker.kill().await;
                return Err(format!("reading it took over {} s; simplify the source", PATIENCE.as_secs()));
            }
        }
    }
    worker.finish().await;
    Ok(())
}
