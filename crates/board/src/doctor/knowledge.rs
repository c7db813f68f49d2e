//! What may be wrong with documents, changelog and memory.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::{Checks, Issue, Severity};
use crate::board::Board;
use crate::changelog::is_version;
use crate::front_matter::Text;
use crate::header::Pointer;
use crate::index::Index;
use crate::record::{Kind, Record};
use crate::vocabulary::Collection;
use crate::{moment, paths};

struct Findings<'a> {
    module: &'static str,
    record: &'a Record,
    issues: &'a mut Vec<Issue>,
}

impl Findings<'_> {
    fn add(&mut self, severity: Severity, code: &'static str, message: impl Into<String>) {
        self.issues.push(Issue::new(severity, self.module, code, message).about(self.record));
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>) {
        self.add(Severity::Error, code, message);
    }

    fn warn(&mut self, code: &'static str, message: impl Into<String>) {
        self.add(Severity::Warning, code, message);
    }
}

pub(super) fn documents(board: &Board, index: &Index, checks: Checks, issues: &mut Vec<Issue>) {
    let config = &board.config().docs;
    let today = board.today();
    for doc in index.of(Kind::Doc) {
        let mut found = Findings { module: "docs", record: doc, issues };
        if doc.managed {
            let missing: Vec<&str> = ["id", "title", "kind", "status", "created", "updated"]
                .into_iter()
                .filter(|key| doc.text(key).is_empty())
                .collect();
            if !missing.is_empty() {
                found.error("doc-missing-required", format!("Missing: {}.", missing.join(", ")));
            }
            if !doc.text("kind").is_empty() && !config.kinds.iter().any(|kind| kind == doc.text("kind")) {
                found.error("doc-invalid-kind", format!("`{}` is no kind.", doc.text("kind")));
            }
            if !doc.text("status").is_empty() && !config.statuses.iter().any(|status| status == doc.text("status")) {
                found.error("doc-invalid-status", format!("`{}` is no status.", doc.text("status")));
            }
            for field in ["created", "updated", "reviewed", "review_after"] {
                if !doc.text(field).is_empty() && !moment::is_day(doc.text(field)) {
                    found.error("doc-invalid-date", format!("`{field}` is no day."));
                }
            }
            for id in doc.list("supersedes") {
                if index.get(id).is_none() {
                    found.error("doc-missing-superseded", format!("There is no `{id}`."));
                }
            }
            for id in doc.list("related") {
                if index.get(id).is_none() {
                    found.warn("doc-missing-related", format!("There is no `{id}`."));
                }
            }
            if checks.paths {
                for path in doc.list("scope") {
                    if !path.contains('*')
                        && !paths::inside(path).is_some_and(|path| board.workspace().at(&path).exists())
                    {
                        found.error("doc-missing-scope-path", format!("There is no `{path}`."));
                    }
                }
            }
            review(board, index, doc, &today, &mut found);
        }
        if checks.paths {
            links(board, doc, issues);
        }
    }
}

fn review(board: &Board, index: &Index, doc: &Record, today: &str, found: &mut Findings<'_>) {
    if doc.status() != "current" {
        return;
    }
    let own = doc.text("review_interval_days").parse::<i64>().ok();
    let interval = own.unwrap_or(board.config().docs.review_interval_days);
    let since = ["reviewed", "updated", "created"].into_iter().map(|key| doc.text(key)).find(|day| moment::is_day(day));
    let overdue = interval > 0
        && since.is_some_and(|since| moment::days_between(since, today).is_some_and(|days| days > interval));
    let after = doc.text("review_after");
    if overdue || (moment::is_day(after) && after < today) {
        found.warn("doc-review-overdue", "Its review is due.");
    }
    let Some(since) = since.filter(|_| interval > 0) else { return };
    for id in doc.list("related") {
        if let Some(card) = index.get(id)
            && card.kind == Kind::Card
            && card.text("status") == "done"
            && card.text("updated") > since
        {
            found.warn("doc-related-card-newer", format!("`{id}` was closed since."));
        }
    }
    let source = paths::inside(doc.text("source")).filter(|path| !path.is_empty());
    let modified = source
        .and_then(|path| std::fs::metadata(board.workspace().at(&path)).ok())
        .map(|meta| crate::files::Stamp::of(&meta).modified_ms());
    if modified.is_some_and(|modified| moment::day(modified).as_str() > since) {
        found.warn("doc-source-newer", "Its source has changed since.");
    }
}

fn links(board: &Board, doc: &Record, issues: &mut Vec<Issue>) {
    for target in doc.fields.pointers(Pointer::Link) {
        if target.starts_with('#')
            || target.contains("://")
            || target.starts_with("mailto:")
            || target.starts_with("//")
        {
            continue;
        }
        let path = target.split(['#', '?']).next().unwrap_or("");
        let path = percent(path);
        if path.is_empty() {
            continue;
        }
        let root =
            board.config().docs.route_roots.iter().find(|root| paths::lies_in(&doc.path, root.trim_end_matches('/')));
        let relative = if path.starts_with('/') {
            path.trim_start_matches('/').to_owned()
        } else {
            paths::join(paths::parent(&doc.path), &path)
        };
        let mut bases = vec![relative];
        if let Some(root) = root {
            bases.push(paths::join(root.trim_end_matches('/'), path.trim_start_matches('/')));
        }
        let mut tried = Vec::new();
        for base in &bases {
            let Some(clean) = paths::inside(base) else { continue };
            if root.is_some() {
                for end in ["", ".md", ".mdx", "/index.md", "/index.mdx"] {
                    tried.push(format!("{}{end}", clean.trim_end_matches('/')));
                }
            } else {
                tried.push(clean);
            }
        }
        if tried.iter().any(|path| board.workspace().at(path).exists()) {
            continue;
        }
        let severity = if doc.managed { Severity::Error } else { Severity::Warning };
        let first = tried.first().cloned().unwrap_or_else(|| path.clone());
        issues.push(
            Issue::new(severity, "docs", "doc-broken-local-link", format!("There is no `{first}`."))
                .about(doc)
                .with(json!({ "path": first, "target": target, "tried": tried })),
        );
    }
}

/// Undoes `%20` and its kind; what cannot be undone stays.
fn percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let source = text.as_bytes();
    let mut at = 0;
    while at < source.len() {
        let digit = |offset: usize| source.get(at + offset).and_then(|byte| char::from(*byte).to_digit(16));
        if source[at] == b'%'
            && let (Some(high), Some(low)) = (digit(1), digit(2))
        {
            bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            at += 3;
        } else {
            bytes.push(source[at]);
            at += 1;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

pub(super) fn changelog(board: &Board, index: &Index, issues: &mut Vec<Issue>) {
    let config = board.config();
    let today = board.today();
    let mut takers: HashMap<&str, Vec<&Record>> = HashMap::new();
    for release in index.of(Kind::Release) {
        for id in release.list("fragments") {
            takers.entry(id).or_default().push(release);
        }
    }
    for change in index.of(Kind::Change) {
        let mut found = Findings { module: "changelog", record: change, issues };
        for field in ["title", "type", "area", "visibility", "created", "updated"] {
            if change.text(field).is_empty() {
                found.error("change-missing-required", format!("Missing: {field}."));
            }
        }
        if !config.changelog.types.iter().any(|one| one == change.text("type")) {
            found.error("change-invalid-type", format!("`{}` is no type.", change.text("type")));
        }
        if !config.changelog.visibilities.iter().any(|one| one == change.text("visibility")) {
            found.error("change-invalid-visibility", format!("`{}` is no visibility.", change.text("visibility")));
        }
        if !config.cards.areas.iter().any(|one| one == change.text("area")) {
            found.warn("change-unknown-area", format!("`{}` is no area.", change.text("area")));
        }
        for field in ["created", "updated"] {
            if !change.text(field).is_empty() && !moment::is_day(change.text(field)) {
                found.error("change-invalid-date", format!("`{field}` is no day."));
            }
        }
        for (_, id) in change.field_references() {
            if index.get(id).is_none() {
                found.warn("change-missing-reference", format!("There is no `{id}`."));
            }
        }
        let taken = takers.get(change.id.as_str()).map_or(0, Vec::len);
        if change.released && taken == 0 {
            found.error("released-fragment-unassigned", "No release names it.");
        }
        if taken > 1 {
            found.error("fragment-consumed-multiple-times", format!("{taken} releases name it."));
        }
    }
    let mut versions: HashSet<&str> = HashSet::new();
    for release in index.of(Kind::Release) {
        let mut found = Findings { module: "changelog", record: release, issues };
        let missing: Vec<&str> =
            ["title", "version", "date"].into_iter().filter(|key| release.text(key).is_empty()).collect();
        if !missing.is_empty() {
            found.error("release-missing-required", format!("Missing: {}.", missing.join(", ")));
        }
        let (version, date) = (release.text("version"), release.text("date"));
        if !version.is_empty() && !is_version(version, &config.changelog.strategy) {
            found.error("release-invalid-version", format!("`{version}` is no {} version.", config.changelog.strategy));
        }
        if !version.is_empty() && !versions.insert(version) {
            found.error("release-version-duplicate", format!("`{version}` is released twice."));
        }
        if !date.is_empty() && !moment::is_day(date) {
            found.error("release-invalid-date", "`date` is no day.");
        } else if date > today.as_str() {
            found.warn("release-date-in-future", "Its date has not come.");
        }
        let fragments = release.list("fragments");
        if fragments.is_empty() {
            found.error("release-empty", "It has no fragments.");
        }
        for id in fragments {
            match index.get(id).filter(|record| record.kind == Kind::Change) {
                None => found.error("release-missing-fragment", format!("There is no fragment `{id}`.")),
                Some(fragment) if !fragment.released => {
                    found.error("release-points-to-unreleased-fragment", format!("`{id}` is not released."));
                }
                Some(_) => {}
            }
        }
    }
}

pub(super) fn memory(board: &Board, index: &Index, issues: &mut Vec<Issue>) {
    let today = board.today();
    strangers(board, issues);
    for record in index.of(Kind::Memory) {
        let Some(collection) = record.collection else { continue };
        let mut found = Findings { module: "memory", record, issues };
        let prefix = &record.id[..paths::id_parts(&record.id).0];
        if let Some(other) = Collection::ALL.into_iter().find(|one| *one != collection && one.prefix() == prefix) {
            found.error("memory-invalid-collection", format!("Its id is one of {}.", other.name()));
        }
        let missing: Vec<&str> =
            ["title", "status", "created", "updated"].into_iter().filter(|key| record.text(key).is_empty()).collect();
        if !missing.is_empty() {
            found.error("memory-missing-required", format!("Missing: {}.", missing.join(", ")));
        }
        let status = record.text("status");
        if !status.is_empty() && !collection.statuses().contains(&status) {
            found.error("memory-invalid-status", format!("`{status}` is no status of {}.", collection.name()));
        }
        for field in ["created", "updated", "expires", "review_after"] {
            if !record.text(field).is_empty() && !moment::is_day(record.text(field)) {
                found.error("memory-invalid-date", format!("`{field}` is no day."));
            }
        }
        for (_, id) in record.field_references() {
            if index.get(id).is_none() {
                found.warn("memory-missing-reference", format!("There is no `{id}`."));
            }
        }
        if status == "superseded" && record.list("superseded_by").is_empty() {
            found.warn("memory-supersession-target-missing", "It does not say by what.");
        }
        match collection {
            Collection::Learnings => {
                let confidence = record.text("confidence");
                if !confidence.is_empty() && !["low", "medium", "high"].contains(&confidence) {
                    found.error("learning-invalid-confidence", format!("`{confidence}` is no confidence."));
                }
                let occurrences = record.text("occurrences");
                if !occurrences.is_empty() && !occurrences.parse::<i64>().is_ok_and(|count| count >= 1) {
                    found.error("learning-invalid-occurrences", format!("`{occurrences}` is no count."));
                }
                if status == "graduated" && record.list("graduated_to").is_empty() {
                    found.warn("learning-graduation-target-missing", "It does not say to what.");
                }
            }
            Collection::Incidents => incident(record, status, &mut found),
            Collection::Context if status == "active" => {
                let (expires, review) = (record.text("expires"), record.text("review_after"));
                if expires.is_empty() && review.is_empty() {
                    found.warn("context-lifecycle-missing", "It neither expires nor is it reviewed.");
                }
                if moment::is_day(expires) && expires < today.as_str() {
                    found.warn("context-expired-active", "It has expired and is still active.");
                }
                if moment::is_day(review) && review < today.as_str() {
                    found.warn("context-review-overdue", "Its review is due.");
                }
            }
            Collection::Decisions | Collection::Conventions | Collection::Context => {}
        }
    }
    cycles(index, issues);
}

/// Records in a folder that is no collection: nobody else sees them.
fn strangers(board: &Board, issues: &mut Vec<Issue>) {
    let memory = &board.config().memory;
    if !memory.enabled {
        return;
    }
    let known: Vec<String> = Collection::ALL.iter().map(|one| paths::join(&memory.path, one.name())).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    crate::files::stamped(board.root(), &memory.path, &known, &mut |path, _| {
        let text = crate::files::read(&board.workspace().at(path), u64::MAX).map(|(text, _)| text).unwrap_or_default();
        let Some(header) = Text::parse(&text, Kind::Memory.lists()) else { return };
        let id = header.fields().get("id").and_then(serde_json::Value::as_str).unwrap_or("").trim().to_owned();
        if !id.is_empty() {
            let message = "It lies in no folder of a collection.";
            let mut issue = Issue::new(Severity::Error, "memory", "memory-invalid-collection", message).at(path);
            issue.id = Some(id);
            issues.push(issue);
        }
    });
}

fn incident(record: &Record, status: &str, found: &mut Findings<'_>) {
    let severity = record.text("severity");
    if !severity.is_empty() && !["critical", "high", "medium", "low"].contains(&severity) {
        found.error("incident-invalid-severity", format!("`{severity}` is no severity."));
    }
    for field in ["started_at", "resolved_at"] {
        if !record.text(field).is_empty() && moment::parse(record.text(field)).is_none() {
            found.error("incident-invalid-timestamp", format!("`{field}` is no moment."));
        }
    }
    if ["resolved", "closed"].contains(&status) {
        if record.text("resolved_at").is_empty() {
            found.warn("incident-resolution-time-missing", "It does not say when it was resolved.");
        }
        if record.list("corrective_actions").is_empty() {
            found.add(
                Severity::Info,
                "incident-corrective-actions-missing",
                "It names nothing that was done about it.",
            );
        }
    }
}

/// Records that supersede each other in a circle, each circle once.
fn cycles(index: &Index, issues: &mut Vec<Issue>) {
    let mut reported: HashSet<String> = HashSet::new();
    for record in index.of(Kind::Memory) {
        let mut path: Vec<&str> = vec![&record.id];
        let mut at: &Record = record;
        while let Some(next) = at.list("superseded_by").first().and_then(|id| index.get(id)) {
            if let Some(start) = path.iter().position(|id| *id == next.id) {
                let mut circle: Vec<&str> = path[start..].to_vec();
                circle.sort_by(|one, other| paths::compare_ids(one, other));
                if reported.insert(circle.join(" "))
                    && let Some(first) = index.get(circle[0])
                {
                    issues.push(
                        Issue::new(
                            Severity::Error,
                            "memory",
                            "memory-supersession-cycle",
                            format!("These supersede each other: {}.", circle.join(", ")),
                        )
                        .about(first),
                    );
                }
                break;
            }
            path.push(&next.id);
            at = next;
        }
    }
}
