//! Findings that are accepted, so that new ones stand out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::board::Board;
use crate::doctor::Report;
use crate::error::{BoardError, Result, refuse};
use crate::files;

const PATH: &str = "doctor-baseline.json";

/// Code, id and file of a finding.
type Identity = (String, String, String);

impl Board {
    fn baseline_path(&self) -> String {
        format!("{}/{PATH}", self.config().storage_root)
    }

    /// Reads the accepted findings with how often each may appear.
    pub(crate) fn baseline(&self) -> Result<BTreeMap<Identity, usize>> {
        let path = self.workspace().at(&self.baseline_path());
        let text = match files::read(&path, 8 * 1024 * 1024) {
            Ok((text, _)) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(BoardError::new(
                    "DOCTOR_BASELINE_MISSING",
                    "nothing was accepted yet; use --accept-baseline",
                ));
            }
            Err(error) => return Err(BoardError::io("read", &path, error)),
        };
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| refuse!("DOCTOR_BASELINE_MISSING", "`{}` is no JSON: {error}", self.baseline_path()))?;
        let mut accepted = BTreeMap::new();
        for issue in value.get("issues").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| issue.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
            let count = issue.get("count").and_then(Value::as_u64).unwrap_or(1);
            *accepted.entry((text("code"), text("id"), text("file"))).or_insert(0) +=
                usize::try_from(count).unwrap_or(usize::MAX);
        }
        Ok(accepted)
    }

    /// Accepts what was found: `{accepted, distinct, acceptedAt}`.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn accept_baseline(&self, report: &Report) -> Result<Value> {
        self.workspace().writable()?;
        let mut counted: BTreeMap<Identity, (usize, &str)> = BTreeMap::new();
        for issue in &report.issues {
            counted.entry(issue.identity()).or_insert((0, &issue.message)).0 += 1;
        }
        let issues: Vec<Value> = counted
            .iter()
            .map(|((code, id, file), (count, message))| json!({ "code": code, "id": id, "file": file, "message": message, "count": count }))
            .collect();
        let at = model::format_timestamp(self.workspace().now());
        let content = json!({ "version": 1, "acceptedAt": at, "issues": issues });
        let text = format!("{}\n", serde_json::to_string_pretty(&content).unwrap_or_default());
        files::write(&self.workspace().at(&self.baseline_path()), &text)?;
        Ok(json!({ "accepted": report.issues.len(), "distinct": issues.len(), "acceptedAt": at }))
    }
}
