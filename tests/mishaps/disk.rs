//! The disk of a machine that may lose its power: what of a diary would be there afterwards.
//!
//! A written byte is there for sure once its file was synced. What was not synced may be there or not, in any mixture,
//! and the last piece of it in part. A file's name counts as there once a file of its folder was synced.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::vfs::{Act, Line};

/// A disk never tears a piece of this size.
const SECTOR: usize = 512;

#[derive(Debug, Clone, Default)]
struct File {
    safe: Vec<u8>,
    pending: Vec<Act>,
}

/// The disk at a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    files: Vec<File>,
    /// What names stand for as long as there is power.
    names: BTreeMap<PathBuf, usize>,
    /// What they stand for after it was lost.
    safe_names: BTreeMap<PathBuf, usize>,
}

fn apply(bytes: &mut Vec<u8>, act: &Act) {
    match act {
        Act::Write(at, written) => {
            let at = usize::try_from(*at).unwrap();
            if bytes.len() < at + written.len() {
                bytes.resize(at + written.len(), 0);
            }
            bytes[at..at + written.len()].copy_from_slice(written);
        }
        Act::Truncate(length) => bytes.resize(usize::try_from(*length).unwrap(), 0),
        Act::Open | Act::Sync | Act::Delete => {}
    }
}

/// Chance from a seed (SplitMix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Disk {
    /// Goes on by one line of the diary.
    pub(crate) fn go_on(&mut self, line: &Line) {
        let Line::File(path, act) = line else { return };
        match act {
            Act::Open => {
                if !self.names.contains_key(path) {
                    self.names.insert(path.clone(), self.files.len());
                    self.files.push(File::default());
                }
            }
            Act::Delete => drop(self.names.remove(path)),
            Act::Write(..) | Act::Truncate(_) => {
                if let Some(file) = self.names.get(path) {
                    self.files[*file].pending.push(act.clone());
                }
            }
            Act::Sync => {
                if let Some(file) = self.names.get(path) {
                    let file = &mut self.files[*file];
                    for act in std::mem::take(&mut file.pending) {
                        apply(&mut file.safe, &act);
                    }
                }
                let here = |name: &PathBuf| name.parent() == path.parent();
                self.safe_names.retain(|name, _| !here(name));
                self.safe_names
                    .extend(self.names.iter().filter(|(name, _)| here(name)).map(|(name, file)| (name.clone(), *file)));
            }
        }
    }

    /// Writes what is left into `folder` when the power goes now. With `chance`, some of what was not synced is left.
    pub(crate) fn leave(&self, folder: &Path, mut chance: Option<&mut Chance>) {
        for (name, file) in &self.safe_names {
            let file = &self.files[*file];
            let mut bytes = file.safe.clone();
            if let Some(chance) = &mut chance {
                for act in &file.pending {
                    match (chance.next() % 4, act) {
                        (0, _) => {}
                        (1, Act::Write(at, written)) if written.len() > SECTOR => {
                            // Some of its sectors.
                            for (place, sector) in written.chunks(SECTOR).enumerate() {
                                if chance.next().is_multiple_of(2) {
                                    apply(&mut bytes, &Act::Write(at + (place * SECTOR) as u64, sector.to_vec()));
                                }
                            }
                        }
                        _ => apply(&mut bytes, act),
                    }
                }
            }
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

#[test]
fn only_what_was_synced_is_left() {
    let path = PathBuf::from("a/file");
    let mut disk = Disk::default();
    let mut go_on = |act: Act| disk.go_on(&Line::File(path.clone(), act));
    go_on(Act::Open);
    go_on(Act::Write(0, b"one".to_vec()));
    go_on(Act::Sync);
    go_on(Act::Write(3, b" two".to_vec()));
    let folder = tempfile::tempdir().unwrap();
    disk.leave(folder.path(), None);
    assert_eq!(fs::read(folder.path().join(&path)).unwrap(), b"one");
    disk.go_on(&Line::File(path.clone(), Act::Sync));
    disk.go_on(&Line::File(path.clone(), Act::Delete));
    disk.leave(folder.path(), None);
    assert_eq!(fs::read(folder.path().join(&path)).unwrap(), b"one two", "its removal was not synced");
}
