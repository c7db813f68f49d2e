//! The thread that parsers and the engine run on, with as much stack as the deepest source we take needs.

use std::thread;

/// Stack of that thread: address space that costs nothing until it is used. Measured with
/// [`crate::source::depth::CHAIN_LIMIT`] links of every kind and the deepest brackets.
pub(crate) const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Runs `work` on a thread of its own and waits; none if it panicked or no thread could be made.
pub(crate) fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        thread::Builder::new()
            .name("script".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)
            .ok()
            .and_then(|thread| thread.join().ok())
    })
}
