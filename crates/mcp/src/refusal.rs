//! A server that can only say why it does not serve.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use crate::lines::{Line, Output};
use crate::message::{self, BadLine, INTERNAL_ERROR, Kind};

/// How long it stays after its first answer, for a client that asks again before it gives up.
const STAY: Duration = Duration::from_secs(10);

/// Answers every request with -32603 and `reason`, until the input ends or ten seconds after the first answer.
pub async fn serve(mut lines: mpsc::Receiver<Line>, output: Output, reason: &str, line_limit: usize, max_depth: usize) {
    let mut until: Option<tokio::time::Instant> = None;
    loop {
        let line = match until {
            None => lines.recv().await,
            Some(until) => tokio::time::timeout_at(until, lines.recv()).await.unwrap_or(None),
        };
        let read = match line {
            None => return,
            Some(Line::TooLong(beginning)) => Err(message::too_long(&beginning, line_limit)),
            Some(Line::Whole(line)) => message::read(&line, max_depth),
        };
        let answer = match read {
            Ok(Some(message)) if message.kind == Kind::Request => {
                until.get_or_insert_with(|| tokio::time::Instant::now() + STAY);
                refusal(message.id(), reason)
            }
            Ok(_) => continue,
            Err(bad) => bad,
        };
        if output.send(message::error_line(&answer)).await.is_err() {
            return;
        }
    }
}

fn refusal(id: Value, reason: &str) -> BadLine {
    BadLine { id, code: INTERNAL_ERROR, message: reason.to_owned() }
}
