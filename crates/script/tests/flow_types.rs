//! `flow.d.ts` is the one description of `flow`: every member it declares is there, with as many parameters, and
//! returns a promise exactly if it says so; and nothing else is there.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

mod common;

use std::collections::BTreeMap;

use common::{Reply, TestHost, job_with_body, run};
use serde_json::{Value, json};
use workflow_script::{CallKind, FLOW_TYPES, Outcome};

/// A declared method: how many named parameters, and whether it returns a promise.
type Methods = BTreeMap<String, (usize, bool)>;

/// Reads the methods of an interface, and the names of its `readonly` members.
fn interface(name: &str) -> (Methods, Vec<String>) {
    let start = [" ", "<"]
        .iter()
        .find_map(|next| FLOW_TYPES.find(&format!("export interface {name}{next}")))
        .unwrap_or_else(|| panic!("no interface {name}"));
    let body = &FLOW_TYPES[start..start + FLOW_TYPES[start..].find("\n}").expect("an end")];
    let (mut methods, mut members) = (Methods::new(), Vec::new());
    for line in body.lines().skip(1).map(str::trim) {
        if let Some(rest) = line.strip_prefix("readonly ") {
            members.push(rest.split(':').next().expect("a name").to_owned());
        } else if !line.starts_with("/**") && line.ends_with(';') {
            let name_end = line.find(['<', '(']).expect("a method");
            let open = name_end + line[name_end..].find('(').expect("parameters");
            let (parameters, returned) = split_parameters(&line[open + 1..]);
            methods.insert(line[..name_end].to_owned(), (parameters, returned.contains("Promise<")));
        }
    }
    (methods, members)
}

/// Counts the parameters up to the closing parenthesis, without a rest parameter; gives what stands behind it.
fn split_parameters(text: &str) -> (usize, &str) {
    let (mut depth, mut parts, mut start) = (0_i32, Vec::new(), 0);
    for (index, character) in text.char_indices() {
        match character {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' if depth == 0 => {
                parts.push(&text[start..index]);
                let count =
                    parts.iter().filter(|part| !part.trim().is_empty() && !part.trim().starts_with("...")).count();
                return (count, &text[index + 1..]);
            }
            // The arrow of a function type closes nothing.
            '>' if text[..index].ends_with('=') => {}
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    panic!("no end: {text}");
}

/// Calls of every method that are right, so that what they return can be looked at.
const CALLS: &str = "
const file = { file: 'f', name: 'n', size: 1, mediaType: 't' };
const calls = {
  Flow: [flow, {
    phase: ['p'], log: ['m'], progress: [1], step: ['s', () => 1], agent: ['p'], parallel: [[]], pipeline: [[], (x) => x],
    form: [{ title: 't', fields: {} }], approve: [{ tool: 't' }], exec: ['p'], http: [{ url: 'u' }], value: ['v'],
    related: ['a'], env: ['E'], secret: ['S'], fail: undefined,
  }],
  Kv: [flow.kv, { get: ['k'], set: ['k', 1], delete: ['k'], list: [] }],
  Value: [flow.value('v'), { get: [], set: [1], update: [(x) => x] }],
  Knowledge: [flow.knowledge, { add: [{ text: 't' }], search: ['q'], remove: ['i'], list: [] }],
  Files: [flow.files, { info: [file], readText: [file], readBytes: [file], create: ['n', 'd'], list: [] }],
  Related: [flow.related('a'), { run: ['e'] }],
};
const found = {};
for (const [name, [object, table]] of Object.entries(calls)) {
  found[name] = {};
  for (const key of Object.keys(object)) {
    if (typeof object[key] !== 'function') { found[name][key] = typeof object[key]; continue; }
    const args = table[key];
    let returned;
    if (args !== undefined) { returned = object[key](...args); await returned; }
    found[name][key] = [object[key].length, returned instanceof Promise];
  }
}
return found;
";

#[test]
fn the_declared_flow_is_the_real_one() {
    let mut host = TestHost::new(|call| {
        Reply::Value(match call.kind {
            CallKind::FilesReadBytes => json!({"base64": "aGk="}),
            CallKind::ValueGet => json!({"value": null, "revision": 0}),
            CallKind::ValueCas => json!(true),
            _ => Value::Null,
        })
    });
    let Outcome::Success(found) = run(&job_with_body(CALLS), &mut host) else {
        panic!("the calls of the test are wrong")
    };
    for name in ["Flow", "Kv", "Value", "Knowledge", "Files", "Related"] {
        let (methods, members) = interface(name);
        assert!(!methods.is_empty(), "{name}");
        let real = found[name].as_object().expect("an object");
        let mut declared = serde_json::Map::new();
        for (key, (parameters, promise)) in methods {
            declared.insert(key, json!([parameters, promise]));
        }
        for key in members {
            declared.insert(key, json!("object"));
        }
        let sorted = |map: &serde_json::Map<String, Value>| map.clone().into_iter().collect::<BTreeMap<_, _>>();
        assert_eq!(sorted(real), sorted(&declared), "{name}");
    }
}

#[test]
fn the_reader_of_this_test_reads() {
    assert_eq!(split_parameters("name: string, fn: (flow: Flow, x: A<B, C>) => T): Promise<T>;"), (2, ": Promise<T>;"));
    assert_eq!(split_parameters("items: any[], ...stages: ((a: any, b: any) => any)[]): Promise<any[]>;").0, 1);
    assert_eq!(split_parameters("): Promise<void>;"), (0, ": Promise<void>;"));
}
