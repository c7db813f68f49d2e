//! A process of our own image between us and a program that a project names. It inherits the program's orphans, and
//! when we are gone, however that came, it ends the program with everything below it: a kill signal at a parent's death,
//! which the system offers, would reach the program and nothing that it started.

use std::ffi::OsString;
use std::io::Read;

use crate::spec::{Input, Spec};
use crate::{orphans, tree};

/// The hidden argument that makes the executable a keeper; the program and its arguments follow.
pub const ARGUMENT: &str = "--keeper";

/// What a shell answers for a program that it cannot start.
const NOT_STARTED: u8 = 127;

/// What a shell adds to the number of the signal that ended a program.
const SIGNALLED: i32 = 128;

impl Spec {
    /// Puts a keeper, started from this image, between us and the program. Its standard input is the thread it hangs on:
    /// the program ends when the pipe is closed.
    #[must_use]
    pub fn kept_by(self, image: impl AsRef<std::ffi::OsStr>) -> Self {
        Self {
            arguments: [OsString::from(ARGUMENT), self.program].into_iter().chain(self.arguments).collect(),
            program: image.as_ref().to_owned(),
            input: Input::Pipe,
            only_group: true,
            ..self
        }
    }
}

/// Runs a keeper to its end, and returns the program's exit code as a shell would. `arguments` begin with the program.
#[must_use]
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> u8 {
    orphans::inherit();
    let Some(program) = arguments.next() else { return NOT_STARTED };
    let mut child = match Spec::new(program).arguments(arguments).spawn_as_we_are() {
        Ok(child) => child,
        Err(error) => {
            let source = &error.source;
            complain(&format!("{error}: {source}\n"));
            return NOT_STARTED;
        }
    };
    std::thread::spawn(|| {
        let mut nothing = [0; 64];
        // Nobody writes to it: what comes is its end.
        while matches!(std::io::stdin().read(&mut nothing), Ok(1..)) {}
        tree::kill_descendants(std::process::id());
        std::process::exit(i32::from(NOT_STARTED));
    });
    let ended = child.wait();
    // Whatever the program left running ends with it.
    orphans::end_strangers(&[]);
    ended.ok().and_then(code).unwrap_or(NOT_STARTED)
}

fn complain(text: &str) {
    use std::io::Write;
    // Nobody may be there any more to read it.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(unix)]
fn code(status: std::process::ExitStatus) -> Option<u8> {
    use std::os::unix::process::ExitStatusExt;
    u8::try_from(status.code().or_else(|| Some(SIGNALLED + status.signal()?))?).ok()
}

#[cfg(not(unix))]
fn code(status: std::process::ExitStatus) -> Option<u8> {
    u8::try_from(status.code()?).ok()
}
