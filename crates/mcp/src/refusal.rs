//! A server that can only say why it does not serve: from its start, or from when that turns out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::Family;
use crate::lines::{Line, Output};
use crate::message::{self, BadLine, INTERNAL_ERROR, Kind};

/// How long it stays after its first answer, for a client that asks again before it gives up.
const STAY: Duration = Duration::from_secs(10);

/// Whether a family has anything to serve: not known yet, or known with the reason why not.
#[derive(Debug, Clone)]
pub(crate) struct Verdict {
    known: watch::Receiver<Option<Option<Arc<str>>>>,
    leaving: Arc<AtomicBool>,
    gone: CancellationToken,
}

impl Verdict {
    /// Begins to find out. When there is nothing to serve, `gone` is raised ten seconds after the first answer that
    /// says so.
    pub(crate) fn of<F: Family>(family: &Arc<F>, gone: &CancellationToken) -> Self {
        let (sender, known) = watch::channel(None);
        let family = Arc::clone(family);
        tokio::spawn(async move {
            let reason = family.refusal().await;
            let _ = sender.send(Some(reason.map(Arc::from)));
        });
        Self { known, leaving: Arc::default(), gone: gone.clone() }
    }

    /// Waits until it is known.
    pub(crate) async fn known(&mut self) {
        // A family that cannot tell any more is asked for its tools, and says then what is wrong.
        let _ = self.known.wait_for(Option::is_some).await;
    }

    /// Why there is nothing to serve, if that is known.
    pub(crate) fn reason(&self) -> Option<Arc<str>> {
        self.known.borrow().clone().flatten()
    }

    /// The client was told that there is nothing.
    pub(crate) fn answered(&self) {
        if self.leaving.swap(true, Ordering::Relaxed) {
            return;
        }
        let gone = self.gone.clone();
        tokio::spawn(async move {
            tokio::time::sleep(STAY).await;
            gone.cancel();
        });
    }
}

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
