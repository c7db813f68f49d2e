//! Command lines to show and copy. They are never run by us.

/// Quotes one word for a POSIX shell: plain words as they are, others between apostrophes.
pub(crate) fn quote(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes and joins words to a command line.
pub(crate) fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn odd_words_are_quoted() {
        assert_eq!(command_line(["a", "b c", "it's", "", "$HOME", "é"]), r"a 'b c' 'it'\''s' '' '$HOME' 'é'");
    }

    /// What a POSIX shell makes of a word that consists of plain characters, `'…'` and `\'` only.
    fn unquote(text: &str) -> String {
        let (mut word, mut inside) = (String::new(), false);
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\'' => inside = !inside,
                '\\' if !inside => word.extend(characters.next()),
                other => {
                    assert!(inside || !" $`\"*?[;&|<>(){}~#!\n".contains(other), "unquoted {other:?} in {text}");
                    word.push(other);
                }
            }
        }
        assert!(!inside);
        word
    }

    proptest! {
        #[test]
        fn every_word_survives_a_shell(word in any::<String>()) {
            prop_assert_eq!(unquote(&quote(&word)), word);
        }
    }
}
