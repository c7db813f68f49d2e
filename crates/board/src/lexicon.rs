//! Which records have which terms: sorted parts that are only read, and an open one that new records go to.
//!
//! Records are named by the slot an index gave them. A record that changed has a new slot, and what is found for its old
//! one is passed over by whoever asks.

use memchr::memmem;

use crate::terms::BITS;

/// Records in a part while many are added at once.
const LARGE: usize = 4096;
/// Records in a part afterwards: what is open is looked through one by one.
const SMALL: usize = 256;
/// With more parts than this it is better made anew.
const MAX_PARTS: usize = 24;

/// Terms of some records: each term's records stand together.
#[derive(Debug, Clone)]
struct Part {
    slots: Box<[u32]>,
    terms: Box<[u64]>,
    /// Where each term's records begin.
    starts: Box<[u32]>,
    /// Places in `slots`.
    holders: Box<[u16]>,
}

impl Part {
    /// `pairs` are terms with the holder's place in their lowest bits.
    fn of(slots: Vec<u32>, mut pairs: Vec<u64>) -> Self {
        pairs.sort_unstable();
        let mut holders = Vec::with_capacity(pairs.len());
        let (mut terms, mut starts) = (Vec::new(), Vec::new());
        for pair in pairs {
            let term = pair >> (64 - BITS);
            if terms.last() != Some(&term) {
                terms.push(term);
                starts.push(u32::try_from(holders.len()).unwrap_or(u32::MAX));
            }
            holders.push(holder(pair));
        }
        Self {
            slots: slots.into_boxed_slice(),
            terms: terms.into_boxed_slice(),
            starts: starts.into_boxed_slice(),
            holders: holders.into_boxed_slice(),
        }
    }

    fn each(&self, term: u64, see: &mut dyn FnMut(u32)) {
        let Ok(at) = self.terms.binary_search(&term) else { return };
        let start = self.starts[at] as usize;
        let end = self.starts.get(at + 1).map_or(self.holders.len(), |end| *end as usize);
        for holder in &self.holders[start..end] {
            see(self.slots[usize::from(*holder)]);
        }
    }
}

fn holder(pair: u64) -> u16 {
    u16::try_from(pair & u64::from(u16::MAX)).unwrap_or(u16::MAX)
}

/// Which records have which terms, and what stands in their titles.
#[derive(Debug, Clone)]
pub(crate) struct Lexicon {
    parts: Vec<Part>,
    slots: Vec<u32>,
    pairs: Vec<u64>,
    /// When an open part is closed.
    most: usize,
    /// Folded titles, one after the other.
    titles: String,
    /// Where each begins, and whose it is.
    title_starts: Vec<(u32, u32)>,
    /// Records that were replaced or removed.
    gone: usize,
}

impl Lexicon {
    /// Begins an empty one.
    pub(crate) fn new() -> Self {
        Self {
            parts: Vec::new(),
            slots: Vec::new(),
            pairs: Vec::new(),
            most: LARGE,
            titles: String::new(),
            title_starts: Vec::new(),
            gone: 0,
        }
    }

    /// Adds a record; `title` is folded.
    pub(crate) fn add(&mut self, slot: u32, title: &str, terms: impl Iterator<Item = u64>) {
        let place = u64::try_from(self.slots.len()).unwrap_or(0);
        self.slots.push(slot);
        self.pairs.extend(terms.map(|term| term << (64 - BITS) | place));
        self.title_starts.push((u32::try_from(self.titles.len()).unwrap_or(u32::MAX), slot));
        self.titles.push_str(title);
        self.titles.push('\n');
        if self.slots.len() >= self.most {
            self.close();
        }
    }

    fn close(&mut self) {
        if !self.slots.is_empty() {
            self.parts.push(Part::of(std::mem::take(&mut self.slots), std::mem::take(&mut self.pairs)));
        }
    }

    /// Says that all records are in, and that from now on single ones change.
    pub(crate) fn ready(&mut self) {
        self.close();
        self.most = SMALL;
        self.titles.shrink_to_fit();
        self.title_starts.shrink_to_fit();
    }

    /// Remembers that a record is no more. Returns false when it is better to make everything anew.
    pub(crate) fn forget(&mut self) -> bool {
        self.gone += 1;
        self.parts.len() <= MAX_PARTS && self.gone <= 1000 + self.title_starts.len() / 2
    }

    /// Calls `see` with the slot of every record that has a term.
    pub(crate) fn each(&self, term: u64, see: &mut dyn FnMut(u32)) {
        for part in &self.parts {
            part.each(term, see);
        }
        for pair in self.pairs.iter().filter(|pair| **pair >> (64 - BITS) == term) {
            see(self.slots[usize::from(holder(*pair))]);
        }
    }

    /// Calls `see` with the slot of every record whose title contains a word; sometimes twice with the same.
    pub(crate) fn each_titled(&self, word: &str, see: &mut dyn FnMut(u32)) {
        for at in memmem::find_iter(self.titles.as_bytes(), word.as_bytes()) {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let place = self.title_starts.partition_point(|(start, _)| *start <= at);
            if let Some((_, slot)) = place.checked_sub(1).and_then(|place| self.title_starts.get(place)) {
                see(*slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lexicon: &Lexicon, term: u64) -> Vec<u32> {
        let mut slots = Vec::new();
        lexicon.each(term, &mut |slot| slots.push(slot));
        slots.sort_unstable();
        slots
    }

    #[test]
    fn terms_are_found_in_closed_parts_and_in_the_open_one() {
        let mut lexicon = Lexicon::new();
        let many = u32::try_from(LARGE).expect("small") * 2 + 10;
        for slot in 0..many {
            lexicon.add(slot, "a title", [7, 100 + u64::from(slot)].into_iter());
        }
        lexicon.ready();
        assert_eq!(lexicon.parts.len(), 3);
        lexicon.add(many, "é other", [7, 9].into_iter());
        assert_eq!(found(&lexicon, 7).len(), many as usize + 1);
        assert_eq!(found(&lexicon, 9), [many]);
        assert_eq!(found(&lexicon, 100 + 4096), [4096]);
        assert!(found(&lexicon, 8).is_empty());
        let mut titled = Vec::new();
        lexicon.each_titled("othe", &mut |slot| titled.push(slot));
        assert_eq!(titled, [many]);
        lexicon.each_titled("title\na", &mut |slot| titled.push(slot));
        assert_eq!(titled.len(), many as usize, "only callers that ask for a line's end find one");
    }

    #[test]
    fn after_many_changes_it_is_made_anew() {
        let mut lexicon = Lexicon::new();
        lexicon.ready();
        assert!((0..1000).all(|_| lexicon.forget()));
        assert!(!lexicon.forget());
    }
}
