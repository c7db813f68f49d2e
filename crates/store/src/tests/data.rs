//! Key-value pairs, PersistentValues, knowledge.

use ::model::{SeededIds, SystemClock};
use serde_json::json;
use std::sync::Arc;

use crate::{DataStore, NewKnowledge, StoreError, StoreOptions};

fn store(folder: &tempfile::TempDir) -> DataStore {
    let options =
        StoreOptions { clock: Arc::new(SystemClock), ids: Arc::new(SeededIds::new(3)), ..StoreOptions::default() };
    DataStore::new(&folder.path().join("kv/project"), options)
}

#[test]
fn pairs_are_kept_and_listed_by_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let data = store(&folder);
    assert_eq!(data.kv_get("a").unwrap(), None);
    for key in ["a", "a/1", "a/2", "a/\u{10ffff}x", "b", "", "日本"] {
        data.kv_set(key, &json!({ "key": key })).unwrap();
    }
    data.kv_set("a/1", &json!(null)).unwrap();
    assert_eq!(store(&folder).kv_get("a/1").unwrap(), Some(json!(null)));
    let keys = |prefix: &str, after: Option<&str>, limit| -> Vec<String> {
        data.kv_list(prefix, after, limit).unwrap().into_iter().map(|entry| entry.key).collect()
    };
    assert_eq!(keys("a/", None, 9), ["a/1", "a/2", "a/\u{10ffff}x"]);
    assert_eq!(keys("a/", Some("a/1"), 1), ["a/2"]);
    assert_eq!(keys("", None, 100).len(), 7);
    assert_eq!(keys("日", None, 9), ["日本"]);
    assert!(data.kv_delete("a").unwrap());
    assert!(!data.kv_delete("a").unwrap());
    assert!(matches!(data.kv_set(&"k".repeat(2_000), &json!(1)), Err(StoreError::TooLarge { .. })));
    assert!(matches!(data.kv_set("k", &json!("v".repeat(17 << 20))), Err(StoreError::TooLarge { .. })));
}

#[test]
fn updates_of_a_value_are_never_lost() {
    let folder = tempfile::tempdir().unwrap();
    let data = store(&folder);
    data.set_value("p", "count", &json!(0), None, None).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let data = store(&folder);
            scope.spawn(move || {
                for _ in 0..50 {
                    loop {
                        let seen = data.value("p", "count").unwrap();
                        let next = seen.value.unwrap().as_i64().unwrap() + 1;
                        match data.set_value("p", "count", &json!(next), Some(seen.version), None) {
                            Ok(_) => break,
                            Err(StoreError::Conflict { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    let now = data.value("p", "count").unwrap();
    assert_eq!((now.version, now.value), (201, Some(json!(200))));
    assert_eq!(data.value("other project", "count").unwrap().version, 0);
    assert_eq!(data.set_value("p", "new", &json!(1), Some(0), None).unwrap(), 1);
    assert!(matches!(
        data.set_value("p", "new", &json!(1), Some(0), None),
        Err(StoreError::Conflict { seen: 0, current: 1, .. })
    ));
}

#[test]
fn knowledge_is_found_by_any_word_best_first() {
    let folder = tempfile::tempdir().unwrap();
    let data = store(&folder);
    let add = |id: Option<&str>, title: &str, text: &str, tags: &[&str]| {
        data.add_knowledge(
            "p",
            &NewKnowledge {
                id: id.map(str::to_owned),
                text: text.into(),
                title: Some(title.into()),
                tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            },
        )
        .unwrap()
    };
    add(Some("one"), "Shipping", "How invoices were shipped to customers.", &["ops"]);
    add(Some("two"), "如何开始", "先安装,然后运行项目。", &["cjk", "ops"]);
    add(Some("three"), "Other", "Nothing of the sort, but one customer.", &[]);
    let generated = add(None, "Café", "crème brûlée", &["food"]);
    assert_eq!(generated.len(), 20);
    let search = |query: &str, tags: &[&str]| -> Vec<String> {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let hits = data.search_knowledge("p", query, 10, &tags).unwrap();
        assert!(hits.is_sorted_by(|better, worse| better.score >= worse.score));
        assert!(hits.iter().all(|hit| hit.score > 0.0));
        hits.into_iter().map(|hit| hit.knowledge.id).collect()
    };
    assert_eq!(search("shipping an invoice to the customer", &[]), ["one", "three"]);
    assert_eq!(search("invoice", &[]), ["one"]);
    assert_eq!(search("运行", &[]), ["two"]);
    assert_eq!(search("怎么运行程序?", &[]), ["two"]);
    assert_eq!(search("cafe BRULEE", &[]), std::slice::from_ref(&generated));
    assert_eq!(search("customer", &["ops"]), ["one"]);
    assert_eq!(search("food", &[]), std::slice::from_ref(&generated));
    for nothing in ["", "\"", "AND OR NOT", "zzz", "*", "行运"] {
        assert_eq!(search(nothing, &[]), Vec::<String>::new(), "{nothing}");
    }
    assert_eq!(data.search_knowledge("another", "invoice", 10, &[]).unwrap(), []);

    add(Some("one"), "Changed", "Now about pigeons", &[]);
    assert_eq!(search("invoice", &[]), Vec::<String>::new());
    assert_eq!(search("pigeon", &[]), ["one"]);
    assert_eq!(data.list_knowledge("p", 10).unwrap().len(), 4);
    assert_eq!(data.list_knowledge("p", 10).unwrap()[0].id, "one");
    assert!(data.remove_knowledge("p", "one").unwrap());
    assert!(!data.remove_knowledge("p", "one").unwrap());
    assert_eq!(search("pigeon", &[]), Vec::<String>::new());
}

#[test]
fn a_call_that_is_made_again_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = store(&folder);
    let count = |value: i64, seen: u64, call: &str| data.set_value("p", "count", &json!(value), Some(seen), Some(call));
    assert_eq!(count(1, 0, "run:1:a").unwrap(), 1);
    assert_eq!(count(2, 1, "other:1:a").unwrap(), 2);
    // It never heard that it was done, and others wrote since.
    assert_eq!(count(1, 0, "run:1:a").unwrap(), 1);
    assert_eq!(data.value("p", "count").unwrap().value, Some(json!(2)));
    assert!(matches!(count(1, 0, "run:2:b"), Err(StoreError::Conflict { .. })));
}
