//! Lists and searches: rows to choose from.

use serde_json::{Value, json};

use crate::board::{Board, Fields};
use crate::cards::enum_invalid;
use crate::error::{Result, refuse};
use crate::index::excerpt;
use crate::record::{Kind, Record};
use crate::search::{self, Searched};
use crate::vocabulary::{PRIORITIES, STATUSES, TYPES};

/// A part of a list.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// At most this many rows.
    pub limit: usize,
    /// Rows passed over.
    pub offset: usize,
}

/// Which cards.
#[derive(Debug, Clone, Default)]
pub struct CardFilter {
    /// Statuses; empty is any, here and below.
    pub status: Vec<String>,
    /// Areas.
    pub area: Vec<String>,
    /// Types.
    pub kind: Vec<String>,
    /// Priorities.
    pub priority: Vec<String>,
    /// The parent.
    pub parent: Option<String>,
    /// Who holds it.
    pub claimed_by: Option<String>,
    /// Held by nobody.
    pub unclaimed: bool,
    /// Any of these tags.
    pub tags: Vec<String>,
    /// Changed on this day or later.
    pub updated_since: Option<String>,
    /// Axis and value.
    pub axes: Vec<(String, String)>,
}

/// Which documents.
#[derive(Debug, Clone, Default)]
pub struct DocFilter {
    /// Kinds.
    pub kind: Vec<String>,
    /// Statuses.
    pub status: Vec<String>,
    /// Managed or indexed only.
    pub managed: Option<bool>,
}

/// Which changes.
#[derive(Debug, Clone, Default)]
pub struct ChangeFilter {
    /// Types.
    pub kind: Vec<String>,
    /// Areas.
    pub area: Vec<String>,
    /// Visibilities.
    pub visibility: Vec<String>,
    /// Released or unreleased fragments only.
    pub released: Option<bool>,
}

/// Which memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// Collections.
    pub collection: Vec<String>,
    /// Statuses.
    pub status: Vec<String>,
}

/// A search.
#[derive(Debug, Clone)]
pub struct SearchQuery<'a> {
    /// The query.
    pub query: &'a str,
    /// Kinds; empty is any.
    pub kinds: &'a [String],
    /// Whole records instead of summaries.
    pub full: bool,
    /// Which part.
    pub page: Page,
}

/// Tells whether a list names a record's field; an empty one names any, without looking.
fn any(list: &[String], record: &Record, field: impl for<'a> Fn(&'a Record) -> &'a str) -> bool {
    list.is_empty() || list.iter().any(|one| one == field(record))
}

impl CardFilter {
    /// Refuses words that no card can have, as writing them is refused: nothing found would look like an answer.
    ///
    /// # Errors
    ///
    /// `CARD_ENUM_INVALID`.
    pub fn check(&self) -> Result<()> {
        let words = [
            ("status", &self.status, &STATUSES[..]),
            ("type", &self.kind, &TYPES),
            ("priority", &self.priority, &PRIORITIES),
        ];
        for (field, wanted, allowed) in words {
            if let Some(unknown) = wanted.iter().find(|word| !allowed.contains(&word.as_str())) {
                return Err(enum_invalid(field, unknown, allowed));
            }
        }
        Ok(())
    }

    pub(crate) fn admits(&self, card: &Record) -> bool {
        card.kind == Kind::Card
            && any(&self.status, card, |one| one.text("status"))
            && any(&self.area, card, |one| one.text("area"))
            && any(&self.kind, card, |one| one.text("type"))
            && any(&self.priority, card, |one| one.text("priority"))
            && self.parent.as_deref().is_none_or(|parent| card.text("parent") == parent)
            && self.claimed_by.as_deref().is_none_or(|by| card.text("claimed_by") == by)
            && (!self.unclaimed || card.text("claimed_by").is_empty())
            && (self.tags.is_empty() || card.list("tags").iter().any(|tag| self.tags.iter().any(|one| one == tag)))
            && self.updated_since.as_deref().is_none_or(|day| card.text("updated") >= day)
            && self.axes.iter().all(|(axis, value)| card.text(axis) == value)
    }
}

impl Board {
    fn rows(&self, page: Page, admits: impl Fn(&Record) -> bool) -> Value {
        let index = self.index();
        let found: Vec<usize> = (0..index.records.len()).filter(|at| admits(&index.records[*at])).collect();
        let rows: Vec<Fields> =
            found.iter().skip(page.offset).take(page.limit).map(|at| index.row(*at, self.config())).collect();
        json!({ "records": rows, "total": found.len(), "offset": page.offset, "limit": page.limit })
    }

    /// Lists cards as rows, in id order: `{records, total, offset, limit}`.
    #[must_use]
    pub fn list_cards(&self, filter: &CardFilter, page: Page) -> Value {
        self.rows(page, |record| filter.admits(record))
    }

    /// Lists documents as rows.
    #[must_use]
    pub fn list_docs(&self, filter: &DocFilter, page: Page) -> Value {
        self.rows(page, |record| {
            record.kind == Kind::Doc
                && any(&filter.kind, record, Record::document_kind)
                && any(&filter.status, record, Record::status)
                && filter.managed.is_none_or(|managed| record.managed == managed)
        })
    }

    /// Lists fragments and releases as rows.
    #[must_use]
    pub fn list_changes(&self, filter: &ChangeFilter, page: Page) -> Value {
        self.rows(page, |record| {
            matches!(record.kind, Kind::Change | Kind::Release)
                && any(&filter.kind, record, |one| one.text("type"))
                && any(&filter.area, record, |one| one.text("area"))
                && any(&filter.visibility, record, |one| one.text("visibility"))
                && filter.released.is_none_or(|released| record.kind == Kind::Change && record.released == released)
        })
    }

    /// Lists memory as rows.
    #[must_use]
    pub fn list_memory(&self, filter: &MemoryFilter, page: Page) -> Value {
        self.rows(page, |record| {
            record.kind == Kind::Memory
                && any(&filter.collection, record, Record::record_type)
                && any(&filter.status, record, Record::status)
        })
    }

    /// Whole records of one kind that `admits` lets through, in id order; of cards the live ones first.
    #[must_use]
    pub fn whole(&self, kind: &[Kind], admits: &dyn Fn(&Record) -> bool) -> Vec<Fields> {
        let index = self.index();
        let mut found: Vec<usize> = (0..index.records.len())
            .filter(|at| kind.contains(&index.records[*at].kind) && admits(&index.records[*at]))
            .collect();
        found.sort_by_key(|at| (index.records[*at].archived, *at));
        found.into_iter().map(|at| self.full(&index, at)).collect()
    }

    /// Whole cards that a filter lets through, the live ones first.
    #[must_use]
    pub fn cards(&self, filter: &CardFilter) -> Vec<Fields> {
        self.whole(&[Kind::Card], &|record| filter.admits(record))
    }

    /// Searches: `{records, total, offset, limit, view, mode, provider}`.
    ///
    /// # Errors
    ///
    /// `SEARCH_REGEX_INVALID`.
    pub fn search(&self, query: &SearchQuery<'_>) -> Result<Value> {
        let (index, lexicon) = self.searchable();
        let body = |at: usize| self.body(&index.records[at]);
        let searched = Searched { index: &index, lexicon: &lexicon, body: &body };
        let most = query.page.offset.saturating_add(query.page.limit);
        let found = search::search(&searched, query.query, query.kinds, most)?;
        let records: Vec<Fields> = found
            .hits
            .iter()
            .skip(query.page.offset)
            .map(|hit| {
                if query.full {
                    let mut record = self.full(&index, hit.at);
                    record.insert("searchScore".into(), json!(hit.score));
                    record
                } else {
                    let excerpt = hit.excerpt.clone().unwrap_or_else(|| excerpt(&body(hit.at)));
                    index.summary(hit.at, self.config(), Some(json!(hit.score)), &excerpt)
                }
            })
            .collect();
        Ok(json!({
            "records": records,
            "total": found.total,
            "offset": query.page.offset,
            "limit": query.page.limit,
            "view": if query.full { "full" } else { "summary" },
            "mode": found.mode,
            "provider": null,
        }))
    }

    /// Reads a day a list is filtered by: a day, or a moment read as its day.
    ///
    /// # Errors
    ///
    /// `MCP_ARGUMENT_INVALID`, never a filter that matches nothing.
    pub fn filter_day(text: &str) -> Result<String> {
        crate::moment::filter_day(text.trim()).ok_or_else(|| {
            refuse!("MCP_ARGUMENT_INVALID", "a day is written as 2026-01-31, or as the moment 2026-01-31T12:00:00Z")
                .with(json!({ "option": "updatedSince", "value": text }))
        })
    }
}
