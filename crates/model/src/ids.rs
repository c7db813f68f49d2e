//! Names of things as types, so that one cannot be taken for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{IdSource, TimestampMs};

/// A text that is no id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no {kind}: {rule}")]
pub struct IdError {
    /// What was wanted, in words.
    pub kind: &'static str,
    /// What came, at most 80 characters of it.
    pub text: String,
    /// What such an id looks like.
    pub rule: &'static str,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns the id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { kind: $kind, text: text.chars().take(80).collect(), rule: $rule })
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A run: `YYYYMMDD-` (UTC) and four or more lower-case letters or digits, unique in its database.
    RunId,
    "run id",
    "a date, a hyphen and at least four lower-case letters or digits, as in `20260828-abcd`",
    |text| {
        let Some((date, suffix)) = text.split_once('-') else { return false };
        date.len() == 8
            && date.bytes().all(|byte| byte.is_ascii_digit())
            && (4..=32).contains(&suffix.len())
            && suffix.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    }
);

id!(
    /// A registered project: what `--workflow-mcp` takes. Short, unique in its registry.
    ProjectId,
    "project id",
    "1 to 64 of `A-Z a-z 0-9 _ -`",
    |text| plain(text, 64)
);

id!(
    /// An entrypoint, which is also the name of its MCP tool.
    EntrypointId,
    "entrypoint id",
    "1 to 64 of `A-Z a-z 0-9 _ -`",
    |text| plain(text, 64)
);

fn plain(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";

fn letters(count: usize, ids: &dyn IdSource) -> String {
    let mut bytes = vec![0; count];
    ids.fill(&mut bytes);
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

impl RunId {
    /// Makes a run id for a run that starts at `now`. `length` is the suffix's, 4 at first; whoever inserts the run
    /// asks for a longer one rather than collide.
    #[must_use]
    pub fn generate(now: TimestampMs, length: usize, ids: &dyn IdSource) -> Self {
        let date = jiff::Timestamp::from_millisecond(now)
            .map_or_else(|_| String::from("19700101"), |at| at.strftime("%Y%m%d").to_string());
        Self(format!("{date}-{}", letters(length.clamp(4, 32), ids)))
    }
}

impl ProjectId {
    /// Makes a project id of eight letters and digits.
    #[must_use]
    pub fn generate(ids: &dyn IdSource) -> Self {
        Self(letters(8, ids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededIds;

    #[test]
    fn a_generated_run_id_is_a_run_id() {
        let id = RunId::generate(1_787_900_000_000, 4, &SeededIds::new(1));
        assert_eq!(id.as_str().parse::<RunId>().as_ref(), Ok(&id));
        assert!(id.as_str().starts_with("20260828-"), "{id}");
        assert_eq!(id.as_str().len(), 13);
    }

    #[test]
    fn odd_run_ids_are_refused() {
        for text in
            ["", "20260828", "20260828-abc", "20260828-ABCD", "2026082x-abcd", "../../etc-abcd", "20260828-abcd/.."]
        {
            assert!(text.parse::<RunId>().is_err(), "{text}");
        }
    }

    #[test]
    fn entrypoint_ids_hold_to_their_letters() {
        assert!("a_b-C9".parse::<EntrypointId>().is_ok());
        for text in [String::new(), "a b".into(), "a.b".into(), "é".into(), "x".repeat(65)] {
            assert!(text.parse::<EntrypointId>().is_err(), "{text}");
        }
    }
}
