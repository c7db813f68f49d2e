//! Names from outside that become parts of paths.

/// A name's length in a path: file systems end at 255 bytes, and we put words around it.
const MOST_BYTES: usize = 200;

/// A text that may not become part of a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no usable {kind}: it may not be empty, begin with a dot, contain `/`, `\\`, `..` or control characters, \
     or have over {MOST_BYTES} bytes"
)]
pub struct UnsafeName {
    /// What it was to be.
    pub kind: &'static str,
    /// At most 80 characters of it.
    pub text: String,
}

/// Checks a name that becomes part of a path.
///
/// # Errors
///
/// Names the text.
pub fn check<'a>(kind: &'static str, text: &'a str) -> Result<&'a str, UnsafeName> {
    let usable = !text.is_empty()
        && !text.starts_with('.')
        && !text.contains("..")
        && !text.chars().any(|one| matches!(one, '/' | '\\') || one.is_control())
        && text.len() <= MOST_BYTES;
    if usable {
        Ok(text)
    } else {
        Err(UnsafeName { kind, text: text.chars().take(80).collect::<String>().escape_debug().to_string() })
    }
}

/// Turns a name into words with capitals: `write_draft` is `Write Draft`.
#[must_use]
pub fn display(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    let mut begins = true;
    for one in name.chars() {
        let one = if matches!(one, '_' | '-') { ' ' } else { one };
        if begins {
            shown.extend(one.to_uppercase());
        } else {
            shown.extend(one.to_lowercase());
        }
        begins = !one.is_alphabetic();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_their_folder_are_refused() {
        for text in ["", ".", "..", "a/b", "a\\b", "a..b", ".hidden", "a\0b", "a\nb", &"x".repeat(201), "/etc"] {
            assert!(check("session id", text).is_err(), "{text:?}");
        }
        for text in ["s1", "0b3c-9", "with blank", "ünï", "a.b"] {
            assert_eq!(check("session id", text), Ok(text));
        }
    }

    #[test]
    fn display_names_are_titles() {
        assert_eq!(display("write_the-draft"), "Write The Draft");
        assert_eq!(display("step2b"), "Step2B");
    }
}
