//! Where in a run a search's words stand: the part, and a line around the first of them.
//!
//! The full-text index keeps no text, only which part of a run has which word; the text itself is read back and the word
//! looked for in it. So this is for the rows of a page, not for finding runs.

use model::RunError;
use rusqlite::{Connection, OptionalExtension as _};
use unicode_normalization::UnicodeNormalization as _;

use crate::body::{get, parse};
use crate::database::Outcome;
use crate::logs;
use crate::runs::create::{ERROR, INPUT, OUTPUT};
use crate::runs::{INDEXED_BYTES, PART_INPUT, PART_LOGS, PART_RESULT, PARTS, RunEntry, head};
use crate::text::words;
use crate::{Result, Store, nodes};

/// Which part of a run a word was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundPart {
    /// Its id.
    Id,
    /// Its entrypoint's id or title.
    Entrypoint,
    /// What it was given.
    Input,
    /// What came out.
    Output,
    /// Why it failed.
    Error,
    /// A node's title.
    Node,
    /// What it wrote.
    Log,
}

/// A word in its surroundings, on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The part of the run.
    pub part: FoundPart,
    /// A piece of its text.
    pub text: String,
    /// Where the word begins in it, in UTF-16 code units.
    pub start: usize,
    /// How long it is, in UTF-16 code units.
    pub length: usize,
}

/// Characters shown before the word, and in all.
const BEFORE: usize = 20;
const SHOWN: usize = 160;

/// Finds the first part of a run's text that has a word.
pub(crate) const PART_OF: &str = "SELECT rowid FROM run_text WHERE run_text MATCH ?1 AND rowid >= ?2 AND rowid < ?3 \
     ORDER BY rowid LIMIT 1";

/// A character as it is compared: small, without marks.
fn folded(character: char, mut take: impl FnMut(char)) {
    for small in character.to_lowercase() {
        for piece in std::iter::once(small).nfd() {
            if !unicode_normalization::char::is_combining_mark(piece) {
                take(piece);
            }
        }
    }
}

fn fold(text: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    text.chars().for_each(|character| folded(character, |piece| out.push(piece)));
    out
}

/// Looks for a word, at the beginning of a word if it stands at one. Returns its bytes.
fn locate(text: &str, word: &[char]) -> Option<std::ops::Range<usize>> {
    let first = *word.first()?;
    // Each folded character with where its original begins and ends.
    let mut all: Vec<(char, usize, usize)> = Vec::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        folded(character, |piece| all.push((piece, at, at + character.len_utf8())));
    }
    let mut anywhere = None;
    for begin in 0..all.len().saturating_sub(word.len() - 1) {
        if all[begin].0 != first
            || !all[begin..].iter().map(|(piece, ..)| piece).zip(word).all(|(one, other)| one == other)
        {
            continue;
        }
        let range = all[begin].1..all[begin + word.len() - 1].2;
        if begin == 0 || !all[begin - 1].0.is_alphanumeric() || !first.is_alphanumeric() {
            return Some(range);
        }
        anywhere = anywhere.or(Some(range));
    }
    anywhere
}

/// Cuts a line out of a text, the word near its beginning.
fn line(part: FoundPart, text: &str, range: std::ops::Range<usize>) -> Found {
    let begin = text[..range.start].char_indices().rev().take(BEFORE).last().map_or(range.start, |(at, _)| at);
    let mut shown = String::new();
    if begin > 0 {
        shown.push('…');
    }
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    shown.extend(text[begin..range.start].chars().map(plain));
    let start = shown.encode_utf16().count();
    let word: String = text[range.clone()].chars().map(plain).collect();
    let length = word.encode_utf16().count();
    shown.push_str(&word);
    shown.extend(text[range.end..].chars().take(SHOWN).map(plain));
    Found { part, text: shown, start, length }
}

/// Looks for a word, or for the first of its pieces: the index knows words by letters and digits only.
fn find(part: FoundPart, text: &str, word: &str) -> Option<Found> {
    // What lies behind is not in the index either.
    let text = head(text, INDEXED_BYTES);
    let whole = locate(text, &fold(word));
    let range = whole.or_else(|| {
        word.split(|character: char| !character.is_alphanumeric())
            .filter(|piece| !piece.is_empty())
            .find_map(|piece| locate(text, &fold(piece)))
    })?;
    Some(line(part, text, range))
}

fn in_part(connection: &Connection, entry: &RunEntry, part: i64, word: &str) -> Outcome<Option<Found>> {
    let key = entry.place.key;
    if part == PART_INPUT {
        let summary = &entry.summary;
        let small = [
            (FoundPart::Id, summary.run_id.as_str()),
            (FoundPart::Entrypoint, &summary.entrypoint_title),
            (FoundPart::Entrypoint, summary.entrypoint_id.as_str()),
        ];
        if let Some(found) = small.into_iter().find_map(|(part, text)| find(part, text, word)) {
            return Ok(Some(found));
        }
        return Ok(get(connection, key, INPUT, None)?.and_then(|text| find(FoundPart::Input, &text, word)));
    }
    if part == PART_RESULT {
        if let Some(text) = get(connection, key, ERROR, None)? {
            let error: RunError = parse(&text, "error")?;
            let texts = [Some(error.message), error.cause];
            if let Some(found) = texts.iter().flatten().find_map(|text| find(FoundPart::Error, text, word)) {
                return Ok(Some(found));
            }
        }
        if let Some(found) = get(connection, key, OUTPUT, None)?.and_then(|text| find(FoundPart::Output, &text, word)) {
            return Ok(Some(found));
        }
        return Ok(nodes::read(connection, key)?.iter().find_map(|node| find(FoundPart::Node, &node.title, word)));
    }
    let texts = logs::texts_of_part(connection, key, part - PART_LOGS)?;
    Ok(texts.iter().find_map(|text| find(FoundPart::Log, text, word)))
}

fn find_in(connection: &Connection, entry: &RunEntry, queries: &[(String, String)]) -> Outcome<Option<Found>> {
    let key = entry.place.key;
    for (query, word) in queries {
        let rowid: Option<i64> = connection
            .prepare_cached(PART_OF)?
            .query_row((query, key * PARTS, (key + 1) * PARTS), |row| row.get(0))
            .optional()?;
        let Some(rowid) = rowid else { continue };
        if let Some(found) = in_part(connection, entry, rowid % PARTS, word)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

impl Store {
    /// Says where in each of these runs the words of a search stand, for the rows of a page of [`Store::page_search`].
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn where_found(&self, entries: &[RunEntry], text: &str) -> Result<Vec<Option<Found>>> {
        let mut queries: Vec<(String, String)> =
            words(text).into_iter().map(|query| (query.clone(), query.replace(['"', ' '], ""))).collect();
        // The last one may be a beginning.
        queries.extend(queries.last().map(|(query, word)| (format!("{query}*"), word.clone())));
        self.database
            .read_together(|connection| entries.iter().map(|entry| find_in(connection, entry, &queries)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_without_its_marks_and_shown_near_the_beginning() {
        let found = find(FoundPart::Log, "one\ntwo MÜLLER's naïve list", "muller").unwrap();
        assert_eq!((found.text.as_str(), found.start, found.length), ("one two MÜLLER's naïve list", 8, 6));
        let long = format!("{}word{}", "x ".repeat(100), " y".repeat(500));
        let found = find(FoundPart::Log, &long, "word").unwrap();
        assert!(found.start <= 24 && found.text.chars().count() < 200, "{found:?}");
        assert!(found.text.starts_with('…'));
        // UTF-16: the page counts so.
        let found = find(FoundPart::Log, "😀😀 运行 x", "运行").unwrap();
        assert_eq!((found.start, found.length), (5, 2));
        assert_eq!(find(FoundPart::Log, "prefix fix", "fix").unwrap().start, 7, "the beginning of a word is better");
        assert_eq!(find(FoundPart::Log, "a foo_bar b", "foo-bar").unwrap().start, 2);
        assert_eq!(find(FoundPart::Log, "nothing", "other"), None);
    }
}
