//! Opening, creating and migrating.

use std::fs;
use std::path::Path;
use std::sync::Barrier;

use rusqlite::Connection;
use tempfile::tempdir;

use super::Fixture;
use crate::schema::{DATA, HISTORY, Schema, backups};
use crate::sources::sha256;
use crate::{Create, Store, StoreError, StoreOptions};

const ONE: &str = "CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), schema INTEGER NOT NULL, \
     min_writer INTEGER NOT NULL, synced INTEGER NOT NULL DEFAULT 0) STRICT; \
     CREATE TABLE things (name TEXT NOT NULL) STRICT;";
const TWO: &str = "ALTER TABLE things ADD COLUMN size INTEGER;";

const FIRST: Schema = Schema { application_id: 77, files: &[ONE], min_writer: 1 };
const SECOND: Schema = Schema { application_id: 77, files: &[ONE, TWO], min_writer: 1 };
const THIRD: Schema = Schema { application_id: 77, files: &[ONE, TWO, "SELECT 1"], min_writer: 3 };
const BROKEN: Schema = Schema { application_id: 77, files: &[ONE, "CREATE TABLE half (x) STRICT"], min_writer: 1 };

fn open(path: &Path, schema: Schema) -> Result<Store, StoreError> {
    let store = Store::with_schema(path.to_owned(), schema, StoreOptions::default());
    store.check().map(|()| store)
}

#[expect(clippy::disallowed_methods, reason = "plays a foreign program")]
fn raw(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

#[test]
fn released_migrations_are_never_edited() {
    // A change here means a database in the field that this build does not know. Add a file instead.
    let digests = |schema: Schema| schema.files.iter().map(|file| sha256(file)).collect::<Vec<_>>();
    assert_eq!(
        digests(HISTORY),
        [
            "a9e4a305013f2e5e45186e5a33c0355bc329a3a64c49cbaf8f520d036cfa416c",
            "eaa7841610ead8dfe9368daecb8af0d93a7bf5489a1bd9192c96820bb302dd02",
            "6c4b876e27c8fc2b6e4e672fbf865e5d8ce15069c6fc7494e5a018c6f8c29d13",
            "f3641cd18bf8e4b7dcf40d92af801ffafebbe6d37bb5dbb48d208f115c74b5e2",
            "ec583754b0b2601e2dd2d47de792f0a27f6e1982bed6776f04d81dba1c02ed89",
            "4ef787fdc9a96aeea2758d8043f0859014811fbd80d13bc80cab243b262e708d",
            "ae0155560c4a00300ac79650fc3eb6427377a68630d69d32331b1838d1c0dd6c",
            "b51cfb8070a720a5aa8844299977b1614c75f03742fff808c68f44aa94cbdba3",
        ]
    );
    assert_eq!(
        digests(DATA),
        [
            "cd482724acf8f34c770b34a106981d93d7381125c3d19a46c79b96cb3281e682",
            "4575c9c37e2569c69d57ee7d16b4b73cdf4795f2291561a943d4cdb7d72703db",
        ]
    );
}

#[test]
fn the_linked_sqlite_keeps_commits() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
}

#[test]
fn a_new_database_is_owner_only_and_in_wal_mode() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a/b/history.db");
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    let mode: String = raw(&path).query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(bits(&folder.path().join("a")), 0o700);
        assert_eq!(bits(&folder.path().join("a/b")), 0o700);
        store.claim_pruning(std::time::Duration::ZERO).unwrap();
        for file in ["history.db", "history.db-wal", "history.db-shm"] {
            assert_eq!(bits(&folder.path().join("a/b").join(file)), 0o600, "{file}");
        }
        // Somebody has opened it to others.
        drop(store);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        drop(Store::open(&path, StoreOptions::default()).unwrap());
        assert_eq!(bits(&path), 0o600);
    }
}

#[test]
fn nothing_is_touched_before_the_first_request() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("x/history.db");
    let store = Store::new(&path, StoreOptions::default());
    assert!(!path.exists());
    store.check().unwrap();
    assert!(path.exists());
}

#[test]
fn a_missing_database_is_reported_when_none_is_to_be_made() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("none.db");
    let store = Store::new(&path, StoreOptions { create: Create::Never, ..StoreOptions::default() });
    assert!(matches!(store.projects(), Err(StoreError::Missing { .. })));
    assert!(!path.exists());
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let folder = tempdir().unwrap();
    let (real, link) = (folder.path().join("real.db"), folder.path().join("link.db"));
    drop(Store::open(&real, StoreOptions::default()).unwrap());
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert!(matches!(Store::open(&link, StoreOptions::default()), Err(StoreError::SymbolicLink { .. })));
}

#[test]
fn what_is_no_database_of_ours_is_refused_and_left_alone() {
    let folder = tempdir().unwrap();
    let junk = folder.path().join("junk.db");
    fs::write(&junk, "no database at all, and long enough to be looked at. ".repeat(100)).unwrap();
    let foreign = folder.path().join("foreign.db");
    raw(&foreign).execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)").unwrap();
    let data = folder.path().join("data.db");
    drop(open(&data, DATA).unwrap());
    let before: Vec<_> = [&junk, &foreign, &data].map(|path| fs::read(path).unwrap()).into();

    assert!(matches!(open(&junk, HISTORY), Err(StoreError::NotADatabase { .. })));
    assert!(matches!(open(&foreign, HISTORY), Err(StoreError::Foreign { .. })));
    assert!(matches!(open(&data, HISTORY), Err(StoreError::Foreign { .. })));
    assert!(matches!(open(folder.path(), HISTORY), Err(StoreError::File { .. })));

    let after: Vec<_> = [&junk, &foreign, &data].map(|path| fs::read(path).unwrap()).into();
    assert!(before == after);
}

#[test]
fn an_older_database_is_backed_up_and_brought_forward() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("my history.db");
    drop(open(&path, FIRST).unwrap());
    raw(&path).execute("INSERT INTO things VALUES ('kept')", []).unwrap();

    drop(open(&path, SECOND).unwrap());
    let (name, size): (String, Option<i64>) =
        raw(&path).query_row("SELECT name, size FROM things", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!((name.as_str(), size), ("kept", None));
    let copies = backups(&path);
    assert_eq!(copies.len(), 1);
    let name: String = raw(&copies[0]).query_row("SELECT name FROM things", [], |row| row.get(0)).unwrap();
    assert_eq!(name, "kept");
    assert!(raw(&copies[0]).prepare("SELECT size FROM things").is_err(), "the backup has the old schema");

    // An empty file gets no backup.
    let fresh = folder.path().join("fresh.db");
    drop(open(&fresh, SECOND).unwrap());
    assert_eq!(backups(&fresh), Vec::<std::path::PathBuf>::new());
}

#[test]
fn two_backups_are_kept() {
    const FILES: &[&str] = &[ONE, "SELECT 1", "SELECT 1", "SELECT 1"];
    let folder = tempdir().unwrap();
    let path = folder.path().join("history.db");
    for number in 1..=4 {
        let schema = Schema { application_id: 77, files: &FILES[..number], min_writer: 1 };
        drop(open(&path, schema).unwrap());
    }
    let names: Vec<_> = backups(&path).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["history.db.schema-3.backup", "history.db.schema-2.backup"]);
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("history.db");
    drop(open(&path, FIRST).unwrap());
    assert!(matches!(open(&path, BROKEN), Err(StoreError::Sql { .. })));
    let version: i64 = raw(&path).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
    drop(open(&path, FIRST).unwrap());
}

#[test]
fn a_newer_database_is_used_unless_it_wants_newer_writers() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("history.db");
    drop(open(&path, SECOND).unwrap());
    drop(open(&path, FIRST).unwrap());

    // Left by a process that died: what is in the log must stay there.
    let newer = open(&path, THIRD).unwrap();
    newer
        .database
        .write(crate::Durability::Process, |connection| {
            connection.execute("INSERT INTO things (name) VALUES ('new')", [])?;
            Ok(())
        })
        .unwrap();
    let before = (fs::read(&path).unwrap(), fs::read(path.with_extension("db-wal")).unwrap());
    let error = open(&path, SECOND).unwrap_err();
    assert!(matches!(error, StoreError::TooNew { min_writer: 3, schema: 2, .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("schema 3") && said.contains("schema 2") && said.contains("history.db"), "{said}");
    assert!(before == (fs::read(&path).unwrap(), fs::read(path.with_extension("db-wal")).unwrap()));
}

#[test]
fn a_refused_database_is_untouched_also_when_its_log_was_left_behind() {
    let folder = tempdir().unwrap();
    let (path, copy) = (folder.path().join("history.db"), folder.path().join("copy.db"));
    let newer = open(&path, THIRD).unwrap();
    newer
        .database
        .write(crate::Durability::Process, |connection| {
            connection.execute("INSERT INTO things (name) VALUES ('new')", [])?;
            Ok(())
        })
        .unwrap();
    // As after a crash: a database and its log, and nobody who has them open.
    fs::copy(&path, &copy).unwrap();
    fs::copy(folder.path().join("history.db-wal"), folder.path().join("copy.db-wal")).unwrap();
    let before = fs::read(&copy).unwrap();
    assert!(matches!(open(&copy, SECOND), Err(StoreError::TooNew { .. })));
    assert!(before == fs::read(&copy).unwrap());
    let kept: String = raw(&copy).query_row("SELECT name FROM things", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "new");
}

#[test]
fn a_running_process_stops_writing_once_newer_writers_are_wanted() {
    let fixture = Fixture::new();
    fixture.store.create_run(&super::run()).unwrap();
    fixture.raw().execute("UPDATE meta SET min_writer = 9", []).unwrap();
    assert!(matches!(fixture.store.create_run(&super::run()), Err(StoreError::TooNew { min_writer: 9, .. })));
}

#[test]
fn many_may_open_a_new_database_at_once() {
    for _ in 0..5 {
        let folder = tempdir().unwrap();
        let path = folder.path().join("history.db");
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        let store = Store::open(&path, StoreOptions::default())?;
                        store.create_run(&super::run())
                    })
                })
                .collect();
            for opener in openers {
                opener.join().unwrap().unwrap();
            }
        });
        let runs: i64 = raw(&path).query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap();
        assert_eq!(runs, 8);
    }
}
