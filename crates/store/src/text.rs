//! Words for full-text search.
//!
//! SQLite's tokenizer takes a row of CJK characters for one word, so `运行` would not be found in `如何运行项目`. Here each
//! such character becomes a word of its own before a text is indexed, and a query for several of them becomes a phrase.

/// Words of a query that count; further ones are left out.
const MOST_WORDS: usize = 32;

/// Tells whether texts in the character's script run on without spaces (Han, kana, Hangul).
fn runs_on(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Sets CJK characters apart.
pub(crate) fn segmented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = false;
    for character in text.chars() {
        let now = runs_on(character);
        if (now || before) && !out.ends_with(char::is_whitespace) && !out.is_empty() {
            out.push(' ');
        }
        // NUL would end the text for SQLite's tokenizer.
        out.push(if character == '\0' { ' ' } else { character });
        before = now;
    }
    out
}

/// Makes a query of each word of `text`, in the order of the text.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(MOST_WORDS)
        .map(quoted)
        .collect()
}

/// Makes a query that any word of `text` matches; of CJK words, any two neighbouring characters. `None`: no words.
pub(crate) fn any_word(text: &str) -> Option<String> {
    let mut phrases: Vec<String> = Vec::new();
    for word in text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let characters: Vec<char> = word.chars().collect();
        for piece in characters.chunk_by(|one, other| runs_on(*one) == runs_on(*other)) {
            match piece {
                [first, _, ..] if runs_on(*first) => {
                    phrases.extend(piece.windows(2).map(|pair| quoted(&pair.iter().collect::<String>())));
                }
                piece => phrases.push(quoted(&piece.iter().collect::<String>())),
            }
        }
    }
    phrases.truncate(MOST_WORDS);
    if phrases.is_empty() { None } else { Some(phrases.join(" OR ")) }
}

/// Splits a word as [`words`] writes it into the tokens before its last one, as a phrase holds them, and the last one as
/// the index has it. `None`: only SQLite's own tokenizer knows (it takes marks off letters and makes them small).
pub(crate) fn last_token(word: &str) -> Option<(String, String)> {
    if !word.is_ascii() {
        return None;
    }
    let mut tokens = word.split(|character: char| !character.is_ascii_alphanumeric()).filter(|token| !token.is_empty());
    let last = tokens.next_back()?.to_ascii_lowercase();
    let before = tokens.fold(String::new(), |before, token| before + token + " ");
    Some((before, last))
}

/// Writes a word as a string of SQLite's query language (sqlite.org/fts5.html, 3.1).
fn quoted(word: &str) -> String {
    format!("\"{}\"", segmented(word).replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cjk_characters_stand_apart() {
        assert_eq!(segmented("如何run项目。x"), "如 何 run 项 目 。x");
        assert_eq!(segmented("plain text"), "plain text");
        assert_eq!(segmented("カナ\0"), "カ ナ  ");
    }

    #[test]
    fn the_last_token_is_the_one_that_is_being_typed() {
        let of = |word: &str| last_token(&quoted(word)).map(|(before, last)| before + "|" + &last);
        assert_eq!(of("Invo").as_deref(), Some("|invo"));
        assert_eq!(of("a_b/Run.ts\"").as_deref(), Some("a b Run |ts"));
        assert_eq!(of("Müll"), None);
        assert_eq!(of("运"), None);
        assert_eq!(of("--"), None);
    }

    #[test]
    fn queries_are_quoted() {
        assert_eq!(words("a\"b OR 运行 -- "), ["\"a\"\"b\"", "\"OR\"", "\"运 行\""]);
        assert_eq!(words(" -- \"*"), Vec::<String>::new());
        assert_eq!(any_word("run-now 如何运").as_deref(), Some(r#""run" OR "now" OR "如 何" OR "何 运""#));
        assert_eq!(any_word("运x").as_deref(), Some(r#""运" OR "x""#));
        assert_eq!(any_word("?!"), None);
    }
}
