//! What a connection was told of its tools, against what the project declares by now.
//!
//! A call runs the files as they are, and its parameters are checked as they were declared when the client connected. When
//! the two differ, whoever reads the log learns why, once for each change. Nothing waits for it: a call looks at two
//! files, and only when one of them is another than at the last look is the project read again, beside the call.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::{Entrypoint, EntrypointId, EntrypointSource};
use project::Manifest;
use runtime::{Executor, Project};

use crate::failure::with_causes;

/// What tells one state of a file from another: where it lies, its size, and when it was changed. `None`: no such file.
type Look = Option<(u64, u64, u64, i64, i64, i64, i64)>;

/// How an entrypoint is declared now, as far as it differs from what the client knows.
#[derive(Debug, Clone, PartialEq)]
enum Now {
    /// The project as a whole cannot be read.
    NoProject(String),
    /// It is not there any more.
    Gone,
    /// It is, and cannot be served.
    Broken(String),
    /// It is declared otherwise.
    Otherwise(Box<Entrypoint>),
}

impl Now {
    fn in_words(&self) -> String {
        match self {
            Self::NoProject(why) => format!("cannot be looked at any more, since the project cannot be read: {why}"),
            Self::Gone => "is not declared any more".to_owned(),
            Self::Broken(why) => format!("is broken now: {why}"),
            Self::Otherwise(_) => "is declared otherwise by now".to_owned(),
        }
    }
}

/// The last look at an entrypoint.
#[derive(Debug, Default)]
struct Last {
    looks: [Look; 2],
    told: Option<Now>,
    /// How many looks have begun, and which of them has told last: they may end in another order.
    begun: u64,
    told_by: u64,
}

/// Watches the declarations of a served project, as its calls come in.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    executor: Executor,
    project: Arc<Project>,
    last: Arc<Mutex<HashMap<EntrypointId, Last>>>,
}

impl Declared {
    pub(crate) fn new(executor: Executor, project: Arc<Project>) -> Self {
        Self { executor, project, last: Arc::default() }
    }

    /// Compares an entrypoint, as the client knows it, with what is declared now. Returns at once; what differs is
    /// logged.
    pub(crate) fn compare(&self, known: &Entrypoint) {
        let looks = self.looks(known);
        let number = {
            let mut all = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let last = all.entry(known.id.clone()).or_default();
            if last.begun > 0 && last.looks == looks {
                return;
            }
            last.looks = looks;
            last.begun += 1;
            last.begun
        };
        let (this, known, runtime) = (self.clone(), known.clone(), tokio::runtime::Handle::current());
        // Reading a project blocks.
        tokio::task::spawn_blocking(move || {
            let now = runtime.block_on(this.now(&known));
            this.tell(&known, now, number);
        });
    }

    /// The files that declare an entrypoint.
    fn looks(&self, known: &Entrypoint) -> [Look; 2] {
        let root = &self.project.manifest.root;
        let own = match &known.source {
            EntrypointSource::Module { file } | EntrypointSource::Script { file } => look(&root.join(file)),
            EntrypointSource::Command { .. } | EntrypointSource::Dynamic => None,
        };
        [look(&root.join("package.json")), own]
    }

    async fn now(&self, known: &Entrypoint) -> Option<Now> {
        let manifest = match Manifest::read(&self.project.manifest.root) {
            Ok(manifest) => manifest,
            Err(error) => return Some(Now::NoProject(with_causes(&error))),
        };
        let cache: PathBuf = self.project.folders.data.join("cache");
        let report = self.executor.analyse_cached(&manifest, cache).await;
        match report.entrypoints.into_iter().find(|entrypoint| entrypoint.id == known.id) {
            Some(now) if now == *known => None,
            Some(now) => Some(Now::Otherwise(Box::new(now))),
            None => Some(
                report
                    .errors
                    .into_iter()
                    .find(|error| error.entrypoint == known.id.as_str())
                    .map_or(Now::Gone, |error| Now::Broken(error.message)),
            ),
        }
    }

    fn tell(&self, known: &Entrypoint, now: Option<Now>, number: u64) {
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let last = last.entry(known.id.clone()).or_default();
            if number < last.told_by {
                return;
            }
            last.told_by = number;
            if last.told == now {
                return;
            }
            last.told.clone_from(&now);
        }
        if let Some(now) = now {
            tracing::warn!(
                "entrypoint `{}` {}; its client goes by what it was told when it connected: reconnect it",
                known.id,
                now.in_words()
            );
        }
    }
}

fn look(path: &Path) -> Look {
    let facts = fs::symlink_metadata(path).ok()?;
    Some((facts.dev(), facts.ino(), facts.size(), facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec()))
}
