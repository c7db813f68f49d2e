//! Why a secret could not be read, kept or opened. No message holds any part of one.

use std::io;
use std::path::PathBuf;

/// A boxed cause from the operating system's store.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A failure of a store or a file. That nothing is saved is no failure: stores answer `None`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no secret service: no session bus, nobody answers on it, or the platform has none.
    #[error("there is no keyring service on this machine")]
    NoService {
        /// Why.
        source: Cause,
    },
    /// The service runs, but this person has no keyring in it yet (nobody has logged in graphically).
    #[error("the keyring service has no keyring for this person yet")]
    NoKeyring {
        /// Why.
        source: Cause,
    },
    /// The keyring is locked, or did not answer in time because somebody would have to unlock it.
    #[error("the keyring is locked, and nobody unlocked it within {seconds} s")]
    Locked {
        /// How long was waited.
        seconds: u64,
    },
    /// The person or the system refused access.
    #[error("access to the keyring was refused")]
    Denied {
        /// Why.
        source: Cause,
    },
    /// The service failed in another way.
    #[error("the keyring failed")]
    Keyring {
        /// Why.
        source: Cause,
    },
    /// The keyring gave back something else than was written.
    #[error("the keyring did not give back what was written to it")]
    Unreliable,
    /// A key that no store of ours takes.
    #[error("this key cannot be kept: {reason}")]
    Value {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file could not be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be written or removed.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("`{path}` cannot be used: {reason}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, without any of its content.
        reason: String,
    },
    /// The operating system gives no random bytes.
    #[error("the system gives no random bytes")]
    NoRandom,
}

/// Why a sealed or encrypted text was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// It is no text of ours.
    #[error("this is no sealed text")]
    Malformed,
    /// It was made with another key, for another purpose, or changed.
    #[error("the seal does not fit")]
    Forged,
    /// Its time is over.
    #[error("the sealed text has expired")]
    Expired,
    /// The operating system gives no random bytes, which encrypting needs.
    #[error("the system gives no random bytes")]
    NoRandom,
}
