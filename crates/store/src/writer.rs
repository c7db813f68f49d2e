//! The one thread that writes: a bounded queue of jobs, several of which may share a commit.
//!
//! A job is answered after the commit that holds it, never before. Jobs that wait while a commit goes on form the next
//! group, so that many callers cost few commits and one caller alone waits for nobody. A job that fails takes back its
//! own changes only. When the queue is full, callers wait: they are threads that write their own run's records.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::database::{Fault, Place};
use crate::{Durability, Result, StoreError};

/// Jobs that may wait in the queue.
const QUEUE: usize = 256;
/// Jobs that share one commit at most.
const GROUP: usize = 64;
/// Within this time what [`Durability::Soon`] wrote is safe against a loss of power.
const SOON: Duration = Duration::from_millis(80);
/// Pages in the write-ahead log (4 KiB each) from which on it is moved into the database in a quiet moment.
const CHECKPOINT: i32 = 1_000;
/// Without a job for so long it is quiet.
const QUIET: Duration = Duration::from_millis(30);
/// Pages from which on the log is moved at once, whoever waits.
const OVERDUE: i32 = 8_000;

/// Something to be written.
trait Job: Send {
    fn durability(&self) -> Durability;
    /// Does the work inside a transaction and keeps its outcome. Returns whether its changes are to stay.
    fn run(&mut self, connection: &Connection, path: &Path) -> bool;
    /// Tells the caller: the kept outcome, or why it could not be committed.
    fn answer(self: Box<Self>, failure: Option<StoreError>);
}

struct Task<T, F> {
    durability: Durability,
    work: F,
    outcome: Option<Result<T>>,
    reply: SyncSender<Result<T>>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: Fn(&Connection) -> std::result::Result<T, Fault> + Send,
{
    fn durability(&self) -> Durability {
        self.durability
    }

    fn run(&mut self, connection: &Connection, path: &Path) -> bool {
        let outcome = (self.work)(connection).map_err(|fault| fault.at(path));
        let stays = outcome.is_ok();
        self.outcome = Some(outcome);
        stays
    }

    fn answer(self: Box<Self>, failure: Option<StoreError>) {
        let answer = match (failure, self.outcome) {
            (None, Some(outcome)) | (Some(_), Some(outcome @ Err(_))) => Some(outcome),
            (Some(failure), _) => Some(Err(failure)),
            (None, None) => None,
        };
        if let Some(answer) = answer {
            // A caller that no longer listens has ended; what it wrote stays written.
            drop(self.reply.send(answer));
        }
    }
}

/// The sending end of the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Option<SyncSender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for dyn Job {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Job")
    }
}

impl Writer {
    /// Starts the thread. It opens its connection when the first job comes.
    pub(crate) fn start(place: Arc<Place>) -> Result<Self> {
        let path = place.path.clone();
        let (queue, jobs) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || Worker::new(place).run(&jobs))
            .map_err(|_| StoreError::NoWriter { path })?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Queues a job. The receiver gets its outcome after the commit.
    pub(crate) fn send<T, F>(&self, durability: Durability, work: F) -> Option<Receiver<Result<T>>>
    where
        T: Send + 'static,
        F: Fn(&Connection) -> std::result::Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = sync_channel(1);
        let task = Task { durability, work, outcome: None, reply };
        self.queue.as_ref()?.send(Box::new(task)).ok()?;
        Some(answer)
    }
}

impl Drop for Writer {
    /// Waits until everything queued is committed and safe.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread had ended early");
        }
    }
}

/// What the thread knows.
struct Worker {
    place: Arc<Place>,
    connection: Option<Connection>,
    /// Whether commits wait for the disk (`synchronous = FULL`).
    full: bool,
    /// When the last commits must be made safe against a loss of power.
    soon: Option<Instant>,
    /// When it will have been quiet for long enough to move the log into the database.
    tidy: Option<Instant>,
    /// Pages in the write-ahead log, as of the last commit.
    pages: Arc<AtomicI32>,
}

impl Worker {
    fn new(place: Arc<Place>) -> Self {
        Self { place, connection: None, full: false, soon: None, tidy: None, pages: Arc::default() }
    }

    fn run(mut self, jobs: &Receiver<Box<dyn Job>>) {
        loop {
            let next = match (self.soon, self.tidy) {
                (Some(soon), Some(tidy)) => Some(soon.min(tidy)),
                (soon, tidy) => soon.or(tidy),
            };
            let first = match next {
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => jobs.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match first {
                Ok(first) => {
                    let mut group = vec![first];
                    while group.len() < GROUP
                        && let Ok(next) = jobs.try_recv()
                    {
                        group.push(next);
                    }
                    self.work(group);
                    // Also while jobs come without a pause: the time may never be over otherwise.
                    self.make_safe_if_due();
                    let pages = self.pages.load(Ordering::Relaxed);
                    if pages > OVERDUE {
                        self.checkpoint();
                    } else if pages > CHECKPOINT {
                        self.tidy = Some(Instant::now() + QUIET);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.make_safe_if_due();
                    if self.tidy.is_some_and(|at| at <= Instant::now()) {
                        self.checkpoint();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if self.soon.is_some() {
            self.make_safe();
        }
    }

    fn make_safe_if_due(&mut self) {
        if self.soon.is_some_and(|at| at <= Instant::now()) {
            self.make_safe();
        }
    }

    fn work(&mut self, mut group: Vec<Box<dyn Job>>) {
        let failure = match self.commit(&mut group) {
            Ok(()) => None,
            Err(failure) if group.len() == 1 || matches!(failure, StoreError::Locked { .. }) => Some(failure),
            Err(_) => {
                // One of them may be to blame (too large for what is left of the disk): each for itself.
                for job in group {
                    self.work(vec![job]);
                }
                return;
            }
        };
        if failure.is_none() && self.soon.is_none() && group.iter().any(|job| job.durability() == Durability::Soon) {
            self.soon = Some(Instant::now() + SOON);
        }
        for job in group {
            job.answer(failure.clone());
        }
    }

    /// Runs the jobs in one transaction and commits it.
    fn commit(&mut self, group: &mut [Box<dyn Job>]) -> Result<()> {
        let full = group.iter().any(|job| job.durability() == Durability::Power);
        self.connect()?;
        let path = &self.place.path;
        let sql = |error| StoreError::sql(path, error);
        let Some(connection) = &self.connection else { return Err(StoreError::NoWriter { path: path.clone() }) };
        if full != self.full {
            // Not possible inside a transaction.
            connection
                .execute_batch(if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" })
                .map_err(sql)?;
            self.full = full;
        }
        begin(connection, self.place.patience).map_err(sql)?;
        let outcome = self.place.schema.check_writer(connection, path).and_then(|()| {
            let alone = group.len() == 1;
            let mut keeps = false;
            for job in group.iter_mut() {
                if !alone {
                    execute(connection, "SAVEPOINT job").map_err(sql)?;
                }
                let stays = job.run(connection, path);
                keeps |= stays;
                if !stays && connection.is_autocommit() {
                    // SQLite has taken the whole transaction back (disk full, I/O error).
                    return Err(StoreError::NoWriter { path: path.clone() });
                }
                if !alone {
                    if !stays {
                        execute(connection, "ROLLBACK TO job").map_err(sql)?;
                    }
                    execute(connection, "RELEASE job").map_err(sql)?;
                }
            }
            execute(connection, if keeps { "COMMIT" } else { "ROLLBACK" }).map_err(sql)
        });
        if outcome.is_err() && !connection.is_autocommit() && connection.execute_batch("ROLLBACK").is_err() {
            // A connection that cannot even roll back is given up; closing it takes everything back.
            self.connection = None;
        } else if full && outcome.is_ok() {
            // Syncing the log made every earlier commit safe as well.
            self.soon = None;
        }
        outcome
    }

    fn connect(&mut self) -> Result<()> {
        if self.connection.is_some() {
            return Ok(());
        }
        let mut connection = self.place.connect().map_err(|error| self.place.explained(error))?;
        let sql = |error| StoreError::sql(&self.place.path, error);
        // Checkpoints are made here, once the callers are answered, and not inside their commits.
        connection
            .execute_batch(
                // The system keeps the pages of the file anyway; ours are what one transaction touches.
                "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864; \
                 PRAGMA cache_size = -512",
            )
            .map_err(sql)?;
        let pages = Arc::clone(&self.pages);
        connection
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, count: i32| {
                pages.store(count, Ordering::Relaxed);
                Ok(())
            }))
            .map_err(sql)?;
        self.full = false;
        self.connection = Some(connection);
        Ok(())
    }

    /// Makes every commit so far safe against a loss of power, with a tiny commit that waits for the disk.
    fn make_safe(&mut self) {
        self.soon = None;
        let (reply, _answer) = sync_channel(1);
        let work = |connection: &Connection| -> std::result::Result<(), Fault> {
            connection.prepare_cached("UPDATE meta SET synced = synced + 1 WHERE one = 1")?.execute([])?;
            Ok(())
        };
        let mut group: Vec<Box<dyn Job>> =
            vec![Box::new(Task { durability: Durability::Power, work, outcome: None, reply })];
        if let Err(error) = self.commit(&mut group) {
            tracing::warn!(%error, "the last records are not yet safe against a loss of power");
        }
    }

    fn checkpoint(&mut self) {
        self.tidy = None;
        let Some(connection) = &self.connection else { return };
        let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(2));
        match moved {
            // The next writer starts the log anew; this count comes back with the next commit.
            Ok(_) => self.pages.store(0, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "the write-ahead log could not be moved into the database"),
        }
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Begins a transaction that may write. Takes the lock at once: one that reads first and writes later fails when
/// another process wrote in between, however long it would wait.
fn begin(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let since = Instant::now();
    loop {
        match execute(connection, "BEGIN IMMEDIATE") {
            // Busy without waiting: another process recovers or resets the log.
            Err(error) if crate::schema::is_busy(&error) && since.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(2));
            }
            outcome => return outcome,
        }
    }
}
