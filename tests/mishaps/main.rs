//! What is left when the power goes or the disk fails: a run with two questions, cut at every write, and a store whose n-th
//! write fails, for every n. And what a run does that waits while days go by, clocks jump and the machine starts again.
//!
//! The executor runs in this process, so that its disk, clock, and boot id can be replaced; workers are the real ones.
//! `vfs` keeps the diary of what is written and has writes fail, `disk` says what of a diary is there after a loss of
//! power, `scene` is the run, `writes` the store by itself, `clocks` time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "all of this is test code, also what lies outside the test functions"
)]

mod clocks;
mod disk;
mod scene;
mod vfs;
mod writes;

use std::collections::HashSet;
use std::path::Path;

use disk::{Chance, Disk};
use model::{EnvelopeStatus, RunId, RunStatus};
use scene::{EFFECTS, Scene};
use serde_json::json;
use store::{DataStore, JournalKind, RunRecord, StoreOptions};
use vfs::{Failing, Fault, Line};

/// What was told to somebody before a moment.
#[derive(Debug, Default, Clone)]
struct Told {
    run: Option<RunId>,
    words: HashSet<String>,
}

impl Told {
    fn hear(&mut self, line: &Line) {
        if let Line::Told(text) = line {
            for text in text.lines() {
                match text.strip_prefix("run ") {
                    Some(run) => self.run = Some(run.parse().unwrap()),
                    None => drop(self.words.insert(text.to_owned())),
                }
            }
        }
    }

    fn has(&self, text: &str) -> bool {
        self.words.contains(text)
    }
}

/// The effects that the journals of a run and of the one it started say were done.
fn done_by(record: &RunRecord, store: &store::Store) -> HashSet<String> {
    let mut done = HashSet::new();
    let mut made = std::collections::HashMap::new();
    for row in store.journal(&record.summary.run_id).unwrap().rows {
        let seq = row.seq.unwrap_or(0);
        let payload = row.payload.unwrap_or_default();
        match row.kind {
            JournalKind::Issue => {
                let what = match payload["kind"].as_str().unwrap() {
                    "exec" => payload["args"]["args"][3].as_str().unwrap().to_owned(),
                    "http" => "post".to_owned(),
                    other => other.to_owned(),
                };
                made.insert(seq, what);
            }
            JournalKind::Done if payload.get("ok").is_some() => done.extend(made.get(&seq).cloned()),
            _ => {}
        }
    }
    done
}

/// Looks at what is left in a data folder: a sound database, and everything in it that was told and is to survive.
fn look(data: &Path, told: &Told) -> Vec<String> {
    let mut faults = Vec::new();
    let store = Scene::open(data);
    match store.integrity() {
        Ok(damage) => faults.extend(damage),
        Err(error) => return vec![model::with_causes(&error)],
    }
    let promises = EFFECTS.iter().any(|effect| told.has(&format!("did {effect}")))
        || ["First", "Allow second?"].iter().any(|title| told.has(&format!("asked {title}")));
    let record = match told.run.as_ref().map(|run| store.show(run)) {
        Some(Ok(record)) => record,
        _ if !promises => return faults,
        other => return vec![format!("the run is not there: {other:?}")],
    };
    let done = done_by(&record, &store);
    for effect in EFFECTS.iter().filter(|effect| told.has(&format!("did {effect}")) && !done.contains(**effect)) {
        faults.push(format!("`{effect}` was done, and nobody knows"));
    }
    for title in ["First", "Allow second?"] {
        let question = record.questions.iter().find(|question| question.form.title == title);
        let answer = question.and_then(|question| question.answer.as_ref());
        if told.has(&format!("asked {title}")) {
            let waits = record.summary.status == RunStatus::WaitingForInput || answer.is_some();
            if question.is_none() || !waits {
                faults.push(format!("`{title}` was asked, and the run is {:?}", record.summary.status));
            }
        }
        if told.has(&format!("answered {title}")) && answer.is_none() {
            faults.push(format!("the answer to `{title}` is lost"));
        }
    }
    // A later state that is safe was told, so this one is older than its 100 ms or was made safe with it.
    if told.has("did post") {
        let pairs = DataStore::new(&data.join("kv/11111111-1111-4111-8111-111111111111"), StoreOptions::default());
        match pairs.kv_get("mood") {
            Ok(Some(mood)) if mood == "calm" => {}
            other => faults.push(format!("the pair is lost: {other:?}")),
        }
        if !done.contains("kv.set") {
            faults.push("that a pair was set is lost".into());
        }
    }
    faults
}

/// Takes the run up from what is left, and looks that it comes to its end with everything done once.
fn finish(scene: &Scene, data: &Path, told: &Told) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(run) = told.run.as_ref().filter(|run| Scene::open(data).show(run).is_ok()) else { return faults };
    scene.forget_effects();
    let record = Scene::open(data).show(run).unwrap();
    let before = done_by(&record, &Scene::open(data));
    if record.summary.status.is_final() {
        return faults;
    }
    let ended = scene.resume(data, run);
    match &ended {
        Ok(envelope) if envelope.status == EnvelopeStatus::Success => {
            let output = envelope.output.clone().unwrap_or_default();
            if output["mood"] != "calm" || output["leave"] != true {
                faults.push(format!("it ended with {output}"));
            }
        }
        other => faults.push(format!("it does not come to its end: {other:?}")),
    }
    let seen = scene.effects();
    for effect in EFFECTS {
        let times = seen.get(effect).copied().unwrap_or(0);
        if times > u64::from(!before.contains(effect)) {
            faults.push(format!("`{effect}` was done before, and {times} times again"));
        }
    }
    faults
}

#[test]
fn whatever_was_told_as_safe_survives_a_loss_of_power_at_every_write() {
    let _alone = scene::alone();
    let scene = Scene::new();
    let data = scene.root().join("data");
    vfs::begin(&data, None);
    let envelope = scene.play(&data);
    let diary = vfs::end();
    let envelope = envelope.unwrap();
    assert_eq!(envelope.output, Some(json!({ "mood": "calm", "leave": true, "unsure": [] })), "{envelope:?}");
    assert!(EFFECTS.iter().all(|effect| scene.effects().get(*effect) == Some(&1)), "{:?}", scene.effects());

    let (mut disk, mut told, mut chance) = (Disk::default(), Told::default(), Chance(20_260_828));
    let (mut cuts, mut resumed) = (0, 0);
    let mut faults = Vec::new();
    for (place, line) in diary.iter().enumerate() {
        disk.go_on(line);
        told.hear(line);
        // Only syncs and words change what must be there, but every write changes what may.
        for mixture in [false, true] {
            let left = scene::folder();
            disk.leave(left.path(), mixture.then_some(&mut chance));
            cuts += 1;
            faults.extend(look(left.path(), &told).into_iter().map(|fault| format!("line {place}: {fault}")));
        }
        // Going on takes a worker, so it is tried where something was told.
        if matches!(line, Line::Told(_)) {
            let left = scene::folder();
            disk.leave(left.path(), None);
            resumed += 1;
            faults.extend(finish(&scene, left.path(), &told).into_iter().map(|it| format!("after {line:?}: {it}")));
        }
        assert!(faults.len() < 20, "{faults:#?}");
    }
    println!("{} lines, {cuts} cuts, {resumed} times taken up", diary.len());
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(told.has("did two") && told.has("answered Allow second?") && cuts > 200, "{told:?}");
}

/// The n-th write of a whole run fails, for many n: the call is answered, nothing told is lost, and once the disk works the
/// run comes to its end.
#[test]
fn a_write_that_fails_during_a_run_loses_nothing() {
    let _alone = scene::alone();
    let scene = Scene::new();
    let whole = scene.root().join("whole");
    vfs::begin(&whole, None);
    scene.play(&whole).unwrap();
    let (acts, _) = vfs::mend();
    vfs::end();
    assert!(acts > 100, "{acts}");
    let mut faults = Vec::new();
    let mut tried = 0;
    // Every write is had fail in `writes`; here a whole run is made for each, so some of them must do.
    for (number, first) in (0..acts).step_by(usize::try_from(acts / 24).unwrap()).enumerate() {
        let how = [Failing::Broken, Failing::Full, Failing::Short][number % 3];
        let many = if number % 2 == 0 { 1 } else { u64::MAX };
        let data = scene.root().join(format!("data-{number}"));
        scene.forget_effects();
        vfs::begin(&data, Some(Fault { how, first, many }));
        let outcome = scene.play(&data);
        let (_, failed) = vfs::mend();
        let before = scene.effects();
        let diary = vfs::end();
        let mut told = Told::default();
        diary.iter().for_each(|line| told.hear(line));
        tried += u64::from(failed > 0);
        let mut found = look(&data, &told);
        if outcome.as_ref().is_err_and(|error| error.contains("hangs")) {
            found.push("the call is not answered".into());
        }
        found.extend(
            EFFECTS.iter().filter(|it| before.get(**it).copied().unwrap_or(0) > 1).map(|it| format!("{it} twice")),
        );
        found.extend(finish(&scene, &data, &told));
        faults.extend(found.into_iter().map(|fault| format!("{how:?} from {first} on ({many}): {fault}; {outcome:?}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(tried > 15, "only {tried} of the faults were met");
}
