//! Who is at work: the claim board, and sessions that signal.
//!
//! The board is a small file that a hook can read in a moment. It is made again from the cards whenever it is missing.

use serde_json::{Value, json};

use crate::actor::{session_of, short_session};
use crate::config::Config;
use crate::error::Result;
use crate::files;
use crate::looking::Looking;
use crate::moment;
use crate::record::{Kind, Record};
use crate::workspace::Workspace;

/// A session that signalled within this is at work, in milliseconds.
const LIVE_MS: i64 = 90_000;
/// One that did not for this long is gone.
const ORPHANED_MS: i64 = 30 * 60_000;
/// Session files older than this are dropped.
const FORGOTTEN_MS: i64 = 24 * 3_600_000;

/// The folder of all this, relative to the workspace.
pub(crate) fn folder(config: &Config) -> String {
    format!("{}/activity", config.cache)
}

/// One claim as the board has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) status: String,
    pub(crate) by: String,
    pub(crate) at: String,
    pub(crate) session: Option<String>,
    pub(crate) scope: Vec<String>,
}

impl Held {
    fn of(card: &Record) -> Option<Self> {
        let by = card.text("claimed_by");
        (card.kind == Kind::Card && !card.archived && !by.is_empty()).then(|| Self {
            id: card.id.clone(),
            title: card.title.clone(),
            status: card.text("status").to_owned(),
            by: by.to_owned(),
            at: card.text("claimed_at").to_owned(),
            session: session_of(by).map(str::to_owned),
            scope: card.list("scope").into_iter().map(str::to_owned).collect(),
        })
    }

    fn read(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let scope = value.get("scope").and_then(Value::as_array);
        Some(Self {
            id: value.get("id")?.as_str()?.to_owned(),
            title: text("title"),
            status: text("status"),
            by: text("claimedBy"),
            at: text("claimedAt"),
            session: value.get("session").and_then(Value::as_str).map(str::to_owned),
            scope: scope
                .map(|items| items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                .unwrap_or_default(),
        })
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "title": self.title, "status": self.status, "claimedBy": self.by, "claimedAt": self.at,
            "session": self.session, "scope": self.scope,
        })
    }
}

fn path(workspace: &Workspace) -> std::path::PathBuf {
    workspace.at(&format!("{}/board.json", folder(workspace.config())))
}

fn write(workspace: &Workspace, mut claims: Vec<Held>) -> Result<()> {
    claims.sort_by(|one, other| crate::paths::compare_ids(&one.id, &other.id));
    let claims: Vec<Value> = claims.iter().map(Held::to_json).collect();
    let built = model::format_timestamp(workspace.now());
    files::write(&path(workspace), &format!("{}\n", json!({ "claims": claims, "builtAt": built })))
}

/// Reads the board; `None` when it is missing or broken.
pub(crate) fn read(workspace: &Workspace) -> Option<Vec<Held>> {
    let (text, _) = files::read(&path(workspace), 8 * 1024 * 1024).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    Some(value.get("claims")?.as_array()?.iter().filter_map(Held::read).collect())
}

/// Makes the board again from the cards' files.
pub(crate) fn rebuild(workspace: &Workspace) -> Vec<Held> {
    let config = workspace.config();
    let mut looking = Looking::new(workspace.root(), config, !workspace.is_read_only());
    let claims: Vec<Held> =
        looking.index(workspace.root(), config).of(Kind::Card).filter_map(|card| Held::of(card)).collect();
    if let Ok(_lock) = workspace.board_lock() {
        // Nobody reads less for a board that could not be written: it is made again then.
        let _ = write(workspace, claims.clone());
    }
    claims
}

/// Brings the board up to date after a card was written. The card itself is written already, so that nothing that goes
/// wrong here may turn into a refusal: a board that cannot be updated is removed, and made again when it is needed.
pub(crate) fn update(workspace: &Workspace, card: &Record) {
    let done = (|| {
        let _lock = workspace.board_lock()?;
        let Some(mut claims) = read(workspace) else { return Ok(false) };
        claims.retain(|claim| claim.id != card.id);
        claims.extend(Held::of(card));
        write(workspace, claims).map(|()| true)
    })();
    match done {
        Ok(true) => {}
        Ok(false) => {
            rebuild(workspace);
        }
        Err(_) => {
            let _ = std::fs::remove_file(path(workspace));
        }
    }
}

/// A session that signals.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) actor: String,
    pub(crate) card: Option<String>,
    pub(crate) signalled: i64,
}

/// All sessions whose files can be read; those older than a day are dropped when `sweep` is set.
pub(crate) fn sessions(workspace: &Workspace, sweep: bool) -> Vec<Session> {
    let folder = workspace.at(&format!("{}/sessions", folder(workspace.config())));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let now = workspace.now();
    let mut found = Vec::new();
    for entry in entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "json")) {
        let Ok((text, stamp)) = files::read(&entry.path(), 256 * 1024) else { continue };
        if sweep && now - stamp.modified_ms() > FORGOTTEN_MS {
            let _ = std::fs::remove_file(entry.path());
            continue;
        }
        let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (Some(id), Some(at)) = (text("sessionId"), text("lastSignalAt").and_then(moment::parse)) else { continue };
        found.push(Session {
            id: id.to_owned(),
            actor: text("actor").unwrap_or("").to_owned(),
            card: text("cardId").map(str::to_owned),
            signalled: at,
        });
    }
    found
}

/// What is known of a claim, derived and never stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClaimState {
    /// `live`, `stale`, `orphaned` or `held`.
    pub(crate) state: &'static str,
    pub(crate) session: Option<String>,
    pub(crate) age_ms: i64,
}

/// Derives the state of a claim; `None` when the card has none that can be read.
pub(crate) fn state(workspace: &Workspace, card: &Record, sessions: &[Session]) -> Option<ClaimState> {
    let by = card.text("claimed_by");
    let at = moment::parse(card.text("claimed_at")).filter(|_| !by.is_empty())?;
    let now = workspace.now();
    let short = session_of(by);
    let own: Vec<&Session> = sessions
        .iter()
        .filter(|one| {
            one.card.as_deref() == Some(&card.id)
                || one.actor == by
                || short.is_some_and(|short| short_session(&one.id) == short)
        })
        .collect();
    let latest = own.iter().max_by_key(|one| one.signalled);
    let quiet = latest.map(|one| now - one.signalled);
    #[expect(clippy::cast_precision_loss, reason = "hours of a claim")]
    let hours = (now - at) as f64 / 3_600_000.0;
    let state = if quiet.is_some_and(|quiet| quiet <= LIVE_MS) {
        "live"
    } else if hours >= workspace.config().cards.lease_hours {
        "stale"
    } else if quiet.is_some_and(|quiet| quiet > ORPHANED_MS) {
        "orphaned"
    } else {
        "held"
    };
    Some(ClaimState { state, session: latest.map(|one| one.id.clone()), age_ms: now - at })
}
