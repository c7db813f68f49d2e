//! Tells the page what changed in the store, whoever wrote it.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use api::Feed;
use launcher::desktop::Desktop;
use tauri::{AppHandle, Emitter, Manager};

use crate::window;

/// The event that the page hears.
const EVENT: &str = "store-changed";

/// Between two questions whether the window can be seen.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// The feed, once it has begun.
#[derive(Debug, Default)]
pub(crate) struct Watching(Mutex<Option<Feed>>);

impl Watching {
    /// Says whether somebody sees the window: the store is looked at less often while nobody does.
    pub(crate) fn set_seen(&self, seen: bool) {
        if let Some(feed) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            feed.set_hidden(!seen);
        }
    }
}

/// Begins to watch. Ends with the process.
pub(crate) fn start(app: &AppHandle) -> std::io::Result<()> {
    let told = app.clone();
    let feed = Feed::start(app.state::<Desktop>().api.store().clone(), move |change| {
        if let Err(error) = told.emit_to(window::LABEL, EVENT, change) {
            tracing::debug!(%error, "the page could not be told of a change");
        }
    })?;
    *app.state::<Watching>().0.lock().unwrap_or_else(PoisonError::into_inner) = Some(feed);
    // Not every desktop tells a window that it was minimised.
    let app = app.clone();
    thread::Builder::new().name("seen".into()).spawn(move || {
        loop {
            thread::park_timeout(ASK_EVERY);
            app.state::<Watching>().set_seen(window::is_visible(&app));
        }
    })?;
    Ok(())
}
