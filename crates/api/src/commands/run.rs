//! One run: what is recorded of it, and what it can be made into.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use disk::ReadError;
use model::{Clock, ErrorCode, NodeStatus, Origin, RunId, SystemClock, TimestampMs};
use serde_json::{Value, json};
use store::{CallEnd, LogPattern, LogStream, Owner, RunRecord, Standing, Store};

use crate::api::run_id;
use crate::rows::{call_open_until, question, rows};
use crate::wire::run::{
    ClientAnswer, CopiedText, CopyAs, CopyForm, ExportRun, Exported, FileKind, LeftOutLog, LogLine, LogPage, LogSearch,
    LogStreamName, NodeRow, OfRun, RunDetail, RunErrorRow, RunFile, RunFileContent, RunFileRow, RunLogHits, RunLogs,
    RunOutput, RunOutputContent, SaveAs, SavePart,
};
use crate::{Answer, Api, ApiError, ApiErrorCode};

/// Bytes of an output that are sent whole, and of a longer one its beginning.
const OUTPUT: usize = 4 * 1024 * 1024;
const OUTPUT_HEAD: usize = 256 * 1024;
/// Lines of one page of a log.
const LINES: u32 = 5_000;
/// Positions that a search in a log gives.
const HITS: u32 = 1_000;
const MOST_HITS: u32 = 100_000;
/// Bytes of a file that are shown: of a text its beginning, of a picture all or nothing.
const TEXT: u64 = 1024 * 1024;
const PICTURE: u64 = 8 * 1024 * 1024;

/// Tells whether a living process has a run in hand. One that has ended is in nobody's, whoever had it.
pub(super) fn in_hand(run: &RunRecord) -> bool {
    !run.summary.status.is_final() && run.owner.as_ref().is_some_and(Owner::is_alive)
}

/// Tells whether a run can be continued by whoever asks: nobody has it, and it has not ended for good.
pub(super) fn can_continue(store: &Store, run: &RunRecord) -> bool {
    // A guided workflow goes on by calls of its tools, and by nothing else.
    if in_hand(run) || run.workflow_instance().is_some() {
        return false;
    }
    // One that lost its process a moment ago is found to be interrupted first.
    store.standing(run) == Standing::Free && !run.summary.status.needs_owner()
}

/// How and when the client's call ended that left a run waiting with its present question.
fn call_ended(store: &Store, run: &RunRecord) -> Answer<Option<(CallEnd, TimestampMs)>> {
    let Some(question) = run.pending().filter(|_| run.summary.origin == Origin::Mcp) else { return Ok(None) };
    Ok(store.parked(&run.summary.run_id)?.filter(|(_, at)| *at >= question.asked_at))
}

/// What the client made of the question, by how its call ended.
fn client_answer(how: CallEnd) -> Option<ClientAnswer> {
    match how {
        CallEnd::With(ErrorCode::InteractionDeclined) => Some(ClientAnswer::Declined),
        CallEnd::With(ErrorCode::InteractionRequired) => Some(ClientAnswer::CannotAsk),
        // It was silent, dismissed the question, answered what does not fit, or went away with it.
        CallEnd::With(_) | CallEnd::Left => None,
    }
}

pub(super) fn run(api: &Api, request: OfRun) -> Answer<RunDetail> {
    let id = run_id(&request.run)?;
    let store = &api.store;
    let record = store.show(&id)?;
    let sizes = store.run_sizes(&id)?;
    let row = rows(store, &store.entries(&[id])?)?;
    let row = row.into_iter().next().ok_or_else(|| ApiError::not_found(format!("there is no run {}", request.run)))?;
    let client = record.client.as_ref();
    let ended = call_ended(store, &record)?;
    Ok(RunDetail {
        project_path: record.project_path.to_string_lossy().into_owned(),
        project_uuid: record.project_uuid.clone(),
        client_version: client.map(|client| client.version.clone()).filter(|version| !version.is_empty()),
        protocol: client.map(|client| client.protocol.clone()).filter(|protocol| !protocol.is_empty()),
        input: record.input.clone(),
        cli_args: record.cli_args.clone(),
        questions: record.questions.iter().map(question).collect(),
        error: record.report.error.clone().map(|error| RunErrorRow {
            code: error.code.as_str().to_owned(),
            message: error.message,
            err_code: error.err_code,
            cause: error.cause,
            data: error.data,
        }),
        files: record
            .files
            .iter()
            .map(|file| RunFileRow { name: file.name.clone(), path: file.path.clone(), bytes: file.bytes })
            .collect(),
        children: record.children.iter().map(ToString::to_string).collect(),
        bytes: record.bytes,
        log_lines: sizes.log_entries,
        nodes: record.report.nodes.len() as u64,
        output_bytes: sizes.output_bytes,
        can_continue: can_continue(store, &record),
        owner_alive: in_hand(&record),
        call_open_until: call_open_until(&record, SystemClock.now()),
        call_ended_at: ended.as_ref().map(|(_, at)| *at),
        client_answer: ended.and_then(|(how, _)| client_answer(how)),
        run: row,
    })
}

/// What stands in a run's output at a JSON Pointer.
fn part_of_output(api: &Api, id: &RunId, path: &str) -> Answer<Value> {
    let output = api.store.report(id)?.output.unwrap_or(Value::Null);
    if path.is_empty() {
        return Ok(output);
    }
    output
        .pointer(path)
        .cloned()
        .ok_or_else(|| ApiError::not_found(format!("the output of run {id} has nothing at `{path}`")))
}

pub(super) fn run_output(api: &Api, request: RunOutput) -> Answer<RunOutputContent> {
    let id = run_id(&request.run)?;
    let part = part_of_output(api, &id, request.path.as_deref().unwrap_or_default())?;
    let text = part.to_string();
    let bytes = text.len() as u64;
    if text.len() <= OUTPUT {
        return Ok(RunOutputContent { output: part, bytes, truncated: false });
    }
    // Of a text its own beginning, of anything else that of its JSON.
    let whole = part.as_str().unwrap_or(&text);
    let mut end = OUTPUT_HEAD.min(whole.len());
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    Ok(RunOutputContent { output: Value::from(whole.get(..end).unwrap_or_default()), bytes, truncated: true })
}

pub(super) fn run_nodes(api: &Api, request: OfRun) -> Answer<Vec<NodeRow>> {
    let nodes = api.store.nodes(&run_id(&request.run)?)?;
    Ok(nodes
        .into_iter()
        .map(|node| NodeRow {
            id: node.id,
            parent: node.parent,
            kind: node.kind,
            title: node.title,
            status: node.status,
            started_at: node.started_at,
            finished_at: node.finished_at,
            detail: node.detail,
        })
        .collect())
}

fn stream(name: LogStreamName) -> LogStream {
    match name {
        // The workflow's own words are on standard output.
        LogStreamName::Stdout | LogStreamName::Flow => LogStream::Stdout,
        LogStreamName::Stderr => LogStream::Stderr,
    }
}

pub(super) fn run_logs(api: &Api, request: RunLogs) -> Answer<LogPage> {
    let limit = request.limit.clamp(1, LINES) as usize;
    let page = api.store.log_page(&run_id(&request.run)?, request.from, limit, request.stream.map(stream))?;
    let lines = page
        .entries
        .into_iter()
        .map(|entry| LogLine {
            position: entry.position,
            stream: match entry.stream {
                LogStream::Stdout => LogStreamName::Stdout,
                LogStream::Stderr => LogStreamName::Stderr,
            },
            at: entry.at,
            text: entry.text.strip_suffix('\n').map_or(entry.text.clone(), str::to_owned),
        })
        .collect();
    let left_out =
        page.left_out.map(|gap| LeftOutLog { position: gap.position, entries: gap.entries, bytes: gap.bytes });
    Ok(LogPage { lines, next: page.next, end: page.end, left_out })
}

pub(super) fn run_log_search(api: &Api, request: LogSearch) -> Answer<RunLogHits> {
    let limit = request.limit.unwrap_or(HITS).min(MOST_HITS) as usize;
    let pattern = LogPattern::new(&request.text, request.case == Some(true), request.regex == Some(true))
        .map_err(ApiError::invalid)?;
    let hits = api.store.find_in_log(&run_id(&request.run)?, &pattern, request.stream.map(stream), limit)?;
    Ok(RunLogHits { positions: hits.positions, total: hits.total })
}

/// Opens a file that a run created, if it is still a plain file.
fn open(path: &Path) -> Answer<(File, u64)> {
    let (file, facts) = disk::open_regular(path).map_err(|error| match error {
        ReadError::NotRegular { .. } | ReadError::Exchanged { .. } => {
            ApiError::new(ApiErrorCode::Permission, format!("`{}` is no plain file any more", path.display()))
        }
        ReadError::NotFound { .. } => ApiError::new(ApiErrorCode::NotFound, error.to_string()),
        ReadError::Io { source, .. } => ApiError::io(&format!("`{}`", path.display()), &source),
        ReadError::TooLarge { .. } | ReadError::NotText { .. } => ApiError::invalid(error.to_string()),
    })?;
    Ok((file, facts.len()))
}

/// The type of a picture that pages show, by its first bytes.
fn picture(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

pub(super) fn run_file(api: &Api, request: RunFile) -> Answer<RunFileContent> {
    let id = run_id(&request.run)?;
    let files = api.store.created_files(&id)?;
    let known = files
        .iter()
        .find(|file| file.name == request.name)
        .ok_or_else(|| ApiError::not_found(format!("run {id} created no file `{}`", request.name)))?;
    let (file, bytes) = open(Path::new(&known.path))?;
    let read = |most: u64| {
        let mut content = Vec::new();
        (&file).take(most).read_to_end(&mut content).map(|_| content)
    };
    let failed = |error: std::io::Error| ApiError::io(&format!("`{}`", known.path), &error);
    let mut content = read(TEXT).map_err(failed)?;
    if let Some(mime) = picture(&content) {
        if bytes > PICTURE {
            return Ok(RunFileContent {
                kind: FileKind::Image,
                text: None,
                base64: None,
                mime: Some(mime.to_owned()),
                bytes,
                truncated: true,
            });
        }
        content.extend(read(PICTURE).map_err(failed)?);
        let base64 = base64::engine::general_purpose::STANDARD.encode(&content);
        return Ok(RunFileContent {
            kind: FileKind::Image,
            text: None,
            base64: Some(base64),
            mime: Some(mime.to_owned()),
            bytes,
            truncated: false,
        });
    }
    let truncated = bytes > content.len() as u64;
    let text = match String::from_utf8(content) {
        Ok(text) => Some(text),
        // A letter may have been cut in two.
        Err(error) if truncated && error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(end);
            String::from_utf8(bytes).ok()
        }
        Err(_) => None,
    }
    .filter(|text| !text.contains('\0'));
    let kind = if text.is_some() { FileKind::Text } else { FileKind::Other };
    Ok(RunFileContent { kind, text, base64: None, mime: None, bytes, truncated })
}

pub(super) fn export_run(api: &Api, request: ExportRun) -> Answer<Exported> {
    let id = run_id(&request.run)?;
    let path = match &request.to {
        Some(to) if !Path::new(to).is_absolute() => {
            return Err(ApiError::invalid(format!("`{to}` is no absolute path")));
        }
        Some(to) => PathBuf::from(to),
        None => api.host.facts().downloads.join(format!("{id}.json")),
    };
    let text = format!("{:#}\n", api.store.export(&id)?);
    write_new(&path, false, |file| file.write_all(text.as_bytes()))?;
    Ok(Exported { path: path.to_string_lossy().into_owned() })
}

/// Writes a file, whole or not at all.
fn write_new(path: &Path, replace: bool, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Answer<()> {
    let failed = |error: &std::io::Error| {
        ApiError::io(&format!("`{}` could not be written", path.display()), error)
            .hinted("choose another file; one that is there already is never overwritten unasked")
    };
    if !replace {
        let mut file = File::options().write(true).create_new(true).open(path).map_err(|error| failed(&error))?;
        return write(&mut file).map_err(|error| {
            // Half a file would pass for a whole one.
            let _ = std::fs::remove_file(path);
            failed(&error)
        });
    }
    let folder = path.parent().ok_or_else(|| ApiError::invalid(format!("`{}` is no file", path.display())))?;
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut beside| {
        write(beside.as_file_mut())?;
        beside.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| failed(&error))
}

pub(super) fn save_as(api: &Api, request: SaveAs) -> Answer<Exported> {
    let id = run_id(&request.run)?;
    let path = PathBuf::from(&request.to);
    if !path.is_absolute() {
        return Err(ApiError::invalid(format!("`{}` is no absolute path", request.to)));
    }
    let replace = request.replace == Some(true);
    let name = request.name.as_deref().unwrap_or_default();
    match request.part {
        SavePart::Run => {
            let text = format!("{:#}\n", api.store.export(&id)?);
            write_new(&path, replace, |file| file.write_all(text.as_bytes()))?;
        }
        SavePart::Output => {
            let text = match part_of_output(api, &id, name)? {
                Value::String(text) => text,
                value => format!("{value:#}\n"),
            };
            write_new(&path, replace, |file| file.write_all(text.as_bytes()))?;
        }
        SavePart::Log => save_log(api, &id, &path, replace, request.stream)?,
        SavePart::File => {
            let known = api.store.created_files(&id)?.into_iter().find(|file| file.name == name);
            let known = known.ok_or_else(|| ApiError::not_found(format!("run {id} created no file `{name}`")))?;
            if Path::new(&known.path) == path {
                return Err(ApiError::invalid("it lies there already"));
            }
            let (mut from, _) = open(Path::new(&known.path))?;
            write_new(&path, replace, |file| std::io::copy(&mut from, file).map(drop))?;
        }
    }
    Ok(Exported { path: request.to })
}

/// Writes a log as its run did, page by page; what was left out of it is said where it was.
fn save_log(api: &Api, id: &RunId, path: &Path, replace: bool, only: Option<LogStreamName>) -> Answer<()> {
    let mut unread = None;
    write_new(path, replace, |file| {
        let mut out = BufWriter::new(file);
        let (mut from, mut told) = (0, false);
        loop {
            let page = match api.store.log_page(id, from, LINES as usize, only.map(stream)) {
                Ok(page) => page,
                Err(error) => {
                    unread = Some(error);
                    return Err(std::io::Error::other("the log could not be read"));
                }
            };
            for entry in &page.entries {
                if let Some(gap) = page.left_out.filter(|gap| !told && gap.position <= entry.position) {
                    writeln!(out, "[{} lines, {} bytes, were left out here]", gap.entries, gap.bytes)?;
                    told = true;
                }
                // A long line is several entries: only its last one ends with a line break.
                out.write_all(entry.text.as_bytes())?;
            }
            if page.next >= page.end || page.next <= from {
                return out.flush();
            }
            from = page.next;
        }
    })
    .map_err(|error| unread.map_or(error, ApiError::from))
}

pub(super) fn copy_as(api: &Api, request: CopyAs) -> Answer<CopiedText> {
    let id = run_id(&request.run)?;
    let record = api.store.show(&id)?;
    let text = match request.form {
        CopyForm::Mcp => {
            let call = json!({
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": { "name": record.summary.entrypoint_id, "arguments": record.input },
            });
            format!("{call:#}")
        }
        CopyForm::Command => {
            // The input goes in whole: nothing of it can be read as an option.
            let executable = api.host.facts().executable.to_string_lossy().into_owned();
            let folder = record.project_path.to_string_lossy().into_owned();
            let words = [
                "printf".to_owned(),
                "%s".to_owned(),
                record.input.to_string(),
                "|".to_owned(),
                executable,
                "run".to_owned(),
                folder,
                record.summary.entrypoint_id.to_string(),
                "--input-json".to_owned(),
                "-".to_owned(),
            ];
            let words: Vec<String> =
                words.into_iter().map(|word| if word == "|" { word } else { quoted(&word) }).collect();
            words.join(" ")
        }
    };
    Ok(CopiedText { text })
}

/// Writes a word so that a POSIX shell reads it as it is.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Titles of what is done, for a preview of continuing.
pub(super) fn done_titles(record: &RunRecord) -> Vec<String> {
    let done = record.report.nodes.iter().filter(|node| node.status == NodeStatus::Success);
    done.map(|node| node.title.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("a-b/c.d"), "a-b/c.d");
        assert_eq!(quoted(r#"{"it's": 1}"#), r#"'{"it'\''s": 1}'"#);
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn pictures_are_known_by_their_bytes() {
        assert_eq!(picture(b"\x89PNG\r\n"), Some("image/png"));
        assert_eq!(picture(b"<svg onload=x>"), None);
    }
}
