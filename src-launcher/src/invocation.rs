//! What this invocation was told about where its data is, so that the commands it prints lead to the same data.
//!
//! Filled in once, when the command line has been read; before that, and in tests, it is what an invocation without
//! options means.

use std::path::PathBuf;
use std::sync::OnceLock;

use model::HistoryPlace;

use crate::cli::{Auth, AuthFolders, Cli, Command, FolderOptions};
use crate::profile;

static GIVEN: OnceLock<Given> = OnceLock::new();

/// The options that decide where data is.
#[derive(Debug, Default)]
struct Given {
    profile: Option<String>,
    data_dir: Option<PathBuf>,
    auth_dir: Option<PathBuf>,
    desktop_config_dir: Option<PathBuf>,
}

impl Given {
    fn of(cli: &Cli) -> Self {
        let profile = cli.profile.clone();
        match &cli.command {
            Some(Command::Runs(runs)) => Self { profile, data_dir: runs.history().data_dir.clone(), ..Self::default() },
            Some(Command::Run(run)) => Self { profile, ..Self::from(&run.folders) },
            Some(Command::Mcp(mcp)) => Self { profile, ..Self::from(&mcp.folders) },
            Some(Command::Auth(
                Auth::Login { folders, .. } | Auth::Status { folders, .. } | Auth::Logout { folders, .. },
            )) => Self { profile, ..Self::from(folders) },
            Some(_) | None => Self { profile, ..Self::default() },
        }
    }

    fn profile(&self) -> HistoryPlace {
        // A name that is none was refused before anything is printed.
        let name = profile::name(self.profile.as_deref());
        HistoryPlace::Profile(name.unwrap_or_else(|_| HistoryPlace::USUAL_PROFILE.to_owned()))
    }

    /// The options that a command takes, of those that were given here.
    fn options(&self, command: &str) -> Vec<String> {
        let folders = |all: &[(&str, &Option<PathBuf>)]| {
            let given = all.iter().filter_map(|(option, folder)| Some((option, folder.as_ref()?)));
            given
                .flat_map(|(option, folder)| [(*option).to_owned(), folder.to_string_lossy().into_owned()])
                .collect::<Vec<_>>()
        };
        match (command, &self.data_dir) {
            // What these do depends on no profile.
            ("init" | "structure" | "board" | "agents", _) => Vec::new(),
            ("runs", Some(folder)) => HistoryPlace::Folder(folder.clone()).options(),
            ("auth", data_dir) => {
                let mut options = folders(&[
                    ("--data-dir", data_dir),
                    ("--auth-dir", &self.auth_dir),
                    ("--desktop-config-dir", &self.desktop_config_dir),
                ]);
                options.extend(self.profile().options());
                options
            }
            _ => self.profile().options(),
        }
    }
}

impl From<&FolderOptions> for Given {
    fn from(folders: &FolderOptions) -> Self {
        let FolderOptions { data_dir, auth_dir, desktop_config_dir, .. } = folders.clone();
        Self { profile: None, data_dir, auth_dir, desktop_config_dir }
    }
}

impl From<&AuthFolders> for Given {
    fn from(folders: &AuthFolders) -> Self {
        let AuthFolders { data_dir, auth_dir, desktop_config_dir } = folders.clone();
        Self { profile: None, data_dir, auth_dir, desktop_config_dir }
    }
}

/// Keeps what the command line says.
pub(crate) fn remember(cli: &Cli) {
    let _ = GIVEN.set(Given::of(cli));
}

/// Keeps the profile of a window, which has no other option of ours.
pub(crate) fn remember_profile(profile: &str) {
    let _ = GIVEN.set(Given { profile: Some(profile.to_owned()), ..Given::default() });
}

/// Writes a command that a person can copy: `words` behind the program's name, quoted for a shell, with the options of
/// this invocation that lead the command to the same data.
pub(crate) fn command(words: &[&str]) -> String {
    let usual = Given::default();
    let given = GIVEN.get().unwrap_or(&usual);
    written(given, words)
}

fn written(given: &Given, words: &[&str]) -> String {
    let options = given.options(words.first().copied().unwrap_or_default());
    let all = ["workflow-code"].into_iter().chain(words.iter().copied()).chain(options.iter().map(String::as_str));
    model::command_line(all)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn after(arguments: &[&str], words: &[&str]) -> String {
        let cli = Cli::try_parse_from([&["w"], arguments].concat()).expect("a command line");
        written(&Given::of(&cli), words)
    }

    #[test]
    fn a_printed_command_has_the_options_that_lead_to_the_same_data() {
        let show = ["runs", "show", "R"];
        assert_eq!(
            after(&["runs", "list", "--data-dir", "/d d's"], &show),
            r"workflow-code runs show R --data-dir '/d d'\''s'"
        );
        assert_eq!(after(&["runs", "list", "--profile", "work"], &show), "workflow-code runs show R --profile work");
        assert_eq!(
            after(&["--profile", "work", "doctor"], &["config", "P", "--write"]),
            "workflow-code config P --write --profile work"
        );
        assert_eq!(
            after(&["auth", "status", "--auth-dir", "/a", "--profile", "work"], &["auth", "login", "URL"]),
            "workflow-code auth login URL --auth-dir /a --profile work"
        );
        assert_eq!(
            after(&["--profile", "work", "projects", "list"], &["init", "a b", "--new-id"]),
            "workflow-code init 'a b' --new-id"
        );
    }
}
