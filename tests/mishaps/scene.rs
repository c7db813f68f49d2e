//! A run with two questions and every kind of effect, driven by the product's own executor over a database that a diary is
//! kept of.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{AnswerAction, Envelope, InteractionKind, Origin, RunId};
use project::Manifest;
use runtime::{Asked, Executor, Folders, Project, RunEvent, RunHandle, WorkerImage};
use serde_json::{Value, json};
use store::{NewAnswer, Owner, Store, StoreOptions};
use tempfile::TempDir;
use workflow_code_tests::executable;

use crate::vfs;

const OURS: &str = "11111111-1111-4111-8111-111111111111";
const OTHERS: &str = "22222222-2222-4222-8222-222222222222";

/// The boot id of the machine before it lost its power.
const BEFORE: &str = "before";

/// It says what it did after each thing, as a script may tell the world.
const SOURCE: &str = r"
export default async function (input, flow) {
  const unsure = [];
  const sure = async (what, work) => {
    try { await work(); console.log('did ' + what); }
    catch (error) { if (error.code !== 'approval_denied') throw error; unsure.push(what); }
  };
  const program = (word) => flow.exec('/bin/sh', ['-c', 'echo $1 >> $2', 'sh', word, input.effects]);
  await sure('one', () => program('one'));
  const { mood } = await flow.form({ title: 'First', fields: { mood: { type: 'string', required: true } } });
  await flow.kv.set('mood', mood);
  console.log('kept mood');
  await sure('post', () => flow.http({ url: input.url, method: 'POST', body: 'order' }));
  await sure('related', () => flow.related('other').run('main', { effects: input.effects }));
  const leave = await flow.approve({ tool: 'second', args: {} });
  await sure('two', () => program('two'));
  return { mood, leave, unsure };
}
export const entrypoint = { params: { effects: { type: 'string' }, url: { type: 'string' } } };
";

const OTHER_SOURCE: &str = r"
export default async function (input, flow) {
  await flow.exec('/bin/sh', ['-c', 'echo $1 >> $2', 'sh', 'related', input.effects]);
}
export const entrypoint = { params: { effects: { type: 'string' } } };
";

/// What the run does outside, each of which must happen once.
pub(crate) const EFFECTS: [&str; 4] = ["one", "post", "related", "two"];

/// A server that counts requests.
#[derive(Debug)]
pub(crate) struct Server {
    host: String,
    asked: Arc<AtomicU64>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                count.fetch_add(1, Ordering::SeqCst);
                let _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            }
        });
        Self { host, asked }
    }
}

/// Projects, a server and a place for data.
#[derive(Debug)]
pub(crate) struct Scene {
    folder: TempDir,
    server: Server,
}

/// Memory where there is some: the tests write gigabytes, and what they test is not the drive.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.unwrap()
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::of(SOURCE, json!({ "script": "./main.workflow.ts" }))
    }

    /// The same with another script, declared like this.
    pub(crate) fn of(source: &str, entrypoint: Value) -> Self {
        let scene = Self { folder: folder(), server: Server::start() };
        let write = |path: &str, text: &str| {
            let path = scene.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let package = |id: &str, entrypoint: &Value, alias: &str, other: &str| {
            json!({ "name": "scene", "id": id, "projectType": "workflow", "workflow": {
                "entrypoints": { "main": entrypoint }, "httpHosts": [scene.server.host],
                "relatedProjects": { alias: { "id": other } },
            } })
            .to_string()
        };
        write("ours/package.json", &package(OURS, &entrypoint, "other", OTHERS));
        write("ours/main.workflow.ts", source);
        write("others/package.json", &package(OTHERS, &json!("./main.workflow.ts"), "ours", OURS));
        write("others/main.workflow.ts", OTHER_SOURCE);
        scene
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap()
    }

    fn effects_file(&self) -> PathBuf {
        self.root().join("effects")
    }

    /// How often each effect was seen since the last time they were forgotten.
    pub(crate) fn effects(&self) -> HashMap<String, u64> {
        let mut seen = HashMap::from([("post".to_owned(), self.server.asked.load(Ordering::SeqCst))]);
        for line in fs::read_to_string(self.effects_file()).unwrap_or_default().lines() {
            *seen.entry(line.to_owned()).or_insert(0) += 1;
        }
        seen
    }

    pub(crate) fn forget_effects(&self) {
        self.server.asked.store(0, Ordering::SeqCst);
        let _ = fs::remove_file(self.effects_file());
    }

    pub(crate) fn project(&self, data: &Path) -> Arc<Project> {
        let manifest = Manifest::read(&self.root().join("ours")).unwrap();
        Arc::new(Project {
            title: manifest.name.clone(),
            id: None,
            folders: Folders {
                data: data.to_owned(),
                files: data.join("files"),
                kv: data.join("kv").join(&manifest.uuid),
                values: data.join("values"),
                created: data.join("created"),
            },
            manifest,
            environment: HashMap::new(),
            connection: None,
            desktop_config_dir: None,
            auth_dir: None,
            allow_exec: vec!["*".into()],
            related: vec![format!("other={}", self.root().join("others").display())],
            provider: None,
            agents_file: None,
            profile: None,
        })
    }

    /// The history in a data folder, as a process finds it after the machine was started again: no owner from before lives.
    pub(crate) fn open(data: &Path) -> Store {
        let options = StoreOptions { is_alive: Arc::new(|owner| owner.boot != BEFORE), ..StoreOptions::default() };
        Store::new(data.join("history.db"), options)
    }

    /// Starts the run and sees it to its end, or to where it stops.
    pub(crate) fn play(&self, data: &Path) -> Result<Envelope, String> {
        let store = Store::new(data.join("history.db"), StoreOptions::default());
        block_on(async {
            let owner = Owner { boot: BEFORE.into(), ..Owner::current() };
            let executor = Executor::owned_by(owner, store, WorkerImage::at(executable()), 2);
            let input = json!({ "effects": self.effects_file(), "url": format!("http://{}/order", self.server.host) });
            let outcome = match self.start(&executor, data, input).await {
                Ok(handle) => follow(handle).await,
                Err(error) => Err(error),
            };
            executor.end().await;
            outcome
        })
    }

    /// Starts the run.
    pub(crate) async fn start(&self, executor: &Executor, data: &Path, input: Value) -> Result<RunHandle, String> {
        let project = self.project(data);
        let report = executor.analyse(&project.manifest).await;
        let entrypoint = report.entrypoints.first().ok_or(format!("{:?}", report.errors))?.clone();
        let request = Executor::prepare(&project, &entrypoint, input, Origin::Cli).map_err(|it| it.to_string())?;
        executor.start(request).await.map_err(|error| model::with_causes(&error))
    }

    /// Takes the run up again as another process after the one that had it is gone.
    pub(crate) fn resume(&self, data: &Path, run: &RunId) -> Result<Envelope, String> {
        let store = Self::open(data);
        block_on(async {
            let executor = Executor::new(store, WorkerImage::at(executable()), 2);
            let outcome = match executor.resume(run, None, self.project(data)).await {
                Ok(handle) => follow(handle).await,
                Err(error) => Err(model::with_causes(&error)),
            };
            executor.end().await;
            outcome
        })
    }
}

pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime
        .block_on(async { tokio::time::timeout(Duration::from_secs(120), work).await })
        .unwrap_or_else(|_| Err("it hangs".into()));
    runtime.shutdown_timeout(Duration::from_secs(20));
    outcome
}

/// What a person answers.
fn answer(asked: &Asked) -> NewAnswer {
    let (action, content) = match (asked.kind, asked.form.title.as_str()) {
        (InteractionKind::Form, _) => (AnswerAction::Accept, json!({ "mood": "calm" })),
        (InteractionKind::Approval, "Allow second?") => (AnswerAction::Accept, json!({ "approve": true })),
        // Something may have been done before: once is enough.
        (InteractionKind::Approval, _) => (AnswerAction::Decline, Value::Null),
    };
    NewAnswer { action, content, by: "test".into() }
}

/// Answers everything, and writes down what is told.
async fn follow(mut run: RunHandle) -> Result<Envelope, String> {
    vfs::told(format!("run {}", run.run_id.as_ref().unwrap()));
    loop {
        tokio::select! {
            biased;
            Some(event) = run.events.recv() => match event {
                RunEvent::Question(asked) => {
                    vfs::told(format!("asked {}", asked.form.title));
                    match run.answer(asked.number, answer(&asked)).await {
                        Ok(()) => vfs::told(format!("answered {}", asked.form.title)),
                        // Nobody took it down: ask again later.
                        Err(_) => run.park(model::ErrorCode::InteractionRequired),
                    }
                }
                RunEvent::Output { text, .. } => vfs::told(text),
                RunEvent::Answered { .. } | RunEvent::Progress { .. } => {}
            },
            ended = &mut run.result => return ended.map_err(|_| "no result".into()),
        }
    }
}

/// One test at a time: the diary is everybody's, and an executor that ends takes every process below this one with it.
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
