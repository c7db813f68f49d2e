//! Everything an agent should have read before it works on a card, and no more.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::board::Board;
use crate::error::{Result, refuse};
use crate::paths;
use crate::record::{Kind, Record};
use crate::search::{self, Searched};
use crate::vocabulary::Collection;

/// How much of a card's body says what is relevant to it, in characters.
const ABOUT: usize = 600;
/// How much of each record the Markdown shows, in characters.
const SHOWN: usize = 1200;

/// A bundle of records for one card.
#[derive(Debug)]
pub struct Bundle {
    /// `{focus, provenance, generatedAt, truncated, totalAvailable, omitted, records, digest, markdown}`.
    pub answer: Value,
    /// The same as Markdown.
    pub markdown: String,
}

fn scopes_meet(card: Option<&Record>, record: &Record) -> bool {
    let mine = card.map(|card| card.list("scope")).unwrap_or_default();
    let theirs = record.list("scope");
    mine.is_empty() || theirs.is_empty() || mine.iter().any(|one| theirs.iter().any(|other| paths::overlap(one, other)))
}

fn is_rule(record: &Record) -> bool {
    matches!(record.collection, Some(Collection::Conventions | Collection::Decisions))
}

impl Board {
    /// Bundles what belongs to a card, or to the work in progress when none is named.
    ///
    /// # Errors
    ///
    /// `AGENT_CONTEXT_CARD_NOT_FOUND`.
    pub fn context(&self, card_id: Option<&str>, limit: usize) -> Result<Bundle> {
        let (index, lexicon) = self.searchable();
        let body = |at: usize| self.body(&index.records[at]);
        let searched = Searched { index: &index, lexicon: &lexicon, body: &body };
        let focus = match card_id {
            Some(id) => {
                Some(index.position(id.trim()).filter(|at| index.records[*at].kind == Kind::Card).ok_or_else(|| {
                    refuse!("AGENT_CONTEXT_CARD_NOT_FOUND", "there is no card `{id}`").with(json!({ "cardId": id }))
                })?)
            }
            None => None,
        };
        let (chosen, irrelevant) = choose(&searched, focus);
        let total = chosen.len();
        let (kept, cut) = chosen.split_at(limit.min(total));
        let digest: Vec<Value> = cut
            .iter()
            .map(|at| &index.records[*at])
            .filter(|record| is_rule(record))
            .map(|record| json!({ "id": record.id, "title": record.title, "collection": record.record_type() }))
            .collect();
        let over: Vec<&str> = cut
            .iter()
            .map(|at| &index.records[*at])
            .filter(|record| !is_rule(record))
            .map(|record| record.id.as_str())
            .collect();
        let card = focus.map(|at| &index.records[at]);
        let spawned: Vec<&str> = match card {
            Some(card) => index
                .of(Kind::Card)
                .filter(|other| other.id != card.id && other.list("origin").contains(&card.id.as_str()))
                .map(|other| other.id.as_str())
                .collect(),
            None => Vec::new(),
        };
        let records: Vec<Value> = kept.iter().map(|at| Value::Object(self.full(&index, *at))).collect();
        let markdown = markdown(&searched, card.map(|card| &**card), kept, &digest, &over);
        let omitted: Vec<&str> = irrelevant.iter().map(|at| index.records[*at].id.as_str()).collect();
        let answer = json!({
            "focus": card.map(|card| &card.id),
            "provenance": { "origin": card.map(|card| card.list("origin")).unwrap_or_default(), "spawned": spawned },
            "generatedAt": model::format_timestamp(self.workspace().now()),
            "truncated": total > kept.len(),
            "totalAvailable": total,
            "omitted": { "relevance": omitted, "limit": over },
            "records": records,
            "digest": digest,
            "markdown": markdown,
        });
        Ok(Bundle { answer, markdown })
    }
}

/// What belongs to a card in the order of its weight, and what was left out as not about it.
fn choose(searched: &Searched<'_>, focus: Option<usize>) -> (Vec<usize>, Vec<usize>) {
    let index = searched.index;
    let mut chosen = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |at: usize, chosen: &mut Vec<usize>| {
        if seen.insert(at) {
            chosen.push(at);
        }
    };
    let card = focus.map(|at| &*index.records[at]);
    match focus {
        Some(at) => {
            add(at, &mut chosen);
            let mut linked: Vec<usize> = index.outgoing(at).iter().filter_map(|link| link.target).collect();
            linked.extend(index.incoming(at, usize::MAX).into_iter().map(|one| one.source));
            linked.sort_unstable();
            for one in linked {
                add(one, &mut chosen);
            }
        }
        None => {
            for (at, record) in index.records.iter().enumerate() {
                if record.kind == Kind::Card && ["doing", "review"].contains(&record.text("status")) {
                    add(at, &mut chosen);
                }
            }
        }
    }
    let of = |collection: Collection| {
        index.records.iter().enumerate().filter(move |(_, record)| record.collection == Some(collection))
    };
    for (at, record) in of(Collection::Conventions) {
        if ["active", "draft"].contains(&record.status()) {
            add(at, &mut chosen);
        }
    }
    let mut candidates: Vec<usize> = Vec::new();
    candidates.extend(of(Collection::Decisions).filter(|(_, record)| record.status() == "accepted").map(|(at, _)| at));
    candidates.extend(
        of(Collection::Incidents)
            .filter(|(_, record)| ["open", "mitigated"].contains(&record.status()))
            .map(|(at, _)| at),
    );
    candidates.extend(
        of(Collection::Learnings)
            .filter(|(_, record)| record.status() != "superseded" && record.text("confidence") != "low")
            .map(|(at, _)| at),
    );
    candidates.extend(of(Collection::Context).filter(|(_, record)| record.status() == "active").map(|(at, _)| at));
    candidates.retain(|at| scopes_meet(card, &index.records[*at]) && !chosen.contains(at));
    let (Some(card), Some(focus)) = (card, focus) else {
        chosen.extend(candidates);
        return (chosen, Vec::new());
    };
    let about = format!(
        "{} {} {} {}",
        card.title,
        card.text("area"),
        card.list("tags").join(" "),
        (searched.body)(focus).chars().take(ABOUT).collect::<String>()
    );
    let scores = search::relevance(searched, &about, &candidates);
    let mut ranked: Vec<(usize, u32)> = Vec::new();
    let mut left = Vec::new();
    for (at, score) in candidates.into_iter().zip(scores) {
        // A decision holds whether or not its words are the card's.
        if score > 0 || index.records[at].collection == Some(Collection::Decisions) {
            ranked.push((at, score));
        } else {
            left.push(at);
        }
    }
    ranked.sort_by(|(one, score), (other, other_score)| {
        other_score.cmp(score).then_with(|| index.records[*other].updated().cmp(index.records[*one].updated()))
    });
    chosen.extend(ranked.into_iter().map(|(at, _)| at));
    (chosen, left)
}

fn markdown(searched: &Searched<'_>, card: Option<&Record>, kept: &[usize], digest: &[Value], over: &[&str]) -> String {
    let mut text = match card {
        Some(card) => format!("# Context for {} — {}\n", card.id, card.title),
        None => "# Context of the work in progress\n".to_owned(),
    };
    for at in kept {
        let record = &searched.index.records[*at];
        let mut facts = vec![record.kind.name().to_owned()];
        facts.extend(
            [record.status(), record.text("area"), record.text("priority")]
                .into_iter()
                .filter(|one| !one.is_empty())
                .map(str::to_owned),
        );
        text.push_str(&format!("\n## {} — {}\n\n`{}` ({})\n", record.id, record.title, record.path, facts.join(", ")));
        let body = (searched.body)(*at);
        if !body.is_empty() {
            let shown: String = body.chars().take(SHOWN).collect();
            let more = if shown.len() < body.len() { "…" } else { "" };
            text.push_str(&format!("\n{shown}{more}\n"));
        }
    }
    if !digest.is_empty() {
        text.push_str("\n## Rules by title\n\n");
        for rule in digest {
            let field = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or("");
            text.push_str(&format!("- {} — {} ({})\n", field("id"), field("title"), field("collection")));
        }
    }
    if !over.is_empty() {
        text.push_str(&format!("\nLeft out for the limit: {}\n", over.join(", ")));
    }
    text
}
