//! Command lines to show and copy. They are never run by us.

use std::path::PathBuf;

/// Quotes one word for a POSIX shell: plain words as they are, others between apostrophes.
#[must_use]
pub fn quote(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes and joins words to a command line.
#[must_use]
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Which history a printed command has to look into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryPlace {
    /// The registry's, of this profile.
    Profile(String),
    /// `history.db` in this folder.
    Folder(PathBuf),
}

impl HistoryPlace {
    /// The profile that commands mean when they name none.
    pub const USUAL_PROFILE: &str = "default";

    /// Returns the words that lead a command to this history; none where it looks there by itself.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        match self {
            Self::Profile(profile) if profile == Self::USUAL_PROFILE => Vec::new(),
            Self::Profile(profile) => vec!["--profile".into(), profile.clone()],
            Self::Folder(folder) => vec!["--data-dir".into(), folder.to_string_lossy().into_owned()],
        }
    }

    /// Writes a command of this program that finds what is in this history: `words` behind its name.
    #[must_use]
    pub fn command(&self, words: &[&str]) -> String {
        let options = self.options();
        let options = options.iter().map(String::as_str);
        command_line(["workflow-code"].into_iter().chain(words.iter().copied()).chain(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn odd_words_are_quoted() {
        assert_eq!(command_line(["a", "b c", "it's", "", "$HOME", "é"]), r"a 'b c' 'it'\''s' '' '$HOME' 'é'");
    }

    #[test]
    fn a_command_leads_to_the_history_it_is_about() {
        let usual = HistoryPlace::Profile(HistoryPlace::USUAL_PROFILE.into());
        assert_eq!(usual.command(&["runs", "wait", "r"]), "workflow-code runs wait r");
        let work = HistoryPlace::Profile("work".into());
        assert_eq!(work.command(&["runs", "wait", "r"]), "workflow-code runs wait r --profile work");
        let folder = HistoryPlace::Folder("/d d's".into());
        assert_eq!(folder.command(&["runs", "list"]), r"workflow-code runs list --data-dir '/d d'\''s'");
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
