//! Files of a workspace: walking trees, whole reads, writes that are there or not.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use model::{IdSource as _, SystemIds};

use crate::error::{BoardError, Result};

/// The largest record that is read, whatever a configuration says.
const MAX_RECORD_BYTES: u64 = 16 * 1024 * 1024;

/// How deep folders are searched.
const MAX_DEPTH: usize = 32;

/// What tells one version of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    /// Nanoseconds since the epoch.
    pub(crate) modified_ns: i64,
    /// When the system last noted a change of it, which no program can set. The modification time where there is none.
    pub(crate) changed_ns: i64,
    /// Bytes.
    pub(crate) size: u64,
    /// The file itself: a rename into its place is another one.
    pub(crate) inode: u64,
}

/// How coarse the times of a file system may be that keeps parts of seconds.
const FINE_NS: i64 = 50_000_000;
/// How coarse they may be otherwise.
const COARSE_NS: i64 = 2_000_000_000;

impl Stamp {
    pub(crate) fn of(meta: &fs::Metadata) -> Self {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_ns = modified.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
        #[cfg(unix)]
        let (inode, changed_ns) = {
            use std::os::unix::fs::MetadataExt as _;
            (meta.ino(), meta.ctime().saturating_mul(1_000_000_000).saturating_add(meta.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let (inode, changed_ns) = (0, modified_ns);
        Self { modified_ns, changed_ns, size: meta.len(), inode }
    }

    /// Milliseconds since the epoch.
    pub(crate) fn modified_ms(self) -> i64 {
        self.modified_ns / 1_000_000
    }

    /// Whether a change after `moment` would have given the file another stamp: times are only so fine, and a file that is
    /// written twice within one step of the clock looks the same to whoever read it in between.
    pub(crate) fn tells_changes_after(self, moment: i64) -> bool {
        let step = if self.changed_ns % 1_000_000_000 == 0 { COARSE_NS } else { FINE_NS };
        self.changed_ns.saturating_add(step) < moment
    }
}

/// The moment by the clock that file systems take their times from, in nanoseconds since the epoch.
pub(crate) fn file_clock() -> i64 {
    #[cfg(target_os = "linux")]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
    }
    #[cfg(not(target_os = "linux"))]
    {
        model::Clock::now(&model::SystemClock).saturating_mul(1_000_000)
    }
}

/// Calls `see` for every plain file below `folder`. Symbolic links and folders whose name begins with `.` are passed over,
/// and so is what `skip` names.
pub(crate) fn walk(root: &Path, folder: &str, skip: &[&str], depth: usize, see: &mut dyn FnMut(&str)) {
    entries(root, folder, skip, depth, &mut |path, _| see(path));
}

/// Calls `see` for every `.md` file below `folder`, with its stamp.
pub(crate) fn stamped(root: &Path, folder: &str, skip: &[&str], see: &mut dyn FnMut(&str, Stamp)) {
    entries(root, folder, skip, 0, &mut |path, entry| {
        if path.ends_with(".md")
            && let Ok(meta) = entry.metadata()
        {
            see(path, Stamp::of(&meta));
        }
    });
}

fn entries(root: &Path, folder: &str, skip: &[&str], depth: usize, see: &mut dyn FnMut(&str, &fs::DirEntry)) {
    if depth > MAX_DEPTH {
        return;
    }
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    // One text for all paths of a folder: there may be very many.
    let mut path = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let start = path.len();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let (Ok(kind), Some(name)) = (entry.file_type(), name.to_str()) else { continue };
        path.truncate(start);
        path.push_str(name);
        if kind.is_dir() {
            if !name.starts_with('.') && !skip.contains(&path.as_str()) {
                self::entries(root, &path, skip, depth + 1, see);
            }
        } else if kind.is_file() {
            see(&path, &entry);
        }
    }
}

/// Reads a whole text file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<(String, Stamp)> {
    let limit = limit.min(MAX_RECORD_BYTES);
    let (file, meta) = disk::open_following(path).map_err(disk::ReadError::into_io)?;
    let bytes = disk::read::read_open(file, path, limit).map_err(disk::ReadError::into_io)?;
    let text = String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))?;
    Ok((text, Stamp::of(&meta)))
}

/// Eight random hexadecimal digits.
pub(crate) fn random_name() -> String {
    let mut bytes = [0u8; 8];
    SystemIds.fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Replaces a file as a whole: readers see the old one or the new one.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| BoardError::io("made", folder, error))?;
    let temporary = folder.join(format!(".{}.tmp", random_name()));
    let put = (|| {
        let mut file = File::options().write(true).create_new(true).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        if let Ok(meta) = fs::metadata(path) {
            fs::set_permissions(&temporary, meta.permissions())?;
        }
        rename(&temporary, path)
    })();
    put.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        BoardError::io("written", path, error)
    })
}

/// Renames; a refusal by somebody who looks at the file at this moment is tried again.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let mut attempt = 0;
    loop {
        match fs::rename(from, to) {
            Err(error)
                if attempt < 20
                    && matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ResourceBusy) =>
            {
                attempt += 1;
                std::thread::park_timeout(Duration::from_millis(25));
            }
            done => return done,
        }
    }
}

/// Creates a file that must not be there yet, whole at once. `false` when there is one.
pub(crate) fn create(path: &Path, text: &str) -> Result<bool> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| BoardError::io("made", folder, error))?;
    let temporary = folder.join(format!(".{}.tmp", random_name()));
    let failed = |error| BoardError::io("written", path, error);
    let mut file = File::options().write(true).create_new(true).open(&temporary).map_err(failed)?;
    let written = file.write_all(text.as_bytes());
    drop(file);
    // A hard link is refused when its name is taken: the file appears whole, or not at all.
    let linked = written.and_then(|()| fs::hard_link(&temporary, path));
    let _ = fs::remove_file(&temporary);
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // A file system without hard links.
        Err(_) => match File::options().write(true).create_new(true).open(path) {
            Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(failed(error)),
        },
    }
}

/// Whether the system runs a file by its name.
pub(crate) fn is_runnable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    {
        path.is_file()
    }
}

/// Lets the system run a file by its name.
pub(crate) fn make_runnable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
            .map_err(|error| BoardError::io("made a program", path, error))?;
    }
    let _ = path;
    Ok(())
}

/// Gives a file a second place, where none is: its content is in both. `false` when one is there.
pub(crate) fn copy_new(from: &Path, to: &Path) -> Result<bool> {
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| BoardError::io("made", folder, error))?;
    // A hard link is the file itself, with what was written to the disk already.
    match fs::hard_link(from, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // A file system without hard links.
        Err(_) => {
            let (text, _) = read(from, MAX_RECORD_BYTES).map_err(|error| BoardError::io("read", from, error))?;
            create(to, &text)
        }
    }
}

/// Moves a file to where none is. `false` when one is there.
pub(crate) fn move_new(from: &Path, to: &Path) -> Result<bool> {
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| BoardError::io("made", folder, error))?;
    if fs::symlink_metadata(to).is_ok() {
        return Ok(false);
    }
    rename(from, to).map_err(|error| BoardError::io("moved", from, error))?;
    Ok(true)
}

/// Removes `folder` and the ones above it while they are empty, up to `top`.
pub(crate) fn remove_empty(root: &Path, folder: &str, top: &str) {
    let mut folder = folder;
    while folder != top && crate::paths::lies_in(folder, top) && fs::remove_dir(root.join(folder)).is_ok() {
        folder = crate::paths::parent(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_walked_without_links_and_hidden_folders() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path);
        for path in ["c/a.md", "c/sub/b.md", "c/.hidden/x.md", "c/.dot.md", "c/note.txt", "c/skip/y.md"] {
            write(&at(path), "x").expect("written");
        }
        std::os::unix::fs::symlink(at("c/a.md"), at("c/link.md")).expect("linked");
        std::os::unix::fs::symlink(at("c"), at("c/loop")).expect("linked");
        let found = |folder: &str| {
            let mut found = Vec::new();
            stamped(root.path(), folder, &["c/skip"], &mut |path, stamp| {
                assert_eq!(stamp, Stamp::of(&fs::metadata(at(path)).expect("there")));
                found.push(path.to_owned());
            });
            found.sort();
            found
        };
        assert_eq!(found("c"), ["c/.dot.md", "c/a.md", "c/sub/b.md"]);
        assert!(found("none").is_empty());
    }

    #[test]
    fn files_are_created_once_and_leave_nothing_behind() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("a/b.md");
        assert!(create(&path, "one").expect("created"));
        assert!(!create(&path, "two").expect("refused"));
        assert_eq!(read(&path, 100).expect("read").0, "one");
        assert!(read(&path, 2).is_err());
        assert_eq!(fs::read_dir(root.path().join("a")).expect("listed").count(), 1);
        assert!(!move_new(&path, &path).expect("refused"));
        remove_empty(root.path(), "a", "");
        assert!(path.exists());
    }
}
