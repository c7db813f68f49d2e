//! `workflow-code`, the front door: everything it does lies in the library `launcher`.

use std::process::ExitCode;

fn main() -> ExitCode {
    launcher::main()
}
