//! Checks what a step hands in, before anything is recorded.

use std::path::Path;

use crate::error::{GuidedError, quoted};
use crate::job::{ArgumentKind, Job, Step};
use crate::state::{Given, Values};

/// Checks names first, then each value: unknown names, missing ones, and whether texts are texts and files exist.
pub(crate) fn check(root: &Path, job: &Job, step: &Step, outputs: &Values) -> Result<(), GuidedError> {
    let refuse = |message: String| Err(GuidedError::Outputs(message));
    let declared: Vec<&String> = step.outputs.keys().collect();
    let mut unknown: Vec<&String> = outputs.keys().filter(|name| !step.outputs.contains_key(*name)).collect();
    unknown.sort();
    if !unknown.is_empty() {
        return refuse(format!(
            "the step `{}` has no output {}; its outputs are {}",
            step.name,
            quoted(&unknown),
            quoted(&declared)
        ));
    }
    let mut missing: Vec<&String> = step
        .outputs
        .iter()
        .filter(|(name, output)| output.required && !outputs.contains_key(*name))
        .map(|(name, _)| name)
        .collect();
    missing.sort();
    if !missing.is_empty() {
        return refuse(format!("the step `{}` needs the outputs {}, which are missing", step.name, quoted(&missing)));
    }
    for (name, value) in outputs {
        match (job.argument(name).map(|argument| argument.kind), value) {
            (Some(ArgumentKind::FilePath), _) => {
                for path in value.texts() {
                    let exists = !path.is_empty() && !path.contains('\0') && root.join(path).exists();
                    if !exists {
                        return refuse(format!(
                            "the output `{name}` names the file `{path}`, which does not exist (paths are relative to \
                             `{}`)",
                            root.display()
                        ));
                    }
                }
            }
            (Some(ArgumentKind::Text) | None, Given::One(_)) => {}
            (Some(ArgumentKind::Text) | None, Given::Many(_)) => {
                return refuse(format!("the output `{name}` is a string: pass one string and no list"));
            }
        }
    }
    Ok(())
}
