//! Boards that the window shows: opened once, and looked at while somebody may be looking.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use ::board::{Board, Workspace};
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
    open: Arc<Mutex<Open>>,
}

type Open = HashMap<ProjectId, Opened>;

struct Opened {
    desk: Arc<Desk>,
    /// Of the configuration: another one is another board.
    config: Vec<Option<SystemTime>>,
    asked: Instant,
}

impl Boards {
    /// No board is open yet.
    pub(super) fn new(store: Store) -> Self {
        Self { store, open: Arc::default() }
    }

    /// Opens a project's board, or returns the one that is open.
    pub(super) fn room(&self, project: &Project) -> Answer<BoardRoom> {
        let config = Workspace::config_times(&project.path);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = open.get_mut(&project.id).filter(|opened| opened.config == config) {
            opened.asked = Instant::now();
            return Ok(Arc::clone(&opened.desk) as BoardRoom);
        }
        let server = crate::board::registered(project, self.store.clone()).map_err(ApiError::from)?;
        let told = Mutex::new(server.board().mark());
        let desk = Arc::new(Desk { server, store: self.store.clone(), project: project.id.clone(), told });
        if open.is_empty() {
            let boards = Arc::downgrade(&self.open);
            std::thread::Builder::new()
                .name("boards".into())
                .spawn(move || watch(&boards))
                .map_err(|error| ApiError::internal(format!("a thread cannot be started: {error}")))?;
        }
        open.insert(project.id.clone(), Opened { desk: Arc::clone(&desk), config, asked: Instant::now() });
        Ok(desk)
    }
}

/// Tells when the files of a board have changed, whoever wrote them. Ends with the last handle.
fn watch(open: &Weak<Mutex<Open>>) {
    loop {
        std::thread::sleep(LOOK);
        let Some(open) = open.upgrade() else { return };
        let watched: Vec<Arc<Desk>> = open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .filter(|opened| opened.asked.elapsed() < WATCHED)
            .map(|opened| Arc::clone(&opened.desk))
            .collect();
        for desk in watched {
            if let Err(error) = desk.tell() {
                tracing::debug!(%error, "a change of a board could not be told");
            }
        }
    }
}

/// A board, and who acts on it at the window.
struct Desk {
    server: BoardServer,
    store: Store,
    project: ProjectId,
    /// The mark that the change feed knows of.
    told: Mutex<String>,
}

impl Desk {
    /// Tells in the change feed when the board has changed since it last did.
    fn tell(&self) -> store::Result<()> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = self.server.board().mark();
        if *told != mark {
            *told = mark;
            self.store.touch_project(&self.project)?;
        }
        Ok(())
    }
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
        let answer = self.server.tool(tool, arguments, &caller)?;
        if !BoardServer::only_reads(tool) {
            self.tell()?;
        }
        Ok(answer)
    }

    fn mend(&self, mending: ::board::Mending) -> Answer<()> {
        self.server.board().mend(mending, &self.server.actor())?;
        Ok(self.tell()?)
    }

    fn tick(&self, arguments: &Map<String, Value>) -> Answer<Value> {
        let answer = self.server.tick(arguments, Origin::Desktop)?;
        self.tell()?;
        Ok(answer)
    }
}

impl std::fmt::Debug for Boards {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Boards").finish_non_exhaustive()
    }
}
