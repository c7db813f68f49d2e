//! Starting programs with their output on the terminal. No shell is involved, whatever the name says.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// What went wrong, in a sentence.
pub type Outcome<T = ()> = Result<T, String>;

/// Says what went wrong, if anything did, and how the program is to end.
pub fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    variable("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// An executable of the release build.
pub fn executable(name: &str) -> PathBuf {
    target().join("release").join(name)
}

/// Runs a program in the repository's root and fails when it does.
pub fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Outcome {
    run_in(&root(), program, arguments)
}

/// As [`run`], in another folder.
pub fn run_in<S: AsRef<OsStr>>(folder: &Path, program: &str, arguments: &[S]) -> Outcome {
    let shown = shown(arguments);
    println!("$ {program} {shown}");
    let started = Instant::now();
    start(folder, program, arguments)?;
    println!("  {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// As [`run`], and prints nothing of its own: for tasks whose output is read by programs.
pub fn run_quietly<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Outcome {
    start(&root(), program, arguments)
}

/// As [`run_in`], with variables of its own.
pub fn run_with<S: AsRef<OsStr>>(folder: &Path, program: &str, arguments: &[S], variables: &[(&str, &str)]) -> Outcome {
    println!("$ {program} {}", shown(arguments));
    start_with(folder, program, arguments, variables)
}

/// As [`run`], for programs that say more than anybody reads: their output is shown when they fail.
pub fn run_silently<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Outcome {
    println!("$ {program} {}", shown(arguments));
    #[expect(clippy::disallowed_methods, reason = "a task runs a tool of the system")]
    let output = std::process::Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("`{program}` could not be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("`{program}` ended with {}:\n{}", output.status, String::from_utf8_lossy(&said)))
}

/// What a program writes to standard output, when it ends well.
pub fn answer<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Option<String> {
    answer_in(&root(), program, arguments)
}

/// As [`answer`], in another folder.
pub fn answer_in<S: AsRef<OsStr>>(folder: &Path, program: &str, arguments: &[S]) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a task asks a tool of the system")]
    let output = std::process::Command::new(program).args(arguments).current_dir(folder).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A variable of the environment that the task was started in.
pub fn variable(name: &str) -> Option<std::ffi::OsString> {
    #[expect(clippy::disallowed_methods, reason = "tasks read what their caller's shell and CI set")]
    std::env::var_os(name)
}

fn start<S: AsRef<OsStr>>(folder: &Path, program: &str, arguments: &[S]) -> Outcome {
    start_with(folder, program, arguments, &[])
}

fn start_with<S: AsRef<OsStr>>(folder: &Path, program: &str, arguments: &[S], variables: &[(&str, &str)]) -> Outcome {
    #[expect(clippy::disallowed_methods, reason = "a task's output belongs on the terminal, untouched")]
    let status = std::process::Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program} {}` ended with {status}", shown(arguments))),
        Err(error) => Err(format!("`{program}` could not be started: {error}")),
    }
}

fn shown<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    arguments.iter().map(|one| one.as_ref().to_string_lossy()).collect::<Vec<_>>().join(" ")
}
