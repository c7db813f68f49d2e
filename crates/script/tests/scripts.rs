//! Orchestration scripts: the file with its meta statement, the hooks as globals, and what is noted instead of refused.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

mod common;

use common::{Reply, TestHost, job_of, run, shown};
use serde_json::{Value, json};
use workflow_script::{CallKind, Job, JobKind, Narration, Outcome, Stream};

const META: &str = "export const meta = { name: 'n', description: 'd' }\n";

fn job(body: &str) -> Job {
    job_of(JobKind::Script, "n.js", &format!("{META}{body}"))
}

/// A host whose agents answer `echo:` and the prompt.
fn host() -> TestHost {
    TestHost::new(|call| match call.kind {
        CallKind::Agent => match call.args["prompt"].as_str().unwrap_or("?") {
            "bad" => Reply::Value(json!({"value": null, "reason": "it refused"})),
            "fault" => Reply::Error("AGENT_START", "no such program"),
            prompt => Reply::Value(json!({"value": format!("echo:{prompt}"), "outputTokens": 10})),
        },
        _ => Reply::Value(json!({"kind": call.kind.as_str(), "args": call.args})),
    })
}

#[track_caller]
fn output_of(body: &str) -> Value {
    match run(&job(body), &mut host()) {
        Outcome::Success(value) => value,
        other => panic!("{other:?}"),
    }
}

fn notes_of(body: &str) -> Vec<String> {
    let mut host = host();
    run(&job(body), &mut host);
    host.notes()
        .into_iter()
        .map(|(code, subject)| subject.map_or(code.clone(), |subject| format!("{code} {subject}")))
        .collect()
}

#[test]
fn a_script_sums_up_its_args() {
    let source = "export const meta = { name: 'main', description: 'Adds up', phases: [{ title: 'Sum' }] };\n\
        phase('Sum');\n\
        const parts = await parallel((args ?? []).map((n) => async () => n * 2));\n\
        log('summed');\n\
        return { total: parts.reduce((a, b) => a + b, 0) };\n";
    let mut job = job_of(JobKind::Script, "main.workflow.js", source);
    job.input = Some(json!([1, 2, 3]));
    let mut host = host();
    assert_eq!(run(&job, &mut host), Outcome::Success(json!({"total": 12})));
    assert_eq!(host.lines(Stream::Log), ["summed"]);
    assert!(host.narrations.iter().any(|event| matches!(event, Narration::Phase { title, .. } if title == "Sum")));
    assert_eq!(host.loaded[0].text, source);
    assert_eq!(host.notes(), []);
}

#[test]
fn the_body_is_an_async_function_in_sloppy_mode() {
    assert_eq!(output_of("await null"), json!(null));
    assert_eq!(output_of("undeclared = 4; return later() + undeclared\nfunction later() { return 1 }"), json!(5));
    assert_eq!(output_of("return meta.name"), json!("n"));
    assert_eq!(output_of("for await (const x of (async function* () { yield 7 })()) return x"), json!(7));
    assert_eq!(output_of("return 1 // trailing"), json!(1));
    assert_eq!(
        output_of(
            "const run = async (phase) => phase + 1; const args = globalThis.args || {}; return [await run(1), args]"
        ),
        json!([2, {}])
    );
    assert_eq!(output_of("return Promise.resolve({lid: true})"), json!({"lid": true}));
}

#[test]
fn errors_point_to_the_lines_of_the_author() {
    let cause = |file: &str, source: &str| match run(&job_of(JobKind::Script, file, source), &mut host()) {
        Outcome::Failed(error) => format!("{}\n{}", error.message, error.cause.unwrap_or_default()),
        other => panic!("{other:?}"),
    };
    insta::assert_snapshot!(cause("n.js", &format!("// head\n{META}\nconst f = () => {{\n  throw new TypeError('bad shelf')\n}}\nf()")), @r#"
    TypeError: bad shelf
    TypeError: bad shelf
        at f (n.js:5:13)
        at <anonymous> (n.js:7:1)
    "#);
    insta::assert_snapshot!(cause("n.ts", "interface A { b: string }\n\nexport const meta = { name: 'n', description: 'd' } as const\ntype C = A\n\nconst f = (x: C) => {\n  throw new TypeError('bad shelf')\n}\nf({} as C)"), @r#"
    TypeError: bad shelf
    TypeError: bad shelf
        at f (n.ts:7:13)
        at <anonymous> (n.ts:9:1)
    "#);
    insta::assert_snapshot!(cause("n.js", &format!("{META}require('fs')")), @r#"
    ReferenceError: require is not defined here: agents do such work
    ReferenceError: require is not defined here: agents do such work
        at <anonymous> (n.js:2:1)
    "#);
}

#[test]
fn what_is_no_script_is_refused_before_anything_runs() {
    let mut said = String::new();
    for (file, source) in [
        ("n.js", "return 1"),
        ("n.js", "const WORDS = ['a']\nexport const meta = { name: 'n', description: WORDS.join(' ') }"),
        ("n.js", "export const meta = { name: 'n', ...{} }"),
        ("n.js", "export const meta = { name: 'n', get description() { return 1 } }"),
        ("n.js", "export const meta = { name: 'n', ['description']: 'd' }"),
        ("n.js", "export const meta = { name: 'n', description: `${1}`, phases: [{title: f()}] }"),
        ("n.js", "export const meta = { name: 'n', description: 'd', __proto__: {} }"),
        ("n.js", "export const meta = { name: 'n', phases: [{}] }"),
        ("n.js", "export const meta = 3"),
        ("n.js", "export const meta = { name: 'n', description: 'd' }, other = 1"),
        ("n.js", "import { rank } from './shared/rank.js'\nexport const meta = { name: 'n', description: 'd' }"),
        ("n.js", "export const meta = { name: 'n', description: 'd' }\nexport default 1"),
        ("n.js", "export const meta = { name: 'n', description: 'd' }\nreturn 1\n})(); (async () => { return 2"),
        ("n.js", "export const meta = { name: 'n', description: 'd' }\nlet x: string = 'a'"),
        ("n.js", "This is not a script"),
    ] {
        let mut host = host();
        let outcome = run(&job_of(JobKind::Script, file, source), &mut host);
        assert!(host.loaded.is_empty() && host.calls.is_empty());
        said.push_str(&shown(&outcome));
        said.push('\n');
    }
    insta::assert_snapshot!(said, @r#"
    script_error: n.js:1:1: a script begins with `export const meta = { … }`
    script_error: n.js:2:47: meta.description is not a literal
    script_error: n.js:1:34: meta is not a literal
    script_error: n.js:1:34: meta.description is not a literal
    script_error: n.js:1:34: meta is not a literal
    script_error: n.js:1:47: meta.description is not a literal
    script_error: n.js:1:52: meta.__proto__ is not a literal
    script_error: n.js:1:21: invalid meta: meta.description is missing; meta.phases[0].title must be a non-empty text
    script_error: n.js:1:21: invalid meta: meta must be an object
    script_error: n.js:1:1: a script has one statement `export const meta = { … }`
    script_error: n.js:1:22: a script cannot import `./shared/rank.js`: it has no modules, and agents do such work
    script_error: n.js:2:1: only `meta` may be exported from a script
    script_error: n.js:3:1: Unexpected token
    script_error: n.js:2:6: Expected a semicolon or an implicit semicolon after a statement, but found none
    script_error: n.js:1:5: Expected a semicolon or an implicit semicolon after a statement, but found none
    "#);
}

#[test]
fn byte_order_marks_hashbangs_and_line_ends_are_taken() {
    for source in [
        format!("\u{feff}{META}return 1"),
        format!("#!/usr/bin/env workflow-code run\n{META}return 1"),
        format!("{META}return 1").replace('\n', "\r\n"),
        format!("'use strict'\n{META}return 1"),
    ] {
        assert_eq!(shown(&run(&job_of(JobKind::Script, "n.js", &source), &mut host())), "success: 1", "{source:?}");
    }
}

#[test]
fn args_arrive_as_given_and_json_text_as_its_value() {
    let args = |input: Option<Value>, verbatim: bool| {
        let mut job = job("return [typeof args, args === undefined ? 'absent' : args]");
        job.input = input;
        job.args_verbatim = verbatim;
        let mut host = host();
        let Outcome::Success(value) = run(&job, &mut host) else { panic!("it runs") };
        (value, host.notes().len())
    };
    assert_eq!(args(None, false), (json!(["undefined", "absent"]), 0));
    assert_eq!(args(Some(json!(null)), false), (json!(["object", null]), 0));
    assert_eq!(args(Some(json!([1])), false), (json!(["object", [1]]), 0));
    assert_eq!(args(Some(json!(" {\"a\": 1}")), false), (json!(["object", {"a": 1}]), 1));
    assert_eq!(args(Some(json!(" {\"a\": 1}")), true), (json!(["string", " {\"a\": 1}"]), 0));
    assert_eq!(args(Some(json!("{its tests}")), false), (json!(["string", "{its tests}"]), 0));
    assert_eq!(args(Some(json!("7")), false), (json!(["string", "7"]), 0));
}

#[test]
fn agents_that_fail_are_null_and_errors_can_be_caught() {
    assert_eq!(
        output_of(
            "return await parallel([() => agent('good'), () => agent('bad'), () => agent('fault'), () => agent(''), () => agent('x', 3), () => { throw 1 }, 5, agent('y'), Promise.reject(2)])"
        ),
        json!(["echo:good", null, null, null, null, null, 5, "echo:y", null])
    );
    assert_eq!(output_of("try { await agent() } catch (e) { return e.code }"), json!("INVALID_ARGUMENT"));
    assert_eq!(
        output_of("try { await pipeline('text', (x) => x) } catch (e) { return e.message }"),
        json!("pipeline() expects an array as its first argument")
    );
    assert_eq!(output_of("return await parallel(new Set([() => 1]))"), json!([1]));
    assert_eq!(
        output_of("Promise.reject(new Error('dropped')); agent('fault'); await agent('ok'); return 1"),
        json!(1)
    );
    assert_eq!(
        notes_of(
            "await agent('a', {temperature: 1, label: 2, effort: 'high', model: undefined, schema: null}); await agent('b', {temperature: 2})"
        ),
        ["option-ignored temperature", "option-coerced label"]
    );
}

#[test]
fn caps_throw_and_are_null_in_combinators() {
    let mut capped = job(
        "const a = [await agent('1'), await agent('2')]; try { await agent('3') } catch (e) { a.push(e.code) } a.push(await parallel([() => agent('4'), () => 'no agent'])); return a",
    );
    capped.max_agents = 2;
    assert_eq!(
        run(&capped, &mut host()),
        Outcome::Success(json!(["echo:1", "echo:2", "AGENT_CAP", [null, "no agent"]]))
    );
    let mut budgeted = job(
        "let rounds = 0; while (budget.remaining() > 0) { await agent('w'); rounds++ }
         try { await agent('more') } catch (e) { return [rounds, e.code, budget.total, budget.spent(), budget.remaining()] }",
    );
    budgeted.max_tokens = Some(25);
    assert_eq!(run(&budgeted, &mut host()), Outcome::Success(json!([3, "BUDGET_EXCEEDED", 25, 30, 0])));
    assert_eq!(
        output_of("return [budget.total, budget.remaining() === Infinity, budget.spent()]"),
        json!([null, true, 0])
    );
}

#[test]
fn narration_takes_anything() {
    let mut host = host();
    run(
        &job(
            "log('plain'); log({a: 1}, [2], undefined, null); log(); console.log('from', 3); phase(2); phase(''); phase('P')",
        ),
        &mut host,
    );
    assert_eq!(host.lines(Stream::Log), ["plain", "{\"a\":1} [2] undefined null", ""]);
    assert_eq!(host.lines(Stream::Stdout), ["from 3"]);
    assert_eq!(host.notes(), [("log-coerced".into(), None), ("phase-coerced".into(), None)]);
    let phases: Vec<_> = host
        .narrations
        .iter()
        .filter_map(|event| match event {
            Narration::Phase { title, .. } => Some(title.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(phases, ["2", "P"]);
}

#[test]
fn what_would_not_run_elsewhere_is_noted_once() {
    assert_eq!(
        notes_of("Date.now(); new Date(); Math.random(); Math.random(); process.cwd(); process.env.X; new Date(5)"),
        ["clock", "random", "process"]
    );
    assert_eq!(output_of("return [process.cwd(), process.env]"), json!(["/nowhere", {}]));
    assert_eq!(
        notes_of(
            "return {m: new Map(), s: [new Set()], p: [Promise.resolve(1)], n: NaN, b: 1n, u: undefined, d: new Date(0), f: () => 1, x: new (class Box {})(), y: new (class extends Date {})()}"
        ),
        [
            "clock",
            "result-changed Map",
            "result-changed non-finite",
            "result-changed bigint",
            "result-changed function",
            "result-changed Box",
            "result-changed Set",
            "result-changed Promise"
        ]
        .into_iter()
        .collect::<Vec<_>>()
    );
    assert_eq!(notes_of("return {a: [1, 'x', null, undefined, {b: true}], d: new Date(0)}"), Vec::<String>::new());
    let mut host = host();
    let source = "const before = 1\nexport const meta = { name: 'n', description: 'd', tags: [] }\nreturn before";
    run(&job_of(JobKind::Script, "n.js", source), &mut host);
    assert_eq!(
        host.notes(),
        [("meta-not-first".into(), None), ("meta-field-ignored".into(), Some("meta.tags".into()))]
    );
}

#[test]
fn flow_is_there_and_scripts_of_the_project_run_inside() {
    let unknown = "try { await workflow('other') } catch (error) { return [error.code, error.message] }";
    assert_eq!(
        output_of(unknown),
        json!(["WORKFLOW_UNKNOWN", "there is no workflow `other` in this project (there are none)"])
    );
    assert_eq!(output_of("return await flow.kv.get('k')"), json!({"kind": "kv.get", "args": {"key": "k"}}));
    assert_eq!(shown(&run(&job("try { flow.fail('no') } catch {} return 1"), &mut host())), "business_error: no");
    insta::assert_snapshot!(shown(&run(&job("await import('./x.js')"), &mut host())), @"script_error: TypeError: a script cannot import `./x.js`: it has no modules, and agents do such work");
}

#[test]
fn hooks_are_frozen_but_can_be_replaced() {
    assert_eq!(
        output_of(
            "const f = [agent, parallel, pipeline, phase, log].every(Object.isFrozen); agent = async () => 'pretend'; return [f, await agent('x')]"
        ),
        json!([true, "pretend"])
    );
}

#[test]
fn what_a_microtask_throws_ends_the_run_as_what_a_timer_throws() {
    let outcome =
        run(&job("queueMicrotask(() => { throw new Error('lost') }); await agent('a'); return 1"), &mut host());
    assert_eq!(shown(&outcome), "script_error: Error: lost");
    assert_eq!(output_of("let a = 1; queueMicrotask(() => { a = 2 }); await null; await null; return a"), json!(2));
}

#[test]
fn a_rejection_that_nobody_handles_is_noted_once() {
    let body = "Promise.reject(new Error('dropped')); Promise.reject(new Error('dropped')); await agent('a'); return 1";
    assert_eq!(notes_of(body), ["unhandled-rejection Error: dropped"]);
}

#[test]
fn numbers_that_are_none_are_noted_and_left_out() {
    let body = "for (const options of [{ timeoutMs: 'x' }, { stallMs: 0 }, { retries: 1.5 }, { retries: 100 }])\n\
                await agent('a', options);\nreturn 1";
    assert_eq!(notes_of(body), ["option-ignored timeoutMs", "option-ignored stallMs", "option-ignored retries"]);
}

#[test]
fn tokens_that_a_provider_does_not_tell_are_estimated() {
    let mut host = TestHost::new(|_| Reply::Value(json!({"value": "x".repeat(40)})));
    let mut job =
        job("const seen = []; for (let i = 0; i < 9; i++) { await agent('a'); seen.push(budget.spent()) } return seen");
    job.max_tokens = Some(15);
    let outcome = run(&job, &mut host);
    assert!(shown(&outcome).contains("20 of 15 output tokens"), "{outcome:?}");
    assert_eq!(host.notes().iter().filter(|(code, _)| code == "budget-estimated").count(), 1);
    job.max_tokens = None;
    let mut host = TestHost::new(|_| Reply::Value(json!({"value": "x".repeat(40)})));
    assert_eq!(shown(&run(&job, &mut host)), "success: [10,20,30,40,50,60,70,80,90]");
    assert_eq!(host.notes(), []);
}

#[test]
fn a_schema_that_is_none_is_no_agent() {
    let mut host = TestHost::new(|_| Reply::Error("UNSUPPORTED_SCHEMA", "no schema"));
    let job =
        job("try { await agent('a', { schema: { type: 7 } }) } catch (error) { return [error.code, budget.spent()] }");
    assert_eq!(shown(&run(&job, &mut host)), r#"success: ["UNSUPPORTED_SCHEMA",0]"#);
}

#[test]
fn a_script_that_is_run_by_another_is_kept_from_the_start() {
    let other = "export const meta = { name: 'b', description: 'd' }\nreturn 'b ran'";
    let late = "export const meta = { name: 'c', description: 'd' }\nreturn 'c ran'";
    let source = format!(
        "{META}const first = await agent('a');\nreturn [first, await workflow('b'), await workflow({{ scriptPath: 'c.js' }})]"
    );
    let project = common::Project::new(&[("n.js", &source), ("b.js", other), ("c.js", late)]);
    let mut job = project.job("n.js");
    job.kind = JobKind::Script;
    job.workflows = [("b".to_owned(), "b.js".to_owned()), ("n".to_owned(), "n.js".to_owned())].into();
    let mut first = host();
    first.dies_after = Some(0);
    run(&job, &mut first);
    let kept: Vec<&str> = first.loaded.iter().map(|module| module.path.as_str()).collect();
    assert_eq!(kept, ["n.js", "b.js"]);
    // Later, and another text of what is kept lies in the project by now.
    std::fs::write(project.folder.path().join("b.js"), "nothing").expect("a file");
    job.sources = workflow_script::Sources::Kept(
        first.loaded.iter().map(|module| (module.path.clone(), module.text.clone())).collect(),
    );
    job.journal = first.journal.clone();
    let mut second = host();
    assert_eq!(shown(&run(&job, &mut second)), r#"success: ["echo:a","b ran","c ran"]"#);
    assert!(second.loaded.iter().any(|module| module.path == "c.js" && module.text == late), "kept from now on");
    assert_eq!(second.notes(), [("source-late".to_owned(), Some("c.js".to_owned()))]);
}

#[test]
fn a_stretch_that_takes_too_long_ends_the_run() {
    for body in ["await agent('a'); for (;;) {}", "await agent('a'); for (;;) await null"] {
        let mut job = job(body);
        job.later_slice_ms = Some(50);
        let outcome = run(&job, &mut host());
        assert_eq!(
            shown(&outcome),
            "script_error: the script timed out: it computed for over 50 ms without waiting for anything"
        );
    }
}

#[test]
fn a_stack_is_the_author_s_own() {
    let body = "function inner() { return new Error('x').stack }\nconst made = {}; Error.captureStackTrace(made);\n\
                const [stack] = await parallel([() => inner()]);\nreturn [stack, made.stack]";
    let Value::Array(stacks) = output_of(body) else { panic!("two stacks") };
    let stack = stacks[0].as_str().expect("a text");
    assert!(stack.trim_start().starts_with("at inner (n.js:2:"), "{stack}");
    assert!(!stack.contains("flow:"), "{stack}");
    assert!(
        stacks[1].as_str().is_some_and(|stack| stack.contains("n.js:3:") && !stack.contains("capture")),
        "{stacks:?}"
    );
}
