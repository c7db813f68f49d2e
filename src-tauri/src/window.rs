//! The one window: opened, brought to the front, sent to a view, and what happens to it.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use launcher::desktop::Desktop;
use tauri::utils::config::Color;
use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, DragDropEvent, Emitter, Manager, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
};

use crate::feed::Watching;
use crate::offered::Picked;

/// The window's name in the capabilities.
pub(crate) const LABEL: &str = "main";

const TITLE: &str = "Workflow Code";
/// In CSS pixels: what the views are designed for, and what they still fit into.
const SIZE: (f64, f64) = (1280.0, 820.0);
const LEAST: (f64, f64) = (720.0, 520.0);
/// Shown until the page has painted: the page's own ground.
const PAPER: Color = Color(250, 249, 247, 255);

/// Where the page shall go when it is there, and whether it is.
#[derive(Debug)]
pub(crate) struct Page {
    state: Mutex<PageState>,
    started: Instant,
}

#[derive(Debug)]
enum PageState {
    /// It is loading; this is where it shall begin.
    Loading(Option<String>),
    /// It listens.
    Ready,
}

impl Page {
    /// Of a process that began at `started`, with the view it was asked for.
    pub(crate) fn new(started: Instant, address: Option<String>) -> Self {
        Self { state: Mutex::new(PageState::Loading(address)), started }
    }
}

/// Opens the window, or brings it to the front; with an address it goes there.
pub(crate) fn show(app: &AppHandle, address: Option<String>) {
    let opened = match app.get_webview_window(LABEL) {
        Some(window) => {
            if let Some(address) = address {
                go(&window, address);
            }
            window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus())
        }
        None => {
            *app.state::<Page>().state.lock().unwrap_or_else(PoisonError::into_inner) = PageState::Loading(address);
            // The window's thread makes windows; here we may be on any other.
            let handle = app.clone();
            app.run_on_main_thread(move || {
                if let Err(error) = open(&handle) {
                    tracing::error!(%error, "the window could not be opened");
                }
            })
        }
    };
    if let Err(error) = opened {
        tracing::warn!(%error, "the window could not be brought to the front");
    }
}

fn go(window: &WebviewWindow, address: String) {
    let page = window.state::<Page>();
    let mut state = page.state.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut *state {
        PageState::Loading(wanted) => *wanted = Some(address),
        PageState::Ready => {
            if let Err(error) = window.emit_to(LABEL, "navigate", address) {
                tracing::warn!(%error, "the page could not be sent to a view");
            }
        }
    }
}

/// The page listens and has painted: returns the view it was asked for.
pub(crate) fn page_is_ready(window: &WebviewWindow) -> Option<String> {
    let page = window.state::<Page>();
    let mut state = page.state.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::replace(&mut *state, PageState::Ready) {
        PageState::Loading(address) => {
            tracing::info!(milliseconds = page.started.elapsed().as_millis(), "first paint");
            address
        }
        PageState::Ready => None,
    }
}

/// Opens the window. Only on the window's thread.
pub(crate) fn open(app: &AppHandle) -> tauri::Result<()> {
    let window = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::default())
        .title(TITLE)
        .inner_size(SIZE.0, SIZE.1)
        .min_inner_size(LEAST.0, LEAST.1)
        .background_color(PAPER)
        .data_directory(app.state::<Desktop>().data_dir().join("webview"))
        .devtools(cfg!(debug_assertions))
        .on_navigation(is_own)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .build()?;
    if tracing::enabled!(tracing::Level::DEBUG) {
        tell_console(&window)?;
    }
    app.state::<Watching>().set_seen(true);
    let handle = app.clone();
    window.on_window_event(move |event| happened(&handle, event));
    Ok(())
}

/// Writes what the page says on its console to standard output: the only way to see a page that does not come up.
#[cfg(target_os = "linux")]
fn tell_console(window: &WebviewWindow) -> tauri::Result<()> {
    use webkit2gtk::{SettingsExt, WebViewExt};
    window.with_webview(|view| {
        if let Some(settings) = view.inner().settings() {
            settings.set_enable_write_console_messages_to_stdout(true);
        }
    })
}

#[cfg(not(target_os = "linux"))]
fn tell_console(_: &WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

/// Only the page itself is ever shown.
fn is_own(url: &Url) -> bool {
    matches!((url.scheme(), url.host_str()), ("tauri", Some("localhost")) | ("http" | "https", Some("tauri.localhost")))
}

fn happened(app: &AppHandle, event: &WindowEvent) {
    let told = match event {
        WindowEvent::Focused(true) => {
            app.state::<Watching>().set_seen(true);
            Ok(())
        }
        WindowEvent::DragDrop(DragDropEvent::Enter { .. }) => app.emit_to(LABEL, "files-over", true),
        WindowEvent::DragDrop(DragDropEvent::Leave) => app.emit_to(LABEL, "files-over", false),
        WindowEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
            for folder in paths.iter().filter(|path| path.is_dir()) {
                app.state::<Picked>().note_folder(folder);
            }
            app.emit_to(LABEL, "files-over", false).and_then(|()| app.emit_to(LABEL, "files-dropped", paths))
        }
        _ => Ok(()),
    };
    if let Err(error) = told {
        tracing::debug!(%error, "the page could not be told what happened to its window");
    }
}

/// Tells whether a person can see the window.
pub(crate) fn is_visible(app: &AppHandle) -> bool {
    app.get_webview_window(LABEL)
        .is_some_and(|window| window.is_visible().unwrap_or(true) && !window.is_minimized().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_shows_nothing_but_its_own_page() {
        for own in ["tauri://localhost", "tauri://localhost/index.html#/run/1", "http://tauri.localhost/"] {
            assert!(is_own(&own.parse().unwrap()), "{own}");
        }
        for foreign in
            ["https://example.com", "http://localhost/", "file:///etc/passwd", "data:text/html,hi", "about:blank"]
        {
            assert!(!is_own(&foreign.parse().unwrap()), "{foreign}");
        }
    }
}
