//! The structure report of a project, put together from what discovery found and what workers read in the sources.

use model::{StructureError, StructureReport};
use serde_json::Value;

use crate::discovery::{Candidate, CandidateSource, Discovery, Naming};
use crate::merge::{Declared, merge, settle_ids};

/// What reading one candidate's source gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// A module, with what it exports as `entrypoint`; `null` when it exports none.
    Module(Value),
    /// An orchestration script, with its `meta`.
    Script(Value),
    /// It cannot be offered: no parser took it, an import is missing, a worker died over it.
    Broken {
        /// What is wrong and how to mend it.
        message: String,
        /// The file it lies in, relative to the project; `None`: the candidate's own.
        file: Option<String>,
        /// The line, counted from 1.
        line: Option<u32>,
    },
}

/// Puts the report together. `read` is asked once for each candidate that has a source file, in order; commands and the
/// dynamic entrypoint have none. One that is broken never hides another.
///
/// In `.claude/workflows` a file without `meta` is a helper of the others and no entrypoint: it is left out silently.
pub fn assemble(discovery: &Discovery, mut read: impl FnMut(&Candidate) -> Finding) -> StructureReport {
    let mut report = StructureReport {
        errors: discovery.errors.clone(),
        warnings: discovery.warnings.clone(),
        ..Default::default()
    };
    let mut entrypoints = Vec::new();
    for candidate in &discovery.candidates {
        let merged = match &candidate.source {
            CandidateSource::Command { .. } | CandidateSource::Dynamic => merge(candidate, Declared::Nothing),
            CandidateSource::File { file } => match read(candidate) {
                Finding::Module(_) if candidate.naming == Naming::Meta => continue,
                Finding::Module(declared) => merge(candidate, Declared::Module(&declared)),
                Finding::Script(meta) => merge(candidate, Declared::Script(&meta)),
                Finding::Broken { message, file: broken, line } => Err(StructureError {
                    entrypoint: candidate.id.to_string(),
                    message,
                    file: Some(broken.unwrap_or_else(|| file.clone())),
                    line,
                }),
            },
        };
        match merged {
            Ok(merged) => {
                let id = &merged.entrypoint.id;
                report.warnings.extend(merged.warnings.iter().map(|warning| format!("`{id}`: {warning}")));
                entrypoints.push(merged.entrypoint);
            }
            Err(error) => report.errors.push(error),
        }
    }
    let (kept, errors, warnings) = settle_ids(entrypoints);
    report.entrypoints = kept;
    report.errors.extend(errors);
    for warning in warnings {
        if !report.warnings.contains(&warning) {
            report.warnings.push(warning);
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::Manifest;
    use serde_json::json;

    #[test]
    fn a_report_holds_what_works_and_names_what_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let package = r#"{"id": "11111111-1111-4111-8111-111111111111", "projectType": "workflow", "workflow": {"claudeWorkflows": true}}"#;
        std::fs::write(folder.path().join("package.json"), package).unwrap();
        std::fs::create_dir_all(folder.path().join(".claude/workflows")).unwrap();
        for file in [
            "broken.workflow.ts",
            "draft.workflow.ts",
            "good.workflow.ts",
            ".claude/workflows/a.js",
            ".claude/workflows/b.js",
            ".claude/workflows/helper.js",
        ] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let discovery = crate::discover(&Manifest::read(folder.path()).unwrap());
        let report = assemble(&discovery, |candidate| match candidate.place() {
            "broken.workflow.ts" => Finding::Broken { message: "no".into(), file: None, line: Some(1) },
            "draft.workflow.ts" => Finding::Module(json!({"title": "Draft", "draft": true, "titel": 1})),
            "good.workflow.ts" => Finding::Module(Value::Null),
            ".claude/workflows/helper.js" => Finding::Module(Value::Null),
            ".claude/workflows/b.js" => Finding::Script(json!({"name": "good", "description": "x"})),
            _ => Finding::Script(json!({"name": "tool:review", "description": "x"})),
        });
        let ids: Vec<_> = report.entrypoints.iter().map(|one| (one.id.as_str(), one.draft)).collect();
        assert_eq!(ids, [("draft", true), ("good", false), ("tool-review", false)]);
        assert_eq!(
            serde_json::to_value(&report.errors).unwrap(),
            json!([{"entrypoint": "broken", "message": "no", "file": "broken.workflow.ts", "line": 1},
                {"entrypoint": "good", "message": "`good.workflow.ts` already has this id; change `meta.name`",
                    "file": ".claude/workflows/b.js"}])
        );
        assert_eq!(report.warnings, ["`draft`: `titel` in draft.workflow.ts is not known; did you mean `title`?"]);
    }
}
