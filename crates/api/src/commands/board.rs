//! The Board view: columns, cards, gates, and the board's own tools. The files are read and written by `board`; what
//! changes is recorded by the launcher.

use std::collections::HashMap;

use board::{Board, BoardError, Checks, ErrorKind, Holder, Kind, Mending, Record, Refusal, vocabulary};
use serde_json::{Map, Value, json};
use store::{Project, ProjectKind};

use crate::host::BoardRoom;
use crate::wire::board::{
    BoardAnswer, BoardCall, BoardCard, BoardCardDetail, BoardClaim, BoardCriterion, BoardEvent, BoardMended, BoardNeed,
    BoardProgress, BoardRefusal, BoardRelated, BoardStatus, BoardView, ClaimState, MendBoard, OfCard, TickCriterion,
};
use crate::wire::project::OfProject;
use crate::{Answer, Api, ApiError, ApiErrorCode};

/// Statuses that are not shown until asked for.
const HIDDEN: [&str; 2] = ["deferred", "discarded"];

impl From<BoardError> for ApiError {
    fn from(error: BoardError) -> Self {
        let code = match error.kind() {
            ErrorKind::Configuration => ApiErrorCode::ProjectBroken,
            ErrorKind::Conflict => ApiErrorCode::Conflict,
            ErrorKind::NotFound => ApiErrorCode::NotFound,
            ErrorKind::Validation => ApiErrorCode::InvalidInput,
        };
        Self::new(code, error.message.clone()).detailed(error.to_json())
    }
}

/// Finds the board of a project's folder.
fn room(api: &Api, project: &str) -> Answer<BoardRoom> {
    let project = api.project(project)?;
    let board = api.servers(&project)?.into_iter().find(|server| server.kind == ProjectKind::Board);
    let board = board.ok_or_else(|| {
        ApiError::not_found(format!("`{}` has no board", project.path.display()))
            .hinted("make one with `workflow-code board init` in its folder, and add the folder again")
    })?;
    api.host.board(&board)
}

/// How many findings a board has; `None` when it cannot be read, which is a finding of the project.
pub(super) fn count_findings(api: &Api, board: &Project) -> Option<usize> {
    Some(api.host.board(board).ok()?.board().doctor(Checks { paths: false, git: false }).count())
}

pub(super) fn board_mend(api: &Api, request: MendBoard) -> Answer<BoardMended> {
    let room = room(api, &request.project)?;
    let mending = Mending::of(&request.code).ok_or_else(|| {
        ApiError::new(ApiErrorCode::Unsupported, format!("findings of the kind `{}` are mended by hand", request.code))
    })?;
    room.mend(mending)?;
    let report = room.board().doctor(Checks { paths: false, git: false });
    Ok(BoardMended { left: report.count_of(&request.code) })
}

pub(super) fn board_view(api: &Api, request: OfProject) -> Answer<BoardView> {
    let room = room(api, &request.project)?;
    let board = room.board();
    let mark = board.mark();
    let index = board.index();
    let holders = board.holders();
    let of = |kind: Kind| index.records().iter().filter(move |record| record.kind == kind);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Ok(BoardView {
        statuses: vocabulary::STATUSES.iter().map(|status| column(status)).collect(),
        types: words(&vocabulary::TYPES),
        priorities: words(&vocabulary::PRIORITIES),
        areas: board.config().cards.areas.clone(),
        cards: of(Kind::Card).map(|card| row(card, &holders)).collect(),
        documents: of(Kind::Doc).count(),
        fragments: of(Kind::Change).filter(|fragment| !fragment.released).count(),
        memory: of(Kind::Memory).count(),
        findings: board.doctor(Checks { paths: false, git: false }).count(),
        mendable: Mending::CODES.into_iter().map(|(code, _)| code.to_owned()).collect(),
        actor: room.actor(),
        read_only: room.is_read_only(),
        mark,
    })
}

fn column(status: &str) -> BoardStatus {
    BoardStatus {
        id: status.to_owned(),
        hidden: HIDDEN.contains(&status),
        terminal: vocabulary::CLOSED.contains(&status),
        needs: if status == "doing" { vec![BoardNeed::Claim] } else { Vec::new() },
    }
}

fn row(card: &Record, holders: &HashMap<String, Holder>) -> BoardCard {
    let some = |key: &str| Some(card.text(key).to_owned()).filter(|text| !text.is_empty());
    let list = |key: &str| -> Vec<String> { card.list(key).into_iter().map(str::to_owned).collect() };
    let claim = holders.get(&card.id).map(|holder| BoardClaim {
        by: holder.by.clone(),
        state: match holder.state {
            "live" => ClaimState::Live,
            "stale" => ClaimState::Stale,
            "orphaned" => ClaimState::Orphaned,
            _ => ClaimState::Held,
        },
        since: holder.since,
        scope: Some(list("scope")).filter(|scope| !scope.is_empty()),
    });
    BoardCard {
        id: card.id.clone(),
        title: card.title.clone(),
        kind: card.record_type().to_owned(),
        status: card.status().to_owned(),
        priority: card.text("priority").to_owned(),
        area: some("area"),
        tags: list("tags"),
        parent: some("parent"),
        depends: list("depends"),
        claim,
        acceptance: card.criteria().map(|(done, total)| BoardProgress { done, total }),
        updated: card.updated().to_owned(),
        due: some("due"),
        revision: card.revision.clone(),
        archived: card.archived,
        path: card.path.clone(),
    }
}

fn refusals(board: &Board, id: &str, actor: &str) -> Answer<Vec<BoardRefusal>> {
    let foretold = board.refusals(id, actor)?;
    Ok(foretold.into_iter().map(refusal).collect())
}

fn refusal(foretold: Refusal) -> BoardRefusal {
    let needs = foretold.needs.iter().map(|need| match *need {
        "reason" => BoardNeed::Reason,
        "run" => BoardNeed::Run,
        _ => BoardNeed::Evidence,
    });
    BoardRefusal {
        status: foretold.status.to_owned(),
        needs: needs.collect(),
        codes: foretold.codes.iter().map(|code| (*code).to_owned()).collect(),
        reasons: foretold.reasons,
    }
}

pub(super) fn board_refusals(api: &Api, request: OfCard) -> Answer<Vec<BoardRefusal>> {
    let room = room(api, &request.project)?;
    refusals(room.board(), &request.id, &room.actor())
}

pub(super) fn board_card(api: &Api, request: OfCard) -> Answer<BoardCardDetail> {
    let room = room(api, &request.project)?;
    detail(&room, &request.id)
}

fn detail(room: &BoardRoom, id: &str) -> Answer<BoardCardDetail> {
    let board = room.board();
    let record = board.get(id)?;
    let index = board.index();
    let card = index.get(id.trim()).ok_or_else(|| ApiError::not_found(format!("there is no card `{id}`")))?;
    let whole = board.read(card);
    let links = ["outgoing", "incoming"]
        .into_iter()
        .flat_map(|side| record.get(side).and_then(Value::as_array).cloned().unwrap_or_default());
    let related = links.map(|link| {
        let text = |name: &str| link.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let there = index.get(&text("id"));
        BoardRelated {
            id: text("id"),
            title: text("title"),
            status: there.map(|other| other.status().to_owned()).filter(|status| !status.is_empty()),
            relation: text("relation"),
        }
    });
    Ok(BoardCardDetail {
        body: whole.body.clone(),
        acceptance: whole
            .criteria_list()
            .into_iter()
            .map(|(line, text, done)| BoardCriterion { text, done, line })
            .collect(),
        activity: board
            .trail_of(id)?
            .into_iter()
            .map(|event| BoardEvent { at: event.at, who: event.who, text: event.text })
            .collect(),
        refusals: refusals(board, id, &room.actor())?,
        related: related.collect(),
        record: Value::Object(record),
    })
}

pub(super) fn board_call(api: &Api, request: BoardCall) -> Answer<BoardAnswer> {
    let room = room(api, &request.project)?;
    let Value::Object(arguments) = request.arguments else {
        return Err(ApiError::invalid("the arguments must be an object"));
    };
    Ok(BoardAnswer(room.call(&request.tool, &arguments)?))
}

pub(super) fn board_acceptance(api: &Api, request: TickCriterion) -> Answer<BoardCardDetail> {
    let room = room(api, &request.project)?;
    let change = if request.done { "check" } else { "uncheck" };
    let arguments = Map::from_iter([
        ("id".to_owned(), json!(request.id)),
        (change.to_owned(), json!([request.line])),
        ("expectedRevision".to_owned(), json!(request.revision)),
    ]);
    room.tick(&arguments)?;
    detail(&room, &request.id)
}
