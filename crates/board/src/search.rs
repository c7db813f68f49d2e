//! Finding records by words, phrases, fields and patterns, in every script.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::error::{Result, refuse};
use crate::index::Index;
use crate::paths::folded;
use crate::record::{Kind, Record};

/// Patterns longer than this are refused, in characters.
const MAX_PATTERN: usize = 256;
/// How much of a body a pattern sees, in characters.
const PATTERN_BODY: usize = 20_000;
/// How much memory a pattern may take.
const PATTERN_BYTES: usize = 1024 * 1024;

/// The words of a record, as hashes: enough to compare, and small.
#[derive(Debug)]
pub(crate) struct Tokens {
    id: u64,
    title: Vec<u64>,
    title_text: String,
    meta: Vec<u64>,
    body: Vec<u64>,
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Scripts that are written without spaces: a word is then any run of characters.
fn is_dense(one: char) -> bool {
    matches!(one,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Splits text into words: letters and digits of every script, `_` and `-`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !(one.is_alphanumeric() || matches!(one, '_' | '-'))).filter(|word| !word.is_empty())
}

fn hashes(texts: &[&str]) -> Vec<u64> {
    let mut found: Vec<u64> = texts.iter().flat_map(|text| words(text).map(hash).collect::<Vec<_>>()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

impl Tokens {
    fn of(record: &Record) -> Self {
        let title_text = folded(&record.title);
        let mut meta: Vec<String> = vec![
            folded(&record.path),
            record.kind.name().to_owned(),
            folded(record.record_type()),
            folded(record.status()),
        ];
        for key in ["area", "visibility", "version", "category", "severity", "confidence"] {
            meta.push(folded(record.text(key)));
        }
        for key in ["tags", "owners", "deciders"] {
            meta.extend(record.list(key).into_iter().map(folded));
        }
        let meta: Vec<&str> = meta.iter().map(String::as_str).collect();
        Self {
            id: hash(&folded(&record.id)),
            title: hashes(&[&title_text]),
            meta: hashes(&meta),
            body: hashes(&[&folded(&record.body)]),
            title_text,
        }
    }
}

impl Record {
    fn tokens(&self) -> &Tokens {
        self.tokens.get_or_init(|| Tokens::of(self))
    }
}

#[derive(Debug)]
struct Word {
    text: String,
    hash: u64,
    dense: bool,
}

impl Word {
    fn new(text: &str) -> Self {
        Self { hash: hash(text), dense: text.chars().any(is_dense), text: text.to_owned() }
    }

    fn score(&self, record: &Record) -> u32 {
        let tokens = record.tokens();
        let mut score = 0;
        if tokens.id == self.hash {
            score += 30;
        }
        if tokens.title.binary_search(&self.hash).is_ok() {
            score += 15;
        } else if tokens.title_text.contains(&self.text) {
            score += if self.dense { 15 } else { 8 };
        }
        if tokens.meta.binary_search(&self.hash).is_ok() {
            score += 5;
        }
        if tokens.body.binary_search(&self.hash).is_ok() || (self.dense && folded(&record.body).contains(&self.text)) {
            score += 2;
        }
        score
    }
}

#[derive(Debug)]
struct Filter {
    field: String,
    value: String,
    negated: bool,
}

/// A query, taken apart.
#[derive(Debug, Default)]
struct Query {
    words: Vec<Word>,
    /// Quoted words in their order, to put whole phrases first.
    phrases: Vec<String>,
    without: Vec<Word>,
    without_phrases: Vec<String>,
    filters: Vec<Filter>,
}

fn collapsed(text: &str) -> String {
    words(&folded(text)).collect::<Vec<_>>().join(" ")
}

fn parse(query: &str) -> Query {
    let mut parsed = Query::default();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let (negated, after) = match rest.strip_prefix('-') {
            Some(after) if !after.is_empty() && !after.starts_with(char::is_whitespace) => (true, after),
            _ => (false, rest),
        };
        let name_end =
            after.find(|one: char| !(one.is_alphanumeric() || matches!(one, '_' | '-'))).unwrap_or(after.len());
        let field = (name_end > 0 && after[name_end..].starts_with(':')).then(|| &after[..name_end]);
        let value = field.map_or(after, |field| &after[field.len() + 1..]);
        let (text, quoted, next) = match value.strip_prefix('"') {
            Some(inner) => match inner.find('"') {
                Some(end) => (&inner[..end], true, &inner[end + 1..]),
                None => (inner, true, ""),
            },
            None => {
                let end = value.find(char::is_whitespace).unwrap_or(value.len());
                (&value[..end], false, &value[end..])
            }
        };
        match field {
            Some(field) if !text.trim().is_empty() => {
                parsed.filters.push(Filter { field: field.to_lowercase(), value: folded(text.trim()), negated });
            }
            _ => {
                let text = if field.is_some() { after } else { text };
                let folded = folded(text);
                let found: Vec<&str> =
                    words(&folded).map(|word| word.trim_matches('-')).filter(|word| !word.is_empty()).collect();
                let phrase = quoted && found.len() > 1;
                if negated && phrase {
                    parsed.without_phrases.push(found.join(" "));
                } else if negated {
                    parsed.without.extend(found.into_iter().map(Word::new));
                } else {
                    if phrase {
                        parsed.phrases.push(found.join(" "));
                    }
                    parsed.words.extend(found.into_iter().map(Word::new));
                }
            }
        }
        rest = next.trim_start();
    }
    parsed
}

fn values(record: &Record, field: &str) -> Vec<String> {
    let key = match field {
        "tag" => "tags",
        "claim" => "claimed_by",
        other => other,
    };
    let own = match key {
        "id" => Some(record.id.clone()),
        "kind" => Some(record.kind.name().to_owned()),
        "title" => Some(record.title.clone()),
        "path" => Some(record.path.clone()),
        "file" => Some(record.file.clone()),
        "status" => Some(record.status().to_owned()),
        "collection" => record.collection.map(|one| one.name().to_owned()),
        "body" => Some(record.body.clone()),
        "revision" => Some(record.revision.clone()),
        "archived" if record.kind == Kind::Card => Some(record.archived.to_string()),
        "managed" if record.kind == Kind::Doc => Some(record.managed.to_string()),
        "released" if record.kind == Kind::Change => Some(record.released.to_string()),
        _ => None,
    };
    if let Some(own) = own {
        return vec![own];
    }
    fn flat(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| flat(item, found)),
            Value::Object(map) => map.values().for_each(|item| flat(item, found)),
            Value::String(text) => found.push(text.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = Vec::new();
    if let Some((_, value)) = record.fields.iter().find(|(name, _)| name.to_lowercase() == key) {
        flat(value, &mut found);
    }
    found
}

impl Query {
    fn admits(&self, record: &Record) -> bool {
        self.filters.iter().all(|filter| {
            let found = values(record, &filter.field).iter().any(|value| folded(value).contains(&filter.value));
            found != filter.negated
        }) && self.without.iter().all(|word| word.score(record) == 0)
            && self.without_phrases.iter().all(|phrase| !holds(record, phrase))
    }
}

fn holds(record: &Record, phrase: &str) -> bool {
    let within = |text: &str| {
        let text = collapsed(text);
        text.match_indices(phrase).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + phrase.len()..].chars().next();
            let edge = |one: Option<char>| one.is_none_or(|one| one == ' ' || is_dense(one));
            edge(before) && edge(after)
        })
    };
    within(&record.title) || within(&record.body)
}

/// One match.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) at: usize,
    pub(crate) score: u32,
    /// The line that matched a pattern.
    pub(crate) excerpt: Option<String>,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    /// `lexical` or `regex`.
    pub(crate) mode: &'static str,
}

/// Sorts hits: what is marked first, then by score, then the newest, then by title and id. What is compared is looked up
/// once for each hit and not for each comparison.
fn ordered(index: &Index, hits: Vec<(bool, Hit)>) -> Vec<Hit> {
    let mut keyed: Vec<_> = hits
        .into_iter()
        .map(|(first, hit)| {
            let record = &index.records[hit.at];
            let newest = std::cmp::Reverse((first, hit.score, record.updated()));
            ((newest, record.title.as_str(), record.id.as_str()), hit)
        })
        .collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, hit)| hit).collect()
}

/// Searches; `kinds` limits what is looked at, empty is everything.
///
/// # Errors
///
/// `SEARCH_REGEX_INVALID`.
pub(crate) fn search(index: &Index, query: &str, kinds: &[String]) -> Result<Found> {
    let wanted: HashSet<&str> = kinds.iter().map(String::as_str).collect();
    let looked_at: Vec<usize> = (0..index.records.len())
        .filter(|at| wanted.is_empty() || wanted.contains(index.records[*at].kind.name()))
        .collect();
    if let Some((pattern, flags)) = pattern_of(query.trim()) {
        return by_pattern(index, &looked_at, pattern, flags);
    }
    let query = parse(query);
    let only_filters = query.words.is_empty();
    // A query of nothing that can be looked for finds nothing.
    let nothing =
        only_filters && query.filters.is_empty() && query.without.is_empty() && query.without_phrases.is_empty();
    let mut hits: Vec<(bool, Hit)> = Vec::new();
    for at in looked_at {
        let record = &index.records[at];
        if nothing || !query.admits(record) {
            continue;
        }
        let score = query.words.iter().map(|word| word.score(record)).sum();
        if score > 0 || only_filters {
            let whole = query.phrases.iter().all(|phrase| holds(record, phrase));
            hits.push((whole, Hit { at, score, excerpt: None }));
        }
    }
    Ok(Found { hits: ordered(index, hits), mode: "lexical" })
}

fn pattern_of(query: &str) -> Option<(&str, &str)> {
    let inner = query.strip_prefix('/')?;
    let end = inner.rfind('/')?;
    let flags = &inner[end + 1..];
    (end > 0 && flags.chars().all(|flag| "imsu".contains(flag))).then(|| (&inner[..end], flags))
}

fn by_pattern(index: &Index, looked_at: &[usize], pattern: &str, flags: &str) -> Result<Found> {
    if pattern.chars().count() > MAX_PATTERN {
        return Err(refuse!("SEARCH_REGEX_INVALID", "a pattern has at most {MAX_PATTERN} characters"));
    }
    // This engine's time is linear in the text, so no pattern needs a clock.
    let regex: Regex = RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .build()
        .map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or("").trim_start_matches("error: ").to_owned();
            refuse!("SEARCH_REGEX_INVALID", "the pattern is not understood: {reason}")
        })?;
    let mut hits: Vec<(bool, Hit)> = Vec::new();
    for at in looked_at {
        let record = &index.records[*at];
        let end = record.body.char_indices().nth(PATTERN_BODY).map_or(record.body.len(), |(end, _)| end);
        let body = &record.body[..end];
        let title = regex.find_iter(&record.title).count();
        let total = regex.find_iter(&record.id).count() + title + regex.find_iter(body).count();
        if total > 0 {
            let line = regex.find(body).map(|hit| {
                let start = body[..hit.start()].rfind('\n').map_or(0, |at| at + 1);
                let end = body[hit.start()..].find('\n').map_or(body.len(), |at| hit.start() + at);
                crate::index::excerpt(&body[start..end])
            });
            let score = u32::try_from(total).unwrap_or(u32::MAX);
            hits.push((title > 0, Hit { at: *at, score, excerpt: line.filter(|line| !line.is_empty()) }));
        }
    }
    Ok(Found { hits: ordered(index, hits), mode: "regex" })
}

/// Words that say nothing about what a card is about.
const STOP_WORDS: [&str; 64] = [
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "been",
    "but",
    "by",
    "can",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "how",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "may",
    "must",
    "no",
    "not",
    "of",
    "on",
    "or",
    "so",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "will",
    "with",
    "you",
    "your",
    "activity",
    "notes",
    "acceptance",
    "criteria",
    "claimed",
    "released",
    "el",
    "la",
];

/// How well each of `candidates` fits the words of a text; 0 is not at all.
pub(crate) fn relevance(index: &Index, text: &str, candidates: &[usize]) -> Vec<u32> {
    let folded = folded(text);
    let mut seen = HashSet::new();
    let query: Vec<Word> = words(&folded)
        .map(|word| word.trim_matches('-'))
        .filter(|word| word.chars().nth(1).is_some() || word.chars().any(is_dense))
        .filter(|word| !STOP_WORDS.contains(word) && !word.chars().all(|one| one.is_ascii_digit() || one == '-'))
        .filter(|word| seen.insert((*word).to_owned()))
        .map(Word::new)
        .collect();
    candidates.iter().map(|at| query.iter().map(|word| word.score(&index.records[*at])).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Stamp;
    use crate::record::Place;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn index(cards: &[(&str, &str, &str)]) -> Index {
        let records = cards.iter().map(|(id, title, body)| {
            let text = format!("---\nid: {id}\ntitle: {title}\nstatus: next\ntags: [one]\n---\n\n{body}\n");
            Arc::new(
                Place::new(Kind::Card, &format!(".project/cards/{id}.md"), id)
                    .read(&text, Stamp::default())
                    .expect("a card"),
            )
        });
        Index::of_records(records.collect())
    }

    fn ids(index: &Index, query: &str) -> Vec<String> {
        search(index, query, &[]).expect("valid").hits.iter().map(|hit| index.records[hit.at].id.clone()).collect()
    }

    #[test]
    fn every_script_is_searched() {
        let index = index(&[
            ("T-0001", "修复支付问题", "订单金额错误"),
            ("T-0002", "Diseño", "Меню для кафе"),
            ("T-0003", "결제 오류", "ข้อผิดพลาด"),
        ]);
        assert_eq!(ids(&index, "支付"), ["T-0001"]);
        assert_eq!(ids(&index, "金额"), ["T-0001"]);
        assert_eq!(ids(&index, "diseno"), ["T-0002"]);
        assert_eq!(ids(&index, "меню"), ["T-0002"]);
        assert_eq!(ids(&index, "결제"), ["T-0003"]);
        assert_eq!(ids(&index, "ผิด"), ["T-0003"]);
        assert!(ids(&index, "日本").is_empty());
        assert!(ids(&index, "!!!").is_empty());
    }

    #[test]
    fn the_grammar() {
        let index =
            index(&[("T-0001", "Paper ledger", "x"), ("T-0002", "Ledger of paper", "y"), ("T-0003", "Other", "paper")]);
        assert_eq!(ids(&index, "\"paper ledger\""), ["T-0001", "T-0002", "T-0003"]);
        assert_eq!(ids(&index, "paper -\"paper ledger\""), ["T-0002", "T-0003"]);
        assert_eq!(ids(&index, "paper -ledger"), ["T-0003"]);
        assert_eq!(ids(&index, "status:NEXT title:\"ledger of\""), ["T-0002"]);
        assert_eq!(ids(&index, "-title:ledger"), ["T-0003"]);
        assert!(ids(&index, "nofield:x").is_empty());
        assert_eq!(ids(&index, "tag:on").len(), 3);
    }

    #[test]
    fn patterns_are_bounded() {
        let body = format!("{}!", "a".repeat(30_000));
        let index = index(&[("T-0001", "t", &body)]);
        let started = std::time::Instant::now();
        assert!(ids(&index, "/(a+)+$/").is_empty() || started.elapsed().as_secs() < 2);
        assert!(ids(&index, "/!/").is_empty(), "past the 20000th character");
        for wrong in ["/(unclosed/", &format!("/{}/", "a".repeat(257)), "/(?=a)/", "/a{1000}{1000}{1000}/"] {
            assert_eq!(search(&index, wrong, &[]).expect_err("refused").code, "SEARCH_REGEX_INVALID");
        }
        assert!(search(&index, &format!("/{}/", "a".repeat(256)), &[]).is_ok());
    }

    proptest! {
        #[test]
        fn no_query_panics(query in "([a-z:\"/\\-() ]|é|支){0,40}") {
            let index = index(&[("T-0001", "Paper é支", "支付 x")]);
            let _ = search(&index, &query, &[]);
        }
    }
}
