//! `cargo xtask test --conformance`: the protocol's own suite against the server, through a loopback bridge.
//!
//! `tests/conformance` holds the bridge, the project it serves and the failures that are expected (their reasons are in
//! `docs/conformance.md`). The suite fails for a failure that is not expected, and for an expected one that passes.

use std::fs;
use std::io::{BufRead, BufReader};

use workflow_code_tests::{Environment, executable};

use crate::install::{self, NodePackages};
use xtask::shell::{self, Outcome};

/// The revisions that the suite has requirements for, oldest first.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

pub(crate) fn run() -> Outcome {
    let node = install::node_packages()?;
    let mut failed = Vec::new();
    for revision in REVISIONS {
        if !conforms(&node, revision)? {
            failed.push(revision);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("other results than expected for {}", failed.join(" and "))) }
}

/// Runs the requirements of one revision and prints the score; tells whether all results are as expected.
fn conforms(node: &NodePackages, revision: &str) -> Outcome<bool> {
    let problem = |error: std::io::Error| error.to_string();
    let folder = shell::root().join("tests").join("conformance");
    let environment = Environment::new().map_err(problem)?;
    let data = environment.home().join("data");
    let project = folder.join("project");
    let bridge = folder.join("bridge.mjs");
    let arguments = [
        bridge.as_os_str(),
        executable().as_os_str(),
        "mcp".as_ref(),
        project.as_os_str(),
        "--data-dir".as_ref(),
        data.as_os_str(),
    ]
    .map(ToOwned::to_owned);
    let mut bridge = environment.start(&node.node, &arguments).map_err(problem)?;
    let mut url = String::new();
    let stdout = bridge.stdout.take().ok_or("the bridge has no output")?;
    BufReader::new(stdout).read_line(&mut url).map_err(problem)?;
    let expected = folder.join(format!("expected-failures-{revision}.yaml"));
    let suite = node.file("@modelcontextprotocol/conformance/dist/index.js");
    let report = shell::target().join("conformance").join(format!("{revision}.txt"));
    let results = environment.home().join("results");
    let arguments = [
        suite.to_string_lossy().into_owned(),
        "server".into(),
        "--url".into(),
        url.trim().to_owned(),
        "--requirements".into(),
        revision.to_owned(),
        "--expected-failures".into(),
        expected.to_string_lossy().into_owned(),
        "--output-dir".into(),
        results.to_string_lossy().into_owned(),
    ];
    let finished = environment.run_program_within(&node.node, &arguments, &[], MOST).map_err(problem)?;
    drop(bridge.stdin.take());
    bridge.wait().map_err(problem)?;
    environment.assert_nothing_left();
    if let Some(parent) = report.parent() {
        fs::create_dir_all(parent).map_err(problem)?;
    }
    fs::write(&report, format!("{}{}", finished.stdout, finished.stderr)).map_err(problem)?;
    println!("\n{revision} ({}):", report.display());
    let summary = finished.stdout.split("=== SUMMARY ===").nth(1).unwrap_or(&finished.stdout);
    println!("{}", summary.trim());
    Ok(finished.code == 0)
}

/// A whole suite may take this long.
const MOST: std::time::Duration = std::time::Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expected_failure_has_its_reason_in_the_documentation() {
        let reasons = fs::read_to_string(shell::root().join("docs/conformance.md")).expect("docs/conformance.md");
        for revision in REVISIONS {
            let file = shell::root().join(format!("tests/conformance/expected-failures-{revision}.yaml"));
            let listed = fs::read_to_string(file).expect("the list");
            let checks: Vec<&str> = listed.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
            assert!(!checks.is_empty());
            for check in checks {
                let line = reasons.lines().find(|line| line.starts_with(&format!("- `{check}` (")));
                assert!(line.is_some_and(|line| line.contains(revision)), "{check} of {revision} has no reason");
            }
            let documented = reasons.lines().filter(|line| line.starts_with("- `") && line.contains(revision)).count();
            let count = listed.lines().filter(|line| line.starts_with("  - ")).count();
            assert_eq!(documented, count, "reasons for what is not expected to fail in {revision}");
        }
    }
}
