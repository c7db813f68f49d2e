//! A text that nothing can show by accident.

use std::fmt;

use zeroize::Zeroizing;

/// A secret text. `Debug` and `Display` show `•••`; it cannot be serialised; its memory is wiped when it is dropped.
///
/// Copies that other libraries make on the way (a header, a message on the bus) are beyond its reach.
///
/// ```
/// let secret = workflow_secrets::Secret::from("hunter2");
/// assert_eq!(format!("{secret} {secret:?}"), "••• •••");
/// assert_eq!(secret.expose(), "hunter2");
/// ```
///
/// It does not serialise, so that no report, log or answer can hold one:
///
/// ```compile_fail
/// let secret = workflow_secrets::Secret::from("hunter2");
/// let _ = serde_json::to_string(&secret);
/// ```
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Returns the text itself. Every call is a place to look at in a review.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("•••")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("•••")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_format_shows_it() {
        #[derive(Debug)]
        struct Around {
            _key: Option<Secret>,
        }
        let secret = Secret::from(String::from("hunter2"));
        let shown = format!("{secret} {secret:?} {secret:#?} {secret:>20} {:?}", Around { _key: Some(secret.clone()) });
        assert!(!shown.contains("hunter2") && !shown.contains('7'), "{shown}");
        assert_eq!(secret.expose(), "hunter2");
    }
}
