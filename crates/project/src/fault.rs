//! What is wrong with an input or a declaration: every fault at once, each with its name, what came, what is allowed.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

/// The most faults that one message spells out; a hostile input may have a hundred thousand.
const MOST_SHOWN: usize = 50;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The parameter or field, with the place inside it: `tags[2]`. Empty: the input as a whole.
    pub name: String,
    /// What is wrong, as the rest of a sentence that begins with the name.
    pub message: String,
    /// What came, in short. Never the value of a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub came: Option<String>,
    /// What is allowed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}

impl Fault {
    /// Makes a fault of a whole sentence's rest, with nothing that came or is allowed.
    #[must_use]
    pub fn new(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), message: message.into(), came: None, allowed: None }
    }

    /// Makes the usual fault: `name` must be `allowed`, and `came` came.
    #[must_use]
    pub fn must_be(name: impl Into<String>, allowed: impl Into<String>, came: impl Into<String>) -> Self {
        let (allowed, came) = (allowed.into(), came.into());
        Self {
            name: name.into(),
            message: format!("must be {allowed}, not {came}"),
            came: Some(came),
            allowed: Some(allowed),
        }
    }

    pub(crate) fn shown_name(&self) -> String {
        let safe = crate::words::clean(&self.name);
        match safe.char_indices().nth(80) {
            Some((end, _)) => format!("{}…", &safe[..end]),
            None => safe,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            formatter.write_str(&self.message)
        } else {
            write!(formatter, "`{}` {}", self.shown_name(), self.message)
        }
    }
}

/// All faults of one input or declaration; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults {
    /// The faults, in the order of the declaration, unknown names last.
    pub faults: Vec<Fault>,
}

impl Faults {
    /// Gives `value` when there are no faults, and the faults otherwise.
    pub(crate) fn unless_any<T>(faults: Vec<Fault>, value: T) -> Result<T, Self> {
        if faults.is_empty() { Ok(value) } else { Err(Self { faults }) }
    }

    /// Writes the faults as data for an error object: `[{name, message, came?, allowed?}]`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let shown: Vec<Value> = self
            .faults
            .iter()
            .take(MOST_SHOWN)
            .map(|fault| {
                let mut shown = json!({"name": fault.shown_name(), "message": fault.message});
                if let Some(object) = shown.as_object_mut() {
                    object.extend(fault.came.clone().map(|came| ("came".into(), came.into())));
                    object.extend(fault.allowed.clone().map(|allowed| ("allowed".into(), allowed.into())));
                }
                shown
            })
            .collect();
        shown.into()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().take(MOST_SHOWN).enumerate() {
            if index > 0 {
                formatter.write_str("; ")?;
            }
            fault.fmt(formatter)?;
        }
        if self.faults.len() > MOST_SHOWN {
            write!(formatter, "; and {} more", self.faults.len() - MOST_SHOWN)?;
        }
        Ok(())
    }
}
