//! A server of guided workflows over HTTP, and what a client says to it, written by hand so that every byte of a request
//! can be wrong.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use process::BlockingChild;
use serde_json::Value;

use crate::environment::{Environment, executable};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Names and values.
type Headers = Vec<(String, String)>;

/// A server that was started in a test's home.
#[derive(Debug)]
pub struct HttpServer {
    child: BlockingChild,
    /// Its port.
    pub port: u16,
    /// What clients have to show.
    pub token: String,
    /// The line that it began with.
    pub said: String,
}

/// A response that came to its end.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: String,
}

/// A response whose body comes bit by bit.
#[derive(Debug)]
pub struct Stream {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    events: Receiver<(String, String)>,
    socket: TcpStream,
}

impl HttpServer {
    /// Starts `workflow-code` with these arguments, which make it serve over HTTP at a free port.
    ///
    /// # Panics
    ///
    /// When it does not begin to serve.
    #[must_use]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn start(environment: &Environment, arguments: &[&str]) -> Self {
        let all: Vec<&str> = arguments.iter().copied().chain(["--port", "0"]).collect();
        let mut child = environment.start(executable(), &all).unwrap_or_else(|error| panic!("it starts: {error}"));
        let errors = child.stderr.take().unwrap_or_else(|| panic!("no standard error"));
        let mut errors = BufReader::new(errors);
        let (mut said, mut line) = (String::new(), String::new());
        let port = loop {
            line.clear();
            let read = errors.read_line(&mut line);
            assert!(read.is_ok_and(|read| read > 0), "it ended before it served: {said}");
            said.push_str(&line);
            if let Some(rest) = line.split("http://127.0.0.1:").nth(1) {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                break digits.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
            }
        };
        // Somebody has to read on, or it would write into a full pipe.
        std::thread::spawn(move || io::copy(&mut errors, &mut io::sink()));
        let token = std::fs::read_to_string(environment.home().join(".workflow-code/http-token")).unwrap_or_default();
        Self { child, port, token: token.trim().to_owned(), said }
    }

    /// Returns its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the headers of a request that is let in.
    #[must_use]
    pub fn headers(&self) -> Vec<(String, String)> {
        [
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Authorization", format!("Bearer {}", self.token)),
            ("Content-Type", "application/json".into()),
            ("Accept", "application/json, text/event-stream".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// Sends a request and reads the response to its end.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn send(&self, method: &str, path: &str, headers: &[(String, String)], body: &str) -> Response {
        let answered = self.connect(method, path, headers, body).and_then(|(status, headers, mut reader)| {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes)?;
            Ok(Response { status, headers, body: String::from_utf8_lossy(&bytes).into_owned() })
        });
        answered.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request whose response is a stream of events.
    ///
    /// # Panics
    ///
    /// When there is none.
    #[must_use]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn stream(&self, path: &str, headers: &[(String, String)]) -> Stream {
        let (status, headers, reader) =
            self.connect("GET", path, headers, "").unwrap_or_else(|error| panic!("GET {path}: {error}"));
        let socket = reader.socket.get_ref().try_clone().unwrap_or_else(|error| panic!("{error}"));
        let (sender, events) = channel();
        std::thread::spawn(move || {
            let mut kind = String::new();
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                if let Some(text) = line.strip_prefix("event: ") {
                    text.clone_into(&mut kind);
                } else if let Some(data) = line.strip_prefix("data: ")
                    && sender.send((std::mem::take(&mut kind), data.to_owned())).is_err()
                {
                    return;
                }
            }
        });
        Stream { status, headers, events, socket }
    }

    fn connect(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &str,
    ) -> io::Result<(u16, Headers, BodyReader)> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port))?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        socket.write_all(format!("{head}\r\n{body}").as_bytes())?;
        BodyReader::open(BufReader::new(socket))
    }

    /// Waits until it has ended by itself; returns its exit code.
    ///
    /// # Panics
    ///
    /// When it has not after `most`.
    #[must_use]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn ends_within(&mut self, most: Duration) -> i32 {
        let deadline = Instant::now() + most;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return status.code().unwrap_or(-1);
            }
            if Instant::now() > deadline {
                panic!("it has not ended after {most:?}");
            }
            std::thread::park_timeout(Duration::from_millis(2));
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            process::tree::kill(self.child.id());
            let _ = self.child.wait();
        }
    }
}

impl Response {
    /// Returns a header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Returns the messages in the body: one JSON value, or the data of events.
    #[must_use]
    pub fn messages(&self) -> Vec<Value> {
        if let Ok(value) = serde_json::from_str(&self.body) {
            return vec![value];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|text| serde_json::from_str(text.trim()).ok()).collect()
    }
}

impl Stream {
    /// Waits for the next event; returns its kind and its data. `None` when the stream has ended.
    #[must_use]
    pub fn next(&self) -> Option<(String, String)> {
        self.events.recv_timeout(PATIENCE).ok()
    }

    /// Waits for the answer with this id.
    ///
    /// # Panics
    ///
    /// When the stream ends before.
    #[must_use]
    #[expect(clippy::panic, reason = "this is an assertion")]
    pub fn answer(&self, id: &Value) -> Value {
        loop {
            let (_, data) = self.next().unwrap_or_else(|| panic!("the stream ended before the answer to {id}"));
            let message: Value = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"));
            if message["id"] == *id {
                return message;
            }
        }
    }

    /// Ends the stream from this side.
    pub fn close(self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// A response's body, without the sizes that stand between its chunks.
#[derive(Debug)]
struct BodyReader {
    socket: BufReader<TcpStream>,
    chunked: bool,
    /// Bytes left in this chunk, or in the body.
    left: u64,
    ended: bool,
}

impl BodyReader {
    fn open(mut socket: BufReader<TcpStream>) -> io::Result<(u16, Headers, Self)> {
        let bad = |text: &str| io::Error::other(format!("no response: {text}"));
        let mut line = String::new();
        socket.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(|| bad(&line))?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            socket.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let chunked = header(&headers, "transfer-encoding") == Some("chunked");
        let left = header(&headers, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        Ok((status, headers, Self { socket, chunked, left, ended: false }))
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && self.chunked && !self.ended {
            let mut size = String::new();
            while size.trim().is_empty() {
                size.clear();
                if self.socket.read_line(&mut size)? == 0 {
                    return Ok(0);
                }
            }
            self.left = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            self.ended = self.left == 0;
        }
        if self.left == 0 {
            return Ok(0);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.socket.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left -= read as u64;
        Ok(read)
    }
}
