//! Takes secret values out of what is recorded or shown: `•••` in their place.
//!
//! A value is found as it is, as JSON writes it (also with `\uXXXX`), percent-encoded, in Base64 (also inside a longer
//! encoded text, as in `Authorization: Basic`), and, for a value of several lines, line by line. In a stream of pieces a
//! value is found across pieces: [`MaskStream`] holds back an end that may be the beginning of one.
//!
//! Values under four characters are left alone: masking them would destroy ordinary text and hide little.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value};

/// What stands for a secret.
pub const MASK: &str = "•••";

/// Characters a value needs to be masked.
const SHORTEST: usize = 4;
/// Characters a line of a value of several lines needs to be masked by itself.
const SHORTEST_LINE: usize = 12;
/// Bytes an encoded piece needs, so that ordinary text does not match by chance.
const SHORTEST_PIECE: usize = 8;

/// The secret values of a project, ready to be taken out of texts. Cheap to clone; never printed.
#[derive(Clone, Default)]
pub struct Masker {
    patterns: Arc<Patterns>,
}

#[derive(Default)]
struct Patterns {
    /// Longest first.
    all: Vec<Vec<u8>>,
    /// Indexes into `all` by first byte, longest first.
    by_first: Vec<Vec<usize>>,
}

impl fmt::Debug for Masker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Masker({} patterns)", self.patterns.all.len())
    }
}

/// Collects the texts of a value, names of members with them.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(members) => {
            for (name, member) in members {
                texts.push(name.clone());
                collect_texts(member, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What stands at a place of a text.
enum At {
    /// A secret of so many bytes.
    Secret(usize),
    /// The text ends here, and a secret may have begun.
    Perhaps,
    /// Ordinary text.
    Text,
}

impl Masker {
    /// Makes a masker of secret values.
    #[must_use]
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut all = Vec::new();
        for value in values {
            let value = value.as_ref();
            if value.chars().count() >= SHORTEST {
                add(&mut all, value);
            }
            // A key in PEM, say, that a program prints line by line.
            for line in value.lines().map(str::trim).filter(|line| line.len() < value.len()) {
                if line.chars().count() >= SHORTEST_LINE {
                    add(&mut all, line);
                }
            }
        }
        all.sort_by(|one: &Vec<u8>, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        all.dedup();
        let mut by_first = vec![Vec::new(); if all.is_empty() { 0 } else { 256 }];
        for (index, pattern) in all.iter().enumerate() {
            if let Some(list) = pattern.first().and_then(|first| by_first.get_mut(usize::from(*first))) {
                list.push(index);
            }
        }
        Self { patterns: Arc::new(Patterns { all, by_first }) }
    }

    /// Tells whether there is nothing to mask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.all.is_empty()
    }

    fn at(&self, rest: &[u8], more_may_come: bool) -> At {
        let Some(candidates) = rest.first().and_then(|first| self.patterns.by_first.get(usize::from(*first))) else {
            return At::Text;
        };
        for pattern in candidates.iter().filter_map(|index| self.patterns.all.get(*index)) {
            if rest.starts_with(pattern) {
                return At::Secret(pattern.len());
            }
            if more_may_come && pattern.starts_with(rest) {
                return At::Perhaps;
            }
        }
        At::Text
    }

    /// Writes `text` with its secrets masked to `out`, and returns where the part begins that more text must decide.
    fn scan(&self, text: &str, more_may_come: bool, out: &mut String) -> usize {
        let bytes = text.as_bytes();
        let (mut copied, mut place) = (0, 0);
        while place < bytes.len() {
            match self.at(&bytes[place..], more_may_come) {
                // Patterns are texts, so they begin and end between characters.
                At::Secret(length) => {
                    out.push_str(text.get(copied..place).unwrap_or_default());
                    out.push_str(MASK);
                    place += length;
                    copied = place;
                }
                At::Perhaps => break,
                At::Text => place += 1,
            }
        }
        out.push_str(text.get(copied..place).unwrap_or_default());
        place
    }

    /// Tells whether a secret stands in `text`.
    #[must_use]
    pub fn finds(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        !self.is_empty() && (0..bytes.len()).any(|place| matches!(self.at(&bytes[place..], false), At::Secret(_)))
    }

    /// Returns what of the secrets, as they are or encoded, stands in a value.
    pub(crate) fn found_in(&self, value: &Value) -> Vec<String> {
        let mut texts = vec![value.to_string()];
        collect_texts(value, &mut texts);
        let stands = |pattern: &&Vec<u8>| {
            texts.iter().any(|text| text.as_bytes().windows(pattern.len()).any(|piece| piece == pattern.as_slice()))
        };
        let found = self.patterns.all.iter().filter(stands);
        found.filter_map(|pattern| String::from_utf8(pattern.clone()).ok()).collect()
    }

    /// Returns `text` with every secret in it masked.
    #[must_use]
    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.finds(text) {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        self.scan(text, false, &mut masked);
        Cow::Owned(masked)
    }

    /// Returns `value` with every secret in its texts, keys and numbers masked.
    #[must_use]
    pub fn mask_json(&self, value: &Value) -> Value {
        if self.is_empty() {
            return value.clone();
        }
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                let text = number.to_string();
                match self.mask(&text) {
                    Cow::Borrowed(_) => value.clone(),
                    Cow::Owned(masked) => Value::String(masked),
                }
            }
            Value::String(text) => Value::String(self.mask(text).into_owned()),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.mask_json(item)).collect()),
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, member)| (self.mask(key).into_owned(), self.mask_json(member)))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    /// Begins a stream of pieces.
    #[must_use]
    pub fn stream(&self) -> MaskStream {
        MaskStream { masker: self.clone(), held: String::new() }
    }
}

/// Masks a text that comes in pieces.
#[derive(Debug)]
pub struct MaskStream {
    masker: Masker,
    /// The end of what came, which may be the beginning of a secret.
    held: String,
}

impl MaskStream {
    /// Takes the next piece and returns what can be told of so far.
    pub fn push<'a>(&mut self, piece: &'a str) -> Cow<'a, str> {
        if self.masker.is_empty() {
            return Cow::Borrowed(piece);
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(piece);
        let mut out = String::with_capacity(text.len());
        let decided = self.masker.scan(&text, true, &mut out);
        self.held = text.split_off(decided);
        Cow::Owned(out)
    }

    /// Tells how many bytes are held back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// Returns what is held back, after the last piece.
    pub fn finish(&mut self) -> String {
        let text = std::mem::take(&mut self.held);
        let mut out = String::with_capacity(text.len());
        self.masker.scan(&text, false, &mut out);
        out
    }
}

fn add(all: &mut Vec<Vec<u8>>, value: &str) {
    all.push(value.as_bytes().to_vec());
    // JSON inside a log, and JSON inside JSON.
    let once = in_json(value);
    let twice = in_json(&once);
    for escaped in [once, twice, percent_encoded(value)] {
        if escaped != value {
            all.push(escaped.into_bytes());
        }
    }
    // As encoders write it that leave nothing but ASCII (Python), nothing that HTML knows (Go), or neither (PHP, .NET);
    // digits small or capital.
    let beyond_ascii = |letter: char| !letter.is_ascii() || letter == '\u{7f}';
    let of_html = |letter: char| matches!(letter, '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}');
    // What Go leaves as it is.
    let of_html_but_quotes = |letter: char| letter != '\'' && of_html(letter);
    let sets: [&dyn Fn(char) -> bool; 4] =
        [&beyond_ascii, &of_html, &of_html_but_quotes, &|letter| beyond_ascii(letter) || of_html(letter)];
    let plain = in_json(value);
    for is_escaped in sets {
        for capital in [false, true] {
            let escaped = in_ascii_json(value, is_escaped, capital);
            if escaped != plain {
                all.push(in_json(&escaped).into_bytes());
                all.push(escaped.into_bytes());
            }
        }
    }
    for alphabet in [STANDARD, URL_SAFE] {
        // Alone, with its padding.
        all.push(base64(value.as_bytes(), alphabet, 0, true));
        // In a longer text, at each of the three places a byte can have in a group of three.
        for offset in 0..3 {
            let piece = base64(value.as_bytes(), alphabet, offset, false);
            if piece.len() >= SHORTEST_PIECE {
                all.push(piece);
            }
        }
    }
}

/// Returns the inside of the JSON text of `value`.
fn in_json(value: &str) -> String {
    let quoted = Value::from(value).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// The same, with some characters as `\uXXXX`, in two halves where one does not hold it.
fn in_ascii_json(value: &str, is_escaped: &dyn Fn(char) -> bool, capital: bool) -> String {
    let mut out = String::new();
    for letter in value.chars() {
        if !is_escaped(letter) {
            out.push_str(&in_json(letter.encode_utf8(&mut [0; 4])));
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = if capital { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
        }
    }
    out
}

/// RFC 3986, 2.1: everything but unreserved characters.
fn percent_encoded(value: &str) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// RFC 4648, 4 and 5.
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes `bytes` as they would come out after `offset` other bytes, without the characters that others share.
fn base64(bytes: &[u8], alphabet: &[u8; 64], offset: usize, whole: bool) -> Vec<u8> {
    let mut shifted = vec![0; offset];
    shifted.extend_from_slice(bytes);
    let mut out = Vec::new();
    for group in shifted.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for (index, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            if index <= group.len() {
                out.push(alphabet[(bits >> shift) as usize & 63]);
            }
        }
    }
    if whole {
        while !out.len().is_multiple_of(4) {
            out.push(b'=');
        }
        return out;
    }
    // The first characters hold bits of the bytes before, the last one perhaps of the byte after.
    let skipped = [0, 2, 3][offset.min(2)];
    if !shifted.len().is_multiple_of(3) {
        out.pop();
    }
    out.drain(..skipped.min(out.len()));
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masker() -> Masker {
        Masker::new(["hunter2-token", "pässwörd \"x\"", "hunter2-token-longer", "abc", "12345678"])
    }

    #[test]
    fn values_are_masked_longest_first() {
        assert_eq!(masker().mask("a hunter2-token-longer, hunter2-token."), "a •••, •••.");
        assert_eq!(masker().mask("abc stays"), "abc stays");
        assert_eq!(masker().mask("pässwörd \"x\""), MASK);
    }

    #[test]
    fn encoded_values_are_masked() {
        assert_eq!(masker().mask(r#"{"k":"pässwörd \"x\""}"#), r#"{"k":"•••"}"#);
        assert_eq!(masker().mask(r#"{\"k\":\"pässwörd \\\"x\\\"\"}"#), r#"{\"k\":\"•••\"}"#);
        assert_eq!(masker().mask("p%C3%A4ssw%C3%B6rd%20%22x%22&"), "•••&");
        assert_eq!(masker().mask("aHVudGVyMi10b2tlbg=="), MASK);
        // Basic credentials: `user:hunter2-token` and the same with another name before it.
        for (name, encoded) in [("user:", "dXNlcjpodW50ZXIyLXRva2Vu"), ("use:", "dXNlOmh1bnRlcjItdG9rZW4=")] {
            let masked = masker().mask(encoded).into_owned();
            assert!(masked.contains(MASK) && masked.len() < encoded.len(), "{name} {masked}");
        }
    }

    #[test]
    fn values_in_ascii_json_are_masked() {
        for escaped in [
            r#"{"k":"p\u00e4ssw\u00f6rd \"x\""}"#,
            r#"{"k":"p\u00E4ssw\u00F6rd \"x\""}"#,
            r#"{"k":"p\\u00e4ssw\\u00f6rd \\\"x\\\""}"#,
        ] {
            assert_eq!(masker().mask(escaped), r#"{"k":"•••"}"#, "{escaped}");
        }
        let masker = Masker::new(["key-😀-中文", "a<b>&c'd"]);
        for escaped in [r"key-\ud83d\ude00-\u4e2d\u6587", r"key-\uD83D\uDE00-\u4E2D\u6587", r"a\u003cb\u003e\u0026c'd"]
        {
            assert_eq!(masker.mask(escaped), MASK, "{escaped}");
        }
        assert_eq!(masker.mask(r"a\u003Cb\u003E\u0026c\u0027d"), MASK);
        // Cut anywhere.
        let mut stream = masker.stream();
        let out: String =
            [r"x key-\ud8", r"3d\ude00-\u4e", r"2d\u6587 y"].map(|piece| stream.push(piece).into_owned()).concat();
        assert_eq!(out + &stream.finish(), "x ••• y");
    }

    #[test]
    fn json_is_masked_in_keys_texts_and_numbers() {
        assert_eq!(
            masker().mask_json(&json!({"hunter2-token": ["x hunter2-token", 12_345_678, 7, null, true]})),
            json!({"•••": ["x •••", "•••", 7, null, true]})
        );
    }

    #[test]
    fn a_stream_is_masked_wherever_it_is_cut() {
        let text = "é hunter2-token-longer hunter2-tok hunter2-token hunter2-token";
        let whole = masker().mask(text).into_owned();
        let cuts: Vec<usize> = (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)).collect();
        for first in &cuts {
            for second in cuts.iter().filter(|second| *second >= first) {
                let mut stream = masker().stream();
                let mut out = String::new();
                for piece in [&text[..*first], &text[*first..*second], &text[*second..]] {
                    out.push_str(&stream.push(piece));
                }
                out.push_str(&stream.finish());
                assert_eq!(out, whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn nothing_is_held_back_without_need() {
        let mut stream = masker().stream();
        assert_eq!(stream.push("hunter"), "");
        assert_eq!(stream.held(), 6);
        assert_eq!(stream.push(" x\n"), "hunter x\n");
        assert_eq!(stream.held(), 0);
    }

    #[test]
    fn lines_of_a_key_are_masked_one_by_one() {
        let masker = Masker::new(["-----BEGIN-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END-----"]);
        assert_eq!(masker.mask("key: MIIEvQIBADANBgkqhkiG9w0B\r\n"), "key: •••\r\n");
    }

    #[test]
    fn a_masker_does_not_print_its_values() {
        assert!(!format!("{:?}", masker().stream()).contains("hunter2"));
    }
}
