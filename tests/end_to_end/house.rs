//! What the documents say of the house is so.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crates of ours that a crate's code knows, by the names that the others use.
fn known(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let dependencies = text.split("\n[").find_map(|part| part.strip_prefix("dependencies]")).unwrap_or_default();
    let ours = |line: &str| {
        let name = line.split(['.', ' ', '=']).next()?;
        let name = name.strip_prefix("workflow-").unwrap_or(name);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name);
        (!name.is_empty() && folder.is_dir()).then(|| name.to_owned())
    };
    dependencies.lines().filter_map(ours).collect()
}

#[test]
fn the_rooms_know_whom_the_page_on_architecture_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/architecture.md")).expect("the page");
    let mut rooms = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| `crates/")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let room = cells[0].trim_matches('`').to_owned();
        let said = cells[2].split(", ").filter(|name| *name != "nothing of ours").map(str::to_owned).collect();
        assert_eq!(known(&root.join(&room).join("Cargo.toml")), said, "{room}");
        rooms.insert(room);
    }
    let there = fs::read_dir(root.join("crates")).expect("crates").map(|entry| entry.expect("one").file_name());
    let there: BTreeSet<String> = there.map(|name| format!("crates/{}", name.to_string_lossy())).collect();
    assert_eq!(there, rooms, "each crate has its row");
}
