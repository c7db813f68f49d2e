#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workflow_fuzz::run("board_front_matter", bytes));
