//! `workflow-code structure`: what a folder offers, as JSON.

use model::{EntrypointSource, StructureReport};
use project::Manifest;
use runtime::{Executor, WorkerImage};
use serde_json::{Value, json};

use crate::cli::Structure;
use crate::failure::Failure;
use crate::{open, out};

pub(crate) fn run(options: &Structure) -> Result<u8, Failure> {
    let manifest = open::manifest(&options.workflow_dir)?;
    let report = report(&manifest)?;
    out::json(&shape(&manifest, &report));
    Ok(0)
}

/// Makes the structure report of a project.
pub(crate) fn report(manifest: &Manifest) -> Result<StructureReport, Failure> {
    process::orphans::inherit();
    let runtime = super::run::runtime()?;
    // Nothing is recorded by it.
    let store = open::history(&manifest.root);
    let executor = Executor::new(store, WorkerImage::own(), 1);
    Ok(runtime.block_on(executor.analyse(manifest)))
}

fn shape(manifest: &Manifest, report: &StructureReport) -> Value {
    let entrypoints: Vec<Value> = report
        .entrypoints
        .iter()
        .map(|entrypoint| {
            let source = match &entrypoint.source {
                EntrypointSource::Module { file } => json!({ "kind": "module", "file": file }),
                EntrypointSource::Script { file } => json!({ "kind": "script", "file": file }),
                EntrypointSource::Command { argv } => json!({ "kind": "command", "argv": argv }),
                EntrypointSource::Dynamic => json!({ "kind": "dynamic" }),
            };
            json!({
                "id": entrypoint.id,
                "title": entrypoint.title,
                "description": entrypoint.description,
                "draft": entrypoint.draft,
                "params": entrypoint.params,
                "source": source,
            })
        })
        .collect();
    json!({
        "project": { "id": manifest.uuid, "name": manifest.name, "path": manifest.root },
        "entrypoints": entrypoints,
        "errors": report.errors,
        "warnings": report.warnings,
    })
}
