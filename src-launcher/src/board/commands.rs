//! What every command does: the operations of the tools, with the answers of a command line.

use std::io::Read as _;

use ::board::{
    Board, BoardError, CardFilter, Checks, Claim, Collection, Fields, FileReport, Forced, InitOptions, Kind, NewDoc,
    Page, Proof, Record, SearchQuery, Surroundings,
};
use serde_json::{Map, Value, json};

use super::cli::Done;
use super::options::{Options, invalid, needed};

type Result<T> = std::result::Result<T, BoardError>;

/// The most that is read from a file or standard input.
const MOST_INPUT: u64 = 16 * 1024 * 1024;

/// One command with what it works on.
pub(crate) struct Command<'a> {
    pub(crate) board: &'a Board,
    pub(crate) options: &'a Options,
    pub(crate) around: Surroundings,
}

fn unknown(group: &str, word: &str) -> BoardError {
    BoardError::new("CLI_COMMAND_UNKNOWN", format!("there is no command `{group} {word}`"))
}

fn read_input(path: &str) -> Result<String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(MOST_INPUT).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MOST_INPUT).read_to_end(&mut bytes))
    };
    read.map_err(|error| BoardError::new("CLI_ARGUMENT_INVALID", format!("`{path}` cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| BoardError::new("CLI_ARGUMENT_INVALID", format!("`{path}` is not UTF-8")))
}

fn row(record: &Map<String, Value>) -> String {
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or("");
    let status = if text("status").is_empty() { text("version") } else { text("status") };
    let reason = text("reason");
    let more = if reason.is_empty() { String::new() } else { format!("  ({reason})") };
    format!("{:<12} {:<10} {}{more}", text("id"), status, text("title"))
}

fn rows(records: &[Fields]) -> String {
    records.iter().map(row).collect::<Vec<_>>().join("\n")
}

fn value_rows(records: &Value) -> String {
    records.as_array().into_iter().flatten().filter_map(Value::as_object).map(row).collect::<Vec<_>>().join("\n")
}

fn reports(found: &[FileReport]) -> Done {
    let text: Vec<String> = found.iter().map(|report| format!("{:<10} {}", report.status, report.path)).collect();
    let answer = json!({ "files": found.iter().map(FileReport::to_json).collect::<Vec<_>>(), "ok": found.iter().all(FileReport::is_current) });
    Done::new(answer, text.join("\n"))
}

/// `init`.
pub(crate) fn init(options: &Options) -> Result<Done> {
    options.allow("init", &["yes", "name", "areas", "docs", "agents", "ci", "no-scripts", "force"], true)?;
    let root =
        options.get("root").map_or_else(|| std::env::current_dir().unwrap_or_default(), std::path::PathBuf::from);
    let init = InitOptions {
        name: options.get("name").map(str::to_owned),
        areas: options.list("areas").unwrap_or_default(),
        force: options.flag("force"),
        dry: options.flag("dry-run"),
    };
    let answer = ::board::init(&root, &init)?;
    let text = format!("{} is a workspace.", root.display());
    Ok(Done::new(answer, text))
}

/// `card WORD`.
pub(crate) fn card(call: &Command<'_>, word: Option<&str>) -> Result<Done> {
    match word.ok_or_else(|| BoardError::new("CLI_COMMAND_REQUIRED", "`card` needs a command"))? {
        "list" => call.card_list(),
        "show" => call.card_show(),
        "create" | "add" => call.card_create(),
        "patch" => call.card_patch(),
        "claim" => call.card_claim(),
        "release" => call.card_release(),
        "transition" => call.card_transition(),
        "archive" => call.card_archive(),
        "reopen" => call.card_reopen(),
        "note" => call.card_note(),
        "write" => call.card_write(),
        "ac" => call.card_ac(),
        "verify" => call.card_verify(),
        "reap" => call.card_reap(),
        "renumber" => call.card_renumber(),
        other => Err(unknown("card", other)),
    }
}

/// The other groups of commands.
pub(crate) fn others(call: &Command<'_>, group: &str, word: Option<&str>) -> Result<Done> {
    let word = match (group, word) {
        (_, Some(word)) => word,
        ("claude", None) => "check",
        _ => return Err(BoardError::new("CLI_COMMAND_REQUIRED", format!("`{group}` needs a command"))),
    };
    match (group, word) {
        ("doc", "list") => call.doc_list(),
        ("doc" | "changelog" | "memory", "show") => call.show(group),
        ("doc", "create" | "add") => call.doc_create(),
        ("doc", "move") => call.doc_move(),
        ("doc" | "changelog" | "memory", "patch") => call.patch(group),
        ("doc", "write") => call.doc_write(),
        ("doc", "note") => call.doc_note(),
        ("changelog", "list") => call.changelog_list(),
        ("changelog", "add" | "create") => call.changelog_add(),
        ("changelog", "preview") => call.changelog_preview(),
        ("changelog", "release") => call.changelog_release(),
        ("changelog", "render") => call.changelog_render(),
        ("changelog" | "memory", "verify") => call.verify_module(group),
        ("memory", "list") => call.memory_list(),
        ("memory", "add" | "create") => call.memory_add(),
        ("memory", "graduate") => call.memory_graduate(),
        ("memory", "supersede") => call.memory_supersede(),
        ("agents", "context") => call.context(),
        ("agents", "whoami") => call.whoami(),
        ("agents" | "ci", "sync" | "install") => call.generated_sync(group),
        ("agents" | "ci", "check" | "status") => call.generated_check(group),
        ("claude", "install" | "sync") => call.claude_install(),
        ("claude", "check" | "status") => call.claude_check(),
        ("claude", "uninstall") => call.claude_uninstall(),
        ("claude", "plugin") => call.claude_plugin(),
        _ => Err(unknown(group, word)),
    }
}

impl Command<'_> {
    fn actor(&self) -> String {
        self.around.actor(self.options.get("actor")).name
    }

    fn id(&self) -> Result<&str> {
        let id = self.options.word(2, "an id")?;
        self.options.no_more(3)?;
        Ok(id)
    }

    fn proof(&self) -> Proof<'_> {
        Proof {
            method: self.options.get("method"),
            run: self.options.get("run"),
            evidence: self.options.get("evidence"),
        }
    }

    fn forced(&self) -> Forced<'_> {
        Forced { force: self.options.flag("force"), reason: self.options.get("reason"), may_close: true }
    }

    fn expected(&self) -> Option<&str> {
        self.options.get("expected-revision")
    }

    fn record(&self, record: &Record) -> Done {
        self.fields(record.to_json(self.board.config()))
    }

    fn fields(&self, record: Fields) -> Done {
        let text = row(&record);
        Done::new(Value::Object(record), text)
    }

    fn no_changes(&self) -> BoardError {
        needed("something to change")
    }

    /// Fields given as options, a flag each, and as JSON.
    fn given(&self, names: &[&str], lists: &[&str]) -> Result<Fields> {
        let mut fields = Map::new();
        if let Some(path) = self.options.get("json-input") {
            let text = read_input(path)?;
            match serde_json::from_str(&text) {
                Ok(Value::Object(map)) => fields.extend(map),
                Ok(_) => return Err(BoardError::new("CLI_ARGUMENT_INVALID", "`--json-input` must hold an object")),
                Err(error) => {
                    return Err(BoardError::new("CLI_ARGUMENT_INVALID", format!("`--json-input` is no JSON: {error}")));
                }
            }
        }
        for name in names {
            if let Some(text) = self.options.get(&name.replace('_', "-")) {
                fields.insert((*name).to_owned(), json!(text));
            }
        }
        for name in lists {
            if let Some(list) = self.options.list(&name.replace('_', "-")) {
                fields.insert((*name).to_owned(), json!(list));
            }
        }
        let mut axes = Map::new();
        for pair in self.options.all("axis") {
            let (axis, value) = pair.split_once('=').ok_or_else(|| invalid("axis", "must be NAME=VALUE", pair))?;
            axes.insert(axis.trim().to_owned(), json!(value.trim()));
        }
        if !axes.is_empty() {
            fields.insert("axes".into(), Value::Object(axes));
        }
        Ok(fields)
    }

    fn body(&self) -> Result<String> {
        match (self.options.get("body"), self.options.get("body-file")) {
            (Some(body), _) => Ok(body.to_owned()),
            (None, Some(path)) => read_input(path),
            (None, None) => Ok(String::new()),
        }
    }

    pub(crate) fn schema(&self) -> Result<Done> {
        self.options.allow("schema", &[], false)?;
        let schema = self.board.config().schema();
        let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
        Ok(Done::new(schema, text))
    }

    pub(crate) fn next(&self) -> Result<Done> {
        self.options.allow("next", &["actor", "area", "limit"], false)?;
        let limit = self.options.number("limit", 1)?.unwrap_or(5);
        let areas = self.options.list("area").unwrap_or_default();
        let mut answer = self.board.next(&self.actor(), &areas, limit, true);
        let total = answer["total"].as_u64().unwrap_or(0);
        answer["truncated"] = json!(total > answer["records"].as_array().map_or(0, Vec::len) as u64);
        let text = value_rows(&answer["records"]);
        Ok(Done::new(answer, text))
    }

    pub(crate) fn search(&self) -> Result<Done> {
        self.options.allow("search", &["kind", "limit", "mode", "query"], false)?;
        let query = match self.options.get("query") {
            Some(query) => query.to_owned(),
            None => self.options.words.get(1..).unwrap_or_default().join(" "),
        };
        if query.trim().is_empty() {
            return Err(needed("a query"));
        }
        match self.options.get("mode") {
            None | Some("auto" | "lexical") => {}
            Some("hybrid") => {
                return Err(BoardError::new(
                    "SEARCH_PROVIDER_UNAVAILABLE",
                    "there is no search provider; search is by words",
                ));
            }
            Some(other) => return Err(invalid("mode", "must be auto, lexical or hybrid", other)),
        }
        let kinds = self.options.list("kind").unwrap_or_default();
        let limit = self.options.number("limit", 1)?.unwrap_or(20);
        let answer = self.board.search(&SearchQuery {
            query: &query,
            kinds: &kinds,
            full: true,
            page: Page { limit, offset: 0 },
        })?;
        let text = value_rows(&answer["records"]);
        Ok(Done::new(answer, text))
    }

    pub(crate) fn doctor(&self) -> Result<Done> {
        let options = self.options;
        options.allow(
            "doctor",
            &["severity", "max-issues", "rebuild-cache", "fix", "actor", "new", "accept-baseline"],
            false,
        )?;
        if let Some(severity) =
            options.get("severity").filter(|severity| !["error", "warning", "info"].contains(severity))
        {
            return Err(invalid("severity", "must be error, warning or info", severity));
        }
        let most = options.number("max-issues", 0)?;
        let fixed = if options.flag("fix") { Some(self.board.fix(&self.actor())?) } else { None };
        let mut report = self.board.doctor(Checks::default());
        if options.flag("accept-baseline") {
            let accepted = self.board.accept_baseline(&report)?;
            let text = format!("{} findings are accepted.", accepted["accepted"]);
            return Ok(Done::new(json!({ "baseline": accepted }), text));
        }
        let baseline = if options.flag("new") { Some(self.board.only_new(&mut report)?) } else { None };
        let failing = if baseline.is_some() { !report.lines().is_empty() } else { !report.ok() };
        let suppressed = report.restrict(options.get("severity"), most);
        let mut answer = report.to_json();
        if options.get("severity").is_some() || most.is_some() {
            answer["suppressed"] = json!(suppressed);
        }
        if let Some((known, resolved)) = baseline {
            answer["baseline"] = json!({ "known": known, "resolved": resolved });
        }
        if let Some(fixed) = fixed {
            answer["fixed"] = fixed;
        }
        let mut lines = report.lines();
        lines.push(format!("{} errors, {} warnings", answer["counts"]["error"], answer["counts"]["warning"]));
        Ok(Done::new(answer, lines.join("\n")).failing(failing))
    }

    pub(crate) fn upgrade(&self) -> Result<Done> {
        self.options.allow("upgrade", &[], true)?;
        let dry = self.options.flag("dry-run");
        let config = self.board.config();
        let mut found = Vec::new();
        if config.agents.enabled {
            found.extend(self.board.sync_generated("agents", &[], false, dry)?);
        }
        if config.ci.enabled {
            found.extend(self.board.sync_generated("ci", &[], false, dry)?);
        }
        // Only what was installed before.
        if self.board.check_surface().iter().any(|report| report.status != "missing") {
            found.extend(self.board.install_surface(false, dry)?);
        }
        let surfaces: Vec<Value> = found.iter().map(FileReport::to_json).collect();
        let own = std::env::current_exe().ok();
        let answer = json!({ "version": env!("CARGO_PKG_VERSION"), "dryRun": dry, "surfaces": surfaces, "orphans": [], "binary": own });
        let text = reports(&found).text;
        Ok(Done::new(answer, text))
    }

    fn card_list(&self) -> Result<Done> {
        let options = self.options;
        let known = [
            "status",
            "area",
            "type",
            "priority",
            "parent",
            "claimed-by",
            "unclaimed",
            "tag",
            "updated-since",
            "axis",
            "limit",
            "offset",
            "fields",
            "with-body",
        ];
        options.allow("card list", &known, false)?;
        let updated_since = match options.get("updated-since") {
            None => None,
            Some(text) => Some(
                Board::filter_day(text).map_err(|_| invalid("updated-since", "must be a day, as 2026-01-31", text))?,
            ),
        };
        let list = |name: &str| options.list(name).unwrap_or_default();
        let mut axes = Vec::new();
        for pair in options.all("axis") {
            let (axis, value) = pair.split_once('=').ok_or_else(|| invalid("axis", "must be NAME=VALUE", pair))?;
            axes.push((axis.to_owned(), value.to_owned()));
        }
        let filter = CardFilter {
            status: list("status"),
            area: list("area"),
            kind: list("type"),
            priority: list("priority"),
            parent: options.get("parent").map(str::to_owned),
            claimed_by: options.get("claimed-by").map(str::to_owned),
            unclaimed: options.flag("unclaimed"),
            tags: list("tag"),
            updated_since,
            axes,
        };
        let (limit, offset) = (options.number("limit", 1)?, options.number("offset", 0)?.unwrap_or(0));
        let found = self.board.cards(&filter);
        let total = found.len();
        let fields = options.list("fields");
        let page: Vec<Fields> = found
            .into_iter()
            .skip(offset)
            .take(limit.unwrap_or(usize::MAX))
            .map(|mut card| {
                for graph in ["outgoing", "incoming", "incomingTotal", "issues"] {
                    card.remove(graph);
                }
                if !options.flag("with-body") {
                    let body = card.remove("body");
                    card.insert("bodyBytes".into(), json!(body.as_ref().and_then(Value::as_str).map_or(0, str::len)));
                }
                match &fields {
                    None => card,
                    Some(fields) => {
                        fields.iter().filter_map(|name| Some((name.clone(), card.get(name)?.clone()))).collect()
                    }
                }
            })
            .collect();
        let text = rows(&page);
        let truncated = offset + page.len() < total;
        Ok(Done::new(json!({ "records": page, "total": total, "offset": offset, "truncated": truncated }), text))
    }

    fn card_show(&self) -> Result<Done> {
        self.options.allow("card show", &[], false)?;
        let id = self.id()?;
        let acceptance = self.board.card_acceptance(id)?;
        let mut card = self.board.get(id)?;
        if acceptance["present"] == json!(true) {
            card.insert("acceptance".into(), acceptance);
        }
        Ok(self.shown(card))
    }

    /// A record with its text.
    fn shown(&self, record: Fields) -> Done {
        let body = record.get("body").and_then(Value::as_str).unwrap_or("");
        let text = format!("{}\n\n{body}", row(&record));
        Done::new(Value::Object(record), text)
    }

    const CARD_TEXTS: [&'static str; 12] = [
        "title",
        "status",
        "type",
        "priority",
        "area",
        "parent",
        "milestone",
        "source",
        "effort",
        "raised",
        "start",
        "due",
    ];
    const CARD_LISTS: [&'static str; 5] = ["depends", "tags", "scope", "related", "origin"];

    fn card_create(&self) -> Result<Done> {
        let mut known: Vec<&str> = Self::CARD_TEXTS.to_vec();
        known.extend(Self::CARD_LISTS);
        known.extend(["json-input", "axis", "body", "body-file"]);
        self.options.allow("card create", &known, false)?;
        let mut fields = self.given(&Self::CARD_TEXTS, &Self::CARD_LISTS)?;
        let body = match fields.remove("body") {
            Some(Value::String(body)) => body,
            _ => self.body()?,
        };
        if !fields.contains_key("title") {
            return Err(needed("--title"));
        }
        Ok(self.record(&self.board.create_card(fields, &body)?))
    }

    fn card_patch(&self) -> Result<Done> {
        let mut known: Vec<&str> = Self::CARD_TEXTS.to_vec();
        known.extend(Self::CARD_LISTS);
        known.extend([
            "json-input",
            "axis",
            "actor",
            "force",
            "reason",
            "method",
            "run",
            "evidence",
            "expected-revision",
        ]);
        self.options.allow("card patch", &known, false)?;
        let id = self.id()?;
        let changes = self.given(&Self::CARD_TEXTS, &Self::CARD_LISTS)?;
        if changes.is_empty() {
            return Err(self.no_changes());
        }
        let record =
            self.board.patch_card(id, &changes, &self.actor(), &self.proof(), &self.forced(), self.expected())?;
        Ok(self.record(&record))
    }

    fn card_claim(&self) -> Result<Done> {
        self.options.allow("card claim", &["scope", "actor", "force", "reason", "expected-revision"], false)?;
        let (actor, scope) = (self.actor(), self.options.list("scope"));
        let claim = Claim {
            actor: &actor,
            scope: scope.as_deref(),
            force: self.options.flag("force"),
            reason: self.options.get("reason"),
        };
        let (record, warnings) = self.board.claim_card(self.id()?, &claim, self.expected())?;
        let record = record.to_json(self.board.config());
        let mut text = row(&record);
        for warning in &warnings {
            text.push_str(&format!("\nscope overlaps with {} of {}", warning["cardId"], warning["claimedBy"]));
        }
        Ok(Done::new(json!({ "record": record, "warnings": warnings }), text))
    }

    fn card_release(&self) -> Result<Done> {
        self.options.allow(
            "card release",
            &["actor", "status", "force", "reason", "method", "run", "evidence", "expected-revision"],
            false,
        )?;
        let status = self.options.get("status");
        let record = self.board.release_card(
            self.id()?,
            status,
            &self.actor(),
            &self.proof(),
            &self.forced(),
            self.expected(),
        )?;
        Ok(self.record(&record))
    }

    fn card_transition(&self) -> Result<Done> {
        let known = ["actor", "scope", "force", "reason", "method", "run", "evidence", "expected-revision"];
        self.options.allow("card transition", &known, false)?;
        let (id, to) = (self.options.word(2, "an id")?, self.options.word(3, "a status")?);
        self.options.no_more(4)?;
        let scope = self.options.list("scope");
        let record = self.board.transition_card(
            id,
            to,
            &self.actor(),
            scope.as_deref(),
            &self.proof(),
            &self.forced(),
            self.expected(),
        )?;
        Ok(self.record(&record))
    }

    fn card_archive(&self) -> Result<Done> {
        self.options.allow("card archive", &["actor", "expected-revision"], false)?;
        Ok(self.fields(self.board.archive_card(self.id()?, &self.actor(), self.expected())?))
    }

    fn card_reopen(&self) -> Result<Done> {
        self.options.allow("card reopen", &["actor", "status", "expected-revision"], false)?;
        let record = self.board.reopen_card(self.id()?, self.options.get("status"), &self.actor(), self.expected())?;
        Ok(self.record(&record))
    }

    fn card_note(&self) -> Result<Done> {
        self.options.allow("card note", &["text", "section", "actor"], false)?;
        let (id, text) = (self.id()?, self.options.needed("text")?);
        Ok(self.record(&self.board.note_card(id, text, self.options.get("section"), &self.actor())?))
    }

    fn card_write(&self) -> Result<Done> {
        self.options.allow("card write", &["body-file", "expected-revision"], false)?;
        let body = read_input(self.options.get("body-file").unwrap_or("-"))?;
        let (record, ignored) = self.board.write_card(self.id()?, &body, self.expected())?;
        let mut done = self.record(&record);
        done.answer["ignored"] = json!(ignored);
        Ok(done)
    }

    fn numbers(&self, name: &str) -> Result<Vec<usize>> {
        let all = self.options.all(name).iter().flat_map(|text| text.split(','));
        all.map(|text| {
            text.trim().trim_start_matches('#').parse().map_err(|_| invalid(name, "must be a criterion's number", text))
        })
        .collect()
    }

    fn card_ac(&self) -> Result<Done> {
        self.options.allow("card ac", &["check", "uncheck", "expected-revision"], false)?;
        let id = self.id()?;
        let (check, uncheck) = (self.numbers("check")?, self.numbers("uncheck")?);
        let answer = if check.is_empty() && uncheck.is_empty() {
            self.board.card_acceptance(id)?
        } else {
            Value::Object(self.board.tick_criteria(id, &check, &uncheck, self.expected())?)
        };
        let read = answer.get("acceptance").unwrap_or(&answer);
        let lines: Vec<String> = read["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|item| {
                let mark = if item["checked"] == json!(true) { 'x' } else { ' ' };
                format!("[{mark}] {} {}", item["index"], item["text"].as_str().unwrap_or(""))
            })
            .collect();
        Ok(Done::new(answer.clone(), lines.join("\n")))
    }

    fn card_verify(&self) -> Result<Done> {
        self.options.allow("card verify", &["changed", "base", "only", "actor", "close", "run", "commit"], false)?;
        let actor = self.actor();
        if self.options.flag("changed") {
            let answer = self.board.verify_changed(self.options.needed("base")?, &actor)?;
            let failing = answer["ok"] != json!(true);
            let text = value_rows(&answer["cards"]);
            return Ok(Done::new(answer, text).failing(failing));
        }
        let id = self.id()?;
        let only = self.options.list("only").unwrap_or_default();
        let run = self.board.verify_card(id, &only, &actor)?;
        if run.ok && self.options.flag("close") {
            let proof = Proof {
                method: Some(if self.options.get("run").is_some() { "ci" } else { "local" }),
                run: self.options.get("run"),
                evidence: None,
            };
            self.board.transition_card(id, "done", &actor, None, &proof, &Forced::default(), None)?;
        }
        let lines: Vec<String> = run.answer["entries"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|entry| {
                format!("{:<10} {}", entry["outcome"].as_str().unwrap_or(""), entry["id"].as_str().unwrap_or(""))
            })
            .collect();
        Ok(Done::new(run.answer, lines.join("\n")).failing(!run.ok))
    }

    fn card_reap(&self) -> Result<Done> {
        self.options.allow("card reap", &["older-than", "actor"], true)?;
        let hours = match self.options.get("older-than") {
            None => None,
            Some(text) => {
                let hours =
                    text.trim_end_matches('h').parse::<f64>().ok().filter(|hours| hours.is_finite() && *hours >= 0.0);
                Some(hours.ok_or_else(|| invalid("older-than", "must be hours, as 48", text))?)
            }
        };
        let dry = self.options.flag("dry-run");
        let found = self.board.reap(hours, &self.actor(), dry)?;
        let records: Vec<Fields> = found.iter().map(|record| record.to_json(self.board.config())).collect();
        let text = rows(&records);
        let answer =
            if dry { json!({ "records": records }) } else { json!({ "released": records, "count": found.len() }) };
        Ok(Done::new(answer, text))
    }

    fn card_renumber(&self) -> Result<Done> {
        self.options.allow("card renumber", &["to", "actor", "duplicates"], false)?;
        let answer = if self.options.flag("duplicates") {
            self.board.renumber_duplicates(&self.actor())?
        } else {
            self.board.renumber(self.options.word(2, "an id or a file")?, self.options.get("to"), &self.actor())?
        };
        let text = answer.to_string();
        Ok(Done::new(answer, text))
    }

    /// Records of a group that are let through, as a list.
    fn listed(&self, kinds: &[Kind], admits: &dyn Fn(&Record) -> bool, scored: bool) -> Result<Done> {
        let limit = self.options.number("limit", 1)?.unwrap_or(usize::MAX);
        let mut found = match self.options.get("query") {
            None => self.board.whole(kinds, admits),
            Some(query) => {
                let names: Vec<String> = kinds.iter().map(|kind| kind.name().to_owned()).collect();
                let page = Page { limit: usize::MAX, offset: 0 };
                let answer = self.board.search(&SearchQuery { query, kinds: &names, full: true, page })?;
                let allowed: Vec<Value> =
                    self.board.whole(kinds, admits).iter().filter_map(|record| record.get("path").cloned()).collect();
                let records = answer["records"].as_array().cloned().unwrap_or_default();
                records
                    .into_iter()
                    .filter_map(|record| record.as_object().cloned())
                    .filter(|record| record.get("path").is_some_and(|path| allowed.contains(path)))
                    .collect()
            }
        };
        if scored {
            for record in &mut found {
                record.entry("searchScore").or_insert(json!(0));
            }
        }
        let total = found.len();
        found.truncate(limit);
        let text = rows(&found);
        Ok(Done::new(json!({ "records": found, "total": total }), text))
    }

    fn doc_list(&self) -> Result<Done> {
        self.options.allow("doc list", &["query", "managed", "indexed", "limit", "kind", "status"], false)?;
        let (kinds, statuses) =
            (self.options.list("kind").unwrap_or_default(), self.options.list("status").unwrap_or_default());
        let (managed, indexed) = (self.options.flag("managed"), self.options.flag("indexed"));
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        let admits = |record: &Record| {
            (!managed || record.managed)
                && (!indexed || !record.managed)
                && any(&kinds, record.document_kind())
                && any(&statuses, record.status())
        };
        self.listed(&[Kind::Doc], &admits, true)
    }

    fn show(&self, group: &str) -> Result<Done> {
        self.options.allow(&format!("{group} show"), &[], false)?;
        let id = self.id()?;
        let (kinds, code): (&[&str], &'static str) = match group {
            "doc" => (&["doc"], "DOC_NOT_FOUND"),
            "changelog" => (&["change", "release"], "CHANGELOG_RECORD_NOT_FOUND"),
            _ => (&["memory"], "MEMORY_NOT_FOUND"),
        };
        let record = self
            .board
            .get(id)
            .ok()
            .filter(|record| record.get("kind").and_then(Value::as_str).is_some_and(|kind| kinds.contains(&kind)));
        record.map(|record| self.shown(record)).ok_or_else(|| BoardError::new(code, format!("there is no `{id}`")))
    }

    fn patch(&self, group: &str) -> Result<Done> {
        let texts = [
            "title",
            "kind",
            "status",
            "type",
            "area",
            "visibility",
            "reviewed",
            "review_interval_days",
            "review_after",
            "source",
            "category",
            "confidence",
            "occurrences",
            "severity",
            "started_at",
            "resolved_at",
            "expires",
            "body",
        ];
        let lists = [
            "owners",
            "related",
            "supersedes",
            "superseded_by",
            "graduated_to",
            "corrective_actions",
            "deciders",
            "scope",
            "tags",
            "cards",
            "issues",
            "decisions",
        ];
        let dashed: Vec<String> = texts.iter().chain(&lists).map(|name| name.replace('_', "-")).collect();
        let mut known: Vec<&str> = dashed.iter().map(String::as_str).collect();
        known.extend(["json-input", "body-file", "expected-revision"]);
        self.options.allow(&format!("{group} patch"), &known, false)?;
        let id = self.id()?;
        let mut changes = self.given(&texts, &lists)?;
        if let Some(path) = self.options.get("body-file") {
            changes.insert("body".into(), json!(read_input(path)?));
        }
        if changes.is_empty() {
            return Err(self.no_changes());
        }
        let record = match group {
            "doc" => self.board.patch_doc(id, &changes, self.expected())?,
            "changelog" => self.board.patch_change(id, &changes, self.expected())?,
            _ => self.board.patch_memory(id, &changes, self.expected())?,
        };
        Ok(self.record(&record))
    }

    fn doc_create(&self) -> Result<Done> {
        let (texts, lists) = (
            ["title", "kind", "status", "source", "review_after"],
            ["owners", "related", "supersedes", "scope", "tags"],
        );
        let known = [
            "title",
            "kind",
            "status",
            "source",
            "review-after",
            "owners",
            "related",
            "supersedes",
            "scope",
            "tags",
            "folder",
            "body",
            "body-file",
            "json-input",
        ];
        self.options.allow("doc create", &known, false)?;
        let fields = self.given(&texts, &lists)?;
        if !fields.contains_key("title") {
            return Err(needed("--title"));
        }
        let body = self.body()?;
        Ok(self.record(&self.board.create_doc(NewDoc { fields, folder: self.options.get("folder"), body: &body })?))
    }

    fn doc_move(&self) -> Result<Done> {
        self.options.allow("doc move", &["folder", "expected-revision"], false)?;
        let folder = self
            .options
            .get("folder")
            .ok_or_else(|| BoardError::new("DOC_FOLDER_REQUIRED", "`--folder` is needed; `.` is the root"))?;
        Ok(self.record(&self.board.move_doc(self.id()?, folder, self.expected())?))
    }

    fn doc_write(&self) -> Result<Done> {
        self.options.allow("doc write", &["body-file", "expected-revision"], false)?;
        let body = read_input(self.options.get("body-file").unwrap_or("-"))?;
        Ok(self.record(&self.board.write_doc(self.id()?, &body, self.expected())?))
    }

    fn doc_note(&self) -> Result<Done> {
        self.options.allow("doc note", &["text", "section", "actor"], false)?;
        let (id, text) = (self.id()?, self.options.needed("text")?);
        Ok(self.record(&self.board.note_doc(id, text, self.options.get("section"), &self.actor())?))
    }

    fn changelog_list(&self) -> Result<Done> {
        self.options.allow("changelog list", &["query", "unreleased", "limit", "type", "area", "visibility"], false)?;
        let list = |name: &str| self.options.list(name).unwrap_or_default();
        let (types, areas, visibilities, unreleased) =
            (list("type"), list("area"), list("visibility"), self.options.flag("unreleased"));
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        let admits = |record: &Record| {
            !(unreleased && (record.kind == Kind::Release || record.released))
                && any(&types, record.text("type"))
                && any(&areas, record.text("area"))
                && any(&visibilities, record.text("visibility"))
        };
        self.listed(&[Kind::Change, Kind::Release], &admits, false)
    }

    fn changelog_add(&self) -> Result<Done> {
        let (texts, lists) =
            (["title", "type", "area", "visibility"], ["cards", "issues", "decisions", "related", "tags"]);
        let mut known: Vec<&str> = texts.to_vec();
        known.extend(lists);
        known.extend(["body", "body-file", "json-input"]);
        self.options.allow("changelog add", &known, false)?;
        let fields = self.given(&texts, &lists)?;
        if !fields.contains_key("title") {
            return Err(needed("--title"));
        }
        Ok(self.record(&self.board.add_change(fields, &self.body()?)?))
    }

    fn changelog_preview(&self) -> Result<Done> {
        self.options.allow("changelog preview", &["fragments", "visibility"], false)?;
        let ids = self.options.list("fragments").unwrap_or_default();
        let answer = self.board.preview(&ids, self.options.get("visibility"))?;
        let text = answer["markdown"].as_str().unwrap_or("").to_owned();
        Ok(Done::new(answer, text))
    }

    fn changelog_release(&self) -> Result<Done> {
        let known = [
            "title",
            "date",
            "fragments",
            "visibility",
            "commit",
            "tags",
            "body",
            "body-file",
            "amend",
            "expected-revision",
        ];
        self.options.allow("changelog release", &known, false)?;
        let version = self.options.word(2, "a version")?;
        let mut fields = self.given(&["title", "date", "commit"], &["tags"])?;
        if self.options.flag("amend") {
            if self.options.get("body").is_some() || self.options.get("body-file").is_some() {
                fields.insert("body".into(), json!(self.body()?));
            }
            return Ok(self.record(&self.board.amend(version, &fields, self.expected())?));
        }
        let ids = self.options.list("fragments").unwrap_or_default();
        let (record, _) = self.board.release(version, fields, &ids, &self.body()?)?;
        Ok(self.record(&record))
    }

    fn changelog_render(&self) -> Result<Done> {
        self.options.allow("changelog render", &["visibility", "write"], false)?;
        let (path, content) =
            self.board.render_changelog(self.options.get("visibility"), self.options.flag("write"))?;
        let answer = json!({ "path": self.board.workspace().root().join(path), "content": content });
        Ok(Done::new(answer, content))
    }

    fn verify_module(&self, group: &str) -> Result<Done> {
        self.options.allow(&format!("{group} verify"), &[], false)?;
        let report = self.board.doctor(Checks::default());
        let issues: Vec<Value> = report.to_json()["issues"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|issue| issue["module"] == json!(group))
            .cloned()
            .collect();
        let ok = issues.iter().all(|issue| issue["severity"] != json!("error"));
        let lines: Vec<String> = issues
            .iter()
            .map(|issue| {
                format!("{}: {}", issue["code"].as_str().unwrap_or(""), issue["message"].as_str().unwrap_or(""))
            })
            .collect();
        Ok(Done::new(json!({ "ok": ok, "issues": issues }), lines.join("\n")).failing(!ok))
    }

    /// A collection by its name or its singular.
    fn collection(name: &str) -> String {
        Collection::named_loosely(name).map_or_else(|| name.to_owned(), |one| one.name().to_owned())
    }

    fn memory_list(&self) -> Result<Done> {
        self.options.allow("memory list", &["query", "collection", "status", "limit"], false)?;
        let collections: Vec<String> =
            self.options.list("collection").unwrap_or_default().iter().map(|name| Self::collection(name)).collect();
        let statuses = self.options.list("status").unwrap_or_default();
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        let admits = |record: &Record| any(&collections, record.record_type()) && any(&statuses, record.status());
        self.listed(&[Kind::Memory], &admits, true)
    }

    fn memory_add(&self) -> Result<Done> {
        let texts = [
            "title",
            "status",
            "category",
            "confidence",
            "occurrences",
            "severity",
            "started_at",
            "resolved_at",
            "expires",
            "review_after",
        ];
        let lists =
            ["deciders", "related", "supersedes", "graduated_to", "corrective_actions", "scope", "owners", "tags"];
        let dashed: Vec<String> = texts.iter().chain(&lists).map(|name| name.replace('_', "-")).collect();
        let mut known: Vec<&str> = dashed.iter().map(String::as_str).collect();
        known.extend(["json-input", "body", "body-file"]);
        self.options.allow("memory add", &known, false)?;
        let collection = Self::collection(self.options.word(2, "a collection")?);
        let fields = self.given(&texts, &lists)?;
        if !fields.contains_key("title") {
            return Err(needed("--title"));
        }
        Ok(self.record(&self.board.add_memory(&collection, fields, &self.body()?)?))
    }

    fn memory_graduate(&self) -> Result<Done> {
        self.options.allow("memory graduate", &["to", "expected-revision"], false)?;
        let targets = self.options.list("to").unwrap_or_default();
        Ok(self.record(&self.board.graduate(self.id()?, &targets, self.expected())?))
    }

    fn memory_supersede(&self) -> Result<Done> {
        self.options.allow("memory supersede", &["by", "expected-revision"], false)?;
        let (record, _) = self.board.supersede(self.id()?, self.options.needed("by")?, self.expected())?;
        Ok(self.record(&record))
    }

    fn context(&self) -> Result<Done> {
        self.options.allow("agents context", &["card", "limit"], false)?;
        let limit = self.options.number("limit", 1)?.unwrap_or(20).min(50);
        let bundle = self.board.context(self.options.get("card"), limit)?;
        Ok(Done::new(bundle.answer, bundle.markdown))
    }

    fn whoami(&self) -> Result<Done> {
        self.options.allow("agents whoami", &["actor"], false)?;
        let actor = self.around.actor(self.options.get("actor"));
        let answer = json!({ "actor": actor.name, "source": actor.source, "sessionId": self.around.session });
        Ok(Done::new(answer, actor.name))
    }

    fn generated_sync(&self, group: &str) -> Result<Done> {
        self.options.allow(&format!("{group} sync"), &["targets", "force"], true)?;
        let targets = self.options.list("targets").unwrap_or_default();
        let found =
            self.board.sync_generated(group, &targets, self.options.flag("force"), self.options.flag("dry-run"))?;
        Ok(reports(&found))
    }

    fn generated_check(&self, group: &str) -> Result<Done> {
        self.options.allow(&format!("{group} check"), &["targets"], false)?;
        let found = self.board.check_generated(group, &self.options.list("targets").unwrap_or_default())?;
        let failing = !found.iter().all(FileReport::is_current);
        Ok(reports(&found).failing(failing))
    }

    fn claude_install(&self) -> Result<Done> {
        self.options.allow("claude install", &["force"], true)?;
        let found = self.board.install_surface(self.options.flag("force"), self.options.flag("dry-run"))?;
        let failing = found.iter().any(|report| report.status == "conflict");
        Ok(reports(&found).failing(failing))
    }

    fn claude_check(&self) -> Result<Done> {
        self.options.allow("claude check", &[], false)?;
        let found = self.board.check_surface();
        let failing = !found.iter().all(FileReport::is_current);
        let mut done = reports(&found).failing(failing);
        // The files name a bare command; whether it can be run here is the machine's affair.
        let reachable = crate::env_vars::get("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join("workflow-code").is_file()));
        done.answer["hookCommand"] = json!(if reachable { "reachable" } else { "unreachable" });
        if !reachable {
            done.text.push_str("\nunreachable  workflow-code is not in PATH here");
        }
        Ok(done)
    }

    fn claude_uninstall(&self) -> Result<Done> {
        self.options.allow("claude uninstall", &[], false)?;
        Ok(reports(&self.board.uninstall_surface()?))
    }

    fn claude_plugin(&self) -> Result<Done> {
        self.options.allow("claude plugin", &[], false)?;
        let into = std::path::Path::new(self.options.word(2, "a folder")?);
        let mut written = Vec::new();
        for (path, content) in self.board.plugin_files() {
            let at = into.join(&path);
            let made = at.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&at, content));
            made.map_err(|error| {
                BoardError::new("INTERNAL_ERROR", format!("`{}` cannot be written: {error}", at.display()))
            })?;
            written.push(path);
        }
        let text = written.join("\n");
        Ok(Done::new(json!({ "files": written }), text))
    }
}
