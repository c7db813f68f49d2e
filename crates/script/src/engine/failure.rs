//! What a thrown value says, as a run's error: one short line, and a stack that speaks of the sources as written.

use model::{ErrorCode, RunError};
use rquickjs::{Array, Ctx, Function, Value};

/// Characters of an error's line in a result.
const MESSAGE_CHARACTERS: usize = 300;
/// Lines of a stack that are kept.
const STACK_LINES: usize = 30;

/// Maps a file, line and column of what the engine ran to the line and column where it was written.
pub(super) type Places<'a> = dyn Fn(&str, u32, u32) -> Option<(u32, u32)> + 'a;

/// A thrown value, described.
#[derive(Debug, Default)]
pub(super) struct Thrown {
    pub name: String,
    pub message: String,
    pub stack: String,
    pub code: String,
    pub err_code: Option<f64>,
    pub data: Option<String>,
}

impl Thrown {
    /// Describes a value with the prelude's `describe`, which never throws; says so if even that fails.
    pub(super) fn of<'js>(ctx: &Ctx<'js>, describe: &Function<'js>, value: Value<'js>) -> Self {
        let Ok(parts) = describe.call::<_, Array<'_>>((value,)) else {
            // Out of memory or stack: what was thrown meanwhile is of no interest.
            ctx.catch();
            return Self { message: "[unrenderable thrown value]".into(), ..Self::default() };
        };
        let text = |index| parts.get::<Option<String>>(index).ok().flatten().unwrap_or_default();
        Self {
            name: text(0),
            message: text(1),
            stack: text(2),
            code: text(3),
            err_code: parts.get::<Option<f64>>(4).ok().flatten(),
            data: parts.get::<Option<String>>(5).ok().flatten(),
        }
    }

    /// Turns it into a run's error.
    pub(super) fn into_error(self) -> RunError {
        let head = match (self.name.as_str(), self.message.as_str()) {
            ("", "") => "the script threw an empty value".to_owned(),
            ("", message) => message.to_owned(),
            (name, "") => name.to_owned(),
            (name, message) => format!("{name}: {message}"),
        };
        // A host call's error that the script let through keeps its code.
        let code = ErrorCode::parse(&self.code).filter(|code| may_pass(*code)).unwrap_or(ErrorCode::ScriptError);
        let mut error = RunError::new(code, one_line(&head));
        #[expect(clippy::cast_possible_truncation, reason = "the prelude passes whole numbers only")]
        let err_code = self.err_code.map(|number| number as i64).filter(|&number| number != 0);
        error.err_code = err_code;
        error.data = self.data.as_deref().and_then(|text| crate::json::parse(text).ok());
        let stack: Vec<&str> = self.stack.lines().filter(|line| !line.trim().is_empty()).take(STACK_LINES).collect();
        let stack = stack.join("\n");
        if !stack.is_empty() || error.message != head {
            error.cause = Some(if stack.is_empty() { head } else { format!("{head}\n{stack}") });
        }
        error
    }
}

/// Tells whether the error of a host call may become the run's own.
fn may_pass(code: ErrorCode) -> bool {
    match code {
        ErrorCode::BusinessError
        | ErrorCode::CommandFailed
        | ErrorCode::WorkerDied
        | ErrorCode::Busy
        | ErrorCode::ApprovalDenied
        | ErrorCode::InteractionRequired
        | ErrorCode::InteractionDeclined
        | ErrorCode::InteractionCancelled
        | ErrorCode::InteractionTimeout
        | ErrorCode::InteractionInvalid
        | ErrorCode::AgentsFailed => true,
        // What befell a child, or a program, did not befall this run.
        ErrorCode::ScriptError
        | ErrorCode::MemoryLimit
        | ErrorCode::Timeout
        | ErrorCode::Cancelled
        | ErrorCode::ReplayDiverged => false,
    }
}

/// Cuts a text to its first line and a bearable length. What is left out lies in the middle: a message often ends with
/// its reason.
pub(super) fn one_line(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let length = first.chars().count();
    if length <= MESSAGE_CHARACTERS {
        return first.to_owned();
    }
    let tail = MESSAGE_CHARACTERS / 3;
    let head: String = first.chars().take(MESSAGE_CHARACTERS - tail).collect();
    head + "…" + &first.chars().skip(length - tail).collect::<String>()
}

/// Rewrites the places of a stack, and leaves out the frames of the engine's own scripts.
pub(super) fn map_stack(stack: &str, place: &Places<'_>) -> String {
    stack
        .lines()
        .filter(|line| {
            !line.trim().is_empty()
                && !line.contains("flow:prelude")
                && !line.contains("flow:web")
                && !line.contains("flow:strict")
        })
        .filter(|line| !line.trim_start().starts_with("at ") || !line.ends_with("(native)"))
        .take(STACK_LINES)
        .map(|line| map_frame(line, place).unwrap_or_else(|| line.to_owned()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Rewrites `    at name (file:line:column)` or `    at file:line:column`.
fn map_frame(line: &str, place: &Places<'_>) -> Option<String> {
    let (body, close) = match line.strip_suffix(')') {
        Some(body) => (body, ")"),
        None => (line, ""),
    };
    let (rest, column) = body.rsplit_once(':')?;
    let (rest, row) = rest.rsplit_once(':')?;
    let (row, column) = (row.parse().ok()?, column.parse().ok()?);
    // Names of functions and of files may both hold blanks and brackets: the file is what we know as one.
    let opening = if close.is_empty() { "at " } else { " (" };
    rest.match_indices(opening).find_map(|(index, _)| {
        let (head, file) = rest.split_at(index + opening.len());
        let (row, column) = place(file, row, column)?;
        Some(format!("{head}{file}:{row}:{column}{close}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_mapped_and_our_own_left_out() {
        let place = |file: &str, line: u32, column: u32| (file == "a b (1).ts").then_some((line + 10, column + 1));
        let stack = "    at inner (a b (1).ts:1:29)\n    at call (flow:prelude:9:9)\n    at map (native)\n    at a b (1).ts:2:3\n    at other (x.js:4:5)\n";
        assert_eq!(
            map_stack(stack, &place),
            "    at inner (a b (1).ts:11:30)\n    at a b (1).ts:12:4\n    at other (x.js:4:5)"
        );
    }

    #[test]
    fn a_line_is_one_line_and_short() {
        assert_eq!(one_line("a\nb"), "a");
        let long = one_line(&format!("{}: the reason", "é".repeat(1_000)));
        assert_eq!(long.chars().count(), MESSAGE_CHARACTERS + 1);
        assert!(long.starts_with('é') && long.contains('…') && long.ends_with(": the reason"), "{long}");
    }
}
