//! Fills a database with many believable runs, for measuring.

use model::{Origin, RunStatus, TimestampMs};
use rusqlite::Connection;

use crate::body::{Stored, put};
use crate::database::Outcome;
use crate::runs::create::{FACTS, INPUT, OUTPUT};
use crate::runs::{PARTS, searchable};
use crate::{Durability, Result, Store};

/// What to fill a database with.
#[derive(Debug, Clone, Copy)]
pub struct Seeding {
    /// How many runs.
    pub runs: u64,
    /// How many projects they are spread over.
    pub projects: u64,
    /// When the newest was recorded; the others come before it, a second apart.
    pub until: TimestampMs,
}

/// Runs written in one transaction.
const BATCH: u64 = 20_000;
/// What runs end with, a hundred parts.
const ENDS: [(u64, RunStatus); 5] = [
    (84, RunStatus::Success),
    (94, RunStatus::Failed),
    (97, RunStatus::Cancelled),
    (99, RunStatus::Timeout),
    (100, RunStatus::Interrupted),
];
const ENTRYPOINTS: [&str; 6] = ["main", "convert", "report", "review", "publish", "nightly-check"];
const CLIENTS: [&str; 4] = ["claude-code", "cursor", "codex", "vscode"];
const WORDS: [&str; 16] = [
    "invoice",
    "weekly",
    "customer",
    "naïve",
    "运行",
    "报告",
    "summary",
    "translate",
    "shipment",
    "quality",
    "archive",
    "forecast",
    "меню",
    "ledger",
    "image",
    "contract",
];

/// Writes runs as they look when they have ended, with input, output, stages and searchable text. The database should
/// hold none of the same days before. Same numbers, same runs.
///
/// # Errors
///
/// The database could not be written.
pub fn seed_runs(store: &Store, seeding: Seeding) -> Result<()> {
    let mut first = 0;
    while first < seeding.runs {
        let count = BATCH.min(seeding.runs - first);
        store.database.write(Durability::Process, move |connection| {
            for n in first..first + count {
                insert(connection, n, &seeding)?;
            }
            Ok(())
        })?;
        first += count;
    }
    store.database.write(Durability::Process, |connection| {
        connection.execute_batch(
            "INSERT OR REPLACE INTO usage (project, runs, bytes) \
             SELECT project, count(*), sum(bytes) FROM runs INDEXED BY runs_by_project GROUP BY project",
        )?;
        Ok(())
    })
}

/// Spreads numbers so that neighbours have nothing in common (splitmix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn pick<'a>(list: &[&'a str], chance: u64) -> &'a str {
    list.get(usize::try_from(chance % list.len() as u64).unwrap_or(0)).copied().unwrap_or_default()
}

fn insert(connection: &Connection, n: u64, seeding: &Seeding) -> Outcome<()> {
    let chance = mix(n);
    let at = seeding.until - i64::try_from(seeding.runs - n).unwrap_or(0) * 1_000;
    let date = model::format_timestamp(at).chars().filter(char::is_ascii_digit).take(8).collect::<String>();
    let run = format!("{date}-{}", base36(n));
    let status = ENDS.iter().find(|(part, _)| chance % 100 < *part).map_or(RunStatus::Success, |(_, status)| *status);
    // A few projects have most of the runs.
    let project = format!("seed{:04}", (chance >> 8) % seeding.projects.max(1) * ((chance >> 20) % 4) / 3);
    let entrypoint = pick(&ENTRYPOINTS, chance >> 24);
    let client = if chance >> 28 & 3 == 0 { None } else { Some(pick(&CLIENTS, chance >> 30)) };
    let origin = if client.is_some() { Origin::Mcp } else { Origin::Cli };
    let words: Vec<&str> = (0..6).map(|place| pick(&WORDS, mix(chance ^ place))).collect();
    let input = format!(r#"{{"text":"{}","number":{n}}}"#, words.join(" "));
    let output = format!(r#"{{"done":"{} {}"}}"#, pick(&words, chance >> 40), n % 997);
    let facts = r#"{"uuid":"11111111-1111-4111-8111-111111111111","title":"Seed","path":"/seed","cliArgs":[]}"#;
    let bytes = i64::try_from(input.len() + output.len() + facts.len()).unwrap_or(0);
    connection
        .prepare_cached(
            "INSERT INTO runs (run_id, project, registered, entrypoint, entrypoint_title, status, origin, client, \
             created_at, started_at, finished_at, bytes) VALUES (?1, ?2, 1, ?3, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?9)",
        )?
        .execute((
            &run,
            &project,
            entrypoint,
            status.as_str(),
            origin.as_str(),
            client,
            at,
            at + i64::try_from(chance % 60_000).unwrap_or(0),
            bytes,
        ))?;
    let key = connection.last_insert_rowid();
    for (kind, text) in [(FACTS, facts), (INPUT, &input), (OUTPUT, &output)] {
        put(connection, key, kind, &Stored::new(text.as_bytes()))?;
    }
    let mut stage = connection.prepare_cached("INSERT INTO stages (run, n, status, at) VALUES (?1, ?2, ?3, ?4)")?;
    for (place, status) in (0..).zip([RunStatus::Queued, RunStatus::Running, status]) {
        stage.execute((key, place, status.as_str(), at))?;
    }
    connection
        .prepare_cached("INSERT INTO run_text (rowid, text) VALUES (?1, ?2)")?
        .execute((key * PARTS, searchable(&[&run, entrypoint, &input, &output])))?;
    Ok(())
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.len() < 5 {
        digits.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[usize::try_from(number % 36).unwrap_or(0)]);
        number /= 36;
    }
    digits.iter().rev().map(|digit| char::from(*digit)).collect()
}
