//! Serves the window's commands and page over HTTP on this machine, for development and tests. Never shipped.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it speaks to whoever started it")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use workflow_code_tests::dev_server;

/// Serves the window's commands and page over HTTP on this machine.
#[derive(Debug, Parser)]
struct Options {
    /// Profile whose registry and history are used
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Folder of the built page
    #[arg(long, value_name = "DIR", default_value = "ui/dist")]
    ui: PathBuf,
    /// Port; any that is free unless given
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// End when standard input does, for tests
    #[arg(long)]
    until_eof: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let served = dev_server::serve(
        options.profile.as_deref(),
        &options.ui,
        options.port,
        options.until_eof,
        |address, token| {
            println!("http://{address}/?token={token}");
        },
    );
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
