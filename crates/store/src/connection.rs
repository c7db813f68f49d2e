//! One connection: how it waits and what it is told at the start.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::{Result, StoreError};

/// How long a statement waits for another process before the store reports [`StoreError::Locked`], at least.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(10);

/// Opens a connection to a file that exists.
pub(crate) fn connect(path: &Path, patience: Duration) -> Result<Connection> {
    // A linked SQLite before 3.51.3 can lose commits when two connections share a write-ahead log
    // (sqlite.org/wal.html, "The WAL-Reset Bug").
    if rusqlite::version_number() < 3_051_003 {
        return Err(StoreError::OldSqlite { found: rusqlite::version() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = open(path, flags)?;
    wait(&mut connection, path, patience)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

/// Opens a connection to a file on a drive that cannot be written and has no write-ahead log lying beside the file.
/// Such a file cannot change while it is read.
pub(crate) fn connect_immutable(path: &Path) -> Result<Connection> {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                address.push(char::from(*byte));
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    open(Path::new(&address), flags).map_err(|_| StoreError::ReadOnly { path: path.to_owned() })
}

#[expect(clippy::disallowed_methods, reason = "this is where databases are opened")]
fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    Connection::open_with_flags(path, flags).map_err(|error| StoreError::sql(path, error))
}

/// Lets statements wait for other processes, `patience` in all.
///
/// SQLite's own handler sleeps up to 100 ms at a time, which is too coarse where an answer must reach its run within
/// that time.
fn wait(connection: &mut Connection, path: &Path, patience: Duration) -> Result<()> {
    let mut since = Instant::now();
    connection
        .busy_handler(Some(move |count: i32| {
            if count == 0 {
                since = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(if count < 20 { 1 } else { 5 }));
            since.elapsed() < patience
        }))
        .map_err(|error| StoreError::sql(path, error))
}
