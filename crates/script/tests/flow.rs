//! What `flow` asks of the host and tells it.

#![allow(clippy::panic, reason = "a helper of tests may fail a test")]

mod common;

use common::{Project, Reply, TestHost, job_of, job_with_body, output_of, run, shown, shown_of};
use model::{NodeKind, NodeStatus};
use serde_json::{Value, json};
use workflow_script::{CallKind, JobKind, Narration, Outcome, Stream};

/// Runs a body with a host that echoes what it is asked: `{kind, args}`.
fn echo(body: &str) -> (Outcome, TestHost) {
    let mut host = TestHost::new(|call| Reply::Value(json!({"kind": call.kind.as_str(), "args": call.args})));
    let outcome = run(&job_with_body(body), &mut host);
    (outcome, host)
}

#[track_caller]
fn echoed(body: &str) -> Value {
    match echo(body).0 {
        Outcome::Success(value) => value,
        other => panic!("{body}: {other:?}"),
    }
}

#[test]
fn each_call_asks_its_kind_with_its_arguments() {
    for (body, kind, args) in [
        (
            "flow.form({title: 'T', message: 'M', fields: {a: {type: 'string'}}})",
            "form",
            json!({"title": "T", "message": "M", "fields": {"a": {"type": "string"}}}),
        ),
        (
            "flow.approve({tool: 'deploy', args: {to: 'prod'}})",
            "approve",
            json!({"tool": "deploy", "args": {"to": "prod"}}),
        ),
        (
            "flow.approve({tool: 'deploy', title: 'Now?'})",
            "approve",
            json!({"tool": "deploy", "title": "Now?", "args": {}}),
        ),
        (
            "flow.exec('git', ['status'], {cwd: 'a', timeoutSeconds: 3})",
            "exec",
            json!({"program": "git", "args": ["status"], "cwd": "a", "timeoutSeconds": 3}),
        ),
        ("flow.exec('ls')", "exec", json!({"program": "ls", "args": []})),
        (
            "flow.http({url: new URL('https://a.example/x'), method: 'POST', headers: {a: 'b'}, body: 'c'})",
            "http",
            json!({"url": "https://a.example/x", "method": "POST", "headers": {"a": "b"}, "body": "c"}),
        ),
        ("flow.kv.get('k')", "kv.get", json!({"key": "k"})),
        ("flow.kv.delete('k')", "kv.delete", json!({"key": "k"})),
        ("flow.kv.list('p')", "kv.list", json!({"prefix": "p"})),
        ("flow.kv.list()", "kv.list", json!({"prefix": ""})),
        ("flow.knowledge.add({text: 't', tags: ['a']})", "knowledge.add", json!({"text": "t", "tags": ["a"]})),
        ("flow.knowledge.search('q', {limit: 3})", "knowledge.search", json!({"query": "q", "limit": 3})),
        ("flow.knowledge.remove('i')", "knowledge.remove", json!({"id": "i"})),
        ("flow.knowledge.list()", "knowledge.list", json!({})),
        ("flow.files.info({file: 'f', name: 'n'})", "files.info", json!({"file": {"file": "f", "name": "n"}})),
        ("flow.files.readText({file: 'f'})", "files.readText", json!({"file": {"file": "f"}})),
        ("flow.files.create('n', 'text')", "files.create", json!({"name": "n", "text": "text"})),
        ("flow.files.create('n', new Uint8Array([104, 105]))", "files.create", json!({"name": "n", "base64": "aGk="})),
        (
            "flow.files.create('n', new Uint8Array([1, 104, 105]).subarray(1))",
            "files.create",
            json!({"name": "n", "base64": "aGk="}),
        ),
        (
            "flow.files.create('n', new Uint8Array([104, 105]).buffer)",
            "files.create",
            json!({"name": "n", "base64": "aGk="}),
        ),
        ("flow.files.list()", "files.list", json!({})),
        (
            "flow.related('style').run('shout', {text: 'hi'})",
            "related",
            json!({"alias": "style", "entrypoint": "shout", "input": {"text": "hi"}}),
        ),
        ("flow.env('E')", "env", json!({"name": "E"})),
        ("flow.secret('S')", "secret", json!({"name": "S"})),
        ("flow.kv.get('\\ud800')", "kv.get", json!({"key": "\u{fffd}"})),
    ] {
        assert_eq!(echoed(&format!("return await {body}")), json!({"kind": kind, "args": args}), "{body}");
    }
    let (_, host) = echo("await flow.kv.set('k', {a: undefined, b: 1}); await flow.kv.set('e')");
    assert_eq!(host.calls[0].args, json!({"key": "k", "value": {"b": 1}}));
    assert_eq!(host.calls[1].args, json!({"key": "e", "value": null}));
    assert_eq!(host.calls.iter().map(|call| call.seq).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn bytes_come_as_bytes() {
    let mut host = TestHost::new(|_| Reply::Value(json!({"base64": "aGk="})));
    let job =
        job_with_body("const b = await flow.files.readBytes({file: 'f'}); return [b instanceof Uint8Array, [...b]]");
    assert_eq!(run(&job, &mut host), Outcome::Success(json!([true, [104, 105]])));
}

#[test]
fn misuse_ends_the_run_even_if_it_is_caught() {
    let mut said = String::new();
    for call in [
        "flow.phase('')",
        "flow.phase(7)",
        "flow.step('s')",
        "flow.agent('')",
        "flow.agent({prompt: 'p'})",
        "flow.agent('p', {temperature: 1})",
        "flow.agent('p', {label: 3})",
        "flow.agent('p', [])",
        "flow.parallel([Promise.resolve(1)])",
        "flow.parallel('x')",
        "flow.parallel(new Array(4097).fill(() => 1))",
        "flow.pipeline('x', (y) => y)",
        "flow.pipeline([1])",
        "flow.pipeline([1], 2)",
        "flow.form()",
        "flow.form({title: 't'})",
        "flow.approve({})",
        "flow.exec('')",
        "flow.exec('a', 'b')",
        "flow.exec('a', [1])",
        "flow.http({})",
        "flow.http({url: 'u', body: {}})",
        "flow.kv.get(1)",
        "flow.kv.set('a', (() => { const x: any = {}; x.x = x; return x })())",
        "flow.value('')",
        "flow.value('v').update(3)",
        "flow.knowledge.add('text')",
        "flow.files.readText('/etc/passwd')",
        "flow.files.create('n', 3)",
        "flow.related()",
        "flow.related('a').run()",
        "flow.related('a').run('e', [])",
        "flow.env()",
        "flow.progress('x')",
        "flow.fail('m', {errCode: 'x'})",
        "setTimeout('code')",
    ] {
        for body in [
            format!("try {{ await {call} }} catch {{}} return 'went on'"),
            format!("await flow.parallel([async () => {{ await {call} }}]); return 'went on'"),
        ] {
            let (outcome, host) = echo(&body);
            let line = shown(&outcome);
            assert!(line.starts_with("script_error: "), "{call}: {line}");
            assert!(host.calls.is_empty(), "{call}");
            if body.starts_with("try") {
                said.push_str(&line["script_error: ".len()..]);
                said.push('\n');
            }
        }
    }
    insta::assert_snapshot!(said, @r#"
    phase: the title must be a non-empty text
    phase: the title must be a non-empty text
    step: the second argument must be a function
    agent: the prompt must be a non-empty text
    agent: the prompt must be a non-empty text: the prompt comes first, the options second
    agent: there is no option `temperature`
    agent: option `label` must be a text
    agent: the options must be an object
    parallel: element 0 is not a function (pass functions that start the work, not promises)
    parallel: the argument must be an array
    parallel: 4097 items, and 4096 are allowed in one call
    pipeline() expects an array as its first argument
    pipeline: at least one stage is needed
    pipeline: stage 0 is not a function
    form: the form must be an object
    form: `fields` must be an object
    approve: `tool` must be a non-empty text
    exec: the program must be a non-empty text
    exec: the arguments must be a list of texts
    exec: argument 0 is not a text
    http: `url` must be a non-empty text
    http: `body` must be a text (JSON.stringify it, and set the content type)
    kv.get: the key must be a non-empty text
    kv.set: the arguments cannot be written as JSON: circular reference
    value: the name must be a non-empty text
    value: update needs a function
    knowledge.add: the entry must be an object
    files.readText: a file reference is needed, as it came in the input
    files.create: the data must be a text or bytes
    related: the alias must be a non-empty text
    related: the entrypoint must be a non-empty text
    related: the input must be an object
    env: the name must be a non-empty text
    progress: `done` must be a number
    fail: `errCode` must be a whole number
    setTimeout: the first argument must be a function
    "#);
}

#[test]
fn a_business_error_keeps_its_number_and_data() {
    let Outcome::Failed(error) = common::run_body("flow.fail('No stock left', {errCode: 42, data: {sku: 7}})") else {
        panic!("it failed");
    };
    assert_eq!(
        (error.code, error.err_code, error.data.clone()),
        (model::ErrorCode::BusinessError, Some(42), Some(json!({"sku": 7})))
    );
    assert!(error.cause.is_some_and(|cause| cause.contains("main.ts:2")));
    assert_eq!(
        shown_of("try { flow.fail('a') } catch {} try { flow.fail('b') } catch {} return 1"),
        "business_error: a"
    );
    assert_eq!(shown_of("await flow.parallel([() => flow.fail('inside')]); return 1"), "business_error: inside");
    assert_eq!(shown_of("await flow.pipeline([1], () => flow.fail('inside')); return 1"), "business_error: inside");
}

#[test]
fn nothing_has_an_effect_once_the_end_is_decided() {
    let (outcome, host) = echo(
        "try { flow.fail('over') } catch {}
         try { await flow.kv.set('a', 1) } catch {}
         try { console.log('still here') } catch {}
         try { flow.phase('P') } catch {}",
    );
    assert_eq!(shown(&outcome), "business_error: over");
    assert!(host.calls.is_empty() && host.narrations.is_empty(), "{:?}", host.narrations);
}

#[test]
fn ordinary_errors_can_be_caught_and_keep_their_code_if_not() {
    let deny = || TestHost::new(|_| Reply::Error("approval_denied", "git push was not allowed"));
    let caught =
        "try { await flow.exec('git', ['push']) } catch (e) { return [e instanceof Error, e.name, e.code, e.message] }";
    assert_eq!(
        run(&job_with_body(caught), &mut deny()),
        Outcome::Success(json!([true, "WorkflowError", "approval_denied", "git push was not allowed"]))
    );
    assert_eq!(
        shown(&run(&job_with_body("await flow.exec('git', ['push'])"), &mut deny())),
        "approval_denied: git push was not allowed"
    );
    // A look-alike does not pass for one.
    assert_eq!(
        shown_of(
            "throw Object.assign(new Error('fake'), {code: 'approval_denied', fatal: true, name: 'WorkflowError'})"
        ),
        "script_error: WorkflowError: fake"
    );
    // What befell a child did not befall this run.
    let mut host = TestHost::new(|_| Reply::Error("memory_limit", "the child ran out of memory"));
    assert_eq!(
        shown(&run(&job_with_body("await flow.related('a').run('b')"), &mut host)),
        "script_error: the child ran out of memory"
    );
    let mut host = TestHost::new(|_| Reply::Fatal("AGENT_CAP", "too many agents"));
    assert_eq!(
        shown(&run(&job_with_body("try { await flow.agent('p') } catch {} return 1"), &mut host)),
        "script_error: too many agents"
    );
}

#[test]
fn parallel_keeps_order_and_makes_errors_null() {
    assert_eq!(
        output_of(
            "return await flow.parallel([() => 1, async () => { throw new Error('slip') }, () => null, async () => { await null; return 4 }])"
        ),
        json!([1, null, null, 4])
    );
    assert_eq!(output_of("return await flow.parallel([])"), json!([]));
    assert_eq!(output_of("return await flow.parallel([(...a) => a.length])"), json!([0]));
    let mut host = TestHost::silent();
    run(&job_with_body("await flow.parallel([() => { throw new TypeError('slip') }, () => { throw 2 }])"), &mut host);
    assert_eq!(host.notes(), [("parallel-threw".into(), Some("slip".into()))]);
    assert!(
        matches!(&host.narrations[0], Narration::Note(note) if note.text == "parallel: TypeError: slip became null (and 1 more)")
    );
}

#[test]
fn pipeline_passes_previous_item_and_index_without_a_barrier() {
    assert_eq!(
        output_of(
            "const order = [];
             const out = await flow.pipeline([1, 2, 3], async (p, item, i) => { if (item === 2) { await flow.kv.get('slow'); throw new Error('x') } order.push('a' + item); return p * 10 },
               (p, item, i) => { order.push('b' + item); return [p, item, i] });
             return { out, order }"
        ),
        json!({"out": [[10, 1, 0], null, [30, 3, 2]], "order": ["a1", "a3", "b1", "b3"]})
    );
    assert_eq!(output_of("return await flow.pipeline([], (x) => x)"), json!([]));
    assert_eq!(output_of("return await flow.pipeline([1], () => null, (p) => [p])"), json!([[null]]));
}

#[test]
fn an_agents_answer_is_its_value_and_null_when_it_failed() {
    let mut host = TestHost::new(|call| {
        Reply::Value(match call.args["prompt"].as_str() {
            Some("good") => json!({"value": "fine", "outputTokens": 5}),
            Some("structured") => json!({"value": {"a": 1}}),
            _ => json!({"value": null, "reason": "it refused"}),
        })
    });
    let job = job_with_body(
        "flow.phase('Read');
         return [await flow.agent('good'), await flow.agent('structured', {schema: {type: 'object'}, label: 's', phase: 'X', model: 'm'}), await flow.agent('bad\\nmore')]",
    );
    assert_eq!(run(&job, &mut host), Outcome::Success(json!(["fine", {"a": 1}, null])));
    assert_eq!(host.calls[0].args, json!({"prompt": "good", "label": "good", "phase": "Read"}));
    assert_eq!(
        host.calls[1].args,
        json!({"prompt": "structured", "label": "s", "phase": "X", "schema": {"type": "object"}, "model": "m"})
    );
    assert_eq!(host.notes(), [("agent-failed".into(), Some("bad".into()))]);
    let failed: Vec<_> = host
        .narrations
        .iter()
        .filter(|event| matches!(event, Narration::NodeEnded { status: NodeStatus::Failed, .. }))
        .collect();
    assert_eq!(failed.len(), 1);
}

#[test]
fn the_cap_of_agents_is_fatal_in_a_module() {
    let mut job =
        job_with_body("try { for (let i = 0; i < 4; i++) await flow.agent('p' + i) } catch {} return 'went on'");
    job.max_agents = 3;
    let mut host = TestHost::silent();
    assert_eq!(shown(&run(&job, &mut host)), "script_error: the run may start 3 agents (`maxAgents`)");
    assert_eq!(host.calls.len(), 3);
}

#[test]
fn a_value_is_updated_by_comparing_and_setting() {
    let mut stored = (json!(null), 0_u64);
    let mut interfered = false;
    let mut host = TestHost::new(move |call| match call.kind {
        CallKind::ValueGet => Reply::Value(json!({"value": stored.0, "revision": stored.1})),
        CallKind::ValueSet => {
            stored = (call.args["value"].clone(), stored.1 + 1);
            Reply::Value(Value::Null)
        }
        CallKind::ValueCas => {
            if !interfered {
                // Somebody else was faster.
                interfered = true;
                stored = (json!(100), stored.1 + 1);
            }
            let fits = call.args["revision"] == json!(stored.1);
            if fits {
                stored = (call.args["value"].clone(), stored.1 + 1);
            }
            Reply::Value(json!(fits))
        }
        other => panic!("{other:?}"),
    });
    let job = job_with_body(
        "const v = flow.value('n', 5);
         const before = await v.get();
         const after = await v.update((n) => n + 1);
         await (await flow.value('n')).set(7);
         return [before, after, await v.get()]",
    );
    assert_eq!(run(&job, &mut host), Outcome::Success(json!([5, 101, 7])));
}

#[test]
fn steps_and_phases_are_nodes_and_calls_belong_to_them() {
    let mut host = TestHost::silent();
    let job = job_with_body(
        "flow.phase('One');
         await flow.step('outer', async (flow) => { await flow.step('inner', (f) => f.kv.get('a')); await flow.agent('do it') });
         flow.phase('Two');
         await flow.step('bad', () => { throw new Error('x') }).catch(() => 0);
         await flow.form({title: 'F', fields: {}});
         flow.kv.get('unawaited');
         flow.agent('stray');",
    );
    assert_eq!(shown(&run(&job, &mut host)), "success: null");
    let mut tree = String::new();
    for event in &host.narrations {
        match event {
            Narration::NodeStarted { id, parent, kind, title } => {
                tree.push_str(&format!("+{id} in {} {kind:?} {title}\n", parent.unwrap_or(0)));
            }
            Narration::NodeEnded { id, status } => tree.push_str(&format!("-{id} {status:?}\n")),
            Narration::Phase { title, node } => tree.push_str(&format!("phase {title} = {node}\n")),
            _ => {}
        }
    }
    insta::assert_snapshot!(tree, @r#"
    +1 in 0 Phase One
    phase One = 1
    +2 in 1 Step outer
    +3 in 2 Step inner
    -3 Success
    +4 in 2 Agent do it
    -4 Success
    -2 Success
    -1 Success
    +5 in 0 Phase Two
    phase Two = 5
    +6 in 5 Step bad
    -6 Failed
    +7 in 5 Form F
    -7 Success
    +8 in 5 Agent stray
    -8 Cancelled
    -5 Success
    "#);
    let of = |seq: u64| host.calls.iter().find(|call| call.seq == seq).map(|call| (call.node, call.own_node));
    assert_eq!(of(1), Some((Some(3), None)), "kv.get belongs to the inner step");
    assert_eq!(of(2), Some((Some(2), Some(4))), "the agent belongs to the outer step and is a node itself");
}

#[test]
fn what_fails_closes_its_nodes_as_failed() {
    let mut host = TestHost::silent();
    let job = job_with_body(
        "flow.phase('P'); await flow.step('s', async () => { await flow.kv.get('a'); throw new Error('x') })",
    );
    run(&job, &mut host);
    let ends: Vec<_> = host
        .narrations
        .iter()
        .filter_map(|event| match event {
            Narration::NodeEnded { id, status } => Some((*id, *status)),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [(2, NodeStatus::Failed), (1, NodeStatus::Failed)]);
    let kinds: Vec<_> = host
        .narrations
        .iter()
        .filter_map(|event| match event {
            Narration::NodeStarted { kind, .. } => Some(*kind),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [NodeKind::Phase, NodeKind::Step]);
}

#[test]
fn lines_go_to_their_streams() {
    let mut host = TestHost::silent();
    let job = job_with_body(
        "console.log('a', 1, {b: [2]}, undefined, null, 3n, new TypeError('oops')); console.info('i'); console.warn('w'); console.error('e');
         console.group('g'); console.log('in'); console.groupEnd(); console.log('out');
         console.log(); console.assert(true, 'no'); console.assert(false, 'yes');
         const c: any = {}; c.c = c; console.log(c, Symbol('s'), () => 1, '\\ud800');
         flow.log('plain', {x: 1}); flow.log(7); await flow.progress(1, 2, 'half');
         console.log('x'.repeat(2_000_000));",
    );
    assert_eq!(shown(&run(&job, &mut host)), "success: null");
    let mut out = host.lines(Stream::Stdout);
    let long = out.pop().expect("a line");
    assert_eq!((long.len(), long.ends_with('…')), (1024 * 1024 + 3, true));
    insta::assert_snapshot!(out.join("\n"), @r#"
    a 1 {"b":[2]} undefined null 3n TypeError: oops
    i
    g
      in
    out

    [object Object] Symbol(s) [Function: anonymous] �
    "#);
    assert_eq!(host.lines(Stream::Stderr), ["w", "e", "Assertion failed yes"]);
    assert_eq!(host.lines(Stream::Log), ["plain", "7"]);
    assert!(host.narrations.contains(&Narration::Log {
        stream: Stream::Log,
        text: "plain".into(),
        data: Some(json!({"x": 1})),
        goes_on: false,
    }));
    assert!(host.narrations.contains(&Narration::Progress {
        done: 1.0,
        total: Some(2.0),
        message: Some("half".into())
    }));
}

#[test]
fn lines_are_told_while_the_script_is_busy() {
    // The host cancels as soon as it hears the line; a line that were told only afterwards would never end this.
    struct Listening(std::sync::Arc<workflow_script::Control>);
    impl workflow_script::Host for Listening {
        fn loaded(&mut self, _: &[workflow_script::ModuleSource]) {}
        fn issue(&mut self, _: workflow_script::HostCall) {}
        fn narrate(&mut self, event: Narration) {
            assert!(matches!(event, Narration::Log { .. }));
            self.0.cancel("heard");
        }
        fn next_delivery(&mut self) -> workflow_script::Delivery {
            unreachable!("the script never waits")
        }
    }
    let control = std::sync::Arc::new(workflow_script::Control::new());
    let outcome = workflow_script::run(
        &job_with_body("console.log('busy'); for (;;) {}"),
        &mut Listening(std::sync::Arc::clone(&control)),
        &control,
    );
    assert_eq!(outcome, Outcome::Cancelled { reason: "heard".into() });
}

#[test]
fn timers_are_host_calls() {
    let mut host = TestHost::silent();
    let job = job_with_body(
        "const order = [];
         const cleared = setTimeout(() => order.push('never'), 5);
         setTimeout((a, b) => order.push(a + b), 10, 'x', 'y');
         clearTimeout(cleared); clearTimeout(cleared); clearTimeout(undefined); clearTimeout(99);
         await new Promise((done) => { let n = 0; const id = setInterval(() => { order.push(++n); if (n === 3) { clearInterval(id); done(1) } }, 20) });
         setTimeout(() => order.push('late'), 1e12);
         return order",
    );
    assert_eq!(run(&job, &mut host), Outcome::Success(json!(["xy", 1, 2, 3])));
    assert_eq!(host.abandoned, [1]);
    assert!(host.kinds().iter().all(|kind| *kind == CallKind::Sleep));
    let delays: Vec<_> = host.calls.iter().map(|call| call.args["ms"].clone()).collect();
    assert_eq!(delays, [json!(5), json!(10), json!(20), json!(20), json!(20), json!(2_147_483_647)]);
}

#[test]
fn clock_and_chance_are_the_runs_own() {
    let body = "const a = Date.now(); const b = Date.now(); await flow.kv.get('x');
         return [a, b, Date.now(), new Date().getTime(), typeof Date(), new Date(5).getTime(), new Date('2026-01-02').toISOString(),
           new Date() instanceof Date, Date.name, Date.length, new Date(2026, 0, 2).getDate(), Date.UTC(2026), class extends Date {}.name, Math.random(), Math.random()]";
    let once = output_of(body);
    assert_eq!(once[0], json!(1_000_000));
    assert_eq!(once[1], once[0], "the clock stands still between deliveries");
    assert_eq!(once[2], json!(1_001_000));
    assert_eq!(once[3], once[2]);
    assert_eq!(once[4], json!("string"));
    assert_eq!(
        once.as_array().map(|list| &list[5..12]),
        json!([5, "2026-01-02T00:00:00.000Z", true, "Date", 7, 2, 1_767_225_600_000_i64]).as_array().map(Vec::as_slice)
    );
    assert_ne!(once[13], once[14]);
    assert_eq!(output_of(body), once);
    let mut job = job_with_body("return Math.random()");
    job.seed = 1;
    assert_ne!(run(&job, &mut TestHost::silent()), Outcome::Success(once[13].clone()));
}

#[test]
fn a_script_that_breaks_its_builtins_breaks_only_itself() {
    assert_eq!(
        output_of(
            "Array.prototype.push = Map.prototype.get = Map.prototype.set = Promise.prototype.then = () => { throw new Error('broken') };
             JSON.stringify = JSON.parse = () => 'fake'; Object.freeze = () => 0; globalThis.Promise = null as any;
             const r = await flow.parallel([() => 1, () => flow.kv.get('a')]);
             try { (flow as any).kv = 1 } catch {}
             return [r, typeof flow.kv.get]"
        ),
        json!([[1, null], "function"])
    );
    // Its fatal errors stay fatal.
    assert_eq!(
        shown_of(
            "globalThis.WeakMap = null as any; Error.prototype.toString = () => 'x'; try { flow.fail('f') } catch {}"
        ),
        "business_error: f"
    );
}

#[test]
fn a_missing_default_export_is_said() {
    let job = job_of(JobKind::Module, "a.js", "export const x = 1");
    insta::assert_snapshot!(shown(&run(&job, &mut TestHost::silent())), @"script_error: a.js has no default export that is a function: add `export default async function (input, flow) { … }`");
    let job = job_of(JobKind::Module, "a.js", "export default 3");
    insta::assert_snapshot!(shown(&run(&job, &mut TestHost::silent())), @"script_error: a.js has no default export that is a function: add `export default async function (input, flow) { … }`");
    let project = Project::new(&[]);
    insta::assert_snapshot!(shown(&run(&project.job("gone.ts"), &mut TestHost::silent())), @"script_error: gone.ts: the file does not exist");
}

#[test]
fn wrong_arguments_are_told_and_end_the_run_whatever_catches_them() {
    for (call, told) in [
        ("flow.exec('a', [], { CWD: '/' })", "exec: there is no `CWD`"),
        ("flow.exec('a', [], { program: 'b' })", "exec: there is no option `program`"),
        ("flow.exec('a', [], { timeoutSeconds: '1' })", "exec: `timeoutSeconds` must be a number above 0"),
        ("flow.exec('a', [], { timeoutSeconds: -1 })", "exec: `timeoutSeconds` must be a number above 0"),
        ("flow.exec('a', [], { stdin: 1 })", "exec: `stdin` must be a text"),
        ("flow.exec('a', [], { env: { A: 1 } })", "exec: `env` must be an object of texts"),
        ("flow.http({ url: 'http://a/', timeoutMs: 1 })", "http: there is no `timeoutMs`"),
        ("flow.http({ url: 'http://a/', method: 5 })", "http: `method` must be the name of a request method"),
        ("flow.http({ url: 'http://a/', headers: ['a'] })", "http: `headers` must be an object of texts"),
        ("flow.kv.list(5)", "kv.list: `prefix` must be a text"),
        (
            "flow.kv.set('a', (() => { let a = []; for (let i = 0; i < 200; i++) a = [a]; return a })())",
            "kv.set: the arguments are",
        ),
        ("flow.knowledge.add({ text: 'a', tags: 'b' })", "knowledge.add: `tags` must be a list of texts"),
        ("flow.knowledge.add({ text: 'a', Title: 'b' })", "knowledge.add: there is no `Title`"),
        ("flow.knowledge.search('a', { limit: -1 })", "knowledge.search: `limit` must be a whole number"),
        ("flow.form({ title: 'a', fields: {}, bogus: 1 })", "form: there is no `bogus`"),
        ("flow.agent('a', { timeoutMs: 'x' })", "agent: option `timeoutMs` must be"),
        ("flow.agent('a', { retries: 11 })", "agent: option `retries` must be"),
        ("flow.progress(1, 2, {})", "progress: `message` must be a text"),
    ] {
        let outcome = shown_of(&format!("try {{ await {call} }} catch {{}} return 1"));
        assert!(outcome.contains(told), "{call}: {outcome}");
    }
}
