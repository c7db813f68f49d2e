//! What changed, as git tells it.
//!
//! Paths come NUL-separated and relative to the project's root; files outside it are left out. Nothing that a
//! repository's own configuration could start (file system monitors, external diffs, hooks) is started.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::{Environment, Spec};

use crate::command;
use crate::paths::FOLDER;

/// How long one question to git may take.
const TIME: Duration = Duration::from_secs(60);

/// What git may answer: the names of about a million files.
const OUTPUT_BYTES: usize = 64 * 1024 * 1024;

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
    /// A reference of the caller's that is none.
    #[error("`{0}` is no commit")]
    BadReference(String),
}

/// Git in a project's folder.
#[derive(Debug, Clone)]
pub struct Git<'a> {
    root: &'a Path,
    environment: Environment,
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
        Self { root, environment }
    }

    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let spec = Spec::new("git")
            .arguments(["--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
            .arguments(arguments)
            .folder(self.root)
            .environment(self.environment.clone());
        let shown = || arguments.join(" ");
        let finished = command::run(&spec, TIME, OUTPUT_BYTES).map_err(|error| {
            GitError::Start(std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string))
        })?;
        if finished.timed_out || finished.cut {
            return Err(GitError::Limit(shown()));
        }
        if !finished.succeeded() {
            let message = finished.error_text();
            let message = if message.is_empty() { "no reason given".to_owned() } else { message };
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
        let target = match base {
            Some(name) => {
                // A name that begins with a hyphen would be an option.
                let bad = || GitError::BadReference(name.to_owned());
                if name.starts_with('-') || name.is_empty() {
                    return Err(bad());
                }
                self.line(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]).map_err(|_| bad())?
            }
            None => match self.default_branch()? {
                Some(commit) => commit,
                None => return Ok(head),
            },
        };
        if target == head {
            return Ok(head);
        }
        self.line(&["merge-base", &head, &target])
    }

    fn default_branch(&self) -> Result<Option<String>, GitError> {
        let mut arguments = vec!["for-each-ref", "--format=%(refname) %(objectname)"];
        arguments.extend(DEFAULT_BRANCHES);
        let known = self.line(&arguments)?;
        Ok(DEFAULT_BRANCHES.iter().find_map(|wanted| {
            known.lines().find_map(|line| {
                let (name, commit) = line.split_once(' ')?;
                (name == *wanted).then(|| commit.to_owned())
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
            let answer = self.ask(arguments)?;
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
