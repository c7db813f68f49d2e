//! The map of edge cases (docs/guided-edge-cases.md) is complete, and every test it names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Names of tests in a folder, as `module::test`.
fn tests_in(folder: &Path, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        let Some(module) = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".rs"))
        else {
            continue;
        };
        let text = fs::read_to_string(&path).expect("read");
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            if line == "#[test]" {
                is_test = true;
            } else if let Some(rest) = line.strip_prefix("fn ") {
                if is_test && let Some((name, _)) = rest.split_once('(') {
                    found.insert(format!("{prefix}{module}::{name}"));
                }
                is_test = false;
            }
        }
    }
    found
}

#[test]
fn every_row_is_there_and_names_what_exists() {
    let root = workspace();
    let mut tests = tests_in(&root.join("crates/guided/src"), "");
    tests.extend(tests_in(&root.join("src-launcher/src/guided"), ""));
    tests.extend(tests_in(&root.join("tests/end_to_end"), "end_to_end::"));
    let mut expected: Vec<String> = (1..=236).map(|number: u32| number.to_string()).collect();
    let after = expected.iter().position(|number| number == "140").expect("there") + 1;
    expected.splice(after..after, ["140a", "140b", "140c", "140d"].map(String::from));
    let map = fs::read_to_string(root.join("docs/guided-edge-cases.md")).expect("read");
    let mut rows = Vec::new();
    for line in map.lines().filter(|line| line.starts_with(|one: char| one == '|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let Some(number) = cells.first().filter(|cell| cell.starts_with(|one: char| one.is_ascii_digit())) else {
            continue;
        };
        let shown = cells.last().expect("a cell");
        let named: Vec<&str> =
            shown.split('`').skip(1).step_by(2).filter(|text| text.contains("::") && !text.contains(' ')).collect();
        assert!(!named.is_empty() || shown.starts_with("reason: "), "row {number} has neither a test nor a reason");
        for name in named {
            assert!(tests.contains(name), "row {number} names `{name}`, which is no test");
        }
        rows.push((*number).to_owned());
    }
    assert_eq!(rows, expected);
}
