//! What creating and changing a record have in common, whatever its family: fields in their order, an id, a file.

use serde_json::{Map, Value, json};

use crate::allocate::Ids;
use crate::board::{Board, Fields, Held, as_list, as_text};
use crate::error::{BoardError, Result};
use crate::front_matter::{Text, is_empty};
use crate::record::Whole;
use crate::{files, paths};

/// The fields of a family.
pub(crate) struct Form {
    /// In the order of a new record's header; `""` is where fields stand that a project declares itself.
    pub(crate) order: &'static [&'static str],
    /// Those that are lists.
    pub(crate) lists: &'static [&'static str],
}

/// A record to be made.
pub(crate) struct New<'a> {
    pub(crate) ids: Ids<'a>,
    pub(crate) folder: &'a str,
    /// Its file's name, from id and title.
    pub(crate) name: fn(&str, &str) -> String,
    pub(crate) header: Fields,
    pub(crate) body: &'a str,
    /// What to say when there is such a file already.
    pub(crate) taken: &'static str,
    /// A last look at the header, with its id.
    pub(crate) check: fn(&str, &Fields) -> Result<()>,
}

impl Form {
    /// A value in the form its field has.
    pub(crate) fn value(&self, key: &str, value: &Value) -> Value {
        if self.lists.contains(&key) { as_list(value) } else { as_text(value) }
    }

    /// Takes a new record's header out of what was given. What is empty is left out, unless it has a default.
    pub(crate) fn header(&self, fields: &mut Fields, own: &Fields, default: &dyn Fn(&str) -> Option<String>) -> Fields {
        let mut header = Map::new();
        for key in self.order {
            if key.is_empty() {
                header.extend(own.clone());
                continue;
            }
            let value = self.value(key, &fields.remove(*key).unwrap_or(Value::Null));
            let value = if is_empty(&value) { default(key).map(Value::String) } else { Some(value) };
            if let Some(value) = value.filter(|value| !is_empty(value)) {
                header.insert((*key).to_owned(), value);
            }
        }
        header
    }

    /// What is to be changed, without the body; refused when it holds what is not changed this way.
    pub(crate) fn changes(&self, changes: &Fields, refused: &'static str) -> Result<Fields> {
        let known = |key: &str| key == "body" || self.order.contains(&key) || self.lists.contains(&key);
        if let Some(key) = changes.keys().find(|key| key.is_empty() || !known(key)) {
            return Err(
                BoardError::new(refused, format!("`{key}` is not changed this way")).with(json!({ "fields": [key] }))
            );
        }
        let fields = changes.iter().filter(|(key, _)| *key != "body");
        Ok(fields.map(|(key, value)| (key.clone(), self.value(key, value))).collect())
    }
}

impl Board {
    /// Makes a record: an id nobody else has, a file that was not there.
    pub(crate) fn create(&self, mut new: New<'_>) -> Result<Whole> {
        let reserved = self.reserve(&new.ids)?;
        let mut header = Map::from_iter([("id".to_owned(), json!(reserved.id))]);
        header.append(&mut new.header);
        header.insert("created".into(), json!(self.today()));
        header.insert("updated".into(), json!(self.today()));
        (new.check)(&reserved.id, &header)?;
        let source = Text::new(&header, new.body)?.render();
        let title = header.get("title").and_then(Value::as_str).unwrap_or("");
        let path = paths::join(new.folder, &(new.name)(&reserved.id, title));
        if !files::create(&self.workspace().at(&path), &source)? {
            return Err(BoardError::new(new.taken, format!("there is a file `{path}` already")));
        }
        self.touched(&path);
        self.parse(&path, &source)
    }

    /// Writes changed fields, and the body when it was given, with today's date.
    pub(crate) fn change(&self, mut held: Held, fields: &Fields, body: Option<&Value>) -> Result<Whole> {
        for (key, value) in fields {
            held.text.set(key, value)?;
        }
        if let Some(body) = body {
            held.text.set_body(body.as_str().unwrap_or(""));
        }
        held.text.set("updated", &json!(self.today()))?;
        self.put(&held, None)
    }
}
