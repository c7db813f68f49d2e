//! Notifications, as a desktop sees them: when they come, what is in them, and what a click does.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use serde_json::json;
use workflow_code_tests::{Desktop, Session, desktop_executable, wait_until};
use zbus::blocking::{Connection, connection};
use zbus::zvariant::OwnedValue;

use crate::{desktop, project};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// What was shown: title and body.
type Shown = (String, String);

/// The desktop's side, as the specification of notifications has it.
struct Notifications(Sender<Shown>);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Notifications {
    fn get_capabilities(&self) -> Vec<String> {
        vec!["actions".into(), "body".into()]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("tests".into(), "tests".into(), "1".into(), "1.2".into())
    }

    #[expect(clippy::too_many_arguments, reason = "the specification has them")]
    fn notify(
        &self,
        _application: String,
        _replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        _actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _expires: i32,
    ) -> u32 {
        self.0.send((summary, body)).unwrap();
        1
    }

    fn close_notification(&self, _id: u32) {}
}

fn notifications(desktop: &Desktop) -> (Connection, Receiver<Shown>) {
    let (sender, shown) = channel();
    let bus = connection::Builder::address(desktop.bus()).unwrap();
    let bus = bus.name(NAME).unwrap().serve_at(PATH, Notifications(sender)).unwrap().build().unwrap();
    (bus, shown)
}

#[test]
fn a_notification_comes_while_nobody_looks_and_its_click_goes_to_the_run() {
    let mut desktop = desktop();
    let (bus, shown) = notifications(&desktop);
    let (id, _) = project::register(&desktop.environment);
    let run = project::report(&desktop.environment, &id, "2026-11-30");
    let session = Session::start(&mut desktop, &desktop_executable(), &[]);
    let _ = session.find("main section");
    let focused = || session.script("return document.hasFocus();", &json!([])) == json!(true);
    wait_until("the window to be in front", || focused().then_some(()));
    let body = "return await window.__TAURI_INTERNALS__.invoke('rpc', { name: 'host_notify', request: arguments[0] });";
    let message = json!({ "title": "Weekly report failed", "body": "<b>at</b> step & phase", "run": run });
    let answered = session.script_async(body, &json!([message]));
    assert!(answered.get("refused").is_none(), "{answered}");
    assert_eq!(shown.recv_timeout(Duration::from_millis(500)), Err(RecvTimeoutError::Timeout), "it is in front");
    // Another window takes the keyboard.
    let other = desktop.part("xev", &["-geometry", "200x200+0+0"]).unwrap();
    wait_until("the window to be behind", || (!focused()).then_some(()));
    session.script_async(body, &json!([message]));
    let (title, text) = shown.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!((title.as_str(), text.as_str()), ("Weekly report failed", "&lt;b&gt;at&lt;/b&gt; step &amp; phase"));
    bus.emit_signal(None::<&str>, PATH, NAME, "ActionInvoked", &(1_u32, "default")).unwrap();
    wait_until("the window to show the run", || {
        let here = session.script("return location.hash;", &json!([]));
        here.as_str().is_some_and(|hash| hash.contains(&run)).then_some(())
    });
    drop(other);
    session.close();
    drop(bus);
    desktop.environment.assert_nothing_left();
}
