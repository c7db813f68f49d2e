//! `memory …`.

use ::board::{BoardError, Collection, Kind, Record};

use super::{Command, Result};
use crate::board::cli::Done;
use crate::board::options::needed;

impl Command<'_> {
    /// A collection by its name or its singular.
    pub(super) fn collection(name: &str) -> String {
        Collection::named_loosely(name).map_or_else(|| name.to_owned(), |one| one.name().to_owned())
    }

    pub(super) fn memory_list(&self) -> Result<Done> {
        self.options.allow("memory list", &["query", "collection", "status", "limit"], false)?;
        let all = Collection::ALL;
        let names: Vec<&str> = all.iter().flat_map(|one| [one.name(), one.singular()]).collect();
        let collections: Vec<String> =
            self.options.choices("collection", &names)?.iter().map(|name| Self::collection(name)).collect();
        let known: Vec<&str> = all.iter().flat_map(|one| one.statuses().iter().copied()).collect();
        let statuses = self.options.choices("status", &known)?;
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|one| one == value);
        let admits = |record: &Record| any(&collections, record.record_type()) && any(&statuses, record.status());
        self.listed(&[Kind::Memory], &admits, true)
    }

    pub(super) fn memory_add(&self) -> Result<Done> {
        let texts = [
            "title",
            "status",
            "category",
            "confidence",
            "occurrences",
            "severity",
            "started_at",
            "resolved_at",
            "expires",
            "review_after",
        ];
        let lists =
            ["deciders", "related", "supersedes", "graduated_to", "corrective_actions", "scope", "owners", "tags"];
        let dashed: Vec<String> = texts.iter().chain(&lists).map(|name| name.replace('_', "-")).collect();
        let mut known: Vec<&str> = dashed.iter().map(String::as_str).collect();
        known.extend(["collection", "json-input", "body", "body-file"]);
        self.options.allow("memory add", &known, false)?;
        let collection = match (self.options.get("collection"), self.options.words.get(2)) {
            (Some(_), Some(_)) => {
                return Err(BoardError::new("CLI_ARGUMENT_CONFLICT", "a collection is a word or `--collection`"));
            }
            (Some(name), None) => Self::collection(name),
            (None, _) => Self::collection(self.options.word(2, "a collection")?),
        };
        let fields = self.given(&texts, &lists)?;
        if !fields.contains_key("title") {
            return Err(needed("--title"));
        }
        Ok(self.record(&self.board.add_memory(&collection, fields, &self.body()?)?))
    }

    pub(super) fn memory_graduate(&self) -> Result<Done> {
        self.options.allow("memory graduate", &["to", "expected-revision"], false)?;
        let targets = self.options.list("to").unwrap_or_default();
        Ok(self.record(&self.board.graduate(self.id()?, &targets, self.expected())?))
    }

    pub(super) fn memory_supersede(&self) -> Result<Done> {
        self.options.allow("memory supersede", &["by", "expected-revision"], false)?;
        let (record, _) = self.board.supersede(self.id()?, self.options.needed("by")?, self.expected())?;
        Ok(self.record(&record))
    }
}
