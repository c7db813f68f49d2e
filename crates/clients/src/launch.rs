//! What a client has to start.

use crate::{Error, Result};

/// A server as a client's configuration describes it: a key, a program and its arguments.
///
/// Made by [`Launch::new`] only, so that every launch can be written in every shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    key: String,
    command: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

/// Parts of a variable's name that mean a secret. A configuration file is copied, committed and shown; the launcher
/// finds its keys itself.
const SECRET_WORDS: [&str; 8] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE"];

impl Launch {
    /// Checks and makes a launch.
    ///
    /// # Errors
    /// [`Error::Key`] and [`Error::Text`]: a key that is no server key, an empty command, a control character anywhere.
    pub fn new(
        key: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self> {
        let key = key.into();
        check_key(&key)?;
        let command = command.into();
        if command.is_empty() || has_control(&command) {
            return Err(Error::Text { what: String::from("the command") });
        }
        let args: Vec<String> = args.into_iter().map(Into::into).collect();
        if let Some(index) = args.iter().position(|arg| has_control(arg)) {
            return Err(Error::Text { what: format!("argument {}", index + 1) });
        }
        Ok(Self { key, command, args, env: Vec::new() })
    }

    /// Adds an environment variable. The product's own launches need none.
    ///
    /// # Errors
    /// [`Error::SecretName`] for a name that looks like a secret, [`Error::Text`] for one that is no variable's name
    /// and for a value with control characters.
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Result<Self> {
        let (name, value) = (name.into(), value.into());
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if name.is_empty() || !plain || has_control(&value) {
            return Err(Error::Text { what: format!("the variable `{}`", shorten(&name)) });
        }
        let upper = name.to_ascii_uppercase();
        if SECRET_WORDS.iter().any(|word| upper.contains(word)) {
            return Err(Error::SecretName { name });
        }
        self.env.retain(|(known, _)| *known != name);
        self.env.push((name, value));
        Ok(self)
    }

    /// Returns the same launch under another key.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn with_key(mut self, key: impl Into<String>) -> Result<Self> {
        let key = key.into();
        check_key(&key)?;
        self.key = key;
        Ok(self)
    }

    /// Returns the server's key in the client's file.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the program.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns the arguments.
    #[must_use]
    pub fn args(&self) -> &[String] {
        &self.args
    }

    /// Returns the environment variables in the order they were added.
    #[must_use]
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }
}

/// Returns the key that a project has unless a person chooses another: `workflow-<uuid>`.
#[must_use]
pub fn default_key(uuid: &str) -> String {
    format!("workflow-{uuid}")
}

/// Refuses keys that some client, its command line (`-x` is an option) or its tool names could not take.
pub(crate) fn check_key(key: &str) -> Result<()> {
    let first = key.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if first && rest && key.len() <= 64 { Ok(()) } else { Err(Error::Key { key: shorten(key) }) }
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_ARGS: [&str; 0] = [];

    #[test]
    fn keys_that_would_be_options_paths_or_too_long_are_refused() {
        for key in ["", "-x", "--scope", "a b", "a.b", "../x", "ä", "a\n", &"x".repeat(65)] {
            assert!(matches!(Launch::new(key, "/bin/x", NO_ARGS), Err(Error::Key { .. })), "{key}");
        }
        assert!(Launch::new(default_key("11111111-1111-4111-8111-111111111111"), "/bin/x", NO_ARGS).is_ok());
    }

    #[test]
    fn control_characters_never_reach_a_file() {
        assert!(Launch::new("k", "", NO_ARGS).is_err());
        assert!(Launch::new("k", "/bin/x\0", NO_ARGS).is_err());
        assert!(Launch::new("k", "/bin/x", ["ok", "a\u{1b}]0;title\u{7}"]).is_err());
        assert!(Launch::new("k", "/bin/Zoë's \"x\" \\ 数据", ["--workflow-mcp", "a b"]).is_ok());
    }

    #[test]
    fn no_secret_enters_a_configuration() {
        let launch = Launch::new("k", "/bin/x", NO_ARGS).unwrap();
        for name in ["WORKFLOW_SERVER_ADMIN_KEY", "github_token", "MyPassword", "AWS_SECRET"] {
            assert!(matches!(launch.clone().with_env(name, "v"), Err(Error::SecretName { .. })), "{name}");
        }
        for name in ["", "A B", "A=B"] {
            assert!(matches!(launch.clone().with_env(name, "v"), Err(Error::Text { .. })), "{name}");
        }
        let launch = launch.with_env("LANG", "C").unwrap().with_env("LANG", "de").unwrap();
        assert_eq!(launch.env(), [(String::from("LANG"), String::from("de"))]);
    }
}
