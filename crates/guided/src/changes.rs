//! What changed, as git tells it.
//!
//! Paths come NUL-separated and relative to the project's root; files outside it are left out. Nothing that a
//! repository's own configuration could start (file system monitors, external diffs, filters, hooks) is started.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use process::{Environment, Spec};

use crate::command::{self, RunError, Stop};
use crate::paths::FOLDER;

/// How long one question to git may take.
const TIME: Duration = Duration::from_secs(60);

/// What git may answer: the names of about a million files.
const OUTPUT_BYTES: usize = 64 * 1024 * 1024;

/// What stands for the message of a git that gave none.
const NO_REASON: &str = "no reason given";

/// Why git could not tell.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// It could not be started.
    #[error("git cannot be started: {0}")]
    Start(String),
    /// It answered with an error.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// What was asked.
        command: String,
        /// What it said.
        message: String,
    },
    /// It took too long or said too much.
    #[error("`git {0}` took too long or answered too much")]
    Limit(String),
    /// The call that wanted to know was cancelled.
    #[error("the call was cancelled")]
    Stopped,
    /// There is nothing to count changes from.
    #[error("`{0}` and `HEAD` have no common ancestor, so it is not known what changed: name another base")]
    NoCommonAncestor(String),
    /// A reference of the caller's that is none.
    #[error("`{0}` is no commit")]
    BadReference(String),
}

/// Git in a project's folder.
#[derive(Debug, Clone)]
pub struct Git<'a> {
    root: &'a Path,
    environment: Environment,
    stop: Stop,
    /// The settings that keep filters from being started, as git takes them.
    without_filters: OnceLock<Vec<(OsString, &'static str)>>,
}

/// Where the default branch is looked for, after the remote's own word.
const DEFAULT_BRANCHES: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

impl<'a> Git<'a> {
    /// Asks git in this folder, with this environment.
    #[must_use]
    pub fn new(root: &'a Path, environment: &Environment) -> Self {
        let mut environment = environment.clone();
        // Set inside git hooks, where they would point at another tree or index than the folder's.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF"] {
            environment.remove(std::ffi::OsStr::new(name));
        }
        for (name, value) in [("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")] {
            environment.insert(name.into(), value.into());
        }
        Self { root, environment, stop: Stop::default(), without_filters: OnceLock::new() }
    }

    /// Ends what runs when this is raised.
    #[must_use]
    pub fn until(self, stop: &Stop) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        self.ask_with(arguments, self.environment.clone())
    }

    /// Asks something for which git compares files of the working tree, which filters of the repository's own (`filter.*`
    /// in its configuration) may want to change first. Files are compared as they are instead: one that only a filter
    /// would make equal counts as changed when git has to look into it.
    fn ask_unfiltered(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let settings = match self.without_filters.get() {
            Some(settings) => settings,
            None => {
                let settings = self.filters()?;
                self.without_filters.get_or_init(|| settings)
            }
        };
        let mut environment = self.environment.clone();
        if !settings.is_empty() {
            // As variables, since a name may hold `=`, which ends it on a command line. The caller may have some as well.
            let count = std::ffi::OsStr::new("GIT_CONFIG_COUNT");
            let before = environment.get(count).and_then(|count| count.to_str()?.parse::<usize>().ok()).unwrap_or(0);
            environment.insert(count.to_owned(), (before + settings.len()).to_string().into());
            for (number, (name, value)) in (before..).zip(settings) {
                environment.insert(format!("GIT_CONFIG_KEY_{number}").into(), name.into());
                environment.insert(format!("GIT_CONFIG_VALUE_{number}").into(), value.into());
            }
        }
        self.ask_with(arguments, environment)
    }

    /// Finds the filters that the configuration names, and how to turn each off.
    fn filters(&self) -> Result<Vec<(OsString, &'static str)>, GitError> {
        // A pattern without a match is an error with nothing to say, so everything is listed.
        let answer = self.ask(&["config", "--list", "--name-only", "-z", "--includes"])?;
        // What comes before the last dot; a filter may have any bytes for its name.
        let drivers: BTreeSet<&[u8]> = answer
            .split(|byte| *byte == 0)
            .filter(|name| name.starts_with(b"filter."))
            .filter_map(|name| name.get(..name.iter().rposition(|byte| *byte == b'.')?))
            .filter(|driver| driver.len() >= b"filter.".len())
            .collect();
        let off = [(".clean", ""), (".process", ""), (".required", "false")];
        Ok(drivers
            .into_iter()
            .flat_map(|driver| off.map(|(key, value)| (os_string([driver, key.as_bytes()].concat()), value)))
            .collect())
    }

    fn ask_with(&self, arguments: &[&str], environment: Environment) -> Result<Vec<u8>, GitError> {
        let spec = Spec::new("git")
            .arguments(["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
            .arguments(arguments)
            .folder(self.root)
            .environment(environment);
        let shown = || arguments.join(" ");
        let finished = command::run(spec, TIME, OUTPUT_BYTES, &self.stop).map_err(|error| match error {
            RunError::Start(error) => GitError::Start(error.source.to_string()),
            RunError::Stopped => GitError::Stopped,
        })?;
        if finished.timed_out || finished.cut {
            return Err(GitError::Limit(shown()));
        }
        if !finished.succeeded() {
            let message = finished.error_text();
            let message = if message.is_empty() { NO_REASON.to_owned() } else { message };
            return Err(GitError::Failed { command: shown(), message });
        }
        Ok(finished.output)
    }

    fn line(&self, arguments: &[&str]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.ask(arguments)?).trim().to_owned())
    }

    /// Finds the commit that changes are counted from: where `HEAD` left the default branch, or `base`.
    fn base(&self, base: Option<&str>) -> Result<String, GitError> {
        let head = self.line(&["rev-parse", "--verify", "HEAD^{commit}"])?;
        let (name, target) = match base {
            Some(name) => {
                // A name that begins with a hyphen would be an option.
                let bad = || GitError::BadReference(name.to_owned());
                if name.starts_with('-') || name.is_empty() {
                    return Err(bad());
                }
                let commit = &["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")];
                (name.to_owned(), self.line(commit).map_err(|_| bad())?)
            }
            None => match self.default_branch()? {
                Some(found) => found,
                None => return Ok(head),
            },
        };
        if target == head {
            return Ok(head);
        }
        match self.line(&["merge-base", &head, &target]) {
            // It ends with 1 and says nothing.
            Err(GitError::Failed { message, .. }) if message == NO_REASON => Err(GitError::NoCommonAncestor(name)),
            answer => answer,
        }
    }

    /// The default branch with its commit.
    fn default_branch(&self) -> Result<Option<(String, String)>, GitError> {
        let mut arguments = vec!["for-each-ref", "--format=%(refname) %(objectname)"];
        arguments.extend(DEFAULT_BRANCHES);
        let known = self.line(&arguments)?;
        Ok(DEFAULT_BRANCHES.iter().find_map(|wanted| {
            known.lines().find_map(|line| {
                let (name, commit) = line.split_once(' ')?;
                (name == *wanted).then(|| {
                    let short = name.trim_start_matches("refs/heads/").trim_start_matches("refs/remotes/");
                    (short.to_owned(), commit.to_owned())
                })
            })
        }))
    }

    /// Lists what was added, copied, changed or renamed since the base, and what is new and not ignored; sorted, with
    /// `/`, relative to the root. Deleted files are not listed, nor our own files.
    ///
    /// # Errors
    ///
    /// Without a repository, a commit or a common ancestor, and when git fails.
    pub fn changed(&self, base: Option<&str>) -> Result<Vec<String>, GitError> {
        let base = self.base(base)?;
        let diff = ["diff", "--name-only", "-z", "-M", "--diff-filter=ACMR", "--relative", "--no-ext-diff"];
        let mut since_base = diff.to_vec();
        since_base.extend(["--ignore-submodules=all", &base, "--"]);
        let mut staged = diff.to_vec();
        staged.extend(["--cached", "HEAD", "--"]);
        let mut found = BTreeSet::new();
        for arguments in [&since_base[..], &staged[..], &["ls-files", "-z", "--others", "--exclude-standard", "--"]] {
            let answer = self.ask_unfiltered(arguments)?;
            found.extend(names(&answer).filter(|name| self.counts(name)));
        }
        Ok(found.into_iter().collect())
    }

    fn counts(&self, name: &str) -> bool {
        let own = name.strip_prefix(FOLDER).and_then(|rest| rest.strip_prefix('/'));
        if own.is_some_and(|own| own.starts_with("tmp/") || own == "job.schema.json") {
            return false;
        }
        // Staged, and gone from the folder since.
        self.root.join(name).symlink_metadata().is_ok_and(|facts| !facts.is_dir())
    }

    /// Lists the files of the latest commit, relative to the root.
    ///
    /// # Errors
    ///
    /// Without a repository or a commit, and when git fails.
    pub fn last_commit(&self) -> Result<Vec<String>, GitError> {
        let answer = self.ask(&[
            "diff-tree",
            "--root",
            "-r",
            "-m",
            "--first-parent",
            "--no-commit-id",
            "--name-only",
            "-z",
            "-M",
            "--diff-filter=ACMR",
            "--relative",
            "HEAD",
            "--",
        ])?;
        let found: BTreeSet<String> = names(&answer).filter(|name| self.counts(name)).collect();
        Ok(found.into_iter().collect())
    }
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// A name that is no Unicode cannot be said in an answer, and is left out.
fn names(answer: &[u8]) -> impl Iterator<Item = String> + '_ {
    answer
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .filter_map(|name| std::str::from_utf8(name).ok().map(str::to_owned))
}

/// Finds the main working tree when `root` belongs to a worktree that lies below it.
#[must_use]
pub fn main_tree(root: &Path) -> Option<PathBuf> {
    let top = root.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())?;
    let link = top.join(".git");
    if !link.is_file() {
        return None;
    }
    let text = crate::files::read_text(&link, 16 * 1024).ok()?;
    let target = top.join(text.strip_prefix("gitdir:")?.trim());
    // `MAIN/.git/worktrees/NAME`
    let worktrees = target.parent().filter(|folder| folder.ends_with("worktrees"))?;
    let main = worktrees.parent().filter(|folder| folder.ends_with(".git"))?.parent()?;
    let main = main.canonicalize().ok()?;
    (top != main && root.starts_with(&main)).then_some(main)
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
