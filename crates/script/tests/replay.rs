//! A run that is continued: executed again from the top against its journal, in another process as far as it can tell.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

mod common;

use common::{Reply, TestHost, job_of, job_with_body, run, shown};
use serde_json::{Value, json};
use workflow_script::{CallKind, Delivery, Job, JobKind, JournalRow, Narration, Outcome, Stream};

/// A host whose agents answer with what they were asked.
fn host() -> TestHost {
    TestHost::new(|call| match call.kind {
        CallKind::Agent => Reply::Value(json!({"value": format!("<{}>", call.args["prompt"].as_str().unwrap_or("?"))})),
        CallKind::Form => Reply::Value(json!({"word": "yes"})),
        _ => Reply::Value(json!(call.seq)),
    })
}

/// Takes a job up where a host left it.
fn continued(job: &Job, host: &TestHost) -> Job {
    Job { journal: host.journal.clone(), narrated: Some(told(&host.narrations)), ..job.clone() }
}

fn is_node(event: &Narration) -> bool {
    matches!(event, Narration::NodeStarted { .. } | Narration::NodeEnded { .. })
}

/// How much was told but for nodes.
fn told(narrations: &[Narration]) -> u64 {
    narrations.iter().filter(|event| !is_node(event)).count() as u64
}

const FAN_OUT: &str = "
  const order = [];
  flow.phase('Gather');
  console.log('begin ' + Math.random());
  const parts = await flow.parallel([1, 2, 3, 4].map((n) => async () => { const r = await flow.agent('part ' + n); order.push(r); return r + Date.now() }));
  const raced = await Promise.race([flow.agent('turtle'), flow.agent('hare')]);
  const answers = await flow.step('ask', (flow) => flow.form({title: 'T', fields: {}}));
  flow.log('answered', {order});
  await new Promise((r) => setTimeout(r, 10));
  return { parts, raced, order, answers, chance: Math.random(), at: Date.now() };
";

#[test]
fn a_run_that_dies_after_any_delivery_ends_the_same() {
    for newest_first in [false, true] {
        let job = job_with_body(FAN_OUT);
        let mut whole = host();
        whole.newest_first = newest_first;
        let expected = run(&job, &mut whole);
        assert!(matches!(expected, Outcome::Success(_)), "{expected:?}");
        let deliveries = whole.journal.iter().filter(|row| matches!(row, JournalRow::Done { .. })).count();
        assert!(deliveries >= 7, "{deliveries}");
        for dies_after in 0..deliveries {
            let mut first = host();
            first.newest_first = newest_first;
            first.dies_after = Some(dies_after);
            assert!(matches!(run(&job, &mut first), Outcome::Cancelled { .. }));

            let mut second = host();
            second.journal.clone_from(&first.journal);
            second.now = first.now;
            second.newest_first = newest_first;
            let outcome = run(&continued(&job, &first), &mut second);
            assert_eq!(outcome, expected, "died after {dies_after}");
            // No outcome that was delivered is asked for again.
            let done: Vec<u64> = first
                .journal
                .iter()
                .filter_map(|row| match row {
                    JournalRow::Done { seq, .. } => Some(*seq),
                    JournalRow::Issue { .. } => None,
                })
                .collect();
            assert!(second.calls.iter().all(|call| !done.contains(&call.seq)), "died after {dies_after}");
            // What was told is not told again, and all of it is told. Nodes are told again, by their numbers.
            let mut third = host();
            third.journal.clone_from(&first.journal);
            third.now = first.now;
            third.newest_first = newest_first;
            assert_eq!(run(&continued(&job, &first), &mut third), expected);
            let of_nodes =
                |events: &[Narration]| events.iter().filter(|event| is_node(event)).cloned().collect::<Vec<_>>();
            assert_eq!(of_nodes(&third.narrations), of_nodes(&whole.narrations), "died after {dies_after}");
            let mut told = first.narrations.clone();
            told.extend(third.narrations);
            let but_nodes =
                |events: &[Narration]| events.iter().filter(|event| !is_node(event)).cloned().collect::<Vec<_>>();
            assert_eq!(but_nodes(&told), but_nodes(&whole.narrations), "died after {dies_after}");
        }
    }
}

#[test]
fn a_finished_journal_gives_the_same_without_asking_anything() {
    let job = job_with_body(FAN_OUT);
    let mut whole = host();
    let expected = run(&job, &mut whole);
    let mut again = host();
    assert_eq!(run(&continued(&job, &whole), &mut again), expected);
    // Only the loser of the race, whose outcome nobody waited for, may still be asked for.
    assert!(again.calls.len() <= 1, "{:?}", again.calls);
    // Nodes are told by their numbers, which whoever records them knows already.
    assert!(again.narrations.iter().all(is_node), "{:?}", again.narrations);
    assert_eq!(again.loaded, whole.loaded);
}

#[test]
fn a_question_suspends_and_its_answer_continues() {
    let body = "const n = await flow.step('count', async (f) => { const v = ((await f.kv.get('n')) ?? 0) + 1; await f.kv.set('n', v); return v });
        const a = await flow.form({title: 'T', fields: {}});
        return { n, word: a.word, kv: await flow.kv.get('n') }";
    let job = job_with_body(body);
    let store = std::rc::Rc::new(std::cell::RefCell::new(Value::Null));
    let answering = |store: std::rc::Rc<std::cell::RefCell<Value>>, answer: bool| {
        TestHost::new(move |call| match call.kind {
            CallKind::KvGet => Reply::Value(store.borrow().clone()),
            CallKind::KvSet => {
                *store.borrow_mut() = call.args["value"].clone();
                Reply::Value(Value::Null)
            }
            CallKind::Form if answer => Reply::Value(json!({"word": "w"})),
            _ => Reply::Never,
        })
    };
    let mut first = answering(store.clone(), false);
    assert_eq!(run(&job, &mut first), Outcome::Suspended);
    assert!(
        first.narrations.iter().all(|event| !matches!(event, Narration::NodeEnded { id: 2, .. })),
        "the question's node stays open"
    );
    // The answer comes as the outcome of the recorded call.
    let mut job = continued(&job, &first);
    job.journal.push(JournalRow::Done { seq: 3, at: 5_000_000, outcome: Ok(json!({"word": "answered"})) });
    let mut second = answering(store, true);
    second.journal.clone_from(&job.journal);
    assert_eq!(run(&job, &mut second), Outcome::Success(json!({"n": 1, "word": "answered", "kv": 1})));
    assert_eq!(second.kinds(), [CallKind::KvGet]);
}

#[test]
fn without_a_count_only_nodes_are_told_while_replaying() {
    let body = "console.log('one'); flow.phase('p'); await flow.kv.get('a'); console.log('two'); await flow.form({title: 't', fields: {}}); console.log('three')";
    let job = job_with_body(body);
    let mut first =
        TestHost::new(|call| if call.kind == CallKind::Form { Reply::Never } else { Reply::Value(Value::Null) });
    assert_eq!(run(&job, &mut first), Outcome::Suspended);
    let mut second = host();
    second.journal.clone_from(&first.journal);
    let job = Job { narrated: None, ..continued(&job, &first) };
    assert_eq!(shown(&run(&job, &mut second)), "success: null");
    assert_eq!(second.lines(Stream::Stdout), ["three"]);
    let begun = second.narrations.iter().filter(|event| matches!(event, Narration::NodeStarted { .. })).count();
    assert_eq!(begun, 2, "the phase and the form, by their numbers");
}

#[test]
fn another_way_ends_the_run_and_starts_nothing() {
    let record = |body: &str| {
        let mut host = host();
        let outcome = run(&job_with_body(body), &mut host);
        assert!(matches!(outcome, Outcome::Success(_)), "{outcome:?}");
        host.journal
    };
    let before = "const a = await flow.agent('draft d'); const b = await flow.exec('ls'); try { await flow.kv.get('k') } catch {} return [a, b]";
    let replayed = |body: &str| {
        let mut host = host();
        let mut job = job_with_body(body);
        job.journal = record(before);
        let outcome = run(&job, &mut host);
        assert_eq!(host.calls, [], "{body}");
        shown(&outcome)
    };
    insta::assert_snapshot!(replayed(&before.replace("draft d", "drift d")), @"replay_diverged: the run cannot be continued, since the script takes another way than before: call 1 (`agent`) has other arguments than before");
    insta::assert_snapshot!(replayed(&before.replace("flow.exec('ls')", "flow.env('ls')")), @"replay_diverged: the run cannot be continued, since the script takes another way than before: call 2 was `exec` and is now `env`");
    insta::assert_snapshot!(replayed("return 'early'"), @"replay_diverged: the run cannot be continued, since the script takes another way than before: call 1 (`agent`) was made before and is not made now");
    insta::assert_snapshot!(replayed("throw new Error('early')"), @"replay_diverged: the run cannot be continued, since the script takes another way than before: call 1 (`agent`) was made before and is not made now");
    insta::assert_snapshot!(replayed("await flow.agent('draft d'); await new Promise(() => {})"), @"replay_diverged: the run cannot be continued, since the script takes another way than before: call 2 (`exec`) was made before and is not made now");
    insta::assert_snapshot!(replayed("try { await flow.agent('other') } catch {} return 'caught'"), @"replay_diverged: the run cannot be continued, since the script takes another way than before: call 1 (`agent`) has other arguments than before");
    // Labels and the like may change.
    assert_eq!(
        replayed(&before.replace("flow.agent('draft d')", "flow.agent('draft d', {label: 'new', effort: 'high'})")),
        "success: [\"<draft d>\",2]"
    );
}

#[test]
fn outcomes_are_copies_and_errors_come_again() {
    let body = "const one = await flow.kv.get('a'); one.x.push(1);
        let said; try { await flow.exec('p') } catch (e) { said = [e.code, e.message, e.data, e.errCode] }
        return [one, said]";
    let host = || {
        TestHost::new(|call| match call.kind {
            CallKind::KvGet => Reply::Value(json!({"x": []})),
            _ => Reply::Error("io", "no such program"),
        })
    };
    let mut first = host();
    let job = job_with_body(body);
    let expected = run(&job, &mut first);
    assert_eq!(expected, Outcome::Success(json!([{"x": [1]}, ["io", "no such program", null, null]])));
    assert_eq!(run(&continued(&job, &first), &mut host()), expected);
}

#[test]
fn replies_for_unknown_numbers_are_ignored() {
    let mut host = TestHost::new(|_| Reply::Never);
    host.idle = Delivery::Done { seq: 99, at: 1, outcome: Ok(json!(1)) };
    let control = std::sync::Arc::new(workflow_script::Control::new());
    control.time_out_after(std::time::Duration::from_millis(50));
    let outcome = workflow_script::run(&job_with_body("await flow.kv.get('a')"), &mut host, &control);
    assert_eq!(outcome, Outcome::TimedOut);
}

#[test]
fn a_long_journal_is_replayed_quickly() {
    let body = "let sum = 0; for (let i = 0; i < 20000; i++) sum += await flow.kv.get('k' + i); return sum";
    let job = job_with_body(body);
    let mut first = TestHost::new(|_| Reply::Value(json!(1)));
    // The journal of this host is searched for each call; a real one's is not.
    let rows = (1..=20_000).flat_map(|seq| {
        [
            JournalRow::Issue {
                seq,
                kind: "kv.get".into(),
                fingerprint: workflow_script::fingerprint("kv.get", &json!({"key": format!("k{}", seq - 1)})),
            },
            JournalRow::Done { seq, at: 1, outcome: Ok(json!(1)) },
        ]
    });
    let job = Job { journal: rows.collect(), ..job };
    let before = std::time::Instant::now();
    assert_eq!(run(&job, &mut first), Outcome::Success(json!(20_000)));
    println!("20,000 calls replayed in {:?}", before.elapsed());
    assert_eq!(first.calls, []);
}

#[test]
fn a_script_is_replayed_like_a_module() {
    let source = "export const meta = {name: 'n', description: 'd'}\nconst a = await agent('one')\nlog(a)\nreturn [a, await agent('two'), args]";
    let mut job = job_of(JobKind::Script, "n.js", source);
    job.input = Some(json!([1]));
    let mut first = host();
    first.dies_after = Some(1);
    run(&job, &mut first);
    let mut second = host();
    second.journal.clone_from(&first.journal);
    assert_eq!(run(&continued(&job, &first), &mut second), Outcome::Success(json!(["<one>", "<two>", [1]])));
    assert_eq!(second.calls.len(), 1);
}
