//! Limits on what comes from outside, in one place so that they can be seen together.

/// The product's fixed limits. Those that a project or an option may set stand with their setting.
#[derive(Debug, Clone, Copy)]
pub struct Limits;

impl Limits {
    /// A file parameter's size: 50 MB.
    pub const FILE_BYTES: u64 = 52_428_800;
    /// One line on standard input: 16 MiB.
    pub const LINE_BYTES: usize = 16 * 1024 * 1024;
    /// Nesting of any JSON value from outside.
    pub const JSON_DEPTH: usize = 100;
    /// Nesting of a source's brackets.
    pub const SOURCE_DEPTH: usize = 1_000;
    /// `output` in a result, as compact JSON: 32 KiB.
    pub const RESULT_BYTES: usize = 32 * 1024;
    /// Calls that may be queued behind those that run.
    pub const QUEUED_CALLS: usize = 256;
    /// Recorded standard output and error of one run, together: 128 MiB.
    pub const LOG_BYTES: u64 = 128 * 1024 * 1024;
    /// A run's time when its entrypoint says nothing, in seconds.
    pub const TIMEOUT_SECONDS: u64 = 1_800;
    /// A script worker's memory when its entrypoint says nothing, in MiB.
    pub const MEMORY_MB: u64 = 512;
    /// Rounds of asking again after an answer that does not fit.
    pub const ANSWER_ROUNDS: u32 = 5;
    /// Length over which an entrypoint's id is served with a warning.
    pub const LONG_ENTRYPOINT_ID: usize = 40;
    /// package.json and .env: 1 MiB each.
    pub const PROJECT_FILE_BYTES: u64 = 1024 * 1024;
    /// One source file of a project: 8 MiB.
    pub const SOURCE_BYTES: u64 = 8 * 1024 * 1024;
}
