//! Change fragments, and the releases that take them.

use serde_json::{Map, Value, json};

use crate::allocate::Ids;
use crate::board::{Board, Family, Fields, as_list, as_text, given, one_line};
use crate::error::{BoardError, Result, refuse};
use crate::form::{Form, New};
use crate::front_matter::{Text, is_empty};
use crate::index::Index;
use crate::record::{Kind, Record, Whole};
use crate::{files, moment, paths};

const FAMILY: Family = Family {
    module: "changelog",
    not_found: "CHANGE_FRAGMENT_NOT_FOUND",
    ambiguous: "CHANGE_ID_AMBIGUOUS",
    conflict: "CHANGE_WRITE_CONFLICT",
};
const RELEASES: Family = Family {
    module: "changelog",
    not_found: "RELEASE_NOT_FOUND",
    ambiguous: "CHANGE_ID_AMBIGUOUS",
    conflict: "RELEASE_WRITE_CONFLICT",
};

const FORM: Form = Form {
    order: &["title", "type", "area", "visibility", "cards", "issues", "decisions", "related", "tags"],
    lists: &["cards", "issues", "decisions", "related", "tags"],
};

impl Board {
    fn check_change(&self, fields: &Fields) -> Result<()> {
        let config = self.config();
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        if text("title").is_some_and(str::is_empty) {
            return Err(BoardError::new("CHANGE_TITLE_REQUIRED", "a change needs a title"));
        }
        let words = [
            ("type", &config.changelog.types, "CHANGE_TYPE_INVALID"),
            ("area", &config.cards.areas, "CHANGE_AREA_INVALID"),
            ("visibility", &config.changelog.visibilities, "CHANGE_VISIBILITY_INVALID"),
        ];
        for (field, allowed, code) in words {
            if let Some(value) = fields.get(field) {
                let value = value.as_str().unwrap_or("");
                if !allowed.iter().any(|one| one == value) {
                    return Err(BoardError::new(code, format!("`{value}` is no {field}: {}", allowed.join(", ")))
                        .with(json!({ "field": field, "value": value, "allowed": allowed })));
                }
            }
        }
        Ok(())
    }

    /// Adds a fragment.
    ///
    /// # Errors
    ///
    /// `CHANGE_…` for what a field may not be.
    pub fn add_change(&self, mut fields: Fields, body: &str) -> Result<Whole> {
        self.workspace().writable()?;
        let config = self.config();
        self.module_enabled(config.changelog.enabled, "changelog")?;
        let default = |key: &str| match key {
            "type" => Some(config.changelog.default_type.clone()),
            "area" => config.cards.areas.first().cloned(),
            "visibility" => Some(config.changelog.default_visibility.clone()),
            _ => None,
        };
        let header = FORM.header(&mut fields, &Map::new(), &default);
        if !header.contains_key("title") {
            return Err(BoardError::new("CHANGE_TITLE_REQUIRED", "a change needs a title"));
        }
        self.check_change(&header)?;
        self.create(New {
            ids: Ids {
                prefix: &config.changelog.id_prefix,
                folders: &[&config.changelog.fragments_path, &config.changelog.releases_path],
                tries: 64,
                failed: "RECORD_ID_ALLOCATION_FAILED",
            },
            folder: &config.changelog.fragments_path,
            name: file_name,
            header,
            body,
            taken: "CHANGE_ID_TAKEN",
            check: |_, _| Ok(()),
        })
    }

    /// Changes an unreleased fragment.
    ///
    /// # Errors
    ///
    /// `CHANGE_FIELD_NOT_PATCHABLE`, `CHANGE_FRAGMENT_RELEASED`, `CHANGE_RECORD_NOT_A_FRAGMENT`,
    /// `CHANGE_FRAGMENT_NOT_FOUND`, and those of creation.
    pub fn patch_change(&self, id: &str, changes: &Fields, expected: Option<&str>) -> Result<Whole> {
        let index = self.index();
        if index.of(Kind::Release).any(|release| release.id == id || release.text("version") == id) {
            return Err(refuse!("CHANGE_RECORD_NOT_A_FRAGMENT", "`{id}` is a release; amend it instead"));
        }
        let wanted = FORM.changes(changes, "CHANGE_FIELD_NOT_PATCHABLE")?;
        let held = self.hold(id, expected, &FAMILY, &|record| record.kind == Kind::Change)?;
        if held.record.released {
            return Err(refuse!("CHANGE_FRAGMENT_RELEASED", "`{id}` is released and stays as it is"));
        }
        self.check_change(&wanted)?;
        self.change(held, &wanted, changes.get("body"))
    }

    fn fragments(&self, index: &Index, ids: &[String]) -> Result<Vec<usize>> {
        let unreleased: Vec<usize> = (0..index.records.len())
            .filter(|at| index.records[*at].kind == Kind::Change && !index.records[*at].released)
            .collect();
        if ids.is_empty() {
            return Ok(unreleased);
        }
        let found: Vec<usize> = unreleased.into_iter().filter(|at| ids.contains(&index.records[*at].id)).collect();
        let missing: Vec<&String> =
            ids.iter().filter(|id| !found.iter().any(|at| index.records[*at].id == **id)).collect();
        if missing.is_empty() {
            return Ok(found);
        }
        Err(refuse!("CHANGE_FRAGMENT_NOT_FOUND", "there is no unreleased fragment of that id")
            .with(json!({ "ids": missing })))
    }

    /// What a release would take: `{fragments, groups, markdown}`.
    ///
    /// # Errors
    ///
    /// `CHANGE_FRAGMENT_NOT_FOUND`.
    pub fn preview(&self, ids: &[String], visibility: Option<&str>) -> Result<Value> {
        let index = self.index();
        let found = self.fragments(&index, ids)?;
        let records: Vec<&Record> = found.iter().map(|at| &*index.records[*at]).collect();
        let groups = self.groups(&records);
        let shown: Vec<&Record> = records
            .iter()
            .copied()
            .filter(|record| visibility.is_none_or(|wanted| record.text("visibility") == wanted))
            .collect();
        let json = |record: &&Record| Value::Object(self.read(record).to_json(self.config()));
        let groups: Vec<Value> = groups
            .iter()
            .map(|(kind, records)| json!({ "type": kind, "fragments": records.iter().map(json).collect::<Vec<_>>() }))
            .collect();
        Ok(json!({
            "fragments": records.iter().map(json).collect::<Vec<_>>(),
            "groups": groups,
            "markdown": self.markdown(&shown),
        }))
    }

    fn groups<'a>(&self, records: &[&'a Record]) -> Vec<(String, Vec<&'a Record>)> {
        let mut groups: Vec<(String, Vec<&Record>)> =
            self.config().changelog.types.iter().map(|kind| (kind.clone(), Vec::new())).collect();
        for record in records {
            match groups.iter_mut().find(|(kind, _)| kind == record.text("type")) {
                Some((_, group)) => group.push(record),
                // A type that was dropped from the configuration is still somebody's change.
                None => groups.push((record.text("type").to_owned(), vec![record])),
            }
        }
        groups.retain(|(_, group)| !group.is_empty());
        for (_, group) in &mut groups {
            group.sort_by(|one, other| {
                (one.text("area"), &one.title)
                    .cmp(&(other.text("area"), &other.title))
                    .then_with(|| paths::compare_ids(&one.id, &other.id))
            });
        }
        groups
    }

    fn markdown(&self, records: &[&Record]) -> String {
        let blocks: Vec<String> = self
            .groups(records)
            .iter()
            .map(|(kind, group)| {
                let mut letters = kind.chars();
                let name: String =
                    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect();
                let lines: Vec<String> = group
                    .iter()
                    .map(|record| {
                        let mut ids = record.list("cards");
                        ids.extend(record.list("decisions"));
                        let ids = if ids.is_empty() { String::new() } else { format!(" ({})", ids.join(", ")) };
                        one_line(&format!("- {}{ids}", record.title))
                    })
                    .collect();
                format!("### {name}\n\n{}", lines.join("\n"))
            })
            .collect();
        blocks.join("\n\n")
    }

    /// Cuts a release. Returns it, and the fragments as they were.
    ///
    /// # Errors
    ///
    /// `RELEASE_…`, `CHANGE_FRAGMENT_NOT_FOUND`. After a failure the fragments lie where they were.
    pub fn release(
        &self,
        version: &str,
        mut fields: Fields,
        ids: &[String],
        body: &str,
    ) -> Result<(Whole, Vec<Fields>)> {
        let config = self.config();
        self.workspace().writable()?;
        self.module_enabled(config.changelog.enabled, "changelog")?;
        let version = given(Some(version))
            .ok_or_else(|| BoardError::new("RELEASE_VERSION_REQUIRED", "a release needs a version"))?;
        if !is_version(version, &config.changelog.strategy) {
            return Err(refuse!(
                "RELEASE_VERSION_INVALID",
                "`{version}` is no version of the form `{}`",
                config.changelog.strategy
            ));
        }
        let date = match as_text(&fields.remove("date").unwrap_or(Value::Null)).as_str() {
            Some(date) if !date.is_empty() => date.to_owned(),
            _ => self.today(),
        };
        if !moment::is_day(&date) {
            return Err(
                refuse!("RELEASE_DATE_INVALID", "`date` must be a day, as 2026-01-31").with(json!({ "value": date }))
            );
        }
        let _lock = self.lock_releases()?;
        let index = self.index_anew();
        if index.of(Kind::Release).any(|release| release.text("version") == version) {
            return Err(refuse!("RELEASE_VERSION_DUPLICATE", "version `{version}` is released already"));
        }
        let slug = paths::slug(version, 70, "release");
        let folder = paths::join(&config.changelog.releases_path, &slug);
        let found = self.fragments(&index, ids)?;
        if found.is_empty() {
            return Err(BoardError::new("RELEASE_FRAGMENTS_REQUIRED", "there is nothing to release"));
        }
        if self.workspace().at(&folder).exists() {
            return Err(refuse!("RELEASE_DIRECTORY_EXISTS", "there is a folder `{folder}` already")
                .with(json!({ "path": folder })));
        }
        let fragments: Vec<&Record> = found.iter().map(|at| &*index.records[*at]).collect();
        let folders = [config.changelog.fragments_path.as_str(), config.changelog.releases_path.as_str()];
        let reserved = self.reserve(&Ids {
            prefix: &config.changelog.release_prefix,
            folders: &folders,
            tries: 64,
            failed: "RECORD_ID_ALLOCATION_FAILED",
        })?;
        let names: Vec<&str> = fragments.iter().map(|record| record.id.as_str()).collect();
        let title = as_text(&fields.remove("title").unwrap_or(Value::Null));
        let mut header = Map::new();
        header.insert("id".into(), json!(reserved.id));
        header.insert("title".into(), if is_empty(&title) { json!(format!("Version {version}")) } else { title });
        header.insert("version".into(), json!(version));
        header.insert("date".into(), json!(date));
        header.insert("fragments".into(), json!(names));
        header.insert("commit".into(), as_text(&fields.remove("commit").unwrap_or(Value::Null)));
        header.insert("tags".into(), as_list(&fields.remove("tags").unwrap_or(Value::Null)));
        let source = Text::new(&header, body)?.render();
        let name = format!("{}-{slug}.md", reserved.id);
        let consumed: Vec<Fields> = fragments.iter().map(|record| self.read(record).to_json(config)).collect();
        self.cut(&reserved.id, &folder, &name, &source, &fragments)?;
        let path = paths::join(&folder, &name);
        self.touched(&path);
        self.parse(&path, &source).map(|record| (record, consumed))
    }

    /// Corrects the newest release.
    ///
    /// # Errors
    ///
    /// `RELEASE_NOT_FOUND`, `RELEASE_NOT_AMENDABLE`, `RELEASE_FIELD_NOT_AMENDABLE`, `RELEASE_AMEND_EMPTY`.
    pub fn amend(&self, version: &str, changes: &Fields, expected: Option<&str>) -> Result<Whole> {
        let index = self.index();
        let release =
            index.of(Kind::Release).find(|release| release.id == version || release.text("version") == version);
        let release = release.ok_or_else(|| refuse!("RELEASE_NOT_FOUND", "there is no release `{version}`"))?;
        if newest_first(&index).first().is_none_or(|newest| newest.id != release.id) {
            return Err(refuse!("RELEASE_NOT_AMENDABLE", "only the newest release is amended"));
        }
        if let Some(key) =
            changes.keys().find(|key| !matches!(key.as_str(), "title" | "date" | "commit" | "body" | "tags"))
        {
            return Err(refuse!("RELEASE_FIELD_NOT_AMENDABLE", "`{key}` of a release stays as it is"));
        }
        if changes.is_empty() {
            return Err(BoardError::new("RELEASE_AMEND_EMPTY", "there is nothing to amend"));
        }
        let mut held = self.hold(&release.id, expected, &RELEASES, &|record| record.kind == Kind::Release)?;
        for (key, value) in changes {
            let value = if key == "tags" { as_list(value) } else { as_text(value) };
            match key.as_str() {
                "body" => held.text.set_body(value.as_str().unwrap_or("")),
                "title" | "date" if is_empty(&value) => {
                    return Err(refuse!("RELEASE_MISSING_REQUIRED", "a release needs its {key}"));
                }
                "date" if !moment::is_day(value.as_str().unwrap_or("")) => {
                    return Err(refuse!("RELEASE_DATE_INVALID", "`date` must be a day, as 2026-01-31"));
                }
                _ => held.text.set(key, &value)?,
            }
        }
        // A body that stays keeps its file's own empty lines.
        self.put(&held, None)
    }

    /// Renders the whole changelog; writes it to its file when asked.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn render_changelog(&self, visibility: Option<&str>, write: bool) -> Result<(String, String)> {
        let index = self.index();
        let visibility = visibility.unwrap_or(&self.config().changelog.default_visibility);
        let shown = |record: &Record| visibility == "all" || record.text("visibility") == visibility;
        let mut blocks = vec!["# Changelog".to_owned()];
        let unreleased: Vec<&Record> =
            index.of(Kind::Change).map(|record| &**record).filter(|record| !record.released && shown(record)).collect();
        if !unreleased.is_empty() {
            blocks.push("## Unreleased".into());
            blocks.push(self.markdown(&unreleased));
        }
        for release in newest_first(&index) {
            blocks.push(format!("## {} — {}", release.text("version"), release.text("date")));
            let whole = self.read(release);
            if !whole.body.is_empty() {
                blocks.push(whole.body);
            }
            let listed = release.list("fragments");
            let fragments: Vec<&Record> = index
                .of(Kind::Change)
                .map(|record| &**record)
                .filter(|record| listed.contains(&record.id.as_str()) && shown(record))
                .collect();
            if !fragments.is_empty() {
                blocks.push(self.markdown(&fragments));
            }
        }
        let content = format!("{}\n", blocks.join("\n\n"));
        let path = self.config().changelog.output.clone();
        if write {
            self.workspace().writable()?;
            files::write(&self.workspace().at(&path), &content)?;
            self.touched(&path);
        }
        Ok((path, content))
    }
}

/// Releases, newest first: by date, then by id.
pub(crate) fn newest_first(index: &Index) -> Vec<&Record> {
    let mut releases: Vec<&Record> = index.of(Kind::Release).map(|record| &**record).collect();
    releases.sort_by(|one, other| {
        other.text("date").cmp(one.text("date")).then_with(|| paths::compare_ids(&other.id, &one.id))
    });
    releases
}

/// Tells whether a version has the form a strategy asks for.
pub(crate) fn is_version(version: &str, strategy: &str) -> bool {
    match strategy {
        "semver" => {
            let rest = version.strip_prefix('v').unwrap_or(version);
            let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
            let (core, pre) = rest.split_once('-').map_or((rest, None), |(rest, pre)| (rest, Some(pre)));
            let parts: Vec<&str> = core.split('.').collect();
            let number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let label = |text: &str| {
                text.split('.').all(|part| {
                    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                })
            };
            parts.len() == 3 && parts.iter().all(number) && pre.is_none_or(label) && build.is_none_or(label)
        }
        "calendar" => moment::is_day(version),
        _ => !version.is_empty() && !version.chars().any(char::is_control),
    }
}

/// A fragment's file name.
pub(crate) fn file_name(id: &str, title: &str) -> String {
    format!("{id}-{}.md", paths::slug(title, 70, "change"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_strategys_form() {
        for good in ["0.1.0", "v1.0.0-rc.1+build", "1.2.3-a-b"] {
            assert!(is_version(good, "semver"), "{good}");
        }
        for bad in ["two", "1.0", "1.0.0-", "1.0.0+", "v", "1.0.x", "1..0"] {
            assert!(!is_version(bad, "semver"), "{bad}");
        }
        assert!(is_version("2026-01-15", "calendar") && !is_version("2026-02-30", "calendar"));
        assert!(is_version("Spring Sale!", "freeform") && !is_version("a\nb", "freeform"));
    }
}
