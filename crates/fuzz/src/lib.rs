//! Fuzzing: which functions take any bytes, what they were fed with so far, and how they are fed with more.
//!
//! Here: the list of [`TARGETS`]; their corpora, one folder of files to each in `corpus`; [`mutate`], which makes new
//! inputs of known ones; [`soak`], which feeds a target for a while. The targets' functions lie in the rooms they are
//! about, in modules called `fuzz`.
//!
//! Two ways lead here. `cargo xtask soak --fuzz SECONDS` takes `cargo fuzz` with coverage where a nightly toolchain and
//! `cargo-fuzz` are installed (folder `fuzz`), and [`soak`] otherwise. Ordinary tests feed every file of a corpus once.

pub mod mutate;
pub mod soak;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A function that takes any bytes and panics when a promise is broken.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, also that of its corpus.
    pub name: &'static str,
    /// The function.
    pub run: fn(&[u8]),
}

/// Every target. A new one also needs a folder in `corpus`, and a file of its name in `fuzz/fuzz_targets`; a test looks.
pub const TARGETS: &[Target] = &[
    Target { name: "board_configuration", run: board::fuzz::configuration },
    Target { name: "board_front_matter", run: board::fuzz::front_matter },
    Target { name: "board_index_records", run: board::fuzz::index_records },
    Target { name: "board_queries", run: board::fuzz::queries },
    Target { name: "guided_glob", run: guided::fuzz::fuzz_glob },
    Target { name: "guided_job", run: guided::fuzz::fuzz_job },
    Target { name: "guided_review_id", run: guided::fuzz::fuzz_review_id },
    Target { name: "guided_rules", run: guided::fuzz::fuzz_rules },
    Target { name: "guided_schema", run: guided::fuzz::fuzz_schema },
    Target { name: "guided_yaml", run: guided::fuzz::fuzz_yaml },
    Target { name: "mcp_lines", run: mcp::fuzz::json_rpc_lines },
];

/// Finds a target by its name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Feeds a target once; a name that is none does nothing.
pub fn run(name: &str, bytes: &[u8]) {
    if let Some(target) = target(name) {
        (target.run)(bytes);
    }
}

/// Where a target's corpus lies in the repository.
#[must_use]
pub fn corpus_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// Reads a target's corpus, in the order of the files' names.
///
/// # Errors
///
/// When the folder or a file cannot be read.
pub fn corpus(name: &str) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(corpus_folder(name))?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    files.into_iter().map(|path| fs::read(&path).map(|bytes| (path, bytes))).collect()
}
