//! Finds jobs: the project's, the built-in ones, and those of further folders, in this order.
//!
//! A file is read again only when its size, times or identity changed, so that a list of a hundred jobs costs a hundred
//! looks at a file's facts, also at a start ([`Catalog::recall`]). Lists need outlines only, and only those are kept of
//! jobs that nobody runs. Session jobs lie with their session and are found through [`Catalog::load`].

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::TimestampMs;

use crate::builtin;
use crate::files::FileError;
use crate::job::{self, JOB_FILE, Job, LoadError};
use crate::names::{self, UnsafeName};
use crate::outline::{self, Outline, Remembered, Stamp, stamp};
use crate::paths::Places;

/// Entries of a folder that are looked at.
const MOST_FOLDERS: usize = 10_000;

/// Threads that read jobs at the first look.
const MOST_THREADS: usize = 4;

/// Files whose reading is kept.
const MOST_KEPT: usize = 4_096;

/// A job with where it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The folder's name, by which it is started.
    pub folder: String,
    /// Its absolute folder.
    pub path: PathBuf,
    /// What it holds.
    pub job: Arc<Job>,
    /// Whether it is one of ours.
    pub built_in: bool,
}

/// A job in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The folder's name, by which it is started.
    pub folder: String,
    /// Its absolute folder.
    pub path: PathBuf,
    /// What lists tell of it.
    pub outline: Arc<Outline>,
    /// Whether it is one of ours.
    pub built_in: bool,
}

/// A job that cannot be used.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The folder's name.
    pub folder: String,
    /// Its absolute folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub error: Arc<LoadError>,
}

impl Broken {
    /// Says how to mend it.
    #[must_use]
    pub fn suggestion(&self) -> String {
        let file = self.path.join(JOB_FILE);
        let file = file.display();
        match self.error.as_ref() {
            LoadError::Yaml { .. } => format!("Correct the YAML of `{file}` at the place named above."),
            LoadError::Empty(_) | LoadError::NotAMapping { .. } => {
                format!("Write a job into `{file}`: a mapping with name, summary, step_arguments and workflows.")
            }
            LoadError::Format { .. } => format!("Correct each of these places in `{file}`."),
            LoadError::Name(_) => format!("Give the folder `{}` another name.", self.path.display()),
            LoadError::NoFolder(_) | LoadError::NotAFolder(_) | LoadError::NoFile(_) | LoadError::File(_) => {
                format!("Make sure that `{file}` is a readable UTF-8 text file.")
            }
        }
    }
}

/// What a look at all folders gave.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Usable jobs, in the order of discovery.
    pub jobs: Vec<Listed>,
    /// The others.
    pub broken: Vec<Broken>,
}

type Reading = Result<Arc<Job>, Arc<LoadError>>;

/// Reads jobs, and keeps what it read.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Jobs that were asked for, whole.
    kept: Mutex<HashMap<PathBuf, (Stamp, Reading)>>,
    /// Jobs that were listed.
    outlines: Mutex<Remembered>,
    /// Whether any of them is not in the file for the next server.
    has_news: AtomicBool,
    /// Jobs that were listed and cannot be used.
    broken: Mutex<HashMap<PathBuf, (Stamp, Arc<LoadError>)>>,
    /// Files of an earlier server that were looked at.
    recalled: Mutex<HashSet<PathBuf>>,
    told: Mutex<Option<Told>>,
}

/// The jobs that were last written down for other programs, and the file as it was left.
#[derive(Debug)]
struct Told {
    path: PathBuf,
    stamp: Option<Stamp>,
    jobs: Vec<Arc<Outline>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Catalog {
    /// Reads the job in a folder.
    ///
    /// # Errors
    ///
    /// As [`job::load`].
    pub fn load(&self, folder: &Path) -> Reading {
        let now = stamp(&folder.join(JOB_FILE));
        if let Some(now) = &now {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((then, reading)) = kept.get(folder)
                && then == now
            {
                return reading.clone();
            }
        }
        // Two calls may read the same file at once; both get the same.
        let reading = job::load(folder).map(Arc::new).map_err(Arc::new);
        if let Some(now) = now {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= MOST_KEPT {
                kept.clear();
            }
            kept.insert(folder.to_owned(), (now, reading.clone()));
        }
        reading
    }

    /// Takes over what an earlier server kept in this file, at the first time that it is named.
    pub fn recall(&self, path: &Path) {
        if locked(&self.recalled).insert(path.to_owned()) {
            let found = outline::recall(path);
            locked(&self.outlines).extend(found);
        }
    }

    /// Keeps what lists tell for the next server, when that is not in the file already.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn keep(&self, places: &Places, now: TimestampMs) -> Result<(), FileError> {
        if !self.has_news.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let all = locked(&self.outlines).clone();
        outline::keep(places, &all, now)
    }

    /// Tells what lists tell of the job in a folder.
    fn outline(&self, folder: &Path) -> Result<Arc<Outline>, Arc<LoadError>> {
        let now = stamp(&folder.join(JOB_FILE));
        if let Some(now) = &now {
            if let Some((then, outline)) = locked(&self.outlines).get(folder)
                && then == now
            {
                return Ok(Arc::clone(outline));
            }
            if let Some((then, error)) = locked(&self.broken).get(folder)
                && then == now
            {
                return Err(Arc::clone(error));
            }
        }
        let reading = job::load(folder);
        let Some(now) = now else { return reading.map(|job| Arc::new(Outline::from(&job))).map_err(Arc::new) };
        match reading {
            Ok(job) => {
                let outline = Arc::new(Outline::from(&job));
                let mut outlines = locked(&self.outlines);
                if outlines.len() >= MOST_KEPT {
                    outlines.clear();
                }
                outlines.insert(folder.to_owned(), (now, Arc::clone(&outline)));
                self.has_news.store(true, Ordering::Release);
                Ok(outline)
            }
            Err(error) => {
                let error = Arc::new(error);
                let mut broken = locked(&self.broken);
                if broken.len() >= MOST_KEPT {
                    broken.clear();
                }
                broken.insert(folder.to_owned(), (now, Arc::clone(&error)));
                Err(error)
            }
        }
    }

    /// Lists every job. `built_in` is where built-in ones would lie.
    #[must_use]
    pub fn list(&self, project: &Path, built_in: &Path, further: &[PathBuf]) -> Listing {
        let mut listing = Listing::default();
        let mut taken = HashSet::new();
        self.list_folder(project, &mut taken, &mut listing);
        for one in builtin::jobs() {
            if taken.insert(one.name.to_owned()) {
                listing.jobs.push(Listed {
                    folder: one.name.to_owned(),
                    path: built_in.join(one.name),
                    outline: Arc::clone(&one.outline),
                    built_in: true,
                });
            }
        }
        for folder in further {
            self.list_folder(folder, &mut taken, &mut listing);
        }
        listing
    }

    fn list_folder(&self, folder: &Path, taken: &mut HashSet<String>, listing: &mut Listing) {
        let wanted: Vec<(String, PathBuf)> = subfolders(folder)
            .into_iter()
            .map(|name| (folder.join(&name), name))
            .filter(|(path, name)| !taken.contains(name) && path.join(JOB_FILE).exists())
            .map(|(path, name)| (name, path))
            .collect();
        // What could not be found by its name again is not offered either.
        let (wanted, odd): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(name, _)| is_name(name).is_ok());
        listing.broken.extend(odd.into_iter().filter_map(|(folder, path)| {
            let error = Arc::new(LoadError::Name(is_name(&folder).err()?));
            Some(Broken { folder, path, error })
        }));
        let readings = self.outline_all(&wanted);
        for ((name, path), reading) in wanted.into_iter().zip(readings) {
            match reading {
                Ok(outline) => {
                    taken.insert(name.clone());
                    listing.jobs.push(Listed { folder: name, path, outline, built_in: false });
                }
                Err(error) => listing.broken.push(Broken { folder: name, path, error }),
            }
        }
    }

    /// Tells whether a file that lists these jobs has to be written: another project, other jobs, or another file.
    #[must_use]
    pub fn is_news(&self, path: &Path, listing: &Listing) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(told) = told.as_ref().filter(|told| told.path == path) else { return true };
        let same_jobs = told.jobs.len() == listing.jobs.len()
            && told.jobs.iter().zip(&listing.jobs).all(|(old, new)| Arc::ptr_eq(old, &new.outline));
        !same_jobs || told.stamp.is_none() || told.stamp != stamp(path)
    }

    /// Notes that a file lists these jobs now.
    pub fn told(&self, path: &Path, listing: &Listing) {
        let jobs = listing.jobs.iter().map(|listed| Arc::clone(&listed.outline)).collect();
        let told = Told { path: path.to_owned(), stamp: stamp(path), jobs };
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }

    /// Tells of many jobs. The first look at a project is what a client waits for, so it is shared among threads.
    fn outline_all(&self, wanted: &[(String, PathBuf)]) -> Vec<Result<Arc<Outline>, Arc<LoadError>>> {
        let load = |part: &[(String, PathBuf)]| part.iter().map(|(_, path)| self.outline(path)).collect::<Vec<_>>();
        let nothing_kept = locked(&self.outlines).is_empty();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        if !nothing_kept || wanted.len() < 2 * MOST_THREADS || threads < 2 {
            return load(wanted);
        }
        std::thread::scope(|scope| {
            let parts: Vec<_> = wanted
                .chunks(wanted.len().div_ceil(threads))
                .map(|part| (part, scope.spawn(move || load(part))))
                .collect();
            // A thread that was lost leaves its part to this one.
            parts.into_iter().flat_map(|(part, thread)| thread.join().unwrap_or_else(|_| load(part))).collect()
        })
    }

    /// Finds a job by the name of its folder, else by the name inside. The first that can be used counts, as in the
    /// list; a broken one is named only when no other has its name.
    ///
    /// # Errors
    ///
    /// The broken job of that name. `Ok(None)`: there is none.
    pub fn find(
        &self,
        name: &str,
        project: &Path,
        built_in: &Path,
        further: &[PathBuf],
    ) -> Result<Option<Found>, Broken> {
        if is_name(name).is_err() {
            return Ok(None);
        }
        let mut broken = None;
        let mut look = |folder: &Path| {
            let path = folder.join(name);
            if !path.join(JOB_FILE).exists() {
                return None;
            }
            match self.load(&path) {
                Ok(job) => Some(Found { folder: name.to_owned(), path, job, built_in: false }),
                Err(error) => {
                    broken.get_or_insert(Broken { folder: name.to_owned(), path, error });
                    None
                }
            }
        };
        let found = look(project)
            .or_else(|| {
                let one = builtin::jobs().iter().find(|one| one.name == name)?;
                let path = built_in.join(one.name);
                Some(Found { folder: name.to_owned(), path, job: Arc::clone(&one.job), built_in: true })
            })
            .or_else(|| further.iter().find_map(|folder| look(folder)));
        if found.is_some() {
            return Ok(found);
        }
        if let Some(broken) = broken {
            return Err(broken);
        }
        let listed = self.list(project, built_in, further).jobs.into_iter().find(|listed| listed.outline.name == name);
        let Some(Listed { folder, path, built_in, .. }) = listed else { return Ok(None) };
        if built_in {
            // By its inside name, which is that of its folder: it was looked for above.
            return Ok(None);
        }
        match self.load(&path) {
            Ok(job) => Ok(Some(Found { folder, path, job, built_in })),
            Err(error) => Err(Broken { folder, path, error }),
        }
    }
}

/// The one rule for names of jobs' folders, for lists and for looking one up.
pub(crate) fn is_name(folder: &str) -> Result<&str, UnsafeName> {
    names::check("name for the folder of a job", folder)
}

/// Lists the folders in a folder by name; links to folders count.
pub(crate) fn subfolders(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .take(MOST_FOLDERS)
        .filter(|entry| match entry.file_type() {
            Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
            Ok(kind) => kind.is_dir(),
            Err(_) => false,
        })
        // A name that is no Unicode could not be said in a call.
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

/// Reads a list of folders as environment variables hold it: split at `:`, blanks trimmed, empty entries left out.
/// Relative ones are taken from the root.
#[must_use]
pub fn folder_list(text: Option<&str>, root: &Path) -> Vec<PathBuf> {
    text.unwrap_or_default()
        .split(':')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(|entry| root.join(entry))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name: solo\nsummary: s\nstep_arguments: []\nworkflows:\n  main:\n    summary: s\n    steps:\n      - name: think\n        instructions: Think.\n";

    struct Ground {
        _folder: tempfile::TempDir,
        root: PathBuf,
        catalog: Catalog,
    }

    impl Ground {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().to_owned();
            Self { _folder: folder, root, catalog: Catalog::default() }
        }

        fn put(&self, place: &str, text: &str) {
            let path = self.root.join(place).join(JOB_FILE);
            crate::files::write(&path, text.as_bytes()).expect("written");
        }

        fn list(&self, further: &str) -> Listing {
            let further = folder_list(Some(further), &self.root);
            self.catalog.list(&self.root.join("jobs"), &self.root.join("built"), &further)
        }

        fn find(&self, name: &str, further: &str) -> Result<Option<Found>, Broken> {
            let further = folder_list(Some(further), &self.root);
            self.catalog.find(name, &self.root.join("jobs"), &self.root.join("built"), &further)
        }
    }

    fn own(listing: &Listing) -> Vec<&str> {
        listing.jobs.iter().filter(|found| !found.built_in).map(|found| found.folder.as_str()).collect()
    }

    #[test]
    fn no_folder_means_built_in_jobs_only() {
        let ground = Ground::new();
        let listing = ground.list("");
        assert!(own(&listing).is_empty() && listing.broken.is_empty());
        assert!(listing.jobs.iter().any(|found| found.folder == "deepplan"));
    }

    #[test]
    fn the_first_folder_of_a_name_counts_and_odd_entries_are_left_out() {
        let ground = Ground::new();
        ground.put("jobs/solo", GOOD);
        ground.put("more/solo", GOOD);
        ground.put("more/other", GOOD);
        fs::write(ground.root.join("jobs/plain"), "x").expect("written");
        fs::create_dir_all(ground.root.join("jobs/empty")).expect("made");
        let listing = ground.list(" more : : nowhere :jobs/plain");
        assert_eq!(own(&listing), ["solo", "other"]);
        assert!(listing.jobs[0].path.starts_with(ground.root.join("jobs")));
        assert!(listing.broken.is_empty());
    }

    #[test]
    fn a_broken_job_does_not_hide_a_good_one() {
        let ground = Ground::new();
        ground.put("jobs/solo", "name: [");
        ground.put("more/solo", GOOD);
        let listing = ground.list("more");
        assert_eq!((own(&listing).len(), listing.broken.len()), (1, 1));
        let found = ground.find("solo", "more").expect("usable").expect("there");
        assert!(found.path.starts_with(ground.root.join("more")));
        let broken = ground.find("solo", "").expect_err("broken");
        assert!(broken.suggestion().contains("job.yml"));
    }

    #[test]
    fn two_bad_jobs_and_a_good_one_are_two_errors_and_one_job() {
        let ground = Ground::new();
        ground.put("jobs/a", "name: [");
        ground.put("jobs/b", "name: b");
        ground.put("jobs/solo", GOOD);
        let listing = ground.list("");
        assert_eq!((own(&listing), listing.broken.len()), (vec!["solo"], 2));
    }

    #[test]
    fn the_same_job_broken_twice_is_two_errors() {
        let ground = Ground::new();
        ground.put("jobs/solo", "- list");
        ground.put("more/solo", "");
        assert_eq!(ground.list("more").broken.len(), 2);
    }

    #[test]
    fn a_project_job_replaces_a_built_in_one() {
        let ground = Ground::new();
        ground.put("jobs/deepplan", GOOD);
        let listing = ground.list("");
        let found: Vec<_> = listing.jobs.iter().filter(|found| found.folder == "deepplan").collect();
        assert_eq!(found.len(), 1);
        assert!(!found[0].built_in);
    }

    #[test]
    fn what_is_listed_can_be_found_and_an_odd_folder_is_named_as_broken() {
        let ground = Ground::new();
        let long = "n".repeat(201);
        for (folder, inside) in [(".hidden", "hidden"), ("a..b", "dots"), (long.as_str(), "long"), ("fine-1", "fine")] {
            ground.put(&format!("jobs/{folder}"), &GOOD.replace("name: solo", &format!("name: {inside}")));
        }
        let listing = ground.list("");
        assert_eq!(own(&listing), ["fine-1"]);
        assert_eq!(listing.broken.len(), 3);
        for (broken, inside) in listing.broken.iter().zip(["hidden", "dots", "long"]) {
            assert!(broken.error.to_string().contains("no usable name"), "{}", broken.error);
            assert!(broken.suggestion().contains("another name"));
            for name in [broken.folder.as_str(), inside] {
                assert!(ground.find(name, "").expect("usable").is_none(), "{name}");
            }
        }
    }

    #[test]
    fn both_names_find_a_job_and_no_path_does() {
        let ground = Ground::new();
        ground.put("jobs/folder_name", GOOD);
        assert!(ground.find("folder_name", "").expect("usable").is_some());
        assert_eq!(ground.find("solo", "").expect("usable").map(|found| found.folder), Some("folder_name".into()));
        ground.put("outside", GOOD);
        for name in ["../outside", "", ".", "..", "a/b", "folder_name/"] {
            assert!(ground.find(name, "").expect("usable").is_none(), "{name}");
        }
    }

    #[test]
    fn a_changed_file_is_read_again_and_an_unchanged_one_is_not() {
        let ground = Ground::new();
        ground.put("jobs/solo", GOOD);
        let first = ground.find("solo", "").expect("usable").expect("there").job;
        let again = ground.find("solo", "").expect("usable").expect("there").job;
        assert!(Arc::ptr_eq(&first, &again));
        // The same length, so that only time and identity tell.
        ground.put("jobs/solo", &GOOD.replace("Think.", "Draw!."));
        let changed = ground.find("solo", "").expect("usable").expect("there").job;
        assert!(!Arc::ptr_eq(&first, &changed));
    }

    #[test]
    fn a_list_is_remembered_from_one_server_to_the_next_and_changes_are_still_seen() {
        let ground = Ground::new();
        ground.put("jobs/solo", GOOD);
        ground.put("jobs/bad", "name: [");
        let places = Places::new(&ground.root.canonicalize().expect("there"), "claude").expect("places");
        let kept = places.outlines();
        let first = ground.list("");
        // A minute later, so that the files have been left alone.
        let later = model::Clock::now(&model::SystemClock) + 60_000;
        ground.catalog.keep(&places, later).expect("written");
        let next = Ground { catalog: Catalog::default(), ..ground };
        next.catalog.recall(&kept);
        assert_eq!(locked(&next.catalog.outlines).len(), 1);
        let again = next.list("");
        assert_eq!((own(&again), again.broken.len()), (own(&first), 1));
        assert!(locked(&next.catalog.kept).is_empty(), "nothing was read whole");
        next.put("jobs/solo", &GOOD.replace("summary: s\nstep", "summary: t\nstep"));
        next.put("jobs/bad", GOOD);
        let changed = next.list("");
        assert!(changed.broken.is_empty());
        let summaries = |listing: &Listing| -> Vec<String> {
            let own = listing.jobs.iter().filter(|listed| !listed.built_in);
            own.map(|listed| format!("{} {}", listed.folder, listed.outline.summary)).collect()
        };
        assert_eq!(summaries(&changed), ["bad s", "solo t"]);
        // What is started is the file, whatever is remembered.
        let found = next.find("solo", "").expect("usable").expect("there");
        assert_eq!(found.job.summary, "t");
    }
}
