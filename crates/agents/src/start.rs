//! What is checked before a run of agents begins.

use serde_json::Value;

/// Why a run does not begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// An argument is none.
    #[error("{0}")]
    InvalidArgument(String),
    /// There is no such provider.
    #[error("{0}")]
    AgentStart(String),
}

impl StartError {
    /// Its stable word.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument(_) => "INVALID_ARGUMENT",
            Self::AgentStart(_) => "AGENT_START",
        }
    }
}

/// Checks a provider's name against those there are.
///
/// # Errors
///
/// When it is empty, has blanks around it, or names nothing.
pub fn check_provider(name: &str, known: &[&str]) -> Result<(), StartError> {
    if name.is_empty() || name.trim() != name {
        return Err(StartError::InvalidArgument(format!(
            "the provider name {} is not normalized: it must not be empty or have blanks around it",
            Value::from(name)
        )));
    }
    if !known.contains(&name) {
        let all = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(StartError::AgentStart(format!(
            "there is no agent provider {}; there is {all}",
            Value::from(name)
        )));
    }
    Ok(())
}

/// Checks the cap on agents that a request asks for against the one that is set.
///
/// # Errors
///
/// When it is no positive whole number, or above what is set.
pub fn check_cap(wanted: &Value, cap: u64) -> Result<u64, StartError> {
    let number = wanted.as_u64().filter(|number| (1..=9_007_199_254_740_991).contains(number)).ok_or_else(|| {
        StartError::InvalidArgument(format!("maxTotalAgents must be a positive safe integer, and is {wanted}"))
    })?;
    if number > cap {
        return Err(StartError::InvalidArgument(format!(
            "maxTotalAgents is {number}, and at most {cap} agents are allowed here"
        )));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_caps_are_checked() {
        assert_eq!(check_provider("a", &["a"]), Ok(()));
        assert_eq!(check_provider(" a", &["a"]).expect_err("untrimmed").code(), "INVALID_ARGUMENT");
        assert_eq!(check_provider("b", &["a"]).expect_err("unknown").code(), "AGENT_START");
        assert_eq!(check_cap(&json!(3), 3), Ok(3));
        for wrong in [json!(0), json!(1.5), json!(-1), json!("1"), json!(4), json!(null)] {
            assert!(check_cap(&wrong, 3).is_err(), "{wrong}");
        }
    }
}
