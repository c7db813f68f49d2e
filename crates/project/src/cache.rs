//! The cache of structure reports, so that a server starts without running a worker.
//!
//! A report serves only while everything it was made from looks as it did: path, size, times and inode of package.json,
//! `.env` and every module, the candidates that discovery finds, and the build of the product. A cache that is broken,
//! too large, or somebody else's is no cache; nothing about it is ever an error for a start.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use model::{StructureReport, TimestampMs};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::discovery::{Candidate, Discovery};
use disk::read::read_bounded;

/// The largest cache file, in bytes: reports of a thousand entrypoints are below it.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// The most modules whose looks are remembered.
const MOST_MODULES: usize = 10_000;
/// File times advance in ticks of some milliseconds; what changed within them before the report was begun may have
/// changed again behind it without showing.
const TICK_MS: i64 = 20;

/// The form of the cache file; a change of it makes old ones useless, not broken.
const VERSION: u32 = 1;

/// How a file looked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    /// From the project's root, `/` between parts.
    path: String,
    /// `None`: it was not there.
    look: Option<Look>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Look {
    size: u64,
    modified_ns: i128,
    /// The time of the last change of content or properties; it cannot be set back as the other can. 0 where unknown.
    changed_ns: i128,
    inode: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    version: u32,
    build: String,
    root: PathBuf,
    candidates: Vec<String>,
    stamps: Vec<Stamp>,
    report: StructureReport,
}

/// Cached reports in a folder, one file for each project folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructureCache {
    folder: PathBuf,
    build: String,
}

impl StructureCache {
    /// Names the folder, which is created when first needed, and the build of the product: another build may read a
    /// source differently.
    #[must_use]
    pub fn new(folder: PathBuf, build: impl Into<String>) -> Self {
        Self { folder, build: build.into() }
    }

    /// Returns the report of a project if it still holds. `discovery` is what [`crate::discover`] finds now.
    #[must_use]
    pub fn load(&self, root: &Path, discovery: &Discovery) -> Option<StructureReport> {
        let bytes = read_bounded(&self.file(root), MOST_BYTES).ok()?;
        let stored: Stored = serde_json::from_slice(&bytes).ok()?;
        let fits = stored.version == VERSION
            && stored.build == self.build
            && stored.root == root
            && stored.candidates == described(&discovery.candidates)
            && stored.stamps.len() <= MOST_MODULES + 2
            && stored.stamps.iter().all(|stamp| look(&root.join(&stamp.path)) == stamp.look);
        fits.then_some(stored.report)
    }

    /// Keeps a report. `modules` are the files it was made from, relative to the root, imported ones included;
    /// `started_at` is when the making began. Returns whether it was kept: a file that changed since then, or just before,
    /// makes the report one of yesterday.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written. The start goes on without a cache.
    pub fn store(
        &self,
        root: &Path,
        discovery: &Discovery,
        modules: &[String],
        report: &StructureReport,
        started_at: TimestampMs,
    ) -> io::Result<bool> {
        if modules.len() > MOST_MODULES {
            return Ok(false);
        }
        let mut paths: Vec<&str> = vec!["package.json", ".env"];
        paths.extend(modules.iter().map(String::as_str));
        let stamps: Vec<Stamp> =
            paths.iter().map(|path| Stamp { path: (*path).to_owned(), look: look(&root.join(path)) }).collect();
        let begun_ns = i128::from(started_at.saturating_sub(TICK_MS)) * 1_000_000;
        let fresh = |look: &Look| look.modified_ns >= begun_ns || look.changed_ns >= begun_ns;
        if stamps.iter().filter_map(|stamp| stamp.look.as_ref()).any(fresh) {
            return Ok(false);
        }
        let stored = Stored {
            version: VERSION,
            build: self.build.clone(),
            root: root.to_owned(),
            candidates: described(&discovery.candidates),
            stamps,
            report: report.clone(),
        };
        let bytes = serde_json::to_vec(&stored)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Ok(false);
        }
        disk::private_folder(&self.folder)?;
        disk::replace_unsynced(&self.file(root), &bytes, 0o600)?;
        Ok(true)
    }

    fn file(&self, root: &Path) -> PathBuf {
        let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{name}.json"))
    }
}

/// What decides about a candidate beside its source's content.
fn described(candidates: &[Candidate]) -> Vec<String> {
    candidates.iter().map(|candidate| format!("{} {}", candidate.id, candidate.place())).collect()
}

fn look(path: &Path) -> Option<Look> {
    std::fs::metadata(path).ok().map(|metadata| look_of(&metadata))
}

#[cfg(unix)]
fn look_of(metadata: &Metadata) -> Look {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Look {
        size: metadata.len(),
        modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn look_of(metadata: &Metadata) -> Look {
    let since = metadata.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let modified_ns = since.and_then(|since| i128::try_from(since.as_nanos()).ok()).unwrap_or(0);
    Look { size: metadata.len(), modified_ns, changed_ns: 0, inode: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::Manifest;
    use model::StructureError;
    use rstest::rstest;

    struct World {
        folder: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("p");
            std::fs::create_dir(&root).unwrap();
            let package = r#"{"id": "11111111-1111-4111-8111-111111111111", "projectType": "workflow"}"#;
            std::fs::write(root.join("package.json"), package).unwrap();
            std::fs::write(root.join("main.workflow.ts"), "one").unwrap();
            std::fs::write(root.join("helper.ts"), "two").unwrap();
            Self { folder }
        }

        fn root(&self) -> PathBuf {
            self.folder.path().join("p").canonicalize().unwrap()
        }

        fn cache(&self) -> StructureCache {
            StructureCache::new(self.folder.path().join("cache"), "build 1")
        }

        fn discovery(&self) -> Discovery {
            crate::discover(&Manifest::read(&self.root()).unwrap())
        }

        fn store(&self, started_at: TimestampMs) -> bool {
            let modules = ["main.workflow.ts".to_owned(), "helper.ts".into()];
            self.cache().store(&self.root(), &self.discovery(), &modules, &report(), started_at).unwrap()
        }
    }

    fn report() -> StructureReport {
        StructureReport {
            errors: vec![StructureError { entrypoint: "x".into(), message: "y".into(), file: None, line: Some(1) }],
            ..StructureReport::default()
        }
    }

    /// Long after every file was written.
    const LATER: TimestampMs = 4_000_000_000_000;

    #[test]
    fn what_was_kept_is_found_while_nothing_changes() {
        let world = World::new();
        assert_eq!(world.cache().load(&world.root(), &world.discovery()), None);
        assert!(world.store(LATER));
        assert_eq!(world.cache().load(&world.root(), &world.discovery()), Some(report()));
        let other_build = StructureCache::new(world.folder.path().join("cache"), "build 2");
        assert_eq!(other_build.load(&world.root(), &world.discovery()), None);
    }

    #[rstest]
    #[case::module(|root: &Path| std::fs::write(root.join("helper.ts"), "longer").unwrap())]
    #[case::package(|root: &Path| std::fs::write(root.join("package.json"),
        r#"{"id": "11111111-1111-4111-8111-111111111111", "projectType": "workflow", "a": 1}"#).unwrap())]
    #[case::env_appears(|root: &Path| std::fs::write(root.join(".env"), "A=1").unwrap())]
    #[case::module_gone(|root: &Path| std::fs::remove_file(root.join("helper.ts")).unwrap())]
    #[case::new_entrypoint(|root: &Path| std::fs::write(root.join("new.workflow.ts"), "").unwrap())]
    #[case::exchanged(|root: &Path| {
        // The same size and the same time, as a careful copy keeps them.
        let old = root.join("helper.ts");
        let time = std::fs::metadata(&old).unwrap().modified().unwrap();
        std::fs::write(root.join("copy"), "owt").unwrap();
        std::fs::File::options().write(true).open(root.join("copy")).unwrap().set_modified(time).unwrap();
        std::fs::rename(root.join("copy"), old).unwrap();
    })]
    fn any_change_makes_it_useless(#[case] change: fn(&Path)) {
        let world = World::new();
        assert!(world.store(LATER));
        change(&world.root());
        assert_eq!(world.cache().load(&world.root(), &world.discovery()), None);
    }

    #[test]
    fn a_report_made_while_files_change_is_not_kept() {
        assert!(!World::new().store(0));
    }

    #[test]
    fn a_broken_cache_is_no_cache() {
        let world = World::new();
        assert!(world.store(LATER));
        let file = world.cache().file(&world.root());
        let whole = std::fs::read(&file).unwrap();
        for broken in [&whole[..whole.len() / 2], b"", b"[]", b"{\"version\": 1}"] {
            std::fs::write(&file, broken).unwrap();
            assert_eq!(world.cache().load(&world.root(), &world.discovery()), None);
        }
        std::fs::remove_file(&file).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!(world.cache().load(&world.root(), &world.discovery()), None);
        assert!(world.store(LATER), "a new one takes its place");
    }

    #[test]
    fn only_its_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let world = World::new();
        assert!(world.store(LATER));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&world.cache().file(&world.root())), 0o600);
        assert_eq!(mode(&world.folder.path().join("cache")), 0o700);
    }
}
