//! A short pass of the crash harness.

use workflow_code_tests::{SoakOptions, soak};

#[test]
fn nothing_is_lost_or_done_twice_when_processes_are_killed() {
    // As many as that, however long they take: a busy machine is slow, which is no fault of the product.
    let options = SoakOptions { seed: 20_260_828, kills: 200, most: None };
    let begun = std::time::Instant::now();
    let outcome = soak(options, |_| {}).unwrap();
    println!("{outcome}\n{:.0} s", begun.elapsed().as_secs_f64());
    assert!(outcome.failed.is_empty(), "{outcome}");
    assert!(outcome.kills >= 200, "{outcome}");
}
