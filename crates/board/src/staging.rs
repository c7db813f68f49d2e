//! Putting a release into its place so that a process that dies on the way loses nothing.
//!
//! The release is made whole beside, of second copies of its fragments, and renamed into its place; only then do the
//! originals go. Whatever was left half-way is recognised by its files alone: a staging folder, or a fragment that lies
//! in its release and among the unreleased ones.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::board::Board;
use crate::doctor::{Issue, Severity};
use crate::error::{BoardError, Result, refuse};
use crate::index::Index;
use crate::record::{Kind, Record};
use crate::{files, locks, paths};

/// The lock that whoever cuts a release holds.
const LOCK: &str = "release";

/// What a process that died left of a release.
enum Left {
    /// A folder that was not finished.
    Staging(String),
    /// A fragment that is in its release already.
    Fragment { id: String, path: String, released: String },
}

impl Board {
    fn staging_folder(&self) -> String {
        format!("{}/release-staging", self.config().cache)
    }

    /// Takes the lock of releases, and first finishes or undoes what was left of an earlier one.
    pub(crate) fn lock_releases(&self) -> Result<(locks::Lock, Vec<Value>)> {
        let lock = self.workspace().lock("changelog", LOCK)?;
        let mended = self.mend_releases()?;
        Ok((lock, mended))
    }

    /// Stages a release and renames it into its place. Until it is there the fragments lie where they were.
    pub(crate) fn cut(&self, id: &str, folder: &str, name: &str, source: &str, fragments: &[&Record]) -> Result<()> {
        let at = |path: &str| self.workspace().at(path);
        let staging = format!("{}/{id}-{}", self.staging_folder(), files::random_name());
        let placed = (|| {
            files::write(&at(&format!("{staging}/{name}")), source)?;
            for fragment in fragments {
                let copy = format!("{staging}/fragments/{}", paths::name(&fragment.path));
                if !files::copy_new(&at(&fragment.path), &at(&copy))? {
                    return Err(refuse!(
                        "RELEASE_DIRECTORY_EXISTS",
                        "two fragments have the file name `{}`",
                        paths::name(&fragment.path)
                    ));
                }
            }
            let target = at(folder);
            let above = target.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(above).map_err(|error| BoardError::io("made", above, error))?;
            files::rename(&at(&staging), &target).map_err(|error| BoardError::io("made", &target, error))
        })();
        if placed.is_err() {
            let _ = std::fs::remove_dir_all(at(&staging));
            return placed;
        }
        for fragment in fragments {
            let released = format!("{folder}/fragments/{}", paths::name(&fragment.path));
            // The release is made: an original that does not go is named by the doctor, and fails nothing.
            let _ = self.give_up(&fragment.path, &released);
            self.touched(&fragment.path);
            self.touched(&released);
        }
        Ok(())
    }

    /// Removes a fragment that lies in its release. One that was changed since it was copied is the newer one.
    fn give_up(&self, path: &str, released: &str) -> Result<()> {
        let (original, copy) = (self.workspace().at(path), self.workspace().at(released));
        let text = |path: &Path| files::read(path, u64::MAX).ok().map(|(text, _)| text);
        if text(&original) == text(&copy) {
            std::fs::remove_file(&original).map_err(|error| BoardError::io("removed", &original, error))
        } else {
            files::rename(&original, &copy).map_err(|error| BoardError::io("moved", &original, error))
        }
    }

    fn left_of_releases(&self, index: &Index) -> Vec<Left> {
        let folder = self.staging_folder();
        let mut found = Vec::new();
        for entry in std::fs::read_dir(self.workspace().at(&folder)).into_iter().flatten().flatten() {
            if let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str())
                && kind.is_dir()
            {
                found.push(Left::Staging(format!("{folder}/{name}")));
            }
        }
        let unreleased: Vec<&Record> =
            index.of(Kind::Change).map(|change| &**change).filter(|change| !change.released).collect();
        for release in index.of(Kind::Release).filter(|_| !unreleased.is_empty()) {
            let listed = release.list("fragments");
            let own = format!("{}/fragments", paths::parent(&release.path));
            for change in unreleased.iter().filter(|change| listed.contains(&change.id.as_str())) {
                let released = paths::join(&own, paths::name(&change.path));
                // Of another text it is another change of the same id, and nothing to remove.
                let is_it = |other: &Record| other.path == released && other.revision == change.revision;
                if index.of(Kind::Change).any(|other| is_it(other)) {
                    found.push(Left::Fragment { id: change.id.clone(), path: change.path.clone(), released });
                }
            }
        }
        found
    }

    /// Finishes a release that is in its place, and puts back what only a staging folder holds. Under the lock.
    fn mend_releases(&self) -> Result<Vec<Value>> {
        let index = self.index_anew();
        let left = self.left_of_releases(&index);
        let known: HashSet<&str> = index
            .records()
            .iter()
            .map(|record| record.path.as_str())
            .chain(index.unreadable.iter().map(|bad| bad.path.as_str()))
            .map(paths::name)
            .collect();
        let mut mended = Vec::new();
        for one in &left {
            match one {
                Left::Fragment { id, path, released } => {
                    self.give_up(path, released)?;
                    self.touched(path);
                    self.touched(released);
                    mended.push(json!({ "path": path, "released": id }));
                }
                Left::Staging(folder) => {
                    let restored = self.put_back(folder, &known)?;
                    mended.push(json!({ "path": folder, "restored": restored }));
                }
            }
        }
        Ok(mended)
    }

    /// Moves fragments that are nowhere else back to the unreleased ones, and removes the rest of a staging folder.
    fn put_back(&self, staging: &str, known: &HashSet<&str>) -> Result<Vec<String>> {
        let mut held = Vec::new();
        files::walk(self.root(), &format!("{staging}/fragments"), &[], 0, &mut |path| held.push(path.to_owned()));
        held.sort();
        let mut restored = Vec::new();
        for path in held.iter().filter(|path| !known.contains(paths::name(path))) {
            let home = paths::join(&self.config().changelog.fragments_path, paths::name(path));
            if files::move_new(&self.workspace().at(path), &self.workspace().at(&home))? {
                self.touched(&home);
                restored.push(home);
            }
        }
        let at = self.workspace().at(staging);
        std::fs::remove_dir_all(&at).map_err(|error| BoardError::io("removed", &at, error))?;
        Ok(restored)
    }

    /// Names what was left of releases. One that is being cut at this moment is no fault.
    pub(crate) fn unfinished_releases(&self, index: &Index, issues: &mut Vec<Issue>) {
        let left = self.left_of_releases(index);
        if left.is_empty() {
            return;
        }
        let lock = self.workspace().lock_path("changelog", LOCK);
        if lock.exists() && !locks::is_stale(&lock) {
            return;
        }
        for one in left {
            let (id, path) = match one {
                Left::Staging(path) => (None, path),
                Left::Fragment { id, path, .. } => (Some(id), path),
            };
            let mut issue = Issue::new(
                Severity::Error,
                "changelog",
                "release-unfinished",
                "A release was broken off here; `doctor --fix` or the next release finishes or undoes it.",
            )
            .at(&path);
            issue.id = id;
            issues.push(issue);
        }
    }
}
