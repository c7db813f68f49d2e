//! Repositories in every state that changes are asked of.

use super::*;
use std::fs;

pub(crate) struct Repository {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Repository {
    fn bare() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let above = folder.path().parent().expect("a parent").to_string_lossy().into_owned();
        let environment: Environment = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CEILING_DIRECTORIES", above.as_str()),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.com"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
        Self { folder, environment }
    }

    fn on(branch: &str) -> Self {
        let repository = Self::bare();
        repository.git(&format!("init -q -b {branch}"));
        repository.put("base.md", "base\n");
        repository.git("add -A");
        repository.git("commit -qm base");
        repository
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, arguments: &str) {
        let spec =
            Spec::new("git").arguments(arguments.split(' ')).folder(self.root()).environment(self.environment.clone());
        let finished = command::run(spec, TIME, 1 << 20, &Stop::default()).expect("git starts");
        assert!(finished.succeeded(), "git {arguments}: {}", finished.error_text());
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn changed(&self) -> Vec<String> {
        Git::new(self.root(), &self.environment).changed(None).expect("git tells")
    }
}

#[test]
fn without_a_repository_or_a_commit_it_is_an_error() {
    let none = Repository::bare();
    assert!(matches!(Git::new(none.root(), &none.environment).changed(None), Err(GitError::Failed { .. })));
    none.git("init -q -b main");
    assert!(Git::new(none.root(), &none.environment).changed(None).is_err());
    let mut without = none.environment.clone();
    without.insert("PATH".into(), "/nonexistent".into());
    assert!(matches!(Git::new(none.root(), &without).changed(None), Err(GitError::Start(_))));
}

#[test]
fn every_kind_of_change_and_nothing_else() {
    let repository = Repository::on("main");
    repository.put("old name.md", "a long enough text to be found again\n");
    repository.put("gone.md", "x\n");
    repository.put(".gitignore", "ignored.md\n");
    repository.git("add -A");
    repository.git("commit -qm more");
    repository.git("checkout -qb work");
    repository.put("committed.md", "x\n");
    repository.git("add -A");
    repository.git("commit -qm work");
    repository.git("checkout -q main");
    repository.put("only-main.md", "x\n");
    repository.git("add -A");
    repository.git("commit -qm main");
    repository.git("checkout -q work");
    fs::rename(repository.root().join("old name.md"), repository.root().join("new name.md")).expect("renamed");
    repository.git("add -A");
    repository.put("base.md", "changed\n");
    repository.put("staged.md", "1\n");
    repository.git("add staged.md");
    repository.put("staged.md", "2\n");
    repository.put("added-then-gone.md", "1\n");
    repository.git("add added-then-gone.md");
    fs::remove_file(repository.root().join("added-then-gone.md")).expect("removed");
    fs::remove_file(repository.root().join("gone.md")).expect("removed");
    repository.put("ignored.md", "x\n");
    repository.put("untracked.md", "x\n");
    repository.put(".deepwork/tmp/x.md", "ours\n");
    assert_eq!(repository.changed(), ["base.md", "committed.md", "new name.md", "staged.md", "untracked.md"]);
}

#[test]
fn hostile_names_come_through_as_they_are() {
    let repository = Repository::on("main");
    let names = ["a\nb.md", " blank .md", "quote\".md", "ünï.md", "-rf", "$(touch x).md", "tab\t.md"];
    for name in names {
        repository.put(name, "x\n");
    }
    let mut expected: Vec<&str> = names.to_vec();
    expected.sort_unstable();
    assert_eq!(repository.changed(), expected);
    repository.git("add -A");
    assert_eq!(repository.changed(), expected);
}

#[test]
fn a_root_below_the_top_sees_its_own_files_by_its_own_names() {
    let repository = Repository::on("main");
    repository.put("sub/tracked.md", "1\n");
    repository.git("add -A");
    repository.git("commit -qm sub");
    repository.put("sub/tracked.md", "2\n");
    repository.put("sub/new.md", "x\n");
    repository.put("outside.md", "x\n");
    let sub = repository.root().join("sub");
    assert_eq!(Git::new(&sub, &repository.environment).changed(None).expect("git tells"), ["new.md", "tracked.md"]);
}

#[test]
fn the_default_branch_is_found_by_the_word_of_the_remote_first() {
    let upstream = Repository::on("trunk");
    let clone = Repository::bare();
    clone.git(&format!("clone -q {} .", upstream.root().display()));
    clone.git("checkout -qb work");
    clone.put("mine.md", "x\n");
    clone.git("add -A");
    clone.git("commit -qm mine");
    assert_eq!(clone.changed(), ["mine.md"]);

    let master = Repository::on("master");
    master.git("checkout -qb work");
    master.put("mine.md", "x\n");
    master.git("add -A");
    master.git("commit -qm mine");
    assert_eq!(master.changed(), ["mine.md"]);
    master.git("checkout -q --detach");
    assert_eq!(master.changed(), ["mine.md"]);

    let unknown = Repository::on("trunk");
    unknown.git("checkout -qb work");
    unknown.put("mine.md", "x\n");
    unknown.git("add -A");
    unknown.git("commit -qm mine");
    assert!(unknown.changed().is_empty());
    unknown.put("mine.md", "y\n");
    assert_eq!(unknown.changed(), ["mine.md"]);
}

#[test]
fn a_base_of_the_callers_is_used_and_checked() {
    let repository = Repository::on("main");
    repository.put("second.md", "x\n");
    repository.git("add -A");
    repository.git("commit -qm second");
    let git = Git::new(repository.root(), &repository.environment);
    assert_eq!(git.changed(Some("HEAD~1")).expect("git tells"), ["second.md"]);
    for bad in ["no-such", "--output=/tmp/x", ""] {
        assert!(matches!(git.changed(Some(bad)), Err(GitError::BadReference(_))), "{bad}");
    }
}

#[test]
fn the_latest_commit_may_be_the_first() {
    let repository = Repository::on("main");
    let git = Git::new(repository.root(), &repository.environment);
    assert_eq!(git.last_commit().expect("git tells"), ["base.md"]);
    repository.put("two.md", "x\n");
    repository.git("add -A");
    repository.git("commit -qm two");
    assert_eq!(git.last_commit().expect("git tells"), ["two.md"]);
}

/// A repository's configuration may name programs; none of them runs.
#[test]
fn nothing_that_the_repository_names_is_started() {
    let repository = Repository::on("main");
    let trap = repository.root().join("trap.sh");
    let mark = repository.root().join("sprung");
    fs::write(&trap, format!("#!/bin/sh\ntouch {}\n", mark.display())).expect("written");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("set");
    }
    repository.git(&format!("config core.fsmonitor {}", trap.display()));
    repository.git(&format!("config diff.external {}", trap.display()));
    // What ends a name, or looks like another setting, in a filter's name as well.
    for (number, filter) in ["plain", "a=b", "a.b", "ü"].into_iter().enumerate() {
        for key in ["clean", "process"] {
            repository.git(&format!("config filter.{filter}.{key} {}", trap.display()));
        }
        repository.git(&format!("config filter.{filter}.required true"));
        repository.put(&format!("{number}.md"), "new\n");
    }
    repository.put(".gitattributes", "*.md filter=plain\n1.md filter=a=b\n2.md filter=a.b\n3.md filter=ü\n");
    repository.put("base.md", "changed\n");
    fs::remove_file(&mark).ok();
    assert_eq!(repository.changed(), [".gitattributes", "0.md", "1.md", "2.md", "3.md", "base.md", "trap.sh"]);
    assert!(!mark.exists());
}

#[test]
fn a_history_of_its_own_is_told_with_the_name_of_the_branch() {
    let repository = Repository::on("main");
    repository.git("checkout -q --orphan alone");
    repository.git("commit -qm alone");
    let git = Git::new(repository.root(), &repository.environment);
    let error = git.changed(None).expect_err("nothing in common").to_string();
    assert!(error.contains("`main`") && error.contains("common ancestor"), "{error}");
    let error = git.changed(Some("main~0")).expect_err("nothing in common").to_string();
    assert!(error.contains("`main~0`"), "{error}");
}

#[test]
fn a_worktree_below_the_main_tree_knows_it() {
    let repository = Repository::on("main");
    repository.git("worktree add -q inner/tree -b tree");
    let root = repository.root().canonicalize().expect("it is there");
    assert_eq!(main_tree(&root.join("inner/tree")), Some(root.clone()));
    assert_eq!(main_tree(&root), None);
    let elsewhere = tempfile::tempdir().expect("a folder");
    repository.git(&format!("worktree add -q {}/other -b other", elsewhere.path().display()));
    assert_eq!(main_tree(&elsewhere.path().join("other")), None);
}
