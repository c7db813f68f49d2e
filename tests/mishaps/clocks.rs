//! Days that go by while a run waits, clocks that jump, machines that are started again, and the time that a run may use.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{AnswerAction, Envelope, EnvelopeStatus, ErrorCode, ManualClock, RunStatus};
use runtime::{Executor, RunEvent, RunHandle, WorkerImage};
use serde_json::{Value, json};
use store::{Lease, NewAnswer, Owner, Store, StoreOptions};
use workflow_code_tests::executable;

use crate::scene::{Scene, alone, block_on};

/// 2026-08-28 in the morning.
const START: i64 = 1_787_900_000_000;
const DAY: i64 = 24 * 3_600 * 1_000;
const HOUR: i64 = DAY / 24;

/// It tells what its clock shows and what chance gives, before and after it waits.
const SOURCE: &str = r"
export default async function (input, flow) {
  const seen = [];
  const look = async () => { await flow.kv.get('nothing'); seen.push({ at: Date.now(), chance: Math.random() }); };
  await look();
  await flow.form({ title: 'First', fields: { mood: { type: 'string', required: true } } });
  await look();
  await flow.form({ title: 'Second', fields: { mood: { type: 'string', required: true } } });
  await look();
  return seen;
}
";

/// A machine with a clock of its own.
struct Machine {
    scene: Scene,
    data: PathBuf,
    clock: Arc<ManualClock>,
}

impl Machine {
    fn new(source: &str, entrypoint: Value) -> Self {
        let scene = Scene::of(source, entrypoint);
        let data = scene.root().join("data");
        Self { scene, data, clock: Arc::new(ManualClock::new(START)) }
    }

    /// A process with the same number and start, whenever the machine was started: only its boot id tells it apart.
    fn owner(boot: &str) -> Owner {
        Owner { boot: boot.into(), ..Owner::current() }
    }

    fn store(&self, boot: &'static str) -> Store {
        let options = StoreOptions {
            clock: self.clock.clone(),
            is_alive: Arc::new(move |owner| *owner == Self::owner(boot)),
            ..StoreOptions::default()
        };
        Store::new(self.data.join("history.db"), options)
    }

    fn executor(&self, boot: &'static str) -> Executor {
        Executor::owned_by(Self::owner(boot), self.store(boot), WorkerImage::at(executable()), 2)
    }

    /// Starts the run and leaves it at its first question.
    fn begin(&self, boot: &'static str) -> Envelope {
        block_on(async {
            let executor = self.executor(boot);
            let envelope = until_it_waits(self.scene.start(&executor, &self.data, json!({})).await?).await;
            executor.end().await;
            Ok(envelope)
        })
        .unwrap()
    }

    /// Answers the open question as somebody else, and takes the run up.
    fn answer(&self, boot: &'static str, before: &Envelope) -> Envelope {
        let run = before.run_id.clone().unwrap();
        block_on(async {
            let executor = self.executor(boot);
            let record = executor.store().show(&run).unwrap();
            let answer =
                NewAnswer { action: AnswerAction::Accept, content: json!({ "mood": "calm" }), by: "cli".into() };
            executor.store().answer(&run, record.pending().unwrap().number, &answer).unwrap();
            let project = self.scene.project(&self.data);
            let handle = executor.resume(&run, None, project).await.map_err(|error| model::with_causes(&error))?;
            let envelope = until_it_waits(handle).await;
            executor.end().await;
            Ok(envelope)
        })
        .unwrap()
    }
}

/// Lets a run go on until it has ended or asks.
async fn until_it_waits(mut run: RunHandle) -> Envelope {
    loop {
        tokio::select! {
            biased;
            Some(event) = run.events.recv() => if let RunEvent::Question(_) = event {
                run.park(ErrorCode::InteractionRequired);
            },
            ended = &mut run.result => return ended.unwrap(),
        }
    }
}

#[test]
fn a_run_goes_on_days_later_and_after_the_machine_was_started_again() {
    let _alone = alone();
    let machine = Machine::new(SOURCE, json!("./main.workflow.ts"));
    let first = machine.begin("monday");
    assert_eq!(first.status, EnvelopeStatus::InteractionRequired, "{first:?}");
    machine.clock.advance(29 * DAY);
    assert_eq!(machine.store("friday").expire_waiting().unwrap(), []);
    let second = machine.answer("friday", &first);
    assert_eq!((&second.run_id, second.pending.unwrap().title.as_str()), (&first.run_id, "Second"));
    machine.clock.advance(29 * DAY);
    let done = machine.answer("sunday", &first);
    assert_eq!((&done.run_id, done.status), (&first.run_id, EnvelopeStatus::Success), "{done:?}");
    let seen = done.output.unwrap();
    let at = |place: usize| seen[place]["at"].as_i64().unwrap();
    assert_eq!([at(0), at(1), at(2)], [START, START + 29 * DAY, START + 58 * DAY], "what it saw once it sees again");
    assert!(seen[0]["chance"] != seen[1]["chance"] && seen[1]["chance"] != seen[2]["chance"]);
    let record = machine.store("sunday").show(first.run_id.as_ref().unwrap()).unwrap();
    assert_eq!(record.questions.len(), 2, "each was asked once");
}

#[test]
fn a_run_is_interrupted_when_the_machine_was_started_again_though_its_process_number_lives() {
    let _alone = alone();
    let machine =
        Machine::new("export default async () => { await new Promise(() => {}); };", json!("./main.workflow.ts"));
    let run = block_on(async {
        let executor = machine.executor("monday");
        let handle = machine.scene.start(&executor, &machine.data, json!({})).await?;
        // The power goes: nobody records anything.
        Ok(handle.run_id.clone().unwrap())
    })
    .unwrap();
    assert_eq!(machine.store("monday").mark_interrupted().unwrap(), [], "its process lives");
    // With a real process file system: number and start are those of this very process, the boot id is not.
    let real = Store::new(machine.data.join("history.db"), StoreOptions::default());
    assert_eq!(real.mark_interrupted().unwrap(), std::slice::from_ref(&run));
    assert_eq!(machine.store("friday").run(&run).unwrap().status, RunStatus::Interrupted);
}

#[test]
fn a_clock_that_was_set_back_harms_nothing() {
    let _alone = alone();
    let machine = Machine::new(SOURCE, json!("./main.workflow.ts"));
    let first = machine.begin("monday");
    machine.clock.advance(-400 * DAY);
    assert_eq!(machine.store("monday").expire_waiting().unwrap(), []);
    assert_eq!(machine.store("monday").mark_interrupted().unwrap(), []);
    let second = machine.answer("monday", &first);
    assert_eq!(second.pending.unwrap().title, "Second");
    machine.clock.advance(400 * DAY + 5);
    let done = machine.answer("monday", &first);
    let seen = done.output.unwrap();
    let at = |place: usize| seen[place]["at"].as_i64().unwrap();
    assert_eq!([at(0), at(1), at(2)], [START, START, START + 5], "a script's clock never goes back");
    let record = machine.store("monday").show(first.run_id.as_ref().unwrap()).unwrap();
    assert_eq!(record.summary.status, RunStatus::Success);
    assert!(record.summary.duration_ms().unwrap() >= 0);
    let listed = machine.store("monday").list_runs(&store::RunFilter::default(), None, 10).unwrap();
    assert_eq!(listed.len(), 1);
}

#[test]
fn a_clock_that_jumps_ahead_and_is_put_right_gives_nothing_up() {
    let _alone = alone();
    let machine = Machine::new(SOURCE, json!("./main.workflow.ts"));
    let first = machine.begin("monday");
    assert_eq!(machine.store("monday").expire_waiting().unwrap(), []);
    machine.clock.advance(400 * DAY);
    assert_eq!(machine.store("monday").expire_waiting().unwrap(), []);
    machine.clock.advance(HOUR - 1);
    assert_eq!(machine.store("friday").expire_waiting().unwrap(), []);
    assert!(!machine.store("friday").claim_pruning(std::time::Duration::ZERO).unwrap(), "nor is anything deleted");
    machine.clock.advance(-400 * DAY);
    assert_eq!(machine.store("friday").expire_waiting().unwrap(), []);
    machine.clock.advance(HOUR);
    assert_eq!(machine.answer("friday", &first).pending.unwrap().title, "Second");
}

#[test]
fn a_run_that_nobody_answers_is_given_up_after_a_month_and_not_before() {
    let _alone = alone();
    let machine = Machine::new(SOURCE, json!("./main.workflow.ts"));
    let first = machine.begin("monday");
    let run = first.run_id.clone().unwrap();
    machine.clock.advance(30 * DAY - HOUR);
    assert_eq!(machine.store("friday").expire_waiting().unwrap(), []);
    machine.clock.advance(HOUR - 1);
    assert_eq!(machine.store("friday").expire_waiting().unwrap(), []);
    machine.clock.advance(1);
    assert_eq!(machine.store("friday").expire_waiting().unwrap(), std::slice::from_ref(&run), "looked at an hour ago");
    let record = machine.store("friday").show(&run).unwrap();
    assert_eq!(record.cancel_reason(), Some(model::CancelReason::Expired));
    let answer = NewAnswer { action: AnswerAction::Accept, content: json!({ "mood": "calm" }), by: "cli".into() };
    assert!(machine.store("friday").answer(&run, 0, &answer).is_err(), "it is over");
    assert!(machine.store("friday").take_over(&run, &Machine::owner("friday"), None).is_err());
}

/// Waits for its answer and then works for ever.
const ENDLESS: &str = "export default async (input, flow) => {\n\
     await flow.form({ title: 'First', fields: { mood: { type: 'string', required: true } } });\n\
     for (;;) await new Promise((done) => setTimeout(done, 20));\n};\n";

#[test]
fn a_run_that_is_taken_up_again_has_only_the_rest_of_its_time() {
    let _alone = alone();
    let entrypoint = json!({ "script": "./main.workflow.ts", "timeoutSeconds": 600 });
    let machine = Machine::new(ENDLESS, entrypoint);
    let first = machine.begin("monday");
    let run = first.run_id.clone().unwrap();
    let store = machine.store("monday");
    let used = store.spent(&run).unwrap();
    assert!(used < 300_000, "{used}: it has hardly begun");
    // As if it had worked for nearly ten minutes, and then its machine was started again.
    let lease: Lease = store.take_over(&run, &Machine::owner("monday"), None).unwrap().lease;
    store.spend(&lease, 599_500).unwrap();
    store.spend(&lease, 10).unwrap();
    assert_eq!(store.spent(&run).unwrap(), 599_500, "never less than before");
    let begun = Instant::now();
    let done = machine.answer("friday", &first);
    assert_eq!(done.status, EnvelopeStatus::Timeout, "{done:?}");
    assert!(begun.elapsed() < Duration::from_secs(300), "not the whole time again");
    assert!(done.error.unwrap().message.contains("600 s"));
}

#[test]
fn what_a_run_has_used_is_written_down_while_it_works() {
    let _alone = alone();
    let source = "export default async () => { for (;;) await new Promise((done) => setTimeout(done, 20)); };";
    let machine = Machine::new(source, json!({ "script": "./main.workflow.ts", "timeoutSeconds": 600 }));
    block_on(async {
        let executor = machine.executor("monday");
        let handle = machine.scene.start(&executor, &machine.data, json!({})).await?;
        let run = handle.run_id.clone().unwrap();
        // Its process may be killed at any moment from now on.
        while executor.store().spent(&run).unwrap() < 1_000 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        handle.cancel(model::CancelReason::Person);
        let ended = handle.result.await.unwrap();
        assert_eq!(ended.status, EnvelopeStatus::Cancelled);
        executor.end().await;
        Ok(())
    })
    .unwrap();
}
