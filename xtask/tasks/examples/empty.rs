//! Nothing: what it costs to start any program, for `cargo xtask bench`.

fn main() {}
