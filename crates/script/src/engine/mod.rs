//! Runs a job: one engine on one thread, deliveries one at a time, everything the script does told to the host.
//!
//! Two threads take part. The caller's owns the host and serves it; the engine's has a large stack, executes the
//! script, and asks for a delivery when the script can do nothing else. Between two deliveries the engine drains its
//! job queue until it is quiet, so that the order of deliveries is all that decides how a script interleaves.

mod bridge;
mod failure;
mod loader;
mod memory;
mod prelude;
mod random;
mod replay;
mod session;
mod shared;
mod web;

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use model::{ErrorCode, RunError};
use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, FromJs};

use shared::ToHost;

use crate::thread::STACK_BYTES;
use crate::{Control, Delivery, Host, Job, Outcome};

/// Messages that may lie between the two threads; a script that talks faster than the host listens waits.
const CHANNEL: usize = 1_024;

/// Runs a job to its end, or until it must wait for a person.
///
/// Serves `host` on the calling thread. `control` may stop the run from any thread; a run that waits for a delivery is
/// woken by the host alone. Returns once the script is over; calls it left open are the host's to end.
pub fn run(job: &Job, host: &mut dyn Host, control: &Arc<Control>) -> Outcome {
    run_for(Purpose::Run, job, host, control)
}

/// What the engine is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run the job.
    Run,
    /// To see whether the engine takes the code. Nothing of it is executed.
    Compile,
    /// To read a module's `entrypoint` by executing its top level; the output is that value.
    Declaration,
}

/// Starts the engine for a purpose; see [`run`].
pub(crate) fn run_for(purpose: Purpose, job: &Job, host: &mut dyn Host, control: &Arc<Control>) -> Outcome {
    let (to_host, from_engine) = mpsc::sync_channel(CHANNEL);
    let (to_engine, deliveries) = mpsc::channel();
    thread::scope(|scope| {
        let engine = thread::Builder::new()
            .name("script".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, move || session::run(purpose, job, Arc::clone(control), to_host, deliveries));
        let engine = match engine {
            Ok(engine) => engine,
            Err(error) => return engine_fault(&format!("no thread could be started: {error}")),
        };
        let outcome = serve(host, &from_engine, &to_engine);
        // Whoever still sends or waits on the other side learns that nobody is here.
        drop((from_engine, to_engine));
        match (engine.join(), outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Ok(()), None) | (Err(_), _) => engine_fault("it stopped without a result"),
        }
    })
}

fn engine_fault(what: &str) -> Outcome {
    Outcome::Failed(RunError::new(ErrorCode::ScriptError, format!("the script engine failed: {what}")))
}

/// Serves the host until the engine's thread says how the run ended, or is gone.
fn serve(host: &mut dyn Host, from_engine: &Receiver<ToHost>, to_engine: &mpsc::Sender<Delivery>) -> Option<Outcome> {
    for message in from_engine {
        match message {
            ToHost::Loaded(modules) => host.loaded(&modules),
            ToHost::Issue(call) => host.issue(call),
            ToHost::Abandon(seq) => host.abandon(seq),
            ToHost::Narrate(event) => host.narrate(event),
            ToHost::Next => {
                if to_engine.send(host.next_delivery()).is_err() {
                    return None;
                }
            }
            ToHost::End(outcome, tally) => {
                host.tally(tally);
                return Some(outcome);
            }
        }
    }
    None
}

/// Evaluates one of our own scripts.
fn eval<'js, V: FromJs<'js>>(ctx: &Ctx<'js>, source: &str, name: &str) -> rquickjs::Result<V> {
    let mut options = EvalOptions::default();
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(source, options)
}
