//! The doctor for one project, and mending what we can mend: permissions that are too open.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use api::wire::project::{Finding, MendLabel, Severity};
use api::{Answer, ApiError, ApiErrorCode};
use store::Project;

use super::{Launcher, error};
use crate::commands::doctor::{self, Level};
use crate::profile;

/// Names a finding: the check, and what tells it from others of the same.
fn id(finding: &doctor::Finding) -> String {
    // FNV-1a: stable over versions, and only to tell one from the other.
    let digest = finding
        .message
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{}-{:08x}", finding.check, digest & 0xffff_ffff)
}

fn examined(launcher: &Launcher, project: &Project) -> Answer<Vec<doctor::Finding>> {
    doctor::examine(&launcher.profile, &launcher.store, project, &|manifest| launcher.engine.report_of(manifest))
        .map_err(|failure| error(failure, ApiErrorCode::ProjectBroken))
}

/// The file that a check's mending closes to others.
fn file_of(launcher: &Launcher, project: &Project, check: &str) -> Option<(PathBuf, u32)> {
    let home = profile::workflow_home().ok();
    match check {
        "env-permissions" => Some((project.path.join(".env"), 0o600)),
        "data-folder-permissions" => Some((launcher.profile.data_dir.clone(), 0o700)),
        "database-permissions" => Some((launcher.profile.database(), 0o600)),
        "profile-permissions" => Some((home?.join("desktop.json"), 0o600)),
        "auth-permissions" => Some((home?.join("workflow-auth.json"), 0o600)),
        _ => None,
    }
}

pub(super) fn findings(launcher: &Launcher, project: &Project) -> Answer<Vec<Finding>> {
    let found = examined(launcher, project)?;
    Ok(found
        .iter()
        .map(|finding| Finding {
            id: id(finding),
            severity: match finding.level {
                Level::Error => Severity::Error,
                Level::Warning => Severity::Warning,
            },
            title: finding.message.clone(),
            detail: None,
            hint: Some(finding.fix.clone()).filter(|fix| !fix.is_empty()),
            mend: file_of(launcher, project, finding.check)
                .map(|(path, _)| MendLabel { label: format!("close `{}` to others", path.display()) }),
        })
        .collect())
}

pub(super) fn mend(launcher: &Launcher, project: &Project, wanted: &str) -> Answer<()> {
    let found = examined(launcher, project)?;
    let finding = found
        .iter()
        .find(|finding| id(finding) == wanted)
        .ok_or_else(|| ApiError::not_found(format!("there is no finding `{wanted}` any more")))?;
    let (path, mode) = file_of(launcher, project, finding.check).ok_or_else(|| {
        ApiError::new(ApiErrorCode::Unsupported, format!("this cannot be mended for you: {}", finding.message))
            .hinted(finding.fix.clone())
    })?;
    let what = format!("`{}`", path.display());
    let facts = std::fs::symlink_metadata(&path).map_err(|error| ApiError::io(&what, &error))?;
    if facts.is_symlink() {
        return Err(ApiError::new(ApiErrorCode::Permission, format!("{what} is a link, and is left as it is")));
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).map_err(|error| ApiError::io(&what, &error))
}

impl super::Engine {
    /// Makes the structure report of a folder that need not be registered.
    fn report_of(&self, manifest: &project::Manifest) -> Result<model::StructureReport, crate::failure::Failure> {
        self.report(manifest.clone()).map_err(|error| crate::failure::Failure::environment(error.message))
    }
}
