//! Small rules about words: the nearest known name, text made safe to show.

pub use model::title_from_id;

/// Finds the known name nearest to one that is unknown, if one is near enough to be meant.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of a thousand letters is no slip of the pen, and comparing is quadratic.
    if name.chars().count() > 80 {
        return None;
    }
    let wanted = name.to_lowercase();
    known
        .into_iter()
        .filter(|candidate| candidate.len() <= 320)
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count().max(3) / 3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Tells whether a character can hide or reorder text: control characters (but for line feed and tab), bidirectional
/// overrides and isolates, invisible marks, the tag block.
#[must_use]
pub fn is_unsafe(letter: char) -> bool {
    (letter.is_control() && letter != '\n' && letter != '\t')
        || matches!(letter, '\u{061C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}')
        || matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

/// Removes what [`is_unsafe`] names; a carriage return before a line feed goes with it.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars().filter(|letter| !is_unsafe(*letter)).collect()
}

/// Cuts a text to at most `most` bytes, at the end of a sentence when one is in its second half, else at a word.
#[must_use]
pub fn cut_at_sentence(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    // Room for the mark, which is three bytes long.
    let mut end = most.saturating_sub(3).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    let sentence = head
        .char_indices()
        .rfind(|(at, letter)| {
            let after = head[at + letter.len_utf8()..].chars().next();
            matches!(letter, '。' | '！' | '？' | '\n')
                || (matches!(letter, '.' | '!' | '?') && after.is_none_or(char::is_whitespace))
        })
        .map(|(at, letter)| at + letter.len_utf8());
    if let Some(sentence) = sentence
        && sentence > most / 2
    {
        return head[..sentence].trim_end().to_owned();
    }
    let word = head.rfind(char::is_whitespace).filter(|at| *at > most / 2).unwrap_or(end);
    format!("{}…", head[..word].trim_end())
}

/// Joins sentences, closing each but the last with a full stop where it has no end of its own.
pub(crate) fn sentences(parts: &[String]) -> String {
    let mut text = String::new();
    for part in parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            if !text.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '…']) {
                text.push('.');
            }
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("main", "Main")]
    #[case("weekly-report", "Weekly report")]
    #[case("a__b--c", "A b c")]
    #[case("élan", "Élan")]
    #[case("--", "--")]
    fn titles(#[case] id: &str, #[case] title: &str) {
        assert_eq!(title_from_id(id), title);
    }

    #[rstest]
    #[case("cuont", Some("count"))]
    #[case("Count", Some("count"))]
    #[case("extra", None)]
    #[case("ton", Some("tone"))]
    fn near_names(#[case] name: &str, #[case] wanted: Option<&str>) {
        assert_eq!(nearest(name, ["name", "count", "tone"]), wanted);
    }

    #[test]
    fn a_cut_ends_with_a_sentence() {
        assert_eq!(cut_at_sentence("One two. Three four five", 20), "One two. Three…");
        assert_eq!(cut_at_sentence("One two three. Four five", 20), "One two three.");
        assert_eq!(cut_at_sentence("Version 1.5 is out", 100), "Version 1.5 is out");
    }

    #[test]
    fn sentences_are_joined_once() {
        assert_eq!(sentences(&["Any day".into(), "A date".into()]), "Any day. A date");
        assert_eq!(sentences(&["Who to greet".into(), String::new()]), "Who to greet");
        assert_eq!(sentences(&["Really?".into(), "Yes".into()]), "Really? Yes");
    }

    proptest! {
        #[test]
        fn a_cut_fits(text in "\\PC{0,80}", most in 3_usize..60) {
            prop_assert!(cut_at_sentence(&text, most).len() <= most);
        }

        #[test]
        fn nothing_unsafe_is_left(text in any::<String>()) {
            prop_assert!(!clean(&text).chars().any(is_unsafe));
        }
    }
}
