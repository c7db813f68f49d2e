//! The strict contract and scripts inside scripts, where the data cases do not reach.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

mod common;

use std::collections::BTreeMap;

use common::{Reply, TestHost, job_of, run, shown};
use serde_json::{Value, json};
use workflow_script::{CallKind, Delivery, Job, JobKind, Outcome, Sources};

fn body(script: &str) -> Job {
    let mut job = job_of(JobKind::Body, "workflow:n", script);
    job.meta = Some(json!({"name": "n", "description": "d"}));
    job
}

fn host() -> TestHost {
    TestHost::new(|call| match call.kind {
        CallKind::Agent => Reply::Value(json!({"value": call.args["prompt"], "outputTokens": 5})),
        _ => Reply::Value(Value::Null),
    })
}

#[test]
fn a_typescript_body_is_taken_and_no_text_closes_the_wrapping() {
    let script = "interface A { n: number }\nconst a: A = { n: 2 }\nreturn a.n";
    assert_eq!(run(&body(script), &mut host()), Outcome::Success(json!(2)));
    let mut quiet = host();
    let refused = shown(&run(&body("return 1 }) ; (async () => { return 2"), &mut quiet));
    assert!(refused.contains("workflow script does not parse:"), "{refused}");
    assert!(quiet.loaded.is_empty() && quiet.narrations.is_empty());
}

#[test]
fn what_was_cancelled_before_it_began_is_checked_and_never_runs() {
    let mut job = body("log('ran')\nreturn 1");
    job.cancelled = Some("early".into());
    let mut quiet = host();
    let control = std::sync::Arc::new(workflow_script::Control::new());
    control.cancel("early");
    assert_eq!(workflow_script::run(&job, &mut quiet, &control), Outcome::Cancelled { reason: "early".into() });
    assert_eq!((quiet.loaded.len(), quiet.narrations.len()), (1, 0));
}

#[test]
fn a_body_that_waits_for_ever_is_ended_by_cancelling_alone() {
    let mut patient = host();
    patient.idle = Delivery::Cancelled { reason: "enough".into() };
    let outcome = run(&body("await new Promise(() => {})"), &mut patient);
    assert_eq!(outcome, Outcome::Cancelled { reason: "enough".into() });
}

#[test]
fn results_are_copied_by_value_whatever_they_are() {
    for (script, part) in [
        ("return new Proxy({}, { ownKeys() { throw new Error('shut') } })", "reading the value threw: Error: shut"),
        ("let a = []; for (let i = 0; i < 200; i++) a = [a]; return a", "nested more than 100 levels deep"),
        ("const a = []; a.length = 4294967295; return a", "a sparse array"),
        ("return { 'a b': { c: Infinity } }", "workflow result[\"a b\"].c"),
        ("return new String('x')", "exotic prototype"),
    ] {
        let said = shown(&run(&body(script), &mut host()));
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(run(&body("return [-0, '\\ud800']"), &mut host()), Outcome::Success(json!([0, "\u{fffd}"])));
}

#[test]
fn a_script_inside_another_has_hooks_and_args_of_its_own_and_shares_the_counters() {
    let outer = "export const meta = { name: 'outer', description: 'd' }\n\
        phase('Outer')\n\
        const inside = await workflow('inner', { who: 'you' })\n\
        const failed = await parallel([() => workflow('bad'), () => workflow({ scriptPath: 'inner.js' })])\n\
        return { inside, failed, mine: args.who, spent: budget.spent() }";
    let inner = "export const meta = { name: 'inner', description: 'd' }\n\
        const args = globalThis.args ?? { who: 'nobody' }\n\
        phase('Inner')\n\
        return { said: await agent('for ' + args.who), date: new Date(0) }";
    let bad = "export const meta = { name: 'bad', description: 'd' }\nthrow new Error('inside')";
    let mut job = job_of(JobKind::Script, "outer.js", outer);
    job.sources = Sources::Kept(BTreeMap::from([
        ("outer.js".to_owned(), outer.to_owned()),
        ("inner.js".to_owned(), inner.to_owned()),
        ("bad.js".to_owned(), bad.to_owned()),
    ]));
    job.workflows = BTreeMap::from([("inner".into(), "inner.js".into()), ("bad".into(), "bad.js".into())]);
    job.input = Some(json!({"who": "me"}));
    job.agent_options = Some(vec!["model".into()]);
    let date = "1970-01-01T00:00:00.000Z";
    let mut first = host();
    let expected = json!({
        "inside": {"said": "for you", "date": date},
        "failed": [null, {"said": "for nobody", "date": date}],
        "mine": "me", "spent": 10
    });
    assert_eq!(run(&job, &mut first), Outcome::Success(expected.clone()));
    // What ran inside is in the run's own journal: nothing is asked for again.
    job.journal = first.journal.clone();
    let mut second = host();
    assert_eq!(run(&job, &mut second), Outcome::Success(expected));
    assert_eq!(second.calls, []);
}
