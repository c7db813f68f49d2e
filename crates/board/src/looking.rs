//! From files to an index, and from one index to the next: what changed is read again, and nothing else.
//!
//! Every file is known by its stamp (size, times, inode). The tree is looked through at most every 250 ms; what this
//! process wrote is read at once, and what other processes wrote into the shared index is looked at with every call. A file
//! whose stamp cannot tell a later change yet, since it was written a moment before it was read, is read again until it can.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::Config;
use crate::files::{self, Stamp};
use crate::index::{Index, place_of};
use crate::lexicon::Lexicon;
use crate::paths::{self, folded};
use crate::record::{Kind, Place, Unreadable, Whole};
use crate::shelf::{Batch, Found, Frame, News, Shelf};
use crate::terms;

/// How long what was seen counts as seen.
const FRESH: Duration = Duration::from_millis(250);
/// More changes than this, and the index is sorted anew instead of changed.
const FEW: usize = 64;
/// Files that are read before what they hold is written to the shared index.
const AT_ONCE: usize = 1024;
/// Fewer files than this are read by one thread.
const ALONE: usize = 32;

/// What is known of a file.
#[derive(Debug, Clone, Copy)]
struct Known {
    stamp: Stamp,
    /// Whether the stamp tells every change since it was read.
    sure: bool,
    /// The look that saw it.
    look: u32,
    frame: Option<Frame>,
}

/// What became of a file.
#[derive(Debug)]
struct Change {
    path: String,
    /// `None`: it is gone, or is no record.
    now: Option<(Known, Found)>,
}

/// What is known of all files.
#[derive(Debug)]
pub(crate) struct Looking {
    shelf: Shelf,
    files: HashMap<Box<str>, Known>,
    index: Arc<Index>,
    lexicon: Option<Arc<Lexicon>>,
    looked: Option<Instant>,
    look: u32,
    /// What other processes read.
    heard: HashMap<String, News>,
    /// What was written by this process since the last index.
    written: Vec<Change>,
    /// How many files were read.
    reads: usize,
}

/// A file as it was read.
struct Read {
    path: String,
    stamp: Stamp,
    sure: bool,
    found: Result<Whole, Unreadable>,
}

impl Looking {
    /// Begins to look at a workspace; with `writes` false, nothing is written.
    pub(crate) fn new(root: &Path, config: &Config, writes: bool) -> Self {
        Self {
            shelf: Shelf::new(root, config, writes),
            files: HashMap::new(),
            index: Arc::default(),
            lexicon: None,
            looked: None,
            look: 0,
            heard: HashMap::new(),
            written: Vec::new(),
            reads: 0,
        }
    }

    /// A number that is another one when any file has changed.
    pub(crate) fn mark(&self) -> u64 {
        use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let of = |path: &str, stamp: Stamp| {
            hasher.hash_one((path, stamp.modified_ns, stamp.changed_ns, stamp.size, stamp.inode))
        };
        self.files.iter().map(|(path, known)| of(path, known.stamp)).fold(0, u64::wrapping_add)
    }

    /// Makes the next index look at every file, however fresh this one is.
    pub(crate) fn look_again(&mut self) {
        self.looked = None;
    }

    /// Reads a file that was written, moved or removed by this process, and tells the others.
    pub(crate) fn touch(&mut self, root: &Path, config: &Config, path: &str) {
        if self.look == 0 {
            // Nothing was looked at yet, so everything will be.
            return;
        }
        let changes = self.read(root, config, vec![path.to_owned()]);
        self.written.extend(changes);
    }

    /// Returns the records as they are now.
    pub(crate) fn index(&mut self, root: &Path, config: &Config) -> Arc<Index> {
        let (another, news) = self.shelf.news();
        if another {
            self.files.values_mut().for_each(|known| known.frame = None);
        }
        for (path, news) in &news {
            if let Some(known) = self.files.get_mut(path.as_str()).filter(|known| known.stamp == news.stamp) {
                known.frame = Some(news.frame);
            }
        }
        self.heard.extend(news);
        let started = Instant::now();
        let written = std::mem::take(&mut self.written);
        self.apply(root, config, written);
        let fresh = self.looked.is_some_and(|looked| started.duration_since(looked) < FRESH);
        let mut changes = Vec::new();
        let stamps = if fresh { self.stamps_of_heard(root) } else { self.look(root, config, &mut changes) };
        changes.extend(self.resolve(root, config, stamps));
        self.apply(root, config, changes);
        if !fresh {
            self.looked = Some(started);
        }
        if self.shelf.is_mostly_old(self.files.len()) {
            self.compact();
        }
        Arc::clone(&self.index)
    }

    /// Returns the records as they are now, with their terms.
    pub(crate) fn searchable(&mut self, root: &Path, config: &Config) -> (Arc<Index>, Arc<Lexicon>) {
        let index = self.index(root, config);
        let lexicon = match &self.lexicon {
            Some(lexicon) => Arc::clone(lexicon),
            None => {
                let mut lexicon = Lexicon::new();
                for (at, record) in index.records.iter().enumerate() {
                    let terms = self.terms(root, config, &record.path);
                    let slot = u32::try_from(index.slot(at)).unwrap_or(u32::MAX);
                    lexicon.add(slot, &folded(&record.title), terms.into_iter());
                }
                lexicon.ready();
                let lexicon = Arc::new(lexicon);
                self.lexicon = Some(Arc::clone(&lexicon));
                lexicon
            }
        };
        (index, lexicon)
    }

    /// The terms of a file: as some process wrote them down, or from the file itself.
    fn terms(&self, root: &Path, config: &Config, path: &str) -> Vec<u64> {
        let frame = self.files.get(path).and_then(|known| known.frame);
        frame.and_then(|frame| self.shelf.terms(frame, path)).unwrap_or_else(|| {
            let read = read_file(root, config, path.to_owned());
            read.and_then(|read| read.found.ok()).map(|whole| terms::of(&whole)).unwrap_or_default()
        })
    }

    /// Looks at the files that other processes read: those that have another stamp than they had.
    fn stamps_of_heard(&self, root: &Path) -> Vec<(String, Stamp)> {
        let stamp = |path: &String| {
            let meta = std::fs::symlink_metadata(root.join(path)).ok().filter(std::fs::Metadata::is_file);
            let stamp = meta.map(|meta| Stamp::of(&meta)).unwrap_or_default();
            let same = self.files.get(path.as_str()).is_some_and(|known| known.stamp == stamp);
            (!same).then(|| (path.clone(), stamp))
        };
        self.heard.keys().filter_map(stamp).collect()
    }

    /// Looks at every file: those that are not known as they are, and into `changes` those that are gone.
    fn look(&mut self, root: &Path, config: &Config, changes: &mut Vec<Change>) -> Vec<(String, Stamp)> {
        self.look += 1;
        let look = self.look;
        let mut stamps: Vec<(String, Stamp)> = Vec::new();
        let mut new: HashSet<String> = HashSet::new();
        each_file(root, config, &mut |path, stamp| match self.files.get_mut(path) {
            Some(known) if known.look == look => {}
            Some(known) => {
                known.look = look;
                if known.stamp != stamp || !known.sure {
                    stamps.push((path.to_owned(), stamp));
                }
            }
            None if place_of(path, config).is_some() && new.insert(path.to_owned()) => {
                stamps.push((path.to_owned(), stamp));
            }
            None => {}
        });
        let gone = self.files.iter().filter(|(_, known)| known.look != look);
        changes.extend(gone.map(|(path, _)| Change { path: path.to_string(), now: None }));
        stamps
    }

    /// Finds out what files hold: from what other processes read, or by reading them.
    fn resolve(&mut self, root: &Path, config: &Config, stamps: Vec<(String, Stamp)>) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut unknown = Vec::new();
        // What is heard from now on is for the next time.
        let mut heard = std::mem::take(&mut self.heard);
        for (path, stamp) in stamps {
            match heard.remove(&path) {
                Some(news) if news.stamp == stamp && news.sure => {
                    let known = Known { stamp, sure: true, look: self.look, frame: Some(news.frame) };
                    changes.push(Change { path, now: Some((known, news.found)) });
                }
                _ => unknown.push(path),
            }
        }
        drop(heard);
        changes.extend(self.read(root, config, unknown));
        changes
    }

    /// Reads files, and writes what they hold to the shared index.
    fn read(&mut self, root: &Path, config: &Config, mut paths: Vec<String>) -> Vec<Change> {
        let mut changes = Vec::with_capacity(paths.len());
        self.reads += paths.len();
        while !paths.is_empty() {
            let rest = paths.split_off(paths.len().min(AT_ONCE));
            let (reads, gone, batch) =
                read_files(root, config, std::mem::replace(&mut paths, rest), self.shelf.writes());
            let frames = self.shelf.append(&batch, &mut self.heard);
            changes.extend(gone.into_iter().map(|path| Change { path, now: None }));
            for (at, read) in reads.into_iter().enumerate() {
                let frame = frames.as_ref().and_then(|frames| frames.get(at)).copied();
                let known = Known { stamp: read.stamp, sure: read.sure, look: self.look, frame };
                let found = read.found.map(|whole| Arc::new(whole.into_record()));
                changes.push(Change { path: read.path, now: Some((known, found)) });
            }
        }
        changes
    }

    /// Makes the next index of this one.
    fn apply(&mut self, root: &Path, config: &Config, mut changes: Vec<Change>) {
        // Of a file that was written twice, the last counts.
        let mut seen = HashSet::new();
        let mut last: Vec<bool> = changes.iter().rev().map(|change| seen.insert(change.path.clone())).collect();
        changes.retain(|_| last.pop() == Some(true));
        // A file that was only read again, to be sure of it, changes nothing.
        changes.retain(|change| {
            let Some((known, Ok(record))) = &change.now else { return true };
            let at = self.index.at_path(&change.path);
            let same = at.is_some_and(|at| {
                let before = &self.index.records[at];
                before.revision == record.revision && before.stamp == record.stamp
            });
            if same {
                self.files.insert(change.path.as_str().into(), *known);
            }
            !same
        });
        if changes.is_empty() {
            return;
        }
        if changes.len() > FEW {
            self.sort_anew(changes);
            return;
        }
        for change in changes {
            self.apply_one(root, config, change);
        }
    }

    fn apply_one(&mut self, root: &Path, config: &Config, change: Change) {
        let index = Arc::make_mut(&mut self.index);
        let removed = index.remove(&change.path);
        let mut slot = None;
        match change.now {
            None => {
                self.files.remove(change.path.as_str());
            }
            Some((known, found)) => {
                self.files.insert(change.path.as_str().into(), known);
                match found {
                    Ok(record) => slot = Some((index.insert(Arc::clone(&record)), record)),
                    Err(bad) => index.insert_unreadable(bad),
                }
            }
        }
        let terms = slot.as_ref().filter(|_| self.lexicon.is_some()).map(|_| self.terms(root, config, &change.path));
        let Some(lexicon) = &mut self.lexicon else { return };
        let lexicon = Arc::make_mut(lexicon);
        let usable = !removed || lexicon.forget();
        if let (Some((slot, record)), Some(terms)) = (slot, terms) {
            lexicon.add(slot, &folded(&record.title), terms.into_iter());
        }
        if !usable {
            self.lexicon = None;
        }
    }

    fn sort_anew(&mut self, changes: Vec<Change>) {
        self.lexicon = None;
        let changed: HashSet<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        let index = std::mem::take(&mut self.index);
        let mut records: Vec<_> =
            index.records.iter().filter(|record| !changed.contains(record.path.as_str())).cloned().collect();
        let mut unreadable: Vec<_> =
            index.unreadable.iter().filter(|bad| !changed.contains(bad.path.as_str())).cloned().collect();
        drop(index);
        for change in changes {
            match change.now {
                None => {
                    self.files.remove(change.path.as_str());
                }
                Some((known, found)) => {
                    self.files.insert(change.path.into(), known);
                    match found {
                        Ok(record) => records.push(record),
                        Err(bad) => unreadable.push(bad),
                    }
                }
            }
        }
        self.index = Arc::new(Index::new(records, unreadable));
    }

    /// Makes the shared index anew, of what is needed of it.
    fn compact(&mut self) {
        let needed: Vec<(Box<str>, Frame)> =
            self.files.iter().filter_map(|(path, known)| Some((path.clone(), known.frame?))).collect();
        let frames: Vec<Frame> = needed.iter().map(|(_, frame)| *frame).collect();
        let Some(frames) = self.shelf.compact(&frames) else { return };
        for ((path, _), frame) in needed.into_iter().zip(frames) {
            if let Some(known) = self.files.get_mut(&path) {
                known.frame = Some(frame);
            }
        }
    }
}

/// Reads a file; `None` when there is none, or when it is no record's.
fn read_file(root: &Path, config: &Config, path: String) -> Option<Read> {
    let place = place_of(&path, config)?;
    let at = root.join(&path);
    let limit = if place.kind == Kind::Doc { config.docs.max_file_bytes } else { u64::MAX };
    let before = files::file_clock();
    let meta = std::fs::symlink_metadata(&at).ok().filter(std::fs::Metadata::is_file)?;
    let (stamp, found) = match files::read(&at, limit) {
        Ok((text, stamp)) => (stamp, place.read(&text, stamp)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => (Stamp::of(&meta), Err(unreadable(&place, error.to_string()))),
    };
    Some(Read { path, stamp, sure: stamp.tells_changes_after(before), found })
}

fn unreadable(place: &Place, reason: String) -> Unreadable {
    Unreadable { kind: place.kind, path: place.path.clone(), archived: place.archived, reason }
}

/// Reads files: what they hold, which are gone, and what is to be written to the shared index, in the order of the first.
fn read_files(root: &Path, config: &Config, paths: Vec<String>, frames: bool) -> (Vec<Read>, Vec<String>, Batch) {
    let threads =
        if paths.len() < ALONE { 1 } else { std::thread::available_parallelism().map_or(1, usize::from).min(4) };
    let share = paths.len().div_ceil(threads).max(1);
    let read_some = |paths: &[String]| {
        let (mut reads, mut gone, mut batch) = (Vec::with_capacity(paths.len()), Vec::new(), Batch::default());
        for path in paths {
            match read_file(root, config, path.clone()) {
                Some(mut read) => {
                    if frames {
                        batch.add(&read.path, read.stamp, read.sure, &read.found);
                    }
                    // Bodies are not kept; of very many, not even until the end of this.
                    if let Ok(whole) = &mut read.found {
                        whole.body = String::new();
                    }
                    reads.push(read);
                }
                None => gone.push(path.clone()),
            }
        }
        (reads, gone, batch)
    };
    let mut shares = paths.chunks(share);
    let first = shares.next().unwrap_or_default();
    let (mut reads, mut gone, mut batch) = (Vec::new(), Vec::new(), Batch::default());
    std::thread::scope(|scope| {
        let others: Vec<_> = shares.map(|share| scope.spawn(move || read_some(share))).collect();
        let own = read_some(first);
        for (more, none, frames) in std::iter::once(own).chain(others.into_iter().filter_map(|other| other.join().ok()))
        {
            reads.extend(more);
            gone.extend(none);
            batch.append(frames);
        }
    });
    (reads, gone, batch)
}

/// Calls `see` for every file that may be a record, sometimes more than once.
fn each_file(root: &Path, config: &Config, see: &mut dyn FnMut(&str, Stamp)) {
    let mut trees: Vec<&str> = Vec::new();
    if config.cards.enabled {
        trees.extend([config.cards.path.as_str(), &config.cards.archive_path]);
    }
    if config.changelog.enabled {
        trees.extend([config.changelog.fragments_path.as_str(), &config.changelog.releases_path]);
    }
    let collections: Vec<String> =
        config.memory.collections.iter().map(|one| paths::join(&config.memory.path, one.name())).collect();
    if config.memory.enabled {
        trees.extend(collections.iter().map(String::as_str));
    }
    if config.docs.enabled {
        trees.push(&config.docs.managed_path);
    }
    for (at, tree) in trees.iter().enumerate() {
        // What lies in another tree was seen with it, unless a hidden folder lies between them.
        let inside = |other: &&str| {
            let other: &str = other;
            let rest = tree.strip_prefix(other).and_then(|rest| rest.strip_prefix('/'));
            rest.is_some_and(|rest| !rest.split('/').any(|part| part.starts_with('.')))
        };
        if !trees.iter().any(inside) && !trees[..at].contains(tree) {
            files::stamped(root, tree, &[], see);
        }
    }
    if config.docs.enabled {
        each_source(root, config, see);
    }
}

/// The same for documents that are indexed and not managed.
fn each_source(root: &Path, config: &Config, see: &mut dyn FnMut(&str, Stamp)) {
    // A folder that is excluded as a whole is not entered.
    let skip: Vec<&str> = config
        .docs
        .exclude
        .iter()
        .filter_map(|pattern| pattern.strip_suffix("/**"))
        .filter(|folder| !folder.contains('*'))
        .collect();
    for source in &config.docs.sources {
        let source = source.trim_start_matches("./");
        // Only the part before the first wildcard has to be walked.
        let fixed: Vec<&str> = source.split('/').take_while(|part| !part.contains(['*', '?'])).collect();
        if fixed.len() < source.split('/').count() {
            files::stamped(root, &fixed.join("/"), &skip, see);
        } else if let Ok(meta) = std::fs::symlink_metadata(root.join(source))
            && meta.is_file()
        {
            see(source, Stamp::of(&meta));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Place(tempfile::TempDir);

    impl Place {
        /// A workspace of some cards that refer to each other.
        fn new(cards: usize) -> Self {
            let place = Self(tempfile::tempdir().expect("a folder"));
            fs::create_dir_all(place.0.path().join(".project/cards")).expect("made");
            (1..=cards).for_each(|number| place.card(number, "a body"));
            fs::write(place.0.path().join(".project/cards/note.md"), "no record").expect("written");
            place
        }

        fn path(number: usize) -> String {
            format!(".project/cards/T-{number:04}-x.md")
        }

        fn card(&self, number: usize, body: &str) {
            let next = number + 1;
            let text = format!(
                "---\nid: T-{number:04}\ntitle: Card {number}\nstatus: next\ntags: [one, two]\n---\n\n{body} T-{next:04}\n"
            );
            fs::write(self.0.path().join(Self::path(number)), text).expect("written");
        }

        fn looking(&self, writes: bool) -> Looking {
            Looking::new(self.0.path(), &Config::default(), writes)
        }

        fn now(&self, looking: &mut Looking) -> Arc<Index> {
            looking.look_again();
            looking.index(self.0.path(), &Config::default())
        }

        fn shelf(&self) -> std::path::PathBuf {
            self.0.path().join(".project/.cache/index/records.bin")
        }

        /// Looks until every stamp tells later changes.
        fn settled(&self) -> Looking {
            let mut looking = self.looking(true);
            self.now(&mut looking);
            while looking.files.values().any(|known| !known.sure) {
                std::thread::park_timeout(Duration::from_millis(5));
                self.now(&mut looking);
            }
            looking
        }

        /// What an index that reads every file itself says.
        fn truth(&self) -> Vec<String> {
            told(&self.now(&mut self.looking_without_shelf()))
        }

        fn looking_without_shelf(&self) -> Looking {
            let mut looking = self.looking(false);
            looking.shelf = Shelf::new(Path::new("/nonexistent"), &Config::default(), false);
            looking
        }
    }

    fn told(index: &Index) -> Vec<String> {
        let record = |at: usize| {
            let record = &index.records[at];
            let fields = serde_json::Value::Object(record.fields.to_map());
            let links = (index.outgoing(at).len(), index.incoming_total(at));
            format!("{} {} {} {fields} {links:?} {}", record.path, record.title, record.revision, record.body_bytes)
        };
        let bad = index.unreadable.iter().map(|bad| format!("{} {}", bad.path, bad.reason));
        (0..index.records.len()).map(record).chain(bad).collect()
    }

    #[test]
    fn what_one_process_read_no_other_reads() {
        let place = Place::new(100);
        drop(place.settled());
        let mut other = place.looking(true);
        let index = place.now(&mut other);
        assert_eq!((other.reads, index.records.len(), index.unreadable.len()), (0, 100, 1));
        assert_eq!(told(&index), place.truth());
        let (_, lexicon) = other.searchable(place.0.path(), &Config::default());
        let mut found = 0;
        lexicon.each(terms::term(terms::Place::Body, "body"), &mut |_| found += 1);
        assert_eq!((found, other.reads), (100, 0));
    }

    #[test]
    fn a_write_is_one_frame_and_others_hear_of_it_at_once() {
        let place = Place::new(40);
        let (mut one, mut other) = (place.settled(), place.looking(true));
        place.now(&mut other);
        let before = fs::metadata(place.shelf()).expect("there").len();
        place.card(7, "another body");
        one.touch(place.0.path(), &Config::default(), &Place::path(7));
        let grown = fs::metadata(place.shelf()).expect("there").len() - before;
        assert!((1..2000).contains(&grown), "{grown} bytes");
        // Within the time in which nothing is looked at for itself.
        let (config, root) = (Config::default(), place.0.path());
        assert_eq!(told(&one.index(root, &config)), place.truth());
        assert_eq!(told(&other.index(root, &config)), place.truth());
        fs::remove_file(root.join(Place::path(8))).expect("removed");
        one.touch(root, &config, &Place::path(8));
        assert_eq!(told(&one.index(root, &config)), place.truth());
        assert_eq!(told(&place.now(&mut other)), place.truth());
    }

    #[test]
    fn a_change_within_one_step_of_the_clock_is_seen() {
        let place = Place::new(3);
        let (mut one, mut same) = (place.looking(true), 0);
        for round in 0..60 {
            // Of the same length and in the same file: only time can tell.
            place.card(1, &format!("before {round:03}"));
            place.now(&mut one);
            let stamp = |place: &Place| Stamp::of(&fs::metadata(place.0.path().join(Place::path(1))).expect("there"));
            let before = stamp(&place);
            place.card(1, &format!("after! {round:03}"));
            same += usize::from(before == stamp(&place));
            assert_eq!(told(&place.now(&mut one)), place.truth(), "round {round}, {same} with the same stamp");
            assert_eq!(told(&place.now(&mut place.looking(true))), place.truth(), "another process, round {round}");
        }
    }

    #[test]
    fn a_broken_index_is_passed_over_and_mended() {
        let place = Place::new(40);
        drop(place.settled());
        let whole = fs::read(place.shelf()).expect("read");
        let middle = whole.len() / 2;
        let mut broken: Vec<Vec<u8>> =
            [0, 1, 20, 31, 32, 40, middle, whole.len() - 1].iter().map(|length| whole[..*length].to_vec()).collect();
        for at in (0..whole.len()).step_by(whole.len() / 60) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            broken.push(bytes);
        }
        // Another format, something else altogether, and what a killed process left.
        broken.push([&MAGIC_OF_LATER, &whole[12..]].concat());
        broken.push(b"{\"version\": 1}".to_vec());
        broken.push([whole.as_slice(), &whole[32..300]].concat());
        let truth = place.truth();
        for (number, bytes) in broken.into_iter().enumerate() {
            fs::write(place.shelf(), bytes).expect("written");
            assert_eq!(told(&place.now(&mut place.looking(true))), truth, "damage {number}");
            let mut next = place.looking(true);
            assert_eq!((told(&place.now(&mut next)), next.reads), (truth.clone(), 0), "damage {number} is mended");
        }
    }

    const MAGIC_OF_LATER: [u8; 12] = *b"WFCBOARD\xff\0\0\0";

    #[test]
    fn another_configuration_has_an_index_of_its_own() {
        let place = Place::new(3);
        drop(place.settled());
        let config = Config::from_value(serde_json::json!({ "cards": { "path": ".project/none" } })).expect("valid");
        let mut other = Looking::new(place.0.path(), &config, true);
        assert!(other.index(place.0.path(), &config).records.is_empty());
        assert_eq!(told(&place.now(&mut place.looking(true))), place.truth());
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_works_without_an_index() {
        let place = Place::new(3);
        fs::write(place.0.path().join(".project/.cache"), "in the way").expect("written");
        let mut one = place.looking(true);
        assert_eq!(told(&place.now(&mut one)), place.truth());
        assert!(!one.shelf.writes());
        let (index, lexicon) = one.searchable(place.0.path(), &Config::default());
        let mut found = 0;
        lexicon.each(terms::term(terms::Place::Body, "body"), &mut |_| found += 1);
        assert_eq!(found, index.records.len());
        // And what only reads writes nothing.
        let place = Place::new(3);
        place.now(&mut place.looking(false));
        assert!(!place.0.path().join(".project/.cache").exists());
    }

    #[test]
    fn many_writers_lose_nothing_and_the_file_does_not_grow_for_ever() {
        let place = Place::new(20);
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let place = &place;
                scope.spawn(move || {
                    let mut own = place.looking(true);
                    let (root, config) = (place.0.path(), Config::default());
                    for round in 0..120 {
                        let number = 100 + worker * 10 + round % 10;
                        place.card(number, &format!("round {round}"));
                        own.touch(root, &config, &Place::path(number));
                        own.index(root, &config);
                    }
                });
            }
        });
        let mut one = place.settled();
        assert_eq!(told(&place.now(&mut one)), place.truth());
        let mut other = place.looking(true);
        assert_eq!((told(&place.now(&mut other)), other.reads), (place.truth(), 0));
        assert!(fs::metadata(place.shelf()).expect("there").len() < 800_000);
        let folder = place.shelf().with_file_name("");
        assert_eq!(fs::read_dir(folder).expect("listed").count(), 2, "the index and its lock");
    }

    #[test]
    fn a_lock_that_is_held_stops_nobody() {
        let place = Place::new(3);
        drop(place.settled());
        let lock = fs::File::open(place.shelf().with_extension("lock")).expect("there");
        lock.lock().expect("taken");
        place.card(2, "changed");
        let mut one = place.looking(true);
        assert_eq!(told(&place.now(&mut one)), place.truth());
        drop(lock);
        place.card(3, "changed");
        place.now(&mut one);
        assert_eq!(told(&place.now(&mut place.looking(true))), place.truth());
    }
}
