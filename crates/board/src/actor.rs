//! Who does something: one order of names for every surface.

/// What the surroundings say about who is at work. Read once, at the edge.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `WORKFILE_ACTOR`.
    pub configured: Option<String>,
    /// The user's name.
    pub user: Option<String>,
    /// The machine's name.
    pub host: Option<String>,
    /// The session's id, when a client gives one.
    pub session: Option<String>,
    /// The name a protocol client gives itself.
    pub client: Option<String>,
}

/// An actor, and where the name is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The name as records have it.
    pub name: String,
    /// `argument`, `WORKFILE_ACTOR`, `mcp client` or `user@host`.
    pub source: &'static str,
}

/// The form in which a session's id is part of a name: its first eight letters or digits, in lower case.
#[must_use]
pub fn short_session(session: &str) -> String {
    session.chars().filter(char::is_ascii_alphanumeric).take(8).map(|one| one.to_ascii_lowercase()).collect()
}

/// The session that is part of an actor's name.
pub(crate) fn session_of(actor: &str) -> Option<&str> {
    actor.rsplit_once('#').map(|(_, session)| session).filter(|session| !session.is_empty())
}

impl Surroundings {
    /// Says who acts: what was given, else what is configured, else the client or the user, with the session.
    #[must_use]
    pub fn actor(&self, given: Option<&str>) -> Actor {
        // A name stands in one line of a record.
        let clean = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(name) = given.map(clean).filter(|name| !name.is_empty()) {
            return Actor { name, source: "argument" };
        }
        if let Some(name) = self.configured.as_deref().map(clean).filter(|name| !name.is_empty()) {
            return Actor { name, source: "WORKFILE_ACTOR" };
        }
        let (name, source) = match &self.client {
            Some(client) => (format!("mcp:{}", clean(client)), "mcp client"),
            None => {
                let user = self.user.as_deref().unwrap_or("unknown");
                (format!("{}@{}", clean(user), clean(self.host.as_deref().unwrap_or("local"))), "user@host")
            }
        };
        let session = self.session.as_deref().map(short_session).filter(|session| !session.is_empty());
        Actor { name: session.map_or(name.clone(), |session| format!("{name}#{session}")), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_order_for_every_surface() {
        let mut around = Surroundings { user: Some("ada".into()), ..Surroundings::default() };
        assert_eq!(around.actor(None).name, "ada@local");
        around.host = Some("bench".into());
        around.session = Some("AB-cd-1234-5678".into());
        assert_eq!(around.actor(Some("  ")).name, "ada@bench#abcd1234");
        around.client = Some("golden".into());
        assert_eq!(around.actor(None).name, "mcp:golden#abcd1234");
        around.configured = Some("night-shift".into());
        assert_eq!(around.actor(None), Actor { name: "night-shift".into(), source: "WORKFILE_ACTOR" });
        assert_eq!(around.actor(Some("a\nb")).name, "a b");
        assert_eq!(session_of("a@b#c"), Some("c"));
        assert_eq!(session_of("a@b"), None);
    }
}
