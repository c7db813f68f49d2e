//! `changelog …`.

use ::board::{Kind, Record};
use serde_json::json;

use super::{Command, Result};
use crate::board::cli::Done;
use crate::board::options::{needed, no_choice};

impl Command<'_> {
    pub(super) fn changelog_list(&self) -> Result<Done> {
        self.options.allow("changelog list", &["query", "unreleased", "limit", "type", "area", "visibility"], false)?;
        let config = self.board.config();
        let types = self.options.choices("type", &config.changelog.types)?;
        let areas = self.options.choices("area", &config.cards.areas)?;
        let visibilities = self.options.choices("visibility", &config.changelog.visibilities)?;
        let unreleased = self.options.flag("unreleased");
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        let admits = |record: &Record| {
            !(unreleased && (record.kind == Kind::Release || record.released))
                && any(&types, record.text("type"))
                && any(&areas, record.text("area"))
                && any(&visibilities, record.text("visibility"))
        };
        self.listed(&[Kind::Change, Kind::Release], &admits, false)
    }

    /// `--visibility`, one of those there are; a rendering may also show `all`.
    fn visibility(&self, all: bool) -> Result<Option<&str>> {
        let Some(wanted) = self.options.get("visibility") else { return Ok(None) };
        let known = &self.board.config().changelog.visibilities;
        if known.iter().any(|one| one == wanted) || all && wanted == "all" {
            return Ok(Some(wanted));
        }
        Err(no_choice("visibility", wanted, known))
    }

    pub(super) fn changelog_add(&self) -> Result<Done> {
        let (texts, lists) =
            (["title", "type", "area", "visibility"], ["cards", "issues", "decisions", "related", "tags"]);
        let mut known: Vec<&str> = texts.to_vec();
        known.extend(lists);
        known.extend(["body", "body-file", "json-input"]);
        self.options.allow("changelog add", &known, false)?;
        let fields = self.given(&texts, &lists)?;
        if !fields.contains_key("title") {
            return Err(needed("--title"));
        }
        Ok(self.record(&self.board.add_change(fields, &self.body()?)?))
    }

    pub(super) fn changelog_preview(&self) -> Result<Done> {
        self.options.allow("changelog preview", &["fragments", "visibility"], false)?;
        let ids = self.options.list("fragments").unwrap_or_default();
        let answer = self.board.preview(&ids, self.visibility(false)?)?;
        let text = answer["markdown"].as_str().unwrap_or("").to_owned();
        Ok(Done::new(answer, text))
    }

    pub(super) fn changelog_release(&self) -> Result<Done> {
        let known = [
            "title",
            "date",
            "fragments",
            "visibility",
            "commit",
            "tags",
            "body",
            "body-file",
            "amend",
            "expected-revision",
        ];
        self.options.allow("changelog release", &known, false)?;
        let version = self.options.word(2, "a version")?;
        self.visibility(false)?;
        let mut fields = self.given(&["title", "date", "commit"], &["tags"])?;
        if self.options.flag("amend") {
            if self.options.get("body").is_some() || self.options.get("body-file").is_some() {
                fields.insert("body".into(), json!(self.body()?));
            }
            return Ok(self.record(&self.board.amend(version, &fields, self.expected())?));
        }
        let ids = self.options.list("fragments").unwrap_or_default();
        let (record, _) = self.board.release(version, fields, &ids, &self.body()?)?;
        Ok(self.record(&record))
    }

    pub(super) fn changelog_render(&self) -> Result<Done> {
        self.options.allow("changelog render", &["visibility", "write"], false)?;
        let (path, content) = self.board.render_changelog(self.visibility(true)?, self.options.flag("write"))?;
        let answer = json!({ "path": self.board.workspace().root().join(path), "content": content });
        Ok(Done::new(answer, content))
    }
}
