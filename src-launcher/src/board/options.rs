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
                (false, None) => rest.next().cloned().ok_or_else(|| {
                    BoardError::new("CLI_ARGUMENT_REQUIRED", format!("`--{name}` needs a value"))
                        .with(json!({ "option": format!("--{name}") }))
                })?,
            };
            options.values.entry(name.to_owned()).or_default().push(value);
        }
        Ok(options)
    }

    /// Refuses options that a command does not know, or that are given twice.
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
    pub(crate) fn no_more(&self, count: usize) -> Result<()> {
        match self.words.get(count) {
            Some(word) => Err(BoardError::new("CLI_ARGUMENT_UNKNOWN", format!("`{word}` is one word too many"))),
            None => Ok(()),
        }
    }
}

pub(crate) fn needed(what: &str) -> BoardError {
    BoardError::new("CLI_ARGUMENT_REQUIRED", format!("{what} is needed")).with(json!({ "argument": what }))
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
        assert_eq!(
            parse("--limit abc").expect("parsed").number("limit", 1).expect_err("no number").code,
            "CLI_OPTION_INVALID"
        );
    }
}
