//! What a client of a board waits for, over a workspace that is made for it: 500 records, and 10,000.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workflow_code_tests::Environment;

use crate::bench::peer::Peer;
use crate::bench::samples::Figure;
use crate::bench::servers::{Programs, own_bytes};
use xtask::shell::Outcome;

/// Records in the two workspaces.
const SIZES: [usize; 2] = [500, 10_000];
/// Starts of the server, and of the hook.
const STARTS: usize = 20;
/// Calls of each kind.
const CALLS: usize = 200;
/// Creations, each with a list after it.
const CREATIONS: usize = 40;
/// Calls after a pause.
const PAUSES: usize = 10;
/// Longer than the time in which a server does not look at the files again. Not a condition to wait for.
const PAUSE: Duration = Duration::from_millis(300);
/// Until the server has noticed that it rests.
const IDLE: Duration = Duration::from_secs(6);

/// Words that records are made of.
const WORDS: [&str; 40] = [
    "account", "address", "basket", "billing", "button", "cache", "carrier", "checkout", "client", "counter",
    "customer", "delivery", "discount", "email", "export", "filter", "header", "import", "invoice", "label", "ledger",
    "limit", "login", "message", "number", "order", "payment", "picture", "price", "printer", "queue", "receipt",
    "refund", "report", "search", "shelf", "stock", "supplier", "total", "voucher",
];

pub(crate) fn measure(programs: &Programs) -> Outcome<Vec<Figure>> {
    let mut figures = Vec::new();
    for size in SIZES {
        figures.extend(of_size(programs, size)?);
    }
    Ok(figures)
}

/// Chance that is the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % below
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| WORDS[self.next(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }
}

/// Writes a workspace: four of five records are cards, a third of them in the archive.
fn write_workspace(root: &Path, records: usize) -> std::io::Result<()> {
    let put = |path: String, text: String| {
        let path = root.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    };
    put(
        "project.config.mjs".into(),
        "export default { name: \"Bench\", cards: { areas: [\"api\", \"web\"] } };\n".into(),
    )?;
    let mut chance = Chance(7);
    for number in 1..=records {
        let title = chance.words(5);
        let mut body = format!("{} T-{:04} [[DOC-0001]]\n\n", chance.words(60), 1 + chance.next(records));
        let _ = write!(
            body,
            "{} reference-{number}\n\n## Acceptance criteria\n\n- [x] {}\n- [ ] {}\n",
            chance.words(40),
            chance.words(6),
            chance.words(6)
        );
        let days = "created: 2026-01-05\nupdated: 2026-02-06";
        let slug = title.replace(' ', "-");
        match number % 20 {
            0 | 10 => {
                let header = format!("id: DOC-{number:04}\ntitle: {title}\nkind: guide\nstatus: current\n{days}");
                put(format!(".project/docs/guide/DOC-{number:04}-{slug}.md"), format!("---\n{header}\n---\n\n{body}"))?;
            }
            5 => {
                let header =
                    format!("id: CHG-{number:04}\ntitle: {title}\ntype: added\narea: api\nvisibility: public\n{days}");
                put(
                    format!(".project/changelog/unreleased/CHG-{number:04}-{slug}.md"),
                    format!("---\n{header}\n---\n\n{body}"),
                )?;
            }
            15 => {
                let header = format!("id: LRN-{number:04}\ntitle: {title}\nstatus: active\n{days}");
                put(
                    format!(".project/memory/learnings/LRN-{number:04}-{slug}.md"),
                    format!("---\n{header}\n---\n\n{body}"),
                )?;
            }
            _ => {
                let archived = number % 3 == 0;
                let status = if archived { "done" } else { ["backlog", "next", "review"][number % 3] };
                let header = format!(
                    "id: T-{number:04}\ntitle: {title}\nstatus: {status}\ntype: task\npriority: medium\narea: web\n\
                     depends: [T-{:04}]\ntags: [one, two]\nscope: [src/part-{}]\n{days}",
                    1 + chance.next(records),
                    number % 50,
                );
                let folder = if archived { ".project/cards/archive" } else { ".project/cards" };
                put(format!("{folder}/T-{number:04}-{slug}.md"), format!("---\n{header}\n---\n\n{body}"))?;
            }
        }
    }
    Ok(())
}

fn of_size(programs: &Programs, size: usize) -> Outcome<Vec<Figure>> {
    let failed = |error: std::io::Error| error.to_string();
    let environment = Environment::new().map_err(failed)?;
    let root = environment.home().join("shop");
    write_workspace(&root, size).map_err(failed)?;
    let arguments: Vec<OsString> = vec!["board".into(), "mcp".into(), "--root".into(), root.clone().into_os_string()];
    let start = || Peer::start(&environment, &programs.launcher, &arguments);
    let list = |peer: &mut Peer| peer.call("project_card_list", &json!({}));
    let name = |what: &str| format!("board, {size} records: {what}");

    let (mut tools, mut bare, mut shared, mut empty) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for at in 0..STARTS {
        let cache = root.join(".project/.cache");
        if at % 2 == 0 {
            let _ = fs::remove_dir_all(&cache);
        }
        let mut peer = start()?;
        tools.push(peer.open()?.tools);
        if at % 2 == 0 { &mut bare } else { &mut shared }.push(list(&mut peer)?);
        peer.finish()?;
        empty.push(whole_process(&environment, &programs.empty, &[], "")?);
    }
    let empty = Figure::times("empty process: start to end", &empty);

    let mut peer = start()?;
    peer.open()?;
    list(&mut peer)?;
    let mut searches = vec![peer.call("project_search", &json!({ "query": "ledger" }))?];
    let first_search = Figure::times(name("first search"), &searches);
    searches.clear();
    let (mut lists, mut gets, mut searches_of_two) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..CALLS {
        let card = format!("T-{:04}", [1, 2, 4, 7][at % 4]);
        lists.push(list(&mut peer)?);
        gets.push(peer.call("project_get_record", &json!({ "id": card }))?);
        searches.push(peer.call("project_search", &json!({ "query": format!("reference-{}", 1 + at) }))?);
        searches_of_two.push(peer.call("project_search", &json!({ "query": "ledger voucher status:next" }))?);
    }
    let mut paused = Vec::new();
    for _ in 0..PAUSES {
        std::thread::sleep(PAUSE);
        paused.push(list(&mut peer)?);
    }
    let (mut creations, mut after) = (Vec::new(), Vec::new());
    for at in 0..CREATIONS {
        creations.push(peer.call("project_card_create", &json!({ "title": format!("New {at}"), "body": "Words." }))?);
        after.push(list(&mut peer)?);
    }
    peer.call("project_card_claim", &json!({ "id": "T-0001", "actor": "somebody", "scope": ["src/held"] }))?;
    let hooks = hooks(&environment, &programs.launcher, &root)?;
    let busy = memory(&peer)?;
    std::thread::sleep(IDLE);
    let idle = memory(&peer)?;
    let own = own_bytes(peer.pid()).ok_or("the server's memory cannot be seen")?;
    peer.finish()?;
    environment.assert_nothing_left();

    let bare = Figure::times(name("first card_list, nothing read before"), &bare);
    Ok(vec![
        Figure::times(name("start → tools/list"), &tools).aim(20.0).beside("empty process", &empty),
        if size <= 500 { bare.aim(25.0) } else { bare }.beside("empty process", &empty),
        Figure::times(name("first card_list, read by another process"), &shared).beside("empty process", &empty),
        Figure::times(name("card_list"), &lists).aim(2.0),
        Figure::times(name("get_record"), &gets).aim(2.0),
        first_search,
        Figure::times(name("search, a rare word"), &searches).aim(2.0),
        Figure::times(name("search, common words and a field"), &searches_of_two).aim(2.0),
        Figure::times(name("card_list after a pause, all files looked at"), &paused),
        Figure::times(name("card_create"), &creations).aim(8.0),
        Figure::times(name("card_list after it"), &after).aim(3.0),
        Figure::times(name("hook before an edit, whole process"), &hooks).aim_p95(5.0).beside("empty process", &empty),
        Figure::bytes(name("resident after calls"), &[busy]).aim(40.0),
        Figure::bytes(name("resident at rest"), &[idle]).aim(40.0),
        Figure::bytes(name("its own at rest"), &[own]),
        empty,
    ])
}

fn memory(peer: &Peer) -> Outcome<u64> {
    process::proc_info::resident_bytes(peer.pid()).ok_or_else(|| "the server's memory cannot be seen".to_owned())
}

/// The hook before an edit: of a free file, and of one that somebody holds.
fn hooks(environment: &Environment, launcher: &Path, root: &Path) -> Outcome<Vec<Duration>> {
    let mut samples = Vec::new();
    for at in 0..CALLS {
        let file: PathBuf = root.join(if at % 2 == 0 { "src/free/a.rs" } else { "src/held/a.rs" });
        let input: Value = json!({
            "session_id": "s", "cwd": root, "tool_name": "Edit", "tool_input": { "file_path": file },
        });
        samples.push(whole_process(environment, launcher, &["board", "hook", "pre-tool-use"], &input.to_string())?);
    }
    Ok(samples)
}

/// From the start of a process to its end, with its input written and its output read.
fn whole_process(environment: &Environment, program: &Path, arguments: &[&str], input: &str) -> Outcome<Duration> {
    let failed = |error: std::io::Error| error.to_string();
    let started = Instant::now();
    let mut child = environment.start(program, arguments).map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that reads nothing may be gone already.
        let _ = stdin.write_all(input.as_bytes());
    }
    let mut output = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut output).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    let took = started.elapsed();
    if status.success() { Ok(took) } else { Err(format!("`{}` failed", program.display())) }
}
