//! `isolation: 'worktree'`: an agent that works in a fresh git worktree of its project, so that several can change files
//! side by side.
//!
//! A worktree lies beside the run's other data, on a branch of its own that starts at the commit that is checked out. One
//! that its agent left as it was is taken away again; of any other the path and the branch are told, and nothing in it is
//! ever removed here. Where there is no repository such agents work in the project's folder, one at a time.
//!
//! Not here: which option asks for it ([`agents::OPTIONS`]), and merging what was made, which is the person's.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agents::{Capabilities, Child, Provider, Request, StartRefused, Starting};
use process::{Environment, Spec};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// The option, and its only value.
pub(crate) const OPTION: &str = "isolation";
const WORKTREE: &str = "worktree";

/// How many earlier worktrees of the same agent are kept before the next one is refused.
const EARLIER: usize = 20;

/// Bytes of git's words that are read.
const SAID: u64 = 64 * 1024;

/// A worktree that its agent changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// The agent's call.
    pub(crate) seq: u64,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its branch.
    pub(crate) branch: String,
}

/// A provider whose agents get a worktree where they ask for one.
pub(crate) struct Isolating {
    inner: Arc<dyn Provider>,
    trees: Arc<Trees>,
    /// Those that cannot have one take turns.
    turns: Arc<Semaphore>,
    told: mpsc::UnboundedSender<Kept>,
}

impl std::fmt::Debug for Isolating {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Isolating").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Isolating {
    /// `folder`: where worktrees are made. `environment`: that of the project's commands.
    pub(crate) fn new(
        inner: Arc<dyn Provider>,
        folder: PathBuf,
        environment: Arc<BTreeMap<String, String>>,
        told: mpsc::UnboundedSender<Kept>,
    ) -> Self {
        Self {
            inner,
            trees: Arc::new(Trees { folder, environment, making: Mutex::new(()) }),
            turns: Arc::new(Semaphore::new(1)),
            told,
        }
    }
}

/// Tells whether a request asks for a worktree.
pub(crate) fn is_wanted(request: &Request) -> bool {
    request.option(OPTION) == Some(WORKTREE)
}

/// Tells whether a folder is in a repository that worktrees can be made of.
pub(crate) fn is_available(folder: &Path, environment: &BTreeMap<String, String>) -> bool {
    let has_git = |path: &String| std::env::split_paths(path).any(|folder| folder.join("git").is_file());
    environment.get("PATH").is_some_and(has_git) && folder.ancestors().any(|folder| folder.join(".git").exists())
}

impl Provider for Isolating {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities().honouring(OPTION)
    }

    fn knows_agent_type(&self, name: &str, folder: &Path) -> bool {
        self.inner.knows_agent_type(name, folder)
    }

    fn knows_model(&self, name: &str) -> bool {
        self.inner.knows_model(name)
    }

    fn start(&self, mut request: Request, stop: CancellationToken) -> Starting {
        if !is_wanted(&request) {
            return self.inner.start(request, stop);
        }
        request.options.shift_remove(OPTION);
        let (inner, trees, turns, told) =
            (Arc::clone(&self.inner), Arc::clone(&self.trees), Arc::clone(&self.turns), self.told.clone());
        Box::pin(async move {
            if !is_available(&request.folder, &trees.environment) {
                // Closed never, so it is only waited for.
                let turn = turns.acquire_owned().await.ok();
                let Child { id, result } = inner.start(request, stop).await?;
                let result = Box::pin(async move {
                    let ended = result.await;
                    drop(turn);
                    ended
                });
                return Ok(Child { id, result });
            }
            let (run, seq, folder) = (request.run.clone(), request.seq, request.folder.clone());
            let made = tokio::task::spawn_blocking(move || trees.make(&run, seq, &folder)).await;
            let tree = made.map_err(|error| StartRefused(error.to_string()))?.map_err(StartRefused)?;
            let tree = Open { tree: Some(tree), seq, told };
            request.folder.clone_from(&tree.tree.as_ref().map(|tree| tree.inside.clone()).unwrap_or_default());
            let Child { id, result } = inner.start(request, stop).await?;
            let result = Box::pin(async move {
                let ended = result.await;
                tree.close().await;
                ended
            });
            Ok(Child { id, result })
        })
    }
}

/// A worktree in use. However its agent ends, it is looked at and told of.
struct Open {
    tree: Option<Tree>,
    seq: u64,
    told: mpsc::UnboundedSender<Kept>,
}

impl Open {
    async fn close(mut self) {
        if let Some(tree) = self.tree.take() {
            let (seq, told) = (self.seq, self.told.clone());
            let _ = tokio::task::spawn_blocking(move || tree.close(seq, &told)).await;
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(tree) = self.tree.take() {
            // The run ends now. If the process ends before this does, the worktree stays, and nothing is lost.
            let (seq, told) = (self.seq, self.told.clone());
            std::thread::spawn(move || tree.close(seq, &told));
        }
    }
}

/// What git is given: the environment of the project's commands, without what would point it elsewhere.
fn for_git(environment: &BTreeMap<String, String>) -> Environment {
    let others = environment.iter().filter(|(name, _)| !name.starts_with("GIT_"));
    let mut all: Environment = others.map(|(name, value)| (name.into(), value.into())).collect();
    all.insert("GIT_TERMINAL_PROMPT".into(), "0".into());
    // Its words are read.
    all.insert("LC_ALL".into(), "C".into());
    all
}

/// Makes worktrees.
struct Trees {
    folder: PathBuf,
    environment: Arc<BTreeMap<String, String>>,
    /// Git does not make two of one repository at once.
    making: Mutex<()>,
}

impl Trees {
    fn make(&self, run: &str, seq: u64, project: &Path) -> Result<Tree, String> {
        let _one = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let environment = for_git(&self.environment);
        let git = |arguments: &[&OsStr]| git(&environment, project, arguments);
        let word = |text: &'static str| OsStr::new(text);
        let base = git(&[word("rev-parse"), word("--verify"), word("-q"), word("HEAD^{commit}")])
            .map_err(|_| "there is no commit yet that a git worktree could start from".to_owned())?;
        let prefix = git(&[word("rev-parse"), word("--show-prefix")])?;
        disk::private_folder(&self.folder)
            .map_err(|error| format!("the folder for git worktrees, {}: {error}", self.folder.display()))?;
        for number in 1..=EARLIER {
            let name = if number == 1 { format!("{run}-{seq}") } else { format!("{run}-{seq}-{number}") };
            let path = self.folder.join(&name);
            let tree = Tree {
                inside: path.join(&prefix),
                path,
                branch: format!("workflow-code/{name}"),
                base: base.clone(),
                project: project.to_owned(),
                environment: environment.clone(),
            };
            // One of an earlier try of this agent, which ended with its process.
            if tree.path.exists() && !tree.remove_unchanged() {
                continue;
            }
            let branch = OsStr::new(&tree.branch);
            let reference = format!("refs/heads/{}", tree.branch);
            if git(&[word("rev-parse"), word("--verify"), word("-q"), OsStr::new(&reference)]).is_ok() {
                // Somebody keeps what was made on it.
                continue;
            }
            git(&[
                word("worktree"),
                word("add"),
                word("--quiet"),
                word("-b"),
                branch,
                word("--"),
                tree.path.as_os_str(),
                OsStr::new(&base),
            ])?;
            if !tree.inside.is_dir() {
                tree.remove_unchanged();
                return Err(format!("the project's folder `{prefix}` is in no commit, so a git worktree has it not"));
            }
            return Ok(tree);
        }
        Err(format!("{EARLIER} earlier git worktrees of this agent were kept in {}", self.folder.display()))
    }
}

/// A worktree.
struct Tree {
    path: PathBuf,
    /// The project's folder in it.
    inside: PathBuf,
    branch: String,
    base: String,
    project: PathBuf,
    environment: Environment,
}

impl Tree {
    /// Takes it away if its agent left it as it was, and tells of it otherwise.
    fn close(&self, seq: u64, told: &mpsc::UnboundedSender<Kept>) {
        if !self.remove_unchanged() {
            // Nobody listens any more once the run is over.
            let _ = told.send(Kept { seq, path: self.path.clone(), branch: self.branch.clone() });
        }
    }

    fn is_unchanged(&self) -> bool {
        let git = |arguments: &[&str]| {
            let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
            git(&self.environment, &self.path, &arguments)
        };
        git(&["status", "--porcelain", "-z", "--untracked-files=normal"]).is_ok_and(|changes| changes.is_empty())
            && git(&["rev-parse", "HEAD"]).is_ok_and(|commit| commit == self.base)
    }

    /// Returns whether it is gone. When git cannot say, it stays.
    fn remove_unchanged(&self) -> bool {
        if !self.is_unchanged() {
            return false;
        }
        let git = |arguments: &[&OsStr]| git(&self.environment, &self.project, arguments);
        let word = |text: &'static str| OsStr::new(text);
        // Without `--force` git looks once more itself.
        let gone = git(&[word("worktree"), word("remove"), word("--"), self.path.as_os_str()]);
        if let Err(error) = &gone {
            tracing::warn!(worktree = %self.path.display(), %error, "a git worktree could not be removed");
            return false;
        }
        // Its only commit is the one that it started from.
        if let Err(error) = git(&[word("branch"), word("-q"), word("-D"), word("--"), OsStr::new(&self.branch)]) {
            tracing::warn!(branch = self.branch, %error, "a git branch could not be removed");
        }
        true
    }
}

/// Runs git without the repository's hooks. Returns what it said, or why it failed.
fn git(environment: &Environment, folder: &Path, arguments: &[&OsStr]) -> Result<String, String> {
    let spec = Spec::new("git")
        .arguments(["-c", "core.hooksPath=/dev/null"])
        .arguments(arguments)
        .folder(folder)
        .environment(environment.clone());
    let mut child = spec.spawn_blocking().map_err(|error| format!("git cannot be started: {error}"))?;
    // Both at once, so that neither pipe fills up while the other is read; what is beyond the limit ends git.
    let complaints = child.stderr.take().map(|stderr| std::thread::spawn(move || read(stderr)));
    let said = child.stdout.take().map(read).unwrap_or_default();
    let complained = complaints.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let status = child.wait().map_err(|error| format!("git: {error}"))?;
    if !status.success() {
        return Err(format!("git: {}", complained.trim().lines().last().unwrap_or("it failed without a word")));
    }
    Ok(said.trim_end_matches('\n').to_owned())
}

fn read(from: impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    // What came before an error counts.
    let _ = from.take(SAID).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
