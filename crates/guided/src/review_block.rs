//! The review that a job asks for on an output or an argument, and who is to do it.

use indexmap::IndexMap;

use crate::check::{Check, Need, Place};

/// How matched files are handed to reviewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// One reviewer to each file.
    Individual,
    /// One reviewer to all matched files.
    MatchesTogether,
    /// One reviewer to all changed files, once any matches. Only in review rules.
    AllChangedFiles,
}

/// What else a reviewer is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    /// The names of all changed files.
    pub all_changed_filenames: bool,
    /// Files that match and did not change.
    pub unchanged_matching_files: bool,
}

/// The agents that may do a review, by platform; `type` stands for every platform.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents(pub IndexMap<String, String>);

impl Agents {
    /// The reviewer when nothing is said.
    pub const DEFAULT: &'static str = "deepwork:reviewer";

    /// Picks the agent for a platform.
    #[must_use]
    pub fn choose(&self, platform: &str) -> &str {
        self.0.get(platform).or_else(|| self.0.get("type")).map_or(Self::DEFAULT, String::as_str)
    }
}

/// A review in a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewBlock {
    /// How files are handed out.
    pub strategy: Strategy,
    /// What to look for.
    pub instructions: String,
    /// Who does it.
    pub agents: Agents,
    /// What else is told.
    pub context: Context,
}

/// Reads a review in a job file.
pub(crate) fn read_block(check: &mut Check, at: &Place<'_>) -> Option<ReviewBlock> {
    let fields = check.fields(
        at,
        &[
            ("strategy", Need::Required),
            ("instructions", Need::Required),
            ("agent", Need::Optional),
            ("additional_context", Need::Optional),
        ],
        &[],
    )?;
    let strategy = fields.get("strategy").and_then(|at| match check.text(&at)?.as_str() {
        "individual" => Some(Strategy::Individual),
        "matches_together" => Some(Strategy::MatchesTogether),
        other => {
            check.fault(&at, format!("`{other}` is no strategy here: use `individual` or `matches_together`"));
            None
        }
    });
    let instructions = fields.get("instructions").and_then(|at| check.full_text(&at));
    let agents = fields.get("agent").map(|at| read_agents(check, &at)).unwrap_or_default();
    let context = fields.get("additional_context").map(|at| read_context(check, &at)).unwrap_or_default();
    Some(ReviewBlock { strategy: strategy?, instructions: instructions?, agents, context })
}

/// Reads who does a review. Keys that can be no platform are not looked at.
pub(crate) fn read_agents(check: &mut Check, at: &Place<'_>) -> Agents {
    let mut agents = IndexMap::new();
    for (key, place) in check.entries(at, |_| true, "a string") {
        if !crate::check::is_word(&key.text) {
            continue;
        }
        if let Some(agent) = check.text(&place) {
            agents.insert(key.text.clone(), agent);
        }
    }
    Agents(agents)
}

/// Reads what else a reviewer is told.
pub(crate) fn read_context(check: &mut Check, at: &Place<'_>) -> Context {
    let keys = [("all_changed_filenames", Need::Optional), ("unchanged_matching_files", Need::Optional)];
    let Some(fields) = check.fields(at, &keys, &[]) else { return Context::default() };
    let mut flag = |key: &str| fields.get(key).is_some_and(|at| check.truth(&at).unwrap_or(false));
    Context {
        all_changed_filenames: flag("all_changed_filenames"),
        unchanged_matching_files: flag("unchanged_matching_files"),
    }
}
