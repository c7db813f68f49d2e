//! `cargo xtask record FILE PROGRAM ARGUMENT…`: stands between a client and its server, and keeps what the client says.
//!
//! Each connection is a block of lines, with an empty line between two of them. What the server says goes past us.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use xtask::shell::Outcome;

/// What to record.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where the lines are added
    file: PathBuf,
    /// The server with its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let Some((program, arguments)) = options.command.split_first() else { return Err("no program".into()) };
    let mut record = open(&options.file).map_err(|error| format!("`{}`: {error}", options.file.display()))?;
    #[expect(clippy::disallowed_methods, reason = "the server's output belongs to the client, untouched")]
    let mut child = std::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{program}` could not be started: {error}"))?;
    let mut server = child.stdin.take().ok_or("the server has no input")?;
    let mut bytes = vec![0; 64 * 1024];
    let mut input = std::io::stdin();
    while let Ok(read @ 1..) = input.read(&mut bytes) {
        let part = bytes.get(..read).unwrap_or_default();
        record.write_all(part).map_err(|error| error.to_string())?;
        if server.write_all(part).is_err() {
            break;
        }
    }
    drop(server);
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the server ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut file = File::options().create(true).append(true).open(path)?;
    if file.metadata()?.len() > 0 {
        file.write_all(b"\n")?;
    }
    Ok(file)
}
