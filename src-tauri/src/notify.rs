//! Notifications of the desktop, shown while the window is not in front; a click brings it there, at the run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use api::ApiError;
use notify_rust::Notification;
use serde::Deserialize;
use serde_json::Value;
use tauri::WebviewWindow;

use crate::{address, window};

/// What to show.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    title: String,
    body: String,
    run: String,
}

/// Notifications that wait for a click at one time; each costs a thread. Further ones are shown without it.
const MOST_WAITING: usize = 16;
/// The longest title and body, in characters.
const MOST_TITLE: usize = 120;
const MOST_BODY: usize = 400;

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Shows a notification, unless the window is in front.
pub(crate) fn show(window: &WebviewWindow, message: Message) -> Result<Value, ApiError> {
    let target =
        address::checked(&format!("run/{}", message.run)).ok_or_else(|| ApiError::invalid("`run` is no run's id"))?;
    if window.is_focused().unwrap_or_default() {
        return Ok(Value::Null);
    }
    let notification = Notification::new()
        .appname("Workflow Code")
        .icon("workflow-code")
        .summary(&cut(&message.title, MOST_TITLE))
        .body(&without_markup(&cut(&message.body, MOST_BODY)))
        .action("default", "default")
        .finalize();
    let app = tauri::Manager::app_handle(window).clone();
    thread::spawn(move || {
        // A desktop without notifications is no fault: the page shows the same.
        let shown = match notification.show() {
            Ok(shown) => shown,
            Err(error) => return tracing::debug!(%error, "no notification was shown"),
        };
        if WAITING.fetch_add(1, Ordering::Relaxed) < MOST_WAITING {
            shown.wait_for_action(|action| {
                if action == "default" {
                    window::show(&app, Some(target.clone()));
                }
            });
        }
        WAITING.fetch_sub(1, Ordering::Relaxed);
    });
    Ok(Value::Null)
}

fn cut(text: &str, most: usize) -> String {
    let mut text: String = text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Desktops read a body as markup with links and pictures; what a run says is text.
fn without_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_says_is_short_plain_text() {
        assert_eq!(without_markup(&cut("a <b>&\n\u{1b}[1m", 40)), "a &lt;b&gt;&amp;  [1m");
        assert_eq!(cut("äöü€", 2), "äö…");
    }
}
