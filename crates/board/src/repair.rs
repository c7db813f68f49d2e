//! Mending what can be mended without inventing anything: shared ids, stale file names, stray trail lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::allocate::Ids;
use crate::board::Board;
use crate::error::{BoardError, Result, refuse};
use crate::front_matter::Text;
use crate::header::Pointer;
use crate::index::{Index, place_of};
use crate::markdown::{ACTIVITY, append, lines};
use crate::record::{Kind, Record};
use crate::workspace::file_name;
use crate::{cards, changelog, docs, files, memory, moment, paths};

/// What mends the findings of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mending {
    /// Writing the files for agents that are missing or out of date.
    Agents,
    /// Writing those for CI.
    Ci,
    /// [`Board::fix`].
    Records,
}

impl Mending {
    /// What mends the findings with a code; `None`: a person does. A generated file that somebody else wrote is never
    /// written over.
    #[must_use]
    pub fn of(code: &str) -> Option<Self> {
        Self::CODES.into_iter().find_map(|(known, mending)| (known == code).then_some(mending))
    }

    /// The codes of findings that can be mended, and by what.
    pub const CODES: [(&'static str, Self); 8] = [
        ("agent-instructions-missing", Self::Agents),
        ("agent-instructions-stale", Self::Agents),
        ("ci-template-missing", Self::Ci),
        ("ci-template-stale", Self::Ci),
        ("duplicate-id", Self::Records),
        ("duplicate-record-id", Self::Records),
        ("filename-stale", Self::Records),
        ("misplaced-trail", Self::Records),
    ];
}

/// Records that share an id.
pub(crate) struct Group {
    /// By path.
    pub(crate) records: Vec<Arc<Record>>,
    /// Why it cannot be mended.
    pub(crate) refusal: Option<&'static str>,
}

/// Finds the ids that several files have.
pub(crate) fn duplicates(index: &Index) -> Vec<Group> {
    let mut by_id: BTreeMap<&str, Vec<Arc<Record>>> = BTreeMap::new();
    for record in &index.records {
        by_id.entry(&record.id).or_default().push(Arc::clone(record));
    }
    by_id
        .into_values()
        .filter(|records| records.len() > 1)
        .map(|mut records| {
            records.sort_by(|one, other| one.path.cmp(&other.path));
            let refusal = refusal(&records);
            Group { records, refusal }
        })
        .collect()
}

fn refusal(records: &[Arc<Record>]) -> Option<&'static str> {
    if records.iter().any(|record| record.kind == Kind::Doc && !record.managed) {
        return Some("indexed-document");
    }
    if records.iter().any(|record| record.kind != records[0].kind || record.collection != records[0].collection) {
        return Some("mixed-kinds");
    }
    if records[0].kind == Kind::Release {
        return Some("release");
    }
    (records.iter().filter(|record| record.released).count() > 1).then_some("multiple-released")
}

/// Tells whether several files have an id.
pub(crate) fn is_shared(index: &Index, id: &str) -> bool {
    index.records.iter().filter(|record| record.id == id).nth(1).is_some()
}

/// The name a record's file should have, when it has another. A name that does not even begin with the id is another
/// fault, and what is released keeps its name.
pub(crate) fn expected_name(record: &Record) -> Option<String> {
    let expected = match record.kind {
        Kind::Card => cards::file_name(&record.id, &record.title),
        Kind::Doc if record.managed => docs::file_name(&record.id, &record.title),
        Kind::Change if !record.released => changelog::file_name(&record.id, &record.title),
        Kind::Memory => memory::file_name(&record.id, &record.title),
        Kind::Doc | Kind::Change | Kind::Release => return None,
    };
    let current = paths::name(&record.path);
    let own = current.strip_prefix(&record.id).is_some_and(|rest| rest.starts_with('-') || rest == ".md");
    // A cut may leave a trailing `-`; files of other tools may be without it.
    let same = |name: &str| name.trim_end_matches(".md").trim_end_matches('-').to_owned();
    (own && !record.title.is_empty() && same(current) != same(&expected)).then_some(expected)
}

/// Tells whether a line has the form of a trail line.
fn is_trail(line: &str) -> bool {
    let Some(rest) = line.trim_end().strip_prefix("- ") else { return false };
    let (Some(day), Some(time)) = (rest.get(..10), rest.get(11..17)) else { return false };
    moment::is_day(day)
        && rest.as_bytes().get(10) == Some(&b' ')
        && time.as_bytes()[2] == b':'
        && time.ends_with('Z')
        && rest.get(17..).is_some_and(|rest| rest.contains(" · "))
}

/// Takes trail lines that lie outside `## Activity` into it, sorted by time. Returns the body and how many there were.
pub(crate) fn stray_trail(body: &str) -> (String, usize) {
    let mut in_trail = false;
    let mut kept = String::new();
    let mut stray: Vec<String> = Vec::new();
    for line in lines(body) {
        let text = line.text.trim_end();
        if let Some((level, _)) = line.heading()
            && (level <= 2 || line.is(ACTIVITY))
        {
            in_trail = line.is(ACTIVITY);
        }
        if !in_trail && !line.code && is_trail(text) {
            stray.push(text.to_owned());
        } else {
            kept.push_str(line.text);
        }
    }
    if stray.is_empty() {
        return (body.to_owned(), 0);
    }
    // The gap a removed line leaves.
    let mut tidy: Vec<&str> = Vec::new();
    for line in kept.lines() {
        if !(line.trim().is_empty() && tidy.last().is_some_and(|last| last.trim().is_empty())) {
            tidy.push(line);
        }
    }
    let mut body = crate::front_matter::trimmed(&tidy.join("\n")).to_owned();
    let count = stray.len();
    for line in stray {
        body = append(&body, ACTIVITY, &line, "\n");
    }
    (sorted_trail(&body), count)
}

fn sorted_trail(body: &str) -> String {
    let found = lines(body);
    let Some(begin) = found.iter().position(|line| line.is(ACTIVITY)) else { return body.to_owned() };
    let mut lines: Vec<&str> = found.iter().map(|line| line.text.trim_end_matches(['\r', '\n'])).collect();
    let places: Vec<usize> = (begin + 1..lines.len())
        .take_while(|at| found[*at].heading().is_none())
        .filter(|at| is_trail(lines[*at]))
        .collect();
    let mut trail: Vec<&str> = places.iter().map(|at| lines[*at]).collect();
    trail.sort_by_key(|line| line.get(2..19));
    for (place, line) in places.into_iter().zip(trail) {
        lines[place] = line;
    }
    lines.join("\n")
}

impl Board {
    /// Mends findings in one of the ways that are ours.
    ///
    /// # Errors
    ///
    /// `WORKSPACE_READ_ONLY`, or the first write that fails; what was mended before stays so.
    pub fn mend(&self, mending: Mending, actor: &str) -> Result<()> {
        match mending {
            Mending::Agents => self.write_generated("agents"),
            Mending::Ci => self.write_generated("ci"),
            Mending::Records => self.fix(actor).map(drop),
        }
    }

    /// Mends what can be mended: `{moves, skipped, renamed, renameSkipped, trails}`, and `releases` when one was broken off.
    ///
    /// # Errors
    ///
    /// The first write that fails; what was mended before stays so.
    pub fn fix(&self, actor: &str) -> Result<Value> {
        self.workspace().writable()?;
        let releases = self.mended_releases()?;
        let index = self.index_anew();
        let (mut moves, mut skipped) = (Vec::new(), Vec::new());
        for group in duplicates(&index) {
            if let Some(reason) = group.refusal {
                let files: Vec<&str> = group.records.iter().map(|record| record.path.as_str()).collect();
                skipped.push(json!({ "id": group.records[0].id, "reason": reason, "paths": files }));
                continue;
            }
            for record in losers(&group.records) {
                moves.push(self.renumber_file(&record, None, actor, true)?);
            }
        }
        let index = self.index_anew();
        let (mut renamed, mut rename_skipped) = (Vec::new(), Vec::new());
        for record in index.records() {
            let Some(expected) = expected_name(record) else { continue };
            let from = paths::name(&record.path).to_owned();
            match self.rename(record, &expected, actor) {
                Ok(()) => renamed.push(json!({ "id": record.id, "from": from, "to": expected })),
                Err(error) => rename_skipped
                    .push(json!({ "id": record.id, "from": from, "to": expected, "reason": error.message })),
            }
        }
        let index = self.index_anew();
        let mut trails = Vec::new();
        for card in index.of(Kind::Card) {
            let (_, count) = stray_trail(&self.read(card).body);
            if count > 0 {
                let mut held = self.hold_card(&card.id, None)?;
                let (body, count) = stray_trail(held.text.body());
                held.text.set_body(&body);
                let noun = if count == 1 { "entry" } else { "entries" };
                self.trail_line(&mut held.text, actor, &format!("moved {count} trail {noun} into the trail"));
                held.text.set("updated", &json!(self.today()))?;
                self.put(&held, None)?;
                trails.push(json!({ "id": card.id, "entries": count }));
            }
        }
        let mut answer = json!({ "moves": moves, "skipped": skipped, "renamed": renamed, "renameSkipped": rename_skipped, "trails": trails });
        if !releases.is_empty() {
            answer["releases"] = json!(releases);
        }
        Ok(answer)
    }

    /// A release that was broken off leaves fragments in two places; they are no duplicates to renumber.
    fn mended_releases(&self) -> Result<Vec<Value>> {
        self.lock_releases().map(|(_, mended)| mended)
    }

    fn trail_line(&self, text: &mut Text, actor: &str, event: &str) {
        if self.config().cards.activity_trail {
            let line = format!("- {} {actor} · {event}", moment::stamp(self.workspace().now()));
            let body = append(text.body(), ACTIVITY, &line, text.newline());
            text.set_body(&body);
        }
    }

    fn rename(&self, record: &Record, name: &str, actor: &str) -> Result<()> {
        let new = paths::join(paths::parent(&record.path), name);
        if record.kind == Kind::Card {
            let mut held = self.hold_card(&record.id, None)?;
            self.trail_line(&mut held.text, actor, &format!("renamed file to {name}"));
            self.put(&held, Some(&new))?;
            return Ok(());
        }
        let module = match record.kind {
            Kind::Doc => "docs",
            Kind::Memory => "memory",
            Kind::Card | Kind::Change | Kind::Release => "changelog",
        };
        let _lock = self.workspace().lock(module, &record.id)?;
        if !files::move_new(&self.workspace().at(&record.path), &self.workspace().at(&new))? {
            return Err(refuse!("RECORD_ID_TAKEN", "there is a file `{new}` already"));
        }
        self.touched(&record.path);
        self.touched(&new);
        Ok(())
    }

    /// Gives a record another id: `{id, from, to, kind, file, path, rewritten, review}`.
    ///
    /// # Errors
    ///
    /// `RECORD_NOT_FOUND`, `RECORD_ID_AMBIGUOUS`, `RECORD_KIND_NOT_RENUMBERABLE`, `RECORD_ID_TAKEN`, `RECORD_ID_INVALID`.
    pub fn renumber(&self, target: &str, to: Option<&str>, actor: &str) -> Result<Value> {
        let index = self.index_anew();
        let found: Vec<&Arc<Record>> = index
            .records
            .iter()
            .filter(|record| record.id == target || record.path == target || record.file() == target)
            .collect();
        match found.as_slice() {
            [] => Err(refuse!("RECORD_NOT_FOUND", "there is no record `{target}`")),
            [record] => self.renumber_file(record, to, actor, is_shared(&index, &record.id)),
            many => {
                let files: Vec<&str> = many.iter().map(|record| record.path.as_str()).collect();
                Err(refuse!("RECORD_ID_AMBIGUOUS", "`{target}` names {} files; name one", many.len())
                    .with(json!({ "files": files })))
            }
        }
    }

    fn renumber_file(&self, record: &Record, to: Option<&str>, actor: &str, shared: bool) -> Result<Value> {
        let config = self.config();
        let folder;
        let (prefix, folders): (&str, Vec<&str>) = match record.kind {
            Kind::Card => (&config.cards.id_prefix, vec![&config.cards.path, &config.cards.archive_path]),
            Kind::Doc if record.managed => (&config.docs.id_prefix, vec![&config.docs.managed_path]),
            Kind::Change => {
                (&config.changelog.id_prefix, vec![&config.changelog.fragments_path, &config.changelog.releases_path])
            }
            Kind::Memory => {
                let collection = record.collection.unwrap_or(crate::vocabulary::Collection::Learnings);
                folder = paths::join(&config.memory.path, collection.name());
                (collection.prefix(), vec![&folder])
            }
            Kind::Doc => return Err(refuse!("DOC_NOT_MANAGED", "`{}` is an indexed document", record.path)),
            Kind::Release => return Err(refuse!("RECORD_KIND_NOT_RENUMBERABLE", "a release keeps its id")),
        };
        let reserved;
        let id = match to {
            Some(id) => {
                if crate::allocate::number_of(id, prefix).is_none() || id.contains(['/', '.', ' ']) {
                    return Err(
                        refuse!("RECORD_ID_INVALID", "`{id}` is no id of this kind").with(json!({ "prefix": prefix }))
                    );
                }
                if self.index().get(id).is_some() {
                    return Err(refuse!("RECORD_ID_TAKEN", "`{id}` is taken"));
                }
                id.to_owned()
            }
            None => {
                reserved =
                    self.reserve(&Ids { prefix, folders: &folders, tries: 64, failed: "RECORD_ID_ALLOCATION_FAILED" })?;
                reserved.id.clone()
            }
        };
        let module = if record.kind == Kind::Card { "cards" } else { "records" };
        let _lock = self.workspace().lock(module, &record.id)?;
        let place = place_of(&record.path, config)
            .ok_or_else(|| refuse!("RECORD_NOT_FOUND", "`{}` is no record", record.path))?;
        let at = self.workspace().at(&record.path);
        let (source, _) = files::read(&at, u64::MAX).map_err(|error| BoardError::io("read", &at, error))?;
        let mut text = Text::parse(&source, place.kind.lists())
            .ok_or_else(|| refuse!("RECORD_FRONTMATTER_MISSING", "`{}` has no header", record.path))?;
        text.set("id", &json!(id))?;
        text.set("updated", &json!(self.today()))?;
        if record.kind == Kind::Card {
            self.trail_line(&mut text, actor, &format!("renumbered from {}", record.id));
        }
        let rest = paths::name(&record.path).strip_prefix(&record.id).map(str::to_owned);
        let name = format!("{id}{}", rest.unwrap_or_else(|| format!("-{}", paths::name(&record.path))));
        let new = paths::join(paths::parent(&record.path), &name);
        if !files::create(&self.workspace().at(&new), &text.render())? {
            return Err(refuse!("RECORD_ID_TAKEN", "there is a file `{new}` already"));
        }
        if record.kind == Kind::Card && !shared {
            self.move_assets(&record.id, &id, &new)?;
        }
        std::fs::remove_file(&at).map_err(|error| BoardError::io("removed", &at, error))?;
        self.touched(&record.path);
        self.touched(&new);
        let (rewritten, review) = self.references_to(&record.id, &id, &new, shared)?;
        let mut answer = json!({
            "id": id, "from": record.id, "to": id, "kind": record.kind.name(), "file": name, "path": new, "review": review,
        });
        if let Value::Object(map) = &mut answer
            && !shared
        {
            map.insert("rewritten".into(), json!(rewritten));
        }
        Ok(answer)
    }

    /// A card's attached files go with its id: whoever has that id next must not find them. `written` is the card under its
    /// new id, which goes again when they cannot.
    fn move_assets(&self, old: &str, new: &str, written: &str) -> Result<()> {
        let folder = |id: &str| self.workspace().at(&paths::join(&self.config().cards.assets_path, &file_name(id)));
        let (from, to) = (folder(old), folder(new));
        if !std::fs::symlink_metadata(&from).is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        files::move_new(&from, &to)
            .and_then(|moved| match moved {
                true => Ok(()),
                false => Err(refuse!("RECORD_ID_TAKEN", "there are attached files of `{new}` already")),
            })
            .inspect_err(|_| {
                let _ = std::fs::remove_file(self.workspace().at(written));
            })
    }

    /// Files that refer to an id. Rewritten when it was one record's alone; otherwise only named, since nobody can say
    /// which of the two was meant.
    fn references_to(&self, old: &str, new: &str, own: &str, shared: bool) -> Result<(Vec<String>, Vec<String>)> {
        let (mut rewritten, mut review) = (Vec::new(), Vec::new());
        let index = self.index_anew();
        for record in index.records() {
            if record.path == own || record.id == old {
                continue;
            }
            let refers = record.field_references().iter().any(|(_, id)| *id == old)
                || record.fields.pointers(Pointer::Mention).any(|id| id == old)
                || record.fields.pointers(Pointer::Wikilink).any(|id| id == old);
            if !refers {
                continue;
            }
            if shared || !paths::lies_in(&record.path, &self.config().storage_root) {
                review.push(record.path.clone());
                continue;
            }
            let at = self.workspace().at(&record.path);
            let (source, _) = files::read(&at, u64::MAX).map_err(|error| BoardError::io("read", &at, error))?;
            files::write(&at, &replace_id(&source, old, new))?;
            self.touched(&record.path);
            rewritten.push(record.path.clone());
        }
        Ok((rewritten, review))
    }

    /// Renumbers every card that shares its id: `{moves, skipped}`.
    ///
    /// # Errors
    ///
    /// The first write that fails.
    pub fn renumber_duplicates(&self, actor: &str) -> Result<Value> {
        self.mended_releases()?;
        let index = self.index_anew();
        let (mut moves, mut skipped) = (Vec::new(), Vec::new());
        for group in duplicates(&index) {
            match group.refusal {
                Some(reason) => skipped.push(json!({ "id": group.records[0].id, "reason": reason })),
                None => {
                    for record in losers(&group.records) {
                        moves.push(self.renumber_file(&record, None, actor, true)?);
                    }
                }
            }
        }
        Ok(json!({ "moves": moves, "skipped": skipped }))
    }
}

/// All but the one that keeps the id: the released fragment, else the oldest, else the first by path.
fn losers(records: &[Arc<Record>]) -> Vec<Arc<Record>> {
    let mut ordered: Vec<Arc<Record>> = records.to_vec();
    ordered.sort_by(|one, other| {
        other
            .released
            .cmp(&one.released)
            .then_with(|| one.text("created").cmp(other.text("created")))
            .then_with(|| one.path.cmp(&other.path))
    });
    ordered.into_iter().skip(1).collect()
}

/// Replaces whole ids in a text.
fn replace_id(text: &str, old: &str, new: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let before = rest[..at].chars().next_back().or_else(|| result.chars().next_back());
        let after = rest[at + old.len()..].chars().next();
        let edge = |one: Option<char>| one.is_none_or(|one| !(one.is_alphanumeric() || one == '_'));
        result.push_str(&rest[..at]);
        result.push_str(if edge(before) && before != Some('-') && edge(after) { new } else { old });
        rest = &rest[at + old.len()..];
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_lines_go_into_the_trail_by_time() {
        let (body, count) = stray_trail(
            "Text.\n\n- 2026-01-05 10:00Z bob · claimed\n\n## Notes\n\n- n\n\n## Activity\n\n- 2026-01-06 10:00Z ann · released",
        );
        assert_eq!(count, 1);
        assert_eq!(
            body,
            "Text.\n\n## Notes\n\n- n\n\n## Activity\n\n- 2026-01-05 10:00Z bob · claimed\n- 2026-01-06 10:00Z ann · released"
        );
        assert_eq!(stray_trail("- 2026-01-05 10:00Z bob — a note\n").1, 0);
        assert_eq!(stray_trail("```\n- 2026-01-05 10:00Z bob · claimed\n```\n").1, 0);
    }

    #[test]
    fn only_whole_ids_are_replaced() {
        assert_eq!(
            replace_id("T-0001 XT-0001 T-00011 [[T-0001]] T-0001-a", "T-0001", "T-0009"),
            "T-0009 XT-0001 T-00011 [[T-0009]] T-0009-a"
        );
    }
}
