//! A workspace in a folder of its own.

use std::fs;
use std::path::Path;

use board::{Board, BoardError, Claim, Fields, Forced, Proof, Whole, Workspace};
use serde_json::{Value, json};

/// A workspace that goes away with its test.
pub(crate) struct Place {
    root: tempfile::TempDir,
    pub(crate) board: Board,
}

/// Nothing is forced.
pub(crate) const PLAIN: Forced<'static> = Forced { force: false, reason: None, may_close: true };
/// No word about how it was proved.
pub(crate) const UNPROVED: Proof<'static> = Proof { method: None, run: None, evidence: None };

impl Place {
    /// Makes a workspace with areas `api`, `web` and `docs`, and what `config` adds to `cards`.
    pub(crate) fn new(cards: Value) -> Self {
        let mut own = json!({ "areas": ["api", "web", "docs"] });
        own.as_object_mut().expect("an object").extend(cards.as_object().cloned().expect("an object"));
        Self::with(json!({ "cards": own }))
    }

    /// Makes a workspace with a whole configuration.
    pub(crate) fn with(mut config: Value) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let more = json!({ "agents": { "enabled": false }, "ci": { "enabled": false } });
        config.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        fs::write(root.path().join("project.config.mjs"), format!("export default {config};\n")).expect("written");
        let board = open(root.path());
        Self { root, board }
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Another board on the same files, as another process has it.
    pub(crate) fn another(&self) -> Board {
        open(self.root())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let at = self.root().join(path);
        fs::create_dir_all(at.parent().expect("a folder")).expect("made");
        fs::write(at, text).expect("written");
        // What somebody else writes is seen when the tree is looked through again.
        self.settle();
    }

    /// Waits until the tree is looked through again.
    pub(crate) fn settle(&self) {
        let started = std::time::Instant::now();
        while started.elapsed() < std::time::Duration::from_millis(260) {
            std::thread::park_timeout(std::time::Duration::from_millis(260));
        }
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).expect(path)
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.root().join(path).exists()
    }

    /// Creates a card and returns it.
    pub(crate) fn card(&self, fields: Value, body: &str) -> Whole {
        self.board.create_card(fields_of(fields), body).expect("a card")
    }

    pub(crate) fn refused(&self, fields: Value) -> &'static str {
        self.board.create_card(fields_of(fields), "").expect_err("refused").code
    }

    pub(crate) fn patch(&self, id: &str, changes: Value) -> Result<Whole, BoardError> {
        self.board.patch_card(id, &fields_of(changes), "me", &UNPROVED, &PLAIN, None)
    }

    pub(crate) fn to(&self, id: &str, status: &str) -> Result<Whole, BoardError> {
        self.board.transition_card(id, status, "me", None, &UNPROVED, &PLAIN, None)
    }

    pub(crate) fn claim(&self, id: &str, actor: &str) -> Result<Whole, BoardError> {
        self.board.claim_card(id, &Claim { actor, ..Claim::default() }, None).map(|(record, _)| record)
    }

    pub(crate) fn codes(&self) -> Vec<String> {
        self.settle();
        let report = self.board.doctor(board::Checks::default()).to_json();
        let issues = report["issues"].as_array().expect("issues");
        issues.iter().map(|issue| issue["code"].as_str().expect("a code").to_owned()).collect()
    }
}

fn open(root: &Path) -> Board {
    Board::new(Workspace::open(Some(root), root, false).expect("a workspace"))
}

pub(crate) fn fields_of(value: Value) -> Fields {
    value.as_object().cloned().expect("an object")
}

/// The code of a refusal.
pub(crate) fn code<T>(result: Result<T, BoardError>) -> &'static str {
    match result {
        Ok(_) => "accepted",
        Err(error) => error.code,
    }
}
