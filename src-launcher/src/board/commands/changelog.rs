//! `changelog …`.

use ::board::{Kind, Record};
use serde_json::json;

use super::{Command, Result};
use crate::board::cli::Done;
use crate::board::options::needed;

impl Command<'_> {
    pub(super) fn changelog_list(&self) -> Result<Done> {
        self.options.allow("changelog list", &["query", "unreleased", "limit", "type", "area", "visibility"], false)?;
        let list = |name: &str| self.options.list(name).unwrap_or_default();
        let (types, areas, visibilities, unreleased) =
            (list("type"), list("area"), list("visibility"), self.options.flag("unreleased"));
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        let admits = |record: &Record| {
            !(unreleased && (record.kind == Kind::Release || record.released))
                && any(&types, record.text("type"))
                && any(&areas, record.text("area"))
                && any(&visibilities, record.text("visibility"))
        };
        self.listed(&[Kind::Change, Kind::Release], &admits, false)
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
        let answer = self.board.preview(&ids, self.options.get("visibility"))?;
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
        let (path, content) =
            self.board.render_changelog(self.options.get("visibility"), self.options.flag("write"))?;
        let answer = json!({ "path": self.board.workspace().root().join(path), "content": content });
        Ok(Done::new(answer, content))
    }
}
