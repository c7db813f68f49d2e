//! The board's server: tools, resources and prompts in front of the protocol.

use std::panic::AssertUnwindSafe;

use ::board::{Board, BoardError, Checks, Kind, Record, Surroundings, Workspace};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp::ordered::{OrderedFamily, Refusal, ServerInfo};
use model::Origin;
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::history::{Change, Recorder};
use super::{fitting, prompts, schemas, tools};

/// A workspace that is served.
pub(crate) struct BoardServer {
    board: Board,
    read_only: bool,
    around: Surroundings,
    recorder: Option<Recorder>,
}

/// Who calls a tool, and from where.
pub(crate) struct Caller<'a> {
    pub(crate) origin: Origin,
    /// The name a client gives itself.
    pub(crate) client: Option<&'a str>,
    /// Whether the answer is cut to the size that clients take.
    pub(crate) fitted: bool,
}

fn refusal(error: &BoardError) -> Refusal {
    Refusal::invalid(error.code, error.message.clone(), error.details.clone())
}

fn argument_required(name: &str) -> Refusal {
    refusal(&super::arguments::required(name))
}

impl BoardServer {
    pub(crate) fn new(workspace: Workspace, read_only: bool, around: Surroundings) -> Self {
        let read_only = read_only || !workspace.config().mcp.allow_mutations;
        Self { board: Board::new(workspace), read_only, around, recorder: None }
    }

    /// The same, with every change recorded in the history.
    pub(crate) fn recorded(mut self, recorder: Recorder) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// The board that is served.
    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    /// Whether nothing may be written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether a tool only reads; one that does not exist changes nothing either.
    pub(crate) fn only_reads(tool: &str) -> bool {
        schemas::find(tool).is_none_or(|tool| tool.reads)
    }

    /// Who acts where nobody says so.
    pub(crate) fn actor(&self) -> String {
        self.around.actor(None).name
    }

    /// Everything that is offered, without a connection.
    pub(crate) fn inventory(&self) -> Value {
        let tools: Vec<Value> = schemas::tools(self.read_only)
            .iter()
            .map(|tool| json!({ "name": tool.name, "title": tool.title, "mutating": !tool.reads, "annotations": tool.annotations() }))
            .collect();
        let info = self.info();
        json!({
            "protocolVersion": mcp::ordered::MODERN,
            "legacyProtocolVersion": mcp::ordered::LEGACY,
            "supportedProtocolVersions": mcp::ordered::REVISIONS,
            "protocolEra": "dual",
            "transport": "stdio",
            "server": { "name": info.name, "title": info.title, "version": info.version },
            "readOnly": self.read_only,
            "tools": tools,
            "resources": self.fixed_resources(),
            "prompts": prompts::list(),
            "semanticSearch": false,
            "integrations": [],
        })
    }

    fn call(&self, params: &Map<String, Value>, client: Option<&str>) -> Result<Value, Refusal> {
        let name = params.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
        let name = name.ok_or_else(|| argument_required("name"))?;
        let answer = self.answer(name, params, client);
        Ok(match answer {
            Ok(answer) => {
                json!({ "content": [{ "type": "text", "text": tools::line(&answer) }], "structuredContent": answer })
            }
            Err(error) => json!({
                "isError": true,
                "content": [{ "type": "text", "text": format!("{}: {}", error.code, error.message) }],
                "structuredContent": { "error": error.to_json() },
            }),
        })
    }

    fn answer(&self, name: &str, params: &Map<String, Value>, client: Option<&str>) -> Result<Value, BoardError> {
        let empty = Map::new();
        let arguments = match params.get("arguments") {
            None | Some(Value::Null) => &empty,
            Some(Value::Object(arguments)) => arguments,
            // A tool that does not exist is the greater fault.
            Some(_) if schemas::find(name).is_some() => {
                return Err(super::arguments::invalid("arguments", "must be an object"));
            }
            Some(_) => &empty,
        };
        self.tool(name, arguments, &Caller { origin: Origin::Mcp, client, fitted: true })
            .map_err(|error| fitting::fit_refusal(error, self.board.config().mcp.max_tool_result_bytes))
    }

    /// Calls a tool, and records what it changed.
    pub(crate) fn tool(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        caller: &Caller<'_>,
    ) -> Result<Value, BoardError> {
        let missing = || BoardError::new("MCP_TOOL_NOT_FOUND", format!("there is no tool `{name}`"));
        let tool = schemas::find(name).ok_or_else(missing)?;
        if self.read_only && !tool.reads {
            return Err(BoardError::new("MCP_SERVER_READ_ONLY", "this server only reads"));
        }
        let mut around = self.around.clone();
        around.client = caller.client.map(str::to_owned).or(around.client);
        let call = tools::ToolCall {
            board: &self.board,
            arguments: Arguments(arguments),
            around: &around,
            read_only: self.read_only,
        };
        let recorder = self.recorder.as_ref().filter(|_| !tool.reads);
        let before = recorder.and_then(|_| {
            let id = arguments.get("id").and_then(Value::as_str)?;
            self.board.index().get(id.trim()).map(|record| record.revision.clone())
        });
        // A fault of ours in one call must not end the server.
        let answer = std::panic::catch_unwind(AssertUnwindSafe(|| tools::call(name, &call)))
            .map_err(|_| BoardError::new("INTERNAL_ERROR", format!("`{name}` failed; this is a fault of the program")))?
            .ok_or_else(missing)??;
        if let Some(recorder) = recorder {
            let actor = around.actor(arguments.get("actor").and_then(Value::as_str)).name;
            recorder.record(&Change {
                tool: name,
                title: &tool.title,
                arguments,
                actor: &actor,
                origin: caller.origin,
                client: caller.client,
                before,
                answer: &answer,
            });
        }
        if !caller.fitted {
            return Ok(answer);
        }
        fitting::fit(answer, self.board.config().mcp.max_tool_result_bytes, !tool.reads)
    }

    /// Ticks and unticks criteria of a card by their numbers: `{id, check, uncheck, expectedRevision}`. No tool does, so
    /// that an agent proves what it says; a person may.
    pub(crate) fn tick(&self, arguments: &Map<String, Value>, origin: Origin) -> Result<Value, BoardError> {
        if self.read_only {
            return Err(BoardError::new("MCP_SERVER_READ_ONLY", "this server only reads"));
        }
        let call = Arguments(arguments);
        let id = call.text("id")?;
        let numbers = |name: &str| -> Vec<usize> {
            let list = arguments.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(Value::as_u64).filter_map(|number| usize::try_from(number).ok()).collect()
        };
        let before = self.board.index().get(id.trim()).map(|record| record.revision.clone());
        let ticked =
            self.board.tick_criteria(id, &numbers("check"), &numbers("uncheck"), call.optional("expectedRevision"))?;
        let answer = json!({ "record": ticked });
        if let Some(recorder) = &self.recorder {
            recorder.record(&Change {
                tool: "card-ac",
                title: "Tick criteria",
                arguments,
                actor: &self.actor(),
                origin,
                client: None,
                before,
                answer: &answer,
            });
        }
        Ok(answer)
    }

    /// The doctor's answer, with as many findings as fit when it is laid out for people.
    fn health(&self) -> Result<Value, BoardError> {
        let most = self.board.config().mcp.max_tool_result_bytes;
        let report = self.board.doctor(Checks::default()).to_json();
        let laid_out = |report: &Value| serde_json::to_string_pretty(report).map_or(usize::MAX, |text| text.len());
        let mut most_plain = most;
        loop {
            let fitting = fitting::fit(report.clone(), most_plain, false)?;
            let over = laid_out(&fitting).saturating_sub(most);
            if over == 0 {
                return Ok(fitting);
            }
            // Laid out, each row that is dropped saves at least as much.
            most_plain = most_plain.saturating_sub(over.div_ceil(2).max(1));
        }
    }

    fn protocol(&self) -> Option<String> {
        let canonical = &self.board.config().agents.canonical;
        disk::read_inside(self.board.workspace().root(), canonical, model::Limits::PROJECT_FILE_BYTES).ok()
    }

    fn fixed_resources(&self) -> Vec<Value> {
        let fixed = |uri: &str, title: &str, description: &str, mime: &str, audience: &[&str], priority: f64| {
            json!({
                "uri": uri, "name": title.to_lowercase(), "title": title, "description": description, "mimeType": mime,
                "annotations": { "audience": audience, "priority": priority },
            })
        };
        let both = ["user", "assistant"];
        let mut found = vec![
            json!({
                "uri": "project://workspace", "name": "workspace", "title": "Workspace",
                "description": "Name, version and effective schema of this workspace", "mimeType": "application/json",
                "annotations": { "audience": both, "priority": 1 },
            }),
            fixed("project://health", "Health", "What the doctor finds", "application/json", &both, 0.9),
        ];
        if self.protocol().is_some() {
            found.push(json!({
                "uri": "project://protocol", "name": "protocol", "title": "Protocol", "description": "How to work with these records",
                "mimeType": "text/markdown", "annotations": { "audience": ["assistant"], "priority": 1 },
            }));
        }
        found
    }

    fn resources(&self, params: &Map<String, Value>) -> Result<Value, Refusal> {
        let size = i64::try_from(self.board.config().mcp.resource_page_size).unwrap_or(100);
        let limit = Arguments(params).count("limit", 1, 500, size).map_err(|error| refusal(&error))?;
        let offset = match params.get("cursor").filter(|cursor| !cursor.is_null()) {
            None => 0,
            Some(cursor) => {
                let offset = cursor
                    .as_str()
                    .and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
                    .and_then(|bytes| String::from_utf8(bytes).ok());
                offset.and_then(|text| text.parse::<usize>().ok()).ok_or_else(|| {
                    Refusal::invalid("MCP_CURSOR_INVALID", "the cursor is not one that was given out", None)
                })?
            }
        };
        let fixed = self.fixed_resources();
        let index = self.board.index();
        let total = fixed.len() + index.records().len();
        let records = index.records().iter().map(|record| record_resource(record));
        let page: Vec<Value> = fixed.into_iter().chain(records).skip(offset).take(limit).collect();
        let next = offset.saturating_add(page.len());
        let mut answer = Map::from_iter([("resources".to_owned(), json!(page))]);
        if next < total && !page.is_empty() {
            answer.insert("nextCursor".into(), json!(URL_SAFE_NO_PAD.encode(next.to_string())));
        }
        Ok(Value::Object(answer))
    }

    fn read(&self, params: &Map<String, Value>) -> Result<Value, Refusal> {
        let uri = params.get("uri").and_then(Value::as_str).map(str::trim).filter(|uri| !uri.is_empty());
        let uri = uri.ok_or_else(|| argument_required("uri"))?;
        let missing = || Refusal::invalid("MCP_RESOURCE_NOT_FOUND", format!("there is no resource `{uri}`"), None);
        let json_text = |value: &Value| ("application/json", serde_json::to_string_pretty(value).unwrap_or_default());
        let (mime, text) = match uri.strip_prefix("project://").ok_or_else(missing)? {
            "workspace" => json_text(&self.board.workspace().describe(self.read_only)),
            "health" => json_text(&self.health().map_err(|error| refusal(&error))?),
            "protocol" => ("text/markdown", self.protocol().ok_or_else(missing)?),
            other => {
                let encoded = other.strip_prefix("record/").filter(|id| !id.is_empty()).ok_or_else(missing)?;
                let id = decoded(encoded).ok_or_else(|| {
                    Refusal::invalid("MCP_RESOURCE_URI_INVALID", format!("`{uri}` is not a valid URI"), None)
                })?;
                let record = self.board.get(&id).map_err(|_| missing())?;
                ("text/markdown", record_markdown(&record))
            }
        };
        Ok(json!({ "contents": [{ "uri": uri, "mimeType": mime, "text": text }] }))
    }
}

impl OrderedFamily for BoardServer {
    fn info(&self) -> ServerInfo {
        ServerInfo {
            name: "workflow-code-board".into(),
            title: "Workflow Code Board".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            description: "Work records of a repository: cards, documents, changelog and memory".into(),
            instructions: "Work records of this repository. Start with `project_next` and `project_agent_context`; claim a card before \
                           you work on it; read a record before you write it, and pass its `revision` as `expectedRevision`. \
                           `project_workspace` says which areas, kinds and verification methods this project accepts."
                .into(),
        }
    }

    fn line_limit(&self) -> usize {
        self.board.config().mcp.max_message_bytes
    }

    fn request(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        client: Option<&str>,
    ) -> Result<Option<Value>, Refusal> {
        Ok(Some(match method {
            "tools/list" => {
                let tools: Vec<Value> = schemas::tools(self.read_only).iter().map(|tool| tool.to_json()).collect();
                json!({ "tools": tools })
            }
            "tools/call" => self.call(params, client)?,
            "resources/list" => self.resources(params)?,
            "resources/templates/list" => json!({ "resourceTemplates": [{
                "uriTemplate": "project://record/{id}", "name": "record", "title": "Record", "description": "Any record by its id",
                "mimeType": "text/markdown",
            }] }),
            "resources/read" => self.read(params)?,
            "prompts/list" => json!({ "prompts": prompts::list() }),
            "prompts/get" => prompts::get(&self.board, params)?,
            _ => return Ok(None),
        }))
    }
}

fn record_resource(record: &Record) -> Value {
    let doing = record.kind == Kind::Card && record.status() == "doing";
    let mut annotations = json!({ "audience": ["user", "assistant"], "priority": if doing { 0.9 } else { 0.6 } });
    if let Value::Object(map) = &mut annotations
        && !record.updated().is_empty()
    {
        map.insert("lastModified".into(), json!(format!("{}T00:00:00.000Z", record.updated())));
    }
    json!({
        "uri": format!("project://record/{}", encoded(&record.id)), "name": record.id, "title": format!("{} — {}", record.id, record.title),
        "description": format!("{} ({})", record.kind.name(), record.path), "mimeType": "text/markdown", "annotations": annotations,
    })
}

fn record_markdown(record: &Map<String, Value>) -> String {
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("").replace('\n', " ");
    let mut lines = vec!["---".to_owned()];
    for key in ["id", "kind", "recordType", "title", "status", "area", "path", "revision"] {
        if !text(key).is_empty() {
            lines.push(format!("{key}: {}", text(key)));
        }
    }
    for key in ["outgoing", "incoming"] {
        let ids: Vec<&str> = record
            .get(key)
            .and_then(Value::as_array)
            .map(|links| links.iter().filter_map(|link| link.get("id").and_then(Value::as_str)).collect())
            .unwrap_or_default();
        if !ids.is_empty() {
            lines.push(format!("{key}: [{}]", ids.join(", ")));
        }
    }
    lines.push("---".into());
    let mut markdown = format!("{}\n\n# {} — {}", lines.join("\n"), text("id"), text("title"));
    let body = record.get("body").and_then(Value::as_str).unwrap_or("");
    if !body.is_empty() {
        markdown.push_str(&format!("\n\n{body}"));
    }
    markdown
}

fn encoded(id: &str) -> String {
    let mut text = String::new();
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn decoded(text: &str) -> Option<String> {
    let source = text.as_bytes();
    let mut bytes = Vec::with_capacity(source.len());
    let mut at = 0;
    while at < source.len() {
        if source[at] == b'%' {
            let digit = |offset: usize| source.get(at + offset).and_then(|byte| char::from(*byte).to_digit(16));
            bytes.push(u8::try_from(digit(1)? * 16 + digit(2)?).ok()?);
            at += 3;
        } else {
            bytes.push(source[at]);
            at += 1;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_uris() {
        assert_eq!(decoded(&encoded("T-0001 é/%")).as_deref(), Some("T-0001 é/%"));
        for broken in ["%E0%A4%A", "%", "%zz", "%FF"] {
            assert_eq!(decoded(broken), None);
        }
    }

    #[test]
    fn what_is_asked_for_wrongly_is_refused_with_its_code() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("project.config.mjs"), "export default {};").expect("written");
        let workspace = Workspace::open(Some(root.path()), root.path(), false).expect("a workspace");
        let mut server = BoardServer::new(workspace, false, Surroundings::default());
        let mut call = |name: &str, arguments: Value| {
            let params = json!({ "name": name, "arguments": arguments });
            let answer = server.request("tools/call", params.as_object().expect("an object"), None);
            let answer = answer.expect("a result").expect("known");
            let error = answer["structuredContent"]["error"].clone();
            (
                error["code"].as_str().unwrap_or("").to_owned(),
                error["details"]["argument"].as_str().unwrap_or("").to_owned(),
            )
        };
        let required = |argument: &str| ("MCP_ARGUMENT_REQUIRED".to_owned(), argument.to_owned());
        assert_eq!(call("project_card_create", json!({})), required("title"));
        assert_eq!(call("project_card_create", json!({ "title": " " })), required("title"));
        for query in [json!({}), json!({ "query": "  " })] {
            assert_eq!(call("project_search", query), required("query"));
        }
        for (tool, above) in
            [("project_card_list", 201), ("project_search", 101), ("project_next", 21), ("project_agent_context", 51)]
        {
            for limit in [json!(1.5), json!(0), json!(above)] {
                let arguments = json!({ "limit": limit, "query": "x", "cardId": "T-0001" });
                assert_eq!(
                    call(tool, arguments),
                    ("MCP_ARGUMENT_INVALID".to_owned(), "limit".to_owned()),
                    "{tool} {limit}"
                );
            }
        }
        let read = json!({ "uri": "project://record/%E0%A4%A" });
        let broken = server.request("resources/read", read.as_object().expect("an object"), None).expect_err("refused");
        assert_eq!(broken.data.expect("data")["code"], "MCP_RESOURCE_URI_INVALID");
    }

    #[test]
    fn the_health_resource_fits_and_says_what_is_left_out() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("project.config.mjs"), "export default { mcp: { maxToolResultBytes: 8192 } };")
            .expect("written");
        std::fs::create_dir_all(root.path().join(".project/cards")).expect("made");
        for at in 0..60 {
            std::fs::write(root.path().join(format!(".project/cards/T-{at:04}-x.md")), "no card").expect("written");
        }
        let workspace = Workspace::open(Some(root.path()), root.path(), false).expect("a workspace");
        let mut server = BoardServer::new(workspace, false, Surroundings::default());
        let read = json!({ "uri": "project://health" });
        let answer =
            server.request("resources/read", read.as_object().expect("an object"), None).expect("read").expect("known");
        let text = answer["contents"][0]["text"].as_str().expect("text");
        let health: Value = serde_json::from_str(text).expect("JSON");
        assert!(text.len() <= 8192, "{}", text.len());
        assert!(health["issues"].as_array().is_some_and(|issues| issues.len() > 10), "{text}");
        assert!(health["resultTruncated"]["records"].as_u64() > Some(0) && health["counts"]["error"] == 60);
        let call = json!({ "name": "project_doctor", "arguments": {} });
        let answer =
            server.request("tools/call", call.as_object().expect("an object"), None).expect("a result").expect("known");
        assert!(answer["structuredContent"]["resultTruncated"]["records"].as_u64() > Some(0));
    }

    #[test]
    fn a_reading_server_and_its_pages() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("project.config.mjs"), "export default {};").expect("written");
        let workspace = Workspace::open(Some(root.path()), root.path(), false).expect("a workspace");
        let mut server = BoardServer::new(workspace, true, Surroundings::default());
        let mut ask =
            |method: &str, params: Value| server.request(method, params.as_object().expect("an object"), None);
        let call = |name: &str| json!({ "name": name, "arguments": { "title": "x" } });
        let code = |answer: Result<Option<Value>, Refusal>| {
            answer.expect("a result").expect("known")["structuredContent"]["error"]["code"].clone()
        };
        assert_eq!(code(ask("tools/call", call("project_card_create"))), "MCP_SERVER_READ_ONLY");
        assert_eq!(code(ask("tools/call", call("project_nope"))), "MCP_TOOL_NOT_FOUND");
        let past =
            ask("resources/list", json!({ "cursor": URL_SAFE_NO_PAD.encode("100") })).expect("a page").expect("known");
        assert_eq!(past, json!({ "resources": [] }));
        let broken = ask("resources/list", json!({ "cursor": "!!" })).expect_err("refused");
        assert_eq!(broken.data.expect("data")["code"], "MCP_CURSOR_INVALID");
        assert!(ask("nothing/here", json!({})).expect("no refusal").is_none());
    }
}
