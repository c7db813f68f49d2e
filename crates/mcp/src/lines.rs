//! The protocol's descriptors: one thread that reads lines, one that writes them.
//!
//! A blocking read cannot be cancelled, so neither thread is ever waited for without a limit: whoever is done leaves
//! with `exit`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A whole line without its end.
    Whole(Vec<u8>),
    /// The beginning of a line that is longer than allowed; the rest was read and dropped.
    TooLong(Vec<u8>),
}

/// How much of a line that is too long is kept, to find its request id in.
const BEGINNING: usize = 64 * 1024;

/// Lines waiting to be handled; past it the reader waits, and then the peer's pipe is full.
const WAITING_LINES: usize = 64;

/// Messages waiting to be written; past it senders wait.
const WAITING_MESSAGES: usize = 256;

/// How long a peer that has closed its end may keep us from seeing it, because it does not read what is still to be
/// written. An opening waits for a second at most, and must not be taken for this.
const STUCK: Duration = Duration::from_millis(1_500);

/// Starts reading lines of at most `limit` bytes from `input`. The channel closes at the end of input. Raises `gone`
/// when the input has ended and nobody gets round to the channel, since what came before cannot be answered.
///
/// # Errors
///
/// When no thread can be started.
pub fn read(input: File, limit: usize, gone: CancellationToken) -> io::Result<mpsc::Receiver<Line>> {
    let (sender, receiver) = mpsc::channel(WAITING_LINES);
    std::thread::Builder::new().name("protocol-input".into()).stack_size(128 * 1024).spawn(move || {
        let mut input = BufReader::with_capacity(64 * 1024, input);
        while let Ok(Some(line)) = next_line(&mut input, limit) {
            if !hand_over(&sender, line, input.get_ref(), &gone) {
                return;
            }
        }
        drop(sender);
        let ended = Instant::now();
        while !gone.is_cancelled() {
            if ended.elapsed() > STUCK {
                gone.cancel();
            }
            std::thread::park_timeout(Duration::from_millis(10));
        }
    })?;
    Ok(receiver)
}

/// Waits for room and hands a line over; false when nobody wants it any more.
fn hand_over(sender: &mpsc::Sender<Line>, mut line: Line, input: &File, gone: &CancellationToken) -> bool {
    let began = Instant::now();
    loop {
        line = match sender.try_send(line) {
            Ok(()) => return true,
            Err(mpsc::error::TrySendError::Closed(_)) => return false,
            Err(mpsc::error::TrySendError::Full(line)) => line,
        };
        let waited = began.elapsed();
        if waited > STUCK && process::standard_streams::hung_up(input) {
            gone.cancel();
            return false;
        }
        std::thread::park_timeout(if waited < STUCK / 10 {
            Duration::from_micros(200)
        } else {
            Duration::from_millis(10)
        });
    }
}

/// Reads one line; `None` at the end. A last line without an end counts.
pub(crate) fn next_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    if input.take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(Line::Whole(line)));
    }
    if line.len() <= limit {
        return Ok(Some(Line::Whole(line)));
    }
    line.truncate(BEGINNING);
    line.shrink_to_fit();
    loop {
        let (used, done) = {
            let buffer = input.fill_buf()?;
            match buffer.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (buffer.len(), buffer.is_empty()),
            }
        };
        input.consume(used);
        if done {
            return Ok(Some(Line::TooLong(line)));
        }
    }
}

/// The one writer of the protocol's output. Cloned freely; lines come out whole and in the order they were sent.
#[derive(Debug, Clone)]
pub struct Output {
    sender: mpsc::Sender<Vec<u8>>,
    done: Arc<AtomicBool>,
}

/// Keeps the writing thread, to wait for what is still to be written.
#[derive(Debug)]
pub struct OutputThread {
    thread: JoinHandle<()>,
    done: Arc<AtomicBool>,
}

/// The peer does not read any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client does not read any more")]
pub struct OutputClosed;

/// Starts writing to `output`. A write that fails (the peer closed its end) raises `gone`.
///
/// # Errors
///
/// When no thread can be started.
pub fn write(output: File, gone: CancellationToken) -> io::Result<(Output, OutputThread)> {
    let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(WAITING_MESSAGES);
    let done = Arc::new(AtomicBool::new(false));
    let finished = Arc::clone(&done);
    let mut output = output;
    let thread =
        std::thread::Builder::new().name("protocol-output".into()).stack_size(128 * 1024).spawn(move || {
            while let Some(line) = receiver.blocking_recv() {
                if let Err(error) = output.write_all(&line) {
                    tracing::debug!(%error, "the client does not read any more");
                    gone.cancel();
                    break;
                }
            }
            finished.store(true, Ordering::Release);
        })?;
    Ok((Output { sender, done: Arc::clone(&done) }, OutputThread { thread, done }))
}

/// Makes an output whose lines somebody in this process takes. Whoever drops the receiver raises `gone` of the connection.
pub(crate) fn in_memory() -> (Output, mpsc::Receiver<Vec<u8>>) {
    let (sender, receiver) = mpsc::channel(WAITING_MESSAGES);
    (Output { sender, done: Arc::default() }, receiver)
}

impl Output {
    /// Waits until there is room for a message, behind all that are being sent. Whoever takes requests in asks first,
    /// so that a peer that asks and does not read fills its pipe and not our memory.
    ///
    /// # Errors
    ///
    /// When the peer does not read any more.
    pub async fn room(&self) -> Result<(), OutputClosed> {
        self.sender.reserve().await.map(drop).map_err(|_| OutputClosed)
    }

    /// Sends a message; `line` is compact JSON without an end of line.
    ///
    /// # Errors
    ///
    /// When the peer does not read any more.
    pub async fn send(&self, mut line: Vec<u8>) -> Result<(), OutputClosed> {
        line.push(b'\n');
        if self.done.load(Ordering::Acquire) {
            return Err(OutputClosed);
        }
        self.sender.send(line).await.map_err(|_| OutputClosed)
    }
}

impl OutputThread {
    /// Waits until everything sent is written, `most` at most. All [`Output`]s must be dropped before.
    pub fn finish(self, most: Duration) {
        let started = Instant::now();
        while !self.done.load(Ordering::Acquire) && started.elapsed() < most {
            std::thread::park_timeout(Duration::from_micros(200));
        }
        if self.done.load(Ordering::Acquire) {
            // It has nothing left to do but return.
            let _ = self.thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> (File, File) {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        (File::from(std::os::fd::OwnedFd::from(reader)), File::from(std::os::fd::OwnedFd::from(writer)))
    }

    fn wait_until_cancelled(token: &CancellationToken) {
        let began = Instant::now();
        while !token.is_cancelled() {
            assert!(began.elapsed() < Duration::from_secs(20), "nobody noticed the end");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_end_is_told_though_nobody_takes_the_lines() {
        for count in [0, 1, WAITING_LINES * 4] {
            let (reader, mut writer) = pipe();
            let gone = CancellationToken::new();
            let lines = read(reader, 100, gone.clone()).expect("a thread");
            writer.write_all(&b"line\n".repeat(count)).expect("a pipe takes this much");
            assert!(!gone.is_cancelled());
            drop(writer);
            wait_until_cancelled(&gone);
            drop(lines);
        }
    }

    #[test]
    fn a_slow_taker_gets_every_line_in_order() {
        let (reader, mut writer) = pipe();
        let gone = CancellationToken::new();
        let mut lines = read(reader, 100, gone.clone()).expect("a thread");
        let sender = std::thread::spawn(move || {
            for number in 0..1_000 {
                writeln!(writer, "{number}").expect("it is read");
            }
        });
        for number in 0..1_000 {
            let line = lines.blocking_recv().expect("a line");
            assert_eq!(line, Line::Whole(number.to_string().into_bytes()));
        }
        assert_eq!(lines.blocking_recv(), None);
        sender.join().expect("it has written all");
        assert!(!gone.is_cancelled(), "whoever reads on learns of the end by reading");
        gone.cancel();
    }

    fn lines(text: &[u8], limit: usize) -> Vec<Line> {
        let mut input = BufReader::with_capacity(4, text);
        std::iter::from_fn(|| next_line(&mut input, limit).expect("memory reads")).collect()
    }

    #[test]
    fn lines_up_to_the_limit_are_whole() {
        assert_eq!(
            lines(b"abcd\n\nxy", 4),
            [Line::Whole(b"abcd".to_vec()), Line::Whole(Vec::new()), Line::Whole(b"xy".to_vec())]
        );
    }

    #[test]
    fn a_longer_line_is_dropped_to_its_end_and_the_next_one_is_read() {
        assert_eq!(lines(b"abcdefghij\nok\n", 4), [Line::TooLong(b"abcde".to_vec()), Line::Whole(b"ok".to_vec())]);
        assert_eq!(lines(b"abcdefghij", 4), [Line::TooLong(b"abcde".to_vec())]);
    }
}
