//! The words of the protocol that no project changes.

/// Statuses of a card.
pub const STATUSES: [&str; 8] = ["backlog", "next", "doing", "review", "blocked", "deferred", "done", "discarded"];
/// Statuses in which a card is finished.
pub const CLOSED: [&str; 2] = ["done", "discarded"];
/// Types of a card.
pub const TYPES: [&str; 8] = ["epic", "idea", "feature", "bug", "task", "audit", "docs", "chore"];
/// Priorities, most pressing first.
pub const PRIORITIES: [&str; 4] = ["critical", "high", "medium", "low"];
/// Efforts.
pub const EFFORTS: [&str; 3] = ["S", "M", "L"];
/// How a card came up.
pub const RAISED: [&str; 2] = ["reported", "derived"];

/// Keys of a card's header that no axis may take.
pub(crate) const CARD_RESERVED_KEYS: [&str; 29] = [
    "archived",
    "area",
    "body",
    "claimed_at",
    "claimed_by",
    "created",
    "depends",
    "due",
    "effort",
    "file",
    "id",
    "milestone",
    "origin",
    "parent",
    "priority",
    "raised",
    "related",
    "revision",
    "scope",
    "source",
    "start",
    "status",
    "tags",
    "title",
    "type",
    "updated",
    "verified",
    "verify",
    "axes",
];

/// A collection of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Collection {
    /// What was learned.
    Learnings,
    /// What was decided.
    Decisions,
    /// What went wrong.
    Incidents,
    /// What everybody keeps to.
    Conventions,
    /// What holds for a while.
    Context,
}

impl Collection {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [Self::Learnings, Self::Decisions, Self::Incidents, Self::Conventions, Self::Context];

    /// Finds one by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Finds one by its name or its singular.
    #[must_use]
    pub fn named_loosely(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name || one.singular() == name)
    }

    /// Its name, which is its folder's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Learnings => "learnings",
            Self::Decisions => "decisions",
            Self::Incidents => "incidents",
            Self::Conventions => "conventions",
            Self::Context => "context",
        }
    }

    /// One of it.
    #[must_use]
    pub fn singular(self) -> &'static str {
        match self {
            Self::Learnings => "learning",
            Self::Decisions => "decision",
            Self::Incidents => "incident",
            Self::Conventions => "convention",
            Self::Context => "context",
        }
    }

    /// What its ids begin with.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Learnings => "LRN",
            Self::Decisions => "ADR",
            Self::Incidents => "INC",
            Self::Conventions => "CONV",
            Self::Context => "CTX",
        }
    }

    /// Its statuses; the first is the default.
    #[must_use]
    pub fn statuses(self) -> &'static [&'static str] {
        match self {
            Self::Learnings => &["active", "graduated", "superseded", "discarded"],
            Self::Decisions => &["proposed", "accepted", "rejected", "superseded"],
            Self::Incidents => &["open", "mitigated", "resolved", "closed"],
            Self::Conventions => &["draft", "active", "deprecated", "superseded"],
            Self::Context => &["active", "expired", "resolved"],
        }
    }
}
