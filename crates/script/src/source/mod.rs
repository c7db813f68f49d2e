//! From a source as written to what the engine runs: nesting check, parse, types away, what it imports and declares.
//!
//! Everything here recurses over syntax trees and so belongs on a thread with [`crate::thread::STACK_BYTES`] of stack.
//! Nothing here reads files (see [`crate::modules`]) or runs anything (see [`crate::engine`]).

pub(crate) mod depth;
mod line_map;
mod literal;
mod script;
mod syntax;

pub(crate) use line_map::LineMap;
pub(crate) use script::{WRAP_LINES, compile_body, compile_script};
pub(crate) use syntax::{Compiled, Declared, Import, Language, compile_module};

use crate::{SourceError, SourceErrorCode};

/// Finds line and column (both from 1, columns in characters) of a byte offset.
pub(crate) fn place(text: &str, offset: usize) -> (u32, u32) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Makes an error that points into a source.
pub(crate) fn error_at(
    code: SourceErrorCode,
    file: &str,
    text: &str,
    offset: usize,
    message: impl Into<String>,
) -> SourceError {
    let (line, column) = place(text, offset);
    SourceError { code, message: message.into(), file: file.to_owned(), line: Some(line), column: Some(column) }
}
