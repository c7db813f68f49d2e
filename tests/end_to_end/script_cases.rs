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

#[test]
fn the_strict_contract() {
    check("script", 142, &[]);
}

#[test]
fn the_file_dialect() {
    check("dialect", 25, &[]);
}
