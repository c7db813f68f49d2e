//! What every command does: the operations of the tools, with the answers of a command line.
//!
//! Here: what the commands share, and those that belong to no group; a group's are in the module of its name.

mod agents;
mod cards;
mod changelog;
mod docs;
mod memory;

use std::collections::HashSet;
use std::io::Read as _;

use ::board::{
    Board, BoardError, Checks, Fields, FileReport, Forced, InitOptions, Kind, Page, Proof, Record, SearchQuery,
    Surroundings, Whole,
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
    format!("{:<12} {:<10} {}{more}", text("id"), status, crate::out::one_line(text("title")))
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
        agents: options.list("agents").unwrap_or_default(),
        ci: options.list("ci").unwrap_or_default(),
        docs: options.get("docs").map(str::to_owned),
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
        self.options.word(2, "an id")
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

    fn record(&self, record: &Whole) -> Done {
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
        let limit = self.options.number_to("limit", 1, 20)?.unwrap_or(5);
        let areas = self.options.choices("area", &self.board.config().cards.areas)?;
        let mut answer = self.board.next(&self.actor(), &areas, limit, true);
        let total = answer["total"].as_u64().unwrap_or(0);
        answer["truncated"] = json!(total > answer["records"].as_array().map_or(0, Vec::len) as u64);
        let text = value_rows(&answer["records"]);
        Ok(Done::new(answer, text))
    }

    pub(crate) fn search(&self) -> Result<Done> {
        self.options.allow("search", &["kind", "limit", "mode", "query"], false)?;
        let query = match self.options.get("query") {
            Some(_) if self.options.words.len() > 1 => {
                return Err(BoardError::new("CLI_ARGUMENT_CONFLICT", "a query is words or `--query`, and not both"));
            }
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
        let kinds = self.options.choices("kind", &Kind::ALL.map(Kind::name))?;
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

    /// A record with its text.
    fn shown(&self, record: Fields) -> Done {
        let body = record.get("body").and_then(Value::as_str).unwrap_or("");
        let text = format!("{}\n\n{body}", row(&record));
        Done::new(Value::Object(record), text)
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
                let admitted = self.board.whole(kinds, admits);
                let allowed: HashSet<&str> =
                    admitted.iter().filter_map(|record| record.get("path").and_then(Value::as_str)).collect();
                let records = answer["records"].as_array().cloned().unwrap_or_default();
                records
                    .into_iter()
                    .filter_map(|record| record.as_object().cloned())
                    .filter(|record| {
                        record.get("path").and_then(Value::as_str).is_some_and(|path| allowed.contains(path))
                    })
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
}
