//! `doc …`.

use ::board::{BoardError, Kind, NewDoc, Record};

use super::{Command, Result, read_input};
use crate::board::cli::Done;
use crate::board::options::needed;

impl Command<'_> {
    pub(super) fn doc_list(&self) -> Result<Done> {
        self.options.allow("doc list", &["query", "managed", "indexed", "limit", "kind", "status"], false)?;
        let config = &self.board.config().docs;
        let (kinds, statuses) =
            (self.options.choices("kind", &config.kinds)?, self.options.choices("status", &config.statuses)?);
        let (managed, indexed) = (self.options.flag("managed"), self.options.flag("indexed"));
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        let admits = |record: &Record| {
            (!managed || record.managed)
                && (!indexed || !record.managed)
                && any(&kinds, record.document_kind())
                && any(&statuses, record.status())
        };
        self.listed(&[Kind::Doc], &admits, true)
    }

    pub(super) fn doc_create(&self) -> Result<Done> {
        let (texts, lists) = (
            ["title", "kind", "status", "source", "review_after"],
            ["owners", "related", "supersedes", "scope", "tags"],
        );
        let known = [
            "title",
            "kind",
            "status",
            "source",
            "review-after",
            "owners",
            "related",
            "supersedes",
            "scope",
            "tags",
            "folder",
            "body",
            "body-file",
            "json-input",
        ];
        self.options.allow("doc create", &known, false)?;
        let fields = self.given(&texts, &lists)?;
        if !fields.contains_key("title") {
            return Err(needed("--title"));
        }
        let body = self.body()?;
        Ok(self.record(&self.board.create_doc(NewDoc { fields, folder: self.options.get("folder"), body: &body })?))
    }

    pub(super) fn doc_move(&self) -> Result<Done> {
        self.options.allow("doc move", &["folder", "expected-revision"], false)?;
        let folder = self
            .options
            .get("folder")
            .ok_or_else(|| BoardError::new("DOC_FOLDER_REQUIRED", "`--folder` is needed; `.` is the root"))?;
        Ok(self.record(&self.board.move_doc(self.id()?, folder, self.expected())?))
    }

    pub(super) fn doc_write(&self) -> Result<Done> {
        self.options.allow("doc write", &["body-file", "expected-revision"], false)?;
        let body = read_input(self.options.get("body-file").unwrap_or("-"))?;
        Ok(self.record(&self.board.write_doc(self.id()?, &body, self.expected())?))
    }

    pub(super) fn doc_note(&self) -> Result<Done> {
        self.options.allow("doc note", &["text", "section", "actor"], false)?;
        let (id, text) = (self.id()?, self.options.needed("text")?);
        Ok(self.record(&self.board.note_doc(id, text, self.options.get("section"), &self.actor())?))
    }
}
