//! The map of edge cases (docs/board-edge-cases.md) is complete, and every test it names exists.

use std::fs;
use std::path::Path;

/// Rows of the map.
const CASES: usize = 213;

fn sources(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push_str(&fs::read_to_string(&path).expect("read"));
        }
    }
}

#[test]
fn every_case_is_shown_by_a_test_that_exists_or_has_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = fs::read_to_string(root.join("docs/board-edge-cases.md")).expect("read");
    let mut code = String::new();
    for folder in ["crates/board/src", "crates/board/tests", "crates/mcp/src", "src-launcher/src/board"] {
        sources(&root.join(folder), &mut code);
    }
    let mut next = 1;
    for line in map.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let Some(number) = cells.first().and_then(|cell| cell.parse::<usize>().ok()) else { continue };
        assert_eq!(number, next, "cases stand in their order, each once");
        next += 1;
        let shown = cells.last().copied().unwrap_or("");
        let names: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty() || shown.starts_with("no test: "), "case {number} names no test and no reason");
        for name in names {
            let function = name.rsplit("::").next().unwrap_or(name);
            assert!(code.contains(&format!("fn {function}(")), "case {number} names `{name}`, which does not exist");
        }
    }
    assert_eq!(next - 1, CASES);
}
