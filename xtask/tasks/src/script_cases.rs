//! `cargo xtask script-cases DIR`: every case of a folder through the real engine in its real worker process.

use std::path::PathBuf;

use clap::Args;
use workflow_code_tests::{executable, script_cases};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder; the format of its files is described in the README files of `tests/cases`
    folder: PathBuf,
    /// Only cases whose names hold this
    #[arg(long)]
    only: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let reports = script_cases::run_folder(&executable(), &options.folder, options.only.as_deref())?;
    let mut failed = 0;
    for report in &reports {
        if !report.problems.is_empty() {
            failed += 1;
            println!("FAILED {}", report.name);
            for problem in &report.problems {
                println!("    {problem}");
            }
        }
    }
    println!("{} passed, {failed} failed", reports.len() - failed);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} cases failed")) }
}
