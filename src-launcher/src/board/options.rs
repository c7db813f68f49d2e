//! The command line's options: every command knows its own, and a wrong one is refused rather than passed over.

use std::collections::BTreeMap;

use ::board::BoardError;
use serde_json::json;

type Result<T> = std::result::Result<T, BoardError>;

/// Options that stand anywhere.
const GLOBAL: [&str; 6] = ["root", "json", "dry-run", "allow-new", "verbose", "help"];
/// Options without a value.
const FLAGS: [&str; 24] = [
    "json",
    "dry-run",
    "allow-new",
    "verbose",
    "help",
    "yes",
    "no-scripts",
    "force",
    "rebuild-cache",
    "fix",
    "new",
    "accept-baseline",
    "unclaimed",
    "with-body",
    "close",
    "changed",
    "duplicates",
    "managed",
    "unreleased",
    "amend",
    "write",
    "read-only",
    "plugin",
    "indexed",
];
/// Options that may be given again.
const REPEATED: [&str; 4] = ["check", "uncheck", "axis", "allowed-host"];

/// How many words a command takes after its own; every other takes none.
const WORDS: [(&str, usize); 27] = [
    ("card show", 1),
    ("card patch", 1),
    ("card claim", 1),
    ("card release", 1),
    ("card transition", 2),
    ("card archive", 1),
    ("card reopen", 1),
    ("card note", 1),
    ("card write", 1),
    ("card ac", 1),
    ("card verify", 1),
    ("card renumber", 1),
    ("doc show", 1),
    ("doc patch", 1),
    ("doc move", 1),
    ("doc write", 1),
    ("doc note", 1),
    ("changelog show", 1),
    ("changelog patch", 1),
    ("changelog release", 1),
    ("memory show", 1),
    ("memory add", 1),
    ("memory patch", 1),
    ("memory graduate", 1),
    ("memory supersede", 1),
    ("claude plugin", 1),
    // A query is as many words as one likes.
    ("search", usize::MAX),
];

/// Words and options of one call.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// What is no option, in order.
    pub(crate) words: Vec<String>,
    values: BTreeMap<String, Vec<String>>,
}

impl Options {
    /// Takes arguments apart. Which options a command knows is checked by [`Self::allow`].
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        let mut only_words = false;
        while let Some(argument) = rest.next() {
            let Some(name) = argument.strip_prefix("--").filter(|_| !only_words) else {
                if argument == "-h" && !only_words {
                    options.values.entry("help".into()).or_default().push(String::new());
                } else {
                    options.words.push(argument.clone());
                }
                continue;
            };
            if name.is_empty() {
                only_words = true;
                continue;
            }
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            let value = match (FLAGS.contains(&name), value) {
                (true, None) => String::new(),
                (true, Some(_)) => return Err(invalid(name, "takes no value", "")),
                (false, Some(value)) => value,
                // What looks like the next option is no value: whoever means it as one says so.
                (false, None) => rest.next().filter(|value| !value.starts_with("--")).cloned().ok_or_else(|| {
                    let message =
                        format!("`--{name}` needs a value; one that begins with `--` is written `--{name}=…`");
                    BoardError::new("CLI_ARGUMENT_REQUIRED", message).with(json!({ "option": format!("--{name}") }))
                })?,
            };
            options.values.entry(name.to_owned()).or_default().push(value);
        }
        Ok(options)
    }

    /// Refuses options that a command does not know, or that are given twice, and words past the ones it takes.
    pub(crate) fn allow(&self, command: &str, known: &[&str], dry: bool) -> Result<()> {
        for (name, values) in &self.values {
            if !GLOBAL.contains(&name.as_str()) && !known.contains(&name.as_str()) {
                return Err(BoardError::new("CLI_ARGUMENT_UNKNOWN", format!("`{command}` has no option `--{name}`"))
                    .with(json!({ "option": format!("--{name}") })));
            }
            if values.len() > 1 && !REPEATED.contains(&name.as_str()) {
                return Err(BoardError::new("CLI_ARGUMENT_CONFLICT", format!("`--{name}` is given twice"))
                    .with(json!({ "option": format!("--{name}") })));
            }
        }
        let words = WORDS.iter().find(|(known, _)| *known == command).map_or(0, |(_, words)| *words);
        self.no_more(command.split(' ').count().saturating_add(words))?;
        if self.flag("dry-run") && !dry {
            return Err(BoardError::new("CLI_FLAG_UNSUPPORTED", format!("`{command}` cannot be tried without effect")));
        }
        Ok(())
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(|values| values.last()).map(String::as_str)
    }

    pub(crate) fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// A list, written with commas.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<String>> {
        self.get(name)
            .map(|text| text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
    }

    /// A list of words that must be among these: what no record can have would find nothing, and look like an answer.
    pub(crate) fn choices<S: AsRef<str>>(&self, name: &str, allowed: &[S]) -> Result<Vec<String>> {
        let list = self.list(name).unwrap_or_default();
        match list.iter().find(|item| !allowed.iter().any(|one| one.as_ref() == item.as_str())) {
            None => Ok(list),
            Some(other) => Err(no_choice(name, other, allowed)),
        }
    }

    /// A whole number in a range.
    pub(crate) fn number_to(&self, name: &str, least: usize, most: usize) -> Result<Option<usize>> {
        match self.number(name, least)? {
            Some(number) if number > most => {
                Err(invalid(name, &format!("must be a whole number from {least} to {most}"), &number.to_string()))
            }
            number => Ok(number),
        }
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str, least: usize) -> Result<Option<usize>> {
        let Some(text) = self.get(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) if number >= least => Ok(Some(number)),
            _ => Err(invalid(name, "must be a whole number", text)),
        }
    }

    /// The word at `at`, which must be there.
    pub(crate) fn word(&self, at: usize, what: &str) -> Result<&str> {
        self.words.get(at).map(String::as_str).filter(|word| !word.trim().is_empty()).ok_or_else(|| needed(what))
    }

    /// An option that must be there.
    pub(crate) fn needed(&self, name: &str) -> Result<&str> {
        self.get(name).filter(|text| !text.trim().is_empty()).ok_or_else(|| needed(&format!("--{name}")))
    }

    /// Refuses words past the ones a command takes.
    fn no_more(&self, count: usize) -> Result<()> {
        match self.words.get(count) {
            Some(word) => Err(BoardError::new("CLI_ARGUMENT_UNKNOWN", format!("`{word}` is one word too many"))
                .with(json!({ "argument": word }))),
            None => Ok(()),
        }
    }
}

pub(crate) fn needed(what: &str) -> BoardError {
    BoardError::new("CLI_ARGUMENT_REQUIRED", format!("{what} is needed")).with(json!({ "argument": what }))
}

/// A value that is none of those there are.
pub(crate) fn no_choice<S: AsRef<str>>(name: &str, value: &str, allowed: &[S]) -> BoardError {
    let allowed: Vec<&str> = allowed.iter().map(AsRef::as_ref).collect();
    let mut error = invalid(name, &format!("must be one of {}", allowed.join(", ")), value);
    error.details = Some(json!({ "option": format!("--{name}"), "value": value, "allowed": allowed }));
    error
}

pub(crate) fn invalid(name: &str, what: &str, value: &str) -> BoardError {
    BoardError::new("CLI_OPTION_INVALID", format!("`--{name}` {what}, and not `{value}`"))
        .with(json!({ "option": format!("--{name}"), "value": value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options> {
        Options::parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_checked_by_command() {
        let options = parse("T-0001 --status=a --json -- --word").expect("parsed");
        assert_eq!((options.words.len(), options.get("status"), options.flag("json")), (2, Some("a"), true));
        assert_eq!(options.allow("card show", &[], false).expect_err("unknown").code, "CLI_ARGUMENT_UNKNOWN");
        assert_eq!(
            parse("--status a --status b").expect("parsed").allow("x", &["status"], false).expect_err("twice").code,
            "CLI_ARGUMENT_CONFLICT"
        );
        assert!(parse("--check 1 --check 2").expect("parsed").allow("x", &["check"], false).is_ok());
        assert_eq!(
            parse("--dry-run").expect("parsed").allow("x", &[], false).expect_err("no").code,
            "CLI_FLAG_UNSUPPORTED"
        );
        assert_eq!(parse("--status").expect_err("no value").code, "CLI_ARGUMENT_REQUIRED");
        assert_eq!(parse("--title --area api").expect_err("no value").code, "CLI_ARGUMENT_REQUIRED");
        assert_eq!(parse("--title=--area").expect("a value").get("title"), Some("--area"));
        assert_eq!(parse("--title -1").expect("a value").get("title"), Some("-1"));
        for (words, command, taken) in [
            ("card show T-1", "card show", true),
            ("card show T-1 T-2", "card show", false),
            ("card transition T-1 next", "card transition", true),
            ("card transition T-1 next done", "card transition", false),
            ("card list backlog", "card list", false),
            ("search two words and more", "search", true),
            ("next T-1", "next", false),
            ("claude", "claude check", true),
        ] {
            assert_eq!(parse(words).expect("parsed").allow(command, &[], false).is_ok(), taken, "{words}");
        }
        let limit = |text: &str| parse(text).expect("parsed").number_to("limit", 1, 20).map_err(|error| error.code);
        assert_eq!((limit("--limit 20"), limit("--limit 21")), (Ok(Some(20)), Err("CLI_OPTION_INVALID")));
        let area = |text: &str| parse(text).expect("parsed").choices("area", &["api"]).map_err(|error| error.code);
        assert_eq!((area("--area api"), area("--area api,moon")), (Ok(vec!["api".into()]), Err("CLI_OPTION_INVALID")));
        assert_eq!(
            parse("--limit abc").expect("parsed").number("limit", 1).expect_err("no number").code,
            "CLI_OPTION_INVALID"
        );
    }
}
