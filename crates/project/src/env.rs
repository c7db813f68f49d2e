//! A project's `.env`, and the environment that a command entrypoint gets.
//!
//! Values never show in `Debug`, in warnings or in errors: a `.env` is where secrets live. Nothing is expanded: `$NAME`
//! in a value is those five letters.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use model::Limits;

use crate::read::{ReadError, read_bounded};

/// The names and values of a `.env` file.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct EnvFile {
    values: Vec<(String, String)>,
    warnings: Vec<String>,
}

impl fmt::Debug for EnvFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.names().collect();
        formatter.debug_struct("EnvFile").field("names", &names).field("warnings", &self.warnings).finish()
    }
}

impl EnvFile {
    /// Reads `.env` in a project's folder; without one, nothing is set.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read, is no regular file, or is over 1 MiB.
    pub fn read(root: &Path) -> Result<Self, ReadError> {
        match read_bounded(&root.join(".env"), Limits::PROJECT_FILE_BYTES) {
            Ok(bytes) => Ok(Self::parse(&bytes)),
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Reads the text of a `.env`: `NAME=value` or `export NAME=value` a line; values bare (a comment begins with ` #`), in
    /// single quotes (verbatim), or in double quotes (`\n \r \t \\ \" \$`), quoted ones also over several lines. A
    /// byte-order mark and CRLF are fine. A line that is nothing of the kind is left out and warned of, by its number and
    /// never by its content.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let mut file = Self::default();
        if let std::borrow::Cow::Owned(_) = &text {
            file.warn(format_args!("`.env` is not UTF-8; odd bytes were replaced"));
        }
        let text = text.replace("\r\n", "\n");
        let mut parser = Parser { rest: &text, line: 1 };
        while let Some((line, result)) = parser.next_entry() {
            match result {
                Ok((name, value)) => file.set(line, name, value),
                Err(reason) => file.warn(format_args!("`.env` line {line} is left out: {reason}")),
            }
        }
        file
    }

    fn warn(&mut self, warning: fmt::Arguments<'_>) {
        // A binary file has a fault on every line.
        const MOST: usize = 20;
        match self.warnings.len() {
            0..MOST => self.warnings.push(warning.to_string()),
            MOST => self.warnings.push("`.env` has more faults of that kind".into()),
            _ => {}
        }
    }

    fn set(&mut self, line: usize, name: String, value: String) {
        if let Some(known) = self.values.iter_mut().find(|(known, _)| *known == name) {
            known.1 = value;
            self.warn(format_args!("`.env` line {line} sets `{name}` again; the last one counts"));
        } else {
            self.values.push((name, value));
        }
    }

    /// The names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// The value of a name, as the file has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What is wrong with the file, by line, without any value.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The values that count for the names of the file: where the process environment has a name too, its value wins.
    /// Other names of the process environment are not the project's to read.
    #[must_use]
    pub fn resolve(&self, process: &HashMap<OsString, OsString>) -> Vec<(String, String)> {
        let winner = |name: &str| process.get(OsStr::new(name)).map(|value| value.to_string_lossy().into_owned());
        self.values.iter().map(|(name, value)| (name.clone(), winner(name).unwrap_or_else(|| value.clone()))).collect()
    }
}

struct Parser<'a> {
    rest: &'a str,
    line: usize,
}

type Entry = (usize, Result<(String, String), &'static str>);

impl<'a> Parser<'a> {
    fn next_entry(&mut self) -> Option<Entry> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let line = self.line;
            let trimmed = self.rest.trim_start_matches([' ', '\t']);
            if trimmed.is_empty() || trimmed.starts_with('\n') || trimmed.starts_with('#') {
                self.skip_line();
                continue;
            }
            self.rest = trimmed;
            let result = self.entry();
            if result.is_err() {
                self.skip_line();
            }
            return Some((line, result));
        }
    }

    fn skip_line(&mut self) {
        match self.rest.split_once('\n') {
            Some((_, rest)) => {
                self.rest = rest;
                self.line += 1;
            }
            None => self.rest = "",
        }
    }

    fn entry(&mut self) -> Result<(String, String), &'static str> {
        if let Some(rest) = self.rest.strip_prefix("export")
            && rest.starts_with([' ', '\t'])
        {
            self.rest = rest.trim_start_matches([' ', '\t']);
        }
        let line_end = self.rest.find('\n').unwrap_or(self.rest.len());
        let Some((name, _)) = self.rest[..line_end].split_once('=') else { return Err("it has no `=`") };
        let (after_name, name) = (&self.rest[name.len() + 1..], name.trim_end());
        if !is_name(name) {
            return Err("its name is not of letters, digits and `_`");
        }
        let value = after_name.trim_start_matches([' ', '\t']);
        let value = match value.chars().next() {
            Some('\'') => self.single_quoted(&value[1..])?,
            Some('"') => self.double_quoted(&value[1..])?,
            Some(_) | None => {
                let end = value.find('\n').unwrap_or(value.len());
                let bare = without_comment(&value[..end]);
                self.rest = value;
                self.skip_line();
                bare.to_owned()
            }
        };
        if value.contains('\0') { Err("its value has a NUL character") } else { Ok((name.to_owned(), value)) }
    }

    fn single_quoted(&mut self, text: &'a str) -> Result<String, &'static str> {
        let end = text.find('\'').ok_or("its quote is not closed")?;
        self.after_quote(text, end, 1)?;
        Ok(text[..end].to_owned())
    }

    fn double_quoted(&mut self, text: &'a str) -> Result<String, &'static str> {
        let mut value = String::new();
        let mut letters = text.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.after_quote(text, at, 1)?;
                    return Ok(value);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, escaped @ ('\\' | '"' | '$'))) => value.push(escaped),
                    // A line that ends with a backslash goes on.
                    Some((_, '\n')) => {}
                    Some((_, other)) => value.extend(['\\', other]),
                    None => return Err("its quote is not closed"),
                },
                other => value.push(other),
            }
        }
        Err("its quote is not closed")
    }

    /// Goes on behind a closing quote; only a comment may follow it on its line.
    fn after_quote(&mut self, text: &'a str, end: usize, quote: usize) -> Result<(), &'static str> {
        let rest = &text[end + quote..];
        let line_end = rest.find('\n').unwrap_or(rest.len());
        let behind = rest[..line_end].trim();
        if !behind.is_empty() && !behind.starts_with('#') {
            return Err("something stands behind its closing quote");
        }
        self.line += text[..end].matches('\n').count();
        self.rest = rest;
        self.skip_line();
        Ok(())
    }
}

fn without_comment(bare: &str) -> &str {
    let end = if bare.starts_with('#') {
        0
    } else {
        bare.match_indices('#').find(|(at, _)| bare[..*at].ends_with([' ', '\t'])).map_or(bare.len(), |(at, _)| at)
    };
    bare[..end].trim_end()
}

fn is_name(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=255).contains(&name.len())
        && name.bytes().all(letters)
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// Tells whether a name looks like a secret's: `GITHUB_TOKEN`, `apiKey`, `DB_PASSWORD`. Judged by words, so that
/// `KEYBOARD` and `AUTHOR` are none. `SSH_AUTH_SOCK` is the path of a socket without which git over ssh does not work.
#[must_use]
pub fn is_secret_looking(name: &str) -> bool {
    const ANYWHERE: [&str; 12] = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "AUTHORIZATION",
        "APIKEY",
        "ACCESSKEY",
        "PRIVATEKEY",
        "CONNECTIONSTRING",
        "COOKIE",
    ];
    const WORDS: [&str; 11] = ["KEY", "KEYS", "AUTH", "PASS", "PAT", "PW", "PWD", "BEARER", "DSN", "PIN", "JWT"];
    if matches!(name, "SSH_AUTH_SOCK" | "PWD" | "OLDPWD") {
        return false;
    }
    let mut words: Vec<String> = Vec::new();
    let mut previous_lower = false;
    for letter in name.chars() {
        // A capital after a small letter begins a word: `apiKey`.
        if !letter.is_alphanumeric() || (previous_lower && letter.is_uppercase()) || words.is_empty() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_uppercase());
        }
        previous_lower = letter.is_lowercase();
    }
    let joined = words.concat();
    ANYWHERE.iter().any(|part| joined.contains(part)) || words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// The beginning of the names that belong to the product; none of them reaches a command by inheritance.
const OWN_PREFIX: &str = "WORKFLOW_";

/// Builds the environment of a command entrypoint: the launcher's own names less secret-looking ones and the product's,
/// then the names of `.env` (the process environment's values win, as everywhere), then the connection. The caller adds
/// what belongs to the run.
#[must_use]
pub fn command_environment(
    process: &HashMap<OsString, OsString>,
    file: &EnvFile,
    connection: &[(String, String)],
) -> Vec<(OsString, OsString)> {
    let inherited = |name: &OsStr| match name.to_str() {
        Some(name) => !is_secret_looking(name) && !name.starts_with(OWN_PREFIX),
        // A name that is no text cannot be judged.
        None => false,
    };
    let mut environment: HashMap<OsString, OsString> =
        process.iter().filter(|(name, _)| inherited(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    for (name, value) in file.resolve(process) {
        // The connection is one pair from one source, and what is about the run is the caller's to say.
        if !name.starts_with(OWN_PREFIX) {
            environment.insert(name.into(), value.into());
        }
    }
    for (name, value) in connection {
        environment.insert(name.into(), value.into());
    }
    let mut environment: Vec<_> = environment.into_iter().collect();
    environment.sort();
    environment
}
