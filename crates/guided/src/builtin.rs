//! The jobs that are there in every project, embedded as files of the same format.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use crate::files::{self, FileError};
use crate::job::{self, JOB_FILE, Job};
use crate::outline::Outline;
use crate::paths::Places;

/// A built-in job.
#[derive(Debug)]
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// Its file's text.
    pub text: &'static str,
    /// What it holds.
    pub job: Arc<Job>,
    /// What lists tell of it.
    pub outline: Arc<Outline>,
}

/// The JSON Schema of job files, for editors.
pub const JOB_SCHEMA: &str = include_str!("../assets/job.schema.json");

const TEXTS: &[(&str, &str)] = &[("deepplan", include_str!("../assets/jobs/deepplan/job.yml"))];

static JOBS: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
    TEXTS
        .iter()
        .filter_map(|(name, text)| match job::parse(text, Path::new(name)) {
            Ok(job) => Some(BuiltIn { name, text, outline: Arc::new((&job).into()), job: Arc::new(job) }),
            Err(error) => {
                // A test reads each of them; a build that passed it never comes here.
                tracing::error!(%error, "a built-in job cannot be read");
                None
            }
        })
        .collect()
});

/// Returns the built-in jobs.
#[must_use]
pub fn jobs() -> &'static [BuiltIn] {
    &JOBS
}

/// Lays a built-in job out as a folder, so that what it is started from can be looked at.
///
/// # Errors
///
/// When the system refuses, or a link lies there.
pub fn lay_out(name: &str, places: &Places) -> Result<(), FileError> {
    let Some(one) = jobs().iter().find(|one| one.name == name) else { return Ok(()) };
    let path = places.built_in().join(name).join(JOB_FILE);
    if files::read_text(&path, job::JOB_BYTES).is_ok_and(|text| text == one.text) {
        return Ok(());
    }
    places.write(&path, one.text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_job_can_be_read() {
        assert_eq!(jobs().len(), TEXTS.len());
        let plan = jobs().iter().find(|one| one.name == "deepplan").expect("there");
        assert!(plan.job.workflows.contains_key("create_deep_plan"));
    }
}
