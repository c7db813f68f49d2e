//! What may be wrong with cards.

use serde_json::{Value, json};

use super::{Checks, Issue, Severity};
use crate::board::Board;
use crate::cards::{VerifyEntry, read_verify, verified_digest, verify_allowed};
use crate::front_matter::is_empty;
use crate::index::Index;
use crate::markdown::{acceptance, normalised, sha256};
use crate::record::{Kind, Whole};
use crate::vocabulary::{CLOSED, EFFORTS, PRIORITIES, RAISED, STATUSES, TYPES};
use crate::{activity, git, moment, paths, repair};

/// From this day on a card says how it came up.
const RAISED_SINCE: &str = "2026-08-08";
const MAX_TITLE: usize = 80;

pub(super) fn check(board: &Board, index: &Index, checks: Checks, issues: &mut Vec<Issue>) {
    let sessions = super::sessions(board);
    for card in index.of(Kind::Card) {
        // Most texts have nothing that could be wrong, and need not be read.
        let proved = ["verify", "verified"].iter().any(|key| card.fields.contains_key(key));
        let card = &if card.is_questionable || proved {
            board.read(card)
        } else {
            card.as_ref().clone().with_body(String::new())
        };
        let mut found = Findings { card, issues };
        found.shape(board);
        found.dates();
        found.references(index, board);
        found.claim(board, &sessions);
        found.body();
        found.proof(board, checks);
        if checks.paths {
            found.source(board);
        }
    }
}

struct Findings<'a> {
    card: &'a Whole,
    issues: &'a mut Vec<Issue>,
}

impl Findings<'_> {
    fn add(&mut self, severity: Severity, code: &'static str, message: impl Into<String>) {
        self.issues.push(Issue::new(severity, "cards", code, message).about(self.card));
    }

    fn add_with(&mut self, severity: Severity, code: &'static str, message: impl Into<String>, details: Value) {
        self.issues.push(Issue::new(severity, "cards", code, message).about(self.card).with(details));
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>) {
        self.add(Severity::Error, code, message);
    }

    fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.add(Severity::Warning, code, message);
    }

    fn shape(&mut self, board: &Board) {
        let config = board.config();
        let card = self.card;
        let prefix = &config.cards.id_prefix;
        let number = card.id.strip_prefix(prefix.as_str()).and_then(|rest| rest.strip_prefix('-'));
        if !number.is_some_and(|digits| digits.len() >= 4 && digits.bytes().all(|byte| byte.is_ascii_digit())) {
            self.error("invalid-id", format!("An id is `{prefix}-` and at least four digits."));
        }
        let name = paths::name(&card.path);
        if !(name.strip_prefix(&card.id).is_some_and(|rest| rest.starts_with('-') || rest == ".md")) {
            self.error("filename-mismatch", "The file's name does not begin with the id.");
        }
        let missing: Vec<&str> = ["title", "status", "type", "priority", "area", "created", "updated"]
            .into_iter()
            .filter(|key| card.text(key).is_empty())
            .collect();
        if !missing.is_empty() {
            self.error("missing-required", format!("Missing: {}.", missing.join(", ")));
        }
        let mut word = |field: &str, allowed: &[&str]| {
            let value = card.text(field);
            if !value.is_empty() && !allowed.contains(&value) {
                self.error("invalid-enum", format!("`{value}` is no {field}."));
            }
        };
        word("status", &STATUSES);
        word("type", &TYPES);
        word("priority", &PRIORITIES);
        let areas: Vec<&str> = config.cards.areas.iter().map(String::as_str).collect();
        word("area", &areas);
        word("effort", &EFFORTS);
        word("raised", &RAISED);
        for (axis, values) in &config.cards.axes {
            let value = card.text(axis);
            if value.is_empty() {
                if !card.archived && !CLOSED.contains(&card.text("status")) {
                    self.add_with(
                        Severity::Warning,
                        "missing-axis",
                        format!("It has no {axis}."),
                        json!({ "axis": axis, "allowed": values }),
                    );
                }
            } else if !values.iter().any(|one| one == value) {
                self.add_with(
                    Severity::Error,
                    "invalid-axis",
                    format!("`{value}` is no {axis}."),
                    json!({ "axis": axis, "value": value, "allowed": values }),
                );
            }
        }
        if card.title.chars().count() > MAX_TITLE {
            self.warn("long-title", format!("A title has at most {MAX_TITLE} characters."));
        }
        if !card.archived && card.text("raised").is_empty() && card.text("created") >= RAISED_SINCE {
            self.warn("raised-missing", "Was it reported or derived?");
        }
        if card.archived && !CLOSED.contains(&card.text("status")) {
            self.error("open-archived", "An open card lies in the archive.");
        }
    }

    fn dates(&mut self) {
        for field in ["start", "due", "created", "updated"] {
            let value = self.card.text(field);
            if !value.is_empty() && !moment::is_day(value) {
                self.error("invalid-date", format!("`{field}` is no day."));
            }
        }
        let (start, due) = (self.card.text("start"), self.card.text("due"));
        if moment::is_day(start) && moment::is_day(due) && start > due {
            self.error("invalid-date-range", "`due` lies before `start`.");
        }
    }

    fn references(&mut self, index: &Index, board: &Board) {
        let card = self.card;
        let is_card = |id: &str| index.get(id).is_some_and(|other| other.kind == Kind::Card);
        let parent = card.text("parent");
        if parent == card.id {
            self.error("self-parent", "It is its own parent.");
            self.error("parent-cycle", "Its parents go in a circle.");
        } else if !parent.is_empty() && !is_card(parent) {
            self.error("missing-parent", format!("There is no card `{parent}`."));
        } else if !parent.is_empty() {
            let mut above: Vec<&str> = vec![parent];
            let mut circle = false;
            while let Some(next) = above
                .last()
                .and_then(|id| index.get(id))
                .map(|record| record.text("parent"))
                .filter(|next| !next.is_empty())
            {
                if next == card.id {
                    circle = true;
                    break;
                }
                if above.contains(&next) {
                    break;
                }
                above.push(next);
            }
            if circle {
                self.error("parent-cycle", "Its parents go in a circle.");
            } else if above.len() > board.config().cards.max_depth {
                self.error("hierarchy-depth", format!("It has {} cards above it.", above.len()));
            }
        }
        for id in card.list("depends") {
            if id == card.id {
                self.error("self-dependency", "It depends on itself.");
            } else if !is_card(id) {
                self.error("missing-dependency", format!("There is no card `{id}`."));
            }
        }
        for id in card.list("origin") {
            if id == card.id {
                self.error("self-origin", "It comes from itself.");
            } else if index.get(id).is_none() {
                self.warn("missing-origin", format!("There is no `{id}`."));
            }
        }
    }

    fn claim(&mut self, board: &Board, sessions: &[activity::Session]) {
        let card = self.card;
        let (by, at) = (card.text("claimed_by"), card.text("claimed_at"));
        if by.is_empty() != at.is_empty() {
            self.warn("partial-claim", "A claim is `claimed_by` and `claimed_at` together.");
        }
        if (by.is_empty() && at.is_empty()) == (card.text("status") == "doing") {
            self.warn("claim-status", "A claim and `doing` belong together.");
        }
        if at.is_empty() {
            return;
        }
        if moment::is_day(at) {
            self.warn("legacy-claim-date", "`claimed_at` is a day and no moment.");
        } else if moment::parse(at).is_none() {
            self.error("invalid-timestamp", "`claimed_at` is no moment.");
        }
        let Some(state) = activity::state(board.workspace(), card, sessions).filter(|_| !card.archived) else { return };
        let code = match state.state {
            "stale" => "card-claim-stale",
            "orphaned" => "card-claim-orphaned",
            _ => return,
        };
        let claim = json!({ "claim": {
            "by": by, "at": at, "ageMs": state.age_ms, "ageHours": state.age_ms / 3_600_000, "sessionId": state.session,
            "state": state.state,
        }});
        self.add_with(Severity::Warning, code, format!("The claim of {by} is {}.", state.state), claim);
    }

    fn body(&mut self) {
        let card = self.card;
        if repair::stray_trail(&card.body).1 > 0 {
            self.warn("misplaced-trail", "A trail line lies outside `## Activity`.");
        }
        let read = acceptance(&card.body);
        let unchecked: Vec<Value> =
            read.unchecked().map(|item| json!({ "index": item.index, "text": item.text })).collect();
        if card.text("status") == "done"
            && !unchecked.is_empty()
            && card
                .fields
                .get("verified")
                .is_none_or(|block| block.get("method").and_then(Value::as_str) != Some("forced"))
        {
            self.add_with(
                Severity::Warning,
                "done-unchecked",
                "It is done with unproven criteria.",
                json!({ "unchecked": unchecked }),
            );
        }
        let unreadable: Vec<Value> = read.unreadable().iter().map(|item| json!({ "text": item.text })).collect();
        if !card.archived && card.text("status") != "discarded" && !unreadable.is_empty() {
            self.add_with(
                Severity::Warning,
                "acceptance-unreadable",
                "Its checklist lies under no heading of criteria.",
                json!({ "unreadable": unreadable }),
            );
        }
    }

    fn proof(&mut self, board: &Board, checks: Checks) {
        let card = self.card;
        if let Some(value) = card.fields.get("verify").filter(|value| !is_empty(value)) {
            match read_verify(&value) {
                Err(error) => self.error("verify-run-invalid", error.message),
                Ok(entries) => self.commands(board, &entries),
            }
        }
        let Some(block) = card.fields.get("verified").filter(|value| !is_empty(value)) else { return };
        let problems = problems(&block);
        if !problems.is_empty() {
            self.add_with(
                Severity::Warning,
                "verified-block-invalid",
                "How it was proved cannot be read.",
                json!({ "problems": problems }),
            );
            return;
        }
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or("");
        if card.text("status") != "done" {
            return;
        }
        let actual = verified_digest(card);
        if text("digest") != actual {
            self.add_with(
                Severity::Warning,
                "verified-criteria-changed",
                "Its criteria are not those that were proved.",
                json!({ "verifiedAt": text("at"), "method": text("method"), "recorded": text("digest"), "actual": actual }),
            );
        }
        let area = card.text("area");
        if let Some(accepted) = board.config().methods(area)
            && text("method") != "forced"
            && !accepted.iter().any(|one| one == text("method"))
        {
            self.add_with(
                Severity::Warning,
                "verification-method-unaccepted",
                "Its area asks for another method now.",
                json!({ "area": area, "method": text("method"), "accepted": accepted }),
            );
        }
        if checks.git && !text("commit").is_empty() && git::is_unreachable(board.root(), text("commit")) {
            self.add_with(
                Severity::Warning,
                "verified-commit-unreachable",
                "Its commit is no ancestor of what is checked out.",
                json!({ "commit": text("commit") }),
            );
        }
    }

    fn commands(&mut self, board: &Board, entries: &[VerifyEntry]) {
        let config = board.config();
        for entry in entries {
            if verify_allowed(config, std::slice::from_ref(entry)).is_err() {
                self.add_with(
                    Severity::Error,
                    "verify-command-not-allowed",
                    "The project does not declare this command.",
                    json!({ "entry": entry.id, "run": entry.run.join(" "), "declared": config.cards.commands }),
                );
            }
        }
        let present: Vec<String> =
            acceptance(&self.card.body).items.iter().map(|item| sha256(normalised(&item.text).as_bytes())).collect();
        let stale: Vec<Value> = entries
            .iter()
            .flat_map(|entry| entry.criteria.iter().map(move |digest| (entry, digest)))
            .filter(|(_, digest)| !present.contains(digest))
            .map(|(entry, digest)| json!({ "entry": entry.id, "digest": digest }))
            .collect();
        if !stale.is_empty() {
            self.add_with(
                Severity::Warning,
                "verify-binding-stale",
                "A command is bound to a criterion that is gone.",
                json!({ "bindings": stale }),
            );
        }
    }

    fn source(&mut self, board: &Board) {
        let source = self.card.text("source");
        if source.is_empty() || source.contains("://") {
            return;
        }
        let path = source.split('#').next().unwrap_or("");
        if !path.is_empty() && !paths::inside(path).is_some_and(|path| board.workspace().at(&path).exists()) {
            self.error("missing-source", format!("There is no `{path}`."));
        }
    }
}

fn problems(block: &Value) -> Vec<String> {
    let Some(map) = block.as_object() else { return vec!["it is no mapping".into()] };
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or("");
    let mut found = Vec::new();
    if moment::parse(text("at")).is_none() {
        found.push("`at` is no moment".into());
    }
    if !["local", "ci", "manual", "forced"].contains(&text("method")) {
        found.push("`method` is not known".into());
    }
    if !text("digest").starts_with("sha256:") {
        found.push("`digest` is no digest".into());
    }
    found
}
