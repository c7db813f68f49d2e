//! The prompts: how work is started, finished, and remembered.

use ::board::Board;
use mcp::ordered::Refusal;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;

/// Records a prompt carries.
const CONTEXT: usize = 20;

/// What is offered.
pub(crate) fn list() -> Value {
    let argument = |name: &str, description: &str, required: bool| json!({ "name": name, "description": description, "required": required });
    json!([
        {
            "name": "finish-work", "title": "Finish work", "description": "Prove a card's criteria, close it, and say what changed",
            "arguments": [argument("cardId", "The card", true), argument("outcome", "What came out of it", false)],
        },
        {
            "name": "record-knowledge", "title": "Record knowledge", "description": "Choose where an observation belongs, and record it",
            "arguments": [argument("observation", "What was observed", true), argument("sourceId", "The record it came up with", false)],
        },
        {
            "name": "start-work", "title": "Start work", "description": "Read what belongs to a card, and claim it",
            "arguments": [argument("cardId", "The card", true), argument("actor", "Who will work on it", false)],
        },
    ])
}

/// Makes one.
pub(crate) fn get(board: &Board, params: &Map<String, Value>) -> Result<Value, Refusal> {
    let refuse = |error: ::board::BoardError| Refusal::invalid(error.code, error.message.clone(), error.details);
    let name = Arguments(params).text("name").map_err(refuse)?;
    let empty = Map::new();
    let given = match params.get("arguments") {
        None | Some(Value::Null) => &empty,
        Some(Value::Object(given)) => given,
        Some(_) => return Err(refuse(super::arguments::invalid("arguments", "must be an object"))),
    };
    let arguments = Arguments(given);
    let (description, text) = match name {
        "start-work" => {
            let card = arguments.text("cardId").map_err(refuse)?;
            let bundle = board.context(Some(card), CONTEXT).map_err(refuse)?;
            let actor = arguments.optional("actor").map(|actor| format!(" as `{actor}`")).unwrap_or_default();
            let steps = format!(
                "Before you work on {card}:\n\n1. Read the rules below; they hold.\n2. Claim {card}{actor} with `project_card_claim`, and name the \
                 paths you will really touch in `scope`.\n3. Speak to whoever an overlap names.\n4. Ask when a criterion is not clear."
            );
            (format!("Start work on {card}"), format!("{steps}\n\n{}", bundle.markdown))
        }
        "finish-work" => {
            let card = arguments.text("cardId").map_err(refuse)?;
            let bundle = board.context(Some(card), CONTEXT).map_err(refuse)?;
            let outcome = arguments
                .optional("outcome")
                .map(|outcome| format!("\n\nWhat came out: {outcome}"))
                .unwrap_or_default();
            let steps = format!(
                "To finish {card}:\n\n1. Prove every acceptance criterion, one by one.\n2. Note what the next person has to know.\n3. Move it to \
                 `done` with `project_card_transition`, saying how it was proved.\n4. Add a change for what users notice, and a learning for \
                 what surprised you."
            );
            (format!("Finish work on {card}"), format!("{steps}{outcome}\n\n{}", bundle.markdown))
        }
        "record-knowledge" => {
            let observation = arguments.text("observation").map_err(refuse)?;
            let source = arguments
                .optional("sourceId")
                .map(|id| format!("\n\nIt came up with {id}; put that into `related`."))
                .unwrap_or_default();
            let text = format!(
                "Record this with `project_memory_add`:\n\n> {observation}\n\nWhich collection? `learnings` for what you would have liked to know, \
                 `decisions` for what was chosen and why, `incidents` for what went wrong, `conventions` for what everybody keeps to, `context` for \
                 what holds for a while. Search first: an existing record is better changed than repeated.{source}"
            );
            ("Record an observation".to_owned(), text)
        }
        other => return Err(Refusal::invalid("MCP_PROMPT_NOT_FOUND", format!("there is no prompt `{other}`"), None)),
    };
    Ok(
        json!({ "description": description, "messages": [{ "role": "user", "content": { "type": "text", "text": text } }] }),
    )
}
