//! A short pass of the crash harness.

use std::time::Duration;

use workflow_code_tests::{SoakOptions, soak};

#[test]
fn nothing_is_lost_or_done_twice_when_processes_are_killed() {
    let options = SoakOptions { seed: 20_260_828, kills: 200, most: Duration::from_secs(85) };
    let outcome = soak(options, |_| {}).unwrap();
    println!("{outcome}");
    assert!(outcome.failed.is_empty(), "{outcome}");
    assert!(outcome.kills >= 200, "the machine was too busy to kill enough in time: {outcome}");
}
