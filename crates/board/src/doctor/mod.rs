//! Looking for what is wrong, without changing anything.

mod cards;
mod knowledge;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::board::Board;
use crate::error::Result;
use crate::index::Index;
use crate::record::{Kind, Record};
use crate::{activity, generated, locks, paths, repair};

/// What is looked at beside the records' own text.
#[derive(Debug, Clone, Copy)]
pub struct Checks {
    /// Whether paths that records name exist.
    pub paths: bool,
    /// Whether recorded commits are still in the history.
    pub git: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Self { paths: true, git: true }
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    Error,
    Warning,
    Info,
}

impl Severity {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One finding.
#[derive(Debug, Clone)]
pub(crate) struct Issue {
    pub(crate) severity: Severity,
    pub(crate) module: &'static str,
    pub(crate) code: &'static str,
    pub(crate) id: Option<String>,
    pub(crate) file: Option<String>,
    /// Of a card's finding.
    pub(crate) archived: Option<bool>,
    pub(crate) message: String,
    pub(crate) details: Option<Value>,
}

impl Issue {
    pub(crate) fn new(
        severity: Severity,
        module: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self { severity, module, code, id: None, file: None, archived: None, message: message.into(), details: None }
    }

    /// About a record; of a card by its file's name, of others by its path.
    pub(crate) fn about(mut self, record: &Record) -> Self {
        self.id = Some(record.id.clone());
        if record.kind == Kind::Card {
            self.file = Some(record.file().to_owned());
            self.archived = Some(record.archived);
        } else {
            self.file = Some(record.path.clone());
        }
        self
    }

    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// About a file.
    pub(crate) fn at(mut self, path: &str) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("severity".into(), json!(self.severity.name()));
        map.insert("module".into(), json!(self.module));
        map.insert("code".into(), json!(self.code));
        match (&self.id, self.archived) {
            (Some(id), _) => map.insert("id".into(), json!(id)),
            (None, Some(_)) => map.insert("id".into(), Value::Null),
            (None, None) => None,
        };
        if let Some(file) = &self.file {
            map.insert("file".into(), json!(file));
        }
        if let Some(archived) = self.archived {
            map.insert("archived".into(), json!(archived));
        }
        map.insert("message".into(), json!(self.message));
        if let Some(details) = &self.details {
            map.insert("details".into(), details.clone());
        }
        Value::Object(map)
    }

    /// What makes it the same finding tomorrow: no wording, no ages.
    pub(crate) fn identity(&self) -> (String, String, String) {
        (self.code.to_owned(), self.id.clone().unwrap_or_default(), self.file.clone().unwrap_or_default())
    }
}

/// Everything that was found.
#[derive(Debug)]
pub struct Report {
    pub(crate) issues: Vec<Issue>,
    pub(crate) modules: Map<String, Value>,
    pub(crate) cards: usize,
    pub(crate) generated_at: String,
}

impl Report {
    /// How many findings there are, of any weight.
    #[must_use]
    pub fn count(&self) -> usize {
        self.issues.len()
    }

    /// How many findings have a code.
    #[must_use]
    pub fn count_of(&self, code: &str) -> usize {
        self.issues.iter().filter(|issue| issue.code == code).count()
    }

    /// Whether there are no errors.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.issues.iter().all(|issue| issue.severity != Severity::Error)
    }

    /// `{generatedAt, cards, modules, counts, ok, issues}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let count = |severity: Severity| self.issues.iter().filter(|issue| issue.severity == severity).count();
        json!({
            "generatedAt": self.generated_at,
            "cards": self.cards,
            "modules": self.modules,
            "counts": { "error": count(Severity::Error), "warning": count(Severity::Warning), "info": count(Severity::Info) },
            "ok": self.ok(),
            "issues": self.issues.iter().map(Issue::to_json).collect::<Vec<_>>(),
        })
    }

    /// Keeps findings of at least this severity, at most so many; returns how many were left out.
    pub fn restrict(&mut self, severity: Option<&str>, most: Option<usize>) -> usize {
        let before = self.issues.len();
        let least = match severity {
            Some("error") => Severity::Error,
            Some("warning") => Severity::Warning,
            _ => Severity::Info,
        };
        self.issues.retain(|issue| issue.severity <= least);
        self.issues.truncate(most.unwrap_or(usize::MAX));
        before - self.issues.len()
    }

    /// One line for each finding, for people.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.issues
            .iter()
            .map(|issue| {
                let place = issue.id.as_deref().or(issue.file.as_deref()).unwrap_or("");
                format!("{}: {} {place}: {}", issue.severity.name(), issue.code, issue.message)
            })
            .collect()
    }
}

fn modules(board: &Board, index: &Index) -> Map<String, Value> {
    let config = board.config();
    let mut map = Map::new();
    let count = |admits: &dyn Fn(&Record) -> bool| index.records.iter().filter(|record| admits(record)).count();
    if config.cards.enabled {
        map.insert("cards".into(), json!(count(&|record| record.kind == Kind::Card)));
    }
    if config.docs.enabled {
        let managed = count(&|record| record.kind == Kind::Doc && record.managed);
        let all = count(&|record| record.kind == Kind::Doc);
        map.insert("docs".into(), json!(all));
        map.insert("managedDocs".into(), json!(managed));
        map.insert("indexedDocs".into(), json!(all - managed));
    }
    let history = count(&|record| matches!(record.kind, Kind::Change | Kind::Release));
    if config.changelog.enabled && history > 0 {
        map.insert("changes".into(), json!(count(&|record| record.kind == Kind::Change)));
        map.insert("unreleasedChanges".into(), json!(count(&|record| record.kind == Kind::Change && !record.released)));
        map.insert("releases".into(), json!(count(&|record| record.kind == Kind::Release)));
    }
    let memory = count(&|record| record.kind == Kind::Memory);
    if config.memory.enabled && memory > 0 {
        map.insert("memory".into(), json!(memory));
        for collection in &config.memory.collections {
            map.insert(collection.name().into(), json!(count(&|record| record.collection == Some(*collection))));
        }
    }
    map
}

impl Board {
    /// Looks at everything.
    #[must_use]
    pub fn doctor(&self, checks: Checks) -> Report {
        let index = self.index();
        let mut issues = Vec::new();
        cards::check(self, &index, checks, &mut issues);
        knowledge::documents(self, &index, checks, &mut issues);
        knowledge::changelog(self, &index, &mut issues);
        knowledge::memory(self, &index, &mut issues);
        for bad in &index.unreadable {
            let (module, code) = match bad.kind {
                Kind::Card => ("cards", "unreadable-card"),
                Kind::Doc => ("docs", "unreadable-document"),
                Kind::Change | Kind::Release => ("changelog", "unreadable-changelog-record"),
                Kind::Memory => ("memory", "unreadable-memory-record"),
            };
            let mut issue =
                Issue::new(Severity::Error, module, code, format!("This is no record: {}.", bad.reason)).at(&bad.path);
            if bad.kind == Kind::Card {
                issue.file = Some(paths::name(&bad.path).to_owned());
                issue.archived = Some(bad.archived);
            }
            issues.push(issue);
        }
        self.duplicates(&index, &mut issues);
        self.stale_names(&index, &mut issues);
        self.stale_locks(&mut issues);
        self.unfinished_releases(&index, &mut issues);
        self.policies(&mut issues);
        issues.extend(generated::issues(self));
        issues.sort_by(|one, other| {
            let place = |issue: &Issue| issue.id.clone().or_else(|| issue.file.clone()).unwrap_or_default();
            one.severity
                .cmp(&other.severity)
                .then_with(|| place(one).cmp(&place(other)))
                .then_with(|| one.code.cmp(other.code))
        });
        Report {
            issues,
            modules: modules(self, &index),
            cards: index.of(Kind::Card).count(),
            generated_at: model::format_timestamp(self.workspace().now()),
        }
    }

    fn duplicates(&self, index: &Index, issues: &mut Vec<Issue>) {
        for group in repair::duplicates(index) {
            let files: Vec<&str> = group.records.iter().map(|record| record.path.as_str()).collect();
            let first = &group.records[0];
            let kinds: Vec<&str> = group.records.iter().map(|record| record.kind.name()).collect();
            let kind = if kinds.iter().all(|kind| *kind == kinds[0]) { kinds[0] } else { "mixed" };
            if kind == "card" {
                issues.push(
                    Issue::new(
                        Severity::Error,
                        "cards",
                        "duplicate-id",
                        format!("{} cards share this id.", group.records.len()),
                    )
                    .about(first),
                );
            }
            let mut issue = Issue::new(
                Severity::Error,
                "doctor",
                "duplicate-record-id",
                format!("{} files share this id.", files.len()),
            )
            .at(&first.path)
            .with(
                json!({ "paths": files, "kind": kind, "healable": group.refusal.is_none(), "reason": group.refusal }),
            );
            issue.id = Some(first.id.clone());
            issues.push(issue);
        }
    }

    fn stale_names(&self, index: &Index, issues: &mut Vec<Issue>) {
        for record in &index.records {
            if let Some(expected) = repair::expected_name(record)
                && !repair::is_shared(index, &record.id)
            {
                let module = match record.kind {
                    Kind::Card => "cards",
                    Kind::Doc => "docs",
                    Kind::Change | Kind::Release => "changelog",
                    Kind::Memory => "memory",
                };
                let current = paths::name(&record.path);
                let mut issue =
                    Issue::new(Severity::Warning, module, "filename-stale", "The file's name is not the title's.")
                        .at(&record.path)
                        .with(json!({ "current": current, "expected": expected }));
                issue.id = Some(record.id.clone());
                issues.push(issue);
            }
        }
    }

    fn stale_locks(&self, issues: &mut Vec<Issue>) {
        let folder = format!("{}/locks", self.config().cache);
        crate::files::walk(self.root(), &folder, &[], 0, &mut |path| {
            if path.ends_with(".lock") && locks::is_stale(&self.workspace().at(path)) {
                issues.push(
                    Issue::new(
                        Severity::Warning,
                        "doctor",
                        "stale-write-lock",
                        "Its process is gone; the next write breaks it.",
                    )
                    .at(path),
                );
            }
        });
    }

    fn policies(&self, issues: &mut Vec<Issue>) {
        let config = self.config();
        let unknown: Vec<&str> = config
            .cards
            .methods
            .iter()
            .map(|(area, _)| area.as_str())
            .filter(|area| *area != "*" && !config.cards.areas.iter().any(|one| one == area))
            .collect();
        if !unknown.is_empty() {
            issues.push(
                Issue::new(
                    Severity::Warning,
                    "doctor",
                    "verification-policy-area-unknown",
                    "A verification policy names an area that is not declared.",
                )
                .with(json!({ "areas": unknown, "declared": config.cards.areas })),
            );
        }
        if let Some(provider) = &config.search.provider {
            issues.push(
                Issue::new(
                    Severity::Warning,
                    "doctor",
                    "search-provider-unresolved",
                    format!("There is no search provider `{provider}`; search is by words."),
                )
                .with(json!({ "provider": provider })),
            );
        }
    }

    /// Keeps only the findings that the accepted ones do not cover: `(known, resolved)`.
    ///
    /// # Errors
    ///
    /// `DOCTOR_BASELINE_MISSING`.
    pub fn only_new(&self, report: &mut Report) -> Result<(usize, usize)> {
        let mut left: BTreeMap<(String, String, String), usize> = self.baseline()?;
        let accepted: usize = left.values().sum();
        report.issues.retain(|issue| match left.get_mut(&issue.identity()) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        let resolved: usize = left.values().sum();
        Ok((accepted - resolved, resolved))
    }
}

/// Sessions, read once for a whole report.
pub(crate) fn sessions(board: &Board) -> Vec<activity::Session> {
    activity::sessions(board.workspace(), false)
}
