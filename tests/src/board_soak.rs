//! Many at once on one board: agents that create, claim, note, move and release, as servers and as commands, some of them
//! killed in the middle.
//!
//! Ids are given once, a card has one holder, what was acknowledged is there once, `doctor` finds nothing, and the shared
//! index says what the files say.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use process::BlockingChild;
use serde_json::{Value, json};

use crate::soak::Chance;
use crate::{Environment, executable};

/// Agents.
const WORKERS: usize = 12;
/// Cards they all want.
const SHARED: usize = 3;
/// How often a call is tried again whose server was killed.
const TRIES: usize = 200;

/// What is done, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct BoardSoakOptions {
    /// Where chance starts.
    pub seed: u64,
    /// What each agent does in a round, in rounds of creating, claiming, noting, moving and releasing.
    pub each: usize,
    /// Whether servers are killed.
    pub kills: bool,
    /// Rounds go on until this is over; one is always played.
    pub most: Duration,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct BoardSoakOutcome {
    /// Where chance started.
    pub seed: u64,
    /// Rounds, each on a board of its own.
    pub rounds: u64,
    /// Cards made.
    pub cards: u64,
    /// Claims of cards that all want.
    pub claims: u64,
    /// Notes on them.
    pub notes: u64,
    /// Servers killed.
    pub kills: u64,
    /// Checks that held.
    pub passed: u64,
    /// Checks that did not.
    pub failed: Vec<String>,
}

impl std::fmt::Display for BoardSoakOutcome {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(formatter, "seed {}", self.seed)?;
        writeln!(
            formatter,
            "{} rounds of {WORKERS} agents on one board: {} cards, {} claims, {} notes, {} killed",
            self.rounds, self.cards, self.claims, self.notes, self.kills
        )?;
        for fault in &self.failed {
            writeln!(formatter, "FAILED {fault}")?;
        }
        write!(formatter, "{} passed, {} failed", self.passed, self.failed.len())
    }
}

impl BoardSoakOutcome {
    fn check(&mut self, name: &str, faults: &[String]) {
        if faults.is_empty() {
            self.passed += 1;
        } else {
            self.failed.push(format!("round {}: {name}: {}", self.rounds, faults.join("; ")));
        }
    }
}

/// What all agents of a round share.
struct Room<'a> {
    environment: &'a Environment,
    root: PathBuf,
    /// Who holds which card, as was acknowledged.
    holders: Mutex<HashMap<String, String>>,
    faults: Mutex<Vec<String>>,
    /// Servers that may be killed.
    servers: Mutex<HashMap<usize, u32>>,
    kills: AtomicU64,
    over: AtomicBool,
}

/// What one agent was told that it did.
#[derive(Default)]
struct Done {
    cards: Vec<String>,
    notes: Vec<(String, String)>,
    claims: u64,
}

/// A server with its pipes.
struct Server {
    child: BlockingChild,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

/// How a call ended.
enum Answer {
    Record(Value),
    Refused(String),
    /// The server was killed, and nobody knows.
    Lost,
}

/// Plays rounds until the time is over.
///
/// # Errors
///
/// When a home cannot be made. What the product does wrong is in the outcome.
pub fn board_soak(
    options: BoardSoakOptions,
    mut tell: impl FnMut(&BoardSoakOutcome),
) -> Result<BoardSoakOutcome, String> {
    let begun = Instant::now();
    let mut outcome = BoardSoakOutcome { seed: options.seed, ..BoardSoakOutcome::default() };
    let mut chance = Chance::new(options.seed);
    loop {
        outcome.rounds += 1;
        round(options, &mut chance, &mut outcome)?;
        tell(&outcome);
        if begun.elapsed() >= options.most {
            return Ok(outcome);
        }
    }
}

fn round(options: BoardSoakOptions, chance: &mut Chance, outcome: &mut BoardSoakOutcome) -> Result<(), String> {
    let environment = Environment::new().map_err(|error| error.to_string())?;
    let root = environment.home().join("shop");
    let config =
        "export default { cards: { areas: [\"api\"] }, agents: { enabled: false }, ci: { enabled: false } };\n";
    environment.write("shop/project.config.mjs", config).map_err(|error| error.to_string())?;
    let room = Room {
        environment: &environment,
        root,
        holders: Mutex::default(),
        faults: Mutex::default(),
        servers: Mutex::default(),
        kills: AtomicU64::new(0),
        over: AtomicBool::new(false),
    };
    let shared: Vec<String> = (0..SHARED)
        .map(|at| {
            let made = room.command(&["card", "create", "--title", &format!("Shared {at}"), "--raised", "derived"]);
            made["id"].as_str().unwrap_or("").to_owned()
        })
        .collect();
    let seeds: Vec<u64> = (0..=WORKERS).map(|_| chance.next()).collect();
    let done: Vec<Done> = std::thread::scope(|scope| {
        let (room, shared) = (&room, &shared);
        let workers: Vec<_> = seeds[..WORKERS]
            .iter()
            .enumerate()
            .map(|(number, seed)| scope.spawn(move || room.work(number, Chance::new(*seed), options.each, shared)))
            .collect();
        if options.kills {
            let seed = seeds[WORKERS];
            scope.spawn(move || room.kill(Chance::new(seed)));
        }
        let done = workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect();
        room.over.store(true, Ordering::SeqCst);
        done
    });
    outcome.cards += done.iter().map(|one| one.cards.len() as u64).sum::<u64>();
    outcome.claims += done.iter().map(|one| one.claims).sum::<u64>();
    outcome.notes += done.iter().map(|one| one.notes.len() as u64).sum::<u64>();
    outcome.kills += room.kills.load(Ordering::SeqCst);
    let faults = room.faults.lock().unwrap_or_else(PoisonError::into_inner).clone();
    outcome.check("a card has one holder, and calls are answered", &faults);
    look(&room, &done, &shared, outcome);
    environment.assert_nothing_left();
    Ok(())
}

/// Looks at what is left when all have ended.
fn look(room: &Room<'_>, done: &[Done], shared: &[String], outcome: &mut BoardSoakOutcome) {
    let mut ids = HashSet::new();
    let twice = done.iter().flat_map(|one| &one.cards).filter(|id| !ids.insert((*id).clone()));
    outcome.check("no id is given twice", &twice.cloned().collect::<Vec<_>>());
    let list = room.command(&["card", "list"]);
    let there: HashSet<&str> =
        list["records"].as_array().into_iter().flatten().filter_map(|card| card["id"].as_str()).collect();
    let missing: Vec<String> = ids.iter().filter(|id| !there.contains(id.as_str())).cloned().collect();
    outcome.check("every card that was acknowledged is there", &missing);
    let bodies: HashMap<&str, String> = shared
        .iter()
        .map(|id| (id.as_str(), room.command(&["card", "show", id])["body"].as_str().unwrap_or("").to_owned()))
        .collect();
    let lost = done.iter().flat_map(|one| &one.notes).filter_map(|(card, note)| {
        let lines =
            bodies.get(card.as_str()).map_or(0, |body| body.lines().filter(|line| line.ends_with(note)).count());
        (lines != 1).then(|| format!("{note:?} stands {lines} times in {card}"))
    });
    outcome.check("every note is there once", &lost.collect::<Vec<_>>());
    let report = room.command(&["doctor"]);
    let findings = report["issues"].as_array().into_iter().flatten();
    // A lock of a killed process is broken by the next write, and so is named and no fault.
    let findings = findings.filter(|issue| issue["code"] != "stale-write-lock").map(Value::to_string);
    outcome.check("the doctor finds nothing", &findings.collect::<Vec<_>>());
    let _ = fs::remove_dir_all(room.root.join(".project/.cache/index"));
    let anew = room.command(&["card", "list"]);
    let differs = if anew == list { Vec::new() } else { vec![format!("{list} is {anew}")] };
    outcome.check("the shared index says what the files say", &differs);
}

impl Room<'_> {
    fn fault(&self, text: String) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// Runs a command and returns its answer; null when it was refused, which is a fault.
    fn command(&self, arguments: &[&str]) -> Value {
        let root = self.root.to_string_lossy();
        let mut all = vec!["board"];
        all.extend_from_slice(arguments);
        all.extend(["--json", "--root", &root]);
        match self.environment.run(&all) {
            Ok(done) => {
                if done.stdout.trim().is_empty() {
                    self.fault(format!("{arguments:?}: {}", done.stderr));
                }
                done.json()
            }
            Err(error) => {
                self.fault(format!("{arguments:?}: {error}"));
                Value::Null
            }
        }
    }

    fn start(&self, worker: usize) -> Option<Server> {
        let root = self.root.to_string_lossy();
        let mut child = self.environment.start(executable(), &["board", "mcp", "--root", &root]).ok()?;
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        if let Some(mut errors) = child.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        }
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).insert(worker, child.id());
        let mut server = Server { child, input, output: BufReader::new(output), next: 0 };
        let client = json!({ "name": "soak", "version": "1" });
        server.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
        Some(server)
    }

    /// Ends a server, so that its number is nobody else's while it may be killed.
    fn end(&self, worker: usize, server: &mut Option<Server>) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.remove(&worker);
        if let Some(Server { mut child, input, .. }) = server.take() {
            drop(input);
            let _ = child.wait();
        }
    }

    fn call(&self, worker: usize, server: &mut Option<Server>, tool: &str, arguments: &Value) -> Answer {
        if server.is_none() {
            *server = self.start(worker);
        }
        let answer = server
            .as_mut()
            .and_then(|server| server.ask("tools/call", &json!({ "name": tool, "arguments": arguments })));
        let Some(answer) = answer else {
            self.end(worker, server);
            return Answer::Lost;
        };
        let content = &answer["result"]["structuredContent"];
        match content["error"]["code"].as_str() {
            Some(code) => Answer::Refused(code.to_owned()),
            None => Answer::Record(content["record"].clone()),
        }
    }

    /// Creates, claims, notes, moves and releases, over and over.
    fn work(&self, worker: usize, mut chance: Chance, each: usize, shared: &[String]) -> Done {
        let (mut done, mut server) = (Done::default(), None);
        let actor = format!("agent-{worker}");
        for at in 0..each {
            let title = format!("Card {worker} {at} {}", chance.below(1000));
            let made = if chance.below(4) == 0 {
                Answer::Record(self.command(&["card", "create", "--title", &title, "--raised", "derived"]))
            } else {
                let fields = json!({ "title": title, "raised": "derived" });
                self.call(worker, &mut server, "project_card_create", &fields)
            };
            let own = match made {
                Answer::Record(card) => card["id"].as_str().map(str::to_owned),
                Answer::Refused(code) => {
                    self.fault(format!("a card was refused: {code}"));
                    None
                }
                Answer::Lost => None,
            };
            let wanted = chance.one_of(shared).cloned().unwrap_or_default();
            self.take(worker, &mut server, &wanted, &actor, &mut done);
            let note = format!("note {worker} {at}");
            let noted = json!({ "id": wanted, "text": note, "actor": actor });
            match self.call(worker, &mut server, "project_card_note", &noted) {
                Answer::Record(_) => done.notes.push((wanted.clone(), note)),
                Answer::Refused(code) => self.fault(format!("a note was refused: {code}")),
                Answer::Lost => {}
            }
            let Some(own) = own else { continue };
            done.cards.push(own.clone());
            let moves = [
                ("project_card_claim", json!({ "id": own, "actor": actor })),
                ("project_card_transition", json!({ "id": own, "actor": actor, "status": "review" })),
            ];
            for (tool, arguments) in moves {
                if let Answer::Refused(code) = self.call(worker, &mut server, tool, &arguments) {
                    self.fault(format!("{tool} of an own card was refused: {code}"));
                }
            }
        }
        // What a killed server may have claimed is given back.
        for card in shared {
            let freed = json!({ "id": card, "actor": actor, "status": "backlog" });
            let lost =
                |_: &usize| matches!(self.call(worker, &mut server, "project_card_release", &freed), Answer::Lost);
            if (0..TRIES).take_while(lost).count() == TRIES {
                self.fault(format!("no server answers {actor} any more"));
            }
        }
        self.end(worker, &mut server);
        done
    }

    /// Claims a card that all want; who gets it has it alone until it is given back.
    fn take(&self, worker: usize, server: &mut Option<Server>, card: &str, actor: &str, done: &mut Done) {
        let claim = json!({ "id": card, "actor": actor });
        match self.call(worker, server, "project_card_claim", &claim) {
            Answer::Record(record) => {
                done.claims += 1;
                if record["claimed_by"] != json!(actor) {
                    self.fault(format!("{card} was claimed by {actor} and is held by {}", record["claimed_by"]));
                }
                let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(other) = holders.insert(card.to_owned(), actor.to_owned()).filter(|other| other != actor) {
                    self.fault(format!("{card} is held by {other} and by {actor}"));
                }
            }
            Answer::Refused(code) if code == "CARD_ALREADY_CLAIMED" => return,
            Answer::Refused(code) => return self.fault(format!("a claim was refused: {code}")),
            Answer::Lost => return,
        }
        // Before it is given back, since somebody may have it a moment later.
        self.holders.lock().unwrap_or_else(PoisonError::into_inner).remove(card);
        let freed = json!({ "id": card, "actor": actor, "status": "backlog" });
        if let Answer::Refused(code) = self.call(worker, server, "project_card_release", &freed) {
            self.fault(format!("a release by its holder was refused: {code}"));
        }
    }

    /// Kills a server now and then, until all is over.
    fn kill(&self, mut chance: Chance) {
        while !self.over.load(Ordering::SeqCst) {
            std::thread::park_timeout(Duration::from_millis(20 + chance.below(80)));
            let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
            let mut pids: Vec<u32> = servers.values().copied().collect();
            pids.sort_unstable();
            if let Some(pid) = chance.one_of(&pids) {
                process::tree::kill(*pid);
                self.kills.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

impl Server {
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.input.write_all(format!("{message}\n").as_bytes()).ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}
