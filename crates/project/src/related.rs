//! Related projects: a project may run another's entrypoints only when both declare each other by UUID, so that neither
//! can reach for the other alone.

use crate::package::Manifest;

/// Why a binding of a related project does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelatedError {
    /// The project declares no related project of that name.
    #[error("`{project}` declares no related project `{alias}`{}", known(aliases))]
    UnknownAlias {
        /// The project's name.
        project: String,
        /// The alias asked for.
        alias: String,
        /// The aliases that are declared.
        aliases: Vec<String>,
    },
    /// The alias stands for another project than the one given.
    #[error("`{project}` means another project by `{alias}`: {declared}, and the one given is {given}")]
    OtherProject {
        /// The project's name.
        project: String,
        /// The alias.
        alias: String,
        /// The UUID that the project declares.
        declared: String,
        /// The UUID of the project given.
        given: String,
    },
    /// The other side does not declare this project.
    #[error("`{other}` does not declare `{project}` in return")]
    NotReturned {
        /// The project's name.
        project: String,
        /// The project's UUID.
        uuid: String,
        /// The other project's name.
        other: String,
    },
    /// A project cannot be related to itself.
    #[error("`{project}` cannot be related to itself")]
    Itself {
        /// The project's name.
        project: String,
    },
}

fn known(aliases: &[String]) -> String {
    if aliases.is_empty() {
        return String::new();
    }
    format!("; it declares {}", aliases.iter().map(|alias| format!("`{alias}`")).collect::<Vec<_>>().join(", "))
}

impl RelatedError {
    /// Says what to do next, in one sentence.
    #[must_use]
    pub fn next_step(&self) -> String {
        match self {
            Self::UnknownAlias { alias, .. } => {
                format!("add `\"{alias}\": {{\"id\": \"UUID\"}}` to `workflow.relatedProjects` in its package.json")
            }
            Self::OtherProject { given, alias, .. } => {
                format!("name the right folder, or set the `id` of `{alias}` to `{given}` in package.json")
            }
            Self::NotReturned { uuid, other, .. } => format!(
                "add `\"ALIAS\": {{\"id\": \"{uuid}\"}}` to `workflow.relatedProjects` in the package.json of `{other}`"
            ),
            Self::Itself { .. } => "call the entrypoint's function instead".into(),
        }
    }
}

/// Checks that `ours` declares a project under `alias`, and returns its UUID.
///
/// # Errors
///
/// [`RelatedError::UnknownAlias`].
pub fn check_alias<'a>(ours: &'a Manifest, alias: &str) -> Result<&'a str, RelatedError> {
    let declared = ours.related_projects.iter().find(|related| related.alias == alias);
    declared.map(|related| related.uuid.as_str()).ok_or_else(|| RelatedError::UnknownAlias {
        project: ours.name.clone(),
        alias: alias.chars().take(64).collect(),
        aliases: ours.related_projects.iter().map(|related| related.alias.clone()).collect(),
    })
}

/// Checks that `ours` declares `theirs` under `alias`, and that `theirs` declares `ours` under any alias.
///
/// # Errors
///
/// What is missing, and on which side.
pub fn check_related(ours: &Manifest, alias: &str, theirs: &Manifest) -> Result<(), RelatedError> {
    let project = || ours.name.clone();
    let declared = check_alias(ours, alias)?;
    if declared != theirs.uuid {
        return Err(RelatedError::OtherProject {
            project: project(),
            alias: alias.to_owned(),
            declared: declared.to_owned(),
            given: theirs.uuid.clone(),
        });
    }
    if ours.uuid == theirs.uuid {
        return Err(RelatedError::Itself { project: project() });
    }
    if !theirs.related_projects.iter().any(|related| related.uuid == ours.uuid) {
        return Err(RelatedError::NotReturned {
            project: project(),
            uuid: ours.uuid.clone(),
            other: theirs.name.clone(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ONE: &str = "11111111-1111-4111-8111-111111111111";
    const TWO: &str = "22222222-2222-4222-8222-222222222222";

    fn manifest(name: &str, id: &str, related: &Value) -> Manifest {
        let folder = tempfile::tempdir().unwrap();
        let package =
            json!({"name": name, "id": id, "projectType": "workflow", "workflow": {"relatedProjects": related}});
        std::fs::write(folder.path().join("package.json"), package.to_string()).unwrap();
        Manifest::read(folder.path()).unwrap()
    }

    #[test]
    fn both_sides_must_declare_each_other() {
        let one = manifest("one", ONE, &json!({"style": {"id": TWO}, "self": {"id": ONE}}));
        let two = manifest("two", TWO, &json!({"reports": {"id": ONE}}));
        let silent = manifest("two", TWO, &json!({}));
        assert_eq!(check_related(&one, "style", &two), Ok(()));
        assert_eq!(check_related(&two, "reports", &one), Ok(()));
        let error = check_related(&one, "style", &silent).unwrap_err();
        assert_eq!(error.to_string(), "`two` does not declare `one` in return");
        assert!(error.next_step().contains(ONE));
        let error = check_related(&one, "stile", &two).unwrap_err();
        assert_eq!(error.to_string(), "`one` declares no related project `stile`; it declares `style`, `self`");
        assert!(matches!(check_related(&one, "style", &one), Err(RelatedError::OtherProject { .. })));
        assert!(matches!(check_related(&one, "self", &one), Err(RelatedError::Itself { .. })));
    }
}
