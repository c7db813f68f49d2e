//! Log lines on standard error: one line each, no colours, dropped rather than blocking when nobody reads.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::env_vars;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// A pipe takes this much in one piece (POSIX `PIPE_BUF` is 512 at least, 4,096 on Linux), and says that it has room
/// when it has this much.
const LINE_BYTES: usize = 4096;

/// What is written unless `RUST_LOG` says otherwise: errors of libraries, and what our own crates say, which are all named
/// `workflow-…` but for this library.
const DEFAULT: &str = "error,workflow_=info,workflow_code_desktop=warn,launcher=info,rmcp=off";

/// Starts logging. What libraries say is left out unless `RUST_LOG` asks for it.
pub(crate) fn start(format: LogFormat) {
    let filter = env_vars::get(env_vars::LOG)
        .and_then(|filter| EnvFilter::try_new(filter).ok())
        .unwrap_or_else(|| EnvFilter::new(DEFAULT));
    let builder =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_target(false).with_writer(Lines);
    let started = match format {
        LogFormat::Text => builder.without_time().try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    // A second start in one process changes nothing.
    let _ = started;
}

struct Lines;

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line
    }
}

/// Takes one whole line a write, as the formatter gives it.
struct Line;

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if process::standard_streams::stderr_has_room() {
            let _ = io::stderr().lock().write_all(&one_line(bytes));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Cuts a line to what a pipe takes at once, and takes control characters out: what a project prints must not move
/// anybody's cursor.
fn one_line(bytes: &[u8]) -> Vec<u8> {
    let mut text: String =
        String::from_utf8_lossy(bytes).trim_end_matches('\n').chars().map(crate::out::shown).collect();
    if text.len() >= LINE_BYTES {
        let mut end = LINE_BYTES - 4;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text.push('\n');
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the name in a crate's own section of its `Cargo.toml`.
    fn crate_name(manifest: &std::path::Path) -> String {
        let text = std::fs::read_to_string(manifest).expect("read");
        let section = text.split("\n[lib]").nth(1).unwrap_or(&text);
        let name = section.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a name");
        name.replace('-', "_")
    }

    #[test]
    fn warnings_of_every_crate_of_ours_are_written_and_libraries_are_quiet() {
        let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let crates = std::fs::read_dir(workspace.join("crates")).expect("listed");
        let mut manifests: Vec<_> = crates.map(|entry| entry.expect("an entry").path()).collect();
        manifests.extend(["src-launcher", "src-tauri"].map(|room| workspace.join(room)));
        // The same notation, and one that can be asked.
        let filter: tracing_subscriber::filter::Targets = DEFAULT.parse().expect("targets");
        let would = |target: &str, level| filter.would_enable(target, &level);
        for room in manifests {
            let name = crate_name(&room.join("Cargo.toml"));
            assert!(would(&format!("{name}::inner"), tracing::Level::WARN), "{name}");
        }
        assert!(would(module_path!(), tracing::Level::INFO));
        assert!(!would("hyper::proto", tracing::Level::WARN) && would("hyper::proto", tracing::Level::ERROR));
        assert!(!would("rmcp::service", tracing::Level::ERROR));
    }

    #[test]
    fn a_line_is_cut_and_holds_no_control_characters() {
        assert_eq!(one_line(b"a\x1b[31mb\n"), "a\u{fffd}[31mb\n".as_bytes());
        let long = one_line("é".repeat(9_000).as_bytes());
        assert!(long.len() <= LINE_BYTES, "{}", long.len());
        assert!(String::from_utf8(long).expect("whole characters").ends_with("…\n"));
    }
}
