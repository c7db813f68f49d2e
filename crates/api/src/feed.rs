//! The live feed: what other processes have written, told once, soon.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use model::RunId;
use store::{Changes, Store};

use crate::wire::StoreChanged;

/// How often the database is looked at while somebody sees the window.
const SEEN: Duration = Duration::from_millis(100);
/// And while nobody does.
const HIDDEN: Duration = Duration::from_secs(1);

/// More changed runs than this at once, and everything is read again.
const MOST: usize = 500;

/// Makes one message of many changes: each run and project once.
///
/// Lines of a log and nodes are news of their run only: a project's numbers do not change with them.
#[must_use]
pub fn coalesce(changes: &Changes) -> StoreChanged {
    let mut runs = BTreeSet::new();
    let mut projects = BTreeSet::new();
    let mut all = changes.gap;
    for change in &changes.items {
        runs.extend(change.run.as_ref().map(RunId::to_string));
        if !matches!(change.what.as_str(), "log" | "nodes") {
            projects.extend(change.project.clone());
        }
        // Settings are everybody's.
        all |= change.run.is_none() && change.project.is_none();
    }
    all |= runs.len() > MOST || projects.len() > MOST;
    if all {
        return StoreChanged { seq: changes.cursor, all, ..StoreChanged::default() };
    }
    StoreChanged {
        seq: changes.cursor,
        runs: runs.into_iter().collect(),
        projects: projects.into_iter().collect(),
        all,
    }
}

/// Watches a store on a thread of its own until it is dropped.
#[derive(Debug)]
pub struct Feed {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    hidden: Arc<AtomicBool>,
}

impl Feed {
    /// Begins to watch. `tell` is called on the feed's thread, at most ten times a second.
    ///
    /// # Errors
    ///
    /// The thread could not be started.
    pub fn start(store: Store, tell: impl FnMut(StoreChanged) + Send + 'static) -> std::io::Result<Self> {
        let hidden = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = channel();
        let seen = Arc::clone(&hidden);
        let thread =
            std::thread::Builder::new().name("live-feed".into()).spawn(move || watch(&store, &stopped, &seen, tell))?;
        Ok(Self { stop: Some(stop), thread: Some(thread), hidden })
    }

    /// Says whether somebody sees the window: looked at ten times a second, or once.
    pub fn set_hidden(&self, hidden: bool) {
        self.hidden.store(hidden, Ordering::Relaxed);
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn watch(store: &Store, stopped: &Receiver<()>, hidden: &AtomicBool, mut tell: impl FnMut(StoreChanged)) {
    let mut watch = None;
    let mut lost = false;
    loop {
        // Begun before the first pause: what is written in it is told.
        if watch.is_none() {
            match store.watch() {
                Ok(begun) => {
                    let seq = begun.cursor();
                    watch = Some(begun);
                    if std::mem::take(&mut lost) {
                        tell(StoreChanged { seq, all: true, ..StoreChanged::default() });
                    }
                }
                // Not there yet, or not readable for now: the commands say so.
                Err(_) => lost = true,
            }
        }
        // Steps of the shorter pause: a window that is shown again is not kept waiting.
        let mut waited = Duration::ZERO;
        while waited < if hidden.load(Ordering::Relaxed) { HIDDEN } else { SEEN } {
            match stopped.recv_timeout(SEEN) {
                Err(RecvTimeoutError::Timeout) => waited += SEEN,
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        match watch.as_mut().map(store::ChangeWatch::poll) {
            Some(Ok(Some(changes))) => tell(coalesce(&changes)),
            Some(Ok(None)) | None => {}
            Some(Err(error)) => {
                tracing::warn!(%error, "changes cannot be read");
                watch = None;
                lost = true;
            }
        }
    }
}
