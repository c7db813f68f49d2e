//! Limits: whatever a script does, it ends, and the end says which limit it met.

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Reply, TestHost, job_with_body, output_of, run, run_body, shown, shown_of};
use serde_json::{Value, json};
use workflow_script::{Control, Delivery, Job, Outcome};

fn small(body: &str) -> Job {
    let mut job = job_with_body(body);
    job.memory_bytes = 24 * 1024 * 1024;
    job
}

#[test]
fn memory_is_bounded_even_if_the_script_catches_the_error() {
    for body in [
        "const all = []; for (;;) all.push(new Array(10000).fill(1.5));",
        "const all = []; for (;;) { try { for (;;) all.push(new Array(10000).fill(1.5)); } catch {} }",
        "try { new ArrayBuffer(1e9) } catch {} return 'caught'",
        "try { 'x'.repeat(5e8) } catch {} return 'caught'",
        "let s = 'x'; try { for (;;) s += s.toUpperCase() } catch {} return 'caught'",
        "const m = new Map(); for (let i = 0;; i++) m.set(i, {i})",
        "await new Promise(() => { const all = []; for (;;) all.push({}) })",
        "await flow.parallel([() => { const all = []; for (;;) all.push('x'.repeat(100000) + all.length) }])",
    ] {
        let outcome = run(&small(body), &mut TestHost::silent());
        insta::allow_duplicates! {
            insta::assert_snapshot!(shown(&outcome), @"memory_limit: the script needs more memory than its limit of 24 MB (`memoryMb`)");
        }
    }
}

#[test]
fn memory_that_is_given_back_can_be_used_again() {
    let body = "for (let i = 0; i < 200; i++) new Array(100000).fill(1.5); return 'done'";
    assert_eq!(run(&small(body), &mut TestHost::silent()), Outcome::Success(json!("done")));
}

#[test]
fn too_little_memory_for_the_engine_itself_is_an_error_too() {
    for bytes in [0, 1_000, 50_000, 150_000, 300_000] {
        let mut job = job_with_body("return 1");
        job.memory_bytes = bytes;
        let outcome = run(&job, &mut TestHost::silent());
        assert!(shown(&outcome).starts_with("memory_limit: "), "{bytes}: {outcome:?}");
    }
}

#[test]
fn runaway_recursion_is_an_ordinary_error() {
    insta::assert_snapshot!(shown_of("function f() { return f() + 1 }\n return f()"), @"script_error: RangeError: Maximum call stack size exceeded");
    insta::assert_snapshot!(shown_of("JSON.parse('['.repeat(200000))"), @"script_error: RangeError: Maximum call stack size exceeded");
    assert_eq!(
        output_of("function f() { return f() + 1 }\n try { f() } catch (e) { return e.name }"),
        json!("RangeError")
    );
}

#[test]
fn endless_code_is_stopped_at_the_deadline_and_cannot_catch_that() {
    for body in [
        "for (;;) {}",
        "try { for (;;) {} } catch { return 'caught' } finally { return 'finally' }",
        "await null; for (;;) {}",
        "for (;;) await null",
        "for (;;) { try { await null } catch {} }",
        "/(a+)+$/.exec('a'.repeat(40) + 'b')",
        "(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})",
        "queueMicrotask(function f() { queueMicrotask(f) }); await new Promise(() => {})",
        "try { flow.fail('over') } catch {} for (;;) {}",
        "await flow.parallel([async () => { for (;;) await null }])",
    ] {
        let control = Arc::new(Control::new());
        control.time_out_after(Duration::from_millis(100));
        let before = Instant::now();
        let outcome = workflow_script::run(&job_with_body(body), &mut TestHost::silent(), &control);
        if body.contains("fail") {
            assert_eq!(shown(&outcome), "business_error: over");
        } else {
            assert_eq!(outcome, Outcome::TimedOut, "{body}");
        }
        assert!(before.elapsed() < Duration::from_secs(20), "{body}");
    }
}

#[test]
fn a_loop_at_the_top_of_a_module_is_stopped_too() {
    let job = common::job_of(workflow_script::JobKind::Module, "m.js", "for (;;) {} export default () => 1");
    let control = Arc::new(Control::new());
    control.time_out_after(Duration::from_millis(50));
    assert_eq!(workflow_script::run(&job, &mut TestHost::silent(), &control), Outcome::TimedOut);
}

#[test]
fn cancelling_from_another_thread_stops_a_busy_script() {
    let control = Arc::new(Control::new());
    let mut host = TestHost::new({
        let control = Arc::clone(&control);
        move |_| {
            control.cancel("enough");
            Reply::Value(Value::Null)
        }
    });
    let job = job_with_body("flow.kv.get('a'); try { for (;;) {} } finally { return 1 }");
    assert_eq!(workflow_script::run(&job, &mut host, &control), Outcome::Cancelled { reason: "enough".into() });
}

#[test]
fn a_waiting_script_ends_with_what_the_host_says() {
    for (idle, expected) in [
        (Delivery::Cancelled { reason: "r".into() }, Outcome::Cancelled { reason: "r".into() }),
        (Delivery::TimedOut, Outcome::TimedOut),
        (Delivery::Suspend, Outcome::Suspended),
    ] {
        let mut host = TestHost::new(|_| Reply::Never);
        host.idle = idle;
        let body =
            "try { await flow.form({title: 't', fields: {}}) } catch { return 'caught' } finally { return 'finally' }";
        assert_eq!(run(&job_with_body(body), &mut host), expected);
    }
}

#[test]
fn a_promise_that_nothing_settles_is_an_error() {
    insta::assert_snapshot!(shown_of("await new Promise(() => {})"), @"script_error: the script waits for a promise that nothing will settle: no call of it is open any more");
    insta::assert_snapshot!(shown_of("await flow.kv.get('a'); await new Promise(() => {})"), @"script_error: the script waits for a promise that nothing will settle: no call of it is open any more");
}

#[test]
fn an_unhandled_rejection_ends_the_run() {
    insta::assert_snapshot!(shown_of("Promise.reject(new RangeError('lost')); await flow.kv.get('a'); return 1"), @"script_error: unhandled rejection: RangeError: lost");
    insta::assert_snapshot!(shown_of("Promise.reject('text'); return 1"), @"script_error: unhandled rejection: text");
    insta::assert_snapshot!(shown_of("setTimeout(() => { throw new Error('late') }, 5); await new Promise(r => setTimeout(r, 50)); return 1"), @"script_error: Error: late");
    assert_eq!(output_of("const p = Promise.reject(1); await null; try { await p } catch (e) { return e }"), json!(1));
}

#[test]
fn a_failed_call_that_nobody_awaited_is_told_and_not_fatal() {
    let mut host = TestHost::new(|_| Reply::Error("io", "the disk is full"));
    let body = "flow.kv.set('a', 1); const p = flow.kv.get('b'); await flow.kv.get('c').catch(() => 0); try { await p } catch (e) { return e.message }";
    assert_eq!(run(&job_with_body(body), &mut host), Outcome::Success(json!("the disk is full")));
    assert_eq!(host.lines(workflow_script::Stream::Stderr), ["nobody awaited what failed: the disk is full"]);
}

#[test]
fn outputs_are_written_by_jsons_own_rules() {
    assert_eq!(output_of("return undefined"), json!(null));
    assert_eq!(
        output_of(
            "return {a: undefined, b: [undefined, () => 1], d: new Date(0), n: NaN, i: -Infinity, z: -0, big: 12n, m: new Map([[1, 2]]), s: '\\ud800x', p: Promise.resolve(1)}"
        ),
        json!({"b": [null, null], "d": "1970-01-01T00:00:00.000Z", "n": null, "i": null, "z": 0, "big": "12", "m": {}, "s": "\u{fffd}x", "p": {}})
    );
    assert_eq!(
        output_of("return JSON.parse('{\"__proto__\": {\"x\": 1}, \"y\": 2}')"),
        json!({"__proto__": {"x": 1}, "y": 2})
    );
    assert_eq!(output_of("return 'x'.repeat(3_000_000)").as_str().map(str::len), Some(3_000_000));
    insta::assert_snapshot!(shown_of("const a: any = {}; a.a = a; return a"), @"script_error: the returned value cannot be written as JSON: circular reference");
    insta::assert_snapshot!(shown_of("return {get x() { throw new Error('no peeking') }}"), @"script_error: the returned value cannot be written as JSON: no peeking");
    insta::assert_snapshot!(shown_of("return {toJSON() { throw 7 }}"), @"script_error: the returned value cannot be written as JSON: 7");
    insta::assert_snapshot!(shown_of("let a: any = 1; for (let i = 0; i < 101; i++) a = [a]; return a"), @"script_error: the returned value is nested more than 100 levels deep");
    insta::assert_snapshot!(shown_of("let a: any = 1; for (let i = 0; i < 100000; i++) a = [a]; return a"), @"script_error: the returned value cannot be written as JSON: Maximum call stack size exceeded");
    insta::assert_snapshot!(shown_of("return 'x'.repeat(17 * 1024 * 1024)"), @"script_error: the returned value is larger than 16 MiB as JSON");
    assert!(matches!(run_body("let a: any = 1; for (let i = 0; i < 100; i++) a = [a]; return a"), Outcome::Success(_)));
}

#[test]
fn values_that_come_in_are_bounded() {
    let mut deep = json!(1);
    for _ in 0..101 {
        deep = json!([deep]);
    }
    let mut job = job_with_body("return 1");
    job.input = Some(json!({"deep": deep.clone()}));
    insta::assert_snapshot!(shown(&run(&job, &mut TestHost::silent())), @"script_error: the input is nested too deeply");
    let mut host = TestHost::new(move |_| Reply::Value(deep.clone()));
    let job = job_with_body("try { await flow.kv.get('a') } catch (e) { return e.message }");
    insta::assert_snapshot!(shown(&run(&job, &mut host)), @r#"success: "the result of the call is nested too deeply""#);
}
