//! Boards that the window shows: opened once, and looked at while somebody may be looking.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use ::board::Board;
use api::{Answer, ApiError, BoardDesk, BoardRoom};
use model::{Origin, ProjectId};
use serde_json::{Map, Value};
use store::{Project, Store};

use crate::board::server::{BoardServer, Caller};

/// How often the files of a board are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// How long after the window last asked for a board its files are looked at.
const WATCHED: Duration = Duration::from_secs(600);

/// The boards of one profile.
#[derive(Clone)]
pub(super) struct Boards {
    store: Store,
    open: Arc<Mutex<HashMap<ProjectId, Opened>>>,
}

struct Opened {
    desk: Arc<Desk>,
    /// Of the configuration: another one is another board.
    config: Vec<Option<SystemTime>>,
    asked: Instant,
    mark: String,
}

impl Boards {
    /// Begins to look after boards, on a thread that ends with the last handle.
    pub(super) fn start(store: Store) -> std::io::Result<Self> {
        let boards = Self { store, open: Arc::default() };
        let (open, store) = (Arc::downgrade(&boards.open), boards.store.clone());
        std::thread::Builder::new().name("boards".into()).spawn(move || watch(&open, &store))?;
        Ok(boards)
    }

    /// Opens a project's board, or returns the one that is open.
    pub(super) fn room(&self, project: &Project) -> Answer<BoardRoom> {
        let config = config_of(&project.path);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get_mut(&project.id).filter(|opened| opened.config == config) {
            opened.asked = Instant::now();
            return Ok(Arc::clone(&opened.desk) as BoardRoom);
        }
        let server = crate::board::registered(project, self.store.clone()).map_err(ApiError::from)?;
        let desk = Arc::new(Desk { server });
        let opened = Opened { desk: Arc::clone(&desk), config, asked: Instant::now(), mark: String::new() };
        open.insert(project.id.clone(), opened);
        Ok(desk)
    }
}

/// When each file that can hold the configuration was last written.
fn config_of(root: &Path) -> Vec<Option<SystemTime>> {
    let files = ["project.config.mjs", "project.config.toml", "project.config.json", ".project/VERSION"];
    files.iter().map(|name| root.join(name).metadata().and_then(|meta| meta.modified()).ok()).collect()
}

/// Tells in the change feed when the files of a board have changed, whoever wrote them.
fn watch(open: &Weak<Mutex<HashMap<ProjectId, Opened>>>, store: &Store) {
    loop {
        std::thread::sleep(LOOK);
        let Some(open) = open.upgrade() else { return };
        let watched: Vec<(ProjectId, Arc<Desk>, String)> = open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter(|(_, opened)| opened.asked.elapsed() < WATCHED)
            .map(|(id, opened)| (id.clone(), Arc::clone(&opened.desk), opened.mark.clone()))
            .collect();
        for (id, desk, before) in watched {
            let mark = desk.server.board().mark();
            if mark == before {
                continue;
            }
            if let Some(opened) = open.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&id) {
                opened.mark = mark;
            }
            // The first look has nothing to tell.
            if !before.is_empty()
                && let Err(error) = store.touch_project(&id)
            {
                tracing::debug!(%error, "a change of a board could not be told");
            }
        }
    }
}

/// A board, and who acts on it at the window.
struct Desk {
    server: BoardServer,
}

impl BoardDesk for Desk {
    fn board(&self) -> &Board {
        self.server.board()
    }

    fn actor(&self) -> String {
        self.server.actor()
    }

    fn is_read_only(&self) -> bool {
        self.server.is_read_only()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Answer<Value> {
        let caller = Caller { origin: Origin::Desktop, client: None, fitted: false };
        Ok(self.server.tool(tool, arguments, &caller)?)
    }

    fn tick(&self, arguments: &Map<String, Value>) -> Answer<Value> {
        Ok(self.server.tick(arguments, Origin::Desktop)?)
    }
}

impl std::fmt::Debug for Boards {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Boards").finish_non_exhaustive()
    }
}
