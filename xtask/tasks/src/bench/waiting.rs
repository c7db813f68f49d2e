//! Runs that wait: how soon an answer moves them, also after thousands of calls, and what launchers that write at once cost
//! each other.

use std::ffi::OsString;
use std::fs;
use std::time::{Duration, Instant};

use model::AnswerAction;
use serde_json::{Value, json};
use store::{NewAnswer, RunFilter, Store, StoreOptions};
use workflow_code_tests::Environment;

use crate::bench::peer::Peer;
use crate::bench::samples::Figure;
use crate::bench::servers::{Programs, write_project};
use xtask::shell::Outcome;

/// Answers of each kind.
const ANSWERS: usize = 20;
/// Journalled calls that are replayed.
const CALLS: usize = 20_000;
/// Times that they are replayed.
const REPLAYS: usize = 10;
/// Launchers that write at once.
const LAUNCHERS: usize = 8;
/// Calls of each of them.
const CALLS_EACH: usize = 40;

const UUID: &str = "0b8d7a70-1f6b-4b1e-9a55-0f6f6a3b7c13";

/// Makes a number of journalled calls and then asks again and again.
const SOURCE: &str = "export const entrypoint = { title: 'Asks', description: 'Asks.', \
     params: { calls: { type: 'integer', default: 0 }, forms: { type: 'integer', default: 1 } } };\n\
     export default async function (input, flow) {\n\
       for (let call = 0; call < input.calls; call++) await flow.env('NOTHING');\n\
       for (let form = 0; form < input.forms; form++)\n\
         await flow.form({ title: 'Form', fields: { it: { type: 'string', required: true } } });\n\
       return 'done';\n\
     }\n";

pub(crate) fn measure(programs: &Programs) -> Outcome<Vec<Figure>> {
    let environment = Environment::new().map_err(|error| error.to_string())?;
    let failed = |error: std::io::Error| error.to_string();
    let folder = write_project(&environment, "project", UUID).map_err(failed)?;
    fs::write(folder.join("asks.workflow.ts"), SOURCE).map_err(failed)?;
    let bench = Bench { environment, programs, folder: folder.to_string_lossy().into_owned() };
    let mut version = Vec::with_capacity(ANSWERS);
    for _ in 0..ANSWERS {
        version.push(bench.command(&["--version"])?.1);
    }
    let version = Figure::times("--version", &version);
    let mut figures = vec![
        Figure::times("resume: answer in a terminal → result", &bench.resumes()?).beside("--version", &version),
        Figure::times("resume: answer → result of the call that waits", &bench.answers()?).aim(100.0),
        Figure::times(format!("resume: {CALLS} calls replayed → next question"), &bench.replays()?)
            .aim(300.0)
            .beside("--version", &version),
    ];
    figures.extend(bench.together()?);
    bench.environment.assert_nothing_left();
    Ok(figures)
}

struct Bench<'a> {
    environment: Environment,
    programs: &'a Programs,
    folder: String,
}

impl Bench<'_> {
    /// Runs a command and returns what it printed and how long it took. Waiting for a person is no failure.
    fn command(&self, arguments: &[&str]) -> Outcome<(Value, Duration)> {
        let started = Instant::now();
        let finished =
            self.environment.run_program(&self.programs.launcher, arguments, &[]).map_err(|error| error.to_string())?;
        let took = started.elapsed();
        if finished.code > 1 {
            return Err(format!("{arguments:?} ended with {}: {}", finished.code, finished.stderr));
        }
        Ok((finished.json(), took))
    }

    fn data(&self) -> String {
        self.environment.home().join(".workflow-code").to_string_lossy().into_owned()
    }

    fn begin(&self, calls: usize, forms: usize) -> Outcome<String> {
        let (calls, forms) = (calls.to_string(), forms.to_string());
        let (begun, _) = self.command(&["run", &self.folder, "asks", "--calls", &calls, "--forms", &forms])?;
        begun["runId"].as_str().map(str::to_owned).ok_or_else(|| format!("it does not wait: {begun}"))
    }

    fn answer(&self, run: &str) -> Outcome<(Value, Duration)> {
        self.command(&["runs", "resume", run, "--answer-json", r#"{"it": "yes"}"#, "--data-dir", &self.data()])
    }

    fn resumes(&self) -> Outcome<Vec<Duration>> {
        let mut samples = Vec::with_capacity(ANSWERS);
        for _ in 0..ANSWERS {
            let run = self.begin(0, 1)?;
            let (done, took) = self.answer(&run)?;
            expect(&done, "output", "done")?;
            samples.push(took);
        }
        Ok(samples)
    }

    fn replays(&self) -> Outcome<Vec<Duration>> {
        let run = self.begin(CALLS, REPLAYS + 1)?;
        let mut samples = Vec::with_capacity(REPLAYS);
        for _ in 0..REPLAYS {
            let (next, took) = self.answer(&run)?;
            expect(&next, "status", "interaction_required")?;
            samples.push(took);
        }
        Ok(samples)
    }

    /// A client has put the form before its person, and somebody else answers.
    fn answers(&self) -> Outcome<Vec<Duration>> {
        let store = Store::new(self.environment.home().join(".workflow-code/history.db"), StoreOptions::default());
        let failed = |error: store::StoreError| model::with_causes(&error);
        let arguments: Vec<OsString> = vec!["mcp".into(), self.folder.clone().into()];
        let mut peer = Peer::start(&self.environment, &self.programs.launcher, &arguments)?;
        peer.open_with(&json!({ "elicitation": {} }))?;
        let mut samples = Vec::with_capacity(ANSWERS);
        for _ in 0..ANSWERS {
            let call = peer.ask("tools/call", &json!({ "name": "asks", "arguments": {} }))?;
            peer.wait_for("elicitation/create")?;
            let newest = store.list_runs(&RunFilter::default(), None, 1).map_err(failed)?.remove(0);
            let answer =
                NewAnswer { action: AnswerAction::Accept, content: json!({ "it": "yes" }), by: "bench".into() };
            let started = Instant::now();
            store.answer(&newest.run_id, 0, &answer).map_err(failed)?;
            let result = peer.wait(call)?;
            samples.push(started.elapsed());
            expect(&result["structuredContent"], "output", "done")?;
        }
        peer.finish()?;
        Ok(samples)
    }

    /// Launchers of one history, each with a client that calls without a pause.
    fn together(&self) -> Outcome<Vec<Figure>> {
        let arguments: Vec<OsString> = vec!["mcp".into(), self.folder.clone().into()];
        let mut peers = Vec::new();
        for _ in 0..LAUNCHERS {
            let mut peer = Peer::start(&self.environment, &self.programs.launcher, &arguments)?;
            peer.open()?;
            peer.call("nothing", &json!({}))?;
            peers.push(peer);
        }
        let started = Instant::now();
        let samples: Vec<Outcome<Vec<Duration>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = peers
                .iter_mut()
                .map(|peer| {
                    scope.spawn(move || {
                        (0..CALLS_EACH).map(|_| peer.call("nothing", &json!({}))).collect::<Outcome<Vec<_>>>()
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err("a client's thread failed".into())))
                .collect()
        });
        let took = started.elapsed();
        for peer in peers {
            peer.finish()?;
        }
        let mut all = Vec::new();
        for samples in samples {
            all.extend(samples?);
        }
        Ok(vec![
            Figure::rate(format!("{LAUNCHERS} launchers at once: calls, recorded"), all.len(), took),
            Figure::times(format!("{LAUNCHERS} launchers at once: a call"), &all),
            Figure::worst(format!("{LAUNCHERS} launchers at once: the longest call"), &all),
        ])
    }
}

fn expect(result: &Value, key: &str, wanted: &str) -> Outcome {
    // A terminal tells the run's own state, a call that of its result: both wait.
    let waits = key == "status" && wanted == "interaction_required" && result[key] == "waiting_for_input";
    if result[key] == wanted || waits { Ok(()) } else { Err(format!("`{key}` is not `{wanted}`: {result}")) }
}
