//! New inputs of known ones: bytes, words and lines that change, go, come again, or come from another input.

/// Numbers by chance, the same for the same seed (xorshift, Marsaglia 2003).
#[derive(Debug, Clone)]
pub struct Chance {
    state: u64,
}

impl Chance {
    /// Begins where the seed says.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // Mixed, since neighbouring seeds begin alike; and never nothing, which would stay so.
        let mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Self { state: (mixed ^ (mixed >> 31)) | 1 }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// Picks a number below `limit`; 0 when there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from((self.next() >> 11) % limit).unwrap_or_default()
    }

    /// Picks one of several.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

/// Texts that formats give a meaning to, and numbers at their limits.
const WORDS: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"  ",
    b"\t",
    b"- ",
    b": ",
    b": |\n",
    b": >-\n",
    b"#",
    b"&a ",
    b"*a",
    b"<<: *a\n",
    b"!!str ",
    b"? ",
    b"---\n",
    b"...\n",
    b"{}",
    b"[]",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\"",
    b"'",
    b"\\",
    b"\\u0000",
    b"\\x41",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    "é".as_bytes(),
    "\u{2028}".as_bytes(),
    "𐍈".as_bytes(),
    b"..",
    b"../",
    b"/",
    b"**/",
    b"**",
    b"*",
    b"?",
    b"~",
    b"null",
    b"yes",
    b"off",
    b"true",
    b"0",
    b"-1",
    b"1e999",
    b".inf",
    b"0x7f",
    b"1:30",
    b"9223372036854775807",
    b"18446744073709551616",
    b"2026-11-30",
    b"name",
    b"type",
    b"required",
    b"file",
];

/// No input grows over this.
const MOST_BYTES: usize = 16 * 1024;

/// Makes a new input of one from `known`.
#[must_use]
pub fn mutated(known: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = chance.pick(known).cloned().unwrap_or_default();
    for _ in 0..=chance.below(6) {
        change(&mut bytes, known, chance);
    }
    bytes.truncate(MOST_BYTES);
    bytes
}

fn change(bytes: &mut Vec<u8>, known: &[Vec<u8>], chance: &mut Chance) {
    let at = chance.below(bytes.len() + 1);
    match chance.below(10) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(chance.below(256)).unwrap_or_default();
            }
        }
        2 | 3 => insert(bytes, at, chance.pick(WORDS).copied().unwrap_or_default()),
        4 => {
            let end = (at + 1 + chance.below(8)).min(bytes.len());
            bytes.drain(at.min(end)..end);
        }
        5 => {
            let (from, to) = span(bytes, chance);
            bytes.drain(from..to);
        }
        6 => {
            let (from, to) = span(bytes, chance);
            let again = bytes.get(from..to).unwrap_or_default().to_vec();
            insert(bytes, at, &again);
        }
        7 => {
            let (from, to) = span(bytes, chance);
            let again = bytes.get(from..to).unwrap_or_default().repeat(1 + chance.below(20));
            insert(bytes, at, &again);
        }
        8 => {
            let other = chance.pick(known).cloned().unwrap_or_default();
            let (from, to) = span(&other, chance);
            insert(bytes, at, other.get(from..to).unwrap_or_default());
        }
        _ => {
            // The beginning of one, the end of another.
            let other = chance.pick(known).cloned().unwrap_or_default();
            let from = chance.below(other.len() + 1);
            bytes.truncate(at);
            bytes.extend_from_slice(other.get(from..).unwrap_or_default());
        }
    }
}

/// Picks some lines, or some bytes.
fn span(bytes: &[u8], chance: &mut Chance) -> (usize, usize) {
    let from = chance.below(bytes.len() + 1);
    let to = (from + chance.below(64)).min(bytes.len());
    if chance.below(2) == 0 {
        return (from, to);
    }
    let line = |at: usize| bytes.iter().take(at).rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    (line(from), line(to).max(line(from)))
}

fn insert(bytes: &mut Vec<u8>, at: usize, more: &[u8]) {
    if bytes.len() + more.len() <= MOST_BYTES {
        let rest = bytes.split_off(at.min(bytes.len()));
        bytes.extend_from_slice(more);
        bytes.extend_from_slice(&rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_another_others() {
        let known = vec![b"name: x\nlist: [1, 2]\n".to_vec(), b"other\n".to_vec()];
        let made = |seed| {
            let mut chance = Chance::new(seed);
            (0..200).map(|_| mutated(&known, &mut chance)).collect::<Vec<_>>()
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
        let different: std::collections::HashSet<_> = made(7).into_iter().collect();
        assert!(different.len() > 150, "{}", different.len());
        assert!(different.iter().all(|input| input.len() <= MOST_BYTES));
    }

    #[test]
    fn something_is_made_of_nothing() {
        let mut chance = Chance::new(0);
        assert!((0..100).any(|_| !mutated(&[], &mut chance).is_empty()));
    }
}
