//! The little that is asked of git. Everything is optional: without git, a repository or a commit there is no answer.

use std::io::Read as _;
use std::path::Path;

use process::{Environment, Spec};

/// Runs git and returns its exit code and what it wrote.
fn git(root: &Path, arguments: &[&str]) -> Option<(i32, String)> {
    let environment: Environment =
        std::env::vars_os().filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_")).collect();
    let spec = Spec::new("git").arguments(arguments).folder(root).environment(environment);
    let mut child = spec.spawn_blocking().ok()?;
    drop(child.stderr.take());
    let mut text = String::new();
    child.stdout.take()?.take(1024 * 1024).read_to_string(&mut text).ok()?;
    Some((child.wait().ok()?.code()?, text))
}

/// The commit that is checked out, as 40 digits.
pub(crate) fn head(root: &Path) -> Option<String> {
    // Starting a process costs more than a whole write; outside a repository it is not worth it.
    root.ancestors().find(|folder| folder.join(".git").exists())?;
    let (code, text) = git(root, &["rev-parse", "--verify", "-q", "HEAD"])?;
    let commit = text.trim();
    (code == 0 && commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| commit.to_owned())
}

/// Tells whether a commit is no ancestor of the one that is checked out. Silent when git cannot say: an unknown object,
/// a shallow clone.
pub(crate) fn is_unreachable(root: &Path, commit: &str) -> bool {
    if commit.len() < 7 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return false;
    }
    if root.ancestors().all(|folder| !folder.join(".git").exists()) {
        return false;
    }
    let shallow = git(root, &["rev-parse", "--is-shallow-repository"]).is_none_or(|(_, text)| text.trim() != "false");
    !shallow && git(root, &["merge-base", "--is-ancestor", commit, "HEAD"]).is_some_and(|(code, _)| code == 1)
}

/// Files that differ from `base`, relative to the repository.
pub(crate) fn changed_since(root: &Path, base: &str) -> Option<(String, Vec<String>)> {
    if base.starts_with('-') {
        return None;
    }
    let (code, text) = git(root, &["rev-parse", "--verify", "-q", &format!("{base}^{{commit}}")])?;
    if code != 0 {
        return None;
    }
    let resolved = text.trim().to_owned();
    let (code, text) = git(root, &["diff", "--name-only", "-z", "--relative", &resolved])?;
    let mut files: Vec<String> = text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if let Some((0, text)) = git(root, &["ls-files", "--others", "--exclude-standard", "-z"]) {
        files.extend(text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned));
    }
    (code == 0).then_some((resolved, files))
}
