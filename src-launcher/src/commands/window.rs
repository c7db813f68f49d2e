//! Without arguments: the window.

use std::os::unix::process::CommandExt;

use crate::failure::Failure;

/// The desktop executable, which lies beside this one.
const DESKTOP: &str = "workflow-code-desktop";

/// Becomes the desktop executable.
pub(crate) fn open(profile: Option<&str>) -> Result<u8, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::environment(format!("this executable's own place is unknown: {error}")))?;
    let desktop = own.with_file_name(DESKTOP);
    if !desktop.is_file() {
        return Err(Failure::environment(format!("the window is not installed: there is no `{}`", desktop.display()))
            .hinted("everything else works from the terminal: see `workflow-code --help`"));
    }
    #[expect(clippy::disallowed_methods, reason = "this process becomes the window; nothing is spawned beside it")]
    let mut command = std::process::Command::new(&desktop);
    if let Some(profile) = profile {
        command.args(["--profile", profile]);
    }
    let error = command.exec();
    Err(Failure::environment(format!("`{}` could not be started: {error}", desktop.display())))
}
