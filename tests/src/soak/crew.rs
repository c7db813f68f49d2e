//! The processes of a crash harness: launchers with their clients, terminals that run and resume, and their workers.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use process::BlockingChild;
use process::proc_info::{self, ProcessFacts};
use process::tree::{self, Signal};
use serde_json::{Value, json};
use store::RunRecord;

use super::Chance;
use super::checks::Book;
use super::place::Place;
use crate::{Answer, Client, ClientOptions, executable};

/// Launchers at a time.
const LAUNCHERS: usize = 3;

/// Terminals at a time.
const TERMINALS: usize = 3;

/// Calls that a client has open at a time.
const CALLS: usize = 3;

/// Runs that are taken up side by side at the end.
const FINISHERS: usize = 4;

/// Unfinished runs looked at, in each state, to take one of them up.
const FEW: usize = 6;

/// The same at the end.
const MANY: usize = 50;

/// A launcher with the calls that its client waits for.
struct Launcher {
    client: Client,
    calls: Vec<Value>,
}

/// A command in a terminal, with the lines it writes.
struct Terminal {
    child: BlockingChild,
    /// The run that it takes up.
    run: Option<String>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

pub(super) struct Crew<'a> {
    place: &'a Place,
    launchers: Vec<Launcher>,
    terminals: Vec<Terminal>,
}

impl<'a> Crew<'a> {
    pub(super) fn new(place: &'a Place) -> Self {
        Self { place, launchers: Vec::new(), terminals: Vec::new() }
    }

    /// Starts what is missing: launchers with calls, terminals with new runs or with such as wait to be taken up.
    pub(super) fn fill_up(&mut self, chance: &mut Chance, book: &mut Book) -> Result<(), String> {
        while self.launchers.len() < LAUNCHERS {
            let launcher = self.launcher(chance);
            self.launchers.push(launcher);
        }
        for launcher in &mut self.launchers {
            while launcher.calls.len() < CALLS {
                let arguments = json!({ "id": book.next_id(), "file": self.place.effects });
                let tool = if chance.below(3) == 0 { "legs" } else { "steps" };
                launcher.calls.push(launcher.client.ask("tools/call", json!({ "name": tool, "arguments": arguments })));
            }
        }
        while self.terminals.len() < TERMINALS {
            let unfinished = book.unfinished(self.place, FEW);
            match chance.one_of(&unfinished) {
                Some(record) if chance.below(4) > 0 => {
                    self.resume(record, chance)?;
                    // Now and then two people answer the same question at once.
                    if chance.below(4) == 0 {
                        self.resume(record, chance)?;
                    }
                }
                Some(_) | None => self.run(chance, book)?,
            }
        }
        Ok(())
    }

    fn launcher(&self, chance: &mut Chance) -> Launcher {
        // Some clients can be asked, and answer the first few questions.
        let asked = chance.below(2) == 0;
        let answer = json!({ "action": "accept", "content": { "mood": "calm" } });
        let options = ClientOptions {
            capabilities: if asked { json!({ "elicitation": {} }) } else { json!({}) },
            answers: if asked { vec![answer; 3] } else { Vec::new() },
            ..ClientOptions::default()
        };
        let mut arguments = vec!["mcp".to_owned(), self.place.project.to_string_lossy().into_owned()];
        arguments.extend(self.place.data_option());
        arguments.extend(["--allow-exec".to_owned(), "*".to_owned()]);
        Launcher { client: Client::start(&self.place.environment, &arguments, options), calls: Vec::new() }
    }

    fn run(&mut self, chance: &mut Chance, book: &mut Book) -> Result<(), String> {
        let tool = if chance.below(3) == 0 { "legs" } else { "steps" };
        let mut arguments = vec!["run".to_owned()];
        arguments.extend(self.place.data_option());
        arguments.extend(["--allow-exec".to_owned(), "*".to_owned()]);
        arguments.extend([self.place.project.to_string_lossy().into_owned(), tool.to_owned()]);
        arguments.extend(["--id".to_owned(), book.next_id()]);
        arguments.extend(["--file".to_owned(), self.place.effects.to_string_lossy().into_owned()]);
        self.terminal(&arguments, None)
    }

    fn resume(&mut self, record: &RunRecord, chance: &mut Chance) -> Result<(), String> {
        let mut arguments = vec!["runs".to_owned(), "resume".to_owned(), record.summary.run_id.to_string()];
        arguments.extend(self.place.data_option());
        if let Some(question) = record.pending() {
            if question.kind == model::InteractionKind::Approval {
                arguments.push("--deny".to_owned());
            } else {
                let mood = if chance.below(2) == 0 { "calm" } else { "brisk" };
                arguments.extend(["--answer-json".to_owned(), json!({ "mood": mood }).to_string()]);
            }
        }
        self.terminal(&arguments, Some(record.summary.run_id.to_string()))
    }

    fn terminal(&mut self, arguments: &[String], run: Option<String>) -> Result<(), String> {
        let mut child = self.place.environment.start(executable(), arguments).map_err(|error| error.to_string())?;
        child.stdin = None;
        let (stdout, stderr) = (lines(child.stdout.take()), lines(child.stderr.take()));
        self.terminals.push(Terminal { child, run, stdout, stderr });
        Ok(())
    }

    /// Lets everybody work for a while, and writes down what is acknowledged meanwhile.
    pub(super) fn work_for(&mut self, time: Duration, book: &mut Book) {
        let until = Instant::now() + time;
        loop {
            for launcher in &mut self.launchers {
                let client = &mut launcher.client;
                client.until(Duration::from_millis(2), |_| false);
                launcher.calls.retain(|id| {
                    if !client.is_answered(id) {
                        return true;
                    }
                    match client.wait(id) {
                        Answer::Result(result) => book.acknowledge(&result["structuredContent"]),
                        Answer::Error(error) => book.fault(format!("a call was answered with the error {error}")),
                    }
                    false
                });
            }
            self.terminals.retain_mut(|terminal| match terminal.child.try_wait() {
                Ok(None) => true,
                Ok(Some(_)) | Err(_) => {
                    terminal.read(book);
                    false
                }
            });
            if Instant::now() >= until {
                return;
            }
        }
    }

    /// Lets everybody work until something is acknowledged or done, or the time is over.
    pub(super) fn work_until_news(&mut self, most: Duration, book: &mut Book) {
        let until = Instant::now() + most;
        let before = (self.place.effects_length(), book.known());
        while Instant::now() < until && (self.place.effects_length(), book.known()) == before {
            self.work_for(Duration::ZERO, book);
        }
    }

    /// Kills one process: a launcher, a terminal, or anything below one. Returns how many were killed.
    pub(super) fn kill_one(&mut self, chance: &mut Chance) -> u64 {
        let roots: Vec<u32> = self
            .launchers
            .iter()
            .map(|launcher| launcher.client.pid())
            .chain(self.terminals.iter().map(|terminal| terminal.child.id()))
            .collect();
        let Some(root) = chance.one_of(&roots).copied() else { return 0 };
        let below: Vec<ProcessFacts> = tree::descendants(root);
        if chance.below(3) == 0
            && let Some(victim) = chance.one_of(&below)
        {
            return u64::from(tree::signal(*victim, Signal::Kill));
        }
        let Some(facts) = proc_info::facts(root) else { return 0 };
        if !tree::signal(facts, Signal::Kill) {
            return 0;
        }
        if let Some(place) = self.launchers.iter().position(|launcher| launcher.client.pid() == root) {
            self.launchers.remove(place).client.kill();
        }
        1
    }

    /// Kills everybody.
    pub(super) fn kill_all(&mut self, book: &mut Book) -> u64 {
        let mut kills = 0;
        for launcher in self.launchers.drain(..) {
            launcher.client.kill();
            kills += 1;
        }
        for mut terminal in self.terminals.drain(..) {
            if let Some(facts) = proc_info::facts(terminal.child.id()) {
                kills += u64::from(tree::signal(facts, Signal::Kill));
            }
            let _ = terminal.child.wait();
            terminal.read(book);
        }
        kills
    }

    /// Takes every run up until none is left that can be. Returns those that are.
    pub(super) fn finish(mut self, book: &mut Book, longest: Duration) -> Result<Vec<String>, String> {
        // No chance here: this is what must always work.
        let mut chance = Chance(0);
        let (mut before, mut since) = ((0, 0), Instant::now());
        loop {
            self.work_for(Duration::from_millis(10), book);
            let unfinished = book.unfinished(self.place, MANY);
            if unfinished.is_empty() && self.terminals.is_empty() {
                return Ok(Vec::new());
            }
            let now = (self.place.effects_length(), book.known());
            if now != before {
                (before, since) = (now, Instant::now());
            }
            if since.elapsed() >= longest {
                self.kill_all(book);
                let tell =
                    |record: &RunRecord| format!("{} is {}", record.summary.run_id, record.summary.status.as_str());
                return Ok(unfinished.iter().map(tell).collect());
            }
            for record in &unfinished {
                let in_hand = |terminal: &Terminal| terminal.run.as_deref() == Some(record.summary.run_id.as_str());
                if self.terminals.len() < FINISHERS && !self.terminals.iter().any(in_hand) {
                    self.resume(record, &mut chance)?;
                }
            }
        }
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        for terminal in &mut self.terminals {
            tree::kill(terminal.child.id());
            let _ = terminal.child.wait();
        }
    }
}

impl Terminal {
    /// Writes down what a command has acknowledged: the id of a run that it started, and a result.
    fn read(&mut self, book: &mut Book) {
        for line in &self.stderr {
            if let Some(run) = line.strip_prefix("run ")
                && !run.contains(' ')
            {
                book.acknowledge(&json!({ "runId": run }));
            }
        }
        let text: String = self.stdout.iter().collect();
        // A terminal that was killed may have begun to write.
        if let Ok(result) = serde_json::from_str::<Value>(&text) {
            book.acknowledge(&result);
        }
    }
}

fn lines(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(stream) = stream else { return };
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
