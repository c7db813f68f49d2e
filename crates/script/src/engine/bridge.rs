//! The primitives that the prelude gets: the only way from a script to anything outside it.
//!
//! Each takes and gives texts and numbers. Once a run's end is decided every one that would have an effect throws, so
//! that a script that catches a fatal error can do nothing more.

use std::cell::RefCell;
use std::rc::Rc;

use model::{ErrorCode, NodeKind, NodeStatus, RunError};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, TypedArray};
use serde_json::Value;

use super::failure::Thrown;
use super::loader::{Access, Nested, source_late};
use super::shared::{Shared, ToHost};
use crate::json;
use crate::{CallKind, HostCall, Narration, Outcome, Stream, meta};

/// Bytes of one line that a script writes; what is longer is cut.
const LINE_BYTES: usize = 1024 * 1024;

/// Source of what is compiled on first touch.
const WEB: &str = include_str!("../../assets/web.js");

/// Makes the object of primitives.
pub(super) fn primitives<'js>(ctx: &Ctx<'js>, access: &Access) -> rquickjs::Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    calls(ctx, &native, &access.shared)?;
    narration(ctx, &native, &access.shared)?;
    ending(ctx, &native, access)?;
    let shared = Rc::clone(&access.shared);
    #[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53 for 285,000 years")]
    native.set("clock", Function::new(ctx.clone(), move || shared.clock() as f64)?)?;
    let shared = Rc::clone(&access.shared);
    native.set("random", Function::new(ctx.clone(), move || shared.random())?)?;
    web(ctx, &native)?;
    orchestration(ctx, &native, access)?;
    Ok(native)
}

/// Source of the strict contract's hooks.
const STRICT: &str = include_str!("../../assets/strict.js");

/// What orchestration needs beside host calls: counters that a whole run shares, other scripts, schemas.
fn orchestration<'js>(ctx: &Ctx<'js>, native: &Object<'js>, access: &Access) -> rquickjs::Result<()> {
    native.set(
        "strict",
        Function::new(ctx.clone(), |ctx: Ctx<'js>| -> rquickjs::Result<Function<'js>> {
            super::eval(&ctx, STRICT, "flow:strict")
        })?,
    )?;
    native.set(
        "schemaFaults",
        Function::new(ctx.clone(), |text: String| -> String {
            match json::parse(&json::without_lone_surrogates(text)) {
                Ok(schema) => crate::schema_subset::faults(&schema).join("; "),
                Err(error) => format!("schema is {error}"),
            }
        })?,
    )?;
    let state = Rc::clone(&access.shared);
    let accept = move || {
        let mut tally = state.tally.get();
        tally.agents_started += 1;
        state.tally.set(tally);
    };
    native.set("agentAccepted", Function::new(ctx.clone(), accept)?)?;
    let state = Rc::clone(&access.shared);
    let refuse = move || {
        let mut tally = state.tally.get();
        tally.agents_started = tally.agents_started.saturating_sub(1);
        state.tally.set(tally);
    };
    native.set("agentRefused", Function::new(ctx.clone(), refuse)?)?;
    let state = Rc::clone(&access.shared);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; a float keeps 2^53 tokens")]
    let ended = move |failed: bool, tokens: f64| {
        let mut tally = state.tally.get();
        tally.agents_failed += u64::from(failed);
        tally.output_tokens = tally.output_tokens.saturating_add(tokens.max(0.0) as u64);
        state.tally.set(tally);
    };
    native.set("agentEnded", Function::new(ctx.clone(), ended)?)?;
    let state = Rc::clone(&access.shared);
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^53 agents or tokens")]
    let counts = move || {
        let tally = state.tally.get();
        vec![tally.agents_started as f64, tally.output_tokens as f64]
    };
    native.set("counts", Function::new(ctx.clone(), counts)?)?;
    let Access { library, shared } = access.clone();
    let nested = move |ctx: Ctx<'js>, by_path: bool, wanted: String| -> rquickjs::Result<rquickjs::Array<'js>> {
        check(&ctx, &shared)?;
        let answer = rquickjs::Array::new(ctx.clone())?;
        let found = library.borrow_mut().nested(by_path, &wanted);
        match found {
            Err((code, message)) => {
                answer.set(0, code)?;
                answer.set(1, message)?;
            }
            Ok(Nested { code, file, source, late }) => {
                if late {
                    shared.narrate(Narration::Note(source_late(&file)));
                }
                shared.send(ToHost::Loaded(vec![source]));
                let mut options = rquickjs::context::EvalOptions::default();
                options.strict = false;
                options.filename = Some(file);
                let body: Function<'js> = ctx.eval_with_options(code, options)?;
                answer.set(0, "")?;
                answer.set(1, "")?;
                answer.set(2, body)?;
            }
        }
        Ok(answer)
    };
    native.set("nested", Function::new(ctx.clone(), nested)?)
}

/// Throws if the run's end is decided.
fn check(ctx: &Ctx<'_>, shared: &Shared) -> rquickjs::Result<()> {
    if shared.must_stop() { Err(Exception::throw_message(ctx, "the run is over")) } else { Ok(()) }
}

fn calls<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> rquickjs::Result<()> {
    // Between a call's check and its issue nothing of the script runs.
    let prepared: Rc<RefCell<Value>> = Rc::default();
    let (state, waiting) = (Rc::clone(shared), Rc::clone(&prepared));
    let prepare = move |ctx: Ctx<'js>, kind: String, args: String| -> rquickjs::Result<Option<String>> {
        check(&ctx, &state)?;
        let Some(kind) = CallKind::parse(&kind) else {
            return Err(Exception::throw_message(&ctx, "there is no such host call"));
        };
        if args.len() > json::CALL_BYTES {
            return Ok(Some("the arguments are too large".into()));
        }
        Ok(match json::parse(&json::without_lone_surrogates(args)) {
            Ok(args) => {
                let fault = crate::arguments::fault(kind, &args);
                *waiting.borrow_mut() = args;
                fault
            }
            Err(error) => Some(format!("the arguments are {error}")),
        })
    };
    native.set("prepare", Function::new(ctx.clone(), prepare)?)?;

    let state = Rc::clone(shared);
    let issue = move |ctx: Ctx<'js>, kind: String, node: u32, own: u32| -> rquickjs::Result<f64> {
        check(&ctx, &state)?;
        let Some(kind) = CallKind::parse(&kind) else {
            return Err(Exception::throw_message(&ctx, "there is no such host call"));
        };
        let args = prepared.take();
        let fingerprint = json::fingerprint(kind.as_str(), &args);
        let mut replay = state.replay.borrow_mut();
        let seq = replay.next_seq();
        let call = HostCall { seq, kind, args, node: node_id(node), own_node: node_id(own), fingerprint };
        let start = replay.issue(call);
        drop(replay);
        match start {
            Ok(Some(call)) => state.send(ToHost::Issue(call)),
            Ok(None) => {}
            Err(diverged) => {
                state.diverge(diverged);
                check(&ctx, &state)?;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "no run makes 2^53 calls")]
        Ok(seq as f64)
    };
    native.set("issue", Function::new(ctx.clone(), issue)?)?;

    let state = Rc::clone(shared);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the prelude gives back a call's number"
    )]
    let abandon = move |seq: f64| {
        let seq = seq as u64;
        let known = state.replay.borrow_mut().abandon(seq);
        if known {
            state.send(ToHost::Abandon(seq));
        }
    };
    native.set("abandon", Function::new(ctx.clone(), abandon)?)
}

fn node_id(id: u32) -> Option<u64> {
    (id != 0).then_some(u64::from(id))
}

fn narration<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> rquickjs::Result<()> {
    let state = Rc::clone(shared);
    let start = move |ctx: Ctx<'js>, id: u32, parent: u32, kind: String, title: String| -> rquickjs::Result<()> {
        check(&ctx, &state)?;
        let kind = match kind.as_str() {
            "phase" => NodeKind::Phase,
            "step" => NodeKind::Step,
            "agent" => NodeKind::Agent,
            "form" => NodeKind::Form,
            "related" => NodeKind::Related,
            _ => NodeKind::Command,
        };
        state.start_node(u64::from(id), node_id(parent), kind, cut(title, LINE_BYTES));
        Ok(())
    };
    native.set("nodeStart", Function::new(ctx.clone(), start)?)?;

    let state = Rc::clone(shared);
    let end = move |ctx: Ctx<'js>, id: u32, status: String| -> rquickjs::Result<()> {
        check(&ctx, &state)?;
        let status = if status == "success" { NodeStatus::Success } else { NodeStatus::Failed };
        state.end_node(u64::from(id), status);
        Ok(())
    };
    native.set("nodeEnd", Function::new(ctx.clone(), end)?)?;

    let state = Rc::clone(shared);
    let phase = move |ctx: Ctx<'js>, title: String, node: u32| -> rquickjs::Result<()> {
        check(&ctx, &state)?;
        state.narrate(Narration::Phase { title: cut(title, LINE_BYTES), node: u64::from(node) });
        Ok(())
    };
    native.set("phase", Function::new(ctx.clone(), phase)?)?;

    let state = Rc::clone(shared);
    let line = move |ctx: Ctx<'js>, stream: String, text: String, data: Opt<Option<String>>| -> rquickjs::Result<()> {
        check(&ctx, &state)?;
        let stream = match stream.as_str() {
            "stdout" => Stream::Stdout,
            "stderr" => Stream::Stderr,
            _ => Stream::Log,
        };
        let data = match data.0.flatten() {
            None => None,
            Some(text) => Some(
                json::parse(&json::without_lone_surrogates(text))
                    .map_err(|error| Exception::throw_range(&ctx, &format!("log: the data are {error}")))?,
            ),
        };
        state.narrate(Narration::Log { stream, text: cut(text, LINE_BYTES), data, goes_on: false });
        Ok(())
    };
    native.set("line", Function::new(ctx.clone(), line)?)?;

    let state = Rc::clone(shared);
    let progress =
        move |ctx: Ctx<'js>, done: f64, total: Option<f64>, message: Option<String>| -> rquickjs::Result<()> {
            check(&ctx, &state)?;
            let message = message.map(|text| cut(text, LINE_BYTES));
            state.narrate(Narration::Progress { done, total, message });
            Ok(())
        };
    native.set("progress", Function::new(ctx.clone(), progress)?)?;

    let state = Rc::clone(shared);
    let note = move |ctx: Ctx<'js>, code: String, subject: Option<String>, text: String| -> rquickjs::Result<()> {
        check(&ctx, &state)?;
        state.narrate(Narration::Note(meta::note(&code, subject.as_deref(), cut(text, LINE_BYTES))));
        Ok(())
    };
    native.set("note", Function::new(ctx.clone(), note)?)
}

fn ending<'js>(ctx: &Ctx<'js>, native: &Object<'js>, access: &Access) -> rquickjs::Result<()> {
    let library = Rc::clone(&access.library);
    let stack = move |stack: String| {
        super::failure::map_stack(&stack, &|file, line, column| {
            // While a module is being loaded nothing of the script runs.
            library.try_borrow().ok()?.place(file, line, column)
        })
    };
    native.set("stack", Function::new(ctx.clone(), stack)?)?;

    let shared = Rc::clone(&access.shared);
    let fatal = move |code: String, message: String, err_code: Option<f64>, data: Option<String>, stack: String| {
        let thrown = Thrown { name: String::new(), message, stack, code: code.clone(), err_code, data };
        let mut error = thrown.into_error();
        if code == "business_error" {
            error.code = ErrorCode::BusinessError;
        }
        shared.end(Outcome::Failed(error));
    };
    native.set("fatal", Function::new(ctx.clone(), fatal)?)?;

    let state = Rc::clone(&access.shared);
    let finish = move |text: String| {
        if text.len() > json::OUTPUT_BYTES {
            let limit = json::OUTPUT_BYTES / (1024 * 1024);
            state.end(failed(format!("the returned value is larger than {limit} MiB as JSON")));
            return;
        }
        match json::parse(&json::without_lone_surrogates(text)) {
            Ok(value) => *state.finished.borrow_mut() = Some(value),
            Err(error) => state.end(failed(format!("the returned value is {error}"))),
        }
    };
    native.set("finish", Function::new(ctx.clone(), finish)?)?;

    let shared = Rc::clone(&access.shared);
    let crash = move |name: String,
                      message: String,
                      stack: String,
                      code: String,
                      err_code: Opt<Option<f64>>,
                      data: Opt<Option<String>>| {
        let thrown = Thrown { name, message, stack, code, err_code: err_code.0.flatten(), data: data.0.flatten() };
        let error = thrown.into_error();
        shared.end(Outcome::Failed(error));
    };
    native.set("crash", Function::new(ctx.clone(), crash)?)
}

fn failed(message: String) -> Outcome {
    Outcome::Failed(RunError::new(ErrorCode::ScriptError, message))
}

fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        let mut end = bytes;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

#[expect(unsafe_code, reason = "the bytes are the script's; nothing of it runs while they are copied")]
fn copy_bytes(bytes: &TypedArray<'_, u8>) -> Vec<u8> {
    // SAFETY: the slice is gone before anything of the engine is called. A detached buffer has none.
    unsafe { bytes.as_bytes() }.map(<[u8]>::to_vec).unwrap_or_default()
}

fn web<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> rquickjs::Result<()> {
    let load = |ctx: Ctx<'js>| -> rquickjs::Result<Function<'js>> { super::eval(&ctx, WEB, "flow:web") };
    native.set("web", Function::new(ctx.clone(), load)?)?;
    native.set(
        "urlParse",
        Function::new(ctx.clone(), |text: String, base: Opt<Option<String>>| {
            super::web::parse(&text, base.0.flatten().as_deref())
        })?,
    )?;
    native.set(
        "urlSet",
        Function::new(ctx.clone(), |href: String, part: String, value: String| super::web::set(&href, &part, &value))?,
    )?;
    native.set("queryParse", Function::new(ctx.clone(), |text: String| super::web::query_parse(&text))?)?;
    native.set("queryWrite", Function::new(ctx.clone(), |pairs: String| super::web::query_write(&pairs))?)?;
    native.set(
        "utf8Encode",
        Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| TypedArray::<u8>::new_copy(ctx, text.as_bytes()))?,
    )?;
    native.set(
        "utf8Decode",
        Function::new(ctx.clone(), |bytes: TypedArray<'js, u8>, fatal: bool| -> Option<String> {
            match String::from_utf8(copy_bytes(&bytes)) {
                Ok(text) => Some(text),
                Err(_) if fatal => None,
                Err(error) => Some(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            }
        })?,
    )
}
