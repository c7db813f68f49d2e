//! The change of a file, to be looked at.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// Lines around a change.
const CONTEXT: usize = 3;
/// The most lines of a difference.
const LINES: usize = 2_000;
/// The most characters of a shown line: a file in one line may have millions.
const WIDTH: usize = 400;
/// After this time a coarser difference is good enough.
const TIME: Duration = Duration::from_millis(500);

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffSign {
    /// It stays.
    Same,
    /// It is added.
    Added,
    /// It goes.
    Removed,
}

/// A line of a difference, fit to be shown: control and direction characters are written as `\u{…}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    /// What happens to it.
    pub sign: DiffSign,
    /// Its number before, from 1.
    pub old_line: Option<usize>,
    /// Its number after, from 1.
    pub new_line: Option<usize>,
    /// Its text without the line end, at most 400 characters of it.
    pub text: String,
}

/// The difference of two texts in groups of neighbouring lines, each with three lines around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The groups.
    pub groups: Vec<Vec<DiffLine>>,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Whether lines are left out, because there are more than 2,000.
    pub cut: bool,
}

impl Difference {
    /// Compares two texts by lines.
    pub(crate) fn new(before: &str, after: &str) -> Self {
        let diff = TextDiff::configure().timeout(TIME).diff_lines(before, after);
        let mut difference = Self { groups: Vec::new(), added: 0, removed: 0, cut: false };
        let mut lines = 0;
        for group in diff.grouped_ops(CONTEXT) {
            let mut shown = Vec::new();
            for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
                let sign = match change.tag() {
                    ChangeTag::Equal => DiffSign::Same,
                    ChangeTag::Insert => DiffSign::Added,
                    ChangeTag::Delete => DiffSign::Removed,
                };
                difference.added += usize::from(sign == DiffSign::Added);
                difference.removed += usize::from(sign == DiffSign::Removed);
                lines += 1;
                if lines > LINES {
                    difference.cut = true;
                    continue;
                }
                shown.push(DiffLine {
                    sign,
                    old_line: change.old_index().map(|index| index + 1),
                    new_line: change.new_index().map(|index| index + 1),
                    text: visible(change.value().trim_end_matches(['\n', '\r'])),
                });
            }
            if !shown.is_empty() {
                difference.groups.push(shown);
            }
        }
        difference
    }

    /// Returns whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the difference as text for a terminal: `+`, `-` or a space before each line, `…` between groups.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (index, group) in self.groups.iter().enumerate() {
            if index > 0 {
                text.push_str("…\n");
            }
            for line in group {
                let sign = match line.sign {
                    DiffSign::Same => ' ',
                    DiffSign::Added => '+',
                    DiffSign::Removed => '-',
                };
                // Writing to a text cannot fail.
                let _ = writeln!(text, "{sign} {}", line.text);
            }
        }
        text
    }
}

/// Makes hostile text harmless to a terminal and to the eye.
fn visible(line: &str) -> String {
    let mut shown = String::new();
    for (index, character) in line.chars().enumerate() {
        if index == WIDTH {
            shown.push('…');
            break;
        }
        let direction = matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
        if direction || (character.is_control() && character != '\t') {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_numbers_and_context() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        let difference = Difference::new(before, after);
        assert_eq!((difference.added, difference.removed, difference.cut), (1, 1, false));
        assert_eq!(difference.to_text(), "  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  8\n");
        let line = &difference.groups[0][4];
        assert_eq!((line.old_line, line.new_line, line.sign), (None, Some(5), DiffSign::Added));
        assert!(Difference::new(before, before).is_empty());
    }

    #[test]
    fn hostile_lines_are_shown_harmlessly() {
        let after = format!("// \u{1b}]0;x\u{7} \u{202e}abc\n{}\n", "x".repeat(5_000_000));
        let text = Difference::new("", &after).to_text();
        assert!(text.starts_with("+ // \\u{1b}]0;x\\u{7} \\u{202e}abc\n"), "{}", &text[..60]);
        assert!(text.len() < 1_000);
    }

    #[test]
    fn a_huge_difference_is_cut_and_says_so() {
        let after = "x\n".repeat(50_000);
        let difference = Difference::new("", &after);
        assert!(difference.cut);
        assert_eq!(difference.added, 50_000);
        assert_eq!(difference.groups.iter().map(Vec::len).sum::<usize>(), 2_000);
    }
}
