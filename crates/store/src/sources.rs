//! The code a run was started with, kept with it: each text once, whatever the number of runs.

use std::fmt::Write as _;

use model::RunId;
use sha2::{Digest as _, Sha256};

use crate::body::{Stored, decode_text, is_sealed};
use crate::runs::{Lease, find, grow, held};
use crate::{Durability, Result, Store, StoreError};

/// A file of a project as a run uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path in the project, `/` between the parts.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Returns the SHA-256 of a text in lower-case hexadecimal.
pub(crate) fn sha256(text: &str) -> String {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

impl Store {
    /// Keeps the code a run was started with. A text that holds a secret is kept sealed.
    ///
    /// # Errors
    ///
    /// [`StoreError::StaleEpoch`]; [`StoreError::Unstorable`] for a secret in the code without a sealer, since masked
    /// code would not run.
    pub fn keep_sources(&self, lease: &Lease, files: &[SourceFile]) -> Result<()> {
        let mut kept: Vec<(String, String, Stored)> = Vec::with_capacity(files.len());
        for file in files {
            if self.masker().finds(&file.text) && self.sealer().is_none() {
                return Err(StoreError::Unstorable {
                    what: format!("{}, which holds a secret, without a key to seal it,", file.path),
                });
            }
            kept.push((file.path.clone(), sha256(&file.text), self.keep_whole(&file.text)));
        }
        let lease = lease.clone();
        self.database.write(Durability::Process, move |connection| {
            let state = held(connection, &lease)?;
            let mut bytes = 0;
            for (path, digest, stored) in &kept {
                let added = connection
                    .prepare_cached(
                        "INSERT INTO sources (sha256, encoding, data) VALUES (?1, ?2, ?3) \
                         ON CONFLICT (sha256) DO NOTHING",
                    )?
                    .execute((digest, stored.encoding, &stored.data))?;
                if added == 1 {
                    bytes += stored.len();
                } else if is_sealed(stored.encoding) {
                    // Kept before anybody knew that there is a secret in it.
                    connection
                        .prepare_cached("UPDATE sources SET encoding = ?2, data = ?3 WHERE sha256 = ?1")?
                        .execute((digest, stored.encoding, &stored.data))?;
                }
                connection
                    .prepare_cached("INSERT OR REPLACE INTO run_sources (run, path, sha256) VALUES (?1, ?2, ?3)")?
                    .execute((state.key, path, digest))?;
            }
            grow(connection, &state, bytes)
        })
    }

    /// Returns the code a run was started with, sorted by path.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchRun`]; [`StoreError::Damaged`] when a text is not what it was.
    pub fn sources(&self, run: &RunId) -> Result<Vec<SourceFile>> {
        self.database.read_together(|connection| {
            let key = find(connection, run)?.key;
            let mut statement = connection.prepare_cached(
                "SELECT run_sources.path, run_sources.sha256, sources.encoding, sources.data \
                 FROM run_sources JOIN sources USING (sha256) WHERE run_sources.run = ?1 ORDER BY run_sources.path",
            )?;
            let mut rows = statement.query([key])?;
            let mut files = Vec::new();
            while let Some(row) = rows.next()? {
                let (path, digest): (String, String) = (row.get(0)?, row.get(1)?);
                let text = decode_text(row.get(2)?, row.get(3)?, self.sealer(), &path)?;
                if sha256(&text) != digest {
                    return Err(crate::database::Fault::Damaged(format!("{path} is not the text it was")));
                }
                files.push(SourceFile { path, text });
            }
            Ok(files)
        })
    }
}
