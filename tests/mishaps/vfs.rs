//! A SQLite VFS in front of the system's own: it keeps a diary of everything that is written and synced below a watched
//! folder, and has the n-th such act fail.
//!
//! It is the default of this test binary, so that the store and everything above it is tested as it is, with nothing in
//! the product that knows of it. It forwards every call to the system's VFS; databases outside the folder pass through.
//!
//! What of the shared memory beside a write-ahead log is not in the diary: after a loss of power it is made anew.
#![expect(unsafe_code, reason = "a VFS is a table of C functions")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rusqlite::ffi;

/// Something that happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// It was opened, and made if there was none.
    Open,
    /// Bytes were written at this place.
    Write(u64, Vec<u8>),
    /// It was cut, or made longer, to this length.
    Truncate(u64),
    /// What was written so far is on the disk.
    Sync,
    /// It was removed from its folder.
    Delete,
}

/// A line of the diary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Something happened to the file of this path, relative to the watched folder.
    File(PathBuf, Act),
    /// The product told somebody this.
    Told(String),
}

/// How an act fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failing {
    /// The device reports an error.
    Broken,
    /// The disk is full.
    Full,
    /// Half of the bytes are written, and then the disk is full.
    Short,
}

/// Which acts fail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) how: Failing,
    /// The first one that fails, counted from 0.
    pub(crate) first: u64,
    /// How many fail.
    pub(crate) many: u64,
}

#[derive(Debug, Default)]
struct Watch {
    folder: PathBuf,
    lines: Vec<Line>,
    fault: Option<Fault>,
    acts: u64,
    failed: u64,
}

static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

fn watch() -> MutexGuard<'static, Option<Watch>> {
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a diary of what lies below `folder`, with these acts to fail.
pub(crate) fn begin(folder: &Path, fault: Option<Fault>) {
    register();
    *watch() = Some(Watch { folder: folder.to_owned(), fault, ..Watch::default() });
}

/// Writes down what the product told somebody.
pub(crate) fn told(what: impl Into<String>) {
    if let Some(watch) = watch().as_mut() {
        watch.lines.push(Line::Told(what.into()));
    }
}

/// Tells whether everything written to this file before the last word that was told is on the disk.
pub(crate) fn is_safe(file: &Path) -> bool {
    let watch = watch();
    let lines = watch.as_ref().map(|watch| watch.lines.as_slice()).unwrap_or_default();
    let told = lines.iter().rposition(|line| matches!(line, Line::Told(_))).unwrap_or(0);
    let written =
        lines[..told].iter().rposition(|line| matches!(line, Line::File(path, Act::Write(..)) if path == file));
    let synced = lines.iter().rposition(|line| matches!(line, Line::File(path, Act::Sync) if path == file));
    written.is_none_or(|written| synced.is_some_and(|synced| synced > written))
}

/// Lets everything succeed from now on. Returns how many acts there were and how many of them failed.
pub(crate) fn mend() -> (u64, u64) {
    watch().as_mut().map_or((0, 0), |watch| {
        watch.fault = None;
        (watch.acts, watch.failed)
    })
}

/// Ends the diary and returns it.
pub(crate) fn end() -> Vec<Line> {
    watch().take().map(|watch| watch.lines).unwrap_or_default()
}

/// An open file: the system's own lies behind it in the same piece of memory.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    /// The path, when it is watched; owned.
    path: *mut PathBuf,
}

/// The VFS behind this one. Set once, before this one is registered.
static REAL: AtomicPtr<ffi::sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());

fn real() -> *mut ffi::sqlite3_vfs {
    REAL.load(Ordering::SeqCst)
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the table lives as long as the process, and the system's VFS is never unregistered.
        unsafe {
            assert_eq!(ffi::sqlite3_initialize(), ffi::SQLITE_OK);
            let real = ffi::sqlite3_vfs_find(ptr::null());
            assert!(!real.is_null());
            let mut this = *real;
            this.iVersion = 2;
            this.pNext = ptr::null_mut();
            this.zName = c"diary".as_ptr();
            this.szOsFile = c_int::try_from(size_of::<File>()).unwrap() + (*real).szOsFile;
            this.xOpen = Some(open);
            this.xDelete = Some(delete);
            REAL.store(real, Ordering::SeqCst);
            assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(this)), 1), ffi::SQLITE_OK);
        }
    });
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // Without `xFetch`: nothing is mapped into memory past the diary.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The system's file behind one of ours.
unsafe fn behind(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes, and ours come first.
    unsafe { file.cast::<u8>().add(size_of::<File>()).cast() }
}

unsafe fn path_of<'a>(file: *mut ffi::sqlite3_file) -> Option<&'a PathBuf> {
    // SAFETY: every file of these methods was made by `open`.
    unsafe { (*file.cast::<File>()).path.as_ref() }
}

/// What becomes of an act.
enum Fate {
    Happens,
    Fails(Failing),
}

/// Decides whether an act fails, has it done or fail, and writes down what was done. One act at a time: the diary has the
/// order in which the disk saw them.
fn act(path: Option<&PathBuf>, act: impl FnOnce() -> Act, mut perform: impl FnMut(Fate) -> c_int) -> c_int {
    let mut watch = watch();
    let (Some(path), Some(watch)) = (path, watch.as_mut()) else { return perform(Fate::Happens) };
    let number = watch.acts;
    watch.acts += 1;
    let failing = watch.fault.filter(|fault| (fault.first..fault.first.saturating_add(fault.many)).contains(&number));
    if let Some(fault) = failing {
        watch.failed += 1;
        if let (Failing::Short, Act::Write(at, mut bytes)) = (fault.how, act()) {
            bytes.truncate(bytes.len() / 2);
            watch.lines.push(Line::File(path.clone(), Act::Write(at, bytes)));
        }
        return perform(Fate::Fails(fault.how));
    }
    let code = perform(Fate::Happens);
    if code == ffi::SQLITE_OK {
        watch.lines.push(Line::File(path.clone(), act()));
    }
    code
}

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: `file` has room for ours and the system's; a path is a C string or null.
    unsafe {
        let ours = file.cast::<File>();
        (*ours).base.pMethods = ptr::null();
        (*ours).path = ptr::null_mut();
        let path = watched(name);
        let code = (*real()).xOpen.unwrap()(real(), name, behind(file), flags, out_flags);
        if !(*behind(file)).pMethods.is_null() {
            (*ours).base.pMethods = &raw const METHODS;
        }
        if code == ffi::SQLITE_OK
            && let Some(path) = path
        {
            if let Some(watch) = watch().as_mut() {
                watch.lines.push(Line::File(path.clone(), Act::Open));
            }
            (*ours).path = Box::into_raw(Box::new(path));
        }
        code
    }
}

/// The path relative to the watched folder, if it lies below it.
unsafe fn watched(name: *const c_char) -> Option<PathBuf> {
    if name.is_null() {
        return None;
    }
    // SAFETY: SQLite hands over a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    let watch = watch();
    Path::new(name).strip_prefix(&watch.as_ref()?.folder).ok().map(Path::to_owned)
}

unsafe extern "C" fn delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: forwarded as it came.
    unsafe {
        let path = watched(name);
        let code = (*real()).xDelete.unwrap()(real(), name, sync_folder);
        if code == ffi::SQLITE_OK
            && let (Some(path), Some(watch)) = (path, watch().as_mut())
        {
            watch.lines.push(Line::File(path, Act::Delete));
        }
        code
    }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the path was boxed by `open`, and is not used after this.
    unsafe {
        let path = (*file.cast::<File>()).path;
        if !path.is_null() {
            drop(Box::from_raw(path));
        }
        let behind = behind(file);
        (*(*behind).pMethods).xClose.unwrap()(behind)
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, bytes: *const c_void, length: c_int, at: i64) -> c_int {
    // SAFETY: SQLite hands over `length` bytes.
    unsafe {
        let given = std::slice::from_raw_parts(bytes.cast::<u8>(), usize::try_from(length).unwrap_or(0));
        let behind = behind(file);
        let write = (*(*behind).pMethods).xWrite.unwrap();
        let done = || Act::Write(u64::try_from(at).unwrap_or(0), given.to_vec());
        act(path_of(file), done, |fate| match fate {
            Fate::Happens => write(behind, bytes, length, at),
            Fate::Fails(Failing::Broken) => ffi::SQLITE_IOERR_WRITE,
            Fate::Fails(Failing::Full) => ffi::SQLITE_FULL,
            Fate::Fails(Failing::Short) => {
                write(behind, bytes, length / 2, at);
                ffi::SQLITE_FULL
            }
        })
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: forwarded as it came.
    unsafe {
        let behind = behind(file);
        let truncate = (*(*behind).pMethods).xTruncate.unwrap();
        act(
            path_of(file),
            || Act::Truncate(u64::try_from(size).unwrap_or(0)),
            |fate| match fate {
                Fate::Happens => truncate(behind, size),
                Fate::Fails(_) => ffi::SQLITE_IOERR_TRUNCATE,
            },
        )
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: forwarded as it came.
    unsafe {
        let behind = behind(file);
        let sync = (*(*behind).pMethods).xSync.unwrap();
        act(
            path_of(file),
            || Act::Sync,
            |fate| match fate {
                Fate::Happens => sync(behind, flags),
                Fate::Fails(_) => ffi::SQLITE_IOERR_FSYNC,
            },
        )
    }
}

/// Forwards methods whose arguments go on as they came.
macro_rules! forwarded {
    ($($name:ident => $method:ident ( $($argument:ident : $type:ty),* ) -> $out:ty;)*) => {$(
        unsafe extern "C" fn $name(file: *mut ffi::sqlite3_file $(, $argument: $type)*) -> $out {
            // SAFETY: forwarded as it came, to the file behind this one.
            unsafe {
                let behind = behind(file);
                (*(*behind).pMethods).$method.unwrap()(behind $(, $argument)*)
            }
        }
    )*};
}

forwarded! {
    read => xRead(bytes: *mut c_void, length: c_int, at: i64) -> c_int;
    file_size => xFileSize(size: *mut i64) -> c_int;
    lock => xLock(level: c_int) -> c_int;
    unlock => xUnlock(level: c_int) -> c_int;
    check_reserved_lock => xCheckReservedLock(out: *mut c_int) -> c_int;
    file_control => xFileControl(operation: c_int, argument: *mut c_void) -> c_int;
    sector_size => xSectorSize() -> c_int;
    device_characteristics => xDeviceCharacteristics() -> c_int;
    shm_map => xShmMap(page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void) -> c_int;
    shm_lock => xShmLock(offset: c_int, many: c_int, flags: c_int) -> c_int;
    shm_barrier => xShmBarrier() -> ();
    shm_unmap => xShmUnmap(delete: c_int) -> c_int;
}
