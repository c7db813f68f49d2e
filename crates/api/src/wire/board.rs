//! What the Board view shows.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// What a move to a status must say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum BoardNeed {
    /// Why a claim is taken from somebody.
    Reason,
    /// What was seen.
    Evidence,
    /// Where a CI run can be seen.
    Run,
    /// The card is claimed by the move.
    Claim,
}

/// Whether whoever holds a card is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ClaimState {
    /// Their session signals.
    Live,
    /// Nothing is known of a session.
    Held,
    /// The lease is over.
    Stale,
    /// Their session has fallen silent.
    Orphaned,
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct BoardClaim {
    /// Who holds the card.
    pub by: String,
    /// Whether they are there.
    pub state: ClaimState,
    /// Since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// The paths that are worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<String>>,
}

/// How many acceptance criteria are ticked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BoardProgress {
    /// Ticked.
    pub done: usize,
    /// All.
    pub total: usize,
}

/// A card as a column shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct BoardCard {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its status.
    pub status: String,
    /// Its priority.
    pub priority: String,
    /// Its area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The card it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The cards it depends on.
    pub depends: Vec<String>,
    /// Who holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<BoardClaim>,
    /// How far its criteria are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<BoardProgress>,
    /// The day it was last changed.
    pub updated: String,
    /// The day it is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    /// The revision of its file.
    pub revision: String,
    /// Whether it lies in the archive.
    pub archived: bool,
    /// Its file, relative to the project.
    pub path: String,
}

/// A status, as a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardStatus {
    /// Its name.
    pub id: String,
    /// Not shown until asked for.
    pub hidden: bool,
    /// Cards in it are finished.
    pub terminal: bool,
    /// What every move to it must say.
    pub needs: Vec<BoardNeed>,
}

/// A board, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardView {
    /// The columns, in their order.
    pub statuses: Vec<BoardStatus>,
    /// The types a card may have.
    pub types: Vec<String>,
    /// The priorities, most pressing first.
    pub priorities: Vec<String>,
    /// The areas of this project.
    pub areas: Vec<String>,
    /// All cards.
    pub cards: Vec<BoardCard>,
    /// How many documents there are.
    pub documents: usize,
    /// How many fragments of the changelog are not released.
    pub fragments: usize,
    /// How many things are remembered.
    pub memory: usize,
    /// How many findings the doctor has, without looking at git.
    pub findings: usize,
    /// Codes of findings that `board_mend` mends.
    pub mendable: Vec<String>,
    /// Who acts here.
    pub actor: String,
    /// Whether nothing may be written.
    pub read_only: bool,
    /// Another text when anything has changed on disk.
    pub mark: String,
}

/// What stands between a card and a status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardRefusal {
    /// The status.
    pub status: String,
    /// Why it is refused; empty: it is not.
    pub reasons: Vec<String>,
    /// The board's own code of each reason, in the same order.
    pub codes: Vec<String>,
    /// What the move must say.
    pub needs: Vec<BoardNeed>,
}

/// A criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardCriterion {
    /// Its text.
    pub text: String,
    /// Whether it is ticked.
    pub done: bool,
    /// Its number in the card, from 1.
    pub line: usize,
}

/// Something that happened to a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct BoardEvent {
    /// When, as the card has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What.
    pub text: String,
}

/// A record that a card names, or that names it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct BoardRelated {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// How they are related.
    pub relation: String,
}

/// A card, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BoardCardDetail {
    /// The record as the tools give it.
    #[ts(type = "JsonValue")]
    pub record: Value,
    /// Its body.
    pub body: String,
    /// Its criteria.
    pub acceptance: Vec<BoardCriterion>,
    /// What happened to it, the last first.
    pub activity: Vec<BoardEvent>,
    /// Where it could go.
    pub refusals: Vec<BoardRefusal>,
    /// Records around it.
    pub related: Vec<BoardRelated>,
}

/// Asks for a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct OfCard {
    /// The project.
    pub project: String,
    /// The card.
    pub id: String,
}

/// Calls a tool of the board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct BoardCall {
    /// The project.
    pub project: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, as in the protocol.
    #[ts(type = "JsonValue")]
    pub arguments: Value,
}

/// Mends the findings with a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MendBoard {
    /// The project.
    pub project: String,
    /// The findings' code.
    pub code: String,
}

/// What is left after mending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct BoardMended {
    /// Findings with that code that are still there.
    pub left: usize,
}

/// Ticks or unticks a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TickCriterion {
    /// The project.
    pub project: String,
    /// The card.
    pub id: String,
    /// The criterion's number.
    pub line: usize,
    /// Whether it is to be ticked.
    pub done: bool,
    /// The revision that was seen.
    pub revision: String,
}

/// What a tool answers, as in the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(transparent)]
pub struct BoardAnswer(#[ts(type = "JsonValue")] pub Value);
