//! A WebDriver client, over `WebKitWebDriver`: as much as is needed to use the real window as a person does.
//!
//! Whatever goes wrong here is a failed assertion: every function panics when what was asked for does not come.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

use crate::desktop::{Desktop, Part};
use serde_json::{Value, json};

/// How long one command of the protocol may take.
const COMMAND: Duration = Duration::from_secs(30);
/// How long a condition of the page may take to come true.
const PATIENCE: Duration = Duration::from_secs(20);

/// The key by which WebDriver marks an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A session with the window that the driver started.
pub struct Session {
    driver: Part,
    agent: ureq::Agent,
    base: String,
    said: Vec<String>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Session").field("base", &self.base).finish_non_exhaustive()
    }
}

/// An element of the page.
#[derive(Debug, Clone)]
pub struct Element(String);

impl Element {
    /// As an argument of a script.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ ELEMENT: self.0 })
    }
}

impl Session {
    /// Starts a driver, and the window through it.
    #[must_use]
    pub fn start(desktop: &mut Desktop, program: &Path, arguments: &[&str]) -> Self {
        // It goes to the driver, from where the window inherits it; without it no session ever opens.
        desktop.environment.set("TAURI_WEBVIEW_AUTOMATION", "true");
        // With this the page's console goes to standard output, which is the driver's.
        desktop.environment.set("RUST_LOG", "workflow_code_desktop=debug");
        let port = free_port();
        let driver = desktop.part("WebKitWebDriver", &[format!("--port={port}")]).unwrap();
        wait_until("the driver listens", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        let agent =
            ureq::Agent::config_builder().timeout_global(Some(COMMAND)).http_status_as_error(false).build().new_agent();
        let mut session = Self { driver, agent, base: format!("http://127.0.0.1:{port}/session"), said: Vec::new() };
        let options = json!({ "binary": program, "args": arguments });
        let opened =
            session.post("", &json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } }));
        let id =
            opened["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {opened}; {:?}", session.console()));
        session.base = format!("{}/{id}", session.base);
        session
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.base);
        let sent = self.agent.post(&url).content_type("application/json").send(body.to_string().as_bytes());
        let text = sent.and_then(|mut answer| answer.body_mut().read_to_string());
        let text = text.unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))["value"].take()
    }

    /// Runs a function body in the page and returns what it returns.
    #[track_caller]
    pub fn script(&self, body: &str, arguments: &Value) -> Value {
        let value = self.post("/execute/sync", &json!({ "script": body, "args": arguments }));
        assert!(value.get("error").is_none(), "{body}: {value}");
        value
    }

    /// As [`Self::script`], for a body that awaits.
    #[track_caller]
    pub fn script_async(&self, body: &str, arguments: &Value) -> Value {
        let body = format!(
            "const done = arguments[arguments.length - 1];\n\
             (async () => {{ {body} }})().then((value) => done({{ value }}), (error) => done({{ refused: error }}));"
        );
        let value = self.post("/execute/async", &json!({ "script": body, "args": arguments }));
        assert!(value.get("error").is_none(), "{body}: {value}");
        value
    }

    /// Finds elements by a CSS selector.
    #[must_use]
    pub fn all(&self, selector: &str) -> Vec<Element> {
        self.elements("css selector", selector)
    }

    fn elements(&self, using: &str, value: &str) -> Vec<Element> {
        let found = self.post("/elements", &json!({ "using": using, "value": value }));
        let found = found.as_array().cloned().unwrap_or_default();
        found.iter().filter_map(|one| one[ELEMENT].as_str().map(|id| Element(id.to_owned()))).collect()
    }

    /// Waits for an element.
    #[must_use]
    #[track_caller]
    pub fn find(&self, selector: &str) -> Element {
        wait_until(selector, || self.all(selector).into_iter().next())
    }

    /// Waits for an element of a role whose words begin with these.
    #[must_use]
    #[track_caller]
    pub fn named(&self, role: &str, words: &str) -> Element {
        let kind = if role == "button" { "self::button or @role='button'".into() } else { format!("@role='{role}'") };
        let path = format!("//*[{kind}][starts-with(normalize-space(.), '{words}')]");
        wait_until(&path, || self.elements("xpath", &path).into_iter().next())
    }

    /// Waits until the page's text has a part.
    #[track_caller]
    pub fn see(&self, part: &str) {
        wait_until(part, || self.text("body").contains(part).then_some(()));
    }

    /// The visible text of the first element of a selector; empty when there is none.
    #[must_use]
    pub fn text(&self, selector: &str) -> String {
        let body = "return document.querySelector(arguments[0])?.innerText ?? '';";
        self.script(body, &json!([selector])).as_str().unwrap_or_default().to_owned()
    }

    /// Clicks as a person does: into the middle of what can be seen.
    #[track_caller]
    pub fn click(&self, element: &Element) {
        let answer = self.post(&format!("/element/{}/click", element.0), &json!({}));
        assert!(answer.is_null(), "{answer}");
    }

    /// Types into an element.
    #[track_caller]
    pub fn keys(&self, element: &Element, text: &str) {
        let answer = self.post(&format!("/element/{}/value", element.0), &json!({ "text": text }));
        assert!(answer.is_null(), "{answer}");
    }

    /// Goes to a view.
    pub fn go(&self, address: &str) {
        self.script("location.hash = arguments[0];", &json!([address]));
    }

    /// What the page wrote to its console by now, and what the window said.
    pub fn console(&mut self) -> &[String] {
        loop {
            match self.driver.lines.try_recv() {
                Ok(line) => self.said.push(line),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return &self.said,
            }
        }
    }

    /// Asserts that the page has complained of nothing: no error, no warning, nothing that its policy refused.
    #[track_caller]
    pub fn assert_quiet(&mut self) {
        let loud = |line: &&String| {
            line.contains("CONSOLE") && (line.contains("ERROR") || line.contains(" WARN") || line.contains("SECURITY"))
        };
        let found: Vec<&String> = self.console().iter().filter(loud).collect();
        assert!(found.is_empty(), "the page complained: {found:#?}");
    }

    /// Closes the window as the driver does, and ends the driver.
    pub fn close(mut self) {
        self.assert_quiet();
        let ended = self.agent.delete(&self.base).call();
        assert!(ended.is_ok(), "{ended:?}");
    }
}

/// Waits for a condition.
#[track_caller]
pub fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        std::thread::park_timeout(Duration::from_millis(25));
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).unwrap().port()
}
