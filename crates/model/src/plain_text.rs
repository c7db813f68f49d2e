//! Texts that a person decides upon, written so that nothing in them is hidden or stands elsewhere than it seems to.

use std::fmt::Write as _;

/// Tells whether a character shows nothing by itself, or changes how what stands beside it is shown: controls, what turns
/// the direction of writing, what has no width, letters that look like blanks.
#[must_use]
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            // Format characters: direction, joining, invisible operators, annotations, tags.
            '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1345f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            // Variation selectors but the two of emoji.
            | '\u{fe00}'..='\u{fe0d}'
            // Line ends that are no controls.
            | '\u{2028}' | '\u{2029}'
            // Letters without a shape.
            | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
}

/// Returns `text` as one line with every hidden character written as JSON writes it, `\u202e`.
#[must_use]
pub fn visible_line(text: &str) -> String {
    escaped(text, |letter| is_hidden(letter) && letter != '\t')
}

/// The same for a text of several lines.
#[must_use]
pub fn visible_text(text: &str) -> String {
    escaped(text, |letter| is_hidden(letter) && !matches!(letter, '\t' | '\n'))
}

/// Writes the characters that are meant as JSON escapes, `\u202e`; where those stand in JSON's texts, no value changes.
#[must_use]
pub fn escaped(text: &str, is_meant: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_meant(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(letter);
        }
    }
    out
}

/// Turns an id into a title: `weekly-report` becomes `Weekly report`.
#[must_use]
pub fn title_from_id(id: &str) -> String {
    let spaced = id.replace(['-', '_'], " ");
    let trimmed = spaced.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = trimmed.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        // An id of hyphens only.
        None => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_written_out() {
        for hidden in ['\u{1b}', '\u{202e}', '\u{2066}', '\u{200f}', '\u{61c}', '\u{200b}', '\u{feff}', '\u{2028}'] {
            assert_eq!(visible_line(&format!("a{hidden}b")), format!("a\\u{:04x}b", u32::from(hidden)));
        }
        assert_eq!(visible_line("tag \u{e0041}"), "tag \\udb40\\udc41");
        assert_eq!(visible_line("one\ntwo\r"), "one\\u000atwo\\u000d");
        assert_eq!(visible_text("one\n\ttwo\r\u{2069}"), "one\n\ttwo\\u000d\\u2069");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in ["Grüße, 你好, שלום, مرحبا", "⚠\u{fe0f} Löschen?", "a\tb"] {
            assert_eq!(visible_line(text), text);
        }
    }
}
