//! The words of a record as numbers: what a search compares, small enough to be kept for every record.
//!
//! A word of the title is another term than the same word in the body, so that one set of numbers says where it stands.
//! Scripts that are written without spaces have no words: each of their characters is a term, and each pair of them.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

use crate::paths::folded;
use crate::record::Whole;

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Id,
    Title,
    /// Path, kind, status and other short fields.
    Field,
    Body,
    /// A character or pair in the body.
    Dense,
}

/// Bits of a term; the rest of a number is free for what a list keeps beside it.
pub(crate) const BITS: u32 = 48;

/// The number of a word at a place. The same for every program that writes an index of this format.
pub(crate) fn term(place: Place, word: &str) -> u64 {
    let salt = match place {
        Place::Id => 1,
        Place::Title => 2,
        Place::Field => 3,
        Place::Body => 4,
        Place::Dense => 5,
    };
    let mut hasher = SipHasher13::new_with_keys(salt, 0);
    hasher.write(word.as_bytes());
    hasher.finish() >> (64 - BITS)
}

/// Scripts that are written without spaces: a word is then any run of characters.
pub(crate) fn is_dense(one: char) -> bool {
    matches!(one,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Splits text into words: letters and digits of every script, `_` and `-`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !(one.is_alphanumeric() || matches!(one, '_' | '-'))).filter(|word| !word.is_empty())
}

/// The dense characters of a word, and their pairs.
pub(crate) fn dense_terms(word: &str, found: &mut Vec<u64>) {
    if word.is_ascii() {
        return;
    }
    let mut before: Option<(usize, char)> = None;
    for (at, one) in word.char_indices() {
        if !is_dense(one) {
            before = None;
            continue;
        }
        let end = at + one.len_utf8();
        found.push(term(Place::Dense, &word[at..end]));
        if let Some((start, _)) = before {
            found.push(term(Place::Dense, &word[start..end]));
        }
        before = Some((at, one));
    }
}

/// All terms of a record, sorted and distinct.
pub(crate) fn of(record: &Whole) -> Vec<u64> {
    let mut found = vec![term(Place::Id, &folded(&record.id))];
    let mut add = |place: Place, text: &str| found.extend(words(&folded(text)).map(|word| term(place, word)));
    add(Place::Title, &record.title);
    for text in [record.path.as_str(), record.kind.name(), record.record_type(), record.status()] {
        add(Place::Field, text);
    }
    for key in ["area", "visibility", "version", "category", "severity", "confidence"] {
        add(Place::Field, record.text(key));
    }
    for key in ["tags", "owners", "deciders"] {
        record.list(key).into_iter().for_each(|text| add(Place::Field, text));
    }
    let body = folded(&record.body);
    for word in words(&body) {
        found.push(term(Place::Body, word));
        dense_terms(word, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Writes terms so that [`read`] reads them.
pub(crate) fn write(terms: &[u64], bytes: &mut Vec<u8>) {
    for term in terms {
        bytes.extend_from_slice(&term.to_le_bytes()[..6]);
    }
}

/// Reads what [`write`] wrote.
pub(crate) fn read(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(6).map(|six| {
        let mut eight = [0; 8];
        eight[..6].copy_from_slice(six);
        u64::from_le_bytes(eight)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_do_not_change_between_versions() {
        // They stand in files; a change of these numbers needs another number of the format.
        assert_eq!(term(Place::Body, "paper"), TERM_OF_PAPER);
        assert_ne!(term(Place::Title, "paper"), term(Place::Body, "paper"));
    }

    const TERM_OF_PAPER: u64 = 92_193_406_326_593;

    #[test]
    fn terms_are_written_and_read() {
        let terms = [0, 1, (1 << BITS) - 1];
        let mut bytes = Vec::new();
        write(&terms, &mut bytes);
        assert_eq!(read(&bytes).collect::<Vec<_>>(), terms);
        let mut found = Vec::new();
        dense_terms("v2支付宝", &mut found);
        assert_eq!(found.len(), 5);
        found.clear();
        dense_terms("paper", &mut found);
        assert!(found.is_empty());
    }
}
