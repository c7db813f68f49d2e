//! The tools: from arguments to an operation and its answer.

use ::board::{
    Board, BoardError, CardFilter, ChangeFilter, Checks, Claim, DocFilter, Fields, Forced, MemoryFilter, NewDoc, Page,
    Proof, SearchQuery, Surroundings, Whole,
};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;

type Answer = Result<Value, BoardError>;

/// Who calls what.
pub(crate) struct ToolCall<'a> {
    pub(crate) board: &'a Board,
    pub(crate) arguments: Arguments<'a>,
    pub(crate) around: &'a Surroundings,
    pub(crate) read_only: bool,
}

/// Calls a tool; `None` for one that does not exist.
pub(crate) fn call(name: &str, call: &ToolCall<'_>) -> Option<Answer> {
    Some(match name {
        "project_workspace" => Ok(call.board.workspace().describe(call.read_only)),
        "project_search" => call.search(),
        "project_get_record" => {
            call.arguments.text("id").and_then(|id| call.board.get(id)).map(|record| json!({ "record": record }))
        }
        "project_doctor" => Ok(call.doctor()),
        "project_agent_context" => call.context(),
        "project_next" => call.next(),
        "project_card_list" => call.card_list(),
        "project_doc_list" => call.doc_list(),
        "project_changelog_list" => call.changelog_list(),
        "project_memory_list" => call.memory_list(),
        "project_changelog_preview" => call
            .arguments
            .filter("fragmentIds")
            .and_then(|ids| call.board.preview(&ids, call.arguments.optional("visibility"))),
        "project_card_create" => call.card_create(),
        "project_card_patch" => call.card_patch(),
        "project_card_write" => call.card_write(),
        "project_card_note" => call.card_note(),
        "project_card_claim" => call.card_claim(),
        "project_card_release" => call.card_release(),
        "project_card_transition" => call.card_transition(),
        "project_card_archive" => call.card_archive(),
        "project_card_reopen" => call.card_reopen(),
        "project_doc_create" => call.doc_create(),
        "project_doc_patch" => call.doc_patch(),
        "project_doc_move" => call.doc_move(),
        "project_doc_write" => call.doc_write(),
        "project_doc_note" => call.doc_note(),
        "project_changelog_add" => call.changelog_add(),
        "project_changelog_patch" => call.changelog_patch(),
        "project_changelog_release" => call.changelog_release(),
        "project_memory_add" => call.memory_add(),
        "project_memory_patch" => call.memory_patch(),
        "project_memory_graduate" => call.memory_graduate(),
        "project_memory_supersede" => call.memory_supersede(),
        _ => return None,
    })
}

impl<'a> ToolCall<'a> {
    fn id(&self) -> Result<&'a str, BoardError> {
        self.arguments.text("id")
    }

    fn actor(&self) -> String {
        self.around.actor(self.arguments.optional("actor")).name
    }

    fn expected(&self) -> Option<&'a str> {
        self.arguments.optional("expectedRevision")
    }

    fn proof(&self) -> Proof<'a> {
        let text = |name| self.arguments.optional(name);
        Proof { method: text("method"), run: text("run"), evidence: text("evidence") }
    }

    fn record(&self, record: &Whole) -> Value {
        json!({ "record": record.to_json(self.board.config()) })
    }

    fn page(&self) -> Result<Page, BoardError> {
        Ok(Page {
            limit: self.arguments.count("limit", 1, 200, 50)?,
            offset: self.arguments.count("offset", 0, i64::from(u32::MAX), 0)?,
        })
    }

    fn search(&self) -> Answer {
        let query = self.arguments.text("query")?;
        let kinds = self.arguments.filter("kinds")?;
        let limit = self.arguments.count("limit", 1, 100, 20)?;
        let full = self.arguments.optional("view") == Some("full");
        self.board.search(&SearchQuery { query, kinds: &kinds, full, page: Page { limit, offset: 0 } })
    }

    fn doctor(&self) -> Value {
        let on = |name| self.arguments.flag(name).unwrap_or(true);
        self.board.doctor(Checks { paths: on("checkPaths"), git: on("checkGit") }).to_json()
    }

    fn context(&self) -> Answer {
        let card = self.arguments.text("cardId")?;
        let limit = self.arguments.count("limit", 1, 50, 20)?;
        self.board.context(Some(card), limit).map(|bundle| bundle.answer)
    }

    fn next(&self) -> Answer {
        let areas = self.arguments.filter("area")?;
        let limit = self.arguments.count("limit", 1, 20, 5)?;
        Ok(self.board.next(&self.actor(), &areas, limit, false))
    }

    fn card_list(&self) -> Answer {
        let arguments = &self.arguments;
        let updated_since = arguments.optional("updatedSince").map(Board::filter_day).transpose()?;
        let filter = CardFilter {
            status: arguments.filter("status")?,
            area: arguments.filter("area")?,
            kind: arguments.filter("type")?,
            priority: arguments.filter("priority")?,
            parent: arguments.optional("parent").map(str::to_owned),
            claimed_by: arguments.optional("claimedBy").map(str::to_owned),
            unclaimed: arguments.flag("unclaimed").unwrap_or(false),
            tags: arguments.filter("tags")?,
            updated_since,
            axes: Vec::new(),
        };
        Ok(self.board.list_cards(&filter, self.page()?))
    }

    fn doc_list(&self) -> Answer {
        let arguments = &self.arguments;
        let filter = DocFilter {
            kind: arguments.filter("kind")?,
            status: arguments.filter("status")?,
            managed: arguments.flag("managed"),
        };
        Ok(self.board.list_docs(&filter, self.page()?))
    }

    fn changelog_list(&self) -> Answer {
        let arguments = &self.arguments;
        let filter = ChangeFilter {
            kind: arguments.filter("type")?,
            area: arguments.filter("area")?,
            visibility: arguments.filter("visibility")?,
            released: arguments.flag("released"),
        };
        Ok(self.board.list_changes(&filter, self.page()?))
    }

    fn memory_list(&self) -> Answer {
        let filter =
            MemoryFilter { collection: self.arguments.filter("collection")?, status: self.arguments.filter("status")? };
        Ok(self.board.list_memory(&filter, self.page()?))
    }

    fn card_create(&self) -> Answer {
        self.arguments.text("title")?;
        let texts =
            ["title", "status", "type", "priority", "area", "parent", "source", "raised", "effort", "start", "due"];
        let mut fields = self.arguments.fields(&texts, &["depends", "tags", "scope", "related", "origin"])?;
        if let Some(axes) = self.arguments.0.get("axes") {
            fields.insert("axes".into(), axes.clone());
        }
        self.board.create_card(fields, self.arguments.body("body")).map(|record| self.record(&record))
    }

    fn changes(&self) -> Result<Fields, BoardError> {
        Ok(self.arguments.object("changes")?.cloned().unwrap_or_default())
    }

    fn card_patch(&self) -> Answer {
        let (id, changes) = (self.id()?, self.changes()?);
        let forced = Forced { force: self.arguments.flag("force").unwrap_or(false), reason: None, may_close: false };
        self.board
            .patch_card(id, &changes, &self.actor(), &self.proof(), &forced, self.expected())
            .map(|record| self.record(&record))
    }

    fn card_write(&self) -> Answer {
        let (record, ignored) = self.board.write_card(self.id()?, self.arguments.body("body"), self.expected())?;
        Ok(json!({ "record": record.to_json(self.board.config()), "ignored": ignored }))
    }

    fn card_note(&self) -> Answer {
        let (id, text) = (self.id()?, self.arguments.text("text")?);
        self.board
            .note_card(id, text, self.arguments.optional("section"), &self.actor())
            .map(|record| self.record(&record))
    }

    fn card_claim(&self) -> Answer {
        let id = self.id()?;
        let (actor, scope) = (self.actor(), self.arguments.list("scope")?);
        let claim = Claim {
            actor: &actor,
            scope: scope.as_deref(),
            force: self.arguments.flag("force").unwrap_or(false),
            reason: self.arguments.optional("reason"),
        };
        let (record, warnings) = self.board.claim_card(id, &claim, self.expected())?;
        Ok(json!({ "record": record.to_json(self.board.config()), "warnings": warnings }))
    }

    fn card_release(&self) -> Answer {
        let id = self.id()?;
        let forced = Forced {
            force: self.arguments.flag("force").unwrap_or(false),
            reason: self.arguments.optional("reason"),
            // A claim may be freed by force here; a close is always a proven one.
            may_close: false,
        };
        let status = self.arguments.optional("status");
        self.board
            .release_card(id, status, &self.actor(), &self.proof(), &forced, self.expected())
            .map(|record| self.record(&record))
    }

    fn card_transition(&self) -> Answer {
        let (id, to) = (self.id()?, self.arguments.text("status")?);
        let scope = self.arguments.list("scope")?;
        self.board
            .transition_card(
                id,
                to,
                &self.actor(),
                scope.as_deref(),
                &self.proof(),
                &Forced::default(),
                self.expected(),
            )
            .map(|record| self.record(&record))
    }

    fn card_archive(&self) -> Answer {
        self.board.archive_card(self.id()?, &self.actor(), self.expected()).map(|record| json!({ "record": record }))
    }

    fn card_reopen(&self) -> Answer {
        let status = self.arguments.optional("status");
        self.board.reopen_card(self.id()?, status, &self.actor(), self.expected()).map(|record| self.record(&record))
    }

    fn doc_create(&self) -> Answer {
        self.arguments.text("title")?;
        let fields = self.arguments.fields(
            &["title", "kind", "status", "source", "review_after"],
            &["owners", "related", "supersedes", "scope", "tags"],
        )?;
        // An empty folder is the root, and none is the kind's own.
        let folder = self.arguments.0.get("folder").and_then(Value::as_str);
        self.board
            .create_doc(NewDoc { fields, folder, body: self.arguments.body("body") })
            .map(|record| self.record(&record))
    }

    fn doc_patch(&self) -> Answer {
        let (id, changes) = (self.id()?, self.changes()?);
        self.board.patch_doc(id, &changes, self.expected()).map(|record| self.record(&record))
    }

    fn doc_move(&self) -> Answer {
        self.board
            .move_doc(self.id()?, self.arguments.body("folder"), self.expected())
            .map(|record| self.record(&record))
    }

    fn doc_write(&self) -> Answer {
        let id = self.id()?;
        if !self.arguments.0.get("body").is_some_and(Value::is_string) {
            return Err(super::arguments::required("body"));
        }
        self.board.write_doc(id, self.arguments.body("body"), self.expected()).map(|record| self.record(&record))
    }

    fn doc_note(&self) -> Answer {
        let (id, text) = (self.id()?, self.arguments.text("text")?);
        self.board
            .note_doc(id, text, self.arguments.optional("section"), &self.actor())
            .map(|record| self.record(&record))
    }

    fn changelog_add(&self) -> Answer {
        self.arguments.text("title")?;
        let fields = self
            .arguments
            .fields(&["title", "type", "area", "visibility"], &["cards", "issues", "decisions", "related", "tags"])?;
        self.board.add_change(fields, self.arguments.body("body")).map(|record| self.record(&record))
    }

    fn changelog_patch(&self) -> Answer {
        let (id, changes) = (self.id()?, self.changes()?);
        self.board.patch_change(id, &changes, self.expected()).map(|record| self.record(&record))
    }

    fn changelog_release(&self) -> Answer {
        let version = self.arguments.text("version")?;
        let fields = self.arguments.fields(&["title", "date", "commit"], &["tags"])?;
        let ids = self.arguments.filter("fragmentIds")?;
        let (record, consumed) = self.board.release(version, fields, &ids, self.arguments.body("body"))?;
        Ok(json!({ "record": record.to_json(self.board.config()), "consumedFragments": consumed }))
    }

    fn memory_add(&self) -> Answer {
        let collection = self.arguments.text("collection")?;
        self.arguments.text("title")?;
        let texts = [
            "title",
            "status",
            "category",
            "confidence",
            "severity",
            "started_at",
            "resolved_at",
            "expires",
            "review_after",
        ];
        let lists =
            ["deciders", "related", "supersedes", "graduated_to", "corrective_actions", "scope", "owners", "tags"];
        let mut fields = self.arguments.fields(&texts, &lists)?;
        if self.arguments.0.get("occurrences").is_some_and(|value| !value.is_null()) {
            fields
                .insert("occurrences".into(), json!(self.arguments.integer("occurrences", 0, i64::from(u32::MAX), 0)?));
        }
        self.board.add_memory(collection, fields, self.arguments.body("body")).map(|record| self.record(&record))
    }

    fn memory_patch(&self) -> Answer {
        let (id, changes) = (self.id()?, self.changes()?);
        self.board.patch_memory(id, &changes, self.expected()).map(|record| self.record(&record))
    }

    fn memory_graduate(&self) -> Answer {
        let targets = self.arguments.filter("targets")?;
        self.board.graduate(self.id()?, &targets, self.expected()).map(|record| self.record(&record))
    }

    fn memory_supersede(&self) -> Answer {
        let (id, by) = (self.id()?, self.arguments.text("replacementId")?);
        let (record, replacement) = self.board.supersede(id, by, self.expected())?;
        let config = self.board.config();
        Ok(json!({ "record": record.to_json(config), "replacement": replacement.to_json(config) }))
    }
}

/// What is said in one line beside the data.
pub(crate) fn line(answer: &Value) -> String {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    if let Some(records) = answer.get("records").and_then(Value::as_array) {
        let total = answer.get("total").or_else(|| answer.get("totalAvailable")).and_then(Value::as_u64).unwrap_or(0);
        return format!("{} of {total} records.", records.len());
    }
    if let Some(record) = answer.get("record") {
        return format!("{} — {}", text(record, "id"), text(record, "title"));
    }
    if let Some(counts) = answer.get("counts") {
        let count = |key: &str| counts.get(key).and_then(Value::as_u64).unwrap_or(0);
        return format!("{} errors, {} warnings, {} notes.", count("error"), count("warning"), count("info"));
    }
    if let Some(fragments) = answer.get("fragments").and_then(Value::as_array) {
        return format!("{} fragments.", fragments.len());
    }
    match answer.get("name").and_then(Value::as_str) {
        Some(name) => format!("Workspace {name}."),
        None => "Done.".into(),
    }
}

/// How much of a body is kept when it has to be cut, in characters.
const KEPT_BODY: usize = 2000;

fn size(value: &Value) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

fn cut_body(body: &str, most: usize) -> Option<String> {
    let (end, _) = body.char_indices().nth(most)?;
    Some(format!("{}…", &body[..end]))
}

/// Makes an answer fit: rows are dropped from the end, a body is cut. What is marked is marked in `resultTruncated`.
///
/// # Errors
///
/// `MCP_TOOL_RESULT_TOO_LARGE`. After a write it says so, with the record's id and revision.
pub(crate) fn fit(mut answer: Value, most: usize, wrote: bool) -> Result<Value, BoardError> {
    let bytes = size(&answer);
    if bytes <= most {
        return Ok(answer);
    }
    let Value::Object(map) = &mut answer else { return Err(too_large(bytes, most, None)) };
    if map.contains_key("records") {
        // The same in Markdown would leave no room for a single row.
        if let Some(markdown) = map.get("markdown").and_then(Value::as_str).and_then(|text| cut_body(text, 200)) {
            map.insert("markdown".into(), json!(markdown));
        }
        let Some(Value::Array(rows)) = map.remove("records") else { return Err(too_large(bytes, most, None)) };
        let count = rows.len();
        let mut frame = map.clone();
        frame.insert("records".into(), json!([]));
        frame.insert("resultTruncated".into(), json!({ "records": count }));
        let mut left = most.saturating_sub(size(&Value::Object(frame)));
        let mut kept = Vec::new();
        for row in rows {
            let need = size(&row) + 1;
            if need > left {
                break;
            }
            left -= need;
            kept.push(row);
        }
        let dropped = count - kept.len();
        map.insert("records".into(), Value::Array(kept));
        if dropped > 0 {
            map.insert("resultTruncated".into(), json!({ "records": dropped }));
        }
        let now = size(&answer);
        return if now <= most { Ok(answer) } else { Err(too_large(bytes, most, None)) };
    }
    let body = map.get("record").and_then(|record| record.get("body")).and_then(Value::as_str).map(str::to_owned);
    let short = body.as_deref().and_then(|body| cut_body(body, KEPT_BODY));
    if let (Some(body), Some(short)) = (&body, short) {
        put_body(map, &short, body.len());
        if size(&answer) <= most {
            return Ok(answer);
        }
    }
    if !wrote {
        return Err(too_large(bytes, most, None));
    }
    let written = answer.get("record").cloned().unwrap_or(Value::Null);
    // A body that is never cut is the whole of it: only its record can be named.
    if body
        .as_deref()
        .is_some_and(|body| !body.is_empty() && body.chars().count() <= KEPT_BODY && body.len() > most / 2)
    {
        return Err(too_large(bytes, most, Some(&written)));
    }
    let mut record = Map::new();
    for key in ["id", "kind", "recordType", "title", "path", "status", "revision"] {
        if let Some(value) = written.get(key) {
            record.insert(key.into(), value.clone());
        }
    }
    let short = json!({ "record": record, "resultTruncated": { "bodyBytes": body.map_or(0, |body| body.len()) } });
    if size(&short) <= most { Ok(short) } else { Err(too_large(bytes, most, Some(&written))) }
}

fn put_body(map: &mut Map<String, Value>, body: &str, bytes: usize) {
    if let Some(Value::Object(record)) = map.get_mut("record") {
        record.insert("body".into(), json!(body));
    }
    map.insert("resultTruncated".into(), json!({ "bodyBytes": bytes }));
}

fn too_large(bytes: usize, most: usize, written: Option<&Value>) -> BoardError {
    let mut details = Map::from_iter([("bytes".to_owned(), json!(bytes)), ("maximumBytes".to_owned(), json!(most))]);
    let mut message = format!("the answer has {bytes} bytes, and at most {most} are sent; ask for less");
    if let Some(written) = written {
        message = format!("it was written; only the answer of {bytes} bytes does not fit into {most}");
        details.insert("written".into(), json!(true));
        for key in ["id", "revision"] {
            if let Some(value) = written.get(key) {
                details.insert(key.into(), value.clone());
            }
        }
    }
    BoardError::new("MCP_TOOL_RESULT_TOO_LARGE", message).with(Value::Object(details))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_dropped_and_the_tools_own_mark_stays() {
        let rows: Vec<Value> =
            (0..50).map(|at| json!({ "id": format!("T-{at:04}"), "title": "x".repeat(40) })).collect();
        let answer = json!({ "records": rows, "total": 50, "truncated": true, "markdown": "m".repeat(5000) });
        let fitted = fit(answer, 2048, false).expect("rows fit");
        assert!(size(&fitted) <= 2048);
        let kept = fitted["records"].as_array().map_or(0, Vec::len);
        assert_eq!(
            (fitted["truncated"].as_bool(), fitted["resultTruncated"]["records"].as_u64()),
            (Some(true), Some(50 - kept as u64))
        );
        assert!(kept > 5);
    }

    #[test]
    fn a_write_that_happened_is_never_told_as_if_it_had_not() {
        let record = |body: &str| json!({ "record": { "id": "T-0001", "title": "t", "revision": "sha256:1", "body": body, "tags": ["t".repeat(3000)] } });
        assert_eq!(fit(record("x"), 2048, true).expect("short")["record"]["id"], "T-0001");
        assert_eq!(fit(record("x"), 2048, false).expect_err("read").code, "MCP_TOOL_RESULT_TOO_LARGE");
        let wide = json!({ "record": { "id": "T-0002", "revision": "r", "body": "é".repeat(1900) } });
        let error = fit(wide, 2048, true).expect_err("its body is never cut");
        assert_eq!(error.details.expect("details")["written"], true);
        let long = json!({ "record": { "id": "T-0003", "body": "y".repeat(5000) } });
        let cut = fit(long, 4096, false).expect("cut");
        assert_eq!(
            (
                cut["resultTruncated"]["bodyBytes"].as_u64(),
                cut["record"]["body"].as_str().map(|body| body.chars().count())
            ),
            (Some(5000), Some(2001))
        );
    }
}
