//! Finding records by words, phrases, fields and patterns, in every script.

use std::collections::HashSet;

use regex::{Regex, RegexBuilder};

use crate::error::{Result, refuse};
use crate::index::Index;
use crate::lexicon::Lexicon;
use crate::paths::folded;
use crate::record::Kind;
use crate::terms::{Place, dense_terms, is_dense, term, words};

/// Patterns longer than this are refused, in characters.
const MAX_PATTERN: usize = 256;
/// How much of a body a pattern sees, in characters.
const PATTERN_BODY: usize = 20_000;
/// How much memory a pattern may take.
const PATTERN_BYTES: usize = 1024 * 1024;
/// Longer values are folded as a whole before something is looked for in them.
const SHORT: usize = 200;

/// What is searched: all records, their terms, and a way to their bodies.
pub(crate) struct Searched<'a> {
    pub(crate) index: &'a Index,
    pub(crate) lexicon: &'a Lexicon,
    /// Reads a record's body, by its place in the index.
    pub(crate) body: &'a dyn Fn(usize) -> String,
}

/// Scores by slot.
struct Scores(Vec<u32>);

#[derive(Debug)]
struct Word {
    text: String,
    dense: bool,
}

impl Word {
    fn new(text: &str) -> Self {
        Self { dense: text.chars().any(is_dense), text: text.to_owned() }
    }

    /// Adds what the word is worth to every record that has it.
    fn score(&self, searched: &Searched<'_>, scores: &mut Scores) {
        let lexicon = searched.lexicon;
        let mut add = |place: Place, worth: u32| {
            lexicon.each(term(place, &self.text), &mut |slot| scores.add(slot, worth));
        };
        add(Place::Id, 30);
        add(Place::Field, 5);
        let mut titled = vec![false; scores.0.len()];
        lexicon.each(term(Place::Title, &self.text), &mut |slot| {
            titled[slot as usize] = true;
            scores.add(slot, 15);
        });
        lexicon.each_titled(&self.text, &mut |slot| {
            if !std::mem::replace(&mut titled[slot as usize], true) {
                scores.add(slot, if self.dense { 15 } else { 8 });
            }
        });
        if self.dense {
            self.score_dense(searched, scores);
        } else {
            lexicon.each(term(Place::Body, &self.text), &mut |slot| scores.add(slot, 2));
        }
    }

    /// A word without spaces around it may stand anywhere in a body: its characters and pairs say where it can be, and the
    /// body decides.
    fn score_dense(&self, searched: &Searched<'_>, scores: &mut Scores) {
        let mut wanted = Vec::new();
        dense_terms(&self.text, &mut wanted);
        wanted.sort_unstable();
        wanted.dedup();
        let mut having = vec![0usize; scores.0.len()];
        for term in &wanted {
            searched.lexicon.each(*term, &mut |slot| having[slot as usize] += 1);
        }
        let mut characters = self.text.chars();
        let sure = characters.by_ref().take(2).all(is_dense) && characters.next().is_none();
        for (slot, _) in having.iter().enumerate().filter(|(_, having)| **having == wanted.len()) {
            let Some(at) = searched.index.place(slot) else { continue };
            if sure || folded(&(searched.body)(at)).contains(&self.text) {
                scores.0[slot] += 2;
            }
        }
    }
}

impl Scores {
    fn new(index: &Index) -> Self {
        Self(vec![0; index.slots()])
    }

    fn add(&mut self, slot: u32, worth: u32) {
        self.0[slot as usize] += worth;
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

/// Tells whether a value contains a folded text.
fn contains(value: &str, wanted: &str) -> bool {
    if value.len() <= SHORT && value.is_ascii() {
        let (value, wanted) = (value.as_bytes(), wanted.as_bytes());
        return wanted.is_empty() || value.windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted));
    }
    folded(value).contains(wanted)
}

impl Filter {
    /// Makes the question that the filter asks of a record.
    fn asks<'a>(&'a self, searched: &'a Searched<'_>) -> Box<dyn Fn(usize) -> bool + 'a> {
        if self.field == "status" {
            let of_status = searched.index.of_status(|status| contains(status, &self.value));
            return Box::new(move |at| of_status(searched.index.slot(at)) != self.negated);
        }
        Box::new(|at| self.finds(searched, at) != self.negated)
    }

    /// Tells whether any value of the field contains the text.
    fn finds(&self, searched: &Searched<'_>, at: usize) -> bool {
        let record = &searched.index.records[at];
        let key = match self.field.as_str() {
            "tag" => "tags",
            "claim" => "claimed_by",
            other => other,
        };
        let flag = |yes: bool| contains(if yes { "true" } else { "false" }, &self.value);
        match key {
            "id" => contains(&record.id, &self.value),
            "kind" => contains(record.kind.name(), &self.value),
            "title" => contains(&record.title, &self.value),
            "path" => contains(&record.path, &self.value),
            "file" => contains(record.file(), &self.value),
            "collection" if record.collection.is_some() => contains(record.record_type(), &self.value),
            "body" => contains(&(searched.body)(at), &self.value),
            "revision" => contains(&record.revision, &self.value),
            "archived" if record.kind == Kind::Card => flag(record.archived),
            "managed" if record.kind == Kind::Doc => flag(record.managed),
            "released" if record.kind == Kind::Change => flag(record.released),
            key => record.fields.any_text(key, &mut |text| contains(text, &self.value)),
        }
    }
}

/// Tells whether a record has a whole phrase in its title or body.
fn holds(searched: &Searched<'_>, at: usize, phrase: &str) -> bool {
    let within = |text: &str| {
        let text = collapsed(text);
        text.match_indices(phrase).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + phrase.len()..].chars().next();
            let edge = |one: Option<char>| one.is_none_or(|one| one == ' ' || is_dense(one));
            edge(before) && edge(after)
        })
    };
    within(&searched.index.records[at].title) || within(&(searched.body)(at))
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
    /// The first ones, in order.
    pub(crate) hits: Vec<Hit>,
    /// How many there are.
    pub(crate) total: usize,
    /// `lexical` or `regex`.
    pub(crate) mode: &'static str,
}

/// Sorts the first `most` hits: what is marked first, then by score, then the newest, then by title and id. What is not
/// shown is not sorted.
fn ordered(index: &Index, mut hits: Vec<(bool, Hit)>, most: usize, mode: &'static str) -> Found {
    let total = hits.len();
    let name = |hit: &Hit| (&index.records[hit.at].title, &index.records[hit.at].id);
    let compare = |(first, hit): &(bool, Hit), (other_first, other): &(bool, Hit)| {
        (other_first, other.score)
            .cmp(&(first, hit.score))
            .then_with(|| index.compare_updated(other.at, hit.at))
            .then_with(|| name(hit).cmp(&name(other)))
    };
    if most < hits.len() {
        hits.select_nth_unstable_by(most, compare);
        hits.truncate(most);
    }
    hits.sort_by(compare);
    Found { hits: hits.into_iter().map(|(_, hit)| hit).collect(), total, mode }
}

/// Searches; `kinds` limits what is looked at, empty is everything. Of what is found the first `most` are named.
///
/// # Errors
///
/// `SEARCH_REGEX_INVALID`.
pub(crate) fn search(searched: &Searched<'_>, query: &str, kinds: &[String], most: usize) -> Result<Found> {
    let index = searched.index;
    let wanted: HashSet<&str> = kinds.iter().map(String::as_str).collect();
    let looked_at =
        (0..index.records.len()).filter(|at| wanted.is_empty() || wanted.contains(index.records[*at].kind.name()));
    if let Some((pattern, flags)) = pattern_of(query.trim()) {
        return by_pattern(searched, looked_at, pattern, flags, most);
    }
    let query = parse(query);
    let only_filters = query.words.is_empty();
    // A query of nothing that can be looked for finds nothing.
    if only_filters && query.filters.is_empty() && query.without.is_empty() && query.without_phrases.is_empty() {
        return Ok(Found { hits: Vec::new(), total: 0, mode: "lexical" });
    }
    let mut scores = Scores::new(index);
    query.words.iter().for_each(|word| word.score(searched, &mut scores));
    let mut without = Scores::new(index);
    query.without.iter().for_each(|word| word.score(searched, &mut without));
    let filters: Vec<_> = query.filters.iter().map(|filter| filter.asks(searched)).collect();
    let mut hits: Vec<(bool, Hit)> = Vec::new();
    for at in looked_at {
        let slot = index.slot(at);
        let score = scores.0[slot];
        if (score > 0 || only_filters)
            && without.0[slot] == 0
            && filters.iter().all(|asks| asks(at))
            && !query.without_phrases.iter().any(|phrase| holds(searched, at, phrase))
        {
            let whole = query.phrases.iter().all(|phrase| holds(searched, at, phrase));
            hits.push((whole, Hit { at, score, excerpt: None }));
        }
    }
    Ok(ordered(index, hits, most, "lexical"))
}

fn pattern_of(query: &str) -> Option<(&str, &str)> {
    let inner = query.strip_prefix('/')?;
    let end = inner.rfind('/')?;
    let flags = &inner[end + 1..];
    (end > 0 && flags.chars().all(|flag| "imsu".contains(flag))).then(|| (&inner[..end], flags))
}

fn by_pattern(
    searched: &Searched<'_>,
    looked_at: impl Iterator<Item = usize>,
    pattern: &str,
    flags: &str,
    most: usize,
) -> Result<Found> {
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
        let record = &searched.index.records[at];
        let body = (searched.body)(at);
        let end = body.char_indices().nth(PATTERN_BODY).map_or(body.len(), |(end, _)| end);
        let body = &body[..end];
        let title = regex.find_iter(&record.title).count();
        let total = regex.find_iter(&record.id).count() + title + regex.find_iter(body).count();
        if total > 0 {
            let line = regex.find(body).map(|hit| {
                let start = body[..hit.start()].rfind('\n').map_or(0, |at| at + 1);
                let end = body[hit.start()..].find('\n').map_or(body.len(), |at| hit.start() + at);
                crate::index::excerpt(&body[start..end])
            });
            let score = u32::try_from(total).unwrap_or(u32::MAX);
            hits.push((title > 0, Hit { at, score, excerpt: line.filter(|line| !line.is_empty()) }));
        }
    }
    Ok(ordered(searched.index, hits, most, "regex"))
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
pub(crate) fn relevance(searched: &Searched<'_>, text: &str, candidates: &[usize]) -> Vec<u32> {
    let folded = folded(text);
    let mut seen = HashSet::new();
    let query: Vec<Word> = words(&folded)
        .map(|word| word.trim_matches('-'))
        .filter(|word| word.chars().nth(1).is_some() || word.chars().any(is_dense))
        .filter(|word| !STOP_WORDS.contains(word) && !word.chars().all(|one| one.is_ascii_digit() || one == '-'))
        .filter(|word| seen.insert((*word).to_owned()))
        .map(Word::new)
        .collect();
    let mut scores = Scores::new(searched.index);
    query.iter().for_each(|word| word.score(searched, &mut scores));
    candidates.iter().map(|at| scores.0[searched.index.slot(*at)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Stamp;
    use crate::{record, terms};
    use proptest::prelude::*;

    struct Cards(Index, Lexicon, Vec<String>);

    fn index(cards: &[(&str, &str, &str)]) -> Cards {
        let (mut index, mut lexicon) = (Index::default(), Lexicon::new());
        for (id, title, body) in cards {
            let text = format!("---\nid: {id}\ntitle: {title}\nstatus: next\ntags: [one]\n---\n\n{body}\n");
            let place = record::Place::new(Kind::Card, &format!(".project/cards/{id}.md"), id);
            let card = place.read(&text, Stamp::default()).expect("a card");
            let terms = terms::of(&card);
            let slot = index.insert(std::sync::Arc::new(card.into_record()));
            lexicon.add(slot, &folded(title), terms.into_iter());
        }
        Cards(index, lexicon, cards.iter().map(|(_, _, body)| (*body).to_owned()).collect())
    }

    fn found(cards: &Cards, query: &str) -> Result<Found> {
        let body = |at: usize| cards.2[at].clone();
        search(&Searched { index: &cards.0, lexicon: &cards.1, body: &body }, query, &[], 100)
    }

    fn ids(cards: &Cards, query: &str) -> Vec<String> {
        found(cards, query).expect("valid").hits.iter().map(|hit| cards.0.records[hit.at].id.clone()).collect()
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
    fn what_was_updated_last_comes_first_to_the_second() {
        let (mut index, mut lexicon) = (Index::default(), Lexicon::new());
        let moments = ["2026-01-02T10:00:01Z", "2026-01-02", "2026-01-02T10:00:09Z", "2026-01-03", ""];
        for (number, updated) in moments.iter().enumerate() {
            let text = format!("---\nid: T-{number}\ntitle: Paper\nstatus: s{number}\nupdated: {updated}\n---\n");
            let place = record::Place::new(Kind::Card, &format!(".project/cards/T-{number}.md"), "T");
            let card = place.read(&text, Stamp::default()).expect("a card");
            let terms = terms::of(&card);
            let slot = index.insert(std::sync::Arc::new(card.into_record()));
            lexicon.add(slot, "paper", terms.into_iter());
        }
        let cards = Cards(index, lexicon, vec![String::new(); moments.len()]);
        assert_eq!(ids(&cards, "paper"), ["T-3", "T-2", "T-0", "T-1", "T-4"]);
        assert_eq!(ids(&cards, "status:S2"), ["T-2"]);
        assert_eq!(ids(&cards, "paper -status:s2 -status:s4"), ["T-3", "T-0", "T-1"]);
    }

    #[test]
    fn patterns_are_bounded() {
        let body = format!("{}!", "a".repeat(30_000));
        let index = index(&[("T-0001", "t", &body)]);
        let started = std::time::Instant::now();
        assert!(ids(&index, "/(a+)+$/").is_empty() || started.elapsed().as_secs() < 2);
        assert!(ids(&index, "/!/").is_empty(), "past the 20000th character");
        for wrong in ["/(unclosed/", &format!("/{}/", "a".repeat(257)), "/(?=a)/", "/a{1000}{1000}{1000}/"] {
            assert_eq!(found(&index, wrong).expect_err("refused").code, "SEARCH_REGEX_INVALID");
        }
        assert!(found(&index, &format!("/{}/", "a".repeat(256))).is_ok());
    }

    proptest! {
        #[test]
        fn no_query_panics(query in "([a-z:\"/\\-() ]|é|支){0,40}") {
            let index = index(&[("T-0001", "Paper é支", "支付 x")]);
            let _ = found(&index, &query);
        }
    }
}
