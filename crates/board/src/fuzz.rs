//! What fuzzing feeds with bytes. Each function takes anything, and fails when the room breaks a promise.
//!
//! Not part of the interface. Not here: making the bytes.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::files::Stamp;
use crate::front_matter::{Text, body_of, is_empty, trimmed};
use crate::header::{Bytes, Header};
use crate::index::{Index, place_of};
use crate::lexicon::Lexicon;
use crate::paths::folded;
use crate::record::Record;
use crate::search::{Searched, search};
use crate::{literal, markdown, repair, terms};

/// The longest input that is looked at: what is promised is promised for every length, and long ones only take time.
const MOST: usize = 64 * 1024;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(MOST)]).into_owned()
}

/// Records: what is not changed stays byte for byte, what is changed is read back, and nothing drifts.
pub fn front_matter(bytes: &[u8]) {
    let source = text(bytes);
    let config = Config::default();
    for path in [".project/cards/T-0001-x.md", ".project/docs/x.md", ".project/memory/learnings/x.md"] {
        let Some(place) = place_of(path, &config) else { continue };
        let read = place.read(&source, Stamp::default());
        if let Ok(record) = &read {
            assert_eq!(record.body, body_of(&source), "a body read alone is the same");
        }
        let Some(parsed) = Text::parse(&source, place.kind.lists()) else { continue };
        assert_eq!(parsed.render(), source, "read and written, it is the same");
        let fields = parsed.fields();
        if let Ok(record) = &read {
            assert_eq!(record.body, trimmed(parsed.body()));
            let map = record.fields.to_map();
            assert_eq!(map, fields, "a header is kept as it was read");
            let mut written = Vec::new();
            record.write(&mut written);
            let mut bytes = Bytes(&written);
            let again = Record::read(&mut bytes, Stamp::default()).expect("what was written is read");
            assert!(bytes.0.is_empty() && again.fields.to_map() == map && again.id == record.id);
        }
        set_one(&parsed, place.kind.lists(), "updated", &json!("2026-01-31"));
        set_one(&parsed, place.kind.lists(), "tags", &json!(["one", "two, three", "# four"]));
        let mut with_body = parsed.clone();
        with_body.set_body("Another\n\nbody.");
        let again = Text::parse(&with_body.render(), place.kind.lists()).expect("it still has a header");
        assert_eq!((again.fields(), again.body().replace("\r\n", "\n").as_str()), (fields, "Another\n\nbody."));
    }
    bodies(&source);
}

/// Sets one key, which changes no other.
fn set_one(parsed: &Text, lists: &[&str], key: &str, value: &Value) {
    let mut changed = parsed.clone();
    if changed.set(key, value).is_err() {
        // Deeper than is understood, and refused; nothing was touched.
        return assert_eq!(changed.render(), parsed.render());
    }
    let written = changed.render();
    let again = Text::parse(&written, lists).expect("it still has a header");
    assert_eq!(again.render(), written);
    let (before, after) = (parsed.fields(), again.fields());
    assert_eq!(after.get(key), Some(value), "what was set is read");
    for (other, value) in before.iter().filter(|(other, _)| *other != key) {
        assert_eq!(after.get(other), Some(value), "`{other}` is left alone");
    }
    let mut cleared = again;
    cleared.set(key, &Value::Null).expect("a key that was set can be removed");
    assert!(is_empty(cleared.fields().get(key).unwrap_or(&Value::Null)) || before.get(key).is_some());
}

/// What is done with bodies: criteria, links, trails, protected sections.
fn bodies(source: &str) {
    let read = markdown::acceptance(source);
    for item in &read.items {
        let ticked = markdown::tick(source, item.line, !item.checked);
        let again = markdown::acceptance(&ticked);
        assert_eq!(again.items.len(), read.items.len());
        assert_eq!(again.items[item.index - 1].checked, !item.checked);
    }
    let found = markdown::pointers(source);
    assert!(found.mentions.iter().all(|id| markdown::is_id(id)));
    let (kept, _) = markdown::replace_body(source, source, "\n");
    let (again, ignored) = markdown::replace_body(&kept, &kept, "\n");
    assert!(ignored.is_empty() && again == kept, "a body written twice is the same");
    let (_, count) = repair::stray_trail(source);
    assert!(count <= source.lines().count());
}

/// Configurations: data or a reason; what is taken can be told, and is told the same again.
pub fn configuration(bytes: &[u8]) {
    let source = text(bytes);
    let value = match literal::exported(&source) {
        Ok(value) => value,
        Err(reason) => return assert!(!reason.is_empty()),
    };
    let plain = format!("export default {value};");
    assert_eq!(literal::exported(&plain).as_ref(), Ok(&value), "JSON is a literal too");
    match Config::from_value(value) {
        Ok(config) => assert!(config.schema().is_object()),
        Err(error) => assert!(error.code.starts_with("CONFIG_"), "{}", error.code),
    }
}

/// Queries: the first line is one, the rest is a body to look in. What is found has something of what was asked.
pub fn queries(bytes: &[u8]) {
    let source = text(bytes);
    let (query, body) = source.split_once('\n').unwrap_or((&source, "Paper ledger of the corner shop. 支付 é"));
    let bodies = [body.to_owned(), "Nothing of it".to_owned()];
    let (mut index, mut lexicon) = (Index::default(), Lexicon::new());
    for (number, body) in bodies.iter().enumerate() {
        let id = format!("T-000{}", number + 1);
        let fields = Map::from_iter([
            ("id".to_owned(), json!(id)),
            ("title".to_owned(), json!("Paper")),
            ("tags".to_owned(), json!(["a"])),
        ]);
        let Some(place) = place_of(&format!(".project/cards/{id}.md"), &Config::default()) else { continue };
        let Ok(source) = Text::new(&fields, body).map(|text| text.render()) else { continue };
        let Ok(card) = place.read(&source, Stamp::default()) else { continue };
        let words = terms::of(&card);
        let slot = index.insert(Arc::new(card.into_record()));
        lexicon.add(slot, &folded("Paper"), words.into_iter());
    }
    let read = |at: usize| bodies[at].clone();
    let searched = Searched { index: &index, lexicon: &lexicon, body: &read };
    match search(&searched, query, &[], 10) {
        Ok(found) => {
            assert!(found.hits.len() == found.total && found.total <= 2);
            let one = search(&searched, query, &[], 1).expect("it was understood before");
            assert_eq!(
                (one.total, one.hits.first().map(|hit| hit.at)),
                (found.total, found.hits.first().map(|hit| hit.at))
            );
        }
        Err(error) => assert_eq!(error.code, "SEARCH_REGEX_INVALID"),
    }
}

/// What another process may have left in the shared index: read, or not, and never more than is there.
pub fn index_records(bytes: &[u8]) {
    let mut rest = Bytes(bytes);
    if let Some(record) = Record::read(&mut rest, Stamp::default()) {
        let _ = (record.file(), record.status().len(), record.updated().len(), record.field_references().len());
        let _ = record.fields.to_map();
        let mut written = Vec::new();
        record.write(&mut written);
        assert!(Record::read(&mut Bytes(&written), Stamp::default()).is_some());
    }
    if let Some(header) = Header::read(&mut Bytes(bytes)) {
        let _ = header.to_map();
    }
    assert!(terms::read(bytes).count() <= bytes.len() / 6);
}
