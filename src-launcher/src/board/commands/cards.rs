//! `card …`.

use ::board::{Board, BoardError, CardFilter, Claim, Fields, Forced, Proof};
use serde_json::{Value, json};

use super::{Command, Result, read_input, row, rows, value_rows};
use crate::board::cli::Done;
use crate::board::options::{invalid, needed, no_choice};

impl Command<'_> {
    pub(super) fn card_list(&self) -> Result<Done> {
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
            let names: Vec<&str> = self.board.config().cards.axes.iter().map(|(name, _)| name.as_str()).collect();
            let values = self.board.config().axis(axis).ok_or_else(|| no_choice("axis", axis, &names))?;
            if !values.iter().any(|one| one == value) {
                return Err(no_choice("axis", value, values));
            }
            axes.push((axis.to_owned(), value.to_owned()));
        }
        let filter = CardFilter {
            status: list("status"),
            area: options.choices("area", &self.board.config().cards.areas)?,
            kind: list("type"),
            priority: list("priority"),
            parent: options.get("parent").map(str::to_owned),
            claimed_by: options.get("claimed-by").map(str::to_owned),
            unclaimed: options.flag("unclaimed"),
            tags: list("tag"),
            updated_since,
            axes,
        };
        filter.check()?;
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

    pub(super) fn card_show(&self) -> Result<Done> {
        self.options.allow("card show", &[], false)?;
        let id = self.id()?;
        let acceptance = self.board.card_acceptance(id)?;
        let mut card = self.board.get(id)?;
        if acceptance["present"] == json!(true) {
            card.insert("acceptance".into(), acceptance);
        }
        Ok(self.shown(card))
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

    pub(super) fn card_create(&self) -> Result<Done> {
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

    pub(super) fn card_patch(&self) -> Result<Done> {
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

    pub(super) fn card_claim(&self) -> Result<Done> {
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

    pub(super) fn card_release(&self) -> Result<Done> {
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

    pub(super) fn card_transition(&self) -> Result<Done> {
        let known = ["actor", "scope", "force", "reason", "method", "run", "evidence", "expected-revision"];
        self.options.allow("card transition", &known, false)?;
        let (id, to) = (self.options.word(2, "an id")?, self.options.word(3, "a status")?);
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

    pub(super) fn card_archive(&self) -> Result<Done> {
        self.options.allow("card archive", &["actor", "expected-revision"], false)?;
        Ok(self.fields(self.board.archive_card(self.id()?, &self.actor(), self.expected())?))
    }

    pub(super) fn card_reopen(&self) -> Result<Done> {
        self.options.allow("card reopen", &["actor", "status", "expected-revision"], false)?;
        let record = self.board.reopen_card(self.id()?, self.options.get("status"), &self.actor(), self.expected())?;
        Ok(self.record(&record))
    }

    pub(super) fn card_note(&self) -> Result<Done> {
        self.options.allow("card note", &["text", "section", "actor"], false)?;
        let (id, text) = (self.id()?, self.options.needed("text")?);
        Ok(self.record(&self.board.note_card(id, text, self.options.get("section"), &self.actor())?))
    }

    pub(super) fn card_write(&self) -> Result<Done> {
        self.options.allow("card write", &["body-file", "expected-revision"], false)?;
        let body = read_input(self.options.get("body-file").unwrap_or("-"))?;
        let (record, ignored) = self.board.write_card(self.id()?, &body, self.expected())?;
        let mut done = self.record(&record);
        done.answer["ignored"] = json!(ignored);
        Ok(done)
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Vec<usize>> {
        let all = self.options.all(name).iter().flat_map(|text| text.split(','));
        all.map(|text| {
            text.trim().trim_start_matches('#').parse().map_err(|_| invalid(name, "must be a criterion's number", text))
        })
        .collect()
    }

    pub(super) fn card_ac(&self) -> Result<Done> {
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

    pub(super) fn card_verify(&self) -> Result<Done> {
        self.options.allow("card verify", &["changed", "base", "only", "actor", "close", "run", "commit"], false)?;
        let actor = self.actor();
        if self.options.flag("changed") {
            if self.options.words.len() > 2 {
                return Err(BoardError::new("CLI_ARGUMENT_CONFLICT", "`--changed` finds its cards itself"));
            }
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

    pub(super) fn card_reap(&self) -> Result<Done> {
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

    pub(super) fn card_renumber(&self) -> Result<Done> {
        self.options.allow("card renumber", &["to", "actor", "duplicates"], false)?;
        if self.options.flag("duplicates") && (self.options.words.len() > 2 || self.options.get("to").is_some()) {
            return Err(BoardError::new("CLI_ARGUMENT_CONFLICT", "`--duplicates` finds its records itself"));
        }
        let answer = if self.options.flag("duplicates") {
            self.board.renumber_duplicates(&self.actor())?
        } else {
            self.board.renumber(self.options.word(2, "an id or a file")?, self.options.get("to"), &self.actor())?
        };
        let text = answer.to_string();
        Ok(Done::new(answer, text))
    }
}
