//! What lists tell of a job, and remembering it from one start of a server to the next.
//!
//! Reading a hundred jobs takes longer than all else that happens at a start, and next to nothing of them changes between
//! two starts. So what lists tell is kept in a file under `.deepwork/tmp`, each job with the facts of its file: size,
//! times and identity. A job is read when any of them differs, and before it is run. Jobs that cannot be used are not
//! kept. Not here: the jobs themselves (`job`), and where they are found (`catalog`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use model::TimestampMs;
use serde::{Deserialize, Serialize};

use crate::files::{self, FileError};
use crate::job::{Job, Workflow};
use crate::paths::Places;

/// What is read of the file.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A file that changed this shortly before it was looked at may change again without its times telling.
const UNSETTLED_MS: i64 = 2_000;

/// A job without what its steps say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The name inside the file.
    pub name: String,
    /// One line on what it is for.
    pub summary: String,
    /// In file order.
    pub workflows: IndexMap<String, WorkflowOutline>,
}

/// A workflow without what its steps say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowOutline {
    /// One line on what it does.
    pub summary: String,
    /// The type of agent that callers should hand it to.
    pub agent: Option<String>,
    /// The names of its steps.
    pub steps: Vec<String>,
}

impl From<&Job> for Outline {
    fn from(job: &Job) -> Self {
        let workflows = job.workflows.iter().map(|(name, workflow)| (name.clone(), workflow.into())).collect();
        Self { name: job.name.clone(), summary: job.summary.clone(), workflows }
    }
}

impl From<&Workflow> for WorkflowOutline {
    fn from(workflow: &Workflow) -> Self {
        Self {
            summary: workflow.summary.clone(),
            agent: workflow.agent.clone(),
            steps: workflow.steps.iter().map(|step| step.name.clone()).collect(),
        }
    }
}

/// The facts of a file by which a change is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    bytes: u64,
    /// Seconds and nanoseconds of the last change of content, and of anything.
    modified: (i64, i64),
    changed: (i64, i64),
    identity: (u64, u64),
}

#[cfg(unix)]
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let facts = fs::metadata(path).ok()?;
    Some(Stamp {
        bytes: facts.len(),
        modified: (facts.mtime(), facts.mtime_nsec()),
        // It moves also when a file is replaced by one of the same size and time.
        changed: (facts.ctime(), facts.ctime_nsec()),
        identity: (facts.dev(), facts.ino()),
    })
}

#[cfg(not(unix))]
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    let facts = fs::metadata(path).ok()?;
    let since = facts.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let modified = (i64::try_from(since.as_secs()).ok()?, i64::from(since.subsec_nanos()));
    Some(Stamp { bytes: facts.len(), modified, changed: modified, identity: (0, 0) })
}

impl Stamp {
    /// Tells whether the file has been left alone long enough for its times to be trusted.
    fn is_settled(&self, now: TimestampMs) -> bool {
        self.changed.0.max(self.modified.0).saturating_mul(1_000) < now.saturating_sub(UNSETTLED_MS)
    }
}

/// Outlines by the folders of their jobs.
pub(crate) type Remembered = HashMap<PathBuf, (Stamp, Arc<Outline>)>;

/// The file as it is written.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Who wrote it: another build may read jobs differently.
    reader: Reader,
    jobs: Vec<(PathBuf, Stamp, Outline)>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Reader {
    version: String,
    program: Option<Stamp>,
}

fn reader() -> &'static Reader {
    static READER: OnceLock<Reader> = OnceLock::new();
    READER.get_or_init(|| Reader {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: std::env::current_exe().ok().and_then(|path| stamp(&path)),
    })
}

/// Reads what an earlier server kept; nothing when there is none, or another build wrote it.
pub(crate) fn recall(path: &Path) -> Remembered {
    let kept = files::read(path, MOST_BYTES).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
    let jobs = kept.filter(|kept| kept.reader == *reader()).map(|kept| kept.jobs).unwrap_or_default();
    jobs.into_iter().map(|(folder, stamp, outline)| (folder, (stamp, Arc::new(outline)))).collect()
}

/// Keeps outlines for the next server. A file that has just changed is left out.
///
/// # Errors
///
/// When the file cannot be written.
pub(crate) fn keep(places: &Places, all: &Remembered, now: TimestampMs) -> Result<(), FileError> {
    let mut jobs: Vec<_> = all
        .iter()
        .filter(|(_, (stamp, _))| stamp.is_settled(now))
        .map(|(folder, (stamp, outline))| (folder.clone(), *stamp, outline.as_ref().clone()))
        .collect();
    jobs.sort_by(|one, other| one.0.cmp(&other.0));
    let kept = Kept { reader: reader().clone(), jobs };
    let path = places.outlines();
    let bytes =
        serde_json::to_vec(&kept).map_err(|error| FileError::io("written", &path, std::io::Error::other(error)))?;
    places.write(&path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(name: &str) -> Arc<Outline> {
        Arc::new(Outline { name: name.into(), summary: "s".into(), workflows: IndexMap::new() })
    }

    #[test]
    fn what_is_kept_is_recalled_unless_it_may_still_change_or_another_build_wrote_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = Places::new(&folder.path().canonicalize().expect("there"), "claude").expect("places");
        let (job, path) = (folder.path().join("job.yml"), places.outlines());
        files::write(&job, b"x").expect("written");
        let seen = stamp(&job).expect("there");
        let all: Remembered = [(folder.path().to_owned(), (seen, outline("a")))].into();
        let later = (seen.changed.0 + 60) * 1_000;
        keep(&places, &all, later).expect("written");
        assert_eq!(recall(&path), all);
        let text = fs::read_to_string(&path).expect("readable");
        for other in [text.replace("\"version\":\"", "\"version\":\"9"), text.replace("\"bytes\"", "\"b\""), "{".into()]
        {
            assert_ne!(other, text);
            fs::write(&path, other).expect("written");
            assert!(recall(&path).is_empty());
        }
        keep(&places, &all, seen.changed.0 * 1_000).expect("written");
        assert!(recall(&path).is_empty(), "it may change again within the same moment");
        assert!(recall(&folder.path().join("none")).is_empty());
    }
}
