//! The installation's own key: it seals what clients carry for us and what is kept for resuming.

use std::path::PathBuf;
use std::sync::Arc;

use model::TimestampMs;
use secrets::{InstallationKey, Secret};
use store::Sealer;

use crate::failure::Failure;
use crate::profile;

/// How long a client may take to come back with an answer: one hour.
const STATE_LIVES: TimestampMs = 3600 * 1000;

/// The key, loaded or made.
#[derive(Clone)]
pub(crate) struct Installation {
    key: Arc<InstallationKey>,
}

impl Installation {
    /// Loads the key from `~/.workflow-code/installation.key`, or makes it.
    pub(crate) fn load() -> Result<Self, Failure> {
        let path: PathBuf = profile::workflow_home()?.join("installation.key");
        let key = InstallationKey::load_or_create(&path)
            .map_err(|error| Failure::from_error(crate::failure::Exit::Environment, &error))?;
        if key.was_exposed() {
            tracing::warn!("`{}` could be read by others, and was closed to them", path.display());
        }
        Ok(Self { key: Arc::new(key) })
    }

    /// Seals what a client has to give back, bound to a tool.
    pub(crate) fn seal_state(&self, payload: &str, tool: &str) -> String {
        self.key.seal(payload.as_bytes(), tool.as_bytes(), now() + STATE_LIVES)
    }

    /// Opens what a client gave back; `None` when it is forged, too old, or of another tool.
    pub(crate) fn open_state(&self, state: &str, tool: &str) -> Option<String> {
        let payload = self.key.open(state, tool.as_bytes(), now()).ok()?;
        String::from_utf8(payload).ok()
    }
}

fn now() -> TimestampMs {
    model::Clock::now(&model::SystemClock)
}

/// What sealed records of the history are bound to.
const RECORDS: &[u8] = b"history records";

impl Sealer for Installation {
    fn seal(&self, plain: &[u8]) -> Vec<u8> {
        match self.key.encrypt(&Secret::from(hex(plain)), RECORDS) {
            Ok(sealed) => sealed.into_bytes(),
            Err(error) => {
                // Without randomness nothing can be sealed; what cannot be opened again is reported as damaged then.
                tracing::error!(%error, "a record could not be sealed");
                Vec::new()
            }
        }
    }

    fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let secret = self.key.decrypt(std::str::from_utf8(sealed).ok()?, RECORDS).ok()?;
        unhex(secret.expose())
    }
}

/// The key encrypts texts, and records are bytes.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.bytes().map(|digit| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let digits = digits?;
    digits.chunks(2).map(|pair| Some((pair.first()? << 4) | pair.get(1)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_opened_by_the_same_key_only() {
        let one = Installation { key: Arc::new(InstallationKey::from_bytes([1; 32])) };
        let other = Installation { key: Arc::new(InstallationKey::from_bytes([2; 32])) };
        let sealed = one.seal(b"\x00\xffhush");
        assert_eq!(one.open(&sealed).as_deref(), Some(b"\x00\xffhush".as_slice()));
        assert_eq!(other.open(&sealed), None);
        let state = one.seal_state("{}", "main");
        assert_eq!(one.open_state(&state, "main").as_deref(), Some("{}"));
        assert_eq!(one.open_state(&state, "other"), None);
        assert_eq!(other.open_state(&state, "main"), None);
        assert_eq!(one.open_state("forged", "main"), None);
    }
}
