//! What a crash harness knows, and what it looks at: nothing acknowledged is lost or doubled, nothing finished is done
//! twice, nothing runs without an owner, nothing is left.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use model::{CancelReason, RunId, RunStatus};
use serde_json::Value;
use store::{RunFilter, RunRecord, Store};

use super::SoakOutcome;
use super::place::{ALL_STEPS, Place};

/// How long orphans may take to see that their launcher is gone.
const LONGEST_FAREWELL: Duration = Duration::from_secs(60);

/// Runs looked at in one page.
const PAGE: usize = 500;

/// What was seen so far.
pub(super) struct Book {
    history: Store,
    ids: u64,
    /// Acknowledged runs, with their end when that was acknowledged as well.
    acknowledged: BTreeMap<String, Option<Value>>,
    /// How often a command had asked when its question was first seen.
    asked: HashMap<String, u64>,
    /// What was found outside of the looks.
    faults: Vec<String>,
}

impl Book {
    pub(super) fn new(place: &Place) -> Self {
        Self {
            history: place.history(),
            ids: 0,
            acknowledged: BTreeMap::new(),
            asked: HashMap::new(),
            faults: Vec::new(),
        }
    }

    /// How many runs are acknowledged, and how many of them with their ends.
    pub(super) fn known(&self) -> usize {
        self.acknowledged.len() + self.acknowledged.values().flatten().count()
    }

    /// Names the next run, once.
    pub(super) fn next_id(&mut self) -> String {
        self.ids += 1;
        format!("r{}", self.ids)
    }

    /// Notes what somebody was told of a run.
    pub(super) fn acknowledge(&mut self, result: &Value) {
        let Some(run) = result["runId"].as_str() else {
            return self.fault(format!("a result names no run: {result}"));
        };
        let is_final = result["status"].as_str().and_then(RunStatus::parse).is_some_and(RunStatus::is_final);
        let known = self.acknowledged.entry(run.to_owned()).or_default();
        if !is_final {
            return;
        }
        let end = serde_json::json!({ "status": result["status"], "output": result["output"] });
        match known {
            Some(before) if *before != end => {
                let fault = format!("run {run} ended as {before} and then as {end}");
                self.faults.push(fault);
            }
            Some(_) => {}
            None => *known = Some(end),
        }
    }

    pub(super) fn fault(&mut self, fault: String) {
        self.faults.push(fault);
    }

    fn records(&self) -> Result<Vec<RunRecord>, String> {
        let mut records = Vec::new();
        let mut before: Option<RunId> = None;
        loop {
            let page = self.history.list_runs(&RunFilter::default(), before.as_ref(), PAGE);
            let page = match page {
                Ok(page) => page,
                // Nothing was recorded before the first kill.
                Err(store::StoreError::Missing { .. }) => return Ok(records),
                Err(error) => return Err(model::with_causes(&error)),
            };
            let Some(last) = page.last() else { return Ok(records) };
            before = Some(last.run_id.clone());
            for run in &page {
                records.push(self.history.show(&run.run_id).map_err(|error| model::with_causes(&error))?);
            }
        }
    }

    /// Returns runs that somebody can take up, `most` in each state: they wait, or their process is gone.
    pub(super) fn unfinished(&mut self, place: &Place, most: usize) -> Vec<RunRecord> {
        if !place.data.join("history.db").exists() {
            return Vec::new();
        }
        if let Err(error) = self.history.mark_interrupted() {
            self.fault(format!("abandoned runs cannot be marked: {}", model::with_causes(&error)));
        }
        let mut found = Vec::new();
        for status in [RunStatus::WaitingForInput, RunStatus::Interrupted, RunStatus::Cancelled] {
            let filter = RunFilter { status: Some(status), ..RunFilter::default() };
            let runs = match self.history.list_runs(&filter, None, most) {
                Ok(runs) => runs,
                Err(error) => {
                    self.fault(format!("unfinished runs cannot be listed: {}", model::with_causes(&error)));
                    continue;
                }
            };
            for run in runs {
                match self.history.show(&run.run_id) {
                    Ok(record) if can_go_on(&record) => found.push(record),
                    Ok(_) => {}
                    Err(error) => self.fault(format!("run {}: {}", run.run_id, model::with_causes(&error))),
                }
            }
        }
        found
    }

    /// Looks at everything after a round, when nobody is left.
    pub(super) fn look(&mut self, place: &Place, outcome: &mut SoakOutcome) {
        let until = Instant::now() + LONGEST_FAREWELL;
        let mut left = place.environment.census();
        while !left.is_empty() && Instant::now() < until {
            std::thread::park_timeout(Duration::from_millis(20));
            left = place.environment.census();
        }
        outcome.check("no process is left", &left);
        if let Err(error) = self.history.mark_interrupted()
            && place.data.join("history.db").exists()
        {
            self.fault(format!("abandoned runs cannot be marked: {}", model::with_causes(&error)));
        }
        let damage = match self.history.integrity() {
            Ok(damage) => damage,
            Err(store::StoreError::Missing { .. }) => Vec::new(),
            Err(error) => vec![model::with_causes(&error)],
        };
        outcome.check("the database is whole", &damage);
        let (records, effects) = match (self.records(), place.effects()) {
            (Ok(records), Ok(effects)) => (records, effects),
            (Err(fault), _) | (_, Err(fault)) => {
                outcome.check("records and effects can be read", &[fault]);
                return;
            }
        };
        outcome.runs = records.len() as u64;
        outcome.successes = count(&records, |record| record.summary.status == RunStatus::Success);
        outcome.resumed = count(&records, |record| record.summary.epoch > 1);
        outcome.effects = effects.values().sum();
        outcome.check("everything was answered as it should be", &std::mem::take(&mut self.faults));
        outcome.check("no acknowledged run is lost", &self.lost(&records));
        outcome.check("no run is recorded twice", &doubled(&records));
        outcome.check("none runs without an owner", &abandoned(&records));
        outcome.check("nothing finished is done twice", &self.repeated(&records, &effects));
    }

    fn lost(&self, records: &[RunRecord]) -> Vec<String> {
        let known: HashMap<&str, &RunRecord> =
            records.iter().map(|record| (record.summary.run_id.as_str(), record)).collect();
        let mut faults = Vec::new();
        for (run, end) in &self.acknowledged {
            match (known.get(run.as_str()), end) {
                (None, _) => faults.push(format!("{run} is not recorded")),
                (Some(record), Some(end)) => {
                    let status = record.summary.status.as_str();
                    let output = record.report.output.clone().unwrap_or_default();
                    if end["status"] != status || (status == "success" && end["output"] != output) {
                        faults.push(format!("{run} was acknowledged as {end} and is recorded as {status} {output}"));
                    }
                }
                (Some(_), None) => {}
            }
        }
        faults
    }

    /// What was recorded as done must have been done once, however often the run was taken up since.
    fn repeated(&mut self, records: &[RunRecord], effects: &HashMap<(String, String), u64>) -> Vec<String> {
        let mut faults = Vec::new();
        for record in records {
            let id = record.input["id"].as_str().unwrap_or_default();
            let times = |step: &str| effects.get(&(id.to_owned(), step.to_owned())).copied().unwrap_or(0);
            let run = &record.summary.run_id;
            if record.summary.entrypoint_id.as_str() == "legs" {
                let asks = times("ask");
                if !record.questions.is_empty() {
                    let before = *self.asked.entry(run.to_string()).or_insert(asks);
                    if asks != before {
                        faults.push(format!("{run} had asked with its {before}. start and was started {asks} times"));
                    }
                }
                continue;
            }
            for step in ALL_STEPS.iter().filter(|step| times(step) > 1) {
                faults.push(format!("{run} did step {step} {} times", times(step)));
            }
        }
        faults
    }

    /// Looks at what only holds at the very end.
    pub(super) fn settle(&mut self, place: &Place, outcome: &mut SoakOutcome) {
        let (records, effects) = match (self.records(), place.effects()) {
            (Ok(records), Ok(effects)) => (records, effects),
            (Err(fault), _) | (_, Err(fault)) => {
                outcome.check("records and effects can be read", &[fault]);
                return;
            }
        };
        let mut ends = Vec::new();
        let mut done = Vec::new();
        let mut steps = 0;
        for record in &records {
            let run = &record.summary.run_id;
            match record.summary.status {
                RunStatus::Success => {}
                // Its worker was killed, which ends this call and no other.
                RunStatus::Failed
                    if record.report.error.as_ref().is_some_and(|error| error.code == model::ErrorCode::WorkerDied) =>
                {
                    continue;
                }
                // The same of a command: its program was killed.
                RunStatus::Failed if record.summary.entrypoint_id.as_str() == "legs" => continue,
                status => {
                    ends.push(format!("{run} is {} ({:?})", status.as_str(), record.report.error));
                    continue;
                }
            }
            let output = record.report.output.clone().unwrap_or_default();
            let id = record.input["id"].as_str().unwrap_or_default();
            let answer = record.questions.iter().find(|question| question.form.title == "Mood");
            let answer = answer.and_then(|question| question.answer.as_ref()).map(|answer| answer.content.clone());
            let mood = answer.unwrap_or_default()["mood"].clone();
            let times = |step: &str| effects.get(&(id.to_owned(), step.to_owned())).copied().unwrap_or(0);
            if record.summary.entrypoint_id.as_str() == "legs" {
                if output["answer"]["mood"] != mood || output["id"] != id || times("answer") == 0 {
                    done.push(format!("{run} ended with {output}, and was answered {mood}"));
                }
                continue;
            }
            if output["mood"] != mood || output["id"] != id {
                done.push(format!("{run} ended with {output}, and was answered {mood}"));
            }
            steps += ALL_STEPS.len() as u64;
            for step in ALL_STEPS {
                let unsure = output["unsure"].as_array().is_some_and(|unsure| unsure.iter().any(|one| one == step));
                if !unsure && times(step) != 1 {
                    done.push(format!("{run} did step {step} {} times", times(step)));
                }
                match place.has_mark(id, step) {
                    Ok(true) => {}
                    Ok(false) => done.push(format!("{run} left no mark of step {step}")),
                    Err(error) => done.push(error),
                }
            }
        }
        outcome.check("every run has a good end, or its worker was killed", &ends);
        outcome.check("every run that ended well did each step, and with the answer it was given", &done);
        let counted = match place.count() {
            Ok(count) if count >= steps => Vec::new(),
            Ok(count) => vec![format!("{steps} steps were finished, and {count} were counted")],
            Err(error) => vec![error],
        };
        outcome.check("no update of the shared value is lost", &counted);
        let enough = if outcome.successes > 0 && outcome.resumed > 0 {
            Vec::new()
        } else {
            vec!["no run ended well, or none was taken up again: nothing was tested".into()]
        };
        outcome.check("there was something to look at", &enough);
    }
}

fn can_go_on(record: &RunRecord) -> bool {
    let held = record.owner.as_ref().is_some_and(store::Owner::is_alive);
    match record.summary.status {
        RunStatus::WaitingForInput => record.pending().is_some() || !held,
        RunStatus::Interrupted => true,
        RunStatus::Cancelled => record.cancel_reason() == Some(CancelReason::ClientGone),
        RunStatus::Queued | RunStatus::Running | RunStatus::Success | RunStatus::Failed | RunStatus::Timeout => false,
    }
}

fn count(records: &[RunRecord], which: impl Fn(&RunRecord) -> bool) -> u64 {
    records.iter().filter(|record| which(record)).count() as u64
}

fn doubled(records: &[RunRecord]) -> Vec<String> {
    let mut runs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for record in records {
        runs.entry(record.input["id"].as_str().unwrap_or_default())
            .or_default()
            .push(record.summary.run_id.to_string());
    }
    runs.iter()
        .filter(|(_, runs)| runs.len() > 1)
        .map(|(id, runs)| format!("{id} is recorded as {}", runs.join(" and ")))
        .collect()
}

fn abandoned(records: &[RunRecord]) -> Vec<String> {
    records
        .iter()
        .filter(|record| matches!(record.summary.status, RunStatus::Queued | RunStatus::Running))
        .map(|record| format!("{} is {}", record.summary.run_id, record.summary.status.as_str()))
        .collect()
}
