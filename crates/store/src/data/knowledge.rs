//! The local knowledge base: texts of a project, found by any of their words, the best match first.
//!
//! English words are found in their inflected forms (Porter's stemmer), CJK words anywhere in a text.

use model::TimestampMs;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::json;

use crate::body::parse;
use crate::data::{DataStore, KEY_BYTES, checked};
use crate::database::Outcome;
use crate::text::{any_word, segmented};
use crate::{Durability, Result};

/// Bytes of one text.
const TEXT_BYTES: usize = 4 * 1024 * 1024;
/// Most results of one search or list.
const MOST: usize = 1_000;

/// A text to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewKnowledge {
    /// Its id; a known one is replaced. `None`: a new one is made.
    pub id: Option<String>,
    /// The text.
    pub text: String,
    /// Its title.
    pub title: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

/// A text that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knowledge {
    /// Its id.
    pub id: String,
    /// The text.
    pub text: String,
    /// Its title.
    pub title: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was added or replaced.
    pub added_at: TimestampMs,
}

/// A text that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct KnowledgeHit {
    /// How well it matches; more is better.
    pub score: f64,
    /// The text.
    pub knowledge: Knowledge,
}

pub(crate) const LIST: &str = "SELECT id, text, title, tags, added_at \
     FROM knowledge INDEXED BY knowledge_by_time WHERE project = ?1 ORDER BY added_at DESC, key DESC LIMIT ?2";

/// A title counts three times as much as the text, a tag twice.
pub(crate) const SEARCH: &str = "SELECT knowledge.id, knowledge.text, knowledge.title, knowledge.tags, \
     knowledge.added_at, knowledge_text.rank \
     FROM knowledge_text CROSS JOIN knowledge ON knowledge.key = knowledge_text.rowid \
     WHERE knowledge_text MATCH ?1 AND knowledge_text.rank MATCH 'bm25(3.0, 1.0, 2.0)' AND knowledge.project = ?2 \
     ORDER BY knowledge_text.rank";

fn knowledge(row: &Row<'_>) -> Outcome<Knowledge> {
    Ok(Knowledge {
        id: row.get(0)?,
        text: row.get(1)?,
        title: row.get(2)?,
        tags: parse(&row.get::<_, String>(3)?, "tags")?,
        added_at: row.get(4)?,
    })
}

fn key(connection: &Connection, project: &str, id: &str) -> Outcome<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT key FROM knowledge WHERE project = ?1 AND id = ?2")?
        .query_row((project, id), |row| row.get(0))
        .optional()?)
}

impl DataStore {
    /// Keeps a text of a project, which is named by its UUID. Returns the text's id.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::TooLarge`] for a text over 4 MiB, or an id, a title or tags over 1 KiB.
    pub fn add_knowledge(&self, project: &str, new: &NewKnowledge) -> Result<String> {
        let tags = json!(new.tags).to_string();
        checked("a text", &new.text, TEXT_BYTES)?;
        checked("a title", new.title.as_deref().unwrap_or(""), KEY_BYTES)?;
        checked("an id", new.id.as_deref().unwrap_or(""), KEY_BYTES)?;
        checked("the tags", &tags, KEY_BYTES)?;
        let id = new.id.clone().unwrap_or_else(|| {
            let mut bytes = [0; 10];
            self.options.ids.fill(&mut bytes);
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        });
        let words =
            [segmented(new.title.as_deref().unwrap_or("")), segmented(&new.text), segmented(&new.tags.join(" "))];
        let (project, text, title) = (project.to_owned(), new.text.clone(), new.title.clone());
        let options = self.options.clone();
        self.database.write(Durability::Power, move |connection| {
            let now = options.clock.now();
            let key = match key(connection, &project, &id)? {
                Some(key) => {
                    connection
                        .prepare_cached(
                            "UPDATE knowledge SET text = ?2, title = ?3, tags = ?4, added_at = ?5 WHERE key = ?1",
                        )?
                        .execute((key, &text, &title, &tags, now))?;
                    key
                }
                None => {
                    connection
                        .prepare_cached(
                            "INSERT INTO knowledge (project, id, text, title, tags, added_at) \
                             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                        )?
                        .execute((&project, &id, &text, &title, &tags, now))?;
                    connection.last_insert_rowid()
                }
            };
            let [title, text, tags] = &words;
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO knowledge_text (rowid, title, text, tags) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute((key, title, text, tags))?;
            Ok(id.clone())
        })
    }

    /// Returns at most `limit` texts that hold any of the words of `query` and all of `tags`, the best first.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn search_knowledge(
        &self,
        project: &str,
        query: &str,
        limit: usize,
        tags: &[String],
    ) -> Result<Vec<KnowledgeHit>> {
        let Some(words) = any_word(query) else { return Ok(Vec::new()) };
        self.database.read_together(|connection| {
            let mut statement = connection.prepare_cached(SEARCH)?;
            let mut rows = statement.query((words, project))?;
            let mut hits = Vec::new();
            while hits.len() < limit.min(MOST)
                && let Some(row) = rows.next()?
            {
                let found = knowledge(row)?;
                if tags.iter().all(|tag| found.tags.contains(tag)) {
                    // SQLite's rank is better the lower it is.
                    hits.push(KnowledgeHit { score: -row.get::<_, f64>(5)?, knowledge: found });
                }
            }
            Ok(hits)
        })
    }

    /// Removes a text. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// The database could not be written.
    pub fn remove_knowledge(&self, project: &str, id: &str) -> Result<bool> {
        let (project, id) = (project.to_owned(), id.to_owned());
        self.database.write(Durability::Power, move |connection| {
            let Some(key) = key(connection, &project, &id)? else { return Ok(false) };
            connection.prepare_cached("DELETE FROM knowledge_text WHERE rowid = ?1")?.execute([key])?;
            connection.prepare_cached("DELETE FROM knowledge WHERE key = ?1")?.execute([key])?;
            Ok(true)
        })
    }

    /// Returns at most `limit` texts of a project, the newest first.
    ///
    /// # Errors
    ///
    /// The database could not be read.
    pub fn list_knowledge(&self, project: &str, limit: usize) -> Result<Vec<Knowledge>> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(LIST)?;
            let mut rows = statement.query((project, i64::try_from(limit.min(MOST)).unwrap_or(0)))?;
            let mut texts = Vec::new();
            while let Some(row) = rows.next()? {
                texts.push(knowledge(row)?);
            }
            Ok(texts)
        })
    }
}
