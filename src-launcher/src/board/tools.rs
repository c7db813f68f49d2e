//! The tools: from arguments to an operation and its answer.

use ::board::{
    Board, BoardError, CardFilter, ChangeFilter, Checks, Claim, DocFilter, Fields, Forced, MemoryFilter, NewDoc, Page,
    Proof, SearchQuery, Surroundings, Whole,
};
use serde_json::{Value, json};

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
        return crate::out::one_line(&format!("{} — {}", text(record, "id"), text(record, "title")));
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
