//! Tests of the whole store on real files.

mod data;
mod family;
mod interactions;
mod journal;
mod lists;
mod logs;
mod masking;
mod opening;
mod processes;
mod registry;
mod retention;
mod runs;
mod trouble;

use std::path::PathBuf;
use std::sync::Arc;

use ::model::{ClientInfo, LaunchOptions, ManualClock, Origin, SeededIds};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{FirstStatus, NewRun, Owner, RunProject, Sealer, Store, StoreOptions};

/// 2026-08-28 in the morning.
pub(crate) const START: i64 = 1_787_900_000_000;

/// A store in a folder of its own, with a clock that stands still and owners that live while a test says so.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) options: StoreOptions,
    pub(crate) folder: TempDir,
}

/// Owners with an odd start are dead.
pub(crate) fn dead() -> Owner {
    Owner { pid: 4711, start: 1, boot: "boot".into() }
}

pub(crate) fn alive() -> Owner {
    Owner { pid: 4712, start: 2, boot: "boot".into() }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let options = StoreOptions {
            clock: clock.clone(),
            ids: Arc::new(SeededIds::new(7)),
            is_alive: Arc::new(|owner| owner.start % 2 == 0),
            ..StoreOptions::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("history.db"), options.clone()).unwrap();
        Self { store, clock, options, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.store.path().to_owned()
    }

    /// The same database, as another process opens it.
    pub(crate) fn another(&self) -> Store {
        Store::open(self.path(), self.options.clone()).unwrap()
    }

    /// A connection of another program.
    #[expect(clippy::disallowed_methods, reason = "plays a foreign program")]
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.path()).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
        connection
    }
}

pub(crate) fn new_run(owner: Owner, input: Value) -> NewRun {
    NewRun {
        project: RunProject {
            id: "proj1".parse().ok(),
            uuid: Some("11111111-1111-4111-8111-111111111111".into()),
            title: "Weekly".into(),
            path: "/home/me/weekly".into(),
        },
        entrypoint_id: "main".parse().unwrap(),
        entrypoint_title: "Main".into(),
        origin: Origin::Mcp,
        client: Some(ClientInfo { name: "cursor".into(), version: "1.2".into(), protocol: "2025-11-25".into() }),
        input,
        cli_args: vec!["--week".into(), "35".into()],
        parent: None,
        owner,
        launch: LaunchOptions { allow_exec: vec!["git status*".into()], ..LaunchOptions::default() },
        status: FirstStatus::Running,
    }
}

pub(crate) fn run() -> NewRun {
    new_run(alive(), json!({ "week": 35 }))
}

/// Seals by turning bits over: enough to see that a text does not lie readable in the file.
pub(crate) struct Flip;

impl Sealer for Flip {
    fn seal(&self, plain: &[u8]) -> Vec<u8> {
        plain.iter().map(|byte| byte ^ 0xa5).collect()
    }

    fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        Some(self.seal(sealed))
    }
}
