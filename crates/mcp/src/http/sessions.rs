//! Sessions of Streamable HTTP, a bounded number of them.
//!
//! A client that goes away without a word leaves its session behind, and a client can open as many as it likes. So
//! sessions end when nobody used them for long, and the one that was used longest ago ends when there are too many.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

/// Sessions at once. One is a few tens of kilobytes.
const MOST: usize = 64;

/// How long a session is kept that nobody uses. What a person does between two steps takes less.
const UNUSED: Duration = Duration::from_secs(4 * 60 * 60);

/// The library's sessions, with a limit.
#[derive(Debug)]
pub(super) struct Sessions {
    inner: LocalSessionManager,
    used: Mutex<Used>,
}

/// When each session was used, counted in uses.
#[derive(Debug, Default)]
struct Used {
    uses: u64,
    last: HashMap<SessionId, u64>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(UNUSED);
        Self { inner, used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a session is in use; one that is not known stays unknown.
    fn touch(&self, id: &SessionId) {
        let mut used = self.used();
        used.uses += 1;
        let now = used.uses;
        if let Some(last) = used.last.get_mut(id) {
            *last = now;
        }
    }

    /// Adds a session; returns the one that has to go for it.
    fn add(&self, id: &SessionId) -> Option<SessionId> {
        let mut used = self.used();
        let oldest = if used.last.len() < MOST {
            None
        } else {
            used.last.iter().min_by_key(|(_, last)| **last).map(|(id, _)| id.clone())
        };
        if let Some(oldest) = &oldest {
            used.last.remove(oldest);
        }
        used.uses += 1;
        let now = used.uses;
        used.last.insert(id.clone(), now);
        oldest
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        if let Some(oldest) = self.add(&id) {
            tracing::info!("a session was ended to make room for a new one");
            self.inner.close_session(&oldest).await?;
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.touch(id);
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.used().last.remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.resume(id, last_event_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_session_that_was_used_longest_ago_makes_room() {
        let sessions = Sessions::new();
        let mut ids = Vec::new();
        let mut open = Vec::new();
        for _ in 0..MOST {
            let (id, transport) = sessions.create_session().await.expect("made");
            ids.push(id);
            open.push(transport);
        }
        // The first one is used again, and so the second one is the oldest.
        assert!(sessions.has_session(&ids[0]).await.expect("known"));
        let (newest, _transport) = sessions.create_session().await.expect("made");
        assert!(sessions.has_session(&ids[0]).await.expect("known"));
        assert!(!sessions.has_session(&ids[1]).await.expect("known"));
        assert!(sessions.has_session(&newest).await.expect("known"));
        assert_eq!(sessions.inner.sessions.read().await.len(), MOST);
        for id in &ids {
            sessions.close_session(id).await.expect("closed");
        }
        assert_eq!(sessions.used().last.len(), 1);
    }
}
