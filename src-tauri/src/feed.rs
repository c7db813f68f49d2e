//! Tells the page what changed in the store, whoever wrote it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tauri::{AppHandle, Emitter, Manager};

use crate::backend::Backend;
use crate::window;

/// Between two looks while a person can see the window; a look costs some 5 µs.
const VISIBLE: Duration = Duration::from_millis(40);
/// Between two looks while nobody can.
const HIDDEN: Duration = Duration::from_secs(1);
/// Between two questions whether the window can be seen.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// The event that the page hears.
const EVENT: &str = "store-changed";

/// Whether somebody can see the window; set when it comes to the front, so that nobody looks at old rows.
#[derive(Debug, Default)]
pub(crate) struct Seen(AtomicBool);

impl Seen {
    /// Says whether somebody can.
    pub(crate) fn set(&self, seen: bool) {
        self.0.store(seen, Ordering::Relaxed);
    }
}

/// Starts the watching thread. It ends with the process.
pub(crate) fn start(app: AppHandle) {
    thread::Builder::new()
        .name("feed".into())
        .spawn(move || watch(&app))
        .map_or_else(|error| tracing::error!(%error, "changes cannot be watched: no thread could be started"), drop);
}

fn watch(app: &AppHandle) {
    let backend = app.state::<Backend>();
    let mut watch = None;
    let mut asked = Instant::now();
    loop {
        let seen = app.state::<Seen>();
        if asked.elapsed() > ASK_EVERY {
            asked = Instant::now();
            seen.set(window::is_visible(app));
        }
        // A store that cannot be read now may be there again later; every request says meanwhile why it is not.
        let polled = match &mut watch {
            Some(watch) => backend.changes(watch),
            None => backend.watch().map(|begun| {
                watch = Some(begun);
                None
            }),
        };
        match polled {
            Ok(Some(change)) => {
                if let Err(error) = app.emit_to(window::LABEL, EVENT, change) {
                    tracing::debug!(%error, "the page could not be told of a change");
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::debug!(%error, "the change feed cannot be read");
                watch = None;
                thread::park_timeout(HIDDEN);
            }
        }
        thread::park_timeout(if seen.0.load(Ordering::Relaxed) { VISIBLE } else { HIDDEN });
    }
}
