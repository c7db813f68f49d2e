//! Full disks, read-only drives, damaged and locked files.

use ::model::RunStatus;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::runs::ends;
use super::{Fixture, new_run, run};
use crate::{Create, RunFilter, Store, StoreError, StoreOptions};

/// A small drive of its own, taken away at the end.
struct Drive(tempfile::TempDir);

impl Drive {
    /// `None` where this user may not mount one; the test says so and is skipped.
    fn new(test: &str, bytes: u64) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let drive = Self(folder);
        if drive.mount(&format!("size={bytes},mode=0700"), &[]) {
            Some(drive)
        } else {
            println!("SKIPPED {test}: mounting a small drive needs the rights of an administrator");
            None
        }
    }

    #[expect(clippy::disallowed_methods, reason = "tests on a drive of their own")]
    fn mount(&self, options: &str, more: &[&str]) -> bool {
        std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", options])
            .args(more)
            .args([Path::new("workflow-store-test"), self.0.path()])
            .status()
            .is_ok_and(|status| status.success())
    }

    fn make_read_only(&self) -> bool {
        self.mount("remount,ro", &[])
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("history.db")
    }
}

impl Drop for Drive {
    #[expect(clippy::disallowed_methods, reason = "tests on a drive of their own")]
    fn drop(&mut self) {
        drop(std::process::Command::new("umount").arg("-l").arg(self.0.path()).status());
    }
}

#[test]
fn a_full_disk_is_named_and_nothing_recorded_is_lost() {
    let Some(drive) = Drive::new("full disk", 2 << 20) else { return };
    let store = Store::open(drive.path(), StoreOptions::default()).unwrap();
    let noise = |n: u64| -> String {
        (0..30_000_u64).map(|place| char::from(b'!' + ((place * place + n * place) % 89) as u8)).collect()
    };
    let mut recorded = Vec::new();
    let error = loop {
        match store.create_run(&new_run(super::alive(), json!(noise(recorded.len() as u64)))) {
            Ok(lease) => recorded.push(lease),
            Err(error) => break error,
        }
        assert!(recorded.len() < 1_000);
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("history.db"));
    // Small writes and big ones queued together: each for itself.
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (store, noise) = (&store, &noise);
            scope.spawn(move || match store.create_run(&new_run(super::alive(), json!(noise(n)))) {
                Ok(_) | Err(StoreError::Full { .. }) => {}
                Err(error) => panic!("{error:?}"),
            });
        }
    });
    for lease in &recorded {
        assert_eq!(store.show(lease.run()).unwrap().summary.status, RunStatus::Running);
    }
    // Room again, and it goes on.
    assert!(drive.mount("remount,size=64m", &[]));
    store.finish(&recorded[0], ends(RunStatus::Success, Some(json!("after")))).unwrap();
    drop(store);
    let store = Store::open(drive.path(), StoreOptions::default()).unwrap();
    assert_eq!(store.report(recorded[0].run()).unwrap().output, Some(json!("after")));
}

#[test]
fn a_read_only_drive_is_read_and_not_written() {
    let Some(drive) = Drive::new("read-only drive", 8 << 20) else { return };
    let store = Store::open(drive.path(), StoreOptions::default()).unwrap();
    let lease = store.create_run(&run()).unwrap();
    drop(store);
    assert!(drive.make_read_only(), "busy: something of the database is still open");
    let store = Store::open(drive.path(), StoreOptions::default()).unwrap();
    assert_eq!(store.list_runs(&RunFilter::default(), None, 9).unwrap().len(), 1);
    store.show(lease.run()).unwrap();
    let error = store.create_run(&run()).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    let none = Store::open(drive.path().with_file_name("new.db"), StoreOptions::default()).unwrap_err();
    assert!(matches!(none, StoreError::ReadOnly { .. }), "{none:?}");
}

#[test]
fn a_file_without_permission_is_unreadable() {
    let fixture = Fixture::new();
    let path = fixture.path();
    drop(fixture.store);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        println!("SKIPPED no permission: this user may read everything");
        return;
    }
    let error = Store::open(&path, StoreOptions { create: Create::Never, ..StoreOptions::default() }).unwrap_err();
    assert!(matches!(error, StoreError::Unreadable { .. }), "{error:?}");
}

#[test]
fn a_damaged_file_is_said_to_be_damaged() {
    let fixture = Fixture::new();
    for _ in 0..200 {
        fixture.store.create_run(&run()).unwrap();
    }
    fixture.raw().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let path = fixture.path();
    let whole = fs::read(&path).unwrap();
    drop(fixture.store);
    // Every page but the first is noise.
    let mut damaged = whole.clone();
    for (place, byte) in damaged.iter_mut().enumerate().skip(4_096) {
        *byte = (place * 7 % 251) as u8;
    }
    fs::write(&path, &damaged).unwrap();
    let error = Store::open(&path, fixture.options.clone())
        .and_then(|store| store.list_runs(&RunFilter::default(), None, 9).map(drop))
        .unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains("history.db"));

    // Cut off, and with single bytes turned: an error or an answer, never a panic.
    for place in (0..whole.len()).step_by(whole.len() / 60) {
        let mut turned = whole.clone();
        turned[place] ^= 0x55;
        for text in [&whole[..place], &turned] {
            fs::write(&path, text).unwrap();
            if let Ok(store) = Store::open(&path, fixture.options.clone()) {
                for run in store.list_runs(&RunFilter::default(), None, 300).unwrap_or_default() {
                    drop(store.show(&run.run_id));
                }
                drop(store.search_runs("main", &RunFilter::default(), None, 9));
                drop(store.create_run(&run()));
            }
            for suffix in ["-wal", "-shm"] {
                drop(fs::remove_file(crate::files::beside(&path, suffix)));
            }
        }
    }
}

#[test]
fn a_locked_database_names_who_holds_it() {
    let fixture = Fixture::new();
    let options = StoreOptions { patience: Duration::from_millis(50), ..fixture.options.clone() };
    let store = Store::open(fixture.path(), options).unwrap();
    let raw = fixture.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.create_run(&run()).unwrap_err();
    assert!(error.is_locked());
    let StoreError::Locked { holder, path } = &error else { panic!("{error:?}") };
    assert_eq!(path, &fixture.path());
    assert_eq!(*holder, Some(std::process::id()));
    assert!(error.to_string().contains(&format!("by process {}", std::process::id())), "{error}");
    // Reading goes on, and so does writing once the lock is gone.
    store.list_runs(&RunFilter::default(), None, 9).unwrap();
    raw.execute_batch("ROLLBACK").unwrap();
    store.create_run(&run()).unwrap();
}

#[test]
fn a_failing_statement_inside_a_run_takes_back_that_run_only() {
    let fixture = Fixture::new();
    fixture
        .raw()
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE INSERT ON stages WHEN NEW.at % 2 = 1 BEGIN SELECT raise(ABORT, 'no'); END",
        )
        .unwrap();
    fixture.clock.advance(1);
    assert!(matches!(fixture.store.create_run(&run()), Err(StoreError::Sql { .. })));
    fixture.clock.advance(1);
    let lease = fixture.store.create_run(&run()).unwrap();
    let runs = fixture.store.list_runs(&RunFilter::default(), None, 9).unwrap();
    assert_eq!(runs.iter().map(|run| &run.run_id).collect::<Vec<_>>(), [lease.run()]);
    assert_eq!(fixture.store.usage("proj1").unwrap().0, 1);
}

#[test]
fn what_must_survive_a_loss_of_power_is_synced_before_it_is_acknowledged() {
    // Observed from outside: SQLite tells how a connection commits, and the tiny commit that makes earlier ones safe
    // counts in `meta`.
    let fixture = Fixture::new();
    let synced = || -> i64 { fixture.raw().query_row("SELECT synced FROM meta", [], |row| row.get(0)).unwrap() };
    let level = |durability| {
        fixture
            .store
            .database
            .write(durability, |connection| {
                Ok(connection.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0))?)
            })
            .unwrap()
    };
    assert_eq!(level(crate::Durability::Process), 1);
    assert_eq!(level(crate::Durability::Power), 2);
    assert_eq!(level(crate::Durability::Process), 1);
    assert_eq!(synced(), 0);
    let since = std::time::Instant::now();
    assert_eq!(level(crate::Durability::Soon), 1);
    while synced() == 0 {
        assert!(since.elapsed() < Duration::from_secs(10), "never made safe");
        std::thread::yield_now();
    }
    let store = fixture.another();
    store.database.write(crate::Durability::Soon, |_| Ok(())).unwrap();
    let before = synced();
    store.database.write(crate::Durability::Soon, |_| Ok(())).unwrap();
    drop(store);
    assert!(synced() > before, "made safe at the end of the process, too");
}
