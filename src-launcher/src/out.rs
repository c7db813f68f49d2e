//! The one place that prints: results to standard output, everything else to standard error.
//!
//! What is printed for a person is neutralised here and nowhere else: titles, bodies and logs come from repositories and
//! programs that nobody has to trust, and a terminal obeys what it is sent. What is printed for programs stays as it is
//! where a program reads it.
//!
//! Not for servers: those write through the protocol's own writer.

use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::sync::atomic::{AtomicU8, Ordering};

use project::words::is_unsafe;
use serde_json::Value;

use crate::env_vars;
use crate::failure::Failure;

/// What stands for a character that is not printed.
const NEUTRAL: char = '\u{fffd}';

/// The longest colour that is let through.
const COLOUR_BYTES: usize = 48;

/// Standard output takes what is printed.
const WHOLE: u8 = 0;

/// Its reader went away, as `head` does.
const UNREAD: u8 = 1;

/// It could not be written: what was printed is not all there.
const BROKEN: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(WHOLE);

fn write(text: &str) {
    if STATE.load(Ordering::Relaxed) != WHOLE {
        return;
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        // A reader that went away (`| head`) is no error of ours.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => STATE.store(UNREAD, Ordering::Relaxed),
        Err(error) => {
            STATE.store(BROKEN, Ordering::Relaxed);
            note(&format!("error: standard output cannot be written: {error}"));
        }
    }
}

/// Tells whether nobody gets what is printed any more.
pub(crate) fn is_over() -> bool {
    STATE.load(Ordering::Relaxed) != WHOLE
}

/// The exit code of a command that ended with `code`: a success whose result could not be written is none.
pub(crate) fn exit_code(code: u8, broken: u8) -> u8 {
    if code == 0 && STATE.load(Ordering::Relaxed) == BROKEN { broken } else { code }
}

/// Prints a result.
pub(crate) fn print(text: &str) {
    write(&neutral(text));
}

/// Prints a result as one line.
pub(crate) fn line(text: &str) {
    print(&format!("{text}\n"));
}

/// Prints a machine-readable result.
pub(crate) fn json(value: &Value) {
    json_text(&format!("{value:#}\n"));
}

/// Prints a machine-readable result as one line.
pub(crate) fn json_line(value: &Value) {
    json_text(&format!("{value}\n"));
}

/// Prints JSON. On a terminal, what it would obey is escaped, which changes no value.
pub(crate) fn json_text(text: &str) {
    if io::stdout().is_terminal() {
        write(&escaped(text));
    } else {
        write(text);
    }
}

/// Prints what a program wrote or will read: to a file or a pipe as it is, to a terminal with nothing left but colours.
pub(crate) fn written(text: &str) {
    if !io::stdout().is_terminal() {
        return write(text);
    }
    let coloured =
        env_vars::get(env_vars::NO_COLOR).is_none() && env_vars::get(env_vars::TERM).is_some_and(|term| term != "dumb");
    write(&if coloured { with_colours(text) } else { neutral(text) });
}

/// Tells a person something that is no result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", neutral(text));
}

/// Tells a program something that is no result.
pub(crate) fn json_note(value: &Value) {
    let text = value.to_string();
    let text = if io::stderr().is_terminal() { escaped(&text) } else { text };
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Asks a person for a line.
pub(crate) fn prompt(text: &str) {
    let _ = write!(io::stderr().lock(), "{}", one_line(text));
}

/// Reports why a command failed.
pub(crate) fn failure(failure: &Failure) {
    note(&format!("error: {}", failure.message));
    if let Some(hint) = &failure.hint {
        note(&format!("hint: {hint}"));
    }
}

/// Takes out what would move the cursor, colour the terminal, reach its clipboard, or hide and reorder text. Line feeds and
/// tabs stay.
pub(crate) fn neutral(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(|letter| if is_unsafe(letter) { NEUTRAL } else { letter }).collect()
}

/// As [`neutral`], for what stands within a line.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(shown).collect()
}

/// As [`one_line`], for one character.
pub(crate) fn shown(letter: char) -> char {
    if letter == '\n' || is_unsafe(letter) { NEUTRAL } else { letter }
}

/// As [`neutral`], but colours stay, and end with the text.
fn with_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut coloured = false;
    while let Some(start) = rest.find('\u{1b}') {
        let (before, sequence) = rest.split_at(start);
        out.push_str(&neutral(before));
        let length = colour_length(sequence);
        coloured |= length.is_some();
        match length {
            Some(length) => out.push_str(&sequence[..length]),
            None => out.push(NEUTRAL),
        }
        rest = &sequence[length.unwrap_or(1)..];
    }
    out.push_str(&neutral(rest));
    if coloured {
        out.push_str("\u{1b}[0m");
    }
    out
}

/// How long the sequence is that a text begins with, if all it does is to colour (`SGR`).
fn colour_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.bytes().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'))?;
    (end <= COLOUR_BYTES && parameters.as_bytes().get(end) == Some(&b'm')).then_some(end + 3)
}

/// Writes what a terminal would obey as JSON escapes. In JSON it stands in texts only.
fn escaped(text: &str) -> String {
    model::escaped(text, is_unsafe)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        let hostile = "a\u{1b}]0;t\u{7}b\rc\u{9b}2J\u{202e}d\u{2066}e\u{200f}f\u{61c}g\u{7f}\ttab\r\nline";
        let neutral = neutral(hostile);
        assert!(!neutral.chars().any(is_unsafe), "{neutral:?}");
        assert!(neutral.ends_with("\ttab\nline"), "{neutral:?}");
        assert_eq!(one_line("a\nb\tc"), "a\u{fffd}b\tc");
        assert_eq!(super::neutral("运行 – é 👩‍💻"), "运行 – é 👩‍💻");
    }

    #[test]
    fn of_a_log_s_sequences_only_colours_stay() {
        assert_eq!(with_colours("a\u{1b}[1;31mred\n"), "a\u{1b}[1;31mred\n\u{1b}[0m");
        assert_eq!(with_colours("plain\n"), "plain\n");
        for hostile in
            ["\u{1b}[2J", "\u{1b}]52;c;aGk=\u{7}", "\u{1b}[?25l", "\u{1b}[31", "\u{1b}", "\u{1b}c", "\u{9b}31m"]
        {
            let out = with_colours(hostile);
            assert!(!out.chars().any(is_unsafe), "{out:?}");
        }
        let long = format!("\u{1b}[{}m", "1;".repeat(100));
        assert!(!with_colours(&long).contains('\u{1b}'));
    }

    #[test]
    fn json_on_a_terminal_says_the_same() {
        let value = json!({ "a\u{9b}": "\u{1b}[2J\u{202e}\u{e0041}é\n" });
        let text = escaped(&value.to_string());
        assert!(!text.chars().any(is_unsafe), "{text:?}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
