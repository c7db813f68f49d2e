//! A chat-completions server for tests: a real socket, and answers that follow from what is asked.
//!
//! The first word of the conversation's first message from the user says what happens: `busy` (overloaded once), `down`
//! (always), `broken` (the first connection is dropped), `long` (cut at its length), `refuse`, `denied` (401), `odd` (no JSON), `vote` (a
//! result that fits only when it is asked for again), `hang` (never), and anything else `did WORD`.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method and path.
    pub line: String,
    /// Header fields, their names in small letters.
    pub headers: HashMap<String, String>,
    /// The body.
    pub body: Value,
}

/// The server. It ends with the process of the test.
#[derive(Debug, Clone)]
pub struct ChatServer {
    /// Its address, `http://127.0.0.1:PORT`.
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Clients that went away while they waited for an answer.
    gone: Arc<AtomicUsize>,
}

impl ChatServer {
    /// Starts a server on a port of its own.
    ///
    /// # Errors
    ///
    /// When there is no port to be had.
    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let server =
            Self { url: format!("http://{}", listener.local_addr()?), asked: Arc::default(), gone: Arc::default() };
        let own = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let server = own.clone();
                std::thread::spawn(move || server.serve(stream));
            }
        });
        Ok(server)
    }

    /// What was asked so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many clients went away while they waited.
    #[must_use]
    pub fn gone(&self) -> usize {
        self.gone.load(Ordering::SeqCst)
    }

    fn serve(&self, stream: TcpStream) {
        let Ok(mut writer) = stream.try_clone() else { return };
        let mut reader = BufReader::new(stream);
        let Some(asked) = read(&mut reader) else { return };
        let word = asked
            .body
            .pointer("/messages/0/content")
            .and_then(Value::as_str)
            .and_then(|text| text.split_whitespace().next())
            .unwrap_or_default()
            .to_owned();
        let messages = asked.body["messages"].as_array().map_or(0, Vec::len);
        let before = {
            let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let same = |one: &&Asked| one.body["messages"][0] == asked.body["messages"][0];
            let before = all.iter().filter(same).count();
            all.push(asked);
            before
        };
        let (status, body) = match (word.as_str(), before) {
            ("busy", 0) => (429, json!({"error": {"message": "slow down"}})),
            ("down", _) => (503, json!({"error": {"message": "come back later"}})),
            ("broken", 0) => return,
            ("denied", _) => (401, json!({"error": {"message": "no such key"}})),
            ("long", _) => (200, choice("length", "did lo")),
            ("refuse", _) => (200, choice("content_filter", "")),
            ("odd", _) => (200, json!("no object")),
            ("vote", _) if messages == 1 => (200, choice("stop", r#"{"yes": "perhaps"}"#)),
            ("vote", _) => (200, choice("stop", r#"{"yes": true}"#)),
            ("hang", _) => {
                // Whoever waits says no more: the end of what it says is its end.
                let _ = reader.read(&mut [0; 1]);
                self.gone.fetch_add(1, Ordering::SeqCst);
                return;
            }
            (word, _) => (200, choice("stop", &format!("did {word}"))),
        };
        let body = body.to_string();
        let _ = write!(
            writer,
            "HTTP/1.1 {status} Answer\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: 0\r\n\
             connection: close\r\n\r\n{body}",
            body.len()
        );
    }
}

fn choice(finish: &str, text: &str) -> Value {
    json!({
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3},
    })
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = HashMap::new();
    loop {
        let mut field = String::new();
        reader.read_line(&mut field).ok()?;
        let Some((name, value)) = field.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length: usize = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length.min(1 << 24)];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line: line.trim_end().to_owned(), headers, body: serde_json::from_slice(&body).ok()? })
}
