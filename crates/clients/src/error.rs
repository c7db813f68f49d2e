//! What can go wrong between a launch and a client's file.

use std::io;
use std::path::PathBuf;

/// A refusal or failure. Nothing was changed when one is returned, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A key that some client could not take as a server's name.
    #[error("`{key}` is no server key: 1 to 64 of `A-Z a-z 0-9 _ -`, beginning with a letter or digit")]
    Key {
        /// The first 80 characters of the key.
        key: String,
    },
    /// A command, argument or value that cannot stand in a configuration file.
    #[error("{what} is empty or has a control character, which no configuration can hold")]
    Text {
        /// Which part of the launch.
        what: String,
    },
    /// An environment variable that looks like a secret; configurations never hold one.
    #[error("the variable `{name}` looks like a secret, and no secret goes into a client's configuration")]
    SecretName {
        /// The variable's name.
        name: String,
    },
    /// The client has no file that we write: its snippet is to be pasted.
    #[error("{client} is configured by hand: {reason}")]
    ByHand {
        /// The client's name.
        client: &'static str,
        /// Why there is no file to write.
        reason: &'static str,
    },
    /// The client has no file for this scope and platform.
    #[error("{client} has no {scope} configuration file on this platform")]
    NoFile {
        /// The client's name.
        client: &'static str,
        /// `user` or `project`.
        scope: &'static str,
    },
    /// The file or a folder above it could not be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file, its backup or its folder could not be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The path is a folder, pipe, device or socket.
    #[error("`{path}` is no regular file")]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than any configuration should be.
    #[error("`{path}` has more than {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is read.
        limit: u64,
    },
    /// A symbolic link whose target does not exist.
    #[error("`{path}` is a link to a file that does not exist; create that file or remove the link")]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// A project's file leads out of the project through a link.
    #[error("`{path}` leads out of the project, to `{target}`")]
    OutsideProject {
        /// The file as the client names it.
        path: PathBuf,
        /// Where it really lies.
        target: PathBuf,
    },
    /// The file is not UTF-8.
    #[error("`{path}` is not UTF-8 text (line {line})")]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first line that is not, from 1.
        line: usize,
    },
    /// The file does not parse, or has another shape than the client's.
    #[error("`{path}`, line {line}: {reason}")]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// Our own check of the edited text failed: it would have changed more than our entry.
    #[error("the change of `{path}` would have touched more than `{key}`; edit the file by hand")]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// The server key.
        key: String,
    },
    /// The file is not what the preview showed any more.
    #[error("`{path}` has changed since the preview; look at the new change and write again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file has no entry of that key.
    #[error("`{path}` has no server `{key}`")]
    NoEntry {
        /// The file.
        path: PathBuf,
        /// The server key.
        key: String,
    },
    /// The ledger does not say that we wrote this entry.
    #[error("the server `{key}` in `{path}` was not written by us; remove it by hand")]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// The server key.
        key: String,
    },
    /// The ledger itself is damaged or of a later version.
    #[error("the ledger `{path}` cannot be used: {reason}")]
    Ledger {
        /// The ledger.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
