//! The cases of the strict contract and of the file dialect, each in a real worker process.

use std::path::Path;

use workflow_code_tests::{executable, script_cases};

/// Runs a folder's cases; all must pass but those named here, and those must not.
#[track_caller]
fn check(folder: &str, count: usize, not_yet: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(folder);
    let reports = script_cases::run_folder(&executable(), &folder, None).expect("the cases are readable");
    assert_eq!(reports.len(), count);
    let mut wrong = String::new();
    for report in reports {
        if report.problems.is_empty() == not_yet.contains(&report.name.as_str()) {
            wrong.push_str(&format!("{}: {:#?}\n", report.name, report.problems));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What the longer scripts do, and how that is seen in their text.
const FEATURES: [(&str, &str); 27] = [
    ("`meta` in full", r"whenToUse:[\s\S]*phases:"),
    ("phases as texts", r"phases: \['"),
    ("`phase()`", r"\bphase\("),
    ("`log()`", r"\blog\("),
    ("`args`", r"\bargs\b"),
    ("`args` as text", r"typeof (args|want) === 'string'"),
    ("`parallel` of a list", r"parallel\([\w.\[\]]*(\.\w+\([^)]*\))?\.?map|parallel\(\w+\(?[^)]*\)?\.map"),
    ("`parallel` of functions", r"parallel\(\[\n"),
    ("`pipeline`", r"\bpipeline\("),
    ("`parallel` inside a stage", r"=> parallel\(|await parallel\(found"),
    ("`Promise.race`, timers", r"Promise\.race"),
    ("schema: array at the root", r"= \{\s*type: 'array'"),
    ("schema: `minItems`", r"minItems"),
    ("schema: `enum` without `type`", r"\{ enum: \["),
    ("schema: `pattern`", r"pattern: '"),
    ("schema: bounds", r"minimum: "),
    ("schema: list of types", r"type: \['"),
    ("loop until dry or good", r"\bwhile \(|for \((let \w+ = 1; ; |let round = 1; round <= rounds)"),
    ("votes and panels", r"votes?\b.*filter|mean\(|enough"),
    ("dedupe by `Set` or `Map`", r"new (Set|Map)\("),
    ("second attempts by hand", r"\(again\)|instead`|fails again"),
    ("`.filter(Boolean)`", r"\.filter\(Boolean\)"),
    ("`try` around agents", r"try \{\s*await (agent|workflow)|try \{ await pipeline"),
    ("`budget`", r"\bbudget\."),
    ("`workflow()`", r"\bworkflow\('"),
    ("model, effort", r"\b(model|effort): "),
    ("TypeScript", r"\binterface \w+ \{"),
];

/// The table of features and scripts, as it stands in `cases/long/README.md`.
fn table(folder: &Path) -> String {
    let mut scripts: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("a folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "js" || ending == "ts"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a script"))
        })
        .collect();
    scripts.sort();
    let mut table = String::from("| what | scripts |\n|---|---|\n");
    for (what, pattern) in FEATURES {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        let names: Vec<String> =
            scripts.iter().filter(|(_, text)| pattern.is_match(text)).map(|(name, _)| format!("`{name}`")).collect();
        assert!(!names.is_empty(), "no script shows {what}");
        table.push_str(&format!("| {what} | {} |\n", names.join(" ")));
    }
    for (name, _) in &scripts {
        assert!(table.contains(&format!("`{name}`")), "{name} shows nothing");
    }
    table
}

#[test]
fn twenty_longer_scripts() {
    check("long", 20, &[]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/long");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let table = table(&folder);
    assert!(readme.contains(&table), "the table of cases/long/README.md is to be:\n{table}");
}

#[test]
fn the_strict_contract() {
    check("script", 142, &[]);
}

#[test]
fn the_file_dialect() {
    check("dialect", 25, &[]);
}
