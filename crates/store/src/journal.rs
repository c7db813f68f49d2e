//! The journal: what a script asked of its host and got, in order, so that another process can run it again from the
//! top and find itself where it was.
//!
//! Rows are only added, and only by the run's owner: the epoch is checked in the same transaction. A row whose payload
//! holds a secret is kept sealed, so that a replay gets what the script got.

use model::{RunId, TimestampMs};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::body::{Stored, decode_text, get, is_sealed, parse, put};
use crate::database::{Fault, Outcome};
use crate::runs::create::JOURNAL_HEADER;
use crate::runs::{Lease, find, grow, held};
use crate::{Durability, Result, Store};

/// What a row records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JournalKind {
    /// The script asked for something.
    Issue,
    /// A child (an agent, a related run) works on it.
    Child,
    /// Its result was handed to the script.
    Done,
    /// A person was asked.
    Wait,
    /// The run was cancelled.
    Cancel,
    /// The script ended.
    End,
    /// An agent is asked again: the rows from its result on are no longer replayed as they stand.
    Retry,
}

impl JournalKind {
    const ALL: [Self; 7] = [Self::Issue, Self::Child, Self::Done, Self::Wait, Self::Cancel, Self::End, Self::Retry];

    /// Returns the kind's name as it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::Child => "child",
            Self::Done => "done",
            Self::Wait => "wait",
            Self::Cancel => "cancel",
            Self::End => "end",
            Self::Retry => "retry",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What a replay must find unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalHeader {
    /// Seed of the script's random numbers, 128 bits in hexadecimal.
    pub seed: String,
    /// Where the script's clock began.
    pub started_at: TimestampMs,
    /// The engine and its version.
    pub engine: String,
    /// Number of the host's call interface.
    pub api: u32,
    /// Digest of the source as written.
    pub script_sha256: String,
    /// Digest of the source as it is run.
    pub js_sha256: String,
    /// Digest of the arguments.
    pub args_sha256: String,
}

/// A row to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJournalRow {
    /// What it records.
    pub kind: JournalKind,
    /// The host call it belongs to.
    pub seq: Option<u64>,
    /// Digest of the call and its arguments.
    pub fingerprint: Option<String>,
    /// Arguments, result, reason.
    pub payload: Option<Value>,
}

/// A row as it was added.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalRow<P = Value> {
    /// Its number, from 0 without gaps.
    pub n: u64,
    /// What it records.
    pub kind: JournalKind,
    /// The host call it belongs to.
    pub seq: Option<u64>,
    /// Digest of the call and its arguments.
    pub fingerprint: Option<String>,
    /// Arguments, result, reason. Absent also when it was sealed and the run has ended.
    pub payload: Option<P>,
    /// When it was added.
    pub at: TimestampMs,
}

/// The journal of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal<P = Value> {
    /// Its header, if the run has got that far.
    pub header: Option<JournalHeader>,
    /// Its rows, in order.
    pub rows: Vec<JournalRow<P>>,
}

/// A row in its stored form.
struct Encoded {
    kind: &'static str,
    seq: Option<i64>,
    fingerprint: Option<String>,
    payload: Option<Stored>,
}

impl Store {
    fn encode(&self, row: &NewJournalRow) -> Encoded {
        let payload = row.payload.as_ref().map(|payload| {
            let text = payload.to_string();
            match self.sealer() {
                _ if !self.masker().finds(&text) => Stored::new(text.as_bytes()),
                Some(sealer) => Stored::sealed(text.as_bytes(), sealer),
                None => Stored::new(self.masker().mask_json(payload).to_string().as_bytes()),
            }
        });
        Encoded {
            kind: row.kind.as_str(),
            seq: row.seq.map(|seq| i64::try_from(seq).unwrap_or(i64::MAX)),
            fingerprint: row.fingerprint.clone(),
            payload,
        }
    }

    /// Writes the header of a run's journal.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::StaleEpoch`] when the run is in other hands.
    pub fn set_journal_header(&self, lease: &Lease, header: &JournalHeader) -> Result<()> {
        let stored = Stored::new(json!(header).to_string().as_bytes());
        let lease = lease.clone();
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            let bytes = put(connection, state.key, JOURNAL_HEADER, &stored)?;
            grow(connection, &state, bytes)
        })
    }

    /// Adds rows to a run's journal, and returns the number of the first one.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::StaleEpoch`] when the run is in other hands; then nothing is added.
    pub fn append_journal(&self, lease: &Lease, rows: &[NewJournalRow], durability: Durability) -> Result<u64> {
        let rows: Vec<Encoded> = rows.iter().map(|row| self.encode(row)).collect();
        let (lease, outside) = (lease.clone(), self.outside());
        self.database.write(durability, move |connection| {
            let state = held(connection, &lease)?;
            let first: i64 = connection
                .prepare_cached("SELECT coalesce(max(n) + 1, 0) FROM journal WHERE run = ?1")?
                .query_row([state.key], |row| row.get(0))?;
            let mut insert = connection.prepare_cached(
                "INSERT INTO journal (run, n, epoch, kind, seq, fingerprint, at, encoding, payload) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?;
            let now = outside.clock.now();
            let (mut bytes, mut sealed) = (0, false);
            for (n, row) in (first..).zip(&rows) {
                let encoding = row.payload.as_ref().map_or(0, |payload| payload.encoding);
                let data = row.payload.as_ref().map(|payload| payload.data.as_slice());
                sealed |= is_sealed(encoding);
                bytes += 64 + row.payload.as_ref().map_or(0, Stored::len);
                insert.execute((
                    state.key,
                    n,
                    state.epoch,
                    row.kind,
                    row.seq,
                    &row.fingerprint,
                    now,
                    encoding,
                    data,
                ))?;
            }
            if sealed && !state.sealed {
                connection.prepare_cached("UPDATE runs SET sealed = 1 WHERE key = ?1")?.execute([state.key])?;
            }
            grow(connection, &state, bytes)?;
            Ok(u64::try_from(first).unwrap_or(0))
        })
    }

    /// Returns the journal of a run.
    ///
    /// # Errors
    ///
    /// [`crate::StoreError::NoSuchRun`]; [`crate::StoreError::Damaged`] for a row that is missing, malformed or sealed
    /// with another key.
    pub fn journal(&self, run: &RunId) -> Result<Journal> {
        self.journal_as(run)
    }

    /// As [`Self::journal`], with payloads read into a type of the caller's, who may want only a part of them.
    ///
    /// # Errors
    ///
    /// As [`Self::journal`]; and when a payload is not of that type.
    pub fn journal_as<P: DeserializeOwned>(&self, run: &RunId) -> Result<Journal<P>> {
        self.database.read_together(|connection| {
            let key = find(connection, run)?.key;
            let header = get(connection, key, JOURNAL_HEADER, None)?
                .map(|text| parse(&text, "a journal's header"))
                .transpose()?;
            let mut statement = connection.prepare_cached(
                "SELECT n, kind, seq, fingerprint, at, encoding, payload FROM journal WHERE run = ?1 ORDER BY n",
            )?;
            let mut found = statement.query([key])?;
            let mut rows = Vec::new();
            while let Some(row) = found.next()? {
                let n = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(u64::MAX);
                if n != rows.len() as u64 {
                    return Err(Fault::Damaged(format!("row {} of the journal of run {run} is missing", rows.len())));
                }
                rows.push(self.decode(row, n)?);
            }
            Ok(Journal { header, rows })
        })
    }

    fn decode<P: DeserializeOwned>(&self, row: &rusqlite::Row<'_>, n: u64) -> Outcome<JournalRow<P>> {
        let kind = JournalKind::parse(row.get_ref(1)?.as_str().unwrap_or(""))
            .ok_or_else(|| Fault::Damaged(format!("row {n} of a journal is of an unknown kind")))?;
        let encoding: i64 = row.get(5)?;
        let payload = match row.get::<_, Option<Vec<u8>>>(6)? {
            None => None,
            Some(data) => {
                let text = decode_text(encoding, data, self.sealer(), "a journal's row")?;
                Some(parse(&text, "a journal's row")?)
            }
        };
        Ok(JournalRow {
            n,
            kind,
            seq: row.get::<_, Option<i64>>(2)?.and_then(|seq| u64::try_from(seq).ok()),
            fingerprint: row.get(3)?,
            payload,
            at: row.get(4)?,
        })
    }
}
