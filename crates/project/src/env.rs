//! A project's `.env`, and the environment that a command entrypoint gets.
//!
//! Values never show in `Debug`, in warnings or in errors: a `.env` is where secrets live. Nothing is expanded: `$NAME`
//! in a value is those five letters.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use model::Limits;

use disk::read::{ReadError, read_bounded};

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn pairs(text: &str) -> Vec<(String, String)> {
        EnvFile::parse(text.as_bytes()).values
    }

    #[rstest]
    #[case("A=1", "1")]
    #[case("  export A = x y ", "x y")]
    #[case("A=", "")]
    #[case("A=a#b", "a#b")]
    #[case("A=a # b", "a")]
    #[case("A=# b", "")]
    #[case("A='a # \\n $X'", "a # \\n $X")]
    #[case("A=\"a\\nb\\t\\\"c\\\" \\\\ \\$X \\q\" # end", "a\nb\t\"c\" \\ $X \\q")]
    #[case("A=\"two\nlines\"", "two\nlines")]
    #[case("A='two\nlines'", "two\nlines")]
    #[case("A=it's", "it's")]
    #[case("A=1\r\n", "1")]
    #[case("\u{feff}A=1", "1")]
    #[case("A=b=c", "b=c")]
    #[case("A=$HOME", "$HOME")]
    #[case("A=日本", "日本")]
    #[case("A=\"one\\\ntwo\"", "onetwo")]
    fn values(#[case] text: &str, #[case] wanted: &str) {
        assert_eq!(pairs(text), [("A".to_owned(), wanted.to_owned())]);
        assert!(EnvFile::parse(text.as_bytes()).warnings().is_empty());
    }

    #[test]
    fn faults_have_their_line_and_hide_nothing_else() {
        let text = "# comment\n\nA=1\nnonsense\n1B=2\nC=\"open\nD=3\nE='x' y\nF=4\nA=5\nG=\0\n";
        let file = EnvFile::parse(text.as_bytes());
        assert_eq!(pairs(text), [("A".into(), "5".into()), ("D".into(), "3".into()), ("F".into(), "4".into())]);
        let lines: Vec<_> = file.warnings().iter().map(|text| text.split(':').next().unwrap()).collect();
        assert_eq!(
            lines,
            [
                "`.env` line 4 is left out",
                "`.env` line 5 is left out",
                "`.env` line 6 is left out",
                "`.env` line 8 is left out",
                "`.env` line 10 sets `A` again; the last one counts",
                "`.env` line 11 is left out"
            ]
        );
    }

    #[test]
    fn lines_are_counted_through_values_of_many_lines() {
        let file = EnvFile::parse(b"A=\"1\n2\n3\"\nbad\n");
        assert!(file.warnings()[0].contains("line 4"), "{:?}", file.warnings());
    }

    #[test]
    fn no_value_is_ever_shown() {
        let file = EnvFile::parse(b"TOKEN=hush-hush\nTOKEN=hush-again\nhush bad line\nX=\"hush");
        let shown = format!("{file:?} {:?}", file.warnings());
        assert!(!shown.contains("hush"), "{shown}");
        assert!(shown.contains("TOKEN"));
    }

    #[test]
    fn a_missing_file_sets_nothing_and_odd_ones_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(EnvFile::read(folder.path()).unwrap(), EnvFile::default());
        let path = folder.path().join(".env");
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(EnvFile::read(folder.path()), Err(ReadError::NotRegular { .. })));
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, vec![b'A'; 1024 * 1024 + 1]).unwrap();
        assert!(matches!(EnvFile::read(folder.path()), Err(ReadError::TooLarge { .. })));
    }

    #[test]
    fn a_binary_file_makes_few_warnings() {
        let file = EnvFile::parse(&b"\xff\x00garbage\n".repeat(10_000));
        assert!(file.warnings().len() <= 21);
    }

    #[rstest]
    #[case("GITHUB_TOKEN", true)]
    #[case("apiKey", true)]
    #[case("OPENAI_API_KEY", true)]
    #[case("DB_PASSWORD", true)]
    #[case("AWS_SECRET_ACCESS_KEY", true)]
    #[case("GOOGLE_APPLICATION_CREDENTIALS", true)]
    #[case("NPM_AUTH", true)]
    #[case("PGPASSWORD", true)]
    #[case("MYSQL_PWD", true)]
    #[case("WORKFLOW_SERVER_ADMIN_KEY", true)]
    #[case("my-secret", true)]
    #[case("PWD", false)]
    #[case("OLDPWD", false)]
    #[case("SSH_AUTH_SOCK", false)]
    #[case("XAUTHORITY", false)]
    #[case("GIT_AUTHOR_NAME", false)]
    #[case("KEYBOARD", false)]
    #[case("PATH", false)]
    #[case("HOME", false)]
    #[case("LANG", false)]
    #[case("COMPASS", false)]
    #[case("", false)]
    fn secret_looking_names(#[case] name: &str, #[case] wanted: bool) {
        assert_eq!(is_secret_looking(name), wanted, "{name}");
    }

    #[test]
    fn a_command_gets_no_secret_it_was_not_given() {
        let process: HashMap<OsString, OsString> = [
            ("PATH", "/bin"),
            ("GITHUB_TOKEN", "inherited"),
            ("BOTH", "process"),
            ("DECLARED_KEY", "process"),
            ("WORKFLOW_SERVER_ADMIN_KEY", "k"),
            ("WORKFLOW_RUN_ID", "outer"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let file = EnvFile::parse(b"BOTH=file\nONLY=file\nDECLARED_KEY=file\nWORKFLOW_SERVER_URL=http://evil\n");
        let connection = [("WORKFLOW_SERVER_URL".to_owned(), "http://ours".to_owned())];
        let environment = command_environment(&process, &file, &connection);
        let shown: Vec<String> = environment
            .iter()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
            .collect();
        assert_eq!(
            shown,
            ["BOTH=process", "DECLARED_KEY=process", "ONLY=file", "PATH=/bin", "WORKFLOW_SERVER_URL=http://ours"]
        );
        assert_eq!(file.resolve(&process)[0], ("BOTH".into(), "process".into()));
    }

    proptest! {
        #[test]
        fn no_file_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = EnvFile::parse(&bytes);
        }

        #[test]
        fn double_quotes_carry_every_text(value in "[^\0\r]{0,40}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(pairs(&format!("A=\"{quoted}\"\nB=1\n")), [("A".to_owned(), value), ("B".into(), "1".into())]);
        }
    }
}
